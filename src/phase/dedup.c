/*-------------------------------------------------------------------------
 *
 * phase/dedup.c
 *	  Lets one of the rows that are equal in some columns pass to the writer.
 *
 *	rows in key order ──► those of one key ──► a hash table ──► rows that stay
 *			└──► too many for the memory ──► sorted by these columns ──►┘
 *
 * The key is one of the columns: equal rows come together, in the order of the
 * leaf and then of the file.  The last of them stays, or the first, or the one
 * that is the greatest in other columns.  If that one is a delete mark none
 * stays, but where a stage takes it.  Rows have passed all checks before they
 * come here.
 *
 * Sorted rows of a key leave in the order of the columns, others as they came.
 * On error the phase's memory context and resource owner release all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/typcache.h"

#include "phase/loader.h"

/*
 * Average probes per row above which rows are sorted instead of hashed: their
 * types have no hash function, or somebody has chosen values that collide
 */
#define FC_DEDUP_PROBES	64

/* A column by which rows are compared, beside the key */
typedef struct FcDedupColumn
{
	AttrNumber	target;			/* in the target */
	AttrNumber	attnum;			/* in the leaf */
	Oid			collation;
	FmgrInfo	equal;
	FmgrInfo	hash;			/* fn_oid InvalidOid: there is none */
	FmgrInfo	compare;		/* of the columns that order equal rows */
} FcDedupColumn;

/* A row of the current key */
typedef struct FcDedupRow
{
	HeapTupleData tuple;		/* of the leaf's row type */
	FcSpilled  *spilled;		/* its tuple, if that was spilled, never bare;
								 * or NULL */
	uint64		offset;
	uint32		length;			/* of its record */
	uint32		hash;
	bool		gone;
	bool		marked;			/* it is a delete mark */
	uint32		nold;			/* rows of the leaf that it was preferred to */
} FcDedupRow;

/* In FcSortRow.length: the row is a delete mark.  Records are shorter. */
#define FC_DEDUP_MARK	((uint32) 1 << 31)

struct FcDedup
{
	int			ncolumns;
	FcDedupColumn *columns;		/* ncolumns, and norder after them */
	int			norder;
	bool		first;			/* of equal rows the first stays */
	bool		nulls_equal;
	bool		apart;			/* no two rows are equal: their key is NULL */
	TupleDesc	desc;			/* of the leaf */

	/* the rows of one key */
	int64		key;
	FcDedupRow *rows;
	int			nrows;
	int			allocated;
	int			ncopied;		/* of these, the first ones, which are in
								 * mcxt */
	MemoryContext mcxt;
	MemoryContext compare_mcxt; /* for what comparisons allocate */
	Size		copied;			/* bytes in mcxt */
	Size		most;			/* of "copied" */
	int		   *table;			/* numbers of rows; -1: none */
	uint32		table_size;		/* a power of two */
	FcSort	   *sort;			/* has all of them instead of "rows"; or
								 * NULL */

	/* spilled rows that go to the writer together */
	FcSpilledRow out[FC_BATCH_ROWS];
	int			nout;
};

static void
fc_dedup_column(const FcContext *ctx, const FcSortKey *key, FcDedupColumn *column)
{
	TypeCacheEntry *type = lookup_type_cache(TupleDescAttr(RelationGetDescr(ctx->target), key->attnum - 1)->atttypid,
											 TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_PROC_FINFO | TYPECACHE_CMP_PROC_FINFO);

	column->target = key->attnum;
	column->collation = key->collation;
	fmgr_info_copy(&column->equal, &type->eq_opr_finfo, CurrentMemoryContext);
	fmgr_info_copy(&column->compare, &type->cmp_proc_finfo, CurrentMemoryContext);
	if (OidIsValid(type->hash_proc))
		fmgr_info_copy(&column->hash, &type->hash_proc_finfo, CurrentMemoryContext);
}

