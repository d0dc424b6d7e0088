-- Values that expressions make of the fields of the file: transform.
--
-- COPY is the referee: it loads the fields as texts into a stage, from which
-- INSERT ... SELECT takes the same expressions.

\set name transform
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT * FROM no_plan();

-- Fields: day, time, amount with a sign of its currency, weight with its unit, a
-- letter for a boolean, a name, and one that nobody wants
CREATE TABLE stage ("Day" text, "time" text, amount text, weight text, ok text, name text, rest text);
INSERT INTO stage SELECT to_char(timestamp '2024-01-01' + n % 7 * interval '1 day', 'DD.MM.YYYY'),
	to_char(timestamp '2024-01-01' + n * 7919 % 86400 * interval '1 s', 'HH24:MI:SS'),
	CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN 'n/a' ELSE '$' || n || '.' || n % 100 END,
	n % 40 || CASE n % 3 WHEN 0 THEN ' kg' WHEN 1 THEN ' g' ELSE '' END,
	substr('YN?', 1 + n % 3, 1), CASE n % 4 WHEN 0 THEN '  anne, "ö" ' ELSE E'bob\nand ' || n END, repeat('x', n % 200)
	FROM generate_series(1, 4000) AS n;
SELECT format('COPY stage TO %L (FORMAT csv, HEADER)', :'file') \gexec

