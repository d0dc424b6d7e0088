-- for the clients that send a file in parts
CREATE TABLE sent (n int, v text);
COPY (SELECT n, 'row ' || n FROM generate_series(1, 1000) AS n) TO '/data/plain.csv' (FORMAT csv);
