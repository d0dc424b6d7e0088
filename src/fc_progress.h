/*-------------------------------------------------------------------------
 *
 * fc_progress.h
 *	  What other sessions see of a running load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROGRESS_H
#define FC_PROGRESS_H

#include "fc_job.h"

extern void fc_progress_start(FcJob *job);

/* The next phase begins: the report closes the one before */
extern void fc_progress_phase(FcJob *job, FcPhase phase);

/* FcContext.progress: arg is the job; cheap if called often */
extern void fc_progress_update(void *arg);
extern void fc_progress_end(FcJob *job);

#endif							/* FC_PROGRESS_H */
