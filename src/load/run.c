/*-------------------------------------------------------------------------
 *
 * load/run.c
 *	  One load: its phases in their order, and the law that nothing is lost.
 *
 *	 split ──► scan ──► partitions ──► load ──► index ──► attach
 *
 * A file that looks as if it were in key order is loaded without a scan; if it
 * turns out to be in another order, all is begun again behind the split.
 *
 * All of it happens in the caller's transaction, under the caller's XID:
 * whatever fails, the (sub)transaction's abort takes back rows, tables and
 * catalog entries; spill files go with the job's segment; workers end with
 * the parallel context.  There is no clean-up code, only ownership.
 *
 * Partitions are attached last, when filled and indexed.  Three kinds of load
 * attach them first, and then write to them as to existing ones: those that
 * core's CopyFrom does; those of published tables, because rows written before
 * a table is attached are published to nobody; and those that pass over equal
 * rows, because indexes must be there to find them.  With foreign keys these
 * go to core, as nobody else would fire the triggers of such partitions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "partitioning/partdesc.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/pquery.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat/compat.h"
#include "copyfrom/feed.h"
#include "copyfrom/find_keys.h"
#include "copyfrom/run.h"
#include "errors/first_error.h"
#include "rejects/notices.h"
#include "errors/stop.h"
#include "heap/hold.h"
#include "heap/writer.h"
#include "intake/intake.h"
#include "intake/receive.h"
#include "intake/split.h"
#include "load/phases.h"
#include "load/run.h"
#include "load/setup.h"
#include "load/tasks.h"
#include "load/worker.h"
#include "partition/index_build.h"
#include "partition/statistics.h"
#include "report/log.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/tell.h"
#include "row/serial.h"
#include "sort/order_by_keys.h"
#include "sort/run_write.h"

/* Files that the report has rows for */
#define FC_REPORT_FILES		1000

/* How records were read in key order */
static char *
fc_job_io_method(FcShared *shared)
{
	const char *reader = shared->io_uring ? "io_uring" : "sync";
	uint64		mapped = pg_atomic_read_u64(&shared->mapped_bytes);

	if (mapped == 0)
		return pstrdup(reader);
	if (mapped == pg_atomic_read_u64(&shared->read_bytes))
		return pstrdup("mmap");
	return psprintf("mmap, %s", reader);
}

/* Does the load read the file from one end to the other? */
static bool
fc_job_reads_chunks(const FcJob *job)
{
	return job->target.plan->key_type == FC_KEY_NONE || job->target.shared->streamed;
}

/*
 * Is the load one process's, because it sorts rows that may go to any leaf, or
 * that have no key?
 */
static bool
fc_job_sorts_alone(const FcJob *job)
{
	const FcTarget *target = &job->target;

	return target->plan->order != NIL &&
		(target->plan->routed || target->plan->key_type == FC_KEY_NONE);
}

/* Closes the phase in the report */
static void
fc_job_report(FcJob *job, int processes, int64 rows, int64 bytes, char *choice)
{
	FcTarget   *target = &job->target;
	FcReportRow row = {0};
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, job->progress.phase_start);
	row.phase = job->progress.phase;
	row.whole = true;
	row.processes = processes;
	row.alone = job->progress.alone;
	row.rows = rows;
	row.bytes = bytes;
	row.reads = -1;
	row.seconds = INSTR_TIME_GET_DOUBLE(now);
	row.wal_bytes = pgWalUsage.wal_bytes - job->progress.phase_wal;
	row.spill_bytes = job->progress.phase == FC_PHASE_SCAN ?
		pg_atomic_read_u64(&target->shared->spilled) : -1;
	row.choice = choice;
	if (job->progress.phase == FC_PHASE_LOAD && !fc_job_reads_chunks(job))
	{
		row.reads = pg_atomic_read_u64(&target->shared->reads);
		/* spilled rows are read through the server's temporary files */
		if (!target->shared->spill_rows)
			row.io_method = fc_job_io_method(target->shared);
	}
	fc_report_add(&row);
	job->progress.alone = 0;
}

/*
 * Workers for a phase of so many chunks or tasks.  Where only one of several
 * workers would find work the leader is as fast, without being started.
 */
static int
fc_job_workers(const FcJob *job, uint32 units)
{
	if (units < 2 && job->target.nworkers > 1)
		return 0;
	return Min(job->target.nworkers, units);
}

static int
fc_job_work(FcJob *job, FcPhase phase, uint32 units, FcWork *work)
{
	FcTarget   *target = &job->target;
	int			processes;

	target->ctx.apart = phase != FC_PHASE_SPLIT &&
		(target->plan->effects || target->plan->leader_reason != NULL);
	processes = fc_worker_run(&target->ctx, job->segment, phase,
							  fc_job_workers(job, units), work);
	job->progress.alone = work->alone;
	if (work->parallel)
		job->progress.launched = Max(job->progress.launched, processes);
	return processes;
}

/* Body of fc_error_apart */
typedef struct FcJobApart
{
	FcJob	   *job;
	void		(*phase) (FcJob *job);
} FcJobApart;

static bool
fc_job_undone(void *arg)
{
	FcJobApart *apart = arg;

	apart->phase(apart->job);
	return false;
}

/*
 * An error of a user's code may be caught on the way, and the transaction goes
 * on: what such code has left behind is undone with a subtransaction.
 */
static void
fc_job_apart(FcJob *job, void (*phase) (FcJob *job))
{
	FcTarget   *target = &job->target;
	FcJobApart	apart = {job, phase};

	fc_error_apart(&target->ctx, fc_job_undone, &apart);
	/* it may run again */
	target->ctx.stopped = false;
	pg_atomic_write_u32(&target->shared->stopped, 0);
}

static char *
fc_job_split_choice(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->source->nfiles == 1)
		return psprintf("%u chunks", target->shared->nchunks);
	return psprintf("%u chunks of %u %ss", target->shared->nchunks, target->source->nfiles,
					fc_source_word(target->source));
}

/* Where there are several files: what each has, of the first ones */
static void
fc_job_report_files(FcJob *job)
{
	const FcSource *source = job->target.source;

	if (source->nfiles == 1)
		return;
	for (uint32 i = 0; i < Min(source->nfiles, FC_REPORT_FILES); i++)
	{
		FcReportRow row = {0};

		row.phase = FC_PHASE_SPLIT;
		row.rows = fc_split_records(job->target.shared, source, i);
		row.bytes = source->files[i].identity.size;
		row.reads = -1;
		row.choice = psprintf("%s \"%s\"", fc_source_word(source), fc_source_path(source, i));
		fc_report_add(&row);
	}
}

static void
fc_job_report_split(FcJob *job, int processes)
{
	FcTarget   *target = &job->target;

	target->counted = true;
	fc_job_report(job, processes, target->found,
				  target->data_size, fc_job_split_choice(job));
	fc_job_report_files(job);
}

static void
fc_job_split(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	int			processes;

	fc_progress_phase(&job->progress, FC_PHASE_SPLIT);
	processes = fc_job_work(job, FC_PHASE_SPLIT, target->shared->nchunks, &work);
	target->found = fc_split_resolve(&target->ctx);
	fc_job_report_split(job, processes);
}

