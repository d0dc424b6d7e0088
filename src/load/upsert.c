/*-------------------------------------------------------------------------
 *
 * load/upsert.c
 *	  on_conflict: rows that may meet equal ones go to a stage, and from there
 *	  by core's INSERT ... ON CONFLICT.
 *
 *	rows ──┬─► new partitions, at once
 *		   └─► the stage: an unlogged table of this load ──► DELETE, INSERT
 *
 * The INSERT takes one of equal rows.  Where rows are loaded in the order of a
 * key, phase/dedup.c has put only that one into the stage.  Elsewhere the
 * stage has all, in the order of the file, and the INSERT takes the last one,
 * the first, or the greatest in dedup_order, in which it compares it with the
 * table's, too, as core has locked it.  If that one is a delete mark, which a
 * column of the stage says, a DELETE before the INSERT takes it in its stead.
 * No key is in both, so that the order of the two matters to other unique
 * indexes alone: a value that is deleted may be inserted.  Triggers, routing,
 * indexes and the isolation of other sessions are core's.
 *
 * A new partition has no rows that could be in conflict, and takes its own at
 * once, unless the table has triggers.  These may change a row that a
 * constraint would refuse: the stage then has no constraints.  It never has
 * constraints that see which table a row is in.  An abort takes back all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "parser/parse_relation.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "load/steps.h"
#include "sort/order_by.h"

void
fc_upsert_check_core(const FcTarget *target)
{
	if (target->options->conflict == FC_CONFLICT_ERROR)
		return;
	fc_unsupported(errmsg("cannot load rows into table \"%s\" with on_conflict", target->relname),
				   errdetail("Rows would be loaded one by one, as COPY does: %s.", target->course.reason));
}

/*
 * Has a partition more constraints than the target, whose constraints the stage
 * has?  "count" is a query for those of a table, t.relid.  Takes no locks: see
 * fc_plan_partitions_fire in options/plan_way.c.
 */
static bool
fc_upsert_parts_constrain(const FcTarget *target, const char *count)
{
	return fc_ddl_of_catalogs(psprintf("WITH RECURSIVE t (relid) AS (SELECT %u::oid UNION ALL SELECT i.inhrelid FROM t, pg_inherits AS i "
								 "WHERE i.inhparent = t.relid AND NOT i.inhdetachpending), n AS (SELECT t.relid, (%s) AS n FROM t) "
								 "SELECT 1 FROM n WHERE n.n > (SELECT n.n FROM n WHERE n.relid = %u)",
								 target->oid, count, target->oid)) != NULL;
}

/* May an updated row violate a CHECK that the file's row does not? */
static bool
fc_upsert_updates_fail(const FcTarget *target)
{
	TupleConstr *constr = RelationGetDescr(target->rel)->constr;
	Bitmapset  *used = NULL;
	int			i = -1;

	for (int check = 0; constr && check < constr->num_check; check++)
		pull_varattnos(stringToNode(constr->check[check].ccbin), 1, &used);
	while ((i = bms_next_member(used, i)) >= 0)
		if (!list_member_int(target->planned->columns.attnums, i + FirstLowInvalidHeapAttributeNumber))
			return true;
	return false;
}

/* Why only the INSERT finds errors of a tolerated class; NULL: the load does */
static const char *
fc_upsert_late_class(const FcTarget *target)
{
	uint32		tolerated = target->options->tolerated;
	bool		updates = target->options->conflict == FC_CONFLICT_UPDATE;

	if ((tolerated & FC_CLASS_NO_PARTITION) && target->plan->partitioned && !target->plan->key.routes)
		return "it finds the partitions of rows";
	if ((tolerated & (FC_CLASS_CHECK | FC_CLASS_NOT_NULL)) == 0)
		return NULL;
	if (target->plan->dedup.marks)
		return "delete marks may violate constraints";
	if (target->planned->staged)
		return "the table has triggers or foreign keys";
	if (fc_exchange_constraints_see_table(target->rel))
		return "a constraint or generated column sees of which table a row is";
	if (((tolerated & FC_CLASS_CHECK) &&
		 fc_upsert_parts_constrain(target, "SELECT relchecks FROM pg_class WHERE oid = t.relid")) ||
		((tolerated & FC_CLASS_NOT_NULL) &&
		 fc_upsert_parts_constrain(target, "SELECT count(*) FROM pg_attribute WHERE attrelid = t.relid AND attnum > 0 AND attnotnull")))
		return "a partition has constraints of its own";
	return updates && (tolerated & FC_CLASS_CHECK) && fc_upsert_updates_fail(target) ?
		"a constraint looks at columns that the file does not have" : NULL;
}

