-- order_by: each partition, or a plain table, in the order of any columns.
--
-- The referee is COPY into a stage whose rows are numbered as they come, and
-- ORDER BY.

\set name order_by
\ir begin.psql
SET LOCAL extra_float_digits = 1;
SELECT no_plan() \g /dev/null

-- The rows of "rel", and their order in each group of "parts", are those of
-- the stage, one by one; "keys" is the order as a query would have it
CREATE FUNCTION pg_temp.same_order(rel regclass, parts text, keys text, about text, filter text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	columns text := (SELECT string_agg(format('%I', attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = 'stage'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'line');
	rows text := 'SELECT coalesce((%s)::text, ''NULL'') AS part, md5(string_agg(row(%s)::text, chr(10) ORDER BY %s)) FROM %s WHERE %s GROUP BY 1';
	ours text := format(rows, parts, columns, 'ctid', rel, 'true');
	theirs text := format(rows, parts, columns, keys || ', line', 'stage', filter);
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) AS o FULL JOIN (%s) AS t USING (part) WHERE o.md5 IS DISTINCT FROM t.md5', ours, theirs) INTO n;
	RETURN is(n, 0::bigint, about);
END $$;

-- What an error says
CREATE FUNCTION pg_temp.error_of(command text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'no error' ELSE array_to_string(f[1:4] || substring(f[9] FROM 'line \d+(?=[,:\n]|$)'), ' | ') END FROM pg_temp.failure(command) AS f
$$;

CREATE FUNCTION pg_temp.way() RETURNS text LANGUAGE sql AS
$$SELECT choice FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL LIMIT 1$$;

-- Types: every value many times, NULLs, values that compare in their own way
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN small AS int CHECK (value < 1000);
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE stage (k timestamp, i2 int2, i4 int, i8 bigint, f4 float4, f8 float8, num numeric, b boolean, d date, t time, tz timestamptz, ttz timetz,
	iv interval, txt text, c text COLLATE "C", de text COLLATE "de-x-icu", ci text COLLATE caseless, vc varchar(20), bp char(6), nm name, ch "char", by bytea,
	u uuid, ip inet, mac macaddr, bits varbit, mo mood, sm small, arr int[], tarr text[], pr pair, rng int4range, jb jsonb, lsn pg_lsn, tsv tsvector, mon money,
	"Odd ""name" int, line bigint GENERATED ALWAYS AS IDENTITY);
CREATE FUNCTION pg_temp.pick(g int, salt int, variadic v text[]) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT nullif(v[1 + ('x' || substr(md5(g || '/' || salt), 1, 7))::bit(28)::int % array_length(v, 1)], 'NULL')$$;
CREATE TEMP TABLE made AS SELECT nullif(timestamp '2024-05-01' + (g * 7919 % 4) * interval '1 day' + (g * 31 % 86400) * interval '1 s', '2024-05-02 00:03:27') AS k,
	pg_temp.pick(g, 1, '-3', '7', '32767', 'NULL') AS i2, pg_temp.pick(g, 2, '-2147483648', '0', '5', '2147483647', 'NULL') AS i4, pg_temp.pick(g, 3, '-9000000000', '1', '9', 'NULL') AS i8,
	pg_temp.pick(g, 4, 'NaN', '-0', '0', '1.5', '-Infinity', 'NULL') AS f4, pg_temp.pick(g, 5, 'NaN', '-0', '0', '1e300', 'Infinity', '-1e-300', 'NULL') AS f8,
	pg_temp.pick(g, 6, '1', '1.0', '1.00', '-5', 'NaN', '123456789012345678901234567890.5', 'NULL') AS num, pg_temp.pick(g, 7, 't', 'f', 'NULL') AS b,
	pg_temp.pick(g, 8, '2020-01-01', 'infinity', '-infinity', '0044-03-15 BC', 'NULL') AS d, pg_temp.pick(g, 9, '00:00', '23:59:59.999999', '24:00', 'NULL') AS t,
	pg_temp.pick(g, 10, '2020-01-01 00:00+02', '2019-12-31 22:00+00', 'infinity', 'NULL') AS tz, pg_temp.pick(g, 11, '12:00+02', '10:00+00', '11:00-05', 'NULL') AS ttz,
	pg_temp.pick(g, 12, '1 month', '30 days', '720:00', '-1 day', '1 year', 'NULL') AS iv, pg_temp.pick(g, 13, 'a', 'B', 'b', 'Ä', 'a b', 'ab', 'z', '', 'NULL') AS txt,
	pg_temp.pick(g, 14, 'a', 'B', 'b', 'Ä', 'a b', 'ab', 'NULL') AS c, pg_temp.pick(g, 15, 'a', 'B', 'b', 'Ä', 'a b', 'ab', 'NULL') AS de, pg_temp.pick(g, 16, 'a', 'A', 'b', 'B', 'NULL') AS ci,
	pg_temp.pick(g, 17, 'x', 'xx', 'x ', 'NULL') AS vc, pg_temp.pick(g, 18, 'x', 'x ', 'xx', 'NULL') AS bp, pg_temp.pick(g, 19, 'n', 'N', 'm', 'NULL') AS nm, pg_temp.pick(g, 20, 'a', 'Z', 'NULL') AS ch,
	pg_temp.pick(g, 21, '\x00', '\xff', '\x', 'NULL') AS by, pg_temp.pick(g, 22, '00000000-0000-0000-0000-000000000001', 'f0000000-0000-0000-0000-000000000000', 'NULL') AS u,
	pg_temp.pick(g, 23, '10.0.0.1', '10.0.0.0/8', '::1', 'NULL') AS ip, pg_temp.pick(g, 24, '08:00:2b:01:02:03', '00:00:00:00:00:00', 'NULL') AS mac, pg_temp.pick(g, 25, '1', '10', '0', 'NULL') AS bits,
	pg_temp.pick(g, 26, 'sad', 'ok', 'happy', 'NULL') AS mo, pg_temp.pick(g, 27, '1', '999', 'NULL') AS sm, pg_temp.pick(g, 28, '{1,2}', '{1}', '{}', '{NULL}', 'NULL') AS arr,
	pg_temp.pick(g, 29, '{a,B}', '{b}', '{}', 'NULL') AS tarr, pg_temp.pick(g, 30, '(1,a)', '(1,)', '(,b)', 'NULL') AS pr, pg_temp.pick(g, 31, '[1,5)', 'empty', '(,3)', '[1,)', 'NULL') AS rng,
	pg_temp.pick(g, 32, '{"a": 1}', '[]', 'null', '"x"', '5', 'NULL') AS jb, pg_temp.pick(g, 33, '0/1', 'F/0', 'NULL') AS lsn, pg_temp.pick(g, 34, 'a b', 'c:1', 'NULL') AS tsv,
	pg_temp.pick(g, 35, '1.50', '-7', 'NULL') AS mon, pg_temp.pick(g, 36, '1', '2', 'NULL') AS odd
FROM generate_series(1, 700) AS g;
SELECT format('COPY made TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT format('COPY stage (%s) FROM %L (FORMAT csv)', string_agg(quote_ident(attname), ', ' ORDER BY attnum), current_setting('fc.file'))
FROM pg_attribute WHERE attrelid = 'stage'::regclass AND attnum > 0 AND attname <> 'line' \gexec
CREATE TABLE part (LIKE stage) PARTITION BY RANGE (k);
ALTER TABLE part DROP line;
CREATE TABLE part_default PARTITION OF part DEFAULT;
CREATE TABLE plain (LIKE part);

-- Each type, both directions, NULLs at both ends over all; partitions made for it, and
-- the default partition for rows without a key
CREATE FUNCTION pg_temp.check_types() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	name text;
	item text;
	i int := 0;
BEGIN
	FOR name IN SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = 'part'::regclass AND attnum > 1 AND NOT attisdropped ORDER BY attnum LOOP
		FOREACH item IN ARRAY CASE i % 4 WHEN 0 THEN ARRAY[name, name || ' desc nulls last'] ELSE ARRAY[name || ' DESC', name || ' ASC NULLS FIRST'] END LOOP
			i := i + 1;
			IF i % 2 = 0 THEN
				TRUNCATE plain;
				PERFORM fast_copy('plain', current_setting('fc.file'), order_by => ARRAY[item], workers => i / 4 % 2);
				RETURN NEXT pg_temp.same_order('plain', '1', item, 'plain table by ' || item);
			ELSE
				DROP TABLE part;
				CREATE TABLE part (LIKE plain) PARTITION BY RANGE (k);
				CREATE TABLE part_default PARTITION OF part DEFAULT;
				PERFORM fast_copy('part', current_setting('fc.file'), order_by => ARRAY[item], workers => i / 4 % 2);
				RETURN NEXT pg_temp.same_order('part', 'k::date', item, 'partitions by ' || item);
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_types();

-- Several keys, workers, both writers, both spills, chunks of a few bytes,
-- both ways of reading
CREATE FUNCTION pg_temp.check_many() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	keys text[];
	workers int;
	i int := 0;
BEGIN
	FOREACH workers IN ARRAY ARRAY[0, 1, 2, 4] LOOP
		FOR keys IN SELECT string_to_array(s, ',') FROM unnest(ARRAY['ci,num DESC,txt', 'b DESC NULLS LAST,iv,arr DESC', 'k,txt DESC', 'k DESC,txt', 'k NULLS FIRST',
				'k', 'txt,txt DESC', '"Odd ""name",k DESC', 'mo,sm DESC']) AS s LOOP
			i := i + 1;
			PERFORM set_config('fast_copy.writer', (ARRAY['page', 'multi_insert'])[1 + i % 2], true),
				set_config('fast_copy.chunk_size', (ARRAY['3000', '50kB', '16MB'])[1 + i % 3], true),
				set_config('fast_copy.spill', (ARRAY['rows', 'offsets', 'auto'])[1 + i / 2 % 3], true),
				set_config('fast_copy.io_method', (ARRAY['sync', 'auto'])[1 + i / 4 % 2], true);
			DROP TABLE part;
			CREATE TABLE part (LIKE plain) PARTITION BY RANGE (k);
			CREATE TABLE part_default PARTITION OF part DEFAULT;
			PERFORM fast_copy('part', current_setting('fc.file'), order_by => keys, workers => workers);
			RETURN NEXT pg_temp.same_order('part', 'k::date', array_to_string(keys, ','), format('%s workers, %s: partitions', workers, keys));
			-- ... all days in one partition
			DROP TABLE part;
			CREATE TABLE part (LIKE plain) PARTITION BY RANGE (k);
			CREATE TABLE part_default PARTITION OF part DEFAULT;
			PERFORM fast_copy('part', current_setting('fc.file'), order_by => keys, workers => workers, missing_partitions => 'default');
			RETURN NEXT pg_temp.same_order('part', '1', array_to_string(keys, ','), format('%s workers, %s: default partition', workers, keys));
			TRUNCATE plain;
			PERFORM fast_copy('plain', current_setting('fc.file'), order_by => keys, workers => workers);
			RETURN NEXT pg_temp.same_order('plain', '1', array_to_string(keys, ','), format('%s workers, %s: plain table', workers, keys));
			TRUNCATE plain;
			PERFORM fast_copy('plain', current_setting('fc.file'), 'k', order_by => keys, workers => workers);
			RETURN NEXT pg_temp.same_order('plain', '1', array_to_string(keys, ','), format('%s workers, %s: plain table, timestamp column named', workers, keys));
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_many();
RESET fast_copy.writer;
RESET fast_copy.chunk_size;
RESET fast_copy.spill;
RESET fast_copy.io_method;

-- Core routes: lists, hashes, levels below; columns in another order
CREATE TABLE lists (LIKE plain) PARTITION BY LIST (mo);
CREATE TABLE lists_sad PARTITION OF lists FOR VALUES IN ('sad', NULL);
CREATE TABLE lists_ok (gone int, LIKE plain);
ALTER TABLE lists_ok DROP gone;
ALTER TABLE lists_ok DROP txt;
ALTER TABLE lists_ok ADD txt text;
ALTER TABLE lists ATTACH PARTITION lists_ok FOR VALUES IN ('ok');
CREATE TABLE lists_happy PARTITION OF lists FOR VALUES IN ('happy') PARTITION BY HASH (i4);
CREATE TABLE lists_happy_0 PARTITION OF lists_happy FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE lists_happy_1 PARTITION OF lists_happy FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE FUNCTION pg_temp.check_routed(workers int, key name) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE lists;
	PERFORM fast_copy('lists', current_setting('fc.file'), key, order_by => '{txt DESC, iv}', workers => workers);
	RETURN NEXT pg_temp.same_order('lists', 'coalesce(mo, ''sad''), CASE mo WHEN ''happy'' THEN satisfies_hash_partition(''lists_happy''::regclass, 2, 0, i4) END',
		'txt DESC, iv', format('core routes, %s workers, key %s', workers, key));
	RETURN NEXT alike(pg_temp.way(), '%sorted by txt DESC, iv by one process%', 'the report says so');
END $$;
SELECT pg_temp.check_routed(workers, key) FROM unnest(ARRAY[0, 2]) AS workers, unnest(ARRAY[NULL, 'k']::name[]) AS key;

-- An existing partition with other columns first, and one with rows: new ones
-- go behind them, narrow or wide, never into free space
DROP TABLE part;
CREATE TABLE part (LIKE plain) PARTITION BY RANGE (k);
CREATE TABLE part_default PARTITION OF part DEFAULT;
CREATE TABLE part_old (gone int, LIKE plain);
ALTER TABLE part_old DROP gone;
ALTER TABLE part_old DROP i4;
ALTER TABLE part_old ADD i4 int;
ALTER TABLE part ATTACH PARTITION part_old FOR VALUES FROM ('2024-05-02') TO ('2024-05-03');
SELECT fast_copy('part', current_setting('fc.file'), order_by => '{i4 DESC,b}', workers => 2) \g /dev/null
SELECT pg_temp.same_order('part', 'k::date', 'i4 DESC, b', 'an existing partition with its columns in another order');
CREATE TABLE wide (n int, t text);
CREATE FUNCTION pg_temp.check_wide(workers int, key name) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	last tid;
	misplaced bigint;
BEGIN
	SELECT max(ctid) INTO last FROM wide;
	PERFORM fast_copy('wide', current_setting('fc.file') || '.wide', key, order_by => '{t DESC}', workers => workers);
	SELECT count(*) INTO misplaced FROM (SELECT t, lag(t) OVER (ORDER BY ctid) AS t0 FROM wide WHERE ctid > coalesce(last, '(0,0)')) AS s WHERE t > t0;
	RETURN NEXT is(misplaced, 0::bigint, format('rows of several widths with %s workers are in order', workers));
	RETURN NEXT is((SELECT count(*) FROM wide WHERE ctid > coalesce(last, '(0,0)')), 20000::bigint, 'behind what was there');
END $$;
SELECT format('COPY (SELECT g, repeat(chr(65 + g %% 26), g * 31 %% 1500) FROM generate_series(1, 20000) AS g) TO %L (FORMAT csv)', current_setting('fc.file') || '.wide') \gexec
SELECT pg_temp.check_wide(0, NULL);
SELECT pg_temp.check_wide(2, 'n');
INSERT INTO wide VALUES (0, 'y');
SELECT pg_temp.check_wide(0, NULL);

-- More rows than memory
CREATE TABLE big_stage (k timestamp, n int, device text, t text, line bigint GENERATED ALWAYS AS IDENTITY);
ALTER TABLE stage RENAME TO types_stage;
ALTER TABLE big_stage RENAME TO stage;
SELECT format('COPY (SELECT timestamp ''2024-05-01'' + (g * 7919 %% 400) * interval ''10 min'', g %% 1000, ''device '' || g * 31 %% 50, repeat(md5(g::text), 4) FROM generate_series(1, 36000) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT format('COPY stage (k, n, device, t) FROM %L (FORMAT csv)', current_setting('fc.file')) \gexec
CREATE TABLE big (LIKE stage) PARTITION BY RANGE (k);
ALTER TABLE big DROP line;
CREATE TABLE big_plain (LIKE big);
CREATE FUNCTION pg_temp.check_big(workers int, spill text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	about text := format('%s workers, %s: ', workers, spill);
BEGIN
	PERFORM set_config('fast_copy.spill', spill, true);
	DROP TABLE big;
	CREATE TABLE big (LIKE big_plain) PARTITION BY RANGE (k);
	RETURN NEXT is(fast_copy('big', current_setting('fc.file'), order_by => '{device,n DESC}', workers => workers), 36000::bigint, about || 'rows');
	RETURN NEXT matches(pg_temp.way(), 'sorted by device, n DESC, [1-3] of 3 sorts in temporary files of \d+ bytes', about || 'sorts larger than memory');
	RETURN NEXT pg_temp.same_order('big', 'k::date', 'device, n DESC', about || 'partitions');
	TRUNCATE big_plain;
	PERFORM fast_copy('big_plain', current_setting('fc.file'), order_by => '{device,n DESC}', workers => workers);
	RETURN NEXT matches(pg_temp.way(), 'sorted by device, n DESC by one process, 1 of 1 sorts in temporary files', about || 'plain table larger than memory');
	RETURN NEXT pg_temp.same_order('big_plain', '1', 'device, n DESC', about || 'plain table');
	TRUNCATE big_plain;
	PERFORM fast_copy('big_plain', current_setting('fc.file'), order_by => '{k,t DESC}', workers => workers);
	RETURN NEXT pg_temp.same_order('big_plain', '1', 'k, t DESC', about || 'plain table, the key first');
	RETURN NEXT ok(workers < 2 OR (SELECT substring(choice FROM '^(\d+) sorted slices')::int > 1 FROM fast_copy_report() WHERE partition = 'big_plain'), about || 'in slices');
	TRUNCATE big_plain;
	PERFORM fast_copy('big_plain', current_setting('fc.file'), 'k', order_by => '{device DESC,k}', workers => workers);
	RETURN NEXT pg_temp.same_order('big_plain', '1', 'device DESC, k', about || 'plain table, another order than the named key''s');
END $$;
SET LOCAL fast_copy.memory = '1MB';
SELECT pg_temp.check_big(0, 'rows');
SELECT pg_temp.check_big(2, 'offsets');
SELECT pg_temp.check_big(4, 'auto');
RESET fast_copy.spill;

-- The sort keeps to its half of the memory
CREATE FUNCTION pg_temp.note_memory(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF n % 50 = 0 THEN
		PERFORM set_config('fc.peak', greatest(current_setting('fc.peak')::bigint, (SELECT sum(total_bytes)
			FROM pg_backend_memory_contexts WHERE name IN ('TupleSort main', 'TupleSort sort', 'Caller tuples')))::text, true);
	END IF;
	RETURN true;
END $$;
CREATE TABLE noted (LIKE big_plain, CHECK (pg_temp.note_memory(n)));
SET LOCAL fast_copy.memory = '4MB';
SELECT set_config('fc.peak', '0', true) \g /dev/null
SELECT is(fast_copy('noted', current_setting('fc.file'), order_by => '{device}'), 36000::bigint, '36,000 rows of 200 bytes in 4 MB');
SELECT cmp_ok(current_setting('fc.peak')::bigint, '>', 1000000::bigint, 'fill the memory');
SELECT cmp_ok(current_setting('fc.peak')::bigint, '<', 2500000::bigint, 'and no more than that');
RESET fast_copy.memory;

-- Values that are stored apart
CREATE TABLE toasted (n int, t text);
CREATE TABLE toasted_part (n int, t text, d date) PARTITION BY RANGE (d);
DROP TABLE stage;
CREATE TABLE stage (n int, t text, line bigint GENERATED ALWAYS AS IDENTITY);
SELECT format('COPY (SELECT g * 37 %% 101, (SELECT string_agg(md5(g || ''/'' || i), '''') FROM generate_series(1, g * 13 %% 400) AS i) FROM generate_series(1, 400) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT format('COPY stage (n, t) FROM %L (FORMAT csv)', current_setting('fc.file')) \gexec
SET LOCAL fast_copy.memory = '1MB';
SELECT is(fast_copy('toasted', current_setting('fc.file'), order_by => '{t DESC, n}', workers => 2), 400::bigint, 'long values');
SELECT pg_temp.same_order('toasted', '1', 't DESC, n', 'long values: plain table');
SELECT format('COPY (SELECT n, t, ''2024-05-01''::date FROM stage ORDER BY line) TO %L (FORMAT csv)', current_setting('fc.file') || '.wide') \gexec
SELECT is(fast_copy('toasted_part', current_setting('fc.file') || '.wide', order_by => '{t DESC, n}', workers => 2), 400::bigint, 'long values');
SELECT pg_temp.same_order('toasted_part', '1', 't DESC, n', 'long values: partition');
RESET fast_copy.memory;

-- Columns that the file has not: generated, numbered, with a default
DROP TABLE stage;
CREATE TABLE stage (k date, n int, twice int GENERATED ALWAYS AS (n * 2) STORED, id int GENERATED BY DEFAULT AS IDENTITY, fixed text DEFAULT 'x', line bigint GENERATED ALWAYS AS IDENTITY);
CREATE TABLE given (k date, n int, twice int GENERATED ALWAYS AS (-n) STORED, id int GENERATED BY DEFAULT AS IDENTITY, fixed text DEFAULT 'x') PARTITION BY RANGE (k);
ALTER TABLE stage DROP twice;
ALTER TABLE stage ADD twice int GENERATED ALWAYS AS (-n) STORED;
SELECT format('COPY (SELECT date ''2024-05-01'' + g %% 3, nullif(g * 7 %% 10, 3) FROM generate_series(1, 300) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT format('COPY stage (k, n) FROM %L (FORMAT csv)', current_setting('fc.file')) \gexec
ALTER TABLE stage DROP line;
ALTER TABLE stage ADD line int GENERATED ALWAYS AS (id + 0) STORED;
SELECT is(fast_copy('given', current_setting('fc.file'), columns => '{k,n}', order_by => '{fixed,twice,id DESC}', workers => 2), 300::bigint, 'generated, numbered, with a default');
SELECT is((SELECT array_agg(column_name::text ORDER BY column_name) FROM information_schema.columns WHERE table_name = 'stage'), '{fixed,id,k,line,n,twice}', 'the stage has them, too');
SELECT is((SELECT count(*) FROM (
	(SELECT k, n, twice, id, fixed, row_number() OVER (PARTITION BY k ORDER BY ctid) FROM given EXCEPT ALL SELECT k, n, twice, id, fixed, row_number() OVER (PARTITION BY k ORDER BY fixed, twice, id DESC) FROM stage)
	UNION ALL
	(SELECT k, n, twice, id, fixed, row_number() OVER (PARTITION BY k ORDER BY fixed, twice, id DESC) FROM stage EXCEPT ALL SELECT k, n, twice, id, fixed, row_number() OVER (PARTITION BY k ORDER BY ctid) FROM given)) AS x),
	0::bigint, 'numbers are those of COPY');

-- Values that depend on the order of the file: core routes then, and the
-- partitions are made before
CREATE SEQUENCE counted;
CREATE FUNCTION pg_temp.count_up() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN nextval('counted'); END $$;
CREATE TABLE late (k date, n int, c bigint DEFAULT pg_temp.count_up()) PARTITION BY RANGE (k);
SELECT is(fast_copy('late', current_setting('fc.file'), columns => '{k,n}', order_by => '{n,c DESC}', workers => 2), 300::bigint, 'a default that counts');
SELECT is((SELECT count(*) FROM (SELECT row_number() OVER w AS a, row_number() OVER (PARTITION BY k ORDER BY n, id DESC) AS b, c, id FROM stage JOIN late USING (k, n) WHERE c = id WINDOW w AS (PARTITION BY k ORDER BY late.ctid)) AS s WHERE a <> b), 0::bigint, 'in order');
SELECT is((SELECT count(*) FROM stage AS s JOIN late AS l ON s.k = l.k AND s.n IS NOT DISTINCT FROM l.n AND s.id = l.c), 300::bigint, 'and has counted as for COPY');
SELECT is(pg_temp.way(), 'in the leader: a column''s default is not parallel safe, sorted by n, c DESC by one process, multi_insert', 'in the leader');

-- A class of one's own is the default for its type; comparing in plpgsql is the
-- leader's
CREATE TYPE back AS (n int);
CREATE FUNCTION back_cmp(a back, b back) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN sign(b.n - a.n); END $$;
CREATE FUNCTION back_lt(a back, b back) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT back_cmp(a, b) < 0$$;
CREATE FUNCTION back_le(a back, b back) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT back_cmp(a, b) <= 0$$;
CREATE FUNCTION back_eq(a back, b back) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT back_cmp(a, b) = 0$$;
CREATE FUNCTION back_ge(a back, b back) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT back_cmp(a, b) >= 0$$;
CREATE FUNCTION back_gt(a back, b back) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT back_cmp(a, b) > 0$$;
CREATE OPERATOR public.< (LEFTARG = back, RIGHTARG = back, FUNCTION = back_lt, COMMUTATOR = OPERATOR(public.>));
CREATE OPERATOR public.<= (LEFTARG = back, RIGHTARG = back, FUNCTION = back_le);
CREATE OPERATOR public.= (LEFTARG = back, RIGHTARG = back, FUNCTION = back_eq);
CREATE OPERATOR public.>= (LEFTARG = back, RIGHTARG = back, FUNCTION = back_ge);
CREATE OPERATOR public.> (LEFTARG = back, RIGHTARG = back, FUNCTION = back_gt, COMMUTATOR = OPERATOR(public.<));
CREATE OPERATOR CLASS back_ops DEFAULT FOR TYPE back USING btree AS
	OPERATOR 1 public.<, OPERATOR 2 public.<=, OPERATOR 3 public.=, OPERATOR 4 public.>=, OPERATOR 5 public.>, FUNCTION 1 back_cmp(back, back);
CREATE TABLE backs (b back, n int);
SELECT format('COPY (SELECT row(g * 7 %% 10), g FROM generate_series(1, 100) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(fast_copy('backs', current_setting('fc.file'), order_by => '{b}', workers => 2), 100::bigint, 'a class of one''s own');
SELECT is((SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY ctid) AS a, row_number() OVER (ORDER BY (b).n DESC, n) AS b FROM backs) AS s WHERE a <> b), 0::bigint, 'decides');
SELECT is(pg_temp.way(), 'in the leader: the order of a column is not parallel safe, sorted by b by one process, multi_insert', 'in the leader');

-- Conditions, rejects, constraints: the line of a row is right
CREATE TABLE checked (k date, n int CHECK (n < 90), t text NOT NULL) PARTITION BY RANGE (k);
CREATE TABLE checked_old PARTITION OF checked FOR VALUES FROM ('2024-05-01') TO ('2024-05-02');
SELECT format('COPY (SELECT date ''2024-05-01'' + g %% 3, CASE WHEN g = 150 THEN ''x'' WHEN g IN (120, 140) THEN ''95'' ELSE (g * 7 %% 80)::text END, CASE WHEN g <> 130 THEN ''v'' END FROM generate_series(1, 300) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT matches(pg_temp.error_of(format('SELECT fast_copy(''checked'', %L, order_by => ''{n DESC}'', workers => %s)', current_setting('fc.file'), w)), '^23514 .* line 120$', w || ' workers: the first row that a CHECK refuses') FROM unnest(ARRAY[0, 2]) AS w;
SELECT matches(pg_temp.error_of(format('SELECT fast_copy(''checked'', %L, order_by => ''{n DESC}'', where_clause => ''n < 90'', workers => %s)', current_setting('fc.file'), w)), '^23502 .* line 130$', w || ' workers: a NULL') FROM unnest(ARRAY[0, 2]) AS w;
SELECT matches(pg_temp.error_of(format('SELECT fast_copy(''checked'', %L, order_by => ''{n DESC}'', where_clause => ''n < 90 AND t = ''''v'''''', workers => %s)', current_setting('fc.file'), w)), '^22P02 .* line 150$', w || ' workers: a value that is none') FROM unnest(ARRAY[0, 2]) AS w;
SELECT is(fast_copy('checked', current_setting('fc.file'), order_by => '{n DESC}', on_error => 'ignore', on_error_classes => '{conversion,check,not_null}', log_verbosity => 'silent', workers => 2), 296::bigint, 'all but the bad ones');
SELECT is((SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY k ORDER BY ctid) AS n0 FROM checked) AS s WHERE n > n0), 0::bigint, 'in order');
SELECT matches(pg_temp.way(), '^sorted by n DESC, ', 'and the report says so');

-- Existing unique indexes
CREATE TABLE keyed (id int PRIMARY KEY, n int, t text);
SELECT format('COPY (SELECT CASE g WHEN 77 THEN 33 ELSE g END, g * 7 %% 10, ''t'' || g FROM generate_series(1, 100) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT matches(pg_temp.error_of(format('SELECT fast_copy(''keyed'', %L, order_by => ''{id DESC}'')', current_setting('fc.file'))), '^23505 .* line 77$', 'the second of two equal rows');
SELECT is(pg_temp.error_of(format('SELECT fast_copy(''keyed'', %L, order_by => ''{n}'', on_error => ''ignore'', on_error_classes => ''{unique}'')', current_setting('fc.file'))),
	'0A000 | order_by cannot be used with on_error_classes "unique" here | Of rows that index "keyed_pkey" takes for equal the first of the file is to be loaded, and another one may come before it in this order. | Order by columns of the index only, or leave one of the two out.',
	'no order in which another row would stay');
SELECT is(fast_copy('keyed', current_setting('fc.file'), order_by => '{id DESC}', on_error => 'ignore', on_error_classes => '{unique}', log_verbosity => 'silent'), 99::bigint, 'the second one is rejected');
SELECT is((SELECT t FROM keyed WHERE id = 33), 't33', 'the first one stays');
SELECT is((SELECT array_agg(id ORDER BY ctid) FROM keyed), (SELECT array_agg(id ORDER BY id DESC) FROM keyed), 'in order');
CREATE TABLE keyed_part (id int, k date, n int, UNIQUE (id, k)) PARTITION BY RANGE (k);
SELECT format('COPY (SELECT CASE g WHEN 77 THEN 37 ELSE g END, date ''2024-05-01'' + g %% 2, g * 7 %% 10 FROM generate_series(1, 100) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT matches(pg_temp.error_of(format('SELECT fast_copy(''keyed_part'', %L, order_by => ''{n DESC}'')', current_setting('fc.file'))), '^23505 .* line 77$', 'an index that is built later');

-- Frozen rows, a mapped header, a quoted name, text format
CREATE TABLE frozen ("Ts ""x" timestamp, n int);
SELECT format('COPY (SELECT g * 7 %% 10 AS n, timestamp ''2024-05-01'' + g * interval ''1 s'' AS "Ts ""x" FROM generate_series(1, 100) AS g) TO %L (FORMAT csv, HEADER)', current_setting('fc.file')) \gexec
SELECT is((SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY ctid) AS n0, "Ts ""x" AS k, lag("Ts ""x") OVER (ORDER BY ctid) AS k0 FROM frozen) AS s WHERE (-n, k) < (-n0, k0)), 0::bigint, 'in order')
FROM fast_copy('frozen', current_setting('fc.file'), header => 'map', order_by => ARRAY['n desc', '"Ts ""x" asc']);
SELECT is((SELECT count(*) FROM frozen), 100::bigint, 'all rows');

-- The key itself needs no sort
SELECT fast_copy('big_plain', current_setting('fc.file') || '.none', order_by => '{k}') FROM (SELECT 1 WHERE false) AS s;
CREATE TABLE simple (k date, n int) PARTITION BY RANGE (k);
SELECT format('COPY (SELECT date ''2024-05-01'' + g %% 3, g FROM generate_series(1, 100) AS g) TO %L (FORMAT csv)', current_setting('fc.file')) \gexec
SELECT is(fast_copy('simple', current_setting('fc.file'), order_by => '{k}'), 100::bigint, 'by the key');
SELECT alike(pg_temp.way(), 'in key order%', 'no sort');
SELECT is((SELECT detail FROM fast_copy_analyze('simple', current_setting('fc.file'), order_by => ARRAY['n DESC', 'k']) WHERE name = 'order'), 'n DESC, k', 'fast_copy_analyze says the order');

-- What is no order
CREATE TABLE unordered (j json, p point, n int, "Order" int);
CREATE FUNCTION pg_temp.refused(order_by text[], args text DEFAULT '') RETURNS text LANGUAGE sql AS
$$SELECT pg_temp.error_of(format('SELECT fast_copy(''unordered'', %L, order_by => %L%s)', current_setting('fc.file'), order_by, args))$$;
SELECT is(pg_temp.refused('{none}'), '42703 | column "none" of relation "unordered" does not exist', 'no such column');
SELECT is(pg_temp.refused('{Order}'), '42601 | syntax error at or near "Order"', 'a reserved word');
SELECT is(pg_temp.refused('{N,ctid}'), '42703 | column "ctid" of relation "unordered" does not exist', 'a system column');
SELECT is(pg_temp.refused('{j}'), '42883 | could not identify an ordering operator for type json | Column "j" is of this type. | Name columns whose types have a default operator class for btree.', 'json');
SELECT matches(pg_temp.refused('{p DESC}'), '^42883 ', 'point');
SELECT is(pg_temp.refused(ARRAY[item]), format('0A000 | order_by item "%s" is not the name of a column | Each item names one column, with ASC or DESC and NULLS FIRST or NULLS LAST after it if need be.', item), item)
FROM unnest(ARRAY['n + 1', '1', 'n, j', 'unordered.n', 'n COLLATE "C"', 'n USING >', 'n LIMIT 1', 'n FOR UPDATE', 'n; SELECT 1', 'count(n)', 'NULL', '(SELECT 1)', 'n OFFSET 1']) AS item;
SELECT is(pg_temp.refused('{""}'), '42601 | syntax error at end of input', 'nothing');
SELECT matches(pg_temp.refused('{n up}'), '^42601 \| syntax error', 'a word that is none');
SELECT is(pg_temp.refused('{}'), '22023 | argument "order_by" must not be empty | Leave it out, or give NULL, to get its default.', 'no item');
SELECT is(pg_temp.refused('{n,NULL}'), '22004 | argument "order_by" must not contain nulls', 'NULL');
CREATE TRIGGER nothing BEFORE INSERT ON unordered FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT is(pg_temp.refused('{n}'), '0A000 | cannot load rows in the order of order_by here | Rows are loaded one by one, as COPY does: the target has triggers.', 'triggers');
SELECT is((SELECT detail FROM fast_copy_analyze('unordered', current_setting('fc.file'), columns => '{"Order",n}', order_by => '{n}') WHERE item = 'warning' AND name = 'serial'),
	'Rows are loaded one by one, as COPY does, and order_by would be refused: the target has triggers.', 'fast_copy_analyze warns of it');

SELECT * FROM finish();
ROLLBACK;
