-- What errors that were caught, and functions that were called, leave behind.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

-- Rejects of the scan's workers are found when the load is the leader's
CREATE FUNCTION unsafe(int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE TABLE days (d date, n int) PARTITION BY RANGE (d);
CREATE TABLE days_1 PARTITION OF days (CHECK (unsafe(n)))
	FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
SELECT fc.text('v.csv', string_agg(CASE WHEN n % 10 = 0 THEN 'bad,' ELSE '2024-01-02,' END || n || E'\n', '' ORDER BY n))
FROM generate_series(1, 2000) AS n;
SET fast_copy.chunk_size = 1000;
SELECT fast_copy('days', fc.path('v.csv'), on_error => 'ignore', workers => 4);
SELECT count(*), min(n), max(n) FROM days;
RESET fast_copy.chunk_size;

-- Of a partition that is the target the constraints are looked at first, of
-- one that is partitioned its own bounds are
CREATE TABLE part (a int, n int, CHECK (n < 3)) PARTITION BY LIST (a);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2) PARTITION BY LIST (n);
CREATE TABLE part_2_5 PARTITION OF part_2 FOR VALUES IN (5);
SELECT fc.try('part_1', fc.file('v.csv', '7,5'));
SELECT fc.try('part_2', fc.file('v.csv', '7,5'));
SET client_min_messages = notice;
SELECT fast_copy('part_1', fc.path('v.csv'), on_error => 'ignore', on_error_classes => '{check,no_partition}');
SET client_min_messages = warning;

-- A composite type's row type is let go, also where core loads
CREATE TYPE two AS (a int, b int);
CREATE TABLE composed (c two, n int);
CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
SELECT fc.file('v.csv', '"(1,x)",1', '"(1)",2', '"(3,4)",3', 'foo,4');
SELECT fast_copy('composed', fc.path('v.csv'), on_error => 'ignore');
CREATE TRIGGER pass BEFORE INSERT ON composed FOR EACH ROW EXECUTE FUNCTION pass();
SELECT fast_copy('composed', fc.path('v.csv'), on_error => 'ignore');
SELECT * FROM composed;

-- What is not the value's fault ends the load, and its subtransaction, too
CREATE FUNCTION fails(int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	CASE $1
		WHEN 1 THEN RAISE EXCEPTION 'refused';
		WHEN 2 THEN RETURN EXISTS (SELECT FROM no_such_table);
		WHEN 3 THEN RAISE disk_full;
		WHEN 4 THEN RETURN fails($1);
		ELSE RETURN true;
	END CASE;
END
$$;
CREATE DOMAIN failing AS int CHECK (fails(VALUE));
CREATE TABLE failed (n failing);
SELECT fast_copy('failed', fc.path(fc.file('v.csv', '0', '1')), on_error => 'ignore');
SELECT fc.outcome($$SELECT fast_copy('failed', fc.path(fc.file('v.csv', '0', '2')), on_error => 'ignore')$$);
SELECT fc.outcome($$SELECT fast_copy('failed', fc.path(fc.file('v.csv', '0', '3')), on_error => 'ignore')$$);
SELECT count(*) FROM failed;
SELECT fc.state($$SELECT fast_copy('failed', fc.path(fc.file('v.csv', '0', '4')), on_error => 'ignore')$$);
DO $$
BEGIN
	INSERT INTO failed VALUES (5);
	BEGIN
		INSERT INTO failed VALUES (6);
		PERFORM fast_copy('failed', fc.path(fc.file('v.csv', '0', '3')), on_error => 'ignore');
	EXCEPTION WHEN disk_full THEN
		NULL;
	END;
END
$$;
CREATE ROLE fc_caught;
GRANT INSERT ON failed TO fc_caught;
GRANT USAGE ON SCHEMA fc TO fc_caught;
GRANT pg_read_server_files TO fc_caught;
REVOKE EXECUTE ON FUNCTION fails FROM PUBLIC;
SET ROLE fc_caught;
SELECT fc.outcome($$SELECT fast_copy('failed', fc.path('v.csv'), on_error => 'ignore')$$);
RESET ROLE;
SELECT * FROM failed;

-- time_zone is for values of the file, whatever a function has set meanwhile,
-- and not for defaults, whoever evaluates them
CREATE FUNCTION elsewhere(text) RETURNS bool LANGUAGE plpgsql IMMUTABLE
SET timezone = 'America/New_York' AS 'BEGIN RETURN true; END';
CREATE DOMAIN checked AS text CHECK (elsewhere(VALUE));
CREATE TABLE zoned (a checked, t timestamptz, u timestamptz,
	d timestamptz DEFAULT ('2024-01-01 00:00'::text)::timestamptz);
SELECT fc.file('v.csv', 'a,2024-01-01 00:00,\D', 'a,2024-01-01 00:00+01,2024-01-01 00:00');
ALTER TABLE zoned ALTER u SET DEFAULT ('2024-01-01 00:00'::text)::timestamptz;
SELECT fast_copy('zoned', fc.path('v.csv'), columns => '{a,t,u}', time_zone => 'Asia/Tokyo', default_string => '\D');
SELECT fast_copy('zoned', fc.path('v.csv'), columns => '{a,t,u}', time_zone => 'Asia/Tokyo', default_string => '\D', on_error => 'set_null');
CREATE TRIGGER pass BEFORE INSERT ON zoned FOR EACH ROW EXECUTE FUNCTION pass();
SELECT fast_copy('zoned', fc.path('v.csv'), columns => '{a,t,u}', time_zone => 'Asia/Tokyo', default_string => '\D');
SELECT DISTINCT * FROM zoned ORDER BY t;
SELECT '2024-01-01 00:00'::timestamptz;

DROP TABLE days, part, composed, failed, zoned;
DROP DOMAIN checked, failing;
DROP FUNCTION elsewhere, fails, pass, unsafe;
REVOKE USAGE ON SCHEMA fc FROM fc_caught;
DROP ROLE fc_caught;
DROP TYPE two;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
