/*-------------------------------------------------------------------------
 *
 * fast_copy.h
 *	  What the extension's entries do for each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FAST_COPY_H
#define FC_FAST_COPY_H

#include "nodes/parsenodes.h"
#include "tcop/utility.h"

#include "report/report.h"

/*
 * relay.c
 */

/* Does what the command says, and sets its qc */
typedef void (*FcRelayRun) (void *arg);

/* The arguments of a hook of ProcessUtility; the tree is not changed */
typedef struct FcRelayCall
{
	PlannedStmt *pstmt;
	const char *query;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *environment;
	DestReceiver *dest;
	QueryCompletion *qc;		/* or NULL */
} FcRelayCall;

/* To be called when the library is loaded */
extern void fc_relay_define(void);

/*
 * Gives the command, a COPY, to the hooks from "next" on, each of which sees
 * it once, and calls run(arg) where core would run it, unless a hook throws an
 * error or does not pass it on.  The hooks see the number of rows in qc.
 *
 * A hook that looks at a copy of the tree sees another command.  ERROR 0A000
 * if it does not pass that on, or if the command runs a program, which it
 * might want to forbid.  With "optional" nothing is run then, and the result
 * is false: the caller may give the command to the hooks as it is.
 */
extern bool fc_relay(ProcessUtility_hook_type next, const FcRelayCall *call,
					 FcRelayRun run, void *arg, bool optional);

/*
 * copy_statement.c
 */

/*
 * From this call on the session's COPY FROM commands with the option
 * fast_copy are loads by fast_copy, and so may be plain ones while
 * fast_copy.accelerate_copy is on; all others stay core's.
 */
extern void fc_statement_define(void);

/*
 * Runs a load of fast_copy(), which hooks of other extensions see as a COPY.
 * Returns its number of rows.  The options are not checked yet: the load
 * throws the errors of their values.
 */
extern uint64 fc_statement_call(FcOptions *options);

/*
 * accelerate.c
 */

/* Is the COPY worth a closer look?  If not, core runs it as ever. */
extern bool fc_accelerate_may(const CopyStmt *stmt);

/*
 * Runs a COPY FROM in place of core, whose checks come first, with core's
 * errors: by a load, if the data are many and a load does all that COPY does,
 * else by core's CopyFrom.  Returns the number of rows.  "query" is the text
 * that the command stands in.
 */
extern uint64 fc_accelerate_run(const CopyStmt *stmt, const char *query);

/*
 * analyze.c
 */

/* One row of fast_copy_analyze(); NULL and -1 are its nulls */
typedef struct FcFinding
{
	const char *item;			/* file, rows, key, cause, error, warning,
								 * choice, disk, partition */
	const char *name;
	int64		rows;
	int64		bytes;
	const char *low;
	const char *high;
	int64		line;
	const char *detail;
} FcFinding;

/*
 * Analyzes the load that the options describe, and returns a List of FcFinding
 * in the current memory context.
 */
extern List *fc_analyze_run(FcOptions *options);

/*
 * fast_copy.c
 */

/* Refuses NULL for an argument that must not be NULL; ERROR 22004 */
extern void fast_copy_refuse_null(const char *name, bool has_default);

/* Refuses to load on a standby, in core's words; ERROR 25006 */
extern void fast_copy_refuse_standby(FunctionCallInfo fcinfo);

/* The argument "source", which may be one or an array: List of String */
extern List *fast_copy_sources(FunctionCallInfo fcinfo, int arg);

/*
 * Returns the options that are given, DefElems for fc_options_take(): by the
 * arguments from "first" on, which are all that a function of this kind takes
 * (FC_FROM_*), and in the JSON object in the last one
 */
extern List *fast_copy_given(FunctionCallInfo fcinfo, int first, int from);

/*
 * Returns a row for each struct of a list, of as many of the n columns as are
 * declared in SQL
 */
extern Datum fast_copy_rows(FunctionCallInfo fcinfo, const List *rows,
							const FcReportColumn *columns, int n);

#endif							/* FC_FAST_COPY_H */
