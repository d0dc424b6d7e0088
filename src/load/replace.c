/*-------------------------------------------------------------------------
 *
 * load/replace.c
 *	  existing_rows "replace": chooses the rows that the file's replace.
 *
 *	 parts with rows ──► leaves that are replaced ──┬─► DELETE, before the load
 *													└─► substitutes: loaded and
 *														indexed, then exchanged
 *
 * The load leaves the table as a DELETE of these rows and a COPY would, in one
 * transaction.  It replaces all of each partition that gets rows, all of a
 * plain table, or the rows with keys in the range that the caller has named.
 *
 * A leaf that loses all its rows gets the files of a substitute, if that
 * cannot be told from a DELETE (partition/exchange.c).  Until the last moment
 * others read the leaf, and write to it: rows that they insert are carried
 * along, and if they change old ones the load fails.  Rows of the substitute
 * are frozen: a transaction with an older snapshot finds them.
 *
 * A load that replaces nothing, too, fills substitutes of empty leaves that
 * have indexes: these are built faster for all rows at once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_authid_d.h"
#include "commands/trigger.h"
#include "utils/float.h"

#include "load/steps.h"

/* Fewest rows for which an empty leaf gets a substitute: see bench/NOTES.md */
#define FC_REPLACE_EMPTY_ROWS	10000

/* A leaf all of whose rows are replaced */
typedef struct FcReplaced
{
	FcSubstitute leaf;			/* with no table, or the substitute's */
	double		before;			/* its rows; or as many as matter */
	bool		exact;			/* "before" counts all */
	uint64		found;			/* rows of the file */
	enum
	{
		FC_REPLACED_NOTHING,	/* it never had a row: it takes the new ones */
		FC_REPLACED_DELETE,		/* its rows are deleted before that */
		FC_REPLACED_EXCHANGE	/* it gets the files of a substitute */
	}			by;				/* what is done with it */
	const char *why;			/* why its files cannot be exchanged, or NULL */
} FcReplaced;

static void
fc_replace_refuse(const char *relname, const char *why)
{
	fc_unsupported(errmsg("cannot replace rows of table \"%s\"", relname),
				   errdetail("%s", why));
}

/*
 * A fault if a leaf with rows would get none, or too few by min_replace_ratio;
 * or NULL
 */
static FcFault *
fc_replace_too_few(const FcTarget *target, const FcReplaced *one, double rows)
{
	double		ratio = target->options->min_replace_ratio;
	double		least = ceil(one->before * ratio);
	char	   *before = psprintf("%s%.0f row%s", one->exact ? "" : "at least ", one->before, one->before == 1 ? "" : "s");
	char	   *by = psprintf("%.0f row%s", rows, rows == 1 ? "" : "s");

	if (one->before == 0 || (rows > 0 && rows >= one->before * ratio))
		return NULL;
	return fc_fault("existing_rows", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					psprintf("%s \"%s\" of %s would be replaced by %s", one->leaf.range.partition == target->oid ? "table" : "partition",
							 get_rel_name(one->leaf.range.partition), before, by),
					psprintf("With min_replace_ratio %g it is replaced by at least %.0f.", ratio, Max(least, 1)),
					pstrdup("If the file has all rows that are to stay, lower min_replace_ratio, or name the keys that are replaced by replace_from and replace_to."));
}

const char *
fc_replace_job_refusal(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->options->replace_deletes)
		return "asked for by replace_method";
	if (target->course.core)
		return target->course.reason;
	if (target->plan->key.early)
		return "rows are evaluated in file order";
	if (IsolationIsSerializable())
		return "the transaction is serializable";
	if (target->options->tolerated & FC_CLASS_UNIQUE)
		return "on_error skips equal rows";
	if (target->plan->partitioned && fc_exchange_fires(target->rel, target->plan->move))
		return "the table has triggers or foreign keys";
	/* if core must load one leaf, it loads all */
	foreach_oid(leaf, fc_tables_existing(job))
	{
		/* where core routes the rows, leaves are not locked yet */
		Relation	rel = table_open(leaf, AccessShareLock);
		const char *reason = fc_plan_leaf_core_reason(rel, target->options->caller);

		table_close(rel, AccessShareLock);
		if (reason)
			return reason;
	}
	return NULL;
}

