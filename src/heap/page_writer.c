/*-------------------------------------------------------------------------
 *
 * heap/page_writer.c
 *	  The writer that forms pages itself, for tables without indexes.
 *
 * 1. fc_page_put forms a tuple and copies it to a page of the process's own.
 *    A long row passes core's toaster before.
 * 2. When a batch of FC_PAGE_BATCH pages is full and the slice's turn has
 *    come, or when memory is used up, fc_page_write appends all pages to the
 *    table.
 * 3. heap/page_log.c writes a WAL record of each page's rows.
 *
 * The pages and the WAL are those of heap_multi_insert.  The pages go one of
 * two ways:
 *
 *	new file	past shared buffers; no session can read the file before all
 *				pages are there (heap/page_new.c, heap/page_file.c)
 *	buffers		into a table that other sessions use, whose free space stays
 *				as it is (heap/page_shared.c)
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"
#include "storage/freespace.h"

#include "context/process.h"
#include "heap/append.h"
#include "heap/writer.h"

/* Pages of a slice from which on blocks are reserved, and for how many */
#define FC_RESERVE_LEAST	(2 * FC_PAGE_BATCH)
#define FC_RESERVE_MOST		(32 * FC_PAGE_BATCH)

typedef struct FcPageWriter
{
	FcWriter	base;
	MemoryContext mcxt;			/* of the form and its buffers */
	MemoryContext toast_mcxt;	/* reset after each row */
	FcForm	   *form;
	TransactionId xid;
	uint16		infomask;		/* of all rows */
	HeapTupleHeader header;		/* of bare spilled rows; its beginning, of all
								 * spilled rows */
	Size		save_free;		/* bytes of each page, for fillfactor */
	List	   *batches;		/* FC_PAGE_BATCH pages each */
	int			npages;			/* begun and not written yet */
	Page		page;			/* the last of them, NULL if it is full */
	HeapTuple	tuple;			/* the long row that is formed */
	uint32		lengths[FC_BATCH_ROWS]; /* of rows of a batch */
	char	   *rows[FC_BATCH_ROWS];	/* their addresses on the pages */
	FcBatchColumn *columns;		/* of the slot's row, as a batch of one */
	BufferAccessStrategy strategy;	/* NULL: pages go past shared buffers */
	BlockNumber last_block;		/* the last one written through them */
	Size		last_space;		/* bytes free in it */
	int			njoined;		/* rows that fill the last page of the slice
								 * before */
} FcPageWriter;

/* Sets the header fields that core sets before an insert */
static void
fc_page_set_header(FcPageWriter *writer, HeapTupleHeader row)
{
	row->t_infomask = (row->t_infomask & ~HEAP_XACT_MASK) | writer->infomask;
	row->t_infomask2 &= ~HEAP2_XACT_MASK;
	HeapTupleHeaderSetXmin(row, writer->xid);
	HeapTupleHeaderSetCmin(row, writer->base.cid);
	HeapTupleHeaderSetXmax(row, InvalidTransactionId);
}

static void
fc_page_begin(FcWriter *base)
{
	FcPageWriter *writer = (FcPageWriter *) base;
	TupleDesc	desc = RelationGetDescr(base->rel);
	MemoryContext old;

	Assert(base->to.storage.kind >= FC_STORAGE_BUFFERS);
	writer->mcxt = fc_context_memory(CurrentMemoryContext, "pages");
	writer->toast_mcxt = fc_context_memory(writer->mcxt, "long row");
	old = MemoryContextSwitchTo(writer->mcxt);
	writer->form = fc_form_begin(desc, TOAST_TUPLE_THRESHOLD, false);
	writer->header = palloc(FC_SPILL_HEADER);
	writer->columns = palloc0(sizeof(FcBatchColumn) * desc->natts);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < desc->natts; i++)
		writer->columns[i] = (FcBatchColumn) {
			.values = &base->slot->tts_values[i],.nulls = &base->slot->tts_isnull[i],.len = TupleDescAttr(desc, i)->attlen
		};
	writer->xid = GetCurrentTransactionId();
	writer->infomask = HEAP_XMAX_INVALID;
	if (base->options & HEAP_INSERT_FROZEN)
		writer->infomask |= HEAP_XMIN_FROZEN;
	fc_page_set_header(writer, fc_form_head(writer->form));
	fc_spilled_header(desc, writer->header);
	fc_page_set_header(writer, writer->header);
	writer->save_free = RelationGetTargetPageFreeSpace(base->rel,
													   HEAP_DEFAULT_FILLFACTOR);
	writer->last_block = InvalidBlockNumber;
	if (base->to.storage.kind == FC_STORAGE_BUFFERS)
		writer->strategy = GetAccessStrategy(BAS_BULKWRITE);
}

