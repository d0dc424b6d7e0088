/*-------------------------------------------------------------------------
 *
 * sort/run_write.c
 *	  Keeps what the scan finds, within its memory, and writes it as sorted
 *	  runs.
 *
 *	hold (bytes), put (entry) ──► block ──► sort (item.c) ──► run ──► "runs.N"
 *					└──► rows per range (parts.c) ──► "meta.N"
 *
 * The block of memory is filled from both ends:
 *
 *	| items --> | room for the sort's other half |	<-- held rows |
 *
 * so that few long records and many short ones use it equally well.
 *
 * Partitions are ranges of keys, so that a partition's rows are contiguous in
 * a run: a process needs one file for any number of partitions and runs.
 *
 * The files belong to the load's SharedFileSet, which deletes them when the
 * leader's segment goes, on error too; the phase's resource owner closes those
 * that are open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "compat/compat.h"
#include "sort/run_write.h"

#define FC_SPILL_LEAST	((Size) 48 * 1024)	/* the block, at least */
#define FC_SPILL_WRITE	((Size) 256 * 1024) /* bytes written at a time */
#define FC_SPILL_DIRECT	((Size) 1024 * 1024)	/* bytes of items written at a
												 * time */
#define FC_SPILL_LENGTH	24		/* bits of an item for the length, at least */
#define FC_SPILL_MARK	((Size) 16 * 1024)	/* bytes between two marks */
#define FC_SPILL_AHEAD	16		/* rows whose bytes are asked for in advance */
#define FC_SPILL_PAGE	((Size) 2 * 1024 * 1024)	/* of a large page */

#ifdef __GNUC__
#define fc_prefetch(address) __builtin_prefetch(address)
#else
#define fc_prefetch(address) ((void) 0)
#endif

/*
 * A row in the block: an FcEntry without its key, followed by its bytes if
 * they are spilled.  The "row" of its item is the row's place, counted from
 * the block's end; here, too, the lowest bit says that the key is NULL.
 */
typedef struct FcHeldRow
{
	uint64		offset;
	uint32		length;
	uint32		info;
} FcHeldRow;

struct FcSpill
{
	FcShared   *shared;
	int			process;
	const FcRoute *route;
	MemoryContext mcxt;

	/* the block */
	char	   *block;
	Size		size;
	uint64		n;				/* items */
	uint64		nulls;			/* those of them with a NULL key */
	uint64		base;			/* of the items: see FcSpillRun */
	int			length_bits;	/* of the items; 0: rows are held */
	Size		used;			/* bytes of rows at the block's end */

	/* the file, made when the buffer is full */
	File		file;			/* 0: there is none */
	char	   *out;			/* written when full */
	Size		out_size;
	Size		out_used;
	uint64		out_place;		/* in the file, of its first byte */
	List	   *runs;

	/* the run being written */
	Size		mark_bytes;
	FcSpillMark *marks;
	uint64		nmarks;
	uint64		marks_size;
	FcSpillPart part;			/* rows counted so far */
	HTAB	   *parts;
};

/* Bytes of the block that a row takes besides its items */
static inline Size
fc_held_size(const FcShared *shared, uint32 length)
{
	return sizeof(FcHeldRow) +
		(fc_spill_keeps(shared, length) ? MAXALIGN((Size) length + 1) : 0);
}

Size
fc_spill_need(const FcShared *shared, uint64 records, uint64 bytes)
{
	uint64		each = 2 * sizeof(FcItem);

	if (!fc_spill_packs(shared))
		each += sizeof(FcHeldRow);
	if (shared->way == FC_WAY_ROWS)
		each += MAXIMUM_ALIGNOF;
	return FC_SPILL_LEAST + FC_SPILL_WRITE + (records + 1) * each +
		(shared->way == FC_WAY_ROWS ? bytes : 0);
}

/*
 * The sort and the gathering of rows jump about in the block.  Large pages
 * make that cheaper where the kernel has some; advice only.
 */
