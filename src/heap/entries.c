/*-------------------------------------------------------------------------
 *
 * heap/entries.c
 *	  Puts the index entries of a batch of rows into B-trees, a run at a time.
 *
 *	rows ──► entries of one index, sorted ──► search of the first one's leaf
 *		──► places of all that belong there ──► added and logged
 *
 * Core searches the tree, locks a leaf and logs for each entry.  Here entries
 * that follow one another share that, by core's rules (_bt_doinsert and what it
 * calls): the leaf is the one that core's search returns, locked; an entry
 * belongs there if it is before the leaf's high key; its place is before the
 * first item that is not before it.  Core itself inserts what is not that
 * plain: an entry for which the leaf has no room (it may delete, deduplicate or
 * split), one equal to an item, which is for core to refuse or to wait for, one
 * within the range of a posting list, and a wide one.
 *
 * Records are those that core's redo knows: one for each entry, or the image of
 * the page, whichever is shorter.
 *
 * Rows get their entries in one index after the other, and not row by row as in
 * COPY.  What shows that is left to the caller: code of users, exclusion
 * constraints, and equal keys in a batch.  Without these it depends on no other
 * row of the batch whether an index refuses a row.
 *
 * On error the lock and the pin are released by fc_error_catch and the phase's
 * resource owner.  Between the first change of a page and its record nothing
 * is called that could throw.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtxlog.h"
#include "storage/predicate.h"

#include "heap/writer.h"
#include "options/plan.h"

/* Rows from which on it is worth it to sort */
#define FC_ENTRIES_FEW	16

/* Bytes from which on an entry is wide: core wants three on a page */
#define FC_ENTRIES_WIDE	(BLCKSZ / 4)

/* Bytes of an entry's own WAL record beside the entry */
#define FC_ENTRIES_RECORD	48

typedef struct FcIndexEntry
{
	IndexTuple	tuple;			/* with the row's TID */
	Datum		key;			/* of the first column */
	bool		null;
	bool		unique;			/* no other entry may have its key */
	uint16		row;			/* of the batch */
	OffsetNumber place;			/* the item before which it goes; invalid: it
								 * is not wanted */
} FcIndexEntry;

typedef struct FcEntryIndex
{
	ResultRelInfo rri;			/* the table, as if it had this index alone */
	Relation	rel;
	IndexInfo  *info;
	SortSupport order;			/* of its keys; NULL: it takes no runs */
	FcIndexEntry *entries;		/* of the batch */
	int			n;
	int			next;			/* the first that is not inserted */
	int			places;			/* found in the leaf */
	int			at;				/* the row that core is shown */
} FcEntryIndex;

struct FcEntries
{
	FcContext  *ctx;
	EState	   *estate;
	MemoryContext mcxt;			/* reset after each batch */
	FcEntryIndex all;			/* all indexes: a row gets all its entries */
	FcEntryIndex *indexes;		/* each; NULL: it and "some" are not known */
	bool		some;			/* some take runs, and rows may do without
								 * their order */

	/* the batch */
	const FcMultiRow *rows;
	int			n;
	bool		runs;			/* entries of some indexes are sorted */
	FcEntryIndex *index;		/* that is worked at */
};

/*
 * May the order be seen in which rows get their entries?  The functions that
 * compare values of a user's type, such as a range, may call others.
 */
static bool
fc_entries_show(const FcEntryIndex *index)
{
	const IndexInfo *info = index->info;

	for (int i = 0; i < index->rel->rd_index->indnkeyatts * index->rel->rd_indam->amsupport; i++)
		if (index->rel->rd_support[i] >= FirstNormalObjectId)
			return true;
	for (int i = 0; i < index->rel->rd_index->indnkeyatts; i++)
		if (fc_code_type_any(TupleDescAttr(RelationGetDescr(index->rel), i)->atttypid, fc_code_is_foreign, false))
			return true;
	return info->ii_ExclusionOps != NULL || fc_code_foreign((Node *) info->ii_Expressions) ||
		fc_code_foreign((Node *) info->ii_Predicate);
}

/*
 * Prepares each index for batches.  None takes runs if another one shows the
 * order, or if the table is not a heap.
 */
