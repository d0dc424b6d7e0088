/*-------------------------------------------------------------------------
 *
 * phase/worker.c
 *	  Runs a phase in parallel workers, or in the leader.
 *
 * Each phase has a parallel context of its own, because between phases the
 * leader does DDL, which parallel mode forbids.  What must outlive a phase
 * (the chunks, the counters, the spill files) is in the job's own segment,
 * which workers attach by its handle.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "catalog/pg_control.h"
#include "executor/instrument.h"
#include "storage/ipc.h"

#include "context/process.h"
#include "heap/writer.h"
#include "index/index.h"
#include "intake/chunks.h"
#include "phase/phases.h"

#define FC_KEY_ARGS		UINT64CONST(0xFC00000000000001)
#define FC_KEY_TASKS	UINT64CONST(0xFC00000000000002)
#define FC_KEY_TURNS	UINT64CONST(0xFC00000000000003)
#define FC_KEY_USAGE	UINT64CONST(0xFC00000000000004)

#define FC_POLL_MS		100		/* how often the leader shows progress */

typedef struct FcWorkerArgs
{
	dsm_handle	segment;
	FcOrigin	origin;			/* replication origin of the session */
} FcWorkerArgs;

/* What a worker used; it is counted as the leader's */
typedef struct FcUsage
{
	BufferUsage buffers;
	WalUsage	wal;
	CommandId	command;		/* after all that it has stored */
} FcUsage;

PGDLLEXPORT void fc_worker_main(dsm_segment *seg, shm_toc *toc);

/* What a process does in the phases that run in workers */
static void (*const fc_worker_phases[FC_NPHASES]) (FcContext *ctx) = {
	[FC_PHASE_SPLIT] = fc_chunks_split,
	[FC_PHASE_SCAN] = fc_scan_run,
	[FC_PHASE_REPLACE] = fc_existing_run,
	[FC_PHASE_LOAD] = fc_load_run,
	[FC_PHASE_CHECK] = fc_load_run,
	[FC_PHASE_INDEX] = fc_index_run
};

/*
 * Runs this process's part of a phase, with its own resource owner.  A worker
 * that cannot open the source leaves all to others.
 */
static void
fc_worker_phase(FcContext *ctx)
{
	struct ResourceOwnerData *outer = fc_error_owner_begin();
	FcPhase		phase = ctx->shared->phase;

	/* of the phase unpack fc_hand_begin and fc_hand_end do all */
	if (fc_worker_phases[phase] == NULL && phase != FC_PHASE_UNPACK)
		elog(ERROR, "phase %d does not run in workers", phase);
	if (ctx->source && fc_hand_begin(ctx))
	{
		/* files of processes are found by numbers from 0 on, without gaps */
		ctx->worker = pg_atomic_fetch_add_u32(&ctx->shared->working, 1);
		Assert(ctx->worker >= 0 && ctx->worker < ctx->shared->nprocesses);
		if (fc_worker_phases[phase])
			fc_worker_phases[phase] (ctx);
		fc_hand_end(ctx);
		fc_pace_wait(ctx);
		fc_reject_end(ctx);
	}
	Assert(ctx->hand == NULL && !ctx->evaluating && CritSectionCount == 0);
	fc_error_owner_end(ctx, outer);
}

void
fc_worker_context_begin(FcContext *ctx, FcShared *shared)
{
	FcSource   *source;

	memset(ctx, 0, sizeof(FcContext));
	ctx->shared = shared;
	/* fc_hand_begin goes by it, before the phase numbers its processes */
	ctx->worker = Max(ParallelWorkerNumber, 0);
	ctx->in_worker = IsParallelWorker();
	fc_pace_enter(ctx);
	ctx->mcxt = fc_context_memory(CurrentMemoryContext, "phase");
	if (!ctx->in_worker)
		return;
	ctx->command = GetCurrentCommandId(false);
	/* the files as the leader has seen them */
	source = fc_source_attach(fc_shared_files(shared), shared->source.nfiles,
							  fc_shared_names(shared), shared->source.programs,
							  fc_shared_copies(shared), shared->source.ncopies,
							  fc_shared_extents(shared));
	source->ring = fc_shared_ring(shared);
	source->grows = (shared->source.room > 0 || source->ring);
	if (fc_source_hold(source))
		ctx->source = source;
	else
		fc_source_close(source);
	ctx->target = table_open(shared->target, RowExclusiveLock);
}

