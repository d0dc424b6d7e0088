-- Errors tolerated: which records are rejected, what is said of them, and what
-- is loaded beside them.
\getenv srcdir PG_ABS_SRCDIR
\getenv builddir PG_ABS_BUILDDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

-- small pieces, so that several workers have something to do
SET fast_copy.chunk_size = 16;
SELECT fast_copy_create_reject_table('rej');
ALTER TABLE rej ADD id int GENERATED ALWAYS AS IDENTITY;
SELECT attname, format_type(atttypid, atttypmod), attnotnull, col_description(attrelid, attnum)
FROM pg_attribute WHERE attrelid = 'rej'::regclass AND attnum > 0 ORDER BY attnum;

-- What each number of workers loads and rejects; once if it is always the same
CREATE FUNCTION pg_temp.one(target text, name text, args text) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT fast_copy(%L, fc.path(%L), reject_table => ''rej'', %s)', target, name, args);
	n bigint;
	again bigint;
	result text[];
	state text;
	message text;
	detail text;
	context text;
BEGIN
	EXECUTE statement INTO n;
	result := ARRAY['ok, ' || n || ' rows'];
	EXECUTE format('SELECT count(*) FROM %s', target) INTO again;
	IF n <> again THEN
		result := result || ('but there are ' || again);
	END IF;
	EXECUTE format('SELECT $1 || array(SELECT ''loaded: '' || t::text FROM %s AS t ORDER BY t::text)', target)
	INTO result USING result;
	result := result || array(
		SELECT concat_ws(' ', 'rejected: line', r.lineno, 'byte', byte_offset, 'column ' || colname, class, errorcode, err_message, '[' || coalesce(r.line, raw::text) || ']')
		FROM rej AS r ORDER BY id);
	IF (SELECT count(DISTINCT (job, filename, starttime, userid, copy_tbl)) > 1 OR min(filename) <> fc.path(name) FROM rej) THEN
		result := result || 'not one job and file'::text;
	END IF;
	RAISE SQLSTATE 'FC000';
EXCEPTION
	WHEN SQLSTATE 'FC000' THEN
		RETURN result;
	WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
			detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
		result := ARRAY[state || ': ' || message];
		IF detail <> '' THEN
			result := result || ('DETAIL: ' || detail);
		END IF;
		RETURN array(SELECT replace(line, fc.path(''), '')
					 FROM unnest(result || array(
						SELECT 'CONTEXT: ' || line FROM regexp_split_to_table(context, E'\n') AS line
						WHERE line ~ '^fast_copy ')) AS line);
END
$$;
CREATE FUNCTION pg_temp.try(target text, name text, args text DEFAULT $a$on_error => 'ignore'$a$)
RETURNS SETOF text LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
	ours text[] := pg_temp.one(target, name, args || ', workers => 0');
	again text[];
	n int;
BEGIN
	FOREACH n IN ARRAY '{1,2,4}'::int[] LOOP
		again := pg_temp.one(target, name, args || format(', workers => %s', n));
		IF again <> ours THEN
			RETURN QUERY SELECT format('%s workers: ', n) || line FROM unnest(again) AS line;
		END IF;
	END LOOP;
	RETURN QUERY SELECT unnest(ours);
END
$$;

\set all 'on_error => ''ignore'', on_error_classes => ''{conversion,missing_columns,extra_columns,encoding,check,not_null,no_partition,unique}'''

CREATE TABLE plain (ts timestamp, n int, v varchar(7));
CREATE TABLE strict (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7), UNIQUE (n));
CREATE TABLE day (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7), UNIQUE (ts, n)) PARTITION BY RANGE (ts);

