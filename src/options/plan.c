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

#include "catalog/pg_publication.h"
#include "parser/parse_relation.h"

#include "options/plan.h"
#include "row/executor.h"
#include "row/serial.h"
#include "row/where.h"
#include "sort/order_by.h"
#include "source/recode.h"

/* Marks the fields whose transform or type runs such code; is there one? */
static bool
fc_plan_mark_fields(Relation rel, const FcOptions *options, FcPlanned *planned,
					bool (*expr_test) (Node *), FcTypeTest type_test, uint16 flag)
{
	bool		any = false;

	foreach_int(attnum, planned->columns.fields)
	{
		if (attnum == 0 ||
			(!expr_test(fc_columns_transform(&planned->columns, attnum)) &&
			 !fc_code_type_any(attnumTypeId(rel, attnum), type_test,
							   fc_format_is_binary(&options->format))))
			continue;
		planned->columns.flags[foreach_current_index(attnum)] |= flag;
		any = true;
	}
	return any;
}

/* Do effects show how often a row's code runs before it is in the table? */
static bool
fc_plan_effects(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	planned->visible = fc_plan_mark_fields(rel, options, planned, fc_code_visible,
										   fc_code_is_visible, FC_FIELD_VISIBLE);
	return planned->visible || fc_code_visible((Node *) planned->mark) ||
		fc_code_any_constraint(rel, fc_code_visible, true);
}

/* Marks the fields whose errors are tolerated only in subtransactions */
static bool
fc_plan_subtransactions(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	if ((options->tolerated & FC_CLASS_CONVERSION) == 0 && fc_caller_writes(options->caller))
		return false;
	return fc_plan_mark_fields(rel, options, planned, fc_code_foreign, fc_code_is_foreign,
							   FC_FIELD_SUBTRANSACTION);
}

/*
 * Refuses to tolerate a user's conversion, whose errors may have effects, or
 * that there is none, as core's COPY does: no record would be valid
 */
static void
fc_plan_check_encoding(const FcOptions *options, const FcPlanned *planned)
{
	if ((options->tolerated & (FC_CLASS_ENCODING | FC_CLASS_REPLACE_INVALID)) == 0 ||
		!planned->plan.need_transcoding || fc_recode_proc(planned->plan.encoding) < FirstNormalObjectId)
		return;
	fc_unsupported(errmsg("on_error_classes \"%s\" cannot be used with a conversion that is not built in",
						  options->tolerated & FC_CLASS_ENCODING ? "encoding" : "replace_invalid"));
}

/*
 * Adds the column to planned->numbers, if the leader may take the numbers of
 * its default before the rows are loaded; else returns false
 */
static bool
fc_plan_number(FcPlanned *planned, AttrNumber attnum, Node *expr)
{
	FcNumber   *number = palloc0(sizeof(FcNumber));

	if (!fc_number_find(expr, number) ||
		fc_code_unsafe(fc_number_replace(expr, 1)))
		return false;
	/* two columns with one sequence take its numbers in turn */
	foreach_ptr(FcNumber, other, planned->numbers)
		if (other->sequence == number->sequence)
			return false;
	number->attnum = attnum;
	planned->numbers = lappend(planned->numbers, number);
	return true;
}

/* May a record be left out before its defaults take their numbers? */
static bool
fc_plan_may_leave_out(const FcOptions *options)
{
	uint32		classes = FC_CLASS_MISSING_COLUMNS | FC_CLASS_EXTRA_COLUMNS |
		FC_CLASS_ENCODING;

	if (options->on_error == FC_ON_ERROR_IGNORE && !FC_CORE_NUMBERS_ALL)
		classes |= FC_CLASS_CONVERSION;
	/* gaps that lines of JSON leave do not matter */
	return (options->tolerated & classes) != 0 || ((options->skip_empty_lines || options->comment) && !options->json);
}

static bool
fc_plan_is_steady(Node *expr)
{
	return !contain_volatile_functions(expr) && !fc_code_foreign(expr);
}

/*
 * Finds defaults and transforms that give other values when they are evaluated
 * in another order.  If each of them takes one number of a sequence for each
 * record, planned->numbers has them; else the load keeps to the order of the
 * file.
 */
static void
fc_plan_defaults(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	TupleDesc	desc = RelationGetDescr(rel);

	planned->plan.steady = true;
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		bool		in_file = list_member_int(planned->columns.attnums, attnum);
		Node	   *expr;

		if (att->attisdropped || att->attgenerated ||
			(in_file && options->default_string == NULL))
			continue;
		expr = build_column_default(rel, attnum);
		if (expr == NULL)
			continue;
		expr = (Node *) expression_planner((Expr *) expr);
		planned->plan.steady &= fc_plan_is_steady(expr) && getBaseType(att->atttypid) == att->atttypid;
		if (contain_volatile_functions(expr) && fc_code_unsafe(expr) &&
			(in_file || !fc_plan_number(planned, attnum, expr)))
			planned->plan.in_order = true;
	}
	foreach_ptr(Node, expr, planned->columns.transforms)
	{
		planned->plan.steady &= fc_plan_is_steady(expr);
		planned->plan.in_order |= contain_volatile_functions(expr) && fc_code_unsafe(expr);
	}
	planned->plan.in_order |= planned->numbers != NIL && fc_plan_may_leave_out(options);
	if (planned->plan.in_order)
		planned->numbers = NIL;
}

