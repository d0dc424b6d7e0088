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
#include "sort/run_write.h"

/*
 * Sets job->parts from the spill, or as they are given, job->target.created
 * from the ranges that have no partition, and keeps an error for rows that no
 * partition will take.
 */
extern void fc_tasks_find_parts(FcJob *job);
extern void fc_tasks_set_parts(FcJob *job, List *parts);

/* Makes job->tasks, the largest leaf first; new partitions must have OIDs */
extern void fc_tasks_make(FcJob *job);

/*
 * Makes job->tasks for a presorted file: a slice for each chunk that a part's
 * rows may be in.  Goes by job->keys, which fc_order_look has set.
 */
extern void fc_tasks_make_presorted(FcJob *job);

/*
 * Sets job->parts to all ranges of keys from the first key of a presorted file
 * to its last; some may turn out to have no rows.  False if they are too many,
 * or if one of them has a partition.
 */
extern bool fc_tasks_span_parts(FcJob *job);

/* The leaf that takes a part's rows, or InvalidOid */
extern Oid	fc_tasks_leaf(FcJob *job, const FcSpillPart *part,
						  bool *created);

/* Rows that went to one leaf */
typedef struct FcLeafRows
{
	Oid			leaf;
	uint64		rows;
} FcLeafRows;

/* One for each leaf loaded, by OID: target.ngroups, in one allocation */
extern FcLeafRows *fc_tasks_leaf_rows(FcJob *job);
extern uint64 fc_tasks_rows_of(FcJob *job, const FcLeafRows *leaves, Oid leaf);

#endif							/* FC_TASKS_H */
