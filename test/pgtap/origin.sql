-- Where a row came from: $file, $line, $byte_offset, $row and $path.NAME, in
-- transform, where_clause and delete_where.
--
-- The records of random files are in a table, which tells where each begins and
-- ends: what is loaded is compared with it.  A record that is rejected must be at
-- the same place in reject_table.

\set name origin
\ir begin.psql
SELECT no_plan();
SET LOCAL fast_copy.memory = '4MB';

SELECT set_config('fc.dir', :'tmp_dir' || '/fc_origin', true) AS dir \gset
SELECT pg_temp.shell(format('rm -rf %s; mkdir -p %1$s/day=2024-01-01/shop=R%%c3%%96me %1$s/day=2024-01-02/shop=__HIVE_DEFAULT_PARTITION__ %1$s/day=2024-01-03/shop=a%%2F%%4z%% && chmod -R 777 %1$s', :'dir')) \g /dev/null
CREATE TABLE files (file int, path text, day date, shop text, header text, eol text);
INSERT INTO files VALUES (1, :'dir' || '/day=2024-01-01/shop=R%c3%96me/part.csv', '2024-01-01', E'R\u00d6me', E'id,note,at\n', E'\n'),
	(2, :'dir' || '/day=2024-01-02/shop=__HIVE_DEFAULT_PARTITION__/part-$1.csv', '2024-01-02', NULL, E'id,"no\r\nte",at\r\n', E'\r\n'),
	(3, :'dir' || '/day=2024-01-03/shop=a%2F%4z%/ä "part".csv', '2024-01-03', 'a/%4z%', E'id,note,at\n', E'\n');

