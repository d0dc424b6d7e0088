CREATE TABLE hits (eventtime timestamptz NOT NULL, url text) PARTITION BY RANGE (eventtime);
COPY (SELECT timestamptz '2013-07-01' + (n * 7919 % 259200) * interval '1 second', 'http://example.com/' || n
	FROM generate_series(1, 1000) AS n) TO '/data/hits.csv' (FORMAT csv);
