/*-------------------------------------------------------------------------
 *
 * context/workers.c
 *	  Starts parallel workers, which may write WAL, and waits for them.
 *
 * The parallel context is the caller's, and ends the workers whatever happens:
 * its own clean-up at the end of the (sub)transaction destroys it.
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

int
fc_workers_launch(ParallelContext *pcxt)
{
	fc_workers_log_subtransaction();
	LaunchParallelWorkers(pcxt);
	/* a worker that was never started tells nobody else */
	WaitForParallelWorkersToAttach(pcxt);
	return pcxt->nworkers_launched;
}

void
fc_workers_wait(ParallelContext *pcxt, void (*progress) (void *arg), void *arg)
{
	static uint32 wait_event = 0;

	if (wait_event == 0)
		wait_event = fc_wait_event("FastCopyWorkers");
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (progress)
			progress(arg);
		if (!fc_workers_active(pcxt))
			break;
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 FC_POLL_MS, wait_event);
		ResetLatch(MyLatch);
	}
	WaitForParallelWorkersToFinish(pcxt);
}
