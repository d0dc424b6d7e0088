/*-------------------------------------------------------------------------
 *
 * load/partitions.c
 *	  The partitions that are missing: made before the load, attached after it.
 *
 * They are attached last, when filled and indexed.  Some loads attach them
 * before (course.attaches), and then write to them as to partitions that were
 * there:
 *
 *		core's CopyFrom loads, or core routes (FcPlanKey.early)
 *		the table is published: rows written before ATTACH are not
 *		on_error skips equal rows: it takes indexes to find them
 *		pg_partman's functions must see partitions without rows
 *		by list, or of several levels, as core routes (FcPlan.sprouts)
 *
 * With foreign keys such loads go to core, because only core fires the
 * triggers of these partitions.  All DDL is in the caller's transaction, which
 * undoes it on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/inval.h"

#include "convert/pattern.h"
#include "load/steps.h"

/* Keys of our time, in seconds since 1970: from 1980 to 2100 */
#define FC_SANE_START	315532800.0
#define FC_SANE_END		4102444800.0

/*
 * Holds a new partition anew, as it is now: it was changed, and waits for
 * others to be attached
 */
static void
fc_partitions_hold(FcJob *job, int i)
{
	Oid			partition = job->target.created[i].range.partition;

	if (job->target.course.attaches || job->places)
		return;
	fc_hold_end(job->hold, partition);
	fc_hold_begin(job->hold, partition, FC_HELD_ROWS);
}

/*
 * Attaches the new partitions, with the parent closed, as core requires.
 * Returns why each of them took a command, or NULL if one command was enough.
 */
static const char *
fc_partitions_attach_all(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcAttach	attach;

	/* others wait behind the load, but never for long */
	if (OidIsValid(target->route->default_oid))
		fc_lock_patiently(target->route->default_oid, AccessExclusiveLock);
	fc_hold_end(job->hold, target->oid);
	fc_setup_close_target(job);
	fc_partition_attach_begin(&attach, target->oid, target->route, target->created,
							  target->ncreated, !target->ctx.disturbed, fc_plan_moves(target->plan));
	for (int i = 0; i < target->ncreated; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/*
		 * core does not check whether it is open; event triggers may run
		 * before
		 */
		fc_partition_attach(&attach, &target->created[i]);
		fc_partitions_hold(job, i);
		job->progress.steps_done = i + 1;
		fc_progress_update(&job->progress);
	}
	fc_partition_attach_end(&attach);
	CommandCounterIncrement();
	if (target->route->partman)
	{
		/* new partitions get what it would give them, by its own commands */
		fc_hold_check(job->hold);
		for (int i = 0; i < target->ncreated; i++)
			fc_hold_end(job->hold, target->created[i].range.partition);
		fc_partman_finish(target->route, get_rel_namespace(target->oid),
						  target->created, target->ncreated);
		for (int i = 0; i < target->ncreated; i++)
			fc_partitions_hold(job, i);
	}
	fc_setup_open_target(job);
	return attach.reason;
}

/* A fault if more are needed than fast_copy.max_partitions allows */
static FcFault *
fc_partitions_too_many(FcJob *job)
{
	FcTarget   *target = &job->target;
	int			n = job->tree ? list_length(job->tree->sprouts) : target->ncreated;

	if (n <= fc_max_partitions)
		return NULL;
	return fc_fault("max_partitions", ERRCODE_PROGRAM_LIMIT_EXCEEDED,
							psprintf("cannot create more than %d partition%s", fc_max_partitions, fc_max_partitions == 1 ? "" : "s"),
							job->tree ? psprintf("The rows need more new partitions of table \"%s\", with those below them; the first is %s.",
												 target->relname, fc_sprout_bound(linitial(job->tree->sprouts))) :
							psprintf("The rows need %s new partitions of table \"%s\", from values %s to %s.",
									 fc_units_count(n), target->relname,
									 fc_key_text(target->route->type, target->created[0].range.lo),
									 fc_key_text(target->route->type, target->created[n - 1].range.lo)),
							psprintf("Look for wrong keys in the %s, %sor increase fast_copy.max_partitions.",
									 fc_plan_moves(target->plan) ? "table, or move them in parts by replace_from and replace_to" : "file",
									 job->tree ? "" : "use a longer partition_interval, "));
}

