/*-------------------------------------------------------------------------
 *
 * phase/sample.c
 *	  Looks at some keys of the file, to choose what the scan spills, and into
 *	  which cells.
 *
 *	rows		Each byte is written once more and read once more, in sequence
 *				(sort/spill.h), whatever the order of the file.
 *	offsets		The load reads each record from the file again, cell by cell
 *				(sort/fetch.c).
 *
 * 1. The leader reads the first records of some chunks.
 * 2. It cuts their keys into as many cells as the file would have, and adds up
 *    what reading the records would take, cell by cell (fc_sample_times).  If
 *    that is much, or the file stays in the page cache, rows are spilled.
 * 3. It cuts large partitions into cells of about the same size, with the rows
 *    that they have already, if these are to be merged.
 *
 * fast_copy.spill overrules the choice.  Records too long for the memory are
 * always read from the source.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/statvfs.h>

#include "heap/old_rows.h"
#include "phase/phases.h"
#include "row/chunk_reader.h"
#include "row/executor.h"
#include "sort/spill.h"

#define FC_SAMPLE_STRETCHES	256 /* stretches of the file, at most */
#define FC_SAMPLE_LEAST		65536	/* bytes read at each, at least */
#define FC_SAMPLE_RECORD	((size_t) 64 * 1024 * 1024) /* of a record, at
														 * most */
#define FC_SAMPLE_BYTES		(1024 * 1024)	/* in all, if the stretches are
											 * few */
#define FC_SAMPLE_ROWS		131072	/* rows in all, at most */
#define FC_SAMPLE_OLD		65536	/* rows of leaves, at most, beside these */
#define FC_SAMPLE_LEAVES	1024	/* leaves, at most */
#define FC_SAMPLE_VALUE		16	/* bytes of a value, where no file tells */
#define FC_SAMPLE_SMALL		(1024 * 1024)	/* smaller files get no sample */

/*
 * Cells: bytes of one, with its sort, and of one whose records are read from
 * all over the file; rows that are worth another cell; cells for each worker;
 * bounds in all, at most; memory that a process must have for each cell, to
 * write blocks of many rows
 */
#define FC_SAMPLE_CELL		((Size) 8 * 1024 * 1024)
#define FC_SAMPLE_WIDE_CELL	((Size) 256 * 1024 * 1024)
#define FC_SAMPLE_CELL_ROWS	16384
#define FC_SAMPLE_SHARE		4
#define FC_SAMPLE_BOUNDS	4096
#define FC_SAMPLE_BLOCK		4096

/*
 * Times the file's bytes that reading by offsets may cost, at most: writing
 * and reading the rows costs as much.
 */
#define FC_SAMPLE_TIMES		3

/* With fewer times the file is in order: larger cells would gain nothing */
#define FC_SAMPLE_ORDERED	1.5

/* A row of the sample */
typedef struct FcSampleRow
{
	int64		key;
	uint64		offset;
	uint32		length;
	uint32		nth;			/* in the order of the file */
	double		weight;			/* rows that it stands for */
} FcSampleRow;

typedef struct FcKeySample
{
	FcChunkReader reader;
	FcParser   *parser;
	const FcRoute *route;		/* or NULL: the keys are one range */
	FcSampleRow *rows;			/* in key order, once all are there */
	FcSampleRow *file;			/* ... in the order of the file */
	uint32		nrows;
	uint64		bytes;			/* of all their records, with line ends */
	uint32		max;			/* most rows after the current stretch */
	uint64		embedded;		/* line ends in quotes, of these records */
	uint64		spilled;		/* bytes of a row in temporary files */
	uint64		fetched;		/* bytes in a cell, if its place is spilled */
	bool		wide;			/* cells are read from all over the file */
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
		row->nth = sample->nrows;
		sample->bytes += record->length + 1;
		sample->nrows++;
	}
}

static int
fc_sample_row_cmp(const void *a, const void *b)
{
	const FcSampleRow *ra = a;
	const FcSampleRow *rb = b;

	if (ra->key != rb->key)
		return ra->key < rb->key ? -1 : 1;
	return ra->offset < rb->offset ? -1 : ra->offset > rb->offset;
}

