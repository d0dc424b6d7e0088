/*-------------------------------------------------------------------------
 *
 * options/list.h
 *	  Every option of a load, once.
 *
 * From this list come the arguments of fast_copy(), fast_copy_analyze(),
 * fast_copy_sniff() and fast_copy_files(), in C and in SQL
 * (sql/fast_copy.sql.in), the keys of their last argument, "options", the
 * options of COPY ... WITH (fast_copy, ...), their fields in FcOptions, and
 * what hints say about them.  A new option needs a line here, one of
 * sql/help.in, a check of its value in fc_options_check(), and in the script
 * that upgrades the extension the functions with one argument more.
 *
 * X(name, type, default, kind, from, core, field, values, words)
 *
 * name		in SQL
 * type		of the argument, by which C reads its value.  FC_VALUE is a type of
 *			the extension: a text to C and in literals, but one that booleans,
 *			integers, intervals, JSON and regclass are cast to, so that
 *			header => true works, and the name of a table that does not exist
 *			gets to us, who know how it is made
 * default	of the argument and, but for that of the format, of the option.
 *			An argument with a text as its default must not be NULL, and one
 *			that has its default's value counts as not given, because nothing
 *			tells the two apart; where it matters the default is NULL.
 * kind		what is read from the value, FC_KIND_*
 * from		where it may be given, FC_FROM_*
 * core		its name in the list that core's COPY gets; the caller may give the
 *			option by this name, too.  NULL: core does not get it
 * field	of FcOptions; NAME_word if another field has what the value means
 * values	that are valid, as a hint tells them after "Use NAME =>"; NULL: any
 *			of the type
 * words	that other programs have for it, between blanks; NULL: none
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LIST_H
#define FC_LIST_H

/* In the order of the SQL declaration */
#define FC_OPTIONS(X) \
	X(timestamp_column, name, NULL, TEXT, ANY, NULL, key_column, \
	  NULL, "key sort_key") \
	X(columns, name[], NULL, LIST, FUNCTION, NULL, columns, \
	  NULL, "names fields column_names") \
	X(format, text, 'csv', TEXT, ANY, "format", format_word, \
	  "'csv', 'text', 'json' or 'binary'", "csv ndjson jsonl") \
	X(header, FC_VALUE, 'false', TEXT, ANY, NULL, header_word, \
	  "true, false, 'match', 'map' or a number of lines to skip", "skip skip_header ignore_lines auto_detect") \
	X(ignore_extra_columns, boolean, false, FLAG, ANY, NULL, ignore_extra_columns, \
	  NULL, "ignore_unknown_columns") \
	X(delimiter, text, NULL, TEXT, ANY, "delimiter", delimiter_word, \
	  NULL, "sep separator delim fields_terminated_by") \
	X(null_string, text, NULL, TEXT, ANY, "null", null_string_word, \
	  NULL, "nullstr nullif") \
	X(quote, text, NULL, TEXT, ANY, "quote", quote_word, \
	  NULL, "enclosed_by optionally_enclosed_by") \
	X(escape, text, NULL, TEXT, ANY, "escape", escape_word, \
	  NULL, "escaped_by") \
	X(force_not_null, name[], NULL, LIST, ANY, "force_not_null", force_not_null, \
	  NULL, "not_null") \
	X(force_null, name[], NULL, LIST, ANY, "force_null", force_null, \
	  NULL, "null_quoted") \
	X(default_string, text, NULL, TEXT, ANY, "default", default_string, \
	  NULL, NULL) \
	X(encoding, name, NULL, TEXT, ANY, "encoding", encoding_word, \
	  NULL, "charset character_set") \
	X(where_clause, text, NULL, TEXT, ANY, NULL, where_clause, \
	  NULL, "filter condition where") \
	X(timestamp_format, FC_VALUE, NULL, JSON, ANY, NULL, timestamp_format, \
	  NULL, "timestampformat dateformat date_format datestyle epoch") \
	X(time_zone, text, NULL, TEXT, EVERY, NULL, time_zone, \
	  NULL, "timezone tz") \
	X(partition_interval, text, NULL, TEXT, EVERY, NULL, interval, \
	  NULL, "interval") \
	X(missing_partitions, text, 'create', TEXT, ANY, NULL, missing_partitions_word, \
	  "'create', 'error' or 'default'", "create_partitions") \
	X(order_by, text[], NULL, LIST, ANY, NULL, order_by, \
	  NULL, "sort") \
	X(freeze, boolean, false, FLAG, ANY, NULL, freeze, \
	  NULL, NULL) \
	X(on_error, text, 'stop', TEXT, ANY, NULL, on_error_word, \
	  "'stop', 'ignore' or 'set_null'", "ignore_errors on_error_stop on_error_resume_next") \
	X(on_error_classes, text[], NULL, LIST, ANY, NULL, on_error_classes_word, \
	  "conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition, unique, replace_invalid and cut_long", NULL) \
	X(reject_limit, FC_VALUE, NULL, TEXT, ANY, NULL, reject_limit_word, \
	  "100, '1%', '100 per file' or '1% per file'", "max_errors rejects_limit limit") \
	X(reject_table, FC_VALUE, NULL, TABLE, ANY, NULL, reject_table, \
	  NULL, "rejects_table store_rejects bad_file rejects") \
	X(log_verbosity, text, 'default', TEXT, EVERY, NULL, log_verbosity_word, \
	  "'default', 'verbose' or 'silent'", "verbose silent") \
	X(run_analyze, boolean, false, FLAG, EVERY, NULL, run_analyze, \
	  NULL, "analyze") \
	X(progress, FC_VALUE, NULL, TEXT, EVERY, NULL, progress_word, \
	  NULL, NULL) \
	X(workers, integer, NULL, INTEGER, EVERY, NULL, workers, \
	  NULL, "parallel parallelism threads jobs concurrency") \
	X(program, boolean, false, FLAG, ONE_CALL, NULL, program, \
	  NULL, "command pipe") \
	X(remote_commit, text, 'auto', TEXT, ANY, NULL, remote_commit_word, \
	  "'auto', 'two_phase' or 'one_phase'", "2pc") \
	X(nodes, name[], NULL, LIST, ANY, NULL, nodes, \
	  NULL, "servers") \
	X(existing_rows, text, 'keep', TEXT, ANY, NULL, existing_rows_word, \
	  "'keep', 'replace' or 'merge'", "truncate overwrite replace append") \
	X(replace_from, text, NULL, TEXT, EVERY, NULL, replace_from, \
	  NULL, NULL) \
	X(replace_to, text, NULL, TEXT, EVERY, NULL, replace_to, \
	  NULL, NULL) \
	X(min_replace_ratio, numeric, '0.5', TEXT, ANY, NULL, min_replace_ratio_word, \
	  NULL, NULL) \
	X(replace_method, text, 'auto', TEXT, ANY, NULL, replace_method_word, \
	  "'auto' or 'delete'", NULL) \
	X(on_conflict, text, 'error', TEXT, ANY, NULL, on_conflict_word, \
	  "'error', 'nothing' or 'update'", "upsert ignore_duplicates") \
	X(dedup_keys, name[], NULL, LIST, ANY, NULL, dedup_keys, \
	  NULL, "unique_keys") \
	X(dedup_keep, text, NULL, TEXT, ANY, NULL, dedup_keep_word, \
	  "'last' or 'first'", NULL) \
	X(dedup_order, name[], NULL, LIST, ANY, NULL, dedup_order, \
	  NULL, "newest latest only_if_newer") \
	X(delete_where, text, NULL, TEXT, ANY, NULL, delete_where, \
	  NULL, "delete_marks tombstones cdc debezium dms goldengate") \
	X(ledger, FC_VALUE, NULL, TABLE, ONE, NULL, ledger, \
	  NULL, NULL) \
	X(label, text, NULL, TEXT, ONE, NULL, label, \
	  NULL, NULL) \
	X(changed_files, text, 'error', TEXT, ANY, NULL, changed_files_word, \
	  "'error', 'skip' or 'load'", NULL) \
	X(other_files, text, 'error', TEXT, ANY, NULL, other_files_word, \
	  "'error' or 'replace'", NULL) \
	X(notify_channel, text, NULL, TEXT, ANY, NULL, notify_channel, \
	  NULL, "listen pubsub event") \
	X(transform, FC_VALUE, NULL, JSON, ANY, NULL, transform, \
	  NULL, "set expressions using") \
	X(null_strings, FC_VALUE, NULL, JSON, ANY, NULL, null_strings, \
	  NULL, "null_if_values nullstr") \
	X(trim_blanks, text, NULL, TEXT, ANY, NULL, trim_blanks_word, \
	  "'none', 'unquoted' or 'all'", "trim trim_both keep_unquoted_blanks whitespace") \
	X(number_format, text, NULL, TEXT, ANY, NULL, number_format_word, \
	  NULL, "decimal_separator thousands") \
	X(skip_empty_lines, boolean, NULL, FLAG, ANY, NULL, skip_empty_lines, \
	  NULL, "empty_lines") \
	X(missing_columns, text, 'error', TEXT, ANY, NULL, missing_columns_word, \
	  "'error', 'null' or 'default'", "null_padding trailing_nullcols fill") \
	X(max_records, bigint, NULL, INTEGER, ANY, NULL, max_records, \
	  NULL, "limit head sample maxrows") \
	X(skip_footer, FC_VALUE, NULL, TEXT, ANY, NULL, skip_footer_word, \
	  NULL, "footer trailer skipfooter tail") \
	X(comment, text, NULL, TEXT, ANY, NULL, comment, \
	  NULL, "comments comment_char") \
	X(manifest, FC_VALUE, NULL, JSON, ONE, NULL, manifest, \
	  NULL, "checksum sha256 md5") \
	X(compressed, boolean, false, FLAG, COPY, NULL, compressed, \
	  NULL, "compression gzip gz")

#endif							/* FC_LIST_H */
