-- Indexes of new and of existing partitions.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

SET fast_copy.workers = 2;
SET fast_copy.chunk_size = 32;

-- each kind on new partitions: as PARTITION OF makes them
CREATE TABLE idx (ts date, n int, t text, a int[], p point, r int4range, PRIMARY KEY (n, ts), UNIQUE (t, ts)) PARTITION BY RANGE (ts);
CREATE INDEX ON idx (t DESC NULLS LAST, n) INCLUDE (a);
CREATE INDEX ON idx (lower(t) COLLATE "C" text_pattern_ops) WHERE n > 1;
CREATE INDEX ON idx USING hash (t);
CREATE INDEX ON idx USING brin (ts) WITH (pages_per_range = 4);
CREATE INDEX ON idx USING gin (a);
CREATE INDEX ON idx USING gist (p);
CREATE INDEX ON idx USING spgist (p);
CREATE UNIQUE INDEX idx_named ON idx (ts, n) WITH (fillfactor = 70);
ALTER TABLE idx REPLICA IDENTITY USING INDEX idx_named;
CREATE TABLE idx_like PARTITION OF idx FOR VALUES FROM ('2023-01-01') TO ('2023-01-02');
SELECT fc.file('idx.csv', VARIADIC array(SELECT format('2024-01-0%s,%s,t%s,"{%s,1}","(%s,1)","[%s,%s]"', 1 + g % 2, g, g, g, g, g, g + 1) FROM generate_series(0, 199) AS g));
SELECT fast_copy('idx', fc.path('idx.csv'), partition_interval => '1 day');
-- the definitions of each partition's indexes, without the names of tables and indexes
CREATE VIEW idx_defs AS
SELECT i.indrelid::regclass::text AS partition, parent.inhparent::regclass AS index,
	regexp_replace(pg_get_indexdef(i.indexrelid), 'INDEX \S+ ON \S+', 'INDEX ON') AS def,
	i.indisvalid AND i.indisready AND i.indislive AS usable, i.indisunique, i.indisprimary, i.indisreplident, i.indisclustered, con.contype, con.conname IS NOT NULL AS con
FROM pg_index AS i JOIN pg_inherits AS parent ON parent.inhrelid = i.indexrelid
	LEFT JOIN pg_constraint AS con ON con.conindid = i.indexrelid
