-- daily: a file for each day of two years, 100 rows in each; two are broken
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

-- packed: the first of these years, 100 good rows in each file
COPY (SELECT 1) TO PROGRAM 'mkdir -p /data/packed && cat >/dev/null';
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd /data/daily && for day in 2023-*.csv; do gzip -c $day >../packed/$day.gz; done';

-- one day as Parquet, NDJSON and Excel, if there is DuckDB; and a file that breaks off
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd /data && head -c 300 packed/2023-01-01.csv.gz >broken.csv.gz';
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd /data; ! command -v duckdb || duckdb -c "CREATE TABLE day AS FROM read_csv(''daily/2023-01-01.csv'')" -c "COPY day TO ''day.parquet''" -c "COPY day TO ''day.ndjson'' (FORMAT json)" -c "LOAD excel" -c "COPY day TO ''day.xlsx'' (FORMAT xlsx, HEADER true)"';
