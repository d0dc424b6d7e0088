-- on_conflict: what is an error, what it says, who may load so, and that nothing is
-- left of a load that has failed.

\set name on_conflict_errors
\ir begin.psql
SELECT * FROM no_plan();

CREATE TABLE news AS SELECT g, date '2024-01-01' + g * 7 % 10 AS at, g * 31 % 23 AS id, 'row ' || g AS v FROM generate_series(1, 700) AS g;
CREATE FUNCTION pg_temp.file() RETURNS text LANGUAGE sql AS $$SELECT pg_temp.file('SELECT at, id, v FROM news ORDER BY g', '')$$;

-- How a command fails: all fields that are set, and the place in the file
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'none' ELSE array_to_string(f[1:6] || f[8] || substring(f[9] FROM '(?:csv", |COPY \w+, )(line \d+(?:, column \w+)?)'), '|') END FROM pg_temp.failure(statement) AS f
$$;
CREATE FUNCTION pg_temp.fails(options jsonb, tab text DEFAULT 'got', more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.error_of(format('SELECT fast_copy(%L, %L, options => %L %s)', tab, current_setting('fc.file'), options, more))
$$;

-- Errors about rows are COPY's: they have the line, and the target's schema
CREATE FUNCTION pg_temp.check_error(about text, data text, wanted text, tab text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.file(data);
	FOR w IN 0 .. 1 LOOP
		RETURN NEXT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at", "id"]}', tab, format(', workers => %s', w * 2)), wanted, format('%s of %s, %s workers', about, tab, w * 2));
		RETURN NEXT is(pg_temp.left_behind(), 0::bigint, format('%s of %s, %s workers: no schema is left', about, tab, w * 2));
	END LOOP;
END
$$;
CREATE SCHEMA "the schema";
CREATE TABLE "the schema".plain (at date, id int, v text NOT NULL, w int UNIQUE, CONSTRAINT small CHECK (id < 100), UNIQUE (at, id));
CREATE TABLE "the schema".days (at date, id int, v text NOT NULL, w int, CONSTRAINT small CHECK (id < 100), UNIQUE (at, id)) PARTITION BY RANGE (at);
CREATE TABLE "the schema".day PARTITION OF "the schema".days FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
CREATE UNIQUE INDEX of_day ON "the schema".day (w);
INSERT INTO "the schema".plain VALUES ('2024-01-01', 1, 'old', 7);
INSERT INTO "the schema".days VALUES ('2024-01-01', 1, 'old', 7);
SELECT pg_temp.check_error('a value', $$VALUES ('2024-01-01', '1', 'a', 1), ('2024-01-02', 'x', 'a', 2)$$, '22P02|invalid input syntax for type integer: "x"|line 2, column id', '"the schema".' || tab) FROM unnest('{plain,days}'::text[]) AS tab;
SELECT pg_temp.check_error('a CHECK', $$VALUES ('2024-01-02', 1, 'a', 1), ('2024-01-01', 2, 'b', 2), ('2024-01-01', 100, 'c', 3)$$, '23514|new row for relation "' || tab || '" violates check constraint "small"|Failing row contains (2024-01-01, 100, c, 3).|the schema|' || tab || '|small|line 3',
	'"the schema".' || tab) FROM unnest('{plain,days}'::text[]) AS tab;
SELECT pg_temp.check_error('a NULL', $$VALUES ('2024-01-01', 1, 'a', 1), ('2024-01-01', 2, NULL, 2)$$, '23502|null value in column "v" of relation "' || tab || '" violates not-null constraint|Failing row contains (2024-01-01, 2, null, 2).|the schema|' || tab || '|line 2',
	'"the schema".' || tab) FROM unnest('{plain,days}'::text[]) AS tab;
SELECT pg_temp.check_error('another unique index', $$VALUES ('2024-01-01', 2, 'a', 6), ('2024-01-01', 3, 'b', 7)$$, '23505|duplicate key value violates unique constraint "' || index || '"|Key (w)=(7) already exists.|the schema|' || named || '|' || index || '|line 2',
	'"the schema".' || tab) FROM (VALUES ('plain', 'plain', 'plain_w_key'), ('days', 'day', 'of_day')) AS x (tab, named, index);
CREATE TABLE listed (at int, id int, v text, UNIQUE (at, id)) PARTITION BY LIST (at);
CREATE TABLE listed_1 PARTITION OF listed FOR VALUES IN (1, 2);
SELECT pg_temp.check_error('no partition', $$VALUES (1, 2, 'a'), (5, 2, 'b')$$, '23514|no partition of relation "listed" found for row|Partition key of the failing row contains (at) = (5).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "listed", whose newest partition has several values.|public|listed|line 2', 'listed');
SELECT results_eq('SELECT at, id, v, w FROM "the schema".' || tab, $$VALUES (date '2024-01-01', 1, 'old', 7)$$, tab || ': all is as before') FROM unnest('{plain,days}'::text[]) AS tab;
SELECT is(count(*), 1::bigint, 'no partition was made') FROM pg_inherits WHERE inhparent = '"the schema".days'::regclass AND EXISTS (SELECT FROM pg_class WHERE oid = inhrelid AND relkind = 'r');

-- The same row twice, after a trigger has changed keys
CREATE FUNCTION pg_temp.one() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 1; RETURN NEW; END';
CREATE TABLE ones (at date, id int, v text, PRIMARY KEY (at, id));
CREATE TRIGGER one BEFORE INSERT ON ones FOR EACH ROW EXECUTE FUNCTION pg_temp.one();
SELECT pg_temp.check_error('twice', $$VALUES ('2024-01-01', 1, 'a'), ('2024-01-01', 2, 'b')$$, '21000|ON CONFLICT DO UPDATE command cannot affect row a second time|Ensure that no rows proposed for insertion within the same command have duplicate constrained values.|line 2', 'ones');
SELECT is(fast_copy('ones', :'file', options => '{"on_conflict": "nothing"}'), 1::bigint, 'nothing');

-- Errors that only the INSERT finds have the record, too, whatever the files are like
SAVEPOINT places;
SET LOCAL fast_copy.chunk_size = 700;
CREATE TABLE records AS SELECT g, date '2024-01-01' + g % 10 AS at, g AS id, CASE WHEN g % 7 = 0 THEN E'two\nlines' ELSE 'one' END AS v, g AS w FROM generate_series(1, 500) AS g;
SELECT pg_temp.file('SELECT at, id, v, w FROM records WHERE g <= 200 ORDER BY g', ', HEADER') \g /dev/null
SELECT pg_temp.shell(format('cp %1$s %1$s.1', :'file')) \g /dev/null
SELECT pg_temp.file('SELECT at, id, v, w FROM records WHERE g > 200 ORDER BY g', ', HEADER') \g /dev/null
SELECT pg_temp.shell(format('cp %1$s %1$s.2; gzip -fk %1$s.1 %1$s.2', :'file')) \g /dev/null
SELECT pg_temp.file('SELECT at, id, v, w FROM records ORDER BY g', ', HEADER') \g /dev/null
SELECT pg_temp.shell(format('gzip -fk %1$s; chmod 644 %1$s*', :'file')) \g /dev/null
CREATE TABLE forms AS SELECT form, ARRAY(SELECT :'file' || ending FROM unnest(endings) AS u (ending)) AS paths
FROM (VALUES ('one', '{""}'::text[]), ('packed', '{.gz}'), ('two', '{.1,.2}'), ('two packed', '{.1.gz,.2.gz}')) AS f (form, endings);
-- the line on which the record of this number ends, in the file that has it
CREATE FUNCTION pg_temp.place(paths text[], bad int) RETURNS text LANGUAGE sql AS $$
	SELECT format('file "%s", line %s: "%s,%s,', paths[n], 1 + (SELECT sum(1 + (v ~ E'\n')::int) FROM records WHERE g <= bad AND (n = 1 OR g > 200)), (SELECT at FROM records WHERE g = bad), bad)
	FROM (SELECT CASE WHEN bad > 200 THEN cardinality(paths) ELSE 1 END) AS f (n)
$$;
CREATE FUNCTION pg_temp.place_of(paths text[], options jsonb, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT f[2] || ' ' || coalesce(substring(f[9] FROM '(file "[^"]*", (?:line \d+: "[^,]*,[^,]*,|a row that was read))'), 'nowhere: ' || f[9])
	FROM pg_temp.failure(format('SELECT fast_copy(''placed'', %L::text[], header => true, missing_partitions => ''default'', options => %L%s)', paths, options || '{"dedup_keys": ["at", "id"]}', more)) AS f
$$;
CREATE FUNCTION pg_temp.refuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.id = TG_ARGV[0]::int THEN
		RAISE 'refused';
	END IF;
	-- the record is that of the row as it was read
	NEW.w := -NEW.id;
	RETURN NEW;
END
$$;
CREATE FUNCTION pg_temp.make_placed(layout text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS placed;
	EXECUTE format('CREATE TABLE placed (at date, gone int, id int, v text, w int, PRIMARY KEY (at, id)) %s', CASE layout WHEN 'listed' THEN 'PARTITION BY LIST (at)' WHEN 'keyed' THEN 'PARTITION BY RANGE (at)' ELSE '' END);
	ALTER TABLE placed DROP gone;
	IF layout = 'plain' THEN
		RETURN 'placed';
	END IF;
	EXECUTE 'CREATE TABLE placed_1 PARTITION OF placed ' || CASE layout WHEN 'listed' THEN 'DEFAULT' ELSE 'FOR VALUES FROM (MINVALUE) TO (MAXVALUE)' END;
	RETURN 'placed_1';
END
$$;
CREATE FUNCTION pg_temp.check_places(about text, bad int, said text, change text, options jsonb, more text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	layout text;
	form forms;
BEGIN
	FOREACH layout IN ARRAY '{plain,listed,keyed}'::text[] LOOP
		EXECUTE format(change, pg_temp.make_placed(layout));
		FOR form IN SELECT * FROM forms AS f WHERE layout = 'plain' OR f.form IN ('one', 'two packed') LOOP
			FOR w IN 0 .. CASE layout WHEN 'listed' THEN 0 ELSE 1 END LOOP
				RETURN NEXT is(pg_temp.place_of(form.paths, options, format(', workers => %s%s', w * 2, more)), said || ' ' || pg_temp.place(form.paths, bad), format('%s, %s, %s, %s workers', about, layout, form.form, w * 2));
			END LOOP;
		END LOOP;
	END LOOP;
END
$$;
SELECT pg_temp.check_places('a trigger', 449, 'refused', 'CREATE TRIGGER refuses BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION pg_temp.refuses(449)', '{"on_conflict": "nothing"}');
SELECT pg_temp.check_places('a trigger of the rows that are there', 7, 'refused', 'INSERT INTO placed SELECT at, id FROM records; CREATE TRIGGER refuses BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION pg_temp.refuses(7)', '{"on_conflict": "update"}');
SELECT pg_temp.check_places('an exclusion', 200, 'conflicting key value violates exclusion constraint "excludes"', 'INSERT INTO placed VALUES (''2023-12-31'', 1, NULL, 200); ALTER TABLE %s ADD CONSTRAINT excludes EXCLUDE USING btree (w WITH =)', '{"on_conflict": "update"}');
SELECT pg_temp.check_places('an index', 201, 'division by zero', 'CREATE INDEX ON %s ((1 / (w - 201)))', '{"on_conflict": "nothing", "dedup_keep": "first"}');
SELECT pg_temp.check_places('a CHECK', 500, 'division by zero', 'ALTER TABLE %s ADD CHECK (tableoid > 0 AND 1 / (w - 500) < 2)', '{"on_conflict": "nothing"}');
SELECT pg_temp.check_places('a generated column', 1, 'division by zero', 'ALTER TABLE placed ADD x int GENERATED ALWAYS AS (1 / (w + id - 2)) STORED; CREATE TRIGGER same BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', '{"on_conflict": "nothing"}', ', columns => ''{at,id,v,w}''');
SELECT pg_temp.check_places('beside rejects and a condition', 350, 'division by zero', 'CREATE INDEX ON %s ((1 / (w - 350)))', '{"on_conflict": "nothing", "on_error": "ignore", "on_error_classes": ["conversion"], "transform": {"w": "CASE WHEN w = ''77'' THEN v ELSE w END"}}', ', where_clause => ''id % 3 <> 1''');

-- Of records that are the same it is the first; where a value is another each time, no line
SELECT pg_temp.write('{x,"2024-01-01,1,a,1","2024-01-01,1,b,2","2024-01-01,,c,5","2024-01-01,1,a,1"}') \g /dev/null
SELECT pg_temp.make_placed('plain') AS placed \gset
CREATE TRIGGER refuses BEFORE INSERT ON placed FOR EACH ROW EXECUTE FUNCTION pg_temp.refuses(1);
ALTER TABLE placed DROP CONSTRAINT placed_pkey, ALTER at DROP NOT NULL, ALTER id DROP NOT NULL, ADD UNIQUE (at, id);
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update"}'), 'refused file "' || :'file' || '", line 2: "2024-01-01,1,', 'the first of them');
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update", "transform": {"v": "random()"}}'), 'refused file "' || :'file' || '", a row that was read', 'a value that nobody sees again');
CREATE SEQUENCE calls;
CREATE FUNCTION counted(v text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN v || nextval('calls'); END$$;
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update", "transform": {"v": "counted(v)"}}'), 'refused file "' || :'file' || '", a row that was read', 'code whose effects others may see');
SELECT is(nextval('calls'), 5::bigint, 'it runs once for each record');

-- No value is too long, and no form too strange
SELECT string_agg(md5(g::text), '') AS long FROM generate_series(1, 4000) AS g \gset
SELECT pg_temp.file(format($$VALUES (date '2024-01-02', 2, 'x', 2), ('2024-01-01', 1, %L, 3)$$, :'long'), ', HEADER') \g /dev/null
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update"}'), 'refused file "' || :'file' || '", line 3: "2024-01-01,1,', 'a value that is kept apart');
COPY (VALUES (date '2024-01-02', 2, 'x', 2), ('2024-01-01', 1, :'long', 3)) TO :'file' (FORMAT binary);
SELECT is(pg_temp.error_of(format('SELECT fast_copy(''placed'', %L, format => ''binary'', options => ''{"on_conflict": "update", "dedup_keys": ["at", "id"]}'')', :'file')), 'P0001|refused|line 2', 'a binary file');
SELECT pg_temp.shell(format($$printf '2024-01-02\t2\tx\t2\r\n2024-01-01\t1\ta\\rb\t3\r\n' >%s$$, :'file')) \g /dev/null
SELECT is(pg_temp.error_of(format('COPY placed FROM %L WITH (fast_copy, on_conflict update, dedup_keys (at, id))', :'file')), 'P0001|refused|line 2', 'COPY of a text file');

-- What is found once all rows are there has no line, as in COPY
CREATE TABLE referenced (id int PRIMARY KEY);
DROP TRIGGER refuses ON placed;
ALTER TABLE placed ADD CONSTRAINT refers FOREIGN KEY (id) REFERENCES referenced;
SELECT pg_temp.write('{x,"2024-01-01,1,a,1"}') \g /dev/null
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update"}'), 'insert or update on table "placed" violates foreign key constraint "refers" file "' || :'file' || '", a row that was read', 'a foreign key');
ALTER TABLE placed DROP CONSTRAINT refers;
CREATE TRIGGER refuses AFTER INSERT ON placed FOR EACH ROW EXECUTE FUNCTION pg_temp.refuses(1);
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update"}'), 'refused file "' || :'file' || '", a row that was read', 'a trigger after all rows');
CREATE FUNCTION pg_temp.before_all() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'before all'; END$$;
CREATE TRIGGER before_all BEFORE INSERT ON placed FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.before_all();
SELECT is(pg_temp.place_of(ARRAY[:'file'], '{"on_conflict": "update"}'), 'before all file "' || :'file' || '", a row that was read', 'a trigger before all rows');
ROLLBACK TO places;

-- Classes of errors that only the INSERT would find are refused before the load, and not
-- ended by the first row
CREATE TABLE tolerant (at date, id int CHECK (id < 100), v text NOT NULL, w int DEFAULT 5, PRIMARY KEY (at, id));
CREATE TABLE tolerant_days (LIKE tolerant INCLUDING ALL) PARTITION BY RANGE (at);
CREATE TABLE tolerant_day PARTITION OF tolerant_days FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
CREATE TABLE tolerant_list (LIKE tolerant INCLUDING ALL) PARTITION BY LIST (at);
CREATE TABLE tolerant_list_1 PARTITION OF tolerant_list FOR VALUES IN ('2024-01-01');
SELECT pg_temp.file($$VALUES ('2024-01-01', 1, 'a'), ('2024-01-01', 100, 'b'), ('2024-01-01', 2, NULL)$$) \g /dev/null
CREATE FUNCTION pg_temp.tolerates(tab text, class text, action text DEFAULT 'update') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	said text[];
BEGIN
	said := pg_temp.failure(format('SELECT fast_copy(%L, %L, columns => ''{at,id,v}'', where_clause => %L, on_error => ''ignore'', on_error_classes => %L, options => ''{"on_conflict": "%s"}'')', tab, current_setting('fc.file'),
		CASE class WHEN 'check' THEN 'v IS NOT NULL' WHEN 'not_null' THEN 'id < 100' ELSE 'v IS NOT NULL AND id < 100' END, ARRAY[class], action));
	IF said IS NULL THEN
		EXECUTE format('SELECT count(*) FROM %I', tab) INTO n;
		EXECUTE format('DELETE FROM %I', tab);
		RETURN n;
	END IF;
	RETURN concat_ws(' ', said[1], substring(said[3] FROM ': (.*)'));
END
$$;
SELECT is(pg_temp.tolerates(tab, class, action), '1', format('%s of %s, %s', class, tab, action))
FROM unnest('{tolerant,tolerant_days,tolerant_list}'::text[]) AS tab, unnest('{check,not_null}'::text[]) AS class, unnest('{update,nothing}'::text[]) AS action;
SELECT is(pg_temp.tolerates('tolerant_list', 'no_partition'), '0A000 it finds the partitions of rows.', 'no_partition, by list');
SELECT is(pg_temp.tolerates('tolerant_days', 'no_partition'), '1', 'no_partition, by range');
SAVEPOINT with_trigger;
CREATE TRIGGER one BEFORE INSERT ON tolerant FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TRIGGER one BEFORE UPDATE ON tolerant_days FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(pg_temp.tolerates('tolerant', class), '0A000 the table has triggers or foreign keys.', class || ' with a trigger') FROM unnest('{check,not_null}'::text[]) AS class;
SELECT is(pg_temp.tolerates('tolerant_days', 'check'), '1', 'a trigger for UPDATE alone');
ROLLBACK TO with_trigger;
ALTER TABLE tolerant_day ADD CHECK (w < 9), ALTER w SET NOT NULL;
SELECT is(pg_temp.tolerates('tolerant_days', class), '0A000 a partition has constraints of its own.', class || ' of a partition') FROM unnest('{check,not_null}'::text[]) AS class;
ROLLBACK TO with_trigger;
ALTER TABLE tolerant ADD CHECK (id + w < 200);
SELECT is(pg_temp.tolerates('tolerant', 'check'), '0A000 a constraint looks at columns that the file does not have.', 'a CHECK of a column that stays');
SELECT is(pg_temp.tolerates('tolerant', 'check', 'nothing'), '1', '... and no update');
ALTER TABLE tolerant ADD CHECK (tableoid > 0);
SELECT is(pg_temp.tolerates('tolerant', 'check', 'nothing'), '0A000 a constraint or generated column sees of which table a row is.', 'a CHECK of the table');
ROLLBACK TO with_trigger;

-- In a savepoint, and after it is taken back
SELECT pg_temp.file() \g /dev/null
CREATE TABLE got (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
CREATE TABLE got_1 PARTITION OF got FOR VALUES FROM ('2024-01-01') TO ('2024-01-05');
SAVEPOINT s;
SELECT is(fast_copy('got', :'file', workers => 2, options => '{"on_conflict": "update"}'), 230::bigint, 'in a savepoint');
ROLLBACK TO s;
SELECT is_empty('TABLE got', 'taken back');
SELECT is(pg_temp.left_behind(), 0::bigint, 'with its schema');
SAVEPOINT s;
SELECT is(fast_copy('got', :'file', workers => 2, options => '{"on_conflict": "update"}'), 230::bigint, 'again');
RELEASE s;
SELECT is(fast_copy('got', :'file', workers => 2, options => '{"on_conflict": "nothing"}'), 0::bigint, 'what is there is not loaded');

-- Refusals: what options say
SELECT is(pg_temp.fails('{"on_conflict": "replace"}'), '22023|on_conflict "replace" not recognized|Use on_conflict => ''error'', ''nothing'' or ''update''.', 'another word');
SELECT is(pg_temp.fails('{"dedup_keys": ["at"]}'), '22023|dedup_keys requires existing_rows "merge", or on_conflict|Add existing_rows => ''merge'', or on_conflict => ''update''.', 'dedup_keys alone');
SELECT is(pg_temp.fails('{"dedup_keep": "first"}'), '22023|dedup_keep requires existing_rows "merge", or on_conflict|Add existing_rows => ''merge'', or on_conflict => ''update''.', 'dedup_keep alone');
SELECT is(pg_temp.fails('{"dedup_keys": ["at"], "on_conflict": "error"}'), '22023|dedup_keys requires existing_rows "merge", or on_conflict|Add existing_rows => ''merge'', or on_conflict => ''update''.', 'dedup_keys, and an error');
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keep": "any"}'), '22023|dedup_keep "any" not recognized|Use dedup_keep => ''last'' or ''first''.', 'which row');
SELECT is(pg_temp.fails('{"on_conflict": "update", "existing_rows": "replace"}'), '22023|existing_rows cannot be used with on_conflict "update"|Leave one of them out.', 'existing_rows');
SELECT is(pg_temp.fails('{"on_conflict": "nothing", "existing_rows": "merge"}'), '22023|existing_rows cannot be used with on_conflict "nothing"|Leave one of them out.', 'existing_rows, merged');
SELECT is(pg_temp.fails('{"on_conflict": "Nothing", "existing_rows": "keep"}'), 'none', 'existing_rows that are kept');
SELECT is(pg_temp.fails('{"on_conflict": "update", "freeze": true}'), '22023|freeze cannot be used with on_conflict "update"|Leave one of them out.', 'freeze');
SELECT is(pg_temp.fails('{"on_conflict": "update", "order_by": ["id"]}'), '22023|order_by cannot be used with on_conflict "update"|Leave one of them out.', 'order_by');
SELECT is(pg_temp.fails('{"on_conflict": "update", "on_error": "ignore", "on_error_classes": ["unique"]}'), '22023|on_error_classes "unique" cannot be used with on_conflict "update"|Leave one of them out.', 'unique ones');

-- What the table has: an index of exactly these columns
CREATE FUNCTION pg_temp.no_index(tab text) RETURNS text LANGUAGE sql AS $$
	SELECT format('42P10|there is no unique or exclusion constraint matching the ON CONFLICT specification|Table "%s" has no valid unique index of exactly the columns in dedup_keys that compares them as their types do, and at once.|Make one, or name the columns of another one in dedup_keys.', tab)
$$;
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE bare (at date, id int, v text);
SELECT is(pg_temp.fails('{"on_conflict": "update"}', 'bare'), '22023|on_conflict requires dedup_keys|Table "bare" has no primary key.|Name the columns of a unique index.', 'no primary key');
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at", "id"]}', 'bare'), pg_temp.no_index('bare'), 'no index');
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at", "gone"]}', 'bare'), '42703|column "gone" of relation "bare" does not exist', 'no such column');
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["ctid"]}', 'bare'), '42703|column "ctid" of relation "bare" does not exist', 'a system column');
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at", "id", "at"]}', 'got'), '42701|column "at" specified more than once', 'a column twice');
CREATE FUNCTION pg_temp.check_index(command text, wanted text DEFAULT pg_temp.no_index('bare'), keys text DEFAULT '["at", "id"]') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE bare CASCADE;
	CREATE TABLE bare (at date, id int, v text);
	EXECUTE command;
	RETURN is(pg_temp.fails(format('{"on_conflict": "update", "dedup_keys": %s}', keys)::jsonb, 'bare'), wanted, command);
END
$$;
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, id)', 'none');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (id DESC NULLS FIRST, at)', 'none');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (id, at) INCLUDE (v)', 'none');
SELECT pg_temp.check_index('CREATE INDEX ON bare (at, id)');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at)');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, id, v)');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at) INCLUDE (id)');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, at)');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, id) WHERE id > 0');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, (id + 0))');
SELECT pg_temp.check_index('ALTER TABLE bare ADD UNIQUE (at, id) DEFERRABLE');
SELECT pg_temp.check_index('ALTER TABLE bare ADD UNIQUE (at, id) DEFERRABLE INITIALLY DEFERRED');
SELECT pg_temp.check_index('ALTER TABLE bare ADD EXCLUDE USING btree (at WITH =, id WITH =)');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, id); UPDATE pg_index SET indisvalid = false WHERE indrelid = ''bare''::regclass');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, v COLLATE blind)', keys => '["at", "v"]');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, v text_pattern_ops)', keys => '["at", "v"]');
SELECT pg_temp.check_index('CREATE UNIQUE INDEX ON bare (at, v COLLATE blind); CREATE UNIQUE INDEX ON bare (v, at)', 'none', '["at", "v"]');
CREATE TABLE wide (at date, id int, v text, PRIMARY KEY (at, id), UNIQUE (at, v), UNIQUE (id));
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at"], "timestamp_column": "at"}', 'wide'), pg_temp.no_index('wide'), 'not all of the primary key');
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["id"], "timestamp_column": "at"}', 'wide'), '22023|dedup_keys must contain column "at"|Rows are compared with those that have the same value in it.', 'the key is not among them');
TRUNCATE wide;
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["id"]}', 'wide'), 'none', 'without a key it is no matter');

