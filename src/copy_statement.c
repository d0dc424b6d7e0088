/*-------------------------------------------------------------------------
 *
 * copy_statement.c
 *	  COPY ... FROM ... WITH (fast_copy, ...), a COPY command that is ours.
 *
 *	 CopyStmt ──► hooks before ours ──┬─► FcOptions ──► load/run.c ──► "COPY n"
 *									  └─► accelerate.c, without our option
 *
 * psql sends data only for what it has read as COPY ... FROM STDIN, and \copy
 * sends no other command.  So the command that loads a file of the client is
 * COPY itself, with an option that core does not know.  Our hook runs it in
 * place of core, or takes the option out if it is off.  Other options are
 * COPY's and the arguments of fast_copy() (options/list.h), with the defaults
 * of COPY.
 *
 * The hook is there once the library is loaded: by session_preload_libraries,
 * by LOAD, or by a call of one of its functions.  Hooks of other extensions
 * must see the command wherever they stand in the chain (relay.c).
 *
 * A memory context of the command has everything, and goes with an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tcop/dest.h"

#include "elsewhere/elsewhere.h"
#include "fast_copy.h"
#include "load/job.h"
#include "source/client.h"

#define FC_STATEMENT_OPTION	"fast_copy"

/* The option's location in fast_copy()'s COPY; no parser sets this one */
#define FC_STATEMENT_CALLED	(-2)

/* A load, by a command or by the function */
typedef struct FcStatement
{
	const CopyStmt *stmt;
	List	   *given;			/* options of stmt without ours */
	const char *query;
	FcOptions  *options;		/* NULL: to be made from stmt */
	bool		alone;			/* see FcOptions */
	bool		plain;			/* stmt is a COPY without our option */
	QueryCompletion *qc;		/* or NULL */
	uint64		rows;
	bool		run;			/* the load has begun */
} FcStatement;

static ProcessUtility_hook_type previous_hook = NULL;

/* The load of fast_copy() that is on its way to our hook, or NULL */
static FcStatement *called = NULL;

/* Does the command have our option?  If so, *options are the others */
static bool
fc_statement_is_ours(const CopyStmt *stmt, const char *query, List **options, bool *on)
{
	bool		ours = false;

	*options = NIL;
	foreach_node(DefElem, def, stmt->options)
	{
		if (strcmp(def->defname, FC_STATEMENT_OPTION) != 0)
		{
			*options = lappend(*options, def);
			continue;
		}
		if (ours)
		{
			ParseState *pstate = make_parsestate(NULL);

			pstate->p_sourcetext = query;
			errorConflictingDefElem(def, pstate);
		}
		ours = true;
		*on = defGetBoolean(def);
	}
	return ours;
}

/* The load's options, made of the command's after core's first checks */
static FcOptions *
fc_statement_options(const FcStatement *statement)
{
	const CopyStmt *stmt = statement->stmt;
	FcOptions  *options;
	ParseState *pstate;

	if (statement->options)
		return statement->options;
	PreventCommandIfParallelMode("COPY");
	PreventCommandDuringRecovery("COPY");
	if (stmt->filename == NULL)
		fc_client_check();
	options = fc_options_begin(FC_CALLER_OPTION);
	options->target = RangeVarGetRelid(stmt->relation, RowExclusiveLock, false);
	options->columns = stmt->attlist;
	options->client = stmt->filename == NULL;
	options->program = stmt->is_program;
	options->sources = list_make1(makeString(stmt->filename ? stmt->filename : FC_CLIENT_PATH));
	options->where = stmt->whereClause;
	options->query = statement->query;
	options->alone = statement->alone;
	pstate = make_parsestate(NULL);
	pstate->p_sourcetext = statement->query;
	fc_options_take(options, statement->given, pstate);
	if (options->where && options->where_clause)
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot specify both WHERE and where_clause"));
	return options;
}