void
fc_worker_context_end(FcContext *ctx)
{
	Assert(ctx->deferred == NIL && ctx->rejects == NULL);
	if (ctx->in_worker)
	{
		table_close(ctx->target, NoLock);
		if (ctx->source)
			fc_source_close(ctx->source);
	}
	MemoryContextDelete(ctx->mcxt);
}

/*
 * A worker ends with its phase, and needs again what it frees.  A page that is
 * given back to the kernel costs more when it is taken the next time than most
 * that is done with its bytes.
 */
static void
fc_worker_keep_memory(void)
{
#ifdef __GLIBC__
	/* the most that glibc takes; no block of a memory context is larger */
	(void) mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
	(void) mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

void
fc_worker_main(dsm_segment *seg, shm_toc *toc)
{
	FcWorkerArgs *args = shm_toc_lookup(toc, FC_KEY_ARGS, false);
	FcUsage    *usage = shm_toc_lookup(toc, FC_KEY_USAGE, false);
	dsm_segment *segment = dsm_attach(args->segment);
	FcShared   *shared;
	FcContext	ctx;
	MemoryContext old;

	fc_worker_keep_memory();
	if (segment == NULL)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("could not map dynamic shared memory segment"));

	/*
	 * logical decoding filters by origin, and a worker's rows must have the
	 * commit's, which is the leader's
	 */
	fc_session_origin = args->origin;
	shared = dsm_segment_address(segment);
	SharedFileSetAttach(&shared->fileset, segment);
	fc_worker_context_begin(&ctx, shared);
	ctx.tasks = shm_toc_lookup(toc, FC_KEY_TASKS, true);
	ctx.turns = shm_toc_lookup(toc, FC_KEY_TURNS, true);
	old = MemoryContextSwitchTo(ctx.mcxt);
	fc_activity_show(&ctx, InvalidOid);
	InstrStartParallelQuery();
	fc_worker_phase(&ctx);
	usage += ParallelWorkerNumber;
	InstrEndParallelQuery(&usage->buffers, &usage->wal);
	usage->command = GetCurrentCommandId(false);
	shared->ended[ParallelWorkerNumber] = fc_pace_clock();
	MemoryContextSwitchTo(old);
	fc_worker_context_end(&ctx);
	dsm_detach(segment);
}

/*
 * The leader does the work.  If the command id has moved afterwards, code that
 * it called for a row or an index has run commands, and may even have written
 * to a new partition.  In the phases load and index the id is marked as used
 * before: each such command takes a new one.
 */
static void
fc_worker_alone(FcContext *ctx)
{
	CommandId	command = GetCurrentCommandId(ctx->shared->phase == FC_PHASE_LOAD ||
											  ctx->shared->phase == FC_PHASE_INDEX);

	Assert(!IsParallelWorker() && !IsInParallelMode() && ctx->workers == NULL);
	fc_worker_phase(ctx);
	while (fc_context_lead(ctx))
		;
	ctx->disturbed |= command != GetCurrentCommandId(false);
}

/*
 * Body of fc_error_apart: returns false, to have the phase's work undone, if a
 * bad record is known or a presorted file is in another order
 */
static bool
fc_worker_apart(void *arg)
{
	FcContext  *ctx = arg;

	fc_worker_alone(ctx);
	return !fc_error_beyond(ctx->shared, PG_UINT64_MAX - 1) &&
		pg_atomic_read_u32(&ctx->shared->mistaken) == 0;
}

