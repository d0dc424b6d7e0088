-- The list of options (src/options/list.h) is what functions, COPY and JSON have,
-- and each way fills the same field.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

BEGIN;
SELECT no_plan();

CREATE VIEW arguments AS
SELECT p.oid, a.n, p.proargnames[a.n] AS name, format_type(a.type, NULL) AS type,
	CASE WHEN a.n > p.pronargs - p.pronargdefaults
		THEN regexp_replace(pg_get_function_arg_default(p.oid, a.n::int), '::[a-z_]+(\[\])?$', '') END AS preset
FROM pg_proc AS p, unnest(p.proargtypes) WITH ORDINALITY AS a (type, n)
WHERE p.proname IN ('fast_copy', 'fast_copy_analyze');

SELECT is(count(*), 4::bigint, 'two functions, for one source and for several') FROM pg_proc WHERE proname IN ('fast_copy', 'fast_copy_analyze');
SELECT is_empty($$
	SELECT name FROM arguments WHERE n > 2 GROUP BY n, name, type, preset HAVING count(*) <> 4
$$, 'all have the same arguments');
SELECT is_empty($$SELECT name FROM arguments WHERE n > 2 AND preset IS NULL$$, 'each has a default');

CREATE TEMP TABLE option AS
SELECT n, name, type, preset FROM arguments
WHERE oid = (SELECT max(oid) FROM arguments) AND n > 2 AND name <> 'options';

