-- Columns, constraints and triggers: each table is loaded by COPY and by
-- fast_copy, and has the same rows, the same log of what its triggers saw, and
-- the same error afterwards, deferred constraints included.
--
-- Layouts: plain, new (fast_copy makes the partitions that COPY finds), day
-- (all exist), mixed (every other one exists).
--
-- Each statement is a transaction: in one for all of them the rows of dropped
-- tables would stay in the catalogs, and each table would take longer than the
-- one before.
--
-- psql variable: tmp_dir, an absolute path that the server may write to

SET client_min_messages = warning;
SET search_path = public, pg_catalog;
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
SET fast_copy.chunk_size = '40B';
SELECT set_config('fc.file', :'tmp_dir' || '/fc_columns.csv', false) \g /dev/null
SELECT * FROM no_plan();

SELECT format('COPY (SELECT n, timestamp ''2013-01-01'' + n * 7 %% 5 * interval ''1 day'' + n * interval ''1 minute'', '
	'CASE WHEN n %% 4 > 0 THEN ''v'' || n END FROM generate_series(1, 12) AS n) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec

-- the table, in a schema of its own, as one of the two finds it
CREATE FUNCTION pg_temp.make(layout text, columns text, setup text, own text, fast boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP SCHEMA IF EXISTS fc_columns CASCADE;
	CREATE SCHEMA fc_columns;
	PERFORM set_config('search_path', 'fc_columns, public', true);
	CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY, what text);
	EXECUTE format('CREATE TABLE t (%s)', columns) || CASE WHEN layout <> 'plain' THEN ' PARTITION BY RANGE (ts)' ELSE '' END;
	EXECUTE setup;
	FOR i IN 0 .. 4 LOOP
		CONTINUE WHEN layout = 'plain' OR fast AND layout = 'new' OR fast AND layout = 'mixed' AND i % 2 = 1;
		EXECUTE format('CREATE TABLE t_p2013010%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i + 1,
					   date '2013-01-01' + i, date '2013-01-02' + i);
	END LOOP;
	EXECUTE own;
END
$$;

-- loads, does what comes after it in the transaction, and tells all that came of it
CREATE FUNCTION pg_temp.outcome(load text, after text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	result jsonb;
	e_state text;
	e_message text;
	e_detail text;
BEGIN
	BEGIN
		EXECUTE load;
		INSERT INTO log (what) VALUES ('loaded');
		EXECUTE after;
		SET CONSTRAINTS ALL IMMEDIATE;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS e_state = RETURNED_SQLSTATE, e_message = MESSAGE_TEXT, e_detail = PG_EXCEPTION_DETAIL;
		result := jsonb_build_object('state', e_state, 'message', e_message, 'detail', e_detail);
	END;
	SET CONSTRAINTS ALL DEFERRED;
	RETURN coalesce(result, '{}') || jsonb_build_object(
		'rows', (SELECT jsonb_agg(r ORDER BY r->>'n', r::text) FROM (SELECT to_jsonb(t) || jsonb_build_object('in', tableoid::regclass::text) AS r FROM t) AS x),
		'log', (SELECT jsonb_agg(what ORDER BY id) FROM log));
END
$$;

-- one test per layout and number of workers
CREATE FUNCTION pg_temp.same(about text, layouts text, columns text, setup text DEFAULT '', own text DEFAULT '',
							 target text DEFAULT 't', list text DEFAULT 'n, ts, v', expect text DEFAULT NULL, after text DEFAULT '')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	layout text;
	workers int;
	e jsonb;
	f jsonb;
BEGIN
	FOREACH layout IN ARRAY string_to_array(layouts, ' ') LOOP
		PERFORM pg_temp.make(layout, columns, setup, own, false);
		e := pg_temp.outcome(format('COPY %s (%s) FROM %L (FORMAT csv)', target, list, current_setting('fc.file')), after);
		RETURN NEXT is(e->>'state', expect, format('%s, %s: COPY itself', about, layout));
		FOREACH workers IN ARRAY '{0,2}'::int[] LOOP
			PERFORM pg_temp.make(layout, columns, setup, own, true);
			f := pg_temp.outcome(format('SELECT fast_copy(%L, %L, columns => %L, workers => %s)',
										target, current_setting('fc.file'), '{' || list || '}', workers), after);
			RETURN NEXT is(f, e, format('%s, %s, %s workers', about, layout, workers));
		END LOOP;
	END LOOP;
	SET search_path = public, pg_catalog;
	DROP SCHEMA fc_columns CASCADE;
END
$$;

CREATE FUNCTION public.fc_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log (what) VALUES (format('%s %s %s on %s: %s', TG_NAME, TG_WHEN, TG_LEVEL, TG_TABLE_NAME, new));
	IF TG_WHEN = 'BEFORE' AND TG_LEVEL = 'ROW' THEN
		IF new.n % 5 = 0 THEN
			RETURN NULL;
		END IF;
		new.v := upper(new.v);
	END IF;
	RETURN new;
END
$$;
CREATE FUNCTION public.fc_log_table() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log (what) SELECT format('%s on %s: %s', TG_NAME, TG_TABLE_NAME, added) FROM added ORDER BY n;
	RETURN NULL;
END
$$;
CREATE FUNCTION public.fc_short(text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT length($1) < 3';
CREATE FUNCTION public.fc_small(int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1 < 11; END';
CREATE DOMAIN public.fc_below AS int CHECK (value < 10);

-- defaults
SELECT pg_temp.same('defaults', 'plain new day mixed',
	$$n int, ts timestamp, v text, a text DEFAULT 'parent', b timestamptz DEFAULT now(), c timestamp DEFAULT statement_timestamp(), d int DEFAULT length('four')$$);
SELECT pg_temp.same('a default of a partition', 'day mixed', $$n int, ts timestamp, v text, a text DEFAULT 'parent', b int DEFAULT 7$$, '',
	$$ALTER TABLE t_p20130101 ALTER a SET DEFAULT 'partition', ALTER b DROP DEFAULT; ALTER TABLE t_p20130103 ALTER b SET DEFAULT 8$$);
SELECT pg_temp.same('a default that fails', 'plain new day', 'n int, ts timestamp, v text, a int DEFAULT 1 / length(current_setting(''fc.none'', true) || '''')',
	expect => NULL);

-- generated columns
SELECT pg_temp.same('generated', 'plain new day mixed',
	$$g int GENERATED ALWAYS AS (n * d) STORED, n int, ts timestamp, h text GENERATED ALWAYS AS (coalesce(v, w) || n) STORED, v text, d int DEFAULT 3, w text DEFAULT 'none'$$);
SELECT pg_temp.same('generated, other order in a partition', 'day mixed',
	'n int, ts timestamp, v text, g int GENERATED ALWAYS AS (n * 2) STORED, d int DEFAULT 5, h int GENERATED ALWAYS AS (d + n) STORED', '',
	$$DROP TABLE t_p20130103; CREATE TABLE t_p20130103 (x int, h int GENERATED ALWAYS AS (d + n) STORED, d int, v text, y text, g int GENERATED ALWAYS AS (n * 2) STORED, ts timestamp, n int);
	ALTER TABLE t_p20130103 DROP x, DROP y; ALTER TABLE t ATTACH PARTITION t_p20130103 FOR VALUES FROM ('2013-01-03') TO ('2013-01-04')$$);
SELECT pg_temp.same('dropped columns', 'plain new day mixed', 'x int, n int, ts timestamp, y text NOT NULL, v text, z int DEFAULT 1',
	'ALTER TABLE t DROP x, DROP y');
SELECT pg_temp.same('generated, divided by zero', 'plain new day', 'n int, ts timestamp, v text, g int GENERATED ALWAYS AS (1 / (n - 8)) STORED', expect => '22012');

-- constraints
SELECT pg_temp.same('check', 'plain new day mixed', 'n int CHECK (fc_small(n)), ts timestamp, v text', expect => '23514');
SELECT pg_temp.same('parallel check', 'plain new day mixed', 'n int, ts timestamp, v text CHECK (fc_short(v))', expect => '23514');
SELECT pg_temp.same('check of one partition', 'day mixed', 'n int, ts timestamp, v text', '', 'ALTER TABLE t_p20130103 ADD CHECK (n < 8)', expect => '23514');
SELECT pg_temp.same('check of a whole row', 'plain', 'n int, ts timestamp, v text, CONSTRAINT c CHECK (t IS NOT NULL OR n < 8)', expect => '23514');
SELECT pg_temp.same('not null', 'plain new day mixed', 'n int, ts timestamp, v text NOT NULL', expect => '23502');
SELECT pg_temp.same('not null of a column the file has not', 'plain new day', 'n int, ts timestamp, v text, w int NOT NULL', expect => '23502');
SELECT pg_temp.same('domain', 'plain new day mixed', 'n fc_below, ts timestamp, v text', expect => '23514');
SELECT pg_temp.same('domain default', 'plain new day', 'n int, ts timestamp, v text, d fc_below DEFAULT 12', expect => '23514');
SELECT pg_temp.same('primary key', 'plain new day mixed', 'n int, ts timestamp, v text, PRIMARY KEY (n, ts)');
SELECT pg_temp.same('unique', 'plain day', 'n int, ts timestamp, v text, d int DEFAULT 4, UNIQUE (d, ts)', 'ALTER TABLE t DROP CONSTRAINT t_d_ts_key; CREATE UNIQUE INDEX ON t (d, ts)');
SELECT pg_temp.same('unique violated', 'plain', 'n int, ts timestamp, v text, d int DEFAULT 4 UNIQUE', expect => '23505');
SELECT pg_temp.same('unique violated in a partition', 'day mixed', 'n int, ts timestamp, v text, d int DEFAULT 4', '', 'CREATE UNIQUE INDEX ON t_p20130103 (d)', expect => '23505');
SELECT pg_temp.same('exclusion', 'plain', 'n int, ts timestamp, v text, r int4range GENERATED ALWAYS AS (int4range(n, n + 1)) STORED, EXCLUDE USING gist (r WITH &&)');
SELECT pg_temp.same('exclusion violated', 'plain', 'n int, ts timestamp, v text, r int4range GENERATED ALWAYS AS (int4range(n, n + 2)) STORED, EXCLUDE USING gist (r WITH &&)', expect => '23P01');
SELECT pg_temp.same('exclusion in a partition', 'day mixed', 'n int, ts timestamp, v text, r int4range GENERATED ALWAYS AS (int4range(n, n + 9)) STORED', '',
	'ALTER TABLE t_p20130103 ADD CONSTRAINT x EXCLUDE USING gist (r WITH &&)', expect => '23P01');

-- constraints that wait for commit
SELECT pg_temp.same('deferred unique', 'plain new day mixed', 'n int, ts timestamp, v text, UNIQUE (n, ts) DEFERRABLE INITIALLY DEFERRED');
SELECT pg_temp.same('deferred unique violated', 'plain', 'n int, ts timestamp, v text, d int DEFAULT 4 UNIQUE DEFERRABLE INITIALLY DEFERRED', expect => '23505');
SELECT pg_temp.same('deferred unique of a partition violated', 'new day mixed', 'n int, ts date, v text, UNIQUE (ts) DEFERRABLE INITIALLY DEFERRED', expect => '23505');
SELECT pg_temp.same('deferred primary key mended in time', 'plain new day mixed', 'n int, ts date, v text, m int DEFAULT 1, UNIQUE (m, ts) DEFERRABLE INITIALLY DEFERRED',
	after => 'UPDATE t SET m = n');
SELECT pg_temp.same('deferred unique violated in partitions', 'new day mixed', $$n int, ts timestamp, v text, UNIQUE (v, ts) DEFERRABLE INITIALLY DEFERRED$$,
	$$CREATE FUNCTION same_time() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.ts := date_trunc(''day'', new.ts); new.v := ''v''; RETURN new; END'; CREATE TRIGGER same_time BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION same_time()$$,
	expect => '23505');
SELECT pg_temp.same('deferrable unique', 'plain new day mixed', $$n int, ts timestamp, v text, d int DEFAULT 4, UNIQUE (d, ts) DEFERRABLE$$);
SELECT pg_temp.same('deferred exclusion violated', 'plain', 'n int, ts timestamp, v text, r int4range GENERATED ALWAYS AS (int4range(n, n + 2)) STORED, EXCLUDE USING gist (r WITH &&) DEFERRABLE INITIALLY DEFERRED', expect => '23P01');

-- foreign keys
SELECT pg_temp.same('foreign key', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE TABLE r (n int PRIMARY KEY); INSERT INTO r SELECT generate_series(1, 12); ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES r');
SELECT pg_temp.same('a key that is not there', 'plain day mixed', 'n int, ts timestamp, v text', 'CREATE TABLE r (n int PRIMARY KEY); INSERT INTO r SELECT n FROM generate_series(1, 12) AS n WHERE n <> 8; ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES r', expect => '23503');
-- of several the first one in the order of loading is named, which is the file's
SELECT pg_temp.same('foreign key violated', 'plain', 'n int, ts timestamp, v text', 'CREATE TABLE r (n int PRIMARY KEY); INSERT INTO r SELECT generate_series(1, 6); ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES r', expect => '23503');
SELECT pg_temp.same('deferred foreign key violated', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE TABLE r (n int PRIMARY KEY); INSERT INTO r SELECT generate_series(1, 6); ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES r DEFERRABLE INITIALLY DEFERRED', expect => '23503');
SELECT pg_temp.same('foreign key to itself', 'plain new day mixed', 'n int, ts timestamp, v text, up int DEFAULT 12, UNIQUE (n, ts), upts timestamp DEFAULT ''2013-01-05 00:12'', FOREIGN KEY (up, upts) REFERENCES t (n, ts)');
SELECT pg_temp.same('foreign key from another table', 'plain new day mixed', 'n int, ts timestamp, v text, PRIMARY KEY (n, ts)', 'CREATE TABLE r (n int, ts timestamp, FOREIGN KEY (n, ts) REFERENCES t)');

-- triggers
SELECT pg_temp.same(format('%s %s trigger', timing, level), 'plain new day mixed', 'n int, ts timestamp, v text, d int DEFAULT 2',
	format('CREATE TRIGGER a %s INSERT ON t FOR EACH %s EXECUTE FUNCTION fc_log()', timing, level))
FROM unnest('{BEFORE,AFTER}'::text[]) AS timing, unnest('{ROW,STATEMENT}'::text[]) AS level;
SELECT pg_temp.same('several triggers', 'plain new day mixed', 'n int, ts timestamp, v text',
	'CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW WHEN (new.n > 3) EXECUTE FUNCTION fc_log();
	CREATE TRIGGER d AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); CREATE TRIGGER c AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log();
	CREATE TRIGGER f BEFORE INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION fc_log(); CREATE TRIGGER e AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION fc_log()');
SELECT pg_temp.same('transition table', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE TRIGGER a AFTER INSERT ON t REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fc_log_table()');
SELECT pg_temp.same('constraint trigger', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE CONSTRAINT TRIGGER a AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log()');
SELECT pg_temp.same('deferred constraint trigger', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE CONSTRAINT TRIGGER a AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fc_log()');
SELECT pg_temp.same('trigger of a partition', 'day mixed', 'n int, ts timestamp, v text', '', 'CREATE TRIGGER a BEFORE INSERT ON t_p20130103 FOR EACH ROW EXECUTE FUNCTION fc_log();
	CREATE TRIGGER b AFTER INSERT ON t_p20130103 FOR EACH ROW EXECUTE FUNCTION fc_log(); CREATE TRIGGER c AFTER INSERT ON t_p20130103 FOR EACH STATEMENT EXECUTE FUNCTION fc_log();
	CREATE TRIGGER d AFTER INSERT ON t_p20130101 REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fc_log_table()');
SELECT pg_temp.same('trigger disabled', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); ALTER TABLE t DISABLE TRIGGER a');
SELECT pg_temp.same('trigger disabled in a partition', 'day mixed', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log()', 'ALTER TABLE t_p20130103 DISABLE TRIGGER a');
SELECT pg_temp.same('trigger enabled in a partition', 'day mixed', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); ALTER TABLE t DISABLE TRIGGER a', 'ALTER TABLE t_p20130103 ENABLE TRIGGER a');
SELECT pg_temp.same('trigger of replicas', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); ALTER TABLE t ENABLE REPLICA TRIGGER a');
SELECT pg_temp.same('trigger fired always', 'plain new day', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); ALTER TABLE t ENABLE ALWAYS TRIGGER a');
SELECT pg_temp.same('other triggers', 'plain new day', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); CREATE TRIGGER b AFTER DELETE ON t FOR EACH STATEMENT EXECUTE FUNCTION fc_log()');
SELECT pg_temp.same('trigger and serial', 'plain new day mixed', 'n int, ts timestamp, v text, id serial', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log()');
SELECT pg_temp.same('trigger of a partition and serial', 'day mixed', 'n int, ts timestamp, v text, id serial', '', 'CREATE TRIGGER a BEFORE INSERT ON t_p20130103 FOR EACH ROW EXECUTE FUNCTION fc_log()');
SELECT pg_temp.same('view', 'plain', 'n int, ts timestamp, v text', 'CREATE VIEW w AS SELECT * FROM t; CREATE FUNCTION put() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN INSERT INTO t VALUES (new.n, new.ts, new.v); RETURN new; END''; CREATE TRIGGER put INSTEAD OF INSERT ON w FOR EACH ROW EXECUTE FUNCTION put(); CREATE TRIGGER s AFTER INSERT ON w FOR EACH STATEMENT EXECUTE FUNCTION fc_log()', target => 'w');
SET session_replication_role = replica;
SELECT pg_temp.same('as a replica', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); CREATE TRIGGER b AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION fc_log(); ALTER TABLE t ENABLE REPLICA TRIGGER b;
	CREATE TABLE r (n int PRIMARY KEY); ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES r');
RESET session_replication_role;

-- rules
SELECT pg_temp.same('rule', 'plain new day mixed', 'n int, ts timestamp, v text', 'CREATE RULE a AS ON INSERT TO t DO INSTEAD NOTHING; CREATE RULE b AS ON INSERT TO t DO ALSO INSERT INTO log (what) VALUES (''rule'')');

SELECT * FROM finish();
DROP FUNCTION fc_log, fc_log_table, fc_short, fc_small;
DROP DOMAIN fc_below;