WHERE i.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'idx'::regclass);
SELECT partition, count(*), bool_and(usable) FROM idx_defs GROUP BY partition ORDER BY partition COLLATE "C";
SELECT index, def, indisunique, indisprimary, contype FROM idx_defs WHERE partition = 'idx_p20240101' ORDER BY index::text COLLATE "C";
SELECT d.partition, d.index FROM idx_defs AS d JOIN idx_defs AS l ON l.index = d.index AND l.partition = 'idx_like' WHERE (d.def, d.usable, d.indisunique, d.indisprimary, d.contype) IS DISTINCT FROM (l.def, l.usable, l.indisunique, l.indisprimary, l.contype);
SELECT 'idx_like' AS sibling, count(*) FROM idx_defs AS l WHERE partition = 'idx_like' AND NOT EXISTS (SELECT FROM idx_defs AS d WHERE d.index = l.index AND d.partition = 'idx_p20240102');
-- each kind alone is used, and holds every row
CREATE FUNCTION pg_temp.used(def text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	line text;
	used text := 'not used';
BEGIN
	CREATE TABLE one (LIKE idx) PARTITION BY RANGE (ts);
	EXECUTE 'CREATE INDEX ON one ' || def;
	PERFORM fast_copy('one', fc.path('idx.csv'));
	EXECUTE 'SELECT count(*) FROM one WHERE ' || condition INTO n;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT count(*) FROM one_p20240101 WHERE ' || condition LOOP
		IF line ~ 'Index' THEN
			used := 'used';
		END IF;
	END LOOP;
	DROP TABLE one;
	RETURN used || ', ' || n || ' rows';
END
$$;
SET enable_seqscan = off;
SELECT def, pg_temp.used(def, condition) FROM (VALUES
	('USING btree (n)', 'n BETWEEN 11 AND 20'),
	('USING btree (t) WHERE n > 10', 't = ''t11'' AND n > 10'),
	('USING btree (lower(t))', 'lower(t) = ''t12'''),
	('USING hash (t)', 't = ''t13'''),
	('USING brin (n)', 'n < 15'),
	('USING gin (a)', 'a @> ''{1}'''),
	('USING gist (p)', 'p <@ box ''(0,0),(9,9)'''),
	('USING spgist (p)', 'p <@ box ''(0,0),(9,9)'''),
	('USING gist (r)', 'r && int4range(5, 7)')) AS v (def, condition);
RESET enable_seqscan;
-- the leader told the catalogs how large they are
SELECT relname, reltuples FROM pg_class WHERE relname IN ('idx_p20240101_pkey', 'idx_p20240102_pkey') ORDER BY relname;

-- existing partitions get their entries
SELECT fast_copy('idx', fc.path(fc.file('more.csv', '2024-01-01,1001,m1,{5},"(0,0)",empty', '2024-01-02,1000,m0,{6},"(0,0)",empty', '2024-01-03,1002,m2,{7},"(0,0)",empty')));
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT n, t FROM idx WHERE n >= 1000 AND ts > '2024-01-01' ORDER BY n;
SELECT n FROM idx WHERE t = 'm1';
RESET enable_bitmapscan;
RESET enable_seqscan;

-- unique violations, in existing partitions and in a new one
SELECT fc.try('idx', fc.file('dup.csv', '2024-01-01,2001,u1,{},,', '2024-01-01,1001,u2,{},,', '2024-01-01,2002,u1,{},,'));
SELECT fc.try('idx', fc.file('dup.csv', '2024-01-01,2001,u1,{},,', '2024-01-01,2002,u2,{},,', '2024-01-01,2003,u1,{},,'));
SELECT fc.try('idx', fc.file('dup.csv', '2024-02-01,2001,u1,{},,', '2024-02-01,2002,u1,{},,'), '', NULL);
SELECT count(*) FROM fc.partitions('idx');
-- and of a plain table
CREATE TABLE uni (n int UNIQUE);
SELECT fc.try('uni', fc.file('u.csv', '5', '4', '5'));
SELECT fc.try('uni', fc.file('u.csv', '5', '4', '5'), $$timestamp_column => 'n'$$);
INSERT INTO uni VALUES (4);
SELECT fc.try('uni', fc.file('u.csv', '5', '4', '5'));
CREATE TABLE uni2 (n int UNIQUE NULLS NOT DISTINCT);
SELECT fc.try('uni2', fc.file('u.csv', '""', '2'), $$null_string => 'NULL'$$, $$null 'NULL'$$);
SELECT fc.try('uni2', fc.file('u.csv', 'NULL', 'NULL'), $$null_string => 'NULL'$$, $$null 'NULL'$$);
DROP TABLE uni, uni2;

-- an index expression that only the leader may evaluate
CREATE FUNCTION restricted(int) RETURNS int IMMUTABLE PARALLEL RESTRICTED LANGUAGE sql AS 'SELECT $1 + 0';
CREATE TABLE leader (ts date, n int) PARTITION BY RANGE (ts);
CREATE INDEX ON leader (restricted(n));
SELECT fast_copy('leader', fc.path(fc.file('l.csv', '2024-01-01,1', '2024-01-02,2')));
SELECT fast_copy('leader', fc.path('l.csv'));
SELECT relname, pg_get_indexdef(oid) FROM pg_class WHERE relname LIKE 'leader\_p%idx' ORDER BY relname;
SELECT * FROM fc.partitions('leader');
DROP TABLE leader;
DROP FUNCTION restricted;

-- an index that is not yet valid: as PARTITION OF makes it
CREATE TABLE only_ (ts date, n int) PARTITION BY RANGE (ts);
CREATE TABLE only_1 PARTITION OF only_ FOR VALUES FROM ('2023-01-01') TO ('2023-01-02');
CREATE INDEX only_idx ON ONLY only_ (n);
CREATE TABLE only_2 PARTITION OF only_ FOR VALUES FROM ('2023-01-02') TO ('2023-01-03');
SELECT fast_copy('only_', fc.path('l.csv'));
SELECT indrelid::regclass, indisvalid, relispartition FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid::regclass::text LIKE 'only\_%' ORDER BY 1;
DROP TABLE only_;
DROP VIEW idx_defs;
DROP TABLE idx;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
