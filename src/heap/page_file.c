/*-------------------------------------------------------------------------
 *
 * heap/page_file.c
 *	  Appends pages to a table's new file: WAL, the file, the checkpointer.
 *
 *	 batch of pages ──► log: images in WAL ──► write: cut at the borders of
 *		segments, one write each ──► settle: "sync this file"
 *
 * smgrextend writes a page per call.  One write of many pages spares calls,
 * and lets the file system take memory for all of them at once.  Core gives no
 * access to the files that it has open, so that a process opens a segment by
 * its name, for the length of one write.
 *
 * WAL.  Core's RelationNeedsWAL decides.  A page may reach the disk before its
 * WAL does, unlike in shared buffers: nothing refers to the file without the
 * commit record, which comes after both.
 *
 * Checkpoints.  Replay begins at a checkpoint's redo pointer.  That checkpoint
 * must have synced the file with all pages in it whose WAL is before the
 * pointer.  So a process writes the pages, then tells the checkpointer of the
 * file, and then looks at the redo pointer.  If that is not beyond the pages'
 * WAL record yet, any checkpoint that moves it there begins its syncs later,
 * and knows the file.  If it is, the checkpoint may have missed the pages: the
 * process logs them once more, which is rare.  No checkpoint ever has to wait.
 *
 * No WAL.  Under wal_level=minimal commit syncs the file (or logs all of it,
 * if it is small); the kernel is asked to begin writing at once, so that
 * commit has less to wait for.  An unlogged table must be on disk after a
 * clean shutdown: the checkpointer is told of it, too.
 *
 * Segments.  The leader has made the first (heap/page_new.c), smgrextend makes
 * the others.  No process has the number of blocks cached: smgrnblocks asks
 * the kernel.
 *
 * Errors.  The end of the (sub)transaction closes the descriptor, and deletes
 * the file with what was written to it.  Part of a page at the end is no page
 * to smgrnblocks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"

#include "compat/compat.h"
#include "grammar/segment.h"
#include "heap/page_file.h"

/* The name of the file that a block is in, or will be */
static char *
fc_file_path(const FcAppend *append, BlockNumber block)
{
	char	   *path = fc_locator_path(&append->file, append->fork);
	char	   *segment;

	if (block < RELSEG_SIZE)
		return path;
	segment = psprintf("%s.%u", path, block / RELSEG_SIZE);
	pfree(path);
	return segment;
}

/* Writes all bytes; goes on after a short write, to get the error behind it */
static void
fc_file_write_bytes(int fd, const char *path, const char *data, size_t len, off_t at)
{
	while (len > 0)
	{
		ssize_t		n;

		/* if the kernel gives no reason, the disk is most likely full */
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

/* Writes pages that are all of one segment */
static void
fc_file_write_run(const FcAppend *append, char *pages, BlockNumber block, uint32 n)
{
	char	   *path = fc_file_path(append, block);
	int			fd;

	if (block > 0 && block % RELSEG_SIZE == 0)
		smgrextend(fc_smgr_open(&append->file), append->fork, block, pages, true);
	fd = OpenTransientFile(path, O_WRONLY | PG_BINARY);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	fc_file_write_bytes(fd, path, pages, (size_t) n * BLCKSZ, fc_file_offset(block));
	if (CloseTransientFile(fd) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", path)));
	pfree(path);
}

void
fc_file_write(const FcAppend *append)
{
	BlockNumber block = append->block;
	BlockNumber end = block + append->n;

	while (block < end)
	{
		uint32		run = fc_segment_run(block, end - block, RELSEG_SIZE);

		fc_file_write_run(append, append->pages + (Size) (block - append->block) * BLCKSZ,
						  block, run);
		block += run;
	}
}

/* Sets append->block.  The caller holds the lock for extension. */
static void
fc_file_find_end(FcAppend *append)
{
	append->block = smgrnblocks(fc_smgr_open(&append->file), append->fork);
	if (append->n > InvalidBlockNumber - append->block)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot extend relation %s beyond %u blocks",
						RelationGetRelationName(append->rel), InvalidBlockNumber)));
}

