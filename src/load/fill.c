/*-------------------------------------------------------------------------
 *
 * load/fill.c
 *	  The phase load: rows into partitions.
 *
 *	 tasks or chunks ──► phase/load.c in each process ──► counts, first error
 *
 * The leader makes the tasks, runs the phase and throws the first error of the
 * file.  Once all rows are there, it gives tables their new files
 * (heap/page_new.c).  On error the abort deletes these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "heap/append.h"
#include "io/io.h"
#include "load/steps.h"
#include "row/serial.h"

/* Turns for leaves that others attach while the load runs */
#define FC_NEW_LEAVES	256

/* One row of the report per leaf */
static void
fc_fill_report_leaves(FcJob *job)
{
	for (int i = 0; i < job->ntasks;)
	{
		FcReportRow row = {0};
		FcTask	   *first = &job->tasks[i];
		Oid			partition = OidIsValid(first->replaces) ? first->replaces : first->partition;

		row.phase = FC_PHASE_LOAD;
		row.key = first->null ? PG_INT64_MAX : first->lo.key;
		row.name = OidIsValid(partition) ? get_rel_name(partition) : NULL;
		for (; i < job->ntasks && job->tasks[i].part == first->part; i++)
		{
			FcTask	   *task = &job->tasks[i];

			row.rows += fc_shared_routed(job->target.shared) ? task->rows : task->loaded;
			row.bytes += task->bytes;
			row.reads += task->reads;
			row.seconds += task->usec / 1e6;
		}
		row.choice = psprintf("%s%s", fc_way_of_leaf(&job->target, first),
							  first->replaces == job->target.oid && OidIsValid(job->target.stage) ? ", staged" :
							  OidIsValid(first->replaces) ?
							  fc_plan_moves(job->target.plan) ? ", stay" :
							  fc_plan_merges(job->target.plan) ? ", merged" :
							  fc_plan_replaces(job->target.plan) ? ", replaced" : ", exchanged" : first->created ? ", new" : "");
		fc_report_add(&row);
	}
}

/* Gives a NOTICE if a process could not use io_uring */
static void
fc_fill_notice_refusal(FcTarget *target)
{
	FcShared   *shared = target->shared;
	int			err = pg_atomic_read_u32(&shared->io.uring_errno);

	if (err == 0 || target->course.way == FC_WAY_ROWS)
		return;
	ereport(NOTICE, errmsg("io_uring is not available, read with preadv instead: %s",
						   strerror(err)),
			errdetail("%s", fc_io_uring_why(err)));
}

static void
fc_fill_verify(FcJob *job)
{
	fc_lead_take_up_tasks(job);
	fc_verify_load(&job->target.ctx, job->target.ngroups, false);
}

/*
 * Has every record before the first known bad one been looked at?  When a
 * process stops in a chunk, all earlier chunks are taken already, and their
 * processes look through them.  But where core routes, a process inserts leaf
 * by leaf: when it stops at an index of one leaf, earlier rows may wait for
 * those of another.  Rows whose evaluation has effects are not looked at
 * again.
 */
static bool
fc_fill_seen_all(const FcTarget *target)
{
	const FcShared *shared = target->shared;

	if (!target->course.chunks || target->course.way == FC_WAY_PRESORTED)
		return false;
	return !fc_shared_routed(shared) || target->plan->effects ||
		shared->errors.first.kind != FC_ERROR_ENTRY;
}

/*
 * Without a key: sets the table that gets all rows, and how they are written
 */
static void
fc_fill_one(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	bool		frozen = fc_plan_replaces(target->plan) || OidIsValid(target->stage);
	uint64		rows = target->counted ? target->found : target->source->size / FC_RECORD_GUESS;

	shared->leaf = OidIsValid(target->stage) ? target->stage :
		target->nsubstitutes > 0 ? target->substitutes->table : target->oid;
	shared->storage = fc_tasks_storage(job, shared->leaf, frozen && shared->leaf != target->oid, rows);
}

static void
fc_fill_turns(const FcJob *job, FcWork *work)
{
	work->turns = palloc0(sizeof(FcTurn) * work->nturns);
	for (uint32 i = 0; i < work->nturns; i++)
	{
		FcTurn	   *turn = &work->turns[i];

		pg_atomic_init_u32(&turn->next, 0);
		pg_atomic_init_u64(&turn->leaf, InvalidOid);
		pg_atomic_init_u32(&turn->counted, 0);
		pg_atomic_init_u64(&turn->rows, 0);
		pg_atomic_init_u64(&turn->toasted, 0);
		turn->spot.block = InvalidBlockNumber;
		turn->spot.next_free = turn->spot.last_free = InvalidBlockNumber;
	}
	if (fc_shared_routed(job->target.shared))
		return;
	/* the table of a load without a key, or that of each task */
	if (work->ntasks == 0)
		pg_atomic_write_u64(&work->turns[0].leaf, job->target.shared->leaf);
	for (uint32 i = 0; i < work->ntasks; i++)
		pg_atomic_write_u64(&work->turns[job->tasks[i].part].leaf, job->tasks[i].partition);
}

/*
 * Makes the tasks, if there is a key, and the turns: one for the chunks of a
 * load without a key, and one per leaf.  Returns the number of units of work:
 * chunks, leaves or tasks.
 */
