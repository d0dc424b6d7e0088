/*-------------------------------------------------------------------------
 *
 * index/build.c
 *	  The index phase: which process builds which index, and how.
 *
 *	tasks, largest first ──► leader: those that only it can build
 *						 ──► leader with helpers: those too large for one
 *						 ──► workers: all others, each of them by one worker
 *
 * Core's index_build writes to the catalogs, which a worker must not do.  The
 * access method's ambuild does not, and is called here without it; the leader
 * takes its counts into pg_class later (fc_index_stats).
 *
 * An error of a build (two rows are equal, an expression fails) ends the
 * phase.  The build knows neither the lines of the rows nor which row is the
 * first in the file that the index refuses.  The leader finds that out by
 * inserting the rows again (fc_verify_load).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "context/process.h"
#include "errors/first_error.h"
#include "index/index.h"

/* Below this many rows, starting helpers takes longer than they save */
#define FC_DIVIDED_ROWS	200000

/* The share of their time that processes may wait for each other */
#define FC_IDLE_SHARE	0.1

void
fc_index_begin_btree(Relation index)
{
	bool		equal_image = _bt_allequalimage(index, false);
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, P_NEW,
											RBM_ZERO_AND_LOCK, NULL);

	Assert(index->rd_rel->relam == BTREE_AM_OID && CheckRelationLockedByMe(index, AccessExclusiveLock, false));
	if (BufferGetBlockNumber(buffer) != BTREE_METAPAGE)
		elog(ERROR, "new index \"%s\" is not empty",
			 RelationGetRelationName(index));
	START_CRIT_SECTION();
	_bt_initmetapage(BufferGetPage(buffer), P_NONE, 0, equal_image);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* What the scan of the heap calls for each row that the index has */
typedef struct FcInsertion
{
	Relation	heap;
	IndexInfo  *info;
	double		entries;
} FcInsertion;

static void
insert_entry(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			 bool alive, void *arg)
{
	FcInsertion *insertion = arg;

	(void) index_insert(index, values, isnull, tid, insertion->heap,
						insertion->info->ii_Unique && alive ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
						false, insertion->info);
	insertion->entries++;
}

/* Does what ambuild does for a B-tree of few rows */
static IndexBuildResult *
build_by_inserts(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	FcInsertion insertion = {heap, info};

	fc_index_begin_btree(index);
	result->heap_tuples = table_index_build_scan(heap, index, info, false, false,
												 insert_entry, &insertion, NULL);
	result->index_tuples = insertion.entries;
	return result;
}

/*
 * Runs ambuild as the table's owner, whose functions the index's expressions
 * may call, and notes what it counted.  ERROR XX000 if the heap has updated
 * rows: a new one cannot, and core would mark the index as unusable for older
 * snapshots.
 */
static void
build_as_owner(Relation heap, Relation index, IndexInfo *info,
			   FcIndexTask *task)
{
	IndexBuildResult *result;
	Oid			userid;
	int			sec_context;
	int			level;

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(heap->rd_rel->relowner,
						   sec_context | SECURITY_RESTRICTED_OPERATION);
	level = NewGUCNestLevel();
	fc_restrict_search_path();

	/* before 17 the build of a B-tree waits until it is on disk */
	result = task->rows <= FC_INDEX_INSERT_ROWS && index->rd_rel->relam == BTREE_AM_OID &&
		RelationNeedsWAL(index) ? build_by_inserts(heap, index, info) :
		index->rd_indam->ambuild(heap, index, info);
	/* the fork to which a crash resets an unlogged index */
	if (index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		!smgrexists(RelationGetSmgr(index), INIT_FORKNUM))
	{
		smgrcreate(RelationGetSmgr(index), INIT_FORKNUM, false);
		log_smgrcreate(&fc_relation_locator(index), INIT_FORKNUM);
		index->rd_indam->ambuildempty(index);
	}

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(userid, sec_context);

	task->heap_tuples = result->heap_tuples;
	task->index_tuples = result->index_tuples;
	if (info->ii_BrokenHotChain)
		fc_throw(ERRCODE_INTERNAL_ERROR, errmsg("found updated rows while building index \"%s\" of a new partition",
												RelationGetRelationName(index)));
}

/* An index to build, for the body of fc_error_catch */
typedef struct FcBuild
{
	FcContext  *ctx;
	FcIndexTask *task;
} FcBuild;

/*
 * Body of fc_error_catch: fills the index, and notes in the task what it
 * counted
 */
