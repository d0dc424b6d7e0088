-- Serial and identity columns get the numbers that COPY would give them, and
-- sequences are left as COPY leaves them.

\set name serial
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SET LOCAL fast_copy.root_directory = :'tmp_dir';
SELECT plan(55);

-- 60,000 rows of three days in no order
SELECT format('COPY (SELECT timestamp ''2024-05-06'' + (g * 7919 %% 25000) * interval ''10 s'', g FROM generate_series(1, 60000) AS g) TO %L (FORMAT csv)',
			  current_setting('fc.file')) \gexec

-- Loads by COPY and by fast_copy; "sequence" says what the sequence is like
CREATE FUNCTION pg_temp.check_load(sequence text, workers int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s, %s workers: ', coalesce(nullif(sequence, ''), 'plain'), workers);
	tail text;
	e bigint[];
	wrong bigint;
BEGIN
	CREATE TABLE c (k timestamp, n int, id bigserial);
	CREATE TABLE f (k timestamp, n int, id bigserial) PARTITION BY RANGE (k);
	FOREACH tail IN ARRAY regexp_split_to_array(sequence, ';') LOOP
		IF tail ~ '^ *setval' THEN
			EXECUTE 'SELECT ' || replace(tail, 'seq', 'c_id_seq') || ', ' || replace(tail, 'seq', 'f_id_seq');
		ELSIF tail <> '' THEN
			EXECUTE 'ALTER SEQUENCE c_id_seq ' || tail;
			EXECUTE 'ALTER SEQUENCE f_id_seq ' || tail;
		END IF;
	END LOOP;
	EXECUTE format('COPY c (k, n) FROM %L (FORMAT csv)', current_setting('fc.file'));
	e := ARRAY[currval('c_id_seq'), lastval(), nextval('c_id_seq')];
	PERFORM fast_copy('f', current_setting('fc.file'), columns => '{k,n}', workers => workers);
	RETURN NEXT is(ARRAY[currval('f_id_seq'), lastval(), nextval('f_id_seq')], e, about || 'currval(), lastval() and nextval() afterwards');
	SELECT count(*) INTO wrong FROM (SELECT * FROM c EXCEPT ALL SELECT * FROM f) AS s;
	RETURN NEXT is(wrong, 0::bigint, about || 'the numbers of COPY');
	SELECT count(*) INTO wrong FROM (SELECT (k, n) < lag((k, n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS after FROM f) AS s WHERE after;
	RETURN NEXT is(wrong, 0::bigint, about || 'in key order, ties in file order');
	DROP TABLE c, f;
END
$$;

SELECT pg_temp.check_load(sequence, workers)
FROM unnest('{"","CACHE 7","MAXVALUE 3 CYCLE","INCREMENT -2 MINVALUE -200000 MAXVALUE 5 RESTART 5","setval(''seq'', 100, false)","MAXVALUE 60100 CYCLE;setval(''seq'', 60000)"}'::text[]) AS sequence,
	unnest('{0,2}'::int[]) AS workers;

-- the numbers go on from load to load
CREATE TABLE twice (k timestamp, n int, id int GENERATED ALWAYS AS IDENTITY, other serial);
SELECT fast_copy('twice', current_setting('fc.file'), 'k', columns => '{k,n}', workers => 2) \g /dev/null
SELECT fast_copy('twice', current_setting('fc.file'), 'k', columns => '{k,n}', workers => 2) \g /dev/null
SELECT is(count(*), 120000::bigint, 'two loads of one table') FROM twice WHERE id IN (n, n + 60000) AND other = id;
SELECT is(count(DISTINCT id), 120000::bigint, 'no number comes twice') FROM twice;

-- workers take part, and what another default does is seen by the leader alone
SELECT is((SELECT processes FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL), 2::bigint, 'workers load numbered rows');
CREATE TABLE pairs (k timestamp, n int, id serial, again int DEFAULT currval('pairs_id_seq'));
SELECT fast_copy('pairs', current_setting('fc.file'), 'k', columns => '{k,n}', workers => 2) \g /dev/null
SELECT is((SELECT count(*) FROM pairs WHERE id = n AND again = n), 60000::bigint, 'currval() as a default');
SELECT ok((SELECT choice LIKE 'in the leader%' FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL), 'is evaluated by the leader');

-- rows that a condition filters have numbers, as COPY gives them
TRUNCATE pairs;
ALTER TABLE pairs DROP again;
SELECT fast_copy('pairs', current_setting('fc.file'), 'k', columns => '{k,n}', where_clause => 'n % 2 = 0', workers => 2) \g /dev/null
SELECT is((SELECT count(*) FROM pairs WHERE id = n + 60000), 30000::bigint, 'rows that are filtered use up numbers');

-- a sequence asks for a privilege, an identity column does not
CREATE ROLE fc_serial_user;
CREATE TABLE own (k timestamp, n int, id serial);
CREATE TABLE ident (k timestamp, n int, id int GENERATED ALWAYS AS IDENTITY);
GRANT INSERT ON own, ident TO fc_serial_user;
GRANT USAGE ON SCHEMA public TO fc_serial_user;
GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO fc_serial_user;
SET LOCAL ROLE fc_serial_user;
SELECT throws_ok(format('SELECT fast_copy(%L, %L, columns => %L, workers => 2)', 'own', current_setting('fc.file'), '{k,n}'),
				 '42501', 'permission denied for sequence own_id_seq', 'nextval() of a sequence one may not use');
SELECT lives_ok(format('SELECT fast_copy(%L, %L, columns => %L, workers => 2)', 'ident', current_setting('fc.file'), '{k,n}'),
				'identity needs no privilege');
RESET ROLE;
SELECT is((SELECT count(*) FROM ident WHERE id = n), 60000::bigint, 'and has the numbers');

-- an end of the numbers is an error of the record that gets none
ALTER SEQUENCE own_id_seq MAXVALUE 43210;
SELECT throws_ok(format('SELECT fast_copy(%L, %L, columns => %L, workers => 2)', 'own', current_setting('fc.file'), '{k,n}'),
				 '2200H', 'nextval: reached maximum value of sequence "own_id_seq" (43210)', 'too few numbers');
SELECT is((SELECT count(*) FROM own), 0::bigint, 'nothing is loaded');

-- ... of the second of two files with headers
CREATE TABLE few (v int, id serial);
ALTER SEQUENCE few_id_seq MAXVALUE 1005;
SELECT pg_temp.file('SELECT g AS v FROM generate_series(1, 1000) AS g', ', HEADER') \g /dev/null
SELECT pg_temp.shell(format('cp %s %s.2', :'file', :'file')) \g /dev/null
CREATE FUNCTION pg_temp.refused(workers int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f text[];
BEGIN
	ALTER SEQUENCE few_id_seq RESTART;
	f := pg_temp.failure(format('SELECT fast_copy(''few'', ARRAY[%1$L, %1$L || ''.2''], columns => ''{v}'', header => true, workers => %2$s)', current_setting('fc.file'), workers));
	RETURN f[2] || '; ' || split_part(f[9], E'\n', 1);
END
$$;
SELECT is(pg_temp.refused(w), format('nextval: reached maximum value of sequence "few_id_seq" (1005); fast_copy few, file "%s.2", line 7: "6"', :'file'), format('the record without a number, %s workers', w)) FROM unnest('{0,2}'::int[]) AS w;

-- one that counts down, to its end
CREATE SEQUENCE down INCREMENT -1 MINVALUE -4;
CREATE TABLE falls (id bigint DEFAULT nextval('down'), v int);
SELECT fast_copy('falls', pg_temp.file('SELECT generate_series(1, 2)'), columns => '{v}') FROM generate_series(1, 2) \g /dev/null
SELECT is((SELECT array_agg(id ORDER BY id) FROM falls), '{-4,-3,-2,-1}', 'a sequence that counts down');
SELECT throws_ok(format($$SELECT fast_copy('falls', %L, columns => '{v}')$$, pg_temp.file('SELECT generate_series(1, 2)')), '2200H', 'nextval: reached minimum value of sequence "down" (-4)', 'and its end');

-- one that has no number left for the second row of a load
CREATE SEQUENCE lowest INCREMENT -1 MINVALUE -1 MAXVALUE 5 START -1;
CREATE TABLE low (id bigint DEFAULT nextval('lowest'), v int);
SELECT throws_ok($$SELECT fast_copy('low', current_setting('fc.file'), columns => '{v}')$$, '2200H', 'nextval: reached minimum value of sequence "lowest" (-1)', 'a sequence that begins at its end') FROM pg_temp.file('SELECT generate_series(1, 3)');

-- numbers that begin anew after each third, of rows in the order of the file
CREATE TABLE thirds (v int, id bigserial);
ALTER SEQUENCE thirds_id_seq MAXVALUE 3 CYCLE;
SELECT fast_copy('thirds', pg_temp.file('SELECT generate_series(1, 66000)'), columns => '{v}', workers => w) FROM unnest('{0,2}'::int[]) AS w \g /dev/null
SELECT is(count(*), 132000::bigint, 'in the order of the file, too, sequences may begin anew') FROM thirds WHERE id = 1 + (v - 1) % 3;

-- an analysis evaluates defaults, and takes no number
CREATE SEQUENCE untouched;
CREATE TABLE odd (v int, id bigint DEFAULT CASE WHEN random() < 2 THEN nextval('untouched') END CHECK (id < 2));
SELECT is((SELECT rows FROM fast_copy_analyze('odd', pg_temp.file('SELECT generate_series(1, 5)'), columns => '{v}') WHERE item = 'rows' AND name = 'accepted'), 5::bigint, 'an analysis of a default that may leave out its number');
SELECT is(nextval('untouched'), 1::bigint, '... takes none');

SELECT * FROM finish();
ROLLBACK;
