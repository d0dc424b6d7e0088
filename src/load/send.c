/*-------------------------------------------------------------------------
 *
 * load/send.c
 *	  Records of leaves on other servers: the leader's conduct.
 *
 *	 all leaves are there ──► the leader alone sends the whole file
 *	 some are			  ──► the leader sends, beside workers that load
 *
 * What was sent is in transactions of the other servers, which end with the
 * caller's (remote/), and so does the abort after an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "context/pace.h"
#include "copyfrom/run.h"
#include "errors/first_error.h"
#include "errors/stop.h"
#include "load/find.h"
#include "load/lead.h"
#include "load/raw.h"
#include "load/send.h"
#include "load/tables.h"
#include "load/way.h"
#include "phase/send.h"
#include "remote/remote.h"
#include "report/progress.h"
#include "report/report.h"

/* The options of COPY, by which the other servers read what they get */
static char *
fc_send_with(const FcTarget *target)
{
	const FcDialect *dialect = &target->dialect;
	StringInfoData with;

	initStringInfo(&with);
	appendStringInfo(&with, "FORMAT %s, DELIMITER %s, NULL %s, ENCODING %s",
					 dialect->mode == FC_MODE_CSV ? "csv" : "text",
					 quote_literal_cstr(psprintf("%c", dialect->delim)),
					 quote_literal_cstr(target->options->format.null_print),
					 quote_literal_cstr(GetDatabaseEncodingName()));
	if (dialect->mode == FC_MODE_CSV)
		appendStringInfo(&with, ", QUOTE %s, ESCAPE %s",
						 quote_literal_cstr(psprintf("%c", dialect->quote)),
						 quote_literal_cstr(psprintf("%c", dialect->escape)));
	return with.data;
}

/*
 * What the other servers' fast_copy is told besides: rows without a partition
 * there are treated as those without one here
 */
static char *
fc_send_fast(const FcTarget *target)
{
	return psprintf("fast_copy, missing_partitions %s",
					quote_literal_cstr(target->options->words.missing_partitions));
}

/* The leaves that have rows */
static List *
fc_send_leaves(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *leaves = fc_tables_existing(job);

	for (int i = 0; i < target->ncreated && job->nodes; i++)
		leaves = lappend_oid(leaves, target->created[i].range.partition);
	return leaves;
}

static void
fc_send_plan(FcJob *job, FcSendPlan *plan)
{
	const FcTarget *target = &job->target;

	fc_remote_commit_by(target->options->remote_commit);
	plan->userid = GetUserId();
	plan->attnums = target->plan->columns.attnums;
	plan->options.copy = fc_send_with(target);
	plan->options.fast = fc_send_fast(target);
	plan->shards = target->shards;
	plan->whole = target->way == FC_WAY_SEND;
	plan->makes = plan->whole && target->shards == NULL && target->plan->key_routes &&
		target->options->missing == FC_MISSING_CREATE;
	if (!plan->whole && target->plan->key_routes)
		plan->leaves = fc_send_leaves(job);
	if (job->nodes)
	{
		plan->created = target->created;
		plan->ncreated = target->ncreated;
	}
}

void
fc_send_start(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcSendPlan	plan = {0};

	fc_send_plan(job, &plan);
	target->shared->sends = target->plan->routed;
	job->sender = fc_send_begin(&target->ctx, &plan);
	fc_send_open(job->sender);
	target->ctx.lead = fc_send_step;
	target->ctx.lead_arg = job->sender;
}

void
fc_send_stop(FcJob *job)
{
	job->target.ctx.lead = NULL;
	(void) fc_send_finish(job->sender);
	if (job->nodes && pg_atomic_read_u64(&job->target.shared->errors.offset) == PG_UINT64_MAX)
		fc_remote_build_indexes();
}

/* One row of the report for each leaf that rows were sent to */
static void
fc_send_report(FcJob *job)
{
	for (int i = 0; i < fc_send_count(job->sender); i++)
	{
		FcSent		sent = fc_send_sent(job->sender, i);
		FcReportRow row = {0};

		if (sent.rows == 0)
			continue;
		row.phase = FC_PHASE_LOAD;
		row.partition = sent.leaf;
		row.name = sent.shard ? fc_shard_relname(sent.leaf, sent.shard) : get_rel_name(sent.leaf);
		row.key = PG_INT64_MAX;
		row.rows = sent.rows;
		row.bytes = sent.bytes;
		row.reads = -1;
		row.seconds = sent.seconds;
		row.choice = psprintf("sent to server \"%s\"%s%s", fc_remote_server(sent.leaf, sent.shard),
							  sent.fast ? " and its fast_copy" : "",
							  sent.created ? ", new" : "");
		fc_report_add(&row);
	}
}

void
fc_send_end_job(FcJob *job)
{
	fc_send_report(job);
	fc_send_end(job->sender);
	job->sender = NULL;
}

/* The argument of fc_send_apart */
typedef struct FcSendTry
{
	FcJob	   *job;
	bool		sent;
} FcSendTry;

/*
 * Body of fc_error_apart: sends in the leader, with a resource owner for what
 * errors leave open.  False, so that no server keeps what it was sent, if a
 * partition is missing.
 */
static bool
fc_send_apart(void *arg)
{
	FcSendTry  *attempt = arg;
	FcContext  *ctx = &attempt->job->target.ctx;
	struct ResourceOwnerData *outer = fc_error_owner_begin();

	attempt->sent = fc_send_finish(attempt->job->sender);
	fc_pace_wait(ctx);
	fc_error_owner_end(ctx, outer);
	return attempt->sent;
}

/* Sends all; false if a partition is missing */
static bool
fc_send_run(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcSendTry	attempt = {job, false};
	FcSendPlan	plan = {0};

	fc_send_plan(job, &plan);
	target->shared->phase = FC_PHASE_LOAD;
	job->sender = fc_send_begin(&target->ctx, &plan);
	fc_error_apart(&target->ctx, fc_send_apart, &attempt);
	return attempt.sent;
}

bool
fc_send_whole(FcJob *job)
{
	FcTarget   *target = &job->target;
	bool		sent;

	if (!fc_raw_confirm(job))
		return false;
	fc_progress_phase(&job->progress, FC_PHASE_LOAD);
	sent = fc_send_run(job);
	if (sent && pg_atomic_read_u64(&target->shared->errors.offset) != PG_UINT64_MAX)
		fc_core_throw(target);
	if (sent)
	{
		target->loaded = fc_send_rows(job->sender);
		fc_find_report_pass(job);
		fc_lead_report(job, 1, target->loaded,
					   pg_atomic_read_u64(&target->shared->counts.load_bytes), fc_way_choice(job));
		fc_send_report(job);
	}
	fc_send_end(job->sender);
	job->sender = NULL;
	return sent;
}
