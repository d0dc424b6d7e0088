-- run_analyze: statistics of what was loaded are those that ANALYZE makes, of
-- the tables that got rows and of the partitioned table, and of no other.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

SET client_min_messages = warning;
DROP ROLE IF EXISTS fc_analyze_user;
CREATE ROLE fc_analyze_user;
GRANT pg_read_server_files TO fc_analyze_user;

BEGIN;
SET LOCAL search_path = public, pg_catalog;
SET LOCAL timezone = 'UTC';
SELECT set_config('fc.file', :'tmp_dir' || '/fc_run_analyze.csv', true) \g /dev/null
SELECT plan(20);

-- three days, of which one has a partition; a fourth has one and gets no row
CREATE TABLE t (k timestamp, n int, s text) PARTITION BY RANGE (k);
CREATE TABLE t_here PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
CREATE TABLE t_aside PARTITION OF t FOR VALUES FROM ('2024-01-09') TO ('2024-01-10');
INSERT INTO t VALUES ('2024-01-09', 1, 'aside');
SELECT format('COPY (SELECT timestamp ''2024-01-01'' + (g * 7919 %% 259200) * interval ''1 s'', g %% 50, ''s'' || g %% 7 FROM generate_series(1, 3000) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec

CREATE FUNCTION pg_temp.analyzed(parent regclass) RETURNS text LANGUAGE sql STABLE AS $$
SELECT string_agg(DISTINCT format('%s%s', c.relname, CASE WHEN s.stainherit THEN '*' END), ' ' ORDER BY format('%s%s', c.relname, CASE WHEN s.stainherit THEN '*' END))
FROM pg_statistic AS s JOIN pg_class AS c ON c.oid = s.starelid
WHERE c.oid IN (SELECT relid FROM pg_partition_tree(parent))
$$;

SELECT fast_copy('t', current_setting('fc.file'), partition_interval => '1 day') \g /dev/null
SELECT is(pg_temp.analyzed('t'), NULL, 'nothing without run_analyze');
SELECT is((SELECT count(*) FROM fast_copy_report() WHERE phase = 'analyze'), 0::bigint, 'no phase without run_analyze');
SELECT is(fast_copy('t', current_setting('fc.file'), workers => 2, run_analyze => true), 3000::bigint, 'loads');
SELECT is(pg_temp.analyzed('t'), 't* t_here t_p20240102 t_p20240103', 'tables with rows, and the parent');
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'analyze'), '4 tables', 'the report tells how many');
SELECT is((SELECT reltuples FROM pg_class WHERE oid = 't'::regclass), 6001::real, 'rows of the parent');
SELECT is((SELECT reltuples FROM pg_class WHERE oid = 't_here'::regclass), (SELECT count(*) FROM t_here)::real, 'rows of an existing partition');

-- the same as ANALYZE after the load
CREATE TEMP TABLE stats AS SELECT tablename, s::text AS line FROM pg_stats AS s WHERE tablename IN ('t', 't_here', 't_p20240102', 't_p20240103');
ANALYZE t;
SELECT is((SELECT count(*) FROM stats), 12::bigint, 'every column has statistics');
SELECT is((SELECT count(*) FROM stats JOIN pg_stats AS s ON s::text = line), 12::bigint, 'which are those of ANALYZE');

-- other ways a load goes
CREATE TABLE plain (LIKE t);
SELECT is(fast_copy('plain', current_setting('fc.file'), run_analyze => true), 3000::bigint, 'a plain table loads');
SELECT is((SELECT count(*) FROM pg_stats WHERE tablename = 'plain'), 3::bigint, 'and has statistics');
CREATE TABLE listed (LIKE t) PARTITION BY LIST (n);
CREATE TABLE listed_1 PARTITION OF listed DEFAULT;
SELECT is(fast_copy('listed', current_setting('fc.file'), missing_partitions => 'default', run_analyze => true), 3000::bigint, 'a table that core routes loads');
SELECT is(pg_temp.analyzed('listed'), 'listed* listed_1', 'and has statistics');
CREATE FUNCTION pg_temp.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TABLE core (LIKE t);
CREATE TRIGGER nothing BEFORE INSERT ON core FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
SELECT is(fast_copy('core', current_setting('fc.file'), run_analyze => true), 3000::bigint, 'a table with a trigger loads');
SELECT is((SELECT count(*) FROM pg_stats WHERE tablename = 'core'), 3::bigint, 'and has statistics');
CREATE VIEW seen AS SELECT * FROM plain;
CREATE FUNCTION pg_temp.into_plain() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO plain SELECT new.*; RETURN new; END';
CREATE TRIGGER into_plain INSTEAD OF INSERT ON seen FOR EACH ROW EXECUTE FUNCTION pg_temp.into_plain();
SELECT is(fast_copy('seen', current_setting('fc.file'), run_analyze => true), 3000::bigint, 'a view loads');

-- what is taken back is gone
SAVEPOINT before;
CREATE TABLE twin (LIKE t) PARTITION BY RANGE (k);
SELECT fast_copy('twin', current_setting('fc.file'), run_analyze => true) \g /dev/null
SELECT is(pg_temp.analyzed('twin'), 'twin* twin_p20240101 twin_p20240102 twin_p20240103', 'new partitions only');
ROLLBACK TO before;
SELECT is((SELECT count(*) FROM pg_statistic AS s WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = s.starelid)), 0::bigint, 'a rollback leaves no statistics');

-- who may load need not be one who may analyze
CREATE TABLE foreign_owned (LIKE t);
GRANT INSERT ON foreign_owned TO fc_analyze_user;
SET LOCAL ROLE fc_analyze_user;
SET LOCAL client_min_messages = error;
SELECT fast_copy('foreign_owned', current_setting('fc.file'), run_analyze => true) AS loaded \gset
RESET ROLE;
SELECT is(:loaded, 3000, 'a load by one who is not the owner');
SELECT is((SELECT count(*) FROM pg_stats WHERE tablename = 'foreign_owned'), 0::bigint, 'analyzes nothing');

SELECT * FROM finish();
ROLLBACK;
DROP OWNED BY fc_analyze_user;
DROP ROLE fc_analyze_user;
