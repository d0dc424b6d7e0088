-- What newcomers do wrong, and the hint that tells them what to do: each of these
-- statements fails, and its hint is the whole of what stands beside it.  {f} is a file
-- of the lines between them, {d} its directory.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

\set name mistakes
\ir begin.psql
SELECT no_plan();

CREATE TABLE events (at timestamp NOT NULL, device int, reading float8) PARTITION BY RANGE (at);
CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL, email text, born date CHECK (born > '1900-01-01'));
CREATE VIEW events_view AS SELECT * FROM events;
CREATE TABLE with_rest (at timestamp, msg text) PARTITION BY RANGE (at);
CREATE TABLE with_rest_rest PARTITION OF with_rest DEFAULT;
INSERT INTO with_rest VALUES ('2024-05-06 07:08', 'too early');
CREATE TABLE orders (id int, person int REFERENCES people, pieces int CHECK (pieces > 0));
CREATE TABLE made (a int, b int, c int GENERATED ALWAYS AS (a + b) STORED);
CREATE TABLE regions (region text, n int) PARTITION BY LIST (region);
CREATE TABLE regions_north PARTITION OF regions FOR VALUES IN ('north');
CREATE TABLE numbers (n bigint, t text) PARTITION BY RANGE (n);
CREATE TABLE fresh (at timestamp, n int) PARTITION BY RANGE (at);
CREATE TABLE filled (at timestamp NOT NULL, device int, reading float8) PARTITION BY RANGE (at);
CREATE TABLE filled_1 PARTITION OF filled FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
INSERT INTO filled SELECT timestamp '2024-01-01' + n * interval '1 minute', n, n FROM generate_series(1, 10) AS n;
SELECT fast_copy_create_ledger_table('loads');
SELECT fast_copy_create_reject_table('rejects');
INSERT INTO people VALUES (1, 'Ann', 'x', '2000-01-01');
CREATE TEMP TABLE mistake (statement text, lines text, hint text);
INSERT INTO mistake VALUES
	-- Where the file is
	($$SELECT fast_copy('events', '~/events.csv')$$, NULL, 'The server takes "~" for a part of the name: give the whole path.'),
	($$SELECT fast_copy('events', '$HOME/events.csv')$$, NULL, 'The server takes "$" for a part of the name: give the whole path.'),
	($$SELECT fast_copy('events', 'https://example.com/events.csv')$$, NULL, $$The server opens files, no URLs; a program can fetch it: fast_copy('events', 'curl -fsS "https://example.com/events.csv"', program => true).$$),
	($$SELECT fast_copy('events', 's3://bucket/events.csv')$$, NULL, $$The server opens files, no URLs; a program can fetch it: fast_copy('events', 'aws s3 cp "s3://bucket/events.csv" -', program => true).$$),
	($$SELECT fast_copy('events', 'file:///data/events.csv')$$, NULL, 'The server takes "file:" for a part of the name: give the path alone.'),
	($$SELECT fast_copy('events', '{d}/*.tsv')$$, NULL, 'The pattern is looked up on the machine of the server, as its user; a backslash takes the meaning from *, ? and [.'),
	($$SELECT fast_copy('events', 'zcat {f}')$$, NULL, 'If it is a command, add program => true.'),
	($$SELECT fast_copy('events', '-')$$, NULL, 'What the client sends is loaded by COPY events FROM STDIN WITH (FORMAT csv, fast_copy).'),
	('SELECT fast_copy(''events'', ARRAY[]::text[])', NULL, 'Leave it out, or give NULL, to get its default.'),
	($$SELECT fast_copy('events', '{f}', '{f}')$$, E'2024-01-01 10:00,1,2.5\n', 'Leave timestamp_column out, or name column "at".'),
	-- How records are cut
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01;1;2.5\n', 'If the fields are separated by ";", add delimiter => '';''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01\t1\t2.5\n', $$If the fields are separated by tabs, add delimiter => E'\t'.$$),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01|1|2.5\n', 'If the fields are separated by "|", add delimiter => ''|''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01::1::2.5\n', 'If the file has other columns than the table, name them in columns, or let a header line say which they are: header => ''map''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01^1^2.5\n', 'If the fields are separated by "^", add delimiter => ''^''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'at,device,reading\n2024-01-01 10:00,1,2.5\n', 'If the first line is a header, add header => true.'),
	($$SELECT fast_copy('events', '{f}', header => true)$$, E'at,device,reading\nat,device,reading\n2024-01-01 10:00,1,2.5\n', 'If this line is the header, use header => 2.'),
	($$SELECT fast_copy('events', '{f}')$$, E'# made by x\n2024-01-01 10:00,1,2.5\n', 'If lines at the beginning are no records, add header => 1, or as many as there are.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,1,2.5,\n', 'If each line ends with ",", add ignore_extra_columns => true.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n\n2024-01-01 10:00,1,2.5\n', 'If empty lines are to be left out, add skip_empty_lines => true.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,"1,2.5\n2024-01-01 10:00,1,2.5\n', $$The record begins in line 2: look there for a quote without its pair. If quotes are text, as where they stand for inches, add quote => 'none'.$$),
	($$SELECT fast_copy('people', '{f}')$$, E'1,5" pipe,x,2000-01-01\n2,a,b,2000-01-01\n', $$The record begins in line 1: look there for a quote without its pair. If quotes are text, as where they stand for inches, add quote => 'none'.$$),
	($$SELECT fast_copy('people', '{f}')$$, E'1,"5\\" pipe",x,2000-01-01\n', $$If a backslash stands before quotes within values, add escape => '\'.$$),
	($$SELECT fast_copy('people', '{f}')$$, E'''1'',''Ann'',''x'',''2000-01-01''\n', $$If fields are quoted by "'", add quote => ''''.$$),
	($$SELECT fast_copy('events', '{f}', format => 'text')$$, E'2024-01-01 10:00,1,2.5\n', 'If the fields are separated by ",", add delimiter => '',''.'),
	($$SELECT fast_copy('events', '{f}', delimiter => '\t')$$, E'2024-01-01 10:00,1,2.5\n', $$A tab is delimiter => E'\t'.$$),
	($$SELECT fast_copy('events', '{f}', quote => '')$$, E'2024-01-01 10:00,1,2.5\n', $$If the file quotes no values, use quote => 'none'.$$),
	($$SELECT fast_copy('events', '{f}', header => 'map', ignore_extra_columns => true)$$, E'at;device;reading\n2024-01-01 10:00;1;2.5\n', $$If the names are separated by another byte, give delimiter => ';', or whatever it is.$$),
	($$SELECT fast_copy('events', '{f}', header => 'map')$$, E'Zeit,Gerät,Wert\n2024-01-01 10:00,1,2.5\n', 'No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header => true; if the first line is a record, leave header out.'),
	($$SELECT fast_copy('events', '{f}', header => 'map')$$, E'at,device,temperature\n2024-01-01 10:00,1,2.5\n', 'Add ignore_extra_columns => true to skip it, or transform to make a column of it.'),
	($$SELECT fast_copy('events', '{f}', header => 'map')$$, E'at;device;reading\n2024-01-01;1;2.5\n', 'If the names are separated by another byte, give delimiter => '';'', or whatever it is.'),
	($$SELECT fast_copy('events', '{f}', header => 'match')$$, E'device,at,reading\n1,2024-01-01,2\n', 'If the file has the columns in another order, or not all of them, use header => ''map''.'),
	($$SELECT fast_copy('events', '{f}', header => 'map', columns => '{at,device}')$$, E'2024-01-01 10:00,1,2.5\n', 'The header of the file says which columns it has.'),
	($$SELECT fast_copy('events', '{f}', header => 'match', columns => '{at,device}')$$, E'at,device,reading\n2024-01-01 10:00,1,2.5\n', 'If the file has the columns in another order, or not all of them, use header => ''map'' without the list of columns.'),
	-- Files that are no tables
	($$SELECT fast_copy('events', '{f}')$$, E'{"at": "2024-01-01", "device": 1}\n', 'If the file is in JSON, use format => ''json''. An object must be a line: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.'),
	($$SELECT fast_copy('events', '{f}')$$, E'<!DOCTYPE html>\n<html><body>404</body></html>\n', 'If the file is in HTML or XML, it may be a page of an error in place of the data: look at what its source has sent, or make it CSV first.'),
	($$SELECT fast_copy('events', '{f}')$$, '\x504b03041400010008000000000000000000000000000000000000000000', 'Pack one file alone, without a password, by deflate, or load what a program prints, by program => true or COPY ... FROM PROGRAM: ''unzip -p {f} MEMBER''.'),
	($$SELECT fast_copy('events', '{f}')$$, '\x504152311500151415182c1502', $$Make it CSV first, or load what a program prints, by program => true or COPY ... FROM PROGRAM: 'duckdb -c "COPY (FROM read_parquet(''{f}'')) TO ''/dev/stdout'' (FORMAT csv)"'.$$),
	($$SELECT fast_copy('events', '{f}')$$, '\x5047444d50010e0004080101', 'Restore it by pg_restore, which fast_copy.accelerate_copy makes faster.'),
	($$SELECT fast_copy('events', '{f}')$$, '\x89504e470d0a1a0a0000000d49484452', $$If the file is in another encoding than UTF8, say which, such as encoding => 'LATIN1' or 'WIN1252'.$$),
	-- Encodings
	($$SELECT fast_copy('events', '{f}')$$, '\xefbbbf323032342d30312d30312031303a30302c312c322e350a', 'If the file begins with a byte order mark, load what a program prints, by program => true and the source ''tail -c +4 {f}''.'),
	($$SELECT fast_copy('events', '{f}')$$, '\x32003000320034002d00300031002d00300031002000310030003a00300030002c0031002c0032002e0035000a00', 'If the file is in UTF-16, add encoding => ''UTF16''.'),
	($$SELECT fast_copy('people', '{f}', encoding => 'cp1252')$$, '\x312c4afc7267656e2c782c323030302d30312d30310a', 'Perhaps you meant "WIN1252".'),
	($$SELECT fast_copy('events', '{f}', encoding => 'ansi')$$, E'2024-01-01 10:00,1,2.5\n', 'Encodings are UTF8, LATIN1, WIN1252, EUC_JP, SJIS, GB18030, and others in the documentation of PostgreSQL.'),
	($$SELECT fast_copy('events', '{f}', encoding => 'utf-32')$$, E'2024-01-01 10:00,1,2.5\n', 'PostgreSQL has no such encoding; load what a program prints: ''iconv -f utf-32 -t UTF-8 FILE''.'),
	-- Values
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,NA,1\n', 'If "NA" stands for NULL, add null_string => ''NA''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,NULL,1\n', 'If "NULL" stands for NULL, add null_string => ''NULL''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,\\N,1\n', $$If "\N" stands for NULL, add null_string => '\N'.$$),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,"",1\n', 'If empty strings in quotes stand for NULL, add force_null => ''{*}''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02, ,1\n', 'If " " stands for NULL, add null_strings => '' ''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,-,1\n', 'If "-" stands for NULL, add null_string => ''-''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'31/12/2024,1,2\n', 'If the day comes first, add timestamp_format => ''DD/MM/YYYY''.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'DD/MM/YYYY')$$, E'12/31/2024,1,2\n', 'If the month comes first, use timestamp_format => ''MM/DD/YYYY''.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'DD/MM/YYYY')$$, E'03/04/24,1,2\n', 'If years have two digits, use timestamp_format => ''DD/MM/YY''.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'DD/MM/YYYY')$$, E'03/04/2024 10:00,1,2\n', 'If all values have this form, use timestamp_format => ''DD/MM/YYYY HH24:MI''.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'YYYY-MM-DD HH:MI:SS')$$, E'2024-01-01 15:00:00,1,2\n', 'If all values have this form, use timestamp_format => ''YYYY-MM-DD HH24:MI:SS''.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'YYYY-MM-DD HH24:MM:SS')$$, E'2024-01-01 15:30:00,1,2\n', 'Months and minutes are MM and MI in "YYYY-MM-DD HH24:MI:SS", and MM and mm in "yyyy-MM-dd HH:mm:ss".'),
	($$SELECT fast_copy('events', '{f}')$$, E'1704103200,1,2\n', 'If these are seconds since 1970, add timestamp_format => ''epoch_s''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'1704103200000,1,2\n', 'If these are milliseconds since 1970, add timestamp_format => ''epoch_ms''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-02-31,1,2\n', 'There is no such day: month 2 of 2024 has 29 days. Correct the value, or let on_error => ''ignore'' leave such records out.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-W05-1,1,2\n', 'If these are weeks of ISO 8601, add timestamp_format => ''IYYY-"W"IW-ID''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'45292,1,2\n', $a$If these are days as spreadsheets count them, add transform => $$at = timestamp '1899-12-30' + at::float8 * interval '1 day'$$.$a$),
	($$SELECT fast_copy('events', '{f}')$$, E'20240101123000,1,2\n', 'If these are moments without separators, add timestamp_format => ''YYYYMMDDHH24MISS''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'0000-00-00,1,2\n', 'If "0000-00-00" stands for NULL, add null_string => ''0000-00-00''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,1,"2,5"\n', 'If "2,5" is a number, show how the file writes numbers, as by number_format => ''1.234,56''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,"1,234",2\n', 'If "1,234" is a number, show how the file writes numbers, as by number_format => ''1,234.56''.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,1,$2.50\n', $a$If "$2.50" is a number, take off what stands beside it, as by transform => $$reading = replace(reading, '$', '')$$.$a$),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,1,45%\n', $a$If "45%" is a number, take off what stands beside it, as by transform => $$reading = replace(reading, '%', '')$$.$a$),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,3000000000,2\n', 'If values may be as large as that, give the column type bigint or numeric.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,1.0,2\n', 'If the values may have decimal places, give the column type numeric or double precision.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,1E+10,2\n', 'Integer types do not read scientific notation: give the column type numeric or double precision, or write the file anew with all digits; a spreadsheet that writes so has rounded them.'),
	($$SELECT fast_copy('events', '{f}')$$, E'2024-01-01,NaN,2\n', 'If "NaN" stands for NULL, add null_string => ''NaN''.'),
	($$SELECT fast_copy('made', '{f}', columns => '{a,b,c}')$$, E'1,2,3\n', 'Leave it out of columns; or, if the file has it and a header, leave columns out, and use header => ''map'' and ignore_extra_columns => true.'),
	-- Options
	($$SELECT fast_copy('events', '{f}', options => '{"sep": ";"}')$$, E'2024-01-01 10:00,1,2.5\n', 'Perhaps you meant the option "delimiter".'),
	($$SELECT fast_copy('events', '{f}', options => '{"nullstr": "NA"}')$$, E'2024-01-01 10:00,1,2.5\n', 'Perhaps you meant the option "null_string".'),
	($$SELECT fast_copy('events', '{f}', options => '{"skip": 1}')$$, E'2024-01-01 10:00,1,2.5\n', 'Perhaps you meant the option "header".'),
	($$SELECT fast_copy('events', '{f}', options => '{"upsert": true}')$$, E'2024-01-01 10:00,1,2.5\n', 'Perhaps you meant the option "on_conflict".'),
	($$SELECT fast_copy('events', '{f}', options => '{"on_eror": "ignore"}')$$, E'2024-01-01 10:00,1,2.5\n', 'Perhaps you meant the option "on_error".'),
	($$SELECT fast_copy('events', '{f}', header => 'yes please')$$, E'2024-01-01 10:00,1,2.5\n', $$Use header => true, false, 'match', 'map' or a number of lines to skip.$$),
	($$SELECT fast_copy('events', '{f}', workers => -1)$$, E'2024-01-01 10:00,1,2.5\n', 'Leave workers out to get as many as fast_copy.workers says.'),
	($$SELECT fast_copy('events', '{f}', columns => '{device,reading}')$$, E'1,2\n', 'If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor if the file lacks a partition key, or the evaluation of rows has effects.'),
	($$SELECT fast_copy('events', '{f}', format => 'json')$$, E'2024-01-01 10:00,1,2.5\n', $$A record is an object on a line of its own: jq -c . FILE makes such lines, and jq -c '.[]' FILE those of an array.$$),
	($$SELECT fast_copy('events', '{f}', format => 'jsonl')$$, E'2024-01-01 10:00,1,2.5\n', $$Use format => 'csv', 'text', 'json' or 'binary'.$$),
	($$SELECT fast_copy('events', '{f}', timestamp_format => '%Y-%m-%d')$$, E'2024-01-01 10:00,1,2.5\n', 'Write "YYYY-MM-DD".'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'abc')$$, E'2024-01-01 10:00,1,2.5\n', 'Write "YYYY-MM-DD HH24:MI:SS", "yyyy-MM-dd HH:mm:ss" or epoch_s, epoch_ms, epoch_us or epoch_ns.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => 'ISO')$$, E'2024-01-01 10:00,1,2.5\n', 'Put text other than the separators -./,'':; and blanks in double quotes.'),
	($$SELECT fast_copy('events', '{f}', timestamp_format => '{"reading": "DD.MM.YYYY"}')$$, E'2024-01-01 10:00,1,2.5\n', 'Columns of type timestamp, timestamp with time zone and date can.'),
	($$SELECT fast_copy('people', '{f}', timestamp_format => 'DD.MM.YYYY')$$, E'1,a,b,01.02.2000\n', 'Name the key in timestamp_column, or give a JSON object of columns and patterns.'),
	($$SELECT fast_copy('events', '{f}', time_zone => 'Mars')$$, E'2024-01-01 10:00,1,2.5\n', 'The view pg_timezone_names has the names, such as ''Europe/Rome''.'),
	($$SELECT fast_copy('events', '{f}', where_clause => 'WHERE device = 1')$$, E'2024-01-01 10:00,1,2.5\n', 'Leave out the word WHERE.'),
	($$SELECT fast_copy('events', '{f}', transform => 'reading = reading * 2')$$, E'2024-01-01 10:00,1,2.5\n', 'Fields are texts: cast those that are numbers, dates or the like, such as $1::numeric.'),
	($$SELECT fast_copy('events', '{f}', transform => 'reading = value::float8')$$, E'2024-01-01 10:00,1,2.5\n', 'Its fields are at, device, reading. Fields without such a name are called $1, $2 and so on.'),
	($$SELECT fast_copy('events', '{f}', order_by => '{device::text}')$$, E'2024-01-01 10:00,1,2.5\n', 'Each item names one column, with ASC or DESC and NULLS FIRST or NULLS LAST after it if need be.'),
	($$SELECT fast_copy('events', '{f}', number_format => 'German')$$, E'2024-01-01 10:00,1,2.5\n', $$Give an example of a number as the file writes it, with thousands and decimals, such as '1.234,56', '1 234,56' or, if thousands are not set apart, '1234,56'.$$),
	($$SELECT fast_copy('events', '{f}', trim_blanks => 'both')$$, E'2024-01-01 10:00,1,2.5\n', $$Use trim_blanks => 'none', 'unquoted' or 'all'.$$),
	($$SELECT fast_copy('events', '{f}', missing_columns => null)$$, E'2024-01-01,1\n', 'Leave it out to get its default.'),
	($$SELECT fast_copy('events', '{f}', missing_columns => 'default')$$, E'2024-01-01 10:00,1,2.5\n', $$Elsewhere default_string is what fields that stand for a default are written as.$$),
	($$SELECT fast_copy('events', '{f}', missing_columns => 'nulls')$$, E'2024-01-01 10:00,1,2.5\n', $$Use missing_columns => 'error', 'null' or 'default'.$$),
	($$SELECT fast_copy('events', '{f}', progress => 'often')$$, E'2024-01-01 10:00,1,2.5\n', 'Give an interval such as progress => ''5s'', or leave progress out.'),
	($$SELECT fast_copy('events', '{f}', log_verbosity => 'debug')$$, E'2024-01-01 10:00,1,2.5\n', $$Use log_verbosity => 'default', 'verbose' or 'silent'.$$),
	($$SELECT fast_copy('events', '{f}', partition_interval => 'daily')$$, E'2024-01-01 10:00,1,2.5\n', $$Give a width such as '1 day', '1 week' or '1 month'.$$),
	($$SELECT fast_copy('events', '{f}', partition_interval => '0')$$, E'2024-01-01 10:00,1,2.5\n', 'Change partition_interval, or leave it out to get the width of the existing partitions.'),
	($$SELECT fast_copy('events', '{f}', nodes => '{a}')$$, E'2024-01-01 10:00,1,2.5\n', 'CREATE EXTENSION fast_copy_cluster.'),
	($$SELECT fast_copy('events', '{f}', header => 'match', ignore_extra_columns => true)$$, E'at,device,reading\n2024-01-01 10:00,1,2.5\n', 'Use header => ''map'': then the header tells which columns are extra.'),
	-- Bad records
	($$SELECT fast_copy('events', '{f}', on_error => 'skip')$$, E'2024-01-01 10:00,1,2.5\n', $$Use on_error => 'stop', 'ignore' or 'set_null'.$$),
	($$SELECT fast_copy('events', '{f}', on_error => 'ignore')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,1\n', 'If on_error is to tolerate it, add on_error_classes => ''{conversion,missing_columns}''.'),
	($$SELECT fast_copy('events', '{f}', on_error => 'ignore')$$, E'2024-01-01 10:00,1,2.5\n2024-01-02,1,2,3\n', 'If on_error is to tolerate it, add on_error_classes => ''{conversion,extra_columns}''.'),
	($$SELECT fast_copy('people', '{f}', on_error => 'ignore')$$, E'6,a,b,2000-01-01\n6,a,b,2000-01-01\n', 'If on_error is to tolerate it, add on_error_classes => ''{conversion,unique}''.'),
	($$SELECT fast_copy('people', '{f}', on_error => 'ignore')$$, E'7,,b,2000-01-01\n', 'If on_error is to tolerate it, add on_error_classes => ''{conversion,not_null}''.'),
	($$SELECT fast_copy('people', '{f}', on_error => 'ignore')$$, E'8,a,b,1800-01-01\n', 'If on_error is to tolerate it, add on_error_classes => ''{conversion,check}''.'),
	($$SELECT fast_copy('events', '{f}', on_error => 'set_null')$$, E'abc,1,2\n', 'If rows without a key are to be left out, add where_clause => ''at IS NOT NULL''; only a default partition takes them.'),
	($$SELECT fast_copy('events', '{f}', on_error => 'ignore', on_error_classes => '{all}')$$, E'2024-01-01 10:00,1,2.5\n', 'Classes are conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition, unique, replace_invalid and cut_long.'),
	($$SELECT fast_copy('events', '{f}', on_error_classes => '{conversion}')$$, E'2024-01-01 10:00,1,2.5\n', 'Add on_error => ''ignore''.'),
	($$SELECT fast_copy('events', '{f}', reject_limit => 10)$$, E'2024-01-01 10:00,1,2.5\n', 'Add on_error => ''ignore'', or leave reject_limit out.'),
	($$SELECT fast_copy('events', '{f}', on_error => 'ignore', reject_table => 'no_rejects')$$, E'2024-01-01 10:00,1,2.5\n', 'SELECT fast_copy_create_reject_table(''no_rejects'') makes one.'),
	($$SELECT fast_copy('events', '{f}', on_error => 'ignore', reject_table => 'nowhere.rejects')$$, E'2024-01-01 10:00,1,2.5\n', 'SELECT fast_copy_create_reject_table(''nowhere.rejects'') makes one.'),
	($$SELECT fast_copy('events', '{f}', on_error => 'ignore', reject_table => 'people')$$, E'2024-01-01 10:00,1,2.5\n', 'fast_copy_create_reject_table() makes a table with all columns that are needed.'),
	-- Partitions
	($$SELECT fast_copy('numbers', '{f}')$$, E'1,a\n', 'Give a width as partition_interval, such as ''1000000''.'),
	($$SELECT fast_copy('with_rest', '{f}')$$, E'2024-05-06 09:00,x\n', 'Move such rows out of the default partition first.'),
	($$SELECT fast_copy('events', '{f}')$$, E'infinity,1,2\n', 'If it is to have one, make that before the load: a default partition, or one from MINVALUE or to MAXVALUE.'),
	($$SELECT fast_copy('events', '{f}', missing_partitions => 'error')$$, E'2030-01-01,1,2\n', 'If it is to have one, use missing_partitions => ''create''.'),
	($$SELECT fast_copy('events', '{f}', missing_partitions => 'yes')$$, E'2024-01-01 10:00,1,2.5\n', $$Use missing_partitions => 'create', 'error' or 'default'.$$),
	-- Rows that are there
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'truncate')$$, E'2024-01-01 10:00,1,2.5\n', $$Use existing_rows => 'keep', 'replace' or 'merge'.$$),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'replace')$$, E'2024-01-01 10:00,1,2.5\n', 'If the file has all rows that are to stay, lower min_replace_ratio, or name the keys that are replaced by replace_from and replace_to.'),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'replace', replace_from => '2024-01-01')$$, E'2024-01-01 10:00,1,2.5\n', 'They are the first key that is replaced and the first one after it that is not; without both, each partition that gets rows is replaced.'),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'replace', replace_from => '2024-01-02', replace_to => '2024-01-03')$$, E'2024-01-01 10:00,1,2.5\n', 'Name a wider range, or leave such rows out by a condition.'),
	($$SELECT fast_copy('filled', '{f}', replace_from => '2024-01-01', replace_to => '2024-01-02')$$, E'2024-01-01 10:00,1,2.5\n', 'Add existing_rows => ''replace'', or leave it out.'),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'replace', replace_method => 'truncate')$$, E'2024-01-01 10:00,1,2.5\n', $$Use replace_method => 'auto' or 'delete'.$$),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'merge', on_conflict => 'update')$$, E'2024-01-01 10:00,1,2.5\n', 'Leave one of them out.'),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'replace', dedup_keys => '{at}')$$, E'2024-01-01 10:00,1,2.5\n', $$Add existing_rows => 'merge', or on_conflict => 'update'.$$),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'merge', dedup_keep => 'first')$$, E'2024-01-01 10:00,1,2.5\n', 'Name the columns in which no two rows may be equal.'),
	($$SELECT fast_copy('filled', '{f}', existing_rows => 'merge', dedup_keep => 'newest', dedup_keys => '{at}')$$, E'2024-01-01 10:00,1,2.5\n', $$Use dedup_keep => 'last' or 'first'.$$),
	($$SELECT fast_copy('filled', '{f}', on_conflict => 'update')$$, E'2024-01-01 10:00,1,2.5\n', 'Name the columns of a unique index.'),
	($$SELECT fast_copy('filled', '{f}', on_conflict => 'update', dedup_keys => '{at}')$$, E'2024-01-01 10:00,1,2.5\n', 'Make one, or name the columns of another one in dedup_keys.'),
	($$SELECT fast_copy('people', '{f}', on_conflict => 'ignore')$$, E'1,a,b,2000-01-01\n', $$Use on_conflict => 'error', 'nothing' or 'update'.$$),
	-- Ledgers
	($$SELECT fast_copy('events', '{f}', ledger => 'no_loads')$$, E'2024-01-01 10:00,1,2.5\n', 'SELECT fast_copy_create_ledger_table(''no_loads'') makes one.'),
	($$SELECT fast_copy('events', '{f}', ledger => 'people')$$, E'2024-01-01 10:00,1,2.5\n', 'Make a table by fast_copy_create_ledger_table().'),
	($$SELECT fast_copy('events', '{f}', ledger => true)$$, E'2024-01-01 10:00,1,2.5\n', 'SELECT fast_copy_create_ledger_table(''true'') makes one.'),
	($$SELECT fast_copy('events', '{f}', ledger => 'nowhere.loads')$$, E'2024-01-01 10:00,1,2.5\n', 'SELECT fast_copy_create_ledger_table(''nowhere.loads'') makes one.'),
	($$SELECT fast_copy('events', '{f}', label => 'x')$$, E'2024-01-01 10:00,1,2.5\n', $$SELECT fast_copy_create_ledger_table('loads') makes one; then add ledger => 'loads'.$$),
	($$SELECT fast_copy('events', '{f}', ledger => 'loads', label => 'x')$$, E'2024-01-01 10:00,1,2.5\n', 'The ledger knows files by their paths: leave it out.'),
	($$SELECT fast_copy('events', 'cat {f}', program => true, ledger => 'loads')$$, E'2024-01-01 10:00,1,2.5\n', 'Give them a name that no other data have, such as label => ''orders 2024-01-31''.'),
	($$SELECT fast_copy('events', '{f}', ledger => 'loads', changed_files => 'replace')$$, E'2024-01-01 10:00,1,2.5\n', $$Use changed_files => 'error', 'skip' or 'load'.$$),
	($$SELECT fast_copy('events', '{f}', ledger => 'rejects')$$, E'2024-01-01 10:00,1,2.5\n', 'fast_copy_create_ledger_table() makes a table with all columns that are needed.'),
	($$CALL fast_copy_files('events', '{f}', 'loads')$$, '', $$It commits as it goes: drivers need autocommit for it. Within a transaction, use fast_copy() with ledger => 'TABLE'.$$),
	-- COPY
	('COPY events FROM ''{f}'' WITH (fast_copy)', E'2024-01-01 10:00,1,2.5\n', 'If the fields are separated by ",", add delimiter '',''.'),
	('COPY events FROM ''{f}'' WITH (fast_copy, format csv, columns (at, device))', E'2024-01-01 10:00,1,2.5\n', 'COPY has a syntax of its own for it: COPY table (columns) FROM PROGRAM ''command''.'),
	($$COPY events FROM '{f}' WITH (fast_copy, format csv, on_error 'skip')$$, E'2024-01-01 10:00,1,2.5\n', $$Use on_error 'stop', 'ignore' or 'set_null', in quotes.$$),
	($$COPY events FROM '{f}' WITH (fast_copy, format csv, on_error ignore, on_error_classes 'conversion,missing_columns')$$, E'2024-01-01 10:00,1,2.5\n', 'Classes are conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition, unique, replace_invalid and cut_long. A list stands in parentheses, and what is a word of SQL in quotes: on_error_classes (conversion, ''unique'').'),
	($$COPY events FROM '{f}' WITH (fast_copy, format csv, where 'device = 1')$$, E'2024-01-01 10:00,1,2.5\n', 'Perhaps you meant the option "where_clause".'),
	($$COPY events FROM '{f}' WITH (fast_copy, format csv, timestamp_format 'DD/MM/YYYY')$$, E'12/31/2024,1,2\n', 'If the month comes first, use timestamp_format ''MM/DD/YYYY''.'),
	-- Sniffing, and help
	('SELECT fast_copy_sniff(''{f}'')', '\x89504e470d0a1a0a0000000d49484452', 'Files of text, csv and packed ones can be loaded. If it is in UTF-16, add encoding => ''UTF16''.'),
	($$SELECT fast_copy_sniff('{f}', timestamp_column => 'nothing')$$, E'a,b\n1,2\n3,4\n', 'Leave it out to see which columns there are.'),
	('SELECT fast_copy_help(''nosuch'')', NULL, 'SELECT * FROM fast_copy_help() lists the options.'),
	('SELECT fast_copy_help(''memroy'')', NULL, 'Perhaps you meant "memory".');

CREATE FUNCTION pg_temp.place(text) RETURNS text LANGUAGE sql AS
$$SELECT replace(replace($1, '{f}', current_setting('fc.file')), '{d}', regexp_replace(current_setting('fc.file'), '/[^/]*$', ''))$$;
CREATE FUNCTION pg_temp.hint(statement text, lines text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	lob oid := lo_from_bytea(0, CASE WHEN lines LIKE '\\x%' THEN lines::bytea ELSE convert_to(coalesce(lines, ''), 'UTF8') END);
BEGIN
	PERFORM lo_export(lob, current_setting('fc.file')), lo_unlink(lob);
	RETURN (pg_temp.failure(pg_temp.place(statement)))[4];
END
$$;
SELECT is(pg_temp.hint(statement, lines), pg_temp.place(hint), statement) FROM mistake;

SELECT * FROM finish();
ROLLBACK;
