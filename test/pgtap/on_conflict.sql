-- on_conflict: the table that a COPY into a stage and INSERT ... ON CONFLICT leave,
-- whatever way rows go, and by however many workers.

\set name on_conflict
\ir begin.psql
SELECT * FROM no_plan();

-- Rows of ten days; some come three times, and each with another value
CREATE TABLE news AS
SELECT g, date '2024-01-01' + g * 7 % 10 AS at, g * 31 % 23 AS id, CASE g % 9 WHEN 0 THEN NULL ELSE repeat('row ' || g || ' ', g % 5) END AS v FROM generate_series(1, 700) AS g;

-- The file, by a query; each table is made by a command with %1$s for its name
CREATE FUNCTION pg_temp.file() RETURNS text LANGUAGE sql AS $$SELECT pg_temp.file('SELECT at, id, v FROM news ORDER BY g', '')$$;
CREATE FUNCTION pg_temp.make(name text, ddl text, olds text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
	EXECUTE format(ddl, name);
	EXECUTE format(olds, name);
END
$$;

-- What on_conflict means: loads the file into table wanted; returns how many rows
-- were inserted or updated
CREATE FUNCTION pg_temp.define(columns text[], keys text[], action text, keep text, nulls_equal bool, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	names text := (SELECT string_agg(quote_ident(c), ', ') FROM unnest(columns) AS c);
	keys_said text := (SELECT string_agg(quote_ident(k), ', ') FROM unnest(keys) AS k);
	n bigint;
BEGIN
	DROP TABLE IF EXISTS pg_temp.stage;
	CREATE TEMP TABLE stage (LIKE wanted INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING IDENTITY);
	ALTER TABLE stage ADD "its line" bigserial;
	EXECUTE format('COPY stage (%s) FROM %L (FORMAT csv) WHERE %s', names, current_setting('fc.file'), condition);
	EXECUTE format('INSERT INTO wanted (%1$s) OVERRIDING SYSTEM VALUE SELECT %1$s FROM (SELECT *, row_number() OVER (PARTITION BY %2$s ORDER BY "its line"%3$s) AS "its rank" FROM stage) AS s
		WHERE "its rank" = 1%4$s ON CONFLICT (%2$s) DO %5$s', names, keys_said, CASE coalesce(keep, CASE action WHEN 'nothing' THEN 'first' ELSE 'last' END) WHEN 'last' THEN ' DESC' ELSE '' END,
		(SELECT string_agg(format(' OR %I IS NULL', k), '') FROM unnest(keys) AS k WHERE NOT nulls_equal),
		CASE WHEN action = 'nothing' OR columns <@ keys THEN 'NOTHING' ELSE 'UPDATE SET ' || (SELECT string_agg(format('%1$I = excluded.%1$I', c), ', ') FROM unnest(columns) AS c WHERE c <> ALL (keys)) END);
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END
$$;

CREATE FUNCTION pg_temp.how() RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws('; ', string_agg(choice, '; ') FILTER (WHERE phase = 'replace'), count(*) FILTER (WHERE choice ~ ', new$') || ' new', count(*) FILTER (WHERE choice ~ ', staged') || ' staged')
	FROM fast_copy_report()
$$;

-- Loads by on_conflict, and by its definition.  "olds" are the rows, and partitions,
-- that are there; wanted has those that got is to make by "rest".  Four tests for
-- each action, row that is kept, and number of workers; of these only the last one is
-- tried for all but the first action.
CREATE FUNCTION pg_temp.check_conflict(about text, ddl text, olds text DEFAULT 'INSERT INTO %1$s (at, id, v) SELECT at, id, ''old'' FROM news WHERE g < 80 AND g %% 3 = 0', rest text DEFAULT 'SELECT',
	how text DEFAULT '', options jsonb DEFAULT '{}', columns text[] DEFAULT '{at,id,v}', keys text[] DEFAULT '{at,id}', compared text DEFAULT '*', nulls_equal bool DEFAULT false,
	condition text DEFAULT 'true', actions text[] DEFAULT '{update,nothing}', keeps text[] DEFAULT '{NULL}', workers int[] DEFAULT '{0,2}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	action text;
	keep text;
	w int;
	said text;
	got bigint;
	wanted bigint;
	n bigint;
	before bigint;
BEGIN
	FOREACH action IN ARRAY actions LOOP
		FOREACH keep IN ARRAY keeps LOOP
			-- what is the default need not be said, too
			CONTINUE WHEN (action = 'update' AND keep = 'last') OR (action = 'nothing' AND keep = 'first');
			PERFORM pg_temp.make('wanted', ddl, olds);
			EXECUTE format(rest, 'wanted');
			SELECT count(*) FROM wanted INTO before;
			wanted := pg_temp.define(columns, keys, action, keep, nulls_equal, condition);
			FOREACH w IN ARRAY workers LOOP
				CONTINUE WHEN (action <> actions[1] OR keep IS NOT NULL) AND w <> workers[cardinality(workers)];
				said := format('%s, %s %s, %s workers', about, action, keep, w);
				PERFORM pg_temp.make('got', ddl, olds);
				got := fast_copy('got', current_setting('fc.file'), columns => columns, workers => w, where_clause => nullif(condition, 'true'), partition_interval => CASE WHEN ddl ~ 'PARTITION BY RANGE \(at\)' AND NOT options ? 'missing_partitions' THEN '1 day' END,
					options => jsonb_strip_nulls(jsonb_build_object('on_conflict', action, 'dedup_keep', keep, 'dedup_keys', keys)) || options);
				RETURN NEXT is(got, wanted, said || ': rows');
				EXECUTE format('SELECT count(*) FROM ((SELECT %1$s FROM got EXCEPT ALL SELECT %1$s FROM wanted) UNION ALL (SELECT %1$s FROM wanted EXCEPT ALL SELECT %1$s FROM got)) AS s', compared) INTO n;
				RETURN NEXT is(n, 0::bigint, said || ': as INSERT ... ON CONFLICT');
				RETURN NEXT is(updated, wanted - ((SELECT count(*) FROM wanted) - before), said || ': updated') FROM fast_copy_report() WHERE phase = 'total';
				RETURN NEXT ok(pg_temp.how() ~ how AND pg_temp.left_behind() = 0, said || ': ' || pg_temp.how());
			END LOOP;
		END LOOP;
	END LOOP;
END
$$;

-- Plain tables: by SQL, and with a key
SELECT pg_temp.file() \g /dev/null
SELECT pg_temp.check_conflict('a plain table', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id))', how => '^of \d+ rows of a stage, by INSERT', keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('a plain table with a key', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id))', options => '{"timestamp_column": "at"}', how => '^of [12]\d\d rows of a stage, by INSERT',
	keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('no rows yet', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id))', olds => 'SELECT');
SELECT pg_temp.check_conflict('one column', 'CREATE TABLE %1$s (at date, id int PRIMARY KEY, v text)', olds => 'INSERT INTO %1$s VALUES (NULL, 3, NULL), (NULL, 99, NULL)', keys => '{id}');

-- Partitioned by range: those that are there, those that are not, some
CREATE FUNCTION pg_temp.days(low int, high int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('CREATE TABLE %%1$s_%s PARTITION OF %%1$s FOR VALUES FROM (%L) TO (%L);', d, date '2024-01-01' + d, date '2024-01-02' + d), '') FROM generate_series(low, high) AS d
$$;
CREATE FUNCTION pg_temp.olds(high int) RETURNS text LANGUAGE sql AS $$
	SELECT format('INSERT INTO %%1$s (at, id, v) SELECT at, id, ''old'' FROM news WHERE g < 80 AND g %%%% 3 = 0 AND at <= %L', date '2024-01-01' + high)
$$;
SELECT pg_temp.check_conflict('all partitions are there', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 9), how => 'stage.*; 0 new; 1 staged', keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('some partitions are there', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4), olds => pg_temp.olds(4), rest => pg_temp.days(5, 9),
	how => 'stage.*; 5 new; 1 staged', keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('no partition is there', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9),
	how => '^10 new; 0 staged', keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('a default partition', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4) || 'CREATE TABLE %1$s_rest PARTITION OF %1$s DEFAULT',
	options => '{"missing_partitions": "default"}', how => 'stage.*; 0 new; 1 staged', workers => '{0,2,4}');
