/*-------------------------------------------------------------------------
 *
 * context/workers.c
 *	  Starts parallel workers, which may write WAL, and waits for them.
 *
 * The parallel context is the caller's.  On error core destroys it at the end
 * of the (sub)transaction, and so ends the workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"
#include "storage/latch.h"

#include "compat/compat.h"
#include "context/workers.h"

#define FC_POLL_MS		100		/* how often the leader shows progress */

/* Does any worker still run, as far as its messages tell? */
static bool
fc_workers_active(ParallelContext *pcxt)
{
	for (int i = 0; i < pcxt->nworkers_launched; i++)
		if (pcxt->worker[i].error_mqh != NULL)
			return true;
	return false;
}

/*
 * Logical decoding must know that a subtransaction is one before it sees a row
 * of it.  The first record that the leader writes in a subtransaction names
 * the top-level transaction too; those of workers never do, because a worker
 * does not know that its transaction is the leader's subtransaction.
 */
static void
fc_workers_log_subtransaction(void)
{
	char		nothing = 0;

	if (!IsSubxactTopXidLogPending())
		return;
	XLogBeginInsert();
	XLogRegisterData(&nothing, sizeof(nothing));
	(void) XLogInsert(RM_XLOG_ID, XLOG_NOOP);
}

/* Sleeps until a worker or the postmaster tells something, or for a moment */
static void
fc_workers_sleep(void)
{
	(void) WaitLatch(MyLatch,
					 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 FC_POLL_MS, fc_wait_event(FC_WAIT_WORKERS));
	ResetLatch(MyLatch);
}

/* Has the worker neither sent anything yet nor ended? */
static bool
fc_workers_is_starting(const ParallelWorkerInfo *worker)
{
	pid_t		pid;

	return worker->error_mqh != NULL &&
		shm_mq_get_sender(shm_mq_get_queue(worker->error_mqh)) == NULL &&
		GetBackgroundWorkerPid(worker->bgwhandle, &pid) != BGWH_STOPPED;
}

/*
 * Waits until all workers are there; ERROR if one was never started, which it
 * cannot tell itself.  Core's function alone would not sleep once the
 * postmaster has made the process, and take the processor that the worker
 * needs.
 */
static void
fc_workers_meet(ParallelContext *pcxt)
{
	for (int i = 0; i < pcxt->nworkers_launched; i++)
		while (fc_workers_is_starting(&pcxt->worker[i]))
		{
			CHECK_FOR_INTERRUPTS();
			fc_workers_sleep();
		}
	WaitForParallelWorkersToAttach(pcxt);
}

int
fc_workers_launch(ParallelContext *pcxt)
{
	fc_workers_log_subtransaction();
	LaunchParallelWorkers(pcxt);
	fc_workers_meet(pcxt);
	return pcxt->nworkers_launched;
}

void
fc_workers_wait(ParallelContext *pcxt, void (*progress) (void *arg), void *arg)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (progress)
			progress(arg);
		if (!fc_workers_active(pcxt))
			break;
		fc_workers_sleep();
	}
	WaitForParallelWorkersToFinish(pcxt);
}

void
fc_workers_stop(ParallelContext *pcxt)
{
	HOLD_INTERRUPTS();
	for (int i = 0; i < pcxt->nworkers_launched; i++)
	{
		ParallelWorkerInfo *worker = &pcxt->worker[i];

		if (worker->error_mqh == NULL)
			continue;
		TerminateBackgroundWorker(worker->bgwhandle);
		/* a worker that waits for room for a message must not wait on */
		shm_mq_detach(worker->error_mqh);
		worker->error_mqh = NULL;
	}
	for (int i = 0; i < pcxt->nworkers_launched; i++)
		if (pcxt->worker[i].bgwhandle != NULL)
			(void) WaitForBackgroundWorkerShutdown(pcxt->worker[i].bgwhandle);
	RESUME_INTERRUPTS();
}