static Page
fc_append_page(const FcAppend *append, int i)
{
	return (Page) (append->pages + (Size) i * BLCKSZ);
}

/* Logs images of the pages; each page gets the LSN of its record */
static void
fc_file_log_images(FcAppend *append)
{
	Page		pages[FC_PAGE_BATCH];
	BlockNumber blocks[FC_PAGE_BATCH];

	for (int i = 0; i < append->n; i++)
	{
		pages[i] = fc_append_page(append, i);
		blocks[i] = append->block + i;
	}
	log_newpages(&append->file, append->fork, append->n, blocks, pages,
				 append->standard);
}

void
fc_file_log(FcAppend *append)
{
	if (append->place)
	{
		for (int i = 0; i < append->n; i++)
			append->place(fc_append_page(append, i), append->block + i);
	}
	if (RelationNeedsWAL(append->rel))
		fc_file_log_images(append);
	for (int i = 0; i < append->n; i++)
		PageSetChecksumInplace(fc_append_page(append, i), append->block + i);
}

void
fc_file_settle(FcAppend *append)
{
	Relation	rel = append->rel;
	BlockNumber last = append->block + append->n - 1;

	if (!RelationNeedsWAL(rel) &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED)
		return;
	for (BlockNumber segment = append->block / RELSEG_SIZE;
		 segment <= last / RELSEG_SIZE; segment++)
		fc_register_sync(&append->file, append->fork, segment);
	/* the first page's LSN is the end of the first record */
	if (RelationNeedsWAL(rel) &&
		GetRedoRecPtr() >= PageGetLSN(fc_append_page(append, 0)))
		fc_file_log_images(append);
}

/*
 * Other processes of the load may append to the same file: they exclude each
 * other by the lock under which core extends a table.
 */
void
fc_file_append(FcAppend *append)
{
	Relation	rel = append->rel;

	LockRelationForExtension(rel, ExclusiveLock);
	fc_file_find_end(append);
	fc_file_log(append);
	fc_file_write(append);
	UnlockRelationForExtension(rel, ExclusiveLock);
	fc_file_settle(append);
	if (!RelationNeedsWAL(rel) &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED)
		smgrwriteback(fc_smgr_open(&append->file), append->fork, append->block, append->n);
}

/*
 * Makes the file longer, so that the write after this does not.  If that
 * cannot be done returns false, and the file is as long as before.
 */
static bool
fc_file_lengthen(int fd, const char *path, off_t from, off_t len)
{
	if (fallocate(fd, 0, from, len) == 0)
		return true;
	/* on a full disk it may have become longer by a part */
	if (ftruncate(fd, from) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not truncate file \"%s\": %m", path)));
	return false;
}

/* Opens the file for direct I/O and makes it longer; -1 if either fails */
static int
fc_file_open_direct(const FcAppend *append)
{
	char	   *path = fc_file_path(append, append->block);
	int			fd = OpenTransientFile(path, O_WRONLY | PG_BINARY | O_DIRECT);

	if (fd >= 0 && !fc_file_lengthen(fd, path, fc_file_offset(append->block),
									 (off_t) append->n * BLCKSZ))
	{
		CloseTransientFile(fd);
		fd = -1;
	}
	pfree(path);
	return fd;
}

int
fc_file_reserve(FcAppend *append)
{
	int			fd = -1;

	LockRelationForExtension(append->rel, ExclusiveLock);
	fc_file_find_end(append);
	/* only in a segment that is there and has room for all pages */
	if ((append->block == 0 || append->block % RELSEG_SIZE != 0) &&
		fc_segment_run(append->block, append->n, RELSEG_SIZE) == append->n)
		fd = fc_file_open_direct(append);
	UnlockRelationForExtension(append->rel, ExclusiveLock);
	return fd;
}
