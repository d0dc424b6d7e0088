/*-------------------------------------------------------------------------
 *
 * phase/sample.c
 *	  Looks at some keys of the file, to choose what the scan spills.
 *
 *	offsets		The load reads each row from the source file, in key order, a
 *				window of rows at a time (sort/fetch_window.c).
 *	rows		Each byte is written once more and read once more, in sequence
 *				(sort/run_merge.c), whatever the order of the file.
 *
 * The sample tells what offsets would cost:
 *
 * 1. The leader reads the first records of some chunks.
 * 2. It cuts their keys into as many windows as the file would have.
 * 3. It adds up what reading the rows would take, window by window
 *    (fc_sample_times).
 *
 * fast_copy.spill overrules the choice.  Records too long for the memory are
 * always read from the source.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"

#include "compat/compat.h"
#include "errors/first_error.h"
#include "key/search.h"
#include "phase/phases.h"
#include "row/chunk_reader.h"
#include "row/executor.h"
#include "row/parse.h"
#include "sort/fetch_map.h"
#include "sort/fetch_window.h"

#define FC_SAMPLE_STRETCHES	256 /* places in the file, at most */
#define FC_SAMPLE_LEAST		65536	/* bytes read at each, at least */
#define FC_SAMPLE_BYTES		(1024 * 1024)	/* in all, if the places are few */
#define FC_SAMPLE_ROWS		131072	/* rows in all, at most */
#define FC_SAMPLE_WINDOWS	1024	/* told apart, at most */
#define FC_SAMPLE_EXTRA		3	/* smaller windows of each process */
#define FC_SAMPLE_SMALL		(1024 * 1024)	/* smaller files get no sample */

/*
 * Rows are spilled if reading by offsets takes more than so many times the
 * file's bytes: writing and reading the rows costs as much.
 */
#define FC_SAMPLE_TIMES		3

/* A row of the sample */
typedef struct FcSampleRow
{
	int64		key;
	uint64		offset;
	uint32		length;
	uint32		stretch;		/* number of its place in the file */
} FcSampleRow;

/* Where the last row of a window was */
typedef struct FcSampleWindow
{
	uint64		end;
	uint32		stretch;
} FcSampleWindow;

typedef struct FcKeySample
{
	FcChunkReader reader;
	FcParser   *parser;
	FcSampleRow *rows;
	uint32		nrows;
	uint32		max;			/* the most rows after the stretch in hand */
	uint32		stretch;
} FcKeySample;

/* Body of fc_error_catch: the records of one stretch */
static void
fc_sample_read(void *arg)
{
	FcKeySample   *sample = arg;
	const FcRecord *record = &sample->reader.record;

	while (sample->nrows < sample->max && fc_chunk_reader_next(&sample->reader))
	{
		FcSampleRow *row = &sample->rows[sample->nrows];
		bool		null;

		CHECK_FOR_INTERRUPTS();
		if (!fc_parse_key(sample->parser, record, &row->key, &null) || null)
			continue;
		row->offset = record->offset;
		row->length = record->length;
		row->stretch = sample->stretch;
		sample->nrows++;
	}
}

/*
 * Reads one stretch; false if an error ended the sample, which the scan meets
 * again
 */
static bool
fc_sample_stretch(FcKeySample *sample, uint32 chunk, uint64 bytes)
{
	FcChunkReader *reader = &sample->reader;
	ErrorData  *edata;

	if (!fc_chunk_reader_enter(reader, chunk))
		return true;
	reader->end = fc_shared_starts(reader->ctx->shared)[chunk].first + bytes;
	edata = fc_error_catch(reader->ctx, fc_sample_read, sample);
	sample->stretch++;
	return edata == NULL;
}

/* Takes rows from places that are spread evenly over the file */
static void
fc_sample_take(FcKeySample *sample, FcContext *ctx)
{
	uint32		nchunks = ctx->shared->source.nchunks;
	uint32		n = Min(nchunks, FC_SAMPLE_STRETCHES);
	ResultRelInfo *root;
	EState	   *estate = fc_executor_begin(fc_executor_context_state(ctx), &root);

	sample->rows = palloc(sizeof(FcSampleRow) * FC_SAMPLE_ROWS);
	fc_chunk_reader_begin(&sample->reader, ctx, FC_SAMPLE_LEAST);
	sample->reader.looks = true;
	sample->parser = fc_parse_begin(ctx, estate, true);
	for (uint32 i = 0; i < n; i++)
	{
		sample->max = FC_SAMPLE_ROWS / n * (i + 1);
		if (!fc_sample_stretch(sample, (uint64) nchunks * i / n,
							   Max(FC_SAMPLE_BYTES / n, FC_SAMPLE_LEAST)))
			break;
	}
	fc_parse_end(sample->parser);
	fc_chunk_reader_end(&sample->reader);
	fc_executor_end(estate);
}

static int
fc_sample_key_cmp(const void *a, const void *b)
{
	int64		ka = *(const int64 *) a;
	int64		kb = *(const int64 *) b;

	return ka < kb ? -1 : ka > kb;
}

