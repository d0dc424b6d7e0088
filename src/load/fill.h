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
 * The second tells whether the load was given up, because the file was taken
 * for a presorted one and is not.
 */
extern void fc_fill_run(FcJob *job);
extern bool fc_fill_is_unordered(FcJob *job);

/* After a load that was given up: drops the new partitions and their rows */
extern void fc_fill_undo(FcJob *job);

/*
 * May chunks be loaded while files are unpacked?  Not if core loads, if rows
 * are sorted or if their number must be known before; nor if chunks of several
 * files insert in turn, because a turn needs numbers without a gap.
 */
extern bool fc_fill_may_flow(const FcJob *job);

#endif							/* FC_LOAD_FILL_H */
