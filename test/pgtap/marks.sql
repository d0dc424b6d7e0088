-- delete_where: of equal rows one is chosen first, and if that is a delete mark none stays.
-- Combinations are drawn, and compared with SQL.

\set name marks
\ir begin.psql

-- Of the draws a fourth runs, by FC_SEED of the environment; without it all of them do.
\getenv seed FC_SEED
SELECT :{?seed} AS drawn \gset
\if :drawn
SELECT plan(342);
SELECT diag('FC_SEED=' || :'seed' || ' draws these, and repeats them');
\else
\set seed ''
SELECT plan(972);
\endif
SELECT set_config('fc.seed', :'seed', true) \g /dev/null

-- One of them, by the draw's number and what it is for
CREATE FUNCTION pg_temp.draw(n int, what text, VARIADIC words text[]) RETURNS text LANGUAGE sql AS $$
	SELECT words[1 + (hashtext(n || what) & 2147483647) % array_length(words, 1)]
$$;

-- h(i): a number that the row's and the draw's numbers and i give
CREATE FUNCTION pg_temp.hashed(query text, draw int) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(query, 'h\((\d)\)', format('(hashint8(g * 8 + \1 + %s) & 2147483647)', draw * 100003), 'g')
$$;

-- Rows, n of them at most, of few values; with "unique" the key is there once.  A mark
-- has its key alone, or all, and "flag" says which rows are marks; NULL: none.
CREATE FUNCTION pg_temp.rows(draw int, what text, n int, uniq bool, days int) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.hashed(format('SELECT %s timestamp ''2024-01-01'' + (h(1) %% (%s * 24 / 7)) * interval ''7 hours'' AS ts, h(2) %% 25 AS d, CASE WHEN h(3) %% 5 > 0 THEN h(3) %% 7 END AS u,
			CASE WHEN h(4) %% 4 > 0 THEN chr(97 + h(4) %% 5) END AS v, CASE WHEN h(6) %% 8 > 1 OR h(7) %% 2 = 0 THEN %L || g || repeat(''x'', h(6) %% 200) END AS note,
			CASE WHEN h(6) %% 8 < 2 THEN ''D'' WHEN h(6) %% 8 < 3 THEN NULL ELSE (ARRAY[''I'', ''U'', ''d'', ''''])[1 + h(5) %% 4] END AS op
		FROM generate_series(1, %s) AS g', CASE WHEN uniq THEN 'DISTINCT ON (1, 2)' ELSE '' END, days, what, n), draw)
$$;

CREATE FUNCTION pg_temp.run(draw int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	way text := pg_temp.draw(draw, 'way', 'merge', 'update', 'merge', 'update', 'update');
	kind text := pg_temp.draw(draw, 'kind', 'days', 'days', 'plain', CASE way WHEN 'merge' THEN 'days' ELSE 'hash' END);
	-- hash partitions have no key, nor has a table for which none is named
	keyed bool := kind <> 'hash' AND (way = 'merge' OR draw % 3 > 0 OR kind = 'days');
	columns text := pg_temp.draw(draw, 'columns', 'u', 'v', 'u,v', 'v,ts', '', '', '');
	keep text := pg_temp.draw(draw, 'keep', 'last', 'first', '', '');
	of_file int := pg_temp.draw(draw, 'of file', '1', '40', '3000', '3000')::int;
	form text := pg_temp.draw(draw, 'form', 'map', 'columns', 'number', 'column', 'mixed', 'transform');
	fired bool := way = 'update' AND draw % 5 = 0;
	filter text := CASE WHEN draw % 4 = 1 THEN 'u IS DISTINCT FROM 2' ELSE 'true' END;
	condition text := CASE form WHEN 'column' THEN 'v = ''c''' WHEN 'mixed' THEN 'op = ''D'' AND d < 20 OR v = ''b'' AND $1 IS NOT NULL' ELSE 'op = ''D''' END;
	of_sql text := CASE form WHEN 'mixed' THEN 'op = ''D'' AND d < 20 OR v = ''b''' ELSE condition END;
	-- of equal rows that dedup_order does not order
	tie text := CASE WHEN keep <> 'first' THEN 'source DESC, at DESC' WHEN way = 'update' AND columns = '' THEN 'source DESC, at' ELSE 'source, at' END;
	newest text := coalesce((SELECT string_agg(c || ' DESC NULLS LAST, ', '') FROM unnest(string_to_array(replace(columns, 'v', 'v COLLATE "C"'), ',')) AS c), '');
	call text;
	said text;
	loaded bigint;
	report record;
BEGIN
	DROP TABLE IF EXISTS t, was, news, every, winner;
	EXECUTE 'CREATE TABLE was AS ' || pg_temp.rows(draw, 'table', 400, true, 3);
	UPDATE was SET note = 'note' WHERE note IS NULL;
	EXECUTE 'CREATE TABLE news AS ' || pg_temp.rows(draw + 1000, 'file', of_file, false, CASE WHEN keyed THEN 4 ELSE 3 END);
	-- a row that is no mark has a note
	EXECUTE format('UPDATE news SET note = ''note'' WHERE note IS NULL AND (%s) IS NOT TRUE', of_sql);
	-- and a mark has what no row may have
	EXECUTE format('UPDATE news SET note = ''wrong'' WHERE d %% 3 = 0 AND (%s)', of_sql);
	EXECUTE 'CREATE TABLE t (ts timestamp NOT NULL, d int, u int, v text COLLATE "C", note text NOT NULL CHECK (note <> ''wrong''))' ||
		CASE kind WHEN 'days' THEN ' PARTITION BY RANGE (ts)' WHEN 'hash' THEN ' PARTITION BY HASH (d)' ELSE '' END;
	IF kind = 'days' AND draw % 3 = 0 THEN
		-- its rows are not as the target's
		CREATE TABLE t0 (note text NOT NULL CONSTRAINT t_note_check CHECK (note <> 'wrong'), gone int, v text COLLATE "C", u int, d int, ts timestamp NOT NULL);
		ALTER TABLE t0 DROP COLUMN gone;
		ALTER TABLE t ATTACH PARTITION t0 FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
	END IF;
	IF kind = 'days' THEN
		EXECUTE (SELECT string_agg(format('CREATE TABLE t%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i, date '2024-01-01' + i, date '2024-01-02' + i), ';') FROM generate_series(CASE WHEN draw % 3 = 0 THEN 1 ELSE 0 END, 2) AS i);
	ELSIF kind = 'hash' THEN
		CREATE TABLE t0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE t1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	END IF;
	IF way <> 'merge' OR draw % 2 = 0 THEN ALTER TABLE t ADD PRIMARY KEY (ts, d); END IF;
	INSERT INTO t SELECT ts, d, u, v, note FROM was;
	IF fired THEN CREATE TRIGGER fires BEFORE INSERT OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.either(); END IF;
	EXECUTE format('CREATE TABLE every AS SELECT 0 AS source, ctid AS at, false AS mark, ts, d, u, v, note FROM was UNION ALL SELECT 1, ctid, coalesce(%s, false), ts, d, u, v, note FROM news WHERE %s', of_sql, filter);
	EXECUTE format('CREATE TABLE winner AS SELECT DISTINCT ON (ts, d) * FROM every ORDER BY ts, d, %s %s', newest, tie);
	PERFORM set_config('fast_copy.memory', pg_temp.draw(draw, 'memory', '64MB', '256kB'), true), set_config('fast_copy.chunk_size', pg_temp.draw(draw, 'chunk', '16MB', '10kB', '700B'), true),
		set_config('fast_copy.spill', pg_temp.draw(draw, 'spill', 'auto', 'rows', 'offsets'), true);
	call := format('SELECT fast_copy(''t'', %L, workers => %s, dedup_keys => ''{ts,d}'', delete_where => %L%s, %s)',
		pg_temp.file(CASE form WHEN 'number' THEN 'SELECT op, ts, d, u, v, note FROM news' WHEN 'map' THEN 'SELECT v, d, op AS "Op", ts, note, u FROM news' WHEN 'column' THEN 'SELECT ts, d, u, v, note FROM news'
			WHEN 'mixed' THEN 'SELECT ts, d, u, v, note, op FROM news' WHEN 'transform' THEN 'SELECT op, ts, d, u, upper(v), note FROM news' ELSE 'SELECT op, ts, d, u, v, note FROM news' END,
			CASE WHEN form = 'map' THEN ', HEADER' ELSE '' END),
		pg_temp.draw(draw, 'workers', '0', '1', '2', '4'), CASE form WHEN 'number' THEN '$1 = ''D''' ELSE condition END,
		CASE form WHEN 'map' THEN ', header => ''map''' WHEN 'column' THEN '' WHEN 'mixed' THEN ', columns => ''{ts,d,u,v,note,op}''' WHEN 'transform' THEN ', columns => ''{op,ts,d,u,V,note}'', transform => ''v = lower("V")'''
			ELSE ', columns => ''{op,ts,d,u,v,note}''' END ||
		CASE WHEN keyed THEN ', timestamp_column => ''ts''' ELSE '' END || CASE filter WHEN 'true' THEN '' ELSE format(', where_clause => %L', filter) END ||
		CASE columns WHEN '' THEN '' ELSE format(', dedup_order => %L', '{' || columns || '}') END || CASE keep WHEN '' THEN '' ELSE format(', dedup_keep => %L', keep) END,
		CASE way WHEN 'merge' THEN 'existing_rows => ''merge''' ELSE 'on_conflict => ''update''' END);
	EXECUTE call INTO loaded;
	SELECT string_agg(format('%s %s', n, x), E'\n') INTO said FROM (
		SELECT 'is wrong', to_jsonb(x) FROM (SELECT * FROM t EXCEPT ALL SELECT ts, d, u, v, note FROM winner WHERE NOT mark) AS x UNION ALL
		SELECT 'lacks', to_jsonb(x) FROM (SELECT ts, d, u, v, note FROM winner WHERE NOT mark EXCEPT ALL SELECT * FROM t) AS x LIMIT 5) AS d (n, x);
	RETURN NEXT is(said, NULL, format('%s: %s, %s rows into %s%s%s, newest %s, keep %s, %s', draw, way, of_file, kind, CASE WHEN keyed THEN ' by ts' ELSE '' END, CASE WHEN fired THEN ' with triggers' ELSE '' END, columns, keep, form));
	SELECT * INTO report FROM fast_copy_report() WHERE phase = 'total';
	RETURN NEXT is(loaded, (SELECT count(*) FROM winner WHERE source = 1 AND NOT mark), '... and says how many rows of the file stay');
	RETURN NEXT is(report.updated, (SELECT count(*) FROM winner JOIN was USING (ts, d) WHERE source = 1 AND NOT mark), '... how many of the table they took the place of');
	RETURN NEXT is(report.deleted, (SELECT count(*) FROM winner JOIN was USING (ts, d) WHERE mark), '... how many of these were deleted');
	-- a mark that a newer row of the table is preferred to is a duplicate where rows are merged
	EXECUTE format('SELECT count(*) FROM (SELECT DISTINCT ON (ts, d) * FROM every %s ORDER BY ts, d, %s %s) AS x WHERE mark', CASE way WHEN 'merge' THEN '' ELSE 'WHERE source = 1' END, newest, tie) INTO loaded;
	RETURN NEXT is(report.unmatched, loaded - report.deleted, '... and how many marks deleted nothing');
	RETURN NEXT is(report.duplicates, (SELECT count(*) FROM every WHERE source = 1) - report.rows - loaded, '... the others are duplicates');
	EXECUTE call;
	-- once more changes nothing
	RETURN NEXT is((SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT ts, d, u, v, note FROM winner WHERE NOT mark) AS x), 0::bigint, '... once more is the same');
END
$$;

CREATE FUNCTION pg_temp.either() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN coalesce(NEW, OLD); END';

SELECT pg_temp.run(draw) FROM generate_series(1, 120) AS draw
WHERE current_setting('fc.seed') = '' OR draw % 4 = (hashtext(current_setting('fc.seed')) & 2147483647) % 4;

-- Loads a table of lines; returns the result
CREATE FUNCTION pg_temp.load(tab text, lines text[], more text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT fast_copy(%L, %L, %s)', tab, pg_temp.write(lines), more) INTO n;
	RETURN n;
END
$$;
CREATE FUNCTION pg_temp.said() RETURNS text LANGUAGE sql AS $$
	SELECT format('(%s,%s,%s,%s)', updated, deleted, unmatched, duplicates) FROM fast_copy_report() WHERE phase = 'total'
$$;
CREATE FUNCTION pg_temp.upsert() RETURNS text LANGUAGE sql AS $$ SELECT $x$on_conflict => 'update', delete_where => 'op = ''D'''$x$ $$;
CREATE FUNCTION pg_temp.merge() RETURNS text LANGUAGE sql AS $$ SELECT $x$existing_rows => 'merge', delete_where => 'op = ''D'''$x$ $$;
CREATE FUNCTION pg_temp.fails(tab text, lines text[], more text) RETURNS text[] LANGUAGE sql AS $$
	SELECT pg_temp.failure(format('SELECT pg_temp.load(%L, %L, %L)', tab, lines, more))
$$;

-- ---- what a mark takes out ----
CREATE TABLE day (ts date NOT NULL, k int, note text NOT NULL) PARTITION BY RANGE (ts);
CREATE TABLE day1 PARTITION OF day FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
CREATE TABLE day2 PARTITION OF day FOR VALUES FROM ('2024-01-02') TO ('2024-01-03');
INSERT INTO day VALUES ('2024-01-01', 1, 'a'), ('2024-01-01', 1, 'twin'), ('2024-01-01', 2, 'b'), ('2024-01-02', 1, 'c'), ('2024-01-02', 2, 'd');
SELECT pg_temp.load('day', '{"D,2024-01-01,1,","D,2024-01-02,1,","U,2024-01-02,2,e","D,2024-01-02,2,","I,2024-01-02,1,f","D,2024-01-02,1,"}',
	$$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', $$ || pg_temp.merge()) AS n \gset
SELECT results_eq('SELECT * FROM day', $$VALUES (date '2024-01-01', 2, 'b')$$, 'all rows that are equal go, and a day may become empty');
SELECT is(pg_temp.said(), '(0,4,0,3)', '... and are counted');
SELECT is(pg_relation_size('day2'), 0::bigint, '... its file, too');
SELECT pg_relation_filenode('day1') AS was, pg_temp.load('day', '{"D,2024-01-01,7,","D,2024-01-02,8,"}', $$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', $$ || pg_temp.merge()) AS n \gset
SELECT is(ARRAY[pg_relation_filenode('day1')::text, pg_temp.said()], ARRAY[:'was', '(0,0,2,0)'], 'a partition where marks find nothing is not rewritten');
SELECT pg_temp.load('day', '{"I,2024-01-01,1,old"}', $$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', $$ || pg_temp.merge()) AS n \gset
SELECT is((SELECT note FROM day WHERE k = 1), 'old', 'a file that comes later brings a row back');
-- all rows that have one key, more than the memory takes
SET LOCAL fast_copy.memory = '256kB';
INSERT INTO day SELECT '2024-01-01', i, repeat('x', 100) FROM generate_series(10, 5000) AS i;
SELECT is(pg_temp.load('day', (SELECT array_agg(CASE WHEN i % 3 = 0 THEN 'D,2024-01-01,' || i || ',' ELSE 'U,2024-01-01,' || i || ',new' END ORDER BY i % 7, i) FROM generate_series(10, 6000) AS i)
	|| (SELECT array_agg('D,2024-01-01,' || i || ',"quo""te"' ORDER BY i) FROM generate_series(5001, 5100) AS i),
	$$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', $$ || pg_temp.merge()), (SELECT count(*) FROM generate_series(10, 6000) AS i WHERE i % 3 > 0 AND i NOT BETWEEN 5001 AND 5100), 'many rows of one key');
SELECT results_eq('SELECT k FROM day WHERE k >= 10 ORDER BY 1', 'SELECT i FROM generate_series(10, 6000) AS i WHERE i % 3 > 0 AND i NOT BETWEEN 5001 AND 5100', '... are sorted with their marks');
SELECT is(pg_temp.said(), format('(%s,%s,%s,%s)', (SELECT count(*) FROM generate_series(10, 5000) AS i WHERE i % 3 > 0), (SELECT count(*) FROM generate_series(10, 5000) AS i WHERE i % 3 = 0),
	(SELECT count(*) FROM generate_series(5001, 6000) AS i WHERE i % 3 = 0 OR i <= 5100), 100), '... and are counted');
RESET fast_copy.memory;

-- ---- partitions that only marks would go to ----
CREATE FUNCTION pg_temp.few() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS few;
	CREATE TABLE few (ts date NOT NULL, k int, note text NOT NULL, PRIMARY KEY (ts, k)) PARTITION BY RANGE (ts);
	CREATE TABLE few1 PARTITION OF few FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
	INSERT INTO few VALUES ('2024-01-01', 1, 'a'), ('2024-01-01', 2, 'b');
END
$$;
CREATE FUNCTION pg_temp.parts(way text, form text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	-- a record with a quote inside, or a long one, is no row in the scan
	marks text[] := ARRAY['D,2024-01-01,1,', 'D,2024-01-02,1,' || form, 'D,2024-01-02,2,' || form];
	more text := $x$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', $x$ || CASE way WHEN 'merge' THEN pg_temp.merge() ELSE pg_temp.upsert() END;
	failed text[];
BEGIN
	PERFORM pg_temp.few();
	RETURN NEXT is(pg_temp.load('few', marks || '{"I,2024-01-03,1,n","D,2024-01-03,2,","I,2024-01-05,1,n","D,2024-01-05,1,"}', more), 1::bigint, format('%s, %s bytes: marks for days that are not there', way, length(form)));
	RETURN NEXT is((SELECT array_agg(inhrelid::regclass::text ORDER BY inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'few'::regclass), '{few1,few_p20240103,few_p20240105}', '... make no partition');
	RETURN NEXT is(pg_temp.said(), '(0,1,4,1)', '... and are counted');
	RETURN NEXT is((SELECT string_agg(ts || note, ' ' ORDER BY ts) FROM few), '2024-01-01b 2024-01-03n', '... the others do what they shall');
	PERFORM pg_temp.few();
	RETURN NEXT is(pg_temp.load('few', marks, more || ', missing_partitions => ''error'''), 0::bigint, '... nor are they an error');
	RETURN NEXT is(pg_temp.said(), '(0,1,2,0)', '... and are counted, too');
	FOR size IN 0 .. 2 LOOP
		PERFORM set_config('fast_copy.chunk_size', (ARRAY['16MB', '10B', '40B'])[size + 1], true);
		failed := pg_temp.fails('few', marks || '{"I,2024-01-03,1,n","D,2024-01-03,1,"}', more || format(', missing_partitions => ''error'', workers => %s', size));
		RETURN NEXT is(failed[1:2], ARRAY['23514', 'no partition of relation "few" found for row'], '... unlike rows');
		RETURN NEXT matches(failed[9], 'line 4: "I,2024-01-03', '... whose line is told');
	END LOOP;
	PERFORM set_config('fast_copy.chunk_size', '16MB', true);
END
$$;
SELECT pg_temp.parts(way, form) FROM (VALUES ('merge', ''), ('update', ''), ('merge', '"a""b"'), ('update', '"a""b"')) AS v (way, form);
-- many marks before the first row, for more than one process
SET LOCAL fast_copy.chunk_size = '10kB';
SELECT matches((pg_temp.fails('few', (SELECT array_agg('D,2024-01-02,' || i || ',') || '{"I,2024-01-03,1,n"}' FROM generate_series(1, 30000) AS i), $$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', missing_partitions => 'error', workers => 2, $$ || pg_temp.merge()))[9],
	'line 30001: "I,2024-01-03', 'the line of the first row');
RESET fast_copy.chunk_size;
SET LOCAL fast_copy.spill = 'offsets';
SELECT pg_temp.parts('merge', repeat('y', 100000));
RESET fast_copy.spill;
SELECT pg_temp.few() \g /dev/null
CREATE TABLE few_default PARTITION OF few DEFAULT;
INSERT INTO few VALUES ('2024-01-02', 1, 'default'), ('2024-01-02', 2, 'default');
SELECT is(pg_temp.load('few', '{"D,2024-01-02,1,","D,2024-01-03,1,"}', $$columns => '{op,ts,k,note}', $$ || pg_temp.upsert()), 0::bigint, 'a default partition');
SELECT is((SELECT count(*) FROM few_default) || pg_temp.said(), '1(0,1,1,0)', '... loses rows by marks');
SELECT is(pg_temp.load('few', '{"D,2024-01-02,2,"}', $$columns => '{op,ts,k,note}', missing_partitions => 'error', $$ || pg_temp.upsert()), 0::bigint, '... to which rows may not go');
SELECT is((SELECT count(*) FROM few_default), 0::bigint, '... but marks may');
SELECT bag_eq($$SELECT item, name, rows, detail FROM fast_copy_analyze('few', pg_temp.write('{"D,2024-01-01,2,","I,2024-01-01,3,c","D,2024-01-02,2,"}'), columns => '{op,ts,k,note}', on_conflict => 'update', delete_where => 'op = ''D''')
		WHERE item IN ('rows', 'partition')$$,
	$$VALUES ('rows', 'accepted', 1::bigint, NULL), ('rows', 'filtered', 0, NULL), ('rows', 'marks', 2, NULL), ('rows', 'bad', 0, NULL), ('partition', 'few_default', 1, 'default partition'), ('partition', 'few1', 2, 'exists')$$, 'an analysis tells marks from rows');
DROP TABLE few_default;
SELECT is((SELECT detail FROM fast_copy_analyze('few', current_setting('fc.file'), columns => '{op,ts,k,note}', on_conflict => 'update', delete_where => 'op = ''D''') WHERE item = 'partition' AND name IS NULL),
	'only delete marks, and no partition', '... and what they make no partition for');

-- ---- NULLs, names, indexes ----
CREATE TABLE once (k int UNIQUE NULLS NOT DISTINCT, n int);
CREATE TABLE apart (k int UNIQUE, n int);
INSERT INTO once VALUES (1, 1), (NULL, 2);
INSERT INTO apart TABLE once;
SELECT is(pg_temp.load('once', '{"I,7,1","D,,"}', $$columns => '{op,k,n}', dedup_keys => '{k}', $$ || pg_temp.upsert()) || pg_temp.said(), '1(0,1,0,0)', 'NULLs are equal in an index of NULLS NOT DISTINCT');
SELECT is(pg_temp.load('apart', '{"I,7,1","D,,"}', $$columns => '{op,k,n}', dedup_keys => '{k}', $$ || pg_temp.upsert()) || pg_temp.said(), '1(0,0,1,0)', '... and in no other');
CREATE TABLE "Names" (gone int, excluded int, mark text, mark0 text, t text, s text, n text, m text, c0 int, "o K" numeric, UNIQUE (excluded, "o K"));
ALTER TABLE "Names" DROP COLUMN gone;
INSERT INTO "Names" SELECT i, 'a', 'b', 'c', 'd', 'e', 'f', i, i FROM generate_series(1, 4) AS i;
SELECT pg_temp.load('"Names"', '{"D,1,,,,,,,,1.0","D,2,,,,,,,2,2","D,3,,,,,,,,3.0","U,4,x,x,x,x,x,x,5,4"}',
	$$columns => '{op,excluded,mark,mark0,t,s,n,m,c0,o K}', dedup_keys => '{excluded,o K}', dedup_order => '{c0}', $$ || pg_temp.upsert()) AS n \gset
SELECT results_eq('SELECT excluded, mark, m, c0 FROM "Names" ORDER BY 1', $$VALUES (1, 'a', 'f', 1), (3, 'a', 'f', 3), (4, 'x', 'x', 5)$$, 'a table with each name that the commands use; NULL loses to a value');
CREATE TABLE two (k int PRIMARY KEY, n int UNIQUE);
INSERT INTO two VALUES (1, 1), (2, 2);
SELECT is(pg_temp.load('two', '{"I,3,1","D,1,"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()), 1::bigint, 'a value of another index may be inserted where it is deleted');
CREATE TABLE child () INHERITS (two);
INSERT INTO child VALUES (2, 2);
SELECT pg_temp.load('two', '{"D,2,"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()) AS n \gset
SELECT is((SELECT string_agg(tableoid::regclass || '|' || k, ' ' ORDER BY tableoid::regclass::text) FROM two), 'child|2 two|3', 'rows of heirs stay');
CREATE TABLE made (k int, n int, g int GENERATED ALWAYS AS (k * 10) STORED UNIQUE);
INSERT INTO made VALUES (1, 1), (2, 2);
SELECT is((pg_temp.fails('made', '{"D,2,"}', $$columns => '{op,k,n}', dedup_keys => '{g}', $$ || pg_temp.upsert()))[1:2], ARRAY['0A000', 'cannot compare delete marks by generated column "g"'], 'a stage has no generated values');

-- ---- who else sees it ----
CREATE TABLE owners (k int PRIMARY KEY, n int CHECK (n < 100));
CREATE TABLE pets (owner int REFERENCES owners ON DELETE CASCADE);
CREATE TABLE heard (what text);
CREATE FUNCTION pg_temp.hears() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO heard VALUES (concat_ws(' ', TG_WHEN, TG_OP, TG_LEVEL, OLD.k));
	RETURN CASE WHEN OLD.k = 3 THEN NULL ELSE OLD END;
END
$$;
INSERT INTO owners VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO pets VALUES (1), (2);
CREATE TRIGGER each BEFORE DELETE ON owners FOR EACH ROW EXECUTE FUNCTION pg_temp.hears();
CREATE TRIGGER late AFTER DELETE ON owners FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.hears();
SELECT is(pg_temp.load('owners', '{"D,1,","D,3,","I,4,4","D,9,"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()) || pg_temp.said(), '1(0,1,2,0)', 'rows are deleted as by a command');
SELECT results_eq('SELECT what FROM heard ORDER BY 1', $$VALUES ('AFTER DELETE STATEMENT'), ('BEFORE DELETE ROW 1'), ('BEFORE DELETE ROW 3')$$, '... triggers see each, and may keep it');
SELECT results_eq('SELECT owner FROM pets', 'VALUES (2)', '... and a foreign key does what it says');
DELETE FROM heard;
SELECT pg_temp.load('owners', '{"I,4,5"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()) AS n \gset
SELECT is((SELECT count(*) FROM heard), 0::bigint, 'without a mark there is no command');
ALTER TABLE pets DROP CONSTRAINT pets_owner_fkey, ADD FOREIGN KEY (owner) REFERENCES owners;
SELECT is((pg_temp.fails('owners', '{"D,2,"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()))[1:2],
	ARRAY['23503', 'update or delete on table "owners" violates foreign key constraint "pets_owner_fkey" on table "pets"'], 'a row that others refer to');
SELECT matches((pg_temp.fails('owners', '{"D,8,200","U,4,7","I,8,200"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()))[9], '^fast_copy owners, file "[^"]*", line 3: "I,8,200"', 'an error is not of a mark with the same values');
CREATE TABLE moved (k int PRIMARY KEY, n int);
INSERT INTO moved VALUES (1, 1);
CREATE FUNCTION pg_temp.moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	ALTER TABLE moved RENAME TO away;
	CREATE TABLE moved (LIKE away INCLUDING ALL);
	RETURN NULL;
END
$$;
CREATE TRIGGER moves AFTER DELETE ON moved FOR EACH ROW EXECUTE FUNCTION pg_temp.moves();
SELECT is(pg_temp.load('moved', '{"D,1,","I,2,2"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()), 1::bigint, 'a trigger that puts another table in the place of this one');
SELECT is((SELECT array_agg(k) FROM away), '{2}', '... does not get its rows');
CREATE RULE rule AS ON DELETE TO owners DO ALSO NOTHING;
SELECT is((pg_temp.fails('owners', '{"D,2,"}', $$columns => '{op,k,n}', $$ || pg_temp.upsert()))[1:3],
	ARRAY['0A000', 'cannot load rows into table "owners" with on_conflict', 'It has rules for DELETE.'], 'a rule');
CREATE ROLE fc_marks;
GRANT pg_read_server_files TO fc_marks;
GRANT SELECT, INSERT, UPDATE ON apart TO fc_marks;
CREATE FUNCTION pg_temp.as_marks(more text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	call text := format($x$SELECT fast_copy('apart', %L, columns => '{op,k,n}', on_conflict => 'update', dedup_keys => '{k}', %s)$x$, pg_temp.write('{"D,1,"}'), more);
	failed text[];
BEGIN
	SET LOCAL ROLE fc_marks;
	failed := pg_temp.failure(call);
	RESET ROLE;
	RETURN failed;
END
$$;
GRANT EXECUTE ON FUNCTION pg_temp.failure(text) TO fc_marks;
SELECT is((pg_temp.as_marks($$delete_where => 'op = ''D'''$$))[1:4], ARRAY['42501', 'permission denied for table apart', NULL, 'Its owner may GRANT DELETE ON apart TO fc_marks, because rows are deleted.'], 'it needs DELETE');
GRANT DELETE ON apart TO fc_marks;
CREATE FUNCTION secret(text) RETURNS bool LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 = ''D''; END';
REVOKE EXECUTE ON FUNCTION secret(text) FROM public;
SELECT is((pg_temp.as_marks($$delete_where => 'secret(op)'$$))[1:2], ARRAY['42501', 'permission denied for function secret'], '... and what the condition calls');
ALTER TABLE apart ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON apart USING (k > 1);
SELECT is((pg_temp.as_marks($$delete_where => 'op = ''D'''$$))[1:2], ARRAY['0A000', 'COPY FROM not supported with row-level security'], 'row security is refused as by COPY');
ALTER TABLE apart DISABLE ROW LEVEL SECURITY;
SELECT is(pg_temp.as_marks($$delete_where => 'op = ''D'''$$), NULL, 'with all of these');
SELECT is((SELECT count(*) FROM apart WHERE k = 1), 0::bigint, '... the row goes');

-- ---- the condition ----
CREATE TABLE cond (k int PRIMARY KEY, at timestamptz, ok bool DEFAULT true, n numeric);
CREATE FUNCTION pg_temp.cond(lines text[], more text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE cond;
	INSERT INTO cond SELECT i, '2024-01-01', true, i FROM generate_series(1, 4) AS i;
	PERFORM pg_temp.load('cond', lines, more || ', on_conflict => ''update''');
	RETURN (SELECT string_agg(k || coalesce(':' || n, ''), ' ' ORDER BY k) FROM cond);
END
$$;
SELECT is(pg_temp.cond('{"1,2024-01-01 00:00","2,2024-01-01 12:00"}', $$columns => '{k,at}', time_zone => 'America/New_York', delete_where => 'at < ''2024-01-01 05:30Z'''$$), '2:2 3:3 4:4', 'a column, in its time zone');
SELECT is(pg_temp.cond('{"1,2024-01-01 00:00","2,2024-01-01 01:00"}', $$columns => '{k,x}', time_zone => 'America/New_York', delete_where => 'x::timestamptz < ''2024-01-01 05:30Z'''$$), '2:2 3:3 4:4', 'a field, in the same');
SELECT is(pg_temp.cond('{"1,5","2,6"}', $$columns => '{k,n}', transform => 'n = $2::int * 2', delete_where => 'n = 10 AND $2 = ''5'''$$), '2:12 3:3 4:4', 'a column that a transform makes, and its field');
SELECT is(pg_temp.cond('{"1,\"1,5\"","2,\"2,5\""}', $$columns => '{k,n}', number_format => '1.234,5', delete_where => 'n < 2'$$), '2:2.5 3:3 4:4', 'a number as the file writes it');
SELECT is(pg_temp.cond('{"1","2"}', $$columns => '{k}', delete_where => 'ok AND k < 2'$$), '2:2 3:3 4:4', 'a default');
SELECT is(pg_temp.cond('{"1,5","2,6"}', $$columns => '{k,n}', delete_where => 'true'$$), '3:3 4:4', 'all rows are marks');
SELECT is(pg_temp.cond('{"1,5","2,6"}', $$columns => '{k,n}', delete_where => 'NULL'$$), '1:5 2:6 3:3 4:4', '... or none');
SELECT is(pg_temp.cond('{"1,5","2,6","9"}', $$columns => '{k,n}', on_error => 'ignore', on_error_classes => '{missing_columns}', delete_where => 'k = 1'$$), '2:6 3:3 4:4', 'records that are left out');
SELECT is(pg_temp.cond('{"K;OP;n","1;d;","2;D;2","3;;7"}', $$header => 'map', delimiter => ';', delete_where => '"OP" = ''D'' OR op = ''d'''$$), '3:7 4:4', 'a field as the header has it, in letters of any kind');
CREATE FUNCTION pg_temp.alone(text) RETURNS bool LANGUAGE plpgsql STABLE PARALLEL UNSAFE AS 'BEGIN RETURN $1 = ''D''; END';
SELECT is(pg_temp.cond('{"D,1,","I,2,6"}', $$columns => '{op,k,n}', workers => 2, delete_where => 'pg_temp.alone(op)'$$), '2:6 3:3 4:4', 'a function of the user''s');
SELECT matches((SELECT choice FROM fast_copy_report() WHERE phase = 'load' AND "partition" IS NULL), '^in the leader: delete_where is not parallel safe', '... which only the leader may call');
SELECT is(pg_temp.load('few', '{"D,2024-01-01,1,","D,2024-01-09,1,","I,2024-01-08,1,x"}', $$columns => '{op,ts,k,note}', workers => 2, on_conflict => 'update', delete_where => 'pg_temp.alone(op)'$$) || pg_temp.said(), '1(0,1,1,0)', '... where rows have a key');
TRUNCATE cond;
INSERT INTO cond VALUES (1), (2);
SELECT pg_temp.file($$VALUES ('D', 1, 1), ('U', 2, 9)$$) AS n \gset
COPY cond (op, k, n) FROM :'file' WITH (fast_copy, FORMAT csv, on_conflict update, delete_where 'op = ''D''');
SELECT results_eq('SELECT k, n FROM cond', 'VALUES (2, 9::numeric)', 'COPY');

-- ---- what is refused ----
CREATE FUNCTION pg_temp.refuses(more text, code text, message text, hint text, what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	failed text[] := pg_temp.fails('cond', '{"D,1,x","U,2,9"}', $x$columns => '{op,k,n}', $x$ || more);
BEGIN
	RETURN is(failed[1:2] || failed[4], ARRAY[code, message, hint], what);
END
$$;
SELECT pg_temp.refuses($$delete_where => 'op = ''D'''$$, '22023', 'delete_where requires existing_rows "merge", or on_conflict', 'Add existing_rows => ''merge'', or on_conflict => ''update''.', 'marks of nothing');
SELECT pg_temp.refuses($$existing_rows => 'replace', delete_where => 'op = ''D'''$$, '22023', 'delete_where requires existing_rows "merge", or on_conflict', 'Add existing_rows => ''merge'', or on_conflict => ''update''.', '... of rows that are replaced');
SELECT pg_temp.refuses($$existing_rows => 'merge', delete_where => 'op = ''D'''$$, '22023', 'delete_where requires dedup_keys', 'Name the columns in which no two rows may be equal.', '... without keys');
SELECT pg_temp.refuses($$on_conflict => 'nothing', delete_where => 'op = ''D'''$$, '22023', 'delete_where cannot be used with on_conflict "nothing"', 'Leave one of them out.', '... where all rows stay');
SELECT pg_temp.refuses($$on_conflict => 'update', format => 'binary', delete_where => 'op = ''D'''$$, '42601', 'cannot specify delete_where in BINARY mode', 'The binary format''s values are no texts: leave it out.', 'values that are no texts');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'op = ''D'' AND random() < 2'$$, '0A000', 'delete_where must not call volatile functions', NULL, 'a volatile function');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'op'$$, '42804', 'argument of WHERE must be type boolean, not type text', 'Fields that are no columns are texts: compare them with texts, or cast them, such as $1::boolean.', 'no condition');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'op = 1'$$, '42883', 'operator does not exist: text = integer', 'Fields that are no columns are texts: compare them with texts, or cast them, such as $1::boolean.', '... of texts');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'opp = ''D'''$$, '42703', 'the file has no field "opp"', 'Its fields are op, k, n. Fields without such a name are called $1, $2 and so on.', 'a name of nothing');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => '$4 = ''D'''$$, '42P02', 'the file has no field $4', NULL, '... and a number');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'k > 1'$$, '42703', 'column "op" of relation "cond" does not exist', 'The file may have other fields, too, if a transform or delete_where names them.', 'a field that no condition names');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'op = ''D'', k = 1'$$, '22023', 'delete_where must be one condition', 'Join conditions by AND or OR.', 'two conditions');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'true; SELECT 1'$$, '22023', 'delete_where must be one condition', 'Join conditions by AND or OR.', '... and two commands');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => ''$$, '42601', 'syntax error at end of input', NULL, 'nothing');
SELECT pg_temp.refuses($$on_conflict => 'update', delete_where => 'op = max(op)'$$, '42803', 'aggregate functions are not allowed in COPY FROM WHERE conditions', NULL, 'what COPY refuses');
SELECT pg_temp.refuses($$transform => '{"": "1"}'$$, '22023', 'transform must name columns and expressions', 'Write it like $$amount = replace(amount, '','', ''.''), name = upper(name)$$, or as an object: ''{"name": "upper(name)"}''.', 'a transform without a name is none');
SELECT pg_temp.refuses($$on_conflict => 'update', on_error => 'ignore', on_error_classes => '{check}', delete_where => 'op = ''D'''$$, '0A000', 'cannot tolerate violated constraints or missing partitions here', 'Use only the classes conversion, missing_columns, extra_columns and encoding.', 'constraints, which marks may violate');
CREATE FUNCTION pg_temp.line(tab text, more text) RETURNS text[] LANGUAGE sql AS $$
	SELECT ARRAY[f[1], f[2], substring(f[9], 'line [^\n]*')] FROM pg_temp.fails(tab, '{"U,2024-01-01,7,n","U,2024-01-01,9,n","x,2024-01-01,5,n","y,2024-01-01,5,n"}', $x$columns => '{op,ts,k,note}', dedup_keys => '{ts,k}', delete_where => 'op = ''U'' OR op::int = 1', $x$ || more) AS f
$$;
CREATE TABLE keyless (ts date, k int, note text, UNIQUE (ts, k));
SELECT is(pg_temp.line(tab, more), ARRAY['22P02', 'invalid input syntax for type integer: "x"', 'line 3: "x,2024-01-01,5,n"'], 'an error names its line: ' || tab || ', ' || more)
FROM (VALUES ('keyless', 'on_conflict => ''update'''), ('few', 'on_conflict => ''update'''), ('few', 'existing_rows => ''merge'''), ('few', 'existing_rows => ''merge'', workers => 2')) AS v (tab, more);
CREATE TABLE volatile (ts date, k int, n float8 DEFAULT random(), UNIQUE (ts, k));
SELECT is((pg_temp.fails('volatile', '{"2024-01-01,1"}', $$columns => '{ts,k}', timestamp_column => 'ts', dedup_keys => '{ts,k}', existing_rows => 'merge', delete_where => 'n > 2'$$))[1:3],
	ARRAY['22023', 'existing_rows "merge" requires a key', 'Column "ts" cannot be one here, because of a default or condition that is volatile.'], 'a column whose value may change');
SELECT is(pg_temp.load('volatile', '{"2024-01-01,1"}', $$columns => '{ts,k}', dedup_keys => '{ts,k}', on_conflict => 'update', delete_where => 'n > 2'$$), 1::bigint, '... where no key is looked for');
SELECT is(pg_temp.left_behind(), 0::bigint, 'no schema stays');

SELECT * FROM finish();
-- the files of so many tables take a while to go
ROLLBACK;
