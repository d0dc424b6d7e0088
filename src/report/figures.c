/*-------------------------------------------------------------------------
 *
 * report/figures.c
 *	  How far a phase and the load have come, for progress and NOTICEs.
 *
 * What the load has to do tells what each phase takes (report/estimate.c):
 * partitions to make, indexes to build, rows to write.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "index/index.h"
#include "report/report.h"

/* So many bytes come of a packed one, about */
#define FC_UNPACKED	4

/* The phases in the order in which they come, but for setup */
static const FcPhase phase_order[] = {
	FC_PHASE_RECEIVE, FC_PHASE_UNPACK, FC_PHASE_SPLIT, FC_PHASE_SCAN,
	FC_PHASE_PARTITIONS, FC_PHASE_REPLACE, FC_PHASE_CHECK, FC_PHASE_COPY, FC_PHASE_LOAD,
	FC_PHASE_INDEX, FC_PHASE_ATTACH, FC_PHASE_REFERENCES, FC_PHASE_REJECT, FC_PHASE_ANALYZE
};

/* The share that the counter is of "total", from 0 to 1 */
static double
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

/* The indexes that are to be built; about, until they are all defined */
static int
fc_figures_to_index(const FcProgress *progress)
{
	const FcTarget *target = progress->target;

	return progress->index_cost > 0 ? target->nindexes :
		(target->ncreated + target->nsubstitutes) * progress->nindexes;
}

bool
fc_figures_defines(const FcProgress *progress)
{
	return progress->phase == FC_PHASE_INDEX && progress->index_cost == 0;
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
			*done = fc_figures_defines(progress) ? target->nindexes :
				(int) pg_atomic_read_u64(&target->shared->counts.nbuilt);
			*total = fc_figures_to_index(progress);
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

/* Is there a key that rows are read in the order of, or that routes them? */
static bool
fc_figures_keyed(const FcTarget *target)
{
	return target->shared ? fc_shared_keyed(target->shared) :
		target->plan && target->plan->key.type != FC_KEY_NONE;
}

/* What the load has to do, as far as it is known */
static FcEffort
fc_figures_effort(const FcProgress *progress)
{
	const FcTarget *target = progress->target;
	FcEffort	effort = {0};

	effort.bytes = fc_figures_bytes(progress);
	if (progress->phase == FC_PHASE_UNPACK)
		effort.bytes *= FC_UNPACKED;
	else if (progress->phase == FC_PHASE_RECEIVE && progress->packed_size == 0)
		effort.bytes = pg_atomic_read_u64(progress->taken);
	effort.rows = target->options->move != FC_MOVE_NOTHING && target->shared ? pg_atomic_read_u64(&target->shared->counts.existing) :
		target->found > 0 ? (double) target->found : effort.bytes / FC_RECORD_GUESS;
	effort.processes = Max(target->nworkers, 1);
	effort.indexes = progress->nindexes;
	if (fc_caller_writes(target->options->caller))
	{
		effort.partitions = Max(target->ncreated, progress->foreseen);
		effort.tables = progress->early ? 0 : effort.partitions + target->nsubstitutes;
	}
	effort.synced = fc_index_is_synced(effort.rows / Max(effort.tables, 1));
	effort.leaves = target->ngroups > 0 ? target->ngroups : Max(effort.tables, 1);
	return effort;
}

/*
 * The share of the phase index that is done: built, of these, by cost, because
 * one index may take longer than all others
 */
static double
fc_figures_indexed(const FcProgress *progress)
{
	FcTarget   *target = progress->target;
	FcEffort	effort = fc_figures_effort(progress);
	int			all = fc_figures_to_index(progress);

	if (progress->index_cost > 0)
		return fc_estimate_indexed(&effort, 1, fc_figures_share(&target->shared->counts.built, progress->index_cost));
	return fc_estimate_indexed(&effort, (double) target->nindexes / Max(Max(all, target->nindexes), 1), 0);
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
			if (fc_plan_moves(progress->target->plan))
				return fc_figures_share(&shared->counts.loaded, pg_atomic_read_u64(&shared->counts.existing));
			/* FALLTHROUGH */
		case FC_PHASE_CHECK:
		case FC_PHASE_COPY:
			return fc_figures_share(&shared->counts.load_bytes, total);
		case FC_PHASE_INDEX:
			return fc_figures_indexed(progress);
		default:
			(void) fc_figures_steps(progress, &done, &steps);
			return steps > 0 ? (double) done / steps : -1;
	}
}

