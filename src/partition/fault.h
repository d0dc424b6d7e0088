/*-------------------------------------------------------------------------
 *
 * partition/fault.h
 *	  A reason why partitions must not be made, or had better not be.
 *
 * A load throws the first fault that is found.  An analysis tells of all.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FAULT_H
#define FC_FAULT_H

typedef struct FcFault
{
	const char *name;			/* of the warning in an analysis */
	int			sqlerrcode;
	char	   *message;
	char	   *detail;
	char	   *hint;
} FcFault;

/* Returns a fault in the current memory context; it keeps the texts */
extern FcFault *fc_fault(const char *name, int sqlerrcode, char *message,
						 char *detail, char *hint);

/* Throws the fault as an ERROR */
extern void fc_fault_throw(const FcFault *fault);

#endif							/* FC_FAULT_H */
