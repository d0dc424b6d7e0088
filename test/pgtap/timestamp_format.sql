-- Moments in other forms than the input functions know: timestamp_format and
-- time_zone.  What a pattern means is tested in test/modules/fc_pattern.

\set name timestamp_format
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT plan(178);

-- An empty partitioned table t (k, n) and a file of keys and their numbers
CREATE FUNCTION pg_temp.fresh(type text, keys text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	EXECUTE format('CREATE TABLE t (k %s, n int) PARTITION BY RANGE (k)', type);
	PERFORM pg_temp.write(array_agg(format('%s,%s', k, n) ORDER BY n)) FROM unnest(keys) WITH ORDINALITY AS u(k, n);
END
$$;

-- The keys as they were loaded, in the order of the file
CREATE FUNCTION pg_temp.loaded(type text, keys text[], format text, zone text DEFAULT NULL, workers int DEFAULT 1)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.fresh(type, keys);
	PERFORM fast_copy('t', current_setting('fc.file'), 'k', timestamp_format => format, time_zone => zone,
					  partition_interval => '1 day', workers => workers);
	RETURN string_agg(k::text, ', ' ORDER BY n) FROM t;
END
$$;

-- SQLSTATE, message and context of the load that fails
CREATE FUNCTION pg_temp.error(load text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'no error' ELSE concat_ws(' | ', f[1], f[2], substring(f[9] FROM 'line \d+[^\n]*')) END FROM pg_temp.failure(load) AS f
$$;

-- Without a pattern none of the forms below can be loaded
SELECT alike(pg_temp.loaded('timestamp', '{2024-03-01 12:34:56}', NULL), '2024-03-01 12:34:56', 'without a pattern the input function reads');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamp', '{1709296496123}', NULL) $$, '22008');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamp', '{2024-03-01 12 34 56}', NULL) $$, '22007');

-- The five patterns of questdb#4761, for the three types
CREATE TEMP TABLE five (p text, v text, ts text, d text);
INSERT INTO five VALUES
	('yyyy-MM-ddTHH:mm:ss.SSSUUUZ', '2024-03-01T12:34:56.123456Z', '2024-03-01 12:34:56.123456', '2024-03-01'),
	('yyyy-MM-ddTHH:mm:ss.', '2024-03-01T12:34:56.', '2024-03-01 12:34:56', '2024-03-01'),
	('yyyy-MM-dd HH:mm:ss', '2024-03-01 12:34:56', '2024-03-01 12:34:56', '2024-03-01'),
	('yyyy-MM-dd HH mm ss', '2024-03-01 12 34 56', '2024-03-01 12:34:56', '2024-03-01'),
	('yyyy-MM-dd', '2024-03-01', '2024-03-01 00:00:00', '2024-03-01');
SELECT is(pg_temp.loaded('timestamp', ARRAY[v, v], p), ts || ', ' || ts, p || ' as timestamp') FROM five;
SELECT is(pg_temp.loaded('timestamptz', ARRAY[v], p), ts || '+00', p || ' as timestamptz') FROM five;
SELECT is(pg_temp.loaded('date', ARRAY[v], p), d, p || ' as date') FROM five;
SELECT is(pg_temp.loaded('timestamp', ARRAY['"' || v || '"'], p), ts, p || ' in quotes') FROM five;
SELECT is(pg_temp.loaded('timestamp(0)', '{2024-12-31 23:59:59.5}', 'YYYY-MM-DD HH24:MI:SS.US'), '2025-01-01 00:00:00', 'the precision of the column');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 't'::regclass), 1::bigint, '... decides about the partition');

-- Epochs make the partitions of the days they are in
CREATE TEMP TABLE epochs (p text, factor numeric);
INSERT INTO epochs VALUES ('epoch_s', 1), ('epoch_ms', 1e3), ('epoch_us', 1e6), ('epoch_ns', 1e9);

