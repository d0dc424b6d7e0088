/*-------------------------------------------------------------------------
 *
 * sort/spill_write.c
 *	  Puts what the scan finds into cells of keys.
 *
 *	key ──► cell ──► its block in memory ──► "spill.N"
 *			  └──► counts ──► "cells.N"
 *
 * A block grows with the rows of its cell, and is written to the file when it
 * is large.  When memory is used up all blocks are written, one after the
 * other: more cells do not need more memory, but have smaller blocks.
 *
 * The partitions, and bounds that all processes have, decide which keys are a
 * cell: all processes find the same cells, without knowing of each other.
 *
 * The files belong to the load's SharedFileSet, which deletes them when the
 * leader's segment goes, on error too; the phase's resource owner closes those
 * that are open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "port/pg_bitutils.h"

#include "sort/spill.h"

#define FC_SPILL_LEAST	((Size) 48 * 1024)	/* memory, at least */
#define FC_SPILL_FIRST	((Size) 256)	/* a new block, at least and at most */
#define FC_SPILL_BEGIN	((Size) 8 * 1024)	/* larger blocks go back to the
											 * kernel */
#define FC_SPILL_CELLS	256		/* cells for which there is room, at least */
#define FC_SPILL_BLOCK	((Size) 64 * 1024)	/* a block, at most */
#define FC_SPILL_WRITE	((Size) 256 * 1024) /* bytes of small blocks that are
											 * written at a time */
#define FC_SPILL_KEEP	((Size) 256 * 1024) /* bytes of all blocks up to which
											 * these may grow further */
#define FC_SPILL_BEHIND	((uint64) 1 << 31)	/* bytes before a block's first
											 * record where its others may
											 * be */
#define FC_SPILL_SLOTS	2048	/* of the table of keys, a power of two */
#define FC_SPILL_RANGES	60000	/* ranges beyond those allowed, before the load
								 * ends: it is known to fail */

StaticAssertDecl(offsetof(FcSpilled, more) == FC_SPILL_HEAD &&
				 FC_SPILL_TUPLE_HEAD <= offsetof(HeapTupleHeaderData, t_infomask2),
				 "the head of a row stands in what an insert sets");
StaticAssertDecl(offsetof(FcSpilled, key) == FC_SPILL_BARE_HEAD &&
				 TOAST_TUPLE_THRESHOLD >> (FC_SPILL_LENGTH_BITS - FC_SPILL_BARE_BITS) == 0,
				 "the head of a bare row has all but the key");
/* in a batch infomask bits are set in bare rows, too, before they are sealed */
StaticAssertDecl(FC_SPILL_BARE_SKIP <= offsetof(HeapTupleHeaderData, t_infomask) &&
				 FC_SPILL_BARE_SKIP <= sizeof(FcSpillBlock) && MAXIMUM_ALIGNOF == 8,
				 "nothing is set before the head of a bare row");
StaticAssertDecl(sizeof(FcSpilled) <= FC_SPILL_NUMBERED && sizeof(FcSpillBlock) % MAXIMUM_ALIGNOF == 0,
				 "heads are aligned");

/* A cell to which rows are put */
typedef struct FcOpenCell
{
	FcCell cell;
	char	   *block;			/* in memory; NULL: none.  Zero after "used" */
	uint32		used;			/* 0, or with the block's head */
	uint32		room;
	uint64		base;			/* of the block */
} FcOpenCell;

struct FcSpill
{
	FcShared   *shared;
	const FcRoute *route;		/* or NULL */
	const FcBound *bounds;
	int			nbounds;
	MemoryContext mcxt;
	MemoryContext blocks;
	Size		head;			/* bytes of a head that is not of a row */
	bool		bare;			/* rows without NULLs have no header */

	/* cells by key, and where each begins */
	int64	   *keys;
	FcOpenCell **cells;
	int			ncells;
	int			allocated;
	FcOpenCell *null;			/* or NULL */

	/* the cell that the last key of a slot was in: key >> shift, modulo */
	FcOpenCell *slots[FC_SPILL_SLOTS];
	int			shift;
	int64		least;			/* keys that were searched for */
	int64		greatest;