const char *
fc_replace_leaf_refusal(const FcTarget *target, Relation rel, const FcRange *range)
{
	const FcRange *bounds = &target->plan->bounds;

	if (!bounds->hi_max && (range->lo_min || range->hi_max ||
							range->lo < bounds->lo || range->hi > bounds->hi))
		return "other rows of it stay";
	/* such as a cursor: an exchange would fail because of it at the end */
	if (rel->rd_refcnt > (RelationGetRelid(rel) == target->oid ? 2 : 1) ||
		AfterTriggerPendingOnRel(RelationGetRelid(rel)))
		return "this session is using it";
	/* if the index cannot be built, the leader must read the file again */
	if (!target->plan->partitioned && !fc_plan_merges(target->plan) && fc_plan_has_unique(rel) &&
		target->shared->source.places > 0)
		return "a unique index must see the rows as they come";
	return fc_plan_leaf_reason(rel) ? fc_plan_leaf_reason(rel) : fc_exchange_refusal(rel, target->plan->move);
}

/*
 * Is it known before the load how many rows each leaf gets?  If not, the
 * number is checked after it.
 */
static bool
fc_replace_foresees(const FcTarget *target)
{
	return target->plan->partitioned && target->plan->bounds.hi_max &&
		!fc_plan_merges(target->plan) && target->options->tolerated == 0 && !target->plan->where_late;
}

/* The most old rows that this number of new ones may replace */
static double
fc_replace_most(double rows, double ratio)
{
	double		most = floor(rows / ratio);

	/* agrees with fc_replace_too_few(), however the division was rounded */
	return (most + 1) * ratio <= rows ? most + 1 : most * ratio > rows ? most - 1 : most;
}

/*
 * Counts the rows of a leaf, as far as they matter for fc_replace_too_few().
 * At most "found" new ones will come, and exactly these if the load foresees
 * them.
 */
static void
fc_replace_count(const FcTarget *target, FcReplaced *one, Relation rel)
{
	double		ratio = target->options->min_replace_ratio;
	bool		settles = fc_replace_foresees(target) && !target->course.core;
	double		most = get_float8_infinity();

	if (target->plan->existing != FC_EXISTING_REPLACE)
		return;
	/* a range may lose any number of rows */
	if (!target->plan->bounds.hi_max || (ratio == 0 && !settles))
		most = 0;
	else if (ratio > 0 && one->found > 0)
		most = fc_replace_most(one->found, ratio);
	one->exact = fc_old_rows_count(rel, most, settles, &one->before);
	one->leaf.old_rows = one->before;
	one->leaf.old_guessed = !one->exact && RelationGetNumberOfBlocks(rel) >= 2 * FC_OLD_SAMPLE;
	if (!one->exact && rel->rd_tableam == GetHeapamTableAmRoutine())
		(void) fc_old_rows_keys(rel, 0, FC_KEY_NONE, NULL, 0, &one->leaf.old_rows);
}

/* Notes what is done with a leaf; "spare": an empty one is exchanged, too */
static void
fc_replace_add(FcJob *job, Oid leaf, FcRange range, uint64 found, const char *why, bool spare)
{
	FcTarget   *target = &job->target;
	FcReplaced *one = palloc0(sizeof(FcReplaced));
	Relation	rel = table_open(leaf, NoLock);
	bool		empty;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		fc_replace_refuse(RelationGetRelationName(rel), "It is not a table of this server.");
	one->leaf.range = range;
	one->leaf.range.partition = leaf;
	one->found = found;
	one->why = why || fc_plan_moves(target->plan) ? why : fc_replace_leaf_refusal(target, rel, &range);
	empty = rel->rd_tableam == GetHeapamTableAmRoutine() && RelationGetNumberOfBlocks(rel) == 0;
	one->by = one->why == NULL && (spare || !empty) ? FC_REPLACED_EXCHANGE :
		empty ? FC_REPLACED_NOTHING : FC_REPLACED_DELETE;
	fc_replace_count(target, one, rel);
	if (fc_plan_merges(target->plan) && one->by == FC_REPLACED_DELETE)
		fc_merge_refuse(RelationGetRelationName(rel), one->why);
	table_close(rel, NoLock);
	/* the leaf itself gets rows: the lock that COPY takes */
	if (empty || one->why)
		LockRelationOid(leaf, RowExclusiveLock);
	job->replaced = lappend(job->replaced, one);
}