/* Takes rows from stretches that are spread evenly over the file */
static void
fc_sample_take(FcKeySample *sample, FcContext *ctx)
{
	FcChunkReader *reader = &sample->reader;
	uint32		nchunks = ctx->shared->source.nchunks;
	uint32		n = Min(nchunks, FC_SAMPLE_STRETCHES);
	ErrorData  *edata = NULL;
	EState	   *estate = fc_executor_begin(ctx);

	sample->rows = palloc(sizeof(FcSampleRow) * (FC_SAMPLE_ROWS + FC_SAMPLE_OLD));
	fc_chunk_reader_begin(reader, ctx, FC_SAMPLE_LEAST);
	reader->looks = true;
	fc_stream_limit(reader->stream, FC_SAMPLE_RECORD);
	sample->parser = fc_parse_begin(ctx, estate, true);
	/* an error, which the scan will meet again, ends the sample */
	for (uint32 i = 0; i < n && edata == NULL; i++)
	{
		uint32		chunk = (uint64) nchunks * i / n;

		sample->max = FC_SAMPLE_ROWS / n * (i + 1);
		if (!fc_chunk_reader_enter(reader, chunk))
			continue;
		reader->end = fc_shared_starts(ctx->shared)[chunk].first + Max(FC_SAMPLE_BYTES / n, FC_SAMPLE_LEAST);
		edata = fc_error_catch(ctx, fc_sample_read, sample);
		sample->embedded += reader->pass.embedded;
	}
	fc_parse_end(sample->parser);
	Assert(sample->nrows <= FC_SAMPLE_ROWS);
	sample->file = memcpy(palloc(sizeof(FcSampleRow) * (sample->nrows + 1)), sample->rows, sizeof(FcSampleRow) * sample->nrows);
	qsort(sample->rows, sample->nrows, sizeof(FcSampleRow), fc_sample_row_cmp);
	fc_chunk_reader_end(reader);
	fc_executor_end(estate);
}

/*
 * Returns the first row of the sample, which is sorted, that is of another
 * partition than row "from"; sets *range to that one's, which may be missing
 */
static uint32
fc_sample_range(const FcKeySample *sample, uint32 from, FcRange *range)
{
	uint32		end = from;

	*range = FC_RANGE_ALL;
	if (sample->route)
		*range = fc_route_find(sample->route, sample->rows[from].key);
	fc_search(uint32, end, sample->nrows, mid,
			  range->hi_max || sample->rows[mid].key < range->hi);
	Assert(end > from);
	return end;
}

static double
fc_sample_weight(const FcKeySample *sample, uint32 from, uint32 end)
{
	double		weight = 0;

	for (uint32 i = from; i < end; i++)
		weight += sample->rows[i].weight;
	return weight;
}

/*
 * Cuts the rows from "from" to before "end" into pieces that stand for about
 * equally many rows; adds the bounds between them.  "whole_keys": rows of one
 * key stay together, to be sorted or compared.
 */
static int
fc_sample_cut(const FcKeySample *sample, uint32 from, uint32 end, double most, bool whole_keys,
			  FcBound *bounds, int nbounds)
{
	const FcSampleRow *before = &sample->rows[from];
	double		all = fc_sample_weight(sample, from, end);
	double		n = floor(all / most + 0.5);
	double		piece = all / Max(n, 1);
	double		weight = before->weight;

	Assert(from < end && end <= sample->nrows && most > 0);
	for (uint32 i = from + 1; i < end && nbounds < FC_SAMPLE_BOUNDS; i++)
	{
		const FcSampleRow *row = &sample->rows[i];

		if (weight + row->weight / 2 >= piece && (!whole_keys || row->key != before->key))
		{
			bounds[nbounds].key = row->key;
			bounds[nbounds++].offset = whole_keys ? FC_OFFSET_LEAST : row->offset;
			before = row;
			weight -= piece;
		}
		weight += row->weight;
	}
	return nbounds;
}