/* Chooses the interval of new partitions, and tells the workers */
static void
fc_job_interval(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcRoute    *route = target->route;

	if (job->partman && job->partman->refusal == NULL)
	{
		route->interval = fc_partman_interval(job->partman, route);
		route->partman = job->partman;
	}
	else
		route->interval = fc_interval_choose(route, target->options->interval);
	if (route->interval.zone)
		strlcpy(target->shared->interval_zone,
				pg_get_timezone_name(route->interval.zone), TZ_STRLEN_MAX + 1);
}

/* Bounds and interval as they are now; workers read the same bounds */
static void
fc_job_route(FcJob *job)
{
	FcTarget   *target = &job->target;
	bool		hole;

	if (!target->plan->key_routes)
		return;
	target->route = fc_route_build(target->rel);
	/* an interval is only asked for where something may be missing */
	hole = target->route->nranges != 1 || !target->route->ranges[0].lo_min ||
		!target->route->ranges[0].hi_max;
	target->route->create = (target->options->missing == FC_MISSING_CREATE);
	if (target->route->create && (hole || target->options->interval))
		fc_job_interval(job);
	target->shared->interval = target->route->interval;
}

/* Is core the only one that can tell where records start? */
static bool
fc_job_core_reads(const FcJob *job)
{
	const FcTarget *target = &job->target;

	return target->options->format.binary || target->unconvertible ||
		(target->unsettled && !fc_feed_is_canonical(target));
}

/* Core reads the file, and shows its own progress */
static void
fc_job_scan_core(FcJob *job)
{
	uint64		rows;
	List	   *parts;

	fc_progress_end(&job->progress);
	rows = fc_core_keys(&job->target, &parts);
	fc_tasks_set_parts(job, parts);
	fc_progress_start(&job->progress);
	fc_job_report(job, 1, rows, job->target.source->identity.size,
				  "keys read by core's COPY");
}

/*
 * Rows, or offsets?  An analysis reads the rows in file order, and so does
 * core.  Returns what was chosen, and why.
 */
static char *
fc_job_choose_spill(FcJob *job)
{
	FcTarget   *target = &job->target;
	const char *reason = "as fast_copy.spill says";

	if (target->core_reason || (target->plan->key_early && target->plan->key_routes))
		return "offsets spilled in sorted runs, to find partitions";
	job->spill_rows = (fc_spill_kind == FC_SPILL_ROWS);
	if (fc_spill_kind == FC_SPILL_AUTO && target->inflow)
		reason = fc_sample_spill_unseen(target->shared, &job->spill_rows);
	else if (fc_spill_kind == FC_SPILL_AUTO)
		reason = fc_sample_spill(&target->ctx, Max(target->nworkers, 1),
								 &job->spill_rows);
	target->shared->spill_rows = job->spill_rows && !target->options->analyze;
	return psprintf("%s spilled in sorted runs: %s",
					job->spill_rows ? "rows" : "offsets", reason);
}

/* Behind the scan: its report, and the ranges that it found rows for */
static void
fc_job_end_scan(FcJob *job, char *choice)
{
	FcTarget   *target = &job->target;

	fc_job_report(job, target->shared->nscanners,
				  pg_atomic_read_u64(&target->shared->scanned),
				  pg_atomic_read_u64(&target->shared->spilled),
				  choice);
	fc_tasks_find_parts(job);
}

static void
fc_job_scan(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	char	   *choice;

	target->shared->streamed = false;
	fc_progress_phase(&job->progress, FC_PHASE_SCAN);
	fc_job_route(job);
	if (fc_job_core_reads(job))
	{
		fc_job_scan_core(job);
		return;
	}
	pg_atomic_write_u64(&target->shared->scanned, 0);
	pg_atomic_write_u64(&target->shared->filtered, 0);
	pg_atomic_write_u64(&target->shared->rejected, 0);
	pg_atomic_write_u64(&target->shared->last_rejected, 0);
	pg_atomic_write_u64(&target->shared->nulled, 0);
	choice = fc_job_choose_spill(job);
	target->shared->nscanners = fc_job_work(job, FC_PHASE_SCAN, target->shared->nchunks, &work);
	fc_job_end_scan(job, choice);
}

/* Must new partitions be attached, or have their indexes, before rows come? */
static bool
fc_job_needs_attached(FcJob *job)
{
	FcTarget   *target = &job->target;

	return fc_plan_is_published(target->rel) || target->plan->key_early ||
		(job->partman && job->partman->early) ||
		((target->options->tolerated & FC_CLASS_UNIQUE) &&
		 fc_plan_has_unique(target->rel));
}

/*
 * May a file in key order be loaded without a scan?  Only into partitions that
 * are all made for it, so that they can be dropped if the file turns out to be
 * in another order; and where rows are neither left out nor numbered, nor anybody
 * can see that they were evaluated before.
 */
static bool
fc_job_may_stream(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;

	return fc_spill_kind == FC_SPILL_AUTO && target->plan->key_routes &&
		target->options->missing == FC_MISSING_CREATE &&
		!target->core_reason && !fc_job_core_reads(job) && !target->plan->effects &&
		shared->tolerated == 0 && shared->nnumbers == 0 &&
		fc_shared_where(shared)[0] == '\0' && target->plan->order == NIL &&
		!OidIsValid(target->route->default_oid) && !fc_job_needs_attached(job);
}

/*
 * Sets job->parts for a load of the file as it comes, if it is in key order.  The
 * route stays as it is: who has scanned by it wants to know if it is out of date.
 */
static bool
fc_job_stream(FcJob *job)
{
	FcShared   *shared = job->target.shared;

	if (!fc_job_may_stream(job))
		return false;
	job->keys = MemoryContextAllocHuge(CurrentMemoryContext,
									   sizeof(int64) * (shared->nchunks + 1));
	shared->streamed = fc_order_look(&job->target.ctx, job->keys) &&
		fc_tasks_span_parts(job);
	return shared->streamed;
}

/* Partitions came or went since the scan looked at them */
static bool
fc_job_bounds_changed(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcRoute    *now;
	bool		changed;

	AcceptInvalidationMessages();
	now = fc_route_build(target->rel);
	changed = now->nranges != target->route->nranges ||
		now->default_oid != target->route->default_oid;
	for (int i = 0; i < now->nranges && !changed; i++)
		changed = now->ranges[i].lo != target->route->ranges[i].lo ||
			now->ranges[i].hi != target->route->ranges[i].hi ||
			now->ranges[i].partition != target->route->ranges[i].partition;
	return changed;
}

/*
 * Where core routes, workers find leaves by themselves: no partition may come
 * or go at any level while they do, and all leaves are locked until commit.
 * Who may not lock the table for that loads alone, and into these leaves only
 * (fc_job_check_leaves).
 */
static void
fc_job_lock_tree(Oid parent, bool against_new)
{
	List	   *children;
	ListCell   *lc;

	if (against_new)
		LockRelationOid(parent, ShareUpdateExclusiveLock);
	children = find_inheritance_children(parent, RowExclusiveLock);
	foreach(lc, children)
	{
		CHECK_FOR_INTERRUPTS();
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_PARTITIONED_TABLE)
			fc_job_lock_tree(lfirst_oid(lc), against_new);
	}
}

/*
 * Locks the leaves that take rows, and what protects holes; or sets gives_way,
 * if pg_partman is making or dropping partitions.
 */
