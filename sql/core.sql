-- Loads that go through core's own COPY, with options core knows and others.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers
SET fast_copy.chunk_size = 8;

CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.a = 666 THEN
		RAISE EXCEPTION 'the number of the beast';
	END IF;
	new.seen := 'yes';
	RETURN new;
END
$$;
CREATE TABLE cor (a int CHECK (a <> 13), b text, c timestamptz, seen text DEFAULT 'no');
CREATE TRIGGER mark BEFORE INSERT ON cor FOR EACH ROW EXECUTE FUNCTION mark();
-- what COPY makes of the same file
CREATE FUNCTION fc.same(name text, args text, options text, columns text DEFAULT '')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	TRUNCATE cor;
	EXECUTE format('COPY cor %s FROM %L (FORMAT csv%s)', columns, fc.path(name), coalesce(', ' || nullif(options, ''), ''));
	CREATE TEMP TABLE copied AS TABLE cor;
	TRUNCATE cor;
	EXECUTE format('SELECT fast_copy(''cor'', %L%s)', fc.path(name), coalesce(', ' || nullif(args, ''), '')) INTO n;
	RETURN NEXT n || ' rows';
	RETURN QUERY SELECT 'COPY: ' || t FROM (TABLE copied EXCEPT ALL TABLE cor) AS t
		UNION ALL SELECT 'fast_copy: ' || t FROM (TABLE cor EXCEPT ALL TABLE copied) AS t;
	DROP TABLE copied;
END
$$;

-- Several header lines, in each style of line ends
SELECT fc.try('cor', fc.text('h.csv', E'x\ny\nz\n1,a,\n2,b,\n13,c,\n'), $$columns => '{a,b,c}', header => '3'$$, NULL);
SELECT fc.try('cor', fc.text('h.csv', E'x\ry\rz\r1,a,\r2,b,\rx,c,\r'), $$columns => '{a,b,c}', header => '3'$$, NULL);
SELECT fc.try('cor', fc.text('h.csv', E'x\r\n"y\r\n"\r\n1,"a\r\n",\r\n2,b,\r\nx,c,\r\n'), $$columns => '{a,b,c}', header => '2'$$, NULL);
SELECT fc.try('cor', fc.text('h.csv', E'x\ny\n'), $$columns => '{a,b,c}', header => '4'$$, NULL);
-- a row that begins with what would make another style of the header's end
SELECT fc.text('h.csv', E'x\ry\r\n,b,\r1,c,\r');
SELECT fc.try('cor', 'h.csv', $$columns => '{b,seen,c}', header => '2'$$, NULL);

