/*-------------------------------------------------------------------------
 *
 * heap/append.h
 *	  Pages on their way to the end of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_APPEND_H
#define FC_APPEND_H

#include "nodes/pg_list.h"
#include "storage/buf.h"

#include "compat/compat.h"

/* Pages written at a time */
#define FC_PAGE_BATCH	32

/* Pages to be appended to a fork */
typedef struct FcAppend
{
	Relation	rel;
	FcLocator	file;			/* the table's new file; unused for shared
								 * buffers */
	ForkNumber	fork;			/* the pages of the main one have rows */
	char	   *pages;			/* one after the other */
	int			n;				/* at most FC_PAGE_BATCH */
	BlockNumber block;			/* of the first page, as fc_file_reserve sets
								 * it; after fc_shared_append: of the last
								 * one */
	BlockNumber *reserved;		/* by fc_shared_reserve, and not filled yet */
	int			nreserved;
} FcAppend;

static inline Page
fc_append_page(const FcAppend *append, int i)
{
	Assert(i >= 0 && i < append->n && append->n <= FC_PAGE_BATCH);
	return (Page) (append->pages + (Size) i * BLCKSZ);
}

/*
 * heap/page_check.c.  Asserts that page i is whole: its rows are of this load
 * and of append's table, and their t_ctid has the block, unless that is
 * InvalidBlockNumber because it is not known yet.
 */
#ifdef USE_ASSERT_CHECKING
extern void fc_append_check(const FcAppend *append, int i, BlockNumber block);
#else
#define fc_append_check(append, i, block)	((void) 0)
#endif

/* Sets t_ctid of the rows of page i, once its block is known */
static inline void
fc_append_place(const FcAppend *append, int i, BlockNumber block)
{
	Page		page = fc_append_page(append, i);
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	Assert(append->fork == MAIN_FORKNUM && block != InvalidBlockNumber);
	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		HeapTupleHeader row = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, off));

		ItemPointerSet(&row->t_ctid, block, off);
	}
}

/*
 * heap/page_new.c.  The leader, before the load: makes a file for the table,
 * and adds it to the list.  The table is held (heap/hold.c), and its own file
 * must be empty and made by this transaction.  With "frozen" all rows that it
 * gets are frozen.
 */
extern FcLocator fc_new_begin(Relation rel, bool frozen, List **files);

/*
 * The leader, when all processes have written their pages and fc_hold_check
 * has found nothing: gives the tables their new files, and frees the list.  The
 * change is visible after CommandCounterIncrement.
 */
extern void fc_new_end(List *files);

/*
 * heap/page_file.c.  Reserves the next n blocks of the new file, for one batch
 * of pages after the other, and sets append->block to the first of them.
 */
extern void fc_file_reserve(FcAppend *append, uint32 n);

/*
 * For each batch of pages whose blocks are reserved: sets t_ctid of the rows
 * on them, logs them, and returns when they are in the file
 */
extern void fc_file_append(FcAppend *append);

/*
 * heap/page_shared.c.  Adds n empty blocks to the table, for the pages that
 * fc_shared_append gets next; their numbers are in append->reserved, palloc'd.
 */
extern void fc_shared_reserve(FcAppend *append, BufferAccessStrategy strategy, int n);

/*
 * Appends the pages through shared buffers, in their order, but perhaps with
 * pages of other sessions in between.  Sets t_ctid of the rows on them, and
 * append->block to the block of the last page.  A reserved block that another
 * session found and filled is replaced by one at the end.
 */
extern void fc_shared_append(FcAppend *append, BufferAccessStrategy strategy);

/*
 * heap/page_log.c.  Logs a new page, all of whose rows have their t_ctid, and
 * sets its LSN.  Only pages of the main fork have rows.  The page is that of
 * the buffer, which is locked and dirty; without a buffer it will be a block of
 * append's file.  Allocates nothing.
 */
extern void fc_log_page(const FcAppend *append, Page page, BlockNumber block,
						Buffer buffer);

/* Logs pages that have their blocks in append's file, and sets their LSNs */
extern void fc_log_pages(const FcAppend *append);

#endif							/* FC_APPEND_H */
