/*-------------------------------------------------------------------------
 *
 * io/uring.c
 *	  Reads in flight through the kernel's io_uring.
 *
 * One ring for each queue.  The rings cannot overflow: at most "depth"
 * requests are in the submission queue or in flight, and there is room for so
 * many.
 *
 *	queue() -> submission queue -> submit() -> kernel -> next() -> caller
 *					^									   |
 *					+----- short read, EINTR, EAGAIN ------+
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"
#include "io/io.h"
#include "storage/fd.h"

/*
 * The errno of a build without liburing (libraries.mk), whose method refuses
 * as a kernel may; no kernel gives this one here
 */
#define FC_URING_NOT_BUILT	ENOTSUP

#ifdef HAVE_URING
#include <liburing.h>

/*
 * How long one wait may last.  A signal ends a wait at once; the limit is for a
 * signal that came just before the wait.
 */
#define FC_URING_WAIT_NS	(100 * 1000 * 1000L)

/* What the probe opens */
#define FC_URING_PROBE_DEPTH	2

typedef struct FcUring
{
	struct io_uring ring;
	MemoryContextCallback callback; /* drains and closes */
	bool		is_open;		/* ring exists and an external FD is held */
	const char *path;			/* for messages */
	int			outstanding;	/* in the submission queue or in flight */
} FcUring;

static void
fc_uring_teardown(struct io_uring *ring)
{
	io_uring_queue_exit(ring);
	ReleaseExternalFD();
}

/*
 * Makes a ring and accounts for its descriptor.  0 or an errno; on 0 the
 * caller owes fc_uring_teardown.
 */
static int
fc_uring_setup(struct io_uring *ring, int depth)
{
	int			rc;

	if (!AcquireExternalFD())
		return EMFILE;

	/* one more entry: kernels before 5.11 wait by means of a timeout request */
	rc = io_uring_queue_init(depth + 1, ring, 0);
	if (rc < 0)
	{
		ReleaseExternalFD();
		return -rc;
	}

	/* came with the read operation that we use, in 5.6 */
	if ((ring->features & IORING_FEAT_RW_CUR_POS) == 0)
	{
		fc_uring_teardown(ring);
		return ENOSYS;
	}
	return 0;
}

/*
 * Waits for all requests in flight, on the error path too, and closes the
 * ring.  Cannot fail and takes no interrupts.  Requests that the kernel has
 * not seen are forgotten.
 *
 * The kernel may write to a request's buffer at any time.  So buffers live in
 * the queue's memory context or above: its children are gone before this
 * callback runs.  Frees nothing: the callback stays bound to the context.
 */
static void
fc_uring_shut(void *arg)
{
	FcUring    *uring = arg;
	int			in_flight;

	if (!uring->is_open)
		return;
	uring->is_open = false;

	in_flight = uring->outstanding - (int) io_uring_sq_ready(&uring->ring);
	while (in_flight > 0)
	{
		struct io_uring_cqe *cqe;
		int			rc;

		pgstat_report_wait_start(fc_wait_event(FC_WAIT_READ));
		rc = io_uring_wait_cqe(&uring->ring, &cqe);
		pgstat_report_wait_end();
		if (rc == 0)
		{
			io_uring_cqe_seen(&uring->ring, cqe);
			in_flight--;
		}
		else if (rc != -EINTR)
		{
			/* completions reach the ring without the failing call, too */
			pg_usleep(1000L);
		}
	}

	fc_uring_teardown(&uring->ring);
}

static void *
fc_uring_open(const char *path, int depth, int *err)
{
	FcUring    *uring = palloc0(sizeof(FcUring));

	/* what may throw comes before the ring, which nothing would close then */
	(void) fc_wait_event(FC_WAIT_READ);
	uring->path = path;
	*err = fc_uring_setup(&uring->ring, depth);
	if (*err != 0)
	{
		pfree(uring);
		return NULL;
	}
	uring->is_open = true;
	uring->callback.func = fc_uring_shut;
	uring->callback.arg = uring;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &uring->callback);
	return uring;
}

/*
 * Puts what is left of a request into the submission queue, which has room for
 * "depth".
 *
 * No IOSQE_ASYNC: the kernel copies cached data within the submission call,
 * and reads the rest without blocking there.  The flag made reads 1.6 to 2
 * times slower (64-byte rows in random order of a cached file of 300 MB, 2
 * cores, depth 64).
 */
static void
fc_uring_put(FcUring *uring, FcRequest *req)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);

	if (sqe == NULL)
		elog(ERROR, "io_uring submission queue is full");

	io_uring_prep_read(sqe, req->fd, req->buf + req->done,
					   req->len - req->done, req->offset + req->done);
	io_uring_sqe_set_data(sqe, req);
	uring->outstanding++;
}

