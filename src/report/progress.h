/*-------------------------------------------------------------------------
 *
 * report/progress.h
 *	  What other sessions see of a running load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROGRESS_H
#define FC_PROGRESS_H

#include "report/figures.h"

extern void fc_progress_start(FcProgress *progress);

/* Copies of what can be read once are made, before there is shared memory */
extern void fc_progress_begin_stream(FcProgress *progress, FcPhase phase);

/* The next phase begins: the report closes the one before */
extern void fc_progress_phase(FcProgress *progress, FcPhase phase);

/* ... one that core shows, or nobody */
extern void fc_progress_begin_phase(FcProgress *progress, FcPhase phase);

/* FcContext.progress: arg is the FcProgress; cheap if called often */
extern void fc_progress_update(void *arg);
extern void fc_progress_end(FcProgress *progress);

#endif							/* FC_PROGRESS_H */
