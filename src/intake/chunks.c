/*-------------------------------------------------------------------------
 *
 * intake/chunks.c
 *	  The chunks of the files: how they are found, and who takes which.
 *
 *	 file that is there ──► split, by all processes ──► resolved, by the leader
 *	 data that come ──► intake/finder.c ──► published ──► taken meanwhile
 *
 * The chunks are in shared memory, and all else is in the phase's memory
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "heap/writer.h"
#include "intake/chunks.h"

/* The file that the chunk is of; sets its number in that */
static FcInflow *
fc_chunks_of(FcShared *shared, uint32 chunk, uint32 *number)
{
	uint32		each = shared->source.places ? PG_UINT32_MAX : shared->source.room;

	*number = chunk % each;
	Assert(each > 0 && chunk / each < shared->source.nfiles);
	return &fc_shared_inflow(shared)[chunk / each];
}

/* May a chunk that is not published yet still come? */
static bool
fc_chunks_comes(FcShared *shared, FcInflow *inflow, uint32 number)
{
	return pg_atomic_read_u32(&inflow->published) <= number &&
		pg_atomic_read_u32(&inflow->whole) == 0 &&
		pg_atomic_read_u32(&shared->inflow_failed) == 0;
}

/*
 * Waits for the chunk to be published; false if the file has fewer chunks.  A
 * leader that loads alone receives it itself.  Any other process first ends its
 * deferred slices: other processes may wait for their turns, and the leader,
 * which receives, for those processes.
 */
static bool
fc_chunks_wait(FcContext *ctx, uint32 chunk)
{
	FcShared   *shared = ctx->shared;
	uint32		number;
	FcInflow   *inflow = fc_chunks_of(shared, chunk, &number);
	bool		there;

	while (ctx->lead && fc_chunks_comes(shared, inflow, number))
		(void) fc_context_lead(ctx);
	if (fc_chunks_comes(shared, inflow, number))
		fc_turn_finish(ctx);
	ConditionVariablePrepareToSleep(&shared->inflow_cv);
	while (fc_chunks_comes(shared, inflow, number))
		if (ctx->hand == NULL || !fc_hand_step(ctx->hand))
			ConditionVariableSleep(&shared->inflow_cv, fc_wait_event(FC_WAIT_INFLOW));
	ConditionVariableCancelSleep();
	pg_read_barrier();
	there = pg_atomic_read_u32(&inflow->published) > number;
	pg_read_barrier();
	return there;
}

/*
 * Unpacks until the next chunk is there, and only then takes it.  Had the
 * process taken it before, others might wait for the chunk's turn while this
 * one unpacks.  It ends its deferred slices first, for the same reason.
 */
static void
fc_chunks_help(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	uint32		next;
	uint32		number;
	FcInflow   *inflow;

	do
	{
		next = pg_atomic_read_u32(&shared->next);
		if (next >= shared->source.nchunks)
			return;
		inflow = fc_chunks_of(shared, next, &number);
		if (!fc_chunks_comes(shared, inflow, number))
			return;
		fc_turn_finish(ctx);
	} while (fc_hand_step(ctx->hand));
}

bool
fc_chunks_take(FcContext *ctx, uint32 *chunk)
{
	FcShared   *shared = ctx->shared;
	uint32		n = shared->source.places ? PG_UINT32_MAX : shared->source.nchunks;

	if (ctx->hand)
		fc_chunks_help(ctx);
	while (pg_atomic_read_u32(&shared->inflow_failed) == 0 &&
		   fc_context_take(ctx, n, chunk))
	{
		if (shared->source.room == 0 || fc_chunks_wait(ctx, *chunk))
			return true;
		if (shared->source.nfiles == 1)
			break;
	}
	return false;
}

/*
 * One process walks over a binary file from its first chunk to its last,
 * because only the bytes before a tuple tell where it begins.  Cuts off what
 * follows the last tuple.
 */
