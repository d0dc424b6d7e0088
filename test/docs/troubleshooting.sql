-- A table of ours, a role that may load into it, and a file for a day without partition
CREATE TABLE events (at timestamp NOT NULL, device int, reading float8) PARTITION BY RANGE (at);
CREATE ROLE guest;
GRANT INSERT, SELECT ON events TO guest;
GRANT pg_read_server_files TO guest;
COPY (SELECT '2030-01-01', 1, 1) TO '/data/later.csv' (FORMAT csv);
