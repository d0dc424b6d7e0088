-- Loads that pass each border at which assertions stand in pairs.  A session each
-- ends at the first that fails; what they load is not looked at here.
\set ON_ERROR_STOP on
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS fast_copy;
CREATE TABLE rows AS
  SELECT timestamp '2024-01-01' + i * interval '37 minutes' AS ts, i AS n, repeat(md5(i::text), 1 + i % 5) AS t
  FROM generate_series(1, 6000) i;
COPY (SELECT * FROM rows ORDER BY md5(n::text)) TO :'random' (FORMAT csv);
COPY (SELECT * FROM rows ORDER BY ts) TO :'sorted' (FORMAT csv);
CREATE TABLE days (ts timestamp, n int, t text) PARTITION BY RANGE (ts);
SET fast_copy.chunk_size = '16kB';
SET fast_copy.writer = 'page';

-- into new files, in random order and in the order of time
SELECT fast_copy('days', :'random', 'ts', workers => 2);
SELECT fast_copy('days', :'sorted', 'ts', workers => 2);
-- rows that are there: exchanged, and merged
TRUNCATE days;
CREATE UNIQUE INDEX ON days (ts, n);
SELECT fast_copy('days', :'random', 'ts', options => '{"existing_rows": "replace"}', workers => 2);
SELECT fast_copy('days', :'random', 'ts', options => '{"existing_rows": "merge", "dedup_keys": ["ts", "n"]}', workers => 2);
DROP TABLE days;

-- through shared buffers, by pages and by core; frozen
CREATE TABLE plain (ts timestamp, n int, t text);
SELECT fast_copy('plain', :'random', workers => 2);
SELECT fast_copy('plain', :'random', 'ts', workers => 2);
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