/* Runs the phase in the leader, with memory of its own */
static void
fc_worker_lead(FcContext *ctx, FcWork *work)
{
	MemoryContext outer = ctx->mcxt;
	MemoryContext old;

	ctx->mcxt = fc_context_memory(outer, "phase");
	old = MemoryContextSwitchTo(ctx->mcxt);
	ctx->tasks = work->tasks;
	ctx->turns = work->turns;
	if (ctx->apart)
		fc_error_apart(ctx, fc_worker_apart, ctx);
	else
		fc_worker_alone(ctx);
	/* also if fc_error_take has ended the phase */
	if (ctx->turns)
		ctx->shared->done = pg_atomic_read_u32(&ctx->turns[0].next);
	ctx->turns = NULL;
	Assert(CurrentMemoryContext == ctx->mcxt && ctx->counted == NULL);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(ctx->mcxt);
	ctx->mcxt = outer;
	/* these were in that memory, and the phase may run again */
	slist_init(&ctx->free_batches);
	ctx->hand = NULL;
	ctx->deferred = NIL;
	ctx->deferred_bytes = 0;
}

/* Gives the workers a copy of "size" bytes, unless that is 0 */
static void
fc_worker_give(ParallelContext *pcxt, uint64 key, const void *bytes, Size size)
{
	if (size > 0)
		shm_toc_insert(pcxt->toc, key, memcpy(shm_toc_allocate(pcxt->toc, size), bytes, size));
}

static ParallelContext *
fc_worker_context(dsm_segment *segment, int nworkers, const FcWork *work)
{
	ParallelContext *pcxt;
	FcWorkerArgs args = {dsm_segment_handle(segment), fc_session_origin};
	Size		usage_size = sizeof(FcUsage) * nworkers;
	Size		tasks_size = work->task_size * work->ntasks;
	Size		turns_size = sizeof(FcTurn) * work->nturns;

	pcxt = CreateParallelContext("fast_copy", "fc_worker_main", nworkers);
	shm_toc_estimate_chunk(&pcxt->estimator, sizeof(FcWorkerArgs));
	shm_toc_estimate_chunk(&pcxt->estimator, tasks_size);
	shm_toc_estimate_chunk(&pcxt->estimator, turns_size);
	shm_toc_estimate_chunk(&pcxt->estimator, usage_size);
	shm_toc_estimate_keys(&pcxt->estimator, 4);
	InitializeParallelDSM(pcxt);

	fc_worker_give(pcxt, FC_KEY_ARGS, &args, sizeof(args));
	fc_worker_give(pcxt, FC_KEY_USAGE, palloc0(usage_size), usage_size);
	fc_worker_give(pcxt, FC_KEY_TASKS, work->tasks, tasks_size);
	fc_worker_give(pcxt, FC_KEY_TURNS, work->turns, turns_size);
	return pcxt;
}

/* Does any worker still run, by its message queue? */
static bool
fc_workers_active(ParallelContext *pcxt)
{
	for (int i = 0; i < pcxt->nworkers_launched; i++)
		if (pcxt->worker[i].error_mqh != NULL)
			return true;
	return false;
}

/*
 * Logical decoding must know that a subtransaction is one before it sees a row
 * of it.  The leader's first record in it also names the top-level
 * transaction; workers do not know that theirs is a subtransaction, and never
 * name it.
 */
static void
fc_workers_log_subtransaction(void)
{
	char		nothing = 0;

	if (!IsSubxactTopXidLogPending())
		return;
	XLogBeginInsert();
	XLogRegisterData(&nothing, sizeof(nothing));
	(void) XLogInsert(RM_XLOG_ID, XLOG_NOOP);
}

/*
 * Waits until all workers have started; ERROR if one could not.  Core's
 * function alone does not sleep once the postmaster has made the process, and
 * takes the processor that the worker needs.
 */
