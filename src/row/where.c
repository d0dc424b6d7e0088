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
 * delete_where is such a condition, of fields of the record, too, which
 * row/transform.c has ready (fc_where_begin_mark).
 *
 * If there is a key the scan evaluates the condition: no partition is made for
 * rows for which it is not true.  The scan parses whole records then: COPY
 * refuses a bad value even in such a row.  The load evaluates a condition that
 * reads a volatile default.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parser.h"

#include "errors/context.h"
#include "row/column.h"
#include "row/origin.h"
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

/* Parses it by COPY's grammar; ERROR 42601 if it is not one condition */
static Node *
fc_where_grammar(const char *statement)
{
	List	   *trees = raw_parser(fc_origin_grammar(statement), RAW_PARSE_DEFAULT);
	CopyStmt   *copy = (CopyStmt *) linitial_node(RawStmt, trees)->stmt;

	if (list_length(trees) != 1)
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("where_clause must be one condition"),
				 errhint("Join conditions by AND or OR."));
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
			fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("system columns are not supported in COPY FROM WHERE conditions"),
					 errdetail("Column \"%s\" is a system column.",
							   NameStr(SystemAttributeDefinition(attnum)->attname)));
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
			fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("generated columns are not supported in COPY FROM WHERE conditions"),
					 errdetail("Column \"%s\" is a generated column.",
							   NameStr(TupleDescAttr(desc, attnum - 1)->attname)));
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
	where = fc_where_transform(pstate, rel, fc_where_grammar(pstate->p_sourcetext));
	fc_error_context_pop();
	return where;
}

/* A condition that core evaluates by fc_where_evaluate */
typedef struct FcWrappedWhere
{
	ExprState  *where;
	pg_tz	   *zone;			/* or NULL */
	bool		foreign;		/* it calls code of users */
	FcContext  *ctx;			/* counts rows for which it is not true, of the
								 * file of *offset; or NULL */
	const uint64 *offset;
	EState	   *parsed;			/* as in fc_where_wrap */
	ExprContext *econtext;		/* with the row */
	bool		isnull;
	Datum		result;
} FcWrappedWhere;

/* Body of fc_column_in_zone */
static void
fc_where_body(void *arg)
{
	FcWrappedWhere *wrapped = arg;

	wrapped->result = ExecEvalExpr(wrapped->where, wrapped->econtext, &wrapped->isnull);
}

/* ExprState.evalfunc */
static Datum
fc_where_evaluate(ExprState *state, ExprContext *econtext, bool *isnull)
{
	FcWrappedWhere wrapped = *(FcWrappedWhere *) state->evalfunc_private;

	wrapped.econtext = econtext;
	if (wrapped.parsed)
		econtext->ecxt_innertuple = GetPerTupleExprContext(wrapped.parsed)->ecxt_innertuple;
	if (wrapped.foreign)
		fc_column_in_setting(wrapped.zone, fc_where_body, &wrapped);
	else
		fc_column_in_zone(wrapped.zone, fc_where_body, &wrapped);
	if (wrapped.ctx && !DatumGetBool(wrapped.result))
		(void) fc_context_count_out(wrapped.ctx, filtered, *wrapped.offset, 1);
	*isnull = wrapped.isnull;
	return wrapped.result;
}

ExprState *
fc_where_wrap(ExprState *where, FcShared *shared, FcContext *ctx, const uint64 *offset,
			  EState *parsed)
{
	const char *zone = fc_shared_zone(shared);
	FcWrappedWhere *wrapped;
	ExprState  *state;

	if (where == NULL || (zone[0] == '\0' && ctx == NULL))
		return where;
	wrapped = palloc(sizeof(FcWrappedWhere));
	*wrapped = (FcWrappedWhere) {
		where, fc_column_zone(zone), shared->plan.zone_set, ctx, offset, parsed
	};
	state = makeNode(ExprState);
	state->flags = where->flags;
	state->evalfunc = fc_where_evaluate;
	state->evalfunc_private = wrapped;
	return state;
}

ExprState *
fc_where_begin(FcShared *shared, bool again)
{
	const char *tree = fc_shared_where(shared);

	if (tree[0] == '\0' || (again && contain_volatile_functions(stringToNode(tree))))
		return NULL;
	return fc_where_wrap(ExecInitQual(castNode(List, stringToNode(tree)), NULL), shared, NULL, NULL, NULL);
}

ExprState *
fc_where_begin_mark(FcShared *shared)
{
	return !shared->plan.dedup.marks ? NULL :
		fc_where_wrap(ExecInitQual(llast(castNode(List, stringToNode(fc_shared_transforms(shared)))), NULL), shared, NULL, NULL, NULL);
}

bool
fc_where_accepts(ExprState *where, EState *estate, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(estate);

	Assert(!TTS_EMPTY(slot));
	econtext->ecxt_scantuple = slot;
	return ExecQual(where, econtext);
}