-- 2,000 moments in no order, over 10 days around 1970 and as many around 2024
CREATE TEMP TABLE moments AS
SELECT n, timestamp 'epoch' + (n % 2) * interval '54 years' + ((n * 7919 % 2000) - 1000) * interval '432 s' AS k
FROM generate_series(1, 2000) AS n;

CREATE FUNCTION pg_temp.load_epochs(p text, factor numeric, type text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s as %s, %s workers: ', p, type, workers);
BEGIN
	PERFORM pg_temp.fresh(type, array_agg((extract(epoch FROM k) * factor)::numeric(40)::text ORDER BY n)) FROM moments;
	RETURN NEXT is(fast_copy('t', current_setting('fc.file'), 'k', timestamp_format => p, partition_interval => '1 day', workers => workers),
				   2000::bigint, about || 'rows');
	RETURN NEXT is((SELECT count(*) FROM (SELECT k::timestamp, n FROM t EXCEPT ALL SELECT k, n FROM moments) AS q), 0::bigint, about || 'values');
	RETURN NEXT is((SELECT array_agg(DISTINCT tableoid::regclass::text ORDER BY tableoid::regclass::text) FROM t),
				   (SELECT array_agg(DISTINCT 't_p' || to_char(k, 'YYYYMMDD') ORDER BY 't_p' || to_char(k, 'YYYYMMDD')) FROM moments),
				   about || 'partitions');
END
$$;
SELECT pg_temp.load_epochs(p, factor, type, workers) FROM epochs, unnest('{timestamp,timestamptz}'::text[], '{1,3}'::int[]) AS u(type, workers);

-- An epoch is an instant: a timestamp column has the zone's clock
SELECT is(pg_temp.loaded('timestamp', '{1709296496.5}', 'epoch_s', 'Asia/Tokyo'), '2024-03-01 21:34:56.5', 'epoch in a zone as timestamp');
SELECT is(pg_temp.loaded('timestamptz', '{1709296496.5}', 'epoch_s', 'Asia/Tokyo'), '2024-03-01 12:34:56.5+00', '... as timestamptz');
SELECT is(pg_temp.loaded('date', '{1709334000}', 'epoch_s', 'Asia/Tokyo'), '2024-03-02', '... as date');

-- time_zone: hours that are skipped, that come twice, and the plain ones around
CREATE TEMP TABLE clocks (zone text, v text[]);
INSERT INTO clocks VALUES
	('Europe/Berlin', '{2024-03-31 01:59:59,2024-03-31 02:00:00,2024-03-31 02:30:00,2024-03-31 03:00:00,2024-10-27 01:59:59,2024-10-27 02:30:00,2024-10-27 03:00:00}'),
	('America/New_York', '{2024-03-10 01:59:59,2024-03-10 02:30:00,2024-03-10 03:00:00,2024-11-03 00:59:59,2024-11-03 01:30:00,2024-11-03 02:00:00}'),
	('Australia/Lord_Howe', '{2024-10-06 01:59:59,2024-10-06 02:15:00,2024-10-06 02:30:00,2024-04-07 01:15:00,2024-04-07 01:45:00,2024-04-07 02:00:00}'),
	('Asia/Kolkata', '{2024-03-31 02:30:00}');
SELECT is(pg_temp.loaded('timestamptz', v, p, zone, workers),
		  (SELECT string_agg((k::timestamp AT TIME ZONE zone)::text, ', ' ORDER BY n) FROM unnest(v) WITH ORDINALITY AS u(k, n)),
		  format('%s in %s, %s workers', p, zone, workers))
FROM clocks, (VALUES ('yyyy-MM-dd HH:mm:ss', 1), ('YYYY-MM-DD HH24:MI:SS', 3)) AS p(p, workers);
SELECT is(pg_temp.loaded('timestamp', v, 'yyyy-MM-dd HH:mm:ss', zone), array_to_string(v, ', '), 'a timestamp is what the file says, in ' || zone) FROM clocks;
SELECT is(pg_temp.loaded('timestamptz', v, NULL, zone),
		  (SELECT string_agg((k::timestamp AT TIME ZONE zone)::text, ', ' ORDER BY n) FROM unnest(v) WITH ORDINALITY AS u(k, n)),
		  'time_zone without a pattern, ' || zone) FROM clocks;
SELECT is(pg_temp.loaded('timestamptz', '{2024-07-01 12:00:00 -02:30}', 'YYYY-MM-DD HH24:MI:SS TZH:TZM', 'Asia/Tokyo'), '2024-07-01 14:30:00+00', 'a zone in the value counts');
SELECT is(pg_temp.loaded('timestamptz', '{2024-07-01 12:00 PDT}', 'yyyy-MM-dd HH:mm z', 'Asia/Tokyo'), '2024-07-01 19:00:00+00', '... as an abbreviation');
SELECT is(current_setting('timezone'), 'UTC', 'the session keeps its zone');
SELECT is(left(pg_temp.error($$ SELECT pg_temp.loaded('timestamptz', '{yesterday-ish}', 'yyyy-MM-dd', 'Asia/Tokyo') $$), 5), '22007', 'a load fails in another zone');
SELECT is(current_setting('timezone'), 'UTC', '... and the session keeps its zone');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamptz', '{2024-07-01}', NULL, 'Mars/Olympus') $$, '22023');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamptz', '{2024-07-01}', NULL, '') $$, '22023', 'time zone "" not recognized');

