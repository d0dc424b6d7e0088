/*-------------------------------------------------------------------------
 *
 * heap/old_rows.c
 *	  The rows that a table has before a load replaces them, or after it.
 *
 *	 page, unless it is visible to all ──► each row's fate since a moment
 *			──► inserted: carried to another table; changed: counted
 *
 * A transaction that the snapshot does not see was running then, or began
 * later.  As long as the snapshot is registered and no VACUUM can run, the
 * pages show what such a transaction has done.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupconvert.h"

#include "compat/compat.h"
#include "heap/old_rows.h"

/* When something was done, relative to two moments */
typedef enum FcOldWhen
{
	FC_OLD_NEVER,				/* or it was rolled back */
	FC_OLD_BEFORE,
	FC_OLD_SINCE,
	FC_OLD_OPEN					/* not yet at the second one */
} FcOldWhen;

/* What was done to a row between them */
typedef enum FcOldFate
{
	FC_OLD_NOTHING,				/* or no session sees it */
	FC_OLD_INSERTED,
	FC_OLD_TAKEN,				/* inserted by another transaction, and deleted
								 * by this one */
	FC_OLD_CHANGED
} FcOldFate;

/* A table that rows are carried to */
typedef struct FcCarried
{
	Relation	to;
	ResultRelInfo *rri;
	AttrMap    *map;			/* from the row type of the table that they come
								 * from; NULL: it is the same */
	TupleTableSlot *slot;
} FcCarried;

/* Where rows are carried to */
typedef struct FcCarrier
{
	FcPick		pick;
	void	   *arg;
	List	   *tables;			/* FcCarried, the last one used first */
	EState	   *estate;			/* NULL: rows are only looked at */
	TupleTableSlot *slot;		/* in the row type of the table that they come
								 * from */
	CommandId	cid;
	int			options;		/* of the insertion */
	bool		leaves;			/* rows are deleted where they come from */
	const FcSince *since;
	FcSince    *until;			/* NULL: all there is */
	uint64		found;			/* rows that were inserted */
	uint64		carried;
	uint64		taken;
	uint64		changed;
} FcCarrier;

/* Sets *tuple to the one at "off" of a page; false: there is none */
static bool
fc_old_row_at(Relation rel, Page page, BlockNumber block, OffsetNumber off, HeapTuple tuple)
{
	ItemId		item = PageGetItemId(page, off);

	if (!ItemIdIsNormal(item))
		return false;
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(rel);
	ItemPointerSet(&tuple->t_self, block, off);
	return true;
}

/* Keys of rows that are read */
typedef struct FcOldKeys
{
	AttrNumber	attnum;
	FcKeyType	type;
	int64	   *keys;
	uint32		n;
	uint32		most;
} FcOldKeys;

/*
 * Counts the rows of a page that the snapshot sees, and reads their keys
 * unless "keys" is NULL
 */
static int
fc_old_rows_on_page(Relation rel, BlockNumber block, Snapshot snapshot,
					BufferAccessStrategy strategy, FcOldKeys *keys)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buffer);
	uint32		upto = 0;
	int			n = 0;
	bool		all;

	if (keys)
		upto = Min(keys->n + Max(keys->most / FC_OLD_SAMPLE, 1), keys->most);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	/*
	 * on a standby a page may be all-visible before its snapshots see the rows
	 */
	all = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;
	for (OffsetNumber off = FirstOffsetNumber; off <= PageGetMaxOffsetNumber(page); off++)
	{
		HeapTupleData tuple;
		Datum		key;
		bool		null;

		if (!fc_old_row_at(rel, page, block, off, &tuple) ||
			!(all || HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer)))
			continue;
		n++;
		if (keys == NULL || keys->n == upto)
			continue;
		key = heap_getattr(&tuple, keys->attnum, RelationGetDescr(rel), &null);
		if (!null)
			keys->keys[keys->n++] = fc_key_from_datum(keys->type, key);
	}
	UnlockReleaseBuffer(buffer);
	Assert(keys == NULL || (keys->n <= upto && upto <= keys->most));
	return n;
}

