-- Tables that pg_partman keeps: a load makes the partitions that pg_partman
-- would have made.  Each set has a twin whose partitions are pg_partman's own
-- and whose rows are COPY's; both are compared, before and after maintenance.

\set name partman
\ir begin.psql
SELECT no_plan();

CREATE SCHEMA keeper;
CREATE EXTENSION pg_partman SCHEMA keeper;
SELECT split_part(extversion, '.', 1)::int AS major, split_part(extversion, '.', 2)::int AS minor,
	extversion LIKE '4.%' AS v4
FROM pg_extension WHERE extname = 'pg_partman' \gset
SELECT set_config('fc.v4', :'v4', true) \g /dev/null
CREATE ROLE fc_reader;
CREATE ROLE fc_writer;

-- Lets pg_partman keep a table.  Intervals have words in 4.x that make other
-- names than the interval alone.  Partitions are made around today or from a
-- start to today: they give way to some of fixed times (or ids).
CREATE FUNCTION pg_temp.keep(parent text, width text, word text DEFAULT NULL, start text DEFAULT NULL,
	epoch text DEFAULT 'none', template text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	child text;
BEGIN
	EXECUTE format('SELECT keeper.create_parent(p_parent_table => %L, p_control => ''k'', p_type => %L, p_interval => %L, p_premake => 3, p_start_partition => %L, p_epoch => %L%s)',
		'public.' || parent,
		CASE WHEN current_setting('fc.v4')::bool THEN 'native' ELSE 'range' END,
		CASE WHEN current_setting('fc.v4')::bool THEN coalesce(word, width) ELSE width END,
		CASE WHEN width ~ '^[0-9]+$' THEN start END, epoch,
		CASE WHEN template IS NOT NULL THEN format(', p_template_table => %L', template) ELSE '' END);
	IF current_setting('fc.v4')::bool THEN
		UPDATE keeper.part_config SET ignore_default_data = true;
	END IF;
	IF width !~ '^[0-9]+$' THEN
		FOR child IN SELECT format('%I.%I', partition_schemaname, partition_tablename) FROM keeper.show_partitions('public.' || parent) LOOP
			EXECUTE 'DROP TABLE ' || child;
		END LOOP;
		PERFORM keeper.create_partition_time(p_parent_table => 'public.' || parent,
			p_partition_times => (SELECT array_agg(start::timestamptz + i * width::interval) FROM generate_series(0, 3) i));
	END IF;
END
$$;

-- Tables a_NAME and b_NAME, kept alike
CREATE FUNCTION pg_temp.twins(name text, type text, width text, word text DEFAULT NULL, start text DEFAULT NULL,
	epoch text DEFAULT 'none') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	side text;
BEGIN
	FOREACH side IN ARRAY ARRAY['a', 'b'] LOOP
		EXECUTE format('CREATE TABLE %I (n int, k %s NOT NULL, v text DEFAULT ''x'') PARTITION BY RANGE (k)', side || '_' || name, type);
		PERFORM pg_temp.keep(side || '_' || name, width, word, start, epoch);
	END LOOP;
END
$$;

-- pg_partman's partitions for these keys
CREATE FUNCTION pg_temp.premake(parent text, keys text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	key text;
	at record;
BEGIN
	FOREACH key IN ARRAY keys LOOP
		SELECT * INTO at FROM keeper.show_partition_name('public.' || parent, key);
		IF at.suffix_timestamp IS NOT NULL THEN
			PERFORM keeper.create_partition_time(p_parent_table => 'public.' || parent, p_partition_times => ARRAY[at.suffix_timestamp]);
		ELSE
			PERFORM keeper.create_partition_id(p_parent_table => 'public.' || parent, p_partition_ids => ARRAY[at.suffix_id]);
		END IF;
	END LOOP;
END
$$;

-- All that can be told of the partitions of a set, whose own first letter is left out.
-- Privileges lie in the order in which they came to be, which means nothing, and
-- pg_partman of Debian's 17 does not know MAINTAIN: the owner of what it makes
-- lacks it.
CREATE FUNCTION pg_temp.children(parent regclass) RETURNS SETOF text LANGUAGE sql AS $$
SELECT concat_ws(' | ', substr(c.relname, 2), pg_get_expr(c.relpartbound, c.oid), c.relpersistence, c.relreplident,
	c.reloptions::text, (SELECT array_agg(item ORDER BY item COLLATE "C") FROM unnest(c.relacl) AS acl, regexp_replace(acl::text, 'm/', '/') AS item), pg_get_userbyid(c.relowner),
	(SELECT string_agg(concat_ws(' ', substr(conname, 2), pg_get_constraintdef(k.oid), convalidated, conislocal, coninhcount), '; ' ORDER BY conname)
		FROM pg_constraint k WHERE conrelid = c.oid),
	(SELECT string_agg(regexp_replace(pg_get_indexdef(indexrelid), ' [ab]_|[ .][ab]_', ' ', 'g'), '; ' ORDER BY indexrelid::regclass::text)
		FROM pg_index WHERE indrelid = c.oid),
	(SELECT string_agg(col_description(attrelid, attnum), '; ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid),
	(SELECT string_agg(pubname, '; ' ORDER BY pubname) FROM pg_publication_tables WHERE schemaname = 'public' AND tablename = c.relname),
	(SELECT count(*) FROM pg_statistic_ext WHERE stxrelid = c.oid))
FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = parent
$$;

-- The set in the order that pg_partman shows it
CREATE FUNCTION pg_temp.shown(parent text) RETURNS text LANGUAGE sql AS $$
SELECT string_agg(substr(partition_tablename, 2), ',' ORDER BY n)
FROM keeper.show_partitions('public.' || parent) WITH ORDINALITY AS s (partition_schemaname, partition_tablename, n)
$$;

CREATE FUNCTION pg_temp.keys(keys text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT n, k, ''v'' || n FROM unnest(%L::text[]) WITH ORDINALITY AS u (k, n)) TO %L (FORMAT csv)',
				   keys, current_setting('fc.file'));
END
$$;

CREATE FUNCTION pg_temp.load(target regclass) RETURNS bigint LANGUAGE sql AS $$
SELECT fast_copy(target, current_setting('fc.file'))
$$;

-- Loads the keys into both, as pg_partman (times: as text) and COPY would, and compares
CREATE FUNCTION pg_temp.alike(name text, keys text[], times text[] DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	a text := 'a_' || name;
	b text := 'b_' || name;
	before bigint;
BEGIN
	PERFORM pg_temp.keys(keys);
	PERFORM pg_temp.premake(b, coalesce(times, keys));
	EXECUTE format('COPY %I FROM %L (FORMAT csv)', b, current_setting('fc.file'));
	RETURN NEXT is(pg_temp.load(quote_ident(a)::regclass), cardinality(keys)::bigint, name || ': rows');
	RETURN NEXT set_eq(format('SELECT tableoid::regclass::text AS leaf, * FROM %I', a),
		format('SELECT regexp_replace(tableoid::regclass::text, ''^("?)b'', ''\1a'') AS leaf, * FROM %I', b), name || ': rows are where COPY puts them');
	RETURN NEXT bag_eq(format('SELECT pg_temp.children(%L)', quote_ident(a)), format('SELECT pg_temp.children(%L)', quote_ident(b)), name || ': partitions');
	RETURN NEXT is(pg_temp.shown(a), pg_temp.shown(b), name || ': show_partitions()');
	SELECT count(*) INTO before FROM pg_inherits WHERE inhparent = quote_ident(a)::regclass;
	PERFORM keeper.run_maintenance('public.' || a);
	PERFORM keeper.run_maintenance('public.' || b);
	RETURN NEXT cmp_ok((SELECT count(*) FROM pg_inherits WHERE inhparent = quote_ident(a)::regclass), '>', before, name || ': maintenance makes partitions');
	RETURN NEXT bag_eq(format('SELECT pg_temp.children(%L)', quote_ident(a)), format('SELECT pg_temp.children(%L)', quote_ident(b)), name || ': maintenance makes the same');
	RETURN NEXT is(pg_temp.shown(a), pg_temp.shown(b), name || ': show_partitions() after maintenance');
END
$$;

-- The message, detail and hint of a load
CREATE FUNCTION pg_temp.refusal(target regclass) RETURNS text LANGUAGE sql AS $$
	SELECT array_to_string(f[1:4], E'\n') FROM pg_temp.failure(format('SELECT pg_temp.load(%L)', target)) AS f
$$;

CREATE FUNCTION pg_temp.warnings(target regclass) RETURNS text LANGUAGE sql AS $$
SELECT string_agg(name || ': ' || detail, E'\n') FROM fast_copy_analyze(target, current_setting('fc.file')) WHERE item = 'warning'
$$;

-- maintenance stays away while partitions are made
SELECT pg_temp.twins('lock', 'timestamptz', '1 day', 'daily', '2021-03-10');
CREATE VIEW pg_temp.lock AS SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
	AND (classid::bigint << 32 | objid::bigint) = hashtext('pg_partman run_maintenance')::bigint;
SELECT pg_temp.keys(ARRAY['2021-03-10 00:00+00']);
SELECT is(pg_temp.load('a_lock'), 1::bigint, 'no partition is made');
SELECT is_empty('TABLE pg_temp.lock', 'no lock for rows of existing partitions');
SELECT pg_temp.keys(ARRAY['2021-02-10 00:00+00']);
SELECT is(pg_temp.load('a_lock'), 1::bigint, 'a partition is made');
SELECT isnt_empty('TABLE pg_temp.lock', 'the lock that maintenance tries to take');

-- intervals, the keys before, in and after the partitions that are there
SELECT pg_temp.twins('daily', 'timestamptz', '1 day', 'daily', '2021-03-10');
SELECT pg_temp.alike('daily', ARRAY['2021-02-01 12:00+00', '2020-02-29 23:59:59.999999+00', '2021-03-11 00:00+00', '2021-03-16 05:00+00', '2020-12-31 00:00+00', '2021-02-01 00:00+00']);

SELECT pg_temp.twins('weekly', 'timestamptz', '1 week', 'weekly', '2021-03-08');
SELECT pg_temp.alike('weekly', ARRAY['2021-01-03 12:00+00', '2020-12-31 12:00+00', '2021-01-04 00:00+00', '2021-03-11 00:00+00', '2021-04-30 00:00+00', '2019-07-01 00:00+00']);

SELECT pg_temp.twins('monthly', 'timestamp', '1 month', 'monthly', '2021-03-01');
SELECT pg_temp.alike('monthly', ARRAY['2020-02-29 12:00', '2021-02-01 00:00', '2021-03-31 00:00', '2021-08-01 00:00', '2019-12-31 23:59:59']);

SELECT pg_temp.twins('quarterly', 'date', '3 months', 'quarterly', '2021-01-01');
SELECT pg_temp.alike('quarterly', ARRAY['2020-02-29', '2020-04-01', '2021-03-31', '2022-03-01', '2019-12-31']);

SELECT pg_temp.twins('yearly', 'timestamptz', '1 year', 'yearly', '2011-01-01');
SELECT pg_temp.alike('yearly', ARRAY['2005-02-28 12:00+00', '2012-12-31 00:00+00', '1999-12-31 23:59:59+00', '2016-06-01 00:00+00']);

SELECT pg_temp.twins('hourly', 'timestamptz', '1 hour', 'hourly', '2021-03-10 07:00');
SELECT pg_temp.alike('hourly', ARRAY['2021-03-10 00:59+00', '2021-03-09 23:00+00', '2021-03-10 08:30+00', '2021-03-10 15:00+00', '2021-03-01 00:00+00']);

SELECT pg_temp.twins('minutes', 'timestamp', '15 minutes', 'quarter-hour', '2021-03-10 07:00');
SELECT pg_temp.alike('minutes', ARRAY['2021-03-10 00:59', '2021-03-09 23:14:59', '2021-03-10 07:31', '2021-03-10 09:00']);

-- integers
SELECT pg_temp.twins('id', 'bigint', '1000', NULL, '10000');
SELECT pg_temp.alike('id', ARRAY['0', '999', '5000', '10001', '20000', '50000']);
SELECT pg_temp.twins('id4', 'int', '10', NULL, '100');
SELECT pg_temp.alike('id4', ARRAY['57', '101', '570']);

-- epochs
SELECT pg_temp.twins('seconds', 'bigint', '1 day', 'daily', '2021-03-10', 'seconds');
SELECT pg_temp.alike('seconds', ARRAY['1612137600', '1612223999', '1615420800', '1615900000', '-86401'],
	ARRAY['2021-02-01', '2021-02-01 23:59:59', '2021-03-11', '2021-03-16 13:06:40', '1969-12-30 23:59:59']);
SELECT pg_temp.twins('seconds4', 'int', '1 month', 'monthly', '2021-03-01', 'seconds');
SELECT pg_temp.alike('seconds4', ARRAY['1612137600', '1615420800', '1635900000'],
	ARRAY['2021-02-01', '2021-03-11', '2021-11-03 00:40:00']);
SELECT pg_temp.twins('milliseconds', 'bigint', '1 hour', 'hourly', '2021-03-10 07:00', 'milliseconds');
SELECT pg_temp.alike('milliseconds', ARRAY['1612137600000', '1612141199999', '1615359600000', '1615392000000', '-1000'],
	ARRAY['2021-02-01', '2021-02-01', '2021-03-10 07:00', '2021-03-10 16:00', '1969-12-31 23:59:59']);
SELECT pg_temp.twins('nanoseconds', 'bigint', '1 month', 'monthly', '2021-03-01', 'nanoseconds');
SELECT pg_temp.alike('nanoseconds', ARRAY['1612137600000000000', '1604192461123456789', '1615359600000000001', '1635759600000000000'],
	ARRAY['2021-02-01', '2020-11-01 01:01:01', '2021-03-10 07:00', '2021-11-01 09:40']);
SELECT :major > 5 OR :major = 5 AND :minor >= 2 AS microseconds \gset
\if :microseconds
SELECT pg_temp.twins('microseconds', 'bigint', '1 day', NULL, '2021-03-10', 'microseconds');
SELECT pg_temp.alike('microseconds', ARRAY['1612137600000000', '1612223999999999', '1615420800000000', '1615900000000000'],
	ARRAY['2021-02-01', '2021-02-01 23:59:59', '2021-03-11', '2021-03-16 13:06:40']);
\endif

-- names that are cut, and names to be quoted
SELECT pg_temp.twins('a name with "quotes", that is too long for its 63 bytes ÄÖ', 'timestamptz', '1 day', 'daily', '2021-03-10');
SELECT pg_temp.alike('a name with "quotes", that is too long for its 63 bytes ÄÖ', ARRAY['2021-02-01 12:00+00', '2021-03-16 05:00+00']);

-- what a template, the parent and its privileges hand down
SET LOCAL client_min_messages = error;
CREATE PUBLICATION fc_pub;
-- as whom pg_partman's functions run
SELECT format('GRANT CREATE ON DATABASE %I TO fc_writer', current_database()) \gexec
GRANT USAGE ON SCHEMA keeper TO fc_writer;
GRANT SELECT ON keeper.part_config, keeper.table_privs TO fc_writer;
GRANT CREATE ON SCHEMA public TO fc_writer;
ALTER PUBLICATION fc_pub OWNER TO fc_writer;
SET LOCAL client_min_messages = warning;
CREATE TABLE public.template (LIKE a_daily);
ALTER TABLE template ADD PRIMARY KEY (n);
ALTER TABLE template SET (fillfactor = 50, autovacuum_enabled = off);
ALTER TABLE template OWNER TO fc_writer;
DO $$
DECLARE
	side text;
BEGIN
	FOREACH side IN ARRAY ARRAY['a', 'b'] LOOP
		EXECUTE format('CREATE TABLE %s_full (n int, k timestamptz NOT NULL, v text DEFAULT ''x'' CHECK (v <> ''bad'')) PARTITION BY RANGE (k)', side);
		EXECUTE format('COMMENT ON COLUMN %s_full.v IS ''a value''', side);
		EXECUTE format('CREATE STATISTICS %s_full_stat ON n, v FROM %s_full', side, side);
		EXECUTE format('CREATE INDEX ON %s_full (v)', side);
		EXECUTE format('ALTER TABLE %s_full REPLICA IDENTITY FULL', side);
		PERFORM pg_temp.keep(side || '_full', '1 day', 'daily', '2021-03-10', template => 'public.template');
		EXECUTE format('GRANT SELECT ON %s_full TO fc_reader', side);
		EXECUTE format('GRANT INSERT, DELETE ON %s_full TO fc_writer', side);
		EXECUTE format('ALTER TABLE %s_full OWNER TO fc_writer', side);
		UPDATE keeper.part_config SET inherit_privileges = true WHERE parent_table = format('public.%s_full', side);
		IF current_setting('fc.v4')::bool THEN
			EXECUTE format('UPDATE keeper.part_config SET publications = ''{fc_pub}'' WHERE parent_table = ''public.%s_full''', side);
		END IF;
	END LOOP;
END
$$;
SELECT pg_temp.alike('full', ARRAY['2021-02-01 12:00+00', '2020-02-29 23:59:59.999999+00', '2021-03-11 00:00+00', '2021-03-16 05:00+00', '2021-02-01 00:00+00']);
SELECT format('COPY (VALUES (1, timestamptz ''2021-02-05 12:00+00'', ''a''), (2, ''2021-02-05 13:00+00'', ''b''), (1, ''2021-02-05 14:00+00'', ''c'')) TO %L (FORMAT csv)',
	current_setting('fc.file')) \gexec
SELECT matches(pg_temp.refusal('a_full'), '^23505\nduplicate key value violates unique constraint', 'the template''s primary key holds');
SELECT throws_ok(format('SELECT fast_copy(''a_full'', %L, on_error => ''ignore'', on_error_classes => ''{unique}'')', current_setting('fc.file')),
	'0A000', 'on_error_classes "unique" cannot be used here', 'which of its equal rows would stay, the order of the file does not say');
ALTER TABLE template SET UNLOGGED;
SELECT :major < 5 AS publications \gset
\if :publications
UPDATE keeper.part_config SET publications = NULL;
\endif
SELECT pg_temp.alike('full', ARRAY['2021-01-01 12:00+00', '2021-03-17 05:00+00']);
SELECT bag_eq($$SELECT DISTINCT relpersistence::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'a_full'::regclass AND relname ~ '^a_full_p2021_?01_?01'$$,
	ARRAY['u'], 'a template that is not logged');

-- a default partition
SELECT pg_temp.twins('spare', 'timestamptz', '1 day', 'daily', '2021-03-10');
INSERT INTO a_spare VALUES (0, '2021-02-01 12:00+00'), (0, '1999-01-01 00:00+00');
INSERT INTO b_spare VALUES (0, '1999-01-01 00:00+00');
SELECT isnt_empty('SELECT FROM a_spare_default', 'there is a default partition');
SELECT pg_temp.keys(ARRAY['2021-02-02 12:00+00', '2021-02-01 13:00+00']);
SELECT matches(pg_temp.refusal('a_spare'), '^23514\nupdated partition constraint for default partition "a_spare_default" would be violated', 'rows in the way');
SELECT matches(pg_temp.warnings('a_spare'), '^partitions: updated partition constraint', 'an analysis tells of rows in the way');
DELETE FROM a_spare_default WHERE k > '2020-01-01';
SELECT pg_temp.alike('spare', ARRAY['2021-02-02 12:00+00', '2021-02-01 13:00+00', '2021-03-14 13:00+00']);
SELECT is((SELECT count(*) FROM a_spare_default), 1::bigint, 'other rows stay in the default partition');

-- guards
CREATE TABLE a_guard (n int, k timestamptz NOT NULL, v text) PARTITION BY RANGE (k);
SELECT pg_temp.keep('a_guard', '1 day', 'daily', '2021-03-10');
UPDATE keeper.part_config SET retention = '30 days' WHERE parent_table = 'public.a_guard';
SELECT pg_temp.keys(ARRAY['2021-02-02 12:00+00', '2021-02-01 13:00+00']);
SELECT matches(pg_temp.refusal('a_guard'), '^55000\nrows are older than the retention of pg_partman for table "public.a_guard"\nThe retention is "30 days", and the oldest rows belong to values FROM \(''2021-02-01 00:00:00\+00''\).*\n.*fast_copy.ignore_retention', 'retention');
SELECT matches(pg_temp.warnings('a_guard'), '^retention: rows are older', 'an analysis tells of the retention');
SET LOCAL fast_copy.ignore_retention = on;
SELECT is(pg_temp.warnings('a_guard'), NULL, 'retention ignored in an analysis');
SELECT is(pg_temp.load('a_guard'), 2::bigint, 'retention ignored');
RESET fast_copy.ignore_retention;
SELECT matches(pg_temp.refusal('a_guard'), '^55000\nrows are older', 'retention, and the partitions exist');
UPDATE keeper.part_config SET retention = '1000 years' WHERE parent_table = 'public.a_guard';
SELECT is(pg_temp.load('a_guard'), 2::bigint, 'a long retention');
UPDATE keeper.part_config SET retention = NULL WHERE parent_table = 'public.a_guard';

SELECT pg_temp.keys(ARRAY['2021-02-02 12:00+00', '2999-02-01 13:00+00']);
SELECT matches(pg_temp.refusal('a_guard'), '^55000\nrows lie beyond the partitions that pg_partman creates in advance for table "public.a_guard"\nIt creates 3 partitions of .* ahead of now, and the latest rows belong to values FROM \(''2999-02-01 .*\n.*fast_copy.ignore_premake', 'premake');
SELECT matches(pg_temp.warnings('a_guard'), '^premake: rows lie beyond', 'an analysis tells of what is premade');
SET LOCAL fast_copy.ignore_premake = on;
SELECT is(pg_temp.load('a_guard'), 2::bigint, 'premake ignored');
RESET fast_copy.ignore_premake;

SET LOCAL fast_copy.max_partitions = 2;
SELECT pg_temp.keys(ARRAY['2021-01-02 12:00+00', '2021-01-03 13:00+00', '2021-01-09 13:00+00']);
SELECT matches(pg_temp.refusal('a_guard'), '^54000\ncannot create more than 2 partitions\nThe rows need 3 new partitions of table "a_guard", from values 2021-01-02 .* to 2021-01-09 .*\n.*fast_copy.max_partitions', 'too many partitions');
SELECT matches(pg_temp.warnings('a_guard'), '^max_partitions: cannot create more than 2 partitions', 'an analysis tells of too many');
CREATE TABLE plain (n int, k date, v text) PARTITION BY RANGE (k);
SELECT matches(pg_temp.refusal('plain'), '^54000\ncannot create more than 2 partitions', 'too many partitions of another table');
SET LOCAL fast_copy.max_partitions = 3;
SELECT is(pg_temp.load('a_guard'), 3::bigint, 'not too many');
SELECT is(pg_temp.load('plain'), 3::bigint, 'not too many of another table');
RESET fast_copy.max_partitions;

CREATE TABLE a_ids (n int, k bigint NOT NULL, v text) PARTITION BY RANGE (k);
SELECT pg_temp.keep('a_ids', '100', NULL, '1000');
UPDATE keeper.part_config SET retention = '500' WHERE parent_table = 'public.a_ids';
SELECT pg_temp.keys(ARRAY['1001', '500']);
SELECT is(pg_temp.load('a_ids'), 2::bigint, 'retention of ids: 1001 - 600 < 500');
SELECT pg_temp.keys(ARRAY['499', '1100']);
SELECT matches(pg_temp.refusal('a_ids'), '^55000\nrows are older .*\n.*FROM \(''400''\) TO \(''500''\)', 'retention of ids: 1100 - 500 >= 500');
SELECT pg_temp.keys(ARRAY['499', '450']);
SELECT matches(pg_temp.refusal('a_ids'), '^55000\nrows are older', 'retention of ids: 1001, which is there, - 500 >= 500');

-- names that are taken
SELECT pg_temp.twins('taken', 'timestamptz', '1 day', 'daily', '2021-03-10');
SELECT keeper.create_partition_time(p_parent_table => 'public.a_taken', p_partition_times => ARRAY[timestamptz '2021-02-01 00:00+00']) \g /dev/null
SELECT format('ALTER TABLE a_taken DETACH PARTITION %s', inhrelid::regclass) FROM pg_inherits
	WHERE inhparent = 'a_taken'::regclass AND inhrelid::regclass::text ~ '2021_?02_?01$' \gexec
SELECT pg_temp.keys(ARRAY['2021-02-01 12:00+00']);
SELECT matches(pg_temp.refusal('a_taken'), '^42P07\nrelation "a_taken_p2021_?02_?01" already exists\npg_partman gives this name .*\nAttach, rename or drop it first', 'a name that is taken');

-- partitions that are not whole intervals
SELECT format('DROP TABLE %s', c) FROM (SELECT inhrelid::regclass AS c FROM pg_inherits WHERE inhparent = 'a_taken'::regclass AND inhrelid::regclass::text !~ 'default') t \gexec
CREATE TABLE a_taken_odd PARTITION OF a_taken FOR VALUES FROM ('2021-02-05 00:00+00') TO ('2021-02-10 12:00+00');
SELECT matches(pg_temp.refusal('a_taken'), '^55000\npartitions of table "public.a_taken" do not line up', 'existing partitions that begin at another time of day');

-- time zones: existing partitions tell theirs
SET LOCAL timezone = 'Europe/Berlin';
SELECT pg_temp.twins('zone', 'timestamptz', '1 day', 'daily', '2021-03-10');
SELECT pg_temp.keys(ARRAY['2021-03-28 12:00', '2021-03-29 00:00', '2021-10-31 02:30+02', '2021-10-31 02:30+01']);
SELECT pg_temp.alike('zone', ARRAY['2021-03-28 12:00', '2021-03-29 00:00', '2021-10-31 02:30+02', '2021-10-31 02:30+01', '2020-12-31 23:30']);
SET LOCAL timezone = 'UTC';
SELECT pg_temp.keys(ARRAY['2019-01-31 12:00+00']);
SELECT matches(pg_temp.refusal('a_zone'), '^55000\npartitions of table "public.a_zone" do not line up with the interval of pg_partman\nThe interval is .* in the time zone "UTC".\nSet TimeZone', 'another time zone');
ALTER ROLE fc_reader SET timezone = 'Europe/Berlin';
SELECT is(pg_temp.load('a_zone'), 1::bigint, 'the time zone of some role');
SELECT is((SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname ~ '^a_zone_p2019_?01_?31'),
	'FOR VALUES FROM (''2019-01-30 23:00:00+00'') TO (''2019-01-31 23:00:00+00'')', 'the time zone of the existing partitions');
SELECT matches((SELECT choice FROM fast_copy_report() WHERE phase = 'partitions'), '^1 created for pg_partman, in time zone Europe/Berlin', 'the report names the time zone');
ALTER ROLE fc_reader RESET timezone;

-- hours pass where clocks change; two of them have one name
SET LOCAL timezone = 'Europe/Berlin';
SELECT pg_temp.twins('clock', 'timestamptz', '1 hour', 'hourly', '2021-03-10 07:00');
SELECT pg_temp.keys(ARRAY['2021-10-31 02:30+02', '2021-10-31 02:30+01', '2021-10-31 03:30+01', '2021-03-28 01:30+01', '2021-03-28 03:30+02']);
SELECT is(pg_temp.load('a_clock'), 5::bigint, 'hours where clocks change');
SELECT bag_eq($$SELECT relname || ' ' || pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname ~ '^a_clock_p2021_?10'$$,
	ARRAY[format('a_clock_p2021%1$s10%1$s31_0200%2$s FOR VALUES FROM (''2021-10-31 02:00:00+02'') TO (''2021-10-31 02:00:00+01'')', s, t),
		format('a_clock_p2021%1$s10%1$s31_0200%2$s_1 FOR VALUES FROM (''2021-10-31 02:00:00+01'') TO (''2021-10-31 03:00:00+01'')', s, t),
		format('a_clock_p2021%1$s10%1$s31_0300%2$s FOR VALUES FROM (''2021-10-31 03:00:00+01'') TO (''2021-10-31 04:00:00+01'')', s, t)],
	'hours of one name') FROM (SELECT CASE WHEN :'v4' THEN '_' ELSE '' END AS s, CASE WHEN :'v4' THEN '' ELSE '00' END AS t) f;
SELECT lives_ok($$SELECT keeper.run_maintenance('public.a_clock')$$, 'maintenance with hours of one name');
SET LOCAL timezone = 'UTC';
SELECT pg_temp.keys(ARRAY['2021-02-01 02:30+00']);
ALTER ROLE fc_reader SET timezone = 'Europe/Berlin';
SELECT is(pg_temp.load('a_clock'), 1::bigint, 'an hour of another time zone');
SELECT isnt_empty($$SELECT FROM pg_class WHERE relname ~ '^a_clock_p2021_?02_?01_0300'$$, 'names of hours tell the time zone');
ALTER ROLE fc_reader RESET timezone;
ALTER TABLE keeper.part_config ADD COLUMN IF NOT EXISTS partition_timezone text;
UPDATE keeper.part_config SET partition_timezone = 'Asia/Tokyo' WHERE parent_table = 'public.a_clock';
SELECT pg_temp.keys(ARRAY['2021-02-02 02:30+00']);
SELECT is(pg_temp.load('a_clock'), 1::bigint, 'partition_timezone');
SELECT isnt_empty($$SELECT FROM pg_class WHERE relname ~ '^a_clock_p2021_?02_?02_1100'$$, 'partition_timezone decides');
-- ... where there is no partition yet, too: months and weeks begin there, whatever the session's zone is
CREATE FUNCTION pg_temp.first_of_zone(width text, word text, zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	part text;
BEGIN
	CREATE TABLE a_first (n int, k timestamptz NOT NULL, v text) PARTITION BY RANGE (k);
	PERFORM pg_temp.keep('a_first', width, word, '2024-01-01');
	FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'a_first'::regclass AND inhrelid::regclass::text !~ 'default' LOOP
		EXECUTE 'DROP TABLE ' || part;
	END LOOP;
	UPDATE keeper.part_config SET partition_timezone = zone WHERE parent_table = 'public.a_first';
	PERFORM pg_temp.keys('{2024-03-13 12:00+00}'), pg_temp.load('a_first'), set_config('timezone', zone, true);
	SELECT pg_get_expr(relpartbound, oid) INTO said FROM pg_class WHERE relname ~ '^a_first_p' AND relispartition;
	SET LOCAL timezone = 'UTC';
	DROP TABLE a_first CASCADE;
	DELETE FROM keeper.part_config WHERE parent_table = 'public.a_first';
	RETURN said;
END
$$;
SELECT is(pg_temp.first_of_zone(width, word, zone), wanted, concat_ws(', ', width, zone))
FROM (VALUES ('1 month', 'monthly', 'Asia/Tokyo', $$FOR VALUES FROM ('2024-03-01 00:00:00+09') TO ('2024-04-01 00:00:00+09')$$),
	('1 week', 'weekly', 'Asia/Tokyo', $$FOR VALUES FROM ('2024-03-11 00:00:00+09') TO ('2024-03-18 00:00:00+09')$$),
	('1 week', 'weekly', 'America/New_York', $$FOR VALUES FROM ('2024-03-11 00:00:00-04') TO ('2024-03-18 00:00:00-04')$$)) AS v (width, word, zone, wanted);

-- workers find the same partitions
SET LOCAL timezone = 'Europe/Berlin';
SELECT pg_temp.twins('workers', 'timestamptz', '1 month', 'monthly', '2021-03-01');
SELECT pg_temp.twins('epochs', 'bigint', '1 month', 'monthly', '2021-03-01', 'milliseconds');
SET LOCAL timezone = 'America/New_York';
ALTER ROLE fc_reader SET timezone = 'Europe/Berlin';
SET LOCAL fast_copy.chunk_size = 4096;
SELECT pg_temp.keys(array_agg((timestamptz '2019-01-01 00:00+01' + (i * 7919 % 10000) * interval '1 hour')::text)) FROM generate_series(1, 10000) i;
SELECT is(fast_copy('a_workers', current_setting('fc.file'), workers => 2), 10000::bigint, 'two workers');
SELECT isnt_empty($$SELECT FROM fast_copy_report() WHERE phase = 'scan' AND processes > 1$$, 'workers scan');
SELECT pg_temp.keys(array_agg(((extract(epoch FROM timestamptz '2019-01-01 00:00+01') + (i * 7919 % 10000) * 3600) * 1000)::bigint::text)) FROM generate_series(1, 10000) i;
SELECT is(fast_copy('a_epochs', current_setting('fc.file'), workers => 2), 10000::bigint, 'two workers, and epochs');
SET LOCAL timezone = 'Europe/Berlin';
SELECT is_empty($$SELECT FROM a_workers WHERE tableoid::regclass::text <> 'a_workers_p' || to_char(k, CASE WHEN current_setting('fc.v4')::bool THEN 'YYYY_MM' ELSE 'YYYYMM01' END)$$,
	'months of the time zone of the set');
SELECT is_empty($$SELECT FROM a_epochs WHERE tableoid::regclass::text <> 'a_epochs_p' || to_char(to_timestamp(k / 1000), CASE WHEN current_setting('fc.v4')::bool THEN 'YYYY_MM' ELSE 'YYYYMM01' END)$$,
	'months of the time zone of the set, as epochs');
-- a file in key order is loaded without a scan
SELECT format('COPY (SELECT i, timestamptz ''2022-01-01 00:00+01'' + i * interval ''1 hour'', ''x'' FROM generate_series(0, 9999) i) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT format('DROP TABLE %s', inhrelid::regclass) FROM pg_inherits WHERE inhparent = 'a_workers'::regclass AND inhrelid::regclass::text ~ 'default' \gexec
SELECT is(fast_copy('a_workers', current_setting('fc.file'), workers => 2), 10000::bigint, 'a file in key order');
SELECT is_empty($$SELECT FROM fast_copy_report() WHERE phase = 'scan'$$, 'no scan');
SELECT is_empty($$SELECT FROM a_workers WHERE tableoid::regclass::text <> 'a_workers_p' || to_char(k, CASE WHEN current_setting('fc.v4')::bool THEN 'YYYY_MM' ELSE 'YYYYMM01' END)$$,
	'months of a file in key order');
RESET fast_copy.chunk_size;
ALTER ROLE fc_reader RESET timezone;
SET LOCAL timezone = 'UTC';

-- rows of the default partition move to partitions like these
CREATE FUNCTION pg_temp.drain(target regclass) RETURNS bigint LANGUAGE sql AS $$
SELECT fast_copy(target, current_setting('fc.file'), missing_partitions => 'default') + 0 * fast_copy_drain(target)
$$;
ALTER FUNCTION pg_temp.load RENAME TO load_file;
ALTER FUNCTION pg_temp.drain RENAME TO load;
SELECT pg_temp.twins('drained', 'timestamptz', '1 day', 'daily', '2021-03-10');
SELECT pg_temp.alike('drained', ARRAY['2021-03-10 00:00+00', '2021-02-01 02:30+00', '2021-02-01 00:00+00', '2021-02-08 23:59:59+00', '2021-03-13 01:00+00']);
SELECT pg_temp.twins('drained_id', 'bigint', '10', NULL, '100');
SELECT pg_temp.alike('drained_id', ARRAY['105', '27', '20', '3', '135']);
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'partitions'), '2 created for pg_partman', 'the report tells of it');
SELECT throws_ok($$SELECT fast_copy_repartition('a_drained', 'detach', partition_interval => '1 month')$$, '22023', 'argument "partition_interval" cannot be used for table "a_drained", which pg_partman manages', 'partitions of another width are refused');
-- rows that maintenance would remove, or go on from, stay
CREATE TABLE a_stay (n int, k timestamptz, v text) PARTITION BY RANGE (k);
SELECT pg_temp.keep('a_stay', '1 day', 'daily', '2021-03-10');
UPDATE keeper.part_config SET retention = '1000 years' WHERE parent_table = 'public.a_stay';
CREATE FUNCTION pg_temp.stay(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	BEGIN
		INSERT INTO a_stay VALUES (1, '0500-01-01 12:00+00'), (2, '2021-02-01 12:00+00'), (3, '2021-02-01 13:00+00'), (4, '2999-02-01 13:00+00');
		EXECUTE format('SELECT fast_copy_drain(''a_stay''%s)', arguments) INTO result;
		result := format('%s moved, but not %s', result, (SELECT string_agg(n::text, ', ' ORDER BY n) FROM a_stay_default));
		RAISE division_by_zero;
	EXCEPTION
		WHEN division_by_zero THEN NULL;
		WHEN others THEN result := format('%s %s', SQLSTATE, SQLERRM);
	END;
	RETURN result;
END
$$;
SELECT is(pg_temp.stay(''), '2 moved, but not 1, 4', 'rows beyond retention and premake stay');
SELECT is(pg_temp.stay(', replace_from => ''-infinity'', replace_to => ''infinity'''), '2 moved, but not 1, 4', '... of a range');
SELECT is(pg_temp.stay(', replace_from => ''0400-01-01'', replace_to => ''0600-01-01'''), '0 moved, but not 1, 2, 3, 4', '... in which nothing may move');
SET LOCAL fast_copy.ignore_retention = on;
SELECT is(pg_temp.stay(''), '3 moved, but not 4', '... unless retention is ignored');
SET LOCAL fast_copy.ignore_premake = on;
SELECT is(pg_temp.stay(''), '4 moved, but not ', '... and premake');
RESET fast_copy.ignore_retention;
SELECT is(pg_temp.stay(''), '3 moved, but not 1', '... or premake alone');
RESET fast_copy.ignore_premake;
ALTER FUNCTION pg_temp.load RENAME TO drain;
ALTER FUNCTION pg_temp.load_file RENAME TO load;

-- what is refused
SELECT pg_temp.keys(ARRAY['2021-02-01 02:30+00', '2021-02-08 02:30+00']);
UPDATE keeper.part_config SET undo_in_progress = true WHERE parent_table = 'public.a_weekly';
SELECT matches(pg_temp.refusal('a_weekly'), '^55000\ncannot create partitions of table "public.a_weekly", which pg_partman manages\npg_partman is undoing .*\nSet missing_partitions .*fast_copy.use_partman', 'undo');
SELECT matches(pg_temp.warnings('a_weekly'), '^pg_partman: cannot create partitions .*is undoing', 'an analysis tells of undo');
SELECT throws_ok($$SELECT fast_copy('a_weekly', current_setting('fc.file'), missing_partitions => 'error')$$, '23514', NULL, 'no partitions are made, so that undo is no matter');
UPDATE keeper.part_config SET undo_in_progress = false WHERE parent_table = 'public.a_weekly';
ALTER TABLE keeper.part_config ADD COLUMN IF NOT EXISTS async_partitioning_in_progress text;
UPDATE keeper.part_config SET async_partitioning_in_progress = 'x' WHERE parent_table = 'public.a_weekly';
SELECT matches(pg_temp.refusal('a_weekly'), '^55000\n.*\npg_partman is moving its rows', 'async');
UPDATE keeper.part_config SET async_partitioning_in_progress = NULL WHERE parent_table = 'public.a_weekly';
UPDATE keeper.part_config SET control = 'n' WHERE parent_table = 'public.a_weekly';
SELECT matches(pg_temp.refusal('a_weekly'), '^0A000\n.*\nIts control column "n" is not the partition key', 'another control column');
UPDATE keeper.part_config SET control = 'k', epoch = 'seconds' WHERE parent_table = 'public.a_weekly';
SELECT matches(pg_temp.refusal('a_weekly'), '^0A000\n.*\nIts control column "k" is of type timestamp with time zone', 'a time is no epoch');
UPDATE keeper.part_config SET epoch = 'none', partition_interval = '1 mon 3 days' WHERE parent_table = 'public.a_weekly';
SELECT matches(pg_temp.refusal('a_weekly'), '^22023\ninvalid partition interval: "1 mon 3 days"', 'an interval that is not one of ours');
UPDATE keeper.part_config SET partition_interval = '7 days' WHERE parent_table = 'public.a_weekly';
SELECT throws_ok($$SELECT fast_copy('a_weekly', current_setting('fc.file'), partition_interval => '1 day')$$, '22023',
	'argument "partition_interval" cannot be used for table "a_weekly", which pg_partman manages', 'an interval of our own');
SELECT is(pg_temp.load('a_weekly'), 2::bigint, 'weekly after all that');

CREATE TABLE a_sub (n int, k timestamptz NOT NULL, v text) PARTITION BY RANGE (k);
SELECT pg_temp.keep('a_sub', '1 month', 'monthly', '2021-03-01');
INSERT INTO keeper.part_config_sub (sub_parent, sub_control, sub_partition_type, sub_partition_interval)
SELECT 'public.a_sub', 'k', CASE WHEN :'v4' THEN 'native' ELSE 'range' END, '1 day';
SELECT matches(pg_temp.refusal('a_sub'), '^0A000\n.*\nIt is sub-partitioned', 'sub-partitions');
SET LOCAL fast_copy.use_partman = off;
SELECT is(pg_temp.load('a_sub'), 2::bigint, 'as a table that pg_partman does not keep');
RESET fast_copy.use_partman;

-- below a table of another kind
CREATE TABLE a_lists (n int, k timestamptz NOT NULL, v text) PARTITION BY LIST (v);
CREATE TABLE a_listed PARTITION OF a_lists FOR VALUES IN ('x') PARTITION BY RANGE (k);
SELECT pg_temp.keep('a_listed', '1 month', 'monthly', '2021-03-01');
SELECT matches(pg_temp.refusal('a_lists'), '^0A000\ncannot create partitions of table "public.a_listed", which pg_partman manages\nCore routes rows', 'a table below one that pg_partman does not manage');
SELECT matches(pg_temp.warnings('a_lists'), 'partitions: cannot create partitions of table "public.a_listed", which pg_partman manages', '... as an analysis says');

-- who may not read the configuration
REVOKE ALL ON ALL TABLES IN SCHEMA keeper FROM fc_writer;
GRANT ALL ON SCHEMA public TO fc_writer;
GRANT pg_read_server_files TO fc_writer;
CREATE TABLE a_owned (n int, k timestamptz NOT NULL, v text) PARTITION BY RANGE (k);
SELECT pg_temp.keep('a_owned', '1 week', 'weekly', '2021-02-01');
ALTER TABLE a_owned OWNER TO fc_writer;
SET LOCAL ROLE fc_writer;
SELECT fast_copy('a_owned', current_setting('fc.file')) AS rows \gset
SELECT count(*) AS warnings FROM fast_copy_analyze('a_owned', current_setting('fc.file')) WHERE item = 'warning' \gset
RESET ROLE;
SELECT is(:rows, 2, 'existing partitions, without privileges');
SELECT is(:warnings, 0, 'existing partitions, without privileges, no warning');
SELECT pg_temp.keys(ARRAY['2021-01-01 02:30+00', '2021-02-08 02:30+00']);
CREATE TEMP TABLE outcome (refusal text, warning text);
GRANT ALL ON outcome TO fc_writer;
SET LOCAL ROLE fc_writer;
INSERT INTO outcome VALUES (pg_temp.refusal('a_owned'), pg_temp.warnings('a_owned'));
RESET ROLE;
SELECT matches(refusal, '^42501\n.*\nIts configuration may not be read', 'new partitions, without privileges') FROM outcome;
SELECT matches(warning, '^pg_partman: cannot create partitions', 'an analysis tells of privileges') FROM outcome;

-- who may not read catalogs, of whatever tables
CREATE TABLE a_plain (n int, k timestamptz NOT NULL, v text, UNIQUE (n, k)) PARTITION BY RANGE (k);
CREATE TABLE refers (n int, k timestamptz, FOREIGN KEY (n, k) REFERENCES a_plain (n, k) ON DELETE CASCADE);
ALTER TABLE a_plain OWNER TO fc_writer;
REVOKE SELECT ON pg_catalog.pg_database, pg_catalog.pg_extension, pg_catalog.pg_trigger, pg_catalog.pg_inherits, pg_catalog.pg_db_role_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_temp.failure(text) TO fc_writer;
SET LOCAL ROLE fc_writer;
SELECT is(pg_temp.failure(format('SELECT fast_copy(''a_plain'', current_setting(''fc.file''), ''k'', partition_interval => ''1 month''%s)', more)), NULL, 'without SELECT on catalogs' || more)
FROM (VALUES (1, ''), (2, ', existing_rows => ''replace'''), (3, ', on_conflict => ''update'', dedup_keys => ''{n,k}'', on_error => ''ignore'', on_error_classes => ''{check}''')) AS v (i, more) ORDER BY i;
RESET ROLE;

SELECT is(current_setting('search_path'), 'public, pg_catalog', 'settings are what they were');
SELECT * FROM finish();
ROLLBACK;
