-- What is spilled comes back as it was: files are drawn, of keys that are spread, few, one
-- or in heaps, of rows of all widths beside each other, with lines in quotes and now and
-- then a row that is an error; so are the memory, the chunks, the workers and what is
-- spilled of a row.  The tables are those of COPY, each partition is in key order, rows with
-- equal keys in file order, and errors are COPY's, at COPY's line.  With fc.seed and
-- fc.cases others are drawn, and more.

\set name spills
\ir begin.psql
SELECT plan(11);

-- The key of row g, by how they are spread
CREATE FUNCTION pg_temp.key(g int, spread text) RETURNS timestamp LANGUAGE sql VOLATILE AS $$
	SELECT timestamp '2024-05-06' + interval '1 s' * CASE spread WHEN 'spread' THEN random() * 400000 WHEN 'few' THEN g * 7919 % 5 * 50000 WHEN 'one' THEN 7
		WHEN 'heaps' THEN CASE WHEN random() < 0.05 THEN random() * 400000 ELSE 80000 + random() * 3 END WHEN 'down' THEN 400000 - g * 10
		ELSE g * 10 + CASE WHEN random() < 0.01 THEN 100000 ELSE 0 END END
$$;

-- How a load ends: the error and where it is, or nothing
CREATE FUNCTION pg_temp.ends(load text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	place text;
BEGIN
	EXECUTE load;
	RETURN '';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS place = PG_EXCEPTION_CONTEXT;
	RETURN concat_ws(' ', sqlstate, sqlerrm, substring(place from 'line \d+'));
END
$$;

CREATE FUNCTION pg_temp.wrong(OUT wrong text, OUT errors float8) LANGUAGE plpgsql AS $$
DECLARE
	about text;
	rows int;
	cases int := coalesce(nullif(current_setting('fc.cases', true), ''), '30');
	spread text;
	wide int;
	columns text;
	options text;
	bad bool;
	want text;
	got text;
	counts text;
BEGIN
	errors := 0;
	PERFORM setseed(coalesce(nullif(current_setting('fc.seed', true), ''), '0.3')::float8);
	FOR i IN 1 .. cases LOOP
		rows := pg_temp.pick('1', '300', '3000', '12000')::int;
		spread := pg_temp.pick('spread', 'few', 'one', 'heaps', 'down', 'up');
		wide := pg_temp.pick('0', '0', '3000', '30000', '300000')::int;
		bad := random() < 0.15;
		-- arrays and composite types are formed after the sort
		columns := pg_temp.pick('t text, i int', 't text, i int', 't text, i int[]', 't varchar, i "char"', 't text, i numeric');
		PERFORM set_config('fast_copy.memory', pg_temp.pick('1MB', '1MB', '4MB', '64MB'), true), set_config('fast_copy.spill', pg_temp.pick('auto', 'rows', 'offsets'), true),
			set_config('fast_copy.chunk_size', pg_temp.pick('64kB', '1MB'), true);
		options := format('workers => %s', pg_temp.pick('0', '1', '2', '3'));
		EXECUTE format('COPY (SELECT g, pg_temp.key(g, %L), CASE WHEN %s > 0 AND g %% %s = 7 THEN repeat(chr(97 + g %% 26), %s) WHEN g %% 10 = 1 THEN E''a\n"b'' WHEN g %% 10 = 2 THEN NULL ELSE left(md5(g::text), g %% 33) END,
			CASE WHEN %L AND g = %s THEN ''much'' WHEN g %% 13 = 0 THEN NULL WHEN %L THEN ''{1,2}'' ELSE (g %% 10)::text END FROM generate_series(1, %s) AS g) TO %L (FORMAT csv)',
			spread, wide, greatest(wide / 100, 50), wide, bad, 1 + floor(random() * rows), columns ~ '\[', rows, current_setting('fc.file'));
		about := format('case %s: %s rows, %s, %s wide, %s, %s, memory %s, spill %s, chunks of %s, bad %s', i, rows, spread, wide, columns, options, current_setting('fast_copy.memory'),
			current_setting('fast_copy.spill'), current_setting('fast_copy.chunk_size'), bad);
		EXECUTE format('CREATE TABLE wanted (n int, k timestamp, %s)', columns);
		EXECUTE format('CREATE TABLE got (n int, k timestamp, %s) %s', columns, CASE WHEN random() < 0.7 THEN 'PARTITION BY RANGE (k)' ELSE '' END);
		want := pg_temp.ends(format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file')));
		got := pg_temp.ends(format('SELECT fast_copy(''got'', %L, ''k'', %s)', current_setting('fc.file'), options));
		SELECT concat_ws(' ', (SELECT count(*) FROM (SELECT * FROM wanted EXCEPT ALL SELECT * FROM got) AS s), (SELECT count(*) FROM (SELECT * FROM got EXCEPT ALL SELECT * FROM wanted) AS s),
			(SELECT count(*) FROM (SELECT row(k, n) < lag(row(k, n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS back FROM got) AS s WHERE back)) INTO counts;
		errors := errors + (want <> '')::int / cases::float8;
		wrong := concat_ws(E'\n', wrong, CASE WHEN got <> want THEN about || ': ' || got || ', not ' || want END, CASE WHEN counts <> '0 0 0' THEN about || ': rows missing, too many, out of order: ' || counts END);
		DROP TABLE wanted, got;
	END LOOP;
END
$$;

SELECT coalesce(wrong, '') AS wrong, errors FROM pg_temp.wrong() \gset
SELECT is(:'wrong'::text, '', 'rows, their order and errors');
SELECT cmp_ok(:errors, '<', 0.5, 'most files have no error');

-- Where offsets are spilled: records of no length, whose key is NULL
SET LOCAL fast_copy.spill = 'offsets';
CREATE TABLE blanks (k timestamp) PARTITION BY RANGE (k);
CREATE TABLE blanks_rest PARTITION OF blanks DEFAULT;
SELECT fast_copy('blanks', pg_temp.file('SELECT CASE WHEN g % 3 > 0 THEN pg_temp.key(g, ''down'') END FROM generate_series(1, 2000) AS g'), workers => w) FROM unnest('{0,2}'::int[]) AS w \g /dev/null
SELECT results_eq('SELECT k, count(*) FROM blanks GROUP BY 1 ORDER BY 1', 'SELECT CASE WHEN g % 3 > 0 THEN pg_temp.key(g, ''down'') END, 2 * count(*) FROM generate_series(1, 2000) AS g GROUP BY 1 ORDER BY 1', 'empty records');
-- ... few of records that need more memory than there is, and many of those that do not
CREATE TABLE cut (k timestamp, n int, t text) PARTITION BY RANGE (k);
-- "among" rows that come one after another are wide
CREATE FUNCTION pg_temp.cut(memory text, rows int, among int, wide int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('fast_copy.memory', memory, true), set_config('fast_copy.chunk_size', '8MB', true);
	PERFORM pg_temp.file(format('SELECT timestamp ''2024-05-06'' + g * 7919 %% %s * interval ''1 s'', g, repeat(chr(97 + g %% 26), CASE WHEN g * 7919 %% %1$s < %s THEN %s ELSE 9 END) FROM generate_series(1, %1$s) AS g', rows, among, wide));
	TRUNCATE cut;
	PERFORM fast_copy('cut', current_setting('fc.file'), 'k', workers => 0);
	RETURN concat_ws(' ', (SELECT count(*) FROM cut WHERE k = timestamp '2024-05-06' + n * 7919 % rows * interval '1 s' AND t = repeat(chr(97 + n % 26), CASE WHEN n * 7919 % rows < among THEN wide ELSE 9 END)), (SELECT count(DISTINCT n) FROM cut),
		(SELECT count(*) FROM (SELECT k < lag(k) OVER (PARTITION BY tableoid ORDER BY ctid) AS back FROM cut) AS s WHERE back));
END
$$;
SELECT is(pg_temp.cut('1MB', 500, 100, 30000), '500 500 0', 'offsets that are in memory, of records that have no room there');
SELECT ok(bytes BETWEEN 3000000 AND 6000000, '... bytes: ' || bytes) FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL;
SELECT is(pg_temp.cut('1MB', 9000, 100, 30000), '9000 9000 0', '... of which most are short');
SELECT is(pg_temp.cut('400MB', 8000, 8000, 9000), '8000 8000 0', 'records of many megabytes at once');
-- ... a day of few long rows and one of many short ones: no room has the bytes of the one
-- and the places of the other
SET LOCAL fast_copy.spill = 'rows';
SET LOCAL fast_copy.memory = '1MB';
SET LOCAL fast_copy.chunk_size = '1MB';
CREATE TABLE two (k timestamp, t text) PARTITION BY RANGE (k);
CREATE TABLE two_wanted AS SELECT timestamp '2024-05-06' + (g * 7919 % 10000) * interval '8 s' + (g % 50 > 0)::int * interval '1 day' AS k, CASE WHEN g % 50 = 0 THEN repeat(md5(g::text), 100) END AS t FROM generate_series(1, 10000) AS g;
SELECT is(fast_copy('two', pg_temp.file('TABLE two_wanted'), 'k', workers => 0), 10000::bigint, 'rows of two kinds');
SELECT bag_eq('TABLE two', 'TABLE two_wanted', '... in two days');
-- ... long records are not spilled, and are read again one by one
SELECT is(pg_temp.cut('1MB', 500, 100, 60000), '500 500 0', 'long records beside rows');
SELECT ok(reads BETWEEN 100 AND 200, '... reads: ' || reads) FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL;

SELECT * FROM finish();
ROLLBACK;