static void
fc_spill_advise(FcSpill *spill)
{
#ifdef MADV_HUGEPAGE
	char	   *start = (char *) TYPEALIGN(FC_SPILL_PAGE, spill->block);
	char	   *end = (char *) TYPEALIGN_DOWN(FC_SPILL_PAGE,
											  spill->block + spill->size);

	if (start < end)
		(void) madvise(start, end - start, MADV_HUGEPAGE);
#endif
}

FcSpill *
fc_spill_begin(FcShared *shared, int process, const FcRoute *route,
			   Size memory)
{
	FcSpill    *spill = palloc0(sizeof(FcSpill));
	Size		most = fc_spill_keeps_most(shared) + 2 * sizeof(FcEntry);

	spill->shared = shared;
	spill->process = process;
	spill->route = route;
	spill->mcxt = CurrentMemoryContext;
	/* the buffer has room for any row whose bytes are spilled */
	spill->out_size = Max(Min(memory / 16, FC_SPILL_WRITE), most);
	spill->out = palloc(spill->out_size);
	spill->size = MAXALIGN_DOWN(Max(memory - Min(memory, spill->out_size),
									FC_SPILL_LEAST));
	spill->block = MemoryContextAllocHuge(CurrentMemoryContext, spill->size);
	fc_spill_advise(spill);
	spill->mark_bytes = Min(spill->size / 64, FC_SPILL_MARK);
	spill->parts = fc_parts_create(CurrentMemoryContext);
	return spill;
}

static inline FcItem *
fc_spill_items(FcSpill *spill)
{
	return (FcItem *) spill->block;
}

static inline FcHeldRow *
fc_spill_held(FcSpill *spill, uint64 row)
{
	return (FcHeldRow *) (spill->block + spill->size - (row & ~(uint64) 1));
}

/*
 * Appends bytes to the file.  After a short write it goes on, to meet its
 * error.
 */
static void
fc_spill_write_bytes(FcSpill *spill, const void *data, Size size, Size most)
{
	Size		done = 0;
	char		name[MAXPGPATH];

	if (spill->file == 0)
	{
		snprintf(name, sizeof(name), "runs.%d", spill->process);
		spill->file = FileSetCreate(&spill->shared->fileset.fs, name);
	}
	while (done < size)
	{
		int			n;

		CHECK_FOR_INTERRUPTS();
		n = FileWrite(spill->file, (char *) data + done,
					  Min(size - done, most), spill->out_place + done,
					  WAIT_EVENT_BUFFILE_WRITE);
		if (n <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to file \"%s\": %m",
							FilePathName(spill->file))));
		done += n;
	}
	spill->out_place += done;
}

/* Writes what is in the buffer */
static void
fc_spill_write(FcSpill *spill)
{
	fc_spill_write_bytes(spill, spill->out, spill->out_used, spill->out_used);
	spill->out_used = 0;
}

/* Makes room in the buffer for so many bytes, which the caller fills in */
static inline char *
fc_spill_reserve(FcSpill *spill, Size size)
{
	char	   *at;

	if (spill->out_size - spill->out_used < size)
		fc_spill_write(spill);
	Assert(size <= spill->out_size);
	at = spill->out + spill->out_used;
	spill->out_used += size;
	return at;
}

static inline uint64
fc_spill_place(const FcSpill *spill)
{
	return spill->out_place + spill->out_used;
}

/* Moves items with a NULL key to the end; both halves keep their order */
static void
fc_spill_split_nulls(FcItem *items, FcItem *scratch, uint64 count)
{
	uint64		n = 0;
	uint64		nulls = 0;

	for (uint64 i = 0; i < count; i++)
	{
		if (items[i].row & 1)
			scratch[nulls++] = items[i];
		else
			items[n++] = items[i];
	}
	memcpy(items + n, scratch, nulls * sizeof(FcItem));
}

static FcRange
fc_spill_range(const FcSpill *spill, int64 key, bool null)
{
	FcRange		all = {PG_INT64_MIN, PG_INT64_MAX, true, true, InvalidOid};

	if (spill->route == NULL)
		return all;
	if (null)
	{
		all.partition = spill->route->null_oid;
		return all;
	}
	return fc_route_find(spill->route, key);
}

/* Adds the rows counted so far to those of their range */
static void
fc_spill_end_part(FcSpill *spill)
{
	if (spill->part.rows > 0)
		fc_parts_add(spill->parts, &spill->part);
	spill->part.rows = 0;
}

