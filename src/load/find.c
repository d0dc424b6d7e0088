/*-------------------------------------------------------------------------
 *
 * load/find.c
 *	  The records of the files, and their keys.
 *
 *	 split ──► chunks with their first records and lines
 *	 scan  ──► rows in cells of keys
 *
 * A file that looks presorted needs no scan.  Data that come while they are
 * scanned are split by the process that unpacks or receives them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"

/*
 * Bytes that the leader splits in the time that workers take to start.  One
 * process splits a binary file of any size.
 */
#define FC_SPLIT_ALONE		((uint64) 32 * 1024 * 1024)

void
fc_find_split(FcJob *job)
{
	FcTarget   *target = &job->target;
	bool		alone = target->dialect.mode == FC_MODE_BINARY ||
		target->data_size <= FC_SPLIT_ALONE;
	FcWork		work = {0};
	int			processes;

	target->shared->source.unsplit = FC_UNSPLIT_NOT;
	fc_progress_phase(&job->progress, FC_PHASE_SPLIT);
	processes = fc_lead_run(job, FC_PHASE_SPLIT,
							alone ? 0 : target->shared->source.nchunks, &work);
	target->found = fc_chunks_resolve(&target->ctx);
	fc_lead_report(job, processes, target->found, target->data_size, fc_lead_split_choice(job));
	fc_lead_report_files(job);
}

/*
 * Reads the bounds and sets the interval of new partitions.  Workers read the
 * bounds themselves, and are told the interval with its time zone.
 */
static void
fc_find_route(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcRoute    *route;
	bool		hole;

	if (!target->plan->key.routes)
		return;
	target->route = route = fc_plan_route(target->plan, target->rel);
	/* an interval is only needed where a partition may be missing */
	hole = route->nranges != 1 || !route->ranges[0].lo_min || !route->ranges[0].hi_max;
	route->create = (target->plan->missing == FC_MISSING_CREATE);
	if (route->create && (hole || target->options->interval))
	{
		bool		partman = job->partman && job->partman->refusal == NULL;

		route->interval = partman ? fc_partman_interval(job->partman, route) :
			fc_interval_choose(route, target->options->interval);
		if (partman)
			route->partman = job->partman;
		if (route->interval.zone)
			strlcpy(target->shared->interval_zone,
					pg_get_timezone_name(route->interval.zone), TZ_STRLEN_MAX + 1);
	}
	target->shared->interval = route->interval;
}

/* Chooses between spilling rows and offsets; returns the choice and why */
static char *
fc_find_choose_spill(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFacts    *facts = &target->facts;
	const char *reason = "as fast_copy.spill says";
	FcSampled	sampled = {.rows = fc_spill_kind != FC_SPILL_OFFSETS};

	fc_spill_publish_bounds(&target->ctx, NULL, 0);
	facts->rows = facts->presorted = false;
	facts->spill = "partitions are found by key";
	fc_way_decide(job);
	if (!target->course.samples)
		return "offsets spilled, to find partitions";
	if (fc_plan_merges(target->plan) && fc_target_grows(target))
		reason = "existing rows are merged";
	else if (!fc_target_grows(target))
		reason = fc_sample_spill(&target->ctx, target->route, target->nworkers, &sampled);
	else if (fc_spill_kind == FC_SPILL_AUTO)
		reason = fc_sample_spill_unseen(target->shared, &sampled.rows);
	job->progress.foreseen = sampled.missing;
	sampled.rows = sampled.rows || fc_plan_merges(target->plan);
	/* line ends in quotes make guesses where records begin go wrong */
	if (sampled.embedded && target->shared->source.unsplit == FC_UNSPLIT_GUESS)
	{
		fc_find_split(job);
		fc_lead_begin(job, FC_PHASE_SCAN);
	}
	facts->rows = sampled.rows;
	facts->spill = reason;
	fc_way_decide(job);
	return psprintf("%s spilled: %s", sampled.rows ? "rows" : "offsets", reason);
}

