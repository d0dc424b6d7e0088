/*-------------------------------------------------------------------------
 *
 * context/pace.h
 *	  Holds a load back, for the sake of others on the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PACE_H
#define FC_PACE_H

#include "context/shared.h"

/* Bytes of the source after which a process looks at the limits */
#define FC_PACE_BYTES	65536

/* Microseconds; comparable between processes */
extern int64 fc_pace_clock(void);

/*
 * Sleeps for so many milliseconds, or less: the caller looks again at what it
 * waits for.  Processes interrupts.
 */
extern void fc_pace_sleep(long ms, uint32 wait_event);

/* Leader: takes the limits of this load from the settings */
extern void fc_pace_begin(FcShared *shared);

/* Before a process reads or writes in a phase: what it wrote before is past */
extern void fc_pace_enter(FcContext *ctx);

/*
 * Counts what the process has read of the source since the last call, and the
 * WAL that it has written, and waits as long as the limits demand.  Processes
 * interrupts.
 *
 * The caller holds nothing that another session waits for.  Processes of the
 * load may wait for its turn: the same limits hold them back.
 */
extern void fc_pace_wait(FcContext *ctx);

/* To be called for all that is read of the source */
static inline void
fc_pace(FcContext *ctx, uint64 bytes)
{
	ctx->pace.bytes += bytes;
	if (ctx->pace.bytes >= FC_PACE_BYTES)
		fc_pace_wait(ctx);
}

#endif							/* FC_PACE_H */
