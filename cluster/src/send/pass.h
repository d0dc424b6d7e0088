/*-------------------------------------------------------------------------
 *
 * send/pass.h
 *	  Finds chunks without a split, in a pass over all of them in their order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PASS_H
#define FC_PASS_H

#include "row/chunk_reader.h"

/* What is known before the next chunk */
typedef struct FcPass
{
	FcContext  *ctx;
	uint64		line;			/* lines of its file */
	uint64		records;		/* of all files */
	bool		over;			/* the walk has ended before a chunk did */
} FcPass;

/* Begins a pass, by one process, over chunks that nobody has split */
extern void fc_pass_begin(FcPass *pass, FcContext *ctx);

/*
 * Called before and after an unsplit reader walks over a chunk.  The first
 * sets where the chunk begins.  The second sets where it ends, at the next
 * record, and its number of records, with so many line ends in quotes
 * ("embedded").  Chunks after a file's data become empty, and after a bad
 * record they have no records.
 */
extern void fc_pass_enter(FcPass *pass, uint32 chunk);
extern void fc_pass_leave(FcPass *pass, const FcChunkReader *reader, uint64 embedded);

#endif							/* FC_PASS_H */
