/*-------------------------------------------------------------------------
 *
 * sort/run_merge.c
 *	  Reads the runs of all processes as one, in key order.
 *
 *	runs.* or memory ── marks around the task's bounds ──► a cursor per run
 *		──► matches ──► rows in (key, offset) order
 *
 * A task's rows are contiguous in every run: each is read sequentially, in
 * blocks as large as the memory allows.  If an error skips fc_runs_close the
 * phase's resource owner closes the files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "compat/compat.h"
#include "key/search.h"
#include "sort/run_merge.h"

/* A cursor's buffer: at least, and at most */
#define FC_CURSOR_LEAST	((Size) 512)
#define FC_CURSOR_MOST	((Size) 256 * 1024)

/* Where runs are: in a file, or in memory */
typedef struct FcRunFile
{
	File		file;
	const char *kept;			/* NULL: in the file */
} FcRunFile;

/* One run as the merge and the cuts see it */
typedef struct FcRunRef
{
	const FcRunFile *file;
	FcSpillRun	run;
} FcRunRef;

struct FcRuns
{
	FcShared   *shared;
	int			nfiles;
	FcRunFile  *files;
	FcRunRef   *runs;
	int			nruns;
	List	   *metas;			/* FcSpillPart lists, one per process */
	MemoryContext mcxt;
	char	   *buffers;		/* of the merge's cursors, kept for the next
								 * merge */
	Size		buffers_size;
};

/*
 * The rows of a run that a merge still has to deliver.  The buffer always has
 * the row's entry, so that any number of runs works in any memory.
 */
typedef struct FcRunCursor
{
	int			leaf;			/* its number in the tree */
	FcEntry		entry;			/* of the row at i */
	const FcRunFile *file;
	uint64		base;			/* of its items: see FcSpillRun */
	int			length_bits;	/* of its items; 0: its rows are entries */
	Size		head;			/* bytes of an item, or of an entry */
	uint64		place;			/* in the file, after the buffer's last byte */
	uint64		end;			/* of the rows to be read */
	char	   *buf;
	Size		size;
	Size		n;				/* bytes in the buffer */
	Size		i;				/* where the row begins in it */
} FcRunCursor;

/*
 * A cursor in a match; with FC_MATCH_OUT as its offset it is used up.
 *
 * The smallest row is found by a tree of losers (Knuth, TAOCP 3, 5.4.1): the
 * cursors are the leaves of a binary tree, each node keeps the cursor that
 * lost there, and a cursor that goes on plays again only on its way up.
 */
typedef struct FcMatch
{
	int64		key;
	uint64		offset;
	FcRunCursor *cursor;
} FcMatch;

#define FC_MATCH_OUT	PG_UINT64_MAX

struct FcMerge
{
	MemoryContext mcxt;
	FcShared   *shared;
	FcBound		hi;				/* of the task */
	bool		hi_max;
	FcRunCursor *cursors;
	int			ncursors;
	FcMatch    *tree;			/* losers from 1 on; 0 is the winner of all */
	FcRunCursor *current;		/* whose row was handed out last, or NULL */
	Size		buffered;		/* bytes per cursor */
	char	   *large;			/* a row that no cursor has room for */
	Size		large_size;
	FcReadStats stats;
};

