-- What psql shows about the extension, and which argument an error speaks of.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

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

-- options/list.h and sql/help.in: the same options, each once
SELECT is_empty($$
	SELECT name FROM fast_copy_help_options()
	GROUP BY name
	HAVING count(*) > 1 OR bool_or(type IS NULL OR preset IS NULL OR sample IS NULL OR meaning IS NULL OR explanation IS NULL OR example IS NULL)
$$, 'all is said of each option, once');

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
	SELECT name, boot_val, unit, context FROM pg_settings
	WHERE name IN ('fast_copy.log_min_duration', 'fast_copy.progress_width') ORDER BY 1
$$, $$VALUES ('fast_copy.log_min_duration', '-1', 'ms', 'superuser'),
	('fast_copy.progress_width', '80', NULL, 'user')$$, 'those for watching a load');

-- fast_copy_help(): each option, as fast_copy has it, in its order
CREATE VIEW argument AS
SELECT a.n, p.proargnames[a.n] AS name, format_type(a.type, NULL) AS type,
	coalesce(regexp_replace(pg_get_function_arg_default(p.oid, a.n::int), '::[a-z_]+(\[\])?$', ''), '') AS preset
FROM pg_proc AS p, unnest(p.proargtypes) WITH ORDINALITY AS a (type, n)
WHERE p.oid = (SELECT max(oid) FROM pg_proc WHERE proname = 'fast_copy' AND proargtypes[1] = 'text'::regtype);
SELECT results_eq($$SELECT option, "type", "default" FROM fast_copy_help()$$, $$
	SELECT name::text COLLATE "default", CASE WHEN type = 'fast_copy_value' THEN 'text' ELSE type END, nullif(nullif(trim('''' FROM preset), 'NULL'), '') FROM (
		SELECT * FROM argument
		UNION ALL VALUES (1000, 'compressed', 'boolean', 'false'), (1001, 'fast_copy', 'boolean', 'false')) AS a
	ORDER BY name IN ('options', 'fast_copy'), n
$$, 'all options, with type and default');
SELECT results_eq($$SELECT option FROM fast_copy_help() WHERE copy = 'same'$$, $$
	VALUES ('format'), ('header'), ('delimiter'), ('quote'), ('escape'), ('force_not_null'), ('force_null'), ('encoding'),
		('freeze'), ('on_error'), ('reject_limit'), ('log_verbosity'), ('program'), ('fast_copy')
$$, 'what COPY calls by the same name');
SELECT results_eq($$SELECT option, copy FROM fast_copy_help() WHERE copy NOT IN ('same', 'own')$$, $$
	VALUES ('target', 'table'), ('source', 'FROM'), ('columns', '(list)'), ('null_string', 'NULL'), ('default_string', 'DEFAULT'), ('where_clause', 'WHERE')
$$, 'and by another one');
SELECT results_eq($$SELECT option FROM fast_copy_help() WHERE copy IS NULL$$, $$VALUES ('options')$$, 'what COPY takes not at all');
SELECT set_has($$SELECT option FROM fast_copy_help() WHERE copy = 'own'$$, $$VALUES ('timestamp_column'), ('existing_rows'), ('compressed')$$, 'what it takes with the option fast_copy');

-- ... in a width that every terminal has
\set shown :tmp_dir '/help.shown'
\pset format aligned
\pset tuples_only off
\o :shown
SELECT * FROM fast_copy_help();
SELECT fast_copy_help(option) FROM fast_copy_help();
SELECT fast_copy_help(name) FROM pg_settings WHERE name LIKE 'fast\_copy.%';
SELECT fast_copy_help(proname) FROM (SELECT DISTINCT proname::text FROM pg_proc WHERE proname ~ '^fast_copy(_[^v]|$)') AS p;
\o
\pset format unaligned
\pset tuples_only on
SELECT is_empty(format($$SELECT line FROM regexp_split_to_table(pg_read_file(%L), E'\n') AS line WHERE length(line) > 80$$, :'shown'), 'psql shows it within 80 columns');
SELECT cmp_ok(count(*), '>', 500::bigint, 'of which there are many') FROM regexp_split_to_table(pg_read_file(:'shown'), E'\n');

-- fast_copy_help(name): all there is to say about one of them
CREATE FUNCTION help_on(name text) RETURNS text LANGUAGE sql AS $$SELECT string_agg(line, E'\n') FROM fast_copy_help(name) AS line$$;
SELECT is(help_on('Header'), $$argument header
  Type:      fast_copy_value
  Default:   'false'
  Values:    true, false, 'match', 'map' or a number of lines to skip
  In a call: header => 'map'
  In JSON:   "header": "map"
  In COPY:   HEADER 'map'

  Whether the file begins with a line of names. true skips one line, a number
  skips that many lines, and 'match' refuses a file whose names are not those
  of the columns, in the same order. 'map' finds the columns by the names, in
  any order; columns that are not in the file get their default, or NULL
  without one. If no column has exactly the name of a field, case does not
  matter: EventTime is the column eventtime, and blanks around names do not
  count. Each file is mapped by its own header. COPY has no 'map', and numbers
  only in newer versions.

    SELECT fast_copy('events', '/data/events.csv', header => 'map');$$, 'an option, in any case');
SELECT matches(help_on(upper(name)), format(E'^argument %s\n  Type:      %s\n%s(  Values:    .*)?(  In a call: [^\n]+\n)(  In JSON:   [^\n]+\n)?  In COPY:   [^\n]+\n(             [^\n]+\n)?\n  .*\\.\n\n    .*\\y%s\\y.*;($|\n\n)',
		name, replace(CASE n WHEN 2 THEN 'text or text[]' ELSE type END, '[', '\['), '  Default:   ' || nullif(replace(CASE name WHEN 'min_replace_ratio' THEN '''0.5''' ELSE preset END, '[', '\['), '') || E'\n',
		CASE n WHEN 1 THEN 'events' WHEN 2 THEN 'ARRAY' WHEN 3 THEN 'at' ELSE name END), name)
FROM argument;
SELECT is(help_on('null'), help_on('null_string'), 'by the name that COPY has for it');
SELECT is(array_to_string(ARRAY(SELECT line FROM fast_copy_help(word) AS line WHERE line ~ '^argument '), ', '), found, word || ', by which other programs know it')
FROM (VALUES ('sep', 'argument delimiter'), ('nullstr', 'argument null_string, argument null_strings'), ('upsert', 'argument on_conflict'), ('skip', 'argument header, argument skip_empty_lines, argument skip_footer'),
	('Fields terminated by', 'argument delimiter'), ('dateformat', 'argument timestamp_format'), ('trim', 'argument trim_blanks'), ('truncate', 'argument existing_rows')) AS v (word, found);
SELECT matches(help_on('memory'), E'^setting fast_copy.memory\n  Type:      integer\n  Default:   -1\n  Values:    -1 to [0-9]+kB\n  Set by:    anybody\n\n  Memory that all', 'a setting');
SELECT is(help_on(upper(name)), help_on(name), name) FROM pg_settings WHERE name LIKE 'fast\_copy.%';
SELECT matches(help_on(name), '^setting ' || name || E'\n.*\n\n  ' || split_part(short_desc, ' ', 1), 'which is described')
FROM pg_settings WHERE name LIKE 'fast\_copy.%';
SELECT matches(help_on('progress'), E'^argument progress\n.*\n\nview fast_copy_progress\n\n  loads by [^\n]+\n\n  pid \\(integer\\): process that loads\n', 'all that goes by a name');
CREATE VIEW helpful AS SELECT DISTINCT proname::text AS name FROM pg_proc WHERE proname ~ '^fast_copy_[^v]';
SELECT matches(help_on(name), E'(^|\n)(function|procedure) ' || name || E'\n', name) FROM helpful;
SELECT isnt_empty(format('SELECT fast_copy_help(%L)', substr(name, 11)), 'without what all begin with') FROM helpful;
SELECT is_empty($$SELECT fast_copy_help(NULL)$$, 'nothing of nothing');

CREATE FUNCTION refused_help(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	PERFORM fast_copy_help(name);
	RETURN 'no error';
EXCEPTION WHEN undefined_object THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLERRM || ': ' || hint;
END
$$;
SELECT is(refused_help('Heder'), 'there is no option, setting or function "heder": Perhaps you meant "header".', 'the nearest option');
SELECT alike(refused_help('delimitre'), '%: Perhaps you meant "delimiter".', '... that is nearer than others');
SELECT alike(refused_help('memmory'), '%: Perhaps you meant "memory".', '... setting');
SELECT alike(refused_help('fast_copy.memmory'), '%: Perhaps you meant "fast_copy.memory".', '... by its full name');
SELECT alike(refused_help('fast_copy_analyse'), '%: Perhaps you meant "fast_copy_analyze".', '... function');
SELECT alike(refused_help(word), '%: SELECT * FROM fast_copy_help() lists the options.', 'nothing is like ' || left(word, 20))
FROM unnest(ARRAY['qqqqqqqq', '', repeat('x', 1000)]) AS word;

-- by anybody, anywhere
CREATE ROLE helped;
CREATE SCHEMA shadow;
CREATE FUNCTION shadow.no(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION shadow.no(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR shadow.~ (FUNCTION = shadow.no, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR shadow.= (FUNCTION = shadow.no, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR shadow.= (FUNCTION = shadow.no, LEFTARG = name, RIGHTARG = text);
CREATE TABLE shadow.pg_settings (name text);
GRANT USAGE ON SCHEMA shadow TO helped;
SELECT results_eq($$SELECT provolatile, proparallel FROM pg_proc WHERE proname = 'fast_copy_help'$$,
	$$VALUES ('s'::"char", 's'::"char"), ('s', 's')$$, 'stable and parallel safe');
CREATE TABLE helps AS SELECT 'here' AS at, help_on('workers') || help_on('report') AS text;
GRANT ALL ON helps TO helped;
SET LOCAL ROLE helped;
SET LOCAL search_path = shadow, public, pg_catalog;
INSERT INTO helps SELECT 'there', public.help_on('workers') OPERATOR(pg_catalog.||) public.help_on('report');
RESET ROLE;
SET LOCAL search_path = public;
SELECT is(there.text, here.text, 'the same to a role without privileges, and in any search_path') FROM helps AS here, helps AS there WHERE here.at = 'here' AND there.at = 'there';
SELECT set_config(name, 'on', true) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT is(count(*), (SELECT count(*) FROM argument) + 2, 'in a parallel worker') FROM fast_copy_help();
SELECT matches(string_agg(line, ''), '256 MB', 'with settings') FROM fast_copy_help('memory') AS line;
SELECT set_config(name, 'off', true) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null

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

SELECT hint($$header => '-1'$$, '22023', $$Use header => true, false, 'match', 'map' or a number of lines to skip.$$);
SELECT hint($$on_error => 'go'$$, '22023', $$Use on_error => 'stop', 'ignore' or 'set_null'.$$);
SELECT hint($$missing_partitions => 'make'$$, '22023', $$Use missing_partitions => 'create', 'error' or 'default'.$$);
SELECT hint($$log_verbosity => 'loud'$$, '22023', $$Use log_verbosity => 'default', 'verbose' or 'silent'.$$);
SELECT hint($$reject_limit => 1$$, '22023', $$Add on_error => 'ignore', or leave reject_limit out.$$);
SELECT hint($$ignore_extra_columns => true, header => 'match'$$, '22023', $$Use header => 'map': then the header tells which columns are extra.$$);
SELECT hint($$on_error => 'ignore', on_error_classes => '{uniq}'$$, '22023', $$Classes are conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition, unique, replace_invalid and cut_long.$$);
SELECT hint($$time_zone => ''$$, '22023', $$Leave time_zone out to use the session's.$$);
SELECT hint($$workers => -1$$, '22023', $$Leave workers out to get as many as fast_copy.workers says.$$);
SELECT hint($$format => NULL$$, '22004', $$Leave it out to get its default.$$);
SELECT hint($$columns => '{}'$$, '22023', $$Leave it out, or give NULL, to get its default.$$);
SELECT hint($$where_clause => 'true; SELECT 1'$$, '42601', $$Join conditions by AND or OR.$$);

-- Each option by its name: in a call, as a key of options, and in COPY, as help writes it
CREATE FUNCTION taken(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE IN ('42601', '42883', '42804') OR SQLERRM ~ 'not recognized|must be (a|an|true)' THEN SQLSTATE || ' ' || SQLERRM ELSE 'taken' END;
END
$$;
CREATE FUNCTION written(name text, place text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT regexp_split_to_table(substring(replace(help_on(name), E'\n             ', ' ') FROM place || ': +([^\n]+)'), ', (?:or|only with.*$) *')
$$;
CREATE VIEW option AS SELECT option AS name FROM fast_copy_help() WHERE option NOT IN ('target', 'source', 'options', 'fast_copy');
SELECT is(taken(format('SELECT fast_copy(''help'', ''/dev/null'', %s)', said)), 'taken', said)
FROM option, written(name, 'In a call') AS said;
SELECT is(count(*), (SELECT count(*) FROM option) - 1, 'all but one that is for COPY') FROM option, written(name, 'In a call') AS said;
SELECT is(taken(format('SELECT fast_copy(''help'', ''/dev/null'', options => %L)', '{' || said || '}')), 'taken', said)
FROM option, written(name, 'In JSON') AS said;
SELECT is(taken(format('COPY help FROM ''/dev/null'' WITH (fast_copy, %s %s)', CASE WHEN name IN ('quote', 'escape', 'force_null', 'force_not_null') THEN 'format csv,' END, said)), 'taken', said)
FROM option, written(name, 'In COPY') AS said WHERE said <> '' AND said !~ E'^(\\(|WHERE|FROM)';
SELECT is(taken('COPY help FROM ''/dev/null'' WITH (fast_copy, trim_blanks all)'), '42601 syntax error at or near "all"', 'words of SQL need their quotes in COPY');
SELECT is(taken(format('SELECT count(*) FROM fast_copy_analyze(''help'', ''/dev/null'', %s)', said)), 'taken', 'fast_copy_analyze: ' || said)
FROM option, written(name, 'In a call') AS said;
SELECT is(taken(format('SELECT fast_copy_sniff(''/dev/null'', %s)', said)), 'taken', 'fast_copy_sniff: ' || said)
FROM option, written(name, 'In a call') AS said WHERE name <> 'on_conflict';
SELECT set_eq($$SELECT unnest(proargnames) FROM pg_proc WHERE proname = 'fast_copy_files'$$,
	$$SELECT name FROM option WHERE name NOT IN ('program', 'label', 'manifest', 'compressed') UNION ALL VALUES ('target'), ('source'), ('ledger'), ('batch_files'), ('batch_size'), ('on_failure'), ('min_age'), ('cut_files'), ('options')$$,
	'fast_copy_files takes all but what is for other data');
SELECT throws_ok($$SELECT fast_copy('help', '/dev/null', existing_rows => 'merge', options => '{"existing_rows": "merge"}')$$,
	'42601', 'conflicting or redundant options', 'an option given both ways');
-- objects as text, jsonb and json; tables by name or OID
SELECT is(taken(format('SELECT fast_copy(''help'', ''/dev/null'', %s)', said)), 'taken', said)
FROM unnest(ARRAY['transform => ''{"n": "n"}''', 'transform => ''n = n::int''', 'transform => jsonb_build_object(''n'', ''n'')', 'null_strings => json_build_array(''-'')',
	'null_strings => to_jsonb(''-''::text)', 'timestamp_format => ''{"ts": "DD.MM.YYYY"}''', 'timestamp_format => jsonb_build_object(''ts'', ''DD.MM.YYYY'')', 'timestamp_format => ''epoch_ms''',
	'options => ''{"timestamp_format": {"ts": "DD.MM.YYYY"}}''', 'ledger => ''help''::regclass', 'min_replace_ratio => 0.9']) AS said;

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
SELECT hint_of_copy($$header '-1'$$, $$Use header true, false, 'match', 'map' or a number of lines to skip.$$);
SELECT hint_of_copy($$on_error 'go'$$, $$Use on_error 'stop', 'ignore' or 'set_null', in quotes.$$);
SELECT hint_of_copy($$log_verbosity 'loud'$$, $$Use log_verbosity 'default', 'verbose' or 'silent', in quotes.$$);
SELECT hint_of_copy($$reject_limit 1$$, $$Add on_error 'ignore', or leave reject_limit out.$$);
SELECT hint_of_copy($$ignore_extra_columns true, header match$$, $$Use header 'map': then the header tells which columns are extra.$$);
SELECT hint_of_copy($$on_error ignore, on_error_classes 'check,unique'$$, $$Classes are conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition, unique, replace_invalid and cut_long. A list stands in parentheses, and what is a word of SQL in quotes: on_error_classes (conversion, 'unique').$$);
SELECT is((SELECT string_agg(line, ' ') FROM fast_copy_help('dedup_keys') AS line WHERE line ~ 'In COPY'), '  In COPY:   dedup_keys (at, device), only with the option fast_copy', 'lists in COPY');
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
-- help calls nothing of others, and reads its own texts, whatever is set
CREATE SCHEMA evil;
CREATE FUNCTION evil.rpad(text, integer) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'evil'; END$$;
CREATE FUNCTION evil.starts_with(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'evil'; END$$;
CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'evil'; END$$;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
SELECT current_setting('search_path') AS path, array_agg(line) AS lines
FROM unnest(ARRAY['header', 'fast_copy.memory', 'fast_copy_progress', 'fast_copy']) AS topic, fast_copy_help(topic) AS line \gset
SET search_path = evil, pg_temp, pg_catalog, public;
-- until 18
SELECT count(*) > 0 AS backslashes FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'escape_string_warning' \gset
\if :backslashes
SET escape_string_warning = off;
SET standard_conforming_strings = off;
\endif
SELECT pg_catalog.array_agg(line) AS evil
FROM pg_catalog.unnest(ARRAY['header', 'fast_copy.memory', 'fast_copy_progress', 'fast_copy']) AS topic, public.fast_copy_help(topic) AS line \gset
\if :backslashes
RESET standard_conforming_strings;
RESET escape_string_warning;
\endif
SELECT pg_catalog.set_config('search_path', :'path', false) AS path \gset
SELECT is(:'evil'::text, :'lines', 'help under a hostile search_path');
SELECT * FROM finish();
ROLLBACK;
