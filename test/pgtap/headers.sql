-- Files with headers of their own: with header => 'map' each is mapped by itself.
--
-- Random files have the columns of a table in any order, some missing and some that
-- the table does not have.  What COPY would load by the list of each file's columns
-- is inserted from the rows that the files were made of.

\set name headers
\ir begin.psql
SELECT no_plan();
SET LOCAL fast_copy.memory = '4MB';

SELECT set_config('fc.dir', :'tmp_dir' || '/fc_headers', true) AS dir \gset
SELECT pg_temp.shell(format('rm -rf %s; mkdir -p %1$s && chmod 777 %1$s', :'dir')) \g /dev/null

-- "at" and "n" have defaults; the values of "ip" are read by core, which needs the byte after them
CREATE TABLE source (file int, id int, at text, n text, v text, "W x" text, ip text, other text, more text);
CREATE TABLE plain (id int, at timestamp DEFAULT '2024-01-20', n int DEFAULT 7 CHECK (n > 0), v varchar(300), "W x" text, ip inet, at_n text GENERATED ALWAYS AS ("W x" || n) STORED);
CREATE TABLE parts (LIKE plain INCLUDING ALL) PARTITION BY RANGE (at);
CREATE TABLE hashed (LIKE plain INCLUDING ALL) PARTITION BY HASH (v);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE fires (LIKE plain INCLUDING ALL);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE bare (id int, at timestamp, n int, v varchar(300), "W x" text, ip inet);
CREATE TABLE few (LIKE bare) PARTITION BY RANGE (at);
CREATE TABLE merged (LIKE plain INCLUDING ALL, UNIQUE (id, at)) PARTITION BY RANGE (at);
CREATE TABLE want (LIKE plain INCLUDING ALL);
CREATE TABLE headers (file int, columns text[]);

CREATE FUNCTION pg_temp.draw(seed int, nfiles int, rows int, form text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	f headers;
	paths text[] := '{}';
BEGIN
	PERFORM setseed(seed::float8 / 1000);
	TRUNCATE source, headers;
	INSERT INTO headers SELECT i, (SELECT array_agg(c ORDER BY random()) FROM unnest('{id,at,n,v,"W x",ip,other,more}'::text[]) AS c WHERE c = 'id' OR (i > 0 AND random() < 0.75)) FROM generate_series(1, nfiles) AS i;
	INSERT INTO source SELECT file, file * 100000 + g, (timestamp '2024-01-01' + floor(random() * 20)::int * interval '1 day')::text, 1 + floor(random() * 100)::int,
		CASE floor(random() * 6)::int WHEN 0 THEN NULL WHEN 1 THEN E'a,"b"\nc\t\\' WHEN 2 THEN repeat(E'\u00e4', 200) WHEN 3 THEN '' ELSE 'v' || g END, 'w' || g, '10.0.0.' || g % 200, 'o', E'm\n,'
		FROM headers, generate_series(1, rows) AS g;
	FOR f IN SELECT * FROM headers ORDER BY file LOOP
		paths := paths || format('%s/%s.csv', current_setting('fc.dir'), f.file);
		EXECUTE format('COPY (SELECT %s FROM source WHERE file = %s ORDER BY id) TO %L (%s, HEADER)', (SELECT string_agg(quote_ident(c), ', ' ORDER BY i) FROM unnest(f.columns) WITH ORDINALITY AS u (c, i)), f.file, paths[f.file], form);
	END LOOP;
	RETURN paths;
END
$$;
-- What is wrong with a load
CREATE FUNCTION pg_temp.wrong(target regclass, paths text[], more jsonb, adapted text DEFAULT '%s') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f headers;
	columns text;
	differ text;
	shown text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND NOT attisdropped);
