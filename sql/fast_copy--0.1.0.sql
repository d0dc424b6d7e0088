\echo Use "CREATE EXTENSION fast_copy" to load this file. \quit

CREATE FUNCTION @extschema@.fast_copy(
	target regclass,
	source text,
	timestamp_column name DEFAULT NULL,
	columns name[] DEFAULT NULL,
	format text DEFAULT 'csv',
	header text DEFAULT 'false',
	ignore_extra_columns boolean DEFAULT false,
	delimiter text DEFAULT NULL,
	null_string text DEFAULT NULL,
	quote text DEFAULT NULL,
	escape text DEFAULT NULL,
	force_not_null name[] DEFAULT NULL,
	force_null name[] DEFAULT NULL,
	default_string text DEFAULT NULL,
	encoding name DEFAULT NULL,
	where_clause text DEFAULT NULL,
	timestamp_format text DEFAULT NULL,
	time_zone text DEFAULT NULL,
	partition_interval text DEFAULT NULL,
	missing_partitions text DEFAULT 'create',
	order_by text[] DEFAULT NULL,
	freeze boolean DEFAULT false,
	on_error text DEFAULT 'stop',
	on_error_classes text[] DEFAULT NULL,
	reject_limit bigint DEFAULT NULL,
	reject_table regclass DEFAULT NULL,
	log_verbosity text DEFAULT 'default',
	run_analyze boolean DEFAULT false,
	progress text DEFAULT NULL,
	workers integer DEFAULT NULL,
	program boolean DEFAULT false
) RETURNS bigint
AS 'MODULE_PATHNAME', 'fast_copy'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.fast_copy(regclass, text, name, name[], text, text, boolean, text, text, text, text, name[], name[], text, name, text, text, text, text, text, text[], boolean, text, text[], bigint, regclass, text, boolean, text, integer, boolean)
IS 'loads a file as COPY FROM does, in parallel, into partitions it makes where they are missing; returns the number of rows';

CREATE FUNCTION @extschema@.fast_copy(
	target regclass,
	source text[],
	timestamp_column name DEFAULT NULL,
	columns name[] DEFAULT NULL,
	format text DEFAULT 'csv',
	header text DEFAULT 'false',
	ignore_extra_columns boolean DEFAULT false,
	delimiter text DEFAULT NULL,
	null_string text DEFAULT NULL,
	quote text DEFAULT NULL,
	escape text DEFAULT NULL,
	force_not_null name[] DEFAULT NULL,
	force_null name[] DEFAULT NULL,
	default_string text DEFAULT NULL,
	encoding name DEFAULT NULL,
	where_clause text DEFAULT NULL,
	timestamp_format text DEFAULT NULL,
	time_zone text DEFAULT NULL,
	partition_interval text DEFAULT NULL,
	missing_partitions text DEFAULT 'create',
	order_by text[] DEFAULT NULL,
	freeze boolean DEFAULT false,
	on_error text DEFAULT 'stop',
	on_error_classes text[] DEFAULT NULL,
	reject_limit bigint DEFAULT NULL,
	reject_table regclass DEFAULT NULL,
	log_verbosity text DEFAULT 'default',
	run_analyze boolean DEFAULT false,
	progress text DEFAULT NULL,
	workers integer DEFAULT NULL,
	program boolean DEFAULT false
) RETURNS bigint
AS 'MODULE_PATHNAME', 'fast_copy'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.fast_copy(regclass, text[], name, name[], text, text, boolean, text, text, text, text, name[], name[], text, name, text, text, text, text, text, text[], boolean, text, text[], bigint, regclass, text, boolean, text, integer, boolean)
IS 'loads several files as one, in the order of the array; patterns stand for the files that match, in the order of their names';

CREATE FUNCTION @extschema@.fast_copy_create_reject_table(name text) RETURNS regclass
AS 'MODULE_PATHNAME', 'fast_copy_create_reject_table'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.fast_copy_create_reject_table(text)
IS 'makes a table for the argument reject_table of fast_copy, with a comment on each of its columns';