-- conversion alone, as COPY has it
SELECT fc.file('c.csv', '2024-01-01,1,a', '2024-01-01,x,b', '2024-01-02,2,"abc', 'def"', '2024-02-30,4,"d', 'e"', 'bad,5,d', '2024-01-06,6,too long', '2024-01-07,7,g');
SELECT pg_temp.try('plain', 'c.csv');
SELECT pg_temp.try('plain', 'c.csv', $$on_error => 'ignore', timestamp_column => 'ts'$$);
SELECT pg_temp.try('day', 'c.csv');
-- what it does not tolerate, before and behind what it does
SELECT pg_temp.try('plain', fc.file('f.csv', 'bad,1,a', '2024-01-01', '2024-01-01,x,b'));
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-03,x,a', '2024-01-02,1,a', '2024-01-01,2', '2024-01-01,x,b'));
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-03,x,a', '2024-01-02,-1,a', '2024-01-01,2'));
-- a record with two faults is of the first one's class
SELECT pg_temp.try('plain', fc.file('f.csv', 'bad,1', '2024-01-01'));
SELECT pg_temp.try('plain', fc.file('f.csv', 'bad,1', '2024-01-01'), :'all');
SELECT pg_temp.try('plain', fc.file('f.csv', 'bad,1,a,b', ''), :'all');

-- every class
SELECT fc.bytes('a.csv', convert_to(E'2024-01-01,1,a\n2024-01-01,x,b\n2024-01-02,2,"abc\ndef"\n2024-01-03,-3,c\n2024-01-03,,c\n2024-02-30,4,"d\ne"\nbad,5,d\n2024-01-05\n2024-01-05,5,e,f\n2024-01-06,6,toolong\n2024-01-07,7,g\n2024-01-07,7,again\n2024-01-08,8,', 'UTF8') || '\xff0a' || convert_to(E'2024-01-09,9,h\n,10,i\ninfinity,11,j\n', 'UTF8'));
SELECT pg_temp.try('plain', 'a.csv', :'all');
SELECT pg_temp.try('strict', 'a.csv', :'all');
SELECT pg_temp.try('strict', 'a.csv', :'all' || $$, timestamp_column => 'ts'$$);
SELECT pg_temp.try('strict', 'a.csv', :'all' || $$, timestamp_column => 'n'$$);
SELECT pg_temp.try('day', 'a.csv', :'all');
-- each of them is needed
SELECT class, left((pg_temp.one('day', 'a.csv', format('workers => 2, on_error => ''ignore'', on_error_classes => %L', array_remove(enum, class))))[1], 100)
FROM (SELECT '{conversion,missing_columns,extra_columns,encoding,check,not_null,no_partition,unique}'::text[] AS enum) AS _,
	unnest(enum) AS class;
-- any order, upper case, and what does not exist
SELECT pg_temp.try('plain', fc.file('f.csv', 'bad,1', '2024-01-01'), $$on_error => 'ignore', on_error_classes => '{Missing_Columns}'$$);
SELECT pg_temp.try('plain', 'f.csv', $$on_error => 'ignore', on_error_classes => '{nonsense}'$$);

-- NOTICEs: COPY's
SET client_min_messages = notice;
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', workers => 2);
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', log_verbosity => 'verbose', workers => 2);
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', log_verbosity => 'silent', workers => 2);
SELECT fast_copy('plain', fc.path(fc.file('f.csv', '2024-01-01,x' || repeat('y', 120) || ',a')), on_error => 'ignore', log_verbosity => 'verbose');
SELECT fast_copy('plain', fc.path(fc.file('f.csv', '2024-01-01,1,a')), on_error => 'ignore', log_verbosity => 'verbose');
SELECT fast_copy('day', fc.path('a.csv'), on_error => 'ignore', log_verbosity => 'verbose', workers => 2,
	on_error_classes => '{conversion,missing_columns,extra_columns,encoding,check,not_null,no_partition,unique}');
-- values that are mended, and those that become NULL
SELECT fast_copy('plain', fc.path(fc.bytes('m.csv', convert_to(E'2024-01-01,1,much too long\n2024-01-02,x,', 'UTF8') || '\xe9e9' || convert_to(E'y\n2024-01-03,3,seven  \n', 'UTF8'))), on_error => 'set_null',
	on_error_classes => '{conversion,replace_invalid,cut_long}', log_verbosity => 'verbose', workers => 2);
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE fires (LIKE plain);
CREATE TRIGGER fires BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION same();
SELECT fast_copy('fires', fc.path('m.csv'), on_error => 'set_null', on_error_classes => '{conversion,replace_invalid,cut_long}', log_verbosity => 'verbose');
SELECT * FROM fires ORDER BY ts;
-- those of rows before an error come before it
\set VERBOSITY terse
SELECT fast_copy('plain', fc.path(fc.file('f.csv', 'bad,1,a', '2024-01-01,x,b', '2024-01-01,1', 'bad,2,c')), on_error => 'ignore', log_verbosity => 'verbose', workers => 2);
\set VERBOSITY default
SELECT choice FROM fast_copy_report() WHERE phase = 'load';
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', where_clause => 'n > 1', workers => 2);
SELECT choice FROM fast_copy_report() WHERE phase = 'load';
TRUNCATE plain, day;

