-- One table that is too large for one worker is loaded in slices by several, and
-- is in key order nevertheless, rows with equal keys in file order.

\set name slices
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT set_config('fc.load', '0', true) \g /dev/null
SELECT plan(60);

-- 100,000 rows of one day in no order; each key comes twenty times; "n" counts
-- the lines of the file
CREATE TEMP TABLE expected AS
SELECT timestamp '2024-05-06' + (g * 7919 % 5000) * interval '10 s' AS k, g AS n, md5(g::text) AS t
FROM generate_series(1, 100000) AS g;
SELECT format('COPY (SELECT * FROM expected ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec

-- Rows of the loads after number "since" that stand behind one that should
-- follow them; "load" tells one load's rows from another's
CREATE FUNCTION pg_temp.misplaced(rel regclass, since int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT k, n, lag(k) OVER w AS k0, lag(n) OVER w AS n0 FROM %s'
				   ' WHERE load > %s WINDOW w AS (ORDER BY ctid)) AS s WHERE (k, n) <= (k0, n0)', rel, since)
	INTO result;
	RETURN result;
END
$$;

-- Loads, and checks the rows of this load: five tests
CREATE FUNCTION pg_temp.check_load(target regclass, leaf text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s with %s workers: ', target, workers);
	since int := current_setting('fc.load')::int;
	slices text;
BEGIN
	PERFORM set_config('fc.load', (since + 1)::text, true);
	RETURN NEXT is(fast_copy(target, current_setting('fc.file'), 'k', columns => '{k,n,t}', workers => workers),
				   100000::bigint, about || 'rows');
	SELECT choice INTO slices FROM fast_copy_report() WHERE partition = leaf;
	RETURN NEXT ok(workers < 2 OR substring(slices FROM '\d+')::int >= 4, about || 'has several slices');
	RETURN NEXT is(pg_temp.misplaced(leaf, since), 0::bigint, about || 'in key order, ties in file order');
	EXECUTE format('SELECT count(*) FROM (SELECT k, n, t FROM %s WHERE load > %s EXCEPT ALL SELECT * FROM expected) AS s', leaf, since) INTO slices;
	RETURN NEXT is(slices, '0', about || 'no row too many');
	EXECUTE format('SELECT count(*) FROM (SELECT * FROM expected EXCEPT ALL SELECT k, n, t FROM %s WHERE load > %s) AS s', leaf, since) INTO slices;
	RETURN NEXT is(slices, '0', about || 'no row missing');
END
$$;

CREATE TABLE part (k timestamp, n int, t text, load int DEFAULT current_setting('fc.load')::int) PARTITION BY RANGE (k);
CREATE TABLE plain (LIKE part INCLUDING DEFAULTS);

-- a new partition, and the same when it has rows
SELECT pg_temp.check_load('part', 'part_p20240506', 4);
SELECT pg_temp.check_load('part', 'part_p20240506', 4);
SELECT pg_temp.check_load('part', 'part_p20240506', 2);
-- a plain table, in the order of the column that was named
SELECT pg_temp.check_load('plain', 'plain', 4);
SELECT pg_temp.check_load('plain', 'plain', 0);

-- without a column, the order of the file; this also shows that rows in
-- disorder would be noticed
TRUNCATE plain;
SELECT is(fast_copy('plain', current_setting('fc.file'), columns => '{k,n,t}', workers => 0), 100000::bigint, 'plain without key: rows');
SELECT is((SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY ctid) AS n0 FROM plain) AS s WHERE n <> n0 + 1), 0::bigint,
	'plain without key: in file order');
SELECT cmp_ok(pg_temp.misplaced('plain', 0), '>', 0::bigint, 'plain without key: not in key order');
TRUNCATE plain;
SELECT is(fast_copy('plain', current_setting('fc.file'), columns => '{k,n,t}', workers => 4), 100000::bigint, 'plain without key: rows of 4 workers');
SELECT is((SELECT count(DISTINCT n) FROM plain), 100000::bigint, 'plain without key: each of them once');