/* False once a bad record is known: the load fails, and needs no more rows */
static bool
fc_page_wanted(FcPageWriter *writer)
{
	return !fc_error_beyond(writer->base.ctx->shared, PG_UINT64_MAX - 1);
}

static void
fc_page_count(FcPageWriter *writer, int nrows)
{
	pg_atomic_fetch_add_u64(&writer->base.ctx->shared->counts.paged, nrows);
	pg_atomic_fetch_add_u64(&writer->base.ctx->shared->counts.loaded, nrows);
}

/*
 * Appends one batch, counts its rows for the table's statistics, and frees its
 * memory
 */
static void
fc_page_append(FcPageWriter *writer, FcAppend *append)
{
	FcWriter   *base = &writer->base;
	int			rows = 0;

	for (int i = 0; i < append->n; i++)
		fc_append_check(append, i, InvalidBlockNumber);
	if (fc_page_wanted(writer))
	{
		if (writer->strategy == NULL)
			fc_file_append(append);
		else
		{
			fc_shared_append(append, writer->strategy);
			writer->last_block = append->block;
			writer->last_space = PageGetHeapFreeSpace(fc_append_page(append, append->n - 1));
		}
		for (int i = 0; i < append->n; i++)
			rows += PageGetMaxOffsetNumber(fc_append_page(append, i));
		pgstat_count_heap_insert(base->rel, rows);
		fc_count_hand_over(base->to.turn, base->rel, base->toast, false);
		fc_page_count(writer, rows);
	}
	slist_push_head(&base->ctx->free_batches, (slist_node *) append->pages);
}

/*
 * From which page on the last pages of a slice get reserved blocks in a table
 * that others use; npages if none do.  A short slice is appended in its turn,
 * so that the next one can fill its last page; of a long one no more is
 * reserved than the strategy's buffers hold.  The turn must be the leaf's.
 */
static int
fc_page_reserve_from(const FcPageWriter *writer)
{
	const FcDestination *to = &writer->base.to;

	if (!to->sliced || to->slice->turn != to->turn || writer->npages < FC_RESERVE_LEAST)
		return writer->npages;
	return Max(0, writer->npages - FC_RESERVE_MOST) / FC_PAGE_BATCH * FC_PAGE_BATCH;
}

/*
 * Appends all pages.  The slice's turn is over once blocks are reserved for its
 * last pages: the next slice can reserve while these are logged and written.
 * The index build and later sessions read a new file through shared buffers;
 * these hold nothing older, because each block is written once.
 */
static void
fc_page_append_all(FcPageWriter *writer, bool last)
{
	FcWriter   *base = &writer->base;
	FcAppend	append = {.rel = base->rel,.file = base->to.storage.file,.fork = MAIN_FORKNUM};
	int			from = last && writer->strategy ? fc_page_reserve_from(writer) : writer->npages;

	Assert(base->held == (Size) writer->npages * BLCKSZ);
	if (writer->strategy == NULL && fc_page_wanted(writer))
	{
		fc_file_reserve(&append, writer->npages);
		if (last)
			fc_turn_pass(base->ctx, base->to.slice);
	}
	for (int i = 0; i < writer->npages; i += FC_PAGE_BATCH)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == from && fc_page_wanted(writer))
		{
			MemoryContext old = MemoryContextSwitchTo(writer->mcxt);

			fc_shared_reserve(&append, writer->strategy, writer->npages - i);
			MemoryContextSwitchTo(old);
			base->to.turn->spot.block = InvalidBlockNumber;
			fc_turn_pass(base->ctx, base->to.slice);
		}
		append.pages = list_nth(writer->batches, i / FC_PAGE_BATCH);
		append.n = Min(writer->npages - i, FC_PAGE_BATCH);
		fc_page_append(writer, &append);
		append.block += append.n;
		fc_pace_wait(base->ctx);
	}
	list_free(writer->batches);
	writer->batches = NIL;
	base->held = 0;
	writer->npages = 0;
	writer->page = NULL;
}