/* Reads exactly so many bytes; ERROR XX001 if the file has fewer */
static void
fc_runs_read(const FcRunFile *from, uint64 place, char *buf, Size size)
{
	File		file = from->file;

	if (from->kept)
	{
		memcpy(buf, from->kept + place, size);
		return;
	}
	while (size > 0)
	{
		int			n;

		CHECK_FOR_INTERRUPTS();
		n = FileRead(file, buf, Min(size, (Size) 1 << 30), place,
					 WAIT_EVENT_BUFFILE_READ);
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

static void
fc_runs_read_meta(FcRuns *runs, int process)
{
	char		name[MAXPGPATH];
	BufFile    *file;
	FcSpillMeta meta;
	List	   *parts = NIL;

	snprintf(name, sizeof(name), "meta.%d", process);
	file = BufFileOpenFileSet(&runs->shared->fileset.fs, name, O_RDONLY, false);
	fc_buffile_read(file, &meta, sizeof(meta));

	runs->runs = repalloc_huge(runs->runs,
							   (runs->nruns + meta.nruns + 1) * sizeof(FcRunRef));
	for (uint64 i = 0; i < meta.nruns; i++)
	{
		FcRunRef   *ref = &runs->runs[runs->nruns++];

		ref->file = &runs->files[process];
		fc_buffile_read(file, &ref->run, sizeof(FcSpillRun));
	}
	for (uint64 i = 0; i < meta.nparts; i++)
	{
		FcSpillPart *part = palloc(sizeof(FcSpillPart));

		fc_buffile_read(file, part, sizeof(FcSpillPart));
		parts = lappend(parts, part);
	}
	runs->metas = lappend(runs->metas, parts);
	BufFileClose(file);
}

/* Takes the runs that this process has kept */
static void
fc_runs_take_kept(FcRuns *runs, const FcSpillKept *kept)
{
	ListCell   *lc;

	runs->files[0].kept = kept->rows;
	runs->runs = repalloc_huge(runs->runs,
							   (list_length(kept->runs) + 1) * sizeof(FcRunRef));
	foreach(lc, kept->runs)
	{
		FcRunRef   *ref = &runs->runs[runs->nruns++];

		ref->file = &runs->files[0];
		ref->run = *(FcSpillRun *) lfirst(lc);
	}
	runs->metas = list_make1(kept->parts);
}

FcRuns *
fc_runs_open(FcShared *shared, const FcSpillKept *kept)
{
	FcRuns	   *runs = palloc0(sizeof(FcRuns));

	runs->shared = shared;
	runs->mcxt = CurrentMemoryContext;
	runs->files = palloc0(sizeof(FcRunFile) * Max(shared->nscanners, 1));
	runs->runs = palloc(sizeof(FcRunRef));
	if (kept)
	{
		fc_runs_take_kept(runs, kept);
		return runs;
	}
	for (int i = 0; i < shared->nscanners; i++)
	{
		char		name[MAXPGPATH];
		File		file;

		snprintf(name, sizeof(name), "runs.%d", i);
		file = FileSetOpen(&shared->fileset.fs, name, O_RDONLY);
		if (file <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not open temporary file \"%s\": %m", name)));
		runs->files[runs->nfiles++].file = file;
		fc_runs_read_meta(runs, i);
	}
	return runs;
}

void
fc_runs_close(FcRuns *runs)
{
	for (int i = 0; i < runs->nfiles; i++)
		FileClose(runs->files[i].file);
	if (runs->buffers)
		pfree(runs->buffers);
	pfree(runs->files);
	pfree(runs->runs);
	pfree(runs);
}

static int
fc_part_cmp(const ListCell *a, const ListCell *b)
{
	const FcSpillPart *pa = lfirst(a);
	const FcSpillPart *pb = lfirst(b);

	if (pa->null != pb->null)
		return pa->null ? 1 : -1;
	return pa->range.lo < pb->range.lo ? -1 : pa->range.lo > pb->range.lo;
}

List *
fc_runs_parts(FcRuns *runs)
{
	HTAB	   *parts = fc_parts_create(CurrentMemoryContext);
	List	   *result;
	ListCell   *lc;

	foreach(lc, runs->metas)
	{
		ListCell   *lc2;

		foreach(lc2, (List *) lfirst(lc))
			fc_parts_add(parts, lfirst(lc2));
	}
	result = fc_parts_list(parts);
	hash_destroy(parts);
	list_sort(result, fc_part_cmp);
	return result;
}

static int
fc_bound_cmp(const void *a, const void *b)
{
	const FcBound *ba = a;
	const FcBound *bb = b;

	if (ba->key != bb->key)
		return ba->key < bb->key ? -1 : 1;
	return ba->offset < bb->offset ? -1 : ba->offset > bb->offset;
}

static FcSpillMark
fc_section_mark(const FcRunRef *ref, const FcSpillSection *section, uint64 i)
{
	FcSpillMark mark;

	fc_runs_read(ref->file, section->marks + i * sizeof(FcSpillMark),
				 (char *) &mark, sizeof(FcSpillMark));
	return mark;
}

static bool
fc_section_before(const FcRunRef *ref, const FcSpillSection *section, uint64 i,
				  const FcBound *bound)
{
	FcSpillMark mark = fc_section_mark(ref, section, i);

	return fc_bound_cmp(&mark.bound, bound) < 0;
}

/* Number of the first mark that is not before the bound */
static uint64
fc_section_bisect(const FcRunRef *ref, const FcSpillSection *section,
				  const FcBound *bound)
{
	uint64		first = 0;

	fc_search(uint64, first, section->nmarks, mid,
			  fc_section_before(ref, section, mid, bound));
	return first;
}

/*
 * Where a part's rows are.  NULL keys count as 0, so that bounds cut them by
 * offset alone.
 */