-- Patterns per column
CREATE TABLE wide (a text, k timestamptz NOT NULL, d date, s timestamp(3), "odd "",name" timestamp, plain timestamp);
SELECT pg_temp.write('{"x,1709296496123,31/12/2023,2024-03-01T01:02:03.4567,Mar 5 2024 3:04 PM,2024-01-01 00:00:00.5","y,1709296497000,,,,"}') \g /dev/null
SELECT is(fast_copy('wide', current_setting('fc.file'), 'k', timestamp_format =>
	'{"k": "epoch_ms", "d": "dd/MM/yyyy", "s": "YYYY-MM-DD\"T\"HH24:MI:SS.US", "odd \",name": "MMM d yyyy h:mm a"}'), 2::bigint, 'patterns by column');
SELECT is((SELECT string_agg(w::text, ' ' ORDER BY a) FROM wide AS w),
		  '(x,"2024-03-01 12:34:56.123+00",2023-12-31,"2024-03-01 01:02:03.457","2024-03-05 15:04:00","2024-01-01 00:00:00.5") (y,"2024-03-01 12:34:57+00",,,,)',
		  '... each column in its form, NULLs and the one without a pattern too');
TRUNCATE wide;
SELECT is(fast_copy('wide', current_setting('fc.file'), timestamp_format =>
	'{"k": "epoch_ms", "d": "dd/MM/yyyy", "s": "YYYY-MM-DD\"T\"HH24:MI:SS.US", "odd \",name": "MMM d yyyy h:mm a"}', workers => 1), 2::bigint, '... without a key');
SELECT is((SELECT max(k) FROM wide), '2024-03-01 12:34:57+00', '... the same');

-- The named key has the pattern even if rows are not ordered by it: here those that are
-- rejected may not take a number
CREATE TABLE unordered (k timestamp, n serial);
SELECT pg_temp.write('{1704067200,x,1704067201}') \g /dev/null
SELECT is(fast_copy('unordered', current_setting('fc.file'), 'k', columns => '{k}', timestamp_format => 'epoch_s', on_error => 'ignore'), 2::bigint, 'a key that rows are not ordered by');
SELECT is((SELECT string_agg(k::text, ' ' ORDER BY n) FROM unordered), '2024-01-01 00:00:00 2024-01-01 00:00:01', '... by its pattern');

