/*-------------------------------------------------------------------------
 *
 * heap/page_check.c
 *	  What a page of this load is, wherever it is handed on; for servers that
 *	  check assertions.
 *
 *	writer ──► log ──► file, or shared buffers ──► (read again, to be copied)
 *		  check	   check					 check
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"

#include "heap/append.h"

#ifdef USE_ASSERT_CHECKING

/* The row must be one that an insert of this transaction makes */
static void
fc_append_check_row(const FcAppend *append, HeapTupleHeader row, Size len, bool frozen)
{
	bool		has_null = (row->t_infomask & HEAP_HASNULL) != 0;
	Size		bitmap = has_null ? BITMAPLEN(HeapTupleHeaderGetNatts(row)) : 0;

	Assert(HeapTupleHeaderGetNatts(row) == RelationGetNumberOfAttributes(append->rel));
	Assert(row->t_hoff == MAXALIGN(SizeofHeapTupleHeader + bitmap));
	Assert(row->t_hoff <= len && len <= MaxHeapTupleSize);
	Assert(TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(row)));
	Assert(HeapTupleHeaderXminFrozen(row) == frozen);
	Assert((row->t_infomask & HEAP_XMAX_INVALID) != 0);
	Assert(HeapTupleHeaderGetRawXmax(row) == InvalidTransactionId);
	Assert((row->t_infomask & (HEAP_MOVED | HEAP_UPDATED | HEAP_COMBOCID)) == 0);
	Assert((row->t_infomask2 & HEAP2_XACT_MASK) == 0);
	Assert((row->t_infomask & HEAP_HASEXTERNAL) == 0 ||
		   OidIsValid(append->rel->rd_rel->reltoastrelid));
}

void
fc_append_check(const FcAppend *append, int i, BlockNumber block)
{
	Page		page = fc_append_page(append, i);
	PageHeader	header = (PageHeader) page;
	LocationIndex upper = BLCKSZ;

	Assert(PageGetPageSize(page) == BLCKSZ && header->pd_special == BLCKSZ);
	Assert(header->pd_lower >= SizeOfPageHeaderData && header->pd_lower <= header->pd_upper);
	Assert(header->pd_prune_xid == InvalidTransactionId);
	Assert(append->rows == (PageGetMaxOffsetNumber(page) > 0));
	Assert((header->pd_flags & ~PD_ALL_VISIBLE) == 0);
	for (OffsetNumber off = FirstOffsetNumber; off <= PageGetMaxOffsetNumber(page) && append->rows; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleHeader row = (HeapTupleHeader) PageGetItem(page, item);

		Assert(ItemIdIsNormal(item) && ItemIdHasStorage(item));
		/* rows stand one before the other, with nothing in between */
		Assert(ItemIdGetOffset(item) + MAXALIGN(ItemIdGetLength(item)) == upper);
		upper = ItemIdGetOffset(item);
		fc_append_check_row(append, row, ItemIdGetLength(item), PageIsAllVisible(page));
		Assert(block == InvalidBlockNumber || ItemPointerGetBlockNumber(&row->t_ctid) == block);
		Assert(block == InvalidBlockNumber || ItemPointerGetOffsetNumber(&row->t_ctid) == off);
	}
	Assert(!append->rows || upper == header->pd_upper);
}

#endif