static uint32
fc_fill_work(FcJob *job, FcWork *work)
{
	FcTarget   *target = &job->target;

	target->shared->alone = target->nworkers == 0 && !target->course.chunks;
	work->nturns = 1;
	/* the target itself counts among its leaves */
	if (fc_shared_routed(target->shared))
		work->nturns += list_length(find_all_inheritors(target->oid, NoLock, NULL)) + FC_NEW_LEAVES;
	if (!fc_shared_keyed(target->shared))
		fc_fill_one(job);
	else
	{
		if (target->course.way == FC_WAY_PRESORTED)
			fc_tasks_make_presorted(job);
		else
			fc_tasks_make(job);
		work->tasks = job->tasks;
		work->task_size = sizeof(FcTask);
		work->ntasks = job->ntasks;
		work->nturns = Max(work->nturns, target->ngroups);
	}
	fc_fill_turns(job, work);
	if (target->course.alone)
		return 1;
	return target->course.chunks ? target->shared->source.nchunks : job->nunits;
}

bool
fc_fill_drop_key(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;

	Assert(!shared->key_dropped && (target->plan->key.routes || fc_shared_routed(shared)));
	if (!target->plan->key.early && contain_volatile_functions((Node *) target->planned->where))
		fc_unsupported(errmsg("cannot load rows of a volatile condition in the order of column \"%s\"",
							  get_attname(target->oid, target->plan->key.attnum, false)),
					   errdetail("A partition of table \"%s\" has a unique index of its own, which must see the rows in the order of the file: the condition would be evaluated twice.",
								 target->relname),
					   errhint("Leave timestamp_column out, or mark the functions of the condition STABLE or IMMUTABLE."));
	if (target->plan->where_late && pg_atomic_read_u64(&shared->errors.offset) != PG_UINT64_MAX && shared->errors.first.kind == FC_ERROR_ROUTE)
		fc_partitions_refuse_default(target, "The condition, which may leave out rows that only the default partition takes, is evaluated after the partitions are found.");
	shared->key_dropped = true;
	fc_way_decide(job);
	fc_find_forget_rows(job);
	fc_tables_lock(job);
	fc_tables_check(job);
	return true;
}

/*
 * Takes the old rows of leaves that stay as they are out of the counts: no row
 * of the file came to them after all
 */
static void
fc_fill_forget_same(FcJob *job)
{
	FcCounts   *counts = &job->target.shared->counts;
	FcLeafRows *leaves = fc_tasks_leaf_rows(job);

	for (int i = 0; i < job->target.ngroups; i++)
	{
		if (fc_tasks_has_changed(job, leaves, leaves[i].leaf))
			continue;
		pg_atomic_fetch_sub_u64(&counts->existing, leaves[i].old + leaves[i].old_gone);
		pg_atomic_fetch_sub_u64(&counts->updated, leaves[i].old_gone);
	}
	pfree(leaves);
}

/* Gives the tables the new files that their rows were written to */
static void
fc_fill_end_files(FcJob *job)
{
	Assert(!IsInParallelMode());
	fc_hold_check(job->hold);
	fc_new_end(job->files);
	job->files = NIL;
	CommandCounterIncrement();
	fc_hold_renew(job->hold);
}

/* After a load that ended early: drops the new partitions and their rows */
static void
fc_fill_undo(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_fill_end_files(job);
	fc_hold_end_all(job->hold, FC_HELD_ROWS);
	for (int i = 0; i < target->ncreated; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_hold_end(job->hold, target->created[i].range.partition);
		/* the next attempt needs their space before the transaction ends */
		fc_table_truncate(target->created[i].range.partition);
		fc_partition_drop(target->created[i].range.partition);
	}
	CommandCounterIncrement();
	fc_find_forget(job);
	target->facts.presorted = false;
	if (target->shared->source.unsplit)
		fc_layout_chunks(job);
}

bool
fc_fill_run(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	FcWork		work = {0};
	Size		memory = shared->memory;
	int			processes;
	uint32		units;

	Assert(!target->course.core && !target->course.drops_key);
	fc_tables_hold(job);
	units = fc_fill_work(job, &work);
	fc_lead_begin(job, FC_PHASE_LOAD);
	if (job->target.facts.sends)
		fc_send_start(job);
	fc_number_reserve(&target->ctx, target->found);
	if (target->course.alone)
		shared->memory = fc_settings_memory(target->nworkers);
	processes = fc_lead_run(job, FC_PHASE_LOAD, units, &work);
	shared->memory = memory;
	if (job->target.facts.sends)
		fc_send_stop(job);
	if (pg_atomic_read_u32(&shared->mistaken) != 0)
	{
		fc_lead_report(job, processes, -1, -1, "given up: the file is not in key order");
		fc_fill_undo(job);
		return false;
	}
	fc_fill_notice_refusal(target);
	if (pg_atomic_read_u64(&shared->errors.offset) != PG_UINT64_MAX)
	{
		if (pg_atomic_read_u32(&shared->errors.stopped) != 0 && !fc_fill_seen_all(target))
			fc_lead_apart(job, fc_fill_verify);
		fc_lead_throw(target);
	}
	fc_fill_end_files(job);
	target->loaded = pg_atomic_read_u64(&shared->counts.loaded) - fc_shared_rewritten(shared) +
		(job->target.facts.sends ? fc_send_job_rows(job) : 0);
	if (target->plan->existing == FC_EXISTING_MERGE)
		fc_fill_forget_same(job);
	fc_lead_report(job, processes, fc_plan_moves(target->plan) ? fc_shared_rewritten(shared) : target->loaded,
				   pg_atomic_read_u64(target->course.chunks ?
									  &shared->counts.load_bytes : &shared->counts.read_bytes),
				   fc_way_choice(target));
	fc_fill_report_leaves(job);
	if (job->target.facts.sends)
		fc_send_end_job(job);
	CommandCounterIncrement();
	return true;
}
