CREATE TABLE hits (eventtime timestamptz NOT NULL, url text) PARTITION BY RANGE (eventtime);
COPY (SELECT timestamptz '2013-07-01' + (n * 7919 % 259200) * interval '1 second', 'http://example.com/' || n
	FROM generate_series(1, 1000) AS n) TO '/data/hits.csv' (FORMAT csv);

-- three days, some temperatures are missing
COPY (SELECT CASE n % 3 WHEN 0 THEN 'EWR' WHEN 1 THEN 'JFK' ELSE 'LGA' END AS origin,
		timestamptz '2013-01-01' + (n * 7919 % 72) * interval '1 hour' AS time_hour,
		CASE WHEN n % 10 = 0 THEN 'NA' ELSE (30 + n % 20)::text END AS temp
	FROM generate_series(1, 300) AS n) TO '/data/weather.csv' (FORMAT csv, HEADER);