	/* memory of blocks */
	Size		most;			/* in all */
	Size		held;			/* also of small blocks that were replaced by
								 * larger ones: only such blocks can use it
								 * again */
	Size		first;			/* bytes of a new block; each grows by powers
								 * of two */
	Size		largest;		/* a block, unless one row needs more */

	/* the file, made when a block is written */
	const char *name;			/* NULL: a temporary file of this process */
	File		file;			/* 0: there is none */
	char	   *out;			/* small blocks to be written together */
	Size		out_size;
	Size		out_used;
	uint64		place;			/* of the first of these, in the file */
};

void
fc_spill_publish_bounds(FcContext *ctx, FcBound *bounds, int n)
{
	BufFile    *file;

	Assert(!ctx->in_worker && n >= 0);
	ctx->bounds = bounds;
	ctx->shared->nbounds = n;
	if (n == 0)
		return;
	file = BufFileCreateFileSet(&ctx->shared->fileset.fs, "bounds");
	fc_buffile_write(file, bounds, sizeof(FcBound) * n);
	BufFileExportFileSet(file);
	BufFileClose(file);
}

/*
 * Chooses the size of new blocks: blocks of all known cells take half of the
 * memory at most.  Otherwise blocks would be written with a row or two.
 */
static void
fc_spill_set_first(FcSpill *spill)
{
	Size		ncells = Max(Max(spill->nbounds, spill->ncells), FC_SPILL_CELLS);
	Size		first = pg_prevpower2_64(Max(spill->most / (2 * ncells), FC_SPILL_FIRST));

	spill->first = Min(first, FC_SPILL_BEGIN);
}

FcSpill *
fc_spill_begin(FcShared *shared, const char *file, const FcRoute *route,
			   const FcBound *bounds, int nbounds, Size memory)
{
	FcSpill    *spill = palloc0(sizeof(FcSpill));

	Assert(nbounds == 0 || bounds != NULL);
	for (int i = 1; i < nbounds; i++)
		Assert(fc_spill_bound_cmp(&bounds[i - 1], &bounds[i]) < 0);
	memory = Max(memory, FC_SPILL_LEAST);
	spill->shared = shared;
	spill->name = file;
	spill->route = route;
	spill->bounds = bounds;
	spill->nbounds = nbounds;
	spill->mcxt = CurrentMemoryContext;
	spill->head = fc_spill_head(shared);
	spill->bare = fc_spill_bare(shared);
	spill->out_size = Min(memory / 8, FC_SPILL_WRITE);
	spill->most = memory - spill->out_size;
	fc_spill_set_first(spill);
	spill->largest = Max(Min(memory / 32, FC_SPILL_BLOCK), spill->first);
	spill->blocks = AllocSetContextCreate(spill->mcxt, "fast_copy spill", 0, FC_SPILL_BEGIN,
										  FC_SPILL_BLOCK);
	spill->allocated = 64;
	spill->least = PG_INT64_MAX;
	spill->greatest = PG_INT64_MIN;
	spill->keys = palloc(sizeof(int64) * spill->allocated);
	spill->cells = palloc(sizeof(FcOpenCell *) * spill->allocated);
	return spill;
}

FcSpill *
fc_spill_begin_phase(FcContext *ctx, int number, const FcRoute *route)
{
	FcShared   *shared = ctx->shared;

	if (ctx->in_worker && shared->nbounds > 0)
	{
		BufFile    *file = BufFileOpenFileSet(&shared->fileset.fs, "bounds", O_RDONLY, false);

		ctx->bounds = palloc(sizeof(FcBound) * shared->nbounds);
		fc_buffile_read(file, ctx->bounds, sizeof(FcBound) * shared->nbounds);
		BufFileClose(file);
	}
	return fc_spill_begin(shared, psprintf("spill.%d", number), route, ctx->bounds, shared->nbounds,
						  shared->memory / 8 * 7);
}

/* Appends bytes to the file, which it makes if there is none */
static void
fc_spill_write_bytes(FcSpill *spill, const char *data, Size size)
{
	Assert(data == spill->out || spill->out_used == 0);
	if (spill->file == 0)
		spill->file = spill->name ? FileSetCreate(&spill->shared->fileset.fs, spill->name) :
			OpenTemporaryFile(false);
	CHECK_FOR_INTERRUPTS();
	fc_source_write(spill->file, data, size, spill->place, WAIT_EVENT_BUFFILE_WRITE);
	spill->place += size;
	pg_atomic_fetch_add_u64(&spill->shared->counts.spilled, size);
}

