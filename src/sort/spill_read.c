/*-------------------------------------------------------------------------
 *
 * sort/spill_read.c
 *	  Reads back what was spilled, cell by cell, in key order.
 *
 *	blocks of all processes ──► one buffer ──► items (item.c), sorted ──► rows
 *			└──► too large for the memory ──► cut into cells, which are read
 *				 one after the other
 *
 * If only places were spilled, the reader sorts them by their offsets, lays
 * them out again with room for their records, and reads these in file order
 * (sort/fetch.c).  From then on the cell is like one of spilled records.
 *
 * A cell is cut as often as it must be, by key and offset; no two records have
 * both the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "common/pg_prng.h"

#include "sort/spill.h"

#define FC_CELL_SAMPLE	8		/* rows of a sample for each piece */
#define FC_CELL_PIECES	1024	/* of a cell that is cut, at most */
#define FC_CELL_ROWS	64		/* rows that are handed out together, at most */
#define FC_CELL_ROW		((uint64) 1)	/* fc_cells_rows hands it out */
#define FC_CELL_BITS	40		/* for the place, a multiple of 8 */
#define FC_CELL_PLACE	((((uint64) 1 << FC_CELL_BITS) - 1) & ~FC_CELL_ROW)
#define FC_CELL_PAGE	((Size) 2 * 1024 * 1024)	/* of a large page */
#define FC_CELL_BLOCK	((Size) 64 * 1024 * 1024)	/* of fetched records; it
													 * may have one more */

StaticAssertDecl(FC_CELL_BLOCK + 2 * FC_SPILL_LONG_PLACE <
				 (uint64) MAXIMUM_ALIGNOF << (64 - FC_CELL_BITS),
				 "a row is so many words after the begin of its block");

struct FcCellReader
{
	FcContext  *ctx;
	MemoryContext mcxt;
	FcSpills   *spills;
	Size		memory;
	Size		head;			/* bytes of a head that is not of a row */
	Size		key_place;		/* in a bare row */
	int			key_width;
	bool		null;			/* the cell is that of NULL keys */
	const FcCell *cell;			/* that is read, or cut */
	const FcCellBlocks *blocks; /* of all processes that have some of it */
	int			nblocks;
	List	   *cuts;			/* FcSpillKept: what cells were cut into, the
								 * current one first; each has a memory
								 * context of its own */

	char	   *buf;			/* the cell's blocks */
	Size		buf_size;
	FcItem	   *items;			/* room for twice the cell's rows */
	uint64		most;			/* rows that there is room for */
	FcItem	   *sorted;			/* row: words from the begin of its block,
								 * place in buf, FC_CELL_ROW */
	uint64		n;
	uint64		next;
	FcFetch    *fetch;			/* NULL: cells have all that they need */
	FcReadStats stats;			/* of this task */
	char	   *large;			/* a record whose bytes the cell lacks */
	Size		large_size;
};

/* Reads exactly "size" bytes; ERROR XX001 if the file has fewer */
static void
fc_cells_read(File file, uint64 place, char *buf, Size size)
{
	while (size > 0)
	{
		int			n;

		CHECK_FOR_INTERRUPTS();
		n = FileRead(file, buf, size, place, WAIT_EVENT_BUFFILE_READ);
		if (n < 0)
			fc_file_error(errmsg("could not read file \"%s\": %m", FilePathName(file)));
		if (n == 0)
			fc_throw(ERRCODE_DATA_CORRUPTED, errmsg("could not read file \"%s\": it ends at byte " UINT64_FORMAT,
													FilePathName(file), place));
		buf += n;
		place += n;
		size -= n;
	}
}

