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
 * Puts the rows into their leaves.  Throws the error of the first bad record; but
 * if a file that was taken for one in key order is not, shared->unordered is set.
 */
extern void fc_fill_run(FcJob *job);

/* Then: as if nothing had been loaded, and no partition made */
extern void fc_fill_undo(FcJob *job);

/*
 * May chunks be loaded while files are unpacked?  Not if the number of rows is
 * wanted before; and where rows are inserted in turn there must be no gap
 * between chunks.
 */
extern bool fc_fill_may_flow(const FcJob *job);

#endif							/* FC_LOAD_FILL_H */
