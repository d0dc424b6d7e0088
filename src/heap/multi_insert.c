/*-------------------------------------------------------------------------
 *
 * heap/multi_insert.c
 *	  Puts rows into one table through heap_multi_insert, and into its indexes.
 *
 *	slot ──► heap tuple ──► batch ──► heap_multi_insert ──► index entries
 *
 * Right for any table.  Slices of a leaf insert in turn: until its turn the
 * writer holds its rows while memory lasts, and then goes on in the block in
 * which the slice before stopped.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "context/process.h"
#include "heap/writer.h"

/*
 * As many rows and bytes per insert as COPY takes.  With more rows index
 * entries come in no better order, and the batch falls out of the processor's
 * cache.
 */
#define FC_MULTI_ROWS	FC_ENTRIES_ROWS
#define FC_MULTI_BYTES	65535

typedef struct FcMultiWriter
{
	FcWriter	base;
	MemoryContext mcxt;			/* slots and tuples */
	MemoryContext insert_mcxt;	/* reset after each insert */
	TupleDesc	desc;			/* of the slots: without reference count */
	FcMultiRow *rows;
	int			nrows;
	int			maxrows;		/* rows allocated */
	int			nslots;			/* of the first rows: see fc_multi_show */
	BulkInsertState bistate;
	BlockNumber last_block;		/* of the last row inserted */
	bool		unique;			/* rows that an index refuses are rejected */
	FcEntries  *entries;		/* of its indexes */
} FcMultiWriter;

/*
 * If on_error leaves out rows that a unique index or an exclusion constraint
 * refuses, the writer asks the index before it inserts a row.  Prepares unique
 * indexes for that.  A table with a deferrable constraint, which has a
 * trigger, never comes here.
 */
static void
fc_multi_init_unique(FcMultiWriter *writer)
{
	ResultRelInfo *rri = writer->base.rri;
	MemoryContext old;

	if ((writer->base.ctx->shared->plan.tolerated & FC_CLASS_UNIQUE) == 0)
		return;
	old = MemoryContextSwitchTo(writer->base.estate->es_query_cxt);
	for (int i = 0; i < rri->ri_NumIndices; i++)
	{
		IndexInfo  *info = rri->ri_IndexRelationInfo[i];

		writer->unique |= info->ii_Unique || info->ii_ExclusionOps;
		if (info->ii_Unique && !info->ii_ExclusionOps && !info->ii_UniqueProcs)
			BuildSpeculativeIndexInfo(rri->ri_IndexRelationDescs[i], info);
	}
	MemoryContextSwitchTo(old);
}

static void
fc_multi_begin(FcWriter *base)
{
	FcMultiWriter *writer = (FcMultiWriter *) base;

	Assert(base->to.storage.kind < FC_STORAGE_BUFFERS && (!base->to.sliced || base->to.turn != NULL));
	writer->mcxt = fc_context_memory(CurrentMemoryContext, "batch");
	writer->insert_mcxt = fc_context_memory(writer->mcxt, "insert");
	writer->maxrows = 64;
	writer->rows = palloc0(sizeof(FcMultiRow) * writer->maxrows);
	writer->bistate = GetBulkInsertState();
	writer->last_block = InvalidBlockNumber;
	/* an earlier insert of this session may have set a target block */
	if (base->ctx->shared->plan.order.append)
		RelationSetTargetBlock(base->rel, InvalidBlockNumber);
	fc_multi_init_unique(writer);
	writer->entries = fc_entries_begin(base->ctx, base->estate, base->rri, writer->insert_mcxt);
}

/* Rows that are inserted together; one that is checked by the indexes */
typedef struct FcMultiInsert
{
	FcMultiWriter *writer;
	TupleTableSlot **slots;
	int			n;
	int			conflict;		/* the index that refuses it; -1: none */
} FcMultiInsert;

/* Body of fc_write_as_leader: lets core insert them */
static void
fc_multi_insert(void *arg)
{
	FcMultiInsert *insert = arg;
	FcWriter   *base = &insert->writer->base;

	Assert(!IsParallelWorker() && insert->n > 0);
	table_multi_insert(base->rel, insert->slots, insert->n, base->cid, base->options,
					   insert->writer->bistate);
	Assert(ItemPointerIsValid(&insert->slots[0]->tts_tid));
	Assert(ItemPointerIsValid(&insert->slots[insert->n - 1]->tts_tid));
}

