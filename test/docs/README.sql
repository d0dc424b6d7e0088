CREATE TABLE hits (eventtime timestamptz NOT NULL, url text) PARTITION BY RANGE (eventtime);
COPY (SELECT timestamptz '2013-07-01' + (n * 7919 % 259200) * interval '1 second', 'http://example.com/' || n
	FROM generate_series(1, 1000) AS n) TO '/data/hits.csv' (FORMAT csv);

-- sales.csv.gz: packed, semicolons, decimal commas, days first, a word for what is missing
COPY (SELECT 'day;shop;amount;pieces' UNION ALL
		SELECT to_char(date '2024-01-01' + n * 7919 % 90, 'DD.MM.YYYY') || ';' || (ARRAY['Rome', 'Ulm', 'Nice'])[n % 3 + 1] || ';' ||
			translate(to_char((n * 37 % 200000) / 100.0, 'FM9G990D00'), ',.', '.,') || ';' || CASE WHEN n % 9 = 0 THEN 'n/a' ELSE (n % 7 + 1)::text END
		FROM generate_series(1, 100000) AS n)
	TO PROGRAM 'gzip >/data/sales.csv.gz' (FORMAT csv, DELIMITER '|');
