/*-------------------------------------------------------------------------
 *
 * row/chunk_reader.c
 *	  The records that start in a chunk, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "row/chunk_reader.h"

/*
 * Longest record where it is only guessed that no quote is open: its end may
 * be far away.  A split finds longer ones.
 */
#define FC_GUESSED_RECORD	((size_t) 64 * 1024 * 1024)

void
fc_chunk_reader_begin(FcChunkReader *reader, FcContext *ctx, size_t buffer)
{
	memset(reader, 0, sizeof(FcChunkReader));
	reader->ctx = ctx;
	reader->stream = fc_stream_begin(ctx->source, buffer);
}

void
fc_chunk_reader_find(FcChunkReader *reader, FcUnsplit unsplit)
{
	FcShared   *shared = reader->ctx->shared;

	Assert(unsplit != FC_UNSPLIT_FIND || !reader->ctx->in_worker);
	reader->unsplit = unsplit;
	if (reader->unsplit == FC_UNSPLIT_GUESS)
		fc_stream_limit(reader->stream, FC_GUESSED_RECORD);
	for (uint32 i = 0; reader->unsplit == FC_UNSPLIT_FIND && i < shared->source.nchunks; i++)
		*fc_shared_start(shared, i) = fc_chunk_unknown;
}

/* The chunk begins with a record, where the one before has ended */
static void
fc_chunk_reader_found_start(FcChunkReader *reader, uint32 chunk)
{
	const FcChunk *bytes = fc_shared_chunk(reader->ctx->shared, chunk);
	FcChunkStart *start = fc_shared_start(reader->ctx->shared, chunk);
	const FcFile *file;

	if (reader->pass.over || bytes->length == 0)
		return;
	file = fc_source_file(reader->ctx->source, bytes->start);
	if (bytes->start == file->data_start)
		reader->pass.line = file->lines_before;
	start->line = start->first_line = reader->pass.line;
	start->before = reader->pass.records;
	start->first = bytes->start;
	reader->pass.embedded = 0;
}

/*
 * Moves the beginnings of chunks from this one on to "end", if they are
 * before: each then begins with a record or is empty.  errors/lines.c and
 * others read single chunks later.
 */
static void
fc_chunk_reader_move(FcChunkReader *reader, uint32 chunk, uint64 end)
{
	FcShared   *shared = reader->ctx->shared;

	for (; chunk < shared->source.nchunks; chunk++)
	{
		FcChunk    *bytes = fc_shared_chunk(shared, chunk);
		FcChunkStart *start = fc_shared_start(shared, chunk);
		uint64		after = bytes->start + bytes->length;

		if (bytes->start >= end)
			return;
		bytes->start = end;
		bytes->length = after > end ? after - end : 0;
		start->before = reader->pass.records;
		start->line = start->first_line = reader->pass.line;
	}
}

/* The chunk ends where the next record begins, or with its file's data */
static void
fc_chunk_reader_found_end(FcChunkReader *reader)
{
	FcChunk    *bytes = fc_shared_chunk(reader->ctx->shared, reader->chunk);
	uint64		next = reader->record.offset;

	fc_shared_start(reader->ctx->shared, reader->chunk)->records = reader->found;
	reader->pass.records += reader->found;
	reader->pass.line += reader->found + reader->pass.embedded;
	reader->pass.over = !reader->marker && next < reader->end;
	if (reader->pass.over)
		return;
	Assert(next >= bytes->start);
	bytes->length = next - bytes->start;
	fc_chunk_reader_move(reader, reader->chunk + 1,
						 reader->marker ? fc_source_end_at(reader->ctx->source, bytes->start) : next);
}

/*
 * Guesses where the first record of a chunk begins, as if no quote were open
 * at its first byte
 */
