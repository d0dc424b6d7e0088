-- Partitions by list, and of several levels, that rows of the file lack: made as SQL
-- would make them by hand, one for each value or day, like the newest one beside
-- them.  Combinations are drawn, and compared with such tables and COPY.

\set name list
\ir begin.psql

-- Of the draws a fourth runs, by FC_SEED of the environment; without it all of them do.
\getenv seed FC_SEED
SELECT :{?seed} AS drawn \gset
\if :drawn
SELECT plan(114);
SELECT diag('FC_SEED=' || :'seed' || ' draws these, and repeats them');
\else
\set seed ''
SELECT plan(234);
\endif
SELECT set_config('fc.seed', :'seed', true) \g /dev/null

-- One of them, by the draw's number and what it is for
CREATE FUNCTION pg_temp.draw(n int, what text, VARIADIC words text[]) RETURNS text LANGUAGE sql AS $$
	SELECT words[1 + (hashtext(n || what) & 2147483647) % array_length(words, 1)]
$$;

CREATE TYPE color AS ENUM ('red', 'light "blue"', 'it''s', 'gray', 'a', 'b', 'c', 'd', 'e', 'f');
CREATE DOMAIN short AS text CHECK (length(VALUE) < 10);
-- Values of a type by their numbers, from 0 to 9
CREATE FUNCTION pg_temp.value(kind text, x text) RETURNS text LANGUAGE sql AS $$
	SELECT format(CASE kind WHEN 'text' THEN '(ARRAY[''Oslo'', ''New York'', ''a''''b'', ''a.b'', ''x "y"'', E''\t'', ''1'', '''', ''null'', ''a\b''])[%s + 1]' WHEN 'uuid' THEN 'md5((%s)::text)::uuid'
		WHEN 'color' THEN '(enum_range(NULL::color))[%s + 1]' WHEN 'date' THEN 'date ''2024-02-27'' + %s' WHEN 'timestamptz' THEN 'timestamptz ''2024-03-30 22:00+00'' + %s * interval ''1 hour''' WHEN 'float8' THEN '%s / 3.0::float8'
		WHEN 'interval' THEN '%s * interval ''-1 day 1 hour''' WHEN 'char(3)' THEN 'chr(97 + %s)::char(3)' WHEN 'bool' THEN '%s %% 2 = 1' WHEN 'short' THEN 'chr(97 + %s)::short' WHEN 'bytea' THEN 'decode(lpad((%s)::text, 4, ''0''), ''hex'')'
		WHEN 'int[]' THEN 'ARRAY[%s, -1]' ELSE '(%s - 3)::' || kind END, x)
$$;

CREATE FUNCTION pg_temp.children(parent regclass) RETURNS TABLE (child regclass, bound text, keydef text) LANGUAGE sql AS $$
	SELECT oid::regclass, pg_get_expr(relpartbound, oid), CASE relkind WHEN 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(oid) END
	FROM pg_class WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = parent) ORDER BY oid
$$;
CREATE SEQUENCE numbers;
CREATE FUNCTION pg_temp.make(parent regclass, bound text, keydef text) RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
	made text := 'more_' || nextval('numbers');
BEGIN
	EXECUTE format('CREATE TABLE %s PARTITION OF %s %s%s', made, parent, bound, keydef);
	RETURN made;
