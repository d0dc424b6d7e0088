-- Widths and ranges of new partitions: random ones against what must be true of all, and
-- against date_trunc, then those at the ends of types and of epochs, by hand.
--
-- By hand with more of them, and others:
--   PGOPTIONS='-c fc.cases=50000 -c fc.seed=0.7' make installcheck
\pset format unaligned
SET datestyle = 'ISO, MDY';
SET intervalstyle = 'postgres';

CREATE FUNCTION pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT choices[1 + floor(random() * cardinality(choices))::int]
$$;

-- A key of a type: of some years, of nights in which clocks change, and of the ends
CREATE FUNCTION random_key(type regtype) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF type IN ('smallint'::regtype, 'integer', 'bigint') THEN
		RETURN CASE WHEN random() < 0.2 THEN
			CASE type WHEN 'smallint'::regtype THEN pick('-32768', '32767', '32766') WHEN 'integer'::regtype THEN pick('-2147483648', '2147483647', '-2147483647')
				ELSE pick('-9223372036854775808', '9223372036854775807', '9223372036854775806') END
			ELSE floor((random() - 0.3) * 10 ^ (1 + floor(random() * CASE type WHEN 'smallint'::regtype THEN 4 WHEN 'integer'::regtype THEN 9 ELSE 18 END)))::bigint::text END;
	END IF;
	IF random() < 0.1 THEN
		RETURN CASE type WHEN 'date'::regtype THEN pick('4713-11-24 BC', '5874897-12-31', 'infinity', '-infinity', '0001-12-31 BC')
			ELSE pick('4713-11-24 00:00:00+00 BC', '294276-12-31 23:59:59.999999+00', 'infinity', '-infinity', '4713-11-25 05:00:00 BC') END;
	END IF;
	RETURN pick('2024-03-10', '2024-03-31', '2024-10-27', '2024-11-03', '2024-04-07', '2024-02-29', (date '1990-01-01' + floor(random() * 20000)::int)::text)
		|| CASE WHEN type <> 'date'::regtype THEN pick(' 00:00', ' 01:30', ' 02:00', ' 03:00', ' 23:59:59.999999', to_char(interval '1 second' * (random() * 86399), ' HH24:MI:SS')) ELSE '' END;
END
$$;

-- Ranges that are there: none, or some that follow each other, with and without holes
CREATE FUNCTION random_ranges(type regtype, OUT los text[], OUT his text[]) LANGUAGE plpgsql AS $$
DECLARE
	step text := CASE WHEN type IN ('smallint'::regtype, 'integer', 'bigint') THEN pick('1', '10', '7', '1000')
		WHEN type = 'date'::regtype THEN pick('1 day', '7 days', '1 month', '3 months', '1 year', '30 days')
		ELSE pick('1 hour', '1 day', '7 days', '1 month', '3 months', '15 minutes', '6 hours', '5 hours', '36 hours', '30 days 01:00', '1 year') END;
	lo text := CASE WHEN type IN ('smallint'::regtype, 'integer', 'bigint') THEN pick('0', '-30', '5000') WHEN type = 'date'::regtype
		THEN pick('2024-01-01', '2024-01-15', '2024-02-29') ELSE pick('2024-01-01', '2024-03-01', '2024-03-09 23:00', '2024-10-26', '2024-02-29 12:00+00', '2024-03-01 00:00+00') END;
	hi text;
	cast_step text := CASE WHEN type IN ('smallint'::regtype, 'integer', 'bigint') THEN 'integer' ELSE 'interval' END;
BEGIN
	los := '{}'; his := '{}';
	IF random() < 0.4 THEN
		RETURN;
	END IF;
	FOR i IN 1 .. 1 + floor(random() * 5)::int LOOP
		EXECUTE format('SELECT (%L::%s + %L::%s)::%s::text', lo, type, step, cast_step, type) INTO hi;
		IF random() < 0.8 THEN
			los := los || CASE WHEN i = 1 AND random() < 0.1 THEN NULL ELSE lo END;
			his := his || CASE WHEN i = 5 AND random() < 0.5 THEN NULL ELSE hi END;
		END IF;
		lo := hi;
	END LOOP;
END
$$;

