/*-------------------------------------------------------------------------
 *
 * partition/attach.c
 *	  Attaches the new partitions of a load, once they are filled.
 *
 *	begin	locks and reads the default partition, and compares bounds
 *	each	attaches the first partition by ATTACH PARTITION, without the
 *			scans that ATTACH would do (partition/vouch.c), and the others
 *			by rows in catalogs where no extension sees a difference
 *	end		drops the constraints that were needed for it
 *
 * ATTACH PARTITION begins by reading the bounds of all partitions that exist,
 * and ends by invalidating the parent in all sessions: for n new partitions
 * the time grows with n * n, to minutes for thousands.  Here the sessions are
 * told once, at the end.  The command attaches the first partition, because
 * ATTACH also checks the parent.
 *
 * Everything is DDL in the caller's transaction, which undoes it on error.
 * SPI is connected and finished within each function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_constraint.h"
#include "partitioning/partdesc.h"
#include "utils/evtcache.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"

#include "index/index.h"
#include "options/plan.h"
#include "partition/partition.h"

static ProcessUtility_hook_type our_hook = NULL;
static ProcessUtility_hook_type hook_before = NULL;

void
fc_attach_pass_over(ProcessUtility_hook_type ours, ProcessUtility_hook_type before)
{
	our_hook = ours;
	hook_before = before;
}

bool
fc_attach_is_watched(void)
{
	ProcessUtility_hook_type hook = ProcessUtility_hook;

	/* our hook looks at COPY alone */
	if (our_hook && hook == our_hook)
		hook = hook_before;
	return hook != NULL || object_access_hook != NULL ||
		EventCacheLookup(EVT_DDLCommandStart) != NIL ||
		EventCacheLookup(EVT_DDLCommandEnd) != NIL;
}

/*
 * Returns why tables that this load made like "parent" cannot be attached by
 * fc_attach_by_catalog; NULL if they can.  They cannot if ATTACH would do more
 * than write rows into catalogs, or if an extension or event trigger would
 * notice that it was not called.
 */
static const char *
fc_attach_reason(Relation parent, Oid default_oid)
{
	if (parent->rd_rel->relispartition)
		return "the table is a partition itself";
	/* foreign keys have triggers, and so have the tables that they refer to */
	if (parent->trigdesc != NULL || RelationGetFKeyList(parent) != NIL)
		return "the table has triggers";
	if (OidIsValid(default_oid) &&
		get_rel_relkind(default_oid) != RELKIND_RELATION)
		return "the default partition is not a table";
	if (fc_attach_is_watched())
		return "event triggers or other extensions see each command";
	return NULL;
}

/* Looks at them as they were written, because the relcache simplifies them */
bool
fc_attach_index_runs_code(Relation index)
{
	static const AttrNumber columns[] = {Anum_pg_index_indexprs, Anum_pg_index_indpred};

	for (int i = 0; i < lengthof(columns); i++)
	{
		bool		isnull;
		Datum		value = SysCacheGetAttr(INDEXRELID, index->rd_indextuple, columns[i], &isnull);

		if (!isnull && fc_code_foreign(stringToNode(TextDatumGetCString(value))))
			return true;
	}
	return false;
}

/* Have CHECKs or indexes of the table functions of users? */
static bool
fc_attach_has_code(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	for (int i = 0; constr && i < constr->num_check; i++)
		if (fc_code_foreign(stringToNode(constr->check[i].ccbin)))
			return true;
	return fc_code_any_index(rel, fc_attach_index_runs_code);
}

/* Drops a CHECK that this load has made, without calling hooks */
static void
fc_attach_drop_check(Oid constraint)
{
	ObjectAddress address;

	ObjectAddressSet(address, ConstraintRelationId, constraint);
	performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	CommandCounterIncrement();
}

static bool
fc_attach_same_column(Form_pg_attribute a, Form_pg_attribute b)
{
	Assert(!a->attisdropped && !b->attisdropped);
	return strcmp(NameStr(a->attname), NameStr(b->attname)) == 0 &&
		a->atttypid == b->atttypid &&
		a->atttypmod == b->atttypmod &&
		a->attcollation == b->attcollation &&
		a->attnotnull == b->attnotnull &&
		a->attgenerated == b->attgenerated;
}

/* Are the child's columns the parent's without those that were dropped? */
static bool
fc_attach_same_columns(TupleDesc parent, TupleDesc child)
{
	int			n = 0;

	for (int i = 0; i < parent->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(parent, i);

		if (column->attisdropped)
			continue;
		if (n == child->natts ||
			!fc_attach_same_column(column, TupleDescAttr(child, n)))
			return false;
		n++;
	}
	return n == child->natts;
}

static int
fc_attach_checks(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	return constr ? constr->num_check : 0;
}