BEGIN
	EXECUTE format('TRUNCATE %s; DROP TABLE IF EXISTS want; CREATE TABLE want (LIKE %1$s INCLUDING ALL)', target);
	PERFORM fast_copy(target, paths, header => 'map', ignore_extra_columns => true, options => more);
	FOR f IN SELECT * FROM headers ORDER BY file LOOP
		SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum), string_agg(format('%I::%s', attname, atttypid::regtype), ', ' ORDER BY attnum) INTO columns, differ
			FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND attname = ANY (f.columns);
		EXECUTE format('INSERT INTO want (%s) SELECT %s FROM source WHERE file = %s', columns, format(adapted, differ), f.file);
	END LOOP;
	EXECUTE format('SELECT string_agg(x, E''\n'') FROM (SELECT * FROM (SELECT ''lacks '' || left(w::text, 200) AS x FROM (SELECT %2$s FROM want EXCEPT ALL SELECT %2$s FROM %1$s) AS w LIMIT 3) AS a
		UNION ALL SELECT * FROM (SELECT ''has '' || left(w::text, 200) FROM (SELECT %2$s FROM %1$s EXCEPT ALL SELECT %2$s FROM want) AS w LIMIT 3) AS b) AS x', target, shown) INTO differ;
	RETURN differ;