static uint64
fc_chunk_reader_guess_first(FcChunkReader *reader, const FcChunk *bytes)
{
	const FcSource *source = reader->ctx->source;
	const FcFile *file = fc_source_file(source, bytes->start);
	uint64		end = bytes->start + bytes->length;
	char		buf[4096];

	if (bytes->length == 0 || bytes->start == file->data_start)
		return bytes->length == 0 ? FC_NOWHERE : bytes->start;
	/* the byte before the chunk may end a line; its last one begins nothing */
	for (uint64 pos = bytes->start - 1; pos < end - 1;)
	{
		size_t		n = Min(sizeof(buf), end - 1 - pos);
		const char *found;

		fc_source_read(source, pos, buf, n);
		found = memchr(buf, file->eol == FC_EOL_CR ? '\r' : '\n', n);
		if (found != NULL)
			return pos + (found - buf) + 1;
		pos += n;
	}
	return FC_NOWHERE;
}

/*
 * Stores what the chunk had.  The chunk before it may show at once that the
 * guess was wrong; if not, fc_chunks_prove finds out.
 */
static void
fc_chunk_reader_guessed(FcChunkReader *reader)
{
	FcShared   *shared = reader->ctx->shared;
	FcChunkStart *start = fc_shared_start(shared, reader->chunk);
	const FcChunkStart *before = reader->chunk > 0 ? start - 1 : NULL;

	start->records = reader->found;
	start->embedded = reader->pass.embedded;
	start->next = reader->marker ? FC_NOWHERE : reader->record.offset;
	if (reader->marker || (before && before->next >= fc_shared_chunk(shared, reader->chunk)->start &&
						   before->next != start->first))
		pg_atomic_write_u32(&shared->mistaken, 1);
}

bool
fc_chunk_reader_enter(FcChunkReader *reader, uint32 chunk)
{
	FcShared   *shared = reader->ctx->shared;
	const FcChunk *bytes = fc_shared_chunk(shared, chunk);
	FcChunkStart *start = fc_shared_start(shared, chunk);

	Assert(shared->source.room > 0 || chunk < shared->source.nchunks);
	reader->chunk = chunk;
	reader->end = bytes->start + bytes->length;
	reader->found = 0;
	reader->malformed = reader->marker = false;
	if (reader->unsplit == FC_UNSPLIT_FIND)
		fc_chunk_reader_found_start(reader, chunk);
	else
		reader->pass.embedded = 0;
	if (reader->unsplit == FC_UNSPLIT_GUESS || (reader->looks && shared->source.unsplit != FC_UNSPLIT_NOT))
		start->first = fc_chunk_reader_guess_first(reader, bytes);
	if (shared->plan.origins && start->first != FC_NOWHERE)
	{
		reader->line = start->first_line;
		reader->row = start->before - fc_lines_records(reader->ctx, start->first);
	}
	if (start->first == FC_NOWHERE || (fc_error_beyond(shared, start->first) && !reader->looks))
		return false;
	reader->dialect = fc_context_dialect(reader->ctx, start->first);
	fc_stream_seek(reader->stream, start->first);
	return true;
}

bool
fc_chunk_reader_refuse(FcChunkReader *reader, FcEnd end)
{
	Assert(reader->found > 0 && end != FC_END_NONE);
	if (reader->unsplit != FC_UNSPLIT_NOT && end == FC_END_MARKER)
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

bool
fc_chunk_reader_skip(FcChunkReader *reader)
{
	CHECK_FOR_INTERRUPTS();
	if (fc_record_is_open(reader->record.data, reader->record.length))
		return fc_chunk_reader_refuse(reader, FC_END_FOUND);
	if (reader->looks || reader->ctx->verifying)
		return true;
	fc_context_count_out(reader->ctx, filtered, reader->record.offset, 1);
	fc_context_count_out(reader->ctx, skipped, reader->record.offset, 1);
	return true;
}

void
fc_chunk_reader_leave(FcChunkReader *reader)
{
	if (reader->unsplit == FC_UNSPLIT_FIND)
		fc_chunk_reader_found_end(reader);
	if (reader->unsplit == FC_UNSPLIT_GUESS)
		fc_chunk_reader_guessed(reader);
	pg_atomic_fetch_add_u64(&reader->ctx->shared->counts.scanned, reader->found);
	fc_error_check_count(reader->ctx, reader->chunk, reader->found);
}

void
fc_chunk_reader_end(FcChunkReader *reader)
{
	fc_stream_end(reader->stream);
}
