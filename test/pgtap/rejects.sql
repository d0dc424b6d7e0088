-- Random files with faults of every class: what is rejected is the same for
-- any number of workers and any chunks, COPY loads the rest to the same rows,
-- and a limit ends the load at the first record that is too many.

\set name rejects
\ir begin.psql
SELECT setseed(0.42) \g /dev/null
SELECT plan(88);

SELECT fast_copy_create_reject_table('rej') \g /dev/null
ALTER TABLE rej ADD id int GENERATED ALWAYS AS IDENTITY;
CREATE TABLE r_plain (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7), UNIQUE (n));
CREATE TABLE r_day (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7), UNIQUE (ts, n)) PARTITION BY RANGE (ts);
CREATE TABLE r_some (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7)) PARTITION BY RANGE (ts);
CREATE TABLE r_some_1 PARTITION OF r_some FOR VALUES FROM ('2024-01-02') TO ('2024-01-04');
CREATE TABLE r_list (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7)) PARTITION BY LIST (v);
CREATE TABLE r_list_1 PARTITION OF r_list FOR VALUES IN ('a', 'b');
CREATE TABLE r_list_2 PARTITION OF r_list FOR VALUES IN ('c');

-- Lines as an array of bytea
CREATE FUNCTION pg_temp.write(lines bytea[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	lob oid := lo_from_bytea(0, coalesce((SELECT string_agg(line, '' ORDER BY i) FROM unnest(lines) WITH ORDINALITY AS _ (line, i)), ''));
BEGIN
	PERFORM lo_export(lob, current_setting('fc.file')), lo_unlink(lob);
END
$$;

CREATE FUNCTION pg_temp.record() RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT CASE WHEN random() < 0.7
	THEN format('2024-01-0%s,%s,%s', 1 + floor(random() * 6)::int, 1 + floor(random() * 40)::int, ('{a,b,c,"\"c\""}'::text[])[1 + floor(random() * 4)::int])
	ELSE (ARRAY['bad,1,a', '2024-01-01,x,b', '2024-01-02', '2024-01-03,1,a,b', ',2,b', 'infinity,3,c', '2024-01-04,,b', '2024-01-04,-1,a',
		'2024-01-05,5,toolongvalue', '2024-01-02,7,zz', E'2024-01-03,"8\n",b', E'2024-02-31,"\n","a"', '2024-01-01,9,BYTE', '2024-01-06,11,'])[1 + floor(random() * 14)::int]
	END
$$;

-- How a load ends, which rows it loads, and which it rejects; undone
CREATE TYPE pg_temp.result AS (ending text[], loaded text[], rejected text[], offsets bigint[], lines bigint[]);
CREATE FUNCTION pg_temp.load(target text, args text) RETURNS pg_temp.result LANGUAGE plpgsql AS $$
DECLARE
	r pg_temp.result;
	n bigint;
	state text;
	m text;
	context text;
BEGIN
	IF args = 'COPY' THEN
		EXECUTE format('COPY %I FROM %L (FORMAT csv)', target, current_setting('fc.file'));
		GET DIAGNOSTICS n = ROW_COUNT;
	ELSE
		EXECUTE format('SELECT fast_copy(%L, %L, reject_table => ''rej'', log_verbosity => ''silent'', %s)', target, current_setting('fc.file'), args) INTO n;
	END IF;
	r.ending := ARRAY['ok', n::text];
	EXECUTE format('SELECT array(SELECT t::text FROM %I AS t ORDER BY t::text)', target) INTO r.loaded;
	SELECT array_agg(concat_ws('|', lineno, byte_offset, colname, class, errorcode, err_message, coalesce(line, raw::text)) ORDER BY id),
		array_agg(byte_offset ORDER BY id), array_agg(lineno ORDER BY id)
	INTO r.rejected, r.offsets, r.lines FROM rej;
	RAISE SQLSTATE 'FC000';
EXCEPTION
	WHEN SQLSTATE 'FC000' THEN
		RETURN r;
	WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, m = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
		RETURN ROW(ARRAY[state, m, substring(context FROM 'line (\d+)')], NULL, NULL, NULL, NULL)::pg_temp.result;
END
$$;

-- What is wrong with one random case, if something is
CREATE FUNCTION pg_temp.check_case() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	lines bytea[] := array(SELECT replace(convert_to(pg_temp.record(), 'UTF8')::text, '42595445', 'ff')::bytea || '\x0a' FROM generate_series(1, 1 + floor(random() * 40)::int));
	target text := ('{r_plain,r_day,r_some,r_list}'::text[])[1 + floor(random() * 4)::int];
	classes text[] := array(SELECT class FROM unnest('{conversion,missing_columns,extra_columns,encoding,check,not_null,no_partition,unique}'::text[]) AS class WHERE random() < 0.9);
	action text := CASE WHEN random() < 0.7 THEN 'ignore' ELSE 'set_null' END;
	args text := format('on_error => %L, on_error_classes => %L', action, classes);
	base pg_temp.result;
	again pg_temp.result;
	n int;
	allowed int;
BEGIN
	IF target = 'r_plain' AND random() < 0.5 THEN
		args := args || format(', timestamp_column => %L', ('{ts,n}'::text[])[1 + floor(random() * 2)::int]);
	ELSIF target IN ('r_day', 'r_some') AND random() < 0.5 THEN
		args := args || format(', missing_partitions => %L', ('{error,default}'::text[])[1 + floor(random() * 2)::int]);
	END IF;
	PERFORM pg_temp.write(lines), set_config('fast_copy.chunk_size', '1GB', true);
	base := pg_temp.load(target, args || ', workers => 0');
	FOREACH n IN ARRAY '{0,1,3}'::int[] LOOP
		PERFORM set_config('fast_copy.chunk_size', (1 + floor(random() * 60)::int)::text, true);
		again := pg_temp.load(target, args || format(', workers => %s', n));
		-- an equal row behind a record whose error stops a process is not met
		IF again <> base AND '23505' NOT IN (again.ending[1], base.ending[1]) THEN
			RETURN format('%s %s, %s workers: %s, not %s', target, args, n, again, base);
		END IF;
		-- in an encoding that is converted before the load
		again := pg_temp.load(target, args || format(', workers => %s, encoding => ''SJIS''', n));
		IF (again.ending[1], again.ending[3], again.loaded, again.lines) IS DISTINCT FROM (base.ending[1], base.ending[3], base.loaded, base.lines)
		   AND '23505' NOT IN (again.ending[1], base.ending[1]) THEN
			RETURN format('%s %s, %s workers, SJIS: %s, not %s', target, args, n, again, base);
		END IF;
		CONTINUE WHEN base.ending[1] <> 'ok' OR base.rejected IS NULL;
		allowed := 1 + floor(random() * (cardinality(base.rejected) + 1))::int;
		again := pg_temp.load(target, args || format(', workers => %s, reject_limit => %s', n, allowed));
		IF (CASE WHEN allowed >= cardinality(base.rejected) THEN again <> base
				 ELSE again.ending[1:1] || again.ending[3:] <> ARRAY['22P02', base.lines[allowed + 1]::text] END) THEN
			RETURN format('%s %s, %s workers, limit %s: %s, not %s', target, args, n, allowed, again, base);
		END IF;
	END LOOP;
	IF base.ending[1] <> 'ok' OR action <> 'ignore' OR target NOT IN ('r_plain', 'r_list') THEN
		RETURN NULL;
	END IF;
	PERFORM pg_temp.write(array(
		SELECT line FROM (SELECT line, i, sum(length(line)) OVER (ORDER BY i) - length(line) AS at
						  FROM unnest(lines) WITH ORDINALITY AS _ (line, i)) AS _
		WHERE at <> ALL (coalesce(base.offsets, '{}')) ORDER BY i));
	again := pg_temp.load(target, 'COPY');
	IF (again.ending, again.loaded) IS DISTINCT FROM (base.ending, base.loaded) THEN
		RETURN format('%s %s: COPY has %s, not %s', target, args, again, base);
	END IF;
	RETURN NULL;
END
$$;

SELECT is(pg_temp.check_case(), NULL, 'case ' || i) FROM generate_series(1, 40) AS i;

-- no partition is left for rows that are all left out
TRUNCATE r_some;
SELECT pg_temp.write(array(SELECT convert_to(line || E'\n', 'UTF8') FROM unnest('{"2024-02-01,-1,a","2024-02-05,1,b","2024-02-10,,c"}'::text[]) AS line)) \g /dev/null
SELECT is(fast_copy('r_some', current_setting('fc.file'), on_error => 'ignore', on_error_classes => '{check,not_null}'), 1::bigint, 'one row is good');
SELECT is((SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'r_some'::regclass AND inhrelid::regclass::text LIKE '%202402%'), 'r_some_p20240205', 'and has a partition');

-- Messages are kept whole
SELECT pg_temp.write(ARRAY[convert_to(E'2024-01-01,' || repeat(E'\u00e9', 3000) || E',a\n', 'UTF8')]) \g /dev/null
SELECT fast_copy('r_plain', current_setting('fc.file'), on_error => 'ignore', reject_table => 'rej') \g /dev/null
SELECT is(err_message, 'invalid input syntax for type integer: "' || repeat(E'\u00e9', 3000) || '"', 'a long message is kept whole')
FROM rej WHERE line LIKE '%' || repeat(E'\u00e9', 100) || '%';
SELECT is(raw_field_value, repeat(E'\u00e9', 3000), '... and the value')
FROM rej WHERE line LIKE '%' || repeat(E'\u00e9', 100) || '%';

-- Core's ON_ERROR table has a row like this one: one query reads both
CREATE TABLE core_errors (starttime timestamptz, userid oid, copy_tbl oid, filename text, lineno bigint, line text, colname text, raw_field_value text,
	err_message text, err_detail text, errorcode text);
CREATE TABLE r_checked (id int CHECK (id > 1), v json);
TRUNCATE rej;
SELECT pg_temp.write(ARRAY[convert_to(E'1,1\n2,[]\nx,"[\n]"\n,4,f\n5,{\n', 'UTF8')]) \g /dev/null
SELECT is(fast_copy('r_checked', current_setting('fc.file'), on_error => 'ignore', on_error_classes => '{conversion,check,extra_columns}', reject_table => 'rej', workers => 1), 1::bigint, 'rows of all kinds');
SELECT results_eq($$SELECT starttime = statement_at, userid = current_user::regrole, copy_tbl = 'r_checked'::regclass, filename = current_setting('fc.file'), lineno, line, colname, raw_field_value, err_message, err_detail, errorcode
	FROM (SELECT *, max(starttime) OVER () AS statement_at FROM (SELECT (jsonb_populate_record(NULL::core_errors, to_jsonb(r))).*, job FROM rej AS r) AS _) AS _ ORDER BY lineno$$, $$VALUES
	(true, true, true, true, 1::bigint, '1,1', NULL, NULL, 'new row for relation "r_checked" violates check constraint "r_checked_id_check"', NULL, '23514'),
	(true, true, true, true, 4, E'x,"[\n]"', 'id', 'x', 'invalid input syntax for type integer: "x"', NULL, '22P02'),
	(true, true, true, true, 5, ',4,f', NULL, NULL, 'extra data after last expected column', NULL, '22P04'),
	(true, true, true, true, 6, '5,{', 'v', '{', 'invalid input syntax for type json', 'The input string ended unexpectedly.', '22P02')$$, 'as core has them');
SELECT is((SELECT array_agg(a.attname || ' ' || a.atttypid::regtype ORDER BY a.attnum) FROM pg_attribute AS a WHERE attrelid = 'rej'::regclass AND attnum BETWEEN 1 AND 11),
	(SELECT array_agg(a.attname || ' ' || a.atttypid::regtype ORDER BY a.attnum) FROM pg_attribute AS a WHERE attrelid = 'core_errors'::regclass AND attnum > 0), 'by the same names');

-- Of equal rows the first one of the file stays, also by an index that only a
-- partition has: where rows come in another order, the load is refused
CREATE TABLE r_own (id int, k date, t int) PARTITION BY RANGE (k);
CREATE TABLE r_own_1 PARTITION OF r_own FOR VALUES FROM ('2024-05-01') TO ('2024-05-11');
CREATE TABLE r_own_2 (t int, x int, k date, id int);
ALTER TABLE r_own_2 DROP x;
ALTER TABLE r_own ATTACH PARTITION r_own_2 FOR VALUES FROM ('2024-05-11') TO ('2024-05-21');
CREATE TABLE r_file AS SELECT g % 20 AS id, date '2024-05-20' - g % 19 AS k, g AS t FROM generate_series(1, 200) AS g;
SELECT pg_temp.write(array(SELECT convert_to(concat_ws(',', id, k, t) || E'\n', 'UTF8') FROM r_file ORDER BY t)) \g /dev/null

-- The refusal; or which of the rows that agree in these columns was loaded
CREATE FUNCTION pg_temp.stays(columns text, args text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	d text;
	h text;
	wrong bigint;
BEGIN
	TRUNCATE r_own;
	EXECUTE format('SELECT fast_copy(''r_own'', %L, on_error => ''ignore'', on_error_classes => ''{unique}'', log_verbosity => ''silent'' %s)',
		current_setting('fc.file'), args);
	EXECUTE format('SELECT count(*) FROM ((TABLE r_own EXCEPT ALL %1$s) UNION ALL (%1$s EXCEPT ALL TABLE r_own)) AS _',
		format('SELECT id, k, t FROM (SELECT DISTINCT ON (%1$s) * FROM (SELECT *, k < ''2024-05-11'' AS low FROM r_file) AS _ ORDER BY %1$s, t) AS _', columns)
		) INTO wrong;
	RETURN CASE wrong WHEN 0 THEN 'the first one' ELSE wrong || ' wrong rows' END;
EXCEPTION WHEN feature_not_supported THEN
	GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLERRM, d, h);
END
$$;
SET LOCAL fast_copy.chunk_size = 40;
CREATE UNIQUE INDEX own ON r_own_2 (id);
SELECT is(pg_temp.stays('', ', workers => ' || w),
	'on_error_classes "unique" cannot be used here | Of rows that index "own" takes for equal the first of the file is to be loaded, and another one may come before it in the order of column "k". | Leave the class out; or, if the index is a unique one of columns, name these in order_by.',
	w || ' workers: an index without the key') FROM unnest('{0,2}'::int[]) AS w;
SELECT matches(pg_temp.stays('', $$, order_by => '{k}'$$), '^on_error_classes "unique"', 'the order of the key, asked for');
CREATE UNIQUE INDEX other ON r_own_1 (id);
SELECT is(pg_temp.stays('low, id', format($$, order_by => '{id}', workers => %s$$, w)), 'the first one', w || ' workers: as the hint says')
FROM unnest('{0,1,2,4}'::int[]) AS w;
DROP INDEX own, other;
TRUNCATE r_own;
CREATE UNIQUE INDEX own ON r_own_1 (k);
CREATE UNIQUE INDEX other ON r_own_2 (k, (t % 3));
SELECT is(pg_temp.stays('k, CASE WHEN low THEN 0 ELSE t % 3 END', ', workers => ' || w), 'the first one', w || ' workers: with the key')
FROM unnest('{0,1,2,4}'::int[]) AS w;
DROP INDEX own;
TRUNCATE r_own;
CREATE UNIQUE INDEX own ON r_own_1 (id, (k + 0));
SELECT matches(pg_temp.stays('', ''), 'index "own"', 'an expression of the key');
DROP INDEX own, other;
TRUNCATE r_own;
ALTER TABLE r_own_1 ADD CONSTRAINT own EXCLUDE USING btree (id WITH =);
SELECT matches(pg_temp.stays('', ''), 'index "own"', 'a constraint without the key');
TRUNCATE r_own;
ALTER TABLE r_own_1 DROP CONSTRAINT own, ADD CONSTRAINT own EXCLUDE USING btree (k WITH =);
SELECT is(pg_temp.stays('k, CASE WHEN low THEN 0 ELSE t END', ', workers => ' || w), 'the first one', w || ' workers: a constraint by equal keys')
FROM unnest('{0,2}'::int[]) AS w;
DROP TABLE r_own_1;
CREATE TABLE r_own_1 PARTITION OF r_own FOR VALUES FROM ('2024-05-01') TO ('2024-05-11') PARTITION BY HASH (t);
CREATE TABLE r_own_0 PARTITION OF r_own_1 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE UNIQUE INDEX own ON r_own_0 (id);
SELECT is(pg_temp.stays('CASE WHEN low THEN -id ELSE t END', ', workers => ' || w), 'the first one', w || ' workers: in file order')
FROM unnest('{0,1,2,4}'::int[]) AS w;

-- A value is kept whole, and shown up to 100 bytes of it, whatever stands behind it in memory
SELECT pg_temp.write((SELECT array_agg(convert_to(format(E'2024-01-01,%s,a\n', repeat('x', n)), 'UTF8') ORDER BY n) FROM generate_series(98, 106) AS n));
SELECT results_eq($$SELECT detail FROM fast_copy_analyze('r_plain', current_setting('fc.file'), workers => 0) WHERE item = 'error'$$,
	$$SELECT format('22P02: invalid input syntax for type integer: "%s"', repeat('x', n)) FROM generate_series(98, 106) AS n$$, 'long values');

-- An analysis says that a limit would end the load, as the load does
CREATE FUNCTION pg_temp.ends(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	call text := format('ARRAY[%1$L, %1$L || ''.more''], on_error => ''ignore'', log_verbosity => ''silent'', %2$s)', current_setting('fc.file'), arguments);
	said text;
	detail text;
BEGIN
	EXECUTE 'SELECT string_agg(detail, '' '') FROM fast_copy_analyze(''r_checked'', ' || call || ' WHERE item = ''error'' AND line IS NULL' INTO said;
	EXECUTE 'SELECT fast_copy(''r_checked'', ' || call;
	RETURN coalesce(said, 'loaded');
EXCEPTION WHEN invalid_text_representation THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	IF said = format('22P02: %s: %s', SQLERRM, detail) THEN
		RETURN regexp_replace(detail, ' of file .*| were .*', '');
	END IF;
	RETURN format('analysis: %s, load: %s', said, detail);
END
$$;
SELECT pg_temp.write((SELECT array_agg(convert_to(CASE WHEN n % 20 = 0 THEN 'x' ELSE (n + 1)::text END || E',1\n', 'UTF8') ORDER BY n) FROM generate_series(1, 100) AS n)) \g /dev/null
SELECT lo_import(current_setting('fc.file')) AS more \gset
SELECT lo_export(:more, current_setting('fc.file') || '.more') \g /dev/null
SELECT is(pg_temp.ends(format('workers => %s, reject_limit => %L', w, '4%')), '10 of 200 records', w || ' workers: a part of all') FROM unnest('{0,2}'::int[]) AS w;
SELECT is(pg_temp.ends(format('workers => %s, reject_limit => %L', w, '4% per file')), '5 of 100 records', w || ' workers: a part of each') FROM unnest('{0,2}'::int[]) AS w;
SELECT is(pg_temp.ends(format('reject_limit => %L', l)), 'loaded', l) FROM unnest('{5%,5% per file}'::text[]) AS l;
CREATE FUNCTION pg_temp.untouched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER same BEFORE INSERT ON r_checked FOR EACH ROW EXECUTE FUNCTION pg_temp.untouched();
SELECT is(pg_temp.ends('reject_limit => ''4%'''), '10 of 200 records', 'where rows are loaded one by one');

-- SQLSTATE, message and line of an error
CREATE FUNCTION pg_temp.ending(statement text) RETURNS text LANGUAGE sql AS $$SELECT concat_ws(' | ', f[1], f[2], substring(f[9] FROM 'line \d+')) FROM pg_temp.failure(statement) AS f$$;

-- What escapes of text format make is rejected like what is in the file; so is a key
CREATE TABLE r_text (n int, t text DEFAULT 'none');
CREATE TABLE r_key (k timestamp, t text) PARTITION BY RANGE (k);
CREATE FUNCTION pg_temp.rejected(target regclass, lines text[], args text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	PERFORM pg_temp.write((SELECT array_agg(convert_to(line || E'\n', 'UTF8') ORDER BY i) FROM unnest(lines) WITH ORDINALITY AS u (line, i)));
	TRUNCATE rej;
	EXECUTE format('TRUNCATE %s', target);
	EXECUTE format('SELECT fast_copy(%L, %L, on_error => ''ignore'', reject_table => ''rej'', log_verbosity => ''silent'', %s)', target, current_setting('fc.file'), args);
	EXECUTE format('SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM %s AS r', target) INTO rows;
	RETURN concat_ws('; ', rows, (SELECT string_agg(concat_ws(' ', lineno, class, line, err_message), ', ' ORDER BY lineno) FROM rej));
END
$$;
SELECT is(pg_temp.rejected('r_text', ARRAY[E'1\ta', E'2\t\\xff', E'3\t='], format('format => ''text'', default_string => ''='', on_error_classes => ''{encoding}'', workers => %s', w)),
	'(1,a) (3,none); 2 encoding 2' || E'\t' || '\xff invalid byte sequence for encoding "UTF8": 0xff', w || ' workers: an escape that is no character') FROM unnest('{0,2}'::int[]) AS w;
SELECT is(pg_temp.rejected('r_key', ARRAY[E'2024-01-01\ta', E'\\xc3\\xa9\tb', E'\\x32024-01-02\tc'], format('format => ''text'', on_error_classes => ''{conversion}'', workers => %s', w)),
	'("2024-01-01 00:00:00",a) ("2024-01-02 00:00:00",c); 2 conversion \xc3\xa9' || E'\tb invalid input syntax for type timestamp: "é"', w || ' workers: escapes in a key') FROM unnest('{0,2}'::int[]) AS w;
-- a key with a pattern that core reads
SELECT is(pg_temp.rejected('r_key', '{"2024-W9-5,a","bad,b","2024-W10-1,c"}', format('timestamp_format => ''IYYY-"W"IW-ID'', on_error_classes => ''{conversion}'', workers => %s', w)),
	format('("%s",a) ("%s",c); 2 conversion bad,b invalid value "bad" for "IYYY"', to_timestamp('2024-W9-5', 'IYYY-"W"IW-ID')::timestamp, to_timestamp('2024-W10-1', 'IYYY-"W"IW-ID')::timestamp), w || ' workers: a pattern that core reads') FROM unnest('{0,2}'::int[]) AS w;

-- An analysis tells of a binary value without showing it
SELECT format('COPY (VALUES (1, ''a long text''::text), (2, NULL), (3, ''text'')) TO %L (FORMAT binary)', current_setting('fc.file')) \gexec
CREATE TABLE r_binary (n int, b int);
SELECT results_eq($$SELECT line, name, detail FROM fast_copy_analyze('r_binary', current_setting('fc.file'), format => 'binary') WHERE item = 'error'$$, $$VALUES (1::bigint, 'b', '22P03: incorrect binary data format')$$, 'a binary value');

-- A table without columns has no field
CREATE TABLE r_none ();
SELECT pg_temp.write(array['\x0a'::bytea, '\x780a']) \g /dev/null
SELECT is(pg_temp.ending(format('SELECT fast_copy(''r_none'', %L)', current_setting('fc.file'))), pg_temp.ending(format('COPY r_none FROM %L (FORMAT csv)', current_setting('fc.file'))), 'a field of no column');

-- An index that fails while it is asked fails the load, as COPY
CREATE TABLE r_quotient (n int);
CREATE UNIQUE INDEX ON r_quotient ((100 / n));
SELECT pg_temp.write((SELECT array_agg(convert_to(n || E'\n', 'UTF8')) FROM unnest('{1,2,0,3,0,3}'::int[]) AS n)) \g /dev/null
SELECT is(pg_temp.ending(format('SELECT fast_copy(''r_quotient'', %L, on_error => ''ignore'', on_error_classes => ''{unique}'', workers => %s)', current_setting('fc.file'), w)),
	pg_temp.ending(format('COPY r_quotient FROM %L (FORMAT csv)', current_setting('fc.file'))), w || ' workers: an index''s expression') FROM unnest('{0,2}'::int[]) AS w;

-- ... also one that a new partition will have, which lacks a column of its parent: COPY,
-- which makes entries in batches, would tell of a later line
CREATE TABLE r_narrow (gone int, ts timestamp, n int) PARTITION BY RANGE (ts);
ALTER TABLE r_narrow DROP COLUMN gone;
CREATE INDEX ON r_narrow (n, (100 / n));
SELECT pg_temp.write((SELECT array_agg(convert_to(format(E'2024-01-0%s,%s\n', 1 + i % 2, n), 'UTF8') ORDER BY i) FROM unnest('{1,2,0,3,x}'::text[]) WITH ORDINALITY AS v (n, i))) \g /dev/null
SELECT is(pg_temp.ending(format('SELECT fast_copy(''r_narrow'', %L, workers => %s)', current_setting('fc.file'), w)), '22012 | division by zero | line 3', w || ' workers: an index of a new partition') FROM unnest('{0,2}'::int[]) AS w;

-- A rejected row tells by core's words which kind of index refuses it
CREATE TABLE r_kinds (n int UNIQUE, r int4range, EXCLUDE USING gist (r WITH &&));
SELECT fast_copy_create_reject_table('r_refused') \g /dev/null
SELECT pg_temp.write((SELECT array_agg(convert_to(line || E'\n', 'UTF8')) FROM unnest('{"1,\"[1,5)\"","1,\"[7,9)\"","2,\"[4,6)\"","3,\"[5,6)\""}'::text[]) AS line)) \g /dev/null
SELECT fast_copy('r_kinds', current_setting('fc.file'), on_error => 'ignore', on_error_classes => '{unique}', reject_table => 'r_refused') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', lineno, errorcode, err_message), '; ' ORDER BY lineno) FROM r_refused),
	'2 23505 duplicate key value violates unique constraint "r_kinds_n_key"; 3 23P01 conflicting key value violates exclusion constraint "r_kinds_r_excl"', 'what refuses rejected rows');

-- A word that stands for NULL is NULL to the type that refuses it
CREATE DOMAIN r_must AS int NOT NULL;
CREATE TABLE r_musts (n int, must r_must);
TRUNCATE r_refused;
SELECT pg_temp.write((SELECT array_agg(convert_to(line || E'\n', 'UTF8')) FROM unnest('{"1,2","2,n/a","3,x","4,"}'::text[]) AS line)) \g /dev/null
SELECT fast_copy('r_musts', current_setting('fc.file'), on_error => 'ignore', reject_table => 'r_refused', options => '{"null_strings": ["n/a"]}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', lineno, errorcode, coalesce(raw_field_value, 'NULL')), '; ' ORDER BY lineno) FROM r_refused), '2 23502 NULL; 3 22P02 x; 4 23502 NULL', 'values that a domain refuses');

SELECT * FROM finish();
ROLLBACK;
