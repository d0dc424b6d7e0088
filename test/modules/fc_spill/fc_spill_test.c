/*-------------------------------------------------------------------------
 *
 * fc_spill_test.c
 *	  Spills made-up records and reads them back.
 *
 * A record's key, length and bytes follow from its number and offset, so that
 * each can be checked when it comes back.  The source file and the partitions
 * are stood in for here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "sort/spill.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fc_spill_test);

/* Keys in a range, and records that a process spills at a time */
#define RANGE	1000
#define CHUNK	100

/* Of a row: its header, its first value and its key, and where that stands */
#define HEADER	MAXALIGN(SizeofHeapTupleHeader)
#define BEGIN	(HEADER + 16)
#define KEY		(HEADER + 8)

typedef struct Test
{
	FcShared   *shared;
	int			nrecords;
	int			longest;
	int			spread;
	int			nbounds;
	FcBound    *bounds;
	FcEntry    *entries;		/* in the order wanted */
	int			next;			/* of them, the one that must come next */
	bool		keep;			/* in memory, if that can be */
	int			key_width;		/* 0: no row is bare */
	FcSpillKept *kept;			/* NULL: in files */
	int			ncells;
	bool		cut;			/* a cell was too large, and spilled again */
	int			rows_a_read;	/* at least */
	char	   *wrong;
} Test;

/* In place of the setting */
int			fc_max_partitions = 10;

static char
byte_of(uint64 offset, uint64 i)
{
	return (char) (offset * 31 + i * 7);
}

static void
fill_bytes(char *buf, uint64 offset, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = byte_of(offset, i);
}

/*
 * In place of the partitions: one for every RANGE keys, and one for the rest on
 * either side
 */
FcRange
fc_route_find(const FcRoute *route, int64 key)
{
	FcRange		range = {0};

	if (key < -6 * RANGE)
	{
		range.lo = PG_INT64_MIN;
		range.hi = -6 * RANGE;
		range.lo_min = true;
	}
	else if (key < 4 * RANGE)
	{
		range.lo = key - (key % RANGE + RANGE) % RANGE;
		range.hi = range.lo + RANGE;
	}
	else
	{
		range.lo = 4 * RANGE;
		range.hi = PG_INT64_MAX;
		range.hi_max = true;
	}
	return range;
}

/* In place of the source file */
struct FcFetch
{
	Size		head;
	FcReadStats *stats;
};

FcFetch *
fc_fetch_begin(const FcSource *source, const FcShared *shared, Size head, Size memory,
			   FcReadStats *stats)
{
	FcFetch    *fetch = palloc(sizeof(FcFetch));

	fetch->head = head;
	fetch->stats = stats;
	return fetch;
}

/* What is read must be in the order of the file */
void
fc_fetch_block(FcFetch *fetch, FcSpillBlock *block)
{
	uint64		last = block->base;

	for (char *at = (char *) (block + 1); at < (char *) block + block->size;
		 at += fc_spilled_size((FcSpilled *) at, fetch->head))
	{
		FcSpilled  *spilled = (FcSpilled *) at;
		uint64		offset = block->base + spilled->after;

		if (offset < last)
			elog(ERROR, "offset " UINT64_FORMAT " after " UINT64_FORMAT, offset, last);
		last = offset;
		if (fc_spilled_kind(spilled) == FC_SPILLED_RECORD)
			fill_bytes(at + fetch->head, offset, fc_spilled_length(spilled));
	}
}

void
fc_fetch_end(FcFetch *fetch)
{
	pfree(fetch);
}

void
fc_source_read(const FcSource *source, uint64 offset, char *buf, size_t len)
{
	fill_bytes(buf, offset, len);
}

void
fc_source_write(File file, const char *buf, size_t len, uint64 at, uint32 event)
{
	if (FileWrite(file, (char *) buf, len, (off_t) at, event) != (int) len)
		elog(ERROR, "could not write to file \"%s\": %m", FilePathName(file));
}

/* Mostly near 0.  The least and the greatest possible come, too. */
static int64
make_key(const Test *test, int i, uint32 random)
{
	if (i <= test->nrecords / 2)
	{
		int			bits = test->key_width == 0 ? 64 : test->key_width * 8;

		if (random % 97 == 0)
			return PG_INT64_MIN >> (64 - bits);
		if (random % 97 == 1)
			return PG_INT64_MAX >> (64 - bits);
	}
	return (int64) (random % test->spread) - test->spread / 2;
}