/*
 * Body of fc_error_catch.  Logical decoding needs a transaction's TOAST chunks
 * right before their row: processes insert into a logically logged table one
 * at a time.
 */
static void
fc_multi_heap(void *arg)
{
	FcMultiInsert *insert = arg;
	FcMultiWriter *writer = insert->writer;
	LWLock	   *lock = &writer->base.ctx->shared->logical_lock;
	bool		logical = RelationIsLogicallyLogged(writer->base.rel);
	MemoryContext old = MemoryContextSwitchTo(writer->insert_mcxt);

	if (logical)
		LWLockAcquire(lock, LW_EXCLUSIVE);
	fc_write_as_leader(&writer->base, fc_multi_insert, insert);
	if (logical)
		LWLockRelease(lock);
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->insert_mcxt);
	writer->last_block = ItemPointerGetBlockNumber(&insert->slots[insert->n - 1]->tts_tid);
	writer->base.inserted += insert->n;
	pg_atomic_fetch_add_u64(&writer->base.ctx->shared->counts.loaded, insert->n);
}

/*
 * Inserts rows without their index entries.  False if one of them cannot be
 * inserted: inserts the rows one by one then, to find the first such row, and
 * notes its error.
 */
static bool
fc_multi_try(FcMultiWriter *writer, FcMultiRow *rows, int n)
{
	FcContext  *ctx = writer->base.ctx;
	TupleTableSlot *slots[FC_MULTI_ROWS];
	FcMultiInsert insert = {writer, slots, n};
	ErrorData  *edata;
	bool		found = false;

	Assert(n > 0 && n <= FC_MULTI_ROWS);
	for (int i = 0; i < n; i++)
		slots[i] = rows[i].slot;
	edata = fc_error_catch(ctx, fc_multi_heap, &insert);
	if (edata == NULL)
		return true;
	for (int i = 0; i < n && n > 1 && !found; i++)
		found = !fc_multi_try(writer, &rows[i], 1);
	if (!found)
		fc_error_keep(ctx->shared, FC_ERROR_BATCH, rows[n - 1].offset, rows[n - 1].length, edata);
	FreeErrorData(edata);
	return false;
}

/* Body of fc_error_catch_at: finds the index that refuses the row */
static void
fc_multi_find_conflict(void *arg)
{
	FcMultiInsert *one = arg;
	ResultRelInfo *rri = one->writer->base.rri;
	EState	   *estate = one->writer->base.estate;

	Assert(one->writer->unique && rri->ri_NumIndices > 0);
	one->conflict = -1;
	ItemPointerSetInvalid(&one->slots[0]->tts_tid);
	for (int i = 0; i < rri->ri_NumIndices && one->conflict < 0; i++)
		if ((rri->ri_IndexRelationInfo[i]->ii_Unique ||
			 rri->ri_IndexRelationInfo[i]->ii_ExclusionOps) &&
			!fc_check_index(rri, one->slots[0], estate,
							RelationGetRelid(rri->ri_IndexRelationDescs[i])))
			one->conflict = i;
	ResetPerTupleExprContext(estate);
}

/* Rejects a row that index i refuses, with core's text */
static void
fc_multi_reject(FcMultiWriter *writer, FcMultiRow *row, int i)
{
	bool		exclusion = writer->base.rri->ri_IndexRelationInfo[i]->ii_ExclusionOps != NULL;
	ErrorData	edata = {0};
	FcBad		bad = {FC_CLASS_UNIQUE, NULL, NULL, &edata};

	edata.sqlerrcode = exclusion ? ERRCODE_EXCLUSION_VIOLATION : ERRCODE_UNIQUE_VIOLATION;
	edata.message = psprintf(exclusion ?
							 "conflicting key value violates exclusion constraint \"%s\"" :
							 "duplicate key value violates unique constraint \"%s\"",
							 RelationGetRelationName(writer->base.rri->ri_IndexRelationDescs[i]));
	fc_reject_put(writer->base.ctx, row->offset, row->length, &bad);
	pfree(edata.message);
}

/*
 * Inserts one row, unless an index refuses it.  Rows of this load that an
 * index takes for equal come in the order of the file: the first one stays.
 * The load fails if another transaction inserts an equal row after the index
 * was asked.
 */
