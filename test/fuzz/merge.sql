--
-- What SQL says about rows that are merged.  See test/fuzz/run-merge.
--
SET client_min_messages = warning;
CREATE EXTENSION fast_copy;
-- a server may lack either
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck') THEN
		CREATE EXTENSION amcheck;
	ELSE
		CREATE FUNCTION verify_heapam(regclass, check_toast bool) RETURNS SETOF int LANGUAGE sql AS 'SELECT 1 WHERE false';
		CREATE FUNCTION bt_index_check(oid, bool) RETURNS void LANGUAGE sql AS '';
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
CREATE TYPE pair AS (a int, b text);

CREATE FUNCTION leaves() RETURNS TABLE (leaf regclass) LANGUAGE sql AS $$
	SELECT oid FROM pg_class WHERE relkind = 'r' AND (relname = 'got' OR oid IN (SELECT inhrelid FROM pg_inherits JOIN pg_class AS p ON p.oid = inhparent WHERE p.relname = 'got'))
$$;

CREATE FUNCTION names() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = to_regclass('got') AND attnum > 0 AND NOT attisdropped
$$;

-- Before the load: the rows that there are, in their order
CREATE FUNCTION note() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE was AS SELECT tableoid::oid AS leaf, 0 AS source, row_number() OVER (ORDER BY tableoid, ctid) AS at, pg_relation_filenode(tableoid) AS node, %s FROM got', names());
	CREATE TABLE news (LIKE got INCLUDING DEFAULTS INCLUDING GENERATED, at_ bigserial);
END
$$;

-- After it: what is wrong.  Table "news" has the rows of the file that were
-- accepted.  Without "ties" rows of one key may lie in any order.
CREATE FUNCTION wrong(loaded bigint, keys text, keep text, in_order text, ties bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n bigint;
	there bigint;
	total bigint := 0;
	said text := '';
	cols text := names();
	compared text;
	misplaced text;
BEGIN
	FOR r IN SELECT leaf, coalesce(pg_get_partition_constraintdef(leaf), 'true') AS has FROM leaves() LOOP
		DROP TABLE IF EXISTS shall;
		EXECUTE format('SELECT count(*) FROM news WHERE %s', r.has) INTO n;
		compared := CASE WHEN n > 0 THEN keys END;
		EXECUTE format('CREATE TEMP TABLE shall AS WITH every AS (SELECT source, at, %2$s FROM was WHERE leaf = %1$L
				UNION ALL SELECT 1, at_, %2$s FROM news WHERE %3$s)
			SELECT %4$s source, at, %2$s FROM every %5$s',
			r.leaf::oid, cols, r.has, 'DISTINCT ON (' || compared || ')', 'ORDER BY ' || compared || ', source ' || keep || ', at ' || keep);
		SELECT count(*) FROM was WHERE leaf = r.leaf INTO there;
		n := (SELECT count(*) FROM shall WHERE source = 1);
		total := total + n;
		IF n = 0 AND there = (SELECT count(*) FROM shall) THEN
			compared := 'source, at';
		ELSE
			compared := in_order || CASE WHEN ties THEN ', source, at' ELSE '' END;
		END IF;
		IF EXISTS (SELECT FROM was WHERE leaf = r.leaf AND (node <> pg_relation_filenode(r.leaf)) <> (compared <> 'source, at')) THEN
			said := said || format('%s is written anew, or is not; ', r.leaf);
		END IF;
		EXECUTE format('SELECT count(*) FROM ((SELECT ROW(%2$s)::text FROM %1$s EXCEPT ALL SELECT ROW(%2$s)::text FROM shall) UNION ALL (SELECT ROW(%2$s)::text FROM shall EXCEPT ALL SELECT ROW(%2$s)::text FROM %1$s)) AS d', r.leaf, cols) INTO n;
		IF n > 0 THEN
			said := said || format('%s rows of %s differ; ', n, r.leaf);
		ELSE
			IF ties OR compared = 'source, at' THEN
				misplaced := 'SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY ctid) AS i, ROW(%2$s)::text AS row FROM %1$s) AS g JOIN (SELECT row_number() OVER (ORDER BY %3$s) AS i, ROW(%2$s)::text AS row FROM shall) AS s USING (i) WHERE g.row <> s.row';
			ELSE
				misplaced := 'SELECT count(*) FROM (SELECT rank() OVER (ORDER BY %3$s) AS least, count(*) OVER (ORDER BY %3$s) AS most, row_number() OVER (ORDER BY ctid) AS i FROM %1$s) AS g WHERE i NOT BETWEEN least AND most';
			END IF;
			EXECUTE format(misplaced, r.leaf, cols, compared) INTO n;
			said := said || CASE WHEN n > 0 THEN format('%s rows of %s are misplaced; ', n, r.leaf) ELSE '' END;
		END IF;
		n := (SELECT count(*) FROM verify_heapam(r.leaf, check_toast => true));
		PERFORM bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am AS a ON a.oid = relam WHERE amname = 'btree' AND indrelid = r.leaf;
		said := said || CASE WHEN n > 0 THEN format('%s is not sound; ', r.leaf) ELSE '' END;
	END LOOP;
	IF loaded IS DISTINCT FROM total THEN
		said := said || format('%s rows instead of %s; ', loaded, total);
	END IF;
	RETURN said;
END
$$;
