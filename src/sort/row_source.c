/*-------------------------------------------------------------------------
 *
 * sort/row_source.c
 *	  The rows of tasks in key order, from cells or from the file.
 *
 *	task ──► its cell, sorted ──► record or row
 *	file ──► long record ─────────────┘
 *
 * The cell has rows and records, spilled or fetched.  Records that are too long
 * for it are read from the file one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sort/row_source.h"

struct FcRowSource
{
	FcContext  *ctx;
	FcSpills   *spills;
	FcCellReader *cells;
	FcReadStats counted;		/* the reads of earlier tasks */
	char	   *large;			/* a record whose bytes the cell lacks */
	Size		large_size;
};

/* Reads a record that is too long for its cell */
static char *
fc_rows_read(FcRowSource *rows, const FcEntry *entry)
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

FcRowSource *
fc_row_source_begin(FcContext *ctx)
{
	FcRowSource *rows = palloc0(sizeof(FcRowSource));
	bool		spilled = ctx->shared->course.spills;

	rows->ctx = ctx;
	rows->spills = fc_spills_open(ctx->shared, ctx->kept);
	rows->cells = fc_cells_begin(rows->spills, spilled ? NULL : ctx->source,
								 fc_shared_read_memory(ctx->shared) / 8 * (spilled ? 6 : 7));
	return rows;
}

void
fc_row_source_enter(FcRowSource *rows, FcTask *task)
{
	if (!rows->ctx->stopped)
		fc_cells_enter(rows->cells, task);
}

void
fc_row_source_leave(FcRowSource *rows, FcTask *task)
{
	const FcReadStats *now = fc_cells_stats(rows->cells);
	FcShared   *shared = rows->ctx->shared;
	uint64		reads = now->reads - rows->counted.reads;

	Assert(now->reads >= rows->counted.reads && now->bytes >= rows->counted.bytes);
	task->reads += reads;
	pg_atomic_fetch_add_u64(&shared->counts.reads, reads);
	pg_atomic_fetch_add_u64(&shared->counts.read_bytes, now->bytes - rows->counted.bytes);
	if (now->refused != 0)
		pg_atomic_write_u32(&shared->io.uring_errno, now->refused);
	rows->counted = *now;
}

bool
fc_row_source_next(FcRowSource *rows, FcEntry *entry, FcRecord *record, FcSpilled **row)
{
	FcSpilled  *spilled = rows->ctx->stopped ? NULL : fc_cells_next(rows->cells, entry);

	record->marks = NULL;
	record->data = NULL;
	*row = NULL;
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
			Assert(fc_spilled_kind(spilled) == FC_SPILLED_PLACE);
			record->data = fc_rows_read(rows, entry);
	}
	record->offset = entry->offset;
	record->length = entry->length;
	Assert((*row != NULL) != (record->data != NULL));
	return true;
}

int
fc_row_source_rows(FcRowSource *rows, FcSpilledRow *next, int most)
{
	Assert(most > 0);
	return rows->ctx->stopped ? 0 : fc_cells_rows(rows->cells, next, most);
}

void
fc_row_source_give_back(FcRowSource *rows, int n)
{
	fc_cells_give_back(rows->cells, n);
}

void
fc_row_source_end(FcRowSource *rows)
{
	fc_cells_end(rows->cells);
	fc_spills_close(rows->spills);
}