FcCellReader *
fc_cells_begin(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	Size		memory = fc_shared_read_memory(shared) / 8;
	MemoryContext mcxt = fc_context_memory(CurrentMemoryContext, "cells");
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcCellReader *reader = palloc0(sizeof(FcCellReader));

	reader->ctx = ctx;
	reader->mcxt = mcxt;
	reader->spills = fc_spills_open(shared, ctx->kept);
	reader->memory = Min(memory * 6, FC_CELL_PLACE);
	reader->head = fc_spill_head(shared);
	reader->key_place = FC_SPILL_BARE_HEAD + shared->plan.key.place;
	reader->key_width = shared->plan.key.width;
	if (!shared->course.spills)
		reader->fetch = fc_fetch_begin(ctx->source, shared, reader->head, memory, &reader->stats);
	MemoryContextSwitchTo(old);
	return reader;
}

/* Bytes of places with room for their records, and of the heads of blocks */
static inline Size
fc_cells_laid_out(Size size, Size fetched)
{
	Size		all = size + fetched;

	return all + all / FC_CELL_BLOCK * sizeof(FcSpillBlock);
}

/* Bytes to read a cell's blocks into, beside the items */
static inline Size
fc_cells_buffer(const FcCellReader *reader, Size size, Size fetched)
{
	return reader->fetch ? fc_cells_laid_out(size, fetched) + size : size;
}

/*
 * Rows are read out of order in the buffer.  Large pages make that cheaper, if
 * the kernel has some; this only advises it.
 */
static void
fc_cells_advise(FcCellReader *reader)
{
#ifdef MADV_HUGEPAGE
	char	   *start = (char *) TYPEALIGN(FC_CELL_PAGE, reader->buf);
	char	   *end = (char *) TYPEALIGN_DOWN(FC_CELL_PAGE, reader->buf + reader->buf_size);

	if (start < end)
		(void) madvise(start, end - start, MADV_HUGEPAGE);
#endif
}

static void
fc_cells_free(FcCellReader *reader)
{
	if (reader->buf)
		pfree(reader->buf);
	if (reader->items)
		pfree(reader->items);
	reader->buf = NULL;
	reader->items = NULL;
	reader->buf_size = 0;
}

static void
fc_cells_make_room(FcCellReader *reader, Size size, uint64 rows)
{
	Size		most = size;
	uint64		most_rows = rows;

	if (size <= reader->buf_size && rows <= reader->most)
		return;
	fc_cells_free(reader);

	/*
	 * takes as much as any cell needs that is not cut, unless both together are
	 * too much: fresh memory costs more than memory that was used before
	 */
	for (int i = 0; i < reader->spills->ncells; i++)
	{
		const FcCell *cell = &reader->spills->cells[i];
		Size		buffer = fc_cells_buffer(reader, cell->size, cell->fetched);

		if (buffer + cell->part.rows * 2 * sizeof(FcItem) > reader->memory)
			continue;
		most = Max(most, buffer);
		most_rows = Max(most_rows, cell->part.rows);
	}
	if (most + most_rows * 2 * sizeof(FcItem) <= reader->memory)
	{
		size = most;
		rows = most_rows;
	}
	Assert(rows <= 1 || size + rows * 2 * sizeof(FcItem) <= reader->memory);
	reader->buf = MemoryContextAllocHuge(reader->mcxt, Max(size, 1));
	reader->buf_size = size;
	fc_cells_advise(reader);
	reader->items = MemoryContextAllocHuge(reader->mcxt, Max(sizeof(FcItem) * 2 * rows, 1));
	reader->most = rows;
}

/*
 * Reads the block that its successor points to, and moves on to the one before
 * it.  ERROR XX001 if there is none.
 */
static void
fc_cells_read_block(FcCellReader *reader, File file, uint64 *place, uint32 *size, char *to)
{
	const FcSpillBlock *block = (const FcSpillBlock *) to;

	fc_cells_read(file, *place, to, *size);
	/* reads of places are not counted, only those of their records */
	reader->stats.reads += reader->fetch == NULL;
	reader->stats.bytes += reader->fetch ? 0 : *size;
	if (block->size != *size)
		fc_throw(ERRCODE_DATA_CORRUPTED, errmsg("could not read file \"%s\": there is no block at byte " UINT64_FORMAT,
												FilePathName(file), *place));
	*place = block->before;
	*size = block->before_size;
}