-- What is wrong with the argument
SELECT throws_ok($$ SELECT fast_copy('wide', current_setting('fc.file'), timestamp_format => '{"nobody": "epoch_s"}') $$, '42703');
SELECT throws_ok($$ SELECT fast_copy('wide', current_setting('fc.file'), timestamp_format => '{"a": "epoch_s"}') $$, '22023', 'column "a" of type text cannot have a pattern');
SELECT throws_ok($$ SELECT fast_copy('wide', current_setting('fc.file'), timestamp_format => '{"k": 1}') $$, '22023', 'the pattern of column "k" in timestamp_format must be a string');
SELECT throws_ok($$ SELECT fast_copy('wide', current_setting('fc.file'), timestamp_format => ' {"k": {"b": "c"}}') $$, '22023', 'the pattern of column "k" in timestamp_format must be a string');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamp', '{1}', '{}') $$, '22007');
SELECT throws_ok($$ SELECT fast_copy('wide', current_setting('fc.file'), timestamp_format => '{"k": ') $$, '22P02');
SELECT throws_ok($$ SELECT fast_copy('wide', current_setting('fc.file'), timestamp_format => 'epoch_s') $$, '22023', 'timestamp_format needs a column to apply to');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamp', '{1}', 'yyyy-mm-dd') $$, '22023', 'pattern "yyyy-mm-dd" for column "k" is not valid');
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamp', '{1}', repeat('yyyy', 1000)) $$, '22023', format('pattern "%s..." for column "k" is not valid', repeat('yyyy', 25)));
SELECT throws_ok($$ SELECT pg_temp.loaded('timestamp', '{1}', 'yyyy' || repeat('é', 1000) || 'yyyy') $$, '22023', format('pattern "yyyy%s..." for column "k" is not valid', repeat('é', 48)));
SELECT throws_ok($$ SELECT pg_temp.loaded('bigint', '{1}', 'epoch_s') $$, '22023', 'column "k" of type bigint cannot have a pattern');

-- A value that does not match names the pattern, its line and its column
SELECT is(pg_temp.error(format($$ SELECT pg_temp.loaded('timestamp', '{2024-03-01,2024-03-02,02.03.2024,x}', 'yyyy-MM-dd', workers => %s) $$, workers)),
		  '22007 | value "02.03.2024" does not match the pattern "yyyy-MM-dd" | line 3, column k: "02.03.2024"', workers || ' workers: the first bad key')
FROM unnest('{1,3}'::int[]) AS workers;
SELECT is(pg_temp.error($$ SELECT pg_temp.loaded('timestamp', '{2024-03-01,2024-02-30}', 'yyyy-MM-dd') $$),
		  '22008 | date/time field value out of range: "2024-02-30" | line 2, column k: "2024-02-30"', 'a day that does not exist');
SELECT is(pg_temp.error($$ SELECT pg_temp.loaded('timestamptz', '{0,9223372036854775807}', 'epoch_ms') $$),
		  '22008 | date/time field value out of range: "9223372036854775807" | line 2, column k: "9223372036854775807"', 'an epoch no timestamp reaches');
SELECT matches(pg_temp.error($$ SELECT pg_temp.loaded('date', '{2024-09-5,2024-W9-5}', 'IYYY-IW-ID') $$),
			   '^22007 \| .* \| line 2, column k: "2024-W9-5"$', 'a value that core refuses');
DROP TABLE t;
CREATE TABLE t (k timestamp, d date);
SELECT pg_temp.write('{"2024-03-01,1/2/2024","2024-03-01,2024-02-01"}') \g /dev/null
SELECT is(pg_temp.error(format($$ SELECT fast_copy('t', current_setting('fc.file'), %s timestamp_format => '{"d": "d/M/yyyy"}') $$, k)),
		  '22007 | value "2024-02-01" does not match the pattern "d/M/yyyy" | line 2, column d: "2024-02-01"', 'another column than the key, ' || about)
