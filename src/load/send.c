/*-------------------------------------------------------------------------
 *
 * load/send.c
 *	  Records of leaves on other servers: the leader's conduct.
 *
 *	 all leaves are there ──► the leader alone sends the whole file
 *	 some are             ──► the leader sends, beside workers that load
 *
 * What was sent is in transactions of the other servers, which end with the
 * caller's, on error too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"

static FcElsewhereLoad
fc_send_load(FcJob *job)
{
	const FcTarget *target = &job->target;
	FcElsewhereLoad load = {.whole = target->course.sends_all};
	List	   *leaves;

	load.makes = load.whole && target->kept == NULL && target->plan->key.routes &&
		target->plan->missing == FC_MISSING_CREATE;
	if (job->places)
	{
		load.created = target->created;
		load.ncreated = target->ncreated;
	}
	if (load.whole || !target->plan->key.routes)
		return load;
	/* those that have rows */
	leaves = fc_tables_existing(job);
	for (int i = 0; i < load.ncreated; i++)
		leaves = lappend_oid(leaves, target->created[i].range.partition);
	load.leaves = leaves;
	return load;
}

void
fc_send_start(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcElsewhere *elsewhere = fc_elsewhere_get();
	FcElsewhereLoad load = fc_send_load(job);

	/* with such a key core loads what goes to other servers */
	Assert(!target->plan->key.early);
	if (fc_shared_routed(target->shared) && fc_partitions_keep_default(target))
		fc_partitions_refuse_default(target, "Rows are sent to other servers by their bounds.");
	target->shared->sends = fc_shared_routed(target->shared);
	job->sender = elsewhere->begin(target, &load);
	elsewhere->open(job->sender);
	target->ctx.lead = elsewhere->step;
	target->ctx.lead_arg = job->sender;
}

void
fc_send_stop(FcJob *job)
{
	job->target.ctx.lead = NULL;
	(void) fc_elsewhere_get()->finish(job->sender);
	if (job->places && pg_atomic_read_u64(&job->target.shared->errors.offset) == PG_UINT64_MAX)
		fc_elsewhere_get()->complete();
}

uint64
fc_send_job_rows(const FcJob *job)
{
	return fc_elsewhere_get()->rows(job->sender);
}

void
fc_send_end_job(FcJob *job)
{
	const FcElsewhere *elsewhere = fc_elsewhere_get();

	/* a row of the report for each leaf */
	for (int i = 0; i < elsewhere->nleaves(job->sender); i++)
	{
		FcElsewhereSent sent = elsewhere->sent(job->sender, i);
		FcReportRow row = {
			.phase = FC_PHASE_LOAD, .name = sent.name,
			.key = PG_INT64_MAX, .rows = sent.rows, .bytes = sent.bytes, .reads = -1,
			.seconds = sent.seconds, .choice = sent.choice
		};

		if (sent.rows > 0)
			fc_report_add(&row);
	}
	elsewhere->end(job->sender);
	job->sender = NULL;
}

/*
 * Body of fc_error_apart: sends in the leader, with a resource owner for what
 * errors leave open.  False if a partition is missing: all servers roll back
 * what they were sent.
 */
static bool
fc_send_apart(void *arg)
{
	FcJob	   *job = arg;
	FcContext  *ctx = &job->target.ctx;
	struct ResourceOwnerData *outer = fc_error_owner_begin();

	job->sent = fc_elsewhere_get()->finish(job->sender);
	fc_pace_wait(ctx);
	fc_error_owner_end(ctx, outer);
	return job->sent;
}

bool
fc_send_whole(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcElsewhereLoad load;

	if (!fc_away_confirm(job))
		return false;
	fc_progress_phase(&job->progress, FC_PHASE_LOAD);
	load = fc_send_load(job);
	target->shared->phase = FC_PHASE_LOAD;
	job->sender = fc_elsewhere_get()->begin(target, &load);
	job->sent = false;
	fc_error_apart(&target->ctx, fc_send_apart, job);
	if (!job->sent)
	{
		fc_elsewhere_get()->end(job->sender);
		job->sender = NULL;
		return false;
	}
	if (pg_atomic_read_u64(&target->shared->errors.offset) != PG_UINT64_MAX)
		fc_core_throw(target);
	target->loaded = fc_send_job_rows(job);
	target->found = pg_atomic_read_u64(&target->shared->counts.scanned);
	fc_lead_report_files(job);
	fc_lead_report(job, 1, target->loaded,
				   pg_atomic_read_u64(&target->shared->counts.load_bytes), fc_way_choice(target));
	fc_send_end_job(job);
	return true;
}
