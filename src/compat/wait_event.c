/*-------------------------------------------------------------------------
 *
 * compat/wait_event.c
 *	  The wait events of a load, made when a process first needs them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"

uint32
fc_wait_event(FcWaitEvent event)
{
	static const char *const names[] = {
		[FC_WAIT_INFLOW] = "FastCopyInflow",
		[FC_WAIT_LOCK] = "FastCopyLock",
		[FC_WAIT_PROGRAM] = "FastCopyProgram",
		[FC_WAIT_RATE] = "FastCopyRate",
		[FC_WAIT_READ] = "FastCopyRead",
		[FC_WAIT_REPLICA] = "FastCopyReplica",
		[FC_WAIT_RING] = "FastCopyRing",
		[FC_WAIT_TURN] = "FastCopyTurn",
		[FC_WAIT_UNPACK] = "FastCopyUnpack",
		[FC_WAIT_WORKERS] = "FastCopyWorkers"
	};
	static uint32 events[lengthof(names)];

	if (events[event] == 0)
		events[event] = WaitEventExtensionNew(names[event]);
	return events[event];
}