static void
fc_job_lock(FcJob *job)
{
	FcTarget   *target = &job->target;
	ListCell   *lc;

	if (target->plan->routed)
		fc_job_lock_tree(target->oid, fc_may_lock(target->oid, GetUserId()));
	if (!target->plan->key_routes)
		return;
	if (target->ncreated > 0)
	{
		fc_partition_check_owner(target->rel);
		if (job->partman && !fc_partman_try_lock())
		{
			job->gives_way = true;
			return;
		}
		LockRelationOid(target->oid, ShareUpdateExclusiveLock);
	}
	foreach(lc, job->parts)
	{
		bool		created;
		Oid			leaf = fc_tasks_leaf(job, lfirst(lc), &created);

		CHECK_FOR_INTERRUPTS();
		if (OidIsValid(leaf) && !created)
			LockRelationOid(leaf, RowExclusiveLock);
	}
}

/*
 * The scan ran under a lock that lets others attach partitions.  Once the
 * leaves are locked, nobody can any more; if somebody did, scan again.
 */
static void
fc_job_settle(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_job_lock(job);
	while (target->plan->key_routes && !job->gives_way &&
		   fc_job_bounds_changed(job))
	{
		CHECK_FOR_INTERRUPTS();
		SharedFileSetDeleteAll(&target->shared->fileset);
		pg_atomic_write_u64(&target->shared->error_offset, PG_UINT64_MAX);
		fc_job_scan(job);
		fc_job_lock(job);
	}
}

/* What an existing leaf has may change the way of the whole load */
static void
fc_job_check_leaf(FcJob *job, Oid leaf)
{
	FcTarget   *target = &job->target;
	Relation	rel = table_open(leaf, NoLock);
	bool		only_foreign_keys;

	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		target->core_reason = "a partition is a foreign table";
	else if (fc_plan_has_triggers(rel, &only_foreign_keys))
		target->core_reason = only_foreign_keys ?
			"an existing partition has foreign keys" : "a partition has triggers";
	else if (target->plan->leader_reason == NULL)
		target->plan->leader_reason = fc_plan_leaf_reason(rel);

	fc_plan_check_unique(target->rel, rel, target->options, target->plan);
	/* of two equal rows the second in the file is the one to be refused */
	if ((target->plan->routed || target->plan->key_type == FC_KEY_NONE) &&
		fc_plan_has_unique(rel))
	{
		target->shared->file_order = !target->plan->routed;
		if (target->plan->routed && target->plan->leader_reason == NULL)
			target->plan->leader_reason = "a partition has a unique index";
	}
	if (target->options->freeze && rel->rd_rel->relkind == RELKIND_RELATION)
	{
		SubTransactionId subxid = GetCurrentSubTransactionId();

		if (rel->rd_createSubid != subxid && fc_new_storage_subid(rel) != subxid)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction"),
					 leaf == RelationGetRelid(target->rel) ? 0 :
					 errdetail("Rows of the file go to table \"%s\".",
							   RelationGetRelationName(rel)),
					 errhint("Leave freeze out, or create or truncate the table in the transaction that loads it.")));
	}
	table_close(rel, NoLock);
}

/* COPY's condition for freezing rows of tables that others of us may see */
static void
fc_job_check_freeze(FcJob *job)
{
	if (job->target.plan->routed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot perform COPY FREEZE on a partitioned table"),
				 errdetail("Rows of table \"%s\" are routed to partitions that exist.",
						   job->target.relname)));
	InvalidateCatalogSnapshot();
	if (!ThereAreNoPriorRegisteredSnapshots() || !ThereAreNoReadyPortals())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot perform COPY FREEZE because of prior transaction activity")));
}

static List *
fc_job_existing_leaves(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = NIL;
	ListCell   *lc;

	if (!target->plan->partitioned)
		return list_make1_oid(target->oid);
	if (target->plan->routed)
		return find_all_inheritors(target->oid, NoLock, NULL);
	foreach(lc, job->parts)
	{
		bool		created;
		Oid			leaf = fc_tasks_leaf(job, lfirst(lc), &created);

		if (OidIsValid(leaf) && !created)
			leaves = list_append_unique_oid(leaves, leaf);
	}
	return leaves;
}

static void
fc_job_check_leaves(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = fc_job_existing_leaves(job);
	ListCell   *lc;

	if (target->options->freeze && leaves != NIL)
		fc_job_check_freeze(job);
	foreach(lc, leaves)
		fc_job_check_leaf(job, lfirst_oid(lc));
	if (target->plan->routed && !fc_may_lock(target->oid, GetUserId()))
	{
		target->ctx.leaves = leaves;
		target->nworkers = 0;
	}
	if (target->plan->leader_reason != NULL)
		target->nworkers = 0;
}

/*
 * Attaches what was created; core wants the parent closed.  Returns why that
 * took a command for each, or NULL.
 */
static const char *
fc_job_attach_all(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcAttach	attach;

	fc_setup_close_target(job);
	fc_partition_attach_begin(&attach, target->oid, target->route, target->created,
							  target->ncreated, !target->ctx.disturbed);
	for (int i = 0; i < target->ncreated; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_partition_attach(&attach, &target->created[i]);
		job->progress.steps_done = i + 1;
		fc_progress_update(&job->progress);
	}
	fc_partition_attach_end(&attach);
	CommandCounterIncrement();
	fc_partman_finish(target->route, get_rel_namespace(target->oid),
					  target->created, target->ncreated);
	fc_setup_open_target(job);
	return attach.reason;
}

/*
 * Each new partition takes locks until commit: its own, its indexes', and two
 * for a TOAST table.  Better to say at once that there is no room for them.
 */
static void
fc_job_check_locks(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		each = 3 + list_length(RelationGetIndexList(target->rel));
	uint64		room = (uint64) max_locks_per_xact * (MaxBackends + max_prepared_xacts);

	if (target->ncreated * each < room)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("cannot create %d partitions in one transaction", target->ncreated),
			 errdetail("They need " UINT64_FORMAT " locks, and the lock table has room for " UINT64_FORMAT ".",
					   target->ncreated * each, room),
			 errhint("Use a longer partition_interval, or increase max_locks_per_transaction.")));
}

/* Whatever is wrong with a file, it must not fill the catalogs */
static FcFault *
fc_job_too_many(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFault    *fault;

	if (target->ncreated <= fc_max_partitions)
		return NULL;
	fault = palloc0(sizeof(FcFault));
	fault->name = "max_partitions";
	fault->sqlerrcode = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
	fault->message = psprintf("cannot create more than %d partitions", fc_max_partitions);
	fault->detail = psprintf("The rows need %d new partitions of table \"%s\", from values %s to %s.",
							 target->ncreated, target->relname,
							 fc_key_text(target->route->type, target->created[0].range.lo),
							 fc_key_text(target->route->type, target->created[target->ncreated - 1].range.lo));
	fault->hint = pstrdup("Look for wrong keys in the file, use a longer partition_interval, or increase fast_copy.max_partitions.");
	return fault;
}

/* Does the table have partitions, and none on this server? */
static bool
fc_job_is_remote(const FcRoute *route)
{
	for (int i = 0; i < route->nranges; i++)
		if (get_rel_relkind(route->ranges[i].partition) != RELKIND_FOREIGN_TABLE)
			return false;
	if (OidIsValid(route->default_oid))
		return get_rel_relkind(route->default_oid) == RELKIND_FOREIGN_TABLE;
	return route->nranges > 0;
}