/* Called for each row of a block */
typedef void (*FcCellEach) (FcCellReader *reader, const FcSpillBlock *block, FcSpilled *spilled,
							void *arg);

static pg_attribute_always_inline void
fc_cells_walk(FcCellReader *reader, char *block, FcCellEach each, void *arg)
{
	const FcSpillBlock *head = (const FcSpillBlock *) block;
	char	   *end = block + head->size;

	for (char *at = block + sizeof(FcSpillBlock); at < end;)
	{
		FcSpilled  *spilled = (FcSpilled *) at;

		at += fc_spilled_size(spilled, reader->head);
		each(reader, head, spilled, arg);
	}
}

#define fc_cells_key(reader, spilled) \
	fc_spilled_key(spilled, (reader)->key_place, (reader)->key_width)

static inline void
fc_cells_add_item(FcCellReader *reader, const FcSpillBlock *block, FcSpilled *spilled, void *arg)
{
	FcItem	   *item = &reader->items[reader->n++];
	uint64		words = ((char *) spilled - (const char *) block) / MAXIMUM_ALIGNOF;

	Assert(reader->n <= reader->most);
	item->key = fc_cells_key(reader, spilled);
	item->row = words << FC_CELL_BITS | ((char *) spilled - reader->buf) |
		(fc_spilled_is_short(spilled) ? FC_CELL_ROW : 0);
}

/*
 * Reads the cell block by block, and calls "each" for a block's rows while
 * they are in the processor's cache.  The blocks stay one after the other in
 * "to"; if that is NULL they are freed.
 */
static pg_attribute_always_inline void
fc_cells_each(FcCellReader *reader, char *to, FcCellEach each, void *arg)
{
	for (int i = 0; i < reader->nblocks; i++)
	{
		uint64		place = reader->blocks[i].last;
		uint32		size = reader->blocks[i].last_size;
		char	   *block = (char *) reader->blocks[i].block;

		/* it is the cell's only one */
		if (block && to)
			block = memcpy(to, block, reader->cell->size);
		if (block)
		{
			fc_spill_check_block(reader->ctx->shared, block, reader->cell);
			fc_cells_walk(reader, block, each, arg);
		}
		while (size > 0)
		{
			block = to ? to : palloc(size);
			if (to)
				to += size;
			fc_cells_read_block(reader, reader->blocks[i].file, &place, &size, block);
			fc_spill_check_block(reader->ctx->shared, block, reader->cell);
			fc_cells_walk(reader, block, each, arg);
			if (to == NULL)
				pfree(block);
		}
	}
}

static inline FcSpilled *
fc_cells_at(const FcCellReader *reader, const FcItem *item)
{
	return (FcSpilled *) (reader->buf + (item->row & FC_CELL_PLACE));
}

/* The base of the item's offset */
static inline uint64
fc_cells_base(const FcCellReader *reader, const FcItem *item)
{
	const char *row = (const char *) fc_cells_at(reader, item);

	return ((const FcSpillBlock *) (row - (item->row >> FC_CELL_BITS) * MAXIMUM_ALIGNOF))->base;
}

static inline uint64
fc_cells_offset(const FcCellReader *reader, const FcItem *item)
{
	return fc_cells_base(reader, item) + fc_cells_at(reader, item)->after;
}

static int
fc_item_cmp_offset(const void *a, const void *b, void *arg)
{
	uint64		oa = fc_cells_offset(arg, a);
	uint64		ob = fc_cells_offset(arg, b);

	CHECK_FOR_INTERRUPTS();
	return fc_spill_offset_before(oa, ob) ? -1 : oa != ob;
}

/* Puts rows of the same key in the order of the file, if they are not */
static void
fc_cells_order_ties(FcCellReader *reader)
{
	FcItem	   *items = reader->sorted;
	uint64		end;

	for (uint64 i = 0; i + 1 < reader->n; i = end)
	{
		bool		ordered = true;

		for (end = i + 1; end < reader->n && items[end].key == items[i].key; end++)
			ordered = ordered && fc_spill_offset_before(fc_cells_offset(reader, &items[end - 1]),
													   fc_cells_offset(reader, &items[end]));
		if (!ordered)
			qsort_arg(items + i, end - i, sizeof(FcItem), fc_item_cmp_offset, reader);
	}
}