void
fc_upsert_check_classes(const FcTarget *target)
{
	const char *why = target->options->conflict == FC_CONFLICT_ERROR ? NULL : fc_upsert_late_class(target);

	if (why)
		fc_unsupported(errmsg("cannot tolerate violated constraints or missing partitions here"),
					   errdetail("With on_conflict, they are found by INSERT: %s.", why),
					   errhint("Use only the classes conversion, missing_columns, extra_columns and encoding."));
}

/*
 * Makes the stage.  It has the name of the target, for errors about its rows,
 * and the caller owns it.
 */
void
fc_upsert_begin(FcJob *job)
{
	FcTarget   *target = &job->target;
	Oid			nspid;

	if (target->course.core)
		fc_upsert_check_core(target);
	if (!fc_shared_key_routes(target->shared) && fc_partitions_keep_default(target))
		fc_partitions_refuse_default(target, "With on_conflict, core finds the partitions of rows.");
	/* in new partitions there are no conflicts */
	if (!target->planned->staged && fc_shared_key_routes(target->shared) &&
		fc_tables_existing(job) == NIL)
		return;
	job->stage_schema = get_namespace_name(RelationGetNamespace(target->rel));
	nspid = fc_exchange_begin(GetUserId());
	job->exchange_schemas = lappend_oid(job->exchange_schemas, nspid);
	/* marks may violate constraints */
	target->stage = fc_table_create_stage(target->rel, nspid, !target->planned->staged && !target->plan->dedup.marks &&
										  !fc_exchange_constraints_see_table(target->rel), target->plan->dedup.marks);
	target->shared->stage = target->stage;
	fc_hold_begin(job->hold, target->stage, FC_HELD_PLACE);
}

/*
 * The columns that the INSERT sets.  Those that the file lacks have their
 * defaults in the stage.  If the caller may not name all columns, the INSERT
 * leaves these out and evaluates their defaults anew.
 */
static List *
fc_upsert_columns(const FcTarget *target)
{
	TupleDesc	desc = RelationGetDescr(target->rel);
	bool		all = pg_class_aclcheck(target->oid, GetUserId(), ACL_INSERT) == ACLCHECK_OK;
	List	   *columns = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && !att->attgenerated &&
			(all || list_member_int(target->planned->columns.attnums, att->attnum)))
			columns = lappend_int(columns, att->attnum);
	}
	return columns;
}

/* Appends the columns' names, each after a prefix */
static void
fc_upsert_name(StringInfo sql, const FcTarget *target, List *columns, const char *prefix)
{
	foreach_int(column, columns)
		appendStringInfo(sql, "%s%s%s", foreach_current_index(column) > 0 ? ", " : "", prefix,
						 quote_identifier(get_attname(target->oid, column, false)));
}

/*
 * Appends the rows of the stage that are delete marks, or those that are none.
 * If they were loaded in the order of the file, takes the last or first of
 * equal ones; rows with NULLs that are not equal stay all.
 */