static void
fc_spill_write_out(FcSpill *spill)
{
	if (spill->out_used > 0)
		fc_spill_write_bytes(spill, spill->out, spill->out_used);
	spill->out_used = 0;
}

/*
 * Writes the cell's block, alone if it is large.  A full one is written at a
 * multiple of its size, where the kernel can cache it in one piece.
 */
static void
fc_spill_write_block(FcSpill *spill, FcOpenCell *open)
{
	FcCell *cell = &open->cell;
	FcSpillBlock *block = (FcSpillBlock *) open->block;
	bool		large = open->used >= spill->out_size / 16;
	Size		size = open->used;

	if (open->used == 0)
		return;
	block->base = open->base;
	block->before = cell->blocks.last;
	block->before_size = cell->blocks.last_size;
	block->size = open->used;
	Assert(open->used <= open->room && cell->blocks.last + cell->blocks.last_size <= spill->place + spill->out_used);
	fc_spill_check_block(spill->shared, open->block, cell);
	if (large || spill->out_used + open->used > spill->out_size)
		fc_spill_write_out(spill);
	if (large && open->used > open->room / 8 * 7)
	{
		size = open->room;
		spill->place = TYPEALIGN64(size, spill->place);
	}
	cell->blocks.last = spill->place + spill->out_used;
	cell->blocks.last_size = open->used;
	cell->size += open->used;
	if (large)
		fc_spill_write_bytes(spill, open->block, size);
	else
	{
		if (spill->out == NULL)
			spill->out = MemoryContextAlloc(spill->mcxt, spill->out_size);
		memcpy(spill->out + spill->out_used, open->block, open->used);
		spill->out_used += open->used;
	}
	memset(open->block, 0, open->used);
	open->used = 0;
}

/* Writes all blocks, and frees their memory */
static void
fc_spill_write_all(FcSpill *spill)
{
	for (int i = 0; i <= spill->ncells; i++)
	{
		FcOpenCell *open = i < spill->ncells ? spill->cells[i] : spill->null;

		if (open == NULL)
			continue;
		fc_spill_write_block(spill, open);
		open->block = NULL;
		open->room = 0;
	}
	MemoryContextReset(spill->blocks);
	spill->held = 0;
}

/* Makes the cell's block larger, or makes it */
static void
fc_spill_grow_block(FcSpill *spill, FcOpenCell *open, Size room)
{
	char	   *block = MemoryContextAllocExtended(spill->blocks, room,
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	if (open->block)
	{
		memcpy(block, open->block, open->used);
		pfree(open->block);
	}
	spill->held += room - (open->room > FC_SPILL_BEGIN ? open->room : 0);
	open->block = block;
	open->room = room;
}

/*
 * May the cell's block grow to "room" bytes?  It may grow further as long as
 * all is in memory: perhaps no file is needed.
 */
static bool
fc_spill_may_grow(const FcSpill *spill, const FcOpenCell *open, Size room)
{
	Size		all = spill->held - open->room + room;

	Assert(spill->held >= open->room);
	return all <= spill->most &&
		(room <= spill->largest || (spill->file == 0 && all <= FC_SPILL_KEEP));
}

/* Makes room in the cell's block for "need" bytes of a record at this offset */
static void
fc_spill_make_room(FcSpill *spill, FcOpenCell *open, uint64 offset, Size need)
{
	Size		room = Max((Size) open->room * 2, spill->first);

	/* offsets that are far apart are of two blocks */
	if (open->used > 0 && offset - open->base > PG_UINT32_MAX)
		fc_spill_write_block(spill, open);
	while (room < open->used + need + sizeof(FcSpillBlock))
		room *= 2;
	if (open->room - open->used < need + sizeof(FcSpillBlock))
	{
		if (!fc_spill_may_grow(spill, open, room))
		{
			fc_spill_write_block(spill, open);
			room = spill->first;
			while (room < need + sizeof(FcSpillBlock))
				room *= 2;
			if (room > open->room && spill->held - open->room + room > spill->most)
				fc_spill_write_all(spill);
		}
		if (room > open->room)
			fc_spill_grow_block(spill, open, room);
	}
	if (open->used == 0)
	{
		/*
		 * rows that are spilled again come block by block from the end of
		 * their file
		 */
		open->base = offset - Min(offset, FC_SPILL_BEHIND);
		open->used = sizeof(FcSpillBlock);
	}
	Assert(open->room - open->used >= need && offset - open->base <= PG_UINT32_MAX);
}

static inline bool
fc_spill_has_room(const FcOpenCell *open, uint64 offset, Size need)
{
	return open->used > 0 && open->room - open->used >= need &&
		offset - open->base <= PG_UINT32_MAX;
}

/*
 * The load is known to fail, unless a process guessed wrongly where records
 * begin, and took bytes in quotes for keys
 */
static void
fc_spill_too_many(const FcSpill *spill)
{
	if (spill->shared->source.unsplit == FC_UNSPLIT_GUESS)
	{
		pg_atomic_write_u32(&spill->shared->mistaken, 1);
		return;
	}
	fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg_plural("cannot create more than %d partition", "cannot create more than %d partitions",
														   fc_max_partitions, fc_max_partitions),
			 errdetail("The rows need more than %d new partitions.",
					   spill->ncells - spill->nbounds - spill->route->nranges * 2 - 1),
			 errhint("Look for wrong keys in the file, use a longer partition_interval, or increase fast_copy.max_partitions."));
}