static inline void
fc_cells_add_place(FcCellReader *reader, const FcSpillBlock *block, FcSpilled *spilled, void *arg)
{
	reader->items[reader->n++] = (FcItem) {block->base + spilled->after, (char *) spilled - reader->buf};
}

/*
 * Lays out the places in file order, in blocks from reader->buf on, which end
 * at the limit at the latest.  There are no more of these than the places were
 * read from, but for those that are full: each takes all places up to the
 * farthest that it can.  Returns their end.
 */
static char *
fc_cells_lay_out(FcCellReader *reader, const char *limit)
{
	const FcItem *items = fc_item_sort(reader->items, reader->items + reader->n, reader->n);
	uint32		most = fc_spill_keeps_most(reader->ctx->shared);
	FcSpillBlock *block = NULL;
	char	   *at = reader->buf;

	for (uint64 i = 0; i < reader->n; i++)
	{
		uint64		offset = items[i].key;
		FcSpilled  *spilled = (FcSpilled *) at;

		Assert(i == 0 || items[i - 1].key < offset);
		if (block == NULL || offset - block->base > PG_UINT32_MAX ||
			at - (char *) block > FC_CELL_BLOCK)
		{
			CHECK_FOR_INTERRUPTS();
			block = (FcSpillBlock *) at;
			block->base = offset;
			spilled = (FcSpilled *) (block + 1);
		}
		memcpy(spilled, reader->buf + items[i].row, reader->head);
		spilled->after = offset - block->base;
		if (fc_spilled_length(spilled) <= most)
			spilled->kind_length |= (uint32) FC_SPILLED_RECORD << FC_SPILL_LENGTH_BITS;
		at = (char *) spilled + fc_spilled_size(spilled, reader->head);
		Assert(at <= limit);
		block->size = at - (char *) block;
	}
	return at;
}

/* Reads the places of a cell, and their records */
static void
fc_cells_fetch(FcCellReader *reader, Size laid_out)
{
	char	   *end;

	fc_cells_each(reader, reader->buf + laid_out, fc_cells_add_place, NULL);
	end = fc_cells_lay_out(reader, reader->buf + laid_out);
	reader->n = 0;
	for (char *at = reader->buf; at < end; at += ((FcSpillBlock *) at)->size)
	{
		fc_fetch_block(reader->fetch, (FcSpillBlock *) at);
		fc_cells_walk(reader, at, fc_cells_add_item, NULL);
	}
}

/* A sample of the rows of a cell, each as likely as any other */
typedef struct FcCellSample
{
	FcBound    *bounds;
	int			n;
	int			most;
	uint64		seen;
	pg_prng_state random;
} FcCellSample;

static inline void
fc_cells_take_sample(FcCellReader *reader, const FcSpillBlock *block, FcSpilled *spilled, void *arg)
{
	FcCellSample *sample = arg;
	uint64		at = sample->seen++;

	if (sample->n < sample->most)
		sample->n++;
	else if ((at = pg_prng_uint64_range(&sample->random, 0, at)) >= (uint64) sample->most)
		return;
	sample->bounds[at] = (FcBound) {fc_cells_key(reader, spilled), block->base + spilled->after};
}

static inline void
fc_cells_put_again(FcCellReader *reader, const FcSpillBlock *block, FcSpilled *spilled, void *arg)
{
	FcEntry		entry = {
		fc_cells_key(reader, spilled), block->base + spilled->after, fc_spilled_length(spilled),
		fc_entry_info(false, 0)
	};

	fc_spill_put_again(arg, spilled, &entry);
}

/*
 * Returns bounds between *n pieces of a cell with about as many rows each, and
 * sets *n to their number; each is a row's
 */