static void
fc_upsert_source(StringInfo sql, const FcTarget *target, List *columns, bool marked)
{
	const char *stage = fc_ddl_table(target->stage);
	List	   *keys = fc_sort_keys_columns(target->planned->keys);
	StringInfoData equal;

	appendStringInfoString(sql, " SELECT ");
	fc_upsert_name(sql, target, columns, "t.");
	if (target->planned->dedup != NIL)
		appendStringInfo(sql, " FROM ONLY %s t", stage);
	else
	{
		initStringInfo(&equal);
		fc_upsert_name(&equal, target, keys, "t.");
		foreach_int(key, target->plan->dedup.nulls_equal ? NIL : keys)
			/* as the index sees it: a row of NULLs is no NULL */
			appendStringInfo(&equal, "%s t.%s IS NOT DISTINCT FROM NULL", foreach_current_index(key) > 0 ? " OR" : ", CASE WHEN",
							 quote_identifier(get_attname(target->oid, key, false)));
		if (!target->plan->dedup.nulls_equal)
			appendStringInfoString(&equal, " THEN t.ctid END");
		appendStringInfo(sql, " FROM (SELECT DISTINCT ON (%s) t.* FROM ONLY %s t ORDER BY %s, ", equal.data, stage, equal.data);
		foreach_ptr(const FcSortKey, key, target->planned->newest)
			appendStringInfo(sql, "t.%s DESC NULLS LAST, ", quote_identifier(get_attname(target->oid, key->attnum, false)));
		appendStringInfo(sql, "t.ctid%s) t", target->plan->dedup.first ? "" : " DESC");
	}
	if (target->plan->dedup.marks)
		appendStringInfo(sql, " WHERE %st.%s", marked ? "" : "NOT ",
						 quote_identifier(get_attname(target->stage, RelationGetDescr(target->rel)->natts + 1, false)));
}

/*
 * Appends the condition under which the table's row is updated, or deleted: it
 * is not greater in the i-th column of dedup_order and those after it.  A value
 * stays rather than NULL; of rows that do not differ, as dedup_keep says.
 */
static void
fc_upsert_condition(StringInfo sql, const FcTarget *target, int i)
{
	const FcSortKey *key;
	const char *name;
	const char *ours;
	const char *theirs;
	Oid			type;

	if (i == list_length(target->planned->newest))
	{
		appendStringInfoString(sql, target->plan->dedup.first ? "false" : "true");
		return;
	}
	key = list_nth(target->planned->newest, i);
	name = quote_identifier(get_attname(target->oid, key->attnum, false));
	ours = psprintf("t.%s", name);
	theirs = psprintf("excluded.%s", name);
	type = attnumTypeId(target->rel, key->attnum);
	appendStringInfo(sql, "CASE WHEN %1$s IS NOT DISTINCT FROM NULL AND %2$s IS DISTINCT FROM NULL THEN false"
					 " WHEN %2$s IS NOT DISTINCT FROM NULL AND %1$s IS DISTINCT FROM NULL THEN true WHEN ", theirs, ours);
	generate_operator_clause(sql, theirs, type, key->operator, ours, type);
	appendStringInfoString(sql, " THEN false WHEN ");
	generate_operator_clause(sql, ours, type, key->operator, theirs, type);
	appendStringInfoString(sql, " THEN true ELSE ");
	fc_upsert_condition(sql, target, i + 1);
	appendStringInfoString(sql, " END");
}

/*
 * Appends the columns of the index with their collations, and what happens to a
 * row that is there already.  Conflicts in an index with other collations stay
 * errors.
 */
static void
fc_upsert_action(StringInfo sql, const FcTarget *target)
{
	List	   *keys = fc_sort_keys_columns(target->planned->keys);
	bool		any = false;

	appendStringInfoString(sql, " ON CONFLICT (");
	foreach_ptr(const FcSortKey, key, target->planned->keys)
	{
		appendStringInfo(sql, "%s%s", foreach_current_index(key) > 0 ? ", " : "",
						 quote_identifier(get_attname(target->oid, key->attnum, false)));
		if (OidIsValid(key->collation))
			appendStringInfo(sql, " COLLATE %s", generate_collation_name(key->collation));
	}
	appendStringInfoString(sql, ") DO ");
	foreach_int(column, target->options->conflict == FC_CONFLICT_UPDATE ? target->planned->columns.attnums : NIL)
	{
		const char *name = quote_identifier(get_attname(target->oid, column, false));

		if (list_member_int(keys, column))
			continue;
		appendStringInfo(sql, "%s%s = excluded.%s", any ? ", " : "UPDATE SET ", name, name);
		any = true;
	}
	if (!any)
		appendStringInfoString(sql, "NOTHING");
	else if (target->planned->newest != NIL)
	{
		appendStringInfoString(sql, " WHERE ");
		fc_upsert_condition(sql, target, 0);
	}
}

