/*-------------------------------------------------------------------------
 *
 * sort/spilled.c
 *	  Tuples and values of spilled rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sort/spilled.h"

void
fc_spilled_header(TupleDesc desc, HeapTupleHeader header)
{
	memset(header, 0, FC_SPILL_HEADER);
	HeapTupleHeaderSetNatts(header, desc->natts);
	header->t_hoff = FC_SPILL_HEADER;
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attlen < 0)
			header->t_infomask |= HEAP_HASVARWIDTH;
}

void
fc_spilled_deform(FcSpilled *spilled, TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	HeapTupleData tuple = {.t_len = fc_spilled_row(spilled),.t_data = (HeapTupleHeader) spilled};

	Assert(fc_spilled_is_bare(spilled) || HeapTupleHeaderGetNatts(tuple.t_data) == desc->natts);
	if (fc_spilled_is_bare(spilled))
	{
		HeapTupleHeaderData header;

		fc_spilled_header(desc, &header);
		tuple.t_data = palloc(tuple.t_len);
		fc_spilled_copy(spilled, &header, tuple.t_data);
	}
	heap_deform_tuple(&tuple, desc, slot->tts_values, slot->tts_isnull);
}