END
$$;
-- Makes the partitions of one table below another
CREATE FUNCTION pg_temp.copy_children(of regclass, below regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT * FROM pg_temp.children(of) LOOP
		PERFORM pg_temp.copy_children(c.child, pg_temp.make(below, c.bound, c.keydef));
	END LOOP;
END
$$;
-- Makes what the rows of "news" lack in a table, and then in its partitions
CREATE FUNCTION pg_temp.grow(parent regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	key text := substring(pg_get_partkeydef(parent) FROM '\((.*)\)');
	strategy text := substring(pg_get_partkeydef(parent) FROM '^\w+');
	newest record;
	taken text;
	made regclass;
	b text;
	c record;
BEGIN
	SELECT * INTO newest FROM pg_temp.children(parent) WHERE bound <> 'DEFAULT' ORDER BY child::oid DESC LIMIT 1;
	SELECT string_agg(format('(%s) IS NOT TRUE', pg_get_partition_constraintdef(child)), ' AND ') INTO taken FROM pg_temp.children(parent) WHERE bound <> 'DEFAULT';
	taken := concat_ws(' AND ', pg_get_partition_constraintdef(parent), taken, key || ' IS NOT NULL');
	IF strategy <> 'HASH' THEN
		FOR b IN EXECUTE format(CASE strategy WHEN 'LIST' THEN 'SELECT format(''FOR VALUES IN (%%L)'', v)' ELSE 'SELECT format(''FOR VALUES FROM (%%L) TO (%%L)'', v, v + 1)' END
				|| ' FROM (SELECT DISTINCT %s AS v FROM news WHERE %s) AS d', key, taken) LOOP
			made := pg_temp.make(parent, b, newest.keydef);
			IF newest.keydef IS NOT NULL THEN PERFORM pg_temp.copy_children(newest.child, made); END IF;
		END LOOP;
	END IF;
	FOR c IN SELECT * FROM pg_temp.children(parent) WHERE keydef IS NOT NULL LOOP
		PERFORM pg_temp.grow(c.child);
	END LOOP;
END
$$;

-- Makes a table with partitions that are partitioned by the other levels; some have
-- their columns in another order
CREATE FUNCTION pg_temp.plant(draw int, tab text, kind text, levels text[], top bool DEFAULT true) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	sub text := CASE levels[2] WHEN 'list' THEN ' PARTITION BY LIST (k)' WHEN 'mod' THEN ' PARTITION BY LIST ((id % 3))' WHEN 'hash' THEN ' PARTITION BY HASH (id)' WHEN 'day' THEN ' PARTITION BY RANGE (day)' ELSE '' END;
	what text := regexp_replace(tab, '^[a-z]+', '');
	n int := CASE levels[1] WHEN 'hash' THEN pg_temp.draw(draw, what, '1', '2', '3') ELSE pg_temp.draw(draw, what, CASE WHEN top AND levels[2] IS NULL THEN '0' ELSE '2' END, '1', '3') END;
	child text;
	bound text;
	value text;
BEGIN
	FOR i IN 0 .. CASE WHEN levels[1] = 'list' AND kind = 'bool' THEN least(n, 2) ELSE n END - 1 LOOP
		child := tab || '_' || i;
		EXECUTE 'SELECT quote_literal(' || CASE levels[1] WHEN 'list' THEN pg_temp.value(kind, i::text) ELSE '1' END || ')' INTO value;
		bound := CASE levels[1] WHEN 'list' THEN format('FOR VALUES IN (%s%s)', value, CASE WHEN i = 1 THEN ', NULL' ELSE '' END) WHEN 'mod' THEN format('FOR VALUES IN (%s)', i)
			WHEN 'hash' THEN format('FOR VALUES WITH (MODULUS %s, REMAINDER %s)', n, i) ELSE format('FOR VALUES FROM (%L) TO (%L)', date '2024-02-28' + i, date '2024-02-29' + i) END;
		IF pg_temp.draw(draw, what || i, 'same', 'other') = 'same' THEN
			EXECUTE format('CREATE TABLE %s PARTITION OF %s %s%s', child, tab, bound, sub);
		ELSE
			EXECUTE format('CREATE TABLE %s (note text, gone int, id int, day date, k %s)%s', child, kind, sub);
			EXECUTE format('ALTER TABLE %1$s DROP gone; ALTER TABLE %2$s ATTACH PARTITION %1$s %3$s', child, tab, bound);
		END IF;
		IF sub <> '' THEN PERFORM pg_temp.plant(draw, child, kind, levels[2:], false); END IF;
	END LOOP;
	IF levels[1] <> 'hash' AND pg_temp.draw(draw, what || 'default', 'no', 'yes') = 'yes' THEN EXECUTE format('CREATE TABLE %s_rest PARTITION OF %1$s DEFAULT', tab); END IF;
END
$$;

-- Each leaf by its bounds, and its rows
CREATE FUNCTION pg_temp.bounds(leaf oid) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(pg_get_partition_constraintdef(leaf), 'partition\(''\d+''', 'partition(''it''', 'g')
$$;
CREATE FUNCTION pg_temp.leaves(root regclass) RETURNS TABLE (leaf text) LANGUAGE sql AS $$
	SELECT pg_temp.bounds(relid) FROM pg_partition_tree(root) WHERE isleaf ORDER BY 1
$$;
CREATE FUNCTION pg_temp.rows(root text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT pg_temp.bounds(tableoid) AS leaf, k, day, id, note FROM %s', root)
$$;

CREATE FUNCTION pg_temp.created() RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(max(substring(choice FROM '^\d+')), '0') FROM fast_copy_report() WHERE phase = 'partitions'
$$;

CREATE FUNCTION pg_temp.run(draw int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	kind text := pg_temp.draw(draw, 'kind', 'text', 'text', 'int', 'bigint', 'smallint', 'uuid', 'color', 'date', 'timestamptz', 'timestamptz', 'float8', 'numeric', 'interval', 'char(3)', 'bool', 'short', 'bytea', 'int[]');
	levels text[] := pg_temp.draw(draw, 'levels', '{list}', '{list}', '{list}', '{list,hash}', '{list,day}', '{list,day,hash}', '{day,list}', '{day,hash}', '{list,mod}', '{mod,list,hash}', '{list,mod,day}', '{day,mod}');
	few text := pg_temp.draw(draw, 'values', '2', '5', '10');
	condition text := pg_temp.draw(draw, 'condition', '', '', 'id % 7 > 0');
	call text;
	made bigint;
	foretold text;
	was text[];
	said text;
	loaded bigint;
	tab text;
BEGIN
	DROP TABLE IF EXISTS got, want, news;
	FOREACH tab IN ARRAY '{got,want}'::text[] LOOP
		EXECUTE format('CREATE TABLE %s (k %s, day date, id int, note text) PARTITION BY %s', tab, kind, CASE levels[1] WHEN 'list' THEN 'LIST (k)' WHEN 'mod' THEN 'LIST ((id % 3))' ELSE 'RANGE (day)' END);
		PERFORM pg_temp.plant(draw, tab, kind, levels);
		IF draw % 5 = 0 THEN EXECUTE format('CREATE INDEX ON %s (id); ALTER TABLE %1$s ADD CHECK (id > 0)', tab); END IF;
	END LOOP;
	-- a value that is NULL needs a default partition, or one that takes NULL
	EXECUTE format('CREATE TABLE news AS SELECT CASE WHEN x >= 0 THEN %s END AS k, date ''2024-02-27'' + g %% %s AS day, g AS id, repeat(''x'', g %% 40) AS note
		FROM (SELECT g, CASE WHEN %L OR g %% 11 > 0 THEN (hashint4(g) & 2147483647) %% %s ELSE -1 END AS x FROM generate_series(1, %s) AS g) AS f ORDER BY %s',
		pg_temp.value(kind, 'x'), pg_temp.draw(draw, 'days', '1', '4'), levels[1] <> 'list' OR to_regclass('got_rest') IS NULL, few, pg_temp.draw(draw, 'rows', '20', '700'), pg_temp.draw(draw, 'order', 'k', 'day, k', 'hashint4(g)', 'g'));
	PERFORM pg_temp.file('TABLE news'), set_config('fast_copy.memory', pg_temp.draw(draw, 'memory', '64MB', '1MB'), true), set_config('fast_copy.chunk_size', pg_temp.draw(draw, 'chunk', '16MB', '10kB', '700B'), true),
		set_config('extra_float_digits', pg_temp.draw(draw, 'digits', '1', '-5'), true), set_config('datestyle', pg_temp.draw(draw, 'dates', 'ISO', 'SQL, DMY'), true), set_config('intervalstyle', pg_temp.draw(draw, 'intervals', 'postgres', 'sql_standard'), true),
		set_config('timezone', pg_temp.draw(draw, 'zone', 'UTC', 'Asia/Kolkata'), true);
	IF condition <> '' THEN EXECUTE 'DELETE FROM news WHERE NOT ' || condition; END IF;
	call := format('(''got'', %L, workers => %s%s%s%s)', current_setting('fc.file'), pg_temp.draw(draw, 'workers', '0', '1', '2', '4'), CASE condition WHEN '' THEN '' ELSE format(', where_clause => %L', condition) END,
		pg_temp.draw(draw, 'errors', '', '', ', on_error => ''ignore'''), pg_temp.draw(draw, 'sorted', '', '', ', order_by => ''{note,id}''', ', timestamp_column => ''day'''));
	was := ARRAY(SELECT relid::text FROM pg_partition_tree('got'));
	EXECUTE 'SELECT count(*) FILTER (WHERE item = ''partition'') || format('' %s'', sum(rows) FILTER (WHERE name = ''bad'')) FROM fast_copy_analyze' || call INTO foretold;
	EXECUTE 'SELECT fast_copy' || call INTO loaded;
	made := (SELECT count(*) FROM pg_partition_tree('got') WHERE relid::text <> ALL (was));
	PERFORM set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO, MDY', true), set_config('intervalstyle', 'postgres', true), set_config('extra_float_digits', '1', true);
	PERFORM pg_temp.grow('want');
	EXECUTE format('COPY want FROM %L (FORMAT csv)%s', current_setting('fc.file'), CASE condition WHEN '' THEN '' ELSE ' WHERE ' || condition END);
	EXECUTE format('SELECT string_agg(format(''%%s %%s'', n, x), E''\n'') FROM (SELECT ''is wrong'', to_jsonb(x) FROM (%1$s EXCEPT ALL %2$s) AS x UNION ALL SELECT ''lacks'', to_jsonb(x) FROM (%2$s EXCEPT ALL %1$s) AS x LIMIT 5) AS d (n, x)',
		pg_temp.rows('got'), pg_temp.rows('want')) INTO said;
	RETURN NEXT is(said, NULL, format('%s: %s of %s: %s', draw, levels, kind, substr(call, strpos(call, 'workers'))));
	RETURN NEXT is(ARRAY(SELECT pg_temp.leaves('got')), ARRAY(SELECT pg_temp.leaves('want')), '... with all partitions that there should be');
	RETURN NEXT is(loaded || ' ' || pg_temp.created() || ' ' || foretold, (SELECT count(*) FROM news) || ' ' || made || ' ' || made || ' 0', '... and says what it has made, as the analysis did');
	EXECUTE 'SELECT fast_copy' || call INTO loaded;
	RETURN NEXT is(pg_temp.created(), '0', '... once more it makes none');
END
$$;

SELECT pg_temp.run(draw) FROM generate_series(1, 40) AS draw
WHERE current_setting('fc.seed') = '' OR draw % 4 = (hashtext(current_setting('fc.seed')) & 2147483647) % 4;

-- Where rows are at the end, or how the load fails: code, message, detail and hint
CREATE FUNCTION pg_temp.load(tab text, query text, more text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	failed text[];
	said text;
BEGIN
	failed := pg_temp.failure(format('SELECT fast_copy(%L, %L%s)', tab, CASE WHEN query IS NULL THEN current_setting('fc.file') ELSE pg_temp.file(query) END, more));
	IF failed IS NOT NULL THEN RETURN concat_ws('|', failed[1], failed[2], failed[3], failed[4]); END IF;
	EXECUTE format('SELECT string_agg(format(''%%s %%s'', name, n), '', '' ORDER BY name COLLATE "C") FROM (SELECT tableoid::regclass::text AS name, count(*) AS n FROM %s GROUP BY 1) AS t', tab) INTO said;
	RETURN said;
END
$$;

-- Names, whatever the values are
CREATE TABLE n (k text, v int) PARTITION BY LIST (k);
SELECT is(pg_temp.load('n', $$SELECT k, 1 FROM unnest(ARRAY['a.b', 'a-b', 'a"b', '', ' ', repeat('l', 200), repeat('l', 300), repeat('é', 100), E'x\ny', 'DROP', '1', '-1', 'Ωmega', '''; DROP TABLE n; --', repeat('''', 62)]) WITH ORDINALITY AS u (k, i) ORDER BY i$$),
	'"n_p_DROP" 1, "n_p____DROP_TABLE_n____" 1, "n_p_éééééééééééééé" 1, "n_p_Ωmega" 1, n_p1 1, n_p_ 1, n_p__ 1, n_p__1 1, n_p______________________________ 1, n_p_a_b 1, n_p_a_b_1 1, n_p_a_b_2 1, n_p_lllllllllllllllllllllllllllll 1, n_p_lllllllllllllllllllllllllllll_1 1, n_p_x_y 1', 'names are of letters and digits of the value, cut between characters, with a number if they are taken');
SELECT is((SELECT count(*) FROM n JOIN pg_class AS c ON c.oid = n.tableoid WHERE pg_get_expr(relpartbound, c.oid) = format('FOR VALUES IN (%L)', k)), 15::bigint, '... and each takes its value');
CREATE TABLE "a ""table"" whose name is as long as a name of a table may be, n" (k text, v int) PARTITION BY LIST (k);
SELECT is(pg_temp.load('"a ""table"" whose name is as long as a name of a table may be, n"', $$VALUES ('one', 1), ('two', 2)$$), '"a ""table"" whose name is as long as a name of a table may _p_one" 1, "a ""table"" whose name is as long as a name of a table may _p_two" 1', 'the name of a table is cut');
CREATE TABLE levels (k text, id int) PARTITION BY LIST (k);
CREATE TABLE levels_a PARTITION OF levels FOR VALUES IN ('a') PARTITION BY HASH (id);
CREATE TABLE levels_a_even PARTITION OF levels_a FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE "Odd one" PARTITION OF levels_a FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE levels_p_b (already int);
SELECT is(pg_temp.load('levels', $$SELECT 'b', g FROM generate_series(1, 9) AS g$$), '"levels_p_b_1_Odd one" 7, levels_p_b_1_even 2', 'names below a new partition, some of which are taken');

-- NULL, a long value, and a default partition
CREATE TABLE d (k text, v int) PARTITION BY LIST (k);
SELECT is(pg_temp.load('d', $$VALUES ('a', 1), (NULL, 2)$$), '23514|no partition of relation "d" found for row|Partition key of the failing row contains (k) = (null).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB.', 'none is made for NULL');
SELECT is(pg_temp.load('d', $$SELECT 'a', 1 UNION ALL SELECT repeat('x', 1100), 2$$), '23514|no partition of relation "d" found for row|Partition key of the failing row contains (k) = (xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB.', '... nor for a long value');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'd'::regclass), 0::bigint, '... and nothing is left of a load that fails');
CREATE TABLE d_rest PARTITION OF d DEFAULT;
SELECT is(pg_temp.load('d', $$SELECT k, 1 FROM unnest(ARRAY['a', NULL, repeat('x', 1100)]) AS k$$), 'd_p_a 1, d_rest 2', 'a default partition takes them, and nothing else');
SELECT is(pg_temp.load('d', $$VALUES ('b', 1), ('c', 1)$$, $$, missing_partitions => 'default'$$), 'd_p_a 1, d_rest 4', 'missing_partitions "default" makes none');
SELECT is(pg_temp.load('d', $$VALUES ('c', 1)$$), '23514|updated partition constraint for default partition "d_rest" would be violated by some row|Move such rows out of the default partition first.', 'rows of the default partition stay where they are');
SELECT is(pg_temp.load('d', $$VALUES ('e', 1)$$, $$, missing_partitions => 'error'$$), '23514|no partition of relation "d" found for row|Only a default partition would take it.|Use missing_partitions => ''default''.', 'missing_partitions "error" makes none');

-- Siblings that new ones cannot be like
CREATE TABLE s (k text, id int) PARTITION BY LIST (k);
CREATE TABLE s_one PARTITION OF s FOR VALUES IN ('one');
CREATE TABLE s_many PARTITION OF s FOR VALUES IN ('two', 'three');
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('two', 2), ('four', 4)$$), '23514|no partition of relation "s" found for row|Partition key of the failing row contains (k) = (four).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "s", whose newest partition has several values.', 'the newest has several values');
CREATE TABLE s_nine PARTITION OF s FOR VALUES IN ('nine', NULL);
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('two', 2), ('four', 4), (NULL, 3)$$), 's_many 1, s_nine 1, s_one 1, s_p_four 1', '... but not an older one; NULL does not count');
CREATE TABLE s_part PARTITION OF s FOR VALUES IN ('part') PARTITION BY HASH (id);
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('five', 5)$$), '23514|no partition of relation "s" found for row|Partition key of the failing row contains (k) = (five).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "s", whose newest partition has no partitions that others could be like, or foreign tables.', 'the newest has no partitions that new ones could have');
CREATE TABLE s_part_0 PARTITION OF s_part FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('five', 5)$$), 's_many 1, s_nine 1, s_one 2, s_p_five_0 1, s_p_four 1', '... and now it has');
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE s_part_f PARTITION OF s FOR VALUES IN ('away') SERVER nowhere;
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('six', 5)$$), '23514|no partition of relation "s" found for row|Partition key of the failing row contains (k) = (six).', 'the newest is a foreign table');
DROP FOREIGN TABLE s_part_f;
CREATE TABLE s_far PARTITION OF s FOR VALUES IN ('far') PARTITION BY HASH (id);
CREATE FOREIGN TABLE s_far_f PARTITION OF s_far FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER nowhere;
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('six', 5)$$), '23514|no partition of relation "s" found for row|Partition key of the failing row contains (k) = (six).', 'the newest has a foreign table below it');
DROP FOREIGN TABLE s_far_f;
DROP TABLE s_far;
CREATE TABLE s_days PARTITION OF s FOR VALUES IN ('days') PARTITION BY RANGE (id);
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('six', 5)$$), '23514|no partition of relation "s" found for row|Partition key of the failing row contains (k) = (six).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "s", whose newest partition has no partitions that others could be like, or foreign tables.', 'a range of integers without a width');
CREATE TABLE s_days_0 PARTITION OF s_days FOR VALUES FROM (0) TO (100);
SELECT is(pg_temp.load('s', $$VALUES ('one', 1), ('six', 205)$$), 's_many 1, s_nine 1, s_one 3, s_p_five_0 1, s_p_four 1, s_p_six_p200 1', '... and with one');
CREATE TABLE s_two PARTITION OF s FOR VALUES IN ('2') PARTITION BY RANGE (id, k);
CREATE TABLE s_two_0 PARTITION OF s_two FOR VALUES FROM (0, 'a') TO (10, 'z');
SELECT is(pg_temp.load('s', $$VALUES ('3', 1), ('2', 10)$$), 's_many 1, s_nine 1, s_one 3, s_p3_0 1, s_p_five_0 1, s_p_four 1, s_p_six_p200 1, s_two_0 1', 'ranges of two columns are copied') ;
SELECT is(pg_temp.load('s', $$VALUES ('3', 11)$$), '23514|no partition of relation "s_p3" found for row|Partition key of the failing row contains (id, k) = (11, 3).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "s_p3", which is not partitioned by list, or by range over one timestamp, timestamptz, date or integer.', '... and no others made');
SELECT is(pg_temp.load('s', $$VALUES ('4', 11)$$), '23514|no partition of relation "s_p4" found for row|Partition key of the failing row contains (id, k) = (11, 4).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "s_p3", which is not partitioned by list, or by range over one timestamp, timestamptz, date or integer.', '... below a new one, either');

