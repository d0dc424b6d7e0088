-- Values at the edges of what a type reads, and in other forms than files are full of:
-- each in a file of its own among plain ones, which are read many at a time.  Such a
-- value is COPY's, or COPY's error, whether it is read with the others or by itself.

\set name edges
\ir begin.psql
SELECT plan(62);

-- How a load of the file into a column of a type ends: rows, or the error
CREATE FUNCTION pg_temp.ends(type text, load text, OUT rows text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE got (n int, v %s)', type);
	EXECUTE format(load, current_setting('fc.file'));
	SELECT string_agg(n || ' ' || coalesce(v::text, 'NULL'), ', ' ORDER BY n) INTO rows FROM got;
	RAISE SQLSTATE 'UNDO0';
EXCEPTION
	WHEN SQLSTATE 'UNDO0' THEN NULL;
	WHEN OTHERS THEN rows := sqlstate || ' ' || sqlerrm;
END
$$;

-- The values of a type that do not end as they do with COPY
CREATE FUNCTION pg_temp.differ(type text, plain text, vals text[], encoding text, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	one text;
	want text;
	got text;
	workers int := 0;
BEGIN
	FOREACH one IN ARRAY vals LOOP
		PERFORM pg_temp.file(format('SELECT g, CASE g WHEN 20 THEN %L ELSE %L END FROM generate_series(1, 40) AS g', one, plain), format(', ENCODING %L', encoding));
		want := pg_temp.ends(type, format('COPY got FROM %%L (FORMAT csv, ENCODING %L)', encoding));
		workers := 1 - workers;
		got := pg_temp.ends(type, format('SELECT fast_copy(''got'', %%L, workers => %s, encoding => %L)', workers, encoding));
		IF got IS DISTINCT FROM want THEN
			wrong := concat_ws(E'\n', wrong, format('%L: %s, not %s', one, got, want));
		END IF;
	END LOOP;
END
$$;

CREATE TEMP TABLE edges (type text, plain text, vals text[], encoding text DEFAULT 'UTF8');
INSERT INTO edges VALUES
	('smallint', '5', ARRAY['32767', '32768', '-32768', '-32769', '+5', '-0', ' 7', '7 ', '007', '0x1F', '1_0', '5.0', '1e2', '-', '', '65536', '65541', '99999999999999999999']),
	('int', '5', ARRAY['2147483647', '2147483648', '-2147483648', '-2147483649', '+5', ' 7 ', '0000000000000000000012', '4294967301', '5x']),
	('bigint', '5', ARRAY['9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '18446744073709551616', '18446744073709551621', '-5', '12345678', '123456789']),
	('real', '1.5', ARRAY['16777217', '16777219', '1.000000059604644775390625', '1.00000017881393432617187', '8388608.5', '1.1234567890123456', '0.1', '-0', '3.4028235e38', '3.4028236e38', '1e39', '1e-46', '1.4e-45', 'nan', '.5', '5.', '12345678', '33554433.5',
		'16777217.000000001', '16777218.999999999', '16777219.000000001', '16777216.999999999']),
	('double precision', '1.5', ARRAY['9007199254740993', '9007199254740992.5', '0.1', '1234567.1', '12345678.1', '1234567.1234567', '1234567.123456789012', '1234567.12345678901234567', '0.' || repeat('1', 1000), '.5', '5.', '-1.25', '1e308', '1e309', '4e-324', '1e-400', 'Infinity', '-inf', 'NaN', '0x10', '1e', '1.5.5', '-']),
	('numeric', '1.5', ARRAY['0', '-0', '0.0', '000.10', '9999', '10000', '99999999', '0.0001', '0.00001', '12345678901234567890.123456789', '1e3', '1e-3', 'NaN', 'infinity', '.', '.5', '5.', '+5', '- 5', '1_000']),
	('numeric(6,2)', '1.50', ARRAY['9999.99', '9999.994', '9999.995', '10000', '-9999.995', '0.005', '0.0049', 'NaN', 'infinity', '1e3', '1e4']),
	('numeric(4,4)', '0.5', ARRAY['0.9999', '0.99994', '0.99995', '1', '-0.9999', '0.00005', '0.00004', '.5', '0']),
	('numeric(3,-2)', '100', ARRAY['99900', '99949', '99950', '49', '50', '149', '150', '1.5']),
	('boolean', 't', ARRAY['true', 'TRUE', 'tru', 'T', 'f', 'fals', 'y', 'yes', 'ye', 'no', 'n', 'on', 'of', 'off', 'o', '1', '0', '2', ' t ', 'tt', '']),
	('date', '2024-05-06', ARRAY['2024-02-29', '2023-02-29', '2100-02-29', '2024-13-01', '2024-00-10', '2024-01-00', '2024-01-32', '2024-04-31', '0001-01-01', '0000-01-01', '9999-12-31', '10000-01-01', '2024-1-1', '20240506', '05/06/2024', 'infinity', '-infinity', 'epoch', '2024-05-06 ', '2024-05-06 12:00', '4713-11-24 BC', '4714-01-01 BC']),
	('time', '12:00', ARRAY['12:59', '12:60', '23:59', '24:00', '24:01', '25:00', '12:00:59', '12:00:60', '12:00:61', '23:59:60', '24:00:00', '24:00:01', '24:00:00.1', '12:00:00.5', '12:00:59.9999999', '23:59:59.9999999', '1:00', '12:00:00,5', '12:0', '12', '120000', '12:00 PM', '12:00+02']),
	('time(2)', '12:00:00.25', ARRAY['12:00:00.255', '12:00:00.254', '23:59:59.995', '23:59:59.994', '12:00:00']),
	('timestamp', '2024-05-06 12:00:00', ARRAY['2024-05-06 12:59', '2024-05-06 12:60', '2024-05-06 24:00', '2024-05-06 24:00:00', '2024-05-06 24:00:01', '2024-05-06 23:59:60', '2024-12-31 23:59:60', '2024-05-06 12:00:61', '2024-02-30 12:00:00', '2024-05-06T12:00', '2024-05-06t12:00:00', '2024-05-06', '2024-05-06 12', '2024-05-06 12:00:00.123456', '2024-05-06 12:00:00.1234567', '2024-05-06 23:59:59.9999999', '2024-05-06 12:00Z', '2024-05-06 12:00:00+02', 'infinity', '-infinity', '294276-12-31 23:59:59.999999', '294277-01-01', '0044-03-15 BC', '2024-05-06 12:00 ']),
	('timestamp(0)', '2024-05-06 12:00:00', ARRAY['2024-05-06 12:00:00.5', '2024-05-06 12:00:01.5', '2024-05-06 23:59:59.5', '2024-12-31 23:59:59.999999']),
	('timestamptz', '2024-05-06 12:00:00+02', ARRAY['2024-05-06 12:00+15', '2024-05-06 12:00+15:59', '2024-05-06 12:00+15:60', '2024-05-06 12:00+1559', '2024-05-06 12:00+1560', '2024-05-06 12:00+16', '2024-05-06 12:00-15:59', '2024-05-06 12:00+15:59:59', '2024-05-06 12:00+0', '2024-05-06 12:00+1', '2024-05-06 12:00+01:5', '2024-05-06 12:00Z', '2024-05-06T12:00:00z', '2024-05-06 12:00 UTC', '2024-05-06 12:00 CET', '2024-05-06 12:00 Europe/Berlin', '2024-05-06 12:00', '2024-05-06 12:00:00.5-05', 'infinity', '2024-05-06 12:00 +02', '2024-05-06 12:00+-02']),
	('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ARRAY['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 ', 'a0eebc99_9c0b_4ef8_bb6d_6bb9bd380a11']),
	('bytea', '\x00ff', ARRAY['\xAB', '\xabc', '\x', '\xgg', '\x a b', 'abc', 'a\\b', 'a\001b', '\400', '\', '\012', '\123\256', '\177x', '\377', '\38', '\0', '\00', '\101', 'ab\\', '\\']),
	('text', 'plain', ARRAY['', ' ', 'a"b', E'a\nb', 'é', '\N', 'NULL']),
	('varchar(5)', 'plain', ARRAY['12345', '123456', '12345  ', '12345 6', 'ééééé', 'éééééé', 'éééé ', '']),
	('char(5)', 'plain', ARRAY['12345', '123456', '12345   ', '12', 'ééééé', 'éééééé', ' ']),
	('int[]', '{1,2}', ARRAY['{}', '{ 1 , 2 }', '{NULL}', '{null,NuLl}', '{"1"}', '{"NULL"}', '{1,2', '{1,}', '{,1}', '1,2', '{{1},{2}}', '{{1},{2,3}}', '[2:3]={1,2}', '[2:4]={1,2}', '{2147483648}', '{1}x', '{1} ', ' {1}', '{1,', '{' || repeat('1,', 256) || '1}']),
	('text[]', '{a,b}', ARRAY['{}', '{""}', '{"a,b",c d}', '{a\,b}', '{"a\"b"}', '{"a\\b"}', '{ a b , c }', '{NULL,"NULL",nulL}', '{a"b"}', '{"a"b}', '{a', 'a}', '{{a},{b}}', '{é}', '{"{"}', '{a{b}', '{"a\}', '{"a\,b}', '{"a\,b"}', '{a\', '{"a\']),
	('timestamptz[]', '{"2024-05-06 12:00:00+02"}', ARRAY['{2024-05-06}', '{"2024-05-06 12:60:00+02"}', '{"2024-05-06 12:00:00+15:60"}', '{NULL,infinity}', '{"2024-02-30 00:00:00+00"}']);
-- another encoding than the server's: values with characters that are not ASCII, or whose bytes are more in UTF-8
INSERT INTO edges VALUES
	('text', 'plain', ARRAY['é', 'éa', 'aé', '£££££££££££££££££££££', ''], 'LATIN1'),
	('text', 'dürr', ARRAY['plain', 'é', '1'], 'LATIN1'),
	('varchar(5)', 'plain', ARRAY['ééééé', 'éééééé', 'ééééé ', '1234é'], 'LATIN1'),
	('int', '5', ARRAY['5é', 'é', '6'], 'LATIN1');
-- what the binary format has: numbers with more digits before the point, or after it, than the column takes
CREATE FUNCTION pg_temp.binary_differ(type text, vals numeric[], OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	one numeric;
	want text;
	got text;
BEGIN
	FOREACH one IN ARRAY vals LOOP
		EXECUTE format('COPY (SELECT g, CASE g WHEN 20 THEN %L::numeric ELSE 1 END FROM generate_series(1, 40) AS g) TO %L (FORMAT binary)', one, current_setting('fc.file'));
		want := pg_temp.ends(type, 'COPY got FROM %L (FORMAT binary)');
		got := pg_temp.ends(type, 'SELECT fast_copy(''got'', %L, format => ''binary'', workers => 0)');
		IF got IS DISTINCT FROM want THEN
			wrong := concat_ws(E'\n', wrong, format('%s: %s, not %s', one, got, want));
		END IF;
	END LOOP;
END
$$;
SELECT is(pg_temp.binary_differ(type, vals), NULL, format('%s in binary: %s values', type, cardinality(vals)))
FROM (VALUES ('numeric(5,0)', ARRAY[99999, 100000, 9999, 10000, -100000, 0.5, 'NaN', 1e10]), ('numeric(6,2)', ARRAY[9999.99, 9999.994, 9999.995, 10000, 1000, 0.001, 10, 100]),
	('numeric(6,0)', ARRAY[999999, 1000000, 123456]), ('numeric(7,0)', ARRAY[9999999, 10000000]), ('numeric(3,3)', ARRAY[0.999, 0.9999, 1, 0.0001]), ('numeric', ARRAY[1e30, 1e-30, 0, 'NaN', 'infinity', 10000.0001])) AS b (type, vals);

-- fields of a length that there is not
SELECT pg_temp.shell(format('printf "PGCOPY\\n\\377\\r\\n\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0\\4\\0\\0\\0\\1\\377\\377\\377\\377\\377\\377" >%s', :'file')) \g /dev/null
SELECT is(pg_temp.ends('int', 'SELECT fast_copy(''got'', %L, format => ''binary'', workers => 0)'), pg_temp.ends('int', 'COPY got FROM %L (FORMAT binary)'), 'a length of -1');
SELECT pg_temp.shell(format('printf "PGCOPY\\n\\377\\r\\n\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0\\4\\0\\0\\0\\1\\377\\377\\377\\376\\377\\377" >%s', :'file')) \g /dev/null
SELECT is(pg_temp.ends('int', 'SELECT fast_copy(''got'', %L, format => ''binary'', workers => 0)'), pg_temp.ends('int', 'COPY got FROM %L (FORMAT binary)'), 'a length of -2');

-- numbers as no server writes them: a first or a last digit of 0, and digits beyond their scale
CREATE FUNCTION pg_temp.raw_differ(bytes text, OUT wrong text) LANGUAGE plpgsql AS $f$
DECLARE
	want text;
	got text;
BEGIN
	PERFORM pg_temp.shell(format($$printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\1\0\0\0%s\377\377' >%s$$, bytes, current_setting('fc.file')));
	want := pg_temp.ends('numeric', 'COPY got FROM %L (FORMAT binary)');
	got := pg_temp.ends('numeric', 'SELECT fast_copy(''got'', %L, format => ''binary'', workers => 0)');
	IF got IS DISTINCT FROM want THEN
		wrong := format('%s, not %s', got, want);
	END IF;
END
$f$;
SELECT is(pg_temp.raw_differ(bytes), NULL, what)
	FROM (VALUES ('\14\0\2\0\1\0\0\0\0\0\0\0\1', 'a first digit of 0'), ('\14\0\2\0\1\0\0\0\0\0\1\0\0', 'a last digit of 0'),
		('\16\0\3\0\0\0\0\0\0\0\1\0\2\0\3', 'digits beyond the scale')) AS b (bytes, what);

-- texts of a binary file, which are in the client's encoding
CREATE FUNCTION pg_temp.client_differ(type text, encoding text, workers int, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
BEGIN
	EXECUTE format('COPY (SELECT g, CASE g WHEN 20 THEN ''é£'' ELSE ''abc'' END FROM generate_series(1, 40) AS g) TO %L (FORMAT binary)', current_setting('fc.file'));
	PERFORM set_config('client_encoding', encoding, true);
	want := pg_temp.ends(type, 'COPY got FROM %L (FORMAT binary)');
	got := pg_temp.ends(type, format('SELECT fast_copy(''got'', %%L, format => ''binary'', workers => %s)', workers));
	RESET client_encoding;
	IF got IS DISTINCT FROM want OR position(CASE encoding WHEN 'LATIN1' THEN '20 Ã©Â£' ELSE '20 é£' END IN want) = 0 THEN
		wrong := format('%s, not %s', got, want);
	END IF;
END
$$;
SELECT is(pg_temp.client_differ(type, encoding, workers), NULL, format('%s in binary of a client in %s, %s workers', type, encoding, workers))
FROM unnest('{text,varchar(4),char(4)}'::text[]) AS type, unnest('{LATIN1,SQL_ASCII,UTF8}'::text[]) AS encoding, unnest('{0,1}'::int[]) AS workers;

-- each second of some hours around a change of clocks
CREATE FUNCTION pg_temp.clocks_differ(zone text, change timestamp) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
BEGIN
	PERFORM set_config('timezone', zone, true);
	PERFORM pg_temp.file(format('SELECT g, timestamp %L + g * interval ''1 s'' FROM generate_series(-7500, 7500) AS g', change));
	want := pg_temp.ends('timestamptz', 'COPY got FROM %L (FORMAT csv)');
	got := pg_temp.ends('timestamptz', 'SELECT fast_copy(''got'', %L, workers => 0)');
	PERFORM set_config('timezone', 'UTC', true);
	RETURN (SELECT min(concat_ws(', not ', g, w)) FROM ROWS FROM (string_to_table(got, ', '), string_to_table(want, ', ')) AS u (g, w) WHERE g IS DISTINCT FROM w);
END
$$;
SELECT is(pg_temp.clocks_differ(zone, change), NULL, format('clocks of %s, %s', zone, change)) FROM (VALUES ('Europe/Berlin', timestamp '2024-10-27 02:30'), ('Europe/Berlin', '2024-03-31 02:30'),
	('Australia/Lord_Howe', '2024-04-07 01:45'), ('America/Sao_Paulo', '2018-11-04 00:00')) AS changes (zone, change);

SET LOCAL array_nulls = off;
SELECT is(pg_temp.differ('text[]', '{a,b}', ARRAY['{NULL,1}', '{null}'], 'UTF8'), NULL, 'array_nulls off');
RESET array_nulls;

SELECT is(pg_temp.differ(type, plain, vals, encoding), NULL, format('%s in %s: %s values', type, encoding, cardinality(vals))) FROM edges;

SELECT * FROM finish();
ROLLBACK;
