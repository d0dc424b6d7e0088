/*-------------------------------------------------------------------------
 *
 * options/options.c
 *	  What the caller asked for, checked by COPY's own rules.
 *
 *	 arguments ─┐
 *	 JSON ──────┼──► DefElem list ──► FcOptions ◄──► ProcessCopyOptions
 *	 COPY ──────┘
 *
 * options/list.h says what an element means.  Core's COPY gets its own options
 * in such a list as well, so that rules and error texts are COPY's.  All is
 * allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "parser/scansup.h"
#include "port/pg_bitutils.h"
#include "utils/json.h"

#include "errors/context.h"
#include "options/options.h"

/* How often progress is told if the caller does not say it, in µs */
#define FC_PROGRESS_US	1000000

FcOptions *
fc_options_begin(FcCaller caller)
{
	FcOptions  *options = palloc0(sizeof(FcOptions));

	for (int i = 0; i < FC_NOPTIONS; i++)
		if (fc_option_list[i].kind == FC_KIND_TEXT)
			*(char **) ((char *) options + fc_option_list[i].at) =
				fc_option_default(&fc_option_list[i]);
	options->caller = caller;
	if (fc_caller_wrote_copy(caller))
		options->format_word = "text";
	options->reject_limit = -1;
	options->workers = -1;
	return options;
}

/* Reads a list in parentheses, "*", or one name */
static List *
fc_options_list(DefElem *def)
{
	if (def->arg && IsA(def->arg, List))
		return castNode(List, def->arg);
	if (def->arg && IsA(def->arg, A_Star))
		return list_make1(makeString("*"));
	return list_make1(makeString(defGetString(def)));
}

/* Reads what may be JSON; from words in parentheses makes an array of them */
static char *
fc_options_json(DefElem *def)
{
	StringInfo	json;

	if (def->arg == NULL || !IsA(def->arg, List))
		return defGetString(def);
	json = makeStringInfo();
	foreach_node(String, word, (List *) def->arg)
	{
		appendStringInfoChar(json, json->len == 0 ? '[' : ',');
		escape_json(json, strVal(word));
	}
	appendStringInfoChar(json, ']');
	return json->data;
}

static void
fc_options_check_workers(const FcOptions *options)
{
	if (options->given[FC_OPTION_workers] &&
		(options->workers < 0 || options->workers > FC_MAX_WORKERS))
		fc_option_error(errmsg("%s \"workers\" must be between 0 and %d",
							   fc_caller_wrote_copy(options->caller) ? "option" : "argument", FC_MAX_WORKERS),
						fc_caller_wrote_copy(options->caller) ? 0 :
						errhint("Leave workers out to get as many as fast_copy.workers says."));
}

static void
fc_options_set(FcOptions *options, const FcOption *option, DefElem *def)
{
	void	   *at = (char *) options + option->at;

	switch (option->kind)
	{
		case FC_KIND_TEXT:
			/* COPY takes HEADER for HEADER true */
			*(char **) at = def->arg ? defGetString(def) : "true";
			break;
		case FC_KIND_FLAG:
			*(bool *) at = defGetBoolean(def);
			break;
		case FC_KIND_LIST:
			*(List **) at = fc_options_list(def);
			break;
		case FC_KIND_TABLE:
			*(Oid *) at = def->arg && IsA(def->arg, Const) ?
				DatumGetObjectId(castNode(Const, def->arg)->constvalue) :
				fc_option_table(defGetString(def), option);
			break;
		case FC_KIND_INTEGER:
			*(int64 *) at = defGetInt64(def);
			break;
		case FC_KIND_JSON:
			*(char **) at = fc_options_json(def);
			break;
	}
}

