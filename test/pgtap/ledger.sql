-- The option ledger: what it has is not loaded again, and what is loaded it has.

\set name ledger
-- A file in parts, each of which is committed: rows 1 to 300, of which one is bad, or
-- has another value
\set cut :tmp_dir '/cut.csv'
SET client_min_messages = error;
SELECT set_config('fc.cut', :'cut', false) \g /dev/null
CREATE FUNCTION cut_file(bad int, other int DEFAULT 0, upto int DEFAULT 300) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	-- another time than before
	PERFORM pg_sleep(0.02);
	EXECUTE format('COPY (SELECT n, CASE n WHEN %s THEN %L WHEN %s THEN ''777'' ELSE n::text END FROM generate_series(1, %s) AS n) TO %L (FORMAT csv)', bad, 'x', other, upto, current_setting('fc.cut'));
END
$$;
CREATE TABLE cut (n int, m int) PARTITION BY RANGE (n);
CREATE TABLE cut_1 PARTITION OF cut FOR VALUES FROM (0) TO (1000);
CREATE TABLE uncut (LIKE cut);
CREATE TABLE cut_told (id serial, step text, told text);
SELECT fast_copy_create_ledger_table('cut_led') \g /dev/null
CREATE VIEW cut_now AS SELECT concat_ws(' ', state, 'rows', rows, 'line', line, sqlstate, 'keys', first_key, last_key, 'done', done_bytes, done_lines, 'table', (SELECT count(*) FROM cut), (SELECT count(DISTINCT n) FROM cut)) AS told
	FROM cut_led WHERE target = 'cut'::regclass;
\set call 'CALL fast_copy_files($$cut$$, current_setting($$fc.cut$$), $$cut_led$$, batch_size => $$500 bytes$$, cut_files => true, on_failure => $$skip$$'
SELECT cut_file(250) \g /dev/null
:call );
INSERT INTO cut_told (step, told) SELECT 'a bad row', told FROM cut_now;
SELECT cut_file(0, other => 5) \g /dev/null
:call );
INSERT INTO cut_told (step, told) SELECT 'another value in what is loaded', told FROM cut_now;
SELECT cut_file(0, upto => 150) \g /dev/null
:call );
INSERT INTO cut_told (step, told) SELECT 'shorter than what is loaded', told FROM cut_now;
SELECT cut_file(250, other => 299) \g /dev/null
:call );
INSERT INTO cut_told (step, told) SELECT 'another value in the rest', told FROM cut_now;
SELECT cut_file(0, other => 260) \g /dev/null
:call );
INSERT INTO cut_told (step, told) SELECT 'mended', told FROM cut_now;
:call );
INSERT INTO cut_told (step, told) SELECT 'once more', told FROM cut_now;
SELECT fast_copy('uncut', :'cut', ledger => 'cut_led') \g /dev/null
INSERT INTO cut_told (step, told) SELECT 'its checksum is that of the whole file', count(DISTINCT checksum) FROM cut_led;
DELETE FROM cut_led;
TRUNCATE cut;
SELECT cut_file(250) \g /dev/null
:call );
SELECT cut_file(0, other => 5) \g /dev/null
:call , changed_files => 'load');
INSERT INTO cut_told (step, told) SELECT 'all of a file that has changed', told FROM cut_now;
DELETE FROM cut_led;
TRUNCATE cut;
SELECT cut_file(250) \g /dev/null
:call );
SELECT cut_file(0, upto => 213) \g /dev/null
:call );
INSERT INTO cut_told (step, told) SELECT 'which ends where it was cut', told FROM cut_now;

\ir begin.psql
SELECT no_plan();
SELECT results_eq('SELECT step, told FROM cut_told ORDER BY id', $$VALUES
	('a bad row', 'failed rows 213 line 250 22P02 keys 1 213 done 1488 213 table 213 213'),
	('another value in what is loaded', 'failed rows 213 line 55000 keys 1 213 done 1488 213 table 213 213'),
	('shorter than what is loaded', 'failed rows 213 line 55000 keys 1 213 done 1488 213 table 213 213'),
	('another value in the rest', 'failed rows 213 line 250 22P02 keys 1 213 done 1488 213 table 213 213'),
	('mended', 'loaded rows 300 line keys 1 300 done table 300 300'),
	('once more', 'loaded rows 300 line keys 1 300 done table 300 300'),
	('its checksum is that of the whole file', '1'),
	('all of a file that has changed', 'loaded rows 300 line keys 1 300 done table 513 300'),
	('which ends where it was cut', 'loaded rows 213 line keys 1 213 done table 213 213')$$, 'a file in parts');

SELECT set_config('fc.dir', :'tmp_dir' || '/fc_ledger', true) AS dir \gset
SELECT pg_temp.shell('rm -rf ' || :'dir' || '; mkdir ' || :'dir' || ' && chmod 755 ' || :'dir') \g /dev/null

