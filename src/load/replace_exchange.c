/*-------------------------------------------------------------------------
 *
 * load/replace_exchange.c
 *	  The end of a load that has filled substitutes: leaves get their files.
 *
 *	 rows that came meanwhile ──► the last lock ──► the last such rows
 *		──► are all tables as they were? ──► files change hands
 *
 * A leaf that was empty may have got rows, or be in use for too long: then it
 * gets the rows of its substitute instead.
 *
 * Others write to the leaves until the load has the last lock.  Indexes
 * evaluate code of users for rows that are carried along, and this can run any
 * command in this session.  So all tables are held (heap/hold.c) until nothing
 * is left to carry.  Then they are compared with what they were, and no such
 * code runs any more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"

#include "load/steps.h"

/* Attempts to carry all rows under the last lock, if code inserts more */
#define FC_REPLACE_ROUNDS	10

/*
 * Milliseconds in which a load that replaces nothing tries to lock leaves for
 * the first time; each other time it is half as patient
 */
#define FC_REPLACE_PATIENCE	1000

/* Throws the caught error; 40001 if a carried row equals a new one */
static void
fc_replace_met(const FcJob *job, Relation leaf)
{
	ErrorData  *edata;

	MemoryContextSwitchTo(job->mcxt);
	edata = CopyErrorData();
	if (edata->sqlerrcode != ERRCODE_UNIQUE_VIOLATION)
		PG_RE_THROW();
	FlushErrorState();
	fc_throw(ERRCODE_T_R_SERIALIZATION_FAILURE, errmsg("could not %s \"%s\" because equal rows were inserted while it was being loaded",
													   fc_replace_verb(job), RelationGetRelationName(leaf)),
			 edata->detail ? errdetail_internal("%s", edata->detail) : 0,
			 errhint("Load again."));
}

/*
 * Carries rows along that were inserted into a leaf before "until"; returns
 * their number.  ERROR 40001 if others were changed, or if a unique index
 * refuses one.
 */
static uint64
fc_replace_carry(const FcJob *job, Oid from, FcPick pick, void *arg, FcSince *until)
{
	Relation	leaf = table_open(from, NoLock);
	bool		leaves = job->target.plan->move == FC_MOVE_SOME;
	volatile uint64 carried = 0;
	uint64		changed = 0;

	PG_TRY();
	{
		carried = fc_old_rows_carry(leaf, pick, arg, leaves ? 0 : TABLE_INSERT_FROZEN, leaves, &job->since,
									until, &changed);
	}
	PG_CATCH();
	{
		fc_replace_met(job, leaf);
	}
	PG_END_TRY();
	fc_replace_refuse_changed(job, leaf, changed);
	table_close(leaf, NoLock);
	return carried;
}

/* All rows of a leaf go to one table */
static Oid
fc_replace_pick(void *arg, Relation rel, HeapTuple row)
{
	return *(const Oid *) arg;
}

uint64
fc_replace_carry_all(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcSince		now;
	CommandId	command;
	uint64		carried = 0;

	fc_old_rows_now(&now);
	command = GetCurrentCommandId(false);
	foreach_oid(leaf, job->moved)
		carried += fc_replace_carry(job, leaf, job->pick, job, &now);
	for (int i = 0; i < target->nsubstitutes && job->moved == NIL; i++)
	{
		FcSubstitute *substitute = &target->substitutes[i];
		uint64		n = fc_replace_carry(job, substitute->range.partition, fc_replace_pick, &substitute->table, &now);

		substitute->carried += n;
		carried += n;
	}
	/* code of indexes, which may have written to new partitions, too */
	target->ctx.disturbed |= command != GetCurrentCommandId(false);
	UnregisterSnapshot(job->since.snapshot);
	job->since = now;
	return carried;
}

/*
 * Carries the last rows along, under the last lock.  Code of users that
 * indexes evaluate for them may insert rows into leaves that were looked at
 * before; only if a round finds no row has no such code run.  ERROR 55006 if
 * each round finds more.
 */
static void
fc_replace_carry_last(FcJob *job)
{
	int			rounds = 0;

	while (fc_replace_carry_all(job) > 0)
		if (++rounds == FC_REPLACE_ROUNDS)
			fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("rows are inserted into table \"%s\" for each row that its indexes get",
												   job->target.relname),
					 errhint("Look for such a command in the functions that its indexes call."));
}

/* The tasks of the substitute's indexes; job->indexes is sorted by heap */
static List *
fc_replace_indexes(const FcJob *job, const FcSubstitute *substitute)
{
	List	   *indexes = NIL;
	int			at = 0;

	fc_search(int, at, job->target.nindexes, mid, job->indexes[mid].heap < substitute->table);
	for (; at < job->target.nindexes && job->indexes[at].heap == substitute->table; at++)
		indexes = lappend(indexes, &job->indexes[at]);
	return indexes;
}

