/*-------------------------------------------------------------------------
 *
 * phase/presorted.c
 *	  Looks at some records of the file, to see whether it is presorted.
 *
 *	 chunks ──► first records of each, the last of the file ──► keys ascend?
 *
 * A file that looks presorted is loaded without a scan, and the load finds out
 * if it is not.  No error is thrown here: a record that is malformed or has no
 * plain key ends the look, and the scan meets it again.
 *
 * The leader makes a partition for each range of keys between the first key
 * and the last.  Processes load chunks; the rows of a chunk for one partition
 * are a slice of it, and slices insert in turn.  Processes check that keys
 * ascend within a chunk and up to the first key of the next.  If one does not,
 * or is not plain, the load is given up, the leader drops the partitions, and
 * the file is scanned as any other.  So this is only done where the load makes
 * all partitions, and where no row is filtered, rejected or numbered
 * (load/find.c).  Partitions that turn out to have no rows are dropped.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "errors/first_error.h"
#include "phase/phases.h"
#include "row/chunk_reader.h"
#include "row/executor.h"
#include "row/parse.h"

#define FC_ORDER_BYTES	(1024 * 1024)	/* looked at in all */
#define FC_ORDER_LEAST	8192	/* of each chunk */
#define FC_ORDER_TAIL	65536	/* of the file, for its last key */

typedef struct FcOrder
{
	FcChunkReader reader;
	FcParser   *parser;
	int64	   *keys;
	int64		last;			/* the largest so far */
	bool		sorted;
	bool		whole;			/* no record of the chunk was left out */
} FcOrder;

/* Goes to the next record; false if there is none or it is out of order */
static bool
fc_order_next(FcOrder *order)
{
	const FcRecord *record = &order->reader.record;
	int64		key;

	CHECK_FOR_INTERRUPTS();
	if (!fc_chunk_reader_next(&order->reader))
	{
		order->sorted &= !order->reader.malformed;
		return false;
	}
	order->sorted = fc_parse_plain_key(order->parser, record, &key) &&
		key >= order->last;
	if (order->sorted)
		order->last = key;
	return order->sorted;
}

/* Looks at so many bytes of a chunk's first records; false if it has none */
static bool
fc_order_chunk(FcOrder *order, uint32 i, uint64 bytes)
{
	FcChunkReader *reader = &order->reader;
	uint64		limit = fc_shared_starts(reader->ctx->shared)[i].first + bytes;
	uint64		end;

	if (!fc_chunk_reader_enter(reader, i))
		return false;
	end = reader->end;
	reader->end = Min(limit, end);
	order->sorted = false;
	if (!fc_order_next(order))
		return true;
	order->keys[i] = order->last;
	while (fc_order_next(order))
		;
	order->whole = reader->record.offset >= end;
	return true;
}

/* Returns the offset of a record that begins near the end of a chunk */
static uint64
fc_order_near_end(FcContext *ctx, uint64 first, uint64 end)
{
	Size		size = FC_ORDER_TAIL;
	char	   *buf;
	FcQuoteRun	run;

	if (ctx->dialect.eol == FC_EOL_UNKNOWN || end - first <= size)
		return first;
	buf = palloc(size);
	fc_quote_run_init(&run, FC_OUTSIDE);
	for (uint64 pos = first; pos < end - size;)
	{
		size_t		len = Min(size, end - size - pos);

		CHECK_FOR_INTERRUPTS();
		fc_source_read(ctx->source, pos, buf, len);
		fc_quote_run_feed(&ctx->dialect, &run, buf, len);
		pos += len;
	}
	pfree(buf);
	return run.last == FC_NOWHERE ? first : first + run.last;
}

/* Looks at the last records of chunk i, the last one that has any */
static void
fc_order_tail(FcOrder *order, uint32 i)
{
	FcChunkReader *reader = &order->reader;
	FcContext  *ctx = reader->ctx;

	(void) fc_chunk_reader_enter(reader, i);
	fc_stream_seek(reader->stream,
				   fc_order_near_end(ctx, fc_shared_starts(ctx->shared)[i].first,
									 reader->end));
	order->last = order->keys[i];
	while (fc_order_next(order))
		;
}

/* Body of fc_error_catch: looks at all chunks */
static void
fc_order_read(void *arg)
{
	FcOrder    *order = arg;
	FcShared   *shared = order->reader.ctx->shared;
	uint32		n = shared->source.nchunks;
	uint32		tail = n;

	order->sorted = true;
	order->whole = false;
	for (uint32 i = 0; i < n && order->sorted; i++)
		if (fc_order_chunk(order, i, Max(FC_ORDER_BYTES / n, FC_ORDER_LEAST)))
			tail = i;
	if (order->sorted && tail < n && !order->whole)
		fc_order_tail(order, tail);
	order->sorted = order->sorted && tail < n;
	order->keys[n] = order->last;
	for (uint32 i = n; i-- > 0;)
		if (fc_shared_starts(shared)[i].first == FC_NOWHERE)
			order->keys[i] = order->keys[i + 1];
}

bool
fc_order_look(FcContext *ctx, int64 *keys)
{
	FcOrder		order;
	ResultRelInfo *root;
	EState	   *estate = fc_target_executor(fc_target_context_state(ctx), &root);
	ErrorData  *edata;

	order.keys = keys;
	order.last = PG_INT64_MIN;
	fc_chunk_reader_begin(&order.reader, ctx, FC_ORDER_TAIL);
	order.reader.looks = true;
	order.parser = fc_parse_begin(ctx, estate);
	edata = fc_error_catch(ctx, fc_order_read, &order);
	fc_parse_end(order.parser);
	fc_chunk_reader_end(&order.reader);
	fc_target_executor_end(estate);
	return edata == NULL && order.sorted;
}
