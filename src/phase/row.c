/*-------------------------------------------------------------------------
 *
 * phase/row.c
 *	  One row: from the bytes of its record to the writer of its leaf.
 *
 * 1. fc_row_load parses the record as far as no error about data can come up.
 * 2. A plain row goes to its leaf's writer, or to the sort, outside of any
 *    catch (fc_row_build_plain).
 * 3. Any other is built within a catch (fc_row_build): the rest of its values,
 *    its key and the condition, the leaf's row type, generated columns,
 *    checks.
 * 4. Its outcome says whether it is written, counted as filtered, rejected, or
 *    shows that the file has changed (fc_row_end).  An error is noted, and the
 *    phase goes on with rows before it in the file.
 *
 * Faults that on_error tolerates are found here without an exception, before
 * core would throw them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/nodeModifyTable.h"

#include "phase/loader.h"
#include "row/where.h"

/* Refuses the row, all values of which were converted, with core's text */
static void
fc_row_refuse(FcLoader *loader, uint32 class, const char *column,
			  int sqlerrcode, char *message)
{
	Assert(fc_row_tolerates(loader, class) || class == FC_CLASS_NOT_NULL);
	loader->row.outcome = FC_ROW_REFUSED;
	loader->row.bad = (FcBad) {class, column, NULL, fc_error_made(sqlerrcode, message)};
}

/* The first NOT NULL column with a NULL; NULL: there is none */
static inline Form_pg_attribute
fc_row_misses_value(const TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	const bool *end = slot->tts_isnull + desc->natts;
	const bool *null = slot->tts_isnull;

	if (!fc_form_any_null(null, desc->natts) ||
		desc->constr == NULL || !desc->constr->has_not_null)
		return NULL;
	while (null < end && (null = memchr(null, true, end - null)) != NULL)
	{
		Form_pg_attribute att = TupleDescAttr(desc, null++ - slot->tts_isnull);

		if (att->attnotnull && !fc_is_virtual(att))
			return att;
	}
	return NULL;
}

/* Refuses the row, and returns false, if a NOT NULL column has a NULL */
static bool
fc_row_check_nulls(FcLoader *loader)
{
	Form_pg_attribute att = fc_row_misses_value(loader->leaf->slot);

	if (att == NULL)
		return true;
	fc_row_refuse(loader, FC_CLASS_NOT_NULL, NameStr(att->attname), ERRCODE_NOT_NULL_VIOLATION,
				  psprintf("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
						   NameStr(att->attname), RelationGetRelationName(loader->leaf->rri->ri_RelationDesc)));
	return false;
}

/* The CHECKs' expressions, cached where core caches them */
static ExprState **
fc_row_check_exprs(FcLoader *loader, ResultRelInfo *rri)
{
	TupleConstr *constr = RelationGetDescr(rri->ri_RelationDesc)->constr;
	MemoryContext old;

	if (fc_check_exprs(rri) != NULL)
		return fc_check_exprs(rri);
	old = MemoryContextSwitchTo(loader->estate->es_query_cxt);
	fc_check_exprs(rri) = palloc0(sizeof(ExprState *) * constr->num_check);
	for (int i = 0; i < constr->num_check; i++)
		if (fc_check_is_enforced(&constr->check[i]))
			fc_check_exprs(rri)[i] =
				ExecPrepareExpr((Expr *) fc_check_expression(rri->ri_RelationDesc,
															 &constr->check[i]),
								loader->estate);
	MemoryContextSwitchTo(old);
	return fc_check_exprs(rri);
}

int
fc_row_failed_check(FcLoader *loader, const FcLeaf *leaf)
{
	ExprContext *econtext = GetPerTupleExprContext(loader->estate);
	ExprState **exprs = fc_row_check_exprs(loader, leaf->rri);
	int			n = RelationGetDescr(leaf->rri->ri_RelationDesc)->constr->num_check;

	econtext->ecxt_scantuple = leaf->slot;
	for (int i = 0; i < n; i++)
		if (exprs[i] != NULL && !ExecCheck(exprs[i], econtext))
			return i;
	return -1;
}

/*
 * Checks NOT NULL and CHECK.  Violations that are tolerated are found here
 * before core would throw them, in core's order; core checks the rest.
 */