-- Draws the records: some have line ends in quotes, are too long to be spilled, or, in
-- every other draw, bad: where none may be the scan spills rows
CREATE TABLE records (file int, n int, body text, at timestamp, note text, bad bool, line bigint, byte_offset bigint);
CREATE FUNCTION pg_temp.draw(seed int, rows int, most int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed(seed::float8 / 1000);
	TRUNCATE records;
	INSERT INTO records SELECT f, n, format(CASE WHEN note ~ E'[,\n"]' THEN '%s,"%s",%s' ELSE '%s,%s,%s' END, CASE WHEN bad THEN 'x' ELSE n::text END, replace(note, '"', '""'), at), at, note, bad
		FROM (SELECT f, n, r < 0.1 AND seed % 2 = 0 AS bad, timestamp '2024-01-01' + floor(q * 20)::int * interval '1 day' AS at,
			CASE floor(p * 8)::int WHEN 0 THEN 'a' || (SELECT eol || 'b' || eol FROM files WHERE file = f) WHEN 1 THEN '"q",' WHEN 2 THEN repeat(E'\u00e4', 1 + (s * most)::int) WHEN 3 THEN repeat('z', 1 + (s * most)::int) || (SELECT eol FROM files WHERE file = f) ELSE 'n' || n END AS note
			FROM (SELECT f, n, random() AS p, random() AS q, random() AS r, random() AS s FROM generate_series(1, 3) AS f, generate_series(1, rows) AS n WHERE n <= rows / f) AS a) AS b;
	UPDATE records AS r SET line = w.line, byte_offset = w.byte_offset FROM (SELECT r.file, n, sum(1 + (length(body) - length(replace(body, eol, ''))) / length(eol)) OVER w + (length(header) - length(replace(header, eol, ''))) / length(eol) AS line,
		sum(octet_length(body) + length(eol)) OVER w - octet_length(body) - length(eol) + octet_length(header) AS byte_offset FROM records AS r JOIN files USING (file) WINDOW w AS (PARTITION BY r.file ORDER BY n)) AS w WHERE w.file = r.file AND w.n = r.n;
	PERFORM pg_temp.export(path, header || coalesce((SELECT string_agg(body || eol, '' ORDER BY n) FROM records WHERE records.file = files.file), '')) FROM files;
END
$$;
CREATE FUNCTION pg_temp.export(path text, content text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	lob oid := lo_from_bytea(0, convert_to(content, 'UTF8'));
BEGIN
	PERFORM lo_export(lob, path), lo_unlink(lob);
END
$$;

CREATE TABLE plain (id int, at timestamp, note text, src text, line int, byte_offset bigint, rec numeric, day date, shop varchar(6));
CREATE TABLE parts (LIKE plain) PARTITION BY RANGE (at);
CREATE TABLE days (LIKE plain) PARTITION BY RANGE (day);
CREATE TABLE hashed (LIKE plain) PARTITION BY HASH (rec);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE shops (LIKE plain) PARTITION BY LIST (shop);
CREATE TABLE shops_none PARTITION OF shops FOR VALUES IN (NULL);
CREATE TABLE fires (LIKE plain);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE parts_fire (LIKE plain) PARTITION BY RANGE (at);
CREATE TABLE parts_fire_1 PARTITION OF parts_fire FOR VALUES FROM ('2024-01-05') TO ('2024-01-06');
CREATE TRIGGER fires BEFORE INSERT ON parts_fire_1 FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE generated (LIKE plain, at_place text GENERATED ALWAYS AS (src || ':' || line) STORED, CHECK (line > 1));
CREATE TABLE merged (LIKE plain, UNIQUE (src, rec, at)) PARTITION BY RANGE (at);
CREATE TABLE upserted (LIKE plain, UNIQUE (src, byte_offset));
SELECT fast_copy_create_reject_table('rej') \g /dev/null

-- What is wrong with a load; condition: of records, which are those of where_clause
CREATE FUNCTION pg_temp.wrong(target regclass, more jsonb, condition text, paths text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	differ text;
BEGIN
	EXECUTE format('TRUNCATE %s, rej', target);
	n := fast_copy(target, paths, options => jsonb_build_object('columns', '{id,note,at}'::text[], 'header', 'true',
		'transform', 'src = $file, line = $line, byte_offset = $byte_offset, rec = $row, day = $path.day, shop = $Path.Shop') || more || CASE WHEN EXISTS (SELECT FROM records WHERE bad) THEN '{"on_error": "ignore", "reject_table": "rej", "log_verbosity": "silent"}'::jsonb ELSE '{}' END);
	EXECUTE format('WITH want AS (SELECT n AS id, at, note, f.path || coalesce(%3$L, '''') AS src, line, byte_offset, n::numeric AS rec, day, shop::text FROM records AS r JOIN files AS f USING (file) WHERE NOT bad AND (%2$s)),
		have AS (SELECT id, at, note, src, line, byte_offset, rec, day, shop::text FROM %1$s)
		SELECT string_agg(x, E''\n'') FROM (SELECT * FROM (SELECT ''lacks '' || left(w::text, 200) AS x FROM (TABLE want EXCEPT ALL TABLE have) AS w LIMIT 3) AS a UNION ALL SELECT * FROM (SELECT ''has '' || left(w::text, 200) FROM (TABLE have EXCEPT ALL TABLE want) AS w LIMIT 3) AS b) AS x',
		target, condition, CASE WHEN paths[1] ~ '\.gz$' THEN '.gz' END) INTO differ;
	RETURN concat_ws(E'\n', differ, (SELECT 'a reject is elsewhere' WHERE EXISTS (SELECT regexp_replace(filename, '\.gz$', ''), lineno, byte_offset FROM rej EXCEPT SELECT path, line, byte_offset FROM records JOIN files USING (file) WHERE bad)));
END
$$;
CREATE FUNCTION pg_temp.check(seed int) RETURNS SETOF text LANGUAGE plpgsql AS $check$
DECLARE
	big bool := seed % 3 = 0;
	conditions text[] := '{true,n % 3 > 0,line > 100,byte_offset < 5000 AND n > 2,file <> 2,shop IS NOT NULL}';
	clauses text[] := ARRAY[NULL, '$row % 3 > 0', '$line > 100 AND id > 0', '$byte_offset < 5000 AND $row > 2', '$file !~ ''day=2024-01-02''', '$path.shop IS NOT NULL AND ''$file'' <> $q$$row$q$ /* $line */'];
	target text;
	c int;
	w int;
	gz text;
	more jsonb;
BEGIN
	PERFORM pg_temp.draw(seed, CASE WHEN big THEN 90 ELSE 40 + seed * 7 % 300 END, CASE WHEN big THEN 300000 ELSE 30 END);
	PERFORM pg_temp.shell(format('cd %s && find . -name "*.gz" -delete; find . -name "*.csv" -exec gzip -k {} +', current_setting('fc.dir')));
	FOREACH target IN ARRAY '{plain,parts,days,hashed,shops,fires,parts_fire,generated,merged,upserted}'::text[] LOOP
		PERFORM set_config('fast_copy.chunk_size', (ARRAY['16', '100', '1000', '16kB', '8MB'])[1 + floor(random() * 5)::int], true);
		PERFORM set_config('fast_copy.spill', (ARRAY['auto', 'rows', 'offsets'])[1 + floor(random() * 3)::int], true);
		c := 1 + floor(random() * 6)::int;
		w := (ARRAY[0, 1, 2, 4])[1 + floor(random() * 4)::int];
		gz := CASE WHEN random() < 0.3 THEN '.gz' ELSE '' END;
		more := jsonb_build_object('workers', w, 'where_clause', clauses[c]) ||
			CASE WHEN target = 'merged' THEN '{"existing_rows": "merge", "dedup_keys": ["src", "rec", "at"]}'::jsonb WHEN target = 'upserted' THEN '{"on_conflict": "update", "dedup_keys": ["src", "byte_offset"]}' ELSE '{}' END;
		RETURN NEXT is(pg_temp.wrong(target::regclass, more, conditions[c], (SELECT array_agg(path || gz ORDER BY file) FROM files)), '', format('%s, %s, %s, chunks of %s, spill %s, seed %s', target, more, gz, current_setting('fast_copy.chunk_size'), current_setting('fast_copy.spill'), seed));
	END LOOP;
END
$check$;
SELECT pg_temp.check(seed) FROM generate_series(1, 8) AS seed;


-- By COPY and JSON; names in quotes, and of columns, are not these
CREATE TABLE small (id int, file text, line text);
SELECT pg_temp.write('{"1,a","2,b","","4,c"}') AS small \gset
SELECT format($$COPY small (id, file) FROM %L WITH (fast_copy, FORMAT csv, skip_empty_lines, transform 'file = file || $file, line = $line::text || ''$line''')$$, :'small') \gexec
SELECT results_eq('TABLE small', format($$VALUES (1, 'a' || %1$L, '1$line'), (2, 'b' || %1$L, '2$line'), (4, 'c' || %1$L, '4$line')$$, :'small'), 'COPY');
TRUNCATE small;
SELECT is(fast_copy('small', 'cat ' || :'small', columns => '{id,a}', program => true, where_clause => '$row <> 2 AND id = $row', options => '{"skip_empty_lines": true, "transform": {"file": "$file", "line": "a || $byte_offset"}}'), 2::bigint, 'of a program');
SELECT results_eq('TABLE small', format($$VALUES (1, 'cat %1$s', 'a0'), (4, 'cat %1$s', 'c9')$$, :'small'), '... its command');
TRUNCATE small;
SELECT is(fast_copy('small', :'small', columns => '{id,file}', where_clause => '$byte_offset IS NULL', options => '{"encoding": "SJIS", "skip_empty_lines": true}', workers => w), 3::bigint, 'a file that was converted as a whole, ' || w || ' workers') FROM unnest('{0,2}'::int[]) AS w;
TRUNCATE small;
SELECT format('COPY (VALUES (1, ''a'', ''b''), (2, ''c'', ''d''), (3, ''e'', ''f'')) TO %L (FORMAT binary)', :'small') \gexec
SELECT is((pg_temp.failure(format('SELECT fast_copy(''small'', %L, format => ''binary'', where_clause => ''$line > 1'')', :'small')))[1:2], '{42601,"cannot use $file and the like in BINARY mode"}', 'binary');

CREATE TABLE marked (id int PRIMARY KEY, v text);
INSERT INTO marked VALUES (1, 'old'), (2, 'old'), (3, 'old');
SELECT pg_temp.write('{"1,new","2,new","4,new"}') \g /dev/null
SELECT is(fast_copy('marked', :'small', workers => w, options => '{"on_conflict": "update", "delete_where": "$row = 2 OR ($line = 3 AND $file IS NULL)"}'), 2::bigint, 'delete_where, ' || w || ' workers') FROM unnest('{0,2}'::int[]) AS w;
SELECT set_eq('TABLE marked', $$VALUES (1, 'new'), (3, 'old'), (4, 'new')$$, '... the rows');

-- An analysis, an error's place, and what a transform refuses
SELECT pg_temp.draw(3, 200, 30) \g /dev/null
SELECT is((SELECT rows FROM fast_copy_analyze('days', (SELECT array_agg(path) FROM files), columns => '{id,note,at}', header => 'true', where_clause => '$row > 10', options => '{"transform": "day = $path.day"}') WHERE item = 'rows' AND name = 'filtered'),
	(SELECT count(*) FROM records WHERE n <= 10 AND NOT bad), 'an analysis');
SELECT matches((pg_temp.failure(format('SELECT fast_copy(%L, %L, columns => ''{id,note,at}'', header => ''true'', workers => %s, options => ''{"transform": "id = 1 / (7 - $row)"}'')', target, (SELECT path FROM files WHERE file = 1), w)))[9],
	format('line %s, column id: "7"', (SELECT line FROM records WHERE file = 1 AND n = 7)), format('the place of an error, %s, %s workers', target, w)) FROM unnest('{plain,parts,hashed,fires}'::text[]) AS target, unnest('{0,2}'::int[]) AS w;

-- What is refused
SELECT pg_temp.shell(format('cd %s && mkdir day=%%ff && cp day=2024-01-01/*/part.csv day=%%ff/a.csv && cp day=%%ff/a.csv "$(printf ''b\377.csv'')" && cp day=%%ff/a.csv c.csv', :'dir')) \g /dev/null
SELECT is((pg_temp.failure(format('SELECT fast_copy(''plain'', %L, columns => ''{id,note,at}'', options => %L)', files, options)))[1:2], ARRAY[state, message], message) FROM (VALUES
	(:'dir' || '/c.csv', '{"transform": "src = $nothing"}'::jsonb, '42703', 'there is no $nothing'),
	(:'dir' || '/c.csv', '{"transform": "src = $path"}', '42703', 'there is no $path'),
	(:'dir' || '/c.csv', '{"transform": "src = $path.day.x"}', '42703', 'there is no $path.day.x'),
	(:'dir' || '/c.csv', '{"transform": "src = $file.day"}', '42703', 'there is no $file.day'),
	(:'dir' || '/c.csv', '{"transform": "src = $_file"}', '42703', 'there is no $_file'),
	(:'dir' || '/c.csv', '{"transform": "src = $ file"}', '42601', 'syntax error at or near "$"'),
	(:'dir' || '/c.csv', '{"where_clause": "$names = 1"}', '42703', 'there is no $names'),
	(:'dir' || '/c.csv', '{"where_clause": "$1 = 1"}', '42P02', 'there is no parameter $1'),
	(:'dir' || '/c.csv', '{"transform": "src = file"}', '42703', 'the file has no field "file"'),
	(:'dir' || '/c.csv', '{"transform": "line = $file", "header": "true"}', '22P02', 'invalid input syntax for type integer: "' || :'dir' || '/c.csv"'),
	(:'dir' || '/c.csv', '{"transform": "at = $line"}', '42804', 'column "at" is of type timestamp without time zone but expression is of type bigint'),
	(:'dir' || '/c.csv', '{"transform": "src = $file $line"}', '42601', 'syntax error at or near "_line"'),
	(:'dir' || '/c.csv', '{"transform": "day = $path.day"}', '22023', 'path of file "' || :'dir' || '/c.csv" has no folder "day=..."'),
	(:'dir' || '/*/*.csv', '{"transform": "shop = $path.shop"}', '22023', 'path of file "' || :'dir' || '/day=%ff/a.csv" has no folder "shop=..."'),
	(:'dir' || '/day=%ff/a.csv', '{"transform": "src = $path.dax"}', '22023', 'path of file "' || :'dir' || '/day=%ff/a.csv" has no folder "dax=..."'),
	(:'dir' || '/day=%ff/a.csv', '{"where_clause": "$path.day = ''a''"}', '22021', '"%ff" in the path of a file is no text in encoding "UTF8"'),
	(:'dir' || '/b*.csv', '{"transform": "src = $file"}', '22021', 'name of file "' || :'dir' || '/b\xff.csv" is no text in encoding "UTF8"'),
	('cat ' || :'dir' || '/c.csv', '{"program": true, "transform": "shop = $path.shop"}', '22023', 'path of program "cat ' || :'dir' || '/c.csv" has no folder "shop=..."')) AS f (files, options, state, message);
SELECT is((pg_temp.failure(format('COPY plain FROM %L WHERE $file IS NULL', :'small')))[1:2], '{42601,"syntax error at or near \"$\""}', 'COPY''s WHERE');

-- More fields than a row has attributes, in one file and in all files together
CREATE TABLE wide (id int PRIMARY KEY, v text);
SELECT pg_temp.shell(format('cd %s && for i in 1 2; do (seq -f "x$i%%g" 20000 | sed "s/^x${i}1\$/id/" | paste -sd,; seq 20000 | paste -sd,) >wide$i.csv; done; sed s/^id/jd/ wide2.csv | paste -d, wide1.csv - >wide.csv; tail -n 1 wide.csv >wide.txt', :'dir')) \g /dev/null
SELECT is((pg_temp.failure(format('SELECT fast_copy(''wide'', %L, ignore_extra_columns => true, options => %L)', :'dir' || files, options)))[1:2], '{54000,"expressions can see at most 32762 fields of a file"}', files || ' ' || options) FROM (VALUES
	('/wide.csv', '{"header": "map", "transform": "v = x17"}'::jsonb),
	('/wide.csv', '{"header": "map", "transform": "v = x220000"}'),
	('/wide?.csv', '{"header": "map", "transform": "v = x17"}'),
	('/wide.csv', '{"header": "map", "on_conflict": "update", "delete_where": "id = 2"}'),
	('/wide.txt', '{"where_clause": "$row > 0"}')) AS f (files, options);
SELECT is(fast_copy('wide', :'dir' || '/wide.csv', header => 'map', ignore_extra_columns => true), 1::bigint, '... which a load without expressions may have');

SELECT * FROM finish();
ROLLBACK;
