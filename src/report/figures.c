/*-------------------------------------------------------------------------
 *
 * report/figures.c
 *	  How far a phase and the load have come, for progress and NOTICEs.
 *
 * Each phase has a weight, its share of the time in loads of narrow rows; the
 * share of the load that is done goes by weights.  The time left is better:
 * this phase goes on at its own pace, later ones at the load's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "report/figures.h"

/* A smaller share does not tell how long the rest will take */
#define FC_SURE		0.005

/* Until the load has ended, it is not done */
#define FC_NEARLY	0.99

/* The phases in the order in which they come, but for setup */
static const FcPhase phase_order[] = {
	FC_PHASE_RECEIVE, FC_PHASE_UNPACK, FC_PHASE_SPLIT, FC_PHASE_SCAN,
	FC_PHASE_PARTITIONS, FC_PHASE_REPLACE, FC_PHASE_CHECK, FC_PHASE_COPY, FC_PHASE_LOAD,
	FC_PHASE_INDEX, FC_PHASE_ATTACH, FC_PHASE_REJECT, FC_PHASE_ANALYZE
};

double
fc_figures_share(pg_atomic_uint64 *counter, double total)
{
	double		done = (double) pg_atomic_read_u64(counter);

	return done < total ? done / total : 1.0;
}

bool
fc_figures_is_stream(const FcProgress *progress)
{
	return progress->phase == FC_PHASE_UNPACK || progress->phase == FC_PHASE_RECEIVE;
}

double
fc_figures_bytes(const FcProgress *progress)
{
	return fc_figures_is_stream(progress) ? (double) progress->packed_size :
		(double) progress->target->shared->source.data_size;
}

bool
fc_figures_reads_file(const FcProgress *progress)
{
	return progress->phase == FC_PHASE_SPLIT || progress->phase == FC_PHASE_SCAN ||
		progress->phase == FC_PHASE_LOAD || progress->phase == FC_PHASE_CHECK ||
		progress->phase == FC_PHASE_COPY || fc_figures_is_stream(progress);
}

const char *
fc_figures_steps(const FcProgress *progress, int *done, int *total)
{
	FcTarget   *target = progress->target;

	switch (progress->phase)
	{
		case FC_PHASE_PARTITIONS:
			*done = 0;
			for (int i = 0; i < target->ncreated; i++)
				*done += OidIsValid(target->created[i].range.partition);
			*total = target->ncreated;
			return "partitions";
		case FC_PHASE_INDEX:
			*done = pg_atomic_read_u64(&target->shared->counts.nbuilt);
			*total = target->nindexes;
			return "indexes";
		case FC_PHASE_ATTACH:
			*done = progress->steps_done;
			*total = target->ncreated;
			return "partitions";
		case FC_PHASE_ANALYZE:
			*done = progress->steps_done;
			*total = progress->steps;
			return "tables";
		default:
			*done = *total = 0;
			return NULL;
	}
}

double
fc_figures_of_phase(const FcProgress *progress)
{
	FcShared   *shared = progress->target->shared;
	uint64		total = (uint64) fc_figures_bytes(progress);
	int			done;
	int			steps;

	switch (progress->phase)
	{
		case FC_PHASE_UNPACK:
			return fc_figures_share(progress->taken, total);
		case FC_PHASE_SPLIT:
			return fc_figures_share(&shared->counts.split_bytes, total);
		case FC_PHASE_SCAN:
			/* core shows its own progress while it scans, in load_bytes */
			return fc_figures_share(progress->shown ? &shared->counts.scan_bytes :
									&shared->counts.load_bytes, total);
		case FC_PHASE_LOAD:
		case FC_PHASE_CHECK:
		case FC_PHASE_COPY:
			return fc_figures_share(&shared->counts.load_bytes, total);
		case FC_PHASE_INDEX:
			/* by cost, because one index may take longer than all others */
			if (progress->index_cost <= 0)
				return -1;
			return fc_figures_share(&shared->counts.built, progress->index_cost);
		default:
			(void) fc_figures_steps(progress, &done, &steps);
			return steps > 0 ? (double) done / steps : -1;
	}
}

double
fc_figures_phase_seconds(const FcProgress *progress)
{
	bool		beside = fc_target_grows(progress->target) && progress->phase != FC_PHASE_SETUP;
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, beside ? progress->stream_start : progress->phase_start);
	return Max(INSTR_TIME_GET_DOUBLE(now), 1e-6);
}

/* Is there a key that rows are read in the order of, or that routes them? */
static bool
fc_figures_keyed(const FcTarget *target)
{
	return target->shared ? fc_shared_keyed(target->shared) :
		target->plan && target->plan->key.type != FC_KEY_NONE;
}