static void
fc_uring_queue(void *io, FcRequest *req)
{
	req->done = 0;
	fc_uring_put(io, req);
}

/* ERROR unless a call succeeded, or may when it is repeated */
static void
fc_uring_check(const FcUring *uring, int rc, const char *what)
{
	if (rc >= 0 || rc == -EINTR || rc == -EAGAIN || rc == -EBUSY || rc == -ETIME)
		return;
	errno = -rc;
	fc_file_error(errmsg("could not %s reads of file \"%s\": %m", what, uring->path));
}

/*
 * Hands what is queued to the kernel.  Requests for which it lacks resources
 * stay queued until later.
 */
static void
fc_uring_submit(FcUring *uring)
{
	if (io_uring_sq_ready(&uring->ring) > 0)
		fc_uring_check(uring, io_uring_submit(&uring->ring), "submit");
}

/*
 * Takes one completion off the ring.  False if there is none; *whole is set
 * if its request is done, else the request is in the submission queue again.
 */
static bool
fc_uring_reap(FcUring *uring, FcRequest **whole)
{
	struct io_uring_cqe *cqe;
	FcRequest  *req;
	int			res;

	*whole = NULL;
	if (io_uring_peek_cqe(&uring->ring, &cqe) != 0)
		return false;

	/* the kernel may reuse the entry as soon as it is marked seen */
	req = io_uring_cqe_get_data(cqe);
	res = cqe->res;
	io_uring_cqe_seen(&uring->ring, cqe);
	uring->outstanding--;

	if (res == 0 || (res < 0 && res != -EINTR && res != -EAGAIN))
		fc_io_failed(req, -res);

	if (res > 0)
		req->done += res;
	if (req->done >= req->len)
		*whole = req;
	else
		fc_uring_put(uring, req);
	return true;
}

/* Sleeps until a completion, a signal, or a while has passed. */
static void
fc_uring_sleep(FcUring *uring)
{
	struct __kernel_timespec timeout = {0, FC_URING_WAIT_NS};
	struct io_uring_cqe *cqe;
	int			rc;

	pgstat_report_wait_start(fc_wait_event(FC_WAIT_READ));
	rc = io_uring_wait_cqe_timeout(&uring->ring, &cqe, &timeout);
	pgstat_report_wait_end();
	fc_uring_check(uring, rc, "wait for");
}

static FcRequest *
fc_uring_next(void *io, bool wait)
{
	FcUring    *uring = io;

	if (wait)
		fc_uring_submit(uring);
	while (uring->outstanding > 0)
	{
		FcRequest  *req;

		if (fc_uring_reap(uring, &req))
		{
			if (req != NULL)
				return req;
			continue;
		}

		fc_uring_submit(uring);
		if (!wait)
			return fc_uring_reap(uring, &req) ? req : NULL;

		CHECK_FOR_INTERRUPTS();
		if (io_uring_cq_ready(&uring->ring) == 0)
			fc_uring_sleep(uring);
	}
	return NULL;
}

int
fc_io_uring_probe(void)
{
	struct io_uring ring;
	int			err = fc_uring_setup(&ring, FC_URING_PROBE_DEPTH);

	if (err == 0)
		fc_uring_teardown(&ring);
	return err;
}

const FcIoMethod fc_io_uring = {
	.open = fc_uring_open,
	.queue = fc_uring_queue,
	.next = fc_uring_next,
	.close = fc_uring_shut
};

#else							/* HAVE_URING */

int
fc_io_uring_probe(void)
{
	return FC_URING_NOT_BUILT;
}

/* No load chooses it, as the probe refuses */
const FcIoMethod fc_io_uring = {0};

#endif							/* HAVE_URING */

const char *
fc_io_uring_why(int err)
{
	switch (err)
	{
		case EPERM:
		case EACCES:
			return "The kernel forbids io_uring to this process: kernel.io_uring_disabled is set, or a container's seccomp filter blocks it.";
		case ENOSYS:
			return "This kernel has no io_uring, or one without the read operation (Linux 5.6 has it), or a seccomp filter hides it.";
		case ENOMEM:
			return "io_uring could not get memory: the limit on locked memory (ulimit -l) may be too low.";
		case EMFILE:
			return "This process has too many files open: its limit (ulimit -n) or max_files_per_process is too low.";
		case ENFILE:
			return "The system has too many files open (fs.file-max).";
		case EINVAL:
			return "This kernel refuses the parameters of the ring.";
		case FC_URING_NOT_BUILT:
			return "This fast_copy was built without liburing: install liburing-dev (Debian) or liburing-devel (Fedora) and build it again.";
		default:
			return "The kernel refused to set up an io_uring queue.";
	}
}
