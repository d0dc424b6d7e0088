/*-------------------------------------------------------------------------
 *
 * options/plan_dedup.c
 *	  By which columns rows are equal, of which one stays.
 *
 *	dedup_keys, or the primary key ──► columns ──► keys of comparisons
 *		on_conflict ──► the unique index of these columns
 *
 * Rows that are loaded in the order of a key meet each other there: it must be
 * one of the columns.  What has no key is compared later, by load/upsert.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "options/plan.h"
#include "sort/order_by.h"

/* ERROR 22023 or 0A000 unless rows can be brought in the order of a key */
static void
fc_plan_check_order(Relation rel, const FcOptions *options, const FcPlan *plan)
{
	bool		merges = options->existing == FC_EXISTING_MERGE;

	if (merges && plan->key.type == FC_KEY_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("existing_rows \"merge\" requires a key"),
				 options->key_column ? errdetail("Column \"%s\" cannot be one here, because of a default or condition that is volatile.",
												 options->key_column) :
				 errhint("Name a column of the file as timestamp_column.")));
	if (plan->key.early && plan->key.type != FC_KEY_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 merges ? errmsg("cannot merge rows into table \"%s\"", RelationGetRelationName(rel)) :
				 errmsg("cannot load rows into table \"%s\" with on_conflict", RelationGetRelationName(rel)),
				 errdetail("A default or the condition is volatile: rows are evaluated in file order.")));
}

/* The column of this name, which rows can be compared by; not one "before" */
static FcSortKey *
fc_plan_dedup_key(Relation rel, const char *name, List *before)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (list_member_int(fc_sort_keys_columns(before), attnum))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" specified more than once", name)));
	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(rel))));
	if (fc_is_virtual(TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot compare rows by virtual generated column \"%s\"", name)));
	return linitial(fc_sort_key_of(rel, attnum));
}

/* Is there a column of the index for the key, which compares values like it? */
static bool
fc_plan_index_has(Relation index, const FcSortKey *key)
{
	Form_pg_index form = index->rd_index;

	for (int i = 0; i < form->indnkeyatts; i++)
		if (form->indkey.values[i] == key->attnum)
			return index->rd_opfamily[i] == key->family && index->rd_indcollation[i] == key->collation;
	return false;
}

/*
 * Does the index refuse each row that is equal to another in these columns, be
 * it at the end of the transaction?
 */
static bool
fc_plan_index_fits(Relation index, const List *keys)
{
	Form_pg_index form = index->rd_index;
	ListCell   *lc;

	if (!form->indisunique || !form->indisvalid || form->indnkeyatts != list_length(keys) ||
		RelationGetIndexPredicate(index) != NIL)
		return false;
	foreach(lc, keys)
		if (!fc_plan_index_has(index, lfirst(lc)))
			return false;
	/* (a, a) is not (a, b) */
	for (int i = 0; i < form->indnkeyatts; i++)
		if (!list_member_int(fc_sort_keys_columns((List *) keys), form->indkey.values[i]))
			return false;
	return true;
}

/*
 * Sets whether NULLs are equal in an index of these columns.  Core asks all
 * such indexes.  False if there is none, or if core refuses one that can be
 * deferred.
 */
static bool
fc_plan_find_index(Relation rel, const List *keys, bool *nulls_equal)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		found = false;
	bool		deferred = false;
	ListCell   *lc;

	*nulls_equal = false;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (fc_plan_index_fits(index, keys))
		{
			found = true;
			deferred = deferred || !index->rd_index->indimmediate;
			*nulls_equal = *nulls_equal || index->rd_index->indnullsnotdistinct;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found && !deferred;
}

/* The columns of the primary key */
static List *
fc_plan_primary_key(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Form_pg_index form = index->rd_index;

		for (int i = 0; form->indisprimary && i < form->indnkeyatts; i++)
			keys = list_concat(keys, fc_sort_key_of(rel, form->indkey.values[i]));
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (keys == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_conflict requires dedup_keys"),
				 errdetail("Table \"%s\" has no primary key.", RelationGetRelationName(rel)),
				 errhint("Name the columns of a unique index.")));
	return keys;
}

/* Takes the index that tells which rows are in conflict */
static void
fc_plan_conflict(Relation rel, FcPlanned *planned)
{
	if (!fc_plan_find_index(rel, planned->keys, &planned->plan.dedup.nulls_equal))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("there is no unique or exclusion constraint matching the ON CONFLICT specification"),
				 errdetail("Table \"%s\" has no valid unique index of exactly the columns in dedup_keys that compares them as their types do, and at once.",
						   RelationGetRelationName(rel)),
				 errhint("Make one, or name the columns of another one in dedup_keys.")));
}

/* ERROR 428C9, before the load, for a column that core will not update */
static void
fc_plan_check_updated(Relation rel, const FcOptions *options, const FcPlanned *planned)
{
	List	   *keys = fc_sort_keys_columns(planned->keys);
	ListCell   *lc;

	foreach(lc, planned->columns.attnums)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(lc) - 1);

		if (att->attidentity == ATTRIBUTE_IDENTITY_ALWAYS && !list_member_int(keys, att->attnum))
			ereport(ERROR,
					(errcode(ERRCODE_GENERATED_ALWAYS),
					 errmsg("column \"%s\" can only be updated to DEFAULT", NameStr(att->attname)),
					 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", NameStr(att->attname)),
					 errhint(fc_caller_wrote_copy(options->caller) ?
							 "If the file need not have it, leave it out of the columns; else leave its field out by transform '%s = DEFAULT'." :
							 "If the file need not have it, leave it out of columns; else leave its field out by options => '{\"transform\": \"%s = DEFAULT\"}'.",
							 quote_identifier(NameStr(att->attname)))));
	}
}

void
fc_plan_dedup(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	FcPlan	   *plan = &planned->plan;
	ListCell   *lc;

	plan->dedup.nulls_equal = true;
	if (options->existing != FC_EXISTING_MERGE && options->conflict == FC_CONFLICT_ERROR)
		return;
	/* load/access.c refuses views and foreign tables; they have no indexes */
	if (options->conflict != FC_CONFLICT_ERROR && rel->rd_rel->relkind != RELKIND_RELATION && !plan->partitioned)
		return;
	fc_plan_check_order(rel, options, plan);
	foreach(lc, options->dedup_keys)
		planned->keys = lappend(planned->keys, fc_plan_dedup_key(rel, strVal(lfirst(lc)), planned->keys));
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
	foreach(lc, planned->keys)
		if (((FcSortKey *) lfirst(lc))->attnum == plan->key.attnum)
			planned->dedup = planned->keys;
	if (planned->dedup == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dedup_keys must contain column \"%s\"",
						get_attname(RelationGetRelid(rel), plan->key.attnum, false)),
				 errdetail("Rows are compared with those that have the same value in it.")));
}
