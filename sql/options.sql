-- Each argument: what it does, and each refusal.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

CREATE TABLE opt (a int, b text);
CREATE TABLE opt_day (ts timestamp, v int) PARTITION BY RANGE (ts);
CREATE TABLE opt_int (id int, v int) PARTITION BY RANGE (id);

-- all of them by name, unquoted
BEGIN;
SELECT fast_copy(target => 'opt_day', source => fc.path(fc.file('all.csv', 'v;ts', '''1'';2024-05-06', 'NA;2024-05-07')),
	timestamp_column => 'ts', columns => '{v,ts}', format => 'csv', header => 'match',
	delimiter => ';', null_string => 'NA', quote => '''', escape => '\', encoding => 'UTF8',
	partition_interval => '1 month', missing_partitions => 'create', freeze => true, workers => 0);
SELECT * FROM fc.partitions('opt_day');
SELECT * FROM opt_day ORDER BY ts;
ROLLBACK;

-- null
SELECT fast_copy(NULL, '/nowhere');
SELECT fast_copy('opt', NULL);
SELECT fast_copy('opt', '/nowhere', format => NULL);
SELECT fast_copy('opt', '/nowhere', header => NULL);
SELECT fast_copy('opt', '/nowhere', missing_partitions => NULL);
SELECT fc.try('opt', fc.file('a.csv', '1,x', '2,y'),
	'columns => NULL, delimiter => NULL, null_string => NULL, quote => NULL, escape => NULL, encoding => NULL, partition_interval => NULL, freeze => NULL, workers => NULL');

-- source
SELECT fc.try('opt', 'missing.csv');
SELECT unnest(fc.outcome($$SELECT fast_copy('opt', 'relative.csv')$$));
SELECT unnest(fc.outcome($$SELECT fast_copy('opt', '')$$));

-- format
SELECT fc.try('opt', 'a.csv', $$format => 'csv'$$);
SELECT fc.try('opt', 'a.csv', $$format => 'text'$$, NULL);
SELECT fast_copy('opt', '/nowhere', format => 'xml');
SELECT fast_copy('opt', '/nowhere', format => 'cvs');

-- header
SELECT fc.file('header.csv', 'a,b', '1,x', '2,y');
SELECT fc.try('opt', 'a.csv', format('header => %L', h), CASE WHEN h ~ '^[0-9]+$' THEN NULL ELSE format('header %s', h) END)
FROM unnest('{false,off,0,FALSE}'::text[]) AS h;
SELECT fc.try('opt', 'header.csv', format('header => %L', h), CASE WHEN h ~ '^[0-9]+$' THEN NULL ELSE format('header %s', h) END)
FROM unnest('{true,on,1,match,MATCH,2,3,4,2147483647}'::text[]) AS h;
SELECT fc.try('opt', 'header.csv', $$header => 'false'$$);
SELECT fast_copy('opt', fc.path('header.csv'), header => '-1');
SELECT fast_copy('opt', fc.path('header.csv'), header => '2147483648');
SELECT fast_copy('opt', fc.path('header.csv'), header => '99999999999999999999');
-- ... whose words are those of the server's COPY
\set VERBOSITY sqlstate
SELECT fast_copy('opt', fc.path('header.csv'), header => 'maybe');
SELECT fast_copy('opt', fc.path('header.csv'), header => '');
\set VERBOSITY default
SELECT fc.try('opt', fc.file('h.csv', '"a","b"', '1,x'), $$header => 'match'$$, 'header match');
SELECT fc.try('opt', fc.file('h.csv', 'b,a', 'x,1'), $$header => 'match', columns => '{b,a}'$$, 'header match', '(b, a)');
SELECT fc.try('opt', fc.file('h.csv', '"two', 'lines",b', '1,x'), $$header => 'true'$$, 'header true');
SELECT fc.try('opt', fc.file('h.csv', '"two', 'lines",b', 'bad,x'), $$header => 'true'$$, 'header true');

-- delimiter
SELECT fc.try('opt', fc.file('d.csv', '1;x,y', '2;z'), $$delimiter => ';'$$, $$delimiter ';'$$);
SELECT fc.try('opt', fc.file('d.csv', E'1\tx', E'2\ty'), $$delimiter => E'\t'$$, $$delimiter E'\t'$$);
SELECT fast_copy('opt', '/nowhere', delimiter => '');
SELECT fast_copy('opt', '/nowhere', delimiter => E'\n');
SELECT fast_copy('opt', '/nowhere', delimiter => E'\r');
SELECT fast_copy('opt', '/nowhere', delimiter => '"');
SELECT fc.state($$SELECT fast_copy('opt', '/nowhere', delimiter => 'N', null_string => 'N')$$) = fc.state($$COPY opt FROM '/nowhere' (FORMAT csv, DELIMITER 'N', NULL 'N')$$);

-- ... of several bytes
SELECT fc.try('opt', fc.file('bars.csv', '1||x|y', '"2"||"||"', '3||'), $$delimiter => '||'$$, NULL);
SELECT fc.try('opt', fc.file('tilde.txt', E'1|~|x\\|~|', '2|~|\N'), $$delimiter => '|~|', format => 'text'$$, NULL);
BEGIN;
SELECT fast_copy('opt', fc.path('bars.csv'), options => '{"delimiter": "||"}');
SELECT fc.path('tilde.txt') AS tilde \gset
COPY opt FROM :'tilde' WITH (fast_copy, DELIMITER '|~|');
SELECT a, b FROM opt ORDER BY a, b;
ROLLBACK;
SELECT fc.try('opt', fc.file('open.csv', '1||x||'), $$delimiter => '||'$$, NULL);
SELECT fast_copy('opt', '/nowhere', delimiter => 'ninebytes');
SELECT fast_copy('opt', '/nowhere', delimiter => E'|\n');
SELECT fast_copy('opt', '/nowhere', delimiter => '\t');
SELECT fast_copy('opt', '/nowhere', delimiter => '|"');
SELECT fast_copy('opt', '/nowhere', delimiter => '|''', quote => '''');
SELECT fast_copy('opt', '/nowhere', delimiter => 'a|', format => 'text');
SELECT fast_copy('opt', '/nowhere', delimiter => '||', format => 'binary');
SELECT fast_copy('opt', '/nowhere', delimiter => '||', null_string => 'a||b');
SELECT fast_copy('opt', '/nowhere', delimiter => '||', null_string => 'a|');
SELECT fast_copy('opt', '/nowhere', delimiter => '||', default_string => '||');
COPY opt FROM '/nowhere' (FORMAT csv, DELIMITER '||');

-- quote and escape
SELECT fc.try('opt', fc.file('q.csv', '1,|x,y|', '2,|a||b|'), $$quote => '|'$$, $$quote '|'$$);
SELECT fc.try('opt', fc.file('q.csv', '1,"x\"y"', '2,"a\\b"'), $$escape => '\'$$, $$escape '\'$$);
SELECT fast_copy('opt', '/nowhere', quote => '');
SELECT fast_copy('opt', '/nowhere', quote => '""');
SELECT fast_copy('opt', '/nowhere', quote => ',');
SELECT fast_copy('opt', '/nowhere', quote => E'\n');
SELECT fast_copy('opt', '/nowhere', escape => '');
SELECT fast_copy('opt', '/nowhere', escape => '""');
SELECT fast_copy('opt', '/nowhere', escape => E'\r');

-- ... of which there is none
SELECT fc.try('opt', fc.file('none.csv', '1,"x', '2,\.', '3,'), $$quote => 'none'$$, NULL);
SELECT fc.try('opt', 'none.csv', $$quote => 'NONE', escape => 'none'$$, NULL);
SELECT fc.try('opt', fc.file('none.txt', E'1\t{"a": "b\\nc"}', E'2\t\\'), $$format => 'text', escape => 'none'$$, NULL);
BEGIN;
SELECT fast_copy('opt', fc.path('none.csv'), options => '{"quote": "none"}');
SELECT fc.path('none.txt') AS none \gset
COPY opt FROM :'none' WITH (fast_copy, FORMAT text, escape none);
SELECT a, b FROM opt ORDER BY a, b;
COPY opt FROM STDIN WITH (fast_copy, FORMAT text, escape none);
4	\n\.
\.
COPY opt FROM STDIN WITH (fast_copy, FORMAT csv, quote none, DELIMITER '||');
5||"x
\.
SELECT a, b FROM opt WHERE a > 3 ORDER BY a;
ROLLBACK;
SELECT fast_copy('opt', '/nowhere', quote => 'none', escape => '\');
SELECT fast_copy('opt', '/nowhere', quote => 'none', force_null => '{b}');
SELECT fast_copy('opt', '/nowhere', quote => 'none', force_not_null => '{*}');
SELECT fast_copy('opt', '/nowhere', escape => 'none');
SELECT fc.state($$SELECT fast_copy('opt', '/nowhere', format => 'text', quote => 'none')$$);
SELECT fc.state($$SELECT fast_copy('opt', '/nowhere', format => 'binary', escape => 'none')$$);
COPY opt FROM '/nowhere' (FORMAT csv, QUOTE 'none');

-- null_string: only where it is not quoted
BEGIN;
SELECT fast_copy('opt', fc.path(fc.file('n.csv', 'NA,NA', '2,"NA"', '3,', '4,NA ')), null_string => 'NA');
SELECT a, b IS NULL, b FROM opt ORDER BY a;
ROLLBACK;
BEGIN;
SELECT fast_copy('opt', fc.path(fc.file('n.csv', ',', '2,""', '3,')));
SELECT a, b IS NULL, b FROM opt ORDER BY a;
ROLLBACK;
SELECT fast_copy('opt', '/nowhere', null_string => E'a\nb');
SELECT fast_copy('opt', '/nowhere', null_string => E'a\rb');
SELECT fast_copy('opt', '/nowhere', null_string => 'a"b');
SELECT fc.state($$SELECT fast_copy('opt', '/nowhere', null_string => 'a,b')$$) = fc.state($$COPY opt FROM '/nowhere' (FORMAT csv, NULL 'a,b')$$);

-- columns
BEGIN;
SELECT fast_copy('opt', fc.path(fc.file('c.csv', 'x,1', 'y,2')), columns => '{b,a}');
SELECT fast_copy('opt', fc.path(fc.file('c.csv', '3')), columns => '{a}');
SELECT a, b FROM opt ORDER BY a;
ROLLBACK;
SELECT fast_copy('opt', '/nowhere', columns => '{}');
SELECT fast_copy('opt', '/nowhere', columns => '{a,NULL}');
SELECT fast_copy('opt', '/nowhere', columns => '{a,a}');
SELECT fast_copy('opt', '/nowhere', columns => '{a,c}');
SELECT fast_copy('opt', '/nowhere', columns => '{ctid}');
SELECT fc.try('opt', 'a.csv', $$columns => '{b}'$$, '', '(b)');
CREATE TABLE opt_gen (a int, b int GENERATED ALWAYS AS (a * 2) STORED);
SELECT fast_copy('opt_gen', '/nowhere', columns => '{a,b}');

-- encoding
BEGIN;
SELECT fast_copy('opt', fc.path(fc.bytes('e.csv', '\x312ce90a')), encoding => 'latin1');
SELECT b = U&'\00E9', length(b) FROM opt;
ROLLBACK;
SELECT fc.try('opt', 'e.csv', $$encoding => 'latin1'$$, $$encoding 'latin1'$$);
SELECT fc.try('opt', 'e.csv', $$encoding => 'utf8'$$, $$encoding 'utf8'$$);
SELECT fast_copy('opt', '/nowhere', encoding => 'nothing');

-- timestamp_column
SELECT fc.try('opt', 'a.csv', $$timestamp_column => 'a'$$);
SELECT fast_copy('opt', '/nowhere', 'c');
SELECT fast_copy('opt', '/nowhere', 'ctid');
SELECT fast_copy('opt', '/nowhere', 'b');
SELECT fast_copy('opt', '/nowhere', 'a', columns => '{b}');
SELECT fast_copy('opt_day', '/nowhere', 'v');

-- partition_interval
SELECT fast_copy('opt_day', fc.path(fc.file('p.csv', '2024-05-06 07:08:09,1')), partition_interval => i)
FROM unnest('{nonsense}'::text[]) AS i;
SELECT fc.try('opt_day', 'p.csv', format('partition_interval => %L', i), NULL)
FROM unnest('{1 day,1 month,1 hour,7 days,0 days,-1 day,1 month 1 day,1 day 1 hour}'::text[]) AS i;
SELECT fc.try('opt_int', fc.file('i.csv', '5,1'), format('partition_interval => %L', i), NULL)
FROM unnest('{1000,0,-1,1 day,99999999999999999999}'::text[]) AS i;
SELECT fc.try('opt_int', 'i.csv', '', NULL);

-- missing_partitions
SELECT fc.try('opt_int', 'i.csv', format($$partition_interval => '10', missing_partitions => %L$$, m), NULL)
FROM unnest('{create,CREATE,default,skip}'::text[]) AS m;
SELECT fc.try('opt_int', 'i.csv', $$missing_partitions => 'error'$$);
SELECT fast_copy('opt', '/nowhere', missing_partitions => '');

-- workers
SELECT fast_copy('opt', '/nowhere', workers => -1);
SELECT fast_copy('opt', '/nowhere', workers => 257);
SELECT fc.try('opt', 'a.csv', 'workers => 256');

-- options
BEGIN;
SELECT fast_copy('opt_day', fc.path('all.csv'), quote => '''', options => '{"Timestamp_Column": "ts", "columns": ["v", "ts"], "format": "csv",
	"header": true, "delimiter": ";", "NULL": "NA", "default": null, "partition_interval": "1 month", "freeze": true, "workers": 0}');
SELECT * FROM fc.partitions('opt_day');
SELECT * FROM opt_day ORDER BY ts;
CREATE VIEW opt_load AS SELECT fast_copy('opt', fc.path('header.csv'), options => '{"header": 2, "columns": ["a", "b"], "ignore_extra_columns": false}') AS rows;
SELECT rows FROM opt_load;
CREATE FUNCTION opt_load(file text) RETURNS bigint LANGUAGE sql AS $$SELECT fast_copy('opt', fc.path(file), options => '{"header": 1}')$$;
SELECT opt_load('header.csv');
SELECT item, name, rows, detail FROM fast_copy_analyze('opt', fc.path('header.csv'), options => '{"header": "match"}') WHERE item = 'rows' ORDER BY name;
ROLLBACK;
\set VERBOSITY terse
SELECT fast_copy('opt', '/nowhere', options => options::jsonb) FROM unnest('{"{}", null}'::text[]) AS options;
\set VERBOSITY default
SELECT fast_copy('opt', '/nowhere', options => '[]');
SELECT fast_copy('opt', '/nowhere', options => '{"workers": "4"}');
SELECT fast_copy('opt', '/nowhere', options => '{"max_records": 1.5}');
SELECT fast_copy('opt', '/nowhere', options => '{"freeze": "on"}');
SELECT fast_copy('opt', '/nowhere', options => '{"columns": ["a", null]}');
SELECT fast_copy('opt', '/nowhere', options => '{"columns": []}');
SELECT fast_copy('opt', '/nowhere', options => '{"header": {"lines": 2}}');
SELECT fast_copy('opt', '/nowhere', options => '{"reject_table": 5}');
SELECT fast_copy('opt', '/nowhere', options => '{"workers": 257}');
SELECT fast_copy('opt', '/nowhere', options => '{"headr": 1}');
SELECT fast_copy('opt', '/nowhere', options => '{"compressed": true}');
SELECT fast_copy('opt', '/nowhere', delimiter => ';', options => '{"delimiter": ";"}');
SELECT fast_copy('opt', '/nowhere', options => '{"null": "a", "null_string": "a"}');
COPY opt FROM '/nowhere' (fast_copy, null 'a', null_string 'a');

-- settings
SET fast_copy.workers = 257;
SET fast_copy.workers = -2;
SELECT fc.state($$SET fast_copy.memory = -2$$);
SET fast_copy.io_method = 'splice';
SET fast_copy.spill = 'all';
SET fast_copy.io_depth = 0;
SELECT fc.state($$SET fast_copy.chunk_size = 0$$);
SET fast_copy.nonsense = 1;
-- as they come, whatever this server or the role has set
SELECT name, boot_val, unit, context FROM pg_settings
WHERE name LIKE 'fast\_copy.%' AND name <> 'fast_copy.io_method' ORDER BY name COLLATE "C";

DROP TABLE opt, opt_day, opt_int, opt_gen;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
