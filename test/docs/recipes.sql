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
