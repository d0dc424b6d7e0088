/*-------------------------------------------------------------------------
 *
 * options/plan_key.c
 *	  The key, by which rows are put in order, and the order asked for.
 *
 *	 timestamp_column, order_by, or the partition key
 *		──► the key, if rows may come in its order ──► what is left to sort
 *
 * Nothing is changed here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "options/plan.h"
#include "options/plan_code.h"
#include "sort/order_by_keys.h"

static int
fc_plan_field(List *fields, AttrNumber attnum)
{
	int			i = 0;
	ListCell   *lc;

	foreach(lc, fields)
	{
		if (lfirst_int(lc) == attnum)
			return i;
		i++;
	}
	return -1;
}

/* Takes the column that the caller named as the key, if it can be one */
static void
fc_plan_named_key(Relation rel, const char *name, FcPlan *plan)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);
	Oid			typid;

	if (attnum == InvalidAttrNumber || attnum < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(rel))));
	plan->key_field = fc_plan_field(plan->columns.fields, attnum);
	if (plan->key_field < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("timestamp_column \"%s\" is not a column of the file", name),
				 errhint("Add it to columns, or name another column.")));
	typid = TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid;
	plan->key_type = fc_key_type(typid);
	if (plan->key_type == FC_KEY_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot order rows by column \"%s\" of type %s",
						name, format_type_be(typid)),
				 errhint("Use a timestamp, timestamptz, date or integer column.")));
	plan->key_attnum = attnum;
}

/* Takes the first column of order_by as the key, if it can be one */
static void
fc_plan_order_key(Relation rel, FcPlan *plan)
{
	FcSortKey  *first = linitial(plan->order);
	int			field = fc_plan_field(plan->columns.fields, first->attnum);
	FcKeyType	type = fc_key_type(TupleDescAttr(RelationGetDescr(rel),
												 first->attnum - 1)->atttypid);

	if (field < 0 || type == FC_KEY_NONE || !fc_sort_key_plain(first))
		return;
	plan->key_field = field;
	plan->key_type = type;
	plan->key_attnum = first->attnum;
}

static void
fc_plan_partition_key(Relation rel, const FcOptions *options, FcPlan *plan)
{
	AttrNumber	attnum;

	if (!fc_route_possible(rel, &attnum))
	{
		plan->routed = true;
		return;
	}
	if (plan->key_attnum != 0 && plan->key_attnum != attnum)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("timestamp_column \"%s\" is not the partition key of \"%s\"",
						options->key_column, RelationGetRelationName(rel)),
				 errhint("Leave timestamp_column out, or name column \"%s\".",
						 get_attname(RelationGetRelid(rel), attnum, false))));
	plan->key_field = fc_plan_field(plan->columns.fields, attnum);
	plan->key_routes = (plan->key_field >= 0);
	plan->routed = !plan->key_routes;
	if (!plan->key_routes)
		return;
	plan->key_attnum = attnum;
	plan->key_type = fc_key_type(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid);
}

/*
 * Is the default volatile?  It gives another value when it is evaluated
 * again, so that its column can neither be a key nor be looked at by a
 * condition in the scan.
 */
static bool
fc_plan_default_volatile(Relation rel, AttrNumber attnum)
{
	return contain_volatile_functions(build_column_default(rel, attnum));
}

static bool
fc_plan_where_volatile(Relation rel, const FcOptions *options,
					   const FcPlan *plan)
{
	Bitmapset  *used = NULL;
	int			i = -1;

	pull_varattnos((Node *) plan->where, 1, &used);
	while ((i = bms_next_member(used, i)) >= 0)
	{
		AttrNumber	attnum = i + FirstLowInvalidHeapAttributeNumber;

		/* a reference to the whole row is one to all columns */
		for (AttrNumber a = Max(attnum, 1);
			 a <= (attnum == 0 ? RelationGetDescr(rel)->natts : attnum); a++)
			if ((options->default_string || !list_member_int(plan->columns.attnums, a)) &&
				!TupleDescAttr(RelationGetDescr(rel), a - 1)->attisdropped &&
				fc_plan_default_volatile(rel, a))
				return true;
	}
	return false;
}