static void
fc_spill_begin_part(FcSpill *spill, int64 key, bool null)
{
	FcSpillPart *part = &spill->part;

	fc_spill_end_part(spill);
	memset(part, 0, sizeof(FcSpillPart));
	part->range = fc_spill_range(spill, key, null);
	part->null = null;
	part->min_offset = PG_UINT64_MAX;
	part->min_key = key;
}

/* Counts a row; they come in key order */
static inline void
fc_spill_count(FcSpill *spill, int64 key, const FcHeldRow *held)
{
	FcSpillPart *part = &spill->part;

	if (part->rows == 0 || (!part->range.hi_max && key >= part->range.hi))
		fc_spill_begin_part(spill, key, held->info & 1);
	Assert(part->rows == 0 || key >= part->max_key);
	part->rows++;
	part->bytes += held->length;
	part->max_key = key;
	if (held->offset < part->min_offset)
	{
		part->min_offset = held->offset;
		part->min_length = held->length;
	}
}

static void
fc_spill_mark(FcSpill *spill, int64 key, uint64 offset, uint64 place)
{
	FcSpillMark *mark;

	if (spill->nmarks == spill->marks_size)
	{
		spill->marks_size = spill->marks_size ? spill->marks_size * 2 : 64;
		if (spill->marks == NULL)
			spill->marks = MemoryContextAlloc(spill->mcxt,
											  spill->marks_size * sizeof(FcSpillMark));
		else
			spill->marks = repalloc_huge(spill->marks,
										 spill->marks_size * sizeof(FcSpillMark));
	}
	mark = &spill->marks[spill->nmarks++];
	mark->bound.key = key;
	mark->bound.offset = offset;
	mark->place = place;
}

static inline void
fc_spill_write_row(FcSpill *spill, int64 key, const FcHeldRow *held)
{
	FcEntry		entry = {key, held->offset, held->length, held->info};
	Size		bytes = fc_spill_keeps(spill->shared, held->length) ?
		(Size) held->length + 1 : 0;
	char	   *at = fc_spill_reserve(spill, sizeof(FcEntry) + bytes);

	memcpy(at, &entry, sizeof(FcEntry));
	memcpy(at + sizeof(FcEntry), held + 1, bytes);
}

static void
fc_spill_write_held(FcSpill *spill, const FcItem *items, uint64 n)
{
	uint64		next_mark = 0;

	for (uint64 i = 0; i < n; i++)
	{
		FcHeldRow	   *held = fc_spill_held(spill, items[i].row);

		if (i + FC_SPILL_AHEAD < n)
			fc_prefetch(fc_spill_held(spill, items[i + FC_SPILL_AHEAD].row));
		if (fc_spill_place(spill) >= next_mark)
		{
			fc_spill_mark(spill, items[i].key, held->offset,
						  fc_spill_place(spill));
			next_mark = fc_spill_place(spill) + spill->mark_bytes;
		}
		fc_spill_count(spill, items[i].key, held);
		fc_spill_write_row(spill, items[i].key, held);
	}
}

/*
 * Counts the items from the first on that are in its range; returns their
 * number
 */
static uint64
fc_spill_count_items(FcSpill *spill, const FcItem *items, uint64 n)
{
	FcSpillPart *part = &spill->part;
	FcItem		first = items[0];
	uint64		bytes = 0;
	uint64		i = 0;

	fc_spill_begin_part(spill, first.key, first.row & 1);
	do
	{
		bytes += fc_item_length(&items[i], spill->length_bits);
		first.row = Min(first.row, items[i].row);
		i++;
	} while (i < n && (part->range.hi_max || items[i].key < part->range.hi));
	part->rows = i;
	part->bytes = bytes;
	part->max_key = items[i - 1].key;
	part->min_offset = fc_item_offset(&first, spill->base, spill->length_bits);
	part->min_length = fc_item_length(&first, spill->length_bits);
	return i;
}

