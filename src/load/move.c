/*-------------------------------------------------------------------------
 *
 * load/move.c
 *	  Rows that go to new partitions: out of the default partition, or out of
 *	  partitions that are cut anew.
 *
 *	 leaves, locked against DDL ──► their rows, in cells (phase/existing.c)
 *		──► new partitions, filled and indexed as in any load
 *		──► the last lock: rows that came meanwhile ──► the default partition
 *			gets a file with the rows that stay; other leaves are detached
 *		──► the new partitions are attached
 *
 * It is a merge without a file (load/merge.c), whose rows go to other tables.
 * Others read the leaves until the last lock, and insert into them; if they
 * change rows that were read, the move fails.  New rows are frozen, because the
 * old ones go with their files: a transaction with an older snapshot finds each
 * of them once.  Only if a range of the default partition is drained are its
 * rows deleted one by one, and then the new ones are as new as they are.
 *
 * Between the last look at the leaves and the exchange of files no code of
 * users runs.  What event triggers do when a leaf is detached is looked for
 * again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/evtcache.h"
#include "utils/rls.h"

#include "load/steps.h"

/* ERROR if the caller does not own the table, or if its triggers would fire */
static void
fc_move_check(const FcTarget *target, Relation rel)
{
	const Trigger *trigger = fc_exchange_fires(rel, target->plan->move);

	if (!fc_owns_relation(RelationGetRelid(rel), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
	if (trigger && !trigger->tgisinternal)
		fc_plan_refuse_move(rel, psprintf("Its trigger \"%s\" would not see them move.", trigger->tgname), NULL);
	if (trigger && OidIsValid(trigger->tgconstrrelid))
		fc_plan_refuse_move(rel, psprintf("Rows of table \"%s\" refer to it by foreign key \"%s\".",
										  get_rel_name(trigger->tgconstrrelid), get_constraint_name(trigger->tgconstraint)),
							target->plan->move == FC_MOVE_SOME ? "Leave replace_from and replace_to out: the rows that others refer to are then not deleted." : NULL);
}

/*
 * ERROR 2BP01 if something would go with a partition that is dropped, and does
 * not come back with the new ones.  What they inherit depends on the table's.
 */
static void
fc_move_check_dropped(Oid leaf)
{
	char	   *held = fc_ddl_of_catalogs(psprintf("SELECT pg_catalog.pg_describe_object(d.classid, d.objid, 0) FROM ("
												   "SELECT d.classid, d.objid FROM pg_catalog.pg_depend d"
												   " WHERE (d.refclassid, d.refobjid) IN (('pg_catalog.pg_class'::pg_catalog.regclass, %1$u), ('pg_catalog.pg_type'::pg_catalog.regclass, %2$u))"
												   " AND d.deptype IN ('a', 'n') AND d.classid <> 'pg_catalog.pg_attrdef'::pg_catalog.regclass"
												   " AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend p WHERE p.classid = d.classid AND p.objid = d.objid AND p.deptype = 'P')"
												   " AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND c.oid = d.objid AND c.coninhcount > 0)"
												   " UNION ALL SELECT 'pg_catalog.pg_subscription'::pg_catalog.regclass, srsubid FROM pg_catalog.pg_subscription_rel WHERE srrelid = %1$u"
												   ") AS d UNION ALL SELECT 'NOT NULL of column ' || a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_inherits i ON i.inhrelid = a.attrelid "
												   "JOIN pg_catalog.pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname WHERE a.attrelid = %1$u AND a.attnotnull AND NOT p.attnotnull "
												   "UNION ALL SELECT CASE WHEN relrowsecurity THEN 'its row security' ELSE 'its replica identity' END FROM pg_catalog.pg_class WHERE oid = %1$u AND (relrowsecurity OR relreplident <> 'd') LIMIT 1",
												   leaf, get_rel_type_id(leaf)));

	if (held)
		fc_throw(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST, errmsg("cannot drop partition \"%s\" because of %s", get_rel_name(leaf), held),
				 errdetail("It depends on the partition, and new partitions would not have it."),
				 errhint("Drop it, make it one of the partitioned table, or use old_partitions => 'detach'."));
}

/*
 * Refuses to move rows which may violate a constraint that is not valid: new
 * partitions would have it as a valid one
 */
static void
fc_move_check_valid(const FcTarget *target)
{
	char	   *name = fc_ddl_of_catalogs(psprintf("SELECT pg_catalog.quote_ident(conname) FROM pg_catalog.pg_constraint "
												   "WHERE conrelid = %u AND contype IN ('c', 'n') AND NOT convalidated LIMIT 1", target->oid));

	if (name)
		fc_plan_refuse_move(target->rel, psprintf("Constraint %s is not valid, and would be in new partitions.", name),
					   psprintf("Run ALTER TABLE %s VALIDATE CONSTRAINT %s.", fc_ddl_table(target->oid), name));
}

/* Adds a leaf, locked against DDL and VACUUM, or refuses it */
static void
fc_move_add(FcJob *job, Oid leaf)
{
	const char *why;
	Relation	rel;

	fc_lock_patiently(leaf, ShareUpdateExclusiveLock);
	rel = table_open(leaf, NoLock);
	fc_move_check(&job->target, rel);
	why = check_enable_rls(leaf, InvalidOid, true) == RLS_ENABLED ? "row security applies to the caller" :
		fc_replace_leaf_refusal(&job->target, rel, &job->target.plan->bounds);
	if (why)
		fc_plan_refuse_move(rel, psprintf("Its rows cannot be written anew: %s.", why), NULL);
	table_close(rel, NoLock);
	if (job->target.plan->move == FC_MOVE_DROP && leaf != job->target.route->default_oid)
		fc_move_check_dropped(leaf);
	job->moved = lappend_oid(job->moved, leaf);
	fc_hold_begin(job->hold, leaf, FC_HELD_PLACE);
}

/* Adds the partitions that are cut anew */
static void
fc_move_add_ranges(FcJob *job, const FcRoute *route)
{
	const FcRange *bounds = &job->target.plan->bounds;

	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *range = &route->ranges[i];
		bool		within = fc_range_within(range, bounds);
		Relation	rel;

		CHECK_FOR_INTERRUPTS();
		if (!within && ((!range->hi_max && range->hi <= bounds->lo) || (!range->lo_min && range->lo >= bounds->hi)))
			continue;
		if (within && !range->lo_min && !range->hi_max && !fc_key_is_infinite(route->type, range->lo))
		{
			fc_move_add(job, range->partition);
			continue;
		}
		rel = table_open(range->partition, AccessShareLock);
		if (within)
			fc_plan_refuse_move(rel, "It has no lower or no upper bound, and new partitions have both.",
								"Leave it out by replace_from and replace_to.");
		fc_plan_refuse_move(rel, psprintf("Only a part of its keys, %s, lies between replace_from and replace_to.",
										  fc_range_text(route->type, range)),
							"Begin and end the range where a partition begins and ends.");
	}
}

/* Does a row of a leaf leave it?  Sets *key */
static bool
fc_move_goes(const FcTarget *target, Relation rel, HeapTuple row, int64 *key)
{
	const FcPlanKey *plan = &target->plan->key;
	const char *name = NameStr(TupleDescAttr(RelationGetDescr(target->rel), plan->attnum - 1)->attname);
	bool		null;
	Datum		value = heap_getattr(row, get_attnum(RelationGetRelid(rel), name), RelationGetDescr(rel), &null);

	*key = null ? 0 : fc_key_from_datum(plan->type, value);
	return fc_plan_moves_key(target->plan, null, *key);
}

/* FcPick of rows that are deleted, where others stay */
static Oid
fc_move_pick_old(void *arg, Relation rel, HeapTuple row)
{
	int64		key;

	return fc_move_goes(arg, rel, row, &key) ? RelationGetRelid(rel) : InvalidOid;
}

/* The new partition that has the key of the row, or InvalidOid */
static Oid
fc_move_new(FcJob *job, Relation rel, HeapTuple row)
{
	const FcTarget *target = &job->target;
	const FcNewPartition *created = target->created;
	int64		key;
	int			at = 0;

	if (!fc_move_goes(target, rel, row, &key))
		return InvalidOid;
	fc_search(int, at, target->ncreated, mid, created[mid].range.lo <= key);
	return at > 0 && fc_range_has(&created[at - 1].range, key) ? created[at - 1].range.partition : InvalidOid;
}

/* FcPick of the job */
static Oid
fc_move_pick(void *arg, Relation rel, HeapTuple row)
{
	FcJob	   *job = arg;
	Oid			table = fc_move_new(job, rel, row);

	if (OidIsValid(table))
		job->moved_late++;
	else if (job->target.nsubstitutes > 0)
	{
		table = job->target.substitutes->table;
		job->target.substitutes->carried++;
		job->stayed++;
	}
	return table;
}

void
fc_move_begin(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcMove		move = target->plan->move;
	const char *why;

	if (job->partman && move >= FC_MOVE_DROP)
		fc_plan_refuse_move(target->rel, "pg_partman manages it, and would go on with partitions of the old width.", NULL);
	if (move >= FC_MOVE_DROP && target->options->interval == NULL)
		fc_option_error(errmsg("fast_copy_repartition() requires partition_interval"),
						errhint("Give the width of the new partitions, such as '1 month'."));
	target->route = fc_route_build(target->rel);
	fc_move_check(target, target->rel);
	why = fc_replace_job_refusal(job);
	if (why)
		fc_plan_refuse_move(target->rel, psprintf("Its rows cannot be written anew: %s.", why), NULL);
	fc_move_check_valid(target);
	if (OidIsValid(target->route->default_oid))
		fc_move_add(job, target->route->default_oid);
	if (move >= FC_MOVE_DROP)
		fc_move_add_ranges(job, target->route);
	job->pick = fc_move_pick;
	fc_replace_begin(job);
}

/*
 * A row of a new partition may not stay in the default partition: the range of
 * keys begins and ends with a partition.  If that has no upper bound, neither
 * has the range.
 */
static void
fc_move_widen(const FcTarget *target, FcRange *bounds)
{
	const FcKeyKind *kind = &fc_key_kinds[target->route->type];
	FcRange		first;
	FcRange		last;

	if (bounds->hi_max)
		return;
	/* of infinite keys no partition is made */
	bounds->lo = Max(bounds->lo, kind->first);
	if (bounds->lo < bounds->hi)
	{
		first = fc_route_find(target->route, bounds->lo);
		last = fc_route_find(target->route, Min(bounds->hi, kind->end) - 1);
		if (!OidIsValid(first.partition))
			bounds->lo = first.lo;
		if (!OidIsValid(last.partition))
		{
			bounds->hi = last.hi;
			bounds->hi_max = last.hi_max;
		}
	}
}

/* Sets which keys are moved, before rows are read */
static void
fc_move_bound(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcRange    *bounds = &target->planned->plan.bounds;
	FcRange		asked = *bounds;

	fc_move_widen(target, bounds);
	if (target->route->partman)
		fc_partman_narrow(target->route->partman, target->route, PG_INT64_MIN, bounds);
	target->shared->plan.bounds = *bounds;
	job->stays = "";
	if (bounds->lo <= asked.lo && bounds->hi >= asked.hi)
		return;
	job->stays = ", or lie beyond the retention of pg_partman or the partitions that it creates in advance";
	if (target->plan->move == FC_MOVE_SOME && target->options->log_verbosity != FC_LOG_SILENT)
		ereport(NOTICE, errmsg("only rows with keys %s are moved", fc_range_text(target->route->type, bounds)),
				errdetail("Others lie beyond the retention of pg_partman, or the partitions that it creates in advance."));
}

/* Leaves out rows from the key on that would need one partition too many */
static void
fc_move_limit(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcRange    *bounds = &target->planned->plan.bounds;

	if (target->ncreated <= fc_max_partitions)
		return;
	target->ncreated = fc_max_partitions;
	bounds->hi = target->created[fc_max_partitions].range.lo;
	bounds->hi_max = false;
	target->shared->plan.bounds = *bounds;
	job->stays = psprintf("%s, or need more partitions than fast_copy.max_partitions allows", job->stays);
	foreach_ptr(const FcSpillPart, part, target->plan->move == FC_MOVE_SOME ? job->parts : NIL)
	{
		if (fc_plan_moves_key(target->plan, part->null, part->min_key))
			continue;
		/* they are not written anew */
		pg_atomic_fetch_sub_u64(&target->shared->counts.existing, part->rows);
		job->stayed += part->rows;
	}
}

/* Parts in key order, that of NULL last; of equal ones that with rows first */
static int
fc_move_part_cmp(const ListCell *a, const ListCell *b)
{
	const FcSpillPart *pa = lfirst(a);
	const FcSpillPart *pb = lfirst(b);

	if (pa->null != pb->null)
		return pa->null ? 1 : -1;
	if (pa->range.lo != pb->range.lo)
		return pa->range.lo < pb->range.lo ? -1 : 1;
	return pa->rows > pb->rows ? -1 : pa->rows < pb->rows;
}

/*
 * Returns the parts with those in which no row is, but where a partition that
 * is cut anew would take rows
 */
static List *
fc_move_cover(const FcJob *job, List *parts)
{
	const FcRoute *all = fc_route_build(job->target.rel);
	const FcSpillPart *last = NULL;
	List	   *added = NIL;
	List	   *all_parts = NIL;
	int64		covered = PG_INT64_MIN;

	for (int i = 0; i < all->nranges; i++)
	{
		if (!list_member_oid(job->moved, all->ranges[i].partition))
			continue;
		for (int64 key = Max(all->ranges[i].lo, covered); key < all->ranges[i].hi; key = covered)
		{
			FcSpillPart *part = palloc0(sizeof(FcSpillPart));

			CHECK_FOR_INTERRUPTS();
			part->range = fc_route_find(job->target.route, key);
			part->min_key = part->max_key = key;
			covered = part->range.hi;
			added = lappend(added, part);
			/* too many, which is refused as soon as they are counted */
			if (list_length(added) > fc_max_partitions)
				covered = PG_INT64_MAX;
		}
	}
	parts = list_concat(parts, added);
	list_sort(parts, fc_move_part_cmp);
	foreach_ptr(FcSpillPart, part, parts)
	{
		if (last && !part->null && part->range.lo == last->range.lo)
			continue;
		all_parts = lappend(all_parts, part);
		last = part;
	}
	return all_parts;
}

/* Tells how many rows stay though no range says so */
static void
fc_move_tell(const FcJob *job, uint64 rows)
{
	const FcTarget *target = &job->target;

	if (rows > 0 && target->options->log_verbosity != FC_LOG_SILENT)
		ereport(NOTICE, errmsg("%s %s in default partition \"%s\"", fc_units_of(rows, "row"),
							   rows == 1 ? "stays" : "stay", get_rel_name(target->route->default_oid)),
				errdetail("Their keys are null or infinite%s, or they were inserted after it was found out which partitions are to be made.",
						  job->stays));
}

void
fc_move_read(FcJob *job)
{
	FcTarget   *target = &job->target;
	pg_atomic_uint64 *existing = &target->shared->counts.existing;

	fc_move_bound(job);
	fc_merge_read(job);
	if (target->plan->move >= FC_MOVE_DROP)
		fc_tasks_set_parts(job, fc_move_cover(job, job->parts));
	else
		fc_move_limit(job);
	if (target->ncreated > 0)
		return;
	/* all rows stay */
	fc_move_tell(job, pg_atomic_read_u64(existing) + job->stayed);
	fc_tasks_set_parts(job, NIL);
	pg_atomic_write_u64(existing, 0);
}

void
fc_move_delete(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		read = pg_atomic_read_u64(&target->shared->counts.existing);
	uint64		deleted;
	uint64		changed;
	Relation	rel;

	if (target->plan->move != FC_MOVE_SOME)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_REPLACE);
	rel = table_open(linitial_oid(job->moved), NoLock);
	deleted = fc_old_rows_delete(rel, job->since.snapshot, fc_move_pick_old, target, &changed);
	fc_replace_refuse_changed(job, rel, changed);
	table_close(rel, NoLock);
	if (deleted != read)
		elog(ERROR, "deleted " UINT64_FORMAT " rows of " UINT64_FORMAT " that are moved", deleted, read);
	CommandCounterIncrement();
	fc_lead_report(job, 0, deleted, -1, pstrdup("deleted, as others of the partition stay"));
}