static bool
fc_attach_same_index(Relation parent_index, Relation index, AttrMap *map)
{
	if (index->rd_rel->relispartition || !index->rd_index->indisvalid ||
		index->rd_index->indisprimary != parent_index->rd_index->indisprimary)
		return false;
	return CompareIndexInfo(BuildIndexInfo(index), BuildIndexInfo(parent_index),
							index->rd_indcollation,
							parent_index->rd_indcollation,
							index->rd_opfamily, parent_index->rd_opfamily,
							map);
}

/*
 * Makes one of these indexes of the child, which the list loses, a partition of
 * the parent's index that it is like, with its constraint; false if none is
 */
static bool
fc_attach_index(Relation parent_index, Relation child, List **indexes, AttrMap *map)
{
	Oid			of_parent = get_relation_idx_constraint_oid(parent_index->rd_index->indrelid,
															RelationGetRelid(parent_index));

	foreach_oid(oid, *indexes)
	{
		Relation	index = index_open(oid, AccessShareLock);
		Oid			constraint = InvalidOid;
		bool		like = fc_attach_same_index(parent_index, index, map);

		if (like && OidIsValid(of_parent))
		{
			constraint = get_relation_idx_constraint_oid(RelationGetRelid(child), oid);
			like = OidIsValid(constraint);
		}
		if (like)
			IndexSetParentIndex(index, RelationGetRelid(parent_index));
		if (OidIsValid(constraint))
			ConstraintSetParentConstraint(constraint, of_parent, RelationGetRelid(child));
		index_close(index, NoLock);
		if (like)
		{
			*indexes = list_delete_oid(*indexes, oid);
			return true;
		}
	}
	return false;
}

/* Gives the child an index for each one of the parent: its own or a new one */
static void
fc_attach_indexes(Relation parent, Relation child)
{
	List	   *indexes = RelationGetIndexList(child);
	AttrMap    *map = fc_build_attrmap(RelationGetDescr(child),
									   RelationGetDescr(parent));

	foreach_oid(oid, RelationGetIndexList(parent))
	{
		Relation	index = index_open(oid, AccessShareLock);

		if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX &&
			!fc_attach_index(index, child, &indexes, map))
			fc_index_define_built(parent, oid, RelationGetRelid(child));
		index_close(index, NoLock);
	}
	CommandCounterIncrement();
}

/*
 * Marks the child's columns as inherited from the parent, as a partition's
 * are; or as local ones if parent is NULL.  Those of fc_table_create are so
 * marked from the start, which spares an update of each.
 */
static void
fc_attach_columns(Relation child, TupleDesc parent)
{
	Relation	columns = table_open(AttributeRelationId, RowExclusiveLock);
	CatalogIndexState indexes = CatalogOpenIndexes(columns);
	TupleDesc	desc = RelationGetDescr(child);
	int			inherited = parent ? 1 : 0;
	int			p = 0;

	for (int i = 0; i < desc->natts; i++, p++)
	{
		HeapTuple	tuple;
		Form_pg_attribute form;

		while (parent && TupleDescAttr(parent, p)->attisdropped)
			p++;
		Assert(!parent || (p < parent->natts && fc_attach_same_column(TupleDescAttr(parent, p), TupleDescAttr(desc, i))));
		if (TupleDescAttr(desc, i)->attinhcount == inherited)
			continue;
		tuple = SearchSysCacheCopy2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(child)),
									Int16GetDatum(i + 1));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for attribute %d of relation %u",
				 i + 1, RelationGetRelid(child));
		form = (Form_pg_attribute) GETSTRUCT(tuple);
		form->attinhcount = inherited;
		form->attislocal = !inherited;
		if (parent)
			fc_inherit_identity(form, TupleDescAttr(parent, p));
		CatalogTupleUpdateWithInfo(columns, &tuple->t_self, tuple, indexes);
		heap_freetuple(tuple);
	}
	CatalogCloseIndexes(indexes);
	table_close(columns, RowExclusiveLock);
}

/*
 * Makes a constraint what it is in a partition.  False if it already is, or if
 * inheritance does not change it.
 */
static bool
fc_attach_constraint(Form_pg_constraint form, bool inherited)
{
	if (form->contype == CONSTRAINT_CHECK || form->contype == CONSTRAINT_NOTNULL)
	{
		if (!inherited || form->connoinherit || form->coninhcount > 0)
			return false;
		form->coninhcount = 1;
		form->conislocal = false;
		return true;
	}
	if (form->contype == CONSTRAINT_FOREIGN || !form->connoinherit || !OidIsValid(form->conparentid))
		return false;
	form->connoinherit = false;
	return true;
}

/*
 * Marks the constraints of an attached table as CREATE TABLE ... PARTITION OF
 * would have done.  ATTACH leaves those of adopted indexes marked NO INHERIT,
 * as on a stand-alone table.  With "inherited", for a table that
 * fc_attach_by_catalog attached, CHECKs and NOT NULLs are marked as inherited,
 * too.
 */
