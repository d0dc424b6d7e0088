/*-------------------------------------------------------------------------
 *
 * index/build.h
 *	  The index phase: which process builds which index, and how.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INDEX_BUILD_H
#define FC_INDEX_BUILD_H

#include "context/shared.h"
#include "index/define.h"

/* Rows of a B-tree that are inserted one by one, at most */
#define FC_INDEX_INSERT_ROWS	256

/* Is an index of so many rows on disk before it is built? */
static inline bool
fc_index_is_synced(double rows)
{
	return FC_BUILD_SYNCS && rows > FC_INDEX_INSERT_ROWS;
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

#endif							/* FC_INDEX_BUILD_H */