-- What must be true of the range of any key; NULL, or what is not
CREATE FUNCTION wrong(type regtype, los text[], his text[], width text, key text, epoch bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	got record;
	next record;
	same record;
	others int;
BEGIN
	got := fc_key_range(type, los, his, width, key, epoch);
	IF got.hi = 'the first after -infinity' THEN
		RETURN CASE WHEN got.lo <> key OR key <> '-infinity' THEN 'an infinity has other keys beside it' END;
	END IF;
	EXECUTE format($q$SELECT count(*) FROM unnest($1, $2) AS t (lo, hi)
		WHERE ($3 IS NULL OR hi IS NULL OR $3::%1$s < hi::%1$s) AND ($4 IS NULL OR lo IS NULL OR lo::%1$s < $4::%1$s)$q$, type) INTO others USING los, his, got.lo, got.hi;
	IF others <> got.there::int THEN
		RETURN format('it overlaps %s ranges', others);
	END IF;
	EXECUTE format('SELECT ($1 IS NULL OR $1::%1$s <= $2::%1$s) AND ($3 IS NULL OR $2::%1$s < $3::%1$s) AS has, %2$s AS ends', type,
		CASE WHEN type IN ('smallint'::regtype, 'integer', 'bigint') THEN 'false' ELSE format('NOT isfinite($2::%s)', type) END)
		INTO same USING got.lo, key, got.hi;
	IF NOT same.has THEN
		RETURN 'the key is not in it';
	ELSIF same.ends THEN
		RETURN CASE WHEN got.lo IS DISTINCT FROM key AND NOT got.there THEN 'an infinity has other keys beside it' END;
	END IF;
	IF got.lo IS NOT NULL AND got.lo <> '-infinity' AND fc_key_range(type, los, his, width, got.lo, epoch) IS DISTINCT FROM got THEN
		RETURN format('its first key is of %s', fc_key_range(type, los, his, width, got.lo, epoch));
	END IF;
	IF got.hi IS NOT NULL AND got.hi <> 'infinity' THEN
		next := fc_key_range(type, los, his, width, got.hi, epoch);
		RETURN CASE WHEN next.lo IS DISTINCT FROM got.hi THEN format('the next one is %s', next) END;
	END IF;
	RETURN NULL;
END
$$;

-- What SQL makes of a key of a table without partitions, if it is another start; NULL
-- where that is not simple, too
CREATE FUNCTION by_sql(type regtype, width text, key text, got text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	same bool;
BEGIN
	IF type IN ('smallint'::regtype, 'integer', 'bigint') THEN
		said := greatest(key::numeric - ((key::numeric % width::numeric) + width::numeric) % width::numeric,
			CASE type WHEN 'smallint'::regtype THEN -32768 WHEN 'integer'::regtype THEN -2147483648 ELSE -9223372036854775808 END)::text;
		-- the last bigint is a bound, and so the start of no range
		RETURN CASE WHEN said <> '9223372036854775807' THEN nullif(said, got) END;
	END IF;
	EXECUTE format($q$SELECT CASE WHEN NOT isfinite($1::%1$s) OR $1::%1$s NOT BETWEEN '1000-01-01' AND '9000-01-01' THEN NULL
		WHEN $2 = '7 days' THEN date_trunc('week', $1::%1$s) WHEN $2 IN ('1 day', '24 hours') THEN date_trunc('day', $1::%1$s) WHEN $2 = '1 month' THEN date_trunc('month', $1::%1$s)
		WHEN $2 = '3 months' THEN date_trunc('quarter', $1::%1$s) WHEN $2 = '1 year' THEN date_trunc('year', $1::%1$s)
		WHEN $2 = '1 hour' AND '%1$s' <> 'timestamp with time zone' THEN date_trunc('hour', $1::%1$s) END::%1$s::text$q$, type) INTO said USING key, width;
	EXECUTE format('SELECT $1::%1$s = $2::%1$s', type) INTO same USING said, got;
	RETURN CASE WHEN NOT same THEN said END;
END
$$;

DO $$
DECLARE
	type regtype;
	width text;
	key text;
	zone text;
	epoch bigint;
	los text[];
	his text[];
	bad text;
	got record;
	n int := 0;
BEGIN
	PERFORM setseed(coalesce(nullif(current_setting('fc.seed', true), ''), '0.3')::float8);
	FOR i IN 1 .. coalesce(nullif(current_setting('fc.cases', true), ''), '3000')::int LOOP
		type := pick('timestamp', 'timestamptz', 'timestamptz', 'date', 'smallint', 'integer', 'bigint')::regtype;
		zone := pick('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Pacific/Apia');
		PERFORM set_config('timezone', zone, true);
		width := CASE WHEN type IN ('smallint'::regtype, 'integer', 'bigint') THEN pick('1', '10', '7', '1000', '1000000', '4000000000', '9223372036854775807')
			WHEN type = 'date'::regtype THEN pick('1 day', '7 days', '10 days', '1 month', '3 months', '1 year', '100 years', '24 hours')
			ELSE pick('1 hour', '3 hours', '15 minutes', '7 minutes', '12 hours', '90 minutes', '5 hours', '1 day', '7 days', '10 days', '1 month', '3 months', '1 year', '100 years', '24 hours', '1 microsecond') END;
		SELECT * INTO los, his FROM random_ranges(type);
		IF cardinality(los) > 0 AND random() < 0.5 AND type NOT IN ('smallint'::regtype, 'integer', 'bigint') THEN
			width := NULL;
		END IF;
		key := random_key(type);
		epoch := NULL;
		IF type IN ('integer'::regtype, 'bigint') AND random() < 0.4 THEN
			epoch := pick('1', '1000', '1000000', '1000000000');
			width := pick('1 hour', '1 day', '7 days', '1 month', '1 year', '90 minutes');
		END IF;
		bad := wrong(type, los, his, width, key, epoch);
		got := fc_key_range(type, los, his, width, key, epoch);
		IF bad IS NULL AND cardinality(los) = 0 AND epoch IS NULL THEN
			bad := 'SQL says it is from ' || by_sql(type, width, key, got.lo);
		END IF;
		IF bad IS NOT NULL AND n < 10 THEN
			n := n + 1;
			RAISE NOTICE '% % in %, ranges % to %, width %, epoch %: %, %', type, key, zone, los, his, width, epoch, got, bad;
		END IF;
	END LOOP;
END
$$;
SET timezone = 'UTC';

-- ---- epochs ---------------------------------------------------------------------

-- Keys that count time from 1970: at the ends of bigint and integer, of moments, and around
SELECT unit, key, (r).* FROM (VALUES (1), (1000), (1000000), (1000000000)) AS u (unit),
	LATERAL (VALUES ('-9223372036854775808'), ('9223372036854775807'), ('-9223372036854775'), ('0'), ('1700000000'), ('1700000000000'), ('253402300800'), ('9224318015999'), ('9224318016000'),
		('-210866803200'), ('-210866803201')) AS k (key),
	LATERAL (SELECT fc_key_range('bigint', NULL, NULL, '1 month', key, unit)) AS f (r);
SELECT key, (r).* FROM (VALUES ('-2147483648'), ('2147483647'), ('0'), ('-1')) AS k (key), LATERAL (SELECT fc_key_range('integer', NULL, NULL, '1 day', key, 1, 'Europe/Berlin')) AS f (r);
SELECT fc_key_width('bigint', '{1704067200,1706745600}', '{1706745600,1709251200}', '1 month', 1, 'UTC');
SELECT fc_key_width('bigint', '{1704067200,1706745600}', '{1706745600,1709337600}', '1 month', 1, 'UTC');
SELECT fc_key_width('bigint', '{-9223372036854775808}', '{0}', '1 day', 1, 'UTC');
SELECT fc_key_width('bigint', '{}', '{}', '1.5 seconds', 1, 'UTC');
SELECT fc_key_lines_up('bigint', '{1704067200}', '{1706745600}', width, 1, 'UTC'), fc_key_lines_up('bigint', '{1704067201}', '{1706745600}', width, 1, 'UTC'),
	fc_key_lines_up('bigint', '{1704067200}', '{1706745601}', width, 1, 'UTC'), fc_key_lines_up('bigint', '{NULL}', '{1706745600}', width, 1, 'UTC'), width
FROM (VALUES ('1 month'), ('1 day'), ('2 hours')) AS w (width);
SELECT fc_key_lines_up('timestamptz', ARRAY[lo], ARRAY[hi], '1 month', NULL, zone), lo, hi, zone FROM (VALUES ('2024-01-01 00:00+00', '2024-02-01 00:00+00', 'UTC'),
	('2024-01-15 00:00+00', '2024-02-15 00:00+00', 'UTC'), ('2024-01-01 00:00+01', '2024-02-01 00:00+01', 'Europe/Berlin'), ('2024-01-01 00:00+01', '2024-02-01 00:00+01', 'UTC')) AS r (lo, hi, zone);

-- ---- widths by ranges ---------------------------------------------------------------

-- the last range, or one that tells more, is the width; in the zone in which it is regular
CREATE FUNCTION by_ranges(type regtype, VARIADIC bounds text[]) RETURNS text LANGUAGE sql AS $$
SELECT fc_key_width(type, bounds[: cardinality(bounds) - 1], bounds[2 :], NULL)
$$;
SET timezone = 'Europe/Berlin';
SELECT what, by_ranges(type::regtype, VARIADIC bounds) FROM (VALUES
	('a day', 'timestamptz', '{2024-03-30,2024-03-31}'::text[]),
	('the night in which clocks change', 'timestamptz', '{2024-03-31,2024-04-01}'),
	('days of UTC', 'timestamptz', '{2024-03-30 00:00+00,2024-03-31 00:00+00}'),
	('days of Kolkata, which no setting has', 'timestamptz', '{2024-03-30 00:00+05:30,2024-03-31 00:00+05:30}'),
	('a month', 'date', '{2024-01-01,2024-02-01}'),
	('31 days, and then 31 that are no month', 'date', '{2024-01-15,2024-02-15,2024-03-17}'),
	('30 days that end on a 31st', 'date', '{2024-01-01,2024-01-31}'),
	('90 of them', 'date', '{2024-01-01,2024-03-31}'),
	('months from the 29th on', 'date', '{2024-01-29,2024-02-29}'),
	('30 days and 31', 'date', '{2024-01-02,2024-02-01,2024-03-03}'),
	('45 days and 46', 'date', '{2024-01-02,2024-02-16,2024-04-02}'),
	('50 days and 51', 'date', '{2024-01-02,2024-02-21,2024-04-12}'),
	('31 days and 61', 'date', '{2024-01-02,2024-02-02,2024-04-03}'),
	('months and a year', 'date', '{2024-01-01,2024-02-01,2025-02-01}'),
	('a month with an hour', 'timestamp', '{2024-01-01 01:00,2024-02-01 01:00}'),
	('hours', 'timestamptz', '{2024-03-30 22:00,2024-03-30 23:00}'),
	('hours of the night', 'timestamptz', '{2024-03-30 18:00,2024-03-31 00:00,2024-03-31 06:00}'),
	('of no zone', 'timestamptz', '{2024-03-30 00:07,2024-03-31 00:07}'),
	('five hours', 'timestamptz', '{2024-03-30 00:00,2024-03-30 05:00,2024-03-30 10:00}'),
	('two widths', 'timestamp', '{2024-03-30 00:00,2024-03-30 06:00,2024-03-30 12:00,2024-03-31 12:00}'),
	('integers', 'bigint', '{0,1000,3000}'),
	('more than a bigint', 'bigint', '{-9223372036854775808,9223372036854775807}')) AS c (what, type, bounds);
SELECT fc_key_width('date', '{2024-01-01,2024-01-03}', '{2024-01-03,2024-02-03}', '2 days');
SELECT fc_key_width('timestamptz', '{2024-03-30 00:07}', '{2024-03-31 00:07}', '1 day');
SELECT fc_key_width('date', '{NULL,2024-01-03}', '{2024-01-03,infinity}', '2 days');
SELECT fc_key_width('date', '{-infinity}', '{2024-01-03}', NULL);

-- what is none
CREATE FUNCTION refusal(type regtype, width text, epoch bigint DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	RETURN fc_key_width(type, NULL, NULL, width, epoch);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', sqlstate, sqlerrm, nullif(detail, ''), hint);
END
$$;
SELECT refusal(type::regtype, width, epoch) FROM (VALUES ('bigint', 'x', NULL::bigint), ('bigint', '', NULL), ('bigint', '10 ', NULL), ('bigint', '10 x', NULL), ('bigint', '99999999999999999999', NULL), ('bigint', '0', NULL), ('bigint', '-1', NULL), ('bigint', NULL, NULL),
	('date', '1 hour', NULL), ('date', '48 hours', NULL), ('date', '1 month 1 day', NULL), ('timestamp', '-1 day', NULL), ('timestamp', '1 day 1 hour', NULL), ('timestamp', '0', NULL),
	('timestamp', '2147483647 days', NULL), ('timestamp', 'many', NULL), ('timestamp', NULL, NULL), ('bigint', '0.5 seconds', 1)) AS w (type, width, epoch);
SELECT refusal('timestamp', '999999999999999999 years') ~ '^22.*out of range' AND refusal('timestamp', '999999999999999999 years') !~ 'Give a width' AS "only what is no interval has the hint";

-- ---- ranges within bounds, and what fits ------------------------------------------------

SELECT lo, hi, fc_key_others('date', '{NULL,2024-01-02,2024-01-05}', '{2024-01-02,2024-01-05,NULL}', lo, hi) FROM (VALUES (NULL, NULL), ('2024-01-02', '2024-01-05'), ('2024-01-01', NULL), (NULL, '2024-01-05'), ('2024-01-03', '2024-01-09')) AS b (lo, hi);
SELECT type, lo, hi, bytes, fc_key_fit(type::regtype, lo, hi, bytes) FROM (VALUES ('date', '2024-01-01', '2024-01-01'), ('date', '1900-01-01', '2024-01-01'), ('timestamp', '2024-01-01', '2024-01-03'), ('timestamptz', '1970-01-01', '2024-01-01'), ('timestamptz', '2023-01-01', '2024-12-31'),
		('timestamp', '0100-01-01', '9999-01-01'), ('bigint', '-9223372036854775808', '9223372036854775807'), ('integer', '1', '100')) AS k (type, lo, hi),
	(VALUES (0::bigint), (1000), (50000000), (1000000000), (5000000000000)) AS b (bytes);
