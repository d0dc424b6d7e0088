/*-------------------------------------------------------------------------
 *
 * sort/spill_check.c
 *	  Asserts that blocks of cells are whole, for servers that check
 *	  assertions.
 *
 *	writer ──► block ──► file ──► block ──► reader
 *		  check				   check
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sort/spill.h"

#ifdef USE_ASSERT_CHECKING

/* What was spilled must be whole by itself */
static void
fc_spill_check_row(const FcShared *shared, const FcSpilled *spilled)
{
	const HeapTupleHeaderData *row = (const HeapTupleHeaderData *) spilled;

	switch (fc_spilled_kind(spilled))
	{
		case FC_SPILLED_BARE:
			Assert(fc_spill_bare(shared) && fc_spilled_row(spilled) <= TOAST_TUPLE_THRESHOLD);
			Assert(fc_spilled_row(spilled) >= FC_SPILL_HEADER);
			break;
		case FC_SPILLED_TUPLE:
			Assert(row->t_hoff <= fc_spilled_row(spilled) && row->t_hoff == MAXALIGN(row->t_hoff));
			Assert(row->t_hoff >= SizeofHeapTupleHeader && HeapTupleHeaderGetNatts(row) <= MaxHeapAttributeNumber);
			Assert((row->t_infomask & HEAP_XACT_MASK) == 0 && (row->t_infomask2 & HEAP2_XACT_MASK & ~FC_SPILLED_MARK) == 0);
			break;
		default:
			Assert(!fc_plan_counts(&shared->plan) || fc_spill_head(shared) == FC_SPILL_NUMBERED);
	}
}

void
fc_spill_check_block(const FcShared *shared, const char *block, const FcCell *cell)
{
	const FcSpillBlock *head = (const FcSpillBlock *) block;
	Size		at = sizeof(FcSpillBlock);

	Assert(head->size > at && head->size % MAXIMUM_ALIGNOF == 0 && block == (const char *) MAXALIGN(block));
	Assert(head->before_size == 0 || head->before_size > sizeof(FcSpillBlock));
	while (at < head->size)
	{
		const FcSpilled *spilled = (const FcSpilled *) (block + at);
		int64		key = fc_spilled_key(spilled, FC_SPILL_BARE_HEAD + shared->plan.key.place, shared->plan.key.width);
		uint64		offset PG_USED_FOR_ASSERTS_ONLY = head->base + spilled->after;

		fc_spill_check_row(shared, spilled);
		Assert(cell->part.null || !fc_spill_before(key, offset, &cell->lo));
		Assert(cell->hi_max || fc_spill_before(key, offset, &cell->hi));
		at += fc_spilled_size(spilled, fc_spill_head(shared));
	}
	Assert(at == head->size);
}

#endif