FcDedup *
fc_dedup_begin(const FcContext *ctx)
{
	const FcShared *shared = ctx->shared;
	const FcSortKey *keys = fc_shared_dedup(shared);
	int			nkeys = shared->plan.dedup.nkeys;
	FcDedup    *dedup;

	if (nkeys == 0)
		return NULL;
	dedup = palloc0(sizeof(FcDedup));
	dedup->first = shared->plan.dedup.first;
	dedup->nulls_equal = shared->plan.dedup.nulls_equal;
	dedup->norder = shared->plan.dedup.norder;
	dedup->columns = palloc0(sizeof(FcDedupColumn) * (nkeys + dedup->norder));
	for (int i = 0; i < nkeys; i++)
		if (keys[i].attnum != shared->plan.key.attnum)
			fc_dedup_column(ctx, &keys[i], &dedup->columns[dedup->ncolumns++]);
	for (int i = 0; i < dedup->norder; i++)
		fc_dedup_column(ctx, &keys[nkeys + i], &dedup->columns[dedup->ncolumns + i]);
	dedup->most = shared->memory / 16;
	dedup->allocated = FC_BATCH_ROWS;
	dedup->rows = palloc(sizeof(FcDedupRow) * dedup->allocated);
	dedup->mcxt = fc_context_memory(CurrentMemoryContext, "equal rows");
	dedup->compare_mcxt = fc_context_memory(CurrentMemoryContext, "compared values");
	return dedup;
}

void
fc_dedup_begin_task(FcDedup *dedup, const FcLeaf *leaf, bool null)
{
	dedup->apart = null && !dedup->nulls_equal;
	Assert(dedup->nrows == 0 && dedup->sort == NULL);
	dedup->desc = RelationGetDescr(leaf->rri->ri_RelationDesc);
	for (int i = 0; i < dedup->ncolumns + dedup->norder; i++)
		dedup->columns[i].attnum = fc_sort_mapped(leaf->map, dedup->columns[i].target);
}

/* Frees what the comparison allocated, such as values from a TOAST table */
static inline void
fc_dedup_end_values(const FcDedup *dedup, MemoryContext old)
{
	MemoryContextSwitchTo(old);
	if (!dedup->compare_mcxt->isReset)
		MemoryContextReset(dedup->compare_mcxt);
}

/* Sets the row's hash; false: no other row is equal to it */
static bool
fc_dedup_hash(const FcDedup *dedup, FcDedupRow *row)
{
	MemoryContext old = MemoryContextSwitchTo(dedup->compare_mcxt);
	uint32		hash = 0;
	bool		any = false;

	for (int i = 0; i < dedup->ncolumns; i++)
	{
		FcDedupColumn *column = &dedup->columns[i];
		bool		null;
		Datum		value = heap_getattr(&row->tuple, column->attnum, dedup->desc, &null);

		any = any || null;
		if (OidIsValid(column->hash.fn_oid))
			hash = hash_combine(hash, null ? 0 :
								DatumGetUInt32(FunctionCall1Coll(&column->hash, column->collation, value)));
	}
	fc_dedup_end_values(dedup, old);
	row->hash = murmurhash32(hash);
	return dedup->nulls_equal || !any;
}

static bool
fc_dedup_is_equal(const FcDedup *dedup, FcDedupRow *a, FcDedupRow *b)
{
	MemoryContext old = MemoryContextSwitchTo(dedup->compare_mcxt);
	bool		equal = true;

	Assert(a->tuple.t_len >= SizeofHeapTupleHeader && b->tuple.t_len >= SizeofHeapTupleHeader);
	for (int i = 0; i < dedup->ncolumns && equal; i++)
	{
		FcDedupColumn *column = &dedup->columns[i];
		bool		anull;
		bool		bnull;
		Datum		avalue = heap_getattr(&a->tuple, column->attnum, dedup->desc, &anull);
		Datum		bvalue = heap_getattr(&b->tuple, column->attnum, dedup->desc, &bnull);

		equal = anull == bnull &&
			(anull ? dedup->nulls_equal : DatumGetBool(FunctionCall2Coll(&column->equal, column->collation, avalue, bvalue)));
	}
	fc_dedup_end_values(dedup, old);
	return equal;
}