/* Are partitions made, or may they still be found to be missing? */
static bool
fc_figures_makes(const FcProgress *progress)
{
	const FcTarget *target = progress->target;

	if (!fc_figures_keyed(target) || !target->plan->key.routes ||
		target->plan->missing != FC_MISSING_CREATE || !fc_caller_writes(target->options->caller))
		return false;
	return target->ncreated > 0 || progress->phase < FC_PHASE_LOAD ||
		fc_figures_is_stream(progress);
}

/* Is the phase part of one that unpacks or receives, which comes before it? */
static bool
fc_progress_flows(const FcProgress *progress, FcPhase phase, bool keyed)
{
	return fc_target_grows(progress->target) &&
		(phase == FC_PHASE_SPLIT || phase == (keyed ? FC_PHASE_SCAN : FC_PHASE_LOAD));
}

/* The weight of a phase in this load; 0: it does not come */
static double
fc_figures_weight(const FcProgress *progress, FcPhase phase)
{
	const FcTarget *target = progress->target;
	bool		keyed = fc_figures_keyed(target);

	if (fc_progress_flows(progress, phase, keyed))
		return 0;
	switch (phase)
	{
		case FC_PHASE_UNPACK:
		case FC_PHASE_RECEIVE:
			return progress->phase != phase ? 0 : FC_WEIGHT_STREAM +
				(!fc_target_grows(target) ? 0 : keyed ? FC_WEIGHT_SCAN : FC_WEIGHT_LOAD);
		case FC_PHASE_SPLIT:
			return target->way == FC_WAY_SEND ? 0 : FC_WEIGHT_SPLIT;
		case FC_PHASE_SCAN:
			return !keyed || target->way == FC_WAY_PRESORTED ||
				target->way == FC_WAY_SEND ? 0 : FC_WEIGHT_SCAN;
		case FC_PHASE_LOAD:
			return !fc_caller_writes(target->options->caller) || target->way == FC_WAY_COPY ? 0 : FC_WEIGHT_LOAD;
		case FC_PHASE_CHECK:
			return !fc_caller_writes(target->options->caller) ? FC_WEIGHT_LOAD : 0;
		case FC_PHASE_COPY:
			return target->way == FC_WAY_COPY && fc_caller_writes(target->options->caller) ? FC_WEIGHT_LOAD : 0;
		case FC_PHASE_INDEX:
			return fc_figures_makes(progress) ? FC_WEIGHT_INDEX * progress->nindexes : 0;
		case FC_PHASE_ANALYZE:
			return target->options->run_analyze ? FC_WEIGHT_ANALYZE : 0;
		case FC_PHASE_PARTITIONS:
		case FC_PHASE_ATTACH:
			return fc_figures_makes(progress) ? FC_WEIGHT_CATALOG : 0;
		case FC_PHASE_REPLACE:
			return target->options->existing != FC_EXISTING_KEEP ? FC_WEIGHT_CATALOG : 0;
		case FC_PHASE_REJECT:
			return target->options->on_error != FC_ON_ERROR_STOP ? FC_WEIGHT_CATALOG : 0;
		default:
			return 0;
	}
}

/* Adds up the weights of the phases before this one, and of those after it */
static void
fc_figures_weights(const FcProgress *progress, double *before, double *after)
{
	bool		passed = progress->phase == FC_PHASE_SETUP;

	*before = *after = 0;
	for (int i = 0; i < lengthof(phase_order); i++)
	{
		if (phase_order[i] == progress->phase)
			passed = true;
		else if (passed)
			*after += fc_figures_weight(progress, phase_order[i]);
		else
			*before += fc_figures_weight(progress, phase_order[i]);
	}
}

double
fc_figures_whole(FcProgress *progress, double *left)
{
	double		elapsed = Max((GetCurrentTimestamp() - progress->start) / 1e6, 0.0);
	double		share = fc_figures_of_phase(progress);
	double		weight = fc_figures_weight(progress, progress->phase);
	double		before;
	double		after;
	double		done;

	*left = -1;
	/* nobody knows how much is still to be received */
	if (progress->phase == FC_PHASE_RECEIVE)
		return -1;
	fc_figures_weights(progress, &before, &after);
	done = before + weight * Max(share, 0);
	if (done < FC_SURE)
		return progress->whole;
	progress->whole = Max(progress->whole,
						  Min(done / (before + weight + after), FC_NEARLY));
	Assert(progress->whole <= FC_NEARLY && share <= 1);
	if (share > FC_SURE)
		*left = fc_figures_phase_seconds(progress) * (1 - share) / share;
	else
		*left = elapsed * weight / done;
	*left += elapsed * after / done;
	return progress->whole;
}