-- Writes rows n from .. upto, each tenth of which is bad, into a file; returns its path
CREATE FUNCTION pg_temp.file(name text, low int, high int, bad bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($c$COPY (SELECT timestamp '2024-01-01' + n * interval '1 hour', CASE WHEN %L AND n %% 10 = 0 THEN 'x' ELSE n::text END
		FROM generate_series(%s, %s) AS n) TO %L (FORMAT csv)$c$, bad, low, high, pg_temp.path(name));
	RETURN pg_temp.path(name);
END
$$;
CREATE FUNCTION pg_temp.path(name text) RETURNS text LANGUAGE sql AS $$SELECT current_setting('fc.dir') || '/' || name$$;
CREATE TABLE t (ts timestamp, n int) PARTITION BY RANGE (ts);
-- A load with the ledger "led"; more is further members of the object
CREATE FUNCTION pg_temp.load(source text[], more text DEFAULT '', target regclass DEFAULT 't', workers int DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN fast_copy(target, source, workers => workers, options => format('{"ledger": "led"%s}', ', ' || nullif(more, ''))::jsonb);
END
$$;
CREATE FUNCTION pg_temp.named(VARIADIC names text[]) RETURNS text[] LANGUAGE sql AS $$SELECT array_agg(pg_temp.path(n) ORDER BY i) FROM unnest(names) WITH ORDINALITY AS u (n, i)$$;
SELECT fast_copy_create_ledger_table('led') \g /dev/null
-- What the ledger has, without times
CREATE VIEW pg_temp.lines AS SELECT target, replace(path, current_setting('fc.dir') || '/', '') AS path, state, rows, rejected, filtered FROM led;

-- the table
CREATE SCHEMA "my log";
SELECT is(fast_copy_create_ledger_table('"my log"."all files"')::text, '"my log"."all files"', 'made by its qualified name');
SELECT is_empty($$SELECT attname FROM pg_attribute WHERE attrelid = '"my log"."all files"'::regclass AND attnum > 0
	AND col_description(attrelid, attnum) IS NULL$$, 'each column has a comment');
SELECT isnt(obj_description('"my log"."all files"'::regclass), NULL, 'a comment on the table');
SELECT is(pg_get_constraintdef(oid), 'PRIMARY KEY (path, target_oid, origin)', 'its key') FROM pg_constraint WHERE conrelid = '"my log"."all files"'::regclass AND contype = 'p';
SELECT throws_ok($$SELECT fast_copy_create_ledger_table('"my log"."all files"')$$, '42P07');
CREATE TABLE to_log (n int);
SELECT fast_copy('to_log', pg_temp.shell('echo 1 >' || pg_temp.path('to_log.csv')) || pg_temp.path('to_log.csv'), ledger => '"my log"."all files"') \g /dev/null
SELECT isnt(xmax::text, '0', 'no session renames its schema meanwhile') FROM pg_namespace WHERE nspname = 'my log';

-- one load, and the same once more
SELECT pg_temp.file('a.csv', 1, 100), pg_temp.file('b.csv', 101, 150) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('[ab].csv')), 150::bigint, 'two files');
SELECT set_eq('TABLE pg_temp.lines', $$VALUES ('t'::regclass, 'a.csv', 'loaded', 100::bigint, 0::bigint, 0::bigint), ('t', 'b.csv', 'loaded', 50, 0, 0)$$, 'a row each');
SELECT results_eq(format('SELECT size, date_trunc(''second'', modified), loaded_by, job, sqlstate, message, line, length(checksum) FROM led WHERE path = %L', pg_temp.path('a.csv')),
	format('SELECT (f).size, (f).modification, current_user::text COLLATE "default", NULL::uuid, NULL::text, NULL::text, NULL::bigint, 8 FROM pg_stat_file(%L) AS f', pg_temp.path('a.csv')), 'what it says of a file');
SELECT is(pg_temp.load(pg_temp.named('[ab].csv')), 0::bigint, 'once more');
SELECT is(pg_temp.load(pg_temp.named('b.csv')), 0::bigint, 'one of them');
SELECT pg_temp.file('c.csv', 151, 200) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('c.csv', 'b.csv', 'a.csv')), 50::bigint, 'with a new one');
SELECT results_eq('SELECT n FROM t ORDER BY n', 'SELECT generate_series(1, 200)', 'each row once');
UPDATE led SET sqlstate = '55000', message = 'failed', line = 1 WHERE path = pg_temp.path('a.csv');
SELECT is(pg_temp.load(pg_temp.named('a.csv')), 0::bigint, 'one that has failed meanwhile');
SELECT is_empty('SELECT FROM led WHERE num_nonnulls(sqlstate, message, line) > 0', 'its error is forgotten');
-- the CRC-32C of nine digits is known
SELECT pg_temp.shell('printf 123456789 >' || pg_temp.path('nine.csv')) \g /dev/null
CREATE TABLE nine (n int);
SELECT is(pg_temp.load(pg_temp.named('nine.csv'), '', 'nine'), 1::bigint, 'nine digits');
SELECT is(checksum, 'e3069283', 'CRC-32C') FROM led WHERE path = pg_temp.path('nine.csv');
-- another target has rows of its own, and so has a table that is made again
CREATE TABLE nine_2 (n int);
SELECT is(pg_temp.load(pg_temp.named('nine.csv'), '', 'nine_2'), 1::bigint, 'another target');
DROP TABLE nine;
CREATE TABLE nine (n int);
SELECT is(pg_temp.load(pg_temp.named('nine.csv'), '', 'nine'), 1::bigint, 'made again');
-- a link, a path with dots
SELECT pg_temp.shell(format('ln -s %s/a.csv %1$s/link.csv', :'dir')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('link.csv')), 0::bigint, 'a link is its file');
SELECT is(pg_temp.load(pg_temp.named('../fc_ledger/./a.csv')), 0::bigint, 'by dots');
SELECT throws_ok($$SELECT pg_temp.load(pg_temp.named('a.csv', 'link.csv'))$$, '22023', NULL, 'twice in one load');
-- an empty file, and a name with characters of patterns
SELECT pg_temp.shell(format('cd %s && : >empty.csv && cp nine.csv "[ab].csv"', :'dir')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('empty.csv'), '', 'nine'), 0::bigint, 'empty');
SELECT is(pg_temp.load(pg_temp.named('[[]ab].csv'), '', 'nine'), 1::bigint, 'a name like a pattern');
SELECT set_eq($$SELECT path, rows FROM pg_temp.lines WHERE target = 'nine'::regclass$$, $$VALUES ('nine.csv', 1::bigint), ('empty.csv', 0), ('[ab].csv', 1)$$, 'their rows');
SELECT pg_temp.shell(format('rm %s/\[ab\].csv', :'dir')) \g /dev/null

-- How a command fails
CREATE FUNCTION pg_temp.told(command text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'no error' ELSE concat_ws(' ', f[1], f[2], regexp_replace(f[3], '\d{4}-\d\d-\d\d [0-9:.]+\+00', 'T', 'g')) END FROM pg_temp.failure(command) AS f
$$;

-- files that have changed: touched, written anew, longer
SELECT modified AS before FROM led WHERE target = 't'::regclass AND path = pg_temp.path('a.csv') \gset
SELECT pg_temp.shell(format('sleep 0.01; cat %s/a.csv >%1$s/x && cat %1$s/x >%1$s/a.csv; rm %1$s/x', :'dir')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('a.csv')), 0::bigint, 'written anew with the same content');
SELECT isnt((SELECT modified FROM led WHERE target = 't'::regclass AND path = pg_temp.path('a.csv')), :'before'::timestamptz, 'its new time is recorded');
SELECT modified AS now FROM led WHERE target = 't'::regclass AND path = pg_temp.path('a.csv') \gset
SELECT pg_temp.shell(format('sleep 0.01; sed -i s/,100$/,999/ %s/a.csv', :'dir')) \g /dev/null
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('[ab].csv', 'new.csv'))$$), format('55000 file "%s" has changed since it was loaded It had %s bytes, written at T, and has %2$s bytes, written at T.',
	pg_temp.path('a.csv'), (pg_stat_file(pg_temp.path('a.csv'))).size), 'the same size, another content') FROM (SELECT pg_temp.file('new.csv', 201, 210)) AS f;