-- one key only: nothing but file order is left to cut by
SELECT format('COPY (SELECT timestamp ''2024-06-01'', n, t FROM expected ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(fast_copy('part', current_setting('fc.file'), columns => '{k,n,t}', workers => 4), 100000::bigint, 'one key: rows');
SELECT is((SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY ctid) AS n0 FROM part_p20240601) AS s WHERE n <> n0 + 1), 0::bigint,
	'one key: in file order');

-- where rows are ready, and most of the time goes into entries of indexes, one
-- process loads a leaf: another would wait for its turn
CREATE FUNCTION pg_temp.check_processes(target regclass, leaf text, shall int, about text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT pg_temp.check_load(target, leaf, 4);
	RETURN NEXT is((SELECT processes FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL), shall::bigint, about);
END
$$;
SELECT format('COPY (SELECT * FROM expected ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE INDEX ON part (n);
SELECT pg_temp.check_processes('part', 'part_p20240506', 1, 'one partition with an index: the leader alone');
SET LOCAL fast_copy.spill = 'offsets';
SELECT pg_temp.check_processes('part', 'part_p20240506', 4, 'rows are parsed as they are loaded: all workers');
RESET fast_copy.spill;
ALTER TABLE part ADD CHECK (t > '');
SELECT pg_temp.check_processes('part', 'part_p20240506', 4, 'a condition is evaluated meanwhile: all workers');
ALTER TABLE part DROP CONSTRAINT part_t_check;
CREATE TABLE halves (LIKE part INCLUDING DEFAULTS) PARTITION BY RANGE (k);
CREATE TABLE halves_1 PARTITION OF halves FOR VALUES FROM ('2024-05-06') TO ('2024-05-06 04:00');
CREATE TABLE halves_2 PARTITION OF halves FOR VALUES FROM ('2024-05-06 04:00') TO ('2024-05-07');
INSERT INTO halves SELECT k, n, t, 0 FROM expected WHERE n % 2 = 0;
CREATE INDEX ON halves (n);
SELECT set_config('fc.load', (current_setting('fc.load')::int + 1)::text, true) \g /dev/null
SELECT is(fast_copy('halves', current_setting('fc.file'), columns => '{k,n,t}', workers => 4), 100000::bigint, 'two partitions: rows');
SELECT is((SELECT processes FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL), 2::bigint, '... by a worker each');
SELECT is(pg_temp.misplaced(leaf, current_setting('fc.load')::int - 1), 0::bigint, leaf || ': in key order') FROM (VALUES ('halves_1'), ('halves_2')) AS l (leaf);
SELECT set_eq('SELECT k, n, t FROM halves WHERE load > 0', 'TABLE expected', 'each of them once');
SET LOCAL enable_seqscan = off;
SELECT is((SELECT count(*) FROM halves WHERE n BETWEEN 1 AND 1000), 1500::bigint, 'indexes have them');

-- rows that are routed, which go to leaves with rows by whole pages: a chunk in its turn
CREATE TABLE hashed (k timestamp, n int, t text) PARTITION BY HASH (n);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT k, -n, t FROM expected WHERE n <= 1000;
SET LOCAL fast_copy.writer = page;
SELECT is(fast_copy('hashed', current_setting('fc.file'), workers => 4), 100000::bigint, 'routed rows');
SELECT is((SELECT count(*) FROM (SELECT n < lag(n) OVER (PARTITION BY tableoid ORDER BY ctid) AS back FROM hashed WHERE n > 0) AS s WHERE back), 0::bigint, '... in file order');
SELECT set_eq('SELECT * FROM hashed WHERE n > 0', 'TABLE expected', '... each of them once');
SELECT is((SELECT count(*) FROM hashed WHERE n < 0), 1000::bigint, '... beside those that were there');

SELECT * FROM finish();
ROLLBACK;
