/*-------------------------------------------------------------------------
 *
 * options/plan.c
 *	  Which way a load takes, from what the target has.
 *
 *	 view, foreign table, triggers		──► core's CopyFrom in the leader
 *	 temporary table, parallel-unsafe	──► our phases in the leader
 *	 function, other access method
 *	 everything else					──► our phases in workers
 *
 * Nothing is changed here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/transam.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_publication.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "compat/compat.h"
#include "options/plan.h"
#include "row/condition.h"
#include "row/executor.h"
#include "row/serial.h"
#include "sort/order_by_keys.h"


static bool
fc_plan_unsafe_function(Oid funcid, void *context)
{
	return func_parallel(funcid) != PROPARALLEL_SAFE;
}

/* May this expression only be evaluated by the leader? */
static bool
fc_plan_unsafe_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, fc_plan_unsafe_function, context) ||
		IsA(node, NextValueExpr) || IsA(node, CoerceToDomain))
		return true;
	return expression_tree_walker(node, fc_plan_unsafe_walker, context);
}

static bool
fc_plan_unsafe(Node *node)
{
	return fc_plan_unsafe_walker(node, NULL);
}

/* Generated columns and CHECK constraints */
static bool
fc_plan_constraints_unsafe(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	TupleConstr *constr = desc->constr;

	if (constr == NULL)
		return false;
	for (int i = 0; i < constr->num_check; i++)
		if (fc_plan_unsafe(stringToNode(constr->check[i].ccbin)))
			return true;
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		if (TupleDescAttr(desc, attnum - 1)->attgenerated &&
			fc_plan_unsafe(build_column_default(rel, attnum)))
			return true;
	return false;
}

static bool
fc_plan_indexes_unsafe(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		unsafe = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		unsafe = unsafe ||
			fc_plan_unsafe((Node *) RelationGetIndexExpressions(index)) ||
			fc_plan_unsafe((Node *) RelationGetIndexPredicate(index));
		index_close(index, NoLock);
	}
	return unsafe;
}

bool
fc_plan_has_unique(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		unique = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		unique = unique || index->rd_index->indisunique ||
			index->rd_index->indisexclusion;
		index_close(index, NoLock);
	}
	return unique;
}

const char *
fc_plan_leaf_reason(Relation leaf)
{
	if (leaf->rd_rel->relkind == RELKIND_RELATION &&
		leaf->rd_tableam != GetHeapamTableAmRoutine())
		return "the table is not a heap";
	if (fc_plan_constraints_unsafe(leaf))
		return "a constraint or generated column is not parallel safe";
	if (fc_plan_indexes_unsafe(leaf))
		return "an index expression is not parallel safe";
	return NULL;
}

/* Of core's functions none shows how often it was called */
static bool
fc_plan_visible_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId &&
		func_volatile(funcid) == PROVOLATILE_VOLATILE;
}

static bool fc_plan_type_visible(Oid typid);

/* Can it be seen how often this expression is evaluated? */
static bool
fc_plan_visible_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, fc_plan_visible_function, context) ||
		(IsA(node, CoerceToDomain) &&
		 fc_plan_type_visible(((CoerceToDomain *) node)->resulttype)))
		return true;
	return expression_tree_walker(node, fc_plan_visible_walker, context);
}

/* Is this true of the type of any of the row's columns? */
static bool
fc_plan_row_any(Oid typid, bool (*test) (Oid typid))
{
	TupleDesc	desc = lookup_rowtype_tupdesc(typid, -1);
	bool		found = false;

	for (int i = 0; i < desc->natts && !found; i++)
		found = !TupleDescAttr(desc, i)->attisdropped &&
			test(TupleDescAttr(desc, i)->atttypid);
	ReleaseTupleDesc(desc);
	return found;
}

/*
 * Does a value of the type run code on its way in that is not the input
 * function's own?  Domains do, also inside other types.
 */