static void
fc_workers_meet(ParallelContext *pcxt)
{
	for (int i = 0; i < pcxt->nworkers_launched; i++)
	{
		ParallelWorkerInfo *worker = &pcxt->worker[i];
		pid_t		pid;

		/* it has neither sent anything yet nor ended */
		while (worker->error_mqh != NULL &&
			   shm_mq_get_sender(shm_mq_get_queue(worker->error_mqh)) == NULL &&
			   GetBackgroundWorkerPid(worker->bgwhandle, &pid) != BGWH_STOPPED)
			fc_pace_sleep(FC_POLL_MS, fc_wait_event(FC_WAIT_WORKERS));
	}
	WaitForParallelWorkersToAttach(pcxt);
}

/* Terminates all workers, and waits for their ends.  Does not throw. */
static void
fc_workers_stop(ParallelContext *pcxt)
{
	HOLD_INTERRUPTS();
	for (int i = 0; i < pcxt->nworkers_launched; i++)
	{
		ParallelWorkerInfo *worker = &pcxt->worker[i];

		if (worker->error_mqh == NULL)
			continue;
		TerminateBackgroundWorker(worker->bgwhandle);
		/* a worker may be waiting for room for a message */
		shm_mq_detach(worker->error_mqh);
		worker->error_mqh = NULL;
	}
	for (int i = 0; i < pcxt->nworkers_launched; i++)
		if (pcxt->worker[i].bgwhandle != NULL)
			(void) WaitForBackgroundWorkerShutdown(pcxt->worker[i].bgwhandle);
	RESUME_INTERRUPTS();
}

/* The share of the phase, at its end, in which only one worker ran */
static double
fc_worker_alone_share(const FcShared *shared, int nworkers)
{
	int64		last = shared->started;
	int64		before = shared->started;

	for (int i = 0; i < nworkers; i++)
	{
		before = Max(before, Min(last, shared->ended[i]));
		last = Max(last, shared->ended[i]);
	}
	return last == shared->started ? 0 :
		(double) (last - before) / (last - shared->started);
}

/*
 * Waits for all workers, and meanwhile does what only the leader can do.
 * CHECK_FOR_INTERRUPTS re-throws an error of a worker.
 */
static void
fc_workers_wait(FcContext *ctx, ParallelContext *pcxt)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (ctx->turns && fc_shared_routed(ctx->shared))
			fc_leaf_lock_found(ctx);
		fc_context_progress(ctx);
		if (!fc_workers_active(pcxt))
			break;
		if (ctx->idle == NULL || !ctx->idle(ctx->idle_arg))
			fc_pace_sleep(FC_POLL_MS, fc_wait_event(FC_WAIT_WORKERS));
	}
	WaitForParallelWorkersToFinish(pcxt);
}

/*
 * After an error, or before the process exits: stops the workers, and counts
 * the rows that they have inserted (heap/count.c)
 */
static void
fc_worker_failed(int code, Datum arg)
{
	FcContext  *ctx = (FcContext *) DatumGetPointer(arg);

	fc_workers_stop(ctx->workers);
	fc_count_take(ctx, false);
}

/* Starts the workers, and does the leader's part until they have ended */
static void
fc_worker_attend(FcContext *ctx, ParallelContext *pcxt)
{
	Assert(!IsParallelWorker() && IsInParallelMode() && ctx->counted == NULL);
	ctx->workers = pcxt;
	ctx->turns = shm_toc_lookup(pcxt->toc, FC_KEY_TURNS, true);
	for (uint32 i = 0; ctx->turns && i < ctx->shared->nturns; i++)
		if (OidIsValid((Oid) pg_atomic_read_u64(&ctx->turns[i].leaf)))
			fc_count_open(ctx, i);
	PG_ENSURE_ERROR_CLEANUP(fc_worker_failed, PointerGetDatum(ctx));
	{
		/* they may write WAL */
		fc_workers_log_subtransaction();
		LaunchParallelWorkers(pcxt);
		fc_workers_meet(pcxt);
		if (pcxt->nworkers_launched > 0)
		{
			while (fc_context_lead(ctx))
				;
			fc_workers_wait(ctx, pcxt);
		}
	}
	PG_END_ENSURE_ERROR_CLEANUP(fc_worker_failed, PointerGetDatum(ctx));
	fc_count_take(ctx, true);
}

