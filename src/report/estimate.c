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
#include <stdbool.h>

#include "report/estimate.h"

/*
 * Seconds, of loads of 40 bytes a row into new partitions.  What is done for
 * bytes and rows is shared among processes.
 */
typedef struct FcWeights
{
	double		byte;
	double		row;
	double		row_built;		/* and index that is built */
	double		row_inserted;	/* and index that is there */
	double		leaf;
	double		partition;
	double		attached;		/* partition and index */
	double		defined;		/* table and index */
	double		built;			/* table and index */
} FcWeights;

static const FcWeights weights[] = {
	[FC_EFFORT_STREAM] = {.byte = 3e-9},
	[FC_EFFORT_SPLIT] = {.byte = 0.5e-9},
	[FC_EFFORT_SCAN] = {.byte = 1e-9, .row = 0.15e-6},
	[FC_EFFORT_MAKE] = {.partition = 0.3e-3},
	[FC_EFFORT_LOAD] = {.byte = 3e-9, .row = 0.2e-6, .row_inserted = 1e-6, .leaf = 0.07e-3},
	[FC_EFFORT_COPY] = {.byte = 3e-9, .row = 0.7e-6, .row_inserted = 1e-6, .leaf = 0.07e-3},
	[FC_EFFORT_INDEX] = {.row_built = 0.35e-6, .defined = 0.2e-3, .built = 0.1e-3},
	[FC_EFFORT_ATTACH] = {.partition = 0.05e-3, .attached = 0.07e-3},
	[FC_EFFORT_ANALYZE] = {.row = 0.5e-6, .leaf = 0.2e-3}
};

/* An index that waits until it is on disk, for each table */
#define FC_COST_SYNC			2e-3

/* Rows of the sample that ANALYZE takes of a table */
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
fc_estimate_cost(const FcEffort *effort, FcEffortKind kind)
{
	const FcWeights *weight = &weights[kind];
	bool		alone = kind == FC_EFFORT_COPY || kind == FC_EFFORT_ANALYZE;
	double		rows = kind == FC_EFFORT_ANALYZE ?
		smaller(effort->rows, effort->leaves * FC_ANALYZE_ROWS) : effort->rows;
	double		row = weight->row + effort->indexes *
		(effort->tables > 0 ? weight->row_built : weight->row_inserted);
	double		built = weight->built + (weight->built > 0 && effort->synced ? FC_COST_SYNC / effort->processes : 0);

	return (effort->bytes * weight->byte + rows * row) / (alone ? 1 : effort->processes) +
		effort->leaves * weight->leaf +
		effort->partitions * (weight->partition + effort->indexes * weight->attached) +
		effort->tables * effort->indexes * (weight->defined + built);
}

double
fc_estimate_indexed(const FcEffort *effort, double defined, double built)
{
	double		all = fc_estimate_cost(effort, FC_EFFORT_INDEX);
	double		define = effort->tables * effort->indexes * weights[FC_EFFORT_INDEX].defined;

	return all <= 0 ? 0 : (defined * define + built * (all - define)) / all;
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

void
fc_estimate_update(FcEstimate *estimate, double phase, double after, double share,
				   double seconds)
{
	double		done = estimate->done + phase * share;
	double		pace;
	double		left;

	estimate->phase = phase;
	estimate->phase_seconds = seconds;
	estimate->after = after;
	estimate->whole = fc_estimate_whole(estimate, share);
	if (done <= 0 || done < FC_SURE * (estimate->done + phase + after))
		return;
	pace = (estimate->seconds + seconds) / done;
	left = (1 - share) * (seconds + (1 - share) * phase * pace) + after * pace;
	if (estimate->left < 0 || left < estimate->left ||
		left > estimate->left * FC_WRONG + FC_WRONG_SECONDS)
		estimate->left = left;
}