static bool
fc_plan_type_unsafe(Oid typid)
{
	char		typtype = get_typtype(typid);
	Oid			element = get_element_type(typid);
	Oid			input;
	Oid			typioparam;

	check_stack_depth();
	getTypeInputInfo(typid, &input, &typioparam);
	if (typtype == TYPTYPE_DOMAIN || fc_plan_unsafe_function(input, NULL))
		return true;
	if (OidIsValid(element))
		return fc_plan_type_unsafe(element);
	if (typtype == TYPTYPE_RANGE)
		return fc_plan_type_unsafe(get_range_subtype(typid));
	if (typtype == TYPTYPE_MULTIRANGE)
		return fc_plan_type_unsafe(get_multirange_range(typid));
	if (typtype == TYPTYPE_COMPOSITE)
		return fc_plan_row_any(typid, fc_plan_type_unsafe);
	return false;
}

/*
 * Can the type's input leave something behind when it fails in the middle?
 * Not where all of it is core's own code, that of its parts included: such
 * code reads, and what it holds at an error belongs to a resource owner.
 */
static bool
fc_plan_type_foreign(Oid typid)
{
	char		typtype = get_typtype(typid);
	Oid			element = get_element_type(typid);
	Oid			input;
	Oid			typioparam;

	check_stack_depth();
	getTypeInputInfo(typid, &input, &typioparam);
	if (typtype == TYPTYPE_DOMAIN || input >= FirstNormalObjectId)
		return true;
	if (OidIsValid(element))
		return fc_plan_type_foreign(element);
	if (typtype == TYPTYPE_COMPOSITE)
		return fc_plan_row_any(typid, fc_plan_type_foreign);
	/* a range runs the functions that its maker named */
	return typtype != TYPTYPE_ENUM && typid >= FirstNormalObjectId;
}

static bool
fc_plan_domain_visible(Oid typid)
{
	/* the memory context looks at it when it is reset */
	DomainConstraintRef *ref = palloc(sizeof(DomainConstraintRef));
	ListCell   *lc;

	InitDomainConstraintRef(typid, ref, CurrentMemoryContext, false);
	foreach(lc, ref->constraints)
	{
		DomainConstraintState *constraint = lfirst(lc);

		if (constraint->constrainttype == DOM_CONSTRAINT_CHECK &&
			fc_plan_visible_walker((Node *) constraint->check_expr, NULL))
			return true;
	}
	return fc_plan_type_visible(getBaseType(typid));
}

/* Can it be seen how often a value of the type is read? */
static bool
fc_plan_type_visible(Oid typid)
{
	char		typtype = get_typtype(typid);
	Oid			element = get_element_type(typid);
	Oid			input;
	Oid			typioparam;

	check_stack_depth();
	if (typtype == TYPTYPE_DOMAIN)
		return fc_plan_domain_visible(typid);
	getTypeInputInfo(typid, &input, &typioparam);
	if (fc_plan_visible_function(input, NULL))
		return true;
	if (OidIsValid(element))
		return fc_plan_type_visible(element);
	if (typtype == TYPTYPE_RANGE)
		return fc_plan_type_visible(get_range_subtype(typid));
	if (typtype == TYPTYPE_MULTIRANGE)
		return fc_plan_type_visible(get_multirange_range(typid));
	if (typtype == TYPTYPE_COMPOSITE)
		return fc_plan_row_any(typid, fc_plan_type_visible);
	return false;
}

/* Marks the fields of types whose reading shows */
static bool
fc_plan_fields_visible(Relation rel, FcPlan *plan)
{
	bool		any = false;

	for (int i = 0; i < list_length(plan->columns.fields); i++)
	{
		AttrNumber	attnum = list_nth_int(plan->columns.fields, i);

		if (attnum == 0 ||
			!fc_plan_type_visible(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid))
			continue;
		plan->columns.flags[i] |= FC_FIELD_VISIBLE;
		any = true;
	}
	return any;
}

/* Does any code show how often a row is evaluated, before it is in the table? */
static bool
fc_plan_effects(Relation rel, FcPlan *plan)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		visible = fc_plan_fields_visible(rel, plan);

	for (int i = 0; desc->constr && i < desc->constr->num_check; i++)
		visible = visible ||
			fc_plan_visible_walker(stringToNode(desc->constr->check[i].ccbin), NULL);
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		visible = visible || (!TupleDescAttr(desc, attnum - 1)->attisdropped &&
							  fc_plan_visible_walker(build_column_default(rel, attnum), NULL));
	return visible;
}

