-- Functions that run commands for a row, in workers that store long values: core
-- marks a command id as used where it stores one, and begins no other command in
-- a worker then.
--
-- COPY is the referee: it loads the same rows, or ends with the same error.

\set name commands
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '16kB';
SELECT * FROM no_plan();

-- 48 rows of three days, whose texts are stored out of line, or are not
SELECT format('COPY (SELECT n, timestamp ''2024-05-06'' + n %% 3 * interval ''1 day'' + n * interval ''1 s'', repeat(md5(n::text), %s) FROM generate_series(1, 48) AS n) TO %L (FORMAT csv)',
	times, :'file' || '.' || times) FROM unnest('{30,160}'::int[]) AS times \gexec

-- What they run: a command that reads, a function in SQL that is not inlined, one
-- that hides another, and one of an expression alone
CREATE TABLE known AS SELECT n FROM generate_series(1, 40) AS n;
CREATE FUNCTION reads(n int) RETURNS bool LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN EXISTS (SELECT FROM public.known AS k WHERE k.n = $1 % 40 + 1); END $$;
CREATE FUNCTION says(n int) RETURNS bool LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = public AS 'SELECT count(*) > 0 FROM known AS k WHERE k.n = $1 % 40 + 1';
CREATE FUNCTION thinks(n int) RETURNS bool LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ DECLARE r int := n; BEGIN r := r + 1; RETURN r > 0; END $$;
CREATE FUNCTION hides(n int) RETURNS bool LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN public.reads(n); END $$;
CREATE FUNCTION knows(n int) RETURNS bool LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN EXISTS (SELECT FROM public.known AS k WHERE k.n = $1); END $$;
CREATE FUNCTION fixed(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN PERFORM public.reads(n); RETURN n + 1; END $$;
CREATE FUNCTION parsed(t text) RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN (SELECT t::int); END $$;
CREATE FUNCTION given() RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN (SELECT max(k.n) FROM public.known AS k); END $$;
CREATE DOMAIN seen AS int CHECK (public.reads(value));

-- Where a row meets it: column n, more of the table, a condition, a transform
CREATE TABLE places (place text, type text DEFAULT 'int', more text, index text, condition text, transform text);
INSERT INTO places (place, more) VALUES ('CHECK', ', CHECK (reads(n))'), ('CHECK in SQL', ', CHECK (says(n))'), ('CHECK without a command', ', CHECK (thinks(n))'),
	('CHECK that hides it', ', CHECK (hides(n))'), ('CHECK that refuses', ', CONSTRAINT refuses CHECK (knows(n))'),
	('default', ', d int DEFAULT given()'), ('generated', ', d int GENERATED ALWAYS AS (fixed(n)) STORED');
INSERT INTO places (place, type) VALUES ('domain', 'seen');
INSERT INTO places (place, index) VALUES ('index', '(fixed(n))'), ('condition of an index', '(ts) WHERE fixed(n) > 3');
INSERT INTO places (place, condition) VALUES ('condition', 'knows(n)'), ('condition that hides it', 'hides(n) AND n <> 7');
INSERT INTO places (place, transform) VALUES ('transform', 'n = parsed(n)');

-- The table, empty, with its code; partitioned, unless "days" is negative, with
-- that many of the partitions that it needs
CREATE FUNCTION pg_temp.make(target text, place places, days int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %1$s; CREATE TABLE %1$s (n %2$s, ts timestamp, t text %3$s)%4$s; ALTER TABLE %1$s ALTER t SET STORAGE EXTERNAL',
		target, place.type, place.more, CASE WHEN days >= 0 THEN 'PARTITION BY RANGE (ts)' END);
	EXECUTE coalesce('CREATE INDEX ON ' || target || place.index, 'SELECT');
	FOR day IN 6 .. 5 + days LOOP
		EXECUTE format('CREATE TABLE %1$s_p%2$s PARTITION OF %1$s FOR VALUES FROM (%3$L) TO (%4$L)', target, day, date '2024-05-01' + day - 1, date '2024-05-01' + day);
	END LOOP;
END
$$;

-- What the statement has loaded, or how it has failed; and how many rows the
-- transaction can change and delete then
CREATE FUNCTION pg_temp.outcome(target text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	touched bigint;
	error text[] := pg_temp.failure(statement);
BEGIN
	EXECUTE format('SELECT concat_ws('' '', count(*), md5(string_agg(r::text, E''\n'' ORDER BY n))) FROM %s AS r', target) INTO result;
	EXECUTE format('UPDATE %s SET t = t || n WHERE n %% 2 = 0', target);
	EXECUTE format('DELETE FROM %s', target);
	GET DIAGNOSTICS touched = ROW_COUNT;
	RETURN concat_ws(': ', error[1], regexp_replace(error[2], '(loaded|expected)(_p\d+)?', 't', 'g'), result, touched);
END
$$;

-- How it is loaded: by so many workers, or by an accelerated COPY
CREATE TABLE ways (workers int, writer text);
INSERT INTO ways VALUES (0, 'auto'), (1, 'page'), (2, 'multi_insert'), (4, 'page'), (NULL, 'page');
SET LOCAL fast_copy.accelerate_min_size = 0;
SET LOCAL fast_copy.workers = 3;

-- How a way of loading differs from COPY, in which kinds of tables
CREATE FUNCTION pg_temp.differ(place places, times int, way ways) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('fc.file') || '.' || times;
	copy text := format('COPY %%s (n, ts, t) FROM %L (FORMAT csv) %s', file, 'WHERE ' || place.condition);
	load text := format('SELECT fast_copy(%%L, %L, columns => ''{n,ts,t}'', workers => %s, where_clause => %L, options => %L)', file, way.workers, place.condition,
		jsonb_strip_nulls(jsonb_build_object('transform', place.transform)));
	wanted text;
	got text;
BEGIN
	PERFORM pg_temp.make('expected', place, -1), set_config('fast_copy.accelerate_copy', 'off', true);
	wanted := pg_temp.outcome('expected', format(copy, 'expected'));
	PERFORM set_config('fast_copy.accelerate_copy', (way.workers IS NULL)::text, true), set_config('fast_copy.writer', way.writer, true);
	FOR days IN -1 .. 3 BY 2 LOOP
		-- COPY makes no partitions
		CONTINUE WHEN days = 1 AND way.workers IS NULL;
		PERFORM pg_temp.make('loaded', place, days);
		got := pg_temp.outcome('loaded', format(CASE WHEN way.workers IS NULL THEN copy ELSE load END, 'loaded'));
		IF got IS DISTINCT FROM wanted THEN
			RETURN NEXT format('%s days: %s, not %s', days, got, wanted);
		END IF;
	END LOOP;
END
$$;

SELECT is((SELECT string_agg(d, E'\n') FROM pg_temp.differ(p, times, w) AS d), NULL, format('%s: %s values, %s', p.place, CASE times WHEN 30 THEN 'short' ELSE 'long' END, w))
	FROM places AS p, ways AS w, unnest('{30,160}'::int[]) AS times WHERE times = 160 OR w.workers = 2;

SELECT * FROM finish();
ROLLBACK;
