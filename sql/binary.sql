-- The binary format, against COPY.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers
SET fast_copy.workers = 0;

CREATE TABLE orig (ts timestamptz, n int, t text);
INSERT INTO orig SELECT timestamptz '2024-01-01' + i * interval '7 hours', nullif(i, 13), repeat('x' || i, i) FROM generate_series(1, 100) AS i;
-- writes what a query finds; returns the name
CREATE FUNCTION fc.binary(name text, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (%s) TO %L (FORMAT binary)', query, fc.path(name));
	RETURN name;
END
$$;
-- What a load ends with; COPY's answer follows if it is another one
CREATE FUNCTION fc.binary_try(target text, name text, args text DEFAULT '', columns text DEFAULT '', options text DEFAULT '')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ours text[] := fc.outcome(format('SELECT fast_copy(%L, fc.path(%L), format => ''binary''%s)', target, name, args));
	theirs text[] := fc.outcome(format('COPY %s %s FROM %L (FORMAT binary%s)', target, columns, fc.path(name), options));
BEGIN
	RETURN QUERY SELECT unnest(ours);
	IF theirs <> array(SELECT regexp_replace(line, '^CONTEXT: fast_copy (.*), file "[^"]*"', 'CONTEXT: COPY \1')
					   FROM unnest(ours) AS line WHERE line !~ '^CONTEXT: fast_copy [a-z]*, file "[^"]*"$') THEN
		RETURN QUERY SELECT 'COPY: ' || line FROM unnest(theirs) AS line;
	END IF;
END
$$;
SELECT fc.binary('a.bin', 'TABLE orig');

-- a plain table
CREATE TABLE plain (LIKE orig);
SET client_min_messages = notice;
SELECT fast_copy('plain', fc.path('a.bin'), format => 'binary');
SET client_min_messages = warning;
SELECT count(*) FROM (TABLE orig EXCEPT ALL TABLE plain) AS missing;
SELECT phase, rows, choice FROM fast_copy_report();
-- workers, a key and settings of the other ways are not in the way
SELECT fast_copy('plain', fc.path('a.bin'), 'ts', format => 'binary', workers => 3);
SELECT count(*) FROM plain;
SELECT fast_copy('plain', fc.path(fc.binary('none.bin', 'SELECT FROM orig LIMIT 0')), format => 'binary');

-- partitions that are missing are made before
CREATE TABLE part (ts timestamptz, n int CHECK (n <> 99), t text, s serial, d date DEFAULT '2024-01-01') PARTITION BY RANGE (ts);
CREATE TABLE part_old PARTITION OF part FOR VALUES FROM ('2024-01-05') TO ('2024-01-08');
SELECT fast_copy('part', fc.path('a.bin'), columns => '{ts,n,t}', format => 'binary', partition_interval => '10 days', where_clause => 'n <> 99');
SELECT * FROM fc.partitions('part');
SELECT count(*), min(s), max(s), min(d) FROM part;
SELECT count(*) FROM (SELECT * FROM orig WHERE n <> 99 EXCEPT ALL SELECT ts, n, t FROM part) AS missing;
SELECT phase, rows, choice FROM fast_copy_report();
SELECT fc.binary_try('part', 'a.bin', $$, columns => '{ts,n,t}'$$, '(ts, n, t)');
SELECT fc.binary_try('part', 'a.bin', $$, columns => '{ts,n,t}', missing_partitions => 'error', where_clause => 'n < 50'$$, '(ts, n, t)', ') WHERE (n < 50');
-- none for rows that the condition leaves out, nor for those behind an error
CREATE TABLE few (LIKE orig) PARTITION BY RANGE (ts);
SELECT fast_copy('few', fc.path('a.bin'), format => 'binary', partition_interval => '10 days', where_clause => 'n = 50');
SELECT * FROM fc.partitions('few');
DROP TABLE few;
-- a key that is NULL, and one that is infinite
CREATE TABLE keys (LIKE orig) PARTITION BY RANGE (ts);
SELECT fc.binary('k.bin', $$SELECT nullif(ts, '2024-01-02 11:00+00'), n, t FROM orig LIMIT 9$$);
SELECT unnest(fc.outcome(format('SELECT fast_copy(''keys'', %L, format => ''binary'', partition_interval => ''1 day'')', fc.path('k.bin'))));
CREATE TABLE keys_rest PARTITION OF keys DEFAULT;
SELECT fast_copy('keys', fc.path('k.bin'), format => 'binary', partition_interval => '1 day');
SELECT * FROM fc.partitions('keys');
SELECT fast_copy('keys', fc.path(fc.binary('i.bin', $$SELECT 'infinity'::timestamptz, 1, 'x'$$)), format => 'binary', partition_interval => '1 day');
DROP TABLE keys;
-- core routes
CREATE TABLE hsh (LIKE orig) PARTITION BY HASH (n);
CREATE TABLE hsh_0 PARTITION OF hsh FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hsh_1 PARTITION OF hsh FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT fast_copy('hsh', fc.path('a.bin'), format => 'binary');
SELECT count(*) FROM (TABLE orig EXCEPT ALL TABLE hsh) AS missing;

-- conditions and defaults have their effect once
CREATE SEQUENCE once;
CREATE TABLE effect (LIKE orig) PARTITION BY RANGE (ts);
SELECT fast_copy('effect', fc.path('a.bin'), format => 'binary', partition_interval => '1 month', where_clause => 'nextval(''once'') > 50');
SELECT count(*), (SELECT last_value FROM once) FROM effect;
DROP TABLE effect;
DROP SEQUENCE once;

-- constraints, triggers, unique indexes
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.n = 77 THEN
		RAISE 'no 77';
	END IF;
	RETURN CASE WHEN new.n % 2 = 0 THEN new END;
END
$$;
CREATE TABLE con (ts timestamptz, n int CHECK (n <> 20), t text UNIQUE);
SELECT fc.binary_try('con', 'a.bin');
ALTER TABLE con DROP CONSTRAINT con_n_check;
CREATE TRIGGER refuse BEFORE INSERT ON con FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT fc.binary_try('con', 'a.bin');
SELECT fc.binary_try('con', fc.binary('two.bin', 'SELECT * FROM orig WHERE n < 10 UNION ALL SELECT * FROM orig WHERE n < 9'));
SELECT fast_copy('con', fc.path('a.bin'), format => 'binary', where_clause => 'n < 70');
SELECT count(*) FROM con;
DROP TABLE con;
DROP FUNCTION refuse;
-- an error of a value comes before one that stands behind it in the file
CREATE DOMAIN small AS int CHECK (value < 50);
CREATE TABLE dom (ts timestamptz, n small, t text) PARTITION BY RANGE (ts);
SELECT fc.outcome(format('SELECT fast_copy(''dom'', %L, format => ''binary'', partition_interval => ''1 day'')', fc.path('a.bin')));
SELECT * FROM fc.partitions('dom');
DROP TABLE dom;
DROP DOMAIN small;

-- malformed files, into a plain table and where keys are read before
SELECT fc.shell('head -c 290 a.bin >short.bin; head -c 15 a.bin >flags.bin; (cat a.bin; echo) >long.bin; (echo; cat a.bin) >sign.bin; : >empty.bin; head -c -2 a.bin >open.bin; head -c 22 a.bin >count.bin');
SELECT fc.file('a.csv', '2024-01-01,1,a');
SELECT fc.binary_try('plain', name) FROM unnest('{short,flags,long,sign,empty,open,count}'::text[]) AS n, concat(n, '.bin') AS name;
SELECT fc.binary_try('plain', 'a.csv');
SELECT fc.outcome(format('SELECT fast_copy(''part'', %L, columns => ''{ts,n,t}'', format => ''binary'', where_clause => ''n <> 99'')', fc.path(name)))
FROM unnest('{short,flags,long,sign,empty,open}'::text[]) AS n, concat(n, '.bin') AS name;
SELECT fc.binary_try('plain', 'a.bin', $$, columns => '{ts,n}'$$, '(ts, n)');
SELECT fc.binary_try('plain', 'a.bin', $$, columns => '{n,ts,t}'$$, '(n, ts, t)');
SELECT fc.binary_try('plain', 'a.bin', $$, columns => '{ts,t,n}'$$, '(ts, t, n)');

-- options
SELECT fc.binary_try('plain', 'a.bin', $$, header => 'true'$$, '', ', HEADER');
SELECT fc.binary_try('plain', 'a.bin', $$, header => 'match'$$, '', ', HEADER match');
SELECT fc.binary_try('plain', 'a.bin', $$, delimiter => ','$$, '', $$, DELIMITER ','$$);
SELECT fc.binary_try('plain', 'a.bin', $$, null_string => ''$$, '', $$, NULL ''$$);
SELECT fc.state(format('SELECT fast_copy(''plain'', %L, format => ''binary'', %s)', fc.path('a.bin'), option))
FROM unnest(ARRAY[$$quote => '"'$$, $$escape => '"'$$, $$force_null => '{t}'$$, $$force_not_null => '{*}'$$, $$default_string => 'x'$$, $$header => 'map'$$, $$header => '3'$$, $$time_zone => 'UTC'$$, $$timestamp_column => 'ts', timestamp_format => 'YYYY'$$, $$on_error => 'ignore'$$]) AS option;
-- the encoding of a file does not say anything here, as in COPY
SELECT fc.binary_try('plain', 'a.bin', $$, encoding => 'SJIS'$$, '', $$, ENCODING 'SJIS'$$);
-- freeze
BEGIN;
TRUNCATE plain;
SELECT fast_copy('plain', fc.path('a.bin'), format => 'binary', freeze => true);
COMMIT;
SELECT count(*) FROM plain;
SELECT fc.state(format('SELECT fast_copy(''part'', %L, columns => ''{ts,n,t}'', format => ''binary'', freeze => true)', fc.path('a.bin')));

-- more types
CREATE TABLE types (a int[], b numeric, c jsonb, d int4range, e interval, f orig, g uuid, h bytea);
INSERT INTO types SELECT ARRAY[i, NULL], i / 3.0, jsonb_build_object('i', i), int4range(i, 2 * i), make_interval(days => i), row('2024-01-01', i, 'x')::orig, md5(i::text)::uuid, decode(md5(i::text), 'hex') FROM generate_series(1, 10) AS i;
CREATE TABLE types2 (LIKE types);
SELECT fast_copy('types2', fc.path(fc.binary('t.bin', 'TABLE types')), format => 'binary');
SELECT count(*) FROM (TABLE types EXCEPT ALL TABLE types2) AS missing;
DROP TABLE types, types2;
DROP TABLE orig, plain, part, hsh;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
