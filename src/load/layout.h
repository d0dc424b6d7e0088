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
 * Makes target.shared, for which options, plan and source must be there.  The
 * segment is the current resource owner's.
 */
extern void fc_layout_make(FcJob *job);

#endif							/* FC_LOAD_LAYOUT_H */