static void
fc_attach_constraints(Oid child, bool inherited)
{
	Relation	constraints = table_open(ConstraintRelationId, RowExclusiveLock);
	ScanKeyData skey;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&skey, Anum_pg_constraint_conrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(child));
	scan = systable_beginscan(constraints, ConstraintRelidTypidNameIndexId,
							  true, NULL, 1, &skey);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		HeapTuple	copy = heap_copytuple(tuple);

		if (fc_attach_constraint((Form_pg_constraint) GETSTRUCT(copy), inherited))
			CatalogTupleUpdate(constraints, &copy->t_self, copy);
		heap_freetuple(copy);
	}
	systable_endscan(scan);
	table_close(constraints, RowExclusiveLock);
	CommandCounterIncrement();
}

/*
 * Stores the bound, and makes the child inherit from the parent.  A session
 * that finds the row in pg_inherits must find the bound: one command writes
 * both.
 */
static void
fc_attach_inherit(Oid parent, Oid child, PartitionBoundSpec *bound)
{
	int			columns[] = {Anum_pg_class_relispartition, Anum_pg_class_relpartbound};
	Datum		values[] = {BoolGetDatum(true), CStringGetTextDatum(nodeToString(bound))};
	bool		nulls[] = {false, false};
	ObjectAddress depender;
	ObjectAddress referenced;

	fc_ddl_class_change(child, lengthof(columns), columns, values, nulls);
	StoreSingleInheritance(child, parent, 1);
	ObjectAddressSet(depender, RelationRelationId, child);
	ObjectAddressSet(referenced, RelationRelationId, parent);
	recordDependencyOn(&depender, &referenced, DEPENDENCY_AUTO);
	CommandCounterIncrement();
}

/* Is the child what this load should have made? */
static bool
fc_attach_is_like(Relation parent, Relation child, Oid guard)
{
	int			checks = fc_attach_checks(child) - (OidIsValid(guard) ? 1 : 0);

	return child->rd_rel->relkind == RELKIND_RELATION &&
		!child->rd_rel->relispartition &&
		RelationUsesLocalBuffers(child) == RelationUsesLocalBuffers(parent) &&
		fc_attach_same_columns(RelationGetDescr(parent), RelationGetDescr(child)) &&
		fc_attach_checks(parent) == checks;
}

/*
 * Locks the default partition, if any, and vouches for it if it has rows.  One
 * that is drained is not read again, unless code of users may have written to
 * it.
 */
