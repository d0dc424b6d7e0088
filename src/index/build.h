/*-------------------------------------------------------------------------
 *
 * index/build.h
 *	  Fills an index of a new partition, in any process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INDEX_BUILD_H
#define FC_INDEX_BUILD_H

#include "index/define.h"

/*
 * Leader or worker: fills the index, and notes in the task what it counted.
 * Helpers are for the leader outside of parallel mode only.  Unique violations
 * are ERROR 23505.
 */
extern void fc_index_build(FcIndexTask *task);

/*
 * Writes the one page that a B-tree has before its first row, without a wait
 * for the disk.  The index is new, and its file empty.
 */
extern void fc_index_begin_btree(Relation index);

#endif							/* FC_INDEX_BUILD_H */
