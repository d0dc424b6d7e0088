-- A file in key order is loaded as it comes, without a scan; one that only
-- looked so is loaded all the same, and nothing is left of the attempt.

\set name streamed
\ir begin.psql
SET LOCAL fast_copy.writer = page;
SELECT plan(52);

-- 60,000 rows of seven days, of which one has none, three rows at a time alike
CREATE TABLE source AS
SELECT timestamp '2024-02-27' + (g / 3 * 21) * interval '1 s' + CASE WHEN g >= 40000 THEN interval '2 days' ELSE interval '0' END AS k,
	g AS n, repeat(chr(65 + g % 26), g % 60) AS t
FROM generate_series(1, 60000) AS g;
CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);

-- Loads, and compares rows and their order: six tests
CREATE FUNCTION pg_temp.check_streamed(workers int, chunk int, choice text, days bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s workers, chunks of %s: ', workers, chunk);
	leaf regclass;
	n bigint;
	misplaced bigint := 0;
BEGIN
	PERFORM set_config('fast_copy.chunk_size', chunk::text, true);
	DROP TABLE part;
	CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
	RETURN NEXT is(fast_copy('part', current_setting('fc.file'), workers => workers), 60000::bigint, about || 'rows');
	RETURN NEXT is((SELECT string_agg(r.choice, '; ' ORDER BY r.choice) FROM fast_copy_report() AS r WHERE phase IN ('scan', 'load') AND partition IS NULL), choice, about || 'how');
	RETURN NEXT is((SELECT count(*) FROM pg_class WHERE relname LIKE 'part\_%' AND relkind = 'r'), days, about || 'tables, one a day with rows');
	RETURN NEXT is((SELECT count(*) FROM (TABLE part EXCEPT ALL TABLE source) AS s), 0::bigint, about || 'no row too many');
	RETURN NEXT is((SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE part) AS s), 0::bigint, about || 'no row missing');
	FOR leaf IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'part'::regclass LOOP
		EXECUTE format('SELECT count(*) FROM (SELECT k, n, lag(k) OVER w AS k0, lag(n) OVER w AS n0 FROM %s WINDOW w AS (ORDER BY ctid)) AS s WHERE (k, n) < (k0, n0)', leaf) INTO n;
		misplaced := misplaced + n;
	END LOOP;
	RETURN NEXT is(misplaced, 0::bigint, about || 'in the order of the file');
END
$$;

SELECT pg_temp.file('SELECT * FROM source ORDER BY n') \g /dev/null
SELECT pg_temp.check_streamed(0, 16777216, 'streamed in key order, page', 6);
SELECT pg_temp.check_streamed(1, 65536, 'streamed in key order, page', 6);
SELECT pg_temp.check_streamed(2, 32768, 'streamed in key order, page', 6);
SELECT pg_temp.check_streamed(4, 1000, 'streamed in key order, page', 6);

-- One row that is not in order, where nobody has looked
UPDATE source SET k = k - interval '1 day' WHERE n = 17640;
SELECT pg_temp.file('SELECT * FROM source ORDER BY n') \g /dev/null
CREATE FUNCTION pg_temp.given_up() RETURNS text LANGUAGE sql AS
$$SELECT string_agg(choice, '; ' ORDER BY choice) FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL$$;
CREATE FUNCTION pg_temp.check_given_up(workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('given up, %s workers: ', workers);
BEGIN
	DROP TABLE part;
	CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
	RETURN NEXT is(fast_copy('part', current_setting('fc.file'), workers => workers), (SELECT count(*) FROM source), about || 'rows');
	RETURN NEXT is(pg_temp.given_up(), 'given up: the file is not in key order; in key order, page', about || 'how');
	RETURN NEXT is((SELECT count(*) FROM pg_class WHERE relname LIKE 'part\_%' AND relkind = 'r'), 6::bigint, about || 'tables');
	RETURN NEXT is((SELECT count(*) FROM (TABLE part EXCEPT ALL TABLE source) AS s), 0::bigint, about || 'no row too many');
	RETURN NEXT is((SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE part) AS s), 0::bigint, about || 'no row missing');
