/*-------------------------------------------------------------------------
 *
 * load/tables.c
 *	  The tables that take rows: locked, looked at and kept as they are.
 *
 * The leader holds every lock that matters until the transaction ends; a
 * worker's locks are gone when it ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat/compat.h"
#include "heap/hold.h"
#include "load/tables.h"
#include "load/tasks.h"
#include "load/way.h"

/*
 * Locks all levels where core routes: workers find leaves by themselves, so
 * that no partition may come or go at any level while they do, and all leaves
 * are locked until commit.  For a caller who may not lock the table against
 * new partitions the leader loads alone, and into these leaves only
 * (fc_tables_check).
 */
static void
fc_tables_lock_tree(Oid parent, bool against_new)
{
	List	   *children;
	ListCell   *lc;

	if (against_new)
		LockRelationOid(parent, ShareUpdateExclusiveLock);
	children = find_inheritance_children(parent, RowExclusiveLock);
	foreach(lc, children)
	{
		CHECK_FOR_INTERRUPTS();
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_PARTITIONED_TABLE)
			fc_tables_lock_tree(lfirst_oid(lc), against_new);
	}
}

void
fc_tables_lock(FcJob *job)
{
	FcTarget   *target = &job->target;
	ListCell   *lc;

	if (target->plan->routed)
		fc_tables_lock_tree(target->oid, fc_may_lock(target->oid, GetUserId()));
	if (!target->plan->key_routes)
		return;
	if (target->ncreated > 0)
	{
		fc_partition_check_owner(target->rel);
		if (job->partman && !fc_partman_try_lock())
		{
			job->gives_way = true;
			return;
		}
		LockRelationOid(target->oid, ShareUpdateExclusiveLock);
	}
	foreach(lc, job->parts)
	{
		bool		created;
		Oid			leaf = fc_tasks_leaf(job, lfirst(lc), &created);

		CHECK_FOR_INTERRUPTS();
		if (OidIsValid(leaf) && !created)
			LockRelationOid(leaf, RowExclusiveLock);
	}
}

bool
fc_tables_bounds_changed(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcRoute    *now;
	bool		changed;

	AcceptInvalidationMessages();
	now = fc_route_build(target->rel);
	changed = now->nranges != target->route->nranges ||
		now->default_oid != target->route->default_oid;
	for (int i = 0; i < now->nranges && !changed; i++)
		changed = now->ranges[i].lo != target->route->ranges[i].lo ||
			now->ranges[i].hi != target->route->ranges[i].hi ||
			now->ranges[i].partition != target->route->ranges[i].partition;
	return changed;
}

/* Takes the way that the triggers and indexes of an existing leaf ask for */
static void
fc_tables_check_one(FcJob *job, Oid leaf)
{
	FcTarget   *target = &job->target;
	Relation	rel = table_open(leaf, NoLock);
	bool		only_foreign_keys;

	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		fc_way_to_core(target, "a partition is a foreign table");
	else if (fc_plan_has_triggers(rel, &only_foreign_keys))
		fc_way_to_core(target, only_foreign_keys ?
					   "an existing partition has foreign keys" :
					   "a partition has triggers");
	else if (target->plan->leader_reason == NULL)
		target->plan->leader_reason = fc_plan_leaf_reason(rel);

	fc_plan_check_unique(target->rel, rel, target->options, target->plan);
	/* of two equal rows the second in the file must be refused */
	if ((target->plan->routed || target->plan->key_type == FC_KEY_NONE) &&
		fc_plan_has_unique(rel))
	{
		if (!target->plan->routed)
			fc_way_take(target, FC_WAY_TURNS);
		else if (target->plan->leader_reason == NULL)
			target->plan->leader_reason = "a partition has a unique index";
	}
	if (target->options->freeze && rel->rd_rel->relkind == RELKIND_RELATION)
	{
		SubTransactionId subxid = GetCurrentSubTransactionId();

		if (rel->rd_createSubid != subxid && fc_new_storage_subid(rel) != subxid)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction"),
					 leaf == RelationGetRelid(target->rel) ? 0 :
					 errdetail("Rows of the file go to table \"%s\".",
							   RelationGetRelationName(rel)),
					 target->options->accelerated ? 0 :
					 errhint("Leave freeze out, or create or truncate the table in the transaction that loads it.")));
	}
	table_close(rel, NoLock);
}

/* Throws COPY's errors if rows of existing tables may not be frozen */
static void
fc_tables_check_freeze(FcJob *job)
{
	if (job->target.plan->routed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot perform COPY FREEZE on a partitioned table"),
				 errdetail("Rows of table \"%s\" are routed to partitions that exist.",
						   job->target.relname)));
	InvalidateCatalogSnapshot();
	if (!ThereAreNoPriorRegisteredSnapshots() || !ThereAreNoReadyPortals())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot perform COPY FREEZE because of prior transaction activity")));
}

List *
fc_tables_existing(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = NIL;
	ListCell   *lc;

	if (!target->plan->partitioned)
		return list_make1_oid(target->oid);
	if (target->plan->routed)
		return find_all_inheritors(target->oid, NoLock, NULL);
	foreach(lc, job->parts)
	{
		bool		created;
		Oid			leaf = fc_tasks_leaf(job, lfirst(lc), &created);

		if (OidIsValid(leaf) && !created)
			leaves = list_append_unique_oid(leaves, leaf);
	}
	return leaves;
}

void
fc_tables_check(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = fc_tables_existing(job);
	ListCell   *lc;

	if (target->options->freeze && leaves != NIL)
		fc_tables_check_freeze(job);
	foreach(lc, leaves)
		fc_tables_check_one(job, lfirst_oid(lc));
	if (target->plan->routed && !fc_may_lock(target->oid, GetUserId()))
	{
		target->ctx.leaves = leaves;
		target->nworkers = 0;
	}
	if (target->plan->leader_reason != NULL)
		target->nworkers = 0;
}

void
fc_tables_hold(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *tables = list_append_unique_oid(fc_tables_existing(job), target->oid);
	ListCell   *lc;

	foreach(lc, tables)
	{
		CHECK_FOR_INTERRUPTS();
		job->held = fc_hold_begin(job->held, lfirst_oid(lc));
	}
	/* where core routes the new ones are attached, and held already */
	for (int i = 0; i < target->ncreated && !target->plan->routed; i++)
	{
		CHECK_FOR_INTERRUPTS();
		job->held = fc_hold_begin(job->held, target->created[i].range.partition);
	}
}

void
fc_tables_let_go(FcJob *job)
{
	fc_hold_end(job->held);
	job->held = NIL;
}
