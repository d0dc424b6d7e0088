/*-------------------------------------------------------------------------
 *
 * intake/chunks.h
 *	  The chunks of files that are unpacked or received meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CHUNKS_H
#define FC_CHUNKS_H

#include "intake/pieces.h"

/*
 * Any process, at the beginning of a phase, and at its end: takes part in
 * unpacking files, if there are any.  False in a worker that cannot open them.
 */
extern bool fc_chunks_begin(FcContext *ctx);
extern void fc_chunks_end(FcContext *ctx);

/*
 * Leader, in a phase: begins to receive the rest of an input, whose first bytes
 * are in the first temporary copy already.  With "leaves", what comes after a
 * marker may stay unread.  The receiver is in the current memory context.
 */
typedef struct FcReceiver FcReceiver;

extern FcReceiver *fc_inflow_begin_receiving(FcContext *ctx, FcUnpacker *unpacker,
											 FcUnpacking *unpacking, bool leaves);

/*
 * Receives some more; false once nothing is left that is wanted.  *end then
 * says how the input ended; FC_UNPACK_MORE: the rest is not wanted, because a
 * record that was received ends the load with an error.
 */
extern bool fc_inflow_receive(FcReceiver *receiver, FcUnpackEnd *end,
							  FcUnpackFault *fault);

/*
 * fc_context_take for chunks: the next one that is there, for which it unpacks
 * files, or waits under the event FastCopyInflow.  False as well if a file
 * cannot be unpacked.
 */
extern bool fc_chunks_take(FcContext *ctx, uint32 *chunk);

/*
 * Leader, after the phase: from then on all chunks are there, without gaps
 * between their numbers.  Returns the records in all files.
 */
extern uint64 fc_inflow_finish(FcShared *shared);

#endif							/* FC_CHUNKS_H */
