-- trips.csv: American dates, another delimiter and a word for NULL
COPY (SELECT to_char(timestamp '2024-01-01' + n * interval '157 seconds', 'MM/DD/YYYY HH24:MI') AS pickup,
		to_char(timestamp '2024-01-01 00:09' + n * interval '157 seconds', 'MM/DD/YYYY HH24:MI') AS dropoff,
		n % 263 + 1 AS zone, (n % 997 + 410) / 100.00::numeric(9, 2) AS fare, trim_scale(nullif(n % 5, 3) / 2.0 + n % 3 / 8.0) AS tip, 'note ' || n % 10 AS note
	FROM generate_series(0, 49999) AS n) TO '/data/trips.raw' (FORMAT csv, HEADER, DELIMITER ';', NULL 'NA');
COPY (SELECT 1) TO PROGRAM $$cat >/dev/null; sed 's/;\([0-9]*\)\.\([0-9][0-9]\)0*;/;\1.\2;/' /data/trips.raw >/data/trips.csv; rm /data/trips.raw$$;

-- visits.csv: days that could be months, without a header
COPY (SELECT to_char(date '2024-01-01' + (n % 12) * interval '1 month' + (n % 10) * interval '1 day', 'DD/MM/YYYY'), 'visitor ' || n
	FROM generate_series(1, 200) AS n) TO '/data/visits.csv' (FORMAT csv);

-- parts: three files of ten rows each, and one that is packed
COPY (SELECT 1) TO PROGRAM 'mkdir -p /data/parts && cat >/dev/null';
DO $$
BEGIN
	FOR i IN 1 .. 4 LOOP
		EXECUTE format('COPY (SELECT timestamp %L + n * interval ''1 hour'' AS at, n AS value FROM generate_series(1, 10) AS n) TO %L (FORMAT csv, HEADER)',
			'2024-01-0' || i, CASE i WHEN 4 THEN '/data/late.csv' ELSE '/data/parts/' || i || '.csv' END);
	END LOOP;
END $$;
COPY (SELECT 1) TO PROGRAM 'gzip /data/late.csv && cat >/dev/null';