END
$$;
SET LOCAL fast_copy.chunk_size = '1MB';
SELECT pg_temp.check_given_up(0);
SELECT pg_temp.check_given_up(2);
SELECT pg_temp.check_given_up(4);
UPDATE source SET k = k + interval '1 day' WHERE n = 17640;

-- A key that is NULL, or not plain, where nobody has looked
DROP TABLE part;
CREATE TABLE part (k timestamp, n int, t text) PARTITION BY RANGE (k);
SELECT pg_temp.file('SELECT CASE WHEN n = 17640 THEN NULL ELSE k END, n, t FROM source ORDER BY n') \g /dev/null
SELECT throws_ok(format('SELECT fast_copy(%L, %L, workers => 2)', 'part', current_setting('fc.file')), '23514',
	'no partition of relation "part" found for row', 'NULL has no partition');
SELECT pg_temp.file($q$SELECT CASE WHEN n = 17640 THEN to_char(k, 'Mon DD HH24:MI:SS YYYY') ELSE k::text END, n, t FROM source ORDER BY n$q$) \g /dev/null
SELECT is(fast_copy('part', current_setting('fc.file'), workers => 2), 60000::bigint, 'a key written in another way');
SELECT is(pg_temp.given_up(), 'given up: the file is not in key order; in key order, page', 'it is none to stream by');
SELECT is((SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE part) AS s), 0::bigint, 'no row of it is missing');

-- Errors are those of COPY, with their lines
CREATE FUNCTION pg_temp.error(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'no error' ELSE f[1] || ' ' || f[2] || ', ' || substring(f[9] FROM 'line \d+') END FROM pg_temp.failure(statement) AS f
$$;
DROP TABLE part;
CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
SELECT pg_temp.file($q$SELECT k, CASE WHEN n IN (15000, 52000) THEN 'x' ELSE n::text END, t FROM source ORDER BY source.n$q$) \g /dev/null
SELECT is(pg_temp.error(format('SELECT fast_copy(%L, %L, workers => %s)', 'part', current_setting('fc.file'), w)),
	'22P02 invalid input syntax for type integer: "x", line 15000', format('a bad value, %s workers', w))
FROM unnest(ARRAY[0, 1, 2, 4]) AS w;
SELECT is((SELECT count(*) FROM pg_class WHERE relname LIKE 'part\_%' AND relkind = 'r'), 0::bigint, 'and no table is left');
CREATE UNIQUE INDEX ON part (k, n);
SELECT pg_temp.file($q$SELECT k, CASE WHEN n = 15001 THEN 15000 ELSE n END AS n, t FROM source WHERE n <> 15000 UNION ALL SELECT k, n, t FROM source WHERE n = 15000 ORDER BY k, n$q$) \g /dev/null
SELECT matches(pg_temp.error(format('SELECT fast_copy(%L, %L, workers => 2)', 'part', current_setting('fc.file'))),
	'^23505 duplicate key value violates unique constraint "part_p20240228_k_n_idx", line 15001$', 'equal rows');

-- What is in other tables already, or will be shown to a subscriber, is scanned
SELECT pg_temp.file('SELECT * FROM source ORDER BY n') \g /dev/null
DROP TABLE part;
CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
CREATE TABLE part_p20240228 PARTITION OF part FOR VALUES FROM ('2024-02-28') TO ('2024-02-29');
SELECT is(fast_copy('part', current_setting('fc.file'), workers => 2), 60000::bigint, 'one partition is there');
SELECT is((SELECT count(*) FROM fast_copy_report() WHERE phase = 'scan'), 1::bigint, 'then the file is scanned');
SELECT is((SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE part) AS s), 0::bigint, 'and no row is missing');

SELECT * FROM finish();
ROLLBACK;
