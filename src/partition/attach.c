/*-------------------------------------------------------------------------
 *
 * partition/attach.c
 *	  Attaches many new partitions with one look at the parent.
 *
 * Each ATTACH PARTITION begins with reading the bounds of all partitions that
 * exist, and ends with telling all sessions that the parent has changed.  The
 * time for n new partitions grows with n * n, to minutes for thousands.  A load
 * knows all its new tables before.  It has made them like the parent, has
 * checked their rows and bounds, and holds the locks; all that ATTACH would do
 * yet is to write rows into catalogs:
 *
 *		pg_inherits, pg_depend	the child has a parent, and goes with it
 *		pg_class				it is a partition, and has a bound
 *		pg_attribute			columns are inherited ones
 *		pg_constraint			CHECKs, NOT NULLs and keys are inherited, too
 *
 * This file writes them, and tells the sessions once, at the end.  The rows of
 * an index are written by core's function that attaches one.  The caller lets
 * ATTACH attach the first partition, because ATTACH also checks the parent.
 *
 * Everything is done in the caller's transaction, which undoes it on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/evtcache.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat/compat.h"
#include "index/define.h"
#include "partition/attach.h"

/* An index of the child that becomes a partition of one of the parent */
typedef struct FcAttachIndex
{
	Oid			index;			/* InvalidOid: the child has none yet */
	Oid			parent_index;
	Oid			constraint;		/* both or none of the two is valid */
	Oid			parent_constraint;
} FcAttachIndex;

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

	/* ours looks at COPY alone */
	if (our_hook && hook == our_hook)
		hook = hook_before;
	return hook != NULL || object_access_hook != NULL ||
		EventCacheLookup(EVT_DDLCommandStart) != NIL ||
		EventCacheLookup(EVT_DDLCommandEnd) != NIL;
}

const char *
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

/* Is the function one of a user or an extension, not of core? */
static bool
fc_attach_users_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

static bool
fc_attach_users_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, fc_attach_users_function, context) ||
		expression_tree_walker(node, fc_attach_users_walker, context);
}

/*
 * Do the index's expressions call functions that are not core's?  Looks at
 * them as they were written, because the relcache simplifies them.
 */
static bool
fc_attach_index_runs_code(Oid indexid)
{
	static const AttrNumber columns[] = {Anum_pg_index_indexprs, Anum_pg_index_indpred};
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(indexid));
	bool		found = false;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", indexid);
	for (int i = 0; i < lengthof(columns) && !found; i++)
	{
		bool		isnull;
		Datum		value = SysCacheGetAttr(INDEXRELID, tuple, columns[i], &isnull);

		found = !isnull &&
			fc_attach_users_walker(stringToNode(TextDatumGetCString(value)), NULL);
	}
	ReleaseSysCache(tuple);
	return found;
}

bool
fc_attach_runs_code(Relation parent)
{
	TupleConstr *constr = RelationGetDescr(parent)->constr;
	ListCell   *lc;

	for (int i = 0; constr && i < constr->num_check; i++)
		if (fc_attach_users_walker(stringToNode(constr->check[i].ccbin), NULL))
			return true;
	foreach(lc, RelationGetIndexList(parent))
		if (fc_attach_index_runs_code(lfirst_oid(lc)))
		return true;
	return fc_attach_is_watched();
}

void
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

/* Pairs the constraints of the two indexes; false if only one has one */
static bool
fc_attach_same_constraint(Relation parent_index, Relation index,
						  FcAttachIndex *pair)
{
	Oid			parent = parent_index->rd_index->indrelid;
	Oid			child = index->rd_index->indrelid;

	pair->index = RelationGetRelid(index);
	pair->constraint = InvalidOid;
	pair->parent_constraint =
		get_relation_idx_constraint_oid(parent, pair->parent_index);
	if (OidIsValid(pair->parent_constraint))
		pair->constraint = get_relation_idx_constraint_oid(child, pair->index);
	return OidIsValid(pair->constraint) == OidIsValid(pair->parent_constraint);
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

/* Takes the index that is like the parent's from the list of the child's */
static FcAttachIndex *
fc_attach_pair(Relation parent_index, List **indexes, AttrMap *map)
{
	FcAttachIndex *pair = palloc(sizeof(FcAttachIndex));
	ListCell   *lc;

	pair->parent_index = RelationGetRelid(parent_index);
	foreach(lc, *indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		same = fc_attach_same_index(parent_index, index, map) &&
			fc_attach_same_constraint(parent_index, index, pair);

		index_close(index, NoLock);
		if (same)
		{
			*indexes = foreach_delete_current(*indexes, lc);
			return pair;
		}
	}
	pair->index = InvalidOid;
	return pair;
}

/* Pairs each index that a partition must have with one of the child's */
static List *
fc_attach_pairs(Relation parent, Relation child)
{
	List	   *pairs = NIL;
	List	   *indexes = RelationGetIndexList(child);
	AttrMap    *map = fc_build_attrmap(RelationGetDescr(child),
									   RelationGetDescr(parent));
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(parent))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
			pairs = lappend(pairs, fc_attach_pair(index, &indexes, map));
		index_close(index, NoLock);
	}
	return pairs;
}

