-- Loads of which test/cost/run counts the lines that they execute.  Each begins with
-- its name and its rows, and is a session of its own, whose own process does all of
-- it; the first makes the files and the tables, and is not counted.

--- begin 0
CREATE EXTENSION fast_copy;
CREATE TABLE drawn AS SELECT n, timestamp '2024-01-01' + n * 7919 % 20000 * interval '41 s' AS ts, n * 2654435761 % 1000003 AS big,
    (n % 3000)::smallint AS small, round(n / 7.0, 2) AS amount, n / 3.0::float8 AS ratio, n % 3 = 0 AS ok,
    CASE WHEN n % 9 > 0 THEN repeat(md5(n::text), 1 + n % 3) END AS note, 'k' || n % 17 AS word
  FROM generate_series(1, 20000) AS n;
ALTER TABLE drawn ALTER n SET NOT NULL;
COPY drawn TO :'dir/plain.csv' (FORMAT csv, HEADER);
COPY (SELECT * FROM drawn ORDER BY ts) TO :'dir/sorted.csv' (FORMAT csv);
COPY (SELECT n, ts, big, small, amount, ratio, ok, coalesce(note, 'a "b"') || E',\n', word FROM drawn) TO :'dir/quoted.csv' (FORMAT csv, FORCE_QUOTE *);
COPY (SELECT n, ts, big, small, amount, ratio, ok, coalesce(note, E'a\tb\\'), word FROM drawn) TO :'dir/tabs.txt';
COPY (SELECT row_to_json(r) FROM (SELECT n, ARRAY[small, 1] AS list, json_build_object('n', n, 'd', ARRAY[word]) AS inner, ts, big, small, amount, ratio, ok, note, word FROM drawn) AS r) TO :'dir/objects.json' (FORMAT csv, QUOTE E'\001', DELIMITER E'\002');
COPY drawn TO :'dir/rows.bin' (FORMAT binary);
COPY (SELECT n, ts::timestamptz + n * interval '1 us', date(ts), ts::time, to_char(ts, 'DD.MM.YYYY HH24:MI:SS'), extract(epoch FROM ts)::bigint, ARRAY[n, small], ARRAY[word, note], md5(n::text)::uuid,
    '\x' || md5(word) FROM drawn) TO :'dir/types.csv' (FORMAT csv);
COPY (SELECT n, word, ts, big, small FROM drawn) TO :'dir/five.csv' (FORMAT csv);
-- few records of many: what these cost must not be paid by the others
COPY (SELECT n, ts, big, CASE WHEN n % 500 = 0 THEN ' ' || small || ' ' ELSE small::text END, amount, ratio, CASE WHEN n % 700 = 0 THEN 'yes' ELSE ok::text END,
    CASE WHEN n % 900 = 0 THEN E'two\nlines "quoted"' ELSE note END, word FROM drawn) TO :'dir/odd.csv' (FORMAT csv);
-- all records of the first tenth
COPY (SELECT n, CASE WHEN n <= 2000 THEN E'a\nb "c"' ELSE note END, CASE WHEN n <= 2000 THEN ' ' ELSE '' END || big FROM drawn ORDER BY n) TO :'dir/begins_odd.csv' (FORMAT csv);
COPY (SELECT n, (SELECT string_agg(md5(n || ' ' || i), '') FROM generate_series(1, 100) AS i), ts FROM drawn WHERE n <= 2000) TO :'dir/long.csv' (FORMAT csv);
-- numbers of which a third have quotes around, but not the first
COPY (SELECT n || CASE WHEN n % 3 > 0 THEN ',' || small || ',"' ELSE ',"' || small || '","' END || word || '"' FROM drawn) TO :'dir/half_quoted.csv' (FORMAT csv, QUOTE E'\001', DELIMITER E'\002');
COPY (SELECT n, CASE WHEN n % 10 = 0 THEN 'x' ELSE small::text END, ts FROM drawn) TO :'dir/bad.csv' (FORMAT csv);
COPY (SELECT n, 'Müller ' || n, big FROM drawn) TO :'dir/latin1.csv' (FORMAT csv, ENCODING latin1);
CREATE TABLE plain (LIKE drawn INCLUDING ALL);
CREATE TABLE days (LIKE drawn INCLUDING ALL) PARTITION BY RANGE (ts);
CREATE TABLE types (n int, at timestamptz, d date, t time, own timestamp, seconds bigint, ints int[], texts text[], u uuid, b bytea);
CREATE TABLE owned (LIKE types) PARTITION BY RANGE (own);
CREATE TABLE keyed (LIKE drawn INCLUDING ALL, PRIMARY KEY (n));
CREATE INDEX ON keyed (word, ts);
CREATE TABLE found (LIKE keyed INCLUDING ALL);
CREATE TABLE texts (n int NOT NULL, t text, big bigint);
CREATE TABLE fives (n int, word text, ts timestamp, big bigint, small smallint) PARTITION BY RANGE (ts);
CREATE TABLE halves (n int, small smallint, word text);
CREATE TABLE long (n int, t text, ts timestamp);
CREATE TABLE few (n int, small smallint, ts timestamp);
CREATE TABLE hashed (LIKE drawn INCLUDING ALL) PARTITION BY HASH (n);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE merged (LIKE drawn INCLUDING ALL) PARTITION BY RANGE (ts);
CREATE UNIQUE INDEX ON merged (ts, n);
CREATE TABLE drained (LIKE drawn INCLUDING ALL) PARTITION BY RANGE (ts);
CREATE TABLE drained_default PARTITION OF drained DEFAULT;
INSERT INTO drained SELECT * FROM drawn;
CREATE TABLE made (id bigserial, n int NOT NULL CHECK (n > 0), ts timestamp, cents numeric, word text DEFAULT 'w', twice int GENERATED ALWAYS AS (n * 2) STORED);

