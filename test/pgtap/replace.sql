-- existing_rows "replace": the table that a DELETE and a COPY leave, whatever way
-- the old rows go.

\set name replace
\ir begin.psql
CREATE EXTENSION amcheck;
SELECT plan(347);

-- Ten days; the file has rows of the third and the fourth, and of one after all
CREATE TABLE olds AS
SELECT timestamp '2024-01-01' + g * 37 % 14400 * interval '1 min' AS k, g AS n, 'row ' || g AS t FROM generate_series(1, 3000) AS g;
CREATE TABLE news AS
SELECT timestamp '2024-01-03' + CASE WHEN g % 100 = 0 THEN 20000 ELSE g * 31 % 2880 END * interval '1 min' AS k, 100000 + g AS n, repeat('new ', g % 40) AS t
FROM generate_series(1, 900) AS g;
SELECT pg_temp.file('TABLE news ORDER BY n') \g /dev/null

-- Makes a table by a command with %1$s for its name, with partitions of days
CREATE FUNCTION pg_temp.make(name text, ddl text, parted bool DEFAULT true, empty bool DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
	EXECUTE format(ddl, name);
	FOR i IN 0 .. CASE WHEN parted THEN 9 ELSE -1 END LOOP
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', name || '_' || i, name,
			timestamp '2024-01-01' + i * interval '1 day', timestamp '2024-01-02' + i * interval '1 day');
	END LOOP;
	EXECUTE CASE WHEN empty THEN 'SELECT' ELSE format('INSERT INTO %I (k, n, t) SELECT * FROM olds%s', name, CASE WHEN ddl ~ '<> 3' THEN ' WHERE n % 7 <> 3' ELSE '' END) END;
END
$$;

-- All that is not storage, of the table and of what is below it
CREATE FUNCTION pg_temp.catalog(name text) RETURNS SETOF text LANGUAGE sql AS $$
	WITH rels AS (
		SELECT c.* FROM pg_class AS c WHERE c.relname ~ ('^' || name || '(_\d)?$') UNION
		SELECT c.* FROM pg_class AS c JOIN pg_index ON indexrelid = c.oid WHERE indrelid IN (SELECT oid FROM pg_class WHERE relname ~ ('^' || name || '(_\d)?$')))
	SELECT concat_ws(' ', rels.oid, relname, relnamespace::regnamespace, reltype, relowner, relam, reltablespace, reltoastrelid <> 0, relhasindex, relpersistence, relkind,
		relnatts, relchecks, relhasrules, relhastriggers, relhassubclass, relrowsecurity, relreplident, relispartition, relacl, reloptions, pg_get_expr(relpartbound, rels.oid),
		obj_description(rels.oid, 'pg_class')) FROM rels UNION ALL
	SELECT concat_ws(' ', 'index', i.indexrelid, i.indrelid, i.indisvalid, i.indisready, i.indisunique, i.indisprimary, i.indisclustered, i.indisreplident, pg_get_indexdef(i.indexrelid))
		FROM pg_index AS i JOIN rels ON rels.oid = indrelid UNION ALL
	SELECT concat_ws(' ', 'constraint', c.oid, conrelid, conname, conindid, conparentid, pg_get_constraintdef(c.oid)) FROM pg_constraint AS c JOIN rels ON rels.oid = conrelid UNION ALL
	SELECT concat_ws(' ', 'column', attrelid, attnum, attname, attstorage, attnotnull, attidentity, attgenerated, atthasdef) FROM pg_attribute JOIN rels ON rels.oid = attrelid UNION ALL
	SELECT concat_ws(' ', 'statistics', starelid, staattnum, stadistinct) FROM pg_statistic JOIN rels ON rels.oid = starelid UNION ALL
	SELECT concat_ws(' ', 'trigger', t.oid, tgrelid, tgname, tgenabled) FROM pg_trigger AS t JOIN rels ON rels.oid = tgrelid UNION ALL
	SELECT concat_ws(' ', 'dependency', objid, objsubid, classid, refobjid, refobjsubid, deptype) FROM pg_depend JOIN rels ON rels.oid = refobjid
		WHERE classid <> 'pg_class'::regclass OR objid NOT IN (SELECT reltoastrelid FROM pg_class) UNION ALL
	SELECT concat_ws(' ', 'toast', c.relname, t.relname = 'pg_toast_' || c.oid, d.deptype, i.relname = 'pg_toast_' || c.oid || '_index', t.reloptions) FROM rels AS c
		JOIN pg_class AS t ON t.oid = c.reltoastrelid JOIN pg_depend AS d ON d.objid = t.oid AND d.refobjid = c.oid
		JOIN pg_index ON indrelid = t.oid JOIN pg_class AS i ON i.oid = indexrelid
	ORDER BY 1
$$;

-- What a load says of the rows that it replaced
CREATE FUNCTION pg_temp.how() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(choice, '; ') FROM fast_copy_report() WHERE phase = 'replace'
$$;

-- Rows that one table has and the other has not, with their partitions
CREATE FUNCTION pg_temp.differ() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	got text := $q$SELECT k, n, t, regexp_replace(tableoid::regclass::text, '^got', '') AS part FROM got$q$;
	wanted text := replace(got, 'got', 'wanted');
BEGIN
	EXECUTE format('SELECT count(*) FROM ((%1$s EXCEPT ALL %2$s) UNION ALL (%2$s EXCEPT ALL %1$s)) AS s', got, wanted) INTO n;
	RETURN n;
END
$$;

-- Replaces, and compares with DELETE and COPY.  Six tests for each number of
-- workers.
CREATE FUNCTION pg_temp.check_replace(about text, ddl text, how text, options jsonb DEFAULT '{}', deletes text DEFAULT NULL, parted bool DEFAULT true,
	before text DEFAULT 'SELECT', workers int[] DEFAULT '{0,2}', empty bool DEFAULT false) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	catalog text[];
	r record;
	n bigint;
	w int;
