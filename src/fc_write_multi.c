/*-------------------------------------------------------------------------
 *
 * fc_write_multi.c
 *	  Rows into one table through heap_multi_insert, and into its indexes.
 *
 *	 slot ──► heap tuple ──► batch ──► heap_multi_insert ──► index entries
 *
 * Right for any target, also one that others use.  The slices of a partition
 * insert in key order: a writer whose turn has not come keeps its rows while
 * memory lasts, then waits; it goes on in the block where the slice before
 * stopped.
 *
 * On error the transaction aborts and takes the rows along; the batch lives in
 * the phase's memory context, the relations belong to the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "fc_compat.h"
#include "fc_error.h"
#include "fc_plan.h"
#include "fc_reject.h"
#include "fc_write_multi.h"

/*
 * As many rows and bytes per insert as COPY takes.  More rows make the sort
 * of index entries no better and the batch fall out of the cache.
 */
#define FC_BATCH_ROWS	1000
#define FC_BATCH_BYTES	65535

/* One row of the batch */
typedef struct FcBatchRow
{
	TupleTableSlot *slot;
	uint64		offset;
	uint32		length;
} FcBatchRow;

struct FcWriter
{
	FcContext  *ctx;
	EState	   *estate;
	ResultRelInfo *rri;
	Relation	rel;
	TupleTableSlot *slot;		/* where the next row is built */
	MemoryContext mcxt;			/* slots and tuples */
	MemoryContext insert_mcxt;	/* reset after each insert */
	FcBatchRow *rows;
	int			nrows;
	int			nslots;			/* rows[] that have a slot */
	int			maxrows;		/* rows allocated */
	Size		bytes;			/* of tuples in the batch */
	FcPlace		place;
	bool		my_turn;
	CommandId	cid;
	int			options;
	BulkInsertState bistate;
	BlockNumber last_block;		/* of the last row inserted */
	uint64		inserted;
	Relation	toast;			/* kept open, see fc_write_open_toast */
	Relation   *toast_indexes;
	int			ntoast_indexes;
	int			valid_toast_index;
	bool		unique;			/* equal rows are rejected, one by one */
};

static uint32 turn_wait_event = 0;

/*
 * The TOAST table must be in this worker's relcache before fc_multi_insert
 * hides that this is a worker: only a relcache entry built as a worker knows
 * that WAL may be skipped for a table created in this transaction
 * (wal_level=minimal), and a table is either skipped or logged, never both.
 */
static void
fc_write_open_toast(FcWriter *writer)
{
	Oid			toastrelid = writer->rel->rd_rel->reltoastrelid;

	if (!OidIsValid(toastrelid))
		return;
	writer->toast = table_open(toastrelid, RowExclusiveLock);
	writer->valid_toast_index = toast_open_indexes(writer->toast,
												   RowExclusiveLock,
												   &writer->toast_indexes,
												   &writer->ntoast_indexes);
}

/*
 * Where rows that a unique index or an exclusion constraint refuses are passed
 * over, the indexes must be ready to be asked before a row is inserted.  Those
 * that are deferrable have a trigger, and their tables never come here.
 */
static void
fc_write_init_unique(FcWriter *writer)
{
	ResultRelInfo *rri = writer->rri;

	if ((writer->ctx->shared->tolerated & FC_CLASS_UNIQUE) == 0)
		return;
	for (int i = 0; i < rri->ri_NumIndices; i++)
	{
		Relation	index = rri->ri_IndexRelationDescs[i];
		IndexInfo  *info = rri->ri_IndexRelationInfo[i];
		MemoryContext old;

		if (!info->ii_Unique && !info->ii_ExclusionOps)
			continue;
		writer->unique = true;
		if (!info->ii_Unique || info->ii_ExclusionOps || info->ii_UniqueProcs)
			continue;
		old = MemoryContextSwitchTo(writer->estate->es_query_cxt);
		BuildSpeculativeIndexInfo(index, info);
		MemoryContextSwitchTo(old);
	}
}

