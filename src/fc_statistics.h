/*-------------------------------------------------------------------------
 *
 * fc_statistics.h
 *	  The planner's statistics of what was loaded: run_analyze.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STATISTICS_H
#define FC_STATISTICS_H

#include "nodes/pg_list.h"

/*
 * ANALYZE of the tables, and of nothing below them, as the current user and
 * within the current transaction: they stay locked in
 * ShareUpdateExclusiveLock.  WARNING, as from core, for each that the user
 * may not analyze.  Not in parallel mode.
 */
extern void fc_statistics_gather(const List *relids);

#endif							/* FC_STATISTICS_H */