BEGIN
	FOREACH w IN ARRAY workers LOOP
		PERFORM pg_temp.make('wanted', ddl, parted, empty);
		PERFORM pg_temp.make('got', ddl, parted, empty);
		IF parted THEN
			CREATE TABLE wanted_new PARTITION OF wanted FOR VALUES FROM ('2024-01-16') TO ('2024-01-17');
			CREATE TABLE got_new PARTITION OF got FOR VALUES FROM ('2024-01-16') TO ('2024-01-17');
		END IF;
		EXECUTE format(before, 'wanted');
		EXECUTE format(before, 'got');
		ANALYZE got;
		EXECUTE coalesce(deletes, CASE WHEN parted THEN 'DELETE FROM wanted WHERE date_trunc(''day'', k) IN (SELECT date_trunc(''day'', k) FROM news)' ELSE 'DELETE FROM wanted' END);
		EXECUTE format('COPY wanted (k, n, t) FROM %L (FORMAT csv)', current_setting('fc.file'));
		catalog := ARRAY(SELECT pg_temp.catalog('got'));
		RETURN NEXT is(fast_copy('got', current_setting('fc.file'), columns => '{k,n,t}', workers => w, options => '{"existing_rows": "replace"}' || options),
			900::bigint, format('%s, %s workers: rows of the file', about, w));
		RETURN NEXT is(pg_temp.differ(), 0::bigint, format('%s, %s workers: as DELETE and COPY', about, w));
		RETURN NEXT ok(pg_temp.how() ~ how, format('%s, %s workers: %s', about, w, pg_temp.how()));
		RETURN NEXT is(ARRAY(SELECT pg_temp.catalog('got')), catalog, format('%s, %s workers: nothing but storage has changed', about, w));
		n := 0;
		FOR r IN SELECT c.oid, relkind FROM pg_class AS c JOIN pg_am AS a ON a.oid = relam WHERE (relkind = 'r' AND relname ~ '^got') OR
			(amname = 'btree' AND relkind = 'i' AND c.oid IN (SELECT indexrelid FROM pg_index JOIN pg_class AS t ON t.oid = indrelid WHERE t.relname ~ '^got')) LOOP
			IF r.relkind = 'i' THEN
				PERFORM bt_index_check(r.oid, true);
			ELSE
				n := n + (SELECT count(*) FROM verify_heapam(r.oid));
			END IF;
		END LOOP;
		RETURN NEXT is(n, 0::bigint, format('%s, %s workers: heaps and indexes are sound', about, w));
		RETURN NEXT is(pg_temp.left_behind() +
			(SELECT count(*) FROM pg_class AS t WHERE relkind = 't' AND relnamespace = 'pg_toast'::regnamespace AND NOT EXISTS (SELECT FROM pg_class WHERE reltoastrelid = t.oid)),
			0::bigint, format('%s, %s workers: nothing is left behind', about, w));
	END LOOP;
END
$$;

CREATE FUNCTION pg_temp.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';

