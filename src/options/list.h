/*-------------------------------------------------------------------------
 *
 * options/list.h
 *	  Every option of a load, once.
 *
 * From this list come the arguments of fast_copy(), fast_copy_analyze(),
 * fast_copy_sniff() and fast_copy_files(), in C and in SQL
 * (sql/fast_copy.sql.in), the keys of their last argument, "options", the
 * options of COPY ... WITH (fast_copy, ...), and what hints say about them.  A
 * new option needs a line here, one of options/help_list.h, the field of
 * FcOptions that it fills, a check of its value in fc_options_check(), and in
 * the script that upgrades the extension the functions with one argument more.
 *
 * X(name, type, default, kind, from, core, field)
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
 * field	of FcOptions
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LIST_H
#define FC_LIST_H

/* In the order of the SQL declaration */
#define FC_OPTIONS(X) \
	X(timestamp_column, name, NULL, TEXT, ANY, NULL, key_column) \
	X(columns, name[], NULL, LIST, FUNCTION, NULL, columns) \
	X(format, text, 'csv', TEXT, ANY, "format", words.format) \
	X(header, FC_VALUE, 'false', TEXT, ANY, NULL, words.header) \
	X(ignore_extra_columns, boolean, false, FLAG, ANY, NULL, ignore_extra_columns) \
	X(delimiter, text, NULL, TEXT, ANY, "delimiter", words.delimiter) \
	X(null_string, text, NULL, TEXT, ANY, "null", words.null_string) \
	X(quote, text, NULL, TEXT, ANY, "quote", words.quote) \
	X(escape, text, NULL, TEXT, ANY, "escape", words.escape) \
	X(force_not_null, name[], NULL, LIST, ANY, "force_not_null", force_not_null) \
	X(force_null, name[], NULL, LIST, ANY, "force_null", force_null) \
	X(default_string, text, NULL, TEXT, ANY, "default", default_string) \
	X(encoding, name, NULL, TEXT, ANY, "encoding", words.encoding) \
	X(where_clause, text, NULL, TEXT, ANY, NULL, where_clause) \
	X(timestamp_format, FC_VALUE, NULL, JSON, ANY, NULL, timestamp_format) \
	X(time_zone, text, NULL, TEXT, EVERY, NULL, time_zone) \
	X(partition_interval, text, NULL, TEXT, EVERY, NULL, interval) \
	X(missing_partitions, text, 'create', TEXT, ANY, NULL, words.missing_partitions) \
	X(order_by, text[], NULL, LIST, ANY, NULL, order_by) \
	X(freeze, boolean, false, FLAG, ANY, NULL, freeze) \
	X(on_error, text, 'stop', TEXT, ANY, NULL, words.on_error) \
	X(on_error_classes, text[], NULL, LIST, ANY, NULL, words.on_error_classes) \
	X(reject_limit, FC_VALUE, NULL, TEXT, ANY, NULL, words.reject_limit) \
	X(reject_table, FC_VALUE, NULL, TABLE, ANY, NULL, reject_table) \
	X(log_verbosity, text, 'default', TEXT, EVERY, NULL, words.log_verbosity) \
	X(run_analyze, boolean, false, FLAG, EVERY, NULL, run_analyze) \
	X(progress, FC_VALUE, NULL, TEXT, EVERY, NULL, words.progress) \
	X(workers, integer, NULL, INTEGER, EVERY, NULL, workers) \
	X(program, boolean, false, FLAG, ONE_CALL, NULL, program) \
	X(remote_commit, text, 'auto', TEXT, ANY, NULL, words.remote_commit) \
	X(nodes, name[], NULL, LIST, ANY, NULL, nodes) \
	X(existing_rows, text, 'keep', TEXT, ANY, NULL, words.existing_rows) \
	X(replace_from, text, NULL, TEXT, EVERY, NULL, replace_from) \
	X(replace_to, text, NULL, TEXT, EVERY, NULL, replace_to) \
	X(min_replace_ratio, numeric, '0.5', TEXT, ANY, NULL, words.min_replace_ratio) \
	X(replace_method, text, 'auto', TEXT, ANY, NULL, words.replace_method) \
	X(on_conflict, text, 'error', TEXT, ANY, NULL, words.on_conflict) \
	X(dedup_keys, name[], NULL, LIST, ANY, NULL, dedup_keys) \
	X(dedup_keep, text, NULL, TEXT, ANY, NULL, words.dedup_keep) \
	X(dedup_order, name[], NULL, LIST, ANY, NULL, dedup_order) \
	X(delete_where, text, NULL, TEXT, ANY, NULL, delete_where) \
	X(ledger, FC_VALUE, NULL, TABLE, ONE, NULL, ledger) \
	X(label, text, NULL, TEXT, ONE, NULL, label) \
	X(changed_files, text, 'error', TEXT, ANY, NULL, words.changed_files) \
	X(other_files, text, 'error', TEXT, ANY, NULL, words.other_files) \
	X(notify_channel, text, NULL, TEXT, ANY, NULL, notify_channel) \
	X(transform, FC_VALUE, NULL, JSON, ANY, NULL, transform) \
	X(null_strings, FC_VALUE, NULL, JSON, ANY, NULL, null_strings) \
	X(trim_blanks, text, NULL, TEXT, ANY, NULL, words.trim_blanks) \
	X(number_format, text, NULL, TEXT, ANY, NULL, words.number_format) \
	X(skip_empty_lines, boolean, NULL, FLAG, ANY, NULL, skip_empty_lines) \
	X(missing_columns, text, 'error', TEXT, ANY, NULL, words.missing_columns) \
	X(max_records, bigint, NULL, INTEGER, ANY, NULL, max_records) \
	X(skip_footer, FC_VALUE, NULL, TEXT, ANY, NULL, words.skip_footer) \
	X(comment, text, NULL, TEXT, ANY, NULL, comment) \
	X(manifest, FC_VALUE, NULL, JSON, ONE, NULL, manifest) \
	X(compressed, boolean, false, FLAG, COPY, NULL, compressed)

#endif							/* FC_LIST_H */
