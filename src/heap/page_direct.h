/*-------------------------------------------------------------------------
 *
 * heap/page_direct.h
 *	  Batches of pages on their way to the disk while more are formed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_DIRECT_H
#define FC_PAGE_DIRECT_H

#include "context/shared.h"
#include "heap/page_file.h"

typedef struct FcDirect FcDirect;

/* A process's batches, for the rest of the phase */
extern FcDirect *fc_direct_begin(FcContext *ctx);

/* Memory for FC_PAGE_BATCH pages, aligned for I/O */
extern char *fc_direct_take(FcDirect *direct);
extern void fc_direct_give(FcDirect *direct, char *pages);

/*
 * Appends pages that were taken above, and gives them back when they are
 * there: now, or later if the disk can take them as they are.
 */
extern void fc_direct_append(FcDirect *direct, const FcAppend *append);

/* At the end of the phase: returns when all are there */
extern void fc_direct_finish(FcContext *ctx);

#endif							/* FC_PAGE_DIRECT_H */