/* Of two equal rows one stays, and the other one is gone */
static void
fc_dedup_choose(const FcDedup *dedup, FcDedupRow *row, FcDedupRow *later)
{
	MemoryContext old = MemoryContextSwitchTo(dedup->compare_mcxt);
	FcDedupRow *stays;
	FcDedupRow *other;
	int			order = 0;

	for (int i = dedup->ncolumns; i < dedup->ncolumns + dedup->norder && order == 0; i++)
	{
		FcDedupColumn *column = &dedup->columns[i];
		bool		null;
		bool		later_null;
		Datum		value = heap_getattr(&row->tuple, column->attnum, dedup->desc, &null);
		Datum		later_value = heap_getattr(&later->tuple, column->attnum, dedup->desc, &later_null);

		/* a value stays rather than NULL */
		order = null || later_null ? null - later_null :
			DatumGetInt32(FunctionCall2Coll(&column->compare, column->collation, later_value, value));
	}
	fc_dedup_end_values(dedup, old);
	stays = order > 0 || (order == 0 && !dedup->first) ? later : row;
	other = stays == row ? later : row;
	other->gone = true;
	stays->nold += other->nold + fc_offset_is_tuple(other->offset);
}

/* Counts a row that does not stay */
static void
fc_dedup_drop(FcLoader *loader, uint64 offset)
{
	if (!fc_offset_is_tuple(offset))
	{
		fc_context_count_out(loader->ctx, duplicates, offset, 1);
		loader->tasks.last->gone++;
		return;
	}
	pg_atomic_fetch_add_u64(&loader->ctx->shared->counts.updated, 1);
	loader->tasks.last->old_gone++;
}

void
fc_dedup_count_mark(FcLoader *loader, uint64 offset, uint32 nold)
{
	FcCounts   *counts = &loader->ctx->shared->counts;

	fc_context_count_out(loader->ctx, marks, offset, 1);
	pg_atomic_fetch_add_u64(nold > 0 ? &counts->deleted : &counts->unmatched, Max(nold, 1));
	/* these have been counted, or will be */
	pg_atomic_fetch_sub_u64(&counts->updated, nold);
	/* an analysis takes no tasks */
	if (loader->tasks.last)
		loader->tasks.last->gone++;
}

static void
fc_dedup_write_out(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;

	if (dedup->nout > 0)
		fc_write_put_spilled(loader->leaf->writer, dedup->out, dedup->nout);
	dedup->nout = 0;
}

