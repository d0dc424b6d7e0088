-- fast_copy.history: one row of each load that succeeds.

\set name history
\ir begin.psql
SELECT no_plan();

COPY (SELECT timestamp '2024-01-01' + interval '1 day' * (g % 3), CASE WHEN g = 7 THEN 'x' ELSE g::text END FROM generate_series(1, 100) AS g) TO :'file' (FORMAT csv);
CREATE TABLE t (ts timestamp, n int) PARTITION BY RANGE (ts);

-- the table
CREATE SCHEMA "my log";
SELECT is(fast_copy_create_history_table('"my log"."all loads"')::text, '"my log"."all loads"', 'made by its qualified name');
SELECT is_empty($$SELECT attname FROM pg_attribute WHERE attrelid = '"my log"."all loads"'::regclass AND attnum > 0
	AND (col_description(attrelid, attnum) IS NULL OR NOT attnotnull)$$, 'each column has a comment, and is never null');
SELECT isnt(obj_description('"my log"."all loads"'::regclass), NULL, 'a comment on the table');
SELECT throws_ok($$SELECT fast_copy_create_history_table('"my log"."all loads"')$$, '42P07');

-- no row without the setting, one row a load with it
SELECT is(fast_copy('t', :'file', on_error => 'ignore'), 99::bigint, 'loaded without');
SELECT is_empty('TABLE "my log"."all loads"', 'no row by default');
SET fast_copy.history = '"my log"."all loads"';
SELECT is(fast_copy('t', :'file', on_error => 'ignore', where_clause => 'n > 10', workers => 0), 90::bigint, 'loaded');
SELECT results_eq($$SELECT loaded_by, table_name, sources, rows, bytes, filtered, rejected, nulled, new_partitions, way, reason, workers FROM "my log"."all loads"$$,
	format($$SELECT current_user::text COLLATE "default", 'public.t', ARRAY[%L], 90::bigint, (pg_stat_file(%1$L)).size, 9::bigint, 1::bigint, 0::bigint, 0, 'rows', 'the file is small', 0$$, :'file'), 'one row');
SELECT ok(began > '2024-01-01' AND seconds > 0 AND wal_bytes > 0, 'with figures') FROM "my log"."all loads";
SELECT results_eq($$SELECT seconds, wal_bytes, spill_bytes FROM "my log"."all loads"$$,
	$$SELECT seconds, wal_bytes, spill_bytes FROM fast_copy_report() WHERE phase = 'total'$$, 'those of the report');
TRUNCATE "my log"."all loads";
CREATE TABLE again (LIKE t) PARTITION BY RANGE (ts);
SELECT is(fast_copy('again', :'file', on_error => 'ignore', options => '{"existing_rows": "replace"}'), 99::bigint, 'loaded') FROM generate_series(1, 2);
SELECT results_eq($$SELECT replaced, new_partitions FROM "my log"."all loads" ORDER BY began$$, 'VALUES (0, 3), (3, 0)', 'tables whose rows were replaced');
TRUNCATE "my log"."all loads";
SELECT is(fast_copy('t', ARRAY[:'file'], on_error => 'set_null'), 100::bigint, 'an array');
SELECT format('COPY t FROM %L WITH (fast_copy, format csv, on_error ignore)', :'file') AS copy \gset
:copy;
SELECT results_eq('SELECT sources, rows, nulled FROM "my log"."all loads" ORDER BY rows', format('VALUES (ARRAY[%L], 99::bigint, 0::bigint), (ARRAY[%1$L], 100, 1)', :'file'), 'a row each, of COPY, too');
TRUNCATE "my log"."all loads";

-- none of others: what fails, what is only looked at, and a plain COPY
SELECT throws_ok(format('SELECT fast_copy(''t'', %L)', :'file'), '22P02');
SELECT isnt_empty(format('SELECT * FROM fast_copy_analyze(''t'', %L)', :'file'), 'analyzed');
SET LOCAL fast_copy.accelerate_copy = on;
SET LOCAL fast_copy.accelerate_min_size = 0;
CREATE TABLE plain (ts timestamp, n text);
SELECT format('COPY plain FROM %L WITH (format csv)', :'file') AS copy \gset
:copy;
SELECT is((SELECT way FROM fast_copy_report() WHERE phase = 'total'), 'turns', 'a plain COPY was accelerated');
SELECT is_empty('TABLE "my log"."all loads"', 'no row of all these');
SET LOCAL fast_copy.accelerate_copy = off;

