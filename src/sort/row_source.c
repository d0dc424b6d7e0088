/*-------------------------------------------------------------------------
 *
 * sort/row_source.c
 *	  The rows of tasks in key order, wherever they are brought from.
 *
 *	task ──► merge of runs ──┬─► windows of reads ──┐
 *							 ├─► mapping ───────────┼─► row
 *							 └─► spilled rows ──────┘
 *
 * The merge itself has spilled rows.  For others it has only the entries:
 * their bytes are copied from a mapping of the file if the page cache has it,
 * and read otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sort/fetch_map.h"
#include "sort/row_source.h"
#include "sort/run_merge.h"

/* Where a task's rows come from */
typedef struct FcRowMethod
{
	/*
	 * Prepares for the task taken last; rows->stats counts its reads from now
	 * on
	 */
	void		(*begin) (FcRowSource *rows);
	/* See fc_row_source_next */
	bool		(*next) (FcRowSource *rows, FcEntry *entry, FcRecord *record);
} FcRowMethod;

/* Bytes that are copied from a mapping before the page cache is asked again */
#define FC_ROWS_TRUST	((uint64) 1024 * 1024)

struct FcRowSource
{
	const FcRowMethod *method;	/* of the task in hand */
	FcContext  *ctx;
	FcRuns	   *runs;
	FcTakeTask	take;
	void	   *arg;

	/* tasks taken, and those of their rows that the merge has given */
	FcTask	  **tasks;
	uint64	   *given;
	int			ntasks;
	int			current;		/* the one in hand; -1: none */
	uint64		done;			/* its rows handed out */
	const FcReadStats *stats;	/* of the method: what was read so far */
	FcReadStats counted;		/* the part of it that belongs to earlier
								 * tasks */

	FcMerge    *merge;			/* of the task taken last; or NULL */
	FcMap	   *map;			/* of the source; NULL until a task needs it */
	uint64		trusted;		/* bytes up to which it is used unasked */
	FcReader   *reader;			/* of the windows; or NULL */
	bool		pending;		/* entry and data are the next row, which the
								 * reader has given already */
	FcEntry		entry;
	char	   *data;
};

static Size
fc_rows_memory(const FcRowSource *rows)
{
	return fc_shared_read_memory(rows->ctx->shared);
}

/* Takes another task; false if there is none */
static bool
fc_rows_take(FcRowSource *rows, bool ahead)
{
	FcTask	   *task = rows->take(rows->arg, ahead);

	if (task == NULL)
		return false;
	Assert(rows->ntasks < rows->ctx->shared->ntasks);
	rows->given[rows->ntasks] = 0;
	rows->tasks[rows->ntasks++] = task;
	return true;
}

static void
fc_rows_begin_merge(FcRowSource *rows, Size memory)
{
	rows->merge = fc_merge_begin(rows->runs, rows->tasks[rows->ntasks - 1], memory);
}

/* Rows that were spilled with their entries */

static void
fc_spilled_begin(FcRowSource *rows)
{
	fc_rows_begin_merge(rows, fc_rows_memory(rows) / 4 * 3);
	rows->stats = fc_merge_stats(rows->merge);
}

static bool
fc_spilled_next(FcRowSource *rows, FcEntry *entry, FcRecord *record)
{
	return !rows->ctx->stopped &&
		fc_merge_row(rows->merge, rows->ctx->source, entry, &record->data);
}

static const FcRowMethod fc_rows_spilled = {fc_spilled_begin, fc_spilled_next};

/* A mapping of the file, which serves all tasks */

static void
fc_mapped_begin(FcRowSource *rows)
{
	fc_rows_begin_merge(rows, fc_rows_memory(rows) / 2);
	fc_map_entries(rows->map, fc_merge_next, rows->merge);
	rows->stats = fc_map_stats(rows->map);
	rows->counted = *rows->stats;
}

static bool
fc_mapped_next(FcRowSource *rows, FcEntry *entry, FcRecord *record)
{
	return !rows->ctx->stopped && fc_map_next(rows->map, entry, record);
}

static const FcRowMethod fc_rows_mapped = {fc_mapped_begin, fc_mapped_next};

/*
 * Windows of reads, which look ahead beyond a task: the more rows there are to
 * choose from, the cheaper are the reads.  Spilled and mapped rows come for
 * one task at a time.
 */

/*
 * The entries of the tasks taken, one task after the other.  The counts of
 * those given for each tell where in the stream of rows a task ends.
 */
static bool
fc_window_entries(void *arg, FcEntry *entry)
{
	FcRowSource *rows = arg;

	while (!rows->ctx->stopped)
	{
		if (rows->merge && fc_merge_next(rows->merge, entry))
		{
			rows->given[rows->ntasks - 1]++;
			return true;
		}
		if (rows->merge)
		{
			fc_merge_end(rows->merge);
			rows->merge = NULL;
			if (!fc_rows_take(rows, true))
				return false;
		}
		fc_rows_begin_merge(rows, fc_rows_memory(rows) / 8);
	}
	return false;
}