static FcBound *
fc_cells_find_bounds(FcCellReader *reader, int *n)
{
	FcCellSample sample = {.most = *n * FC_CELL_SAMPLE};
	int			nbounds = 0;

	pg_prng_seed(&sample.random, 1);
	sample.bounds = palloc(sizeof(FcBound) * sample.most);
	fc_cells_each(reader, NULL, fc_cells_take_sample, &sample);
	qsort(sample.bounds, sample.n, sizeof(FcBound), fc_spill_bound_cmp);
	for (int i = 1; i < *n; i++)
	{
		const FcBound *bound = &sample.bounds[(uint64) sample.n * i / *n];

		/* nothing may be before the least */
		if (fc_spill_bound_cmp(bound, &sample.bounds[0]) == 0 ||
			(nbounds > 0 && fc_spill_bound_cmp(bound, &sample.bounds[nbounds]) == 0))
			continue;
		sample.bounds[++nbounds] = *bound;
	}
	*n = nbounds;
	return sample.bounds + 1;
}

/* Cuts a cell; its pieces come next */
static void
fc_cells_cut(FcCellReader *reader, Size need)
{
	MemoryContext old = MemoryContextSwitchTo(fc_context_memory(reader->mcxt, "cut cell"));
	int			n = Min(need / (reader->memory / 2 + 1) + 1, FC_CELL_PIECES);
	FcBound    *bounds;
	FcSpill    *spill;

	fc_cells_free(reader);
	bounds = fc_cells_find_bounds(reader, &n);
	spill = fc_spill_begin(reader->ctx->shared, NULL, NULL, bounds, n, reader->memory / 2);
	fc_cells_each(reader, NULL, fc_cells_put_again, spill);
	MemoryContextSwitchTo(reader->mcxt);
	reader->cuts = lcons(fc_spill_keep(spill, true), reader->cuts);
	MemoryContextSwitchTo(old);
}

/* Reads a cell, or cuts it */
static void
fc_cells_take(FcCellReader *reader, const FcCell *cell, const FcCellBlocks *blocks, int nblocks)
{
	Size		buffer = fc_cells_buffer(reader, cell->size, cell->fetched);
	uint64		rows = cell->part.rows;
	Size		need = buffer + rows * 2 * sizeof(FcItem);

	reader->cell = cell;
	reader->blocks = blocks;
	reader->nblocks = nblocks;
	reader->n = reader->next = 0;
	if (need > reader->memory && rows > 1)
	{
		fc_cells_cut(reader, need);
		return;
	}
	fc_cells_make_room(reader, buffer, rows);
	if (reader->fetch)
		fc_cells_fetch(reader, fc_cells_laid_out(cell->size, cell->fetched));
	else
		fc_cells_each(reader, reader->buf, fc_cells_add_item, NULL);
	if (reader->n != rows)
		elog(ERROR, "a spilled cell has " UINT64_FORMAT " rows instead of " UINT64_FORMAT,
			 reader->n, rows);
	reader->sorted = fc_item_sort(reader->items, reader->items + reader->n, reader->n);
	fc_cells_order_ties(reader);
}

static void
fc_cells_end_cut(FcCellReader *reader)
{
	FcSpillKept *cut = linitial(reader->cuts);

	FileClose(cut->cells->blocks.file);
	MemoryContextDelete(GetMemoryChunkContext(cut));
	reader->cuts = list_delete_first(reader->cuts);
}

/* Goes on to the next piece of a cell that was cut; false: there is none */
static bool
fc_cells_advance(FcCellReader *reader)
{
	while (reader->cuts != NIL)
	{
		FcSpillKept *cut = linitial(reader->cuts);
		const FcCell *cell = &cut->cells[cut->next];

		if (cut->next++ == cut->ncells)
			fc_cells_end_cut(reader);
		else
			fc_cells_take(reader, cell, &cell->blocks, 1);
		if (reader->next < reader->n)
			return true;
	}
	return false;
}

void
fc_cells_enter(FcCellReader *reader, const FcTask *task)
{
	const FcSpills *spills = reader->spills;
	int			i = fc_spills_find(spills, task);

	if (reader->ctx->stopped)
		return;
	Assert(reader->cuts == NIL);
	reader->null = task->null;
	fc_cells_take(reader, &spills->cells[i], &spills->blocks[spills->first[i]],
				  spills->first[i + 1] - spills->first[i]);
}

