/*-------------------------------------------------------------------------
 *
 * fc_split.c
 *	  Finds where records start in every chunk of the file.
 *
 * Workers read chunks, in any order, and note what each does to every quote
 * state it may begin in; the leader then knows, in one pass over the notes,
 * the true state, the line number and the first record of every chunk, and in
 * text format where the data end: chunks behind that are dropped.
 *
 * Nothing is held but a buffer in the phase's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "fc_phases.h"

#define FC_SPLIT_BLOCK	((size_t) 256 * 1024)

static void
fc_split_chunk(FcContext *ctx, FcChunk *chunk, char *buf, size_t size)
{
	FcChunkScan scan;
	uint64		start = chunk->start;
	uint64		end = start + chunk->length;

	fc_chunk_begin(&ctx->dialect, &scan);
	for (uint64 pos = start; pos < end;)
	{
		size_t		len = Min(size, end - pos);

		fc_source_read(ctx->source, pos, buf, len);
		fc_chunk_feed(&ctx->dialect, &scan, buf, len);
		pg_atomic_fetch_add_u64(&ctx->shared->split_bytes, len);
		pos += len;
		fc_context_progress(ctx);
	}
	fc_chunk_finish(&scan, chunk);
}

void
fc_split_run(FcContext *ctx)
{
	FcChunk    *chunks = fc_shared_chunks(ctx->shared);
	char	   *buf = palloc(FC_SPLIT_BLOCK);
	uint32		i;

	while (fc_context_take(ctx, ctx->shared->nchunks, &i))
		fc_split_chunk(ctx, &chunks[i], buf, FC_SPLIT_BLOCK);
	pfree(buf);
}

/* Does the "\." with which a record begins at "offset" end the data? */
static bool
fc_split_marker_ends(FcContext *ctx, uint64 offset)
{
	FcDialect	dialect = ctx->dialect;
	FcScan		scan = {0};
	char		buf[4];			/* with the longest line end */
	size_t		len = Min(sizeof(buf), ctx->shared->file.size - offset);

	fc_source_read(ctx->source, offset, buf, len);
	return fc_record_end(&dialect, &scan, buf, len, true) == FC_END_MARKER;
}

/* Takes the bytes from "end" on out of the chunks; only one is read again */
static void
fc_split_cut(FcContext *ctx, uint64 end)
{
	FcShared   *shared = ctx->shared;
	FcChunk    *chunks = fc_shared_chunks(shared);
	char	   *buf;

	while (shared->nchunks > 0 && chunks[shared->nchunks - 1].start >= end)
		shared->nchunks--;
	if (shared->nchunks == 0)
		return;
	buf = palloc(FC_SPLIT_BLOCK);
	chunks[shared->nchunks - 1].length = end - chunks[shared->nchunks - 1].start;
	fc_split_chunk(ctx, &chunks[shared->nchunks - 1], buf, FC_SPLIT_BLOCK);
	pfree(buf);
}

/*
 * In text format a line with "\." alone ends the data, whatever follows.  One
 * that COPY refuses is left in the data, for the record's reader to refuse.
 */
uint64
fc_split_resolve(FcContext *ctx, uint64 lines_before)
{
	FcShared   *shared = ctx->shared;
	FcChunk    *chunks = fc_shared_chunks(shared);
	FcChunkStart *starts = fc_shared_starts(shared);
	const FcChunkPoint begin = {FC_OUTSIDE, true, lines_before, 0, false,
	FC_NOWHERE};
	FcChunkPoint at = begin;
	bool		join = fc_chunk_resolve(chunks, shared->nchunks, &at, starts);

	if (join && at.marker != FC_NOWHERE && fc_split_marker_ends(ctx, at.marker))
	{
		fc_split_cut(ctx, at.marker);
		at = begin;
		join = fc_chunk_resolve(chunks, shared->nchunks, &at, starts);
	}
	if (!join)
		elog(ERROR, "chunks of the file do not join");
	return at.records;
}