-- Ranges that have no ends, or that tell no width
CREATE TABLE ends (k int, id int) PARTITION BY RANGE (k);
CREATE TABLE ends_lo PARTITION OF ends FOR VALUES FROM (MINVALUE) TO (0) PARTITION BY HASH (id);
CREATE TABLE ends_lo_0 PARTITION OF ends_lo FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE ends_hi PARTITION OF ends FOR VALUES FROM (100) TO (MAXVALUE);
SELECT is(pg_temp.load('ends', $$VALUES (-5, 1), (25, 2), (500, 3)$$), '23514|no partition of relation "ends" found for row|Partition key of the failing row contains (k) = (25).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "ends", whose partitions do not tell how wide others are.', 'two ranges without an end');
CREATE TABLE ends_mid PARTITION OF ends FOR VALUES FROM (0) TO (10);
SELECT is(pg_temp.load('ends', $$VALUES (-5, 1), (25, 2), (500, 3), (5, 4)$$), 'ends_hi 1, ends_lo_0 1, ends_mid 1, ends_p20 1', '... and one that has both');
CREATE TABLE unsure (k timestamp, id int) PARTITION BY RANGE (k);
CREATE TABLE unsure_a PARTITION OF unsure FOR VALUES FROM ('2021-01-31') TO ('2021-02-28') PARTITION BY HASH (id);
CREATE TABLE unsure_a_0 PARTITION OF unsure_a FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE unsure_b PARTITION OF unsure FOR VALUES FROM ('2021-02-28') TO ('2021-03-31');
SELECT is(pg_temp.load('unsure', $$VALUES ('2021-02-01', 1), ('2021-05-10', 2)$$), '23514|no partition of relation "unsure" found for row|Partition key of the failing row contains (k) = (2021-05-10 00:00:00).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor in table "unsure", whose partitions do not tell how wide others are.', 'months that end where not all do');