-- time_zone is an option core has not: everything is cut here then, and is
-- what COPY makes of it
SELECT fc.file('v.csv', '1,one,2024-01-01', '2,,', '3,"",2024-06-01 00:00+05', '4,"a ""b"" c",', '5,"x
y",now', '6,\.,', '"7","\N",infinity', '8," ",2024-07-01 12:00:00.123456');
SELECT fc.same('v.csv', $$columns => '{a,b,c}', time_zone => 'UTC'$$, '', '(a, b, c)');
SELECT a, b, c FROM cor WHERE a <> 5 ORDER BY a;
SELECT fc.same('v.csv', $$columns => '{a,b,c}', time_zone => 'UTC', force_not_null => '{b}'$$, 'FORCE_NOT_NULL (b)', '(a, b, c)');
SELECT fc.same('v.csv', $$columns => '{a,b,c}', time_zone => 'UTC', force_null => '{b}', null_string => ' '$$, 'FORCE_NULL (b), NULL '' ''', '(a, b, c)')
FROM fc.file('v.csv', '1,one,2024-01-01', '2, ,2024-01-01', '3," ",2024-01-01');
SELECT fc.same(fc.text('v.csv', E'h\r\n1,"\r\n"\r\n2,"\n"\r\n'), $$columns => '{a,b}', time_zone => 'UTC', header => 'true'$$, 'HEADER', '(a, b)');
SELECT fc.same(fc.text('v.csv', E'1,"\r"\r2,x\r'), $$columns => '{a,b}', time_zone => 'UTC'$$, '', '(a, b)');
SELECT fc.same(fc.text('v.csv', E'1;''a\\''b''\n2;''\\\\''\n'), $$columns => '{a,b}', time_zone => 'UTC', delimiter => ';', quote => '''', escape => '\'$$, 'DELIMITER '';'', QUOTE '''''''', ESCAPE ''\''', '(a, b)');
SELECT fc.same(fc.bytes('v.csv', convert_to(E'1,\u00e4\n2,\u00f6\n', 'LATIN1')), $$columns => '{a,b}', time_zone => 'UTC', encoding => 'LATIN1'$$, 'ENCODING ''LATIN1''', '(a, b)');
SELECT fc.same(fc.bytes('v.csv', convert_to(E'1,\u8868\n2,"\u8868"\n', 'SJIS')), $$columns => '{a,b}', time_zone => 'UTC', encoding => 'SJIS'$$, 'ENCODING ''SJIS''', '(a, b)');
-- records that core cannot read at once
SELECT fc.same(fc.text('v.csv', (SELECT string_agg(i || ',"' || repeat('"",' || i || E'\n', 10000 * i) || '"', E'\n') FROM generate_series(1, 5) AS i)), $$columns => '{a,b}', time_zone => 'UTC'$$, '', '(a, b)');
SELECT count(DISTINCT md5(b)) FROM cor;
SELECT fc.same(fc.text('v.csv', ''), $$time_zone => 'UTC'$$, '');

-- ... its errors as well
SELECT fc.try('cor', fc.text('e.csv', E'2c2"\r\n\\.\n'), $$columns => '{a}', header => 'match', time_zone => 'UTC'$$, 'HEADER match', '(a)');
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '2,b,,,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '2,b'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', 'x,b,,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '2,b,tomorow,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '2,"b', ',,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.text('e.csv', E'1,"a\n",,\n2,b\r,,\n'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.text('e.csv', E'1,"a\r",,\r2,b\n,,\r'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.bytes('e.csv', '1,"\012",,\0122,\344,,\0123,,,\012'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.bytes('e.csv', '1,"\012",,\0122,\201,,\012'), $$time_zone => 'UTC', encoding => 'WIN1252'$$, $$ENCODING 'WIN1252'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '13,"b', '",,', '13,c,,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '666,"b"', '3,b,,'), $$time_zone => 'UTC', columns => '{a,b,c,seen}'$$, '', '(a, b, c, seen)');
SELECT fc.try('cor', fc.file('e.csv', '1,"a', '",,', '666,"b",,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,' || repeat('x', 200) || ',,', '13,' || repeat('y', 200) || ',,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,a,,', '2,b,,', '3,c,,'), $$time_zone => 'UTC', where_clause => '10 / (a - 3) < 0'$$, NULL);
SELECT fc.try('cor', fc.bytes('e.csv', '1,a,,\0122,b,,\346\012'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.bytes('e.csv', '1,a,,\0122,b\341\341,,\012'), $$time_zone => 'UTC', encoding => 'EUC_JP'$$, $$ENCODING 'EUC_JP'$$);
-- of several faults in a row, the first as COPY converts it
SELECT fc.try('cor', fc.file('e.csv', '1,a,,', 'x,b,tomorow,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,a,,', 'x,b'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,a,,', 'x,b,tomorow,,'), $$time_zone => 'UTC'$$);
SELECT fc.try('cor', fc.file('e.csv', '1,a,now,', '2,b,,'), $$time_zone => 'UTC', force_not_null => '{c}'$$, 'FORCE_NOT_NULL (c)');
-- in whatever phase it is met
CREATE TABLE par (LIKE cor INCLUDING ALL) PARTITION BY RANGE (a);
CREATE TRIGGER mark BEFORE INSERT ON par FOR EACH ROW EXECUTE FUNCTION mark();
CREATE TABLE par_0 PARTITION OF par DEFAULT;
SELECT fc.try('par', fc.file('e.csv', '1,a,,', '13,b,,', '3,c,,', 'x,d,,'), $$partition_interval => '10', where_clause => '10 / (a - 3) < 9'$$, NULL);
SELECT fc.try('par', fc.file('e.csv', '1,a,,', '3,c,,', '13,b,,', 'x,d,,'), $$partition_interval => '10', where_clause => '10 / (a - 3) < 9'$$, NULL);
DROP TABLE par;
-- a file that cannot be converted as a whole: rows before the bad character
-- find their partitions
CREATE TABLE par (LIKE cor INCLUDING ALL) PARTITION BY RANGE (a);
SELECT fc.try('par', fc.bytes('e.csv', '1,a,,\01212,b,,\01213,c,,\01221,\201,,\012'), $$encoding => 'SJIS', partition_interval => '10'$$, NULL);
SELECT fc.try('par', fc.bytes('e.csv', 'h\0121,a,,\01212,b,,\01221,\201,,\012'), $$encoding => 'SJIS', header => 'true', partition_interval => '10'$$, NULL);
SELECT fc.try('par', fc.bytes('e.csv', 'h\012h\0121,a,,\01212,b,,\01221,\201,,\012'), $$encoding => 'SJIS', header => '2', partition_interval => '10'$$, NULL);
DROP TABLE par;

-- times are read in the zone, and shown in the session's
TRUNCATE cor;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'SQL, DMY';
SELECT fast_copy('cor', fc.path(fc.file('z.csv', '1,a,01/02/2024 10:00', '2,b,01/02/2024 10:00 UTC', '3,c,0001-01-01 00:00 BC', '4,d,-infinity')), columns => '{a,b,c}', time_zone => 'Europe/Berlin');
SELECT a, c AT TIME ZONE 'Europe/Berlin' FROM cor ORDER BY a;
SET datestyle = 'ISO, MDY';
SET timezone = 'UTC';
-- patterns
TRUNCATE cor;
SELECT fast_copy('cor', fc.path(fc.file('p.csv', '1,a,1.2.24 10h', '2,b,', '3,c,3.2.24 5h')), columns => '{a,b,c}', timestamp_format => '{"c": "FMDD.FMMM.YY FMHH24\"h\""}');
SELECT a, c FROM cor ORDER BY a;
SELECT fc.try('cor', fc.file('p.csv', '1,"a', '",1.2.24 10h', '2,b,1.2.2024'), $$columns => '{a,b,c}', timestamp_format => '{"c": "FMDD.FMMM.YY FMHH24\"h\""}'$$, NULL);
-- the file's header says which columns it has
TRUNCATE cor;
SELECT fast_copy('cor', fc.path(fc.file('m.csv', 'c,x,b,y,a', '2024-01-01,"x', '",b1,,1', ',,,,2')), header => 'map', ignore_extra_columns => true);
SELECT * FROM cor ORDER BY a;
SELECT fc.try('cor', fc.file('m.csv', 'c,x,b,y,a', '2024-01-01,"x', '",b1,,1', ',x,,y,z'), $$header => 'map', ignore_extra_columns => true$$, NULL);
SELECT fc.try('cor', fc.file('m.csv', 'c,x,b,y,a', '2024-01-01,"x', '",b1,,1', ',x,,y'), $$header => 'map', ignore_extra_columns => true$$, NULL);
SELECT fc.try('cor', fc.file('m.csv', 'c,a,x,y', '2024-01-01,1,"x', '",', ',2'), $$header => 'map', ignore_extra_columns => true$$, NULL);
SELECT fc.try('cor', fc.file('m.csv', 'c,x,b,y,a', '2024-01-01,"x', '",b1,,1', ',x,,y,13'), $$header => 'map', ignore_extra_columns => true$$, NULL);
-- text format
SELECT fc.try('cor', fc.text('t.txt', E'1\ta\\tb\t\\N\t\\N\n2\t\\\\N\t2024-01-01\tx\n\\.\n'), $$format => 'text', time_zone => 'UTC'$$, NULL);
SELECT fc.try('cor', fc.text('t.txt', E'1\ta\\tb\t\\N\t\\N\n2\ta\\\nb\t\\N\t\\N\nx\t\\\\N\t2024-01-01\tx\n'), $$format => 'text', time_zone => 'UTC'$$, NULL);

-- fields that stand for a default, evaluated once each
CREATE SEQUENCE cor_s;
CREATE TABLE def (a int DEFAULT nextval('cor_s'), b text DEFAULT 'it''s "x", y', c timestamptz DEFAULT '2024-01-01', d text, seen text);
CREATE TRIGGER mark BEFORE INSERT ON def FOR EACH ROW EXECUTE FUNCTION mark();
SELECT fast_copy('def', fc.path(fc.file('d.csv', '\D,\D,\D,x', '\D,"\D",,', '5,,\D,')), columns => '{a,b,c,d}', default_string => '\D');
SELECT * FROM def ORDER BY a;
SELECT fc.try('def', fc.file('d.csv', '\D,\D,\D,x', '\D,\D,\D,\D'), $$columns => '{a,b,c,d}', default_string => '\D'$$, NULL);
ALTER TABLE def ALTER b SET DEFAULT (1 / (random() * 0)::int)::text;
SELECT fc.try('def', fc.file('d.csv', '1,b,,x', '2,DEF,,x'), $$columns => '{a,b,c,d}', default_string => 'DEF'$$, NULL);
SELECT last_value < 100 FROM cor_s;
DROP TABLE def;

-- numbers of a sequence are taken by core, row by row
CREATE TABLE num (a serial, b text);
CREATE FUNCTION fc.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER num AFTER INSERT ON num FOR EACH ROW EXECUTE FUNCTION fc.nothing();
SELECT fast_copy('num', fc.path(fc.file('d.csv', 'x', 'y')), columns => '{b}', time_zone => 'UTC');
SELECT fast_copy('num', fc.path(fc.file('d.csv', '7,x', '\D,y')), default_string => '\D');
SELECT * FROM num ORDER BY b, a;
DROP TABLE num;

-- A condition with an effect is evaluated once for each row, although the
-- partitions are found before
CREATE SEQUENCE seen_s;
CREATE TABLE par (a int, b text, c timestamptz, seen text) PARTITION BY RANGE (a);
CREATE TRIGGER mark BEFORE INSERT ON par FOR EACH ROW EXECUTE FUNCTION mark();
SELECT fc.file('w.csv', '1,a,,', '11,b,,', '21,c,,', '12,d,,');
SELECT fast_copy('par', fc.path('w.csv'), partition_interval => '10', where_clause => 'nextval(''seen_s'') % 2 = 0');
SELECT last_value, (SELECT array_agg(a ORDER BY a) FROM par) FROM seen_s;
TRUNCATE par;
SELECT fast_copy('par', fc.path('w.csv'), where_clause => 'a < 15');
SELECT array_agg(a ORDER BY a) FROM par;
DROP TABLE par;
-- ... and where only a partition has the trigger
CREATE TABLE par (a int, b text, c timestamptz, seen text) PARTITION BY RANGE (a);
CREATE TABLE par_0 PARTITION OF par FOR VALUES FROM (0) TO (10);
CREATE TRIGGER mark BEFORE INSERT ON par_0 FOR EACH ROW EXECUTE FUNCTION mark();
SELECT setval('seen_s', 10);
SELECT fast_copy('par', fc.path('w.csv'), partition_interval => '10', where_clause => 'nextval(''seen_s'') % 2 = 0');
SELECT last_value, (SELECT array_agg(a ORDER BY a) FROM par) FROM seen_s;
DROP TABLE par;

-- Tolerated faults
SET client_min_messages = notice;
TRUNCATE cor;
SELECT fast_copy('cor', fc.path(fc.file('r.csv', '1,a,,', 'x,"b', '",,', '3,c,never,', '4,d', '5,e,,,')), on_error => 'ignore', on_error_classes => '{conversion,missing_columns,extra_columns}', log_verbosity => 'verbose');
SELECT fast_copy('cor', fc.path('r.csv'), on_error => 'set_null', on_error_classes => '{conversion,missing_columns,extra_columns}');
SELECT * FROM cor ORDER BY a, b;
SET client_min_messages = warning;
SELECT fc.try('cor', 'r.csv', $$on_error => 'ignore'$$, NULL);
SELECT fc.try('cor', 'r.csv', $$on_error => 'ignore', on_error_classes => '{conversion,missing_columns,extra_columns}', reject_limit => 2$$, NULL);
SELECT fc.try('cor', 'r.csv', $$on_error => 'ignore', on_error_classes => '{conversion,missing_columns,extra_columns}', reject_limit => 4$$, NULL);
SELECT fc.try('cor', 'r.csv', $$on_error => 'ignore', on_error_classes => '{conversion,check}'$$, NULL);
SELECT fast_copy_create_reject_table('rejected');
SELECT fast_copy('cor', fc.path('r.csv'), on_error => 'ignore', on_error_classes => '{conversion,missing_columns,extra_columns}', reject_table => 'rejected');
SELECT lineno, byte_offset, colname, line, raw_field_value, errorcode, err_message FROM rejected ORDER BY lineno;
DROP TABLE rejected;
-- with partitions to be made, and faults in the key
CREATE TABLE par (LIKE cor) PARTITION BY RANGE (a);
CREATE TRIGGER mark BEFORE INSERT ON par FOR EACH ROW EXECUTE FUNCTION mark();
SELECT fast_copy('par', fc.path(fc.file('k.csv', '1,a,,', 'x,b,,', '30,c,never,', '40,d,,')), partition_interval => '10', on_error => 'ignore');
SELECT * FROM par ORDER BY a;
SELECT fc.try('par', 'k.csv', $$partition_interval => '10', on_error => 'ignore', reject_limit => 1$$, NULL);
DROP TABLE par;

-- A trigger that loads, and one that catches the error of a load
CREATE TABLE inn (a int, b text, c timestamptz, seen text);
CREATE TRIGGER mark BEFORE INSERT ON inn FOR EACH ROW EXECUTE FUNCTION mark();
CREATE FUNCTION nest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		PERFORM fast_copy('inn', fc.path('n' || new.a || '.csv'), time_zone => 'Asia/Tokyo');
	EXCEPTION WHEN data_exception THEN
		new.b := sqlerrm;
	END;
	RETURN new;
END
$$;
CREATE TRIGGER nest BEFORE INSERT ON cor FOR EACH ROW EXECUTE FUNCTION nest();
SELECT fc.file('n1.csv', '10,x,2024-01-01,', '11,y,,'), fc.file('n2.csv', '20,x,,', 'z,y,,'), fc.file('n3.csv', '30,x,,');
TRUNCATE cor;
SELECT fast_copy('cor', fc.path(fc.file('o.csv', '1,a,2024-01-01,', '2,b,,', '3,c,2024-01-01,')), time_zone => 'Europe/Berlin');
SELECT a, b, c FROM cor ORDER BY a;
SELECT a, c FROM inn ORDER BY a;
SELECT fc.try('cor', fc.file('o.csv', '1,a,,', '2,b,,', '13,d,,'), $$time_zone => 'UTC', workers => 0$$, NULL)
FROM fc.file('n13.csv', '1,,,');
DROP TABLE cor, inn;
DROP SEQUENCE cor_s, seen_s;
DROP FUNCTION mark, nest;

-- a last line that core before 18 takes for the end of the data is not dropped
CREATE TABLE last (v text);
CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER pass BEFORE INSERT ON last FOR EACH ROW EXECUTE FUNCTION pass();
SELECT ascii(eol), (fc.outcome(format('SELECT fast_copy(%L, %L)', 'last', fc.path(fc.text('last.csv', 'a' || eol || '\.' || eol)))))[1] ~ '^ok, 2 rows|^22P04: end-of-copy marker before the end of file' AS told
FROM unnest(ARRAY[E'\n', E'\r\n', E'\r']) AS eol;
-- text: a first row that ends with a marker does not show core before 18 how lines end
SELECT (fc.outcome(format('SELECT fast_copy(%L, %L, format => ''text'', on_error => ''ignore'', workers => 0)', 'last', fc.path(fc.text('last.txt', E'a\\.\r\nb\r\n')))))[1] ~ '^0A000: cannot tell how the lines of the file end|^22P04: ' AS told;
DROP TABLE last;
DROP FUNCTION pass;

-- What a refused record of the other ways is shown as
CREATE TABLE oth (a int, b int DEFAULT 5, c text);
SELECT fc.try('oth', fc.file('x.csv', 'a,x,c', '1,x,c', '3,x,c'), $$header => 'map', ignore_extra_columns => true, where_clause => '10/(a-3) > -9'$$, NULL);
SELECT fc.try('oth', fc.file('x.csv', '1,2,3', '2,\D,3', '3,\D,\D'), $$default_string => '\D'$$, NULL);
SELECT fc.try('oth', fc.file('x.csv', '1,2,3', '2,\D,3', '3,x,\D'), $$default_string => '\D'$$, NULL);
-- a record that core before 18 takes for the end of the data
SELECT fc.try('oth', fc.file('x.csv', '1', '\.', '2'), $$columns => '{a}'$$, NULL);
ALTER TABLE oth ALTER b SET DEFAULT (1 / (random() * 0)::int);
SELECT fc.try('oth', fc.file('x.csv', '1,2,3', '2,\D,3'), $$default_string => '\D'$$, NULL);
SELECT fc.try('oth', fc.file('x.csv', '1,3', '2,3'), $$columns => '{a,c}'$$, '', '(a, c)');
SELECT fc.try('oth', fc.file('x.csv', 'x,2,3', '2,5'), $$on_error => 'set_null'$$, NULL);
DROP TABLE oth;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
