/*-------------------------------------------------------------------------
 *
 * context/activity.c
 *	  What pg_stat_activity says of a worker.
 *
 * Core shows a worker without a command.  Its query is shown to those who may
 * see the leader's, and goes with the worker.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/backend_status.h"

#include "context/process.h"

const char *
fc_activity_phase_name(FcPhase phase)
{
	static const char *const names[FC_NPHASES] = {
		"setup", "split", "scan", "partitions", "load", "index", "attach",
		"copy", "reject", "check", "analyze", "unpack", "receive", "replace", "references",
		"total"
	};

	Assert(phase >= FC_PHASE_SETUP && phase < FC_NPHASES);
	return names[phase];
}

/* The table's name, qualified and quoted; for a partition only quoted */
static const char *
fc_activity_name(Oid relid, bool qualified)
{
	char	   *name = get_rel_name(relid);
	char	   *schema = qualified ? get_namespace_name(get_rel_namespace(relid)) : NULL;

	return name ? quote_qualified_identifier(schema, name) : "?";
}

void
fc_activity_show(const FcContext *ctx, Oid partition)
{
	Oid			target = ctx->shared->target;
	bool		one = OidIsValid(partition) && partition != target;
	MemoryContext mcxt;
	MemoryContext old;

	if (!ctx->in_worker || !pgstat_track_activities)
		return;
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy activity",
								 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	pgstat_report_activity(STATE_RUNNING,
						   psprintf("fast_copy: %s of %s%s%s", fc_activity_phase_name(ctx->shared->phase),
									fc_activity_name(target, true),
									one ? ", partition " : "", one ? fc_activity_name(partition, false) : ""));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}
