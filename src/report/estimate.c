/*-------------------------------------------------------------------------
 *
 * report/estimate.c
 *	  How long the phases of a load take, and how much of it is done and left.
 *
 * A phase begins at the share that the one before it has come to, and gets as
 * much of the rest as it takes of what is still to be done: so each phase moves
 * percent, whatever was known before it about what would follow.
 *
 * The time left of a phase is what it should take at the load's pace, as it
 * begins, and what it will take at its own, as it ends.  Later phases take
 * what they should, at the load's pace.
 *
 *-------------------------------------------------------------------------
 */
#include "report/estimate.h"

/*
 * Seconds, of loads of 40 bytes a row into new partitions.  For each byte and
 * row, shared among processes:
 */
#define FC_COST_STREAM_BYTE		3e-9
#define FC_COST_SPLIT_BYTE		0.5e-9
#define FC_COST_SCAN_BYTE		1e-9
#define FC_COST_SCAN_ROW		0.15e-6
#define FC_COST_LOAD_BYTE		3e-9
#define FC_COST_LOAD_ROW		0.2e-6
#define FC_COST_BUILD_ROW		0.35e-6
#define FC_COST_INSERT_ROW		1e-6	/* into an index that is there */
#define FC_COST_COPY_ROW		0.5e-6	/* more, by core's code */

/* for each partition, and each index of one */
#define FC_COST_MAKE			0.3e-3
#define FC_COST_OPEN			0.07e-3
#define FC_COST_DEFINE			0.2e-3
#define FC_COST_BUILD			0.1e-3
#define FC_COST_SYNC			2e-3	/* where it waits until it is on disk */
#define FC_COST_ATTACH			0.05e-3
#define FC_COST_ATTACH_INDEX	0.07e-3

/* for each table, and each row of the sample that ANALYZE takes of it */
#define FC_COST_ANALYZE			0.2e-3
#define FC_COST_ANALYZE_ROW		0.5e-6
#define FC_ANALYZE_ROWS			30000.0

/* Until the load has ended, it is not done */
#define FC_NEARLY	0.99

/* A smaller share does not tell how long the rest will take */
#define FC_SURE		0.01

/* A time left was wrong if it turns out to be so much longer: times and plus */
#define FC_WRONG			1.25
#define FC_WRONG_SECONDS	1.0

#define smaller(a, b)	((a) < (b) ? (a) : (b))
#define larger(a, b)	((a) > (b) ? (a) : (b))

double
fc_estimate_stream(const FcEffort *effort)
{
	return effort->bytes * FC_COST_STREAM_BYTE / effort->processes;
}

double
fc_estimate_split(const FcEffort *effort)
{
	return effort->bytes * FC_COST_SPLIT_BYTE / effort->processes;
}

double
fc_estimate_scan(const FcEffort *effort)
{
	return (effort->bytes * FC_COST_SCAN_BYTE + effort->rows * FC_COST_SCAN_ROW) / effort->processes;
}

double
fc_estimate_make(const FcEffort *effort)
{
	return effort->partitions * FC_COST_MAKE;
}

double
fc_estimate_load(const FcEffort *effort)
{
	double		inserted = effort->tables > 0 ? 0 : effort->indexes;

	return effort->leaves * FC_COST_OPEN +
		(effort->bytes * FC_COST_LOAD_BYTE +
		 effort->rows * (FC_COST_LOAD_ROW + inserted * FC_COST_INSERT_ROW)) / effort->processes;
}

double
fc_estimate_copy(const FcEffort *effort)
{
	FcEffort	alone = *effort;

	alone.processes = 1;
	return fc_estimate_load(&alone) + effort->rows * FC_COST_COPY_ROW;
}

static double
fc_estimate_define(const FcEffort *effort)
{
	return effort->tables * effort->indexes * FC_COST_DEFINE;
}

double
fc_estimate_index(const FcEffort *effort)
{
	if (effort->tables <= 0)
		return 0;
	return fc_estimate_define(effort) + effort->indexes *
		(effort->tables * (FC_COST_BUILD + effort->synced * FC_COST_SYNC / effort->processes) +
		 effort->rows * FC_COST_BUILD_ROW / effort->processes);
}

double
fc_estimate_indexed(const FcEffort *effort, double defined, double built)
{
	double		all = fc_estimate_index(effort);
	double		define = fc_estimate_define(effort);

	return all <= 0 ? 0 : (defined * define + built * (all - define)) / all;
}

double
fc_estimate_attach(const FcEffort *effort)
{
	return effort->partitions * (FC_COST_ATTACH + effort->indexes * FC_COST_ATTACH_INDEX);
}

double
fc_estimate_analyze(const FcEffort *effort)
{
	return effort->leaves * FC_COST_ANALYZE +
		smaller(effort->rows, effort->leaves * FC_ANALYZE_ROWS) * FC_COST_ANALYZE_ROW;
}

/* The share of the load that is done once "share" of the phase is */
static double
fc_estimate_whole(const FcEstimate *estimate, double share)
{
	double		rest = estimate->phase + estimate->after;
	double		whole = estimate->base;

	if (rest > 0)
		whole += (1 - estimate->base) * share * estimate->phase / rest;
	return larger(estimate->whole, smaller(whole, FC_NEARLY));
}

void
fc_estimate_next(FcEstimate *estimate, double seconds)
{
	estimate->base = estimate->whole = fc_estimate_whole(estimate, 1);
	if (estimate->phase > 0)
		estimate->seconds += larger(seconds, estimate->phase_seconds);
	estimate->done += estimate->phase;
	estimate->phase = estimate->phase_seconds = 0;
}

/* The seconds that the rest will take, once something is done */
static double
fc_estimate_rest(const FcEstimate *estimate, double share)
{
	double		pace = (estimate->seconds + estimate->phase_seconds) /
		(estimate->done + estimate->phase * share);

	return (1 - share) * (estimate->phase_seconds + (1 - share) * estimate->phase * pace) +
		estimate->after * pace;
}

void
fc_estimate_update(FcEstimate *estimate, double phase, double after, double share,
				   double seconds)
{
	double		done = estimate->done + phase * share;
	double		left;

	estimate->phase = phase;
	estimate->phase_seconds = seconds;
	estimate->after = after;
	estimate->whole = fc_estimate_whole(estimate, share);
	if (done <= 0 || done < FC_SURE * (estimate->done + phase + after))
		return;
	left = fc_estimate_rest(estimate, share);
	if (estimate->left < 0 || left < estimate->left ||
		left > estimate->left * FC_WRONG + FC_WRONG_SECONDS)
		estimate->left = left;
}
