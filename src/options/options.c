/*-------------------------------------------------------------------------
 *
 * options/options.c
 *	  What the caller asked for, checked by COPY's own rules.
 *
 *	 arguments ──► DefElem list ──► ProcessCopyOptions ──► FcOptions
 *
 * COPY's options travel as the list COPY's grammar would make, so that rules
 * and error texts are COPY's, and a COPY statement's own list can take the
 * same way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "compat/compat.h"
#include "options/options.h"

static List *
fc_options_add(List *list, const char *name, char *value)
{
	if (value == NULL)
		return list;
	return lappend(list, makeDefElem(pstrdup(name),
									 (Node *) makeString(value), -1));
}

static List *
fc_options_add_names(List *list, const char *name, List *names)
{
	if (names == NIL)
		return list;
	return lappend(list, makeDefElem(pstrdup(name), (Node *) names, -1));
}

/* COPY's list; of several reasons to refuse, COPY's order decides */
static List *
fc_options_list(const FcArguments *args)
{
	List	   *list = NIL;

	list = fc_options_add(list, "format", args->format);
	list = fc_options_add(list, "delimiter", args->delimiter);
	list = fc_options_add(list, "null", args->null_string);
	list = fc_options_add(list, "quote", args->quote);
	list = fc_options_add(list, "escape", args->escape);
	list = fc_options_add_names(list, "force_not_null", args->force_not_null);
	list = fc_options_add_names(list, "force_null", args->force_null);
	if (FC_CORE_HAS_DEFAULT)
		list = fc_options_add(list, "default", args->default_string);
	list = fc_options_add(list, "encoding", args->encoding);
	return list;
}

/* A number of lines, or what COPY takes; false if it must be shown to COPY */
static bool
fc_options_header(FcOptions *options, const char *header)
{
	char	   *end;
	long		n;
	bool		on;

	errno = 0;
	n = strtol(header, &end, 10);
	if (end != header && *end == '\0')
	{
		if (errno != 0 || n < 0 || n > INT_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a negative or too large number of header lines: %s", header),
					 errhint("Use header%s 'true', 'match', 'map' or a number of lines to skip.",
							 fc_option_arrow(options->statement))));
		options->header_lines = (int) n;
		return true;
	}
	options->header_match = (pg_strcasecmp(header, "match") == 0);
	options->header_map = (pg_strcasecmp(header, "map") == 0);
	on = pg_strcasecmp(header, "true") == 0 || pg_strcasecmp(header, "on") == 0;
	options->header_lines = options->header_match || options->header_map || on;
	return options->header_lines > 0 ||
		pg_strcasecmp(header, "false") == 0 || pg_strcasecmp(header, "off") == 0;
}

static void
fc_options_missing(FcOptions *options, const char *missing)
{
	if (pg_strcasecmp(missing, "create") == 0)
		options->missing = FC_MISSING_CREATE;
	else if (pg_strcasecmp(missing, "error") == 0)
		options->missing = FC_MISSING_ERROR;
	else if (pg_strcasecmp(missing, "default") == 0)
		options->missing = FC_MISSING_DEFAULT;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("missing_partitions \"%s\" not recognized", missing),
				 errhint("Use \"create\", \"error\" or \"default\".")));
}

/* A value of the binary format is nothing that could be read another way */
static void
fc_options_check_binary(const FcOptions *options)
{
	if (options->timestamp_format || options->time_zone)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("cannot specify %s in BINARY mode",
						options->timestamp_format ? "timestamp_format" : "time_zone"),
				 errhint("Values of the binary format are moments already: leave it out.")));
}

/* A zone without a name would be taken for none; others are looked up later */
static void
fc_options_check_zone(const FcOptions *options)
{
	if (options->time_zone && options->time_zone[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", options->time_zone),
				 errhint("Leave time_zone out to use the session's.")));
}

static void
fc_options_check_format(const FcOptions *options)
{
	if (options->format.binary)
	{
		fc_options_check_binary(options);
		return;
	}
	if (!options->format.csv_mode)
		return;
	/* core accepts line ends here before 17, and then nothing else works */
	if (strchr("\r\n", options->format.quote[0]) ||
		strchr("\r\n", options->format.escape[0]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("COPY quote and escape cannot be newline or carriage return")));
}

