/*-------------------------------------------------------------------------
 *
 * report/progress.h
 *	  What other sessions see of a running load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROGRESS_H
#define FC_PROGRESS_H

#include "load/job.h"

extern void fc_progress_start(FcJob *job);

/* Before the job has shared memory: copies of what can be read once are made */
extern void fc_progress_begin_stream(FcJob *job, FcPhase phase);

/* The next phase begins: the report closes the one before */
extern void fc_progress_phase(FcJob *job, FcPhase phase);

/* ... one that core shows, or nobody */
extern void fc_progress_begin_phase(FcJob *job, FcPhase phase);

/* FcContext.progress: arg is the job; cheap if called often */
extern void fc_progress_update(void *arg);
extern void fc_progress_end(FcJob *job);

#endif							/* FC_PROGRESS_H */