/* Rows of a table that lives on other servers must not stay here, unasked for */
static FcFault *
fc_job_misplaced(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFault    *fault;

	if (target->ncreated == 0 || !fc_job_is_remote(target->route))
		return NULL;
	fault = palloc0(sizeof(FcFault));
	fault->name = "foreign partitions";
	fault->sqlerrcode = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
	fault->message = psprintf("cannot create partitions of table \"%s\", whose partitions are all foreign tables",
							  target->relname);
	fault->detail = psprintf("The rows need %d new partitions, from values %s to %s, which would lie on this server.",
							 target->ncreated,
							 fc_key_text(target->route->type, target->created[0].range.lo),
							 fc_key_text(target->route->type, target->created[target->ncreated - 1].range.lo));
	fault->hint = pstrdup("Make them on the server they belong to, and here as foreign tables, or set missing_partitions to \"error\" or \"default\".");
	return fault;
}

List *
fc_job_faults(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFault    *too_many = fc_job_too_many(job);
	FcFault    *misplaced = fc_job_misplaced(job);
	List	   *faults = too_many ? list_make1(too_many) : NIL;
	const FcRange *lowest = NULL;
	int64		high = PG_INT64_MIN;
	ListCell   *lc;

	if (misplaced)
		faults = lappend(faults, misplaced);
	if (job->partman == NULL || !target->plan->key_routes)
		return faults;
	foreach(lc, job->parts)
	{
		FcSpillPart *part = lfirst(lc);

		if (part->null)
			continue;
		if (lowest == NULL || part->range.lo < lowest->lo)
			lowest = &part->range;
		high = Max(high, part->max_key);
	}
	if (target->shared->streamed)
		high = job->keys[target->shared->nchunks];
	return list_concat(faults,
					   fc_partman_faults(job->partman, target->route, lowest, high,
										 target->created, target->ncreated));
}

/* ERROR for the first of them */
static void
fc_job_check_faults(FcJob *job)
{
	List	   *faults = fc_job_faults(job);

	if (faults != NIL)
		fc_partman_throw(linitial(faults));
}

/* How partitions were made, for the report */
static char *
fc_job_partitions_choice(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcInterval *interval = &target->route->interval;
	const char *partman = "";

	if (target->route->partman)
		partman = interval->zone && (interval->epoch || target->route->type == FC_KEY_TIMESTAMPTZ) ?
			psprintf(" for pg_partman, in time zone %s", pg_get_timezone_name(interval->zone)) :
			" for pg_partman";
	return psprintf("%d created%s%s", target->ncreated, partman,
					job->attach_first ? ", attached before the load" : "");
}

/*
 * Creates the missing partitions.  With a bad record known there is no need
 * for those that only records behind it would fill, but it does no harm: the
 * load fails in any case.
 */
static void
fc_job_partitions(FcJob *job)
{
	FcTarget   *target = &job->target;
	bool		early;

	fc_progress_phase(&job->progress, FC_PHASE_PARTITIONS);
	fc_job_settle(job);
	if (job->gives_way)
		return;
	if (target->plan->foreign_keys && fc_job_existing_leaves(job) != NIL)
		target->core_reason = "existing partitions have foreign keys";
	fc_job_check_leaves(job);
	fc_job_check_faults(job);
	if (target->ncreated == 0)
		return;
	early = fc_job_needs_attached(job);
	if (early && target->plan->foreign_keys && target->core_reason == NULL)
		target->core_reason = "foreign keys of partitions attached before the load are checked row by row";
	fc_job_check_locks(job);
	fc_partition_precheck(target->rel, target->route, target->created, target->ncreated);
	fc_partition_create(&target->ctx, target->route, target->created, target->ncreated);
	CommandCounterIncrement();
	job->attach_first = target->core_reason != NULL || early;
	if (job->attach_first)
		(void) fc_job_attach_all(job);
	fc_job_report(job, 0, -1, -1, fc_job_partitions_choice(job));
}

static char *
fc_job_leaf_way(const FcJob *job, const FcTask *task)
{
	if (fc_shared_whole_leaves(job->target.shared))
		return "sorted as a whole";
	return psprintf("%u %sslices", task->nslices,
					job->target.plan->order != NIL ? "sorted " : "");
}

/* One row of the report per leaf */
static void
fc_job_report_leaves(FcJob *job)
{
	for (int i = 0; i < job->ntasks;)
	{
		FcReportRow row = {0};
		FcTask	   *first = &job->tasks[i];

		row.phase = FC_PHASE_LOAD;
		row.partition = first->partition;
		row.name = OidIsValid(row.partition) ? get_rel_name(row.partition) : NULL;
		for (; i < job->ntasks && job->tasks[i].part == first->part; i++)
		{
			FcTask	   *task = &job->tasks[i];

			row.rows += job->target.plan->routed ? task->rows : task->loaded;
			row.bytes += task->bytes;
			row.reads += task->reads;
			row.seconds += task->usec / 1e6;
		}
		row.choice = psprintf("%s%s", fc_job_leaf_way(job, first),
							  first->created ? ", new" : "");
		fc_report_add(&row);
	}
}

/* The leader's ring may have been refused, or only a worker's */
static void
fc_job_notice_refusal(FcJob *job)
{
	FcShared   *shared = job->target.shared;
	int			err = pg_atomic_read_u32(&shared->uring_errno);

	if (err == 0 || shared->spill_rows ||
		pg_atomic_read_u64(&shared->mapped_bytes) == pg_atomic_read_u64(&shared->read_bytes))
		return;
	ereport(NOTICE,
			(errmsg("io_uring is not available, read with preadv instead: %s",
					strerror(err)),
			 errdetail("%s", fc_io_uring_why(err))));
}

/* The load's tasks are the leader's again, whatever phase has run since */
static void
fc_job_take_up_tasks(FcJob *job)
{
	job->target.ctx.tasks = job->tasks;
	job->target.shared->ntasks = job->ntasks;
}

static void
fc_job_verify(FcJob *job)
{
	fc_job_take_up_tasks(job);
	fc_load_verify(&job->target.ctx, job->target.ngroups);
}

/* Throws the first bad record's error */
static void
fc_job_throw(FcJob *job)
{
	if (pg_atomic_read_u32(&job->target.shared->stopped) != 0)
		fc_job_apart(job, fc_job_verify);
	fc_rejected_throw(&job->target);
	fc_core_throw(&job->target);
}

static void
fc_job_count_table(Oid table, uint64 rows)
{
	Relation	rel = table_open(table, NoLock);

	pgstat_count_heap_insert(rel, rows);
	table_close(rel, NoLock);
}

/*
 * Counts for the statistics what workers inserted, in this transaction: it
 * may be rolled back, which a worker would not know.
 */
static void
fc_job_count_stats(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->plan->routed)
		return;
	if (target->plan->key_type == FC_KEY_NONE)
		fc_job_count_table(target->oid, pg_atomic_read_u64(&target->shared->loaded));
	for (int i = 0; i < job->ntasks; i++)
		if (OidIsValid(job->tasks[i].partition))
			fc_job_count_table(job->tasks[i].partition, job->tasks[i].loaded);
}

