/*-------------------------------------------------------------------------
 *
 * index/index.h
 *	  Indexes of new partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INDEX_INDEX_H
#define FC_INDEX_INDEX_H

#include "utils/backend_progress.h"

#include "context/shared.h"

/*
 * index/define.c
 */

/* One index to build; lives in shared memory during the phase */
typedef struct FcIndexTask
{
	Oid			heap;			/* the first, for oid_cmp() */
	Oid			index;
	Oid			like;			/* the index that it is a copy of */
	uint64		rows;			/* rows loaded */
	double		weight;			/* about how long a row takes; 1 is a row with
								 * an integer, in no order */
	bool		leader_only;	/* cannot be built in a worker */
	bool		divisible;		/* core can build it with workers of its own */
	int			nhelpers;		/* workers that help; 0: one process builds */

	/* results */
	double		heap_tuples;
	double		index_tuples;
	bool		done;
} FcIndexTask;

/*
 * Leader, before parallel mode: defines on "heap", which the caller has
 * closed, a copy of every index of "parent", empty and unbuilt.  If "parent" is
 * no partitioned table, a copy has the name of the index, and is of no
 * constraint.  Returns a list of FcIndexTask *.  Exclusion constraints and
 * parallel-unsafe expressions and predicates are for the leader only.  Rows are
 * in the order of the column "key", if it is valid.
 */
extern List *fc_index_define(Relation parent, Oid heap, AttrNumber key);

/* Returns how long the build takes, about, as a number that can be added up */
static inline uint64
fc_index_cost(const FcIndexTask *task)
{
	return (uint64) (task->rows * task->weight * 16) + 1;
}

/*
 * Leader: defines, and builds, the index that "heap", which is a partition of
 * "parent" already, has for this index of the parent.
 */
extern void fc_index_define_built(Relation parent, Oid parent_index, Oid heap);

/*
 * Opens an index of the relation; ERROR 55006 if code of users has dropped it
 * since the load has found or defined it
 */
extern Relation fc_index_open(Relation rel, Oid index, LOCKMODE mode);

/* Leader, after parallel mode: sets pg_class statistics of index and heap. */
extern void fc_index_stats(const FcIndexTask *task);

/*
 * This backend's progress, as other sessions see it.  Core's DDL reports in
 * the slot of the load the building of each index, even a TOAST table's empty
 * one.  The caller saves the slot before such DDL and restores it after.
 */
typedef struct FcProgressSlot
{
	ProgressCommandType command;
	Oid			target;
	int64		params[PGSTAT_NUM_PROGRESS_PARAM];
} FcProgressSlot;

extern void fc_progress_slot_save(FcProgressSlot *slot);
extern void fc_progress_slot_restore(const FcProgressSlot *slot);

/*
 * index/build.c
 */

/* Rows of a B-tree that are inserted one by one, at most */
#define FC_INDEX_INSERT_ROWS	256

/* Is an index of this number of rows on disk before it is built? */
static inline bool
fc_index_is_synced(double rows)
{
	return FC_CORE_SYNCS_INDEXES && enableFsync && rows > FC_INDEX_INSERT_ROWS;
}

/* Each process: builds indexes of new partitions until none is left */
extern void fc_index_run(FcContext *ctx);

/*
 * Leader, before fc_index_run: given tasks in falling order of cost, puts
 * first those that it builds itself, alone or with helpers, and returns their
 * number.
 */
extern int	fc_index_plan(FcIndexTask *tasks, int ntasks, int processes);

/* Leader, outside of parallel mode: builds what fc_index_plan put first */
extern void fc_index_lead(FcContext *ctx, FcIndexTask *tasks, int ntasks);

/*
 * Writes the one page that a B-tree has before its first row, without a wait
 * for the disk.  The index is new, and its file empty.
 */
extern void fc_index_begin_btree(Relation index);

#endif							/* FC_INDEX_INDEX_H */
