/*-------------------------------------------------------------------------
 *
 * fast_copy.c
 *	  The functions that SQL sees, and what happens when the library loads.
 *
 * What they allocate lies in the memory of the expression that calls them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/array.h"
#include "utils/tuplestore.h"

#include "fast_copy.h"
#include "load/steps.h"
#include "sniff/sniff.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fast_copy);
PG_FUNCTION_INFO_V1(fast_copy_analyze);
PG_FUNCTION_INFO_V1(fast_copy_drain);
PG_FUNCTION_INFO_V1(fast_copy_repartition);
PG_FUNCTION_INFO_V1(fast_copy_sniff);
PG_FUNCTION_INFO_V1(fast_copy_report);
PG_FUNCTION_INFO_V1(fast_copy_create_reject_table);
PG_FUNCTION_INFO_V1(fast_copy_create_history_table);
PG_FUNCTION_INFO_V1(fast_copy_create_ledger_table);

/* The arguments, in the order of the SQL declaration (sql/fast_copy.sql.in) */
enum
{
	ARG_TARGET,
	ARG_SOURCE,
	ARG_FIRST_OPTION,

	/* of fast_copy_drain() and fast_copy_repartition() */
	ARG_DRAIN_OPTION = 1,
	ARG_OLD_PARTITIONS = 1,
	ARG_REPARTITION_OPTION,

	/* fast_copy_sniff() may do without a target, so that it comes second */
	ARG_SNIFF_SOURCE = 0,
	ARG_SNIFF_TARGET
};

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	fc_settings_define();
	fc_statement_define();
}

void
fast_copy_refuse_null(const char *name, bool has_default)
{
	fc_throw(ERRCODE_NULL_VALUE_NOT_ALLOWED, errmsg("argument \"%s\" must not be null", name),
			 has_default ? errhint("Leave it out to get its default.") : 0);
}

/* Makes a list of String from an array of names or texts */
static List *
fast_copy_list(ArrayType *array, const char *name)
{
	Oid			type = ARR_ELEMTYPE(array);
	bool		is_name = type == NAMEOID;
	List	   *list = NIL;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, type, is_name ? NAMEDATALEN : -1, false,
					  is_name ? TYPALIGN_CHAR : TYPALIGN_INT, &values, &nulls, &n);
	if (n == 0)
		fc_option_error(errmsg("argument \"%s\" must not be empty", name),
						errhint("Leave it out, or give NULL, to get its default."));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			fc_throw(ERRCODE_NULL_VALUE_NOT_ALLOWED, errmsg("argument \"%s\" must not contain nulls", name));
		list = lappend(list, makeString(is_name ?
										pstrdup(NameStr(*DatumGetName(values[i]))) :
										TextDatumGetCString(values[i])));
	}
	return list;
}

/* Makes the node that COPY's grammar makes of a value */
static Node *
fast_copy_value(Datum value, Oid type, const char *name)
{
	switch (type)
	{
		case TEXTOID:
			return (Node *) makeString(TextDatumGetCString(value));
		case NAMEOID:
			return (Node *) makeString(pstrdup(NameStr(*DatumGetName(value))));
		case BOOLOID:
			return (Node *) makeBoolean(DatumGetBool(value));
		case INT4OID:
			return (Node *) makeInteger(DatumGetInt32(value));
		case INT8OID:
			return (Node *) makeFloat(psprintf(INT64_FORMAT, DatumGetInt64(value)));
		case NUMERICOID:
			return (Node *) makeString(DatumGetCString(DirectFunctionCall1(numeric_out, value)));
		case NAMEARRAYOID:
		case TEXTARRAYOID:
			return (Node *) fast_copy_list(DatumGetArrayTypeP(value), name);
	}
	elog(ERROR, "argument \"%s\" has unknown type %u", name, type);
}

List *
fast_copy_sources(FunctionCallInfo fcinfo, int arg)
{
	Oid		   *types;
	int			n;
	Node	   *source;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
	source = fast_copy_value(PG_GETARG_DATUM(arg), types[arg], "source");
	return IsA(source, List) ? (List *) source : list_make1(source);
}

/* Is the value the option's default?  Then it counts as not given */
static bool
fast_copy_is_default(Node *value, const FcOption *option)
{
	char	   *text = fc_option_default(option);

	if (IsA(value, Boolean))
		return !boolVal(value) && strcmp(option->preset, "false") == 0;
	return text && strcmp(strVal(value), text) == 0;
}

