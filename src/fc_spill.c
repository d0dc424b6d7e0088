/*-------------------------------------------------------------------------
 *
 * fc_spill.c
 *	  Sorted runs of (key, offset, length) in shared temporary files.
 *
 *	 scan: put ──► array ──► radix sort ──► run ──► file "runs.N"
 *	                             └──► rows per range ──► file "meta.N"
 *	 load: runs.* ── binary search of the task's bounds ──► k-way merge
 *
 * Each process has two files, whatever the number of partitions and of runs.
 * Keys of a partition are contiguous in a run because partitions are ranges
 * of keys, so that a run needs no directory: a task's part of it is found by
 * bisection.  Entries with a NULL key stand at the end of each run.
 *
 * Entries come in file order from each process, and the sort is stable, so
 * that ties keep file order inside a run; the merge compares offsets too.
 *
 * Memory is bounded by the caller's figure: the array and the radix sort's
 * twin of it while writing, one buffer per run while merging.  The files
 * belong to the job's SharedFileSet, which deletes them when the leader's
 * segment goes, on error too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/pairingheap.h"
#include "miscadmin.h"
#include "utils/hsearch.h"

#include "fc_compat.h"
#include "fc_spill.h"

#define FC_SPILL_MIN	1024	/* entries in the array at first, and at least */
#define FC_RADIX_BITS	11
#define FC_RADIX_SIZE	(1 << FC_RADIX_BITS)
#define FC_MERGE_MIN	16		/* entries buffered per run, at least */
#define FC_MERGE_MAX	8192	/* and at most: 192 kB */

/* A run: entries [pos, pos + count) of a process's file */
typedef struct FcSpillRun
{
	uint64		pos;
	uint64		count;
	uint64		nulls;			/* of them, at the end */
} FcSpillRun;

/* The head of a meta file, followed by the runs, followed by the parts */
typedef struct FcSpillMeta
{
	uint64		nruns;
	uint64		nparts;
} FcSpillMeta;

/* Parts are told apart by this */
typedef struct FcPartKey
{
	int64		lo;
	int64		hi;
	int64		null;
} FcPartKey;

typedef struct FcPartEntry
{
	FcPartKey	key;
	FcSpillPart part;
} FcPartEntry;

struct FcSpill
{
	FcShared   *shared;
	int			process;
	const FcRoute *route;
	MemoryContext mcxt;
	BufFile    *file;
	FcEntry    *entries;
	FcEntry    *scratch;		/* the sort's other half, same size */
	uint64		n;
	uint64		size;			/* entries allocated */
	uint64		max;			/* entries the memory allows */
	uint64		nulls;			/* entries with a NULL key */
	uint64		written;		/* entries in the file */
	List	   *runs;
	HTAB	   *parts;
};

/* One run as the merge and the cuts see it */
typedef struct FcRunRef
{
	BufFile    *file;
	FcSpillRun	run;
} FcRunRef;

struct FcRuns
{
	int			nfiles;
	BufFile   **files;
	FcRunRef   *runs;
	int			nruns;
	List	   *metas;			/* FcSpillPart lists, one per process */
};

/* The entries [pos, end) of a run that a merge still has to deliver */
typedef struct FcCursor
{
	pairingheap_node node;
	BufFile    *file;
	uint64		pos;			/* next entry to read into the buffer */
	uint64		end;
	FcEntry    *buf;
	int			n;				/* entries in the buffer */
	int			i;				/* next of them */
} FcCursor;

struct FcMerge
{
	MemoryContext mcxt;
	pairingheap *heap;
	FcCursor   *current;		/* not in the heap while it is the smallest */
	int			buffered;		/* entries per buffer */
};