/* ERROR 0A000 if rows of a range might be on other servers */
static void
fc_replace_check_range(FcJob *job)
{
	foreach_oid(leaf, find_all_inheritors(job->target.oid, NoLock, NULL))
		if (get_rel_relkind(leaf) == RELKIND_FOREIGN_TABLE)
			fc_replace_refuse(job->target.relname, "It has partitions on other servers.");
}

const char *
fc_replace_verb(const FcJob *job)
{
	const FcPlan *plan = job->target.plan;

	return plan->move >= FC_MOVE_DROP ? "repartition" : fc_plan_moves(plan) ? "drain" :
		fc_plan_merges(plan) ? "merge" : "replace";
}

/*
 * ERROR 40001 if the table got other files since the source was read: rows in
 * new files do not show when they came
 */
static void
fc_replace_check_files(const FcJob *job, Oid leaf)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(fc_ddl_class_copy(leaf)->t_data);

	if (!TransactionIdIsNormal(xmin) || TransactionIdIsCurrentTransactionId(xmin) ||
		!XidInMVCCSnapshot(xmin, job->since.snapshot))
		return;
	fc_throw(ERRCODE_T_R_SERIALIZATION_FAILURE,
			 errmsg("could not %s \"%s\" because other sessions have changed it", fc_replace_verb(job), get_rel_name(leaf)),
			 IsolationUsesXactSnapshot() ?
			 errdetail("The table was changed as a whole after this transaction took its snapshot.") :
			 errdetail("The table was changed as a whole after the load had read its source."),
			 IsolationUsesXactSnapshot() ? errhint("Begin the transaction again.") : errhint("Load again."));
}

/*
 * Returns the leaves that may lose rows, locked as DELETE does; with a range
 * also leaves that get no row of the file
 */
static List *
fc_replace_leaves(FcJob *job)
{
	const FcTarget *target = &job->target;
	const FcRange *bounds = &target->plan->bounds;
	List	   *leaves = NIL;

	if (fc_plan_moves(target->plan))
		return job->moved;
	foreach_ptr(const FcReplaced, one, job->replaced)
		leaves = lappend_oid(leaves, one->leaf.range.partition);
	if (bounds->hi_max || !target->plan->partitioned)
		return leaves;
	if (!fc_shared_key_routes(target->shared))
		return find_all_inheritors(target->oid, RowExclusiveLock, NULL);
	for (int i = 0; i < target->route->nranges; i++)
	{
		const FcRange *range = &target->route->ranges[i];

		if ((range->hi_max || range->hi > bounds->lo) && (range->lo_min || range->lo < bounds->hi))
			leaves = lappend_oid(leaves, range->partition);
	}
	if (OidIsValid(target->route->default_oid))
		leaves = lappend_oid(leaves, target->route->default_oid);
	list_sort(leaves, list_oid_cmp);
	list_deduplicate_oid(leaves);
	foreach_oid(leaf, leaves)
		LockRelationOid(leaf, RowExclusiveLock);
	return leaves;
}

void
fc_replace_begin(FcJob *job)
{
	if (job->since.snapshot)
		UnregisterSnapshot(job->since.snapshot);
	fc_old_rows_now(&job->since);
	/* a transaction that ran then may have written before */
	job->since.lsn = InvalidXLogRecPtr;
	if (!IsolationUsesXactSnapshot())
		return;
	UnregisterSnapshot(job->since.snapshot);
	/* a copy: later commands of this transaction show in core's own */
	PushCopiedSnapshot(GetTransactionSnapshot());
	job->since.snapshot = RegisterSnapshot(GetActiveSnapshot());
	PopActiveSnapshot();
}

/*
 * Returns the schema of a substitute, one for each schema of leaves: leaves of
 * two schemas may have the same name.  The first n substitutes have theirs.
 */
static char *
fc_replace_schema(FcJob *job, const FcSubstitute *substitute, int n)
{
	Oid			nspid;

	while (--n >= 0)
		if (strcmp(job->target.substitutes[n].schema, substitute->schema) == 0)
			return job->target.substitutes[n].own_schema;
	nspid = fc_exchange_begin(BOOTSTRAP_SUPERUSERID);
	job->exchange_schemas = lappend_oid(job->exchange_schemas, nspid);
	return get_namespace_name(nspid);
}

