/*-------------------------------------------------------------------------
 *
 * load/way.c
 *	  The course of a load: its facts, and how it is told.
 *
 *	 plan, options, source ──► facts ──► fc_course() ──► target.course
 *
 * Only this file sets the course.  Code that finds out more later, about the
 * order of the file, the spill and the leaves, sets a fact.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"
#include "sort/order_by.h"

static void
fc_way_of_plan(const FcTarget *target, FcFacts *facts)
{
	const FcPlan *plan = target->plan;

	facts->early = plan->key.early;
	facts->partitioned = plan->partitioned;
	facts->writes = fc_caller_writes(plan->caller);
	facts->creates = plan->missing == FC_MISSING_CREATE;
	facts->frozen = plan->freeze;
	facts->replaces = fc_plan_replaces(plan);
	facts->bounded = !plan->bounds.hi_max;
	facts->whole_keys = fc_plan_keeps_keys_whole(plan);
	facts->sorts = plan->order.nkeys > 0;
	facts->effects = plan->effects;
	facts->tolerates = plan->tolerated != 0;
	facts->skips_empty = plan->skips_empty || plan->comment != '\0';
	facts->numbered = fc_plan_counts(plan);
	facts->foreign_keys = plan->foreign_keys;
	facts->filtered = target->planned->where != NIL || target->planned->mark != NIL;
	facts->compares = target->planned->keys != NIL;
	facts->core = target->planned->core_reason;
	facts->leader = target->planned->leader_reason;
}

void
fc_way_begin(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFacts    *facts = &target->facts;

	fc_way_of_plan(target, facts);
	facts->visible = target->plan->key.routes && !fc_plan_moves(target->plan) &&
		(fc_plan_is_published(target->rel) || target->plan->key.early || (job->partman && job->partman->early) ||
		 ((target->options->tolerated & FC_CLASS_UNIQUE) && fc_plan_has_unique(target->rel)));
	facts->keeps_default = target->plan->key.routes && target->plan->missing == FC_MISSING_ERROR &&
		fc_plan_has_default(target->oid);
	facts->kept = target->kept ? fc_elsewhere_get()->kept_choice : NULL;
	facts->placed = job->places != NIL;
	facts->plain = target->rel->rd_rel->relkind == RELKIND_RELATION;
	facts->conflicts = target->options->conflict != FC_CONFLICT_ERROR;
	facts->rejects = target->options->on_error != FC_ON_ERROR_STOP;
	facts->look = fc_spill_kind == FC_SPILL_AUTO;
	facts->binary = target->dialect.mode == FC_MODE_BINARY;
	facts->several = target->source->nfiles > 1;
	facts->received = job->intake.incoming && !fc_receive_is_packed(job->intake.incoming);
	/* stays set: a source is made whole once */
	facts->heads = facts->heads || fc_target_grows(target);
	fc_way_decide(job);
}

void
fc_way_decide(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFacts    *facts = &target->facts;
	const FcPlan *plan = target->plan;

	Assert(!IsParallelWorker());
	facts->dropped = target->shared && target->shared->key_dropped;
	facts->keyed = plan->key.type != FC_KEY_NONE && !facts->dropped;
	facts->key_routes = plan->key.routes && !facts->dropped;
	facts->routed = plan->routed || facts->dropped;
	facts->grows = fc_target_grows(target);
	facts->cut = target->given_up != NULL;
	facts->sprouts = plan->sprouts && !facts->kept;
	facts->nworkers = target->nworkers;
	target->course = fc_course(facts);
}

char *
fc_way_of_leaf(const FcTarget *target, const FcTask *task)
{
	if (fc_shared_sorts_leaves(target->shared))
		return "sorted as a whole";
	return psprintf("%u %sslice%s", task->nslices, target->plan->order.nkeys > 0 ? "sorted " : "",
					task->nslices == 1 ? "" : "s");
}

/* Says how rows were sorted, and how many sorts did not fit into memory */
static char *
fc_way_of_sort(const FcTarget *target)
{
	FcShared   *shared = target->shared;
	uint64		on_disk = pg_atomic_read_u64(&shared->counts.disk_sorts);
	StringInfoData way;

	initStringInfo(&way);
	if (target->course.leader)
		appendStringInfo(&way, "in the leader: %s, ", target->course.leader);
	appendStringInfo(&way, "sorted by %s",
					 fc_sort_keys_text(target->rel, target->planned->order));
	if (target->course.alone)
		appendStringInfoString(&way, " by one process");
	if (on_disk > 0)
		appendStringInfo(&way, ", " UINT64_FORMAT " of " UINT64_FORMAT " sorts in temporary files of " UINT64_FORMAT " bytes",
						 on_disk, pg_atomic_read_u64(&shared->counts.sorts),
						 pg_atomic_read_u64(&shared->counts.sort_bytes));
	return way.data;
}

/* Says for the report in which order and by whom rows were loaded */
static char *
fc_way_of_load(const FcTarget *target)
{
	static char *const ways[] = {
		[FC_WAY_CHUNKS] = "chunk by chunk",
		[FC_WAY_TURNS] = "in file order",
		[FC_WAY_SEND] = "sent as they are",
		[FC_WAY_PRESORTED] = "streamed in key order",
		[FC_WAY_OFFSETS] = "in key order", [FC_WAY_ROWS] = "in key order",
		[FC_WAY_COPY] = "in key order"
	};

	if (target->plan->order.nkeys > 0)
		return fc_way_of_sort(target);
	if (target->course.leader && !target->course.sends_all)
		return psprintf("in the leader: %s", target->course.leader);
	return ways[target->course.way];
}

/* Says how many old rows were written again and how many were not, and why */
static char *
fc_way_of_merge(const FcTarget *target)
{
	FcCounts   *counts = &target->shared->counts;

	if (!fc_plan_merges(target->plan) || fc_plan_moves(target->plan))
		return "";
	return psprintf(", with %s that %s there; " UINT64_FORMAT " others updated%s, %s",
					fc_units_of(fc_shared_rewritten(target->shared), "row"),
					fc_shared_rewritten(target->shared) == 1 ? "was" : "were",
					pg_atomic_read_u64(&counts->updated),
					target->plan->dedup.marks ? psprintf(", " UINT64_FORMAT " deleted", pg_atomic_read_u64(&counts->deleted)) : "",
					fc_units_of(pg_atomic_read_u64(&counts->duplicates), "duplicate"));
}

char *
fc_way_choice(const FcTarget *target)
{
	uint64		loaded = pg_atomic_read_u64(&target->shared->counts.loaded);

	return psprintf("%s%s%s%s", fc_way_of_load(target), loaded > 0 ? ", " : "",
					loaded > 0 ? fc_log_writers(target, loaded) : "", fc_way_of_merge(target));
}
