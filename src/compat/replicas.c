/*-------------------------------------------------------------------------
 *
 * compat/replicas.c
 *	  How far standbys are behind, as pg_stat_replication has it.
 *
 * Only standbys that stream, or catch up, are looked at, and receivers of WAL
 * that replay none by what they have stored.  A logical subscriber gets nothing
 * of a load before it commits, and a base backup has its own pace.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/spin.h"

#include "compat/compat.h"
#include "compat/settings.h"

/* Does the process decode for a logical slot? */
static bool
fc_replica_is_logical(int pid)
{
	bool		logical = false;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !logical; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];

		SpinLockAcquire(&slot->mutex);
		logical = slot->in_use && fc_slot_pid(slot) == pid && SlotIsLogical(slot);
		SpinLockRelease(&slot->mutex);
	}
	LWLockRelease(ReplicationSlotControlLock);
	return logical;
}

/* What the standby has told last: replayed, or else stored; invalid: nothing */
static XLogRecPtr
fc_replica_position(WalSnd *sender, int *pid)
{
	XLogRecPtr	at = InvalidXLogRecPtr;

	SpinLockAcquire(&sender->mutex);
	*pid = sender->pid;
	if (sender->state == WALSNDSTATE_STREAMING || sender->state == WALSNDSTATE_CATCHUP)
		at = !XLogRecPtrIsInvalid(sender->apply) ? sender->apply :
			!XLogRecPtrIsInvalid(sender->flush) ? sender->flush : sender->write;
	SpinLockRelease(&sender->mutex);
	return *pid == 0 ? InvalidXLogRecPtr : at;
}

uint64
fc_replica_lag(void)
{
	XLogRecPtr	end = GetFlushRecPtr(NULL);
	uint64		lag = 0;

	for (int i = 0; i < max_wal_senders; i++)
	{
		int			pid;
		XLogRecPtr	at = fc_replica_position(&WalSndCtl->walsnds[i], &pid);

		if (!XLogRecPtrIsInvalid(at) && at < end && end - at > lag &&
			!fc_replica_is_logical(pid))
			lag = end - at;
	}
	return lag;
}