static void
build_index(void *arg)
{
	FcBuild    *build = arg;
	FcIndexTask *task = build->task;
	CommandId	command = GetCurrentCommandId(!build->ctx->in_worker);
	Relation	heap;
	Relation	index;
	IndexInfo  *info;

	Assert(!build->ctx->in_worker || !task->leader_only);

	/*
	 * Helpers lock the index, and core logs that lock under the XID of the
	 * (sub)transaction.  They cannot assign one.
	 */
	if (task->nhelpers > 0)
		(void) GetCurrentTransactionId();
	heap = table_open(task->heap, ShareLock);
	index = fc_index_open(heap, task->index, AccessExclusiveLock);
	if (RelationGetNumberOfBlocks(index) > 0)
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("index \"%s\" was built while table \"%s\" was being loaded",
											   RelationGetRelationName(index), RelationGetRelationName(heap)),
				 errhint("Look for such a command in the functions that its indexes call."));
	info = BuildIndexInfo(index);
	Assert(task->nhelpers == 0 || !IsInParallelMode());
	Assert(!task->done && index->rd_index->indrelid == task->heap);
	info->ii_ParallelWorkers = task->nhelpers;
	if (info->ii_ExclusionOps == NULL)
		build_as_owner(heap, index, info, task);
	else if (IsInParallelMode())
		elog(ERROR, "cannot build exclusion constraint \"%s\" in parallel mode",
			 RelationGetRelationName(index));
	else
	{
		/*
		 * A second pass over the heap checks it.  Only core's own function
		 * makes that pass.  It sets the statistics, too.
		 */
		fc_build_index_alone(heap, index, info);
		task->heap_tuples = task->index_tuples = -1;
	}
	task->done = true;
	index_close(index, NoLock);
	table_close(heap, NoLock);
	build->ctx->disturbed |= command != GetCurrentCommandId(false);
}

/*
 * Builds an index; with helpers in a subtransaction, because after an error
 * only its abort ends them
 */
static void
build_one(FcContext *ctx, FcIndexTask *task)
{
	int			nest = NewGUCNestLevel();
	int64		each = Min(maintenance_work_mem, Max(ctx->shared->memory / 1024, 1024));
	FcBuild		build = {ctx, task};
	FcProgressSlot slot;
	ErrorData  *edata;

	Assert(task->nhelpers == 0 || (task->divisible && !ctx->in_worker));
	fc_activity_show(ctx, task->heap);
	/* their share of fast_copy.memory, until the GUC nest level ends */
	(void) set_config_option("maintenance_work_mem",
							 psprintf(INT64_FORMAT, Min(each * (task->nhelpers + 1), MAX_KILOBYTES)),
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	fc_progress_slot_save(&slot);
	edata = task->nhelpers > 0 ? fc_error_catch_undo(ctx, build_index, &build) :
		fc_error_catch(ctx, build_index, &build);
	if (edata)
	{
		fc_error_keep(ctx->shared, FC_ERROR_INDEX, FC_SOMEWHERE, 0, edata);
		FreeErrorData(edata);
	}
	fc_progress_slot_restore(&slot);
	AtEOXact_GUC(true, nest);
	pg_atomic_fetch_add_u64(&ctx->shared->counts.built, fc_index_cost(task));
	pg_atomic_fetch_add_u64(&ctx->shared->counts.nbuilt, 1);
	fc_pace_wait(ctx);
	fc_context_progress(ctx);
}

/* Returns the share of time that processes wait for the last one to end */
static double
idle_share(const FcIndexTask *tasks, int ntasks, int processes)
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
advance_task(FcIndexTask *tasks, int i)
{
	FcIndexTask task = tasks[i];

	memmove(tasks + 1, tasks, sizeof(FcIndexTask) * i);
	tasks[0] = task;
}

/*
 * Where the other processes would wait long for the one that builds a large
 * index, all of them build it together, by access methods that can: with
 * helpers, which are workers that only the leader can start
 */
int
fc_index_plan(FcIndexTask *tasks, int ntasks, int processes)
{
	int			n = 0;
	int			i;

	for (i = 0; i < ntasks; i++)
		if (tasks[i].leader_only)
			advance_task(tasks + n, i - n), n++;
	while (processes > 1 && idle_share(tasks + n, ntasks - n, processes) > FC_IDLE_SHARE)
	{
		/* the largest that several processes can build */
		for (i = n; i < ntasks; i++)
			if (tasks[i].divisible && tasks[i].rows >= FC_DIVIDED_ROWS)
				break;
		if (i == ntasks)
			break;
		advance_task(tasks + n, i - n);
		tasks[n++].nhelpers = processes - 1;
	}
	return n;
}

void
fc_index_lead(FcContext *ctx, FcIndexTask *tasks, int ntasks)
{
	/* pins must go: after a failed build the leader empties the tables */
	struct ResourceOwnerData *outer = fc_error_owner_begin();

	Assert(!IsInParallelMode());
	fc_pace_enter(ctx);
	for (int i = 0; i < ntasks && !fc_error_beyond(ctx->shared, FC_SOMEWHERE); i++)
	{
		CHECK_FOR_INTERRUPTS();
		build_one(ctx, &tasks[i]);
	}
	fc_error_owner_end(ctx, outer);
}

void
fc_index_run(FcContext *ctx)
{
	uint32		i;

	while (!fc_error_beyond(ctx->shared, FC_SOMEWHERE) &&
		   fc_context_take(ctx, ctx->shared->ntasks, &i))
		build_one(ctx, (FcIndexTask *) ctx->tasks + i);
}