/* Adds an empty cell at number "at" */
static FcOpenCell *
fc_spill_add_cell(FcSpill *spill, int at)
{
	FcOpenCell *open = MemoryContextAllocZero(spill->mcxt, sizeof(FcOpenCell));

	Assert(at >= 0 && at <= spill->ncells && spill->ncells <= spill->allocated);
	if (spill->route && spill->route->create &&
		spill->ncells - spill->nbounds - spill->route->nranges * 2 > fc_max_partitions + FC_SPILL_RANGES)
		fc_spill_too_many(spill);
	if (spill->ncells == spill->allocated)
	{
		spill->allocated *= 2;
		spill->keys = repalloc_huge(spill->keys, sizeof(int64) * spill->allocated);
		spill->cells = repalloc_huge(spill->cells, sizeof(FcOpenCell *) * spill->allocated);
	}
	memmove(&spill->keys[at + 1], &spill->keys[at], sizeof(int64) * (spill->ncells - at));
	memmove(&spill->cells[at + 1], &spill->cells[at], sizeof(FcOpenCell *) * (spill->ncells - at));
	spill->ncells++;
	spill->cells[at] = open;
	fc_spill_set_first(spill);
	return open;
}

/* Makes the cell of a key that has none yet; "at" is its number */
static FcOpenCell *
fc_spill_make_cell(FcSpill *spill, int at, int64 key, uint64 offset)
{
	FcRange		range = spill->route ? fc_route_find(spill->route, key) : FC_RANGE_ALL;
	FcCell	   *cell = &fc_spill_add_cell(spill, at)->cell;
	const FcBound *bounds = spill->bounds;
	int			after = 0;		/* the first bound that is after the row */

	/* each field by itself: the padding is written to a file, too */
	cell->part.range.lo = range.lo;
	cell->part.range.hi = range.hi;
	cell->part.range.lo_min = range.lo_min;
	cell->part.range.hi_max = range.hi_max;
	cell->part.range.partition = range.partition;
	cell->lo.key = range.lo;
	cell->hi.key = range.hi;
	cell->lo.offset = cell->hi.offset = FC_OFFSET_LEAST;
	cell->hi_max = range.hi_max;
	/* the bounds around the row cut the cell of the whole range */
	fc_search(int, after, spill->nbounds, mid, !fc_spill_before(key, offset, &bounds[mid]));
	if (after > 0 && fc_spill_bound_cmp(&bounds[after - 1], &cell->lo) >= 0)
		cell->lo = bounds[after - 1];
	if (after < spill->nbounds && (cell->hi_max || fc_spill_bound_cmp(&bounds[after], &cell->hi) < 0))
	{
		cell->hi = bounds[after];
		cell->hi_max = false;
	}
	Assert(!fc_spill_before(key, offset, &cell->lo) && (cell->hi_max || fc_spill_before(key, offset, &cell->hi)));
	spill->keys[at] = cell->lo.key;
	Assert(at == 0 || (!spill->cells[at - 1]->cell.hi_max && fc_spill_bound_cmp(&spill->cells[at - 1]->cell.hi, &cell->lo) <= 0));
	Assert(at == spill->ncells - 1 || (!cell->hi_max && fc_spill_bound_cmp(&cell->hi, &spill->cells[at + 1]->cell.lo) <= 0));
	return spill->cells[at];
}

