-- An error about a record says which argument would probably avoid it; COPY's
-- message, detail and SQLSTATE stay what they are.
--
-- psql variables: tmp_dir, that the server may write to

\set ON_ERROR_STOP 1
\set QUIET 1
\pset format unaligned
\pset tuples_only on
\pset pager off

BEGIN;
SELECT no_plan();

SET client_min_messages = error;
SELECT set_config('test.file', :'tmp_dir' || '/hints.csv', true) <> '' AS set \gset
CREATE TABLE t (ts timestamp, n int, f float8) PARTITION BY RANGE (ts);
CREATE TABLE one (n int);

-- Writes the lines, and runs the command; returns the hint
CREATE FUNCTION hint_of(command text, lines text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	lob oid := lo_from_bytea(0, convert_to(lines, 'UTF8'));
BEGIN
	PERFORM lo_export(lob, current_setting('test.file')), lo_unlink(lob);
	EXECUTE format(command, current_setting('test.file'));
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END
$$;

CREATE TEMP TABLE example (arguments text, lines text, hint text, copy_hint text);
INSERT INTO example VALUES
	('', E'ts,n,f\n2024-01-01,1,2\n', 'If the first line is a header, add header => true.', 'If the first line is a header, add header true.'),
	('', E'time,count,value\n2024-01-01,1,2\n', 'If the first line is a header, add header => true.', 'If the first line is a header, add header true.'),
	('', E'2024-01-01,1,2\nts,n,f\n', '', ''),
	('header true', E'ts,n,f\nts,n,f\n', '', ''),
	('', E'2024-01-01,x,2\n', '', ''),
	('', E'2024-01-01,1,2\n2024-01-02,NA,2\n', 'If "NA" stands for NULL, add null_string => ''NA''.', 'If "NA" stands for NULL, add null ''NA''.'),
	('', E'2024-01-01,1,2\n2024-01-02,1,null\n', 'If "null" stands for NULL, add null_string => ''null''.', 'If "null" stands for NULL, add null ''null''.'),
	('', E'N/A,1,2\n', 'If "N/A" stands for NULL, add null_string => ''N/A''.', 'If "N/A" stands for NULL, add null ''N/A''.'),
	('', E'2024-01-01,"",2\n', 'If empty strings in quotes stand for NULL, add force_null => ''{*}''.', 'If empty strings in quotes stand for NULL, add force_null (column, ...).'),
	('', E'2024-01-01;1;2,5\n', '', ''),
	('', E'2024-01-01;1;2.5\n', 'If the fields are separated by ";", add delimiter => '';''.', 'If the fields are separated by ";", add delimiter '';''.'),
	('', E'2024-01-01\t1\t2.5\n', 'If the fields are separated by tabs, add delimiter => E''\t''.', 'If the fields are separated by tabs, add delimiter E''\t''.'),
	('', E'2024-01-01,1\n', 'If the file has other columns than the table, name them in columns, or let a header line say which they are: header => ''map''.',
		'If the file has other columns than the table, name them, or let a header line say which they are: header ''map''.'),
	('', E'2024-01-01,1,2,3\n', 'If the file has other columns than the table, name them in columns, or let a header line say which they are: header => ''map''.',
		'If the file has other columns than the table, name them, or let a header line say which they are: header ''map''.'),
	('', E'2024-01-01,1,2\n2024-01-01,1\n', '', ''),
	('', E'2024-01-01,1,"2\n', '', '');
UPDATE example SET hint = replace(hint, '\t', chr(92) || 't'), copy_hint = replace(copy_hint, '\t', chr(92) || 't');

SELECT is(hint_of('SELECT fast_copy(''t'', %L' || CASE WHEN arguments <> '' THEN ', ' || replace(arguments, ' ', ' => ') ELSE '' END || ', workers => ' || w || ')', lines), hint, w || ' workers: ' || lines)
FROM example, unnest(ARRAY[0, 2]) AS w;
SELECT is(hint_of('COPY t FROM %L WITH (fast_copy, format csv' || CASE WHEN arguments <> '' THEN ', ' || arguments ELSE '' END || ')', lines), copy_hint, 'COPY: ' || lines) FROM example;

SELECT is(hint_of('SELECT fast_copy(''one'', %L)', E'1;2\n'), '', 'a table of one column has no separators');
SELECT is(hint_of('SELECT fast_copy(''one'', %L)', E'none\n'), 'If the first line is a header, add header => true.', 'but may have a header');

-- A plain COPY looks as core's
SET LOCAL fast_copy.accelerate_copy = on;
SET LOCAL fast_copy.accelerate_min_size = 0;
SELECT is(hint_of('COPY t FROM %L WITH (FORMAT csv)', lines), '', 'plain COPY: ' || lines) FROM example;

-- An error of code that a row starts is not about the file
CREATE FUNCTION break_row() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN 'NA'::int; END$$;
CREATE TRIGGER break_row BEFORE INSERT ON one FOR EACH ROW EXECUTE FUNCTION break_row();
SELECT is(hint_of('SELECT fast_copy(''one'', %L)', E'1\n'), '', 'a trigger fails');

SELECT * FROM finish();
ROLLBACK;
