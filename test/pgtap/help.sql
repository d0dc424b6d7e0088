-- What psql shows about the extension, and which argument an error speaks of.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

\set ON_ERROR_STOP 1
\set QUIET 1
\pset format unaligned
\pset tuples_only on
\pset pager off

BEGIN;
SELECT no_plan();

-- \df+, \dv+, \d+: every object the extension has
SELECT is_empty($$
	SELECT pg_describe_object(d.classid, d.objid, 0)
	FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid
	WHERE e.extname = 'fast_copy' AND d.deptype = 'e'
		AND d.refclassid = 'pg_extension'::regclass
		AND d.classid IN ('pg_proc'::regclass, 'pg_class'::regclass)
		AND obj_description(d.objid, d.classid::regclass::text) IS NULL
$$, 'a comment on every function and relation');
SELECT is_empty($$
	SELECT c.relname, a.attname
	FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid
		JOIN pg_class AS c ON d.objid = c.oid
		JOIN pg_attribute AS a ON a.attrelid = c.oid
	WHERE e.extname = 'fast_copy' AND d.deptype = 'e'
		AND d.classid = 'pg_class'::regclass
		AND c.relkind IN ('r', 'v', 'c', 'm') AND a.attnum > 0
		AND col_description(c.oid, a.attnum) IS NULL
$$, 'a comment on every column of them');
SELECT isnt_empty($$
	SELECT 1 FROM pg_attribute
	WHERE attrelid = 'fast_copy_progress'::regclass AND attnum > 0
		AND col_description(attrelid, attnum) IS NOT NULL
$$, 'of which there are some');
SELECT isnt(obj_description(oid, 'pg_extension'), NULL, 'a comment on the extension')
FROM pg_extension WHERE extname = 'fast_copy';

-- SHOW ALL: every setting
LOAD 'fast_copy';
SELECT cmp_ok(count(*), '>=', 10::bigint, 'settings are defined')
FROM pg_settings WHERE name LIKE 'fast\_copy.%';
SELECT is_empty($$
	SELECT name FROM pg_settings
	WHERE name LIKE 'fast\_copy.%' AND (short_desc IS NULL OR extra_desc IS NULL
		OR short_desc !~ '\.$' OR extra_desc !~ '\.$')
$$, 'a short and a long description of every setting, in sentences');
SELECT results_eq($$
	SELECT name, setting, unit, context FROM pg_settings
	WHERE name IN ('fast_copy.log_min_duration', 'fast_copy.progress_width') ORDER BY 1
$$, $$VALUES ('fast_copy.log_min_duration', '-1', 'ms', 'superuser'),
	('fast_copy.progress_width', '0', NULL, 'user')$$, 'those for watching a load');

-- hints name the argument to change
CREATE TABLE help (ts timestamp, n int) PARTITION BY RANGE (ts);

