/*-------------------------------------------------------------------------
 *
 * sort/run_merge.h
 *	  Reads the runs of all processes as one, in key order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RUN_MERGE_H
#define FC_RUN_MERGE_H

#include "sort/run_write.h"

/*
 * The runs of all processes.  Any process may open them once all writers have
 * ended.  "kept": what the only writer, this process, has kept in memory; else
 * NULL.
 */
typedef struct FcRuns FcRuns;

extern FcRuns *fc_runs_open(FcShared *shared, const FcSpillKept *kept);

/*
 * All parts in key order, that of NULL last, summed over processes:
 * FcSpillPart
 */
extern List *fc_runs_parts(FcRuns *runs);

/*
 * Cuts a part into up to n pieces of about as many rows each.  Returns the
 * number of bounds between them, fewer than n.
 */
extern int	fc_runs_cut(FcRuns *runs, const FcSpillPart *part, int n,
						FcBound *bounds);
extern void fc_runs_close(FcRuns *runs);

/*
 * The entries of a task in (key, offset) order; one merge of the runs at a
 * time
 */
typedef struct FcMerge FcMerge;

extern FcMerge *fc_merge_begin(FcRuns *runs, const FcTask *task, Size memory);
extern bool fc_merge_next(void *merge, FcEntry *entry);

/*
 * As fc_merge_next, with the record, where rows were spilled.  A record that
 * was too long for that is read from the source.  *data is as fc_read_next
 * gives it.
 */
extern bool fc_merge_row(FcMerge *merge, const FcSource *source,
						 FcEntry *entry, char **data);

/* What was read so far */
extern const FcReadStats *fc_merge_stats(const FcMerge *merge);
extern void fc_merge_end(FcMerge *merge);

#endif							/* FC_RUN_MERGE_H */
