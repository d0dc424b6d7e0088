-- fast_copy_drain() and fast_copy_repartition(): what moves rows loses none, and
-- leaves the others where they are.  Combinations are drawn, and compared with SQL.

\set name drain
\ir begin.psql
CREATE EXTENSION amcheck;
SET LOCAL jit = off;

-- Of the draws a fourth runs, by FC_SEED of the environment; without it all of them do.
\getenv seed FC_SEED
SELECT :{?seed} AS drawn \gset
\if :drawn
SELECT plan(152);
SELECT diag('FC_SEED=' || :'seed' || ' draws these, and repeats them');
\else
\set seed ''
SELECT plan(600);
\endif
SELECT set_config('fc.seed', :'seed', true) \g /dev/null

-- One of them, by the draw's number and what it is for
CREATE FUNCTION pg_temp.draw(n int, what text, VARIADIC words text[]) RETURNS text LANGUAGE sql AS $$
	SELECT words[1 + (hashtext(n || what) & 2147483647) % array_length(words, 1)]
$$;

-- The bounds of a partition as literals of the key's type, so many units after the first day
CREATE FUNCTION pg_temp.key(type text, unit int) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN type LIKE '%int' THEN (unit * 10)::text ELSE (timestamp '2024-01-31' + unit * interval '1 day')::text END
$$;

CREATE FUNCTION pg_temp.leaves() RETURNS TABLE (leaf regclass) LANGUAGE sql AS $$
	SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('t')
$$;

-- Heaps and indexes that are not sound, indexes that a leaf lacks, and what is left behind
CREATE FUNCTION pg_temp.unsound() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint := 0;
BEGIN
	FOR r IN SELECT leaf FROM pg_temp.leaves() LOOP
		n := n + (SELECT count(*) FROM verify_heapam(r.leaf, check_toast => true));
		PERFORM bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am AS a ON a.oid = relam
			WHERE amname = 'btree' AND (indrelid = r.leaf OR indrelid = (SELECT reltoastrelid FROM pg_class AS c WHERE c.oid = r.leaf));
		n := n + (SELECT count(*) FROM pg_index AS p WHERE indrelid = 't'::regclass AND
			(SELECT count(*) FROM pg_inherits JOIN pg_index AS i ON i.indexrelid = inhrelid WHERE inhparent = p.indexrelid AND i.indrelid = r.leaf AND i.indisvalid) <> 1);
	END LOOP;
	RETURN n + pg_temp.left_behind() + (SELECT count(*) FROM pg_index WHERE indrelid = 't'::regclass AND NOT indisvalid) +
		(SELECT count(*) FROM pg_class AS t WHERE relkind = 't' AND relnamespace = 'pg_toast'::regnamespace AND NOT EXISTS (SELECT FROM pg_class WHERE reltoastrelid = t.oid));
END
$$;

