/*-------------------------------------------------------------------------
 *
 * sort/order_by.c
 *	  Rows that are built, in the order of columns of the caller's choice.
 *
 *	slot ──► row with its place in the file ──► core's tuplesort, on tapes if
 *		memory is short ──► slot
 *
 * Rows come converted and checked: only a comparison can fail, and its error,
 * about two rows, is thrown at once.  Tuplesort's files belong to the resource
 * owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "utils/tuplesort.h"

#include "sort/order_by.h"

/*
 * The columns before the row's own: the record's offset, which keeps equal
 * rows in the order of the file, its length, and the number of its leaf.  They
 * are first because core finds a column after a NULL or a text by stepping
 * over all columns before it.
 */
enum
{
	FC_SORT_OFFSET,
	FC_SORT_LENGTH,
	FC_SORT_LEAF,
	FC_SORT_FRONT
};

struct FcSort
{
	FcShared   *shared;
	int			natts;			/* of the row itself */
	TupleTableSlot *in;
	TupleTableSlot *out;
	Tuplesortstate *state;
	int64		held;			/* rows that were put, and not handed out */
};

static TupleDesc
fc_sort_desc(TupleDesc desc)
{
	TupleDesc	wide = CreateTemplateTupleDesc(desc->natts + FC_SORT_FRONT);

	TupleDescInitEntry(wide, FC_SORT_OFFSET + 1, "offset", INT8OID, -1, 0);
	TupleDescInitEntry(wide, FC_SORT_LENGTH + 1, "length", INT4OID, -1, 0);
	TupleDescInitEntry(wide, FC_SORT_LEAF + 1, "leaf", INT4OID, -1, 0);
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		TupleDescCopyEntry(wide, attnum + FC_SORT_FRONT, desc, attnum);
	return fc_finish_desc(wide);
}

AttrNumber
fc_sort_mapped(const AttrMap *map, AttrNumber attnum)
{
	if (map == NULL)
		return attnum;
	for (int i = 0; i < map->maplen; i++)
		if (map->attnums[i] == attnum)
			return i + 1;
	elog(ERROR, "column %d is missing in a partition", attnum);
}

FcSort *
fc_sort_begin(FcShared *shared, TupleDesc desc, const AttrMap *map,
			  const FcSortKey *keys, int nkeys, bool leaves, Size memory)
{
	/* phase/dedup.c may sort once for each key */
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy sort", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcSort	   *sort = palloc0(sizeof(FcSort));
	TupleDesc	wide = fc_sort_desc(desc);
	AttrNumber *columns = palloc(sizeof(AttrNumber) * (nkeys + 2));
	Oid		   *operators = palloc(sizeof(Oid) * (nkeys + 2));
	Oid		   *collations = palloc0(sizeof(Oid) * (nkeys + 2));
	bool	   *nulls_first = palloc0(sizeof(bool) * (nkeys + 2));
	int			n = 0;

	Assert(nkeys > 0 && keys != NULL);
	if (leaves)
	{
		columns[n] = FC_SORT_LEAF + 1;
		operators[n++] = Int4LessOperator;
	}
	for (int i = 0; i < nkeys; i++, n++)
	{
		columns[n] = fc_sort_mapped(map, keys[i].attnum) + FC_SORT_FRONT;
		operators[n] = keys[i].operator;
		collations[n] = keys[i].collation;
		nulls_first[n] = keys[i].nulls_first;
		Assert(columns[n] > 0 && OidIsValid(operators[n]));
	}
	columns[n] = FC_SORT_OFFSET + 1;
	operators[n++] = Int8LessOperator;
	sort->shared = shared;
	sort->natts = desc->natts;
	sort->in = MakeSingleTupleTableSlot(wide, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(wide, &TTSOpsMinimalTuple);
	sort->state = tuplesort_begin_heap(wide, n, columns, operators, collations, nulls_first,
									   Max(Min(memory / 1024, MAX_KILOBYTES), 64),
									   NULL, TUPLESORT_NONE);
	MemoryContextSwitchTo(old);
	return sort;
}

void
fc_sort_put(FcSort *sort, TupleTableSlot *slot, const FcSortRow *row)
{
	TupleTableSlot *in = sort->in;

	Assert(slot->tts_tupleDescriptor->natts == sort->natts);
	ExecClearTuple(in);
	in->tts_values[FC_SORT_OFFSET] = Int64GetDatum((int64) row->offset);
	in->tts_values[FC_SORT_LENGTH] = Int32GetDatum((int32) row->length);
	in->tts_values[FC_SORT_LEAF] = Int32GetDatum(row->leaf);
	memset(in->tts_isnull, 0, sizeof(bool) * FC_SORT_FRONT);
	memcpy(in->tts_values + FC_SORT_FRONT, slot->tts_values, sizeof(Datum) * sort->natts);
	memcpy(in->tts_isnull + FC_SORT_FRONT, slot->tts_isnull, sizeof(bool) * sort->natts);
	ExecStoreVirtualTuple(in);
	tuplesort_puttupleslot(sort->state, in);
	sort->held++;
}

void
fc_sort_finish(FcSort *sort)
{
	TuplesortInstrumentation stats;

	ExecClearTuple(sort->in);
	tuplesort_performsort(sort->state);
	/* for the report */
	tuplesort_get_stats(sort->state, &stats);
	pg_atomic_fetch_add_u64(&sort->shared->counts.sorts, 1);
	if (stats.spaceType != SORT_SPACE_TYPE_DISK)
		return;
	pg_atomic_fetch_add_u64(&sort->shared->counts.disk_sorts, 1);
	pg_atomic_fetch_add_u64(&sort->shared->counts.sort_bytes, (uint64) stats.spaceUsed * 1024);
}

bool
fc_sort_next(FcSort *sort, TupleTableSlot *slot, FcSortRow *row)
{
	TupleTableSlot *out = sort->out;

	ExecClearTuple(slot);
	if (!tuplesort_gettupleslot(sort->state, true, false, out, NULL))
	{
		Assert(sort->held == 0);
		return false;
	}
	sort->held--;
	Assert(sort->held >= 0);
	slot_getallattrs(out);
	row->offset = (uint64) DatumGetInt64(out->tts_values[FC_SORT_OFFSET]);
	row->length = (uint32) DatumGetInt32(out->tts_values[FC_SORT_LENGTH]);
	row->leaf = DatumGetInt32(out->tts_values[FC_SORT_LEAF]);
	memcpy(slot->tts_values, out->tts_values + FC_SORT_FRONT, sizeof(Datum) * sort->natts);
	memcpy(slot->tts_isnull, out->tts_isnull + FC_SORT_FRONT, sizeof(bool) * sort->natts);
	ExecStoreVirtualTuple(slot);
	return true;
}

void
fc_sort_end(FcSort *sort)
{
	tuplesort_end(sort->state);
	MemoryContextDelete(GetMemoryChunkContext(sort));
}
