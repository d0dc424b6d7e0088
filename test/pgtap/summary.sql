-- fast_copy_summary(): the last load for people, never wider than a terminal.

\set name summary
\ir begin.psql
SELECT no_plan();

-- A line of 78 columns is the widest: psql puts a blank in front of it, and
-- draws a line that is two columns wider than it under the column's name.  A
-- character of three bytes takes two columns.
CREATE FUNCTION pg_temp.fits(about text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT is_empty('SELECT line FROM fast_copy_summary() AS line WHERE line ~ E''\n'' OR
		octet_length(regexp_replace(line, ''[^\x01-\x7f]'', ''xx'', ''g'')) > 78', about || ': no line is too wide')
	UNION ALL
	SELECT cmp_ok(count(*), '<=', 60::bigint, about || ': nor are there too many') FROM fast_copy_summary()
$$;

-- The lines, with what differs from run to run left out
CREATE FUNCTION pg_temp.line(pattern text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM fast_copy_summary() AS line WHERE line ~ pattern
$$;

-- few partitions
CREATE TABLE s (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE INDEX ON s (n);
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + interval '1 day' * (sqrt(g)::int % 3), g FROM generate_series(1, 3000) AS g$$);
SELECT is(fast_copy('s', current_setting('fc.file'), where_clause => 'n > 500', on_error => 'ignore'), 2500::bigint, 'loaded');
SELECT pg_temp.fits('few partitions');
SELECT is((SELECT line FROM fast_copy_summary() AS line LIMIT 1), format('public.s from "%s"', current_setting('fc.file')), 'what is loaded, and from where')
	WHERE length(current_setting('fc.file')) < 50;
SELECT matches(line, '^rows       2,500, \S+ a second$', 'rows') FROM pg_temp.line('^rows') AS line;
SELECT results_eq($$SELECT pg_temp.line('^(left out|partitions \d|workers|way|writer)')$$,
	$$VALUES ('left out   500 filtered, 0 rejected'), ('partitions 3 new, 3 indexes built'), ('workers    0 of 0'), ('way        rows (sorted by key, through temporary files): the file is small'), ('writer     multi_insert (rows into pages, as COPY inserts them)')$$, 'how');
SELECT results_eq($$SELECT substr(line, 1, 10) FROM fast_copy_summary() AS line WHERE line ~ '^(phase|\w+ +[0-9.]+ m?s +\d+%)'$$,
	$$VALUES ('phase     '), ('split     '), ('scan      '), ('partitions'), ('load      '), ('index     '), ('attach    ')$$, 'phases in their order');
SELECT cmp_ok(sum((regexp_match(line, '(\d+)%'))[1]::int), '>', 90::bigint, 'their shares add up') FROM pg_temp.line('\d+%') AS line;
SELECT results_eq($$SELECT regexp_replace(line, ' +', ' ', 'g') FROM fast_copy_summary() AS line WHERE line ~ '^s_p2024'$$,
	$$SELECT format('%s %s %s', tableoid::regclass, count(*), repeat('#', (count(*) * 22.0 / max(count(*)) OVER ())::int)) FROM s GROUP BY tableoid ORDER BY min(ts)$$, 'rows by partition, with bars');

-- many partitions: several on each line, and none is lost
CREATE TABLE many (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + interval '1 day' * (g * 7 % 100), g FROM generate_series(1, 1000) AS g$$);
SELECT is(fast_copy('many', current_setting('fc.file')), 1000::bigint, 'loaded');
SELECT pg_temp.fits('many partitions');
SELECT is(count(*), 20::bigint, 'twenty lines') FROM pg_temp.line('^many_p.* to ');
SELECT is(sum((regexp_match(line, ' (\d+) '))[1]::int), 1000::bigint, 'they have all rows') FROM pg_temp.line('^many_p.* to ') AS line;
SELECT results_eq($$SELECT pg_temp.line('^many_p20240101')$$, $$VALUES ('many_p20240101 to many_p20240105                    50  ######################')$$, 'the first of them');

-- each line has as many partitions as the others
CREATE TABLE thirty (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + interval '1 day' * (g % 30), g FROM generate_series(1, 300) AS g$$);
SELECT is(fast_copy('thirty', current_setting('fc.file')), 300::bigint, 'loaded');
SELECT is(count(*), 15::bigint, 'two partitions on each line, with bars of one length') FROM pg_temp.line('^thirty_p\d+ to thirty_p\d+ +20  #{22}$');
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + interval '1 day' * (g * 7 % 100), g FROM generate_series(1, 1000) AS g$$);

-- keys of both signs are in order
CREATE TABLE century (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT pg_temp.file($$SELECT timestamp '1999-12-30' + interval '1 day' * (g * 3 % 4), g FROM generate_series(1, 40) AS g$$);
SELECT is(fast_copy('century', current_setting('fc.file')), 40::bigint, 'loaded');
SELECT is(array_agg(line ORDER BY n), '{century_p19991230,century_p19991231,century_p20000101,century_p20000102}', 'by key, not by name or place')
	FROM (SELECT split_part(line, ' ', 1), n FROM fast_copy_summary() WITH ORDINALITY AS s(line, n) WHERE line ~ '^century_p') AS s(line, n);

-- nothing of others is called, whatever search_path says
CREATE SCHEMA evil;
SELECT array_agg(line) AS lines FROM fast_copy_summary() AS line \gset
DO $do$
DECLARE
	f record;
BEGIN
	FOR f IN SELECT oid::regprocedure::text AS name, pg_get_function_result(oid) AS result FROM pg_proc
		WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND provariadic = 0 AND proname IN ('length', 'right', 'rpad', 'rtrim',
			'replace', 'repeat', 'to_char', 'round', 'div', 'regexp_replace', 'regexp_matches', 'pg_size_pretty')
	LOOP
		EXECUTE format('CREATE FUNCTION evil.%s RETURNS %s LANGUAGE plpgsql AS $$BEGIN RAISE ''evil''; END$$', f.name, f.result);
	END LOOP;
	CREATE FUNCTION evil.greater(float8, float8) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'evil'; END$$;
	CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'evil'; END$$;
	CREATE OPERATOR evil.> (LEFTARG = float8, RIGHTARG = float8, FUNCTION = evil.greater);
	CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
END
$do$;
CREATE TEMP TABLE report (line text);
SET LOCAL search_path = evil, pg_temp, pg_catalog, public;
SELECT pg_catalog.array_agg(line) AS evil FROM public.fast_copy_summary() AS line \gset
SET LOCAL search_path = public, pg_catalog;
DROP TABLE pg_temp.report;
SELECT is(:'evil'::text, :'lines', 'the same under a hostile search_path');
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + interval '1 day' * (g * 7 % 100), g FROM generate_series(1, 1000) AS g$$);

-- long names and paths, wide characters, line breaks
CREATE SCHEMA "a very long name of a schema, which is nearly as long as it may";
SELECT 'a very long name of a schema, which is nearly as long as it may' AS long \gset
SELECT repeat(chr(28450), 17) AS wide \gset
CREATE TABLE :"long".:"wide" (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT left(:'long', 50) AS name \gset
CREATE TABLE :"long".:"name" (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE TABLE :"long"."line
break" (ts timestamp, n int) PARTITION BY RANGE (ts);
CREATE FUNCTION pg_temp.loaded(target regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is(fast_copy(target, current_setting('fc.file')), 1000::bigint, 'loaded');
	RETURN QUERY SELECT * FROM pg_temp.fits(replace(target::text, E'\n', ' '));
END
$$;
SELECT pg_temp.loaded(oid) FROM pg_class
WHERE relnamespace = quote_ident(:'long')::regnamespace AND relkind = 'p' ORDER BY relname = :'name';
SELECT is(count(*), 20::bigint, 'of long names beginning and end are shown') FROM pg_temp.line('^\S.*\.\.\S.* to \S.*\.\.\S.* 50 ');
SELECT fast_copy(format('%I.%I', :'long', :'name')::regclass, current_setting('fc.file')) AS loaded \gset
SELECT is(count(*), 1::bigint, '... and the date is whole') FROM pg_temp.line('^a v\.\.\S_p20240101 to a v\.\.\S_p20240105 +50 ');

-- a reason of many words is broken between them
CREATE TABLE reason (ts timestamp, n int);
CREATE TRIGGER same BEFORE INSERT ON reason FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(fast_copy('reason', current_setting('fc.file')), 1000::bigint, 'loaded');
SELECT pg_temp.fits('core''s COPY');
SELECT is(line, 'way        copy (one by one, by COPY''s own code): the target has triggers', 'the way of core') FROM pg_temp.line('^way') AS line;

-- a load that fails, and one that another role may not see
SELECT throws_ok(format('SELECT fast_copy(''many'', %L, columns => ''{n,ts}'')', current_setting('fc.file')), '22P02');
SELECT pg_temp.fits('a failure');
SELECT is(line, 'failed     in phase load, with SQLSTATE 22P02: nothing was loaded', 'says so') FROM pg_temp.line('^failed') AS line;
SELECT is((SELECT failed FROM fast_copy_report() WHERE phase = 'total'), '22P02', 'as does the report');
CREATE ROLE fc_summary_other;
SET LOCAL ROLE fc_summary_other;
SELECT is(count(*), 0::bigint, 'nothing for another role') FROM public.fast_copy_summary();
RESET ROLE;

-- an analysis has phases, and no totals
SELECT isnt_empty(format('SELECT * FROM fast_copy_analyze(''many'', %L)', current_setting('fc.file')), 'analysis');
SELECT pg_temp.fits('an analysis');
SELECT is(count(*), 0::bigint, 'no rows were loaded') FROM pg_temp.line('^(rows|WAL|way)');

-- nor does a plain COPY that core has loaded
SET LOCAL fast_copy.accelerate_copy = on;
SET LOCAL fast_copy.accelerate_min_size = 0;
CREATE TEMP TABLE scratch (LIKE s);
SELECT format('COPY scratch FROM %L (FORMAT csv)', current_setting('fc.file')) AS copy \gset
:copy;
SELECT results_eq('SELECT fast_copy_summary()', $$VALUES ('copy       core''s COPY: the table is temporary')$$, 'a plain COPY: why it was not accelerated');
SELECT results_eq('SELECT way, reason FROM fast_copy_report()', $$VALUES ('copy', 'the table is temporary')$$, '... for programs, too');
SELECT * FROM finish();
ROLLBACK;