static void
fc_dedup_deform(FcLoader *loader, FcDedupRow *row)
{
	TupleTableSlot *slot = loader->leaf->slot;

	ExecClearTuple(slot);
	heap_deform_tuple(&row->tuple, loader->dedup->desc, slot->tts_values, slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
}

/* Lets the row pass, unless another one stays */
static void
fc_dedup_pass(FcLoader *loader, FcDedupRow *row)
{
	FcDedup    *dedup = loader->dedup;
	const FcRecord *before = loader->row.record;
	FcRecord	record = {.offset = row->offset,.length = row->length};

	Assert(row->spilled == NULL || !fc_spilled_is_bare(row->spilled));
	if (row->gone)
	{
		fc_dedup_drop(loader, row->offset);
		return;
	}
	if (row->marked && loader->leaf->mark == 0)
	{
		fc_dedup_count_mark(loader, row->offset, row->nold);
		return;
	}
	if (row->spilled)
	{
		if (dedup->nout == FC_BATCH_ROWS)
			fc_dedup_write_out(loader);
		dedup->out[dedup->nout++] = (FcSpilledRow)
		{
			row->spilled, dedup->key, row->offset - row->spilled->after
		};
		return;
	}
	fc_dedup_write_out(loader);
	fc_dedup_deform(loader, row);
	loader->leaf->slot->tts_tableOid = RelationGetRelid(loader->leaf->rri->ri_RelationDesc);
	loader->row.record = &record;
	fc_leaf_write(loader);
	loader->row.record = before;
}

/*
 * Puts row i into the table, unless an equal row stays in its place; returns
 * how many others it was compared with
 */
static int
fc_dedup_find_row(FcDedup *dedup, int i, uint32 mask)
{
	FcDedupRow *row = &dedup->rows[i];
	int			probes = 0;
	uint32		at;

	row->gone = false;
	if (!fc_dedup_hash(dedup, row))
		return 0;
	for (at = row->hash & mask; dedup->table[at] >= 0; at = (at + 1) & mask)
	{
		FcDedupRow *before = &dedup->rows[dedup->table[at]];

		probes++;
		if (before->hash != row->hash || !fc_dedup_is_equal(dedup, before, row))
			continue;
		fc_dedup_choose(dedup, before, row);
		break;
	}
	if (!row->gone)
		dedup->table[at] = i;
	return probes;
}

/* Finds out which rows of the key stay; false if that takes too many probes */
static bool
fc_dedup_find(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;
	uint32		size = pg_nextpower2_32(dedup->nrows * 2);
	int64		probes = 0;

	if (size > dedup->table_size)
	{
		if (dedup->table)
			pfree(dedup->table);
		dedup->table = MemoryContextAllocHuge(loader->ctx->mcxt, sizeof(int) * size);
		dedup->table_size = size;
	}
	memset(dedup->table, -1, sizeof(int) * size);
	for (int i = 0; i < dedup->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		probes += fc_dedup_find_row(dedup, i, size - 1);
		if (probes > (int64) FC_DEDUP_PROBES * dedup->nrows)
			return false;
	}
	return true;
}

static void
fc_dedup_forget(FcDedup *dedup)
{
	dedup->nrows = dedup->ncopied = 0;
	if (dedup->copied == 0)
		return;
	dedup->copied = 0;
	MemoryContextReset(dedup->mcxt);
}

/* Returns a copy, in "mcxt", of the row in the leaf's slot */
static FcDedupRow
fc_dedup_copy_slot(FcLoader *loader, MemoryContext mcxt, uint64 offset, uint32 length)
{
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	TupleTableSlot *slot = loader->leaf->slot;
	FcDedupRow	row = {.offset = offset,.length = length};

	row.tuple = *heap_form_tuple(loader->dedup->desc, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	return row;
}

/*
 * The sort has all rows of the key, equal ones next to each other, in their
 * order.  "kept" is the one of these that stays, so far.
 */
static void
fc_dedup_end_sort(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;
	MemoryContext mcxt = fc_context_memory(loader->ctx->mcxt, "sorted row");
	MemoryContext next = fc_context_memory(loader->ctx->mcxt, "sorted row");
	FcDedupRow	kept;
	FcSortRow	place;

	fc_sort_finish(dedup->sort);
	for (bool any = false; fc_sort_next(dedup->sort, loader->leaf->slot, &place); any = true)
	{
		FcDedupRow	row = fc_dedup_copy_slot(loader, next, place.offset, place.length & ~FC_DEDUP_MARK);
		MemoryContext swap = mcxt;

		CHECK_FOR_INTERRUPTS();
		row.marked = (place.length & FC_DEDUP_MARK) != 0;
		if (any && fc_dedup_is_equal(dedup, &kept, &row))
			fc_dedup_choose(dedup, &kept, &row);
		if (row.gone)
			fc_dedup_pass(loader, &row);
		else
		{
			if (any)
				fc_dedup_pass(loader, &kept);
			kept = row;
			mcxt = next;
			next = swap;
		}
		MemoryContextReset(next);
	}
	fc_dedup_pass(loader, &kept);
	MemoryContextDelete(mcxt);
	MemoryContextDelete(next);
	fc_sort_end(dedup->sort);
	dedup->sort = NULL;
}

/* Puts a row of the key into the sort, through the leaf's slot */
static void
fc_dedup_sort_row(FcLoader *loader, FcDedupRow *row)
{
	FcSortRow	place = {.offset = row->offset,.length = row->length | (row->marked ? FC_DEDUP_MARK : 0)};

	fc_dedup_deform(loader, row);
	fc_sort_put(loader->dedup->sort, loader->leaf->slot, &place);
}

/*
 * Begins the sort with the rows of the key so far; the next ones go there, too
 */
static void
fc_dedup_begin_sort(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;
	FcShared   *shared = loader->ctx->shared;
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);

	fc_dedup_write_out(loader);
	dedup->sort = fc_sort_begin(shared, dedup->desc, loader->leaf->map, fc_shared_dedup(shared),
								shared->plan.dedup.nkeys, false, shared->memory / 8);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < dedup->nrows; i++)
		fc_dedup_sort_row(loader, &dedup->rows[i]);
	fc_dedup_forget(dedup);
}

static void
fc_dedup_pass_rows(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;

	for (int i = 0; i < dedup->nrows; i++)
		fc_dedup_pass(loader, &dedup->rows[i]);
	/* rows that wait for the writer may be among the copies */
	if (dedup->copied > 0)
		fc_dedup_write_out(loader);
	fc_dedup_forget(dedup);
}