SELECT is((pg_temp.failure($$SELECT pg_temp.load(pg_temp.named('a.csv'))$$))[4], 'changed_files => ''skip'' skips it, and ''load'' loads all of it, beside the rows that it gave before.', 'what to do');
SELECT is(count(*), 0::bigint, 'nothing is recorded') FROM pg_temp.lines WHERE path = 'new.csv';
SELECT is(pg_temp.load(pg_temp.named('[ab].csv', 'new.csv'), '"changed_files": "skip"'), 10::bigint, 'skipped');
SELECT is((SELECT modified FROM led WHERE target = 't'::regclass AND path = pg_temp.path('a.csv')), :'now'::timestamptz, 'its time stays what it was');
SELECT is(pg_temp.load(pg_temp.named('[ab].csv'), '"changed_files": "LOAD"'), 100::bigint, 'loaded');
SELECT is(pg_temp.load(pg_temp.named('[ab].csv'), '"changed_files": "load"'), 0::bigint, 'and not again');
SELECT is((SELECT count(*) FROM t WHERE n = 1), 2::bigint, 'its rows are there twice');
SELECT pg_temp.file('b.csv', 101, 160) \g /dev/null
SELECT ok(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('b.csv'))$$) LIKE '55000 file %has changed%', 'a longer one');
DELETE FROM led WHERE target = 't'::regclass AND path = pg_temp.path('b.csv');
SELECT is(pg_temp.load(pg_temp.named('b.csv')), 60::bigint, 'a row that is deleted is forgotten');
UPDATE led SET checksum = NULL, modified = NULL WHERE path = pg_temp.path('b.csv');
SELECT ok(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('b.csv'))$$) LIKE '55000 file %has changed%', 'of a row without a checksum nothing is concluded');
UPDATE led SET size = NULL WHERE path = pg_temp.path('b.csv');
SELECT ok(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('b.csv'))$$) LIKE '55000 file %has changed%', 'nor of one without a size');
SAVEPOINT s;
UPDATE led SET done_bytes = 5, done_lines = 1 WHERE target = 't'::regclass AND path = pg_temp.path('a.csv');
SELECT is(pg_temp.load(pg_temp.named('a.csv')), 0::bigint, 'what is said to be loaded is, whatever part of it was loaded before');
ROLLBACK TO s;

-- a load that fails leaves no row, and neither does one that is taken back
SELECT pg_temp.file('bad.csv', 1, 20, true) \g /dev/null
SELECT throws_ok($$SELECT pg_temp.load(pg_temp.named('bad.csv'))$$, '22P02');
SELECT is_empty($$SELECT FROM pg_temp.lines WHERE path = 'bad.csv'$$, 'no row of a load that failed');
SAVEPOINT s;
SELECT is(pg_temp.load(pg_temp.named('bad.csv'), '"on_error": "ignore"'), 18::bigint, 'in a savepoint');
SELECT is(pg_temp.load(pg_temp.named('bad.csv'), '"on_error": "ignore"'), 0::bigint, 'again in the same transaction');
ROLLBACK TO s;
SELECT is_empty($$SELECT FROM pg_temp.lines WHERE path = 'bad.csv'$$, 'no row of a load that was taken back');

