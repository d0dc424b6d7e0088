CREATE ROLE shop_owner;
CREATE SCHEMA shop;
GRANT USAGE ON SCHEMA shop TO shop_owner;
CREATE TABLE shop.orders (id int, day date, note text) PARTITION BY RANGE (day);
ALTER TABLE shop.orders OWNER TO shop_owner;
CREATE SCHEMA partman;
CREATE EXTENSION pg_partman SCHEMA partman;
COPY (SELECT n, date '2024-01-01' + n % 3, 'order ' || n FROM generate_series(1, 300) AS n) TO '/data/orders.csv' (FORMAT csv);
COPY (VALUES (301, date '2024-01-01', 'x'), (302, '2024-01-02', 'y')) TO '/data/later.csv' (FORMAT csv);