/* ERROR 53200 if there is no room for the locks of leaves that are exchanged */
static void
fc_replace_check_room(const FcJob *job)
{
	int			n = 0;

	foreach_ptr(const FcReplaced, one, job->replaced)
		n += one->by == FC_REPLACED_EXCHANGE;
	fc_tables_check_locks(job, n, 2, "replace",
						  "Increase max_locks_per_transaction, or load the files in several transactions.");
}

/* Makes the tables that get the rows of leaves that are exchanged */
static void
fc_replace_make_substitutes(FcJob *job)
{
	FcTarget   *target = &job->target;
	int			n = 0;

	fc_replace_check_room(job);
	target->substitutes = palloc0(sizeof(FcSubstitute) * Max(list_length(job->replaced), 1));
	foreach_ptr(FcReplaced, one, job->replaced)
	{
		FcSubstitute *leaf = &one->leaf;
		Relation	rel;

		CHECK_FOR_INTERRUPTS();
		if (one->by != FC_REPLACED_EXCHANGE)
			continue;
		rel = table_open(leaf->range.partition, NoLock);
		leaf->schema = get_namespace_name(RelationGetNamespace(rel));
		leaf->own_schema = fc_replace_schema(job, leaf, n);
		leaf->table = fc_table_create_like(rel, get_namespace_oid(leaf->own_schema, false));
		target->substitutes[n++] = *leaf;
		table_close(rel, NoLock);
		fc_hold_begin(job->hold, leaf->range.partition, FC_HELD_PLACE);
		fc_hold_begin(job->hold, leaf->table, FC_HELD_PLACE);
	}
	target->nsubstitutes = n;
}

/* Finds the leaves all of whose rows are replaced, in key order */
static void
fc_replace_find(FcJob *job)
{
	FcTarget   *target = &job->target;
	const char *why;

	if (fc_plan_moves(target->plan))
	{
		if (OidIsValid(target->route->default_oid) && target->ncreated > 0 && target->plan->move != FC_MOVE_SOME)
			fc_replace_add(job, target->route->default_oid, target->plan->bounds, 0, NULL, true);
		return;
	}
	why = fc_replace_job_refusal(job);
	if (fc_plan_merges(target->plan))
		fc_merge_check(job, why);
	if (!target->plan->partitioned)
		fc_replace_add(job, target->oid, FC_RANGE_ALL, target->found, why, false);
	foreach_ptr(FcSpillPart, part, fc_shared_key_routes(target->shared) ? job->parts : NIL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!part->null && OidIsValid(part->range.partition))
			fc_replace_add(job, part->range.partition, part->range, part->rows, why, false);
	}
}

/* Has the part's leaf, which is locked, no row, and would no exchange show? */
static bool
fc_replace_may_fill(const FcTarget *target, const FcSpillPart *part)
{
	Oid			leaf = part->range.partition;
	Relation	rel;
	bool		may;

	if (part->null || !OidIsValid(leaf) || get_rel_relkind(leaf) != RELKIND_RELATION || !fc_exchange_is_empty(leaf))
		return false;
	rel = table_open(leaf, NoLock);
	may = !fc_code_any_index(rel, fc_attach_index_runs_code) && fc_replace_leaf_refusal(target, rel, &part->range) == NULL;
	table_close(rel, NoLock);
	return may;
}

/*
 * Returns the parts whose leaves may get their rows by an exchange though none
 * are replaced.  In a transaction that goes on readers would wait for its end;
 * and functions of indexes are called as by an INSERT.  Without its unique
 * index, rows of a plain table could come in another order than that of files
 * that are unpacked at once.
 */