void
fc_find_forget(FcJob *job)
{
	FcShared   *shared = job->target.shared;

	SharedFileSetDeleteAll(&shared->fileset);
	job->target.ctx.kept = NULL;
	if (job->target.ctx.keep)
		MemoryContextReset(job->target.ctx.keep);
	fc_counts_begin(shared, FC_NCOUNTS_FORGOTTEN);
	pg_atomic_write_u64(&shared->errors.offset, PG_UINT64_MAX);
	pg_atomic_write_u32(&shared->errors.stopped, 0);
	pg_atomic_write_u32(&shared->mistaken, 0);
	job->target.ctx.stopped = false;
	/* errors/reject_file.c goes by the phase, and the next may be the load */
	shared->phase = FC_PHASE_LOAD;
}

void
fc_find_forget_rows(FcJob *job)
{
	FcSharedErrors *errors = &job->target.shared->errors;
	uint64		bad = pg_atomic_read_u64(&errors->offset);
	uint32		stopped = pg_atomic_read_u32(&errors->stopped);

	fc_find_forget(job);
	/* the load must end with it, or with an earlier one */
	if (bad == PG_UINT64_MAX || errors->first.kind == FC_ERROR_LIMIT)
		return;
	pg_atomic_write_u64(&errors->offset, bad);
	pg_atomic_write_u32(&errors->stopped, stopped);
}

/*
 * Finds out whether the file looks presorted, and if so sets job->parts for a
 * load in its order.  Leaves target->route alone: fc_tables_bounds_changed()
 * compares it with the bounds under the locks.
 */
static void
fc_find_presorted(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (!target->course.looks || OidIsValid(target->route->default_oid))
		return;
	job->keys = MemoryContextAllocHuge(CurrentMemoryContext,
									   sizeof(int64) * (target->shared->source.nchunks + 1));
	target->facts.presorted = fc_presorted_look(&target->ctx, job->keys) && fc_tasks_span_parts(job);
	fc_way_decide(job);
}

bool
fc_find_look(FcJob *job)
{
	fc_find_route(job);
	fc_find_presorted(job);
	if (job->target.shared->source.unsplit == FC_UNSPLIT_GUESS && job->target.course.way == FC_WAY_PRESORTED)
	{
		/* workers' slices depend on the first key of each chunk */
		fc_find_split(job);
		fc_find_presorted(job);
	}
	/* an estimate, by which the partitions of a presorted file get storage */
	if (job->target.shared->source.unsplit != FC_UNSPLIT_NOT)
		job->target.found = job->target.data_size / FC_RECORD_GUESS;
	return true;
}

void
fc_find_keys(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	char	   *choice;

	fc_lead_begin(job, FC_PHASE_SCAN);
	fc_find_route(job);
	choice = fc_find_choose_spill(job);
	if (fc_plan_moves(target->plan))
		return;
	if (target->shared->source.unsplit == FC_UNSPLIT_GUESS)
		fc_chunks_forget(target->shared);
	target->shared->nscanners = fc_lead_run(job, FC_PHASE_SCAN, target->shared->source.nchunks, &work);
	target->facts.guessed_wrong = target->shared->source.unsplit == FC_UNSPLIT_GUESS;
	if (target->facts.guessed_wrong)
	{
		fc_find_forget(job);
		fc_layout_chunks(job);
		return;
	}
	fc_lead_report(job, target->shared->nscanners,
				   pg_atomic_read_u64(&target->shared->counts.scanned),
				   pg_atomic_read_u64(&target->shared->counts.spilled),
				   choice);
	fc_tasks_find_parts(job);
	job->progress.foreseen = 0;
}

void
fc_find_unpack(FcJob *job)
{
	FcWork		work = {0};
	int			nworkers = job->target.nworkers;
	FcShared   *shared = job->target.shared;

	/* no process reads beside it: all goes into the copy */
	shared->at[FC_TAIL_RING] = shared->source.places = 0;
	job->target.source->ring = NULL;
	/* what cannot be loaded by workers can be unpacked by them */
	job->target.nworkers = fc_intake_unpackers(&job->intake);
	(void) fc_lead_run(job, FC_PHASE_UNPACK, shared->source.nchunks, &work);
	job->target.nworkers = nworkers;
}
