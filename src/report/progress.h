/*-------------------------------------------------------------------------
 *
 * report/progress.h
 *	  What other sessions and the client see of a running load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROGRESS_H
#define FC_PROGRESS_H

#include "report/figures.h"
#include "report/report.h"

/* Begins to show the load in the progress slot, as a COPY */
extern void fc_progress_start(FcProgress *progress);

/* Begins a phase that unpacks or receives, before there is shared memory */
extern void fc_progress_begin_stream(FcProgress *progress, FcPhase phase);

/* Begins a phase, and shows it; the report must have ended the one before */
extern void fc_progress_phase(FcProgress *progress, FcPhase phase);

/* Begins a phase that core shows, or that is not shown */
extern void fc_progress_begin_phase(FcProgress *progress, FcPhase phase);

/* FcContext.progress: arg is the FcProgress; cheap if called often */
extern void fc_progress_update(void *arg);

/* Gives the progress slot up, to core or because the load has ended */
extern void fc_progress_end(FcProgress *progress);

/* report/tell.c */

/* Sends a NOTICE, if the last one is older than the interval asked for */
extern void fc_tell_progress(FcProgress *progress);

/* At a phase's begin: a NOTICE, if the load is older than the interval */
extern void fc_tell_phase(FcProgress *progress);

/*
 * Sends the NOTICE that the load is done, once nothing can go wrong any more.
 * A plain COPY has none, which must look like core's; log_verbosity => 'silent'
 * asks for none.
 */
extern void fc_tell_end(const FcOptions *options, const FcTotals *totals);

#endif							/* FC_PROGRESS_H */