static void
fc_multi_one(FcMultiWriter *writer, FcMultiRow *row)
{
	FcContext  *ctx = writer->base.ctx;
	FcMultiInsert one = {writer, &row->slot, 1};
	ErrorData  *edata;

	Assert(writer->unique && row->slot != NULL && !TTS_EMPTY(row->slot));
	if (ctx->stopped || fc_error_beyond(ctx->shared, row->offset))
		return;
	edata = fc_error_catch_at(ctx, row->offset, row->length, fc_multi_find_conflict, &one);
	if (edata != NULL)
		fc_error_take(ctx, FC_ERROR_DATA, edata, true);
	else if (one.conflict >= 0)
		fc_multi_reject(writer, row, one.conflict);
	else if (fc_multi_try(writer, row, 1))
		fc_entries_insert(writer->entries, row, 1);
}

/*
 * Inserts rows [i, i + n) of the batch, if they are wanted.  Once a bad record
 * is known the load fails, and rows are inserted only to find an earlier one
 * that an index refuses; or, if the known one does not fit on a page, an
 * earlier one that does not fit.
 */
static void
fc_multi_some(FcMultiWriter *writer, int i, int n)
{
	FcContext  *ctx = writer->base.ctx;
	bool		known = fc_error_beyond(ctx->shared, PG_UINT64_MAX - 1);

	Assert(i >= 0 && n > 0 && n <= FC_MULTI_ROWS && i + n <= writer->nrows);
	pg_read_barrier();
	if ((writer->base.rri->ri_NumIndices == 0 || ctx->stopped) && known &&
		ctx->shared->errors.first.kind != FC_ERROR_BATCH)
		return;
	if (writer->unique)
	{
		for (int j = 0; j < n; j++)
			fc_multi_one(writer, &writer->rows[i + j]);
		return;
	}
	if (fc_multi_try(writer, &writer->rows[i], n) && writer->base.rri->ri_NumIndices > 0)
		fc_entries_insert(writer->entries, writer->rows + i, n);
}

/* Waits for the slice's turn, and takes over where the slice before stopped */
static void
fc_multi_take_spot(FcMultiWriter *writer)
{
	FcWriter   *base = &writer->base;
	const FcSpot *spot;

	fc_turn_wait(base->ctx, base->to.slice);
	if (!base->to.sliced)
		return;
	spot = &base->to.turn->spot;
	Assert(spot->block == InvalidBlockNumber || spot->block < RelationGetNumberOfBlocks(base->rel));
	Assert(spot->next_free == InvalidBlockNumber || spot->next_free <= spot->last_free);
	if (spot->block != InvalidBlockNumber)
		RelationSetTargetBlock(base->rel, spot->block);
	fc_bulk_set_free(writer->bistate, spot->next_free, spot->last_free, spot->added);
}

/* Stores where the next slice goes on, and unpins the page */
static void
fc_multi_leave_spot(FcMultiWriter *writer)
{
	FcSpot	   *spot;

	if (!writer->base.to.sliced)
		return;
	spot = &writer->base.to.turn->spot;
	Assert(fc_turn_has_come(writer->base.to.slice));
	if (writer->last_block != InvalidBlockNumber)
		spot->block = writer->last_block;
	fc_bulk_get_free(writer->bistate, &spot->next_free, &spot->last_free, &spot->added);
	ReleaseBulkInsertStatePin(writer->bistate);
}

/*
 * Puts rows [i, i + n) into slots, which own their tuples then: those of the
 * first n rows.  A slot for each row that waits would take twice the memory of
 * its tuple, and be out of the processor's cache when the row is inserted.
 */
static void
fc_multi_show(FcMultiWriter *writer, int i, int n)
{
	FcMultiRow *rows = writer->rows;
	MemoryContext old = MemoryContextSwitchTo(writer->mcxt);

	/* resource owners get slow with many references to one descriptor */
	if (writer->desc == NULL)
		writer->desc = CreateTupleDescCopyConstr(RelationGetDescr(writer->base.rel));
	for (; writer->nslots < n; writer->nslots++)
		rows[writer->nslots].slot = MakeSingleTupleTableSlot(writer->desc, &TTSOpsHeapTuple);
	MemoryContextSwitchTo(old);
	for (int j = 0; j < n; j++)
	{
		TupleTableSlot *slot = rows[i + j].slot = rows[j].slot;

		Assert(TTS_EMPTY(slot));
		ExecStoreHeapTuple(rows[i + j].tuple, slot, true);
		slot->tts_tableOid = RelationGetRelid(writer->base.rel);
	}
}