static void
fc_attach_indexes(Oid child, List *pairs)
{
	ListCell   *lc;

	foreach(lc, pairs)
	{
		FcAttachIndex *pair = lfirst(lc);
		Relation	index;

		if (!OidIsValid(pair->index))
			continue;
		index = index_open(pair->index, AccessShareLock);
		IndexSetParentIndex(index, pair->parent_index);
		if (OidIsValid(pair->parent_constraint))
			ConstraintSetParentConstraint(pair->constraint,
										  pair->parent_constraint, child);
		index_close(index, NoLock);
	}
}

/* Builds the indexes that the child lacks */
static void
fc_attach_missing(Relation parent, Oid child, List *pairs)
{
	ListCell   *lc;

	foreach(lc, pairs)
	{
		FcAttachIndex *pair = lfirst(lc);

		if (!OidIsValid(pair->index))
			fc_index_define_built(parent, pair->parent_index, child);
	}
}

/*
 * Marks the child's columns as inherited from the parent, as all columns of a
 * partition are; if parent is NULL, as local ones.  Those that fc_table_create
 * made are marked as inherited from the start, which spares an update of each.
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

void
fc_attach_localize_columns(Oid childid)
{
	Relation	child = table_open(childid, AccessExclusiveLock);

	fc_attach_columns(child, NULL);
	table_close(child, NoLock);
	CommandCounterIncrement();
}

/*
 * Makes a constraint what it is in a partition.  False if it is that already,
 * or is none that inheritance changes.
 */
static bool
fc_attach_constraint(Form_pg_constraint form, bool inherited)
{
	switch (form->contype)
	{
		case CONSTRAINT_CHECK:
		case CONSTRAINT_NOTNULL:
			if (!inherited || form->connoinherit || form->coninhcount > 0)
				return false;
			form->coninhcount = 1;
			form->conislocal = false;
			return true;
		case CONSTRAINT_PRIMARY:
		case CONSTRAINT_UNIQUE:
		case CONSTRAINT_EXCLUSION:
			if (!form->connoinherit || !OidIsValid(form->conparentid))
				return false;
			form->connoinherit = false;
			return true;
		default:
			return false;
	}
}

void
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

static void
fc_attach_bound(Relation child, PartitionBoundSpec *bound)
{
	Relation	classes = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	old = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(child)));
	Datum		values[Natts_pg_class] = {0};
	bool		nulls[Natts_pg_class] = {0};
	bool		replace[Natts_pg_class] = {0};
	HeapTuple	new;

	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for relation %u",
			 RelationGetRelid(child));
	values[Anum_pg_class_relispartition - 1] = BoolGetDatum(true);
	replace[Anum_pg_class_relispartition - 1] = true;
	values[Anum_pg_class_relpartbound - 1] =
		CStringGetTextDatum(nodeToString(bound));
	replace[Anum_pg_class_relpartbound - 1] = true;
	new = heap_modify_tuple(old, RelationGetDescr(classes), values, nulls,
							replace);
	CatalogTupleUpdate(classes, &new->t_self, new);
	heap_freetuple(new);
	ReleaseSysCache(old);
	table_close(classes, RowExclusiveLock);
}

static void
fc_attach_inherit(Oid parent, Oid child)
{
	ObjectAddress depender;
	ObjectAddress referenced;

	StoreSingleInheritance(child, parent, 1);
	ObjectAddressSet(depender, RelationRelationId, child);
	ObjectAddressSet(referenced, RelationRelationId, parent);
	recordDependencyOn(&depender, &referenced, DEPENDENCY_AUTO);
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
 * Another session that reads the parent's partitions and finds the row in
 * pg_inherits must find a bound as well: the same command writes both.
 */
bool
fc_attach_table(Relation parent, Oid childid, PartitionBoundSpec *bound, Oid guard)
{
	Relation	child = table_open(childid, AccessExclusiveLock);
	bool		like = fc_attach_is_like(parent, child, guard);
	List	   *pairs;

	if (like)
	{
		pairs = fc_attach_pairs(parent, child);
		fc_attach_indexes(childid, pairs);
		fc_attach_columns(child, RelationGetDescr(parent));
		fc_attach_bound(child, bound);
		fc_attach_inherit(RelationGetRelid(parent), childid);
		CommandCounterIncrement();
		if (OidIsValid(guard))
			fc_attach_drop_check(guard);
		fc_attach_missing(parent, childid, pairs);
		fc_attach_constraints(childid, true);
	}
	table_close(child, NoLock);
	return like;
}

void
fc_attach_tell(Relation parent, Oid default_oid)
{
	if (OidIsValid(default_oid))
		CacheInvalidateRelcacheByRelid(default_oid);
	CacheInvalidateRelcache(parent);
	CommandCounterIncrement();
}