/*
 * Are the indexes of the tasks, the substitute's or the leaf's, all that rel
 * has?
 */
static bool
fc_replace_has_indexes(Relation rel, const List *tasks, bool substitute)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		all = list_length(indexes) == list_length(tasks);

	foreach_ptr(const FcIndexTask, task, tasks)
		all &= list_member_oid(indexes, substitute ? task->index : task->like);
	list_free(indexes);
	return all;
}

/* Does the leaf still have its range in the target? */
static bool
fc_replace_is_in_place(const FcRoute *now, const FcRange *range)
{
	FcRange		found;

	if (now == NULL || now->default_oid == range->partition)
		return true;
	found = fc_route_find(now, range->lo);
	return found.partition == range->partition && found.lo == range->lo && found.hi == range->hi;
}

/*
 * ERROR 55006 if code that the load ran has made the table one that cannot be
 * exchanged: not all can be prevented by keeping it open.  No other session
 * can have done that.
 */
static void
fc_replace_check_unchanged(const FcTarget *target, const FcRoute *now, const FcSubstitute *substitute,
						   const List *indexes)
{
	Relation	leaf = table_open(substitute->range.partition, NoLock);
	Relation	rel = table_open(substitute->table, NoLock);

	if (target->course.core || fc_exchange_fires(leaf, target->plan->move) ||
		(!fc_plan_replaces(target->plan) && RelationGetNumberOfBlocks(leaf) > 0) ||
		!fc_replace_is_in_place(now, &substitute->range) ||
		!fc_replace_has_indexes(leaf, indexes, false) || !fc_replace_has_indexes(rel, indexes, true))
		fc_hold_refuse(RelationGetRelationName(leaf), NULL);
	table_close(rel, NoLock);
	table_close(leaf, NoLock);
}

/* Exchanges the files, with those of the indexes that were built */
static void
fc_replace_exchange_one(const FcSubstitute *substitute, const List *indexes, uint64 rows)
{
	Relation	rel = table_open(substitute->table, NoLock);
	BlockNumber all_visible;
	BlockNumber all_frozen;

	/* the planner needs its size */
	visibilitymap_count(rel, &all_visible, &all_frozen);
	fc_set_relstats(rel, RelationGetNumberOfBlocks(rel), rows, all_visible, all_frozen);
	table_close(rel, NoLock);
	fc_exchange_files(substitute->range.partition, substitute->table, indexes);
	rel = table_open(substitute->range.partition, NoLock);
	pgstat_count_truncate(rel);
	pgstat_count_heap_insert(rel, rows);
	table_close(rel, NoLock);
}

/*
 * Exchanges all files, and drops the substitutes with the old ones.  Once the
 * tables have been looked at, no code of users runs, and none of them can
 * change.
 */
static uint64
fc_replace_exchange_all(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcLeafRows *counts = fc_tasks_counts(job);
	FcRoute    *now;
	List	   *indexes = NIL;	/* of each substitute a list */
	uint64		carried = 0;

	CommandCounterIncrement();
	fc_hold_check(job->hold);
	now = fc_shared_key_routes(target->shared) ? fc_route_build(target->rel) : NULL;
	for (int i = 0; i < target->nsubstitutes; i++)
	{
		indexes = lappend(indexes, fc_replace_indexes(job, &target->substitutes[i]));
		fc_replace_check_unchanged(target, now, &target->substitutes[i], llast(indexes));
	}
	fc_setup_close_target(job);
	if (job->moved == NIL)
		fc_hold_end_all(job->hold, FC_HELD_PLACE);
	foreach_oid(leaf, job->moved)
		fc_hold_end(job->hold, leaf);
	for (int i = 0; i < target->nsubstitutes; i++)
	{
		const FcSubstitute *substitute = &target->substitutes[i];

		CHECK_FOR_INTERRUPTS();
		fc_hold_end(job->hold, substitute->table);
		fc_replace_exchange_one(substitute, list_nth(indexes, i),
								fc_tasks_rows_of(job, counts, substitute->table) + substitute->carried);
		fc_exchange_drop(substitute->range.partition, substitute->table);
		carried += substitute->carried;
		target->old_rows += substitute->old_rows;
		target->old_guessed |= substitute->old_guessed;
	}
	fc_exchange_end(job->exchange_schemas);
	job->exchange_schemas = NIL;
	fc_setup_open_target(job);
	return carried;
}

/*
 * Inserts the rows of a substitute, the one with this number, into its leaf, as
 * the load would have; and forgets it
 */