void
fc_options_take(FcOptions *options, List *given, ParseState *pstate)
{
	int			from = fc_caller_wrote_copy(options->caller) ? FC_FROM_COPY :
		options->move != FC_MOVE_NOTHING ? FC_FROM_MOVE : FC_FROM_CALL;

	foreach_node(DefElem, def, given)
	{
		const FcOption *option = fc_option_find(def->defname, from);

		if (option == NULL)
			fc_option_refuse(def->defname, from, pstate, def->location);
		if (options->given[option - fc_option_list])
			fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("conflicting or redundant options"),
					 errdetail("The option \"%s\" is given more than once.", option->name),
					 parser_errposition(pstate, def->location));
		options->given[option - fc_option_list] = true;
		fc_options_set(options, option, def);
	}
}

List *
fc_option_add(List *list, const char *name, const char *value)
{
	return lappend(list, makeDefElem(pstrdup(name), (Node *) makeString(pstrdup(value)), -1));
}

/*
 * Returns all options that core knows, unchecked: of several mistakes core then
 * reports the one that COPY reports
 */
static List *
fc_options_for_core(const FcOptions *options)
{
	List	   *list = NIL;

	for (int i = 0; i < FC_NOPTIONS; i++)
	{
		const FcOption *option = &fc_option_list[i];
		void	   *value;

		if (option->core == NULL ||
			(i == FC_OPTION_default_string && !FC_CORE_HAS_DEFAULT))
			continue;
		value = *(void **) ((char *) options + option->at);
		if (i == FC_OPTION_encoding && options->utf16 != FC_UTF16_NEVER)
			value = "UTF8";
		if (value && option->kind == FC_KIND_LIST)
			list = lappend(list, makeDefElem(pstrdup(option->core), value, -1));
		else if (value)
			list = fc_option_add(list, option->core, value);
	}
	return list;
}

/* Reads a number of lines, or a word; false if core is to refuse the word */
static bool
fc_options_header(FcOptions *options)
{
	const char *header = options->header_word;
	char	   *end;
	long		n;
	bool		known;
	bool		on = false;

	errno = 0;
	n = strtol(header, &end, 10);
	if (end != header && *end == '\0')
	{
		if (errno != 0 || n < 0 || n > INT_MAX)
			fc_option_error(n < 0 ?
							errmsg("a negative integer value cannot be specified for %s", "header") :
							errmsg("too large a number of header lines: %s", header),
							fc_option_hint(options, FC_OPTION_header));
		options->header_lines = (int) n;
		return true;
	}
	options->header_match = (pg_strcasecmp(header, "match") == 0);
	options->header_map = (pg_strcasecmp(header, "map") == 0);
	known = options->header_match || options->header_map || parse_bool(header, &on);
	options->header_lines = options->header_match || options->header_map || (known && on);
	return known;
}

/* ERROR unless the ledger can tell the data from others, or none is given */
static void
fc_options_check_ledger(const FcOptions *options)
{
	bool		files = !options->program && !options->client;

	if (options->manifest && !files)
		fc_option_error(errmsg("manifest cannot be used for data that are no files"));
	if (!OidIsValid(options->ledger) &&
		(options->label || options->notify_channel || options->given[FC_OPTION_changed_files] || options->given[FC_OPTION_other_files]))
		fc_option_error(errmsg("%s requires a ledger", options->label ? "label" : options->notify_channel ? "notify_channel" :
							   options->given[FC_OPTION_changed_files] ? "changed_files" : "other_files"),
						errhint("SELECT fast_copy_create_ledger_table('loads') makes one; then add ledger%s 'loads'.",
								fc_caller_arrow(options->caller)));
	if (options->label && files)
		fc_option_error(errmsg("label cannot be used for files"),
						errhint("The ledger knows files by their paths: leave it out."));
	if (OidIsValid(options->ledger) && !files && options->label == NULL)
		fc_option_error(errmsg("ledger requires a label for data that are no files"),
						errhint("Give them a name that no other data have, such as label%s 'orders 2024-01-31'.",
								fc_caller_arrow(options->caller)));
	if (options->notify_channel && (options->notify_channel[0] == '\0' || strlen(options->notify_channel) >= NAMEDATALEN))
		fc_option_error(errmsg("notify_channel must have between 1 and %d bytes", NAMEDATALEN - 1));
	if (options->label && (options->label[0] == '\0' || options->label[0] == '/'))
		fc_option_error(errmsg("label must not be empty, or begin with \"/\" as paths do"));
}

