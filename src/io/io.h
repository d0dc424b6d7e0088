/*-------------------------------------------------------------------------
 *
 * io/io.h
 *	  Many reads in flight: one interface, several methods.
 *
 * The caller queues requests, submits them, and takes them as they come back.
 * A read comes back whole or is an ERROR: the methods hide short reads, EINTR
 * and EAGAIN.
 *
 *	io/uring.c		through liburing
 *	io/pread.c		by preadv, where the kernel does not grant that
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_IO_H
#define FC_IO_H

/* One read.  The caller leaves it alone until it has come back. */
typedef struct FcRequest
{
	int			fd;				/* its file */
	const char *path;			/* for messages */
	uint64		offset;			/* byte in the file */
	char	   *buf;			/* len bytes */
	uint32		len;			/* bytes wanted */
	uint32		done;			/* bytes read (the method's) */
	void	   *owner;			/* the caller's own */
} FcRequest;

typedef struct FcIoMethod
{
	/*
	 * Opens a queue of "depth" requests in the current memory context, whose
	 * reset callback drains and closes it if close was not called.  Returns
	 * what the other functions take as "io"; NULL with *err = errno if the
	 * kernel refuses.
	 *
	 * The file of a read stays open until that has come back.  "path" is for
	 * error messages, and stays.
	 */
	void	   *(*open) (const char *path, int depth, int *err);
	/* Adds a request, of which at most "depth" are queued or in flight. */
	void		(*queue) (void *io, FcRequest *req);

	/*
	 * The next completed request, NULL if there is none (yet).  With "wait",
	 * hands what is queued to the kernel, and sleeps (interruptibly, under a
	 * wait event) until there is one; NULL then only if nothing is queued or in
	 * flight.
	 */
	FcRequest  *(*next) (void *io, bool wait);
	/* Waits until nothing is in flight, then closes the queue for good */
	void		(*close) (void *io);
} FcIoMethod;

extern const FcIoMethod fc_io_uring;
extern const FcIoMethod fc_io_sync;

/*
 * Raises the error of a request that cannot come back whole: err is the
 * errno, or 0 if the file ended early (55000).
 */
extern void fc_io_failed(const FcRequest *req, int err);

/* 0, or the errno with which this kernel refuses io_uring to this process */
extern int	fc_io_uring_probe(void);

/* "io_uring is disabled by ...": a sentence for errdetail about that errno */
extern const char *fc_io_uring_why(int err);

#endif							/* FC_IO_H */