/* What core of this version has no rules for; the newest version's errors */
static void
fc_options_check_default(const FcOptions *options)
{
	const CopyFormatOptions *format = &options->format;
	const char *string = options->default_string;

	if (string == NULL || FC_CORE_HAS_DEFAULT)
		return;
	if (format->binary)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("cannot specify %s in BINARY mode", "DEFAULT")));
	if (strpbrk(string, "\r\n") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("COPY default representation cannot use newline or carriage return")));
	if (strchr(string, format->delim[0]) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("COPY delimiter character must not appear in the %s specification",
						"DEFAULT")));
	if (format->csv_mode && strchr(string, format->quote[0]) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("CSV quote character must not appear in the %s specification",
						"DEFAULT")));
	if (strcmp(string, format->null_print) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("NULL specification and DEFAULT specification cannot be the same")));
}

static void
fc_options_not_recognized(const FcOptions *options, const char *option,
						  const char *value, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("COPY %s \"%s\" not recognized", option, value),
			 errhint(hint, fc_option_arrow(options->statement))));
}

static const struct
{
	const char *name;
	uint32		class;
}			error_classes[] = {
	{"conversion", FC_CLASS_CONVERSION},
	{"missing_columns", FC_CLASS_MISSING_COLUMNS},
	{"extra_columns", FC_CLASS_EXTRA_COLUMNS},
	{"encoding", FC_CLASS_ENCODING},
	{"check", FC_CLASS_CHECK},
	{"not_null", FC_CLASS_NOT_NULL},
	{"no_partition", FC_CLASS_NO_PARTITION},
	{"unique", FC_CLASS_UNIQUE},
};

const char *
fc_options_class_name(uint32 class)
{
	for (int i = 0; i < lengthof(error_classes); i++)
		if (error_classes[i].class == class)
			return error_classes[i].name;
	return NULL;
}

static uint32
fc_options_class(const char *name)
{
	for (int i = 0; i < lengthof(error_classes); i++)
		if (pg_strcasecmp(name, error_classes[i].name) == 0)
			return error_classes[i].class;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("on_error_classes \"%s\" not recognized", name),
			 errhint("Classes are conversion, missing_columns, extra_columns, encoding, check, not_null, no_partition and unique.")));
}

/* What on_error_classes names; without it, what COPY tolerates */
static void
fc_options_classes(FcOptions *options, List *classes)
{
	ListCell   *lc;

	if (options->on_error == FC_ON_ERROR_STOP && classes != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_error_classes requires on_error \"ignore\" or \"set_null\"")));
	if (options->on_error != FC_ON_ERROR_STOP && classes == NIL)
		options->tolerated = FC_CLASS_CONVERSION;
	foreach(lc, classes)
		options->tolerated |= fc_options_class(strVal(lfirst(lc)));
}

static void
fc_options_reject_limit(FcOptions *options, const FcArguments *args)
{
	options->reject_limit = -1;
	options->reject_table = args->reject_table;
	if (OidIsValid(args->reject_table) && options->on_error == FC_ON_ERROR_STOP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("reject_table requires on_error \"ignore\" or \"set_null\"")));
	if (!args->reject_limited)
		return;
	if (args->reject_limit <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("REJECT_LIMIT (" INT64_FORMAT ") must be greater than zero",
						args->reject_limit)));
	if (options->on_error == FC_ON_ERROR_STOP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("COPY %s requires %s to be set to %s",
						"REJECT_LIMIT", "ON_ERROR", "IGNORE"),
				 errhint("Add on_error%s 'ignore', or leave reject_limit out.",
						 fc_option_arrow(options->statement))));
	options->reject_limit = args->reject_limit;
}

static void
fc_options_on_error(FcOptions *options, const FcArguments *args)
{
	if (pg_strcasecmp(args->on_error, "ignore") == 0)
		options->on_error = FC_ON_ERROR_IGNORE;
	else if (pg_strcasecmp(args->on_error, "set_null") == 0)
		options->on_error = FC_ON_ERROR_SET_NULL;
	else if (pg_strcasecmp(args->on_error, "stop") != 0)
		fc_options_not_recognized(options, "ON_ERROR", args->on_error,
								  "Use on_error%s 'stop', 'ignore' or 'set_null'.");
	if (pg_strcasecmp(args->log_verbosity, "verbose") == 0)
		options->log_verbosity = FC_LOG_VERBOSE;
	else if (pg_strcasecmp(args->log_verbosity, "default") == 0)
		options->log_verbosity = FC_LOG_DEFAULT;
	else if (pg_strcasecmp(args->log_verbosity, "silent") != 0)
		fc_options_not_recognized(options, "LOG_VERBOSITY", args->log_verbosity,
								  "Use log_verbosity%s 'default', 'verbose' or 'silent'.");
	if (options->format.binary && options->on_error != FC_ON_ERROR_STOP)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("only ON_ERROR STOP is allowed in BINARY mode")));
	fc_options_classes(options, args->on_error_classes);
	fc_options_reject_limit(options, args);
}

