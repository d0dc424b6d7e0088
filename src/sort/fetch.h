/*-------------------------------------------------------------------------
 *
 * sort/fetch.h
 *	  Reads records of the source file into the blocks of a cell.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FETCH_H
#define FC_FETCH_H

#include "context/shared.h"
#include "sort/spilled.h"

/* Counters for the report */
typedef struct FcReadStats
{
	uint64		bytes;			/* bytes read, gaps included */
	uint64		reads;			/* reads issued */
	int			refused;		/* errno with which the kernel refused the
								 * method's queue, so that fc_io_sync is used;
								 * or 0 */
} FcReadStats;

typedef struct FcFetch FcFetch;

/*
 * head: bytes before a record's.  memory: bytes of staging buffers, for reads
 * with gaps.  Everything lives in the current memory context; its reset ends
 * the reads in flight, as fc_fetch_end does.  Adds the reads to *stats.
 */
extern FcFetch *fc_fetch_begin(const FcSource *source, const FcShared *shared, Size head,
							   Size memory, FcReadStats *stats);

/*
 * Reads the bytes of a block's FC_SPILLED_RECORDs, which are in file order, to
 * behind their heads
 */
extern void fc_fetch_block(FcFetch *fetch, FcSpillBlock *block);
extern void fc_fetch_end(FcFetch *fetch);

/*
 * Two records are read together if no more than this lies between them.  For a
 * cached file a request costs about 0.7 microseconds, in which some 4 kB are
 * copied from the cache.  For a file on disk the gap is at most one more page
 * of a read that costs 10 microseconds or more.
 */
#define FC_FETCH_GAP		4096

#endif							/* FC_FETCH_H */