FcWriter *
fc_write_begin(FcContext *ctx, EState *estate, ResultRelInfo *rri,
			   bool created, const FcPlace *place)
{
	FcWriter   *writer = palloc0(sizeof(FcWriter));

	writer->ctx = ctx;
	writer->estate = estate;
	writer->rri = rri;
	writer->rel = rri->ri_RelationDesc;
	writer->slot = MakeSingleTupleTableSlot(RelationGetDescr(writer->rel),
											&TTSOpsVirtual);
	writer->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										 "fast_copy batch",
										 ALLOCSET_DEFAULT_SIZES);
	writer->insert_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												"fast_copy insert",
												ALLOCSET_DEFAULT_SIZES);
	writer->maxrows = 64;
	writer->rows = palloc0(sizeof(FcBatchRow) * writer->maxrows);
	writer->place = *place;
	writer->cid = GetCurrentCommandId(!ctx->in_worker);
	writer->options = created ? TABLE_INSERT_SKIP_FSM : 0;
	if (ctx->shared->freeze)
		writer->options |= TABLE_INSERT_FROZEN;
	writer->bistate = GetBulkInsertState();
	writer->last_block = InvalidBlockNumber;
	writer->my_turn = (place->turn == NULL);
	fc_write_open_toast(writer);
	fc_write_init_unique(writer);
	/*
	 * What a worker counts stays counted if the transaction is rolled back:
	 * where the leader will know the numbers, it counts.
	 */
	if (ctx->in_worker && !ctx->shared->routed)
	{
		writer->rel->pgstat_enabled = false;
		pgstat_unlink_relation(writer->rel);
	}
	if (turn_wait_event == 0)
		turn_wait_event = fc_wait_event("FastCopyTurn");
	return writer;
}

TupleTableSlot *
fc_write_slot(FcWriter *writer)
{
	return writer->slot;
}

/*
 * heap_multi_insert, also in a parallel worker.
 *
 * heap_prepare_insert refuses in workers because an insert could make new
 * command ids (AFTER triggers, foreign keys), which workers have no way to
 * report; its comment says that everything else is there.  Targets with such
 * triggers never come here, the leader has the XID and the command id before
 * the workers start, so that hiding the worker for the length of this call
 * takes nothing away.  The one place that does so.
 */
static void
fc_multi_insert(Relation rel, TupleTableSlot **slots, int n, CommandId cid,
				int options, BulkInsertState bistate)
{
	int			worker = ParallelWorkerNumber;
	bool		only_foreign_keys;

	if (IsParallelWorker() && rel->trigdesc &&
		fc_plan_has_triggers(rel, &only_foreign_keys))
		elog(ERROR, "table \"%s\" with insert triggers reached a parallel worker",
			 RelationGetRelationName(rel));
	PG_TRY();
	{
		ParallelWorkerNumber = -1;
		table_multi_insert(rel, slots, n, cid, options, bistate);
	}
	PG_FINALLY();
	{
		ParallelWorkerNumber = worker;
	}
	PG_END_TRY();
}

/*
 * Logical decoding wants a transaction's TOAST chunks right before their row,
 * so that a logically logged table has one inserter at a time.
 */
static void
fc_write_heap(FcWriter *writer, TupleTableSlot **slots, int n)
{
	LWLock	   *lock = &writer->ctx->shared->logical_lock;
	bool		logical = RelationIsLogicallyLogged(writer->rel);
	MemoryContext old = MemoryContextSwitchTo(writer->insert_mcxt);

	if (logical)
		LWLockAcquire(lock, LW_EXCLUSIVE);
	fc_multi_insert(writer->rel, slots, n, writer->cid, writer->options,
					writer->bistate);
	if (logical)
		LWLockRelease(lock);
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->insert_mcxt);
	writer->last_block = ItemPointerGetBlockNumber(&slots[n - 1]->tts_tid);
	writer->inserted += n;
	pg_atomic_fetch_add_u64(&writer->ctx->shared->loaded, n);
}

/* Body of fc_error_catch: index entries of one row */
typedef struct FcIndexInsert
{
	FcWriter   *writer;
	TupleTableSlot *slot;
} FcIndexInsert;

static void
fc_write_index_entries(void *arg)
{
	FcIndexInsert *insert = arg;
	FcWriter   *writer = insert->writer;

	list_free(fc_insert_index_tuples(writer->rri, insert->slot,
									 writer->estate));
	ResetPerTupleExprContext(writer->estate);
}

static void
fc_write_indexes(FcWriter *writer, FcBatchRow *rows, int n)
{
	FcShared   *shared = writer->ctx->shared;

	for (int i = 0; i < n; i++)
	{
		FcIndexInsert insert = {writer, rows[i].slot};
		ErrorData  *edata;

		if (writer->ctx->stopped || fc_error_beyond(shared, rows[i].offset))
			continue;
		edata = fc_error_catch(writer->ctx, fc_write_index_entries, &insert);
		if (edata)
		{
			fc_error_keep(shared, rows[i].offset, rows[i].length, edata);
			/* thrown by the index itself, with no user's code under way? */
			if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
				fc_error_stop(writer->ctx);
			FreeErrorData(edata);
		}
	}
}

