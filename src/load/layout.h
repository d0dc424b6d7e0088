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

#endif							/* FC_LOAD_LAYOUT_H */