/* Does the table have partitions, all of them foreign tables? */
static bool
fc_partitions_is_remote(const FcRoute *route)
{
	for (int i = 0; i < route->nranges; i++)
		if (get_rel_relkind(route->ranges[i].partition) != RELKIND_FOREIGN_TABLE)
			return false;
	if (OidIsValid(route->default_oid))
		return get_rel_relkind(route->default_oid) == RELKIND_FOREIGN_TABLE;
	return route->nranges > 0;
}

/* A fault if all partitions are on other servers, and new ones would be here */
static FcFault *
fc_partitions_misplaced(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (job->places || !fc_partitions_is_remote(target->route))
		return NULL;
	return fc_fault("foreign partitions", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							psprintf("cannot create partitions of table \"%s\", whose partitions are all foreign tables",
									 target->relname),
							psprintf("The rows need %s new partitions, from values %s to %s, which would lie on this server.",
									 fc_units_count(target->ncreated),
									 fc_key_text(target->route->type, target->created[0].range.lo),
									 fc_key_text(target->route->type, target->created[target->ncreated - 1].range.lo)),
							pstrdup("Name servers for them with the option nodes, or create them there, and here as foreign tables, or set missing_partitions to \"error\" or \"default\"."));
}

/*
 * A fault if a partition that is pending DETACH overlaps a new one: it gets no
 * rows, but ATTACH would fail because of it
 */
static FcFault *
fc_partitions_detaching(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcNewPartition *part;
	Oid			other;

	/* those that it is made in place of go */
	if (target->plan->move >= FC_MOVE_DROP)
		return NULL;
	part = fc_partition_overlap(target->rel, target->created, target->ncreated, &other);
	if (part == NULL)
		return NULL;
	return fc_fault("pending detach", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							psprintf("cannot create a partition of table \"%s\" in place of one that is pending detach",
									 target->relname),
							psprintf("The rows need a new partition from value %s, which partition \"%s\" would overlap.",
									 fc_key_text(target->route->type, part->range.lo), get_rel_name(other)),
							psprintf("Wait until its DETACH is over. If that was interrupted, finish it with ALTER TABLE %s DETACH PARTITION %s FINALIZE.",
									 fc_ddl_name(RelationGetNamespace(target->rel), target->relname), fc_ddl_table(other)));
}

/* A fault if the existing partitions do not tell how wide new ones should be */
static FcFault *
fc_partitions_unsure(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcRoute *route = target->route;
	int			i = 0;

	if (!OidIsValid(route->interval.unsure))
		return NULL;
	while (i < route->nranges - 1 && route->ranges[i].partition != route->interval.unsure)
		i++;
	return fc_fault("partition_interval", ERRCODE_INVALID_PARAMETER_VALUE,
							psprintf("could not tell how wide new partitions of table \"%s\" should be", target->relname),
							psprintf("Partition \"%s\", for values %s, seems to be of days or months, but not of those of a time zone that is known here.",
									 get_rel_name(route->interval.unsure), fc_range_text(route->type, &route->ranges[i])),
							pstrdup("Set timezone to the zone that the partitions were created in, or give a width as partition_interval, such as '1 month'."));
}

/* A key as seconds since 1970 */
static double
fc_partitions_seconds(FcKeyType type, int64 key)
{
	const int64 epoch = UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE;

	return type == FC_KEY_DATE ? (double) (key - epoch) * SECS_PER_DAY :
		(double) key / USECS_PER_SEC - (double) epoch * SECS_PER_DAY;
}

FcFault *
fc_partitions_far(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcEpoch *epoch = NULL;	/* the unit that the key is counted in */
	const char *pattern = target->ncreated == 0 ? NULL : target->planned->columns.patterns[target->plan->key.field];
	int64		last;
	double		low;
	double		high;

	for (int i = 0; pattern && i < FC_EPOCHS; i++)
		if (pg_strcasecmp(pattern, fc_epochs[i].pattern) == 0)
			epoch = &fc_epochs[i];
	if (epoch == NULL)
		return NULL;
	last = target->created[target->ncreated - 1].range.lo;
	low = fc_partitions_seconds(target->route->type, target->created[0].range.lo) * epoch->units;
	high = fc_partitions_seconds(target->route->type, last) * epoch->units;
	for (int i = 0; i < FC_EPOCHS; i++)
	{
		int64		units = fc_epochs[i].units;

		if (high / epoch->units < FC_SANE_END || low / units < FC_SANE_START || high / units >= FC_SANE_END)
			continue;
		return fc_fault("timestamp_format", ERRCODE_WARNING,
						psprintf("new partitions of table \"%s\" reach up to value %s", target->relname,
								 fc_key_text(target->route->type, last)),
						psprintf("The keys were read as %s since 1970.", epoch->word),
						psprintf("If they are %s, roll back, and use the pattern %s in timestamp_format.",
								 fc_epochs[i].word, fc_epochs[i].pattern));
	}
	return NULL;
}

