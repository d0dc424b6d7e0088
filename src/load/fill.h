/*-------------------------------------------------------------------------
 *
 * load/fill.h
 *	  The phase load: rows into partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_FILL_H
#define FC_LOAD_FILL_H

#include "load/job.h"

/*
 * Puts the rows into their leaves.  Throws the error of the first bad record.
 * If a file that was taken for a presorted one is not, it sets
 * shared->unordered.
 */
extern void fc_fill_run(FcJob *job);

/* After a load that set unordered: drops the new partitions and their rows */
extern void fc_fill_undo(FcJob *job);

/*
 * May chunks be loaded while files are unpacked?  Not if the number of rows
 * must be known before; and where rows are inserted in turn there must be no
 * gap between chunks.
 */
extern bool fc_fill_may_flow(const FcJob *job);

#endif							/* FC_LOAD_FILL_H */
