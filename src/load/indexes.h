/*-------------------------------------------------------------------------
 *
 * load/indexes.h
 *	  Indexes of new partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_INDEXES_H
#define FC_LOAD_INDEXES_H

#include "load/job.h"

/*
 * Defines the parent's indexes on the new partitions and builds them.  If one
 * cannot be built, throws COPY's error for the first row that it refuses.
 */
extern void fc_indexes_run(FcJob *job);

#endif							/* FC_LOAD_INDEXES_H */
