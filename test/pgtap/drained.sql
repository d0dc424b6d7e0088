-- fast_copy_drain() and fast_copy_repartition() at the ends of types, and what they refuse:
-- what would go with a partition, keys and constraints that would not hold, and code of users.

\set name drained
-- which this session has not locked
CREATE TABLE there (k int, n int) PARTITION BY RANGE (k);
CREATE TABLE there_d PARTITION OF there DEFAULT;
INSERT INTO there SELECT g, g FROM generate_series(0, 99) AS g;
\ir begin.psql
SELECT plan(56);

-- Rows that are where no row of the table belongs
CREATE FUNCTION pg_temp.misplaced() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	leaf regclass;
	n bigint;
	total bigint := pg_temp.left_behind();
BEGIN
	FOR leaf IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 't'::regclass LOOP
		EXECUTE format('SELECT count(*) FROM %s WHERE NOT (%s)', leaf, coalesce(pg_get_partition_constraintdef(leaf), 'true')) INTO n;
		total := total + n;
	END LOOP;
	RETURN total;
END
$$;
-- Makes table t, keys in a default partition: those of a query
CREATE FUNCTION pg_temp.make(type text, keys text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t, t_a, t_b CASCADE;
	EXECUTE format('CREATE TABLE t (k %1$s, n int) PARTITION BY RANGE (k); CREATE TABLE t_d PARTITION OF t DEFAULT; INSERT INTO t SELECT k::%1$s, row_number() OVER () FROM (%2$s) AS q (k)', type, keys);
END
$$;
-- Runs a move of t; returns its rows, and what t is like after it
CREATE FUNCTION pg_temp.moved(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT fast_copy_%s', call) INTO n;
	RETURN format('%s: %s; %s misplaced', n, (SELECT string_agg(format('%s %s', replace(pg_get_expr(relpartbound, c.oid), 'FOR VALUES ', ''), (SELECT count(*) FROM t WHERE tableoid = c.oid)), ', ' ORDER BY relname)
		FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid WHERE inhparent = 't'::regclass), pg_temp.misplaced());
END
$$;

-- The last partition of integers has no upper bound, and takes all rows up to the end
SELECT pg_temp.make('int', 'SELECT 2147483647 - g FROM generate_series(0, 300) AS g');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '100', replace_from => '2147483610', replace_to => '2147483640')$$),
	'48: DEFAULT 253, FROM (2147483600) TO (MAXVALUE) 48; 0 misplaced', 'int: the last partition');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '100', replace_from => '2147483500', replace_to => '2147483510')$$),
	'100: DEFAULT 153, FROM (2147483500) TO (2147483600) 100, FROM (2147483600) TO (MAXVALUE) 48; 0 misplaced', 'int: the one before it');
SELECT pg_temp.make('smallint', 'SELECT generate_series(-32768, 32767)');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '20000', replace_from => '32766', replace_to => '32767')$$),
	'12768: DEFAULT 52768, FROM (''20000'') TO (MAXVALUE) 12768; 0 misplaced', 'smallint: the last partition');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '20000', replace_from => '-32768', replace_to => '-32767')$$),
	'12768: DEFAULT 40000, FROM (''20000'') TO (MAXVALUE) 12768, FROM (''-32768'') TO (''-20000'') 12768; 0 misplaced', 'smallint: the first one');
SELECT pg_temp.make('bigint', 'SELECT 9223372036854775807 - g FROM generate_series(0, 20) AS g UNION ALL SELECT -9223372036854775807 + g - 1 FROM generate_series(0, 20) AS g');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '10', replace_from => '-9223372036854775808', replace_to => '9223372036854775807')$$),
	'42: DEFAULT 0, FROM (''9223372036854775780'') TO (''9223372036854775790'') 3, FROM (''9223372036854775790'') TO (''9223372036854775800'') 10, FROM (''9223372036854775800'') TO (MAXVALUE) 8, '
	'FROM (''-9223372036854775790'') TO (''-9223372036854775780'') 3, FROM (''-9223372036854775800'') TO (''-9223372036854775790'') 10, FROM (''-9223372036854775808'') TO (''-9223372036854775800'') 8; 0 misplaced',
	'bigint: all');

