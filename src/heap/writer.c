/*-------------------------------------------------------------------------
 *
 * heap/writer.c
 *	  Puts rows into one table, by one writer or the other.
 *
 * 1. fc_write_storage (fc_write_kind where core routes) decides which.
 * 2. fc_write_begin begins the writer.
 * 3. phase/row.c builds each row in the writer's slot, and fc_write_put copies
 *    it.
 * 4. The writer lets core insert by fc_write_as_leader, the way around core's
 *    refusal to insert in a worker.
 * 5. fc_write_end inserts what is left; heap/turn.c calls it when the slice's
 *    turn has come.
 *
 * A writer belongs to the process that began it.  On error the transaction
 * aborts; nothing here outlives it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/toast_internals.h"
#include "storage/freespace.h"

#include "heap/append.h"
#include "heap/hold.h"
#include "heap/writer.h"
#include "options/plan.h"

/*
 * Rows above which a new file, and a half empty last page, are worth it: the
 * smallest of them fill ten pages, so that less than a tenth stays free
 */
#define FC_PAGES_ROWS	3000

/* Free space, in percent of a table, that rows should go to first */
#define FC_SPACE_USED	10

/* Pages whose free space stands for that of all */
#define FC_SPACE_SAMPLE	64

/* The share of the table, in percent, that is free by its free space map */
static int
fc_write_free_percent(Relation rel)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(rel);
	uint32		n = Min(blocks, FC_SPACE_SAMPLE);
	uint64		space = 0;

	for (uint32 i = 0; i < n; i++)
		space += GetRecordedFreeSpace(rel, (BlockNumber) ((uint64) blocks * i / n));
	return n == 0 ? 0 : (int) (space * 100 / ((uint64) n * BLCKSZ));
}

/*
 * May the table be written in pages?  Not if it is logically logged: decoding
 * sees no rows in the pages' WAL.  Nor if it is temporary, in local buffers,
 * nor if it has an index, which must get its entries with the insert.
 */
static bool
fc_write_by_pages(Relation rel)
{
	return rel->rd_tableam == GetHeapamTableAmRoutine() && !RelationUsesLocalBuffers(rel) &&
		!RelationIsLogicallyLogged(rel) && RelationGetIndexList(rel) == NIL;
}

/*
 * heap/multi_insert.c is right for every table.  heap/page_writer.c takes
 * those that fc_write_by_pages allows, in one of two ways:
 *
 *	FC_STORAGE_PAGES	past shared buffers into a new file, if the table is
 *						empty and this transaction made its storage
 *	FC_STORAGE_BUFFERS	any other, if there are many rows and it has little
 *						free space for them
 */
FcStorageKind
fc_write_kind(Relation rel, uint64 rows, bool routed)
{
	/* core decides by the same fields whether a table's WAL may be skipped */
	bool		own = rel->rd_createSubid != InvalidSubTransactionId ||
		fc_first_storage_subid(rel) != InvalidSubTransactionId;
	bool		empty;
	bool		pages;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		return FC_STORAGE_USED;
	empty = RelationGetNumberOfBlocks(rel) == 0;
	pages = fc_writer != FC_WRITER_AUTO ? fc_writer == FC_WRITER_PAGE :
		rows >= FC_PAGES_ROWS && fc_write_free_percent(rel) < FC_SPACE_USED;
	if (pages && fc_write_by_pages(rel))
		return empty && own && !routed && fc_hold_alone(rel) ? FC_STORAGE_PAGES : FC_STORAGE_BUFFERS;
	return empty ? FC_STORAGE_EMPTY : FC_STORAGE_USED;
}

FcStorage
fc_write_storage(Relation rel, uint64 rows, bool frozen, List **files)
{
	FcStorage	storage = {fc_write_kind(rel, rows, false),.frozen = frozen};
	const TupleConstr *constr = RelationGetDescr(rel)->constr;

	Assert(!IsParallelWorker());
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	/* an older snapshot would see rows that are not committed */
	if (frozen && rel->rd_createSubid == InvalidSubTransactionId &&
		fc_first_storage_subid(rel) == InvalidSubTransactionId)
		elog(ERROR, "rows of table \"%s\", which others can see, cannot be frozen", RelationGetRelationName(rel));
	storage.indexed = storage.kind < FC_STORAGE_BUFFERS && rel->rd_rel->relhasindex &&
		!(constr && (constr->num_check > 0 || constr->has_generated_stored));
	if (storage.kind == FC_STORAGE_PAGES)
		storage.file = fc_new_begin(rel, frozen, files);
	return storage;
}

/*
 * Gets the TOAST table into a worker's relcache before fc_write_as_leader
 * hides that this is a worker.  Core notes in the entry that the WAL of a
 * table of this transaction may be skipped (wal_level=minimal), but only if it
 * knows that this is a worker.  Either all processes skip a table's WAL or
 * none does.
 */
