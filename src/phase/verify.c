/*-------------------------------------------------------------------------
 *
 * phase/verify.c
 *	  Looks at rows again, in the order of the file.
 *
 *	chunks ──► record ──► row ──► its leaf ──┬─► what indexes compute
 *						   │				 └─► insert, one by one
 *						   └─► is it the one that core refused?
 *
 * The leader does this alone, after a process stopped or an index could not be
 * built: a record before the first known bad one may be bad, too; or to find
 * the record of a row.  It releases nothing: the transaction aborts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"

#include "phase/loader.h"
#include "phase/phases.h"

typedef struct FcVerifier
{
	FcLoader	loader;
	FcLeaf	   *leaves;			/* by number of the part */
	FcTask	  **by_key;			/* all tasks, by key */
	int			nleaves;
	int			nwriters;		/* open */
	bool		entry;			/* the row is built: an error is about an
								 * index's expression */
	bool		insert;			/* rows of new partitions are inserted, one by
								 * one */

	/* of fc_verify_find; else NULL */
	const ErrorData *refused;
	Datum	   *values;			/* of the row */
	bool	   *nulls;
	bool		found;
} FcVerifier;

/* Orders tasks by key, with those of null keys last */
static int
fc_verify_task_cmp(const void *a, const void *b)
{
	const FcTask *ta = *(FcTask *const *) a;
	const FcTask *tb = *(FcTask *const *) b;

	if (ta->null != tb->null)
		return ta->null ? 1 : -1;
	return fc_spill_bound_cmp(&ta->lo, &tb->lo);
}

/* The task of a row with this key and offset, or NULL */
static FcTask *
fc_verify_task(FcVerifier *verifier, int64 key, bool null, uint64 offset)
{
	uint32		after = 0;		/* number of the first task after the row */
	FcTask	   *task;

	fc_search(uint32, after, verifier->loader.ctx->shared->ntasks, mid,
			  !(verifier->by_key[mid]->null != null ? verifier->by_key[mid]->null :
				fc_spill_before(key, offset, &verifier->by_key[mid]->lo)));
	if (after == 0)
		return NULL;
	task = verifier->by_key[after - 1];
	return task->null == null &&
		(task->hi_max || fc_spill_before(key, offset, &task->hi)) ? task : NULL;
}

/*
 * Opens the leaf of a task, which stays open: the next row may be of any other
 * leaf.  One that was made will get the indexes of another table.
 */
static void
fc_verify_open_leaf(FcVerifier *verifier, FcLeaf *leaf, const FcTask *task)
{
	FcLoader   *loader = &verifier->loader;
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);

	fc_leaf_open(loader, leaf, task->partition);
	leaf->slot = MakeSingleTupleTableSlot(RelationGetDescr(leaf->rri->ri_RelationDesc),
										  &TTSOpsVirtual);
	if (task->created && !verifier->insert)
	{
		Relation	rel = table_open(OidIsValid(task->replaces) ? task->replaces : loader->ctx->shared->target, NoLock);

		leaf->indexes = fc_executor_child_indexes(rel, leaf->rri->ri_RelationDesc);
		table_close(rel, NoLock);
	}
	MemoryContextSwitchTo(old);
}

/* Opens a writer; ends all if there are many, because each pins a page */
static void
fc_verify_open_writer(FcVerifier *verifier, FcLeaf *leaf)
{
	if (verifier->nwriters == FC_LEAF_WRITERS)
	{
		for (int i = 0; i < verifier->nleaves; i++)
		{
			if (verifier->leaves[i].writer)
				(void) fc_write_end(verifier->leaves[i].writer);
			verifier->leaves[i].writer = NULL;
		}
		verifier->nwriters = 0;
	}
	fc_leaf_begin_writer(&verifier->loader, leaf);
	verifier->nwriters++;
}

/*
 * Sets loader->leaf, where core does not route; it stays NULL if no partition
 * takes the row.  False if the row need not be looked at: an error about it is
 * noted already, or rows of its leaf are not to be inserted.
 */