-- Ranges below ranges: of another column, and of the same, where the sibling has one that is of no use to it
CREATE TABLE two (day date, id int) PARTITION BY RANGE (day);
CREATE TABLE two_1 PARTITION OF two FOR VALUES FROM ('2024-01-01') TO ('2024-01-02') PARTITION BY RANGE (id);
CREATE TABLE two_1_0 PARTITION OF two_1 FOR VALUES FROM (0) TO (100);
SELECT is(pg_temp.load('two', $$VALUES ('2024-01-01', 5), ('2024-01-03', 7), ('2024-01-03', 150)$$), 'two_1_0 1, two_p20240103_0 1, two_p20240103_p100 1', 'ranges of another column');
CREATE TABLE beyond (k int, id int) PARTITION BY RANGE (k);
CREATE TABLE beyond_a PARTITION OF beyond FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (k);
CREATE TABLE beyond_a_1 PARTITION OF beyond_a FOR VALUES FROM (0) TO (10);
CREATE TABLE beyond_a_2 PARTITION OF beyond_a FOR VALUES FROM (10) TO (20);
SELECT is(pg_temp.load('beyond', $$VALUES (5, 1), (15, 2)$$), 'beyond_a_1 1, beyond_p10_2 1', 'a range that lies beyond its own table''s');