/* Marks the fields whose errors can only be tolerated in subtransactions */
static bool
fc_plan_subtransactions(Relation rel, const FcOptions *options, FcPlan *plan)
{
	bool		any = false;
	int			i = 0;
	ListCell   *lc;

	if ((options->tolerated & FC_CLASS_CONVERSION) == 0 && !options->analyze)
		return false;
	foreach(lc, plan->columns.fields)
	{
		AttrNumber	attnum = lfirst_int(lc);

		if (attnum != 0 &&
			fc_plan_type_foreign(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid))
		{
			plan->columns.flags[i] |= FC_FIELD_SUBTRANSACTION;
			any = true;
		}
		i++;
	}
	return any;
}

/* A conversion that somebody made may leave anything behind when it fails */
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

static bool
fc_plan_is_numbered(const FcPlan *plan, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, plan->numbers)
		if (((FcNumber *) lfirst(lc))->attnum == attnum)
			return true;
	return false;
}

/* May the leader take the default's numbers before the rows are loaded? */
static bool
fc_plan_number(FcPlan *plan, AttrNumber attnum, Node *expr)
{
	FcNumber   *number = palloc0(sizeof(FcNumber));
	ListCell   *lc;

	if (!fc_number_find(expr, number) ||
		fc_plan_unsafe(fc_number_replace(expr, 1)))
		return false;
	/* two columns take turns with one sequence */
	foreach(lc, plan->numbers)
		if (((FcNumber *) lfirst(lc))->sequence == number->sequence)
			return false;
	number->attnum = attnum;
	plan->numbers = lappend(plan->numbers, number);
	return true;
}

/* May records be passed over before their defaults are evaluated? */
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
 * Defaults that give other values when they are evaluated in another order:
 * either all of them are numbers of sequences, one for each record whatever
 * stands in it, or the load keeps to the order of the file.
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
		if (contain_volatile_functions(expr) && fc_plan_unsafe(expr) &&
			(in_file || !fc_plan_number(plan, attnum, expr)))
			plan->in_order = true;
	}
	if (plan->numbers != NIL && fc_plan_may_leave_out(options))
		plan->in_order = true;
	if (plan->in_order)
		plan->numbers = NIL;
}

/* Types of the file's columns, defaults of the others */
static const char *
fc_plan_columns_reason(Relation rel, const FcPlan *plan, bool markers)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);

		bool		in_file = list_member_int(plan->columns.attnums, attnum);

		if (att->attisdropped || att->attgenerated)
			continue;
		if ((markers || !in_file) && !fc_plan_is_numbered(plan, attnum) &&
			fc_plan_unsafe(build_column_default(rel, attnum)))
			return "a column's default is not parallel safe";
		if (in_file && fc_plan_type_unsafe(att->atttypid))
			return "a column's type is not parallel safe";
	}
	return NULL;
}

bool
fc_plan_ends_routed(const FcPlan *plan)
{
	return plan->routed || (plan->key_early && plan->key_routes);
}

static const char *
fc_plan_leader_reason(Relation rel, const FcOptions *options,
					  const FcPlan *plan)
{
	const char *reason;

	if (RelationUsesLocalBuffers(rel))
		return "the table is temporary";
	if (IsCatalogRelation(rel))
		return "the table is a system catalog";
	if (IsolationIsSerializable())
		return "the transaction is serializable";
	if (plan->routed &&
		fc_plan_unsafe((Node *) RelationGetPartitionKey(rel)->partexprs))
		return "the partition key is not parallel safe";
	if (fc_plan_ends_routed(plan) && !options->analyze &&
		!fc_may_lock(RelationGetRelid(rel), GetUserId()))
		return "who loads may not lock the table against new partitions";
	if (fc_plan_unsafe((Node *) plan->where))
		return "the condition is not parallel safe";
	if (fc_sort_keys_unsafe(rel, plan->order))
		return "the order of a column is not parallel safe";
	reason = fc_plan_columns_reason(rel, plan, options->default_string != NULL);
	return reason ? reason : fc_plan_leaf_reason(rel);
}

/* Would this trigger fire in this session? */
static bool
fc_plan_trigger_fires(const Trigger *trigger)
{
	if (!TRIGGER_FOR_INSERT(trigger->tgtype))
		return false;
	switch (trigger->tgenabled)
	{
		case TRIGGER_DISABLED:
			return false;
		case TRIGGER_FIRES_ON_ORIGIN:
			return SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA;
		case TRIGGER_FIRES_ON_REPLICA:
			return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
		default:
			return true;
	}
}