static void
fc_sample_add_leaf(FcKeySample *sample, const FcContext *ctx, Oid leaf, uint32 most)
{
	const FcPlanKey *key = &ctx->shared->plan.key;
	const char *name = NameStr(TupleDescAttr(RelationGetDescr(ctx->target), key->attnum - 1)->attname);
	Relation	rel = try_table_open(leaf, AccessShareLock);
	int64	   *keys = palloc(sizeof(int64) * most);
	double		rows;
	uint32		n = rel ? fc_old_rows_keys(rel, get_attnum(leaf, name), key->type, keys, most, &rows) : 0;

	for (uint32 i = 0; i < n; i++)
		sample->rows[sample->nrows++] = (FcSampleRow)
	{
		.key = keys[i],.offset = FC_OFFSET_LEAST,.weight = rows / n
	};
	Assert(sample->nrows <= FC_SAMPLE_ROWS + FC_SAMPLE_OLD);
	pfree(keys);
	if (rel)
		table_close(rel, AccessShareLock);
}

/* Returns leaves whose rows are moved */
static List *
fc_sample_moved(const FcContext *ctx)
{
	const FcPlan *plan = &ctx->shared->plan;
	const FcRoute *all = fc_route_build(ctx->target);
	List	   *leaves = OidIsValid(all->default_oid) ? list_make1_oid(all->default_oid) : NIL;

	for (int i = 0; i < all->nranges && list_length(leaves) < FC_SAMPLE_LEAVES; i++)
		if (plan->move >= FC_MOVE_DROP && fc_range_within(&all->ranges[i], &plan->bounds))
			leaves = lappend_oid(leaves, all->ranges[i].partition);
	return leaves;
}

/*
 * Adds old rows of the partitions that rows of the sample go to, or whose rows
 * are moved
 */
static void
fc_sample_add_existing(FcKeySample *sample, const FcContext *ctx)
{
	List	   *leaves = fc_plan_moves(&ctx->shared->plan) ? fc_sample_moved(ctx) : NIL;

	for (uint32 i = 0, end; i < sample->nrows; i = end)
	{
		FcRange		range;

		end = fc_sample_range(sample, i, &range);
		if (sample->route == NULL)
			range.partition = RelationGetRelid(ctx->target);
		if (OidIsValid(range.partition) && list_length(leaves) < FC_SAMPLE_LEAVES)
			leaves = lappend_oid(leaves, range.partition);
	}
	foreach_oid(leaf, leaves)
	{
		CHECK_FOR_INTERRUPTS();
		fc_sample_add_leaf(sample, ctx, leaf, FC_SAMPLE_OLD / list_length(leaves));
	}
	qsort(sample->rows, sample->nrows, sizeof(FcSampleRow), fc_sample_row_cmp);
}

/*
 * Estimates the bytes of a spilled row: those of its record, or of its tuple
 * if that may be longer
 */
static uint64
fc_sample_spilled(const FcContext *ctx, uint64 records)
{
	TupleDesc	desc = RelationGetDescr(ctx->target);
	uint64		length = ctx->shared->source.data_size / records;
	uint64		tuple = SizeofHeapTupleHeader + MAXIMUM_ALIGNOF;
	uint64		most = fc_spill_row_most(length);

	for (int i = 0; i < desc->natts; i++)
		tuple += Max(TupleDescAttr(desc, i)->attlen, 0);
	/* there is no file to go by */
	if (fc_plan_moves(&ctx->shared->plan))
		return tuple + desc->natts * FC_SAMPLE_VALUE;
	return Max(Min(tuple, most), length + FC_SPILL_NUMBERED);
}

/*
 * The rows that a cell should have: as many as the processor's cache and the
 * memory take, to be sorted; if it is wide, as many as the memory takes: the
 * more rows there are to choose from, the cheaper are the reads.  Fewer, if
 * workers would have nothing to do.
 *
 * Of each cell each process has a block in memory, and a list of all others'
 * blocks, so that only so many are taken.  One that is too large for the memory
 * is cut when it is read.
 */