static FcOpenCell *
fc_spill_find_null(FcSpill *spill)
{
	FcCell *cell;

	if (spill->null)
		return spill->null;
	spill->null = MemoryContextAllocZero(spill->mcxt, sizeof(FcOpenCell));
	cell = &spill->null->cell;
	cell->part.null = true;
	cell->part.range.lo = PG_INT64_MIN;
	cell->part.range.hi = PG_INT64_MAX;
	cell->part.range.lo_min = cell->part.range.hi_max = cell->hi_max = true;
	cell->part.range.partition = spill->route ? spill->route->default_oid : InvalidOid;
	return spill->null;
}

/* How many cells begin at this key or before it; without branches to predict */
static inline int
fc_spill_search(const FcSpill *spill, int64 key)
{
	const int64 *first = spill->keys;
	int			n = spill->ncells;

	if (n == 0)
		return 0;
	while (n > 1)
	{
		int			half = n / 2;

		first = first[half] <= key ? first + half : first;
		n -= half;
	}
	return first - spill->keys + (*first <= key);
}

static pg_noinline FcOpenCell *
fc_spill_find_cell(FcSpill *spill, int64 key, uint64 offset)
{
	int			at = fc_spill_search(spill, key);
	int			shift = spill->shift;
	FcCell	   *cell;

	/* widens slots until all keys that were searched for fit into the table */
	spill->least = Min(spill->least, key);
	spill->greatest = Max(spill->greatest, key);
	while (((uint64) spill->greatest - (uint64) spill->least) >> spill->shift >= FC_SPILL_SLOTS)
		spill->shift++;
	if (spill->shift > shift)
		memset(spill->slots, 0, sizeof(spill->slots));
	/* cells of one key begin at different offsets */
	while (at > 0 && unlikely(fc_spill_before(key, offset, &spill->cells[at - 1]->cell.lo)))
		at--;
	if (at > 0)
	{
		cell = &spill->cells[at - 1]->cell;
		if (likely(cell->hi_max || fc_spill_before(key, offset, &cell->hi)))
			return spill->cells[at - 1];
	}
	return fc_spill_make_cell(spill, at, key, offset);
}

static inline FcOpenCell *
fc_spill_find(FcSpill *spill, int64 key, uint64 offset)
{
	FcOpenCell **slot = &spill->slots[((uint64) key >> spill->shift) % FC_SPILL_SLOTS];
	FcOpenCell *open = *slot;

	if (likely(open && !fc_spill_before(key, offset, &open->cell.lo) &&
			   (open->cell.hi_max || fc_spill_before(key, offset, &open->cell.hi))))
		return open;
	open = fc_spill_find_cell(spill, key, offset);
	Assert(!fc_spill_before(key, offset, &open->cell.lo) && (open->cell.hi_max || fc_spill_before(key, offset, &open->cell.hi)));
	return spill->slots[((uint64) key >> spill->shift) % FC_SPILL_SLOTS] = open;
}

void
fc_spill_part_add(FcSpillPart *part, const FcSpillPart *other)
{
	bool		marks = fc_spill_part_only_marks(part);

	Assert(part->null == other->null && part->range.lo == other->range.lo && part->range.partition == other->range.partition);
	part->min_key = Min(part->min_key, other->min_key);
	part->max_key = Max(part->max_key, other->max_key);
	if (marks != fc_spill_part_only_marks(other) ? marks : other->min_offset < part->min_offset)
	{
		part->min_offset = other->min_offset;
		part->min_length = other->min_length;
	}
	part->rows += other->rows;
	part->marked += other->marked;
	part->bytes += other->bytes;
}

