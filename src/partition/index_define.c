/*-------------------------------------------------------------------------
 *
 * partition/index_define.c
 *	  The parent's indexes on a new partition.
 *
 * ATTACH PARTITION builds what the partition lacks, one index after another
 * and under its locks.  To build them in the workers instead, the work of
 * CREATE INDEX is cut in three:
 *
 *		define	leader		catalog rows and an empty file (DefineIndex, build
 *							skipped)
 *		build	worker		the access method's ambuild, or inserts of few rows
 *		stats	leader		what ambuild counted, into pg_class
 *
 * A worker must not write to the catalogs, and ambuild does not.  Until the
 * build the index is valid in the catalog but empty, which only this
 * transaction can see; an error takes table and index with it.  ATTACH then
 * finds an index equal to each of the parent's and adopts it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "catalog/storage.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "parser/parse_utilcmd.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "partition/empty_table.h"
#include "partition/index_define.h"

/* Rows of a B-tree that are inserted one by one, at most */
#define FC_INSERT_ROWS	256

/* The command stays invalid where a process reports nothing, as in workers */
void
fc_progress_slot_save(FcProgressSlot *slot)
{
	slot->command = PROGRESS_COMMAND_INVALID;
	if (MyBEEntry == NULL || !pgstat_track_activities)
		return;
	slot->command = MyBEEntry->st_progress_command;
	slot->target = MyBEEntry->st_progress_command_target;
	memcpy(slot->params, MyBEEntry->st_progress_param, sizeof(slot->params));
}

void
fc_progress_slot_restore(const FcProgressSlot *slot)
{
	int			numbers[PGSTAT_NUM_PROGRESS_PARAM];
	int			i;

	if (slot->command == PROGRESS_COMMAND_INVALID)
		return;
	for (i = 0; i < PGSTAT_NUM_PROGRESS_PARAM; i++)
		numbers[i] = i;
	pgstat_progress_start_command(slot->command, slot->target);
	pgstat_progress_update_multi_param(PGSTAT_NUM_PROGRESS_PARAM, numbers,
									   slot->params);
}

/* Are all functions of the index's expressions and predicate parallel safe? */
static bool
expressions_parallel_safe(IndexInfo *info)
{
	Query	   *query = makeNode(Query);
	ListCell   *lc;

	query->commandType = CMD_SELECT;
	foreach(lc, info->ii_Expressions)
		query->targetList = lappend(query->targetList,
									makeTargetEntry(lfirst(lc), 1, NULL, false));
	query->jointree = makeFromExpr(NIL,
								   (Node *) make_ands_explicit(info->ii_Predicate));
	return max_parallel_hazard(query) == PROPARALLEL_SAFE;
}

/* Defines on "heap" an index like "parent_index"; returns its OID */
static Oid
define_like(Relation parent, Relation parent_index, Oid heap)
{
	Relation	rel = table_open(heap, NoLock);
	AttrMap    *map = fc_build_attrmap(RelationGetDescr(rel),
									   RelationGetDescr(parent));
	IndexStmt  *stmt = generateClonedIndexStmt(NULL, parent_index, map, NULL);
	ObjectAddress address;

	table_close(rel, NoLock);
	address = fc_define_index_unbuilt(heap, stmt);
	CommandCounterIncrement();
	return address.objectId;
}

void
fc_index_build_partition(Relation parent, Oid parent_index, Oid heap)
{
	Relation	rel = table_open(heap, NoLock);
	Relation	index = index_open(parent_index, AccessShareLock);
	AttrMap    *map = fc_build_attrmap(RelationGetDescr(rel),
									   RelationGetDescr(parent));
	Oid			constraint;
	IndexStmt  *stmt = generateClonedIndexStmt(NULL, index, map, &constraint);

	index_close(index, NoLock);
	table_close(rel, NoLock);
	fc_define_index_of(heap, stmt, parent_index, constraint);
	CommandCounterIncrement();
}

/*
 * Returns how long a row takes, about.  Ratios are measured, and rounded:
 * tuplesort finds what is sorted already in one pass, and text is compared by
 * its collation.
 */
static double
weight_of_index(Relation index, AttrNumber key)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), 0);

	switch (index->rd_rel->relam)
	{
		case BTREE_AM_OID:
			if (AttributeNumberIsValid(key) &&
				index->rd_index->indkey.values[0] == key)
				return 0.5;
			return att->attbyval ? 1 : att->attlen > 0 ? 2 : 4;
		case BRIN_AM_OID:
			return 0.25;
		case HASH_AM_OID:
			return 1;
		default:
			return 6;
	}
}

static FcIndexTask *
task_of_index(Relation parent, Relation parent_index, Oid heap)
{
	FcIndexTask *task = palloc0(sizeof(FcIndexTask));

	task->heap = heap;
	task->leader_only = parent_index->rd_index->indisexclusion ||
		!expressions_parallel_safe(BuildIndexInfo(parent_index));
	task->index = define_like(parent, parent_index, heap);
	return task;
}

/*
 * The parent may have indexes that are not partitioned, left by a failed
 * CREATE INDEX CONCURRENTLY or the like; ATTACH passes over them as well.  An
 * invalid partitioned index (ON ONLY) is treated as any other.
 */
List *
fc_index_define(Relation parent, Oid heap, AttrNumber key)
{
	List	   *tasks = NIL;
	List	   *indexes = RelationGetIndexList(parent);
	FcProgressSlot slot;
	ListCell   *lc;

	fc_progress_slot_save(&slot);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		{
			FcIndexTask *task = task_of_index(parent, index, heap);

			task->weight = weight_of_index(index, key);
			task->divisible = !task->leader_only &&
				fc_am_builds_in_parallel(index->rd_rel->relam);
			tasks = lappend(tasks, task);
		}
		index_close(index, NoLock);
	}
	fc_progress_slot_restore(&slot);
	list_free(indexes);
	return tasks;
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
 * Core would mark an index over updated rows, in the catalog, as unusable for
 * older snapshots.  There cannot be such rows: the heap is new.
 */
static void
check_nothing_left(Relation index, const IndexInfo *info)
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
	index_build(heap, index, info, false, false);
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
		check_nothing_left(index, info);
	}
	fc_progress_slot_restore(&slot);
	task->done = true;

	index_close(index, NoLock);
	table_close(heap, NoLock);
}

void
fc_index_empty(Oid heap)
{
	Relation	rel = table_open(heap, AccessExclusiveLock);
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	heap_truncate_one_rel(rel);
	fc_progress_slot_restore(&slot);
	table_close(rel, NoLock);
}

void
fc_index_stats(const FcIndexTask *task)
{
	Relation	heap;
	Relation	index;
	BlockNumber all_visible;
	BlockNumber all_frozen;

	if (task->index_tuples < 0)
		return;
	heap = table_open(task->heap, AccessShareLock);
	index = index_open(task->index, AccessShareLock);
	visibilitymap_count(heap, &all_visible, &all_frozen);
	fc_set_relstats(heap, RelationGetNumberOfBlocks(heap), task->heap_tuples,
					all_visible, all_frozen);
	fc_set_relstats(index, RelationGetNumberOfBlocks(index),
					task->index_tuples, 0, 0);
	index_close(index, NoLock);
	table_close(heap, NoLock);
}
