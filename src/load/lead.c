/*-------------------------------------------------------------------------
 *
 * load/lead.c
 *	  What the leader does for each phase: runs it in workers or alone, rolls
 *	  back what code of users did in it, and reports.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"

#include "load/steps.h"

/* Most files that get rows of their own in the report */
#define FC_REPORT_FILES		1000

void
fc_lead_report(FcJob *job, int processes, int64 rows, int64 bytes, char *choice)
{
	FcTarget   *target = &job->target;
	FcReportRow row = {
		.phase = job->progress.phase, .whole = true, .processes = processes,
		.alone = job->progress.alone, .rows = rows, .bytes = bytes, .reads = -1,
		.wal_bytes = pgWalUsage.wal_bytes - job->progress.phase_wal, .choice = choice,
		.seconds = fc_figures_since(job->progress.phase_start)
	};

	if (job->progress.phase != FC_PHASE_SCAN)
		row.spill_bytes = -1;
	else if (target->ctx.kept == NULL)
		row.spill_bytes = pg_atomic_read_u64(&target->shared->counts.spilled);
	if (job->progress.phase == FC_PHASE_LOAD || job->progress.phase == FC_PHASE_COPY)
		fc_log_count(target, &row);
	if (job->progress.phase == FC_PHASE_LOAD && !target->course.chunks)
	{
		row.reads = pg_atomic_read_u64(&target->shared->counts.reads);
		/* spilled rows are read through the server's temporary files */
		if (target->course.way != FC_WAY_ROWS)
			row.io_method = pstrdup(target->shared->io.uring ? "io_uring" : "sync");
	}
	if (choice)
		ereport(DEBUG1, errmsg_internal("fast_copy: %s", choice));
	fc_report_add(&row);
	job->progress.alone = 0;
}

char *
fc_lead_split_choice(const FcJob *job)
{
	const FcTarget *target = &job->target;
	char	   *chunks = fc_units_of(target->shared->source.nchunks, "chunk");

	if (target->source->nfiles == 1)
		return chunks;
	return psprintf("%s of %s", chunks, fc_units_of(target->source->nfiles, fc_source_word(target->source)));
}

void
fc_lead_report_files(FcJob *job)
{
	const FcSource *source = job->target.source;

	job->target.counted = true;
	if (source->nfiles == 1)
		return;
	for (uint32 i = 0; i < Min(source->nfiles, FC_REPORT_FILES); i++)
	{
		FcReportRow row = {
			.phase = FC_PHASE_SPLIT, .rows = fc_chunks_records(job->target.shared, source, i),
			.bytes = source->files[i].identity.size, .reads = -1,
			.choice = psprintf("%s \"%s\"", fc_source_word(source), fc_source_path(source, i))
		};

		fc_report_add(&row);
	}
}

/* Reports a split that took no time of its own, in the phase that has ended */
static void
fc_lead_report_split(FcJob *job)
{
	FcReportRow row = {
		.phase = FC_PHASE_SPLIT, .whole = true, .rows = job->target.found,
		.bytes = job->target.data_size, .reads = -1, .spill_bytes = -1,
		.choice = fc_lead_split_choice(job)
	};

	fc_report_add(&row);
	fc_lead_report_files(job);
}

void
fc_lead_begin(FcJob *job, FcPhase phase)
{
	if (!fc_target_grows(&job->target))
		fc_progress_phase(&job->progress, phase);
}

/* Has the phase found where all records begin, without a split? */
static bool
fc_lead_found(FcTarget *target)
{
	FcShared   *shared = target->shared;

	if (shared->source.unsplit == FC_UNSPLIT_NOT || pg_atomic_read_u32(&shared->mistaken) != 0)
		return false;
	if (shared->source.unsplit == FC_UNSPLIT_FIND)
		target->found = pg_atomic_read_u64(&shared->counts.scanned);
	else if (pg_atomic_read_u64(&shared->errors.offset) != PG_UINT64_MAX ||
			 !fc_chunks_prove(&target->ctx, &target->found))
		return false;
	shared->source.unsplit = FC_UNSPLIT_NOT;
	return true;
}

int
fc_lead_run(FcJob *job, FcPhase phase, uint32 units, FcWork *work)
{
	FcTarget   *target = &job->target;
	bool		flows = fc_target_grows(target);
	bool		finds;
	int			processes;

	if (flows)
		fc_intake_flow(&job->intake);
	target->ctx.apart = phase != FC_PHASE_SPLIT && phase != FC_PHASE_UNPACK &&
		(target->plan->effects || target->course.leader != NULL);
	target->shared->course = target->course;
	/*
	 * The leader does one chunk or task as fast as a worker, and need not be
	 * started; but if one worker was asked for, that one works.
	 */
	processes = fc_worker_run(&target->ctx, target->opened.segment, phase,
							  units < 2 && target->nworkers > 1 ? 0 : Min(target->nworkers, units), work);
	/* the phase's own time begins when all data are there */
	if (flows)
		fc_intake_flowed(&job->intake);
	finds = (phase == FC_PHASE_LOAD || phase == FC_PHASE_SCAN) && fc_lead_found(target);
	if (flows || finds)
		fc_lead_report_split(job);
	job->progress.alone = work->alone;
	if (work->parallel)
		job->progress.launched = Max(job->progress.launched, processes);
	return processes;
}

void
fc_lead_unpack(FcJob *job)
{
	dsm_segment *segment = fc_layout_early(job->target.oid, job->intake.unpacked);
	FcWork		work = {0};
	FcContext	ctx;

	fc_worker_context_begin(&ctx, dsm_segment_address(segment));
	ctx.source = job->target.source;
	ctx.progress = fc_progress_update;
	ctx.progress_arg = &job->progress;
	(void) fc_worker_run(&ctx, segment, FC_PHASE_UNPACK, fc_intake_unpackers(&job->intake), &work);
	fc_worker_context_end(&ctx);
	dsm_detach(segment);
	fc_intake_end_unpack(&job->intake);
}

/* The arguments of fc_lead_undone */
typedef struct FcJobApart
{
	FcJob	   *job;
	void		(*phase) (FcJob *job);
} FcJobApart;

/* Body of fc_error_apart: returns false, to have all of it rolled back */
static bool
fc_lead_undone(void *arg)
{
	FcJobApart *apart = arg;

	apart->phase(apart->job);
	return false;
}

void
fc_lead_apart(FcJob *job, void (*phase) (FcJob *job))
{
	FcTarget   *target = &job->target;
	FcJobApart	apart = {job, phase};

	fc_error_apart(&target->ctx, fc_lead_undone, &apart);
	/* the phase may run again */
	target->ctx.stopped = false;
	pg_atomic_write_u32(&target->shared->errors.stopped, 0);
}

void
fc_lead_throw(void *target)
{
	fc_notices_throw(target);
	fc_core_throw(target);
}

void
fc_lead_take_up_tasks(FcJob *job)
{
	job->target.ctx.tasks = job->tasks;
	job->target.shared->ntasks = job->ntasks;
}