double
fc_figures_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return Max(INSTR_TIME_GET_DOUBLE(now), 1e-6);
}

double
fc_figures_phase_seconds(const FcProgress *progress)
{
	bool		beside = fc_target_grows(progress->target) && progress->phase != FC_PHASE_SETUP;

	return fc_figures_since(beside ? progress->stream_start : progress->phase_start);
}

/* What is done in the phase; nothing if it does not come */
static FcEffortKind
fc_figures_kind(const FcProgress *progress, FcPhase phase)
{
	const FcTarget *target = progress->target;
	const FcOptions *options = target->options;
	bool		sends = target->course.sends_all;
	bool		copies = target->course.core;
	bool		writes = fc_caller_writes(options->caller);
	const struct
	{
		bool		comes;
		FcEffortKind kind;
	}			phases[FC_NPHASES] = {
		[FC_PHASE_UNPACK] = {progress->phase == phase, FC_EFFORT_STREAM},
		[FC_PHASE_RECEIVE] = {progress->phase == phase, FC_EFFORT_STREAM},
		[FC_PHASE_SPLIT] = {!sends, FC_EFFORT_SPLIT},
		[FC_PHASE_SCAN] = {!sends && target->course.way != FC_WAY_PRESORTED && fc_figures_keyed(target), FC_EFFORT_SCAN},
		[FC_PHASE_PARTITIONS] = {true, FC_EFFORT_MAKE},
		[FC_PHASE_REPLACE] = {options->existing != FC_EXISTING_KEEP, FC_EFFORT_SPLIT},
		[FC_PHASE_CHECK] = {!writes, FC_EFFORT_LOAD},
		[FC_PHASE_COPY] = {writes && copies, FC_EFFORT_COPY},
		[FC_PHASE_LOAD] = {writes && !copies, FC_EFFORT_LOAD},
		[FC_PHASE_INDEX] = {true, FC_EFFORT_INDEX},
		[FC_PHASE_ATTACH] = {!progress->early, FC_EFFORT_ATTACH},
		[FC_PHASE_REJECT] = {options->on_error != FC_ON_ERROR_STOP, FC_EFFORT_SPLIT},
		[FC_PHASE_ANALYZE] = {options->run_analyze, FC_EFFORT_ANALYZE},
	};

	return phases[phase].comes ? phases[phase].kind : FC_EFFORT_NONE;
}

/* What a phase takes, with the one that goes on beside it; 0 if it has none */
static double
fc_figures_cost(const FcProgress *progress, const FcEffort *effort, FcPhase phase)
{
	FcPhase		beside = fc_figures_keyed(progress->target) ? FC_PHASE_SCAN : FC_PHASE_LOAD;
	double		cost = fc_estimate_cost(effort, fc_figures_kind(progress, phase));

	if (!fc_figures_is_stream(progress) || !fc_target_grows(progress->target))
		return cost;
	/* data are cut into chunks, and scanned or loaded, while they come */
	if (phase == FC_PHASE_SPLIT || phase == beside)
		return 0;
	return phase != progress->phase ? cost :
		cost + fc_estimate_cost(effort, beside == FC_PHASE_SCAN ? FC_EFFORT_SCAN : FC_EFFORT_LOAD);
}

double
fc_figures_whole(FcProgress *progress, double *left)
{
	FcEffort	effort = fc_figures_effort(progress);
	double		share = fc_figures_of_phase(progress);
	bool		passed = progress->phase == FC_PHASE_SETUP;
	double		after = 0;

	for (int i = 0; i < lengthof(phase_order); i++)
	{
		if (passed)
			after += fc_figures_cost(progress, &effort, phase_order[i]);
		passed |= phase_order[i] == progress->phase;
	}
	fc_estimate_update(&progress->estimate, fc_figures_cost(progress, &effort, progress->phase),
					   after, Max(share, 0), fc_figures_phase_seconds(progress));
	/* how much is still to be received is not known */
	*left = progress->phase == FC_PHASE_RECEIVE ? -1 : progress->estimate.left;
	return progress->phase == FC_PHASE_RECEIVE ? -1 : progress->estimate.whole;
}
