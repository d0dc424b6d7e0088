-- fast_copy_analyze(): what a load would do, and that nothing is done.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers
\pset tuples_only off
\pset footer off

SET fast_copy.io_method = 'sync';
\set SHOW_CONTEXT never
CREATE FUNCTION look(target regclass, file text, workers int, args text DEFAULT '') RETURNS TABLE (item text, name text, "rows" bigint, low text, high text, line bigint, detail text)
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT item, replace(name, %L, %L), rows, low, high, line, detail FROM fast_copy_analyze(%L, %L, workers => %s%s) WHERE item <> %L',
		fc.path(''), '', target, fc.path(file), workers, args, 'disk');
END $$;
CREATE TABLE days (id int GENERATED ALWAYS AS IDENTITY, ts timestamp, n int CHECK (n < 100), v text NOT NULL) PARTITION BY RANGE (ts);
CREATE TABLE days_2 PARTITION OF days FOR VALUES FROM ('2013-01-02') TO ('2013-01-03');
CREATE INDEX ON days (n);
SELECT fc.file('mixed.csv', 'ts,n,v', '2013-01-01 10:00,1,a', '2013-01-02,2,b', '2013-01-03 01:02:03.5,x,c', '2013-01-03,100,d',
	'2013-01-03,3,', '2013-01-01 09:00,4,"e', 'e"', '2013-01-04,5', '2013-01-04,5,f,', ',6,g', '2013-01-05,7,h');

-- new and existing partitions, a row for none, every kind of fault with its line
SELECT * FROM look('days', 'mixed.csv', 0, $$, header => 'map'$$);
SELECT count(*) FROM (SELECT * FROM look('days', 'mixed.csv', 0, $$, header => 'map'$$)
	EXCEPT ALL SELECT * FROM look('days', 'mixed.csv', 2, $$, header => 'map'$$)) x;
SET fast_copy.chunk_size = 1;
SELECT * FROM look('days', 'mixed.csv', 2, $$, header => 'map'$$) WHERE item IN ('rows', 'error');
RESET fast_copy.chunk_size;
-- what is filtered is neither loaded nor given a partition
SELECT * FROM look('days', 'mixed.csv', 2, $$, header => 'map', where_clause => 'n = 1'$$) WHERE item IN ('rows', 'partition');
-- only the first ten faults are told
SELECT fc.text('bad.csv', (SELECT string_agg('x' || i || E'\n', '') FROM generate_series(1, 1000) i));
CREATE TABLE plain (n int);
SELECT * FROM look('plain', 'bad.csv', 2);
-- ... but what all of them have in common, with the argument that may help
CREATE TABLE flights (day date, dep_delay int, arr_delay int, carrier varchar(2)) PARTITION BY RANGE (day);
SELECT fc.text('flights.csv', 'day,dep_delay,arr_delay,carrier' || E'\n' || (SELECT string_agg(
	format(E'%s,%s,%s,%s\n', date '2013-01-01' + i % 3, CASE WHEN i % 10 = 0 THEN 'NA' ELSE i::text END,
		CASE WHEN i % 20 = 0 THEN 'NA' WHEN i % 99 = 1 THEN i || '.5' ELSE i::text END, CASE WHEN i % 50 = 3 THEN 'long' || i ELSE 'UA' END), '' ORDER BY i)
	FROM generate_series(1, 1000) i));
SELECT * FROM look('flights', 'flights.csv', 2) WHERE item IN ('rows', 'cause', 'partition');
SELECT * FROM look('flights', 'flights.csv', 0, $$, header => true, null_string => 'NA'$$) WHERE item IN ('rows', 'cause');
SELECT name FROM (SELECT * FROM look('flights', 'flights.csv', 0) EXCEPT ALL SELECT * FROM look('flights', 'flights.csv', 2)) x;
SELECT * FROM look('flights', 'flights.csv', 0, $$, header => true, on_error => 'set_null'$$) WHERE item = 'cause';
-- a value that is only a part of the message, one that the message has cut, one that has the message's own words
CREATE TABLE parts (t text[], n int[], i int);
SELECT * FROM look('parts', fc.text('parts.csv', E'{a},{x},1\n{a},{y},1\n{a},{1},' || repeat('9', 300) || E'\n{a},{1},' || repeat('9', 310) || E'\n{a},{1},e\n{a},{1},x\n{a},{1},e\n{a,{1},2\n'), 0)
WHERE item = 'cause';
-- bytes that are no characters
SELECT name, "rows", line, detail FROM look('parts', fc.bytes('latin1.csv', convert_to(E'{\u00fc},{1},1\n{\u00e4b},{1},1\n{\u00fc},{1},1\n', 'LATIN1')), 2) WHERE item = 'cause';
-- not more than a hundred
SELECT fc.text('wide.csv', (SELECT string_agg(repeat('x,', i % 130) || E'x\n', '' ORDER BY i) FROM generate_series(0, 259) i));
DO $$ BEGIN EXECUTE (SELECT 'CREATE TABLE manifold (' || string_agg('c' || i || ' text', ', ') || ')' FROM generate_series(1, 130) i); END $$;
SELECT item, "rows", count(*), min(detail), max(detail) FROM look('manifold', 'wide.csv', 2) WHERE item = 'cause' GROUP BY 1, 2 ORDER BY 2;
DROP TABLE flights, parts, manifold;
-- a fault that ends every load
SELECT fc.text('open.csv', E'1\n2\n"3\n4\n');
SELECT * FROM look('plain', 'open.csv', 2) WHERE item IN ('rows', 'error', 'warning');
SELECT * FROM look('plain', 'open.csv', 2, $$, where_clause => '1 / (n - 2) < 5'$$) WHERE item IN ('rows', 'error', 'warning');