/* What there is to load, and one turn per leaf */
static uint32
fc_job_load_work(FcJob *job, FcWork *work)
{
	FcTarget   *target = &job->target;

	work->nturns = 1;
	if (target->plan->key_type == FC_KEY_NONE)
		target->shared->storage = fc_write_storage(target->rel, target->inflow ?
												   target->expected / FC_RECORD_GUESS : target->found,
												   &job->files);
	else
	{
		if (target->shared->streamed)
			fc_tasks_make_streamed(job);
		else
			fc_tasks_make(job);
		work->tasks = job->tasks;
		work->task_size = sizeof(FcTask);
		work->ntasks = job->ntasks;
		work->nturns = Max(target->ngroups, 1);
	}
	work->turns = palloc0(sizeof(FcTurn) * work->nturns);
	for (uint32 i = 0; i < work->nturns; i++)
	{
		pg_atomic_init_u32(&work->turns[i].next, 0);
		pg_atomic_init_u32(&work->turns[i].block, InvalidBlockNumber);
	}
	if (fc_job_sorts_alone(job))
		return 1;
	return fc_job_reads_chunks(job) ? target->shared->nchunks :
		fc_shared_whole_leaves(target->shared) ? target->ngroups : work->ntasks;
}

/* Which writers wrote the rows */
static const char *
fc_job_writers(FcJob *job)
{
	uint64		paged = pg_atomic_read_u64(&job->target.shared->paged);
	uint64		loaded = pg_atomic_read_u64(&job->target.shared->loaded);

	if (loaded == 0)
		return "";
	if (paged == 0)
		return ", multi_insert";
	return paged == loaded ? ", page" : ", page and multi_insert";
}

/* The order, and how many of the sorts had no room in memory */
static char *
fc_job_sort_way(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	uint32		on_disk = pg_atomic_read_u32(&shared->disk_sorts);
	StringInfoData way;

	initStringInfo(&way);
	if (target->plan->leader_reason)
		appendStringInfo(&way, "in the leader: %s, ", target->plan->leader_reason);
	appendStringInfo(&way, "sorted by %s",
					 fc_sort_keys_text(target->rel, target->plan->order));
	if (fc_job_sorts_alone(job))
		appendStringInfoString(&way, " by one process");
	if (on_disk > 0)
		appendStringInfo(&way, ", %u of %u sorts in temporary files of " UINT64_FORMAT " bytes",
						 on_disk, pg_atomic_read_u32(&shared->sorts),
						 pg_atomic_read_u64(&shared->sort_bytes));
	return way.data;
}

/* How the load went about it, for the report */
static char *
fc_job_load_way(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->plan->order != NIL)
		return fc_job_sort_way(job);
	if (target->plan->leader_reason)
		return psprintf("in the leader: %s", target->plan->leader_reason);
	if (target->shared->streamed)
		return "streamed in key order";
	if (target->plan->key_type != FC_KEY_NONE)
		return "in key order";
	return target->shared->file_order ? "in file order" : "chunk by chunk";
}

/* ... and what came of the records that were not loaded */
static char *
fc_job_load_choice(FcJob *job)
{
	FcShared   *shared = job->target.shared;
	uint64		filtered = pg_atomic_read_u64(&shared->filtered);
	uint64		rejected = pg_atomic_read_u64(&shared->rejected);
	uint64		nulled = pg_atomic_read_u64(&shared->nulled);
	StringInfoData choice;

	initStringInfo(&choice);
	appendStringInfoString(&choice, fc_job_load_way(job));
	appendStringInfoString(&choice, fc_job_writers(job));
	if (filtered > 0)
		appendStringInfo(&choice, ", " UINT64_FORMAT " filtered", filtered);
	if (rejected > 0)
		appendStringInfo(&choice, ", " UINT64_FORMAT " rejected", rejected);
	if (nulled > 0)
		appendStringInfo(&choice, ", " UINT64_FORMAT " with values set to null", nulled);
	return choice.data;
}

/* Whatever the scan passed over or refused is met again by the load */
static void
fc_job_forget_scan(FcJob *job)
{
	FcShared   *shared = job->target.shared;

	SharedFileSetDeleteAll(&shared->fileset);
	pg_atomic_write_u64(&shared->scanned, 0);
	pg_atomic_write_u64(&shared->filtered, 0);
	pg_atomic_write_u64(&shared->rejected, 0);
	pg_atomic_write_u64(&shared->last_rejected, 0);
	pg_atomic_write_u64(&shared->nulled, 0);
	pg_atomic_write_u64(&shared->error_offset, PG_UINT64_MAX);
	/* for errors/reject_file.c it is the load, unless another phase is begun */
	shared->phase = FC_PHASE_LOAD;
}

/*
 * All partitions are there: the key has done its work, and core routes.  A
 * record that was refused stays so, and a row without a partition of its own,
 * which core would put into the default partition.
 */
static void
fc_job_drop_key(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcPlan	   *plan = target->plan;
	FcShared   *shared = target->shared;
	uint64		bad = pg_atomic_read_u64(&shared->error_offset);

	plan->key_type = shared->key_type = FC_KEY_NONE;
	plan->key_routes = shared->key_routes = false;
	plan->routed = shared->routed = true;
	if (target->options->missing == FC_MISSING_ERROR)
		shared->refused = target->route->default_oid;
	fc_job_forget_scan(job);
	/* an error was caught: the load must end with it, or with one before it */
	if (bad != PG_UINT64_MAX && shared->error.kind != FC_ERROR_LIMIT)
		pg_atomic_write_u64(&shared->error_offset, bad);
	fc_job_lock(job);
	fc_job_check_leaves(job);
}

/* The target and all that takes rows stay as they are, old and new tables */
static void
fc_job_hold(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *tables = list_append_unique_oid(fc_job_existing_leaves(job), target->oid);
	ListCell   *lc;

	foreach(lc, tables)
	{
		CHECK_FOR_INTERRUPTS();
		job->held = fc_hold_begin(job->held, lfirst_oid(lc));
	}
	/* where core routes they have been attached, and are among the others */
	for (int i = 0; i < target->ncreated && !target->plan->routed; i++)
	{
		CHECK_FOR_INTERRUPTS();
		job->held = fc_hold_begin(job->held, target->created[i].range.partition);
	}
}

static void
fc_job_let_go(FcJob *job)
{
	fc_hold_end(job->held);
	job->held = NIL;
}

/* The tables written in pages get them */
static void
fc_job_end_files(FcJob *job)
{
	fc_hold_check(job->held);
	fc_new_end(job->files, job->target.options->freeze);
	job->files = NIL;
	CommandCounterIncrement();
}

/* The phase that follows unpacks the files as well */
static void
fc_job_begin_flow(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_streams_flow(&job->intake);
	target->ctx.progress = fc_streams_progress;
	target->ctx.progress_arg = &job->intake;
	target->ctx.lead = job->intake.incoming ? fc_receive_lead : NULL;
	target->ctx.lead_arg = &job->intake;
}

/*
 * So many processes did: behind it all is as if the files had been unpacked and
 * split before, and only what then was left of the phase had been in it
 */
