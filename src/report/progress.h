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

/* How much of the phase is done, from 0 to 1; -1 if nobody counts */
extern double fc_progress_of_phase(const FcJob *job);

/*
 * A phase that goes from one thing to the next: what those are, how many there
 * are and how many are done.  NULL for one that goes through bytes.
 */
extern const char *fc_progress_steps(const FcJob *job, int *done, int *total);

/* Bytes there are to be loaded, and does the phase go through them? */
extern double fc_progress_bytes(const FcJob *job);
extern bool fc_progress_reads_file(const FcJob *job);

#endif							/* FC_PROGRESS_H */
