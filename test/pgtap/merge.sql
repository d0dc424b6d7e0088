-- existing_rows "merge": the rows of the partitions that the file has rows for are
-- those of SQL, in the order of the key, and nothing else has changed.

\set name merge
\ir begin.psql
CREATE EXTENSION amcheck;

-- Of the ways in which a case is tried a quarter is drawn, at least one, by FC_SEED
-- of the environment; without it all of them are.
\getenv seed FC_SEED
SELECT :{?seed} AS drawn \gset
\if :drawn
SELECT plan(567);
SELECT diag('FC_SEED=' || :'seed' || ' draws these, and repeats them');
\else
\set seed ''
SELECT plan(1495);
\endif
SELECT set_config('fc.seed', :'seed', true) \g /dev/null

CREATE FUNCTION pg_temp.leaves() RETURNS TABLE (leaf regclass) LANGUAGE sql AS $$
	SELECT oid FROM pg_class WHERE relkind = 'r' AND oid = to_regclass('got') UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('got')
$$;

-- Names of columns, for SQL
CREATE FUNCTION pg_temp.names(name regclass, generated bool DEFAULT true) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid = name AND attnum > 0 AND NOT attisdropped AND (generated OR attgenerated = '')
$$;

CREATE FUNCTION pg_temp.packed(path text) RETURNS text LANGUAGE sql AS $$
	SELECT path || '.gz' FROM pg_temp.shell(format('gzip -nc %s >%1$s.gz', path))
$$;

-- What the table shall be, in table "shall": rows as texts with the leaf that they
-- are in, and their order there; "news" has the file's rows.  "in_order" is a list
-- of columns.  Leaves that the file has no rows for, or that would not change, stay
-- as they are.
CREATE FUNCTION pg_temp.define_shall(keys text, keep text, in_order text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS shall;
	EXECUTE format('CREATE TABLE shall AS WITH file AS (SELECT CASE %s END AS leaf, 1 AS source, row_number() OVER (ORDER BY ctid) AS at, %2$s FROM news),
			every AS (SELECT *, leaf IN (SELECT leaf FROM file) AS hit FROM (SELECT leaf, source, at, %2$s FROM was UNION ALL TABLE file) AS u),
			stays AS (SELECT %3$s * FROM every %4$s),
			counts AS (SELECT leaf, count(*) AS old FROM was GROUP BY leaf),
			goes AS (SELECT stays.*, hit AND (bool_or(source = 1) OVER w OR count(*) OVER w IS DISTINCT FROM old) AS changed FROM stays LEFT JOIN counts USING (leaf) WINDOW w AS (PARTITION BY leaf))
		SELECT leaf::regclass, source, row_number() OVER (PARTITION BY leaf ORDER BY %5$s, source, at) AS place, ROW(%2$s)::text AS row, changed FROM goes',
		(SELECT string_agg(format('WHEN %s THEN %s::oid', coalesce(pg_get_partition_constraintdef(leaf), 'true'), leaf::oid), ' ') FROM pg_temp.leaves()), pg_temp.names('got'),
		'DISTINCT ON (leaf, ' || keys || ', CASE WHEN NOT hit THEN at END)',
		replace('ORDER BY leaf, ' || keys || ', CASE WHEN NOT hit THEN at END, source DESC, at DESC', CASE keep WHEN 'first' THEN ' DESC' ELSE '' END, ''),
		(SELECT string_agg(format('CASE WHEN changed THEN %s END', c), ', ') FROM unnest(string_to_array(in_order, ', ')) AS c));
END
$$;

-- How what there is differs from "shall"; without "ties" rows of one key may lie
-- in any order of changed leaves
CREATE FUNCTION pg_temp.differs(in_order text, ties bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	EXECUTE format('WITH has AS (SELECT tableoid::regclass AS leaf, row_number() OVER (PARTITION BY tableoid ORDER BY ctid) AS place, ROW(%s)::text AS row,
				rank() OVER w AS least, count(*) OVER w AS most FROM got WINDOW w AS (PARTITION BY tableoid ORDER BY %s)),
			wrong AS (SELECT leaf, count(*) AS n FROM ((SELECT leaf, row FROM has EXCEPT ALL SELECT leaf, row FROM shall) UNION ALL (SELECT leaf, row FROM shall EXCEPT ALL SELECT leaf, row FROM has)) AS d GROUP BY leaf),
			misplaced AS (SELECT leaf, count(*) AS n FROM has JOIN shall USING (leaf, place)
				WHERE CASE WHEN %L OR NOT changed THEN shall.row <> has.row ELSE place NOT BETWEEN least AND most END AND leaf NOT IN (SELECT leaf FROM wrong) GROUP BY leaf)
		SELECT string_agg(said, ''; '') FROM (SELECT format(''%%s rows of %%s differ'', n, leaf) FROM wrong UNION ALL SELECT format(''%%s rows of %%s are misplaced'', n, leaf) FROM misplaced UNION ALL
			SELECT ''a table is gone'' WHERE EXISTS (SELECT FROM shall WHERE leaf NOT IN (SELECT l.leaf FROM pg_temp.leaves() AS l))) AS d (said)',
		pg_temp.names('got'), in_order, ties) INTO said;
	RETURN said;
END
$$;

-- Heaps and indexes that are not sound, and what is left behind
CREATE FUNCTION pg_temp.unsound() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint := 0;
BEGIN
	FOR r IN SELECT leaf FROM pg_temp.leaves() LOOP
		n := n + (SELECT count(*) FROM verify_heapam(r.leaf, check_toast => true));
		PERFORM bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am AS a ON a.oid = relam
			WHERE amname = 'btree' AND (indrelid = r.leaf OR indrelid = (SELECT reltoastrelid FROM pg_class AS c WHERE c.oid = r.leaf));
	END LOOP;
	RETURN n + pg_temp.left_behind() +
		(SELECT count(*) FROM pg_class AS t WHERE relkind = 't' AND relnamespace = 'pg_toast'::regnamespace AND NOT EXISTS (SELECT FROM pg_class WHERE reltoastrelid = t.oid));
END
$$;

-- Merges by a command, and returns how many rows it says, how many rows of the file
-- there should be, how the table differs, which tables are written anew and should
-- not be, or the other way round, and what is unsound
CREATE FUNCTION pg_temp.merged(statement text, settings jsonb, keys text, keep text, in_order text, ties bool) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	s record;
	got bigint;
BEGIN
	FOR s IN SELECT * FROM jsonb_each_text(settings) LOOP
		PERFORM set_config('fast_copy.' || s.key, s.value, true);
	END LOOP;
	IF statement ~ '^SELECT' THEN
		EXECUTE statement INTO got;
	ELSE
		EXECUTE statement;
		GET DIAGNOSTICS got = ROW_COUNT;
	END IF;
	FOR s IN SELECT * FROM jsonb_each_text(settings) LOOP
		EXECUTE format('SET LOCAL fast_copy.%s TO DEFAULT', quote_ident(s.key));
	END LOOP;
	PERFORM pg_temp.define_shall(keys, keep, in_order);
	RETURN ARRAY[got::text, (SELECT count(*)::text FROM shall WHERE source = 1), pg_temp.differs(in_order, ties), (SELECT string_agg(l.leaf::text, ', ') FROM pg_temp.leaves() AS l JOIN (SELECT DISTINCT leaf, node FROM was) AS w ON w.leaf = l.leaf::oid
		LEFT JOIN (SELECT leaf, bool_or(changed) AS changed FROM shall GROUP BY leaf) AS d ON d.leaf = l.leaf WHERE (pg_relation_filenode(l.leaf) <> node) IS DISTINCT FROM changed), pg_temp.unsound()::text];
END
$$;

-- Merges a file and looks at all of it: four tests for each of "keep", of "settings",
-- and number of workers.
-- The table "got" is made by "ddl" and has the rows of "olds"; "news" is a query
-- for the file, which has its columns.  "way" may have %1$s for the file,
-- %2$s for workers, %3$s for options.  "skip" is a condition for rows of the
-- file that are not accepted.
CREATE FUNCTION pg_temp.merges(about text, ddl text, olds text, news text, keys text DEFAULT NULL, keep text[] DEFAULT '{NULL}', options jsonb DEFAULT '{}', workers int[] DEFAULT '{0,2}',
	settings jsonb[] DEFAULT '{"{}"}', columns text DEFAULT NULL, file_options text DEFAULT '', way text DEFAULT 'SELECT fast_copy(''got'', %1$L, workers => %2$s, options => %3$L)', skip text DEFAULT 'false',
	in_order text DEFAULT 'k', ties bool DEFAULT true, after text DEFAULT 'SELECT', key text DEFAULT 'k') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	c record;
	r text[];
	said text;
	statement text;
BEGIN
	options := '{"existing_rows": "merge"}' || options;
	IF keys IS NOT NULL THEN
		options := options || jsonb_build_object('dedup_keys', string_to_array(replace(keys, '"', ''), ', '));
	END IF;
	IF columns IS NOT NULL THEN
		options := jsonb_build_object('columns', string_to_array(columns, ', ')) || options;
	END IF;
	DROP TABLE IF EXISTS got CASCADE;
	DROP TABLE IF EXISTS was, news;
	EXECUTE ddl;
	EXECUTE olds;
	EXECUTE after;
	EXECUTE format('CREATE TABLE was AS SELECT tableoid::oid AS leaf, 0 AS source, row_number() OVER (ORDER BY tableoid, ctid) AS at, pg_relation_filenode(tableoid) AS node, %s FROM got', pg_temp.names('got'));
	CREATE TABLE news (LIKE got INCLUDING DEFAULTS INCLUDING GENERATED);
	PERFORM pg_temp.file(news, file_options);
	EXECUTE format('COPY news (%s) FROM %L (FORMAT csv%s)', coalesce(columns, pg_temp.names('got', false)), current_setting('fc.file'), file_options);
	EXECUTE format('DELETE FROM news WHERE %s', skip);
	-- all but the last are taken back, so that the next one finds the same rows; the
	-- writer writes pages, whatever they are few
	FOR c IN SELECT w, k, '{"writer": "page"}' || s AS settings, row_number() OVER (ORDER BY k, s, w) = count(*) OVER () AS last
		FROM (SELECT w, k, s, row_number() OVER (ORDER BY md5(concat_ws(' ', current_setting('fc.seed'), about, w, k, s))) AS at, count(*) OVER () AS n FROM unnest(keep) AS k, unnest(settings) AS s, unnest(workers) AS w) AS ways
		WHERE current_setting('fc.seed') = '' OR at <= ceil(n / 4.0) ORDER BY k, s, w LOOP
		said := format('%s%s, %s workers: ', about, CASE WHEN cardinality(keep) > 1 THEN ', keep ' || c.k END, c.w);
		statement := format(way, current_setting('fc.file'), c.w, CASE WHEN EXISTS (SELECT FROM pg_partitioned_table WHERE partrelid = 'got'::regclass) THEN '{}'
			ELSE jsonb_build_object('timestamp_column', key) END || jsonb_strip_nulls(options || jsonb_build_object('dedup_keep', c.k)));
		IF c.last THEN
			r := pg_temp.merged(statement, c.settings, keys, c.k, in_order, ties);
		ELSE
			BEGIN
				r := pg_temp.merged(statement, c.settings, keys, c.k, in_order, ties);
				RAISE division_by_zero;
			EXCEPTION WHEN division_by_zero THEN
				NULL;
			END;
		END IF;
		RETURN NEXT is(r[1], r[2], said || 'rows of the file that are there');
		RETURN NEXT is(r[3], NULL, said || 'the table');
		RETURN NEXT is(r[4], NULL, said || 'what is written anew');
		RETURN NEXT is(r[5], '0', said || 'it is sound, and nothing is left behind');
	END LOOP;
END
$$;

-- Five days of rows; files have rows of the third and the fourth, and of one that
-- has no partition.  Few keys, so that rows meet others.
CREATE FUNCTION pg_temp.days(first int DEFAULT 0, last int DEFAULT 4) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format(';CREATE TABLE got_%s PARTITION OF got FOR VALUES FROM (%L) TO (%L)', i, timestamp '2024-01-01' + i * interval '1 day', timestamp '2024-01-02' + i * interval '1 day'), '')
	FROM generate_series(first, last) AS i
