/*-------------------------------------------------------------------------
 *
 * row/where.c
 *	  The condition of COPY ... WHERE.
 *
 * 1. fc_where_parse reads the text by COPY's grammar, and checks it as COPY
 *    does.
 * 2. The expression goes to shared memory as a node tree.
 * 3. fc_where_begin prepares it in each process.
 * 4. fc_where_accepts evaluates it for each row before the row is routed.
 *
 * If there is a key the scan evaluates the condition: no partition is made for
 * rows for which it is not true.  The scan parses whole records then: COPY
 * refuses a bad value even in such a row.  The load evaluates a condition that
 * reads a volatile default.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/heap.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parser.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "errors/context.h"
#include "row/column.h"
#include "row/where.h"

/* What stands before the caller's text when COPY's grammar reads it */
#define FC_WHERE_PREFIX	"COPY pg_class FROM STDIN WHERE "

/*
 * Says where in the text an error is, with a hint if the text begins with
 * WHERE
 */
static void
fc_where_context(void *arg)
{
	const FcWithin *within = arg;

	if (geterrcode() == ERRCODE_SYNTAX_ERROR &&
		pg_strncasecmp(within->text, "where ", strlen("where ")) == 0)
		errhint("Leave out the word WHERE.");
	fc_error_within(arg);
}

/* Parses the text by COPY's grammar; ERROR 42601 if it is not one condition */
static Node *
fc_where_grammar(const char *text)
{
	char	   *statement = psprintf("%s%s", FC_WHERE_PREFIX, text);
	List	   *trees = raw_parser(statement, RAW_PARSE_DEFAULT);
	CopyStmt   *copy = (CopyStmt *) linitial_node(RawStmt, trees)->stmt;

	if (list_length(trees) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("where_clause must be one condition"),
				 errhint("Join conditions by AND or OR.")));
	return castNode(CopyStmt, copy)->whereClause;
}

/* ERROR 42P10 for system columns, which a row does not have yet */
static void
fc_where_check_system(const Bitmapset *used)
{
	if (!FC_CORE_REFUSES_SYSTEM_COLUMNS)
		return;
	for (int attnum = FirstLowInvalidHeapAttributeNumber + 1; attnum < 0; attnum++)
		if (bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("system columns are not supported in COPY FROM WHERE conditions"),
					 errdetail("Column \"%s\" is a system column.",
							   NameStr(SystemAttributeDefinition(attnum)->attname))));
}

/* ERROR 42P10 for generated columns: they are computed after the condition */
static void
fc_where_check_columns(Relation rel, Node *where)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *used = NULL;
	bool		whole;

	pull_varattnos(where, 1, &used);
	fc_where_check_system(used);
	whole = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, used);
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		if (TupleDescAttr(desc, attnum - 1)->attgenerated &&
			(whole || bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("generated columns are not supported in COPY FROM WHERE conditions"),
					 errdetail("Column \"%s\" is a generated column.",
							   NameStr(TupleDescAttr(desc, attnum - 1)->attname))));
}

List *
fc_where_transform(ParseState *pstate, Relation rel, Node *where)
{
	where = transformExpr(pstate, where, EXPR_KIND_COPY_WHERE);
	where = coerce_to_boolean(pstate, where, "WHERE");
	assign_expr_collations(pstate, where);
	fc_where_check_columns(rel, where);
	where = eval_const_expressions(NULL, where);
	where = (Node *) canonicalize_qual((Expr *) where, false);
	return make_ands_implicit((Expr *) where);
}

List *
fc_where_parse(ParseState *pstate, Relation rel, const char *text)
{
	FcWithin	within = {text, strlen(FC_WHERE_PREFIX)};
	ErrorContextCallback callback;
	List	   *where;

	fc_error_context_push(&callback, fc_where_context, &within);
	pstate->p_sourcetext = psprintf("%s%s", FC_WHERE_PREFIX, text);
	where = fc_where_transform(pstate, rel, fc_where_grammar(text));
	fc_error_context_pop();
	return where;
}

