-- fast_copy_drain() and fast_copy_repartition() of tables of all kinds, and of what
-- others have on them: rows are moved and nothing is lost, or the reason is told.

\set name drain_kinds
\ir begin.psql
SELECT no_plan();
SET LOCAL fast_copy.workers = 0;
SET LOCAL jit = off;

CREATE ROLE fc_kinds_owner;
CREATE ROLE fc_kinds_other;
CREATE SCHEMA s AUTHORIZATION fc_kinds_owner;
GRANT USAGE ON SCHEMA s TO fc_kinds_other;
SET LOCAL search_path = s, public, pg_catalog;
CREATE TABLE kinds (n int, what text, setup text, ends text);
GRANT ALL ON kinds TO PUBLIC;

-- Days 1 and 2 have partitions, and days 3 to 5 are in the default partition; each has
-- 100 rows, and one of each has a long value.  One row has no key.
CREATE FUNCTION pg_temp.make() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE t (n int, k timestamp, v text) PARTITION BY RANGE (k);
	CREATE TABLE t_d PARTITION OF t DEFAULT;
	CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
	CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM ('2024-01-02') TO ('2024-01-03');
	CREATE TABLE r (n int PRIMARY KEY);
	INSERT INTO r SELECT generate_series(-1, 600);
	INSERT INTO t SELECT i, timestamp '2024-01-01' + i % 5 * interval '1 day' + i * interval '1 min', CASE WHEN i % 100 < 5 THEN (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 200) AS j) END
		FROM generate_series(1, 500) AS i;
	INSERT INTO t VALUES (0, NULL, 'no key');
END
$$;

-- All that is in the table, and in its indexes
CREATE FUNCTION pg_temp.rows_of() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	one text;
	other text;
BEGIN
	SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off;
	SELECT md5(string_agg(t::text, E'\n' ORDER BY n)) INTO one FROM t;
	SET LOCAL enable_indexscan = on; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_seqscan = off;
	SELECT md5(string_agg(t::text, E'\n' ORDER BY n)) INTO other FROM t WHERE n >= -1;
	SET LOCAL enable_seqscan = on;
	RETURN one || CASE other WHEN one THEN '' ELSE ' but not in an index' END;
END
$$;

