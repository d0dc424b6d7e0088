/*-------------------------------------------------------------------------
 *
 * context/process.h
 *	  What a process of a load asks of the server and of the machine: how many
 *	  processes there may be, shared memory, a name in pg_stat_activity, pauses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROCESS_H
#define FC_PROCESS_H

#include "context/shared.h"

/*
 * context/processors.c
 */

/* Bytes of data below which workers cost more time than they save */
#define FC_PROCESSORS_SMALL	(4 * 1024 * 1024)

/*
 * The number of workers that the option asks for or, where it is -1, the
 * setting fast_copy.workers.  By default there is one for each processor that
 * the server may use, at most max_parallel_workers, and none for what is small.
 * From 0 to FC_MAX_WORKERS.
 */
extern int	fc_processors_workers(int option, bool small);

/*
 * context/dsm.c: segments of shared memory, of which a crash leaves nothing
 * behind
 */

/* As dsm_create(), which it is where segments are no files of POSIX */
extern dsm_segment *fc_dsm_create(Size size, int flags);

/*
 * context/activity.c: what pg_stat_activity says of a worker
 */

/* The name of a phase, for users */
extern const char *fc_activity_phase_name(FcPhase phase);

/*
 * In a worker: shows which phase it works in, and for which partition of the
 * target; InvalidOid, or the target itself: for none in particular.  Does
 * nothing in the leader, whose command is shown, nor without track_activities.
 * To be called once for a phase or a task, not for each row.
 */
extern void fc_activity_show(const FcContext *ctx, Oid partition);

/*
 * context/pace.c: holds a load back, for the sake of others on the server
 */

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
fc_context_pace(FcContext *ctx, uint64 bytes)
{
	ctx->pace.bytes += bytes;
	if (ctx->pace.bytes >= FC_PACE_BYTES)
		fc_pace_wait(ctx);
}

#endif							/* FC_PROCESS_H */
