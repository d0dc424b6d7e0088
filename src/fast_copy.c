/*-------------------------------------------------------------------------
 *
 * fast_copy.c
 *	  The functions that SQL sees, and what happens when the library loads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "copy_statement.h"
#include "rejects/table.h"
#include "load/analyze.h"
#include "report/report.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fast_copy);
PG_FUNCTION_INFO_V1(fast_copy_analyze);
PG_FUNCTION_INFO_V1(fast_copy_report);
PG_FUNCTION_INFO_V1(fast_copy_create_reject_table);

/* The order of the SQL declaration */
enum
{
	ARG_TARGET,
	ARG_SOURCE,
	ARG_TIMESTAMP_COLUMN,
	ARG_COLUMNS,
	ARG_FORMAT,
	ARG_HEADER,
	ARG_IGNORE_EXTRA_COLUMNS,
	ARG_DELIMITER,
	ARG_NULL_STRING,
	ARG_QUOTE,
	ARG_ESCAPE,
	ARG_FORCE_NOT_NULL,
	ARG_FORCE_NULL,
	ARG_DEFAULT_STRING,
	ARG_ENCODING,
	ARG_WHERE_CLAUSE,
	ARG_TIMESTAMP_FORMAT,
	ARG_TIME_ZONE,
	ARG_PARTITION_INTERVAL,
	ARG_MISSING_PARTITIONS,
	ARG_ORDER_BY,
	ARG_FREEZE,
	ARG_ON_ERROR,
	ARG_ON_ERROR_CLASSES,
	ARG_REJECT_LIMIT,
	ARG_REJECT_TABLE,
	ARG_LOG_VERBOSITY,
	ARG_RUN_ANALYZE,
	ARG_PROGRESS,
	ARG_WORKERS,
	ARG_PROGRAM,
	NARGS
};

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	fc_settings_define();
	fc_statement_define();
}

static char *
fast_copy_text(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

static char *
fast_copy_name(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(arg)));
}

/* Arguments that have a default, but were given as NULL, are a mistake */
static char *
fast_copy_required(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name),
				 arg == ARG_SOURCE ? 0 :
				 errhint("Leave it out to get its default.")));
	return text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/* An array of names or texts to a list of String; NULL: NIL */
static List *
fast_copy_names(FunctionCallInfo fcinfo, int arg, Oid type, const char *name)
{
	List	   *list = NIL;
	Datum	   *names;
	bool	   *nulls;
	int			n;

	if (PG_ARGISNULL(arg))
		return NIL;
	if (type == NAMEOID)
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), NAMEOID, NAMEDATALEN, false,
						  TYPALIGN_CHAR, &names, &nulls, &n);
	else
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), TEXTOID, -1, false,
						  TYPALIGN_INT, &names, &nulls, &n);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be empty", name),
				 errhint("Leave it out, or give NULL, to get its default.")));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not contain nulls", name)));
		list = lappend(list, makeString(type == NAMEOID ?
										pstrdup(NameStr(*DatumGetName(names[i]))) :
										TextDatumGetCString(names[i])));
	}
	return list;
}

static int
fast_copy_workers(FunctionCallInfo fcinfo, int arg)
{
	int			workers;

	if (PG_ARGISNULL(arg))
		return -1;
	workers = PG_GETARG_INT32(arg);
	if (workers < 0 || workers > FC_MAX_WORKERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"workers\" must be between 0 and %d",
						FC_MAX_WORKERS),
				 errhint("Leave workers out to get as many as fast_copy.workers says.")));
	return workers;
}

/* The function is declared twice, with one source and with an array of them */
static List *
fast_copy_sources(FunctionCallInfo fcinfo)
{
	Oid		   *types;
	int			n;

	if (PG_ARGISNULL(ARG_SOURCE))
		return list_make1(fast_copy_required(fcinfo, ARG_SOURCE, "source"));
	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
	if (types[ARG_SOURCE] == TEXTARRAYOID)
		return fast_copy_names(fcinfo, ARG_SOURCE, TEXTOID, "source");
	return list_make1(makeString(fast_copy_required(fcinfo, ARG_SOURCE, "source")));
}

