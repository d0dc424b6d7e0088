/*-------------------------------------------------------------------------
 *
 * fc_spill.h
 *	  Sorted runs of (key, offset, length) in shared temporary files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SPILL_H
#define FC_SPILL_H

#include "fc_read.h"
#include "fc_shared.h"

/* What one process, or all, found for one range of keys */
typedef struct FcSpillPart
{
	FcRange		range;
	bool		null;			/* the rows whose key is NULL */
	uint64		rows;
	uint64		bytes;			/* of records, line ends not included */
	uint64		min_offset;		/* of the first of its records in the file */
	uint64		min_length;		/* of that record */
	int64		min_key;		/* 0 where the key is NULL */
	int64		max_key;
} FcSpillPart;

/* Writing: one FcSpill per process */
typedef struct FcSpill FcSpill;

/* route NULL: all keys are one range */
extern FcSpill *fc_spill_begin(FcShared *shared, int process,
							   const FcRoute *route, Size memory);
extern void fc_spill_put(FcSpill *spill, const FcEntry *entry);
extern void fc_spill_end(FcSpill *spill);

/* Reading: by any process, once the writers have ended */
typedef struct FcRuns FcRuns;

extern FcRuns *fc_runs_open(FcShared *shared);

/* All ranges with rows, in key order, NULL last, summed over processes */
extern List *fc_runs_parts(FcRuns *runs);

/* Up to n bounds that cut the range into parts of about equal row counts */
extern int	fc_runs_cut(FcRuns *runs, const FcSpillPart *part, int n,
						FcBound *bounds);
extern void fc_runs_close(FcRuns *runs);

/* The entries of a task in (key, offset) order */
typedef struct FcMerge FcMerge;

extern FcMerge *fc_merge_begin(FcRuns *runs, const FcTask *task, Size memory);
extern bool fc_merge_next(void *merge, FcEntry *entry);
extern void fc_merge_end(FcMerge *merge);

#endif							/* FC_SPILL_H */
