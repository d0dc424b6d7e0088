/*-------------------------------------------------------------------------
 *
 * options/help_list.h
 *	  What there is to say about every option, once.
 *
 * From this list come fast_copy_help(), the hints that tell valid values, and
 * docs/reference.md ("make docs").  options/list.h says what the options are;
 * options/option.c fails to compile unless both lists have the same ones.
 * test/docs runs each example.
 *
 * X(name, copy, values, sample, words, meaning, text, example)
 *
 * name		in SQL, as in options/list.h
 * copy		what COPY calls it; NULL: COPY has no such thing
 * values	that are valid, as a hint tells them after "Use NAME =>"; NULL: any
 *			of the type
 * sample	a value, a list without braces; where words that SQL reserves are
 *			valid, one of those.  sql/fast_copy.sql.in makes of it how it is
 *			written in a call, in JSON and in COPY.
 * words	that other programs have for it, between blanks; NULL: none
 * meaning	a phrase for a column of 24 characters
 * text		whole sentences: the default, the values, how it differs from COPY
 * example	a call, in lines of 70 characters at most
 *
 * FC_HELP_FIRST and FC_HELP_LAST have those of no other list, with type,
 * default and where they may be given:
 *
 * X(name, type, preset, from, copy, values, sample, words, meaning, text,
 *   example)
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HELP_LIST_H
#define FC_HELP_LIST_H

/* Arguments that stand before all others */
#define FC_HELP_FIRST(X) \
	X(target, "regclass", "", CALL, "table", NULL, "events", "table into", \
	  "the table to load", \
	  "The table, partitioned or not, that the rows are loaded into. A partition can be loaded by itself.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true);") \
	X(source, "text or text[]", "", CALL, "FROM", NULL, "/data/events.csv", "file path infile files read_csv", \
	  "a file on the server, a pattern, or an array of both", \
	  "The path of a file that the server can read, a pattern with *, ? or [, or an array of both; with program => true, a command. " \
	  "Files packed by gzip, zip, zstd, lz4, bzip2 or xz are recognized by their content and unpacked. Several files are one load, " \
	  "in the order of the array; those of a pattern are in byte order of their names. COPY takes one file.", \
	  "SELECT fast_copy('events', ARRAY['/data/2025-01-*.csv', '/data/late.csv'],\n  header => true);")