static void
fc_write_open_toast(FcWriter *writer)
{
	Oid			toastrelid = writer->rel->rd_rel->reltoastrelid;

	if (!OidIsValid(toastrelid))
		return;
	writer->toast = table_open(toastrelid, RowExclusiveLock);
	(void) toast_open_indexes(writer->toast, RowExclusiveLock,
							  &writer->toast_indexes, &writer->ntoast_indexes);
}

FcWriter *
fc_write_begin(FcContext *ctx, EState *estate, ResultRelInfo *rri,
			   const FcDestination *to)
{
	const FcWriterRoutine *routine = to->storage.kind >= FC_STORAGE_BUFFERS ?
		&fc_write_page : &fc_write_multi;
	FcWriter   *writer = palloc0(routine->size);

	Assert(CheckRelationLockedByMe(rri->ri_RelationDesc, RowExclusiveLock, true));
	Assert(to->slice != NULL && (!to->sliced || to->turn != NULL));
	Assert(to->storage.kind < FC_STORAGE_BUFFERS || fc_write_by_pages(rri->ri_RelationDesc));
	Assert(to->storage.kind != FC_STORAGE_PAGES || !fc_locator_equals(to->storage.file, fc_relation_locator(rri->ri_RelationDesc)));
	writer->routine = routine;
	writer->ctx = ctx;
	writer->estate = estate;
	writer->rri = rri;
	writer->rel = rri->ri_RelationDesc;
	writer->slot = MakeSingleTupleTableSlot(RelationGetDescr(writer->rel),
											&TTSOpsVirtual);
	writer->to = *to;
	writer->cid = ctx->in_worker ? ctx->command : GetCurrentCommandId(true);
	writer->options = to->storage.kind == FC_STORAGE_USED && !ctx->shared->plan.order.append ?
		0 : HEAP_INSERT_SKIP_FSM;
	if (to->storage.frozen)
		writer->options |= HEAP_INSERT_FROZEN;
	fc_write_open_toast(writer);
	routine->begin(writer);
	return writer;
}

/* Puts one row of a batch through the writer's slot */
static void
fc_write_put_row(FcWriter *writer, const FcBatch *batch, const FcBatchColumn *columns, int i)
{
	TupleTableSlot *slot = writer->slot;
	FcRecord	record;

	Assert(!batch->odd[i] && slot->tts_tupleDescriptor->natts == RelationGetNumberOfAttributes(writer->rel));
	fc_batch_record(batch, i, &record);
	ExecClearTuple(slot);
	for (int j = 0; j < slot->tts_tupleDescriptor->natts; j++)
		slot->tts_values[j] = fc_batch_value(&columns[j], i, true, &slot->tts_isnull[j]);
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(writer->rel);
	fc_write_put(writer, record.offset, record.length);
}

void
fc_write_put_rows(FcWriter *writer, const FcBatch *batch, const FcBatchColumn *columns,
				  int from, int to)
{
	Assert(from <= to && to <= batch->n && fc_batch_next_odd(batch, from) >= to);
	while (from < to)
	{
		if (writer->routine->put_rows)
			from += writer->routine->put_rows(writer, columns, from, to);
		if (from < to)
			fc_write_put_row(writer, batch, columns, from++);
	}
}

/*
 * If a worker has stored a long value, core has marked the command id as used,
 * and would refuse to run a volatile function in a procedural language, which
 * takes the next one.  So takes that here; the leader follows
 * (phase/worker.c).  Half of all ids are left to the caller's commands.
 */
static void
fc_write_next_command(void)
{
	Assert(!IsParallelWorker() && IsInParallelMode());
	if (GetCurrentCommandId(false) >= PG_UINT32_MAX / 2)
		return;
	ExitParallelMode();
	CommandCounterIncrement();
	EnterParallelMode();
}

/*
 * Lets core insert in a parallel worker, by hiding from it that this is one;
 * no other function does.
 *
 * heap_prepare_insert refuses in workers because an insert could make new
 * command ids, which workers cannot report.  The refusal guards nothing here:
 * workers of a load do report them; of AFTER triggers only those of foreign
 * keys come, which the leader fires after the load; and he has assigned an XID.
 */
void
fc_write_as_leader(FcWriter *writer, void (*body) (void *), void *arg)
{
	Relation	rel = writer->rel;
	int			worker = ParallelWorkerNumber;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	Assert(writer->ctx->in_worker == (worker >= 0) && CritSectionCount == 0);
	/* the leader has assigned it before */
	Assert(worker < 0 || TransactionIdIsValid(GetTopTransactionIdIfAny()));
	if (IsParallelWorker() && rel->trigdesc &&
		fc_plan_triggers(rel) > FC_TRIGGERS_FOREIGN_KEYS)
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
		if (worker >= 0)
			fc_write_next_command();
		ParallelWorkerNumber = worker;
		fc_count_hand_over(writer->to.turn, rel, writer->toast, false);
	}
	PG_END_TRY();
	/* after an error core has reset InterruptHoldoffCount itself */
	if (worker >= 0)
		RESUME_INTERRUPTS();
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
