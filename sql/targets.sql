-- What a load can be made into, and what happens beside the rows.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

SET client_min_messages = notice;
SET fast_copy.workers = 2;
SET fast_copy.chunk_size = 8;
SELECT fc.file('n.csv', '3,c', '1,a', '2,b');

-- temporary and unlogged
CREATE TEMP TABLE tmp (n int, t text);
SELECT fast_copy('tmp', fc.path('n.csv'), 'n');
SELECT * FROM tmp ORDER BY ctid;
CREATE UNLOGGED TABLE unl (n int, t text);
SELECT fast_copy('unl', fc.path('n.csv'), 'n');
SELECT * FROM unl ORDER BY ctid;
CREATE TEMP TABLE tmp_part (n int, t text) PARTITION BY RANGE (n);
SELECT fast_copy('tmp_part', fc.path('n.csv'), partition_interval => '2');
SELECT * FROM fc.partitions('tmp_part');
SELECT relpersistence FROM pg_class WHERE relname = 'tmp_part_p0';
DROP TABLE tmp, unl, tmp_part;

-- views
CREATE TABLE base (n int, t text);
CREATE VIEW view AS SELECT * FROM base;
SELECT fc.try('view', 'n.csv');
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO base VALUES (new.n + 100, upper(new.t));
	RETURN new;
END
$$;
CREATE TRIGGER instead INSTEAD OF INSERT ON view FOR EACH ROW EXECUTE FUNCTION instead();
SELECT fast_copy('view', fc.path('n.csv'));
SELECT * FROM base ORDER BY ctid;
CREATE MATERIALIZED VIEW matview AS SELECT * FROM base;
SELECT fc.try('matview', 'n.csv');
CREATE SEQUENCE seq;
SELECT fc.try('seq', 'n.csv');
CREATE INDEX base_n ON base (n);
SELECT fc.state($$SELECT fast_copy('base_n', fc.path('n.csv'))$$);
CREATE TYPE composite AS (n int, t text);
SELECT fc.state($$SELECT fast_copy('composite', fc.path('n.csv'))$$);
DROP VIEW view;
DROP MATERIALIZED VIEW matview;
DROP TABLE base;
DROP SEQUENCE seq;
DROP TYPE composite;
-- a foreign table whose wrapper does nothing
CREATE FOREIGN DATA WRAPPER fc_none;
CREATE SERVER fc_none FOREIGN DATA WRAPPER fc_none;
CREATE FOREIGN TABLE remote (n int, t text) SERVER fc_none;
SELECT fc.try('remote', 'n.csv', 'workers => 0', NULL);
SET client_min_messages = warning;
DROP FOREIGN DATA WRAPPER fc_none CASCADE;
SET client_min_messages = notice;

-- triggers fire as under COPY
CREATE TABLE trig (n int, t text);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF tg_level = 'ROW' THEN
		RAISE NOTICE '% % row on %: %', tg_when, tg_op, tg_table_name, new;
		IF tg_when = 'BEFORE' AND new.n = 1 THEN
			RETURN NULL;
		END IF;
		new.t := upper(new.t);
		RETURN new;
	ELSIF tg_when = 'AFTER' AND tg_name = 'transition' THEN
		RAISE NOTICE '% % statement on %: % rows', tg_when, tg_op, tg_table_name, (SELECT count(*) FROM new_rows);
	ELSE
		RAISE NOTICE '% % statement on %', tg_when, tg_op, tg_table_name;
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER before_row BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER after_row AFTER INSERT ON trig FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER before_statement BEFORE INSERT ON trig FOR EACH STATEMENT EXECUTE FUNCTION tell();
CREATE TRIGGER transition AFTER INSERT ON trig REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT fast_copy('trig', fc.path('n.csv'));
SELECT * FROM trig;
SELECT format('COPY trig FROM %L (FORMAT csv)', fc.path('n.csv')) AS copy \gset
:copy ;
TRUNCATE trig;
DROP TABLE trig;
-- other events are not in the way
CREATE TABLE trig (n int, t text);
CREATE TRIGGER upd BEFORE UPDATE OR DELETE ON trig FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER trunc BEFORE TRUNCATE ON trig EXECUTE FUNCTION tell();
SELECT fast_copy('trig', fc.path('n.csv'));
DROP TABLE trig;
-- row trigger of the parent, with new partitions
CREATE TABLE trig (n int, t text) PARTITION BY RANGE (n);
CREATE TRIGGER after_row AFTER INSERT ON trig FOR EACH ROW EXECUTE FUNCTION tell();
SELECT fast_copy('trig', fc.path('n.csv'), partition_interval => '2');
SELECT * FROM fc.partitions('trig');
DROP TABLE trig;
-- statement trigger of the parent, and trigger of one partition
CREATE TABLE trig (n int, t text) PARTITION BY RANGE (n);
CREATE TABLE trig_2 PARTITION OF trig FOR VALUES FROM (2) TO (3);
CREATE TRIGGER row_2 BEFORE INSERT ON trig_2 FOR EACH ROW EXECUTE FUNCTION tell();
SELECT fast_copy('trig', fc.path('n.csv'));
CREATE TRIGGER statement AFTER INSERT ON trig FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT fast_copy('trig', fc.path('n.csv'));
SELECT * FROM fc.partitions('trig');
DROP TABLE trig;
DROP FUNCTION tell, instead;

