--
-- What SQL says of a load that was drawn.  See test/fuzz/run-course.
--
-- Table "wanted" is made as "got" is, and has beforehand the partitions that the load
-- is to make.  "typed" has a row for each record of the files that can be read: its
-- number as "line_", its file and line as "place_", the columns of the file, and
-- whether the condition is true of it as "passes_".
--
SET client_min_messages = warning;
CREATE EXTENSION fast_copy;
DO $$
BEGIN
	-- a server may lack them
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck') THEN
		CREATE EXTENSION amcheck;
	ELSE
		CREATE FUNCTION verify_heapam(regclass, check_toast bool) RETURNS SETOF int LANGUAGE sql AS 'SELECT 1 WHERE false';
		CREATE FUNCTION bt_index_check(oid, bool) RETURNS void LANGUAGE sql AS '';
	END IF;
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw') THEN
		CREATE EXTENSION postgres_fdw;
		EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
			split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
		EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user %L)', session_user);
	END IF;
END
$$;

DO $$
BEGIN
	CREATE COLLATION either_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
EXCEPTION WHEN feature_not_supported THEN
	CREATE COLLATION either_case FROM "C";
END
$$;

CREATE FUNCTION plus(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN n + 1; END $$;
CREATE FUNCTION often(n int) RETURNS bool LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN n % 4 > 0; END $$;
CREATE FUNCTION unsafe(n int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN n * 2; END $$;
CREATE TYPE pair AS (a int, b text);
-- of a temporary table, which workers cannot read
CREATE FUNCTION least_n() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT n FROM least); END $$;
CREATE DOMAIN few AS int CHECK (plus(value) < 1000000);
CREATE FUNCTION into_base() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'INSERT INTO got_base SELECT ($1).*' USING NEW;
	RETURN NEW;
END
$$;
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;

-- The bounds of a leaf, from the root on
CREATE FUNCTION path_of(leaf oid) RETURNS text LANGUAGE sql STABLE AS $$
	WITH RECURSIVE up AS (SELECT leaf AS relid, 0 AS n
		UNION ALL SELECT inhparent, n + 1 FROM up JOIN pg_inherits ON inhrelid = relid)
	SELECT coalesce(string_agg(pg_get_expr(relpartbound, oid), ' / ' ORDER BY n DESC), '') FROM up JOIN pg_class ON oid = relid
$$;

CREATE FUNCTION is_default(leaf oid) RETURNS bool LANGUAGE sql STABLE AS $$
	SELECT path_of(leaf) LIKE '%DEFAULT%'
$$;

CREATE FUNCTION leaves(name text) RETURNS TABLE (leaf oid, path text, kind "char") LANGUAGE sql STABLE AS $$
	SELECT oid, path_of(oid), relkind FROM pg_class
	WHERE relkind IN ('r', 'f') AND (oid = to_regclass(name) OR oid IN (SELECT relid FROM pg_partition_tree(to_regclass(name))))
$$;

-- All that a load may change of a table
CREATE FUNCTION state_of(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(tableoid || '' '' || ctid || '' '' || g::text, '','' ORDER BY tableoid, ctid)), '''') FROM %I AS g', name) INTO rows;
	RETURN rows || ' ' || (SELECT coalesce(md5(string_agg(leaf || path || pg_relation_filenode(leaf), ',' ORDER BY leaf)), '') FROM leaves(name)) || ' ' ||
		(SELECT count(*) FROM pg_index WHERE indrelid IN (SELECT leaf FROM leaves(name)));
END
$$;

-- Has a row, which the table refuses, a key that no partition but the default takes?
-- Partitions are found before their constraints are looked at.
CREATE FUNCTION is_homeless(spec jsonb, number int, leaf text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	has_key bool;
BEGIN
	EXECUTE format('SELECT %s IS NOT NULL FROM typed WHERE line_ = $1', spec->>'by') INTO has_key USING number;
	RETURN spec->>'missing' = 'error' AND has_key AND is_default(to_regclass(quote_ident(nullif(leaf, ''))));
END
$$;

-- Inserts one row of "typed" into "wanted".  '': done; else the class of the error, or its SQLSTATE
CREATE FUNCTION insert_row(spec jsonb, number int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	leaf oid;
	violated text;
	refusing text;
BEGIN
	EXECUTE format('INSERT INTO wanted (%1$s) OVERRIDING SYSTEM VALUE SELECT %1$s FROM typed WHERE line_ = $1 RETURNING CASE WHEN %2$s IS NOT NULL THEN tableoid END', spec->>'columns', spec->>'by') INTO leaf USING number;
	-- a row that by range has no key has no other partition than the default
	IF spec->>'missing' = 'error' AND is_default(leaf) THEN
		RAISE check_violation;
	END IF;
	RETURN '';
EXCEPTION
WHEN check_violation OR not_null_violation THEN
	GET STACKED DIAGNOSTICS violated = CONSTRAINT_NAME, refusing = TABLE_NAME;
	RETURN CASE WHEN is_homeless(spec, number, refusing) THEN 'no_partition'
		WHEN SQLSTATE = '23502' THEN 'not_null' WHEN violated = '' THEN 'no_partition' ELSE 'check' END;
WHEN unique_violation OR exclusion_violation THEN
	RETURN 'unique';
WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;

CREATE FUNCTION state_of_class(class text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE class WHEN 'check' THEN '23514' WHEN 'no_partition' THEN '23514' WHEN 'not_null' THEN '23502' WHEN 'unique' THEN '23505' ELSE class END
$$;

-- Which rows the table would take if it were empty; and then it is as it was
CREATE FUNCTION probe(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	fates jsonb := '{}';
	fate text;
	number int;
BEGIN
	DELETE FROM wanted;
	FOR number IN SELECT line_ FROM typed WHERE passes_ ORDER BY line_ LOOP
		fate := insert_row(spec, number);
		IF fate NOT IN ('', 'unique') THEN
			fates := fates || jsonb_build_object(number::text, fate);
		END IF;
	END LOOP;
	RAISE SQLSTATE 'ZZZZZ';
EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
	RETURN fates;
END
$$;

-- Leaves that get rows lose theirs; those that would lose too many are a problem
CREATE FUNCTION replace_leaves(spec jsonb) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint;
	there bigint;
	problems text[] := '{}';
BEGIN
	FOR r IN SELECT leaf, coalesce(pg_get_partition_constraintdef(leaf), 'true') AS has FROM leaves('wanted') WHERE NOT is_default(leaf) LOOP
		EXECUTE format('SELECT count(*) FROM typed WHERE passes_ AND fits_ AND (%s)', r.has) INTO n;
		EXECUTE format('SELECT count(*) FROM %s', r.leaf::regclass) INTO there;
		IF n > 0 THEN
			EXECUTE format('DELETE FROM %s', r.leaf::regclass);
		END IF;
		IF n > 0 AND n < there * (spec->>'ratio')::numeric THEN
			problems := problems || '55000'::text;
		END IF;
	END LOOP;
	RETURN problems;
END
$$;

-- Each leaf that gets rows has its own and those, with keys of equal ones the last or
-- the first.  Table "merged" has for each such leaf the rows in their order, which is a
-- new one; or none, if its files stay as they are.  To a default partition rows are added
CREATE FUNCTION merge_leaves(spec jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint;
	there bigint;
	total bigint := 0;
	cols text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'wanted'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '');
	keys text := nullif(spec->>'keys', '');
	direction text := spec->>'direction';
BEGIN
	-- defaults are those of rows that are inserted
	CREATE TEMP TABLE news (LIKE wanted INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING IDENTITY);
	ALTER TABLE news ADD line_ int;
	EXECUTE format('INSERT INTO news (%1$s, line_) OVERRIDING SYSTEM VALUE SELECT %1$s, line_ FROM typed WHERE passes_ AND fits_ ORDER BY line_', spec->>'columns');
	FOR r IN SELECT leaf, path, coalesce(pg_get_partition_constraintdef(leaf), 'true') AS has, (SELECT pg_get_expr(relpartbound, oid) = 'DEFAULT' FROM pg_class WHERE oid = leaf) AS rest FROM leaves('wanted') LOOP
		EXECUTE format('SELECT count(*) FROM news WHERE %s', r.has) INTO n;
		CONTINUE WHEN n = 0;
		EXECUTE format('SELECT count(*) FROM %s', r.leaf::regclass) INTO there;
		EXECUTE format('CREATE TEMP TABLE shall AS WITH every AS (SELECT 0 AS source_, row_number() OVER (ORDER BY ctid) AS at_, %2$s FROM %1$s UNION ALL SELECT 1, line_, %2$s FROM news WHERE %3$s)
			SELECT %4$s source_, at_, %2$s FROM every %5$s', r.leaf::regclass, cols, r.has, 'DISTINCT ON (' || keys || ')', 'ORDER BY ' || keys || ', source_ ' || direction || ', at_ ' || direction);
		n := (SELECT count(*) FROM shall WHERE source_ = 1);
		total := total + n;
		IF r.rest THEN
			NULL;
		ELSIF n > 0 OR there > (SELECT count(*) FROM shall) THEN
			EXECUTE format('INSERT INTO merged SELECT $1, row_number() OVER (ORDER BY %s, source_, at_), ROW(%s)::text FROM shall', spec->>'by', spec->>'shown') USING r.path;
		ELSE
			INSERT INTO merged VALUES (r.path, NULL, NULL);
		END IF;
		EXECUTE format('DELETE FROM %1$s', r.leaf::regclass);
		EXECUTE format('INSERT INTO wanted (%1$s) OVERRIDING SYSTEM VALUE SELECT %1$s FROM shall', cols);
		DROP TABLE shall;
	END LOOP;
	DROP TABLE news;
	RETURN total;
END
$$;

-- What is wrong with the files and the order of leaves that were merged
CREATE FUNCTION mismerged(spec jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint;
	said text := '';
BEGIN
	FOR r IN SELECT l.leaf, l.path, m.anew, h.node FROM leaves('got') AS l JOIN (SELECT path, bool_or(pos IS NOT NULL) AS anew FROM merged GROUP BY path) AS m USING (path) LEFT JOIN had_nodes AS h USING (leaf) LOOP
		IF r.anew = (r.node = pg_relation_filenode(r.leaf)) THEN
			said := said || r.leaf::regclass || ' is written anew, or is not; ';
		END IF;
		CONTINUE WHEN NOT r.anew OR spec ? 'misplaced';
		EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY ctid) AS pos, ROW(%2$s)::text AS one FROM %1$s) AS g JOIN merged AS m USING (pos) WHERE m.path = $1 AND g.one <> m.one', r.leaf::regclass, spec->>'shown') INTO n USING r.path;
		said := said || CASE WHEN n > 0 THEN format('%s rows of %s are misplaced; ', n, r.leaf::regclass) ELSE '' END;
	END LOOP;
	RETURN said;
END
$$;

-- ON CONFLICT, of the last or the first of equal rows
CREATE FUNCTION insert_or_update(spec jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('INSERT INTO wanted (%1$s) OVERRIDING SYSTEM VALUE SELECT %1$s FROM (SELECT *, row_number() OVER (PARTITION BY %2$s ORDER BY line_ %3$s) AS rank_ FROM typed WHERE passes_ AND fits_) AS s
		WHERE rank_ = 1%4$s ORDER BY line_ ON CONFLICT (%2$s) DO %5$s', spec->>'columns', spec->>'keys', spec->>'direction', spec->>'nulls', spec->>'action');
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END
$$;

-- Does to "wanted" what the load is to do to "got".  Tells of rows, of what is left out,
-- and for which SQLSTATEs there is a reason
CREATE FUNCTION define(spec jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	problems text[] := array(SELECT jsonb_array_elements_text(spec->'problems'));
	rejects text[] := array(SELECT jsonb_array_elements_text(spec->'rejects'));
	fates jsonb := '{}';
	fate text;
	n bigint;
	accepted bigint := 0;
	rows bigint := 0;
	number int;
BEGIN
	IF spec->>'mode' <> 'keep' THEN
		fates := probe(spec);
	END IF;
	EXECUTE 'UPDATE typed SET fits_ = NOT $1 ? line_::text' USING fates;
	FOR number, fate IN SELECT key::int, value FROM jsonb_each_text(fates) LOOP
		IF spec->'classes' ? fate THEN
			rejects := rejects || ((SELECT place_ FROM typed WHERE line_ = number) || '|' || fate);
		ELSE
			problems := problems || state_of_class(fate) || CASE WHEN fate = 'unique' AND spec->>'missing' = 'error' THEN '23514'::text END;
		END IF;
	END LOOP;
	accepted := (SELECT count(*) FROM typed WHERE passes_ AND fits_);
	IF spec->>'mode' = 'replace' THEN
		problems := problems || replace_leaves(spec);
	ELSIF spec->>'mode' = 'range' THEN
		-- such a row is an error even if it would be rejected for want of a partition
		EXECUTE format('SELECT count(*) FROM typed WHERE passes_ AND (fits_ OR $1->>line_::text = ''no_partition'' OR NOT $2 ? ($1->>line_::text)) AND (%s) IS NOT TRUE', spec->>'range') INTO n USING fates, spec->'classes';
		problems := problems || CASE WHEN n > 0 THEN '23514'::text END;
		EXECUTE format('DELETE FROM wanted WHERE %s', spec->>'range');
	END IF;
	BEGIN
		IF spec->>'mode' = 'merge' THEN
			rows := merge_leaves(spec);
		ELSIF spec->>'mode' = 'conflict' THEN
			rows := insert_or_update(spec);
		END IF;
	EXCEPTION WHEN OTHERS THEN
		problems := problems || SQLSTATE::text;
	END;
	FOR number IN SELECT line_ FROM typed WHERE passes_ AND fits_ AND spec->>'mode' IN ('keep', 'replace', 'range') ORDER BY line_ LOOP
		fate := insert_row(spec, number);
		rows := rows + (fate = '')::int;
		IF spec->'classes' ? fate THEN
			rejects := rejects || ((SELECT place_ FROM typed WHERE line_ = number) || '|' || fate);
			accepted := accepted - 1;
		ELSIF fate <> '' THEN
			problems := problems || state_of_class(fate) || CASE WHEN fate = 'unique' AND spec->>'missing' = 'error' THEN '23514'::text END;
			problems := problems || CASE fate WHEN 'unique' THEN '23P01'::text END;
		END IF;
	END LOOP;
	IF cardinality(rejects) > (spec->>'limit')::int THEN
		problems := problems || '22P02'::text;
	END IF;
	RETURN jsonb_build_object('problems', to_jsonb(array(SELECT DISTINCT p FROM unnest(problems) AS p WHERE p IS NOT NULL)), 'rejects', to_jsonb(rejects), 'rows', rows, 'duplicates', accepted - rows,
		'filtered', (spec->>'filtered')::int + (SELECT count(*) FROM typed WHERE NOT passes_));
END
$$;

-- What differs between the two tables after a load: rows, their leaves, their order
CREATE FUNCTION differences(spec jsonb, base text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
	r record;
	n bigint;
	one text := format('SELECT path || %L || ROW(%s)::text FROM %%I AS t JOIN leaves(%%L) ON leaf = t.tableoid', ' ', spec->>'compared');
	got text := format(one, base, base);
	want text := format(one, 'wanted', 'wanted');
BEGIN
	FOR r IN EXECUTE format('SELECT * FROM (SELECT ''more: '' AS how, * FROM ((%1$s) EXCEPT ALL (%2$s)) AS x (one) LIMIT 2) AS x UNION ALL SELECT * FROM (SELECT ''less: '', * FROM ((%2$s) EXCEPT ALL (%1$s)) AS x (one) LIMIT 2) AS y', got, want) LOOP
		said := said || r.how || left(r.one, 200) || '; ';
	END LOOP;
	FOR r IN SELECT leaf FROM leaves(base) WHERE kind = 'r' LOOP
		n := (SELECT count(*) FROM verify_heapam(r.leaf, check_toast => true));
		said := said || CASE WHEN n > 0 THEN r.leaf::regclass || ' is not sound; ' ELSE '' END;
		PERFORM bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am AS a ON a.oid = relam WHERE amname = 'btree' AND indrelid = r.leaf;
	END LOOP;
	said := said || mismerged(spec);
	IF spec ? 'order' THEN
		-- a row may come before a longer one, if there was no room for that on a page: so it does after COPY
		EXECUTE format('WITH x AS (SELECT ctid AS at_, row_number() OVER (PARTITION BY tableoid ORDER BY ctid) AS is_, rank() OVER (PARTITION BY tableoid ORDER BY %2$s) AS least_, count(*) OVER (PARTITION BY tableoid ORDER BY %2$s) AS most_, tableoid AS leaf_, pg_column_size(g.*) AS size_
			FROM %1$I AS g), odd AS (SELECT * FROM x WHERE is_ NOT BETWEEN least_ AND most_ AND NOT leaf_ = ANY ($1))
			SELECT count(*) FROM odd AS a WHERE EXISTS (SELECT FROM odd AS b WHERE b.leaf_ = a.leaf_ AND b.at_ > a.at_ AND b.least_ < a.least_ AND b.size_ <= a.size_ - 16)', base, spec->>'order') INTO n USING array(SELECT leaf FROM had_rows);
		said := said || CASE WHEN n > 0 THEN format('%s rows are not in the order %s; ', n, spec->>'order') ELSE '' END;
	END IF;
	RETURN said || coalesce((SELECT string_agg('left: ' || nspname, '; ') FROM pg_namespace WHERE nspname ~ '^fast_copy '), '');
END
$$;

-- What the report says and should not
CREATE FUNCTION misreported(spec jsonb, want jsonb, loaded bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
	r record;
	told text[];
BEGIN
	IF loaded IS DISTINCT FROM (want->>'rows')::bigint THEN
		said := format('%s rows instead of %s; ', loaded, want->>'rows');
	END IF;
	IF NOT spec ? 'silent' THEN
		SELECT rows, filtered, rejected INTO r FROM fast_copy_report() WHERE phase = 'total';
		IF (r.rows, r.filtered, r.rejected) IS DISTINCT FROM ((want->>'rows')::bigint, (want->>'filtered')::bigint, jsonb_array_length(want->'rejects')::bigint) THEN
			said := said || format('reported %s rows, %s filtered, %s rejected instead of %s; ', r.rows, r.filtered, r.rejected, want);
		END IF;
	END IF;
	IF spec ? 'kept' THEN
		told := array(SELECT concat_ws('|', CASE WHEN NOT spec ? 'unnamed' THEN filename ELSE 'stdin' END, lineno, class) FROM rejects ORDER BY 1);
		IF told IS DISTINCT FROM array(SELECT CASE WHEN spec ? 'unnamed' THEN regexp_replace(x, '^[^|]*', 'stdin') ELSE x END FROM jsonb_array_elements_text(want->'rejects') AS x ORDER BY 1) THEN
			said := said || format('rejects are %s instead of %s; ', left(told::text, 400), left(want->>'rejects', 400));
		END IF;
	END IF;
	RETURN said;
END
$$;

-- The verdict: same, error (wanted and got), refused, or wrong
CREATE FUNCTION judge(spec jsonb, want jsonb, state text, message text, loaded bigint, before text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	base text := spec->>'base';
	problems jsonb := want->'problems';
	wrong text;
BEGIN
	IF state <> '00000' THEN
		wrong := CASE WHEN before IS DISTINCT FROM state_of(base) THEN 'it is not what it was before the error; ' ELSE '' END ||
			coalesce((SELECT string_agg('left: ' || nspname, '; ') FROM pg_namespace WHERE nspname ~ '^fast_copy '), '');
		RETURN CASE WHEN wrong <> '' OR state ~ '^(XX|57P)' THEN 'wrong|' || wrong WHEN problems ? state THEN 'error|' ELSE 'refused|' END || state || ' ' || message;
	END IF;
	IF problems <> '[]' THEN
		RETURN format('wrong|loaded, although %s', problems);
	END IF;
	wrong := differences(spec, base) || misreported(spec, want, loaded);
	RETURN CASE WHEN wrong = '' THEN 'same|' || loaded ELSE 'wrong|' || wrong END;
END
$$;

-- Rows that are there before the load: those of a query that "got" takes, one by one
CREATE PROCEDURE put_olds(base text, query text) LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN EXECUTE query LOOP
		BEGIN
			EXECUTE (SELECT format('INSERT INTO %I (%s) VALUES (%s)', base, string_agg(key, ', '), string_agg(quote_nullable(value), ', ')) FROM jsonb_each_text(to_jsonb(r)));
		EXCEPTION WHEN OTHERS THEN
			CONTINUE;
		END;
	END LOOP;
END
$$;

-- "wanted" has them as well
CREATE PROCEDURE share_olds(base text) LANGUAGE plpgsql AS $$
DECLARE
	cols text := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = 'wanted'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '');
BEGIN
	EXECUTE format('INSERT INTO wanted (%1$s) OVERRIDING SYSTEM VALUE SELECT %1$s FROM %2$I', cols, base);
	EXECUTE format('CREATE TABLE had_rows AS SELECT DISTINCT tableoid AS leaf FROM %I', base);
	CREATE TABLE had_nodes AS SELECT leaf, pg_relation_filenode(leaf) AS node FROM had_rows;
	CREATE TABLE merged (path text, pos bigint, one text);
END
$$;

CREATE PROCEDURE clean() LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT format('DROP %s %s CASCADE', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, oid::regclass) FROM pg_class
		WHERE relkind IN ('r', 'v', 'f', 'p') AND NOT relispartition AND relname IN ('got', 'got_base', 'got_remote', 'wanted', 'stage', 'typed', 'rejects', 'loads', 'had_rows', 'had_nodes', 'merged', 'above_got', 'above_wanted')
		ORDER BY relname = 'got_base' LOOP
		EXECUTE name;
	END LOOP;
END
$$;

-- With the extension for rows on other servers, or without
CREATE PROCEDURE put_wing(wanted bool) LANGUAGE plpgsql AS $$
BEGIN
	IF NOT wanted THEN
		DROP EXTENSION IF EXISTS fast_copy_cluster;
	ELSIF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'fast_copy_cluster') THEN
		CREATE EXTENSION IF NOT EXISTS fast_copy_cluster;
	END IF;
END
$$;
CREATE SEQUENCE course_seq;
CREATE TABLE ref (id int PRIMARY KEY);
INSERT INTO ref VALUES (0), (1), (2), (3);
