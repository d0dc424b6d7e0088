-- Who may load what: COPY's rules, and ownership where partitions are made.
\getenv srcdir PG_ABS_SRCDIR
\set helpers :srcdir '/test/regress.sql'
\i :helpers

DROP ROLE IF EXISTS regress_fc_reader, regress_fc_other;
CREATE ROLE regress_fc_reader;
CREATE ROLE regress_fc_other;
GRANT pg_read_server_files TO regress_fc_reader;
GRANT CREATE ON SCHEMA fc TO regress_fc_reader, regress_fc_other;
SET search_path = fc, public;

CREATE TABLE priv (a int, b int, c int);
CREATE TABLE priv_day (ts date, n int) PARTITION BY RANGE (ts);
CREATE TABLE priv_day_1 PARTITION OF priv_day FOR VALUES FROM ('2024-01-01') TO ('2024-01-02');
SELECT fc.file('abc.csv', '1,2,3');
SELECT fc.file('ab.csv', '1,2');
SELECT fc.file('day.csv', '2024-01-01,1');
SELECT fc.file('days.csv', '2024-01-01,1', '2024-01-02,2');

-- the file
SET ROLE regress_fc_other;
CREATE TABLE mine (a int, b int);
SELECT fc.try('mine', 'ab.csv', '', NULL);
-- nothing is told about files that may not be read
SELECT fc.try('mine', 'missing.csv', '', NULL);
RESET ROLE;
GRANT pg_read_server_files TO regress_fc_other;
SET ROLE regress_fc_other;
SELECT fc.try('mine', 'ab.csv');
RESET ROLE;
REVOKE pg_read_server_files FROM regress_fc_other;

-- the table: INSERT on all columns of the file
SET ROLE regress_fc_reader;
SELECT fc.try('priv', 'abc.csv');
RESET ROLE;
GRANT SELECT, UPDATE, DELETE ON priv TO regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fc.try('priv', 'abc.csv');
RESET ROLE;
GRANT INSERT (a, b) ON priv TO regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fc.try('priv', 'abc.csv');
SELECT fc.try('priv', 'ab.csv', $$columns => '{a,b}'$$, '', '(a, b)');
SELECT fc.try('priv', 'ab.csv', $$columns => '{a,c}'$$, '', '(a, c)');
RESET ROLE;
GRANT INSERT ON priv TO regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fc.try('priv', 'abc.csv');
-- an error shows the columns that one may see, or has given
RESET ROLE;
REVOKE ALL ON priv FROM regress_fc_reader;
GRANT INSERT (a, b) ON priv TO regress_fc_reader;
ALTER TABLE priv ADD CHECK (a <> 1);
SET ROLE regress_fc_reader;
SELECT fc.try('priv', 'ab.csv', $$columns => '{a,b}'$$, '', '(a, b)');

-- existing partitions need INSERT on the parent, new ones its ownership and
-- CREATE on its schema
RESET ROLE;
GRANT INSERT ON priv_day TO regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fc.try('priv_day', 'day.csv');
SELECT fc.try('priv_day', 'days.csv', '', NULL);
SELECT fc.try('priv_day', 'days.csv', $$missing_partitions => 'error'$$);
RESET ROLE;
ALTER TABLE priv_day OWNER TO regress_fc_reader;
ALTER TABLE priv_day_1 OWNER TO regress_fc_reader;
REVOKE CREATE ON SCHEMA fc FROM regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fc.try('priv_day', 'days.csv', '', NULL);
RESET ROLE;
GRANT CREATE ON SCHEMA fc TO regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fast_copy('priv_day', fc.path('days.csv'));
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^priv_day' ORDER BY relname;
RESET ROLE;

-- row security, if it applies
CREATE TABLE rls (a int, b int);
ALTER TABLE rls ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON rls TO regress_fc_reader;
SELECT fc.try('rls', 'ab.csv');
SET ROLE regress_fc_reader;
SELECT fc.try('rls', 'ab.csv');
SET row_security = off;
SELECT fc.try('rls', 'ab.csv');
RESET row_security;
RESET ROLE;
ALTER TABLE rls OWNER TO regress_fc_reader;
SET ROLE regress_fc_reader;
SELECT fc.try('rls', 'ab.csv');
ALTER TABLE rls FORCE ROW LEVEL SECURITY;
SELECT fc.try('rls', 'ab.csv');
RESET ROLE;

-- fast_copy.root_directory: only files below it, and links that stay there
SELECT fc.shell('mkdir root root/sub root_not && echo 1,2 | tee root/in.csv root/sub/in.csv root_not/out.csv');
SELECT fc.shell('ln -s ../../root_not/out.csv root/sub/out && ln -s root/in.csv in && ln -s root linked && ln -s ../root_not root/dir && ln -s ../root_not/missing.csv root/dangling');
SELECT fc.shell('ln -s "$PWD/root/in.csv" root/whole && ln -s ../in.csv root/sub/back && ln -s .. root/sub/up && ln -s ../root/in.csv root/round');
SELECT set_config('fast_copy.root_directory', fc.path('root'), false) = fc.path('root');
SET ROLE regress_fc_other;
SELECT f, fc.try('mine', f, '', NULL)
FROM unnest('{root/in.csv,root/sub/in.csv,root/sub/../in.csv,root//in.csv,root/./sub/.././in.csv,root/whole,root/sub/back,root/sub/up/sub/up/in.csv,root/*.csv,root/s*/i?.csv}'::text[]) AS f;
SELECT f, fc.try('mine', f, '', NULL)
FROM unnest('{root/../ab.csv,root/sub/out,root_not/out.csv,root/dir/out.csv,ab.csv,root,root/missing.csv,root/dangling,root/dir/missing.csv,root/missing/a.csv}'::text[]) AS f;
-- a path must begin with that of the directory, and not leave it on its way
SELECT f, fc.try('mine', f, '', NULL)
FROM unnest('{in,linked/in.csv,root/../root/in.csv,root/round,root/sub/up/../in.csv,root/in.csv/a,root/d*/out.csv,root/d*/no.csv,r*/in.csv}'::text[]) AS f;
RESET ROLE;
-- a setting that is a link, or has a slash too many
SELECT set_config('fast_copy.root_directory', fc.path('linked/'), false) <> '';
SET ROLE regress_fc_other;
SELECT fc.try('mine', 'root/in.csv', '', NULL);
SELECT fc.try('mine', 'root_not/out.csv', '', NULL);
RESET ROLE;
-- one that does not exist lets nobody in
SELECT set_config('fast_copy.root_directory', fc.path('nowhere'), false) <> '';
SET ROLE regress_fc_other;
SELECT fc.try('mine', 'root/in.csv', '', NULL);
-- and those who it binds cannot set it
SET fast_copy.root_directory = '/';
RESET ROLE;
-- others are not bound
SELECT fc.try('mine', 'ab.csv');
RESET fast_copy.root_directory;

DROP TABLE mine, priv, priv_day, rls;
RESET search_path;
REVOKE ALL ON SCHEMA fc FROM regress_fc_reader, regress_fc_other;
DROP ROLE regress_fc_reader, regress_fc_other;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null && rm -rf fast_copy_regress';
