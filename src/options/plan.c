/*-------------------------------------------------------------------------
 *
 * options/plan.c
 *	  What a load will do, from the options and from what the target has.
 *
 *	 options, table ──► columns, condition ──► defaults ──► key and order
 *			(plan_key.c) ──► way of the load (plan_way.c)
 *
 * Nothing is changed here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_publication.h"
#include "mb/pg_wchar.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "options/plan.h"
#include "options/plan_code.h"
#include "row/condition.h"
#include "row/executor.h"
#include "row/serial.h"
#include "sort/order_by_keys.h"

static bool
fc_plan_is_unique(Relation index)
{
	return index->rd_index->indisunique || index->rd_index->indisexclusion;
}

bool
fc_plan_has_unique(Relation rel)
{
	return fc_code_any_index(rel, fc_plan_is_unique);
}

/* Marks the fields whose type runs code with visible effects */
static bool
fc_plan_fields_visible(Relation rel, const FcOptions *options, FcPlan *plan)
{
	bool		any = false;

	for (int i = 0; i < list_length(plan->columns.fields); i++)
	{
		AttrNumber	attnum = list_nth_int(plan->columns.fields, i);

		if (attnum == 0 ||
			!fc_code_type_visible(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid,
								  fc_format_is_binary(&options->format)))
			continue;
		plan->columns.flags[i] |= FC_FIELD_VISIBLE;
		any = true;
	}
	return any;
}

/* Do effects show how often a row's code runs before it is in the table? */
static bool
fc_plan_effects(Relation rel, const FcOptions *options, FcPlan *plan)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		visible = fc_plan_fields_visible(rel, options, plan);

	for (int i = 0; desc->constr && i < desc->constr->num_check; i++)
		visible = visible ||
			fc_code_visible(stringToNode(desc->constr->check[i].ccbin));
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		visible = visible || (!TupleDescAttr(desc, attnum - 1)->attisdropped &&
							  fc_code_visible(build_column_default(rel, attnum)));
	return visible;
}

/* Marks the fields whose errors are tolerated only in subtransactions */
static bool
fc_plan_subtransactions(Relation rel, const FcOptions *options, FcPlan *plan)
{
	bool		any = false;
	int			i = 0;
	ListCell   *lc;

	if ((options->tolerated & FC_CLASS_CONVERSION) == 0 && fc_caller_writes(options->caller))
		return false;
	foreach(lc, plan->columns.fields)
	{
		AttrNumber	attnum = lfirst_int(lc);

		if (attnum != 0 &&
			fc_code_type_foreign(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid,
								 fc_format_is_binary(&options->format)))
		{
			plan->columns.flags[i] |= FC_FIELD_SUBTRANSACTION;
			any = true;
		}
		i++;
	}
	return any;
}

/* Refuses to tolerate a user's conversion, whose errors may have effects */
static void
fc_plan_check_encoding(const FcOptions *options, const FcPlan *plan)
{
	if ((options->tolerated & FC_CLASS_ENCODING) == 0 || !plan->need_transcoding ||
		FindDefaultConversionProc(options->file_encoding,
								  GetDatabaseEncoding()) < FirstNormalObjectId)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("on_error_classes \"encoding\" cannot be used with a conversion that is not built in")));
}

/*
 * Adds the column to plan->numbers, if the leader may take the numbers of its
 * default before the rows are loaded; else returns false
 */
static bool
fc_plan_number(FcPlan *plan, AttrNumber attnum, Node *expr)
{
	FcNumber   *number = palloc0(sizeof(FcNumber));
	ListCell   *lc;

	if (!fc_number_find(expr, number) ||
		fc_code_unsafe(fc_number_replace(expr, 1)))
		return false;
	/* two columns with one sequence take its numbers in turn */
	foreach(lc, plan->numbers)
		if (((FcNumber *) lfirst(lc))->sequence == number->sequence)
		return false;
	number->attnum = attnum;
	plan->numbers = lappend(plan->numbers, number);
	return true;
}

/* May a record be rejected before its defaults take their numbers? */
static bool
fc_plan_may_leave_out(const FcOptions *options)
{
	uint32		classes = FC_CLASS_MISSING_COLUMNS | FC_CLASS_EXTRA_COLUMNS |
		FC_CLASS_ENCODING;

	if (options->on_error == FC_ON_ERROR_IGNORE && !FC_CORE_NUMBERS_ALL)
		classes |= FC_CLASS_CONVERSION;
	return (options->tolerated & classes) != 0;
}

/*
 * Finds defaults that give other values when they are evaluated in another
 * order.  If each of them takes one number of a sequence for each record,
 * plan->numbers has them; else the load keeps to the order of the file.
 */
static void
fc_plan_defaults(Relation rel, const FcOptions *options, FcPlan *plan)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		bool		in_file = list_member_int(plan->columns.attnums, attnum);
		Node	   *expr;

		if (att->attisdropped || att->attgenerated ||
			(in_file && options->default_string == NULL))
			continue;
		expr = build_column_default(rel, attnum);
		if (expr == NULL)
			continue;
		expr = (Node *) expression_planner((Expr *) expr);
		if (contain_volatile_functions(expr) && fc_code_unsafe(expr) &&
			(in_file || !fc_plan_number(plan, attnum, expr)))
			plan->in_order = true;
	}
	if (plan->numbers != NIL && fc_plan_may_leave_out(options))
		plan->in_order = true;
	if (plan->in_order)
		plan->numbers = NIL;
}

FcPlan *
fc_plan_make(Relation rel, const FcOptions *options)
{
	FcPlan	   *plan = palloc0(sizeof(FcPlan));
	int			server = GetDatabaseEncoding();

	fc_fields_make(rel, options, &plan->columns);
	plan->pstate = fc_target_parse_state(rel, plan->columns.attnums);
	if (fc_caller_opened_by_core(options->caller))
		plan->where = options->where;
	else if (options->where_clause)
		plan->where = fc_where_parse(plan->pstate, rel, options->where_clause);
	plan->need_transcoding = !fc_format_is_binary(&options->format) &&
		options->file_encoding != server &&
		options->file_encoding != PG_SQL_ASCII && server != PG_SQL_ASCII;
	fc_plan_defaults(rel, options, plan);
	plan->effects = fc_plan_effects(rel, options, plan);
	plan->order = fc_sort_keys_parse(rel, options->order_by);
	fc_plan_key(rel, options, plan);
	fc_plan_order(plan);
	fc_plan_check_unique(rel, rel, options, plan);
	fc_fields_patterns(rel, options, plan->key_attnum, &plan->columns);
	fc_plan_check_encoding(options, plan);
	plan->subtransactions = fc_plan_subtransactions(rel, options, plan);
	plan->core_reason = fc_plan_core_reason(rel, options, plan);
	/* core evaluates the condition: a volatile one must not run before */
	plan->where_late = plan->where_late ||
		(plan->core_reason && contain_volatile_functions((Node *) plan->where));
	if (plan->core_reason == NULL && plan->subtransactions &&
		(options->tolerated & FC_CLASS_CONVERSION))
		plan->leader_reason = "values of a column's type are tried in subtransactions";
	else if (plan->core_reason == NULL)
		plan->leader_reason = fc_plan_leader_reason(rel, options, plan);
	return plan;
}

bool
fc_plan_is_published(Relation rel)
{
	PublicationDesc desc;

	if (!RelationIsLogicallyLogged(rel))
		return false;
	RelationBuildPublicationDesc(rel, &desc);
	return desc.pubactions.pubinsert;
}
