-- Which partitions a load makes: their width, bounds and names.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

\encoding UTF8
-- the session's own zone, which "SET LOCAL timezone" hides
\setenv PGTZ Europe/Berlin
\connect

BEGIN;
SET LOCAL client_min_messages = warning;
SET LOCAL search_path = public, pg_catalog;
SET LOCAL timezone = 'UTC';
SET LOCAL datestyle = 'ISO, MDY';
SELECT set_config('fc.file', :'tmp_dir' || '/fc_partition_interval.csv', true) \g /dev/null
SELECT plan(110);

-- Loads one row per key, as text, into a table (k, n)
CREATE FUNCTION pg_temp.load(target regclass, keys text[], width text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT * FROM unnest(%L::text[]) WITH ORDINALITY) TO %L (FORMAT csv)',
				   keys, current_setting('fc.file'));
	RETURN fast_copy(target, current_setting('fc.file'), partition_interval => width);
END
$$;

-- Every partition with its bound and its number of rows
CREATE FUNCTION pg_temp.parts(parent regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	part pg_class;
	n bigint;
BEGIN
	FOR part IN SELECT c.* FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE inhparent = parent ORDER BY inhrelid
	LOOP
		EXECUTE format('SELECT count(*) FROM %s', part.oid::regclass) INTO n;
		RETURN NEXT concat_ws(' ', part.relname, replace(pg_get_expr(part.relpartbound, part.oid), 'FOR VALUES ', ''), n);
	END LOOP;
END
$$;

-- An empty parent called "t"
CREATE FUNCTION pg_temp.fresh(type text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	EXECUTE format('CREATE TABLE t (k %s, n int) PARTITION BY RANGE (k)', type);
END
$$;

-- A parent with partitions of its own: loads "keys" and tells what was made
CREATE FUNCTION pg_temp.made(type text, keys text[], width text DEFAULT NULL, VARIADIC ddl text[] DEFAULT '{}')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	n bigint;
BEGIN
	PERFORM pg_temp.fresh(type);
	FOREACH statement IN ARRAY ddl LOOP
		EXECUTE statement;
	END LOOP;
	n := pg_temp.load('t', keys, width);
	IF n <> cardinality(keys) THEN
		RAISE EXCEPTION 'loaded % rows of %', n, cardinality(keys);
	END IF;
	RETURN QUERY SELECT * FROM pg_temp.parts('t');
END
$$;

-- timestamp: every width and its name
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 04:05:06, 2021-02-02 23:59:59.999999, 1969-12-31 23:00:00}')$$,
	ARRAY['t_p19691231 FROM (''1969-12-31 00:00:00'') TO (''1970-01-01 00:00:00'') 1',
		  't_p20210202 FROM (''2021-02-02 00:00:00'') TO (''2021-02-03 00:00:00'') 1',
		  't_p20210203 FROM (''2021-02-03 00:00:00'') TO (''2021-02-04 00:00:00'') 1'],
	'one day if nothing else is known');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 04:05:06, 2021-02-04 04:05:06}', '2 days')$$,
	ARRAY['t_p20210203 FROM (''2021-02-03 00:00:00'') TO (''2021-02-05 00:00:00'') 2'],
	'two days, counted from 2000-01-01');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-07 23:59, 2021-02-08}', '1 week')$$,
	ARRAY['t_p20210201 FROM (''2021-02-01 00:00:00'') TO (''2021-02-08 00:00:00'') 1',
		  't_p20210208 FROM (''2021-02-08 00:00:00'') TO (''2021-02-15 00:00:00'') 1'],
	'weeks start on Monday');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2020-02-29 12:00, 2020-03-01}', '1 month')$$,
	ARRAY['t_p202002 FROM (''2020-02-01 00:00:00'') TO (''2020-03-01 00:00:00'') 1',
		  't_p202003 FROM (''2020-03-01 00:00:00'') TO (''2020-04-01 00:00:00'') 1'],
	'months');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2020-12-31, 2021-05-06}', '3 months')$$,
	ARRAY['t_p202010 FROM (''2020-10-01 00:00:00'') TO (''2021-01-01 00:00:00'') 1',
		  't_p202104 FROM (''2021-04-01 00:00:00'') TO (''2021-07-01 00:00:00'') 1'],
	'quarters are those of the calendar');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{1999-12-31, 2000-01-01}', '1 year')$$,
	ARRAY['t_p1999 FROM (''1999-01-01 00:00:00'') TO (''2000-01-01 00:00:00'') 1',
		  't_p2000 FROM (''2000-01-01 00:00:00'') TO (''2001-01-01 00:00:00'') 1'],
	'years');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{1999-12-31, 2000-01-01}', '10 years')$$,
	ARRAY['t_p1990 FROM (''1990-01-01 00:00:00'') TO (''2000-01-01 00:00:00'') 1',
		  't_p2000 FROM (''2000-01-01 00:00:00'') TO (''2010-01-01 00:00:00'') 1'],
	'decades');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 04:59:59.5, 2021-02-03 23:00}', '1 hour')$$,
	ARRAY['t_p20210203_0400 FROM (''2021-02-03 04:00:00'') TO (''2021-02-03 05:00:00'') 1',
		  't_p20210203_2300 FROM (''2021-02-03 23:00:00'') TO (''2021-02-04 00:00:00'') 1'],
	'hours');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 04:59}', '15 minutes')$$,
	ARRAY['t_p20210203_0445 FROM (''2021-02-03 04:45:00'') TO (''2021-02-03 05:00:00'') 1'],
	'quarters of an hour');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 04:59:59.9}', '10 seconds')$$,
	ARRAY['t_p20210203_045950 FROM (''2021-02-03 04:59:50'') TO (''2021-02-03 05:00:00'') 1'],
	'seconds');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 04:59:59.123456}', '1 millisecond')$$,
	ARRAY['t_p20210203_045959_123000 FROM (''2021-02-03 04:59:59.123'') TO (''2021-02-03 04:59:59.124'') 1'],
	'milliseconds');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{1999-12-31 23:59:59.999999}', '1 microsecond')$$,
	ARRAY['t_p19991231_235959_999999 FROM (''1999-12-31 23:59:59.999999'') TO (''2000-01-01 00:00:00'') 1'],
	'microseconds');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2000-01-01 08:00, 1999-12-31 23:00}', '7 hours')$$,
	ARRAY['t_p19991231_1700 FROM (''1999-12-31 17:00:00'') TO (''2000-01-01 00:00:00'') 1',
		  't_p20000101_0700 FROM (''2000-01-01 07:00:00'') TO (''2000-01-01 14:00:00'') 1'],
	'hours that do not divide a day, counted from 2000-01-01');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2000-01-02 13:00}', '36 hours')$$,
	ARRAY['t_p20000102_1200 FROM (''2000-01-02 12:00:00'') TO (''2000-01-04 00:00:00'') 1'],
	'more hours than a day has');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-02-03 23:00}', '24:00')$$,
	ARRAY['t_p20210203 FROM (''2021-02-03 00:00:00'') TO (''2021-02-04 00:00:00'') 1'],
	'24 hours are a day');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{0044-03-15 12:00 BC, 0001-12-31 BC, 12345-01-02, 294276-12-31 23:59:59.999999, 4714-11-24 00:00 BC}')$$,
	ARRAY['t_pbc47141124 FROM (''4714-11-24 00:00:00 BC'') TO (''4714-11-25 00:00:00 BC'') 1',
		  't_pbc00440315 FROM (''0044-03-15 00:00:00 BC'') TO (''0044-03-16 00:00:00 BC'') 1',
		  't_pbc00011231 FROM (''0001-12-31 00:00:00 BC'') TO (''0001-01-01 00:00:00'') 1',
		  't_py12345_0102 FROM (''12345-01-02 00:00:00'') TO (''12345-01-03 00:00:00'') 1',
		  't_py294276_1231 FROM (''294276-12-31 00:00:00'') TO (''infinity'') 1'],
	'years before Christ and after 9999, and the ends of the type');