static bool
fast_copy_flag(FunctionCallInfo fcinfo, int arg)
{
	return !PG_ARGISNULL(arg) && PG_GETARG_BOOL(arg);
}

/* What COPY has no word for, or newer versions only */
static void
fast_copy_own_arguments(FunctionCallInfo fcinfo, FcArguments *args)
{
	args->timestamp_column = fast_copy_name(fcinfo, ARG_TIMESTAMP_COLUMN);
	args->ignore_extra_columns = fast_copy_flag(fcinfo, ARG_IGNORE_EXTRA_COLUMNS);
	args->timestamp_format = fast_copy_text(fcinfo, ARG_TIMESTAMP_FORMAT);
	args->time_zone = fast_copy_text(fcinfo, ARG_TIME_ZONE);
	args->partition_interval = fast_copy_text(fcinfo, ARG_PARTITION_INTERVAL);
	args->missing_partitions = fast_copy_required(fcinfo, ARG_MISSING_PARTITIONS, "missing_partitions");
	args->order_by = fast_copy_names(fcinfo, ARG_ORDER_BY, TEXTOID, "order_by");
	args->on_error = fast_copy_required(fcinfo, ARG_ON_ERROR, "on_error");
	args->on_error_classes = fast_copy_names(fcinfo, ARG_ON_ERROR_CLASSES, TEXTOID,
											 "on_error_classes");
	args->reject_limited = !PG_ARGISNULL(ARG_REJECT_LIMIT);
	if (args->reject_limited)
		args->reject_limit = PG_GETARG_INT64(ARG_REJECT_LIMIT);
	if (!PG_ARGISNULL(ARG_REJECT_TABLE))
		args->reject_table = PG_GETARG_OID(ARG_REJECT_TABLE);
	args->log_verbosity = fast_copy_required(fcinfo, ARG_LOG_VERBOSITY, "log_verbosity");
	args->run_analyze = fast_copy_flag(fcinfo, ARG_RUN_ANALYZE);
	args->progress = fast_copy_text(fcinfo, ARG_PROGRESS);
	args->workers = fast_copy_workers(fcinfo, ARG_WORKERS);
}

static void
fast_copy_arguments(FunctionCallInfo fcinfo, FcArguments *args)
{
	memset(args, 0, sizeof(FcArguments));
	if (PG_ARGISNULL(ARG_TARGET))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"target\" must not be null")));
	args->target = PG_GETARG_OID(ARG_TARGET);
	args->columns = fast_copy_names(fcinfo, ARG_COLUMNS, NAMEOID, "columns");
	args->format = fast_copy_required(fcinfo, ARG_FORMAT, "format");
	args->header = fast_copy_required(fcinfo, ARG_HEADER, "header");
	args->delimiter = fast_copy_text(fcinfo, ARG_DELIMITER);
	args->null_string = fast_copy_text(fcinfo, ARG_NULL_STRING);
	args->quote = fast_copy_text(fcinfo, ARG_QUOTE);
	args->escape = fast_copy_text(fcinfo, ARG_ESCAPE);
	args->force_not_null = fast_copy_names(fcinfo, ARG_FORCE_NOT_NULL, NAMEOID,
										   "force_not_null");
	args->force_null = fast_copy_names(fcinfo, ARG_FORCE_NULL, NAMEOID,
									   "force_null");
	args->default_string = fast_copy_text(fcinfo, ARG_DEFAULT_STRING);
	args->encoding = fast_copy_name(fcinfo, ARG_ENCODING);
	args->where_clause = fast_copy_text(fcinfo, ARG_WHERE_CLAUSE);
	args->freeze = fast_copy_flag(fcinfo, ARG_FREEZE);
	fast_copy_own_arguments(fcinfo, args);
}

static void
fast_copy_files(FunctionCallInfo fcinfo, FcArguments *args)
{
	fast_copy_arguments(fcinfo, args);
	args->sources = fast_copy_sources(fcinfo);
	args->program = fast_copy_flag(fcinfo, ARG_PROGRAM);
}

