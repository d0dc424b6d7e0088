/*-------------------------------------------------------------------------
 *
 * heap/page_direct.c
 *	  Batches of pages on their way to the disk while more are formed.
 *
 *	 take ──► (pages are formed) ──► reserve ──► log ──┬─► write in flight
 *		^                                              └─► through the cache
 *		└────────────────────────────────── settle, give ◄───────┘
 *
 * Pages that the load will not read again need not be in the kernel's cache.
 * A write into it takes new memory for all of them, which costs more than
 * anything else that the page writer does.  A direct write takes none, and
 * copies nothing; but it has to wait for the disk, so that the process leaves
 * it in flight (io_uring) and forms the next batch meanwhile.
 *
 * A process never waits for room: when FC_DIRECT_DEPTH writes are in flight
 * the disk is slower than the process, and the batch goes through the cache.
 * More of them would be in the way of the WAL, which has to reach the disk
 * before commit, and the pages need not.
 *
 * The leader allows direct writes (FcSharedIo.direct) if no index is built of
 * the pages after the load, no statistics are wanted, and io_uring is there
 * and not switched off.  Where the file system knows no direct I/O all pages go
 * through the cache.  The pages of a direct write that fails are written again
 * in that way, which meets the error.  A kernel does writes that extend a file
 * one by one, so that the file is made longer before; and room for it is taken
 * earlier still, because that waits for writes in flight (heap/page_file.c).
 *
 * A writer that ends does not wait for its last writes: fc_direct_finish waits
 * for all of the phase.
 *
 * The memory of batches is kept for the phase, not for one table only, and is
 * as much as the process had in use at one time.  It lives in the phase's
 * context, as io_uring's ring does; the end of that context waits for what is
 * in flight.  The descriptors are transient ones: the end of the
 * (sub)transaction closes them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/fd.h"
#include "utils/memutils.h"

#include "heap/insert.h"
#include "heap/page_direct.h"
#include "io/io.h"

/* Writes in flight of one process */
#define FC_DIRECT_DEPTH	1

/* Pages that are worth a direct write */
#define FC_DIRECT_PAGES	8

typedef struct FcFlight
{
	FcRequest	request;
	FcAppend	append;			/* rel is NULL: not in use */
	ResourceOwner owner;		/* of the reference to rel */
} FcFlight;

/* The beginning of a batch's memory while it is free */
typedef struct FcFreeBatch
{
	struct FcFreeBatch *next;
} FcFreeBatch;

struct FcDirect
{
	MemoryContext mcxt;
	FcIo	   *io;				/* NULL: all goes through the cache */
	FcFreeBatch *free;
	int			nflights;
	FcFlight	flights[FC_DIRECT_DEPTH];
};

FcDirect *
fc_direct_begin(FcContext *ctx)
{
	if (ctx->direct == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(ctx->mcxt);
		FcDirect   *direct = palloc0(sizeof(FcDirect));
		int			err;

		direct->mcxt = ctx->mcxt;
		if (ctx->shared->io.direct)
			direct->io = fc_io_uring_writes.open(-1, NULL, FC_DIRECT_DEPTH, &err);
		ctx->direct = direct;
		MemoryContextSwitchTo(old);
	}
	return ctx->direct;
}

void
fc_direct_give(FcDirect *direct, char *pages)
{
	FcFreeBatch *batch = (FcFreeBatch *) pages;

	batch->next = direct->free;
	direct->free = batch;
}

/* A write has ended; if it was short all its pages are written again */
static void
fc_direct_land(FcDirect *direct, FcRequest *request)
{
	FcFlight   *flight = request->owner;

	CloseTransientFile(request->fd);
	if (request->done < request->len)
		fc_file_write(&flight->append);
	fc_file_settle(&flight->append);
	fc_direct_give(direct, flight->append.pages);
	fc_relation_release(flight->append.rel, flight->owner);
	flight->append.rel = NULL;
	direct->nflights--;
}

/* Takes up writes that have ended; with "wait", waits for all */
static void
fc_direct_reap(FcDirect *direct, bool wait)
{
	FcRequest  *request;

	while (direct->nflights > 0 &&
		   (request = fc_io_uring_writes.next(direct->io, wait)) != NULL)
		fc_direct_land(direct, request);
}

char *
fc_direct_take(FcDirect *direct)
{
	FcFreeBatch *batch;

	fc_direct_reap(direct, false);
	batch = direct->free;
	if (batch == NULL)
		return fc_page_align(MemoryContextAlloc(direct->mcxt,
												FC_PAGE_BATCH * BLCKSZ + FC_PAGE_ALIGN));
	direct->free = batch->next;
	return (char *) batch;
}

void
fc_direct_reserve(FcDirect *direct, FcAppend *append, int npages)
{
	fc_file_reserve(append, npages, direct->io != NULL);
}

/* Puts the pages in flight; false if that is not possible now */
static bool
fc_direct_send(FcDirect *direct, const FcAppend *append)
{
	FcFlight   *flight = direct->flights;
	int			fd;

	fc_direct_reap(direct, false);
	if (direct->io == NULL || direct->nflights == FC_DIRECT_DEPTH)
		return false;
	fd = fc_file_open_direct(append);
	if (fd < 0)
		return false;
	while (flight->append.rel != NULL)
		flight++;
	/* its writer may end before the flight */
	flight->append = *append;
	flight->owner = fc_relation_hold(append->rel);
	flight->request.fd = fd;
	flight->request.offset = fc_file_offset(append->block);
	flight->request.buf = append->pages;
	flight->request.len = append->n * BLCKSZ;
	flight->request.owner = flight;
	if (!fc_io_uring_writes.queue(direct->io, &flight->request))
		elog(ERROR, "no room for a write in flight");
	direct->nflights++;
	fc_io_uring_writes.submit(direct->io);
	return true;
}

void
fc_direct_write(FcDirect *direct, FcAppend *append)
{
	fc_file_log(append);
	if (append->n >= FC_DIRECT_PAGES && fc_direct_send(direct, append))
		return;
	fc_file_write(append);
	fc_file_settle(append);
	fc_direct_give(direct, append->pages);
}

void
fc_direct_finish(FcContext *ctx)
{
	if (ctx->direct)
		fc_direct_reap(ctx->direct, true);
}
