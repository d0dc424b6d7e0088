/*-------------------------------------------------------------------------
 *
 * partition/index_define.h
 *	  The parent's indexes on a new partition: defined by the leader without
 *	  being built, built by the workers, adopted by ATTACH.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INDEX_DEFINE_H
#define FC_INDEX_DEFINE_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "utils/backend_progress.h"
#include "utils/relcache.h"

/* One index to build; lives in shared memory during the phase */
typedef struct FcIndexTask
{
	Oid			heap;
	Oid			index;
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
 * Leader, before parallel mode: defines on "heap" a copy of every index of
 * "parent", empty and unbuilt.  Returns a list of FcIndexTask *.  Exclusion
 * constraints and parallel-unsafe expressions and predicates are for the
 * leader only.  Rows are in the order of the column "key", if it is valid.
 * The caller has closed "heap".
 */
extern List *fc_index_define(Relation parent, Oid heap, AttrNumber key);

/* Returns how long the build takes, about, as a number that can be added up */
static inline uint64
fc_index_cost(const FcIndexTask *task)
{
	return (uint64) (task->rows * task->weight * 16) + 1;
}

/*
 * Leader or worker: fills the index.  Helpers are for the leader outside of
 * parallel mode only.  Unique violations are ERROR 23505.
 */
extern void fc_index_build(FcIndexTask *task);

/*
 * Leader: takes all rows out of the table and all entries out of its indexes,
 * built or not, so that rows can be inserted into both.
 */
extern void fc_index_empty(Oid heap);

/*
 * Leader: defines and builds the index that "heap", which is a partition of
 * "parent" already, has for this index of the parent.
 */
extern void fc_index_build_partition(Relation parent, Oid parent_index, Oid heap);

/* Leader, after parallel mode: sets pg_class statistics of index and heap. */
extern void fc_index_stats(const FcIndexTask *task);

/*
 * This backend's progress, as other sessions see it.  Core's DDL reports the
 * building of each index, even a TOAST table's empty one, in the same slot
 * that the load reports in: the caller saves the slot before such DDL and
 * restores it after.
 */
typedef struct FcProgressSlot
{
	ProgressCommandType command;
	Oid			target;
	int64		params[PGSTAT_NUM_PROGRESS_PARAM];
} FcProgressSlot;

extern void fc_progress_slot_save(FcProgressSlot *slot);
extern void fc_progress_slot_restore(const FcProgressSlot *slot);

#endif							/* FC_INDEX_DEFINE_H */
