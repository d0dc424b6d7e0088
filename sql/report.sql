-- fast_copy_report() and the progress views, without times.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

-- a new session has loaded nothing
SELECT current_setting('fast_copy.io_method') AS io_method \gset
\c -
SET fast_copy.io_method = :'io_method';
SELECT count(*) FROM fast_copy_report();
\pset tuples_only off
\pset footer off
CREATE VIEW report AS
SELECT phase, partition, processes, rows,
	CASE WHEN phase <> 'load' OR partition IS NOT NULL THEN bytes END AS bytes, seconds >= 0 AS timed, reads > 0 AS reads,
	rows_per_read > 0 AS per_read, io_method IN ('io_uring', 'sync') AS io, choice,
	filtered, rejected, nulled, way, reason, failed
FROM fast_copy_report();
CREATE TABLE rep (ts date, n int) PARTITION BY RANGE (ts);
CREATE INDEX ON rep (n);
SELECT fc.file('rep.csv', 'ts,n', '2024-01-02,2', '2024-01-01,1', '2024-01-02,3');
SET fast_copy.workers = 0;

-- new partitions
SELECT fast_copy('rep', fc.path('rep.csv'), header => 'true');
SELECT * FROM report;
-- existing ones
SELECT fast_copy('rep', fc.path('rep.csv'), header => 'true');
SELECT * FROM report;
-- the rows themselves spilled
SET fast_copy.spill = 'rows';
SELECT fast_copy('rep', fc.path('rep.csv'), header => 'true');
SELECT * FROM report;
RESET fast_copy.spill;
-- plain tables, in file order and in key order
CREATE TABLE plain (ts date, n int);
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true');
SELECT * FROM report;
SELECT fast_copy('plain', fc.path('rep.csv'), 'ts', header => 'true');
SELECT * FROM report;
-- core's COPY
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER nothing BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true');
SELECT * FROM report;
DROP TRIGGER nothing ON plain;
-- in the leader
CREATE TEMP TABLE tmp (ts date, n int);
SELECT fast_copy('tmp', fc.path('rep.csv'), header => 'true', workers => 2);
SELECT * FROM report;
-- workers asked for: how many came is not certain
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true', workers => 2);
SELECT phase, processes BETWEEN 1 AND 3 AS processes FROM report;
-- the part of a phase that one of several worked alone
SET fast_copy.chunk_size = 8;
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true', workers => 2);
SELECT phase, CASE WHEN processes > 1 THEN alone BETWEEN 0 AND 1 ELSE alone IS NULL END AS alone FROM fast_copy_report() WHERE phase <> 'total';
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true', workers => 0);
SELECT phase, alone FROM fast_copy_report() WHERE phase <> 'total';
RESET fast_copy.chunk_size;
-- an empty file
SELECT fast_copy('rep', fc.path(fc.bytes('empty.csv', '')));
SELECT * FROM report;
-- a load that fails
\set VERBOSITY terse
SELECT fast_copy('rep', '/nowhere');
SELECT * FROM report;
SELECT fast_copy('rep', fc.path('rep.csv'));
\set VERBOSITY default
SELECT * FROM report;
-- rows that are left out
SELECT fast_copy('rep', fc.path(fc.file('bad.csv', '2024-01-02,2', 'x,1', '2024-01-01,1', '2024-01-01,5', '2024-01-02,z')), on_error => 'ignore', where_clause => 'n > 1');
SELECT phase, rows, choice, filtered, rejected, nulled FROM report WHERE way IS NOT NULL;
SELECT fast_copy('plain', fc.path('bad.csv'), on_error => 'set_null');
SELECT phase, rows, choice, filtered, rejected, nulled FROM report WHERE way IS NOT NULL;
-- the NOTICE can be had to be silent, and is not given by a plain COPY
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true', log_verbosity => 'silent');
SET client_min_messages = warning;
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true');
RESET client_min_messages;
SET fast_copy.accelerate_copy = on;
SET fast_copy.accelerate_min_size = 0;
SELECT format('COPY plain FROM %L (FORMAT csv, HEADER)', fc.path('rep.csv')) AS copy \gset
:copy;
SELECT phase, rows, way, reason FROM report WHERE phase = 'total';
SELECT format('COPY plain FROM %L (FORMAT csv, HEADER, fast_copy)', fc.path('rep.csv')) AS copy \gset
:copy;
RESET fast_copy.accelerate_copy;
RESET fast_copy.accelerate_min_size;

-- progress is empty afterwards, also after an error
SELECT count(*) FROM pg_stat_progress_copy WHERE pid = pg_backend_pid();
SELECT count(*) FROM fast_copy_progress WHERE pid = pg_backend_pid();
\set VERBOSITY terse
SELECT fast_copy('rep', fc.path('rep.csv'));
\set VERBOSITY default
SELECT count(*) FROM pg_stat_progress_copy WHERE pid = pg_backend_pid();
SELECT count(*) FROM fast_copy_progress WHERE pid = pg_backend_pid();
-- and shows the load while it runs
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE 'pg_stat_progress_copy: %', (SELECT format('%s %s %s', relid::regclass, command, type) FROM pg_stat_progress_copy WHERE pid = pg_backend_pid());
	RETURN new;
END
$$;
CREATE TRIGGER watch BEFORE INSERT ON plain FOR EACH STATEMENT EXECUTE FUNCTION watch();
SELECT fast_copy('plain', fc.path('rep.csv'), header => 'true');
DROP TABLE rep, plain, tmp;
DROP VIEW report;
DROP FUNCTION nothing, watch;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
