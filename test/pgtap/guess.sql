-- Workers that scan begin each chunk after its first line end, without a split.
-- Where that was wrong, or a record is bad, all is scanned again after one.

\set name guess
\ir begin.psql
SELECT plan(53);

-- Rows in no order, 12 MB
CREATE TABLE rows AS
SELECT timestamp '2024-05-01' + g * 7919 % 40009 * interval '30 s' AS k, g AS n, repeat(chr(65 + g % 26), g % 70) AS t
FROM generate_series(1, 200000) AS g;

-- Loads by two workers, and compares with COPY's rows; "split": must the file
-- be split?  Five tests.
CREATE FUNCTION pg_temp.check_guess(about text, chunk text, split bool) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	name text := format('%s, chunks of %s: ', about, chunk);
	wrong bigint;
BEGIN
	CREATE TABLE wanted (k timestamp, n int, t text);
	CREATE TABLE got (k timestamp, n int, t text) PARTITION BY RANGE (k);
	EXECUTE format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'));
	PERFORM set_config('fast_copy.chunk_size', chunk, true);
	RETURN NEXT is(fast_copy('got', current_setting('fc.file'), 'k', partition_interval => '1 day', workers => 2),
		(SELECT count(*) FROM wanted), name || 'all rows');
	RETURN NEXT is((SELECT array_agg(processes IS NOT NULL) FROM fast_copy_report() WHERE phase = 'split'), ARRAY[split], name || CASE WHEN split THEN 'split' ELSE 'not split' END);
	RETURN NEXT is((SELECT rows FROM fast_copy_report() WHERE phase = 'split'), (SELECT count(*) FROM wanted), name || 'so many records');
	SELECT count(*) INTO wrong FROM ((TABLE wanted EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE wanted)) AS s;
	RETURN NEXT is(wrong, 0::bigint, name || 'the rows of COPY');
	SELECT count(*) INTO wrong FROM (SELECT (k, n) < lag((k, n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS w FROM got) AS s WHERE w;
	RETURN NEXT is(wrong, 0::bigint, name || 'in key order, ties in file order');
	DROP TABLE wanted, got;
END
$$;

SELECT format('COPY (TABLE rows ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT pg_temp.check_guess('plain', chunk, false) FROM unnest('{1kB,16kB,1MB}'::text[]) AS chunk;

-- One record has lines that look like records, and is longer than a chunk.  Of
-- large chunks only the beginning is looked at before, which does not show it;
-- and whoever begins within it meets no error, as another one ends its quotes.
SELECT format('COPY (SELECT k, n, CASE n WHEN 150000 THEN repeat(E''2024-05-06 00:00:00,1,x\n'', 60000) || ''2024-05-06 00:00:00,1,x'' WHEN 199000 THEN E''\nb'' ELSE t END FROM rows ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT pg_temp.check_guess('one record of many lines', chunk, true) FROM unnest('{16kB,1MB}'::text[]) AS chunk;

-- Many records have several lines: the look shows that
SELECT format('COPY (SELECT k, n, CASE WHEN n %% 10 = 0 THEN E''a\nb'' ELSE t END FROM rows ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT pg_temp.check_guess('records of several lines', chunk, true) FROM unnest('{16kB,1MB}'::text[]) AS chunk;

-- Quotes without line ends in them do no harm
SELECT format('COPY (TABLE rows ORDER BY n) TO %L (FORMAT csv, FORCE_QUOTE *)', current_setting('fc.file')) \gexec
SELECT pg_temp.check_guess('in quotes', chunk, false) FROM unnest('{16kB,1MB}'::text[]) AS chunk;

-- The first bad record is COPY's, with its line
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'none' ELSE f[2] || coalesce(' ' || substring(f[9] FROM 'line \d+(?:, column \w+)?'), '') END FROM pg_temp.failure(statement) AS f
$$;
CREATE TABLE wanted (k timestamp, n int, t text);
CREATE TABLE got (k timestamp, n int, t text) PARTITION BY RANGE (k);
SELECT format('COPY (SELECT k, CASE WHEN n IN (20000, 190000) THEN ''x'' || n ELSE n::text END, CASE WHEN n = 7000 THEN E''a\nb'' ELSE t END FROM rows ORDER BY rows.n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT pg_temp.error_of(format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'))) AS copys \gset
SELECT is(pg_temp.error_of(format('SELECT fast_copy(''got'', %L, ''k'', partition_interval => ''1 day'', workers => 2)', current_setting('fc.file'))), :'copys', 'a bad value');
SELECT format('COPY (SELECT CASE WHEN n IN (20000, 190000) THEN ''x'' || n ELSE k::text END, n, t FROM rows ORDER BY rows.n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT pg_temp.error_of(format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'))) AS copys \gset
SELECT is(pg_temp.error_of(format('SELECT fast_copy(''got'', %L, ''k'', partition_interval => ''1 day'', workers => 2)', current_setting('fc.file'))), :'copys', 'a bad key');
SELECT format('COPY (SELECT k, n, t FROM rows ORDER BY n) TO PROGRAM %L (FORMAT csv)', format('(cat; echo %s) > %s', quote_literal('2024-05-01,1,"never closed'), current_setting('fc.file'))) \gexec
SELECT pg_temp.error_of(format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'))) AS copys \gset
SELECT is(pg_temp.error_of(format('SELECT fast_copy(''got'', %L, ''k'', partition_interval => ''1 day'', workers => 2)', current_setting('fc.file'))), :'copys', 'quotes that do not end');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'got'::regclass), 0::bigint, 'nothing is left of it');

-- A marker ends the data
SELECT format('COPY (SELECT k, n, t FROM rows ORDER BY n) TO PROGRAM %L', format('(head -n 190000; echo ''\.''; tail -n 1) > %s', current_setting('fc.file'))) \gexec
SELECT format('COPY wanted FROM %L', current_setting('fc.file')) \gexec
SELECT is(fast_copy('got', current_setting('fc.file'), 'k', format => 'text', partition_interval => '1 day', workers => 2), (SELECT count(*) FROM wanted), 'rows up to a marker');
SELECT is((SELECT sum(n) FROM got), (SELECT sum(n) FROM wanted), 'these');

-- Where a column has numbers of a sequence, records must be counted before
CREATE TABLE numbered (k timestamp, n int, t text, i int GENERATED ALWAYS AS IDENTITY) PARTITION BY RANGE (k);
SELECT format('COPY (TABLE rows ORDER BY n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT fast_copy('numbered', current_setting('fc.file'), 'k', columns => '{k,n,t}', partition_interval => '1 day', workers => 2) \g /dev/null
SELECT is((SELECT count(*) FROM numbered WHERE i = n), 200000::bigint, 'numbers in file order');
SELECT is((SELECT processes IS NOT NULL FROM fast_copy_report() WHERE phase = 'split'), true, 'after a split');

SELECT * FROM finish();
ROLLBACK;