CREATE DOMAIN positive AS numeric CHECK (value >= 0);
CREATE TABLE plain (at timestamp, amount numeric DEFAULT 7, kg float8, ok boolean, name text, id int DEFAULT 1, plus positive);
CREATE TABLE parts (LIKE plain INCLUDING DEFAULTS) PARTITION BY RANGE (at);
CREATE TABLE fires (LIKE plain INCLUDING DEFAULTS);
CREATE TABLE hashed (LIKE plain INCLUDING DEFAULTS) PARTITION BY HASH (name);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE TABLE expected (LIKE plain INCLUDING DEFAULTS);
CREATE FUNCTION mine(t text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$SELECT upper(t) || '!'$$;
CREATE FUNCTION only_leader(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RETURN lower(t); END$$;

-- Loads the file with these expressions into the target, and the stage into
-- "expected"; returns how many rows differ
CREATE FUNCTION pg_temp.wrong(target regclass, sets text, more jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
	loaded bigint;
	columns text;
	expressions text;
BEGIN
	SELECT string_agg(split_part(one, ' = ', 1), ', '), string_agg(substr(one, strpos(one, ' = ') + 3), ', ') INTO columns, expressions FROM unnest(string_to_array(sets, '; ')) AS one;
	EXECUTE format('TRUNCATE %s, expected', target);
	EXECUTE format('INSERT INTO expected (%s) SELECT %s FROM stage', columns, expressions);
	loaded := fast_copy(target, current_setting('fc.file'), options => jsonb_build_object('header', 'map', 'ignore_extra_columns', true, 'transform', array_to_json(string_to_array(sets, '; '))) || more);
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE %1$s)) AS d', target) INTO rows;
	RETURN format('%s of %s wrong', rows, loaded);
END
$$;

\set at 'at = to_timestamp("Day" || time, \'DD.MM.YYYYHH24:MI:SS\')'
\set amount 'amount = replace(nullif(amount, \'n/a\'), \'$\', \'\')::numeric'
\set kg 'kg = split_part(weight, \' \', 1)::float8 / CASE WHEN weight LIKE \'% g\' THEN 1000 ELSE 1 END'
\set ok 'ok = CASE ok WHEN \'Y\' THEN true WHEN \'N\' THEN false END'
\set name 'name = initcap(trim(name))'
\set base :at '; ok = NULL; amount = NULL; name = name'
\set all :at '; ' :amount '; ' :kg '; ' :ok '; ' :name
SELECT is(pg_temp.wrong(target, :'all', jsonb_build_object('workers', workers)), '0 of 4000 wrong', format('%s, %s workers', target, workers))
	FROM unnest('{parts,plain,fires,hashed}'::regclass[]) AS target, unnest('{0,1,2,4}'::int[]) AS workers;
SELECT set_config('fast_copy.chunk_size', '64', true) \g /dev/null
SELECT is(pg_temp.wrong('parts', :'all', jsonb_build_object('workers', workers)), '0 of 4000 wrong', format('small chunks, %s workers', workers)) FROM unnest('{0,2}'::int[]) AS workers;
SELECT set_config('fast_copy.chunk_size', '64kB', true) \g /dev/null
SELECT is(pg_temp.wrong(target, :'all', more::jsonb), '0 of 4000 wrong', format('%s, %s', target, more)) FROM (VALUES
	('plain', '{"order_by": ["at", "name"]}'), ('plain', '{"timestamp_column": "at"}'), ('parts', '{"order_by": ["name"]}'), ('parts', '{"missing_partitions": "create", "partition_interval": "2 days"}'),
	('parts', '{"on_error": "ignore"}'), ('fires', '{"on_error": "set_null"}'), ('parts', '{"existing_rows": "replace"}'), ('parts', '{"existing_rows": "merge", "dedup_keys": ["at", "name", "kg"]}'),
	('plain', '{"freeze": false, "progress": "1 s"}')) AS m (target, more);
SELECT is(pg_temp.wrong(target, :'at' || '; name = mine(only_leader(name)); ok = true; ' || :'amount', '{"workers": 2}'), '0 of 4000 wrong', format('functions of users, one for the leader alone, %s', target)) FROM unnest('{parts,plain,fires}'::regclass[]) AS target;
SELECT is(pg_temp.wrong(target, :'base' || '; plus = length(rest)', '{"workers": 2}'), '0 of 4000 wrong', format('a domain, %s', target)) FROM unnest('{parts,fires}'::regclass[]) AS target;

-- volatile: each row once, in the order of the file
CREATE SEQUENCE numbers;
SELECT is(pg_temp.wrong(target, :'base' || '; id = nextval(''numbers'') - 4000 * ((currval(''numbers'') - 1) / 4000)', '{"workers": 2}'), '0 of 4000 wrong', format('numbers of a sequence, %s', target)) FROM unnest('{parts,plain,fires}'::regclass[]) AS target;
SELECT is(pg_temp.wrong('plain', :'base' || '; id = nextval(''numbers'') - 4000 * ((currval(''numbers'') - 1) / 4000)', '{"where_clause": "id % 2 = 1"}'), '2000 of 2000 wrong', 'and a condition that looks at it');
SELECT is((SELECT array[count(*), count(DISTINCT id), min(id), max(id)] FROM plain), '{2000,2000,1,3999}', 'which is evaluated once');
SELECT is(fast_copy('plain', :'file', 'at', options => '{"header": "map", "ignore_extra_columns": true, "transform": "at = clock_timestamp(), ok = NULL, amount = NULL"}'), 4000::bigint, 'a volatile key is none');
CREATE TABLE part_of (at timestamptz, name text) PARTITION BY RANGE (at);
CREATE TABLE part_of_all PARTITION OF part_of DEFAULT;
SELECT is(fast_copy('part_of', :'file', options => '{"header": "map", "ignore_extra_columns": true, "transform": "at = clock_timestamp(), name = gen_random_uuid()", "workers": 2}'), 4000::bigint, 'a volatile partition key');
SELECT is(count(DISTINCT name), 4000::bigint, 'volatile values in workers') FROM part_of;

-- A text is read as a field is
SELECT pg_temp.wrong('parts', 'at = to_timestamp("Day" || '' '' || time, ''DD.MM.YYYY HH24:MI:SS''); amount = replace(nullif(amount, ''n/a''), ''$'', '''')::numeric; ok = ok = ''Y''; kg = NULL') \g /dev/null
CREATE TABLE texts AS TABLE expected;
TRUNCATE parts;
SELECT is(fast_copy('parts', :'file', timestamp_format => '{"at": "DD.MM.YYYY HH24:MI:SS"}', options => $${"header": "map", "ignore_extra_columns": true, "null_strings": {"amount": "n/a", "ok": "?"},
	"transform": "at = \"Day\" || ' ' || \"time\", amount = substr(amount, 2), ok = coalesce(ok, 'N'), name = DEFAULT"}$$), 4000::bigint, 'patterns and null_strings');
SELECT is(count(*), 0::bigint, 'give what functions give') FROM ((TABLE parts EXCEPT ALL TABLE texts) UNION ALL (TABLE texts EXCEPT ALL TABLE parts)) AS d;
TRUNCATE plain;
SELECT is(fast_copy('plain', :'file', columns => '{day,time,amount,weight,ok,name,rest}', on_error => 'set_null', options => $${"header": true, "number_format": "1,234.56", "trim_blanks": "all",
	"transform": {"amount": "CASE WHEN $3 LIKE '$%' THEN '1,23' || length($3) || '.5' END", "ok": "NULL", "id": "DEFAULT", "at": "' yesterday '::text || day", "kg": "1 + 0 * length(concat(weight, \"time\", rest))"}}$$), 4000::bigint, 'numbers of fields, and number_format');
SELECT is((SELECT array_agg(DISTINCT p ORDER BY p) FROM (SELECT concat_ws('|', at, amount, kg, ok, id) COLLATE "C" FROM plain) AS d (p)), '{1234.5|1|1,1236.5|1|1,1237.5|1|1,1238.5|1|1,1|1}', 'the values');
SELECT is(count(*), 0::bigint, 'trimmed') FROM plain WHERE name LIKE ' %';

-- Faults: COPY's context, and classes of on_error
CREATE TABLE shown (id int, k timestamp, v numeric, t text);
CREATE TABLE shown_parts (LIKE shown) PARTITION BY RANGE (k);
CREATE TABLE shown_fires (LIKE shown);
CREATE TRIGGER fires BEFORE INSERT ON shown_fires FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
CREATE FUNCTION pg_temp.error(lines text[], options jsonb, target regclass DEFAULT 'shown') RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN 'no error' ELSE concat_ws(' | ', f[1], f[2], (regexp_match(f[9], 'line \d+, [^\n]*|line \d+: [^\n]*|transform of[^\n]*'))[1]) END
	FROM pg_temp.failure(format('SELECT fast_copy(%L, %L, options => %L)', target, pg_temp.write(lines), options)) AS f
$$;
SELECT is(pg_temp.error(lines, options, target), error, format('%s, %s', error, target))
	FROM unnest('{shown,shown_fires,shown_parts}'::regclass[]) AS target, (VALUES
	('{"1,2024-01-01,1,a","2,2024-01-02,0,b"}'::text[], '{"transform": "v = 1 / v::int"}'::jsonb, '22012 | division by zero | line 2, column v: "0"'),
	('{"1,2024-01-01,1,a","x,2024-01-02,0,b"}', '{"transform": "v = 1 / v::int"}', '22P02 | invalid input syntax for type integer: "x" | line 2, column id: "x"'),
	('{"1,2024-01-01,1,a","2,2024-01-02,,b"}', '{"transform": "v = coalesce(v, ''none'')"}', '22P02 | invalid input syntax for type numeric: "none" | line 2, column v: null input'),
	('{"1,2024-01-01,1,a","2,2024-01-02,5,b"}', '{"transform": "v = ''v'' || v"}', '22P02 | invalid input syntax for type numeric: "v1" | line 1, column v: "1"'),
	('{"1,2024-01-01,a","2,2024-01-02,b"}', '{"transform": "v = substr(t, strpos(t, ''b''))", "columns": ["id", "k", "t"]}', '22P02 | invalid input syntax for type numeric: "a" | line 1, column v: "1,2024-01-01,a"'),
	('{"1,2024-01-01,1,a","2,2024-01-02,1"}', '{"transform": "v = 1 / (length(t) - 0)"}', '22P04 | missing data for column "t" | line 2: "2,2024-01-02,1"'),
	('{"1,2024-01-01,1,a","2,2024-01-02,1,b,c"}', '{"transform": "v = 1"}', '22P04 | extra data after last expected column | line 2: "2,2024-01-02,1,b,c"'),
	('{"1,2024-01-01,1,a","2,x,1,b"}', '{"transform": "k = k::date"}', '22007 | invalid input syntax for type date: "x" | line 2, column k: "x"')) AS m (lines, options, error);
SELECT fast_copy_create_reject_table('bad') \g /dev/null
TRUNCATE shown;
SELECT pg_temp.write('{"1,2024-01-01,1,a","x,2024-01-02,1,b","3,2024-01-03,0,c","4,2024-01-04,2,d","5,2024-01-05,y,e","6"}') \g /dev/null
SELECT is(fast_copy('shown', :'file', on_error => 'ignore', on_error_classes => '{conversion,missing_columns}', reject_table => 'bad', options => '{"transform": "v = 4 / v::int, t = upper(t)"}'), 2::bigint, 'faults are rejected');
SELECT is((SELECT array_agg(concat_ws('|', lineno, class, colname, line, err_message) ORDER BY lineno) FROM bad), '{"2|conversion|id|x,2024-01-02,1,b|invalid input syntax for type integer: \"x\"","3|conversion|v|3,2024-01-03,0,c|division by zero","5|conversion|v|5,2024-01-05,y,e|invalid input syntax for type integer: \"y\"","6|missing_columns|k|6|missing data for column \"k\""}', 'with the field as it is');
SELECT is((SELECT array_agg(s::text ORDER BY id) FROM shown AS s), '{"(1,\"2024-01-01 00:00:00\",4,A)","(4,\"2024-01-04 00:00:00\",2,D)"}', 'others are loaded');

-- An analysis names what a transform would mend
SELECT pg_temp.write('{"1,2024-01-01,$5,a","2,2024-01-02,$6.50,b"}') \g /dev/null
SELECT alike(detail, '%take off what stands beside it, as by transform => $$v = replace(v, ''$'', '''')$$.', 'an analysis of amounts')
	FROM fast_copy_analyze('shown', :'file') WHERE item = 'cause';
SELECT is(count(*), 0::bigint, 'which are no faults with that transform') FROM fast_copy_analyze('shown', :'file', options => $${"transform": "v = replace(v, '$', '')"}$$) WHERE item IN ('cause', 'error');

-- Mistakes
SELECT is(pg_temp.error('{1}', options), error, error) FROM (VALUES
	('{"transform": "v = nothing"}'::jsonb, '42703 | the file has no field "nothing" | transform of column "v"'),
	('{"transform": "v = $5"}', '42P02 | the file has no field $5 | transform of column "v"'),
	('{"transform": "v = iD || 1", "columns": ["ID", "Id", "v"]}', '42702 | the file has several fields "id" | transform of column "v"'),
	('{"transform": "nothing = v"}', '42703 | column "nothing" of relation "shown" does not exist'),
	('{"transform": "v = 1, v = 2"}', '42701 | column "v" specified more than once'),
	('{"transform": "v = 1, v = DEFAULT"}', '42701 | column "v" specified more than once'),
	('{"transform": "v = DEFAULT, v = 1"}', '42701 | column "v" specified more than once'),
	('{"transform": "v = 1 + DEFAULT"}', '42601 | DEFAULT is not allowed in this context | transform of column "v"'),
	('{"transform": "v = (SELECT 1)"}', '0A000 | cannot use subquery in column generation expression | transform of column "v"'),
	('{"transform": "v = count(*)"}', '42803 | aggregate functions are not allowed in column generation expressions | transform of column "v"'),
	('{"transform": "v = row_number() OVER ()"}', '42P20 | window functions are not allowed in column generation expressions | transform of column "v"'),
	('{"transform": "v = generate_series(1, 2)"}', '0A000 | set-returning functions are not allowed in column generation expressions | transform of column "v"'),
	('{"transform": "v = point(1, 2)"}', '42804 | column "v" is of type numeric but expression is of type point | transform of column "v"'),
	('{"transform": "v = shown.v"}', '42P01 | missing FROM-clause entry for table "shown" | transform of column "v"'),
	('{"transform": "v = 1 FROM shown"}', '22023 | transform must name columns and expressions'),
	('{"transform": "v = 1 WHERE true"}', '22023 | transform must name columns and expressions'),
	('{"transform": "v = 1 RETURNING 1"}', '22023 | transform must name columns and expressions'),
	('{"transform": "v = 1; DROP TABLE shown"}', '22023 | transform must name columns and expressions'),
	('{"transform": "v[1] = 1"}', '22023 | transform must name columns and expressions'),
	('{"transform": "(v, t) = (1, 2)"}', '22023 | transform must name columns and expressions'),
	('{"transform": {"v": "1, t = 2"}}', '22023 | transform must name columns and expressions'),
	('{"transform": {"v": 1}}', '22023 | transform must name columns and expressions'),
	('{"transform": {"v": ["1"]}}', '22023 | transform must name columns and expressions'),
	('{"transform": [["v = 1"]]}', '22023 | transform must name columns and expressions'),
	('{"transform": "v"}', '42601 | syntax error at end of input'),
	('{"transform": ""}', '42601 | syntax error at end of input'),
	('{"transform": "v = 1", "format": "binary"}', '42601 | cannot specify transform in BINARY mode'),
	('{"transform": "k = now()", "timestamp_format": "{\"k\": \"DD.MM.YYYY\"}"}', '42P10 | timestamp_format cannot be used for column "k"'),
	('{"transform": "v = length(u)", "columns": ["id", "u", "w"]}', '42703 | column "w" of relation "shown" does not exist')) AS m (options, error);
CREATE TABLE made (id int, twice int GENERATED ALWAYS AS (2 * id) STORED);
SELECT is(pg_temp.error('{1}', '{"transform": "twice = 1"}', 'made'), '42P10 | column "twice" is a generated column', 'a generated column');
SELECT is(pg_temp.error('{"id,w,v","1,2,3"}', '{"header": "map", "transform": "v = $2"}'), 'no error', 'a number uses a field');
SELECT is(pg_temp.error('{"id,w,v","1,2,3"}', '{"header": "map", "transform": "v = 1"}'), '42703 | column "w" of the file is not a column of relation "shown"', 'a field that nobody wants');

-- A value of the column's own type is not read again
CREATE TABLE padded (id int, c bpchar, d varchar(3));
SELECT pg_temp.write('{"1,a,b"}') \g /dev/null
SELECT is(fast_copy('padded', :'file', options => '{"transform": "c = rpad(c, 3)::bpchar, d = rpad(d, 5)::varchar"}'), 1::bigint, 'blanks at the end');
SELECT is(array_agg(concat_ws('|', octet_length(c), octet_length(d))), '{3|3}', 'stay, as INSERT has them') FROM padded;
-- FORCE_NULL and FORCE_NOT_NULL of all fields
CREATE TABLE forced (id int, a text, b boolean);
SELECT pg_temp.write('{"1,\"\",x","2,,x"}') \g /dev/null
SELECT fast_copy('forced', :'file', columns => '{id,other,a}', options => '{"force_null": "*", "transform": "b = other IS NULL"}') \g /dev/null
SELECT fast_copy('forced', :'file', columns => '{id,other,a}', options => '{"force_not_null": "*", "transform": "b = other IS NULL"}') \g /dev/null
SELECT is(array_agg(b::text ORDER BY b), '{false,false,true,true}', 'are those that only a transform wants, too') FROM forced;

-- header match: the names are those of the fields, not of the columns
SELECT is(pg_temp.error('{"id,other,v","1,2024-01-01,3"}', '{"header": "match", "columns": ["id", "other", "v"], "transform": "k = other::date, t = v"}', target), 'no error', format('a field of another name, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.error('{"id,k,v,t","1,x,3,"}', '{"header": "match", "transform": "k = DEFAULT"}', target), 'no error', format('a field of no column, %s', target)) FROM unnest('{shown,shown_fires}'::regclass[]) AS target;
SELECT is(pg_temp.error('{"id,k","1,2024-01-01"}', '{"header": "match", "columns": ["id", "k", "v"], "transform": "t = id"}'), '22P04 | wrong number of fields in header line: got 2, expected 3 | line 1: "id,k"', 'too few names');
SELECT is(pg_temp.error('{"id,,v"}', '{"header": "match", "columns": ["id", "k", "v"], "transform": "t = id"}'), '22P04 | column name mismatch in header line field 2: got null value (""), expected "k" | line 1: "id,,v"', 'no name');
SELECT is(pg_temp.error('{"id,K,v"}', '{"header": "match", "columns": ["id", "k", "v"], "transform": "t = id"}'), '22P04 | column name mismatch in header line field 2: got "K", expected "k" | line 1: "id,K,v"', 'another name');

-- An analysis takes no numbers, and tells what was refused
SELECT pg_temp.write('{"1,2024-01-01,1,a","2,2024-01-02,5,b","3,2024-01-03,5,c"}') \g /dev/null
SELECT nextval('numbers') AS number \gset
SELECT is(array_agg(rows), '{3}', 'it accepts rows with numbers') FROM fast_copy_analyze('shown', :'file', options => '{"transform": "id = nextval(''numbers'')"}') WHERE item = 'rows' AND name = 'accepted';
SELECT is(nextval('numbers'), :number + 1::bigint, 'which stay');
SELECT is(array_agg(detail), '{"22P02: invalid input syntax for type numeric: \"b1\", and other values"}', 'the text that the transform has made') FROM fast_copy_analyze('shown', :'file', options => '{"transform": "v = CASE id WHEN ''1'' THEN ''1'' ELSE ''b'' || id::int - 1 END"}') WHERE item = 'cause';
SELECT pg_temp.write('{"1,2024-01-01,,a"}') \g /dev/null
SELECT is(array_agg(detail), '{"set to null: null input"}', 'what set_null sets to null is the field') FROM fast_copy_analyze('shown', :'file', on_error => 'set_null', options => '{"transform": "v = coalesce(v, ''none'')"}') WHERE item = 'cause';

-- A condition may not look at a row whose generated columns are not there yet
CREATE TABLE doubled (n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
SELECT is((pg_temp.failure(format('SELECT fast_copy(''doubled'', %L, columns => ''{n}'', where_clause => %L)', pg_temp.write('{1,2}'), condition)))[1:3], '{42P10,"generated columns are not supported in COPY FROM WHERE conditions","Column \"twice\" is a generated column."}', condition)
	FROM unnest('{doubled IS NOT NULL,twice > 2}'::text[]) AS condition;

SELECT * FROM finish();
ROLLBACK;
