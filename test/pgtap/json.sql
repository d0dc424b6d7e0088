-- format "json": lines that are objects.
--
-- json_populate_record is the referee, and jsonb_populate_record where that reads the
-- same: of objects drawn at random, with their keys in any order, some missing, with
-- blanks and escapes, whatever way the load goes.

\set name json
\ir begin.psql
\getenv seed FC_SEED
\if :{?seed}
SELECT diag('FC_SEED=' || :'seed') \g /dev/null
\else
\set seed 51
\endif
SELECT setseed(hashtext(:'seed') / 2147483648.0) \g /dev/null
SELECT * FROM no_plan();

-- One of these values
CREATE FUNCTION pg_temp.one(VARIADIC among text[]) RETURNS text LANGUAGE sql VOLATILE AS $$SELECT among[1 + floor(random() * array_length(among, 1))::int]$$;

CREATE FUNCTION pg_temp.quoted() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT '"' || coalesce(string_agg(pg_temp.one('a', 'Z', ' ', ',', '\"', '\\', '\n', '\/', '\u00e9', '\ud83d\ude00', 'ö', '€', '{', ']', ':', '\t', E'\u00a0', '\u0041', ''''), ''), '') || '"'
	FROM generate_series(1, floor(random() * 7)::int)
$$;
CREATE FUNCTION pg_temp.number() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT pg_temp.one('0', '-1', '12.50', '1e3', '-0.0', '123456789012345678901234567890.5', floor(random() * 1000)::text)
$$;

-- Some JSON, with no more levels than these
CREATE FUNCTION pg_temp.any_json(levels int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	parts text[] := '{}';
	n int := floor(random() * 3);
	kind text := pg_temp.one('string', 'number', 'word', 'object', 'array');
BEGIN
	IF kind = 'string' THEN RETURN pg_temp.quoted(); END IF;
	IF kind = 'number' OR levels = 0 THEN RETURN pg_temp.number(); END IF;
	IF kind = 'word' THEN RETURN pg_temp.one('true', 'false', 'null'); END IF;
	FOR i IN 1..n LOOP
		parts := parts || (CASE kind WHEN 'object' THEN pg_temp.quoted() || pg_temp.one(':', ' : ') ELSE '' END || pg_temp.any_json(levels - 1));
	END LOOP;
	RETURN CASE kind WHEN 'object' THEN '{' ELSE '[' END || array_to_string(parts, pg_temp.one(',', ' , ')) || CASE kind WHEN 'object' THEN '}' ELSE ']' END;
END
$$;

CREATE TYPE pair AS (x int, y text);
CREATE DOMAIN small AS int CHECK (value < 1000);
CREATE DOMAIN pairs AS pair[];
CREATE TABLE expected (ts timestamptz, n int, d small, amount numeric, f float8, b bool, t text, v varchar(30), c char(5), "Key ""x""" text, j json, jb jsonb,
	a int[], aa int[][], ta text[], ja jsonb[], p pair, pp pairs, r int4range);
CREATE TABLE lines (n int, line text);

CREATE FUNCTION pg_temp.member(key text, VARIADIC among text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT key || pg_temp.one(':', ': ', E'\t:\r') || (among || 'null'::text)[1 + floor(random() * (array_length(among, 1) + 0.2))::int]
$$;
-- every other one has no backslash, and is read in another way
CREATE FUNCTION pg_temp.object(i int) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT regexp_replace('{' || pg_temp.one('', ' ') || coalesce(string_agg(member, pg_temp.one(',', ' , ') ORDER BY CASE i % 3 WHEN 0 THEN random() ELSE n END), '') || '}' || pg_temp.one('', ' ', E'\r'), CASE i % 2 WHEN 0 THEN '\\(u[0-9a-f]{4}|.)' ELSE '^$' END, 'x', 'g')
	FROM unnest(ARRAY[
		pg_temp.member('"ts"', format('"2024-01-%sT00:00:%s+01:00"', lpad((1 + i % 5)::text, 2, '0'), lpad((i % 60)::text, 2, '0')), '"2024-01-03"'),
		pg_temp.member('"n"', i::text, format('"%s"', i)),
		pg_temp.member('"d"', (i % 1000)::text),
		pg_temp.member('"amount"', pg_temp.number()),
		pg_temp.member('"f"', pg_temp.number()),
		pg_temp.member(CASE i % 2 WHEN 0 THEN '"b"' ELSE '"\u0062"' END, 'true', 'false', '"yes"'),
		pg_temp.member('"t"', pg_temp.quoted(), pg_temp.quoted(), pg_temp.any_json(2)),
		pg_temp.member('"v"', pg_temp.quoted()),
		pg_temp.member('"c"', '"ab "', '"x"'),
		pg_temp.member('"Key \"x\""', pg_temp.quoted()),
		pg_temp.member('"j"', pg_temp.any_json(3)),
		pg_temp.member('"jb"', pg_temp.any_json(3)),
		pg_temp.member('"a"', '[1, 2,null]', '[]', '"{3,4}"'),
		pg_temp.member('"aa"', '[[1,2],[3,4]]', '[]'),
		pg_temp.member('"ta"', format('[%s, null,%s]', pg_temp.quoted(), pg_temp.any_json(1))),
		pg_temp.member('"ja"', format('[%s,%s]', pg_temp.quoted(), pg_temp.any_json(2))),
		pg_temp.member('"p"', format('{"y": %s, "x": 7, "z": 1}', pg_temp.quoted()), '{}', '"(1,w)"'),
		pg_temp.member('"pp"', format('[{"y": %s}, null]', pg_temp.quoted())),
		pg_temp.member('"r"', '"[1,5)"', '"empty"')]) WITH ORDINALITY AS u(member, n)
	WHERE random() < 0.85 AND (i % 2 = 1 OR n <> 10)
$$;
CREATE FUNCTION pg_temp.generate(rows int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE lines, expected;
	INSERT INTO lines SELECT i, CASE WHEN i % 50 = 0 THEN pg_temp.one('', ' ', E'\r') ELSE pg_temp.object(i) END FROM generate_series(1, rows) AS i;
	INSERT INTO expected SELECT r.* FROM lines, json_populate_record(NULL::expected, nullif(btrim(line, E' \r'), '')::json) AS r WHERE btrim(line, E' \r') <> '';
	-- COPY would put quotes around a carriage return
	PERFORM pg_temp.write((SELECT array_agg(translate(line, E'\r', E'\x03') ORDER BY n) FROM lines));
	PERFORM pg_temp.shell(format('tr ''\003'' ''\r'' <%1$s >%1$s.cr && mv %1$s.cr %1$s', current_setting('fc.file')));
END
$$;

CREATE TABLE parts (LIKE expected) PARTITION BY RANGE (ts);
CREATE TABLE parts_default PARTITION OF parts DEFAULT;
CREATE TABLE plain (LIKE expected);
CREATE TABLE fires (LIKE expected);
CREATE TABLE hashed (LIKE expected) PARTITION BY HASH (n);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();

-- Loads the file and returns how many rows are not as expected
CREATE FUNCTION pg_temp.wrong(target regclass, options jsonb, source text[] DEFAULT ARRAY[current_setting('fc.file')]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	-- json has no equality, and the referee writes its strings anew
	columns text := (SELECT string_agg(CASE attname WHEN 'j' THEN 'j::jsonb' ELSE quote_ident(attname) END, ', ') FROM pg_attribute WHERE attrelid = 'expected'::regclass AND attnum > 0);
	rows bigint;
	loaded bigint;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	loaded := fast_copy(target, source, options => '{"format": "json"}' || options);
	EXECUTE format('WITH got AS (SELECT %1$s FROM %2$s), want AS (SELECT %1$s FROM expected) SELECT count(*) FROM ((TABLE got EXCEPT ALL TABLE want) UNION ALL (TABLE want EXCEPT ALL TABLE got)) AS d', columns, target) INTO rows;
	RETURN format('%s of %s wrong', rows, loaded);
END
$$;

SELECT pg_temp.generate(1500) \g /dev/null
SELECT count(*) AS rows FROM expected \gset
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT is(pg_temp.wrong(target, format('{"workers": %s}', workers)::jsonb),
	format('0 of %s wrong', :rows), format('%s, %s workers', target, workers))
	FROM unnest('{plain,fires,hashed,parts}'::regclass[]) AS target, unnest('{0,1,2,4}'::int[]) AS workers;
SELECT is(pg_temp.wrong(target, '{"on_error": "ignore", "on_error_classes": ["conversion", "missing_columns", "extra_columns", "encoding"]}'), format('0 of %s wrong', :rows), format('%s, with on_error', target))
	FROM unnest('{plain,fires,hashed,parts}'::regclass[]) AS target;
SELECT is(pg_temp.wrong(target, '{"on_error": "set_null"}'), format('0 of %s wrong', :rows), format('%s, with set_null', target)) FROM unnest('{plain,fires,parts}'::regclass[]) AS target;
SELECT is(pg_temp.wrong('plain', '{"order_by": ["n"], "ignore_extra_columns": true}'), format('0 of %s wrong', :rows), 'in an order');
SELECT pg_temp.shell(format('gzip -c %1$s >%1$s.gz', :'file')) \g /dev/null
INSERT INTO expected TABLE expected;
SELECT is(pg_temp.wrong(target, '{}', ARRAY[:'file', :'file' || '.gz']), format('0 of %s wrong', 2 * :rows), format('two files, one packed, %s', target)) FROM unnest('{plain,fires,parts}'::regclass[]) AS target;
SELECT is(pg_temp.wrong(target, '{"program": true}', ARRAY[format('cat %1$s; printf "\n\n"; cat %1$s', :'file')]), format('0 of %s wrong', 2 * :rows), format('of a program, %s', target)) FROM unnest('{plain,fires,parts}'::regclass[]) AS target;
SELECT pg_temp.generate(150) \g /dev/null
SELECT count(*) AS rows FROM expected \gset
SET LOCAL fast_copy.chunk_size = 7;
SELECT is(pg_temp.wrong(target, format('{"workers": %s}', workers)::jsonb), format('0 of %s wrong', :rows), format('%s, %s workers, chunks of 7 bytes', target, workers))
	FROM unnest('{plain,fires,parts}'::regclass[]) AS target, unnest('{0,2,4}'::int[]) AS workers;
RESET fast_copy.chunk_size;
-- both referees read these
SELECT is((SELECT count(*) FROM lines, jsonb_populate_record(NULL::expected, line::jsonb - 't' - 'ta' - 'f' - 'amount' - 'ja' - 'j') AS r, json_populate_record(NULL::expected, line::json) AS s
	WHERE btrim(line, E' \r') <> '' AND (r.ts, r.n, r.d, r.b, r.v, r.c, r.jb, r.a, r.aa, r.p, r.r) IS DISTINCT FROM (s.ts, s.n, s.d, s.b, s.v, s.c, s.jb, s.a, s.aa, s.p, s.r)), 0::bigint, 'jsonb reads the same');

-- rows, as they are shown
CREATE TABLE shown (id int DEFAULT 7, k timestamptz, v numeric, t text DEFAULT 'none');
CREATE FUNCTION pg_temp.rows(lines text[], options jsonb DEFAULT '{}', target regclass DEFAULT 'shown') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	PERFORM pg_temp.write(lines);
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, current_setting('fc.file'), options => '{"format": "json"}' || options);
	EXECUTE format('SELECT string_agg(s::text, '' '' ORDER BY s::text) FROM %s AS s', target) INTO rows;
	RETURN rows;
END
$$;
CREATE TABLE shown_fires (LIKE shown INCLUDING DEFAULTS);
CREATE TRIGGER fires BEFORE INSERT ON shown_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE shown_parts (LIKE shown INCLUDING DEFAULTS) PARTITION BY RANGE (k);
CREATE TABLE shown_parts_rest PARTITION OF shown_parts DEFAULT;
SELECT is(pg_temp.rows(ARRAY['{"id": 1, "k": "2024\u002d01-02"}', E'\t{"id": 2, "k": "2024-01-02"}', E' \t {"k": "2024-01-03 \\t", "id": 3}'], '{}', target),
	'(1,"2024-01-02 00:00:00+00",,) (2,"2024-01-02 00:00:00+00",,) (3,"2024-01-03 00:00:00+00",,)', format('escapes in a key, and blanks before the object, %s', target)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target;
SELECT pg_temp.shell(format('printf ''{"id": 1}\n\r\r{"id": 2, "k": "2024-01-02"}\n'' >%s', :'file')) \g /dev/null
TRUNCATE shown_parts;
SELECT fast_copy('shown_parts', :'file', format => 'json') \g /dev/null
SELECT is(string_agg(s::text, ' ' ORDER BY id), (SELECT string_agg(r::text, ' ' ORDER BY id) FROM unnest(ARRAY['{"id": 1}', E'\r\r{"id": 2, "k": "2024-01-02"}']) AS line, json_populate_record(NULL::shown, line::json) AS r), 'carriage returns before it')
	FROM shown_parts AS s;
SELECT is(pg_temp.rows(ARRAY['{"v": 1, "id": null}', '{}', '{"t": "\\D", "id": 2}', '{"t": "", "id": 3}'], '{}', target),
	'(,,,) (,,1,) (2,,,"\\D") (3,,,"")', format('missing keys, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"v": 1, "id": null}', '{}', '{"t": "\\D", "id": 2}', '{"t": "", "id": 3}'], '{"missing_columns": "default"}', target),
	'(,,1,none) (2,,,"\\D") (3,,,"") (7,,,none)', format('missing keys get defaults, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"v": 1}', '{"v": 2, "t": "x"}'], '{"columns": ["v"], "ignore_extra_columns": true}', target), '(7,,1,none) (7,,2,none)', format('columns, %s', target))
	FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"a": {"b": "x y"}, "n": "1.5", "id": 1, "t": null}'], '{"columns": ["id", "a", "n", "t"], "transform": "v = n::numeric * 2, t = a::json->>''b''"}', target),
	'(1,,3.0,"x y")', format('a transform, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"t": "n/a", "v": "-"}', '{"t": " x ", "v": " 1.234,5 "}'], '{"null_strings": ["n/a", "-"], "trim_blanks": "unquoted", "number_format": "1.234,56", "columns": ["t", "v"]}', target),
	'(7,,,) (7,,1234.5,x)', format('edits, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"k": "01.02.2024", "id": 1}'], '{"timestamp_format": "{\"k\": \"DD.MM.YYYY\"}", "time_zone": "Europe/Rome"}', target), '(1,"2024-01-31 23:00:00+00",,)', format('a moment, %s', target))
	FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY[U&'\FEFF{"id": 1}', '{"id": 2}'], '{}', target), '(1,,,) (2,,,)', format('a byte order mark, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"id": 1}', '{"id": 2}'], '{"where_clause": "id > 1"}', target), '(2,,,)', format('a condition, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"id": 1}'], '{"encoding": "LATIN1"}', target), '(1,,,)', format('another encoding, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT pg_temp.shell(format('printf ''{"id": 1, "t": "\344\\u00e4"}\n{"t": "\366"}'' >%s', :'file')) \g /dev/null
TRUNCATE shown;
SELECT fast_copy('shown', :'file', format => 'json', encoding => 'LATIN1') \g /dev/null
SELECT is(string_agg(s::text, ' ' ORDER BY id), '(1,,,ää) (,,,ö)', 'LATIN1') FROM shown AS s;
SELECT is((pg_temp.failure(format('SELECT fast_copy(''shown'', %L, format => ''json'')', :'file')))[1], '22021', 'no UTF8');
SELECT is(pg_temp.rows(ARRAY['{"id": 1}', '{"t": "ö"}'], '{"encoding": "UTF8", "on_error": "ignore", "on_error_classes": ["encoding"]}'), '(,,,ö) (1,,,)', 'UTF8');

CREATE TABLE arrays (id int, a int[], p pair);
SELECT is(pg_temp.rows(ARRAY['{"id": 1, "a": [1, 2]}', '{"id": 2, "a": "x"}'], '{"transform": "a = ''{'' || id || '',3}'', p = format(''(%s,\"%s\")'', id, a)"}', target), '(1,"{1,3}","(1,""[1, 2]"")") (2,"{2,3}","(2,x)")', format('texts of a transform are no JSON, %s', target))
	FROM unnest('{arrays}'::regclass[]) AS target;

-- partitions that are made, merged with and replaced; a key after others
CREATE TABLE days (id int, t text, at timestamptz NOT NULL) PARTITION BY RANGE (at);
CREATE FUNCTION pg_temp.days(options jsonb, lines text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fast_copy('days', pg_temp.write(lines), options => '{"format": "json", "partition_interval": "1 day"}' || options);
	RETURN (SELECT string_agg(format('%s %s %s', tableoid::regclass, id, t), ', ' ORDER BY at, id) FROM days);
END
$$;
SELECT is(pg_temp.days('{}', ARRAY['{"t": {"at": "2020-01-01"}, "id": 1, "at": "2024-01-02 01:00"}', '{"at": "2024-01-01 01:00", "id": 2}', '{"\u0061t": "2024-01-01", "id": 3}']),
	'days_p20240101 3 , days_p20240101 2 , days_p20240102 1 {"at": "2020-01-01"}', 'partitions');
SELECT is(pg_temp.days('{"existing_rows": "merge", "dedup_keys": ["id", "at"], "workers": 2}', ARRAY['{"at": "2024-01-01 01:00", "id": 2, "t": "new"}', '{"at": "2024-01-01 03:00", "id": 4}']),
	'days_p20240101 3 , days_p20240101 2 new, days_p20240101 4 , days_p20240102 1 {"at": "2020-01-01"}', 'a merge');
SELECT is(pg_temp.days('{"existing_rows": "merge", "dedup_keys": ["id", "at"], "columns": ["id", "at", "gone"], "delete_where": "gone::boolean"}', ARRAY['{"at": "2024-01-01 01:00", "id": 2, "gone": true}', '{"at": "2024-01-01 03:00", "id": 4, "gone": false}']),
	'days_p20240101 3 , days_p20240101 4 , days_p20240102 1 {"at": "2020-01-01"}', 'delete marks');
SELECT is(pg_temp.days('{"existing_rows": "replace", "min_replace_ratio": 0}', ARRAY['{"at": "2024-01-01 02:00", "id": 5}']), 'days_p20240101 5 , days_p20240102 1 {"at": "2020-01-01"}', 'rows are replaced');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''days'', %L, format => ''json'')', pg_temp.write(ARRAY['{"id": 1, "at": "2024-01-01"}', '{"id": 1}']))))[1:2],
	ARRAY['23514', 'no partition of relation "days" found for row'], 'no key');
SELECT is(pg_temp.days('{"existing_rows": "replace", "min_replace_ratio": 0, "ignore_extra_columns": true}', ARRAY['{"atx": "2020-01-01", "a": "2020-01-02", "at": "2024-01-02 02:00", "id": 6}', '{"xat": "2020-01-03", "at": "2024-01-01", "id": 7}']),
	'days_p20240101 7 , days_p20240102 6 ', 'keys that begin or end as the partition key does');

SELECT pg_temp.shell(format('printf ''# made today\r\n{"id": 1}\r\n\r\n \r\n# {\r\n{"id": 2}'' >%s', :'file')) \g /dev/null
CREATE FUNCTION pg_temp.commented(target regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, current_setting('fc.file'), format => 'json', comment => '#');
	EXECUTE format('SELECT string_agg(s::text, '' '' ORDER BY id) FROM %s AS s', target) INTO rows;
	RETURN rows;
END
$$;
SELECT is(pg_temp.commented(target), '(1,,,) (2,,,)', format('comments and empty lines with carriage returns, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;

LOAD 'fast_copy';
TRUNCATE shown;
COPY shown FROM STDIN WITH (fast_copy, FORMAT json, missing_columns 'default');
{"id": 1, "t": "a\\b\n"}
{"v": 2}
\.
SELECT is(string_agg(s::text, ' ' ORDER BY id), E'(1,,,"a\\\\b\n") (7,,2,none)', 'COPY FROM STDIN') FROM shown AS s;
SELECT is(array_agg(detail), '{"json, UTF8, 0 lines of header"}', 'fast_copy_analyze tells the format')
	FROM pg_temp.write(ARRAY['{"id": 1}', '{"id": "x"}']) AS path, fast_copy_analyze('shown', path, format => 'json') WHERE item = 'file';
SELECT is(array_agg(detail ORDER BY line), ARRAY['22P02: invalid input syntax for type integer: "x"', '22P02: record is not an object of JSON'], 'and finds faults')
	FROM pg_temp.write(ARRAY['{"id": 1}', '{"id": "x"}', '[]']) AS path, fast_copy_analyze('shown', path, format => 'json') WHERE item = 'error';

-- what is wrong
CREATE FUNCTION pg_temp.error(lines text[], options jsonb DEFAULT '{}', target text DEFAULT 'shown') RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws('; ', f[1], f[2], f[3], substring(f[9] FROM '", (line \d+(?:, column [^ ]+)?:?)'))
	FROM pg_temp.write(lines) AS path, pg_temp.failure(format('SELECT fast_copy(%L, %L, options => %L)', target, path, '{"format": "json"}' || options)) AS f
$$;
SELECT is(pg_temp.error(ARRAY['{"id": 1}', line], '{}', target), error, format('%s, %s', line, target))
	FROM unnest('{shown,shown_fires,shown_parts}'::text[]) AS target, (VALUES
	('[{"id": 1}]', '22P02; record is not an object of JSON; line 2:'),
	('5', '22P02; record is not an object of JSON; line 2:'),
	('"id"', '22P02; record is not an object of JSON; line 2:'),
	('null', '22P02; record is not an object of JSON; line 2:'),
	('{"id": 1', '22P02; invalid input syntax for type json; The input string ended unexpectedly.; line 2:'),
	('{', '22P02; invalid input syntax for type json; The input string ended unexpectedly.; line 2:'),
	('{"id": [1}', '22P02; invalid input syntax for type json; Expected "," or "]", but found "}".; line 2:'),
	('{"id": 1,}', '22P02; invalid input syntax for type json; Expected string, but found "}".; line 2:'),
	('{"id" 1}', '22P02; invalid input syntax for type json; Expected ":", but found "1".; line 2:'),
	('{5: 1, "k": "2024-01-01"}', '22P02; invalid input syntax for type json; Expected string or "}", but found "5".; line 2:'),
	('{"k": "2024-01-01", : 1}', '22P02; invalid input syntax for type json; Expected string, but found ":".; line 2:'),
	('{"k": +1}', '22P02; invalid input syntax for type json; Token "+" is invalid.; line 2:'),
	('{id: 1}', '22P02; invalid input syntax for type json; Token "id" is invalid.; line 2:'),
	('{"id": 1} {"id": 2}', '22P02; invalid input syntax for type json; Expected end of input, but found "{".; line 2:'),
	('{"id": 01}', '22P02; invalid input syntax for type json; Token "01" is invalid.; line 2:'),
	('{"id": NaN}', '22P02; invalid input syntax for type json; Token "NaN" is invalid.; line 2:'),
	('{"t": "\x"}', '22P02; invalid input syntax for type json; Escape sequence "\x" is invalid.; line 2:'),
	(E'{"t": "\t"}', '22P02; invalid input syntax for type json; Character with value 0x09 must be escaped.; line 2:'),
	('{"t": "\u0000"}', '22P05; unsupported Unicode escape sequence; \u0000 cannot be converted to text.; line 2:'),
	('{"t": "\ud800"}', '22P02; invalid input syntax for type json; Unicode low surrogate must follow a high surrogate.; line 2:'),
	('{"t": "\udc00\ud800"}', '22P02; invalid input syntax for type json; Unicode low surrogate must follow a high surrogate.; line 2:'),
	('{"t": "a", "id": 1, "t": "a"}', '22P04; key "t" appears more than once; line 2:'),
	('{"t": "a", "T": 1}', '22P04; key "T" is not a column of the load; line 2:'),
	('{"": "a"}', '22P04; key "" is not a column of the load; line 2:'),
	('{"id": "x"}', '22P02; invalid input syntax for type integer: "x"; line 2, column id:'),
	('{"id": {"x": 1}}', '22P02; invalid input syntax for type integer: "{"x": 1}"; line 2, column id:'),
	('{"id": true}', '22P02; invalid input syntax for type integer: "true"; line 2, column id:'),
	('{"id": 3000000000}', '22003; value "3000000000" is out of range for type integer; line 2, column id:')) AS e (line, error);
SELECT is(pg_temp.error(ARRAY['{"id": 1}', ''], '{"skip_empty_lines": false}'), '22P02; record is not an object of JSON; line 2:', 'an empty line that is not skipped');
SELECT is(pg_temp.error(ARRAY['{"n": 1}', '{"a": "[1]"}'], '{}', 'plain'), '22P02; malformed array literal: "[1]"; Missing "=" after array dimensions.; line 2, column a:', 'no array');
SELECT is(pg_temp.error(ARRAY['{"n": 1}', '{"p": [1]}'], '{}', 'plain') ~ '^22023; cannot call populate_composite on an array', true, 'no row');
SELECT is(pg_temp.error(ARRAY['{"n": 1}', '{"d": 1000}'], '{}', 'plain'), '23514; value for domain small violates check constraint "small_check"; line 2, column d:', 'a domain');
SELECT is(pg_temp.error(ARRAY['{"t": "' || repeat('x', 200) || '", "t": ""}']), '22P04; key "t" appears more than once; line 1:', 'a long line');
SELECT is(pg_temp.error(ARRAY['{"' || repeat('x', 2000) || '": ""}']), '22P04; key "' || repeat('x', 100) || '..." is not a column of the load; line 1:', 'a long key');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''shown'', %L, format => ''json'')', pg_temp.write('{[\,1]}'))))[4],
	'A record is an object on a line of its own: jq -c . FILE makes such lines, and jq -c ''.[]'' FILE those of an array.', 'a hint');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''shown'', %L, format => ''json'')', pg_temp.write(ARRAY['{"id": 1, "x": 2}']))))[4], 'If such keys are to be left out, add ignore_extra_columns.', 'a hint about keys');
SELECT is((pg_temp.failure(format('SELECT fast_copy(''shown'', %L, format => ''json'')', pg_temp.write(ARRAY['{"v": "n/a"}']))))[4], 'If "n/a" stands for NULL, add null_strings => ''n/a''.', 'a hint about a value');

-- the first of several faults, whatever process comes to it
SET LOCAL fast_copy.chunk_size = '4kB';
SELECT is(pg_temp.error(ARRAY(SELECT CASE i WHEN 1200 THEN '{"n": 1,' WHEN 700 THEN '{"ts": "2024-01-01", "n": "x"}' WHEN 1999 THEN '[' ELSE format('{"ts": "2024-01-0%s", "n": %s}', 1 + i % 5, i) END FROM generate_series(1, 2000) AS i),
	format('{"workers": %s}', workers)::jsonb, target), '22P02; invalid input syntax for type integer: "x"; line 700, column n:', format('the first fault, %s, %s workers', target, workers))
	FROM unnest('{plain,parts,fires}'::text[]) AS target, unnest('{0,2,4}'::int[]) AS workers;
SELECT is(pg_temp.error(ARRAY(SELECT CASE i WHEN 1200 THEN '{"ts": "x"}' WHEN 700 THEN '{"ts": "2024-01-01", "n": 1, "n": 2}' WHEN 1999 THEN '[' ELSE format('{"ts": "2024-01-0%s", "n": %s}', 1 + i % 5, i) END FROM generate_series(1, 2000) AS i),
	format('{"workers": %s}', workers)::jsonb, target), '22P04; key "n" appears more than once; line 700:', format('a key twice, %s, %s workers', target, workers))
	FROM unnest('{plain,parts,fires}'::text[]) AS target, unnest('{0,2,4}'::int[]) AS workers;
RESET fast_copy.chunk_size;

-- what is tolerated
SELECT fast_copy_create_reject_table('rejects') \g /dev/null
CREATE FUNCTION pg_temp.rejects(lines text[], classes text, target regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE rejects;
	PERFORM pg_temp.rows(lines, jsonb_build_object('on_error', 'ignore', 'on_error_classes', classes::text[], 'reject_table', 'rejects', 'log_verbosity', 'silent'), target);
	RETURN (SELECT string_agg(format('%s %s %s', lineno, class, line), ' | ' ORDER BY lineno) FROM rejects);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END
$$;
SELECT is(pg_temp.rejects(ARRAY['{"id": 1}', '[', '{"id": "x"}', '{"x": 1}', '{"id": 1, "id": 2}', '', '{"t": "\u0000"}', '{"id": 5}'], classes, target), rejects, format('%s, %s', classes, target))
	FROM unnest('{shown,shown_fires}'::regclass[]) AS target, (VALUES
	('{missing_columns,extra_columns,conversion}', '2 missing_columns [ | 3 conversion {"id": "x"} | 4 extra_columns {"x": 1} | 5 extra_columns {"id": 1, "id": 2} | 7 missing_columns {"t": "\u0000"}'),
	('{missing_columns,conversion}', 'key "x" is not a column of the load'),
	('{extra_columns,conversion}', 'record is not an object of JSON'),
	('{missing_columns,extra_columns}', 'invalid input syntax for type integer: "x"')) AS c (classes, rejects);

-- values that are mended, and where rows came from
CREATE FUNCTION pg_temp.mended(target regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, current_setting('fc.file'), format => 'json', on_error => 'ignore', on_error_classes => '{replace_invalid,cut_long}');
	EXECUTE format('SELECT string_agg(concat_ws('' '', n, v, t), '', '' ORDER BY n) FROM %s', target) INTO rows;
	RETURN rows;
END
$$;
SELECT pg_temp.shell(format('printf ''{"n": 1, "v": "\344 %%0100d"}\n{"n": 2, "t": [1]}\n'' 7 >%s', :'file')) \g /dev/null
SELECT is(pg_temp.mended(target), U&'1 \FFFD 0000000000000000000000000000, 2 [1]', format('mended, %s', target)) FROM unnest('{plain,fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"id": 1}', '', '{"id": 2}'], '{"transform": "v = $line * 10 + $row, t = regexp_replace($file, ''.*/'', '''')"}', target),
	'(1,,11,fc_json.csv) (2,,33,fc_json.csv)', format('lines and files, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;

-- lines with a byte or two that are others: what core reads as an object with known
-- keys, each once, is loaded, and nothing else
CREATE FUNCTION pg_temp.mutant(line text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	FOR i IN 1..floor(random() * 2.5)::int LOOP
		line := overlay(line PLACING pg_temp.one('{', '}', '[', ']', ',', ':', '"', '\', ' ', '0', '1', 'u', 't', 'd', '-', '.', 'e', 'é', '', '\u00', '}{') FROM 1 + floor(random() * length(line))::int FOR floor(random() * 2)::int);
	END LOOP;
	RETURN line;
END
$$;
CREATE FUNCTION pg_temp.reads(line text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF json_typeof(line::json) = 'object' AND
		(SELECT count(*) = count(DISTINCT k) AND bool_and(k IN ('id', 'k', 'v', 't')) IS NOT false FROM json_object_keys(line::json) AS k) THEN
		PERFORM json_populate_record(NULL::shown, line::json);
		RETURN true;
	END IF;
	RETURN false;
EXCEPTION WHEN OTHERS THEN
	RETURN false;
END
$$;
TRUNCATE lines;
INSERT INTO lines SELECT i, pg_temp.mutant(pg_temp.one('{"id": 1, "t": "a\u00e9\"\ud83d\ude00", "v": 1.5}', '{"t":[1,{"a":"b"}],"id":"7"}', '{"k":"2024-01-01","t":null,"v":-1e3}', '{"i\u0064": 3, "t": true}', '{}', '{"id":4}'))
	FROM generate_series(1, 3000) AS i;
CREATE TABLE wanted AS SELECT s.* FROM lines, pg_temp.reads(line) AS reads, json_populate_record(NULL::shown, CASE WHEN reads THEN line END::json) AS s WHERE reads;
CREATE FUNCTION pg_temp.differs(target regclass, workers int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
BEGIN
	PERFORM pg_temp.write((SELECT array_agg(line ORDER BY n) FROM lines));
	EXECUTE format('TRUNCATE %s', target);
	PERFORM fast_copy(target, current_setting('fc.file'), format => 'json', workers => workers, on_error => 'ignore', on_error_classes => '{conversion,missing_columns,extra_columns}', log_verbosity => 'silent');
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE %1$s)) AS d', target) INTO rows;
	RETURN rows || ' differ';
END
$$;
SELECT cmp_ok(count(*), '>', 300::bigint, 'some mutants can be read') FROM wanted;
SELECT cmp_ok(count(*), '<', 2700::bigint, 'and others not') FROM wanted;
SELECT is(pg_temp.differs(target, workers), '0 differ', format('mutants, %s, %s workers', target, workers)) FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target, unnest('{0,2}'::int[]) AS workers;

-- levels, keys and lengths
SELECT is(pg_temp.rejects(ARRAY['{"id": 1, "t": ' || repeat('[', 100000) || repeat(']', 100000) || '}', '{"id": 2}'], '{missing_columns}', target) ~ '^1 missing_columns ', true, format('too many levels, %s', target))
	FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(left(pg_temp.error(ARRAY['{"id": 0}', '{"id": 1, "t": ' || repeat('{"a":', 100000) || '1' || repeat('}', 100000) || '}', '{"id": 2}'], '{}', target), 39), '54001; stack depth limit exceeded; line', format('too many levels, %s', target))
	FROM unnest('{shown,shown_fires}'::text[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{"id": 1, "t": ' || repeat('[', 1000) || repeat(']', 1000) || '}'], '{}', target), format('(1,,,%s%s)', repeat('[', 1000), repeat(']', 1000)), format('many levels, %s', target))
	FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.rows(ARRAY['{' || (SELECT string_agg(format('"k%s": [%s, {"a": "\u00e9"}]', i, i), ', ') FROM generate_series(1, 20000) AS i) || ', "id": 3}'], '{"ignore_extra_columns": true}', target), '(3,,,)', format('many keys, %s', target))
	FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
CREATE TABLE wide ();
SELECT format('ALTER TABLE wide %s', string_agg(format('ADD c%s int', i), ', ')) FROM generate_series(1, 1500) AS i \gexec
SELECT is(pg_temp.rows(ARRAY(SELECT '{' || string_agg(format('"c%s": %s', i, i), ',' ORDER BY i * n % 7919) || '}' FROM generate_series(1, 1500) AS i, generate_series(1, 20) AS n GROUP BY n), '{}', 'wide'),
	(SELECT string_agg(r, ' ') FROM (SELECT '(' || string_agg(i::text, ',' ORDER BY i) || ')' FROM generate_series(1, 1500) AS i) AS s (r), generate_series(1, 20)), 'many columns in any order');
SELECT is(length(pg_temp.rows(ARRAY['{"t": "' || repeat('\u00e9\n', 2000000) || '"}'])), 4000008 - 1, 'a long string');

-- contradictions
SELECT is((pg_temp.failure(format('SELECT fast_copy(''shown'', ''/nowhere'', format => ''json'', %s => %s)', option, value)))[1:2], ARRAY['22023', format('%s cannot be used with format "json"', option)], option)
	FROM (VALUES ('header', 'true'), ('delimiter', ''';'''), ('null_string', ''''''), ('quote', '''"'''), ('quote', '''none'''), ('escape', '''none'''), ('force_null', '''{t}'''), ('force_not_null', '''{*}'''), ('default_string', '''D''')) AS o (option, value);
SELECT is((pg_temp.failure('COPY shown FROM ''/nowhere'' WITH (fast_copy, FORMAT json, NULL ''x'')'))[1:2], ARRAY['22023', 'null_string cannot be used with format "json"'], 'in COPY');
SELECT is((pg_temp.failure('COPY shown FROM ''/nowhere'' WITH (FORMAT json)'))[1:2], ARRAY['22023', 'COPY format "json" not recognized'], 'COPY itself does not know it');
SELECT is((pg_temp.failure('SELECT fast_copy(''shown'', ''/nowhere'', missing_columns => ''default'')'))[1:2], ARRAY['22023', 'missing_columns "default" requires format "json"'], 'missing_columns "default"');
SELECT is((pg_temp.failure('SELECT fast_copy(''shown'', ''/nowhere'', format => ''json'', header => false)'))[1], '58P01', 'header false is none');

SELECT * FROM finish();
ROLLBACK;
