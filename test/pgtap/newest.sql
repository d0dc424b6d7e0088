-- dedup_order: of equal rows the greatest in these columns stays, wherever it comes
-- from.  Combinations are drawn, and compared with SQL.

\set name newest
\ir begin.psql

-- Of the draws a fourth runs, by FC_SEED of the environment; without it all of them do.
\getenv seed FC_SEED
SELECT :{?seed} AS drawn \gset
\if :drawn
SELECT plan(83);
SELECT diag('FC_SEED=' || :'seed' || ' draws these, and repeats them');
\else
\set seed ''
SELECT plan(323);
\endif
SELECT set_config('fc.seed', :'seed', true) \g /dev/null

-- One of them, by the draw's number and what it is for
CREATE FUNCTION pg_temp.draw(n int, what text, VARIADIC words text[]) RETURNS text LANGUAGE sql AS $$
	SELECT words[1 + (hashtext(n || what) & 2147483647) % array_length(words, 1)]
$$;

-- Rows, n of them at most, of few values; with "unique" the key is there once
CREATE FUNCTION pg_temp.rows(draw int, what text, n int, uniq bool) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %s timestamp ''2024-01-01'' + (h(1) %% 12) * interval ''7 hours'' AS ts, h(2) %% 25 AS d, CASE WHEN h(3) %% 5 > 0 THEN h(3) %% 7 END AS u,
			CASE WHEN h(4) %% 4 > 0 THEN chr(97 + h(4) %% 5) END AS v, CASE WHEN h(5) %% 9 > 0 THEN h(5) %% 3 / 2.0 END AS f, %L || g || repeat(''x'', h(6) %% 200) AS note
		FROM generate_series(1, %s) AS g', CASE WHEN uniq THEN 'DISTINCT ON (1, 2)' ELSE '' END, what, n)
$$;