$$;
CREATE TABLE olds AS
SELECT timestamp '2024-01-01' + g * 37 % 1200 * interval '6 min' AS k, g % 5 AS n, 'row ' || g AS t FROM generate_series(1, 3000) AS g;
CREATE TABLE more AS
SELECT timestamp '2024-01-03' + CASE WHEN g % 50 = 0 THEN 20000 ELSE g * 31 % 480 * 6 END * interval '1 min' AS k, g % 7 AS n, repeat('new ', g % 40) || g AS t
FROM generate_series(1, 900) AS g;
CREATE FUNCTION pg_temp.day_table(more text DEFAULT '', columns text DEFAULT 'k timestamp, n int, t text') RETURNS text LANGUAGE sql AS $$
	SELECT format('CREATE TABLE got (%s) PARTITION BY RANGE (k)', columns) || pg_temp.days() || more
$$;

-- All rows stay
SELECT pg_temp.merges('all rows', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', workers => '{0,1,2,4}');
-- Of equal ones the last stays, or the first
SELECT pg_temp.merges('the last', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', workers => '{0,1,2,4}');
SELECT pg_temp.merges('the last, by its name', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'n, k', '{last}');
SELECT pg_temp.merges('the first', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'n, k', '{first}', workers => '{0,1,2,4}');
SELECT pg_temp.merges('one of each key', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k');
SELECT pg_temp.merges('whole rows', pg_temp.day_table(), 'INSERT INTO got TABLE olds', '(TABLE more) UNION ALL (SELECT * FROM olds WHERE k < ''2024-01-02 12:00'')', 'k, n, t', '{first}');
SELECT pg_temp.merges('small chunks, and little memory', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', settings => ARRAY['{"memory": "1MB", "chunk_size": "100B"}'::jsonb], workers => '{0,1,2,4}');
SELECT pg_temp.merges('rows that COPY''s code inserts', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', settings => ARRAY['{"writer": "multi_insert", "chunk_size": "7B"}'::jsonb]);
SELECT pg_temp.merges('offsets', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', settings => ARRAY['{"spill": "offsets", "chunk_size": "1kB"}'::jsonb]);

-- Indexes, generated columns, other columns of partitions
SELECT pg_temp.merges('indexes', pg_temp.day_table('; CREATE UNIQUE INDEX ON got (k, n); CREATE INDEX ON got (t) WHERE n % 2 = 0; CREATE INDEX ON got USING hash (n); CREATE INDEX ON got USING brin (k)'),
	'INSERT INTO got SELECT DISTINCT ON (k, n) * FROM olds', 'TABLE more', 'k, n');
SELECT pg_temp.merges('a unique index on other columns', pg_temp.day_table('; CREATE UNIQUE INDEX ON got (t, k)'), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', '{first}');
SELECT pg_temp.merges('columns', 'CREATE TABLE got (gone text, k timestamp, x int DEFAULT 7, n int CHECK (n >= 0), gone2 int, t text NOT NULL, g int GENERATED ALWAYS AS (n * 2) STORED) PARTITION BY RANGE (k)'
	|| pg_temp.days() || '; ALTER TABLE got DROP gone; ALTER TABLE got DROP gone2; CREATE INDEX ON got (g)', 'INSERT INTO got (k, n, t) TABLE olds', 'TABLE more', 'k, g', columns => 'k, n, t');
SELECT pg_temp.merges('columns that came later, or went', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'SELECT k, t, n % 3 FROM more', 'k, late', columns => 'k, t, late',
	after => 'ALTER TABLE got DROP n; ALTER TABLE got ADD late int DEFAULT 2, ADD latest text DEFAULT ''x''; INSERT INTO got SELECT k, t, n FROM olds WHERE n < 2');
SELECT pg_temp.merges('a long default that came later', pg_temp.day_table(), 'INSERT INTO got SELECT * FROM olds WHERE k::time < ''02:00''', 'SELECT * FROM more WHERE k::time < ''02:00'' OR k > ''2024-01-16''', 'k, n', after => 'ALTER TABLE got ADD late text DEFAULT repeat(''0123456789'', 2000)', columns => 'k, n, t');
SELECT pg_temp.merges('a long default that came later, and values of the file', pg_temp.day_table(), 'INSERT INTO got SELECT * FROM olds WHERE k::time < ''02:00''', 'SELECT *, n FROM more WHERE k::time < ''02:00'' OR k > ''2024-01-16''', 'k, n', after => 'ALTER TABLE got ADD late text DEFAULT repeat(''0123456789'', 2000)');
SELECT pg_temp.merges('long defaults, and rows that stay whole', pg_temp.day_table('; ALTER TABLE got ALTER t SET STORAGE PLAIN'), 'INSERT INTO got SELECT k, n, repeat(''y'', 7000) FROM olds WHERE k >= ''2024-01-03'' LIMIT 50', 'SELECT *, 1, n FROM more',
	'k, n', after => 'ALTER TABLE got ADD late text DEFAULT repeat(''0123456789'', 190), ADD later text DEFAULT repeat(''9876543210'', 150)');
SELECT pg_temp.merges('partitions with other columns', 'CREATE TABLE got (k timestamp, n int, t text, g int GENERATED ALWAYS AS (n + 1) STORED) PARTITION BY RANGE (k)' || pg_temp.days(3) ||
	'; CREATE TABLE got_2 (t text, x int, n int, k timestamp, g int GENERATED ALWAYS AS (n + 1) STORED); ALTER TABLE got_2 DROP x; ALTER TABLE got ATTACH PARTITION got_2 FOR VALUES FROM (''2024-01-03'') TO (''2024-01-04'')',
	'INSERT INTO got SELECT k, n, t FROM olds WHERE k >= ''2024-01-03''', 'TABLE more', 'n, k', columns => 'k, n, t', workers => '{0,1,2,4}');
SELECT pg_temp.merges('a condition that old rows do not meet', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', after => 'ALTER TABLE got ADD CHECK (n <> 1 OR t LIKE ''%new%'' OR t ~ ''^\d+$'') NOT VALID; ALTER TABLE got ADD CHECK (length(t) > 0)');
SELECT pg_temp.merges('rows that are left out', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', options => '{"where_clause": "n % 2 = 0 AND length(t) > 20"}', skip => 'NOT (n % 2 = 0 AND length(t) > 20)');
SELECT pg_temp.merges('no row of a day meets the condition', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', options => '{"where_clause": "k >= ''2024-01-04''"}', skip => 'k < ''2024-01-04''');
SELECT pg_temp.merges('no row meets the condition', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', options => '{"where_clause": "n < 0"}', skip => 'true');

-- Long values, in the TOAST table and not
CREATE FUNCTION pg_temp.long(seed int, blocks int) RETURNS text LANGUAGE sql AS $$SELECT string_agg(md5(seed || ' ' || i), '') FROM generate_series(1, blocks) AS i$$;
CREATE TABLE longs AS SELECT timestamp '2024-01-03' + g % 40 * interval '1 hour' AS k, g % 3 AS n, pg_temp.long(g % 50, CASE WHEN g % 2 = 0 THEN 300 ELSE g % 60 END) AS t FROM generate_series(1, 400) AS g;
SELECT pg_temp.merges('long values', pg_temp.day_table(), 'INSERT INTO got SELECT * FROM longs WHERE n < 2', 'SELECT * FROM longs WHERE n > 0', 'k, n');
SELECT pg_temp.merges('long values that rows are compared by', pg_temp.day_table('; CREATE INDEX ON got (md5(t))'), 'INSERT INTO got SELECT * FROM longs WHERE n < 2', 'SELECT * FROM longs WHERE n > 0 ORDER BY t', 'k, t', '{first}', settings => ARRAY['{"memory": "1MB"}'::jsonb], ties => false);
SELECT pg_temp.merges('long values, packed and plain', pg_temp.day_table('; ALTER TABLE got ALTER t SET STORAGE EXTERNAL; ALTER TABLE got_3 ALTER t SET STORAGE MAIN'), 'INSERT INTO got SELECT k, n, repeat(t, 2) FROM longs', 'SELECT * FROM longs WHERE n > 0', 'k');

-- Plain tables
SELECT pg_temp.merges('plain table', 'CREATE TABLE got (k timestamp, n int, t text); CREATE INDEX ON got (n)', 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', workers => '{0,1,2,4}');
SELECT pg_temp.merges('plain table, all rows', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got TABLE olds', 'TABLE more');
-- a key that is NULL is not that of 2000-01-01
SELECT pg_temp.merges('NULL keys', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got SELECT * FROM olds WHERE n > 2 UNION ALL SELECT NULL, g % 4, ''null '' || g FROM generate_series(1, 50) AS g UNION ALL SELECT ''2000-01-01'', g % 4, ''zero '' || g FROM generate_series(1, 50) AS g',
	'TABLE more UNION ALL SELECT NULL, g % 6, ''new null '' || g FROM generate_series(1, 50) AS g UNION ALL SELECT ''2000-01-01'', g % 6, ''new zero '' || g FROM generate_series(1, 50) AS g', 'k, n', workers => '{0,1,2,4}');
SELECT pg_temp.merges('nothing but NULL keys', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got SELECT NULL, g % 4, ''null '' || g FROM generate_series(1, 50) AS g', 'SELECT NULL, g % 6, ''new null '' || g FROM generate_series(1, 50) AS g', 'k, n', '{first}');
SELECT pg_temp.merges('NULL keys only are new', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got SELECT DISTINCT ON (k, n) * FROM olds', 'SELECT NULL, g % 6, ''new null '' || g FROM generate_series(1, 50) AS g', 'k, n', '{last,first}');
SELECT pg_temp.merges('no NULL key is new', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got SELECT NULL, g, ''null'' FROM generate_series(1, 50) AS g', 'TABLE more', 'k, n', '{last,first}');
SELECT pg_temp.merges('an empty table', 'CREATE TABLE got (k timestamp, n int, t text)', 'SELECT', 'TABLE more', 'k, n');
SELECT pg_temp.merges('a table that was emptied', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got TABLE olds; DELETE FROM got', 'TABLE more', 'k, n', '{first}');
SELECT pg_temp.merges('an empty file', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got TABLE olds', 'TABLE more LIMIT 0', 'k, n');
SELECT pg_temp.merges('nothing new', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got SELECT DISTINCT ON (k, n) * FROM olds ORDER BY k, n, t', 'SELECT k, n, ''x'' FROM olds', 'k, n', '{first}');
SELECT pg_temp.merges('nothing new in a day', pg_temp.day_table(), 'INSERT INTO got SELECT DISTINCT ON (k, n) * FROM olds ORDER BY k, n, t', 'SELECT k, n, ''x'' FROM olds UNION ALL SELECT k, 7, ''y'' FROM olds WHERE k < ''2024-01-03''', 'k, n', '{first}');
SELECT pg_temp.merges('new partitions only', 'CREATE TABLE got (k timestamp, n int, t text) PARTITION BY RANGE (k)', 'SELECT', 'TABLE more', 'k, n');
SELECT pg_temp.merges('infinity', 'CREATE TABLE got (k timestamp, n int, t text)', 'INSERT INTO got SELECT ''infinity'', n, t FROM olds LIMIT 100; INSERT INTO got SELECT ''-infinity'', n, t FROM olds LIMIT 100; INSERT INTO got TABLE olds',
	'SELECT CASE n WHEN 1 THEN ''infinity'' WHEN 2 THEN ''-infinity'' ELSE k END, n, t FROM more', 'k, n');

-- Types of the key and of columns that rows are compared by
SELECT pg_temp.merges(format('key of type %s', ty), format('CREATE TABLE got (k %s, n int, t text)', ty), format('INSERT INTO got SELECT %s, n, t FROM olds', replace(ex, 'X', 'extract(day FROM k)')), format('SELECT %s, n, t FROM more', replace(ex, 'X', 'extract(day FROM k)')), 'n, k', ties => false)
FROM (VALUES ('date', 'timestamp ''2024-01-01'' + X * interval ''1 day'''), ('timestamptz', 'timestamptz ''2024-01-01'' + X * interval ''1 day'''), ('int', 'X::int'), ('bigint', 'X::bigint * 10000000000'), ('smallint', '-X::int')) AS v (ty, ex);
SELECT pg_temp.merges(ty, format('CREATE TABLE got (k timestamp, c %s, t text)', ty),
	format('INSERT INTO got SELECT date_trunc(''day'', k), CASE WHEN n < 4 THEN (ARRAY[%s]::%s[])[n + 1]::%s END, t FROM olds WHERE n <> 1 AND k::time < ''04:00''', vals, bare, ty), format('SELECT date_trunc(''day'', k), CASE WHEN n < 4 THEN (ARRAY[%s]::%s[])[n + 1] END, t FROM more WHERE k::time < ''08:00''', vals, bare),
	'k, c', '{last,first}', ties => false, settings => ARRAY['{}'::jsonb, '{"memory": "1MB", "chunk_size": "1kB"}'])
FROM (VALUES ('float8', 'float8', '''-0'', ''0'', ''NaN'', ''1'''), ('real', 'real', '''-0'', ''0'', ''NaN'', ''Infinity'''), ('numeric', 'numeric', '1.0, 1.00, ''NaN'', 1e20'), ('bytea', 'bytea', '''a'', '''', ''\x00'', ''\x0000'''),
	('uuid', 'uuid', '''00000000-0000-0000-0000-000000000000'', ''00000000-0000-0000-0000-000000000001'', NULL, NULL'), ('jsonb', 'jsonb', '''{"a": 1, "b": 1.0}'', ''{"b": 1, "a": 1.00}'', ''null'', NULL'),
	('money', 'money', '1, 2, -1, NULL'), ('tsvector', 'tsvector', '''a b'', ''b a'', '''', ''c'''), ('bit(3)', 'bit(3)', 'B''101'', B''100'', B''000'', NULL'), ('bit varying', 'bit varying', 'B''101'', B''1010'', B'''', NULL'),
	('money[]', 'text', '''{1}'', ''{1,2}'', ''{}'', NULL'), ('text COLLATE "C"', 'text', '''a'', ''A'', '''', NULL'), ('char(5)', 'text', '''a'', ''A '', '''', '' '''), ('inet', 'inet', '''10.0.0.1'', ''10.0.0.1/24'', ''::1'', NULL'), ('interval', 'interval', '''1 day'', ''24:00'', ''1 mon'', ''30 days'''),
	('numrange', 'numrange', '''[1,2)'', ''[1.0,2.0)'', ''empty'', NULL'), ('timetz', 'timetz', '''12:00+00'', ''13:00+01'', NULL, NULL'), ('"char"', '"char"', '''a'', ''b'', NULL, ''''')) AS v (ty, bare, vals);
CREATE TYPE pg_temp.pair AS (a int, b text);
CREATE DOMAIN pg_temp.short AS varchar(10) CHECK (value <> 'never');
CREATE TYPE pg_temp.mood AS ENUM ('fine', 'bad', 'none');
SELECT pg_temp.merges(ty, format('CREATE TABLE got (k timestamp, c pg_temp.%s, t text)', ty), format('INSERT INTO got SELECT k, (ARRAY[%s])[n + 1]::pg_temp.%s, t FROM olds WHERE n <> 1', vals, ty), format('SELECT k, (ARRAY[%s])[n + 1]::pg_temp.%s, t FROM more WHERE n < 4', vals, ty), 'c, k')
FROM (VALUES ('pair', '''(1,a)'', ''(1,)'', ''(,)'', NULL'), ('short', '''a'', ''b'', '''', NULL'), ('mood', '''fine'', ''bad'', ''none'', NULL')) AS v (ty, vals);
CREATE COLLATION either_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT pg_temp.merges('a collation with equal texts', 'CREATE TABLE got (k timestamp, c text COLLATE either_case, t text); CREATE INDEX ON got (c)',
	'INSERT INTO got SELECT k, (ARRAY[''Some'', ''sOme'', ''other'', NULL])[n + 1], t FROM olds', 'SELECT k, (ARRAY[''SOME'', ''some'', ''Other''])[n + 1], t FROM more', 'k, c', '{last,first}', settings => ARRAY['{}'::jsonb, '{"memory": "1MB"}']);

-- Many rows of one key: they are sorted
CREATE TABLE many AS SELECT date '2024-01-03' + CASE WHEN g % 10 = 0 THEN 1 ELSE 0 END AS k, g * 7919::bigint % 5000 AS n, CASE g % 1000 WHEN 0 THEN pg_temp.long(g, 200) ELSE 'row ' || g || repeat('.', 50) END AS t FROM generate_series(1, 8000) AS g;
SELECT pg_temp.merges('a day that is one key', 'CREATE TABLE got (k date, n bigint, t text) PARTITION BY RANGE (k)' || pg_temp.days(), 'INSERT INTO got SELECT * FROM many WHERE n % 3 > 0', 'SELECT k, n, ''new '' || t FROM many WHERE n % 5 > 0 ORDER BY hashint8(n)', 'k, n', '{last,first}',
	settings => ARRAY['{"memory": "1MB", "chunk_size": "10kB"}'::jsonb], ties => false, workers => '{0,1,2,4}');
SELECT pg_temp.merges('a day that is one key, all rows', 'CREATE TABLE got (k date, n bigint, t text) PARTITION BY RANGE (k)' || pg_temp.days(), 'INSERT INTO got SELECT * FROM many WHERE n % 3 > 0', 'SELECT k, n, ''new '' || t FROM many WHERE n % 5 > 0 ORDER BY hashint8(n)',
	settings => ARRAY['{"memory": "1MB", "chunk_size": "10kB"}'::jsonb]);
SELECT pg_temp.merges('a day that is one key, in memory', 'CREATE TABLE got (k date, n bigint, t text) PARTITION BY RANGE (k)' || pg_temp.days(), 'INSERT INTO got SELECT * FROM many WHERE n % 3 > 0', 'SELECT k, n, ''new '' || t FROM many WHERE n % 5 > 0', 'k, n', settings => ARRAY['{"memory": "256MB"}'::jsonb]);
CREATE TABLE thrice AS SELECT generate_series(0, 2) AS i;
SELECT pg_temp.merges('many rows, few of a key', 'CREATE TABLE got (k timestamp, n bigint, t text) PARTITION BY RANGE (k)' || pg_temp.days(), 'INSERT INTO got SELECT k + (n + i) * interval ''15 s'', n % 3, t FROM many, thrice', 'SELECT k + (n + i) * interval ''15 s'', n % 4, ''new '' || t FROM many, thrice', 'k, n',
	settings => ARRAY['{"memory": "1MB", "chunk_size": "100kB"}'::jsonb], workers => '{0,4}');

-- Leaves of many cells, and of more pages than a process takes at a time, in order or
-- nearly so.  With little memory the rows of a long key are sorted
CREATE TABLE sorted AS SELECT timestamp '2024-01-03' + g / 3 * interval '5 s' AS k, g % 3 AS n, 'row ' || g || repeat('.', g % 90 * 6) AS t FROM generate_series(0, 14999) AS g;
CREATE TABLE late AS SELECT k, n + CASE WHEN n = 1 THEN 10 ELSE 0 END AS n, 'late ' || t AS t FROM sorted WHERE hashtext(t) % 6 = 0 ORDER BY hashtext(t || 'x');
SELECT pg_temp.merges('a leaf ' || about, CASE WHEN about ~ 'NULL' THEN 'CREATE TABLE got (k timestamp, n int, t text)' ELSE pg_temp.day_table() END,
	'INSERT INTO got SELECT * FROM sorted ' || olds, replace('SELECT k, n, t FROM late', 'k,', CASE WHEN about ~ 'long keys' THEN 'date_trunc(''hour'', k),' ELSE 'k,' END),
	CASE WHEN about ~ 'all rows' THEN NULL ELSE 'k, n' END, CASE WHEN about ~ 'first' THEN '{first}'::text[] ELSE '{NULL}' END, workers => '{0,1,2,4}', settings => ARRAY['{"memory": "1MB", "chunk_size": "50kB"}'::jsonb], ties => about !~ 'long keys|NULL')
FROM (VALUES ('in order', 'ORDER BY k, n'), ('in order, the first', 'ORDER BY k, n'), ('in order, all rows', 'ORDER BY k, n'),
	('in order but for one row', 'ORDER BY k, n; UPDATE got SET t = ''moved'' WHERE (k, n) = (timestamp ''2024-01-03 03:00'', 1)'),
	('in order twice', 'WHERE n <> 1 ORDER BY k, n; INSERT INTO got SELECT * FROM sorted WHERE n = 1 ORDER BY k'),
	('in reverse order', 'ORDER BY k DESC, n'), ('in no order', 'ORDER BY hashtext(t)'),
	('in order, with long keys', 'ORDER BY k; UPDATE got SET k = date_trunc(''hour'', k); CREATE TABLE again AS SELECT * FROM got ORDER BY k; TRUNCATE got; INSERT INTO got SELECT * FROM again; DROP TABLE again'),
	('in order, with dead rows', 'ORDER BY k, n; DELETE FROM got WHERE n = 1 AND k::time < ''05:00''; UPDATE got SET t = n WHERE n = 2 AND k::time < ''02:00'''),
	('in order, with few rows on each page', 'ORDER BY k, n; DELETE FROM got WHERE hashtext(t) % 20 <> 0'),
	('in order, and NULL keys', 'ORDER BY k, n; INSERT INTO got SELECT NULL, i, ''null'' FROM generate_series(1, 300) AS i; INSERT INTO got SELECT k + interval ''1 day'', n, t FROM sorted WHERE n = 0 ORDER BY k')) AS v (about, olds);

-- In another order
SELECT pg_temp.merges('order_by', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', options => '{"order_by": ["n", "k"]}', in_order => 'n, k', workers => '{0,1,2,4}');
SELECT pg_temp.merges('order_by, all rows', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', options => '{"order_by": ["n", "t"]}', in_order => 'n, t', ties => false);
SELECT pg_temp.merges('order_by, with little memory', 'CREATE TABLE got (k date, n bigint, t text) PARTITION BY RANGE (k)' || pg_temp.days(), 'INSERT INTO got SELECT * FROM many WHERE n % 3 > 0', 'SELECT k, n, ''new '' || t FROM many WHERE n % 5 > 0', 'k, n', options => '{"order_by": ["n"]}', in_order => 'n',
	settings => ARRAY['{"memory": "1MB"}'::jsonb]);

-- Ways to read the file
SELECT pg_temp.merges('from a program', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', way => 'SELECT fast_copy(''got'', ''cat '' || %1$L, program => true, workers => %2$s, options => %3$L)');
SELECT pg_temp.merges('packed', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', way => 'SELECT fast_copy(''got'', pg_temp.packed(%1$L), workers => %2$s, options => %3$L)', workers => '{0,1,2}', settings => ARRAY['{"chunk_size": "1kB"}'::jsonb]);
SELECT pg_temp.merges('with a header, in another order', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'SELECT t, n, k FROM more', 'k, n', columns => 't, n, k', file_options => ', HEADER', options => '{"header": "map", "columns": null}');
SELECT pg_temp.merges('by COPY', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', way => 'COPY got FROM %1$L WITH (fast_copy, FORMAT csv, workers %2$s, existing_rows merge, dedup_keys (k, n))');
SELECT pg_temp.merges('by COPY, the first', pg_temp.day_table(), 'INSERT INTO got TABLE olds', 'TABLE more', 'k, n', '{first}', way => 'COPY got FROM %1$L WITH (fast_copy, FORMAT csv, workers %2$s, existing_rows ''merge'', dedup_keys (k, n), dedup_keep first)');

-- Rejects; a day all of whose rows are rejected stays as it is
SELECT pg_temp.merges('rejects', pg_temp.day_table('; ALTER TABLE got ADD CONSTRAINT odd CHECK (n <> 3)'), 'INSERT INTO got SELECT * FROM olds WHERE n <> 3', 'SELECT k, n, t FROM more', 'k, n',
	options => '{"on_error": "ignore", "on_error_classes": ["check"]}', skip => 'n = 3');
SELECT pg_temp.merges('a day that is rejected', pg_temp.day_table('; ALTER TABLE got ADD CONSTRAINT odd CHECK (n <> 3)'), 'INSERT INTO got SELECT * FROM olds WHERE n <> 3', 'SELECT k, CASE WHEN k < ''2024-01-04'' THEN 3 ELSE n END, t FROM more', 'k, n',
	options => '{"on_error": "ignore", "on_error_classes": ["check"]}', skip => 'n = 3');

-- Errors, in full
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	nodes oid[] := ARRAY(SELECT pg_relation_filenode(leaf) FROM pg_temp.leaves() ORDER BY 1);
	f text[] := pg_temp.failure(statement);
BEGIN
	RETURN CASE WHEN f IS NULL THEN 'none' ELSE array_to_string(f[1:4], '|', '') || CASE WHEN nodes <> ARRAY(SELECT pg_relation_filenode(leaf) FROM pg_temp.leaves() ORDER BY 1) THEN '|changed' ELSE '' END END;
END
$$;
CREATE FUNCTION pg_temp.refused(options jsonb, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.error_of(format('SELECT fast_copy(''got'', %L, options => %L%s)', current_setting('fc.file'), '{"existing_rows": "merge"}' || options, more))
$$;
-- Makes the table, and a file for it
CREATE FUNCTION pg_temp.make(more text DEFAULT '', columns text DEFAULT 'k timestamp, n int, t text') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS got CASCADE;
	EXECUTE pg_temp.day_table('', columns);
	INSERT INTO got (k, n, t) TABLE olds;
	EXECUTE more;
	PERFORM pg_temp.file('TABLE more');
END
$$;
SELECT pg_temp.make('SELECT') \g /dev/null
SELECT is(pg_temp.refused('{"dedup_keys": ["n", "t"]}'), '22023|dedup_keys must contain column "k"|Rows are compared with those that have the same value in it.|', 'columns without the key');
SELECT is(pg_temp.refused('{"dedup_keys": ["k", "m"]}'), '42703|column "m" of relation "got" does not exist||', 'a column that there is not');
SELECT is(pg_temp.refused('{"dedup_keys": ["k", "tableoid"]}'), '42703|column "tableoid" of relation "got" does not exist||', 'a column of the system');
SELECT alike(pg_temp.refused('{"dedup_keep": "last"}'), '22023|dedup_keep requires dedup_keys|%', 'what to keep of all rows');
SELECT alike(pg_temp.refused('{"dedup_keep": "any", "dedup_keys": ["k"]}'), '22023|dedup_keep "any" not recognized|%', 'another word');
SELECT alike(pg_temp.refused('{"dedup_keys": []}'), '%', 'no columns');
SELECT is(pg_temp.error_of(format('SELECT fast_copy(''got'', %L, options => %L)', :'tmp_dir' || '/fc_merge.csv', o)), w, 'only with merge: ' || o)
FROM (VALUES ('{"dedup_keys": ["k"]}', '22023|dedup_keys requires existing_rows "merge", or on_conflict||Add existing_rows => ''merge'', or on_conflict => ''update''.'), ('{"existing_rows": "replace", "dedup_keys": ["k"]}', '22023|dedup_keys requires existing_rows "merge", or on_conflict||Add existing_rows => ''merge'', or on_conflict => ''update''.'),
	('{"existing_rows": "keep", "dedup_keep": "last"}', '22023|dedup_keep requires existing_rows "merge", or on_conflict||Add existing_rows => ''merge'', or on_conflict => ''update''.'),
	('{"existing_rows": "merge", "replace_from": "2024-01-01", "replace_to": "2024-01-02"}', '22023|replace_from requires existing_rows "replace"||Add existing_rows => ''replace'', or leave it out.'),
	('{"existing_rows": "merge", "min_replace_ratio": 1}', '22023|min_replace_ratio requires existing_rows "replace"||Add existing_rows => ''replace'', or leave it out.'),
	('{"existing_rows": "merge", "freeze": true}', '22023|freeze cannot be used with existing_rows "merge"||Leave it out.')) AS v (o, w);
SELECT is(pg_temp.refused('{"where_clause": "random() < 2"}'), 'none', 'a volatile condition, which is asked once for each row of the file');
SELECT pg_temp.make('ALTER TABLE got ADD x float DEFAULT random()') \g /dev/null
SELECT alike(pg_temp.refused('{"columns": ["k", "n", "t"]}'), '0A000|%A default or the condition is volatile: rows are evaluated in file order.%', 'a volatile default');
SELECT alike(pg_temp.refused('{"columns": ["k", "n", "t"], "where_clause": "x < 2"}'), '0A000|%A default or the condition is volatile: rows are evaluated in file order.%', 'a condition that sees it');
SELECT pg_temp.make('ALTER TABLE got ADD p point, ADD j json') \g /dev/null
SELECT alike(pg_temp.refused(format('{"columns": ["k", "n", "t"], "dedup_keys": ["k", "%s"]}', c)::jsonb), '42883|%|%|Name columns whose types have a default operator class for btree.', 'a column without an order: ' || c)
FROM (VALUES ('p'), ('j')) AS v (c);
DROP TABLE got CASCADE;
CREATE TABLE got (k timestamp, n int, t text);
INSERT INTO got TABLE olds;
SELECT is(pg_temp.refused('{}'), '22023|existing_rows "merge" requires a key||Name a column of the file as timestamp_column.', 'no key');
CREATE FUNCTION pg_temp.parted(how text, part text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE got CASCADE;
	EXECUTE format('CREATE TABLE got (k timestamp, n int, t text) PARTITION BY %s; CREATE TABLE got_1 PARTITION OF got %s; INSERT INTO got TABLE olds', how, part);
	RETURN pg_temp.refused('{}');
END
$$;
SELECT is(pg_temp.parted(how, part), '0A000|cannot tell which partitions of table "got" would be merged|Whole partitions are merged where the table is partitioned by range over one column that the file has.|Use on_conflict, for which the table needs a unique index.', how)
FROM (VALUES ('LIST (n)', 'DEFAULT'), ('HASH (n)', 'FOR VALUES WITH (MODULUS 1, REMAINDER 0)'), ('RANGE (k, n)', 'DEFAULT'), ('RANGE (date_trunc(''day'', k))', 'DEFAULT')) AS v (how, part);

-- Partitions whose rows cannot be written anew
CREATE FUNCTION pg_temp.cannot(about text, more text, why text, leaf text DEFAULT 'got_2', parted bool DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	keys text;
BEGIN
	FOREACH keys IN ARRAY ARRAY['', '["k", "n"]'] LOOP
		IF parted THEN
			PERFORM pg_temp.make(more);
		ELSE
			DROP TABLE got CASCADE;
			EXECUTE more;
			INSERT INTO got TABLE olds;
		END IF;
		RETURN NEXT alike(pg_temp.refused('{"workers": 2}'::jsonb || CASE WHEN keys <> '' THEN jsonb_build_object('dedup_keys', keys::jsonb) ELSE '{}' END || CASE WHEN parted THEN '{}'::jsonb ELSE '{"timestamp_column": "k"}' END),
			CASE WHEN keys <> '' AND why ~ '^(a partition has|the target)' THEN replace(format('0A000|cannot merge rows into table "got%%"|Its rows cannot be written anew: %s.|%%', why), '%%', '%')
			ELSE format('0A000|cannot merge rows into table "%s"|Its rows cannot be written anew: %s.|Use on_conflict, for which the table needs a unique index, or existing_rows "keep", which adds the rows of the file.', leaf, why) END, about || keys);
	END LOOP;
	RETURN NEXT is((SELECT count(*) FROM got), 3000::bigint, about || ': nothing has changed');
	RETURN NEXT is(pg_temp.left_behind(), 0::bigint, about || ': nothing is left behind');
END
$$;
CREATE TABLE numbers AS SELECT g AS n FROM generate_series(0, 10) AS g;
ALTER TABLE numbers ADD PRIMARY KEY (n);
SELECT pg_temp.cannot('a trigger for DELETE', 'CREATE TRIGGER tells AFTER DELETE ON got FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', '%triggers%');
SELECT pg_temp.cannot('a trigger of a partition', 'CREATE TRIGGER tells AFTER DELETE ON got_3 FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', '%triggers%', 'got_3');
SELECT pg_temp.cannot('a trigger for INSERT', 'CREATE TRIGGER tells BEFORE INSERT ON got_2 FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', 'a partition has triggers');
SELECT pg_temp.cannot('a foreign key', 'ALTER TABLE got ADD FOREIGN KEY (n) REFERENCES numbers', '%foreign keys%');
SELECT pg_temp.cannot('an exclusion constraint', 'ALTER TABLE got_2 ADD EXCLUDE USING btree (n WITH =, t WITH =, k WITH =)', '%exclusion%');
SELECT pg_temp.cannot('a constraint that can be deferred', 'ALTER TABLE got_2 ADD UNIQUE (t) DEFERRABLE', 'a partition has a constraint that can be deferred');
SELECT pg_temp.cannot('a constraint that sees its table', 'ALTER TABLE got_2 ADD CHECK (tableoid > 0)', '%sees of which table%');
SELECT pg_temp.cannot('an index that is not valid', 'CREATE INDEX bad ON got_2 (t); UPDATE pg_index SET indisvalid = false WHERE indexrelid = ''bad''::regclass', '%an index is not valid%');
SELECT pg_temp.cannot('an index that is not ready', 'CREATE INDEX bad ON got_2 (t); UPDATE pg_index SET indisready = false WHERE indexrelid = ''bad''::regclass', '%an index is not valid%');
CREATE EXTENSION bloom;
SELECT pg_temp.cannot('an index of an extension', 'CREATE INDEX ON got_2 USING bloom (n)', '%an extension''s access method%');
SELECT pg_temp.cannot('an index that sees its table', 'CREATE INDEX ON got_2 ((got_2 IS NOT NULL))', '%an index sees of which table%');
SELECT pg_temp.cannot('an index whose condition sees its table', 'CREATE INDEX ON got_2 (t) WHERE got_2 IS NOT NULL', '%an index sees of which table%');
SELECT pg_temp.cannot('a catalog of decoding', 'ALTER TABLE got_2 SET (user_catalog_table = true)', '%it is a catalog%');
SELECT pg_temp.cannot('rows that are not logged', 'CREATE UNLOGGED TABLE got (k timestamp, n int, t text)', '%not logged%', 'got', false);
SELECT pg_temp.cannot('rows of the session', 'CREATE TEMPORARY TABLE got (k timestamp, n int, t text)', '%', 'got', false);
DROP TABLE pg_temp.got;
CREATE TABLE got (n int);
SELECT pg_temp.cannot('a plain table with triggers', 'CREATE TABLE got (k timestamp, n int, t text); CREATE TRIGGER tells AFTER INSERT ON got FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', 'the target has triggers', 'got', false);
SELECT pg_temp.make('SELECT') \g /dev/null
DECLARE c CURSOR FOR TABLE got;
FETCH c \g /dev/null
SELECT is(pg_temp.refused('{}'), '0A000|cannot merge rows into table "got_2"|Its rows cannot be written anew: this session is using it.|Use on_conflict, for which the table needs a unique index, or existing_rows "keep", which adds the rows of the file.', 'a cursor on it');
CLOSE c;
SELECT is(pg_temp.refused('{"on_error": "ignore", "on_error_classes": ["unique"]}'), '0A000|cannot merge rows into table "got_2"|Its rows cannot be written anew: on_error skips equal rows.|Use on_conflict, for which the table needs a unique index, or existing_rows "keep", which adds the rows of the file.', 'on_error for unique indexes');
-- ... but empty ones can be loaded
SELECT pg_temp.make('DELETE FROM got_2; DELETE FROM got_3; TRUNCATE got_2, got_3; ALTER TABLE got_2 ADD UNIQUE (k, n, t) DEFERRABLE') \g /dev/null
SELECT is(pg_temp.refused('{"dedup_keys": ["k", "n"]}'), 'none', 'an empty partition that could not be written anew');
SELECT is((SELECT count(*) FROM got WHERE k >= '2024-01-03' AND k < '2024-01-05'), (SELECT count(DISTINCT (k, n)) FROM more WHERE k < '2024-01-05'), '... has each row of the file once');

-- A unique index, and rows that are not compared by its columns
SELECT pg_temp.make('DELETE FROM got; CREATE UNIQUE INDEX got_2_t ON got_2 (t); INSERT INTO got VALUES (''2024-01-03 01:00'', 1, (SELECT t FROM more WHERE k >= ''2024-01-03'' AND k < ''2024-01-04'' LIMIT 1))') \g /dev/null
SELECT matches(pg_temp.refused(o), '^23505\|(could not create unique index|duplicate key value violates unique constraint) "got_2_t"\|Key \(t\)=\(.*\) (is duplicated|already exists)\.\|$', 'equal rows of a unique index ' || o::text)
FROM (VALUES ('{}'::jsonb), ('{"dedup_keys": ["k", "t"]}'), ('{"workers": 2}')) AS v (o);
SELECT is((SELECT count(*) FROM got), 1::bigint, '... are not merged');

-- Rows that the file has for the default partition
SELECT pg_temp.make('DROP TABLE got_3; CREATE TABLE got_rest PARTITION OF got DEFAULT') \g /dev/null
SELECT is(pg_temp.refused('{"dedup_keys": ["k", "n"], "missing_partitions": "default"}'),
	'0A000|cannot merge rows into table "got_rest"|It is the default partition, whose rows are not compared.|Leave dedup_keys out, or the rows that go there by where_clause; or let their partitions be created.', 'equal rows of the default partition');
SELECT is(pg_temp.refused('{"dedup_keys": ["k", "n"], "missing_partitions": "default", "where_clause": "k < ''2024-01-04''"}'), 'none', 'no rows of it');
SELECT is(pg_temp.refused('{"missing_partitions": "default"}'), 'none', 'all rows of it');
SELECT is((SELECT count(*) FROM got_rest), (SELECT count(*) FROM more WHERE k >= '2024-01-04'), '... are there');

-- Who may
CREATE ROLE fc_merges;
GRANT USAGE ON SCHEMA public TO fc_merges;
GRANT pg_read_server_files TO fc_merges;
SELECT pg_temp.make('GRANT INSERT, SELECT ON got TO fc_merges; CREATE TABLE got_new PARTITION OF got FOR VALUES FROM (''2024-01-16'') TO (''2024-01-18'')') \g /dev/null
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO fc_merges;
SET LOCAL ROLE fc_merges;
SELECT alike(pg_temp.refused('{}'), '42501|permission denied for table got|%', 'without DELETE');
RESET ROLE;
GRANT DELETE ON got TO fc_merges;
SET LOCAL ROLE fc_merges;
SELECT is(pg_temp.refused('{}'), '0A000|cannot merge rows into table "got_2"|Its rows cannot be written anew: the caller does not own it.|Use on_conflict, for which the table needs a unique index, or existing_rows "keep", which adds the rows of the file.', 'who does not own it');
RESET ROLE;
ALTER TABLE got OWNER TO fc_merges;
ALTER TABLE got_2 OWNER TO fc_merges;
ALTER TABLE got_3 OWNER TO fc_merges;
ALTER TABLE got_new OWNER TO fc_merges;
SET LOCAL ROLE fc_merges;
SELECT is(pg_temp.refused('{"workers": 2, "dedup_keys": ["k", "n"]}'), 'none', 'the owner');
RESET ROLE;

-- In a transaction: after changes of its own, which are seen
SELECT pg_temp.make('SELECT') \g /dev/null
SELECT is((SELECT array_agg(pg_temp.refused(jsonb_build_object('dedup_keys', '["k", "n"]'::jsonb, 'workers', w))) FROM unnest(ARRAY[0, 2, 1]) AS w), '{none,none,none}', 'three times');
SELECT pg_temp.file('SELECT DISTINCT ON (k, n) * FROM more') \g /dev/null
CREATE TABLE once AS TABLE got;
UPDATE got SET t = 'mine' WHERE n = 2;
DELETE FROM got WHERE n = 3;
INSERT INTO got SELECT k, 9, 'own' FROM more WHERE n = 1;
UPDATE got SET n = 10 WHERE t = 'own' AND k < '2024-01-04';
DELETE FROM got WHERE n = 9 AND k > '2024-01-04 12:00';
CREATE TABLE own AS TABLE got;
SAVEPOINT before;
SELECT is(fast_copy('got', current_setting('fc.file'), workers => 2, options => '{"existing_rows": "merge", "dedup_keys": ["k", "n"], "dedup_keep": "first"}'),
	(SELECT count(*) FROM (SELECT DISTINCT k, n FROM more EXCEPT SELECT k, n FROM own) AS s), 'after changes of its own');
SELECT is_empty($$(TABLE own EXCEPT TABLE got) UNION ALL (SELECT k, n, 'x' FROM got EXCEPT (SELECT k, n, 'x' FROM own UNION SELECT k, n, 'x' FROM more))$$, '... all of these are there');
ROLLBACK TO before;
SELECT is_empty('(TABLE own EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE own)', 'after ROLLBACK TO SAVEPOINT');
DO $$
BEGIN
	PERFORM fast_copy('got', current_setting('fc.file'), options => '{"existing_rows": "merge", "dedup_keys": ["k", "n"]}');
	RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
	NULL;
END
$$;
SELECT is_empty('(TABLE own EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE own)', 'after an exception');
-- A function that the load calls changes old rows, or adds some
CREATE FUNCTION pg_temp.meddles() RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS $$
DECLARE
	what text := coalesce(nullif(current_setting('fc.meddle', true), ''), 'SELECT');
BEGIN
	PERFORM set_config('fc.meddle', '', true);
	EXECUTE what;
	RETURN true;
END
$$;
CREATE FUNCTION pg_temp.lies(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN pg_temp.meddles(); END';
ALTER TABLE got ADD CONSTRAINT meddled CHECK (pg_temp.lies(n));
SET LOCAL fc.meddle = 'UPDATE got SET t = ''kept'' WHERE ctid = (SELECT max(ctid) FROM got_2) AND tableoid = ''got_2''::regclass';
SELECT alike(pg_temp.refused('{"dedup_keys": ["k", "n"], "workers": 0}'), '40001|could not merge "got_2" because its rows were changed while it was being loaded|1 of its rows%', 'a function of the load updates a row');
SET LOCAL fc.meddle = 'INSERT INTO got SELECT * FROM got_2 ORDER BY k LIMIT 1';
SELECT is(pg_temp.refused('{"dedup_keys": ["k", "n"], "workers": 0}'), 'none', '... or adds one');
SELECT is((SELECT count(*) FROM (SELECT k, n FROM got_2 GROUP BY k, n HAVING count(*) > 1) AS s), 1::bigint, '... which stays, and is not compared');

-- Several files, in their order; a ledger; lines from the client
SELECT pg_temp.make('DELETE FROM got; INSERT INTO got SELECT DISTINCT ON (k, n) * FROM olds') \g /dev/null
CREATE FUNCTION pg_temp.files(name text, n int) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	files text[];
BEGIN
	FOR i IN 1 .. n LOOP
		files := files || (current_setting('fc.file') || '.' || name || i);
		EXECUTE format('COPY (SELECT k, n, %L || t FROM more WHERE hashtext(t) %% %s = 0) TO %L (FORMAT csv)', i || ' ', i + 1, files[i]);
	END LOOP;
	RETURN files;
END
$$;
SELECT pg_temp.files('part', 3) AS files \gset
SELECT fast_copy_create_ledger_table('led') \g /dev/null
CREATE TABLE shall_files AS TABLE got;
CREATE TABLE lines (i serial, k timestamp, n int, t text);
SELECT format('COPY lines (k, n, t) FROM %L (FORMAT csv)', f) FROM unnest(:'files'::text[]) AS f \gexec
INSERT INTO shall_files SELECT k, n, t FROM (SELECT DISTINCT ON (k, n) * FROM lines ORDER BY k, n, i) AS l WHERE NOT EXISTS (SELECT FROM got WHERE (got.k, got.n) = (l.k, l.n));
SELECT is(fast_copy('got', :'files'::text[], workers => 2, options => '{"existing_rows": "merge", "dedup_keys": ["k", "n"], "dedup_keep": "first", "ledger": "led"}'),
	(SELECT count(*) FROM shall_files) - (SELECT count(DISTINCT (k, n)) FROM olds), 'several files');
SELECT is_empty('(TABLE shall_files EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE shall_files)', '... the first of them counts');
SELECT results_eq('SELECT row_number() OVER (ORDER BY path), rows, rejected, filtered FROM led', $$SELECT i, (SELECT count(*) FROM got WHERE t LIKE i || ' %'), 0::bigint, 0::bigint FROM generate_series(1::bigint, 3) AS i$$, '... and the ledger tells what each has given');
SELECT is(fast_copy('got', :'files'::text[], options => '{"existing_rows": "merge", "dedup_keys": ["k", "n"], "ledger": "led"}'), 0::bigint, 'not once more');
SELECT is_empty('(TABLE shall_files EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE shall_files)', '... nothing changes');
COPY got FROM STDIN WITH (fast_copy, FORMAT csv, existing_rows merge, dedup_keys (k, n));
2024-01-03 00:00,1,a
2024-01-03 00:00,1,b
2024-01-03 00:00,-1,c
\.
SELECT results_eq($$SELECT n, t FROM got_2 WHERE k = '2024-01-03' AND n IN (-1, 1) ORDER BY 1$$, $$VALUES (-1, 'c'), (1, 'b')$$, 'from the client');
SELECT is((SELECT count(*) FROM got), (SELECT count(*) FROM shall_files) + 1 + (SELECT count(*) FROM (VALUES (1)) AS v WHERE NOT EXISTS (SELECT FROM shall_files WHERE k = '2024-01-03' AND n = 1)), '... all others are there');

-- Numbers of an identity column, and of a sequence, are new for rows of the file
SELECT pg_temp.make('SELECT', 'i bigint GENERATED BY DEFAULT AS IDENTITY, s serial, k timestamp, n int, t text') \g /dev/null
CREATE TABLE numbered AS TABLE got;
SELECT is(fast_copy('got', current_setting('fc.file'), columns => '{k,n,t}', workers => 2, options => '{"existing_rows": "merge", "dedup_keys": ["k", "n"]}'), (SELECT count(DISTINCT (k, n)) FROM more), 'an identity column');
SELECT is((SELECT count(*) FROM got JOIN numbered USING (i, s, k, n, t)), (SELECT count(*) FROM (SELECT DISTINCT ON (k, n, d) * FROM (SELECT *, CASE WHEN k >= '2024-01-03' AND k < '2024-01-05' THEN 0 ELSE i END AS d FROM numbered) AS w ORDER BY k, n, d, i DESC) AS w
	WHERE NOT EXISTS (SELECT FROM more WHERE (more.k, more.n) = (w.k, w.n))), 'old rows keep their numbers');
SELECT is((SELECT count(DISTINCT i) = count(*) AND count(DISTINCT s) = count(*) AND min(i) > 3000 AND max(i) = 3900 AND max(s) = 3900 FROM got WHERE i > 3000), true, 'new ones have their own');

-- Rows of few keys, of which the file has more than a cell should have: equal ones
-- are far from each other in the file, and meet all the same
CREATE TABLE few (k timestamp, n int) PARTITION BY RANGE (k);
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + i % 60000 % 3 * interval '1 hour' AS k, i % 60000 AS n FROM generate_series(1, 180000) AS i$$) \g /dev/null
SELECT is(fast_copy('few', current_setting('fc.file'), workers => w, options => '{"existing_rows": "merge", "dedup_keys": ["k", "n"]}'), 60000::bigint, format('few keys, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
SELECT is((SELECT count(*) FROM few), 60000::bigint, '... no row twice');
SELECT is((SELECT count(DISTINCT n) FROM few), 60000::bigint, '... and none lost');

-- Rows of one key whose hashes are all the same: they are sorted instead
CREATE TABLE same_hash (d date, k bigint, v int) PARTITION BY RANGE (d);
SELECT pg_temp.file($$SELECT date '2024-01-01' AS d, i::bigint << 32 | i AS k, i AS v FROM generate_series(1, 20000) AS i$$) \g /dev/null
SELECT is(fast_copy('same_hash', current_setting('fc.file'), options => '{"existing_rows": "merge", "dedup_keys": ["d", "k"]}'), 20000::bigint, 'equal hashes') FROM generate_series(1, 2);
SELECT is((SELECT count(DISTINCT k) = count(*) AND count(*) = 20000 FROM same_hash), true, '... no row twice');

-- What a dropped column has had is left behind
CREATE TABLE forgetful (d date, gone text, v int) PARTITION BY RANGE (d);
ALTER TABLE forgetful ALTER gone SET STORAGE EXTERNAL;
CREATE TABLE forgetful_1 PARTITION OF forgetful FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
INSERT INTO forgetful SELECT '2024-01-01', repeat('x', 30000), i FROM generate_series(1, 20) AS i;
ALTER TABLE forgetful DROP gone;
SELECT pg_temp.file($$SELECT date '2024-01-01' AS d, 21 AS v$$) \g /dev/null
SELECT fast_copy('forgetful', current_setting('fc.file'), options => '{"existing_rows": "merge"}') \g /dev/null
SELECT is((SELECT sum(v) || ' ' || pg_relation_size(reltoastrelid) FROM forgetful, pg_class WHERE relname = 'forgetful_1' GROUP BY reltoastrelid), '231 0', 'a dropped column');

-- Rows of a partition that stays as it is, because all rows of the file for it are left
-- out, are not updated, even if some are equal to each other
CREATE TABLE kept (d date, v int CHECK (v > 0)) PARTITION BY RANGE (d);
CREATE TABLE kept_1 PARTITION OF kept FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
INSERT INTO kept SELECT '2024-01-01', 1 + i % 3 FROM generate_series(1, 12) AS i;
SELECT fast_copy_create_history_table('merge_history') \g /dev/null
SET LOCAL fast_copy.history = 'merge_history';
SELECT pg_temp.file($$SELECT * FROM (VALUES (date '2024-01-01', -1), ('2024-01-02', 2)) AS v$$) \g /dev/null
SELECT is(fast_copy('kept', current_setting('fc.file'), on_error => 'ignore', on_error_classes => '{check}', options => '{"existing_rows": "merge", "dedup_keys": ["d", "v"]}'), 1::bigint, 'one partition stays as it is');
SELECT is((SELECT count(*) FROM kept_1), 12::bigint, '... with all its rows');
SELECT matches((SELECT choice FROM fast_copy_report() WHERE phase = 'load' AND choice ~ 'that were there'), 'with 0 rows that were there; 0 others updated', '... none of which is updated');
SELECT is((SELECT updated FROM merge_history), 0::bigint, '... in the history, too');

SELECT * FROM finish();
ROLLBACK;