static void
fc_window_begin(FcRowSource *rows)
{
	FcShared   *shared = rows->ctx->shared;

	rows->reader = fc_read_begin(rows->ctx->source,
								 shared->io.uring ? &fc_io_uring : &fc_io_sync,
								 shared->plan.io_depth, fc_rows_memory(rows) / 8 * 5,
								 fc_window_entries, rows);
	rows->stats = fc_read_stats(rows->reader);
}

static bool
fc_window_next(FcRowSource *rows, FcEntry *entry, FcRecord *record)
{
	/*
	 * All known rows of the task were handed out.  If it was taken last, the
	 * reader gives its next row, or the first one of a task that it takes
	 * meanwhile.
	 */
	if (rows->done == rows->given[rows->current] && !rows->pending &&
		rows->current == rows->ntasks - 1)
		rows->pending = fc_read_next(rows->reader, &rows->entry, &rows->data);
	if (rows->done == rows->given[rows->current])
		return false;
	rows->done++;
	if (!rows->pending)
		return fc_read_next(rows->reader, entry, &record->data);
	rows->pending = false;
	*entry = rows->entry;
	record->data = rows->data;
	return true;
}

static const FcRowMethod fc_rows_window = {fc_window_begin, fc_window_next};

/*
 * The method for the task that was taken; the windows take all tasks that are
 * left
 */
static const FcRowMethod *
fc_rows_choose(FcRowSource *rows)
{
	FcContext  *ctx = rows->ctx;
	uint64		mapped = rows->map ? fc_map_stats(rows->map)->bytes : 0;

	if (ctx->shared->way == FC_WAY_ROWS)
		return &fc_rows_spilled;
	/* the page cache is asked again now and then: a file may leave it */
	if (rows->map == NULL || mapped >= rows->trusted)
	{
		rows->trusted = mapped + FC_ROWS_TRUST;
		if (!fc_map_worth(ctx->shared, ctx->source))
			return &fc_rows_window;
	}
	if (rows->map == NULL)
		rows->map = fc_map_begin(ctx->source, &ctx->dialect,
								 fc_rows_memory(rows) / 8);
	return rows->map ? &fc_rows_mapped : &fc_rows_window;
}

/* Adds what was read for the task in hand to it and to all counters */
static void
fc_rows_count(FcRowSource *rows)
{
	const FcReadStats *now = rows->stats;
	FcShared   *shared = rows->ctx->shared;
	uint64		reads = now->reads - rows->counted.reads;

	rows->tasks[rows->current]->reads += reads;
	pg_atomic_fetch_add_u64(&shared->counts.reads, reads);
	pg_atomic_fetch_add_u64(&shared->counts.read_bytes, now->bytes - rows->counted.bytes);
	pg_atomic_fetch_add_u64(&shared->counts.mapped_bytes, now->mapped - rows->counted.mapped);
	if (now->refused != 0)
		pg_atomic_write_u32(&shared->io.uring_errno, now->refused);
	rows->counted = *now;
}

/*
 * Forgets the tasks taken, all of which are done.  A process that was stopped
 * still has a merge.
 */
static void
fc_rows_forget_tasks(FcRowSource *rows)
{
	/* first the merge, which windows have in the reader's memory */
	if (rows->merge)
		fc_merge_end(rows->merge);
	if (rows->reader)
		fc_read_end(rows->reader);
	rows->merge = NULL;
	rows->reader = NULL;
	rows->ntasks = 0;
	rows->current = -1;
	memset(&rows->counted, 0, sizeof(FcReadStats));
}

FcRowSource *
fc_row_source_begin(FcContext *ctx, FcTakeTask take, void *arg)
{
	FcRowSource *rows = palloc0(sizeof(FcRowSource));
	uint32		ntasks = Max(ctx->shared->ntasks, 1);

	rows->ctx = ctx;
	rows->runs = fc_runs_open(ctx->shared, ctx->kept);
	rows->take = take;
	rows->arg = arg;
	rows->tasks = palloc(sizeof(FcTask *) * ntasks);
	rows->given = palloc(sizeof(uint64) * ntasks);
	rows->current = -1;
	return rows;
}

FcTask *
fc_row_source_task(FcRowSource *rows)
{
	if (rows->current >= 0)
		fc_rows_count(rows);
	if (rows->current == rows->ntasks - 1)
	{
		fc_rows_forget_tasks(rows);
		if (!fc_rows_take(rows, false))
			return NULL;
		rows->method = fc_rows_choose(rows);
		rows->method->begin(rows);
	}
	Assert(rows->current + 1 < rows->ntasks);
	rows->done = 0;
	return rows->tasks[++rows->current];
}

bool
fc_row_source_next(FcRowSource *rows, FcEntry *entry, FcRecord *record)
{
	record->marks = NULL;
	if (!rows->method->next(rows, entry, record))
		return false;
	record->offset = entry->offset;
	record->length = entry->length;
	return true;
}

void
fc_row_source_end(FcRowSource *rows)
{
	if (rows->map)
		fc_map_end(rows->map);
	fc_runs_close(rows->runs);
}