uint32
fc_old_rows_keys(Relation rel, AttrNumber attnum, FcKeyType type, int64 *keys, uint32 most,
				 double *rows)
{
	FcOldKeys	found = {.attnum = attnum,.type = type,.keys = keys,.most = most};
	BlockNumber nblocks;
	Snapshot	snapshot;
	double		seen = 0;
	int			pages = 0;

	if (rel->rd_rel->relkind != RELKIND_RELATION || rel->rd_tableam != GetHeapamTableAmRoutine())
		return 0;
	nblocks = RelationGetNumberOfBlocks(rel);
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	for (BlockNumber block = 0; block < nblocks; block += Max(nblocks / FC_OLD_SAMPLE, 1))
	{
		CHECK_FOR_INTERRUPTS();
		seen += fc_old_rows_on_page(rel, block, snapshot, NULL, &found);
		pages++;
	}
	UnregisterSnapshot(snapshot);
	*rows = pages == 0 ? 0 : seen / pages * nblocks;
	return found.n;
}

/* fc_old_rows_count() for a heap */
static bool
fc_old_rows_count_pages(Relation rel, Snapshot snapshot, double most, bool settles, double *rows)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	/* as core's scan */
	BufferAccessStrategy strategy = nblocks > NBuffers / 4 ? GetAccessStrategy(BAS_BULKREAD) : NULL;
	BlockNumber block = 0;

	while (block < nblocks && *rows <= most &&
		   !(settles && *rows + (double) (nblocks - block) * MaxHeapTuplesPerPage <= most))
	{
		CHECK_FOR_INTERRUPTS();
		*rows += fc_old_rows_on_page(rel, block++, snapshot, strategy, NULL);
	}
	FreeAccessStrategy(strategy);
	return block == nblocks;
}

/* ... for a table of another access method */
static bool
fc_old_rows_count_slots(Relation rel, Snapshot snapshot, double most, double *rows)
{
	TableScanDesc scan = fc_begin_scan(rel, snapshot);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		more = true;

	while (*rows <= most && (more = table_scan_getnextslot(scan, ForwardScanDirection, slot)))
	{
		CHECK_FOR_INTERRUPTS();
		(*rows)++;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return !more;
}

bool
fc_old_rows_count(Relation rel, double most, bool settles, double *rows)
{
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	bool		all;

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	*rows = 0;
	all = rel->rd_tableam == GetHeapamTableAmRoutine() ?
		fc_old_rows_count_pages(rel, snapshot, most, settles, rows) :
		fc_old_rows_count_slots(rel, snapshot, most, rows);
	UnregisterSnapshot(snapshot);
	return all;
}

/* When the transaction has made the row or, if that is "gone", taken it away */
static FcOldWhen
fc_old_when(HeapTupleHeader row, bool gone, TransactionId xid, const FcSince *since, const FcSince *until)
{
	Assert(until == NULL || until->cid >= since->cid);
	if (TransactionIdIsCurrentTransactionId(xid))
	{
		CommandId	cid = gone ? HeapTupleHeaderGetCmax(row) : HeapTupleHeaderGetCmin(row);

		return cid < since->cid ? FC_OLD_BEFORE : until && cid >= until->cid ? FC_OLD_OPEN : FC_OLD_SINCE;
	}
	if (!TransactionIdIsValid(xid))
		return FC_OLD_NEVER;
	if (!TransactionIdIsNormal(xid) || !XidInMVCCSnapshot(xid, since->snapshot))
		return FC_OLD_BEFORE;
	if (until && XidInMVCCSnapshot(xid, until->snapshot))
		return FC_OLD_OPEN;
	return TransactionIdDidCommit(xid) ? FC_OLD_SINCE : FC_OLD_NEVER;
}

/* The transaction that has deleted or updated the row, or tried to; or none */
static TransactionId
fc_old_deleter(HeapTupleHeader row)
{
	return (row->t_infomask & HEAP_XMAX_INVALID) || HEAP_XMAX_IS_LOCKED_ONLY(row->t_infomask) ?
		InvalidTransactionId : HeapTupleHeaderGetUpdateXid(row);
}

/*
 * What was done to a row between the moments.  *open: the transaction that
 * made or deleted it was running at the second one.
 */
static FcOldFate
fc_old_fate(HeapTupleHeader row, const FcSince *since, const FcSince *until, bool *open)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(row);
	FcOldWhen	made;
	FcOldWhen	gone;

	*open = false;
	if (HeapTupleHeaderXminInvalid(row))
		return FC_OLD_NOTHING;
	made = fc_old_when(row, false, xmin, since, until);
	if (made == FC_OLD_NEVER)
		return FC_OLD_NOTHING;
	gone = fc_old_when(row, true, fc_old_deleter(row), since, until);
	*open = made == FC_OLD_OPEN || gone == FC_OLD_OPEN;
	Assert(until != NULL || !*open);
	if (made == FC_OLD_BEFORE)
		return gone == FC_OLD_SINCE ? FC_OLD_CHANGED : FC_OLD_NOTHING;
	if (made == FC_OLD_SINCE && gone != FC_OLD_SINCE)
		return FC_OLD_INSERTED;
	return made == FC_OLD_SINCE && !TransactionIdIsCurrentTransactionId(xmin) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(row)) ? FC_OLD_TAKEN : FC_OLD_NOTHING;
}