static bool
fc_plan_has_flag(const FcPlan *plan, uint8 flag)
{
	for (int i = 0; i < list_length(plan->columns.fields); i++)
		if (plan->columns.flags[i] & flag)
			return true;
	return false;
}

/* Must the load not put rows into the order of the key? */
static bool
fc_plan_key_unfit(Relation rel, const FcOptions *options, const FcPlan *plan)
{
	/* for an index of a partition fc_plan_check_unique refuses the load */
	if (!plan->partitioned && (options->tolerated & FC_CLASS_UNIQUE) &&
		fc_sort_keys_conflict(rel, rel, fc_sort_key_of(rel, plan->key_attnum)))
		return true;
	return (plan->key_early && !plan->key_routes) ||
		(options->default_string &&
		 fc_plan_default_volatile(rel, plan->key_attnum));
}

void
fc_plan_key(Relation rel, const FcOptions *options, FcPlan *plan)
{
	plan->key_field = -1;
	plan->partitioned = (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE);
	if (fc_caller_routes_as_core(options->caller))
		plan->routed = plan->partitioned;
	else if (options->key_column)
		fc_plan_named_key(rel, options->key_column, plan);
	else if (!plan->partitioned && plan->order != NIL)
		fc_plan_order_key(rel, plan);
	if (plan->partitioned && !fc_caller_routes_as_core(options->caller))
		fc_plan_partition_key(rel, options, plan);
	/* COPY reads all columns of a row before it filters it */
	plan->where_late = plan->key_type != FC_KEY_NONE &&
		(fc_plan_where_volatile(rel, options, plan) ||
		 (plan->where != NIL && fc_plan_has_flag(plan, FC_FIELD_VISIBLE)));
	plan->key_early = plan->in_order || plan->where_late;
	if (plan->key_type != FC_KEY_NONE &&
		fc_plan_key_unfit(rel, options, plan))
	{
		plan->key_type = FC_KEY_NONE;
		plan->key_attnum = 0;
		plan->key_field = -1;
		plan->key_routes = false;
		plan->routed = plan->partitioned;
	}
	if ((options->interval || options->nodes) &&
		(!plan->key_routes || options->missing != FC_MISSING_CREATE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s given, but no partitions can be created",
						options->interval ? "partition_interval" : "nodes"),
				 errdetail("Partitions are created where missing_partitions is \"create\" and the table is partitioned by range over one column that the file has.")));
}

/* Do rows come in the order of the key, unless order_by says another one? */
static bool
fc_plan_loads_by_key(const FcPlan *plan)
{
	return plan->key_type != FC_KEY_NONE && !plan->routed && !plan->key_early;
}

void
fc_plan_check_unique(Relation target, Relation rel, const FcOptions *options,
					 const FcPlan *plan)
{
	bool		by_key = plan->order == NIL && fc_plan_loads_by_key(plan);
	char	   *index;

	if ((plan->order == NIL && !by_key) || (options->tolerated & FC_CLASS_UNIQUE) == 0)
		return;
	index = fc_sort_keys_conflict(target, rel, by_key ? fc_sort_key_of(target, plan->key_attnum) : plan->order);
	if (index == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 by_key ? errmsg("on_error_classes \"unique\" cannot be used here") :
			 errmsg("order_by cannot be used with on_error_classes \"unique\" here"),
			 errdetail("Of rows that index \"%s\" takes for equal the first of the file is to be loaded, and another one may come before it in %s.",
					   index, by_key ? psprintf("the order of column \"%s\"",
												get_attname(target->rd_id, plan->key_attnum, false)) : "this order"),
			 by_key ? errhint("Leave the class out; or, if the index is a unique one of columns, name these in order_by.") :
			 errhint("Order by columns of the index only, or leave one of the two out.")));
}

void
fc_plan_order(FcPlan *plan)
{
	FcSortKey  *first;

	if (plan->order == NIL || !fc_plan_loads_by_key(plan))
		return;
	first = linitial(plan->order);
	if (first->attnum != plan->key_attnum || !fc_sort_key_plain(first))
		return;
	if (list_length(plan->order) == 1)
		plan->order = NIL;
	else
		plan->order_sliced = true;
}
