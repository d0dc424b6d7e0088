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

#include "parser/parse_relation.h"

#include "convert/pattern.h"
#include "options/plan.h"
#include "sort/order_by.h"

#define DIGITS	"0123456789"

/* Gives an error about timestamp_column the columns that it can be as a hint */
static int
fc_plan_key_hint(Relation rel, const FcPlanned *planned)
{
	StringInfo	names = makeStringInfo();
	AttrNumber	attnum;

	if (fc_route_possible(rel, &attnum))
		return errhint("Leave timestamp_column out, or name column \"%s\".",
					   get_attname(RelationGetRelid(rel), attnum, false));
	foreach_int(column, planned->columns.attnums)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), column - 1);

		if (fc_key_type(att->atttypid) != FC_KEY_NONE)
			appendStringInfo(names, "%s\"%s\"", names->len > 0 ? ", " : "", NameStr(att->attname));
	}
	if (names->len == 0)
		return errhint("Leave timestamp_column out: the file has no timestamp, timestamptz, date or integer column.");
	return errhint("The key can be one of these columns: %s.", names->data);
}

/* Takes the column that the caller named as the key, if it can be one */
static void
fc_plan_named_key(Relation rel, const char *name, FcPlanned *planned)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);
	Oid			typid;

	if (attnum <= 0)
		fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("column \"%s\" of relation \"%s\" does not exist",
												  name, RelationGetRelationName(rel)),
				 fc_plan_key_hint(rel, planned));
	planned->plan.key.field = fc_columns_field(planned->columns.fields, attnum);
	if (planned->plan.key.field < 0)
		fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("timestamp_column \"%s\" is not a column of the file", name),
				 errhint("Add it to columns, or name another column."));
	typid = attnumTypeId(rel, attnum);
	planned->plan.key.type = fc_key_type(typid);
	if (planned->plan.key.type == FC_KEY_NONE)
		fc_unsupported(errmsg("cannot order rows by column \"%s\" of type %s",
							  name, format_type_be(typid)),
					   fc_plan_key_hint(rel, planned));
	planned->plan.key.attnum = attnum;
}

/* Takes the first column of order_by as the key, if it can be one */
static void
fc_plan_order_key(Relation rel, FcPlanned *planned)
{
	FcSortKey  *first = linitial(planned->order);
	FcPlanKey	key = {
		.attnum = first->attnum,
		.field = fc_columns_field(planned->columns.fields, first->attnum),
		.type = fc_key_type(attnumTypeId(rel, first->attnum))
	};

	if (key.field >= 0 && key.type != FC_KEY_NONE && fc_sort_key_plain(first))
		planned->plan.key = key;
}

static void
fc_plan_partition_key(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	FcPlanKey  *key = &planned->plan.key;
	AttrNumber	attnum;
	bool		other;

	planned->plan.routed = true;
	if (!fc_route_possible(rel, &attnum))
		return;
	other = key->attnum != 0 && key->attnum != attnum;
	/* of a range of another column's keys core routes the rows */
	if (other && options->replace_from)
		return;
	if (other)
		fc_option_error(errmsg("timestamp_column \"%s\" is not the partition key of \"%s\"",
							   options->key_column, RelationGetRelationName(rel)),
						fc_plan_key_hint(rel, planned));
	key->field = fc_columns_field(planned->columns.fields, attnum);
	key->routes = (key->field >= 0);
	planned->plan.routed = !key->routes;
	if (!key->routes)
		return;
	key->attnum = attnum;
	key->type = fc_key_type(attnumTypeId(rel, attnum));
}

/*
 * May the column's value be a volatile default, or come from a volatile
 * transform?  That gives another value when it is evaluated again, so that the
 * column can neither be a key nor be looked at by a condition in the scan.
 */
static bool
fc_plan_value_volatile(Relation rel, const FcOptions *options, const FcPlanned *planned,
					   AttrNumber attnum)
{
	if (contain_volatile_functions(fc_columns_transform(&planned->columns, attnum)))
		return true;
	return (options->default_string || !list_member_int(planned->columns.attnums, attnum)) &&
		contain_volatile_functions(build_column_default(rel, attnum));
}