static HTAB *
fc_parts_create(MemoryContext mcxt)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(FcPartKey);
	ctl.entrysize = sizeof(FcPartEntry);
	ctl.hcxt = mcxt;
	return hash_create("fast_copy ranges", 64, &ctl,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Adds what "part" counts to the same range */
static void
fc_parts_add(HTAB *parts, const FcSpillPart *part)
{
	FcPartKey	key = {part->range.lo, part->range.hi, part->null};
	FcPartEntry *entry;
	bool		found;

	entry = hash_search(parts, &key, HASH_ENTER, &found);
	if (!found)
	{
		entry->part = *part;
		return;
	}
	entry->part.rows += part->rows;
	entry->part.bytes += part->bytes;
	entry->part.min_key = Min(entry->part.min_key, part->min_key);
	entry->part.max_key = Max(entry->part.max_key, part->max_key);
	if (part->min_offset < entry->part.min_offset)
	{
		entry->part.min_offset = part->min_offset;
		entry->part.min_length = part->min_length;
	}
}

FcSpill *
fc_spill_begin(FcShared *shared, int process, const FcRoute *route,
			   Size memory)
{
	FcSpill    *spill = palloc0(sizeof(FcSpill));
	char		name[MAXPGPATH];

	spill->shared = shared;
	spill->process = process;
	spill->route = route;
	spill->mcxt = CurrentMemoryContext;
	spill->max = Max(memory / (2 * sizeof(FcEntry)), FC_SPILL_MIN);
	spill->size = FC_SPILL_MIN;
	spill->entries = palloc(spill->size * sizeof(FcEntry));
	spill->scratch = palloc(spill->size * sizeof(FcEntry));
	spill->parts = fc_parts_create(CurrentMemoryContext);
	snprintf(name, sizeof(name), "runs.%d", process);
	spill->file = BufFileCreateFileSet(&shared->fileset.fs, name);
	return spill;
}

/* Moves entries with a NULL key to the end, both halves in order */
static void
fc_spill_split_nulls(FcSpill *spill)
{
	uint64		n = 0;
	uint64		nulls = 0;

	for (uint64 i = 0; i < spill->n; i++)
	{
		if (fc_entry_null(&spill->entries[i]))
			spill->scratch[nulls++] = spill->entries[i];
		else
			spill->entries[n++] = spill->entries[i];
	}
	memcpy(spill->entries + n, spill->scratch, nulls * sizeof(FcEntry));
}

/* One counting pass of the sort by the digit at "shift" */
static void
fc_radix_pass(FcEntry *from, FcEntry *to, uint64 n, int64 min, int shift)
{
	uint64		place[FC_RADIX_SIZE] = {0};
	uint64		sum = 0;

	for (uint64 i = 0; i < n; i++)
		place[(((uint64) from[i].key - (uint64) min) >> shift) & (FC_RADIX_SIZE - 1)]++;
	for (int d = 0; d < FC_RADIX_SIZE; d++)
	{
		uint64		count = place[d];

		place[d] = sum;
		sum += count;
	}
	for (uint64 i = 0; i < n; i++)
		to[place[(((uint64) from[i].key - (uint64) min) >> shift) & (FC_RADIX_SIZE - 1)]++] = from[i];
}

/*
 * Sorts the entries that have a key: least significant digit first, only as
 * many digits as the spread of the keys needs; stable.
 */
static void
fc_spill_sort(FcSpill *spill, uint64 n)
{
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	bool		sorted = true;
	uint64		spread;

	for (uint64 i = 0; i < n; i++)
	{
		int64		key = spill->entries[i].key;

		sorted = sorted && key >= max;
		min = Min(min, key);
		max = Max(max, key);
	}
	if (sorted)
		return;
	spread = (uint64) max - (uint64) min;
	for (int shift = 0; shift < 64 && (spread >> shift) > 0; shift += FC_RADIX_BITS)
	{
		FcEntry    *swap = spill->scratch;

		CHECK_FOR_INTERRUPTS();
		fc_radix_pass(spill->entries, swap, n, min, shift);
		/* entries behind n, with NULL keys, must follow to the other half */
		memcpy(swap + n, spill->entries + n, (spill->n - n) * sizeof(FcEntry));
		spill->scratch = spill->entries;
		spill->entries = swap;
	}
}

static FcRange
fc_spill_range(const FcSpill *spill, const FcEntry *entry)
{
	FcRange		all = {PG_INT64_MIN, PG_INT64_MAX, true, true, InvalidOid};

	if (spill->route == NULL)
		return all;
	if (fc_entry_null(entry))
	{
		all.partition = spill->route->null_oid;
		return all;
	}
	return fc_route_find(spill->route, entry->key);
}

/* Counts the rows of each range in the sorted run */
static void
fc_spill_count(FcSpill *spill)
{
	uint64		i = 0;

	while (i < spill->n)
	{
		FcEntry    *first = &spill->entries[i];
		FcSpillPart part = {0};

		part.range = fc_spill_range(spill, first);
		part.null = fc_entry_null(first);
		part.min_offset = PG_UINT64_MAX;
		part.min_key = first->key;
		for (; i < spill->n; i++)
		{
			FcEntry    *entry = &spill->entries[i];

			if (fc_entry_null(entry) != part.null ||
				(!part.null && !part.range.hi_max && entry->key >= part.range.hi))
				break;
			part.rows++;
			part.bytes += entry->length;
			part.max_key = entry->key;
			if (entry->offset < part.min_offset)
			{
				part.min_offset = entry->offset;
				part.min_length = entry->length;
			}
		}
		fc_parts_add(spill->parts, &part);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sorts what is in memory and writes it as a run */
static void
fc_spill_flush(FcSpill *spill)
{
	FcSpillRun *run;
	MemoryContext old;
	const uint64 step = 65536;

	if (spill->n == 0)
		return;
	if (spill->nulls > 0)
		fc_spill_split_nulls(spill);
	fc_spill_sort(spill, spill->n - spill->nulls);
	fc_spill_count(spill);

	for (uint64 i = 0; i < spill->n; i += step)
	{
		CHECK_FOR_INTERRUPTS();
		fc_buffile_write(spill->file, spill->entries + i,
						 Min(step, spill->n - i) * sizeof(FcEntry));
	}
	pg_atomic_fetch_add_u64(&spill->shared->spilled, spill->n * sizeof(FcEntry));

	old = MemoryContextSwitchTo(spill->mcxt);
	run = palloc(sizeof(FcSpillRun));
	run->pos = spill->written;
	run->count = spill->n;
	run->nulls = spill->nulls;
	spill->runs = lappend(spill->runs, run);
	MemoryContextSwitchTo(old);

	spill->written += spill->n;
	spill->n = 0;
	spill->nulls = 0;
}

/* Doubles the array, within what the memory allows; false if it does */
static bool
fc_spill_grow(FcSpill *spill)
{
	uint64		size = Min(spill->size * 2, spill->max);

	if (spill->size >= spill->max)
		return false;
	spill->entries = repalloc_huge(spill->entries, size * sizeof(FcEntry));
	pfree(spill->scratch);
	spill->scratch = MemoryContextAllocHuge(spill->mcxt, size * sizeof(FcEntry));
	spill->size = size;
	return true;
}

void
fc_spill_put(FcSpill *spill, const FcEntry *entry)
{
	if (spill->n == spill->size && !fc_spill_grow(spill))
		fc_spill_flush(spill);
	spill->entries[spill->n++] = *entry;
	spill->nulls += fc_entry_null(entry);
}

static void
fc_spill_write_meta(FcSpill *spill)
{
	FcSpillMeta meta = {list_length(spill->runs),
	hash_get_num_entries(spill->parts)};
	HASH_SEQ_STATUS seq;
	FcPartEntry *entry;
	ListCell   *lc;
	char		name[MAXPGPATH];
	BufFile    *file;

	snprintf(name, sizeof(name), "meta.%d", spill->process);
	file = BufFileCreateFileSet(&spill->shared->fileset.fs, name);
	fc_buffile_write(file, &meta, sizeof(meta));
	foreach(lc, spill->runs)
		fc_buffile_write(file, lfirst(lc), sizeof(FcSpillRun));
	hash_seq_init(&seq, spill->parts);
	while ((entry = hash_seq_search(&seq)) != NULL)
		fc_buffile_write(file, &entry->part, sizeof(FcSpillPart));
	BufFileExportFileSet(file);
	BufFileClose(file);
}

void
fc_spill_end(FcSpill *spill)
{
	fc_spill_flush(spill);
	BufFileExportFileSet(spill->file);
	BufFileClose(spill->file);
	fc_spill_write_meta(spill);
	hash_destroy(spill->parts);
	pfree(spill->entries);
	pfree(spill->scratch);
	list_free_deep(spill->runs);
	pfree(spill);
}

static void
fc_runs_read_meta(FcRuns *runs, FcShared *shared, int process)
{
	char		name[MAXPGPATH];
	BufFile    *file;
	FcSpillMeta meta;
	List	   *parts = NIL;

	snprintf(name, sizeof(name), "meta.%d", process);
	file = BufFileOpenFileSet(&shared->fileset.fs, name, O_RDONLY, false);
	fc_buffile_read(file, &meta, sizeof(meta));

	runs->runs = repalloc_huge(runs->runs,
							   (runs->nruns + meta.nruns + 1) * sizeof(FcRunRef));
	for (uint64 i = 0; i < meta.nruns; i++)
	{
		FcRunRef   *ref = &runs->runs[runs->nruns++];

		ref->file = runs->files[process];
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

FcRuns *
fc_runs_open(FcShared *shared)
{
	FcRuns	   *runs = palloc0(sizeof(FcRuns));

	runs->nfiles = shared->nscanners;
	runs->files = palloc0(sizeof(BufFile *) * Max(runs->nfiles, 1));
	runs->runs = palloc(sizeof(FcRunRef));
	for (int i = 0; i < runs->nfiles; i++)
	{
		char		name[MAXPGPATH];

		snprintf(name, sizeof(name), "runs.%d", i);
		runs->files[i] = BufFileOpenFileSet(&shared->fileset.fs, name,
											O_RDONLY, false);
		fc_runs_read_meta(runs, shared, i);
	}
	return runs;
}

void
fc_runs_close(FcRuns *runs)
{
	for (int i = 0; i < runs->nfiles; i++)
		BufFileClose(runs->files[i]);
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
	HASH_SEQ_STATUS seq;
	FcPartEntry *entry;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, runs->metas)
	{
		ListCell   *lc2;

		foreach(lc2, (List *) lfirst(lc))
			fc_parts_add(parts, lfirst(lc2));
	}
	hash_seq_init(&seq, parts);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		FcSpillPart *part = palloc(sizeof(FcSpillPart));

		*part = entry->part;
		result = lappend(result, part);
	}
	hash_destroy(parts);
	list_sort(result, fc_part_cmp);
	return result;
}

static void
fc_run_seek(BufFile *file, uint64 entry)
{
	if (BufFileSeek(file, 0, (off_t) (entry * sizeof(FcEntry)), SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file")));
}

static FcEntry
fc_run_entry(const FcRunRef *ref, uint64 pos)
{
	FcEntry		entry;

	fc_run_seek(ref->file, pos);
	fc_buffile_read(ref->file, &entry, sizeof(entry));
	return entry;
}

/* First entry of [lo, hi) of the run's file that is not before the bound */
static uint64
fc_run_bisect(const FcRunRef *ref, uint64 lo, uint64 hi, const FcBound *bound)
{
	while (lo < hi)
	{
		uint64		mid = lo + (hi - lo) / 2;
		FcEntry		entry = fc_run_entry(ref, mid);

		if (entry.key < bound->key ||
			(entry.key == bound->key && entry.offset < bound->offset))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The entries of a run that lie between the bounds */
static void
fc_run_segment(const FcRunRef *ref, bool null, const FcBound *lo,
			   const FcBound *hi, bool hi_max, uint64 *pos, uint64 *end)
{
	uint64		first = ref->run.pos;
	uint64		keys_end = first + ref->run.count - ref->run.nulls;
	uint64		run_end = first + ref->run.count;

	/* with a NULL key all keys are 0, so that bounds cut by offset alone */
	if (null)
		first = keys_end;
	else
		run_end = keys_end;
	*pos = fc_run_bisect(ref, first, run_end, lo);
	*end = hi_max ? run_end : fc_run_bisect(ref, *pos, run_end, hi);
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

/* Adds evenly spaced entries of the part's segment in one run */
static int
fc_runs_sample(const FcRunRef *ref, const FcSpillPart *part, int per_run,
			   FcBound *sample)
{
	FcBound		lo = {part->null ? 0 : part->range.lo, 0};
	FcBound		hi = {part->range.hi, 0};
	uint64		pos;
	uint64		end;
	int			n = 0;

	fc_run_segment(ref, part->null, &lo, &hi,
				   part->null || part->range.hi_max, &pos, &end);
	for (int i = 0; i < per_run && pos < end; i++)
	{
		FcEntry		entry;

		CHECK_FOR_INTERRUPTS();
		entry = fc_run_entry(ref, pos + (end - pos) * i / per_run);
		sample[n].key = entry.key;
		sample[n].offset = entry.offset;
		n++;
	}
	return n;
}

/*
 * Runs are samples of about the same size of the same data (each is what one
 * process met in one stretch of time), so that every run gives the same
 * number of sample entries.
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
		bounds[nbounds++] = *bound;
	}
	pfree(sample);
	return nbounds;
}

static inline FcEntry *
fc_cursor_entry(FcCursor *cursor)
{
	return &cursor->buf[cursor->i];
}

static inline bool
fc_entry_before(const FcEntry *a, const FcEntry *b)
{
	return a->key < b->key || (a->key == b->key && a->offset < b->offset);
}

/* The smallest entry on top */
static int
fc_cursor_cmp(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	FcCursor   *ca = pairingheap_container(FcCursor, node, (pairingheap_node *) a);
	FcCursor   *cb = pairingheap_container(FcCursor, node, (pairingheap_node *) b);

	return fc_entry_before(fc_cursor_entry(ca), fc_cursor_entry(cb)) ? 1 : -1;
}

/* Fills the cursor's buffer; false at the end of its segment */
static bool
fc_cursor_fill(FcMerge *merge, FcCursor *cursor)
{
	cursor->n = Min(cursor->end - cursor->pos, (uint64) merge->buffered);
	cursor->i = 0;
	if (cursor->n == 0)
		return false;
	CHECK_FOR_INTERRUPTS();
	fc_run_seek(cursor->file, cursor->pos);
	fc_buffile_read(cursor->file, cursor->buf, cursor->n * sizeof(FcEntry));
	cursor->pos += cursor->n;
	return true;
}

static void
fc_merge_add(FcMerge *merge, const FcRunRef *ref, const FcTask *task)
{
	FcCursor   *cursor;
	uint64		pos;
	uint64		end;

	fc_run_segment(ref, task->null, &task->lo, &task->hi, task->hi_max,
				   &pos, &end);
	if (pos == end)
		return;
	cursor = palloc0(sizeof(FcCursor));
	cursor->file = ref->file;
	cursor->pos = pos;
	cursor->end = end;
	cursor->buf = palloc(Min(end - pos, (uint64) merge->buffered) * sizeof(FcEntry));
	fc_cursor_fill(merge, cursor);
	pairingheap_add(merge->heap, &cursor->node);
}

FcMerge *
fc_merge_begin(FcRuns *runs, const FcTask *task, Size memory)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy merge",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcMerge    *merge = palloc0(sizeof(FcMerge));
	Size		each = memory / sizeof(FcEntry) / Max(runs->nruns, 1);

	merge->mcxt = mcxt;
	merge->buffered = Min(Max(each, FC_MERGE_MIN), FC_MERGE_MAX);
	merge->heap = pairingheap_allocate(fc_cursor_cmp, NULL);
	for (int i = 0; i < runs->nruns; i++)
		fc_merge_add(merge, &runs->runs[i], task);
	MemoryContextSwitchTo(old);
	return merge;
}

/* Puts the current cursor back, or drops it at its end */
static void
fc_merge_advance(FcMerge *merge)
{
	FcCursor   *cursor = merge->current;

	if (cursor == NULL)
		return;
	if (++cursor->i == cursor->n && !fc_cursor_fill(merge, cursor))
		merge->current = NULL;
	else if (!pairingheap_is_empty(merge->heap))
	{
		FcCursor   *top = pairingheap_container(FcCursor, node,
												pairingheap_first(merge->heap));

		if (fc_entry_before(fc_cursor_entry(top), fc_cursor_entry(cursor)))
		{
			pairingheap_add(merge->heap, &cursor->node);
			merge->current = NULL;
		}
	}
}

bool
fc_merge_next(void *arg, FcEntry *entry)
{
	FcMerge    *merge = arg;

	fc_merge_advance(merge);
	if (merge->current == NULL)
	{
		if (pairingheap_is_empty(merge->heap))
			return false;
		merge->current = pairingheap_container(FcCursor, node,
											   pairingheap_remove_first(merge->heap));
	}
	*entry = *fc_cursor_entry(merge->current);
	return true;
}

void
fc_merge_end(FcMerge *merge)
{
	MemoryContextDelete(merge->mcxt);
}
