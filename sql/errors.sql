-- Loads that fail: COPY's message, and the first bad line of the file, whichever
-- worker met it.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

-- small pieces, so that several workers have something to do
SET fast_copy.chunk_size = 16;
CREATE TABLE err (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(5));
CREATE TABLE err_day (LIKE err INCLUDING ALL) PARTITION BY RANGE (ts);

-- A load of both: the second, where partitions have to be made, must say what
-- the first says, and the first what COPY says
CREATE FUNCTION pg_temp.both(name text, args text DEFAULT '', options text DEFAULT '')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plain text[] := array(SELECT fc.try('err', name, args, options));
	day text[] := array(SELECT fc.try('err_day', name, args, NULL));
BEGIN
	RETURN QUERY SELECT unnest(plain);
	IF day <> array(SELECT replace(line, 'fast_copy err,', 'fast_copy err_day,') FROM unnest(plain) AS line) THEN
		RETURN QUERY SELECT 'partitioned: ' || line FROM unnest(day) AS line;
	END IF;
END
$$;

-- values
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,x,b', '2024-01-03,3,c'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '2024-02-30,2,b'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', 'yesteryear,2,b'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,abcdef'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,99999999999,a'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,"' || repeat('long ', 40) || '",a'));

-- number of fields
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,2'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,2,b,c'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '', '2024-01-02,2,b'));

-- quotes and line ends
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,2,"b', '2024-01-03,3,c'));
SELECT pg_temp.both(fc.text('e.csv', E'2024-01-01,1,a\n2024-01-02,2,b\r\n2024-01-03,3,c\n'));
SELECT pg_temp.both(fc.text('e.csv', E'2024-01-01,1,a\r\n2024-01-02,2,b\n2024-01-03,3,c\r\n'));
SELECT pg_temp.both(fc.text('e.csv', E'2024-01-01,1,a\r2024-01-02,2,b\n2024-01-03,3,c\r'));

-- COPY before 18 ends at a line of \. where it begins a quoted field
SELECT fc.try('err', fc.text('e.csv', E'2024-01-01,1,a\r\\.\r2,\\b\nc\r'), $$quote => '\', escape => ''''$$, NULL);

-- lines are those of the file, also where a record has several, or there is a
-- header; COPY does not count those in its first record, whose line ends are
-- not known yet
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,2,"b', 'c', 'd"', '2024-01-03,x,e'));
SELECT pg_temp.both(fc.text('e.csv', E'2024-01-01,1,a\r\n2024-01-02,2,"b\r\nc"\r\n2024-01-03,x,e\r\n'));
SELECT pg_temp.both(fc.text('e.csv', E'2024-01-01,1,a\r2024-01-02,2,"b\rc"\r2024-01-03,x,e\r'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-01,1,"a', 'b"', '2024-01-02,x,c'));
SELECT pg_temp.both(fc.file('e.csv', 'ts,n,v', '2024-01-01,1,a', '2024-01-02,x,b'), $$header => 'true'$$, 'header');

-- constraints
SELECT fc.try('err', fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,-2,b'));
SELECT fc.try('err', fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,,b'));
SELECT fc.try('err_day', fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,-2,b'), '', NULL);
SELECT fc.try('err_day', fc.file('e.csv', '2024-01-01,1,a', '2024-01-02,,b'), '', NULL);

-- no partition
SELECT fc.try('err_day', fc.file('e.csv', '2024-01-01,1,a'), $$missing_partitions => 'error'$$);
SELECT fc.try('err_day', fc.file('e.csv', ',1,a'), '', '');

-- the first bad line of several, wherever the load meets it
SELECT pg_temp.both(fc.file('e.csv', '2024-01-03,1,a', '2024-01-02,x1,b', '2024-01-01,x2,c', '2024-01-01'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-03,1,a', '2024-01-02', '2024-01-01,x2,c', 'x3,1,d'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-03,1,a', 'x1,2,b', '2024-01-01,x2,c'));
SELECT pg_temp.both(fc.file('e.csv', '2024-01-03,x1,a', '2024-01-02,2,"b', '2024-01-01,x2,c'));
CREATE TABLE err_gap (ts timestamp, n int NOT NULL) PARTITION BY RANGE (ts);
CREATE TABLE err_gap_1 PARTITION OF err_gap FOR VALUES FROM ('2024-01-02') TO ('2024-01-04');
SELECT fc.try('err_gap', fc.file('e.csv', '2024-01-03,1', '2024-01-01,2', '2024-01-02,x'), $$missing_partitions => 'error'$$);
SELECT fc.try('err_gap', fc.file('e.csv', '2024-01-03,1', '2024-01-02,x', '2024-01-01,2'), $$missing_partitions => 'error'$$);
SELECT fc.file('e.csv', VARIADIC array(SELECT '2024-01-0' || 9 - g / 1000 || ',' || CASE WHEN g IN (2500, 5555, 7777) THEN 'bad' || g ELSE '1' END || ',' FROM generate_series(0, 8999) AS g));
SELECT pg_temp.both('e.csv');

-- nothing is left of a load that failed
\set VERBOSITY terse
SELECT fast_copy('err_day', fc.path(fc.file('e.csv', '2024-01-01,1,a', '2024-01-01,1,abcdef')));
\set VERBOSITY default
SELECT count(*) FROM err_day;
SELECT count(*) FROM pg_class WHERE relname LIKE 'err\_day\_p%';

-- a row that fits on no page
CREATE TABLE err_big (n int, v text);
ALTER TABLE err_big ALTER v SET STORAGE plain;
SELECT fc.file('e.csv', VARIADIC array(SELECT 3000 - g || ',' || repeat('x', CASE WHEN g IN (1234, 2345) THEN 9000 ELSE 1 END) FROM generate_series(1, 2500) AS g));
SET fast_copy.chunk_size = 1000;
SET fast_copy.writer = 'page';
SELECT fc.try('err_big', 'e.csv', '', NULL);
SET fast_copy.writer = 'multi_insert';
SELECT fc.try('err_big', 'e.csv', '', NULL);
SELECT fc.try('err_big', 'e.csv', $$timestamp_column => 'n'$$, NULL);
RESET fast_copy.writer;
CREATE UNIQUE INDEX ON err_big (n);
SELECT fc.try('err_big', 'e.csv', '', NULL);
SELECT fc.try('err_big', 'e.csv', $$on_error => 'ignore', on_error_classes => '{unique}'$$, NULL);
SELECT count(*) FROM err_big;
DROP TABLE err_big;
SET fast_copy.chunk_size = 16;

-- bytes that are no characters
SELECT fc.try('err', fc.bytes('e.csv', convert_to(E'2024-01-01,1,a\n2024-01-02,2,b', 'UTF8') || '\xff0a'));
SELECT fc.try('err', fc.bytes('e.csv', convert_to(E'2024-01-01,1,a\n2024-01-02,2,', 'UTF8') || '\x000a'));

-- what is no file
SELECT fc.shell('mkfifo pipe');
SELECT fc.try('err', 'pipe', '', NULL);
SELECT fc.shell('mkdir dir');
SELECT fc.try('err', 'dir');
SELECT fc.try('err', 'missing.csv');
SELECT fc.try('err', 'missing/missing.csv');
SELECT fc.shell('ln -s missing.csv dangling.csv');
SELECT fc.try('err', 'dangling.csv');
SELECT fc.shell('touch secret.csv && chmod 000 secret.csv');
SELECT fc.try('err', 'secret.csv');
SELECT fast_copy('err', '/dev/null');

DROP TABLE err, err_day, err_gap;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
