/*-------------------------------------------------------------------------
 *
 * sort/spill_read.c
 *	  Reads back what was spilled, cell by cell, in key order.
 *
 *	blocks of all processes ──► one buffer ──► items (item.c), sorted ──► rows
 *			└──► too large for the memory ──► cut into cells, which are read
 *				 one after the other
 *
 * A cell is cut as often as it must be: by key and offset, of which no two
 * records have the same.  If an error skips fc_spills_close the phase's
 * resource owner closes the files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "compat/compat.h"
#include "key/search.h"
#include "sort/item.h"
#include "sort/spill.h"

#define FC_CELL_SAMPLE	8		/* rows of a sample for each piece */
#define FC_CELL_PIECES	1024	/* of a cell that is cut, at most */
#define FC_CELL_ROWS	64		/* rows that are handed out together, at most */
#define FC_CELL_ROW		((uint64) 1)	/* it is one for fc_cells_rows */
#define FC_CELL_BITS	40		/* for the place, a multiple of 8 */
#define FC_CELL_PLACE	((((uint64) 1 << FC_CELL_BITS) - 1) & ~FC_CELL_ROW)
#define FC_CELL_PAGE	((Size) 2 * 1024 * 1024)	/* of a large page */

/* What one process has of a cell; whoever reads has those of all processes */
typedef struct FcCellRef
{
	FcBound		lo;				/* as in FcCell */
	uint64		rows;
	uint64		size;
	uint64		last;
	uint32		last_size;
	bool		null;
	File		file;
	const char *block;			/* in memory; NULL: none */
} FcCellRef;

struct FcSpills
{
	FcShared   *shared;
	int			nfiles;
	File	   *files;
	FcCellRef  *refs;			/* by cell */
	int			nrefs;
	FcCell *cells;
	int		   *first;			/* the first ref of each cell, and nrefs */
	int			ncells;
};

/* The cells that a cell was cut into */
typedef struct FcCellCut
{
	MemoryContext mcxt;
	FcSpillKept *kept;
	int			next;
} FcCellCut;

struct FcCellReader
{
	MemoryContext mcxt;
	FcSpills   *spills;
	Size		memory;
	Size		head;			/* bytes of a head that is not of a row */
	Size		key_place;		/* in a bare row */
	int			key_width;
	bool		null;			/* the cell is that of NULL keys */
	List	   *cuts;			/* FcCellCut, the one in hand first */

	char	   *buf;			/* the cell's blocks */
	Size		buf_size;
	FcItem	   *items;			/* room for twice the cell's rows */
	uint64		most;			/* rows that there is room for */
	FcItem	   *sorted;			/* row: how many words after the begin of its
								 * block, where in buf, FC_CELL_ROW */
	uint64		n;
	uint64		next;
	FcReadStats stats;
};

/* Reads exactly so many bytes; ERROR XX001 if the file has fewer */
static void
fc_cells_read(File file, uint64 place, char *buf, Size size)
{
	while (size > 0)
	{
		int			n;

		CHECK_FOR_INTERRUPTS();
		n = FileRead(file, buf, size, place, WAIT_EVENT_BUFFILE_READ);
		if (n < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", FilePathName(file))));
		if (n == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("could not read file \"%s\": it ends at byte " UINT64_FORMAT,
							FilePathName(file), place)));
		buf += n;
		place += n;
		size -= n;
	}
}

static FcCellRef
fc_cell_ref(const FcCell *cell, File file, const char *block)
{
	return (FcCellRef)
	{
		cell->lo, cell->part.rows, cell->size, cell->last, cell->last_size, cell->part.null, file, block
	};
}

static void
fc_spills_add_ref(FcSpills *spills, int *allocated, const FcCell *cell, File file,
				  const char *block)
{
	if (spills->nrefs == *allocated)
	{
		*allocated *= 2;
		spills->refs = repalloc_huge(spills->refs, sizeof(FcCellRef) * *allocated);
	}
	spills->refs[spills->nrefs++] = fc_cell_ref(cell, file, block);
}