/*
 * ATTACH will check this foreign key for the whole partition.  Is that what
 * COPY does at the end of its statement?  Not if the session has it switched
 * off, if it may wait for commit, or if rows of partitions that are not
 * attached yet may be what it refers to.
 */
static bool
fc_plan_attach_checks(Relation rel, const Trigger *trigger)
{
	return fc_plan_trigger_fires(trigger) && !trigger->tgdeferrable &&
		trigger->tgconstrrelid != RelationGetRelid(rel);
}

static bool
fc_plan_foreign_keys_plain(Relation rel)
{
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];

		if (TRIGGER_FOR_INSERT(trigger->tgtype) &&
			RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_FK &&
			!fc_plan_attach_checks(rel, trigger))
			return false;
	}
	return true;
}

bool
fc_plan_has_triggers(Relation rel, bool *only_foreign_keys)
{
	bool		fires = false;

	*only_foreign_keys = true;
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];

		if (!fc_plan_trigger_fires(trigger))
			continue;
		fires = true;
		if (RI_FKey_trigger_type(trigger->tgfoid) != RI_TRIGGER_FK)
			*only_foreign_keys = false;
	}
	return fires;
}

/*
 * Has a partition something for which core might have to load?  No lock is
 * kept: it would keep triggers away no more than none, but new partitions
 * where there is a default one.
 */
static bool
fc_plan_partitions_fire(Relation rel)
{
	List	   *children = find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL);
	bool		fires = false;
	ListCell   *lc;

	foreach(lc, children)
	{
		Relation	child = table_open(lfirst_oid(lc), NoLock);
		bool		only_foreign_keys;

		CHECK_FOR_INTERRUPTS();
		fires = fires || child->rd_rel->relkind == RELKIND_FOREIGN_TABLE ||
			fc_plan_has_triggers(child, &only_foreign_keys);
		/* the target's own lock is the caller's */
		table_close(child, RelationGetRelid(child) == RelationGetRelid(rel) ?
					NoLock : AccessShareLock);
	}
	return fires;
}

static const char *
fc_plan_core_reason(Relation rel, const FcOptions *options, FcPlan *plan)
{
	bool		only_foreign_keys;
	bool		triggers = fc_plan_has_triggers(rel, &only_foreign_keys);

	if (options->format.binary)
		return "the format is binary";
	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return "the target is a foreign table";
	if (rel->rd_rel->relkind != RELKIND_RELATION && !plan->partitioned)
		return "the target is a view";
	if (plan->key_routes && !fc_plan_foreign_keys_plain(rel))
		return "the target has foreign keys that are deferrable, switched off or refer to itself";
	if (triggers && only_foreign_keys && plan->key_routes)
		plan->foreign_keys = true;
	else if (triggers)
		return only_foreign_keys ? "the target has foreign keys" : "the target has triggers";
	/* whether one of them matters is known only when the condition was used */
	if (plan->partitioned && contain_volatile_functions((Node *) plan->where) &&
		fc_plan_partitions_fire(rel))
		return "a partition has triggers, and the condition is volatile";
	return NULL;
}

/* COPY's refusals, which it makes in CopyFrom */
void
fc_plan_check_relkind(Relation rel)
{
	char		relkind = rel->rd_rel->relkind;
	const char *name = RelationGetRelationName(rel);

	if (relkind == RELKIND_RELATION || relkind == RELKIND_FOREIGN_TABLE ||
		relkind == RELKIND_PARTITIONED_TABLE ||
		(rel->trigdesc && rel->trigdesc->trig_insert_instead_row))
		return;
	if (relkind == RELKIND_VIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot copy to view \"%s\"", name),
				 errhint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 relkind == RELKIND_MATVIEW ?
			 errmsg("cannot copy to materialized view \"%s\"", name) :
			 relkind == RELKIND_SEQUENCE ?
			 errmsg("cannot copy to sequence \"%s\"", name) :
			 errmsg("cannot copy to non-table relation \"%s\"", name)));
}

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

