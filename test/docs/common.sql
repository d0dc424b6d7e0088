-- What all documents take for given; NAME.sql makes what NAME.md needs beside it.
CREATE EXTENSION fast_copy;
CREATE EXTENSION fast_copy_cluster;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''UTC''', current_database()); END $$;

-- events.csv: 20 days, in no order
COPY (SELECT timestamp '2024-01-01' + (n * 7919 % 1728000) * interval '1 second' AS at, n AS device,
		(n % 1000) / 10.0 AS reading
	FROM generate_series(1, 20000) AS n) TO '/data/events.csv' (FORMAT csv, HEADER);

-- epochs.csv: milliseconds of one of these days
COPY (SELECT 1704067200000 + n * 60000 AS at, n AS device, n AS reading FROM generate_series(1, 100) AS n)
	TO '/data/epochs.csv' (FORMAT csv, HEADER);

-- dirty.csv: of 100 rows 3 have a bad value and one lacks a field
COPY (SELECT timestamp '2024-03-01' + n * interval '1 hour' || ',' || n || ',' ||
		CASE WHEN n IN (10, 20, 30) THEN 'n/a' ELSE n::text END
	FROM generate_series(1, 99) AS n UNION ALL SELECT '2024-03-09,100') TO '/data/dirty.csv' (FORMAT csv, DELIMITER '|', QUOTE '~');