-- Partitions and tables that are exchanged
SELECT pg_temp.check_replace('partitions', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^2 tables exchanged');
SELECT pg_temp.check_replace('indexes', 'CREATE TABLE %1$s (k timestamp, n int, t text COLLATE "C", PRIMARY KEY (k, n)) PARTITION BY RANGE (k);
	CREATE INDEX ON %1$s (n DESC) INCLUDE (t); CREATE INDEX ON %1$s (lower(t)) WHERE n %% 2 = 0; CREATE INDEX ON %1$s USING hash (n); CREATE INDEX ON %1$s USING brin (k);
	CREATE UNIQUE INDEX ON %1$s (k, n, t)', '^2 tables exchanged');
SELECT pg_temp.check_replace('columns', 'CREATE TABLE %1$s (gone text, k timestamp, x int DEFAULT 7, n int CHECK (n > 0), gone2 int, t text NOT NULL, g int GENERATED ALWAYS AS (n * 2) STORED, i int GENERATED BY DEFAULT AS IDENTITY)
	PARTITION BY RANGE (k); ALTER TABLE %1$s DROP gone; ALTER TABLE %1$s DROP gone2; ALTER TABLE %1$s ADD late text DEFAULT ''late''; CREATE INDEX ON %1$s (g)', '^2 tables exchanged');
SELECT pg_temp.check_replace('what is not storage', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^2 tables exchanged', before =>
	'ALTER TABLE %1$s_2 SET (fillfactor = 70, toast.autovacuum_enabled = off); GRANT SELECT ON %1$s_2 TO PUBLIC; COMMENT ON TABLE %1$s_2 IS ''a day''; CREATE INDEX %1$s_own ON %1$s_2 (t);
	ALTER TABLE %1$s_2 CLUSTER ON %1$s_own; CREATE VIEW %1$s_view AS SELECT * FROM %1$s_2; ALTER TABLE %1$s_2 ADD CHECK (n < 1000000), ALTER n SET DEFAULT 5, ALTER t SET STORAGE EXTERNAL;
	CREATE STATISTICS %1$s_stat ON k, n FROM %1$s_2');
SELECT pg_temp.check_replace('plain table', 'CREATE TABLE %1$s (k timestamp CHECK (k > ''2000-01-01''), n int, t text); CREATE UNIQUE INDEX ON %1$s (n); CREATE INDEX ON %1$s (k)', '^1 table exchanged', '{"min_replace_ratio": 0}', parted => false);
SELECT pg_temp.check_replace('plain table with a key', 'CREATE TABLE %1$s (k timestamp, n int, t text); CREATE UNIQUE INDEX ON %1$s (n)', '^1 table exchanged',
	'{"min_replace_ratio": 0, "timestamp_column": "k"}', parted => false);
SELECT pg_temp.check_replace('a range of whole days', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k); CREATE INDEX ON %1$s (n)', '^deleted.*; 2 tables exchanged',
	'{"replace_from": "2024-01-02", "replace_to": "2024-01-17"}', 'DELETE FROM wanted WHERE k >= ''2024-01-02'' AND k < ''2024-01-17''');

-- A command within which it is called is not told of the substitutes that are dropped
CREATE FUNCTION pg_temp.hears() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE '%', (SELECT string_agg(object_identity, ', ') FROM pg_event_trigger_dropped_objects()); END$$;
CREATE EVENT TRIGGER fc_replace_hears ON sql_drop EXECUTE FUNCTION pg_temp.hears();
SELECT is(pg_temp.failure(format($$CREATE TABLE loaded AS SELECT fast_copy('got', %L, columns => '{k,n,t}', options => '{"existing_rows": "replace"}')$$, current_setting('fc.file'))), NULL, 'within CREATE TABLE AS');
DROP EVENT TRIGGER fc_replace_hears;

-- Rows that are deleted, and why
SELECT pg_temp.check_replace('a range that cuts a day', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted; 2 tables exchanged',
	'{"replace_from": "2024-01-02 11:00", "replace_to": "2024-01-16 23:00"}', 'DELETE FROM wanted WHERE k >= ''2024-01-02 11:00'' AND k < ''2024-01-16 23:00''',
	before => 'DELETE FROM %1$s_2');
SELECT pg_temp.check_replace('a range, with a default partition', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', 'deleted; 1 table exchanged',
	'{"replace_from": "2024-01-03", "replace_to": "2024-01-17", "missing_partitions": "default"}', 'DELETE FROM wanted WHERE k >= ''2024-01-03'' AND k < ''2024-01-17''',
	before => 'DROP TABLE %1$s_2; CREATE TABLE %1$s_2 PARTITION OF %1$s DEFAULT; INSERT INTO %1$s SELECT timestamp ''2024-01-03 12:00'' + i * interval ''1 s'', i, ''d'' FROM generate_series(1, 1000) i');
SELECT pg_temp.check_replace('a range of a plain table', 'CREATE TABLE %1$s (k timestamp, n int, t text)', '^deleted: other rows of it stay$',
	'{"replace_from": "2024-01-03", "replace_to": "2024-01-17", "timestamp_column": "k"}', 'DELETE FROM wanted WHERE k >= ''2024-01-03'' AND k < ''2024-01-17''', parted => false);
SELECT pg_temp.check_replace('a trigger for DELETE', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: .*triggers', before =>
	'CREATE OR REPLACE FUNCTION pg_temp.%1$s_count() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NULL; END''; CREATE TRIGGER counts AFTER DELETE ON %1$s FOR EACH ROW EXECUTE FUNCTION pg_temp.%1$s_count()');
SELECT pg_temp.check_replace('a trigger for INSERT', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: .*triggers', before =>
	'CREATE OR REPLACE FUNCTION pg_temp.%1$s_count() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NEW; END''; CREATE TRIGGER counts BEFORE INSERT ON %1$s_2 FOR EACH ROW EXECUTE FUNCTION pg_temp.%1$s_count()');
CREATE TABLE numbers AS SELECT g AS n FROM generate_series(1, 200000) AS g;
ALTER TABLE numbers ADD PRIMARY KEY (n);
SELECT pg_temp.check_replace('a foreign key', 'CREATE TABLE %1$s (k timestamp, n int REFERENCES numbers, t text) PARTITION BY RANGE (k)', '^deleted: .*foreign keys', workers => '{2}');
SELECT pg_temp.check_replace('a constraint that sees its table', 'CREATE TABLE %1$s (k timestamp, n int, t text, CHECK (tableoid > 0)) PARTITION BY RANGE (k)', '^deleted: .*sees of which table', workers => '{2}');
SELECT pg_temp.check_replace('a constraint that sees whole rows', 'CREATE TABLE %1$s (k timestamp, n int, t text, CHECK (to_jsonb(%1$s) <> ''1''))', '^deleted: .*sees of which table', '{"min_replace_ratio": 0}', parted => false, workers => '{2}');
SELECT pg_temp.check_replace('as asked for', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k); CREATE INDEX ON %1$s (n)', '^deleted: asked for by replace_method$', '{"replace_method": "delete"}');
SELECT pg_temp.check_replace('as asked for, a plain table', 'CREATE TABLE %1$s (k timestamp, n int, t text)', '^deleted: asked for by replace_method$', '{"replace_method": "delete", "min_replace_ratio": 0}', parted => false);
SELECT pg_temp.check_replace('as asked for, a range', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: asked for by replace_method$',
	'{"replace_method": "delete", "replace_from": "2024-01-02", "replace_to": "2024-01-17"}', 'DELETE FROM wanted WHERE k >= ''2024-01-02'' AND k < ''2024-01-17''', workers => '{2}');
SELECT pg_temp.check_replace('an exclusion constraint', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: .*exclusion', before =>
	'ALTER TABLE %1$s_2 ADD EXCLUDE USING btree (n WITH =)', workers => '{2}');
SELECT pg_temp.check_replace('a constraint that can be deferred, and is never checked', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: .*can be deferred', before =>
	'ALTER TABLE %1$s_2 ADD UNIQUE (n) DEFERRABLE; ALTER TABLE %1$s_2 DISABLE TRIGGER ALL', workers => '{2}');
SELECT pg_temp.check_replace('an index that is not valid', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: an index is not valid', before =>
	'CREATE INDEX %1$s_odd ON %1$s_2 USING hash (n); UPDATE pg_index SET indisvalid = false WHERE indexrelid = ''%1$s_odd''::regclass', workers => '{2}');
SELECT pg_temp.check_replace('a catalog of a plugin of logical decoding', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: it is a catalog', before =>
	'ALTER TABLE %1$s_2 SET (user_catalog_table = true)', workers => '{2}');
SAVEPOINT s;
SELECT pg_temp.file('VALUES (1, 2, 0, ''x'', ''y'')') \g /dev/null
INSERT INTO pg_seclabel VALUES (1, 1, 0, 'x', 'y');
SELECT is(fast_copy('pg_seclabel', current_setting('fc.file'), options => '{"existing_rows": "replace"}'), 1::bigint, 'a catalog');
SELECT is((pg_temp.how(), count(*), sum(classoid::int))::text, '("deleted: it is a catalog",1,2)', 'its rows are deleted') FROM pg_seclabel;
ROLLBACK TO s;
SELECT pg_temp.file('TABLE news ORDER BY n') \g /dev/null
SELECT pg_temp.check_replace('only rows without a bound', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', '^deleted: .*triggers', parted => false, deletes => 'DELETE FROM wanted WHERE k IS NOT NULL',
	before => 'CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES FROM (MINVALUE) TO (MAXVALUE); CREATE TABLE %1$s_2 PARTITION OF %1$s DEFAULT; INSERT INTO %1$s TABLE olds; INSERT INTO %1$s VALUES (NULL, 1, ''x'');
	CREATE TRIGGER counts AFTER DELETE ON %1$s FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing()', workers => '{2}', options => '{"min_replace_ratio": 0}', empty => true);
SELECT pg_temp.check_replace('a plain table that core loads', 'CREATE TABLE %1$s (k timestamp, n int, t text)', '^deleted: the target has triggers', '{"min_replace_ratio": 0.2}', parted => false,
	before => 'CREATE TRIGGER counts AFTER INSERT ON %1$s FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing()', workers => '{2}');
SELECT pg_temp.check_replace('volatile defaults', 'CREATE TABLE %1$s (k timestamp, n int, t text, c timestamptz DEFAULT clock_timestamp(), r serial, s bigint DEFAULT (SELECT 1)) PARTITION BY RANGE (k)',
	'exchanged', workers => '{}');
SELECT pg_temp.check_replace('rows that are not logged', 'CREATE UNLOGGED TABLE %1$s (k timestamp, n int, t text)', '^deleted: it is temporary, or not logged', '{"min_replace_ratio": 0}', parted => false, workers => '{2}');

-- Errors about rows are COPY's: they name the partition and its indexes
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'none' ELSE array_to_string(f[1:3] || f[5:8] || substring(f[9] FROM '(?:csv", |COPY \w+, )(line \d+(?:, column \w+)?)'), '|', '') END FROM pg_temp.failure(statement) AS f
$$;
CREATE SCHEMA elsewhere;
CREATE FUNCTION pg_temp.check_error(about text, ddl text, data text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	wanted text;
	before text[];
BEGIN
	PERFORM pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)');
	ALTER TABLE got_3 SET SCHEMA elsewhere;
	EXECUTE ddl;
	PERFORM pg_temp.file(data);
	before := ARRAY(SELECT pg_temp.catalog('got')) || ARRAY(SELECT got::text FROM got ORDER BY k, n);
	wanted := pg_temp.error_of(format('DELETE FROM got WHERE k >= ''2024-01-03'' AND k < ''2024-01-05''; COPY got FROM %L (FORMAT csv)', current_setting('fc.file')));
	FOR w IN 0 .. 1 LOOP
		RETURN NEXT is(pg_temp.error_of(format('SELECT fast_copy(''got'', %L, workers => %s, options => ''{"existing_rows": "replace"}'')', current_setting('fc.file'), w * 2)),
			wanted, format('%s, %s workers: %s', about, w * 2, wanted));
		RETURN NEXT is(ARRAY(SELECT pg_temp.catalog('got')) || ARRAY(SELECT got::text FROM got ORDER BY k, n), before, format('%s, %s workers: all is as before', about, w * 2));
	END LOOP;
END
$$;
SELECT pg_temp.check_error('two equal rows', 'CREATE UNIQUE INDEX ON got (k, n)',
	'SELECT k, CASE n WHEN 100777 THEN 100776 ELSE n END, t FROM (SELECT CASE n WHEN 100777 THEN (SELECT k FROM news WHERE n = 100776) ELSE k END AS k, n, t FROM news WHERE k < ''2024-01-05'' ORDER BY n) s');
SELECT pg_temp.check_error('an index of one partition', 'CREATE UNIQUE INDEX only_here ON elsewhere.got_3 (n)', 'SELECT k, least(n, 100500), t FROM news WHERE k < ''2024-01-05'' ORDER BY n');
SELECT pg_temp.check_error('a CHECK of one partition', 'ALTER TABLE elsewhere.got_3 ADD CONSTRAINT small CHECK (n < 100500)', 'SELECT k, CASE WHEN k < ''2024-01-04'' THEN 1 ELSE n END, t FROM news WHERE k < ''2024-01-05'' ORDER BY n');
SELECT pg_temp.check_error('a NULL', 'ALTER TABLE elsewhere.got_3 ALTER t SET NOT NULL', 'SELECT k, n, CASE n WHEN 100555 THEN NULL ELSE ''x'' || t END FROM news WHERE k < ''2024-01-05'' ORDER BY k DESC, n');
SELECT pg_temp.check_error('an expression of an index', 'CREATE INDEX ON elsewhere.got_3 ((100 / (n - 100600)))', 'SELECT timestamp ''2024-01-04'', n, t FROM news ORDER BY n');
SELECT pg_temp.check_error('a value', 'CREATE INDEX ON got (n)', 'SELECT k, CASE n WHEN 100321 THEN ''x'' ELSE n::text END, t FROM news WHERE k < ''2024-01-05'' ORDER BY n');

-- Refusals
SELECT pg_temp.file('TABLE news ORDER BY n') \g /dev/null
CREATE FUNCTION pg_temp.refused(options jsonb, tab text DEFAULT 'got', more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.error_of(format('SELECT fast_copy(%L, %L, options => %L %s)', tab, current_setting('fc.file'), options, more))
$$;
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)');
SELECT is(pg_temp.refused('{"existing_rows": "drop"}'), '22023|existing_rows "drop" not recognized||||||', 'another word');
SELECT is(pg_temp.refused('{"replace_from": "2024-01-01"}'), '22023|replace_from requires existing_rows "replace"||||||', 'a range without it');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "replace_from": "2024-01-01"}'), '22023|replace_from and replace_to can only be used together||||||', 'half a range');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "replace_from": "2024-01-02", "replace_to": "2024-01-02"}'), '22023|replace_from must come before replace_to|They are "2024-01-02" and "2024-01-02".|||||', 'no range');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "replace_from": "x", "replace_to": "2024-01-02"}'), '22007|invalid input syntax for type timestamp: "x"||||||', 'no key');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "min_replace_ratio": -1}'), '22023|min_replace_ratio must be a number that is not negative: "-1"||||||', 'a negative ratio');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "replace_method": "truncate"}'), '22023|replace_method "truncate" not recognized||||||', 'another method');
SELECT is(pg_temp.refused('{"replace_method": "delete"}'), '22023|replace_method requires existing_rows "replace"||||||', 'a method without it');
SELECT is(pg_temp.refused('{"existing_rows": "merge", "replace_method": "auto"}'), '22023|replace_method requires existing_rows "replace"||||||', 'or with merge');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "freeze": true}'), '22023|freeze cannot be used with existing_rows "replace"||||||', 'freeze');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "replace_from": "2024-01-03", "replace_to": "2024-01-17", "where_clause": "n % 100 <> 0", "workers": 2}'), 'none', 'a range that has all rows of the condition');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "replace_from": "2024-01-03", "replace_to": "2024-01-05", "workers": 2}'),
	'23514|key "2024-01-16 21:20:00" lies outside of the range that is replaced|Rows are replaced FROM (''2024-01-03 00:00:00'') TO (''2024-01-05 00:00:00'').|||||line 100', 'a row outside of the range');
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 891::bigint, 'and nothing was replaced');
SELECT alike(pg_temp.refused('{"existing_rows": "replace", "min_replace_ratio": 3}'), '55000|partition "got_2" of at least % rows would be replaced by % rows|With min_replace_ratio 3 it is replaced by at least %', 'too few rows');
SELECT alike(pg_temp.refused('{"existing_rows": "replace", "min_replace_ratio": 0.9, "on_error": "ignore", "on_error_classes": ["check"]}'), 'none', 'enough rows');
ALTER TABLE got_2 ADD CONSTRAINT odd CHECK (n % 2 = 1) NOT VALID;
SELECT alike(pg_temp.refused('{"existing_rows": "replace", "min_replace_ratio": 0.9, "on_error": "ignore", "on_error_classes": ["check"]}'),
	'55000|partition "got_2" of % rows would be replaced by % rows|%', 'too few after those that are left out');
