/*-------------------------------------------------------------------------
 *
 * heap/writer.c
 *	  Puts rows into one table, by one writer or the other.
 *
 *	 phase/load.c ──► begin, slot, put, flush, end ──┬─► heap/multi_insert.c
 *													 └─► heap/page_writer.c
 *
 * Here is what both writers have in common: which of them it is, and the TOAST
 * table.  heap/insert.c has the turns of a table's slices,
 * and the way around core's refusal to insert in a parallel worker.
 *
 * On error the transaction aborts and takes the rows along; the writer lives
 * in the phase's memory context, the relations belong to the caller.
 *
 * heap/multi_insert.c calls heap_multi_insert, which is right for every table.
 * heap/page_writer.c forms tuples on pages of its own, and appends these pages
 * to the table, in one of two ways.
 *
 * The pages of an empty table whose storage this transaction has made go past
 * shared buffers, to a new file.  The leader makes that the table's own when
 * all pages are in it, because code that the load evaluates (a CHECK) may read
 * the table meanwhile, and insert into it (heap/page_new.c).  The head of
 * heap/page_file.c says why that is safe in a crash, beside a checkpoint and
 * without WAL.
 *
 * Pages of other tables go through shared buffers (heap/page_shared.c), if
 * there are many rows and the table has little free space for them.  Tables
 * with indexes and logically logged ones never get pages (fc_write_page_can).
 * The leader decides for each leaf before the load (fc_write_storage); where
 * core routes, the process that finds a leaf decides (fc_write_routed_kind).
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
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/hold.h"
#include "heap/turn.h"
#include "heap/writer.h"
#include "options/plan.h"

/* Rows that are worth a new file, and a last page that stays half empty */
#define FC_PAGES_ROWS	10000

/* Free space, in percent of a table, that rows should go to first */
#define FC_SPACE_USED	10

static FcStorageKind
fc_write_kind(Relation rel, uint64 rows)
{
	/* core tells by the same two fields whether a table's WAL may be skipped */
	bool		own = rel->rd_createSubid != InvalidSubTransactionId ||
		fc_first_storage_subid(rel) != InvalidSubTransactionId;
	bool		empty;
	bool		pages;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		return FC_STORAGE_USED;
	empty = RelationGetNumberOfBlocks(rel) == 0;
	pages = fc_writer != FC_WRITER_AUTO ? fc_writer == FC_WRITER_PAGE :
		rows >= FC_PAGES_ROWS && fc_buffer_free_percent(rel) < FC_SPACE_USED;
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
fc_write_storage(Relation rel, uint64 rows, List **files)
{
	FcStorage	storage = {fc_write_kind(rel, rows)};

	Assert(!IsParallelWorker());
	if (storage.kind == FC_STORAGE_PAGES)
		storage.file = fc_new_begin(rel, files);
	return storage;
}

/*
 * Gets the TOAST table into a worker's relcache before fc_write_as_leader
 * hides that this is a worker.  Only if core knows that it is in a worker does
 * it note in the entry that WAL may be skipped for a table created in this
 * transaction (wal_level=minimal); and either all processes skip a table's WAL
 * or none does.
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
	if (ctx->shared->plan.freeze)
		writer->options |= HEAP_INSERT_FROZEN;
	fc_write_open_toast(writer);
	routine->begin(writer);
	return writer;
}

TupleTableSlot *
fc_write_slot(FcWriter *writer)
{
	return writer->slot;
}

void
fc_write_put(FcWriter *writer, uint64 offset, uint32 length)
{
	writer->routine->put(writer, offset, length);
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

	if (fc_turn_defer(ctx, writer))
		return inserted;
	inserted = fc_write_end(writer);
	fc_turn_pass(ctx, slice);
	return inserted;
}
