/*-------------------------------------------------------------------------
 *
 * load/tables.c
 *	  The tables that take rows: locked, looked at and held.
 *
 * A worker's locks end with it, and so the leader holds every lock that
 * matters, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/twophase.h"
#include "storage/lock.h"
#include "utils/inval.h"
#include "utils/portal.h"

#include "load/steps.h"

/*
 * Does core's routing lock leaves only when their first rows come?  Not if the
 * leader runs code of users for rows: to find out afterwards what that did to
 * a leaf (heap/hold.c) the leader holds all leaves from the beginning.
 */
static bool
fc_tables_lock_late(const FcTarget *target)
{
	return fc_shared_routed(target->shared) && !target->plan->effects &&
		target->course.leader == NULL;
}

bool
fc_tables_lock(FcJob *job)
{
	FcTarget   *target = &job->target;
	bool		replaces = fc_plan_replaces(target->plan);

	if (fc_shared_routed(target->shared) && !fc_tables_lock_late(target))
		(void) find_all_inheritors(target->oid, RowExclusiveLock, NULL);
	if (!fc_shared_key_routes(target->shared))
		return true;
	if (target->ncreated > 0)
	{
		fc_partition_check_owner(target->rel, target->route->default_oid, target->ncreated,
								 fc_partition_text(target->route, target->created));
		if (job->partman && !fc_partman_try_lock())
			return false;
		job->awaited = !fc_lock_or_yield(target->oid, ShareUpdateExclusiveLock);
		if (job->awaited)
			return false;
	}
	foreach_oid(leaf, fc_tables_existing(job))
	{
		CHECK_FOR_INTERRUPTS();
		/* it is replaced as a whole: another such load must wait */
		if (replaces && leaf != target->route->default_oid)
			fc_lock_patiently(leaf, ShareUpdateExclusiveLock);
		else
			LockRelationOid(leaf, RowExclusiveLock);
	}
	return true;
}

bool
fc_tables_check_locks(const FcJob *job, int n, int each, const char *verb, const char *hint)
{
	uint64		needed = (uint64) n * each * (3 + list_length(RelationGetIndexList(job->target.rel)));
	uint64		room = (uint64) max_locks_per_xact * (MaxBackends + max_prepared_xacts);

	if (needed < room || hint == NULL)
		return needed < room;
	fc_throw(ERRCODE_OUT_OF_MEMORY, errmsg("cannot %s %s in one transaction", verb, fc_units_of(n, "partition")),
			 errdetail("They need %s locks, and the lock table has room for %s.",
					   fc_units_count(needed), fc_units_count(room)),
			 errhint("%s", hint));
}

bool
fc_tables_bounds_changed(const FcTarget *target)
{
	FcRoute    *now;
	bool		changed;

	AcceptInvalidationMessages();
	now = fc_plan_route(target->plan, target->rel);
	changed = now->nranges != target->route->nranges ||
		now->default_oid != target->route->default_oid;
	for (int i = 0; i < now->nranges && !changed; i++)
		changed = now->ranges[i].lo != target->route->ranges[i].lo ||
			now->ranges[i].hi != target->route->ranges[i].hi ||
			now->ranges[i].partition != target->route->ranges[i].partition;
	return changed;
}

/* Throws COPY's error unless this subtransaction made or emptied the table */
static void
fc_tables_check_frozen(const FcTarget *target, Relation rel)
{
	SubTransactionId subxid = GetCurrentSubTransactionId();

	if (rel->rd_rel->relkind != RELKIND_RELATION || rel->rd_createSubid == subxid ||
		fc_new_storage_subid(rel) == subxid)
		return;
	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
			 errmsg("cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction"),
			 RelationGetRelid(rel) == target->oid ? 0 :
			 errdetail("Rows of the file go to table \"%s\".",
					   RelationGetRelationName(rel)),
			 errhint("Leave freeze out, or create or truncate the table in the transaction that loads it."));
}