/* The first has the least key and offset that there are */
static void
make_entries(Test *test)
{
	uint64		offset = 0;

	test->entries = palloc0(sizeof(FcEntry) * test->nrecords);
	for (int i = 0; i < test->nrecords; i++)
	{
		FcEntry    *entry = &test->entries[i];
		uint32		random = murmurhash32(i);
		bool		null = random % 17 == 1;

		entry->key = null ? 0 : make_key(test, i, random);
		entry->offset = offset;
		entry->length = murmurhash32(random) % ((uint32) test->longest + 1);
		entry->info = fc_entry_info(null, test->shared->plan.nnumbers > 0 ? i % CHUNK : 0);
		offset += entry->length + 1;
	}
}

/* Some records become rows, if their bytes are kept at all */
static bool
is_row(const Test *test, const FcEntry *entry)
{
	return test->shared->course.spills && test->shared->plan.nnumbers == 0 &&
		entry->length < 1000 && entry->offset % 3 != 0;
}

static uint32
row_bytes(const FcEntry *entry)
{
	return BEGIN + entry->length;
}

static bool
is_bare(const Test *test, bool null, uint64 offset)
{
	return test->key_width > 0 && !null && offset % 5 != 1;
}

/* Forms a row where it is to stand */
static void
form_row(const Test *test, char *row, bool bare, int64 key, uint64 offset, uint32 length)
{
	int16		key2 = key;
	int32		key4 = key;

	if (!bare)
	{
		memset(row, 'h', HEADER);
		((HeapTupleHeader) row)->t_infomask = 0;
		((HeapTupleHeader) row)->t_infomask2 = 1;
		((HeapTupleHeader) row)->t_hoff = HEADER;
	}
	memcpy(row + KEY, test->key_width == sizeof(key2) ? (void *) &key2 :
		   test->key_width == sizeof(key4) ? (void *) &key4 : (void *) &key,
		   test->key_width > 0 ? test->key_width : sizeof(key));
	fill_bytes(row + BEGIN, offset, length);
}

static int
compare_bounds(const void *a, const void *b)
{
	return fc_spill_bound_cmp(a, b);
}

/* Bounds at keys of records, in their order: two of each, or more of few keys */
static void
make_bounds(Test *test)
{
	int			n = test->nbounds;
	FcBound    *bounds = test->bounds = palloc0(sizeof(FcBound) * (n + 1));

	Assert(n == 0 || test->nrecords > 0);
	for (int i = 0; i < n; i++)
	{
		bounds[i].key = (int64) test->spread * (i / 2 * 2) / n - test->spread / 2;
		bounds[i].offset = i % 2 == 0 ? 0 : test->entries[(int64) test->nrecords * i / n].offset;
	}
	qsort(bounds, n, sizeof(FcBound), compare_bounds);
	test->nbounds = Min(n, 1);
	for (int i = 1; i < n; i++)
		if (compare_bounds(&bounds[test->nbounds - 1], &bounds[i]) < 0)
			bounds[test->nbounds++] = bounds[i];
}

/* Forms the rows that have places, as a scan does */
static void
spill_rows(const Test *test, FcSpill *spill, FcSpillRows *rows, bool *nulls, int n)
{
	bool		has_null[FC_BATCH_ROWS];

	rows->nulls = nulls;
	rows->has_null = has_null;
	for (int i = 0; i < n; i++)
		has_null[i] = !is_bare(test, nulls[i], rows->offsets[i]);
	for (int i = 0, next; i < n; i = next)
	{
		next = fc_spill_place(spill, rows, i, n);
		for (int j = i; j < next; j++)
		{
			for (uint32 k = has_null[j] ? 0 : HEADER; k < rows->rows[j]; k++)
				if (rows->places[j][k] != 0)
					elog(ERROR, "row at " UINT64_FORMAT ": byte %u is not zero", rows->offsets[j], k);
			form_row(test, rows->places[j], !has_null[j], rows->keys[j], rows->offsets[j], rows->lengths[j]);
		}
		fc_spill_seal(spill, rows, i, next);
	}
	rows->has_null = NULL;
}

