/*-------------------------------------------------------------------------
 *
 * heap/page_file.c
 *	  Appends pages to a table's new file: WAL, the file, the checkpointer.
 *
 *	reserve: the file gets longer by n pages ──► each batch of them
 *		──► log (heap/page_log.c) ──► write: cut at the borders of segments,
 *		one write each ──► settle: "sync this file"
 *
 * Several processes append to one file.  They reserve blocks under the lock
 * with which core extends a table, then log and write them without it, all at
 * the same time.  Until then the blocks are zeros, in a file that no session
 * can read yet (heap/page_new.c).
 *
 * Core's RelationNeedsWAL decides about WAL.  A page may reach the disk before
 * its WAL does, unlike in shared buffers: nothing refers to the file without
 * the commit record, which comes after both.
 *
 * The end of the (sub)transaction closes the descriptor and, if it aborts,
 * deletes the file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "heap/append.h"
#include "heap/file_run.h"
#include "source/source.h"

/* The name of the file that a block is in, or will be */
static char *
fc_file_path(const FcAppend *append, BlockNumber block)
{
	char	   *path = fc_locator_path(&append->file, append->fork);

	return block < RELSEG_SIZE ? path : psprintf("%s.%u", path, block / RELSEG_SIZE);
}

/*
 * Writes all bytes; after a short write writes the rest, to get the error.
 * False, with errno, if they cannot be written.
 */
static bool
fc_file_write_bytes(int fd, const char *data, size_t len, off_t at)
{
	Assert(len > 0 && len % BLCKSZ == 0 && at >= 0 && at % BLCKSZ == 0);
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
			return false;
		data += n;
		at += n;
		len -= n;
	}
	return true;
}

/*
 * Writes n pages from this block on; or makes the file longer by them, if
 * "pages" is NULL.  Opens each segment by its name: core gives no access to the
 * files that it has open.  The leader makes the first segment
 * (heap/page_new.c), and the process that reserves the first block of a later
 * one makes that.
 */
static void
fc_file_extend(const FcAppend *append, BlockNumber block, uint32 n, const char *pages)
{
	while (n > 0)
	{
		uint32		run = fc_file_run(block, n, RELSEG_SIZE);
		size_t		len = (size_t) run * BLCKSZ;
		off_t		at = (off_t) (block % RELSEG_SIZE) * BLCKSZ;
		char	   *path = fc_file_path(append, block);
		int			flags = block > 0 && block % RELSEG_SIZE == 0 ? O_CREAT : 0;
		int			fd = OpenTransientFile(path, O_WRONLY | PG_BINARY | flags);

		if (fd < 0)
			fc_file_error(errmsg("could not open file \"%s\": %m", path));
		if (pages ? !fc_file_write_bytes(fd, pages, len, at) : ftruncate(fd, at + len) != 0)
			fc_file_error(errmsg("could not extend file \"%s\": %m", path),
						  errhint("Check free disk space."));
		if (CloseTransientFile(fd) != 0)
			fc_file_error(errmsg("could not close file \"%s\": %m", path));
		pfree(path);
		pages = pages ? pages + len : NULL;
		block += run;
		n -= run;
	}
}

/*
 * When the pages are in the file: makes sure that a checkpoint syncs it.
 *
 * Replay begins at a checkpoint's redo pointer, and the checkpoint must have
 * synced all pages whose WAL is before the pointer.  So the process writes the
 * pages, then registers the file with the checkpointer, then reads the
 * pointer.  No checkpoint ever has to wait.
 */
static void
fc_file_settle(FcAppend *append)
{
	BlockNumber last = append->block + append->n - 1;

	for (BlockNumber segment = append->block / RELSEG_SIZE;
		 segment <= last / RELSEG_SIZE; segment++)
		fc_register_sync(&append->file, append->fork, segment);

	/*
	 * If the pointer is not beyond the pages' WAL, a checkpoint that moves it
	 * there begins its syncs later, and knows the file.  If it is, the
	 * checkpoint may have missed the pages: they are logged once more, which
	 * is rare.  The first page's LSN is the end of the first record.
	 */
	if (RelationNeedsWAL(append->rel) &&
		GetRedoRecPtr() >= PageGetLSN(fc_append_page(append, 0)))
		fc_log_pages(append);
}

/*
 * One write of many pages spares calls of smgrextend, and lets the file system
 * allocate memory for all of them at once.  If commit syncs the file, the
 * kernel is told to write now, and commit waits for less.
 */
void
fc_file_append(FcAppend *append)
{
	Assert(append->pages != NULL && append->block < InvalidBlockNumber - append->n);
	Assert(append->n > 0 && append->n <= FC_PAGE_BATCH);
	for (int i = 0; i < append->n && append->fork == MAIN_FORKNUM; i++)
		fc_append_place(append, i, append->block + i);
	if (RelationNeedsWAL(append->rel))
		fc_log_pages(append);
	for (int i = 0; i < append->n; i++)
		fc_page_set_checksum(fc_append_page(append, i), append->block + i);
	/* its blocks were reserved */
	Assert(smgrnblocks(fc_smgr_open(&append->file), append->fork) >= append->block + append->n);
	fc_file_extend(append, append->block, append->n, append->pages);

	/*
	 * Without WAL, under wal_level=minimal, only the commit syncs the table's
	 * files, or logs them, if small.  An unlogged table must be on disk after
	 * a clean shutdown: the checkpointer syncs it.
	 */
	if (!RelationNeedsWAL(append->rel) &&
		append->rel->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED)
		smgrwriteback(fc_smgr_open(&append->file), append->fork, append->block, append->n);
	else
		fc_file_settle(append);
}

/*
 * No process has the number of blocks cached: smgrnblocks asks the kernel.
 */
void
fc_file_reserve(FcAppend *append, uint32 n)
{
	Assert(n > 0 && CheckRelationLockedByMe(append->rel, RowExclusiveLock, true));
	LockRelationForExtension(append->rel, ExclusiveLock);
	append->block = smgrnblocks(fc_smgr_open(&append->file), append->fork);
	if (n > InvalidBlockNumber - append->block)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("cannot extend relation %s beyond %u blocks",
														RelationGetRelationName(append->rel), InvalidBlockNumber));
	fc_file_extend(append, append->block, n, NULL);
	UnlockRelationForExtension(append->rel, ExclusiveLock);
}
