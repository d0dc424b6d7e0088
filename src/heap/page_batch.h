/*-------------------------------------------------------------------------
 *
 * heap/page_batch.h
 *	  Memory for the pages that a process forms.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_BATCH_H
#define FC_PAGE_BATCH_H

#include "context/shared.h"

typedef struct FcBatches FcBatches;

/* This process's batches, made once per phase */
extern FcBatches *fc_batches_begin(FcContext *ctx);

/* Gives memory for FC_PAGE_BATCH pages, and takes it back */
extern char *fc_batch_take(FcBatches *batches);
extern void fc_batch_give(FcBatches *batches, char *pages);

#endif							/* FC_PAGE_BATCH_H */