static uint64
fc_sample_cell_rows(const FcKeySample *sample, const FcShared *shared, uint64 records,
					int nworkers, bool rows)
{
	uint64		each = 2 * sizeof(FcItem) + (rows ? sample->spilled : sample->fetched);
	Size		memory = fc_shared_read_memory(shared) / 8;
	uint64		most = (!rows && sample->wide ? Min(FC_SAMPLE_WIDE_CELL, memory * 4) :
						Min(FC_SAMPLE_CELL, memory)) / each;
	Size		known = fc_spills_size(Max(nworkers, 1));
	uint64		cells = Min(FC_SAMPLE_BOUNDS / 2, Min(shared->memory / FC_SAMPLE_BLOCK, shared->memory / 8 / known));

	if (nworkers > 1)
		most = Min(most, records / (FC_SAMPLE_SHARE * nworkers));
	/* half of the memory: no cell gets exactly the size that was planned */
	most = Max(most, Min(FC_SAMPLE_CELL_ROWS, memory * 4 / each));
	most = Max(most, records / Max(cells, 1));
	/* a row may be larger than all that */
	return Max(most, 1);
}

/*
 * Returns the cost of reading the sample cell by cell, as a multiple of its
 * bytes.
 *
 * Each row costs its bytes and the gap after the row before it in its cell.
 * The reader reads over gaps up to FC_FETCH_GAP; a wider one takes another
 * request, which costs as much (about 0.7 us, thirty times as much as copying
 * a row).
 */
static double
fc_sample_times(const FcKeySample *sample, const FcShared *shared, uint64 records, int nworkers)
{
	uint64		rows = fc_sample_cell_rows(sample, shared, records, nworkers, false);
	uint32		most = Min(Max((double) rows * sample->nrows / records, 1), FC_SAMPLE_ROWS);
	/* of each row, in the order of the file; and where its last row ends */
	uint32	   *cells = palloc(sizeof(uint32) * (sample->nrows + 1));
	uint64	   *ends = palloc0(sizeof(uint64) * (sample->nrows + 1));
	double		cost = 0;

	for (uint32 from = 0, end; from < sample->nrows; from = end)
	{
		FcRange		range;

		end = fc_sample_range(sample, from, &range);
		end = Min(end, from + most);
		for (uint32 i = from; i < end; i++)
			cells[sample->rows[i].nth] = from;
	}
	for (uint32 i = 0; i < sample->nrows; i++)
	{
		const FcSampleRow *row = &sample->file[i];
		uint64	   *end = &ends[cells[i]];

		cost += Min(row->offset - *end, FC_FETCH_GAP) + row->length;
		*end = row->offset + row->length;
	}
	pfree(cells);
	pfree(ends);
	return sample->nrows > 0 ? cost / sample->bytes : 0;
}

/*
 * Sets the bounds of cells.  Cuts partitions that get more rows than a cell
 * should have, at keys of the sample.
 */
static void
fc_sample_set_bounds(FcKeySample *sample, FcContext *ctx, uint64 records, int nworkers, bool rows)
{
	const FcPlan *plan = &ctx->shared->plan;
	FcBound    *bounds;
	int			nbounds = 0;
	uint64		most;

	for (uint32 i = 0; i < sample->nrows; i++)
		sample->rows[i].weight = (double) records / sample->nrows;
	if (fc_plan_merges(plan))
		fc_sample_add_existing(sample, ctx);
	records = fc_sample_weight(sample, 0, sample->nrows);
	most = fc_sample_cell_rows(sample, ctx->shared, records, nworkers, rows);
	if (records <= most)
		return;
	bounds = palloc(sizeof(FcBound) * FC_SAMPLE_BOUNDS);
	for (uint32 i = 0, end; i < sample->nrows; i = end)
	{
		FcRange		range;

		CHECK_FOR_INTERRUPTS();
		end = fc_sample_range(sample, i, &range);
		nbounds = fc_sample_cut(sample, i, end, most, fc_plan_keeps_keys_whole(plan), bounds, nbounds);
	}
	fc_spill_publish_bounds(ctx, bounds, nbounds);
}

/* Counts the partitions to be made for rows of the sample, which are sorted */
static int
fc_sample_missing(const FcKeySample *sample)
{
	int			missing = 0;

	if (sample->route == NULL || !sample->route->create)
		return 0;
	for (uint32 i = 0, end; i < sample->nrows; i = end)
	{
		FcRange		range;

		end = fc_sample_range(sample, i, &range);
		missing += !OidIsValid(range.partition) && !fc_key_is_infinite(sample->route->type, range.lo);
	}
	return missing;
}

