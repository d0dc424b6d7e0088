-- What a load refuses to replace or to merge, and which rows of other tables go
-- with those it replaces: fast_copy_analyze tells it before.

\set name foretold
\ir begin.psql
SET LOCAL fast_copy.chunk_size = '64kB';
SELECT * FROM no_plan();

CREATE TABLE days (k timestamp NOT NULL, n int) PARTITION BY RANGE (k);
CREATE TABLE listed (k timestamp NOT NULL, n int) PARTITION BY LIST (n);
CREATE TABLE listed_all PARTITION OF listed DEFAULT;
CREATE TABLE plain (k timestamp, n int);
SELECT pg_temp.file($$SELECT timestamp '2024-01-01' + g * interval '10 min', g FROM generate_series(0, 719) AS g$$) \g /dev/null
SELECT fast_copy('days', :'file'), fast_copy('plain', :'file'), fast_copy('listed', :'file') \g /dev/null

-- The findings of an analysis about faults, as name, rows, line: detail
CREATE FUNCTION pg_temp.told(target regclass, options jsonb, items text[] DEFAULT '{warning}', names text DEFAULT '') RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(concat_ws(', ', name, rows, line) || ': ' || detail) FROM fast_copy_analyze(target, current_setting('fc.file'), options => options)
	WHERE item = ANY (items) AND coalesce(name, '') ~ names AND coalesce(name, '') <> 'serial'
$$;
-- How a load fails, or NULL
CREATE FUNCTION pg_temp.failed(target regclass, options jsonb) RETURNS text[] LANGUAGE sql AS $$
	SELECT pg_temp.failure(format('SELECT fast_copy(%L, %L, options => %L)', target, current_setting('fc.file'), options))
$$;

-- 1. Keys outside of the range: all are counted, wherever they stand in the file
SELECT pg_temp.file($$SELECT timestamp '2024-01-02' + g * interval '1 min', g FROM generate_series(-20, 1449) AS g$$) \g /dev/null
\set range '{"existing_rows": "replace", "replace_from": "2024-01-02", "replace_to": "2024-01-03"}'
SELECT is(pg_temp.told(target, :'range'::jsonb || more, '{cause}'), ARRAY['k, 30, 1: 23514: the key lies outside of the range that is replaced, FROM (''2024-01-02 00:00:00'') TO (''2024-01-03 00:00:00'')'], concat_ws(', ', target, more))
	FROM (VALUES ('days'::regclass, '{"workers": 0}'::jsonb), ('days', '{"workers": 2}'), ('days', '{"on_error": "ignore"}'), ('plain', '{"timestamp_column": "k"}'), ('listed', '{"timestamp_column": "k"}')) AS loads (target, more);
SELECT is(pg_temp.told('days', :'range'::jsonb || '{"where_clause": "n < 1440"}', '{cause}'), ARRAY['k, 20, 1: 23514: the key lies outside of the range that is replaced, FROM (''2024-01-02 00:00:00'') TO (''2024-01-03 00:00:00'')'], 'of the rows that a condition leaves');
SELECT is(pg_temp.told('days', :'range'::jsonb || '{"where_clause": "n BETWEEN 0 AND 1439"}', '{cause,error,warning}'), NULL, 'none are left');
SELECT results_eq(format($$SELECT name, rows FROM fast_copy_analyze('days', current_setting('fc.file'), options => %L) WHERE item = 'rows'$$, :'range'),
	$$VALUES ('accepted', 1440::bigint), ('filtered', 0), ('bad', 30)$$, 'they count as bad');
SELECT results_eq(format($$SELECT name, rows, low, high, detail FROM fast_copy_analyze('days', current_setting('fc.file'), options => %L) WHERE item IN ('key', 'partition')$$, :'range'),
	$$VALUES ('k', 1470::bigint, '2024-01-01 23:40:00', '2024-01-03 00:09:00', NULL), ('days_p20240101', 20, '2024-01-01 23:40:00', '2024-01-01 23:59:00', 'outside of the range that is replaced'),
		('days_p20240102', 1440, '2024-01-02 00:00:00', '2024-01-02 23:59:00', 'exists, its rows within the range are replaced'),
		('days_p20240103', 10, '2024-01-03 00:00:00', '2024-01-03 00:09:00', 'outside of the range that is replaced')$$, '... and stand in the ranges of keys');
SELECT is((pg_temp.failed('days', :'range'))[1:2], '{23514,"key \"2024-01-01 23:40:00\" lies outside of the range that is replaced"}', 'a load ends at the first');
SELECT pg_temp.write('{",1","2024-01-02,2"}') \g /dev/null
SELECT is(pg_temp.told('plain', :'range'::jsonb || '{"timestamp_column": "k"}', '{cause}'), ARRAY['k, 1, 1: 23514: the key lies outside of the range that is replaced, FROM (''2024-01-02 00:00:00'') TO (''2024-01-03 00:00:00'')'], 'a row without a key');