static int
fc_cell_cmp(const FcCell *a, const FcCell *b)
{
	if (a->part.null != b->part.null)
		return a->part.null ? 1 : -1;
	return fc_spill_bound_cmp(&a->lo, &b->lo);
}

/* Adds the cells of one process, in key order, to those of the others */
static void
fc_spills_add_cells(FcSpills *spills, const FcCell *cells, uint64 n)
{
	FcCell	   *all = MemoryContextAllocHuge(CurrentMemoryContext,
											 sizeof(FcCell) * (spills->ncells + n + 1));
	int			nall = 0;
	int			old = 0;
	uint64		i = 0;

	for (; old < spills->ncells || i < n; nall++)
	{
		int			order = i == n ? -1 : old == spills->ncells ? 1 :
			fc_cell_cmp(&spills->cells[old], &cells[i]);

		all[nall] = order > 0 ? cells[i] : spills->cells[old++];
		if (order == 0)
		{
			fc_spill_part_add(&all[nall].part, &cells[i].part);
			all[nall].size += cells[i].size;
		}
		Assert(nall == 0 || fc_cell_cmp(&all[nall - 1], &all[nall]) < 0);
		i += order >= 0;
	}
	pfree(spills->cells);
	spills->cells = all;
	spills->ncells = nall;
}

static void
fc_spills_open_process(FcSpills *spills, int process, int *allocated)
{
	char		name[MAXPGPATH];
	BufFile    *file_of_cells;
	FcCell	   *cells;
	uint64		ncells;
	File		file;

	snprintf(name, sizeof(name), "spill.%d", process);
	file = FileSetOpen(&spills->shared->fileset.fs, name, O_RDONLY);
	if (file <= 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open temporary file \"%s\": %m", name)));
	spills->files[spills->nfiles++] = file;
	snprintf(name, sizeof(name), "cells.%d", process);
	file_of_cells = BufFileOpenFileSet(&spills->shared->fileset.fs, name, O_RDONLY, false);
	fc_buffile_read(file_of_cells, &ncells, sizeof(ncells));
	cells = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcCell) * (ncells + 1));
	fc_buffile_read(file_of_cells, cells, sizeof(FcCell) * ncells);
	for (uint64 i = 0; i < ncells; i++)
		fc_spills_add_ref(spills, allocated, &cells[i], file, NULL);
	fc_spills_add_cells(spills, cells, ncells);
	pfree(cells);
	BufFileClose(file_of_cells);
}

static void
fc_spills_open_kept(FcSpills *spills, const FcSpillKept *kept, int *allocated)
{
	FcCell	   *cells = MemoryContextAllocHuge(CurrentMemoryContext,
											   sizeof(FcCell) * (kept->ncells + 1));

	for (int i = 0; i < kept->ncells; i++)
	{
		cells[i] = kept->cells[i]->cell;
		fc_spills_add_ref(spills, allocated, &cells[i], 0, kept->cells[i]->block);
	}
	fc_spills_add_cells(spills, cells, kept->ncells);
	pfree(cells);
}

static int
fc_ref_cmp(const void *a, const void *b)
{
	const FcCellRef *ra = a;
	const FcCellRef *rb = b;

	if (ra->null != rb->null)
		return ra->null ? 1 : -1;
	return fc_spill_bound_cmp(&ra->lo, &rb->lo);
}

/* Finds the refs of each cell */
static void
fc_spills_order_refs(FcSpills *spills)
{
	int			n = 0;

	qsort(spills->refs, spills->nrefs, sizeof(FcCellRef), fc_ref_cmp);
	spills->first = MemoryContextAllocHuge(CurrentMemoryContext,
										   sizeof(int) * (spills->ncells + 1));
	for (int i = 0; i < spills->nrefs; i++)
		if (i == 0 || fc_ref_cmp(&spills->refs[i - 1], &spills->refs[i]) != 0)
			spills->first[n++] = i;
	Assert(n == spills->ncells);
	spills->first[n] = spills->nrefs;
}

