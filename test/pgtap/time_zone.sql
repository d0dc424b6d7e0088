-- time_zone: what of a call is a time in the option's zone, and what in the
-- session's.
--
-- COPY is the referee: in a session whose zone is the option's it loads the same
-- rows, and DELETE removes the same.

\set name time_zone
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT * FROM no_plan();

-- Every 20 minutes of four days, without a zone; in New York clocks are put
-- forward in the third night
CREATE TABLE clock AS
SELECT to_char(timestamp '2024-03-08' + g * 37 % 288 * interval '20 min', 'YYYY-MM-DD HH24:MI') AS k, g AS n FROM generate_series(1, 288) AS g;
SELECT pg_temp.file('TABLE clock ORDER BY n') \g /dev/null

-- Tables for each way of a load
CREATE FUNCTION volatile_true(int) RETURNS bool LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN true; END';
CREATE FUNCTION resets_zone(timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE SET timezone = 'Asia/Tokyo' AS 'BEGIN RETURN $1; END';
CREATE TABLE wanted (k timestamptz, n int, d date DEFAULT (timestamptz '2024-03-10 02:00:00+00')::date);
CREATE TABLE plain (LIKE wanted INCLUDING DEFAULTS);
CREATE TABLE parts (LIKE wanted INCLUDING DEFAULTS) PARTITION BY RANGE (k);
CREATE TABLE hashed (LIKE wanted INCLUDING DEFAULTS) PARTITION BY HASH (n);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE fires (LIKE wanted INCLUDING DEFAULTS);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE seen (LIKE wanted INCLUDING DEFAULTS, i int UNIQUE);

-- How many rows differ between the target and "wanted", of how many
CREATE FUNCTION pg_temp.differ(target regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wrong bigint;
	rows bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM ((SELECT k, n, d FROM %1$s EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL SELECT k, n, d FROM %1$s)) AS q', target) INTO wrong;
	SELECT count(*) INTO rows FROM wanted;
	RETURN format('%s of %s wrong', wrong, CASE rows WHEN 0 THEN 'none' WHEN 288 THEN 'all' ELSE 'some' END);
END
$$;

-- What COPY loads in New York; defaults are the session's
CREATE FUNCTION pg_temp.copy_there(cond text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL timezone = 'America/New_York';
	EXECUTE format('COPY wanted (k, n) FROM %L WITH (FORMAT csv) WHERE %s', current_setting('fc.file'), cond);
	SET LOCAL timezone = 'UTC';
	UPDATE wanted SET d = DEFAULT;
END
$$;

-- 1. Conditions: literals are read when the condition is analysed, and functions
-- and casts look at the zone for each row.
CREATE FUNCTION pg_temp.wrong(target regclass, cond text, more jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('TRUNCATE %s, wanted', target);
	PERFORM pg_temp.copy_there(cond);
	PERFORM fast_copy(target, current_setting('fc.file'), columns => '{k,n}', time_zone => 'America/New_York', where_clause => cond, options => more);
	RETURN pg_temp.differ(target);
END
$$;
CREATE TEMP TABLE conditions AS SELECT * FROM unnest(ARRAY[
	$$k >= '2024-03-10'$$,
	$$k::date = '2024-03-10'$$,
	$$date_trunc('day', k) = timestamptz '2024-03-10'$$,
	$$extract(hour FROM k) < 6$$,
	$$k < timestamp '2024-03-10 12:00'$$,
	$$k BETWEEN '09.03.2024 22:00'::timestamptz AND '2024-03-10 04:00'$$,
	$$to_char(k, 'HH24') IN ('23', '02')$$,
	$$k - interval '1 day' >= '2024-03-09 02:30'$$,
	$$current_setting('timezone') = 'America/New_York' AND n % 2 = 0$$,
	$$k::date = '2024-03-10' AND volatile_true(n)$$,
	$$k >= '2024-03-09' AND k::date < '2024-03-10' AND resets_zone(k) IS NOT NULL$$]) AS cond;
SET LOCAL datestyle = 'ISO, DMY';
SELECT is(pg_temp.wrong(target, cond, more), '0 of some wrong', concat_ws(', ', target, cond, nullif(more, '{}')))
	FROM conditions, (VALUES ('parts'::regclass, '{"workers": 0}'::jsonb), ('parts', '{"workers": 2}'), ('plain', '{"workers": 2}'), ('hashed', '{"workers": 1}'), ('fires', '{}'),
		('fires', '{"on_error": "ignore"}'), ('plain', '{"order_by": ["n"], "workers": 2}'), ('parts', '{"on_error": "ignore", "workers": 2}'),
		('seen', '{"on_error": "ignore", "on_error_classes": ["conversion", "unique"]}')) AS ways (target, more);

-- ... as COPY's own clause, and as its option
CREATE FUNCTION pg_temp.wrong_copy(target regclass, cond text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 2 LOOP
		EXECUTE format('TRUNCATE %s, wanted', target);
		PERFORM pg_temp.copy_there(cond);
		EXECUTE format(CASE i WHEN 1 THEN 'COPY %s (k, n) FROM %L WITH (fast_copy, FORMAT csv, time_zone ''America/New_York'') WHERE %s'
			ELSE 'COPY %s (k, n) FROM %L WITH (fast_copy, FORMAT csv, time_zone ''America/New_York'', where_clause %L)' END, target, current_setting('fc.file'), cond);
		RETURN NEXT pg_temp.differ(target);
	END LOOP;
END
$$;
SELECT is(wrong, '0 of some wrong', concat_ws(', ', 'COPY', target, cond)) FROM conditions, unnest('{parts,fires}'::regclass[]) AS target, pg_temp.wrong_copy(target, cond) AS wrong;
SET LOCAL datestyle = 'ISO, MDY';
SELECT is(current_setting('timezone'), 'UTC', 'the session keeps its zone');
SELECT is((pg_temp.failure($$SELECT fast_copy('plain', current_setting('fc.file'), columns => '{k,n}', time_zone => 'America/New_York', where_clause => 'k > ''soon''')$$))[1:2],
	'{22007,"invalid input syntax for type timestamp with time zone: \"soon\""}', 'a condition fails when it is analysed');
SELECT is((pg_temp.failure($$SELECT fast_copy('plain', current_setting('fc.file'), columns => '{k,n}', time_zone => 'America/New_York', where_clause => '1 / (n - 7) > 2')$$))[1],
	'22012', '... and for a row');
SELECT is((pg_temp.failure($$COPY fires (k, n) FROM '/dev/null' WITH (fast_copy, FORMAT csv, time_zone 'Mars/Olympus') WHERE k > '2024-01-01'$$))[1], '22023', '... or in a zone that there is not');
SELECT is(current_setting('timezone'), 'UTC', '... and the session keeps its zone');
-- a function of the condition that sets it for good
CREATE FUNCTION sets_zone(int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN IF $1 = 1 THEN PERFORM set_config('timezone', 'Asia/Tokyo', true); END IF; RETURN true; END$$;
SAVEPOINT zone;
SELECT fast_copy('plain', :'file', columns => '{k,n}', time_zone => 'America/New_York', where_clause => 'sets_zone(n)') \g /dev/null
SELECT is(concat_ws(' ', current_setting('timezone'), timestamptz '2024-03-10 00:00+00'), 'Asia/Tokyo 2024-03-10 09:00:00+09', '... unless the condition sets another one');
ROLLBACK TO zone;
CREATE OR REPLACE FUNCTION sets_zone(int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN IF $1 = 1 THEN PERFORM set_config('timezone', 'Asia/Tokyo', false); END IF; RETURN true; END$$;
SELECT fast_copy('plain', :'file', columns => '{k,n}', time_zone => 'America/New_York', where_clause => 'sets_zone(n)') \g /dev/null
SELECT is(concat_ws(' ', current_setting('timezone'), timestamptz '2024-03-10 00:00+00'), 'Asia/Tokyo 2024-03-10 09:00:00+09', '... for the session');
ROLLBACK TO zone;
SELECT is((pg_temp.failure($$SELECT fast_copy('plain', current_setting('fc.file'), columns => '{k,n}', time_zone => 'FOO+00:00:30')$$))[1:2], '{22023,"time zone \"FOO+00:00:30\" not recognized"}', 'a zone of whose minutes none begins when UTC''s does');
SELECT throws_ok('SET LOCAL timezone = ''FOO+00:00:30''', '22023', NULL, '... is none for the session');

-- 2. The range that is replaced.  Rows that were there are of the same moments.
CREATE FUNCTION pg_temp.wrong_range(target regclass, lo text, hi text, format text, zone text, layout text, more jsonb DEFAULT '{}', iso_lo text DEFAULT NULL, iso_hi text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.lay_out(target, layout);
	TRUNCATE wanted;
	EXECUTE format('SET LOCAL timezone = %L', zone);
	EXECUTE format('INSERT INTO wanted SELECT k::timestamptz, -n, NULL FROM clock');
	EXECUTE format('DELETE FROM wanted WHERE k >= %L AND k < %L', coalesce(iso_lo, lo), coalesce(iso_hi, hi));
	EXECUTE format('INSERT INTO wanted SELECT k::timestamptz, n FROM clock WHERE k::timestamptz >= %L AND k::timestamptz < %L', coalesce(iso_lo, lo), coalesce(iso_hi, hi));
	SET LOCAL timezone = 'UTC';
	UPDATE wanted SET d = DEFAULT WHERE n > 0;
	EXECUTE format('INSERT INTO %s SELECT k::timestamp AT TIME ZONE %L, -n, NULL FROM clock', target, zone);
	PERFORM pg_temp.file(format('SELECT %s, n FROM clock WHERE k::timestamp AT TIME ZONE %2$L >= %3$L::timestamp AT TIME ZONE %2$L AND k::timestamp AT TIME ZONE %2$L < %4$L::timestamp AT TIME ZONE %2$L ORDER BY n',
		CASE WHEN format ~ '^epoch_ms' THEN format('(extract(epoch FROM k::timestamp AT TIME ZONE %L) * 1000)::bigint', zone) WHEN format IS NULL THEN 'k' ELSE format('to_char(k::timestamp, %L)', format) END,
		zone, coalesce(iso_lo, lo), coalesce(iso_hi, hi)));
	PERFORM fast_copy(target, current_setting('fc.file'), 'k', columns => '{k,n}', time_zone => zone, timestamp_format => format,
		options => '{"existing_rows": "replace"}'::jsonb || jsonb_build_object('replace_from', lo, 'replace_to', hi) || more ||
		CASE layout WHEN 'default' THEN '{"missing_partitions": "default"}'::jsonb ELSE '{}' END);
	RETURN pg_temp.differ(target);
END
$$;
-- Partitions are days of a zone, or there is one, or only the default
CREATE FUNCTION pg_temp.lay_out(target regclass, layout text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	part regclass;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	IF layout = 'none' THEN
		RETURN;
	END IF;
	FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = target LOOP
		EXECUTE format('DROP TABLE %s', part);
	END LOOP;
	IF layout = 'default' THEN
		EXECUTE format('CREATE TABLE parts_default PARTITION OF %s DEFAULT', target);
	ELSIF layout = 'one' THEN
		EXECUTE format('CREATE TABLE parts_one PARTITION OF %s FOR VALUES FROM (MINVALUE) TO (MAXVALUE)', target);
	ELSE
		FOR i IN 7 .. 12 LOOP
			EXECUTE format('CREATE TABLE parts_%s PARTITION OF %s FOR VALUES FROM (%L) TO (%L)', i, target,
				format('2024-03-%s', i)::timestamp AT TIME ZONE layout, format('2024-03-%s', i + 1)::timestamp AT TIME ZONE layout);
		END LOOP;
	END IF;
END
$$;
SELECT is(pg_temp.wrong_range(target, '2024-03-10', '2024-03-11', NULL, zone, layout, more), '0 of all wrong', concat_ws(', ', target, zone, layout, nullif(more, '{}')))
	FROM unnest('{America/New_York,Asia/Tokyo,Asia/Kolkata,UTC}'::text[]) AS zone,
		(VALUES ('parts'::regclass, 'UTC'), ('parts', 'America/New_York'), ('parts', 'Asia/Tokyo'), ('parts', 'one'), ('parts', 'default'), ('plain', 'none'), ('fires', 'none'), ('hashed', 'none')) AS tables (target, layout),
		(VALUES ('{}'::jsonb), ('{"workers": 2}')) AS options (more);
-- Bounds as timestamp_format says, or both in ISO form
SET LOCAL datestyle = 'ISO, MDY';
SELECT is(pg_temp.wrong_range('parts', lo, hi, format, 'America/New_York', layout, '{}', '2024-03-09', '2024-03-10'), '0 of all wrong', concat_ws(', ', format, lo, hi, layout))
	FROM unnest('{UTC,America/New_York,default}'::text[]) AS layout, (VALUES
		('DD/MM/YYYY HH24:MI', '09/03/2024 00:00', '10/03/2024 00:00'),
		('DD/MM/YYYY HH24:MI', '2024-03-09', '2024-03-10'),
		('DD/MM/YYYY HH24:MI', '2024-03-09 00:00', '2024-03-10 05:00+00'),
		('YYYY-MM-DD HH24:MI', '2024-03-09 00:00', '2024-03-10 00:00'),
		('YYYY-MM-DD HH24:MI', '2024-03-09 00:00', '2024-03-10'),
		('YYYY-DD-MM HH24:MI', '2024-09-03 00:00', '2024-10-03 00:00'),
		('epoch_ms', '1709960400000', '1710046800000'),
		('epoch_ms', '2024-03-09', '2024-03-10 00:00')) AS forms (format, lo, hi);
SELECT is(pg_temp.wrong_range('parts', '-infinity', '10/03/2024 00:00', 'DD/MM/YYYY HH24:MI', 'America/New_York', 'UTC', '{}', '-infinity', '2024-03-10'), '0 of all wrong', 'words are read as ever');
SELECT is((pg_temp.failure(format($$SELECT pg_temp.wrong_range('plain', %L, %L, %L, 'America/New_York', 'none', '{}', '2024-03-09', '2024-03-10')$$, lo, hi, format)))[1:4], wanted, concat_ws(', ', format, lo, hi))
	FROM (VALUES
		('DD/MM/YYYY HH24:MI', '03/31/2024 00:00', '04/01/2024 00:00',
			'{22007,"\"03/31/2024 00:00\" does not match the pattern \"DD/MM/YYYY HH24:MI\"","A range of column \"k\" is read with this pattern.","Write replace_from and replace_to as the file has the keys, or both as ''YYYY-MM-DD''."}'::text[]),
		('DD/MM/YYYY HH24:MI', '09/03/2024 00:00', '2024-03-10',
			'{22007,"\"2024-03-10\" does not match the pattern \"DD/MM/YYYY HH24:MI\"","A range of column \"k\" is read with this pattern.","Write replace_from and replace_to as the file has the keys, or both as ''YYYY-MM-DD''."}'),
		('epoch_ms', '1709960400000', '2024-03-10',
			'{22007,"\"2024-03-10\" does not match the pattern \"epoch_ms\"","A range of column \"k\" is read with this pattern.","Write replace_from and replace_to as the file has the keys, or both as ''YYYY-MM-DD''."}')) AS wrong (format, lo, hi, wanted);
SELECT throws_ok($$SELECT pg_temp.wrong_range('plain', '10/03/2024 00:00', '09/03/2024 00:00', 'DD/MM/YYYY HH24:MI', 'America/New_York', 'none', '{}', '2024-03-09', '2024-03-10')$$, '22023', 'replace_from must come before replace_to');
-- keys that are no instants
CREATE TABLE days (k date, n int) PARTITION BY RANGE (k);
SELECT pg_temp.write('{09.03.2024;1}') \g /dev/null
SELECT fast_copy('days', :'file', delimiter => ';', timestamp_format => 'DD.MM.YYYY') \g /dev/null
SELECT lives_ok(format($$SELECT fast_copy('days', %L, delimiter => ';', timestamp_format => 'DD.MM.YYYY', options => '{"existing_rows": "replace", "replace_from": "09.03.2024", "replace_to": "10.03.2024"}')$$, :'file'), 'a range of dates');
SELECT is((SELECT array_agg(k || ' ' || n) FROM days), '{2024-03-09 1}', '... is replaced');
SELECT pg_temp.write('{09.03.2024;2,;3}') \g /dev/null
SELECT is((pg_temp.failure(format($$SELECT fast_copy('days', %L, delimiter => ';', timestamp_format => 'DD.MM.YYYY', workers => %s, options => '{"existing_rows": "replace", "replace_from": "09.03.2024", "replace_to": "10.03.2024"}')$$, :'file', workers)))[1:3],
	'{23514,"a row without a key lies outside of the range that is replaced","Rows are replaced FROM (''2024-03-09'') TO (''2024-03-10'')."}', format('... but not by a row without a date, %s workers', workers)) FROM unnest('{0,2}'::int[]) AS workers;

-- 3. Expressions: transform
CREATE FUNCTION pg_temp.wrong_transform(target regclass, expression text, more jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('TRUNCATE %s, wanted', target);
	SET LOCAL timezone = 'America/New_York';
	EXECUTE format('INSERT INTO wanted (k, n) SELECT %s, n FROM clock', expression);
	SET LOCAL timezone = 'UTC';
	UPDATE wanted SET d = DEFAULT;
	PERFORM fast_copy(target, pg_temp.file('TABLE clock ORDER BY n'), columns => '{k,n}', time_zone => 'America/New_York', options => jsonb_build_object('transform', 'k = ' || expression) || more);
	RETURN pg_temp.differ(target);
END
$$;
SELECT pg_temp.lay_out('parts', 'UTC') \g /dev/null
SELECT is(pg_temp.wrong_transform(target, expression, more), '0 of all wrong', concat_ws(', ', target, expression, more))
	FROM unnest(ARRAY[$$greatest(k::timestamptz, '2024-03-10')$$, $$CASE WHEN k::timestamptz < '2024-03-09' THEN '2024-03-09 12:00'::timestamptz ELSE k::timestamptz END$$,
		$$date_trunc('day', k::timestamptz)$$, $$k::timestamptz::date + time '12:00'$$]) AS expression,
		(VALUES ('parts'::regclass, '{"workers": 2}'::jsonb), ('plain', '{"workers": 0}'), ('fires', '{}')) AS ways (target, more);

-- ... whatever functions set for themselves, and whoever evaluates them
CREATE FUNCTION same_text(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET timezone = 'Asia/Tokyo' AS 'BEGIN RETURN t; END';
SELECT is(pg_temp.wrong_transform(target, expression, more), '0 of all wrong', concat_ws(', ', target, expression, more))
	FROM unnest(ARRAY['same_text(k)::timestamptz', '(same_text(k::timestamptz::text) || '''')::timestamptz']) AS expression,
		(VALUES ('parts'::regclass, '{"workers": 2}'::jsonb), ('plain', '{"workers": 0}'), ('fires', '{}')) AS ways (target, more);
SELECT is(pg_temp.wrong(target, 'resets_zone(k) IS NOT NULL AND k::date = ''2024-03-09''', more), '0 of some wrong', concat_ws(', ', target, 'a condition', more))
	FROM (VALUES ('parts'::regclass, '{"workers": 2}'::jsonb), ('plain', '{"workers": 0}'), ('fires', '{}')) AS ways (target, more);
DO $$
BEGIN
	TRUNCATE plain, wanted;
	PERFORM pg_temp.copy_there('true'), fast_copy('plain', pg_temp.file('TABLE clock ORDER BY n'), columns => '{k,n}', time_zone => 'America/New_York', options => '{"transform": "k = same_text(k)"}');
END
$$;
SELECT is(pg_temp.differ('plain'), '0 of all wrong', 'a text that the column reads');
-- ... a range, too, which is read after the expressions have been made simpler
CREATE FUNCTION always_true() RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET timezone = 'Asia/Tokyo' AS 'BEGIN RETURN true; END';
SELECT is((pg_temp.failure(format($$SELECT fast_copy('plain', %L, 'k', columns => '{k,n}', time_zone => 'America/New_York', where_clause => 'always_true()', options => '{"existing_rows": "replace", "replace_from": "2024-03-09", "replace_to": "2024-03-12"}')$$, :'file')))[3],
	'Rows are replaced FROM (''2024-03-09 05:00:00+00'') TO (''2024-03-12 04:00:00+00'').', 'a range beside a condition that is made simpler');

-- 4. What stays the session's: defaults, new partitions, and what is shown
SELECT pg_temp.file('TABLE clock ORDER BY n') \g /dev/null
DROP TABLE parts;
CREATE TABLE parts (LIKE wanted INCLUDING DEFAULTS) PARTITION BY RANGE (k);
SELECT fast_copy('parts', :'file', columns => '{k,n}', time_zone => 'America/New_York') \g /dev/null
SELECT is((SELECT array_agg(DISTINCT d) FROM parts), '{2024-03-10}', 'a default is of the session''s day');
SELECT is((SELECT array_agg(inhrelid::regclass || ' ' || pg_get_expr(relpartbound, inhrelid) ORDER BY inhrelid::regclass::text) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'parts'::regclass),
	(SELECT array_agg(format('parts_p202403%s FOR VALUES FROM (''2024-03-%1$s 00:00:00+00'') TO (''2024-03-%2$s 00:00:00+00'')', lpad(i::text, 2, '0'), lpad((i + 1)::text, 2, '0')) ORDER BY i) FROM generate_series(8, 12) AS i),
	'new partitions are days of the session');
SELECT results_eq(format($$SELECT rows, low, high FROM fast_copy_analyze('parts', %L, columns => '{k,n}', time_zone => 'America/New_York', where_clause => 'k >= ''2024-03-10''') WHERE item = 'key'$$, :'file'),
	$$VALUES (144::bigint, '2024-03-10 05:00:00+00', '2024-03-12 03:40:00+00')$$, 'an analysis reads as the load does, and shows keys with the session''s zone');
SELECT is((pg_temp.failure(format($$SELECT fast_copy('parts', %L, columns => '{k,n}', time_zone => 'America/New_York', options => '{"existing_rows": "replace", "replace_from": "2024-03-09", "replace_to": "2024-03-12"}')$$, :'file')))[3],
	'Rows are replaced FROM (''2024-03-09 05:00:00+00'') TO (''2024-03-12 04:00:00+00'').', '... and so does an error');

SELECT * FROM finish();
ROLLBACK;