/* The first key of each of n windows with equally many rows */
static int64 *
fc_sample_borders(const FcKeySample *sample, uint32 n)
{
	int64	   *keys = palloc(sizeof(int64) * sample->nrows);
	int64	   *borders = palloc(sizeof(int64) * n);

	for (uint32 i = 0; i < sample->nrows; i++)
		keys[i] = sample->rows[i].key;
	qsort(keys, sample->nrows, sizeof(int64), fc_sample_key_cmp);
	for (uint32 i = 0; i < n; i++)
		borders[i] = keys[(uint64) sample->nrows * i / n];
	pfree(keys);
	return borders;
}

/*
 * What it costs to read the sample window by window, as a multiple of its
 * bytes.
 *
 * Each row counts with its bytes and the gap after the row before it in its
 * window.  The reader reads over gaps up to FC_READ_GAP; a wider one takes
 * another request, which costs as much (about 0.7 us, thirty times what
 * copying a row does).
 */
static double
fc_sample_times(const FcKeySample *sample, uint32 nwindows)
{
	int64	   *borders = fc_sample_borders(sample, nwindows);
	FcSampleWindow *windows = palloc0(sizeof(FcSampleWindow) * nwindows);
	double		bytes = 0;
	double		cost = 0;

	for (uint32 i = 0; i < sample->nrows; i++)
	{
		FcSampleRow *row = &sample->rows[i];
		FcSampleWindow *window;
		uint32		after = 1;
		uint64		gap;

		/* the last window whose border is not above the key */
		fc_search(uint32, after, nwindows, mid, borders[mid] <= row->key);
		window = &windows[after - 1];
		gap = row->offset - window->end;
		if (window->stretch != row->stretch + 1 || gap > FC_READ_GAP)
			gap = FC_READ_GAP;
		cost += gap + row->length;
		bytes += row->length + 1;
		window->stretch = row->stretch + 1;
		window->end = row->offset + row->length;
	}
	pfree(borders);
	pfree(windows);
	Assert(cost >= bytes - sample->nrows);
	return bytes > 0 ? cost / bytes : 0;
}

/*
 * The number of windows in which the whole file is read.  Each process has some
 * smaller ones: its first, and those of tasks that are not taken ahead.
 */
static uint64
fc_sample_nwindows(const FcShared *shared, int nprocesses)
{
	uint32		n = shared->source.nchunks;
	FcChunkStart *last = &fc_shared_starts(shared)[n - 1];
	uint64		records = Max(last->before + last->records, 1);
	uint64		window = fc_read_window(fc_shared_read_memory(shared) / 8 * 5,
										shared->source.size / records);

	return (records + window - 1) / window + nprocesses * FC_SAMPLE_EXTRA;
}

/* Free bytes in the tablespace for spill files that has the least */
static uint64
fc_sample_free_space(const SharedFileSet *fileset)
{
	uint64		least = PG_UINT64_MAX;

	for (int i = 0; i < fileset->fs.ntablespaces; i++)
	{
		char		path[MAXPGPATH];
		struct statvfs st;

		TempTablespacePath(path, fileset->fs.tablespaces[i]);
		/* the directory itself is made on demand */
		get_parent_directory(path);
		if (statvfs(path, &st) == 0)
			least = Min(least, (uint64) st.f_bavail * st.f_frsize);
	}
	return least;
}

/* Why so many rows cannot be spilled; NULL if they can */
static const char *
fc_sample_no_room(const FcShared *shared, uint64 records)
{
	uint64		need = shared->source.size + records * (sizeof(FcEntry) + 1);

	if (temp_file_limit >= 0 && need > (uint64) temp_file_limit * 1024)
		return "temp_file_limit is too low for rows";
	/* other sessions, and the load itself, need room as well */
	if (need > fc_sample_free_space(&shared->fileset) / 2)
		return "too little disk space for rows";
	return NULL;
}

/* What has just been unpacked is in the page cache, if there is room for it */
const char *
fc_sample_spill_unseen(const FcShared *shared, bool *rows)
{
	uint64		memory = (uint64) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	const char *reason = NULL;

	*rows = shared->source.size > memory / 2;
	if (*rows)
		reason = fc_sample_no_room(shared, shared->source.size / FC_RECORD_GUESS);
	if (reason == NULL)
		return *rows ? "the data are larger than half of the memory" : "the data are small";
	*rows = false;
	return reason;
}

const char *
fc_sample_spill(FcContext *ctx, int nprocesses, bool *rows)
{
	FcShared   *shared = ctx->shared;
	FcKeySample	sample = {0};
	const FcChunkStart *last;
	const char *reason;
	uint64		nwindows;
	double		times;

	*rows = false;
	Assert(!ctx->in_worker && nprocesses > 0);
	if (shared->source.nchunks == 0 || shared->source.size < FC_SAMPLE_SMALL)
		return "the file is small";
	/* rows in the page cache are copied out of a mapping (sort/fetch_map.c) */
	if (fc_map_worth(shared, ctx->source))
		return "the file is mapped";
	last = &fc_shared_starts(shared)[shared->source.nchunks - 1];
	reason = fc_sample_no_room(shared, last->before + last->records);
	if (reason)
		return reason;
	nwindows = fc_sample_nwindows(shared, nprocesses);
	fc_sample_take(&sample, ctx);
	times = fc_sample_times(&sample, Min(nwindows, FC_SAMPLE_WINDOWS));
	pfree(sample.rows);
	*rows = times > FC_SAMPLE_TIMES;
	return psprintf("offsets read %.1f times the file", times);
}