static void
fc_row_check_constraints(FcLoader *loader)
{
	FcLeaf	   *leaf = loader->leaf;
	Relation	rel = leaf->rri->ri_RelationDesc;
	TupleDesc	desc = RelationGetDescr(rel);
	int			failed;
	bool		nulls = fc_row_tolerates(loader, FC_CLASS_NOT_NULL);
	bool		any = desc->constr->num_check > 0;
	bool		checks = any && fc_row_tolerates(loader, FC_CLASS_CHECK);

	if (nulls && !fc_row_check_nulls(loader))
		return;
	if (checks)
	{
		/* a NULL that is not tolerated comes first */
		if (!nulls && !fc_row_check_nulls(loader))
		{
			loader->row.outcome = FC_ROW_BUILT;
			ExecConstraints(leaf->rri, leaf->slot, loader->estate);
		}
		failed = fc_row_failed_check(loader, leaf);
		if (failed >= 0)
		{
			fc_row_refuse(loader, FC_CLASS_CHECK, NULL, ERRCODE_CHECK_VIOLATION,
						  psprintf("new row for relation \"%s\" violates check constraint \"%s\"",
								   RelationGetRelationName(rel), desc->constr->check[failed].ccname));
			return;
		}
	}
	/* a CHECK is evaluated twice only where core must see virtual columns */
	if ((!checks && (any || !nulls)) || fc_has_virtual(desc))
		ExecConstraints(leaf->rri, leaf->slot, loader->estate);
}

/* Refuses the row, and returns false, if the target's own bound excludes it */
static bool
fc_row_check_partition(FcLoader *loader, TupleTableSlot *slot)
{
	if (ExecPartitionCheck(loader->root, slot, loader->estate, !fc_row_tolerates(loader, FC_CLASS_NO_PARTITION)))
		return true;
	fc_row_refuse(loader, FC_CLASS_NO_PARTITION, NULL, ERRCODE_CHECK_VIOLATION,
				  psprintf("new row for relation \"%s\" violates partition constraint",
						   RelationGetRelationName(loader->ctx->target)));
	return false;
}

/*
 * Does the row have the key that the scan found?  Not if another process has
 * written to the file since; the file's times need not show it, if it used a
 * mapping.
 */
static inline bool
fc_row_has_key(const FcLoader *loader, const TupleTableSlot *slot)
{
	const FcRow *row = &loader->row;
	bool		null;

	return !row->keyed ||
		(fc_row_key(&loader->ctx->shared->plan, slot, &null) == row->key && null == row->key_null);
}

/*
 * For an analysis: refuses the row, and returns false, if its key is outside
 * of the range that would be replaced
 */
static bool
fc_row_check_range(FcLoader *loader, TupleTableSlot *slot)
{
	const FcPlan *plan = &loader->ctx->shared->plan;
	bool		null;

	if (!loader->dry || plan->bounds.hi_max ||
		(fc_range_has(&plan->bounds, fc_row_key(plan, slot, &null)) && !null))
		return true;
	/* of those that an analysis always tolerates */
	fc_row_refuse(loader, FC_CLASS_CHECK,
				  NameStr(TupleDescAttr(slot->tts_tupleDescriptor, plan->key.attnum - 1)->attname), ERRCODE_CHECK_VIOLATION,
				  psprintf("the key lies outside of the range that is replaced, %s",
						   fc_range_text(plan->key.type, &plan->bounds)));
	return false;
}

/*
 * Builds a row that is plain: all its values are parsed, its leaf is known and
 * plain, and so nothing about it can be an error.  Returns false for any other
 * row, which fc_row_try() then builds.
 */
static inline bool
fc_row_build_plain(FcLoader *loader, TupleTableSlot *slot)
{
	FcLeaf	   *leaf;

	if (!loader->row.parsed || loader->mark || (loader->where_again && loader->row.reread))
		return false;
	if (loader->router.proute)
		loader->leaf = fc_leaf_find_known(loader);
	leaf = loader->leaf;
	if (leaf == NULL || !leaf->plain || loader->dry || !fc_row_has_key(loader, slot))
		return false;
	ExecStoreVirtualTuple(slot);
	if (slot != leaf->slot)
		fc_leaf_take(leaf, slot);
	if (fc_row_misses_value(leaf->slot))
	{
		/* fc_row_try() lets core throw the error */
		ExecClearTuple(slot);
		return false;
	}
	leaf->slot->tts_tableOid = RelationGetRelid(leaf->rri->ri_RelationDesc);
	return true;
}

