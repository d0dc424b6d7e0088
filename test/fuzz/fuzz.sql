--
-- The fuzzer's own tools, in schema fuzz.  See test/fuzz/run.
--
SET client_min_messages = warning;
CREATE SCHEMA fuzz;
CREATE SCHEMA copy;
CREATE SCHEMA fast;
CREATE EXTENSION fast_copy SCHEMA public;
SELECT format('CREATE EXTENSION %I SCHEMA public', name) FROM pg_available_extensions
WHERE name IN ('citext', 'hstore', 'ltree', 'pageinspect') \gexec

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
	place := regexp_match(context, '(?:fast_copy t, (?:file|program) "([^"\n]*)", |COPY t, )line (\d+)(?:, column ([^:\n]+): ([^\n]*))?');
	RETURN jsonb_build_object('state', state, 'message', message, 'detail', detail,
		'file', coalesce(place[1], substring(context FROM 'fast_copy t, (?:file|program) "([^"\n]*)"')), 'line', place[2]::bigint, 'col', place[3],
		-- a character that is cut may have taken the end of the line with it
		'val', regexp_replace(place[4], '.SQL statement "(COPY copy|SELECT fast_copy).*', ''),
		'names', trim(concat_ws(' ', col, con, typ)), 'context', left(context, 500));
END $$;

-- COPY of one file after the other, or of none if one fails.
CREATE FUNCTION fuzz.try_files(stmts jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	one jsonb;
	n bigint := 0;
	part int := 0;
BEGIN
	BEGIN
		WHILE part < jsonb_array_length(stmts) LOOP
			one := fuzz.try(stmts->>part, 'copy');
			IF one ? 'state' THEN
				RAISE EXCEPTION USING ERRCODE = 'XX999';
			END IF;
			n := n + (one->>'rows')::bigint;
			part := part + 1;
		END LOOP;
	EXCEPTION WHEN SQLSTATE 'XX999' THEN
		RETURN one || jsonb_build_object('part', part, 'line', (one->>'line')::bigint + part * 1000000);
	END;
	RETURN jsonb_build_object('rows', n);
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
-- "old" is the last command that wrote rows before the load, "place" what
-- COPY's rows of one key are ordered by.
CREATE FUNCTION fuzz.rows_of(s text, cols text, key text, ordering text, old int, place text DEFAULT 'ctid')
RETURNS SETOF text LANGUAGE plpgsql
SET datestyle = 'ISO' SET intervalstyle = 'iso_8601' SET extra_float_digits = 3
SET bytea_output = 'hex' SET timezone = 'UTC' AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'WITH known AS (SELECT label FROM fuzz.leaves(''copy.t'') WHERE label <> ''other''), '
		'leaves AS (SELECT leaf, CASE WHEN label IN (SELECT label FROM known) THEN label ELSE ''other'' END AS label FROM fuzz.leaves(''%1$s.t'')) '
		'SELECT concat_ws(E''\t'', label, r) FROM (SELECT label, t.tableoid AS leaf, %2$s::text AS r, (t.cmin::text::int > %5$s) AS new, %3$s AS key, t.%6$s AS place, '
		'min(%3$s) OVER (PARTITION BY t.tableoid, t.cmin::text::int > %5$s) AS low FROM %1$s.t AS t LEFT JOIN leaves ON leaf = t.tableoid) AS x ORDER BY label, new, %4$s',
		s, cols, coalesce(key, '0'),
		CASE WHEN ordering = 'file' THEN 'CASE WHEN new THEN place END, '
			WHEN ordering = 'key' AND s = 'copy' THEN 'CASE WHEN new THEN key END, CASE WHEN new THEN place END, '
			WHEN ordering = 'key' THEN 'CASE WHEN new THEN low END, CASE WHEN new THEN leaf END, CASE WHEN new THEN place END, '
			ELSE '' END || 'r COLLATE "C"', old, CASE s WHEN 'copy' THEN place ELSE 'ctid' END);
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