static void fc_page_join(FcPageWriter *writer);

/*
 * Appends all pages in the slice's turn, after the last page of the slice
 * before.  "last": no more pages of this slice will come.
 */
static void
fc_page_write(FcPageWriter *writer, bool last)
{
	FcSpot	   *spot = writer->base.to.sliced && writer->strategy ? &writer->base.to.turn->spot : NULL;

	fc_turn_wait(writer->base.ctx, writer->base.to.slice);
	Assert(writer->npages > 0 && fc_turn_has_come(writer->base.to.slice));
	Assert(spot == NULL || spot->block == InvalidBlockNumber || spot->space < BLCKSZ);
	if (spot && spot->block != InvalidBlockNumber && fc_page_wanted(writer))
		fc_page_join(writer);
	fc_page_append_all(writer, last);
	if (spot == NULL || writer->base.to.slice->turn == NULL)
		return;
	spot->block = writer->last_block;
	spot->space = writer->last_space;
}

static void
fc_page_flush(FcWriter *base)
{
	FcPageWriter *writer = (FcPageWriter *) base;

	if (writer->npages > 0)
		fc_page_write(writer, false);
}

/* The i-th page that is not written yet */
static Page
fc_page_nth(const List *batches, int i)
{
	return (Page) ((char *) list_nth(batches, i / FC_PAGE_BATCH) + (Size) (i % FC_PAGE_BATCH) * BLCKSZ);
}

/* Begins the next page; memory for it comes in batches */
static void
fc_page_next(FcPageWriter *writer)
{
	FcContext  *ctx = writer->base.ctx;

	Assert(writer->page == NULL && list_length(writer->batches) == (writer->npages + FC_PAGE_BATCH - 1) / FC_PAGE_BATCH);
	if (writer->npages % FC_PAGE_BATCH == 0)
	{
		MemoryContext old = MemoryContextSwitchTo(writer->mcxt);

		/* it keeps free ones: fresh memory costs more than filling it */
		writer->batches = lappend(writer->batches, slist_is_empty(&ctx->free_batches) ?
								  MemoryContextAlloc(ctx->mcxt, FC_PAGE_BATCH * BLCKSZ) :
								  (void *) slist_pop_head_node(&ctx->free_batches));
		MemoryContextSwitchTo(old);
	}
	writer->page = fc_page_nth(writer->batches, writer->npages);
	PageInit(writer->page, BLCKSZ, 0);
	if (writer->base.options & HEAP_INSERT_FROZEN)
		PageSetAllVisible(writer->page);
	writer->npages++;
	writer->base.held += BLCKSZ;
}

/*
 * Ends the last page.  Writes full batches if the slice's turn has come; or, if
 * memory is used up, waits for the turn and writes them.
 */
static void
fc_page_full(FcPageWriter *writer)
{
	FcContext  *ctx = writer->base.ctx;

	Assert(writer->page != NULL && writer->npages > 0);
	writer->page = NULL;
	if (writer->npages % FC_PAGE_BATCH != 0 || writer->njoined > 0)
		return;
	while (fc_turn_take_deferred(ctx))
		;
	if (fc_turn_has_come(writer->base.to.slice) ||
		writer->base.held + ctx->deferred_bytes >= writer->base.to.memory)
		fc_page_write(writer, false);
}

/* The free space of the current page, while rows get room there */
typedef struct FcPageSpace
{
	PageHeader	page;
	Size		lower;
	Size		upper;
	int			nrows;
} FcPageSpace;

/* Returns free space, all zero, in which a row of len bytes fits */
static FcPageSpace
fc_page_space(FcPageWriter *writer, Size len)
{
	PageHeader	page = (PageHeader) writer->page;

	len = MAXALIGN(len);
	Assert(len >= SizeofHeapTupleHeader && len <= MaxHeapTupleSize);
	if (page && page->pd_lower + sizeof(ItemIdData) + len + writer->save_free > page->pd_upper)
		fc_page_full(writer);
	if (writer->page == NULL)
		fc_page_next(writer);
	page = (PageHeader) writer->page;
	return (FcPageSpace) {page, page->pd_lower, page->pd_upper, 0};
}