/* Takes one argument into a list of options, if it is given */
static List *
fast_copy_argument(List *list, const NullableDatum *arg, Oid type, const FcOption *option)
{
	Node	   *value;

	if (arg->isnull)
	{
		if (fc_option_default(option))
			fast_copy_refuse_null(option->name, true);
		return list;
	}
	/* the only type of our own among them is a text in all but name */
	value = fast_copy_value(arg->value, type >= FirstNormalObjectId ? TEXTOID : type, option->name);
	return fast_copy_is_default(value, option) ? list :
		lappend(list, makeDefElem(pstrdup(option->name), value, -1));
}

List *
fast_copy_given(FunctionCallInfo fcinfo, int first, int from)
{
	List	   *list = NIL;
	Oid		   *types;
	int			n;
	int			arg = first;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
	for (int i = 0; i < FC_NOPTIONS && arg < n; i++)
		if (fc_option_list[i].from & from)
		{
			list = fast_copy_argument(list, &fcinfo->args[arg], types[arg], &fc_option_list[i]);
			arg++;
		}
	if (arg != n - 1 || types[arg] != JSONBOID)
		elog(ERROR, "%s is declared with arguments of another version", get_func_name(fcinfo->flinfo->fn_oid));
	return PG_ARGISNULL(arg) ? list : list_concat(list, fc_json_options(PG_GETARG_JSONB_P(arg), from == FC_FROM_MOVE ? from : FC_FROM_CALL));
}

/* Reads the arguments but the target */
static FcOptions *
fast_copy_options(FunctionCallInfo fcinfo, int arg_source, FcCaller caller)
{
	FcOptions  *options = fc_options_begin(caller);

	fc_options_take(options, fast_copy_given(fcinfo, ARG_FIRST_OPTION, FC_FROM_CALL), NULL);
	if (PG_ARGISNULL(arg_source))
		fast_copy_refuse_null("source", false);
	options->sources = fast_copy_sources(fcinfo, arg_source);
	return options;
}

void
fast_copy_refuse_standby(FunctionCallInfo fcinfo)
{
	if (RecoveryInProgress())
		fc_throw(ERRCODE_READ_ONLY_SQL_TRANSACTION, errmsg("cannot execute %s() during recovery", get_func_name(fcinfo->flinfo->fn_oid)),
				 errhint("This server is a standby: load on its primary. fast_copy_analyze() works here."));
}

/* Reads all arguments of a load */
static FcOptions *
fast_copy_load_options(FunctionCallInfo fcinfo, FcCaller caller)
{
	FcOptions  *options;

	if (PG_ARGISNULL(ARG_TARGET))
		fast_copy_refuse_null("target", false);
	options = fast_copy_options(fcinfo, ARG_SOURCE, caller);
	options->target = PG_GETARG_OID(ARG_TARGET);
	return options;
}

/*
 * Does the transaction end with the command that the client has sent, and is
 * that one at work, and no function?  Languages push an error context of their
 * own.
 */
static bool
fast_copy_is_alone(void)
{
	if (IsTransactionBlock())
		return false;
	return error_context_stack == NULL ||
		(error_context_stack->previous == NULL && error_context_stack->callback == ParamsErrorCallback);
}

/* Loads a file; see docs/loading.md */
Datum
fast_copy(PG_FUNCTION_ARGS)
{
	FcOptions  *options;

	PreventCommandIfParallelMode("fast_copy()");
	fast_copy_refuse_standby(fcinfo);
	options = fast_copy_load_options(fcinfo, FC_CALLER_FUNCTION);
	options->alone = fast_copy_is_alone();
	PG_RETURN_INT64((int64) fc_statement_call(options));
}

/* Moves rows of the target's partitions to new ones; see docs/drain.md */
static Datum
fast_copy_move(FunctionCallInfo fcinfo, FcMove move, int first_option)
{
	FcOptions  *options = fc_options_begin(FC_CALLER_FUNCTION);

	PreventCommandIfParallelMode("fast_copy()");
	fast_copy_refuse_standby(fcinfo);
	if (PG_ARGISNULL(ARG_TARGET))
		fast_copy_refuse_null("target", false);
	options->target = PG_GETARG_OID(ARG_TARGET);
	options->move = move;
	options->sources = list_make1(makeString(psprintf("%s()", get_func_name(fcinfo->flinfo->fn_oid))));
	fc_options_take(options, fast_copy_given(fcinfo, first_option, FC_FROM_MOVE), NULL);
	fc_options_check(options);
	fc_keeper_foresee(options->target);
	/* no lock on the target is held while this one is waited for */
	fc_partman_lock();
	PG_RETURN_INT64((int64) fc_job_run(options, NULL));
}