-- timestamptz: days of the session's time zone
SET LOCAL timezone = 'Europe/Berlin';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-03-27 22:59:59+00, 2021-03-27 23:00+00, 2021-03-28 21:59:59+00, 2021-03-28 22:00+00}')$$,
	ARRAY['t_p20210327 FROM (''2021-03-27 00:00:00+01'') TO (''2021-03-28 00:00:00+01'') 1',
		  't_p20210328 FROM (''2021-03-28 00:00:00+01'') TO (''2021-03-29 00:00:00+02'') 2',
		  't_p20210329 FROM (''2021-03-29 00:00:00+02'') TO (''2021-03-30 00:00:00+02'') 1'],
	'a day of 23 hours');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-10-30 22:00+00, 2021-10-31 22:59:59+00, 2021-10-31 23:00+00}')$$,
	ARRAY['t_p20211031 FROM (''2021-10-31 00:00:00+02'') TO (''2021-11-01 00:00:00+01'') 2',
		  't_p20211101 FROM (''2021-11-01 00:00:00+01'') TO (''2021-11-02 00:00:00+01'') 1'],
	'a day of 25 hours');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-10-31 00:30+00, 2021-10-31 01:30+00, 2021-10-31 02:30+00}', '1 hour')$$,
	ARRAY['t_p20211031_0200 FROM (''2021-10-31 02:00:00+02'') TO (''2021-10-31 02:00:00+01'') 1',
		  't_p20211031_0200_1 FROM (''2021-10-31 02:00:00+01'') TO (''2021-10-31 03:00:00+01'') 1',
		  't_p20211031_0300 FROM (''2021-10-31 03:00:00+01'') TO (''2021-10-31 04:00:00+01'') 1'],
	'the hour that comes twice');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-03-28 00:30+00, 2021-03-28 01:30+00}', '1 hour')$$,
	ARRAY['t_p20210328_0100 FROM (''2021-03-28 01:00:00+01'') TO (''2021-03-28 03:00:00+02'') 1',
		  't_p20210328_0300 FROM (''2021-03-28 03:00:00+02'') TO (''2021-03-28 04:00:00+02'') 1'],
	'the hour that is left out');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-03-28 04:30+00, 2021-03-28 21:30+00}', '6 hours')$$,
	ARRAY['t_p20210328_0600 FROM (''2021-03-28 06:00:00+02'') TO (''2021-03-28 12:00:00+02'') 1',
		  't_p20210328_1800 FROM (''2021-03-28 18:00:00+02'') TO (''2021-03-29 00:00:00+02'') 1'],
	'parts of a day of 23 hours are those of wall clocks');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-10-31 00:30+00, 2021-10-31 04:59:59+00, 2021-10-31 05:00+00, 2021-10-31 22:30+00}', '6 hours')$$,
	ARRAY['t_p20211031_0000 FROM (''2021-10-31 00:00:00+02'') TO (''2021-10-31 06:00:00+01'') 2',
		  't_p20211031_0600 FROM (''2021-10-31 06:00:00+01'') TO (''2021-10-31 12:00:00+01'') 1',
		  't_p20211031_1800 FROM (''2021-10-31 18:00:00+01'') TO (''2021-11-01 00:00:00+01'') 1'],
	'a day of 25 hours cuts none of its parts');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-11-01 04:00+01}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-10-30 18:00'') TO (''2021-10-31 00:00'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2021-10-31 00:00'') TO (''2021-10-31 06:00+01'')')$$,
	ARRAY['t_a FROM (''2021-10-30 18:00:00+02'') TO (''2021-10-31 00:00:00+02'') 0',
		  't_b FROM (''2021-10-31 00:00:00+02'') TO (''2021-10-31 06:00:00+01'') 0',
		  't_p20211101_0000 FROM (''2021-11-01 00:00:00+01'') TO (''2021-11-01 06:00:00+01'') 1'],
	'a night of seven hours is one of six');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-02-01 12:00}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-01'') TO (''2021-02-01'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2021-02-01 00:00'') TO (''2021-02-01 05:00'')')$$,
	ARRAY['t_a FROM (''2021-01-01 00:00:00+01'') TO (''2021-02-01 00:00:00+01'') 0',
		  't_b FROM (''2021-02-01 00:00:00+01'') TO (''2021-02-01 05:00:00+01'') 0',
		  't_p20210201_1000 FROM (''2021-02-01 10:00:00+01'') TO (''2021-02-01 15:00:00+01'') 1'],
	'five hours above a month');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-10-31 05:30+00, 2021-10-31 22:30+00}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-07-01 00:00+00'') TO (''2021-07-01 06:00+00'')')$$,
	ARRAY['t_a FROM (''2021-07-01 02:00:00+02'') TO (''2021-07-01 08:00:00+02'') 0',
		  't_p20211031_0200 FROM (''2021-10-31 02:00:00+02'') TO (''2021-10-31 07:00:00+01'') 1',
		  't_p20211031_1900 FROM (''2021-10-31 19:00:00+01'') TO (''2021-11-01 01:00:00+01'') 1'],
	'six hours of UTC go on as time that passes');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-03-28 12:00}', '7 days')$$,
	ARRAY['t_p20210322 FROM (''2021-03-22 00:00:00+01'') TO (''2021-03-29 00:00:00+02'') 1'],
	'a week of 167 hours');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-03-31 21:59:59+00, 2021-03-31 22:00+00}', '1 month')$$,
	ARRAY['t_p202103 FROM (''2021-03-01 00:00:00+01'') TO (''2021-04-01 00:00:00+02'') 1',
		  't_p202104 FROM (''2021-04-01 00:00:00+02'') TO (''2021-05-01 00:00:00+02'') 1'],
	'months of the time zone');