/*
 * Returns room for the next row, of "row" bytes; NULL if it does not fit.  The
 * first fits, even if it takes space that fillfactor leaves free: the space is
 * for it.
 */
static inline char *
fc_page_place(const FcPageWriter *writer, FcPageSpace *space, uint32 row)
{
	Size		len = MAXALIGN(row);

	if (space->nrows > 0 &&
		space->lower + sizeof(ItemIdData) + len + writer->save_free > space->upper)
		return NULL;
	Assert(row >= SizeofHeapTupleHeader && space->lower + sizeof(ItemIdData) + len <= space->upper);
	space->upper -= len;
	ItemIdSetNormal((ItemId) ((char *) space->page + space->lower), space->upper, row);
	space->lower += sizeof(ItemIdData);
	space->nrows++;
	return (char *) space->page + space->upper;
}

/* The page must not be written before the rows are formed */
static inline void
fc_page_take_space(const FcPageSpace *space)
{
	Assert(space->nrows > 0 && space->lower <= space->upper);
	space->page->pd_lower = space->lower;
	space->page->pd_upper = space->upper;
}

/* Copies one row to the pages */
static void
fc_page_add(FcPageWriter *writer, HeapTupleHeader row, Size len)
{
	FcPageSpace space = fc_page_space(writer, len);

	memcpy(fc_page_place(writer, &space, len), row, len);
	fc_page_take_space(&space);
}

/*
 * Body of fc_write_as_leader: lets core put rows, from the first one on, on
 * the page where the slice before stopped, as long as they fit there.  Stops
 * before a row that core would toast again.
 */
static void
fc_page_top_up(void *arg)
{
	FcPageWriter *writer = arg;
	FcWriter   *base = &writer->base;
	FcSpot	   *spot = &base->to.turn->spot;

	RelationSetTargetBlock(base->rel, spot->block);
	for (int i = 0; i < writer->npages; i++)
	{
		Page		page = fc_page_nth(writer->batches, i);

		for (OffsetNumber off = FirstOffsetNumber; off <= PageGetMaxOffsetNumber(page); off++)
		{
			ItemId		item = PageGetItemId(page, off);
			HeapTupleData tuple = {.t_len = ItemIdGetLength(item)};
			Size		taken = MAXALIGN(tuple.t_len) + sizeof(ItemIdData);

			tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
			if (taken + writer->save_free > spot->space ||
				tuple.t_len > TOAST_TUPLE_THRESHOLD || HeapTupleHasExternal(&tuple))
				return;
			heap_insert(base->rel, &tuple, base->cid, base->options, NULL);
			writer->last_block = ItemPointerGetBlockNumber(&tuple.t_self);
			spot->space -= taken;
			writer->njoined++;
		}
	}
}

/* Forms all pages once more, without the first n rows, and writes none */
static void
fc_page_lay_anew(FcPageWriter *writer, int n)
{
	List	   *batches = writer->batches;
	int			npages = writer->npages;

	writer->batches = NIL;
	writer->base.held = 0;
	writer->npages = 0;
	writer->page = NULL;
	for (int i = 0; i < npages; i++)
	{
		Page		page = fc_page_nth(batches, i);

		for (OffsetNumber off = FirstOffsetNumber; off <= PageGetMaxOffsetNumber(page); off++)
		{
			ItemId		item = PageGetItemId(page, off);

			if (n-- <= 0)
				fc_page_add(writer, (HeapTupleHeader) PageGetItem(page, item), ItemIdGetLength(item));
		}
		if (i % FC_PAGE_BATCH == FC_PAGE_BATCH - 1 || i == npages - 1)
			slist_push_head(&writer->base.ctx->free_batches, (slist_node *) list_nth(batches, i / FC_PAGE_BATCH));
	}
	Assert(n <= 0);
	list_free(batches);
}

/*
 * Fills the page where the slice before stopped with the first rows, and moves
 * the others up: no page stays half empty between slices.  A frozen page is
 * not filled up, nor one in a new file, which may not be written yet.
 */
