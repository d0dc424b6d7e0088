/*-------------------------------------------------------------------------
 *
 * errors/lines.c
 *	  Line numbers of records, as COPY counts them.
 *
 * The entries of a spill file carry no line numbers.  A record's line is
 * counted when it is asked for: from the start of its chunk, whose line is
 * known, or from where the last count ended, if that is before the record in
 * the same chunk.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "errors/first_error.h"

#define FC_LINES_BUFFER	65536

struct FcLines
{
	FcContext  *ctx;
	const FcDialect *dialect;	/* of the chunk's file */
	uint64		end;			/* of the chunk's file */
	uint32		chunk;			/* the one that is being counted */
	FcQuoteRun	run;			/* what its bytes up to pos hold */
	FcWalk		walk;			/* binary: over its tuples */
	uint64		before;			/* lines before what run has counted */
	uint64		pos;			/* UINT64_MAX: nothing was counted yet */
	uint64		buf_start;		/* the bytes of the file that buf has */
	uint64		buf_len;
	char		buf[FC_LINES_BUFFER];
};

FcLines *
fc_lines_begin(FcContext *ctx)
{
	FcLines    *lines = palloc(sizeof(FcLines));

	lines->ctx = ctx;
	lines->dialect = ctx->shared->dialects;
	lines->chunk = 0;
	lines->pos = PG_UINT64_MAX;	/* behind all: fc_lines_at begins anew */
	lines->buf_start = lines->buf_len = 0;
	return lines;
}

uint32
fc_lines_chunk(FcShared *shared, uint64 offset)
{
	uint32		n = shared->source.nchunks;
	uint32		places = shared->source.places;
	uint32		after = 1;

	/* while a file is received most of its chunks are not found yet */
	if (shared->source.room > 0 && shared->source.nfiles == 1)
		n = pg_atomic_read_u32(&fc_shared_inflow(shared)->published);
	pg_read_barrier();
	/* the finder may be about to use the oldest ones' places again */
	if (places > 0 && n > places / 4 * 3)
		after = n - places / 4 * 3;
	fc_search(uint32, after, n, mid, fc_shared_chunk(shared, mid)->start <= offset);
	return after - 1;
}

/* Counts the lines up to the offset "end" */
static void
fc_lines_feed(FcLines *lines, uint64 end)
{
	while (lines->pos < end)
	{
		size_t		len;

		CHECK_FOR_INTERRUPTS();
		if (lines->pos < lines->buf_start ||
			lines->pos >= lines->buf_start + lines->buf_len)
		{
			lines->buf_start = lines->pos;
			lines->buf_len = Min(lines->end - lines->pos, FC_LINES_BUFFER);
			fc_source_read(lines->ctx->source, lines->pos, lines->buf, lines->buf_len);
		}
		len = Min(end, lines->buf_start + lines->buf_len) - lines->pos;
		if (lines->dialect->mode == FC_MODE_BINARY)
			fc_walk_feed(lines->dialect, &lines->walk, &lines->run,
						 lines->buf + (lines->pos - lines->buf_start), len);
		else
			fc_quote_run_feed(lines->dialect, &lines->run,
							  lines->buf + (lines->pos - lines->buf_start), len);
		lines->pos += len;
	}
}

uint64
fc_lines_at(FcLines *lines, uint64 offset, uint64 length)
{
	FcShared   *shared = lines->ctx->shared;
	uint32		i = fc_lines_chunk(shared, offset);
	const FcChunk *chunk = fc_shared_chunk(shared, i);
	const FcChunkStart *start = fc_shared_start(shared, i);
	bool		binary = lines->dialect->mode == FC_MODE_BINARY;

	if (i != lines->chunk || lines->pos > offset)
	{
		lines->chunk = i;
		lines->pos = chunk->start;
		lines->end = fc_source_end_at(lines->ctx->source, lines->pos);
		lines->dialect = fc_context_dialect(lines->ctx, lines->pos);
		lines->before = start->line;
		fc_quote_run_init(&lines->run, start->state);
		memset(&lines->walk, 0, sizeof(FcWalk));

		/*
		 * Tuples can be counted from the first that begins in the chunk.  If
		 * none does, the data end in it, and what is asked for is after them.
		 */
		if (binary && start->first != FC_NOWHERE)
		{
			lines->before = start->first_line;
			lines->pos = start->first;
		}
		else if (binary)
		{
			lines->before = start->line + chunk->run[FC_OUTSIDE].records;
			lines->pos = lines->end;
		}
	}
	Assert(chunk->start <= offset && lines->pos <= lines->end);
	/* to the end of a tuple would be to the next one */
	fc_lines_feed(lines, Min(binary ? offset : offset + length, lines->end));
	return lines->before + lines->run.records + lines->run.embedded + 1;
}

uint64
fc_lines_records(FcContext *ctx, uint64 offset)
{
	const FcFile *file = fc_source_file(ctx->source, offset);

	return file->base == 0 ? 0 :
		fc_shared_start(ctx->shared, fc_lines_chunk(ctx->shared, file->data_start))->before;
}

uint64
fc_lines_row(FcLines *lines, uint64 offset)
{
	FcShared   *shared = lines->ctx->shared;
	const FcChunkStart *start;

	(void) fc_lines_at(lines, offset, 0);
	start = fc_shared_start(shared, lines->chunk);
	/* a record that began in the chunk before may have ended in this one */
	return start->before + lines->run.records - fc_lines_records(lines->ctx, offset) +
		(lines->dialect->mode == FC_MODE_BINARY || start->first == fc_shared_chunk(shared, lines->chunk)->start);
}
