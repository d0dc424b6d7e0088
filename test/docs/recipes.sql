-- What docs/recipes.md takes for given.
CREATE EXTENSION fast_copy;
ALTER DATABASE docs_recipes SET timezone = 'UTC';

-- events.csv: 20 days, in no order
COPY (SELECT timestamp '2024-01-01' + (n * 7919 % 1728000) * interval '1 second' AS at, n AS device,
		(n % 1000) / 10.0 AS reading
	FROM generate_series(1, 20000) AS n) TO '/data/events.csv' (FORMAT csv, HEADER);

-- orders.txt: COPY's text format; customers.csv: columns in another order
COPY (SELECT n, 'item ' || n, nullif(n % 7, 0) FROM generate_series(1, 500) AS n) TO '/data/orders.txt';
COPY (SELECT 'Customer ' || n AS name, 'x' AS note, n AS id FROM generate_series(1, 50) AS n)
	TO '/data/customers.csv' (FORMAT csv, HEADER);

-- dirty.csv: of 100 rows 3 have a bad value and one lacks a field
COPY (SELECT timestamp '2024-03-01' + n * interval '1 hour' || ',' || n || ',' ||
		CASE WHEN n IN (10, 20, 30) THEN 'n/a' ELSE n::text END
	FROM generate_series(1, 99) AS n UNION ALL SELECT '2024-03-09,100') TO '/data/dirty.csv' (FORMAT csv, DELIMITER '|', QUOTE '~');

-- epochs.csv: milliseconds
COPY (SELECT 1704067200000 + n * 60000 AS at, n AS device, n AS reading FROM generate_series(1, 100) AS n)
	TO '/data/epochs.csv' (FORMAT csv, HEADER);

CREATE ROLE loader;
CREATE TABLE orders (id int PRIMARY KEY, item text, amount int);
CREATE TABLE customers (id int, name text, since date DEFAULT '2024-01-01');

-- later.csv: a day that has no partition
COPY (SELECT '2030-01-01', 1, 1) TO '/data/later.csv' (FORMAT csv);

-- visits: a set of pg_partman with days around today, and what is older in files
CREATE SCHEMA partman;
CREATE EXTENSION pg_partman SCHEMA partman;
SELECT extversion LIKE '4.%' AS v4 FROM pg_extension WHERE extname = 'pg_partman' \gset
\if :v4
	\set type native
	\set width daily
\else
	\set type range
	\set width '1 day'
\endif
CREATE TABLE visits (at timestamptz NOT NULL, page text) PARTITION BY RANGE (at);
CREATE INDEX ON visits (at);
SELECT partman.create_parent(p_parent_table => 'public.visits', p_control => 'at', p_type => :'type',
	p_interval => :'width', p_premake => 4);
UPDATE partman.part_config SET retention = '60 days', retention_keep_table = false
	WHERE parent_table = 'public.visits';
INSERT INTO visits SELECT current_date + n * interval '1 minute', 'new ' || n FROM generate_series(1, 100) AS n;
COPY (SELECT current_date - interval '5 days' - (n * 7919 % 43200) * interval '1 minute' AS at, 'old ' || n AS page
	FROM generate_series(1, 3000) AS n) TO '/data/visits.csv' (FORMAT csv, HEADER);
COPY (SELECT current_date - 1000 AS at, 'ancient' AS page) TO '/data/ancient.csv' (FORMAT csv, HEADER);

-- daily: a file for each day of two years, 100 rows in each; two are broken
CREATE TABLE readings (at timestamp NOT NULL, sensor int, value float8) PARTITION BY RANGE (at);
COPY (SELECT 1) TO PROGRAM 'mkdir -p /data/daily && cat >/dev/null';
DO $$
BEGIN
	FOR d IN 0 .. 730 LOOP
		EXECUTE format('COPY (SELECT timestamp %L + (n * 7919 %% 86400) * interval ''1 second'' AS at, n AS sensor,
			CASE WHEN n = 50 AND %L IN (''2024-03-07'', ''2024-03-21'') THEN ''broken'' ELSE n::text END AS value
			FROM generate_series(1, 100) AS n) TO %L (FORMAT csv, HEADER)', date '2023-01-01' + d, date '2023-01-01' + d,
			'/data/daily/' || (date '2023-01-01' + d) || '.csv');
	END LOOP;
END $$;

-- packed: the same days, 100 good rows in each; two days without headers in an archive
COPY (SELECT 1) TO PROGRAM 'mkdir -p /data/packed && cat >/dev/null';
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd /data/daily && for day in 2023-*.csv 2024-01-0[12].csv; do gzip -c $day >../packed/$day.gz; done';
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd /data/packed && for day in 2024-02-01 2024-02-02; do sed 1d ../daily/$day.csv >$day; done && tar -cf 2024.tar 2024-02-0[12] && rm 2024-02-0[12]';