-- what became of the records of each file, on each way, by 0 to 4 workers
SELECT fast_copy_create_reject_table('rej') \g /dev/null
SELECT pg_temp.file('r1.csv', 1, 4000, true), pg_temp.file('r2.csv', 4001, 4100), pg_temp.file('r3.csv', 4101, 5000, true) \g /dev/null
SELECT pg_temp.shell(format('cd %s; for i in 1 2 3; do gzip -kf r$i.csv; done; (cat r1.csv; echo; echo) | xz >r1.csv.xz', :'dir')) \g /dev/null
CREATE FUNCTION pg_temp.counted(target regclass, what text, more text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('TRUNCATE %s, rej', target);
	DELETE FROM led WHERE led.target = counted.target;
	PERFORM pg_temp.load(pg_temp.named(what), concat_ws(', ', '"on_error": "ignore", "reject_table": "rej", "log_verbosity": "silent", "where_clause": "n % 3 > 0"', nullif(more, '')), target, workers);
	RETURN NEXT is((SELECT string_agg(concat_ws(' ', rows, rejected, filtered), ', ' ORDER BY path) FROM led WHERE led.target = counted.target),
		'2400 400 1200, 67 0 33, 540 90 270', format('%s %s %s, %s workers', target, what, more, workers));
	RETURN NEXT is((SELECT string_agg(c::text, ', ' ORDER BY filename) FROM (SELECT filename, count(*) AS c FROM rej JOIN led USING (job) WHERE led.path = rej.filename GROUP BY filename) AS r), '400, 90', 'rejects have the job');
	RETURN NEXT is((SELECT sum(rows) FROM led WHERE led.target = counted.target), (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %s', target), false, true, '')))[1]::text::numeric, 'the rows are there');
END
$$;
CREATE TABLE plain (ts timestamp, n int);
SET LOCAL fast_copy.chunk_size = 700;
SELECT pg_temp.counted(target, what, '', workers) FROM unnest('{t,plain}'::regclass[]) AS target, unnest('{r?.csv,r?.csv.gz}'::text[]) AS what, unnest('{0,1,2,4}'::int[]) AS workers;
RESET fast_copy.chunk_size;
SELECT pg_temp.counted('t', 'r?.csv', '', NULL);
SET LOCAL fast_copy.spill = offsets;
SELECT pg_temp.counted('t', 'r?.csv', '', 2);
RESET fast_copy.spill;
-- of one packed file, and by core
TRUNCATE plain;
SELECT is(pg_temp.load(pg_temp.named('r2.csv.gz', 'r1.csv.xz'), '"on_error": "ignore", "on_error_classes": ["conversion", "missing_columns"], "log_verbosity": "silent"', 'plain'), 3600::bigint, 'packed, with empty lines at the end; the other one is there');
SELECT results_eq($$SELECT rows, rejected, size FROM led WHERE path = pg_temp.path('r1.csv.xz')$$, $$SELECT 3600::bigint, 402::bigint, (pg_stat_file(pg_temp.path('r1.csv.xz'))).size$$, 'the size is that of the packed file');
CREATE TABLE trig (ts timestamp, n int);
CREATE TRIGGER same BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(pg_temp.load(pg_temp.named('r2.csv'), '"where_clause": "n > 4050"', 'trig'), 50::bigint, 'by core');
SELECT is(pg_temp.load(pg_temp.named('a.csv', 'c.csv'), '', 'trig'), 150::bigint, 'two files by core');
SELECT is(pg_temp.load(pg_temp.named('a.csv', 'c.csv', 'r2.csv'), '', 'trig'), 0::bigint, 'and again');
SELECT set_eq($$SELECT path, state, rows, filtered FROM pg_temp.lines WHERE target = 'trig'::regclass$$, $$VALUES ('r2.csv', 'loaded', 50::bigint, 50::bigint), ('a.csv', 'loaded', NULL, NULL), ('c.csv', 'loaded', NULL, NULL)$$, 'of each file the rows are not known');
-- characters of another encoding, a header that names columns
SELECT pg_temp.shell(format('cd %s; (echo n,ts; echo 1,2024-01-01) >map.csv; printf "2024-01-01,1\n" | iconv -t SJIS >sjis.csv', :'dir')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('map.csv'), '"header": "map"', 'plain'), 1::bigint, 'header map');
SELECT is(pg_temp.load(pg_temp.named('sjis.csv'), '"encoding": "SJIS"', 'plain'), 1::bigint, 'SJIS');
SELECT is(pg_temp.load(pg_temp.named('map.csv', 'sjis.csv'), '"header": "map", "encoding": "SJIS"', 'plain'), 0::bigint, 'again');

-- between which keys the rows of each file are, on each way, by 0 to 4 workers; they
-- are read back to the very keys with any DateStyle and time zone
CREATE TABLE keyed (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE FUNCTION pg_temp.ranges(target regclass, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE format('SELECT string_agg(concat_ws($s$ to $s$, first_key::%s, last_key::%1$s), $s$, $s$ ORDER BY path) FROM led WHERE target = %s', type, target::oid) INTO found;
	RETURN found;
END
$$;
SELECT pg_temp.file('k1.csv', 1, 2000), pg_temp.file('k2.csv', 2001, 2001), pg_temp.file('k3.csv', 2002, 4000) \g /dev/null
SELECT pg_temp.shell(format('cd %s; : >k4.csv; for i in 1 2 3; do shuf --random-source=k1.csv k$i.csv >s$i.csv; gzip -k s$i.csv; done', :'dir')) \g /dev/null
CREATE FUNCTION pg_temp.keyed(what text, workers int, setting text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE keyed;
	DELETE FROM led WHERE led.target = 'keyed'::regclass;
	PERFORM set_config('fast_copy.spill', setting, true), set_config('fast_copy.chunk_size', '3000', true);
	PERFORM pg_temp.load(pg_temp.named(what), '', 'keyed', workers);
	RESET fast_copy.spill;
	RESET fast_copy.chunk_size;
	RETURN pg_temp.ranges('keyed', 'timestamp');
END
$$;
SELECT is(pg_temp.keyed(what, workers, setting), '2024-01-01 01:00:00 to 2024-03-24 08:00:00, 2024-03-24 09:00:00 to 2024-03-24 09:00:00, 2024-03-24 10:00:00 to 2024-06-15 16:00:00' || CASE WHEN what LIKE 'k%' THEN ', ' ELSE '' END, format('%s, %s workers, %s', what, workers, setting))
FROM unnest('{k?.csv,s?.csv,s?.csv.gz}'::text[]) AS what, unnest('{0,1,4}'::int[]) AS workers, unnest('{auto,offsets,rows}'::text[]) AS setting;
CREATE TABLE part_of (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT is(pg_temp.load(pg_temp.named('s1.csv'), '"where_clause": "n between 10 and 20"', 'part_of', 1), 11::bigint, 'filtered');
SELECT is(pg_temp.ranges('part_of', 'timestamp'), '2024-01-01 10:00:00 to 2024-01-01 20:00:00', 'of the rows that were loaded');
SELECT is(pg_temp.ranges('plain', 'text') ~ '^(, )*$', true, 'unknown without a key');
SELECT is(pg_temp.ranges('trig', 'text') ~ '^(, )*$', true, 'unknown where core loads');
CREATE FUNCTION pg_temp.typed(type text, vals text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	DROP TABLE IF EXISTS typed;
	EXECUTE format('CREATE TABLE typed (k %s) PARTITION BY RANGE (k); CREATE TABLE typed_all PARTITION OF typed DEFAULT', type);
	EXECUTE format('COPY (SELECT unnest(%L::text[])) TO %L', vals, pg_temp.path('typed.csv'));
	PERFORM pg_temp.load(pg_temp.named('typed.csv'), '"missing_partitions": "default", "format": "csv"', 'typed');
	PERFORM set_config('datestyle', 'German', true), set_config('timezone', 'Asia/Tokyo', true);
	EXECUTE format('SELECT ok((min(first_key::%1$s), max(last_key::%1$s)) = (SELECT min(k), max(k) FROM typed), %1$L) FROM led WHERE target = $s$typed$s$::regclass', type) INTO said;
	PERFORM set_config('datestyle', 'ISO, MDY', true), set_config('timezone', 'UTC', true);
	RETURN NEXT said;
	DELETE FROM led WHERE target = 'typed'::regclass;
END
$$;
SELECT pg_temp.typed(type, vals) FROM (VALUES ('int2', '{5,-32768,32767}'::text[]), ('int4', '{-2147483648,7}'), ('int8', '{9223372036854775807,-9223372036854775808,0}'),
	('date', '{2024-02-03,0044-03-15 BC,infinity}'), ('timestamp', '{2024-02-03 04:05:06.789,-infinity}'), ('timestamptz', '{2024-02-03 04:05:06.789+05,2024-12-01 00:00:00.000001-08}')) AS v (type, vals);

-- a file, and what has a label, that was empty: nothing of it has been loaded
SELECT pg_temp.shell(': >' || pg_temp.path('later.csv')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('later.csv')), 0::bigint, 'an empty file');
SELECT is(pg_temp.load(pg_temp.named('later.csv')), 0::bigint, 'and again');
SELECT pg_temp.file('later.csv', 1, 7) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('later.csv')), 7::bigint, 'filled');
SELECT is(pg_temp.load(pg_temp.named('later.csv')), 0::bigint, 'once');
SELECT is(array_agg(rows), '{7}', 'its row') FROM led WHERE path = pg_temp.path('later.csv');
DELETE FROM led WHERE path = pg_temp.path('later.csv');
SELECT pg_temp.shell(': >' || pg_temp.path('later.csv')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('later.csv'), '"changed_files": "skip"'), 0::bigint, 'an empty file');
SELECT pg_temp.file('later.csv', 1, 7) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('later.csv'), '"changed_files": "skip"'), 7::bigint, 'filled: it is not one that has changed');
CREATE TABLE late (n int);
SELECT is(fast_copy('late', 'printf ""', program => true, options => '{"ledger": "led", "label": "late"}'), 0::bigint, 'a program that prints nothing');
SELECT is(fast_copy('late', 'echo 1', program => true, options => '{"ledger": "led", "label": "late"}'), 1::bigint, 'and then a line');
SELECT is(fast_copy('late', 'echo 1', program => true, options => '{"ledger": "led", "label": "late"}'), 0::bigint, 'once');

-- with rows that are replaced: a file that has changed takes the place of what it gave
CREATE TABLE rep (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT is(pg_temp.load(pg_temp.named('a.csv'), '"existing_rows": "replace"', 'rep'), 100::bigint, 'replaces');
SELECT pg_temp.shell(format('sleep 0.01; sed -i s/,999$/,1000/ %s/a.csv', :'dir')) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('a.csv'), '"existing_rows": "replace", "changed_files": "load"', 'rep'), 100::bigint, 'again');
SELECT is(pg_temp.load(pg_temp.named('a.csv'), '"existing_rows": "replace", "changed_files": "load"', 'rep'), 0::bigint, 'not again');
SELECT results_eq('SELECT count(*), max(n) FROM rep', 'VALUES (100::bigint, 1000)', 'the new rows alone');

