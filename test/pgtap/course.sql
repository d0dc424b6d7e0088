-- Each course that a load may take, against DELETE and COPY: kinds of targets, with
-- a unique index or not, by keys or not, with conditions, rejects and replaced
-- ranges, by several workers.  Of the product each eighth load is made.

\set name course
\ir begin.psql
SET LOCAL fast_copy.chunk_size = 700;
SELECT plan(50);

CREATE SEQUENCE course_seq;

-- The columns of all tables, and what follows for each kind of target
CREATE FUNCTION pg_temp.make(kind text, name text, uniq bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	part text;
	parts text[] := '{}';
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
	EXECUTE format('CREATE TABLE %I (k int, n int, g int, t text DEFAULT ''x'', s timestamp)%s', name, CASE kind WHEN 'plain' THEN '' WHEN 'range' THEN ' PARTITION BY RANGE (k)'
		WHEN 'list' THEN ' PARTITION BY LIST (g)' WHEN 'hash' THEN ' PARTITION BY HASH (n)' WHEN 'two' THEN ' PARTITION BY RANGE (k, g)'
		WHEN 'other' THEN ' PARTITION BY RANGE (g)' ELSE ' PARTITION BY RANGE (k)' END);
	FOR i IN 0 .. CASE WHEN kind = 'plain' THEN -1 ELSE 3 END LOOP
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES %s', name || '_' || i, name, CASE kind
			WHEN 'list' THEN format('IN (%s)', i) WHEN 'hash' THEN format('WITH (MODULUS 4, REMAINDER %s)', i)
			WHEN 'two' THEN format('FROM (%s, 2) TO (%s, 2)', 26 * i - 1, 26 * i + 25) WHEN 'other' THEN format('FROM (%s) TO (%s)', i, i + 1)
			ELSE format('FROM (%s) TO (%s)', 25 * i, 25 * i + 25) || CASE WHEN kind = 'sub' AND i < 2 THEN ' PARTITION BY LIST (g)' ELSE '' END END);
		IF kind = 'sub' AND i < 2 THEN
			EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (0, 2); CREATE TABLE %I PARTITION OF %2$I DEFAULT',
				name || '_' || i || '_0', name || '_' || i, name || '_' || i || '_1');
		END IF;
	END LOOP;
	IF uniq THEN
		EXECUTE format('CREATE UNIQUE INDEX ON %I (n, k, g)', name);
	END IF;
	EXECUTE format('INSERT INTO %I SELECT i %% 100, -i, i %% 4 FROM generate_series(1, 300) AS i', name);
END
$$;

-- Files: rows in random order, or in that of the key; some that a type refuses; one
-- row twice
CREATE TABLE rows AS SELECT i * 37 % 100 AS k, i AS n, i * 7 % 4 AS g, i AS place FROM generate_series(1, 400) AS i;
CREATE FUNCTION pg_temp.write_file(suffix text, file text, sorted bool, inside bool) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT k, CASE WHEN %L AND place %% 50 = 3 THEN ''bad'' ELSE n::text END, g FROM (TABLE rows UNION ALL SELECT k, n, g, 350 FROM rows WHERE place = 25 AND %L) AS r WHERE %s AND %s ORDER BY %s) TO %L (FORMAT csv)',
		file = 'bad' AND suffix = '', file = 'twice', CASE WHEN file = 'bad' AND suffix <> '' THEN 'place % 50 <> 3' ELSE 'true' END,
		CASE WHEN inside THEN 'k BETWEEN 20 AND 79' ELSE 'true' END, CASE WHEN sorted THEN 'k, n' ELSE 'place, n' END, current_setting('fc.file') || suffix);
END
$$;