static bool
fc_plan_where_volatile(Relation rel, const FcOptions *options,
					   const FcPlanned *planned)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *used = NULL;
	bool		all;

	pull_varattnos((Node *) planned->where, 1, &used);
	pull_varattnos((Node *) planned->mark, 1, &used);
	/* a reference to the whole row is one to all columns */
	all = bms_is_member(-FirstLowInvalidHeapAttributeNumber, used);
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		if ((all || bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used)) &&
			!TupleDescAttr(desc, attnum - 1)->attisdropped &&
			fc_plan_value_volatile(rel, options, planned, attnum))
			return true;
	return false;
}

/* Must the load not put rows into the order of the key? */
static bool
fc_plan_key_unfit(Relation rel, const FcOptions *options, const FcPlanned *planned)
{
	/* for an index of a partition fc_plan_check_unique refuses the load */
	if (!planned->plan.partitioned && (options->tolerated & FC_CLASS_UNIQUE) &&
		fc_sort_keys_conflict(rel, rel, fc_sort_key_of(rel, planned->plan.key.attnum)))
		return true;
	return (planned->plan.key.early && !planned->plan.key.routes) ||
		fc_plan_value_volatile(rel, options, planned, planned->plan.key.attnum);
}

/* Has the bound no digits, such as "today" or "-infinity"?  No pattern does. */
static bool
fc_plan_bound_is_word(const char *bound)
{
	return strpbrk(bound, DIGITS) == NULL;
}

/* Does it begin as YYYY-M, whose meaning no DateStyle changes? */
static bool
fc_plan_bound_is_iso(const char *bound)
{
	size_t		year = strspn(bound, DIGITS);

	return fc_plan_bound_is_word(bound) || (year >= 4 && bound[year] == '-');
}

/*
 * The pattern by which the bounds are read, or NULL.  Bounds in ISO form do not
 * need it if one of them does not match.
 */
static FcPattern *
fc_plan_bound_pattern(Form_pg_attribute att, const FcOptions *options, const FcPlanned *planned)
{
	char	   *text = planned->columns.patterns[planned->plan.key.field];
	char	   *bounds[] = {options->replace_from, options->replace_to};
	FcPattern  *pattern;
	bool		iso;
	bool		matches = true;
	Datum		value;

	if (text == NULL)
		return NULL;
	pattern = fc_pattern_compile(text, att->atttypid, att->atttypmod, NameStr(att->attname));
	/* core throws an error for what does not match */
	iso = !pattern->by_core && fc_plan_bound_is_iso(bounds[0]) && fc_plan_bound_is_iso(bounds[1]);
	for (int i = 0; i < lengthof(bounds) && iso; i++)
		matches = matches && (fc_plan_bound_is_word(bounds[i]) ||
							  fc_pattern_parse(pattern, bounds[i], strlen(bounds[i]), &value));
	return matches ? pattern : NULL;
}

/* Returns a bound of the keys that are replaced, as the caller wrote it */
static int64
fc_plan_bound(Form_pg_attribute att, const FcPlan *plan, FcPattern *pattern, char *word)
{
	Oid			input;
	Oid			ioparam;
	Datum		value;

	if (pattern && !fc_plan_bound_is_word(word))
	{
		if (!fc_pattern_parse(pattern, word, strlen(word), &value))
			fc_throw(ERRCODE_INVALID_DATETIME_FORMAT, errmsg("\"%s\" does not match the pattern \"%s\"", word, pattern->shown),
					 errdetail("A range of column \"%s\" is read with this pattern.", pattern->column));
		return fc_key_from_datum(plan->key.type, value);
	}
	getTypeInputInfo(att->atttypid, &input, &ioparam);
	return fc_key_from_datum(plan->key.type,
							 OidInputFunctionCall(input, word, ioparam, att->atttypmod));
}

