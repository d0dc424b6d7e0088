/*-------------------------------------------------------------------------
 *
 * options/plan_dedup.c
 *	  By which columns rows are equal, of which one stays.
 *
 *	dedup_keys, or the primary key ──► columns ──► keys of comparisons
 *		on_conflict ──► the unique index of these columns
 *	dedup_order ──► columns in which the greatest of them stays
 *
 * Rows that are loaded in the order of a key meet each other there: it must be
 * one of the columns.  What has no key is compared later, by load/upsert.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_constraint.h"

#include "options/plan.h"
#include "row/column.h"
#include "sort/order_by.h"

/* The column of this name, which rows can be compared by; not one "before" */
static FcSortKey *
fc_plan_dedup_key(Relation rel, const char *name, List *before)
{
	AttrNumber	attnum = fc_column_named(rel, name);

	if (list_member_int(fc_sort_keys_columns(before), attnum))
		fc_throw(ERRCODE_DUPLICATE_COLUMN, errmsg("column \"%s\" specified more than once", name));
	if (fc_is_virtual(TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
		fc_unsupported(errmsg("cannot compare rows by virtual generated column \"%s\"", name));
	return linitial(fc_sort_key_of(rel, attnum));
}

/*
 * Does the index refuse each row that is equal to another in these columns, be
 * it at the end of the transaction?
 */
static bool
fc_plan_index_fits(Relation index, const List *keys)
{
	Form_pg_index form = index->rd_index;

	if (!form->indisunique || !form->indisvalid || form->indnkeyatts != list_length(keys) ||
		RelationGetIndexPredicate(index) != NIL)
		return false;
	/* the keys differ: if each of them has a column of its own, all have */
	foreach_ptr(FcSortKey, key, keys)
		if (!fc_sort_index_covers(index, NULL, key, key->attnum))
			return false;
	return true;
}

/* The columns of the primary key */
static List *
fc_plan_primary_key(Relation rel)
{
	Oid			constraint;
	Bitmapset  *columns = get_primary_key_attnos(RelationGetRelid(rel), true, &constraint);
	List	   *keys = NIL;

	for (int i = -1; (i = bms_next_member(columns, i)) >= 0;)
		keys = list_concat(keys, fc_sort_key_of(rel, i + FirstLowInvalidHeapAttributeNumber));
	if (keys == NIL)
		fc_option_error(errmsg("on_conflict requires dedup_keys"),
						errdetail("Table \"%s\" has no primary key.", RelationGetRelationName(rel)),
						errhint("Name the columns of a unique index."));
	return keys;
}

/*
 * Finds the indexes that tell which rows are in conflict, and whether NULLs are
 * equal in one of them.  Core asks all, and refuses one that can be deferred.
 */
static void
fc_plan_conflict(Relation rel, FcPlanned *planned)
{
	bool		found = false;
	bool		deferred = false;

	planned->plan.dedup.nulls_equal = false;
	foreach_oid(oid, RelationGetIndexList(rel))
	{
		Relation	index = index_open(oid, AccessShareLock);

		if (fc_plan_index_fits(index, planned->keys))
		{
			found = true;
			deferred |= !index->rd_index->indimmediate;
			planned->plan.dedup.nulls_equal |= index->rd_index->indnullsnotdistinct;
		}
		index_close(index, AccessShareLock);
	}
	if (!found || deferred)
		fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("there is no unique or exclusion constraint matching the ON CONFLICT specification"),
				 errdetail("Table \"%s\" has no valid unique index of exactly the columns in dedup_keys that compares them as their types do, and at once.",
						   RelationGetRelationName(rel)),
				 errhint("Make one, or name the columns of another one in dedup_keys."));
}

/*
 * ERROR 428C9, before the load, for a column that core will not update; 0A000
 * if delete marks are compared by one that their stage has no values of
 */
static void
fc_plan_check_updated(Relation rel, const FcOptions *options, const FcPlanned *planned)
{
	List	   *keys = fc_sort_keys_columns(planned->keys);

	foreach_ptr(FcSortKey, key, list_concat_copy(planned->keys, planned->newest))
		if (options->delete_where && TupleDescAttr(RelationGetDescr(rel), key->attnum - 1)->attgenerated)
			fc_unsupported(errmsg("cannot compare delete marks by generated column \"%s\"", get_attname(RelationGetRelid(rel), key->attnum, false)));
	foreach_int(attnum, planned->columns.attnums)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

		if (att->attidentity == ATTRIBUTE_IDENTITY_ALWAYS && !list_member_int(keys, attnum))
			fc_throw(ERRCODE_GENERATED_ALWAYS, errmsg("column \"%s\" can only be updated to DEFAULT", NameStr(att->attname)),
					 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", NameStr(att->attname)),
					 errhint("If the file need not have it, leave it out of the columns; else leave its field out by transform%s '%s = DEFAULT'.",
							 fc_caller_arrow(options->caller), quote_identifier(NameStr(att->attname))));
	}
}

void
fc_plan_dedup(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	FcPlan	   *plan = &planned->plan;

	plan->dedup.nulls_equal = true;
	if (options->existing != FC_EXISTING_MERGE && options->conflict == FC_CONFLICT_ERROR)
		return;
	/* load/access.c refuses views and foreign tables; they have no indexes */
	if (options->conflict != FC_CONFLICT_ERROR && rel->rd_rel->relkind != RELKIND_RELATION && !plan->partitioned)
		return;
	if (plan->key.early && plan->key.type != FC_KEY_NONE)
		fc_unsupported(options->conflict == FC_CONFLICT_ERROR ?
					   errmsg("cannot merge rows into table \"%s\"", RelationGetRelationName(rel)) :
					   errmsg("cannot load rows into table \"%s\" with on_conflict", RelationGetRelationName(rel)),
					   errdetail("A default or the condition is volatile: rows are evaluated in file order."));
	foreach_node(String, name, options->dedup_keys)
		planned->keys = lappend(planned->keys, fc_plan_dedup_key(rel, strVal(name), planned->keys));
	foreach_node(String, name, options->dedup_order)
		planned->newest = lappend(planned->newest, fc_plan_dedup_key(rel, strVal(name), planned->newest));
	if (options->conflict != FC_CONFLICT_ERROR)
	{
		if (planned->keys == NIL)
			planned->keys = fc_plan_primary_key(rel);
		fc_plan_conflict(rel, planned);
		if (options->conflict == FC_CONFLICT_UPDATE)
			fc_plan_check_updated(rel, options, planned);
		/* rows go to one table, whatever the leaf; core routes them later */
		plan->routed = false;
	}
	if (planned->keys == NIL || plan->key.type == FC_KEY_NONE)
		return;
	planned->dedup = list_concat_copy(planned->keys, planned->newest);
	if (!list_member_int(fc_sort_keys_columns(planned->keys), plan->key.attnum))
		fc_option_error(errmsg("dedup_keys must contain column \"%s\"",
							   get_attname(RelationGetRelid(rel), plan->key.attnum, false)),
						errdetail("Rows are compared with those that have the same value in it."));
}