-- files of the same day are replaced all together, or not at all
TRUNCATE rep;
DELETE FROM led WHERE target = 'rep'::regclass;
SELECT pg_temp.file('same1.csv', 1, 5), pg_temp.file('same2.csv', 6, 10) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('same?.csv'), '"existing_rows": "replace"', 'rep'), 10::bigint, 'two files of a day');
SELECT is(pg_temp.load(pg_temp.named('same?.csv'), '"existing_rows": "replace"', 'rep'), 0::bigint, 'none is new');
SELECT pg_temp.file('same3.csv', 11, 15) \g /dev/null
SELECT is(pg_temp.load(pg_temp.named('same?.csv'), '"existing_rows": "replace"', 'rep'), 15::bigint, 'one is new: all are loaded');
SELECT results_eq('SELECT n FROM rep WHERE ts < ''2024-01-02'' ORDER BY n', 'SELECT generate_series(1, 15)', 'their rows');
SELECT set_eq($$SELECT path, state, rows FROM pg_temp.lines WHERE path LIKE 'same%'$$, $$VALUES ('same1.csv', 'loaded', 5::bigint), ('same2.csv', 'loaded', 5), ('same3.csv', 'loaded', 5)$$, 'their lines');

-- of rows that core has loaded the keys are not known, whatever is loaded later
TRUNCATE rep;
DELETE FROM led WHERE target = 'rep'::regclass;
CREATE TRIGGER same BEFORE INSERT ON rep FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(pg_temp.load(pg_temp.named('same1.csv'), '', 'rep'), 5::bigint, 'by core');
DROP TRIGGER same ON rep;
SELECT is(pg_temp.load(pg_temp.named('same1.csv', 'same2.csv'), '"existing_rows": "replace"', 'rep'), 10::bigint, 'again, with another');
SELECT is(string_agg(concat_ws(' ', rows, key_column), ', ' ORDER BY path), '5, 5 ts', 'between which keys they are') FROM led WHERE target = 'rep'::regclass;
SELECT is(fast_copy('rep', pg_temp.path('same1.csv'), existing_rows => 'replace'), 5::bigint, 'without a ledger nothing is asked');

-- a range without an end
CREATE TABLE endless (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE TABLE endless_1 PARTITION OF endless FOR VALUES FROM ('2024-01-02') TO (MAXVALUE);
SELECT is(pg_temp.load(pg_temp.named('same1.csv', 'k3.csv'), '', 'endless'), 2004::bigint, 'rows of it, and of another day');
SELECT alike(pg_temp.told(format($$SELECT pg_temp.load(pg_temp.named('k1.csv'), '"existing_rows": "replace", "where_clause": "ts %s ''2024-01-02''"', 'endless')$$, o)),
	format('55000 rows of 1 other file would be replaced %%: "%%/%s.csv".', CASE o WHEN '<' THEN 'same1' ELSE 'k3' END), o) FROM unnest('{<,>=}'::text[]) AS o;
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('k1.csv'), '"existing_rows": "merge", "dedup_keys": ["ts", "n"]', 'endless')$$), 'no error', 'a merge replaces no others');
UPDATE led SET key_column = 'at' WHERE target = 'endless'::regclass AND path = pg_temp.path('k3.csv');
DELETE FROM led WHERE target = 'endless'::regclass AND path = pg_temp.path('k1.csv');
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('s1.csv'), '"existing_rows": "replace", "min_replace_ratio": 0, "where_clause": "ts >= ''2024-01-02''"', 'endless')$$), 'no error', 'keys of another column tell nothing');

