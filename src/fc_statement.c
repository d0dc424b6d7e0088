/*-------------------------------------------------------------------------
 *
 * fc_statement.c
 *	  COPY ... FROM ... WITH (fast_copy, ...), a COPY command that is ours.
 *
 *	 CopyStmt ──► FcArguments ──► fc_job.c ──► "COPY n"
 *
 * psql sends data to nothing but what it has read as COPY ... FROM STDIN, and
 * \copy makes nothing else.  So the command that loads what lies on the client is
 * COPY itself: with an option that core does not know, and that a hook takes out
 * before core sees it.  Options are COPY's, and the arguments of fast_copy() by
 * their names; what is not given is as COPY has it.
 *
 * The hook is there as soon as the library is: by session_preload_libraries, by
 * LOAD, or because a function of the extension has been called.
 *
 * All is allocated in a memory context of the command.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "fc_attach.h"
#include "fc_client.h"
#include "fc_compat.h"
#include "fc_job.h"
#include "fc_statement.h"

#define FC_STATEMENT_OPTION	"fast_copy"

static ProcessUtility_hook_type previous_hook = NULL;

typedef enum FcOptionKind
{
	FC_OPTION_TEXT,
	FC_OPTION_FLAG,
	FC_OPTION_LIST,
	FC_OPTION_TABLE,
	FC_OPTION_WORKERS,
	FC_OPTION_LIMIT
} FcOptionKind;

typedef struct FcOption
{
	const char *name;
	FcOptionKind kind;
	size_t		at;				/* in FcArguments */
} FcOption;

#define FC_OPTION(name, kind) {#name, kind, offsetof(FcArguments, name)}

/* COPY's own come first */
static const FcOption known[] = {
	FC_OPTION(format, FC_OPTION_TEXT),
	FC_OPTION(freeze, FC_OPTION_FLAG),
	FC_OPTION(delimiter, FC_OPTION_TEXT),
	{"null", FC_OPTION_TEXT, offsetof(FcArguments, null_string)},
	FC_OPTION(header, FC_OPTION_TEXT),
	FC_OPTION(quote, FC_OPTION_TEXT),
	FC_OPTION(escape, FC_OPTION_TEXT),
	FC_OPTION(force_not_null, FC_OPTION_LIST),
	FC_OPTION(force_null, FC_OPTION_LIST),
	{"default", FC_OPTION_TEXT, offsetof(FcArguments, default_string)},
	FC_OPTION(encoding, FC_OPTION_TEXT),
	FC_OPTION(on_error, FC_OPTION_TEXT),
	FC_OPTION(reject_limit, FC_OPTION_LIMIT),
	FC_OPTION(log_verbosity, FC_OPTION_TEXT),
	FC_OPTION(null_string, FC_OPTION_TEXT),
	FC_OPTION(default_string, FC_OPTION_TEXT),
	FC_OPTION(timestamp_column, FC_OPTION_TEXT),
	FC_OPTION(ignore_extra_columns, FC_OPTION_FLAG),
	FC_OPTION(where_clause, FC_OPTION_TEXT),
	FC_OPTION(timestamp_format, FC_OPTION_TEXT),
	FC_OPTION(time_zone, FC_OPTION_TEXT),
	FC_OPTION(partition_interval, FC_OPTION_TEXT),
	FC_OPTION(missing_partitions, FC_OPTION_TEXT),
	FC_OPTION(order_by, FC_OPTION_LIST),
	FC_OPTION(on_error_classes, FC_OPTION_LIST),
	FC_OPTION(reject_table, FC_OPTION_TABLE),
	FC_OPTION(run_analyze, FC_OPTION_FLAG),
	FC_OPTION(progress, FC_OPTION_TEXT),
	FC_OPTION(workers, FC_OPTION_WORKERS),
	FC_OPTION(compressed, FC_OPTION_FLAG)
};

/* Does the command have our option?  Its others are put into *options then */
static bool
fc_statement_is_ours(const CopyStmt *stmt, List **options, bool *on)
{
	bool		ours = false;
	ListCell   *lc;

	*options = NIL;
	foreach(lc, stmt->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, FC_STATEMENT_OPTION) == 0)
		{
			ours = true;
			*on = defGetBoolean(def);
		}
		else
			*options = lappend(*options, def);
	}
	return ours;
}

/* A list in parentheses, "*", or one name */
static List *
fc_statement_list(DefElem *def)
{
	if (def->arg && IsA(def->arg, List))
		return castNode(List, def->arg);
	if (def->arg && IsA(def->arg, A_Star))
		return list_make1(makeString("*"));
	return list_make1(makeString(defGetString(def)));
}

static Oid
fc_statement_table(DefElem *def)
{
	char	   *name = defGetString(def);

	return RangeVarGetRelid(makeRangeVarFromNameList(fc_string_to_names(name)),
							NoLock, false);
}

static int
fc_statement_workers(DefElem *def)
{
	int64		workers = defGetInt64(def);

	if (workers < 0 || workers > FC_MAX_WORKERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"workers\" must be between 0 and %d",
						FC_MAX_WORKERS)));
	return (int) workers;
}

