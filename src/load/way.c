/*-------------------------------------------------------------------------
 *
 * load/way.c
 *	  Which way a load goes: it is taken here, and told to the report.
 *
 * The plan says whether core must load, and whether there is a key.  Later the
 * leader takes another way for a presorted file, for what is spilled and, once
 * leaves are locked, if core must load or chunks must insert in turn.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "nodes/pg_list.h"

#include "load/steps.h"
#include "sort/order_by.h"

void
fc_way_begin(FcTarget *target)
{

	if (target->plan->key.type != FC_KEY_NONE)
		fc_way_take(target, FC_WAY_OFFSETS, "there is a key");
	else if (fc_target_grows(target) && target->source->nfiles > 1 && target->planned->keys == NIL)
		fc_way_take(target, FC_WAY_CHUNKS, "there is no key, and several files are unpacked at once");
	else
		fc_way_take(target, FC_WAY_TURNS, "there is no key");
	/* what core would look after for a row is done where they are kept */
	if (target->planned->core_reason && target->kept == NULL)
		fc_way_to_core(target, target->planned->core_reason);
}

void
fc_way_take(FcTarget *target, FcWay way, const char *reason)
{
	Assert(!IsParallelWorker());
	if (target->way == FC_WAY_COPY)
		return;
	target->way = way;
	target->way_reason = reason;
}

FcWay
fc_way_of_phase(const FcTarget *target)
{
	return target->way == FC_WAY_ROWS && !fc_caller_writes(target->plan->caller) ?
		FC_WAY_OFFSETS : target->way;
}

void
fc_way_to_core(FcTarget *target, const char *reason)
{
	target->core_reason = reason;
	fc_way_take(target, FC_WAY_COPY, NULL);
}

bool
fc_way_sorts_alone(const FcTarget *target)
{
	return target->plan->order.nkeys > 0 &&
		(fc_shared_routed(target->shared) || !fc_shared_keyed(target->shared));
}

bool
fc_way_needs_attached(FcJob *job)
{
	FcTarget   *target = &job->target;

	return fc_plan_is_published(target->rel) || target->plan->key.early ||
		(job->partman && job->partman->early) ||
		((target->options->tolerated & FC_CLASS_UNIQUE) &&
		 fc_plan_has_unique(target->rel));
}

char *
fc_way_of_leaf(const FcTarget *target, const FcTask *task)
{
	if (fc_shared_sorts_leaves(target->shared))
		return "sorted as a whole";
	return psprintf("%u %sslices", task->nslices,
					target->plan->order.nkeys > 0 ? "sorted " : "");
}

/* Says which writers wrote the rows */
static const char *
fc_way_writers(const FcTarget *target)
{
	uint64		paged = pg_atomic_read_u64(&target->shared->counts.paged);
	uint64		loaded = pg_atomic_read_u64(&target->shared->counts.loaded);

	if (loaded == 0)
		return "";
	if (paged == 0)
		return ", multi_insert";
	return paged == loaded ? ", page" : ", page and multi_insert";
}

/* Says by what rows were sorted, and how many sorts had no room in memory */
static char *
fc_way_of_sort(const FcTarget *target)
{
	FcShared   *shared = target->shared;
	uint64		on_disk = pg_atomic_read_u64(&shared->counts.disk_sorts);
	StringInfoData way;

	initStringInfo(&way);
	if (target->planned->leader_reason)
		appendStringInfo(&way, "in the leader: %s, ", target->planned->leader_reason);
	appendStringInfo(&way, "sorted by %s",
					 fc_sort_keys_text(target->rel, target->planned->order));
	if (fc_way_sorts_alone(target))
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
	if (target->planned->leader_reason && target->way != FC_WAY_SEND)
		return psprintf("in the leader: %s", target->planned->leader_reason);
	return ways[target->way];
}

/* Says which rows were written that are not the file's, and which were not */
static char *
fc_way_of_merge(const FcTarget *target)
{
	const FcCounts *counts = &target->shared->counts;

	if (!fc_plan_merges(target->plan))
		return "";
	return psprintf(", with " UINT64_FORMAT " rows that were there; " UINT64_FORMAT " others updated, "
					UINT64_FORMAT " duplicates", fc_shared_rewritten(target->shared),
					pg_atomic_read_u64((pg_atomic_uint64 *) &counts->updated),
					pg_atomic_read_u64((pg_atomic_uint64 *) &counts->duplicates));
}

char *
fc_way_choice(const FcTarget *target)
{
	return psprintf("%s%s%s", fc_way_of_load(target), fc_way_writers(target), fc_way_of_merge(target));
}