static void
fc_job_end_flow(FcJob *job, FcPhase phase, int processes)
{
	double		alone = job->progress.alone;
	uint64		wal = job->progress.phase_wal;
	instr_time	left;

	job->target.ctx.progress = fc_progress_update;
	job->target.ctx.progress_arg = &job->progress;
	job->target.ctx.lead = NULL;
	fc_streams_flowed(&job->intake, processes);
	left = job->progress.phase_start;
	job->progress.alone = 0;
	fc_progress_begin_phase(&job->progress, FC_PHASE_SPLIT);
	fc_job_report_split(job, 0);
	fc_progress_begin_phase(&job->progress, phase);
	job->progress.phase_start = left;
	job->progress.phase_wal = wal;
	job->progress.alone = alone;
}

static void
fc_job_load(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	Size		memory = shared->memory;
	FcWork		work = {0};
	int			processes;
	uint32		units;

	if (target->plan->key_early && target->plan->key_routes)
		fc_job_drop_key(job);
	fc_job_hold(job);
	units = fc_job_load_work(job, &work);
	if (target->inflow)
		fc_job_begin_flow(job);
	else
		fc_progress_phase(&job->progress, FC_PHASE_LOAD);
	fc_number_reserve(&target->ctx, target->found);
	if (fc_job_sorts_alone(job))
		shared->memory = (Size) fc_memory_kb * 1024;
	processes = fc_job_work(job, FC_PHASE_LOAD, units, &work);
	shared->memory = memory;
	if (target->inflow)
		fc_job_end_flow(job, FC_PHASE_LOAD, processes);
	if (pg_atomic_read_u32(&shared->unordered) != 0)
	{
		fc_job_report(job, processes, -1, -1, "given up: the file is not in key order");
		return;
	}
	fc_job_notice_refusal(job);
	if (pg_atomic_read_u64(&shared->error_offset) != PG_UINT64_MAX)
		fc_job_throw(job);
	if (work.parallel)
		fc_job_count_stats(job);
	fc_job_end_files(job);
	target->loaded = pg_atomic_read_u64(&shared->loaded);
	fc_job_report(job, processes, target->loaded,
				  pg_atomic_read_u64(fc_job_reads_chunks(job) ?
									 &shared->load_bytes : &shared->read_bytes),
				  fc_job_load_choice(job));
	fc_job_report_leaves(job);
	CommandCounterIncrement();
}

/* The file is not in key order after all: as if nothing had been loaded */
static void
fc_job_unstream(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;

	fc_job_end_files(job);
	fc_job_let_go(job);
	for (int i = 0; i < target->ncreated; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* their space is wanted before the transaction ends */
		fc_index_empty(target->created[i].range.partition);
		fc_partition_drop(target->created[i].range.partition);
	}
	CommandCounterIncrement();
	fc_job_forget_scan(job);
	pg_atomic_write_u64(&shared->load_bytes, 0);
	pg_atomic_write_u64(&shared->loaded, 0);
	pg_atomic_write_u64(&shared->paged, 0);
	pg_atomic_write_u32(&shared->parts_done, 0);
	pg_atomic_write_u32(&shared->stopped, 0);
	pg_atomic_write_u32(&shared->unordered, 0);
	target->ctx.stopped = false;
}

/* Nobody may do anything else meanwhile */
static void
fc_job_unpack(FcJob *job)
{
	FcWork		work = {0};
	int			processes;

	fc_job_begin_flow(job);
	processes = fc_job_work(job, FC_PHASE_SPLIT, job->target.shared->nchunks, &work);
	fc_job_end_flow(job, FC_PHASE_SPLIT, processes);
}

/*
 * May chunks be loaded while files are unpacked?  Not if the number of rows is
 * wanted before; and where rows are inserted in turn there must be no gap between chunks.
 */
static bool
fc_job_may_flow(const FcJob *job)
{
	const FcTarget *target = &job->target;

	return target->core_reason == NULL && target->plan->order == NIL &&
		target->shared->nnumbers == 0 &&
		(target->shared->nfiles == 1 || !target->shared->file_order);
}

/* Partitions and their rows, once it is known which ranges of keys there are */
static void
fc_job_fill(FcJob *job)
{
	fc_job_partitions(job);
	if (job->target.inflow && !fc_job_may_flow(job))
		fc_job_unpack(job);
	if (!job->target.core_reason && !job->gives_way)
		fc_job_load(job);
}

/* Every record found was loaded, filtered or rejected, or the load fails */
static void
fc_job_check_conservation(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		scanned = pg_atomic_read_u64(&target->shared->scanned);
	uint64		filtered = pg_atomic_read_u64(&target->shared->filtered);
	uint64		rejected = pg_atomic_read_u64(&target->shared->rejected);

	if (target->found == scanned &&
		target->found == target->loaded + filtered + rejected)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("fast_copy lost count of its rows"),
			 errdetail("The file has " UINT64_FORMAT " records; " UINT64_FORMAT
					   " were scanned, " UINT64_FORMAT " loaded, "
					   UINT64_FORMAT " filtered and " UINT64_FORMAT " rejected.",
					   target->found, scanned, target->loaded, filtered, rejected),
			 errhint("Nothing was loaded. Please report this with the file's first lines.")));
}

/* Rows that went to one leaf */
typedef struct FcLeafRows
{
	Oid			leaf;
	uint64		rows;
} FcLeafRows;

static int
fc_job_leaf_cmp(const void *a, const void *b)
{
	Oid			la = ((const FcLeafRows *) a)->leaf;
	Oid			lb = ((const FcLeafRows *) b)->leaf;

	return la < lb ? -1 : la > lb;
}

/* One entry per leaf loaded, by OID; job->target.ngroups of them */
static FcLeafRows *
fc_job_leaf_rows(FcJob *job)
{
	FcLeafRows *leaves = palloc0(sizeof(FcLeafRows) * (job->target.ngroups + 1));

	for (int i = 0; i < job->ntasks; i++)
	{
		FcTask	   *task = &job->tasks[i];

		leaves[task->part].leaf = task->partition;
		leaves[task->part].rows += task->loaded;
	}
	qsort(leaves, job->target.ngroups, sizeof(FcLeafRows), fc_job_leaf_cmp);
	return leaves;
}

static uint64
fc_job_rows_of(FcJob *job, const FcLeafRows *leaves, Oid leaf)
{
	FcLeafRows	key = {leaf, 0};
	const FcLeafRows *found = bsearch(&key, leaves, job->target.ngroups,
									  sizeof(FcLeafRows), fc_job_leaf_cmp);

	return found ? found->rows : 0;
}

static int
fc_index_task_cmp(const void *a, const void *b)
{
	const FcIndexTask *ta = a;
	const FcIndexTask *tb = b;

	double		ca = ta->rows * ta->weight;
	double		cb = tb->rows * tb->weight;

	return ca > cb ? -1 : ca < cb;
}

/* The column whose values ascend in the new partitions, if there is one */
static AttrNumber
fc_job_order_column(const FcJob *job)
{
	const FcTarget *target = &job->target;
	FcSortKey  *first;

	if (target->plan->order == NIL)
		return target->plan->key_attnum;
	first = linitial(target->plan->order);
	return fc_sort_key_plain(first) ? first->attnum : InvalidAttrNumber;
}