static void
fc_statement_option(FcArguments *args, const FcOption *option, DefElem *def)
{
	void	   *at = (char *) args + option->at;

	switch (option->kind)
	{
		case FC_OPTION_TEXT:
			/* COPY takes HEADER for HEADER true */
			*(char **) at = def->arg ? defGetString(def) : "true";
			break;
		case FC_OPTION_FLAG:
			*(bool *) at = defGetBoolean(def);
			break;
		case FC_OPTION_LIST:
			*(List **) at = fc_statement_list(def);
			break;
		case FC_OPTION_TABLE:
			*(Oid *) at = fc_statement_table(def);
			break;
		case FC_OPTION_WORKERS:
			*(int *) at = fc_statement_workers(def);
			break;
		case FC_OPTION_LIMIT:
			*(int64 *) at = defGetInt64(def);
			args->reject_limited = true;
			break;
	}
}

static const FcOption *
fc_statement_find(const DefElem *def, ParseState *pstate)
{
	for (int i = 0; i < lengthof(known); i++)
		if (strcmp(def->defname, known[i].name) == 0)
			return &known[i];
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("option \"%s\" not recognized", def->defname),
			 parser_errposition(pstate, def->location)));
	return NULL;
}

static void
fc_statement_options(FcArguments *args, List *options, ParseState *pstate)
{
	bool		seen[lengthof(known)] = {0};
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const FcOption *option = fc_statement_find(def, pstate);

		if (seen[option - known])
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("conflicting or redundant options"),
					 parser_errposition(pstate, def->location)));
		seen[option - known] = true;
		fc_statement_option(args, option, def);
	}
}

/* WHERE as text, which is read again, by the same rules */
static char *
fc_statement_where(const CopyStmt *stmt, Oid target, ParseState *pstate)
{
	Relation	rel = table_open(target, NoLock);
	ParseNamespaceItem *nsitem;
	Node	   *where;
	char	   *text;

	nsitem = addRangeTableEntryForRelation(pstate, rel, RowExclusiveLock,
										   NULL, false, false);
	addNSItemToQuery(pstate, nsitem, false, true, true);
	where = transformExpr(pstate, copyObject(stmt->whereClause), EXPR_KIND_COPY_WHERE);
	where = coerce_to_boolean(pstate, where, "WHERE");
	assign_expr_collations(pstate, where);
	text = deparse_expression(where,
							  deparse_context_for(RelationGetRelationName(rel), target),
							  false, false);
	table_close(rel, NoLock);
	return text;
}

/* As COPY has it where the command says nothing */
static void
fc_statement_defaults(FcArguments *args)
{
	memset(args, 0, sizeof(FcArguments));
	args->format = "text";
	args->header = "false";
	args->missing_partitions = "create";
	args->on_error = "stop";
	args->log_verbosity = "default";
	args->workers = -1;
}

static void
fc_statement_arguments(FcArguments *args, const CopyStmt *stmt, List *options,
					   ParseState *pstate)
{
	fc_statement_defaults(args);
	args->target = RangeVarGetRelid(stmt->relation, RowExclusiveLock, false);
	args->columns = stmt->attlist;
	args->client = stmt->filename == NULL;
	args->program = stmt->is_program;
	args->sources = list_make1(makeString(stmt->filename ? stmt->filename : "stdin"));
	fc_statement_options(args, options, pstate);
	if (stmt->whereClause == NULL)
		return;
	if (args->where_clause)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("cannot specify both WHERE and where_clause")));
	args->where_clause = fc_statement_where(stmt, args->target, pstate);
}

static uint64
fc_statement_run(const CopyStmt *stmt, List *options, const char *query)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	ParseState *pstate = make_parsestate(NULL);
	FcArguments args;
	uint64		rows;

	pstate->p_sourcetext = query;
	PreventCommandIfParallelMode("COPY FROM");
	if (stmt->filename == NULL)
		fc_client_check();
	fc_statement_arguments(&args, stmt, options, pstate);
	rows = fc_job_run(fc_options_make(&args));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return rows;
}

static void
fc_statement_pass_on(PlannedStmt *pstmt, const char *query, bool read_only_tree,
					 ProcessUtilityContext context, ParamListInfo params,
					 QueryEnvironment *environment, DestReceiver *dest,
					 QueryCompletion *qc)
{
	if (previous_hook)
		previous_hook(pstmt, query, read_only_tree, context, params, environment,
					  dest, qc);
	else
		standard_ProcessUtility(pstmt, query, read_only_tree, context, params,
								environment, dest, qc);
}

static void
fc_statement_hook(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				  ProcessUtilityContext context, ParamListInfo params,
				  QueryEnvironment *environment, DestReceiver *dest,
				  QueryCompletion *qc)
{
	CopyStmt   *stmt = (CopyStmt *) pstmt->utilityStmt;
	List	   *options;
	bool		on = false;
	bool		ours;
	uint64		rows;

	ours = IsA(stmt, CopyStmt) && stmt->is_from && stmt->options != NIL &&
		fc_statement_is_ours(stmt, &options, &on);
	if (ours && !on)
	{
		pstmt = copyObject(pstmt);
		castNode(CopyStmt, pstmt->utilityStmt)->options = options;
	}
	if (!on)
	{
		fc_statement_pass_on(pstmt, query, read_only_tree, context, params,
							 environment, dest, qc);
		return;
	}
	rows = fc_statement_run(stmt, options, query);
	if (qc)
		SetQueryCompletion(qc, CMDTAG_COPY, rows);
}

void
fc_statement_define(void)
{
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = fc_statement_hook;
	fc_attach_pass_over(fc_statement_hook, previous_hook);
}
