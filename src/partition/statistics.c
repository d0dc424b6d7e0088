/*-------------------------------------------------------------------------
 *
 * partition/statistics.c
 *	  The planner's statistics of what was loaded: run_analyze.
 *
 * Core's own ANALYZE gathers them.  It is called with OIDs, as autovacuum
 * calls it, because by name it would go on to all partitions of a partitioned
 * table, those that got no row included.
 *
 * ANALYZE shows its progress in the slot that the load reports in, which is
 * restored afterwards.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "index/progress_slot.h"
#include "partition/statistics.h"

void
fc_statistics_gather(Oid table)
{
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	fc_analyze_tables(list_make1(makeVacuumRelation(NULL, table, NIL)));
	fc_progress_slot_restore(&slot);
}
