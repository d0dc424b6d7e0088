-- fast_copy_analyze() warns of rows that pg_partman's retention would remove.

\set name retention
\ir begin.psql
SELECT plan(5);

CREATE SCHEMA keeper;
CREATE EXTENSION pg_partman SCHEMA keeper;
CREATE TABLE kept (ts timestamptz NOT NULL, n int) PARTITION BY RANGE (ts);
CREATE TABLE other (ts timestamptz NOT NULL, n int) PARTITION BY RANGE (ts);
INSERT INTO keeper.part_config (parent_table, control, partition_type, partition_interval, datetime_string)
VALUES ('public.kept', 'ts', CASE WHEN (SELECT extversion FROM pg_extension WHERE extname = 'pg_partman') LIKE '4.%' THEN 'native' ELSE 'range' END, '1 day', 'YYYY_MM_DD');
SELECT format('COPY (VALUES (timestamptz ''2013-05-06'', 1), (''2013-05-07'', 2)) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec

CREATE FUNCTION pg_temp.warnings(target regclass) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(name || ': ' || detail, E'\n') FROM fast_copy_analyze(target, current_setting('fc.file')) WHERE item = 'warning'$$;

SELECT is(pg_temp.warnings('kept'), NULL, 'no retention, no warning');
UPDATE keeper.part_config SET retention = '30 days';
SELECT matches(pg_temp.warnings('kept'), '^retention: .*"30 days"', 'rows older than the retention');
SELECT is(pg_temp.warnings('other'), NULL, 'another table');
UPDATE keeper.part_config SET retention = '1000 years';
SELECT is(pg_temp.warnings('kept'), NULL, 'rows younger than the retention');

-- who may not read the configuration is not told, and not refused
UPDATE keeper.part_config SET retention = '30 days';
CREATE ROLE fc_nobody;
GRANT INSERT ON kept TO fc_nobody;
GRANT pg_read_server_files TO fc_nobody;
SET LOCAL ROLE fc_nobody;
SELECT count(*) FROM fast_copy_analyze('kept', current_setting('fc.file')) WHERE item = 'warning' AND name = 'retention' \gset
RESET ROLE;
SELECT is(:count, 0, 'without the right to read the configuration');

SELECT * FROM finish();
ROLLBACK;