-- What a command does, without doing it
CREATE TABLE t (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE TABLE t_old PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02');
CREATE TABLE plain (ts timestamp, n int);
CREATE TABLE other (ts timestamp, n int);
CREATE FUNCTION outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RAISE '% rows, statistics of % columns', (SELECT count(*) FROM t), (SELECT count(*) FROM pg_statistic WHERE starelid = 't'::regclass);
EXCEPTION WHEN OTHERS THEN
	-- why it cannot freeze depends on who calls
	RETURN CASE WHEN SQLERRM LIKE 'cannot perform COPY FREEZE%' THEN 'freeze'
		ELSE SQLSTATE || ' ' || regexp_replace(SQLERRM, '^argument', 'option') END;
END
$$;

-- The library's own list
CREATE FUNCTION hint_of_command(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLERRM || ': ' || hint;
END
$$;
CREATE FUNCTION hint_of(options text) RETURNS text LANGUAGE sql AS $$SELECT hint_of_command(format('SELECT fast_copy(''t'', ''/nowhere'', options => %L::jsonb)', options))$$;
SELECT is(hint_of('{"qqqqqqqqqq": 1}'), 'option "qqqqqqqqqq" not recognized: Options are ' || string_agg(name, ', ' ORDER BY n) || '.',
	'what the library knows is what SQL declares') FROM option;

-- A value for each that shows that it has arrived
CREATE TEMP TABLE example (name text, value jsonb);
INSERT INTO example VALUES
	('timestamp_column', '"nothing"'), ('columns', '["nothing"]'), ('format', '"nothing"'), ('header', '-1'),
	('ignore_extra_columns', 'true'), ('delimiter', '"::"'), ('null_string', '"a\nb"'), ('quote', '"::"'), ('escape', '"::"'),
	('force_not_null', '["nothing"]'), ('force_null', '["nothing", "n"]'), ('default_string', '"a\nb"'), ('encoding', '"nothing"'),
	('where_clause', '"n > 1"'), ('timestamp_format', '"nothing"'), ('time_zone', '"nothing"'), ('partition_interval', '"nothing"'),
	('missing_partitions', '"nothing"'), ('order_by', '["nothing"]'), ('freeze', 'true'), ('on_error', '"nothing"'),
	('on_error_classes', '["nothing"]'), ('reject_limit', '-1'), ('reject_table', '"other"'), ('log_verbosity', '"nothing"'),
	('run_analyze', 'true'), ('progress', '"0s"'), ('workers', '257'), ('program', 'true'),
	('remote_commit', '"other"'), ('nodes', '["nothing"]'), ('existing_rows', '"nothing"'), ('replace_from', '"2013-01-01"'), ('replace_to', '"2013-01-01"'),
	('min_replace_ratio', '0.1'), ('replace_method', '"delete"'), ('on_conflict', '"other"'), ('dedup_keys', '["nothing"]'), ('dedup_keep', '"last"'), ('dedup_order', '["nothing"]'), ('delete_where', '"k > 0"'),
	('ledger', '"other"'), ('label', '"nothing"'), ('changed_files', '"skip"'), ('other_files', '"replace"'), ('notify_channel', '"nothing"'), ('transform', '"nothing"'), ('null_strings', '{"nothing": "x"}'),
	('trim_blanks', '"nothing"'), ('number_format', '"nothing"'), ('skip_empty_lines', 'true'), ('missing_columns', '"nothing"'), ('max_records', '1'),
	('skip_footer', '"1"'), ('comment', '"2"'), ('manifest', '"[]"');
SELECT set_eq('SELECT name FROM example', 'SELECT name FROM option', 'an example of each option');

\set file :tmp_dir '/options.csv'
COPY (VALUES (timestamp '2013-01-01', 1), ('2013-01-02', 2)) TO :'file' (FORMAT csv);
\set gaps :tmp_dir '/options_gaps.csv'
COPY (VALUES ('2013-01-01,1'), (''), ('2013-01-02,2')) TO :'gaps';
\set extra :tmp_dir '/options_extra.csv'
COPY (VALUES (timestamp '2013-01-01', 1, NULL), ('2013-01-02', 2, NULL)) TO :'extra' (FORMAT csv);
SET client_min_messages = error;

CREATE TEMP TABLE way AS
SELECT o.name, value, o.type, file,
	format('SELECT fast_copy(''t'', %L, %I => %L)', file, o.name,
		CASE WHEN jsonb_typeof(value) = 'array' THEN (SELECT array_agg(v)::text FROM jsonb_array_elements_text(value) AS v) ELSE value #>> '{}' END) AS argument,
	format('COPY t FROM %L WITH (fast_copy, %s %s %s)', file, CASE WHEN o.name <> 'format' THEN 'format csv,' END, o.name,
		CASE WHEN jsonb_typeof(value) = 'array' THEN (SELECT format('(%s)', string_agg(quote_ident(v), ', ')) FROM jsonb_array_elements_text(value) AS v)
			WHEN jsonb_typeof(value) IN ('string', 'object') THEN quote_literal(value #>> '{}') ELSE value #>> '{}' END) AS copy,
	format('SELECT fast_copy(''t'', %L, options => %L)', file, jsonb_build_object(o.name, value)) AS json
FROM option AS o JOIN example USING (name), LATERAL (SELECT CASE name WHEN 'skip_empty_lines' THEN :'gaps' WHEN 'ignore_extra_columns' THEN :'extra' ELSE :'file' END) AS f(file);

SELECT isnt(outcome(argument), outcome(format('SELECT fast_copy(''t'', %L)', file)), name || ' does something') FROM way;
SELECT is(outcome(json), outcome(argument), name || ' does the same in JSON') FROM way;
SELECT is(outcome(replace(json, name, upper(name))), outcome(json), name || ' may be written in upper case') FROM way;
SELECT is(outcome(copy), CASE WHEN name IN ('columns', 'program')
		THEN format('42601 option "%s" not recognized', name) ELSE outcome(argument) END, name || ' does the same in COPY, if COPY has it') FROM way;
SELECT is(outcome(replace(replace(command, 'null_string', 'null'), 'default_string', 'default')), outcome(command), format('%s has two names', name))
FROM way, unnest(ARRAY[copy, json]) AS command WHERE name IN ('null_string', 'default_string');
SELECT is(outcome(replace(format('SELECT fast_copy(''t'', %L, %I => %s, options => %L)', :'file', name, substring(argument FROM '=> (.*)\)$'), jsonb_build_object(upper(name), value)), '257', '2')),
	'42601 conflicting or redundant options', name || ' is given once') FROM way;
SELECT is(outcome(replace(format('COPY t FROM %L WITH (fast_copy, %s, %s)', :'file', o, o), '257', '2')), '42601 conflicting or redundant options', 'COPY: ' || name || ' is given once')
FROM way, substring(copy FROM ' (' || name || ' .*)\)$') AS o WHERE name NOT IN ('columns', 'program');
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => %L)', :'file', jsonb_build_object(name, NULL))), outcome(format('SELECT fast_copy(''t'', %L)', :'file')),
	name || ': null is not given') FROM way;
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => %L)', :'file', jsonb_build_object(name, value))),
	format('22023 option "%s" must be %s', name, CASE type WHEN 'boolean' THEN 'true or false' WHEN 'bigint' THEN 'an integer' WHEN 'integer' THEN 'an integer'
		WHEN 'name[]' THEN 'a string or an array of strings' WHEN 'text[]' THEN 'a string or an array of strings' ELSE 'a string' END), format('%s is not %s', name, value))
FROM option, unnest(ARRAY['{"a": 1}', '["a", 1]', '[["a"]]', '1.5', '"x"', 'true']::jsonb[]) AS value
WHERE CASE type WHEN 'boolean' THEN value <> 'true' WHEN 'bigint' THEN true WHEN 'integer' THEN true WHEN 'fast_copy_value' THEN name IN ('ledger', 'reject_table') AND value <> '"x"'
	ELSE jsonb_typeof(value) IN ('object', 'array') OR type LIKE '%[]' AND value <> '"x"' END;
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => %L)', :'file', jsonb_build_object(name, '[]'::jsonb))), format('22023 option "%s" must not be empty', name), name || ' is not empty')
FROM option WHERE type LIKE '%[]';

