-- Values that are written otherwise: null_strings, trim, number_format, and
-- skip_empty_lines.
--
-- COPY is the referee: it reads the file with the quotes as they stand, as
-- texts, and SQL makes of them what the options say.

\set name edits
-- in a database whose characters are one byte each
SELECT current_database() AS here, 'fc_edits_latin1' AS latin1 \gset
CREATE DATABASE :latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
\c :latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION fast_copy;
CREATE TABLE single (n numeric, i int);
\set latin :tmp_dir '/fc_edits_latin1.csv'
SELECT lo_from_bytea(0, '\x2231203233342c35222c310a2231a03233342c35222c320a223120323334222c330a') AS lob \gset
SELECT lo_export(:lob, :'latin') \g /dev/null
SELECT fast_copy('single', :'latin', encoding => 'LATIN1', on_error => 'ignore', log_verbosity => 'silent', number_format => '1 234,56') \g /dev/null
SELECT string_agg(concat_ws(' ', i, n), ', ' ORDER BY i) AS single FROM single \gset
\c :here
-- its last session may still be ending
DROP DATABASE :latin1 WITH (FORCE);
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT * FROM no_plan();

-- One of these values
CREATE FUNCTION pg_temp.one(VARIADIC among text[]) RETURNS text LANGUAGE sql VOLATILE AS $$SELECT among[1 + floor(random() * array_length(among, 1))::int]$$;