static List *
fc_replace_empty_parts(FcJob *job)
{
	const FcTarget *target = &job->target;
	FcSpillPart *whole = palloc0(sizeof(FcSpillPart));
	List	   *parts = target->plan->partitioned ? job->parts : list_make1(whole);
	List	   *empty = NIL;

	if (fc_writer == FC_WRITER_MULTI_INSERT || target->plan->existing != FC_EXISTING_KEEP ||
		target->options->conflict != FC_CONFLICT_ERROR || target->plan->freeze ||
		fc_caller_is_plain(target->options->caller) || !target->options->alone ||
		(target->plan->partitioned ? !fc_shared_key_routes(target->shared) : target->facts.heads && target->facts.several))
		return NIL;
	whole->range = FC_RANGE_ALL;
	whole->range.partition = target->oid;
	whole->rows = target->counted ? target->found : target->source->size / FC_RECORD_GUESS;
	foreach_ptr(FcSpillPart, part, parts)
		if (part->rows >= (fc_writer == FC_WRITER_PAGE ? 1 : FC_REPLACE_EMPTY_ROWS) && fc_replace_may_fill(target, part))
			empty = lappend(empty, part);
	return empty != NIL && fc_replace_job_refusal(job) == NULL ? empty : NIL;
}

/*
 * Once it is chosen what is replaced: fc_ledger_others(), or NIL without a
 * ledger
 */
static List *
fc_replace_others(const FcJob *job)
{
	const FcRange *bounds = &job->target.plan->bounds;
	List	   *ranges = NIL;

	if (!bounds->hi_max)
		return fc_ledger_others(job, list_make1(unconstify(FcRange *, bounds)));
	foreach_ptr(FcReplaced, one, job->replaced)
		if (one->leaf.old_rows > 0 || one->leaf.old_guessed)
			ranges = lappend(ranges, &one->leaf.range);
	return fc_ledger_others(job, ranges);
}

void
fc_replace_choose(FcJob *job)
{
	FcTarget   *target = &job->target;

	/* before anything is deleted */
	foreach_ptr(const FcFault, fault, fc_partitions_faults(job))
		fc_fault_report(ERROR, fault);
	job->replaced = NIL;
	if (!target->plan->bounds.hi_max && !fc_plan_moves(target->plan))
		fc_replace_check_range(job);
	fc_replace_find(job);
	foreach_ptr(const FcReplaced, one, fc_replace_foresees(target) ? job->replaced : NIL)
		fc_fault_report(ERROR, fc_replace_too_few(target, one, one->found));
	foreach_ptr(FcFault, fault, fc_replace_others(job))
		fc_fault_report(fault->sqlerrcode == ERRCODE_WARNING ? WARNING : ERROR, fault);
	/* rows to be merged are read as of now */
	if (target->plan->existing == FC_EXISTING_MERGE)
		fc_replace_begin(job);
	foreach_oid(leaf, fc_replace_leaves(job))
		if (get_rel_relkind(leaf) == RELKIND_RELATION)
			fc_replace_check_files(job, leaf);
	fc_replace_make_substitutes(job);
}

void
fc_replace_choose_empty(FcJob *job)
{
	List	   *parts = fc_replace_empty_parts(job);

	job->replaced = NIL;
	if (parts == NIL || !fc_tables_check_locks(job, list_length(parts), 2, "", NULL))
		return;
	foreach_ptr(const FcSpillPart, part, parts)
		/* as for rows that are replaced, VACUUM and DDL are kept away */
		if (ConditionalLockRelationOid(part->range.partition, ShareUpdateExclusiveLock))
			fc_replace_add(job, part->range.partition, part->range, part->rows, NULL, true);
	fc_replace_make_substitutes(job);
	/* the leader may call functions while workers are at work */
	CommandCounterIncrement();
	job->replaced = NIL;
}

/* Body of fc_error_try: chooses as for a load, and undoes it */
static bool
fc_replace_try_choose(void *arg)
{
	FcJob	   *job = arg;

	foreach_oid(leaf, fc_tables_existing(job))
		LockRelationOid(leaf, AccessShareLock);
	if (!job->target.plan->bounds.hi_max)
		fc_replace_check_range(job);
	fc_replace_find(job);
	fc_replace_check_room(job);
	return false;
}

ErrorData *
fc_replace_error(FcJob *job)
{
	ErrorData  *edata;

	job->replaced = NIL;
	edata = fc_error_try(fc_replace_try_choose, job);
	if (edata && fc_error_is_of_transaction(edata))
		ReThrowError(edata);
	return edata;
}

