/*-------------------------------------------------------------------------
 *
 * row/chunk_reader.c
 *	  The records that start in a chunk, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "row/chunk_reader.h"

void
fc_chunk_reader_begin(FcChunkReader *reader, FcContext *ctx, size_t buffer)
{
	memset(reader, 0, sizeof(FcChunkReader));
	reader->ctx = ctx;
	reader->stream = fc_stream_begin(ctx->source, buffer);
}

bool
fc_chunk_reader_enter(FcChunkReader *reader, uint32 chunk)
{
	FcShared   *shared = reader->ctx->shared;
	const FcChunk *bytes = fc_shared_chunk(shared, chunk);
	uint64		first = fc_shared_start(shared, chunk)->first;

	Assert(shared->source.room > 0 || chunk < shared->source.nchunks);
	reader->chunk = chunk;
	reader->end = bytes->start + bytes->length;
	reader->found = 0;
	reader->malformed = reader->marker = false;
	if (first == FC_NOWHERE || (fc_error_beyond(shared, first) && !reader->looks))
		return false;
	fc_context_enter(reader->ctx, first);
	fc_stream_seek(reader->stream, first);
	return true;
}

bool
fc_chunk_reader_refuse(FcChunkReader *reader, FcEnd end)
{
	if (reader->unsplit && end == FC_END_MARKER)
	{
		reader->found--;
		reader->marker = true;
		return false;
	}
	reader->malformed = true;
	if (!reader->looks)
		fc_error_keep(reader->ctx->shared, FC_ERROR_GRAMMAR, reader->record.offset,
					  reader->record.length, NULL);
	return false;
}

void
fc_chunk_reader_leave(FcChunkReader *reader)
{
	pg_atomic_fetch_add_u64(&reader->ctx->shared->counts.scanned, reader->found);
	fc_error_check_count(reader->ctx, reader->chunk, reader->found);
}

void
fc_chunk_reader_end(FcChunkReader *reader)
{
	fc_stream_end(reader->stream);
}
