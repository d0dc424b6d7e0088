-- the node is this server itself
CREATE EXTENSION postgres_fdw;
SELECT format('CREATE SERVER node1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()),
	'CREATE USER MAPPING FOR CURRENT_USER SERVER node1' \gexec
