-- Texts of every size get the bytes on disk that COPY gives them, whatever
-- their column's storage, and read the same.

\set name text_headers
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SET LOCAL fast_copy.root_directory = :'tmp_dir';
SELECT plan(20);

-- sizes around the most that a short header takes (126), the room of a row (8 kB) and a page
SELECT format('COPY (SELECT timestamp ''2024-05-06'' + g * interval ''1 minute'', repeat(''x'', len), repeat(''y'', 130 - len %% 131) AS b, (g * 1000003::bigint %% 99991) / 100.0, repeat(''ä'', len %% 100), decode(repeat(''0f'', len %% 200), ''hex''), g FROM generate_series(1, 3000) AS g, LATERAL (SELECT (ARRAY[0, 1, 7, 124, 125, 126, 127, 128, 300, 8100, 8191, 8200, 20000])[g %% 13 + 1] AS len) AS l) TO %L (FORMAT csv, FORCE_QUOTE (b))',
			  current_setting('fc.file')) \gexec

CREATE FUNCTION pg_temp.check_load(about text, change text, scheme text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	columns text := '(k timestamp NOT NULL, a text, b varchar(130), c numeric(12,4), d char(100), e bytea, f int)';
	wrong bigint;
BEGIN
	EXECUTE 'CREATE TABLE wanted ' || columns;
	EXECUTE 'CREATE TABLE got ' || columns || scheme;
	EXECUTE replace(change, 'TABLE t', 'TABLE wanted');
	EXECUTE replace(change, 'TABLE t', 'TABLE got');
	EXECUTE format('COPY wanted FROM %L (FORMAT csv)', current_setting('fc.file'));
	PERFORM fast_copy('got', current_setting('fc.file'), 'k', workers => workers);
	SELECT count(*) INTO wrong FROM (SELECT * FROM wanted EXCEPT ALL SELECT * FROM got) AS s;
	RETURN NEXT is(wrong, 0::bigint, format('%s, %s workers: the rows of COPY', about, workers));
	-- asked of the table's own tuples, as others have headers of their own
	SELECT count(*) INTO wrong
	FROM (SELECT f, pg_column_size(a), pg_column_size(b), pg_column_size(c), pg_column_size(d), pg_column_size(e) FROM wanted
		EXCEPT ALL SELECT f, pg_column_size(a), pg_column_size(b), pg_column_size(c), pg_column_size(d), pg_column_size(e) FROM got) AS s;
	RETURN NEXT is(wrong, 0::bigint, format('%s, %s workers: the sizes of COPY', about, workers));
	DROP TABLE wanted, got;
END
$$;

SELECT pg_temp.check_load(about, change, scheme, workers)
FROM (VALUES ('as it is', 'SELECT 1', ''),
	('partitioned', 'SELECT 1', 'PARTITION BY RANGE (k)'),
	('external', 'ALTER TABLE t ALTER a SET STORAGE external, ALTER e SET STORAGE external', 'PARTITION BY RANGE (k)'),
	('plain', 'ALTER TABLE t ALTER b SET STORAGE plain, ALTER c SET STORAGE plain, ALTER d SET STORAGE plain, ALTER e SET STORAGE plain', ''),
	('plain, partitioned', 'ALTER TABLE t ALTER b SET STORAGE plain, ALTER c SET STORAGE plain, ALTER d SET STORAGE plain, ALTER e SET STORAGE plain', 'PARTITION BY RANGE (k)')) AS v (about, change, scheme),
	unnest('{0,2}'::int[]) AS workers;

SELECT * FROM finish();
ROLLBACK;