-- ... rows that no partition takes, where a load would reject them
CREATE TABLE few (k int, n int) PARTITION BY RANGE (k);
CREATE TABLE few_1 PARTITION OF few FOR VALUES FROM (0) TO (10);
CREATE TABLE few_listed (k int, n int) PARTITION BY LIST (k);
CREATE TABLE few_listed_1 PARTITION OF few_listed FOR VALUES IN (1, 2);
CREATE TABLE few_listed_rest PARTITION OF few_listed DEFAULT;
CREATE TABLE few_ranges (k int, n int) PARTITION BY RANGE (k);
CREATE TABLE few_part PARTITION OF few_ranges FOR VALUES FROM (0) TO (10);
SELECT pg_temp.write('{"1,1","x,2","11,3","2,4",",5"}') \g /dev/null
SELECT unnest(ARRAY[is((SELECT array_agg(rows ORDER BY name) FROM fast_copy_analyze(target, :'file', options => options) WHERE item = 'rows'), ARRAY[2, 3, 0]::bigint[], format('rows that %s does not take, %s', target, options)),
	is(fast_copy(target, :'file', options => options || '{"log_verbosity": "silent"}'), 2::bigint, '... as loaded')])
	FROM unnest('{few,few_listed,few_part}'::regclass[]) AS target, unnest(ARRAY['{"workers": 0}', '{"workers": 2}']::jsonb[]) AS w, LATERAL (SELECT w || '{"on_error": "ignore", "on_error_classes": ["conversion", "no_partition"], "missing_partitions": "error"}' AS options) AS o;

-- 2. Too few rows
SELECT pg_temp.file($$SELECT timestamp '2024-01-02' + g * interval '10 min', g FROM generate_series(0, 200) AS g$$) \g /dev/null
SELECT matches(array_to_string(pg_temp.told('days', '{"existing_rows": "replace"}'), '|'),
	'^existing_rows: partition "days_p20240103" of (about )?144 rows would be replaced by 57 rows: With min_replace_ratio 0.5 [^|]* 72\. If the file has all rows [^|]*$', 'too few rows for a partition');
SELECT matches((pg_temp.failed('days', '{"existing_rows": "replace"}'))[2], '^partition "days_p20240103" of (about )?144 rows would be replaced by 57 rows', '... for the load, too');
SELECT matches(array_to_string(pg_temp.told('plain', '{"existing_rows": "replace"}'), '|'),
	'^existing_rows: table "plain" of (at least )?\d+ rows would be replaced by 201 rows: With min_replace_ratio 0.5 [^|]* \d+\. If the file has all rows [^|]*$', 'too few for a table');
SELECT matches((pg_temp.failed('plain', '{"existing_rows": "replace"}'))[2], '^table "plain" of (at least )?\d+ rows would be replaced by 201 rows', '... for the load, too');
SELECT is(array_length(pg_temp.told('days', '{"existing_rows": "replace", "min_replace_ratio": 1.1}'), 1), 2, 'of each partition');
SELECT is(pg_temp.told('days', '{"existing_rows": "replace", "min_replace_ratio": 0.3}'), NULL, 'nothing of those that are enough');
SELECT is(pg_temp.told('plain', '{"existing_rows": "replace", "min_replace_ratio": 0}'), NULL, '... for any ratio');
SELECT is(pg_temp.told('days', '{"existing_rows": "keep"}'), NULL, '... and where rows stay');

-- 3. What cannot be replaced or merged at all
SELECT is(pg_temp.told('days', '{"existing_rows": "merge"}'), NULL, 'rows can be merged');
SELECT is(pg_temp.told('plain', '{"existing_rows": "merge", "timestamp_column": "k"}'), NULL, '... of a plain table, too');
ALTER TABLE days_p20240102 ADD UNIQUE (n) DEFERRABLE;
SELECT is(pg_temp.told('days', '{"existing_rows": "merge"}'), ARRAY['existing_rows: cannot merge rows into table "days_p20240102": Its rows cannot be written anew: a partition has a constraint that can be deferred. Use on_conflict, for which the table needs a unique index, or existing_rows "keep", which adds the rows of the file.'], '... and cannot');
SELECT is((pg_temp.failed('days', '{"existing_rows": "merge"}'))[1:2], '{0A000,"cannot merge rows into table \"days_p20240102\""}', '... for the load, too');
ALTER TABLE days_p20240102 DROP CONSTRAINT days_p20240102_n_key;
ALTER TABLE plain ADD UNIQUE (n) DEFERRABLE;
SELECT is((SELECT detail FROM fast_copy_analyze('plain', current_setting('fc.file')) WHERE name = 'serial'), 'Rows are loaded one by one, as COPY does: the target has a constraint that can be deferred.', 'which is no trigger');
ALTER TABLE plain DROP CONSTRAINT plain_n_key;
SELECT is((pg_temp.failed('listed', '{"existing_rows": "merge"}'))[2:4],
	'{"cannot tell which partitions of table \"listed\" would be merged","Whole partitions are merged where the table is partitioned by range over one column that the file has.","Use on_conflict, for which the table needs a unique index."}', 'other partitions');