SET LOCAL timezone = 'America/Sao_Paulo';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2018-11-04 02:59:59+00, 2018-11-04 03:00+00}')$$,
	ARRAY['t_p20181103 FROM (''2018-11-03 00:00:00-03'') TO (''2018-11-04 01:00:00-02'') 1',
		  't_p20181104 FROM (''2018-11-04 01:00:00-02'') TO (''2018-11-05 00:00:00-02'') 1'],
	'a day without midnight');
SET LOCAL timezone = 'America/Havana';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-11-07 04:30+00, 2021-11-07 05:30+00}')$$,
	ARRAY['t_p20211106 FROM (''2021-11-06 00:00:00-04'') TO (''2021-11-07 00:00:00-05'') 1',
		  't_p20211107 FROM (''2021-11-07 00:00:00-05'') TO (''2021-11-08 00:00:00-05'') 1'],
	'a day with two midnights starts at the one that its date means');
SELECT is(max(k), min(k) + interval '1 hour', 'rows are not moved by it') FROM t;
SET LOCAL timezone = 'Asia/Kathmandu';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-01-01 12:00+00}', '12 hours')$$,
	ARRAY['t_p20210101_1200 FROM (''2021-01-01 12:00:00+05:45'') TO (''2021-01-02 00:00:00+05:45'') 1'],
	'half days of a zone with an odd offset');
