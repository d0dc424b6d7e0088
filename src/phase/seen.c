/*-------------------------------------------------------------------------
 *
 * phase/seen.c
 *	  Which columns of a batch the expressions of a leaf read.
 *
 *	expressions of a leaf ──► columns of the leaf ──► columns of the batch
 *
 * The result lives in the current memory context, until the leaf is closed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "phase/loader.h"

int
fc_seen_column(const AttrMap *map, int attr)
{
	Assert(attr >= 0 && (map == NULL || attr < map->maplen));
	return map ? map->attnums[attr] - 1 : attr;
}

FcSeen *
fc_seen_begin(TupleDesc desc, const AttrMap *map, Node *expr)
{
	FcSeen	   *seen = palloc(offsetof(FcSeen, columns) + sizeof(FcSeenColumn) * desc->natts);
	Bitmapset  *used = NULL;
	bool		all;

	pull_varattnos(expr, 1, &used);
	all = bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber, used);
	seen->n = 0;
	for (int i = 0; i < desc->natts; i++)
		if (all || bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, used))
			seen->columns[seen->n++] = (FcSeenColumn) {i, fc_seen_column(map, i)};
	bms_free(used);
	return seen;
}

void
fc_seen_show(const FcBatch *batch, const FcSeen *seen, int i, TupleTableSlot *slot, Relation rel)
{
	ExecClearTuple(slot);
	for (const FcSeenColumn *one = seen->columns; one < seen->columns + seen->n; one++)
		slot->tts_values[one->attr] = fc_batch_value(one->column < 0 ? &batch->none : &batch->columns[one->column],
													 i, false, &slot->tts_isnull[one->attr]);
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(rel);
}

void
fc_seen_deform(const FcSeen *seen, FcSpilled *spilled, TupleTableSlot *slot)
{
	int			n = seen ? seen->n : slot->tts_tupleDescriptor->natts;

	fc_spilled_deform(spilled, slot);
	for (int i = 0; i < n; i++)
	{
		int			attr = seen ? seen->columns[i].attr : i;

		if (!slot->tts_isnull[attr] && TupleDescAttr(slot->tts_tupleDescriptor, attr)->attlen == -1)
			slot->tts_values[attr] = PointerGetDatum(PG_DETOAST_DATUM(slot->tts_values[attr]));
	}
}

/* The expressions that the leaf evaluates for each row; NIL: none */
static List *
fc_seen_expressions(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *exprs = NIL;

	for (int i = 0; desc->constr && i < desc->constr->num_check; i++)
		if (fc_check_is_enforced(&desc->constr->check[i]))
			exprs = lappend(exprs, fc_check_expression(rel, &desc->constr->check[i]));
	for (int i = 0; desc->constr && desc->constr->has_generated_stored && i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attgenerated)
			exprs = lappend(exprs, build_column_default(rel, i + 1));
	return exprs;
}

void
fc_seen_open(FcLoader *loader, FcLeaf *leaf)
{
	Relation	rel = leaf->rri->ri_RelationDesc;
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *exprs;

	leaf->rows = loader->look && !loader->bounds && !loader->where_again &&
		!loader->ctx->target->rd_rel->relispartition && !fc_has_virtual(desc) &&
		(leaf->plain || !loader->ctx->apart);
	if (!leaf->rows && !leaf->spilled)
		return;
	exprs = fc_seen_expressions(rel);
	leaf->spilled &= !fc_code_visible((Node *) exprs);
	leaf->seen = exprs || (leaf->spilled && !leaf->plain) ? fc_seen_begin(desc, leaf->map, (Node *) exprs) : NULL;
	if (!leaf->rows)
		return;
	leaf->nrequired = 0;
	leaf->required = palloc(sizeof(int) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		int			column = fc_seen_column(leaf->map, i);

		if (TupleDescAttr(desc, i)->attnotnull)
			leaf->required[leaf->nrequired++] = column;
		if (!TupleDescAttr(desc, i)->attgenerated)
			continue;
		/* the file or a default may have values for it, as for other leaves */
		if (column < 0 || !TupleDescAttr(RelationGetDescr(loader->ctx->target), column)->attgenerated)
			leaf->rows = false;
		else
			fc_batch_add_column(loader->batch, column);
	}
	leaf->columns = leaf->map ? palloc(sizeof(FcBatchColumn) * desc->natts) : NULL;
}

void
fc_seen_close(FcLeaf *leaf)
{
	if (leaf->seen)
		pfree(leaf->seen);
	if (leaf->columns)
		pfree(leaf->columns);
	if (leaf->required)
		pfree(leaf->required);
}
