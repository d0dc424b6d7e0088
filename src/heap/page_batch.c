/*-------------------------------------------------------------------------
 *
 * heap/page_batch.c
 *	  Memory for the pages that a process forms.
 *
 * It comes in batches, and is kept for the phase, not for one table only: it is
 * as much as the process had in use at one time, because fresh memory costs
 * more than to fill it.  It lives in the phase's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "heap/append.h"
#include "heap/page_batch.h"

/* The beginning of a batch's memory while it is free */
typedef struct FcFreeBatch
{
	struct FcFreeBatch *next;
} FcFreeBatch;

struct FcBatches
{
	MemoryContext mcxt;
	FcFreeBatch *free;
};

FcBatches *
fc_batches_begin(FcContext *ctx)
{
	if (ctx->batches == NULL)
	{
		ctx->batches = MemoryContextAllocZero(ctx->mcxt, sizeof(FcBatches));
		ctx->batches->mcxt = ctx->mcxt;
	}
	return ctx->batches;
}

char *
fc_batch_take(FcBatches *batches)
{
	FcFreeBatch *batch = batches->free;

	if (batch == NULL)
		return MemoryContextAlloc(batches->mcxt, FC_PAGE_BATCH * BLCKSZ);
	batches->free = batch->next;
	return (char *) batch;
}

void
fc_batch_give(FcBatches *batches, char *pages)
{
	FcFreeBatch *batch = (FcFreeBatch *) pages;

	batch->next = batches->free;
	batches->free = batch;
}