CREATE TABLE listed (k timestamp, n int, t text) PARTITION BY LIST (n);
CREATE TABLE listed_rest PARTITION OF listed DEFAULT;
SELECT alike(pg_temp.refused('{"existing_rows": "replace"}', 'listed'), '0A000|cannot tell which partitions of table "listed" would be replaced|%', 'partitions by list');
CREATE VIEW seen AS TABLE got;
CREATE TRIGGER instead INSTEAD OF INSERT ON seen FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
SELECT is(pg_temp.refused('{"existing_rows": "replace"}', 'seen'), '0A000|cannot replace rows of table "seen"|It is no table of this server.|||||', 'a view');
CREATE TABLE ruled (k timestamp, n int, t text);
CREATE RULE nothing AS ON DELETE TO ruled DO INSTEAD NOTHING;
SELECT is(pg_temp.refused('{"existing_rows": "replace"}', 'ruled'), '0A000|cannot replace rows of table "ruled"|It has rules for DELETE.|||||', 'rules');

-- Who may
CREATE ROLE fc_replaces;
GRANT USAGE ON SCHEMA public TO fc_replaces;
GRANT pg_read_server_files TO fc_replaces;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO fc_replaces;
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)');
CREATE TABLE got_new PARTITION OF got FOR VALUES FROM ('2024-01-16') TO ('2024-01-17');
GRANT INSERT, SELECT (n) ON got TO fc_replaces;
SET LOCAL ROLE fc_replaces;
SELECT is(pg_temp.refused('{"existing_rows": "replace"}'), '42501|permission denied for table got||||||', 'without DELETE');
RESET ROLE;
GRANT DELETE ON got TO fc_replaces;
SET LOCAL ROLE fc_replaces;
SELECT is(pg_temp.refused('{"existing_rows": "replace"}'), '42501|permission denied for table got||||||', 'without SELECT on the key');
RESET ROLE;
GRANT SELECT (k) ON got TO fc_replaces;
SET LOCAL ROLE fc_replaces;
SELECT is(pg_temp.refused('{"existing_rows": "replace", "workers": 2}'), 'none', 'with both');
SELECT is(pg_temp.how(), 'deleted: the caller does not own it', 'by DELETE');
RESET ROLE;
SELECT is((SELECT count(*) FROM got WHERE n < 100000 AND k >= '2024-01-03' AND k < '2024-01-05'), 0::bigint, 'the rows are gone');
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 900::bigint, 'and others are there');
ALTER TABLE got_2 OWNER TO fc_replaces;
ALTER TABLE got OWNER TO fc_replaces;
SET LOCAL ROLE fc_replaces;
SELECT is(pg_temp.refused('{"existing_rows": "replace", "workers": 2}'), 'none', 'the owner of a partition');
SELECT is(pg_temp.how(), 'deleted: the caller does not own it; 1 table exchanged', 'exchanges that one');
RESET ROLE;
SELECT is((SELECT array_agg(DISTINCT relowner::regrole::text) FROM pg_class WHERE relname = 'got_2'), '{fc_replaces}', 'and stays its owner');

