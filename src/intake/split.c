/*-------------------------------------------------------------------------
 *
 * intake/split.c
 *	  Finds where records start in every chunk of the file.
 *
 * Processes read chunks, in any order, and note what each does to every quote
 * state that it may begin in.  In one pass over the notes the leader then finds
 * the true state, the line number and the first record of every chunk, and
 * whether a marker ends the data: chunks after it become empty.  It resolves
 * each file for itself, whose first chunk begins after the header.
 *
 * Where a tuple of a binary file begins can only be told from all bytes before
 * it, so that one process walks over the whole file.
 *
 * Nothing is held but a buffer in the phase's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "context/pace.h"
#include "intake/split.h"
#include "key/search.h"

#define FC_SPLIT_BLOCK	((size_t) 256 * 1024)

static void
fc_split_chunk(FcContext *ctx, FcChunkScan *scan, FcChunk *chunk, char *buf,
			   size_t size)
{
	uint64		start = chunk->start;
	uint64		end = start + chunk->length;

	fc_context_enter(ctx, start);
	fc_chunk_begin(&ctx->dialect, scan);
	for (uint64 pos = start; pos < end;)
	{
		size_t		len = Min(size, end - pos);

		fc_source_read(ctx->source, pos, buf, len);
		fc_chunk_feed(&ctx->dialect, scan, buf, len);
		pg_atomic_fetch_add_u64(&ctx->shared->counts.split_bytes, len);
		pos += len;
		fc_pace(ctx, len);
		fc_context_progress(ctx);
	}
	fc_chunk_finish(scan, chunk);
}

/*
 * One process walks over a binary file from its first chunk to its last, and
 * takes away what is no tuple after it.
 */
static void
fc_split_walk(FcContext *ctx, FcChunkScan *scan, FcChunk *chunk, char *buf, size_t size)
{
	const FcFile *file = fc_source_file(ctx->source, chunk->start);
	uint64		end = chunk->start + chunk->length;
	uint32		n = 1;

	if (chunk->start == file->data_start)
		memset(&scan->walk, 0, sizeof(FcWalk));
	fc_split_chunk(ctx, scan, chunk, buf, size);
	if (end < file->base + file->identity.size || !fc_walk_may_end(&scan->walk))
		return;
	end = file->data_start + scan->walk.start;
	/* the trailer may begin with the last byte of the chunk before */
	for (; chunk->start > end; chunk--)
		n++;
	fc_split_cut(ctx, chunk, n, end);
}

void
fc_split_run(FcContext *ctx)
{
	FcChunk    *chunks = fc_shared_chunks(ctx->shared);
	char	   *buf = palloc(FC_SPLIT_BLOCK);
	FcChunkScan scan;
	uint32		i;

	while (fc_context_take(ctx, ctx->shared->source.nchunks, &i))
		if (ctx->dialect.mode == FC_MODE_BINARY)
			fc_split_walk(ctx, &scan, &chunks[i], buf, FC_SPLIT_BLOCK);
		else
			fc_split_chunk(ctx, &scan, &chunks[i], buf, FC_SPLIT_BLOCK);
	pfree(buf);
}

/* The number of the first chunk from i on that begins at "offset" or later */
static uint32
fc_split_find(const FcShared *shared, uint32 i, uint64 offset)
{
	const FcChunk *chunks = fc_shared_chunks(shared);

	fc_search(uint32, i, shared->source.nchunks, mid, chunks[mid].start < offset);
	return i;
}

/*
 * Only the chunk in which the data end is read again; not even that if they
 * end with a tuple
 */
void
fc_split_cut(FcContext *ctx, FcChunk *chunks, uint32 n, uint64 end)
{
	FcChunkScan scan;
	char	   *buf;

	for (; n > 0 && chunks[n - 1].start >= end; n--)
	{
		memset(&chunks[n - 1], 0, sizeof(FcChunk));
		chunks[n - 1].start = end;
	}
	if (n == 0)
		return;
	chunks[n - 1].length = end - chunks[n - 1].start;
	if (ctx->dialect.mode == FC_MODE_BINARY)
	{
		chunks[n - 1].run[FC_OUTSIDE].ends_record = true;
		return;
	}
	buf = palloc(FC_SPLIT_BLOCK);
	fc_split_chunk(ctx, &scan, &chunks[n - 1], buf, FC_SPLIT_BLOCK);
	pfree(buf);
}

/*
 * Resolves the chunks of one file.  A marker ends its data, whatever follows.
 * What looks like one and is refused by COPY stays in the data, for the
 * record's reader to refuse.  "records" is the number of records in the files
 * before; returns the number up to the end of this one.
 */
static uint64
fc_split_resolve_file(FcContext *ctx, const FcFile *file, uint32 first,
					  uint32 n, uint64 records)
{
	FcChunk    *chunks = fc_shared_chunks(ctx->shared) + first;
	FcChunkStart *starts = fc_shared_starts(ctx->shared) + first;
	const FcChunkPoint begin = {FC_OUTSIDE, true, file->lines_before, records,
	0, FC_NOWHERE};
	FcChunkPoint at = begin;
	FcDialect	dialect = ctx->dialect;
	bool		join;

	dialect.eol = file->eol;
	join = fc_chunk_resolve(&dialect, chunks, n, &at, starts);
	if (join && at.marker != FC_NOWHERE)
	{
		fc_split_cut(ctx, chunks, n, at.marker);
		at = begin;
		join = fc_chunk_resolve(&dialect, chunks, n, &at, starts);
	}
	if (!join)
		elog(ERROR, "chunks of the file do not join");
	return at.records;
}

/* No chunk is part of two files, and no record */
uint64
fc_split_resolve(FcContext *ctx)
{
	uint64		records = 0;
	uint32		first = 0;

	for (uint32 i = 0; i < ctx->source->nfiles; i++)
	{
		uint32		end = fc_split_find(ctx->shared, first,
										fc_source_end(ctx->source, i));

		CHECK_FOR_INTERRUPTS();
		records = fc_split_resolve_file(ctx, &ctx->source->files[i], first,
										end - first, records);
		first = end;
	}
	/* a single file has no chunks after its data */
	if (ctx->source->nfiles == 1)
		while (ctx->shared->source.nchunks > 0 &&
			   fc_shared_chunks(ctx->shared)[ctx->shared->source.nchunks - 1].length == 0)
			ctx->shared->source.nchunks--;
	return records;
}

uint64
fc_split_records(FcShared *shared, const FcSource *source, uint32 file)
{
	const FcChunkStart *starts = fc_shared_starts(shared);
	uint32		first = fc_split_find(shared, 0, source->files[file].base);
	uint32		end = fc_split_find(shared, first, fc_source_end(source, file));

	if (first == end)
		return 0;
	return starts[end - 1].before + starts[end - 1].records - starts[first].before;
}