/* Defines the parent's indexes on the new partitions, largest first */
static void
fc_job_define_indexes(FcJob *job)
{
	FcTarget   *target = &job->target;
	int			each = list_length(RelationGetIndexList(target->rel));
	FcLeafRows *leaves = fc_job_leaf_rows(job);
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy indexes",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);

	target->nindexes = 0;
	job->indexes = MemoryContextAllocHuge(old, sizeof(FcIndexTask) *
										  Max((Size) each * target->ncreated, 1));
	for (int i = 0; i < target->ncreated; i++)
	{
		Oid			leaf = target->created[i].range.partition;
		ListCell   *lc;

		CHECK_FOR_INTERRUPTS();
		foreach(lc, fc_index_define(target->rel, leaf, fc_job_order_column(job)))
		{
			FcIndexTask *task = &job->indexes[target->nindexes++];

			*task = *(FcIndexTask *) lfirst(lc);
			task->rows = fc_job_rows_of(job, leaves, leaf);
		}
		MemoryContextReset(mcxt);
		fc_progress_update(&job->progress);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	pfree(leaves);
	qsort(job->indexes, target->nindexes, sizeof(FcIndexTask), fc_index_task_cmp);
	CommandCounterIncrement();
}

/* How indexes were built, for the report */
static char *
fc_job_index_choice(FcJob *job, int led)
{
	int			shared = 0;

	for (int i = 0; i < led; i++)
		shared += job->indexes[i].nhelpers > 0;
	if (shared == 0)
		return psprintf("%d indexes built", job->target.nindexes);
	return psprintf("%d indexes built, %d of them by all processes together",
					job->target.nindexes, shared);
}

static void
fc_job_verify_indexes(FcJob *job)
{
	FcTarget   *target = &job->target;

	for (int i = 0; i < target->ncreated; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_index_empty(target->created[i].range.partition);
	}
	CommandCounterIncrement();
	fc_job_take_up_tasks(job);
	fc_load_verify_indexes(&target->ctx, target->ngroups);
}

/*
 * An index of a new partition cannot be built.  The rows are inserted again,
 * one by one, to find the first that it refuses: COPY's error is about that.
 */
static void
fc_job_throw_index(FcJob *job)
{
	fc_job_apart(job, fc_job_verify_indexes);
	fc_rejected_throw(&job->target);
	fc_core_throw(&job->target);
}

static void
fc_job_index(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	int			led;
	int			processes = 0;

	if (target->ncreated == 0 || job->attach_first)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_INDEX);
	fc_job_define_indexes(job);
	if (target->nindexes == 0)
		return;
	for (int i = 0; i < target->nindexes; i++)
		job->progress.index_cost += fc_index_cost(&job->indexes[i]);
	led = fc_index_plan(job->indexes, target->nindexes, target->nworkers);
	fc_index_lead(&target->ctx, job->indexes, led);
	work.tasks = job->indexes + led;
	work.task_size = sizeof(FcIndexTask);
	work.ntasks = target->nindexes - led;
	if (work.ntasks > 0)
		processes = fc_job_work(job, FC_PHASE_INDEX, work.ntasks, &work);
	if (pg_atomic_read_u64(&target->shared->error_offset) != PG_UINT64_MAX)
		fc_job_throw_index(job);
	for (int i = 0; i < target->nindexes; i++)
	{
		processes = Max(processes, job->indexes[i].nhelpers + 1);
		fc_index_stats(&job->indexes[i]);
	}
	CommandCounterIncrement();
	fc_job_report(job, processes, -1, -1, fc_job_index_choice(job, led));
}

/* A partition stays away if there were no rows for it, or they were left out */
static void
fc_job_drop_empty(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcLeafRows *leaves;
	int			kept = 0;

	if (pg_atomic_read_u64(&target->shared->rejected) == 0 &&
		pg_atomic_read_u64(&target->shared->filtered) == 0 && !target->shared->streamed)
		return;
	leaves = fc_job_leaf_rows(job);
	for (int i = 0; i < target->ncreated; i++)
	{
		FcNewPartition *new = &target->created[i];

		CHECK_FOR_INTERRUPTS();
		if (fc_job_rows_of(job, leaves, new->range.partition) > 0)
			target->created[kept++] = *new;
		else
			fc_partition_drop(new->range.partition);
	}
	pfree(leaves);
	target->ncreated = kept;
	CommandCounterIncrement();
}

static void
fc_job_attach(FcJob *job)
{
	FcTarget   *target = &job->target;
	const char *reason;

	if (target->ncreated == 0 || job->attach_first)
		return;
	fc_job_drop_empty(job);
	if (target->ncreated == 0)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_ATTACH);
	reason = fc_job_attach_all(job);
	if (reason == NULL || target->ncreated == 1)
		fc_job_report(job, 0, -1, -1, psprintf("%d attached", target->ncreated));
	else
		fc_job_report(job, 0, -1, -1, psprintf("%d attached one by one: %s",
											   target->ncreated, reason));
}

/* Leaves that the scan found rows for; without one, all tables of the tree */
static List *
fc_job_analyzed(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *tables = NIL;
	ListCell   *lc;

	if (!target->plan->key_routes || job->parts == NIL)
		return find_all_inheritors(target->oid, NoLock, NULL);
	foreach(lc, job->parts)
	{
		bool		created;
		Oid			leaf = fc_tasks_leaf(job, lfirst(lc), &created);

		if (OidIsValid(leaf))
			tables = lappend_oid(tables, leaf);
	}
	list_sort(tables, list_oid_cmp);
	list_deduplicate_oid(tables);
	return lcons_oid(target->oid, tables);
}

/* Between two tables there is a moment to tell how far it has come */
static void
fc_job_gather(FcJob *job, const List *tables)
{
	ListCell   *lc;

	job->progress.steps = list_length(tables);
	foreach(lc, tables)
	{
		CHECK_FOR_INTERRUPTS();
		fc_statistics_gather(lfirst_oid(lc));
		job->progress.steps_done++;
		fc_progress_update(&job->progress);
	}
}

/*
 * The target is the first to be locked, as in other loads that attach to it,
 * and the leaves follow in the order of their OIDs, so that two such loads
 * wait and do not lock each other out.
 */
static void
fc_job_statistics(FcJob *job)
{
	List	   *tables;

	if (!job->target.options->run_analyze || job->target.rel->rd_rel->relkind == RELKIND_VIEW)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_ANALYZE);
	CommandCounterIncrement();
	tables = fc_job_analyzed(job);
	fc_job_gather(job, tables);
	fc_job_report(job, 0, -1, -1, psprintf("%d tables", list_length(tables)));
}

/* Did the scan meet a record that ends the load, whatever core does with it? */
static bool
fc_job_scan_failed(FcJob *job)
{
	FcErrorKind kind = job->target.shared->error.kind;

	return pg_atomic_read_u64(&job->target.shared->error_offset) != PG_UINT64_MAX &&
		(kind == FC_ERROR_DATA || kind == FC_ERROR_GRAMMAR);
}

/* Tells of the records that were left out, and puts them into reject_table */
static void
fc_job_rejects(FcJob *job)
{
	FcShared   *shared = job->target.shared;
	uint64		rejected = pg_atomic_read_u64(&shared->rejected);
	char	   *name;

	if (rejected == 0 && pg_atomic_read_u64(&shared->nulled) == 0)
		return;
	if (job->progress.shown)
		fc_progress_phase(&job->progress, FC_PHASE_REJECT);
	else
		fc_progress_begin_phase(&job->progress, FC_PHASE_REJECT);
	name = fc_rejected_finish(&job->target);
	if (name)
		fc_job_report(job, 1, rejected, -1, psprintf("job %s", name));
}