-- The field, with blanks and quotes around it as "blanks" allows
CREATE FUNCTION pg_temp.field(value text, blanks text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	quoted bool := value LIKE '%,%' OR random() < 0.2;
	spaced text := pg_temp.one('', '', ' ', E'\t ') || value || pg_temp.one('', '', '  ', E' \t');
BEGIN
	IF blanks = 'all' OR (blanks = 'unquoted' AND NOT quoted) THEN
		value := spaced;
	END IF;
	RETURN CASE WHEN quoted THEN '"' || value || '"' ELSE value END;
END
$$;

-- Rows of moment, number, amount, domain, double, text and their file
CREATE DOMAIN positive AS numeric CHECK (value >= 0);
CREATE TABLE raw (n int, line text[]);
CREATE FUNCTION pg_temp.generate(rows int, blanks text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE raw;
	INSERT INTO raw SELECT n, ARRAY[
		pg_temp.field((timestamp '2024-01-01' + n % 97 * interval '1 hour' + n * interval '1 second')::text, blanks),
		pg_temp.field(n::text, blanks),
		CASE WHEN random() < 0.2 THEN pg_temp.one('n/a', '-', '', '?') ELSE pg_temp.field(pg_temp.one('1.234,5', '12.345.678', '-7', '0,25', '+1.000,', ',5', '1,5e3', 'NaN'), blanks) END,
		CASE WHEN random() < 0.2 THEN pg_temp.one('n/a', '-') ELSE pg_temp.field(pg_temp.one('1.234,5', '12345', '0', '999.999,99'), blanks) END,
		CASE WHEN random() < 0.1 THEN '-' ELSE pg_temp.field(pg_temp.one('1.234,5', '-0,25', 'Infinity', '-1,5E-3', '1.000.000'), blanks) END,
		pg_temp.field(pg_temp.one('', 'n/a', '-', 'a word', '1.234,5', 'ö', 'N/A', 'x,y'), blanks)]
		FROM generate_series(1, rows) AS n;
	PERFORM pg_temp.write((SELECT array_agg(array_to_string(line, ',') ORDER BY n) FROM raw));
END
$$;

-- What trim and null_strings make of a field
CREATE FUNCTION pg_temp.edited(field text, cut text, words text[], force bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	quoted bool := field LIKE '%"%';
	value text := replace(field, '"', '');
BEGIN
	IF value = '' AND (force OR NOT quoted) THEN
		RETURN NULL;
	END IF;
	IF cut = 'all' OR (cut = 'unquoted' AND NOT quoted) THEN
		value := btrim(value, E' \t');
	END IF;
	RETURN CASE WHEN (force OR NOT quoted) AND value = ANY (words) THEN NULL ELSE value END;
END
$$;
CREATE FUNCTION pg_temp.number(value text) RETURNS text LANGUAGE sql AS $$SELECT replace(replace(value, '.', ''), ',', '.')$$;

CREATE TABLE expected (ts timestamp, n int, amount numeric, plus positive, x float8, name text);
CREATE FUNCTION pg_temp.expect(cut text, words text[], force bool DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE expected;
	INSERT INTO expected SELECT pg_temp.edited(line[1], cut, words)::timestamp, pg_temp.edited(line[2], cut, words)::int,
		pg_temp.number(pg_temp.edited(line[3], cut, words))::numeric, pg_temp.number(pg_temp.edited(line[4], cut, words))::positive,
		pg_temp.number(pg_temp.edited(line[5], cut, words))::float8, pg_temp.edited(line[6], cut, words, force) FROM raw;
END
$$;

CREATE TABLE parts (LIKE expected) PARTITION BY RANGE (ts);
CREATE TABLE plain (LIKE expected);
CREATE TABLE fires (LIKE expected);
CREATE TABLE hashed (LIKE expected) PARTITION BY HASH (n);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();

-- Loads the file and returns how many rows are not as expected
CREATE FUNCTION pg_temp.wrong(target regclass, options jsonb, source text[] DEFAULT ARRAY[current_setting('fc.file')]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
	loaded bigint;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	loaded := fast_copy(target, source, options => options);
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE %1$s)) AS d', target) INTO rows;
	RETURN format('%s of %s wrong', rows, loaded);
END
$$;

SELECT setseed(0.25) \g /dev/null
SELECT pg_temp.generate(4000, 'none'), pg_temp.expect('none', '{n/a,-,?}') \g /dev/null
SELECT is(pg_temp.wrong(target, format('{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "workers": %s}', workers)::jsonb),
	'0 of 4000 wrong', format('words and numbers, %s, %s workers', target, workers))
	FROM unnest('{parts,plain,fires,hashed}'::regclass[]) AS target, unnest('{0,1,2,4}'::int[]) AS workers;
SELECT is(pg_temp.wrong('parts', '{"null_strings": {"amount": ["n/a", "-", "?"], "plus": ["n/a", "-"], "x": "-", "name": ["n/a", "-"]}, "number_format": "1.234,56"}'), '0 of 4000 wrong', 'words of columns');
SELECT is(pg_temp.wrong('plain', '{"null_strings": "[\"n/a\", \"-\", \"?\"]", "number_format": "1.234,56", "order_by": ["name", "n"]}'), '0 of 4000 wrong', 'JSON in a string, and an order');
SELECT is(pg_temp.wrong('parts', '{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "on_error": "ignore"}'), '0 of 4000 wrong', 'with on_error');
SELECT is(pg_temp.wrong('fires', '{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "on_error": "set_null"}'), '0 of 4000 wrong', 'with set_null in core''s way');
SELECT pg_temp.expect('none', '{n/a,-,?}', true) \g /dev/null
SELECT is(pg_temp.wrong(target, '{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "force_null": ["name"]}'), '0 of 4000 wrong', format('in quotes with force_null, %s', target))
	FROM unnest('{parts,fires}'::regclass[]) AS target;

SELECT pg_temp.generate(4000, 'unquoted'), pg_temp.expect('unquoted', '{n/a,-,?}') \g /dev/null
SELECT is(pg_temp.wrong(target, format('{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "trim_blanks": "unquoted", "workers": %s}', workers)::jsonb),
	'0 of 4000 wrong', format('with blanks, trim unquoted, %s, %s workers', target, workers))
	FROM unnest('{parts,plain,fires,hashed}'::regclass[]) AS target, unnest('{0,2,4}'::int[]) AS workers;
SELECT pg_temp.generate(4000, 'all'), pg_temp.expect('all', '{n/a,-,?}') \g /dev/null
SELECT is(pg_temp.wrong(target, format('{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "trim_blanks": "all", "workers": %s}', workers)::jsonb),
	'0 of 4000 wrong', format('with blanks, trim all, %s, %s workers', target, workers))
	FROM unnest('{parts,plain,fires,hashed}'::regclass[]) AS target, unnest('{0,2,4}'::int[]) AS workers;

-- several files, packed, by a program
SELECT pg_temp.generate(3000, 'all'), pg_temp.expect('all', '{n/a,-,?}') \g /dev/null
INSERT INTO expected TABLE expected;
SELECT pg_temp.shell(format('gzip -c %1$s >%1$s.gz', :'file')) \g /dev/null
SELECT is(pg_temp.wrong(target, '{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "trim_blanks": "all"}', ARRAY[:'file', :'file' || '.gz']),
	'0 of 6000 wrong', format('two files, one packed, %s', target)) FROM unnest('{parts,plain,fires}'::regclass[]) AS target;
SELECT is(pg_temp.wrong(target, '{"null_strings": ["n/a", "-", "?"], "number_format": "1.234,56", "trim_blanks": "all", "program": true}', ARRAY[format('cat %1$s %1$s', :'file')]),
	'0 of 6000 wrong', format('of a program, %s', target)) FROM unnest('{parts,plain,fires}'::regclass[]) AS target;

-- rows, as they are shown
CREATE TABLE shown (id int DEFAULT 7, k timestamptz, v numeric, t text);
CREATE FUNCTION pg_temp.rows(lines text[], options jsonb, target regclass DEFAULT 'shown') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	PERFORM pg_temp.write(lines);
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, current_setting('fc.file'), options => options);
	EXECUTE format('SELECT string_agg(s::text, '' '' ORDER BY s::text) FROM %s AS s', target) INTO rows;
	RETURN rows;
END
$$;
SELECT is(pg_temp.rows('{"1,2024-01-01, 5 ,\" \"","2,2024-01-01,5,  ","3,2024-01-01,5,","4,2024-01-01,5,\"\""}', '{"trim_blanks": "all"}'),
	'(1,"2024-01-01 00:00:00+00",5,"") (2,"2024-01-01 00:00:00+00",5,"") (3,"2024-01-01 00:00:00+00",5,) (4,"2024-01-01 00:00:00+00",5,"")',
	'what becomes empty is no NULL');
SELECT is(pg_temp.rows('{"1,2024-01-01, 5 ,\" \"","2,2024-01-01,5,  ","3,2024-01-01,5,","4,2024-01-01,5,\"\""}', '{"trim_blanks": "all", "null_strings": ""}'),
	'(1,"2024-01-01 00:00:00+00",5,"") (2,"2024-01-01 00:00:00+00",5,) (3,"2024-01-01 00:00:00+00",5,) (4,"2024-01-01 00:00:00+00",5,"")',
	'unless an empty word is NULL, where it has no quotes');
SELECT is(pg_temp.rows('{"1,2024-01-01,-999,x","2,2024-01-01,-999.0,true"}', '{"null_strings": {"v": [-999], "t": "true"}}'),
	'(1,"2024-01-01 00:00:00+00",,x) (2,"2024-01-01 00:00:00+00",-999.0,)', 'a number as a word');
SELECT is(pg_temp.rows('{"t, v ,extra,k","a, n/a,1,2024-01-01","b,1.5,1, \"2024-01-02\" "}', '{"trim_blanks": "unquoted", "null_strings": ["n/a"], "header": true, "columns": ["t", "v", "id", "k"], "time_zone": "Europe/Rome"}'),
	'(1,"2023-12-31 23:00:00+00",,a) (1,"2024-01-01 23:00:00+00",1.5,b)', 'with a time zone');
SELECT is(pg_temp.rows('{"t,v,extra,k","a,1,1,01.02.2024","b,-,1,-"}', '{"null_strings": ["-"], "header": "map", "ignore_extra_columns": true, "timestamp_format": "{\"k\": \"DD.MM.YYYY\"}"}'),
	'(7,"2024-02-01 00:00:00+00",1,a) (7,,,b)', 'with a map, a default and a pattern');
SELECT is(pg_temp.rows(ARRAY[E'1\t2024-01-01\t 1\t\\tx\\\\ ', E'2\t -\t\\N\t-\\x20'], '{"format": "text", "trim_blanks": "unquoted", "null_strings": ["-"]}'),
	E'(1,"2024-01-01 00:00:00+00",1,"x\\\\") (2,,,)', 'text format');
SELECT is(pg_temp.rows('{"1,2024-01-01,-,d","=,2024-01-01,-,x"}', '{"null_strings": ["-"], "default_string": "="}'),
	'(1,"2024-01-01 00:00:00+00",,d) (7,"2024-01-01 00:00:00+00",,x)', 'with defaults');
SELECT is(pg_temp.rows('{"1,2024-01-01,\"1.000,5\",-","2,2024-01-01,3,x"}', '{"null_strings": ["-"], "number_format": "1.234,56", "where_clause": "t IS NULL AND v > 1000"}'),
	'(1,"2024-01-01 00:00:00+00",1000.5,)', 'with a condition');
SELECT is(pg_temp.rows('{"1,2024-01-01,1,","2,2024-01-01,1,n/a"}', '{"null_strings": ["n/a"], "force_not_null": ["t"]}'),
	'(1,"2024-01-01 00:00:00+00",1,"") (2,"2024-01-01 00:00:00+00",1,)', 'force_not_null is about null_string alone');
TRUNCATE shown;
LOAD 'fast_copy';
COPY shown FROM STDIN WITH (fast_copy, FORMAT csv, trim_blanks unquoted, null_strings ('n/a', '-'), number_format '1 234,5');
1,2024-01-01, "1 000,5", n/a
2, - ,12 345 , x
\.
SELECT is(string_agg(s::text, ' ' ORDER BY id), '(1,"2024-01-01 00:00:00+00",1000.5,) (2,,12345,x)', 'COPY FROM STDIN') FROM shown AS s;

-- numbers
CREATE TABLE numbers (i int, b bigint, s smallint, n numeric, f float4, d float8);
CREATE FUNCTION pg_temp.number(format text, value text, columns text DEFAULT 'n') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	number text;
BEGIN
	PERFORM pg_temp.write(ARRAY[format('"%s"', value)]);
	TRUNCATE numbers;
	PERFORM fast_copy('numbers', current_setting('fc.file'), columns => ARRAY[columns]::name[], options => jsonb_build_object('number_format', format));
	EXECUTE format('SELECT %I::text FROM numbers', columns) INTO number;
	RETURN number;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT is(pg_temp.number(format, value), number, format('%s in %s', value, format)) FROM (VALUES
	('1.234,56', '1.234,56', '1234.56'), ('1.234,56', '-1.234.567,8', '-1234567.8'), ('1.234,56', '1234,5', '1234.5'), ('1.234,56', ' 999 ', '999'),
	('1.234,56', '+0,5', '0.5'), ('1.234,56', ',5', '0.5'), ('1.234,56', '5,', '5'), ('1.234,56', '1.000e3', '1000000'), ('1.234,56', '1,5E-2', '0.015'),
	('1.234,56', 'NaN', 'NaN'), ('1.234,56', '-Infinity', '-Infinity'), ('1.234,56', '1.000', '1000'), ('1.234,56', '  1.000,5' || chr(9), '1000.5'),
	('1,234.56', '1,234.56', '1234.56'), ('1,234.56', '1234.5', '1234.5'), ('1,234.56', '1,000', '1000'),
	('1 234,56', '1 234 567,5', '1234567.5'), ('1 234,56', ' 12,5', '12.5'), ('1''234.56', '-1''234.5', '-1234.5'),
	('1234,56', '1234,56', '1234.56'), ('1234.56', '1234.56', '1234.56'), ('1.234.567,8', '1.234,5', '1234.5')) AS n (format, value, number);
SELECT is(pg_temp.number(format, value), format('22P02 invalid input syntax for type numeric: "%s"', value), format('%s is not in %s', value, format)) FROM (VALUES
	('1.234,56', '12.34'), ('1.234,56', '1.2345'), ('1.234,56', '1234.567'), ('1.234,56', '.123'), ('1.234,56', '1.234.5'), ('1.234,56', '1..234'),
	('1.234,56', '1,234,5'), ('1.234,56', '1,5.000'), ('1.234,56', '1.234,5x'), ('1.234,56', '1,5e'), ('1.234,56', '1.234-'), ('1.234,56', '- 1.234'),
	('1.234,56', ','), ('1.234,56', '1.234,5 6'), ('1.234,56', '1.23a'), ('1,234.56', '1,23'), ('1,234.56', '1,2345'), ('1,234.56', '1.234,5'),
	('1 234,56', '1  234'), ('1 234,56', '12 34'), ('1 234,56', '12.5'), ('1 234,56', '- 234'), ('1''234.56', '1''23'), ('1234,56', '12.5'),
	('1234,56', '1.234,5'), ('1.234,56', 'abc'), ('1234.56', '1,5'), ('1.234,56', ''), ('1.234,56', '   ')) AS n (format, value);
SELECT is(pg_temp.number('1.234,56', '1.234,5', col), format('22P02 invalid input syntax for type %s: "1.234,5"', type), format('no %s', type))
	FROM (VALUES ('i', 'integer'), ('b', 'bigint'), ('s', 'smallint')) AS t (col, type);
SELECT is(pg_temp.number('1.234,56', '12.34', col), format('22P02 invalid input syntax for type %s: "12.34"', type), format('no %s either', type))
	FROM (VALUES ('f', 'real'), ('d', 'double precision')) AS t (col, type);
SELECT is(pg_temp.number('1.234,56', '-1.234', col), '-1234', col) FROM unnest('{i,b,s,n,f,d}'::text[]) AS col;
SELECT is(pg_temp.number('1.234,56', '99.999', 's'), '22003 value "99999" is out of range for type smallint', 'out of range');
SELECT is(pg_temp.number(format('1%s234,56', sep), format('12%s345,5', sep)), '12345.5', 'U+' || upper(to_hex(ascii(sep))))
	FROM unnest(ARRAY[U&'\00A0', U&'\202F', U&'\2019']) AS sep WHERE getdatabaseencoding() = 'UTF8';

-- a typed blank stands for those that break no line, and these for themselves alone
SELECT is(pg_temp.number('1 234,56', value), wanted, value || ' in 1 234,56')
	FROM (VALUES (U&'1\00A0234,5', '1234.5'), (U&'-12\202F345 678\00A0901,5', '-12345678901.5'), (U&'1\202F234', '1234')) AS v (value, wanted) WHERE getdatabaseencoding() = 'UTF8';
SELECT is(pg_temp.number(format, value), format('22P02 invalid input syntax for type numeric: "%s"', value), format('%s is not in %s', value, format))
	FROM (VALUES ('1 234,56', U&'12\00A034'), ('1 234,56', U&'1\00A0\00A0234'), ('1 234,56', U&'1,5\00A0'), ('1 234,56', U&'1\00A3234'), ('1 234,56', U&'1 234,5\20AC'), (U&'1\00A0234,56', '1 234,5'), ('1.234,56', U&'1\00A0234,5')) AS v (format, value)
	WHERE getdatabaseencoding() = 'UTF8';

SELECT is(:'single'::text, '1 1234.5, 3 1234', 'in LATIN1 a typed blank stands for itself alone');

-- in another encoding than the server's
COPY (SELECT format(U&'1,2024-01-01,"1\00A0234\00A0567,5",n\00F6n')) TO :'file' (ENCODING 'LATIN1');
TRUNCATE shown;
SELECT fast_copy('shown', :'file', encoding => 'LATIN1', options => U&'{"number_format": "1\00A0234,5", "null_strings": "n\00F6n"}') \g /dev/null
SELECT is(string_agg(s::text, ' '), '(1,"2024-01-01 00:00:00+00",1234567.5,)', 'words and separators of a file in LATIN1') FROM shown AS s WHERE getdatabaseencoding() = 'UTF8';

-- errors
CREATE FUNCTION pg_temp.error(lines text[], options jsonb, target regclass DEFAULT 'shown') RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'no error' ELSE concat_ws(' | ', f[1], f[2], (regexp_match(f[9], '^[^\n]*line \d+[^\n]*'))[1]) END
	FROM pg_temp.failure(format('SELECT fast_copy(%L, %L, options => %L)', target, pg_temp.write(lines), options)) AS f
$$;
CREATE TABLE shown_fires (LIKE shown);
CREATE TRIGGER shown_fires BEFORE INSERT ON shown_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE shown_parts (LIKE shown) PARTITION BY RANGE (k);
SELECT is(replace(pg_temp.error(lines, options, target), :'file', 'FILE'), replace(replace(error, '%f', 'FILE'), '%t', target::text), target || ': ' || error)
	FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target, (VALUES
	('{"1,2024-01-01, 5 ,x","2,2024-01-01, 1.5 , y"}'::text[], '{"number_format": "1.234,56", "trim_blanks": "all"}'::jsonb,
		'22P02 | invalid input syntax for type numeric: "1.5" | fast_copy %t, file "%f", line 2, column v: " 1.5 "'),
	('{"1,2024-01-01,5,x","2,2024-01-01, abc ,y"}', '{"trim_blanks": "unquoted"}', '22P02 | invalid input syntax for type numeric: "abc" | fast_copy %t, file "%f", line 2, column v: " abc "'),
	('{"1,2024-01-01,5,x","2, 2024-01-32 ,\"1,5\",y"}', '{"number_format": "1234,56", "trim_blanks": "all"}',
		'22008 | date/time field value out of range: "2024-01-32" | fast_copy %t, file "%f", line 2, column k: " 2024-01-32 "'),
	('{"1,2024-01-01,5,x","2,2024-01-01,-"}', '{"null_strings": "-"}', '22P04 | missing data for column "t" | fast_copy %t, file "%f", line 2: "2,2024-01-01,-"')) AS e (lines, options, error);

-- on_error
SELECT fast_copy_create_reject_table('rejects') \g /dev/null
SELECT is(pg_temp.rows('{"1,2024-01-01,\"1,5\",x","2,2024-01-01, 12.34 ,y","3,  x ,-,z"}',
	'{"number_format": "1.234,56", "trim_blanks": "all", "null_strings": "-", "on_error": "ignore", "reject_table": "rejects"}', target),
	'(1,"2024-01-01 00:00:00+00",1.5,x)', format('records are left out, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT results_eq('SELECT lineno, colname::text, raw_field_value, class, line, err_message, count(*) FROM rejects GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1', $$VALUES
	(2::bigint, 'v', ' 12.34 ', 'conversion', '2,2024-01-01, 12.34 ,y', 'invalid input syntax for type numeric: "12.34"', 3::bigint),
	(3, 'k', '  x ', 'conversion', '3,  x ,-,z', 'invalid input syntax for type timestamp with time zone: "x"', 3)$$, 'as the file has them');
SELECT is(pg_temp.rows('{"1,2024-01-01,\"1,5\",x","2,2024-01-01, 12.34 ,y"}',
	'{"number_format": "1.234,56", "trim_blanks": "all", "on_error": "set_null"}', target),
	'(1,"2024-01-01 00:00:00+00",1.5,x) (2,"2024-01-01 00:00:00+00",,y)', format('values become NULL, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;

-- empty lines: COPY of the same records without them is the referee
CREATE TABLE lines (n int, line text[], empty int);
INSERT INTO lines SELECT n, CASE WHEN n % 50 = 0 THEN ARRAY[format('%s,%s,"a', at, n), '', format('b%s"', n)] ELSE ARRAY[format('%s,%s,x', at, n)] END,
	CASE WHEN random() < 0.3 OR n IN (1, 3000) THEN 1 + floor(random() * 3)::int ELSE 0 END
	FROM generate_series(1, 3000) AS n, LATERAL (SELECT timestamp '2024-01-01' + n * 7919 % 3000 * interval '1 minute' AS at) AS r;
CREATE TABLE referee (ts timestamp, n int, t text, id serial);
CREATE TABLE skip_parts (LIKE referee INCLUDING DEFAULTS) PARTITION BY RANGE (ts);
CREATE TABLE skip_plain (LIKE referee INCLUDING DEFAULTS);
CREATE TABLE skip_fires (LIKE referee INCLUDING DEFAULTS);
CREATE TABLE skip_hashed (LIKE referee INCLUDING DEFAULTS) PARTITION BY HASH (n);
CREATE TABLE skip_hashed_0 PARTITION OF skip_hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE skip_hashed_1 PARTITION OF skip_hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TRIGGER skip_fires BEFORE INSERT ON skip_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE FUNCTION pg_temp.empty_lines(n int) RETURNS text[] LANGUAGE sql AS $$SELECT coalesce(array_agg(''::text), '{}') FROM generate_series(1, n)$$;
CREATE AGGREGATE pg_temp.joined(anycompatiblearray) (SFUNC = array_cat, STYPE = anycompatiblearray, INITCOND = '{}');
-- Writes the records from one number to another, before or after each other's empty lines
CREATE FUNCTION pg_temp.write_lines(low int DEFAULT 1, high int DEFAULT 3000) RETURNS void LANGUAGE sql AS $$
	SELECT pg_temp.write(pg_temp.joined(CASE WHEN n % 2 = 1 THEN pg_temp.empty_lines(empty) || line ELSE line || pg_temp.empty_lines(empty) END ORDER BY n))
	FROM lines WHERE n BETWEEN low AND high
$$;
SELECT pg_temp.write((SELECT pg_temp.joined(line ORDER BY n) FROM lines)) \g /dev/null
COPY referee (ts, n, t) FROM :'file' (FORMAT csv);
SELECT is(count(*), 3000::bigint, 'the referee') FROM referee;
SELECT is(sum(empty) > 500, true, 'many empty lines') FROM lines;
SELECT pg_temp.write_lines() \g /dev/null
-- Loads the file and returns how many rows are not the referee's
CREATE FUNCTION pg_temp.differ(target regclass, options jsonb, source text[] DEFAULT ARRAY[current_setting('fc.file')]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
	loaded bigint;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	ALTER SEQUENCE referee_id_seq RESTART;
	loaded := fast_copy(target, source, columns => '{ts,n,t}', options => options || '{"skip_empty_lines": true}');
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE referee) UNION ALL (TABLE referee EXCEPT ALL TABLE %1$s)) AS d', target) INTO rows;
	RETURN format('%s of %s wrong', rows, loaded);
END
$$;
SELECT is(pg_temp.differ(target, format('{"workers": %s}', workers)::jsonb), '0 of 3000 wrong', format('empty lines, %s, %s workers', target, workers))
	FROM unnest('{skip_parts,skip_plain,skip_fires,skip_hashed}'::regclass[]) AS target, unnest('{0,1,2,4}'::int[]) AS workers;
ALTER TABLE skip_parts ALTER id DROP DEFAULT;
ALTER TABLE skip_plain ALTER id DROP DEFAULT;
ALTER TABLE skip_hashed ALTER id DROP DEFAULT;
ALTER TABLE skip_fires ALTER id DROP DEFAULT;
ALTER TABLE referee ALTER id DROP NOT NULL;
UPDATE referee SET id = NULL;
ALTER TABLE skip_parts ALTER id DROP NOT NULL;
ALTER TABLE skip_plain ALTER id DROP NOT NULL;
ALTER TABLE skip_fires ALTER id DROP NOT NULL;
ALTER TABLE skip_hashed ALTER id DROP NOT NULL;
SELECT is(pg_temp.differ(target, format('{"workers": %s}', workers)::jsonb), '0 of 3000 wrong', format('empty lines without numbers, %s, %s workers', target, workers))
	FROM unnest('{skip_parts,skip_plain,skip_fires,skip_hashed}'::regclass[]) AS target, unnest('{0,1,2,4}'::int[]) AS workers;
SELECT is(pg_temp.differ(target, options), '0 of 3000 wrong', format('empty lines, %s, %s', target, options)) FROM unnest('{skip_parts,skip_plain,skip_hashed}'::regclass[]) AS target,
	unnest(ARRAY['{"order_by": ["t", "n"]}', '{"on_error": "ignore"}', '{"where_clause": "n > 0"}']::jsonb[]) AS options;
SELECT is(pg_temp.differ(target, '{"existing_rows": "replace"}'), '0 of 3000 wrong', format('empty lines, replaced, %s', target)) FROM unnest('{skip_parts,skip_plain}'::regclass[]) AS target;
SELECT is(pg_temp.differ('skip_parts', '{"existing_rows": "merge", "dedup_keys": ["ts", "n"]}'), '0 of 3000 wrong', 'empty lines, merged');
SELECT is(pg_temp.differ('skip_fires', '{"on_error": "ignore", "where_clause": "n > 0"}'), '0 of 3000 wrong', 'empty lines in core''s way');
SELECT pg_temp.shell(format('gzip -c %1$s >%1$s.gz', :'file')) \g /dev/null
SELECT is(pg_temp.differ(target, '{}', ARRAY[:'file' || '.gz']), '0 of 3000 wrong', format('empty lines in a packed file, %s', target)) FROM unnest('{skip_parts,skip_plain,skip_fires}'::regclass[]) AS target;
SELECT is(pg_temp.differ(target, '{"program": true}', ARRAY['cat ' || :'file']), '0 of 3000 wrong', format('empty lines of a program, %s', target)) FROM unnest('{skip_parts,skip_plain,skip_fires}'::regclass[]) AS target;

CREATE UNIQUE INDEX ON skip_plain (ts, n);
SELECT is(pg_temp.differ(target, '{"on_conflict": "nothing", "dedup_keys": ["ts", "n"]}'), '0 of 3000 wrong', format('empty lines, upserted, %s', target))
	FROM (VALUES ('skip_plain'::regclass)) AS t (target);
SELECT results_eq(format('SELECT name, rows FROM fast_copy_analyze(''skip_parts'', %L, columns => ''{ts,n,t}'', options => ''{"skip_empty_lines": true}'') WHERE item = ''rows''', :'file'),
	'SELECT name, n FROM (VALUES (''accepted'', 3000::bigint), (''filtered'', (SELECT sum(empty)::bigint FROM lines)), (''bad'', 0)) AS v (name, n)', 'an analysis');
SELECT is(fast_copy('shown', E'printf \'1,2024-01-01,1,a\\r\\n\\r\\n2,2024-01-01,2,b\\r\\n\\r\\n\'', program => true, options => '{"skip_empty_lines": true}'), 2::bigint, 'lines that end with CRLF');

-- a ledger tells how many lines each file has of them
SELECT fast_copy_create_ledger_table('led') \g /dev/null
SELECT pg_temp.write_lines(1, 1000) \g /dev/null
SELECT pg_temp.shell(format('cp %1$s %1$s.1', :'file')) \g /dev/null
SELECT pg_temp.write_lines(1001, 3000) \g /dev/null
SELECT pg_temp.shell(format('cp %1$s %1$s.2', :'file')) \g /dev/null
SELECT is(pg_temp.differ('skip_parts', '{"ledger": "led"}', ARRAY[:'file' || '.1', :'file' || '.2']), '0 of 3000 wrong', 'two files');
SELECT results_eq('SELECT rows, filtered FROM led ORDER BY path', 'SELECT count(*), sum(empty)::bigint FROM lines GROUP BY n > 1000 ORDER BY n > 1000', 'what was filtered');

-- shown
SELECT is(pg_temp.rows('{"","1,2024-01-01,1,a","","","2,2024-01-01,2,b",""}', '{"skip_empty_lines": true}', target),
	'(1,"2024-01-01 00:00:00+00",1,a) (2,"2024-01-01 00:00:00+00",2,b)', format('empty lines first and last, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT is(pg_temp.rows('{"id,k,v,t","","1,2024-01-01,1,a",""}', '{"skip_empty_lines": true, "header": "match"}', target), '(1,"2024-01-01 00:00:00+00",1,a)', format('after a header, %s', target))
	FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT is(pg_temp.rows('{"","",""}', '{"skip_empty_lines": true}', target), NULL, format('nothing but empty lines, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['', E'1\t2024-01-01\t1\ta', ''], '{"skip_empty_lines": true, "format": "text"}', target), '(1,"2024-01-01 00:00:00+00",1,a)', format('text format, %s', target))
	FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT is(pg_temp.rows('{a,"","\"\"",b}', '{"columns": ["t"], "skip_empty_lines": true}'), '(7,,,"") (7,,,a) (7,,,b)', 'an empty text in quotes is a record');
SELECT is(replace(pg_temp.error('{"","1,2024-01-01,1,a","","2,2024-01-01,x,b"}', '{"skip_empty_lines": true}', target), :'file', 'FILE'),
	format('22P02 | invalid input syntax for type numeric: "x" | fast_copy %s, file "FILE", line 4, column v: "x"', target), format('lines count, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT is(replace(pg_temp.error('{"1,2024-01-01,1,a"," "}', '{"skip_empty_lines": true, "trim_blanks": "all", "columns": ["id", "k", "v", "t"]}', target), :'file', 'FILE'),
	format('22P02 | invalid input syntax for type integer: "" | fast_copy %s, file "FILE", line 2, column id: " "', target), format('blanks are a record, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
TRUNCATE shown;
COPY shown FROM STDIN WITH (fast_copy, FORMAT csv, skip_empty_lines);

1,2024-01-01,1,a

2,2024-01-01,2,b
\.
SELECT is(string_agg(s::text, ' ' ORDER BY id), '(1,"2024-01-01 00:00:00+00",1,a) (2,"2024-01-01 00:00:00+00",2,b)', 'empty lines of the client') FROM shown AS s;

-- Records with too few fields: COPY reads the file with the fields that are missing
CREATE TABLE short (ts timestamp, n int, t text, u text);
INSERT INTO short SELECT timestamp '2024-01-01' + n % 31 * interval '1 day', CASE WHEN n % 3 > 0 THEN n END, CASE WHEN n % 3 = 1 THEN E'two\nlines, "' || n END, NULL FROM generate_series(1, 3000) AS n;
CREATE FUNCTION pg_temp.write_short(format text) RETURNS void LANGUAGE sql AS $$
	SELECT pg_temp.write(pg_temp.joined(string_to_array(ts || CASE WHEN n IS NULL THEN '' WHEN format = 'csv' THEN ',' || n || coalesce(',"' || replace(t, '"', '""') || '"', '') ELSE E'\t' || n || coalesce(E'\t' || replace(t, E'\n', '\n'), '') END, E'\n'))) FROM short
$$;
CREATE TABLE short_parts (LIKE short) PARTITION BY RANGE (ts);
CREATE TABLE short_plain (LIKE short);
CREATE TABLE short_fires (LIKE short);
CREATE TRIGGER fires BEFORE INSERT ON short_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE FUNCTION pg_temp.padded(target regclass, options jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
	loaded bigint;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	loaded := fast_copy(target, current_setting('fc.file'), options => options || '{"missing_columns": "null"}');
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE short) UNION ALL (TABLE short EXCEPT ALL TABLE %1$s)) AS d', target) INTO rows;
	RETURN format('%s of %s wrong', rows, loaded);
END
$$;
SELECT pg_temp.write_short('csv') \g /dev/null
SELECT is(pg_temp.padded(target, jsonb_build_object('workers', workers)), '0 of 3000 wrong', format('too few fields, %s, %s workers', target, workers))
	FROM unnest('{short_parts,short_plain,short_fires}'::regclass[]) AS target, unnest('{0,1,2,4}'::int[]) AS workers;
SELECT set_config('fast_copy.chunk_size', '64', true) \g /dev/null
SELECT is(pg_temp.padded(target, options), '0 of 3000 wrong', format('too few fields, %s, %s, small chunks', target, options)) FROM unnest('{short_parts,short_plain}'::regclass[]) AS target,
	unnest(ARRAY['{"workers": 2}', '{"on_error": "ignore", "on_error_classes": ["missing_columns"]}', '{"order_by": ["t", "ts"]}', '{"trim_blanks": "all"}']::jsonb[]) AS options;
SELECT set_config('fast_copy.chunk_size', '64kB', true) \g /dev/null
SELECT pg_temp.write_short('text') \g /dev/null
SELECT is(pg_temp.padded(target, '{"format": "text", "null_string": ""}'), '0 of 3000 wrong', format('too few fields in text format, %s', target)) FROM unnest('{short_parts,short_plain,short_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows('{"1,2024-01-01"}', '{"missing_columns": "null", "transform": "t = coalesce(t, ''none'') || coalesce(v, ''?'')"}', target), '(1,"2024-01-01 00:00:00+00",,none?)', format('a transform of fields that are missing, %s', target))
	FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT is(pg_temp.rows('{"1,2024-01-01","2,2024-01-01,NA","3,2024-01-01,NA,NA"}', '{"missing_columns": "null", "null_string": "NA", "force_not_null": ["t"]}'::jsonb || options, target), '(1,"2024-01-01 00:00:00+00",,) (2,"2024-01-01 00:00:00+00",,) (3,"2024-01-01 00:00:00+00",,NA)', format('no force_not_null of fields that are missing, %s, %s', target, options))
	FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target, unnest(ARRAY['{}', '{"trim_blanks": "all"}', '{"on_error": "ignore", "on_error_classes": ["missing_columns"]}']::jsonb[]) AS options;
SELECT is(replace(pg_temp.error('{"1,2024-01-01,1","1,2024-01-01,1,a,b"}', '{"missing_columns": "null"}', target), :'file', 'FILE'),
	format('22P04 | extra data after last expected column | fast_copy %s, file "FILE", line 2: "1,2024-01-01,1,a,b"', target), format('too many fields, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;

-- mistakes
SELECT is(pg_temp.error('{1}', options), error, error) FROM (VALUES
	('{"trim_blanks": "left"}'::jsonb, '22023 | trim_blanks "left" not recognized'),
	('{"number_format": "1.234"}', '22023 | number_format "1.234" does not show both separators'),
	('{"number_format": "1.234.567"}', '22023 | number_format "1.234.567" does not show both separators'),
	('{"number_format": "1234"}', '22023 | number_format "1234" does not show both separators'),
	('{"number_format": "1.23,4"}', '22023 | number_format "1.23,4" does not show both separators'),
	('{"number_format": "1_234.5"}', '22023 | number_format "1_234.5" does not show both separators'),
	('{"number_format": ""}', '22023 | number_format "" does not show both separators'),
	('{"number_format": "1.234,56 EUR"}', '22023 | number_format "1.234,56 EUR" does not show both separators'),
	('{"null_strings": {"nowhere": "-"}}', '42P10 | null_strings column "nowhere" is not a column of the file'),
	('{"null_strings": {"v": "-"}, "columns": ["id"]}', '42P10 | null_strings column "v" is not a column of the file'),
	('{"null_strings": [["-"]]}', '22023 | null_strings must be words, an array of words, or an object of columns and their words'),
	('{"null_strings": [null]}', '22023 | null_strings must be words, an array of words, or an object of columns and their words'),
	('{"null_strings": {"v": {"a": "b"}}}', '22023 | null_strings must be words, an array of words, or an object of columns and their words'),
	('{"null_strings": "[-"}', '22P02 | invalid input syntax for type json | JSON data, line 1: [-'),
	('{"null_strings": "-", "format": "binary"}', '42601 | cannot specify null_strings in BINARY mode'),
	('{"trim_blanks": "all", "format": "binary"}', '42601 | cannot specify trim_blanks in BINARY mode'),
	('{"number_format": "1234,5", "format": "binary"}', '42601 | cannot specify number_format in BINARY mode'),
	('{"missing_columns": "nulls"}', '22023 | missing_columns "nulls" not recognized'),
	('{"missing_columns": "default"}', '22023 | missing_columns "default" requires format "json"'),
	('{"missing_columns": "null", "format": "binary"}', '42601 | cannot specify missing_columns in BINARY mode'),
	('{"skip_empty_lines": true, "format": "binary"}', '42601 | cannot specify skip_empty_lines in BINARY mode')) AS m (options, error);
SELECT is(pg_temp.error('{"id,k,other","1,2024-01-01,-"}', '{"null_strings": {"nowhere": "-"}, "header": "map", "ignore_extra_columns": true}'),
	'42P10 | null_strings column "nowhere" is not a column of the file', 'null_strings of no field, where the file has a field that is no column');
SELECT is(pg_temp.rows('{"id,k,a,b","1,2024-01-01,-,-"}', '{"null_strings": {"a": "-"}, "header": "map", "transform": "t = concat(a, ''|'', b)"}'),
	'(1,"2024-01-01 00:00:00+00",,|-)', 'null_strings of one of two fields that are no columns');
SELECT throws_ok(format('COPY shown FROM %L WITH (trim_blanks all)', :'file'), '42601');

-- what looks like a record, or like NULL
CREATE TABLE noted (n int NOT NULL, t text) PARTITION BY RANGE (n);
CREATE TABLE noted_1 PARTITION OF noted FOR VALUES FROM (0) TO (1000);
SELECT is(fast_copy('noted', pg_temp.file('SELECT CASE WHEN g % 7 = 0 THEN ''#'' || g ELSE g::text END, ''t'' FROM generate_series(1, 700) AS g'), null_string => 'NA', options => jsonb_build_object('comment', '#', 'workers', w)),
	600::bigint, format('comments with as many fields as a record, keys as long as what stands for NULL, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;

SELECT * FROM finish();
ROLLBACK;
