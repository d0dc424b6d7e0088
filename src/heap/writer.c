/*-------------------------------------------------------------------------
 *
 * heap/writer.c
 *	  Puts rows into one table, by one writer or the other.
 *
 * 1. fc_write_storage (fc_write_routed_kind where core routes) decides which.
 * 2. fc_write_begin begins the writer.
 * 3. phase/row.c builds each row in the writer's slot, and fc_write_put copies
 *    it.
 * 4. fc_write_end_slice inserts what is left, when the slice's turn has come,
 *    and lets the next slice insert.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/hold.h"
#include "heap/turn.h"
#include "heap/writer.h"
#include "options/plan.h"

/*
 * Rows above which a new file, and a half empty last page, are worth it: the
 * smallest of them fill ten pages, so that less than a tenth stays free
 */
#define FC_PAGES_ROWS	3000

/* Free space, in percent of a table, that rows should go to first */
#define FC_SPACE_USED	10

/*
 * heap/multi_insert.c is right for every table.  heap/page_writer.c takes
 * those that fc_write_page_can allows, in one of two ways:
 *
 *	FC_STORAGE_PAGES	past shared buffers into a new file, if the table is
 *						empty and this transaction made its storage
 *	FC_STORAGE_BUFFERS	any other, if there are many rows and it has little
 *						free space for them
 */
static FcStorageKind
fc_write_kind(Relation rel, uint64 rows)
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
		rows >= FC_PAGES_ROWS && fc_shared_free_percent(rel) < FC_SPACE_USED;
	if (pages && fc_write_page_can(rel))
		return empty && own && fc_hold_alone(rel) ? FC_STORAGE_PAGES : FC_STORAGE_BUFFERS;
	return empty ? FC_STORAGE_EMPTY : FC_STORAGE_USED;
}

FcStorageKind
fc_write_routed_kind(Relation rel, uint64 rows)
{
	FcStorageKind kind = fc_write_kind(rel, rows);

	return kind == FC_STORAGE_PAGES ? FC_STORAGE_BUFFERS : kind;
}

FcStorage
fc_write_storage(Relation rel, uint64 rows, bool frozen, List **files)
{
	FcStorage	storage = {fc_write_kind(rel, rows),.frozen = frozen};

	Assert(!IsParallelWorker());
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	/* an older snapshot would see rows that are not committed */
	if (frozen && rel->rd_createSubid == InvalidSubTransactionId &&
		fc_first_storage_subid(rel) == InvalidSubTransactionId)
		elog(ERROR, "rows of table \"%s\", which others can see, cannot be frozen", RelationGetRelationName(rel));
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

	Assert(writer->toast == NULL);
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
	Assert(!to->sliced || (to->turn != NULL && to->slice != NULL));
	Assert(to->storage.kind != FC_STORAGE_PAGES || !fc_locator_equals(to->storage.file, fc_relation_locator(rri->ri_RelationDesc)));
	writer->routine = routine;
	writer->ctx = ctx;
	writer->estate = estate;
	writer->rri = rri;
	writer->rel = rri->ri_RelationDesc;
	writer->slot = MakeSingleTupleTableSlot(RelationGetDescr(writer->rel),
											&TTSOpsVirtual);
	writer->to = *to;
	writer->cid = GetCurrentCommandId(!ctx->in_worker);
	writer->options = to->storage.kind == FC_STORAGE_USED && !ctx->shared->plan.order.append ?
		0 : HEAP_INSERT_SKIP_FSM;
	if (to->storage.frozen)
		writer->options |= HEAP_INSERT_FROZEN;
	fc_write_open_toast(writer);
	routine->begin(writer);
	return writer;
}

void
fc_write_put(FcWriter *writer, uint64 offset, uint32 length)
{
	writer->routine->put(writer, offset, length);
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

void
fc_write_put_spilled(FcWriter *writer, const FcSpilledRow *rows, int n)
{
	writer->routine->put_spilled(writer, rows, n);
}

void
fc_write_flush(FcWriter *writer)
{
	writer->routine->flush(writer);
}

uint64
fc_write_end_slice(FcWriter *writer)
{
	FcContext  *ctx = writer->ctx;
	FcSlice    *slice = writer->to.slice;
	uint64		inserted = writer->inserted;

	Assert(slice != NULL && ctx->in_worker == IsParallelWorker());
	if (fc_turn_defer(ctx, writer))
		return inserted;
	inserted = fc_write_end(writer);
	fc_turn_pass(ctx, slice);
	return inserted;
}