SELECT pg_temp.check_conflict('partitions with other columns', 'CREATE TABLE %1$s (gone text, at date, id int, gone2 int, v text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at); ALTER TABLE %1$s DROP gone, DROP gone2;
	CREATE TABLE %1$s_1 (v text, gone int, id int NOT NULL, at date NOT NULL); ALTER TABLE %1$s_1 DROP gone; ALTER TABLE %1$s ATTACH PARTITION %1$s_1 FOR VALUES FROM (''2024-01-01'') TO (''2024-01-04'')',
	olds => pg_temp.olds(2), rest => pg_temp.days(3, 9), how => '7 new; 1 staged', workers => '{0,2,4}');

-- Partitioned otherwise: no key, and so all rows through the stage
SELECT pg_temp.check_conflict('by list', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY LIST (id); CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES IN (1, 2, 3); CREATE TABLE %1$s_2 PARTITION OF %1$s DEFAULT', how => 'stage');
SELECT pg_temp.check_conflict('by hash', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY HASH (id); CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE %1$s_2 PARTITION OF %1$s FOR VALUES WITH (MODULUS 2, REMAINDER 1)', how => 'stage', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('by two columns', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (id, at); CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES FROM (MINVALUE, MINVALUE) TO (10, ''2024-01-05'');
	CREATE TABLE %1$s_2 PARTITION OF %1$s FOR VALUES FROM (10, ''2024-01-05'') TO (MAXVALUE, MAXVALUE)', how => 'stage');
SELECT pg_temp.check_conflict('in levels', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES FROM (MINVALUE) TO (''2024-01-05'') PARTITION BY LIST (id);
	CREATE TABLE %1$s_2 PARTITION OF %1$s FOR VALUES FROM (''2024-01-05'') TO (MAXVALUE); CREATE TABLE %1$s_3 PARTITION OF %1$s_1 FOR VALUES IN (1, 2); CREATE TABLE %1$s_4 PARTITION OF %1$s_1 DEFAULT', how => 'stage',
	options => '{"missing_partitions": "default"}');

-- Columns: defaults, generated ones, identities, some of the table's; a condition
SELECT pg_temp.check_conflict('columns', 'CREATE TABLE %1$s (gone text, at date, x int DEFAULT 7, id int CHECK (id >= 0), v text, g int GENERATED ALWAYS AS (id * 2) STORED, i int GENERATED BY DEFAULT AS IDENTITY,
	a int GENERATED ALWAYS AS IDENTITY, s serial, w text NOT NULL DEFAULT ''w'', PRIMARY KEY (at, id)); ALTER TABLE %1$s DROP gone; ALTER TABLE %1$s ADD late text DEFAULT ''late''', compared => 'at, x, id, v, g, w, late');
SELECT pg_temp.check_conflict('columns of partitions', 'CREATE TABLE %1$s (gone text, at date, x int DEFAULT 7, id int CHECK (id >= 0), v text, g int GENERATED ALWAYS AS (id * 2) STORED, s serial, w text NOT NULL DEFAULT ''w'',
	PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ALTER TABLE %1$s DROP gone; ALTER TABLE %1$s ADD late text DEFAULT ''late''; ' || pg_temp.days(0, 4), olds => pg_temp.olds(4), rest => pg_temp.days(5, 9), how => '5 new; 1 staged',
	compared => 'at, x, id, v, g, w, late', workers => '{0,2,4}');
SELECT pg_temp.check_conflict('other columns stay', 'CREATE TABLE %1$s (at date, id int, v text, kept text DEFAULT ''new'', PRIMARY KEY (at, id))', olds => 'INSERT INTO %1$s SELECT DISTINCT ON (at, id) at, id, v, ''kept '' || g FROM news WHERE g %% 2 = 0');
SELECT pg_temp.check_conflict('a condition', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4), olds => pg_temp.olds(4), rest => pg_temp.days(5, 9), condition => 'v IS NOT NULL AND id <> 5');
SELECT pg_temp.file('SELECT at, id FROM news ORDER BY g') \g /dev/null
SELECT pg_temp.check_conflict('only keys', 'CREATE TABLE %1$s (at date, id int, v text DEFAULT ''new'', PRIMARY KEY (at, id))', columns => '{at,id}');
SELECT pg_temp.check_conflict('only keys, partitions', 'CREATE TABLE %1$s (at date, id int, v text DEFAULT ''new'', PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4), columns => '{at,id}', olds => pg_temp.olds(4), rest => pg_temp.days(5, 9));
SELECT pg_temp.file('SELECT g, at, id FROM news ORDER BY g') \g /dev/null
SELECT pg_temp.check_conflict('an identity of the file', 'CREATE TABLE %1$s (i int GENERATED ALWAYS AS IDENTITY, at date, id int, v text, PRIMARY KEY (at, id))', columns => '{i,at,id}', actions => '{nothing}', keeps => '{NULL,first,last}');
SELECT pg_temp.check_conflict('an identity that is the key', 'CREATE TABLE %1$s (i int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at date, id int)', olds => 'INSERT INTO %1$s OVERRIDING SYSTEM VALUE SELECT g, ''2023-01-01'', 0 FROM news WHERE g %% 7 = 0',
	columns => '{i,at,id}', keys => '{i}');

-- Names that SQL could take for others
SELECT pg_temp.file() \g /dev/null
SELECT pg_temp.check_conflict('names', 'CREATE TABLE %1$s ("excluded" date, "A ""b" int, "n" text, PRIMARY KEY ("excluded", "A ""b"))', columns => '{excluded,"A \"b",n}', keys => '{excluded,"A \"b"}',
	olds => 'INSERT INTO %1$s SELECT at, id, ''old'' FROM news WHERE g < 20');
SELECT pg_temp.check_conflict('more names', 'CREATE TABLE %1$s (c0 date, o int, s text, t int DEFAULT 3, n int DEFAULT 4, c1 text DEFAULT ''x'', UNIQUE (o, c0))', columns => '{c0,o,s}', keys => '{c0,o}', olds => 'INSERT INTO %1$s SELECT at, id, ''old'' FROM news WHERE g < 20');
CREATE FUNCTION pg_temp.named(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	told text;
	n bigint;
BEGIN
	EXECUTE format('CREATE TABLE %I (at date, id int, v text, PRIMARY KEY (at, id))', name);
	n := fast_copy(format('%I', name)::regclass, current_setting('fc.file'), options => '{"on_conflict": "update"}');
	EXECUTE format('SELECT count(*) FROM %I', name) INTO STRICT told;
	RETURN concat_ws(' ', n, told);
END
$$;
SELECT is(pg_temp.named(name), '230 230', 'a table of the name ' || name) FROM unnest(ARRAY['excluded', 't', 's', 'A "b', 'fast_copy exchange', 'select']) AS name;

-- NULLs in keys: each is another one, or all are one
SELECT pg_temp.file('SELECT CASE WHEN g % 6 > 0 THEN at END, CASE WHEN g % 5 > 1 THEN id % 4 END, v FROM news ORDER BY g') \g /dev/null
SELECT pg_temp.check_conflict('NULLs', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE (id, at))', olds => 'INSERT INTO %1$s VALUES (NULL, NULL, ''old''), (NULL, 1, ''old''), (''2024-01-02'', NULL, ''old''), (''2024-01-02'', 1, ''old'')', keeps => '{NULL,first,last}');
SELECT pg_temp.check_conflict('NULLs, with a key', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE (id, at))', olds => 'INSERT INTO %1$s VALUES (NULL, NULL, ''old''), (NULL, 1, ''old''), (''2024-01-02'', NULL, ''old''), (''2024-01-02'', 1, ''old'')',
	options => '{"timestamp_column": "at"}', keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('NULLs are equal', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE NULLS NOT DISTINCT (id, at))', olds => 'INSERT INTO %1$s VALUES (NULL, NULL, ''old''), (NULL, 1, ''old''), (''2024-01-02'', NULL, ''old''), (''2024-01-02'', 1, ''old'')',
	nulls_equal => true, keeps => '{NULL,first,last}');
SELECT pg_temp.check_conflict('NULLs are equal, with a key', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE NULLS NOT DISTINCT (id, at))', olds => 'INSERT INTO %1$s VALUES (NULL, NULL, ''old''), (NULL, 1, ''old''), (''2024-01-02'', NULL, ''old''), (''2024-01-02'', 1, ''old'')',
	options => '{"timestamp_column": "at"}', nulls_equal => true, keeps => '{NULL,first,last}', workers => '{0,1,2,4}');
SELECT pg_temp.check_conflict('NULLs are equal in one of two indexes', 'CREATE TABLE %1$s (at date, id int, v text, ' || indexes || ')', nulls_equal => true, olds => 'SELECT') FROM unnest('{"UNIQUE (at, id), UNIQUE NULLS NOT DISTINCT (id, at)","UNIQUE NULLS NOT DISTINCT (at, id), UNIQUE (at, id)"}'::text[]) AS indexes;
SELECT pg_temp.check_conflict('NULLs in partitions', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE (id, at)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4) || 'CREATE TABLE %1$s_rest PARTITION OF %1$s DEFAULT',
	olds => 'INSERT INTO %1$s VALUES (NULL, NULL, ''old''), (NULL, 1, ''old''), (''2024-01-02'', NULL, ''old''), (''2024-01-02'', 1, ''old'')', rest => 'SELECT', keeps => '{NULL,first,last}');
SELECT pg_temp.check_conflict('equal NULLs in partitions', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE NULLS NOT DISTINCT (id, at)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4) || 'CREATE TABLE %1$s_rest PARTITION OF %1$s DEFAULT',
	olds => 'INSERT INTO %1$s VALUES (NULL, NULL, ''old''), (NULL, 1, ''old''), (''2024-01-02'', NULL, ''old''), (''2024-01-02'', 1, ''old'')', rest => 'SELECT', nulls_equal => true, keeps => '{NULL,first,last}');
SELECT pg_temp.file('SELECT at, CASE WHEN g % 5 > 1 THEN id % 4 END, v FROM news ORDER BY g') \g /dev/null
SELECT pg_temp.check_conflict('NULLs in new partitions', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE (id, at)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), how => '10 new', keeps => '{NULL,first,last}', workers => '{0,2,4}');
SELECT pg_temp.check_conflict('equal NULLs in new partitions', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE NULLS NOT DISTINCT (id, at)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), how => '10 new',
	nulls_equal => true, keeps => '{NULL,first,last}', workers => '{0,2,4}');
-- many of them are not compared with each other
SELECT pg_temp.file($$SELECT date '2024-01-01', NULL, g FROM generate_series(1, 60000) AS g$$) \g /dev/null
CREATE TABLE many (at date, id int, v text, UNIQUE (at, id)) PARTITION BY RANGE (at);
SET LOCAL statement_timeout = '10s';
SELECT is(fast_copy('many', :'file', options => '{"on_conflict": "update", "dedup_keys": ["at", "id"]}'), 60000::bigint, 'many rows with a NULL');
RESET statement_timeout;

-- Equal by their types, and not by their bytes
SELECT pg_temp.file($$SELECT at, CASE g % 3 WHEN 0 THEN (id % 5)::text WHEN 1 THEN id % 5 || '.0' ELSE id % 5 || '.00' END, v FROM news ORDER BY g$$) \g /dev/null
SELECT pg_temp.check_conflict('numeric' || more, 'CREATE TABLE %1$s (at date, id numeric, v text, UNIQUE (at, id))', olds => 'INSERT INTO %1$s VALUES (''2024-01-02'', 1.000, ''old'')', options => options, workers => '{0,2}')
	FROM (VALUES ('', '{}'::jsonb), (' with a key', '{"timestamp_column": "at"}')) AS x (more, options);
SELECT pg_temp.file($$SELECT at, CASE g % 3 WHEN 0 THEN 'ab' WHEN 1 THEN 'AB' ELSE 'aB' END || id % 4, v FROM news ORDER BY g$$) \g /dev/null
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT pg_temp.check_conflict('a collation' || more, 'CREATE TABLE %1$s (at date, id text COLLATE blind, v text, UNIQUE (at, id))', olds => 'INSERT INTO %1$s VALUES (''2024-01-02'', ''aB1'', ''old'')', options => options)
	FROM (VALUES ('', '{}'::jsonb), (' with a key', '{"timestamp_column": "at"}')) AS x (more, options);
SELECT pg_temp.check_conflict('a collation, new partitions', 'CREATE TABLE %1$s (at date, id text COLLATE blind, v text, UNIQUE (at, id)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), how => '10 new', workers => '{0,2,4}');
SELECT pg_temp.file($$SELECT at, repeat(chr(97 + id), 3000 + g % 2), v FROM news WHERE g <= 60 ORDER BY g$$) \g /dev/null
SELECT pg_temp.check_conflict('long keys' || more, 'CREATE TABLE %1$s (at date, id text, v text, UNIQUE (at, id))', olds => 'SELECT', options => options)
	FROM (VALUES ('', '{}'::jsonb), (' with a key', '{"timestamp_column": "at"}')) AS x (more, options);
-- no hash function, and many rows of one key; and rows that take more than the memory
SELECT pg_temp.file($$SELECT '2024-01-01', g * 37 % 211 * interval '1 second' + interval '1 day', 'row ' || g FROM generate_series(1, 3000) AS g$$) \g /dev/null
SELECT pg_temp.check_conflict('many of one key', 'CREATE TABLE %1$s (at date, id interval, v text, UNIQUE (at, id)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), keeps => '{NULL,first,last}');
SELECT pg_temp.file($$SELECT '2024-01-01', ARRAY[(g * 37 % 211)::bit(8)::varbit], 'row ' || g FROM generate_series(1, 3000) AS g$$) \g /dev/null
SELECT pg_temp.check_conflict('no hash function', 'CREATE TABLE %1$s (at date, id varbit[], v text, UNIQUE (at, id)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), keeps => '{NULL,first,last}');
SET LOCAL fast_copy.memory = '1MB';
SELECT pg_temp.file($$SELECT '2024-01-01', nullif(g * 37 % 211, 7), repeat('row ' || g || ' ', 60) FROM generate_series(1, 8000) AS g$$) \g /dev/null
SELECT pg_temp.check_conflict('little memory', 'CREATE TABLE %1$s (at date, id int, v text, UNIQUE (at, id)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), keeps => '{NULL,first,last}');
RESET fast_copy.memory;

-- Chunks and spills of each kind; and files whose rows come in the order of the key
SET LOCAL fast_copy.chunk_size = 700;
CREATE FUNCTION pg_temp.check_spills(data text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	spill text;
BEGIN
	PERFORM pg_temp.file(data);
	FOREACH spill IN ARRAY '{auto,rows,offsets}'::text[] LOOP
		PERFORM set_config('fast_copy.spill', spill, true);
		RETURN QUERY SELECT pg_temp.check_conflict('chunks, ' || spill || ', ' || CASE WHEN data ~ 'at, g' THEN 'in order' ELSE 'in no order' END,
			'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 2), olds => pg_temp.olds(2), rest => pg_temp.days(3, 9), how => '7 new; 1 staged', workers => '{0,1,2,4}', actions => '{update}');
		RETURN QUERY SELECT pg_temp.check_conflict('chunks, ' || spill || ', new', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ', olds => 'SELECT', rest => pg_temp.days(0, 9), how => '10 new', workers => '{2,4}', actions => '{update}');
	END LOOP;
	RESET fast_copy.spill;
	RETURN QUERY SELECT pg_temp.check_conflict('chunks', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id))', workers => '{0,1,2,4}');
END
$$;
SELECT pg_temp.check_spills('SELECT at, id, v FROM news ORDER BY g');
SELECT pg_temp.check_spills('SELECT at, id, v FROM news ORDER BY at, g');
RESET fast_copy.chunk_size;

-- Triggers, foreign keys, other constraints: core's INSERT sees to them
SELECT pg_temp.file() \g /dev/null
CREATE TABLE said (what text);
CREATE FUNCTION pg_temp.say() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO said SELECT concat_ws(' ', TG_WHEN, TG_OP, TG_LEVEL, CASE WHEN TG_LEVEL = 'ROW' THEN NEW::text END);
	RETURN NEW;
END
$$;
CREATE FUNCTION pg_temp.change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.v := concat(NEW.v, '!');
	RETURN CASE WHEN NEW.id % 7 > 0 THEN NEW END;
END
$$;
SELECT pg_temp.check_conflict('triggers', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)); CREATE TRIGGER change BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION pg_temp.change()', workers => '{0,2}');
SELECT pg_temp.check_conflict('triggers of a partitioned table', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4) ||
	'CREATE TRIGGER change BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION pg_temp.change()', olds => pg_temp.olds(4), rest => pg_temp.days(5, 9), workers => '{0,2}');
SELECT pg_temp.check_conflict('triggers of a partition', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4) ||
	'CREATE TRIGGER change BEFORE INSERT OR UPDATE ON %1$s_1 FOR EACH ROW EXECUTE FUNCTION pg_temp.change()', olds => pg_temp.olds(4), rest => pg_temp.days(5, 9), workers => '{0,2}');

-- What triggers are told of a load
CREATE FUNCTION pg_temp.check_said(about text, ddl text, trigger text, data text, rest text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	wanted text[];
	w int;
	action text;
BEGIN
	PERFORM pg_temp.file(data);
	FOREACH action IN ARRAY '{nothing,update}'::text[] LOOP
		PERFORM pg_temp.make('wanted', ddl, rest);
		INSERT INTO wanted SELECT at, id, 'old' FROM news WHERE g <= 3;
		EXECUTE format(trigger, 'wanted');
		TRUNCATE said;
		PERFORM pg_temp.define('{at,id,v}', '{at,id}', action, NULL, false, 'true');
		wanted := ARRAY(SELECT what FROM said ORDER BY what COLLATE "C");
		FOREACH w IN ARRAY CASE action WHEN 'update' THEN '{0,2}' ELSE '{2}' END::int[] LOOP
			PERFORM pg_temp.make('got', ddl, 'INSERT INTO %1$s SELECT at, id, ''old'' FROM news WHERE g <= 3');
			EXECUTE format(trigger, 'got');
			TRUNCATE said;
			PERFORM fast_copy('got', current_setting('fc.file'), workers => w, partition_interval => CASE WHEN ddl ~ 'PARTITION' THEN '1 day' END, options => jsonb_build_object('on_conflict', action));
			RETURN NEXT is(ARRAY(SELECT what FROM said ORDER BY what COLLATE "C"), wanted, format('%s, %s, %s workers: %s calls', about, action, w, cardinality(wanted)));
			RETURN NEXT set_eq('TABLE got', 'TABLE wanted', format('%s, %s, %s workers: rows', about, action, w));
		END LOOP;
	END LOOP;
END
$$;
CREATE TABLE layouts AS SELECT * FROM (VALUES ('plain', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id))', 'SELECT'), ('partitioned', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' ||
	(SELECT string_agg(pg_temp.days(d, d), '') FROM (SELECT DISTINCT at - date '2024-01-01' AS d FROM news WHERE g <= 3) AS s), (SELECT string_agg(pg_temp.days(d, d), '') FROM (SELECT at - date '2024-01-01' AS d FROM news EXCEPT SELECT at - date '2024-01-01' AS d FROM news WHERE g <= 3) AS s))) AS l (layout, ddl, rest);
CREATE TABLE triggers AS SELECT format('%s %s %s', timing, event, level) AS about, format('CREATE TRIGGER say %s %s ON %%1$s FOR EACH %s EXECUTE FUNCTION pg_temp.say()', timing, event, level) AS trigger
	FROM unnest('{BEFORE,AFTER}'::text[]) AS timing, unnest('{INSERT,UPDATE}'::text[]) AS event, unnest('{ROW,STATEMENT}'::text[]) AS level;
SELECT pg_temp.check_said(about || ', ' || layout, ddl, trigger, 'SELECT at, id, v FROM news WHERE g <= 40 ORDER BY g', rest) FROM layouts, triggers;
SELECT pg_temp.check_said(about || ', only new partitions', ddl, trigger, 'SELECT at, id, v FROM news WHERE at NOT IN (SELECT at FROM news WHERE g <= 3) ORDER BY g', rest) FROM layouts, triggers WHERE layout = 'partitioned' AND about ~ 'STATEMENT|BEFORE';
SELECT pg_temp.check_said(about || ', no row, ' || layout, ddl, trigger, 'SELECT at, id, v FROM news WHERE false', rest) FROM layouts, triggers WHERE about ~ 'STATEMENT';
SELECT pg_temp.check_said('a deferred trigger, ' || layout, ddl, 'CREATE CONSTRAINT TRIGGER say AFTER INSERT OR UPDATE ON %1$s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.say(); SET CONSTRAINTS ALL IMMEDIATE',
	'SELECT at, id, v FROM news WHERE g <= 40 ORDER BY g', rest) FROM layouts;
-- transition tables
CREATE FUNCTION pg_temp.say_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO said SELECT TG_OP || r::text FROM rows_now AS r;
	RETURN NULL;
END
$$;
SELECT pg_temp.check_said('a transition table, ' || layout, ddl, 'CREATE TRIGGER say_new AFTER INSERT ON %1$s REFERENCING NEW TABLE AS rows_now FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.say_all();
	CREATE TRIGGER say_newer AFTER UPDATE ON %1$s REFERENCING NEW TABLE AS rows_now FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.say_all()', 'SELECT at, id, v FROM news WHERE g <= 40 ORDER BY g', rest) FROM layouts;

-- A trigger that loads a file itself, with on_conflict
SELECT pg_temp.file('SELECT at, id, v FROM news WHERE g <= 40 ORDER BY g') \g /dev/null
CREATE TABLE within (at date, id int, v text, PRIMARY KEY (at, id));
CREATE FUNCTION pg_temp.within() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.id % 3 = 0 THEN
		PERFORM fast_copy('within', current_setting('fc.file'), workers => 2, options => '{"on_conflict": "update"}');
	END IF;
	RETURN NEW;
END
$$;
CREATE TABLE around (at date, id int, v text, PRIMARY KEY (at, id));
CREATE TRIGGER within BEFORE INSERT ON around FOR EACH ROW EXECUTE FUNCTION pg_temp.within();
SELECT is(fast_copy('around', :'file', workers => w, options => '{"on_conflict": "update"}'), 40::bigint, w || ' workers: a load within a load') FROM unnest('{0,2}'::int[]) AS w;
SELECT set_eq('TABLE within', 'TABLE around', 'both have the rows');
SELECT is(pg_temp.left_behind(), 0::bigint, 'no schema of either is left');

-- Foreign keys in both directions
CREATE TABLE ids (id int PRIMARY KEY);
INSERT INTO ids SELECT generate_series(0, 22);
SELECT pg_temp.file() \g /dev/null
SELECT pg_temp.check_conflict('a foreign key', 'CREATE TABLE %1$s (at date, id int REFERENCES ids, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4), olds => pg_temp.olds(4), rest => pg_temp.days(5, 9));
SELECT pg_temp.check_conflict('a foreign key that is deferred', 'CREATE TABLE %1$s (at date, id int REFERENCES ids DEFERRABLE INITIALLY DEFERRED, v text, PRIMARY KEY (at, id)) PARTITION BY RANGE (at); ' || pg_temp.days(0, 4), olds => pg_temp.olds(4), rest => pg_temp.days(5, 9));
SELECT pg_temp.check_conflict('others refer to it', 'CREATE TABLE %1$s (at date, id int, v text, PRIMARY KEY (at, id)); DROP TABLE IF EXISTS %1$s_refers; CREATE TABLE %1$s_refers (at date, id int, FOREIGN KEY (at, id) REFERENCES %1$s ON UPDATE CASCADE)',
	olds => 'INSERT INTO %1$s SELECT at, id, ''old'' FROM news WHERE g < 20; INSERT INTO %1$s_refers SELECT at, id FROM %1$s');

-- Ways in: the client, programs, packed files, several files, a header, text and binary
SELECT pg_temp.shell('cd ' || :'tmp_dir' || ' && sed s/row/one/g fc_on_conflict.csv >fc_oc_1.csv; sed s/row/two/g fc_on_conflict.csv >fc_oc_2.csv; (echo v,nothing_of_it,id,at; sed "s/^\([^,]*\),\([^,]*\),\(.*\)/\3,x,\2,\1/" fc_oc_2.csv) >fc_oc_3.csv; gzip -fk fc_oc_?.csv') \g /dev/null
CREATE FUNCTION pg_temp.check_way(about text, call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	layout record;
	w int;
BEGIN
	FOR layout IN SELECT * FROM layouts LOOP
		FOREACH w IN ARRAY '{0,2,4}'::int[] LOOP
			PERFORM pg_temp.make('got', layout.ddl, 'INSERT INTO %1$s SELECT at, id, ''old'' FROM news WHERE g <= 3');
			EXECUTE format(call, w) INTO STRICT about;
			RETURN NEXT is(about, '230', format('%s, %s, %s workers: rows', call, layout.layout, w));
			RETURN NEXT set_eq('TABLE got', $q$SELECT DISTINCT ON (at, id) at, id, replace(v, 'row', 'two') FROM news ORDER BY at, id, g DESC$q$, format('%s, %s, %s workers: those of the last file', call, layout.layout, w));
		END LOOP;
	END LOOP;
END
$$;
SET LOCAL fast_copy.chunk_size = 3000;
SELECT pg_temp.check_way('files', format($$SELECT fast_copy('got', ARRAY[%1$L || '/fc_oc_1.csv', %1$L || '/fc_oc_2.csv'], workers => %%s, options => '{"on_conflict": "update"}')$$, :'tmp_dir'));
SELECT pg_temp.check_way('packed', format($$SELECT fast_copy('got', ARRAY[%1$L || '/fc_oc_1.csv.gz', %1$L || '/fc_oc_2.csv.gz'], workers => %%s, options => '{"on_conflict": "update"}')$$, :'tmp_dir'));
SELECT pg_temp.check_way('programs', format($$SELECT fast_copy('got', ARRAY['sleep 0.05; cat %1$s/fc_oc_1.csv', 'cat %1$s/fc_oc_2.csv'], workers => %%s, options => '{"on_conflict": "update", "program": true}')$$, :'tmp_dir'));
SELECT pg_temp.check_way('a header', format($$SELECT fast_copy('got', %L || '/fc_oc_3.csv', header => 'map', workers => %%s, options => '{"on_conflict": "update", "ignore_extra_columns": true}')$$, :'tmp_dir'));
RESET fast_copy.chunk_size;
SELECT pg_temp.make('got', ddl, 'SELECT') FROM layouts WHERE layout = 'partitioned' \g /dev/null
LOAD 'fast_copy';
COPY got FROM STDIN WITH (fast_copy, FORMAT csv, on_conflict update, dedup_keys (at, id), dedup_keep first);
2024-01-01,1,one
2024-01-01,1,two
2024-02-01,1,three
2024-02-01,1,four
\.
SELECT set_eq('TABLE got', $$VALUES (date '2024-01-01', 1, 'one'), ('2024-02-01', 1, 'three')$$, 'by COPY, from the client');
COPY got FROM STDIN WITH (fast_copy, FORMAT csv, on_conflict 'NOTHING');
2024-01-01,1,five
2024-01-01,2,six
2024-02-01,2,seven
\.
SELECT set_eq('TABLE got', $$VALUES (date '2024-01-01', 1, 'one'), ('2024-02-01', 1, 'three'), ('2024-01-01', 2, 'six'), ('2024-02-01', 2, 'seven')$$, 'by COPY, nothing');
SELECT ok(count(*) > 0, 'fast_copy_analyze() takes the option') FROM fast_copy_analyze('got', :'file', options => '{"on_conflict": "update"}');
CREATE TEMP TABLE temporary (at date, id int, v text, PRIMARY KEY (at, id));
SELECT is(fast_copy('temporary', :'file', workers => w, options => '{"on_conflict": "update"}'), 230::bigint, w || ' workers: a temporary table') FROM unnest('{0,2}'::int[]) AS w;
SELECT is(fast_copy('got', :'file', run_analyze => true, options => '{"on_conflict": "update"}'), 230::bigint, 'with run_analyze');

-- Rows that are left out, and what the ledger says
SELECT fast_copy_create_reject_table('rej'), fast_copy_create_ledger_table('led') \g /dev/null
SELECT pg_temp.file($$SELECT at, CASE g % 10 WHEN 0 THEN 'x' ELSE id::text END, v FROM news ORDER BY g$$) \g /dev/null
CREATE FUNCTION pg_temp.check_left_out(layout text, ddl text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	w int;
	n bigint;
BEGIN
	FOREACH w IN ARRAY '{0,1,2,4}'::int[] LOOP
		PERFORM pg_temp.make('got', ddl, 'INSERT INTO %1$s SELECT at, id, ''old'' FROM news WHERE g <= 3');
		TRUNCATE rej, led;
		n := fast_copy('got', current_setting('fc.file'), workers => w, where_clause => 'id <> 5', options => '{"on_conflict": "update", "on_error": "ignore", "reject_table": "rej", "log_verbosity": "silent", "ledger": "led"}');
		RETURN NEXT is(n, (SELECT count(DISTINCT (at, id)) FROM news WHERE g % 10 > 0 AND id <> 5), format('%s, %s workers: rows', layout, w));
		RETURN NEXT set_eq('TABLE got', $q$SELECT * FROM (SELECT DISTINCT ON (at, id) at, id, v FROM news WHERE g % 10 > 0 AND id <> 5 ORDER BY at, id, g DESC) AS s UNION ALL
			SELECT at, id, 'old' FROM news WHERE g <= 3 AND (at, id) NOT IN (SELECT at, id FROM news WHERE g % 10 > 0 AND id <> 5)$q$, format('%s, %s workers: those that are good', layout, w));
		RETURN NEXT is((SELECT count(*) FROM rej), 70::bigint, format('%s, %s workers: rejects', layout, w));
		RETURN NEXT is((SELECT rejected FROM led), 70::bigint, format('%s, %s workers: the ledger', layout, w));
		RETURN NEXT is((SELECT filtered FROM led), (SELECT count(*) FROM news WHERE g % 10 > 0 AND id = 5), format('%s, %s workers: the ledger has those left out', layout, w));
		RETURN NEXT is(fast_copy('got', current_setting('fc.file'), workers => w, options => '{"on_conflict": "update", "ledger": "led"}'), 0::bigint, format('%s, %s workers: not again', layout, w));
	END LOOP;
END
$$;
SELECT pg_temp.check_left_out(layout, ddl) FROM layouts;

-- What a trigger mends is no error
CREATE TABLE mended (id int PRIMARY KEY CHECK (id < 5), at timestamp NOT NULL);
CREATE FUNCTION mend() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN new.at := coalesce(new.at, '2024-01-01'); new.id := least(new.id, 4); RETURN new; END$$;
CREATE TRIGGER mend BEFORE INSERT ON mended FOR EACH ROW EXECUTE FUNCTION mend();
SELECT format('COPY (VALUES (3, NULL), (9, NULL)) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(fast_copy('mended', current_setting('fc.file'), workers => w, options => '{"on_conflict": "update"}'), 2::bigint, 'constraints after triggers') FROM unnest('{0,2}'::int[]) AS w;
SELECT set_eq('TABLE mended', $$VALUES (3, timestamp '2024-01-01'), (4, '2024-01-01')$$, '... the rows');

-- A row of NULLs is no NULL; and a constraint that looks at the table sees it
CREATE TYPE pair AS (a int, b int);
CREATE TABLE pairs (k pair UNIQUE, v int, CHECK (tableoid = 'pairs'::regclass));
SELECT format('COPY (VALUES (%L, 1), (%1$L, 2), (NULL, 3), (NULL, 4)) TO %L (FORMAT csv)', '(,)', current_setting('fc.file')) \gexec
SELECT is(fast_copy('pairs', current_setting('fc.file'), options => '{"on_conflict": "update", "dedup_keys": ["k"]}'), 3::bigint, 'rows of NULLs');
SELECT set_eq('SELECT v FROM pairs', 'VALUES (2), (3), (4)', '... the last of them, and each NULL');

SELECT * FROM finish();
ROLLBACK;