-- What it is
CREATE FUNCTION pg_temp.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE VIEW seen AS TABLE wide;
CREATE TRIGGER instead INSTEAD OF INSERT ON seen FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at", "id"]}', 'seen'), '0A000|cannot load rows into table "seen" with on_conflict|It is no table of this server.', 'a view');
CREATE EXTENSION postgres_fdw;
CREATE SERVER away FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE foreign_one (at date, id int, v text) SERVER away;
SELECT is(pg_temp.fails('{"on_conflict": "update", "dedup_keys": ["at", "id"]}', 'foreign_one'), '0A000|cannot load rows into table "foreign_one" with on_conflict|It is no table of this server.', 'a foreign table');
CREATE FUNCTION pg_temp.check_rule(event text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS ruled;
	CREATE TABLE ruled (at date, id int, v text, PRIMARY KEY (at, id));
	EXECUTE format('CREATE RULE nothing AS ON %s TO ruled DO INSTEAD NOTHING', event);
	RETURN is(pg_temp.fails('{"on_conflict": "update"}', 'ruled'), CASE event WHEN 'DELETE' THEN 'none' ELSE '0A000|cannot load rows into table "ruled" with on_conflict|It has rules for INSERT or UPDATE.' END, 'rules for ' || event);
END
$$;
SELECT pg_temp.check_rule(event) FROM unnest('{INSERT,UPDATE,DELETE}'::text[]) AS event;
CREATE TABLE moody (at date, id int, v text, r float8 DEFAULT random(), PRIMARY KEY (at, id)) PARTITION BY RANGE (at);
SELECT is(pg_temp.fails('{"on_conflict": "update"}', 'moody', ', columns => ''{at,id,v}'''), '0A000|cannot load rows into table "moody" with on_conflict|A default or the condition is volatile: rows are evaluated in file order.', 'a volatile default');
SELECT is(pg_temp.fails('{"on_conflict": "update"}', 'moody', ', columns => ''{at,id,v}'', where_clause => ''r < 2'''), '0A000|cannot load rows into table "moody" with on_conflict|A default or the condition is volatile: rows are evaluated in file order.', 'a condition about it');
ALTER TABLE moody ALTER r DROP DEFAULT;
SELECT is(pg_temp.fails('{"on_conflict": "update"}', 'moody', ', columns => ''{at,id,v}'', where_clause => ''random() < 2'''), 'none', 'a condition that is volatile is no matter');
CREATE TABLE moody_2 (at date, id int, v text, r float8 DEFAULT random(), PRIMARY KEY (at, id));
SELECT is(pg_temp.fails('{"on_conflict": "update"}', 'moody_2', ', columns => ''{at,id,v}'', where_clause => ''random() < 2'''), 'none', 'without a key they are no matter');

-- Who may
CREATE ROLE fc_conflicts;
GRANT USAGE ON SCHEMA public TO fc_conflicts;
GRANT pg_read_server_files TO fc_conflicts;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO fc_conflicts;
CREATE TABLE layouts AS SELECT * FROM (VALUES ('plain', ''), ('partitioned', 'PARTITION BY RANGE (at)')) AS l (layout, scheme);
CREATE FUNCTION pg_temp.check_role(about text, wanted text, grants text, action text DEFAULT 'update') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	layout record;
	got text;
BEGIN
	FOR layout IN SELECT * FROM layouts LOOP
		DROP TABLE IF EXISTS got;
		EXECUTE format('CREATE TABLE got (at date, id int, v text, w serial, PRIMARY KEY (at, id)) %s', layout.scheme);
		IF layout.scheme <> '' THEN
			CREATE TABLE got_1 PARTITION OF got FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
		END IF;
		INSERT INTO got SELECT at, id, 'old', 1000 FROM news WHERE g <= 3;
		EXECUTE grants;
		SET LOCAL ROLE fc_conflicts;
		-- it fails before a file is looked for
		got := pg_temp.error_of(format('SELECT fast_copy(''got'', %L, workers => 2, columns => ''{at,id,v}'', options => %L)', current_setting('fc.file') || CASE wanted WHEN 'none' THEN '' ELSE '.none' END,
			jsonb_build_object('on_conflict', action, 'dedup_keys', '{at,id}'::text[])));
		RESET ROLE;
		RETURN NEXT is(got, wanted, about || ', ' || layout.layout);
		RETURN NEXT is(count(*), CASE wanted WHEN 'none' THEN 230::bigint ELSE 3 END, about || ', ' || layout.layout || ': rows') FROM got;
		RETURN NEXT is(count(*), CASE WHEN wanted = 'none' AND action = 'update' THEN 0::bigint ELSE 3 END, about || ', ' || layout.layout || ': old ones') FROM got WHERE v = 'old';
		RETURN NEXT is(count(*), 3::bigint, about || ', ' || layout.layout || ': other columns stay') FROM got WHERE w = 1000;
	END LOOP;
END
$$;
SELECT pg_temp.check_role('nothing granted', '42501|permission denied for table got|Its owner may GRANT INSERT ON got TO fc_conflicts.', 'SELECT');
SELECT pg_temp.check_role('INSERT', '42501|permission denied for table got|Its owner may GRANT SELECT ON got TO fc_conflicts, for the key, by which rows are found.', 'GRANT INSERT ON got TO fc_conflicts');
SELECT pg_temp.check_role('INSERT and UPDATE', '42501|permission denied for table got|Its owner may GRANT SELECT ON got TO fc_conflicts, for the key, by which rows are found.', 'GRANT INSERT, UPDATE ON got TO fc_conflicts');
SELECT pg_temp.check_role('INSERT and SELECT', '42501|permission denied for table got|Its owner may GRANT UPDATE ON got TO fc_conflicts, because rows are updated.', 'GRANT INSERT, SELECT ON got TO fc_conflicts');
SELECT pg_temp.check_role('SELECT on one key', '42501|permission denied for table got', 'GRANT INSERT, UPDATE, SELECT (at) ON got TO fc_conflicts');
SELECT pg_temp.check_role('UPDATE on the keys', '42501|permission denied for table got', 'GRANT INSERT, UPDATE (at, id), SELECT (at, id) ON got TO fc_conflicts');
SELECT pg_temp.check_role('SELECT and UPDATE', '42501|permission denied for table got|Its owner may GRANT INSERT ON got TO fc_conflicts.', 'GRANT UPDATE, SELECT ON got TO fc_conflicts');
SELECT pg_temp.check_role('INSERT on a column less', '42501|permission denied for table got', 'GRANT INSERT (at, id), UPDATE, SELECT ON got TO fc_conflicts');
SELECT pg_temp.check_role('SELECT on the keys alone', '42501|permission denied for table got', 'GRANT INSERT, UPDATE, SELECT (at, id) ON got TO fc_conflicts');
SELECT pg_temp.check_role('all of it by columns', 'none', 'GRANT INSERT (at, id, v), UPDATE (v), SELECT (at, id, v) ON got TO fc_conflicts; GRANT USAGE ON SEQUENCE got_w_seq TO fc_conflicts');
SELECT pg_temp.check_role('all of it', 'none', 'GRANT INSERT, UPDATE (v), SELECT (at, id, v) ON got TO fc_conflicts; GRANT USAGE ON SEQUENCE got_w_seq TO fc_conflicts');
SELECT pg_temp.check_role('nothing, without UPDATE', 'none', 'GRANT INSERT (at, id, v), SELECT (at, id) ON got TO fc_conflicts; GRANT USAGE ON SEQUENCE got_w_seq TO fc_conflicts', 'nothing');
SELECT pg_temp.check_role('nothing, without SELECT', '42501|permission denied for table got|Its owner may GRANT SELECT ON got TO fc_conflicts, for the key, by which rows are found.', 'GRANT INSERT ON got TO fc_conflicts', 'nothing');
CREATE TABLE guarded (at date, id int, v text, PRIMARY KEY (at, id));
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
GRANT ALL ON guarded TO fc_conflicts;
SET LOCAL ROLE fc_conflicts;
SELECT is(pg_temp.fails('{"on_conflict": "update"}', 'guarded'), '0A000|COPY FROM not supported with row-level security|Use INSERT statements instead.', 'policies');
RESET ROLE;

-- Objects of the same names in the search_path of who loads
CREATE SCHEMA mallory;
CREATE TABLE mallory.hers (at date, id int, v text, PRIMARY KEY (at, id));
CREATE TABLE public.hers (at date, id int, v text, PRIMARY KEY (at, id));
INSERT INTO public.hers SELECT at, id, 'old' FROM news WHERE g <= 3;
CREATE FUNCTION mallory.never(date, date) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''mine''; END';
CREATE OPERATOR mallory.= (FUNCTION = mallory.never, LEFTARG = date, RIGHTARG = date);
CREATE FUNCTION mallory.never(bigint, int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''mine''; END';
CREATE OPERATOR mallory.= (FUNCTION = mallory.never, LEFTARG = bigint, RIGHTARG = int);
SET LOCAL search_path = mallory, pg_catalog;
SELECT public.fast_copy('public.hers', :'file', workers => 2, options => '{"on_conflict": "update"}') AS loaded \gset
SET LOCAL search_path = public, pg_catalog;
SELECT is(:loaded, 230, 'another search_path');
SELECT set_eq('TABLE hers', 'SELECT DISTINCT ON (at, id) at, id, v FROM news ORDER BY at, id, g DESC', 'the rows are in the table that was named');
SELECT is_empty('TABLE mallory.hers', 'and none in the other');

-- Other indexes of the same columns: another collation, and one that can be deferred
CREATE COLLATION either (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE words (k text UNIQUE, v int);
CREATE UNIQUE INDEX words_either ON words (k COLLATE either);
INSERT INTO words VALUES ('a', 1);
SELECT pg_temp.file($$VALUES ('A', 1)$$) \g /dev/null
SELECT throws_like($$SELECT fast_copy('words', current_setting('fc.file'), options => '{"on_conflict": "nothing", "dedup_keys": ["k"]}')$$, '%"words_either"', 'another collation');
CREATE TABLE later (k int UNIQUE, v int, UNIQUE (k) DEFERRABLE);
SELECT throws_ok($$SELECT fast_copy('later', current_setting('fc.file'), options => '{"on_conflict": "nothing", "dedup_keys": ["k"]}')$$, '42P10', NULL, 'one that can be deferred');
CREATE TABLE always (k int UNIQUE, i int GENERATED ALWAYS AS IDENTITY);
SELECT throws_ok($$SELECT fast_copy('always', current_setting('fc.file'), options => '{"on_conflict": "update", "dedup_keys": ["k"]}')$$, '428C9', 'column "i" can only be updated to DEFAULT', 'an identity column');
SELECT is(pg_temp.left_behind(), 0::bigint, 'nothing is left');

SELECT * FROM finish();
ROLLBACK;
