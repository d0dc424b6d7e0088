-- The tables that a load writes beside its target, the ledger, reject_table and
-- that of fast_copy.history, and code of the load that drops, empties or changes
-- them: core refuses that, as it does for a table that COPY loads, or the rows
-- are where the table has gone to.

\set name own_tables
\ir begin.psql
SELECT no_plan();

SELECT pg_temp.write(ARRAY['1,2024-01-01,a', '2,2024-01-02,b', 'x,2024-01-02,c', '4,2024-01-03,d']) \g /dev/null
CREATE SCHEMA kept;
CREATE TABLE kept.other (n int);

-- What code of the load runs once, where it is called for the second row
CREATE FUNCTION pg_temp.code(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF n = 2 AND current_setting('fc.command') <> '' THEN
		DECLARE
			command text := current_setting('fc.command');
		BEGIN
			PERFORM set_config('fc.command', '', true);
			EXECUTE command;
		END;
	END IF;
	RETURN n;
END
$$;
CREATE FUNCTION pg_temp.code_check(n int) RETURNS bool LANGUAGE sql AS 'SELECT pg_temp.code(n) IS NOT NULL';
CREATE FUNCTION pg_temp.code_index(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN pg_temp.code(n); END';
CREATE FUNCTION pg_temp.code_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_temp.code(NEW.n); RETURN NEW; END';

-- A load whose code of this kind runs the command; returns how it failed, or
-- where the rows are that it has written beside those of the target
CREATE FUNCTION pg_temp.beside(kind text, command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	failed text[];
	options jsonb := '{"ledger": "kept.led", "reject_table": "kept.rej", "on_error": "ignore", "log_verbosity": "silent"}';
	found text;
BEGIN
	CREATE TABLE t (n int, ts date, v text) PARTITION BY RANGE (ts);
	PERFORM fast_copy_create_ledger_table('kept.led'), fast_copy_create_reject_table('kept.rej'), fast_copy_create_history_table('kept.his');
	PERFORM set_config('fast_copy.history', 'kept.his', true), set_config('fc.command', command, true);
	IF kind = 'check' THEN
		ALTER TABLE t ADD CHECK (pg_temp.code_check(n));
	ELSIF kind = 'index' THEN
		CREATE INDEX ON t (pg_temp.code_index(n));
	ELSIF kind = 'trigger' THEN
		CREATE TRIGGER code BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.code_trigger();
		CREATE TABLE t_all PARTITION OF t DEFAULT;
	ELSIF kind = 'where' THEN
		options := options || '{"where_clause": "pg_temp.code(n) > 0"}';
	END IF;
	PERFORM fast_copy('t', current_setting('fc.file'), options => options);
	found := format('%s of ', (SELECT count(*) FROM t));
	SELECT found || string_agg((xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %s', c.oid::regclass), false, true, '')))[1]::text, ' ' ORDER BY c.oid) INTO found
		FROM pg_class c JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.description ~ 'fast_copy' WHERE c.relkind = 'r';
	RAISE EXCEPTION USING ERRCODE = 'FC000', MESSAGE = found;
EXCEPTION WHEN OTHERS THEN
	RETURN concat_ws(' ', nullif(SQLSTATE, 'FC000'), regexp_replace(SQLERRM, 'OID \d+', 'OID n'));
END
$$;
SELECT is(pg_temp.beside(kind, ''), '3 of 1 1 1', kind || ': without a command') FROM unnest('{check,index,trigger,where}'::text[]) AS kind;

-- what core refuses
SELECT is(pg_temp.beside(kind, format(command, tab)),
	format('55006 cannot %s "%s" because it is being used by active queries in this session', says, tab), format('%s: %s of %s', kind, command, tab))
FROM unnest('{check,index,trigger,where}'::text[]) AS kind, unnest('{led,rej,his}'::text[]) AS tab, (VALUES
	('DROP TABLE kept.%s', 'DROP TABLE'), ('TRUNCATE kept.%s', 'TRUNCATE'), ('ALTER TABLE kept.%s ADD more int', 'ALTER TABLE'),
	('ALTER TABLE kept.%s ENABLE ROW LEVEL SECURITY', 'ALTER TABLE'), ('ALTER TABLE kept.%s SET UNLOGGED', 'ALTER TABLE')) AS c (command, says);
SELECT matches(pg_temp.beside(kind, 'DROP SCHEMA kept CASCADE'), '^55006 cannot DROP TABLE "(led|rej|his)" because it is being used', kind || ': the schema of all')
FROM unnest('{check,index,trigger,where}'::text[]) AS kind;

-- what core lets be done: the rows go where the table is now
SELECT is(pg_temp.beside(kind, format(command, tab)), '3 of 1 1 1', format('%s: %s of %s', kind, command, tab))
FROM unnest('{check,index,trigger,where}'::text[]) AS kind, unnest('{led,rej,his}'::text[]) AS tab,
	unnest('{ALTER TABLE kept.%s RENAME TO away,ALTER TABLE kept.%s SET SCHEMA public,ALTER SCHEMA kept RENAME TO away}'::text[]) AS command;
SELECT is(pg_temp.beside('check', format('ALTER TABLE kept.%s RENAME TO away; CREATE TABLE kept.%1$s (LIKE kept.away INCLUDING ALL)', tab)), '3 of 1 1 1', tab || ': another table has its name')
FROM unnest('{led,rej,his}'::text[]) AS tab;

-- what would run code for our rows, or refuse them, is found where they are written
SELECT is(pg_temp.beside('check', format(command, tab)), format('55000 table "%s" cannot be used as %s', tab, role), command)
FROM (VALUES ('led', 'ledger'), ('his', 'fast_copy.history')) AS o (tab, role), (VALUES
	('CREATE TRIGGER more BEFORE INSERT OR UPDATE ON kept.%s FOR EACH ROW EXECUTE FUNCTION pg_temp.same()'),
	('CREATE RULE more AS ON INSERT TO kept.%s DO INSTEAD NOTHING')) AS c (command);
SELECT is(pg_temp.beside('check', format('ALTER TABLE kept.%s RENAME %s TO away', tab, col)), format('42703 column "%s" of %s "%s" does not exist', col, role, tab), tab || ': a column')
FROM (VALUES ('led', 'ledger', 'rows'), ('his', 'fast_copy.history', 'rows')) AS o (tab, role, col);
SELECT is(pg_temp.beside('check', 'ALTER TABLE kept.rej RENAME lineno TO away'), '42703 column "lineno" of relation "rej" does not exist', 'a column of the rejects');
SELECT is(pg_temp.beside('check', 'DELETE FROM kept.led'), format('55000 the row of "%s" in ledger "led" is gone', :'file'), 'its row');

-- the reject table may have triggers: what they do to it
SELECT fast_copy_create_reject_table('kept.rej') \g /dev/null
CREATE TABLE taken (LIKE kept.rej);
CREATE TABLE plain (n int, ts date, v text);
SELECT pg_temp.write(ARRAY['x,2024-01-01,a', 'y,2024-01-02,b', 'z,2024-01-02,c']) \g /dev/null
CREATE FUNCTION pg_temp.on_reject() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE current_setting('fc.command'); RETURN NEW; END$$;
CREATE TRIGGER once AFTER INSERT ON kept.rej FOR EACH ROW WHEN (NEW.lineno = 1) EXECUTE FUNCTION pg_temp.on_reject();
SELECT set_config('fc.command', 'DROP TABLE kept.rej', true) \g /dev/null
SELECT throws_ok(format($$SELECT fast_copy('plain', %L, on_error => 'ignore', reject_table => 'kept.rej', options => '{"log_verbosity": "silent"}')$$, :'file'), '55006', NULL, 'its trigger drops it');
SELECT set_config('fc.command', 'ALTER TABLE kept.rej RENAME TO first; ALTER TABLE public.taken SET SCHEMA kept; ALTER TABLE kept.taken RENAME TO rej', true) \g /dev/null
SELECT is(fast_copy('plain', :'file', on_error => 'ignore', reject_table => 'kept.rej', options => '{"log_verbosity": "silent"}'), 0::bigint, 'its trigger gives its name to another');
SELECT results_eq('SELECT (SELECT count(*) FROM kept.first), (SELECT count(*) FROM kept.rej)', 'VALUES (3::bigint, 0::bigint)', 'all rows are in the table that was named');

-- tables that are gone when they are named
SELECT throws_ok(format($$SELECT fast_copy_sniff(%L, reject_table => 4294967295::oid::regclass, on_error => 'ignore')$$, :'file'), '42P01', 'relation with OID 4294967295 does not exist');
SELECT throws_ok(format($$SELECT fast_copy('plain', %L, reject_table => 4294967295::oid::regclass, on_error => 'ignore')$$, :'file'), '42P01', 'relation with OID 4294967295 does not exist');

SELECT throws_ok(format($$SELECT %s('plain', %L, options => '{"ledger": "4294967295"}')$$, f, :'file'), '42P01', NULL, f) FROM unnest('{fast_copy,fast_copy_analyze}'::text[]) AS f;

SELECT * FROM finish();
ROLLBACK;