static const FcSpillSection *
fc_run_section(const FcRunRef *ref, bool null)
{
	return null ? &ref->run.nulls : &ref->run.keys;
}

/* Adds evenly spaced marks of the part's rows in one run */
static int
fc_runs_sample(const FcRunRef *ref, const FcSpillPart *part, int per_run,
			   FcBound *sample)
{
	const FcSpillSection *section = fc_run_section(ref, part->null);
	FcBound		lo = {part->null ? 0 : part->range.lo, 0};
	FcBound		hi = {part->range.hi, 0};
	uint64		first = fc_section_bisect(ref, section, &lo);
	uint64		end = section->nmarks;
	int			n;

	if (!part->null && !part->range.hi_max)
		end = fc_section_bisect(ref, section, &hi);
	n = Min(per_run, end - first);
	for (int i = 0; i < n; i++)
		sample[i] = fc_section_mark(ref, section,
									first + (end - first) * i / n).bound;
	return n;
}

/*
 * Every run gives the same number of marks, because runs are samples of about
 * the same size of the same data: each is what one process met in one stretch
 * of time.
 */
int
fc_runs_cut(FcRuns *runs, const FcSpillPart *part, int n, FcBound *bounds)
{
	int			per_run = Max(n * 8 / Max(runs->nruns, 1), 4);
	FcBound    *sample;
	int			nsample = 0;
	int			nbounds = 0;

	sample = MemoryContextAllocHuge(CurrentMemoryContext,
									sizeof(FcBound) * per_run * Max(runs->nruns, 1));
	for (int i = 0; i < runs->nruns; i++)
		nsample += fc_runs_sample(&runs->runs[i], part, per_run,
								  sample + nsample);
	qsort(sample, nsample, sizeof(FcBound), fc_bound_cmp);
	for (int i = 1; i < n && nsample > 0; i++)
	{
		FcBound    *bound = &sample[(uint64) nsample * i / n];

		if (bound == sample ||
			(nbounds > 0 && fc_bound_cmp(&bounds[nbounds - 1], bound) == 0))
			continue;
		Assert(nbounds < n - 1);
		bounds[nbounds++] = *bound;
	}
	pfree(sample);
	return nbounds;
}

static inline bool
fc_entry_before_bound(const FcEntry *entry, const FcBound *bound)
{
	return entry->key < bound->key ||
		(entry->key == bound->key && entry->offset < bound->offset);
}

/*
 * Moves the row at the cursor to the buffer's front and reads on after it.
 * The kernel is asked for what comes next.
 */
static void
fc_cursor_fill(FcMerge *merge, FcRunCursor *cursor)
{
	Size		kept = cursor->n - cursor->i;
	Size		size = Min(cursor->size - kept, cursor->end - cursor->place);

	Assert(kept < cursor->size && cursor->place < cursor->end);
	memmove(cursor->buf, cursor->buf + cursor->i, kept);
	fc_runs_read(cursor->file, cursor->place, cursor->buf + kept, size);
	cursor->place += size;
	cursor->n = kept + size;
	cursor->i = 0;
	merge->stats.reads++;
	merge->stats.bytes += size;
	if (cursor->place < cursor->end && cursor->file->kept == NULL)
		(void) FilePrefetch(cursor->file->file, cursor->place,
							Min(cursor->size, cursor->end - cursor->place),
							WAIT_EVENT_BUFFILE_READ);
}

/* Bytes of the cursor's row in its file */
static inline Size
fc_cursor_row_size(const FcMerge *merge, const FcRunCursor *cursor)
{
	return cursor->head + (fc_spill_keeps(merge->shared, cursor->entry.length) ?
						   (Size) cursor->entry.length + 1 : 0);
}

static inline void
fc_cursor_entry(FcRunCursor *cursor)
{
	FcItem		item;

	if (cursor->length_bits == 0)
	{
		memcpy(&cursor->entry, cursor->buf + cursor->i, sizeof(FcEntry));
		return;
	}
	memcpy(&item, cursor->buf + cursor->i, sizeof(FcItem));
	cursor->entry.key = item.key;
	cursor->entry.offset = fc_item_offset(&item, cursor->base, cursor->length_bits);
	cursor->entry.length = fc_item_length(&item, cursor->length_bits);
	cursor->entry.info = fc_entry_info(item.row & 1, 0);
}

