/*-------------------------------------------------------------------------
 *
 * load/indexes.c
 *	  Indexes of new partitions.
 *
 *	 define, by the leader ──► build, by all processes ──► pg_class
 *
 * The leader defines the parent's indexes, unbuilt, and the processes build
 * them.  The abort takes back what an error leaves.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"
#include "sort/order_by.h"

static int
fc_indexes_cmp(const void *a, const void *b)
{
	const FcIndexTask *ta = a;
	const FcIndexTask *tb = b;

	double		ca = ta->rows * ta->weight;
	double		cb = tb->rows * tb->weight;

	return ca > cb ? -1 : ca < cb;
}

/* The column whose values ascend in new partitions, or InvalidAttrNumber */
static AttrNumber
fc_indexes_order_column(const FcJob *job)
{
	const FcTarget *target = &job->target;
	FcSortKey  *first;

	if (target->plan->order.nkeys == 0)
		return target->plan->key.attnum;
	first = linitial(target->planned->order);
	return fc_sort_key_plain(first) ? first->attnum : InvalidAttrNumber;
}

/* Defines the indexes of "like" on a table, and adds tasks that build them */
static void
fc_indexes_add(FcJob *job, Relation like, Oid table, const FcLeafRows *leaves, int *allocated)
{
	FcTarget   *target = &job->target;

	CHECK_FOR_INTERRUPTS();
	foreach_ptr(const FcIndexTask, defined, fc_index_define(like, table, fc_indexes_order_column(job)))
	{
		FcIndexTask *task;

		if (target->nindexes == *allocated)
		{
			*allocated *= 2;
			job->indexes = repalloc_huge(job->indexes, sizeof(FcIndexTask) * *allocated);
		}
		task = &job->indexes[target->nindexes++];
		*task = *defined;
		task->rows = fc_tasks_rows_of(job, leaves, table);
	}
	fc_progress_update(&job->progress);
}

/*
 * Defines the parent's indexes on the new partitions, and those of leaves on
 * their substitutes, largest first
 */
static void
fc_indexes_define(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcLeafRows *leaves = fc_tasks_counts(job);
	int			nattached = job->target.course.attaches || job->places ? target->ncreated : 0;
	int			allocated = 64;
	MemoryContext mcxt = fc_context_memory(CurrentMemoryContext, "indexes");
	MemoryContext old;

	target->nindexes = 0;
	job->indexes = palloc(sizeof(FcIndexTask) * allocated);
	old = MemoryContextSwitchTo(mcxt);
	for (int i = nattached; i < target->ncreated; i++)
	{
		fc_indexes_add(job, target->rel, target->created[i].range.partition, leaves, &allocated);
		MemoryContextReset(mcxt);
	}
	for (int i = 0; i < target->nsubstitutes; i++)
	{
		const FcSubstitute *substitute = &target->substitutes[i];
		Relation	rel = table_open(substitute->range.partition, NoLock);

		fc_indexes_add(job, rel, substitute->table, leaves, &allocated);
		table_close(rel, NoLock);
		MemoryContextReset(mcxt);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	qsort(job->indexes, target->nindexes, sizeof(FcIndexTask), fc_indexes_cmp);
	/* core calls functions where it simplifies their expressions */
	target->ctx.disturbed |= fc_code_any_index(target->rel, fc_attach_index_runs_code);
	CommandCounterIncrement();
	fc_hold_renew(job->hold);
}

/* Says for the report how indexes were built */
static char *
fc_indexes_choice(FcJob *job, int led)
{
	int			shared = 0;

	for (int i = 0; i < led; i++)
		shared += job->indexes[i].nhelpers > 0;
	if (shared == 0)
		return psprintf("%d %s built", job->target.nindexes, job->target.nindexes == 1 ? "index" : "indexes");
	return psprintf("%d indexes built, %d of them by all processes together",
					job->target.nindexes, shared);
}

/*
 * After an index of a new partition could not be built: COPY's error is about
 * the first row of the file that an index refuses, and the leader finds that by
 * inserting the rows again, one by one
 */
static void
fc_indexes_verify(FcJob *job)
{
	FcTarget   *target = &job->target;

	for (int i = 0; i < target->ncreated; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_table_truncate(target->created[i].range.partition);
	}
	for (int i = 0; i < target->nsubstitutes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_table_truncate(target->substitutes[i].table);
	}
	CommandCounterIncrement();
	fc_lead_take_up_tasks(job);
	fc_verify_load(&target->ctx, target->ngroups, true);
}

void
fc_indexes_run(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	int			led;
	int			processes = 0;

	if ((target->ncreated == 0 || job->target.course.attaches || job->places) && target->nsubstitutes == 0)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_INDEX);
	fc_indexes_define(job);
	if (target->nindexes == 0)
		return;
	for (int i = 0; i < target->nindexes; i++)
		job->progress.index_cost += fc_index_cost(&job->indexes[i]);
	/* the leader, and as many as the server lends */
	led = fc_index_plan(job->indexes, target->nindexes, Min(target->nworkers, max_parallel_workers + 1));
	fc_index_lead(&target->ctx, job->indexes, led);
	work.tasks = job->indexes + led;
	work.task_size = sizeof(FcIndexTask);
	work.ntasks = target->nindexes - led;
	if (work.ntasks > 0)
		processes = fc_lead_run(job, FC_PHASE_INDEX, work.ntasks, &work);
	if (pg_atomic_read_u64(&target->shared->errors.offset) != PG_UINT64_MAX)
	{
		/* with "merge" the row may be an old one, which has no record */
		if (!fc_plan_merges(target->plan))
			fc_lead_apart(job, fc_indexes_verify);
		fc_lead_throw(target);
	}
	for (int i = 0; i < target->nindexes; i++)
	{
		processes = Max(processes, job->indexes[i].nhelpers + 1);
		fc_index_stats(&job->indexes[i]);
	}
	CommandCounterIncrement();
	fc_lead_report(job, processes, -1, -1, fc_indexes_choice(job, led));
}