-- a file that is written to while it is loaded, here by the load itself
CREATE TABLE written (ts timestamp, n int);
CREATE FUNCTION pg_temp.writes(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF n = 150 THEN
		PERFORM pg_temp.shell(format('printf "2024-01-01,1\n" >>%s', pg_temp.path('written.csv')));
	END IF;
	RETURN true;
END
$$;
ALTER TABLE written ADD CHECK (pg_temp.writes(n));
SELECT pg_temp.file('written.csv', 101, 160) \g /dev/null
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('written.csv'), '', 'written', 0)$$), format('55000 file "%s" changed while it was being loaded Somebody has written to it.', pg_temp.path('written.csv')), 'a file that is written to');

-- a function that the load calls cannot load the same
CREATE TABLE nested (ts timestamp, n int);
CREATE FUNCTION pg_temp.loads() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 1 THEN
		PERFORM pg_temp.load(pg_temp.named('a.csv'), '', 'nested');
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER loads AFTER INSERT ON nested FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.loads();
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('a.csv'), '', 'nested')$$), format('55006 "%s" is being loaded by this transaction', pg_temp.path('a.csv')), 'a load within the load');

-- tables that a crash empties
CREATE UNLOGGED TABLE unlogged (ts timestamp, n int);
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('a.csv'), '', 'unlogged')$$), '0A000 a ledger cannot be used for unlogged table "unlogged" A crash empties it, and the ledger would have its files as loaded.');
CREATE TABLE partly (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE UNLOGGED TABLE partly_1 PARTITION OF partly FOR VALUES FROM ('2034-01-01') TO ('2034-01-02');
SELECT alike(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('a.csv'), '', 'partly')$$), '0A000 a ledger cannot be used for unlogged table "partly_1"%');

-- what inherits from the ledger is not it
CREATE TABLE heir () INHERITS (led);
CREATE FUNCTION pg_temp.evil() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'code of an heir'; END$$;
CREATE TRIGGER evil BEFORE UPDATE ON heir FOR EACH ROW EXECUTE FUNCTION pg_temp.evil();
SELECT pg_temp.file('heir.csv', 1, 3) \g /dev/null
INSERT INTO heir (target, path, size, modified, state, target_oid, target_name, origin) SELECT 'plain', pg_temp.path('heir.csv'), size, modification, 'loaded', 0, '', '' FROM pg_stat_file(pg_temp.path('heir.csv'));
SELECT is(pg_temp.load(pg_temp.named('heir.csv'), '', 'plain'), 3::bigint, 'loaded');
SELECT is(pg_temp.load(pg_temp.named('heir.csv'), '', 'plain'), 0::bigint, 'once');
DROP TABLE heir;

-- an index that REINDEX CONCURRENTLY is making
SAVEPOINT s;
CREATE UNIQUE INDEX led_ccnew ON led (path, target_oid, origin);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'led_ccnew'::regclass;
SELECT is(pg_temp.load(pg_temp.named('heir.csv'), '', 'plain'), 0::bigint, 'an index that is not valid yet');
ROLLBACK TO s;

-- paths that cannot be in it
SELECT pg_temp.shell(format($c$cd %s; mkdir odd; cp nine.csv odd/$(printf '\377').csv; d=$(printf '%%0240d' 0); for i in 1 2 3 4 5 6 7 8 9 10 11; do mkdir $d && cd $d; done; cp %1$s/nine.csv .$c$, :'dir')) \g /dev/null
SELECT alike(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('odd/*.csv'), '', 'nine')$$), '22023 a ledger cannot know file "%.csv" Its path is no text in the encoding of the database.') WHERE getdatabaseencoding() = 'UTF8';
SELECT pg_temp.shell(format($c$cd %s; ln -s odd/$(printf '\377').csv odd.csv$c$, :'dir')) \g /dev/null
SELECT alike(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('odd.csv'), '', 'nine')$$), '22023 a ledger cannot know file "%/odd.csv" Its path is no text in the encoding of the database.', 'nor one that a link leads to')
	WHERE getdatabaseencoding() = 'UTF8';
SELECT alike(pg_temp.told(format('SELECT pg_temp.load(pg_temp.named(%L), %L, %L)', repeat(repeat('0', 240) || '/', 11) || 'nine.csv', '', 'nine')), '22023 a ledger cannot know file "%nine.csv" Its path is too long.');

-- a file that does not tell its size is copied, and the copy is not the file
CREATE TABLE kernels (name text);
SELECT is(fast_copy('kernels', '/proc/sys/kernel/ostype', options => '{"ledger": "led"}'), 1::bigint, 'a file of another kind');
SELECT is(fast_copy('kernels', '/proc/sys/kernel/ostype', options => '{"ledger": "led"}'), 0::bigint, 'once');

-- labels
SELECT format('echo 2024-01-01,1; echo once >>%s/ran', :'dir') AS program \gset
SELECT is(fast_copy('plain', :'program', program => true, options => '{"ledger": "led", "label": "of a program"}'), 1::bigint, 'a program');
SELECT is(fast_copy('plain', :'program', program => true, options => '{"ledger": "led", "label": "of a program"}'), 0::bigint, 'again');
SELECT is(pg_read_file(pg_temp.path('ran')), E'once\n', 'it ran once');
SELECT results_eq($$SELECT rows, size, modified, checksum FROM led WHERE path = 'of a program'$$, $$VALUES (1::bigint, 13::bigint, NULL::timestamptz, NULL::text)$$, 'its row');
SELECT isnt_empty($$SELECT FROM fast_copy_analyze('plain', $$ || quote_literal(:'program') || $$, program => true, options => '{"ledger": "led", "label": "new", "existing_rows": "replace"}')
	WHERE detail LIKE 'rows of % other files would be replaced: %'$$, 'what it would replace');
COPY plain FROM STDIN (fast_copy, format csv, ledger 'led', label 'of the client');
2024-01-01,1
2024-01-01,2
\.
COPY plain FROM STDIN (fast_copy, format csv, ledger 'led', label 'of the client');
2024-01-01,1
SELECT fail('data are no commands');
2024-01-01,2
\.
SELECT is((SELECT rows FROM led WHERE path = 'of the client'), 2::bigint, 'what the client sends again is passed over');
COPY plain FROM STDIN (fast_copy, format text, ledger 'led', label 'of the client');
SELECT fail('nor are those of the format text');
\.