List *
fc_replace_faults(FcJob *job)
{
	const FcTarget *target = &job->target;
	List	   *faults = NIL;

	foreach_ptr(const FcReplaced, one, target->plan->bounds.hi_max && !fc_plan_merges(target->plan) ? job->replaced : NIL)
		/* of a plain table an analysis has counted the rows */
		faults = fc_faults_add(faults, fc_replace_too_few(target, one, target->plan->partitioned ? one->found : target->loaded));
	return list_concat(faults, fc_replace_others(job));
}

FcFault *
fc_replace_cascades(const FcJob *job)
{
	const FcTarget *target = &job->target;
	List	   *leaves = target->plan->bounds.hi_max ? NIL : find_all_inheritors(target->oid, NoLock, NULL);

	foreach_ptr(const FcReplaced, one, target->plan->bounds.hi_max ? job->replaced : NIL)
		if (one->by == FC_REPLACED_DELETE)
			leaves = lappend_oid(leaves, one->leaf.range.partition);
	return fc_references_cascades(target->relname, leaves);
}

/*
 * Deletes the rows with these keys that were there when the source had been
 * read, as the caller's command would
 */
static uint64
fc_replace_delete_range(const FcJob *job, const FcRange *range)
{
	const FcTarget *target = &job->target;
	const FcPlanKey *key = &target->plan->key;
	const char *name = key->type == FC_KEY_NONE ? "" : quote_identifier(get_attname(target->oid, key->attnum, false));
	StringInfoData sql;
	uint64		deleted;
	ErrorContextCallback callback;
	ErrorContextCallback hint;

	initStringInfo(&sql);
	/* a row without a key is in no partition of the range */
	appendStringInfo(&sql, "DELETE FROM %s%s WHERE %s", target->plan->partitioned ? "" : "ONLY ",
					 fc_ddl_name(RelationGetNamespace(target->rel), RelationGetRelationName(target->rel)),
					 target->plan->partitioned ? psprintf("%s IS NOT NULL", name) : "true");
	for (int i = 0; i < 2; i++)
		if (!(i == 0 ? range->lo_min : range->hi_max))
			appendStringInfo(&sql, " AND %s OPERATOR(pg_catalog.%s) '%s'::%s", name, i == 0 ? ">=" : "<",
							 fc_key_text(key->type, i == 0 ? range->lo : range->hi),
							 format_type_be_qualified(fc_key_kinds[key->type].typid));
	fc_error_context_push(&callback, fc_error_context_add, psprintf("fast_copy %s, rows that are replaced", target->relname));
	fc_error_context_push(&hint, fc_references_hint, NULL);
	deleted = fc_ddl_change(sql.data, job->since.snapshot, NULL, NULL);
	fc_error_context_pop();
	fc_error_context_pop();
	return deleted;
}

/* Deletes the rows in a range but those of leaves that are exchanged */
static uint64
fc_replace_delete_rest(const FcJob *job, FcRange range)
{
	const FcTarget *target = &job->target;
	FcRange		last = range;
	uint64		deleted = 0;

	for (int i = 0; i < target->nsubstitutes; i++)
	{
		const FcRange *kept = &target->substitutes[i].range;

		CHECK_FOR_INTERRUPTS();
		range.hi = kept->lo;
		if (range.lo < range.hi)
			deleted += fc_replace_delete_range(job, &range);
		range.lo = kept->hi;
	}
	range.hi = last.hi;
	return range.lo < range.hi ? deleted + fc_replace_delete_range(job, &range) : deleted;
}

void
fc_replace_refuse_changed(const FcJob *job, Relation leaf, uint64 changed)
{
	bool		moves = fc_plan_moves(job->target.plan);

	if (changed == 0)
		return;
	fc_throw(ERRCODE_T_R_SERIALIZATION_FAILURE, errmsg("could not %s \"%s\" because its rows were changed while %s",
													   fc_replace_verb(job), RelationGetRelationName(leaf), moves ? "they were being moved" : "it was being loaded"),
			 errdetail("%s of its rows were updated or deleted since the %s began.", fc_units_count(changed), moves ? "move" : "load"),
			 errhint("%s again, when no other session and no function that is called for each row changes them.", moves ? "Try" : "Load"));
}

