/*-------------------------------------------------------------------------
 *
 * heap/page_check.c
 *	  Checks pages of this load wherever they are handed on, in servers that
 *	  check assertions.
 *
 *	writer ──► log ──► file, or shared buffers ──► (read again, to be copied)
 *		  check	   check					 check
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "heap/append.h"

#ifdef USE_ASSERT_CHECKING

/* A bitmap of NULLs has one, and nothing after the last column */
static void
fc_append_check_bitmap(HeapTupleHeader row)
{
	int			natts = HeapTupleHeaderGetNatts(row);
	int			values = 0;

	for (int i = 0; i < BITMAPLEN(natts) * BITS_PER_BYTE; i++)
	{
		values += !att_isnull(i, row->t_bits);
		Assert(i < natts || att_isnull(i, row->t_bits));
	}
	Assert(values < natts);
}

/* Nothing has been written between the pointers to the rows and the rows */
static void
fc_append_check_hole(PageHeader header)
{
	Assert(header->pd_upper % MAXIMUM_ALIGNOF == 0);
	for (LocationIndex at = header->pd_lower; at < header->pd_upper; at++)
		Assert(((const char *) header)[at] == 0);
}

/* The row must look as an insert of this transaction makes it */
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
	Assert((row->t_infomask & HEAP_HASOID_OLD) == 0);
	Assert(frozen || (row->t_infomask & (HEAP_XMIN_COMMITTED | HEAP_XMIN_INVALID)) == 0);
	Assert(HeapTupleHeaderGetRawCommandId(row) <= GetCurrentCommandId(false));
	if (has_null)
		fc_append_check_bitmap(row);
}

void
fc_append_check(const FcAppend *append, int i, BlockNumber block)
{
	Page		page = fc_append_page(append, i);
	PageHeader	header = (PageHeader) page;
	LocationIndex upper = BLCKSZ;
	bool		rows = append->fork == MAIN_FORKNUM;

	Assert(PageGetPageSize(page) == BLCKSZ && header->pd_special == BLCKSZ);
	Assert(PageGetPageLayoutVersion(page) == PG_PAGE_LAYOUT_VERSION);
	Assert(header->pd_upper <= header->pd_special);
	Assert((header->pd_lower - SizeOfPageHeaderData) % sizeof(ItemIdData) == 0);
	Assert(PageGetMaxOffsetNumber(page) <= MaxHeapTuplesPerPage);
	Assert(header->pd_lower >= SizeOfPageHeaderData && header->pd_lower <= header->pd_upper);
	Assert(header->pd_prune_xid == InvalidTransactionId);
	Assert(rows == (PageGetMaxOffsetNumber(page) > 0));
	Assert((header->pd_flags & ~PD_ALL_VISIBLE) == 0);
	for (OffsetNumber off = FirstOffsetNumber; off <= PageGetMaxOffsetNumber(page) && rows; off++)
	{
		ItemId		item = PageGetItemId(page, off);
		HeapTupleHeader row = (HeapTupleHeader) PageGetItem(page, item);

		Assert(ItemIdIsNormal(item) && ItemIdHasStorage(item));
		Assert(ItemIdGetOffset(item) >= header->pd_upper && ItemIdGetOffset(item) % MAXIMUM_ALIGNOF == 0);
		/* rows stand one before the other, without gaps */
		Assert(ItemIdGetOffset(item) + MAXALIGN(ItemIdGetLength(item)) == upper);
		upper = ItemIdGetOffset(item);
		fc_append_check_row(append, row, ItemIdGetLength(item), PageIsAllVisible(page));
		Assert(block == InvalidBlockNumber || ItemPointerGetBlockNumber(&row->t_ctid) == block);
		Assert(block == InvalidBlockNumber || ItemPointerGetOffsetNumber(&row->t_ctid) == off);
	}
	Assert(!rows || upper == header->pd_upper);
	if (rows)
		fc_append_check_hole(header);
}

#endif
