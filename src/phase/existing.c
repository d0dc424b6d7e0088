/*-------------------------------------------------------------------------
 *
 * phase/existing.c
 *	  Spills the rows that leaves have, to be loaded with those of the file.
 *
 *	stretch of pages ──► rows that the leader's snapshot sees ──► tuple of the
 *		target's row type ──► the cell of its key (sort/spill.h)
 *
 * A process takes stretches of any of the leaves.  Its files lie beside those
 * of the scan, and have the same cells.  On error the end of the phase closes
 * what is open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupconvert.h"

#include "context/process.h"
#include "phase/phases.h"
#include "sort/spill.h"

typedef struct FcOldReader
{
	FcContext  *ctx;
	FcSpill    *spill;
	Relation	rel;			/* the leaf that is read */
	AttrMap    *map;			/* to the target's row type */
	bool		converts;		/* tuples are not of that type */
	AttrNumber	key;
	TupleTableSlot *old;		/* a row of the leaf */
	TupleTableSlot *slot;		/* a row of the target */
	MemoryContext row_mcxt;
	uint64		rows;
} FcOldReader;

/*
 * Makes a tuple of the target's row type with all columns, and NULL in dropped
 * ones.  ERROR 0A000 if it is longer than tuples of a table can be.
 */
static HeapTuple
fc_old_convert(FcOldReader *reader, HeapTuple row)
{
	HeapTuple	made;

	ExecStoreHeapTuple(row, reader->old, false);
	made = ExecCopySlotHeapTuple(execute_attr_map_slot(reader->map, reader->old, reader->slot));
	if (made->t_len > PG_UINT16_MAX)
		fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED,
				 fc_plan_moves(&reader->ctx->shared->plan) ? errmsg("cannot move rows of table \"%s\"", RelationGetRelationName(reader->rel)) :
				 errmsg("cannot merge rows into table \"%s\"", RelationGetRelationName(reader->rel)),
				 errdetail("The default of a column that was added later makes a row too long."),
				 errhint("Rewrite the table first, as ALTER TABLE ... ALTER COLUMN ... TYPE does."));
	Assert(HeapTupleHeaderGetNatts(made->t_data) == RelationGetDescr(reader->ctx->target)->natts);
	return made;
}

static void
fc_old_spill(FcOldReader *reader, HeapTuple row)
{
	FcEntry		entry = {.offset = fc_offset_of_tuple(ItemPointerGetBlockNumber(&row->t_self),
													  ItemPointerGetOffsetNumber(&row->t_self))};
	const FcPlan *plan = &reader->ctx->shared->plan;
	bool		null;
	Datum		key = heap_getattr(row, reader->key, RelationGetDescr(reader->rel), &null);

	entry.key = null ? 0 : fc_key_from_datum(plan->key.type, key);
	if (fc_plan_moves(plan) && !fc_plan_moves_key(plan, null, entry.key))
	{
		if (plan->move == FC_MOVE_SOME)
			return;
		/* it stays in the default partition, as a row without a key does */
		null = true;
		entry.key = 0;
	}
	entry.info = fc_entry_info(null, 0);
	if (reader->converts || HeapTupleHeaderGetNatts(row->t_data) != RelationGetDescr(reader->rel)->natts)
		row = fc_old_convert(reader, row);
	fc_spill_put_old(reader->spill, &entry, row);
	reader->rows++;
}

static void
fc_old_close(FcOldReader *reader)
{
	if (reader->rel == NULL)
		return;
	ExecDropSingleTupleTableSlot(reader->old);
	table_close(reader->rel, NoLock);
}

static void
fc_old_open(FcOldReader *reader, Oid leaf)
{
	TupleDesc	root = RelationGetDescr(reader->ctx->target);
	TupleDesc	desc;

	if (reader->rel && RelationGetRelid(reader->rel) == leaf)
		return;
	fc_old_close(reader);
	reader->rel = table_open(leaf, AccessShareLock);
	desc = RelationGetDescr(reader->rel);
	Assert(CheckRelationLockedByMe(reader->rel, AccessShareLock, true));
	reader->map = fc_build_attrmap(desc, root);
	reader->key = get_attnum(leaf, NameStr(TupleDescAttr(root, reader->ctx->shared->plan.key.attnum - 1)->attname));
	Assert(reader->key > 0 && reader->key <= desc->natts);
	reader->converts = fc_build_attrmap_if_req(desc, root) != NULL;
	for (int i = 0; i < desc->natts; i++)
		reader->converts |= TupleDescAttr(desc, i)->attisdropped;
	reader->old = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
}

static void
fc_old_read(FcOldReader *reader, const FcPages *stretch)
{
	TableScanDesc scan;
	HeapTuple	row;
	BlockNumber block = InvalidBlockNumber;

	fc_old_open(reader, stretch->leaf);
	Assert(stretch->nblocks > 0 && ActiveSnapshotSet());
	scan = table_beginscan_strat(reader->rel, GetActiveSnapshot(), 0, NULL, true, false);
	heap_setscanlimits(scan, stretch->from, stretch->nblocks);
	while ((row = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->row_mcxt);

		fc_old_spill(reader, row);
		MemoryContextSwitchTo(old);
		if (!reader->row_mcxt->isReset)
			MemoryContextReset(reader->row_mcxt);
		if (block == ItemPointerGetBlockNumber(&row->t_self))
			continue;
		CHECK_FOR_INTERRUPTS();
		block = ItemPointerGetBlockNumber(&row->t_self);
		fc_context_progress(reader->ctx);
		fc_context_pace(reader->ctx, BLCKSZ);
	}
	table_endscan(scan);
}

void
fc_existing_run(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	FcOldReader reader = {.ctx = ctx};
	uint32		i;

	Assert(shared->phase == FC_PHASE_REPLACE && fc_shared_keyed(shared));
	reader.spill = fc_spill_begin_phase(ctx, shared->nscanners + ctx->worker, fc_scan_route(ctx));
	reader.slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target), &TTSOpsVirtual);
	reader.row_mcxt = fc_context_memory(CurrentMemoryContext, "old row");
	while (fc_context_take(ctx, shared->ntasks, &i))
		fc_old_read(&reader, (FcPages *) ctx->tasks + i);
	fc_old_close(&reader);
	ExecDropSingleTupleTableSlot(reader.slot);
	fc_spill_end(reader.spill, shared->nscanners + ctx->worker);
	pg_atomic_fetch_add_u64(&shared->counts.existing, reader.rows);
}