-- what the options must be
SELECT is(pg_temp.told(format('SELECT fast_copy(''plain'', ''/nowhere'', %s)', args)), wanted) FROM (VALUES
	($$options => '{"label": "x"}'$$, '22023 label requires a ledger'),
	($$options => '{"changed_files": "skip"}'$$, '22023 changed_files requires a ledger'),
	($$options => '{"ledger": "led", "label": "x"}'$$, '22023 label cannot be used for files'),
	($$program => true, options => '{"ledger": "led"}'$$, '22023 ledger requires a label for data that are no files'),
	($$program => true, options => '{"ledger": "led", "label": ""}'$$, '22023 label must not be empty, or begin with "/" as paths do'),
	($$program => true, options => '{"ledger": "led", "label": "/a"}'$$, '22023 label must not be empty, or begin with "/" as paths do'),
	($$options => '{"ledger": "led", "changed_files": "ignore"}'$$, '22023 changed_files "ignore" not recognized'),
	($$options => '{"ledger": "no_such"}'$$, '42P01 relation "no_such" does not exist'),
	($$options => '{"ledger": "led"}'$$, '58P01 could not open file "/nowhere" for reading: No such file or directory')) AS v (args, wanted);
SELECT is(pg_temp.told($$SELECT fast_copy('led', '/nowhere', options => '{"ledger": "led"}')$$), '55000 table "led" cannot be used as ledger It is the table that is loaded.');
SELECT isnt_empty($$SELECT FROM fast_copy_analyze('t', pg_temp.path('a.csv'), options => '{"ledger": "led"}') WHERE item = 'rows' AND rows = 100$$, 'an analysis looks at all files');
SELECT results_eq($$SELECT detail FROM fast_copy_analyze('trig', pg_temp.named('a.csv', 'c.csv', 'map.csv'), on_error => 'ignore', options => '{"ledger": "led"}') WHERE item = 'warning' AND name = 'ledger'$$,
	$$VALUES ('2 of 3 files are recorded as loaded: unless they have changed, a load skips them.')$$, 'and says which are loaded');

SELECT is_empty($$SELECT detail FROM fast_copy_analyze('t', pg_temp.path('a.csv')) WHERE item = 'warning' AND name = 'ledger'$$, 'nothing is known without one');

-- rows of each of several files, where rows may be left out
CREATE TABLE counted (k date, n int PRIMARY KEY);
SELECT fast_copy('counted', pg_temp.named('a.csv', 'c.csv'), columns => '{k,n}', ignore_extra_columns => true, on_conflict => 'nothing', options => '{"ledger": "led"}') \g /dev/null
SELECT is((SELECT sum(rows) FROM led WHERE target = 'counted'::regclass), (SELECT count(*)::numeric FROM counted), 'on_conflict: rows of two files');

-- of rows that are gone nothing is said
CREATE TABLE bare (k date, n int) PARTITION BY RANGE (k);
CREATE TABLE bare_1 PARTITION OF bare FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
SELECT pg_temp.shell(format('cd %s; echo 2024-01-01,1 >bare.csv; echo 2024-01-01,2 >bare2.csv', :'dir')) \g /dev/null
SELECT fast_copy('bare_1', pg_temp.path('bare.csv'), options => '{"ledger": "led"}') \g /dev/null
SELECT alike(detail, 'rows of 1 other file may be replaced%', 'rows that came without a key') FROM fast_copy_analyze('bare', pg_temp.path('bare2.csv'), options => '{"ledger": "led", "existing_rows": "replace"}') WHERE name = 'ledger';
TRUNCATE bare;
SELECT is_empty($$SELECT FROM fast_copy_analyze('bare', pg_temp.path('bare2.csv'), options => '{"ledger": "led", "existing_rows": "replace"}') WHERE name = 'ledger'$$, 'and then are gone');