static void
fc_options_map(const FcOptions *options)
{
	if (options->header_map && options->columns != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"columns\" cannot be used with header \"map\""),
				 errhint("The header of the file says which columns it has.")));
	if (options->ignore_extra_columns && !options->header_map)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("ignore_extra_columns requires header \"map\""),
				 errhint("Use header%s 'map': then the header tells which columns are extra.",
						 fc_option_arrow(options->statement))));
	if (options->header_map && options->format.binary)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot specify %s in BINARY mode", "HEADER")));
}

static void
fc_options_copy_arguments(FcOptions *options, const FcArguments *args)
{
	options->statement = args->statement;
	options->target = args->target;
	options->sources = args->sources;
	options->program = args->program;
	options->client = args->client;
	options->compressed = args->compressed;
	options->key_column = args->timestamp_column;
	options->columns = args->columns;
	options->ignore_extra_columns = args->ignore_extra_columns;
	options->force_not_null = args->force_not_null;
	options->force_null = args->force_null;
	options->default_string = args->default_string;
	options->where_clause = args->where_clause;
	options->timestamp_format = args->timestamp_format;
	options->time_zone = args->time_zone;
	options->interval = args->partition_interval;
	options->order_by = args->order_by;
	options->freeze = args->freeze;
	options->run_analyze = args->run_analyze;
	options->workers = args->workers;
}

/*
 * How often progress is told, as the type interval reads it.  A month has 30
 * days, as core has it where it must compare.
 */
static void
fc_options_progress(FcOptions *options, const char *progress)
{
	Interval   *span;
	double		us;

	if (progress == NULL)
		return;
	span = DatumGetIntervalP(DirectFunctionCall3(interval_in,
												 CStringGetDatum(progress),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
	us = (double) span->time +
		((double) span->month * DAYS_PER_MONTH + span->day) * USECS_PER_DAY;
	if (fc_interval_is_infinite(span) || us < 1 || us > PG_INT32_MAX * (double) USECS_PER_SEC)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("progress must be more than zero and less than %d years: \"%s\"",
						PG_INT32_MAX / SECS_PER_YEAR, progress),
				 errhint("Give an interval such as progress%s '5s', or leave progress out.",
						 fc_option_arrow(options->statement))));
	options->progress_us = (int64) us;
}

FcOptions *
fc_options_make(const FcArguments *args)
{
	FcOptions  *options = palloc0(sizeof(FcOptions));
	List	   *list = fc_options_list(args);
	ParseState *pstate = make_parsestate(NULL);

	fc_options_copy_arguments(options, args);
	options->copy_options = list;
	if (!fc_options_header(options, args->header))
		list = fc_options_add(list_copy(list), "header", args->header);
	else if (options->header_lines > 0)
		list = fc_options_add(list_copy(list), "header", pstrdup("true"));
	ProcessCopyOptions(pstate, &options->format, true, list);
	free_parsestate(pstate);
	fc_options_check_format(options);
	fc_options_check_zone(options);
	fc_options_check_default(options);
	fc_options_map(options);
	fc_options_on_error(options, args);
	fc_options_missing(options, args->missing_partitions);
	fc_options_progress(options, args->progress);
	options->file_encoding = options->format.file_encoding >= 0 ?
		options->format.file_encoding : pg_get_client_encoding();
	return options;
}

void
fc_options_set_encoding(FcOptions *options, int encoding)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, options->copy_options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "encoding") != 0)
			list = lappend(list, def);
	}
	options->copy_options = fc_options_add(list, "encoding",
										   pstrdup(pg_encoding_to_char(encoding)));
	options->file_encoding = encoding;
}
