-- However little memory a load may use, it gives the same table.

\set name memory
\ir begin.psql
SELECT plan(68);

-- 300,000 rows of 20 days in no order: 24 bytes each to sort are 7 MB, the file
-- has 20 MB
CREATE TABLE source AS
SELECT timestamp '2024-05-01' + (g::bigint * 104729 % 1728000) * interval '1 s' AS k, g AS n, repeat(chr(65 + g % 26), g % 90) AS t
FROM generate_series(1, 300000) AS g;
SELECT format('COPY source TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);

-- Loads, and compares rows and order: five tests
CREATE FUNCTION pg_temp.check_memory(memory text, spill text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s, %s, %s workers: ', memory, spill, workers);
	leaf regclass;
	n bigint;
	misplaced bigint := 0;
BEGIN
	PERFORM set_config('fast_copy.memory', memory, true);
	PERFORM set_config('fast_copy.spill', spill, true);
	DROP TABLE part;
	CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
	RETURN NEXT is(fast_copy('part', current_setting('fc.file'), workers => workers), 300000::bigint, about || 'rows');
	RETURN NEXT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'part'::regclass), 20::bigint, about || 'partitions');
	RETURN NEXT is((SELECT count(*) FROM (TABLE part EXCEPT ALL TABLE source) AS s), 0::bigint, about || 'no row too many');
	RETURN NEXT is((SELECT count(*) FROM (TABLE source EXCEPT ALL TABLE part) AS s), 0::bigint, about || 'no row missing');
	FOR leaf IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'part'::regclass LOOP
		EXECUTE format('SELECT count(*) FROM (SELECT k, lag(k) OVER (ORDER BY ctid) AS k0 FROM %s) AS s WHERE k < k0', leaf) INTO n;
		misplaced := misplaced + n;
	END LOOP;
	RETURN NEXT is(misplaced, 0::bigint, about || 'in key order');
END
$$;

SELECT pg_temp.check_memory('1MB', 'rows', 0);
SELECT pg_temp.check_memory('1MB', 'offsets', 2);
SELECT pg_temp.check_memory('1MB', 'rows', 4);
SELECT pg_temp.check_memory('256MB', 'auto', 2);