/* Parses the rest; returns the outcome as far as it is known without a leaf */
static FcOutcome
fc_row_parsed(FcLoader *loader, TupleTableSlot *slot)
{
	FcRow	   *row = &loader->row;
	const FcPlan *plan = &loader->ctx->shared->plan;

	if (!row->parsed && !fc_parse_rest(loader->parser))
	{
		row->bad = fc_parse_faults(loader->parser)->bad;
		return FC_ROW_REFUSED;
	}
	if (!fc_row_has_key(loader, slot))
		return FC_ROW_CHANGED;
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(loader->ctx->target);
	if (loader->where_again && row->reread &&
		!fc_where_accepts(loader->where_again, loader->estate, slot))
		return FC_ROW_CHANGED;
	if (loader->where && !fc_where_accepts(loader->where, loader->estate, slot))
		return FC_ROW_FILTERED;
	/* of a row that was spilled the scan has told it */
	if (!row->parsed)
		row->marked = loader->mark && fc_where_accepts(loader->mark, loader->estate, slot);
	/* the scan's check is forgotten */
	if (loader->bounds)
	{
		bool		null;
		int64		key = fc_row_key(plan, slot, &null);

		fc_range_check(plan->key.type, loader->bounds, key, null);
	}
	return fc_row_check_range(loader, slot) ? FC_ROW_BUILT : FC_ROW_REFUSED;
}

bool
fc_row_parse(FcLoader *loader, TupleTableSlot *slot)
{
	loader->row.outcome = fc_row_parsed(loader, slot);
	return loader->row.outcome == FC_ROW_BUILT;
}

void
fc_row_place(FcLoader *loader, TupleTableSlot *slot)
{
	Relation	target = loader->ctx->target;
	bool		partitioned = target->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	FcLeaf	   *leaf;
	TupleConstr *constr;

	if (loader->row.marked && (loader->dry || (loader->leaf == NULL && !loader->router.proute)))
	{
		loader->row.outcome = FC_ROW_MARKED;
		return;
	}
	if (loader->router.proute ? !fc_leaf_route(loader) : loader->leaf == NULL)
	{
		fc_row_refuse(loader, FC_CLASS_NO_PARTITION, NULL, ERRCODE_CHECK_VIOLATION,
					  psprintf("no partition of relation \"%s\" found for row",
							   RelationGetRelationName(target)));
		return;
	}
	if (!loader->router.proute && target->rd_rel->relispartition && partitioned && !loader->row.marked &&
		!fc_row_check_partition(loader, slot))
		return;

	leaf = loader->leaf;
	constr = RelationGetDescr(leaf->rri->ri_RelationDesc)->constr;
	fc_leaf_take(leaf, slot);
	leaf->slot->tts_tableOid = RelationGetRelid(leaf->rri->ri_RelationDesc);
	if (constr && constr->has_generated_stored)
		ExecComputeStoredGenerated(leaf->rri, loader->estate, leaf->slot, CMD_INSERT);
	if (leaf->mark != 0)
	{
		leaf->slot->tts_values[leaf->mark - 1] = BoolGetDatum(loader->row.marked);
		leaf->slot->tts_isnull[leaf->mark - 1] = false;
	}
	/* a mark often has its keys alone */
	if (constr && !loader->row.marked)
		fc_row_check_constraints(loader);
	/* core checks the bound after other constraints where it does not route */
	if (target->rd_rel->relispartition && !partitioned && !loader->row.marked &&
		loader->row.outcome == FC_ROW_BUILT)
		(void) fc_row_check_partition(loader, leaf->slot);
}

/* Body of fc_error_evaluate: from bytes to a checked row in the leaf's slot */
static void
fc_row_build(void *arg)
{
	FcLoader   *loader = arg;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

	loader->row.outcome = FC_ROW_REFUSED;
	if (fc_row_parse(loader, loader->slot))
		fc_row_place(loader, loader->slot);
	MemoryContextSwitchTo(old);
}

/* Bytes that the row takes on a page without compression */
static Size
fc_row_size(TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	Size		header = SizeofHeapTupleHeader;

	if (fc_form_any_null(slot->tts_isnull, desc->natts))
		header += BITMAPLEN(desc->natts);
	return MAXALIGN(MAXALIGN(header) +
					heap_compute_data_size(desc, slot->tts_values, slot->tts_isnull)) +
		sizeof(ItemIdData);
}

void
fc_row_put(FcLoader *loader)
{
	if (loader->dedup)
		fc_dedup_put(loader);
	else
		fc_leaf_write(loader);
}

