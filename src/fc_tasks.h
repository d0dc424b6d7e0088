/*-------------------------------------------------------------------------
 *
 * fc_tasks.h
 *	  From the rows found per range of keys to the work of the load phase.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TASKS_H
#define FC_TASKS_H

#include "fc_job.h"

/*
 * Sets job->parts from the spill, or as they are given, job->created from the ranges that have no
 * partition, and keeps an error for rows that no partition will take.
 */
extern void fc_tasks_find_parts(FcJob *job);
extern void fc_tasks_set_parts(FcJob *job, List *parts);

/* Makes job->tasks, largest leaf first, once partitions have their OIDs */
extern void fc_tasks_make(FcJob *job);

/* The leaf that takes a part's rows, or InvalidOid */
extern Oid	fc_tasks_leaf(FcJob *job, const struct FcSpillPart *part,
						  bool *created);

#endif							/* FC_TASKS_H */