static void
fc_entries_look(FcEntries *entries)
{
	ResultRelInfo *rri = &entries->all.rri;
	bool		shows = rri->ri_RelationDesc->rd_tableam != GetHeapamTableAmRoutine();

	entries->indexes = palloc0(sizeof(FcEntryIndex) * rri->ri_NumIndices);
	for (int i = 0; i < rri->ri_NumIndices && !shows; i++)
	{
		FcEntryIndex *index = &entries->indexes[i];
		Form_pg_index form = rri->ri_IndexRelationDescs[i]->rd_index;

		index->rri = *rri;
		index->rri.ri_NumIndices = 1;
		index->rel = *(index->rri.ri_IndexRelationDescs += i);
		index->info = *(index->rri.ri_IndexRelationInfo += i);
		shows = fc_entries_show(index);
		if (index->rel->rd_rel->relam != BTREE_AM_OID || !form->indisvalid || !form->indisready || !form->indimmediate)
			continue;
		index->order = palloc0(sizeof(SortSupportData) * form->indnkeyatts);
		for (int j = 0; j < form->indnkeyatts; j++)
			fc_prepare_index_sort(index->rel, j, &index->order[j]);
		entries->some = true;
	}
	entries->some = entries->some && !shows;
}

FcEntries *
fc_entries_begin(FcContext *ctx, EState *estate, ResultRelInfo *rri, MemoryContext mcxt)
{
	FcEntries  *entries = MemoryContextAllocZero(MemoryContextGetParent(mcxt), sizeof(FcEntries));

	entries->ctx = ctx;
	entries->estate = estate;
	entries->mcxt = mcxt;
	entries->all.rri = *rri;
	return entries;
}

bool
fc_entries_values(IndexInfo *info, TupleTableSlot *slot, EState *estate,
				  Datum *values, bool *isnull)
{
	ExprContext *econtext = GetPerTupleExprContext(estate);

	econtext->ecxt_scantuple = slot;
	if (info->ii_Predicate != NIL && info->ii_PredicateState == NULL)
		info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate, estate);
	if (info->ii_Predicate != NIL && !ExecQual(info->ii_PredicateState, econtext))
		return false;
	FormIndexDatum(info, slot, estate, values, isnull);
	return true;
}

/*
 * Must the row get its entries?  Not if an index has refused it or a row before
 * it in the file.  Then errors are about its record.
 */
static bool
fc_entries_want(FcEntries *entries, int i)
{
	const FcMultiRow *row = &entries->rows[i];

	if (entries->ctx->stopped || fc_error_beyond(entries->ctx->shared, row->offset))
		return false;
	fc_error_at(entries->ctx, row->offset, row->length);
	return true;
}

/* Orders entries by their keys, as the index does */
static int
fc_entries_key_cmp(const FcIndexEntry *a, const FcIndexEntry *b, const FcEntryIndex *index)
{
	TupleDesc	desc = RelationGetDescr(index->rel);
	int			cmp = ApplySortComparator(a->key, a->null, b->key, b->null, index->order);

	for (int i = 1; cmp == 0 && i < index->info->ii_NumIndexKeyAttrs; i++)
	{
		bool		a_null;
		bool		b_null;
		Datum		a_key = index_getattr(a->tuple, i + 1, desc, &a_null);
		Datum		b_key = index_getattr(b->tuple, i + 1, desc, &b_null);

		cmp = ApplySortComparator(a_key, a_null, b_key, b_null, &index->order[i]);
	}
	return cmp;
}

static int
fc_entries_cmp(const void *a, const void *b, void *index)
{
	const FcIndexEntry *left = a;
	const FcIndexEntry *right = b;
	int			cmp = fc_entries_key_cmp(left, right, index);

	return cmp != 0 ? cmp : ItemPointerCompare(&left->tuple->t_tid, &right->tuple->t_tid);
}

/* Forms the entries of all rows */
static void
fc_entries_form(FcEntries *entries, FcEntryIndex *index)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	index->n = index->next = 0;
	index->entries = palloc(sizeof(FcIndexEntry) * entries->n);
	for (int i = 0; i < entries->n; i++)
	{
		FcIndexEntry *entry = &index->entries[index->n];
		TupleTableSlot *slot = entries->rows[i].slot;

		fc_error_at(entries->ctx, entries->rows[i].offset, entries->rows[i].length);
		if (fc_entries_values(index->info, slot, entries->estate, values, isnull))
		{
			entry->tuple = index_form_tuple(RelationGetDescr(index->rel), values, isnull);
			entry->tuple->t_tid = slot->tts_tid;
			entry->key = index_getattr(entry->tuple, 1, RelationGetDescr(index->rel), &entry->null);
			entry->unique = index->info->ii_Unique;
			for (int j = 0; j < index->info->ii_NumIndexKeyAttrs; j++)
				entry->unique = entry->unique && (!isnull[j] || index->info->ii_NullsNotDistinct);
			entry->row = i;
			index->n++;
		}
		ResetPerTupleExprContext(entries->estate);
	}
}

