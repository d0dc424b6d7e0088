-- Contexts of errors and notices say what the load was doing, and never show a
-- command that fast_copy has made up.

\set name contexts
\ir begin.psql
SELECT plan(16);

-- Lines of the context that are not of this file's functions
CREATE FUNCTION pg_temp.own_lines(context text) RETURNS text LANGUAGE sql AS $$
	SELECT replace(string_agg(line, '; ' ORDER BY n), current_setting('fc.file'), 'FILE') FROM regexp_split_to_table(context, '\n') WITH ORDINALITY AS l (line, n)
	WHERE line !~ '^(SQL statement "SELECT fast_copy|PL/pgSQL function pg_temp\S*\.failure|SQL function "context_of")'
$$;
CREATE FUNCTION pg_temp.context_of(tab text, options text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(': ', f[2], pg_temp.own_lines(f[9])) FROM pg_temp.failure(format('SELECT fast_copy(%L, %L, options => %L)', tab, current_setting('fc.file'), options)) AS f
$$;
CREATE TABLE seen (context text);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	GET DIAGNOSTICS context = PG_CONTEXT;
	IF TG_ARGV[0] = 'fail' THEN
		RAISE 'refused';
	END IF;
	INSERT INTO seen VALUES (context);
	RETURN coalesce(NEW, OLD);
END
$$;
CREATE TABLE got (at date, id int, v text, w int UNIQUE, PRIMARY KEY (at, id));
INSERT INTO got VALUES ('2024-01-01', 1, 'old', 7);
SELECT pg_temp.write('{"2024-01-01,2,new,7"}') \g /dev/null

-- upserts
SELECT is(pg_temp.context_of('got', '{"on_conflict": "update"}'), 'duplicate key value violates unique constraint "got_w_key": fast_copy got, file "FILE", line 1: "2024-01-01,2,new,7"', 'an index refuses a row of a stage');
SELECT pg_temp.shell('cp ' || :'file' || ' ' || :'file' || '.more && chmod 644 ' || :'file' || '.more') \g /dev/null
CREATE TRIGGER tell BEFORE INSERT ON got FOR EACH ROW EXECUTE FUNCTION tell('fail');
SELECT is(pg_temp.context_of('got', '{"on_conflict": "update"}'), 'refused: PL/pgSQL function tell() line 7 at RAISE; fast_copy got, file "FILE", line 1: "2024-01-01,2,new,7"', 'a trigger refuses it');
SELECT is((SELECT pg_temp.own_lines(f[9]) FROM pg_temp.failure(format('SELECT fast_copy(''got'', ARRAY[%L, %L], options => ''{"on_conflict": "update"}'')', :'file', :'file' || '.more')) AS f), 'PL/pgSQL function tell() line 7 at RAISE; fast_copy got, file "FILE", line 1: "2024-01-01,2,new,7"', 'of several files');
DROP TRIGGER tell ON got;
CREATE TRIGGER tell BEFORE INSERT OR DELETE ON got FOR EACH ROW EXECUTE FUNCTION tell('tell');
SELECT pg_temp.write('{"2024-01-01,2,new,8"}') \g /dev/null
SELECT is(fast_copy('got', :'file', options => '{"on_conflict": "update"}'), 1::bigint, 'loaded');
SELECT is((SELECT string_agg(pg_temp.own_lines(context), ' + ') FROM seen), 'PL/pgSQL function tell() line 5 at GET DIAGNOSTICS; fast_copy got, file "FILE", a row that was read', 'as notices see it');

-- rows that are replaced
TRUNCATE seen;
SELECT is(fast_copy('got', :'file', options => '{"existing_rows": "replace"}'), 1::bigint, 'replaced');
SELECT is((SELECT string_agg(DISTINCT pg_temp.own_lines(context), ' + ') FROM seen WHERE context !~ 'line 1'), 'PL/pgSQL function tell() line 5 at GET DIAGNOSTICS; fast_copy got, rows that are replaced', 'a trigger for DELETE, as notices see it');
DROP TRIGGER tell ON got;
CREATE TRIGGER tell BEFORE DELETE ON got FOR EACH ROW EXECUTE FUNCTION tell('fail');
SELECT is(pg_temp.context_of('got', '{"existing_rows": "replace"}'), 'refused: PL/pgSQL function tell() line 7 at RAISE; fast_copy got, rows that are replaced', 'a trigger for DELETE');
CREATE TABLE refs (at date, id int, FOREIGN KEY (at, id) REFERENCES got);
INSERT INTO refs SELECT at, id FROM got;
DROP TRIGGER tell ON got;
SELECT matches(pg_temp.context_of('got', '{"existing_rows": "replace", "min_replace_ratio": 0}'), '^update or delete on table "got" violates .*: fast_copy got, rows that are replaced$', 'a foreign key');

-- tables of fast_copy's own
CREATE TABLE plain (at date, id int, v text, w int);
SELECT fast_copy_create_ledger_table('led'), fast_copy_create_reject_table('rej') \g /dev/null
ALTER TABLE led ALTER rejected SET NOT NULL;
SELECT is(pg_temp.context_of('plain', '{"ledger": "led"}'), 'null value in column "rejected" of relation "led" violates not-null constraint', 'the ledger');
SELECT pg_temp.write('{x}') \g /dev/null
ALTER TABLE rej ADD CONSTRAINT never CHECK (lineno > 1);
SELECT is(pg_temp.context_of('plain', '{"on_error": "ignore", "on_error_classes": ["missing_columns", "conversion"], "reject_table": "rej"}'), 'new row for relation "rej" violates check constraint "never"', 'rejects');

-- COPY looks behind a carriage return before it goes to the next line, and meets wrong
-- bytes there; so does a COPY that is accelerated
CREATE TABLE lines (v text, w text);
LOAD 'fast_copy';
SET LOCAL fast_copy.accelerate_min_size = 0;
SET LOCAL fast_copy.workers = 0;
CREATE FUNCTION pg_temp.context_of_copy(accelerate bool, bytes text, options text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('fast_copy.accelerate_copy', accelerate::text, true), pg_temp.shell(format('printf ''%s'' >%s', bytes, current_setting('fc.file')));
	RETURN (pg_temp.failure(format('COPY lines FROM %L (%s)', current_setting('fc.file'), options)))[9];
END
$$;
SELECT is(pg_temp.context_of_copy(true, bytes, options), pg_temp.context_of_copy(false, bytes, options), bytes || options) FROM (VALUES
	('a,b\ra,b\r\377,b\ra,b\r', 'FORMAT csv'), ('a\tb\r\377\tb\ra\tb\r', 'FORMAT text'), ('a\tb\ra\tb\r\377\tb\r', 'FORMAT text'), ('a,b\ra,\377\r', 'FORMAT csv')) AS v (bytes, options);
SELECT is(pg_temp.left_behind(), 0::bigint, 'nothing is left');

SELECT * FROM finish();
ROLLBACK;