static void
fc_replace_move(FcJob *job, int number)
{
	FcTarget   *target = &job->target;
	FcSubstitute *substitute = &target->substitutes[number];
	Relation	leaf = table_open(substitute->range.partition, NoLock);
	Relation	rel = table_open(substitute->table, NoLock);
	FcSince		ever = {.cid = FirstCommandId};
	uint64		changed;
	ErrorContextCallback callback;

	fc_error_context_push(&callback, fc_error_context_add,
						  psprintf("fast_copy %s, rows of a partition that other sessions have used meanwhile", target->relname));
	/* this transaction has made all of them: no snapshot is asked */
	(void) fc_old_rows_carry(rel, fc_replace_pick, &substitute->range.partition, 0, false, &ever, NULL, &changed);
	fc_error_context_pop();
	Assert(changed == 0);
	table_close(rel, NoLock);
	table_close(leaf, NoLock);
	target->nsubstitutes--;
	memmove(substitute, substitute + 1, sizeof(FcSubstitute) * (target->nsubstitutes - number));
}

/*
 * Locks the leaves of a load that replaces nothing.  Rows for a leaf that has
 * got some, or is in use for too long, are moved while nothing is locked.
 */
static void
fc_replace_lock_empty(FcJob *job)
{
	FcTarget   *target = &job->target;
	int			n = target->nsubstitutes;
	int			patience = FC_REPLACE_PATIENCE;
	Oid			used = InvalidOid;

	CommandCounterIncrement();
	do
	{
		List	   *leaves = NIL;

		for (int i = target->nsubstitutes - 1; i >= 0; i--)
		{
			Oid			leaf = target->substitutes[i].range.partition;

			CHECK_FOR_INTERRUPTS();
			if (leaf == used || !fc_exchange_is_empty(leaf))
				fc_replace_move(job, i);
			else
				leaves = lappend_oid(leaves, leaf);
		}
		used = fc_lock_all_empty(leaves, patience);
		patience /= 2;
	} while (OidIsValid(used));
	n -= target->nsubstitutes;
	if (n > 0)
		fc_lead_report(job, 0, -1, -1, psprintf("%d in use: rows inserted one by one", n));
}

/* Locks the leaves for the exchange, when they have got all other rows */
static void
fc_replace_lock(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = list_copy(job->moved);

	/*
	 * A session that waits for a leaf has looked before which partitions there
	 * are, and would miss those that now have the rows
	 */
	if (leaves != NIL)
		leaves = lcons_oid(target->oid, leaves);
	for (int i = 0; i < target->nsubstitutes && job->moved == NIL; i++)
		leaves = lappend_oid(leaves, target->substitutes[i].range.partition);
	fc_lock_all(leaves);
	fc_replace_carry_last(job);
}

void
fc_replace_exchange(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		carried;
	int			n;

	fc_progress_phase(&job->progress, FC_PHASE_REPLACE);
	qsort(job->indexes, target->nindexes, sizeof(FcIndexTask), oid_cmp);
	if (fc_plan_replaces(target->plan))
		(void) fc_replace_carry_all(job);
	/*
	 * deletes files before the last lock, while no session waits for the load
	 */
	if (target->plan->tolerated == 0)
		SharedFileSetDeleteAll(&target->shared->fileset);
	if (fc_plan_replaces(target->plan))
		fc_replace_lock(job);
	else
		fc_replace_lock_empty(job);
	n = target->nsubstitutes;
	carried = fc_replace_exchange_all(job) + job->moved_late;
	target->nsubstitutes = 0;
	if (fc_plan_replaces(target->plan) && job->moved == NIL)
		target->nreplaced += n;
	if (n > 0 || carried > 0)
		fc_lead_report(job, 0, carried, -1, psprintf("%s%s", n == 0 ? "moved" : psprintf("%s exchanged", fc_units_of(n, "table")),
													 carried == 0 ? "" : ", with rows that were inserted meanwhile"));
}

void
fc_replace_rethrow(FcJob *job)
{
	ErrorData  *edata;
	int			i = 0;

	MemoryContextSwitchTo(job->mcxt);
	edata = CopyErrorData();
	FlushErrorState();
	while (edata->schema_name && i < job->target.nsubstitutes &&
		   strcmp(job->target.substitutes[i].own_schema, edata->schema_name) != 0)
		i++;
	if (edata->schema_name && i < job->target.nsubstitutes)
		edata->schema_name = job->target.substitutes[i].schema;
	else if (edata->schema_name && OidIsValid(job->target.stage) &&
			 fc_exchange_is_schema(edata->schema_name))
		edata->schema_name = job->stage_schema;
	ReThrowError(edata);
}
