-- Which partitions a load makes: their width, bounds and names.

\encoding UTF8
-- the session's own zone, which "SET LOCAL timezone" hides
\setenv PGTZ Europe/Berlin
\connect

\set name partition_interval
\ir begin.psql
SELECT plan(120);

-- Loads one row per key, as text, into a table (k, n)
CREATE FUNCTION pg_temp.load(target regclass, keys text[], width text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN fast_copy(target, pg_temp.file(format('SELECT * FROM unnest(%L::text[]) WITH ORDINALITY', keys)), partition_interval => width);
END
$$;

-- Every partition with its bounds and its number of rows
CREATE FUNCTION pg_temp.parts(parent regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	part pg_class;
	n bigint;
	said text[];
BEGIN
	FOR part IN SELECT * FROM pg_class WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = parent) ORDER BY oid LOOP
		EXECUTE format('SELECT count(*) FROM %s', part.oid::regclass) INTO n;
		said := said || concat_ws(' ', part.relname, regexp_replace(pg_get_expr(part.relpartbound, part.oid), 'FOR VALUES FROM \(''?(.*?)''?\) TO \(''?(.*?)''?\)', '[\1, \2)'), n);
	END LOOP;
	RETURN array_to_string(said, '; ');
END
$$;

-- An empty parent called "t"
CREATE FUNCTION pg_temp.fresh(type text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	EXECUTE format('CREATE TABLE t (k %s, n int) PARTITION BY RANGE (k)', type);
END
$$;

-- Loads "keys" into a parent that has the partitions "olds", as parts() tells them,
-- and tells which there are then
CREATE FUNCTION pg_temp.made(type text, keys text[], width text DEFAULT NULL, olds text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	old text;
	n bigint;
BEGIN
	PERFORM pg_temp.fresh(type);
	FOREACH old IN ARRAY string_to_array(olds, '; ') LOOP
		EXECUTE CASE WHEN old ~ '^CREATE' THEN old ELSE regexp_replace(regexp_replace(regexp_replace(old, '^\w+', 'CREATE TABLE \& PARTITION OF t'),
			'\[(.*), (.*)\)', 'FOR VALUES FROM (''\1'') TO (''\2'')'), '''(M..VALUE)''', '\1') END;
	END LOOP;
	n := pg_temp.load('t', keys, width);
	IF n <> cardinality(keys) THEN
		RAISE EXCEPTION 'loaded % rows of %', n, cardinality(keys);
	END IF;
	RETURN pg_temp.parts('t');
END
$$;
CREATE FUNCTION pg_temp.makes(about text, type text, keys text[], width text, wanted text, olds text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT is(pg_temp.made(type, keys, width, olds), wanted, about)
$$;

-- timestamp: every width and its name
SELECT pg_temp.makes('one day if nothing else is known', 'timestamp', '{2021-02-03 04:05:06, 2021-02-02 23:59:59.999999, 1969-12-31 23:00:00}', NULL,
	't_p19691231 [1969-12-31 00:00:00, 1970-01-01 00:00:00) 1; t_p20210202 [2021-02-02 00:00:00, 2021-02-03 00:00:00) 1; t_p20210203 [2021-02-03 00:00:00, 2021-02-04 00:00:00) 1');
SELECT pg_temp.makes('two days, counted from 2000-01-01', 'timestamp', '{2021-02-03 04:05:06, 2021-02-04 04:05:06}', '2 days',
	't_p20210203 [2021-02-03 00:00:00, 2021-02-05 00:00:00) 2');
SELECT pg_temp.makes('weeks start on Monday', 'timestamp', '{2021-02-07 23:59, 2021-02-08}', '1 week',
	't_p20210201 [2021-02-01 00:00:00, 2021-02-08 00:00:00) 1; t_p20210208 [2021-02-08 00:00:00, 2021-02-15 00:00:00) 1');
SELECT pg_temp.makes('months', 'timestamp', '{2020-02-29 12:00, 2020-03-01}', '1 month',
	't_p202002 [2020-02-01 00:00:00, 2020-03-01 00:00:00) 1; t_p202003 [2020-03-01 00:00:00, 2020-04-01 00:00:00) 1');
SELECT pg_temp.makes('quarters are those of the calendar', 'timestamp', '{2020-12-31, 2021-05-06}', '3 months',
	't_p202010 [2020-10-01 00:00:00, 2021-01-01 00:00:00) 1; t_p202104 [2021-04-01 00:00:00, 2021-07-01 00:00:00) 1');
SELECT pg_temp.makes('years', 'timestamp', '{1999-12-31, 2000-01-01}', '1 year',
	't_p1999 [1999-01-01 00:00:00, 2000-01-01 00:00:00) 1; t_p2000 [2000-01-01 00:00:00, 2001-01-01 00:00:00) 1');
SELECT pg_temp.makes('decades', 'timestamp', '{1999-12-31, 2000-01-01}', '10 years',
	't_p1990 [1990-01-01 00:00:00, 2000-01-01 00:00:00) 1; t_p2000 [2000-01-01 00:00:00, 2010-01-01 00:00:00) 1');
SELECT pg_temp.makes('hours', 'timestamp', '{2021-02-03 04:59:59.5, 2021-02-03 23:00}', '1 hour',
	't_p20210203_0400 [2021-02-03 04:00:00, 2021-02-03 05:00:00) 1; t_p20210203_2300 [2021-02-03 23:00:00, 2021-02-04 00:00:00) 1');
SELECT pg_temp.makes('quarters of an hour', 'timestamp', '{2021-02-03 04:59}', '15 minutes',
	't_p20210203_0445 [2021-02-03 04:45:00, 2021-02-03 05:00:00) 1');
SELECT pg_temp.makes('seconds', 'timestamp', '{2021-02-03 04:59:59.9}', '10 seconds',
	't_p20210203_045950 [2021-02-03 04:59:50, 2021-02-03 05:00:00) 1');
SELECT pg_temp.makes('milliseconds', 'timestamp', '{2021-02-03 04:59:59.123456}', '1 millisecond',
	't_p20210203_045959_123000 [2021-02-03 04:59:59.123, 2021-02-03 04:59:59.124) 1');
SELECT pg_temp.makes('microseconds', 'timestamp', '{1999-12-31 23:59:59.999999}', '1 microsecond',
	't_p19991231_235959_999999 [1999-12-31 23:59:59.999999, 2000-01-01 00:00:00) 1');
SELECT pg_temp.makes('hours that do not divide a day, counted from 2000-01-01', 'timestamp', '{2000-01-01 08:00, 1999-12-31 23:00}', '7 hours',
	't_p19991231_1700 [1999-12-31 17:00:00, 2000-01-01 00:00:00) 1; t_p20000101_0700 [2000-01-01 07:00:00, 2000-01-01 14:00:00) 1');
SELECT pg_temp.makes('more hours than a day has', 'timestamp', '{2000-01-02 13:00}', '36 hours',
	't_p20000102_1200 [2000-01-02 12:00:00, 2000-01-04 00:00:00) 1');
SELECT pg_temp.makes('24 hours are a day', 'timestamp', '{2021-02-03 23:00}', '24:00', 't_p20210203 [2021-02-03 00:00:00, 2021-02-04 00:00:00) 1');
SELECT pg_temp.makes('years before Christ and after 9999, and the ends of the type', 'timestamp', '{0044-03-15 12:00 BC, 0001-12-31 BC, 12345-01-02, 294276-12-31 23:59:59.999999, 4714-11-24 00:00 BC}', NULL,
	't_pbc47141124 [4714-11-24 00:00:00 BC, 4714-11-25 00:00:00 BC) 1; t_pbc00440315 [0044-03-15 00:00:00 BC, 0044-03-16 00:00:00 BC) 1; t_pbc00011231 [0001-12-31 00:00:00 BC, 0001-01-01 00:00:00) 1; t_py12345_0102 [12345-01-02 00:00:00, 12345-01-03 00:00:00) 1; t_py294276_1231 [294276-12-31 00:00:00, infinity) 1');

-- timestamptz: days of the session's time zone
SET LOCAL timezone = 'Europe/Berlin';
SELECT pg_temp.makes('a day of 23 hours', 'timestamptz', '{2021-03-27 22:59:59+00, 2021-03-27 23:00+00, 2021-03-28 21:59:59+00, 2021-03-28 22:00+00}', NULL,
	't_p20210327 [2021-03-27 00:00:00+01, 2021-03-28 00:00:00+01) 1; t_p20210328 [2021-03-28 00:00:00+01, 2021-03-29 00:00:00+02) 2; t_p20210329 [2021-03-29 00:00:00+02, 2021-03-30 00:00:00+02) 1');
SELECT pg_temp.makes('a day of 25 hours', 'timestamptz', '{2021-10-30 22:00+00, 2021-10-31 22:59:59+00, 2021-10-31 23:00+00}', NULL,
	't_p20211031 [2021-10-31 00:00:00+02, 2021-11-01 00:00:00+01) 2; t_p20211101 [2021-11-01 00:00:00+01, 2021-11-02 00:00:00+01) 1');
SELECT pg_temp.makes('the hour that comes twice', 'timestamptz', '{2021-10-31 00:30+00, 2021-10-31 01:30+00, 2021-10-31 02:30+00}', '1 hour',
	't_p20211031_0200 [2021-10-31 02:00:00+02, 2021-10-31 02:00:00+01) 1; t_p20211031_0200_1 [2021-10-31 02:00:00+01, 2021-10-31 03:00:00+01) 1; t_p20211031_0300 [2021-10-31 03:00:00+01, 2021-10-31 04:00:00+01) 1');
SELECT pg_temp.makes('the hour that is left out', 'timestamptz', '{2021-03-28 00:30+00, 2021-03-28 01:30+00}', '1 hour',
	't_p20210328_0100 [2021-03-28 01:00:00+01, 2021-03-28 03:00:00+02) 1; t_p20210328_0300 [2021-03-28 03:00:00+02, 2021-03-28 04:00:00+02) 1');
SELECT pg_temp.makes('parts of a day of 23 hours are those of wall clocks', 'timestamptz', '{2021-03-28 04:30+00, 2021-03-28 21:30+00}', '6 hours',
	't_p20210328_0600 [2021-03-28 06:00:00+02, 2021-03-28 12:00:00+02) 1; t_p20210328_1800 [2021-03-28 18:00:00+02, 2021-03-29 00:00:00+02) 1');
SELECT pg_temp.makes('a day of 25 hours cuts none of its parts', 'timestamptz', '{2021-10-31 00:30+00, 2021-10-31 04:59:59+00, 2021-10-31 05:00+00, 2021-10-31 22:30+00}', '6 hours',
	't_p20211031_0000 [2021-10-31 00:00:00+02, 2021-10-31 06:00:00+01) 2; t_p20211031_0600 [2021-10-31 06:00:00+01, 2021-10-31 12:00:00+01) 1; t_p20211031_1800 [2021-10-31 18:00:00+01, 2021-11-01 00:00:00+01) 1');
SELECT pg_temp.makes('a night of seven hours is one of six', 'timestamptz', '{2021-11-01 04:00+01}', NULL,
	't_a [2021-10-30 18:00:00+02, 2021-10-31 00:00:00+02) 0; t_b [2021-10-31 00:00:00+02, 2021-10-31 06:00:00+01) 0; t_p20211101_0000 [2021-11-01 00:00:00+01, 2021-11-01 06:00:00+01) 1',
	't_a [2021-10-30 18:00, 2021-10-31 00:00); t_b [2021-10-31 00:00, 2021-10-31 06:00+01)');
SELECT pg_temp.makes('five hours above a month', 'timestamptz', '{2021-02-01 12:00}', NULL,
	't_a [2021-01-01 00:00:00+01, 2021-02-01 00:00:00+01) 0; t_b [2021-02-01 00:00:00+01, 2021-02-01 05:00:00+01) 0; t_p20210201_1000 [2021-02-01 10:00:00+01, 2021-02-01 15:00:00+01) 1',
	't_a [2021-01-01, 2021-02-01); t_b [2021-02-01 00:00, 2021-02-01 05:00)');
SELECT pg_temp.makes('five hours above six', 'timestamptz', '{2021-02-01 12:00}', NULL,
	't_a [2021-01-31 18:00:00+01, 2021-02-01 00:00:00+01) 0; t_b [2021-02-01 00:00:00+01, 2021-02-01 05:00:00+01) 0; t_p20210201_1000 [2021-02-01 10:00:00+01, 2021-02-01 15:00:00+01) 1',
	't_a [2021-01-31 18:00, 2021-02-01 00:00); t_b [2021-02-01 00:00, 2021-02-01 05:00)');
SELECT pg_temp.makes('six hours of UTC go on as time that passes', 'timestamptz', '{2021-10-31 05:30+00, 2021-10-31 22:30+00}', NULL,
	't_a [2021-07-01 02:00:00+02, 2021-07-01 08:00:00+02) 0; t_p20211031_0200 [2021-10-31 02:00:00+02, 2021-10-31 07:00:00+01) 1; t_p20211031_1900 [2021-10-31 19:00:00+01, 2021-11-01 01:00:00+01) 1',
	't_a [2021-07-01 00:00+00, 2021-07-01 06:00+00)');
SELECT pg_temp.makes('a week of 167 hours', 'timestamptz', '{2021-03-28 12:00}', '7 days',
	't_p20210322 [2021-03-22 00:00:00+01, 2021-03-29 00:00:00+02) 1');
SELECT pg_temp.makes('months of the time zone', 'timestamptz', '{2021-03-31 21:59:59+00, 2021-03-31 22:00+00}', '1 month',
	't_p202103 [2021-03-01 00:00:00+01, 2021-04-01 00:00:00+02) 1; t_p202104 [2021-04-01 00:00:00+02, 2021-05-01 00:00:00+02) 1');
SET LOCAL timezone = 'America/Sao_Paulo';
SELECT pg_temp.makes('a day without midnight', 'timestamptz', '{2018-11-04 02:59:59+00, 2018-11-04 03:00+00}', NULL,
	't_p20181103 [2018-11-03 00:00:00-03, 2018-11-04 01:00:00-02) 1; t_p20181104 [2018-11-04 01:00:00-02, 2018-11-05 00:00:00-02) 1');
SET LOCAL timezone = 'America/Havana';
SELECT pg_temp.makes('a day with two midnights starts at the one that its date means', 'timestamptz', '{2021-11-07 04:30+00, 2021-11-07 05:30+00}', NULL,
	't_p20211106 [2021-11-06 00:00:00-04, 2021-11-07 00:00:00-05) 1; t_p20211107 [2021-11-07 00:00:00-05, 2021-11-08 00:00:00-05) 1');
SELECT is(max(k), min(k) + interval '1 hour', 'rows are not moved by it') FROM t;
SET LOCAL timezone = 'Asia/Kathmandu';
SELECT pg_temp.makes('half days of a zone with an odd offset', 'timestamptz', '{2021-01-01 12:00+00}', '12 hours',
	't_p20210101_1200 [2021-01-01 12:00:00+05:45, 2021-01-02 00:00:00+05:45) 1');
SET LOCAL timezone = 'UTC';

-- date
SELECT pg_temp.makes('dates, by day', 'date', '{2021-02-28, 2021-03-01}', NULL,
	't_p20210228 [2021-02-28, 2021-03-01) 1; t_p20210301 [2021-03-01, 2021-03-02) 1');
SELECT pg_temp.makes('dates, by week', 'date', '{2021-02-28, 2021-03-01}', '7 days',
	't_p20210222 [2021-02-22, 2021-03-01) 1; t_p20210301 [2021-03-01, 2021-03-08) 1');
SELECT pg_temp.makes('dates, by year, and the ends of the type', 'date', '{2021-02-28, 5874897-12-31, 4714-11-24 BC}', '1 year',
	't_pbc47141124 [4714-11-24 BC, 4713-01-01 BC) 1; t_p2021 [2021-01-01, 2022-01-01) 1; t_py5874897 [5874897-01-01, infinity) 1');

-- Integers
SELECT pg_temp.makes('integers, positive and negative', 'bigint', '{999, 1000, 0, -1, -1000, -1001}', '1000',
	't_pm2000 [-2000, -1000) 1; t_pm1000 [-1000, 0) 2; t_p0 [0, 1000) 2; t_p1000 [1000, 2000) 1');
SELECT pg_temp.makes('smallint, to its ends', 'smallint', '{32767, -32768, 32000}', '1000',
	't_pm32768 [-32768, -32000) 1; t_p32000 [32000, MAXVALUE) 2');
SELECT pg_temp.makes('smallint, one by one to its end', 'smallint', '{32767, 32766}', '1', 't_p32766 [32766, 32767) 1; t_p32767 [32767, MAXVALUE) 1');
SELECT pg_temp.makes('integer, to its ends', 'integer', '{2147483647, -2147483648}', '1000000000',
	't_pm2147483648 [-2147483648, -2000000000) 1; t_p2000000000 [2000000000, MAXVALUE) 1');
SELECT pg_temp.makes('bigint, to its ends', 'bigint', '{9223372036854775807, -9223372036854775808, 9223372036854775806}', '1000000',
	't_pm9223372036854775808 [-9223372036854775808, -9223372036854000000) 1; t_p9223372036854000000 [9223372036854000000, MAXVALUE) 2');
SELECT pg_temp.makes('integers, width and origin of the existing partition', 'bigint', '{25, 14}', NULL,
	't_a [5, 15) 1; t_p25 [25, 35) 1', 't_a [5, 15)');

-- Existing partitions give the width and the origin, and cut the holes
SELECT pg_temp.makes('weeks that start on Sunday, from the existing one', 'timestamp', '{2021-01-16}', NULL,
	't_a [2021-01-03 00:00:00, 2021-01-10 00:00:00) 0; t_p20210110 [2021-01-10 00:00:00, 2021-01-17 00:00:00) 1', 't_a [2021-01-03, 2021-01-10)');
SELECT pg_temp.makes('weeks that start on Sunday, though a width is given', 'timestamp', '{2021-01-30}', '1 week',
	't_a [2021-01-03 00:00:00, 2021-01-10 00:00:00) 0; t_p20210124 [2021-01-24 00:00:00, 2021-01-31 00:00:00) 1', 't_a [2021-01-03, 2021-01-10)');
SELECT pg_temp.makes('years that start in April, from the existing one', 'timestamp', '{2022-02-01}', NULL,
	't_a [2020-04-01 00:00:00, 2021-04-01 00:00:00) 0; t_p202104 [2021-04-01 00:00:00, 2022-04-01 00:00:00) 1', 't_a [2020-04-01, 2021-04-01)');
SELECT pg_temp.makes('the highest existing partition decides', 'timestamp', '{2021-06-01}', NULL,
	't_a [2021-02-01 00:00:00, 2021-03-01 00:00:00) 0; t_b [2020-01-01 00:00:00, 2020-01-02 00:00:00) 0; t_p202106 [2021-06-01 00:00:00, 2021-07-01 00:00:00) 1',
	't_a [2021-02-01, 2021-03-01); t_b [2020-01-01, 2020-01-02)');
SELECT pg_temp.makes('hours that start at half past', 'timestamp', '{2021-01-01 05:00}', NULL,
	't_a [2021-01-01 00:30:00, 2021-01-01 01:30:00) 0; t_p20210101_0430 [2021-01-01 04:30:00, 2021-01-01 05:30:00) 1', 't_a [2021-01-01 00:30, 2021-01-01 01:30)');
SET LOCAL timezone = 'Europe/Berlin';
SELECT pg_temp.makes('existing days are local days, whatever their length', 'timestamptz', '{2021-03-28 12:00}', NULL,
	't_a [2021-01-01 00:00:00+01, 2021-01-02 00:00:00+01) 0; t_p20210328 [2021-03-28 00:00:00+01, 2021-03-29 00:00:00+02) 1', 't_a [2021-01-01, 2021-01-02)');
SELECT pg_temp.makes('existing days of another zone go on in that zone', 'timestamptz', '{2021-07-03 12:00}', NULL,
	't_a [2021-01-01 01:00:00+01, 2021-01-02 01:00:00+01) 0; t_p20210703 [2021-07-03 02:00:00+02, 2021-07-04 02:00:00+02) 1', 't_a [2021-01-01 00:00+00, 2021-01-02 00:00+00)');
SET LOCAL timezone = 'America/New_York';
SELECT pg_temp.makes('months of UTC go on as months of UTC', 'timestamptz', '{2024-03-31 23:59:59+00, 2024-04-10, 2023-07-01 00:00+00}', NULL,
	't_a [2023-12-31 19:00:00-05, 2024-01-31 19:00:00-05) 0; t_b [2024-01-31 19:00:00-05, 2024-02-29 19:00:00-05) 0; t_p202307 [2023-06-30 20:00:00-04, 2023-07-31 20:00:00-04) 1; t_p202403 [2024-02-29 19:00:00-05, 2024-03-31 20:00:00-04) 1; t_p202404 [2024-03-31 20:00:00-04, 2024-04-30 20:00:00-04) 1',
	't_a [2024-01-01 00:00+00, 2024-02-01 00:00+00); t_b [2024-02-01 00:00+00, 2024-03-01 00:00+00)');
SELECT pg_temp.makes('also if the width is said', 'timestamptz', '{2024-04-10}', '1 month',
	't_a [2023-12-31 19:00:00-05, 2024-01-31 19:00:00-05) 0; t_p202404 [2024-03-31 20:00:00-04, 2024-04-30 20:00:00-04) 1', 't_a [2024-01-01 00:00+00, 2024-02-01 00:00+00)');
SELECT pg_temp.makes('and quarters', 'timestamptz', '{2024-04-10}', NULL,
	't_a [2023-09-30 20:00:00-04, 2023-12-31 19:00:00-05) 0; t_p202404 [2024-03-31 20:00:00-04, 2024-06-30 20:00:00-04) 1', 't_a [2023-10-01 00:00+00, 2024-01-01 00:00+00)');
SELECT pg_temp.makes('and years', 'timestamptz', '{2025-04-10}', NULL,
	't_a [2023-12-31 19:00:00-05, 2024-12-31 19:00:00-05) 0; t_p2025 [2024-12-31 19:00:00-05, 2025-12-31 19:00:00-05) 1', 't_a [2024-01-01 00:00+00, 2025-01-01 00:00+00)');
SELECT pg_temp.makes('months of the zone that the role, the database or the server is set to', 'timestamptz', '{2024-05-10 00:00+02, 2024-12-10 00:00+01}', NULL,
	't_a [2023-12-31 18:00:00-05, 2024-01-31 18:00:00-05) 0; t_p202405 [2024-04-30 18:00:00-04, 2024-05-31 18:00:00-04) 1; t_p202412 [2024-11-30 18:00:00-05, 2024-12-31 18:00:00-05) 1',
	't_a [2024-01-01 00:00+01, 2024-02-01 00:00+01)');
SET LOCAL timezone = 'Europe/London';
SELECT pg_temp.makes('the zone is the one of all partitions, and not of the highest alone', 'timestamptz', '{2024-08-10}', NULL,
	't_a [2024-01-01 00:00:00+00, 2024-02-01 00:00:00+00) 0; t_b [2023-06-01 01:00:00+01, 2023-07-01 01:00:00+01) 0; t_p202408 [2024-08-01 01:00:00+01, 2024-09-01 01:00:00+01) 1',
	't_a [2024-01-01 00:00+00, 2024-02-01 00:00+00); t_b [2023-06-01 00:00+00, 2023-07-01 00:00+00)');
-- What no zone explains is refused where a partition is missing
SET LOCAL timezone = 'UTC';
SELECT throws_ok(format('SELECT pg_temp.made(%L, %L, NULL, %L)', type, keys, olds), '22023', 'could not tell how wide new partitions of table "t" should be', about) FROM (VALUES
	('months of an unknown zone', 'timestamptz', '{2024-05-10}', 't_a [2024-01-01 00:00-07, 2024-02-01 00:00-07)'),
	('a day of 23 hours of an unknown zone', 'timestamptz', '{2024-05-10}', 't_a [2024-03-10 00:00-07, 2024-03-11 00:00-06)'),
	('a week of an unknown zone, without a change of clocks', 'timestamptz', '{2024-05-10}', 't_a [2024-01-01 00:00-07, 2024-01-08 00:00-07)'),
	('months that end where not all do', 'timestamp', '{2021-05-10}', 't_a [2021-01-31, 2021-02-28); t_b [2021-02-28, 2021-03-31)')) AS v (about, type, keys, olds);
SELECT pg_temp.makes('but not if no partition is missing', 'timestamptz', '{2024-01-10}', NULL,
	't_a [2024-01-01 07:00:00+00, 2024-02-01 07:00:00+00) 1', 't_a [2024-01-01 00:00-07, 2024-02-01 00:00-07)');
SELECT pg_temp.fresh('timestamptz') \g /dev/null
CREATE TABLE t_a PARTITION OF t FOR VALUES FROM ('2024-01-01 00:00-07') TO ('2024-02-01 00:00-07');
SELECT pg_temp.file($$SELECT '2024-05-10', 1$$) \g /dev/null
SELECT isnt(count(*), 0::bigint, 'which fast_copy_analyze tells')
FROM fast_copy_analyze('t', current_setting('fc.file')) AS a WHERE a::text LIKE '%could not tell how wide new partitions%';
SELECT pg_temp.makes('months from the 15th', 'timestamp', '{2021-03-20, 2020-12-14}', NULL,
	't_a [2021-01-15 00:00:00, 2021-02-15 00:00:00) 0; t_p20201115 [2020-11-15 00:00:00, 2020-12-15 00:00:00) 1; t_p20210315 [2021-03-15 00:00:00, 2021-04-15 00:00:00) 1',
	't_a [2021-01-15, 2021-02-15)');
SELECT pg_temp.makes('four weeks, of which one looks like a month', 'date', '{2021-06-20}', NULL,
	't_a [2021-01-08, 2021-02-05) 0; t_b [2021-02-05, 2021-03-05) 0; t_p20210528 [2021-05-28, 2021-06-25) 1', 't_a [2021-01-08, 2021-02-05); t_b [2021-02-05, 2021-03-05)');
SET LOCAL timezone = 'UTC';
SELECT pg_temp.makes('a day is cut to the holes around an existing partition', 'timestamp', '{2021-01-01 13:00, 2021-01-01 06:00, 2021-01-01 10:00}', '1 day',
	't_a [2021-01-01 08:00:00, 2021-01-01 12:30:00) 1; t_p20210101 [2021-01-01 00:00:00, 2021-01-01 08:00:00) 1; t_p20210101_1230 [2021-01-01 12:30:00, 2021-01-02 00:00:00) 1',
	't_a [2021-01-01 08:00, 2021-01-01 12:30)');
SELECT pg_temp.makes('thirty days that end on a 31st', 'date', '{2024-03-10}', NULL,
	't_a [2024-01-01, 2024-01-31) 0; t_p20240301 [2024-03-01, 2024-03-31) 1', 't_a [2024-01-01, 2024-01-31)');
SELECT pg_temp.makes('a cut lower bound is told as finely as it must be', 'timestamp', '{2021-01-31}', '1 month',
	't_a [2021-01-05 00:00:00, 2021-01-10 00:00:00.000001) 0; t_p20210110_000000_000001 [2021-01-10 00:00:00.000001, 2021-02-01 00:00:00) 1', 't_a [2021-01-05, 2021-01-10 00:00:00.000001)');
SELECT pg_temp.makes('between MINVALUE and MAXVALUE', 'bigint', '{-5, 7, 12, 100}', '10',
	't_lo [MINVALUE, 5) 1; t_hi [15, MAXVALUE) 1; t_p5 [5, 10) 1; t_p10 [10, 15) 1', 't_lo [MINVALUE, 5); t_hi [15, MAXVALUE)');
SELECT pg_temp.makes('infinite keys go to MINVALUE and MAXVALUE', 'timestamp', '{2021-01-01, -infinity, infinity, 1999-01-01, 2050-01-01}', NULL,
	't_lo [MINVALUE, 2000-01-01 00:00:00) 2; t_hi [2030-01-01 00:00:00, MAXVALUE) 2; t_p20210101 [2021-01-01 00:00:00, 2021-01-02 00:00:00) 1',
	't_lo [MINVALUE, 2000-01-01); t_hi [2030-01-01, MAXVALUE)');

-- Keys without a partition of their own
SELECT pg_temp.makes('NULL and infinite keys go to the default partition', 'timestamptz', '{2021-01-01, -infinity, infinity, NULL}', NULL,
	't_def DEFAULT 3; t_p20210101 [2021-01-01 00:00:00+00, 2021-01-02 00:00:00+00) 1', 't_def DEFAULT');
SELECT pg_temp.makes('NULL and infinite dates go to the default partition', 'date', '{2021-01-01, -infinity, infinity, NULL}', NULL,
	't_def DEFAULT 3; t_p20210101 [2021-01-01, 2021-01-02) 1', 't_def DEFAULT');
SELECT pg_temp.fresh('timestamp') \g /dev/null
SELECT throws_ok($$SELECT pg_temp.load('t', '{2021-01-01, NULL}')$$, '23514', NULL, 'NULL key and no default partition');
SELECT throws_ok($$SELECT pg_temp.load('t', '{2021-01-01, infinity}')$$, '23514', NULL, 'infinite key and no default partition');
SELECT throws_ok($$SELECT pg_temp.load('t', '{-infinity}')$$, '23514', NULL, 'infinitely early key and no default partition');
SELECT is(pg_temp.parts('t'), NULL, 'a failed load leaves no partition');
SELECT hasnt_table('t_p20210101'::name);

-- A default partition with rows
SELECT pg_temp.fresh('timestamptz') \g /dev/null
CREATE TABLE t_def (x int, n int, k timestamptz);
ALTER TABLE t_def DROP COLUMN x;
ALTER TABLE t ATTACH PARTITION t_def DEFAULT;
INSERT INTO t VALUES ('2021-01-01 23:59:59.999999'), ('2021-01-03'), (NULL), ('infinity');
SELECT throws_ok($$SELECT pg_temp.load('t', '{2021-01-01}')$$, '23514',
	'updated partition constraint for default partition "t_def" would be violated by some row',
	'a row of the default partition is in the way');
SELECT throws_ok($$SELECT pg_temp.load('t', '{2021-01-02, 2021-01-03}')$$, '23514',
	'updated partition constraint for default partition "t_def" would be violated by some row',
	'a row of the default partition is in the way of the second partition');
SELECT is(pg_temp.load('t', '{2021-01-02, 2021-01-04, NULL}'), 3::bigint, 'rows of the default partition are not in the way');
SELECT is(pg_temp.parts('t'),
	't_def DEFAULT 5; t_p20210102 [2021-01-02 00:00:00+00, 2021-01-03 00:00:00+00) 1; t_p20210104 [2021-01-04 00:00:00+00, 2021-01-05 00:00:00+00) 1',
	'partitions around rows of the default partition');
SELECT is_empty($$SELECT conname FROM pg_constraint WHERE conrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 't'::regclass) AND contype = 'c'$$,
	'no constraint is left');
SELECT is_empty($$SELECT relname FROM pg_class WHERE relname LIKE 't!_%' ESCAPE '!' AND relchecks <> 0$$,
	'no count of constraints is left');
SELECT throws_ok($$INSERT INTO t_def (k) VALUES ('2021-01-02 12:00')$$, '23514', NULL, 'the default partition keeps its constraint');
SELECT throws_ok($$INSERT INTO t_p20210102 (k) VALUES ('2021-01-03')$$, '23514', NULL, 'new partitions have theirs');

-- ATTACH must not read the new partitions, nor the default once for each
SELECT pg_temp.fresh('date') \g /dev/null
CREATE TABLE t_def PARTITION OF t DEFAULT;
INSERT INTO t SELECT '2020-01-01', generate_series(1, 1000);
SELECT pg_temp.load('t', '{2021-01-01, 2021-01-02, 2021-01-04, 2021-01-05, 2021-01-07}') \g /dev/null
SELECT is((SELECT count(*) FROM pg_stat_xact_user_tables WHERE relname LIKE 't!_p%' ESCAPE '!'),
	5::bigint, 'five partitions are new');
SELECT is((SELECT sum(seq_scan) FROM pg_stat_xact_user_tables WHERE relname LIKE 't!_p%' ESCAPE '!'), 0::numeric,
	'new partitions are attached without a scan');
SELECT cmp_ok((SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relid = 't_def'::regclass), '<=', 2::bigint,
	'the default partition is not read for each of them');

-- Widths that are none
SELECT throws_ok(format('SELECT pg_temp.made(%L, %L, %L)', type, keys, width), '22023', NULL, format('%s: %s', type, width))
FROM (VALUES ('timestamp', '{2021-01-01}', '1 day 12:00'), ('timestamp', '{2021-01-01}', '1 month 1 day'),
	('timestamp', '{2021-01-01}', '0'), ('timestamptz', '{2021-01-01}', '-1 day'),
	('timestamptz', '{2021-01-01}', '2000000000 days'), ('date', '{2021-01-01}', '1 hour'),
	('date', '{2021-01-01}', '36 hours'), ('bigint', '{1}', '1 day'), ('bigint', '{1}', '0'),
	('bigint', '{1}', '-5'), ('bigint', '{1}', '99999999999999999999')) x (type, keys, width);
SELECT throws_ok($$SELECT pg_temp.made('integer', '{1}')$$, '22023', NULL, 'integers need a width');
SELECT throws_ok($$SELECT pg_temp.made('timestamp', '{2021-01-01}', 'fortnight')$$, '22007', NULL, 'no interval at all');

-- Names
SELECT pg_temp.makes('names in use are avoided', 'date', '{2021-01-01}', NULL,
	't_p20210101_2 [2021-01-01, 2021-01-02) 1', 'CREATE TABLE t_p20210101 (); CREATE TYPE t_p20210101_1 AS ENUM ()');
DROP TABLE t, t_p20210101;
DROP TYPE t_p20210101_1;

SELECT set_config('fc.name', repeat('日', 21), true) \g /dev/null
DO $$
BEGIN
	EXECUTE format('CREATE TABLE %I (k date, n int) PARTITION BY RANGE (k)', current_setting('fc.name'));
END
$$;
SELECT is(pg_temp.load(current_setting('fc.name')::regclass, '{2021-01-01, 2021-01-02}'), 2::bigint, 'loads into a name of 63 bytes');
SELECT is(pg_temp.parts(current_setting('fc.name')::regclass),
	repeat('日', 17) || '_p20210101 [2021-01-01, 2021-01-02) 1; ' || repeat('日', 17) || '_p20210102 [2021-01-02, 2021-01-03) 1', 'long names are cut between characters');
DO $$
BEGIN
	EXECUTE format('CREATE TABLE %I (k date, n int) PARTITION BY RANGE (k)', repeat('日', 20) || 'b');
END
$$;
SELECT is(pg_temp.load((repeat('日', 20) || 'b')::regclass, '{2021-01-01}'), 1::bigint, 'loads into a name like it');
SELECT is(pg_temp.parts((repeat('日', 20) || 'b')::regclass),
	repeat('日', 17) || '_p20210101_1 [2021-01-01, 2021-01-02) 1', 'names cut to the same beginning stay apart');

CREATE SCHEMA "s"".o;dd";
CREATE TABLE "s"".o;dd"."a""b; drop table x; --" ("k;'""k" timestamptz, n int, CONSTRAINT "fast_copy" CHECK (n > 0), UNIQUE (n, "k;'""k"))
	PARTITION BY RANGE ("k;'""k");
CREATE TABLE "s"".o;dd"."d'""efault" PARTITION OF "s"".o;dd"."a""b; drop table x; --" DEFAULT;
INSERT INTO "s"".o;dd"."a""b; drop table x; --" VALUES (NULL, 99);
SELECT is(pg_temp.load('"s"".o;dd"."a""b; drop table x; --"', '{2021-01-01 05:00}'), 1::bigint, 'loads into an odd name');
SELECT is(pg_temp.parts('"s"".o;dd"."a""b; drop table x; --"'),
	'd''"efault DEFAULT 1; a"b; drop table x; --_p20210101 [2021-01-01 00:00:00+00, 2021-01-02 00:00:00+00) 1', 'odd names are quoted');
SELECT is((SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'a"b; drop table x; --_p20210101'),
	'"s"".o;dd"', 'partitions are made in the schema of their parent');

-- Savepoints and handlers
SELECT pg_temp.fresh('date') \g /dev/null
SAVEPOINT here;
SELECT pg_temp.load('t', '{2021-01-01}') \g /dev/null
ROLLBACK TO here;
SELECT is(pg_temp.parts('t'), NULL, 'a savepoint takes partitions back');
SELECT is(pg_temp.load('t', '{2021-01-01}'), 1::bigint, 'and the load can be repeated');
SELECT is(pg_temp.load('t', '{2021-01-01}'), 1::bigint, 'into a partition made by this transaction');
SELECT is(pg_temp.parts('t'), 't_p20210101 [2021-01-01, 2021-01-02) 2', 'which takes both rows');

-- The width is counted from a partition that has it, or else from the highest
SELECT is(pg_temp.made('int', '{31}', '10', 'a [3, 5); b [20, 27)'), 'a [3, 5) 0; b [20, 27) 0; t_p30 [30, 40) 1', 'no partition has the width');
-- 34 days are no month, and 26 hours may be a day of another zone
SELECT is(pg_temp.made('timestamp', '{2024-02-05}', NULL, 'a [2024-01-01, 2024-02-04)'), 'a [2024-01-01 00:00:00, 2024-02-04 00:00:00) 0; t_p20240204 [2024-02-04 00:00:00, 2024-03-09 00:00:00) 1', '34 days');
SELECT pg_temp.makes('34 days and 35', 'date', '{2024-03-11}', NULL,
	'a [2024-01-01, 2024-02-04) 0; b [2024-02-04, 2024-03-10) 0; t_p20240310 [2024-03-10, 2024-04-14) 1', 'a [2024-01-01, 2024-02-04); b [2024-02-04, 2024-03-10)');
SELECT pg_temp.makes('45 days and 30', 'date', '{2024-03-18}', NULL,
	'a [2024-01-02, 2024-02-16) 0; b [2024-02-16, 2024-03-17) 0; t_p20240317 [2024-03-17, 2024-04-16) 1', 'a [2024-01-02, 2024-02-16); b [2024-02-16, 2024-03-17)');
SELECT pg_temp.makes('61 days and 30', 'date', '{2024-04-10}', NULL,
	'a [2024-01-02, 2024-03-03) 0; b [2024-03-03, 2024-04-02) 0; t_p20240402 [2024-04-02, 2024-05-02) 1', 'a [2024-01-02, 2024-03-03); b [2024-03-03, 2024-04-02)');
SELECT throws_ok($$SELECT pg_temp.made('timestamptz', '{2024-01-02 03:00}', NULL, 'a [2024-01-01, 2024-01-02 02:00)')$$, '22023', 'could not tell how wide new partitions of table "t" should be', '26 hours');

-- Temporary parents have temporary partitions
CREATE TEMP TABLE temp_parent (k date, n int) PARTITION BY RANGE (k);
SELECT is(pg_temp.load('temp_parent', '{2021-01-01}'), 1::bigint, 'loads into a temporary table');
SELECT is((SELECT relpersistence FROM pg_class WHERE oid = 'pg_temp.temp_parent_p20210101'::regclass), 't'::"char",
	'its partition is temporary');

-- infinite keys among others
CREATE TABLE endless (k timestamp, n int) PARTITION BY RANGE (k);
CREATE TABLE endless_1 PARTITION OF endless FOR VALUES FROM ('2024-01-05') TO ('2024-01-06');
SELECT is(fast_copy('endless', pg_temp.write('{"-infinity,1","2020-01-01,2","infinity,3","2025-01-01,4","-infinity,5","2019-01-01,6"}'), partition_interval => '1 day', on_error => 'ignore', on_error_classes => '{no_partition}', workers => w),
	3::bigint, format('infinite keys have no partition, and take none from others, %s workers', w)) FROM unnest('{0,1}'::int[]) AS w;

SELECT * FROM finish();
ROLLBACK;