-- reject_limit: at, below and above the number
SELECT pg_temp.try('plain', 'c.csv', $$on_error => 'ignore', reject_limit => 5$$);
SELECT pg_temp.try('plain', 'c.csv', $$on_error => 'ignore', reject_limit => 4$$);
SELECT pg_temp.try('plain', 'c.csv', $$on_error => 'ignore', reject_limit => 3$$);
SELECT pg_temp.try('plain', 'c.csv', format('on_error => %L, reject_limit => %s, timestamp_column => %L', 'ignore', n, 'ts')) FROM generate_series(1, 3) AS n;
SELECT pg_temp.try('day', 'c.csv', format('on_error => %L, reject_limit => %s', 'ignore', n)) FROM generate_series(1, 3) AS n;
SELECT pg_temp.try('day', 'a.csv', :'all' || format(', reject_limit => %s', n)) FROM unnest('{1,3,6,7,10}'::int[]) AS n;
SELECT pg_temp.try('plain', fc.file('f.csv', '2024-01-01,,a'), $$on_error => 'ignore', reject_limit => 0$$);
-- an error that comes first in the file, or behind
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-03,x,a', '2024-01-02,1', '2024-01-01,y,b', '2024-01-01,z,b'), $$on_error => 'ignore', reject_limit => 2$$);
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-03,x,a', '2024-01-01,y,b', '2024-01-01,z,b', '2024-01-02,1'), $$on_error => 'ignore', reject_limit => 2$$);
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-03,x,a', '2024-01-01,y,b', '2024-01-01,-2,b', '2024-01-02,z,c'), $$on_error => 'ignore', reject_limit => 2$$);
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-03,x,a', '2024-01-01,y,b', '2024-01-02,z,c', '2024-01-01,-2,b'), $$on_error => 'ignore', reject_limit => 2$$);

-- set_null
CREATE DOMAIN small AS int CHECK (VALUE < 10);
CREATE DOMAIN needed AS int NOT NULL;
CREATE TABLE domains (a int, s small, n needed);
SELECT pg_temp.try('plain', 'c.csv', $$on_error => 'set_null'$$);
SELECT pg_temp.try('plain', 'c.csv', $$on_error => 'set_null', timestamp_column => 'ts'$$);
SELECT pg_temp.try('day', 'c.csv', $$on_error => 'set_null'$$);
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-01,1,a', 'bad,1,a'), $$on_error => 'set_null'$$);
SELECT pg_temp.try('day', 'c.csv', $$on_error => 'set_null', on_error_classes => '{conversion,not_null,no_partition}'$$);
SELECT pg_temp.try('domains', fc.file('f.csv', '1,2,3', '1,x,3', '1,11,3', 'y,12,4'), $$on_error => 'set_null'$$);
SELECT pg_temp.try('domains', fc.file('f.csv', '1,2,3', '1,2,z'), $$on_error => 'set_null'$$);
SELECT pg_temp.try('domains', fc.file('f.csv', '1,2,3', '1,11,3', '1,2,', '1,2,z'));
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'set_null', log_verbosity => 'verbose', workers => 2);
SELECT choice FROM fast_copy_report() WHERE phase = 'load';
\set VERBOSITY terse
SELECT fast_copy('day', fc.path('c.csv'), on_error => 'set_null', log_verbosity => 'verbose', workers => 2);
\set VERBOSITY default
TRUNCATE plain, day;