/* Sets facts about the triggers and indexes of a leaf that was there */
static void
fc_tables_check_one(FcJob *job, Relation rel)
{
	FcTarget   *target = &job->target;
	FcFacts    *facts = &target->facts;
	bool		foreign = rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE;
	const char *reason = foreign ? fc_away_refusal(job, rel) : fc_plan_leaf_core_reason(rel, target->options->caller);

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	if (foreign && reason == NULL)
	{
		facts->sends = true;
		return;
	}
	if (reason == NULL)
		reason = fc_references_refusal(job, rel);
	if (reason)
		facts->core_leaf = reason;
	else if (target->course.leader == NULL)
		facts->leader_leaf = fc_plan_leaf_reason(rel);
	facts->unique = facts->unique || fc_plan_has_unique(rel);
	fc_way_decide(job);
	if (!target->course.core)
		fc_plan_check_unique(target->rel, rel, target->options, target->planned);
	if (target->plan->freeze)
		fc_tables_check_frozen(target, rel);
}

/*
 * Looks at a leaf that the load does not lock before its first row.  For a
 * plain COPY this does not wait for a lock on the leaf, which may get no row;
 * if it gets one, the process with that row looks at it (phase/leaf.c).
 */
static void
fc_tables_check_unlocked(FcJob *job, Oid leaf)
{
	Relation	rel;

	if (!fc_caller_routes_as_core(job->target.options->caller))
		LockRelationOid(leaf, AccessShareLock);
	else if (!ConditionalLockRelationOid(leaf, AccessShareLock))
		return;
	rel = try_relation_open(leaf, NoLock);
	if (rel)
	{
		fc_tables_check_one(job, rel);
		relation_close(rel, NoLock);
	}
	UnlockRelationOid(leaf, AccessShareLock);
}

/* Throws COPY's errors if rows of existing tables may not be frozen */
static void
fc_tables_check_freeze(FcTarget *target)
{
	if (fc_shared_routed(target->shared))
		fc_unsupported(errmsg("cannot perform COPY FREEZE on a partitioned table"),
					   errdetail("Rows of table \"%s\" are routed to partitions that exist.",
								 target->relname));
	InvalidateCatalogSnapshot();
	if (!ThereAreNoPriorRegisteredSnapshots() || !ThereAreNoReadyPortals())
		fc_throw(ERRCODE_INVALID_TRANSACTION_STATE, errmsg("cannot perform COPY FREEZE because of prior transaction activity"));
}

List *
fc_tables_existing(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = NIL;

	if (!target->plan->partitioned)
		return target->nsubstitutes > 0 || OidIsValid(target->stage) ? NIL : list_make1_oid(target->oid);
	if (fc_shared_routed(target->shared))
		return find_all_inheritors(target->oid, NoLock, NULL);
	foreach_ptr(const FcSpillPart, part, job->parts)
	{
		bool		created;
		Oid			leaf = fc_tasks_leaf(target, part, &created);

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
	bool		late = fc_tables_lock_late(target);

	job->referring = 0;
	if (target->plan->freeze && leaves != NIL)
		fc_tables_check_freeze(target);
	foreach_oid(leaf, leaves)
	{
		Relation	rel;

		if (late && leaf != target->oid)
		{
			fc_tables_check_unlocked(job, leaf);
			continue;
		}
		rel = table_open(leaf, NoLock);
		fc_tables_check_one(job, rel);
		table_close(rel, NoLock);
		/*
		 * the target is held later: new partitions may be attached to it
		 * before
		 */
		if (leaf != target->oid && get_rel_relkind(leaf) != RELKIND_FOREIGN_TABLE)
			fc_hold_begin(job->hold, leaf, FC_HELD_ROWS);
	}
	if (target->course.leader != NULL)
		target->nworkers = 0;
	fc_way_decide(job);
}

void
fc_tables_hold(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *tables = list_make1_oid(target->oid);

	if (fc_shared_routed(target->shared) && !fc_tables_lock_late(target))
		tables = find_all_inheritors(target->oid, RowExclusiveLock, NULL);
	else if (!fc_shared_routed(target->shared))
		tables = list_append_unique_oid(fc_tables_existing(job), target->oid);

	foreach_oid(table, tables)
	{
		CHECK_FOR_INTERRUPTS();
		/* a table on another server has neither a file nor indexes here */
		if (get_rel_relkind(table) != RELKIND_FOREIGN_TABLE)
			fc_hold_begin(job->hold, table, FC_HELD_ROWS);
	}
	/* where core routes, new partitions are attached: they are held already */
	for (int i = 0; i < target->ncreated && !fc_shared_routed(target->shared) && !job->places; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_hold_begin(job->hold, target->created[i].range.partition,
					  target->course.attaches ? FC_HELD_ROWS : FC_HELD_PLACE);
	}
}