/* All rows of the key have come */
static void
fc_dedup_end_key(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;

	CHECK_FOR_INTERRUPTS();
	if (dedup->sort == NULL && dedup->nrows > 1 && !fc_dedup_find(loader))
		fc_dedup_begin_sort(loader);
	if (dedup->sort)
		fc_dedup_end_sort(loader);
	else
		fc_dedup_pass_rows(loader);
}

/* Goes on to a key, after the rows of the one before it */
static inline void
fc_dedup_reach(FcLoader *loader, int64 key)
{
	FcDedup    *dedup = loader->dedup;

	if (key == dedup->key && !dedup->apart)
		return;
	if (dedup->nrows > 0 || dedup->sort)
		fc_dedup_end_key(loader);
	dedup->key = key;
}

static inline FcDedupRow *
fc_dedup_add(FcDedup *dedup)
{
	Assert(dedup->nrows <= dedup->allocated && dedup->ncopied <= dedup->nrows);
	if (dedup->nrows == dedup->allocated)
	{
		dedup->allocated *= 2;
		dedup->rows = repalloc_huge(dedup->rows, sizeof(FcDedupRow) * dedup->allocated);
	}
	return &dedup->rows[dedup->nrows++];
}

/* Copies the rows that are still in memory that others use again */
static void
fc_dedup_keep(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;

	fc_dedup_write_out(loader);
	for (; dedup->ncopied < dedup->nrows; dedup->ncopied++)
	{
		FcDedupRow *row = &dedup->rows[dedup->ncopied];
		/* the writer copies whole words */
		Size		size = MAXALIGN(row->tuple.t_len);
		HeapTupleHeader copy = MemoryContextAllocZero(dedup->mcxt, size);

		row->tuple.t_data = memcpy(copy, row->tuple.t_data, row->tuple.t_len);
		if (row->spilled)
			row->spilled = (FcSpilled *) copy;
		dedup->copied += size + sizeof(FcDedupRow);
	}
	if (dedup->copied > dedup->most)
		fc_dedup_begin_sort(loader);
}

void
fc_dedup_put_spilled(FcLoader *loader, const FcSpilledRow *rows, int n)
{
	FcDedup    *dedup = loader->dedup;

	for (int i = 0; i < n; i++)
	{
		FcDedupRow *row;

		fc_spilled_ask_ahead(rows, i, n);
		Assert((i == 0 || rows[i - 1].key <= rows[i].key) && !fc_spilled_is_bare(rows[i].spilled));
		fc_dedup_reach(loader, rows[i].key);
		row = fc_dedup_add(dedup);
		row->spilled = rows[i].spilled;
		row->tuple.t_data = (HeapTupleHeader) row->spilled;
		row->tuple.t_len = fc_spilled_row(row->spilled);
		row->tuple.t_tableOid = InvalidOid;
		row->offset = fc_spilled_offset(&rows[i]);
		row->length = fc_spilled_length(row->spilled);
		row->gone = false;
		row->marked = fc_spilled_marked(row->spilled);
		row->nold = 0;
		if (dedup->sort)
		{
			fc_dedup_sort_row(loader, row);
			dedup->nrows = 0;
		}
	}
	fc_dedup_keep(loader);
}

void
fc_dedup_put(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;
	FcDedupRow	row = fc_dedup_copy_slot(loader, loader->row_mcxt, loader->row.record->offset,
										 loader->row.record->length);

	row.marked = loader->row.marked;
	/* this uses the slot */
	fc_dedup_reach(loader, loader->row.key);
	if (dedup->sort)
	{
		fc_dedup_sort_row(loader, &row);
		return;
	}
	*fc_dedup_add(dedup) = row;
	fc_dedup_keep(loader);
}

void
fc_dedup_finish(FcLoader *loader)
{
	FcDedup    *dedup = loader->dedup;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

	if (dedup->nrows > 0 || dedup->sort)
		fc_dedup_end_key(loader);
	fc_dedup_write_out(loader);
	Assert(dedup->nrows == 0 && dedup->sort == NULL && dedup->nout == 0);
	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->row_mcxt);
}
