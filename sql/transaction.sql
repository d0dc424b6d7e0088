-- A load is part of the caller's transaction.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

SET client_min_messages = notice;

CREATE TABLE tx (ts date, n int) PARTITION BY RANGE (ts);
CREATE TABLE tx_1 PARTITION OF tx FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
SELECT fc.file('tx.csv', '2024-01-01,1', '2024-01-02,2');
SELECT fc.file('bad.csv', '2024-01-01,1', '2024-01-03,x');
SET fast_copy.workers = 2;
SET fast_copy.chunk_size = 8;

-- ROLLBACK leaves nothing
BEGIN;
SELECT fast_copy('tx', fc.path('tx.csv'));
SELECT * FROM fc.partitions('tx');
ROLLBACK;
SELECT * FROM fc.partitions('tx');

-- twice in one transaction, with savepoints
BEGIN;
SELECT fast_copy('tx', fc.path('tx.csv'));
SAVEPOINT one;
SELECT fast_copy('tx', fc.path('tx.csv'));
SELECT fast_copy('tx', fc.path(fc.file('tx3.csv', '2024-01-03,3')));
SELECT * FROM fc.partitions('tx');
ROLLBACK TO one;
SELECT * FROM fc.partitions('tx');
SAVEPOINT two;
\set VERBOSITY terse
SELECT fast_copy('tx', fc.path('bad.csv'));
\set VERBOSITY default
ROLLBACK TO two;
SELECT * FROM fc.partitions('tx');
SAVEPOINT three;
SELECT fast_copy('tx', fc.path('tx3.csv'));
RELEASE three;
COMMIT;
SELECT * FROM fc.partitions('tx');
DELETE FROM tx;

-- PL/pgSQL catches the error, and goes on
DO $$
BEGIN
	BEGIN
		PERFORM fast_copy('tx', fc.path('bad.csv'));
	EXCEPTION WHEN invalid_text_representation THEN
		RAISE NOTICE 'caught: %', sqlerrm;
	END;
	PERFORM fast_copy('tx', fc.path('tx.csv'));
END
$$;
SELECT * FROM fc.partitions('tx');
DROP TABLE tx;

-- a table of the same transaction, rows inserted before and after
BEGIN;
CREATE TABLE tx (ts date, n int) PARTITION BY RANGE (ts);
SELECT fast_copy('tx', fc.path('tx.csv'));
INSERT INTO tx VALUES ('2024-01-02', 3);
SELECT fast_copy('tx', fc.path('tx.csv'));
TRUNCATE tx;
SELECT fast_copy('tx', fc.path('tx.csv'));
COMMIT;
SELECT * FROM fc.partitions('tx');
BEGIN;
INSERT INTO tx VALUES ('2024-01-02', 3);
UPDATE tx SET n = n + 10;
SELECT fast_copy('tx', fc.path('tx.csv'));
SELECT * FROM tx ORDER BY ts, n;
ROLLBACK;
SELECT * FROM tx ORDER BY ts, n;

-- rows of this load are invisible to a cursor opened before, and to a
-- snapshot of the same statement
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM tx;
SELECT fast_copy('tx', fc.path('tx.csv'));
FETCH c;
CLOSE c;
SELECT count(*) FROM tx;
ROLLBACK;
WITH l AS MATERIALIZED (SELECT fast_copy('tx', fc.path('tx.csv')) AS n) SELECT n, (SELECT count(*) FROM tx) FROM l;
SELECT count(*) FROM tx;
-- a cursor that has begun to read goes on with what it saw
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM tx ORDER BY ts, n;
FETCH c;
SELECT fast_copy('tx', fc.path('tx3.csv'));
FETCH ALL c;
ROLLBACK;
DROP TABLE tx;

-- read-only
CREATE TABLE tx (ts date, n int) PARTITION BY RANGE (ts);
CREATE TEMP TABLE tx_temp (ts date, n int);
BEGIN READ ONLY;
SELECT fast_copy('tx_temp', fc.path('tx.csv'));
SELECT fast_copy('tx', fc.path('tx.csv'));
ROLLBACK;
-- higher levels of isolation
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT fast_copy('tx', fc.path('tx.csv'));
SELECT count(*) FROM tx;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT fast_copy('tx', fc.path('tx.csv'));
SELECT count(*) FROM tx;
COMMIT;
SELECT * FROM fc.partitions('tx');
DROP TABLE tx, tx_temp;

-- freeze: tables of this very transaction only
CREATE TABLE plain (ts date, n int);
CREATE TABLE tx (ts date, n int) PARTITION BY RANGE (ts);
-- Are the first block's rows frozen?  As little-endian machines store it.
CREATE FUNCTION pg_temp.frozen(rel regclass) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	page bytea;
	item int;
	result boolean := true;
BEGIN
	CHECKPOINT;
	page := pg_read_binary_file(pg_relation_filepath(rel), 0, 8192);
	FOR i IN 0 .. (get_byte(page, 12) + 256 * get_byte(page, 13) - 24) / 4 - 1 LOOP
		item := get_byte(page, 24 + 4 * i) + 256 * (get_byte(page, 25 + 4 * i) & 127);
		result := result AND get_byte(page, item + 21) & 3 = 3;
	END LOOP;
	RETURN result;
END
$$;
SELECT fast_copy('plain', fc.path('tx.csv'), freeze => true);
BEGIN;
TRUNCATE plain;
SELECT fast_copy('plain', fc.path('tx.csv'), freeze => true);
COMMIT;
SELECT pg_temp.frozen('plain');
BEGIN;
TRUNCATE plain;
SELECT fast_copy('plain', fc.path('tx.csv'), 'ts', freeze => true);
COMMIT;
SELECT pg_temp.frozen('plain'), count(*) FROM plain;
BEGIN;
TRUNCATE plain;
SELECT fast_copy('plain', fc.path('tx.csv'), freeze => false);
COMMIT;
SELECT pg_temp.frozen('plain');
-- not in a subtransaction of it
BEGIN;
TRUNCATE plain;
SAVEPOINT one;
SELECT fast_copy('plain', fc.path('tx.csv'), freeze => true);
ROLLBACK TO one;
COPY plain FROM '/dev/null' (FREEZE);
ROLLBACK;
-- not where somebody may look
BEGIN;
TRUNCATE plain;
DECLARE c CURSOR FOR SELECT 1;
SELECT fast_copy('plain', fc.path('tx.csv'), freeze => true);
ROLLBACK;
-- partitions made by the load are new
SELECT fast_copy('tx', fc.path('tx.csv'), freeze => true);
SELECT pg_temp.frozen('tx_p20240101'), pg_temp.frozen('tx_p20240102');
-- existing ones are not, unless truncated
SELECT fast_copy('tx', fc.path('tx.csv'), freeze => true);
BEGIN;
TRUNCATE tx_p20240101;
SELECT fast_copy('tx', fc.path('tx.csv'), freeze => true);
ROLLBACK;
BEGIN;
TRUNCATE tx;
SELECT fast_copy('tx', fc.path('tx.csv'), freeze => true);
COMMIT;
SELECT pg_temp.frozen('tx_p20240101'), pg_temp.frozen('tx_p20240102'), count(*) FROM tx;
CREATE TABLE list (ts date, n int) PARTITION BY LIST (n);
SELECT fast_copy('list', fc.path('tx.csv'), freeze => true);

DROP TABLE plain, tx, list;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
