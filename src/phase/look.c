/*-------------------------------------------------------------------------
 *
 * phase/look.c
 *	  Rows of a batch, from their columns to the writers of their leaves.
 *
 *	columns ──► what expressions read of one row ──► its leaf, or it is left out
 *	leaves of many rows ──► rows of one leaf together ──► the leaf's writer
 *
 * fc_look evaluates for each row, in the order of the file, what COPY does:
 * values that are made row by row, the condition, generated columns, NOT NULL
 * and CHECK.  Rows that have passed are written by columns.  It stops at a row
 * that phase/row.c must take alone: its leaf is not known yet, it is refused,
 * or something about it is tolerated.  All of such a row is evaluated again;
 * so code with visible effects never runs here (FcContext.apart).
 *
 * Values that are made here live in row_mcxt until their rows are written.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "phase/loader.h"
#include "row/where.h"

/* Bytes of values made here above which rows are written */
#define FC_LOOK_MEMORY	((Size) 1024 * 1024)

void
fc_look_begin(FcLoader *loader)
{
	FcContext  *ctx = loader->ctx;

	if (loader->batch == NULL || loader->dry || ctx->shared->plan.order.nkeys > 0)
		return;
	loader->look = palloc0(sizeof(FcLooked));
	if (loader->where)
		loader->look->where = fc_seen_begin(RelationGetDescr(ctx->target), NULL,
										   stringToNode(fc_shared_where(ctx->shared)));
}

/* Does row i, or any row if i is -1, have a NULL that the leaf forbids? */
static bool
fc_look_lacks(const FcBatch *batch, const FcLeaf *leaf, int i)
{
	for (int k = 0; k < leaf->nrequired; k++)
	{
		const FcBatchColumn *column = &batch->columns[leaf->required[k]];

		if (column->any_null && (i < 0 || column->nulls[i]))
			return true;
	}
	return false;
}

/* The leaf of row i; NULL if only core can tell it */
static inline FcLeaf *
fc_look_leaf(FcLoader *loader, int i)
{
	const FcRoute *route = loader->router.route;
	const FcBatchColumn *key;

	if (loader->router.proute == NULL)
		return loader->leaf;
	if (route == NULL)
		return NULL;
	key = &loader->batch->columns[route->attnum - 1];
	return fc_leaf_known(loader, key->values[i], key->any_null && key->nulls[i]);
}

/* The expressions of the leaf's generated columns; NULL for other columns */
static ExprState **
fc_look_generated(FcLoader *loader, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	MemoryContext old = MemoryContextSwitchTo(loader->estate->es_query_cxt);
	ExprState **exprs = palloc0(sizeof(ExprState *) * desc->natts);

	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attgenerated)
			exprs[i] = ExecPrepareExpr((Expr *) build_column_default(rel, i + 1), loader->estate);
	MemoryContextSwitchTo(old);
	return exprs;
}

/* Computes the row's generated columns, which its CHECKs may read */
static void
fc_look_generate(FcLoader *loader, FcLeaf *leaf, int i)
{
	TupleTableSlot *slot = leaf->slot;

	if (leaf->generated == NULL)
		leaf->generated = fc_look_generated(loader, leaf->rri->ri_RelationDesc);
	for (int a = 0; a < slot->tts_tupleDescriptor->natts; a++)
		if (leaf->generated[a])
		{
			slot->tts_values[a] = ExecEvalExpr(leaf->generated[a], GetPerTupleExprContext(loader->estate),
											   &slot->tts_isnull[a]);
			fc_batch_set(loader->batch, fc_seen_column(leaf->map, a), i, slot->tts_values[a],
						 slot->tts_isnull[a]);
		}
}

/* Does the leaf, which is not plain, take row i? */
static bool
fc_look_checks(FcLoader *loader, FcLeaf *leaf, int i)
{
	Relation	rel = leaf->rri->ri_RelationDesc;

	fc_seen_show(loader->batch, leaf->seen, i, leaf->slot, rel);
	GetPerTupleExprContext(loader->estate)->ecxt_scantuple = leaf->slot;
	if (RelationGetDescr(rel)->constr->has_generated_stored)
		fc_look_generate(loader, leaf, i);
	return !fc_look_lacks(loader->batch, leaf, i) && fc_row_failed_check(loader, leaf) < 0;
}