FROM (VALUES ($$ 'k', $$, 'with a key'), ('', 'without one')) AS v(k, about);
SELECT is(fast_copy('t', current_setting('fc.file'), timestamp_format => '{"d": "d/M/yyyy"}', on_error => 'ignore'), 1::bigint, 'a row error that can be ignored');
SELECT is((SELECT string_agg(t::text, ' ') FROM t), '("2024-03-01 00:00:00",2024-02-01)', '... the other row is in');

-- A column with a pattern is not blamed for another one, and core reads it the
-- same way where it loads the rows
TRUNCATE t;
SELECT pg_temp.write('{"1709296496123,1/2/2024","1709296496124,soon"}') \g /dev/null
SELECT is(pg_temp.error($$ SELECT fast_copy('t', current_setting('fc.file'), timestamp_format => '{"k": "epoch_ms"}') $$),
		  '22007 | invalid input syntax for type date: "soon" | line 2, column d: "soon"', 'another column is bad');
CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(pg_temp.error($$ SELECT fast_copy('t', current_setting('fc.file'), timestamp_format => '{"k": "epoch_ms", "d": "d/M/yyyy"}') $$),
		  '22007 | value "soon" does not match the pattern "d/M/yyyy" | line 2, column d: "soon"', 'with a trigger');
SELECT pg_temp.write('{"1709296496123,1/2/2024",","}') \g /dev/null
SELECT is(fast_copy('t', current_setting('fc.file'), timestamp_format => '{"k": "epoch_ms", "d": "d/M/yyyy"}'), 2::bigint, '... and rows');
SELECT is((SELECT string_agg(t::text, ' ' ORDER BY k) FROM t), '("2024-03-01 12:34:56.123",2024-02-01) (,)', '... and values');

-- A file that cannot be converted as a whole, but up to the end marker
TRUNCATE t;
SELECT lo_from_bytea(0, '1/2/2024\011x\012\\.\012\377\377\012'::bytea) AS object \gset
SELECT lo_export(:object, current_setting('fc.file')) \g /dev/null
ALTER TABLE t DISABLE TRIGGER same, ALTER d TYPE text, ALTER k TYPE timestamptz;
SELECT is(fast_copy('t', current_setting('fc.file'), format => 'text', encoding => 'BIG5', options => options::jsonb), 1::bigint, 'not converted behind the marker: ' || options)
FROM unnest(ARRAY['{}', '{"time_zone": "Asia/Tokyo"}', '{"timestamp_format": {"k": "d/M/yyyy"}}']) AS options;
-- options that COPY lacks, and grammars: the error is that of COPY
SELECT lo_from_bytea(0, '1/2/2024\011x\0123/2/2024\011\377\377\012'::bytea) AS object \gset
SELECT lo_export(:object, current_setting('fc.file')) \g /dev/null
SELECT is(pg_temp.error(format($$ SELECT fast_copy('t', current_setting('fc.file'), encoding => 'BIG5', workers => %s, options => %L) $$, workers, options)),
		  '22P05 | character with byte sequence 0xff 0xff in encoding "BIG5" has no equivalent in encoding "UTF8" | line 2', 'not converted: ' || options)
FROM unnest('{0,2}'::int[]) AS workers, unnest(ARRAY['{"format": "text"}', '{"format": "text", "time_zone": "Asia/Tokyo"}', '{"format": "text", "timestamp_format": {"k": "d/M/yyyy"}}',
	'{"format": "csv", "delimiter": "\t", "quote": "none"}', '{"format": "text", "on_error": "ignore"}']) AS options;

