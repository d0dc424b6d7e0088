-- Rows that are read many at a time are those that COPY reads one by one: files are
-- drawn, of columns in any order, with NULLs, quotes, escapes, values in other forms than
-- most, characters of several bytes, and now and then one that is an error, which is
-- COPY's, at COPY's line.  With fc.seed and fc.cases others are, and more.

\set name batches
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT plan(23);

-- A value of a type: most in the form that files are full of; NULL now and then
CREATE FUNCTION pg_temp.value(type text, odd float8, bad float8) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	IF random() < bad THEN
		RETURN CASE WHEN type ~ 'text' THEN NULL WHEN type ~ 'varchar' THEN 'much too long' ELSE 'x' END;
	ELSIF random() < odd THEN
		RETURN CASE type WHEN 'int' THEN pg_temp.pick(' 5', '+7', '007', '-0', NULL) WHEN 'bigint' THEN pg_temp.pick('9223372036854775807', ' 12', NULL)
			WHEN 'text' THEN pg_temp.pick('', ' ', 'a,b', 'a"b', E'two\nlines', 'é', '€uro', '\.', '\N', 'N', 'a|b', '\', E'\t', repeat('long ', 60), NULL)
			WHEN 'varchar(8)' THEN pg_temp.pick('', '12345678', '12345678   ', 'éééééééé', '"', NULL) WHEN 'numeric(10,2)' THEN pg_temp.pick('1e3', '0.005', '-.5', '99999999.99', 'NaN', NULL)
			WHEN 'float8' THEN pg_temp.pick('1e-300', 'NaN', '-Infinity', '0.1', '12345678901234567890', NULL) WHEN 'boolean' THEN pg_temp.pick('true', 'no', '1', 'OFF', NULL)
			ELSE pg_temp.pick('2024-05-06', '2024-05-06T07:08:09', 'infinity', '2024-5-6 7:08', '2024-05-06 24:00:00', NULL) END;
	END IF;
	RETURN CASE type WHEN 'int' THEN floor(random() * 100000)::text WHEN 'bigint' THEN floor(random() * 1e15)::bigint::text WHEN 'text' THEN left(md5(random()::text), floor(random() * 33)::int)
		WHEN 'varchar(8)' THEN left(md5(random()::text), 1 + floor(random() * 8)::int) WHEN 'numeric(10,2)' THEN round((random() * 1000)::numeric, 2)::text
		WHEN 'float8' THEN round((random() * 1000)::numeric, 3)::text WHEN 'boolean' THEN pg_temp.pick('t', 'f') ELSE (timestamp '2024-05-06' + floor(random() * 200000) * interval '1 s')::text END;
END
$$;

-- ... as the file has it
CREATE FUNCTION pg_temp.cell(value text, format text, delimiter text, null_string text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN value IS NULL THEN null_string
		WHEN format = 'text' THEN replace(replace(replace(replace(value, '\', '\\'), E'\n', pg_temp.pick('\n', E'\\\n', '\x0a')), E'\t', pg_temp.pick('\t', '\011')), delimiter, '\' || delimiter)
		WHEN value = null_string OR value ~ '[",|\n\t]|^\\' OR random() < 0.05 THEN '"' || replace(value, '"', '""') || '"'
		ELSE value END
$$;

-- How a load ends: how many rows, their sum, or the error and where it is
CREATE FUNCTION pg_temp.ends(load text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	place text;
BEGIN
	EXECUTE load;
	EXECUTE 'SELECT count(*) || '' '' || sum(hashtextextended(t::text, 0)::numeric) FROM got AS t' INTO said;
	RETURN said;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS place = PG_EXCEPTION_CONTEXT;
	RETURN concat_ws(' ', sqlstate, sqlerrm, substring(place from 'line \d+[^\n]*'));
END
$$;

CREATE FUNCTION pg_temp.wrong(OUT wrong text, OUT errors int) LANGUAGE plpgsql AS $$
DECLARE
	types text[];
	columns text;
	format text;
	delimiter text;
	null_string text;
	encoding text;
	odd float8;
	bad float8;
	parts bool;
	lines text[];
	want text;
	got text;
BEGIN
	errors := 0;
	PERFORM setseed(coalesce(nullif(current_setting('fc.seed', true), ''), '0.7')::float8);
	FOR i IN 1 .. coalesce(nullif(current_setting('fc.cases', true), ''), '40')::int LOOP
		SELECT array_agg(t ORDER BY random()) INTO types FROM unnest('{int,bigint,text,text,varchar(8),numeric(10\,2),float8,boolean,timestamp}'::text[]) AS t WHERE random() < 0.7;
		types := coalesce(types, '{int}');
		SELECT string_agg('c' || n || ' ' || t, ', ') INTO columns FROM unnest(types) WITH ORDINALITY AS u (t, n);
		format := pg_temp.pick('csv', 'csv', 'text');
		delimiter := CASE WHEN format = 'text' THEN pg_temp.pick(E'\t', '|') ELSE pg_temp.pick(',', '|') END;
		null_string := CASE WHEN format = 'text' THEN pg_temp.pick('\N', 'N', '') ELSE pg_temp.pick('', 'N', '\N') END;
		encoding := pg_temp.pick('UTF8', 'UTF8', 'LATIN9');
		odd := pg_temp.pick('0', '0.01', '0.1', '0.5')::float8;
		bad := pg_temp.pick('0', '0', '0', '0.0005')::float8;
		parts := random() < 0.3;
		SELECT array_agg(line ORDER BY g) INTO lines
		FROM (SELECT g, (SELECT string_agg(pg_temp.cell(pg_temp.value(t, odd, bad), format, delimiter, null_string), delimiter ORDER BY n) FROM unnest(types) WITH ORDINALITY AS u (t, n) WHERE g > 0)
			|| CASE WHEN parts THEN delimiter || timestamp '2024-05-06' + g * 7919 % 1000 * interval '10 min' ELSE '' END
			|| CASE WHEN random() < bad THEN delimiter || 'more' ELSE '' END AS line FROM generate_series(1, 600) AS g) AS f;
		EXECUTE format('COPY (SELECT nullif(line, '''') FROM unnest(string_to_array(%L, E''\n'')) WITH ORDINALITY AS u (line, n) ORDER BY n) TO %L (FORMAT csv, QUOTE E''\x01'', ESCAPE E''\x01'', DELIMITER E''\x02'', ENCODING %L)',
			array_to_string(lines, E'\n'), current_setting('fc.file'), encoding);
		FOR loader IN 0 .. 1 LOOP
			EXECUTE format('CREATE TABLE got (%s%s)%s', columns, CASE WHEN parts THEN ', k timestamp' END, CASE WHEN parts AND loader = 1 THEN ' PARTITION BY RANGE (k)' END);
			got := pg_temp.ends(CASE loader WHEN 0 THEN format('COPY got FROM %L (FORMAT %s, DELIMITER %L, NULL %L, ENCODING %L)', current_setting('fc.file'), format, delimiter, null_string, encoding)
				ELSE format('SELECT fast_copy(''got'', %L, format => %L, delimiter => %L, null_string => %L, encoding => %L, workers => %s)', current_setting('fc.file'), format, delimiter, null_string, encoding, i % 3) END);
			want := CASE loader WHEN 0 THEN got ELSE want END;
			DROP TABLE got;
		END LOOP;
		errors := errors + (want !~ '^600 ')::int;
		IF got IS DISTINCT FROM want THEN
			wrong := concat_ws(E'\n', wrong, format('case %s: %s, not %s: %s, %s %L %L %s, odd %s, bad %s, parts %s', i, got, want, columns, format, delimiter, null_string, encoding, odd, bad, parts));
		END IF;
	END LOOP;
END
$$;

SELECT coalesce(wrong, '') AS wrong, errors FROM pg_temp.wrong() \gset
SELECT is(:'wrong'::text, '', 'rows and errors are those of COPY');
SELECT cmp_ok(:errors, '<', 20, 'most files have no error');

-- the first byte alone is no ASCII
CREATE TABLE first (t text, n int);
SELECT format('COPY (SELECT CASE g WHEN 1 THEN E''\u00e9'' WHEN 300 THEN E''caf\u00e9'' ELSE ''a'' END, g FROM generate_series(1, 500) AS g) TO %L (FORMAT csv, ENCODING ''LATIN1'')', :'file') \gexec
SELECT fast_copy('first', :'file', encoding => 'LATIN1', workers => 0) \g /dev/null
SELECT is((SELECT string_agg(t, ' ' ORDER BY n) FROM first WHERE t <> 'a'), E'\u00e9 caf\u00e9', 'LATIN1 from the first byte on');

-- a key that is an error is told in the encoding of the database
CREATE TABLE keyed (k timestamp, n int) PARTITION BY RANGE (k);
CREATE TABLE keyed_rest PARTITION OF keyed DEFAULT;
SELECT format('COPY (SELECT CASE g WHEN 40 THEN E''\u00e9t\u00e9 2024'' ELSE (timestamp ''2024-05-06'' + g * 7919 %% 300 * interval ''1 hour'')::text END, g FROM generate_series(1, 500) AS g) TO %L (FORMAT csv, ENCODING ''LATIN1'')', :'file') \gexec
SELECT is(pg_temp.ends(format('SELECT fast_copy(''keyed'', %L, encoding => ''LATIN1'', workers => %s)', :'file', w)), pg_temp.ends(format('COPY keyed FROM %L (FORMAT csv, ENCODING ''LATIN1'')', :'file')), format('a bad key in LATIN1, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;

-- a byte that is no character, among texts that are converted
SELECT pg_temp.shell(format('(seq -f "caf\\351,%%.0f" 1 299; printf "caf\\351 \\201 more,300\n"; seq -f "caf\\351,%%.0f" 301 500) | sed "s/.351/$(printf "\\351")/" >%s', :'file')) \g /dev/null
TRUNCATE first;
SELECT is(pg_temp.ends(format('SELECT fast_copy(''first'', %L, encoding => ''WIN1252'', workers => %s)', :'file', w)), pg_temp.ends(format('COPY first FROM %L (FORMAT csv, ENCODING ''WIN1252'')', :'file')), format('no character of WIN1252, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;

-- an encoding that nothing converts is no fault of the records
SELECT is((pg_temp.failure(format('SELECT fast_copy(''first'', %L, encoding => ''MULE_INTERNAL'', on_error => ''ignore'', on_error_classes => %L, workers => 0)', :'file', array[class])))[1:2],
	(pg_temp.failure(format('COPY first FROM %L (FORMAT csv, ENCODING ''MULE_INTERNAL'')', :'file')))[1:2], format('no conversion, with %s tolerated', class)) FROM unnest('{encoding,replace_invalid}'::text[]) AS class;

-- a delimiter of several bytes: the last field has none behind it
CREATE TABLE long_delimiter (n int, a text, b text);
SELECT pg_temp.file('SELECT concat_ws(''||'', g, md5(g::text), left(md5((-g)::text), g % 20)) FROM generate_series(1, 3000) AS g', ', QUOTE E''\x01''') \g /dev/null
SELECT fast_copy('long_delimiter', :'file', format => format, delimiter => '||', workers => 0) FROM unnest('{csv,text}'::text[]) AS format \g /dev/null
SELECT is(count(*) FILTER (WHERE a = md5(n::text) AND coalesce(b, '') = left(md5((-n)::text), n % 20)), 6000::bigint, 'a long delimiter in csv and in text') FROM long_delimiter;

-- How a table is after COPY, and after a load; these are like COPY's FROM and fast_copy()'s arguments
CREATE FUNCTION pg_temp.alike(copy text, load text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
BEGIN
	TRUNCATE got;
	want := pg_temp.ends(format('COPY got ' || copy, current_setting('fc.file')));
	TRUNCATE got;
	got := pg_temp.ends(format('SELECT fast_copy(''got'', ' || load || ')', current_setting('fc.file')));
	RETURN CASE WHEN got = want THEN substring(want FROM '\d+') ELSE got || ', not ' || want END;
END
$$;

-- many fields of a record are converted, or have quotes
CREATE TABLE got (a text, b text, c text, n int);
SELECT format('COPY (SELECT E''\u00e9'', E''\u00e0'' || g, E''\u00fc'', g FROM generate_series(1, 1000) AS g) TO %L (FORMAT csv, ENCODING ''LATIN1'')', :'file') \gexec
SELECT is(pg_temp.alike('FROM %L (FORMAT csv, ENCODING ''LATIN1'')', '%L, encoding => ''LATIN1'', workers => ' || w), '1000', format('all texts are converted, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
-- ... by somebody's own conversion, which comes before core's
CREATE FUNCTION own_conversion(int, int, cstring, internal, int, boolean) RETURNS int LANGUAGE c STRICT AS '$libdir/utf8_and_iso8859_1', 'iso8859_1_to_utf8';
CREATE DEFAULT CONVERSION own FOR 'LATIN1' TO 'UTF8' FROM own_conversion;
SELECT is(pg_temp.alike('FROM %L (FORMAT csv, ENCODING ''LATIN1'')', '%L, encoding => ''LATIN1'', workers => ' || w), '1000', format('own conversion, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
DROP CONVERSION own;
SELECT format('COPY (SELECT ''"'', ''a"'' || g, ''"b'', g FROM generate_series(1, 1000) AS g) TO %L (FORMAT csv)', :'file') \gexec
SELECT is(pg_temp.alike('FROM %L (FORMAT csv)', '%L, workers => ' || w), '1000', format('all texts have quotes inside, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
DROP TABLE got;

-- defaults that only a planned expression can have: arguments by name, and those that are left out
CREATE FUNCTION by_name(a int DEFAULT 3, b int DEFAULT 4) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN a * 10 + b; END';
CREATE TABLE got (n int, d int DEFAULT by_name(b => 7));
SELECT pg_temp.file('SELECT generate_series(1, 300)') \g /dev/null
SELECT is(pg_temp.alike('(n) FROM %L (FORMAT csv)', '%L, columns => ''{n}'', workers => ' || w), '300', format('arguments by name, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
DROP TABLE got;

-- defaults that come as a table has them: out of line, short, packed; or as code has them
CREATE TABLE stored (long text, short text, packed text);
ALTER TABLE stored ALTER long SET STORAGE EXTERNAL;
INSERT INTO stored SELECT string_agg(md5(g::text), ''), 'short', repeat('packed ', 1000) FROM generate_series(1, 200) AS g;
CREATE FUNCTION stored_long() RETURNS text LANGUAGE sql VOLATILE AS 'SELECT long FROM stored';
CREATE FUNCTION stored_short() RETURNS text LANGUAGE sql VOLATILE AS 'SELECT short FROM stored';
CREATE FUNCTION stored_packed() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT packed FROM stored';
CREATE FUNCTION of_code() RETURNS int[] LANGUAGE plpgsql VOLATILE AS 'DECLARE a int[]; BEGIN a[1] := 5; a[2] := 6; RETURN a; END';
SELECT pg_temp.file('SELECT generate_series(1, 300)') \g /dev/null
CREATE TABLE got (n int, l text DEFAULT stored_long(), s text DEFAULT stored_short(), p text DEFAULT stored_packed(), a int[] DEFAULT of_code());
SELECT is(pg_temp.alike('(n) FROM %L (FORMAT csv)', '%L, columns => ''{n}'', workers => 0'), '300', 'defaults that are stored');
ALTER TABLE got ALTER l SET DEFAULT NULL, ALTER s SET DEFAULT NULL, ALTER a SET DEFAULT NULL;
SELECT is(pg_temp.alike('(n) FROM %L (FORMAT csv)', '%L, columns => ''{n}'', workers => 0'), '300', '... one for all rows');

-- values of expressions, which rows and arrays in memory have in other forms, too
CREATE TYPE pair AS (x int, y text);
DROP TABLE got;
CREATE TABLE got (y text, a int[]);
SELECT pg_temp.file('SELECT format(''(%s,y%s)'', g, g), format(''{%s,2}'', g) FROM generate_series(1, 600) AS g') \g /dev/null
SELECT fast_copy('got', :'file', columns => '{row,list}', transform => 'y = ("row"::pair).y, a = array_append(list::int[], 7)', workers => w) FROM unnest('{0,2}'::int[]) AS w \g /dev/null
SELECT results_eq('SELECT y, a, count(*) FROM got GROUP BY 1, 2 ORDER BY 2', 'SELECT ''y'' || g, ARRAY[g, 2, 7], 2::bigint FROM generate_series(1, 600) AS g', 'values of expressions');

-- values that nothing converts many at a time, and that become NULL
CREATE TABLE ips (n int, ip inet, m int);
SELECT pg_temp.file('SELECT g, CASE WHEN g % 7 = 0 THEN ''nowhere'' ELSE ''10.0.0.'' || g % 250 END, g FROM generate_series(1, 700) AS g') \g /dev/null
SELECT fast_copy('ips', :'file', on_error => 'set_null', log_verbosity => 'silent', workers => w) FROM unnest('{0,2}'::int[]) AS w \g /dev/null
SELECT is(count(*), 1400::bigint, 'values that become NULL') FROM ips WHERE n = m AND ip IS NOT DISTINCT FROM CASE WHEN n % 7 > 0 THEN ('10.0.0.' || n % 250)::inet END;
SELECT is(nulled, 100::bigint, '... are counted') FROM fast_copy_report() WHERE phase = 'total';

SELECT * FROM finish();
ROLLBACK;