List *
fc_partitions_faults(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFault    *(*const simple[]) (FcJob *job) = {fc_partitions_detaching, fc_partitions_too_many,
	fc_partitions_misplaced, fc_partitions_unsure};
	List	   *faults = NIL;
	const FcRange *lowest = NULL;
	int64		high = PG_INT64_MIN;

	for (int i = 0; i < lengthof(simple) && target->ncreated > 0; i++)
		faults = fc_faults_add(faults, simple[i] (job));
	if (job->partman == NULL || !fc_shared_key_routes(target->shared))
		return faults;
	foreach_ptr(FcSpillPart, part, job->parts)
	{
		if (part->null)
			continue;
		if (lowest == NULL || part->range.lo < lowest->lo)
			lowest = &part->range;
		high = Max(high, part->max_key);
	}
	if (target->course.way == FC_WAY_PRESORTED)
		high = job->keys[target->shared->source.nchunks];
	return list_concat(faults,
					   fc_partman_faults(job->partman, target->route, lowest, high,
										 target->created, target->ncreated,
										 fc_plan_moves(target->plan) ? "replace_from and replace_to" : "where_clause"));
}

FcFault *
fc_partitions_too_small(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		bytes = target->shared->source.data_size;
	int			n = target->ncreated;
	FcFit		fit;

	/* partitions that are there give the width */
	if (target->route == NULL || target->route->nranges > 0 || target->route->partman || fc_plan_moves(target->plan) ||
		!fc_fit_is_small(n, bytes))
		return NULL;
	/* a few keys that are far off do not count */
	fit = fc_fit_width(target->route->type, target->created[n / 100].range.lo,
					   target->created[n - 1 - n / 100].range.lo, bytes);
	if (fit.partitions > n / 2)
		return NULL;
	return fc_fault("partition_interval", ERRCODE_WARNING,
					psprintf("%s new partitions of table \"%s\" get %s of the source each",
							 fc_units_count(n), target->relname, fc_units_bytes((double) bytes / n)),
					pstrdup("Each has files of its own, which checkpoints and backups go through, and later loads create partitions of the same width."),
					psprintf("Load with partition_interval%s '%s', to have about %.0f instead.",
							 fc_caller_arrow(target->options->caller), fit.interval, ceil(fit.partitions)));
}

/* Says for the report how partitions were made */
static char *
fc_partitions_choice(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcInterval *interval = &target->route->interval;
	bool		zoned = interval->zone && (interval->epoch || target->route->type == FC_KEY_TIMESTAMPTZ);

	return psprintf("%d created%s%s%s", target->ncreated,
					job->places ? " on other servers" : target->route->partman ? " for pg_partman" : "",
					zoned ? psprintf(", in time zone %s", pg_get_timezone_name(interval->zone)) : "",
					target->course.attaches ? ", attached before the load" : "");
}

/* Body of fc_lead_apart: lets core say whether it can attach such a table */
static void
fc_partitions_try_one(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcAttach	attach;

	fc_partition_attach_begin(&attach, target->oid, target->route, target->created, 1, false, false);
	fc_partition_attach(&attach, &target->created[0]);
	fc_partition_attach_end(&attach);
}

/*
 * ERROR before the first row is sent if rows cannot be sent to the new foreign
 * tables, or if these cannot be attached
 */
static void
fc_partitions_try(FcJob *job)
{
	FcTarget   *target = &job->target;
	Relation	rel = table_open(target->created[0].range.partition, NoLock);
	const char *refusal = target->course.core ? target->course.reason : fc_away_refusal(job, rel);

	table_close(rel, NoLock);
	if (refusal)
		fc_unsupported(errmsg("cannot create partitions of table \"%s\" on other servers", target->relname),
					   errdetail("Rows would be loaded one by one, as COPY does: %s.", refusal),
					   errhint("Change that, or create the partitions before the load."));
	fc_setup_close_target(job);
	fc_lead_apart(job, fc_partitions_try_one);
	fc_setup_open_target(job);
	target->facts.sends = target->facts.foreign = true;
}