/* Sorts the entries; false if two of them may not be in the index together */
static bool
fc_entries_sort(FcEntryIndex *index)
{
	FcIndexEntry *entries = index->entries;
	bool		sorted = true;

	for (int i = 1; i < index->n && sorted; i++)
		sorted = fc_entries_cmp(&entries[i - 1], &entries[i], index) <= 0;
	if (!sorted)
		qsort_arg(entries, index->n, sizeof(FcIndexEntry), fc_entries_cmp, index);
	for (int i = 1; i < index->n && index->info->ii_Unique; i++)
		if (entries[i].unique && fc_entries_key_cmp(&entries[i - 1], &entries[i], index) == 0)
			return false;
	return true;
}

/*
 * Body of fc_error_catch: forms runs; sets entries->runs unless rows must keep
 * their order
 */
static void
fc_entries_prepare(void *arg)
{
	FcEntries  *entries = arg;

	for (int i = 0; i < entries->all.rri.ri_NumIndices; i++)
	{
		FcEntryIndex *index = &entries->indexes[i];

		if (index->order == NULL)
			continue;
		fc_entries_form(entries, index);
		if (!fc_entries_sort(index))
			return;
	}
	entries->runs = true;
}

/* Sets the key of a search to that of an entry */
static void
fc_entries_key(const FcEntryIndex *index, const FcIndexEntry *entry, BTScanInsert key)
{
	/* an equal key is found whatever its TID */
	key->scantid = entry->unique ? NULL : &entry->tuple->t_tid;
	for (int i = 0; i < key->keysz; i++)
	{
		bool		null;

		key->scankeys[i].sk_argument = index_getattr(entry->tuple, i + 1, RelationGetDescr(index->rel), &null);
		key->scankeys[i].sk_flags = (key->scankeys[i].sk_flags & ~SK_ISNULL) | (null ? SK_ISNULL : 0);
	}
}

/*
 * Finds the first item from "low" to before "high" that is not before the key;
 * "high" if there is none.  Invalid if the item is equal.  "near": it is likely
 * to be one of the next.
 */
static OffsetNumber
fc_entries_place(Relation rel, BTScanInsert key, Page page, OffsetNumber low, OffsetNumber high,
				 bool near)
{
	int			step = near ? 1 : MaxOffsetNumber;

	while (low < high)
	{
		OffsetNumber mid = low + Min(step - 1, (high - low) / 2);
		int			cmp = _bt_compare(rel, key, page, mid);

		if (cmp == 0)
			return InvalidOffsetNumber;
		if (cmp > 0)
		{
			low = mid + 1;
			step *= 2;
		}
		else
		{
			high = mid;
			step = MaxOffsetNumber;
		}
	}
	return low;
}

/*
 * Finds the places in a locked leaf of the entries from index->next on, as many
 * as belong there and are plain; returns the first that does not
 */
static int
fc_entries_places(FcEntries *entries, FcEntryIndex *index, BTScanInsert key, Page page)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber place = P_FIRSTDATAKEY(opaque);
	OffsetNumber end = OffsetNumberNext(PageGetMaxOffsetNumber(page));
	Size		space = PageGetExactFreeSpace(page);
	int			i;

	index->places = 0;
	Assert(P_ISLEAF(opaque) && !P_IGNORE(opaque));
	for (i = index->next; i < index->n && !P_INCOMPLETE_SPLIT(opaque); i++)
	{
		FcIndexEntry *entry = &index->entries[i];
		Size		size = MAXALIGN(IndexTupleSize(entry->tuple)) + sizeof(ItemIdData);

		entry->place = InvalidOffsetNumber;
		if (!fc_entries_want(entries, entry->row))
			continue;
		if (size > space || size > FC_ENTRIES_WIDE)
			break;
		fc_entries_key(index, entry, key);
		if (!P_RIGHTMOST(opaque) && _bt_compare(index->rel, key, page, P_HIKEY) >= 0)
			break;
		place = fc_entries_place(index->rel, key, page, place, end, index->places > 0);
		if (place == InvalidOffsetNumber)
			break;
		entry->place = place;
		space -= size;
		index->places++;
	}
	return i;
}

/* Logs an entry as core does; in the critical section that added it */
static void
fc_entries_log(Buffer buf, IndexTuple tuple, OffsetNumber place)
{
	xl_btree_insert record = {place};
	XLogRecPtr	end;

	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfBtreeInsert);
	XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
	XLogRegisterBufData(0, (char *) tuple, IndexTupleSize(tuple));
	end = XLogInsert(RM_BTREE_ID, XLOG_BTREE_INSERT_LEAF);
	PageSetLSN(BufferGetPage(buf), end);
}

