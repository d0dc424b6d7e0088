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

/* Gives memory for FC_PAGE_BATCH pages, aligned for I/O, and takes it back */
extern char *fc_direct_take(FcDirect *direct);
extern void fc_direct_give(FcDirect *direct, char *pages);

/* Reserves so many blocks of the file; append->block is the first of them */
extern void fc_direct_reserve(FcDirect *direct, FcAppend *append, int npages);

/*
 * Logs and writes pages whose blocks are reserved.  Takes back their memory,
 * which fc_direct_take gave, when they are in the file: at once, or when a
 * write in flight has ended.
 */
extern void fc_direct_write(FcDirect *direct, FcAppend *append);

/* At the end of the phase: waits until all pages are in their files */
extern void fc_direct_finish(FcContext *ctx);

#endif							/* FC_PAGE_DIRECT_H */
