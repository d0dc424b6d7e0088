/*-------------------------------------------------------------------------
 *
 * context/activity.h
 *	  What pg_stat_activity says of a worker.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ACTIVITY_H
#define FC_ACTIVITY_H

#include "context/shared.h"

/* The name of a phase, for users */
extern const char *fc_activity_phase_name(FcPhase phase);

/*
 * In a worker: shows which phase it works in, and for which partition of the
 * target; InvalidOid, or the target itself: for none in particular.  Does
 * nothing in the leader, whose command is shown, nor without track_activities.
 * To be called once for a phase or a task, not for each row.
 */
extern void fc_activity_show(const FcContext *ctx, Oid partition);

#endif							/* FC_ACTIVITY_H */