SET LOCAL timezone = 'UTC';

-- date
SELECT results_eq($$SELECT * FROM pg_temp.made('date', '{2021-02-28, 2021-03-01}')$$,
	ARRAY['t_p20210228 FROM (''2021-02-28'') TO (''2021-03-01'') 1',
		  't_p20210301 FROM (''2021-03-01'') TO (''2021-03-02'') 1'],
	'dates, by day');
SELECT results_eq($$SELECT * FROM pg_temp.made('date', '{2021-02-28, 2021-03-01}', '7 days')$$,
	ARRAY['t_p20210222 FROM (''2021-02-22'') TO (''2021-03-01'') 1',
		  't_p20210301 FROM (''2021-03-01'') TO (''2021-03-08'') 1'],
	'dates, by week');
SELECT results_eq($$SELECT * FROM pg_temp.made('date', '{2021-02-28, 5874897-12-31, 4714-11-24 BC}', '1 year')$$,
	ARRAY['t_pbc47141124 FROM (''4714-11-24 BC'') TO (''4713-01-01 BC'') 1',
		  't_p2021 FROM (''2021-01-01'') TO (''2022-01-01'') 1',
		  't_py5874897 FROM (''5874897-01-01'') TO (''infinity'') 1'],
	'dates, by year, and the ends of the type');

-- Integers
SELECT results_eq($$SELECT * FROM pg_temp.made('bigint', '{999, 1000, 0, -1, -1000, -1001}', '1000')$$,
	ARRAY['t_pm2000 FROM (''-2000'') TO (''-1000'') 1',
		  't_pm1000 FROM (''-1000'') TO (''0'') 2',
		  't_p0 FROM (''0'') TO (''1000'') 2',
		  't_p1000 FROM (''1000'') TO (''2000'') 1'],
	'integers, positive and negative');
SELECT results_eq($$SELECT * FROM pg_temp.made('smallint', '{32767, -32768, 32000}', '1000')$$,
	ARRAY['t_pm32768 FROM (''-32768'') TO (''-32000'') 1',
		  't_p32000 FROM (''32000'') TO (MAXVALUE) 2'],
	'smallint, to its ends');
SELECT results_eq($$SELECT * FROM pg_temp.made('smallint', '{32767, 32766}', '1')$$,
	ARRAY['t_p32766 FROM (''32766'') TO (''32767'') 1',
		  't_p32767 FROM (''32767'') TO (MAXVALUE) 1'],
	'smallint, one by one to its end');
SELECT results_eq($$SELECT * FROM pg_temp.made('integer', '{2147483647, -2147483648}', '1000000000')$$,
	ARRAY['t_pm2147483648 FROM (''-2147483648'') TO (''-2000000000'') 1',
		  't_p2000000000 FROM (2000000000) TO (MAXVALUE) 1'],
	'integer, to its ends');
SELECT results_eq($$SELECT * FROM pg_temp.made('bigint', '{9223372036854775807, -9223372036854775808, 9223372036854775806}', '1000000')$$,
	ARRAY['t_pm9223372036854775808 FROM (''-9223372036854775808'') TO (''-9223372036854000000'') 1',
		  't_p9223372036854000000 FROM (''9223372036854000000'') TO (MAXVALUE) 2'],
	'bigint, to its ends');
