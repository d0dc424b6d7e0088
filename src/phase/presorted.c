/*-------------------------------------------------------------------------
 *
 * phase/presorted.c
 *	  Looks at some records of the file, to see whether it is presorted.
 *
 * If the keys of each chunk's first records and of the file's last ones
 * ascend, the file is loaded without a scan:
 *
 * 1. The leader makes a partition for each range of keys between the first key
 *    and the last.
 * 2. Processes load chunks.  The rows of a chunk for one partition are a slice
 *    of it, and slices insert in turn.
 * 3. Each process checks that keys ascend within a chunk and up to the first
 *    key of the next.  If one does not, or is not plain, the load is given up:
 *    the leader drops the partitions, and the file is scanned as any other.
 * 4. Partitions that turn out to have no rows are dropped.
 *
 * So fc_course() allows it only where the load makes all partitions, and no
 * row is filtered, rejected or numbered.
 *
 * A leader alone needs no split before.  The look guesses where chunks begin,
 * and the load finds it; keys of a wrong guess make it give up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "phase/phases.h"
#include "row/chunk_reader.h"
#include "row/executor.h"

#define FC_PRESORTED_BYTES	(1024 * 1024)	/* looked at in all */
#define FC_PRESORTED_LEAST	8192	/* of each chunk */
#define FC_PRESORTED_TAIL	65536	/* of the file, for its last key */
#define FC_PRESORTED_RECORD	((size_t) 16 * 1024 * 1024)	/* a longer one ends the
														 * look */

typedef struct FcPresortedLook
{
	FcChunkReader reader;
	FcParser   *parser;
	int64	   *keys;
	int64		last;			/* the highest so far */
	bool		sorted;
	bool		whole;			/* all records of the chunk were looked at */
} FcPresortedLook;

/* Goes to the next record; false if there is none or it is out of order */
static bool
fc_presorted_next(FcPresortedLook *look)
{
	int64		key;

	CHECK_FOR_INTERRUPTS();
	if (!fc_chunk_reader_next(&look->reader))
	{
		look->sorted &= !look->reader.malformed;
		return false;
	}
	look->sorted = fc_parse_plain_key(look->parser, &look->reader.record, &key) && key >= look->last;
	if (look->sorted)
		look->last = key;
	return look->sorted;
}

/* Looks at a chunk's first records, up to "bytes"; false if it has none */
static bool
fc_presorted_chunk(FcPresortedLook *look, uint32 i, uint64 bytes)
{
	FcChunkReader *reader = &look->reader;
	uint64		limit;
	uint64		end;

	if (!fc_chunk_reader_enter(reader, i))
		return false;
	limit = fc_shared_starts(reader->ctx->shared)[i].first + bytes;
	end = reader->end;
	reader->end = Min(limit, end);
	look->sorted = false;
	if (!fc_presorted_next(look))
		return true;
	look->keys[i] = look->last;
	while (fc_presorted_next(look))
		;
	look->whole = reader->record.offset >= end;
	return true;
}

/* Returns the offset of a record that begins near the end of a chunk */
static uint64
fc_presorted_near_end(FcContext *ctx, uint64 first, uint64 end)
{
	Size		size = FC_PRESORTED_TAIL;
	char	   *buf;
	const FcDialect *dialect = fc_context_dialect(ctx, first);
	FcQuoteRun	run;

	if (dialect->eol == FC_EOL_UNKNOWN || end - first <= size)
		return first;
	buf = palloc(size);
	fc_quote_run_init(&run, FC_OUTSIDE);
	for (uint64 pos = first; pos < end - size;)
	{
		size_t		len = Min(size, end - size - pos);

		CHECK_FOR_INTERRUPTS();
		fc_source_read(ctx->source, pos, buf, len);
		fc_quote_run_feed(dialect, &run, buf, len);
		pos += len;
	}
	pfree(buf);
	return run.last == FC_NOWHERE ? first : first + run.last;
}

/* Looks at the last records of chunk i, the last one that has any */
static void
fc_presorted_tail(FcPresortedLook *look, uint32 i)
{
	FcChunkReader *reader = &look->reader;
	FcContext  *ctx = reader->ctx;

	(void) fc_chunk_reader_enter(reader, i);
	fc_stream_seek(reader->stream,
				   fc_presorted_near_end(ctx, fc_shared_starts(ctx->shared)[i].first,
									 reader->end));
	look->last = look->keys[i];
	while (fc_presorted_next(look))
		;
}

/* Body of fc_error_catch: looks at all chunks */
static void
fc_presorted_read(void *arg)
{
	FcPresortedLook *look = arg;
	FcShared   *shared = look->reader.ctx->shared;
	uint32		n = shared->source.nchunks;
	uint32		tail = n;

	for (uint32 i = 0; i < n && look->sorted; i++)
		if (fc_presorted_chunk(look, i, Max(FC_PRESORTED_BYTES / n, FC_PRESORTED_LEAST)))
			tail = i;
	if (look->sorted && tail < n && !look->whole)
		fc_presorted_tail(look, tail);
	look->sorted = look->sorted && tail < n;
	look->keys[n] = look->last;
	for (uint32 i = n; i-- > 0;)
		if (fc_shared_starts(shared)[i].first == FC_NOWHERE)
			look->keys[i] = look->keys[i + 1];
}

/*
 * Throws no error about a record: one that is malformed or long, or has no
 * plain key, ends the look, and the scan meets it again
 */
bool
fc_presorted_look(FcContext *ctx, int64 *keys)
{
	FcPresortedLook look = {.keys = keys,.last = PG_INT64_MIN,.sorted = true};
	EState	   *estate = fc_executor_begin(ctx);
	ErrorData  *edata;

	Assert(!ctx->in_worker);
	fc_chunk_reader_begin(&look.reader, ctx, FC_PRESORTED_TAIL);
	fc_stream_limit(look.reader.stream, FC_PRESORTED_RECORD);
	look.reader.looks = true;
	look.parser = fc_parse_begin(ctx, estate, true);
	edata = fc_error_catch(ctx, fc_presorted_read, &look);
	fc_parse_end(look.parser);
	fc_chunk_reader_end(&look.reader);
	fc_executor_end(estate);
	return edata == NULL && look.sorted;
}