-- A column that is compared as another type, by whose operators numbers go down, though these are of core's family
CREATE TYPE down;
CREATE FUNCTION down_in(cstring) RETURNS down LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION down_out(down) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE down (INPUT = down_in, OUTPUT = down_out, LIKE = int);
CREATE CAST (int AS down) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (down AS int) WITHOUT FUNCTION;
CREATE FUNCTION down_lt(down, down) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4gt';
CREATE FUNCTION down_le(down, down) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4ge';
CREATE FUNCTION down_eq(down, down) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION down_ge(down, down) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4le';
CREATE FUNCTION down_gt(down, down) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4lt';
CREATE FUNCTION down_cmp(down, down) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2::int, $1::int)';
CREATE OPERATOR <<< (LEFTARG = down, RIGHTARG = down, FUNCTION = down_lt);
CREATE OPERATOR <<= (LEFTARG = down, RIGHTARG = down, FUNCTION = down_le);
CREATE OPERATOR === (LEFTARG = down, RIGHTARG = down, FUNCTION = down_eq);
CREATE OPERATOR >>= (LEFTARG = down, RIGHTARG = down, FUNCTION = down_ge);
CREATE OPERATOR >>> (LEFTARG = down, RIGHTARG = down, FUNCTION = down_gt);
CREATE OPERATOR CLASS down_ops FOR TYPE down USING btree FAMILY integer_ops AS
	OPERATOR 1 <<<, OPERATOR 2 <<=, OPERATOR 3 ===, OPERATOR 4 >>=, OPERATOR 5 >>>, FUNCTION 1 down_cmp(down, down);
CREATE TABLE falls (k int, id int) PARTITION BY RANGE (k down_ops);
CREATE TABLE falls_1 PARTITION OF falls FOR VALUES FROM (10) TO (0);
CREATE TABLE falls_2 PARTITION OF falls FOR VALUES FROM (0) TO (-5);
SELECT is(pg_temp.load('falls', $$SELECT g, g FROM generate_series(-4, 10) AS g$$), 'falls_1 10, falls_2 5', 'a key by another type''s operators');
SELECT format('COPY falls FROM %L (FORMAT csv)', :'file') \gexec
SELECT is((SELECT string_agg(format('%s %s', name, n), ', ' ORDER BY name) FROM (SELECT tableoid::regclass::text AS name, count(*) AS n FROM falls GROUP BY 1) AS f), 'falls_1 20, falls_2 10', '... as for COPY');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''falls'', %L)', pg_temp.file('SELECT 11, 1'))))[1], '23514', '... which finds no partition for others');

-- How many
SET LOCAL fast_copy.max_partitions = 4;
CREATE TABLE m (k int, id int) PARTITION BY LIST (k);
CREATE TABLE m_0 PARTITION OF m FOR VALUES IN (0) PARTITION BY HASH (id);
CREATE TABLE m_0_0 PARTITION OF m_0 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT is(pg_temp.load('m', $$SELECT g, g FROM generate_series(0, 2) AS g$$), 'm_0_0 1, m_p1_0 1, m_p2_0 1', 'as many as max_partitions, with those below them');
SELECT is(pg_temp.load('m', $$SELECT g % 5, g FROM generate_series(0, 20) AS g$$), 'm_0_0 6, m_p1_0 5, m_p2_0 5, m_p3_0 4, m_p4_0 4', '... as many more');
SELECT is(regexp_replace(pg_temp.load('m', $$SELECT g % 50, g FROM generate_series(0, 2000) AS g$$, ', workers => 2'), 'IN \(''\d+''\)', 'IN (any)'), '54000|cannot create more than 4 partitions|The rows need more new partitions of table "m", with those below them; the first is FOR VALUES IN (any).|Look for wrong keys in the file, or increase fast_copy.max_partitions.', '... and too many');
SELECT results_eq(format('SELECT name, detail FROM fast_copy_analyze(''m'', %L) WHERE item = ''warning''', :'file'), $$VALUES ('partitions', 'cannot create more than 4 partitions: The rows need more new partitions of table "m", with those below them; the first is FOR VALUES IN (''5''). Look for wrong keys in the file, or increase fast_copy.max_partitions.')$$, 'an analysis says so');
RESET fast_copy.max_partitions;