static void
fc_chunks_walk(FcContext *ctx, FcChunkScan *scan, FcChunk *chunk)
{
	const FcFile *file = fc_source_file(ctx->source, chunk->start);
	uint64		end = chunk->start + chunk->length;

	if (chunk->start == file->data_start)
		memset(&scan->walk, 0, sizeof(FcWalk));
	fc_finder_read_chunk(ctx, scan, chunk);
	if (end < file->base + file->identity.size || !fc_walk_may_end(&scan->walk))
		return;
	end = file->data_start + scan->walk.start;
	/* the trailer may begin with the last byte of the chunk before */
	for (; chunk->start > end; chunk--)
		fc_finder_cut_chunk(ctx, chunk, end);
	fc_finder_cut_chunk(ctx, chunk, end);
}

void
fc_chunks_split(FcContext *ctx)
{
	FcChunk    *chunks = fc_shared_chunks(ctx->shared);
	FcChunkScan scan;
	uint32		i;

	while (fc_chunks_take(ctx, &i))
		if (ctx->shared->dialects->mode == FC_MODE_BINARY)
			fc_chunks_walk(ctx, &scan, &chunks[i]);
		else
			fc_finder_read_chunk(ctx, &scan, &chunks[i]);
}

/* The number of the first chunk from i on that begins at "offset" or later */
static uint32
fc_chunks_find(const FcShared *shared, uint32 i, uint64 offset)
{
	const FcChunk *chunks = fc_shared_chunks(shared);

	fc_search(uint32, i, shared->source.nchunks, mid, chunks[mid].start < offset);
	return i;
}

/*
 * Resolves the chunks of one file.  A marker ends the file's data, whatever
 * follows it.  Bytes that look like a marker, but that COPY refuses, stay in
 * the data: the reader of that record refuses them.  "records" is the number
 * of records in the files before this one; returns the number including it.
 */
static uint64
fc_chunks_resolve_file(FcContext *ctx, const FcFile *file, uint32 first,
					  uint32 n, uint64 records)
{
	FcChunk    *chunks = fc_shared_chunks(ctx->shared) + first;
	FcChunkStart *starts = fc_shared_starts(ctx->shared) + first;
	const FcChunkPoint begin = {FC_OUTSIDE, true, file->lines_before, records,
	0, FC_NOWHERE};
	FcChunkPoint at = begin;
	const FcDialect *dialect = &ctx->shared->dialects[file->eol];
	bool		join = fc_chunk_resolve(dialect, chunks, n, &at, starts);

	if (join && at.marker != FC_NOWHERE)
	{
		for (uint32 i = 0; i < n; i++)
			fc_finder_cut_chunk(ctx, &chunks[i], at.marker);
		at = begin;
		join = fc_chunk_resolve(dialect, chunks, n, &at, starts);
	}
	if (!join)
		elog(ERROR, "chunks of the file do not join");
	return at.records;
}

/* A single file has no chunks after its data */
static void
fc_chunks_trim(FcShared *shared)
{
	while (shared->source.nfiles == 1 && shared->source.nchunks > 0 &&
		   fc_shared_chunk(shared, shared->source.nchunks - 1)->length == 0)
		shared->source.nchunks--;
}

/* Neither a chunk nor a record lies in two files */
uint64
fc_chunks_resolve(FcContext *ctx)
{
	uint64		records = 0;
	uint32		first = 0;

	Assert(!IsParallelWorker() && ctx->shared->source.room == 0);
	for (uint32 i = 0; i < ctx->source->nfiles; i++)
	{
		uint32		end = fc_chunks_find(ctx->shared, first,
										fc_source_end(ctx->source, i));

		CHECK_FOR_INTERRUPTS();
		records = fc_chunks_resolve_file(ctx, &ctx->source->files[i], first,
										end - first, records);
		first = end;
	}
	fc_chunks_trim(ctx->shared);
	Assert(first >= ctx->shared->source.nchunks);
	return records;
}