/*
 * After a worker has stored long values under later command ids than the
 * leader's: takes this one, so that later commands can delete the values
 */
static void
fc_worker_follow(CommandId command)
{
	for (CommandId id = GetCurrentCommandId(false); id < command; id = GetCurrentCommandId(true))
	{
		CHECK_FOR_INTERRUPTS();
		CommandCounterIncrement();
	}
}

/* Runs the phase in workers; 0 if none could be started, or open the source */
static int
fc_worker_parallel(FcContext *ctx, dsm_segment *segment, int nworkers,
				   FcWork *work)
{
	ParallelContext *pcxt;
	CommandId	command = FirstCommandId;
	int			launched;

	/* workers assign no XID, and their rows are of the leader's command */
	if (ctx->shared->phase == FC_PHASE_LOAD || ctx->shared->phase == FC_PHASE_INDEX)
	{
		(void) GetCurrentTransactionId();
		(void) GetCurrentCommandId(true);
	}
	EnterParallelMode();
	pcxt = fc_worker_context(segment, nworkers, work);
	fc_worker_attend(ctx, pcxt);
	launched = pcxt->nworkers_launched;
	if (launched > 0)
	{
		FcUsage    *usage = shm_toc_lookup(pcxt->toc, FC_KEY_USAGE, false);

		/* counted as the leader's, as parallel queries do */
		for (int i = 0; i < launched; i++)
		{
			InstrAccumParallelQuery(&usage[i].buffers, &usage[i].wal);
			command = Max(command, usage[i].command);
		}
		work->alone = fc_worker_alone_share(ctx->shared, launched);
		launched = pg_atomic_read_u32(&ctx->shared->working);
		Assert(launched >= 0 && launched <= pcxt->nworkers_launched);
		if (work->ntasks > 0)
			memcpy(work->tasks, shm_toc_lookup(pcxt->toc, FC_KEY_TASKS, false),
				   work->task_size * work->ntasks);
	}
	if (ctx->turns)
		ctx->shared->done = pg_atomic_read_u32(&ctx->turns[0].next);
	DestroyParallelContext(pcxt);
	ExitParallelMode();
	fc_worker_follow(command);
	ctx->turns = NULL;
	ctx->workers = NULL;
	return launched;
}

int
fc_worker_run(FcContext *ctx, dsm_segment *segment, FcPhase phase,
			  int nworkers, FcWork *work)
{
	FcShared   *shared = ctx->shared;
	int			launched = 0;

	Assert(!IsInParallelMode());
	/* in memory of its own a process works alone */
	if (segment == NULL)
		nworkers = 0;
	shared->phase = phase;
	shared->ntasks = work->ntasks;
	shared->nturns = work->nturns;
	shared->nprocesses = Max(nworkers, 1);
	shared->started = fc_pace_clock();
	memset(shared->ended, 0, sizeof(shared->ended));
	pg_atomic_write_u32(&shared->next, 0);
	pg_atomic_write_u32(&shared->working, 0);
	Assert(nworkers <= FC_MAX_WORKERS && (work->ntasks == 0 || work->tasks != NULL));
	fc_pace_enter(ctx);
	if (nworkers > 0)
		launched = fc_worker_parallel(ctx, segment, nworkers, work);
	work->parallel = launched > 0;
	if (launched > 0)
		return launched;
	fc_worker_lead(ctx, work);
	return 1;
}
