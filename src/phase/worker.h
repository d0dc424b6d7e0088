/*-------------------------------------------------------------------------
 *
 * phase/worker.h
 *	  Runs a phase in parallel workers, or in the leader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WORKER_H
#define FC_WORKER_H

#include "context/shared.h"

/* What a phase works on besides the file; copied to and from the workers */
typedef struct FcWork
{
	FcWay		way;
	Size		memory;			/* of each process */
	void	   *tasks;
	Size		task_size;
	uint32		ntasks;
	FcTurn	   *turns;
	uint32		nturns;

	/* results */
	bool		parallel;		/* workers did the work */
	double		alone;			/* share of the phase, at its end, in which
								 * only one of several workers was left */
} FcWork;

/*
 * Runs the phase in up to nworkers workers and waits for all of them; or in
 * the leader alone, through ctx, if nworkers is 0 or none can be had.  Returns
 * the number of processes that worked.  Not in parallel mode; the caller holds
 * every lock that the workers need.
 */
extern int	fc_worker_run(FcContext *ctx, dsm_segment *segment, FcPhase phase,
						  int nworkers, FcWork *work);

/*
 * Between these two the process has a context for phases.  In a worker the
 * first opens source and target; in the leader the caller sets them.
 */
extern void fc_worker_context_begin(FcContext *ctx, FcShared *shared, int worker,
									bool in_worker);
extern void fc_worker_context_end(FcContext *ctx);

#endif							/* FC_WORKER_H */
