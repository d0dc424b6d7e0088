/*-------------------------------------------------------------------------
 *
 * partition/exchange_lock.c
 *	  Locks tables against everybody, all of them or none.
 *
 *	 look ──► all free? ──► take all
 *		 ▲        │ no
 *		 └── wait for one of them, for a second, take the others, or let go
 *
 * Whoever waits for such a lock keeps others away from the table; so the leader
 * waits for one at a time, and not for long.  It looks before, because a lock
 * that was taken stays on standbys until the transaction ends, even if it is
 * given back here.
 *
 * The locks of a try belong to a subtransaction, which gives them back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "compat/compat.h"
#include "errors/first_error.h"
#include "partition/partition.h"

/* Others get so many milliseconds before the leader waits again */
#define FC_EXCHANGE_PAUSE	100

/* At most so long in a queue, if deadlocks are looked for even later */
#define FC_EXCHANGE_LONG	60000

typedef struct FcExchangeLock
{
	List	   *relations;		/* OIDs */
	Oid			busy;			/* the one to wait for; InvalidOid: none */
	bool		taken;			/* all are locked */
} FcExchangeLock;

/* The table, its indexes, its TOAST table and that one's index */
static List *
fc_exchange_relations(List *relations, Oid table)
{
	Relation	rel = table_open(table, AccessShareLock);
	Oid			toast = rel->rd_rel->reltoastrelid;

	relations = lappend_oid(relations, table);
	relations = list_concat(relations, RelationGetIndexList(rel));
	table_close(rel, NoLock);
	return OidIsValid(toast) ? fc_exchange_relations(relations, toast) : relations;
}

/* The first relation that another session has a lock on, or InvalidOid */
static Oid
fc_exchange_busy(const List *relations)
{
	ListCell   *lc;

	foreach(lc, relations)
	{
		LOCKTAG		tag;
		int			n;
		VirtualTransactionId *holders;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, lfirst_oid(lc));
		holders = GetLockConflicts(&tag, AccessExclusiveLock, &n);
		pfree(holders);
		if (n > 0)
			return lfirst_oid(lc);
	}
	return InvalidOid;
}

/* Waits for a lock that another session has, so many milliseconds */
static void
fc_exchange_wait(Oid relid, int most)
{
	int			level = NewGUCNestLevel();

	if (LockTimeout > 0)
		most = Min(most, LockTimeout);
	(void) set_config_option("lock_timeout", psprintf("%d", most),
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	LockRelationOid(relid, AccessExclusiveLock);
	AtEOXact_GUC(true, level);
}

/*
 * Body of fc_error_try: waits for the busy one, if there is one, and takes all
 * others.  For one that is not free it waits once more, but for less time than
 * it takes until deadlocks are looked for: others may wait for what it has.
 * Whoever waits for a lock of this session comes after it.
 */
static bool
fc_exchange_try(void *arg)
{
	FcExchangeLock *lock = arg;
	ListCell   *lc;

	if (OidIsValid(lock->busy))
		fc_exchange_wait(lock->busy, Min(DeadlockTimeout, FC_EXCHANGE_LONG) + FC_EXCHANGE_PAUSE);
	foreach(lc, lock->relations)
	{
		if (ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			continue;
		lock->busy = lfirst_oid(lc);
		fc_exchange_wait(lock->busy, Min(DeadlockTimeout / 2 + 1, FC_EXCHANGE_PAUSE));
	}
	lock->taken = true;
	return true;
}

/* Throws ERROR 55P03 once lock_timeout has passed since the first try */
static void
fc_exchange_check_timeout(const FcExchangeLock *lock, TimestampTz start)
{
	const char *name = OidIsValid(lock->busy) ? get_rel_name(lock->busy) : NULL;

	if (LockTimeout == 0 ||
		!TimestampDifferenceExceeds(start, GetCurrentTimestamp(), LockTimeout))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("canceling statement due to lock timeout"),
			 name ? errdetail("Another session has a lock on relation \"%s\", whose rows were to be replaced.", name) : 0,
			 errhint("pg_locks shows which session it is. Nothing was replaced; load again.")));
}

void
fc_exchange_lock(List *tables)
{
	FcExchangeLock lock = {NIL};
	TimestampTz start = GetCurrentTimestamp();
	ListCell   *lc;

	foreach(lc, tables)
		lock.relations = fc_exchange_relations(lock.relations, lfirst_oid(lc));
	for (;;)
	{
		ErrorData  *edata;

		CHECK_FOR_INTERRUPTS();
		lock.busy = fc_exchange_busy(lock.relations);
		edata = fc_error_try(fc_exchange_try, &lock);
		if (edata && edata->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			ReThrowError(edata);
		if (lock.taken)
			break;
		fc_exchange_check_timeout(&lock, start);
		if (edata)
			FreeErrorData(edata);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 FC_EXCHANGE_PAUSE, fc_wait_event(FC_WAIT_LOCK));
		ResetLatch(MyLatch);
	}
	list_free(lock.relations);
}
