-- Patterns of timestamp_format, compared with to_timestamp and with values
-- worked out by hand.
\pset format unaligned
SET datestyle = 'ISO, MDY';
SET timezone = 'Europe/Berlin';

CREATE FUNCTION shown(pattern text, value text) RETURNS TABLE(kind text, tz text, ts text, d text) LANGUAGE sql AS $$
SELECT fc_pattern_kind(pattern), fc_pattern_test(pattern, 'timestamptz', value),
	fc_pattern_test(pattern, 'timestamp', value), fc_pattern_test(pattern, 'date', value)
$$;

-- The style of the time-series databases
SELECT p, s.* FROM (VALUES
	('yyyy-MM-ddTHH:mm:ss.SSSUUUZ', '2024-03-01T23:34:56.123456Z'),
	('yyyy-MM-ddTHH:mm:ss.', '2024-03-01T12:34:56.'),
	('yyyy-MM-dd HH:mm:ss', '2024-03-01 12:34:56'),
	('yyyy-MM-dd HH mm ss', '2024-03-01 12 34 56'),
	('yyyy-MM-dd', '2024-03-01'),
	('yyyyMMddHHmmss', '20240301123456'),
	('yyyy-MM-dd''T''HH:mm:ss.N+x', '2024-03-01T12:34:56.123456499+0530'),
	('yyyy-MM-ddTHH:mm:ss.SSSUUUN', '2024-03-01T12:34:56.1234565'),
	('yyyy-MM-ddTHH:mm:ss.SSSUUUNNN', '2024-03-01T12:34:56.999999500'),
	('yyyy-MM-dd HH:mm:ss.SSSSSS', '2024-03-01 12:34:56.000123'),
	('yyyy-MM-dd HH:mm:ss.U+', '2024-03-01 12:34:56.5'),
	('yyyy-MM-dd HH:mm:ss.SX', '2024-03-01 12:34:56.05-01'),
	('EEE MMM d yyyy h:mm a z', 'fri March 1 2024 12:34 am PDT'),
	('d.M.yy ''o''''clock'' H', '1.3.24 o''clock 7'),
	('yyyy-MM-dd HH:mm:ss z', '2024-07-01 12:00:00 America/New_York'),
	('dd/MM/y', ' 01/03/2024 '))
	AS v(p, v), shown(p, v) AS s;

-- to_timestamp's
SELECT p, s.* FROM (VALUES
	('YYYY-MM-DD HH24:MI:SS.US', '2024-03-01 12:34:56.5'),
	('YYYY-MM-DD"T"HH24:MI:SS.FF3TZH:TZM', '2024-03-01T12:34:56.5-05:30'),
	('yyyy-mm-dd hh24:mi:ss', '2024-03-01 12:34:56'),
	('DD Mon YYYY HH12:MI PM TZ', '1 mar 2024 3:04 PM Europe/London'),
	('YYYY-MM-DD HH24:MI OF', '2024-03-01 12:34 Z'),
	('YYYYDDDSSSSS', '202406100001'),
	('IYYY-IW-ID', '2024-09-5'),
	('DDth Month YYYY', '1st March 2024'),
	('YYYY-MM-DD HH24:MI A.M.', '2024-03-01 12:34 p.m.'),
	('YYYY''MM''DD HH24', '2024''03''01 12'))
	AS v(p, v), shown(p, v) AS s;

-- Epochs are instants
SELECT p, s.* FROM (VALUES
	('epoch_s', '0'), ('epoch_s', '-0.0000005'), ('epoch_s', '+1709296496.1234567'), ('epoch_s', '1709296496'),
	('epoch_ms', '1709296496123'), ('epoch_us', '-1709296496123456'),
	('epoch_ns', '1709296496123456499'), ('epoch_ns', '1709296496123456500'), ('epoch_ns', '-1500'))
	AS v(p, v), shown(p, v) AS s;
SELECT count(*) AS epochs_that_differ FROM generate_series(-2000000000000, 4000000000000, 1234567891) AS n
WHERE fc_pattern_test('epoch_ms', 'timestamptz', n::text)::timestamptz IS DISTINCT FROM timestamptz 'epoch' + n * interval '1 ms'
	OR fc_pattern_test('epoch_us', 'timestamptz', n::text)::timestamptz IS DISTINCT FROM timestamptz 'epoch' + n * interval '1 us';

-- The type's precision
SELECT fc_pattern_test('yyyy-MM-dd HH:mm:ss.SSSSSS', t, '2024-12-31 23:59:59.999500', 3) FROM unnest('{timestamp,timestamptz}'::regtype[]) AS t;
SELECT fc_pattern_test('epoch_us', 'timestamp', '1709296496555555', 0);

-- Clocks that are changed: no such time, and the same time twice.  A timestamp
-- is what the file says.
SELECT v, fc_pattern_test(p, 'timestamptz', v) = v::timestamptz::text AS same, s.*
FROM (VALUES ('2024-03-31 02:30:00'), ('2024-10-27 02:30:00')) AS v(v), (VALUES ('yyyy-MM-dd HH:mm:ss'), ('YYYY-MM-DD HH24:MI:SS')) AS p(p), shown(p, v) AS s;
SELECT fc_pattern_test('yyyy-MM-dd HH:mm z', 'timestamptz', v) FROM unnest('{2024-10-27 02:30 CEST,2024-10-27 02:30 CET,2024-10-27 02:30 Europe/Berlin}'::text[]) AS v;

-- What does not match
SELECT p, v, fc_pattern_try(p, 'timestamptz', v) AS not_null FROM (VALUES
	('yyyy-MM-dd', '2024-3-01'), ('yyyy-MM-dd', '2024-03-01 '||'x'), ('yyyy-MM-dd', '24-03-01'), ('yyyy-MM-dd', ''),
	('yyyy-MM-dd', '2024-02-30'), ('yyyy-MM-dd', '0000-01-01'), ('yyyy-MM-dd', '2024-13-01'), ('yyyy-MM-dd', '2024-03-00'),
	('yyyy-MM-ddTHH:mm', '2024-03-01 00:00'), ('yyyy-MM-ddTHH:mm', '2024-03-01T24:00'), ('yyyy-MM-ddTHH:mm', '2024-03-01T23:60'),
	('yyyy-MM-dd hh:mm a', '2024-03-01 13:00 PM'), ('yyyy-MM-dd hh:mm a', '2024-03-01 00:00 AM'),
	('yyyy-MM-dd HH:mm:ss.SSS', '2024-03-01 00:00:00.1234'), ('yyyy-MM-dd HH:mm:ss.U+', '2024-03-01 00:00:00.'),
	('yyyy-MM-ddX', '2024-03-01+16'), ('yyyy-MM-ddX', '2024-03-01CET'), ('yyyy-MM-ddz', '2024-03-01Europe/Nowhere'),
	('YYYY-MM-DD', '2024/03/01'), ('YYYY-MM-DD', '2024-03-01 12:00'), ('YYYY-MM-DD', '2024-03'), ('YYYY-MM-DD', '13-03-01'),
	('YYYY-MM-DD HH12 Am', '2024-03-01 11 pm'), ('YYYYMMDD', '2024031'), ('YYYYMMDDHH24', '202403011'), ('YYYY-DDD', '2023-366'), ('YYYY-DDD', '2023-000'), ('J', '0'), ('YYYY-MM-DD', '294277-01-01'),
	('YYYY-MM-DD SSSSS', '2024-03-01 86400'), ('YYYY-MM-DD', 'infinity'),
	('TMMon DD YYYY', 'Aug 05 -969'), ('DDth MM YYYY', '5xx 08 2024'), ('IYYY-IW', '2024-+09'), ('IYYY-IW', '-2024-09'), ('JHH24', '246037003'),
	('YYYY-MM-DD HH24 TZ', '2024-01-01 00 ES1T'), ('yyyy-MM-dd HH z', '2024-01-01 00 UTC+2'),
	('epoch_s', ''), ('epoch_s', '-'), ('epoch_s', '1.'), ('epoch_s', '.5'), ('epoch_s', '1e9'), ('epoch_ms', '1.5'),
	('epoch_ms', '9223372036854775807'), ('epoch_us', '9223372036854775808'), ('epoch_ns', '99999999999999999999'))
	AS v(p, v) WHERE fc_pattern_try(p, 'timestamptz', v) IS NOT NULL;
SELECT fc_pattern_test('yyyy-MM-dd', 'date', '2024-02-30');
SELECT fc_pattern_test('yyyy-MM-dd', 'timestamp', '01.02.2024', 3);
SELECT fc_pattern_test('epoch_ms', 'timestamptz', 'yesterday');
SELECT fc_pattern_test('epoch_ms', 'timestamptz', '9223372036854775807');
SELECT fc_pattern_test('IYYY-IW', 'timestamptz', 'yesterday');
SELECT fc_pattern_test('IYYY-IW', 'date', '2024-09x');
SELECT fc_pattern_test('IYYY-IW', 'date', '1/2/2024');
SELECT fc_pattern_test('IYYY-IW-ID', 'date', '2024-09');
SELECT fc_pattern_test('A.M.', 'timestamptz', 'a.m.');

-- Patterns that are refused, each with a hint
CREATE FUNCTION refused(pattern text, type regtype DEFAULT 'timestamp') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	m text; d text; h text; state text;
BEGIN
	RETURN 'accepted: ' || coalesce(fc_pattern_try(pattern, type, 'x'), 'null');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE;
	RETURN format('%s %s | %s | %s', state, m, d, h);
END
$$;
SELECT refused(p) FROM unnest(ARRAY['', 'HH24:MI', 'epoch', 'epoch_h', 'yyyy-MM-DD', 'YYYY-MM-dd', 'yyyy-mm-dd', 'YYYY-MM-DD HH:MM:SS', 'YYYY-MM-DD HH:mm',
	'YYYY-MM-DDTHH24:MI:SS', 'yyyy-MM-dd hh:mm:ss', 'yyyy-MM-dd HH:mm a', 'yyyy-MM-dd mm:ss', 'yyyy-dd', 'yyyy-MM-dd HH:ss', 'yyyy-MM-dd HH:mm.SSS',
	'yyyy-MM-dd HH:mm:ss.UUU', 'yyyy-MM-dd HH:mm:ss.SSSNNN', 'yyyyy-MM-dd', 'yyyy-MM-dd at HH', 'yyyy-MM-dd ''T', 'YYYY-MM-DD "T', 'yyyy-MM-dd yy',
	'YYYY-MM-DD TZM', 'YYYY-MM-DD AM', 'DD.MM.', 'yyyy-MM-ddZz', 'YYYY"-"DDth_MM']) AS p;
SELECT refused('epoch_ms', t) FROM unnest('{bigint,text,time,interval}'::regtype[]) AS t;

-- Every value that the steps accept is what core makes of it: random moments as
-- to_char writes them, half of them spoilt.  Core takes more.
CREATE FUNCTION spoilt(s text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p int := 1 + floor(random() * greatest(length(s), 1));
	c text := substr('0123456789 -:./TAPMZ+', 1 + floor(random() * 21)::int, 1);
BEGIN
	RETURN CASE floor(random() * 8)
		WHEN 0 THEN overlay(s PLACING c FROM p FOR 1)
		WHEN 1 THEN overlay(s PLACING '' FROM p FOR 1)
		WHEN 2 THEN overlay(s PLACING c FROM p FOR 0)
		WHEN 3 THEN substr(s, 1, p)
		WHEN 4 THEN s || c
		WHEN 5 THEN replace(s, ' ', '  ')
		WHEN 6 THEN replace(replace(s, '-0', '-'), ':0', ':')
		ELSE lower(s) END;
END
$$;

-- to_date knows no zones.  A cast to timestamp goes through the session's zone.
CREATE FUNCTION core_try(value text, pattern text, type regtype) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN type = 'timestamptz'::regtype THEN to_timestamp(value, pattern)::text
		WHEN type = 'timestamp'::regtype THEN to_timestamp(value, pattern)::timestamp::text
		WHEN pattern ~ 'TZ' THEN to_timestamp(value, pattern)::date::text
		ELSE to_date(value, pattern)::text END;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END
$$;

CREATE FUNCTION compared(pattern text) RETURNS TABLE(enough boolean, differ bigint, example text) LANGUAGE plpgsql AS $$
DECLARE
	n int := coalesce(nullif(current_setting('fc.values', true), ''), '200')::int;
	accepted bigint := 0;
	zone text;
	type regtype;
	a bigint; d bigint; e text;
BEGIN
	differ := 0;
	FOREACH zone IN ARRAY '{UTC,Europe/Berlin,America/New_York,Asia/Kolkata}'::text[] LOOP
		FOREACH type IN ARRAY '{timestamptz,timestamp,date}'::regtype[] LOOP
			PERFORM set_config('timezone', CASE WHEN type = 'timestamp'::regtype AND pattern !~ 'TZ' THEN 'UTC' ELSE zone END, false);
			SELECT count(x), count(*) FILTER (WHERE x IS DISTINCT FROM y), min(format('%s as %s in %s: %s, not %s', v, type, zone, x, y)) FILTER (WHERE x IS DISTINCT FROM y)
			INTO a, d, e
			FROM (SELECT v, fc_pattern_try(pattern, type, v) AS x, core_try(v, pattern, type) AS y
				  FROM (SELECT CASE WHEN random() < 0.5 THEN spoilt(s) ELSE s END AS v
						FROM (SELECT to_char(timestamp '0001-01-01' + random() * i, replace(replace(pattern, 'TZH:TZM', '-05:30'), 'TZH', '+03')) AS s
							  FROM generate_series(1, n / 4), unnest('{9000 years,2000 years,2060 years}'::interval[]) AS i) AS q OFFSET 0) AS q OFFSET 0) AS q
			WHERE x IS NOT NULL;
			accepted := accepted + a;
			differ := differ + d;
			example := coalesce(example, e);
		END LOOP;
	END LOOP;
	enough := accepted > 2 * n;
	RETURN NEXT;
END
$$;
SELECT setseed(0.42) \g /dev/null
SELECT p, c.*, fc_pattern_kind(p) AS kind FROM unnest(ARRAY['YYYY-MM-DD HH24:MI:SS.US', 'YYYY-MM-DD HH24:MI:SS', 'YYYYMMDDHH24MISS', 'YYYYMMDDHH24MISSMS',
	'YYYY-MM-DD"T"HH24:MI:SS.MSTZH:TZM', 'YYYY-MM-DD HH24:MI:SS.FF3 TZH', 'YYYY-MM-DD HH24:MI:SS.FF1', 'YYYY-MM-DD HH24:MI:SS.FF6',
	'YYYY-MM-DD HH24:MI:SS.FF5TZH', 'DD.MM.YYYY', 'MM/DD/YYYY HH12:MI:SS AM', 'DD Mon YYYY HH12:MI am', 'Mon DD, YYYY', 'FMMonth DD, YYYY', 'Month DD YYYY',
	'Dy, DD Mon YYYY HH24:MI:SS', 'YYYY-DDD', 'YYYYDDD', 'J', 'J HH24:MI', 'YY/MM/DD', 'YYMMDD', 'YYY-MM-DD', 'Y-MM-DD', 'YYYY-MM-DD SSSSS', 'YYYYMMDDSSSSS',
	'YYYY-MM-DD HH24:MI:SS.MSUS', 'YYYY', 'YYYY-MM', 'Day DD MM YYYY', 'yyyy-mm-dd hh24:mi:ss', 'DD-MON-YYYY HH24.MI.SS', 'YYYY-MM-DD HH24:MI:SS,MS PM',
	'FMDD.FMMM.YYYY', 'YYYY-MM-DD HH24 "Uhr" MI']) AS p, compared(p) AS c;