-- what the table must be is said before anything is read
CREATE FUNCTION pg_temp.refused(change text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fast_copy_create_ledger_table('bad');
	EXECUTE change;
	PERFORM fast_copy('t', '/nowhere', options => '{"ledger": "bad"}');
END
$$;
SELECT fast_copy_create_ledger_table('watched') \g /dev/null
CREATE RULE r AS ON INSERT TO watched DO ALSO SELECT 1;
SELECT is(pg_temp.told($$SELECT fast_copy_analyze('t', pg_temp.path('a.csv'), options => '{"ledger": "watched"}')$$), '55000 table "watched" cannot be used as ledger It has rules.', 'and before an analysis');
CREATE ROLE fc_ledger_other;
SELECT is(pg_temp.told(format('SELECT pg_temp.refused(%L)', change)), wanted, change) FROM (VALUES
	('SELECT 1', '58P01 could not open file "/nowhere" for reading: No such file or directory'),
	('CREATE INDEX ON bad (loaded_at)', '58P01 could not open file "/nowhere" for reading: No such file or directory'),
	('CREATE TRIGGER t BEFORE INSERT ON bad FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', '55000 table "bad" cannot be used as ledger It has triggers or foreign keys.'),
	('CREATE RULE r AS ON INSERT TO bad DO ALSO SELECT 1', '55000 table "bad" cannot be used as ledger It has rules.'),
	('ALTER TABLE bad ENABLE ROW LEVEL SECURITY', '55000 table "bad" cannot be used as ledger It has row-level security.'),
	('ALTER TABLE bad ADD CHECK (size > 0)', '55000 table "bad" cannot be used as ledger It has check constraints.'),
	('ALTER TABLE bad ALTER rows SET DEFAULT 1', '55000 table "bad" cannot be used as ledger It has columns with defaults.'),
	('ALTER TABLE bad ADD more int', '55000 table "bad" cannot be used as ledger It has another column "more".'),
	('ALTER TABLE bad DROP job', '42703 column "job" of ledger "bad" does not exist'),
	('ALTER TABLE bad ALTER rows TYPE int', '55000 table "bad" cannot be used as ledger Its column "rows" has another type.'),
	('ALTER TABLE bad DROP CONSTRAINT bad_pkey', '55000 table "bad" cannot be used as ledger It lacks its primary key.'),
	('ALTER TABLE bad DROP CONSTRAINT bad_pkey, ADD UNIQUE (path)', '55000 table "bad" cannot be used as ledger It has an index that may refuse a row.'),
	('ALTER TABLE bad DROP CONSTRAINT bad_pkey, ADD UNIQUE (path, target_oid, origin) DEFERRABLE', '55000 table "bad" cannot be used as ledger It has triggers or foreign keys.'),
	('ALTER TABLE bad DROP CONSTRAINT bad_pkey, ADD UNIQUE (path, target_oid, origin)', '58P01 could not open file "/nowhere" for reading: No such file or directory'),
	('CREATE UNIQUE INDEX ON bad (size)', '55000 table "bad" cannot be used as ledger It has an index that may refuse a row.'),
	('CREATE INDEX ON bad (lower(path))', '55000 table "bad" cannot be used as ledger It has an index with expressions.'),
	('ALTER TABLE bad SET UNLOGGED', '55000 table "bad" cannot be used as ledger It is unlogged: a crash would empty it.'),
	('CREATE COLLATION icu_ci (provider = icu, locale = ''und-u-ks-level2'', deterministic = false); ALTER TABLE bad ALTER path TYPE text COLLATE icu_ci', '55000 table "bad" cannot be used as ledger Its column "path" has another collation.'),
	('ALTER TABLE bad ADD UNIQUE (path, target_oid, origin, size)', '55000 table "bad" cannot be used as ledger It has an index that may refuse a row.')) AS v (change, wanted);

-- whose it is, and who may write to it
CREATE ROLE fc_ledger_loader IN ROLE pg_read_server_files;
GRANT INSERT ON plain TO fc_ledger_loader;
SET LOCAL ROLE fc_ledger_loader;
SELECT is(pg_temp.told(format('SELECT fast_copy(''plain'', %L, options => ''{"ledger": "led"}'')', :'dir' || '/c.csv')), '42501 permission denied for table led');
RESET ROLE;
GRANT INSERT ON led TO fc_ledger_loader;
SET LOCAL ROLE fc_ledger_loader;
SELECT is(pg_temp.told(format('SELECT fast_copy(''plain'', %L, options => ''{"ledger": "led"}'')', :'dir' || '/c.csv')), '42501 permission denied for table led', 'INSERT alone is not enough');
RESET ROLE;
GRANT SELECT, UPDATE ON led TO fc_ledger_loader;
SET LOCAL ROLE fc_ledger_loader;
SELECT is(fast_copy('plain', :'dir' || '/c.csv', options => '{"ledger": "led"}'), 50::bigint, 'a table of a superuser');
RESET ROLE;
ALTER TABLE led OWNER TO fc_ledger_other;
SELECT is(pg_temp.told(format('SELECT fast_copy(''plain'', %L, options => ''{"ledger": "led"}'')', :'dir' || '/c.csv')), '42501 table "led" cannot be used as ledger It belongs to role "fc_ledger_other".', 'a table of another role');

-- rows on other servers, which cannot be of this transaction
SELECT pg_temp.file('other.csv', 1, 2) \g /dev/null
CREATE EXTENSION postgres_fdw;
CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE t_there PARTITION OF t FOR VALUES FROM ('2034-01-01') TO ('2034-01-02') SERVER there;
ALTER TABLE led OWNER TO CURRENT_USER;
SELECT is(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('other.csv'))$$), '0A000 a ledger cannot be used for table "t", which has rows on other servers These may commit their rows when the row of the ledger is not.', 'a foreign partition');

-- a table that got another name before the ledger was restored: the row is of either
CREATE TABLE renamed (n int);
SELECT is(pg_temp.load(pg_temp.named('nine.csv'), '', 'renamed'), 1::bigint, 'before it is renamed');
CREATE TEMP TABLE dumped AS SELECT target::text AS was, led.* FROM led WHERE target = 'renamed'::regclass;
ALTER TABLE renamed RENAME TO renamed_old;
CREATE TABLE renamed (n int);
DELETE FROM led WHERE target = 'renamed_old'::regclass;
UPDATE dumped SET target = was::regclass;
ALTER TABLE dumped DROP was;
INSERT INTO led TABLE dumped;
SELECT is(pg_temp.told(format($$SELECT pg_temp.load(pg_temp.named('nine.csv'), '', %L)$$, target)),
	format('55000 it is not known for which table ledger "led" has "%s" Its row names table "renamed", and has the number of table "renamed_old".', pg_temp.path('nine.csv')), target)
	FROM unnest('{renamed,renamed_old}'::text[]) AS target;
UPDATE led SET target_oid = 0 WHERE target = 'renamed'::regclass;
SELECT is(pg_temp.load(pg_temp.named('nine.csv'), '', 'renamed'), 0::bigint, 'it is told whose row it is');
SELECT is(pg_temp.load(pg_temp.named('nine.csv'), '', 'renamed_old'), 1::bigint, '... and so not the other''s');

-- a row that was written in another database, for a table of this name and number: the
-- hint's commands say whether it counts
UPDATE led SET origin = 'there/1', xid = '3' WHERE target = 'plain'::regclass AND path = pg_temp.path('heir.csv');
SELECT alike(pg_temp.told($$SELECT pg_temp.load(pg_temp.named('heir.csv'), '', 'plain')$$), '55000 it is not known whether ledger "led" has "%/heir.csv" for this table %');
SELECT regexp_match((pg_temp.failure($$SELECT pg_temp.load(pg_temp.named('heir.csv'), '', 'plain')$$))[4], '(UPDATE .*)\. If not: (DELETE .*)\.$') AS commands \gset
SELECT alike(command, format('%%origin <> ''%s/%s''', system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database())), 'of rows of other databases alone') FROM pg_control_system(), unnest(:'commands'::text[]) AS command;
SAVEPOINT s;
SELECT (:'commands'::text[])[2] \gexec
SELECT is(pg_temp.load(pg_temp.named('heir.csv'), '', 'plain'), 3::bigint, 'it does not count');
ROLLBACK TO s;
SELECT (:'commands'::text[])[1] \gexec
SELECT is(pg_temp.load(pg_temp.named('heir.csv'), '', 'plain'), 0::bigint, 'it counts');

SELECT pg_temp.shell('rm -rf ' || :'dir') \g /dev/null
SELECT * FROM finish();
ROLLBACK;