/* Options of options/list.h, in its order */
#define FC_HELP(X) \
	X(timestamp_column, NULL, NULL, "at", "key sort_key", \
	  "key to sort by, if it is not the partition key", \
	  "The column that rows are sorted by. By default it is the partition key; a plain table is then loaded in the order of the file. " \
	  "A key is of the type timestamp, timestamptz, date, smallint, integer or bigint. A table that is partitioned in another way " \
	  "than by range over one such column is loaded in this order only if it is named.", \
	  "SELECT fast_copy('log', '/data/events.csv', 'at', header => true);") \
	X(columns, "(list)", NULL, "device,at", "names fields column_names", \
	  "columns of the file, in its order", \
	  "The columns that the fields of the file are loaded into, in the order of the fields, as in COPY's list of columns. The default is all " \
	  "columns of the table. With header => 'map', the header names them instead.", \
	  "SELECT fast_copy('events', '/data/devices.csv', columns => '{device,at}');") \
	X(format, "FORMAT", "'csv', 'text', 'json' or 'binary'", "text", "csv ndjson jsonl", \
	  "csv, text, json or binary", \
	  "The format of the file, as COPY defines it; or 'json', if each line is an object whose keys are the columns. The default of the function is 'csv'; that of COPY, also with the option fast_copy, is 'text'.", \
	  "SELECT fast_copy('orders', '/data/orders.txt', format => 'text');") \
	X(header, "HEADER", "true, false, 'match', 'map' or a number of lines to skip", "map", "skip skip_header ignore_lines auto_detect", \
	  "true, match, map, or lines to skip", \
	  "Whether the file begins with a line of names. true skips one line, a number skips that many lines, and 'match' refuses a file whose names " \
	  "are not those of the columns, in the same order. 'map' finds the columns by the names, in any order; columns that are not in the file get " \
	  "their default, or NULL without one. If no column has exactly the name of a field, case does not matter: EventTime is the column eventtime, and blanks around names do not count. Each file is mapped by its own header. " \
	  "COPY has no 'map', and numbers only in newer versions.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => 'map');") \
	X(ignore_extra_columns, NULL, NULL, "true", "ignore_unknown_columns", \
	  "skip fields that are not columns", \
	  "Skips fields that the table has no column for: with header => 'map' those whose name is not a column, else those after the last column, as " \
	  "where each line ends with a delimiter. By default they are an error.", \
	  "SELECT fast_copy('customers', '/data/customers.csv', header => 'map',\n  ignore_extra_columns => true);") \
	X(delimiter, "DELIMITER", NULL, ";", "sep separator delim fields_terminated_by", \
	  "what stands between fields", \
	  "What separates fields, 1 to 8 bytes, of which COPY takes only one: by default a comma, or a tab in text format. The binary format has none.", \
	  "SELECT fast_copy('events', '/data/semicolons.csv', header => true,\n  delimiter => ';');") \
	X(null_string, "NULL", NULL, "NA", "nullstr nullif", \
	  "what stands for NULL", \
	  "The text that stands for NULL where it is not quoted: by default the empty string, or \\N in text format. " \
	  "COPY calls it NULL, which is a reserved word of SQL; COPY with the option fast_copy takes both names.", \
	  "SELECT fast_copy('events', '/data/na.csv', header => true,\n  null_string => 'NA');") \
	X(quote, "QUOTE", NULL, "'", "enclosed_by optionally_enclosed_by", \
	  "the byte around quoted fields", \
	  "The byte that begins and ends a quoted field of a CSV file: by default a double quote. With 'none', which COPY does not have, " \
	  "no field is quoted: quotes, backslashes and a line with \\. alone are data, and each line is a record.", \
	  "SELECT fast_copy('customers', '/data/apostrophes.csv', quote => '''');") \
	X(escape, "ESCAPE", NULL, "~", "escaped_by", \
	  "the byte before a quote within quotes", \
	  "The byte that makes the quote, or escape byte, after it a part of a quoted value. The default is the quote itself. " \
	  "In text format only 'none', which COPY does not have: backslashes are data, as in lines of JSON, and each line is a record.", \
	  "SELECT fast_copy('customers', '/data/backslashes.csv', escape => '\\');") \
	X(force_not_null, "FORCE_NOT_NULL", NULL, "name", "not_null", \
	  "columns in which an unquoted null string is a value", \
	  "Columns in which null_string does not stand for NULL, even where it is not quoted. '{*}' stands for all columns.", \
	  "SELECT fast_copy('customers', '/data/nameless.csv',\n  force_not_null => '{name}');") \
	X(force_null, "FORCE_NULL", NULL, "name", "null_quoted", \
	  "columns in which a quoted null string is NULL", \
	  "Columns in which null_string stands for NULL, even where it is quoted. '{*}' stands for all columns.", \
	  "SELECT fast_copy('customers', '/data/nameless.csv', force_null => '{*}');") \
	X(default_string, "DEFAULT", NULL, "(default)", NULL, \
	  "what stands for a column's default", \
	  "The text that stands for the default of the column. COPY calls it DEFAULT, and has it from PostgreSQL 16 on; fast_copy has it on every version.", \
	  "SELECT fast_copy('customers', '/data/defaults.csv',\n  default_string => '\\D');") \
	X(encoding, "ENCODING", NULL, "LATIN1", "charset character_set", \
	  "encoding of the file", \
	  "The encoding of the file, by its name in PostgreSQL: by default that of the client. UTF16, and UTF16LE and UTF16BE, are made UTF-8 as they are read; " \
	  "where the encoding is UTF8, so is a file that begins with a byte order mark of UTF-16.", \
	  "SELECT fast_copy('customers', '/data/latin1.csv', encoding => 'LATIN1');") \
	X(where_clause, "WHERE", NULL, "device <= 50", "filter condition where", \
	  "condition on the rows to load", \
	  "A condition. Rows for which it is not true are left out, and counted as filtered. As in COPY, it can contain neither aggregates nor subqueries. Times in it are in time_zone. $file, $line, $byte_offset, $row and $path.NAME stand for where a row came from, as in transform.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  where_clause => 'device <= 50');") \
	X(timestamp_format, NULL, NULL, "epoch_ms", "timestampformat dateformat date_format datestyle epoch", \
	  "how dates and times are written", \
	  "A pattern for the key column, or a JSON object {\"column\": \"pattern\", ...} for any columns of the types timestamp, timestamptz and date: " \
	  "epoch_s, epoch_ms, epoch_us or epoch_ns, a pattern of to_timestamp, or one in the notation of Java. By default values are read as COPY reads them.", \
	  "SELECT fast_copy('events', '/data/epochs.csv', header => true,\n  timestamp_format => 'epoch_ms', time_zone => 'UTC');") \
	X(time_zone, NULL, NULL, "UTC", "timezone tz", \
	  "zone of times without one", \
	  "The time zone of times that name none, in the file, in where_clause, transform, replace_from and replace_to: by default that of the session. " \
	  "Defaults of columns are always evaluated in the time zone of the session, and the first partitions of a table are days there.", \
	  "SELECT fast_copy('visits', '/data/visits.csv',\n  time_zone => 'America/New_York');") \
	X(partition_interval, NULL, NULL, "1 month", "interval", \
	  "width of new partitions", \
	  "How wide new partitions are, as an interval such as '1 day' or '1 month', or a number for an integer key. By default they are as wide as the " \
	  "existing ones; the first ones of a table are a day wide, and an integer key needs a width. If pg_partman manages the table, its configuration decides instead. " \
	  "A load that would create many small partitions warns, and suggests a wider interval.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  partition_interval => '1 month');") \
	X(missing_partitions, NULL, "'create', 'error' or 'default'", "default", "create_partitions", \
	  "create them, error, or use the default partition", \
	  "What happens to a row whose partition does not exist: 'create' creates the partition, 'error' refuses the row, and 'default' puts it into the " \
	  "default partition. Partitions are created by range over one column, a timestamp, timestamptz, date or integer, and by list, one for each value; with " \
	  "sub-partitions as the newest one has them. COPY does one of the last two, depending on whether there is a default partition.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  missing_partitions => 'error');") \
	X(order_by, NULL, NULL, "device,at DESC", "sort", \
	  "order of the rows in each partition", \
	  "The columns by which the rows of each partition, or of a plain table, are sorted, as in ORDER BY. The default is the key. Equal rows keep the order of the files.", \
	  "SELECT fast_copy('log', '/data/events.csv', header => true,\n  order_by => ARRAY['device', 'at DESC']);") \
	X(freeze, "FREEZE", NULL, "true", NULL, \
	  "freeze rows of a new table", \
	  "Freezes the rows as they are written, as VACUUM FREEZE would do. The table, or each partition that gets rows, must have been created or truncated in the same transaction.", \
	  "BEGIN;\nTRUNCATE log;\nSELECT fast_copy('log', '/data/events.csv', header => true,\n  freeze => true);\nCOMMIT;") \
	X(on_error, "ON_ERROR", "'stop', 'ignore' or 'set_null'", "ignore", "ignore_errors on_error_stop on_error_resume_next", \
	  "stop, ignore, or set_null", \
	  "What happens to a record that cannot be loaded: 'stop' ends the load with COPY's error, 'ignore' skips the record, and 'set_null' makes " \
	  "the bad value NULL. on_error_classes names the errors that are tolerated.", \
	  "SELECT fast_copy('events', '/data/dirty.csv', on_error => 'set_null',\n  on_error_classes => '{conversion,missing_columns}');") \
	X(on_error_classes, NULL, \
	  "conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition, unique, replace_invalid and cut_long", "conversion,unique", NULL, \
	  "errors that on_error tolerates", \
	  "The classes of errors that on_error tolerates: 'conversion' (a value that the column's type refuses), 'missing_columns' and 'extra_columns' (too few or too many " \
	  "fields), 'encoding' (bytes that are not valid characters), 'check' and 'not_null' (a row that violates such a constraint), 'no_partition' (a row that belongs to no " \
	  "partition) and 'unique' (of two equal rows, the later one of the file). Two classes mend the value and keep the record: 'replace_invalid' puts " \
	  "U+FFFD, or ? in a database that is not in UTF8, in place of bytes that are not valid characters, and 'cut_long' cuts values that are too long for " \
	  "varchar(n) or char(n). The default is 'conversion', the only one that COPY tolerates. " \
	  "In COPY, quote check and unique, which are keywords of SQL: on_error_classes (conversion, 'unique').", \
	  "SELECT fast_copy('events', '/data/dirty.csv', on_error => 'ignore',\n  on_error_classes => '{conversion,missing_columns}');") \
	X(reject_limit, "REJECT_LIMIT", "100, '1%', '100 per file' or '1% per file'", "1000", "max_errors rejects_limit limit", \
	  "records skipped before it is an error", \
	  "The largest number of records that on_error may skip, or with a percent sign the largest part of all records, which is judged at the end of the load. More ends the load with an error. " \
	  "With 'per file' no file may have more. By default there is no limit.", \
	  "SELECT fast_copy('events', '/data/half.csv', on_error => 'ignore',\n  reject_limit => 1000);") \
	X(reject_table, NULL, NULL, "rejects", "rejects_table store_rejects bad_file rejects", \
	  "table for skipped records", \
	  "A table that keeps the records that on_error skips, each with its file, line and error. fast_copy_create_reject_table creates such a table.", \
	  "SELECT fast_copy_create_reject_table('rejects');\nSELECT fast_copy('events', '/data/half.csv', on_error => 'ignore',\n  reject_table => 'rejects');") \
	X(log_verbosity, "LOG_VERBOSITY", "'default', 'verbose' or 'silent'", "verbose", "verbose silent", \
	  "default, verbose or silent: NOTICEs about records", \
	  "How much is said about records that are skipped: 'default' gives their number at the end, 'verbose' a NOTICE for each, and 'silent' nothing. 'silent' also suppresses the warning about many small partitions and the line at the end of a load.", \
	  "SELECT fast_copy('events', '/data/half.csv', on_error => 'ignore',\n  log_verbosity => 'verbose');") \
	X(run_analyze, NULL, NULL, "true", "analyze", \
	  "ANALYZE after the load", \
	  "Gathers statistics about the table, and about each partition that got rows, as ANALYZE does.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  run_analyze => true);") \
	X(progress, NULL, NULL, "5s", NULL, \
	  "NOTICEs every so often; true: every second", \
	  "The interval between NOTICEs that report the phase, percentage, rate and time left; true means one second. By default, and with false, there are none. " \
	  "The view fast_copy_progress shows the progress to other sessions.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  progress => '5s');") \
	X(workers, NULL, NULL, "4", "parallel parallelism threads jobs concurrency", \
	  "processes beside the session's own", \
	  "The parallel workers that help the session's own process, from 0 to 256. By default the setting fast_copy.workers decides. There may be fewer: " \
	  "max_parallel_workers and max_worker_processes limit their number.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  workers => 2);") \
	X(program, "PROGRAM", NULL, "true", "command pipe", \
	  "source is a command", \
	  "If true, source is a command, or an array of commands. The server runs them, as in COPY ... FROM PROGRAM, and their output is loaded.", \
	  "SELECT fast_copy('events', 'tar -xOf /data/2026.tar', program => true);") \
	X(compressed, NULL, NULL, "true", "compression gzip gz", \
	  "only in COPY: data from the client may be packed", \
	  "An option of COPY ... FROM STDIN: the data from the client may be packed, and are unpacked if they are. Files on the server need no option for that.", \
	  "LOAD 'fast_copy';\n\\copy events from 'new.csv.gz' (fast_copy, compressed, format csv, header)") \
	X(remote_commit, NULL, "'auto', 'two_phase' or 'one_phase'", "two_phase", "2pc", \
	  "auto, two_phase or one_phase: on other servers", \
	  "How rows in foreign tables of postgres_fdw are committed. With 'two_phase', either all servers have the rows or none has, whatever crashes, once all of them are up and " \
	  "fast_copy_resolve has run; if a server does not prepare transactions, the load fails before the first row. With 'one_phase' the servers commit one after the other, " \
	  "as by postgres_fdw. The default, 'auto', is two_phase; it is one_phase, with a NOTICE, if a server does not prepare transactions, or not as many as are needed. " \
	  "It needs the extension fast_copy_cluster.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  remote_commit => 'two_phase');") \
	X(nodes, NULL, NULL, "node1,node2", "servers", \
	  "foreign servers for new partitions", \
	  "The foreign servers of postgres_fdw on which missing partitions are created, each on the server that has the fewest partitions of the table; on this server they are foreign tables. " \
	  "By default missing partitions are created on this server, and it is an error if all existing ones are foreign tables. " \
	  "It needs the extension fast_copy_cluster.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  nodes => '{node1,node2}');") \
	X(existing_rows, NULL, "'keep', 'replace' or 'merge'", "merge", "truncate overwrite replace append", \
	  "keep, replace, or merge with the rows of loaded partitions", \
	  "What happens to the rows that each partition, or the plain table, already has. 'keep' adds the rows of the file to them. 'replace' removes them in the " \
	  "same transaction, as a DELETE before the COPY would. 'merge' writes them again, in order together with the rows of the file; with dedup_keys, only one of several equal rows stays. " \
	  "Partitions for which the file has no rows stay as they are, and so does the default partition. 'replace' and 'merge' need the privilege DELETE.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'replace');") \
	X(replace_from, NULL, NULL, "2024-01-01", NULL, \
	  "first key of the rows to replace", \
	  "With existing_rows 'replace', all rows with keys from replace_from up to, but not including, replace_to are replaced, also in partitions for which the file has no rows " \
	  "and in the default partition. A row of the file with a key outside this range is an error. By default each partition that gets rows is replaced as a whole. " \
	  "Both are read like the keys of the file, by timestamp_format and in time_zone, or as YYYY-MM-DD.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'replace', replace_from => '2024-01-01',\n  replace_to => '2024-02-01');") \
	X(replace_to, NULL, NULL, "2024-02-01", NULL, \
	  "first key after these rows", \
	  "The end of the range that begins with replace_from. Rows with exactly this key are not replaced.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'replace', replace_from => '2024-01-01',\n  replace_to => '2024-02-01');") \
	X(min_replace_ratio, NULL, NULL, "0.9", NULL, \
	  "fewest new rows for each old one", \
	  "With existing_rows 'replace' and without a range, the load fails if a partition would get fewer new rows than this ratio times the rows that it has, because the file may be " \
	  "incomplete. The default is 0.5; 0 allows any number of rows except none.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'replace', min_replace_ratio => 0.9);") \
	X(replace_method, NULL, "'auto' or 'delete'", "delete", NULL, \
	  "exchange files where possible, or delete rows", \
	  "With existing_rows 'replace', how the old rows go: 'auto' exchanges the files of a partition where only transactions with a snapshot older than the commit could tell, and " \
	  "deletes rows elsewhere; 'delete' deletes all of them, and inserts the new ones, so that any transaction, such as that of pg_dump, reads either the whole load or nothing of it.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'replace', replace_method => 'delete');") \
	X(on_conflict, NULL, "'error', 'nothing' or 'update'", "update", "upsert ignore_duplicates", \
	  "error, nothing or update: rows that exist already", \
	  "What happens to a row if the table already has one that is equal in dedup_keys, according to a unique index: 'error' ends the load, 'nothing' skips the new row, and " \
	  "'update' sets the columns of the file in the existing row, as INSERT ... ON CONFLICT does. Rows of existing partitions go through a table of their own, from which PostgreSQL's own code inserts them. " \
	  "'update' needs the privilege UPDATE.", \
	  "SELECT fast_copy('latest', '/data/events.csv', header => true,\n  on_conflict => 'update', dedup_keys => '{at,device}');") \
	X(dedup_keys, NULL, NULL, "at,device", "unique_keys", \
	  "columns in which no two rows may be equal", \
	  "With existing_rows 'merge', only one of several rows that are equal in all these columns stays, whether they come from the file or from a partition that gets rows; NULLs are equal. " \
	  "With on_conflict, the columns of the unique index that decides which rows conflict, by default those of the primary key; of rows of the file that are equal in these columns, one is used. " \
	  "If the table is partitioned, its key must be one of them. By default all rows are merged.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'merge', dedup_keys => '{at,device}');") \
	X(dedup_keep, NULL, "'last' or 'first'", "first", NULL, \
	  "last or first: which of equal rows stays", \
	  "Which of several rows that are equal in dedup_keys stays. Rows of the table count as coming first, then those of the file, in its order. So 'last', the default, lets the file correct the table, " \
	  "and 'first' adds only rows that the table does not have. With on_conflict 'nothing' it is 'first' by default.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'merge', dedup_keep => 'first',\n  dedup_keys => '{at,device}');") \
	X(dedup_order, NULL, NULL, "at", "newest latest only_if_newer", \
	  "columns in which the greatest of equal rows stays", \
	  "Of several rows that are equal in dedup_keys the one stays that is the greatest in these columns, wherever it comes from: with the time of a change, an older file never " \
	  "overwrites a newer row. NULL loses to every value. Of rows that are equal in these, too, one stays as dedup_keep says.", \
	  "SELECT fast_copy('monthly', '/data/events.csv', header => true,\n  existing_rows => 'merge', dedup_keys => '{at,device}',\n  dedup_order => '{reading}');") \
	X(delete_where, NULL, NULL, "op = 'D'", "delete_marks tombstones cdc debezium dms goldengate", \
	  "condition for rows of the file that delete others", \
	  "Rows of the file for which this is true are delete marks: of rows that are equal in dedup_keys one is chosen first, by dedup_order or the order of the file, and if that is a mark, " \
	  "neither it nor the row of the table stays. Names are columns of the table, as in where_clause, or else fields of the file, as in transform, which are texts. It must not call volatile functions. " \
	  "Needs existing_rows 'merge' or on_conflict 'update', and the privilege DELETE.", \
	  "SELECT fast_copy('latest', '/data/events.csv', header => true,\n  on_conflict => 'update', dedup_keys => '{at,device}',\n  delete_where => 'reading < 0');") \
	X(ledger, NULL, NULL, "loads", NULL, \
	  "table that records which files are loaded", \
	  "A table created by fast_copy_create_ledger_table(). The load skips files that the ledger already records for this table, and records each file that it loads, in " \
	  "its own transaction. So the same call, repeated after a crash or made by two sessions at once, loads each file once. It needs the privileges SELECT, INSERT and UPDATE on the ledger.", \
	  "SELECT fast_copy('events', '/data/2025-01-*.csv', header => true,\n  ledger => 'loads');") \
	X(label, NULL, NULL, "2026.tar", NULL, \
	  "the ledger's name for data that is not a file", \
	  "The name under which a ledger records what a program prints or the client sends. If the ledger already has this name, nothing is loaded, and a program is not even started.", \
	  "SELECT fast_copy('events', 'tar -xOf /data/2026.tar', program => true,\n  ledger => 'loads', label => '2026.tar');") \
	X(changed_files, NULL, "'error', 'skip' or 'load'", "skip", NULL, \
	  "error, skip or load: files that changed since", \
	  "What happens to a file that the ledger records, but with different content: 'error' ends the load, 'skip' skips the file, and 'load' loads all of it, " \
	  "in addition to the rows that came from it before. A file that was only touched or copied again has not changed, because its checksum is the same.", \
	  "SELECT fast_copy('events', '/data/2025-01-*.csv', header => true,\n  ledger => 'loads', changed_files => 'skip');") \
	X(other_files, NULL, "'error' or 'replace'", "replace", NULL, \
	  "error or replace: rows of files that are not named", \
	  "What happens with existing_rows 'replace' if, by the ledger, partitions to be replaced have rows of files that the call does not name: 'error' ends the load, and 'replace' replaces these rows, too, " \
	  "with a warning. If the ledger does not tell between which keys the rows of a file are, the load only warns.", \
	  "SELECT fast_copy('events', '/data/2025-01-05.csv', header => true,\n  ledger => 'loads', changed_files => 'load',\n  existing_rows => 'replace', other_files => 'replace');") \
	X(notify_channel, NULL, NULL, "loads", "listen pubsub event", \
	  "channel of NOTIFY for files that were loaded", \
	  "When the transaction commits, sessions that LISTEN on this channel are told that the ledger has more files: the notification's payload is a JSON object with the names of the ledger and the table, " \
	  "and tells no path. A transaction with such a load cannot be prepared for a two-phase commit.", \
	  "SELECT fast_copy('events', '/data/2025-01-*.csv', header => true,\n  ledger => 'loads', notify_channel => 'loads');") \
	X(transform, NULL, NULL, "name = initcap(name)", "set expressions using", \
	  "expressions that compute values from the fields", \
	  "Columns and the SQL expressions that compute their values, written as after SET in UPDATE, or as a JSON object. An expression sees the fields of the file as text, under the names that the header, " \
	  "columns or the table gives them, or as $1, $2 and so on; they are NULL where null_string or null_strings says so. If the result is text, the column's type reads it as it would read a field; " \
	  "otherwise it is assigned as in INSERT. DEFAULT gives the column its default. $file, $line, $byte_offset and $row stand for where a row came from, " \
	  "and $path.day for the value of a folder day=2024-01-01 in the path of its file. With header => 'map' or columns, the file may have fields that are used only in expressions. " \
	  "Subqueries are refused, as in COPY ... WHERE.", \
	  "SELECT fast_copy('customers', '/data/customers.csv', header => 'map',\n  ignore_extra_columns => true,\n  transform => 'name = initcap(trim(name))');") \
	X(null_strings, NULL, NULL, "[\"n/a\", \"-\"]", "null_if_values nullstr", \
	  "further words that stand for NULL", \
	  "Words that stand for NULL as null_string does, where they are not quoted: one word, a JSON array of words for all columns, or a JSON object of columns and their words. " \
	  "In columns of force_null, quoted words count too. With trim_blanks, blanks around them are ignored.", \
	  "SELECT fast_copy('orders', '/data/words.csv',\n  null_strings => '{\"amount\": [\"n/a\", \"-\"]}');") \
	X(trim_blanks, NULL, "'none', 'unquoted' or 'all'", "all", "trim trim_both keep_unquoted_blanks whitespace", \
	  "none, unquoted or all: remove blanks around values", \
	  "Removes blanks and tabs around values: of no field, which is the default, of unquoted fields, or of all fields. Fields are compared with null_string before that, so a field that consists of blanks " \
	  "becomes an empty text, and NULL only if null_strings contains one. In text format, no field is quoted.", \
	  "SELECT fast_copy('orders', '/data/blanks.csv',\n  trim_blanks => 'unquoted');") \
	X(number_format, NULL, NULL, "1.234,56", "decimal_separator thousands", \
	  "an example of how numbers are written", \
	  "An example number that shows which characters the file uses between thousands and before decimals, such as '1.234,56', '1 234,56', or '1234,56' if nothing separates thousands. In a database in UTF8, a blank in it stands for no-break spaces (U+00A0, U+202F), too. " \
	  "It applies to columns of the types smallint, integer, bigint, real, double precision and numeric, and to domains over them. A value with separators in other places is refused as invalid: " \
	  "12.34 is not a number if the point separates thousands.", \
	  "SELECT fast_copy('orders', '/data/numbers.csv',\n  number_format => '1.234,56');") \
	X(skip_empty_lines, NULL, NULL, "true", "empty_lines", \
	  "leave out empty lines", \
	  "Leaves out lines that contain nothing at all, outside of quotes, and counts them as filtered. By default they are records with one empty field. " \
	  "A line of blanks is still a record.", \
	  "SELECT fast_copy('orders', '/data/gaps.csv',\n  skip_empty_lines => true);") \
	X(missing_columns, NULL, "'error', 'null' or 'default'", "null", "null_padding trailing_nullcols fill", \
	  "error, null or default: what records with too few fields are", \
	  "Whether a record with too few fields is an error, as for COPY, or the fields that it lacks at its end are NULL. An empty line is a record of one empty field. " \
	  "Too many fields stay an error. In JSON a key that an object lacks is NULL, or with 'default' gets the default of its column.", \
	  "SELECT fast_copy('orders', '/data/short.csv',\n  missing_columns => 'null');") \
	X(max_records, NULL, NULL, "1000", "limit head sample maxrows", \
	  "load so many records", \
	  "Loads the first records, so many of all files together, and counts no others: to try a load. Rejected and filtered records are among them, comments and empty lines that are left out are not. " \
	  "A packed file, or what a program prints, is still read to its end. It cannot be used with a ledger.", \
	  "SELECT fast_copy('events', '/data/events.csv', header => true,\n  max_records => 20);") \
	X(skip_footer, NULL, NULL, "1", "footer trailer skipfooter tail", \
	  "lines at the end that are no records", \
	  "How many lines at the end of each file are no records, or a regular expression of PostgreSQL's that these lines match. Empty lines after them do not count, and are left out with them. " \
	  "With a regular expression a file need not have such lines.", \
	  "SELECT fast_copy('orders', '/data/trailer.csv',\n  skip_footer => '^TOTAL,');") \
	X(comment, NULL, NULL, "#", "comments comment_char", \
	  "what lines begin with that are no records", \
	  "A byte of ASCII. Lines that begin with it are left out, and counted as filtered; before and among the lines of the header they do not count as such. A comment ends with its line: " \
	  "a quote in it without its pair is an error.", \
	  "SELECT fast_copy('orders', '/data/comments.csv',\n  comment => '#');") \
	X(manifest, NULL, NULL, "[]", "checksum sha256 md5", \
	  "sizes and checksums of the files", \
	  "A list of all files of the load: JSON, or a table or view that the caller may SELECT from. Each has 'file', its path or its name without the folder, and may have 'bytes', 'sha256' and 'crc32c', of the file as it is on disk. " \
	  "A file that the list lacks, one that only the list has, and one of another size or checksum are errors, before anything is loaded; so is a file that changes until the load ends. Each file is read once before the load, and once after it.", \
	  "SELECT fast_copy('orders', '/data/listed.csv',\n  manifest => '[{\"file\": \"listed.csv\", \"bytes\": 15}]');")

/* Arguments, and options of COPY, that stand after all others */
#define FC_HELP_LAST(X) \
	X(options, "jsonb", "NULL", CALL, NULL, NULL, "{\"workers\": 4}", NULL, \
	  "the same options, as JSON", \
	  "Options as a JSON object, for programs that have them as data; they mean the same as the arguments. Each key is the name of an option, or COPY's name for it, in upper or lower case. A text is a JSON string, a " \
	  "flag is true or false, a number is a number, and a list is an array of strings; null leaves the option out. An option that is given twice, or " \
	  "as an argument as well, is an error.", \
	  "SELECT fast_copy('events', '/data/na.csv',\n  options => '{\"header\": true, \"null\": \"NA\", \"workers\": 2}');") \
	X(fast_copy, "boolean", "false", COPY, "FAST_COPY", NULL, "true", NULL, \
	  "only in COPY: fast_copy loads", \
	  "An option of COPY ... FROM: fast_copy executes the command, with COPY's defaults, and takes the options of this list in addition to COPY's own.", \
	  "LOAD 'fast_copy';\nCOPY events FROM '/data/events.csv' WITH (fast_copy, FORMAT csv, HEADER);")

#endif							/* FC_HELP_LIST_H */