static void
fc_page_join(FcPageWriter *writer)
{
	FcSpot	   *spot = &writer->base.to.turn->spot;

	Assert(spot->block != InvalidBlockNumber && writer->strategy != NULL);
	if (writer->base.options & HEAP_INSERT_FROZEN)
		return;
	writer->njoined = 0;
	fc_write_as_leader(&writer->base, fc_page_top_up, writer);
	if (writer->njoined == 0)
		return;
	writer->last_space = spot->space;
	fc_page_count(writer, writer->njoined);
	fc_page_lay_anew(writer, writer->njoined);
	writer->njoined = 0;
}

/* Body of fc_write_as_leader: compresses values, or moves them out of line */
static void
fc_page_toast(void *arg)
{
	FcPageWriter *writer = arg;

	writer->tuple = heap_toast_insert_or_update(writer->base.rel, writer->tuple, NULL,
												writer->base.options);
}

/*
 * Forms a row that core would toast, or that has an external or expanded
 * value, from a default or an expression
 */
static HeapTupleHeader
fc_page_form_long(FcPageWriter *writer, Size *len)
{
	FcWriter   *base = &writer->base;

	writer->tuple = heap_form_tuple(RelationGetDescr(base->rel), base->slot->tts_values,
									base->slot->tts_isnull);
	writer->tuple->t_tableOid = RelationGetRelid(base->rel);
	fc_page_set_header(writer, writer->tuple->t_data);
	fc_write_as_leader(base, fc_page_toast, writer);
	*len = writer->tuple->t_len;
	Assert(HeapTupleHeaderGetRawXmin(writer->tuple->t_data) == writer->xid);
	return writer->tuple->t_data;
}

/* If the row fits on no page, notes core's error and returns false */
static bool
fc_page_fits(FcWriter *base, Size len, uint64 offset, uint32 length)
{
	ErrorData	edata = {0};

	if (MAXALIGN(len) <= MaxHeapTupleSize)
		return true;
	edata.sqlerrcode = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
	edata.message = psprintf(_("row is too big: size %zu, maximum size %zu"),
							 (Size) MAXALIGN(len), (Size) MaxHeapTupleSize);
	fc_error_keep(base->ctx->shared, FC_ERROR_BATCH, offset, length, &edata);
	pfree(edata.message);
	return false;
}

/*
 * Finds room for rows from "from" on, as long as they fit and have a length;
 * returns the first without room
 */
static int
fc_page_place_rows(FcPageWriter *writer, int from, int to)
{
	FcPageSpace space = fc_page_space(writer, writer->lengths[from]);
	int			i;

	for (i = from; i < to && writer->lengths[i] > 0; i++)
		if ((writer->rows[i] = fc_page_place(writer, &space, writer->lengths[i])) == NULL)
			break;
	fc_page_take_space(&space);
	Assert(i > from);
	return i;
}

/* Stops before a row that fc_page_put must take */
static int
fc_page_put_rows(FcWriter *base, const FcBatchColumn *columns, int from, int to)
{
	FcPageWriter *writer = (FcPageWriter *) base;
	uint32	   *lengths = writer->lengths;
	int			i;

	Assert(from >= 0 && from < to && to <= FC_BATCH_ROWS);
	fc_form_lengths(writer->form, columns, from, to, lengths + from);
	for (i = from; i < to && lengths[i] > 0;)
	{
		int			end = i;

		/* rows of many pages are formed at once, unless some may be written */
		do
			end = fc_page_place_rows(writer, end, to);
		while (end < to && lengths[end] > 0 && writer->npages % FC_PAGE_BATCH != 0);
		fc_form_rows(writer->form, columns, i, end, writer->rows + i);
		base->inserted += end - i;
		i = end;
	}
	return i - from;
}

/*
 * Puts the slot's row as a batch of one; false if it is too long for that, or
 * has an external or expanded value
 */
static bool
fc_page_put_short(FcPageWriter *writer)
{
	const TupleTableSlot *slot = writer->base.slot;

	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		FcBatchColumn *column = &writer->columns[i];

		column->any_null = slot->tts_isnull[i];
		Assert(column->len != -2);	/* of pseudo-types alone */
		if (!column->any_null && column->len < 0 && VARATT_IS_EXTERNAL(DatumGetPointer(slot->tts_values[i])))
			return false;
	}
	return fc_page_put_rows(&writer->base, writer->columns, 0, 1) > 0;
}

