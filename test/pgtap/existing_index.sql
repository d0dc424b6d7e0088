-- Rows that several workers add to indexed partitions are all in the indexes,
-- and in no index that they do not belong to.

\set name existing_index
-- alone in its transaction a load gives a leaf that is empty a file of its own
CREATE TABLE spare (k int, n int) PARTITION BY RANGE (k);
CREATE INDEX ON spare (n);
CREATE TABLE spare_0 PARTITION OF spare FOR VALUES FROM (0) TO (100);
CREATE TABLE spare_1 PARTITION OF spare FOR VALUES FROM (100) TO (200);
INSERT INTO spare VALUES (150, -1);
CREATE TABLE spare_files AS SELECT relname, relfilenode, relfrozenxid FROM pg_class WHERE relname IN ('spare_0', 'spare_1');
\set spare :tmp_dir '/spare.csv'
COPY (SELECT g, g FROM generate_series(0, 199) AS g) TO :'spare' (FORMAT csv);
SET fast_copy.writer = page;
SELECT fast_copy('spare', :'spare', log_verbosity => 'silent') \g /dev/null
RESET fast_copy.writer;
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
\ir indexes.psql
SELECT plan(29);

SELECT is(string_agg(c.relname, ' ' ORDER BY c.relname), 'spare_0', 'the leaf that was empty has another file') FROM pg_class AS c JOIN spare_files AS f ON f.relname = c.relname AND f.relfilenode <> c.relfilenode;
SELECT is(concat_ws(' ', c.reltuples, c.relpages, c.relallvisible, age(c.relfrozenxid) <= age(f.relfrozenxid)), '100 1 0 t', 'pg_class tells of it') FROM pg_class AS c JOIN spare_files AS f USING (relname) WHERE relname = 'spare_0';
SELECT is(count(*), 201::bigint, 'the row that was there is') FROM spare;

-- two days that are there, with rows, and one that is not
CREATE TABLE t (k timestamp, n int, s text, a int[], PRIMARY KEY (n, k)) PARTITION BY RANGE (k);
CREATE INDEX t_s ON t (s) INCLUDE (n);
CREATE INDEX t_even ON t (n) WHERE n % 2 = 0;
CREATE INDEX t_lower ON t (upper(s));
CREATE INDEX t_hash ON t USING hash (s);
CREATE INDEX t_gin ON t USING gin (a);
CREATE INDEX t_brin ON t USING brin (k);
CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
-- one with an index of its own, and its columns in another order
CREATE TABLE t_2 (gone int, a int[], s text, n int NOT NULL, k timestamp NOT NULL);
ALTER TABLE t_2 DROP COLUMN gone;
CREATE INDEX t_2_own ON t_2 (k DESC);
ALTER TABLE t ATTACH PARTITION t_2 FOR VALUES FROM ('2024-01-02') TO ('2024-01-03');
INSERT INTO t SELECT timestamp '2024-01-01' + g * interval '1 min', -g, 'before', '{0}' FROM generate_series(1, 2000) AS g;
CREATE TABLE expected AS TABLE t;

SELECT format('COPY (SELECT timestamp ''2024-01-01'' + (g * 7919 %% 259200) * interval ''1 s'', g, ''s'' || g %% 1000, ARRAY[g %% 7, g] FROM generate_series(1, 90000) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT format('COPY expected FROM %L (FORMAT csv)', current_setting('fc.file')) \gexec

SELECT is(fast_copy('t', current_setting('fc.file'), workers => 4), 90000::bigint, 'loads');
SELECT is((SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE expected) AS s), 0::bigint, 'no row too many');
SELECT is((SELECT count(*) FROM (TABLE expected EXCEPT ALL TABLE t) AS s), 0::bigint, 'no row missing');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 't'::regclass), 3::bigint, 'one partition is new');

SELECT pg_temp.by_index('n BETWEEN 500 AND 2500');
SELECT pg_temp.by_index('n BETWEEN 500 AND 2500 AND n % 2 = 0');
SELECT pg_temp.by_index('s = ''s77''');
SELECT pg_temp.by_index('upper(s) = ''S78''');
SELECT pg_temp.by_index('s = ''before''');
SELECT pg_temp.by_index('a @> ''{5}''');
SELECT pg_temp.by_index('k < ''2024-01-01 03:00''');
SELECT pg_temp.check_trees(13);

-- a key that is there already: the line, and nothing is loaded
SELECT format('COPY (SELECT timestamp ''2024-01-01'' + (g * 7919 %% 172800) * interval ''1 s'', CASE g WHEN 40000 THEN -5 WHEN 70000 THEN -6 ELSE g + 100000 END, '''', NULL FROM generate_series(1, 80000) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT lives_ok($$DELETE FROM t WHERE n IN (-5, -6)$$, 'makes room');
INSERT INTO t SELECT timestamp '2024-01-01' + (g * 7919 % 172800) * interval '1 s', CASE g WHEN 40000 THEN -5 ELSE -6 END, 'in the way'
FROM (VALUES (40000), (70000)) AS v (g);
SELECT is(substring((pg_temp.failure($$SELECT fast_copy('t', current_setting('fc.file'), workers => 4)$$))[9] FROM 'line \d+'), 'line 40000', 'the first line whose key is taken is named');
SELECT is((SELECT count(*) FROM t), 92000::bigint, 'and nothing is loaded');

-- equal rows are left out, and all others are in the index
CREATE TABLE once (n int PRIMARY KEY, t text);
INSERT INTO once VALUES (5, 'old');
SELECT format('COPY (SELECT 1 + g %% 1000, g FROM generate_series(0, 1499) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(fast_copy('once', current_setting('fc.file'), on_error => 'ignore', on_error_classes => '{unique}', log_verbosity => 'silent', workers => 0), 999::bigint, 'the first of equal rows');
SELECT results_eq('SELECT n, t FROM once ORDER BY t', 'SELECT 1 + g, CASE g WHEN 4 THEN ''old'' ELSE g::text END FROM generate_series(0, 999) AS g ORDER BY 2', 'which they are');
SET LOCAL enable_seqscan = off;
SELECT is(count(*), 1000::bigint, 'by the index') FROM once WHERE n BETWEEN 1 AND 1000;
-- of a new file all pages are visible to all, and no more
SELECT format('COPY (SELECT g, g FROM generate_series(1, 1000) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SET LOCAL fast_copy.writer = page;
SELECT fast_copy('once', current_setting('fc.file'), existing_rows => 'replace') \g /dev/null
SELECT is(relallvisible, relpages, 'pages that all can see') FROM pg_class WHERE oid = 'once'::regclass AND relpages % 4 > 0;

SELECT * FROM finish();
ROLLBACK;