/*
 * Once a bad record is known the load fails, and rows are only inserted to
 * find out whether an index refuses one that stands before it.
 */
static bool
fc_write_wanted(FcWriter *writer)
{
	return (writer->rri->ri_NumIndices > 0 && !writer->ctx->stopped) ||
		!fc_error_beyond(writer->ctx->shared, PG_UINT64_MAX - 1);
}

/* Body of fc_error_catch: the index that has an equal row, or -1 */
typedef struct FcConflict
{
	FcWriter   *writer;
	TupleTableSlot *slot;
	int			index;
} FcConflict;

static void
fc_write_find_conflict(void *arg)
{
	FcConflict *conflict = arg;
	ResultRelInfo *rri = conflict->writer->rri;
	EState	   *estate = conflict->writer->estate;

	conflict->index = -1;
	ItemPointerSetInvalid(&conflict->slot->tts_tid);
	for (int i = 0; i < rri->ri_NumIndices && conflict->index < 0; i++)
		if ((rri->ri_IndexRelationInfo[i]->ii_Unique ||
			 rri->ri_IndexRelationInfo[i]->ii_ExclusionOps) &&
			!fc_check_index(rri, conflict->slot, estate,
							RelationGetRelid(rri->ri_IndexRelationDescs[i])))
			conflict->index = i;
	ResetPerTupleExprContext(estate);
}

/* Another row, of the file or not, is equal: what core says of it */
static void
fc_write_reject(FcWriter *writer, FcBatchRow *row, int i)
{
	Relation	index = writer->rri->ri_IndexRelationDescs[i];
	bool		exclusion = writer->rri->ri_IndexRelationInfo[i]->ii_ExclusionOps != NULL;
	ErrorData	edata = {0};
	FcBad		bad = {FC_CLASS_UNIQUE, NULL, NULL, &edata};

	edata.sqlerrcode = exclusion ? ERRCODE_EXCLUSION_VIOLATION : ERRCODE_UNIQUE_VIOLATION;
	edata.message = psprintf(exclusion ?
							 "conflicting key value violates exclusion constraint \"%s\"" :
							 "duplicate key value violates unique constraint \"%s\"",
							 RelationGetRelationName(index));
	fc_reject_put(writer->ctx, row->offset, row->length, &bad);
	pfree(edata.message);
}

/*
 * One row, unless an equal one is there.  Rows of this load come in the order
 * of the file wherever they can be equal, so that the first one stays.  A row
 * that another transaction inserts after we have asked is an error.
 */
static void
fc_write_one(FcWriter *writer, FcBatchRow *row)
{
	FcConflict	conflict = {writer, row->slot, -1};
	ErrorData  *edata;

	if (writer->ctx->stopped || fc_error_beyond(writer->ctx->shared, row->offset))
		return;
	edata = fc_error_catch(writer->ctx, fc_write_find_conflict, &conflict);
	if (edata)
	{
		fc_error_keep(writer->ctx->shared, row->offset, row->length, edata);
		fc_error_stop(writer->ctx);
		FreeErrorData(edata);
	}
	else if (conflict.index >= 0)
		fc_write_reject(writer, row, conflict.index);
	else
	{
		fc_write_heap(writer, &row->slot, 1);
		fc_write_indexes(writer, row, 1);
	}
}

/* Inserts rows [i, i + n) of the batch */
static void
fc_write_some(FcWriter *writer, int i, int n)
{
	TupleTableSlot *slots[FC_BATCH_ROWS];

	if (!fc_write_wanted(writer))
		return;
	if (writer->unique)
	{
		for (int j = 0; j < n; j++)
			fc_write_one(writer, &writer->rows[i + j]);
		return;
	}
	for (int j = 0; j < n; j++)
		slots[j] = writer->rows[i + j].slot;
	fc_write_heap(writer, slots, n);
	if (writer->rri->ri_NumIndices > 0)
		fc_write_indexes(writer, writer->rows + i, n);
}