/* Why this number of bytes cannot be spilled; NULL: it can */
static const char *
fc_sample_no_room(const FcShared *shared, uint64 bytes)
{
	uint64		least = PG_UINT64_MAX;	/* free bytes of a tablespace */

	if (temp_file_limit >= 0 && bytes > (uint64) temp_file_limit * 1024)
		return "temp_file_limit is too low for rows";
	for (int i = 0; i < shared->fileset.fs.ntablespaces; i++)
	{
		char		path[MAXPGPATH];
		struct statvfs st;

		TempTablespacePath(path, shared->fileset.fs.tablespaces[i]);
		/* the directory itself is made on demand */
		get_parent_directory(path);
		if (statvfs(path, &st) == 0)
			least = Min(least, (uint64) st.f_bavail * st.f_frsize);
	}
	/* other sessions, and the load itself, need room, too */
	if (bytes > least / 2)
		return "too little disk space for rows";
	return NULL;
}

const char *
fc_sample_spill_unseen(const FcShared *shared, bool *rows)
{
	uint64		records = shared->source.size / FC_RECORD_GUESS;
	const char *reason = fc_sample_no_room(shared, shared->source.size + records * FC_SPILL_NUMBERED);

	*rows = reason == NULL;
	return reason ? reason : "the data are not all there yet";
}

/*
 * Chooses what to spill by a sample of the file; the reason says what reading
 * by offsets costs: "times", if cells are not wide
 */
static const char *
fc_sample_choose(FcKeySample *sample, const FcShared *shared, uint64 records, int nworkers,
				 double times, bool *rows)
{
	uint64		memory = (uint64) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	uint64		cache = (uint64) effective_cache_size * BLCKSZ;
	bool		cached = shared->source.size <= Min(memory / 2, cache);
	const char *reason = fc_sample_no_room(shared, records * sample->spilled);

	if (sample->wide)
		times = fc_sample_times(sample, shared, records, nworkers);
	*rows = reason == NULL && (cached || times > FC_SAMPLE_TIMES);
	if (reason)
		return reason;
	return psprintf("offsets read %.1f times the file%s", times,
					cached ? ", which stays in the page cache" : "");
}

const char *
fc_sample_spill(FcContext *ctx, const FcRoute *route, int nworkers, FcSampled *sampled)
{
	FcShared   *shared = ctx->shared;
	FcKeySample sample = {.route = route};
	uint64		records;
	const char *reason = "as fast_copy.spill says";

	Assert(!ctx->in_worker);
	if (fc_plan_moves(&shared->plan))
	{
		sampled->rows = true;
		sample.rows = palloc(sizeof(FcSampleRow) * FC_SAMPLE_OLD);
		sample.spilled = fc_sample_spilled(ctx, 1);
		fc_sample_set_bounds(&sample, ctx, 0, nworkers, true);
		sampled->missing = fc_sample_missing(&sample);
		pfree(sample.rows);
		return "rows are moved";
	}
	if (shared->source.nchunks == 0 ||
		(shared->source.size < FC_SAMPLE_SMALL && !fc_plan_merges(&shared->plan)))
		return fc_spill_kind == FC_SPILL_AUTO ? "the file is small" : reason;
	fc_sample_take(&sample, ctx);
	records = sample.nrows == 0 ? 1 : (double) shared->source.data_size * sample.nrows / sample.bytes + 1;
	sample.spilled = fc_sample_spilled(ctx, records);
	sample.fetched = 2 * FC_SPILL_NUMBERED + shared->source.data_size / records + MAXIMUM_ALIGNOF;
	if (fc_spill_kind != FC_SPILL_ROWS)
	{
		double		times = fc_sample_times(&sample, shared, records, nworkers);

		sample.wide = times > FC_SAMPLE_ORDERED;
		if (fc_spill_kind == FC_SPILL_AUTO)
			reason = fc_sample_choose(&sample, shared, records, nworkers, times, &sampled->rows);
	}
	fc_sample_set_bounds(&sample, ctx, records, nworkers, sampled->rows);
	sampled->embedded = sample.embedded > 0;
	sampled->missing = fc_sample_missing(&sample);
	pfree(sample.rows);
	return reason;
}