/*
 * ERROR 40001 if another session had changed a row that was deleted: READ
 * COMMITTED deletes the new version of it
 */
static void
fc_replace_check_taken(FcJob *job)
{
	foreach_oid(leaf, IsolationUsesXactSnapshot() ? NIL : fc_replace_leaves(job))
	{
		Relation	rel = table_open(leaf, NoLock);

		CHECK_FOR_INTERRUPTS();
		if (rel->rd_rel->relkind == RELKIND_RELATION && rel->rd_tableam == GetHeapamTableAmRoutine())
			fc_replace_refuse_changed(job, rel, fc_old_rows_taken(rel, &job->since));
		table_close(rel, NoLock);
	}
}

void
fc_replace_delete(FcJob *job)
{
	FcTarget   *target = &job->target;
	const char *why = NULL;
	uint64		deleted = 0;

	if (target->options->log_verbosity != FC_LOG_SILENT)
		fc_fault_report(NOTICE, fc_replace_cascades(job));
	fc_progress_phase(&job->progress, FC_PHASE_REPLACE);
	fc_ddl_keep_schema(RelationGetNamespace(target->rel));
	if (!target->plan->bounds.hi_max)
		deleted = fc_replace_delete_rest(job, target->plan->bounds);
	foreach_ptr(const FcReplaced, one, job->replaced)
	{
		CHECK_FOR_INTERRUPTS();
		if (one->by != FC_REPLACED_DELETE)
			continue;
		target->nreplaced++;
		why = why ? why : one->why;
		if (target->plan->bounds.hi_max)
			deleted += fc_replace_delete_range(job, &one->leaf.range);
	}
	CommandCounterIncrement();
	target->old_rows += deleted;
	if (deleted > 0)
		fc_replace_check_taken(job);
	if (why || !target->plan->bounds.hi_max)
		fc_lead_report(job, 0, deleted, -1, psprintf("deleted%s%s", why ? ": " : "", why ? why : ""));
	fc_progress_phase(&job->progress, FC_PHASE_PARTITIONS);
}

/*
 * Returns the rows that the load has put into a leaf that is not exchanged; if
 * core has loaded, all rows that the leaf has now
 */
static double
fc_replace_rows_now(FcJob *job, const FcLeafRows *counts, const FcReplaced *one)
{
	Relation	rel;
	double		rows;

	if (counts || !job->target.plan->partitioned)
		return fc_tasks_rows_of(job, counts, one->leaf.range.partition);
	rel = table_open(one->leaf.range.partition, NoLock);
	(void) fc_old_rows_count(rel, get_float8_infinity(), false, &rows);
	table_close(rel, NoLock);
	return rows;
}

/*
 * Forgets the substitutes of leaves that stay as they are: all their rows were
 * left out, or they had them before
 */
static void
fc_replace_leave_same(FcJob *job, const FcLeafRows *counts)
{
	FcTarget   *target = &job->target;
	int			kept = 0;

	for (int i = 0; i < target->nsubstitutes; i++)
		if (counts && fc_tasks_has_changed(job, counts, target->substitutes[i].table))
			target->substitutes[kept++] = target->substitutes[i];
	target->nsubstitutes = kept;
}

void
fc_replace_check_loaded(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcLeafRows *counts = fc_tasks_counts(job);
	/* with a range a leaf that gets no rows is exchanged, too */
	bool		leaves = target->plan->existing == FC_EXISTING_MERGE || (target->plan->partitioned && target->plan->bounds.hi_max);

	CommandCounterIncrement();
	if (leaves)
		fc_replace_leave_same(job, counts);
	foreach_ptr(const FcReplaced, one, target->plan->bounds.hi_max && !fc_plan_merges(target->plan) ? job->replaced : NIL)
	{
		CHECK_FOR_INTERRUPTS();
		if (one->by == FC_REPLACED_EXCHANGE && (!leaves || (counts && fc_tasks_has_changed(job, counts, one->leaf.table))))
			fc_fault_report(ERROR, fc_replace_too_few(target, one, fc_tasks_rows_of(job, counts, one->leaf.table)));
		else if (one->by == FC_REPLACED_DELETE && one->before > 0)
			fc_fault_report(ERROR, fc_replace_too_few(target, one, fc_replace_rows_now(job, counts, one)));
	}
}
