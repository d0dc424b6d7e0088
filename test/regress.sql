\set ECHO none
-- Included by every suite in sql/: a directory for files and a way to show
-- errors without it.
--
-- The server may run as another user, and on another machine, than psql: the
-- directory lies in the server's data directory, and what has to be done there
-- is done by the server, as the superuser that runs these suites may ask.
--
-- Nothing of this is shown.  What follows it is, unaligned and without headers.
\o /dev/null

-- also of the suite: one that shows NOTICEs asks for them
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
DROP SCHEMA IF EXISTS fc CASCADE;
CREATE SCHEMA fc;
GRANT USAGE ON SCHEMA fc TO PUBLIC;

CREATE FUNCTION fc.path(name text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER AS
$$SELECT current_setting('data_directory') || '/fast_copy_regress/' || name$$;

-- Runs a command of the server's shell in the directory
CREATE FUNCTION fc.shell(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L',
				   'cat >/dev/null && cd fast_copy_regress && ' || command);
	RETURN command;
END
$$;

-- Writes exactly these bytes; returns the name
CREATE FUNCTION fc.bytes(name text, content bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	lob oid := lo_from_bytea(0, content);
BEGIN
	PERFORM lo_export(lob, fc.path(name)), lo_unlink(lob);
	RETURN name;
END
$$;

-- The same with characters
CREATE FUNCTION fc.text(name text, content text) RETURNS text
LANGUAGE sql AS $$SELECT fc.bytes(name, convert_to(content, 'UTF8'))$$;

-- Writes lines, each ended by a newline
CREATE FUNCTION fc.file(name text, VARIADIC lines text[]) RETURNS text
LANGUAGE sql AS
$$SELECT fc.text(name, array_to_string(lines, E'\n') || E'\n')$$;

-- What a load ends with; whatever it did is undone.  Our context is shown as
-- COPY's, so that the two can be compared.
CREATE FUNCTION fc.outcome(statement text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	state text;
	message text;
	detail text;
	hint text;
	context text;
	result text[];
BEGIN
	IF statement LIKE 'COPY %' THEN
		EXECUTE statement;
		GET DIAGNOSTICS n = ROW_COUNT;
	ELSE
		EXECUTE statement INTO n;
	END IF;
	RAISE SQLSTATE 'FC000';
EXCEPTION
	WHEN SQLSTATE 'FC000' THEN
		RETURN ARRAY['ok, ' || n || ' rows'];
	WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
			detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
			context = PG_EXCEPTION_CONTEXT;
		result := ARRAY[state || ': ' || message];
		IF detail <> '' THEN
			result := result || ('DETAIL: ' || regexp_replace(detail, 'only role "[^"]*"', 'only role "..."'));
		END IF;
		IF hint <> '' THEN
			result := result || ('HINT: ' || regexp_replace(hint, '(host|user) "[^"]*"', '\1 "..."', 'g'));
		END IF;
		RETURN array(SELECT replace(line, fc.path(''), '')
					 FROM unnest(result || array(
						SELECT 'CONTEXT: ' || line FROM regexp_split_to_table(context, E'\n') AS line
						WHERE line ~ '^(fast_copy|COPY) ')) AS line);
END
$$;

-- Only the SQLSTATE, where versions of PostgreSQL differ in the words
CREATE FUNCTION fc.state(statement text) RETURNS text
LANGUAGE sql AS $$SELECT left((fc.outcome(statement))[1], 5)$$;

-- What fast_copy says with each number of workers: once if it is the same for
-- all.  COPY's answer follows where it is another one, but for hints of ours
-- about the call; "options" are COPY's,
-- NULL if it has no such option.
CREATE FUNCTION fc.try(target text, name text, args text DEFAULT '',
					   options text DEFAULT '', columns text DEFAULT '')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT fast_copy(%L, fc.path(%L)', target, name) || coalesce(', ' || nullif(args, ''), '');
	ours text[];
	again text[];
	n int;
	theirs text[];
BEGIN
	IF args ~ 'workers' THEN
		ours := fc.outcome(statement || ')');
	ELSE
		ours := fc.outcome(statement || ', workers => 0)');
		FOREACH n IN ARRAY '{1,2,4}'::int[] LOOP
			again := fc.outcome(statement || format(', workers => %s)', n));
			IF again <> ours THEN
				RETURN QUERY SELECT format('%s workers: ', n) || line FROM unnest(again) AS line;
			END IF;
		END LOOP;
	END IF;
	RETURN QUERY SELECT unnest(ours);
	IF options IS NULL THEN
		RETURN;
	END IF;
	theirs := fc.outcome(format('COPY %s %s FROM %L (FORMAT csv%s)', target, columns,
								fc.path(name), coalesce(', ' || nullif(options, ''), '')));
	IF array(SELECT line FROM unnest(theirs) AS line WHERE line NOT LIKE 'HINT: COPY FROM instructs%')
		<> array(SELECT regexp_replace(line, '^CONTEXT: fast_copy (.*), file "[^"]*"', 'CONTEXT: COPY \1')
				 FROM unnest(ours) AS line WHERE line !~ '^HINT: (If|Its owner|Name|The server) ') THEN
		RETURN QUERY SELECT 'COPY: ' || line FROM unnest(theirs) AS line;
	END IF;
END
$$;

-- The partitions of a table with their bounds and numbers of rows
CREATE FUNCTION fc.partitions(parent regclass) RETURNS TABLE (partition name, bounds text, rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
	leaf oid;
BEGIN
	FOR leaf, partition, bounds IN
		SELECT c.oid, c.relname, replace(pg_get_expr(c.relpartbound, c.oid), 'FOR VALUES ', '')
		FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
		WHERE inhparent = parent ORDER BY c.relname COLLATE "C"
	LOOP
		EXECUTE format('SELECT count(*) FROM %s', leaf::regclass) INTO rows;
		RETURN NEXT;
	END LOOP;
END
$$;

COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress && mkdir fast_copy_regress && chmod 755 fast_copy_regress';

-- Where the kernel has no io_uring for us every load would say so
CREATE TEMP TABLE probe (k int);
SELECT fc.file('probe.csv', '1');
SELECT fast_copy('probe', fc.path('probe.csv'), 'k');
SELECT set_config('fast_copy.io_method', 'sync', false) FROM fast_copy_report() WHERE io_method = 'sync';
DROP TABLE probe;
\o
\pset format unaligned
\pset tuples_only on
\set ECHO all
