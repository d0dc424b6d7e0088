/*-------------------------------------------------------------------------
 *
 * partition/lock.c
 *	  Waits for locks in a way that lets other sessions finish.
 *
 *	one table	(fc_lock_patiently) in a queue for a second or so, again and
 *				again: sessions that wait for the end of this transaction go
 *				on, and the load is what ends with an error
 *	all tables	(fc_lock_all) against all sessions, all at once or none
 *
 * Locks of an attempt belong to a subtransaction, which releases them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "context/process.h"
#include "errors/first_error.h"
#include "partition/partition.h"

/* Milliseconds for others before the leader waits again */
#define FC_LOCK_PAUSE	100

/* Milliseconds before the leader looks again whether a table is free */
#define FC_LOCK_LOOK	5

/* Most milliseconds in a queue, if deadlock_timeout is even longer */
#define FC_LOCK_LONG	60000

/* What an attempt is to lock */
typedef struct FcLock
{
	List	   *relations;		/* OIDs */
	LOCKMODE	mode;
	bool		yields;			/* waits so that no deadlock is looked for */
	TimestampTz until;			/* for empty tables */
	Oid			busy;			/* the one to wait for; InvalidOid: none */
} FcLock;

/* Adds the table, its indexes, its TOAST table and that one's index */
static List *
fc_lock_relations(List *relations, Oid table)
{
	Relation	rel = table_open(table, AccessShareLock);
	Oid			toast = rel->rd_rel->reltoastrelid;

	Assert(rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		   rel->rd_rel->relkind == RELKIND_TOASTVALUE);
	relations = lappend_oid(relations, table);
	relations = list_concat(relations, RelationGetIndexList(rel));
	table_close(rel, NoLock);
	return OidIsValid(toast) ? fc_lock_relations(relations, toast) : relations;
}

/* The first relation that another session has a lock on, or InvalidOid */
static Oid
fc_lock_busy(const List *relations)
{
	foreach_oid(oid, relations)
	{
		LOCKTAG		tag;
		int			n;
		VirtualTransactionId *holders;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, oid);
		holders = GetLockConflicts(&tag, AccessExclusiveLock, &n);
		pfree(holders);
		if (n > 0)
			return oid;
	}
	return InvalidOid;
}

/* Waits for a lock that another session has, at most "most" milliseconds */
static void
fc_lock_within(Oid relid, LOCKMODE mode, int most)
{
	int			level = NewGUCNestLevel();

	Assert(most > 0 && OidIsValid(relid));
	if (LockTimeout > 0)
		most = Min(most, LockTimeout);
	fc_ddl_set("lock_timeout", psprintf("%d", most));
	LockRelationOid(relid, mode);
	AtEOXact_GUC(true, level);
}

/*
 * Body of fc_error_try: waits for the busy one, if there is one, for a little
 * longer than deadlock_timeout, and takes all others.  For one that is not free
 * it waits once more, but for less than deadlock_timeout: others may wait for
 * locks that it has.
 */
static bool
fc_lock_try(void *arg)
{
	FcLock	   *lock = arg;

	if (OidIsValid(lock->busy))
		fc_lock_within(lock->busy, lock->mode, lock->yields ? DeadlockTimeout / 2 + 1 :
					   Min(DeadlockTimeout, lock->relations ? FC_LOCK_LONG : INT_MAX - FC_LOCK_PAUSE) + FC_LOCK_PAUSE);
	foreach_oid(oid, lock->relations)
	{
		if (ConditionalLockRelationOid(oid, lock->mode))
			continue;
		lock->busy = oid;
		fc_lock_within(lock->busy, lock->mode, Min(DeadlockTimeout / 2 + 1, FC_LOCK_PAUSE));
	}
	return true;
}

