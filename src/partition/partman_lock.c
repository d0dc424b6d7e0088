/*-------------------------------------------------------------------------
 *
 * partition/partman_lock.c
 *	  The advisory lock that keeps pg_partman's maintenance away.
 *
 * Maintenance takes the lock for itself, and leaves if it cannot have it at
 * once; loads share it.  The end of the transaction releases it, also on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "errors/context.h"
#include "partition/partman.h"

/* Returns the key of the advisory lock that maintenance tries */
static int64
fc_partman_lock_key(void)
{
	Datum		name = CStringGetTextDatum("pg_partman run_maintenance");

	return DatumGetInt32(DirectFunctionCall1Coll(hashtext, DEFAULT_COLLATION_OID, name));
}

bool
fc_partman_try_lock(void)
{
	return DatumGetBool(DirectFunctionCall1(pg_try_advisory_xact_lock_shared_int8,
											Int64GetDatum(fc_partman_lock_key())));
}

/*
 * Returns the session that has the lock for itself, in words: any role can
 * take it, so that it need not be maintenance.  NULL if no session has it: it
 * was released, or others only wait for it.
 */
static char *
fc_partman_lock_holder(int64 key)
{
	LockData   *data = GetLockStatusData();
	LOCKTAG		tag;
	PGPROC	   *proc;
	char	   *role;
	int			i;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, 1);
	for (i = 0; i < data->nelements; i++)
		if (memcmp(&data->locks[i].locktag, &tag, sizeof(LOCKTAG)) == 0 &&
			(data->locks[i].holdMask & LOCKBIT_ON(ExclusiveLock)) != 0)
			break;
	if (i == data->nelements)
		return NULL;
	if (data->locks[i].pid == 0)
		return "a prepared transaction";
	proc = BackendPidGetProc(data->locks[i].pid);
	role = proc ? GetUserNameFromId(proc->roleId, true) : NULL;
	if (role == NULL)
		return NULL;
	return psprintf("process %d of role \"%s\"", data->locks[i].pid, role);
}

/*
 * Error context, also for the server's log when core says that this session
 * waits
 */
static void
fc_partman_wait_context(void *arg)
{
	errcontext("waiting for the lock of pg_partman's maintenance, which %s held",
			   (char *) arg);
}

void
fc_partman_lock(void)
{
	int64		key = fc_partman_lock_key();
	char	   *holder = fc_partman_lock_holder(key);
	ErrorContextCallback callback;

	if (holder)
		ereport(NOTICE,
				(errmsg("fast_copy waits for the maintenance of pg_partman"),
				 errdetail("Its lock is held by %s.", holder)));
	fc_error_context_push(&callback, fc_partman_wait_context,
						  holder ? holder : "another session");
	DirectFunctionCall1(pg_advisory_xact_lock_shared_int8, Int64GetDatum(key));
	fc_error_context_pop();
}