/* The column the caller named: it must be in the file, and of a known type */
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

/* The order begins with a column that could have been named */
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
 * A volatile default gives another value when it is evaluated again: then its
 * column can be neither a key nor looked at by a condition in the scan.
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

/*
 * Of equal rows the first of the file is to stay: rows must not come in the
 * order of a key that they may differ in.
 */
static bool
fc_plan_unique_without(Relation rel, AttrNumber attnum)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		without = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		has_key = false;

		for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
			has_key = has_key || index->rd_index->indkey.values[i] == attnum;
		without = without || index->rd_index->indisexclusion ||
			(index->rd_index->indisunique && !has_key);
		index_close(index, NoLock);
	}
	return without;
}

/* Can the rows not be put into the order of the key? */
static bool
fc_plan_key_unfit(Relation rel, const FcOptions *options, const FcPlan *plan)
{
	if (!plan->partitioned && (options->tolerated & FC_CLASS_UNIQUE) &&
		fc_plan_unique_without(rel, plan->key_attnum))
		return true;
	return (plan->key_early && !plan->key_routes) ||
		(options->default_string &&
		 fc_plan_default_volatile(rel, plan->key_attnum));
}

/* The key, if there is one */
static void
fc_plan_key(Relation rel, const FcOptions *options, FcPlan *plan)
{
	plan->key_field = -1;
	plan->partitioned = (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE);
	if (options->key_column)
		fc_plan_named_key(rel, options->key_column, plan);
	else if (!plan->partitioned && plan->order != NIL)
		fc_plan_order_key(rel, plan);
	if (plan->partitioned)
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
	if (options->interval &&
		(!plan->key_routes || options->missing != FC_MISSING_CREATE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("partition_interval given, but no partitions can be created"),
				 errdetail("Partitions are created where missing_partitions is \"create\" and the table is partitioned by range over one column that the file has.")));
}

void
fc_plan_check_unique(Relation target, Relation rel, const FcOptions *options,
					 const FcPlan *plan)
{
	char	   *index;

	if (plan->order == NIL || (options->tolerated & FC_CLASS_UNIQUE) == 0)
		return;
	index = fc_sort_keys_conflict(target, rel, plan->order);
	if (index == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("order_by cannot be used with on_error_classes \"unique\" here"),
			 errdetail("Of rows that index \"%s\" takes for equal the first of the file is to be loaded, and another one may come before it in this order.",
					   index),
			 errhint("Order by columns of the index only, or leave one of the two out.")));
}

/* Rows that are read in the order of the key need not be sorted by it */
static void
fc_plan_order(FcPlan *plan)
{
	FcSortKey  *first;

	if (plan->order == NIL || plan->routed || plan->key_early ||
		plan->key_type == FC_KEY_NONE)
		return;
	first = linitial(plan->order);
	if (first->attnum != plan->key_attnum || !fc_sort_key_plain(first))
		return;
	if (list_length(plan->order) == 1)
		plan->order = NIL;
	else
		plan->order_sliced = true;
}

FcPlan *
fc_plan_make(Relation rel, const FcOptions *options)
{
	FcPlan	   *plan = palloc0(sizeof(FcPlan));
	int			server = GetDatabaseEncoding();

	fc_fields_make(rel, options, &plan->columns);
	plan->pstate = fc_target_parse_state(rel, plan->columns.attnums);
	if (options->where_clause)
		plan->where = fc_where_parse(plan->pstate, rel, options->where_clause);
	plan->need_transcoding = options->file_encoding != server &&
		options->file_encoding != PG_SQL_ASCII && server != PG_SQL_ASCII;
	fc_plan_defaults(rel, options, plan);
	plan->effects = fc_plan_effects(rel, plan);
	plan->order = fc_sort_keys_parse(rel, options->order_by);
	fc_plan_key(rel, options, plan);
	fc_plan_order(plan);
	fc_plan_check_unique(rel, rel, options, plan);
	fc_fields_patterns(rel, options, plan->key_attnum, &plan->columns);
	fc_plan_check_encoding(options, plan);
	plan->subtransactions = fc_plan_subtransactions(rel, options, plan);
	plan->core_reason = fc_plan_core_reason(rel, options, plan);
	/* core will evaluate the condition, whatever the scan does */
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
