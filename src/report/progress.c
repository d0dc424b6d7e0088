/*-------------------------------------------------------------------------
 *
 * report/progress.c
 *	  What other sessions see of a running load.
 *
 * The leader copies the shared counters into its own progress slot, as COPY:
 * pg_stat_progress_copy shows bytes and tuples as it does for COPY, and the
 * view fast_copy_progress shows the slot's spare parameters.  The slot is
 * cleared by core at the end of the (sub)transaction if an error comes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/progress.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/timestamp.h"

#include "compat/compat.h"
#include "report/figures.h"
#include "report/progress.h"
#include "report/tell.h"

/*
 * Spare parameters, from 0; the view adds one to each number.  An index build
 * in this process overwrites those from 9 to 16, so that the view shows them
 * in other phases only.
 */
#define FC_PARAM_STEPS		7	/* done in the upper, all in the lower half */
#define FC_PARAM_WORKERS	10
#define FC_PARAM_RATE		11	/* rows per second */
#define FC_PARAM_LEFT		12	/* milliseconds, -1 if not known */
#define FC_PARAM_FOUND		17	/* records in the file */
#define FC_PARAM_PARTS		18	/* done in the upper, all in the lower half */
#define FC_PARAM_PHASE		19	/* FC_MAGIC, then four bits for the phase */

#define FC_MAGIC			INT64CONST(0x666173745f63)	/* "fast_c" */
#define FC_UPDATE_US		50000

/*
 * How the work is shared among the passes over the file: about what loads of
 * narrow rows take.
 */
#define FC_SHARE_SPLIT	0.03
#define FC_SHARE_SCAN	0.12
#define FC_SHARE_LOAD	0.85

/* How much of the work on the file is done, from 0 to 1 */
static double
fc_progress_done(FcJob *job)
{
	FcShared   *shared = job->shared;
	uint64		total = shared->data_size;
	double		scan;

	if (job->phase > FC_PHASE_LOAD)
		return 1.0;
	scan = shared->key_type == FC_KEY_NONE ?
		fc_progress_share(&shared->split_bytes, total) :
		fc_progress_share(&shared->scan_bytes, total);
	return FC_SHARE_SPLIT * fc_progress_share(&shared->split_bytes, total) +
		FC_SHARE_SCAN * scan +
		FC_SHARE_LOAD * fc_progress_share(&shared->load_bytes, total);
}

static int64
fc_progress_type(const FcJob *job)
{
	return job->options->client ? PROGRESS_COPY_TYPE_PIPE :
		job->options->program ? PROGRESS_COPY_TYPE_PROGRAM : PROGRESS_COPY_TYPE_FILE;
}

void
fc_progress_start(FcJob *job)
{
	const int	params[] = {
		PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE, PROGRESS_COPY_BYTES_TOTAL,
		FC_PARAM_LEFT
	};
	const int64 values[] = {
		PROGRESS_COPY_COMMAND_FROM, fc_progress_type(job),
		job->inflow ? job->expected : job->source->identity.size, -1
	};

	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, job->target);
	pgstat_progress_update_multi_param(lengthof(params), params, values);
	job->shown = true;
}

void
fc_progress_begin_stream(FcJob *job, FcPhase phase)
{
	const int	params[] = {
		PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE, PROGRESS_COPY_BYTES_TOTAL,
		FC_PARAM_LEFT, FC_PARAM_PHASE
	};
	const int64 values[] = {
		PROGRESS_COPY_COMMAND_FROM, fc_progress_type(job),
		(int64) job->packed_size, -1, FC_MAGIC << 4 | phase
	};

	fc_progress_begin_phase(job, phase);
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, job->target);
	pgstat_progress_update_multi_param(lengthof(params), params, values);
	job->shown = true;
	fc_tell_phase(job);
}

static void
fc_progress_parts(FcJob *job)
{
	int64		done = pg_atomic_read_u32(&job->shared->parts_done);
	int			steps_done;
	int			steps;

	pgstat_progress_update_param(FC_PARAM_PARTS, done << 32 | job->ngroups);
	(void) fc_progress_steps(job, &steps_done, &steps);
	pgstat_progress_update_param(FC_PARAM_STEPS, (int64) steps_done << 32 | steps);
}

/* Rows, whatever became of them */
static void
fc_progress_rows(FcJob *job)
{
	FcShared   *shared = job->shared;

	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED,
								 pg_atomic_read_u64(&shared->loaded));
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_EXCLUDED,
								 pg_atomic_read_u64(&shared->filtered));
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_SKIPPED,
								 pg_atomic_read_u64(&shared->rejected));
}

/* As the report sees it */
void
fc_progress_begin_phase(FcJob *job, FcPhase phase)
{
	job->phase = phase;
	job->phase_wal = pgWalUsage.wal_bytes;
	INSTR_TIME_SET_CURRENT(job->phase_start);
}

void
fc_progress_phase(FcJob *job, FcPhase phase)
{
	fc_progress_begin_phase(job, phase);
	pgstat_progress_update_param(FC_PARAM_PHASE, FC_MAGIC << 4 | phase);
	pgstat_progress_update_param(FC_PARAM_WORKERS,
								 phase == FC_PHASE_PARTITIONS || phase == FC_PHASE_ATTACH ||
								 phase == FC_PHASE_ANALYZE ? 0 : job->nworkers);
	fc_progress_parts(job);
	fc_progress_rows(job);
	pgstat_progress_update_param(FC_PARAM_FOUND, job->found);
	fc_tell_phase(job);
}

/* Packed bytes, or those that have come */
static void
fc_progress_show_stream(FcJob *job)
{
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED,
								 (int64) pg_atomic_read_u64(job->taken));
	if (job->inflow && job->shared)
		fc_progress_rows(job);
}

static void
fc_progress_show(FcJob *job, TimestampTz now)
{
	FcShared   *shared = job->shared;
	double		elapsed = Max((now - job->start) / 1e6, 1e-6);
	double		done = fc_progress_done(job);

	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED,
								 (int64) (done * shared->file.size));
	fc_progress_rows(job);
	fc_progress_parts(job);
	pgstat_progress_update_param(FC_PARAM_RATE, (int64) (pg_atomic_read_u64(&shared->loaded) / elapsed));
	if (done > 0.01)
		pgstat_progress_update_param(FC_PARAM_LEFT,
									 (int64) (elapsed * (1.0 - done) / done * 1000));
}

void
fc_progress_update(void *arg)
{
	FcJob	   *job = arg;
	static TimestampTz last = 0;
	TimestampTz now = GetCurrentTimestamp();

	/* the next index or table may take long, and nobody comes here meanwhile */
	if (job->shown && (job->phase == FC_PHASE_INDEX || job->phase == FC_PHASE_ANALYZE))
		fc_progress_parts(job);
	if (now - last < FC_UPDATE_US && now >= last)
		return;
	last = now;
	if (job->shown && fc_progress_is_stream(job))
		fc_progress_show_stream(job);
	else if (job->shown)
		fc_progress_show(job, now);
	fc_tell_progress(job);
}

void
fc_progress_end(FcJob *job)
{
	pgstat_progress_end_command();
	job->shown = false;
}