-- by an unqualified name, by core's COPY, and with an index for reading
SELECT fast_copy_create_history_table('pg_temp.loads') AS made \gset
CREATE INDEX ON pg_temp.loads (began);
SET LOCAL fast_copy.history = loads;
CREATE TRIGGER same BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(fast_copy('plain', :'file'), 100::bigint, 'loaded by core');
SELECT results_eq('SELECT way, reason FROM loads', $$VALUES ('copy', 'the target has triggers')$$, 'its row');

-- what the table must be is said before anything is read
CREATE FUNCTION pg_temp.refused(change text, state text, message text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	f text[] := pg_temp.failure(format('SELECT fast_copy_create_history_table(''bad''); SET LOCAL fast_copy.history = bad; %s; SELECT fast_copy(''t'', ''/nowhere'')', change));
BEGIN
	RETURN NEXT is(f[1] || ' ' || coalesce(f[3], f[2]), state || ' ' || message, change);
	RETURN NEXT alike(f[4], '%fast\_copy%', change || ': a hint');
END
$$;
SELECT pg_temp.refused('DROP TABLE bad', '42P01', 'table "bad" of fast_copy.history does not exist');
SELECT pg_temp.refused('ALTER TABLE bad DROP COLUMN way', '42703', 'column "way" of fast_copy.history "bad" does not exist');
SELECT pg_temp.refused('ALTER TABLE bad ADD COLUMN id int', '55000', 'It has another column "id".');
SELECT pg_temp.refused('ALTER TABLE bad ADD COLUMN id int GENERATED ALWAYS AS IDENTITY', '55000', 'It has another column "id".');
SELECT pg_temp.refused('ALTER TABLE bad ADD COLUMN id int GENERATED ALWAYS AS (workers + 1) STORED', '55000', 'It has columns with defaults.');
SELECT pg_temp.refused('ALTER TABLE bad ALTER COLUMN way SET DEFAULT 1', '55000', 'It has columns with defaults.');
SELECT pg_temp.refused('ALTER TABLE bad ALTER COLUMN way TYPE varchar(3)', '55000', 'Its column "way" has another type.');
SELECT pg_temp.refused('ALTER TABLE bad ADD CHECK (workers > 1)', '55000', 'It has check constraints.');
SELECT pg_temp.refused('ALTER TABLE bad ADD PRIMARY KEY (began)', '55000', 'It has an index that may refuse a row.');
SELECT pg_temp.refused('CREATE INDEX ON bad (lower(way))', '55000', 'It has an index with expressions.');
SELECT pg_temp.refused('CREATE INDEX ON bad (way) WHERE rows > 0', '55000', 'It has an index with expressions.');
SELECT pg_temp.refused('CREATE RULE r AS ON INSERT TO bad DO ALSO NOTIFY x', '55000', 'It has rules.');
SELECT pg_temp.refused('ALTER TABLE bad ENABLE ROW LEVEL SECURITY', '55000', 'It has row-level security.');
SELECT pg_temp.refused('CREATE TRIGGER r AFTER INSERT ON bad FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', '55000', 'It has triggers or foreign keys.');
SELECT pg_temp.refused('ALTER TABLE bad RENAME TO really_bad; CREATE VIEW bad AS TABLE really_bad', '55000', 'It is not an ordinary table.');
SELECT pg_temp.refused('ALTER TABLE bad RENAME TO really_bad; CREATE TABLE bad (LIKE really_bad) PARTITION BY RANGE (began)', '55000', 'It is not an ordinary table.');
SELECT fast_copy_create_history_table('self') AS made \gset
SET LOCAL fast_copy.history = self;
SELECT throws_like($$SELECT fast_copy('self', '/nowhere')$$, 'table "self" cannot be used as fast_copy.history');
SET LOCAL fast_copy.history = 'a.b.c.d';
SELECT throws_ok($$SELECT fast_copy('t', '/nowhere')$$, '42601');
SELECT * FROM finish();
ROLLBACK;
