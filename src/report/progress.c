/*-------------------------------------------------------------------------
 *
 * report/progress.c
 *	  What other sessions see of a running load.
 *
 * The leader writes the shared counters into its own progress slot, as COPY
 * does: pg_stat_progress_copy shows bytes and tuples as for COPY, and the view
 * fast_copy_progress shows the slot's spare parameters.  After an error core
 * clears the slot at the end of the (sub)transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "utils/backend_progress.h"

#include "report/report.h"

/*
 * Spare parameters, from 0; the view adds one to each number.  An index build
 * in this process overwrites those from 9 to 16, so that the view shows them
 * in other phases only.
 */
#define FC_PARAM_STEPS		7	/* done in the upper, all in the lower half */
#define FC_PARAM_WORKERS	10
#define FC_PARAM_RATE		11	/* rows per second */
#define FC_PARAM_FOUND		17	/* records in the file */
#define FC_PARAM_PARTS		18	/* done in the upper, all in the lower half */
#define FC_PARAM_STATE		19	/* from bit 31 on FC_MAGIC, from 11 on seconds
								 * left, from 4 on percent, then the phase */

#define FC_MAGIC			INT64CONST(0x66617374)	/* "fast" */
#define FC_LEFT_MAX			0xFFFFF /* as many seconds or more, or unknown */
#define FC_PERCENT_UNKNOWN	127
#define FC_UPDATE_US		50000

/*
 * Shows the phase, and how far the whole load has come: returns this share, or
 * less than 0
 */
static double
fc_progress_state(FcProgress *progress)
{
	double		left;
	double		whole = fc_figures_whole(progress, &left);
	int64		percent = whole < 0 ? FC_PERCENT_UNKNOWN : (int64) (whole * 100);
	int64		seconds = left < 0 || left > FC_LEFT_MAX ? FC_LEFT_MAX : (int64) (left + 0.5);

	Assert(percent >= 0 && percent <= FC_PERCENT_UNKNOWN && progress->phase < 16);
	pgstat_progress_update_param(FC_PARAM_STATE, FC_MAGIC << 31 | seconds << 11 |
								 percent << 4 | progress->phase);
	return whole;
}

/* Shows the load as a COPY of this number of bytes */
static void
fc_progress_show_copy(FcProgress *progress, int64 bytes)
{
	const int	params[] = {
		PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE, PROGRESS_COPY_BYTES_TOTAL
	};
	const int64 values[] = {
		PROGRESS_COPY_COMMAND_FROM, fc_target_progress_type(progress->target), bytes
	};

	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, progress->target->oid);
	pgstat_progress_update_multi_param(lengthof(params), params, values);
	progress->shown = true;
}

void
fc_progress_start(FcProgress *progress)
{
	FcTarget   *target = progress->target;
	int64		bytes = target->source->size - target->source->passed;

	/* COPY would not know how much comes */
	if ((target->options->client || target->options->program) && fc_caller_reads_as_core(target->options->caller))
		bytes = 0;
	fc_progress_show_copy(progress, bytes);
	progress->nindexes = list_length(RelationGetIndexList(progress->target->rel));
}

void
fc_progress_begin_stream(FcProgress *progress, FcPhase phase)
{
	fc_progress_begin_phase(progress, phase);
	fc_progress_show_copy(progress, (int64) progress->packed_size);
	(void) fc_progress_state(progress);
	fc_tell_progress(progress, true);
}

static void
fc_progress_parts(FcProgress *progress)
{
	int64		done = pg_atomic_read_u64(&progress->target->shared->counts.parts_done);
	int			steps_done;
	int			steps;

	pgstat_progress_update_param(FC_PARAM_PARTS, done << 32 | progress->target->ngroups);
	(void) fc_figures_steps(progress, &steps_done, &steps);
	pgstat_progress_update_param(FC_PARAM_STEPS, (int64) steps_done << 32 | steps);
}

/* Shows the rows loaded, filtered and rejected */
static void
fc_progress_rows(FcProgress *progress)
{
	FcShared   *shared = progress->target->shared;

	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED,
								 pg_atomic_read_u64(&shared->counts.loaded));
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_EXCLUDED,
								 pg_atomic_read_u64(&shared->counts.filtered));
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_SKIPPED,
								 pg_atomic_read_u64(&shared->counts.rejected));
}

void
fc_progress_begin_phase(FcProgress *progress, FcPhase phase)
{
	Assert(!IsParallelWorker());
	fc_estimate_next(&progress->estimate, fc_figures_phase_seconds(progress));
	progress->phase = phase;
	progress->steps = progress->steps_done = 0;
	progress->phase_wal = pgWalUsage.wal_bytes;
	INSTR_TIME_SET_CURRENT(progress->phase_start);
}

void
fc_progress_phase(FcProgress *progress, FcPhase phase)
{
	fc_progress_begin_phase(progress, phase);
	(void) fc_progress_state(progress);
	pgstat_progress_update_param(FC_PARAM_WORKERS,
								 phase == FC_PHASE_PARTITIONS || phase == FC_PHASE_ATTACH ||
								 phase == FC_PHASE_REPLACE || phase == FC_PHASE_REFERENCES ||
								 phase == FC_PHASE_ANALYZE ? 0 : progress->target->nworkers);
	fc_progress_parts(progress);
	fc_progress_rows(progress);
	pgstat_progress_update_param(FC_PARAM_FOUND, progress->target->found);
	fc_tell_progress(progress, true);
}

void
fc_progress_update(void *arg)
{
	FcProgress *progress = arg;
	FcShared   *shared = progress->target->shared;
	static TimestampTz last = 0;
	TimestampTz now = GetCurrentTimestamp();

	/* the next index or table may take long, without another call */
	if (progress->shown && (progress->phase == FC_PHASE_INDEX || progress->phase == FC_PHASE_ANALYZE))
		fc_progress_parts(progress);
	if (now - last < FC_UPDATE_US && now >= last)
		return;
	last = now;
	if (progress->shown)
	{
		bool		stream = fc_figures_is_stream(progress);
		double		whole = fc_progress_state(progress);

		pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, stream ?
									 (int64) pg_atomic_read_u64(progress->taken) : (int64) (whole * shared->source.size));
		if (shared)
			fc_progress_rows(progress);
		if (!stream)
		{
			fc_progress_parts(progress);
			pgstat_progress_update_param(FC_PARAM_RATE, (int64) (pg_atomic_read_u64(&shared->counts.loaded) /
																 Max((now - progress->target->start) / 1e6, 1e-6)));
		}
	}
	fc_tell_progress(progress, false);
}

void
fc_progress_end(FcProgress *progress)
{
	pgstat_progress_end_command();
	progress->shown = false;
}