-- foreign keys
CREATE TABLE ref (t text PRIMARY KEY);
INSERT INTO ref VALUES ('a'), ('b');
CREATE TABLE fk (n int, t text REFERENCES ref) PARTITION BY RANGE (n);
-- with new partitions: as ATTACH checks them
SELECT fc.try('fk', 'n.csv', $$partition_interval => '2'$$, NULL);
INSERT INTO ref VALUES ('c');
SELECT fast_copy('fk', fc.path('n.csv'), partition_interval => '2');
SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated AND conrelid::regclass::text LIKE 'fk\_p%' AND confrelid = 'ref'::regclass;
-- with existing ones: as COPY
SELECT fast_copy('fk', fc.path('n.csv'));
SELECT fc.try('fk', fc.file('x.csv', '1,a', '2,x'), 'workers => 0');
SELECT * FROM fc.partitions('fk');
DROP TABLE fk;
CREATE TABLE fk (n int, t text REFERENCES ref DEFERRABLE INITIALLY DEFERRED);
BEGIN;
SELECT fast_copy('fk', fc.path('x.csv'));
INSERT INTO ref VALUES ('x');
COMMIT;
SELECT count(*) FROM fk;
-- a key that refers to the table that is loaded
SELECT fast_copy('ref', fc.path(fc.file('ref.csv', 'd', 'e')));
DROP TABLE fk, ref;