static void
fc_options_check_format(const FcOptions *options)
{
	if (fc_format_is_binary(&options->format) && (options->timestamp_format || options->time_zone))
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot specify %s in BINARY mode",
											  options->timestamp_format ? "timestamp_format" : "time_zone"),
				 errhint("Values of the binary format are moments already: leave it out."));
	/* core before 17 accepts line ends here, and then cannot read the file */
	if (fc_format_is_csv(&options->format) &&
		(strchr("\r\n", options->format.quote[0]) || strchr("\r\n", options->format.escape[0])))
		fc_option_error(errmsg("COPY quote and escape cannot be newline or carriage return"));
	/* it would pass for none */
	if (options->time_zone && options->time_zone[0] == '\0')
		fc_option_error(errmsg("time zone \"%s\" not recognized", options->time_zone),
						errhint("Leave time_zone out to use the session's."));
}

/* Where core does not know DEFAULT, refuses what newer versions of it refuse */
static void
fc_options_check_default(const FcOptions *options)
{
	const CopyFormatOptions *format = &options->format;
	const char *string = options->default_string;

	if (string == NULL || FC_CORE_HAS_DEFAULT)
		return;
	if (fc_format_is_binary(format))
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot specify %s in BINARY mode", "DEFAULT"));
	if (strpbrk(string, "\r\n") != NULL)
		fc_option_error(errmsg("COPY default representation cannot use newline or carriage return"));
	if (strchr(string, format->delim[0]) != NULL)
		fc_unsupported(errmsg("COPY delimiter character must not appear in the %s specification",
							  "DEFAULT"));
	if (fc_format_is_csv(format) && strchr(string, format->quote[0]) != NULL)
		fc_unsupported(errmsg("CSV quote character must not appear in the %s specification",
							  "DEFAULT"));
	if (strcmp(string, format->null_print) == 0)
		fc_unsupported(errmsg("NULL specification and DEFAULT specification cannot be the same"));
}

/* By the number of the class's bit */
static const char *const error_classes[] = {
	"conversion", "missing_columns", "extra_columns", "encoding",
	"check", "not_null", "no_partition", "unique", "replace_invalid", "cut_long"
};

const char *
fc_options_class_name(uint32 class)
{
	Assert(class > 0 && class < 1 << lengthof(error_classes));
	return error_classes[pg_leftmost_one_pos32(class)];
}

static uint32
fc_options_class(const FcOptions *options, const char *name)
{
	for (int i = 0; i < lengthof(error_classes); i++)
		if (pg_strcasecmp(name, error_classes[i]) == 0)
			return 1 << i;
	fc_option_error(errmsg("on_error_classes \"%s\" not recognized", name),
					errhint(fc_caller_wrote_copy(options->caller) ?
							"Classes are %s. A list stands in parentheses, and what is a word of SQL in quotes: on_error_classes (conversion, 'unique')." :
							"Classes are %s.", fc_option_list[FC_OPTION_on_error_classes].values));
}

/* Reads a number of records, or a percentage; of all files, or of each */
static void
fc_options_reject_limit(FcOptions *options)
{
	const char *text = options->reject_limit_word;
	double		n;
	char	   *unit;

	if (text == NULL)
		return;
	n = strtod(text, &unit);
	/* no words, as strtod knows some */
	if (strspn(text, "+-.0123456789 ") < unit - text)
		unit = unconstify(char *, text);
	options->reject_each = pg_strcasecmp(unit + (*unit == '%'), " per file") == 0;
	if (unit == text || (unit[*unit == '%'] != '\0' && !options->reject_each) || (n > 100 && *unit == '%'))
		fc_option_error(errmsg("reject_limit \"%s\" not recognized", text), fc_option_hint(options, FC_OPTION_reject_limit));
	if (n <= 0)
		fc_option_error(errmsg("REJECT_LIMIT (%s) must be greater than zero", text));
	if (options->on_error == FC_ON_ERROR_STOP)
		fc_option_error(errmsg("COPY %s requires %s to be set to %s",
							   "REJECT_LIMIT", "ON_ERROR", "IGNORE"),
						errhint("Add on_error%s 'ignore', or leave reject_limit out.",
								fc_caller_arrow(options->caller)));
	if (*unit == '%')
		options->reject_percent = n;
	else
		options->reject_limit = DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(pnstrdup(text, unit - text))));
}