-- What is wrong with one load; NULL: nothing
CREATE FUNCTION pg_temp.wrong(kind text, uniq bool, keyed bool, condition text, file text, replaces bool, sorted bool, workers int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wanted text;
	got text;
	differ bigint;
	options jsonb := jsonb_build_object('workers', workers);
BEGIN
	PERFORM pg_temp.make(kind, 'wanted', uniq), pg_temp.make(kind, 'got', uniq);
	PERFORM pg_temp.write_file('', file, sorted, replaces), pg_temp.write_file('.good', file, sorted, replaces);
	PERFORM setval('course_seq', 1);
	BEGIN
		IF replaces THEN
			DELETE FROM wanted WHERE k >= 20 AND k < 80;
		END IF;
		EXECUTE format('COPY wanted (k, n, g) FROM %L (FORMAT csv) WHERE %s', current_setting('fc.file') || '.good', condition);
		GET DIAGNOSTICS differ = ROW_COUNT;
		wanted := differ;
	EXCEPTION WHEN unique_violation THEN
		wanted := replace(SQLERRM, 'wanted', 'got');
	END;
	PERFORM setval('course_seq', 1);
	options := options || CASE WHEN replaces THEN '{"existing_rows": "replace", "replace_from": "20", "replace_to": "80"}'::jsonb ELSE '{}' END ||
		CASE WHEN file = 'bad' THEN '{"on_error": "ignore", "log_verbosity": "silent"}'::jsonb ELSE '{}' END ||
		CASE WHEN keyed THEN '{"timestamp_column": "k"}'::jsonb ELSE '{}' END ||
		CASE WHEN condition <> 'true' THEN jsonb_build_object('where_clause', condition) ELSE '{}' END;
	BEGIN
		got := fast_copy('got', current_setting('fc.file'), columns => '{k,n,g}', options => options);
	EXCEPTION WHEN OTHERS THEN
		got := SQLERRM;
	END;
	-- only the scan could tell keys outside of the range before the load
	IF replaces AND uniq AND kind NOT IN ('plain', 'range') AND condition ~ 'nextval' THEN
		RETURN nullif(got, 'replace_from requires a key');
	END IF;
	IF got <> wanted THEN
		RETURN format('%s instead of %s', got, wanted);
	END IF;
	SELECT count(*) INTO differ FROM ((SELECT replace(tableoid::regclass::text, 'got', 'wanted'), * FROM got EXCEPT ALL SELECT tableoid::regclass::text, * FROM wanted) UNION ALL
		(SELECT replace(tableoid::regclass::text, 'wanted', 'got'), * FROM wanted EXCEPT ALL SELECT tableoid::regclass::text, * FROM got)) AS d;
	RETURN nullif(differ || ' rows differ', '0 rows differ');
END
$$;

CREATE TABLE loads AS
SELECT row_number() OVER () AS i, kind, uniq, keyed, condition, file, replaces, sorted, workers
FROM unnest('{plain,range,list,hash,two,sub,other}'::text[]) AS kind, unnest('{f,t}'::bool[]) AS uniq, unnest('{f,t}'::bool[]) AS keyed,
	unnest('{true,n % 3 > 0,nextval(''course_seq'') % 4 > 0}'::text[]) AS condition, unnest('{good,bad,twice}'::text[]) AS file,
	unnest('{f,t}'::bool[]) AS replaces, unnest('{f,t}'::bool[]) AS sorted, unnest('{0,1,2,4}'::int[]) AS workers
WHERE (keyed OR NOT replaces OR kind IN ('range')) AND (kind <> 'other' OR replaces) AND (file <> 'twice' OR uniq);

CREATE TABLE results AS SELECT *, pg_temp.wrong(kind, uniq, keyed, condition, file, replaces, sorted, workers) AS wrong FROM loads WHERE hashint8(i) % 8 = 0;
SELECT is((SELECT string_agg(format('%s rows of %s', count, wrong), '; ') FROM (SELECT count(*), wrong FROM results WHERE kind = k AND wrong IS NOT NULL GROUP BY wrong) AS w), NULL,
	format('%s: %s loads', k, (SELECT count(*) FROM results WHERE kind = k)))
FROM unnest('{plain,range,list,hash,two,sub,other}'::text[]) AS k;
SELECT cmp_ok((SELECT count(*) FROM results), '>', 100::bigint, 'all kinds of loads');

-- Where the scan is forgotten: rejects are told of once, keys outside of the range are
-- found by the load as well, and a condition is never evaluated twice
SELECT fast_copy_create_reject_table('course_rejects'), pg_temp.make('list', 'got', true), pg_temp.write_file('', 'bad', false, false) \g /dev/null
SELECT is(fast_copy('got', :'file', 'k', columns => '{k,n,g}', where_clause => 'n % 3 > 0', on_error => 'ignore', reject_table => 'course_rejects'), 262::bigint, 'rows that are neither bad nor filtered');
SELECT is((SELECT count(*) FROM course_rejects), 8::bigint, 'each reject once');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''got'', %L, ''k'', columns => ''{k,n,g}'', workers => %s, on_error => ''ignore'', options => ''{"existing_rows": "replace", "replace_from": "0", "replace_to": "99"}'')', :'file', workers)))[1:2],
	'{23514,"key \"99\" lies outside of the range that is replaced"}', format('outside of the range, %s workers', workers)) FROM unnest('{0,2}'::int[]) AS workers;