-- What auto chooses, and why
CREATE FUNCTION pg_temp.choice() RETURNS text LANGUAGE sql AS
$$SELECT choice FROM fast_copy_report() WHERE phase = 'scan'$$;
SELECT alike(pg_temp.choice(), 'rows spilled: offsets read %times the file, which stays in the page cache', 'rows of a file that is cached');
-- as for a file that is larger than the page cache
SET LOCAL effective_cache_size = '8kB';
SELECT pg_temp.check_memory('256MB', 'auto', 2);
SELECT alike(pg_temp.choice(), 'rows spilled%times the file', 'rows of a file in no order');
SET LOCAL temp_file_limit = '20MB';
SELECT pg_temp.check_memory('4MB', 'auto', 1);
SELECT is(pg_temp.choice(), 'offsets spilled: temp_file_limit is too low for rows', 'rows need more temporary space');
SET LOCAL temp_file_limit = -1;
SELECT format('COPY (SELECT * FROM source ORDER BY k) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
DROP TABLE part;
CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
CREATE TABLE part_before PARTITION OF part FOR VALUES FROM ('2024-05-01') TO ('2024-05-02');
SELECT is(fast_copy('part', current_setting('fc.file'), workers => 1), 300000::bigint, 'rows in order, some of them into a partition that is there');
SELECT alike(pg_temp.choice(), 'offsets spilled%times the file', 'offsets of a file in order');

-- Nobody looks at a program's rows before: all of a partition are one cell, which
-- is cut, as is that of the rows without a key
CREATE TABLE keyless AS SELECT CASE WHEN n % 3 > 0 THEN k END AS k, n, t FROM source WHERE n <= 200000;
SELECT format('COPY (TABLE keyless ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE FUNCTION pg_temp.check_cut(memory text, spill text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('a large cell, %s, %s, %s workers: ', memory, spill, workers);
BEGIN
	PERFORM set_config('fast_copy.memory', memory, true);
	PERFORM set_config('fast_copy.spill', spill, true);
	DROP TABLE part;
	CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
	CREATE TABLE part_rest PARTITION OF part DEFAULT;
	RETURN NEXT is(fast_copy('part', format('cat %s', current_setting('fc.file')), program => true, partition_interval => '1 month', workers => workers),
		200000::bigint, about || 'rows');
	RETURN NEXT is((SELECT array_agg(rows ORDER BY rows) FROM fast_copy_report() WHERE phase = 'load' AND partition IS NOT NULL),
		ARRAY[66666, 133334]::bigint[], about || 'of two partitions');
	RETURN NEXT ok((SELECT bool_and(choice LIKE '1 slice%') FROM fast_copy_report() WHERE phase = 'load' AND partition IS NOT NULL), about || 'each one cell');
	RETURN NEXT is((SELECT count(*) FROM ((TABLE part EXCEPT ALL TABLE keyless) UNION ALL (TABLE keyless EXCEPT ALL TABLE part)) AS s), 0::bigint, about || 'the same');
	RETURN NEXT is((SELECT count(*) FROM (SELECT (coalesce(k, '-infinity'), n) < lag((coalesce(k, '-infinity'), n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS wrong FROM part) AS s WHERE wrong),
		0::bigint, about || 'in key order, those without one in the order of the file');
END
$$;
SELECT pg_temp.check_cut('1MB', 'rows', 1);
SELECT pg_temp.check_cut('1MB', 'offsets', 2);
SELECT pg_temp.check_cut('2MB', 'auto', 4);

-- Code that throws in the midst of such a cell: the first bad row, of the other
-- cell, is COPY's
CREATE FUNCTION refuse(n int) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	IF n IN (60000, 100000) THEN
		RAISE 'refused %', n;
	END IF;
	RETURN true;
END
$$;
DROP TABLE part;
CREATE TABLE part (LIKE source, CHECK (refuse(n))) PARTITION BY RANGE (k);
CREATE TABLE part_rest PARTITION OF part DEFAULT;
SET LOCAL fast_copy.memory = '1MB';
SELECT throws_like(format('SELECT fast_copy(''part'', ''cat %s'', program => true, partition_interval => ''1 month'', workers => %s)', current_setting('fc.file'), workers),
	'refused 60000', format('stopped in a cell that was cut, %s workers', workers)) FROM unnest('{1,2}'::int[]) AS workers;

-- Records that are longer than all the memory
CREATE TABLE long AS
SELECT timestamp '2024-05-01' + (g * 37 % 48) * interval '1 h' AS k, g AS n, repeat(chr(65 + g % 26), g * 97 % 41 * 50000 + g) AS t
FROM generate_series(1, 40) AS g;
SELECT format('COPY long TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE FUNCTION pg_temp.check_long(workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('long records, %s workers: ', workers);
BEGIN
	PERFORM set_config('fast_copy.memory', '1MB', true);
	PERFORM set_config('fast_copy.spill', 'rows', true);
	DROP TABLE part;
	CREATE TABLE part (LIKE source) PARTITION BY RANGE (k);
	RETURN NEXT is(fast_copy('part', current_setting('fc.file'), workers => workers), 40::bigint, about || 'rows');
	RETURN NEXT is((SELECT count(*) FROM ((TABLE part EXCEPT ALL TABLE long) UNION ALL (TABLE long EXCEPT ALL TABLE part)) AS s), 0::bigint, about || 'the same');
	RETURN NEXT is((SELECT count(*) FROM (SELECT k, lag(k) OVER (PARTITION BY tableoid ORDER BY ctid) AS k0 FROM part) AS s WHERE k < k0), 0::bigint, about || 'in key order');
END
$$;
SELECT pg_temp.check_long(0);
SELECT pg_temp.check_long(2);

-- A condition makes the scan parse whole records, here such of 40 kB
SELECT format('COPY (SELECT timestamp ''2024-05-01'' + n * interval ''1 h'', n, repeat(''x'', 40000) FROM generate_series(1, 600) AS n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE FUNCTION pg_temp.note_memory(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF n % 100 = 0 THEN
		PERFORM set_config('fc.peak', greatest(current_setting('fc.peak')::bigint, (SELECT sum(total_bytes)
			FROM pg_backend_memory_contexts WHERE name = 'fast_copy scan row'))::text, true);
	END IF;
	RETURN n > 590;
END
$$;
SELECT set_config('fc.peak', '0', true) \g /dev/null
TRUNCATE part;
SELECT is(fast_copy('part', current_setting('fc.file'), where_clause => 'pg_temp.note_memory(n)'), 10::bigint, 'long rows that are looked at in the scan');
SELECT cmp_ok(current_setting('fc.peak')::bigint, '<', 1000000::bigint, 'are not kept there');

-- What the leader alone keeps of few rows takes no file, as COPY takes none
TRUNCATE part;
SELECT format('COPY (SELECT * FROM source WHERE n <= 500) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SET LOCAL fast_copy.spill = 'auto';
SET LOCAL temp_file_limit = 0;
SELECT is(fast_copy('part', current_setting('fc.file')), 500::bigint, 'few rows without temporary files');
SELECT is((SELECT count(*) FROM ((TABLE part EXCEPT ALL SELECT * FROM source WHERE n <= 500) UNION ALL (SELECT * FROM source WHERE n <= 500 EXCEPT ALL TABLE part)) AS s), 0::bigint, 'are all there');
SELECT is((SELECT spill_bytes FROM fast_copy_report() WHERE phase = 'scan'), 0::bigint, 'and none is reported as spilled');
SET LOCAL temp_file_limit = -1;
SELECT cmp_ok((SELECT spill_bytes FROM (SELECT fast_copy('part', current_setting('fc.file'), workers => 1)) AS load, fast_copy_report() WHERE phase = 'scan'), '>', 0::bigint, 'a worker is given files');
SELECT results_eq($$SELECT reads > 0, bytes = (SELECT spill_bytes FROM fast_copy_report() WHERE phase = 'scan') FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL$$,
	'VALUES (true, true)', 'which it reads as a whole');
SELECT ok((SELECT bool_and(reads > 0) FROM fast_copy_report() WHERE phase = 'load' AND partition IS NOT NULL), 'for each partition');
SELECT is((SELECT DISTINCT io_method FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL), NULL, 'by no method of the source');

-- Pages of one partition are written when they are as much as the load may have
CREATE FUNCTION pg_temp.note_private(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF n % 2000 = 0 THEN
		PERFORM set_config('fc.most', greatest(current_setting('fc.most')::int, substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)')::int)::text, true);
	END IF;
	RETURN true;
END
$$;
CREATE TABLE filled (k timestamp, n int, t text, CHECK (pg_temp.note_private(n))) PARTITION BY RANGE (k);
SELECT format('COPY (SELECT timestamp ''2024-01-01'' + g * interval ''1 ms'', g, repeat(''t'', 200) FROM generate_series(1, 150000) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SET LOCAL fast_copy.writer = page;
SELECT set_config('fc.most', '0', true) \g /dev/null
SELECT pg_temp.note_private(2000) \g /dev/null
SELECT current_setting('fc.most')::int AS before \gset
SET LOCAL fast_copy.memory = '1MB';
SELECT fast_copy('filled', current_setting('fc.file'), workers => 0, partition_interval => '1 day') \g /dev/null
SELECT cmp_ok(current_setting('fc.most')::int - :before, '<', 15000, 'of 36 MB of pages a few are kept');

SELECT * FROM finish();
ROLLBACK;
