-- Indexes of new partitions are built by all processes, and one that is too
-- large for one of them by all together; each holds every row.

\set name index_build
\ir begin.psql
SET LOCAL max_parallel_maintenance_workers = 0;
\ir indexes.psql
SELECT plan(29);

-- one day has nearly all rows
CREATE TABLE t (k timestamp, n int, s text, a int[], p point, PRIMARY KEY (n, k)) PARTITION BY RANGE (k);
CREATE TABLE expected (LIKE t);
INSERT INTO expected SELECT timestamp '2024-01-01' + CASE g % 50 WHEN 0 THEN interval '1 day' ELSE interval '0' END + (g * 7919 % 86400) * interval '1 s',
	(g::bigint * 48271 % 300007)::int, 's' || g % 5000, CASE g % 10 WHEN 0 THEN ARRAY[g % 1000] END, CASE g % 10 WHEN 0 THEN point(g % 1000, 1) END
FROM generate_series(1, 250000) AS g;
SELECT format('COPY expected TO %L (FORMAT csv)', current_setting('fc.file')) \gexec

CREATE FUNCTION pg_temp.choice() RETURNS text LANGUAGE sql AS $$
SELECT choice FROM fast_copy_report() WHERE phase = 'index'
$$;

-- the primary key alone: all processes share it, also against the setting that
-- is about CREATE INDEX
SELECT is(fast_copy('t', current_setting('fc.file'), workers => 2), 250000::bigint, 'loads');
SELECT is(pg_temp.choice(), '2 indexes built, 1 of them by all processes together', 'the large one is built by all');
SELECT is((SELECT count(*) FROM pg_index WHERE indisprimary AND indisvalid AND indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 't'::regclass)), 2::bigint, 'primary keys');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 't_pkey'::regclass), 2::bigint, 'which are part of the parent''s');
SELECT is((SELECT reltuples FROM pg_class WHERE relname = 't_p20240101_pkey'), 245000::real, 'the catalog knows how large it is');
SELECT pg_temp.by_index('n BETWEEN 500 AND 2500', 't_p20240101');
SELECT is(current_setting('max_parallel_maintenance_workers'), '0', 'the setting is as before');
DROP TABLE t;

-- one worker has nobody to share with, and neither has the leader alone
CREATE TABLE t (LIKE expected, PRIMARY KEY (n, k)) PARTITION BY RANGE (k);
SAVEPOINT before;
SELECT fast_copy('t', current_setting('fc.file'), workers => 1) \g /dev/null
SELECT is(pg_temp.choice(), '2 indexes built', 'one worker');
ROLLBACK TO before;
SELECT fast_copy('t', current_setting('fc.file'), workers => 0) \g /dev/null
SELECT is(pg_temp.choice(), '2 indexes built', 'no worker');
ROLLBACK TO before;

-- each kind, where one of the leader's own is among them
CREATE FUNCTION pg_temp.restricted(int) RETURNS int IMMUTABLE PARALLEL RESTRICTED LANGUAGE sql AS 'SELECT $1 + 0';
CREATE INDEX ON t (pg_temp.restricted(n));
CREATE INDEX ON t (upper(s)) WHERE n % 2 = 0;
CREATE INDEX ON t USING hash (s);
CREATE INDEX ON t USING gin (a);
CREATE INDEX ON t USING gist (p);
CREATE INDEX ON t USING brin (k) WITH (pages_per_range = 2);
SELECT is(fast_copy('t', current_setting('fc.file'), workers => 4), 250000::bigint, 'loads with all kinds of indexes');
SELECT matches(pg_temp.choice(), '^14 indexes built, [1-9]\d* of them by all processes together$', 'and reports so');
SELECT pg_temp.by_index('n BETWEEN 500 AND 2500', 't_p20240101');
SELECT pg_temp.by_index('pg_temp.restricted(n) = 4711', 't_p20240101');
SELECT pg_temp.by_index('upper(s) = ''S78'' AND n % 2 = 0', 't_p20240101');
SELECT pg_temp.by_index('s = ''s77''', 't_p20240101');
SELECT pg_temp.by_index('a @> ''{500}''', 't_p20240101');
SELECT pg_temp.by_index('p <@ box ''(0,0),(9,9)''', 't_p20240101');
SELECT pg_temp.by_index('k < ''2024-01-01 00:10''', 't_p20240101');
SELECT pg_temp.check_trees(6);
DROP TABLE t;

-- two equal keys are found by those who build it together
CREATE TABLE t (LIKE expected, PRIMARY KEY (n, k)) PARTITION BY RANGE (k);
INSERT INTO expected SELECT * FROM expected WHERE n = 4711;
SELECT format('COPY expected TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE FUNCTION pg_temp.context(workers int) RETURNS text LANGUAGE sql AS $$
	SELECT substring((pg_temp.failure(format('SELECT fast_copy(''t'', %L, workers => %s)', current_setting('fc.file'), workers)))[9] FROM 'csv", (line \d+)')
$$;
SELECT is(pg_temp.context(2), 'line 250001', 'the line of a unique violation in a large partition');
CREATE INDEX ON t (s);
CREATE INDEX ON t (k);
SELECT is(pg_temp.context(2), 'line 250001', 'where there are more indexes than partitions');

SELECT * FROM finish();
ROLLBACK;