CREATE FUNCTION hint(arguments text, state text, hint text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	found text;
	was text;
BEGIN
	EXECUTE format('SELECT fast_copy(''help'', ''/dev/null'', %s)', arguments);
	RETURN fail(arguments || ': no error');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS found = PG_EXCEPTION_HINT, was = RETURNED_SQLSTATE;
	RETURN is(was || ' ' || found, state || ' ' || hint, arguments);
END
$$;

SELECT hint($$header => '-1'$$, '22023', $$Use header => 'true', 'match', 'map' or a number of lines to skip.$$);
SELECT hint($$on_error => 'go'$$, '22023', $$Use on_error => 'stop', 'ignore' or 'set_null'.$$);
SELECT hint($$log_verbosity => 'loud'$$, '22023', $$Use log_verbosity => 'default', 'verbose' or 'silent'.$$);
SELECT hint($$reject_limit => 1$$, '22023', $$Add on_error => 'ignore', or leave reject_limit out.$$);
SELECT hint($$ignore_extra_columns => true$$, '22023', $$Use header => 'map': then the header tells which columns are extra.$$);
SELECT hint($$time_zone => ''$$, '22023', $$Leave time_zone out to use the session's.$$);
SELECT hint($$workers => -1$$, '22023', $$Leave workers out to get as many as fast_copy.workers says.$$);
SELECT hint($$format => NULL$$, '22004', $$Leave it out to get its default.$$);
SELECT hint($$columns => '{}'$$, '22023', $$Leave it out, or give NULL, to get its default.$$);
SELECT hint($$where_clause => 'true; SELECT 1'$$, '42601', $$Join conditions by AND or OR.$$);

-- The same to those who write COPY, in its syntax
CREATE FUNCTION hint_of_copy(options text, hint text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE format('COPY help FROM ''/dev/null'' WITH (fast_copy, format csv, %s)', options);
	RETURN NEXT fail(options || ': no error');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS found = PG_EXCEPTION_HINT;
	RETURN NEXT is(found, hint, 'COPY: ' || options);
END
$$;
SELECT hint_of_copy($$header '-1'$$, $$Use header 'true', 'match', 'map' or a number of lines to skip.$$);
SELECT hint_of_copy($$on_error 'go'$$, $$Use on_error 'stop', 'ignore' or 'set_null'.$$);
SELECT hint_of_copy($$log_verbosity 'loud'$$, $$Use log_verbosity 'default', 'verbose' or 'silent'.$$);
SELECT hint_of_copy($$reject_limit 1$$, $$Add on_error 'ignore', or leave reject_limit out.$$);
SELECT hint_of_copy($$ignore_extra_columns true$$, $$Use header 'map': then the header tells which columns are extra.$$);
SELECT hint_of_copy($$progress '0'$$, $$Give an interval such as progress '5s', or leave progress out.$$);

-- ... a worker's, too
CREATE TABLE help_parts (n int, ts timestamp) PARTITION BY RANGE (ts);
CREATE TABLE help_parts_rest PARTITION OF help_parts DEFAULT;
\set rows_file :tmp_dir '/help.csv'
COPY (SELECT 1, timestamp '2013-01-01') TO :'rows_file' (FORMAT csv);
CREATE FUNCTION hint_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS found = PG_EXCEPTION_HINT;
	RETURN found;
END
$$;
SELECT is(hint_of(format('SELECT fast_copy(''help_parts'', %L, missing_partitions => ''error'', workers => %s)', :'rows_file', workers)),
	$$Use missing_partitions => 'default' or 'create'.$$, format('missing_partitions, %s workers', workers))
FROM unnest(ARRAY[0, 2]) AS workers;
SELECT is(hint_of(format('COPY help_parts FROM %L WITH (fast_copy, format csv, missing_partitions ''error'', workers %s)', :'rows_file', workers)),
	$$Use missing_partitions 'default' or 'create'.$$, format('COPY: missing_partitions, %s workers', workers))
FROM unnest(ARRAY[0, 2]) AS workers;
ALTER TABLE help_parts ADD UNIQUE (ts, n);
SELECT is(hint_of(format('COPY help_parts FROM %L WITH (fast_copy, format csv, missing_partitions ''error'')', :'rows_file')),
	$$Use missing_partitions 'default' or 'create'.$$, 'COPY: missing_partitions, in the leader');

-- progress: an interval, and more than none
SELECT hint(format('progress => %L', interval), '22023',
	$$Give an interval such as progress => '5s', or leave progress out.$$)
FROM unnest(ARRAY['0', '0s', '-1s', '-1 month', '100000 years', '1 day -24 hours']) AS interval;
SELECT throws_ok(format('SELECT fast_copy(''help'', ''/dev/null'', progress => %L)', interval),
	'22007', NULL, format('progress => %L is no interval', interval))
FROM unnest(ARRAY['', 'soon', '5 parsecs', '5s, please']) AS interval;
SELECT fast_copy_create_reject_table('help_rejects');
SELECT is_empty($$
	SELECT attname FROM pg_attribute
	WHERE attrelid = 'help_rejects'::regclass AND attnum > 0
		AND col_description(attrelid, attnum) IS NULL
$$, 'a comment on every column of a reject table');

-- and what it may be; a quick load says when it is done
\set file :tmp_dir '/help.csv'
COPY (SELECT '2024-01-01'::date, 1) TO :'file' (FORMAT csv);
SET client_min_messages = warning;
SELECT is(fast_copy('help', :'file', progress => interval), 1::bigint, format('progress => %L', interval))
FROM unnest(ARRAY['5s', '500ms', '1 min', '00:00:05', '5', '1 day', 'PT5S', NULL]) AS interval;
SELECT ok(EXISTS (SELECT 1 FROM fast_copy_analyze('help', :'file', progress => '1s') WHERE item = 'rows' AND rows = 1),
	'fast_copy_analyze takes it, too');
RESET client_min_messages;
SELECT * FROM finish();
ROLLBACK;