-- Which of on_error_classes an error of COPY belongs to; NULL: none.
CREATE FUNCTION fuzz.class_of(e jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT CASE
		WHEN e->>'col' IS NOT NULL AND e->>'state' <> '22P04' AND e->>'message' NOT LIKE 'syntax error at or near %' THEN 'conversion'
		WHEN e->>'state' = '22P04' AND e->>'message' LIKE 'missing data for column %' THEN 'missing_columns'
		WHEN e->>'state' = '22P04' AND e->>'message' = 'extra data after last expected column' THEN 'extra_columns'
		WHEN e->>'state' IN ('22021', '22P05') THEN 'encoding'
		WHEN e->>'state' = '23514' AND e->>'message' LIKE 'no partition of relation %' THEN 'no_partition'
		WHEN e->>'state' = '23514' AND e->>'message' LIKE '%violates partition constraint%' THEN 'no_partition'
		WHEN e->>'state' = '23514' AND e->>'message' LIKE 'new row for relation % violates check constraint %' THEN 'check'
		WHEN e->>'state' = '23502' AND e->>'message' LIKE 'null value in column %' THEN 'not_null'
		WHEN e->>'state' IN ('23505', '23P01') THEN 'unique' END
$$;

-- A message with the same name for all partitions that one table has not.
CREATE FUNCTION fuzz.neutral(message text, spec jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN (spec->>'creates')::int = 1 THEN regexp_replace(message, '\mt_(f\d|p(m|bc|y)?\d+(_\d+)?|default)', 't_P', 'g') ELSE message END
$$;

-- Writes a record again, with NULL in a field.
CREATE FUNCTION fuzz.put_null(r jsonb, spec jsonb, field int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	again jsonb := jsonb_set(r, array['fields', field::text], spec->'set_null');
	body text := (SELECT string_agg(f, spec->>'delimiter' ORDER BY n) FROM jsonb_array_elements_text(again->'fields') WITH ORDINALITY AS _ (f, n));
	lo oid := lo_from_bytea(0, convert_to((r->>'prefix') || body || (r->>'eol'), 'UTF8'));
BEGIN
	PERFORM lo_export(lo, (r->>'path') || 'n'), lo_unlink(lo);
	RETURN again || jsonb_build_object('stmt', replace(r->>'stmt', (r->>'path') || '''', (r->>'path') || 'n'''));
END $$;

-- One record, with NULL in place of each value that is refused, if that is
-- wanted.  A value that must not be NULL is refused for good.
CREATE FUNCTION fuzz.one(r jsonb, spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	one jsonb := fuzz.try(r->>'stmt', 'copy');
	nulled jsonb := '{}';
	field int;
BEGIN
	WHILE spec ? 'set_null' AND fuzz.class_of(one) = 'conversion' LOOP
		SELECT n - 1 INTO field FROM jsonb_array_elements_text(spec->'names') WITH ORDINALITY AS _ (f, n) WHERE f = one->>'col';
		IF nulled ? (one->>'col') OR one->>'val' = 'null input' THEN
			RETURN one || jsonb_build_object('fatal', true, 'val', coalesce(nulled->>(one->>'col'), one->>'val'));
		END IF;
		nulled := nulled || jsonb_build_object(one->>'col', one->>'val');
		r := fuzz.put_null(r, spec, field);
		one := fuzz.try(r->>'stmt', 'copy');
	END LOOP;
	RETURN one;
END $$;

-- Loads of one record each: one that COPY refuses by itself is left out, if the
-- class of its error is tolerated.
CREATE FUNCTION fuzz.one_by_one(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	r jsonb;
	one jsonb;
	class text;
	n bigint := 0;
	rejects jsonb := '[]';
BEGIN
	FOR r IN SELECT * FROM jsonb_array_elements(spec->'records') LOOP
		one := fuzz.one(r, spec);
		class := fuzz.class_of(one);
		IF one ? 'rows' THEN
			n := n + (one->>'rows')::bigint;
			CONTINUE;
		END IF;
		-- a value that became NULL may have had lines of its own; and COPY converts a record before it comes to its line
		one := one || jsonb_build_object('line', coalesce(CASE WHEN spec ? 'set_null' OR class = 'encoding' AND spec->'classes' ? class THEN (r->>'last')::bigint END,
			(r->>'line')::bigint + (one->>'line')::bigint - 1));
		IF r ? 'header' OR one ? 'fatal' OR class IS NULL OR NOT spec->'classes' ? class THEN
			RETURN one;
		END IF;
		rejects := rejects || jsonb_build_object('line', one->'line', 'class', class, 'state', one->>'state', 'message', regexp_replace(fuzz.neutral(one->>'message', spec), '(: 0x..).*', '\1'),
			'column', CASE class WHEN 'conversion' THEN one->>'col' WHEN 'not_null' THEN one->>'names' END,
			'offset', r->'offset', 'record', md5(r->>'record'));
		IF jsonb_array_length(rejects) > (spec->>'limit')::bigint THEN
			RETURN one || jsonb_build_object('state', '22P02', 'detail', '', 'names', '',
				'message', format('skipped more than REJECT_LIMIT (%s) rows', spec->>'limit') || CASE WHEN spec->'classes' = '["conversion"]' THEN ' due to data type incompatibility' ELSE '' END);
		END IF;
	END LOOP;
	RETURN jsonb_build_object('rows', n, 'skipped', jsonb_array_length(rejects), 'rejects', rejects);
END $$;

-- What is in the table of rejects, but should not be, or the other way round.
CREATE FUNCTION fuzz.compare_rejects(wanted jsonb, spec jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	w text[] := array(SELECT concat_ws('|', line, class, state, message, "column", "offset", record)
		FROM jsonb_to_recordset(wanted) AS _ (line bigint, class text, state text, message text, "column" text, "offset" bigint, record text));
	have text[];
BEGIN
	EXECUTE $q$SELECT array(SELECT concat_ws('|', r.lineno + r.part * 1000000, r.class, r.errorcode, regexp_replace(fuzz.neutral(r.err_message, $1), '(: 0x..).*', '\1'),
			CASE WHEN r.class IN ('conversion', 'not_null') THEN r.colname END, CASE WHEN w."offset" IS NOT NULL THEN r.byte_offset END,
			CASE WHEN w.record IS NOT NULL THEN md5(encode(coalesce(r.raw, convert_to(r.line, 'UTF8')), 'hex')) END)
		FROM (SELECT *, row_number() OVER (ORDER BY part, byte_offset) AS n
			FROM (SELECT *, coalesce(array_position(array(SELECT jsonb_array_elements_text($1->'files')), filename), 1) - 1 AS part FROM fast.rejects) AS x) AS r
		LEFT JOIN (SELECT *, row_number() OVER () AS n FROM jsonb_to_recordset($2) AS _ ("offset" bigint, record text)) AS w USING (n) ORDER BY n)$q$
		INTO have USING spec, wanted;
	RETURN nullif(concat_ws(E'\n', (SELECT 'wanted ' || left(x, 300) FROM (SELECT unnest(w) AS x EXCEPT ALL SELECT unnest(have)) AS _ LIMIT 1),
		(SELECT 'got ' || left(x, 300) FROM (SELECT unnest(have) AS x EXCEPT ALL SELECT unnest(w)) AS _ LIMIT 1)), '');
END $$;

-- What fast_copy_analyze() says, by item and name.
CREATE FUNCTION fuzz.analyze(stmt text, files jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	said jsonb;
BEGIN
	PERFORM set_config('search_path', 'fast, public', true);
	EXECUTE format('SELECT jsonb_agg(to_jsonb(a)) FROM (%s) AS a', stmt) INTO said;
	RETURN jsonb_build_object(
		'rows', (SELECT jsonb_object_agg(i->>'name', i->'rows') FROM jsonb_array_elements(said) AS i WHERE i->>'item' = 'rows'),
		'leaves', (SELECT jsonb_object_agg(name, rows) FROM (SELECT i->>'name' AS name, sum((i->>'rows')::bigint) AS rows FROM jsonb_array_elements(said) AS i
			WHERE i->>'item' = 'partition' AND i->>'name' IS NOT NULL GROUP BY 1) AS x),
		'created', (SELECT jsonb_agg(i->>'name' ORDER BY i->>'name') FROM jsonb_array_elements(said) AS i WHERE i->>'item' = 'partition' AND i->>'detail' = 'to be created'),
		-- of several files the line is told with the file
		'line', (SELECT min((i->>'line')::bigint + 1000000 * (coalesce(array_position(array(SELECT jsonb_array_elements_text(files)), substring(i->>'detail' FROM '^(?:file|program) "([^"]*)": ')), 1) - 1)) FROM jsonb_array_elements(said) AS i WHERE i->>'item' IN ('error', 'partition')),
		'error', (SELECT i->>'detail' FROM jsonb_array_elements(said) AS i WHERE i->>'item' = 'error' ORDER BY (i->>'line')::bigint LIMIT 1),
		'serial', (SELECT i->>'detail' FROM jsonb_array_elements(said) AS i WHERE i->>'item' = 'warning' AND i->>'name' = 'serial'));
EXCEPTION WHEN OTHERS THEN
	RETURN jsonb_build_object('state', sqlstate, 'message', sqlerrm);
END $$;

-- The leaves below fast.t, and the rows of each that the load put there.
CREATE FUNCTION fuzz.leaf_rows(old int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	have jsonb;
BEGIN
	EXECUTE 'SELECT jsonb_object_agg(relname, rows) FROM (SELECT t.tableoid, count(*) AS rows '
		'FROM fast.t AS t WHERE t.cmin::text::int > $1 GROUP BY t.tableoid) AS x JOIN pg_class AS c ON c.oid = x.tableoid' INTO have USING old;
	RETURN have;
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
			bad := jsonb_build_object('order', fuzz.compare_order(copy_rows, fast_rows));
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

-- Where the rows that each table should have in an order are not the same.
CREATE FUNCTION fuzz.compare_order(copy_rows text[], fast_rows text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat(left(a, 200), ' <> ', left(b, 200)), E'\n')
	FROM (SELECT a, b FROM unnest(copy_rows, fast_rows) AS u (a, b) WHERE a IS DISTINCT FROM b LIMIT 4) AS x
$$;

CREATE FUNCTION fuzz.tables(spec jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	stmt text;
BEGIN
	FOR stmt IN SELECT jsonb_array_elements_text((spec->'fast_ddl') || (spec->'copy_ddl') || coalesce(spec->'prepare', '[]')) LOOP
		EXECUTE stmt;
	END LOOP;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || sqlerrm || ' in ' || stmt;
END $$;

-- Is what was foretold of leaves what they have, and some equal rows that are
-- not looked for?
CREATE FUNCTION fuzz.foretold(said jsonb, have jsonb, equal bigint) RETURNS boolean LANGUAGE sql AS $$
	SELECT coalesce(bool_and(coalesce(s.value::bigint, 0) >= coalesce(h.value::bigint, 0)) AND sum(coalesce(s.value::bigint, 0) - coalesce(h.value::bigint, 0)) = equal, equal = 0)
	FROM jsonb_each_text(nullif(said, 'null')) AS s FULL JOIN jsonb_each_text(have) AS h USING (key)
$$;

-- What a load that succeeded makes of what was said before.
CREATE FUNCTION fuzz.compare_analysis(a jsonb, f jsonb, spec jsonb, rejects jsonb, leaves text[], old int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	have jsonb := fuzz.leaf_rows(old);
	equal bigint := (SELECT count(*) FROM jsonb_array_elements(coalesce(rejects, '[]')) AS r WHERE r->>'class' = 'unique');
	made jsonb := (SELECT jsonb_agg(relname ORDER BY relname) FROM pg_class AS c JOIN pg_partition_tree('fast.t') AS p ON p.relid = c.oid
		WHERE relname <> ALL (leaves));
BEGIN
	IF a ? 'state' THEN
		RETURN jsonb_build_object('analyze', 'refused: ' || (a->>'state') || ' ' || (a->>'message'));
	END IF;
	RETURN jsonb_build_object('analyze', nullif(concat_ws(', ',
		CASE WHEN (a->'rows'->>'accepted')::bigint <> (f->>'rows')::bigint + equal AND NOT spec ? 'triggers' AND NOT coalesce(spec->'classes' ? 'no_partition', false) THEN format('%s rows accepted', a->'rows'->>'accepted') END,
		-- none is left where all rows were passed over
		CASE WHEN a->'created' IS DISTINCT FROM coalesce(made, 'null') AND (a->'rows'->>'bad' = '0' OR NOT coalesce(made, '[]') <@ (a->'created')) THEN format('%s to be made', a->'created') END,
		CASE WHEN jsonb_typeof(a->'leaves') <> 'null' AND a->'rows'->>'bad' = '0' AND NOT spec ? 'triggers' AND NOT fuzz.foretold(a->'leaves', have, equal) THEN format('%s, but %s', a->'leaves', have) END), ''));
END $$;

-- COPY's load, with the case's settings, which stay, and those that only COPY
-- gets, which do not.
CREATE FUNCTION fuzz.copy_with_settings(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	zone text;
	c jsonb;
BEGIN
	PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'tuning');
	PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'settings');
	zone := current_setting('timezone');
	PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'copy_settings');
	IF spec ? 'records' THEN
		c := fuzz.one_by_one(spec);
	ELSIF spec ? 'copies' THEN
		c := fuzz.try_files(spec->'copies');
	ELSE
		c := fuzz.try(spec->>'copy', 'copy');
	END IF;
	PERFORM set_config('timezone', zone, true);
	RETURN c;
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
	a jsonb;
	leaves text[];
BEGIN
	IF refused IS NOT NULL THEN
		RETURN jsonb_build_object('refused', refused);
	END IF;
	old_copy := fuzz.last_command('copy');
	old_fast := fuzz.last_command('fast');
	before := fuzz.state_of('fast');
	c := fuzz.copy_with_settings(spec);
	IF spec ? 'analyze' THEN
		leaves := array(SELECT relname FROM pg_class WHERE relnamespace = 'fast'::regnamespace);
		a := fuzz.analyze(spec->>'analyze', spec->'files');
	END IF;
	started := clock_timestamp();
	f := fuzz.try(spec->>'fast', 'fast');
	f := f || jsonb_build_object('seconds', extract(epoch FROM clock_timestamp() - started)::float8);
	PERFORM set_config('client_encoding', 'UTF8', true);
	IF f ? 'state' AND before <> fuzz.state_of('fast') THEN
		bad := jsonb_build_object('left', before || ', now ' || fuzz.state_of('fast'));
	ELSIF f ? 'rows' AND c ? 'rows' THEN
		bad := fuzz.compare_rows(spec, old_copy, old_fast);
		IF spec ? 'rejects' THEN
			bad := bad || jsonb_build_object('rejects', fuzz.compare_rejects(c->'rejects', spec));
		END IF;
	END IF;
	IF f ? 'rows' AND a IS NOT NULL THEN
		bad := bad || fuzz.compare_analysis(a, f, spec, c->'rejects', leaves, old_fast);
	END IF;
	RETURN jsonb_build_object('copy', c - 'rejects', 'fast', f, 'bad', bad, 'analysis', a);
END $$;

-- A case whose loads cannot run in a function: tables and settings; NULL, or
-- why there are no tables.
CREATE FUNCTION fuzz.begin(spec jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	refused text := fuzz.tables(spec);
BEGIN
	IF refused IS NULL THEN
		PERFORM set_config('fuzz.old_copy', fuzz.last_command('copy')::text, true), set_config('fuzz.old_fast', fuzz.last_command('fast')::text, true);
		PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'tuning');
		PERFORM set_config(key, value, true) FROM jsonb_each_text(spec->'settings');
	END IF;
	PERFORM set_config('search_path', 'copy, public', true);
	RETURN refused;
END $$;

-- What came as bytes that look like LATIN1; escaped, if it is no UTF8.
CREATE FUNCTION fuzz.characters(bytes text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN convert_from(convert_to(bytes, 'LATIN1'), 'UTF8');
EXCEPTION WHEN character_not_in_repertoire THEN
	RETURN encode(convert_to(bytes, 'LATIN1'), 'escape');
END $$;

-- ... what became of each,
CREATE FUNCTION fuzz.outcomes(refused text, cs text, cm text, cn bigint, fs text, fm text, fn bigint) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE WHEN refused <> '' THEN jsonb_build_object('refused', fuzz.characters(refused)) ELSE jsonb_build_object(
		'copy', CASE cs WHEN '00000' THEN jsonb_build_object('rows', cn) ELSE jsonb_build_object('state', cs, 'message', fuzz.characters(cm)) END,
		'fast', CASE fs WHEN '00000' THEN jsonb_build_object('rows', fn) ELSE jsonb_build_object('state', fs, 'message', fuzz.characters(fm)) END, 'bad', '{}'::jsonb) END
$$;

-- ... rows, and how many of those loaded are not frozen.
CREATE FUNCTION fuzz.compare_frozen(spec jsonb, cn bigint, fn bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	old int := current_setting('fuzz.old_fast')::int;
	bad jsonb := fuzz.compare_rows(spec, current_setting('fuzz.old_copy')::int, old);
	leaf oid;
	thawed bigint;
BEGIN
	FOR leaf IN SELECT l.leaf FROM fuzz.leaves('fast.t') AS l WHERE EXISTS (SELECT FROM pg_proc WHERE proname = 'heap_page_items') LOOP
		EXECUTE 'SELECT count(*) FROM generate_series(0, pg_relation_size($1) / current_setting(''block_size'')::int - 1) AS b, '
			'heap_page_items(get_raw_page($1::regclass::text, b::int)) WHERE t_infomask & 768 <> 768 AND t_field3 > $2' INTO thawed USING leaf, old;
		IF thawed > 0 THEN
			bad := bad || jsonb_build_object('thawed', format('%s rows of %s', thawed, leaf::regclass));
		END IF;
	END LOOP;
	RETURN fuzz.outcomes('', '00000', '', cn, '00000', '', fn) || jsonb_build_object('bad', bad);
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
	c := fuzz.copy_with_settings(spec);
	PERFORM set_config('client_encoding', 'UTF8', true);
	RETURN jsonb_build_object('copy', c);
END $$;

-- Both once more, with COPY's rows numbered.
CREATE FUNCTION fuzz.run_order(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	refused text := fuzz.tables(spec);
	old_copy int;
	old_fast int;
	c jsonb;
	f jsonb;
BEGIN
	IF refused IS NOT NULL THEN
		RETURN jsonb_build_object('refused', refused);
	END IF;
	old_copy := fuzz.last_command('copy');
	old_fast := fuzz.last_command('fast');
	c := fuzz.copy_with_settings(spec);
	f := fuzz.try(spec->>'fast', 'fast');
	PERFORM set_config('client_encoding', 'UTF8', true);
	IF NOT (c ? 'rows' AND f ? 'rows') THEN
		RETURN jsonb_build_object('copy', c, 'fast', f);
	END IF;
	RETURN jsonb_build_object('order', fuzz.compare_order(array(SELECT fuzz.rows_of('copy', spec->>'row', spec->>'key', spec->>'ordering', old_copy, 'fuzz_n')),
		array(SELECT fuzz.rows_of('fast', spec->>'row', spec->>'key', spec->>'ordering', old_fast))));
END $$;
