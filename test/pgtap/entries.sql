-- Index entries that come in runs are those of COPY, in B-trees of every kind; and
-- an index refuses the same line.

\set name entries
\ir begin.psql
SET LOCAL fast_copy.accelerate_min_size = 0;
SELECT plan(62);
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck') AS amcheck \gset
\if :amcheck
CREATE EXTENSION amcheck;
\endif

-- Every row is in every B-tree, in its place; what an index finds is what the rows say
CREATE FUNCTION pg_temp.sound(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is((SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE expected) AS s), 0::bigint, what || ': no row too many');
	RETURN NEXT is((SELECT count(*) FROM (TABLE expected EXCEPT ALL TABLE t) AS s), 0::bigint, what || ': no row missing');
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'amcheck') THEN
		RETURN NEXT skip('amcheck is not installed', 1);
		RETURN;
	END IF;
	PERFORM bt_index_parent_check(indexrelid, true, true) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a ON a.oid = relam
	WHERE indrelid = 't'::regclass AND amname = 'btree';
	RETURN NEXT pass(what || ': all entries are in order');
END
$$;

-- A table with rows and indexes is loaded twice: runs go between entries, behind them, and into pages that split
CREATE FUNCTION pg_temp.loads(indexes text[], workers int, ordered bool) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	index text;
	file text;