SELECT is((SELECT count(*) FROM got), 562::bigint, 'nothing is replaced');
SELECT pg_temp.make('list', 'got', false) \g /dev/null
CREATE UNIQUE INDEX ON got_1 (n, k, g);
SELECT is((pg_temp.failure(format('SELECT fast_copy(''got'', %L, ''k'', columns => ''{k,n,g}'', on_error => ''ignore'', where_clause => ''nextval(''''course_seq'''') > 0'')', :'file')))[1:2],
	'{0A000,"cannot load rows of a volatile condition in the order of column \"k\""}', 'a volatile condition, and an index of a partition alone');
SELECT is(fast_copy('got', :'file', columns => '{k,n,g}', on_error => 'ignore', where_clause => 'nextval(''course_seq'') > 0'), 392::bigint, '... in the order of the file');

-- missing_partitions "error" where core routes: rows that only a default partition takes,
-- at whatever level, are refused or rejected; not those that by range have no key
CREATE TABLE kept (k int, n int, g int) PARTITION BY LIST (g);
CREATE TABLE kept_1 PARTITION OF kept FOR VALUES IN (1) PARTITION BY RANGE (k, n);
CREATE TABLE kept_1_1 PARTITION OF kept_1 FOR VALUES FROM (0, 0) TO (9, 0);
CREATE TABLE kept_1_rest PARTITION OF kept_1 DEFAULT;
CREATE TABLE kept_rest PARTITION OF kept DEFAULT;
CREATE TABLE kept_two (k int, n int, g int) PARTITION BY RANGE (k, n);
CREATE TABLE kept_two_1 PARTITION OF kept_two FOR VALUES FROM (0, 0) TO (9, 0);
CREATE TABLE kept_two_rest PARTITION OF kept_two DEFAULT;
CREATE FUNCTION pg_temp.keeps(target text, lines text[], workers int, options text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text[];
	rows text;
BEGIN
	PERFORM pg_temp.write(lines);
	said := pg_temp.failure(format('SELECT fast_copy(%L, %L, missing_partitions => ''error'', workers => %s%s)', target, current_setting('fc.file'), workers, options));
	EXECUTE format('SELECT string_agg(tableoid::regclass || '' '' || r, '', '' ORDER BY r::text COLLATE "C") FROM %I AS r', target) INTO rows;
	EXECUTE format('TRUNCATE %I', target);
	RETURN coalesce(said[1] || ' ' || said[2] || ' ' || said[3] || ' ' || said[4] || ' ' || substring(said[9] FROM 'line \d+'), rows);
END
$$;
SELECT is(pg_temp.keeps('kept', lines, workers), '23514 no partition of relation "kept" found for row Only a default partition would take it. Use missing_partitions => ''default''. line 2', format('%s, %s workers', lines, workers))
FROM unnest('{0,2}'::int[]) AS workers, (VALUES ('{"1,1,1","1,1,2"}'::text[]), ('{"1,1,1","10,1,1"}'), ('{"1,1,1","1,1,"}')) AS v (lines);
SELECT is(pg_temp.keeps('kept', '{"1,1,1","1,1,2","10,1,1"}', workers, ', on_error => ''ignore'', on_error_classes => ''{no_partition}'''), 'kept_1_1 (1,1,1)', format('rejected, %s workers', workers))
FROM unnest('{0,2}'::int[]) AS workers;
SELECT is(pg_temp.keeps('kept_two', '{"1,1,1","9,1,2"}', 2), '23514 no partition of relation "kept_two" found for row Only a default partition would take it. Use missing_partitions => ''default''. line 2', 'two columns');
SELECT is(pg_temp.keeps('kept_two', '{"1,1,1","1,,2",",1,3"}', 2), 'kept_two_rest (,1,3), kept_two_rest (1,,2), kept_two_1 (1,1,1)', 'two columns, one NULL');

-- Where core loads, the scan for partitions does in the leader what workers may not:
-- values of a domain are tried in subtransactions, and code that is not parallel safe
CREATE FUNCTION course_same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TEMP TABLE course_least AS SELECT 5 AS n;
CREATE FUNCTION course_least() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT n FROM course_least); END $$;
CREATE FUNCTION course_any(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN true; END $$;
CREATE DOMAIN course_few AS int CHECK (course_any(value));
CREATE TABLE by_core (k int, n course_few, g int) PARTITION BY RANGE (k);
CREATE TABLE by_core_0 PARTITION OF by_core FOR VALUES FROM (0) TO (100);
CREATE TRIGGER same AFTER INSERT ON by_core FOR EACH STATEMENT EXECUTE FUNCTION course_same();
SELECT pg_temp.write_file('', 'good', false, false) \g /dev/null
SELECT is(fast_copy('by_core', :'file', workers => 2, on_error => 'ignore'), 400::bigint, 'a domain where core loads');
SELECT is(fast_copy('by_core', :'file', workers => 2, where_clause => 'k >= course_least()'), 380::bigint, 'a condition that is not parallel safe where core loads');
SELECT is(fast_copy('by_core', :'file', columns => '{a,n,g}', workers => 2, options => '{"transform": "k = (a::int + course_least()) % 100"}'), 400::bigint, '... and a transform');

-- ... and where the scan stops at a key outside of the range, core meets it, too
CREATE TABLE outside (k int) PARTITION BY RANGE (k);
CREATE TABLE outside_0 PARTITION OF outside FOR VALUES FROM (0) TO (10);
CREATE TABLE outside_1 PARTITION OF outside FOR VALUES FROM (10) TO (20);
CREATE TRIGGER same BEFORE INSERT ON outside_0 FOR EACH ROW EXECUTE FUNCTION course_same();
COPY (SELECT i FROM unnest('{7,12,3,4}'::int[]) AS i) TO :'file' (FORMAT csv);
SELECT throws_ok(format('SELECT fast_copy(''outside'', %L, workers => 0, options => ''{"existing_rows": "replace", "replace_from": "5", "replace_to": "15"%s}'')', :'file', more),
	'23514', NULL, 'a key outside of the range where core loads' || more) FROM unnest('{"",", \"transform\": \"k = k || left(k, 0)\""}'::text[]) AS more;

-- A default that is evaluated in the order of the file: the key only finds the missing
-- partitions, and then all leaves are looked at, also those that get no row.  One with a
-- trigger makes core load, after the scan
CREATE FUNCTION course_volatile() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION course_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TABLE late (k int, n int, v int DEFAULT course_volatile()) PARTITION BY RANGE (k);
CREATE TABLE late_0 PARTITION OF late FOR VALUES FROM (0) TO (10);
CREATE TABLE late_1 PARTITION OF late FOR VALUES FROM (10) TO (20);
CREATE TRIGGER late BEFORE INSERT ON late_1 FOR EACH ROW EXECUTE FUNCTION course_trigger();
SELECT pg_temp.write('{"0,1","9,2"}') \g /dev/null
SELECT is(fast_copy('late', :'file', 'k', columns => '{k,n}'), 2::bigint, 'a leaf without rows has a trigger');
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'copy'), 'core''s COPY: a partition has triggers', '... and core loads');
SELECT pg_temp.write('{"0,1","25,2"}') \g /dev/null
SELECT fast_copy('late', :'file', 'k', columns => '{k,n}', partition_interval => '10') \g /dev/null
SELECT is((SELECT string_agg((tableoid = 'late_0'::regclass) || ' ' || late::text, ', ' ORDER BY k, n) FROM late),
	'true (0,1,1), true (0,1,1), true (9,2,1), false (25,2,1)', '... also with a new partition');