/* Counts a row, and takes its bytes from the cell's block, which has room */
static inline char *
fc_spill_take(FcOpenCell *open, int64 key, uint64 offset, uint32 length, Size size, bool marked)
{
	char	   *at = open->block + open->used;
	FcSpillPart *part = &open->cell.part;

	Assert(open->used >= sizeof(FcSpillBlock) && open->used + size <= open->room);
	Assert(size >= FC_SPILL_BARE_HEAD && size % MAXIMUM_ALIGNOF == 0);
	if (part->rows == 0 || (fc_spill_part_only_marks(part) && !marked))
	{
		part->min_offset = offset;
		part->min_length = length;
	}
	part->min_key = part->rows == 0 ? key : Min(part->min_key, key);
	part->max_key = part->rows == 0 ? key : Max(part->max_key, key);
	part->rows++;
	part->marked += marked;
	part->bytes += length;
	open->used += size;
	return at;
}

/* Sets the fields of a head */
static inline void
fc_spill_set_head(FcSpilled *head, FcSpilledKind kind, int64 key, uint32 after, uint32 length)
{
	Assert(length >> FC_SPILL_LENGTH_BITS == 0);
	head->key = key;
	head->after = after;
	head->kind_length = (uint32) kind << FC_SPILL_LENGTH_BITS | length;
}

/*
 * Counts an entry, and takes bytes for it from its cell's block; sets *after to
 * its offset in the block
 */
static inline char *
fc_spill_enter(FcSpill *spill, const FcEntry *entry, Size size, bool marked, uint32 *after)
{
	FcOpenCell *open = fc_entry_null(entry) ? fc_spill_find_null(spill) :
		fc_spill_find(spill, entry->key, entry->offset);

	if (!fc_spill_has_room(open, entry->offset, size))
		fc_spill_make_room(spill, open, entry->offset, size);
	*after = entry->offset - open->base;
	/* what the reader will add to a place */
	if (!spill->shared->course.spills && entry->length <= fc_spill_keeps_most(spill->shared))
		open->cell.fetched += MAXALIGN((Size) entry->length + 1);
	return fc_spill_take(open, entry->key, entry->offset, entry->length, size, marked);
}

void
fc_spill_put(FcSpill *spill, const FcEntry *entry, const char *data, bool marked)
{
	bool		keeps = fc_spill_keeps(spill->shared, entry->length);
	FcSpilledKind kind = keeps ? FC_SPILLED_RECORD : FC_SPILLED_PLACE;
	Size		size = spill->head + (keeps ? (Size) entry->length + 1 : 0);
	uint32		after;
	char	   *at = fc_spill_enter(spill, entry, MAXALIGN(size), marked, &after);
	FcSpilled	head;

	fc_spill_set_head(&head, kind, entry->key, after, entry->length);
	head.more.number = fc_entry_number(entry);
	head.embedded = entry->embedded;
	memcpy(at, &head, FC_SPILL_HEAD + (spill->head == FC_SPILL_HEAD ? 0 : 2 * sizeof(uint32)));
	if (keeps)
		memcpy(at + spill->head, data, entry->length);
}

void
fc_spill_put_old(FcSpill *spill, const FcEntry *entry, HeapTuple row)
{
	uint32		after;
	FcSpilled  *at = (FcSpilled *) fc_spill_enter(spill, entry, MAXALIGN(row->t_len), false, &after);
	HeapTupleHeader header = (HeapTupleHeader) at;

	Assert(fc_offset_is_tuple(entry->offset) && entry->length == 0 && row->t_len <= PG_UINT16_MAX);
	memcpy(at, row->t_data, row->t_len);
	header->t_infomask &= ~HEAP_XACT_MASK;
	header->t_infomask2 &= ~HEAP2_XACT_MASK;
	fc_spill_set_head(at, FC_SPILLED_TUPLE, entry->key, after, 0);
	at->more.row = row->t_len;
}

void
fc_spill_put_again(FcSpill *spill, const FcSpilled *spilled, const FcEntry *entry)
{
	Size		size = fc_spilled_size(spilled, spill->head);
	uint32		after;
	FcSpilled  *at = (FcSpilled *) fc_spill_enter(spill, entry, size, false, &after);

	memcpy(at, spilled, size);
	at->after = after;
}

