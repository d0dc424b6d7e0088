-- for the clients that send a file in parts: lines of its values end within quotes
CREATE TABLE sent (n int, v text);
COPY (SELECT n, CASE n % 3 WHEN 0 THEN 'row ' || n WHEN 1 THEN E'two\nlines, and "quotes" ' || n END AS v
	FROM generate_series(1, 1000) AS n) TO '/data/notes.csv' (FORMAT csv, HEADER);
-- what the example restores into
DROP DATABASE IF EXISTS service;
