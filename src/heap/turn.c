/*-------------------------------------------------------------------------
 *
 * heap/turn.c
 *	  Whose turn it is to insert into a table.
 *
 * 1. Several processes make the rows of one leaf, a slice each.
 * 2. Each slice lets the next one insert when its own rows are in
 *    (fc_turn_pass): rows must stand in the order of slices.
 * 3. A process that has all rows of its slice before its turn leaves the
 *    writer with them here (fc_turn_end_slice), and takes its next slice.
 * 4. A process that waits for one turn ends its deferred writers meanwhile, as
 *    their turns come.
 *
 * On error the transaction aborts; nothing here outlives it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "heap/writer.h"

/* Memory of a writer beside its rows, about */
#define FC_WRITER_BYTES	(32 * 1024)

bool
fc_turn_has_come(const FcSlice *slice)
{
	bool		came;

	Assert(slice->turn == NULL || pg_atomic_read_u32(&slice->turn->next) <= slice->number);
	if (slice->turn == NULL)
		return true;
	came = pg_atomic_read_u32(&slice->turn->next) == slice->number;
	pg_read_barrier();
	return came;
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
	FcSlice		slice = writer->slice;

	Assert(fc_turn_has_come(&slice));
	Assert(list_member_ptr(ctx->deferred, writer) && ctx->deferred_bytes >= fc_turn_bytes(writer));
	ctx->deferred = list_delete_ptr(ctx->deferred, writer);
	ctx->deferred_bytes -= fc_turn_bytes(writer);
	writer->to.slice = &slice;
	(void) fc_write_end(writer);
	fc_turn_pass(ctx, &slice);
	RelationDecrementReferenceCount(rel);
}

bool
fc_turn_take_deferred(FcContext *ctx)
{
	foreach_ptr(FcWriter, writer, ctx->deferred)
	{
		if (!fc_turn_has_come(&writer->slice))
			continue;
		fc_turn_end_deferred(ctx, writer);
		return true;
	}
	return false;
}

/*
 * Sleeps until the slice's turn has come; without a slice, until all deferred
 * writers have ended.
 *
 * The turn will come: all processes take slices from one list, which has those
 * of a leaf in their order.  So the first slice not inserted yet has its turn,
 * and its process is still making rows, or sleeps here and ends it.
 */
static void
fc_turn_sleep(FcContext *ctx, const FcSlice *slice)
{
	ConditionVariable *cv = &ctx->shared->turn_cv;

	Assert(CritSectionCount == 0);
	ConditionVariablePrepareToSleep(cv);
	while (slice ? !fc_turn_has_come(slice) : ctx->deferred != NIL)
		if (!fc_turn_take_deferred(ctx))
			ConditionVariableSleep(cv, fc_wait_event(FC_WAIT_TURN));
	ConditionVariableCancelSleep();
}

void
fc_turn_wait(FcContext *ctx, const FcSlice *slice)
{
	if (!fc_turn_has_come(slice))
		fc_turn_sleep(ctx, slice);
}

void
fc_turn_finish(FcContext *ctx)
{
	fc_turn_sleep(ctx, NULL);
	Assert(ctx->deferred == NIL && ctx->deferred_bytes == 0);
}

void
fc_turn_pass(FcContext *ctx, FcSlice *slice)
{
	if (slice->turn == NULL)
		return;
	fc_turn_wait(ctx, slice);
	/*
	 * a full barrier: a process that sees the turn sees what the writer wrote
	 */
	pg_atomic_fetch_add_u32(&slice->turn->next, 1);
	ConditionVariableBroadcast(&ctx->shared->turn_cv);
	slice->turn = NULL;
}

/*
 * Defers the writer, which has all rows of its slice: ctx takes over both, and
 * ends the writer when its turn comes.  False, with nothing done, if the
 * writer must end now: its turn has come, it is not patient, or its rows need
 * more memory than the process may use.
 */
static bool
fc_turn_defer(FcContext *ctx, FcWriter *writer)
{
	FcSlice    *slice = writer->to.slice;
	MemoryContext old;

	if (!writer->routine->patient || fc_turn_has_come(slice) ||
		ctx->deferred_bytes + fc_turn_bytes(writer) > writer->to.memory)
		return false;
	writer->slice = *slice;
	slice->turn = NULL;
	RelationIncrementReferenceCount(writer->rel);
	old = MemoryContextSwitchTo(ctx->mcxt);
	ctx->deferred = lappend(ctx->deferred, writer);
	MemoryContextSwitchTo(old);
	ctx->deferred_bytes += fc_turn_bytes(writer);
	return true;
}

uint64
fc_turn_end_slice(FcWriter *writer)
{
	FcContext  *ctx = writer->ctx;
	FcSlice    *slice = writer->to.slice;
	uint64		inserted = writer->inserted;

	Assert(ctx->in_worker == IsParallelWorker());
	if (fc_turn_defer(ctx, writer))
		return inserted;
	inserted = fc_write_end(writer);
	fc_turn_pass(ctx, slice);
	return inserted;
}
