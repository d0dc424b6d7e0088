/*-------------------------------------------------------------------------
 *
 * report/figures.h
 *	  How far a phase has come, for all who show it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIGURES_H
#define FC_FIGURES_H

#include "load/job.h"

/* So many of "total" bytes, from 0 to 1 */
extern double fc_progress_share(pg_atomic_uint64 *bytes, uint64 total);

/* Does the phase take copies of what can be read only once? */
extern bool fc_progress_is_stream(const FcJob *job);

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

#endif							/* FC_FIGURES_H */