static void
fc_page_put(FcWriter *base, uint64 offset, uint32 length)
{
	FcPageWriter *writer = (FcPageWriter *) base;
	MemoryContext old;
	HeapTupleHeader formed;
	Size		len;

	if (fc_page_put_short(writer))
		return;
	old = MemoryContextSwitchTo(writer->toast_mcxt);
	formed = fc_page_form_long(writer, &len);
	if (fc_page_fits(base, len, offset, length))
	{
		fc_page_add(writer, formed, len);
		base->inserted++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->toast_mcxt);
}

/*
 * Copies a spilled row, two words at a time: its padding is zero, as the
 * page's must be
 */
static inline void
fc_page_copy(FcPageWriter *writer, HeapTupleHeader row, const FcSpilled *spilled)
{
	bool		bare = fc_spilled_is_bare(spilled);
	Size		skip = bare ? FC_SPILL_BARE_SKIP : 0;
	Size		len = MAXALIGN(fc_spilled_row(spilled)) - skip;
	char	   *to = (char *) row + skip;
	Size		i;

	for (i = 0; i + 2 * sizeof(uint64) <= len; i += 2 * sizeof(uint64))
		memcpy(to + i, (const char *) spilled + i, 2 * sizeof(uint64));
	if (i < len)
		memcpy(to + i, (const char *) spilled + i, sizeof(uint64));
	memcpy(row, writer->header, bare ? FC_SPILL_HEADER : FC_SPILL_TUPLE_HEAD);
	row->t_infomask |= writer->infomask;
	Assert(row->t_hoff <= fc_spilled_row(spilled) && HeapTupleHeaderGetNatts(row) == HeapTupleHeaderGetNatts(writer->header));
}

/* Prefetches rows that come soon, and the other lines of long ones */
static inline void
fc_page_ask(const FcSpilledRow *rows, int i, int n)
{
	fc_spilled_ask_ahead(rows, i, n);
	if (i + 2 < n)
		for (Size at = 128; at < fc_spilled_row(rows[i + 2].spilled); at += 64)
			fc_prefetch((const char *) rows[i + 2].spilled + at);
}

/* Takes all: no row is longer than what a scan forms */
static void
fc_page_put_spilled(FcWriter *base, const FcSpilledRow *rows, int n)
{
	FcPageWriter *writer = (FcPageWriter *) base;

	for (int i = 0; i < n;)
	{
		FcPageSpace space = fc_page_space(writer, fc_spilled_row(rows[i].spilled));
		char	   *place;

		Assert(fc_spilled_is_short(rows[i].spilled));
		for (; i < n && (place = fc_page_place(writer, &space, fc_spilled_row(rows[i].spilled))) != NULL; i++)
		{
			fc_page_ask(rows, i, n);
			fc_page_copy(writer, (HeapTupleHeader) place, rows[i].spilled);
		}
		fc_page_take_space(&space);
	}
	base->inserted += n;
}

static void
fc_page_end(FcWriter *base)
{
	FcPageWriter *writer = (FcPageWriter *) base;

	if (writer->npages > 0)
		fc_page_write(writer, true);
	/* the free space map must know of the only page that is not full */
	if (writer->last_block != InvalidBlockNumber)
	{
		Assert(writer->last_block < RelationGetNumberOfBlocks(base->rel) && writer->last_space < BLCKSZ);
		RecordPageWithFreeSpace(base->rel, writer->last_block, writer->last_space);
		FreeSpaceMapVacuumRange(base->rel, writer->last_block, writer->last_block + 1);
	}
	if (writer->strategy)
		FreeAccessStrategy(writer->strategy);
	MemoryContextDelete(writer->mcxt);
}

const FcWriterRoutine fc_write_page = {
	.size = sizeof(FcPageWriter),
	.patient = true,
	.begin = fc_page_begin,
	.put = fc_page_put,
	.put_rows = fc_page_put_rows,
	.put_spilled = fc_page_put_spilled,
	.flush = fc_page_flush,
	.end = fc_page_end
};
