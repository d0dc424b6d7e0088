/*-------------------------------------------------------------------------
 *
 * partition/statistics.h
 *	  The planner's statistics of what was loaded: run_analyze.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STATISTICS_H
#define FC_STATISTICS_H

/*
 * Runs ANALYZE on the table, and on nothing below it, as the current user and
 * within the current transaction: the table stays locked in
 * ShareUpdateExclusiveLock.  WARNING, as from core, if the user may not
 * analyze it.  Not in parallel mode.
 */
extern void fc_statistics_gather(Oid table);

#endif							/* FC_STATISTICS_H */
