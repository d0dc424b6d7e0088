-- Many partitions made by one load: ATTACH is left out after the first.  What
-- the table does afterwards, in the same session and transaction, is what it
-- does with partitions that were attached one by one; and the work grows with
-- their number, not with its square.

\set name attach_many
\ir begin.psql
SET LOCAL datestyle = 'ISO';
SELECT plan(16);

CREATE TABLE many (d date NOT NULL, n int DEFAULT 7, t text, CHECK (n > 0), PRIMARY KEY (d, n)) PARTITION BY RANGE (d);
CREATE TABLE many_rest PARTITION OF many DEFAULT;
INSERT INTO many VALUES ('1990-01-01', 1, 'rest');
-- every other day, so that the bounds do not melt into one
DO $$
BEGIN
	EXECUTE format('COPY (SELECT date ''2000-01-01'' + 2 * i, i, ''row '' || i FROM generate_series(1, 200) i) TO %L (FORMAT csv)',
				   current_setting('fc.file'));
END
$$;

SELECT pg_stat_get_xact_tuples_returned('pg_inherits_parent_index'::regclass) AS before \gset
SELECT is(fast_copy('many', current_setting('fc.file'), partition_interval => '1 day'), 200::bigint, 'rows loaded');
SELECT cmp_ok(pg_stat_get_xact_tuples_returned('pg_inherits_parent_index'::regclass) - :before,
			  '<', 2000::bigint, 'partitions are not looked up again for each one');
SELECT is((SELECT choice FROM fast_copy_report() WHERE phase = 'attach'), '200 attached', 'all in one go');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'many'::regclass), 201::bigint, 'each has its partition');

SELECT is((SELECT count(*) FROM many), 201::bigint, 'all rows are seen in the same transaction');
SELECT results_eq('SELECT d, n, t, tableoid::regclass::text FROM many WHERE d = ''2001-02-02''',
				  $$VALUES (date '2001-02-02', 199, 'row 199', 'many_p20010202')$$, 'the planner finds the partition');
INSERT INTO many VALUES ('2001-02-02', 5, 'new'), ('2001-02-03', 5, 'rest');
SELECT results_eq('SELECT tableoid::regclass::text FROM many WHERE n = 5 AND t IN (''new'', ''rest'') ORDER BY 1',
				  ARRAY['many_p20010202', 'many_rest'], 'new rows are routed');
SELECT throws_ok($$INSERT INTO many VALUES ('2001-02-02', 199)$$, '23505', NULL, 'keys hold');
SELECT throws_ok($$INSERT INTO many VALUES ('2001-02-02', -1)$$, '23514', NULL, 'and so do conditions');
SELECT throws_ok($$INSERT INTO many_rest VALUES ('2001-01-31')$$, '23514', NULL,
				 'the default partition takes no row of the last of the new partitions');
SELECT throws_ok($$INSERT INTO many_p20010131 VALUES ('2001-02-02')$$, '23514', NULL, 'nor does another partition');
SELECT throws_ok('ALTER TABLE many_p20010131 DROP COLUMN t', '42P16', NULL, 'columns are inherited');
SELECT throws_ok('DROP INDEX many_p20010131_pkey', '2BP01', NULL, 'and indexes are');

ALTER TABLE many DROP CONSTRAINT many_n_check, ADD COLUMN z int;
SELECT is((SELECT count(*) FROM pg_attribute a JOIN pg_inherits ON inhrelid = attrelid
		   WHERE inhparent = 'many'::regclass AND attname = 'z'), 201::bigint, 'a new column goes to all partitions');
SELECT is_empty('SELECT 1 FROM pg_constraint WHERE conname = ''many_n_check''', 'a dropped condition is dropped in all');
DROP TABLE many;
SELECT is_empty('SELECT 1 FROM pg_class WHERE relname LIKE ''many\_p%''', 'partitions go with the table');
SELECT * FROM finish();
ROLLBACK;