/* Throws ERROR for a row with another key or condition than at the scan */
static void
fc_row_changed(const FcLoader *loader)
{
	if (fc_parse_key_is_default(loader->parser))
		fc_throw(ERRCODE_INVALID_FUNCTION_DEFINITION, errmsg("default of the key changed while the file was being loaded"),
				 errdetail("It is computed twice for a row, first to find the row's partition."),
				 errhint("A function that does not always return the same must be marked volatile."));
	fc_source_differs(loader->ctx->source, loader->row.record->offset,
					  "a record with another key, or one that the condition is not true for");
}

/* Writes or counts the row, as its outcome says */
static void
fc_row_end(FcLoader *loader)
{
	FcShared   *shared = loader->ctx->shared;
	FcRow	   *row = &loader->row;

	Assert(row->outcome != FC_ROW_BUILT || loader->leaf != NULL);
	if (row->outcome != FC_ROW_REFUSED)
		fc_parse_count_kept(loader->parser, row->record->offset, row->record->length);
	switch (row->outcome)
	{
		case FC_ROW_BUILT:
			if (loader->dry)
			{
				pg_atomic_fetch_add_u64(&shared->counts.loaded, 1);
				pg_atomic_fetch_add_u64(&shared->counts.heap_bytes,
										fc_row_size(loader->leaf->slot));
				break;
			}
			fc_row_put(loader);
			break;
		case FC_ROW_FILTERED:
			fc_context_count_out(loader->ctx, filtered, row->record->offset, 1);
			break;
		case FC_ROW_MARKED:
			fc_dedup_count_mark(loader, row->record->offset, 0);
			break;
		case FC_ROW_CHANGED:
			fc_row_changed(loader);
			break;
		case FC_ROW_REFUSED:
			fc_reject_put(loader->ctx, row->record->offset, row->record->length, &row->bad);
			break;
	}
}

/* Builds the row; if that throws, notes the error and returns false */
static bool
fc_row_try(FcLoader *loader)
{
	FcRow	   *row = &loader->row;
	ErrorData  *edata = fc_error_evaluate(loader->ctx, row->record->offset, row->record->length,
										  fc_row_build, loader);

	if (edata == NULL)
		return true;
	fc_parse_count_kept(loader->parser, row->record->offset, row->record->length);
	fc_error_take(loader->ctx, row->outcome == FC_ROW_BUILT ? FC_ERROR_ROW : FC_ERROR_DATA, edata, true);
	return false;
}

bool
fc_row_take(FcLoader *loader, const FcRecord *record)
{
	CHECK_FOR_INTERRUPTS();
	if (loader->ctx->stopped || fc_error_beyond(loader->ctx->shared, record->offset))
		return false;
	ExecClearTuple(loader->slot);
	loader->row.record = record;
	loader->row.parsed = true;
	Assert(CurrentMemoryContext == loader->ctx->mcxt);
	MemoryContextSwitchTo(loader->row_mcxt);
	return true;
}

void
fc_row_load_taken(FcLoader *loader)
{
	Assert(CurrentMemoryContext == loader->row_mcxt);
	if (fc_row_build_plain(loader, loader->slot))
		fc_row_put(loader);
	else
	{
		MemoryContextSwitchTo(loader->ctx->mcxt);
		if (fc_row_try(loader))
		{
			MemoryContextSwitchTo(loader->row_mcxt);
			fc_row_end(loader);
		}
		ResetPerTupleExprContext(loader->estate);
	}
	MemoryContextSwitchTo(loader->ctx->mcxt);
	if (!loader->row_mcxt->isReset || loader->row_mcxt->firstchild != NULL)
		MemoryContextReset(loader->row_mcxt);
	if (loader->router.proute && !loader->sorter.sort)
		fc_leaf_limit(loader, 1, loader->row.record->length);
	fc_load_count(loader, 1);
}

void
fc_row_load(FcLoader *loader, const FcRecord *record)
{
	if (!fc_row_take(loader, record))
		return;
	fc_row_parse_quickly(loader, loader->slot);
	fc_row_load_taken(loader);
}

void
fc_row_load_batched(FcLoader *loader, int i)
{
	TupleTableSlot *slot = loader->slot;

	Assert(i >= 0 && i < loader->batch->n && !loader->batch->odd[i]);
	fc_batch_record(loader->batch, i, &loader->batched);
	if (!fc_row_take(loader, &loader->batched))
		return;
	fc_parse_number(loader->parser, loader->number + i);
	loader->row.parsed = fc_batch_take(loader->batch, i, slot->tts_values, slot->tts_isnull);
	fc_row_load_taken(loader);
}
