/*-------------------------------------------------------------------------
 *
 * partition/default_rows.c
 *	  Rows of the default partition that are in the way of new partitions.
 *
 * ATTACH would look for them once for each new partition.  The leader reads
 * the default partition once for all of them, before any row is loaded and
 * again under the lock.  Nothing is changed, so there is nothing to clean up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "key/search.h"
#include "partition/default_rows.h"

static int
compare_ranges(const void *a, const void *b)
{
	int64		lo_a = ((const FcRange *) a)->lo;
	int64		lo_b = ((const FcRange *) b)->lo;

	return lo_a < lo_b ? -1 : lo_a > lo_b ? 1 : 0;
}

FcRange *
fc_ranges_merged(const FcNewPartition *parts, int nparts, int *n)
{
	FcRange    *ranges = palloc(sizeof(FcRange) * Max(nparts, 1));
	int			last = 0;
	int			i;

	for (i = 0; i < nparts; i++)
		ranges[i] = parts[i].range;
	qsort(ranges, nparts, sizeof(FcRange), compare_ranges);

	for (i = 1; i < nparts; i++)
	{
		if (ranges[i].lo != ranges[last].hi)
			ranges[++last] = ranges[i];
		else
		{
			ranges[last].hi = ranges[i].hi;
			ranges[last].hi_max = ranges[i].hi_max;
		}
	}
	*n = nparts > 0 ? last + 1 : 0;
	return ranges;
}

/* Returns the one of "n" ascending ranges that holds "key", or NULL */
static const FcRange *
find_range(const FcRange *ranges, int n, int64 key)
{
	int			i = 0;

	fc_search(int, i, n, mid, !ranges[mid].hi_max && ranges[mid].hi <= key);
	return i < n && (ranges[i].lo_min || ranges[i].lo <= key) ? &ranges[i] : NULL;
}

/* Returns the range of "parts" that holds "key", for a message */
static const FcRange *
part_of_key(const FcNewPartition *parts, int nparts, int64 key)
{
	int			i;

	for (i = 0; i < nparts; i++)
		if (find_range(&parts[i].range, 1, key) != NULL)
			return &parts[i].range;
	elog(ERROR, "no new partition holds the key");
}

/*
 * ERROR 23514, with the message of ATTACH, if a row of the default partition
 * belongs to one of "parts"
 */
static void
scan_default(Relation defrel, AttrNumber attnum, FcKeyType type,
			 const FcNewPartition *parts, int nparts)
{
	int			n;
	FcRange    *ranges = fc_ranges_merged(parts, nparts, &n);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(defrel, NULL);
	TableScanDesc scan = fc_begin_scan(defrel, snapshot);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);
		int64		key;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		key = fc_key_from_datum(type, value);
		if (find_range(ranges, n, key) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("updated partition constraint for default partition \"%s\" would be violated by some row",
							RelationGetRelationName(defrel)),
					 errdetail("A row belongs to the partition to be made for values %s.",
							   fc_range_text(type, part_of_key(parts, nparts, key))),
					 errhint("Move such rows out of the default partition first."),
					 errtable(defrel)));
	}

	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	pfree(ranges);
}

bool
fc_default_check(Relation defrel, Relation parent, const FcRoute *route,
				 const FcNewPartition *parts, int nparts)
{
	AttrNumber	attnum;

	if (defrel->rd_rel->relkind != RELKIND_RELATION ||
		RelationGetNumberOfBlocks(defrel) == 0)
		return false;
	attnum = get_attnum(RelationGetRelid(defrel),
						get_attname(RelationGetRelid(parent), route->attnum,
									false));
	scan_default(defrel, attnum, route->type, parts, nparts);
	return true;
}
