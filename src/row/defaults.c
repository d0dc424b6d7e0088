/*-------------------------------------------------------------------------
 *
 * row/defaults.c
 *	  Defaults of the columns that the file does not have.
 *
 * The defaults are the target's, compiled once for a parser and evaluated for
 * each row.  Where a sequence numbers a column, the leader has taken the
 * numbers ahead, and a parameter stands in nextval()'s place (row/serial.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"

#include "row/defaults.h"

bool
fc_defaults_in_file(FcShared *shared, AttrNumber attnum)
{
	for (int i = 0; i < shared->ncolumns; i++)
		if (fc_shared_columns(shared)[i] == attnum)
			return true;
	return false;
}

ExprState *
fc_defaults_expr(FcShared *shared, Relation target, AttrNumber attnum)
{
	Expr	   *expr = (Expr *) build_column_default(target, attnum);

	if (expr == NULL)
		return NULL;
	if (shared->phase <= FC_PHASE_SCAN &&
		contain_volatile_functions((Node *) expr))
		expr = (Expr *) makeNullConst(TupleDescAttr(RelationGetDescr(target),
													attnum - 1)->atttypid, -1, InvalidOid);
	expr = expression_planner(expr);
	/* a phase that loads nothing takes no numbers */
	if (shared->phase == FC_PHASE_CHECK)
		expr = (Expr *) fc_number_replace((Node *) expr, 0);
	for (int i = 0; i < shared->nnumbers && shared->phase != FC_PHASE_CHECK; i++)
		if (fc_shared_numbers(shared)[i].attnum == attnum)
			expr = (Expr *) fc_number_replace((Node *) expr, i + 1);
	return ExecInitExpr(expr, NULL);
}

void
fc_defaults_begin(FcDefaults *defaults, FcShared *shared, Relation target,
				  EState *estate)
{
	TupleDesc	desc = RelationGetDescr(target);

	defaults->defaults = palloc(sizeof(FcDefault) * Max(desc->natts, 1));
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		FcDefault  *def = &defaults->defaults[defaults->n];

		if (att->attisdropped || att->attgenerated ||
			fc_defaults_in_file(shared, attnum))
			continue;
		def->index = attnum - 1;
		def->expr = fc_defaults_expr(shared, target, attnum);
		if (def->expr != NULL)
			defaults->n++;
	}
	defaults->econtext = GetPerTupleExprContext(estate);
	/* up to the scan, as for its sample, no default needs a number */
	if (shared->nnumbers == 0 || shared->phase <= FC_PHASE_SCAN ||
		shared->phase == FC_PHASE_CHECK)
		return;
	defaults->numbers = fc_numbers_open(shared);
	defaults->econtext->ecxt_param_list_info = fc_numbers_params(defaults->numbers);
}

void
fc_defaults_end(FcDefaults *defaults)
{
	if (defaults->numbers)
		fc_numbers_close(defaults->numbers);
}

void
fc_defaults_evaluate(const FcDefaults *defaults, Datum *values, bool *nulls)
{
	for (int i = 0; i < defaults->n; i++)
	{
		FcDefault  *def = &defaults->defaults[i];

		values[def->index] = ExecEvalExpr(def->expr, defaults->econtext,
										  &nulls[def->index]);
	}
}
