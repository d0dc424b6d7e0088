-- An error about a record says which argument would probably avoid it; COPY's
-- message, detail and SQLSTATE stay what they are.
--
-- psql variables: tmp_dir, that the server may write to

BEGIN;
SELECT no_plan();

SET client_min_messages = error;
SELECT set_config('test.file', :'tmp_dir' || '/hints.csv', true) <> '' AS set \gset
CREATE TABLE t (ts timestamp, n int, f float8) PARTITION BY RANGE (ts);
CREATE TABLE one (n int);

CREATE FUNCTION write_file(path text, content bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	lob oid := lo_from_bytea(0, content);
BEGIN
	PERFORM lo_export(lob, path), lo_unlink(lob);
END
$$;

-- Runs the command; returns the hint
CREATE FUNCTION hint_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END
$$;
-- ... after it has written the lines
CREATE FUNCTION hint_of(command text, lines text) RETURNS text LANGUAGE sql AS $$
	SELECT write_file(current_setting('test.file'), convert_to(lines, 'UTF8'));
	SELECT hint_of(format(command, current_setting('test.file')))
$$;

-- "..." in a hint stands for what depends on the machine; from 17 on core writes
-- DateStyle
CREATE FUNCTION plain(hint text) RETURNS text LANGUAGE sql AS
$$SELECT regexp_replace(replace(replace(hint, '"DateStyle"', '"datestyle"'), regexp_replace(current_setting('test.file'), '/hints.csv$', ''), 'DIR'), '(host|user) "[^"]+"', '\1 "..."', 'g')$$;

CREATE TEMP TABLE example (arguments text, lines text, hint text, copy_hint text);
INSERT INTO example VALUES
	('', E'ts,n,f\n2024-01-01,1,2\n', 'If the first line is a header, add header => true.', 'If the first line is a header, add header true.'),
	('', E'time,count,value\n2024-01-01,1,2\n', 'If the first line is a header, add header => true.', 'If the first line is a header, add header true.'),
	('', E'2024-01-01,1,2\nts,n,f\n', '', ''),
	('header true', E'ts,n,f\nts,n,f\n', 'If this line is the header, use header => 2.', 'If this line is the header, use header 2.'),
	('header true', E'ts,n,f\n2024-01-01,1,2\nts,n,f\n', '', ''),
	('header ''match''', E'ts,n,f\nts,n,f\n', '', ''),
	('', E'2024-01-01,x,2\n', '', ''),
	('', E'2024-01-01,1,2\n2024-01-02,NA,2\n', 'If "NA" stands for NULL, add null_string => ''NA''.', 'If "NA" stands for NULL, add null ''NA''.'),
	('', E'2024-01-01,1,2\n2024-01-02,1,null\n', 'If "null" stands for NULL, add null_string => ''null''.', 'If "null" stands for NULL, add null ''null''.'),
	('', E'N/A,1,2\n', 'If "N/A" stands for NULL, add null_string => ''N/A''.', 'If "N/A" stands for NULL, add null ''N/A''.'),
	('', E'2024-01-01,"",2\n', 'If empty strings in quotes stand for NULL, add force_null => ''{*}''.', 'If empty strings in quotes stand for NULL, add force_null (column, ...).'),
	('', E'2024-01-01;1;2,5\n', 'If the fields are separated by ";", add delimiter => '';''.', 'If the fields are separated by ";", add delimiter '';''.'),
	('', E'2024-01-01;1,2,5\n', '', ''),
	('', E'2024-01-01;1;2.5\n', 'If the fields are separated by ";", add delimiter => '';''.', 'If the fields are separated by ";", add delimiter '';''.'),
	('', E'2024-01-01\t1\t2.5\n', 'If the fields are separated by tabs, add delimiter => E''\t''.', 'If the fields are separated by tabs, add delimiter E''\t''.'),
	('', E'2024-01-01,1\n', 'If the file has other columns than the table, name them in columns, or let a header line say which they are: header => ''map''.',
		'If the file has other columns than the table, name them, or let a header line say which they are: header ''map''.'),
	('', E'2024-01-01,1,2,3\n', 'If the file has other columns than the table, name them in columns, or let a header line say which they are: header => ''map''.',
		'If the file has other columns than the table, name them, or let a header line say which they are: header ''map''.'),
	('', E'2024-01-01,1,2\n2024-01-01,1\n', '', ''),
	('', E'2024-01-01,1,2\n\n', 'If empty lines are to be left out, add skip_empty_lines => true.',
		'If empty lines are to be left out, add skip_empty_lines.'),
	('', E'2024-01-01,1,2,\n', 'If each line ends with ",", add ignore_extra_columns => true.',
		'If each line ends with ",", add ignore_extra_columns.'),
	('', E'31/12/2020,1,2\n', 'If the day comes first, add timestamp_format => ''DD/MM/YYYY''.', 'If the day comes first, add timestamp_format ''DD/MM/YYYY''.'),
	('', E'31/12/2020 10:11:12 pm,1,2\n', 'If the day comes first, add timestamp_format => ''DD/MM/YYYY HH12:MI:SS AM''.', 'If the day comes first, add timestamp_format ''DD/MM/YYYY HH12:MI:SS AM''.'),
	('', E'31/13/2020,1,2\n', 'Perhaps you need a different "datestyle" setting.', 'Perhaps you need a different "datestyle" setting.'),
	('', E'31.02.2023,1,2\n', 'There is no such day: month 2 of 2023 has 28 days. Correct the value, or let on_error => ''ignore'' leave such records out.',
		'There is no such day: month 2 of 2023 has 28 days. Correct the value, or let on_error ''ignore'' leave such records out.'),
	('timestamp_format ''DD.MM.YYYY''', E'29.02.2023,1,2\n', 'There is no such day: month 2 of 2023 has 28 days. Correct the value, or let on_error => ''ignore'' leave such records out.',
		'There is no such day: month 2 of 2023 has 28 days. Correct the value, or let on_error ''ignore'' leave such records out.'),
	('', E'2023-04-31,1,2\n', 'There is no such day: month 4 of 2023 has 30 days. Correct the value, or let on_error => ''ignore'' leave such records out.',
		'There is no such day: month 4 of 2023 has 30 days. Correct the value, or let on_error ''ignore'' leave such records out.'),
	('timestamp_format ''DD.MM.YYYY''', E'02.28.2023,1,2\n', 'If the month comes first, use timestamp_format => ''MM.DD.YYYY''.', 'If the month comes first, use timestamp_format ''MM.DD.YYYY''.'),
	('timestamp_format ''DD.MM.YYYY''', E'02/28/2023 10:11,1,2\n', 'If the month comes first, use timestamp_format => ''MM/DD/YYYY HH24:MI''.', 'If the month comes first, use timestamp_format ''MM/DD/YYYY HH24:MI''.'),
	('timestamp_format ''YYYY-MM-DD''', E'28.02.2023,1,2\n', 'If the day comes first, use timestamp_format => ''DD.MM.YYYY''.', 'If the day comes first, use timestamp_format ''DD.MM.YYYY''.'),
	('timestamp_format ''DD.MM.YYYY''', E'28.02.2023 x,1,2\n', 'Every part of the pattern must be in the value as the pattern has it, and nothing else.', 'Every part of the pattern must be in the value as the pattern has it, and nothing else.'),
	('timestamp_format ''DD/MM/YYYY''', E'03/04/24,1,2\n', 'If years have two digits, use timestamp_format => ''DD/MM/YY''.', 'If years have two digits, use timestamp_format ''DD/MM/YY''.'),
	('timestamp_format ''MM/DD/YYYY HH24:MI''', E'03/04/24 10:11,1,2\n', 'If years have two digits, use timestamp_format => ''MM/DD/YY HH24:MI''.', 'If years have two digits, use timestamp_format ''MM/DD/YY HH24:MI''.'),
	('timestamp_format ''YYYY-MM-DD''', E'03-04-05,1,2\n', 'If years have two digits, use timestamp_format => ''YY-MM-DD''.', 'If years have two digits, use timestamp_format ''YY-MM-DD''.'),
	('timestamp_format ''DD/MM/YYYY''', E'31/12/24,1,2\n', 'If the day comes first, use timestamp_format => ''DD/MM/YY''.', 'If the day comes first, use timestamp_format ''DD/MM/YY''.'),
	('', E'31/12/24,1,2\n', 'If the day comes first, add timestamp_format => ''DD/MM/YY''.', 'If the day comes first, add timestamp_format ''DD/MM/YY''.'),
	('timestamp_format ''epoch_s''', E'28.02.2023,1,2\n', 'If the day comes first, use timestamp_format => ''DD.MM.YYYY''.', 'If the day comes first, use timestamp_format ''DD.MM.YYYY''.'),
	('timestamp_format ''DD/MM/YYYY''', E'03/04/2024 10:00,1,2\n', 'If all values have this form, use timestamp_format => ''DD/MM/YYYY HH24:MI''.', 'If all values have this form, use timestamp_format ''DD/MM/YYYY HH24:MI''.'),
	('timestamp_format ''YYYY-MM-DD HH:MI:SS''', E'2024-01-01 15:00:00,1,2\n', 'If all values have this form, use timestamp_format => ''YYYY-MM-DD HH24:MI:SS''.', 'If all values have this form, use timestamp_format ''YYYY-MM-DD HH24:MI:SS''.'),
	('', E'20240131123000,1,2\n', 'If these are moments without separators, add timestamp_format => ''YYYYMMDDHH24MISS''.', 'If these are moments without separators, add timestamp_format ''YYYYMMDDHH24MISS''.'),
	('', E'45292.5,1,2\n', 'If these are days as spreadsheets count them, add transform => $$ts = timestamp ''1899-12-30'' + ts::float8 * interval ''1 day''$$.', 'If these are days as spreadsheets count them, add transform $$ts = timestamp ''1899-12-30'' + ts::float8 * interval ''1 day''$$.'),
	('', E'0000-00-00,1,2\n', 'If "0000-00-00" stands for NULL, add null_string => ''0000-00-00''.', 'If "0000-00-00" stands for NULL, add null ''0000-00-00''.'),
	('', E'2024-01-01,NaN,2\n', 'If "NaN" stands for NULL, add null_string => ''NaN''.', 'If "NaN" stands for NULL, add null ''NaN''.'),
	('', E'2024-01-01, ,2\n', 'If " " stands for NULL, add null_strings => '' ''.', 'If " " stands for NULL, add null_strings '' ''.'),
	('null_string ''NA''', E'2024-01-01,,2\n', 'If "" stands for NULL, add null_strings => ''''.', 'If "" stands for NULL, add null_strings ''''.'),
	('', E'2024-01-01,"1,234",2\n', 'If "1,234" is a number, show how the file writes numbers, as by number_format => ''1,234.56''.', 'If "1,234" is a number, show how the file writes numbers, as by number_format ''1,234.56''.'),
	('', E'2024-01-01,"1,234,567",2\n', 'If "1,234,567" is a number, show how the file writes numbers, as by number_format => ''1,234.56''.', 'If "1,234,567" is a number, show how the file writes numbers, as by number_format ''1,234.56''.'),
	('', E'2024-01-01,1,"1,234"\n', 'If "1,234" is a number, show how the file writes numbers, as by number_format => ''1,234.56''; or by ''1.234,56'', if the comma stands before decimals.', 'If "1,234" is a number, show how the file writes numbers, as by number_format ''1,234.56''; or by ''1.234,56'', if the comma stands before decimals.'),
	('', E'2024-01-01,-3000000000,2\n', 'If values may be as large as that, give the column type bigint or numeric.', 'If values may be as large as that, give the column type bigint or numeric.'),
	('', E'2024-01-01,2024-01,2\n', '', ''),
	('', E'2024-01-01^1^2.5\n', 'If the fields are separated by "^", add delimiter => ''^''.', 'If the fields are separated by "^", add delimiter ''^''.'),
	('', E'2024-01-01,1,"2 \\" 5"\n', 'If a backslash stands before quotes within values, add escape => ''\''.', 'If a backslash stands before quotes within values, add escape ''\''.'),
	('', E'--\n-- PostgreSQL database dump\n', 'If the file is a script of SQL commands, run it by psql -f.', 'If the file is a script of SQL commands, run it by psql -f.'),
	('', E'INSERT INTO t VALUES (1, 2);\n', 'If the file is a script of SQL commands, run it by psql -f.', 'If the file is a script of SQL commands, run it by psql -f.'),
	('', E'COPY public.t (ts, n) FROM stdin;\n', 'If the file is a script of SQL commands, run it by psql -f.', 'If the file is a script of SQL commands, run it by psql -f.'),
	('header ''map''', E'ts;n;f\n', 'If the names are separated by another byte, give delimiter => '';'', or whatever it is.', 'If the names are separated by another byte, give delimiter '';'', or whatever it is.'),
	('timestamp_format ''YYYY-MM-DD''', E'1609372800,1,2\n', 'If these are seconds since 1970, use timestamp_format => ''epoch_s''.', 'If these are seconds since 1970, use timestamp_format ''epoch_s''.'),
	('', E'1609372800,1,2\n', 'If these are seconds since 1970, add timestamp_format => ''epoch_s''.',
		'If these are seconds since 1970, add timestamp_format ''epoch_s''.'),
	('', E'1609372800000,1,2\n', 'If these are milliseconds since 1970, add timestamp_format => ''epoch_ms''.',
		'If these are milliseconds since 1970, add timestamp_format ''epoch_ms''.'),
	('', E'2020-W53-4,1,2\n', 'If these are weeks of ISO 8601, add timestamp_format => ''IYYY-"W"IW-ID''.', 'If these are weeks of ISO 8601, add timestamp_format ''IYYY-"W"IW-ID''.'),
	('', E'2020-01-01,1,"2,5"\n', 'If "2,5" is a number, show how the file writes numbers, as by number_format => ''1.234,56''.',
		'If "2,5" is a number, show how the file writes numbers, as by number_format ''1.234,56''.'),
	('', E'2020-01-01,1,"1,002.5"\n', 'If "1,002.5" is a number, show how the file writes numbers, as by number_format => ''1,234.56''.',
		'If "1,002.5" is a number, show how the file writes numbers, as by number_format ''1,234.56''.'),
	('', E'2020-01-01,1.0,2\n', 'If the values may have decimal places, give the column type numeric or double precision.', 'If the values may have decimal places, give the column type numeric or double precision.'),
	('', E'2020-01-01,1.0.0,2\n', '', ''),
	('', E'2020-01-01,1.05E+11,2\n', 'Integer types do not read scientific notation: give the column type numeric or double precision, or write the file anew with all digits; a spreadsheet that writes so has rounded them.',
		'Integer types do not read scientific notation: give the column type numeric or double precision, or write the file anew with all digits; a spreadsheet that writes so has rounded them.'),
	('', E'2020-01-01,E1+1,2\n', '', ''),
	('', E'2020-01-01,$1,2\n', 'If "$1" is a number, take off what stands beside it, as by transform => $$n = replace(n, ''$'', '''')$$.', 'If "$1" is a number, take off what stands beside it, as by transform $$n = replace(n, ''$'', '''')$$.'),
	('', E'2020-01-01,1,2.50 EUR\n', 'If "2.50 EUR" is a number, take off what stands beside it, as by transform => $$f = replace(f, ''EUR'', '''')$$.', 'If "2.50 EUR" is a number, take off what stands beside it, as by transform $$f = replace(f, ''EUR'', '''')$$.'),
	('', E'2020-01-01,1,2 and 3\n', '', ''),
	('', E'2020-01-01,x1y,2\n', '', ''),
	('', E'2020-01-01,1'',2\n', '', ''),
	('delimiter ''|''', E'2024-01-01;1;2.5\n', 'If the fields are separated by ";", use delimiter => '';''.', 'If the fields are separated by ";", use delimiter '';''.'),
	('null_string ''-''', E'2024-01-01,NA,2\n', 'If "NA" stands for NULL, add null_strings => ''NA''.', 'If "NA" stands for NULL, add null_strings ''NA''.'),
	('', E'2020-01-01,''1'',2\n', 'If fields are quoted by "''", add quote => ''''''''.', 'If fields are quoted by "''", add quote ''''''''.'),
	('', E'# made today\n2020-01-01,1,2\n', 'If lines at the beginning are no records, add header => 1, or as many as there are.', 'If lines at the beginning are no records, add header 1, or as many as there are.'),
	('', E'{"ts": "2020-01-01", "n": 1}\n', 'If the file is in JSON, use format => ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.', 'If the file is in JSON, use format ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.'),
	('header true', E'{\n  "ts": "2020-01-01",\n  "n": 1\n}\n', 'If the file is in JSON, use format => ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.', 'If the file is in JSON, use format ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.'),
	('', E'[\n{"ts": "2020-01-01"}]\n', 'If the file is in JSON, use format => ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.', 'If the file is in JSON, use format ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.'),
	('', E'<!DOCTYPE html>\n<html>\n', 'If the file is in HTML or XML, it may be a page of an error in place of the data: look at what its source has sent, or make it CSV first.',
		'If the file is in HTML or XML, it may be a page of an error in place of the data: look at what its source has sent, or make it CSV first.'),
	('header true', E'<?xml version="1.0"?>\n<a b="c"/>\n', 'If the file is in HTML or XML, it may be a page of an error in place of the data: look at what its source has sent, or make it CSV first.',
		'If the file is in HTML or XML, it may be a page of an error in place of the data: look at what its source has sent, or make it CSV first.'),
	('', E'<5,1,2\n', '', ''),
	('', E'\ufeff2020-01-01,1,2\n', 'If the file begins with a byte order mark, load what a program prints, by program => true and the source ''tail -c +4 DIR/hints.csv''.',
		'If the file begins with a byte order mark, load what a program prints, by COPY ... FROM PROGRAM ''tail -c +4 DIR/hints.csv''.'),
	('', E'\ufeffts,n,f\n2020-01-01,1,2\n', 'If the first line is a header, add header => true.', 'If the first line is a header, add header true.'),
	('header ''match''', E'n,ts,f\n', 'If the file has the columns in another order, or not all of them, use header => ''map''.', 'If the file has the columns in another order, or not all of them, use header ''map''.'),
	('header ''match''', E'ts,n\n', 'If the file has the columns in another order, or not all of them, use header => ''map''.', 'If the file has the columns in another order, or not all of them, use header ''map''.'),
	('header ''match''', E'ts,n,f,id\n', 'If the file has other columns than these, use header => ''map'', and ignore_extra_columns => true to skip what is no column of the table.',
		'If the file has other columns than these, use header ''map'', and ignore_extra_columns to skip what is no column of the table.'),
	('header ''match''', E'time,count,value\n', 'No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header => true; if the first line is a record, leave header out.',
		'No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header true; if the first line is a record, leave header out.'),
	('header ''map''', E'time,count,value\n', 'No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header => true; if the first line is a record, leave header out.',
		'No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header true; if the first line is a record, leave header out.'),
	('header ''map''', E'ts,id\n', 'Add ignore_extra_columns => true to skip it, or transform to make a column of it.', 'Add ignore_extra_columns to skip it, or transform to make a column of it.');
UPDATE example SET hint = replace(hint, '\t', chr(92) || 't'), copy_hint = replace(copy_hint, '\t', chr(92) || 't');

SELECT is(plain(hint_of('SELECT fast_copy(''t'', %L' || CASE WHEN arguments <> '' THEN ', ' || replace(arguments, ' ', ' => ') ELSE '' END || ', workers => ' || w || ')', lines)), hint, w || ' workers: ' || lines)
FROM example, unnest(ARRAY[0, 2]) AS w;
SELECT is(plain(hint_of('COPY t FROM %L WITH (fast_copy, format csv' || CASE WHEN arguments <> '' THEN ', ' || arguments ELSE '' END || ')', lines)), copy_hint, 'COPY: ' || lines) FROM example;

SELECT is(hint_of('SELECT fast_copy(''one'', %L)', E'1;2\n'), '', 'a table of one column has no separators');
SELECT is(hint_of('SELECT fast_copy(''one'', %L)', E'none\n'), 'If the first line is a header, add header => true.', 'but may have a header');

-- What a hint says is not refused in turn
SELECT is(hint_of('SELECT fast_copy(''t'', %L, header => ''match'', columns => ''{ts,n}'')', E'n,ts\n'), 'If the file has the columns in another order, or not all of them, use header => ''map'' without the list of columns.', 'header match and columns');
SELECT is(hint_of('COPY t (ts, n) FROM %L WITH (fast_copy, format csv, header match)', E'n,ts\n'), 'If the file has the columns in another order, or not all of them, use header ''map'' without the list of columns.', 'COPY: header match and columns');
SELECT is(hint_of('SELECT fast_copy(''t'', %L, columns => ''{ts,n}'')', E'2024-01-01,1,2\n'), 'If the file has other columns than the list, name those, or leave the list out and let a header line say which they are: header => ''map''.', 'columns');

-- A key that is none
CREATE TABLE plain_t (word text, at timestamp, day date, f float8, n smallint);
CREATE TABLE keyless (word text, f float8);
SELECT is(hint_of('SELECT fast_copy(''t'', %L, ''time'')', ''), 'Leave timestamp_column out, or name column "ts".', 'the partition key');
SELECT is(hint_of('SELECT fast_copy(''plain_t'', %L, ''time'')', ''), 'The key can be one of these columns: "at", "day", "n".', 'a column that does not exist');
SELECT is(hint_of('SELECT fast_copy(''plain_t'', %L, ''word'')', ''), 'The key can be one of these columns: "at", "day", "n".', 'a column of another type');
SELECT is(hint_of('SELECT fast_copy(''plain_t'', %L, ''time'', columns => ''{f,n}'')', ''), 'The key can be one of these columns: "n".', 'columns of the file alone');
SELECT is(hint_of('SELECT fast_copy(''keyless'', %L, ''time'')', ''), 'Leave timestamp_column out: the file has no timestamp, timestamptz, date or integer column.', 'no column can be it');

-- Patterns of others
SELECT is(hint_of('SELECT fast_copy(''t'', %L, timestamp_format => ' || replace(quote_literal(pattern), '%', '%%') || ')', ''), hint, pattern) FROM (VALUES
	('%Y-%m-%d', 'Write "YYYY-MM-DD".'),
	('%d.%m.%yT%H:%M:%S.%f%z', 'Write "DD.MM.YY"T"HH24:MI:SS.USOF".'),
	('%-d %B %Y', 'Write "DD MONTH YYYY".'),
	('%s', 'Write "epoch_s".'),
	('%Y-%Q', 'Write "YYYY-MM-DD HH24:MI:SS".'),
	('DD-MON-RR', 'Write "DD-MON-YY": two digits are the year nearest to 2020, so that 70 is 1970, and 69 is 2069.'),
	('DD.MM.RRRR HH24:MI', 'Write "DD.MM.YYYY HH24:MI": two digits are the year nearest to 2020, so that 70 is 1970, and 69 is 2069.'))
	AS _ (pattern, hint);

-- The same for what fast_copy_analyze finds
SELECT is(hint_of('SELECT fast_copy(''t'', %L, timestamp_format => ''DD.MM.YYYY'')', E'28.02.2023,1,2\n31.02.2023,1,2\n'), 'There is no such day: month 2 of 2023 has 28 days. Correct the value, or let on_error => ''ignore'' leave such records out.', 'a day that does not exist');
SELECT matches(detail, 'out of range: "31.02.2023". There is no such day: month 2 of 2023 has 28 days', '... in a cause')
FROM fast_copy_analyze('t', current_setting('test.file'), timestamp_format => 'DD.MM.YYYY') WHERE item = 'cause';
SELECT alike(detail, '% has 28 days. Correct the value.', '... where on_error leaves it out already')
FROM fast_copy_analyze('t', current_setting('test.file'), timestamp_format => 'DD.MM.YYYY', on_error => 'ignore') WHERE item = 'cause';

-- Bytes that are no characters
CREATE FUNCTION hint_of_bytes(bytes bytea, arguments text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM write_file(current_setting('test.file'), bytes);
	RETURN plain(hint_of(format('SELECT fast_copy(''t'', %L%s)', current_setting('test.file'), arguments)));
END
$$;
SELECT is(hint_of_bytes('\xfffe3200300032000a00', ', encoding => ''LATIN1'''), 'If the file is in UTF-16, add encoding => ''UTF16''.', 'UTF-16 with its mark');
SELECT is(hint_of_bytes('\x3200300032000a00'), 'If the file is in UTF-16, add encoding => ''UTF16''.', 'UTF-16 without it');
SELECT is(hint_of_bytes('\x323032302d30312d30312c31fc0a'), 'If the file is in another encoding than UTF8, say which, such as encoding => ''LATIN1'' or ''WIN1252''.', 'another encoding');
SELECT is(hint_of_bytes('\xfc0a', ', header => true'), 'If the file is in another encoding than UTF8, say which, such as encoding => ''LATIN1'' or ''WIN1252''.', 'another encoding, in a header');
SELECT is(hint_of_bytes('\xfc0a', ', header => ''map'', encoding => ''EUC_JP'''), 'If the file is in another encoding than EUC_JP, say which, such as encoding => ''LATIN1'' or ''WIN1252''.', '... which has the names');
SELECT is(hint_of_bytes('\x74007300', ', header => true'), 'If the file is in UTF-16, add encoding => ''UTF16''.', 'UTF-16, in a header');
SELECT is(hint_of('SELECT fast_copy(''t'', %L, on_error => ''ignore'')', E'2024-01-01,1,2\n\n'), 'If empty lines are to be left out, add skip_empty_lines => true.', 'a line that on_error does not tolerate');
SELECT is(hint_of_bytes('\x323032302d30312d30312c31000a'), '', 'a byte that no encoding has');

-- Options that core refuses
SELECT is(hint_of(format('SELECT fast_copy(''t'', ''/nowhere'', %s)', arguments)), hint, arguments) FROM (VALUES
	('encoding => ''utf-32''', 'PostgreSQL has no such encoding; load what a program prints: ''iconv -f utf-32 -t UTF-8 FILE''.'),
	('encoding => ''cp1252''', 'Perhaps you meant "WIN1252".'),
	('encoding => ''utf-9''', 'Encodings are UTF8, LATIN1, WIN1252, EUC_JP, SJIS, GB18030, and others in the documentation of PostgreSQL.'),
	('format => ''parquet''', 'Use format => ''csv'', ''text'', ''json'' or ''binary''.'),
	('header => ''always''', 'Use header => true, false, ''match'', ''map'' or a number of lines to skip.'),
	('progress => ''often''', 'Give an interval such as progress => ''5s'', or leave progress out.'),
	('existing_rows => ''replace'', replace_from => ''2024-01-01'', replace_to => ''soon''', 'Write replace_from and replace_to as the file has the keys, or both as ''YYYY-MM-DD''.'),
	('replace_from => ''2024-01-01'', replace_to => ''2024-01-02''', 'Add existing_rows => ''replace'', or leave it out.'),
	('dedup_keys => ''{n}''', 'Add existing_rows => ''merge'', or on_conflict => ''update''.'),
	('reject_table => ''t''', 'Add on_error => ''ignore''.'),
	('ledger => ''public."No ledger"''', 'SELECT fast_copy_create_ledger_table(''public."No ledger"'') makes one.'),
	('reject_table => ''nothing''', 'SELECT fast_copy_create_reject_table(''nothing'') makes one.'),
	('quote => ''""''', 'If the file quotes no values, use quote => ''none''.'),
	('label => ''x''', 'SELECT fast_copy_create_ledger_table(''loads'') makes one; then add ledger => ''loads''.'),
	('options => ''{"sep": ";"}''', 'Perhaps you meant the option "delimiter".'),
	('options => ''{"trim": true}''', 'Perhaps you meant the option "trim_blanks".'),
	('delimiter => ''\t''', 'A tab is delimiter => E''\t''.')) AS _ (arguments, hint);
SELECT is(hint_of('COPY t FROM ''/nowhere'' WITH (fast_copy, nullstr ''x'')'), 'Perhaps you meant the option "null_string".', 'COPY: a word of another program');
SELECT is(hint_of('COPY t FROM ''/nowhere'' WITH (fast_copy, where ''n > 1'')'), 'Perhaps you meant the option "where_clause".', 'COPY: a condition');
SELECT is(hint_of(format('COPY t FROM ''/nowhere'' WITH (fast_copy, %s)', said)), 'COPY has a syntax of its own for it: COPY table (columns) FROM PROGRAM ''command''.', 'COPY: ' || said)
FROM unnest(ARRAY['program true', 'columns (ts, n)']) AS said;
SELECT is(hint_of('COPY t FROM ''/nowhere'' WITH (fast_copy, progress ''often'')'), 'Give an interval such as progress ''5s'', or leave progress out.', 'COPY: progress');
SELECT is(hint_of('COPY t FROM ''/nowhere'' WITH (fast_copy, trim_blanks ''some'')'), 'Use trim_blanks ''none'', ''unquoted'' or ''all'', in quotes.', 'COPY: a word of SQL needs its quotes');
SELECT is(hint_of(format('SELECT fast_copy(''one'', %L, transform => %L)', :'tmp_dir' || '/hints.csv', transform)), hint, transform) FROM (VALUES
	('n = n * 2', 'Fields are texts: cast those that are numbers, dates or the like, such as $1::numeric.'),
	('n = abs($1)', 'Fields are texts: cast those that are numbers, dates or the like, such as $1::numeric.')) AS _ (transform, hint);
SELECT is(hint_of('SELECT fast_copy(''one'', %L, transform => ''n = $1::numeric * 2'')', E'1\n'), 'no error', '... which works');

-- What on_error does not tolerate, and how it does
CREATE TABLE strict (id int PRIMARY KEY, n int NOT NULL CHECK (n < 9));
CREATE TABLE strict_new (id timestamp PRIMARY KEY, n int) PARTITION BY RANGE (id);
SELECT unnest(ARRAY[is(hint_of(format('SELECT fast_copy(%L, %%L, on_error => ''ignore'', missing_partitions => %L, workers => %s)', target, missing, workers), lines),
	format('If on_error is to tolerate it, add on_error_classes => ''{conversion,%s}''.', class), format('%s, %s workers', class, workers)),
	is(CASE workers WHEN 2 THEN 'no error' ELSE hint_of(format('SELECT fast_copy(%L, %%L, on_error => ''ignore'', on_error_classes => ''{conversion,%s}'', missing_partitions => %L, workers => %s)', target, class, missing, workers), lines) END, 'no error', '... and it does')])
FROM (VALUES ('strict', E'1,1\n2\n', 'missing_columns', 'create'), ('strict', E'5,1\n6,2,2\n', 'extra_columns', 'create'), ('strict', E'11,1\n11,2\n', 'unique', 'create'), ('strict', E'21,1\n22,\n', 'not_null', 'create'),
	('strict', E'31,1\n32,9\n', 'check', 'create')) AS v (target, lines, class, missing), unnest(ARRAY[2, 0]) AS workers;
SELECT is(hint_of('SELECT fast_copy(''strict_new'', %L, on_error => ''ignore'')', E'2024-01-01,1\n2024-01-01,2\n'), 'If on_error is to tolerate it, add on_error_classes => ''{conversion,unique}''.', 'an index of a new partition');
SELECT is(hint_of('SELECT fast_copy(''strict'', %L, on_error => ''ignore'', on_error_classes => ''{check,encoding}'')', E'1,1\n2,\n'), 'If on_error is to tolerate it, add on_error_classes => ''{encoding,check,not_null}''.', 'beside what it tolerates');
SELECT is(hint_of('COPY strict FROM %L WITH (fast_copy, format csv, on_error ignore)', E'41,1\n41,2\n'), 'If on_error is to tolerate it, add on_error_classes (''conversion'', ''unique'').', 'COPY');
SELECT is(hint_of('SELECT fast_copy(''strict'', %L)', E'51,1\n51,2\n'), '', 'not without on_error');
SELECT is(hint_of('COPY t FROM ''/nowhere'' WITH (fast_copy, format parquet)'), 'Use format ''csv'', ''text'', ''json'' or ''binary'', in quotes.', 'COPY: format');
SELECT is(hint_of('COPY t FROM ''/nowhere'' WITH (format parquet)'), '', 'plain COPY: format');
SELECT is(hint_of('SELECT fast_copy(''t'', %L, where_clause => ''WHERE n > 1'')', E'2024-01-01,1,2\n'), 'Leave out the word WHERE.', 'where_clause');
SELECT is(hint_of('SELECT fast_copy(''t'', %L, time_zone => ''Mars'')', E'2024-01-01,1,2\n'), 'The view pg_timezone_names has the names, such as ''Europe/Rome''.', 'time_zone');
SELECT is(hint_of('SELECT fast_copy(''t'', %L, partition_interval => ''daily'')', E'2024-01-01,1,2\n'), 'Give a width such as ''1 day'', ''1 week'' or ''1 month''.', 'partition_interval');

-- Rows that no partition takes
CREATE TABLE words (word text, n int) PARTITION BY RANGE (word);
SELECT is(hint_of('SELECT fast_copy(''t'', %L)', E'2024-01-01,1,2\n,3,4\n'), 'If rows without a key are to be left out, add where_clause => ''ts IS NOT NULL''; only a default partition takes them.', 'no key');
SELECT is(hint_of('COPY t FROM %L WITH (fast_copy, format csv)', E'2024-01-01,1,2\n,3,4\n'), 'If rows without a key are to be left out, add WHERE ts IS NOT NULL; only a default partition takes them.', 'COPY: no key');
SELECT is(hint_of('SELECT fast_copy(''t'', %L, missing_partitions => ''error'')', E'2024-01-01,1,2\n'), 'If it is to have one, use missing_partitions => ''create''.', 'missing_partitions');
SELECT is(hint_of('SELECT fast_copy(''t'', %L)', E'infinity,1,2\n'), 'If it is to have one, make that before the load: a default partition, or one from MINVALUE or to MAXVALUE.', 'infinity');
SELECT is(hint_of('SELECT fast_copy(''words'', %L)', E'a,1\n'), 'If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "words", which is not partitioned by list, or by range over one timestamp, timestamptz, date or integer.', 'a key of another type');

-- A plain COPY looks as core's
SET LOCAL fast_copy.accelerate_copy = on;
SET LOCAL fast_copy.accelerate_min_size = 0;
SELECT is(plain(hint_of('COPY t FROM %L WITH (FORMAT csv' || CASE WHEN arguments = '' THEN ')' ELSE ', ' || arguments || ')' END, lines)),
	CASE WHEN lines ~ '^\d[-\d./]+( [\d:]+ pm)?,' AND lines !~ '^(20[-\d]{8}|45292.5|0000-00-00),' THEN 'Perhaps you need a different "datestyle" setting.' ELSE '' END, 'plain COPY: ' || lines)
FROM example WHERE arguments !~ '^(timestamp_format|null_string|header ''map)';

-- An error of code that a row starts is not about the file
CREATE FUNCTION break_row() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN 'NA'::int; END$$;
CREATE TRIGGER break_row BEFORE INSERT ON one FOR EACH ROW EXECUTE FUNCTION break_row();
SELECT is(hint_of('SELECT fast_copy(''one'', %L)', E'1\n'), '', 'a trigger fails');

-- What cannot be opened
CREATE TEMP TABLE unopened (path text, hint text);
INSERT INTO unopened VALUES
	('/nowhere/x.csv', 'The server looks for it on its own machine, host "...". A file of the client''s machine is loaded by psql''s \copy t FROM ''/nowhere/x.csv'' WITH (FORMAT csv, fast_copy).'),
	('x.csv', 'The path is relative, so the server looks below its data directory, on host "...". A file of the client''s machine is loaded by psql''s \copy t FROM ''x.csv'' WITH (FORMAT csv, fast_copy).'),
	('~/x.csv', 'The server takes "~" for a part of the name: give the whole path.'),
	('$HOME/x.csv', 'The server takes "$" for a part of the name: give the whole path.'),
	('file:///data/x.csv', 'The server takes "file:" for a part of the name: give the path alone.'),
	('https://example.com/x.csv?a=b', 'The server opens files, no URLs; a program can fetch it: fast_copy(''t'', ''curl -fsS "https://example.com/x.csv?a=b"'', program => true).'),
	('https://example.com/$(id)', 'The server opens files, no URLs; a program can fetch it: fast_copy(''t'', ''curl -fsS "URL"'', program => true).'),
	('s3://bucket/*.csv', 'The server opens files, no URLs; a program can fetch it: fast_copy(''t'', ''aws s3 cp "s3://bucket/*.csv" -'', program => true).'),
	('-', 'What the client sends is loaded by COPY t FROM STDIN WITH (FORMAT csv, fast_copy).'),
	('stdin', 'What the client sends is loaded by COPY t FROM STDIN WITH (FORMAT csv, fast_copy).'),
	('{/data/a.csv,/data/b.csv}', 'Name several files as an array, ARRAY[''a.csv'', ''b.csv''], or by a pattern, ''/data/*.csv''.'),
	('/data/a.csv,/data/b.csv', 'Name several files as an array, ARRAY[''a.csv'', ''b.csv''], or by a pattern, ''/data/*.csv''.'),
	('zcat /data/a.gz', 'If it is a command, add program => true.'),
	('/nowhere/*.csv', 'The server looks for it on its own machine, host "...". A file of the client''s machine is loaded by psql''s \copy t FROM ''file'' WITH (FORMAT csv, fast_copy).'),
	(:'tmp_dir', 'Name the files in it by a pattern, such as ''DIR/*''.'),
	(:'tmp_dir' || '/', 'Name the files in it by a pattern, such as ''DIR/*''.');
SELECT is(plain(hint_of(format('SELECT fast_copy(''t'', %L)', path))), hint, 'call: ' || path) FROM unopened;
SELECT is(hint_of('COPY t FROM ''https://example.com/x'' WITH (fast_copy)'), 'The server opens files, no URLs; a program can fetch it: COPY t FROM PROGRAM ''curl -fsS "https://example.com/x"'' WITH (FORMAT text, fast_copy).', 'COPY: a URL');
SELECT is(hint_of('COPY t FROM ''/nowhere/x.csv'''), 'COPY FROM instructs the PostgreSQL server process to read a file. You may want a client-side facility such as psql''s \copy.', 'plain COPY: no file');
SELECT is(plain(hint_of('SELECT fast_copy(''t'', ''false'', program => true)')), 'The server runs it on host "..." as user "..." of the operating system, in its data directory; what it writes to stderr is in the server''s log.', 'a program fails');
SELECT is(hint_of('COPY t FROM PROGRAM ''false'' WITH (FORMAT csv)'), '', 'plain COPY: a program fails');

-- The permissions of the operating system
SELECT format('COPY (SELECT 1) TO PROGRAM %L', 'cat >/dev/null; touch ' || :'tmp_dir' || '/hints.closed && chmod 0 ' || :'tmp_dir' || '/hints.closed') \gexec
SELECT is(plain(hint_of(format('SELECT fast_copy(''t'', %L)', :'tmp_dir' || '/hints.closed'))),
	'The server reads it on host "..." as user "..." of the operating system, and must be allowed to, and to search the directories on the way. As yourself, you load it from the client by psql''s \copy t FROM ''DIR/hints.closed'' WITH (FORMAT csv, fast_copy).', 'a closed file');

-- Formats that are not loaded: the bytes that they begin with
CREATE FUNCTION refusal_of(content bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
BEGIN
	PERFORM write_file(current_setting('test.file'), content);
	PERFORM fast_copy('t', current_setting('test.file'));
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN plain(regexp_replace(message, '.*: ', '') || ': ' || hint);
END
$$;
SELECT is(refusal_of(content), refusal, name) FROM (VALUES
	('zip', '\x504b0304140001000800'::bytea || decode(repeat('00', 20), 'hex'), 'its data are encrypted: Pack one file alone, without a password, by deflate, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''unzip -p DIR/hints.csv MEMBER''.'),
	('7z', '\x377abcaf271c0004', 'it is in 7z format: Unpack it first, or pack it by gzip, zip, zstd, lz4, bzip2 or xz, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''7z x -so DIR/hints.csv''.'),
	('xlsx', '\x504b0304'::bytea || decode(repeat('00', 26), 'hex') || '[Content_Types].xml', 'it is in spreadsheet format: Save the sheet as a CSV file first.'),
	('ods', '\x504b0304'::bytea || decode(repeat('00', 26), 'hex') || 'mimetypeapplication/vnd.oasis.opendocument.spreadsheet', 'it is in spreadsheet format: Save the sheet as a CSV file first.'),
	('xls', '\xd0cf11e0a1b11ae10000', 'it is in spreadsheet format: Save the sheet as a CSV file first.'),
	('lzma', '\x5d00008000ffffffffffffffff00190c', 'it is in lzma format: Unpack it first, or pack it by gzip, zip, zstd, lz4, bzip2 or xz, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''xz -dc DIR/hints.csv''.'),
	('Parquet', '\x504152311500151415182c1502', 'it is in Parquet format: Make it CSV first, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''duckdb -c "COPY (FROM read_parquet(''''DIR/hints.csv'''')) TO ''''/dev/stdout'''' (FORMAT csv)"''.'),
	('ORC', '\x4f52430a0300001200', 'it is in ORC format: Make it CSV first, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''python3 -c "import sys; from pyarrow import csv, orc; csv.write_csv(orc.read_table(''''DIR/hints.csv''''), sys.stdout.buffer)"''.'),
	('Avro', '\x4f626a01041461', 'it is in Avro format: Make it CSV first, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''duckdb -c "COPY (FROM read_avro(''''DIR/hints.csv'''')) TO ''''/dev/stdout'''' (FORMAT csv)"''.'),
	('Arrow', '\x4152524f573100001000', 'it is in Arrow format: Make it CSV first, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''python3 -c "import sys; from pyarrow import csv, feather; csv.write_csv(feather.read_table(''''DIR/hints.csv''''), sys.stdout.buffer)"''.'),
	('SQLite', '\x53514c69746520666f726d6174203300', 'it is in SQLite format: Make it CSV first, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''sqlite3 -csv -header DIR/hints.csv "SELECT * FROM name"''.'),
	('pg_dump -Fc', '\x5047444d50010e0004080101', 'it is in pg_dump format: Restore it by pg_restore, which fast_copy.accelerate_copy makes faster.'),
	('pg_dump -Ft', 'toc.dat'::bytea || decode(repeat('00', 250), 'hex') || 'ustar' || decode(repeat('00', 250), 'hex'), 'it is in pg_dump format: Restore it by pg_restore, which fast_copy.accelerate_copy makes faster.'))
	AS _ (name, content, refusal);
CREATE TABLE formats (name text);
SELECT write_file(:'tmp_dir' || '/hints.csv', convert_to(E'ORC\nPAR1\nObj\nARROW1\nPGDMP\nSQLite format 3\n', 'UTF8')) AS set \gset
SELECT is(fast_copy('formats', :'tmp_dir' || '/hints.csv'), 6::bigint, 'words that are no formats');

-- A quote that swallows the rest of the file
SELECT is(hint_of('SELECT fast_copy(''t'', %L)', E'2024-01-01,1,2\n2024-01-01,1,"2\n2024-01-01,1,2\n2024-01-01,1,2\n'),
	'The record begins in line 2: look there for a quote without its pair. If quotes are text, as where they stand for inches, add quote => ''none''.', 'a quote that does not end');
SELECT is(detail, '22P04: unterminated CSV quoted field. The record begins in line 2: look there for a quote without its pair. If quotes are text, as where they stand for inches, add quote => ''none''.', '... in an analysis')
FROM fast_copy_analyze('t', current_setting('test.file')) WHERE item = 'error';
SELECT is(hint_of('COPY t FROM %L WITH (fast_copy, format csv)', E'2024-01-01,1,"2\n2024-01-01,1,2\n'),
	'The record begins in line 1: look there for a quote without its pair. If quotes are text, as where they stand for inches, add quote ''none''.', 'COPY: in the first line');

-- From one privilege to the next: each hint names what the next step does
CREATE SCHEMA depot;
CREATE ROLE hints_owner;
CREATE ROLE hints_loader;
GRANT USAGE ON SCHEMA depot TO hints_loader, hints_owner;
CREATE TABLE depot.t (ts timestamp, n int) PARTITION BY RANGE (ts);
ALTER TABLE depot.t OWNER TO hints_owner;
SELECT write_file(:'tmp_dir' || '/hints.csv', '2024-01-01,1') AS set \gset

CREATE FUNCTION hint_of_loader(arguments text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	SET LOCAL ROLE hints_loader;
	hint := hint_of(format('SELECT fast_copy(''depot.t'', %L%s)', current_setting('test.file'), arguments));
	RESET ROLE;
	RETURN hint;
END
$$;

SELECT is(hint_of_loader(), 'Its owner may GRANT INSERT ON depot.t TO hints_loader.', 'INSERT');
GRANT INSERT ON depot.t TO hints_loader;
SELECT is(hint_of_loader(', where_clause => ''n > 0'''), 'Its owner may GRANT SELECT ON depot.t TO hints_loader, for the columns of the condition.', 'SELECT for a condition');
SELECT is(plain(hint_of_loader()), 'Anyone can COPY to stdout or from stdin. psql''s \copy command also works for anyone: \copy depot.t FROM ''DIR/hints.csv'' WITH (FORMAT csv, fast_copy). '
	|| 'A superuser may let you read the server''s files: GRANT pg_read_server_files TO hints_loader; or set fast_copy.root_directory to a directory whose files anyone may load.', 'to read the file');
SET LOCAL fast_copy.root_directory = '/somewhere';
SELECT matches(hint_of_loader(), 'GRANT pg_read_server_files TO hints_loader; or put them below fast_copy\.root_directory, "/somewhere"\.$', '... or files of the directory');
SELECT set_config('fast_copy.root_directory', :'tmp_dir', true) <> '' AS set \gset
SELECT is(hint_of_loader(), 'GRANT hints_owner TO hints_loader; or create the partitions before the load. With missing_partitions "error" none are created, and the first row that lacks one is the error.', 'to make partitions');
CREATE FUNCTION warning_of_loader() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	warning text;
BEGIN
	SET LOCAL ROLE hints_loader;
	SELECT detail INTO warning FROM fast_copy_analyze('depot.t', current_setting('test.file')) WHERE item = 'warning';
	RESET ROLE;
	RETURN warning;
END
$$;
SELECT is(warning_of_loader(), 'must be owner of table t: The load has to create 1 partition, from values 2024-01-01 00:00:00, and only role "hints_owner", the table''s owner, or a member of it may do so. ' || hint_of_loader(),
	'the analysis warns of it');
ALTER ROLE hints_loader NOINHERIT;
GRANT hints_owner TO hints_loader;
SELECT matches(hint_of_loader(), '^(As a member that does not inherit its privileges: SET ROLE hints_owner|GRANT CREATE ON SCHEMA depot TO hints_owner); or create', '... as a member that does not inherit; from 16 on the grant decides');
REVOKE hints_owner FROM hints_loader;
ALTER ROLE hints_loader INHERIT;
CREATE TABLE depot.rest PARTITION OF depot.t DEFAULT;
SELECT matches(hint_of_loader(), 'is the error; with "default" such rows go to the default partition\.$', '... or not to make them');
DROP TABLE depot.rest;
ALTER TABLE depot.t OWNER TO CURRENT_USER;
SELECT matches(hint_of_loader(), '^Let a superuser give the table to a role that may load it: ALTER TABLE depot\.t OWNER TO hints_loader; ', 'nobody is to become a superuser for that');
ALTER TABLE depot.t OWNER TO hints_owner;
GRANT hints_owner TO hints_loader;
SELECT is(hint_of_loader(), 'GRANT CREATE ON SCHEMA depot TO hints_owner; or create the partitions before the load.', 'the owner may not create');
GRANT CREATE ON SCHEMA depot TO hints_owner;
SELECT is(hint_of_loader(), 'no error', 'the last step');
SELECT matches(hint_of_loader(', program => true'), 'GRANT pg_execute_server_program TO hints_loader\.$', 'a program');

-- ... for what a load does beside that
CREATE TABLE depot.u (n int PRIMARY KEY, t text);
GRANT INSERT ON depot.u TO hints_loader;
SELECT fast_copy_create_reject_table('depot.rejects');
CREATE FUNCTION hint_of_program(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	SET LOCAL ROLE hints_loader;
	hint := hint_of(format('SELECT fast_copy(''depot.u'', ''echo 1,x'', program => true, %s)', arguments));
	RESET ROLE;
	RETURN hint;
END
$$;
GRANT pg_execute_server_program TO hints_loader;
SELECT is(hint_of_program('on_conflict => ''update'''), 'Its owner may GRANT SELECT ON depot.u TO hints_loader, for the key, by which rows are found.', 'SELECT for on_conflict');
GRANT SELECT ON depot.u TO hints_loader;
SELECT is(hint_of_program('on_conflict => ''update'''), 'Its owner may GRANT UPDATE ON depot.u TO hints_loader, because rows are updated.', 'UPDATE for on_conflict');
GRANT UPDATE ON depot.u TO hints_loader;
SELECT is(hint_of_program('on_conflict => ''update'''), 'no error', '... is all that it takes');
SELECT is(hint_of_program('on_error => ''ignore'', reject_table => ''depot.rejects'''), 'Its owner may GRANT INSERT ON depot.rejects TO hints_loader.', 'INSERT for a table of rejects');
REVOKE pg_execute_server_program FROM hints_loader;

-- A role that may read one directory is told what is not in it, and nothing of
-- other files or of the machine
SELECT write_file(:'tmp_dir' || '/hints.secret', '') AS set \gset
CREATE FUNCTION error_of_loader(path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
BEGIN
	SET LOCAL ROLE hints_loader;
	PERFORM fast_copy('depot.t', path);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN replace(message || ': ' || hint, path, '...');
END
$$;
SELECT matches(error_of_loader(:'tmp_dir' || '/nothing.csv'), '^could not open file "\.\.\." for reading: No such file or directory: The server looks for it on its own machine\. A file', 'not in the directory');
SELECT set_config('fast_copy.root_directory', :'tmp_dir' || '/sub', true) <> '' AS set \gset
SELECT is(error_of_loader(:'tmp_dir' || '/hints.secret'), error_of_loader(:'tmp_dir' || '/nothing.csv'), 'elsewhere: the same whether it is there or not');
SELECT is(error_of_loader(:'tmp_dir' || '/hints.*'), error_of_loader(:'tmp_dir' || '/nothing.*'), '... for a pattern');

-- Numbers with the minus sign and the spaces of typesetters: what the hint says
-- works, and leaves no sign out
CREATE TABLE amounts (a numeric, "B" int);
CREATE FUNCTION after_hint(lines text, options text DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	load text := 'SELECT fast_copy(''amounts'', %L' || CASE options WHEN '{}' THEN ')' ELSE format(', options => %L)', options) END;
	hint text := hint_of(load, lines);
	transform text := substring(hint FROM '\$\$(.*)\$\$');
BEGIN
	TRUNCATE amounts;
	PERFORM fast_copy('amounts', current_setting('test.file'), transform => transform, options => options::jsonb);
	RETURN concat_ws(' ', transform, (SELECT string_agg(concat_ws('/', a, "B"), ' ') FROM amounts));
END
$$;
SELECT is(after_hint(E'\u22127.5,1\n3,2\n'), $$a = replace(a, E'\u2212', '-') -7.5/1 3/2$$, 'a minus sign that is no hyphen');
SELECT is(after_hint(E'7.5,\u22121\n3,2\n'), $$"B" = replace("B", E'\u2212', '-') 7.5/-1 3/2$$, '... in an integer');
SELECT is(after_hint(E'1\u00a0234.5,1\n12\u00a0345\u00a0678,2\n'), $$a = replace(a, E'\u00A0', '') 1234.5/1 12345678/2$$, 'no-break spaces');
SELECT is(after_hint(E'\u22121\u202f234,1\n'), $$a = replace(replace(a, E'\u2212', '-'), E'\u202F', '') -1234/1$$, '... narrow ones, of a negative number');
SELECT is(after_hint(E'"\u22121.234,5",1\n', '{"number_format": "1.234,56"}'), $$a = replace(a, E'\u2212', '-') -1234.5/1$$, '... together with number_format');
SELECT is(hint_of('COPY amounts FROM %L WITH (fast_copy, FORMAT csv)', E'\u22127.5,1\n'),
	format('If "%s7.5" is a number, replace its minus sign or no-break spaces, as by transform $$a = replace(a, E''\u2212'', ''-'')$$.', U&'\2212'), 'as an option of COPY');
SELECT is(hint_of('SELECT fast_copy(''amounts'', %L)', E'5 \u20ac,1\n'),
	format('If "5 %1$s" is a number, take off what stands beside it, as by transform => $$a = replace(a, ''%1$s'', '''')$$.', U&'\20AC'), 'a currency still goes');

-- Columns that have values of their own
CREATE TABLE own (code text PRIMARY KEY, id int GENERATED ALWAYS AS IDENTITY, name text, big text GENERATED ALWAYS AS (upper(name)) STORED);
SELECT is(hint_of('SELECT fast_copy(''own'', %L, header => ''map'', options => ''{"on_conflict": "update"}'')', E'code,id,name\na,7,x\n'),
	'If the file need not have it, leave it out of the columns; else leave its field out by transform => ''id = DEFAULT''.', 'an identity that is updated');
SELECT is(hint_of('SELECT fast_copy(''own'', %L, header => ''map'', options => ''{"on_conflict": "update", "transform": "id = DEFAULT"}'')', E'code,id,name\na,7,x\n'), 'no error', '... is left out so');
SELECT is(hint_of('COPY own (code, id, name) FROM %L WITH (fast_copy, FORMAT csv, on_conflict update)', E'a,7,y\n'),
	'If the file need not have it, leave it out of the columns; else leave its field out by transform ''id = DEFAULT''.', '... as an option of COPY');
SELECT is(hint_of('COPY own (code, id, name) FROM %L WITH (fast_copy, FORMAT csv, on_conflict update, transform ''id = DEFAULT'')', E'a,7,y\n'), 'no error', '... which works');
SELECT is((SELECT own::text FROM own), '(a,1,y,Y)', '... and leaves the number as it is');
SELECT is(hint_of('SELECT fast_copy(''own'', %L, columns => ''{code,name,big}'', header => true)', E'code,name,big\nb,x,X\n'),
	'Leave it out of columns; or, if the file has it and a header, leave columns out, and use header => ''map'' and ignore_extra_columns => true.', 'a generated column');
SELECT is(hint_of('SELECT fast_copy(''own'', %L, header => ''map'', ignore_extra_columns => true)', E'code,name,big\nb,x,X\n'), 'no error', '... is left out so');
SELECT is(hint_of('COPY own (code, name, big) FROM %L WITH (fast_copy, FORMAT csv)', E'b,x,X\n'),
	'Leave it out of the columns; or, if the file has it and a header, leave out the columns, and use header ''map'' and ignore_extra_columns.', '... as an option of COPY');

-- header "match" sees the names after a byte order mark, as "map" does
CREATE TABLE marked (id int, name text);
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
SELECT is(hint_of('SELECT fast_copy(''marked'', %L, header => ''match'')', E'\ufeffid,name\n1,x\n'), 'no error', 'a header with a mark');
SELECT is(hint_of('SELECT fast_copy(''marked'', %L, header => ''match'')', E'\ufeff"id",name\n2,x\n'), 'no error', '... and quotes');
SELECT is(hint_of('COPY marked FROM %L WITH (fast_copy, FORMAT csv, HEADER match, order_by (name))', E'\ufeffid,name\n3,x\n'), 'no error', '... as an option of COPY');
SELECT is(hint_of('SELECT fast_copy(''marked'', %L, header => ''match'', options => ''{"transform": "name = upper(name)"}'')', E'\ufeffid,name\n4,x\n'), 'no error', '... with a transform');
CREATE TRIGGER same BEFORE INSERT ON marked FOR EACH ROW EXECUTE FUNCTION same();
SELECT is(hint_of('SELECT fast_copy(''marked'', %L, header => ''match'')', E'\ufeffid,name\n5,x\n'), 'no error', '... by core''s COPY');
SELECT is((SELECT string_agg(marked::text, ' ' ORDER BY id) FROM marked), '(1,x) (2,x) (3,x) (4,X) (5,x)', 'are loaded');
SELECT is(hint_of('SELECT fast_copy(''marked'', %L, header => ''match'')', E'\ufeffid,nam\n1,x\n'), 'If the file has other columns than these, use header => ''map'', and ignore_extra_columns => true to skip what is no column of the table.', 'other names are refused');
SELECT is(hint_of('SELECT fast_copy(''marked'', %L, header => ''match'')', E'\ufeff\ufeffid,name\n1,x\n'), 'If the file has the columns in another order, or not all of them, use header => ''map''.', '... and a second mark');

-- A function that is marked as parallel safe, and is not
CREATE TABLE written (n int);
CREATE FUNCTION writes(n int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN INSERT INTO public.written VALUES (n); RETURN true; END $$;
CREATE TABLE writing (n int, t text, CHECK (writes(n)));
SET LOCAL fast_copy.chunk_size = '16kB';
SELECT is(hint_of('SELECT fast_copy(''writing'', %L, workers => 2)', (SELECT string_agg(format(E'%s,%s\n', n, repeat('x', 5000)), '') FROM generate_series(1, 50) AS n)),
	'If a function of the table is marked PARALLEL SAFE, and does what a worker may not, mark it PARALLEL UNSAFE; or use workers => 0.', 'a function that writes, in a worker');
SELECT is(hint_of('SELECT fast_copy(''writing'', %L, workers => 0)', E'1,x\n'), 'no error', 'the leader alone can');
ALTER FUNCTION writes(int) PARALLEL UNSAFE;
SELECT is(hint_of('SELECT fast_copy(''writing'', %L, workers => 2)', E'1,x\n2,x\n'), 'no error', '... as where it is marked as what it is');
SELECT is(count(*), 3::bigint, 'each row was written once') FROM written;
RESET fast_copy.chunk_size;

SELECT * FROM finish();
ROLLBACK;
