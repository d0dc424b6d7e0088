COPY (SELECT '07/04/2024 03:05 PM' AS at, 1 AS device, 1.5 AS reading) TO '/data/american.csv' (FORMAT csv, HEADER);
COPY (SELECT '2024-07-05T15:05:06.123456Z' AS at, 1 AS device, 1.5 AS reading) TO '/data/java.csv' (FORMAT csv, HEADER);
COPY (SELECT 1704067200 AS began, 1704070800000 AS ended, '02.01.2024' AS day) TO '/data/trips.csv' (FORMAT csv, HEADER);
