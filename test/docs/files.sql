-- orders.txt: COPY's text format; customers.csv: columns in another order
COPY (SELECT n, 'item ' || n, nullif(n % 7, 0) FROM generate_series(1, 500) AS n) TO '/data/orders.txt';
COPY (SELECT 'Customer ' || n AS name, 'x' AS note, n AS id FROM generate_series(1, 50) AS n)
	TO '/data/customers.csv' (FORMAT csv, HEADER);

CREATE TABLE orders (id int PRIMARY KEY, item text, amount int);
-- lineitem.tbl: lines end with a delimiter
COPY (SELECT i, 155190 + i, 7706 + i, i % 7, 17, 21168.23, 0.04, 0.02, 'N', 'O', date '1996-03-13' + 30 * i, date '1996-02-12' + 30 * i, date '1996-03-22' + 30 * i,
		'DELIVER IN PERSON', 'TRUCK', CASE i WHEN 1 THEN 'unusual accounts. eve' ELSE 'egular courts' END, NULL FROM generate_series(1, 3) AS i)
	TO '/data/lineitem.tbl' (FORMAT csv, DELIMITER '|');
CREATE TABLE customers (id int, name text, since date DEFAULT '2024-01-01');
-- Files of ten rows each: a month of days, one that is late, some packed, one in an archive without its header
COPY (SELECT 1) TO PROGRAM 'mkdir -p /data/packed && cat >/dev/null';
DO $$
DECLARE
	path text;
BEGIN
	FOR d IN 1 .. 36 LOOP
		path := CASE WHEN d <= 30 THEN '/data/2025-01-' || to_char(d, 'FM00')
			WHEN d = 31 THEN '/data/late' WHEN d = 36 THEN '/data/2026'
			ELSE '/data/packed/2025-02-' || to_char(d - 31, 'FM00') END || '.csv';
		EXECUTE format('COPY (SELECT timestamp %L + n * interval ''1 hour'' AS at, n AS device, n AS reading
			FROM generate_series(1, 10) AS n) TO %L (FORMAT csv, HEADER %s)',
			date '2024-12-31' + d, path, (d < 36)::text);
	END LOOP;
END $$;
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd /data && gzip packed/2025-02-0[123].csv && tar -cf 2026.tar 2026.csv';