/*
 * Refuses unique indexes that a template or an event trigger gave new
 * partitions
 */
static void
fc_partitions_check_unique(FcJob *job)
{
	FcTarget   *target = &job->target;

	for (int i = 0; i < target->ncreated; i++)
	{
		Relation	rel = table_open(target->created[i].range.partition, NoLock);

		CHECK_FOR_INTERRUPTS();
		fc_plan_check_unique(target->rel, rel, target->options, target->planned);
		table_close(rel, NoLock);
	}
}

void
fc_partitions_check_room(const FcJob *job, int n)
{
	fc_tables_check_locks(job, n, 1, "create",
						  "Use a longer partition_interval, or increase max_locks_per_transaction.");
}

void
fc_partitions_make(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFault    *fault;

	fc_tables_check(job);
	foreach_ptr(FcFault, one, fc_partitions_faults(job))
		fc_fault_report(ERROR, one);
	if (target->ncreated == 0)
		return;
	target->facts.made = true;
	fc_way_begin(job);
	fc_partitions_check_room(job, target->ncreated);
	fc_fault_report(WARNING, fc_partitions_far(job));
	fc_partition_precheck(target->rel, target->route, target->created, target->ncreated,
						  fc_plan_moves(target->plan));
	fault = fc_partitions_too_small(job);
	if (!job->warned && target->options->log_verbosity != FC_LOG_SILENT)
		fc_fault_report(WARNING, fault);
	job->warned = job->warned || fault != NULL;
	if (job->places)
		fc_elsewhere_get()->place(target->rel, target->route, job->places, target->created, target->ncreated);
	fc_partition_create(&target->ctx, target->route, target->created, target->ncreated);
	CommandCounterIncrement();
	if (job->places)
		fc_partitions_try(job);
	job->progress.early = target->course.attaches || job->places;
	if (target->course.attaches)
		(void) fc_partitions_attach_all(job);
	fc_partitions_check_unique(job);
	fc_lead_report(job, 0, -1, -1, fc_partitions_choice(job));
}

bool
fc_partitions_keep_default(const FcTarget *target)
{
	return target->plan->missing == FC_MISSING_ERROR && fc_plan_has_default(target->oid);
}

void
fc_partitions_refuse_default(const FcTarget *target, const char *why)
{
	fc_unsupported(errmsg("missing_partitions \"error\" cannot be used for table \"%s\" here", target->relname),
				   errdetail("It has a default partition. %s", why),
				   errhint("Use missing_partitions%s 'default', and leave out rows for the default partition by a condition.",
						   fc_caller_arrow(target->options->caller)));
}

/* Drops new partitions without rows: none came, or all were left out */
static void
fc_partitions_drop_empty(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcLeafRows *leaves;
	int			kept = 0;

	/* their rows wait in the stage */
	if (target->planned->staged)
		return;
	if (pg_atomic_read_u64(&target->shared->counts.rejected) == 0 &&
		pg_atomic_read_u64(&target->shared->counts.filtered) == 0 && target->course.way != FC_WAY_PRESORTED)
		return;
	leaves = fc_tasks_leaf_rows(job);
	for (int i = 0; i < target->ncreated; i++)
	{
		FcNewPartition *new = &target->created[i];

		CHECK_FOR_INTERRUPTS();
		if (fc_tasks_rows_of(job, leaves, new->range.partition) > 0)
		{
			target->created[kept++] = *new;
			continue;
		}
		fc_hold_end(job->hold, new->range.partition);
		fc_partition_drop(new->range.partition);
	}
	pfree(leaves);
	target->ncreated = kept;
	CommandCounterIncrement();
}

void
fc_partitions_attach(FcJob *job)
{
	FcTarget   *target = &job->target;
	const char *reason;

	if (target->ncreated == 0 || target->course.attaches)
		return;
	fc_partitions_drop_empty(job);
	if (target->ncreated == 0)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_ATTACH);
	fc_hold_check(job->hold);
	reason = fc_partitions_attach_all(job);
	fc_lead_report(job, 0, -1, -1, reason == NULL || target->ncreated == 1 ?
				   psprintf("%d attached", target->ncreated) :
				   psprintf("%d attached one by one: %s", target->ncreated, reason));
}