CREATE FUNCTION @extschema@.fast_copy_analyze(
	target regclass,
	source text,
	timestamp_column name DEFAULT NULL,
	columns name[] DEFAULT NULL,
	format text DEFAULT 'csv',
	header text DEFAULT 'false',
	ignore_extra_columns boolean DEFAULT false,
	delimiter text DEFAULT NULL,
	null_string text DEFAULT NULL,
	quote text DEFAULT NULL,
	escape text DEFAULT NULL,
	force_not_null name[] DEFAULT NULL,
	force_null name[] DEFAULT NULL,
	default_string text DEFAULT NULL,
	encoding name DEFAULT NULL,
	where_clause text DEFAULT NULL,
	timestamp_format text DEFAULT NULL,
	time_zone text DEFAULT NULL,
	partition_interval text DEFAULT NULL,
	missing_partitions text DEFAULT 'create',
	order_by text[] DEFAULT NULL,
	freeze boolean DEFAULT false,
	on_error text DEFAULT 'stop',
	on_error_classes text[] DEFAULT NULL,
	reject_limit bigint DEFAULT NULL,
	reject_table regclass DEFAULT NULL,
	log_verbosity text DEFAULT 'default',
	run_analyze boolean DEFAULT false,
	progress text DEFAULT NULL,
	workers integer DEFAULT NULL,
	program boolean DEFAULT false,
	OUT item text,
	OUT "name" text,
	OUT rows bigint,
	OUT bytes bigint,
	OUT low text,
	OUT high text,
	OUT line bigint,
	OUT detail text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'fast_copy_analyze'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.fast_copy_analyze(regclass, text, name, name[], text, text, boolean, text, text, text, text, name[], name[], text, name, text, text, text, text, text, text[], boolean, text, text[], bigint, regclass, text, boolean, text, integer, boolean)
IS 'what fast_copy would do with the same arguments: rows, keys, partitions, errors, warnings, choices and disk space; in a read-only transaction, but what functions of the table do outside of it is done';

CREATE FUNCTION @extschema@.fast_copy_analyze(
	target regclass,
	source text[],
	timestamp_column name DEFAULT NULL,
	columns name[] DEFAULT NULL,
	format text DEFAULT 'csv',
	header text DEFAULT 'false',
	ignore_extra_columns boolean DEFAULT false,
	delimiter text DEFAULT NULL,
	null_string text DEFAULT NULL,
	quote text DEFAULT NULL,
	escape text DEFAULT NULL,
	force_not_null name[] DEFAULT NULL,
	force_null name[] DEFAULT NULL,
	default_string text DEFAULT NULL,
	encoding name DEFAULT NULL,
	where_clause text DEFAULT NULL,
	timestamp_format text DEFAULT NULL,
	time_zone text DEFAULT NULL,
	partition_interval text DEFAULT NULL,
	missing_partitions text DEFAULT 'create',
	order_by text[] DEFAULT NULL,
	freeze boolean DEFAULT false,
	on_error text DEFAULT 'stop',
	on_error_classes text[] DEFAULT NULL,
	reject_limit bigint DEFAULT NULL,
	reject_table regclass DEFAULT NULL,
	log_verbosity text DEFAULT 'default',
	run_analyze boolean DEFAULT false,
	progress text DEFAULT NULL,
	workers integer DEFAULT NULL,
	program boolean DEFAULT false,
	OUT item text,
	OUT "name" text,
	OUT rows bigint,
	OUT bytes bigint,
	OUT low text,
	OUT high text,
	OUT line bigint,
	OUT detail text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'fast_copy_analyze'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.fast_copy_analyze(regclass, text[], name, name[], text, text, boolean, text, text, text, text, name[], name[], text, name, text, text, text, text, text, text[], boolean, text, text[], bigint, regclass, text, boolean, text, integer, boolean)
IS 'what fast_copy would do with the same files and arguments';

CREATE FUNCTION @extschema@.fast_copy_report(
	OUT phase text,
	OUT "partition" text,
	OUT processes bigint,
	OUT rows bigint,
	OUT bytes bigint,
	OUT seconds double precision,
	OUT reads bigint,
	OUT rows_per_read double precision,
	OUT io_method text,
	OUT alone double precision,
	OUT wal_bytes bigint,
	OUT spill_bytes bigint,
	OUT rows_per_second double precision,
	OUT bytes_per_second double precision,
	OUT choice text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'fast_copy_report'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION @extschema@.fast_copy_report()
IS 'the last load of this session, if the current user has the privileges of who loaded: one row per phase, one per partition loaded, and the total';

CREATE VIEW @extschema@.fast_copy_progress AS
SELECT s.pid,
	s.datid,
	d.datname,
	s.relid,
	CASE s.param20 OPERATOR(pg_catalog.&) 15
		WHEN 0 THEN 'setup'
		WHEN 1 THEN 'split'
		WHEN 2 THEN 'scan'
		WHEN 3 THEN 'partitions'
		WHEN 4 THEN 'load'
		WHEN 5 THEN 'index'
		WHEN 6 THEN 'attach'
		WHEN 8 THEN 'reject'
		WHEN 9 THEN 'check'
		WHEN 10 THEN 'analyze'
		WHEN 11 THEN 'unpack'
		WHEN 12 THEN 'receive'
	END AS phase,
	s.param1 AS bytes_processed,
	s.param2 AS bytes_total,
	s.param3 AS tuples_processed,
	s.param4 AS tuples_excluded,
	s.param7 AS tuples_skipped,
	s.param18 AS records_found,
	s.param19 OPERATOR(pg_catalog.>>) 32 AS partitions_done,
	s.param19 OPERATOR(pg_catalog.&) 4294967295 AS partitions_total,
	-- an index build of the leader uses these for something else
	CASE WHEN s.param20 OPERATOR(pg_catalog.&) 15 OPERATOR(pg_catalog.<>) 5
		THEN s.param11
	END AS workers,
	CASE WHEN s.param20 OPERATOR(pg_catalog.&) 15 OPERATOR(pg_catalog.<>) 5
		THEN s.param12
	END AS rows_per_second,
	CASE WHEN s.param20 OPERATOR(pg_catalog.&) 15 OPERATOR(pg_catalog.<>) 5
		AND s.param13 OPERATOR(pg_catalog.>=) 0
		THEN pg_catalog.make_interval(secs => s.param13 OPERATOR(pg_catalog./) 1000.0)
	END AS estimated_time_left,
	s.param8 OPERATOR(pg_catalog.>>) 32 AS steps_done,
	s.param8 OPERATOR(pg_catalog.&) 4294967295 AS steps_total
FROM pg_catalog.pg_stat_get_progress_info('COPY') AS s
	LEFT JOIN pg_catalog.pg_database AS d ON s.datid OPERATOR(pg_catalog.=) d.oid
WHERE s.param20 OPERATOR(pg_catalog.>>) 4 OPERATOR(pg_catalog.=) 112568734867299;

COMMENT ON VIEW @extschema@.fast_copy_progress
IS 'loads by fast_copy that run now, in all sessions';

COMMENT ON COLUMN @extschema@.fast_copy_progress.pid
IS 'process that loads';
COMMENT ON COLUMN @extschema@.fast_copy_progress.datid
IS 'its database';
COMMENT ON COLUMN @extschema@.fast_copy_progress.datname
IS 'name of its database';
COMMENT ON COLUMN @extschema@.fast_copy_progress.relid
IS 'table that is loaded';
COMMENT ON COLUMN @extschema@.fast_copy_progress.phase
IS 'unpack, receive, split, scan, partitions, load, index, attach, reject, check or analyze';
COMMENT ON COLUMN @extschema@.fast_copy_progress.bytes_processed
IS 'bytes of the file, as far as the load has come in all its passes; while it is unpacked or received, packed bytes';
COMMENT ON COLUMN @extschema@.fast_copy_progress.bytes_total
IS 'size of the file; while it is unpacked, its packed size; 0 while it is received';
COMMENT ON COLUMN @extschema@.fast_copy_progress.tuples_processed
IS 'rows loaded';
COMMENT ON COLUMN @extschema@.fast_copy_progress.tuples_excluded
IS 'rows that where_clause left out';
COMMENT ON COLUMN @extschema@.fast_copy_progress.tuples_skipped
IS 'records that on_error left out';
COMMENT ON COLUMN @extschema@.fast_copy_progress.records_found
IS 'records in the file, 0 until they are counted';
COMMENT ON COLUMN @extschema@.fast_copy_progress.partitions_done
IS 'partitions with all of their rows';
COMMENT ON COLUMN @extschema@.fast_copy_progress.partitions_total
IS 'partitions that get rows';
COMMENT ON COLUMN @extschema@.fast_copy_progress.workers
IS 'processes asked for beside the sessions own';
COMMENT ON COLUMN @extschema@.fast_copy_progress.rows_per_second
IS 'rows loaded a second, since the load began';
COMMENT ON COLUMN @extschema@.fast_copy_progress.estimated_time_left
IS 'time until all rows are loaded; indexes and attaching take longer';

COMMENT ON COLUMN @extschema@.fast_copy_progress.steps_done
IS 'of the phase: partitions made or attached, indexes built, tables analyzed';
COMMENT ON COLUMN @extschema@.fast_copy_progress.steps_total
IS 'how many of these there are, 0 in other phases';

GRANT SELECT ON @extschema@.fast_copy_progress TO PUBLIC;