-- Bounds that are infinite, or next to it, and rows that are
CREATE FUNCTION pg_temp.infinite(type text, january text, february text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.make(type, $q$VALUES ('-infinity'), ('2024-01-01'), ('2024-01-02'), ('2024-02-01'), ('infinity'), (NULL)$q$);
	RETURN NEXT is(pg_temp.moved($q$drain('t', partition_interval => '1 month', replace_from => '-infinity', replace_to => '2024-02-01')$q$), format('2: DEFAULT 4, %s 2; 0 misplaced', january), type || ': from -infinity');
	RETURN NEXT is(pg_temp.moved($q$drain('t', partition_interval => '1 month', replace_from => '-infinity', replace_to => '4714-11-24 BC')$q$), format('0: DEFAULT 4, %s 2; 0 misplaced', january), type || ': before all keys');
	RETURN NEXT is(pg_temp.moved($q$drain('t', partition_interval => '1 month', replace_from => '2024-01-03', replace_to => 'infinity')$q$), format('1: DEFAULT 3, %s 2, %s 1; 0 misplaced', january, february), type || ': to infinity');
	RETURN NEXT is(pg_temp.moved($q$drain('t', partition_interval => '1 month', replace_from => '-infinity', replace_to => 'infinity')$q$), format('0: DEFAULT 3, %s 2, %s 1; 0 misplaced', january, february), type || ': nothing is left');
END
$$;
SELECT pg_temp.infinite('date', $$FROM ('2024-01-01') TO ('2024-02-01')$$, $$FROM ('2024-02-01') TO ('2024-03-01')$$);
SELECT pg_temp.infinite('timestamp', $$FROM ('2024-01-01 00:00:00') TO ('2024-02-01 00:00:00')$$, $$FROM ('2024-02-01 00:00:00') TO ('2024-03-01 00:00:00')$$);
SELECT pg_temp.infinite('timestamptz', $$FROM ('2024-01-01 00:00:00+00') TO ('2024-02-01 00:00:00+00')$$, $$FROM ('2024-02-01 00:00:00+00') TO ('2024-03-01 00:00:00+00')$$);
SELECT pg_temp.make('date', 'SELECT NULL');
CREATE TABLE t_a PARTITION OF t FOR VALUES FROM ('-infinity') TO ('2024-01-01');
INSERT INTO t VALUES ('-infinity', 1), ('2023-12-31', 2);
SELECT is((pg_temp.failure($$SELECT fast_copy_repartition('t', 'drop', partition_interval => '1 year')$$))[1:3],
	ARRAY['0A000', 'cannot move rows of table "t_a"', 'It has no lower or no upper bound, and new partitions have both.'], 'a partition from -infinity');
CREATE TABLE t_b PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('infinity');
SELECT is((pg_temp.failure($$SELECT fast_copy_repartition('t', 'drop', partition_interval => '1 month', replace_from => '2024-01-01', replace_to => 'infinity')$$))[1:2],
	ARRAY['54000', 'cannot create more than 3660 partitions'], 'a partition to infinity');
SELECT is(pg_temp.moved($$repartition('t', 'drop', partition_interval => '2000000 years', replace_from => '2024-01-01', replace_to => 'infinity')$$),
	'0: FROM (''-infinity'') TO (''2024-01-01'') 2, DEFAULT 1, FROM (''2024-01-01'') TO (''2000000-01-01'') 0, FROM (''2000000-01-01'') TO (''4000000-01-01'') 0, FROM (''4000000-01-01'') TO (''infinity'') 0; 0 misplaced', 'it is cut where partitions are wide');

-- As many partitions as are needed, those with rows and those without
SELECT pg_temp.make('int', 'SELECT generate_series(2000, 2099)');
CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (0) TO (1000);
INSERT INTO t VALUES (999, 1), (500, 1);
SET LOCAL fast_copy.max_partitions = 100;
SELECT is((pg_temp.failure($$SELECT fast_copy_repartition('t', 'drop', partition_interval => '1')$$))[1:3],
	ARRAY['54000', 'cannot create more than 100 partitions', 'The rows need 203 new partitions of table "t", from values 0 to 2099.'], 'too many');
RESET fast_copy.max_partitions;

-- A reader that waits for a leaf knows the partitions that there were before
SELECT is(fast_copy_drain('there', partition_interval => '100'), 100::bigint, 'a drain');
SELECT is((SELECT count(*) FROM pg_locks WHERE relation = 'there'::regclass AND mode = 'AccessExclusiveLock' AND pid = pg_backend_pid()), 1::bigint, '... locks the table before rows are elsewhere');

-- The default partition, of which a range is drained, is read twice: to move the rows, and to delete them
SELECT pg_temp.make('int', 'SELECT generate_series(0, 999)');
SELECT pg_stat_get_xact_numscans('t_d'::regclass) AS before \gset
SELECT is(fast_copy_drain('t', partition_interval => '100', replace_from => '0', replace_to => '100', workers => 0), 100::bigint, 'a range');
SELECT CASE WHEN current_setting('debug_assertions')::bool THEN skip('it is read again where assertions are checked') ELSE
	is(pg_stat_get_xact_numscans('t_d'::regclass) - :before, 2::bigint, '... for which all rows are read twice') END;

-- A foreign key that refers to the default partition alone would lose its rows
SELECT pg_temp.make('int', 'SELECT generate_series(0, 299)');
ALTER TABLE t ADD PRIMARY KEY (k);
CREATE TABLE of_table (k int REFERENCES t);
INSERT INTO of_table VALUES (5), (295);
SET CONSTRAINTS ALL IMMEDIATE;
CREATE TABLE of_leaf (k int REFERENCES t_d);
SELECT is((pg_temp.failure(format('SELECT fast_copy_drain(''t'', partition_interval => ''100''%s)', range)))[1:3],
	ARRAY['0A000', format('cannot move rows of table "%s"', tab), format('Rows of table "of_%s" refer to it by foreign key "of_%1$s_k_fkey".', CASE tab WHEN 't' THEN 'table' ELSE 'leaf' END)], 'a key of the leaf' || range)
FROM (VALUES ('', 't_d'), (', replace_from => ''0'', replace_to => ''100''', 't')) AS v (range, tab);
DROP TABLE of_leaf;
SELECT is(pg_temp.moved($$drain('t', partition_interval => '100')$$), '300: DEFAULT 0, FROM (0) TO (100) 100, FROM (100) TO (200) 100, FROM (200) TO (300) 100; 0 misplaced', 'a key of the table');
SELECT is((pg_temp.failure('DELETE FROM t WHERE k = 295'))[1], '23503', '... still refuses');
DROP TABLE of_table;

-- What goes with a partition that is dropped, and no new one has
CREATE FUNCTION pg_temp.dropped(what text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.make('int', 'SELECT 1000');
	CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (0) TO (100);
	INSERT INTO t VALUES (5, 5);
	EXECUTE what;
	RETURN pg_temp.failure($f$SELECT fast_copy_repartition('t', 'drop', partition_interval => '50')$f$);
END
$$;
CREATE TABLE referred (n int PRIMARY KEY);
INSERT INTO referred SELECT generate_series(1, 9);
SET LOCAL client_min_messages = error;
CREATE PUBLICATION fc_drained;
SET LOCAL client_min_messages = warning;
SELECT is((pg_temp.dropped(what))[1:2], ARRAY['2BP01', format('cannot drop partition "t_a" because of %s', why)], what)
FROM (VALUES ('ALTER TABLE t_a ADD CONSTRAINT own CHECK (n > 0)', 'constraint own on table public.t_a'),
	('ALTER TABLE t_a ADD CONSTRAINT own FOREIGN KEY (n) REFERENCES referred', 'constraint own on table public.t_a'),
	('CREATE INDEX own ON t_a (n)', 'index public.own'),
	('CREATE STATISTICS own ON k, n FROM t_a', 'statistics object public.own'),
	('CREATE SEQUENCE own OWNED BY t_a.n', 'sequence public.own'),
	('ALTER PUBLICATION fc_drained ADD TABLE t_a', 'publication of table public.t_a in publication fc_drained'),
	('CREATE POLICY own ON t_a', 'policy own on table public.t_a'),
	('CREATE RULE own AS ON UPDATE TO t_a DO ALSO NOTIFY own', 'rule own on table public.t_a'),
	('CREATE TRIGGER own BEFORE UPDATE ON t_a FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', 'trigger own on table public.t_a'),
	('ALTER TABLE t_a ENABLE ROW LEVEL SECURITY', 'its row security'),
	('ALTER TABLE t_a REPLICA IDENTITY FULL', 'its replica identity')) AS v (what, why);
SELECT ok((pg_temp.dropped('ALTER TABLE t_a ALTER n SET NOT NULL'))[2] ~ 'because of (NOT NULL of column n|constraint t_a_n_not_null on table public.t_a)$', 'NOT NULL');
SELECT is(pg_temp.dropped('CREATE INDEX ON t (n); ALTER TABLE t ADD CHECK (n > 0); ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES referred; ALTER TABLE t ALTER n SET NOT NULL'), NULL, 'what the table has, new partitions have, too');
SELECT is((pg_temp.dropped('CREATE VIEW own AS SELECT * FROM t_a'))[1], '2BP01', 'a view');
SELECT is(pg_temp.moved($$repartition('t', 'detach', partition_interval => '50')$$), '2: DEFAULT 0, FROM (0) TO (50) 1, FROM (1000) TO (1050) 1, FROM (50) TO (100) 0; 0 misplaced', 'detached, it stays');

-- New partitions would have as valid what their rows violate
SELECT pg_temp.make('int', 'SELECT generate_series(1, 9)');
ALTER TABLE t ADD CONSTRAINT "not yet" CHECK (n > 5) NOT VALID;
SELECT is((pg_temp.failure($$SELECT fast_copy_drain('t', partition_interval => '100')$$))[1:4], ARRAY['0A000', 'cannot move rows of table "t"', 'Constraint "not yet" is not valid, and would be in new partitions.', 'Run ALTER TABLE public.t VALIDATE CONSTRAINT "not yet".'], 'a constraint that is not valid');
DELETE FROM t WHERE n <= 5;
ALTER TABLE t VALIDATE CONSTRAINT "not yet";
SELECT is(pg_temp.moved($$drain('t', partition_interval => '100')$$), '4: DEFAULT 0, FROM (0) TO (100) 4; 0 misplaced', '... and is');

-- Row security, which applies to an owner if it is forced
CREATE ROLE fc_drained_owner;
GRANT CREATE ON SCHEMA public TO fc_drained_owner;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_temp TO fc_drained_owner;
SELECT pg_temp.make('int', 'SELECT generate_series(1, 9)');
ALTER TABLE t OWNER TO fc_drained_owner;
ALTER TABLE t_d OWNER TO fc_drained_owner;
ALTER TABLE t_d FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY;
SET LOCAL ROLE fc_drained_owner;
SELECT pg_temp.failure($$SELECT fast_copy_drain('t', partition_interval => '100', replace_from => '0', replace_to => '100')$$) AS failure \gset
RESET ROLE;
SELECT is((:'failure'::text[])[1:3], ARRAY['0A000', 'cannot move rows of table "t_d"', 'Its rows cannot be written anew: row security applies to the caller.'], 'row security');

-- Rows that come while others are moved, from this session's own code
CREATE TABLE armed (what text);
CREATE FUNCTION fc_drained_late() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM public.armed WHERE what = 'late';
	IF FOUND THEN
		INSERT INTO public.t VALUES (5, -1), (150, -1), (450, -1), (850, -1), (NULL, -1);
	END IF;
END
$$;
CREATE EVENT TRIGGER fc_drained_late ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION fc_drained_late();
SELECT pg_temp.make('int', 'SELECT generate_series(0, 299) UNION ALL SELECT generate_series(600, 899)');
INSERT INTO armed VALUES ('late');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '100', replace_from => '0', replace_to => '800')$$),
	'502: DEFAULT 103, FROM (0) TO (100) 101, FROM (100) TO (200) 101, FROM (200) TO (300) 100, FROM (600) TO (700) 100, FROM (700) TO (800) 100; 0 misplaced', 'rows that come meanwhile, of which some stay');
