/*-------------------------------------------------------------------------
 *
 * partition/fault.c
 *	  A reason why partitions must not, or should not, be made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "partition/partition.h"

FcFault *
fc_fault(const char *name, int sqlerrcode, char *message, char *detail, char *hint)
{
	FcFault    *fault = palloc(sizeof(FcFault));

	*fault = (FcFault) {name, sqlerrcode, message, detail, hint};
	return fault;
}

void
fc_fault_report(int elevel, const FcFault *fault)
{
	if (fault == NULL)
		return;
	ereport(elevel,
			(errcode(fault->sqlerrcode),
			 errmsg("%s", fault->message),
			 fault->detail ? errdetail("%s", fault->detail) : 0,
			 fault->hint ? errhint("%s", fault->hint) : 0));
}
