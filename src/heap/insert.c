/*-------------------------------------------------------------------------
 *
 * heap/insert.c
 *	  What all writers have in common: the turns of a table's slices, and the
 *	  way around core's refusal to insert in a worker.
 *
 * Slices of one leaf insert in their order, because that is the order of the
 * rows.  A process whose writer has all rows of a slice before its turn has
 * come leaves the writer here, as far as memory goes, and takes its next slice.
 *
 * A process that waits for one turn must not keep others waiting for another,
 * so that it ends its deferred writers while it waits.  Nobody waits for ever:
 * processes take slices in one order, which is also that of each leaf.  So of
 * all slices that are not inserted the first one has its turn, and the process
 * that has it still forms its rows, or waits here and then ends it.
 *
 * On error the transaction aborts; nothing here outlives it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/resowner.h"

#include "compat/compat.h"
#include "heap/insert.h"
#include "options/plan.h"

/* Memory of a writer beside its rows, about */
#define FC_WRITER_BYTES	(32 * 1024)

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
	/* after an error core has reset the count of such holds itself */
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
fc_write_count(FcContext *ctx, int n)
{
	pg_atomic_fetch_add_u64(&ctx->shared->counts.loaded, n);
}

/* Gives a reference back that this resource owner has */
static void
fc_relation_release(Relation rel, ResourceOwner owner)
{
	ResourceOwner current = CurrentResourceOwner;

	CurrentResourceOwner = owner;
	RelationDecrementReferenceCount(rel);
	CurrentResourceOwner = current;
}

uint64
fc_write_end(FcWriter *writer)
{
	uint64		inserted;

	writer->routine->end(writer);
	inserted = writer->inserted;
	ExecDropSingleTupleTableSlot(writer->slot);
	if (writer->toast)
	{
		toast_close_indexes(writer->toast_indexes, writer->ntoast_indexes, NoLock);
		table_close(writer->toast, NoLock);
	}
	pfree(writer);
	return inserted;
}

/* Bytes that a deferred writer takes in all */
static Size
fc_turn_bytes(const FcWriter *writer)
{
	return writer->held + FC_WRITER_BYTES;
}

static void
fc_turn_end_deferred(FcContext *ctx, FcWriter *writer)
{
	Relation	rel = writer->rel;
	ResourceOwner owner = writer->owner;
	FcSlice		slice = writer->slice;

	ctx->deferred = list_delete_ptr(ctx->deferred, writer);
	ctx->deferred_bytes -= fc_turn_bytes(writer);
	writer->place.slice = &slice;
	(void) fc_write_end(writer);
	fc_turn_pass(ctx, &slice);
	fc_relation_release(rel, owner);
}

bool
fc_turn_take_deferred(FcContext *ctx)
{
	ListCell   *lc;

	foreach(lc, ctx->deferred)
	{
		FcWriter   *writer = lfirst(lc);

		if (!fc_turn_has_come(&writer->slice))
			continue;
		fc_turn_end_deferred(ctx, writer);
		return true;
	}
	return false;
}

/*
 * Sleeps until the slice's turn has come; without a slice, until all deferred
 * writers have ended
 */
static void
fc_turn_sleep(FcContext *ctx, const FcSlice *slice)
{
	static uint32 wait_event = 0;
	ConditionVariable *cv = &ctx->shared->turn_cv;

	if (wait_event == 0)
		wait_event = fc_wait_event("FastCopyTurn");
	ConditionVariablePrepareToSleep(cv);
	while (slice ? !fc_turn_has_come(slice) : ctx->deferred != NIL)
		if (!fc_turn_take_deferred(ctx))
			ConditionVariableSleep(cv, wait_event);
	ConditionVariableCancelSleep();
}

void
fc_turn_wait(FcContext *ctx, FcSlice *slice)
{
	if (slice == NULL || slice->turn == NULL || slice->mine)
		return;
	fc_turn_sleep(ctx, slice);
	slice->mine = true;
}

void
fc_turn_finish(FcContext *ctx)
{
	if (ctx->deferred != NIL)
		fc_turn_sleep(ctx, NULL);
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

bool
fc_turn_defer(FcContext *ctx, FcWriter *writer)
{
	FcSlice    *slice = writer->place.slice;
	MemoryContext old;

	if (!writer->routine->patient || fc_turn_has_come(slice) ||
		ctx->deferred_bytes + fc_turn_bytes(writer) > writer->place.memory)
		return false;
	writer->slice = *slice;
	slice->turn = NULL;
	RelationIncrementReferenceCount(writer->rel);
	writer->owner = CurrentResourceOwner;
	old = MemoryContextSwitchTo(ctx->mcxt);
	ctx->deferred = lappend(ctx->deferred, writer);
	MemoryContextSwitchTo(old);
	ctx->deferred_bytes += fc_turn_bytes(writer);
	return true;
}
