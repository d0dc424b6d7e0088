/*-------------------------------------------------------------------------
 *
 * fc_split.c
 *	  Finds where records start in every chunk of the file.
 *
 * Workers read chunks, in any order, and note what each does to every quote
 * state it may begin in; the leader then knows, in one pass over the notes,
 * the true state, the line number and the first record of every chunk.
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

uint64
fc_split_resolve(FcShared *shared, uint64 lines_before)
{
	FcChunkPoint at = {FC_OUTSIDE, true, lines_before, 0};

	if (!fc_chunk_resolve(fc_shared_chunks(shared), shared->nchunks, &at,
						  fc_shared_starts(shared)))
		elog(ERROR, "chunks of the file do not join");
	return at.records;
}