/* The INSERT, as the body of fc_error_try has it */
typedef struct FcUpsert
{
	FcJob	   *job;
	uint64		marks;			/* that were preferred to rows of the file */
	uint64		deleted;		/* by these */
	uint64		inserted;		/* or updated */
	uint64		met;			/* rows that equal ones were there for */
	HeapTuple	row;			/* the refused one; NULL: not known */
	ErrorData  *refused;
} FcUpsert;

/* The record of a row of the stage is not known yet */
static char *
fc_upsert_place(const FcTarget *target)
{
	return target->source->nfiles == 1 ? psprintf("%s, a row that was read", fc_target_place(target, 0)) :
		psprintf("fast_copy %s, a row of %u %ss that were read", target->relname,
				 target->source->nfiles, fc_source_word(target->source));
}

/* Returns the INSERT of the stage's rows */
static char *
fc_upsert_command(const FcTarget *target)
{
	List	   *columns = fc_upsert_columns(target);
	StringInfoData sql;

	initStringInfo(&sql);
	/* the table itself may have the name "excluded" */
	appendStringInfo(&sql, "INSERT INTO %s AS t (", fc_ddl_name(RelationGetNamespace(target->rel), RelationGetRelationName(target->rel)));
	fc_upsert_name(&sql, target, columns, "");
	appendStringInfoString(&sql, ") OVERRIDING SYSTEM VALUE");
	fc_upsert_source(&sql, target, columns, false);
	fc_upsert_action(&sql, target);
	return sql.data;
}

/* Appends that a row of the table is equal to a delete mark */
static void
fc_upsert_equal(StringInfo sql, const FcTarget *target)
{
	foreach_ptr(const FcSortKey, key, target->planned->keys)
	{
		Oid			type = attnumTypeId(target->rel, key->attnum);
		const char *name = quote_identifier(get_attname(target->oid, key->attnum, false));

		appendStringInfoString(sql, foreach_current_index(key) > 0 ? " AND (" : "(");
		generate_operator_clause(sql, psprintf("t.%s", name), type, lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr,
								 psprintf("excluded.%s", name), type);
		appendStringInfo(sql, target->plan->dedup.nulls_equal ?
						 " OR t.%1$s IS NOT DISTINCT FROM NULL AND excluded.%1$s IS NOT DISTINCT FROM NULL)" : ")", name);
	}
}

/*
 * Counts the delete marks of the stage, and deletes the rows that are equal to
 * them, and that they are preferred to
 */
static void
fc_upsert_delete(FcUpsert *upsert)
{
	const FcTarget *target = &upsert->job->target;
	List	   *columns = list_union_int(fc_sort_keys_columns(target->planned->keys), fc_sort_keys_columns(target->planned->newest));
	StringInfoData marks;
	StringInfoData sql;

	initStringInfo(&marks);
	fc_upsert_source(&marks, target, columns, true);
	upsert->marks = strtoull(fc_ddl_value(psprintf("SELECT pg_catalog.count(*) FROM (%s) t", marks.data)), NULL, 10);
	if (upsert->marks == 0)
		return;
	initStringInfo(&sql);
	appendStringInfo(&sql, "DELETE FROM %s%s AS t USING (%s) AS excluded (", target->plan->partitioned ? "" : "ONLY ",
					 fc_ddl_name(RelationGetNamespace(target->rel), RelationGetRelationName(target->rel)), marks.data);
	fc_upsert_name(&sql, target, columns, "");
	appendStringInfoString(&sql, ") WHERE ");
	fc_upsert_equal(&sql, target);
	if (target->planned->newest != NIL)
	{
		appendStringInfoString(&sql, " AND ");
		fc_upsert_condition(&sql, target, 0);
	}
	upsert->deleted = fc_ddl_change(sql.data, InvalidSnapshot, NULL, NULL);
}

/* Body of fc_error_try: deletes by the rows of the stage, and inserts them */
static bool
fc_upsert_try(void *arg)
{
	FcUpsert   *upsert = arg;

	if (upsert->job->target.plan->dedup.marks)
		fc_upsert_delete(upsert);
	/* made only now, because triggers may have renamed the table */
	upsert->inserted = fc_ddl_change(fc_upsert_command(&upsert->job->target), InvalidSnapshot, &upsert->row, &upsert->met);
	return true;
}

