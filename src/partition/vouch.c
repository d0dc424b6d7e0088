/*-------------------------------------------------------------------------
 *
 * partition/vouch.c
 *	  CHECK constraints that spare ATTACH the reading of rows.
 *
 * ATTACH reads all rows of the new partition, and of the default partition,
 * unless a valid CHECK constraint proves that no row is out of place.  Such a
 * constraint is written into the catalog without reading a row: for the new
 * partition, because the load has compared each key with the range; for the
 * default, because the leader has read it once, under the lock, for all new
 * ranges.  The caller drops it again (fc_attach_drop_check).
 *
 * Constraints are rows in catalogs, which the end of the transaction undoes
 * on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "partitioning/partbounds.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "partition/default_rows.h"
#include "partition/vouch.h"

/* Returns one bound as the parser makes it */
static Node *
bound_datum(PartitionKey key, FcKeyType type, int64 bound,
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
		list_make1(bound_datum(key, type, range->lo, range->lo_min ?
							   PARTITION_RANGE_DATUM_MINVALUE :
							   PARTITION_RANGE_DATUM_VALUE));
	spec->upperdatums =
		list_make1(bound_datum(key, type, range->hi, range->hi_max ?
							   PARTITION_RANGE_DATUM_MAXVALUE :
							   PARTITION_RANGE_DATUM_VALUE));
	return spec;
}

/* Returns the condition that a row of "rel" is in "range" */
static Expr *
range_condition(Relation rel, Relation parent, FcKeyType type,
				const FcRange *range)
{
	List	   *quals = get_qual_from_partbound(parent,
												fc_vouch_bound(parent, type, range));

	quals = map_partition_varattnos(quals, 1, rel, parent);
	return make_ands_explicit(quals);
}

/*
 * Writes a CHECK into the catalog as valid although no row was looked at: the
 * caller knows that all rows fulfil it.  Returns its OID.
 */
static Oid
vouch(Relation rel, Expr *expr)
{
	char	   *name = ChooseConstraintName(RelationGetRelationName(rel), NULL,
											"fast_copy",
											RelationGetNamespace(rel), NIL);
	List	   *added;

	added = AddRelationNewConstraints(rel, NIL,
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
	FcRange    *ranges = fc_ranges_merged(parts, nparts, &n);
	List	   *outside = NIL;
	int			i;

	for (i = 0; i < n; i++)
	{
		Expr	   *inside = range_condition(defrel, parent, type, &ranges[i]);

		outside = lappend(outside,
						  makeBoolExpr(NOT_EXPR, list_make1(inside), -1));
	}
	return vouch(defrel, make_ands_explicit(outside));
}

Oid
fc_vouch_for_part(Oid parentid, const FcRoute *route, const FcNewPartition *part)
{
	Relation	parent = table_open(parentid, ShareUpdateExclusiveLock);
	Relation	rel = table_open(part->range.partition, AccessExclusiveLock);
	Oid			constraint;

	constraint = vouch(rel, range_condition(rel, parent, route->type,
											&part->range));
	table_close(rel, NoLock);
	table_close(parent, NoLock);
	return constraint;
}

Oid *
fc_vouch_for_parts(Oid parentid, const FcRoute *route, const FcNewPartition *parts,
				   int nparts)
{
	Oid		   *constraints = palloc(sizeof(Oid) * nparts);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy guard",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);

	for (int i = 0; i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		constraints[i] = fc_vouch_for_part(parentid, route, &parts[i]);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return constraints;
}
