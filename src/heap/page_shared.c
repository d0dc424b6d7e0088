/*-------------------------------------------------------------------------
 *
 * heap/page_shared.c
 *	  Appends pages to a table that other sessions use.
 *
 *	batch of pages ──► new buffers at the end of the table, or those of blocks
 *		that were reserved, locked
 *		──► copied ──► a WAL record of each page's rows
 *		──► frozen rows: marked in the visibility map
 *
 * The locks are held for a memcpy.  After an error added pages stay empty, as
 * core's do; VACUUM finds them, and so it may before a reserved one is filled.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/predicate.h"

#include "heap/append.h"

/* Bytes that the kernel maps at once when they are first read */
#define FC_FAULT_AROUND	((Size) 64 * 1024)

/* Buffers that are closer than this were given one after the other */
#define FC_TOUCH_MOST	(4 * FC_PAGE_BATCH)

/*
 * Touches the buffers that core is likely to give next, if it goes on from
 * "first" to "last" as it did: upwards by its clock, or downwards where a
 * table was dropped.
 *
 * A process's first touch of a page of shared buffers maps it: a write, as the
 * copy would be, that page alone; a read those around it, too.
 */
__attribute__((no_sanitize_address))	/* they are not pinned */
static void
fc_buffer_touch(Buffer first, Buffer last)
{
	Buffer		n = abs(last - first) + 1;
	Buffer		lo = Max(last < first ? last - n : last, 1);
	Buffer		hi = Min(last < first ? last : last + n, NBuffers);

	Assert(first > 0 && first <= NBuffers && last > 0 && last <= NBuffers);
	if (n > FC_TOUCH_MOST)
		return;
	for (Buffer buffer = lo; buffer < hi; buffer += FC_FAULT_AROUND / BLCKSZ)
		(void) *(volatile char *) BufferGetPage(buffer);
	(void) *(volatile char *) BufferGetPage(hi);
}

/*
 * Marks n > 0 pages in the table's visibility map, once they have been filled
 * with frozen rows and logged.  Their buffers are locked.
 */
static void
fc_buffer_map(Relation rel, const Buffer *pages, int n)
{
	Buffer		map = InvalidBuffer;

	for (int i = 0; i < n;)
	{
		Assert(PageIsAllVisible(BufferGetPage(pages[i])) && !PageIsNew(BufferGetPage(pages[i])));
		visibilitymap_pin(rel, BufferGetBlockNumber(pages[i]), &map);
		i += fc_map_set(rel, pages + i, n - i, map);
	}
	ReleaseBuffer(map);
}

/*
 * Fills buffers, which are new and locked, with pages from the first one on.
 * As in core a buffer is changed, marked dirty and logged in one critical
 * section, and its page gets the record's LSN: the page goes to disk after the
 * record.
 */
static void
fc_buffer_fill(FcAppend *append, int first, const Buffer *buffers, int n)
{
	bool		logged = RelationNeedsWAL(append->rel);

	for (int i = 0; i < n; i++)
	{
		Assert(BufferGetBlockNumber(buffers[i]) > append->block || i == 0);
		append->block = BufferGetBlockNumber(buffers[i]);
		fc_append_place(append, first + i, append->block);
	}
	START_CRIT_SECTION();
	for (int i = 0; i < n; i++)
	{
		Assert(PageIsNew(BufferGetPage(buffers[i])));
		fc_append_check(append, first + i, BufferGetBlockNumber(buffers[i]));
		memcpy(BufferGetPage(buffers[i]), fc_append_page(append, first + i), BLCKSZ);
		MarkBufferDirty(buffers[i]);
	}
	for (int i = 0; i < n && logged; i++)
		fc_log_page(append, BufferGetPage(buffers[i]), BufferGetBlockNumber(buffers[i]),
					buffers[i]);
	END_CRIT_SECTION();
	/* either the rows of all pages are frozen, or none */
	if (PageIsAllVisible(BufferGetPage(buffers[0])))
		fc_buffer_map(append->rel, buffers, n);
	for (int i = 0; i < n; i++)
		UnlockReleaseBuffer(buffers[i]);
}

/*
 * Leaves out pages that another session found and filled before they were
 * locked; returns how many are left
 */
static int
fc_buffer_keep_new(Buffer *buffers, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		if (PageIsNew(BufferGetPage(buffers[i])))
			buffers[kept++] = buffers[i];
		else
			UnlockReleaseBuffer(buffers[i]);
	}
	return kept;
}

void
fc_shared_reserve(FcAppend *append, BufferAccessStrategy strategy, int n)
{
	Assert(append->nreserved == 0 && n > 0);
	append->reserved = palloc(sizeof(BlockNumber) * n);
	while (append->nreserved < n)
	{
		Buffer		buffers[FC_PAGE_BATCH];
		int			added = fc_extend_buffers(append->rel, strategy, Min(n - append->nreserved, FC_PAGE_BATCH), buffers);

		fc_buffer_touch(buffers[0], buffers[added - 1]);
		for (int i = 0; i < added; i++)
		{
			append->reserved[append->nreserved++] = BufferGetBlockNumber(buffers[i]);
			UnlockReleaseBuffer(buffers[i]);
		}
	}
}

/*
 * Returns buffers, locked, for at most n pages; how many there are.  Of
 * reserved blocks it is one, which a process may always pin.
 */
static int
fc_buffer_next(FcAppend *append, BufferAccessStrategy strategy, int n, Buffer *buffers)
{
	if (append->nreserved == 0)
	{
		n = fc_extend_buffers(append->rel, strategy, n, buffers);
		fc_buffer_touch(buffers[0], buffers[n - 1]);
		return n;
	}
	append->nreserved--;
	buffers[0] = ReadBufferExtended(append->rel, MAIN_FORKNUM, *append->reserved++, RBM_NORMAL, strategy);
	LockBuffer(buffers[0], BUFFER_LOCK_EXCLUSIVE);
	return 1;
}

void
fc_shared_append(FcAppend *append, BufferAccessStrategy strategy)
{
	Buffer		buffers[FC_PAGE_BATCH];
	int			done = 0;

	Assert(CheckRelationLockedByMe(append->rel, RowExclusiveLock, true));
	Assert(append->n > 0 && append->n <= FC_PAGE_BATCH && append->fork == MAIN_FORKNUM);
	CheckForSerializableConflictIn(append->rel, NULL, InvalidBlockNumber);
	while (done < append->n)
	{
		int			n = fc_buffer_next(append, strategy, append->n - done, buffers);

		Assert(n > 0 && done + n <= append->n);
		n = fc_buffer_keep_new(buffers, n);
		if (n > 0)
			fc_buffer_fill(append, done, buffers, n);
		done += n;
	}
}
