-- fast_copy_sniff guesses what a file has.  What it returns is run as it is, so
-- that each example tells the columns and the call that are guessed, and the
-- rows that these load.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
SET LOCAL search_path = public, pg_catalog;
SET LOCAL timezone = 'UTC';
SET LOCAL client_encoding = 'UTF8';
SELECT set_config('test.dir', :'tmp_dir', true) <> '' AS set \gset

CREATE FUNCTION write(name text, data bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	path text := current_setting('test.dir') || '/' || name;
	lob oid := lo_from_bytea(0, data);
BEGIN
	PERFORM lo_export(lob, path), lo_unlink(lob);
	RETURN path;
END
$$;

-- The two statements for a source, a constant of SQL, with more arguments; '' for the
-- first if there is one alone
CREATE FUNCTION sniffed(source text, arguments text DEFAULT '') RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	EXECUTE 'SELECT fast_copy_sniff(' || source || CASE WHEN arguments <> '' THEN ', ' || arguments ELSE '' END || ')' INTO said;
	RETURN coalesce(regexp_match(said, '^(.*\n\)(?: PARTITION BY RANGE \([^\n]*\))?;)\n((?:--[^\n]*\n)*SELECT .*)$'), ARRAY['', said]);
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY['ERROR ' || SQLSTATE, SQLERRM];
END
$$;

CREATE FUNCTION said(statements text[]) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(btrim(substr(btrim(line), 3)), ' ') FROM unnest(statements) AS s, regexp_split_to_table(s, E'\n') AS line WHERE line ~ '^ *--' $$;

CREATE FUNCTION plain(statement text) RETURNS text LANGUAGE sql AS
$$ SELECT regexp_replace(regexp_replace(regexp_replace(statement, '^ *--[^\n]*\n', '', 'gn'), ' +-- [^\n]*$', '', 'gn'), '\s+', ' ', 'g') $$;

CREATE FUNCTION columns_of(statement text) RETURNS text LANGUAGE sql AS
$$ SELECT regexp_replace(regexp_replace(plain(statement), '^CREATE TABLE \S+ \( ', ''), ' \)( PARTITION BY RANGE \(.*\))?;$', '') || coalesce('; ' || substring(plain(statement) FROM 'PARTITION BY RANGE \((.*)\);$'), '') $$;

-- All arguments but target, source and key
CREATE FUNCTION call_of(statement text) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(regexp_replace(substring(plain(statement) FROM '(\m[a-z_]+ => .*)\);$'), '^timestamp_column => (''[^'']*'')+(, )?', ''), '') $$;

-- Runs both statements and returns the rows, or what a query finds in the table;
-- nothing of it stays
CREATE FUNCTION loaded(statements text[], query text DEFAULT 'SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM %s AS r') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	target text := coalesce(substring(plain(statements[1]) FROM '^CREATE TABLE ([^ ]+)'), substring(plain(statements[2]) FROM '^SELECT \S+\(''([^'']+)'));
	found text;
BEGIN
	BEGIN
		EXECUTE statements[1] || E'\n' || statements[2];
		EXECUTE format(query, target) INTO found;
		RAISE EXCEPTION USING errcode = 'P0FC1';
	EXCEPTION
		WHEN SQLSTATE 'P0FC1' THEN NULL;
		WHEN OTHERS THEN found := SQLSTATE || ' ' || SQLERRM;
	END;
	RETURN found;
END
$$;

CREATE TEMP TABLE example (number serial, about text, lines text, arguments text, columns text, call text, rows text);
INSERT INTO example (about, lines, arguments, columns, call, rows) VALUES
-- dialects
('commas', E'id,name,v\n1,a,2.5\n2,"b,""c""",3.5\n', '', 'id bigint, name text, v numeric', 'header => true', '(1,a,2.5) (2,"b,""c""",3.5)'),
('semicolons and decimal commas', E'id;v\n1;1,5\n2;2,75\n', '', 'id bigint, v double precision', 'header => true, delimiter => '';'', number_format => ''1234,56''', '(1,1.5) (2,2.75)'),
('tabs', E'a\tb\n1\tx y\n2\tz, w\n', '', 'a bigint, b text', E'header => true, delimiter => E''\\t''', '(1,"x y") (2,"z, w")'),
('bars, and one at the end of each line', E'1|a|2.50|\n2|b|3.75|\n', '', 'column_1 bigint, column_2 text, column_3 numeric', 'ignore_extra_columns => true, delimiter => ''|''', '(1,a,2.50) (2,b,3.75)'),
	('a header, and bars at the end of its line and of others', E'id|name|\n1|a|\n2|b|\n', '', 'id bigint, name text', 'header => true, ignore_extra_columns => true, delimiter => ''|''', '(1,a) (2,b)'),
	('a column with a name and without values', E'id|name|note\n1|a|\n2|b|\n', '', 'id bigint, name text, note text', 'header => true, delimiter => ''|''', '(1,a,) (2,b,)'),
('control bytes', E'1\x01one\n2\x01two\n', '', 'column_1 bigint, column_2 text', E'delimiter => E''\\x01''', '(1,one) (2,two)'),
('blanks', E'1.5 7 x\n2.5 8 y\n', '', 'column_1 numeric, column_2 bigint, column_3 text', 'delimiter => '' ''', '(1.5,7,x) (2.5,8,y)'),
('times with blanks and colons', E'2024-01-01 00:00:00,1\n2024-01-02 10:00:00,2\n', '', 'column_1 timestamp, column_2 bigint; column_1', '', '("2024-01-01 00:00:00",1) ("2024-01-02 10:00:00",2)'),
('text format', E'1\ta\\tb\t\\N\n2\tc\\\\d\t3\n', '', 'column_1 bigint, column_2 text, column_3 bigint', 'format => ''text''', E'(1,"a\tb",) (2,"c\\\\d",3)'),
('backslashes that are no escapes', E'p\tn\nC:\\Users\t1\nD:\\Work\t2\n', '', 'p text, n bigint', E'header => true, delimiter => E''\\t''', E'("C:\\\\Users",1) ("D:\\\\Work",2)'),
('apostrophes', E'a,n\n''x,y'',1\n''it''''s'',2\n', '', 'a text, n bigint', 'header => true, quote => ''''''''', '("x,y",1) (it''s,2)'),
('words with apostrophes', E'a,n\nit''s,1\n''tis,2\nyes,3\n', '', 'a text, n bigint', 'header => true', '(''tis,2) (it''s,1) (yes,3)'),
('escapes that are backslashes', E'a,n\n"say \\"x, y\\"",1\n"z",2\n', '', 'a text, n bigint', E'header => true, escape => E''\\\\''', '("say ""x, y""",1) (z,2)'),
('inches', E'part\tsize\tn\nbolt\t5" long\t1\nnut\t3\t2\nscrew\t7" x 2"\t3\n', '', 'part text, size text, n bigint', E'header => true, delimiter => E''\\t'', quote => ''none''', '(bolt,"5"" long",1) (nut,3,2) (screw,"7"" x 2""",3)'),
('lines of JSON', E'{"a": 1, "b": "x, y"}\n{"b": "\\"z\\"", "a": 2}\n', '', 'a bigint, b text', 'format => ''json''', '(1,"x, y") (2,"""z""")'),
('lines of JSON: types', E'{"Id": 1, "day": "2024-01-01", "v": 1.5, "ok": true, "code": "007", "n": "12", "t": "{\\"a\\": 1}", "tags": [1, 2]}\n\n {"Id": 2, "day": "2024-01-02", "v": 2e3, "ok": null, "code": "1E5", "t": "x", "more": {"k": [null]}} \n', '', '"Id" bigint, day date, v double precision, ok boolean, code text, n text, t text, tags jsonb, more jsonb; day', 'format => ''json''', '(1,2024-01-01,1.5,t,007,12,"{""a"": 1}","[1, 2]",) (2,2024-01-02,2000,,1E5,,x,,"{""k"": [null]}")'),
('lines of JSON: patterns, words and amounts', E'{"d": "31.12.2024", "n": "NA", "ts": 1700000000}\n{"d": "01.12.2024", "n": 5, "ts": 1700000060}\n{"d": "02.12.2024", "n": null}\n', '', 'd date, n bigint, ts timestamptz; d', 'format => ''json'', timestamp_format => ''{"d": "DD.MM.YYYY", "ts": "epoch_s"}'', partition_interval => ''1 month'', null_strings => ''{"n": "NA"}''', '(2024-12-01,5,"2023-11-14 22:14:20+00") (2024-12-02,,) (2024-12-31,,"2023-11-14 22:13:20+00")'),
('lines of JSON: nested or not, and strings of any kind', E'{"a": 1, "s": ""}\n{"a": {"b": "x"}, "s": "line\\nend \\u00e4"}\n{"a": "x", "s": null}\n', '', 'a jsonb, s text', 'format => ''json''', E'("""x""",) ("{""b"": ""x""}","line\nend ä") (1,"")'),
('lines of JSON: keys that no column can have', E'{"a": 1, "xmin": 2, "' || repeat('k', 70) || E'": 3}\n{"a": 2}\n', '', 'a bigint', 'format => ''json'', ignore_extra_columns => true', '(1) (2)'),
('lines of JSON, said', E'{"a": 1}\n', 'format => ''json''', 'a bigint', 'format => ''json''', '(1)'),
('lines of JSON as texts', E'{"a": 1}\n{"a": 2}\n', 'header => 0, quote => ''none'', delimiter => ''|''', 'column_1 jsonb', 'header => 0, delimiter => ''|'', quote => ''none''', '("{""a"": 1}") ("{""a"": 2}")'),
('one column', E'n\n1\n2\n', '', 'n bigint', 'header => true', '(1) (2)'),
('one column of sentences', E'One, two.\nThree\nFour, five, six.\n', '', 'column_1 text', E'delimiter => E''\\x02''', '("Four, five, six.") ("One, two.") (Three)'),
('line ends of two bytes', E'a,b\r\n1,x\r\n2,y\r\n', '', 'a bigint, b text', 'header => true', '(1,x) (2,y)'),
('no line end at the end', E'a,b\n1,x\n2,y', '', 'a bigint, b text', 'header => true', '(1,x) (2,y)'),
('line ends in quotes', E'a,b\n1,"x\n2,y"\n2,z\n', '', 'a bigint, b text', 'header => true', E'(1,"x\n2,y") (2,z)'),
('bars in pairs', E'n||v||w\n1||x|y||2.5\n2||z||3.5\n3||||4.5\n', '', 'n bigint, v text, w numeric', 'header => true, delimiter => ''||''', '(1,x|y,2.5) (2,z,3.5) (3,,4.5)'),
('bars, and columns that are always empty', E'n|v|w\n1||\n2||\n3||\n4||\n', '', 'n bigint, v text, w text', 'header => true, delimiter => ''|''', '(1,,) (2,,) (3,,) (4,,)'),
('three bytes', E'n|~|v|~|w\n1|~|5" x|~|2024-01-01\n2|~|a|b|~|2024-01-02\n', '', 'n bigint, v text, w date; w', 'header => true, delimiter => ''|~|'', quote => ''none''', '(1,"5"" x",2024-01-01) (2,a|b,2024-01-02)'),
('three bytes and quotes', E'n|~|v\n1|~|"a|~|b"\n2|~|"c ""d"""\n', '', 'n bigint, v text', 'header => true, delimiter => ''|~|''', '(1,a|~|b) (2,"c ""d""")'),
('a broken bar', E'n¦v\n1¦x\n2¦y\n', '', 'n bigint, v text', 'header => true, delimiter => ''¦''', '(1,x) (2,y)'),
('two control bytes', E'1\x01\x02a\n2\x01\x02\\N\n', '', 'column_1 bigint, column_2 text', E'delimiter => E''\\x01\\x02'', null_string => E''\\\\N''', '(1,a) (2,)'),
('colons in pairs, and at the end', E'1::1193::10:30::\n2::7::11:30::\n', '', 'column_1 bigint, column_2 bigint, column_3 time', 'ignore_extra_columns => true, delimiter => ''::''', '(1,1193,10:30:00) (2,7,11:30:00)'),
('tildes and carets', E'n~v~w\n1~x^y~2\n2~z~3\n', '', 'n bigint, v text, w bigint', 'header => true, delimiter => ''~''', '(1,x^y,2) (2,z,3)'),
('a delimiter of several bytes, said', E'1ab2ab3\n4ab5ab6\n', 'delimiter => ''ab''', 'column_1 bigint, column_2 bigint, column_3 bigint', 'delimiter => ''ab''', '(1,2,3) (4,5,6)'),
('a quote that never closes', E'n,v\n1,"x\n2,y\n3,z\n', '', 'n bigint, v text', 'header => true, quote => ''none''', '(1,"""x") (2,y) (3,z)'),
('no quotes, said', E'n,v\n1,"x\n2,y"\n', 'quote => ''none''', 'n bigint, v text', 'header => true, quote => ''none''', '(1,"""x") (2,"y""")'),
('the text format, said, and backslashes that are no escapes', E'1\tC:\\Users\n2\tD:\\\n', 'format => ''text''', 'column_1 bigint, column_2 text', 'format => ''text'', escape => ''none''', E'(1,"C:\\\\Users") (2,"D:\\\\")'),
('no escapes, said', E'1\ta\\tb\n2\tc\n', 'format => ''text'', escape => ''none''', 'column_1 bigint, column_2 text', 'format => ''text'', escape => ''none''', E'(1,"a\\\\tb") (2,c)'),
-- headers
('comments between records', E'# made by x\nn,v\n1,x\n# a, b, and c\n2,y\n# end\n3,z\n', '', 'n bigint, v text', 'header => true, comment => ''#''', '(1,x) (2,y) (3,z)'),
('comments, a title and a trailer', E'Report\n% 1\nday;shop;n\n2024-01-01;Ulm;2\n% 2\n2024-01-02;Bonn;3\nTotal;5\n', '', 'day date, shop text, n bigint; day', 'header => 2, delimiter => '';'', skip_footer => 1, comment => ''%''', '(2024-01-01,Ulm,2) (2024-01-02,Bonn,3)'),
('records that begin like comments', E'#,n\n#1,1\n#2,2\n#x\n#3,3\n', '', 'column_1 text, column_2 text', '', '22P04 missing data for column "column_2"'),
('a trailer of several lines', E'n|v|w\n1|x|2\n2|y|3\n3|z|4\n\n(3 rows affected)\nCompletion time: 10:00\n', '', 'n bigint, v text, w bigint', 'header => true, delimiter => ''|'', skip_empty_lines => true, skip_footer => 2', '(1,x,2) (2,y,3) (3,z,4)'),
('a sum below values', E'day,n,v\n2024-01-01,1,x\n2024-01-02,2,y\nTOTAL,3,\n', '', 'day date, n bigint, v text; day', 'header => true, skip_footer => 1', '(2024-01-01,1,x) (2024-01-02,2,y)'),
('no footer, said', E'day,n\n2024-01-01,1\n2024-01-02,2\nTotal,3\n', 'skip_footer => 0', 'day text, n bigint', 'header => true, skip_footer => 0', '(2024-01-01,1) (2024-01-02,2) (Total,3)'),
('a footer, said', E'day,n\n2024-01-01,1\n2024-01-02,2\nx,3\n', 'skip_footer => ''^x''', 'day date, n bigint; day', 'header => true, skip_footer => ''^x''', '(2024-01-01,1) (2024-01-02,2)'),
('comments, said', E'a,n\nx,1\n;no\ny,2\n', 'comment => '';''', 'a text, n bigint', 'header => true, comment => '';''', '(x,1) (y,2)'),
('a last record that is short', E'a,n,v\n1,2,x\n2,3,y\n3,4\n', '', 'a bigint, n bigint, v text', 'header => true', '22P04 missing data for column "v"'),
('a last record of texts that is short', E'a,n,v\nx,1,2\ny,2,3\nz,3\n', '', 'a text, n bigint, v bigint', 'header => true', '22P04 missing data for column "v"'),
('a last record that has another value', E'a,n\n1,2\n2,3\nx,4\n', '', 'a text, n bigint', 'header => true', '(1,2) (2,3) (x,4)'),
('no header', E'1,x\n2,y\n', '', 'column_1 bigint, column_2 text', '', '(1,x) (2,y)'),
('lines before the header', E'made by: somebody\n\nid,name,v\n1,a,2\n2,b,3\n', '', 'id bigint, name text, v bigint', 'header => 3', '(1,a,2) (2,b,3)'),
('lines before, and no header', E'# one\n# two\n1,a,2\n2,b,3\n', '', 'column_1 bigint, column_2 text, column_3 bigint', 'header => 2', '(1,a,2) (2,b,3)'),
('a title that is filled up', E'Report;;\nday;shop;n\n30.03.2024;Ulm;2\n31.03.2024;Bonn;3\n', '', 'day date, shop text, n bigint; day', 'header => 2, delimiter => '';'', timestamp_format => ''DD.MM.YYYY''', '(2024-03-30,Ulm,2) (2024-03-31,Bonn,3)'),
('titles that are filled up, and empty fields', E'Report\n"by";"";""\n;;\nday;shop;n\n30.03.2024;Ulm;\n31.03.2024;;3\n', '', 'day date, shop text, n bigint; day', 'header => 4, delimiter => '';'', timestamp_format => ''DD.MM.YYYY''', '(2024-03-30,Ulm,) (2024-03-31,,3)'),
('a title that is filled up, above texts', E'Report;;\nname;city;state\nBob;Rome;Lazio\nAl;Paris;Ile\n', '', 'name text, city text, state text', 'header => 2, delimiter => '';''', '(Al,Paris,Ile) (Bob,Rome,Lazio)'),
('a header with one name', E'id;;\n1;Ulm;2\n2;Bonn;3\n', '', 'id bigint, column_2 text, column_3 bigint', 'header => true, delimiter => '';''', '(1,Ulm,2) (2,Bonn,3)'),
('years above numbers', E'Country,1960,1961\nAruba,1.5,2.5\nChad,3.5,4.5\n', '', 'country text, "1960" numeric, "1961" numeric', 'header => true', '(Aruba,1.5,2.5) (Chad,3.5,4.5)'),
('texts above texts', E'first,last\nBob,Smith\nAl,Jones\n', '', 'first text, last text', 'header => true', '(Al,Jones) (Bob,Smith)'),
('texts that come again', E'Bob,Rome\nAl,Paris\nBob,Rome\n', '', 'column_1 text, column_2 text', '', '(Al,Paris) (Bob,Rome) (Bob,Rome)'),
('names of rows that have none', E'"","word"\n"1","x"\n"2","y"\n"3","z"\n', '', 'column_1 bigint, word text', 'header => true', '(1,x) (2,y) (3,z)'),
('days above numbers', E'country,1/22/20,1/23/20\nAruba,1,2\nChad,3,4\n', '', 'country text, "1/22/20" bigint, "1/23/20" bigint', 'header => true', '(Aruba,1,2) (Chad,3,4)'),
('hours above numbers', E'place,0,1,2,3,4\nx,5,6,7,8,9\ny,6,7,8,9,8\n', '', 'place text, "0" bigint, "1" bigint, "2" bigint, "3" bigint, "4" bigint', 'header => true', '(x,5,6,7,8,9) (y,6,7,8,9,8)'),
('words above texts that come again', E'colour,size\n' || repeat(E'red,small\nblue,large\n', 8), '', 'colour text, size text', 'header => true', repeat('(blue,large) ', 8) || rtrim(repeat('(red,small) ', 8))),
('an escaped bar', E'1|one, with a \\| pipe|3\n2|two|4\n', '', 'column_1 bigint, column_2 text, column_3 bigint', 'format => ''text'', delimiter => ''|''', '(1,"one, with a | pipe",3) (2,two,4)'),
('line ends after backslashes', E'1\tone,\\\ntwo\\\\\t5\n2\tx\\\ty\t\\N\n3\tz\\\n\t7\n4\tw\t8\n', '', 'column_1 bigint, column_2 text, column_3 bigint', 'format => ''text''', E'(1,"one,\ntwo\\\\",5) (2,"x\ty",) (3,"z\n",7) (4,w,8)'),
('line ends after backslashes, and commas', E'1,one\\\ntwo\n2,x\\, y\n3,z\n', '', 'column_1 bigint, column_2 text', 'format => ''text'', delimiter => '',''', E'(1,"one\ntwo") (2,"x, y") (3,z)'),
('lines that end with backslashes', E'1\tC:\\\t5\n2\tD:\\\t6\n3\t7\tE:\\\n4\t8\tF:\\\n', '', 'column_1 bigint, column_2 text, column_3 text', E'delimiter => E''\\t''', E'(1,"C:\\\\",5) (2,"D:\\\\",6) (3,7,"E:\\\\") (4,8,"F:\\\\")'),
('a line of dashes below the header', E'id,name,v\n--,----,-\n1,a,2\n2,-,-\n', '', 'id bigint, name text, v bigint', 'header => 2, null_strings => ''{"v": "-"}''', '(1,a,2) (2,-,)'),
('a line of dashes below a header of texts, after a title', E'made by: somebody\nname      ;city    \n----------;--------\nBob       ;Rome    \nAl        ;Paris   \n', '', 'name text, city text', 'header => 3, delimiter => '';'', trim_blanks => ''unquoted''', '(Al,Paris) (Bob,Rome)'),
('a delimiter that the first line names', E'sep=;\nn;v\n1;1,5\n2;2,75\n', '', 'n bigint, v double precision', 'header => 2, delimiter => '';'', number_format => ''1234,56''', '(1,1.5) (2,2.75)'),
('... above values, of several columns', E'\uFEFF"sep=^"\r\n1^x^2\r\n2^y^3\r\n', '', 'column_1 bigint, column_2 text, column_3 bigint', 'header => true, delimiter => ''^''', '(1,x,2) (2,y,3)'),
('units below names', E'time,place,temperature\ns,,C\n1,Ulm,20.5\n2,Bonn,21.5\n', '', '"time" bigint, place text, temperature numeric', 'header => 2', '(1,Ulm,20.5) (2,Bonn,21.5)'),
('types below names and a title', E'made by: somebody\nday;n\ndate;int\n2024-01-01;1\n2024-01-02;2\n', '', 'day date, n bigint; day', 'header => 3, delimiter => '';''', '(2024-01-01,1) (2024-01-02,2)'),
('words below names that are missing values', E'time,n\nunknown,missing\n1,2\n2,3\n', '', '"time" text, n text', 'header => true', '(1,2) (2,3) (unknown,missing)'),
('a line of dashes, and a header that is said', E'idn,name\n---,----\n1,a\n', 'header => true', 'idn text, name text', 'header => true', '(---,----) (1,a)'),
('a header alone', E'id,name\n', '', 'id text, name text', 'header => true', NULL),
('names that need care', E'Id,ID,id,,Select,xmin,a b,"q""q"\n1,2,3,4,5,6,7,8\n', '', 'id bigint, id_2 bigint, id_3 bigint, column_4 bigint, "select" bigint, xmin_2 bigint, "a b" bigint, "q""q" bigint', 'header => true', '(1,2,3,4,5,6,7,8)'),
('a long name', repeat('x', 70) || E',b\n1,2\n', '', repeat('x', 63) || ' bigint, b bigint', 'header => true', '(1,2)'),
('blanks around names and values', E'a , b\n 1, 2.5\n 3, 4.5\n', '', 'a bigint, b numeric', 'header => true', '(1,2.5) (3,4.5)'),
('a byte order mark', E'\uFEFFname,n\nx,1\ny,2\n', '', 'name text, n bigint', 'header => true', '(x,1) (y,2)'),
-- NULL
('empty', E'a,b\n1,\n,2024-01-01\n', '', 'a bigint, b date', 'header => true', '(,2024-01-01) (1,)'),
('NA', E'a,b\nNA,x\n1,NA\n', '', 'a bigint, b text', 'header => true, null_strings => ''{"a": "NA"}''', '(,x) (1,NA)'),
('Namibia', E'country,n,born\nNA,1,NA\nDE,NA,2024-01-01\n', '', 'country text, n bigint, born date', 'header => true, null_strings => ''{"n": "NA", "born": "NA"}''', '(DE,,2024-01-01) (NA,1,)'),
('NA, and no texts', E'a,b\nNA,2024-01-01\n1,NA\n', '', 'a bigint, b date', 'header => true, null_string => ''NA''', '(,2024-01-01) (1,)'),
('backslash N', E'a,b\n\\N,x\n1,\n', '', 'a bigint, b text', E'header => true, null_string => E''\\\\N''', '(,x) (1,"")'),
('empty in quotes', E'"a","b"\n"1","x"\n"",""\n', '', 'a bigint, b text', 'header => true, force_null => ARRAY[''a'']', '(,"") (1,x)'),
('two words', E'a,b\nNA,1\n1,\n2,\n3,\n', '', 'a bigint, b bigint', 'header => true, null_strings => ''{"a": "NA"}''', '(,1) (1,) (2,) (3,)'),
('words of several columns', E'a,b,c,d\nn/a,-,,x\n1,2,,n/a\n?,2024-01-01,3,-\nnone,,4,y\n', '', 'a bigint, b text, c bigint, d text', 'header => true, null_strings => ''{"a": ["n/a", "none", "?"]}''', '(,,4,y) (,-,,x) (,2024-01-01,3,-) (1,2,,n/a)'),
('a word in quotes, beside others', E'a,b\n"n/a",\n1,2\n-,3\n2,\n', '', 'a bigint, b bigint', 'header => true, force_null => ARRAY[''a''], null_strings => ''{"a": ["n/a", "-"]}''', '(,) (,3) (1,2) (2,)'),
('words of many columns', E'the_first_of_the_columns,the_second_column,the_third_column\nNA,?,\n1,2,3\n-,none,\n?,,4\n2,,5\n', '', 'the_first_of_the_columns bigint, the_second_column bigint, the_third_column bigint', 'header => true, null_strings => ''{"the_first_of_the_columns": ["NA", "-", "?"],'' '' "the_second_column": ["none", "?"]}''', '(,,) (,,) (,,4) (1,2,3) (2,,5)'),
-- numbers of other countries
('decimal commas and points between thousands', E'v;n\n1.355,90;1\n12,50;2\n-7,00;3\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', number_format => ''1.234,56''', '(-7.00,3) (12.50,2) (1355.90,1)'),
('commas between thousands', E'v;n\n1,355.90;1\n12.50;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', number_format => ''1,234.56''', '(12.50,2) (1355.90,1)'),
('blanks between thousands', E'v;n\n1 355,90;1\n12,50;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', number_format => ''1 234,56''', '(12.50,2) (1355.90,1)'),
('no-break spaces between thousands', E'v;n\n1\u00A0355,90;1\n12,50;2\n', '', 'v numeric, n bigint', E'header => true, delimiter => '';'', number_format => ''1 234,56''', '(12.50,2) (1355.90,1)'),
('blanks of three kinds between thousands', E'v;n\n1\u00A0355,90;1\n-2 000\u202F000,00;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', number_format => ''1 234,56''', '(-2000000.00,2) (1355.90,1)'),
('apostrophes between thousands', E'v;n\n1''355.90;1\n12.50;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', number_format => ''1''''234.56''', '(12.50,2) (1355.90,1)'),
('amounts with a sign before them', E'v;n\n$1.50;1\n-$12.25;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"v": "replace(v, ''$'', '''')"}$$', '(-12.25,2) (1.50,1)'),
('amounts with a sign behind them', E'v;n\n1.250,50 EUR;1\n-7,25 EUR;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"v": "replace(v, ''EUR'', '''')"}$$, number_format => ''1.234,56''', '(-7.25,2) (1250.50,1)'),
('amounts with a sign in UTF8', E'"Unit Price";n\n€ 5;1\n€ 7.5;2\n', '', '"unit price" numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"unit price": "replace($1, ''€'', '''')"}$$', '(5,1) (7.5,2)'),
('amounts with a no-break space before the sign', E'v;n\n1\u00A0234,50\u00A0€;1\n-7,25\u00A0€;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"v": "replace(v, chr(160) || ''€'', '''')"}$$, number_format => ''1 234,56''', '(-7.25,2) (1234.50,1)'),
('amounts with a narrow space behind the sign', E'v;n\nEUR\u202F5.00;1\n-EUR\u202F7.50;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"v": "replace(v, ''EUR'' || chr(8239), '''')"}$$', '(-7.50,2) (5.00,1)'),
('amounts with blanks of two kinds', E'v;n\n5,00\u00A0€;1\n7,50 €;2\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', E'("5,00\u00A0€",1) ("7,50 €",2)'),
('negative amounts in brackets', E'v;n\n(1.20);1\n3.50;2\n(.75);3\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"v": "translate(v, ''()'', ''-'')"}$$', '(-0.75,3) (-1.20,1) (3.50,2)'),
('negative amounts in brackets, with a sign', E'v;w;n\n($1.20);$(1,000.50);1\n$3.50;$2.00;2\n', '', 'v numeric, w numeric, n bigint', 'header => true, delimiter => '';'', transform => $${"v": "translate(replace(v, ''$'', ''''), ''()'', ''-'')", "w": "translate(replace(w, ''$'', ''''), ''()'', ''-'')"}$$, number_format => ''1,234.56''', '(-1.20,-1000.50,1) (3.50,2.00,2)'),
('numbers that are all in brackets', E'v;n\n(1);1\n(2);2\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', '("(1)",1) ("(2)",2)'),
('brackets that are no accounts', E'v;n\n(1);1\n2;2\n(x);3\n( 4 );4\n();5\n(-6);6\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', '("( 4 )",4) ("()",5) ("(-6)",6) ("(1)",1) ("(x)",3) (2,2)'),
('amounts of two currencies', E'v;n\n$1.50;1\n€2.50;2\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', '($1.50,1) (€2.50,2)'),
('amounts, some without a sign', E'v;n\n$1.50;1\n2.50;2\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', '($1.50,1) (2.50,2)'),
('names that begin like currencies', E'v;n\nUSD15;1\nUSD16;2\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', '(USD15,1) (USD16,2)'),
('seconds with fractions', E'at;n\n1714573801.25;1\n1714573802.5;2\n', '', 'at timestamptz, n bigint; at', 'header => true, delimiter => '';'', timestamp_format => ''epoch_s''', '("2024-05-01 14:30:01.25+00",1) ("2024-05-01 14:30:02.5+00",2)'),
('numbers that are no seconds', E'v;n\n1714573801.25;1\n1714573802.5;2\n', '', 'v double precision, n bigint', 'header => true, delimiter => '';''', '(1714573801.25,1) (1714573802.5,2)'),
('times of Oracle', E'at;n\n05-FEB-24 03.14.15 PM;1\n06-FEB-24 12.00.01 AM;2\n', '', 'at timestamp, n bigint; at', 'header => true, delimiter => '';'', timestamp_format => ''DD-Mon-YY HH12.MI.SS AM''', '("2024-02-05 15:14:15",1) ("2024-02-06 00:00:01",2)'),
('exponents after decimal commas', E'v;n\n1,5e3;1\n2,25;2\n', '', 'v double precision, n bigint', 'header => true, delimiter => '';'', number_format => ''1234,56''', '(1500,1) (2.25,2)'),
('thousands that tell themselves', E'v;n\n1.234.567;1\n12.345;2\n678;3\n', '', 'v bigint, n bigint', 'header => true, delimiter => '';'', number_format => ''1.234,56''', '(12345,2) (1234567,1) (678,3)'),
('thousands that other columns tell', E'v;n\n1.355,90;1.234\n12,50;5.678\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';'', number_format => ''1.234,56''', '(12.50,5678) (1355.90,1234)'),
('fractions that other columns tell', E'v;n\n1,5;1,234\n12,50;5,678\n', '', 'v numeric, n numeric', 'header => true, delimiter => '';'', number_format => ''1234,56''', '(1.5,1.234) (12.50,5.678)'),
('a thousand or a fraction', E'v;n\n1,234;1\n5,678;2\n', '', 'v text, n bigint', 'header => true, delimiter => '';''', '("1,234",1) ("5,678",2)'),
('a fraction, or a thousand', E'v;n\n1.234;1\n5.678;2\n', '', 'v numeric, n bigint', 'header => true, delimiter => '';''', '(1.234,1) (5.678,2)'),
('columns that disagree', E'v;w\n1,5;1.5\n2,5;2.5\n', '', 'v text, w numeric', 'header => true, delimiter => '';''', '("1,5",1.5) ("2,5",2.5)'),
('a format, said', E'v;w\n1,234;1\n5,678;2\n', 'options => ''{"number_format": "1,234.56", "existing_rows": "keep", "header": true}''', 'v bigint, w bigint', 'header => true, delimiter => '';'', existing_rows => ''keep'', number_format => ''1,234.56''', '(1234,1) (5678,2)'),
('a format, said, that a column has not', E'v;w\n12,5;1.5\n5,6;2.5\n', 'number_format => ''1234,56''', 'v numeric, w text', 'header => true, delimiter => '';'', number_format => ''1234,56''', '(12.5,1.5) (5.6,2.5)'),
('lists of numbers', E'a,b\n1,"1,5;2,5"\n2,"3,5;4,5"\n', '', 'a bigint, b text', 'header => true', '(1,"1,5;2,5") (2,"3,5;4,5")'),
('what only looks like numbers', E'a;v;phone;call;code\n10.100.200.123;1.2.3;555 123 456;555.123.456;007,5\n10.100.200.124;1.10.3;555 123 457;555.123.457;008,5\n', '', 'a text, v text, phone text, call text, code text', 'header => true, delimiter => '';''', '(10.100.200.123,1.2.3,"555 123 456",555.123.456,"007,5") (10.100.200.124,1.10.3,"555 123 457",555.123.457,"008,5")'),
('phone numbers beside numbers', E'v;phone\n1 355,90;555 123 456\n12,50;555 123 457\n', '', 'v numeric, phone text', 'header => true, delimiter => '';'', number_format => ''1 234,56''', '(12.50,"555 123 457") (1355.90,"555 123 456")'),
-- blanks
('dates with blanks around', E'd;n\n 31.12.2024;1\n01.12.2024 ;2\n', '', 'd date, n bigint; d', 'header => true, delimiter => '';'', timestamp_format => ''DD.MM.YYYY'', partition_interval => ''1 month'', trim_blanks => ''unquoted''', '(2024-12-01,2) (2024-12-31,1)'),
('dates with blanks in quotes', E'd;n\n" 31.12.2024";1\n01.12.2024 ;2\n', '', 'd date, n bigint; d', 'header => true, delimiter => '';'', timestamp_format => ''DD.MM.YYYY'', partition_interval => ''1 month'', trim_blanks => ''all''', '(2024-12-01,2) (2024-12-31,1)'),
('words for NULL with blanks around', E'a,b,c\n 1, n/a ,x\n  ,2,y \n3,,z\n', '', 'a bigint, b bigint, c text', 'header => true, null_strings => ''{"a": "", "b": "n/a"}'', trim_blanks => ''unquoted''', '(,2,y) (1,,x) (3,,z)'),
('names with blanks around', E'a,b\n1, y z\n2, w\n', '', 'a bigint, b text', 'header => true, trim_blanks => ''unquoted''', '(1,"y z") (2,w)'),
('texts with blanks', E'a,b\n1, y z\n2,w \n3,v\n', '', 'a bigint, b text', 'header => true', '(1," y z") (2,"w ") (3,v)'),
('no blanks are taken off, said', E'd;n\n 31.12.2024;1\n01.12.2024 ;2\n', 'trim_blanks => ''none''', 'd text, n bigint', 'header => true, delimiter => '';'', trim_blanks => ''none''', '(" 31.12.2024",1) ("01.12.2024 ",2)'),
-- empty lines
('empty lines', E'a,b\n\n1,x\n\n\n2,y\n\n', '', 'a bigint, b text', 'header => true, skip_empty_lines => true', '(1,x) (2,y)'),
('empty lines of two bytes', E'a,b\r\n1,x\r\n\r\n2,y\r\n\r\n', '', 'a bigint, b text', 'header => true, skip_empty_lines => true', '(1,x) (2,y)'),
('empty lines before and between', E'\n\na,b\n1,x\n\n2,y\n', '', 'a bigint, b text', 'header => 3, skip_empty_lines => true', '(1,x) (2,y)'),
('empty lines in the text format', E'a\t\\N\n\nb\t1\n', '', 'column_1 text, column_2 bigint', 'format => ''text'', skip_empty_lines => true', '(a,) (b,1)'),
('empty lines of one column', E'a\n1\n\n2\n', '', 'a bigint', 'header => true', '() (1) (2)'),
('words for NULL, said', E'a,b,c\nn/a,x,.\n1,n/a,2\n.,y,\n', 'null_strings => ''{"a": ["n/a", "."], "c": "."}''', 'a bigint, b text, c bigint', 'header => true, null_strings => ''{"a": ["n/a", "."], "c": "."}''', '(,x,) (,y,) (1,n/a,2)'),
('words for NULL, said of another column', E'a,b\nx,1\n1,x\n2,2\n', 'null_strings => ''{"a": "x"}''', 'a bigint, b text', 'header => true, null_strings => ''{"a": "x"}''', '(,1) (1,x) (2,2)'),
('not a number', E'a,b\n1,x\nNaN,y\n', '', 'a double precision, b text', 'header => true', '(1,x) (NaN,y)'),
-- types
('booleans', E'a,b,c\ntrue,t,N\nfalse,f,N\n', '', 'a boolean, b boolean, c text', 'header => true', '(f,f,N) (t,t,N)'),
('numbers', E'a,b,c,d,e,f,g\n9223372036854775807,9223372036854775808,007,1.50,1.5,1e+5,-0.5\n-1,1,010,2.25,2.25,2,+3.25\n', '',
	'a bigint, b numeric, c text, d numeric, e double precision, f double precision, g double precision', 'header => true', '(-1,1,010,2.25,2.25,2,3.25) (9223372036854775807,9223372036854775808,007,1.50,1.5,100000,-0.5)'),
('digits that a double precision does not keep', E'a,b,c\n0.1234567890123456789,0.30000000000000004,1.5e-3\n0.1234567890123456788,1.5,1234567890123456789e5\n', '', 'a numeric, b double precision, c numeric', 'header => true', '(0.1234567890123456788,1.5,123456789012345678900000) (0.1234567890123456789,0.30000000000000004,0.0015)'),
('money with many digits', E'a\n1234567890123456.12\n2.50\n', '', 'a numeric', 'header => true', '(1234567890123456.12) (2.50)'),
('phone numbers', E'phone;change\n+491701234567;+5\n491701234568;-7\n', '', 'phone text, change bigint', 'header => true, delimiter => '';''', '(+491701234567,5) (491701234568,-7)'),
('numbers of parts', E'part,n,f\n1E5,1,1e5\n12,2,1.5\n2E10,3,2\n', '', 'part text, n bigint, f double precision', 'header => true', '(12,2,1.5) (1E5,1,100000) (2E10,3,2)'),
('versions', E'version;load\n1.9;0.5\n1.10;0.50\n2;1\n', '', 'version text, load numeric', 'header => true, delimiter => '';''', '(1.10,0.50) (1.9,0.5) (2,1)'),
('moments', E'a,b,c,d\n2024-01-01,12:30,2024-01-01T10:00:00Z,2024-01-01 10:00:00.5\n2024-01-02,12:31:05,2024-01-02 10:00:00+02,2024-01-02\n', '', 'a date, b time, c timestamptz, d timestamp; c', 'header => true',
	'(2024-01-01,12:30:00,"2024-01-01 10:00:00+00","2024-01-01 10:00:00.5") (2024-01-02,12:31:05,"2024-01-02 08:00:00+00","2024-01-02 00:00:00")'),
('others', E'u,ip_address,j,v\n123e4567-e89b-12d3-a456-426614174000,10.0.0.1,"{""a"":1}",1.2.3.4\n123e4567-e89b-12d3-a456-426614174001,10.0.0.2,[],1.2.3.5\n', '', 'u uuid, ip_address inet, j jsonb, v text', 'header => true',
	'(123e4567-e89b-12d3-a456-426614174000,10.0.0.1,"{""a"": 1}",1.2.3.4) (123e4567-e89b-12d3-a456-426614174001,10.0.0.2,[],1.2.3.5)'),
('a few values of another type', E'a,b\n1,1\nx,2\n', '', 'a text, b bigint', 'header => true', '(1,1) (x,2)'),
-- moments that need a pattern
('day first', E'd,n\n31/12/2024,1\n01/02/2024,2\n', '', 'd date, n bigint; d', 'header => true, timestamp_format => ''DD/MM/YYYY'', partition_interval => ''1 year''', '(2024-02-01,2) (2024-12-31,1)'),
('month first', E'd,n\n12/31/2024,1\n01/02/2024,2\n', '', 'd date, n bigint; d', 'header => true, timestamp_format => ''MM/DD/YYYY'', partition_interval => ''1 year''', '(2024-01-02,2) (2024-12-31,1)'),
('points, and a time', E'd,n\n31.12.2024 10:05,1\n01.12.2024 9:00,2\n', '', 'd timestamp, n bigint; d', 'header => true, timestamp_format => ''DD.MM.YYYY HH24:MI'', partition_interval => ''1 month''', '("2024-12-01 09:00:00",2) ("2024-12-31 10:05:00",1)'),
('twelve hours', E'd,n\n"1/31/2024 5:04:00 PM",1\n"1/1/2024 11:04:00 AM",2\n', '', 'd timestamp, n bigint; d', 'header => true, timestamp_format => ''MM/DD/YYYY HH12:MI:SS AM'', partition_interval => ''1 month''', '("2024-01-01 11:04:00",2) ("2024-01-31 17:04:00",1)'),
('names of months', E'd,n\n01-Jan-2024,1\n15-FEB-2024,2\n', '', 'd date, n bigint; d', 'header => true, timestamp_format => ''DD-Mon-YYYY'', partition_interval => ''1 month''', '(2024-01-01,1) (2024-02-15,2)'),
('a log of a web server', E'h,t\na,[10/Oct/2023:13:55:36 -0700]\nb,[10/Oct/2023:13:56:36 -0700]\n', '', 'h text, t timestamptz; t', 'header => true, timestamp_format => ''[DD/Mon/YYYY:HH24:MI:SS TZHTZM]''', '(a,"2023-10-10 20:55:36+00") (b,"2023-10-10 20:56:36+00")'),
('digits', E'day,n\n20240131,1\n20240201,2\n', '', 'day date, n bigint; day', 'header => true', '(2024-01-31,1) (2024-02-01,2)'),
('seconds', E'ts,n\n1700000000,1\n1700000060,2\n', '', 'ts timestamptz, n bigint; ts', 'header => true, timestamp_format => ''epoch_s''', '("2023-11-14 22:13:20+00",1) ("2023-11-14 22:14:20+00",2)'),
('nanoseconds', E'time,n\n1700000000000000000,1\n1700000060000000000,2\n', '', '"time" timestamptz, n bigint; "time"', 'header => true, timestamp_format => ''epoch_ns''', '("2023-11-14 22:13:20+00",1) ("2023-11-14 22:14:20+00",2)'),
('milliseconds in a file without names', E'1700000000000,1\n1700000060000,1\n1700000120000,1\n', '', 'column_1 timestamptz, column_2 bigint; column_1', 'timestamp_format => ''epoch_ms''', '("2023-11-14 22:13:20+00",1) ("2023-11-14 22:14:20+00",1) ("2023-11-14 22:15:20+00",1)'),
('numbers that might be seconds', E'user,n\n1700000000,1\n1600000060,2\n', '', '"user" bigint, n bigint', 'header => true', '(1600000060,2) (1700000000,1)'),
('two patterns', E'a,b\n31/12/2024,1700000000\n01/02/2024,1\n', 'columns => ''{a,b_time}''', 'a date, b_time bigint; a', 'columns => ARRAY[''a'', ''b_time''], header => true, timestamp_format => ''DD/MM/YYYY'', partition_interval => ''1 year''', '(2024-02-01,1) (2024-12-31,1700000000)'),
('patterns of several columns', E'day,ts\n31/12/2024,1700000000\n01/02/2024,1700000060\n', '', 'day date, ts timestamptz; ts', 'header => true, timestamp_format => ''{"day": "DD/MM/YYYY", "ts": "epoch_s"}''', '(2024-02-01,"2023-11-14 22:14:20+00") (2024-12-31,"2023-11-14 22:13:20+00")'),
-- keys
('a key with NULLs', E'at,n\n2024-01-01,1\n,2\n', '', 'at date, n bigint', 'header => true', '(,2) (2024-01-01,1)'),
('years', E'at,n\n1924-01-01,1\n2024-01-01,2\n', '', 'at date, n bigint; at', 'header => true, partition_interval => ''1 year''', '(1924-01-01,1) (2024-01-01,2)'),
-- what the caller says
('no header, said', E'a,b\n1,2\n', 'header => 0', 'column_1 text, column_2 text', 'header => 0', '(1,2) (a,b)'),
('a header, said', E'1,2\n3,4\n', 'header => true', '"1" bigint, "2" bigint', 'header => true', '(3,4)'),
('a header to match', E'Id,Name\n1,x\n', 'header => ''match''', '"Id" bigint, "Name" text', 'header => ''match''', '(1,x)'),
('a delimiter, said', E'1,2;3\n4,5;6\n', 'delimiter => '',''', 'column_1 bigint, column_2 text', 'delimiter => '',''', '(1,2;3) (4,5;6)'),
('a word for NULL, said', E'a,b\n-1,x\n2,y\n', 'null_string => ''-1''', 'a bigint, b text', 'header => true, null_string => ''-1''', '(,x) (2,y)'),
('columns, said', E'1,2024-01-01\n2,2024-01-02\n', 'columns => ''{n,"At"}''', 'n bigint, "At" date; "At"', 'columns => ARRAY[''n'', ''At'']', '(1,2024-01-01) (2,2024-01-02)'),
('a key, said', E'a,b\n2024-01-01 00:00:00,2024-01-01\n', 'timestamp_column => ''b''', 'a timestamp, b date; b', 'header => true', '("2024-01-01 00:00:00",2024-01-01)'),
('an integer as the key', E'n,x\n1,a\n5000,b\n', 'timestamp_column => ''n''', 'n bigint, x text; n', 'header => true, partition_interval => ''1000''', '(1,a) (5000,b)'),
('a pattern, said', E'd,n\n01/02/2024,1\n03/04/2024,2\n', 'timestamp_format => ''DD/MM/YYYY''', 'd date, n bigint; d', 'header => true, timestamp_format => ''DD/MM/YYYY'', partition_interval => ''1 month''', '(2024-02-01,1) (2024-04-03,2)'),
('an interval, said', E'd,n\n2024-02-01,1\n', 'partition_interval => ''1 year''', 'd date, n bigint; d', 'header => true, partition_interval => ''1 year''', '(2024-02-01,1)'),
('options as JSON', E'1;x\n2;y\n', 'options => ''{"header": false, "on_error": "ignore"}''', 'column_1 bigint, column_2 text', 'header => false, delimiter => '';'', on_error => ''ignore''', '(1,x) (2,y)'),
('other arguments', E'n,x\n1,a\n2,b\n', 'where_clause => ''n > 1'', workers => 1, run_analyze => true, target => ''other''', 'n bigint, x text', 'header => true, where_clause => ''n > 1'', run_analyze => true, workers => 1', '(2,b)');

CREATE TEMP TABLE result AS
SELECT number, sniffed(quote_literal(write(format('sniff_%s.csv', number), convert_to(lines, 'UTF8'))), arguments) AS statements FROM example;

SELECT is(got, wanted, about || ': ' || what)
FROM example JOIN result USING (number),
	LATERAL (VALUES ('columns', columns_of(statements[1]), columns), ('call', call_of(statements[2]), call), ('rows', loaded(statements), rows)) AS v (what, got, wanted)
ORDER BY number;

SELECT is(count(*), 0::bigint, 'no line is longer than 78') FROM result, unnest(statements) AS s, regexp_split_to_table(s, E'\n') AS line
WHERE length(line) > 78 AND line !~ 'sniff_\d+.csv' AND line !~ 'x{63}';

-- What is unsure, or contradicts the guess, is said
CREATE TEMP TABLE remark (number serial, lines text, arguments text, said text);
INSERT INTO remark (lines, arguments, said) VALUES
(E'a,b\n1,2\n', '', 'Looked at all of it: 1 record'),
(E'<!DOCTYPE html>\n<html>\n<p>Not found</p>\n', '', 'This looks like HTML or XML: it may be a page of an error'),
(E'[\n{"a": 1},\n{"a": 2}\n]\n', '', 'This looks like an array of JSON'),
(E'a,b\n1,x\n3\n4,y\n6,z\n', '', '1 of 4 records has another number of fields than 2'),
(E'v;n\n(1.20);1\n3.50;2\n', '', 'v: numbers in parentheses are taken for negative ones'),
(E'v;n\n(1);1\n(2);2\n', '', 'v: numbers in parentheses, which may be negative: a text'),
(E'd,n\n2024-01-01,1\n2024-01-02,2\n2024-01-04,3\n', '', 'Partitions of 1 day: 3. Keys in the sample: 2024-01-01 to 2024-01-04.'),
(E'd,n\n2024-01-01,1\n2025-01-01,1\n2024-01-31,3\n', 'partition_interval => ''1 month''', 'Partitions of 1 month: 2. Keys in the sample: 2024-01-01 to 2025-01-01.'),
(E'a,b\r\n1,2\r\n3,4\n5,6\r\n', '', 'Lines do not all end in the same way'),
(E'a,b\n1,x\n2,"y\n', 'quote => ''"''', 'A quote never closes'),
(E'a,b\n1,\n2,\n', '', 'b: all 2 values seen are empty or NULL'),
(E'd,n\n01/02/2024,1\n03/04/2024,2\n', '', 'd: the values may be MM/DD/YYYY or DD/MM/YYYY: look which is meant'),
(E'a,b\n2024-01-01,2024-01-01\n', '', 'The key could be another column, too: b.'),
(E'a,b\n2024-01-01,1\n,2\n', '', 'Column a has times, but also NULLs'),
(E'a\n' || repeat(E'1\n', 200) || E'x\n', '', 'a: all but 1 of 201 values would be bigint'),
(E'a,b\nNA,1\n1,\n2,\n3,\n', 'options => ''{"null_strings": "x"}''', 'a: a text, and not bigint, because of "NA" (1 times), which null_string and null_strings do not have'),
(E'a,b\nx,NULL\ny,NULL\n', '', '"NULL" stands 2 times in columns of texts, and stays: column_2. If it is NULL there, give null_string => ''NULL''.'),
(E'country,n,c\nNA,1,-\nDE,NA,NA\n', '', '"NA" stands 2 times in columns of texts, and stays: country, c. If it is NULL there, give null_string => ''NA''.'),
(E'country,n\n?,1\nDE,?\n', '', '"?" stands 1 times in columns of texts, and stays: country. If it is NULL there, give null_string => ''?''.'),
(E'country,n\nNA,1\nDE,NA\n', 'null_string => ''NA''', '"NA" becomes NULL 1 times in columns of texts: country.'),
(E'n,phone\n1,+491701234567\n', '', 'phone: "+491701234567" has a plus, as phone numbers have, which no number keeps: a text'),
(E'n,v\n1,+1.5\n2,-2.5\n', '', 'v: "+1.5" loses its plus'),
(E'part,n\n7,1\n1E5,2\n', '', 'part: "1E5" may be a number with an exponent, or a code: a text'),
(E'version,n\n1.9,1\n1.10,2\n', '', 'version: "1.10" is the same number without its last zero: a text'),
(E'v,n\n1.9,1\n1.10,2\n', '', 'v: "1.10" is the same number without its last zero: if these are versions or codes, make this a text'),
(E't,n\n2024-01-01 00:00:00.123456789,1\n', '', 't: "2024-01-01 00:00:00.123456789" is rounded to microseconds: if all digits count, make this a text'),
(E't,n\n2024-01-01T00:00:00.1234567Z,1\n', '', 't: "2024-01-01T00:00:00.1234567Z" is rounded to microseconds'),
(E'time,n\n1700000000000000001,1\n', '', '"time": "1700000000000000001" is rounded to microseconds'),
(E'ts,n\n1700000000.1234567,1\n', '', 'ts: "1700000000.1234567" is rounded to microseconds'),
(E'day,n\n20240131,1\n', '', 'day: integers that would be moments as YYYYMMDD'),
(E'v;n\n1,234;1\n2,345;2\n', '', 'v: "1,234" may be a thousand or a fraction, and no value tells: a text'),
(E'v;n\n1.234;1\n2.345;2\n', '', 'v: "1.234" is read as a fraction. If it is a thousand and more, give number_format => ''1.234,56'''),
(E'v;n\n1,5;1.234\n2,5;2.345\n', '', 'n: "1.234" is taken for a number without fraction, as number_format 1.234,56 has it'),
(E'v;n\n1,5;1,234\n2,5;2,345\n', '', 'n: "1,234" is taken for a number with a fraction, as number_format 1234,56 has it'),
(E'v;n\n1,5;1.5\n2,5;2.5\n', '', 'Numbers are written like "1,5" in column v, and like "1.5" in column n, and number_format knows one way'),
(E'v;n\n555 123 456;1\n555 123 457;2\n', '', 'v: "555 123 456" may be a number with thousands set apart, or no number at all: a text'),
(E'd;t\n 31.12.2024; x\n01.12.2024;y\n', '', 't: 1 of 2 values begin or end with blanks, which trim_blanks takes off, too'),
(E'd;n\n' || repeat(E'31.12.2024;1\n', 60) || E'unknown;2\n' || repeat(E'1.2.2024;1\n', 60) || E'?;3\nsoon;4\n', '', 'd: all but 2 of 122 values would be DD.MM.YYYY, not "unknown", "soon"'),
(E'v;n\n' || repeat(E'1.234,50;1\n', 60) || E'unknown;2\n', '', 'v: all but 1 of 61 values would be numbers, not "unknown"'),
(E'a\n' || repeat(E'1\n', 200) || E'x\ny z\n', '', 'a: all but 2 of 202 values would be bigint, not "x", "y z"'),
(E'a,b\nx, y\nz, w\n', 'header => true', 'b: all values begin or end with blanks, which trim_blanks takes off'),
(E'a,b\nx, y\nz, w\nu,v\n', 'header => true', 'b: most values begin or end with blanks, which stay'),
(E'1|2|\n3|4|\n5|6|\n7|8||9\n', '', '1 of 4 records has another number of fields than the others: more are left out; with fewer the load will end.'),
	(E'1|2|\n3|4|\n', '', 'Each line ends with a delimiter, and nothing is after it: that is no column.'),
(E'first,last\nBob,Smith\n', '', 'the first line is taken for a header by its words alone'),
(E'Bob,Rome\nAl,Paris\nBob,Rome\n', '', 'the first line may be a header'),
(E'ts,n\n1700000000,1\n', '', 'ts: integers that would be moments as epoch_s'),
(E't\n2024-01-01 00:00:00\n2024-01-01 00:00:00Z\n', '', 't: 1 of 2 values have no time zone'),
(E'\uFEFF1,2\n3,4\n', 'header => 0', 'The file begins with a byte order mark'),
(E'd,n\n2024-01-02,1\n', 'timestamp_column => ''d'', timestamp_format => ''DD/MM/YYYY''', 'd: "2024-01-02" does not match DD/MM/YYYY'),
(E'made by: somebody\n\nid,name,v\n1,a,2\n2,b,3\n', '', 'The load leaves out the first 2 lines, which are no record: made by: somebody'),
(E'# one\n# two\n1,a,2\n2,b,3\n', '', 'The load leaves out the first 2 lines, which are no record: # one'),
(E'"a","b"\n"1",2.5,x\n"2",3.5,y\n', '', 'The load leaves out the first line, which is no record: "a","b"'),
(E'1,2,3,4\n5,6,7\n8,9,1\n', '', 'The first line has another number of fields than the others. If it is a title, give header => 1. 1 of 3 records has another number'),
(E'Report;;\nday;shop;n\n30.03.2024;Ulm;2\n31.03.2024;Bonn;3\n', '', 'The load leaves out the first line, which is no record: Report;;'),
(E'\uFEFFReport;;\nday;shop;n\n30.03.2024;Ulm;2\n31.03.2024;Bonn;3\n', '', 'The load leaves out the first line, which is no record: Report;;'),
(E'Al;;\nBob;Rome;1\nCid;Paris;2\n', '', 'The first line has fewer values than the others. If it is a title, give header => 1.'),
(E'x,1\n2,2\n3,3\n', '', 'The first line has words above numbers or times, but values as well: it is taken for values.'),
(E'1\ta\n\\.\n2\tb\n', 'format => ''text''', E'A line \\. ends the data: the load leaves out what stands after it.'),
(E'# x\nn,v\n1,x\n# y\n2,y\n', '', 'Lines that begin with ''#'' are taken for comments.'),
(E'n,v,w\n1,x,2\n2,y,3\nTotal,5\n', '', 'The load leaves out the last line, unless you give skip_footer => 0: Total,5'),
(E'time,n\ns,m\n1,2\n2,3\n', '', 'The second line has words above numbers or times: it is taken for a part of the header. Give header => true if it has values.'),
(E'name,height\n,cm\nBob,180\nAl,190\n', '', 'The second line has a word above numbers or times, and is taken for values. If it is a part of the header, give header => 2.'),
(E'a\n1\n', 'target => ''pg_catalog.pg_class''', 'Rows that pg_catalog.pg_class has will stay. With existing_rows => ''replace'''),
(E'a\n1\n', 'target => ''pg_catalog.pg_am''', 'The records have 1 fields, and pg_am has 4 columns that a file can fill: name those of the file in columns');
SELECT CASE WHEN strpos(said(got), said) > 0 THEN pass('it says: ' || said) ELSE is(said(got), said, 'it says: ' || said) END
FROM (SELECT *, sniffed(quote_literal(write(format('sniff_said_%s.csv', number), convert_to(lines, 'UTF8'))), arguments) AS got FROM remark) AS r ORDER BY number;

-- A first record is a header only if something says so.  Each record is loaded,
-- or the load ends with an error, which is foretold.
CREATE FUNCTION counted(statements text[]) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN found !~ '^\d+$' AND said(statements) ~ '(has|have) another number of fields than' THEN 'refused' ELSE found END FROM loaded(statements, 'SELECT count(*) FROM %s') AS found
$$;
CREATE TEMP TABLE kept (number serial, about text, lines text, records text);
INSERT INTO kept (about, lines, records) VALUES
('one field more in the first record', E'1,2,3,4\n5,6,7\n8,9,1\n', 'refused'),
('an escaped delimiter in the first record', E'1|one, with a \\| pipe|3\n2|two|4\n3|three|5\n', '3'),
('one field less in the first record', E'1,2\n5,6,7\n8,9,1\n', 'refused'),
('two first records that are short', E'1\n2\n5,6,7\n8,9,1\n3,4,5\n', 'refused'),
('texts that are short first', E'Bob\nAl,Rome\nCid,Paris\n', 'refused'),
('a text and a number above', E'x,1\n2,2\n3,3\n', '3'),
('a word among numbers', E'x,1,2\n3,2,3\n4,3,4\n', '3'),
('a moment above integers', E'2024-01-01,5\n1,6\n2,7\n', '3'),
('names of people', E'Bob,Rome\nAl,Paris\nCid,London\n', '3'),
('one record of words', E'Bob,Rome\n', '1'),
('keys and values', E'name,Bob\ncity,Rome\nstate,Lazio\ncountry,Italy\n', '4'),
('a title that is a record', E'red\nred,1\nblue,2\n', 'refused'),
('a marker', E'1,a\n2,b\n\\.\n3,c\n', 'refused'),
('apostrophes over lines', E'a,''b\nc,d''\n', '2'),
('apostrophes over lines, numbers', E'1,''b\n2,d''\n3,x\n', '3'),
('backslashes at line ends', E'a\tC:\\\nb\tD:\\\nc\tE:\\\n', '3'),
('a footer', E'id,n\n1,2\n3,4\nTotal,6\n', '2'),
('a record with a word that footers have', E'name,n\nTotal,2\nSum,4\nTotal,6\n', '3'),
('blank lines between', E'id,n\n1,2\n\n3,4\n', '2'),
('units below names', E'name,height\n,cm\nBob,180\nAl,190\n', '3'),
('a comment between', E'1,2\n# no,3\n3,4\n', '3'),
('a comment before', E'# made by x\n1,2\n3,4\n', '2'),
('two headers', E'a,b\n1,2\na,b\n3,4\n', '4'),
('one word', E'hello\n', '1'),
('a line of single dashes', E'a,b\n-,-\n1,2\n2,3\n', '3'),
('a line of dashes later', E'a,b\n1,2\n--,--\n2,3\n', '3'),
('a line of dashes first', E'--,--\n1,2\n2,3\n', '3'),
('a line of dashes in one column', E'n\n---\nx\n', '3'),
('words of SQL', E'begin;end;\nset names ;2;\n3;4;\n', '2'),
('a comment of SQL before', E'-- select;\nid;n;\n1;2;\n', '1'),
('words', E'hello\nworld\nthere\n', '3'),
('unknown first', E'unknown,Bob\n3,Al\n4,Cid\n5,Dan\n', '4'),
('yes and no', E'yes\nno\nyes\nno\n', '4'),
('null words first', E'NA,none\n1,2\n3,4\n', '3'),
('empty first', E',\n1,2\n3,4\n', '3'),
('dates', E'2024-01-01\n2024-01-02\n', '2'),
('inches', E'5" x,1\n6" y,2\n7" z,3\n', '3'),
('a quote that swallows', E'a,"b\nc,d\ne,"f\ng,h\n', '4'),
('years as values', E'x,1960,1961\n3,1970,1980\n4,1971,1981\n', '3'),
('codes', E'A12,B13\nC44,D55\nE66,F77\n', '3'),
('status lines', E'ok,done\nok,failed\nbad,done\n', '3'),
('urls', E'http://a.b/c,x\nhttp://d.e/f,y\n', '2'),
('addresses', E'ann@x.org\nbob@y.org\n', '2'),
('same words', E'x,x\n1,2\n3,4\n', '3'),
('padded numbers', E'007,a\n008,b\n', '2'),
('short then long', E'1;2;3\n4;5\n6;7\n8;9\n', 'refused'),
('prices', E'n/a;x\n1,5;y\n2,5;z\n', '3'),
('text type',E'text,1\nimage,2\ntext,3\n', '3'),
('carriage returns', E'a,b\r1,2\r3,4\r', '2'),
('sentences first', E'Hello there, you\nBob,1\nAl,2\n', '2'),
('objects', E'{"a": 1}\n{"a": 2}\n', '2'),
('five consecutive', E'x,1,2,3\n4,5,6,7\n8,9,1,2\n', '3'),
('a record among titles', E'made by: somebody\n1,2\nid,name,v\n1,a,2\n2,b,3\n', 'refused'),
('one field less, and names below', E'1,2\nid,n,at\n3,4,5\n6,7,8\n', 'refused'),
('an escaped delimiter later', E'1;a\n2;b \\; c\n3;d\n', '3'),
('a comment with a delimiter', E'# a, b\n1,2\n3,4\n', '2'),
('a record with one value', E'Al;;\nBob;Rome;1\nCid;Paris;2\n', '3'),
('records with one value', E'5;;\n;;\nBob;Rome;1\n7;Paris;2\n', '4'),
('a record with one value, and texts', E'Al;;\nBob;Rome;Ulm\nCid;Paris;Bonn\n', '3'),
('one value above numbers', E'5;;\n6;7;8\n9;1;2\n', '3'),
('a word above a number, and one number', E'word,1\n1,2\n2,3\n5,8\n', '4');
SELECT is(counted(sniffed(quote_literal(write(format('sniff_kept_%s.csv', number), convert_to(lines, 'UTF8'))), 'target => ''kept_records''')), records, 'records: ' || about)
FROM kept ORDER BY number;

-- How wide partitions are, by days and bytes of the file; and how many the load makes
SELECT is(call_of(got[2]) || ' ' || substring(said(got) FROM 'Partitions of [^:]*: [^.]*') || ' ' ||
		loaded(got, 'SELECT count(*) FROM pg_inherits WHERE inhparent = ''%s''::regclass'), wanted, format('%s days in %s bytes', days, bytes))
FROM (VALUES (3, 60, 'header => true Partitions of 1 day: 3 3'), (30, 600, 'header => true, partition_interval => ''1 month'' Partitions of 1 month: 1 1'),
		(30, 57000, 'header => true, partition_interval => ''1 month'' Partitions of 1 month: 1 1'), (60, 57000, 'header => true, partition_interval => ''1 month'' Partitions of 1 month: 2 2'),
		(30, 200000, 'header => true, partition_interval => ''1 week'' Partitions of 1 week: 5 5'), (30, 600000, 'header => true Partitions of 1 day: 30 30')) AS v (days, bytes, wanted),
	LATERAL (SELECT sniffed(quote_literal(write('sniff_days.csv', convert_to(E'd,v\n' || string_agg(date '2024-01-01' + n || ',' || repeat('x', bytes / days - 12), E'\n' ORDER BY n), 'UTF8'))), 'target => ''sniff_days''') AS got FROM generate_series(0, days - 1) AS n) AS s;

-- What is said of a footer, if it is no footer, loads the file
SELECT is(loaded(ARRAY[got[1], replace(got[2], ');', more || ');')]), wanted[number], about || ': ' || number)
FROM (VALUES ('a footer of one field', E'id,n\n' || repeat(E'1,2\n', 9) || E'(9 rows)\n', ARRAY['22P02 invalid input syntax for type bigint: "(9 rows)"', repeat('(1,2) ', 8) || '(1,2)']),
	('a footer below a key', E'd,n,v\n2024-01-01,2,x\n2024-01-02,4,y\nTotal,6\n', ARRAY['22007 invalid input syntax for type date: "Total"', '(2024-01-01,2,x) (2024-01-02,4,y)']),
	('a footer of too many fields', E'id,n\n' || repeat(E'1,2\n', 9) || E'Total,9,18\n', ARRAY['22P04 extra data after last expected column', repeat('(1,2) ', 8) || '(1,2)']),
	('a footer below texts', E'a,n\nx,2\ny,4\nend\n', ARRAY['22P04 missing data for column "n"', '(x,2) (y,4)'])) AS v (about, lines, wanted),
	LATERAL (SELECT sniffed(quote_literal(write('sniff_footer.csv', lines::bytea)), 'target => ''footer'', skip_footer => 0') AS got) AS s,
	LATERAL (VALUES (1, ''), (2, ', ' || substring(said(got) FROM 'on_error => ''ignore'', on_error_classes => ''[^'']*'''))) AS m (number, more);

-- A script whose values are wanted all the same
SELECT is(loaded(sniffed(quote_literal(write('sniff_values.csv', E'insert into t values (1);\ninsert into t values (2);\n'::bytea)), 'delimiter => ''|''')), '("insert into t values (1);") ("insert into t values (2);")', 'a script, if the delimiter is said');

-- What sqlcmd writes; and a file that has no line of dashes
SELECT is(call_of(got[2]) || ' ' || loaded(got), 'header => 2, delimiter => ''|'', skip_empty_lines => true, skip_footer => 1 ' || repeat('("2024-01-01 00:00:00",1) ', 8) || '("2024-01-01 00:00:00",1)', 'sqlcmd')
FROM (SELECT sniffed(quote_literal(write('sniff_sqlcmd.csv', convert_to(E'at|n\n--|-\n' || repeat(E'2024-01-01 00:00:00|1\n', 9) || E'\n(9 rows affected)\n', 'UTF8')))) AS got) AS s;
SELECT is(loaded(sniffed(format('ARRAY[%L, %L]', write('sniff_ruled.csv', E'a,b\n--,--\nx,y\n'::bytea), write('sniff_unruled.csv', E'a,b\nz,w\n'::bytea)))), '(--,--) (x,y) (z,w)', 'a line of dashes that one file has is a record');

-- Encodings
SELECT is(call_of(got[2]) || ' ' || loaded(got), wanted, about)
FROM (VALUES ('UTF8', convert_to(E'name,n\nMüller,1\n', 'UTF8'), '', 'header => true (Müller,1)'),
	('LATIN1', convert_to(E'name,n\nMüller,1\n', 'LATIN1'), '', 'header => true, encoding => ''LATIN1'' (Müller,1)'),
	('WIN1252', convert_to(E'name,n\n€ „x“,1\n', 'WIN1252'), '', 'header => true, encoding => ''WIN1252'' ("€ „x“",1)'),
	('WIN1252, amounts', convert_to(E'v;w\n1\u00A0234,50\u00A0€;£5,00\n-7,25\u00A0€;£12,00\n', 'WIN1252'), '',
		'header => true, delimiter => '';'', encoding => ''WIN1252'', transform => $${"v": "replace(v, chr(160) || ''€'', '''')", "w": "replace(w, ''£'', '''')"}$$, number_format => ''1 234,56'' (-7.25,12.00) (1234.50,5.00)'),
	('UTF8, letters beside numbers', convert_to(E'v;n\n12à;1\n12À;2\n12ã;3\nà12;4\n', 'UTF8'), '', 'header => true, delimiter => '';'' (12À,2) (12à,1) (12ã,3) (à12,4)'),
	('SJIS, said', convert_to(E'name,n\n表,1\nソ,2\n', 'SJIS'), 'encoding => ''SJIS''', 'header => true, encoding => ''SJIS'' (ソ,2) (表,1)')) AS v (about, data, arguments, wanted),
	LATERAL (SELECT sniffed(quote_literal(write('sniff_encoding.csv', data)), arguments) AS got) AS s;

-- A table may have more columns than a page has room for
CREATE FUNCTION wide(columns int, value text) RETURNS text LANGUAGE sql AS
$$ SELECT quote_literal(write('sniff_wide_rows.csv', convert_to((SELECT string_agg('c' || n, ',') FROM generate_series(1, columns) AS n) || E'\n' || left(repeat(value || ',', columns), -1) || E'\n', 'UTF8'))) $$;
SELECT is(CASE WHEN got[1] LIKE 'ERROR %' THEN got[1] ELSE left(columns_of(got[1]), 24) || ' ' || counted(got) END, wanted, about)
FROM (VALUES ('as many bigint as fit', 990, '5', 'c1 bigint, c2 bigint, c3 1'),
	('1,500 integers', 1500, '70000', 'c1 integer, c2 integer,  1'),
	('1,600 integers', 1600, '-1', 'c1 integer, c2 integer,  1'),
	('1,600 flags', 1600, 'true', 'c1 boolean, c2 boolean,  1'),
	('many columns of which few have a value', 1600, '', 'c1 text, c2 text, c3 tex 1'),
	('1,600 short texts', 1600, 'abc', 'c1 text, c2 text, c3 tex 1'),
	('1,500 large integers', 1500, '5000000000', 'ERROR 54000'),
	('1,600 numbers', 1600, '1.5e3', 'ERROR 54000'),
	('1,600 texts', 1600, repeat('x', 30), 'ERROR 54000')) AS v (about, columns, value, wanted),
	LATERAL (SELECT sniffed(wide(columns, value), 'header => true, delimiter => '','', target => ''wide_rows''') AS got) AS s;
SELECT alike(said(sniffed(wide(1500, '7'))), '%As bigint, a row would take 12216 bytes, and a page has room for 8160: %', 'and it says why');

-- What a newcomer brings: semicolons, decimal commas, days first, empty lines,
-- a word for NULL in one column, blanks around values; plain and packed
CREATE TABLE brought AS SELECT n AS id, date '2024-01-01' + n % 90 AS day, timestamp '2024-01-01 08:00' + n * interval '7 minutes' AS at,
	'shop ' || n % 5 AS shop, round(n * 13.37, 2) AS amount, CASE WHEN n % 10 <> 3 THEN n * 111 END AS pieces, n % 3 = 0 AS paid FROM generate_series(1, 1500) AS n;
CREATE FUNCTION german(amount numeric) RETURNS text LANGUAGE sql AS
$$ SELECT translate(btrim(to_char(amount, 'FM999,999,990.00')), ',.', '.,') $$;
CREATE FUNCTION brought_lines() RETURNS bytea LANGUAGE sql AS
$$ SELECT convert_to(E'id;day;at;shop;amount;pieces;paid\n' || string_agg(format(E'%s;%s;%s ; %s ;%s;%s; %s\n%s', id, to_char(day, 'DD.MM.YYYY'), to_char(at, 'DD.MM.YYYY HH24:MI:SS'), shop,
	german(amount), coalesce(pieces::text, 'n/a'), paid, CASE WHEN id % 4 = 0 THEN E'\n' ELSE '' END), '' ORDER BY id), 'UTF8') FROM brought $$;
SELECT write('sniff_brought.csv', brought_lines()) \g /dev/null
SELECT format('COPY (SELECT 1) TO PROGRAM %L', format('cd %s && gzip -c sniff_brought.csv >sniff_brought.csv.gz && cat >/dev/null', current_setting('test.dir'))) \gexec
SELECT is(have, wanted, what || ' of ' || name)
FROM (VALUES ('sniff_brought.csv'), ('sniff_brought.csv.gz')) AS v (name), LATERAL (SELECT sniffed(quote_literal(current_setting('test.dir') || '/' || name), 'target => ''came''') AS got) AS s,
	LATERAL (VALUES ('columns', columns_of(got[1]), 'id bigint, day date, at timestamp, shop text, amount numeric, pieces bigint, paid boolean; at'),
	('call', call_of(got[2]), 'header => true, delimiter => '';'', timestamp_format => ''{"day": "DD.MM.YYYY", "at": "DD.MM.YYYY HH24:MI:SS"}'', partition_interval => ''1 week'', null_strings => ''{"pieces": "n/a"}'', trim_blanks => ''unquoted'', number_format => ''1.234,56'', skip_empty_lines => true'),
	('rows', loaded(got, 'SELECT count(*) || '' rows, '' || (SELECT count(*) FROM (SELECT * FROM brought EXCEPT ALL SELECT * FROM came) AS s) || '' differ, sum '' || sum(amount) FROM %s'), '1500 rows, 0 differ, sum ' || (SELECT sum(amount) FROM brought))) AS w (what, have, wanted);
SELECT fast_copy_sniff(current_setting('test.dir') || '/sniff_brought.csv.gz') \gexec
SELECT is((SELECT count(*) FROM (TABLE brought EXCEPT ALL TABLE sniff_brought) AS s), 0::bigint, 'and it runs by \gexec');

-- Nothing of a file becomes a part of a statement
SELECT is(loaded(sniffed(quote_literal(write('sniff_evil.csv', convert_to(E'"a"");--\n); DROP TABLE example; --","b"\n1,"x\r\n); DROP TABLE example; --"\n2,"''); DROP TABLE example; --"\n', 'UTF8'))))),
	E'(1,"x\r\n); DROP TABLE example; --") (2,"''); DROP TABLE example; --")', 'values and names with SQL in them');
SELECT is(loaded(sniffed(quote_literal(write(E'sniff_evil''\n); DROP TABLE example; --.csv', E'a,b\n1,2\n'::bytea)))), '(1,2)', 'a path with SQL in it');
SELECT format('COPY (SELECT 1) TO PROGRAM %L', format('cd %s && cp sniff_said_1.csv "$(printf ''sniff_odd\377\n.csv'')" && cat >/dev/null', current_setting('test.dir'))) \gexec
SELECT is(replace((sniffed(quote_literal(current_setting('test.dir') || '/sniff_odd*')))[1], E'\n-- ', ' ') ~ 'sniff_odd\\xff .csv: ', true, 'a file whose name is not valid in the encoding');
SELECT has_table('example');

-- A table that is there gets rows only if it is named, by a call for its own columns
CREATE TABLE sniff_there (n int);
SELECT is(loaded(got), '42P07 relation "sniff_there" already exists', 'a table that has the name of the file by chance gets no rows') FROM (SELECT sniffed(quote_literal(write('sniff_there.csv', E'n\n1\n'::bytea))) AS got) AS s;
SELECT alike(said(got), '%There is a relation sniff_there already, which ends this with an error: to load into it, or %', 'and a comment says so') FROM (SELECT sniffed(quote_literal(current_setting('test.dir') || '/sniff_there.csv')) AS got) AS s;
CREATE TABLE there (day date, "Shop" text, twice int GENERATED ALWAYS AS (n * 2) STORED, n int) PARTITION BY RANGE (day);
CREATE TABLE there_texts (n text, shop text, day text);
CREATE TABLE there_plain (a int, b text, c timestamp);
SELECT is(got[1] || ' ' || call_of(got[2]) || ' ' || loaded(got), wanted, about)
FROM (VALUES ('by the names of the header', 'there', E'n;shop;day\n1;Ulm;30.03.2024\n2;Bonn;31.03.2024\n',
		' header => ''map'', delimiter => '';'', timestamp_format => ''{"day": "DD.MM.YYYY"}'' (2024-03-30,Ulm,2,1) (2024-03-31,Bonn,4,2)'),
	('by the names of a header below a title', 'there', E'made by: somebody\nn;shop;day\n1;Ulm;30.03.2024\n2;Bonn;31.03.2024\n',
		' columns => ARRAY[''n'', ''Shop'', ''day''], header => 2, delimiter => '';'', timestamp_format => ''{"day": "DD.MM.YYYY"}'' (2024-03-30,Ulm,2,1) (2024-03-31,Bonn,4,2)'),
	('by the names of a header above dashes', 'there', E'n|shop|day\n-|----|---\n1|Ulm|2024-03-30\n2|Bonn|2024-03-31\n',
		' columns => ARRAY[''n'', ''Shop'', ''day''], header => 2, delimiter => ''|'' (2024-03-30,Ulm,2,1) (2024-03-31,Bonn,4,2)'),
	('in their order', 'there', E'day;shop;n\n30.03.2024;Ulm;1\n', ' header => true, delimiter => '';'', timestamp_format => ''{"day": "DD.MM.YYYY"}'' (2024-03-30,Ulm,2,1)'),
	('by their order, if names are others', 'there', E'date;town;pieces\n30.03.2024;Ulm;1\n', ' header => true, delimiter => '';'', timestamp_format => ''{"day": "DD.MM.YYYY"}'' (2024-03-30,Ulm,2,1)'),
	('texts stay as they are', 'there_texts', E'n;shop;day\n1,5;Ulm;30.03.2024\n2,25;Ulm;31.03.2024\n', ' header => true, delimiter => '';'' ("1,5",Ulm,30.03.2024) ("2,25",Ulm,31.03.2024)'),
	('some columns', 'there_plain', E'c,a\n2024-03-30 01:00:00,7\n', ' header => ''map'' (7,,"2024-03-30 01:00:00")'),
	('without a header', 'there_plain', E'7,x,2024-03-30 01:00:00\n', '  (7,x,"2024-03-30 01:00:00")')) AS v (about, target, lines, wanted),
	LATERAL (SELECT sniffed(quote_literal(write('sniff_again.csv', lines::bytea)), format('target => %L', target)) AS got) AS s;
SELECT is(loaded(sniffed(quote_literal(write('sniff_twice.csv', E'1\n'::bytea)), 'target => ''sniff_there'', columns => ''{n}''')), '(1)', 'columns that the caller names');

-- UTF-16, by its mark or by what the caller says
CREATE TABLE sniff_16 (n int, v text);
SELECT is(loaded(sniffed(quote_literal(write('sniff_16.csv', '\xfffe6e002c0076000a0031002c00e4000a00')), 'target => ''sniff_16''')), '(1,ä)', 'UTF-16 with its mark');
SELECT is(call_of(got[2]) || ' ' || loaded(got), 'header => true, encoding => ''UTF16'' (1,ä)', 'UTF-16 by its zeros') FROM (SELECT sniffed(quote_literal(write('sniff_16.csv', '\x6e002c0076000a0031002c00e4000a00')), 'target => ''sniff_16''') AS got) AS s;
SELECT is(loaded(sniffed(quote_literal(write('sniff_16.csv', '\x006e002c0076000a0031002c00e4000a')), 'target => ''sniff_16'', encoding => ''UTF16''')), '(1,ä)', 'UTF-16 without it');

-- What cannot be guessed from
SELECT is(sniffed(source, arguments), wanted, about)
FROM (VALUES ('an empty file', quote_literal(write('sniff_none.csv', '')), '', ARRAY['ERROR 22P04', format('file "%s/sniff_none.csv" is empty', current_setting('test.dir'))]),
	('no text', quote_literal(write('sniff_zero.csv', '\x50415231000a')), '', ARRAY['ERROR 22P04', format('file "%s/sniff_zero.csv" is no text: it has bytes that are zero', current_setting('test.dir'))]),
	('the binary format', quote_literal(write('sniff_binary', '\x5047434f50590aff0d0a0000000000000000000000')), '', ARRAY['ERROR 22P04', format('file "%s/sniff_binary" is in the binary format of COPY', current_setting('test.dir'))]),
	('the binary format, said', quote_literal(write('sniff_x.csv', 'a')), 'format => ''binary''', ARRAY['ERROR 0A000', 'cannot guess the columns of a file in the binary format']),
	('no file', quote_literal('/nowhere/x.csv'), '', ARRAY['ERROR 58P01', 'could not open file "/nowhere/x.csv" for reading: No such file or directory']),
	('NULL', 'NULL::text', '', ARRAY['ERROR 22004', 'argument "source" must not be null']),
	('a dump of pg_dump', quote_literal(write('sniff_dump.sql', convert_to(E'--\n-- PostgreSQL database dump\n--\n\n\\restrict x\n\nSET statement_timeout = 0;\nCOPY public.t (a, b) FROM stdin;\n1\t2\n\\.\n', 'UTF8'))), '', ARRAY['ERROR 22P04', format('file "%s/sniff_dump.sql" is a script of SQL commands', current_setting('test.dir'))]),
	('a dump of mysqldump', quote_literal(write('sniff_dump.sql', E'-- MySQL dump 10.13\n\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `t`;\nINSERT INTO `t` VALUES (1,''a''),(2,''b'');\n'::bytea)), '', ARRAY['ERROR 22P04', format('file "%s/sniff_dump.sql" is a script of SQL commands', current_setting('test.dir'))]),
	('commands', quote_literal(write('sniff_dump.sql', E'\uFEFF Insert INTO t VALUES (1, 2);\r\nINSERT INTO t VALUES (3, 4);\r\n'::bytea)), 'target => ''t''', ARRAY['ERROR 22P04', format('file "%s/sniff_dump.sql" is a script of SQL commands', current_setting('test.dir'))]),
	('a delimiter that COPY refuses', quote_literal(write('sniff_x.csv', 'a')), 'delimiter => ''abcdefghi''', ARRAY['ERROR 22023', 'delimiter must not be longer than 8 bytes']),
	('a key that is none', quote_literal(write('sniff_key.csv', E'a,b\n1,2\n')), 'timestamp_column => ''c''', ARRAY['ERROR 42703', 'timestamp_column "c" is not a column of the file']),
	('too many fields', quote_literal(write('sniff_wide.csv', convert_to(repeat('1,', 1650) || E'1\n' || repeat('1,', 1650) || E'1\n', 'UTF8'))), '', ARRAY['ERROR 54011', 'the records have 1651 fields']),
	('a program that fails', quote_literal('exit 3'), 'program => true', ARRAY['ERROR 38000', 'program "exit 3" failed'])) AS v (about, source, arguments, wanted);

-- What is put together from pieces at random, the same in each run: either what
-- is guessed can be loaded, or a comment says why not
CREATE FUNCTION piece(i int, n int) RETURNS text LANGUAGE sql AS $$
	SELECT (ARRAY['1','2','-5','3.5','1e5','NA','','\N','"',',',',',',',';','|',E'\t',E'\n',E'\n',E'\n',E'\n',E'\r\n','''','\','a','b c','2024-01-01',
		'2024-01-01 10:00:00','10:00','31/12/2020','{"a":1}','[','{','[[[[','é','€',E'\x01','NULL','1700000000','x''y','true','f','10.0.0.1','--',');','/*',':a',
		'99999999999999999999','0.1','inf','nan','-','.','e','1/1/1','12','"a,b"','""','2024-13-45','24:00:00','2024-01-01T00:00:00Z','xmin','select','0x1F','1_000',
		'Dec 1 2020','[10/Oct/2000:13:55:36 -0700]'])[('x' || substr(md5(i || ' ' || n), 1, 7))::bit(28)::int % 65 + 1] || CASE WHEN (i * 7 + n) % 3 = 0 THEN ',' ELSE '' END
$$;
SELECT is(string_agg(lines || ' -> ' || found || E'\n' || array_to_string(got, E'\n'), E'\n'), NULL, 'random files')
FROM (SELECT (SELECT string_agg(piece(i, n), '') FROM generate_series(1, i % 60 + 1) AS n) AS lines FROM generate_series(1, 300) AS i) AS f,
	LATERAL (SELECT sniffed(quote_literal(write('sniff_random.csv', convert_to(lines, 'UTF8'))), 'target => ''random''') AS got) AS s,
	LATERAL (SELECT loaded(got) AS found) AS l
WHERE got[1] LIKE 'ERROR %' AND got[1] <> 'ERROR 22P04'
	OR found ~ '^[0-9A-Z]{5} [a-z]' AND said(got) !~ 'another number|Lines do not|never closes|backslashes that|byte order mark';

-- Columns of values that some type changes, at random: what does not come out as it
-- came in, but for trailing zeros and exponents, is in a comment
CREATE FUNCTION odd_value(i int, n int) RETURNS text LANGUAGE sql AS $$
	WITH r AS (SELECT ('x' || substr(md5(i || '/' || n), 1, 7))::bit(28)::int AS a, ('x' || substr(md5(n || '/' || i), 1, 7))::bit(28)::int AS b)
	SELECT CASE i % 8 WHEN 0 THEN CASE WHEN a % 3 = 0 THEN '+' ELSE '' END || '49170' || b
		WHEN 1 THEN CASE WHEN a % 3 = 0 THEN '+' WHEN a % 3 = 1 THEN '-' ELSE '' END || b % 100 || CASE WHEN b % 2 = 0 THEN '.5' ELSE '' END
		WHEN 2 THEN '0.' || repeat(a::text, 1 + i % 3) || b WHEN 3 THEN b % 100 || 'E' || a % 20
		WHEN 4 THEN a % 5 || '.' || b % 100 || CASE WHEN a % 4 = 0 THEN '0' ELSE '' END
		WHEN 5 THEN '2024-01-0' || 1 + a % 9 || ' 10:00:00.' || substr(b || '00000' || a, 1, 2 + i % 9)
		WHEN 6 THEN a || '.' || b || 'e' || CASE WHEN a % 2 = 0 THEN '-' ELSE '' END || b % 9
		ELSE repeat('9', 14 + i % 5) || '.' || b % 100 END FROM r
$$;
CREATE FUNCTION usual(value text) RETURNS text LANGUAGE sql AS $$ SELECT CASE WHEN value ~ '^-?\d+(\.\d+)?(e[-+]?\d+)?$' THEN trim_scale(value::numeric)::text ELSE regexp_replace(value, '(\.\d*?)0+$', '\1') END $$;
SELECT is(string_agg(format('%s became %s: %s', old, new, array_to_string(got, E'\n')), E'\n'), NULL, 'what a type changes is said')
FROM generate_series(1, 160) AS i, LATERAL (SELECT array_agg(odd_value(i, n) ORDER BY n) AS olds FROM generate_series(1, i % 7 + 2) AS n) AS o,
	LATERAL (SELECT sniffed(quote_literal(write('sniff_change.csv', convert_to(E'n,v\n' || (SELECT string_agg(n || ',' || olds[n] || E'\n', '' ORDER BY n) FROM generate_series(1, cardinality(olds)) AS n), 'UTF8'))), 'target => ''changed''') AS got OFFSET 0) AS s,
	LATERAL (SELECT loaded(got, 'SELECT string_agg(v::text, ''|'' ORDER BY n) FROM %s') AS news OFFSET 0) AS l,
	LATERAL unnest(olds, string_to_array(news, '|')) AS v (old, new)
WHERE new IS NULL OR new IS DISTINCT FROM old AND usual(old) IS DISTINCT FROM usual(new)
	AND NOT EXISTS (SELECT FROM unnest(olds, string_to_array(news, '|')) AS w (old, new) WHERE old <> new AND strpos(said(got), format('"%s"', old)) > 0);

-- Lines of JSON at random: the table has what json_populate_record makes of them
CREATE FUNCTION odd_json(i int, n int) RETURNS text LANGUAGE sql AS $$
	WITH r AS (SELECT ('x' || substr(md5(i || ';' || n), 1, 7))::bit(28)::int AS a)
	SELECT (ARRAY['1', '-2.50', '1e3', 'true', 'false', 'null', '"x"', '"y z"', '"7"', '"a\"b,\nc\\"', '"\u00e4\ud83d\ude00"', '"2024-01-01"', '"2024-01-02T10:00:00Z"', '[1, "a,b", {"c": null}]', '{"k": [2]}', '{}', '" x "', '-0', '12345678901234567890', '"123e4567-e89b-12d3-a456-426614174000"'])[
		CASE WHEN i % 3 = 0 THEN 1 + a % 20 ELSE 1 + (i * 7 + a % 3 * (i % 2)) % 20 END] FROM r
$$;
SELECT is(string_agg(lines || ' -> ' || coalesce(found, 'NULL') || E'\n' || array_to_string(got, E'\n'), E'\n'), NULL, 'lines of JSON at random')
FROM generate_series(1, 90) AS i,
	LATERAL (SELECT string_agg(line, E'\n') AS lines, string_agg(line, ',' ORDER BY n) AS objects FROM generate_series(1, i % 5 + 1) AS n,
		LATERAL (SELECT '{' || string_agg(format('"%s": %s', (ARRAY['n', 'Key', 'k 2', 'at'])[c], odd_json(i * 11 + c, n)), ', ' ORDER BY (c * n) % 5) || format(', "nr": %s}', n) AS line
			FROM generate_series(1, 4) AS c WHERE (i + c * n) % 4 > 0) AS l) AS f,
	LATERAL (SELECT sniffed(quote_literal(write('sniff_objects.json', convert_to(lines, 'UTF8'))), 'target => ''objects''') AS got OFFSET 0) AS s,
	LATERAL (SELECT loaded(got, format('SELECT (SELECT string_agg(t::text, E''\\n'' ORDER BY nr) FROM %%s AS t) = (SELECT string_agg(json_populate_record(NULL::%%1$s, o)::text, E''\\n'' ORDER BY (o->>''nr'')::int) FROM json_array_elements(%L) AS o)', '[' || objects || ']')) AS found OFFSET 0) AS l
WHERE found IS DISTINCT FROM 'true' AND lines IS NOT NULL;
-- Many places: quotes with line ends that look like records
CREATE TABLE big AS SELECT n AS id, timestamp '2021-01-01' + n * interval '11 minutes' AS at,
	CASE n % 3 WHEN 0 THEN format(E'line "a"\n%s,2021-01-01 00:00:00,x,1\n', n) WHEN 1 THEN repeat('plain ', 20) END AS body, n % 7 AS n FROM generate_series(1, 90000) AS n;
SELECT format('COPY big TO %L (FORMAT csv, HEADER)', current_setting('test.dir') || '/sniff_big.csv') \gexec
SELECT sniffed(quote_literal(current_setting('test.dir') || '/sniff_big.csv'), 'target => ''big_loaded''') AS statements \gset
SELECT matches(said(:'statements'::text[]), ' at 64 places of 1 file: others may differ\.', 'many places of a large file are looked at');
SELECT unalike(said(:'statements'::text[]), '%another number%', 'and no line in quotes is taken for a record');
SELECT (:'statements'::text[])[1] AS create, (:'statements'::text[])[2] AS load \gset
:create
:load
SELECT is((SELECT count(*) FROM big_loaded), 90000::bigint, 'all rows are loaded');
SELECT is((SELECT count(*) FROM (SELECT * FROM big EXCEPT ALL SELECT * FROM big_loaded) AS s), 0::bigint, 'and are what was written');

-- The same with many empty lines, also where places begin
SELECT format('COPY (SELECT CASE WHEN body IS NULL THEN id || E'',x\n\n\n'' ELSE id || '',y'' || repeat(''z'', 150) END FROM big) TO PROGRAM %L', format('cd %s && sed ''s/\\n/\n/g'' >sniff_gaps.csv', replace(current_setting('test.dir'), '''', ''''''))) \gexec
SELECT sniffed(quote_literal(current_setting('test.dir') || '/sniff_gaps.csv'), 'target => ''gaps''') AS statements \gset
SELECT matches(said(:'statements'::text[]), ' at 64 places of 1 file: others may differ\.', 'a large file with empty lines');
SELECT unalike(said(:'statements'::text[]), '%another number%', 'empty lines are no records in a large file either');
SELECT (:'statements'::text[])[1] AS create, (:'statements'::text[])[2] AS load \gset
:create
:load
SELECT is((SELECT count(*) || ' ' || sum(column_1) FROM gaps), (SELECT count(*) || ' ' || sum(id) FROM big), 'and all rows are loaded');

-- Several files, packed files, patterns and programs
SELECT write('sniff_part_1.csv', E'at,n\n2024-01-01,1\n'::bytea), write('sniff_part_2.csv', E'at,n\n2024-01-02,2\n'::bytea) \g /dev/null
SELECT format('COPY (SELECT 1) TO PROGRAM %L', format('cd %s && gzip -c sniff_part_1.csv >sniff_packed.csv.gz && cat >/dev/null', current_setting('test.dir'))) \gexec
SELECT is(loaded(sniffed(format('%L', current_setting('test.dir') || '/sniff_part_*.csv'))), '(2024-01-01,1) (2024-01-02,2)', 'a pattern');
SELECT is(loaded(sniffed(format('ARRAY[%L, %L]', d || '/sniff_part_2.csv', d || '/sniff_packed.csv.gz'))), '(2024-01-01,1) (2024-01-02,2)', 'a list, of which one is packed') FROM current_setting('test.dir') AS d;
SELECT is(loaded(sniffed(format('ARRAY[%L, %L]', d || '/sniff_none.csv', d || '/sniff_part_2.csv'))), '(2024-01-02,2)', 'a list, of which the first is empty') FROM current_setting('test.dir') AS d;
SELECT alike((sniffed(format('%L', current_setting('test.dir') || '/sniff_packed.csv.gz')))[1], '%CREATE TABLE sniff_packed (%', 'the name is that of the file');
SELECT is(plain((sniffed(quote_literal(write('sniff_a.ndjson', E'{"n": 1}\n'::bytea))))[1]), 'CREATE TABLE sniff_a ( n bigint );', '... without its ending');
SELECT is(loaded(sniffed(format('%L', 'cat ' || current_setting('test.dir') || '/sniff_part_1.csv'), 'program => true')), '(2024-01-01,1)', 'a program');
SELECT alike(said(sniffed('''yes 1,x''', 'program => true')), '%: others may differ.%', 'a program is stopped when enough has come');
SELECT write('sniff_bars.txt', convert_to(E'Report of shops\nday\u00a6shop\u00a6amount\n2024-01-05\u00a6"a\u00a6b"\u00a612\n2024-01-06\u00a6"O''Brien ""5"""\u00a67\n2024-01-07\u00a6\u00a68\nTOTAL\u00a63\n', 'UTF8')) \g /dev/null
SELECT is(loaded(sniffed(format('%L', current_setting('test.dir') || '/sniff_bars.txt'))), E'(2024-01-05,a\u00a6b,12) (2024-01-06,"O''Brien ""5""",7) (2024-01-07,,8)', 'broken bars below a title');
SELECT write('sniff_other.csv', E'n,at\n3,2024-01-03\n'::bytea) \g /dev/null
SELECT alike(said(sniffed(format('ARRAY[%L, %L]', d || '/sniff_part_1.csv', d || '/sniff_other.csv'))), '%The files have different headers: each one is mapped by its own%', 'headers that differ are said') FROM current_setting('test.dir') AS d;
SELECT is(loaded(sniffed(format('ARRAY[%L, %L]', d || '/sniff_part_1.csv', d || '/sniff_other.csv'))), '(2024-01-01,1) (2024-01-03,3)', 'and mapped by itself') FROM current_setting('test.dir') AS d;

SELECT write('sniff_more.csv', E'v,n\n"x, y",4\n'::bytea) \g /dev/null
SELECT is(columns_of(got[1]) || ' ' || call_of(got[2]) || ' ' || loaded(got), 'at date, n bigint, v text header => ''map'' (,4,"x, y") (2024-01-01,1,) (2024-01-03,3,)', 'headers of three files')
FROM (SELECT sniffed(format('ARRAY[%L, %L, %L]', d || '/sniff_part_1.csv', d || '/sniff_other.csv', d || '/sniff_more.csv')) AS got FROM current_setting('test.dir') AS d) AS s;
-- Folders that name columns, as Hive has them
SELECT format('COPY (SELECT 1) TO PROGRAM %L', format('cd %s && mkdir -p -m 755 day=2024-01-01/Kind=a%%20b day=2024-01-02/Kind=__HIVE_DEFAULT_PARTITION__ && cat >/dev/null', current_setting('test.dir'))) \gexec
SELECT write('day=2024-01-01/Kind=a%20b/sniff_hive.csv', E'n,v\n1,x\n2,y\n'::bytea), write('day=2024-01-02/Kind=__HIVE_DEFAULT_PARTITION__/sniff_hive.csv', E'n,v\n3,z\n'::bytea),
	write('day=2024-01-01/Kind=a%20b/sniff_bare.txt', E'1;x\n2;y\n'::bytea), write('day=2024-01-02/Kind=__HIVE_DEFAULT_PARTITION__/sniff_bare.txt', E'3;z\n'::bytea),
	write('day=2024-01-01/Kind=a%20b/sniff_hive.json', E'{"n": 1}\n'::bytea), write('day=2024-01-02/Kind=__HIVE_DEFAULT_PARTITION__/sniff_hive.json', E'{"n": 2}\n'::bytea) \g /dev/null
CREATE TABLE there_hive (v text, n int);
SELECT is(CASE WHEN got[1] = '' THEN '' ELSE columns_of(got[1]) || ' ' END || call_of(got[2]) || ' ' || loaded(got), wanted, 'folders: ' || about)
FROM (VALUES ('a header', '/day=*/*/sniff_hive.csv', '', 'n bigint, v text, day date, kind text; day header => ''map'', transform => ''{"day": "$path.day", "kind": "$path.kind"}'' (1,x,2024-01-01,"a b") (2,y,2024-01-01,"a b") (3,z,2024-01-02,)'),
	('no header', '/day=*/*/sniff_bare.txt', '', 'column_1 bigint, column_2 text, day date, kind text; day columns => ARRAY[''column_1'', ''column_2''], delimiter => '';'', transform => ''{"day": "$path.day", "kind": "$path.kind"}'' (1,x,2024-01-01,"a b") (2,y,2024-01-01,"a b") (3,z,2024-01-02,)'),
	('JSON', '/day=*/*/sniff_hive.json', '', 'n bigint, day date, kind text; day format => ''json'', transform => ''{"day": "$path.day", "kind": "$path.kind"}'' (1,2024-01-01,"a b") (2,2024-01-02,)'),
	('one file', '/day=2024-01-01/*/sniff_hive.csv', '', 'n bigint, v text, day date, kind text; day header => ''map'', transform => ''{"day": "$path.day", "kind": "$path.kind"}'' (1,x,2024-01-01,"a b") (2,y,2024-01-01,"a b")'),
	('one file by its path', '/day=2024-01-01/Kind=a%20b/sniff_hive.csv', '', 'n bigint, v text header => true (1,x) (2,y)'),
	('a table that does not have them', '/day=*/*/sniff_hive.csv', ', target => ''there_hive''', 'header => ''map'' (x,1) (y,2) (z,3)'),
	('columns, said', '/day=*/*/sniff_bare.txt', ', columns => ''{n,v}''', 'n bigint, v text, day date, kind text; day columns => ARRAY[''n'', ''v''], delimiter => '';'', transform => ''{"day": "$path.day", "kind": "$path.kind"}'' (1,x,2024-01-01,"a b") (2,y,2024-01-01,"a b") (3,z,2024-01-02,)')) AS v (about, path, more, wanted),
	LATERAL (SELECT sniffed(quote_literal(current_setting('test.dir') || path) || more) AS got) AS s;
SELECT write('sniff_bare.csv', E'2024-01-04,4\n2024-01-05,5\n'::bytea) \g /dev/null
SELECT is(loaded(sniffed(format('ARRAY[%L, %L]', d || '/sniff_part_1.csv', d || '/sniff_bare.csv'))), '42703 column "2024-01-04" of the file is not a column of relation "sniff_part_1"', 'a file without a header is refused') FROM current_setting('test.dir') AS d;
SELECT write('sniff_titled.csv', E'made by: somebody\nat,n\n2024-01-06,6\n2024-01-07,7\n'::bytea) \g /dev/null
SELECT write('sniff_filled_1.csv', E'Report,,\nat,n,v\n2024-01-06,6,1\n'::bytea), write('sniff_filled_2.csv', E'Report 2,,\nat,n,v\n2024-01-07,7,1\n'::bytea), write('sniff_filled_3.csv', E'at,n,v\n2024-01-08,8,1\n'::bytea) \g /dev/null
SELECT is(loaded(sniffed(format('ARRAY[%L, %L]', d || '/sniff_filled_1.csv', d || '/sniff_filled_2.csv'))), '(2024-01-06,6,1) (2024-01-07,7,1)', 'titles that are filled up, of two files') FROM current_setting('test.dir') AS d;
SELECT is(counted(sniffed(format('ARRAY[%L, %L]', d || '/sniff_filled_1.csv', d || '/sniff_filled_3.csv'))), '5', 'and one that only the first file has') FROM current_setting('test.dir') AS d;
SELECT alike(loaded(sniffed(format('ARRAY[%L, %L]', d || '/sniff_titled.csv', d || '/sniff_part_1.csv'))), '22P04 missing data %', 'a title that one file has is not left out of all') FROM current_setting('test.dir') AS d;

SELECT alike(said(sniffed(quote_literal(write('sniff_short.csv', E'1,2\n3,4\n'::bytea)), 'columns => ''{a}''')),
	'%The records have 2 fields, and columns names 1: the load will end at the first record. Name them all.%', 'too few names in columns');
SELECT unalike(said(sniffed(quote_literal(current_setting('test.dir') || '/sniff_short.csv'), 'columns => ''{a,b}''')), '%Name them all%', '... or enough');

-- Who may read
CREATE ROLE sniffer;
GRANT USAGE ON SCHEMA public TO sniffer;
SET LOCAL ROLE sniffer;
SELECT is((sniffed(quote_literal(current_setting('test.dir') || '/sniff_part_1.csv')))[2], 'permission denied to COPY from a file', 'a file');
SELECT is((sniffed('''ls''', 'program => true'))[2], 'permission denied to COPY to or from an external program', 'a program');
RESET ROLE;
SELECT set_config('fast_copy.root_directory', current_setting('test.dir'), true) \g /dev/null
SET LOCAL ROLE sniffer;
SELECT alike((sniffed(quote_literal(current_setting('test.dir') || '/sniff_part_1.csv')))[1], '%CREATE TABLE sniff_part_1 (%', 'below root_directory');
RESET ROLE;

-- The extension's schema may not be in the path
SET LOCAL search_path = pg_catalog;
SELECT public.fast_copy_sniff(current_setting('test.dir') || '/sniff_part_1.csv') AS statement \gset
SET LOCAL search_path = public, pg_catalog;
SELECT alike(:'statement'::text, '%SELECT public.fast_copy(''sniff_part_1'',%', 'fast_copy is named with its schema');

SELECT * FROM finish();
ROLLBACK;
