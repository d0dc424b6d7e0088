/*-------------------------------------------------------------------------
 *
 * sort/fetch.h
 *	  Reads records of the source file to where a cell wants them.
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
 * head: bytes of what stands before a record.  memory: bytes for what is read
 * with gaps.  Everything lives in the current memory context, whose reset ends
 * what is in flight; so does fc_fetch_end.  The reads are added to *stats.
 */
extern FcFetch *fc_fetch_begin(const FcSource *source, const FcShared *shared, Size head,
							   Size memory, FcReadStats *stats);

/*
 * Reads the bytes of a block's FC_SPILLED_RECORDs, which are in the order of
 * the file, from there to behind their heads
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
