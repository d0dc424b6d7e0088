/*-------------------------------------------------------------------------
 *
 * heap/insert.c
 *	  What all writers have in common: the turns of a table's slices, the count
 *	  of rows, and the way around core's refusal to insert in a worker.
 *
 * On error the transaction aborts; nothing here outlives it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/insert.h"
#include "options/plan.h"

void
fc_write_count(FcWriter *writer, int n)
{
	writer->inserted += n;
	pg_atomic_fetch_add_u64(&writer->ctx->shared->counts.loaded, n);
}

/*
 * Lets core insert in a parallel worker, by hiding from it that this is one.
 *
 * heap_prepare_insert refuses in workers because an insert could make new
 * command ids (AFTER triggers, foreign keys), which workers have no way to
 * report; its comment says that everything else is there.  Tables with such
 * triggers never come here, and the leader has assigned XID and command id
 * before the workers start, so that the refusal guards nothing.  No other
 * function hides a worker.  A request to end the process waits until the call
 * is over, because the process must know then that it is a worker.
 */
void
fc_write_as_leader(Relation rel, void (*body) (void *), void *arg)
{
	int			worker = ParallelWorkerNumber;
	bool		only_foreign_keys;

	if (IsParallelWorker() && rel->trigdesc &&
		fc_plan_has_triggers(rel, &only_foreign_keys))
		elog(ERROR, "table \"%s\" with insert triggers reached a parallel worker",
			 RelationGetRelationName(rel));
	if (worker >= 0)
		HOLD_INTERRUPTS();
	PG_TRY();
	{
		ParallelWorkerNumber = -1;
		body(arg);
	}
	PG_FINALLY();
	{
		ParallelWorkerNumber = worker;
	}
	PG_END_TRY();
	/* an error has reset the count of such holds itself */
	if (worker >= 0)
		RESUME_INTERRUPTS();
}

bool
fc_turn_has_come(const FcSlice *slice)
{
	return slice == NULL || slice->turn == NULL || slice->mine ||
		pg_atomic_read_u32(&slice->turn->next) == slice->number;
}

void
fc_turn_wait(FcContext *ctx, FcSlice *slice)
{
	static uint32 wait_event = 0;
	ConditionVariable *cv = &ctx->shared->turn_cv;

	if (slice == NULL || slice->turn == NULL || slice->mine)
		return;
	if (wait_event == 0)
		wait_event = fc_wait_event("FastCopyTurn");
	ConditionVariablePrepareToSleep(cv);
	while (pg_atomic_read_u32(&slice->turn->next) != slice->number)
		ConditionVariableSleep(cv, wait_event);
	ConditionVariableCancelSleep();
	slice->mine = true;
}

void
fc_turn_pass(FcContext *ctx, FcSlice *slice)
{
	if (slice->turn == NULL)
		return;
	fc_turn_wait(ctx, slice);
	/* a full barrier: a process that sees the turn sees what the writer did */
	pg_atomic_fetch_add_u32(&slice->turn->next, 1);
	ConditionVariableBroadcast(&ctx->shared->turn_cv);
	slice->turn = NULL;
}
