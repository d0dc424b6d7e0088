/*-------------------------------------------------------------------------
 *
 * compat/extend.c
 *	  Makes a table longer by many blocks at once.
 *
 * From 16 on core does that.  Core of 15 writes each page twice, first as
 * zeros: half of the kernel's work for a load.  Here the file system is asked
 * for the room of all blocks.  Their buffers are taken without a read.  An
 * abort releases descriptor, lock, pins, buffers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "storage/fd.h"

#include "compat/compat.h"

#if FC_CORE_EXTENDS_BY_MANY

int
fc_extend_buffers(Relation rel, BufferAccessStrategy strategy, int n,
				  Buffer *buffers)
{
	uint32		extended;

	(void) ExtendBufferedRelBy(BMR_REL(rel), MAIN_FORKNUM, strategy,
							   EB_LOCK_FIRST, n, buffers, &extended);
	for (uint32 i = 1; i < extended; i++)
		LockBuffer(buffers[i], BUFFER_LOCK_EXCLUSIVE);
	return extended;
}

#else

/* A single block is core's to add */
#define FC_EXTEND_LEAST	2

/*
 * Asks the file system for room for n blocks, which are all of one segment.
 * If it had room for some only, the file may be longer than before.  The new
 * blocks are empty, as those that core leaves after an error; they stay,
 * because other sessions may have seen them.
 */
static bool
fc_extend_file(Relation rel, BlockNumber block, int n)
{
	char	   *path = fc_locator_path(&fc_relation_locator(rel), MAIN_FORKNUM);
	BlockNumber segment = block / RELSEG_SIZE;
	char		name[MAXPGPATH];
	int			fd;
	int			rc;

	snprintf(name, sizeof(name), segment > 0 ? "%s.%u" : "%s", path, segment);
	pfree(path);
	fd = OpenTransientFile(name, O_RDWR | PG_BINARY);
	if (fd < 0)
		return false;
	pgstat_report_wait_start(WAIT_EVENT_DATA_FILE_EXTEND);
	rc = fallocate(fd, 0, (off_t) (block % RELSEG_SIZE) * BLCKSZ, (off_t) n * BLCKSZ);
	pgstat_report_wait_end();
	CloseTransientFile(fd);
	return rc == 0;
}

/*
 * Makes room for n blocks, and returns the first one.  InvalidBlockNumber if
 * core must add them: a single block, blocks that reach into another segment,
 * a file system without fallocate(), or a full disk, of which core tells the
 * user.
 */
static BlockNumber
fc_extend_by(Relation rel, int n)
{
	BlockNumber block;

	if (n < FC_EXTEND_LEAST)
		return InvalidBlockNumber;
	block = RelationGetNumberOfBlocks(rel);
	if ((block > 0 && block % RELSEG_SIZE == 0) ||
		n > RELSEG_SIZE - block % RELSEG_SIZE ||
		n >= InvalidBlockNumber - block ||
		!fc_extend_file(rel, block, n))
		return InvalidBlockNumber;
	return block;
}

int
fc_extend_buffers(Relation rel, BufferAccessStrategy strategy, int n,
				  Buffer *buffers)
{
	BlockNumber block;

	/* a fair share of the buffers, as core of 16 has it */
	n = Min(n, Max(NBuffers / (MaxBackends + NUM_AUXILIARY_PROCS), 1));
	LockRelationForExtension(rel, ExclusiveLock);
	block = fc_extend_by(rel, n);
	for (int i = 0; i < n; i++)
		buffers[i] = ReadBufferExtended(rel, MAIN_FORKNUM,
										block == InvalidBlockNumber ? P_NEW : block + i,
										RBM_ZERO_AND_LOCK, strategy);
	UnlockRelationForExtension(rel, ExclusiveLock);
	return n;
}

#endif