SELECT is((SELECT count(*) FROM t), 605::bigint, '... none is lost');
-- ... from a partition that has its columns in another order
SELECT pg_temp.make('int', 'SELECT generate_series(0, 299)');
DROP TABLE t_d;
CREATE TABLE t_d (gone text, n int, k int);
ALTER TABLE t_d DROP gone;
ALTER TABLE t ATTACH PARTITION t_d DEFAULT;
INSERT INTO t SELECT k, k + 1 FROM generate_series(0, 299) AS k;
INSERT INTO armed VALUES ('late');
SELECT is(pg_temp.moved($$drain('t', partition_interval => '100', replace_from => '0', replace_to => '300')$$), '302: DEFAULT 3, FROM (0) TO (100) 101, FROM (100) TO (200) 101, FROM (200) TO (300) 100; 0 misplaced', 'columns in another order');
SELECT set_eq('SELECT k, n FROM t WHERE k < 300', 'SELECT k, k + 1 FROM generate_series(0, 299) AS k UNION ALL VALUES (5, -1), (150, -1)', '... are what they were');

-- ... which also write to the new partitions: what is theirs is read
CREATE FUNCTION fc_drained_write() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	-- once it is filled
	IF to_regclass('public.t_p0') IS NOT NULL THEN
		INSERT INTO public.t_p0 SELECT 9999, 0 WHERE EXISTS (SELECT FROM public.t_p0) AND NOT EXISTS (SELECT FROM public.t_p0 WHERE k = 9999);
	END IF;
	RETURN 1;
