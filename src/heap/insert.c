/*-------------------------------------------------------------------------
 *
 * heap/insert.c
 *	  What all writers have in common: their end, and the way around core's
 *	  refusal to insert in a worker.
 *
 * A writer belongs to the process that began it.  On error the transaction
 * aborts; nothing here outlives it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/insert.h"
#include "options/plan.h"

/*
 * Lets core insert in a parallel worker, by hiding from it that this is one;
 * no other function does.
 *
 * heap_prepare_insert refuses in workers because an insert could make new
 * command ids, which workers cannot report.  The refusal guards nothing here:
 * tables with AFTER triggers never come, and the leader has assigned XID and
 * command id before.
 */
void
fc_write_as_leader(FcWriter *writer, void (*body) (void *), void *arg)
{
	Relation	rel = writer->rel;
	int			worker = ParallelWorkerNumber;
	bool		only_foreign_keys;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	Assert(writer->ctx->in_worker == (worker >= 0) && CritSectionCount == 0);
	/* the leader has assigned it before */
	Assert(worker < 0 || TransactionIdIsValid(GetTopTransactionIdIfAny()));
	if (IsParallelWorker() && rel->trigdesc &&
		fc_plan_has_triggers(rel, &only_foreign_keys))
		elog(ERROR, "table \"%s\" with insert triggers reached a parallel worker",
			 RelationGetRelationName(rel));
	/*
	 * A request to end the process waits, for one batch of rows at most: the
	 * process must know that it is a worker when it ends.
	 */
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
		fc_count_hand_over(writer->to.turn, rel, writer->toast, false);
	}
	PG_END_TRY();
	/* after an error core has reset InterruptHoldoffCount itself */
	if (worker >= 0)
		RESUME_INTERRUPTS();
	Assert(worker < 0 || GetCurrentCommandId(false) == writer->cid);
}

/* The arguments of fc_write_insert */
typedef struct FcWriteInsert
{
	FcWriter   *writer;
	TupleTableSlot **slots;
	int			n;
	BulkInsertState bistate;
} FcWriteInsert;

static void
fc_write_insert_slots(void *arg)
{
	FcWriteInsert *insert = arg;

	Assert(!IsParallelWorker() && insert->n > 0);
	table_multi_insert(insert->writer->rel, insert->slots, insert->n, insert->writer->cid,
					   insert->writer->options, insert->bistate);
	Assert(ItemPointerIsValid(&insert->slots[0]->tts_tid));
	Assert(ItemPointerIsValid(&insert->slots[insert->n - 1]->tts_tid));
}

void
fc_write_insert(FcWriter *writer, TupleTableSlot **slots, int n, BulkInsertState bistate)
{
	fc_write_as_leader(writer, fc_write_insert_slots, &(FcWriteInsert) {writer, slots, n, bistate});
}

uint64
fc_write_end(FcWriter *writer)
{
	uint64		inserted;

	writer->routine->end(writer);
	Assert(writer->held == 0);
	fc_count_hand_over(writer->to.turn, writer->rel, writer->toast, true);
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