/* Sleeps until the slice before has written all its rows */
static void
fc_write_wait_turn(FcWriter *writer)
{
	FcTurn	   *turn = writer->place.turn;
	ConditionVariable *cv = &writer->ctx->shared->turn_cv;
	BlockNumber block;

	if (writer->my_turn)
		return;
	ConditionVariablePrepareToSleep(cv);
	while (pg_atomic_read_u32(&turn->next) != writer->place.slice)
		ConditionVariableSleep(cv, turn_wait_event);
	ConditionVariableCancelSleep();
	writer->my_turn = true;
	block = pg_atomic_read_u32(&turn->block);
	if (block != InvalidBlockNumber)
		RelationSetTargetBlock(writer->rel, block);
}

void
fc_write_flush(FcWriter *writer)
{
	if (writer->nrows == 0)
		return;
	fc_write_wait_turn(writer);
	for (int i = 0; i < writer->nrows; i += FC_BATCH_ROWS)
	{
		CHECK_FOR_INTERRUPTS();
		fc_write_some(writer, i, Min(writer->nrows - i, FC_BATCH_ROWS));
	}
	for (int i = 0; i < writer->nrows; i++)
		ExecClearTuple(writer->rows[i].slot);
	writer->nrows = 0;
	writer->bytes = 0;
}

/* Is it our turn, or are there rows to wait for it with? */
static bool
fc_write_full(FcWriter *writer)
{
	if (writer->nrows < FC_BATCH_ROWS && writer->bytes < FC_BATCH_BYTES)
		return false;
	if (writer->my_turn ||
		pg_atomic_read_u32(&writer->place.turn->next) == writer->place.slice)
		return true;
	return writer->bytes >= writer->place.memory;
}

static FcBatchRow *
fc_write_next_row(FcWriter *writer)
{
	FcBatchRow *row;

	if (writer->nrows == writer->maxrows)
	{
		writer->maxrows *= 2;
		writer->rows = repalloc_huge(writer->rows,
									 sizeof(FcBatchRow) * writer->maxrows);
	}
	row = &writer->rows[writer->nrows];
	if (writer->nrows == writer->nslots)
	{
		MemoryContext old = MemoryContextSwitchTo(writer->mcxt);

		row->slot = MakeSingleTupleTableSlot(RelationGetDescr(writer->rel),
											 &TTSOpsHeapTuple);
		MemoryContextSwitchTo(old);
		writer->nslots++;
	}
	return row;
}

/*
 * The row is copied into a tuple of the batch, so that its values may go.
 */
void
fc_write_put(FcWriter *writer, uint64 offset, uint32 length)
{
	FcBatchRow *row = fc_write_next_row(writer);
	MemoryContext old = MemoryContextSwitchTo(writer->mcxt);
	HeapTuple	tuple;

	tuple = heap_form_tuple(RelationGetDescr(writer->rel),
							writer->slot->tts_values,
							writer->slot->tts_isnull);
	ExecStoreHeapTuple(tuple, row->slot, true);
	row->slot->tts_tableOid = RelationGetRelid(writer->rel);
	MemoryContextSwitchTo(old);
	row->offset = offset;
	row->length = length;
	writer->nrows++;
	writer->bytes += tuple->t_len + sizeof(HeapTupleData) + sizeof(HeapTupleTableSlot);
	if (fc_write_full(writer))
		fc_write_flush(writer);
}

static void
fc_write_pass_turn(FcWriter *writer)
{
	FcTurn	   *turn = writer->place.turn;

	if (turn == NULL)
		return;
	fc_write_wait_turn(writer);
	if (writer->last_block != InvalidBlockNumber)
		pg_atomic_write_u32(&turn->block, writer->last_block);
	/* a full barrier: who sees the turn sees the block */
	pg_atomic_fetch_add_u32(&turn->next, 1);
	ConditionVariableBroadcast(&writer->ctx->shared->turn_cv);
}

uint64
fc_write_end(FcWriter *writer)
{
	uint64		inserted;

	fc_write_flush(writer);
	FreeBulkInsertState(writer->bistate);
	fc_write_pass_turn(writer);
	for (int i = 0; i < writer->nslots; i++)
		ExecDropSingleTupleTableSlot(writer->rows[i].slot);
	ExecDropSingleTupleTableSlot(writer->slot);
	if (writer->toast)
	{
		toast_close_indexes(writer->toast_indexes, writer->ntoast_indexes, NoLock);
		table_close(writer->toast, NoLock);
	}
	inserted = writer->inserted;
	MemoryContextDelete(writer->mcxt);
	MemoryContextDelete(writer->insert_mcxt);
	pfree(writer->rows);
	pfree(writer);
	return inserted;
}