static void
fc_spill_write_items(FcSpill *spill, const FcItem *items, uint64 n)
{
	for (uint64 i = 0; i < n; i += spill->mark_bytes / sizeof(FcItem))
		fc_spill_mark(spill, items[i].key,
					  fc_item_offset(&items[i], spill->base, spill->length_bits),
					  fc_spill_place(spill) + i * sizeof(FcItem));
	for (uint64 i = 0; i < n;)
		i += fc_spill_count_items(spill, items + i, n - i);
	if (n * sizeof(FcItem) <= spill->out_size - spill->out_used)
	{
		memcpy(fc_spill_reserve(spill, n * sizeof(FcItem)), items, n * sizeof(FcItem));
		return;
	}
	fc_spill_write(spill);
	fc_spill_write_bytes(spill, items, n * sizeof(FcItem), FC_SPILL_DIRECT);
}

static void
fc_spill_write_section(FcSpill *spill, const FcItem *items, uint64 n,
					   FcSpillSection *section)
{
	section->start = fc_spill_place(spill);
	section->nmarks = spill->nmarks;
	if (spill->length_bits > 0)
		fc_spill_write_items(spill, items, n);
	else
		fc_spill_write_held(spill, items, n);
	fc_spill_end_part(spill);
	section->end = fc_spill_place(spill);
	section->nmarks = spill->nmarks - section->nmarks;
}

/*
 * Sorts what is in memory and makes a run of it, which goes to the file in
 * large sequential writes; rows with a NULL key come last.  Each process puts
 * entries in file order, and the sort is stable: ties keep file order inside a
 * run, and the merge compares offsets, too.
 */
static void
fc_spill_flush(FcSpill *spill)
{
	FcItem	   *items = fc_spill_items(spill);
	FcItem	   *scratch = items + spill->n;
	uint64		n = spill->n - spill->nulls;
	MemoryContext old;
	FcSpillRun *run;

	if (spill->n == 0)
		return;
	old = MemoryContextSwitchTo(spill->mcxt);
	run = palloc0(sizeof(FcSpillRun));
	run->base = spill->base;
	run->length_bits = spill->length_bits;
	spill->runs = lappend(spill->runs, run);
	MemoryContextSwitchTo(old);

	if (spill->nulls > 0)
		fc_spill_split_nulls(items, scratch, spill->n);
	fc_spill_write_section(spill, fc_item_sort(items, scratch, n), n, &run->keys);
	fc_spill_write_section(spill, items + n, spill->nulls, &run->nulls);
	/* the marks of both sections, one after the other */
	run->keys.marks = fc_spill_place(spill);
	run->nulls.marks = run->keys.marks + run->keys.nmarks * sizeof(FcSpillMark);
	for (uint64 i = 0; i < spill->nmarks; i++)
		memcpy(fc_spill_reserve(spill, sizeof(FcSpillMark)), &spill->marks[i],
			   sizeof(FcSpillMark));
	spill->nmarks = 0;
	pg_atomic_fetch_add_u64(&spill->shared->counts.spilled,
							run->nulls.end - run->keys.start);
	spill->n = spill->nulls = 0;
	spill->used = 0;
}

/* Makes sure that there is room for one more item and so many bytes */
static inline void
fc_spill_make_room(FcSpill *spill, Size need)
{
	if ((spill->n + 1) * 2 * sizeof(FcItem) + spill->used + need > spill->size)
		fc_spill_flush(spill);
}

void
fc_spill_hold(FcSpill *spill, const char *data, uint32 length)
{
	Size		need = fc_held_size(spill->shared, length);
	char	   *bytes;

	if (!fc_spill_keeps(spill->shared, length))
		return;
	fc_spill_make_room(spill, need);
	bytes = (char *) (fc_spill_held(spill, spill->used + need) + 1);
	memcpy(bytes, data, length);
	bytes[length] = '\0';
}

const char *
fc_spill_copy(FcSpill *spill, uint32 length)
{
	if (!fc_spill_keeps(spill->shared, length))
		return NULL;
	return (const char *) (fc_spill_held(spill, spill->used +
										 fc_held_size(spill->shared, length)) + 1);
}