static void
fc_options_on_error(FcOptions *options)
{
	List	   *classes = options->on_error_classes_word;

	options->on_error = fc_option_word(options, FC_OPTION_on_error);
	options->log_verbosity = fc_option_word(options, FC_OPTION_log_verbosity);
	if (fc_format_is_binary(&options->format) && options->on_error != FC_ON_ERROR_STOP)
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("only ON_ERROR STOP is allowed in BINARY mode"));
	if (options->on_error == FC_ON_ERROR_STOP && (classes != NIL || OidIsValid(options->reject_table)))
		fc_option_error(errmsg("%s requires on_error \"ignore\" or \"set_null\"",
							   classes != NIL ? "on_error_classes" : "reject_table"),
						errhint("Add on_error%s 'ignore'.", fc_caller_arrow(options->caller)));
	/* without classes, what COPY tolerates */
	if (options->on_error != FC_ON_ERROR_STOP && classes == NIL)
		options->tolerated = FC_CLASS_CONVERSION;
	foreach_node(String, class, classes)
		options->tolerated |= fc_options_class(options, strVal(class));
	fc_options_reject_limit(options);
}

static void
fc_options_map(FcOptions *options)
{
	options->drops = options->ignore_extra_columns && !options->header_map && !options->json;
	if (options->drops && options->header_match)
		fc_option_error(errmsg("ignore_extra_columns cannot be used with header \"match\""),
						errhint("Use header%s 'map': then the header tells which columns are extra.", fc_caller_arrow(options->caller)));
	if (options->header_map && options->columns != NIL)
		fc_option_error(errmsg("argument \"columns\" cannot be used with header \"map\""),
						errhint("The header of the file says which columns it has."));
	if ((options->header_map || options->ignore_extra_columns) && fc_format_is_binary(&options->format))
		fc_unsupported(errmsg("cannot specify %s in BINARY mode", options->header_map ? "HEADER" : "ignore_extra_columns"));
}

/*
 * Reads how often progress is told, with the type interval's input function,
 * or whether it is.  A month counts 30 days, as where core compares intervals.
 */