/* Takes the entry of the row at i; false if there is none before the bound */
static inline bool
fc_cursor_peek(FcMerge *merge, FcRunCursor *cursor)
{
	if (cursor->n - cursor->i < cursor->head)
	{
		if (cursor->n == cursor->i && cursor->place == cursor->end)
			return false;
		fc_cursor_fill(merge, cursor);
	}
	fc_cursor_entry(cursor);
	return merge->hi_max || fc_entry_before_bound(&cursor->entry, &merge->hi);
}

/* Goes on to the next row */
static inline bool
fc_cursor_next(FcMerge *merge, FcRunCursor *cursor)
{
	Size		size = fc_cursor_row_size(merge, cursor);
	Size		left = cursor->n - cursor->i;

	if (size <= left)
		cursor->i += size;
	else
	{
		/* the rest of the row was not read, or went to another buffer */
		cursor->place += size - left;
		cursor->i = cursor->n = 0;
	}
	return fc_cursor_peek(merge, cursor);
}

/*
 * Leaves the earlier of both in *winner, the other in *loser; without a
 * branch, which would be predicted wrongly half of the time.  core's
 * pairingheap, made for comparison functions, cannot do that.
 */
static inline void
fc_match_play(FcMatch *winner, FcMatch *loser)
{
	uint64		swap = (loser->key < winner->key) |
		((loser->key == winner->key) & (loser->offset < winner->offset));
	uint64		key = ((uint64) winner->key ^ (uint64) loser->key) & -swap;
	uint64		offset = (winner->offset ^ loser->offset) & -swap;
	uintptr_t	cursor = ((uintptr_t) winner->cursor ^ (uintptr_t) loser->cursor) &
		-(uintptr_t) swap;

	winner->key = (int64) ((uint64) winner->key ^ key);
	loser->key = (int64) ((uint64) loser->key ^ key);
	winner->offset ^= offset;
	loser->offset ^= offset;
	winner->cursor = (FcRunCursor *) ((uintptr_t) winner->cursor ^ cursor);
	loser->cursor = (FcRunCursor *) ((uintptr_t) loser->cursor ^ cursor);
}

static inline FcMatch
fc_cursor_match(FcRunCursor *cursor, bool more)
{
	FcMatch		match = {PG_INT64_MAX, FC_MATCH_OUT, cursor};

	if (more)
	{
		match.key = cursor->entry.key;
		match.offset = cursor->entry.offset;
	}
	return match;
}

/* Plays all matches: node i is above nodes 2i and 2i + 1, leaves come last */
static void
fc_merge_plant(FcMerge *merge)
{
	int			n = merge->ncursors;
	FcMatch    *winners = palloc(sizeof(FcMatch) * 2 * (n + 1));

	merge->tree = palloc(sizeof(FcMatch) * (n + 1));
	for (int i = 0; i < n; i++)
	{
		merge->cursors[i].leaf = n + i;
		winners[n + i] = fc_cursor_match(&merge->cursors[i], true);
	}
	for (int i = n - 1; i > 0; i--)
	{
		winners[i] = winners[2 * i];
		merge->tree[i] = winners[2 * i + 1];
		fc_match_play(&winners[i], &merge->tree[i]);
	}
	merge->tree[0] = n > 0 ? winners[1] : fc_cursor_match(NULL, false);
	pfree(winners);
}

/*
 * Memory for all cursors' buffers: what the merge before had, if that is
 * enough, because fresh memory costs more.  All else of a merge is in its own
 * context.
 */
static char *
fc_runs_buffers(FcRuns *runs, Size size)
{
	if (size > runs->buffers_size)
	{
		if (runs->buffers)
			pfree(runs->buffers);
		runs->buffers = NULL;
		runs->buffers = MemoryContextAllocHuge(runs->mcxt, size);
		runs->buffers_size = size;
	}
	return runs->buffers;
}

/*
 * Adds a cursor for the task's rows in one run, if there are any: from the
 * last mark that is not after the lower bound to the first that is not before
 * the upper one
 */