-- other ways of partitioning, by the partitions there are
SELECT fc.file('n.csv', '3,c', '1,a', '2,b', '4,a');
CREATE TABLE lst (n int, t text) PARTITION BY LIST (t);
CREATE TABLE lst_a PARTITION OF lst FOR VALUES IN ('a', NULL);
CREATE TABLE lst_b PARTITION OF lst FOR VALUES IN ('b');
SELECT fc.try('lst', 'n.csv', $$missing_partitions => 'error'$$);
CREATE TABLE lst_rest PARTITION OF lst DEFAULT;
SELECT fast_copy('lst', fc.path('n.csv'), 'n', missing_partitions => 'default');
SELECT tableoid::regclass, * FROM lst ORDER BY n;
CREATE TABLE hsh (n int, t text) PARTITION BY HASH (n);
CREATE TABLE hsh_0 PARTITION OF hsh FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hsh_1 PARTITION OF hsh FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT fast_copy('hsh', fc.path('n.csv'));
SELECT count(*), bool_and(satisfies_hash_partition('hsh'::regclass, 2, right(tableoid::regclass::text, 1)::int, n)) FROM hsh;
CREATE TABLE multi (n int, t text) PARTITION BY RANGE (n, t);
CREATE TABLE multi_1 PARTITION OF multi FOR VALUES FROM (MINVALUE, MINVALUE) TO (3, 'a');
CREATE TABLE multi_2 PARTITION OF multi FOR VALUES FROM (3, 'a') TO (4, 'a');
SELECT fc.try('multi', 'n.csv');
CREATE TABLE multi_3 PARTITION OF multi FOR VALUES FROM (4, 'a') TO (MAXVALUE, MAXVALUE);
SELECT fast_copy('multi', fc.path('n.csv'));
SELECT tableoid::regclass, * FROM multi ORDER BY n;
CREATE TABLE expr (n int, t text) PARTITION BY RANGE ((n % 2));
CREATE TABLE expr_even PARTITION OF expr FOR VALUES FROM (0) TO (1);
CREATE TABLE expr_odd PARTITION OF expr FOR VALUES FROM (1) TO (2);
SELECT fast_copy('expr', fc.path('n.csv'));
SELECT tableoid::regclass, * FROM expr ORDER BY n;
CREATE TABLE sub (n int, t text) PARTITION BY RANGE (n);
CREATE TABLE sub_1 PARTITION OF sub FOR VALUES FROM (1) TO (4) PARTITION BY LIST (t);
CREATE TABLE sub_1_a PARTITION OF sub_1 FOR VALUES IN ('a');
CREATE TABLE sub_1_rest PARTITION OF sub_1 DEFAULT;
CREATE TABLE sub_2 PARTITION OF sub FOR VALUES FROM (4) TO (8);
SELECT fast_copy('sub', fc.path('n.csv'), missing_partitions => 'default');
SELECT fast_copy('sub', fc.path('n.csv'));
SELECT tableoid::regclass, * FROM sub ORDER BY n;
DROP TABLE lst, hsh, multi, expr, sub;

-- a partition itself, and inheritance
CREATE TABLE par (n int, t text) PARTITION BY RANGE (n);
CREATE TABLE par_1 (t text, gone int, n int NOT NULL);
ALTER TABLE par_1 DROP COLUMN gone;
ALTER TABLE par ATTACH PARTITION par_1 FOR VALUES FROM (1) TO (4);
SELECT fc.try('par_1', 'n.csv', $$columns => '{n,t}'$$, '', '(n, t)');
SELECT fast_copy('par_1', fc.path(fc.file('n3.csv', '3,c', '1,a')), 'n', columns => '{n,t}');
-- its columns are in another order, and one was dropped
SELECT fast_copy('par', fc.path('n.csv'), partition_interval => '3');
SELECT tableoid::regclass, * FROM par ORDER BY n, tableoid::regclass::text, t;
DROP TABLE par;
CREATE TABLE mother (n int, t text);
CREATE TABLE child (x int DEFAULT 7) INHERITS (mother);
SELECT fast_copy('mother', fc.path('n3.csv'));
SELECT fast_copy('child', fc.path('n3.csv'), columns => '{n,t}');
SELECT tableoid::regclass, n FROM mother ORDER BY 1, 2;
SELECT * FROM child ORDER BY n;
DROP TABLE mother, child;

-- defaults, generated and identity columns, serials
CREATE TABLE cols (n int, t text,
	g int GENERATED ALWAYS AS (n * 10) STORED,
	i int GENERATED ALWAYS AS IDENTITY,
	s serial,
	d text DEFAULT 'dflt',
	now timestamptz DEFAULT now(),
	e int);
ALTER TABLE cols DROP COLUMN e;
SELECT fast_copy('cols', fc.path('n.csv'), columns => '{n,t}');
SELECT n, t, g, d, now <= now() AS now FROM cols ORDER BY n;
SELECT array_agg(i ORDER BY i) AS i, array_agg(s ORDER BY s) AS s FROM cols;
INSERT INTO cols (n) VALUES (9) RETURNING i, s;
-- values for an identity column that is always generated are taken, as by COPY
SELECT fc.try('cols', fc.file('i.csv', '1,50'), $$columns => '{n,i}'$$, '', '(n, i)');
DROP TABLE cols;
CREATE TABLE cols (ts date, s bigserial, g int GENERATED ALWAYS AS (extract(day FROM ts)) STORED, d text DEFAULT 'x') PARTITION BY RANGE (ts);
SELECT fast_copy('cols', fc.path(fc.file('g.csv', '2024-01-02', '2024-01-01', '2024-01-02')), columns => '{ts}');
SELECT ts, g, d FROM cols ORDER BY ts;
SELECT array_agg(s ORDER BY s) FROM cols;
-- the key is not in the file
SELECT fc.try('cols', fc.file('d.csv', 'y'), $$columns => '{d}'$$, '', '(d)');
DROP TABLE cols;

