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

#include <fcntl.h>

#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "compat/compat.h"
#include "sort/run_merge.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fc_spill_test);

/* Keys in a range, and records that a process spills at a time */
#define RANGE	1000
#define CHUNK	100

typedef struct Test
{
	FcShared   *shared;
	int			nrecords;
	int			longest;
	int			spread;
	int			slices;
	FcEntry    *entries;		/* in the order wanted */
	int			next;			/* of them, the one that must come next */
	bool		keep;			/* in memory, if that can be */
	FcSpillKept *kept;			/* NULL: in files */
	char	   *wrong;
} Test;

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

/* In place of the file: records that are too long to be spilled */
void
fc_source_read(const FcSource *source, uint64 offset, char *buf, size_t len)
{
	fill_bytes(buf, offset, len);
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

/*
 * Mostly near 0.  The least and the greatest possible come, too, but not in
 * all runs, nor where ranges are cut, as they are too few for that.
 */
static int64
make_key(const Test *test, int i, uint32 random)
{
	if (test->slices == 1 && i <= test->nrecords / 2)
	{
		if (random % 97 == 0)
			return PG_INT64_MIN;
		if (random % 97 == 1)
			return PG_INT64_MAX;
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
		entry->info = fc_entry_info(null, fc_spill_packs(test->shared) ? 0 : i % CHUNK);
		offset += entry->length + 1;
	}
}

/* The caller changes a record once it is held, and does not put all */
static void
hold_record(FcSpill *spill, char *data, const FcEntry *entry)
{
	memset(data, 'x', entry->length);
	fc_spill_hold(spill, data, entry->length);
	fill_bytes(data, entry->offset, entry->length);
	fc_spill_hold(spill, data, entry->length);
	memset(data, 'y', entry->length);
}

static void
spill_entries(Test *test, int nprocesses, Size memory)
{
	FcRoute		route = {0};
	bool		rows = (test->shared->way == FC_WAY_ROWS);
	char	   *data = palloc(rows ? test->longest + 1 : 1);

	for (int process = 0; process < nprocesses; process++)
	{
		FcSpill    *spill = fc_spill_begin(test->shared, process, &route, memory);

		for (int i = 0; i < test->nrecords; i++)
		{
			FcEntry    *entry = &test->entries[i];

			if (i / CHUNK % nprocesses != process)
				continue;
			if (rows)
				hold_record(spill, data, entry);
			fc_spill_put(spill, entry);
		}
		test->kept = test->keep ? fc_spill_keep_all(spill, CurrentMemoryContext) : NULL;
		if (test->kept == NULL)
			fc_spill_end(spill);
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

/* The record and the byte behind it are overwritten, as a parser does */
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
		memset(data, 'z', entry->length + 1);
	test->next++;
}

static void
check_task(Test *test, FcRuns *runs, const FcTask *task)
{
	FcMerge    *merge = fc_merge_begin(runs, task, test->shared->memory);
	FcEntry		entry;
	char	   *data = NULL;

	while (!test->wrong &&
		   (test->shared->way == FC_WAY_ROWS ? fc_merge_row(merge, NULL, &entry, &data) :
			fc_merge_next(merge, &entry)))
		check_row(test, &entry, data);
	fc_merge_end(merge);
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

static void
check_slices(Test *test, FcRuns *runs, const FcSpillPart *part)
{
	FcBound    *bounds = palloc(sizeof(FcBound) * test->slices);
	int			n = test->slices > 1 ? fc_runs_cut(runs, part, test->slices, bounds) : 0;
	FcTask		task = {0};

	task.null = part->null;
	task.lo.key = part->null ? 0 : part->range.lo;
	for (int i = 0; i <= n && !test->wrong; i++)
	{
		int			before = test->next;

		task.hi.key = part->range.hi;
		task.hi.offset = 0;
		task.hi_max = i == n && (part->null || part->range.hi_max);
		if (i < n)
			task.hi = bounds[i];
		check_task(test, runs, &task);
		if (n > 0 && (test->next - before > (int) part->rows / 2 || n < test->slices / 2))
			test->wrong = psprintf("%d slices, one of %d of " UINT64_FORMAT " rows",
								   n + 1, test->next - before, part->rows);
		task.lo = task.hi;
	}
	pfree(bounds);
}

static int
count_runs(FcShared *shared)
{
	int			n = 0;

	for (int i = 0; i < shared->nscanners; i++)
	{
		BufFile    *file = BufFileOpenFileSet(&shared->fileset.fs,
											  psprintf("meta.%d", i), O_RDONLY, false);
		FcSpillMeta meta;

		fc_buffile_read(file, &meta, sizeof(meta));
		n += meta.nruns;
		BufFileClose(file);
	}
	return n;
}

static void
check_all(Test *test)
{
	FcRuns	   *runs = fc_runs_open(test->shared, test->kept);
	ListCell   *lc;

	qsort(test->entries, test->nrecords, sizeof(FcEntry), entry_cmp);
	foreach(lc, fc_runs_parts(runs))
	{
		if (!test->wrong)
			check_part(test, lfirst(lc));
		if (!test->wrong)
			check_slices(test, runs, lfirst(lc));
	}
	if (!test->wrong && test->next != test->nrecords)
		test->wrong = psprintf("%d rows instead of %d", test->next, test->nrecords);
	fc_runs_close(runs);
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
	test.slices = PG_GETARG_INT32(5);
	test.spread = PG_GETARG_INT32(6);
	test.shared = dsm_segment_address(segment);
	memset(test.shared, 0, sizeof(FcShared));
	test.shared->memory = (Size) PG_GETARG_INT32(2) * 1024;
	test.shared->way = PG_GETARG_BOOL(4) ? FC_WAY_ROWS : FC_WAY_OFFSETS;
	test.shared->plan.nnumbers = PG_GETARG_BOOL(7) ? 1 : 0;
	test.shared->nscanners = nprocesses;
	test.keep = PG_GETARG_BOOL(8);
	pg_atomic_init_u64(&test.shared->counts.spilled, 0);
	SharedFileSetInit(&test.shared->fileset, segment);

	make_entries(&test);
	spill_entries(&test, nprocesses, test.shared->memory);
	check_all(&test);
	answer = test.wrong ? test.wrong :
		test.kept ? psprintf("%d runs, kept", list_length(test.kept->runs)) :
		psprintf("%d runs", count_runs(test.shared));
	dsm_detach(segment);
	PG_RETURN_TEXT_P(cstring_to_text(answer));
}
