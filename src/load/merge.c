/*-------------------------------------------------------------------------
 *
 * load/merge.c
 *	  existing_rows "merge": rows of leaves are loaded once more, in order,
 *	  with those of the file.
 *
 *	 leaves that get rows ──► their rows, in the cells of the file's rows
 *		──► (load) substitutes ──► (exchange) leaves where something is new
 *
 * All but the source of the rows is as in a load that replaces rows
 * (load/replace.c).  A leaf that cannot be exchanged is refused: a DELETE and
 * an INSERT of each of its rows would fire triggers and other code that
 * watches these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"

/* Pages that a process reads before it takes others */
#define FC_MERGE_STRETCH	512

void
fc_merge_refuse(const char *relname, const char *why)
{
	fc_unsupported(errmsg("cannot merge rows into table \"%s\"", relname),
				   errdetail("Its rows cannot be written anew: %s.", why),
				   errhint("Use on_conflict, for which the table needs a unique index, or existing_rows \"keep\", which adds the rows of the file."));
}

void
fc_merge_check(FcJob *job, const char *why)
{
	FcTarget   *target = &job->target;

	if (target->plan->dedup.nkeys == 0)
		return;
	if (target->course.core || target->plan->key.early)
		fc_merge_refuse(target->relname, why);
	/*
	 * its rows have keys of any range, and cannot be compared with the file's
	 */
	if (fc_shared_key_routes(target->shared) &&
		list_member_oid(fc_tables_existing(job), target->route->default_oid))
		fc_unsupported(errmsg("cannot merge rows into table \"%s\"", get_rel_name(target->route->default_oid)),
					   errdetail("It is the default partition, whose rows are not compared."),
					   errhint("Leave dedup_keys out, or the rows that go there by where_clause; or let their partitions be created."));
}

/* Adds the stretches of a leaf; returns all *n */
static FcPages *
fc_merge_add(FcPages *stretches, uint32 *n, Oid leaf)
{
	Relation	rel = table_open(leaf, NoLock);
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint32		more = (nblocks + FC_MERGE_STRETCH - 1) / FC_MERGE_STRETCH;

	table_close(rel, NoLock);
	stretches = repalloc_huge(stretches, sizeof(FcPages) * (*n + more + 1));
	for (BlockNumber from = 0; from < nblocks; from += FC_MERGE_STRETCH)
		stretches[(*n)++] = (FcPages)
	{
		leaf, from, Min(FC_MERGE_STRETCH, nblocks - from)
	};
	return stretches;
}

void
fc_merge_read(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcPages    *stretches = palloc(sizeof(FcPages));
	List	   *leaves = job->moved;
	FcWork		work = {.task_size = sizeof(FcPages)};
	int			processes;

	for (int i = 0; i < target->nsubstitutes; i++)
		leaves = lappend_oid(leaves, target->substitutes[i].range.partition);
	fc_progress_phase(&job->progress, FC_PHASE_REPLACE);
	foreach_oid(leaf, leaves)
	{
		CHECK_FOR_INTERRUPTS();
		stretches = fc_merge_add(stretches, &work.ntasks, leaf);
	}
	work.tasks = stretches;
	/* a small file may go to large tables */
	target->nworkers = fc_setup_workers(target, target->data_size +
										(uint64) work.ntasks * FC_MERGE_STRETCH * BLCKSZ);
	PushActiveSnapshot(job->since.snapshot);
	processes = fc_lead_run(job, FC_PHASE_REPLACE, work.ntasks, &work);
	PopActiveSnapshot();
	target->shared->nscanners += processes;
	pfree(stretches);
	fc_tasks_find_parts(job);
	fc_lead_report(job, processes, pg_atomic_read_u64(&target->shared->counts.existing), -1,
				   psprintf("rows of %s, to be %s", fc_units_of(list_length(leaves), "table"),
							fc_plan_moves(target->plan) ? "moved" : "merged"));
}
