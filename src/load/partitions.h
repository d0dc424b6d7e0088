/*-------------------------------------------------------------------------
 *
 * load/partitions.h
 *	  The partitions that are missing: made before the load, attached after it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_PARTITIONS_H
#define FC_LOAD_PARTITIONS_H

#include "load/job.h"

/*
 * Makes the partitions that are missing, once the leaves are locked.  If a bad
 * record is known it makes those for later records, too, which does no harm:
 * the load fails in any case.
 */
extern void fc_partitions_make(FcJob *job);

/* Attaches the new partitions that got rows, and drops the others */
extern void fc_partitions_attach(FcJob *job);

/* What speaks against making the partitions: a list of FcFault */
extern List *fc_partitions_faults(FcJob *job);

#endif							/* FC_LOAD_PARTITIONS_H */
