--
-- The fuzzer's own tools, in schema fuzz.  See test/fuzz/run.
--
SET client_min_messages = warning;
CREATE SCHEMA fuzz;
CREATE SCHEMA copy;
CREATE SCHEMA fast;
CREATE EXTENSION fast_copy SCHEMA public;
SELECT format('CREATE EXTENSION %I SCHEMA public', name) FROM pg_available_extensions
WHERE name IN ('citext', 'hstore', 'ltree') \gexec

CREATE DOMAIN public.positive AS int CHECK (value > 0);
CREATE DOMAIN public.short AS text CHECK (length(value) < 12);
CREATE DOMAIN public.filled AS int NOT NULL;
CREATE DOMAIN public.evens AS int[] CHECK (cardinality(value) % 2 = 0);
CREATE DOMAIN public.narrow AS varchar(6) NOT NULL DEFAULT 'd';
CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'happy', 'a b', 'it''s', 'été');
CREATE TYPE public.pair AS (a int, b text);
CREATE TYPE public.guarded AS (a positive, b numeric(6,2));
CREATE TYPE public.textrange AS RANGE (subtype = text);

-- Functions for defaults, generated columns, constraints and triggers.
CREATE FUNCTION public.plus(a int, b int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE sql AS 'SELECT a + b';
CREATE FUNCTION public.slow_plus(a int, b int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN a + b; END';
CREATE FUNCTION public.short_enough(a text) RETURNS boolean STABLE PARALLEL SAFE LANGUAGE plpgsql AS
$$ BEGIN IF a = 'raise' THEN RAISE 'raised for %', a; END IF; RETURN length(a) < 15; END $$;
CREATE FUNCTION public.seventh(a int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT a IS DISTINCT FROM 7';

-- Runs a load.  What stands before "line N" in the context is COPY's own or
-- ours; where core loads for us there are both, and the innermost one counts.
CREATE FUNCTION fuzz.try(stmt text, s text)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	state text;
	message text;
	detail text;
	context text;
	col text;
	con text;
	typ text;
	place text[];
BEGIN
	PERFORM set_config('search_path', s || ', public', true);
	IF s = 'fast' THEN
		EXECUTE stmt INTO n;
	ELSE
		EXECUTE stmt;
		GET DIAGNOSTICS n = ROW_COUNT;
	END IF;
	RETURN jsonb_build_object('rows', n);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT,
		col = COLUMN_NAME, con = CONSTRAINT_NAME, typ = PG_DATATYPE_NAME;
	place := regexp_match(context, '(?:fast_copy t, file "[^"\n]*", |COPY t, )line (\d+)(?:, column ([^:\n]+): ([^\n]*))?');
	RETURN jsonb_build_object('state', state, 'message', message, 'detail', detail,
		'line', place[1]::bigint, 'col', place[2], 'val', place[3],
		'names', trim(concat_ws(' ', col, con, typ)), 'context', left(context, 500));
END $$;

-- The leaves of a tree below schema.t: each with what tells its bounds.
-- Partitions of COPY's table that stand in for those fast_copy would make
-- (named t_f...) all have the same label, and so has every leaf that the other
-- table has not.
CREATE FUNCTION fuzz.leaves(top regclass) RETURNS TABLE (leaf oid, label text)
LANGUAGE sql AS $$
	SELECT t.relid, CASE WHEN c.relname LIKE 't\_f%' THEN 'other' ELSE
		coalesce((SELECT string_agg(pg_get_expr(a.relpartbound, a.oid), ' ' ORDER BY n)
			FROM pg_partition_ancestors(t.relid) WITH ORDINALITY AS p (r, n) JOIN pg_class AS a ON a.oid = r), '') END
	FROM pg_partition_tree(top) AS t JOIN pg_class AS c ON c.oid = t.relid WHERE t.isleaf
	UNION ALL SELECT top, '' WHERE NOT EXISTS (SELECT FROM pg_partition_tree(top))
$$;

-- All rows as text, in the order they should have (COPY's) or have (ours).
-- "old" is the last command that wrote rows before the load.
CREATE FUNCTION fuzz.rows_of(s text, cols text, key text, ordering text, old int)
RETURNS SETOF text LANGUAGE plpgsql
SET datestyle = 'ISO' SET intervalstyle = 'iso_8601' SET extra_float_digits = 3
SET bytea_output = 'hex' SET timezone = 'UTC' AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'WITH known AS (SELECT label FROM fuzz.leaves(''copy.t'') WHERE label <> ''other''), '
		'leaves AS (SELECT leaf, CASE WHEN label IN (SELECT label FROM known) THEN label ELSE ''other'' END AS label FROM fuzz.leaves(''%1$s.t'')) '
		'SELECT concat_ws(E''\t'', label, r) FROM (SELECT label, t.tableoid AS leaf, %2$s::text AS r, (t.cmin::text::int > %5$s) AS new, %3$s AS key, t.ctid AS place, '
		'min(%3$s) OVER (PARTITION BY t.tableoid, t.cmin::text::int > %5$s) AS low FROM %1$s.t AS t LEFT JOIN leaves ON leaf = t.tableoid) AS x ORDER BY label, new, %4$s',
		s, cols, coalesce(key, '0'),
		CASE WHEN ordering = 'file' THEN 'CASE WHEN new THEN place END, '
			WHEN ordering = 'key' AND s = 'copy' THEN 'CASE WHEN new THEN key END, CASE WHEN new THEN place END, '
			WHEN ordering = 'key' THEN 'CASE WHEN new THEN low END, CASE WHEN new THEN leaf END, CASE WHEN new THEN place END, '
			ELSE '' END || 'r COLLATE "C"', old);
END $$;

CREATE FUNCTION fuzz.last_command(s text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	EXECUTE format('SELECT coalesce(max(cmin::text::int), -1) FROM %s.t', s) INTO n;
	RETURN n;
END $$;

-- What a failed load must leave as it was.
CREATE FUNCTION fuzz.state_of(s text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s.t', s) INTO n;
	RETURN concat_ws(' ', n, (SELECT count(*) FROM pg_class WHERE relnamespace = s::regnamespace),
		(SELECT count(*) FROM pg_constraint WHERE connamespace = s::regnamespace),
		(SELECT count(*) FROM pg_depend AS d JOIN pg_class AS c ON classid = 'pg_class'::regclass AND objid = c.oid WHERE relnamespace = s::regnamespace),
		(SELECT sum(relchecks) FROM pg_class WHERE relnamespace = s::regnamespace));
END $$;

-- Rows loaded into a partition although its bounds say no.
CREATE FUNCTION fuzz.misplaced() RETURNS bigint LANGUAGE plpgsql SET datestyle = 'ISO' AS $$
DECLARE
	leaf record;
	n bigint;
	total bigint := 0;
BEGIN
	FOR leaf IN SELECT relid, pg_get_partition_constraintdef(relid) AS condition
		FROM pg_partition_tree('fast.t') WHERE isleaf
	LOOP
		IF leaf.condition IS NOT NULL THEN
			EXECUTE format('SELECT count(*) FROM %s WHERE NOT (%s)', leaf.relid::regclass, leaf.condition) INTO n;
			total := total + n;
		END IF;
	END LOOP;
	RETURN total;
END $$;

-- Loads of one record each: a record that COPY refuses by itself while it
-- converts a column is skipped, as ON_ERROR does.
CREATE FUNCTION fuzz.one_by_one(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	r jsonb;
	one jsonb;
	n bigint := 0;
	skipped bigint := 0;
BEGIN
	FOR r IN SELECT * FROM jsonb_array_elements(spec->'records') LOOP
		one := fuzz.try(r->>'stmt', 'copy');
		IF one ? 'rows' THEN
			n := n + (one->>'rows')::bigint;
		ELSIF one->>'col' IS NOT NULL AND one->>'state' <> '22P04' THEN
			skipped := skipped + 1;
			IF skipped > (spec->>'limit')::bigint THEN
				RETURN one || jsonb_build_object('state', '22P02', 'line', (r->>'line')::bigint + (one->>'line')::bigint - 1,
					'detail', '', 'names', '', 'message', format('skipped more than REJECT_LIMIT (%s) rows due to data type incompatibility', spec->>'limit'));
			END IF;
		ELSE
			RETURN one || jsonb_build_object('line', (r->>'line')::bigint + (one->>'line')::bigint - 1);
		END IF;
	END LOOP;
	RETURN jsonb_build_object('rows', n, 'skipped', skipped);
END $$;

CREATE FUNCTION fuzz.differences(a text, b text, spec jsonb, old_a int, old_b int)
RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(left(r, 300), E'\n') FROM (
		SELECT r FROM fuzz.rows_of(a, spec->>'row', spec->>'key', 'none', old_a) AS r
		EXCEPT ALL SELECT r FROM fuzz.rows_of(b, spec->>'row', spec->>'key', 'none', old_b) AS r LIMIT 5) AS x
$$;

-- What differs between the two tables after loads that both succeeded.
CREATE FUNCTION fuzz.compare_rows(spec jsonb, old_copy int, old_fast int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	copy_rows text[] := array(SELECT fuzz.rows_of('copy', spec->>'row', spec->>'key', spec->>'ordering', old_copy));
	fast_rows text[] := array(SELECT fuzz.rows_of('fast', spec->>'row', spec->>'key', spec->>'ordering', old_fast));
	bad jsonb := '{}';
	n bigint;
BEGIN
	IF copy_rows <> fast_rows THEN
		bad := bad || jsonb_build_object('missing', fuzz.differences('copy', 'fast', spec, old_copy, old_fast),
			'extra', fuzz.differences('fast', 'copy', spec, old_fast, old_copy));
		IF bad->>'missing' IS NULL AND bad->>'extra' IS NULL THEN
			bad := jsonb_build_object('order', (SELECT string_agg(concat(left(a, 200), ' <> ', left(b, 200)), E'\n')
				FROM (SELECT a, b FROM unnest(copy_rows, fast_rows) AS u (a, b) WHERE a IS DISTINCT FROM b LIMIT 4) AS x));
		END IF;
	END IF;
	n := fuzz.misplaced();
	IF n <> 0 THEN
		bad := bad || jsonb_build_object('misplaced', n);
	END IF;
	IF spec ? 'also' THEN
		EXECUTE spec->>'also' INTO n;
		IF n <> 0 THEN
			bad := bad || jsonb_build_object('also', n);
		END IF;
	END IF;
	RETURN bad;
END $$;

CREATE FUNCTION fuzz.tables(spec jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	stmt text;
BEGIN
	FOR stmt IN SELECT jsonb_array_elements_text((spec->'fast_ddl') || (spec->'copy_ddl')) LOOP
		EXECUTE stmt;
	END LOOP;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || sqlerrm || ' in ' || stmt;
END $$;

-- One case, in a transaction that will be rolled back.
CREATE FUNCTION fuzz.run(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	refused text := fuzz.tables(spec);
	before text;
	old_copy int;
	old_fast int;
	c jsonb;
	f jsonb;
	bad jsonb := '{}';
	started timestamptz;
BEGIN
	IF refused IS NOT NULL THEN
		RETURN jsonb_build_object('refused', refused);
	END IF;
	old_copy := fuzz.last_command('copy');
	old_fast := fuzz.last_command('fast');
	before := fuzz.state_of('fast');
	PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'tuning');
	PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'settings');
	IF spec ? 'records' THEN
		c := fuzz.one_by_one(spec);
	ELSE
		c := fuzz.try(spec->>'copy', 'copy');
	END IF;
	started := clock_timestamp();
	f := fuzz.try(spec->>'fast', 'fast');
	f := f || jsonb_build_object('seconds', extract(epoch FROM clock_timestamp() - started)::float8);
	PERFORM set_config('client_encoding', 'UTF8', true);
	IF f ? 'state' AND before <> fuzz.state_of('fast') THEN
		bad := jsonb_build_object('left', before || ', now ' || fuzz.state_of('fast'));
	ELSIF f ? 'rows' AND c ? 'rows' THEN
		bad := fuzz.compare_rows(spec, old_copy, old_fast);
	END IF;
	RETURN jsonb_build_object('copy', c, 'fast', f, 'bad', bad);
END $$;

-- What COPY alone does with a file.
CREATE FUNCTION fuzz.run_copy(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	refused text := fuzz.tables(spec);
	c jsonb;
BEGIN
	IF refused IS NOT NULL THEN
		RETURN jsonb_build_object('refused', refused);
	END IF;
	PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'settings');
	IF spec ? 'records' THEN
		c := fuzz.one_by_one(spec);
	ELSE
		c := fuzz.try(spec->>'copy', 'copy');
	END IF;
	PERFORM set_config('client_encoding', 'UTF8', true);
	RETURN jsonb_build_object('copy', c);
END $$;
