-- A file in key order is loaded as it comes, without a scan; by the leader alone
-- without a split.  What only looks so is loaded another way, with the same rows.

\set name presorted
\ir begin.psql
SELECT plan(60);

-- Writes the rows of a query in its order, and loads them by COPY and by
-- fast_copy: six tests for each number of workers
CREATE FUNCTION pg_temp.check_load(about text, chunk text, query text, scans bool[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	workers int;
	scanned bool;
	name text;
	wrong bigint;
BEGIN
	PERFORM pg_temp.file(query);
	CREATE TABLE wanted (k timestamp, n int, t text);
	EXECUTE format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'));
	PERFORM set_config('fast_copy.chunk_size', chunk, true);
	FOREACH workers IN ARRAY '{0,2}'::int[] LOOP
		name := format('%s, chunks of %s, %s workers: ', about, chunk, workers);
		-- without workers, and with them
		scanned := scans[1 + workers / 2];
		CREATE TABLE got (k timestamp, n int, t text) PARTITION BY RANGE (k);
		RETURN NEXT is(fast_copy('got', current_setting('fc.file'), 'k', partition_interval => '1 day', workers => workers),
			(SELECT count(*) FROM wanted), name || 'all rows');
		RETURN NEXT is((SELECT count(*) > 0 FROM fast_copy_report() WHERE phase = 'scan'), scanned, name || CASE WHEN scanned THEN 'scanned' ELSE 'not scanned' END);
		RETURN NEXT ok(workers > 0 OR (SELECT bool_and(processes IS NULL) FROM fast_copy_report() WHERE phase = 'split'), name || 'the leader alone needs no split');
		SELECT count(*) INTO wrong FROM ((TABLE wanted EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE wanted)) AS s;
		RETURN NEXT is(wrong, 0::bigint, name || 'the rows of COPY');
		SELECT count(*) INTO wrong FROM (SELECT (k, n) < lag((k, n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS w FROM got) AS s WHERE w;
		RETURN NEXT is(wrong, 0::bigint, name || 'in key order, ties in file order');
		RETURN NEXT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'got'::regclass), (SELECT count(DISTINCT k::date) FROM wanted), name || 'a partition for each day');
		DROP TABLE got;
	END LOOP;
	DROP TABLE wanted;
END
$$;

-- four days, twenty rows with each key
SELECT pg_temp.check_load('in order', '16kB',
	$$SELECT timestamp '2024-05-06' + g / 20 * interval '6 min', g, md5(g::text) FROM generate_series(1, 19000) AS g$$, '{f,f}');
-- a chunk may begin in quotes, where a line looks like a row of another day: only
-- a split tells
SELECT pg_temp.check_load('with lines in quotes', '100B',
	$$SELECT timestamp '2024-05-06' + g * interval '9 min', g, E'a\n2024-05-07 00:00:00,1,x\n2024-05-08 00:00:00,2,y\nb' FROM generate_series(1, 300) AS g$$, '{t,f}');
SELECT pg_temp.check_load('with the last row before', '16kB',
	$$SELECT timestamp '2024-05-06' + g * interval '1 min', g, md5(g::text) FROM generate_series(1, 4000) AS g
		UNION ALL SELECT timestamp '2024-05-06', 4001, 'last'$$, '{t,t}');
-- no record that is looked at is out of order
SELECT pg_temp.check_load('with a row in between before', '1MB',
	$$SELECT timestamp '2024-05-06' + CASE g WHEN 30000 THEN 0 ELSE g / 10 END * interval '1 min', g, md5(g::text) FROM generate_series(1, 50000) AS g$$, '{t,t}');

-- Nobody reads a record of any length only to look at its key
SELECT pg_temp.check_load('a long record first', '1MB', $$SELECT timestamp '2024-05-01' + g * interval '1 hour', g, CASE g WHEN 1 THEN repeat('long ', 3500000) ELSE 'short' END FROM generate_series(1, 100) AS g ORDER BY g$$, '{true,true}');

SELECT * FROM finish();
ROLLBACK;
