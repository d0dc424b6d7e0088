/*-------------------------------------------------------------------------
 *
 * load/tasks.h
 *	  From the rows found per range of keys to the work of the load phase.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TASKS_H
#define FC_TASKS_H

#include "load/job.h"
#include "sort/spill.h"

/*
 * The first sets job->parts from the spill, the second to the parts given.
 * Both set job->target.created to the ranges that need a new partition, and
 * keep an error for rows that no partition will take.
 */
extern void fc_tasks_find_parts(FcJob *job);
extern void fc_tasks_set_parts(FcJob *job, List *parts);

/* Makes job->tasks, the largest leaf first; new partitions must have OIDs */
extern void fc_tasks_make(FcJob *job);

/*
 * Makes job->tasks for a presorted file: a slice for each chunk that a part's
 * rows may be in.  Goes by job->keys, which fc_presorted_look has set.
 */
extern void fc_tasks_make_presorted(FcJob *job);

/*
 * Sets job->parts to all ranges from the first key of a presorted file to its
 * last; some may turn out to have no rows.  False if these are too many, or if
 * a new partition cannot be made for each of them.
 */
extern bool fc_tasks_span_parts(FcJob *job);

/*
 * The leaf that takes a part's rows, or its substitute; InvalidOid if none does
 * or core routes, or as long as it is not made.  *created: the load makes it.
 */
extern Oid	fc_tasks_leaf(const FcTarget *target, const FcSpillPart *part,
						  bool *created);

/*
 * Decides how about so many rows get into a leaf, which are frozen if that is
 * said here or asked for
 */
extern FcStorage fc_tasks_storage(FcJob *job, Oid leaf, bool frozen, uint64 rows);

/* Rows that went to one leaf */
typedef struct FcLeafRows
{
	Oid			leaf;
	uint64		rows;
	uint64		old;			/* of these: see FcTask */
	uint64		old_gone;
	uint64		gone;
} FcLeafRows;

/* Returns target.ngroups of them, one for each leaf loaded, in order of OIDs */
extern FcLeafRows *fc_tasks_leaf_rows(FcJob *job);
extern uint64 fc_tasks_rows_of(FcJob *job, const FcLeafRows *leaves, Oid leaf);

/*
 * Has the load of a leaf, or its substitute, added rows, or left some out?  Not
 * if no row of the file came.
 */
extern bool fc_tasks_has_changed(FcJob *job, const FcLeafRows *leaves, Oid leaf);

#endif							/* FC_TASKS_H */
