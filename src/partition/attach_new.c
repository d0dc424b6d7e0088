/*-------------------------------------------------------------------------
 *
 * partition/attach_new.c
 *	  Attaches the new partitions of a load, once they are filled.
 *
 *		begin	the default partition is locked and read, bounds are compared
 *		each	the first by ATTACH PARTITION, without the scans it would do
 *				(partition/vouch.c); the others, where no extension sees a
 *				difference, by rows in catalogs (partition/attach.c)
 *		end		constraints that were needed for it are dropped
 *
 * The load vouches that the rows of a new partition fit its bounds, unless code
 * of the table may have written to it as well.  If ATTACH itself may run such
 * code, all new partitions get a CHECK of their bounds (a guard) before the
 * first is attached: the code cannot write a wrong row to a partition that is
 * attached later.
 *
 * Everything is DDL in the caller's transaction, which undoes it on error.
 * SPI is connected and finished within each function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/spi.h"
#include "partitioning/partdesc.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "index/progress_slot.h"
#include "partition/attach.h"
#include "partition/attach_new.h"
#include "partition/ddl.h"
#include "partition/default_rows.h"
#include "partition/empty_table.h"
#include "partition/vouch.h"

/* Locks the default partition, if any, and vouches for it if it has rows */
static Oid
spare_default(Relation parent, const FcRoute *route, FcNewPartition *parts,
			  int nparts)
{
	Relation	defrel;
	Oid			spared = InvalidOid;

	if (!OidIsValid(route->default_oid))
		return InvalidOid;
	defrel = table_open(route->default_oid, AccessExclusiveLock);
	if (fc_default_check(defrel, parent, route, parts, nparts))
		spared = fc_vouch_for_default(defrel, parent, route->type, parts, nparts);
	table_close(defrel, NoLock);
	return spared;
}

const FcNewPartition *
fc_partition_overlap(Relation parent, const FcNewPartition *parts, int nparts, Oid *other)
{
	const FcRoute *all = fc_route_build_from(parent, RelationGetPartitionDesc(parent, false));

	for (int i = 0; i < nparts; i++)
	{
		const FcRange *range = &parts[i].range;
		FcRange		found = fc_route_find(all, range->lo);

		/* a hole, but a part of the range may lie behind it */
		if (!OidIsValid(found.partition) && !found.hi_max &&
			(range->hi_max || range->hi > found.hi))
			found = fc_route_find(all, found.hi);
		*other = found.partition;
		if (OidIsValid(*other))
			return &parts[i];
	}
	return NULL;
}

/*
 * Compares the bounds with those that exist, as ATTACH does, because most
 * partitions are attached without it; ERROR 42P17 if two overlap
 */
static void
check_overlaps(Relation parent, const FcNewPartition *parts, int nparts)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy bounds",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	Oid			other;
	const FcNewPartition *part = fc_partition_overlap(parent, parts, nparts, &other);

	if (part)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("partition \"%s\" would overlap partition \"%s\"",
						get_rel_name(part->range.partition), get_rel_name(other))));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

void
fc_partition_attach_begin(FcAttach *attach, Oid parentid, const FcRoute *route,
						  FcNewPartition *parts, int nparts, bool vouched)
{
	/* locks in the order in which ATTACH takes them */
	Relation	parent = table_open(parentid, ShareUpdateExclusiveLock);

	attach->parent = parentid;
	attach->route = route;
	attach->parts = parts;
	attach->vouched = vouched;
	attach->first = true;
	attach->untold = false;
	attach->spared = spare_default(parent, route, parts, nparts);
	attach->reason = vouched ? fc_attach_reason(parent, route->default_oid) :
		"code of the table ran commands of its own";
	check_overlaps(parent, parts, nparts);
	attach->guards = vouched && fc_attach_runs_code(parent) ?
		fc_vouch_for_parts(parentid, route, parts, nparts) : NULL;
	attach->mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy attach",
										 ALLOCSET_DEFAULT_SIZES);
	table_close(parent, NoLock);
}

static void
attach_tell(FcAttach *attach)
{
	Relation	parent;

	if (!attach->untold)
		return;
	parent = table_open(attach->parent, NoLock);
	fc_attach_tell(parent, attach->route->default_oid);
	table_close(parent, NoLock);
	attach->untold = false;
}

void
fc_partition_attach_end(FcAttach *attach)
{
	attach_tell(attach);
	if (OidIsValid(attach->spared))
		fc_attach_drop_check(attach->spared);
	MemoryContextDelete(attach->mcxt);
}

static char *
attach_sql(Oid parentid, const FcRoute *route, const FcNewPartition *part)
{
	return psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES %s",
					fc_ddl_name(get_rel_namespace(parentid), get_rel_name(parentid)),
					fc_ddl_name(get_rel_namespace(part->range.partition),
								fc_partition_name_now(part)),
					fc_range_text(route->type, &part->range));
}

/* Attaches by ATTACH PARTITION */
static void
attach_by_command(FcAttach *attach, const FcNewPartition *part)
{
	Oid			vouched = InvalidOid;
	int			level = fc_ddl_pin();
	FcProgressSlot slot;

	attach_tell(attach);
	fc_progress_slot_save(&slot);
	SPI_connect();
	if (attach->guards)
		vouched = attach->guards[part - attach->parts];
	else if (attach->vouched)
		vouched = fc_vouch_for_part(attach->parent, attach->route, part);
	fc_attach_localize_columns(part->range.partition);
	fc_ddl_run(attach_sql(attach->parent, attach->route, part));
	if (OidIsValid(vouched))
		fc_attach_drop_check(vouched);
	fc_attach_constraints(part->range.partition, false);
	SPI_finish();
	AtEOXact_GUC(true, level);
	fc_progress_slot_restore(&slot);
}

/*
 * Attaches by rows in catalogs; false, with nothing done, if only ATTACH can
 */
static bool
attach_by_catalog(FcAttach *attach, const FcNewPartition *part)
{
	Relation	parent = table_open(attach->parent, NoLock);
	MemoryContext old = MemoryContextSwitchTo(attach->mcxt);
	FcProgressSlot slot;
	bool		done;

	fc_progress_slot_save(&slot);
	done = fc_attach_table(parent, part->range.partition,
						   fc_vouch_bound(parent, attach->route->type, &part->range),
						   attach->guards ? attach->guards[part - attach->parts] : InvalidOid);
	fc_progress_slot_restore(&slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(attach->mcxt);
	table_close(parent, NoLock);
	attach->untold |= done;
	return done;
}

/* The first partition is always attached by ATTACH, which checks the parent */
void
fc_partition_attach(FcAttach *attach, const FcNewPartition *part)
{
	(void) fc_partition_name_now(part);
	if (attach->first || attach->reason || !attach_by_catalog(attach, part))
		attach_by_command(attach, part);
	attach->first = false;
}