Size
fc_spills_size(int nprocesses)
{
	return sizeof(FcCell) + sizeof(int) + sizeof(FcCellRef) * nprocesses;
}

FcSpills *
fc_spills_open(FcShared *shared, const FcSpillKept *kept)
{
	FcSpills   *spills = palloc0(sizeof(FcSpills));
	int			allocated = 64;

	spills->shared = shared;
	spills->files = palloc(sizeof(File) * Max(shared->nscanners, 1));
	spills->refs = palloc(sizeof(FcCellRef) * allocated);
	spills->cells = palloc(sizeof(FcCell));
	if (kept)
		fc_spills_open_kept(spills, kept, &allocated);
	for (int i = 0; !kept && i < shared->nscanners; i++)
		fc_spills_open_process(spills, i, &allocated);
	fc_spills_order_refs(spills);
	return spills;
}

void
fc_spills_close(FcSpills *spills)
{
	for (int i = 0; i < spills->nfiles; i++)
		FileClose(spills->files[i]);
	pfree(spills->files);
	pfree(spills->refs);
	pfree(spills->cells);
	pfree(spills->first);
	pfree(spills);
}

const FcCell *
fc_spills_cells(const FcSpills *spills, int *n)
{
	*n = spills->ncells;
	return spills->cells;
}

List *
fc_spills_parts(const FcSpills *spills)
{
	List	   *parts = NIL;
	FcSpillPart *last = NULL;

	for (int i = 0; i < spills->ncells; i++)
	{
		const FcSpillPart *part = &spills->cells[i].part;

		if (last && last->null == part->null && last->range.lo == part->range.lo)
		{
			fc_spill_part_add(last, part);
			continue;
		}
		last = palloc(sizeof(FcSpillPart));
		*last = *part;
		parts = lappend(parts, last);
	}
	return parts;
}

FcCellReader *
fc_cells_begin(FcSpills *spills, Size memory)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy cells",
											   ALLOCSET_DEFAULT_SIZES);
	FcCellReader *reader = MemoryContextAllocZero(mcxt, sizeof(FcCellReader));

	reader->mcxt = mcxt;
	reader->spills = spills;
	reader->memory = Min(memory, FC_CELL_PLACE);
	reader->head = fc_spill_head(spills->shared);
	reader->key_place = FC_SPILL_BARE_HEAD + spills->shared->plan.key.place;
	reader->key_width = spills->shared->plan.key.width;
	return reader;
}

/* Bytes that it takes to read the cell as a whole */
static inline Size
fc_cell_need(const FcCell *cell)
{
	return cell->size + cell->part.rows * 2 * sizeof(FcItem);
}

/*
 * Rows are read here and there in the buffer.  Large pages make that cheaper
 * where the kernel has some; advice only.
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
	reader->most = 0;
}

/*
 * Sets the bytes and rows that all cells that are not cut have at most: fresh
 * memory costs more than memory that was used before.  False if that would be
 * too much at once.
 */
static bool
fc_cells_foresee(const FcCellReader *reader, Size *size, uint64 *rows)
{
	for (int i = 0; i < reader->spills->ncells; i++)
	{
		const FcCell *cell = &reader->spills->cells[i];

		if (fc_cell_need(cell) > reader->memory)
			continue;
		*size = Max(*size, cell->size);
		*rows = Max(*rows, cell->part.rows);
	}
	return *size + *rows * 2 * sizeof(FcItem) <= reader->memory;
}

static void
fc_cells_make_room(FcCellReader *reader, Size size, uint64 rows)
{
	Size		most = size;
	uint64		most_rows = rows;

	if (size <= reader->buf_size && rows <= reader->most)
		return;
	fc_cells_free(reader);
	if (fc_cells_foresee(reader, &most, &most_rows))
	{
		size = most;
		rows = most_rows;
	}
	reader->buf = MemoryContextAllocHuge(reader->mcxt, Max(size, 1));
	reader->buf_size = size;
	fc_cells_advise(reader);
	reader->items = MemoryContextAllocHuge(reader->mcxt, Max(sizeof(FcItem) * 2 * rows, 1));
	reader->most = rows;
}