/* Bytes at the beginning of row i that are not spilled */
static inline Size
fc_spill_skip(const FcSpill *spill, const FcSpillRows *rows, int i)
{
	return spill->bare && !(rows->has_null && rows->has_null[i]) ? FC_SPILL_BARE_SKIP : 0;
}

int
fc_spill_place(FcSpill *spill, FcSpillRows *rows, int from, int to)
{
	int			i;

	Assert(from >= 0 && from < to && to <= FC_BATCH_ROWS);
	for (i = from; i < to; i++)
	{
		int64		key = rows->keys[i];
		uint64		offset = rows->offsets[i];
		Size		skip = fc_spill_skip(spill, rows, i);
		Size		size = MAXALIGN(rows->rows[i]) - skip;
		FcOpenCell *open = unlikely(rows->nulls && rows->nulls[i]) ? fc_spill_find_null(spill) :
			fc_spill_find(spill, key, offset);

		if (!fc_spill_has_room(open, offset, size))
		{
			/* blocks with room that was given out must stay */
			if (i > from)
				break;
			fc_spill_make_room(spill, open, offset, size);
		}
		rows->after[i] = offset - open->base;
		Assert(rows->rows[i] >= FC_SPILL_HEADER && rows->rows[i] <= PG_UINT16_MAX);
		rows->places[i] = fc_spill_take(open, key, offset, rows->lengths[i], size, rows->marked[i]) - skip;
	}
	return i;
}

void
fc_spill_seal(const FcSpill *spill, const FcSpillRows *rows, int from, int to)
{
	for (int i = from; i < to; i++)
	{
		Size		skip = fc_spill_skip(spill, rows, i);
		FcSpilled  *head = (FcSpilled *) (rows->places[i] + skip);

		if (skip > 0)
		{
			/* a batch has no longer records */
			Assert(rows->lengths[i] >> FC_SPILL_BARE_BITS == 0);
			head->after = rows->after[i];
			head->kind_length = (uint32) FC_SPILLED_BARE << FC_SPILL_LENGTH_BITS |
				rows->rows[i] << FC_SPILL_BARE_BITS | rows->lengths[i];
			Assert(fc_spilled_row(head) == rows->rows[i] && fc_spilled_length(head) == rows->lengths[i]);
			continue;
		}
		fc_spill_set_head(head, FC_SPILLED_TUPLE, rows->keys[i], rows->after[i], rows->lengths[i]);
		head->more.row = rows->rows[i];
		if (rows->marked[i])
			((HeapTupleHeader) head)->t_infomask2 |= FC_SPILLED_MARK;
	}
}

void
fc_spill_end(FcSpill *spill, int process)
{
	FcSpillKept *kept = fc_spill_keep(spill, true);
	BufFile    *file;

	/* makes the file even if there is no row */
	fc_spill_write_bytes(spill, NULL, 0);
	FileClose(spill->file);
	file = BufFileCreateFileSet(&spill->shared->fileset.fs, psprintf("cells.%d", process));
	fc_buffile_write(file, kept->cells, sizeof(FcCell) * kept->ncells);
	BufFileExportFileSet(file);
	BufFileClose(file);
}

FcSpillKept *
fc_spill_keep(FcSpill *spill, bool in_file)
{
	FcSpillKept *kept;

	if (in_file)
	{
		fc_spill_write_all(spill);
		fc_spill_write_out(spill);
	}
	else if (spill->file != 0 || spill->out_used > 0)
		return NULL;
	kept = MemoryContextAllocZero(spill->mcxt, sizeof(FcSpillKept));
	kept->cells = MemoryContextAllocHuge(spill->mcxt, sizeof(FcCell) * (spill->ncells + 1));
	for (int i = 0; i <= spill->ncells; i++)
	{
		FcOpenCell *open = i < spill->ncells ? spill->cells[i] : spill->null;

		if (open == NULL)
			continue;
		open->cell.blocks.file = spill->file;
		if (!in_file)
		{
			((FcSpillBlock *) open->block)->base = open->base;
			((FcSpillBlock *) open->block)->size = open->used;
			fc_spill_check_block(spill->shared, open->block, &open->cell);
			open->cell.size = open->used;
			open->cell.blocks.block = open->block;
		}
		kept->cells[kept->ncells++] = open->cell;
	}
	return kept;
}