SELECT results_eq($$SELECT * FROM pg_temp.made('bigint', '{25, 14}', NULL, 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (5) TO (15)')$$,
	ARRAY['t_a FROM (''5'') TO (''15'') 1', 't_p25 FROM (''25'') TO (''35'') 1'],
	'integers, width and origin of the existing partition');

-- Existing partitions give the width and the origin, and cut the holes
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-16}', NULL, 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-03'') TO (''2021-01-10'')')$$,
	ARRAY['t_a FROM (''2021-01-03 00:00:00'') TO (''2021-01-10 00:00:00'') 0',
		  't_p20210110 FROM (''2021-01-10 00:00:00'') TO (''2021-01-17 00:00:00'') 1'],
	'weeks that start on Sunday, from the existing one');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-30}', '1 week', 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-03'') TO (''2021-01-10'')')$$,
	ARRAY['t_a FROM (''2021-01-03 00:00:00'') TO (''2021-01-10 00:00:00'') 0',
		  't_p20210124 FROM (''2021-01-24 00:00:00'') TO (''2021-01-31 00:00:00'') 1'],
	'weeks that start on Sunday, though a width is given');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2022-02-01}', NULL, 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2020-04-01'') TO (''2021-04-01'')')$$,
	ARRAY['t_a FROM (''2020-04-01 00:00:00'') TO (''2021-04-01 00:00:00'') 0',
		  't_p202104 FROM (''2021-04-01 00:00:00'') TO (''2022-04-01 00:00:00'') 1'],
	'years that start in April, from the existing one');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-06-01}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-02-01'') TO (''2021-03-01'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2020-01-01'') TO (''2020-01-02'')')$$,
	ARRAY['t_a FROM (''2021-02-01 00:00:00'') TO (''2021-03-01 00:00:00'') 0',
		  't_b FROM (''2020-01-01 00:00:00'') TO (''2020-01-02 00:00:00'') 0',
		  't_p202106 FROM (''2021-06-01 00:00:00'') TO (''2021-07-01 00:00:00'') 1'],
	'the highest existing partition decides');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-01 05:00}', NULL, 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-01 00:30'') TO (''2021-01-01 01:30'')')$$,
	ARRAY['t_a FROM (''2021-01-01 00:30:00'') TO (''2021-01-01 01:30:00'') 0',
		  't_p20210101_0430 FROM (''2021-01-01 04:30:00'') TO (''2021-01-01 05:30:00'') 1'],
	'hours that start at half past');
SET LOCAL timezone = 'Europe/Berlin';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-03-28 12:00}', NULL, 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-01'') TO (''2021-01-02'')')$$,
	ARRAY['t_a FROM (''2021-01-01 00:00:00+01'') TO (''2021-01-02 00:00:00+01'') 0',
		  't_p20210328 FROM (''2021-03-28 00:00:00+01'') TO (''2021-03-29 00:00:00+02'') 1'],
	'existing days are local days, whatever their length');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-07-03 12:00}', NULL, 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-01 00:00+00'') TO (''2021-01-02 00:00+00'')')$$,
	ARRAY['t_a FROM (''2021-01-01 01:00:00+01'') TO (''2021-01-02 01:00:00+01'') 0',
		  't_p20210703 FROM (''2021-07-03 02:00:00+02'') TO (''2021-07-04 02:00:00+02'') 1'],
	'existing days of another zone go on in that zone');
SET LOCAL timezone = 'America/New_York';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2024-03-31 23:59:59+00, 2024-04-10, 2023-07-01 00:00+00}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00+00'') TO (''2024-02-01 00:00+00'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2024-02-01 00:00+00'') TO (''2024-03-01 00:00+00'')')$$,
	ARRAY['t_a FROM (''2023-12-31 19:00:00-05'') TO (''2024-01-31 19:00:00-05'') 0',
		  't_b FROM (''2024-01-31 19:00:00-05'') TO (''2024-02-29 19:00:00-05'') 0',
		  't_p202307 FROM (''2023-06-30 20:00:00-04'') TO (''2023-07-31 20:00:00-04'') 1',
		  't_p202403 FROM (''2024-02-29 19:00:00-05'') TO (''2024-03-31 20:00:00-04'') 1',
		  't_p202404 FROM (''2024-03-31 20:00:00-04'') TO (''2024-04-30 20:00:00-04'') 1'],
	'months of UTC go on as months of UTC');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2024-04-10}', '1 month',
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00+00'') TO (''2024-02-01 00:00+00'')')$$,
	ARRAY['t_a FROM (''2023-12-31 19:00:00-05'') TO (''2024-01-31 19:00:00-05'') 0',
		  't_p202404 FROM (''2024-03-31 20:00:00-04'') TO (''2024-04-30 20:00:00-04'') 1'],
	'also if the width is said');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2024-04-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2023-10-01 00:00+00'') TO (''2024-01-01 00:00+00'')')$$,
	ARRAY['t_a FROM (''2023-09-30 20:00:00-04'') TO (''2023-12-31 19:00:00-05'') 0',
		  't_p202404 FROM (''2024-03-31 20:00:00-04'') TO (''2024-06-30 20:00:00-04'') 1'],
	'and quarters');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2025-04-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00+00'') TO (''2025-01-01 00:00+00'')')$$,
	ARRAY['t_a FROM (''2023-12-31 19:00:00-05'') TO (''2024-12-31 19:00:00-05'') 0',
		  't_p2025 FROM (''2024-12-31 19:00:00-05'') TO (''2025-12-31 19:00:00-05'') 1'],
	'and years');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2024-05-10 00:00+02, 2024-12-10 00:00+01}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00+01'') TO (''2024-02-01 00:00+01'')')$$,
	ARRAY['t_a FROM (''2023-12-31 18:00:00-05'') TO (''2024-01-31 18:00:00-05'') 0',
		  't_p202405 FROM (''2024-04-30 18:00:00-04'') TO (''2024-05-31 18:00:00-04'') 1',
		  't_p202412 FROM (''2024-11-30 18:00:00-05'') TO (''2024-12-31 18:00:00-05'') 1'],
	'months of the zone that the role, the database or the server is set to');
