/*-------------------------------------------------------------------------
 *
 * index/progress_slot.h
 *	  Keeps the load's progress through DDL that reports its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROGRESS_SLOT_H
#define FC_PROGRESS_SLOT_H

#include "utils/backend_progress.h"

/*
 * This backend's progress, as other sessions see it.  Core's DDL reports in
 * the slot of the load the building of each index, even a TOAST table's empty
 * one.  The caller saves the slot before such DDL and restores it after.
 */
typedef struct FcProgressSlot
{
	ProgressCommandType command;
	Oid			target;
	int64		params[PGSTAT_NUM_PROGRESS_PARAM];
} FcProgressSlot;

extern void fc_progress_slot_save(FcProgressSlot *slot);
extern void fc_progress_slot_restore(const FcProgressSlot *slot);

#endif							/* FC_PROGRESS_SLOT_H */