-- no partition: every way there is none
CREATE TABLE day_default (LIKE day) PARTITION BY RANGE (ts);
CREATE TABLE day_default_1 PARTITION OF day_default FOR VALUES FROM ('2024-01-02') TO ('2024-01-03');
CREATE TABLE day_default_d PARTITION OF day_default DEFAULT;
CREATE TABLE city (name text, n int) PARTITION BY LIST (name);
CREATE TABLE city_a PARTITION OF city FOR VALUES IN ('a') PARTITION BY RANGE (n);
CREATE TABLE city_a_1 PARTITION OF city_a FOR VALUES FROM (1) TO (10);
SELECT fc.file('p.csv', '2024-01-01,1,a', '2024-01-02,2,b', ',3,c', '2024-01-04,x,d', 'infinity,5,e');
\set nowhere 'on_error => ''ignore'', on_error_classes => ''{conversion,no_partition}'''
SELECT pg_temp.try('day', 'p.csv', :'nowhere');
SELECT pg_temp.try('day', 'p.csv', :'nowhere' || $$, missing_partitions => 'error'$$);
SELECT pg_temp.try('day_default', 'p.csv', :'nowhere');
SELECT pg_temp.try('day_default', 'p.csv', :'nowhere' || $$, missing_partitions => 'error'$$);
SELECT pg_temp.try('day_default', 'p.csv', :'nowhere' || $$, missing_partitions => 'default'$$);
SELECT pg_temp.try('day_default_1', 'p.csv', :'nowhere');
SELECT pg_temp.try('city', fc.file('f.csv', 'a,1', 'b,1', 'a,10', ',', 'a,9'), :'nowhere' || $$, missing_partitions => 'error'$$);
SELECT pg_temp.try('city', 'f.csv', :'nowhere' || $$, missing_partitions => 'error', reject_limit => 2$$);
SELECT pg_temp.try('city', 'f.csv');
SELECT pg_temp.try('city', 'f.csv', :'nowhere');

-- equal rows: the first of the file stays, also beside rows that are there
CREATE TABLE pairs (k int, g int, PRIMARY KEY (k), EXCLUDE USING btree (g WITH =));
INSERT INTO pairs VALUES (5, 50);
SELECT pg_temp.try('pairs', fc.file('f.csv', '3,30', '2,20', '3,31', '5,51', '6,50', '1,20', '7,', '8,', '2,21'), :'all');
SELECT pg_temp.try('pairs', 'f.csv', :'all' || $$, timestamp_column => 'k'$$);
SELECT pg_temp.try('pairs', 'f.csv', :'all' || $$, reject_limit => 3$$);
DROP TABLE day;
CREATE TABLE day (ts timestamp, n int NOT NULL CHECK (n > 0), v varchar(7), UNIQUE (ts, n)) PARTITION BY RANGE (ts);
CREATE TABLE day_1 PARTITION OF day FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
INSERT INTO day VALUES ('2024-01-01', 1, 'before');
SELECT pg_temp.try('day', fc.file('f.csv', '2024-01-02,1,b', '2024-01-01,2,c', '2024-01-01,1,d', '2024-01-02,1,e', '2024-01-01,2,f', '2024-01-03,1,g'), :'all');
DROP TABLE day_1;
CREATE TABLE hashed (k int UNIQUE, v text) PARTITION BY HASH (k);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT pg_temp.try('hashed', fc.file('f.csv', '1,a', '2,b', '1,c', '3,d', '2,e'), :'all');
CREATE TABLE late (k int UNIQUE DEFERRABLE INITIALLY DEFERRED);
SELECT pg_temp.try('late', fc.file('f.csv', '1', '1'), :'all');
-- foreign keys: fine for new partitions, whose checks come when they are attached
CREATE TABLE owner (k int PRIMARY KEY);
INSERT INTO owner VALUES (1);
CREATE TABLE owned (ts timestamp, k int REFERENCES owner, UNIQUE (ts, k)) PARTITION BY RANGE (ts);
SELECT pg_temp.try('owned', fc.file('f.csv', '2024-01-01,1', ',1', '2024-01-02,1'), :'nowhere');
SELECT pg_temp.try('owned', fc.file('f.csv', '2024-01-01,1', ',1', '2024-01-02,2'), :'nowhere');
SELECT pg_temp.try('owned', 'f.csv', :'all');
DROP TABLE owned, owner;
-- partial and expression indexes
CREATE TABLE partial (k int, v text);
CREATE UNIQUE INDEX ON partial (lower(v)) WHERE k > 1;
SELECT pg_temp.try('partial', fc.file('f.csv', '1,a', '1,A', '2,a', '2,A', '3,b'), :'all');