SET LOCAL timezone = 'Europe/London';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2024-08-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00+00'') TO (''2024-02-01 00:00+00'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2023-06-01 00:00+00'') TO (''2023-07-01 00:00+00'')')$$,
	ARRAY['t_a FROM (''2024-01-01 00:00:00+00'') TO (''2024-02-01 00:00:00+00'') 0',
		  't_b FROM (''2023-06-01 01:00:00+01'') TO (''2023-07-01 01:00:00+01'') 0',
		  't_p202408 FROM (''2024-08-01 01:00:00+01'') TO (''2024-09-01 01:00:00+01'') 1'],
	'the zone is the one of all partitions, and not of the highest alone');
-- What no zone explains is refused where a partition is missing
SET LOCAL timezone = 'UTC';
SELECT throws_ok($$SELECT * FROM pg_temp.made('timestamptz', '{2024-05-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00-07'') TO (''2024-02-01 00:00-07'')')$$,
	'22023', 'could not tell how wide new partitions of table "t" should be', 'months of an unknown zone');
SELECT throws_ok($$SELECT * FROM pg_temp.made('timestamptz', '{2024-05-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-03-10 00:00-07'') TO (''2024-03-11 00:00-06'')')$$,
	'22023', 'could not tell how wide new partitions of table "t" should be', 'a day of 23 hours of an unknown zone');
SELECT throws_ok($$SELECT * FROM pg_temp.made('timestamptz', '{2024-05-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00-07'') TO (''2024-01-08 00:00-07'')')$$,
	'22023', 'could not tell how wide new partitions of table "t" should be', 'a week of an unknown zone, without a change of clocks');
SELECT throws_ok($$SELECT * FROM pg_temp.made('timestamp', '{2021-05-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-31'') TO (''2021-02-28'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2021-02-28'') TO (''2021-03-31'')')$$,
	'22023', 'could not tell how wide new partitions of table "t" should be', 'months that end where not all do');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2024-01-10}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2024-01-01 00:00-07'') TO (''2024-02-01 00:00-07'')')$$,
	ARRAY['t_a FROM (''2024-01-01 07:00:00+00'') TO (''2024-02-01 07:00:00+00'') 1'],
	'but not if no partition is missing');
SELECT pg_temp.fresh('timestamptz') \g /dev/null
CREATE TABLE t_a PARTITION OF t FOR VALUES FROM ('2024-01-01 00:00-07') TO ('2024-02-01 00:00-07');
SELECT format('COPY (SELECT %L, 1) TO %L (FORMAT csv)', '2024-05-10', current_setting('fc.file')) \gexec
SELECT isnt(count(*), 0::bigint, 'which fast_copy_analyze tells')
FROM fast_copy_analyze('t', current_setting('fc.file')) AS a WHERE a::text LIKE '%could not tell how wide new partitions%';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-03-20, 2020-12-14}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-15'') TO (''2021-02-15'')')$$,
	ARRAY['t_a FROM (''2021-01-15 00:00:00'') TO (''2021-02-15 00:00:00'') 0',
		  't_p20201115 FROM (''2020-11-15 00:00:00'') TO (''2020-12-15 00:00:00'') 1',
		  't_p20210315 FROM (''2021-03-15 00:00:00'') TO (''2021-04-15 00:00:00'') 1'],
	'months from the 15th');
SELECT results_eq($$SELECT * FROM pg_temp.made('date', '{2021-06-20}', NULL,
		'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-08'') TO (''2021-02-05'')',
		'CREATE TABLE t_b PARTITION OF t FOR VALUES FROM (''2021-02-05'') TO (''2021-03-05'')')$$,
	ARRAY['t_a FROM (''2021-01-08'') TO (''2021-02-05'') 0', 't_b FROM (''2021-02-05'') TO (''2021-03-05'') 0',
		  't_p20210528 FROM (''2021-05-28'') TO (''2021-06-25'') 1'],
	'four weeks, of which one looks like a month');
