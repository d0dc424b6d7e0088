-- Where core's CopyFrom loads, each option of options/list.h means what it means
-- elsewhere, or is refused: never passed over.  The list says which.
--
-- Without effect there, as the NOTICE about core's COPY says: timestamp_column, which tells
-- the partitions but not the order of rows; workers.  compressed is COPY's
-- alone, and about the client's bytes (test/t/014_streams.pl).

\set name core_options
\ir begin.psql
SELECT fast_copy_create_reject_table('core_rejects') AS t, fast_copy_create_ledger_table('core_ledger') \g /dev/null
CREATE TABLE core_refs (n int);

-- The table of a load: why core has to load it, or ''
CREATE FUNCTION pg_temp.make(name text, kind text, why text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
	EXECUTE format('CREATE TABLE %I (k timestamp, n int CHECK (n < 90), t text DEFAULT ''none'' NOT NULL, d numeric)%s', name,
		CASE kind WHEN 'plain' THEN '' WHEN 'list' THEN ' PARTITION BY LIST (n)' WHEN 'two' THEN ' PARTITION BY RANGE (k, n)' ELSE ' PARTITION BY RANGE (k)' END);
	IF kind IN ('days', 'default') THEN
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (''2024-01-01'') TO (''2024-01-02'')', name || '_1', name);
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (''2024-01-02'') TO (''2024-01-03'')', name || '_2', name);
	ELSIF kind = 'list' THEN
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (1, 2, 3)', name || '_1', name);
	ELSIF kind = 'two' THEN
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (''2024-01-01'', 1) TO (''2024-01-03'', 1)', name || '_1', name);
	END IF;
	IF kind IN ('default', 'list', 'two') THEN
		EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', name || '_rest', name);
	END IF;
	EXECUTE format('CREATE UNIQUE INDEX ON %I (k, n)', name);
	EXECUTE format('INSERT INTO %I VALUES (''2024-01-01'', 1, ''old'', 0)%s', name, CASE WHEN kind IN ('list', 'two') THEN '' ELSE ', (''2024-01-02'', 2, ''old'', 0), (''2024-01-02'', 3, ''old'', 0)' END);
	IF why = 'trigger' THEN
		EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', name);
	ELSIF why = 'trigger of a partition' THEN
		EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION pg_temp.same()', name || CASE kind WHEN 'plain' THEN '' WHEN 'list' THEN '_1' WHEN 'two' THEN '_1' ELSE '_2' END);
	ELSIF why = 'deferrable key' THEN
		EXECUTE format('ALTER TABLE %I ADD UNIQUE (n, k, d) DEFERRABLE', name);
	END IF;
END
$$;

CREATE TABLE cases (i serial, option text, options text, lines text[], kind text DEFAULT 'days', refused text);
-- the same as where fast_copy loads
INSERT INTO cases (option, options, lines) VALUES
	('timestamp_column', '{"timestamp_column": "k"}', '{"2024-01-02 10:00,5,b,1","2024-01-01 10:00,4,a,1"}'),
	('columns', '{"columns": ["n", "k"]}', '{"5,2024-01-02 10:00"}'),
	('format', '{"format": "text"}', E'{"2024-01-02 10:00\t5\tb\\\\t\t1"}'),
	('header', '{"header": true}', '{"a,b,c,d","2024-01-02 10:00,5,b,1"}'),
	('header', '{"header": 2}', '{"a,b,c,d",x,"2024-01-02 10:00,5,b,1"}'),
	('header', '{"header": "match"}', '{"a,b,c,d","2024-01-02 10:00,5,b,1"}'),
	('header', '{"header": "map"}', '{"t,K","b,2024-01-02 10:00"}'),
	('ignore_extra_columns', '{"header": "map", "ignore_extra_columns": true}', '{"x,k,n","b,2024-01-02 10:00,5"}'),
	('delimiter', '{"delimiter": ";"}', '{"2024-01-02 10:00;5;b,b;1"}'),
	('delimiter', '{"delimiter": "||"}', '{"2024-01-02 10:00||5||b|b||1"}'),
	('null_string', '{"null_string": "NA"}', '{"2024-01-02 10:00,NA,b,NA"}'),
	('quote', '{"quote": "!"}', '{"2024-01-02 10:00,!5!,!b,b!,1"}'),
	('quote', '{"quote": "none"}', E'{"2024-01-02 10:00,5,\\"b,1"}'),
	('escape', '{"format": "text", "escape": "none"}', E'{"2024-01-02 10:00\t5\tb\\\\\t1"}'),
	('escape', E'{"escape": "!"}', E'{"2024-01-02 10:00,5,\\"b!\\",b\\",1"}'),
	('force_not_null', '{"force_not_null": ["t"]}', '{"2024-01-02 10:00,5,,1"}'),
	('force_null', '{"force_null": ["d"]}', '{"2024-01-02 10:00,5,a,\"\""}'),
	('default_string', '{"default_string": "#"}', '{"2024-01-02 10:00,5,#,1"}'),
	('encoding', '{"encoding": "LATIN1"}', '{"2024-01-02 10:00,5,é,1"}'),
	('where_clause', '{"where_clause": "n % 2 = 1"}', '{"2024-01-02 10:00,5,b,1","2024-01-02 10:00,6,b,1","2025-01-02,6,b,1"}'),
	('timestamp_format', '{"timestamp_format": "epoch_s"}', '{"1704189600,5,b,1"}'),
	('time_zone', '{"timestamp_format": "epoch_s", "time_zone": "America/New_York"}', '{"1704189600,5,b,1"}'),
	('partition_interval', '{"partition_interval": "1 month"}', '{"2024-02-02 10:00,5,b,1","2024-01-02 10:00,5,b,1"}'),
	('on_error', '{"on_error": "ignore"}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,6,b,1"}'),
	('on_error', '{"on_error": "set_null"}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,6,b,1"}'),
	('on_error_classes', '{"on_error": "ignore", "on_error_classes": ["conversion", "missing_columns", "extra_columns", "encoding"]}', '{"2024-01-02 10:00,x,b,1",1,"2024-01-02 10:00,6,b,1","2024-01-02 10:00,7,b,1,2"}'),
	('reject_limit', '{"on_error": "ignore", "reject_limit": 1}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,y,b,1"}'),
	('reject_limit', '{"on_error": "ignore", "reject_limit": 2}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,y,b,1"}'),
	('reject_table', '{"on_error": "ignore", "reject_table": "core_rejects"}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,6,b,1"}'),
	('log_verbosity', '{"on_error": "ignore", "log_verbosity": "silent"}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,6,b,1"}'),
	('run_analyze', '{"run_analyze": true}', '{"2024-01-02 10:00,5,b,1"}'),
	('progress', '{"progress": "1s"}', '{"2024-01-02 10:00,5,b,1"}'),
	('workers', '{"workers": 2}', '{"2024-01-02 10:00,5,b,1"}'),
	('program', '{"program": true}', '{"2024-01-02 10:00,5,b,1"}'),
	('remote_commit', '{"remote_commit": "auto"}', '{"2024-01-02 10:00,5,b,1"}'),
	('remote_commit', '{"remote_commit": "two_phase"}', '{"2024-01-02 10:00,5,b,1"}'),
	('nodes', '{"nodes": ["here"]}', '{"2024-01-02 10:00,5,b,1"}'),
	('existing_rows', '{"existing_rows": "replace"}', '{"2024-01-02 10:00,5,b,1"}'),
	('min_replace_ratio', '{"existing_rows": "replace", "min_replace_ratio": 0.6}', '{"2024-01-02 10:00,5,b,1"}'),
	('replace_method', '{"existing_rows": "replace", "replace_method": "delete"}', '{"2024-01-02 10:00,5,b,1"}'),
	('replace_from', '{"existing_rows": "replace", "replace_from": "2024-01-01", "replace_to": "2024-01-03"}', '{"2024-01-02 10:00,5,b,1"}'),
	('replace_to', '{"existing_rows": "replace", "replace_from": "2024-01-01", "replace_to": "2024-01-02"}', '{"2024-01-02 10:00,5,b,1"}'),
	('on_conflict', '{"on_conflict": "update", "dedup_keys": ["k", "n"]}', '{"2024-01-02,2,new,1","2024-01-02,9,new,1"}'),
	('on_conflict', '{"on_conflict": "nothing", "dedup_keys": ["k", "n"]}', '{"2024-01-02,2,new,1","2024-01-02,9,new,1"}'),
	('dedup_keys', '{"on_conflict": "update", "dedup_keys": ["t", "n"]}', '{"2024-01-02,2,new,1"}'),
	('dedup_keep', '{"on_conflict": "update", "dedup_keys": ["k", "n"], "dedup_keep": "first"}', '{"2024-01-02,2,new,1","2024-01-02,2,last,1"}'),
	('dedup_order', '{"on_conflict": "update", "dedup_keys": ["k", "n"], "dedup_order": ["d"]}', '{"2024-01-02,2,new,2","2024-01-02,2,last,1"}'),
	('delete_where', '{"on_conflict": "update", "dedup_keys": ["k", "n"], "delete_where": "t = ''gone''"}', '{"2024-01-02,2,gone,1","2024-01-02,9,new,1"}'),
	('ledger', '{"ledger": "core_ledger"}', '{"2024-01-02 10:00,5,b,1"}'),
	('label', '{"ledger": "core_ledger", "program": true, "label": "this"}', '{"2024-01-02 10:00,5,b,1"}'),
	('changed_files', '{"ledger": "core_ledger", "changed_files": "load"}', '{"2024-01-02 10:00,5,b,1"}'),
	('other_files', '{"ledger": "core_ledger", "existing_rows": "replace", "other_files": "replace"}', '{"2024-01-02 10:00,5,b,1"}'),
	('notify_channel', '{"ledger": "core_ledger", "notify_channel": "loads"}', '{"2024-01-02 10:00,5,b,1"}'),
	('transform', '{"transform": {"t": "upper(t) || n"}}', '{"2024-01-02 10:00,5,b,1"}'),
	('null_strings', '{"null_strings": ["-", "?"]}', '{"2024-01-02 10:00,?,b,-"}'),
	('trim_blanks', '{"trim_blanks": "unquoted"}', '{"2024-01-02 10:00, 5 , b ,1"}'),
	('number_format', '{"number_format": "1.234,56"}', '{"2024-01-02 10:00,5,b,\"1.234,5\""}'),
	('skip_empty_lines', '{"skip_empty_lines": true}', '{"2024-01-02 10:00,5,b,1","","2024-01-02 10:00,6,b,1"}'),
	('missing_columns', '{"missing_columns": "null"}', '{"2024-01-02 10:00,5,b"}'),
	('reject_limit', '{"on_error": "ignore", "reject_limit": "50%"}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,6,b,1"}'),
	('reject_limit', '{"on_error": "ignore", "reject_limit": "49% per file"}', '{"2024-01-02 10:00,x,b,1","2024-01-02 10:00,6,b,1"}'),
	('manifest', '{"manifest": []}', '{"2024-01-02 10:00,5,b,1"}'),
	('max_records', '{"max_records": 2}', '{"2024-01-02 10:00,5,b,1","2024-01-02 10:00,6,b,1","2024-01-02 10:00,7,b,1"}'),
	('max_records', '{"max_records": 1, "comment": "#"}', '{#,"2024-01-02 10:00,5,b,1","2024-01-02 10:00,6,b,1"}'),
	('skip_footer', '{"skip_footer": "2"}', '{"2024-01-02 10:00,5,b,1","2024-01-02 10:00,6,b,1","TOTAL,2",""}'),
	('skip_footer', '{"skip_footer": "^TOTAL", "header": true}', '{"a,b,c,d","2024-01-02 10:00,5,b,1","TOTAL,2","","TOTAL,3"}'),
	('comment', '{"comment": "#"}', '{"#2024-01-02 10:00,5,b,1","2024-01-02 10:00,6,b,1","# end"}'),
	('comment', '{"comment": "#", "header": "map"}', E'{"# a, \\"b\\"","t,K","#x,2024-01-02 10:00","b,2024-01-02 10:00"}');
INSERT INTO cases (option, options, lines, kind) VALUES
	('timestamp_column', '{"timestamp_column": "k"}', '{"2024-01-02 10:00,5,b,1","2024-01-01 10:00,4,a,1"}', 'plain'),
	('freeze', '{"freeze": true}', '{"2024-01-02 10:00,5,b,1"}', 'plain'),
	('missing_partitions', '{"missing_partitions": "create"}', '{"2024-02-02 10:00,5,b,1","2024-01-02 10:00,5,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "default"}', '{"2024-02-02 10:00,5,b,1",",6,b,1","2024-01-02 10:00,5,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "error"}', '{"2024-01-02 10:00,5,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "error"}', '{"2024-01-02 10:00,5,b,1",",6,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "error"}', '{"2024-01-02 10:00,5,b,1","2024-02-02 10:00,5,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "error", "where_clause": "n < 6"}', '{"2024-01-02 10:00,5,b,1","2024-02-02 10:00,6,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "error", "existing_rows": "replace"}', '{"2024-01-02 10:00,5,b,1","2024-01-02 10:00,7,b,1","2024-02-02 10:00,6,b,1"}', 'default'),
	('missing_partitions', '{"missing_partitions": "error"}', '{"2024-01-02 10:00,5,b,1","2024-02-02 10:00,5,b,1"}', 'days'),
	('missing_partitions', '{"missing_partitions": "default"}', '{"2024-01-02 10:00,5,b,1","2024-01-02 10:00,2,b,1"}', 'list');
-- refused
INSERT INTO cases (option, options, lines, kind, refused) VALUES
	('order_by', '{"order_by": ["n"]}', '{"2024-01-02 10:00,5,b,1"}', 'days', 'cannot load rows in the order of order_by here'),
	('order_by', '{"order_by": ["n"]}', '{"2024-01-02 10:00,5,b,1"}', 'plain', 'cannot load rows in the order of order_by here'),
	('on_error_classes', '{"on_error": "ignore", "on_error_classes": ["check"]}', '{"2024-01-02 10:00,99,b,1"}', 'days', 'cannot tolerate violated constraints or missing partitions here'),
	('on_error_classes', '{"on_error": "ignore", "on_error_classes": ["not_null"]}', '{"2024-01-02 10:00,9,,1"}', 'days', 'cannot tolerate violated constraints or missing partitions here'),
	('on_error_classes', '{"on_error": "ignore", "on_error_classes": ["no_partition"]}', '{"2024-01-02 10:00,9,b,1"}', 'days', 'cannot tolerate violated constraints or missing partitions here'),
	('on_error_classes', '{"on_error": "ignore", "on_error_classes": ["unique"], "order_by": ["k", "n"]}', '{"2024-01-02 10:00,9,b,1"}', 'plain', 'cannot load rows in the order of order_by here'),
	('on_error_classes', '{"on_error": "ignore", "on_error_classes": ["unique"]}', '{"2024-01-02 10:00,9,b,1"}', 'plain', 'cannot tolerate violated constraints or missing partitions here'),
	('existing_rows', '{"existing_rows": "merge"}', '{"2024-01-02 10:00,9,b,1"}', 'days', 'cannot merge rows into table "got'),
	('missing_partitions', '{"missing_partitions": "error"}', '{"2024-01-02 10:00,1,b,1"}', 'list', 'missing_partitions "error" cannot be used for table "got" here'),
	('missing_partitions', '{"missing_partitions": "error"}', '{"2024-01-02 10:00,1,b,1"}', 'two', 'missing_partitions "error" cannot be used for table "got" here'),
	('missing_partitions', '{"missing_partitions": "error", "on_conflict": "update", "dedup_keys": ["k", "n"]}', '{"2024-01-02 10:00,1,b,1"}', 'list', 'missing_partitions "error" cannot be used for table "got" here');

-- What a load has done: rows, or its error
CREATE FUNCTION pg_temp.outcome(name text, lines text[], options text, why text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	loaded text;
	rows text;
BEGIN
	EXECUTE format('COPY (SELECT nullif(line, '''') FROM unnest(%L::text[]) WITH ORDINALITY AS u(line, n) ORDER BY n) TO %L (FORMAT csv, QUOTE E''\x01'', DELIMITER E''\x02''%s)', lines, current_setting('fc.file'),
		CASE WHEN options ~ 'LATIN1' THEN ', ENCODING ''LATIN1''' ELSE '' END);
	BEGIN
		SELECT fast_copy(name, CASE WHEN options ~ '"program"' THEN 'cat ' ELSE '' END || current_setting('fc.file'), options => options::jsonb) INTO loaded;
	EXCEPTION WHEN OTHERS THEN
		loaded := SQLSTATE || ' ' || SQLERRM;
	END;
	IF (why <> '') <> (EXISTS (SELECT FROM fast_copy_report() WHERE choice ~ 'core''s COPY')) AND loaded ~ '^\d+$' AND options !~ 'on_conflict' THEN
		RAISE '% has another way than is meant, for "%"', options, why;
	END IF;
	EXECUTE format('SELECT string_agg(format(''%%s: %%s'', replace(tableoid::regclass::text, %1$L, ''''), r), ''; '' ORDER BY r::text, tableoid::regclass::text) FROM %1$I AS r', name) INTO rows;
	RETURN replace(loaded, name, 'got') || ': ' || rows || (SELECT format('; %s rejects, %s in the ledger, statistics: %s', (SELECT count(*) FROM core_rejects), (SELECT count(*) FROM core_ledger),
		(SELECT bool_or(reltuples > 0) FROM pg_class WHERE relname ~ ('^' || name) AND options ~ 'run_analyze')));
END
$$;

CREATE FUNCTION pg_temp.outcome_of(one cases, why text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome text;
BEGIN
	-- the ledger and the rejects go back, too
	PERFORM pg_temp.make('got', one.kind, why);
	BEGIN
		outcome := pg_temp.outcome('got', one.lines, one.options, why);
		RAISE EXCEPTION 'undone';
	EXCEPTION WHEN raise_exception THEN
		IF SQLERRM <> 'undone' THEN
			RAISE;
		END IF;
	END;
	RETURN outcome;
END
$$;

CREATE TABLE outcomes AS SELECT c.*, w AS why, pg_temp.outcome_of(c, w) AS outcome FROM cases AS c, unnest('{"",trigger,"trigger of a partition","deferrable key"}'::text[]) AS w;
SELECT plan((SELECT count(*)::int FROM outcomes WHERE why <> '') + 9);
SELECT is(CASE WHEN got.refused IS NULL THEN got.outcome ELSE left(got.outcome, 6 + length(got.refused)) END, CASE WHEN got.refused IS NULL THEN own.outcome ELSE '0A000 ' || got.refused END,
	format('%s, %s: %s', got.options, got.kind, got.why))
FROM outcomes AS got JOIN outcomes AS own USING (i) WHERE got.why <> '' AND own.why = '' ORDER BY i, got.why;

-- freeze is not for functions, in which the loads above are
CREATE EXTENSION pageinspect;
SELECT pg_temp.make('got', 'plain', 'trigger') \g /dev/null
TRUNCATE got;
SELECT pg_temp.write('{"2024-01-02,5,b,1"}') \g /dev/null
SELECT fast_copy('got', :'file', freeze => true) \g /dev/null
SELECT is((SELECT bool_and((i.t_infomask & 768) = 768) FROM heap_page_items(get_raw_page('got', 0)) AS i), true, 'freeze');

-- What is left out is counted where core loads, too, whatever it is fed, and not what a
-- trigger keeps back
CREATE TABLE cores (k int, n int, g int);
CREATE FUNCTION keeps_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN NEW.n % 5 > 0 THEN NEW END; END $$;
CREATE TRIGGER keeps_back BEFORE INSERT ON cores FOR EACH ROW EXECUTE FUNCTION keeps_back();
CREATE FUNCTION pg_temp.left_out(call text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	loaded bigint;
BEGIN
	EXECUTE 'SELECT fast_copy(''cores'', ' || call || ')' INTO loaded;
	RETURN (SELECT array_agg(concat_ws(' ', phase, rows, filtered, rejected) ORDER BY phase) FROM fast_copy_report() WHERE phase IN ('copy', 'total'));
END
$$;
SELECT pg_temp.shell(format('for i in $(seq 100); do echo $i,$i,1; done >%1$s.cores; (echo; sed "s/^7,/x,/; 20G" %1$s.cores) >%1$s.lines; cp %1$s.cores %1$s.copy', :'file')) \g /dev/null
SELECT is(pg_temp.left_out(format(call, :'file')), ARRAY['copy ' || counts, 'total ' || counts], call) FROM (VALUES
	($c$'%s.cores'$c$, '80 0 0'),
	($c$'%s.cores', where_clause => 'n > 10'$c$, '72 10 0'),
	($c$'%s.cores', where_clause => 'n > 10', on_error => 'ignore'$c$, '72 10 0'),
	($c$'%s.lines', where_clause => 'n > 10', on_error => 'ignore', options => '{"skip_empty_lines": true}'$c$, '72 11 1'),
	($c$ARRAY['%1$s.cores', '%1$s.copy'], where_clause => 'n > 10'$c$, '144 20 0'),
	($c$ARRAY['%1$s.cores', '%1$s.copy'], where_clause => 'nullif(n > 10, false)', time_zone => 'UTC'$c$, '144 20 0'),
	($c$'%s.cores', where_clause => 'false'$c$, '0 100 0')) AS v (call, counts);

-- all options are in the list
SELECT is((SELECT array_agg(o) FROM unnest(string_to_array(substring((pg_temp.failure('SELECT fast_copy(''core_refs'', ''/nowhere'', options => ''{"qqqqqqqqqq": 1}'')'))[4] FROM 'Options are (.*)\.'), ', ')) AS o
	WHERE o NOT IN (SELECT option FROM cases)), NULL, 'all options');

SELECT * FROM finish();
ROLLBACK;
