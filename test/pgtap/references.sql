-- Foreign keys of tables that are there before the load: each drawn table is
-- loaded by COPY and by fast_copy, and has the same rows or the same error
-- afterwards, and the same rows of the referenced table are locked.  At most one
-- key is missing: of several fast_copy may name another one.
--
-- Of the cases a fifth is drawn by FC_SEED of the environment; without it all run.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

\set seed ''
\getenv seed FC_SEED
SET client_min_messages = error;
SET search_path = public, pg_catalog;
SET timezone = 'UTC';
SET fast_copy.accelerate_min_size = 0;
SELECT set_config('fc.file', :'tmp_dir' || '/fc_references.csv', false) \g /dev/null
SELECT * FROM no_plan();

-- 3,000 rows of 40 days, with 120 keys of two columns, of which some are NULL
SELECT format('COPY (SELECT n, timestamp ''2024-01-01'' + n * 7 %% 40 * interval ''1 day'' + n * interval ''1 s'' AS ts, '
	'CASE WHEN n %% 50 > 0 THEN n * 31 %% 60 END AS a, CASE WHEN n %% 70 > 0 THEN ''key '' || n %% 2 END AS b, '
	'CASE WHEN n > 900 THEN n / 3 * 3 - 600 END AS up FROM generate_series(1, 3000) AS n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec

-- what a case has, by its number
CREATE FUNCTION pg_temp.drawn(n int, seed int, words text) RETURNS text LANGUAGE sql AS $$
	SELECT (string_to_array(words, '|'))[1 + (hashint4extended(n, seed) & 1023) % (1 + length(words) - length(replace(words, '|', '')))]
$$;

CREATE FUNCTION pg_temp.options(n int) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.drawn(n, 1, '| MATCH FULL| DEFERRABLE| DEFERRABLE INITIALLY DEFERRED||')
$$;

CREATE FUNCTION pg_temp.make(n int, layout text, missing text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	options text := pg_temp.options(n);
	leaf text;
BEGIN
	DROP SCHEMA IF EXISTS fc_references CASCADE;
	CREATE SCHEMA fc_references;
	PERFORM set_config('search_path', 'fc_references, public', true);
	-- NULL in one of two columns
	EXECUTE format('CREATE TABLE r (a %s, b varchar, PRIMARY KEY (b, a))', pg_temp.drawn(n, 2, 'int|bigint|numeric'))
		|| CASE WHEN n % 5 = 0 THEN ' PARTITION BY LIST (b)' ELSE '' END;
	IF n % 5 = 0 THEN
		CREATE TABLE r0 PARTITION OF r FOR VALUES IN ('key 0');
		CREATE TABLE r1 PARTITION OF r DEFAULT;
	END IF;
	INSERT INTO r SELECT x, 'key ' || y FROM generate_series(0, 59) AS x, generate_series(0, 1) AS y WHERE NOT (missing = 'one' AND x = 17 AND y = 1);
	CREATE TABLE r2 (a int PRIMARY KEY);
	INSERT INTO r2 SELECT generate_series(0, 59);
	EXECUTE 'CREATE TABLE t (n int, ts timestamp, a int, b text, up int'
		|| CASE WHEN layout = 'plain' THEN ', PRIMARY KEY (n)' ELSE '' END || ')' || CASE WHEN layout <> 'plain' THEN ' PARTITION BY RANGE (ts)' ELSE '' END;
	IF layout = 'leaves' THEN
		FOR i IN 0 .. 3 LOOP
			EXECUTE format('CREATE TABLE t%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i, date '2024-01-01' + i * 10, date '2024-01-11' + i * 10);
		END LOOP;
		-- another order of columns, and a row that is there, in a leaf of its own
		ALTER TABLE t DETACH PARTITION t2;
		ALTER TABLE t2 DROP COLUMN a;
		ALTER TABLE t2 ADD COLUMN a int;
		ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM ('2024-01-21') TO ('2024-01-31');
	END IF;
	INSERT INTO t SELECT -x, timestamp '2024-01-22' + x * interval '1 s', 5, 'key 0' FROM generate_series(1, 200) AS x;
	leaf := CASE WHEN layout = 'leaves' AND n % 4 = 0 THEN 't1' ELSE 't' END;
	EXECUTE format('ALTER TABLE %s ADD FOREIGN KEY (a, b) REFERENCES r (a, b)', leaf) || options;
	IF n % 3 = 0 THEN
		ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES r2;
	END IF;
	IF n % 7 = 0 AND layout = 'plain' THEN
		ALTER TABLE t ADD FOREIGN KEY (up) REFERENCES t;
	END IF;
	IF n % 11 = 0 THEN
		EXECUTE format('ALTER TABLE %s DISABLE TRIGGER ALL', CASE WHEN layout = 'leaves' THEN 't0' ELSE 't' END);
	END IF;
END
$$;

CREATE FUNCTION pg_temp.outcome(load text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	e_state text;
	e_message text;
	e_detail text;
	locked text;
BEGIN
	BEGIN
		EXECUTE load;
		SET CONSTRAINTS ALL IMMEDIATE;
		-- a row that a key refers to has its locker
		SELECT string_agg(r::text, ' ' ORDER BY r) INTO locked FROM fc_references.r WHERE xmax::text <> '0';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS e_state = RETURNED_SQLSTATE, e_message = MESSAGE_TEXT, e_detail = PG_EXCEPTION_DETAIL;
	END;
	SET CONSTRAINTS ALL DEFERRED;
	RETURN jsonb_build_object('error', e_state || ' ' || e_message || ' ' || e_detail, 'locked', locked,
		'rows', (SELECT jsonb_agg(to_jsonb(t) || jsonb_build_object('in', tableoid::regclass::text) ORDER BY t.n) FROM fc_references.t));
END
$$;

CREATE FUNCTION pg_temp.same(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	layout text := pg_temp.drawn(n, 3, 'plain|leaves');
	-- with MATCH FULL the keys of which a part is NULL are bad enough
	missing text := CASE WHEN pg_temp.options(n) LIKE '%FULL%' THEN 'none' ELSE pg_temp.drawn(n, 4, 'none|one|none') END;
	e jsonb;
	f jsonb;
	way text;
BEGIN
	PERFORM pg_temp.make(n, layout, missing);
	SET LOCAL fast_copy.accelerate_copy = off;
	e := pg_temp.outcome(format('COPY t FROM %L (FORMAT csv)', current_setting('fc.file')));
	FOR workers IN 0 .. 2 LOOP
		PERFORM pg_temp.make(n, layout, missing);
		PERFORM set_config('fast_copy.chunk_size', pg_temp.drawn(n + workers, 5, '1B|300B|64kB'), true);
		PERFORM set_config('fast_copy.accelerate_copy', 'on', true);
		PERFORM set_config('fast_copy.workers', (workers * workers)::text, true);
		way := pg_temp.drawn(n + workers, 6, 'COPY t FROM %L (FORMAT csv)|SELECT fast_copy(''t'', %L)|SELECT fast_copy(''t'', %L, ''ts'')');
		f := pg_temp.outcome(format(way, current_setting('fc.file')));
		RETURN NEXT is(f - 'rows', e - 'rows', format('case %s: %s, key missing: %s, %s, %s workers', n, layout, missing, way, workers * workers));
		RETURN NEXT ok(f->'rows' = e->'rows', '... and the rows');
	END LOOP;
END
$$;

SELECT diag('FC_SEED=' || :'seed' || ' draws these, and repeats them');
SELECT pg_temp.same(n) FROM generate_series(1, 60) AS n WHERE :'seed' = '' OR (hashtext(:'seed' || n) & 1023) % 5 = 0;

-- a check that waits is made for each row: the first one may be gone by then
SELECT pg_temp.make(1, 'plain', 'none') \g /dev/null
SET search_path = fc_references, public;
CREATE TABLE late (n int, a int REFERENCES r2 DEFERRABLE INITIALLY DEFERRED);
SELECT format('COPY (VALUES (1, 99), (2, 99)) TO %L (FORMAT csv)', :'tmp_dir' || '/fc_late.csv') \gexec
BEGIN;
SELECT fast_copy('late', :'tmp_dir' || '/fc_late.csv') \g /dev/null
DELETE FROM late WHERE n = 1;
SELECT throws_ok('SET CONSTRAINTS ALL IMMEDIATE', '23503', NULL, 'the second row of a key');
ROLLBACK;
-- rows that are frozen, on pages that are visible to all
BEGIN;
TRUNCATE late;
SELECT fast_copy('late', :'tmp_dir' || '/fc_late.csv', freeze => true) \g /dev/null
SELECT throws_ok('SET CONSTRAINTS ALL IMMEDIATE', '23503', NULL, 'a key of frozen rows');
ROLLBACK;

-- each key is looked up once, whichever partition it is in
SELECT min(n) AS plain FROM generate_series(1, 100) AS n WHERE pg_temp.options(n) = '' AND n % 4 > 0 AND n % 3 > 0 AND n % 11 > 0 \gset
SELECT pg_temp.make(:plain, 'leaves', 'none') \g /dev/null
SET search_path = fc_references, public;
SELECT fast_copy('t', current_setting('fc.file'), 'ts') \g /dev/null
SELECT results_eq($$SELECT phase, rows, choice FROM fast_copy_report() WHERE phase = 'references'$$,
	$$VALUES ('references', 3000::bigint, '68 keys looked up')$$, 'how many rows and keys');
SELECT is((SELECT count(*) FROM (SELECT DISTINCT a, b FROM t WHERE n > 0) AS x), 68::bigint, 'as many as there are');

-- few rows into a large table go core's way: all of its pages would be looked at
TRUNCATE t;
INSERT INTO t SELECT -n, timestamp '2024-01-05', 5, 'key 0' FROM generate_series(1, 100000) AS n;
SELECT format('COPY (SELECT 1, timestamp ''2024-01-05'', 5, ''key 1'', 0) TO %L (FORMAT csv)', :'tmp_dir' || '/fc_one.csv') \gexec
SELECT fast_copy('t', :'tmp_dir' || '/fc_one.csv', 'ts') \g /dev/null
SELECT matches((SELECT choice FROM fast_copy_report() WHERE phase = 'copy'), 'the foreign keys of few rows', 'one row');

-- functions that run for a row delete rows of the load, and may take that back:
-- what is left is checked, and COPY is the referee
CREATE SEQUENCE calls;
CREATE FUNCTION drop_first() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF nextval('calls') = 2900 THEN
		DELETE FROM u WHERE n = 1;
		ASSERT FOUND, 'the row has been written';
	END IF;
	RETURN 1;
END
$$;
CREATE FUNCTION keep_first() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF nextval('calls') = 2900 THEN
		BEGIN
			DELETE FROM u WHERE n = 1;
			ASSERT FOUND, 'the row has been written';
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END IF;
	RETURN 1;
END
$$;
SELECT format('COPY (SELECT n, CASE WHEN n IN (1, %s) THEN 99 ELSE n %% 50 END FROM generate_series(1, 3000) AS n) TO %L (FORMAT csv)',
	other, current_setting('fc.file') || other) FROM unnest('{1,2950}'::int[]) AS other \gexec
CREATE FUNCTION pg_temp.taken(load text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	error text;
BEGIN
	BEGIN
		TRUNCATE u;
		PERFORM setval('calls', 1, false);
		EXECUTE load;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	END;
	RETURN concat_ws(' ', (SELECT count(*) FROM u), error, detail);
END
$$;
CREATE FUNCTION pg_temp.same_taken(code text, parts text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	e text;
	other int;
BEGIN
	EXECUTE format('CREATE TABLE u (n int, a int%s, d int DEFAULT %s)', CASE WHEN parts <> 'leaf' THEN ' REFERENCES r2' ELSE '' END, code)
		|| CASE WHEN parts <> 'no' THEN ' PARTITION BY HASH (a)' ELSE '' END;
	IF parts <> 'no' THEN
		CREATE TABLE u0 PARTITION OF u FOR VALUES WITH (MODULUS 1, REMAINDER 0);
	END IF;
	IF parts = 'leaf' THEN
		ALTER TABLE u0 ADD FOREIGN KEY (a) REFERENCES r2;
	END IF;
	FOREACH other IN ARRAY '{1,2950}'::int[] LOOP
		e := pg_temp.taken(format('COPY u (n, a) FROM %L (FORMAT csv)', current_setting('fc.file') || other));
		RETURN NEXT is(pg_temp.taken(format('COPY u (n, a) FROM %L (FORMAT csv, fast_copy)', current_setting('fc.file') || other)), e,
			format('%s, partitions: %s, another row: %s', code, parts, other > 1));
		RETURN NEXT is((SELECT phase FROM fast_copy_report() WHERE phase IN ('copy', 'load')), 'load', '... is not left to core');
	END LOOP;
	DROP TABLE u;
END
$$;
SELECT pg_temp.same_taken(code, parts) FROM unnest('{drop_first(),keep_first()}'::text[]) AS code, unnest('{no,yes,leaf}'::text[]) AS parts;

-- a plain COPY fills free space in another order than the file's, and names the
-- first key of the file all the same
CREATE TABLE holes (n int, a int, pad text);
INSERT INTO holes SELECT n, 1, repeat('x', 100) FROM generate_series(1, 20000) AS n;
DELETE FROM holes WHERE n % 3 = 0 OR n BETWEEN 500 AND 3000;
ALTER TABLE holes ADD FOREIGN KEY (a) REFERENCES r2;
VACUUM holes;
SELECT format('COPY (SELECT n, CASE WHEN n > 10 THEN 1000 + n ELSE 1 END, repeat(''y'', n * 7919 %% 3000) FROM generate_series(1, 3000) AS n) TO %L (FORMAT csv)',
	:'tmp_dir' || '/fc_holes.csv') \gexec
CREATE FUNCTION pg_temp.named() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE format('COPY holes FROM %L (FORMAT csv)', replace(current_setting('fc.file'), 'fc_references', 'fc_holes'));
	RETURN 'loaded';
EXCEPTION WHEN foreign_key_violation THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END
$$;
SELECT pg_temp.named() AS named \gset
SET fast_copy.accelerate_copy = on;
VACUUM holes;
SELECT is(pg_temp.named(), :'named', 'the first bad key of the file, and not of the table');
RESET fast_copy.accelerate_copy;

-- whoever may not read the referenced table may refer to it, as in COPY
CREATE ROLE fc_refers;
GRANT pg_read_server_files TO fc_refers;
GRANT USAGE ON SCHEMA fc_references TO fc_refers;
TRUNCATE t;
GRANT INSERT, SELECT ON t TO fc_refers;
SET ROLE fc_refers;
SELECT lives_ok(format('SELECT fast_copy(''t'', %L)', current_setting('fc.file')), 'a role without privileges on the referenced table');
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'references'), '68 keys looked up', '... is checked');
RESET ROLE;
SELECT is((SELECT count(*) FROM t), 3000::bigint, '... and has loaded all');
DROP SCHEMA fc_references CASCADE;
DROP OWNED BY fc_refers;
DROP ROLE fc_refers;

SELECT * FROM finish();