SET LOCAL timezone = 'UTC';
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-01 13:00, 2021-01-01 06:00, 2021-01-01 10:00}', '1 day', 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-01 08:00'') TO (''2021-01-01 12:30'')')$$,
	ARRAY['t_a FROM (''2021-01-01 08:00:00'') TO (''2021-01-01 12:30:00'') 1',
		  't_p20210101 FROM (''2021-01-01 00:00:00'') TO (''2021-01-01 08:00:00'') 1',
		  't_p20210101_1230 FROM (''2021-01-01 12:30:00'') TO (''2021-01-02 00:00:00'') 1'],
	'a day is cut to the holes around an existing partition');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-31}', '1 month', 'CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (''2021-01-05'') TO (''2021-01-10 00:00:00.000001'')')$$,
	ARRAY['t_a FROM (''2021-01-05 00:00:00'') TO (''2021-01-10 00:00:00.000001'') 0',
		  't_p20210110_000000_000001 FROM (''2021-01-10 00:00:00.000001'') TO (''2021-02-01 00:00:00'') 1'],
	'a cut lower bound is told as finely as it must be');
SELECT results_eq($$SELECT * FROM pg_temp.made('bigint', '{-5, 7, 12, 100}', '10',
		'CREATE TABLE t_lo PARTITION OF t FOR VALUES FROM (MINVALUE) TO (5)',
		'CREATE TABLE t_hi PARTITION OF t FOR VALUES FROM (15) TO (MAXVALUE)')$$,
	ARRAY['t_lo FROM (MINVALUE) TO (''5'') 1', 't_hi FROM (''15'') TO (MAXVALUE) 1',
		  't_p5 FROM (''5'') TO (''10'') 1', 't_p10 FROM (''10'') TO (''15'') 1'],
	'between MINVALUE and MAXVALUE');
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-01, -infinity, infinity, 1999-01-01, 2050-01-01}', NULL,
		'CREATE TABLE t_lo PARTITION OF t FOR VALUES FROM (MINVALUE) TO (''2000-01-01'')',
		'CREATE TABLE t_hi PARTITION OF t FOR VALUES FROM (''2030-01-01'') TO (MAXVALUE)')$$,
	ARRAY['t_lo FROM (MINVALUE) TO (''2000-01-01 00:00:00'') 2',
		  't_hi FROM (''2030-01-01 00:00:00'') TO (MAXVALUE) 2',
		  't_p20210101 FROM (''2021-01-01 00:00:00'') TO (''2021-01-02 00:00:00'') 1'],
	'infinite keys go to MINVALUE and MAXVALUE');

-- Keys without a partition of their own
SELECT results_eq($$SELECT * FROM pg_temp.made('timestamptz', '{2021-01-01, -infinity, infinity, NULL}', NULL, 'CREATE TABLE t_def PARTITION OF t DEFAULT')$$,
	ARRAY['t_def DEFAULT 3',
		  't_p20210101 FROM (''2021-01-01 00:00:00+00'') TO (''2021-01-02 00:00:00+00'') 1'],
	'NULL and infinite keys go to the default partition');
SELECT results_eq($$SELECT * FROM pg_temp.made('date', '{2021-01-01, -infinity, infinity, NULL}', NULL, 'CREATE TABLE t_def PARTITION OF t DEFAULT')$$,
	ARRAY['t_def DEFAULT 3',
		  't_p20210101 FROM (''2021-01-01'') TO (''2021-01-02'') 1'],
	'NULL and infinite dates go to the default partition');