static void
fc_options_progress(FcOptions *options)
{
	char	   *progress = options->progress_word;
	ErrorContextCallback callback;
	Interval   *span;
	double		us;
	bool		on;

	if (progress == NULL)
		return;
	if (strspn(progress, "0123456789") != strlen(progress) && parse_bool(progress, &on))
	{
		options->progress_us = on ? FC_PROGRESS_US : 0;
		return;
	}
	fc_error_context_push(&callback, fc_error_hint_add,
						  psprintf("Give an interval such as progress%s '5s', or leave progress out.",
								   fc_caller_arrow(options->caller)));
	span = DatumGetIntervalP(DirectFunctionCall3(interval_in,
												 CStringGetDatum(progress),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
	us = (double) span->time +
		((double) span->month * DAYS_PER_MONTH + span->day) * USECS_PER_DAY;
	if (fc_interval_is_infinite(span) || us < 1 || us > PG_INT32_MAX * (double) USECS_PER_SEC)
		fc_option_error(errmsg("progress must be more than zero and less than %d years: \"%s\"",
							   PG_INT32_MAX / SECS_PER_YEAR, progress));
	fc_error_context_pop();
	options->progress_us = (int64) us;
}

/* Returns a hint about the name of an encoding that core does not know */
static char *
fc_options_encoding_hint(const char *name)
{
	const char *number = name + strcspn(name, "0123456789");

	if (pg_strncasecmp(name, "utf", 3) == 0 && atoi(number) == 32)
		return psprintf("PostgreSQL has no such encoding; load what a program prints: 'iconv -f %s -t UTF-8 FILE'.", name);
	if (pg_strncasecmp(name, "cp", 2) == 0 && pg_char_to_encoding(psprintf("WIN%s", number)) >= 0)
		return psprintf("Perhaps you meant \"WIN%s\".", number);
	return pstrdup("Encodings are UTF8, LATIN1, WIN1252, EUC_JP, SJIS, GB18030, and others in the documentation of PostgreSQL.");
}

/*
 * Takes an encoding that PostgreSQL does not have, and which is made UTF-8 as
 * the file is read; a mark may tell it, too
 */
static void
fc_options_utf16(FcOptions *options)
{
	static const char *const names[] = {"UTF16", "UTF16LE", "UTF16BE", "UTF-16", "UTF-16LE", "UTF-16BE"};

	for (int i = 0; options->encoding_word && i < lengthof(names); i++)
		if (pg_strcasecmp(options->encoding_word, names[i]) == 0)
			options->utf16 = (FcUtf16Hint) (FC_UTF16_ANY + i % 3);
}

/* Error context callback for values that core refuses without a hint */
static void
fc_options_hint(void *arg)
{
	const FcOptions *options = arg;

	if (fc_error_wants_hint("argument to option \"%s\" must be a valid encoding name"))
		errhint("%s", fc_options_encoding_hint(options->encoding_word));
	else if (fc_error_wants_hint("%s requires a Boolean value"))
		fc_option_hint(options, FC_OPTION_header);
	else if (fc_error_wants_hint("COPY format \"%s\" not recognized"))
		fc_option_hint(options, FC_OPTION_format);
	else if (fc_error_wants_hint("COPY delimiter must be a single"))
		errhint("A tab is delimiter%s E'\\t'.", fc_caller_arrow(options->caller));
	else if (fc_error_wants_hint("COPY quote must be a single"))
		errhint("If the file quotes no values, use quote%s 'none'.", fc_caller_arrow(options->caller));
}

void
fc_options_check(FcOptions *options)
{
	ErrorContextCallback callback;
	ParseState *pstate = make_parsestate(NULL);
	List	   *list;

	fc_options_check_workers(options);
	/* a word in COPY is folded by the grammar, one in quotes is not */
	if (!fc_caller_wrote_copy(options->caller))
		options->format_word = downcase_identifier(options->format_word,
													strlen(options->format_word),
													false, false);
	fc_options_grammar(options);
	fc_options_utf16(options);
	list = fc_options_for_core(options);
	options->copy_options = list;
	if (!fc_options_header(options))
		list = fc_option_add(list_copy(list), "header", options->header_word);
	else if (options->header_lines > 0)
		list = fc_option_add(list_copy(list), "header", "true");
	fc_error_context_push(&callback, fc_options_hint, options);
	ProcessCopyOptions(pstate, &options->format, true, list);
	fc_error_context_pop();
	free_parsestate(pstate);
	if (options->delimiter == NULL)
		options->delimiter = options->format.delim;
	fc_options_check_format(options);
	fc_options_check_default(options);
	fc_options_map(options);
	fc_options_on_error(options);
	options->missing = fc_option_word(options, FC_OPTION_missing_partitions);
	fc_options_existing(options);
	fc_options_check_ledger(options);
	options->changed_files = fc_option_word(options, FC_OPTION_changed_files);
	fc_options_edits(options);
	fc_options_transform(options);
	fc_options_progress(options);
	options->file_encoding = options->format.file_encoding >= 0 ?
		options->format.file_encoding : pg_get_client_encoding();
	if (fc_format_is_binary(&options->format) && options->utf16 != FC_UTF16_NEVER)
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot specify %s in BINARY mode", "ENCODING UTF16"));
	if (options->utf16 == FC_UTF16_NEVER && options->file_encoding == PG_UTF8 &&
		!fc_format_is_binary(&options->format) && !fc_caller_reads_as_core(options->caller))
		options->utf16 = FC_UTF16_MARKED;
}