static bool
fc_verify_find_leaf(FcVerifier *verifier, TupleTableSlot *slot)
{
	FcLoader   *loader = &verifier->loader;
	FcShared   *shared = loader->ctx->shared;
	const FcTask all = {.partition = shared->leaf,.created = shared->leaf != shared->target};
	const FcTask *task = &all;
	FcLeaf	   *leaf;

	if (loader->router.proute)
		return true;
	if (fc_shared_keyed(shared))
	{
		bool		null;
		int64		key = fc_row_key(&shared->plan, slot, &null);

		task = fc_verify_task(verifier, key, null, loader->row.record->offset);
		if (task == NULL)
			return false;
		/* no partition takes it */
		if (!OidIsValid(task->partition))
			return true;
	}
	if (verifier->insert && !task->created)
		return false;
	Assert(task->part < (uint32) verifier->nleaves);
	leaf = &verifier->leaves[task->part];
	if (leaf->rri == NULL)
		fc_verify_open_leaf(verifier, leaf, task);
	if (verifier->insert && leaf->writer == NULL)
		fc_verify_open_writer(verifier, leaf);
	loader->leaf = leaf;
	return true;
}

/*
 * Evaluates the expressions and the predicate of an index, as COPY does for
 * each row.  The load may not have done so: a process may have stopped before
 * the row, batches get index entries after their rows, and new partitions get
 * indexes after the load.
 */
static void
fc_verify_index_value(FcLoader *loader, IndexInfo *index)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (index->ii_ReadyForInserts)
		(void) fc_entries_values(index, loader->leaf->slot, loader->estate, values, isnull);
}

/* Body of fc_error_evaluate: from bytes to a checked row of any leaf */
static void
fc_verify_row(void *arg)
{
	FcVerifier *verifier = arg;
	FcLoader   *loader = &verifier->loader;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);
	TupleTableSlot *slot = ExecClearTuple(loader->root_slot);

	fc_row_parse_quickly(loader, slot);
	verifier->entry = false;
	loader->row.outcome = FC_ROW_REFUSED;
	if (fc_row_parse(loader, slot) && fc_verify_find_leaf(verifier, slot))
	{
		fc_row_place(loader, slot);
		verifier->entry = loader->row.outcome == FC_ROW_BUILT && !verifier->insert && !loader->row.marked;
		for (int i = 0; verifier->entry && i < loader->leaf->rri->ri_NumIndices; i++)
			fc_verify_index_value(loader, loader->leaf->rri->ri_IndexRelationInfo[i]);
		foreach_ptr(IndexInfo, index, verifier->entry ? loader->leaf->indexes : NIL)
			fc_verify_index_value(loader, index);
	}
	MemoryContextSwitchTo(old);
}

/* Body of fc_error_evaluate: does the record have the row's values? */
static void
fc_verify_compare(void *arg)
{
	FcVerifier *verifier = arg;
	FcLoader   *loader = &verifier->loader;
	const FcShared *shared = loader->ctx->shared;
	TupleTableSlot *slot = ExecClearTuple(loader->root_slot);
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

	fc_row_parse_quickly(loader, slot);
	verifier->found = fc_row_parse(loader, slot) && !loader->row.marked;
	for (int i = 0; i < shared->plan.ncolumns && verifier->found; i++)
	{
		int			n = fc_shared_columns(shared)[i] - 1;

		if (n < 0)
			continue;
		verifier->found = slot->tts_isnull[n] == verifier->nulls[n] &&
			(verifier->nulls[n] ||
			 datum_image_eq(slot->tts_values[n], verifier->values[n],
							TupleDescAttr(slot->tts_tupleDescriptor, n)->attbyval,
							TupleDescAttr(slot->tts_tupleDescriptor, n)->attlen));
	}
	MemoryContextSwitchTo(old);
}

/* Notes the error for the record, if it has the row's values */
static void
fc_verify_seek(FcVerifier *verifier, const FcRecord *record)
{
	FcLoader   *loader = &verifier->loader;
	ErrorData  *edata;

	loader->row.record = record;
	verifier->found = false;
	edata = fc_error_evaluate(loader->ctx, record->offset, record->length,
							  fc_verify_compare, verifier);
	if (edata)
		FreeErrorData(edata);
	else if (verifier->found)
		fc_error_keep(loader->ctx->shared, FC_ERROR_ROW, record->offset,
					  record->length, verifier->refused);
}