SELECT pg_temp.fresh('timestamp') \g /dev/null
SELECT throws_ok($$SELECT pg_temp.load('t', '{2021-01-01, NULL}')$$, '23514', NULL, 'NULL key and no default partition');
SELECT throws_ok($$SELECT pg_temp.load('t', '{2021-01-01, infinity}')$$, '23514', NULL, 'infinite key and no default partition');
SELECT throws_ok($$SELECT pg_temp.load('t', '{-infinity}')$$, '23514', NULL, 'infinitely early key and no default partition');
SELECT is_empty($$SELECT * FROM pg_temp.parts('t')$$, 'a failed load leaves no partition');
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
SELECT results_eq($$SELECT * FROM pg_temp.parts('t')$$,
	ARRAY['t_def DEFAULT 5',
		  't_p20210102 FROM (''2021-01-02 00:00:00+00'') TO (''2021-01-03 00:00:00+00'') 1',
		  't_p20210104 FROM (''2021-01-04 00:00:00+00'') TO (''2021-01-05 00:00:00+00'') 1'],
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
SELECT throws_ok(format('SELECT * FROM pg_temp.made(%L, %L, %L)', type, keys, width), '22023', NULL,
	format('%s: %s', type, width))
FROM (VALUES ('timestamp', '{2021-01-01}', '1 day 12:00'), ('timestamp', '{2021-01-01}', '1 month 1 day'),
	('timestamp', '{2021-01-01}', '0'), ('timestamptz', '{2021-01-01}', '-1 day'),
	('timestamptz', '{2021-01-01}', '2000000000 days'), ('date', '{2021-01-01}', '1 hour'),
	('date', '{2021-01-01}', '36 hours'), ('bigint', '{1}', '1 day'), ('bigint', '{1}', '0'),
	('bigint', '{1}', '-5'), ('bigint', '{1}', '99999999999999999999')) x (type, keys, width);
SELECT throws_ok($$SELECT * FROM pg_temp.made('integer', '{1}')$$, '22023', NULL, 'integers need a width');
SELECT throws_ok($$SELECT * FROM pg_temp.made('timestamp', '{2021-01-01}', 'fortnight')$$, '22007', NULL, 'no interval at all');

-- Names
SELECT results_eq($$SELECT * FROM pg_temp.made('date', '{2021-01-01}', NULL, 'CREATE TABLE t_p20210101 ()', 'CREATE TYPE t_p20210101_1 AS ENUM ()')$$,
	ARRAY['t_p20210101_2 FROM (''2021-01-01'') TO (''2021-01-02'') 1'],
	'names in use are avoided');
DROP TABLE t, t_p20210101;
DROP TYPE t_p20210101_1;

SELECT set_config('fc.name', repeat('日', 21), true) \g /dev/null
DO $$
BEGIN
	EXECUTE format('CREATE TABLE %I (k date, n int) PARTITION BY RANGE (k)', current_setting('fc.name'));
END
$$;
SELECT is(pg_temp.load(current_setting('fc.name')::regclass, '{2021-01-01, 2021-01-02}'), 2::bigint, 'loads into a name of 63 bytes');
SELECT results_eq($$SELECT * FROM pg_temp.parts(current_setting('fc.name')::regclass)$$,
	ARRAY[repeat('日', 17) || '_p20210101 FROM (''2021-01-01'') TO (''2021-01-02'') 1',
		  repeat('日', 17) || '_p20210102 FROM (''2021-01-02'') TO (''2021-01-03'') 1'],
	'long names are cut between characters');
DO $$
BEGIN
	EXECUTE format('CREATE TABLE %I (k date, n int) PARTITION BY RANGE (k)', repeat('日', 20) || 'b');
END
$$;
SELECT is(pg_temp.load((repeat('日', 20) || 'b')::regclass, '{2021-01-01}'), 1::bigint, 'loads into a name like it');
SELECT results_eq($$SELECT * FROM pg_temp.parts((repeat('日', 20) || 'b')::regclass)$$,
	ARRAY[repeat('日', 17) || '_p20210101_1 FROM (''2021-01-01'') TO (''2021-01-02'') 1'],
	'names cut to the same beginning stay apart');

CREATE SCHEMA "s"".o;dd";
CREATE TABLE "s"".o;dd"."a""b; drop table x; --" ("k;'""k" timestamptz, n int, CONSTRAINT "fast_copy" CHECK (n > 0), UNIQUE (n, "k;'""k"))
	PARTITION BY RANGE ("k;'""k");
CREATE TABLE "s"".o;dd"."d'""efault" PARTITION OF "s"".o;dd"."a""b; drop table x; --" DEFAULT;
INSERT INTO "s"".o;dd"."a""b; drop table x; --" VALUES (NULL, 99);
SELECT is(pg_temp.load('"s"".o;dd"."a""b; drop table x; --"', '{2021-01-01 05:00}'), 1::bigint, 'loads into an odd name');
SELECT results_eq($$SELECT * FROM pg_temp.parts('"s"".o;dd"."a""b; drop table x; --"')$$,
	ARRAY['d''"efault DEFAULT 1',
		  'a"b; drop table x; --_p20210101 FROM (''2021-01-01 00:00:00+00'') TO (''2021-01-02 00:00:00+00'') 1'],
	'odd names are quoted');
SELECT is((SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'a"b; drop table x; --_p20210101'),
	'"s"".o;dd"', 'partitions are made in the schema of their parent');

-- Savepoints and handlers
SELECT pg_temp.fresh('date') \g /dev/null
SAVEPOINT here;
SELECT pg_temp.load('t', '{2021-01-01}') \g /dev/null
ROLLBACK TO here;
SELECT is_empty($$SELECT * FROM pg_temp.parts('t')$$, 'a savepoint takes partitions back');
SELECT is(pg_temp.load('t', '{2021-01-01}'), 1::bigint, 'and the load can be repeated');
SELECT is(pg_temp.load('t', '{2021-01-01}'), 1::bigint, 'into a partition made by this transaction');
SELECT results_eq($$SELECT * FROM pg_temp.parts('t')$$,
	ARRAY['t_p20210101 FROM (''2021-01-01'') TO (''2021-01-02'') 2'], 'which takes both rows');

-- Temporary parents have temporary partitions
CREATE TEMP TABLE temp_parent (k date, n int) PARTITION BY RANGE (k);
SELECT is(pg_temp.load('temp_parent', '{2021-01-01}'), 1::bigint, 'loads into a temporary table');
SELECT is((SELECT relpersistence FROM pg_class WHERE oid = 'pg_temp.temp_parent_p20210101'::regclass), 't'::"char",
	'its partition is temporary');

SELECT * FROM finish();
ROLLBACK;