/* The table with this OID, opened with its indexes */
static FcCarried *
fc_carry_table(FcCarrier *carrier, Relation rel, Oid table)
{
	FcCarried  *carried;

	foreach_ptr(FcCarried, other, carrier->tables)
		if (RelationGetRelid(other->to) == table)
		{
			carrier->tables = lcons(other, list_delete_ptr(carrier->tables, other));
			return other;
		}
	carried = palloc(sizeof(FcCarried));
	carried->to = table_open(table, NoLock);
	Assert(CheckRelationLockedByMe(carried->to, RowExclusiveLock, true));
	carried->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(carried->rri, carried->to, 0, NULL, 0);
	ExecOpenIndices(carried->rri, false);
	carried->map = fc_build_attrmap_if_req(RelationGetDescr(rel), RelationGetDescr(carried->to));
	carried->slot = MakeSingleTupleTableSlot(RelationGetDescr(carried->to), &TTSOpsVirtual);
	carrier->tables = lcons(carried, carrier->tables);
	return carried;
}

/*
 * Copies values in the table's TOAST table to the other's.  Fills in defaults
 * of columns that are newer than the row: the other table does not know them.
 */
static void
fc_carry_row(FcCarrier *carrier, Relation rel, HeapTuple row)
{
	TupleTableSlot *slot = carrier->slot;
	Oid			table = carrier->pick(carrier->arg, rel, row);
	FcCarried  *carried;

	/* it stays where it is */
	if (!OidIsValid(table))
		return;
	carried = fc_carry_table(carrier, rel, table);
	heap_deform_tuple(row, RelationGetDescr(rel), slot->tts_values, slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
	if (carried->map)
		slot = execute_attr_map_slot(carried->map, slot, carried->slot);
	table_tuple_insert(carried->to, slot, carrier->cid, carrier->options, NULL);
	if (carried->rri->ri_NumIndices > 0)
		list_free(fc_insert_index_tuples(carried->rri, slot, carrier->estate));
	ExecClearTuple(slot);
	ExecClearTuple(carrier->slot);
	if (carrier->leaves && fc_delete_moved(rel, &row->t_self, carrier->cid) != TM_Ok)
		carrier->changed++;
	ResetPerTupleExprContext(carrier->estate);
	carrier->carried++;
}

/* Looks at a row, and carries it if it can */
static void
fc_carry_look(void *arg, Relation rel, Page page, HeapTuple row)
{
	FcCarrier  *carrier = arg;
	bool		open;
	FcOldFate	fate = fc_old_fate(row->t_data, carrier->since, carrier->until, &open);

	carrier->found += fate == FC_OLD_INSERTED;
	carrier->taken += fate == FC_OLD_TAKEN;
	carrier->changed += fate == FC_OLD_CHANGED && !carrier->leaves;
	if (open)
		carrier->until->lsn = Min(carrier->until->lsn, PageGetLSN(page));
	if (carrier->estate && fate == FC_OLD_INSERTED)
		fc_carry_row(carrier, rel, row);
}

/* Is called with a row of a copy of a page */
typedef void (*FcOldLook) (void *arg, Relation rel, Page page, HeapTuple row);

/*
 * Looks at the rows of pages that may have been changed since then, if "all"
 * also of those that are visible to all
 */
static void
fc_old_look(Relation rel, const FcSince *since, bool all, FcOldLook look, void *arg)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	XLogRecPtr	lsn = RelationNeedsWAL(rel) ? since->lsn : InvalidXLogRecPtr;
	Buffer		map = InvalidBuffer;
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	HeapTupleData row;

	for (BlockNumber block = 0; block < nblocks; block++)
	{
		Buffer		buffer;
		bool		looks;

		CHECK_FOR_INTERRUPTS();
		if (!all && VM_ALL_VISIBLE(rel, block, &map))
			continue;
		buffer = ReadBuffer(rel, block);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		looks = PageGetLSN(BufferGetPage(buffer)) >= lsn;
		if (looks)
			memcpy(page, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		for (OffsetNumber off = FirstOffsetNumber; looks && off <= PageGetMaxOffsetNumber(page); off++)
			if (fc_old_row_at(rel, page, block, off, &row))
				look(arg, rel, page, &row);
	}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
}

void
fc_old_rows_now(FcSince *now)
{
	CommandCounterIncrement();
	now->lsn = GetXLogInsertRecPtr();
	now->cid = GetCurrentCommandId(true);
	now->snapshot = RegisterSnapshot(GetLatestSnapshot());
}

/*
 * Looks for changed rows first: the new version of one would conflict with the
 * old one, which the unique index has, too.  Opens no index if there is
 * nothing to carry: core evaluates what it can of an expression as soon as it
 * reads it.
 */
uint64
fc_old_rows_carry(Relation rel, FcPick pick, void *arg, int options, bool leaves,
				  const FcSince *since, FcSince *until, uint64 *changed)
{
	FcCarrier	carrier = {.pick = pick,.arg = arg,.options = options,.leaves = leaves,.since = since,.until = until};

	Assert(CheckRelationLockedByMe(rel, until ? ShareUpdateExclusiveLock : AccessExclusiveLock, true));
	fc_old_look(rel, since, false, fc_carry_look, &carrier);
	*changed = carrier.changed;
	if (carrier.changed > 0 || carrier.found == 0)
		return 0;
	carrier.estate = CreateExecutorState();
	carrier.slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
	carrier.cid = GetCurrentCommandId(true);
	fc_old_look(rel, since, false, fc_carry_look, &carrier);
	ExecDropSingleTupleTableSlot(carrier.slot);
	foreach_ptr(FcCarried, carried, carrier.tables)
	{
		ExecDropSingleTupleTableSlot(carried->slot);
		ExecCloseIndices(carried->rri);
		table_close(carried->to, NoLock);
	}
	FreeExecutorState(carrier.estate);
	*changed = carrier.changed;
	/* both passes have found the same */
	Assert((leaves || carrier.changed == 0) && carrier.found >= 2 * carrier.carried);
	return carrier.carried;
}

uint64
fc_old_rows_delete(Relation rel, Snapshot snapshot, FcPick pick, void *arg, uint64 *changed)
{
	TableScanDesc scan = fc_begin_scan(rel, snapshot);
	CommandId	cid = GetCurrentCommandId(true);
	HeapTuple	row;
	uint64		deleted = 0;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	*changed = 0;
	while ((row = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(pick(arg, rel, row)))
			continue;
		if (fc_delete_moved(rel, &row->t_self, cid) == TM_Ok)
			deleted++;
		else
			(*changed)++;
	}
	table_endscan(scan);
	return deleted;
}

uint64
fc_old_rows_taken(Relation rel, const FcSince *since)
{
	FcCarrier	carrier = {.since = since};

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	fc_old_look(rel, since, false, fc_carry_look, &carrier);
	return carrier.taken;
}

/* The rows that this transaction has made */
typedef struct FcMade
{
	const FcSince *since;
	FcRowVisit	visit;
	void	   *arg;
	TupleTableSlot *slot;
	uint64		n;
} FcMade;

static void
fc_made_look(void *arg, Relation rel, Page page, HeapTuple tuple)
{
	FcMade	   *made = arg;
	HeapTupleHeader row = tuple->t_data;

	/* code of users may have deleted it, and may have taken that back */
	if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(row)) ||
		((row->t_infomask & HEAP_COMBOCID) ? HeapTupleHeaderGetCmin(row) :
		 HeapTupleHeaderGetRawCommandId(row)) < made->since->cid)
		return;
	made->n++;
	if (TransactionIdIsCurrentTransactionId(fc_old_deleter(row)))
		return;
	ExecStoreHeapTuple(tuple, made->slot, false);
	made->visit(made->arg, made->slot);
}

uint64
fc_old_rows_made(Relation rel, const FcSince *since, bool frozen, FcRowVisit visit, void *arg)
{
	FcMade		made = {.since = since,.visit = visit,.arg = arg};

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	made.slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	fc_old_look(rel, since, frozen, fc_made_look, &made);
	ExecDropSingleTupleTableSlot(made.slot);
	return made.n;
}
