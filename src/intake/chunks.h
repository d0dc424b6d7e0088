/*-------------------------------------------------------------------------
 *
 * intake/chunks.h
 *	  The chunks of the files: how they are found, and who takes which.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CHUNKS_H
#define FC_CHUNKS_H

#include "intake/pieces.h"

/*
 * Takes the next chunk of the source; false if there is none.  While data come
 * the process unpacks files until the chunk is there, or waits under the event
 * FastCopyInflow.  False, too, if a file cannot be unpacked.
 */
extern bool fc_chunks_take(FcContext *ctx, uint32 *chunk);

/* Each process: notes what chunks do to every quote state they may begin in */
extern void fc_chunks_split(FcContext *ctx);

/*
 * Leader, after the split: finds where records begin in each chunk, and where
 * the data of each file end; chunks after that become empty.  Returns the
 * number of records in all files.
 */
extern uint64 fc_chunks_resolve(FcContext *ctx);

/*
 * Leader, before a scan that guesses where records begin, and after it, if it
 * has met no error: the first forgets what is known of the chunks.  The second
 * is false if a guess was wrong; else it finds where each chunk begins, as a
 * record does, and sets *records to the number of records in all files.
 */
extern void fc_chunks_forget(FcShared *shared);
extern bool fc_chunks_prove(FcContext *ctx, uint64 *records);

/* Once chunks are found: the number of records in one of the files */
extern uint64 fc_chunks_records(FcShared *shared, const FcSource *source,
							   uint32 file);

/*
 * Leader, after the phase that data came in: from then on all chunks are there,
 * without gaps between their numbers.  Returns the records in all files.
 */
extern uint64 fc_chunks_finish(FcShared *shared);

#endif							/* FC_CHUNKS_H */
