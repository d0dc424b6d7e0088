-- The tuples that are formed are those that COPY forms, byte by byte: columns of
-- every width, alignment and storage, with and without NULLs.  Those of a file in
-- key order are formed on new pages, others are spilled first: as rows, if all
-- columns are of common types.

CREATE EXTENSION IF NOT EXISTS pageinspect;
\set name tuples
\ir begin.psql
SET LOCAL fast_copy.root_directory = :'tmp_dir';
SELECT plan(64);

CREATE FUNCTION pg_temp.tuples(rel regclass) RETURNS TABLE (infomask int, natts int, hoff int, bits text, data bytea) LANGUAGE sql AS $$
	SELECT t_infomask & 2055, t_infomask2 & 2047, t_hoff, t_bits, t_data
	FROM generate_series(0, pg_relation_size(rel) / current_setting('block_size')::int - 1) AS block,
		heap_page_items(get_raw_page(rel::text, block::int))
$$;

-- One value of each type, and a table with the types in a random order, some twice
CREATE TEMP TABLE types (type text, value text, storage text);
INSERT INTO types VALUES
	('boolean', 'g % 2 = 0', NULL), ('"char"', 'chr(65 + g % 26)', NULL), ('smallint', 'g - 500', NULL),
	('int', 'g * 1000003', NULL), ('bigint', 'g * 1000000000039', NULL), ('real', 'g / 7.0', NULL),
	('double precision', 'sqrt(g)', NULL), ('date', 'date ''2024-01-01'' + g', NULL), ('time', 'time ''10:00'' + g * interval ''1 s''', NULL),
	('timetz', 'timetz ''10:00+02'' + g * interval ''1 s''', NULL), ('interval', 'g * interval ''1 min''', NULL),
	('uuid', 'md5(g::text)::uuid', NULL), ('name', '''name '' || g', NULL), ('point', 'point(g, -g)', NULL),
	('macaddr', '''08:00:2b:01:02:03''', NULL), ('inet', 'inet ''10.0.0.0'' + g', NULL), ('text', 'repeat(''t'', g % 140)', NULL),
	('text', 'repeat(''u'', g % 140)', 'plain'), ('varchar(200)', 'repeat(''v'', g % 150)', 'external'),
	('char(9)', 'g', NULL), ('numeric', 'g * 1.01', NULL), ('numeric(12,3)', 'g * 1.01', 'plain'), ('bytea', 'decode(md5(g::text), ''hex'')', NULL),
	('int[]', 'ARRAY[g, NULL, 3]', NULL), ('float8[]', 'ARRAY[g]', 'plain'), ('jsonb', '''[1, 2]''', NULL), ('bit(5)', '''10101''', NULL),
	('tsvector', '''a b c''', NULL), ('int4range', 'int4range(g, g + 5)', NULL), ('xid', 'g', NULL), ('tid', '''(1,2)''', NULL);

-- A load of a table of n columns, of which a share in percent are NULL
CREATE FUNCTION pg_temp.check_tuples(seed float8, n int, nulls int, writer text, sort text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s columns, %s %% NULL, seed %s, %s, order of %s: ', n, nulls, seed, writer, sort);
	columns text;
	change text;
	vals text;
	wrong bigint;
BEGIN
	PERFORM setseed(seed), set_config('fast_copy.writer', writer, true);
	SELECT string_agg(format('c%s %s', i, type), ', '), string_agg(format('ALTER c%s SET STORAGE %s', i, storage), ', ') FILTER (WHERE storage <> ''),
		string_agg(format('CASE WHEN (g * 7919 + %s * 104729) %% 100 >= %s THEN %s END', i, nulls, value), ', ')
	INTO columns, change, vals
	FROM (SELECT row_number() OVER (ORDER BY random()) AS i, t.* FROM types AS t, generate_series(1, 3)
		WHERE sort = 'g' OR type ~ '^(boolean|smallint|int|bigint|real|double precision|date|time|uuid|text|varchar.*|char.*|numeric.*|bytea)$') AS s
	WHERE i <= n;
	EXECUTE format('CREATE TABLE wanted (k timestamp, %s)', columns);
	EXECUTE format('CREATE TABLE got (k timestamp, %s) PARTITION BY RANGE (k)', columns);
	IF change <> '' THEN
		EXECUTE 'ALTER TABLE wanted ' || change;
		EXECUTE 'ALTER TABLE got ' || change;
	END IF;
	EXECUTE format('COPY (SELECT timestamp ''2024-05-06'' + g * interval ''1 s'', %s FROM generate_series(1, 700) AS g ORDER BY %s) TO %L (FORMAT csv)',
				   vals, sort, current_setting('fc.file'));
	EXECUTE format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'));
	PERFORM fast_copy('got', current_setting('fc.file'), workers => 0);
	SELECT count(*) INTO wrong FROM (SELECT * FROM pg_temp.tuples('wanted') EXCEPT ALL SELECT t.* FROM pg_inherits, pg_temp.tuples(inhrelid) AS t WHERE inhparent = 'got'::regclass) AS s;
	RETURN NEXT is(wrong, 0::bigint, about || 'the tuples of COPY');
	SELECT count(*) INTO wrong FROM pg_inherits, pg_temp.tuples(inhrelid) AS t WHERE inhparent = 'got'::regclass;
	RETURN NEXT is(wrong, 700::bigint, about || 'and as many');
	DROP TABLE wanted, got;
END
$$;

SELECT pg_temp.check_tuples(seed, n, nulls, writer, sort)
FROM (VALUES (0.1, 5, 0), (0.2, 31, 0), (0.3, 31, 30), (0.4, 60, 0), (0.5, 60, 10), (0.6, 60, 100), (0.7, 25, 0), (0.8, 12, 50)) AS v (seed, n, nulls),
	(VALUES ('page', 'g'), ('page', 'g * 7919 % 701'), ('multi_insert', 'g * 7919 % 701')) AS w (writer, sort);

-- pages that a table gets besides those it has, with a part of the last
SET LOCAL fast_copy.writer = page;
CREATE TABLE appended (n int, t text);
INSERT INTO appended SELECT g, repeat('t', g) FROM generate_series(1, 10) AS g;
SELECT pg_temp.file('SELECT g, repeat(''t'', g % 100) FROM generate_series(11, 5000) AS g') \g /dev/null
SELECT fast_copy('appended', current_setting('fc.file'), workers => 0) \g /dev/null
SELECT is(array_agg(n ORDER BY ctid), array_agg(n ORDER BY n), 'pages follow those that were there') FROM appended WHERE length(t) = n % 100;
SELECT is(count(*), 5000::bigint, 'with all rows') FROM appended;

-- of a batch of rows the one that is too long for a page is told
CREATE TABLE long (n int, t text);
ALTER TABLE long ALTER t SET STORAGE plain;
CREATE INDEX ON long (n);
SET LOCAL fast_copy.writer = multi_insert;
SELECT is((f)[1] || ' ' || (f)[2] || ' ' || substring((f)[9], 'line [0-9]+'), '54000 row is too big: size 9032, maximum size 8160 line ' || line, 'a row that is too long in line ' || line)
FROM unnest('{1,2,500,999,1500}'::int[]) AS line,
	pg_temp.file(format('SELECT g, CASE g WHEN %s THEN repeat(''t'', 9000) END FROM generate_series(1, 1500) AS g', line)) AS file,
	pg_temp.failure(format('SELECT fast_copy(''long'', %L, workers => 0)', file)) AS f;

-- of two such rows the first of the file is told, though the other's partition is filled first
CREATE TABLE longs (k timestamp, t text) PARTITION BY RANGE (k);
ALTER TABLE longs ALTER t SET STORAGE plain;
CREATE TABLE longs_1 PARTITION OF longs FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
CREATE TABLE longs_2 PARTITION OF longs FOR VALUES FROM ('2024-01-02') TO ('2024-01-03');
INSERT INTO longs VALUES ('2024-01-01', ''), ('2024-01-02', '');
SELECT is((f)[1] || ' ' || substring((f)[9], 'line [0-9]+'), '54000 line 10', format('the first of two rows that are too long, %s workers', w))
FROM unnest('{0,2}'::int[]) AS w,
	pg_temp.file('SELECT timestamp ''2024-01-01'' + CASE WHEN g < 2000 THEN interval ''1 day'' ELSE interval ''0'' END + g * interval ''1 s'', CASE WHEN g IN (10, 2500) THEN repeat(''t'', 9000) END FROM generate_series(1, 4000) AS g') AS file,
	pg_temp.failure(format('SELECT fast_copy(''longs'', %L, ''k'', workers => %s)', file, w)) AS f;
-- ... of one of several lines the last
CREATE TABLE tall (n int PRIMARY KEY, t text);
ALTER TABLE tall ALTER t SET STORAGE plain;
SELECT pg_temp.file('SELECT g, CASE g WHEN 250 THEN E''a long line\nb'' || repeat(''x'', 9000) ELSE ''t'' END FROM generate_series(1, 600) AS g') \g /dev/null
SELECT is(substring((pg_temp.failure(format('SELECT fast_copy(''tall'', %L, workers => %s)', :'file', w)))[9], 'line [0-9]+'), 'line 251', format('the last of its lines, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;

-- a column that must have a value and has none is seen wherever it stands
CREATE FUNCTION pg_temp.misses(n int, i int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	file text := pg_temp.write(ARRAY[(SELECT string_agg('"1"', ',') FROM generate_series(1, n)), (SELECT string_agg(CASE WHEN j <> i THEN '"1"' ELSE '' END, ',') FROM generate_series(1, n) AS j)]);
	copied text[];
	loaded text[];
BEGIN
	EXECUTE format('CREATE TABLE narrow (%s)', (SELECT string_agg(format('c%s int %s', j, CASE WHEN j = i THEN 'NOT NULL' END), ', ') FROM generate_series(1, n) AS j));
	copied := pg_temp.failure(format('COPY narrow FROM %L (FORMAT csv)', file));
	loaded := pg_temp.failure(format('SELECT fast_copy(''narrow'', %L, workers => 0)', file));
	DROP TABLE narrow;
	RETURN CASE WHEN copied[1] <> '23502' OR copied[1:8] IS DISTINCT FROM loaded[1:8] THEN format('%s of %s: %s', i, n, loaded) END;
END
$$;
SELECT is((SELECT string_agg(pg_temp.misses(n, i), '; ') FROM generate_series(1, 17) AS n, generate_series(greatest(n - 8, 2), n) AS i), NULL, 'a missing value in each place of rows of each width');

-- pages are about as full as fillfactor says
CREATE TABLE half (n int, t text) WITH (fillfactor = 50);
CREATE TABLE half_copied (LIKE half) WITH (fillfactor = 50);
SELECT pg_temp.file('SELECT g, repeat(''t'', g % 50) FROM generate_series(1, 5000) AS g') AS file \gset
COPY half_copied FROM :'file' (FORMAT csv);
CREATE FUNCTION pg_temp.fill(writer text, workers int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('fast_copy.writer', writer, true);
	TRUNCATE half;
	PERFORM fast_copy('half', current_setting('fc.file'), workers => workers);
	RETURN (SELECT format('%s rows, %s pages%s', (SELECT count(*) FROM half), CASE WHEN abs(pages - wanted) <= wanted * 0.05 THEN 'as many' ELSE pages::text END, CASE WHEN choice ~ writer THEN '' ELSE ' by ' || choice END)
		FROM (SELECT pg_relation_size('half') / 8192 AS pages, pg_relation_size('half_copied') / 8192 AS wanted) AS s, fast_copy_report() WHERE phase = 'load' AND partition IS NULL);
END
$$;
SELECT is(pg_temp.fill(writer, w), '5000 rows, as many pages', format('half full pages, %s, %s workers', writer, w)) FROM unnest('{page,multi_insert}'::text[]) AS writer, unnest('{0,2}'::int[]) AS w;

SELECT * FROM finish();
ROLLBACK;