BEGIN
	CREATE TABLE t (k timestamp, n int, u int, g int, s text, w text);
	CREATE TABLE expected (LIKE t);
	ALTER TABLE t ALTER w SET STORAGE PLAIN;
	FOREACH index IN ARRAY indexes LOOP
		EXECUTE format(index, 't');
	END LOOP;
	FOR part IN 0..1 LOOP
		file := pg_temp.file(format('SELECT timestamp ''2024-01-01'' + (CASE g %% 3 WHEN 0 THEN 90000 ELSE g * 7919 %% 86400 END + %1$s * 1000) * interval ''1 s'' AS k, g + %1$s * 6000, CASE WHEN g %% 4 > 0 THEN g * 7919 %% 100003 + %1$s * 200000 END,
			nullif(g * 7919 %% 17, 3), CASE WHEN g %% 11 > 0 THEN md5((g * 13 %% 3000)::text) END, repeat(''w'', CASE WHEN g %% 50 = 0 THEN 2600 ELSE g %% 40 END) || g
			FROM generate_series(1, 6000) AS g ORDER BY %2$s', part, CASE WHEN ordered THEN 'k, g' ELSE 'md5(g::text)' END));
		IF part = 0 THEN
			EXECUTE format('INSERT INTO t SELECT * FROM (VALUES (timestamp ''2024-01-01'', 0, NULL::int, 1, ''x'', '''')) AS v');
			INSERT INTO expected TABLE t;
			-- dead rows, whose places new ones take
			EXECUTE format('COPY t FROM %L (FORMAT csv)', file);
			DELETE FROM t WHERE n % 2 = 0 AND n > 0;
			INSERT INTO expected SELECT * FROM t WHERE n > 0;
		ELSE
			EXECUTE format('COPY expected FROM %L (FORMAT csv)', file);
			RETURN NEXT is(fast_copy('t', file, CASE WHEN ordered THEN 'k' END, workers => workers), 6000::bigint, 'loads');
		END IF;
	END LOOP;
	RETURN QUERY SELECT pg_temp.sound(array_to_string(indexes, '; '));
	DROP TABLE t, expected;
END
$$;
SELECT pg_temp.loads('{CREATE INDEX ON %s (k)}', 0, true);
SELECT pg_temp.loads('{"CREATE INDEX ON %s (k DESC NULLS LAST, n) INCLUDE (g)","CREATE INDEX ON %s (g NULLS FIRST, s COLLATE \"C\" DESC)"}', 0, true);
SELECT pg_temp.loads('{"CREATE INDEX ON %s (g)","CREATE INDEX ON %s (g) WITH (deduplicate_items = off)","CREATE INDEX ON %s (s) WITH (fillfactor = 50)","CREATE INDEX ON %s (w)"}', 0, true);
SELECT pg_temp.loads('{"CREATE UNIQUE INDEX ON %s (n)","CREATE UNIQUE INDEX ON %s (u) INCLUDE (s)","CREATE UNIQUE INDEX ON %s (k DESC, n)"}', 0, true);
SELECT pg_temp.loads('{"CREATE UNIQUE INDEX ON %s (u, n) NULLS NOT DISTINCT","CREATE INDEX ON %s ((n %% 7), upper(s)) WHERE n %% 3 > 0"}', 2, true);
SELECT pg_temp.loads('{"CREATE INDEX ON %s (k)","CREATE INDEX ON %s USING hash (n)","CREATE UNIQUE INDEX ON %s (n)","CREATE INDEX ON %s USING brin (k)"}', 2, true);
SELECT pg_temp.loads('{"CREATE INDEX ON %s (k, g, s)","CREATE UNIQUE INDEX ON %s (n)","CREATE INDEX ON %s (s DESC)","CREATE INDEX ON %s (w)"}', 0, false);

-- Code of users sees COPY's order: row by row
CREATE SEQUENCE calls;
CREATE FUNCTION seen(text, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM nextval('calls'); IF $2 = 40 THEN RAISE 'seen'; END IF; RETURN $2; END$$;
CREATE TABLE t (k timestamp, n int);
CREATE INDEX ON t (n);
CREATE INDEX ON t (seen('a', n));
CREATE INDEX ON t (seen('b', n + 1));
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + g * interval '1 s', g FROM generate_series(1, 100) AS g$$) AS f \gset
SELECT is((pg_temp.failure(format('COPY t FROM %L (FORMAT csv)', :'f')))[2], 'seen', 'COPY meets the error');
SELECT nextval('calls') AS before \gset
SELECT is((pg_temp.failure(format('SELECT fast_copy(%L, %L, workers => 0)', 't', :'f')))[2], 'seen', 'so does fast_copy');
SELECT is(nextval('calls') - :before - 1, 78::bigint, 'after as many calls');
DROP TABLE t;

-- The line that COPY names: of each of these files, which are in key order
CREATE FUNCTION pg_temp.line(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', f[1], f[2], f[3], substring(f[9] FROM 'line \d+')) FROM pg_temp.failure(statement) AS f
$$;
CREATE TABLE t (k timestamp, n int, u int);
CREATE UNIQUE INDEX t_1 ON t (n);
CREATE INDEX ON t (k);
CREATE UNIQUE INDEX t_2 ON t (u) INCLUDE (k);
INSERT INTO t SELECT '2024-01-01', -g, -g FROM generate_series(1, 1000) AS g;
CREATE FUNCTION pg_temp.same_line(n text, u text, what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	file text := pg_temp.file(format('SELECT timestamp ''2024-01-01'' + g * interval ''1 s'', %s, %s FROM generate_series(1, 3000) AS g', n, u));
	line text := pg_temp.line(format('COPY t FROM %L (FORMAT csv)', file));
BEGIN
	FOR workers IN 0..1 LOOP
		RETURN NEXT is(pg_temp.line(format('SELECT fast_copy(''t'', %L, ''k'', workers => %s)', file, workers * 2)), line, format('%s: %s', what, line));
	END LOOP;
	RETURN NEXT isnt(line, NULL, 'it is an error');
END
$$;
SELECT pg_temp.same_line('CASE g WHEN 555 THEN -7 ELSE g END', 'g', 'a key that is there');
SELECT pg_temp.same_line('CASE g WHEN 556 THEN -7 WHEN 555 THEN -8 WHEN 557 THEN -1 ELSE g END', 'g', 'three of them');
SELECT pg_temp.same_line('CASE g WHEN 556 THEN -7 ELSE g END', 'CASE g WHEN 555 THEN -8 ELSE g END', 'in two indexes');
SELECT pg_temp.same_line('CASE g WHEN 555 THEN -7 ELSE g END', 'CASE g WHEN 555 THEN -8 ELSE g END', 'of one row');
SELECT pg_temp.same_line('CASE g WHEN 700 THEN 20 ELSE g END', 'g', 'a key of the same batch');
SELECT pg_temp.same_line('CASE g WHEN 2700 THEN 20 ELSE g END', 'g', 'a key of another batch');
SELECT pg_temp.same_line('g', 'CASE WHEN g % 2 = 0 THEN NULL WHEN g = 701 THEN 21 WHEN g = 603 THEN -8 ELSE g END', 'and NULLs, which are not equal');
SELECT pg_temp.same_line('CASE WHEN g = 801 THEN 3 ELSE 4000 - g END', 'CASE g WHEN 805 THEN -3 ELSE g END', 'in a descending column');
SELECT is((SELECT count(*) FROM t), 1000::bigint, 'nothing is loaded');

-- A range of a user's compares by functions of that user, whatever the index names: an
-- error that comes once is one.  It does not come from reading a range, which compares its ends.
CREATE FUNCTION once(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS $$BEGIN IF abs($1 - $2) > 1 AND nextval('calls') = 5 THEN RAISE 'once'; END IF; RETURN btint4cmp($1, $2); END$$;
CREATE OPERATOR CLASS once FOR TYPE int4 USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 once(int, int);
CREATE TYPE spans AS RANGE (subtype = int4, subtype_opclass = once);
CREATE TABLE ranges (k timestamp, r spans);
ALTER SEQUENCE calls RESTART 100;
CREATE INDEX ON ranges (r);
INSERT INTO ranges SELECT '2024-01-01', format('[%s,%s)', g + 10000, g + 10001)::spans FROM generate_series(1, 100) AS g;
SELECT pg_temp.file($$SELECT timestamp '2024-01-02' + g * interval '1 s', format('[%s,%s]', (g * 37) % 101, (g * 37) % 101 + 1) FROM generate_series(1, 100) AS g$$) AS f \gset
ALTER SEQUENCE calls RESTART 1;
SELECT is((pg_temp.failure(format('COPY ranges FROM %L (FORMAT csv)', :'f')))[2], 'once', 'COPY meets it');
ALTER SEQUENCE calls RESTART 1;
SELECT is((pg_temp.failure(format('SELECT fast_copy(%L, %L, %L, workers => 0)', 'ranges', :'f', 'k')))[2], 'once', 'so does fast_copy');

-- Entries of which only the first two are out of order
DROP TABLE IF EXISTS t, expected;
CREATE TABLE t (n int);
CREATE TABLE expected (n int);
CREATE INDEX ON t (n);
SELECT pg_temp.file('SELECT CASE g WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE g END FROM generate_series(1, 800) AS g') AS f \gset
COPY expected FROM :'f' (FORMAT csv);
SELECT fast_copy('t', :'f', workers => 0) \g /dev/null
SELECT pg_temp.sound('the first two entries are out of order');

-- Entries of rows in no order go into a leaf together: it is not read once for each of them
CREATE FUNCTION pg_temp.hits(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || statement INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks';
END
$$;
SELECT pg_temp.file('SELECT g FROM generate_series(1, 2000) AS g ORDER BY md5(g::text)') AS f \gset
SELECT cmp_ok(pg_temp.hits(format('SELECT fast_copy(%L, %L, workers => 0)', 't', :'f')), '<', 1000, 'a leaf is read once for many entries');

SELECT * FROM finish();
ROLLBACK;