void
fc_plan_bounds(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	FcPlan	   *plan = &planned->plan;
	FcRange    *bounds = &plan->bounds;
	bool		merges = options->existing == FC_EXISTING_MERGE;
	Form_pg_attribute att;
	FcPattern  *pattern;
	char	   *how = "the file has the keys";
	ErrorContextCallback callback;

	*bounds = (FcRange) {PG_INT64_MIN, PG_INT64_MAX, true, true, InvalidOid};
	if (options->replace_from == NULL && options->existing != FC_EXISTING_KEEP &&
		plan->partitioned && !plan->key.routes)
		fc_unsupported(errmsg("cannot tell which partitions of table \"%s\" would be %s",
							  RelationGetRelationName(rel), merges ? "merged" : "replaced"),
					   errdetail("Whole partitions are %s where the table is partitioned by range over one column that the file has.",
								 merges ? "merged" : "replaced"),
					   merges ? errhint("Use on_conflict, for which the table needs a unique index.") :
					   errhint("Name the rows by timestamp_column, replace_from and replace_to."));
	if ((merges || options->replace_from) && plan->key.type == FC_KEY_NONE)
		fc_option_error(errmsg("%s requires a key", merges ? "existing_rows \"merge\"" : "replace_from"),
						options->key_column ? errdetail("Column \"%s\" cannot be one here, because of a default or condition that is volatile.",
														options->key_column) :
						errhint("Name a column of the file as timestamp_column."));
	if (options->replace_from == NULL)
		return;
	att = TupleDescAttr(RelationGetDescr(rel), plan->key.attnum - 1);
	pattern = fc_plan_bound_pattern(att, options, planned);
	bounds->lo_min = bounds->hi_max = false;
	if (options->move != FC_MOVE_NOTHING)
		how = fc_key_is_integer(plan->key.type) ? "numbers" : "'YYYY-MM-DD', with or without a time";
	else if (!fc_key_is_integer(plan->key.type))
		how = "the file has the keys, or both as 'YYYY-MM-DD'";
	fc_error_context_push(&callback, fc_error_hint_add, psprintf("Write replace_from and replace_to as %s.", how));
	bounds->lo = fc_plan_bound(att, plan, pattern, options->replace_from);
	bounds->hi = fc_plan_bound(att, plan, pattern, options->replace_to);
	fc_error_context_pop();
	if (bounds->lo >= bounds->hi)
		fc_option_error(errmsg("replace_from must come before replace_to"),
						errdetail("They are \"%s\" and \"%s\".", options->replace_from, options->replace_to));
}

/* Finds out whether the key stands in the same place in rows without NULLs */
static void
fc_plan_key_place(TupleDesc desc, FcPlanKey *key)
{
	key->place = -1;
	for (int i = 0, end = 0; i < key->attnum; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		key->place = att->attlen < 0 ? -1 : att_align_nominal(end, att->attalign);
		if (key->place < 0)
			return;
		key->width = att->attlen;
		end = key->place + att->attlen;
	}
}

/*
 * Where core routes: can partitions be missing that are to be made?  Sets why
 * some are not made.  Rows are evaluated twice then.
 */
static bool
fc_plan_sprouts(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	FcTree	   *tree;
	bool		known = true;

	planned->fault = "if the file lacks a partition key, or the evaluation of rows has effects";
	if (planned->plan.in_order || planned->plan.effects || contain_volatile_functions((Node *) planned->where))
		return false;
	tree = fc_tree_begin(rel);
	for (int i = -1; (i = bms_next_member(tree->columns, i)) >= 0;)
	{
		AttrNumber	attnum = i + FirstLowInvalidHeapAttributeNumber;

		known = known && attnum > 0 && fc_columns_field(planned->columns.fields, attnum) >= 0 &&
			!fc_plan_value_volatile(rel, options, planned, attnum);
	}
	fc_tree_end(tree);
	if (known || !tree->grows)
		planned->fault = tree->fault;
	return known && tree->grows;
}

void
fc_plan_refuse_move(Relation rel, const char *why, const char *hint)
{
	fc_unsupported(errmsg("cannot move rows of table \"%s\"", RelationGetRelationName(rel)),
				   errdetail_internal("%s", why ? why : "Rows are moved where the table is partitioned by range over one column, and its partitions are not partitioned."),
				   hint ? errhint("%s", hint) : 0);
}