-- What is no option of a call
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => %L)', :'file', jsonb_build_object(name, 'true'::jsonb))), format('42601 option "%s" not recognized', name), name || ' is no option of a call')
FROM unnest('{compressed,fast_copy,target,source,options,"",force_quote}'::text[]) AS name;
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => %L)', :'file', value)), '22023 option "options" must be a JSON object', value)
FROM unnest('{1,"null","\"header\"","[\"header\"]","[{\"header\": 1}]"}'::text[]) AS value;
SELECT is(hint_of(options), format('option "%s" not recognized: Perhaps you meant the option "%s".', substring(options FROM '\w+'), nearest), options)
FROM (VALUES ('{"headers": 1}', 'header'), ('{"timestampcolumn": 1}', 'timestamp_column'), ('{"frmat": 1}', 'format'), ('{"orderby": 1}', 'order_by')) AS v (options, nearest);
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => ''{"null": "x", "null_string": "x"}'')', :'file')), '42601 conflicting or redundant options', 'one by both names');
SELECT is(outcome(format('SELECT fast_copy(''t'', %L, options => ''{"max_records": 9223372036854775808}'')', :'file')), '22003 value "9223372036854775808" is out of range for type bigint', 'a number that is too big');

-- All of them at once; what an argument says by default may be said there
SELECT is(fast_copy('t', :'file', options => '{"format": "csv", "header": true, "columns": ["ts", "n"], "null": "", "workers": 0, "missing_partitions": "create",
	"partition_interval": "1 month", "freeze": false, "on_error": "ignore", "on_error_classes": "conversion", "reject_limit": 5, "order_by": "n"}'), 1::bigint, 'options in JSON');
SELECT is(fast_copy('plain', ARRAY[:'file'], options => '{"header": 1}'), 1::bigint, 'a list of files');
SELECT is((SELECT detail FROM fast_copy_analyze('plain', :'file', options => '{"header": 1, "format": "csv"}') WHERE item = 'file'), 'csv, UTF8, 1 line of header', 'fast_copy_analyze');
SELECT is((SELECT sum(rows)::int FROM fast_copy_analyze('plain', ARRAY[:'file'], options => '{"where_clause": "n = 2"}') WHERE name = 'accepted'), 1, 'fast_copy_analyze of a list of files');
SELECT throws_ok(format($$SELECT * FROM fast_copy_analyze('plain', %L, options => '{"heade": 1}')$$, :'file'), '42601', 'option "heade" not recognized', 'fast_copy_analyze refuses the same');

-- ... and who calls it from elsewhere
CREATE FUNCTION load(file text, OUT rows bigint) LANGUAGE sql AS $$SELECT fast_copy('plain', file, options => '{"header": 1}')$$;
CREATE VIEW loads AS SELECT fast_copy('plain', current_setting('test.file'), header => '1', options => '{"workers": 0}') AS rows;
SELECT is(load(:'file'), 1::bigint, 'in a function');
SELECT set_config('test.file', :'file', true) \g /dev/null
SELECT is((SELECT rows FROM loads), 1::bigint, 'in a view');

-- A program is one wherever it is named
CREATE ROLE option_loader;
GRANT INSERT ON plain TO option_loader;
GRANT pg_read_server_files TO option_loader;
SET ROLE option_loader;
SELECT is(outcome($$SELECT fast_copy('plain', 'echo', options => '{"program": true}')$$), outcome($$SELECT fast_copy('plain', 'echo', program => true)$$), 'a program needs the privilege');
SELECT matches(outcome($$SELECT fast_copy('plain', 'echo', options => '{"program": true}')$$), '^42501 ', '... for programs');
RESET ROLE;

-- What everybody types first
CREATE TABLE heads (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE FUNCTION first_try(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
BEGIN
	EXECUTE format('SELECT fast_copy(''heads'', %L, %s)', current_setting('test.file'), arguments) INTO rows;
	RETURN rows;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END
$$;
\set file :tmp_dir '/heads.csv'
COPY (VALUES ('ts', 'n'), ('2013-01-01', '1'), ('2013-01-02', '2')) TO :'file' (FORMAT csv);
SELECT set_config('test.file', :'file', true) <> '' AS set \gset
-- from 19 on COPY's own text goes on in another way
SELECT is(regexp_replace(first_try(given), '(requires a Boolean value).*', '\1'), expected, given) FROM (VALUES
	('header => true', '2'), ('header => ''true''', '2'), ('header => ''yes''', '2'), ('header => ''ON''', '2'), ('header => 1', '2'), ('header => 2', '1'),
	('header => ''TRUE''::text', '2'), ('header => ''Match''::varchar', '2'), ('header => ''map''::name', '2'), ('HEADER => 1 + 1', '1'),
	('header => NULL', 'argument "header" must not be null'),
	('header => ''maybe''', 'header requires a Boolean value'),
	('header => false', 'invalid input syntax for type timestamp: "ts"'), ('header => ''No''', 'invalid input syntax for type timestamp: "ts"'),
	('header => true, format => ''CSV''', '2'), ('header => true, format => ''cvs''', 'COPY format "cvs" not recognized'),
	('header => true, progress => true', '2'), ('header => true, progress => ''off''', '2'), ('header => true, progress => interval ''1 min''', '2'),
	('header => true, progress => 5', '2'), ('header => true, progress => ''often''', 'invalid input syntax for type interval: "often"')) AS v (given, expected);
PREPARE with_parameters AS SELECT fast_copy('heads', $1, header => $2, progress => $3);
EXECUTE with_parameters(:'file', 'true', '5s') \gset
SELECT is(:fast_copy, 2, 'parameters of no type');
SELECT is(outcome(format('COPY t FROM %L WITH (fast_copy, format csv, header yes)', :'file')), outcome(format('COPY t FROM %L WITH (fast_copy, format csv, header true)', :'file')), 'COPY: header yes');
CREATE FUNCTION copy_hint(options text) RETURNS text LANGUAGE sql AS $$SELECT hint_of_command(format('COPY t FROM ''/nowhere'' WITH (fast_copy, %s)', options))$$;
SELECT is(copy_hint('delimitre '';'''), 'option "delimitre" not recognized: Perhaps you meant the option "delimiter".', 'COPY: the nearest option');
SELECT alike(copy_hint('qqqqqqqqqq'), 'option "qqqqqqqqqq" not recognized: Options are timestamp_column, format, header, %, workers, remote_commit, %, missing_columns, %, compressed.', 'COPY: its own list');

SELECT * FROM finish();
ROLLBACK;