static Oid
fc_attach_spare_default(Relation parent, const FcRoute *route, FcNewPartition *parts,
						int nparts, bool drained)
{
	Relation	defrel;
	Oid			spared = InvalidOid;

	if (!OidIsValid(route->default_oid))
		return InvalidOid;
	defrel = table_open(route->default_oid, AccessExclusiveLock);
	Assert(defrel->rd_rel->relispartition);
	if (fc_vouch_check_default(defrel, parent, route, parts, nparts, drained && !fc_attach_has_code(defrel)))
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

		/* a hole, but the range may reach beyond it */
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
 * Compares the bounds with existing ones, as ATTACH does, because most
 * partitions are attached without it; ERROR 42P17 if two overlap
 */
static void
fc_attach_check_overlaps(Relation parent, const FcNewPartition *parts, int nparts)
{
	Oid			other;
	const FcNewPartition *part = fc_partition_overlap(parent, parts, nparts, &other);

	if (part)
		fc_throw(ERRCODE_INVALID_OBJECT_DEFINITION, errmsg("partition \"%s\" would overlap partition \"%s\"",
														   get_rel_name(part->range.partition), get_rel_name(other)));
}

void
fc_partition_attach_begin(FcAttach *attach, Oid parentid, const FcRoute *route,
						  FcNewPartition *parts, int nparts, bool vouched, bool drained)
{
	/* locks in the order in which ATTACH takes them */
	Relation	parent = table_open(parentid, ShareUpdateExclusiveLock);
	MemoryContext old;

	Assert(!IsInParallelMode() && nparts > 0);
	*attach = (FcAttach) {.parent = parentid,.route = route,.parts = parts,
	.vouched = vouched,.first = true};
	attach->spared = fc_attach_spare_default(parent, route, parts, nparts, vouched && drained);
	attach->reason = vouched ? fc_attach_reason(parent, route->default_oid) :
		"code of the table ran commands of its own";
	attach->mcxt = fc_context_memory(CurrentMemoryContext, "attach");
	old = MemoryContextSwitchTo(attach->mcxt);
	fc_attach_check_overlaps(parent, parts, nparts);

	/*
	 * ATTACH may run code of the table: core simplifies expressions of CHECKs
	 * and indexes, and calls functions for that; and hooks and event triggers
	 * may see the command.  Such code could write a wrong row to a table that
	 * is not attached yet.  So all new partitions get a CHECK of their bounds
	 * (a guard) before the first is attached.
	 */
	if (vouched && (fc_attach_has_code(parent) || fc_attach_is_watched()))
		attach->guards = MemoryContextAlloc(old, sizeof(Oid) * nparts);
	for (int i = 0; attach->guards && i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(attach->mcxt);
		attach->guards[i] = fc_vouch_for_part(parentid, route, &parts[i]);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(attach->mcxt);
	table_close(parent, NoLock);
}

/*
 * Invalidates in all sessions what was attached by catalog since the last
 * call.  The parent's cache entry is out of date until then.
 */
static void
fc_attach_tell(FcAttach *attach)
{
	if (!attach->untold)
		return;
	if (OidIsValid(attach->route->default_oid))
		CacheInvalidateRelcacheByRelid(attach->route->default_oid);
	CacheInvalidateRelcacheByRelid(attach->parent);
	CommandCounterIncrement();
	attach->untold = false;
}

void
fc_partition_attach_end(FcAttach *attach)
{
	fc_attach_tell(attach);
	if (OidIsValid(attach->spared))
		fc_attach_drop_check(attach->spared);
	MemoryContextDelete(attach->mcxt);
}

/* Attaches by ATTACH PARTITION; "guard" is dropped */
static void
fc_attach_by_command(FcAttach *attach, const FcNewPartition *part, Oid guard)
{
	int			level = fc_ddl_begin();
	Relation	child;

	fc_attach_tell(attach);
	if (attach->vouched && !OidIsValid(guard))
		guard = fc_vouch_for_part(attach->parent, attach->route, part);
	/* the command refuses a table with inherited columns */
	child = table_open(part->range.partition, AccessExclusiveLock);
	fc_attach_columns(child, NULL);
	table_close(child, NoLock);
	CommandCounterIncrement();
	fc_ddl_run(psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES %s",
						fc_ddl_table(attach->parent),
						fc_ddl_name(get_rel_namespace(part->range.partition),
									fc_new_partition_name_now(part)),
						fc_range_text(attach->route->type, &part->range)));
	if (OidIsValid(guard))
		fc_attach_drop_check(guard);
	fc_attach_constraints(part->range.partition, false);
	fc_ddl_end(level, true);
}

/*
 * Attaches by rows in catalogs:
 *
 *	pg_inherits, pg_depend	the child has a parent, and goes with it
 *	pg_class				it is a partition, and has a bound
 *	pg_attribute			columns are inherited ones
 *	pg_constraint			CHECKs, NOT NULLs and keys are inherited, too
 *
 * The session holds the locks of ATTACH, the child's rows fit the bound, and
 * the bound overlaps no other.  "guard", or InvalidOid, is a CHECK of the
 * bound, which is dropped.  False, with nothing done, if the child is not like
 * the parent: ATTACH handles that or throws the right error.
 */
static bool
fc_attach_by_catalog(FcAttach *attach, const FcNewPartition *part, Oid guard)
{
	Relation	parent = table_open(attach->parent, NoLock);
	Relation	child = table_open(part->range.partition, AccessExclusiveLock);
	MemoryContext old = MemoryContextSwitchTo(attach->mcxt);
	bool		like = fc_attach_is_like(parent, child, guard);

	Assert(CheckRelationLockedByMe(parent, ShareUpdateExclusiveLock, true) && attach->vouched && !attach->first);
	if (like)
	{
		fc_attach_columns(child, RelationGetDescr(parent));
		fc_attach_inherit(attach->parent, part->range.partition,
						  fc_vouch_bound(parent, attach->route->type, &part->range));
		if (OidIsValid(guard))
			fc_attach_drop_check(guard);
		fc_attach_indexes(parent, child);
		fc_attach_constraints(part->range.partition, true);
		attach->untold = true;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(attach->mcxt);
	table_close(child, NoLock);
	table_close(parent, NoLock);
	return like;
}

/* The first partition is always attached by ATTACH, which checks the parent */
void
fc_partition_attach(FcAttach *attach, const FcNewPartition *part)
{
	Oid			guard = attach->guards ? attach->guards[part - attach->parts] : InvalidOid;
	FcProgressSlot slot;

	Assert(!IsInParallelMode());
	(void) fc_new_partition_name_now(part);
	Assert(OidIsValid(part->range.partition) && part->range.lo < part->range.hi);
	fc_progress_slot_save(&slot);
	if (attach->first || attach->reason || !fc_attach_by_catalog(attach, part, guard))
		fc_attach_by_command(attach, part, guard);
	fc_progress_slot_restore(&slot);
	attach->first = false;
}