/* Looks at row i, and sets its leaf; false if it must go alone */
static bool
fc_look_at(FcLoader *loader, int i)
{
	FcLooked	   *look = loader->look;
	FcBatch    *batch = loader->batch;
	FcLeaf	   *leaf;

	Assert(i < batch->n && !batch->odd[i]);
	look->leaves[i] = &look->out;
	look->kind = FC_ERROR_DATA;
	if (batch->unfinished)
	{
		fc_parse_number(loader->parser, loader->number + i);
		if (!fc_batch_finish(batch, i))
			return false;
	}
	if (loader->where)
	{
		fc_seen_show(batch, look->where, i, loader->root_slot, loader->ctx->target);
		if (!fc_where_accepts(loader->where, loader->estate, loader->root_slot))
			return true;
	}
	look->kind = FC_ERROR_ROW;
	leaf = fc_look_leaf(loader, i);
	if (leaf == NULL || !leaf->rows ||
		(leaf->seen ? !fc_look_checks(loader, leaf, i) : fc_look_lacks(batch, leaf, i)))
		return false;
	look->leaves[i] = leaf;
	return true;
}

/* Goes on to the next row for which anything must be evaluated */
static inline void
fc_look_pass(FcLoader *loader)
{
	FcLooked	   *look = loader->look;

	for (; look->at < look->to; look->at++)
	{
		FcLeaf	   *leaf = fc_look_leaf(loader, look->at);

		if (leaf == NULL || !leaf->rows || !leaf->plain)
			return;
		look->leaves[look->at] = leaf;
	}
}

/* Body of fc_error_evaluate: looks at rows until one must go alone */
static void
fc_look_rows(void *arg)
{
	FcLoader   *loader = arg;
	FcLooked	   *look = loader->look;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

	for (; look->at < look->to; look->at++)
	{
		int			i = look->at;

		if (!look->each)
		{
			fc_look_pass(loader);
			if ((i = look->at) == look->to)
				break;
			fc_batch_places(loader->batch, i, i + 1, &look->offsets[i], &look->lengths[i]);
		}
		fc_error_at(loader->ctx, look->offsets[i], look->lengths[i]);
		if (!fc_look_at(loader, i))
			break;
		/* the rest is for the next look */
		if (loader->row_mcxt->mem_allocated +
			GetPerTupleMemoryContext(loader->estate)->mem_allocated > FC_LOOK_MEMORY)
			look->to = i + 1;
	}
	MemoryContextSwitchTo(old);
}

/* Does the batch itself require a look at each row? */
static bool
fc_look_each(const FcLoader *loader)
{
	const FcBatch *batch = loader->batch;

	for (int i = 0; i < batch->natts; i++)
		if (batch->columns[i].any_null)
			return true;
	return batch->unfinished || loader->where != NULL || loader->router.proute == NULL;
}

/*
 * Brings rows of one leaf together, in the order of the file, and counts those
 * that are left out; returns the end of those that stay
 */
static int
fc_look_order(FcLoader *loader, int from, int to)
{
	FcLooked	   *look = loader->look;
	FcLeaf	   *leaves[FC_BATCH_ROWS + 1];
	uint16		order[FC_BATCH_ROWS];
	int			nleaves = 0;
	int			n = 0;
	int			end;

	for (int i = from; i < to; i++)
		if (look->leaves[i]->nrows++ == 0 && look->leaves[i] != &look->out)
			leaves[nleaves++] = look->leaves[i];
	if (look->out.nrows > 0)
		fc_context_count_out(loader->ctx, filtered, loader->batch->offset, look->out.nrows);
	/* rows that are left out come last */
	leaves[nleaves] = &look->out;
	for (int k = 0; k <= nleaves; k++)
	{
		leaves[k]->at = n;
		n += leaves[k]->nrows;
		leaves[k]->nrows = 0;
	}
	end = look->out.at;
	if (nleaves == 1 && end == n)
		return to;
	/* which row is of which leaf is hard to predict */
	for (int i = from; i < to; i++)
		order[look->leaves[i]->at++] = i;
	for (int k = 0, i = from; k < nleaves; k++)
		while (i < from + leaves[k]->at)
			look->leaves[i++] = leaves[k];
	fc_batch_permute(loader->batch, from, order, end);
	return from + end;
}

/* Writes rows of one leaf */
static void
fc_look_write(FcLoader *loader, FcLeaf *leaf, int from, int to)
{
	const FcBatch *batch = loader->batch;

	Assert(from < to && to <= batch->n && leaf->rows && leaf->writer != NULL);
	for (int a = 0; leaf->map && a < leaf->map->maplen; a++)
		leaf->columns[a] = leaf->map->attnums[a] == 0 ? batch->none : batch->columns[leaf->map->attnums[a] - 1];
	fc_write_put_rows(leaf->writer, batch, leaf->map ? leaf->columns : batch->columns, from, to);
}