-- domains
CREATE DOMAIN small AS int CHECK (value < 3);
CREATE DOMAIN filled AS text NOT NULL;
CREATE TABLE dom (n small, t filled);
SELECT fc.try('dom', 'n.csv');
SELECT fc.try('dom', fc.file('n2.csv', '1,a', '2,'));
SELECT fc.try('dom', fc.file('n2.csv', '1', '2'), $$columns => '{n}'$$, '', '(n)');
SELECT fast_copy('dom', fc.path(fc.file('n2.csv', '2,a', '1,b')));
SELECT * FROM dom ORDER BY n;
DROP TABLE dom;
DROP DOMAIN small, filled;

-- long values, in and out of line
CREATE TABLE toast (n int, t text, e text) PARTITION BY RANGE (n);
ALTER TABLE toast ALTER e SET STORAGE EXTERNAL;
SELECT fc.file('toast.csv', VARIADIC array(SELECT i || ',' || repeat(md5(i::text), 500) || ',' || repeat('x', 9000 + i) FROM generate_series(30, 1, -1) AS i));
SELECT fast_copy('toast', fc.path('toast.csv'), partition_interval => '10');
SELECT count(*), bool_and(t = repeat(md5(n::text), 500)), bool_and(e = repeat('x', 9000 + n)) FROM toast;
SELECT c.relname, pg_relation_size(c.reltoastrelid) > 0 AS toasted FROM pg_class AS c WHERE c.relname LIKE 'toast\_p%' ORDER BY c.relname;
DROP TABLE toast;

-- exclusion and deferrable constraints
CREATE TABLE excl (n int, r int4range, EXCLUDE USING gist (r WITH &&));
SELECT fast_copy('excl', fc.path(fc.file('r.csv', '1,"[1,3)"', '2,"[3,5)"')));
SELECT fc.try('excl', fc.file('r.csv', '3,"[6,7)"', '4,"[4,6)"'));
DROP TABLE excl;
CREATE TABLE def (n int UNIQUE DEFERRABLE INITIALLY DEFERRED, t text);
SELECT fast_copy('def', fc.path('n.csv'));
BEGIN;
SELECT fast_copy('def', fc.path('n3.csv'));
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
BEGIN;
SELECT fast_copy('def', fc.path('n3.csv'));
DELETE FROM def WHERE ctid IN (SELECT min(ctid) FROM def GROUP BY n HAVING count(*) > 1);
COMMIT;
SELECT n, count(*) FROM def GROUP BY n ORDER BY n;
DROP TABLE def;
-- rows that go with those that are replaced
CREATE TABLE gone (n int PRIMARY KEY, t text);
CREATE TABLE child (n int REFERENCES gone ON DELETE CASCADE);
CREATE TABLE loose (n int DEFAULT 1 REFERENCES gone ON DELETE SET DEFAULT, m int REFERENCES gone ON DELETE CASCADE);
SELECT fast_copy('gone', fc.path('n.csv'), options => '{"existing_rows": "replace"}');
SELECT fast_copy('gone', fc.path('n.csv'), options => '{"existing_rows": "replace"}');
SELECT fast_copy('gone', fc.path('n.csv'), options => '{"existing_rows": "replace", "log_verbosity": "silent"}');
-- files that are exchanged and committed, with those of long values, for an empty table
-- and for one with rows
CREATE TABLE long (n int PRIMARY KEY, t text);
SET fast_copy.writer = page;
SELECT fast_copy('long', fc.path('n.csv'));
RESET fast_copy.writer;
SELECT fast_copy('long', fc.path('n.csv'), options => '{"existing_rows": "replace"}');
SELECT max(n), (SELECT relname = 'pg_toast_' || 'long'::regclass::oid FROM pg_class WHERE oid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'long')) AS own FROM long;
DROP TABLE loose, child, gone, long;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
