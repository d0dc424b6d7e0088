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