static void
fc_look_put(FcLoader *loader, int from, int to, bool plain)
{
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);
	uint64		bytes = fc_batch_bytes(loader->batch, from, to);
	int			end = plain ? to : fc_look_order(loader, from, to);
	FcLeaf	  **leaves = loader->look->leaves;

	if (plain)
		fc_look_write(loader, loader->leaf, from, to);
	for (int i = from, next; !plain && i < end; i = next)
	{
		for (next = i + 1; next < end && leaves[next] == leaves[i]; next++)
			;
		fc_look_write(loader, leaves[i], i, next);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->row_mcxt);
	if (loader->router.proute)
		fc_leaf_limit(loader, to - from, bytes);
	fc_load_count(loader, to - from);
	loader->by_columns += to - from;
}

int
fc_look(FcLoader *loader, int from, int to, bool *alone)
{
	FcContext  *ctx = loader->ctx;
	FcLooked	   *look = loader->look;
	const FcLeaf *leaf = loader->leaf;
	/* are rows written without a look at each? */
	bool		plain = look && loader->router.proute == NULL && leaf != NULL && leaf->rows && leaf->plain &&
		!loader->batch->unfinished && !loader->where && !fc_look_lacks(loader->batch, leaf, -1);
	ErrorData  *edata = NULL;

	*alone = true;
	if (look == NULL || (ctx->apart && !plain))
		return from;
	look->at = plain ? to : from;
	look->to = to;
	if (!plain)
	{
		look->each = fc_look_each(loader);
		if (look->each)
			fc_batch_places(loader->batch, from, to, look->offsets + from, look->lengths + from);
		edata = fc_error_evaluate(ctx, loader->batch->offset, 0, fc_look_rows, loader);
		ResetPerTupleExprContext(loader->estate);
	}
	Assert(look->at >= from && look->at <= look->to && look->to <= to);
	*alone = look->at < look->to && edata == NULL;
	if (look->at > from)
		fc_look_put(loader, from, look->at, plain);
	if (edata)
	{
		if (loader->batch->unfinished)
			fc_parse_count_kept(loader->parser, ctx->at_offset, ctx->at_length);
		fc_error_take(ctx, look->kind, edata, true);
	}
	return look->at;
}

/* Spilled rows that are looked at */
typedef struct FcLookedSpilled
{
	FcLoader   *loader;
	const FcSpilledRow *rows;
	int			n;
	int			at;
} FcLookedSpilled;

/* Body of fc_error_evaluate: stops at a row for which a CHECK is false */
static void
fc_look_spilled_rows(void *arg)
{
	FcLookedSpilled *look = arg;
	FcLeaf	   *leaf = look->loader->leaf;
	TupleTableSlot *slot = leaf->slot;

	for (; look->at < look->n; look->at++)
	{
		const FcSpilledRow *row = &look->rows[look->at];

		fc_spilled_ask_ahead(look->rows, look->at, look->n);
		/* the leaf has it already */
		if (fc_offset_is_tuple(fc_spilled_offset(row)))
			continue;
		fc_error_at(look->loader->ctx, fc_spilled_offset(row), fc_spilled_length(row->spilled));
		ExecClearTuple(slot);
		fc_seen_deform(leaf->seen, row->spilled, slot);
		ExecStoreVirtualTuple(slot);
		slot->tts_tableOid = RelationGetRelid(leaf->rri->ri_RelationDesc);
		if (fc_row_failed_check(look->loader, leaf) >= 0)
			break;
		ResetPerTupleExprContext(look->loader->estate);
	}
}

int
fc_look_spilled(FcLoader *loader, const FcSpilledRow *rows, int n)
{
	FcLookedSpilled look = {loader, rows, n};
	ErrorData  *edata;

	Assert(loader->leaf->spilled && loader->leaf->seen != NULL);
	edata = fc_error_evaluate(loader->ctx, fc_spilled_offset(rows), 0, fc_look_spilled_rows, &look);
	ResetPerTupleExprContext(loader->estate);
	ExecClearTuple(loader->leaf->slot);
	if (edata)
		fc_error_take(loader->ctx, FC_ERROR_ROW, edata, true);
	return look.at;
}
