/*-------------------------------------------------------------------------
 *
 * index/share.c
 *	  The index phase: which process builds which index.
 *
 *	 tasks, largest first ──► leader: those that only it can build
 *						  ──► leader with helpers: those too large for one
 *						  ──► workers: all others, each of them by one worker
 *
 * Where an index is so large that the other processes would wait for the one
 * that builds it, all of them build it together: core's access methods can do
 * that with helpers, which are workers that only the leader can start.
 *
 * An error of an index build (two rows are equal, an expression fails) ends
 * the phase.  The build knows neither the lines of the rows nor which row is
 * the first in the file that the index refuses.  The leader finds that out, by
 * inserting the rows again (fc_load_verify_indexes).
 *
 * maintenance_work_mem is lowered to the process's share of fast_copy.memory;
 * core restores it with the GUC nest level, on error too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/guc.h"

#include "context/activity.h"
#include "context/pace.h"
#include "errors/first_error.h"
#include "index/build.h"
#include "index/progress_slot.h"
#include "index/share.h"

/* Below this many rows, starting helpers takes longer than they save */
#define FC_DIVIDED_ROWS	200000

/* The share of their time that processes may wait for each other */
#define FC_IDLE_SHARE	0.1

static void
fc_build_limit_memory(const FcShared *shared, int processes)
{
	char		value[32];
	int64		each = Min(maintenance_work_mem, Max(shared->memory / 1024, 1024));

	snprintf(value, sizeof(value), INT64_FORMAT,
			 Min(each * processes, MAX_KILOBYTES));
	(void) set_config_option("maintenance_work_mem", value, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* An index to build, for the body of fc_error_catch */
typedef struct FcBuild
{
	FcContext  *ctx;
	FcIndexTask *task;
} FcBuild;

/*
 * Body of fc_error_catch.  Helpers lock the index, and core logs that lock
 * under the XID of the (sub)transaction.  They cannot assign one, so that the
 * leader does it before.
 */
static void
fc_build_index(void *arg)
{
	FcBuild    *build = arg;
	CommandId	command = GetCurrentCommandId(!build->ctx->in_worker);

	if (build->task->nhelpers > 0)
		(void) GetCurrentTransactionId();
	fc_index_build(build->task);
	build->ctx->disturbed |= command != GetCurrentCommandId(false);
}

/*
 * Builds an index; with helpers in a subtransaction, because after an error
 * only its abort ends them
 */
static void
fc_build_one(FcContext *ctx, FcIndexTask *task)
{
	int			nest = NewGUCNestLevel();
	FcBuild		build = {ctx, task};
	FcProgressSlot slot;
	ErrorData  *edata;

	fc_activity_show(ctx, task->heap);
	fc_build_limit_memory(ctx->shared, task->nhelpers + 1);
	fc_progress_slot_save(&slot);
	edata = task->nhelpers > 0 ? fc_error_catch_undo(ctx, fc_build_index, &build) :
		fc_error_catch(ctx, fc_build_index, &build);
	if (edata)
	{
		fc_error_keep_index(ctx->shared, edata);
		fc_progress_slot_restore(&slot);
		FreeErrorData(edata);
	}
	AtEOXact_GUC(true, nest);
	pg_atomic_fetch_add_u64(&ctx->shared->counts.built, fc_index_cost(task));
	pg_atomic_fetch_add_u32(&ctx->shared->counts.nbuilt, 1);
}

/* Returns the share of time that processes wait for the last one to end */
static double
fc_build_idle(const FcIndexTask *tasks, int ntasks, int processes)
{
	double	   *busy = palloc0(sizeof(double) * processes);
	double		sum = 0;
	double		longest = 0;

	for (int i = 0; i < ntasks; i++)
	{
		double		cost = tasks[i].rows * tasks[i].weight;
		int			next = 0;

		for (int p = 1; p < processes; p++)
			if (busy[p] < busy[next])
				next = p;
		busy[next] += cost;
		longest = Max(longest, busy[next]);
		sum += cost;
	}
	pfree(busy);
	return longest == 0 ? 0 : 1 - sum / (longest * processes);
}

/* Moves tasks[i] ahead of the others */
static void
fc_build_advance(FcIndexTask *tasks, int i)
{
	FcIndexTask task = tasks[i];

	memmove(tasks + 1, tasks, sizeof(FcIndexTask) * i);
	tasks[0] = task;
}

/* Returns the largest index that several processes can build, or -1 */
static int
fc_build_divisible(const FcIndexTask *tasks, int ntasks)
{
	for (int i = 0; i < ntasks; i++)
		if (tasks[i].divisible && tasks[i].rows >= FC_DIVIDED_ROWS)
			return i;
	return -1;
}

int
fc_index_plan(FcIndexTask *tasks, int ntasks, int processes)
{
	int			n = 0;
	int			i;

	for (i = 0; i < ntasks; i++)
		if (tasks[i].leader_only)
			fc_build_advance(tasks + n, i - n), n++;
	while (processes > 1 &&
		   fc_build_idle(tasks + n, ntasks - n, processes) > FC_IDLE_SHARE &&
		   (i = fc_build_divisible(tasks + n, ntasks - n)) >= 0)
	{
		fc_build_advance(tasks + n, i);
		tasks[n++].nhelpers = processes - 1;
	}
	return n;
}

void
fc_index_lead(FcContext *ctx, FcIndexTask *tasks, int ntasks)
{
	/* pins must go: after a failed build the leader empties the tables */
	struct ResourceOwnerData *outer = fc_error_owner_begin();

	fc_pace_enter(ctx);
	for (int i = 0; i < ntasks && !fc_error_beyond(ctx->shared, FC_SOMEWHERE); i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_build_one(ctx, &tasks[i]);
		fc_pace_wait(ctx);
		fc_context_progress(ctx);
	}
	fc_error_owner_end(ctx, outer);
}

void
fc_index_run(FcContext *ctx)
{
	FcIndexTask *tasks = ctx->tasks;
	uint32		i;

	while (!fc_error_beyond(ctx->shared, FC_SOMEWHERE) &&
		   fc_context_take(ctx, ctx->shared->ntasks, &i))
	{
		fc_build_one(ctx, &tasks[i]);
		fc_pace_wait(ctx);
		fc_context_progress(ctx);
	}
}