/* Makes the condition be evaluated by a function, which gets "arg" */
static ExprState *
fc_where_wrap(const ExprState *where, ExprStateEvalFunc evaluate, void *arg)
{
	ExprState  *state = makeNode(ExprState);

	state->flags = where->flags;
	state->evalfunc = evaluate;
	state->evalfunc_private = arg;
	return state;
}

/* A condition and its time zone, and the row for which it is evaluated */
typedef struct FcZonedWhere
{
	ExprState  *where;
	pg_tz	   *zone;
	bool		foreign;		/* it calls code of users */
	ExprContext *econtext;
	bool		isnull;
	Datum		result;
} FcZonedWhere;

/* Body of fc_column_in_zone */
static void
fc_where_body(void *arg)
{
	FcZonedWhere *zoned = arg;

	zoned->result = ExecEvalExpr(zoned->where, zoned->econtext, &zoned->isnull);
}

/* Evaluates the condition in its time zone: ExprState.evalfunc */
static Datum
fc_where_evaluate(ExprState *state, ExprContext *econtext, bool *isnull)
{
	FcZonedWhere zoned = *(FcZonedWhere *) state->evalfunc_private;

	zoned.econtext = econtext;
	if (zoned.foreign)
		fc_column_in_setting(zoned.zone, fc_where_body, &zoned);
	else
		fc_column_in_zone(zoned.zone, fc_where_body, &zoned);
	*isnull = zoned.isnull;
	return zoned.result;
}

static ExprState *
fc_where_in_zone(ExprState *where, FcShared *shared)
{
	const char *zone = fc_shared_zone(shared);
	FcZonedWhere *zoned;

	if (where == NULL || zone[0] == '\0')
		return where;
	zoned = palloc0(sizeof(FcZonedWhere));
	zoned->where = where;
	zoned->zone = fc_column_zone(zone);
	zoned->foreign = shared->plan.zone_set;
	return fc_where_wrap(where, fc_where_evaluate, zoned);
}

/* A condition, and where rows are counted for which it is not true */
typedef struct FcCountedWhere
{
	ExprState  *where;
	FcContext  *ctx;
	const uint64 *offset;
} FcCountedWhere;

/* Evaluates the condition, and counts: ExprState.evalfunc */
static Datum
fc_where_count(ExprState *state, ExprContext *econtext, bool *isnull)
{
	const FcCountedWhere *counted = state->evalfunc_private;
	Datum		accepts = ExecEvalExpr(counted->where, econtext, isnull);

	if (!DatumGetBool(accepts))
		(void) fc_context_count_out(counted->ctx, filtered, *counted->offset, 1);
	return accepts;
}

ExprState *
fc_where_counted(ExprState *where, FcContext *ctx, const uint64 *offset)
{
	FcCountedWhere *counted;

	if (where == NULL)
		return NULL;
	counted = palloc(sizeof(FcCountedWhere));
	counted->where = fc_where_in_zone(where, ctx->shared);
	counted->ctx = ctx;
	counted->offset = offset;
	return fc_where_wrap(where, fc_where_count, counted);
}

ExprState *
fc_where_begin(FcShared *shared)
{
	const char *tree = fc_shared_where(shared);

	if (tree[0] == '\0')
		return NULL;
	return fc_where_in_zone(ExecInitQual(castNode(List, stringToNode(tree)), NULL), shared);
}

ExprState *
fc_where_begin_again(FcShared *shared)
{
	const char *tree = fc_shared_where(shared);

	if (tree[0] == '\0' || contain_volatile_functions(stringToNode(tree)))
		return NULL;
	return fc_where_begin(shared);
}

bool
fc_where_accepts(ExprState *where, EState *estate, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(estate);

	Assert(!TTS_EMPTY(slot));
	econtext->ecxt_scantuple = slot;
	return ExecQual(where, econtext);
}
