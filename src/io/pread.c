/*-------------------------------------------------------------------------
 *
 * io/pread.c
 *	  Reads in key order by preadv, for where io_uring is not granted.
 *
 * The queue is a circle of requests in the order in which they came.  Only
 * next() reads: between two calls the kernel's read-ahead works while the
 * caller is busy.  Nothing is in flight between calls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "compat/compat.h"
#include "io/io.h"
#include "port/pg_iovec.h"
#include "portability/instr_time.h"

/* A read is slow if it takes longer than this, and longer than 2 GB/s */
#define FC_SYNC_SLOW_US		30
#define FC_SYNC_BYTES_PER_US	2000

/* Requests announced after a slow read */
#define FC_SYNC_ANNOUNCE	256

typedef struct FcSync
{
	int			depth;
	uint64		head;			/* the first request that waits */
	uint64		tail;			/* after the last; both only grow */
	uint64		announced;		/* requests before this one are announced */
	int			announce;		/* so many more are to be announced */
	FcRequest **requests;		/* depth of them */
} FcSync;

void
fc_io_failed(const FcRequest *req, int err)
{
	if (err != 0)
	{
		errno = err;
		fc_file_error(errmsg("could not read file \"%s\": %m", req->path));
	}
	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("file \"%s\" changed while it was being loaded", req->path),
			 errdetail("Nothing was read at byte %llu, but the file had data up to byte %llu.",
					   (unsigned long long) (req->offset + req->done),
					   (unsigned long long) (req->offset + req->len)));
}

static void *
fc_sync_open(const char *path, int depth, int *err)
{
	FcSync	   *sync = palloc0(sizeof(FcSync));

	sync->depth = depth;
	sync->requests = palloc(depth * sizeof(FcRequest *));
	*err = 0;
	return sync;
}

static FcRequest **
fc_sync_slot(FcSync *sync, uint64 number)
{
	return &sync->requests[number % sync->depth];
}

static void
fc_sync_queue(void *io, FcRequest *req)
{
	FcSync	   *sync = io;

	if (sync->tail - sync->head >= (uint64) sync->depth)
		elog(ERROR, "read queue is full");
	Assert(req->len > 0);
	req->done = 0;
	*fc_sync_slot(sync, sync->tail) = req;
	sync->tail++;
}

/* Tells the kernel, after a slow read, what next() will read */
static void
fc_sync_announce(FcSync *sync)
{
#ifdef USE_POSIX_FADVISE
	for (; sync->announced < sync->tail && sync->announce > 0; sync->announce--)
	{
		FcRequest  *req = *fc_sync_slot(sync, sync->announced++);

		/* advice only: the read itself will meet any error */
		(void) posix_fadvise(req->fd, req->offset, req->len,
							 POSIX_FADV_WILLNEED);
	}
#endif
}

/*
 * Judges by a read's time whether it came from the page cache.  If not, the
 * next requests are announced, and the kernel reads them together.
 *
 * For a cached file an announcement costs as much as the read itself, so that
 * each slow read pays for a limited number only.
 */
static void
fc_sync_judge(FcSync *sync, instr_time start, size_t bytes)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	if (INSTR_TIME_GET_MICROSEC(now) <
		FC_SYNC_SLOW_US + bytes / FC_SYNC_BYTES_PER_US)
		return;

	if (sync->announce == 0)
		sync->announced = sync->head + 1;
	sync->announce = FC_SYNC_ANNOUNCE;
	fc_sync_announce(sync);
}

/* Reads bytes of the first waiting request, by one call */
static void
fc_sync_read(FcSync *sync, FcRequest *req)
{
	struct iovec rest = {req->buf + req->done, req->len - req->done};
	instr_time	start;
	ssize_t		got;

	CHECK_FOR_INTERRUPTS();

	INSTR_TIME_SET_CURRENT(start);
	pgstat_report_wait_start(fc_wait_event(FC_WAIT_READ));
	got = pg_preadv(req->fd, &rest, 1, req->offset + req->done);
	pgstat_report_wait_end();

	if (got > 0)
	{
		req->done += got;
		fc_sync_judge(sync, start, got);
	}
	else if (got == 0)
		fc_io_failed(req, 0);
	else if (errno != EINTR && errno != EAGAIN)
		fc_io_failed(req, errno);
}

static FcRequest *
fc_sync_next(void *io, bool wait)
{
	FcSync	   *sync = io;
	FcRequest  *req;

	if (wait)
		fc_sync_announce(sync);
	if (sync->head == sync->tail)
		return NULL;
	req = *fc_sync_slot(sync, sync->head);
	while (req->done < req->len)
		fc_sync_read(sync, req);
	sync->head++;
	return req;
}

static void
fc_sync_close(void *io)
{
	pfree(((FcSync *) io)->requests);
	pfree(io);
}

const FcIoMethod fc_io_sync = {
	.open = fc_sync_open,
	.queue = fc_sync_queue,
	.next = fc_sync_next,
	.close = fc_sync_close
};