/*
 * Loads a file; see README.md.  Everything allocated dies with the context
 * made here.
 */
Datum
fast_copy(PG_FUNCTION_ARGS)
{
	MemoryContext mcxt;
	MemoryContext old;
	FcArguments args;
	uint64		rows;

	PreventCommandIfParallelMode("fast_copy()");
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	fast_copy_files(fcinfo, &args);
	rows = fc_statement_call(&args);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	PG_RETURN_INT64((int64) rows);
}

Datum
fast_copy_create_reject_table(PG_FUNCTION_ARGS)
{
	PreventCommandIfParallelMode("fast_copy_create_reject_table()");
	PG_RETURN_OID(fc_reject_table_create(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

/* "" becomes NULL: report rows say what they know */
static void
fast_copy_report_text(const char *s, Datum *value, bool *null)
{
	*null = (s == NULL);
	*value = s ? CStringGetTextDatum(s) : (Datum) 0;
}

static void
fast_copy_report_number(int64 n, Datum *value, bool *null)
{
	*null = (n < 0);
	*value = Int64GetDatum(n);
}

/* A slice may take no time that can be measured */
static void
fast_copy_report_rate(int64 n, double seconds, Datum *value, bool *null)
{
	*null = (n < 0 || seconds <= 0);
	*value = Float8GetDatum(*null ? 0 : n / seconds);
}

Datum
fast_copy_report(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, fc_report_visible_rows())
	{
		FcReportRow *row = lfirst(lc);
		Datum		values[15];
		bool		nulls[15] = {0};
		double		per_read = row->reads > 0 ? (double) row->rows / row->reads : 0;

		values[0] = CStringGetTextDatum(fc_phase_name(row->phase));
		fast_copy_report_text(row->name, &values[1], &nulls[1]);
		fast_copy_report_number(row->processes > 0 ? row->processes : -1,
								&values[2], &nulls[2]);
		fast_copy_report_number(row->rows, &values[3], &nulls[3]);
		fast_copy_report_number(row->bytes, &values[4], &nulls[4]);
		values[5] = Float8GetDatum(row->seconds);
		fast_copy_report_number(row->reads, &values[6], &nulls[6]);
		values[7] = Float8GetDatum(per_read);
		nulls[7] = row->reads <= 0;
		fast_copy_report_text(row->io_method, &values[8], &nulls[8]);
		values[9] = Float8GetDatum(row->alone);
		nulls[9] = row->processes < 2 || row->alone < 0;
		fast_copy_report_number(row->whole ? row->wal_bytes : -1, &values[10], &nulls[10]);
		fast_copy_report_number(row->whole ? row->spill_bytes : -1, &values[11], &nulls[11]);
		fast_copy_report_rate(row->rows, row->seconds, &values[12], &nulls[12]);
		fast_copy_report_rate(row->bytes, row->seconds, &values[13], &nulls[13]);
		fast_copy_report_text(row->choice, &values[14], &nulls[14]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * What a load with these arguments would do; one row per finding.
 */
Datum
fast_copy_analyze(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FcArguments args;
	ListCell   *lc;

	PreventCommandIfParallelMode("fast_copy_analyze()");
	InitMaterializedSRF(fcinfo, 0);
	fast_copy_files(fcinfo, &args);
	foreach(lc, fc_analyze_run(fc_options_make(&args)))
	{
		FcFinding  *finding = lfirst(lc);
		Datum		values[8];
		bool		nulls[8] = {0};

		fast_copy_report_text(finding->item, &values[0], &nulls[0]);
		fast_copy_report_text(finding->name, &values[1], &nulls[1]);
		fast_copy_report_number(finding->rows, &values[2], &nulls[2]);
		fast_copy_report_number(finding->bytes, &values[3], &nulls[3]);
		fast_copy_report_text(finding->low, &values[4], &nulls[4]);
		fast_copy_report_text(finding->high, &values[5], &nulls[5]);
		fast_copy_report_number(finding->line, &values[6], &nulls[6]);
		fast_copy_report_text(finding->detail, &values[7], &nulls[7]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