/* The tree as it is now, with what the pass over the files has found missing */
static FcTree *
fc_partitions_tree(FcJob *job)
{
	FcTree	   *tree;

	AcceptInvalidationMessages();
	tree = fc_tree_begin(job->target.rel);
	fc_scan_noted(&job->target.ctx, job->target.shared->nscanners, tree);
	fc_tree_end(tree);
	return tree;
}

void
fc_partitions_look(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	FcWork		work = {0};
	int			nworkers = target->nworkers;

	fc_lead_begin(job, FC_PHASE_SCAN);
	/* workers do not know all zones that the leader may have taken */
	if (fc_partitions_tree(job)->zoned)
		target->nworkers = 0;
	shared->finds = true;
	shared->nscanners = fc_lead_run(job, FC_PHASE_SCAN, shared->source.nchunks, &work);
	shared->finds = false;
	target->nworkers = nworkers;
	fc_lead_report(job, shared->nscanners, pg_atomic_read_u64(&shared->counts.scanned), -1,
				   pstrdup("nothing spilled, to find partitions"));
	job->tree = fc_partitions_tree(job);
}

/* The tables that get partitions, and with "like" those that these are like */
static List *
fc_partitions_parents(const FcTree *tree, bool like)
{
	List	   *parents = NIL;

	foreach_ptr(const FcSprout, sprout, tree->sprouts)
		if (like || sprout->above->sprout == NULL)
			parents = list_append_unique_oid(parents, sprout->above->oid);
	return parents;
}

void
fc_partitions_check_tree(FcJob *job)
{
	int			n = list_length(job->tree->sprouts);
	List	   *changed = fc_partitions_parents(job->tree, false);

	foreach_oid(oid, fc_partitions_parents(job->tree, true))
	{
		Relation	rel = table_open(oid, AccessShareLock);

		fc_partman_forbid(rel);
		if (list_member_oid(changed, oid))
		{
			fc_partition_check_owner(rel, get_default_partition_oid(oid), n,
									 fc_sprout_bound(linitial(job->tree->sprouts)));
			fc_partition_check_schema(rel, NULL);
		}
		/* another session may want it before this one is given the target */
		table_close(rel, AccessShareLock);
	}
	fc_fault_report(ERROR, fc_partitions_too_many(job));
	fc_partitions_check_room(job, n);
}

/*
 * Locks these tables, each before those below it.  Loads into one tree wait for
 * each other at its root.
 */
static List *
fc_partitions_lock(FcJob *job)
{
	List	   *parents = fc_partitions_parents(job->tree, true);
	List	   *all = parents == NIL ? NIL : find_all_inheritors(job->target.oid, NoLock, NULL);
	List	   *locked = list_difference_oid(all, list_difference_oid(list_delete_first(list_copy(all)), parents));

	foreach_oid(oid, locked)
	{
		fc_lock_patiently(oid, ShareUpdateExclusiveLock);
		fc_ddl_keep_schema(get_rel_namespace(oid));
	}
	return locked;
}

bool
fc_partitions_grow(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *before = find_all_inheritors(target->oid, NoLock, NULL);
	List	   *locked;
	bool		again;
	int			n;

	fc_partitions_look(job);
	fc_progress_phase(&job->progress, FC_PHASE_PARTITIONS);
	fc_partitions_check_tree(job);
	locked = fc_partitions_lock(job);
	if (locked == NIL)
		return true;
	job->tree = fc_partitions_tree(job);
	/* what has come may take only some of the rows of a new one */
	again = !equal(before, find_all_inheritors(target->oid, NoLock, NULL)) ||
		list_difference_oid(fc_partitions_parents(job->tree, true), locked) != NIL;
	n = list_length(job->tree->sprouts);
	if (again || n == 0)
		return !again;
	fc_setup_close_target(job);
	fc_sprouts_make(job->tree->sprouts);
	fc_setup_open_target(job);
	target->nsprouts += n;
	fc_lead_report(job, 0, -1, -1, psprintf("%d created, attached before the load", n));
	return true;
}
