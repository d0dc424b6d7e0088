/*-------------------------------------------------------------------------
 *
 * context/pace.c
 *	  Holds a load back, for the sake of others on the server.
 *
 * fast_copy.max_rate bounds what all processes of a load together read of the
 * source in a second, and the WAL that they write (fc_pace_pay).
 * fast_copy.max_replica_lag makes them wait while a standby that streams is
 * further behind than that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "portability/instr_time.h"

#include "context/process.h"

/* µs: a shorter wait is left to the next call */
#define FC_PACE_LEAST	2000

/* µs of sleep that may be made up for */
#define FC_PACE_CREDIT	20000

/* Milliseconds between two looks at the standbys, and the longest sleep */
#define FC_PACE_LOOK	50
#define FC_PACE_LONGEST	1000

int64
fc_pace_clock(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return INSTR_TIME_GET_MICROSEC(now);
}

void
fc_pace_begin(FcShared *shared)
{
	shared->pace.rate = (uint64) fc_max_rate_kb * 1024;
	shared->pace.lag = (uint64) fc_max_replica_lag_kb * 1024;
	pg_atomic_init_u64(&shared->pace.read, 0);
	pg_atomic_init_u64(&shared->pace.logged, 0);
}

void
fc_pace_enter(FcContext *ctx)
{
	ctx->pace.bytes = 0;
	ctx->pace.wal = pgWalUsage.wal_bytes;
}

/*
 * This takes the signal of a condition variable that the process has prepared
 * to sleep on; after the cancel the process looks at the condition again
 * before it sleeps.
 */
void
fc_pace_sleep(long ms, uint32 wait_event)
{
	ConditionVariableCancelSleep();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, wait_event);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Adds bytes, without a lock; returns the moment, in µs, at which the rate
 * allows all bytes so far: the process sleeps until then.  A moment in the
 * past counts as one a little before the present: a sleep that ended too late
 * is made up for, and a pause is not saved up.
 */
static uint64
fc_pace_pay(pg_atomic_uint64 *paid, uint64 bytes, uint64 rate, uint64 now)
{
	uint64		before = pg_atomic_read_u64(paid);
	uint64		after;

	do
		after = Max(before, now - FC_PACE_CREDIT) + (bytes * 1000000 + rate - 1) / rate;
	while (!pg_atomic_compare_exchange_u64(paid, &before, after));
	return after;
}

static void
fc_pace_keep_rate(FcContext *ctx, uint64 read, uint64 logged)
{
	FcSharedPace *pace = &ctx->shared->pace;
	int64		now = fc_pace_clock();
	int64		read_until = fc_pace_pay(&pace->read, read, pace->rate, now);
	int64		logged_until = fc_pace_pay(&pace->logged, logged, pace->rate, now);
	int64		until = Max(read_until, logged_until);

	if (until < now + FC_PACE_LEAST)
		return;
	for (; now < until; now = fc_pace_clock())
	{
		fc_pace_sleep(Min((until - now + 999) / 1000, FC_PACE_LONGEST), fc_wait_event(FC_WAIT_RATE));
		fc_context_progress(ctx);
	}
}

void
fc_pace_wait(FcContext *ctx)
{
	FcSharedPace *pace = &ctx->shared->pace;
	uint64		read = ctx->pace.bytes;
	uint64		logged = pgWalUsage.wal_bytes - ctx->pace.wal;

	Assert(CritSectionCount == 0 && pgWalUsage.wal_bytes >= ctx->pace.wal);
	fc_pace_enter(ctx);
	if (pace->rate > 0)
		fc_pace_keep_rate(ctx, read, logged);
	while (pace->lag > 0 && fc_replica_lag() > pace->lag)
	{
		fc_pace_sleep(FC_PACE_LOOK, fc_wait_event(FC_WAIT_REPLICA));
		fc_context_progress(ctx);
	}
}
