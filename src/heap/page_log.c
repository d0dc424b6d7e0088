/*-------------------------------------------------------------------------
 *
 * heap/page_log.c
 *	  WAL of new pages.
 *
 * A page of rows gets the record that core's heap_multi_insert writes for rows
 * on a new page.  Replay makes the whole page from it, whatever the file
 * holds.  For short rows it is two thirds as long as an image of the page.
 *
 * The visibility map is logged as images, and so are pages that fc_log_remakes
 * excludes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam_xlog.h"

#include "heap/append.h"

/*
 * Writes the record's data of a row; returns its end.  Copies words, because a
 * row's length is hard to predict: on the page a row takes whole words, and
 * bytes after its end are overwritten later, or not used.
 */
static inline char *
fc_log_row(char *to, HeapTupleHeader row, Size len)
{
	xl_multi_insert_tuple *header = (xl_multi_insert_tuple *) SHORTALIGN(to);
	const char *from = (char *) row + SizeofHeapTupleHeader;
	Size		rest = len - SizeofHeapTupleHeader;

	Assert(row->t_hoff > SizeofHeapTupleHeader && row->t_hoff <= len);
	Assert(len <= MaxHeapTupleSize && rest <= PG_UINT16_MAX);
	StaticAssertStmt(SizeofHeapTupleHeader % MAXIMUM_ALIGNOF == MAXIMUM_ALIGNOF - 1,
					 "after a byte come whole words");
	header->datalen = rest;
	header->t_infomask2 = row->t_infomask2;
	header->t_infomask = row->t_infomask;
	header->t_hoff = row->t_hoff;
	to = (char *) header + SizeOfMultiInsertTuple;
	*to = *from;
	for (Size i = 1; i < rest; i += MAXIMUM_ALIGNOF)
		memcpy(to + i, from + i, MAXIMUM_ALIGNOF);
	return to + rest;
}

/* Writes the record's data of all rows of the page; returns its bytes */
static Size
fc_log_fill(Page page, char *buf)
{
	char	   *end = buf;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		ItemId		item = PageGetItemId(page, off);

		end = fc_log_row(end, (HeapTupleHeader) PageGetItem(page, item),
						 ItemIdGetLength(item));
	}
	Assert(end - buf <= BLCKSZ);
	return end - buf;
}

/*
 * Would replay of a record of rows make this page?  Replay gives all rows the
 * record's transaction: not if they are of a subtransaction that has ended, as
 * heap/page_new.c may copy them.  Nor if the record would also have to set the
 * visibility map (frozen rows), which is made only when all rows are there.
 */
static bool
fc_log_remakes(Page page)
{
	HeapTupleHeader row = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, FirstOffsetNumber));

	if (FC_CORE_LOGS_MAP_WITH_ROWS && PageIsAllVisible(page))
		return false;
	return HeapTupleHeaderGetRawXmin(row) == GetCurrentTransactionIdIfAny();
}

void
fc_log_page(const FcAppend *append, Page page, BlockNumber block, Buffer buffer)
{
	union
	{
		PGAlignedBlock page;
		char		data[BLCKSZ + MAXIMUM_ALIGNOF];	/* see fc_log_row */
	}			rows;
	xl_heap_multi_insert record = {0};
	XLogRecPtr	lsn;

	Assert((append->fork == MAIN_FORKNUM) == (PageGetMaxOffsetNumber(page) >= FirstOffsetNumber));
	/* the buffer is changed, dirty and logged at once */
	Assert(!BufferIsValid(buffer) || CritSectionCount > 0);
	Assert(RelationNeedsWAL(append->rel) && XLogInsertAllowed());
	Assert(!BufferIsValid(buffer) || (BufferGetBlockNumber(buffer) == block && BufferGetPage(buffer) == page));
	if (append->fork != MAIN_FORKNUM || !fc_log_remakes(page))
	{
		if (BufferIsValid(buffer))
			(void) log_newpage_buffer(buffer, true);
		else
			(void) log_newpage((FcLocator *) &append->file, append->fork, block, page,
							   append->fork == MAIN_FORKNUM);
		return;
	}
	record.ntuples = PageGetMaxOffsetNumber(page);
	if (PageIsAllVisible(page))
		record.flags = XLH_INSERT_ALL_FROZEN_SET;
	XLogBeginInsert();
	if (BufferIsValid(buffer))
		XLogRegisterBuffer(0, buffer, REGBUF_WILL_INIT | REGBUF_STANDARD);
	else
		XLogRegisterBlock(0, (FcLocator *) &append->file, append->fork, block, page,
						  REGBUF_WILL_INIT | REGBUF_STANDARD);
	XLogRegisterData((char *) &record, SizeOfHeapMultiInsert);
	XLogRegisterBufData(0, rows.data, fc_log_fill(page, rows.data));
	lsn = XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_MULTI_INSERT | XLOG_HEAP_INIT_PAGE);
	Assert(lsn > PageGetLSN(page));
	PageSetLSN(page, lsn);
}

void
fc_log_pages(const FcAppend *append)
{
	for (int i = 0; i < append->n; i++)
	{
		fc_append_check(append, i, append->block + i);
		fc_log_page(append, fc_append_page(append, i), append->block + i, InvalidBuffer);
	}
	/* spares the commit waiting for all of it */
	XLogSetAsyncXactLSN(PageGetLSN(fc_append_page(append, append->n - 1)));
}