END
$$;
CREATE FUNCTION pg_temp.check(seed int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	forms text[] := ARRAY['FORMAT csv', 'FORMAT text', 'FORMAT csv, ENCODING ''LATIN1'', DELIMITER '';'', NULL ''-''', 'FORMAT csv, FORCE_QUOTE (id)'];
	options jsonb[] := ARRAY['{}', '{"format": "text"}', '{"encoding": "LATIN1", "delimiter": ";", "null_string": "-"}', '{"force_null": ["id"], "default_string": "DEF"}']::jsonb[];
	form int := CASE WHEN seed % 3 = 0 THEN 1 + seed / 3 % 4 ELSE 1 END;
	paths text[] := pg_temp.draw(seed, 2 + seed % 5, 10 + seed * 37 % 400, forms[form]);
	target text;
	more jsonb;
	gz text;
BEGIN
	PERFORM pg_temp.shell(format('cd %s && rm -f *.gz && gzip -k *.csv', current_setting('fc.dir')));
	/* a key that some file lacks is NULL there */
	FOREACH target IN ARRAY '{plain,bare,parts,hashed,fires}'::text[] || CASE WHEN EXISTS (SELECT FROM headers WHERE 'at' = ANY (columns)) THEN '{merged}'::text[] ELSE '{}' END || CASE WHEN NOT EXISTS (SELECT FROM headers WHERE NOT 'at' = ANY (columns)) THEN '{few}'::text[] ELSE '{}' END LOOP
		PERFORM set_config('fast_copy.chunk_size', (ARRAY['16', '1000', '16kB', '8MB'])[1 + floor(random() * 4)::int], true);
		PERFORM set_config('fast_copy.spill', (ARRAY['auto', 'rows', 'offsets'])[1 + floor(random() * 3)::int], true);
		gz := CASE WHEN random() < 0.3 THEN '.gz' ELSE '' END;
		more := jsonb_build_object('workers', (ARRAY[0, 1, 2, 4])[1 + floor(random() * 4)::int]) || options[form] ||
			CASE WHEN target = 'merged' THEN '{"existing_rows": "merge", "dedup_keys": ["id", "at"]}'::jsonb ELSE '{}' END;
		RETURN NEXT is(pg_temp.wrong(target::regclass, ARRAY(SELECT p || gz FROM unnest(paths) AS p), more), NULL,
			format('%s, %s, %s files%s, chunks of %s, spill %s, seed %s', target, more, array_length(paths, 1), gz, current_setting('fast_copy.chunk_size'), current_setting('fast_copy.spill'), seed));
	END LOOP;
END
$$;
SELECT pg_temp.check(seed) FROM generate_series(1, 16) AS seed;

-- What is wrong in one file of several is what is wrong with it alone
SELECT fast_copy_create_reject_table('rej') \g /dev/null
CREATE TABLE rej_alone (LIKE rej INCLUDING ALL);
CREATE FUNCTION pg_temp.export(path text, content text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	lob oid := lo_from_bytea(0, convert_to(content, 'UTF8'));
BEGIN
	PERFORM lo_export(lob, path), lo_unlink(lob);
END
$$;
CREATE FUNCTION pg_temp.faults(seed int, target regclass, more jsonb) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	paths text[] := pg_temp.draw(seed, 3, 60, 'FORMAT csv');
	path text;
	lines text[];
	options jsonb := more || '{"header": "map", "ignore_extra_columns": true, "on_error": "ignore", "on_error_classes": ["conversion", "missing_columns", "extra_columns", "check", "not_null"], "log_verbosity": "silent"}';
	alone text[];
BEGIN
	FOREACH path IN ARRAY paths LOOP
		lines := string_to_array(pg_read_file(path), E'\n');
		PERFORM pg_temp.export(path, (SELECT string_agg(CASE WHEN i = 1 OR line = '' OR line !~ ',' OR line ~ '"' OR lines[i - 1] ~ '"' THEN line WHEN random() < 0.1 THEN regexp_replace(line, ',[^,]*$', '')
			WHEN random() < 0.1 THEN line || ',x' WHEN random() < 0.1 THEN regexp_replace(line, '\d\d\d+', 'bad') WHEN random() < 0.1 THEN regexp_replace(line, '2024-01-..', '2024-01-50') ELSE line END, E'\n' ORDER BY i) FROM unnest(lines) WITH ORDINALITY AS u (line, i)));
	END LOOP;
	EXECUTE format('TRUNCATE %s, rej, rej_alone', target);
	FOREACH path IN ARRAY paths LOOP
		PERFORM fast_copy(target, path, options => options || '{"reject_table": "rej_alone"}');
	END LOOP;
	EXECUTE format('SELECT array_agg(t::text ORDER BY t::text) FROM %s AS t', target) INTO alone;
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, paths, options => options || '{"reject_table": "rej"}');
	RETURN NEXT bag_eq('SELECT filename, lineno, line, colname, raw_field_value, class, err_message FROM rej', 'SELECT filename, lineno, line, colname, raw_field_value, class, err_message FROM rej_alone', format('rejects, %s, %s, seed %s', target, more, seed));
	EXECUTE format('SELECT array_agg(t::text ORDER BY t::text) FROM %s AS t', target) INTO lines;
	RETURN NEXT is(lines, alone, format('rows, %s, %s, seed %s', target, more, seed));
END
$$;
SELECT pg_temp.faults(seed, target, jsonb_build_object('workers', workers) || more) FROM generate_series(31, 33) AS seed, unnest('{plain,parts}'::regclass[]) AS target, unnest('{0,2}'::int[]) AS workers,
	unnest(ARRAY['{}', '{"missing_columns": "null"}', '{"transform": {"W x": "id || 1"}}']::jsonb[]) AS more;

-- Names that only some files have, in transforms; and what a file must have
CREATE TABLE t (id int, v text NOT NULL, w text DEFAULT 'w', src text);
SELECT pg_temp.shell(format('cd %s && rm -f *; printf "v,id\n1,1\n" >a.csv; printf "ID;extra\n2;e\n" | tr ";" , >b.csv; printf "id,v,w\n3,v,x\n4,v,\n" >c.csv; printf "id,nothing\n5,v\n" >d.csv; printf "x,y\n" >e.csv', :'dir')) \g /dev/null
SELECT is(fast_copy('t', ARRAY[:'dir' || '/a.csv', :'dir' || '/b.csv', :'dir' || '/c.csv'], header => 'map', workers => w, options => '{"transform": "v = coalesce(v, extra), src = regexp_replace($file, ''.*/'', '''') || $line"}'), 4::bigint, 'transforms, ' || w || ' workers') FROM unnest('{0,2}'::int[]) AS w;
SELECT set_eq('SELECT * FROM t', $$VALUES (1, '1', 'w', 'a.csv2'), (2, 'e', 'w', 'b.csv2'), (3, 'v', 'x', 'c.csv2'), (4, 'v', NULL, 'c.csv3')$$, '... of fields that are not in all files');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''t'', %L::text[], header => ''map'', options => %L)', files, options)))[1:2], ARRAY[state, message], message) FROM (VALUES
	(ARRAY[:'dir' || '/a.csv', :'dir' || '/b.csv'], '{"ignore_extra_columns": true}'::jsonb, '22P04', 'column "v" is missing in the header of the file'),
	(ARRAY[:'dir' || '/a.csv', :'dir' || '/b.csv'], '{}', '42703', 'column "extra" of the file is not a column of relation "t"'),
	(ARRAY[:'dir' || '/a.csv', :'dir' || '/e.csv'], '{"ignore_extra_columns": true}', '42703', 'column "x" of the file is not a column of relation "t"'),
	(ARRAY[:'dir' || '/c.csv', :'dir' || '/d.csv'], '{"transform": "v = v"}', '42703', 'column "nothing" of the file is not a column of relation "t"'),
	(ARRAY[:'dir' || '/c.csv', :'dir' || '/d.csv'], '{"transform": "v = $4"}', '23502', 'null value in column "v" of relation "t" violates not-null constraint')) AS f (files, options, state, message);
SELECT matches((pg_temp.failure(format('SELECT fast_copy(''t'', ARRAY[%L, %L], header => ''map'', ignore_extra_columns => true)', :'dir' || '/a.csv', :'dir' || '/b.csv')))[9], '/b.csv", line 1', 'the file is named');

-- Fields of one name, and names that differ in case alone
CREATE TABLE twice (id int, v text, w text);
SELECT pg_temp.shell(format('cd %s && rm -f *; printf "id,x,x\n1,first,second\n" >a.csv; printf "x,id,x\nthird,2,fourth\n" >b.csv; printf "id,X\n3,fifth\n" >c.csv; printf "x,id,X\na,4,b\n" >d.csv; printf "id,Y\n5,e\n" >e.csv; printf "y,id,Y\na,6,b\n" >f.csv', :'dir')) \g /dev/null
SELECT is(fast_copy('twice', ARRAY[:'dir' || '/a.csv', :'dir' || '/b.csv', :'dir' || '/c.csv'], header => 'map', workers => w, ignore_extra_columns => true, transform => 'v = $2, w = $3'), 3::bigint, 'a name twice, ' || w || ' workers') FROM unnest('{0,2}'::int[]) AS w;
SELECT set_eq('SELECT * FROM twice', $$VALUES (1, 'first', 'second'), (2, 'third', 'fourth'), (3, NULL, NULL)$$, '... is two fields');
TRUNCATE twice;
SELECT is(fast_copy('twice', ARRAY[:'dir' || '/c.csv', :'dir' || '/d.csv'], header => 'map', ignore_extra_columns => true, transform => 'v = "X"'), 2::bigint, 'the very name');
SELECT is(fast_copy('twice', ARRAY[:'dir' || '/c.csv', :'dir' || '/b.csv'], header => 'map', ignore_extra_columns => true), 2::bigint, 'names that nothing uses');
SELECT set_eq('SELECT * FROM twice WHERE v IS NOT NULL', $$VALUES (3, 'fifth', NULL), (4, 'b', NULL)$$, '... goes before others');
TRUNCATE twice;
SELECT is(fast_copy('twice', ARRAY[:'dir' || '/e.csv', :'dir' || '/d.csv'], header => 'map', ignore_extra_columns => true, transform => 'v = y'), 2::bigint, 'a name in another case');
SELECT set_eq('SELECT * FROM twice', $$VALUES (5, 'e', NULL), (4, NULL, NULL)$$, '... is found');
SELECT pg_temp.shell(format('cd %s && printf "id,y\n7,g\n" >g.csv; printf "id,ab\n10,zz\n" >y.csv; printf "aB,id,Ab\na,9,b\n" >both.csv', :'dir')) \g /dev/null
TRUNCATE twice;
SELECT is(fast_copy('twice', ARRAY[:'dir' || '/e.csv', :'dir' || '/g.csv'], header => 'map', ignore_extra_columns => true, transform => 'v = y'), 2::bigint, 'one name in two cases');
SELECT set_eq('SELECT * FROM twice', $$VALUES (5, 'e', NULL), (7, 'g', NULL)$$, '... is one field');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''twice'', ARRAY[%L, %L], header => ''map'', ignore_extra_columns => true, transform => ''v = ab'')', :'dir' || '/y.csv', :'dir' || '/both.csv')))[1:2], ARRAY['42702', 'several fields of a header have the name "Ab" of another file''s but for the case'], 'two cases of one name');

-- Records that have fewer or more fields than the header of their own file
CREATE TABLE fewer (id int, at timestamp DEFAULT '2024-01-20', n int DEFAULT 7, v text);
CREATE TABLE fewer_parts (LIKE fewer INCLUDING ALL) PARTITION BY RANGE (at);
CREATE TABLE fewer_fires (LIKE fewer INCLUDING ALL);
CREATE TRIGGER fires BEFORE INSERT ON fewer_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
SELECT pg_temp.shell(format($$printf 'id,at,n,v\n1,2024-01-01,2,a\n' >%1$s/fewer1.csv; printf 'v,id,at\nb,2,2024-01-01\nc,3\n' >%1$s/fewer2.csv; printf 'v,other,id,at\nd,o,4,2024-01-01\ne,o\nf,o,6,2024-01-02,x\n' >%1$s/fewer3.csv$$, :'dir')) \g /dev/null
SELECT throws_ok(format($$SELECT fast_copy(%L, %L, header => 'map', ignore_extra_columns => true, workers => %s%s)$$, target, current_setting('fc.dir') || '/fewer' || files, w, more), '22P04', error, format('%s of files %s, %s workers%s', target, files, w, more))
	FROM unnest('{fewer,fewer_parts,fewer_fires}'::text[]) AS target, unnest('{0,2}'::int[]) AS w, (VALUES ('[12].csv', 'missing data for column "at"'), ('[13].csv', 'missing data for column "id"')) AS f (files, error),
		unnest(ARRAY['', $$, transform => '{"v": "upper(v)"}'$$]) AS more;
SELECT is(fast_copy(target::regclass, current_setting('fc.dir') || '/fewer[123].csv', header => 'map', ignore_extra_columns => true, workers => w, on_error => 'ignore', on_error_classes => '{conversion,missing_columns,extra_columns}'), 3::bigint, format('%s, where such records are left out, %s workers', target, w))
	FROM unnest('{fewer,fewer_parts,fewer_fires}'::text[]) AS target, unnest('{0,2}'::int[]) AS w;
SELECT is((SELECT string_agg(DISTINCT f::text, ' ') FROM fewer AS f), '(1,"2024-01-01 00:00:00",2,a) (2,"2024-01-01 00:00:00",7,b) (4,"2024-01-01 00:00:00",7,d)', 'the others have what their own header says');

-- ... or a field of it that nothing takes
SELECT pg_temp.shell(format($$printf 'id,v,other\n7,g,o\n8,h\n' >%1$s/fewer4.csv; printf 'other,id,v\n=,9,i\n' >%1$s/fewer5.csv$$, :'dir')) \g /dev/null
SELECT throws_ok(format($$SELECT fast_copy(%L, %L, header => 'map', ignore_extra_columns => true, workers => %s)$$, target, current_setting('fc.dir') || '/fewer[14].csv', w), '22P04', 'missing data for column 3 of the header, which is ignored', format('%s, an ignored field is missing, %s workers', target, w))
	FROM unnest('{fewer,fewer_parts,fewer_fires}'::text[]) AS target, unnest('{0,2}'::int[]) AS w;
SAVEPOINT ignored;
TRUNCATE fewer, fewer_parts, fewer_fires;
SELECT is(fast_copy(target::regclass, current_setting('fc.dir') || '/fewer[14].csv', header => 'map', ignore_extra_columns => true, missing_columns => 'null', workers => w), 3::bigint, format('%s, where fields may be missing, %s workers', target, w))
	FROM unnest('{fewer,fewer_parts,fewer_fires}'::text[]) AS target, unnest('{0,2}'::int[]) AS w;
SELECT is(fast_copy(target::regclass, current_setting('fc.dir') || '/fewer5.csv', header => 'map', ignore_extra_columns => true, default_string => '=', workers => w), 1::bigint, format('%s, a field that nothing takes is no default, %s workers', target, w))
	FROM unnest('{fewer,fewer_parts,fewer_fires}'::text[]) AS target, unnest('{0,2}'::int[]) AS w;
SELECT is((SELECT string_agg(DISTINCT f::text, ' ') FROM (TABLE fewer UNION ALL TABLE fewer_parts UNION ALL TABLE fewer_fires) AS f), '(1,"2024-01-01 00:00:00",2,a) (7,"2024-01-20 00:00:00",7,g) (8,"2024-01-20 00:00:00",7,h) (9,"2024-01-20 00:00:00",7,i)', 'the rows');
ROLLBACK TO ignored;

-- A key that one of the files lacks
CREATE TABLE keyless (at timestamp, n int) PARTITION BY RANGE (at);
CREATE TABLE keyless_rest PARTITION OF keyless DEFAULT;
SELECT pg_temp.shell(format($$printf 'at,n\n2024-01-01,1\n2024-01-02,2\n' >%1$s/keyed.csv; printf 'n,other\n3,2024-01-03\n4,x\n' >%1$s/keyless.csv$$, :'dir')) \g /dev/null
SELECT fast_copy('keyless', current_setting('fc.dir') || '/key*.csv', header => 'map', ignore_extra_columns => true, workers => w) FROM unnest('{0,2}'::int[]) AS w \g /dev/null
SELECT is(string_agg(concat_ws(' ', tableoid::regclass, n), ', ' ORDER BY n, tableoid::regclass::text), 'keyless_p20240101 1, keyless_p20240101 1, keyless_p20240102 2, keyless_p20240102 2, keyless_rest 3, keyless_rest 3, keyless_rest 4, keyless_rest 4', 'a key that a file lacks is NULL') FROM keyless;

-- Escapes of text format in a field that nothing takes
SELECT pg_temp.shell(format($$printf 'n\tother\tat\n5\t\\xc3\\xa9\t2024-01-05\n' >%1$s/escapes.txt; printf 'n\tother\tat\n6\t\\xc3\t2024-01-05\n' >%1$s/broken.txt$$, :'dir')) \g /dev/null
CREATE TABLE escapes (n int, at timestamp);
SELECT is(fast_copy(target::regclass, current_setting('fc.dir') || '/escapes.txt', format => 'text', header => 'map', ignore_extra_columns => true), 1::bigint, format('%s, a character', target)) FROM unnest('{escapes,keyless}'::text[]) AS target;
SELECT is((pg_temp.failure(format('SELECT fast_copy(%L, %L, format => ''text'', header => ''map'', ignore_extra_columns => true)', target, current_setting('fc.dir') || '/broken.txt')))[1:2], '{22021,"invalid byte sequence for encoding \"UTF8\": 0xc3"}', format('%s, no character', target)) FROM unnest('{escapes,keyless}'::text[]) AS target;

-- What a file lacks is NULL in expressions, whatever columns have defaults; a column with an expression has its value
CREATE TABLE lacks (id int, c text DEFAULT 'DEF', d int DEFAULT 7, e text);
CREATE TABLE lacks_less (id int, c text DEFAULT 'DEF', d int, e text);
CREATE TABLE lacks_fires (LIKE lacks INCLUDING ALL);
CREATE TRIGGER fires BEFORE INSERT ON lacks_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE lacks_parts (LIKE lacks INCLUDING ALL) PARTITION BY LIST (c);
CREATE TABLE lacks_none PARTITION OF lacks_parts FOR VALUES IN ('none', 'ABC');
CREATE TABLE lacks_rest PARTITION OF lacks_parts DEFAULT;
SELECT pg_temp.shell(format('cd %s && printf "id,c\n1,abc\n" >m1.csv; printf "id,d\n2,5\n" >m2.csv; printf "{\"id\":2,\"d\":5}\n{\"id\":1,\"c\":\"abc\"}\n" >m.json; printf "3,DFT,4\n4,\"DFT\",DFT\n" >m.txt', :'dir')) \g /dev/null
CREATE FUNCTION pg_temp.loaded(target regclass, files text, options jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, current_setting('fc.dir') || files, options => options);
	EXECUTE format('SELECT string_agg(t::text, '' '' ORDER BY id) FROM %s AS t', target) INTO rows;
	RETURN rows;
END
$$;
SELECT is(pg_temp.loaded(target, files, options || jsonb_build_object('workers', w)), CASE WHEN target = 'lacks_less'::regclass THEN replace(rows, ',7,', ',,') ELSE rows END, format('%s, %s, %s workers', target, options, w))
	FROM unnest('{lacks,lacks_less,lacks_fires,lacks_parts}'::regclass[]) AS target, unnest('{0,2}'::int[]) AS w, (VALUES
	('/m[12].csv', '{"header": "map", "transform": "c = coalesce(upper(c), ''none''), e = coalesce(c, ''null'') || coalesce(d::int, 0)"}'::jsonb, '(1,ABC,7,abc0) (2,none,5,null5)'),
	('/m.json', '{"format": "json", "missing_columns": "default", "columns": ["id", "c", "d"], "transform": "c = coalesce(upper(c), ''none''), e = coalesce(c, ''null'') || coalesce(d::int, 0)"}', '(1,ABC,7,abc0) (2,none,5,null5)'),
	-- a text for a default that is in the file is that text
	('/m.txt', '{"default_string": "DFT", "columns": ["id", "c", "e"], "transform": "c = c || ''!'', e = e || ''?''"}', '(3,DFT!,7,4?) (4,DFT!,7,DFT?)')) AS f (files, options, rows);

-- The key is read from its own place of each file, between others of its type
CREATE TABLE times (a timestamp, b timestamp, c timestamp, n int) PARTITION BY RANGE (b);
SELECT pg_temp.shell(format('rm -f %s/*', :'dir')) \g /dev/null
SELECT format('COPY (SELECT %s FROM (SELECT g AS n, b, b + interval ''5 days'' AS a, b - interval ''3 days'' AS c FROM generate_series(%s, %s) AS g, LATERAL (SELECT timestamp ''2024-05-06'' + g * 7919 %% 240 * interval ''1 hour'' AS b) AS k) AS t) TO %L (FORMAT csv, HEADER)',
	columns, i * 1000 + 1, i * 1000 + 1000, format('%s/%s.csv', :'dir', i)) FROM (VALUES (0, 'a, b, c, n'), (1, 'c, n, b, a'), (2, 'b, a, n, c'), (3, 'n, a, c, b')) AS f (i, columns) \gexec
CREATE FUNCTION pg_temp.times(workers int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE times;
	PERFORM fast_copy('times', current_setting('fc.dir') || '/*.csv', header => 'map', workers => workers);
	RETURN concat_ws(' ', (SELECT count(*) FROM times WHERE a = b + interval '5 days' AND c = b - interval '3 days' AND tableoid = to_regclass('times_p' || to_char(b, 'YYYYMMDD'))),
		(SELECT count(*) FROM (SELECT b < lag(b) OVER (PARTITION BY tableoid ORDER BY ctid) AS back FROM times) AS t WHERE back));
END
$$;
SELECT is(pg_temp.times(w), '4000 0', format('files with three times each, %s workers: each row is where its key says', w)) FROM unnest('{0,2}'::int[]) AS w;

-- Headers that differ have a bound
SELECT pg_temp.shell(format('cd %s && rm -f * && for i in $(seq 30); do (printf id; seq -f ",x%%g" 1 $((50000 + i)) | tr -d "\n"; echo) >$i.csv; done', :'dir')) \g /dev/null
SELECT is((pg_temp.failure(format('SELECT fast_copy(''twice'', %L, header => ''map'', ignore_extra_columns => true)', :'dir' || '/*.csv')))[1:2], ARRAY['54000', 'files have too many different headers'], 'too many');

-- of a line that is too short the column is told, whatever else of the file is ignored
CREATE TABLE two (a int, b int);
SELECT is((pg_temp.failure(format('SELECT fast_copy(''two'', %L, ignore_extra_columns => true, header => %L)', pg_temp.write(lines), header)))[2], wanted, format('%s, header %s', lines, header)) FROM (VALUES
	('{"1,2,3",4}'::text[], 'false', 'missing data for column "b"'), ('{"a,b,x","1,2,3",4}', 'true', 'missing data for column "b"'),
	('{"a,x,b","1,2,3","4,5"}', 'map', 'missing data for column "b"'), ('{"1,2,3","4,5"}', 'false', NULL)) AS v (lines, header, wanted);

SELECT * FROM finish();
ROLLBACK;