Datum
fast_copy_drain(PG_FUNCTION_ARGS)
{
	return fast_copy_move(fcinfo, FC_MOVE_DRAIN, ARG_DRAIN_OPTION);
}

Datum
fast_copy_repartition(PG_FUNCTION_ARGS)
{
	const char *word = PG_ARGISNULL(ARG_OLD_PARTITIONS) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(ARG_OLD_PARTITIONS));
	bool		drops = pg_strcasecmp(word, "drop") == 0;

	if (!drops && pg_strcasecmp(word, "detach") != 0)
		fc_option_error(errmsg("old_partitions \"%s\" not recognized", word),
						errhint("Use old_partitions => 'drop' or 'detach'."));
	return fast_copy_move(fcinfo, drops ? FC_MOVE_DROP : FC_MOVE_DETACH, ARG_REPARTITION_OPTION);
}

static Datum
fast_copy_create(FunctionCallInfo fcinfo, const FcOwnTable *kind)
{
	PG_RETURN_OID(fc_own_table_create(kind, text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

Datum
fast_copy_create_reject_table(PG_FUNCTION_ARGS)
{
	return fast_copy_create(fcinfo, &fc_reject_kind);
}

Datum
fast_copy_create_history_table(PG_FUNCTION_ARGS)
{
	return fast_copy_create(fcinfo, &fc_history_kind);
}

Datum
fast_copy_create_ledger_table(PG_FUNCTION_ARGS)
{
	return fast_copy_create(fcinfo, &fc_ledger_kind);
}

#define FINDING_COLUMN(type, member) {type, offsetof(FcFinding, member)}
static const FcReportColumn finding_columns[] = {
	FINDING_COLUMN(TEXTOID, item),
	FINDING_COLUMN(TEXTOID, name),
	FINDING_COLUMN(INT8OID, rows),
	FINDING_COLUMN(INT8OID, bytes),
	FINDING_COLUMN(TEXTOID, low),
	FINDING_COLUMN(TEXTOID, high),
	FINDING_COLUMN(INT8OID, line),
	FINDING_COLUMN(TEXTOID, detail)
};

Datum
fast_copy_rows(FunctionCallInfo fcinfo, const List *rows, const FcReportColumn *columns, int n)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum	   *values = palloc(sizeof(Datum) * n);
	bool	   *nulls = palloc(sizeof(bool) * n);

	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts > n)
		elog(ERROR, "a function is declared with %d columns, not %d", rsinfo->setDesc->natts, n);
	foreach_ptr(const void, row, rows)
	{
		for (int i = 0; i < rsinfo->setDesc->natts; i++)
			values[i] = fc_report_value(row, columns[i].typid, columns[i].at, &nulls[i]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
fast_copy_report(PG_FUNCTION_ARGS)
{
	return fast_copy_rows(fcinfo, fc_report_visible_rows(), fc_report_columns, fc_report_ncolumns);
}

/* Returns what a load with these arguments would do; one row per finding */
Datum
fast_copy_analyze(PG_FUNCTION_ARGS)
{
	FcOptions  *options;

	PreventCommandIfParallelMode("fast_copy_analyze()");
	options = fast_copy_load_options(fcinfo, FC_CALLER_ANALYSIS);
	fc_options_check(options);
	return fast_copy_rows(fcinfo, fc_analyze_run(options), finding_columns, lengthof(finding_columns));
}

/*
 * Returns the statements that make a table for the source, and load it, in one
 * text: a client that sends it as one query runs both or none
 */
Datum
fast_copy_sniff(PG_FUNCTION_ARGS)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	FcOptions  *options;
	char	   *target = NULL;
	char	   *name = "fast_copy";

	PreventCommandIfParallelMode("fast_copy_sniff()");
	options = fast_copy_options(fcinfo, ARG_SNIFF_SOURCE, FC_CALLER_FUNCTION);
	fc_options_check(options);
	options->utf16 = Max(options->utf16, FC_UTF16_MARKED);
	if (!PG_ARGISNULL(ARG_SNIFF_TARGET))
		target = text_to_cstring(PG_GETARG_TEXT_PP(ARG_SNIFF_TARGET));
	/* as the caller has to call it */
	if (!FunctionIsVisible(function))
		name = quote_qualified_identifier(get_namespace_name(get_func_namespace(function)), name);
	PG_RETURN_TEXT_P(cstring_to_text(fc_sniff_run(options, target, name)));
}
