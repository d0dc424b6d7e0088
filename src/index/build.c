/*-------------------------------------------------------------------------
 *
 * index/build.c
 *	  Fills an index of a new partition, in any process.
 *
 * Core's index_build writes to the catalogs, which a worker must not do; the
 * access method's ambuild does not, and is called here without it.  Few rows
 * are inserted into a B-tree one by one.  What the build counted the leader
 * takes into pg_class later (fc_index_stats).
 *
 * An error of the build goes to the caller with user, settings and progress as
 * they are then: the caller's (sub)transaction ends, and restores them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "index/build.h"
#include "index/progress_slot.h"

/* Rows of a B-tree that are inserted one by one, at most */
#define FC_INSERT_ROWS	256

void
fc_index_begin_btree(Relation index)
{
	bool		equal_image = _bt_allequalimage(index, false);
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, P_NEW,
											RBM_ZERO_AND_LOCK, NULL);

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

/* Writes the init fork, to which a crash resets an unlogged index */
static void
build_init_fork(Relation index)
{
	if (index->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED ||
		smgrexists(RelationGetSmgr(index), INIT_FORKNUM))
		return;
	smgrcreate(RelationGetSmgr(index), INIT_FORKNUM, false);
	fc_log_smgrcreate(index, INIT_FORKNUM);
	index->rd_indam->ambuildempty(index);
}

/*
 * Is the index to be filled row by row?  Before 17 the build of a B-tree waits
 * until it is on disk, which takes longer than to insert some hundred rows.
 * Later versions go the same way.
 */
static bool
is_small_btree(Relation index, const FcIndexTask *task)
{
	return task->rows <= FC_INSERT_ROWS && index->rd_rel->relam == BTREE_AM_OID &&
		RelationNeedsWAL(index);
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
 * Runs ambuild as the table's owner, because the index's expressions may call
 * the owner's functions, and notes what it counted.
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

	result = is_small_btree(index, task) ? build_by_inserts(heap, index, info) :
		index->rd_indam->ambuild(heap, index, info);
	build_init_fork(index);

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(userid, sec_context);

	task->heap_tuples = result->heap_tuples;
	task->index_tuples = result->index_tuples;
}

/*
 * ERROR XX000 if the heap has updated rows.  Core would mark the index in the
 * catalog as unusable for older snapshots.  A new heap cannot have such rows.
 */
static void
check_no_updates(Relation index, const IndexInfo *info)
{
	if (info->ii_BrokenHotChain)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("found updated rows while building index \"%s\" of a new partition",
						RelationGetRelationName(index))));
}

/*
 * Builds an exclusion constraint, which a second pass over the heap checks.
 * Only core's own function makes that pass.  It sets the statistics, too.
 */
static void
build_exclusion(Relation heap, Relation index, IndexInfo *info,
				FcIndexTask *task)
{
	if (IsInParallelMode())
		elog(ERROR, "cannot build exclusion constraint \"%s\" in parallel mode",
			 RelationGetRelationName(index));
	fc_build_index_alone(heap, index, info);
	task->heap_tuples = -1;
	task->index_tuples = -1;
}

void
fc_index_build(FcIndexTask *task)
{
	Relation	heap = table_open(task->heap, ShareLock);
	Relation	index = index_open(task->index, AccessExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);
	FcProgressSlot slot;

	info->ii_ParallelWorkers = task->nhelpers;
	fc_progress_slot_save(&slot);
	if (info->ii_ExclusionOps != NULL)
		build_exclusion(heap, index, info, task);
	else
	{
		build_as_owner(heap, index, info, task);
		check_no_updates(index, info);
	}
	fc_progress_slot_restore(&slot);
	task->done = true;

	index_close(index, NoLock);
	table_close(heap, NoLock);
}
