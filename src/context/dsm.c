/*-------------------------------------------------------------------------
 *
 * context/dsm.c
 *	  Segments of shared memory, of which a crash leaves nothing behind.
 *
 * 1. dsm_create() makes a segment of one page, and writes it down in the
 *    server's control segment.
 * 2. The segment is pinned and detached, and its file gets all the memory.
 * 3. The segment is attached again, and unpinned.
 *
 * It belongs to the current resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "libpq/pqsignal.h"
#include "storage/dsm_impl.h"

#include "context/process.h"

/*
 * What a crash may leave: a page of the machine's memory.  dsm_create() takes
 * all the memory for a file in /dev/shm, and only then writes the segment
 * down: the server removes only segments that are written down, after a crash,
 * and others stay until somebody removes them by hand.
 */
#define FC_DSM_FIRST	((Size) 4096)

/*
 * As little as this may be left, as by a parallel query, and in one step costs
 * a load of few rows less
 */
#define FC_DSM_SMALL	((Size) 64 * 1024)

/*
 * Grows the segment's file to this size; returns an errno, or 0.  ENOENT: core
 * has the segment elsewhere, as in memory that the server got when it started.
 */
static int
fc_dsm_grow(dsm_handle handle, Size size)
{
	char		name[32];
	sigset_t	old;
	int			fd;
	int			err;

	snprintf(name, sizeof(name), "/PostgreSQL.%u", handle);
	fd = shm_open(name, O_RDWR, 0);
	if (fd < 0)
		return errno;
	/* a signal would interrupt it */
	sigprocmask(SIG_SETMASK, &BlockSig, &old);
	pgstat_report_wait_start(WAIT_EVENT_DSM_FILL_ZERO_WRITE);
	do
		err = posix_fallocate(fd, 0, size);
	while (err == EINTR);
	pgstat_report_wait_end();
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd);
	return err;
}

/*
 * Attaches the pinned segment, which is unpinned in any case: a pin that an
 * error outlived would keep it for good
 */
static dsm_segment *
fc_dsm_attach(dsm_handle handle)
{
	dsm_segment *volatile segment = NULL;

	PG_TRY();
	{
		segment = dsm_attach(handle);
	}
	PG_CATCH();
	{
		dsm_unpin_segment(handle);
		PG_RE_THROW();
	}
	PG_END_TRY();
	dsm_unpin_segment(handle);
	Assert(segment != NULL);
	return segment;
}

dsm_segment *
fc_dsm_create(Size size, int flags)
{
	dsm_segment *segment;
	dsm_handle	handle;
	int			err;

	if (dynamic_shared_memory_type != DSM_IMPL_POSIX || size <= FC_DSM_SMALL)
		return dsm_create(size, flags);
	segment = dsm_create(FC_DSM_FIRST, flags);
	if (segment == NULL)
		return NULL;
	handle = dsm_segment_handle(segment);
	dsm_pin_segment(segment);
	dsm_detach(segment);
	err = fc_dsm_grow(handle, size);
	if (err == 0)
		return fc_dsm_attach(handle);
	dsm_unpin_segment(handle);
	if (err == ENOENT)
		return dsm_create(size, flags);
	errno = err;
	fc_file_error(errmsg("could not resize shared memory segment \"/PostgreSQL.%u\" to %zu bytes: %m",
						 handle, size));
}
