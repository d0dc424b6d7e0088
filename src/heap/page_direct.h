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

/* This process's batches, made once per phase */
extern FcDirect *fc_direct_begin(FcContext *ctx);

/* Memory for FC_PAGE_BATCH pages, aligned for I/O */
extern char *fc_direct_take(FcDirect *direct);
extern void fc_direct_give(FcDirect *direct, char *pages);

/* Sets append->block, from which on so many pages have their place */
extern void fc_direct_reserve(FcDirect *direct, FcAppend *append, int npages);

/*
 * Writes pages to the place that they have.  Their memory, which
 * fc_direct_take gave, is taken back when they are in the file: at once, or
 * after a write in flight.
 */
extern void fc_direct_write(FcDirect *direct, FcAppend *append);

/* At the end of the phase: waits until all pages are in their files */
extern void fc_direct_finish(FcContext *ctx);

#endif							/* FC_PAGE_DIRECT_H */
