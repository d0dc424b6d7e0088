/*-------------------------------------------------------------------------
 *
 * index/define.c
 *	  The parent's indexes on a new partition: into the catalog.
 *
 * ATTACH PARTITION builds what the partition lacks, one after another and
 * under its locks.  For the workers to build them, CREATE INDEX is cut in
 * three:
 *
 *	define	leader		catalog rows and an empty file
 *	build	worker		index/build.c
 *	stats	leader		what the build counted, into pg_class
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_proc.h"
#include "commands/tablespace.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "parser/parse_utilcmd.h"
#include "utils/backend_status.h"

#include "index/index.h"

/* Are all functions of the index's expressions and predicate parallel safe? */
static bool
expressions_parallel_safe(const IndexInfo *info)
{
	PlannerGlobal glob = {.type = T_PlannerGlobal,.maxParallelHazard = PROPARALLEL_UNSAFE};
	PlannerInfo root = {.type = T_PlannerInfo,.glob = &glob};

	return is_parallel_safe(&root, (Node *) info->ii_Expressions) &&
		is_parallel_safe(&root, (Node *) info->ii_Predicate);
}

/*
 * Defines on "heap" an index like "like"; returns its OID.  If "heap" is a
 * partition already the index is built, and attached to that one.  Otherwise
 * the index is valid in the catalog but empty until it is built, which only
 * this transaction can see; an error takes table and index with it.  ATTACH
 * later adopts it.
 */
static Oid
define_like(Relation parent, Relation like, Oid heap, bool attached)
{
	Relation	rel = table_open(heap, NoLock);
	AttrMap    *map = fc_build_attrmap(RelationGetDescr(rel),
									   RelationGetDescr(parent));
	Oid			constraint;
	IndexStmt  *stmt = generateClonedIndexStmt(NULL, like, map, &constraint);
	ObjectAddress address;

	table_close(rel, NoLock);
	if (like->rd_rel->relkind == RELKIND_INDEX)
	{
		/* the index is what its file is exchanged with */
		stmt->idxname = pstrdup(RelationGetRelationName(like));
		stmt->isconstraint = stmt->primary = false;
		if (!OidIsValid(like->rd_rel->reltablespace))
			stmt->tableSpace = get_tablespace_name(MyDatabaseTableSpace);
	}
	address = fc_define_index(heap, stmt, attached ? RelationGetRelid(like) : InvalidOid,
							  attached ? constraint : InvalidOid);
	CommandCounterIncrement();
	return address.objectId;
}

void
fc_index_define_built(Relation parent, Oid parent_index, Oid heap)
{
	Relation	index = index_open(parent_index, AccessShareLock);

	Assert(!IsInParallelMode() && index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX);
	(void) define_like(parent, index, heap, true);
	index_close(index, NoLock);
}

/*
 * Returns how long a row takes, about.  Ratios are measured, and rounded:
 * tuplesort finds what is sorted already in one pass, and text is compared by
 * its collation.
 */
static double
weight_of_index(Relation index, AttrNumber key)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), 0);

	switch (index->rd_rel->relam)
	{
		case BTREE_AM_OID:
			if (AttributeNumberIsValid(key) &&
				index->rd_index->indkey.values[0] == key)
				return 0.5;
			return att->attbyval ? 1 : att->attlen > 0 ? 2 : 4;
		case BRIN_AM_OID:
			return 0.25;
		case HASH_AM_OID:
			return 1;
		default:
			return 6;
	}
}

Relation
fc_index_open(Relation rel, Oid index, LOCKMODE mode)
{
	Relation	opened = try_relation_open(index, mode);

	/* core calls functions of an expression as it reads it */
	if (opened == NULL)
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("an index of table \"%s\" was dropped while the table was being loaded",
											   RelationGetRelationName(rel)),
				 errhint("Look for such a command in the functions that its indexes call."));
	return opened;
}

/*
 * The parent may have indexes that are not partitioned, left by a failed
 * CREATE INDEX CONCURRENTLY or the like; ATTACH passes over them as well.  An
 * invalid partitioned index (ON ONLY) is treated as any other.
 */
List *
fc_index_define(Relation parent, Oid heap, AttrNumber key)
{
	List	   *tasks = NIL;
	List	   *indexes = RelationGetIndexList(parent);
	char		relkind = parent->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
		RELKIND_PARTITIONED_INDEX : RELKIND_INDEX;
	FcProgressSlot slot;

	Assert(!IsInParallelMode());
	fc_progress_slot_save(&slot);
	foreach_oid(oid, indexes)
	{
		Relation	index = fc_index_open(parent, oid, AccessShareLock);

		if (index->rd_rel->relkind == relkind)
		{
			FcIndexTask *task = palloc0(sizeof(FcIndexTask));

			task->heap = heap;
			task->like = oid;
			task->leader_only = index->rd_index->indisexclusion ||
				!expressions_parallel_safe(BuildIndexInfo(index));
			task->index = define_like(parent, index, heap, false);
			task->weight = weight_of_index(index, key);
			task->divisible = !task->leader_only &&
				fc_am_builds_in_parallel(index->rd_rel->relam);
			tasks = lappend(tasks, task);
		}
		relation_close(index, NoLock);
	}
	fc_progress_slot_restore(&slot);
	list_free(indexes);
	return tasks;
}

void
fc_index_stats(const FcIndexTask *task)
{
	Relation	heap;
	Relation	index;
	BlockNumber all_visible;
	BlockNumber all_frozen;

	Assert(!IsInParallelMode() && task->done);
	if (task->index_tuples < 0)
		return;
	heap = table_open(task->heap, AccessShareLock);
	index = fc_index_open(heap, task->index, AccessShareLock);
	Assert(index->rd_index->indrelid == task->heap && task->heap_tuples >= 0);
	visibilitymap_count(heap, &all_visible, &all_frozen);
	fc_set_relstats(heap, RelationGetNumberOfBlocks(heap), task->heap_tuples,
					all_visible, all_frozen);
	fc_set_relstats(index, RelationGetNumberOfBlocks(index),
					task->index_tuples, 0, 0);
	index_close(index, NoLock);
	table_close(heap, NoLock);
}

/* The command stays invalid where a process reports nothing, as in workers */
void
fc_progress_slot_save(FcProgressSlot *slot)
{
	slot->command = PROGRESS_COMMAND_INVALID;
	if (MyBEEntry == NULL || !pgstat_track_activities)
		return;
	slot->command = MyBEEntry->st_progress_command;
	slot->target = MyBEEntry->st_progress_command_target;
	memcpy(slot->params, MyBEEntry->st_progress_param, sizeof(slot->params));
}

void
fc_progress_slot_restore(const FcProgressSlot *slot)
{
	int			numbers[PGSTAT_NUM_PROGRESS_PARAM];

	if (slot->command == PROGRESS_COMMAND_INVALID)
		return;
	for (int i = 0; i < PGSTAT_NUM_PROGRESS_PARAM; i++)
		numbers[i] = i;
	pgstat_progress_start_command(slot->command, slot->target);
	pgstat_progress_update_multi_param(PGSTAT_NUM_PROGRESS_PARAM, numbers,
									   slot->params);
}