-- Where only the load can evaluate the condition, it may leave out a row whose key has
-- no partition, or is outside of the range; a row that stays ends the load
CREATE TABLE unsaid (k int, n int, t text) PARTITION BY RANGE (k);
CREATE TABLE unsaid_0 PARTITION OF unsaid FOR VALUES FROM (0) TO (10);
CREATE TABLE unsaid_1 PARTITION OF unsaid FOR VALUES FROM (10) TO (20);
SELECT pg_temp.write('{"1,1,a",",-2,b","55,-3,c","2,3,d"}') \g /dev/null
SELECT is(fast_copy('unsaid', :'file', missing_partitions => 'error', where_clause => 'n > 0', workers => w, options => '{"transform": "t = t || course_volatile()"}'), 2::bigint, format('filtered rows without a partition, %s workers', w))
FROM unnest('{0,2}'::int[]) AS w;
SELECT is(fast_copy('unsaid', :'file', where_clause => 'n > 0', options => '{"transform": "t = t || course_volatile()", "existing_rows": "replace", "replace_from": "0", "replace_to": "20"}'), 2::bigint, '... and outside of a range');
SELECT is((SELECT string_agg(unsaid::text, ', ' ORDER BY k) FROM unsaid), '(1,1,a1), (2,3,d1)', '... which leaves the other rows');
SELECT throws_ok(format('SELECT fast_copy(''unsaid'', %L, missing_partitions => ''error'', where_clause => ''n <> -2'', options => ''{"transform": "t = t || course_volatile()"}'')', :'file'),
	'23514', 'no partition of relation "unsaid" found for row', 'a row without a partition that stays');