-- Partitions all of whose rows are left out stay as they are
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int CHECK (n %% 7 <> 3), t text) PARTITION BY RANGE (k)');
SELECT format('COPY (SELECT timestamp ''2024-01-08'' AS k, 3 AS n, ''odd'' AS t UNION ALL SELECT k, n, t FROM news WHERE k < ''2024-01-05'') TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(pg_temp.refused('{"existing_rows": "replace", "on_error": "ignore", "on_error_classes": ["check"], "workers": 2}'), 'none', 'with rows that are left out');
SELECT is(pg_temp.how(), '2 tables exchanged', 'only the days of others are replaced');
SELECT is((SELECT count(*) FROM got WHERE k >= '2024-01-08' AND k < '2024-01-09'), (SELECT count(*) FROM olds WHERE k >= '2024-01-08' AND k < '2024-01-09' AND n % 7 <> 3), 'that one is as before');
SELECT is(pg_temp.refused('{"existing_rows": "replace", "on_error": "ignore", "on_error_classes": ["check"], "replace_from": "2024-01-03", "replace_to": "2024-01-10"}'), 'none', 'in a range, with rows that are left out');
SELECT is((SELECT array_agg(DISTINCT k::date ORDER BY k::date) FROM got WHERE k >= '2024-01-03' AND k < '2024-01-10'), '{2024-01-03,2024-01-04}', 'all other days of it are empty');
SELECT format('COPY (SELECT timestamp ''2024-01-08'' AS k, 3 AS n, ''odd'' AS t) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(pg_temp.refused('{"existing_rows": "replace", "on_error": "ignore", "on_error_classes": ["check"], "min_replace_ratio": 0}'), 'none', 'with nothing but such rows');
SELECT is(pg_temp.how(), NULL, 'nothing is replaced');
SELECT is(pg_temp.left_behind(), 0::bigint, 'and nothing left behind');
INSERT INTO got SELECT '2024-01-08', 5, 'old' FROM generate_series(1, 10);
CREATE TRIGGER counts AFTER DELETE ON got FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
SELECT alike(pg_temp.refused('{"existing_rows": "replace", "on_error": "ignore", "on_error_classes": ["check"], "min_replace_ratio": 0}'),
	'55000|partition "got_7" of % rows would be replaced by 0 rows|%', 'where rows are deleted that is an error');
SELECT pg_temp.file('TABLE news ORDER BY n') \g /dev/null

-- Few rows take the place of many, whatever way those go
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)');
INSERT INTO got SELECT '2024-01-03', g, repeat('x', 100) FROM generate_series(1, 50000) AS g;
CREATE TRIGGER counts AFTER DELETE ON got FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
SELECT is(pg_temp.refused('{"existing_rows": "replace", "min_replace_ratio": 0, "where_clause": "n < 100010"}'), 'none', 'few rows by DELETE');
SELECT is((SELECT count(*) FROM got_2), (SELECT count(*) FROM news WHERE n < 100010 AND k < '2024-01-04'), 'are all there');

-- The old rows are counted, wherever they are: a day of several hundred pages with
-- rows that are gone, or were never committed, and others before or after them
CREATE FUNCTION pg_temp.scatter(gone int, rows int, at text DEFAULT 'end') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	old text := format('INSERT INTO got SELECT ''2024-01-03'', -i, repeat(''x'', 2000) FROM generate_series(1, %s) i', gone);
	new text := format('INSERT INTO got SELECT ''2024-01-03'', i FROM generate_series(1, %s) i', rows);
BEGIN
	PERFORM pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', empty => true);
	ALTER TABLE got_2 ALTER t SET STORAGE PLAIN;
	EXECUTE CASE at WHEN 'begin' THEN new ELSE 'SELECT' END;
	BEGIN
		EXECUTE old;
		IF at = 'rolled back' THEN
			RAISE division_by_zero;
		END IF;
	EXCEPTION WHEN division_by_zero THEN NULL;
	END;
	DELETE FROM got WHERE n < 0;
	EXECUTE CASE at WHEN 'begin' THEN 'SELECT' ELSE new END;
	RETURN pg_relation_size('got_2') / 8192 > 600 AND (SELECT count(*) FROM got) = rows;
END
$$;
-- How a load of so many rows for that day fails
CREATE FUNCTION pg_temp.few(rows int, options jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.file(format('SELECT timestamp ''2024-01-03'' AS k, 1000000 + i AS n, '''' AS t FROM generate_series(1, %s) i', rows));
	SELECT pg_temp.refused(options || '{"existing_rows": "replace"}')
$$;
SELECT is(pg_temp.scatter(2700, 120), 'true', 'a day with 120 rows on its last pages');
SELECT alike(pg_temp.few(1), '55000|partition "got_2" of at least % rows would be replaced by 1 row|%', '... which one row does not replace');
SELECT is(pg_temp.few(59), '55000|partition "got_2" of 120 rows would be replaced by 59 rows|With min_replace_ratio 0.5 it is replaced by at least 60.|||||', '... nor do 59');
SELECT is(pg_temp.few(60), 'none', '... but 60 do');
SELECT is(pg_temp.scatter(2700, 500, 'rolled back'), 'true', 'a day with 500 rows after an insertion that was rolled back');
SELECT is(pg_temp.few(249, '{"on_error": "ignore"}'), '55000|partition "got_2" of 500 rows would be replaced by 249 rows|With min_replace_ratio 0.5 it is replaced by at least 250.|||||', '... which 249 do not replace');
SELECT is(pg_temp.few(250, '{"on_error": "ignore"}'), 'none', '... but 250 do');
SELECT is(pg_temp.scatter(2700, 10, 'begin'), 'true', 'a day with ten rows on its first page');
SELECT is(pg_temp.few(10), 'none', '... which ten replace');
SELECT is(pg_temp.scatter(2700, 0), 'true', 'a day without rows, and with many pages');
SELECT is(pg_temp.few(1), 'none', '... which one row replaces');
SELECT is(pg_temp.scatter(2700, 300), 'true', 'a day with 300 rows');
SELECT is(pg_temp.few(1, '{"min_replace_ratio": 0}'), 'none', '... which one replaces with a ratio of 0');
-- Numbers of rows near the ratio: what a multiplication says of all rows
CREATE FUNCTION pg_temp.near() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ratio float8;
	had int;
	rows int;
	said text;
BEGIN
	PERFORM setseed(0.46);
	FOR i IN 1 .. 64 LOOP
		PERFORM pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)', empty => true);
		INSERT INTO got SELECT '2024-01-03', g FROM generate_series(1, (random() * 20000)::int) AS g;
		had := (random() * 15000)::int;
		DELETE FROM got WHERE n BETWEEN had AND had + 10000;
		had := (SELECT count(*) FROM got);
		ratio := (ARRAY[0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.1])[1 + i % 8];
		rows := greatest(1, floor(had * ratio) + i % 5 - 2);
		said := pg_temp.few(rows, jsonb_build_object('min_replace_ratio', ratio) || CASE WHEN i % 3 = 0 THEN '{"on_error": "ignore"}' ELSE '{}' END::jsonb);
		IF (said = 'none') <> (had = 0 OR rows >= had * ratio) THEN
			RETURN NEXT format('%s of %s by %s: %s', rows, had, ratio, said);
		END IF;
	END LOOP;
END
$$;
SELECT is_empty('SELECT * FROM pg_temp.near()', 'numbers of rows near the ratio');
SELECT pg_temp.file('TABLE news ORDER BY n') \g /dev/null

-- What an analysis says before
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)');
SELECT results_eq($$SELECT name, detail FROM fast_copy_analyze('got', current_setting('fc.file'), options => '{"existing_rows": "replace"}') WHERE item = 'partition' AND name LIKE 'got__' ORDER BY name$$,
	$$SELECT c, format('exists, %s rows are replaced', r) FROM (SELECT tableoid::regclass::text, count(*) FROM got GROUP BY 1) AS g (c, r) WHERE c IN ('got_2', 'got_3') ORDER BY 1$$, 'an analysis tells what would be replaced');
SELECT results_eq($$SELECT DISTINCT detail FROM fast_copy_analyze('got', current_setting('fc.file'), options => '{"existing_rows": "replace", "replace_from": "2024-01-03", "replace_to": "2024-02-03"}') WHERE item = 'partition' AND name IN ('got_2', 'got_3')$$,
	$$VALUES ('exists, its rows within the range are replaced')$$, 'and within a range');

-- Partitions of two schemas with the same names
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k)');
ALTER TABLE got_3 SET SCHEMA elsewhere;
ALTER TABLE elsewhere.got_3 RENAME TO got_2;
CREATE INDEX same ON got_2 (n);
CREATE INDEX same ON elsewhere.got_2 (n);
SELECT is(pg_temp.refused('{"existing_rows": "replace", "workers": 2}'), 'none', 'partitions of the same name');
SELECT is(pg_temp.how(), '2 tables exchanged', 'are exchanged');
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 900::bigint, 'with their rows');
SELECT is(pg_temp.left_behind(), 0::bigint, 'and nothing left behind');
ALTER TABLE elsewhere.got_2 ADD CONSTRAINT small CHECK (n < 100500) NOT VALID;
SELECT alike(pg_temp.refused('{"existing_rows": "replace"}'), '23514|new row for relation "got_2" violates check constraint "small"|%|elsewhere|got_2||small|line %', 'the error names its schema');

-- Again and again, and not at all
SELECT pg_temp.make('got', 'CREATE TABLE %1$s (k timestamp, n int, t text) PARTITION BY RANGE (k); CREATE INDEX ON %1$s (n)');
CREATE TABLE got_new PARTITION OF got FOR VALUES FROM ('2024-01-16') TO ('2024-01-17');
SELECT is((SELECT array_agg(pg_temp.refused('{"existing_rows": "replace", "workers": 2}')) FROM generate_series(1, 3)), '{none,none,none}', 'three times in one transaction');
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 900::bigint, 'as once');
SAVEPOINT before;
UPDATE got SET t = 'changed' WHERE n > 100000;
SELECT is(pg_temp.refused('{"existing_rows": "replace"}'), 'none', 'after changes of its own');
SELECT is((SELECT count(*) FROM got WHERE t = 'changed'), 0::bigint, 'which are replaced, too');
ROLLBACK TO before;
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 900::bigint, 'after ROLLBACK TO SAVEPOINT');
SELECT is((SELECT count(*) FROM got_2 WHERE n BETWEEN 1 AND 1000000), (SELECT count(*) FROM got_2), 'an index is right, too');
-- A function that the load calls changes rows that are replaced, or adds some
CREATE FUNCTION pg_temp.meddles() RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS $$
DECLARE
	what text := coalesce(nullif(current_setting('fc.meddle', true), ''), 'SELECT');
BEGIN
	-- the command calls the function, too
	PERFORM set_config('fc.meddle', '', true);
	EXECUTE what;
	RETURN true;
END
$$;
CREATE FUNCTION pg_temp.lies(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN pg_temp.meddles(); END';
ALTER TABLE got ADD CONSTRAINT meddled CHECK (pg_temp.lies(n));
SET LOCAL fc.meddle = 'UPDATE got SET t = ''kept'' WHERE n = (SELECT max(n) FROM got)';
SELECT alike(pg_temp.refused('{"existing_rows": "replace"}'), '40001|could not replace "got_new" because its rows were changed while it was being loaded|1 of its rows%|||||%', 'a function of the load updates a row');
SET LOCAL fc.meddle = 'INSERT INTO got VALUES (''2024-01-16 12:00'', -7)';
SELECT is(pg_temp.refused('{"existing_rows": "replace"}'), 'none', '... and adds one');
SELECT is((SELECT count(*) FROM got_new WHERE n = -7), 1::bigint, '... which stays');
SELECT is(pg_temp.how(), '3 tables exchanged, with rows that were inserted meanwhile', '... and is told');
ALTER TABLE got DROP CONSTRAINT meddled;
DECLARE c CURSOR FOR TABLE got;
FETCH c \g /dev/null
SELECT is(pg_temp.refused('{"existing_rows": "replace"}'), 'none', 'a cursor on it');
SELECT is(pg_temp.how(), 'deleted: this session is using it', '... which goes on');
FETCH ALL c \g /dev/null
CLOSE c;
SELECT is(pg_temp.refused('{"existing_rows": "replace", "where_clause": "n < 0"}'), 'none', 'no row meets the condition');
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 900::bigint, 'so that nothing is replaced');
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'replace'), NULL, 'and nothing said');
SELECT format('COPY got FROM %L WITH (fast_copy, FORMAT csv, existing_rows ''replace'')', current_setting('fc.file')) \gexec
SELECT is(pg_temp.how(), '3 tables exchanged', 'by COPY');
SELECT ok((SELECT bool_or(line ~ '^ *replaced +3 tables') FROM fast_copy_summary() AS s (line)), 'which the summary tells');
SELECT format('COPY got FROM PROGRAM ''cat %s'' WITH (fast_copy, FORMAT csv, existing_rows replace, replace_from ''2024-01-03'', replace_to ''2024-01-17'')', current_setting('fc.file')) \gexec
SELECT is((SELECT count(*) FROM got WHERE n > 100000), 900::bigint, 'from a program');
SELECT is(pg_temp.how(), 'deleted; 3 tables exchanged', 'with a range');
SELECT is((SELECT count(*) FROM got WHERE k >= '2024-01-05'), 9::bigint, 'days that the file has no rows of are empty');

-- Nobody may use the schema of the substitutes, whatever its owner gives away by default
CREATE ROLE fc_replace_guest;
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO fc_replace_guest;
CREATE FUNCTION looks(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	-- the rows of catalogs are those of its snapshot
	IF has_schema_privilege('fc_replace_guest', to_regnamespace(format('"fast_copy exchange %s 0"', pg_current_xact_id()::xid))::oid, 'USAGE') THEN
		RAISE 'a guest in the schema of substitutes';
	END IF;
	RETURN n;
END
$$;
SELECT pg_temp.make('guarded', 'CREATE TABLE %I (k timestamp, n int, t text) PARTITION BY RANGE (k)');
CREATE INDEX ON guarded (looks(n));
SELECT lives_ok(format($$SELECT fast_copy('guarded', %L, existing_rows => 'replace', workers => 0)$$, current_setting('fc.file')), 'a schema of no one else');
SELECT ok(pg_temp.how() ~ 'exchanged', '... which a function of an index has looked at');

-- Tables with rules are refused; but a trigger of the first DELETE may make one for
-- the next: NOTIFY is a command without a plan
SELECT pg_temp.make('ruled', 'CREATE TABLE %I (k timestamp, n int, t text) PARTITION BY RANGE (k)');
CREATE FUNCTION pg_temp.rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_rules WHERE tablename = 'ruled') THEN
		EXECUTE format('CREATE RULE late AS ON DELETE TO ruled DO INSTEAD %s', current_setting('fc.rule'));
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER rule AFTER DELETE ON ruled FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.rule();
SELECT pg_temp.file('TABLE olds') \g /dev/null
SET LOCAL fc.rule = 'NOTIFY late';
SELECT throws_ok(format($$SELECT fast_copy('ruled', %L, 'k', options => '{"existing_rows": "replace", "replace_method": "delete"}')$$, current_setting('fc.file')),
	'55006', NULL, 'a rule for NOTIFY, made by a trigger of the load, ends it');
SET LOCAL fc.rule = 'NOTHING';
SELECT throws_ok(format($$SELECT fast_copy('ruled', %L, 'k', options => '{"existing_rows": "replace", "replace_method": "delete"}')$$, current_setting('fc.file')),
	'55006', NULL, 'and one for NOTHING');

-- ... or put rows into the table that it takes away at once
DROP TRIGGER rule ON ruled;
CREATE FUNCTION pg_temp.again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF old.n % 10 = 0 THEN
		INSERT INTO ruled VALUES (old.k, -old.n - 1, 'again');
		DELETE FROM ruled WHERE n = -old.n - 1;
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER again AFTER DELETE ON ruled FOR EACH ROW EXECUTE FUNCTION pg_temp.again();
SELECT is(fast_copy('ruled', current_setting('fc.file'), 'k', options => '{"existing_rows": "replace", "replace_method": "delete"}'), 3000::bigint, 'a trigger may take away what it has put there');
SELECT bag_eq('TABLE ruled', 'TABLE olds', '... and none of that is left');

SELECT * FROM finish();
ROLLBACK;