-- 4. Room for locks
CREATE TABLE many (k int NOT NULL) PARTITION BY RANGE (k);
SET LOCAL fast_copy.max_partitions = 1000000;
SELECT pg_temp.file(format('SELECT generate_series(1, %s)', current_setting('max_locks_per_transaction')::int * (current_setting('max_connections')::int + 200) / 3)) \g /dev/null
SELECT matches((pg_temp.told('many', '{"partition_interval": "1"}', '{warning}', 'partitions'))[1], '^partitions: cannot create [\d,]+ partitions in one transaction: They need [\d,]+ locks, and the lock table has room for [\d,]+\. Use a longer partition_interval, or increase max_locks_per_transaction\.$', 'no room for locks');
SELECT matches((pg_temp.failed('many', '{"partition_interval": "1"}'))[2], '^cannot create [\d,]+ partitions in one transaction$', '... for the load, too');

-- 5. Rows that reference those that are replaced
CREATE TABLE ids (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE ids_1 PARTITION OF ids FOR VALUES FROM (0) TO (100);
CREATE TABLE ids_2 PARTITION OF ids FOR VALUES FROM (100) TO (200);
CREATE TABLE "Kids" (id int REFERENCES ids ON DELETE CASCADE);
CREATE TABLE nulls (id int REFERENCES ids_1 ON DELETE SET NULL);
CREATE TABLE strict (id int REFERENCES ids);
INSERT INTO ids SELECT g, 'old' FROM generate_series(0, 199) AS g;
SELECT pg_temp.file($$SELECT g, 'new' FROM generate_series(0, 199) AS g$$) \g /dev/null
INSERT INTO "Kids" VALUES (7), (107);
INSERT INTO nulls VALUES (8);
\set notice 'foreign keys: rows that reference replaced rows of table "ids" are deleted or changed: Foreign keys reference them from public."Kids" (ON DELETE CASCADE), public.nulls (ON DELETE SET NULL). If the file has the same keys again, on_conflict "update" leaves those rows as they are: it deletes none.'
SELECT is(pg_temp.told('ids', '{"existing_rows": "replace"}', '{warning}', 'foreign'), ARRAY[:'notice'], 'an analysis tells of rows that go, too');
SELECT is(pg_temp.told('ids', '{"existing_rows": "replace", "replace_from": 0, "replace_to": 200}', '{warning}', 'foreign'), ARRAY[:'notice'], '... with a range');
SELECT is(pg_temp.told('ids', '{"on_conflict": "update"}', '{warning}', 'foreign'), NULL, '... and of none with on_conflict');
SAVEPOINT nothing;
SELECT is(pg_temp.failed('ids', '{"on_conflict": "update"}'), NULL, 'on_conflict');
SELECT is((SELECT array_agg(id ORDER BY id) FROM (TABLE "Kids" UNION ALL TABLE nulls) AS q) || (SELECT count(*)::int FROM ids WHERE v = 'new'), '{7,8,107,200}', '... leaves them');
ROLLBACK TO nothing;
SELECT is(pg_temp.failed('ids', '{"existing_rows": "replace"}'), NULL, 'a replace');
SELECT is((SELECT array_agg(id ORDER BY id) FROM (TABLE "Kids" UNION ALL TABLE nulls) AS q), '{NULL}', '... deletes and changes them');
INSERT INTO strict VALUES (9);
\set hint 'If the file has the same keys again, use on_conflict "update", which deletes no rows; or, unless the constraint is ON DELETE RESTRICT, make it DEFERRABLE INITIALLY DEFERRED, so that it is checked at commit.'
SELECT is((pg_temp.failed('ids', '{"existing_rows": "replace"}'))[1] || ' ' || (pg_temp.failed('ids', '{"existing_rows": "replace"}'))[4], '23503 ' || :'hint', 'a row that stays refuses the load, with a hint');
SELECT is(pg_temp.failed('ids', '{"on_conflict": "update"}'), NULL, '... that works');
ALTER TABLE strict ALTER CONSTRAINT strict_id_fkey DEFERRABLE INITIALLY DEFERRED;
SELECT is(pg_temp.failed('ids', '{"existing_rows": "replace"}'), NULL, '... both ways');
SELECT lives_ok('SET CONSTRAINTS ALL IMMEDIATE', '... as the check at the end says');
SELECT pg_temp.file($$SELECT g, 'newer' FROM generate_series(0, 199) AS g WHERE g <> 9$$) \g /dev/null
SET CONSTRAINTS ALL DEFERRED;
SELECT is(pg_temp.failed('ids', '{"existing_rows": "replace"}'), NULL, 'a key that does not come again');
SELECT throws_ok('SET CONSTRAINTS ALL IMMEDIATE', '23503', NULL, '... is found then');

SELECT * FROM finish();
ROLLBACK;