/* Adds the entries before "to" to the leaf, at their places */
static void
fc_entries_add(FcEntryIndex *index, Buffer buf, int to)
{
	bool		logged = RelationNeedsWAL(index->rel);
	/* both have the entries; an image the rest of the page, too */
	Size		rest = BLCKSZ - PageGetExactFreeSpace(BufferGetPage(buf));
	bool		image = logged && index->places > 1 &&
		(index->places * FC_ENTRIES_RECORD >= rest || XLogCheckBufferNeedsBackup(buf));
	int			added = 0;

	CheckForSerializableConflictIn(index->rel, NULL, BufferGetBlockNumber(buf));
	START_CRIT_SECTION();
	for (int i = index->next; i < to; i++)
	{
		IndexTuple	tuple = index->entries[i].tuple;
		OffsetNumber place = index->entries[i].place + added;

		if (index->entries[i].place == InvalidOffsetNumber)
			continue;
		if (PageAddItem(BufferGetPage(buf), (void *) tuple, IndexTupleSize(tuple), place, false, false) != place)
			elog(PANIC, "failed to add new item to block %u in index \"%s\"",
				 BufferGetBlockNumber(buf), RelationGetRelationName(index->rel));
		MarkBufferDirty(buf);
		if (logged && !image)
			fc_entries_log(buf, tuple, place);
		added++;
	}
	if (image)
		(void) log_newpage_buffer(buf, true);
	if (!logged && added > 0)
		fc_set_fake_lsn(index->rel, BufferGetPage(buf));
	END_CRIT_SECTION();
}

/*
 * Inserts entries from index->next on into one leaf, as many as are plain and
 * belong there; returns the first that is left
 */
static int
fc_entries_run(FcEntries *entries, FcEntryIndex *index)
{
	FcIndexEntry *first = &index->entries[index->next];
	BTScanInsert key = _bt_mkscankey(index->rel, first->tuple);
	Buffer		buf;
	int			to;

	if (!key->heapkeyspace)
		return index->next;
	fc_entries_key(index, first, key);
	buf = fc_bt_search(index->rel, index->rri.ri_RelationDesc, key);
	to = fc_entries_places(entries, index, key, BufferGetPage(buf));
	if (to > index->next)
		fc_entries_add(index, buf, to);
	_bt_relbuf(index->rel, buf);
	pfree(key);
	return to;
}

/* Body of fc_error_catch: inserts the entries from index->next on */
static void
fc_entries_fill(void *arg)
{
	FcEntries  *entries = arg;
	FcEntryIndex *index = entries->index;

	for (; index->next < index->n; index->next++)
	{
		int			to;

		if (!fc_entries_want(entries, index->entries[index->next].row))
			continue;
		to = fc_entries_run(entries, index);
		if (to > index->next)
			index->next = to - 1;
		else
			(void) _bt_doinsert(index->rel, index->entries[to].tuple,
								index->info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
								false, index->rri.ri_RelationDesc);
	}
}

/* Body of fc_error_catch: lets core insert entries, in an index or in all */
static void
fc_entries_core(void *arg)
{
	FcEntries  *entries = arg;
	FcEntryIndex *index = entries->index;

	for (; index->at < entries->n; index->at++)
	{
		if (!fc_entries_want(entries, index->at))
			continue;
		list_free(fc_insert_index_tuples(&index->rri, entries->rows[index->at].slot, entries->estate));
		ResetPerTupleExprContext(entries->estate);
	}
}

/*
 * Inserts the entries of an index, or of all.  Goes on after an error: a row
 * before the bad one in the file may be bad, too.
 */
static void
fc_entries_index(FcEntries *entries, FcEntryIndex *index)
{
	FcContext  *ctx = entries->ctx;
	ErrorData  *edata;

	entries->index = index;
	index->at = 0;
	while ((edata = fc_error_catch(ctx, index->order ? fc_entries_fill : fc_entries_core, entries)) != NULL)
		/* code of users may have thrown it, and not the index itself */
		fc_error_take(ctx, FC_ERROR_ENTRY, edata, edata->context != NULL ||
					  ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION);
}

void
fc_entries_insert(FcEntries *entries, const FcMultiRow *rows, int n)
{
	MemoryContext old = MemoryContextSwitchTo(MemoryContextGetParent(entries->mcxt));

	Assert(n > 0 && n <= FC_ENTRIES_ROWS);
	if (n >= FC_ENTRIES_FEW && entries->indexes == NULL)
		fc_entries_look(entries);
	MemoryContextSwitchTo(entries->mcxt);
	entries->rows = rows;
	entries->n = n;
	entries->runs = false;
	if (n >= FC_ENTRIES_FEW && entries->some)
		(void) fc_error_catch(entries->ctx, fc_entries_prepare, entries);
	if (!entries->runs)
		fc_entries_index(entries, &entries->all);
	for (int i = 0; i < entries->all.rri.ri_NumIndices && entries->runs; i++)
		fc_entries_index(entries, &entries->indexes[i]);
	entries->ctx->at_record = false;
	MemoryContextSwitchTo(old);
	MemoryContextReset(entries->mcxt);
}
