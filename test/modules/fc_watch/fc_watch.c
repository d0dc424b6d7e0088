/*-------------------------------------------------------------------------
 *
 * fc_watch.c
 *	  Another extension's hooks.  That of ProcessUtility tells each COPY that it
 *	  sees, and how many rows it had, and may forbid programs; that of objects
 *	  tells what is altered (fc_watch.objects).
 *
 * As such hooks do, it may look at a copy of the tree (fc_watch.copy), not
 * pass the command on (fc_watch.keep), do so twice (fc_watch.twice), run SQL of
 * its own before (fc_watch.before), print it (fc_watch.print), fail when all is
 * done (fc_watch.fail), or load a table itself (fc_watch.take), by the options
 * that core knows.  Before each commit or PREPARE TRANSACTION it may run SQL
 * (fc_watch.commit).  It takes all descriptors that are left when it is told to
 * (fc_watch_take_descriptors).  A table of its access method (fc_watch_heap) is
 * a heap that nobody takes for one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/namespace.h"
#include "commands/copy.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "nodes/parsenodes.h"
#include "storage/fd.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
PG_FUNCTION_INFO_V1(fc_watch_take_descriptors);
PG_FUNCTION_INFO_V1(fc_watch_heap);

static bool tell = false;
static bool forbid = false;
static bool look_at_copy = false;
static bool keep = false;
static bool twice = false;
static bool print = false;
static bool fail = false;
static bool objects = false;
static char *sql_before = NULL;
static char *sql_commit = NULL;
static char *take = NULL;

static ProcessUtility_hook_type before = NULL;
static object_access_hook_type object_before = NULL;

static void
watch_statement(const CopyStmt *stmt)
{
	if (tell)
		ereport(NOTICE,
				(errmsg("sees COPY %s %s %s%s%s, %d options",
						stmt->relation ? stmt->relation->relname : "",
						stmt->is_from ? "from" : "to",
						stmt->is_program ? "program " : "",
						stmt->filename ? stmt->filename : "the client",
						stmt->whereClause ? " where" : "",
						list_length(stmt->options))));
	if (forbid && stmt->is_program)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("programs are forbidden")));
}

/* As TimescaleDB does with a hypertable, but for the rows */
static bool
watch_take(const CopyStmt *stmt)
{
	CopyFormatOptions format = {0};

	if (!stmt->is_from || !stmt->relation || strcmp(stmt->relation->relname, take) != 0)
		return false;
	if (stmt->filename && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to COPY to or from a file")));
	(void) RangeVarGetRelid(stmt->relation, RowExclusiveLock, false);
	ProcessCopyOptions(NULL, &format, true, stmt->options);
	ereport(NOTICE, (errmsg("takes COPY %s", take)));
	return true;
}

/* Runs the SQL, which has nothing to run itself */
static void
watch_run(char **setting)
{
	char	   *sql = *setting;

	if (sql[0] == '\0')
		return;
	*setting = "";
	PG_TRY();
	{
		SPI_connect();
		if (SPI_execute(sql, false, 0) < 0)
			elog(ERROR, "SPI_execute failed");
		SPI_finish();
	}
	PG_FINALLY();
	{
		*setting = sql;
	}
	PG_END_TRY();
}

static void
watch_end(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE)
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	watch_run(&sql_commit);
	PopActiveSnapshot();
}

static void
watch_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
			  ProcessUtilityContext context, ParamListInfo params,
			  QueryEnvironment *environment, DestReceiver *dest,
			  QueryCompletion *qc)
{
	ProcessUtility_hook_type next = before ? before : standard_ProcessUtility;

	bool		copies = IsA(pstmt->utilityStmt, CopyStmt);

	if (look_at_copy && read_only_tree)
	{
		pstmt = copyObject(pstmt);
		read_only_tree = false;
	}
	if (copies)
		watch_run(&sql_before);
	if (IsA(pstmt->utilityStmt, CopyStmt))
	{
		watch_statement((CopyStmt *) pstmt->utilityStmt);
		if (print)
			(void) nodeToString(pstmt);
	}
	if (keep && copies)
		return;
	if (take[0] && IsA(pstmt->utilityStmt, CopyStmt) &&
		watch_take((CopyStmt *) pstmt->utilityStmt))
		return;
	if (twice && IsA(pstmt->utilityStmt, CopyStmt))
		next(pstmt, query, read_only_tree, context, params, environment, dest, qc);
	next(pstmt, query, read_only_tree, context, params, environment, dest, qc);
	if (fail && IsA(pstmt->utilityStmt, CopyStmt))
		elog(ERROR, "failed behind the command");
	if (tell && IsA(pstmt->utilityStmt, CopyStmt))
		ereport(NOTICE,
				(errmsg("saw %s " UINT64_FORMAT,
						qc ? GetCommandTagName(qc->commandTag) : "no tag",
						qc ? qc->nprocessed : 0)));
}

static void
watch_object(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	if (object_before)
		object_before(access, class, object, sub, arg);
	if (objects && access == OAT_POST_ALTER && class == RelationRelationId)
		ereport(NOTICE,
				(errmsg("alters %s, %d%s", get_rel_name(object), sub,
						((ObjectAccessPostAlter *) arg)->is_internal ? ", internally" : "")));
}

/* How many it took.  The session has none until it ends. */
Datum
fc_watch_take_descriptors(PG_FUNCTION_ARGS)
{
	int			taken = 0;

	while (AcquireExternalFD())
		taken++;
	PG_RETURN_INT32(taken);
}

/* An index, as that of a TOAST table, would ask for core's own heap */
static bool
watch_needs_toast(Relation rel)
{
	return false;
}

Datum
fc_watch_heap(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.relation_needs_toast_table = watch_needs_toast;
	PG_RETURN_POINTER(&routine);
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("fc_watch.tell", "Tell of each COPY?", NULL,
							 &tell, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.forbid", "Forbid programs?", NULL,
							 &forbid, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.copy", "Look at a copy?", NULL,
							 &look_at_copy, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.keep", "Pass nothing on?", NULL,
							 &keep, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.twice", "Pass all on twice?", NULL,
							 &twice, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.print", "Print the tree?", NULL,
							 &print, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.fail", "Fail behind the command?", NULL,
							 &fail, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fc_watch.objects", "Tell of each relation that is altered?", NULL,
							 &objects, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fc_watch.before", "What to run before each COPY?", NULL,
							   &sql_before, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fc_watch.commit", "What to run before each commit?", NULL,
							   &sql_commit, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fc_watch.take", "Which table to load itself?", NULL,
							   &take, "", PGC_USERSET, 0, NULL, NULL, NULL);
	before = ProcessUtility_hook;
	ProcessUtility_hook = watch_utility;
	object_before = object_access_hook;
	object_access_hook = watch_object;
	RegisterXactCallback(watch_end, NULL);
}