CREATE FUNCTION pg_temp.run(draw int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	way text := pg_temp.draw(draw, 'way', 'merge', 'update', 'nothing', 'update');
	kind text := pg_temp.draw(draw, 'kind', 'days', 'days', 'plain', CASE way WHEN 'merge' THEN 'days' ELSE 'hash' END);
	columns text := pg_temp.draw(draw, 'columns', 'u', 'v', 'f', 'u,v', 'v,u,f', 'f,ts');
	keep text := pg_temp.draw(draw, 'keep', 'last', 'first', '');
	first bool := keep = 'first' OR keep = '' AND way = 'nothing';
	of_file int := pg_temp.draw(draw, 'of file', '1', '40', '3000', '3000')::int;
	call text;
	said text;
	loaded bigint;
BEGIN
	DROP TABLE IF EXISTS t, was, news, shall;
	EXECUTE 'CREATE TABLE was AS ' || pg_temp.hashed(pg_temp.rows(draw, 'table', 400, true), draw);
	EXECUTE 'CREATE TABLE news AS ' || pg_temp.hashed(pg_temp.rows(draw, 'file', of_file, false), draw + 1000);
	EXECUTE 'CREATE TABLE t (ts timestamp NOT NULL, d int, u int, v text COLLATE "C", f float8, note text)' || CASE kind WHEN 'days' THEN ' PARTITION BY RANGE (ts)' WHEN 'hash' THEN ' PARTITION BY HASH (d)' ELSE '' END;
	IF kind = 'days' THEN
		EXECUTE (SELECT string_agg(format('CREATE TABLE t%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i, date '2024-01-01' + i, date '2024-01-02' + i), ';') FROM generate_series(0, 2) AS i);
		DELETE FROM was WHERE ts >= '2024-01-04';
	ELSIF kind = 'hash' THEN
		CREATE TABLE t0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE t1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	END IF;
	IF way <> 'merge' OR draw % 2 = 0 THEN ALTER TABLE t ADD PRIMARY KEY (ts, d); END IF;
	INSERT INTO t SELECT * FROM was;
	-- a leaf that the file has no rows for stays as it is, and so do all rows that are there once
	EXECUTE format('CREATE TABLE shall AS SELECT * FROM (SELECT DISTINCT ON (ts, d) * FROM (SELECT 0 AS source, ctid AS at, * FROM was UNION ALL SELECT 1, ctid, * FROM news) AS every
			ORDER BY ts, d, %s %s, source %s, at %3$s) AS x', CASE way WHEN 'nothing' THEN 'CASE WHEN source = 0 THEN 0 ELSE 1 END,' ELSE '' END,
		(SELECT string_agg(c || ' DESC NULLS LAST', ', ') FROM unnest(string_to_array(replace(columns, 'v', 'v COLLATE "C"'), ',')) AS c), CASE WHEN first THEN 'ASC' ELSE 'DESC' END);
	PERFORM set_config('fast_copy.memory', pg_temp.draw(draw, 'memory', '64MB', '256kB'), true), set_config('fast_copy.chunk_size', pg_temp.draw(draw, 'chunk', '16MB', '10kB', '700B'), true);
	call := format('SELECT fast_copy(''t'', %L, timestamp_column => ''ts'', workers => %s, dedup_keys => ''{ts,d}'', dedup_order => %L%s, %s)', pg_temp.file('TABLE news'),
		pg_temp.draw(draw, 'workers', '0', '1', '2', '4'), '{' || columns || '}', CASE keep WHEN '' THEN '' ELSE format(', dedup_keep => %L', keep) END,
		CASE way WHEN 'merge' THEN 'existing_rows => ''merge''' ELSE format('on_conflict => %L', way) END);
	EXECUTE call INTO loaded;
	SELECT string_agg(format('%s %s', n, x), E'\n') INTO said FROM (
		SELECT 'is wrong', to_jsonb(x) FROM (SELECT * FROM t EXCEPT ALL SELECT ts, d, u, v, f, note FROM shall) AS x UNION ALL
		SELECT 'lacks', to_jsonb(x) FROM (SELECT ts, d, u, v, f, note FROM shall EXCEPT ALL SELECT * FROM t) AS x LIMIT 5) AS d (n, x);
	RETURN NEXT is(said, NULL, format('%s: %s, %s rows into %s, newest %s, keep %s', draw, way, of_file, kind, columns, keep));
	RETURN NEXT is(loaded, (SELECT count(*) FROM shall WHERE source = 1), '... and says how many rows of the file stay');
	RETURN NEXT is((SELECT updated FROM fast_copy_report() WHERE phase = 'total'),
		CASE way WHEN 'nothing' THEN 0 ELSE (SELECT count(*) FROM shall JOIN was USING (ts, d) WHERE source = 1) END, '... and how many of the table they took the place of');
	-- once more changes nothing
	EXECUTE call;
	RETURN NEXT is((SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT ts, d, u, v, f, note FROM shall) AS x), 0::bigint, '... once more is the same');
END
$$;

-- h(i): a number that the row's and the draw's numbers and i give
CREATE FUNCTION pg_temp.hashed(query text, draw int) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(query, 'h\((\d)\)', format('(hashint8(g * 8 + \1 + %s) & 2147483647)', draw * 100003), 'g')
$$;

SELECT pg_temp.run(draw) FROM generate_series(1, 80) AS draw
WHERE current_setting('fc.seed') = '' OR draw % 4 = (hashtext(current_setting('fc.seed')) & 2147483647) % 4;

SELECT is((pg_temp.failure($$SELECT fast_copy('t', '/x', dedup_order => '{u}')$$))[1:2], ARRAY['22023', 'dedup_order requires existing_rows "merge", or on_conflict'], 'it wants equal rows');
SELECT is((pg_temp.failure($$SELECT fast_copy('t', '/x', dedup_order => '{u}', existing_rows => 'merge')$$))[1:2], ARRAY['22023', 'dedup_order requires dedup_keys'], '... and their columns');
SELECT is((pg_temp.failure(format($$SELECT fast_copy('t', %L, 'ts', dedup_keys => '{ts,d}', dedup_order => '{u,u}', on_conflict => 'update')$$, current_setting('fc.file'))))[1:2],
	ARRAY['42701', 'column "u" specified more than once'], 'a column twice');

SELECT * FROM finish();
ROLLBACK;