/* Keeps the row in the block, and returns its place there */
static uint64
fc_spill_keep(FcSpill *spill, const FcEntry *entry)
{
	Size		need = fc_held_size(spill->shared, entry->length);
	FcHeldRow	   *held;

	fc_spill_make_room(spill, need);
	spill->used += need;
	held = fc_spill_held(spill, spill->used);
	held->offset = entry->offset;
	held->length = entry->length;
	held->info = entry->info;
	return spill->used;
}

/*
 * Makes sure that the entry fits into an item of the run.  Where offsets alone
 * are spilled an item holds the record's offset and length, and the sorted
 * items are the run.  Each run decides how many bits the length gets; a record
 * that does not fit begins the next run.
 */
static inline void
fc_spill_fit(FcSpill *spill, const FcEntry *entry)
{
	uint64		length = entry->length;

	fc_spill_make_room(spill, 0);
	if (((length >> spill->length_bits) |
		 ((entry->offset - spill->base) >> (63 - spill->length_bits))) != 0)
		fc_spill_flush(spill);
	if (spill->n > 0)
		return;
	spill->base = entry->offset;
	spill->length_bits = FC_SPILL_LENGTH;
	while (length >> spill->length_bits != 0)
		spill->length_bits++;
}

void
fc_spill_put(FcSpill *spill, const FcEntry *entry)
{
	bool		null = fc_entry_null(entry);
	FcItem	   *item;
	uint64		row;

	if (fc_spill_packs(spill->shared))
	{
		fc_spill_fit(spill, entry);
		row = ((entry->offset - spill->base) << spill->length_bits |
			   entry->length) << 1;
	}
	else
		row = fc_spill_keep(spill, entry);
	item = &fc_spill_items(spill)[spill->n++];
	Assert(spill->n * 2 * sizeof(FcItem) + spill->used <= spill->size);
	Assert(!null || entry->key == 0);
	item->key = entry->key;
	item->row = row | null;
	spill->nulls += null;
}

static void
fc_spill_write_meta(FcSpill *spill)
{
	List	   *parts = fc_parts_list(spill->parts);
	FcSpillMeta meta = {list_length(spill->runs), list_length(parts)};
	ListCell   *lc;
	char		name[MAXPGPATH];
	BufFile    *file;

	snprintf(name, sizeof(name), "meta.%d", spill->process);
	file = BufFileCreateFileSet(&spill->shared->fileset.fs, name);
	fc_buffile_write(file, &meta, sizeof(meta));
	foreach(lc, spill->runs)
		fc_buffile_write(file, lfirst(lc), sizeof(FcSpillRun));
	foreach(lc, parts)
		fc_buffile_write(file, lfirst(lc), sizeof(FcSpillPart));
	BufFileExportFileSet(file);
	BufFileClose(file);
	list_free_deep(parts);
}

static void
fc_spill_free(FcSpill *spill)
{
	hash_destroy(spill->parts);
	pfree(spill->block);
	pfree(spill->out);
	if (spill->marks)
		pfree(spill->marks);
	list_free_deep(spill->runs);
	pfree(spill);
}

void
fc_spill_end(FcSpill *spill)
{
	fc_spill_flush(spill);
	/* makes the file, too, if there is no row */
	fc_spill_write(spill);
	Assert(spill->out_used == 0 && spill->n == 0);
	FileClose(spill->file);
	fc_spill_write_meta(spill);
	fc_spill_free(spill);
}

FcSpillKept *
fc_spill_keep_all(FcSpill *spill, MemoryContext mcxt)
{
	MemoryContext old;
	FcSpillKept *kept;
	ListCell   *lc;

	fc_spill_flush(spill);
	if (spill->file != 0)
		return NULL;
	old = MemoryContextSwitchTo(mcxt);
	kept = palloc0(sizeof(FcSpillKept));
	kept->rows = palloc(Max(spill->out_used, 1));
	memcpy(kept->rows, spill->out, spill->out_used);
	kept->parts = fc_parts_list(spill->parts);
	foreach(lc, spill->runs)
	{
		FcSpillRun *run = palloc(sizeof(FcSpillRun));

		*run = *(FcSpillRun *) lfirst(lc);
		kept->runs = lappend(kept->runs, run);
	}
	MemoryContextSwitchTo(old);
	fc_spill_free(spill);
	return kept;
}