static void
spill_entry(const Test *test, FcSpill *spill, FcSpillRows *rows, bool *nulls, int *n,
			const FcEntry *entry, char *data)
{
	if (*n == FC_BATCH_ROWS || !is_row(test, entry))
	{
		spill_rows(test, spill, rows, nulls, *n);
		*n = 0;
	}
	if (!is_row(test, entry))
	{
		if (data)
			fill_bytes(data, entry->offset, entry->length);
		fc_spill_put(spill, entry, data, false);
		if (data)
			memset(data, 'y', entry->length);
		return;
	}
	rows->keys[*n] = entry->key;
	nulls[*n] = fc_entry_null(entry);
	rows->offsets[*n] = entry->offset;
	rows->lengths[*n] = entry->length;
	rows->rows[(*n)++] = row_bytes(entry);
}

/* The blocks are what is in a child */
static void
check_memory(Test *test, MemoryContext mcxt, Size memory)
{
	Size		blocks = MemoryContextMemAllocated(mcxt, true) - MemoryContextMemAllocated(mcxt, false);

	/* what is ahead of chunks, and a block of the context that is not full */
	if (blocks > Max(memory, 64 * 1024) * 9 / 8 + 128 * 1024)
		test->wrong = psprintf("%zu bytes in blocks", blocks);
}

static void
spill_entries(Test *test, int nprocesses, Size memory)
{
	FcRoute		route = {0};
	char	   *data = palloc(Min(test->longest, 70000) + 1);
	FcSpillRows *rows = palloc0(sizeof(FcSpillRows));
	bool		nulls[FC_BATCH_ROWS];

	for (int process = 0; process < nprocesses; process++)
	{
		MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "spill", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(mcxt);
		FcSpill    *spill = fc_spill_begin(test->shared, psprintf("spill.%d", process), &route,
										   test->bounds, test->nbounds, memory);
		int			n = 0;

		MemoryContextSwitchTo(old);
		for (int i = 0; i < test->nrecords; i++)
			if (i / CHUNK % nprocesses == process)
				spill_entry(test, spill, rows, nulls, &n, &test->entries[i],
							fc_spill_keeps(test->shared, test->entries[i].length) ? data : NULL);
		spill_rows(test, spill, rows, nulls, n);
		check_memory(test, mcxt, memory);
		test->kept = test->keep ? fc_spill_keep(spill, false) : NULL;
		if (test->kept == NULL)
			fc_spill_end(spill, process);
	}
	pfree(data);
}

static int
entry_cmp(const void *a, const void *b)
{
	const FcEntry *ea = a;
	const FcEntry *eb = b;

	if (fc_entry_null(ea) != fc_entry_null(eb))
		return fc_entry_null(ea) ? 1 : -1;
	if (ea->key != eb->key)
		return ea->key < eb->key ? -1 : 1;
	return ea->offset < eb->offset ? -1 : 1;
}

/* A record and the byte behind it are overwritten, as a parser does */
static void
check_row(Test *test, const FcEntry *entry, char *data)
{
	const FcEntry *wanted = &test->entries[test->next];

	if (test->next >= test->nrecords)
		test->wrong = "a row too many";
	else if (memcmp(entry, wanted, sizeof(FcEntry)) != 0)
		test->wrong = psprintf("row %d: offset " UINT64_FORMAT " instead of " UINT64_FORMAT,
							   test->next, entry->offset, wanted->offset);
	for (uint32 i = 0; data && i < entry->length && !test->wrong; i++)
		if (data[i] != byte_of(entry->offset, i))
			test->wrong = psprintf("row %d: byte %u", test->next, i);
	if (data)
		memset(data, 'z', entry->length + !is_row(test, entry));
	test->next++;
}