-- code that users wrote: a CHECK that is false is tolerated, one that fails is
-- not, whatever it says; inputs that fail are, and what they did is undone
CREATE TABLE log (n int);
CREATE FUNCTION picky(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF n = 13 THEN
		RAISE check_violation USING MESSAGE = 'new row violates superstition';
	END IF;
	RETURN n < 100;
END
$$;
CREATE FUNCTION nested(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO strict VALUES (NULL, -n);
	RETURN true;
END
$$;
CREATE FUNCTION logged(n int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log VALUES (n);
	IF n = 13 THEN
		RAISE data_exception USING MESSAGE = 'thirteen';
	END IF;
	RETURN n < 100;
END
$$;
CREATE TABLE picky (n int CHECK (picky(n)));
CREATE TABLE nested (n int CHECK (nested(n)));
CREATE DOMAIN logged AS int CHECK (logged(VALUE));
CREATE TYPE pair AS (a int, b int);
CREATE TABLE composed (l logged, p pair, a int[], r int4range);
SELECT pg_temp.try('picky', fc.file('f.csv', '1', '101', '2'), :'all');
SELECT pg_temp.try('picky', fc.file('f.csv', '1', '101', '13', '2'), :'all');
SELECT pg_temp.try('nested', fc.file('f.csv', '1'), :'all');
SELECT fc.file('f.csv', '1,"(1,2)","{1,2}","[1,2)"', '13,,,', '14,"(1)",,', '15,"(1,x)",,', '16,,"{1,",', '17,,"{1,y}",', '18,,,"[1"', '19,,,"[2,1]"', '101,,,', '2,,,');
SELECT pg_temp.try('composed', 'f.csv');
SELECT fast_copy('composed', fc.path('f.csv'), on_error => 'ignore');
SELECT choice FROM fast_copy_report() WHERE phase = 'load';
-- what the inputs of values that were refused did is undone, that of others
-- is not
SELECT n FROM log ORDER BY n;

-- what core loads
CREATE VIEW plain_view AS SELECT * FROM plain;
CREATE FUNCTION put() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO plain VALUES (NEW.*); RETURN NEW; END';
CREATE TRIGGER put INSTEAD OF INSERT ON plain_view FOR EACH ROW EXECUTE FUNCTION put();
SELECT pg_temp.try('plain_view', 'c.csv');

-- records that are left out take no number, as in COPY; in that of 18 those with
-- a bad value do
CREATE TABLE numbered (id serial, k int, ts timestamp);
CREATE TABLE numbered_day (LIKE numbered INCLUDING ALL) PARTITION BY RANGE (ts);
SELECT fc.file('f.csv', '1,2024-01-03', 'x,2024-01-01', '2,2024-01-02', '3', '4,2024-01-01', 'y,2024-01-02', '5,2024-01-03');
CREATE FUNCTION pg_temp.numbered(target text, args text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM setval('numbered_id_seq', 1, false);
	EXECUTE format('SELECT fast_copy(%L, fc.path(''f.csv''), columns => ''{k,ts}'', log_verbosity => ''silent'', workers => %s, %s)', target, n, args);
	EXECUTE format('SELECT string_agg(concat_ws('':'', id, k), '' '' ORDER BY k, id) FROM %I', target) INTO result;
	EXECUTE format('TRUNCATE %I', target);
	RETURN result;
END
$$;
SELECT target, args, array_agg(DISTINCT pg_temp.numbered(target, args, n)) = ARRAY[CASE WHEN args ~ 'set_null' THEN '1:1 3:2 4:4 6:5 2 5'
	WHEN current_setting('server_version_num')::int >= 180000 THEN '1:1 3:2 4:4 6:5' ELSE '1:1 2:2 3:4 4:5' END] AS numbers
FROM unnest('{numbered,numbered_day}'::text[]) AS target, unnest('{0,1,2,4}'::int[]) AS n,
	unnest(ARRAY[$$on_error => 'ignore', on_error_classes => '{conversion,missing_columns}'$$, $$on_error => 'set_null', on_error_classes => '{conversion,missing_columns}'$$]) AS args
GROUP BY target, args ORDER BY target, args;
-- nor do those that only the default partition would take
DROP TABLE numbered_day;
CREATE TABLE numbered_day (id int DEFAULT floor(random()), k int, ts timestamp) PARTITION BY RANGE (ts);
CREATE TABLE numbered_day_1 PARTITION OF numbered_day FOR VALUES FROM ('2024-01-03') TO ('2024-01-04');
CREATE TABLE numbered_day_d PARTITION OF numbered_day DEFAULT;
SELECT fc.file('f.csv', '1,2024-01-03', '2,2024-01-02', '3,');
SELECT pg_temp.try('numbered_day', 'f.csv', $$columns => '{k,ts}', missing_partitions => 'error', on_error => 'ignore', on_error_classes => '{no_partition}'$$);
SELECT fc.try('numbered_day', 'f.csv', $$columns => '{k,ts}', missing_partitions => 'error'$$, NULL);
DROP TABLE numbered_day, numbered;

-- a reject in every place of the file, with all line ends: same rows as without
CREATE TABLE places (k int, v text);
CREATE FUNCTION pg_temp.places(header text, eol text) RETURNS SETOF text
LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
	good text[] := array(SELECT format('%s,"v%s%s"', i, repeat(E'\n', i % 3), i) FROM generate_series(1, 9) AS i);
	bad text[];
	n int;
	first bigint;
BEGIN
	IF eol <> E'\n' THEN
		good := array(SELECT replace(g, E'\n', '') FROM unnest(good) AS g);
	END IF;
	FOR place IN 0 .. 9 LOOP
		bad := good[:place] || format('x%s,bad', place) || good[place + 1:];
		PERFORM fc.text('places.csv', header || array_to_string(bad, eol) || CASE WHEN place % 2 = 0 THEN eol ELSE '' END);
		FOREACH n IN ARRAY '{0,2}'::int[] LOOP
			TRUNCATE places, rej;
			PERFORM fast_copy('places', fc.path('places.csv'), header => CASE WHEN header = '' THEN 'false' ELSE 'true' END,
							  on_error => 'ignore', reject_table => 'rej', workers => n);
			-- COPY counts the lines in quotes
			SELECT count(*) INTO first FROM regexp_matches(header || array_to_string(bad[:place + 1], eol), eol, 'g');
			-- ... but for those of the first record, behind which it knows the line end
			first := first - (place > 0 AND header = '' AND eol = E'\n')::int;
			IF array(SELECT format('%s,"%s"', k, v) FROM places ORDER BY k) <> good THEN
				RETURN NEXT format('%s: other rows', place);
			END IF;
			IF (SELECT array_agg((lineno, line, errorcode)) FROM rej) IS DISTINCT FROM ARRAY[(first + 1, format('x%s,bad', place), '22P02'::text)] THEN
				RETURN NEXT format('%s: %s', place, (SELECT array_agg((lineno, line, errorcode)) FROM rej));
			END IF;
		END LOOP;
	END LOOP;
END
$$;
SELECT pg_temp.places('', E'\n');
SELECT pg_temp.places(E'k,v\n', E'\n');
SELECT pg_temp.places('', E'\r\n');
SELECT pg_temp.places(E'k,v\r\n', E'\r\n');
SELECT pg_temp.places('', E'\r');
TRUNCATE places, rej;
-- nothing but rejects, or nothing at all
SELECT pg_temp.try('places', fc.file('f.csv', 'x,1', 'y,2', 'z,3'));
SELECT pg_temp.try('places', fc.file('f.csv', 'k,v'), $$on_error => 'ignore', header => 'true'$$);
SELECT pg_temp.try('places', fc.text('f.csv', ''));
SELECT pg_temp.try('places', fc.text('f.csv', 'x'), :'all');

-- many
COPY (SELECT CASE WHEN g % 2 = 0 THEN g::text ELSE 'x' || g END, repeat('v', g % 50) FROM generate_series(1, 20000) AS g) TO PROGRAM 'cat > fast_copy_regress/many.csv' (FORMAT csv);
SET fast_copy.chunk_size = '8kB';
SET fast_copy.memory = '4MB';
SELECT fast_copy('places', fc.path('many.csv'), timestamp_column => 'k', on_error => 'ignore', reject_table => 'rej', workers => 2);
SELECT count(*), sum(k) FROM places;
SELECT count(*), count(*) FILTER (WHERE line LIKE 'x' || lineno || ',%'), bool_and(err_message = format('invalid input syntax for type integer: "x%s"', lineno)), bool_and(raw_field_value = 'x' || lineno) FROM rej;
SELECT count(*) FROM (SELECT lineno > lag(lineno) OVER (ORDER BY id) AS sorted FROM rej) AS _ WHERE sorted;
TRUNCATE places, rej;
SELECT fast_copy('places', fc.path('many.csv'), on_error => 'ignore', reject_limit => 10000, workers => 2);
TRUNCATE places;
SELECT (fc.outcome(format('SELECT fast_copy(''places'', fc.path(''many.csv''), %s on_error => ''ignore'', reject_limit => %s, workers => %s)', key, l, w)))[1:2]
FROM unnest('{9999,5000,1}'::int[]) AS l, unnest('{0,2}'::int[]) AS w, unnest('{"","timestamp_column => ''k'',"}'::text[]) AS key;
RESET fast_copy.memory;
SET fast_copy.chunk_size = 16;

-- reject_table: what it must be
CREATE TABLE rej_bad (job uuid);
SELECT pg_temp.one('plain', 'c.csv', $$on_error => 'ignore'$$);
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', reject_table => 'rej_bad');
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', reject_table => 'plain');
SELECT fast_copy('day', fc.path('c.csv'), on_error => 'ignore', reject_table => 'plain');
SELECT fast_copy('plain', fc.path('c.csv'), reject_table => 'rej');
CREATE VIEW rej_view AS SELECT * FROM rej;
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', reject_table => 'rej_view', log_verbosity => 'silent');
SELECT count(*) FROM rej;
TRUNCATE plain, rej;
-- its own columns, defaults and triggers; rows come in the order of the file
SELECT fast_copy_create_reject_table('"Odd Schema"."rej""ects"');
CREATE SCHEMA "Odd Schema";
SELECT fast_copy_create_reject_table('"Odd Schema"."rej""ects"');
\set VERBOSITY terse
SELECT fast_copy_create_reject_table('"Odd Schema"."rej""ects"');
\set VERBOSITY default
SELECT fast_copy_create_reject_table('');
SELECT fast_copy_create_reject_table('pg_temp.temporary');
SELECT fast_copy_create_reject_table(NULL);
ALTER TABLE "Odd Schema"."rej""ects" ADD id int GENERATED ALWAYS AS IDENTITY, ADD who name DEFAULT current_user;
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.err_message := upper(NEW.err_message); RETURN NEW; END';
CREATE TRIGGER shout BEFORE INSERT ON "Odd Schema"."rej""ects" FOR EACH ROW EXECUTE FUNCTION shout();
SELECT fast_copy('plain', fc.path('c.csv'), on_error => 'ignore', reject_table => '"Odd Schema"."rej""ects"', log_verbosity => 'silent', workers => 2);
SELECT r.phase, r.rows, r.choice = 'job ' || (SELECT string_agg(DISTINCT job::text, ' ') FROM "Odd Schema"."rej""ects")
FROM fast_copy_report() AS r WHERE r.phase = 'reject';
SELECT id, who = current_user, lineno, err_message FROM "Odd Schema"."rej""ects" ORDER BY id;
-- privileges: INSERT, on the table or on the columns
CREATE ROLE fc_rejecter;
GRANT pg_read_server_files TO fc_rejecter;
GRANT INSERT ON plain TO fc_rejecter;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fc TO fc_rejecter;
SELECT fc.path('c.csv') AS path \gset
SET ROLE fc_rejecter;
SELECT fast_copy('plain', :'path', on_error => 'ignore', reject_table => 'rej');
RESET ROLE;
GRANT INSERT (starttime, userid, copy_tbl, filename, lineno, line, colname, raw_field_value, err_detail, errorcode, job, class, byte_offset, raw) ON rej TO fc_rejecter;
SET ROLE fc_rejecter;
SELECT fast_copy('plain', :'path', on_error => 'ignore', reject_table => 'rej');
RESET ROLE;
GRANT INSERT (err_message) ON rej TO fc_rejecter;
SET ROLE fc_rejecter;
SELECT fast_copy('plain', :'path', on_error => 'ignore', reject_table => 'rej', log_verbosity => 'silent');
RESET ROLE;
SELECT count(*) FROM rej;
TRUNCATE plain, rej;

-- rows and rejects come and go together
BEGIN;
SELECT fast_copy('day', :'path', on_error => 'ignore', reject_table => 'rej', log_verbosity => 'silent', workers => 2);
SAVEPOINT s;
SELECT fast_copy('day', fc.path(fc.file('f.csv', '2025-01-01,1,a', '2025-01-01,y,a')), on_error => 'ignore', reject_table => 'rej', log_verbosity => 'silent', workers => 2);
SELECT count(*), count(DISTINCT job) FROM rej;
ROLLBACK TO s;
SELECT count(*) FROM day;
SELECT count(*), count(DISTINCT job) FROM rej;
COMMIT;
SELECT count(*) FROM day;
SELECT count(*) FROM rej;
BEGIN;
SELECT fast_copy('day', fc.path('f.csv'), on_error => 'ignore', reject_table => 'rej', log_verbosity => 'silent', workers => 2);
ROLLBACK;
SELECT count(*) FROM rej;
TRUNCATE plain, day, rej;

-- Out again and in: psql prints values as they are, so that unaligned records
-- under each other are the file they came from
CREATE TABLE quoted (k int, v text);
SELECT fast_copy('quoted', fc.path(fc.file('f.csv', '1,a', 'x2,"with ""quotes"", commas', 'and lines"', 'x3,\N \. \\ back', 'x4," é "', 'x5,', 'x6,""', '7,b')), on_error => 'ignore', reject_table => 'rej', log_verbosity => 'silent');
\set out :builddir '/results/rejects.csv'
\o :out
SELECT line FROM rej ORDER BY lineno;
\o
\lo_import :out
SELECT convert_from(lo_get(:LASTOID), 'UTF8');
SELECT lo_export(:LASTOID, fc.path('again.csv')), lo_unlink(:LASTOID);
CREATE TABLE mended (k text, v text);
SELECT fast_copy('mended', fc.path('again.csv'));
SELECT * FROM mended;
DROP TABLE mended, quoted;

-- A record that is passed over needs no partition
CREATE TABLE routed (k date, v int) PARTITION BY RANGE (k);
CREATE TABLE routed_1 PARTITION OF routed FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
SELECT fast_copy('routed', fc.path(fc.file('f.csv', '2024-01-01,1', '2024-03-01,x', ',y', '2024-01-01,2')), on_error => 'ignore', missing_partitions => 'error', log_verbosity => 'silent', workers => 2);
DROP TABLE routed;

-- An error that is not about data leaves nothing to a block that catches it
CREATE FUNCTION broken(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN IF $1 = 3 THEN RAISE 'broken' USING ERRCODE = 'internal_error'; END IF; RETURN true; END $$;
CREATE DOMAIN breaks AS int CHECK (broken(value));
CREATE TABLE routed (k date, v breaks) PARTITION BY RANGE (k);
SELECT fc.file('f.csv', '2024-01-01,1', '2024-01-02,3');
DO $$ BEGIN PERFORM fast_copy('routed', fc.path('f.csv'), on_error => 'ignore'); EXCEPTION WHEN internal_error THEN NULL; END $$;
SELECT count(*) FROM fc.partitions('routed');
DROP TABLE routed;
DROP DOMAIN breaks;
DROP FUNCTION broken;

SET client_min_messages = warning;
DROP FUNCTION put CASCADE;
DROP TABLE rej, rej_bad, plain, strict, day, day_default, city, pairs, hashed, late, partial, log, picky, nested, composed, places, domains CASCADE;
DROP TYPE pair;
DROP DOMAIN small, needed, logged;
DROP FUNCTION picky, nested, logged;
DROP SCHEMA "Odd Schema" CASCADE;
DROP FUNCTION shout;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fc FROM fc_rejecter;
DROP ROLE fc_rejecter;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
