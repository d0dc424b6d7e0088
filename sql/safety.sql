-- What a caught error, a nested load or an unusual target must not do.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers
SET fast_copy.chunk_size = 16;

-- an error inside a SECURITY DEFINER function leaves nobody a superuser: the
-- rows that follow in key order see the caller
CREATE ROLE fc_mallory;
GRANT pg_read_server_files TO fc_mallory;
CREATE SCHEMA fc_mallory AUTHORIZATION fc_mallory;
CREATE FUNCTION secdef(i int) RETURNS bool LANGUAGE plpgsql SECURITY DEFINER SET work_mem = '77kB' PARALLEL SAFE AS
$$BEGIN IF i = 2 THEN RAISE EXCEPTION 'two'; END IF; RETURN true; END$$;
SELECT fc.file('sec.csv', '2020-01-02,1', '2020-01-03,3', '2020-01-01,2');
SET ROLE fc_mallory;
SET client_min_messages = notice;
CREATE FUNCTION fc_mallory.who(i int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS
$$BEGIN
	IF current_user <> 'fc_mallory' OR current_setting('work_mem') = '77kB' THEN
		RAISE NOTICE 'row % is checked as %', i, current_user;
	END IF;
	RETURN true;
END$$;
CREATE TABLE fc_mallory.m (ts timestamp, i int, CHECK (fc_mallory.who(i) AND secdef(i)));
RESET ROLE;
GRANT USAGE ON SCHEMA fc TO fc_mallory;
SET ROLE fc_mallory;
SELECT fc.try('fc_mallory.m', 'sec.csv', $$timestamp_column => 'ts'$$, NULL);
SELECT count(*) FROM fc_mallory.m;
RESET ROLE;
SET client_min_messages = warning;

-- the first bad line wins when a CHECK written in PL/pgSQL refuses several
CREATE FUNCTION odd(i int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS
$$BEGIN IF i % 10 = 7 THEN RAISE EXCEPTION 'not %', i; END IF; RETURN true; END$$;
CREATE TABLE checked (ts timestamp, i int CHECK (odd(i))) PARTITION BY RANGE (ts);
SELECT fc.file('checked.csv', VARIADIC array(
	SELECT timestamp '2020-01-01' + i * 37 % 101 * interval '1 hour' || ',' || i
	FROM generate_series(1, 100) AS i));
CREATE TABLE checked_all PARTITION OF checked FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
SELECT fc.try('checked', 'checked.csv');
DROP TABLE checked_all;
SELECT fc.try('checked', 'checked.csv', '', NULL);

-- a load started by a trigger of another load, also one that fails
CREATE FUNCTION as_is() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN new; END$$;
CREATE TABLE inner_t (a int);
CREATE TRIGGER t BEFORE INSERT ON inner_t FOR EACH ROW EXECUTE FUNCTION as_is();
CREATE FUNCTION nest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.a = 10 THEN
		PERFORM fast_copy('inner_t', fc.path('small.csv'));
	ELSIF new.a = 20 THEN
		BEGIN
			PERFORM fast_copy('inner_t', fc.path('bad.csv'));
		EXCEPTION WHEN OTHERS THEN
			RAISE WARNING '%', sqlerrm;
		END;
	END IF;
	RETURN new;
END$$;
CREATE TABLE outer_t (a int);
CREATE TRIGGER t BEFORE INSERT ON outer_t FOR EACH ROW EXECUTE FUNCTION nest();
SELECT fc.file('small.csv', '1', '2');
SELECT fc.file('bad.csv', '1', 'x');
SELECT fc.file('large.csv', VARIADIC array(SELECT i::text FROM generate_series(1, 30000) AS i));
SELECT fast_copy('outer_t', fc.path('large.csv'));
SELECT count(*), sum(a) FROM outer_t;
SELECT sum(a) FROM inner_t;

-- foreign keys that ATTACH would check otherwise than COPY
CREATE TABLE self (ts timestamp, id int, pts timestamp, pid int, PRIMARY KEY (ts, id),
	FOREIGN KEY (pts, pid) REFERENCES self) PARTITION BY RANGE (ts);
SELECT fc.file('self.csv', '2020-01-01,1,2020-01-02,2', '2020-01-02,2,,');
SELECT fast_copy('self', fc.path('self.csv'));
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (ts date, id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED) PARTITION BY RANGE (ts);
SELECT fc.file('child.csv', '2020-01-01,5', '2020-01-02,6');
BEGIN;
SELECT fast_copy('child', fc.path('child.csv'));
INSERT INTO parent VALUES (5), (6);
COMMIT;
SELECT * FROM fc.partitions('child');

-- triggers that do not fire
CREATE TABLE silent (n int, t text);
CREATE TRIGGER t BEFORE INSERT ON silent FOR EACH ROW EXECUTE FUNCTION nest();
ALTER TABLE silent DISABLE TRIGGER ALL;
SELECT fc.file('silent.csv', '3,c', '1,a');
SELECT fc.try('silent', 'silent.csv');

-- domains inside other types run their checks in the leader
CREATE TABLE log (i int);
CREATE FUNCTION note(i int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN INSERT INTO log VALUES (i); RETURN true; END$$;
CREATE DOMAIN noted AS int CHECK (note(value));
CREATE TYPE pair AS (a noted, b int);
CREATE TABLE pairs (p pair, l pair[]);
SELECT fc.file('pairs.csv', '"(1,2)","{""(3,4)""}"', '"(5,6)",{}');
SELECT fast_copy('pairs', fc.path('pairs.csv'), workers => 2);
SELECT sum(i) FROM log;

-- many holes that go to one default partition keep key order there
CREATE TABLE holes (k int, n int) PARTITION BY RANGE (k);
SELECT format('CREATE TABLE holes_%s PARTITION OF holes FOR VALUES FROM (%s) TO (%s)', i, i, i + 1)
FROM generate_series(0, 98, 2) AS i \gexec
CREATE TABLE holes_rest PARTITION OF holes DEFAULT;
SELECT fc.file('holes.csv', VARIADIC array(SELECT i * 37 % 100 || ',' || i FROM generate_series(1, 300) AS i));
SELECT fast_copy('holes', fc.path('holes.csv'), missing_partitions => 'default', workers => 2);
SELECT count(*) AS rows, count(*) FILTER (WHERE k < before) AS out_of_order
FROM (SELECT k, lag(k) OVER (ORDER BY ctid) AS before FROM holes_rest) AS o;

-- a default partition is not a partition of its own
SELECT fc.try('holes', 'holes.csv', $$missing_partitions => 'error'$$, NULL);

-- no room for the locks of so many partitions: said before any is made
CREATE TABLE many (k bigint) PARTITION BY RANGE (k);
SELECT fc.file('many.csv', VARIADIC array(SELECT i::text FROM generate_series(1, 30000) AS i));
SET fast_copy.max_partitions = 100000;
SELECT array_to_string(fc.outcome(format($$SELECT fast_copy('many', %L, partition_interval => '1', workers => 0)$$, fc.path('many.csv'))), E'\n')
	~ 'increase max_locks_per_transaction' AS told;
RESET fast_copy.max_partitions;

-- statistics: rows of a load that was rolled back are dead, not alive
CREATE TABLE counted (k int);
BEGIN;
SELECT fast_copy('counted', fc.path('many.csv'), 'k', workers => 2);
ROLLBACK;
SELECT fast_copy('counted', fc.path('many.csv'), 'k', workers => 2);
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE relname = 'counted';

DROP TABLE fc_mallory.m, checked, inner_t, outer_t, self, child, parent, silent, log, pairs, holes, many, counted;
DROP TYPE pair;
DROP DOMAIN noted;
DROP FUNCTION fc_mallory.who, secdef, odd, as_is, nest, note;
DROP SCHEMA fc_mallory;
REVOKE USAGE ON SCHEMA fc FROM fc_mallory;
DROP ROLE fc_mallory;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
