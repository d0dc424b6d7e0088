/*-------------------------------------------------------------------------
 *
 * load/layout.h
 *	  The segment that all processes of a load share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_LAYOUT_H
#define FC_LOAD_LAYOUT_H

#include "load/job.h"

/*
 * Makes target.shared from options, plan and source.  The segment belongs to
 * the current resource owner.
 */
extern void fc_layout_make(FcJob *job);

/* Cuts the files into chunks again, as if nobody had looked at them yet */
extern void fc_layout_chunks(FcJob *job);

/*
 * Returns the bytes of a segment that is large enough for so many bytes of one
 * source, which is loaded in its order
 */
extern Size fc_layout_foresee(const FcOptions *options, uint64 size, int nworkers);

/*
 * Makes as much of such a segment as the phase needs that unpacks files ahead
 * of all others; they are in the area.
 */
extern dsm_segment *fc_layout_early(Oid target, dsm_segment *area);

#endif							/* FC_LOAD_LAYOUT_H */