/* Makes one attempt; false, with no lock taken, if it took too long */
static bool
fc_lock_attempt(FcLock *lock)
{
	ErrorData  *edata = fc_error_try(fc_lock_try, lock);

	if (edata == NULL)
		return true;
	if (edata->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(edata);
	FreeErrorData(edata);
	return false;
}

/*
 * Throws ERROR 55P03 once lock_timeout has passed since the first attempt;
 * names the relation, if it is valid
 */
static void
fc_lock_check_timeout(Oid relid, TimestampTz start)
{
	const char *name = OidIsValid(relid) ? get_rel_name(relid) : NULL;

	if (LockTimeout == 0 ||
		!TimestampDifferenceExceeds(start, GetCurrentTimestamp(), LockTimeout))
		return;
	fc_throw(ERRCODE_LOCK_NOT_AVAILABLE, errmsg("canceling statement due to lock timeout"),
			 name ? errdetail("Another session has a lock on relation \"%s\".", name) : 0,
			 errhint("pg_locks shows which session it is. Nothing was loaded; load again."));
}

/*
 * Takes all if all are free; else waits for one of them, not for long, then
 * takes the others, or releases all and begins again.
 *
 * A session that waits for such a lock blocks others; so the leader waits for
 * one at a time.  It looks before it locks, because standbys hold a lock until
 * the transaction ends, even if it is released here.
 */
void
fc_lock_all(List *tables)
{
	FcLock		lock = {.mode = AccessExclusiveLock};
	TimestampTz start = GetCurrentTimestamp();

	Assert(!IsInParallelMode());
	foreach_oid(oid, tables)
		lock.relations = fc_lock_relations(lock.relations, oid);
	for (;;)
	{
		lock.busy = fc_lock_busy(lock.relations);
		if (fc_lock_attempt(&lock))
			break;
		fc_lock_check_timeout(lock.busy, start);
		fc_pace_sleep(FC_LOCK_PAUSE, fc_wait_event(FC_WAIT_LOCK));
	}
	list_free(lock.relations);
}

/* Takes all locks of a table, if no other session has any */
static bool
fc_lock_is_free(Oid table)
{
	List	   *relations = fc_lock_relations(NIL, table);

	if (OidIsValid(fc_lock_busy(relations)))
		return false;
	foreach_oid(oid, relations)
		if (!ConditionalLockRelationOid(oid, AccessExclusiveLock))
			return false;
	return true;
}

/* Body of fc_error_try */
static bool
fc_lock_try_empty(void *arg)
{
	FcLock	   *lock = arg;

	foreach_oid(table, lock->relations)
	{
		lock->busy = table;
		while (!fc_lock_is_free(table))
		{
			if (GetCurrentTimestamp() >= lock->until)
				return false;
			fc_pace_sleep(FC_LOCK_LOOK, fc_wait_event(FC_WAIT_LOCK));
		}
	}
	/* they may have got rows until a moment ago */
	foreach_oid(table, lock->relations)
	{
		lock->busy = table;
		if (!fc_exchange_is_empty(table))
			return false;
	}
	lock->busy = InvalidOid;
	return true;
}

/*
 * Never stands in a queue: so no session waits behind it, and none can be in a
 * deadlock with it.
 */
Oid
fc_lock_all_empty(List *tables, int most)
{
	FcLock		lock = {.relations = tables};
	ErrorData  *edata;

	Assert(!IsInParallelMode());
	lock.until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LockTimeout > 0 ? Min(LockTimeout, most) : most);
	edata = fc_error_try(fc_lock_try_empty, &lock);
	if (edata)
		ReThrowError(edata);
	return lock.busy;
}

/* Does the process wait for a lock of this one, or behind it? */
static bool
fc_lock_is_awaited_by(int pid)
{
	ArrayType  *blockers = DatumGetArrayTypeP(DirectFunctionCall1(pg_blocking_pids, Int32GetDatum(pid)));
	const int32 *pids = (const int32 *) ARR_DATA_PTR(blockers);
	int			n = ArrayGetNItems(ARR_NDIM(blockers), ARR_DIMS(blockers));

	for (int i = 0; i < n; i++)
		if (pids[i] == MyProcPid)
			return true;
	return false;
}

/*
 * Returns the PID of a holder of the lock that waits for the end of this
 * transaction, as CREATE INDEX CONCURRENTLY does, or 0
 */
static int
fc_lock_waiting_holder(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;
	VirtualTransactionId *holders;
	int			waiting = 0;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	holders = GetLockConflicts(&tag, mode, NULL);
	for (int i = 0; VirtualTransactionIdIsValid(holders[i]) && waiting == 0; i++)
	{
		PGPROC	   *proc = fc_vxid_proc(holders[i]);

		if (proc && proc->pid != 0 && fc_lock_is_awaited_by(proc->pid))
			waiting = proc->pid;
	}
	pfree(holders);
	return waiting;
}

/*
 * Locks a table; or returns the PID of a holder of the lock that waits for the
 * end of this transaction.  With "yields" no such deadlock is seen by core
 * before.
 */
static int
fc_lock_wait(Oid relid, LOCKMODE mode, bool yields)
{
	FcLock		lock = {.mode = mode,.yields = yields,.busy = relid};
	TimestampTz start = GetCurrentTimestamp();
	int			pid = 0;

	Assert(!IsInParallelMode() && OidIsValid(relid));
	while (!ConditionalLockRelationOid(relid, mode) &&
		   (pid = fc_lock_waiting_holder(relid, mode)) == 0 && !fc_lock_attempt(&lock))
	{
		CHECK_FOR_INTERRUPTS();
		fc_lock_check_timeout(relid, start);
	}
	return pid;
}

bool
fc_lock_or_yield(Oid relid, LOCKMODE mode)
{
	return fc_lock_wait(relid, mode, true) == 0;
}

/*
 * Core would detect a deadlock with a holder that waits for us from either
 * side, and might end its command, which may leave an invalid index
 */
void
fc_lock_patiently(Oid relid, LOCKMODE mode)
{
	int			pid = fc_lock_wait(relid, mode, false);

	if (pid != 0)
		fc_throw(ERRCODE_T_R_DEADLOCK_DETECTED,
				 errmsg("could not lock table \"%s\" because process %d, which has it locked, waits for this transaction",
						get_rel_name(relid), pid),
				 errhint("Nothing was loaded. Load again when the command of that process has ended; pg_stat_activity shows it."));
}
