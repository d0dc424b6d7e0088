/*-------------------------------------------------------------------------
 *
 * index/progress_slot.c
 *	  Keeps the load's progress through DDL that reports its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/backend_status.h"

#include "index/progress_slot.h"

/* The command stays invalid where a process reports nothing, as in workers */
void
fc_progress_slot_save(FcProgressSlot *slot)
{
	slot->command = PROGRESS_COMMAND_INVALID;
	if (MyBEEntry == NULL || !pgstat_track_activities)
		return;
	slot->command = MyBEEntry->st_progress_command;
	slot->target = MyBEEntry->st_progress_command_target;
	memcpy(slot->params, MyBEEntry->st_progress_param, sizeof(slot->params));
}

void
fc_progress_slot_restore(const FcProgressSlot *slot)
{
	int			numbers[PGSTAT_NUM_PROGRESS_PARAM];
	int			i;

	if (slot->command == PROGRESS_COMMAND_INVALID)
		return;
	for (i = 0; i < PGSTAT_NUM_PROGRESS_PARAM; i++)
		numbers[i] = i;
	pgstat_progress_start_command(slot->command, slot->target);
	pgstat_progress_update_multi_param(PGSTAT_NUM_PROGRESS_PARAM, numbers,
									   slot->params);
}