-- ... and one that the scan meets
SELECT * FROM look('days', 'mixed.csv', 0, $$, header => 'map', where_clause => '1 / (n - 4) < 5'$$) WHERE item IN ('rows', 'error', 'warning');
-- it writes nothing: no rows, no tables, no transaction id, no sequence number
BEGIN READ ONLY;
SELECT count(*) FROM look('days', 'mixed.csv', 2, $$, header => 'map'$$);
SELECT pg_current_xact_id_if_assigned() IS NULL AS nothing_written;
COMMIT;
SELECT count(*) AS rows, (SELECT count(*) FROM pg_inherits WHERE inhparent = 'days'::regclass) AS partitions,
	pg_sequence_last_value('days_id_seq') AS sequence FROM days;

-- the load says the same
SELECT fc.try('days', 'mixed.csv', $$header => 'map'$$);
-- nor does a function that a condition calls, and the transaction goes on to write
CREATE SEQUENCE calls;
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM look('days', 'mixed.csv', 2, $$, header => 'map', where_clause => 'nextval(''calls'') > 0'$$);
ROLLBACK TO s;
SELECT count(*) > 0 AS looked FROM look('days', 'mixed.csv', 2, $$, header => 'map'$$);
SELECT nextval('calls');
COMMIT;
DROP SEQUENCE calls;

-- warnings: rows of the default partition in the way, triggers, temporary tables
CREATE TABLE days_default PARTITION OF days DEFAULT;
INSERT INTO days (ts, n, v) VALUES ('2013-01-05 12:00', 1, 'in the way');
SELECT * FROM look('days', 'mixed.csv', 2, $$, header => 'map'$$) WHERE item = 'warning';
SELECT * FROM look('days', 'mixed.csv', 2, $$, header => 'map', missing_partitions => 'default'$$) WHERE item IN ('partition', 'warning');
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER nothing BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT * FROM look('plain', 'bad.csv', 2) WHERE item IN ('rows', 'warning', 'choice');
CREATE TEMP TABLE tmp (n int);
SELECT * FROM look('tmp', 'bad.csv', 2) WHERE item IN ('rows', 'warning', 'choice');

-- the estimate of the table's size is right within a page or two and a tenth
CREATE TABLE wide (n int, v text);
SELECT fc.text('wide.csv', (SELECT string_agg(i || ',' || repeat('v', i % 50) || E'\n', '') FROM generate_series(1, 20000) i));
SELECT bytes AS estimate FROM fast_copy_analyze('wide', fc.path('wide.csv')) WHERE item = 'disk' AND name = 'tables' \gset
SELECT fast_copy('wide', fc.path('wide.csv'));
SELECT :estimate BETWEEN pg_relation_size('wide') * 0.9 AND pg_relation_size('wide') * 1.1 + 16384 AS close;

-- binary files
COPY plain TO PROGRAM 'cat >fast_copy_regress/empty.bin' (FORMAT binary);
SELECT * FROM look('plain', 'empty.bin', 0, $$, format => 'binary'$$);
SELECT item, name, rows FROM look('plain', 'empty.bin', 0, $$, format => 'binary', timestamp_column => 'n'$$) WHERE item IN ('key', 'partition');
-- nor is anything left of a function that fails
CREATE FUNCTION picky(n int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / n > -1; END $$;
CREATE TABLE picked (n int CHECK (picky(n)));
SELECT item, rows, line, detail FROM look('picked', fc.file('picked.csv', '1', '2', '0', '3'), 0) WHERE item IN ('rows', 'error', 'warning');
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM look('picked', 'picked.csv', 2, $$, where_clause => 'picky(n - 1)'$$);
RELEASE s;
COMMIT;
DROP TABLE picked;
DROP FUNCTION picky;
-- the same privileges as for a load
CREATE ROLE fc_reader;
SET ROLE fc_reader;
SELECT count(*) FROM look('plain', 'bad.csv', 0);
RESET ROLE;
DROP OWNED BY fc_reader;
DROP ROLE fc_reader;
DROP FUNCTION look;
DROP TABLE days, plain, wide, tmp;
DROP FUNCTION nothing;