-- Makes table t with days (or tens) 0 to 9 in partitions, some of which are missing
CREATE FUNCTION pg_temp.make(draw int, type text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	step int := pg_temp.draw(draw, 'step', '1', '1', '2', '5')::int;
	i int := 0;
BEGIN
	EXECUTE format('CREATE TABLE t (%s k %s, n int, v text) PARTITION BY RANGE (k)', pg_temp.draw(draw, 'dropped', '', 'gone int,'), type);
	IF pg_temp.draw(draw, 'dropped', '', 'gone int,') <> '' THEN ALTER TABLE t DROP COLUMN gone; END IF;
	-- its columns stand in another order, and one was dropped
	CREATE TABLE t_d (v text, gone float8, n int);
	EXECUTE format('ALTER TABLE t_d ADD k %s; ALTER TABLE t_d DROP COLUMN gone', type);
	IF pg_temp.draw(draw, 'like', 'like', 'other') = 'other' THEN
		ALTER TABLE t ATTACH PARTITION t_d DEFAULT;
	ELSE
		DROP TABLE t_d;
		CREATE TABLE t_d PARTITION OF t DEFAULT;
	END IF;
	WHILE i < 10 LOOP
		IF pg_temp.draw(draw, 'made' || i, 'yes', 'yes', 'no') = 'yes' THEN
			EXECUTE format('CREATE TABLE t_%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i, pg_temp.key(type, i), pg_temp.key(type, i + step));
		END IF;
		i := i + step;
	END LOOP;
	EXECUTE pg_temp.draw(draw, 'index', 'SELECT', 'CREATE INDEX ON t (n)', 'CREATE UNIQUE INDEX ON t (k, n)', 'CREATE INDEX ON t ((n + 1)) WHERE n > 50; CREATE INDEX ON t USING hash (v)', 'ALTER TABLE t ADD UNIQUE (n, k); CREATE INDEX ON t USING brin (k)');
	-- rows of 0 to 14, and some without a key, or with one that has no partition of its own
	EXECUTE format($i$INSERT INTO t (k, n, v) SELECT CASE WHEN g %% 97 = 0 THEN NULL %s ELSE %s END, g, CASE g %% 40 WHEN 0 THEN (SELECT string_agg(md5(g::text || i), '') FROM generate_series(1, 100) AS i) WHEN 1 THEN NULL ELSE repeat('x', g %% 90) END
			FROM generate_series(1, %s) AS g$i$,
		CASE WHEN type NOT LIKE '%int' THEN format('WHEN g %% 101 = 0 THEN %L::%s WHEN g %% 103 = 0 THEN %L::%2$s', 'infinity', type, '-infinity') ELSE '' END,
		CASE WHEN type LIKE '%int' THEN '(g * 7919 % 150)' ELSE '(timestamp ''2024-01-31'' + g * 7919 % 21600 * interval ''1 min'')::' || type END,
		pg_temp.draw(draw, 'rows', '0', '50', '2000', '9000'));
	-- versions that nobody sees, and a column that the first rows do not store
	UPDATE t SET n = -n WHERE n % 11 = 0;
	DELETE FROM t WHERE n % 13 = 0;
	IF pg_temp.draw(draw, 'late', 'yes', 'no') = 'yes' THEN
		ALTER TABLE t ADD late int DEFAULT 7, ADD made int GENERATED ALWAYS AS (n * 2) STORED;
		INSERT INTO t (k, n, v, late) SELECT k, n + 100000, v, 8 FROM t WHERE n BETWEEN 100 AND 200;
	END IF;
END
$$;

CREATE FUNCTION pg_temp.run(draw int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	type text := pg_temp.draw(draw, 'type', 'timestamp', 'timestamptz', 'date', 'int', 'bigint');
	way text := pg_temp.draw(draw, 'way', 'drain', 'drain', 'drop', 'detach');
	width text := CASE WHEN type LIKE '%int' THEN pg_temp.draw(draw, 'width', '10', '3', '40') ELSE pg_temp.draw(draw, 'width', '1 day', '1 month', '1 week', '3 days') END;
	bounded bool := pg_temp.draw(draw, 'bounded', 'yes', 'no') = 'yes';
	lo text := pg_temp.key(type, pg_temp.draw(draw, 'lo', '0', '0', '2')::int);
	hi text := pg_temp.key(type, pg_temp.draw(draw, 'hi', '10', '12', '20')::int);
	call text := format('%s, replace_from => %L, replace_to => %L, workers => %s)', CASE way WHEN 'drain' THEN format('SELECT fast_copy_drain(''t'', partition_interval => %L', width) ELSE
		format('SELECT fast_copy_repartition(''t'', %L, partition_interval => %L', way, width) END, CASE WHEN bounded THEN lo END, CASE WHEN bounded THEN hi END, draw % 4);
	said text := format('draw %s: %s: ', draw, call);
	inside text := format('k IS NOT NULL %s %s', CASE WHEN bounded THEN format('AND k >= %L AND k < %L', lo, hi) ELSE '' END, CASE WHEN type LIKE '%int' THEN '' ELSE 'AND isfinite(k)' END);
	got bigint;
	fails text[];
BEGIN
	DROP TABLE IF EXISTS t, was, olds, t_0, t_1, t_2, t_3, t_4, t_5, t_6, t_7, t_8, t_9;
	PERFORM pg_temp.make(draw, type);
	EXECUTE 'CREATE TABLE was AS SELECT tableoid AS leaf, k, n, v, t::text AS whole FROM t';
	-- partitions that are cut anew
	EXECUTE format('CREATE TABLE olds AS SELECT leaf::oid, leaf::text AS name, split_part(leaf::text, ''_'', 2)::int AS unit FROM pg_temp.leaves() WHERE leaf <> ''t_d''::regclass AND %L', way <> 'drain');
	IF bounded THEN
		DELETE FROM olds AS o WHERE unit < (CASE lo WHEN pg_temp.key(type, 2) THEN 2 ELSE 0 END);
	END IF;
	DROP TABLE IF EXISTS before;
	CREATE TABLE before AS SELECT leaf::oid FROM pg_temp.leaves();
	PERFORM set_config('fast_copy.memory', pg_temp.draw(draw, 'memory', '64MB', '256kB'), true), set_config('fast_copy.writer', pg_temp.draw(draw, 'writer', 'auto', 'page', 'multi_insert'), true);
	IF pg_temp.draw(draw, 'lo', '0', '0', '2') = '2' AND pg_temp.draw(draw, 'step', '1', '1', '2', '5') = '5' AND way <> 'drain' AND bounded AND
		pg_temp.draw(draw, 'made0', 'yes', 'yes', 'no') = 'yes' THEN
		fails := pg_temp.failure(call);
		RETURN NEXT is(fails[1:3], ARRAY['0A000', 'cannot move rows of table "t_0"', format('Only a part of its keys, %s, lies between replace_from and replace_to.',
			(SELECT replace(pg_get_expr(relpartbound, oid), 'FOR VALUES ', '') FROM pg_class WHERE oid = 't_0'::regclass))], said || 'a partition is cut');
		RETURN QUERY SELECT pass(said || i) FROM generate_series(2, 8) AS i;
		RETURN;
	END IF;
	EXECUTE call INTO got;
	-- more than were asked for, where a new partition reaches over the end of the range
	RETURN NEXT is(got, (SELECT count(*) FROM t WHERE tableoid NOT IN (TABLE before)), said || 'rows that moved');
	RETURN NEXT is((SELECT count(*) FROM ((SELECT t::text, k, n, v FROM t EXCEPT ALL SELECT whole, k, n, v FROM was) UNION ALL (SELECT whole, k, n, v FROM was EXCEPT ALL SELECT t::text, k, n, v FROM t)) AS d), 0::bigint, said || 'the rows');
	EXECUTE format('SELECT count(*) FROM t WHERE %s AND tableoid IN (SELECT ''t_d''::regclass::oid UNION ALL SELECT leaf FROM olds)', inside) INTO got;
	RETURN NEXT is(got, 0::bigint, said || 'none is left where it was');
	RETURN NEXT is((SELECT count(*) FROM was JOIN t USING (k, n) WHERE leaf <> t.tableoid AND leaf <> 't_d'::regclass AND leaf NOT IN (SELECT leaf FROM olds)), 0::bigint, said || 'no other moved');
	RETURN NEXT is(pg_temp.unsound(), 0::bigint, said || 'it is sound, and nothing is left behind');
	IF way = 'detach' AND EXISTS (SELECT FROM olds) THEN
		EXECUTE (SELECT 'SELECT ' || string_agg(format('(SELECT count(*) FROM %s)', name), ' + ') FROM olds) INTO got;
		RETURN NEXT is(got, (SELECT count(*) FROM was WHERE leaf IN (SELECT leaf FROM olds)), said || 'old partitions have their rows');
	ELSE
		RETURN NEXT is((SELECT count(*) FROM olds WHERE to_regclass(name) IS NOT NULL), 0::bigint, said || 'old partitions are gone');
	END IF;
	-- the keys of partitions that had no row have partitions, too
	EXECUTE coalesce((SELECT string_agg(format('INSERT INTO t (k, n, v) VALUES (%L, -1000000, NULL)', pg_temp.key(type, unit)), ';') FROM olds), 'SELECT');
	RETURN NEXT is((SELECT count(*) FROM t_d WHERE n = -1000000), 0::bigint, said || 'keys of old partitions');
	EXECUTE format('SELECT fast_copy_drain(''t'', partition_interval => %L, replace_from => %L, replace_to => %L)', width, CASE WHEN bounded THEN lo END, CASE WHEN bounded THEN hi END) INTO got;
	RETURN NEXT is(got, 0::bigint, said || 'nothing is left to drain');
END
$$;

SELECT pg_temp.run(n) FROM generate_series(1, 75) AS n
WHERE :'seed' = '' OR n IN (SELECT i FROM generate_series(1, 75) AS i ORDER BY md5(:'seed' || i) LIMIT 19);

SELECT * FROM finish();
ROLLBACK;
