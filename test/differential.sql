--
-- The differential suite's own tools, in schema diff.  See test/differential.
--
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS diff, copy, fast CASCADE;
CREATE SCHEMA diff;
CREATE SCHEMA copy;
CREATE SCHEMA fast;
CREATE EXTENSION IF NOT EXISTS fast_copy SCHEMA public;

CREATE DOMAIN public.positive AS int CHECK (value > 0);
CREATE DOMAIN public.short AS text CHECK (length(value) < 5);
CREATE DOMAIN public.filled AS int NOT NULL;

-- An error of the kind that elog() makes
CREATE FUNCTION public.is_no_b(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN IF t = 'b' THEN RAISE internal_error USING MESSAGE = 'it is b'; END IF; RETURN true; END $$;

-- What a load did: rows, or the error it ended with.
CREATE TYPE diff.outcome AS (
	rows bigint, state text, message text, line bigint, col text, val text, context text);

-- The outcome of COPY, kept until the next fixture or layout; with the file that
-- its error is in, where there are several.
CREATE TABLE diff.expected (o diff.outcome, file text);

-- Runs a load.  "name" is what stands before "line N" in its context.
CREATE FUNCTION diff.try(stmt text, name text, returns_rows boolean)
RETURNS diff.outcome LANGUAGE plpgsql AS $$
DECLARE
	o diff.outcome;
	place text[];
BEGIN
	IF returns_rows THEN
		EXECUTE stmt INTO o.rows;
	ELSE
		EXECUTE stmt;
		GET DIAGNOSTICS o.rows = ROW_COUNT;
	END IF;
	RETURN o;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS o.state = RETURNED_SQLSTATE,
		o.message = MESSAGE_TEXT, o.context = PG_EXCEPTION_CONTEXT;
	o.rows := NULL;
	IF strpos(o.context, name) > 0 THEN
		place := regexp_match(substr(o.context, strpos(o.context, name) + length(name)),
							  '^line (\d+)(?:, column ([^:\n]+)(?:: ([^\n]*))?)?');
		o.line := place[1];
		o.col := place[2];
		o.val := place[3];
	END IF;
	RETURN o;
END $$;

-- A COPY for each file, all of them or none; until one fails.
CREATE PROCEDURE diff.try_files(stmts text[], files text[]) LANGUAGE plpgsql AS $$
DECLARE
	o diff.outcome;
	i int := 0;
	n bigint := 0;
BEGIN
	BEGIN
		WHILE i < cardinality(stmts) LOOP
			i := i + 1;
			o := diff.try(stmts[i], 'COPY t, ', false);
			IF o.state IS NOT NULL THEN
				RAISE EXCEPTION USING ERRCODE = 'XX999';
			END IF;
			n := n + o.rows;
		END LOOP;
		o.rows := n;
		i := NULL;
	EXCEPTION WHEN SQLSTATE 'XX999' THEN
		NULL;
	END;
	INSERT INTO diff.expected VALUES (o, files[i]);
END $$;

-- Rows that one table has and the other has not, each with the bounds of its
-- partition, so that a row in the wrong partition is found too.
CREATE FUNCTION diff.rows_of(a text, b text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM ('
		'SELECT t.*, pg_get_expr(c.relpartbound, c.oid) FROM %1$s.t JOIN pg_class c ON c.oid = t.tableoid EXCEPT ALL '
		'SELECT t.*, pg_get_expr(c.relpartbound, c.oid) FROM %2$s.t JOIN pg_class c ON c.oid = t.tableoid) x', a, b) INTO n;
	RETURN n;
END $$;

-- Loaded rows whose predecessor on disk has a greater key, or the same key
-- and a greater place in the file.
CREATE FUNCTION diff.disorder(key text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT %1$s AS k, n, '
		'lag(%1$s) OVER w AS k0, lag(n) OVER w AS n0 FROM fast.t WHERE n > 0 AND %1$s IS NOT NULL '
		'WINDOW w AS (PARTITION BY tableoid ORDER BY ctid)) x WHERE (k, n) < (k0, n0)', key) INTO n;
	RETURN n;
END $$;

-- Relations in the schema of fast_copy's table: must not change on failure.
CREATE FUNCTION diff.relations() RETURNS bigint LANGUAGE sql AS
$$ SELECT count(*) FROM pg_class WHERE relnamespace = 'fast'::regnamespace $$;

-- All rows of a table's leaves, as they lie there
CREATE FUNCTION diff.sequence(schema text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(relname || t::text, '','' ORDER BY relname, t.ctid)) FROM %I.t JOIN pg_class c ON c.oid = t.tableoid', schema) INTO result;
	RETURN result;
END $$;

-- One load by fast_copy against what COPY did: empty if they agree, else what
-- is different.  "key" is given where rows must lie in key order; 'COPY' where
-- they must lie as COPY leaves them.
CREATE FUNCTION diff.compare(stmt text, file text, key text, empty_before bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	e diff.outcome := (SELECT o FROM diff.expected);
	f diff.outcome;
	before bigint := diff.relations();
	bad text := '';
BEGIN
	file := coalesce((SELECT x.file FROM diff.expected x), file);
	f := diff.try(stmt, format(CASE WHEN stmt LIKE '%program => true)' THEN 'fast_copy t, program "cat %s", ' ELSE 'fast_copy t, file "%s", ' END, file), true);
	-- partitions are not made, and rows not replaced, where the first row ends
	-- with a marker
	IF f.message = 'cannot tell how the lines of the file end' AND stmt LIKE '%text_marker_behind%' THEN
		RETURN CASE WHEN diff.relations() = before THEN '' ELSE 'relations left behind' END;
	END IF;
	IF (e.rows, e.state, e.message, e.line) IS DISTINCT FROM (f.rows, f.state, f.message, f.line)
		OR e.col IS DISTINCT FROM f.col AND e.col IS NOT NULL
		OR e.val IS DISTINCT FROM f.val AND e.val IS NOT NULL THEN
		RETURN format(E'COPY: %s\nfast_copy: %s', diff.show(e), diff.show(f));
	END IF;
	IF e.state IS NOT NULL THEN
		IF diff.relations() <> before THEN
			bad := bad || 'relations left behind; ';
		END IF;
		IF (SELECT count(*) FROM fast.t) <> empty_before THEN
			bad := bad || 'rows left behind; ';
		END IF;
		RETURN bad;
	END IF;
	IF diff.rows_of('copy', 'fast') <> 0 THEN
		bad := bad || format('%s rows of COPY missing; ', diff.rows_of('copy', 'fast'));
	END IF;
	IF diff.rows_of('fast', 'copy') <> 0 THEN
		bad := bad || format('%s rows COPY has not; ', diff.rows_of('fast', 'copy'));
	END IF;
	IF key = 'COPY' THEN
		IF diff.sequence('fast') IS DISTINCT FROM diff.sequence('copy') THEN
			bad := bad || 'rows in another order than after COPY; ';
		END IF;
	ELSIF key IS NOT NULL AND diff.disorder(key) <> 0 THEN
		bad := bad || format('%s rows out of order; ', diff.disorder(key));
	END IF;
	RETURN bad;
END $$;

CREATE FUNCTION diff.show(o diff.outcome) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN o.state IS NULL THEN o.rows || ' rows'
		ELSE concat_ws(' | ', o.state, left(o.message, 300), 'line ' || o.line, o.col,
			left(o.val, 200), left(o.context, 300)) END
$$;