void
fc_chunks_forget(FcShared *shared)
{
	for (uint32 i = 0; i < shared->source.nchunks; i++)
		*fc_shared_start(shared, i) = fc_chunk_unknown;
}

/*
 * By induction: if the records up to a chunk are right, the next one begins
 * where the last of them has ended; if the chunk has begun there, its records
 * are right, too, because a record is in no quotes of another.
 */
bool
fc_chunks_prove(FcContext *ctx, uint64 *records)
{
	FcShared   *shared = ctx->shared;
	uint64		next = 0;
	uint64		line = 0;

	Assert(!IsParallelWorker() && shared->source.room == 0);
	*records = 0;
	for (uint32 i = 0; i < shared->source.nchunks; i++)
	{
		FcChunk    *chunk = fc_shared_chunk(shared, i);
		FcChunkStart *start = fc_shared_start(shared, i);
		const FcFile *file = fc_source_file(ctx->source, chunk->start);
		uint64		end = chunk->start + chunk->length;

		if (chunk->start == file->data_start)
		{
			next = chunk->start;
			line = file->lines_before;
		}
		/* a chunk that has no first record may be right as well */
		if (start->first != (next < end ? next : FC_NOWHERE))
			return false;
		chunk->start = next;
		chunk->length = end > next ? end - next : 0;
		start->line = start->first_line = line;
		start->before = *records;
		*records += start->records;
		line += start->records + start->embedded;
		if (start->first == FC_NOWHERE)
			continue;
		if (start->next < chunk->start + chunk->length)
			return false;
		next = start->next;
		chunk->length = next - chunk->start;
		Assert(next >= chunk->start && start->next <= fc_source_end_at(ctx->source, start->first));
	}
	return true;
}

uint64
fc_chunks_records(FcShared *shared, const FcSource *source, uint32 file)
{
	const FcChunkStart *starts = fc_shared_starts(shared);
	uint32		first = fc_chunks_find(shared, 0, source->files[file].base);
	uint32		end = fc_chunks_find(shared, first, fc_source_end(source, file));

	if (first == end)
		return 0;
	return starts[end - 1].before + starts[end - 1].records - starts[first].before;
}

/* Moves each file's chunks to after those of the files before it */
uint64
fc_chunks_finish(FcShared *shared)
{
	FcChunk    *chunks = fc_shared_chunks(shared);
	FcChunkStart *starts = fc_shared_starts(shared);
	uint32		nchunks = 0;
	uint64		records = 0;

	Assert(!IsParallelWorker() && shared->source.room > 0);
	for (uint32 i = 0; i < shared->source.nfiles; i++)
	{
		uint32		n = pg_atomic_read_u32(&fc_shared_inflow(shared)[i].published);
		Size		from = (Size) shared->source.room * i;

		CHECK_FOR_INTERRUPTS();
		Assert(nchunks <= from);
		if (shared->source.places == 0)
		{
			memmove(chunks + nchunks, chunks + from, sizeof(FcChunk) * n);
			memmove(starts + nchunks, starts + from, sizeof(FcChunkStart) * n);
			for (uint32 k = nchunks; k < nchunks + n; k++)
				starts[k].before += records;
		}
		nchunks += n;
		if (nchunks > 0)
			records = fc_shared_start(shared, nchunks - 1)->before +
				fc_shared_start(shared, nchunks - 1)->records;
	}
	if (shared->source.nfiles > 1 || fc_shared_inflow(shared)->uneven ||
		nchunks > (shared->source.room - shared->source.ahead) / 2)
		shared->source.chunk_size = 0;
	Assert(nchunks <= shared->source.nchunks);
	shared->source.nchunks = nchunks;
	fc_chunks_trim(shared);
	shared->source.room = 0;
	shared->source.area = DSM_HANDLE_INVALID;
	return records;
}