/*
 * Reads a block, of which the one after it has told; moves on to the one
 * before it.  ERROR XX001 if it is none.
 */
static void
fc_ref_read_block(FcCellReader *reader, const FcCellRef *ref, uint64 *place, uint32 *size,
				  char *to)
{
	const FcSpillBlock *block = (const FcSpillBlock *) to;

	fc_cells_read(ref->file, *place, to, *size);
	reader->stats.reads++;
	reader->stats.bytes += *size;
	if (block->size != *size)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("could not read file \"%s\": there is no block at byte " UINT64_FORMAT,
						FilePathName(ref->file), *place)));
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
#define fc_cells_check(reader, ref, block) \
	fc_spill_check_block((reader)->spills->shared, block, \
						 &(FcCell) {.part.null = (ref)->null,.lo = (ref)->lo,.hi_max = true})

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
 * Reads the cell block by block, and shows the rows of each while they are in
 * the processor's cache.  The blocks stay one after the other in "to", or are
 * given back where that is NULL.
 */
static pg_attribute_always_inline void
fc_cells_each(FcCellReader *reader, const FcCellRef *refs, int nrefs, char *to, FcCellEach each,
			  void *arg)
{
	for (int i = 0; i < nrefs; i++)
	{
		uint64		place = refs[i].last;
		uint32		size = refs[i].last_size;
		char	   *block = (char *) refs[i].block;

		if (block && to)
		{
			block = memcpy(to, block, refs[i].size);
			to += refs[i].size;
		}
		if (block)
		{
			fc_cells_check(reader, &refs[i], block);
			fc_cells_walk(reader, block, each, arg);
		}
		while (size > 0)
		{
			block = to ? to : palloc(size);
			if (to)
				to += size;
			fc_ref_read_block(reader, &refs[i], &place, &size, block);
			fc_cells_check(reader, &refs[i], block);
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

/* What the item's offset is counted from */
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

/* Reads a cell, of which so many refs have a part */
static void
fc_cells_load(FcCellReader *reader, const FcCellRef *refs, int nrefs, Size size, uint64 rows)
{
	fc_cells_make_room(reader, size, rows);
	reader->n = reader->next = 0;
	fc_cells_each(reader, refs, nrefs, reader->buf, fc_cells_add_item, NULL);
	if (reader->n != rows)
		elog(ERROR, "a spilled cell has " UINT64_FORMAT " rows instead of " UINT64_FORMAT,
			 reader->n, rows);
	reader->sorted = fc_item_sort(reader->items, reader->items + reader->n, reader->n);
	fc_cells_order_ties(reader);
	Assert(reader->n <= reader->most && size <= reader->buf_size);
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
	sample->bounds[at].key = fc_cells_key(reader, spilled);
	sample->bounds[at].offset = block->base + spilled->after;
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

static int
fc_cells_bound_cmp(const void *a, const void *b)
{
	return fc_spill_bound_cmp(a, b);
}

/*
 * Returns bounds between n pieces of a cell, of about as many rows each, and
 * their number in *n; each is a row's
 */
static FcBound *
fc_cells_find_bounds(FcCellReader *reader, const FcCellRef *refs, int nrefs, int *n)
{
	FcCellSample sample = {.most = *n * FC_CELL_SAMPLE};
	int			nbounds = 0;

	pg_prng_seed(&sample.random, 1);
	sample.bounds = palloc(sizeof(FcBound) * sample.most);
	fc_cells_each(reader, refs, nrefs, NULL, fc_cells_take_sample, &sample);
	qsort(sample.bounds, sample.n, sizeof(FcBound), fc_cells_bound_cmp);
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
fc_cells_cut(FcCellReader *reader, const FcCellRef *refs, int nrefs, Size need)
{
	MemoryContext old = MemoryContextSwitchTo(reader->mcxt);
	FcCellCut  *cut = palloc0(sizeof(FcCellCut));
	int			n = Min(need / (reader->memory / 2 + 1) + 1, FC_CELL_PIECES);
	FcBound    *bounds;
	FcSpill    *spill;

	fc_cells_free(reader);
	cut->mcxt = AllocSetContextCreate(reader->mcxt, "fast_copy cut cell", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(cut->mcxt);
	bounds = fc_cells_find_bounds(reader, refs, nrefs, &n);
	Assert(n >= 0 && n < FC_CELL_PIECES);
	spill = fc_spill_begin(reader->spills->shared, NULL, NULL, bounds, n, reader->memory / 2);
	fc_cells_each(reader, refs, nrefs, NULL, fc_cells_put_again, spill);
	cut->kept = fc_spill_keep(spill, true);
	MemoryContextSwitchTo(reader->mcxt);
	reader->cuts = lcons(cut, reader->cuts);
	MemoryContextSwitchTo(old);
}

static void
fc_cells_take(FcCellReader *reader, const FcCellRef *refs, int nrefs)
{
	Size		size = 0;
	uint64		rows = 0;
	Size		need;

	for (int i = 0; i < nrefs; i++)
	{
		size += refs[i].size;
		rows += refs[i].rows;
	}
	need = size + rows * 2 * sizeof(FcItem);
	if (need > reader->memory && rows > 1)
		fc_cells_cut(reader, refs, nrefs, need);
	else
		fc_cells_load(reader, refs, nrefs, size, rows);
}

static void
fc_cells_end_cut(FcCellReader *reader)
{
	FcCellCut  *cut = linitial(reader->cuts);

	if (cut->kept->file != 0)
		FileClose(cut->kept->file);
	MemoryContextDelete(cut->mcxt);
	pfree(cut);
	reader->cuts = list_delete_first(reader->cuts);
}

/* Goes on to the next piece of a cell that was cut; false: there is none */
static bool
fc_cells_advance(FcCellReader *reader)
{
	while (reader->cuts != NIL)
	{
		FcCellCut  *cut = linitial(reader->cuts);
		FcCellRef	ref;

		if (cut->next == cut->kept->ncells)
		{
			fc_cells_end_cut(reader);
			continue;
		}
		ref = fc_cell_ref(&cut->kept->cells[cut->next++]->cell, cut->kept->file, NULL);
		fc_cells_take(reader, &ref, 1);
		if (reader->next < reader->n)
			return true;
	}
	return false;
}

void
fc_cells_enter(FcCellReader *reader, const FcTask *task)
{
	FcSpills   *spills = reader->spills;
	FcCell wanted = {.part.null = task->null,.lo = task->lo};
	int			i = 0;

	/* a process that was stopped has left some */
	while (reader->cuts != NIL)
		fc_cells_end_cut(reader);
	fc_search(int, i, spills->ncells, mid, fc_cell_cmp(&spills->cells[mid], &wanted) < 0);
	if (i == spills->ncells || fc_cell_cmp(&spills->cells[i], &wanted) != 0)
		elog(ERROR, "there are no keys from " INT64_FORMAT " on", task->lo.key);
	reader->null = task->null;
	reader->n = reader->next = 0;
	fc_cells_take(reader, &spills->refs[spills->first[i]],
				  spills->first[i + 1] - spills->first[i]);
}

static inline bool
fc_cells_has_next(FcCellReader *reader)
{
	return reader->next < reader->n || fc_cells_advance(reader);
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
	return spilled;
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
		rows[n].spilled = fc_cells_at(reader, item);
		rows[n].key = item->key;
		rows[n].base = fc_cells_base(reader, item);
	}
	/* the first of the next call, while the caller has these in hand */
	for (uint64 i = reader->next; i < Min(reader->next + FC_SPILL_AHEAD, reader->n); i++)
		fc_spilled_ask(fc_cells_at(reader, &reader->sorted[i]));
	return n;
}

FcReadStats *
fc_cells_stats(FcCellReader *reader)
{
	return &reader->stats;
}

void
fc_cells_end(FcCellReader *reader)
{
	while (reader->cuts != NIL)
		fc_cells_end_cut(reader);
	MemoryContextDelete(reader->mcxt);
}