/* Looks at a record; an error that it notes is the file's first */
static void
fc_verify_record(FcVerifier *verifier, const FcRecord *record)
{
	FcLoader   *loader = &verifier->loader;
	FcContext  *ctx = loader->ctx;
	ErrorData  *edata;

	loader->row.record = record;
	loader->leaf = NULL;
	edata = fc_error_evaluate(ctx, record->offset, record->length,
							  fc_verify_row, verifier);
	if (edata == NULL && loader->row.outcome == FC_ROW_REFUSED)
		fc_reject_put(ctx, record->offset, record->length, &loader->row.bad);
	else
		fc_parse_count_kept(loader->parser, record->offset, record->length);
	if (edata)
		fc_error_take(ctx, verifier->entry ? FC_ERROR_ENTRY :
					  loader->row.outcome == FC_ROW_BUILT ? FC_ERROR_ROW : FC_ERROR_DATA, edata, false);
	else if (loader->row.outcome == FC_ROW_BUILT && verifier->insert && loader->leaf && !loader->row.marked)
	{
		MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

		/* the writer notes an error of an index */
		fc_write_put(loader->leaf->writer, record->offset, record->length);
		fc_write_flush(loader->leaf->writer);
		MemoryContextSwitchTo(old);
	}
}

static void
fc_verify_chunk(FcVerifier *verifier, FcChunkReader *reader, uint32 i)
{
	uint64		number = fc_shared_start(reader->ctx->shared, i)->before;

	if (!fc_chunk_reader_enter(reader, i))
		return;
	while (fc_chunk_reader_next(reader))
	{
		CHECK_FOR_INTERRUPTS();
		fc_parse_number(verifier->loader.parser, number++);
		if (verifier->refused)
			fc_verify_seek(verifier, &reader->record);
		else if (!fc_load_is_sent(&verifier->loader, &reader->record))
			fc_verify_record(verifier, &reader->record);
		MemoryContextReset(verifier->loader.row_mcxt);
		ResetPerTupleExprContext(verifier->loader.estate);
	}
}

/* Looks at the records of the chunks from this one on */
static void
fc_verify_chunks(FcVerifier *verifier, FcContext *ctx, uint32 first)
{
	FcChunkReader reader;

	Assert(!ctx->in_worker);
	fc_chunk_reader_begin(&reader, ctx, 65536);
	ctx->verifying = true;
	fc_load_begin(&verifier->loader, ctx);
	for (uint32 i = first; i < ctx->shared->source.nchunks; i++)
		fc_verify_chunk(verifier, &reader, i);
	fc_reject_end(ctx);
	ctx->verifying = false;
}

/*
 * Parses and checks the records before the first known bad one, in file order,
 * and notes the first error; records with tolerated faults are rejected once
 * more.
 */
void
fc_verify_load(FcContext *ctx, int nleaves, bool insert)
{
	FcShared   *shared = ctx->shared;
	FcVerifier	verifier = {.nleaves = Max(nleaves, 1),.insert = insert};
	uint32		first = 0;

	verifier.leaves = palloc0(sizeof(FcLeaf) * verifier.nleaves);
	verifier.by_key = palloc(sizeof(FcTask *) * (shared->ntasks + 1));
	for (uint32 i = 0; i < shared->ntasks; i++)
		verifier.by_key[i] = (FcTask *) ctx->tasks + i;
	qsort(verifier.by_key, shared->ntasks, sizeof(FcTask *), fc_verify_task_cmp);

	/*
	 * Where chunks insert in turn, chunks before the error's are good if their
	 * turn is over: no process has stopped there.  Their records may be gone
	 * from a ring, too.  The turn of the error's own chunk may be over as well:
	 * a process that stops passes it on.  An index that is built later has seen
	 * no chunk.
	 */
	if (shared->course.way == FC_WAY_TURNS && !insert)
	{
		first = fc_lines_chunk(shared, pg_atomic_read_u64(&shared->errors.offset));
		first = Min(first, shared->done);
	}
	fc_verify_chunks(&verifier, ctx, first);
}

void
fc_verify_find(FcContext *ctx, HeapTuple row, const ErrorData *refused)
{
	TupleDesc	desc = RelationGetDescr(ctx->target);
	FcVerifier	verifier = {.refused = refused};

	verifier.values = palloc(sizeof(Datum) * desc->natts);
	verifier.nulls = palloc(sizeof(bool) * desc->natts);
	heap_deform_tuple(row, desc, verifier.values, verifier.nulls);
	fc_verify_chunks(&verifier, ctx, 0);
}
