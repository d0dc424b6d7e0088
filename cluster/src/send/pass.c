/*-------------------------------------------------------------------------
 *
 * send/pass.c
 *	  Finds chunks without a split, in a pass over all of them in their order.
 *
 *	 records in file order ──► borders of chunks, moved to where records begin
 *			──► FcChunkStart
 *
 * The process that reads all chunks in order knows how each begins when it
 * comes to it.  All is in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "send/pass.h"

void
fc_pass_begin(FcPass *pass, FcContext *ctx)
{
	FcChunkStart *starts = fc_shared_starts(ctx->shared);

	memset(pass, 0, sizeof(FcPass));
	pass->ctx = ctx;
	for (uint32 i = 0; i < ctx->shared->source.nchunks; i++)
		starts[i] = (FcChunkStart) {.state = FC_OUTSIDE,.first = FC_NOWHERE};
}

void
fc_pass_enter(FcPass *pass, uint32 chunk)
{
	const FcChunk *bytes = fc_shared_chunk(pass->ctx->shared, chunk);
	FcChunkStart *start = fc_shared_start(pass->ctx->shared, chunk);
	const FcFile *file;

	if (pass->over || bytes->length == 0)
		return;
	file = fc_source_file(pass->ctx->source, bytes->start);
	if (bytes->start == file->data_start)
		pass->line = file->lines_before;
	start->line = start->first_line = pass->line;
	start->before = pass->records;
	start->first = bytes->start;
}

/*
 * The chunks from this one on that begin before "end" begin there, or end, so
 * that each begins with a record or is empty: errors/lines.c and others read
 * single chunks later
 */
static void
fc_pass_move(FcPass *pass, uint32 chunk, uint64 end)
{
	FcShared   *shared = pass->ctx->shared;

	for (; chunk < shared->source.nchunks; chunk++)
	{
		FcChunk    *bytes = fc_shared_chunk(shared, chunk);
		uint64		after = bytes->start + bytes->length;

		if (bytes->start >= end)
			return;
		bytes->start = end;
		bytes->length = after > end ? after - end : 0;
		fc_shared_start(shared, chunk)->before = pass->records;
	}
}

void
fc_pass_leave(FcPass *pass, const FcChunkReader *reader, uint64 embedded)
{
	FcChunk    *bytes = fc_shared_chunk(pass->ctx->shared, reader->chunk);
	uint64		next = reader->record.offset;

	fc_shared_start(pass->ctx->shared, reader->chunk)->records = reader->found;
	pass->records += reader->found;
	pass->line += reader->found + embedded;
	pass->over = !reader->marker && next < reader->end;
	if (pass->over)
		return;
	bytes->length = next - bytes->start;
	fc_pass_move(pass, reader->chunk + 1,
				 reader->marker ? fc_source_end_at(pass->ctx->source, bytes->start) : next);
}