/* Body of fc_error_apart: looks for the record of the row that is refused */
static bool
fc_upsert_find(void *arg)
{
	FcUpsert   *upsert = arg;

	fc_verify_find(&upsert->job->target.ctx, upsert->row, upsert->refused);
	return false;
}

/*
 * Throws the error of the INSERT, with COPY's context if its record is found.
 * "around" is the end of its context, about the load and no record.
 */
static void
fc_upsert_throw(FcUpsert *upsert, const char *around)
{
	FcTarget   *target = &upsert->job->target;
	char	   *context = upsert->refused->context;
	int			inner = context ? (int) strlen(context) - (int) strlen(around) : -1;

	/* no record is looked for if others see that rows are evaluated twice */
	if (inner < 0 || strcmp(context + inner, around) != 0 || upsert->row == NULL ||
		fc_error_is_of_transaction(upsert->refused) || target->plan->effects ||
		fc_code_visible((Node *) target->planned->where))
		ReThrowError(upsert->refused);
	upsert->refused->context = inner > 0 ? pnstrdup(context, inner - 1) : NULL;
	fc_error_apart(&target->ctx, fc_upsert_find, upsert);
	if (pg_atomic_read_u64(&target->shared->errors.offset) != PG_UINT64_MAX)
		fc_lead_throw(target);
	upsert->refused->context = context;
	ReThrowError(upsert->refused);
}

/*
 * Deletes by the rows of the stage and inserts them, as the caller's commands
 * would; in a subtransaction, because the record of a refused row is looked for
 * after it
 */
static FcUpsert
fc_upsert_execute(FcJob *job)
{
	FcUpsert	upsert = {job};
	ErrorContextCallback callback;
	char	   *around = NULL;

	fc_error_context_push(&callback, fc_error_context_add, fc_upsert_place(&job->target));
	upsert.refused = fc_error_try(fc_upsert_try, &upsert);
	if (upsert.refused)
		around = GetErrorContextStack();
	fc_error_context_pop();
	if (upsert.refused)
		fc_upsert_throw(&upsert, around);
	/* the action of a file that has only keys is NOTHING */
	if (job->target.options->conflict == FC_CONFLICT_UPDATE &&
		list_difference_int(job->target.planned->columns.attnums, fc_sort_keys_columns(job->target.planned->keys)) != NIL)
		job->target.updated = Min(upsert.met, upsert.inserted);
	return upsert;
}

void
fc_upsert_insert(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		staged = fc_tasks_rows_of(job, fc_tasks_counts(job), target->stage);
	FcCounts   *counts = &target->shared->counts;
	FcUpsert	upsert;

	fc_progress_phase(&job->progress, FC_PHASE_REPLACE);
	fc_ddl_keep_schema(RelationGetNamespace(target->rel));
	upsert = fc_upsert_execute(job);
	if (upsert.inserted + upsert.marks > staged || upsert.deleted > upsert.marks)
		elog(ERROR, "more rows were inserted or deleted than there are");
	target->loaded -= staged - upsert.inserted;
	pg_atomic_fetch_add_u64(&counts->duplicates, staged - upsert.inserted - upsert.marks);
	pg_atomic_fetch_add_u64(&counts->marks, upsert.marks);
	pg_atomic_fetch_add_u64(&counts->unmatched, upsert.marks - upsert.deleted);
	target->deleted = upsert.deleted;
	fc_setup_close_target(job);
	fc_hold_end(job->hold, target->stage);
	/* by its OID: a trigger may have moved it */
	fc_partition_drop(target->stage);
	target->stage = InvalidOid;
	fc_exchange_end(job->exchange_schemas);
	job->exchange_schemas = NIL;
	fc_setup_open_target(job);
	fc_lead_report(job, 0, upsert.inserted, -1,
				   psprintf("of " UINT64_FORMAT " rows of a stage, by INSERT ... ON CONFLICT DO %s%s", staged,
							target->options->conflict == FC_CONFLICT_UPDATE ? "UPDATE" : "NOTHING",
							upsert.marks > 0 ? psprintf("; " UINT64_FORMAT " deleted by " UINT64_FORMAT " marks", upsert.deleted, upsert.marks) : ""));
}