static void
fc_merge_add(FcMerge *merge, const FcRunRef *ref, const FcTask *task,
			 char *buffer)
{
	const FcSpillSection *section = fc_run_section(ref, task->null);
	uint64		first = fc_section_bisect(ref, section, &task->lo);
	uint64		last = section->nmarks;
	FcRunCursor *cursor = &merge->cursors[merge->ncursors];
	bool		more;

	if (!task->hi_max)
		last = fc_section_bisect(ref, section, &task->hi);
	memset(cursor, 0, sizeof(FcRunCursor));
	cursor->file = ref->file;
	cursor->base = ref->run.base;
	cursor->length_bits = ref->run.length_bits;
	cursor->head = cursor->length_bits > 0 ? sizeof(FcItem) : sizeof(FcEntry);
	cursor->place = first == 0 ? section->start :
		fc_section_mark(ref, section, first - 1).place;
	cursor->end = last == section->nmarks ? section->end :
		fc_section_mark(ref, section, last).place;
	if (cursor->place == cursor->end)
		return;
	cursor->size = Min(cursor->end - cursor->place, merge->buffered);
	cursor->buf = buffer;
	more = fc_cursor_peek(merge, cursor);
	while (more && fc_entry_before_bound(&cursor->entry, &task->lo))
		more = fc_cursor_next(merge, cursor);
	merge->ncursors += more;
}

FcMerge *
fc_merge_begin(FcRuns *runs, const FcTask *task, Size memory)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy merge",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcMerge    *merge = palloc0(sizeof(FcMerge));
	Size		each = memory / Max(runs->nruns, 1);
	char	   *buffers;

	merge->mcxt = mcxt;
	merge->shared = runs->shared;
	merge->hi = task->hi;
	merge->hi_max = task->hi_max;
	merge->buffered = MAXALIGN_DOWN(Min(Max(each, FC_CURSOR_LEAST), FC_CURSOR_MOST));
	merge->cursors = MemoryContextAllocHuge(mcxt, sizeof(FcRunCursor) *
											Max(runs->nruns, 1));
	buffers = fc_runs_buffers(runs, runs->nruns * merge->buffered);
	for (int i = 0; i < runs->nruns; i++)
		fc_merge_add(merge, &runs->runs[i], task,
					 buffers + i * merge->buffered);
	fc_merge_plant(merge);
	MemoryContextSwitchTo(old);
	return merge;
}

/* Moves on the cursor whose row was handed out, and plays its way up again */
static inline void
fc_merge_advance(FcMerge *merge, FcRunCursor *cursor)
{
	FcMatch		match = fc_cursor_match(cursor, fc_cursor_next(merge, cursor));

	for (int i = cursor->leaf / 2; i > 0; i /= 2)
		fc_match_play(&match, &merge->tree[i]);
	merge->tree[0] = match;
}

bool
fc_merge_next(void *arg, FcEntry *entry)
{
	FcMerge    *merge = arg;

	if (merge->current)
		fc_merge_advance(merge, merge->current);
	merge->current = NULL;
	if (merge->tree[0].offset == FC_MATCH_OUT)
		return false;
	merge->current = merge->tree[0].cursor;
	Assert(merge->hi_max || fc_entry_before_bound(&merge->current->entry, &merge->hi));
	*entry = merge->current->entry;
	return true;
}

/*
 * Reads the bytes of a row that do not fit into the cursor's buffer, or were
 * not spilled
 */
static char *
fc_merge_large(FcMerge *merge, const FcSource *source)
{
	FcRunCursor *cursor = merge->current;
	const FcEntry *entry = &cursor->entry;
	Size		size = (Size) entry->length + 1;

	if (size > merge->large_size)
	{
		if (merge->large)
			pfree(merge->large);
		merge->large = NULL;
		merge->large = MemoryContextAllocHuge(merge->mcxt, size);
		merge->large_size = size;
	}
	if (fc_spill_keeps(merge->shared, entry->length))
		fc_runs_read(cursor->file,
					 cursor->place - (cursor->n - cursor->i) + cursor->head,
					 merge->large, entry->length);
	else
		fc_source_read(source, entry->offset, merge->large, entry->length);
	merge->stats.reads++;
	merge->stats.bytes += entry->length;
	return merge->large;
}

bool
fc_merge_row(FcMerge *merge, const FcSource *source, FcEntry *entry,
			 char **data)
{
	FcRunCursor *cursor;
	Size		size;

	if (!fc_merge_next(merge, entry))
		return false;
	cursor = merge->current;
	size = fc_cursor_row_size(merge, cursor);
	if (cursor->n - cursor->i < size && size <= cursor->size)
		fc_cursor_fill(merge, cursor);
	if (size > cursor->n - cursor->i || size == cursor->head)
		*data = fc_merge_large(merge, source);
	else
		*data = cursor->buf + cursor->i + cursor->head;
	return true;
}

const FcReadStats *
fc_merge_stats(const FcMerge *merge)
{
	return &merge->stats;
}

void
fc_merge_end(FcMerge *merge)
{
	MemoryContextDelete(merge->mcxt);
}
