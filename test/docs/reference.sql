-- What the examples of fast_copy_help() load, and into what
\include files.sql
CREATE TABLE events (at timestamp NOT NULL, device int, reading float8) PARTITION BY RANGE (at);
CREATE TABLE monthly (LIKE events) PARTITION BY RANGE (at);
CREATE TABLE log (LIKE events);
CREATE TABLE latest (LIKE events, PRIMARY KEY (at, device));
CREATE TABLE visits (at timestamptz NOT NULL, page text) PARTITION BY RANGE (at);
COPY (VALUES (1, '2024-01-01 01:00'), (2, '2024-01-01 02:00')) TO '/data/devices.csv' (FORMAT csv);
COPY (SELECT timestamp '2024-01-01' AS at, 1 AS device, 2.5 AS reading) TO '/data/semicolons.csv' (FORMAT csv, HEADER, DELIMITER ';');
COPY (SELECT timestamp '2024-01-01' AS at, 1 AS device, 'NA' AS reading) TO '/data/na.csv' (FORMAT csv, HEADER);
COPY (SELECT timestamp '2024-01-01' + n * interval '1 hour', n, CASE n WHEN 3 THEN 'n/a' ELSE '1' END FROM generate_series(1, 9) AS n) TO '/data/half.csv' (FORMAT csv);
COPY (VALUES (1001, 'one', 'n/a'), (1002, 'two', '5')) TO '/data/words.csv' (FORMAT csv);
COPY (VALUES ('1003, three , 5')) TO '/data/blanks.csv';
COPY (VALUES ('1005,five,5'), (''), ('1006,six,6'), ('')) TO '/data/gaps.csv';
COPY (VALUES ('1007,seven'), ('1008')) TO '/data/short.csv';
COPY (VALUES ('1009,nine,9'), ('TOTAL,1,9')) TO '/data/trailer.csv';
COPY (VALUES ('1011,eleven,11')) TO '/data/listed.csv';
COPY (VALUES ('# by hand'), ('1010,ten,10')) TO '/data/comments.csv';
COPY (VALUES ('1.004,four,1.000')) TO '/data/numbers.csv';
COPY (VALUES (1, 'O, Hara', '2024-01-01')) TO '/data/apostrophes.csv' (FORMAT csv, QUOTE '''');
COPY (VALUES (1, 'the "first" one', '2024-01-01')) TO '/data/backslashes.csv' (FORMAT csv, ESCAPE '\');
COPY (VALUES (1, '', '2024-01-01')) TO '/data/nameless.csv' (FORMAT csv);
COPY (VALUES (1, 'one', '\D')) TO '/data/defaults.csv' (FORMAT csv);
COPY (VALUES (1, U&'Mo\00EBt', '2024-01-01')) TO '/data/latin1.csv' (FORMAT csv, ENCODING 'LATIN1');
COPY (VALUES ('2024-07-01 12:00', 'home')) TO '/data/visits.csv' (FORMAT csv);
COPY (SELECT timestamp '2024-01-01' AS at, 1 AS device, 2.5 AS reading) TO PROGRAM 'gzip >/data/new.csv.gz' (FORMAT csv, HEADER);

-- the nodes are this server itself
CREATE EXTENSION postgres_fdw;
SELECT format('CREATE SERVER %s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)', node,
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()),
	format('CREATE USER MAPPING FOR CURRENT_USER SERVER %s', node)
FROM unnest(ARRAY['node1', 'node2']) AS node \gexec

-- a ledger
SELECT fast_copy_create_ledger_table('loads');
