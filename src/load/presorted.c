/*-------------------------------------------------------------------------
 *
 * load/presorted.c
 *	  Looks at some records of the file, to see whether it is in key order.
 *
 *	 chunks ──► first records of each, the last of the file ──► keys ascend?
 *
 * A file that looks so is loaded without a scan, and found out then if it is
 * not.  Nothing of an error is said here: a key that is not plain is left to
 * the scan, as is a file that is not in order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "errors/first_error.h"
#include "load/phases.h"
#include "row/executor.h"
#include "row/parse.h"

#define FC_ORDER_BYTES	(1024 * 1024)	/* looked at in all */
#define FC_ORDER_LEAST	8192	/* of each chunk */
#define FC_ORDER_TAIL	65536	/* of the file, for its last key */

typedef struct FcOrder
{
	FcContext  *ctx;
	FcStream   *stream;
	FcParser   *parser;
	int64	   *keys;
	int64		last;			/* the largest so far */
	bool		sorted;
} FcOrder;

/* The next record's key, which becomes the last; false if it is none of those */
static bool
fc_order_next(FcOrder *order, uint64 end, FcRecord *record)
{
	int64		key;

	CHECK_FOR_INTERRUPTS();
	if (fc_stream_next(order->stream, &order->ctx->dialect, record) != FC_END_FOUND ||
		record->offset >= end)
		return false;
	order->sorted = !record->unterminated &&
		fc_parse_plain_key(order->parser, record, &key) && key >= order->last;
	if (order->sorted)
		order->last = key;
	return order->sorted;
}

/* The first records of a chunk, so many bytes of them */
static void
fc_order_chunk(FcOrder *order, uint32 i, uint64 bytes)
{
	const FcChunk *chunk = &fc_shared_chunks(order->ctx->shared)[i];
	const FcChunkStart *start = &fc_shared_starts(order->ctx->shared)[i];
	uint64		end = Min(start->first + bytes, chunk->start + chunk->length);
	FcRecord	record;

	fc_context_enter(order->ctx, start->first);
	fc_stream_seek(order->stream, start->first);
	order->sorted = false;
	if (!fc_order_next(order, PG_UINT64_MAX, &record))
		return;
	order->keys[i] = order->last;
	while (fc_order_next(order, end, &record))
		;
}

/* Where one of the last records of a chunk begins */
static uint64
fc_order_near_end(FcContext *ctx, uint64 first, uint64 end)
{
	Size		size = FC_ORDER_TAIL;
	char	   *buf;
	FcRun		run;

	if (ctx->dialect.eol == FC_EOL_UNKNOWN || end - first <= size)
		return first;
	buf = palloc(size);
	fc_run_init(&run, FC_OUTSIDE);
	for (uint64 pos = first; pos < end - size;)
	{
		size_t		len = Min(size, end - size - pos);

		CHECK_FOR_INTERRUPTS();
		fc_source_read(ctx->source, pos, buf, len);
		fc_run_feed(&ctx->dialect, &run, buf, len);
		pos += len;
	}
	pfree(buf);
	return run.last == FC_NOWHERE ? first : first + run.last;
}

/* The last records of the last chunk that has any */
static void
fc_order_tail(FcOrder *order, uint32 i)
{
	FcContext  *ctx = order->ctx;
	const FcChunk *chunk = &fc_shared_chunks(ctx->shared)[i];
	uint64		first = fc_shared_starts(ctx->shared)[i].first;
	FcRecord	record;

	fc_context_enter(ctx, first);
	fc_stream_seek(order->stream,
				   fc_order_near_end(ctx, first, chunk->start + chunk->length));
	order->last = order->keys[i];
	while (fc_order_next(order, PG_UINT64_MAX, &record))
		;
}

/* Body of fc_error_catch */
static void
fc_order_read(void *arg)
{
	FcOrder    *order = arg;
	FcShared   *shared = order->ctx->shared;
	uint32		n = shared->nchunks;
	uint32		tail = n;

	order->sorted = true;
	for (uint32 i = 0; i < n && order->sorted; i++)
	{
		if (fc_shared_starts(shared)[i].first == FC_NOWHERE)
			continue;
		fc_order_chunk(order, i, Max(FC_ORDER_BYTES / n, FC_ORDER_LEAST));
		tail = i;
	}
	if (order->sorted && tail < n)
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
	FcOrder		order = {ctx};
	ResultRelInfo *root;
	EState	   *estate = fc_target_executor(fc_target_context_state(ctx), &root);
	ErrorData  *edata;

	order.keys = keys;
	order.last = PG_INT64_MIN;
	order.stream = fc_stream_begin(ctx->source, FC_ORDER_TAIL);
	order.parser = fc_parse_begin(ctx, estate);
	edata = fc_error_catch(ctx, fc_order_read, &order);
	fc_parse_end(order.parser);
	fc_stream_end(order.stream);
	fc_target_executor_end(estate);
	return edata == NULL && order.sorted;
}