/* Detaches the leaves that are cut anew, and drops them */
static void
fc_move_detach(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *old = list_delete_oid(list_copy(job->moved), target->route->default_oid);
	int			level;

	if (old == NIL)
		return;
	target->nreplaced = list_length(old);
	/* event triggers may write to new partitions, too */
	target->ctx.disturbed |= EventCacheLookup(EVT_DDLCommandStart) != NIL ||
		EventCacheLookup(EVT_DDLCommandEnd) != NIL || EventCacheLookup(EVT_SQLDrop) != NIL;
	fc_hold_end(job->hold, target->oid);
	fc_setup_close_target(job);
	level = fc_ddl_begin();
	foreach_oid(leaf, old)
	{
		CHECK_FOR_INTERRUPTS();
		fc_ddl_run(psprintf("ALTER TABLE %s DETACH PARTITION %s", fc_ddl_table(target->oid), fc_ddl_table(leaf)));
	}
	fc_setup_open_target(job);
	job->moved = old;
	if (fc_replace_carry_all(job) > 0)
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("rows were inserted into a partition of table \"%s\" while it was detached", target->relname),
				 errhint("Look for such a command in event triggers."));
	foreach_oid(leaf, target->plan->move == FC_MOVE_DROP ? old : NIL)
	{
		CHECK_FOR_INTERRUPTS();
		fc_ddl_run(psprintf("DROP TABLE %s", fc_ddl_table(leaf)));
	}
	fc_ddl_end(level, true);
}

void
fc_move_end(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcCounts   *counts = &target->shared->counts;
	uint64		moved = 0;

	for (int i = 0; i < job->ntasks; i++)
		if (!OidIsValid(job->tasks[i].replaces))
			moved += job->tasks[i].loaded;
	/* as a load of them would have it; those that stay are written again */
	fc_move_tell(job, pg_atomic_sub_fetch_u64(&counts->existing, moved) + job->stayed);
	target->loaded = target->found = moved + job->moved_late;
	fc_move_detach(job);
}
