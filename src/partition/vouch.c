/*-------------------------------------------------------------------------
 *
 * partition/vouch.c
 *	  Spares ATTACH reading rows, by one look at the default partition and by
 *	  CHECK constraints.
 *
 * 1. For each new partition ATTACH would read the default partition, for rows
 *    that belong to the new one.  The leader reads it once for all, before any
 *    row is loaded and again under the lock.
 * 2. ATTACH also reads the new partition and the default one, unless a valid
 *    CHECK proves that no row is out of place.  The load has such CHECKs in
 *    the catalog until partition/attach.c drops them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_constraint.h"
#include "executor/tuptable.h"
#include "partitioning/partbounds.h"

#include "partition/partition.h"

/* Returns the *n ranges of "parts", which ascend, with neighbours merged */
static FcRange *
fc_vouch_ranges_merged(const FcNewPartition *parts, int nparts, int *n)
{
	FcRange    *ranges = palloc(sizeof(FcRange) * Max(nparts, 1));

	*n = 0;
	for (int i = 0; i < nparts; i++)
	{
		const FcRange *range = &parts[i].range;
		FcRange    *last = *n > 0 ? &ranges[*n - 1] : NULL;

		Assert(last == NULL || (!last->hi_max && range->lo >= last->hi));
		if (last == NULL || range->lo != last->hi)
			ranges[(*n)++] = *range;
		else
		{
			last->hi = range->hi;
			last->hi_max = range->hi_max;
		}
	}
	return ranges;
}

/*
 * ERROR 23514, with the message of ATTACH, if a row of the default partition
 * belongs to one of "parts"
 */
static void
fc_vouch_scan_default(Relation defrel, AttrNumber attnum, FcKeyType type,
					  const FcNewPartition *parts, int nparts)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(defrel, NULL);
	TableScanDesc scan = fc_begin_scan(defrel, snapshot);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);
		int64		key;
		int			i = 0;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		key = fc_key_from_datum(type, value);
		fc_search(int, i, nparts, mid, !parts[mid].range.hi_max && parts[mid].range.hi <= key);
		if (i == nparts || !fc_range_has(&parts[i].range, key))
			continue;
		fc_throw(ERRCODE_CHECK_VIOLATION, errmsg("updated partition constraint for default partition \"%s\" would be violated by some row",
												 RelationGetRelationName(defrel)),
				 errdetail("A row belongs to the partition to be created for values %s.",
						   fc_range_text(type, &parts[i].range)),
				 errhint("Move such rows out of the default partition first."),
				 errtable(defrel));
	}

	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
}

bool
fc_vouch_check_default(Relation defrel, Relation parent, const FcRoute *route,
					   const FcNewPartition *parts, int nparts, bool known)
{
	AttrNumber	attnum;

	Assert(CheckRelationLockedByMe(defrel, AccessShareLock, true));
	if (defrel->rd_rel->relkind != RELKIND_RELATION ||
		RelationGetNumberOfBlocks(defrel) == 0)
		return false;
#ifndef USE_ASSERT_CHECKING
	if (known)
		return true;
#endif
	attnum = get_attnum(RelationGetRelid(defrel),
						get_attname(RelationGetRelid(parent), route->attnum,
									false));
	fc_vouch_scan_default(defrel, attnum, route->type, parts, nparts);
	return true;
}

/* Returns one bound as the parser makes it */
static Node *
fc_vouch_bound_datum(PartitionKey key, FcKeyType type, int64 bound,
					 PartitionRangeDatumKind kind)
{
	PartitionRangeDatum *datum = makeNode(PartitionRangeDatum);

	datum->kind = kind;
	datum->location = -1;
	if (kind == PARTITION_RANGE_DATUM_VALUE)
		datum->value = (Node *)
			makeConst(key->parttypid[0], key->parttypmod[0],
					  key->parttypcoll[0], key->parttyplen[0],
					  fc_key_datum(type, bound), false, key->parttypbyval[0]);
	return (Node *) datum;
}

PartitionBoundSpec *
fc_vouch_bound(Relation parent, FcKeyType type, const FcRange *range)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	PartitionBoundSpec *spec = makeNode(PartitionBoundSpec);

	spec->strategy = PARTITION_STRATEGY_RANGE;
	spec->location = -1;
	spec->lowerdatums =
		list_make1(fc_vouch_bound_datum(key, type, range->lo, range->lo_min ?
										PARTITION_RANGE_DATUM_MINVALUE :
										PARTITION_RANGE_DATUM_VALUE));
	spec->upperdatums =
		list_make1(fc_vouch_bound_datum(key, type, range->hi, range->hi_max ?
										PARTITION_RANGE_DATUM_MAXVALUE :
										PARTITION_RANGE_DATUM_VALUE));
	return spec;
}

/* Returns the condition that a row of "rel" is in "range" */
static Expr *
fc_vouch_range_condition(Relation rel, Relation parent, FcKeyType type,
						 const FcRange *range)
{
	List	   *quals = get_qual_from_partbound(parent,
												fc_vouch_bound(parent, type, range));

	return make_ands_explicit(map_partition_varattnos(quals, 1, rel, parent));
}

/*
 * Writes a CHECK into the catalog as valid without reading a row, and returns
 * its OID.  The caller knows that all rows fulfill it: the load has compared
 * each key of a new partition with the range, and has just read the default
 * partition.
 */
static Oid
fc_vouch_check(Relation rel, Expr *expr)
{
	char	   *name = ChooseConstraintName(RelationGetRelationName(rel), NULL,
											"fast_copy",
											RelationGetNamespace(rel), NIL);
	List	   *added = AddRelationNewConstraints(rel, NIL,
												  list_make1(fc_make_check(name, nodeToString(expr))),
												  false, true, true, NULL);

	CommandCounterIncrement();
	return ((CookedConstraint *) linitial(added))->conoid;
}

Oid
fc_vouch_for_default(Relation defrel, Relation parent, FcKeyType type,
					 const FcNewPartition *parts, int nparts)
{
	int			n;
	FcRange    *ranges = fc_vouch_ranges_merged(parts, nparts, &n);
	List	   *outside = NIL;

	for (int i = 0; i < n; i++)
		outside = lappend(outside, make_notclause(fc_vouch_range_condition(defrel, parent, type, &ranges[i])));
	return fc_vouch_check(defrel, make_ands_explicit(outside));
}

Oid
fc_vouch_for_part(Oid parentid, const FcRoute *route, const FcNewPartition *part)
{
	Relation	parent = table_open(parentid, ShareUpdateExclusiveLock);
	Relation	rel = table_open(part->range.partition, AccessExclusiveLock);
	Oid			constraint = fc_vouch_check(rel, fc_vouch_range_condition(rel, parent, route->type,
																		  &part->range));

	table_close(rel, NoLock);
	table_close(parent, NoLock);
	return constraint;
}
