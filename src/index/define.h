/*-------------------------------------------------------------------------
 *
 * index/define.h
 *	  The parent's indexes on a new partition: into the catalog.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INDEX_DEFINE_H
#define FC_INDEX_DEFINE_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* One index to build; lives in shared memory during the phase */
typedef struct FcIndexTask
{
	Oid			heap;
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

/* Leader, after parallel mode: sets pg_class statistics of index and heap. */
extern void fc_index_stats(const FcIndexTask *task);

#endif							/* FC_INDEX_DEFINE_H */
