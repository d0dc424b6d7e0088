-- Loads that succeed: which rows go where, and which partitions are made.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

-- plain table: file order without a key, key order with one
CREATE TABLE plain (ts timestamp, n int);
SELECT fc.file('days.csv', '2024-03-02 10:00,1', '2024-03-01 23:59:59.999999,2', '2024-03-01 00:00,3', '2024-03-02 10:00,4', '2024-02-29 12:00,5');
SELECT fast_copy('plain', fc.path('days.csv'));
SELECT * FROM plain ORDER BY ctid;
TRUNCATE plain;
SELECT fast_copy('plain', fc.path('days.csv'), 'ts');
SELECT * FROM plain ORDER BY ctid;
SELECT fast_copy('plain', fc.path('days.csv'), 'n', workers => 2);
SELECT count(*), sum(n) FROM plain;
DROP TABLE plain;

-- partitioned: one new partition per day, in key order, ties in file order
CREATE TABLE days (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT fast_copy('days', fc.path('days.csv'), workers => 2);
SELECT * FROM fc.partitions('days');
SELECT n FROM days_p20240302 ORDER BY ctid;
SELECT tableoid::regclass, * FROM days ORDER BY ts, n;
-- again: all partitions are there
SELECT fast_copy('days', fc.path('days.csv'), 'ts', missing_partitions => 'error');
SELECT * FROM fc.partitions('days');
-- some are there
SELECT fast_copy('days', fc.path(fc.file('more.csv', '2024-03-03,6', '2024-03-01,7')), 'ts');
SELECT * FROM fc.partitions('days');
DROP TABLE days;

-- nothing to load
CREATE TABLE days (ts timestamp, n int) PARTITION BY RANGE (ts);
SELECT fast_copy('days', fc.path(fc.text('empty.csv', '')));
SELECT fast_copy('days', fc.path('empty.csv'), header => 'true');
SELECT fast_copy('days', fc.path(fc.file('header.csv', 'ts,n')), header => 'true');
SELECT fast_copy('days', fc.path(fc.text('header.csv', 'ts,n')), header => 'match', workers => 2);
SELECT count(*) FROM fc.partitions('days');
-- one row, without line end
SELECT fast_copy('days', fc.path(fc.text('one.csv', '2024-01-01,1')));
SELECT * FROM fc.partitions('days');
DROP TABLE days;

-- line ends, quotes, wide values; pieces of one byte
CREATE TABLE texts (n int, t text);
SET fast_copy.chunk_size = 1;
SELECT fast_copy('texts', fc.path(fc.text('crlf.csv', E'1,"a\r\nb"\r\n2,c\r\n3,""\r\n')), workers => 2);
SELECT fast_copy('texts', fc.path(fc.text('cr.csv', E'4,"a\nb"\r5,c\r6,"""q"""')), 'n', workers => 2);
SELECT fast_copy('texts', fc.path(fc.text('nl.csv', E'7,a"b,c"d\n8, e \n9,\\.\n10,\\N\n')), workers => 1);
RESET fast_copy.chunk_size;
SELECT fast_copy('texts', fc.path(fc.file('wide.csv', '11,"' || repeat('x', 300000) || E'\n"', '12,y')), 'n', workers => 1);
SELECT n, length(t), CASE WHEN length(t) < 20 THEN quote_nullable(t) END FROM texts ORDER BY n;
DROP TABLE texts;

-- \. alone is data
CREATE TABLE texts (t text);
SELECT fast_copy('texts', fc.path(fc.file('end.csv', 'a', '\.', 'b')));
SELECT * FROM texts;
DROP TABLE texts;

-- missing_partitions
CREATE TABLE d (k date, n int) PARTITION BY RANGE (k);
CREATE TABLE d_may PARTITION OF d FOR VALUES FROM ('2024-05-01') TO ('2024-06-01');
CREATE TABLE d_rest PARTITION OF d DEFAULT;
SELECT fc.file('d.csv', '2024-05-05,1', '2024-07-05,2', ',3');
BEGIN;
SELECT fast_copy('d', fc.path('d.csv'), missing_partitions => 'default');
SELECT tableoid::regclass, * FROM d ORDER BY n;
ROLLBACK;
-- the width is that of the existing one
BEGIN;
SELECT fast_copy('d', fc.path('d.csv'), missing_partitions => 'create');
SELECT tableoid::regclass, * FROM d ORDER BY n;
SELECT * FROM fc.partitions('d');
ROLLBACK;
BEGIN;
SELECT fast_copy('d', fc.path('d.csv'), partition_interval => '7 days');
SELECT * FROM fc.partitions('d');
ROLLBACK;
-- rows of the default partition that are in the way
INSERT INTO d VALUES ('2024-07-06', 0);
SELECT fc.try('d', 'd.csv', '', NULL);
SELECT fc.try('d', 'd.csv', $$partition_interval => '1 day'$$, NULL);
DROP TABLE d;

-- key types
CREATE TABLE k1 (k timestamp, n int) PARTITION BY RANGE (k);
CREATE TABLE k2 (k timestamptz, n int) PARTITION BY RANGE (k);
CREATE TABLE k3 (k date, n int) PARTITION BY RANGE (k);
CREATE TABLE k4 (k smallint, n int) PARTITION BY RANGE (k);
CREATE TABLE k5 (k int, n int) PARTITION BY RANGE (k);
CREATE TABLE k6 (k bigint, n int) PARTITION BY RANGE (k);
SELECT t, fast_copy(t, fc.path(fc.file('k.csv', '2024-03-31 00:30,1', '0044-03-15 BC,2', '1999-12-31,3')))
FROM unnest('{k1,k2,k3}'::regclass[]) AS t;
SELECT t, fast_copy(t, fc.path(fc.file('k.csv', '-32768,1', '-1,2', '0,3', '99,4', '32767,5')), partition_interval => '100')
FROM unnest('{k4,k5,k6}'::regclass[]) AS t;
SELECT t, p.* FROM unnest('{k1,k2,k3,k4,k5,k6}'::regclass[]) AS t, fc.partitions(t) AS p;
SELECT fast_copy('k6', fc.path(fc.file('k.csv', '9223372036854775807,6', '-9223372036854775808,7')));
SELECT p.* FROM fc.partitions('k6') AS p WHERE bounds ~ '922337' OR bounds ~ 'M..VALUE';
DROP TABLE k1, k2, k3, k4, k5, k6;

-- a day has 23 or 25 hours where clocks change
SET timezone = 'Europe/Berlin';
CREATE TABLE dst (k timestamptz, n int) PARTITION BY RANGE (k);
SELECT fast_copy('dst', fc.path(fc.file('dst.csv', '2024-03-30 22:59:59Z,1', '2024-03-30 23:00:00Z,2', '2024-03-31 21:59:59Z,3', '2024-03-31 22:00:00Z,4', '2024-10-26 22:00:00Z,5', '2024-10-27 22:59:59Z,6')));
SELECT * FROM fc.partitions('dst');
SET timezone = 'UTC';
DROP TABLE dst;

-- infinity, and bounds without end
CREATE TABLE inf (k timestamp, n int) PARTITION BY RANGE (k);
CREATE TABLE inf_lo PARTITION OF inf FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
SELECT fc.try('inf', fc.file('inf.csv', '-infinity,1', 'infinity,2'), '', '');
CREATE TABLE inf_hi PARTITION OF inf FOR VALUES FROM ('2024-01-03') TO (MAXVALUE);
SELECT fast_copy('inf', fc.path(fc.file('inf.csv', 'infinity,1', '2024-01-02 12:00,2', '-infinity,3', '2024-01-03,4')));
SELECT tableoid::regclass, * FROM inf ORDER BY n;
SELECT * FROM fc.partitions('inf');
DROP TABLE inf;

-- a unit that the numbers are not in
CREATE TABLE far (k timestamp, n int) PARTITION BY RANGE (k);
SELECT fast_copy('far', fc.path(fc.file('far.csv', '1609372800000,1')), timestamp_format => 'epoch_s');
DROP TABLE far;

-- a half-covered day is cut to the hole
CREATE TABLE half (k timestamp, n int) PARTITION BY RANGE (k);
CREATE TABLE half_1 PARTITION OF half FOR VALUES FROM ('2024-01-01 06:00') TO ('2024-01-01 18:00');
SELECT fast_copy('half', fc.path(fc.file('half.csv', '2024-01-01 05:00,1', '2024-01-01 06:00,2', '2024-01-01 18:00,3')), partition_interval => '1 day');
SELECT * FROM fc.partitions('half');
DROP TABLE half;

-- names: in use, too long, to be quoted
CREATE TABLE "Odd ""name" (k date) PARTITION BY RANGE (k);
CREATE TABLE "Odd ""name_p20240101" ();
SELECT fast_copy('"Odd ""name"', fc.path(fc.file('n.csv', '2024-01-01', '2024-01-02')));
SELECT * FROM fc.partitions('"Odd ""name"');
DROP TABLE "Odd ""name", "Odd ""name_p20240101";
CREATE TABLE a123456789012345678901234567890123456789012345678901234567890 (k date) PARTITION BY RANGE (k);
SELECT fast_copy('a123456789012345678901234567890123456789012345678901234567890', fc.path('n.csv'));
SELECT * FROM fc.partitions('a123456789012345678901234567890123456789012345678901234567890');
DROP TABLE a123456789012345678901234567890123456789012345678901234567890;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