/* Does the load, in place of core */
static void
fc_statement_run(void *arg)
{
	FcStatement *statement = arg;
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcOptions  *options = statement->plain ? NULL : fc_statement_options(statement);

	statement->run = true;
	if (options)
		fc_options_check(options);
	statement->rows = options ? fc_job_run(options, NULL) :
		fc_accelerate_run(statement->stmt, statement->query);
	if (statement->qc)
		SetQueryCompletion(statement->qc, CMDTAG_COPY, statement->rows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

/*
 * Runs the load where the hooks before ours see it.  False if one of them sees
 * another command, and the load is a COPY that core can run as well.
 */
static bool
fc_statement_load(const FcRelayCall *call, FcStatement *statement)
{
	statement->qc = call->qc;
	if (previous_hook)
	{
		if (statement->options == NULL && !statement->plain)
			fc_keeper_foresee(RangeVarGetRelid(statement->stmt->relation, NoLock, true));
		return fc_relay(previous_hook, call, fc_statement_run, statement, statement->plain);
	}
	fc_statement_run(statement);
	return true;
}

/*
 * Returns the load of fast_copy() that has made the command, or NULL if it
 * was made elsewhere.  The command alone does not say how to load, so that it
 * can be run only once, and only by the call that made it.  An extension that
 * prints the command and reads it again may have lost the location.
 */
static FcStatement *
fc_statement_take_called(const CopyStmt *stmt)
{
	FcStatement *load = called;
	int			location = linitial_node(DefElem, stmt->options)->location;

	if (location >= 0 || (load == NULL && location != FC_STATEMENT_CALLED))
		return NULL;
	if (load == NULL)
		fc_unsupported(errmsg("another extension has run the load more than once"));
	called = NULL;
	return load;
}

static void
fc_statement_hook(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				  ProcessUtilityContext context, ParamListInfo params,
				  QueryEnvironment *environment, DestReceiver *dest,
				  QueryCompletion *qc)
{
	FcRelayCall call = {pstmt, query, context, params, environment, dest, qc};
	CopyStmt   *stmt = (CopyStmt *) pstmt->utilityStmt;
	FcStatement statement = {stmt, NIL, query};
	bool		on = false;
	bool		ours;
	bool		discards = IsA(stmt, DiscardStmt) &&
		((DiscardStmt *) stmt)->target == DISCARD_ALL;

	ours = IsA(stmt, CopyStmt) && stmt->is_from && stmt->options != NIL &&
		fc_statement_is_ours(stmt, query, &statement.given, &on);
	if (ours && !on)
	{
		call.pstmt = copyObject(pstmt);
		castNode(CopyStmt, call.pstmt->utilityStmt)->options = statement.given;
	}
	statement.plain = !ours && IsA(stmt, CopyStmt) && fc_accelerate_may(stmt);
	statement.alone = context == PROCESS_UTILITY_TOPLEVEL && !IsTransactionBlock();
	if (on)
	{
		FcStatement *load = fc_statement_take_called(stmt);

		fc_statement_load(&call, load ? load : &statement);
	}
	else if (!statement.plain || !fc_statement_load(&call, &statement))
		(previous_hook ? previous_hook : standard_ProcessUtility) (call.pstmt, query, read_only_tree, context, params,
																   environment, dest, qc);
	if (discards)
		fc_report_forget();
}

/*
 * Makes the COPY that hooks see of a call: an extension that audits writes or
 * forbids programs does not know fast_copy().  Several files become one name.
 */
static CopyStmt *
fc_statement_of(const FcOptions *options, const char *name)
{
	CopyStmt   *stmt = makeNode(CopyStmt);
	StringInfo	sources = makeStringInfo();

	foreach_node(String, source, options->sources)
		appendStringInfo(sources, "%s%s", sources->len > 0 ? ", " : "", strVal(source));
	stmt->relation = makeRangeVar(get_namespace_name(get_rel_namespace(options->target)),
								  pstrdup(name), -1);
	stmt->attlist = options->columns;
	stmt->is_from = true;
	stmt->is_program = options->program;
	stmt->filename = sources->data;
	stmt->options = list_make1(makeDefElem(FC_STATEMENT_OPTION, NULL,
										   FC_STATEMENT_CALLED));
	return stmt;
}

/* Returns the COPY of a call as text, for hooks that log it */
static char *
fc_statement_text(const CopyStmt *stmt)
{
	return psprintf("COPY %s FROM %s%s WITH (%s)",
					quote_qualified_identifier(stmt->relation->schemaname,
											   stmt->relation->relname),
					stmt->is_program ? "PROGRAM " : "",
					quote_literal_cstr(stmt->filename), FC_STATEMENT_OPTION);
}

uint64
fc_statement_call(FcOptions *options)
{
	FcStatement statement = {.options = options};
	FcStatement *outer = called;	/* of a call, one of whose hooks has
									 * called fast_copy() */
	PlannedStmt *pstmt = makeNode(PlannedStmt);
	char	   *name = get_rel_name(options->target);
	QueryCompletion qc;
	CopyStmt   *stmt;

	/* the target does not exist: the load will say so */
	if (name == NULL)
	{
		fc_statement_run(&statement);
		return statement.rows;
	}
	fc_keeper_foresee(options->target);
	stmt = fc_statement_of(options, name);
	pstmt->commandType = CMD_UTILITY;
	pstmt->utilityStmt = (Node *) stmt;
	pstmt->stmt_location = -1;
	InitializeQueryCompletion(&qc);
	PG_TRY();
	{
		called = &statement;
		ProcessUtility(pstmt, fc_statement_text(stmt), true, PROCESS_UTILITY_QUERY,
					   NULL, NULL, None_Receiver, &qc);
	}
	PG_FINALLY();
	{
		called = outer;
	}
	PG_END_TRY();
	if (!statement.run)
		fc_unsupported(errmsg("another extension has taken the load for its own, and not passed it on"));
	return statement.rows;
}

void
fc_statement_define(void)
{
	fc_relay_define();
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = fc_statement_hook;
	fc_attach_pass_over(fc_statement_hook, previous_hook);
}