static void
fc_multi_flush(FcWriter *base)
{
	FcMultiWriter *writer = (FcMultiWriter *) base;

	if (writer->nrows == 0)
		return;
	fc_multi_take_spot(writer);
	for (int i = 0; i < writer->nrows; i += FC_MULTI_ROWS)
	{
		int			n = Min(writer->nrows - i, FC_MULTI_ROWS);

		CHECK_FOR_INTERRUPTS();
		fc_multi_show(writer, i, n);
		fc_multi_some(writer, i, n);
		for (int j = 0; j < n; j++)
			ExecClearTuple(writer->rows[j].slot);
		fc_pace_wait(base->ctx);
	}
	fc_multi_leave_spot(writer);
	writer->nrows = 0;
	base->held = 0;
}

/* Adds a tuple to the batch, which owns it from here on */
static void
fc_multi_add(FcMultiWriter *writer, HeapTuple tuple, uint64 offset, uint32 length)
{
	FcWriter   *base = &writer->base;
	FcMultiRow *row;

	Assert(writer->nrows <= writer->maxrows && tuple->t_len >= SizeofHeapTupleHeader);
	Assert(HeapTupleHeaderGetNatts(tuple->t_data) == RelationGetNumberOfAttributes(base->rel));
	if (writer->nrows == writer->maxrows)
	{
		writer->maxrows *= 2;
		writer->rows = repalloc_huge(writer->rows, sizeof(FcMultiRow) * writer->maxrows);
	}
	row = &writer->rows[writer->nrows++];
	row->tuple = tuple;
	row->offset = offset;
	row->length = length;
	base->held += tuple->t_len + sizeof(HeapTupleData) + sizeof(FcMultiRow);
	/* the batch is full, and its turn has come or its memory is used up */
	if ((writer->nrows >= FC_MULTI_ROWS || base->held >= FC_MULTI_BYTES) &&
		(fc_turn_has_come(base->to.slice) || base->held >= base->to.memory))
		fc_multi_flush(base);
}

static void
fc_multi_put(FcWriter *base, uint64 offset, uint32 length)
{
	FcMultiWriter *writer = (FcMultiWriter *) base;
	MemoryContext old = MemoryContextSwitchTo(writer->mcxt);
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(base->rel), base->slot->tts_values,
										base->slot->tts_isnull);

	MemoryContextSwitchTo(old);
	fc_multi_add(writer, tuple, offset, length);
}

static void
fc_multi_put_spilled(FcWriter *base, const FcSpilledRow *rows, int n)
{
	FcMultiWriter *writer = (FcMultiWriter *) base;
	HeapTupleHeaderData header;

	fc_spilled_header(RelationGetDescr(base->rel), &header);
	ItemPointerSetInvalid(&header.t_ctid);
	for (int i = 0; i < n; i++)
	{
		const FcSpilled *spilled = rows[i].spilled;
		Size		len = fc_spilled_row(spilled);
		HeapTuple	tuple = MemoryContextAlloc(writer->mcxt, HEAPTUPLESIZE + len);

		fc_spilled_ask_ahead(rows, i, n);
		memset(tuple, 0, HEAPTUPLESIZE);
		tuple->t_len = len;
		tuple->t_data = (HeapTupleHeader) ((char *) tuple + HEAPTUPLESIZE);
		ItemPointerSetInvalid(&tuple->t_self);
		fc_spilled_copy(spilled, &header, tuple->t_data);
		Assert(tuple->t_data->t_hoff <= len && len >= FC_SPILL_HEADER);
		fc_multi_add(writer, tuple, fc_spilled_offset(&rows[i]), fc_spilled_length(spilled));
	}
}

static void
fc_multi_end(FcWriter *base)
{
	FcMultiWriter *writer = (FcMultiWriter *) base;

	fc_multi_flush(base);
	FreeBulkInsertState(writer->bistate);
	for (int i = 0; i < writer->nslots; i++)
		ExecDropSingleTupleTableSlot(writer->rows[i].slot);
	MemoryContextDelete(writer->mcxt);
	pfree(writer->rows);
}

const FcWriterRoutine fc_write_multi = {
	.size = sizeof(FcMultiWriter),
	.begin = fc_multi_begin,
	.put = fc_multi_put,
	.put_spilled = fc_multi_put_spilled,
	.flush = fc_multi_flush,
	.end = fc_multi_end
};