void
fc_plan_key(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	planned->plan.key.field = -1;
	planned->plan.partitioned = (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE);
	if (fc_caller_routes_as_core(options->caller))
		planned->plan.routed = planned->plan.partitioned;
	else if (options->key_column)
		fc_plan_named_key(rel, options->key_column, planned);
	else if (!planned->plan.partitioned && planned->order != NIL)
		fc_plan_order_key(rel, planned);
	if (planned->plan.partitioned && !fc_caller_routes_as_core(options->caller))
		fc_plan_partition_key(rel, options, planned);

	/*
	 * COPY reads all columns of a row before it filters it.  And where the
	 * load goes by the order of the file, not by the key, it evaluates the
	 * condition, too.
	 */
	planned->plan.where_late = planned->plan.key.type != FC_KEY_NONE &&
		(fc_plan_where_volatile(rel, options, planned) ||
		 ((planned->plan.in_order || (planned->plan.routed && fc_plan_has_unique(rel))) &&
		  contain_volatile_functions((Node *) planned->where)) ||
		 ((planned->where != NIL || planned->mark != NIL) && planned->visible));
	planned->plan.key.early = planned->plan.in_order || planned->plan.where_late;
	/* a pattern is about this column even if rows are not ordered by it */
	fc_columns_make_patterns(rel, options, planned->plan.key.attnum, &planned->columns);
	if (planned->plan.key.type != FC_KEY_NONE &&
		fc_plan_key_unfit(rel, options, planned))
	{
		planned->plan.key = (FcPlanKey) {.field = -1,.early = planned->plan.key.early};
		planned->plan.routed = planned->plan.partitioned;
	}
	if (options->move != FC_MOVE_NOTHING && !planned->plan.key.routes)
		fc_plan_refuse_move(rel, NULL, NULL);
	if ((options->interval || options->nodes) &&
		(!planned->plan.key.routes || options->missing != FC_MISSING_CREATE))
		fc_option_error(errmsg("%s given, but no partitions can be created",
							   options->interval ? "partition_interval" : "nodes"),
						errdetail("Partitions are created where missing_partitions is \"create\" and the table is partitioned by range over one column that the file has."));
	fc_plan_key_place(RelationGetDescr(rel), &planned->plan.key);
	if (planned->plan.routed && options->missing == FC_MISSING_CREATE && !options->freeze &&
		!fc_caller_routes_as_core(options->caller))
		planned->plan.sprouts = fc_plan_sprouts(rel, options, planned);
}

/* Do rows come in the order of the key, unless order_by says another one? */
static bool
fc_plan_loads_by_key(const FcPlanned *planned)
{
	return planned->plan.key.type != FC_KEY_NONE && !planned->plan.routed && !planned->plan.key.early;
}

void
fc_plan_check_unique(Relation target, Relation rel, const FcOptions *options,
					 const FcPlanned *planned)
{
	bool		by_key = planned->order == NIL && fc_plan_loads_by_key(planned);
	char	   *index;

	if ((planned->order == NIL && !by_key) || (options->tolerated & FC_CLASS_UNIQUE) == 0)
		return;
	index = fc_sort_keys_conflict(target, rel, by_key ? fc_sort_key_of(target, planned->plan.key.attnum) : planned->order);
	if (index == NULL)
		return;
	fc_unsupported(by_key ? errmsg("on_error_classes \"unique\" cannot be used here") :
				   errmsg("order_by cannot be used with on_error_classes \"unique\" here"),
				   errdetail("Of rows that index \"%s\" takes for equal the first of the file is to be loaded, and another one may come before it in %s.",
							 index, by_key ? psprintf("the order of column \"%s\"",
													  get_attname(target->rd_id, planned->plan.key.attnum, false)) : "this order"),
				   by_key ? errhint("Leave the class out; or, if the index is a unique one of columns, name these in order_by.") :
				   errhint("Order by columns of the index only, or leave one of the two out."));
}

void
fc_plan_order(FcPlanned *planned)
{
	FcSortKey  *first;

	if (planned->order == NIL || !fc_plan_loads_by_key(planned))
		return;
	first = linitial(planned->order);
	if (first->attnum != planned->plan.key.attnum || !fc_sort_key_plain(first))
		return;
	if (list_length(planned->order) == 1)
		planned->order = NIL;
	else
		planned->plan.order.sliced = true;
}