-- Rows that are left out
CREATE TABLE o (k text, id int CHECK (id < 100)) PARTITION BY LIST (k);
SELECT is(pg_temp.load('o', $$VALUES ('a', '1'), ('b', 'x'), ('c', '5'), (NULL, '6')$$, $$, on_error => 'ignore', on_error_classes => '{conversion,no_partition}', where_clause => 'id <> 5'$$), 'o_p_a 1', 'none is made for rows that are left out') ;
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'o'::regclass), 1::bigint, '... but for the one that stays');
SELECT is(pg_temp.load('o', $$VALUES ('d', '1'), ('e', '1000')$$, $$, on_error => 'ignore', on_error_classes => '{check}'$$), 'o_p_a 1, o_p_d 1', 'a CHECK is met when partitions are there');

-- Who may
CREATE ROLE fc_list_owner;
CREATE ROLE fc_list_loader;
GRANT pg_read_server_files TO fc_list_loader, fc_list_owner;
CREATE SCHEMA theirs AUTHORIZATION fc_list_owner;
SET ROLE fc_list_owner;
CREATE TABLE theirs.p (k text, id int DEFAULT 7) PARTITION BY LIST (k);
CREATE TABLE theirs.p_a PARTITION OF theirs.p FOR VALUES IN ('a') PARTITION BY HASH (id);
CREATE TABLE theirs.p_a_0 PARTITION OF theirs.p_a FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE INDEX ON theirs.p (id);
GRANT USAGE ON SCHEMA theirs TO fc_list_loader;
GRANT INSERT, SELECT ON theirs.p TO fc_list_loader;
ALTER DEFAULT PRIVILEGES IN SCHEMA theirs GRANT UPDATE ON TABLES TO fc_list_loader;
RESET ROLE;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO fc_list_loader;
SELECT pg_temp.file($$VALUES ('a', 1), ('b', 1)$$) \g /dev/null
SET ROLE fc_list_loader;
SELECT is(pg_temp.load('theirs.p', NULL), '42501|must be owner of table p|The load has to create 2 partitions, the first FOR VALUES IN (''b''), and only role "fc_list_owner", the table''s owner, or a member of it may do so.|GRANT fc_list_owner TO fc_list_loader; or create the partitions before the load. With missing_partitions "error" none are created, and the first row that lacks one is the error.', 'only its owner makes partitions of a table');
RESET ROLE;
GRANT fc_list_owner TO fc_list_loader;
SET ROLE fc_list_loader;
SELECT is(pg_temp.load('theirs.p', NULL), 'theirs.p_a_0 1, theirs.p_p_b_0 1', '... or a member of that role');
RESET ROLE;
SELECT is((SELECT string_agg(format('%s %s %s', relname, relowner::regrole, relacl), ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^p_p_b' AND relkind IN ('r', 'p')), 'p_p_b fc_list_owner {fc_list_owner=arwdDxt/fc_list_owner,fc_list_loader=w/fc_list_owner}, p_p_b_0 fc_list_owner {fc_list_owner=arwdDxt/fc_list_owner,fc_list_loader=w/fc_list_owner}', 'they belong to the owner, with the default privileges');
SELECT is((SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^p_p_b' AND relkind IN ('i', 'I')), 'p_p_b_0_id_idx, p_p_b_id_idx', '... and have the indexes');
SELECT is(pg_temp.load('theirs.p', $$VALUES ('c', 1)$$), 'theirs.p_a_0 1, theirs.p_p_b_0 1, theirs.p_p_c_0 1', 'a superuser makes them for the owner');
REVOKE CREATE ON SCHEMA theirs FROM fc_list_owner;
SELECT is(pg_temp.load('theirs.p', $$VALUES ('c', 1), ('cc', 1)$$), 'theirs.p_a_0 1, theirs.p_p_b_0 1, theirs.p_p_c_0 2, theirs.p_p_cc_0 1', '... who may not make any');
SELECT pg_temp.file($$VALUES ('d', 1)$$) \g /dev/null
SET ROLE fc_list_loader;
SELECT is(pg_temp.load('theirs.p', NULL), '42501|permission denied for schema theirs|New partitions of table "p" belong to its owner, role "fc_list_owner", who may not create tables there.|GRANT CREATE ON SCHEMA theirs TO fc_list_owner; or create the partitions before the load.', '... which keeps others from it, too');
RESET ROLE;
SELECT is((SELECT string_agg(format('%s %s', relname, relowner::regrole), ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^p_p_c' AND relkind IN ('r', 'p')), 'p_p_c fc_list_owner, p_p_c_0 fc_list_owner, p_p_cc fc_list_owner, p_p_cc_0 fc_list_owner', '... too');

-- Code that a row runs
CREATE FUNCTION pg_temp.tells(id int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', id; RETURN true; END $$;
CREATE TABLE e (k text, id int CHECK (pg_temp.tells(id))) PARTITION BY LIST (k);
SELECT is(pg_temp.load('e', $$VALUES ('a', 1)$$), '23514|no partition of relation "e" found for row|Partition key of the failing row contains (k) = (a).|If it is to have one, make that before the load: none is made for NULL or a value of more than 1 kB, nor if the file lacks a partition key, or the evaluation of rows has effects.', 'none is made where rows must not be evaluated twice');
CREATE TABLE ids (id int PRIMARY KEY);
INSERT INTO ids VALUES (1), (3), (4);
CREATE TABLE r (k text, id int REFERENCES ids) PARTITION BY LIST (k);
SELECT is(pg_temp.load('r', $$VALUES ('a', 1), ('b', 2)$$), '23503|insert or update on table "r_p_b" violates foreign key constraint "r_id_fkey"|Key (id)=(2) is not present in table "ids".', 'a foreign key of a new partition');

-- What rows come through, and what new partitions have
CREATE FUNCTION pg_temp.tables(root text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(relid::text, ' ' ORDER BY relid::text COLLATE "C") FROM pg_partition_tree(root) WHERE level > 0
$$;
CREATE TABLE w (k text, day date, id int, note text) PARTITION BY LIST (k);
CREATE TABLE w_a PARTITION OF w FOR VALUES IN ('a') PARTITION BY RANGE (day);
CREATE TABLE w_a_1 PARTITION OF w_a FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
-- One call or command, after another one that changes the table, and is undone
CREATE FUNCTION pg_temp.again(what text, wanted text, change text, call text, tab text DEFAULT 'w') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	BEGIN
		EXECUTE change;
		EXECUTE replace(call, '%s', current_setting('fc.file'));
		EXECUTE format('SELECT string_agg(format(''%%s %%s'', tableoid::regclass, id), '' '' ORDER BY id, k COLLATE "C") FROM %s', tab) INTO said;
		said := pg_temp.tables(tab) || ': ' || said;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN NULL;
	END;
	RETURN NEXT is(said, wanted, what);
END
$$;
SELECT pg_temp.file($$VALUES ('a', '2024-01-02', 1, 'x'), ('b', '2024-01-03', 2, 'y'), ('b', '2024-03-04', 3, 'z'), ('a', '2023-12-31', 4, '')$$) \g /dev/null
SELECT pg_temp.again('a function', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', '', $$SELECT fast_copy('w', '%s')$$);
SELECT pg_temp.again('COPY with the option', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', '', $$COPY w FROM '%s' (FORMAT csv, fast_copy)$$);
SELECT pg_temp.again('a program', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', '', $$SELECT fast_copy('w', 'cat %s', program => true, workers => 2)$$);
SELECT pg_temp.shell(format('gzip -kf %s', :'file')) \g /dev/null
SELECT pg_temp.again('two files, one of them packed', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_a_1 1 w_p_b_1 2 w_p_b_1 2 w_p_b_p202403 3 w_p_b_p202403 3 w_a_p202312 4 w_a_p202312 4', '', $$SELECT fast_copy('w', ARRAY['%s', '%s.gz'], workers => 2)$$);
SELECT pg_temp.again('a trigger: core loads', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', 'CREATE TRIGGER same BEFORE INSERT ON w FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', $$SELECT fast_copy('w', '%s')$$);
SELECT pg_temp.again('a foreign key', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', 'INSERT INTO ids VALUES (2); ALTER TABLE w ADD FOREIGN KEY (id) REFERENCES ids', $$SELECT fast_copy('w', '%s')$$);
SELECT pg_temp.again('a unique index, and equal rows', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', 'ALTER TABLE w ADD UNIQUE (k, day, id); INSERT INTO w VALUES (''a'', ''2024-01-02'', 1, ''old'')', $$SELECT fast_copy('w', '%s', on_conflict => 'update', dedup_keys => '{k,day,id}')$$);
SELECT pg_temp.again('rows of days that are replaced', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', 'INSERT INTO w VALUES (''a'', ''2024-01-02'', 11, ''old''), (''a'', ''2024-01-30'', 12, ''old'')', $$SELECT fast_copy('w', '%s', 'day', existing_rows => 'replace', replace_from => '2023-12-31', replace_to => '2024-03-05')$$);
SELECT pg_temp.again('a value that a transform makes', '"w_p_A" "w_p_A_1" "w_p_A_p202312" "w_p_Ax" "w_p_Ax_1" "w_p_By" "w_p_By_1" "w_p_Bz" "w_p_Bz_1" "w_p_Bz_p202403" w_a w_a_1: "w_p_Ax_1" 1 "w_p_By_1" 2 "w_p_Bz_p202403" 3 "w_p_A_p202312" 4', '', $$SELECT fast_copy('w', '%s', transform => 'k = upper(k) || note')$$);
SELECT pg_temp.again('columns in another order', 'w_a w_a_1 w_p_ w_p__1 w_p__p202312 w_p_x w_p_x_1 w_p_y w_p_y_1 w_p_z w_p_z_1 w_p_z_p202403: w_p_x_1 1 w_p_y_1 2 w_p_z_p202403 3 w_p__p202312 4', '', $$SELECT fast_copy('w', '%s', columns => '{note,day,id,k}')$$);
SELECT pg_temp.again('a key that the file lacks', 'w_a w_a_1 w_rest: w_a_1 1', 'ALTER TABLE w ALTER k SET DEFAULT ''a''; CREATE TABLE w_rest PARTITION OF w DEFAULT', $$SELECT fast_copy('w', 'cut -d, -f2- %s', program => true, columns => '{day,id,note}', where_clause => 'id = 1')$$);
SELECT pg_temp.again('a generated column, and a serial one', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', 'ALTER TABLE w ADD g int GENERATED ALWAYS AS (id * 2) STORED, ADD s serial', $$SELECT fast_copy('w', '%s', columns => '{k,day,id,note}')$$);
SELECT pg_temp.again('a published table', 'w_a w_a_1 w_a_p202312 w_p_b w_p_b_1 w_p_b_p202403: w_a_1 1 w_p_b_1 2 w_p_b_p202403 3 w_a_p202312 4', 'SET LOCAL client_min_messages = error; CREATE PUBLICATION everything FOR TABLE w', $$SELECT fast_copy('w', '%s', workers => 2)$$);
SELECT pg_temp.again('into a partition that is partitioned', 'w_a_1 w_a_p202312: w_a_1 1 w_a_p202312 4', '', $$SELECT fast_copy('w_a', 'grep a, %s', program => true)$$, 'w_a');
SELECT pg_temp.again('a temporary table', 'tw_p_a tw_p_b: tw_p_a 1 tw_p_b 2 tw_p_b 3 tw_p_a 4', 'CREATE TEMP TABLE tw (LIKE w) PARTITION BY LIST (k)', $$SELECT fast_copy('tw', '%s')$$, 'tw');
SELECT pg_temp.again('a nondeterministic collation', 'cw_p_a cw_p_b: cw_p_a 1 cw_p_b 2 cw_p_b 3 cw_p_a 4', 'CREATE COLLATION any_case (PROVIDER = icu, LOCALE = ''und-u-ks-level2'', DETERMINISTIC = false); CREATE TABLE cw (k text COLLATE any_case, day date, id int, note text) PARTITION BY LIST (k)', $$SELECT fast_copy('cw', 'sed s/^a,2023/A,2023/ %s', program => true, workers => 2)$$, 'cw');
SELECT pg_temp.again('a key that is an expression', 'ew_a ew_p_b: ew_a 1 ew_p_b 2 ew_p_b 3 ew_a 4', 'CREATE TABLE ew (k text, day date, id int, note text) PARTITION BY LIST (lower(k)); CREATE TABLE ew_a PARTITION OF ew FOR VALUES IN (''a'')', $$SELECT fast_copy('ew', 'tr b B <%s', program => true)$$, 'ew');
COPY (VALUES ('b', date '2024-01-03', 2, 'y')) TO :'file' (FORMAT binary);
SELECT pg_temp.again('a binary file', 'w_a w_a_1 w_p_b w_p_b_1: w_p_b_1 2', '', $$SELECT fast_copy('w', '%s', format => 'binary')$$);
SELECT pg_temp.write('{"b|03.02.2024|1|x","c|04.02.2024|2|Zürich"}') \g /dev/null
SELECT pg_temp.again('a pattern, and an encoding', 'w_a w_a_1 w_p_b w_p_b_1 w_p_b_p202402 w_p_c w_p_c_1 w_p_c_p202402: w_p_b_p202402 1 w_p_c_p202402 2', '', $$SELECT fast_copy('w', '%s', delimiter => '|', encoding => 'LATIN1', timestamp_format => '{"day": "DD.MM.YYYY"}')$$);

-- The table that new ones are like is not changed, nor asked whose it is
CREATE ROLE fc_list_other;
CREATE TABLE likes (k text, id int) PARTITION BY LIST (k);
CREATE TABLE likes_a PARTITION OF likes FOR VALUES IN ('a') PARTITION BY HASH (id);
CREATE TABLE likes_a_0 PARTITION OF likes_a FOR VALUES WITH (MODULUS 1, REMAINDER 0);
ALTER TABLE likes OWNER TO fc_list_owner;
ALTER TABLE likes_a OWNER TO fc_list_other;
GRANT CREATE ON SCHEMA public TO fc_list_owner;
SELECT pg_temp.file($$VALUES ('b', 1)$$) \g /dev/null
SET ROLE fc_list_owner;
SELECT is(pg_temp.load('likes', NULL), 'likes_p_b_0 1', 'a sibling of another owner');
RESET ROLE;

-- Keys below the table's own
CREATE FUNCTION third(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS $$ BEGIN RETURN id % 3; END $$;
CREATE TABLE below (k text, id int) PARTITION BY LIST (k);
CREATE TABLE below_a PARTITION OF below FOR VALUES IN ('a') PARTITION BY LIST (third(id));
SELECT is(pg_temp.load('below', $$SELECT 'a', g FROM generate_series(1, 30) AS g$$, ', workers => 2'), 'below_a_p0 10, below_a_p1 10, below_a_p2 10', 'a key that is not parallel safe');
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'load'), 'in the leader: the partition key is not parallel safe, multi_insert', '... is evaluated by the leader');

-- Delete marks
CREATE TABLE k (k text, id int, PRIMARY KEY (k, id)) PARTITION BY LIST (k);
CREATE TABLE k_a PARTITION OF k FOR VALUES IN ('a');
INSERT INTO k VALUES ('a', 1), ('a', 2);
CREATE FUNCTION pg_temp.is_mark(op text) RETURNS bool LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN op = 'D'; END $$;
SELECT is(pg_temp.load('k', $$VALUES ('D', 'a', 1), ('D', 'b', 1), ('U', 'c', 1)$$, $$, columns => '{op,k,id}', on_conflict => 'update', delete_where => 'op = ''D'''$$), 'k_a 1, k_p_c 1', 'delete marks');
SELECT is(pg_temp.load('k', $$VALUES ('D', 'a', 2), ('D', 'd', 1), ('U', 'e', 1)$$, $$, columns => '{op,k,id}', on_conflict => 'update', delete_where => 'pg_temp.is_mark(op)', workers => 2$$), 'k_p_c 1, k_p_e 1', '... by code of users');
SELECT is(pg_temp.tables('k'), 'k_a k_p_c k_p_e', '... make no partitions');

-- Ranges of the example that no row of the new partition can have
CREATE TABLE y (id int, day date) PARTITION BY RANGE (day);
CREATE TABLE y_1 (day date, id int) PARTITION BY LIST (id);
ALTER TABLE y ATTACH PARTITION y_1 FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
CREATE TABLE y_1_7 PARTITION OF y_1 FOR VALUES IN (7) PARTITION BY RANGE (day);
CREATE TABLE y_1_7_w4 PARTITION OF y_1_7 FOR VALUES FROM ('2024-01-22') TO ('2024-01-29');
CREATE TABLE y_1_7_w5 PARTITION OF y_1_7 FOR VALUES FROM ('2024-01-29') TO ('2024-02-05');
CREATE TABLE y_1_7_rest PARTITION OF y_1_7 DEFAULT;
SELECT is(pg_temp.load('y', $$VALUES (7, '2024-02-04'), (7, '2024-02-05')$$), 'y_p202402_7_p20240205 1, y_p202402_7_w5 1', 'weeks below months');
SELECT is(pg_temp.tables('y'), 'y_1 y_1_7 y_1_7_rest y_1_7_w4 y_1_7_w5 y_p202402 y_p202402_7 y_p202402_7_p20240205 y_p202402_7_rest y_p202402_7_w5', '... are not copied where they lie in another month');

SELECT * FROM finish();
ROLLBACK;