void
fc_cells_leave(FcCellReader *reader, FcTask *task)
{
	FcShared   *shared = reader->ctx->shared;

	task->reads += reader->stats.reads;
	pg_atomic_fetch_add_u64(&shared->counts.reads, reader->stats.reads);
	pg_atomic_fetch_add_u64(&shared->counts.read_bytes, reader->stats.bytes);
	if (reader->stats.refused != 0)
		pg_atomic_write_u32(&shared->io.uring_errno, reader->stats.refused);
	memset(&reader->stats, 0, sizeof(FcReadStats));
}

static inline bool
fc_cells_has_next(FcCellReader *reader)
{
	return !reader->ctx->stopped && (reader->next < reader->n || fc_cells_advance(reader));
}

FcSpilled *
fc_cells_next(FcCellReader *reader, FcEntry *entry)
{
	const FcItem *item;
	FcSpilled  *spilled;
	bool		numbered = reader->head == FC_SPILL_NUMBERED;

	if (!fc_cells_has_next(reader))
		return NULL;
	item = &reader->sorted[reader->next++];
	Assert(reader->next == 1 || item[-1].key <= item->key);
	if (reader->next + FC_SPILL_AHEAD < reader->n)
		fc_spilled_ask(fc_cells_at(reader, &reader->sorted[reader->next + FC_SPILL_AHEAD]));
	spilled = fc_cells_at(reader, item);
	entry->key = item->key;
	entry->offset = fc_cells_base(reader, item) + spilled->after;
	entry->length = fc_spilled_length(spilled);
	entry->info = fc_entry_info(reader->null, numbered ? spilled->more.number : 0);
	entry->embedded = numbered ? spilled->embedded : 0;
	return spilled;
}

char *
fc_cells_record(FcCellReader *reader, FcSpilled *spilled, const FcEntry *entry)
{
	Size		size = (Size) entry->length + 1;

	if (fc_spilled_kind(spilled) == FC_SPILLED_RECORD)
		return (char *) spilled + reader->head;
	Assert(fc_spilled_kind(spilled) == FC_SPILLED_PLACE);
	if (size > reader->large_size)
	{
		if (reader->large)
			pfree(reader->large);
		reader->large = NULL;
		reader->large = MemoryContextAllocHuge(reader->mcxt, size);
		reader->large_size = size;
	}
	fc_source_read(reader->ctx->source, entry->offset, reader->large, entry->length);
	reader->stats.reads++;
	reader->stats.bytes += entry->length;
	return reader->large;
}

int
fc_cells_rows(FcCellReader *reader, FcSpilledRow *rows, int most)
{
	int			n;

	if (!fc_cells_has_next(reader))
		return 0;
	most = Min(most, FC_CELL_ROWS);
	for (n = 0; n < most && reader->next < reader->n; n++, reader->next++)
	{
		const FcItem *item = &reader->sorted[reader->next];

		if ((item->row & FC_CELL_ROW) == 0)
			break;
		Assert(reader->next == 0 || item[-1].key <= item->key);
		rows[n] = (FcSpilledRow) {fc_cells_at(reader, item), item->key, fc_cells_base(reader, item)};
	}
	/* prefetches the first rows of the next call, while these are read */
	for (uint64 i = reader->next; i < Min(reader->next + FC_SPILL_AHEAD, reader->n); i++)
		fc_spilled_ask(fc_cells_at(reader, &reader->sorted[i]));
	return n;
}

void
fc_cells_give_back(FcCellReader *reader, int n)
{
	Assert(n >= 0 && n <= reader->next);
	reader->next -= n;
}

void
fc_cells_end(FcCellReader *reader)
{
	while (reader->cuts != NIL)
		fc_cells_end_cut(reader);
	if (reader->fetch)
		fc_fetch_end(reader->fetch);
	fc_spills_close(reader->spills);
	MemoryContextDelete(reader->mcxt);
}
