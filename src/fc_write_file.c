/*-------------------------------------------------------------------------
 *
 * fc_write_file.c
 *	  Pages to the end of a table's file, many in a write.
 *
 *	 batch of pages ──► cut at the borders of segments ──► one write each
 *		──► the last page once more, through core: "sync this file"
 *
 * smgrextend writes a page per call.  One write of many spares calls, and the
 * file system takes memory for many pages at once, in large pieces: that is
 * what a write into a new file mostly costs.  Core gives no access to the
 * files that it holds open, so that this opens a segment by its name, for the
 * length of one call.
 *
 * New segments.  smgrextend makes the file; from then on it is there for
 * everybody.  The table's first segment is as old as the table.  Nobody has
 * the number of blocks cached: smgrnblocks asks the kernel.
 *
 * Sync.  The checkpointer must be told of a segment behind the last write to
 * it: if told before, a checkpoint that is on its way would sync the file,
 * forget about it, and the rest would be nobody's.  Core tells it when a page
 * is written, and so the last one is, again, over what it already is.
 *
 * Errors.  The descriptor is closed by the end of the (sub)transaction.  What
 * was written of the pages remains in the file, like what smgrextend wrote
 * before an error; part of a page at the end is no page to smgrnblocks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "pgstat.h"
#include "storage/fd.h"
#include "storage/smgr.h"

#include "fc_compat.h"
#include "fc_segment.h"
#include "fc_write_file.h"

/* The name of the file that a block is in, or will be */
static char *
fc_file_path(Relation rel, ForkNumber fork, BlockNumber block)
{
	char	   *path = fc_relation_path(rel, fork);
	char	   *segment;

	if (block < RELSEG_SIZE)
		return path;
	segment = psprintf("%s.%u", path, block / RELSEG_SIZE);
	pfree(path);
	return segment;
}

/* ERROR unless all bytes get there; a short write goes on to meet its error */
static void
fc_file_write(int fd, const char *path, const char *data, size_t len, off_t at)
{
	while (len > 0)
	{
		ssize_t		n;

		/* where the kernel gives no reason, it is most likely this one */
		errno = ENOSPC;
		pgstat_report_wait_start(WAIT_EVENT_DATA_FILE_EXTEND);
		n = pwrite(fd, data, len, at);
		pgstat_report_wait_end();
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not extend file \"%s\": %m", path),
					 errhint("Check free disk space.")));
		data += n;
		at += n;
		len -= n;
	}
}

/* Pages that are all of one segment */
static void
fc_file_append_run(Relation rel, ForkNumber fork, const char *pages,
				   BlockNumber block, uint32 n, bool sync)
{
	SMgrRelation smgr = RelationGetSmgr(rel);
	BlockNumber in_segment = block % RELSEG_SIZE;
	char	   *path = fc_file_path(rel, fork, block);
	int			fd;

	if (block > 0 && in_segment == 0)
		smgrextend(smgr, fork, block, (char *) pages, true);
	fd = OpenTransientFile(path, O_WRONLY | PG_BINARY);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	fc_file_write(fd, path, pages, (size_t) n * BLCKSZ, (off_t) in_segment * BLCKSZ);
	if (CloseTransientFile(fd) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", path)));
	pfree(path);
	if (sync)
		smgrwrite(smgr, fork, block + n - 1,
				  (char *) pages + (Size) (n - 1) * BLCKSZ, false);
}

void
fc_file_append(Relation rel, ForkNumber fork, const char *pages,
			   BlockNumber block, uint32 n, bool sync)
{
	if (n > InvalidBlockNumber - block)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot extend relation %s beyond %u blocks",
						RelationGetRelationName(rel), InvalidBlockNumber)));
	while (n > 0)
	{
		uint32		run = fc_segment_run(block, n, RELSEG_SIZE);

		fc_file_append_run(rel, fork, pages, block, run, sync);
		pages += (Size) run * BLCKSZ;
		block += run;
		n -= run;
	}
}