--- plain_into_table 20000
SELECT fast_copy('plain', :'dir/plain.csv', header => true);
--- plain_into_partitions 20000
SELECT fast_copy('days', :'dir/plain.csv', 'ts', header => true);
--- sorted_into_partitions 20000
TRUNCATE days;
SELECT fast_copy('days', :'dir/sorted.csv', 'ts');
--- replace_partitions 20000
SELECT fast_copy('days', :'dir/sorted.csv', 'ts', existing_rows => 'replace');
--- quoted_by_offsets 20000
SET fast_copy.spill = 'offsets';
SELECT fast_copy('days', :'dir/quoted.csv', 'ts');
--- little_memory 20000
SET fast_copy.memory = '1MB';
SET fast_copy.chunk_size = '64kB';
SELECT fast_copy('days', :'dir/plain.csv', 'ts', header => true);
--- text 20000
SELECT fast_copy('plain', :'dir/tabs.txt', format => 'text');
--- json 20000
SELECT fast_copy('days', :'dir/objects.json', 'ts', format => 'json', ignore_extra_columns => true);
--- binary 20000
SELECT fast_copy('plain', :'dir/rows.bin', format => 'binary');
--- binary_by_key 20000
SELECT fast_copy('days', :'dir/rows.bin', 'ts', format => 'binary');
--- key_by_pattern 20000
SELECT fast_copy('owned', :'dir/types.csv', timestamp_format => '{"own": "DD.MM.YYYY HH24:MI:SS"}');
--- types 20000
SELECT fast_copy('types', :'dir/types.csv', timestamp_format => '{"own": "DD.MM.YYYY HH24:MI:SS"}');
--- odd 20000
SELECT fast_copy('plain', :'dir/odd.csv');
--- keyed 20000
SELECT fast_copy('keyed', :'dir/sorted.csv');
--- found 20000
SELECT fast_copy('keyed', :'dir/sorted.csv', on_error => 'ignore', on_error_classes => '{unique}');
--- existing_index 20000
SET fast_copy.writer = 'multi_insert';
SELECT fast_copy('found', :'dir/plain.csv', header => true);
--- order_by 20000
SELECT fast_copy('plain', :'dir/plain.csv', header => true, order_by => '{word,n DESC}');
--- transform 20000
SELECT fast_copy('made', :'dir/plain.csv', header => 'map', ignore_extra_columns => true, transform => 'cents = amount::numeric * 100', where_clause => 'n % 10 > 0');
--- edits 20000
SELECT fast_copy('plain', :'dir/plain.csv', header => true, trim_blanks => 'all', null_strings => '["k3"]', number_format => '1,234.56');
--- begins_odd 20000
SELECT fast_copy('texts', :'dir/begins_odd.csv');
--- five_columns 20000
SELECT fast_copy('fives', :'dir/five.csv');
--- half_quoted 20000
SELECT fast_copy('halves', :'dir/half_quoted.csv');
--- long 2000
SELECT fast_copy('long', :'dir/long.csv');
--- long_by_key 2000
SELECT fast_copy('long', :'dir/long.csv', 'ts');
--- rejects 20000
SELECT fast_copy('few', :'dir/bad.csv', on_error => 'ignore');
--- encoding 20000
SELECT fast_copy('texts', :'dir/latin1.csv', encoding => 'LATIN1');
--- hashed 20000
SELECT fast_copy('hashed', :'dir/sorted.csv');
--- merge_first 20000
SELECT fast_copy('merged', :'dir/sorted.csv', 'ts');
--- merge_again 20000
SELECT fast_copy('merged', :'dir/plain.csv', 'ts', header => true, existing_rows => 'merge', dedup_keys => '{ts,n}');
--- freeze 20000
BEGIN;
TRUNCATE plain;
SELECT fast_copy('plain', :'dir/sorted.csv', freeze => true);
COMMIT;
--- drain 20000
SELECT fast_copy_drain('drained');
--- rows_that_are_read_again 20000
SELECT fast_copy('plain', :'dir/plain.csv', header => true, where_clause => 'n % 2 > random()');
--- analyze 20000
SELECT * FROM fast_copy_analyze('days', :'dir/plain.csv', 'ts', header => true);
