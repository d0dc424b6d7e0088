-- Loads that pass each border at which assertions stand in pairs.  A session each
-- ends at the first that fails; what they load is not looked at here.
\set ON_ERROR_STOP on
\o /dev/null
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS fast_copy;
CREATE TABLE rows AS
  SELECT timestamp '2024-01-01' + i * interval '37 minutes' AS ts, i AS n, CASE WHEN i % 9 > 0 THEN repeat(md5(i::text), 1 + i % 5) END AS t
  FROM generate_series(1, 6000) i;
\set random :dir/random.csv
\set sorted :dir/sorted.csv
\set odd :dir/odd.csv
\set packed :dir/packed.csv.gz
\set pack 'gzip -c >' :packed
\set program 'cat ' :random
COPY (SELECT * FROM rows ORDER BY md5(n::text)) TO :'random' (FORMAT csv);
COPY (SELECT * FROM rows ORDER BY md5(n::text)) TO PROGRAM :'pack' (FORMAT csv);
COPY (SELECT * FROM rows ORDER BY ts) TO :'sorted' (FORMAT csv);
-- each fifth record is odd: it has an escaped quote in a number
COPY (SELECT ts || ',' || CASE WHEN n % 5 = 0 THEN '"' || n || ' "' ELSE n::text END || ',' || coalesce(t, '') FROM rows ORDER BY md5(n::text))
  TO :'odd' (FORMAT csv, QUOTE E'\001', DELIMITER E'\002');
CREATE TABLE days (ts timestamp, n int, t text) PARTITION BY RANGE (ts);
SET fast_copy.chunk_size = '16kB';
SET fast_copy.writer = 'page';

-- into new files, in random order and in the order of time
SELECT fast_copy('days', :'random', 'ts', workers => 2);
SELECT fast_copy('days', :'sorted', 'ts', workers => 2);
-- as offsets; in the leader's memory, cell by cell, and cut
SET fast_copy.spill = 'offsets';
SELECT fast_copy('days', :'random', 'ts', workers => 2);
RESET fast_copy.spill;
SELECT fast_copy('days', :'random', 'ts', workers => 0);
SELECT fast_copy('days', :'random', 'ts', workers => 2, order_by => '{n}');
-- rows that are there: exchanged, and merged
TRUNCATE days;
CREATE UNIQUE INDEX ON days (ts, n);
SELECT fast_copy('days', :'random', 'ts', options => '{"existing_rows": "replace"}', workers => 2);
SELECT fast_copy('days', :'random', 'ts', options => '{"existing_rows": "merge", "dedup_keys": ["ts", "n"]}', workers => 2);
-- an index refuses the rows
DO $$
BEGIN
  PERFORM fast_copy('days', current_setting('data_directory') || '/../random.csv', 'ts', workers => 2);
EXCEPTION WHEN unique_violation THEN NULL;
END $$;
DROP TABLE days;

-- a parent that has lost a column
CREATE TABLE days (gone int, ts timestamp, n int, t text) PARTITION BY RANGE (ts);
ALTER TABLE days DROP gone;
SELECT fast_copy('days', :'random', 'ts', workers => 2);
DROP TABLE days;

-- through shared buffers, by pages and by core; frozen
CREATE TABLE plain (ts timestamp, n int, t text);
SELECT fast_copy('plain', :'random', workers => 2);
SELECT fast_copy('plain', :'odd', workers => 2);
SELECT fast_copy('plain', :'random', 'ts', workers => 2);
SELECT fast_copy('plain', :'packed', workers => 2);
SELECT fast_copy('plain', :'program', program => true, workers => 2);
SET fast_copy.writer = 'multi_insert';
SELECT fast_copy('plain', :'random', 'ts', workers => 2);
SET fast_copy.writer = 'page';
BEGIN;
TRUNCATE plain;
SELECT fast_copy('plain', :'random', 'ts', options => '{"freeze": true}', workers => 2);
COMMIT;
-- records that are read by their places, in a cell that is cut, and in one
SET fast_copy.spill = 'offsets';
SET fast_copy.chunk_size = '2kB';
SELECT fast_copy('plain', :'random', 'ts', workers => 2);
SET fast_copy.memory = '1MB';
SELECT fast_copy('plain', :'random', 'ts', workers => 2);
DROP TABLE plain, rows;