-- 20,000 rows against COPY into text and to_timestamp
CREATE TEMP TABLE raw (v text, n int);
INSERT INTO raw SELECT to_char(timestamp '2019-12-25 01:02:03' + (n * 7919 % 20000) * interval '1 hour 7 minutes 8.901234 seconds', 'DD Mon YYYY HH12:MI:SS.US AM'), n
FROM generate_series(1, 20000) AS n;
SELECT format('COPY raw TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
TRUNCATE raw;
SELECT format('COPY raw FROM %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE FUNCTION pg_temp.check_large(zone text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	CREATE TABLE t (k timestamptz, n int) PARTITION BY RANGE (k);
	RETURN NEXT is(fast_copy('t', current_setting('fc.file'), 'k', timestamp_format => 'DD Mon YYYY HH12:MI:SS.US AM', time_zone => zone,
							 partition_interval => '1 month', workers => workers), 20000::bigint, format('20,000 rows, %s, %s workers', zone, workers));
	PERFORM set_config('timezone', zone, true);
	RETURN NEXT is((SELECT count(*) FROM (SELECT k, n FROM t EXCEPT ALL SELECT to_timestamp(v, 'DD Mon YYYY HH12:MI:SS.US AM'), n FROM raw) AS q), 0::bigint, '... none too many');
	RETURN NEXT is((SELECT count(*) FROM (SELECT to_timestamp(v, 'DD Mon YYYY HH12:MI:SS.US AM'), n FROM raw EXCEPT ALL SELECT k, n FROM t) AS q), 0::bigint, '... none missing');
	PERFORM set_config('timezone', 'UTC', true);
END
$$;
SELECT pg_temp.check_large(zone, workers) FROM unnest('{UTC,Europe/Berlin}'::text[], '{1,3}'::int[]) AS u(zone, workers);

-- A unit that is not that of the numbers: what the new partitions would be
CREATE FUNCTION pg_temp.warned(type text, keys text[], format text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.fresh(type, keys);
	RETURN (SELECT detail FROM fast_copy_analyze('t', current_setting('fc.file'), 'k', timestamp_format => format)
			WHERE item = 'warning' AND name = 'timestamp_format');
END
$$;
SELECT is(pg_temp.warned('timestamp', '{1609372800000,1609459200000}', 'epoch_s'),
	'new partitions of table "t" reach up to value 52971-09-25 00:00:00: The keys were read as seconds since 1970. If they are milliseconds, roll back, and use the pattern epoch_ms in timestamp_format.', 'milliseconds read as seconds');
SELECT matches(pg_temp.warned('date', '{1609372800000000}', 'epoch_ms'), 'If they are microseconds, .* pattern epoch_us', 'microseconds read as milliseconds, dates');
SELECT is(pg_temp.warned('timestamp', '{1609372800,1609459200}', 'epoch_s'), NULL, 'seconds');
SELECT is(pg_temp.warned('timestamp', '{1609372800,1609459200000}', 'epoch_s'), NULL, 'a part of them is right');
SELECT is(pg_temp.warned('timestamp', '{7258118400}', 'epoch_s'), NULL, 'no other unit makes it of our time');

-- What a hint says in place of a unit of strftime writes the same
CREATE FUNCTION pg_temp.instead(pattern text) RETURNS text LANGUAGE sql AS $$
	SELECT substring((pg_temp.failure(format('SELECT fast_copy(''t'', ''none.csv'', ''k'', timestamp_format => %L)', pattern)))[4] FROM 'Write "(.*)"')
$$;
DROP TABLE t;
CREATE TABLE t (k timestamptz, n int);
SELECT is((SELECT string_agg(letter || ' ' || coalesce(said, 'nothing'), ', ') FROM (SELECT letter, want, to_char(timestamptz '2024-08-05 05:06:07.000123+00', pg_temp.instead('%' || letter)) AS said
	FROM (VALUES ('Y', '2024'), ('y', '24'), ('m', '08'), ('d', '05'), ('e', '05'), ('b', 'AUG'), ('h', 'AUG'), ('B', 'AUGUST   '), ('j', '218'), ('a', 'MON'), ('A', 'MONDAY   '), ('H', '05'), ('k', '05'),
		('I', '05'), ('l', '05'), ('M', '06'), ('S', '07'), ('f', '000123'), ('p', 'AM'), ('z', '+00'), ('Z', 'UTC'), ('F', '2024-08-05'), ('D', '08/05/24'), ('T', '05:06:07'), ('R', '05:06'), ('d.%m.%y', '05.08.24'), ('-d', '05'), ('%', '%')) AS v (letter, want)) AS s
	WHERE said IS DISTINCT FROM want), NULL, 'units of strftime');
SELECT is(pg_temp.instead('%Q'), 'YYYY-MM-DD HH24:MI:SS', 'an unknown one');
SELECT is(pg_temp.instead('%Y-%m-%dT%H:%M'), 'YYYY-MM-DD"T"HH24:MI', 'letters are quoted');

-- Quotes that do not end, or are part of the text
SELECT is((pg_temp.failure(format('SELECT fast_copy(''t'', ''none.csv'', ''k'', timestamp_format => %L)', pattern)))[3], 'A quoted text does not end.', pattern)
	FROM unnest(ARRAY['yyyy-MM-dd''T', 'yyyy-MM-dd''T''''', 'yyyy-MM-dd''', 'yyyy-MM-dd''at', 'YYYY-MM-DD"T', 'YYYY-MM-DD"T\"', 'YYYY-MM-DD"', 'YYYY-MM-DD"at\']) AS pattern;
SELECT is(pg_temp.loaded('timestamp', '{2024-05-06it''s 07}', 'yyyy-MM-dd''it''''s'' HH'), '2024-05-06 07:00:00', 'a quote in quotes');
SELECT is(pg_temp.loaded('timestamp', '{2024-05-06 ''at'' 07}', 'yyyy-MM-dd ''''''at'''''' HH'), '2024-05-06 07:00:00', 'a quote before quotes, and one at their end');
SELECT is(pg_temp.loaded('timestamp', '{2024-05-06 ARR 07:08}', 'YYYY-MM-DD "ARR" HH24:MI'), '2024-05-06 07:08:00', 'RR in quotes is not Oracle''s');

-- What looks like a word and is none, and parts that contradict each other, are what they are to to_timestamp
SELECT is(pg_temp.loaded('timestamp', ARRAY['"' || replace(v, '"', '""') || '"'], p), to_timestamp(v, p)::timestamp::text, format('%s in %s', v, p))
FROM (VALUES ('YYYY-MM-DD HH24:MI Pm', '2024-05-06 07:08 Pm'), ('YYYY-MM-DDFM', '2024-05-06'), ('YYYY-MM-DD \"HH24\"', '2024-05-06 "07"'), ('YYYY\MM\DD', '2024\05\06'), ('YYYY-MM-DD0HH24', '2024-05-06007'),
	('IYYY-IW"+"ID', '2024-19+1'), ('J YYYY', '2460437 2024'), ('YYYY-DDD-MM', '2024-127-05'), ('YYYY-MM-DD SSSSS HH24', '2024-05-06 25629 07'), ('YYYY-MM-DD  ', '2024-05-06 '), (' YYYY-MM-DD', '2024-05-06'), ('-YYYY-MM-DD', '-2024-05-06'),
	('+DD Mon YYYY', '+06 May 2024')) AS v (p, v);
SELECT is((pg_temp.failure(format('SELECT fast_copy(''t'', ''none.csv'', ''k'', timestamp_format => %L)', pattern)))[3], said, pattern)
FROM (VALUES ('Mm/DD/YYYY HH24:MI', 'It has the day but not the month.'), ('YYYY-MOn-DD', 'It has the day but not the month.'), ('YYYY-mOn-DD', 'It has the day but not the month.'),
	('yyyy-MM-dd HH:mm:ss.U+U', '"U" says again what another part says.')) AS v (pattern, said);
SELECT is(pg_temp.error(format($$ SELECT pg_temp.loaded('timestamp', '{%s}', %L) $$, v, p)), format('22007 | value "%s" does not match the pattern "%s" | line 1, column k: "%1$s"', v, p), format('a sign or an ending that is not that of %s', p))
FROM (VALUES ('TMMon DD YYYY', 'Aug 05 -969'), ('IYYY-IW-ID HH24TZH', '2024-19-1 07 02'), ('DDth Month YYYY', '1xx March 2024'), ('-Mon DD YYYY', '-Aug 05 -969')) AS v (p, v);

-- Names of zones: one that looks like a rule, one that another begins with, one whose distance has changed; or a distance, or nothing
SELECT is(pg_temp.loaded('timestamptz', v, 'yyyy-MM-dd HH:mm z'), (SELECT string_agg(k::timestamptz::text, ', ' ORDER BY n) FROM unnest(v) WITH ORDINALITY AS u (k, n)), 'zones of all kinds')
FROM (VALUES ('{2024-07-01 12:00 EST5EDT,2024-07-01 12:00 EST,2024-07-01 12:00 EST5EDT,2012-07-01 12:00 MSK,2020-07-01 12:00 MSK,2024-07-01 12:00 +02,2024-07-01 12:00 -05:30}'::text[])) AS v (v);
SELECT is(pg_temp.error($$ SELECT pg_temp.loaded('timestamptz', '{2024-07-01 12:00}', 'yyyy-MM-dd HH:mmz') $$),
		  '22007 | value "2024-07-01 12:00" does not match the pattern "yyyy-MM-dd HH:mmz" | line 1, column k: "2024-07-01 12:00"', 'a zone is missing');

-- The first and the last moment, and a fraction of seven digits
SELECT is(pg_temp.loaded('timestamp', '{-210866803200,9223372036854.775807,0.1234564,0.1234565}', 'epoch_s'),
		  '4714-11-24 00:00:00 BC, 294247-01-10 04:00:54.775807, 1970-01-01 00:00:00.123456, 1970-01-01 00:00:00.123457', 'the ends of epoch_s');
SELECT is(pg_temp.loaded('timestamptz', '{294276-12-31 23:59:59 +05}', 'YYYY-MM-DD HH24:MI:SS TZH'), '294276-12-31 18:59:59+00', 'the last day');
SELECT is(pg_temp.error(format($$ SELECT pg_temp.loaded('timestamptz', '{%s}', %L) $$, v, p)), format('22008 | date/time field value out of range: "%s" | line 1, column k: "%1$s"', v), format('%s is beyond them', v))
FROM (VALUES ('epoch_s', '-210866803201'), ('epoch_s', '9223372036854.775808'), ('epoch_s', '-9223372036854'), ('epoch_s', '9223372036855'), ('YYYY-MM-DD HH24:MI:SS TZH', '294276-12-31 23:59:59 -05')) AS v (p, v);

-- The first year, and endings of numbers
SELECT is(pg_temp.loaded('timestamp', '{0001-01-01,0001-12-31}', pattern), '0001-01-01 00:00:00, 0001-12-31 00:00:00', pattern) FROM unnest('{YYYY-MM-DD,yyyy-MM-dd}'::text[]) AS pattern;
SELECT is(pg_temp.loaded('timestamp', '{05 08 2024}', 'DDSP MM YYYY'), to_timestamp('05 08 2024', 'DDSP MM YYYY')::timestamp::text, 'DDSP');

-- Words in the language of lc_time are read by to_timestamp
SELECT is(pg_temp.loaded('timestamp', ARRAY['05 Aug 2024', '06 sep 2024'], pattern), '2024-08-05 00:00:00, 2024-09-06 00:00:00', pattern) FROM unnest('{DD TMMon YYYY,DD tmMon YYYY}'::text[]) AS pattern;

SELECT * FROM finish();
ROLLBACK;