/*
 * Core's way.  Missing partitions are found by our scan and attached before;
 * where that is not possible COPY's error says so.
 */
static void
fc_job_copy(FcJob *job)
{
	FcTarget   *target = &job->target;
	bool		failed = fc_job_scan_failed(job);

	ereport(NOTICE,
			(errmsg("rows are loaded one by one, as COPY does: %s",
					target->core_reason)));
	fc_core_check(target);
	fc_job_forget_scan(job);
	fc_progress_end(&job->progress);
	fc_progress_begin_phase(&job->progress, FC_PHASE_COPY);
	pg_atomic_write_u64(&target->shared->load_bytes, 0);
	target->loaded = fc_core_copy(target);
	/* core saw it, too: the error should have been thrown by now */
	if (failed)
		fc_core_throw(target);
	fc_job_report(job, 1, target->loaded, target->source->identity.size,
				  psprintf("core's COPY: %s", target->core_reason));
	fc_job_rejects(job);
}

/* Must the file be scanned before core loads it?  FREEZE will be refused */
static bool
fc_job_core_needs_scan(FcJob *job)
{
	FcTarget   *target = &job->target;

	return target->plan->key_routes && target->options->missing == FC_MISSING_CREATE &&
		!target->options->freeze;
}

/*
 * A scan that had to choose what to spill before there was a file: now it can be
 * seen whether that was right.
 */
static void
fc_job_keep_scan(FcJob *job, char *choice)
{
	bool		rows = job->spill_rows;

	if (!rows && fc_spill_kind == FC_SPILL_AUTO)
		choice = fc_job_choose_spill(job);
	if (job->spill_rows == rows)
	{
		fc_job_end_scan(job, choice);
		return;
	}
	fc_job_forget_scan(job);
	fc_job_scan(job);
}

/* A scan that unpacks the files, too */
static void
fc_job_scan_flow(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	char	   *choice;

	fc_job_route(job);
	choice = fc_job_choose_spill(job);
	fc_job_begin_flow(job);
	target->shared->nscanners = fc_job_work(job, FC_PHASE_SCAN, target->shared->nchunks, &work);
	fc_job_end_flow(job, FC_PHASE_SCAN, target->shared->nscanners);
	if (fc_job_stream(job))
		fc_job_forget_scan(job);
	else
		fc_job_keep_scan(job, choice);
}

/* The records and, where they are wanted and the file is in another order, their keys */
static void
fc_job_find(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->inflow)
	{
		/* without a key it is the load that finds the records */
		if (target->plan->key_type != FC_KEY_NONE)
			fc_job_scan_flow(job);
		return;
	}
	if (!fc_job_core_reads(job))
		fc_job_split(job);
	if (target->plan->key_type == FC_KEY_NONE)
		return;
	fc_job_route(job);
	if (!fc_job_stream(job))
		fc_job_scan(job);
}

static void
fc_job_phases(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->core_reason && !fc_job_core_needs_scan(job))
	{
		/* lines of rejects are counted from the chunks */
		if (target->options->on_error != FC_ON_ERROR_STOP && !fc_job_core_reads(job))
			fc_job_split(job);
		fc_job_copy(job);
		return;
	}
	fc_job_find(job);
	fc_job_fill(job);
	if (pg_atomic_read_u32(&target->shared->unordered) != 0)
	{
		fc_job_unstream(job);
		fc_job_scan(job);
		fc_job_fill(job);
	}
	if (job->gives_way)
		return;
	if (target->core_reason)
	{
		fc_job_copy(job);
		return;
	}
	fc_job_check_conservation(job);
	fc_job_index(job);
	fc_job_let_go(job);
	fc_job_attach(job);
	fc_job_rejects(job);
}

/* Looks at every row, as the load would */
static void
fc_job_check(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	int			processes;

	fc_progress_phase(&job->progress, FC_PHASE_CHECK);
	fc_job_forget_scan(job);
	processes = fc_job_work(job, FC_PHASE_CHECK, target->shared->nchunks, &work);
	target->loaded = pg_atomic_read_u64(&target->shared->loaded);
	fc_job_report(job, processes, target->loaded,
				  target->data_size, "nothing is written");
}

FcJob *
fc_job_analyze(FcOptions *options)
{
	FcJob	   *job = fc_setup_begin(options);
	FcTarget   *target = &job->target;

	fc_setup_job(job);
	if (!job->progress.reporting)
		fc_report_start();
	job->progress.reporting = true;
	fc_progress_start(&job->progress);
	fc_progress_phase(&job->progress, FC_PHASE_SETUP);
	target->ctx.progress = fc_progress_update;
	target->ctx.progress_arg = &job->progress;
	if (!target->options->format.binary)
		fc_job_split(job);
	if (target->plan->key_type != FC_KEY_NONE)
		fc_job_apart(job, fc_job_scan);
	if (!target->options->format.binary)
		fc_job_apart(job, fc_job_check);
	fc_progress_end(&job->progress);
	return job;
}

/*
 * Ends a load that has written nothing so far, with its lock on the target.  What
 * it has received nobody will send again.
 */
static void
fc_job_give_way(FcJob *job)
{
	Oid			target = job->target.oid;
	dsm_segment *received = job->intake.received ? job->intake.unpacked : NULL;

	fc_progress_end(&job->progress);
	if (received)
		job->intake.unpacked = NULL;
	fc_setup_end(job);
	job->intake.unpacked = received;
	UnlockRelationOid(target, RowExclusiveLock);
}

/* False if it gave way */
static bool
fc_job_load_file(FcJob *job, FcLog *log)
{
	fc_setup_job(job);
	if (!job->progress.reporting)
		fc_report_start();
	job->progress.reporting = true;
	fc_progress_start(&job->progress);
	fc_progress_phase(&job->progress, FC_PHASE_SETUP);
	job->target.ctx.progress = fc_progress_update;
	job->target.ctx.progress_arg = &job->progress;
	fc_job_phases(job);
	if (job->gives_way)
	{
		fc_job_give_way(job);
		return false;
	}
	if (job->intake.cut)
		elog(ERROR, "the error for which the rest was not received is gone");
	fc_job_statistics(job);
	fc_progress_end(&job->progress);
	fc_log_add_up(log, &job->progress);
	fc_setup_end(job);
	return true;
}

/* A load from its beginning; it may change its options */
static FcJob *
fc_job_begin(const FcOptions *options)
{
	FcOptions  *own = palloc(sizeof(FcOptions));

	*own = *options;
	return fc_setup_begin(own);
}

uint64
fc_job_run(FcOptions *options)
{
	FcJob	   *volatile job = NULL;
	FcLog		log;

	fc_log_begin(&log, options);
	PG_TRY();
	{
		job = fc_job_begin(options);
		while (!fc_job_load_file(job, &log))
		{
			FcJob	   *before = job;

			/* nothing of it can be told any more */
			job = NULL;
			fc_partman_lock();
			job = fc_job_begin(options);
			job->intake.unpacked = before->intake.unpacked;
			job->intake.received = before->intake.received;
			job->intake.cut = before->intake.cut;
		}
	}
	PG_CATCH();
	{
		fc_log_failed(&log, job ? &job->progress : NULL);
		PG_RE_THROW();
	}
	PG_END_TRY();
	fc_tell_end(&job->progress);
	fc_log_loaded(&log);
	return job->target.loaded;
}