CREATE TABLE unsaid_rest PARTITION OF unsaid DEFAULT;
SELECT throws_ok(format('SELECT fast_copy(''unsaid'', %L, missing_partitions => ''error'', where_clause => ''n > 0'', options => ''{"transform": "t = t || course_volatile()"}'')', :'file'),
	'0A000', 'missing_partitions "error" cannot be used for table "unsaid" here', '... and with a default partition');

-- CHECKs are asked of rows as the scan has spilled them; expressions see no value with
-- a short header
CREATE TABLE checked (k int, n int, t text, CONSTRAINT odd CHECK (n <> 5), CONSTRAINT size CHECK (pg_column_size(t) = octet_length(t) + 4), CONSTRAINT divides CHECK (10 / (n + 8) < 100)) PARTITION BY RANGE (k);
CREATE FUNCTION pg_temp.checked(odd int, workers int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text[];
BEGIN
	EXECUTE format('COPY (SELECT i * 7 %% 40, CASE i WHEN 700 THEN %s ELSE i + 10 END, ''row '' || i FROM generate_series(1, 1000) AS i) TO %L (FORMAT csv)', odd, current_setting('fc.file'));
	said := pg_temp.failure(format('SELECT fast_copy(''checked'', %L, ''k'', partition_interval => ''10'', workers => %s)', current_setting('fc.file'), workers));
	RETURN coalesce(said[1] || ' ' || said[2] || ' ' || substring(said[9] FROM 'line \d+'), (SELECT count(*)::text FROM checked));
END
$$;
SELECT is(pg_temp.checked(5, w), '23514 new row for relation "checked_p20" violates check constraint "odd" line 700', format('a CHECK of a spilled row, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
SELECT is(pg_temp.checked(-8, w), '22012 division by zero line 700', format('... that ends in an error, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;
SELECT is(pg_temp.checked(1, 0), '1000', '... and that is true');
SELECT is(pg_temp.checked(1, 2), '2000', '... and again');
ALTER TABLE checked DROP CONSTRAINT size, ADD CONSTRAINT short CHECK (pg_column_size(t) < octet_length(t) + 4) NOT VALID;
SELECT is(pg_temp.checked(1, 0), '23514 new row for relation "checked_p0" violates check constraint "short" line 1', '... only of a value with a short header');

-- A volatile condition is asked once for each row, also of those that are too wide to be
-- spilled; a default counts by what is left of it; a condition sees the same value again
CREATE SEQUENCE course_asked;
SELECT format('CREATE TABLE wide (k bigint, %s)', string_agg('c' || i || ' bigint', ', ')) FROM generate_series(1, 30) AS i \gexec
SELECT pg_temp.write((SELECT array_agg(i || repeat(',1', 30)) FROM generate_series(1, 1000) AS i)) \g /dev/null
SELECT is(fast_copy('wide', :'file', 'k', where_clause => $$nextval('course_asked') <= 100$$), 100::bigint, 'a volatile condition is asked once');
CREATE TABLE asks (k bigint, n int) PARTITION BY RANGE (k);
SELECT pg_temp.write((SELECT array_agg(i * 7919 % 4000 || ',' || i) FROM generate_series(1, 4000) AS i)) \g /dev/null
SET LOCAL fast_copy.spill = 'offsets';
ALTER SEQUENCE course_asked RESTART;
SELECT is(fast_copy('asks', :'file', 'k', where_clause => $$nextval('course_asked') <= 100$$, partition_interval => '1000'), 100::bigint, '... of rows that are read again, too');
RESET fast_copy.spill;
CREATE TABLE folded (k int, v text DEFAULT coalesce('x', gen_random_uuid()::text)) PARTITION BY RANGE (k);
SELECT pg_temp.write('{25,2,13}') \g /dev/null
SELECT fast_copy('folded', :'file', 'k', columns => '{k}', partition_interval => '10') \g /dev/null
SELECT is((SELECT string_agg(folded::text, ', ' ORDER BY k) FROM folded), '(2,x), (13,x), (25,x)', 'a default that is volatile only as it is written');
CREATE TABLE measured (k int, b text) PARTITION BY RANGE (k);
SELECT pg_temp.write((SELECT array_agg(i * 7 % 40 || ',abc') FROM generate_series(1, 3000) AS i)) \g /dev/null
SET LOCAL fast_copy.spill = 'offsets';
SELECT is(fast_copy('measured', :'file', 'k', partition_interval => '10', workers => 0, where_clause => 'pg_column_size(b) = 7'), 3000::bigint, 'a condition on the size of a value that is read again');

SELECT * FROM finish();
ROLLBACK;
