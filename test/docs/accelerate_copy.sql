-- 200,000 rows, more than fast_copy.accelerate_min_size, and as many more
CREATE TABLE orders (id int PRIMARY KEY, item text, at timestamp);
DO $$
BEGIN
	FOR part IN 0 .. 1 LOOP
		EXECUTE format('COPY (SELECT n AS id, ''item '' || n %% 977 || repeat('' of many'', 3) AS item,
			timestamp ''2024-01-01'' + n * interval ''1 second'' AS at
			FROM generate_series(%s, %s) AS n) TO ''/data/%sorders.csv'' (FORMAT csv, HEADER)',
			part * 200000 + 1, (part + 1) * 200000, CASE part WHEN 1 THEN 'more_' ELSE '' END);
	END LOOP;
END $$;