END
$$;
CREATE FUNCTION fc_drained_index(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	RETURN CASE WHEN n < 0 THEN public.fc_drained_write() ELSE n END;
END
$$;
CREATE FUNCTION pg_temp.written(call text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM armed;
	PERFORM pg_temp.make('int', 'SELECT generate_series(0, 99)');
	CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (2000) TO (2100);
	CREATE INDEX ON t (fc_drained_index(n));
	INSERT INTO armed VALUES ('late');
	RETURN pg_temp.failure(format('SELECT fast_copy_%s', call));
END
$$;
SELECT is((pg_temp.written(call))[1:2], ARRAY['23514', 'partition constraint of relation "t_p0" is violated by some row'], 'an index''s code writes to a new partition: ' || call)
FROM (VALUES ($$drain('t', partition_interval => '1000')$$), ($$drain('t', partition_interval => '1000', replace_from => '0', replace_to => '1000')$$), ($$repartition('t', 'drop', partition_interval => '1000')$$)) AS v (call);
DROP EVENT TRIGGER fc_drained_late;
CREATE FUNCTION fc_drained_detached() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM public.armed WHERE what = 'detach' AND to_regclass('public.t_p0') IS NOT NULL;
	IF FOUND THEN
		INSERT INTO public.t_p0 VALUES (9999, 0);
	END IF;
	DELETE FROM public.armed WHERE what = 'old' AND to_regclass('public.t_p0') IS NOT NULL;
	IF FOUND THEN
		INSERT INTO public.t_a VALUES (2000, 0);
	END IF;
END
$$;
SELECT pg_temp.make('int', 'SELECT generate_series(0, 99)');
CREATE TABLE t_a PARTITION OF t FOR VALUES FROM (2000) TO (2100);
CREATE EVENT TRIGGER fc_drained_detached ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION fc_drained_detached();
INSERT INTO armed VALUES ('detach');
SELECT is((pg_temp.failure($$SELECT fast_copy_repartition('t', 'drop', partition_interval => '1000')$$))[1:2], ARRAY['23514', 'partition constraint of relation "t_p0" is violated by some row'], 'an event trigger writes to a new partition');
UPDATE armed SET what = 'old';
SELECT is((pg_temp.failure($$SELECT fast_copy_repartition('t', 'drop', partition_interval => '1000')$$))[1:2], ARRAY['55006', 'rows were inserted into a partition of table "t" while it was detached'], '... or to an old one');
DROP EVENT TRIGGER fc_drained_detached;

SELECT * FROM finish();
ROLLBACK;
