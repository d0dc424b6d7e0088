/*-------------------------------------------------------------------------
 *
 * context/workers.h
 *	  Starts parallel workers, which may write WAL, and waits for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WORKERS_H
#define FC_WORKERS_H

#include "access/parallel.h"

/* Starts the workers of a context; returns how many there are */
extern int	fc_workers_launch(ParallelContext *pcxt);

/*
 * Waits until all workers of a context are done, under the event
 * FastCopyWorkers.  Meanwhile calls "progress", unless it is NULL.
 */
extern void fc_workers_wait(ParallelContext *pcxt, void (*progress) (void *arg),
							void *arg);

/*
 * After an error: ends all workers as the end of the transaction would, for the
 * caller to see what they have left in memory of the context
 */
extern void fc_workers_stop(ParallelContext *pcxt);

#endif							/* FC_WORKERS_H */
