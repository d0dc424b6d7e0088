/*-------------------------------------------------------------------------
 *
 * io/pread.c
 *	  Reads in key order by preadv, for where io_uring is not granted.
 *
 * The queue is a circle of requests in the order in which they came:
 *
 *	head .. done	 read, not yet handed out
 *	done .. tail	 waiting
 *
 * Only next() reads: between two calls the kernel's read-ahead works while the
 * caller is busy.  Nothing is in flight between calls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "compat/compat.h"
#include "io/io.h"
#include "miscadmin.h"
#include "port/pg_iovec.h"
#include "portability/instr_time.h"
#include "utils/wait_event.h"

/* A read is slow if it takes longer than this, and longer than 2 GB/s */
#define FC_SYNC_SLOW_US		30
#define FC_SYNC_BYTES_PER_US	2000

/* Requests announced after a slow read */
#define FC_SYNC_ANNOUNCE	256

typedef struct FcSync
{
	int			depth;
	uint64		head;			/* these three only grow, see fc_sync_slot */
	uint64		done;
	uint64		tail;
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
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read file \"%s\": %m", req->path)));
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" changed while it was being loaded", req->path),
			 errdetail("Nothing was read at byte %llu, but the file had data up to byte %llu.",
					   (unsigned long long) (req->offset + req->done),
					   (unsigned long long) (req->offset + req->len))));
}

static void *
fc_sync_open(int fd, const char *path, int depth, int *err)
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

/* Collects the waiting requests that one call can read; returns how many */
static int
fc_sync_gather(FcSync *sync, struct iovec *iov)
{
	FcRequest  *prev = NULL;
	uint64		i;
	int			n = 0;

	for (i = sync->done; i != sync->tail && n < PG_IOV_MAX; i++)
	{
		FcRequest  *req = *fc_sync_slot(sync, i);

		if (prev != NULL && (req->fd != prev->fd ||
							 req->offset != prev->offset + prev->len))
			break;
		iov[n].iov_base = req->buf + req->done;
		iov[n].iov_len = req->len - req->done;
		n++;
		prev = req;
	}
	Assert(n > 0);
	return n;
}

/* Credits the waiting requests with bytes read, in order. */
static void
fc_sync_credit(FcSync *sync, size_t bytes)
{
	while (bytes > 0)
	{
		FcRequest  *req = *fc_sync_slot(sync, sync->done);
		size_t		take = Min(bytes, req->len - req->done);

		req->done += take;
		bytes -= take;
		if (req->done == req->len)
			sync->done++;
	}
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
		sync->announced = sync->done;
	sync->announce = FC_SYNC_ANNOUNCE;
	fc_sync_announce(sync);
}

/* Reads the first waiting request, and those that touch it, by one call. */
static void
fc_sync_read(FcSync *sync)
{
	struct iovec iov[PG_IOV_MAX];
	FcRequest  *req = *fc_sync_slot(sync, sync->done);
	off_t		offset = req->offset + req->done;
	int			n = fc_sync_gather(sync, iov);
	instr_time	start;
	ssize_t		got;

	CHECK_FOR_INTERRUPTS();

	INSTR_TIME_SET_CURRENT(start);
	pgstat_report_wait_start(fc_wait_event(FC_WAIT_READ));
	if (n == 1)
		got = pread(req->fd, iov[0].iov_base, iov[0].iov_len, offset);
	else
		got = pg_preadv(req->fd, iov, n, offset);
	pgstat_report_wait_end();

	if (got > 0)
	{
		fc_sync_credit(sync, got);
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

	if (wait)
		fc_sync_announce(sync);
	while (sync->head == sync->done)
	{
		if (sync->done == sync->tail)
			return NULL;
		fc_sync_read(sync);
	}
	Assert(sync->head < sync->done && sync->done <= sync->tail);
	return *fc_sync_slot(sync, sync->head++);
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
