/*-------------------------------------------------------------------------
 *
 * heap/page_direct.c
 *	  Batches of pages on their way to the disk while more are formed.
 *
 *	 take ──► (pages are formed) ──► append ──┬─► reserve, log, write in flight
 *		^									  │				  │
 *		│									  └─► through the │ cache, at once
 *		└──────────────── settle, give ◄──────────────────────┘
 *
 * Pages that the load will not read again need no memory but their own.  A
 * write into the file system's cache takes new memory for all of them, which
 * costs more than anything else the page writer does; a direct write takes
 * none, and the kernel copies nothing.  What it costs is the wait for the
 * disk, so that it is left in flight (io_uring) while the next batch is
 * formed.
 *
 * There is never a wait for room: when FC_DIRECT_DEPTH writes are in flight,
 * the disk is slower than this process, and the batch goes through the cache.
 *
 * Only where the leader says so (FcShared.direct): no index is built of the
 * pages after the load, no statistics are wanted, io_uring is there and not
 * switched off.  Where the file system knows no direct I/O, or no fallocate,
 * all goes through the cache.  A direct write that fails is done again in that
 * way, which meets its error.
 *
 * A file is made longer before it is written to, under the lock for extension,
 * so that no process has to wait for the write itself; until then the new
 * blocks are zeros, in a file that no session can read yet
 * (heap/page_new.c).  Kernels also handle writes that extend a file one by
 * one.
 *
 * A writer that is done does not wait for its last writes, or each slice would
 * hold up the next: they are waited for at the end of the phase.
 *
 * The memory of batches, new for every table otherwise, is kept for the phase,
 * and is what the process had in use at one time.  It lives where the ring was
 * opened, in the phase's context, whose end waits for what is in flight.  The
 * descriptors are transient ones, closed by the end of the (sub)transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/resowner.h"

#include "heap/page_direct.h"
#include "io/io.h"

/* Writes in flight of one process */
#define FC_DIRECT_DEPTH	8

/* Pages that are worth one */
#define FC_DIRECT_PAGES	8

typedef struct FcFlight
{
	FcRequest	request;
	FcAppend	append;			/* rel is NULL: not in use */
	ResourceOwner owner;		/* of the reference to rel */
} FcFlight;

/* Memory that is free; its beginning says where there is more */
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

/* The flight's relation is kept open: its writer may be done before it */
static void
fc_direct_hold(FcFlight *flight, const FcAppend *append)
{
	flight->append = *append;
	flight->owner = CurrentResourceOwner;
	RelationIncrementReferenceCount(append->rel);
}

static void
fc_direct_release(FcFlight *flight)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = flight->owner;
	RelationDecrementReferenceCount(flight->append.rel);
	CurrentResourceOwner = owner;
	flight->append.rel = NULL;
}

/* One write has come back: whatever it lacks is written again */
static void
fc_direct_land(FcDirect *direct, FcRequest *request)
{
	FcFlight   *flight = request->owner;

	CloseTransientFile(request->fd);
	if (request->done < request->len)
		fc_file_write(&flight->append);
	fc_file_settle(&flight->append);
	fc_direct_give(direct, flight->append.pages);
	fc_direct_release(flight);
	direct->nflights--;
}

/* Takes back what has come back; with "wait", waits for all */
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

/* False, and nothing was done, if the pages cannot be sent in this way now */
static bool
fc_direct_send(FcDirect *direct, const FcAppend *append)
{
	FcFlight   *flight = direct->flights;
	int			fd;

	fc_direct_reap(direct, false);
	if (direct->io == NULL || direct->nflights == FC_DIRECT_DEPTH)
		return false;
	while (flight->append.rel != NULL)
		flight++;
	fc_direct_hold(flight, append);
	fd = fc_file_reserve(&flight->append);
	if (fd < 0)
	{
		fc_direct_release(flight);
		return false;
	}
	fc_file_log(&flight->append);
	flight->request.fd = fd;
	flight->request.offset = fc_file_offset(flight->append.block);
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
fc_direct_append(FcDirect *direct, const FcAppend *append)
{
	FcAppend	now = *append;

	if (append->n >= FC_DIRECT_PAGES && fc_direct_send(direct, append))
		return;
	fc_file_append(&now);
	fc_direct_give(direct, append->pages);
}

void
fc_direct_finish(FcContext *ctx)
{
	if (ctx->direct)
		fc_direct_reap(ctx->direct, true);
}