/* What all processes need of what the caller said, and how much it is */
static void
fc_plan_said(const FcOptions *options, FcPlanned *planned)
{
	FcPlan	   *plan = &planned->plan;

	plan->nfields = list_length(planned->columns.names);
	plan->ncolumns = list_length(planned->columns.fields);
	plan->nnumbers = list_length(planned->numbers);
	plan->origins = planned->columns.origins;
	plan->order.nkeys = list_length(planned->order);
	plan->dedup.nkeys = planned->dedup == NIL ? 0 : list_length(planned->keys);
	plan->dedup.norder = list_length(planned->dedup) - plan->dedup.nkeys;
	plan->order.append = options->order_by != NIL;
	plan->caller = options->caller;
	plan->freeze = options->freeze;
	plan->missing = options->missing;
	plan->existing = options->existing;
	plan->move = options->move;
	plan->dedup.first = options->dedup_first;
	plan->tolerated = options->tolerated;
	plan->set_null = options->on_error == FC_ON_ERROR_SET_NULL;
	plan->verbose = options->log_verbosity == FC_LOG_VERBOSE;
	plan->reject_limit = options->reject_limit;
	plan->reject_each = options->reject_each;
	plan->skips_empty = options->skip_empty_lines;
	plan->comment = options->comment ? options->comment[0] : '\0';
	plan->pads = options->pads;
	plan->drops = options->drops;
	plan->nwanted = planned->columns.nwanted;
	if (fc_caller_writes(options->caller))
		return;
	/* an analysis tells of faults, and goes on */
	plan->tolerated = FC_CLASSES_CHECKED | (options->tolerated & FC_CLASSES_MENDED) | ((plan->routed ? FC_CLASS_NO_PARTITION : options->tolerated) & FC_CLASS_NO_PARTITION);
	plan->set_null = plan->set_null && (options->tolerated & FC_CLASS_CONVERSION);
	plan->verbose = true;
}

/* The condition as the caller wrote it, for planned->pstate; NIL: none */
static List *
fc_plan_where(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	if (options->where)
	{
		planned->pstate->p_sourcetext = options->query;
		return fc_where_transform(planned->pstate, rel, copyObject(options->where));
	}
	if (options->where_clause == NULL)
		return NIL;
	planned->pstate->p_pre_columnref_hook = fc_plan_origin;
	planned->pstate->p_ref_hook_state = &planned->columns;
	return fc_where_parse(planned->pstate, rel, options->where_clause);
}

FcPlanned *
fc_plan_make(Relation rel, const FcOptions *options, const FcFileForm *form,
			 List *where)
{
	FcPlanned *planned = palloc0(sizeof(FcPlanned));
	int			server = GetDatabaseEncoding();

	fc_columns_make(rel, options, form, &planned->columns);
	fc_edits_make(rel, options, &planned->columns);
	fc_plan_transforms(rel, options, &planned->columns);
	planned->pstate = fc_executor_parse_state(rel, planned->columns.attnums);
	planned->where = fc_caller_opened_by_core(options->caller) ? where : fc_plan_where(rel, options, planned);
	fc_plan_mark(rel, options, planned);
	fc_columns_check_others(rel, options, &planned->columns);
	planned->plan.encoding = form->encoding;
	planned->plan.need_transcoding = !fc_format_is_binary(&options->format) &&
		form->encoding != server &&
		form->encoding != PG_SQL_ASCII && server != PG_SQL_ASCII;
	fc_plan_defaults(rel, options, planned);
	planned->plan.steady &= fc_plan_is_steady((Node *) planned->where);
	planned->plan.effects = fc_plan_effects(rel, options, planned);
	planned->order = fc_sort_keys_parse(rel, options->order_by);
	fc_plan_key(rel, options, planned);
	fc_plan_bounds(rel, options, planned);
	fc_plan_order(planned);
	fc_plan_dedup(rel, options, planned);
	fc_plan_check_unique(rel, rel, options, planned);
	fc_plan_check_encoding(options, planned);
	planned->plan.zone_set = options->time_zone &&
		(fc_code_foreign((Node *) planned->where) || fc_code_foreign((Node *) planned->columns.transforms));
	planned->plan.subtransactions = fc_plan_subtransactions(rel, options, planned);
	planned->core_reason = fc_plan_core_reason(rel, options, planned);

	/*
	 * Core inserts the rows of a stage, and fires triggers: those of the
	 * statement in DO UPDATE even without a row
	 */
	if (options->conflict != FC_CONFLICT_ERROR &&
		(planned->core_reason || planned->plan.foreign_keys ||
		 (options->conflict == FC_CONFLICT_UPDATE && rel->trigdesc &&
		  (rel->trigdesc->trig_update_before_statement || rel->trigdesc->trig_update_after_statement))) &&
		(rel->rd_rel->relkind == RELKIND_RELATION || planned->plan.partitioned))
	{
		planned->staged = true;
		planned->core_reason = NULL;
	}
	/* core evaluates the condition: a volatile one must not run before */
	planned->plan.where_late = planned->plan.where_late ||
		(planned->core_reason && contain_volatile_functions((Node *) planned->where));
	fc_plan_said(options, planned);
	/* where core loads, the scan for partitions may run in workers */
	if (planned->plan.subtransactions && (options->tolerated & FC_CLASS_CONVERSION))
		planned->leader_reason = "values of a column's type are tried in subtransactions";
	else
		planned->leader_reason = fc_plan_leader_reason(rel, options, planned);
	return planned;
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