-- What a way leads to: rows that moved, or how it failed; and then of a query.  All is
-- taken back.
CREATE FUNCTION pg_temp.result(setup text, call text, ends text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	moved bigint;
	before text;
	got text;
	detail text;
	hint text;
BEGIN
	BEGIN
		SET LOCAL ROLE fc_kinds_owner;
		PERFORM pg_temp.make();
		EXECUTE setup;
		before := pg_temp.rows_of();
		EXECUTE call INTO moved;
		got := moved;
		IF pg_temp.rows_of() <> before THEN
			got := got || ' and other rows';
		END IF;
		IF (SELECT count(*) FROM t WHERE k >= '2024-01-03' AND k < '2024-01-04' AND tableoid = to_regclass('t_d')) > 0 THEN
			got := got || ' and some stay';
		END IF;
		IF ends <> '' THEN
			EXECUTE ends INTO detail;
			got := got || ' ' || coalesce(detail, 'NULL');
		END IF;
		RAISE EXCEPTION USING ERRCODE = 'ZZ000';
	EXCEPTION WHEN SQLSTATE 'ZZ000' THEN
		RETURN got;
	WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
	END;
END
$$;

-- The ways, and what they lead to: numbers or texts, of which the last one stands for
-- those that follow
CREATE FUNCTION pg_temp.kind(what text, setup text, VARIADIC wanted text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	calls text[] := ARRAY[
		$q$SELECT fast_copy_drain('t', partition_interval => '1 day')$q$,
		$q$SELECT fast_copy_drain('t', partition_interval => '1 day', replace_from => '2024-01-03', replace_to => '2024-01-04')$q$,
		$q$SELECT fast_copy_repartition('t', 'drop', partition_interval => '1 month')$q$,
		$q$SELECT fast_copy_repartition('t', 'detach', partition_interval => '1 month')$q$];
	names text[] := '{drain, drain of a range, drop, detach}';
	moved text[] := '{300, 100, 500, 500}';
	want text;
	parts text[];
BEGIN
	FOR i IN 1 .. 4 LOOP
		parts := string_to_array(wanted[least(i, array_length(wanted, 1))], ' => ');
		-- "#" is the number that this way moves, and a query can follow
		want := replace(parts[1], '#', moved[i]) || coalesce(' ' || parts[3], '');
		RETURN NEXT alike(pg_temp.result(setup, calls[i], parts[2]), want, what || ': ' || names[i]);
	END LOOP;
END
$$;

-- what does not matter, or goes with the rows
SELECT pg_temp.kind('a plain table', '', '#');
SELECT pg_temp.kind('indexes, of the default partition, too', 'CREATE INDEX ON t (n); CREATE INDEX ON t USING brin (k); CREATE INDEX own ON t_d (md5(v)); CREATE UNIQUE INDEX ON t (n, k) WHERE n > 10',
	$$# => SELECT string_agg(pg_get_indexdef(indexrelid), ' ') FROM pg_index WHERE indrelid = 't_d'::regclass AND indexrelid = 'own'::regclass => CREATE INDEX own ON s.t_d USING btree (md5(v))$$);
SELECT pg_temp.kind('constraints, of the default partition, too', 'ALTER TABLE t ADD CHECK (n < 1000); ALTER TABLE t_d ADD CONSTRAINT own CHECK (n < 2000); ALTER TABLE t ALTER n SET NOT NULL',
	$$# => SELECT count(*) FROM pg_constraint WHERE conrelid = 't_d'::regclass AND contype = 'c' => 2$$);
SELECT pg_temp.kind('a primary key', 'DELETE FROM t WHERE k IS NULL; ALTER TABLE t ADD PRIMARY KEY (k, n)', '#');
SELECT pg_temp.kind('a generated column', 'ALTER TABLE t ADD g int GENERATED ALWAYS AS (n * 2) STORED', '# => SELECT count(*) FROM t WHERE g = n * 2 => 501');
SELECT pg_temp.kind('defaults that change', 'ALTER TABLE t ADD id bigserial; ALTER TABLE t ALTER k SET DEFAULT clock_timestamp(), ALTER v SET DEFAULT random()', '# => SELECT count(DISTINCT id) FROM t => 501');
SELECT pg_temp.kind('a trigger for UPDATE', 'CREATE TRIGGER u BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
	$$# => SELECT count(*) FROM pg_trigger WHERE tgname = 'u' AND tgrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 't'::regclass UNION ALL SELECT 't'::regclass) => 7$$,
	$$# => SELECT count(*) FROM pg_trigger WHERE tgname = 'u' AND tgrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 't'::regclass UNION ALL SELECT 't'::regclass) => 5$$,
	$$# => SELECT count(*) FROM pg_trigger WHERE tgname = 'u' AND tgrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 't'::regclass UNION ALL SELECT 't'::regclass) => 3$$);
SELECT pg_temp.kind('a trigger that is switched off', $$CREATE TRIGGER i BEFORE INSERT OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger(); ALTER TABLE t DISABLE TRIGGER i$$, '#');
SELECT pg_temp.kind('a foreign key from it', 'ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (n) REFERENCES r',
	$$# => SELECT count(*) FROM t AS t WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = t.tableoid AND contype = 'f' AND convalidated) => 0$$);
SELECT pg_temp.kind('row-level security', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (n > 5)', '#');
SELECT pg_temp.kind('replica identity', 'DELETE FROM t WHERE k IS NULL; ALTER TABLE t ALTER n SET NOT NULL, ALTER k SET NOT NULL; ALTER TABLE t ADD CONSTRAINT i UNIQUE (n, k); ALTER TABLE t REPLICA IDENTITY USING INDEX i; ALTER TABLE t_d REPLICA IDENTITY USING INDEX t_d_n_k_key',
	$$# => SELECT concat_ws(' ', indexrelid::regclass, relreplident) FROM pg_index JOIN pg_class AS c ON c.oid = indrelid WHERE indrelid = 't_d'::regclass AND indisreplident => t_d_n_k_key i$$);
SELECT pg_temp.kind('replica identity of all columns', 'ALTER TABLE t REPLICA IDENTITY FULL; ALTER TABLE t_d REPLICA IDENTITY FULL', $$# => SELECT relreplident FROM pg_class WHERE oid = 't_d'::regclass => f$$);
SELECT pg_temp.kind('columns in another order', 'ALTER TABLE t DETACH PARTITION t_d; CREATE TABLE d (v text, gone int, k timestamp, n int); ALTER TABLE d DROP gone; INSERT INTO d SELECT v, k, n FROM t_d; DROP TABLE t_d; ALTER TABLE d RENAME TO t_d; ALTER TABLE t ATTACH PARTITION t_d DEFAULT', '#');
SELECT pg_temp.kind('what is stored how', 'ALTER TABLE t ALTER v SET STORAGE EXTERNAL; ALTER TABLE t_d SET (fillfactor = 70)', $$# => SELECT reloptions FROM pg_class WHERE oid = 't_d'::regclass => {fillfactor=70}$$);
SELECT pg_temp.kind('privileges', 'GRANT SELECT ON t, t_d TO fc_kinds_other; ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT UPDATE ON TABLES TO fc_kinds_other',
	$$# => SELECT concat_ws(' ', has_table_privilege('fc_kinds_other', 't_d', 'SELECT'), (SELECT bool_and(has_table_privilege('fc_kinds_other', oid, 'UPDATE')) FROM pg_class WHERE relname ~ '^t_p')) => t t$$);
SELECT pg_temp.kind('no default partition', 'DROP TABLE t_d', '0', '0', '200', '200');
SELECT pg_temp.kind('an empty default partition', 'TRUNCATE t_d', '0', '0', '200', '200');
SELECT pg_temp.kind('no rows', 'TRUNCATE t', '0');
-- the new one has the name of one that was there
SELECT pg_temp.kind('names that are taken', 'CREATE TABLE t_p20240103 (n int); CREATE TABLE t_p202401 (n int)',
	$$# => SELECT string_agg(DISTINCT tableoid::regclass::text, ' ') FROM t WHERE k >= '2024-01-03' AND k < '2024-01-04' => t_p20240103_1$$,
	$$# => SELECT string_agg(DISTINCT tableoid::regclass::text, ' ') FROM t WHERE k >= '2024-01-03' AND k < '2024-01-04' => t_p20240103_1$$,
	$$# => SELECT string_agg(DISTINCT tableoid::regclass::text, ' ') FROM t WHERE k >= '2024-01-03' AND k < '2024-01-04' => t_p202401_1$$);

-- what would see more than a move
SELECT pg_temp.kind('a trigger', 'CREATE TRIGGER audit AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', '0A000 cannot move rows of table "t" Its trigger "audit" would not see them move.');
SELECT pg_temp.kind('a trigger for statements', 'CREATE TRIGGER audit AFTER INSERT ON t EXECUTE FUNCTION suppress_redundant_updates_trigger()', '0A000 cannot move rows of table "t" Its trigger "audit" would not see them move.');
SELECT pg_temp.kind('a trigger of the default partition', 'CREATE TRIGGER audit BEFORE INSERT ON t_d FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', '0A000 cannot move rows of table "t_d" Its trigger "audit" would not see them move.');
SELECT pg_temp.kind('a foreign key to it', 'DELETE FROM t WHERE k IS NULL; ALTER TABLE t ADD UNIQUE (n, k); CREATE TABLE refers (n int, k timestamp, CONSTRAINT fk FOREIGN KEY (n, k) REFERENCES t (n, k)); INSERT INTO refers SELECT n, k FROM t WHERE n % 10 = 0',
	-- it is found where it is now
	$$# => WITH d AS (DELETE FROM refers WHERE n = 3 RETURNING n) SELECT count(*) FROM d => 0$$,
	'0A000 cannot move rows of table "t" Rows of table "refers" refer to it by foreign key "fk". Leave replace_from and replace_to out: %',
	'0A000 cannot move rows of table "t" Rows of table "refers" refer to it by foreign key "fk".');
SELECT pg_temp.kind('row-level security, for its owner, too', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY; ALTER TABLE t FORCE ROW LEVEL SECURITY', '0A000 cannot move rows of table "t" Row-level security hides rows of it from the caller.');
SELECT pg_temp.kind('a condition that sees the table', 'ALTER TABLE t ADD CHECK (tableoid > 0)', '0A000 cannot move rows of table "t_d" % sees of which table a row is.');
SELECT pg_temp.kind('a rule', 'CREATE RULE r AS ON DELETE TO t DO ALSO NOTHING', '0A000 cannot replace rows of table "t" It has rules for DELETE.');
SELECT pg_temp.kind('a constraint that is deferred', 'ALTER TABLE t ADD UNIQUE (n, k) DEFERRABLE', '0A000 cannot move rows of table "t" % can be deferred.');
SELECT pg_temp.kind('an unlogged default partition', 'ALTER TABLE t_d SET UNLOGGED', '0A000 cannot move rows of table "t_d" % it is temporary, or not logged.');
SELECT pg_temp.kind('an unlogged partition', 'ALTER TABLE t_1 SET UNLOGGED', '#', '#', '0A000 cannot move rows of table "t_1" % it is temporary, or not logged.');
SELECT pg_temp.kind('partitions of partitions', 'DROP TABLE t_d; CREATE TABLE t_d PARTITION OF t DEFAULT PARTITION BY LIST (n)', '0A000 cannot move rows of table "t" Rows are moved where %');
SELECT pg_temp.kind('a partition without a bound', $$DROP TABLE t_1; CREATE TABLE t_0 PARTITION OF t FOR VALUES FROM (MINVALUE) TO ('2024-01-01')$$, '#', '#', '0A000 cannot move rows of table "t_0" It has no lower or no upper bound%');
SELECT pg_temp.kind('not the owner', 'RESET ROLE; GRANT ALL ON t, t_d, t_1, t_2 TO fc_kinds_other; SET LOCAL ROLE fc_kinds_other', '42501 must be owner of table t');
SELECT pg_temp.kind('not the owner of a partition', 'RESET ROLE; ALTER TABLE t_d OWNER TO fc_kinds_other; SET LOCAL ROLE fc_kinds_owner', '42501 must be owner of table t_d');
SELECT pg_temp.kind('not the owner of an old one', 'RESET ROLE; ALTER TABLE t_1 OWNER TO fc_kinds_other; SET LOCAL ROLE fc_kinds_owner', '#', '#', '42501 must be owner of table t_1');
SELECT pg_temp.kind('no DELETE', 'REVOKE DELETE ON t FROM fc_kinds_owner', '42501 permission denied for table t Its owner may GRANT DELETE ON t TO fc_kinds_owner, because rows are moved.');
SELECT pg_temp.kind('no CREATE', 'RESET ROLE; ALTER SCHEMA s OWNER TO postgres; GRANT USAGE ON SCHEMA s TO fc_kinds_owner; SET LOCAL ROLE fc_kinds_owner', '42501 permission denied for schema s%');

-- what others have on a partition that is cut anew, is never lost
CREATE FUNCTION pg_temp.had(what text, setup text, named text, after text DEFAULT NULL) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT pg_temp.kind(what, setup, '#', '#', '2BP01 cannot drop partition "t_1" because of ' || named || ' It depends on the partition, and new partitions would not have it. Drop it, %', '#' || coalesce(' => ' || after, ''))
$$;
SELECT pg_temp.had('a view', 'CREATE VIEW w AS SELECT * FROM t_1', 'rule _RETURN on view s.w', $$SELECT count(*) FROM w => 100$$);
SELECT pg_temp.had('a statistics object', 'CREATE STATISTICS st ON n, v FROM t_1', 'statistics object s.st');
SELECT pg_temp.had('a publication', 'RESET ROLE; CREATE PUBLICATION pub FOR TABLE t_1; SET LOCAL ROLE fc_kinds_owner', 'publication of table s.t_1 in publication pub', $$SELECT count(*) FROM pg_publication_rel WHERE prrelid = 't_1'::regclass => 1$$);
SELECT pg_temp.had('a policy', 'CREATE POLICY pol ON t_1 USING (true)', 'policy pol on table s.t_1');
SELECT pg_temp.had('a trigger', 'CREATE TRIGGER tr BEFORE UPDATE ON t_1 FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', 'trigger tr on table s.t_1');
SELECT pg_temp.had('an index', 'CREATE INDEX own ON t_1 (k)', 'index s.own');
SELECT pg_temp.had('a key', 'ALTER TABLE t_1 ADD CONSTRAINT own UNIQUE (n)', 'constraint own on table s.t_1');
SELECT pg_temp.had('a CHECK', 'ALTER TABLE t_1 ADD CONSTRAINT own CHECK (n < 1000)', 'constraint own on table s.t_1');
SELECT pg_temp.had('a foreign key', 'ALTER TABLE t_1 ADD CONSTRAINT own FOREIGN KEY (n) REFERENCES r', 'constraint own on table s.t_1');
SELECT pg_temp.had('a rule', 'CREATE RULE ru AS ON UPDATE TO t_1 DO ALSO NOTHING', 'rule ru on table s.t_1');
SELECT pg_temp.had('a sequence', 'CREATE SEQUENCE sq OWNED BY t_1.n', 'sequence s.sq');
SELECT pg_temp.had('a function', 'CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM t_1; END', 'function s.f()', 'SELECT f() => 100');
SELECT pg_temp.had('a column of its type', 'CREATE TABLE typed (x t_1)', 'table s.typed');
SELECT pg_temp.kind('a foreign key to one', 'ALTER TABLE t_1 ADD UNIQUE (n); CREATE TABLE refers (n int CONSTRAINT fk REFERENCES t_1 (n))', '#', '#', '0A000 cannot move rows of table "t_1" Rows of table "refers" refer to it by foreign key "fk".');
-- ... and what the table has, new ones have, too
SELECT pg_temp.kind('what all partitions have', 'CREATE INDEX ON t (n); ALTER TABLE t ADD UNIQUE (n, k), ADD CHECK (n < 1000), ADD FOREIGN KEY (n) REFERENCES r, ALTER n SET NOT NULL; CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', '#');

-- tables that are not partitioned so
CREATE TABLE plain (k timestamp);
CREATE VIEW seen AS TABLE plain;
CREATE TABLE listed (k int) PARTITION BY LIST (k);
CREATE TABLE many (a int, b int) PARTITION BY RANGE (a, b);
CREATE TABLE texts (k text) PARTITION BY RANGE (k);
SELECT throws_ok(format('SELECT fast_copy_drain(%L, partition_interval => ''1 day'')', name), '0A000', format('cannot move rows of table "%s"', name), name) FROM unnest('{plain, seen, listed, many, texts}'::text[]) AS name;
SELECT throws_ok('SELECT fast_copy_drain(NULL)', '22004', 'argument "target" must not be null', 'no table');

-- options
CREATE FUNCTION pg_temp.refused(arguments text, wanted text) RETURNS text LANGUAGE sql AS $$
	SELECT alike(pg_temp.result('', 'SELECT ' || arguments, ''), wanted, arguments)
$$;
SELECT pg_temp.refused($$fast_copy_repartition('t', 'keep', partition_interval => '1 day')$$, '22023 old_partitions "keep" not recognized Use old_partitions => ''drop'' or ''detach''.');
SELECT pg_temp.refused($$fast_copy_repartition('t', NULL, partition_interval => '1 day')$$, '22023 old_partitions "" not recognized%');
SELECT pg_temp.refused($$fast_copy_repartition('t', 'DROP')$$, '22023 fast_copy_repartition() requires partition_interval Give the width %');
SELECT pg_temp.refused($$fast_copy_drain('t', replace_from => '2024-01-03')$$, '22023 replace_from and replace_to can only be used together They are the first key that is moved %');
SELECT pg_temp.refused($$fast_copy_drain('t', replace_from => '2024-01-03', replace_to => '2024-01-03')$$, '22023 replace_from must come before replace_to%');
SELECT pg_temp.refused($$fast_copy_drain('t', replace_from => 'soon', replace_to => '2024-01-03')$$, '22007 invalid input syntax for type timestamp: "soon" Write replace_from and replace_to as ''YYYY-MM-DD'', with or without a time.');
SELECT pg_temp.refused($$fast_copy_drain('t', partition_interval => 'wide')$$, '22007 %');
SELECT pg_temp.refused($$fast_copy_drain('t', options => '{"dedup_keys": ["n"]}')$$, '42601 option "dedup_keys" not recognized Options are time_zone, partition_interval, log_verbosity, run_analyze, progress, workers, replace_from, replace_to.');
SELECT pg_temp.refused($$fast_copy_repartition('t', 'drop', partition_interval => '1 day', replace_from => '2024-01-01 12:00', replace_to => '2024-01-02')$$,
	'0A000 cannot move rows of table "t_1" Only a part of its keys, FROM (''2024-01-01 00:00:00'') TO (''2024-01-02 00:00:00''), lies between replace_from and replace_to. Begin and end %');
SET LOCAL fast_copy.max_partitions = 2;
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t', partition_interval => '1 day')$$, ''), '200', 'as many partitions as may be');
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t', partition_interval => '1 day') + fast_copy_drain('t')$$, ''), '300', 'the rest by the next call');
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t', partition_interval => '1 day', replace_from => '2024-01-03', replace_to => '2024-01-06')$$, ''), '200', '... of a range');
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t', partition_interval => '1 day', replace_from => '2024-01-03', replace_to => '2024-01-06', options => '{"workers": 2}')$$,
	$$SELECT string_agg(leaf || ' ' || n, ', ' ORDER BY leaf) FROM (SELECT tableoid::regclass::text AS leaf, count(*) AS n FROM t GROUP BY 1) AS leaves$$), '200 t_1 100, t_2 100, t_d 101, t_p20240103 100, t_p20240104 100', '... by workers: where rows are');
SET LOCAL fast_copy.max_partitions = 1;
SELECT is(pg_temp.result('SET LOCAL fast_copy.workers = 2', $$SELECT fast_copy_drain('t', partition_interval => '1 day') + fast_copy_drain('t') + fast_copy_drain('t')$$, ''), '300', 'a partition a call');
RESET fast_copy.max_partitions;
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t', options => '{"partition_interval": "1 day", "replace_from": "2024-01-03", "replace_to": "2024-01-04", "workers": 1}')$$, ''), '100', 'as JSON');
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t')$$, ''), '300', 'the width of partitions that are there');
SELECT is(pg_temp.result('', $$SELECT fast_copy_drain('t', partition_interval => '1 day', replace_from => '2024-01-03 05:00', replace_to => '2024-01-03 06:00')$$, ''), '100', 'a range becomes one of whole partitions');
SELECT is(pg_temp.result('DECLARE c CURSOR FOR TABLE t', $$SELECT fast_copy_drain('t')$$, ''), '0A000 cannot move rows of table "t_d" Its rows cannot be written anew: this session is using it.', 'a cursor');

-- tables of a session, in another tablespace, and without rows
CREATE TEMP TABLE temporary (n int, k timestamp) PARTITION BY RANGE (k);
CREATE TEMP TABLE temporary_d PARTITION OF temporary DEFAULT;
INSERT INTO temporary VALUES (1, '2024-01-01');
SELECT throws_ok($$SELECT fast_copy_drain('temporary', partition_interval => '1 day')$$, '0A000', 'cannot move rows of table "temporary_d"', 'a temporary table');

-- what is told
RESET fast_copy.workers;
SELECT pg_temp.make();
SELECT fast_copy_drain('t', partition_interval => '1 day') \g /dev/null
SELECT results_eq($$SELECT phase, rows, choice FROM fast_copy_report() WHERE phase <> 'load' OR "partition" IS NULL$$,
	$$VALUES ('replace', 301::bigint, 'rows of 1 table, to be moved'), ('partitions', NULL, '3 created'), ('load', 301, 'in key order, multi_insert'), ('replace', 0, '1 table exchanged'), ('attach', NULL, '3 attached'), ('total', 300, (SELECT choice FROM fast_copy_report() WHERE phase = 'total'))$$, 'report of a drain');
SELECT results_eq($$SELECT "partition", rows, regexp_replace(choice, '^1 slice, ', '') FROM fast_copy_report() WHERE phase = 'load' AND "partition" IS NOT NULL ORDER BY "partition"$$,
	$$VALUES ('t_d', 1::bigint, 'stay'), ('t_p20240103', 100, 'new'), ('t_p20240104', 100, 'new'), ('t_p20240105', 100, 'new')$$, '... of its partitions');
SELECT alike((SELECT string_agg(s, E'\n') FROM fast_copy_summary() AS s), E's.t from "fast\\_copy\\_drain()"\ntime %\nrows       300, %\npartitions 3 new, 0 indexes built\n%way        rows (sorted by key, through temporary files): rows are moved\n%', 'its summary');
SELECT * FROM finish();
ROLLBACK;