/* Its bytes, if they were spilled */
static char *
bytes_of(Test *test, FcCellReader *reader, FcSpilled *spilled, const FcEntry *entry)
{
	FcSpilledKind wanted = is_row(test, entry) ?
		(is_bare(test, fc_entry_null(entry), entry->offset) ? FC_SPILLED_BARE : FC_SPILLED_TUPLE) :
		entry->length <= fc_spill_keeps_most(test->shared) ? FC_SPILLED_RECORD : FC_SPILLED_PLACE;

	if (fc_spilled_kind(spilled) != wanted)
		test->wrong = psprintf("row %d: kind %d", test->next, fc_spilled_kind(spilled));
	switch (fc_spilled_kind(spilled))
	{
		case FC_SPILLED_TUPLE:
			for (int i = offsetof(HeapTupleHeaderData, t_bits); i < HEADER; i++)
				if (((char *) spilled)[i] != 'h')
					test->wrong = psprintf("row %d: byte %d of the header", test->next, i);
			return (char *) spilled + BEGIN;
		case FC_SPILLED_BARE:
			return (char *) spilled + BEGIN - FC_SPILL_BARE_SKIP;
		case FC_SPILLED_RECORD:
			return fc_cells_record(reader, spilled, entry);
		default:
			return NULL;
	}
}

/* Every other time asks for several rows at once */
static void
check_rows(Test *test, FcCellReader *reader)
{
	FcSpilledRow rows[7];
	int			n = fc_cells_rows(reader, rows, test->next % 7 + 1);

	for (int i = 0; i < n && !test->wrong && test->next < test->nrecords; i++)
	{
		FcEntry    *entry = &test->entries[test->next];

		if (fc_spilled_offset(&rows[i]) != entry->offset || rows[i].key != entry->key ||
			fc_spilled_row(rows[i].spilled) != row_bytes(entry) ||
			fc_spilled_length(rows[i].spilled) != entry->length)
			test->wrong = psprintf("row %d: offset " UINT64_FORMAT " instead of " UINT64_FORMAT,
								   test->next, fc_spilled_offset(&rows[i]), entry->offset);
		else
			check_row(test, entry, bytes_of(test, reader, rows[i].spilled, entry));
	}
}

static void
check_cell(Test *test, FcCellReader *reader, const FcCell *cell)
{
	FcTask		task = {.null = cell->part.null,.lo = cell->lo};
	int			before = test->next;
	FcEntry		entry;
	FcSpilled  *spilled;

	/* its bytes are compared, with those between its fields */
	memset(&entry, 0, sizeof(entry));
	fc_cells_enter(reader, &task);
	while (!test->wrong)
	{
		if (test->next % 2 == 0)
			check_rows(test, reader);
		spilled = test->wrong ? NULL : fc_cells_next(reader, &entry);
		if (spilled == NULL)
			break;
		if (!cell->part.null && (fc_spill_before(entry.key, entry.offset, &cell->lo) ||
								 !(cell->hi_max || fc_spill_before(entry.key, entry.offset, &cell->hi))))
			test->wrong = psprintf("row %d is not of its cell", test->next);
		check_row(test, &entry, bytes_of(test, reader, spilled, &entry));
	}
	fc_cells_leave(reader, &task);
	if (!test->wrong && test->next - before != (int) cell->part.rows)
		test->wrong = psprintf("a cell of %d rows instead of " UINT64_FORMAT, test->next - before, cell->part.rows);
}

/* What was counted for the range whose rows are wanted next */
static void
check_part(Test *test, const FcSpillPart *part)
{
	FcSpillPart wanted = {0};

	wanted.min_offset = PG_UINT64_MAX;
	for (int i = test->next; i < test->nrecords; i++)
	{
		FcEntry    *entry = &test->entries[i];

		if (fc_entry_null(entry) != part->null ||
			(!part->null && !part->range.hi_max && entry->key >= part->range.hi))
			break;
		wanted.rows++;
		wanted.bytes += entry->length;
		wanted.max_key = entry->key;
		if (entry->offset < wanted.min_offset)
		{
			wanted.min_offset = entry->offset;
			wanted.min_length = entry->length;
		}
	}
	if (part->rows != wanted.rows || part->bytes != wanted.bytes ||
		part->min_offset != wanted.min_offset ||
		part->min_length != wanted.min_length ||
		part->min_key != test->entries[test->next].key ||
		part->max_key != wanted.max_key)
		test->wrong = psprintf("range from " INT64_FORMAT ": " UINT64_FORMAT " rows instead of " UINT64_FORMAT ", or something else",
							   part->range.lo, part->rows, wanted.rows);
}

