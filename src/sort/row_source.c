/*-------------------------------------------------------------------------
 *
 * sort/row_source.c
 *	  The rows of tasks in key order, wherever they are brought from.
 *
 *	task ──► its cell, sorted ──┬─► windows of reads ──┬─► record or row
 *								└─► what was spilled ──┘
 *
 * The cell itself has rows, or records, that were spilled.  Where only their
 * places were, all are read from the file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sort/row_source.h"

struct FcRowSource
{
	bool		spilled;		/* with the keys; else rows are read by
								 * windows */
	FcContext  *ctx;
	FcSpills   *spills;
	FcCellReader *cells;
	FcTakeTask	take;
	void	   *arg;

	/* tasks taken, and those of their rows that the cells have given */
	FcTask	  **tasks;
	uint64	   *given;
	int			ntasks;
	int			current;		/* the one in hand; -1: none */
	uint64		done;			/* its rows handed out */
	const FcReadStats *stats;	/* what was read so far, of the cells or of
								 * the windows */
	FcReadStats counted;		/* the part of it that belongs to earlier
								 * tasks */

	bool		entered;		/* the cell of the task taken last may have
								 * rows that were not given */
	char	   *large;			/* a record whose bytes were not spilled */
	Size		large_size;
	FcReader   *reader;			/* of the windows; or NULL */
	bool		pending;		/* entry and data are the next row, which the
								 * reader has given already */
	FcEntry		entry;
	char	   *data;
};

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
fc_rows_enter(FcRowSource *rows)
{
	Assert(rows->ntasks > 0 && rows->current < rows->ntasks);
	fc_cells_enter(rows->cells, rows->tasks[rows->ntasks - 1]);
	rows->entered = true;
}

/* Reads a record that was too long to be spilled */
static char *
fc_spilled_read(FcRowSource *rows, const FcEntry *entry)
{
	Size		size = (Size) entry->length + 1;

	if (size > rows->large_size)
	{
		if (rows->large)
			pfree(rows->large);
		rows->large = NULL;
		rows->large = MemoryContextAllocHuge(rows->ctx->mcxt, size);
		rows->large_size = size;
	}
	fc_source_read(rows->ctx->source, entry->offset, rows->large, entry->length);
	fc_cells_stats(rows->cells)->reads++;
	fc_cells_stats(rows->cells)->bytes += entry->length;
	return rows->large;
}

static bool
fc_spilled_next(FcRowSource *rows, FcEntry *entry, FcRecord *record, FcSpilled **row)
{
	FcSpilled  *spilled = rows->ctx->stopped ? NULL : fc_cells_next(rows->cells, entry);

	if (spilled == NULL)
		return false;
	switch (fc_spilled_kind(spilled))
	{
		case FC_SPILLED_TUPLE:
		case FC_SPILLED_BARE:
			*row = spilled;
			break;
		case FC_SPILLED_RECORD:
			record->data = (char *) spilled + fc_spill_head(rows->ctx->shared);
			break;
		default:
			record->data = fc_spilled_read(rows, entry);
		Assert(fc_spilled_kind(spilled) == FC_SPILLED_PLACE);
	}
	return true;
}

/*
 * Windows of reads, which look ahead beyond a task: the more rows there are to
 * choose from, the cheaper are the reads.  What was spilled comes for one task
 * at a time.
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
		if (rows->entered && fc_cells_next(rows->cells, entry))
		{
			rows->given[rows->ntasks - 1]++;
			return true;
		}
		if (rows->entered)
		{
			rows->entered = false;
			if (!fc_rows_take(rows, true))
				return false;
		}
		fc_rows_enter(rows);
	}
	return false;
}

/* Prepares for the task taken last; rows->stats counts its reads from now on */
static void
fc_rows_begin(FcRowSource *rows)
{
	FcShared   *shared = rows->ctx->shared;

	if (rows->spilled)
	{
		rows->stats = fc_cells_stats(rows->cells);
		rows->counted = *rows->stats;
		if (!rows->ctx->stopped)
			fc_rows_enter(rows);
		return;
	}
	rows->reader = fc_read_begin(rows->ctx->source,
								 shared->io.uring ? &fc_io_uring : &fc_io_sync,
								 shared->plan.io_depth, fc_shared_read_memory(rows->ctx->shared) / 8 * 5,
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

/* Adds what was read for the task in hand to it and to all counters */
static void
fc_rows_count(FcRowSource *rows)
{
	const FcReadStats *now = rows->stats;
	FcShared   *shared = rows->ctx->shared;
	uint64		reads = now->reads - rows->counted.reads;

	Assert(now->reads >= rows->counted.reads && now->bytes >= rows->counted.bytes);
	Assert(rows->current >= 0 && rows->current < rows->ntasks);
	rows->tasks[rows->current]->reads += reads;
	pg_atomic_fetch_add_u64(&shared->counts.reads, reads);
	pg_atomic_fetch_add_u64(&shared->counts.read_bytes, now->bytes - rows->counted.bytes);
	if (now->refused != 0)
		pg_atomic_write_u32(&shared->io.uring_errno, now->refused);
	rows->counted = *now;
}

/* Forgets the tasks taken, all of which are done */
static void
fc_rows_forget_tasks(FcRowSource *rows)
{
	if (rows->reader)
		fc_read_end(rows->reader);
	rows->reader = NULL;
	rows->entered = false;
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
	rows->spilled = ctx->shared->course.spills;
	rows->spills = fc_spills_open(ctx->shared, ctx->kept);
	/* windows take most of the memory for themselves */
	rows->cells = fc_cells_begin(rows->spills, fc_shared_read_memory(rows->ctx->shared) / 8 * (rows->spilled ? 6 : 2));
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
		fc_rows_begin(rows);
	}
	Assert(rows->current + 1 < rows->ntasks);
	rows->done = 0;
	return rows->tasks[++rows->current];
}

bool
fc_row_source_next(FcRowSource *rows, FcEntry *entry, FcRecord *record, FcSpilled **row)
{
	record->marks = NULL;
	record->data = NULL;
	*row = NULL;
	if (rows->spilled ? !fc_spilled_next(rows, entry, record, row) : !fc_window_next(rows, entry, record))
		return false;
	record->offset = entry->offset;
	record->length = entry->length;
	Assert((*row != NULL) != (record->data != NULL));
	return true;
}

int
fc_row_source_rows(FcRowSource *rows, FcSpilledRow *next, int most)
{
	if (!rows->spilled || rows->ctx->stopped)
		return 0;
	Assert(most > 0 && rows->current >= 0);
	return fc_cells_rows(rows->cells, next, most);
}

void
fc_row_source_end(FcRowSource *rows)
{
	fc_cells_end(rows->cells);
	fc_spills_close(rows->spills);
}
