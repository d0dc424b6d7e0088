/*-------------------------------------------------------------------------
 *
 * intake/split.h
 *	  Where the records of a file begin: its chunks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SPLIT_H
#define FC_SPLIT_H

#include "context/shared.h"

/* Each process: notes what chunks do to every quote state they may begin in */
extern void fc_split_run(FcContext *ctx);

/*
 * Leader, after the split: finds where records begin in each chunk, and where
 * the data of each file end; chunks after that become empty.  Returns the
 * number of records in all files.
 */
extern uint64 fc_split_resolve(FcContext *ctx);

/*
 * Takes the bytes from "end" on out of n chunks of a file, which follow one
 * another; chunks after "end" stay, empty.
 */
extern void fc_split_cut(FcContext *ctx, FcChunk *chunks, uint32 n, uint64 end);

/* After fc_split_resolve(): the number of records in one of the files */
extern uint64 fc_split_records(FcShared *shared, const FcSource *source,
							   uint32 file);

#endif							/* FC_SPLIT_H */