/* Each process that reads opens the cells of all that have written */
static FcSpills *
open_cells(Test *test)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "cells", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcSpills   *spills = fc_spills_open(test->shared, test->kept);
	Size		known;

	MemoryContextSwitchTo(old);
	(void) fc_spills_cells(spills, &test->ncells);
	/* an array has up to twice its elements */
	known = 2 * test->ncells * fc_spills_size(test->shared->nscanners) + 64 * 1024;
	if (!test->wrong && (MemoryContextMemAllocated(mcxt, true) > known ||
						 fc_spills_size(64) > 8 * 1024))
		test->wrong = psprintf("%zu bytes for %d cells", MemoryContextMemAllocated(mcxt, true), test->ncells);
	return spills;
}

/* The rows of a part are those of its cells */
static void
check_all(Test *test)
{
	FcSpills   *spills = open_cells(test);
	FcSource	source = {0};
	FcContext	ctx = {.shared = test->shared,.source = &source,.kept = test->kept};
	FcCellReader *reader = fc_cells_begin(&ctx);
	List	   *parts = fc_spills_parts(spills);
	ListCell   *part = list_head(parts);
	const FcCell *cells = fc_spills_cells(spills, &test->ncells);
	uint64		written = pg_atomic_read_u64(&test->shared->counts.spilled);
	uint64		reads;

	qsort(test->entries, test->nrecords, sizeof(FcEntry), entry_cmp);
	for (int i = 0; i < test->ncells && !test->wrong; i++)
	{
		if (i == 0 || cells[i].part.range.lo != cells[i - 1].part.range.lo ||
			cells[i].part.null != cells[i - 1].part.null)
		{
			check_part(test, lfirst(part));
			part = lnext(parts, part);
		}
		if (!test->wrong)
			check_cell(test, reader, &cells[i]);
	}
	if (!test->wrong && (test->next != test->nrecords || part != NULL))
		test->wrong = psprintf("%d rows instead of %d", test->next, test->nrecords);
	reads = pg_atomic_read_u64(&test->shared->counts.reads);
	if (!test->wrong && test->rows_a_read * reads > test->nrecords)
		test->wrong = psprintf("%d rows in " UINT64_FORMAT " reads", test->nrecords, reads);
	test->cut = pg_atomic_read_u64(&test->shared->counts.spilled) != written;
	fc_cells_end(reader);
	fc_spills_close(spills);
}

Datum
fc_spill_test(PG_FUNCTION_ARGS)
{
	Test		test = {0};
	int			nprocesses = PG_GETARG_INT32(3);
	dsm_segment *segment = dsm_create(sizeof(FcShared), 0);
	char	   *answer;

	test.nrecords = PG_GETARG_INT32(0);
	test.longest = PG_GETARG_INT32(1);
	test.nbounds = PG_GETARG_INT32(5);
	test.spread = PG_GETARG_INT32(6);
	test.shared = dsm_segment_address(segment);
	memset(test.shared, 0, sizeof(FcShared));
	test.shared->memory = (Size) PG_GETARG_INT32(2) * 1024;
	test.shared->course.spills = PG_GETARG_BOOL(4);
	test.shared->plan.nnumbers = PG_GETARG_BOOL(7) ? 1 : 0;
	test.shared->nscanners = nprocesses;
	test.keep = PG_GETARG_BOOL(8);
	test.rows_a_read = PG_GETARG_INT32(10);
	test.key_width = test.shared->plan.key.width = PG_GETARG_INT32(9);
	test.shared->plan.key.place = test.key_width > 0 ? KEY - HEADER : -1;
	pg_atomic_init_u64(&test.shared->counts.spilled, 0);
	SharedFileSetInit(&test.shared->fileset, segment);

	make_entries(&test);
	make_bounds(&test);
	spill_entries(&test, nprocesses, test.shared->memory);
	check_all(&test);
	answer = test.wrong ? test.wrong :
		psprintf("%d cells%s%s", test.ncells, test.kept ? ", kept" : "", test.cut ? ", cut" : "");
	dsm_detach(segment);
	PG_RETURN_TEXT_P(cstring_to_text(answer));
}
