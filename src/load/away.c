/*-------------------------------------------------------------------------
 *
 * load/away.c
 *	  Which rows go to other servers, before any row does.
 *
 * The extension fast_copy_cluster sends them (elsewhere/elsewhere.h).  This
 * file only sets facts of the load.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/inval.h"

#include "load/steps.h"

void
fc_away_check_options(const FcOptions *options)
{
	if (options->nodes != NIL)
		fc_elsewhere_need("nodes")->check_options(options);
	else if (pg_strcasecmp(options->remote_commit_word, "auto") != 0)
		fc_elsewhere_need("remote_commit")->check_options(options);
}

const char *
fc_away_refusal(FcJob *job, Relation foreign)
{
	const FcTarget *target = &job->target;
	const char *base = RelationGetRelid(foreign) == target->oid ?
		"the target is a foreign table" : "a partition is a foreign table";
	const FcElsewhere *elsewhere;
	const char *why;

	if (fc_caller_routes_as_core(target->options->caller))
		return base;
	/* core checks its bounds */
	if (target->rel->rd_rel->relispartition)
		why = "the target is a partition";
	else if ((elsewhere = fc_elsewhere(&why)) != NULL)
		why = elsewhere->leaf_refusal(target, foreign);
	else
		return job->lacks_elsewhere = psprintf("%s: %s", base, why);
	return why ? psprintf("%s: %s", base, why) : NULL;
}

/*
 * Looks at all leaves, and sets facts.  Are all of them on other servers, and
 * take records as they are?  Releases its locks on them: see
 * fc_plan_partitions_fire in options/plan_way.c.
 */
static bool
fc_away_look(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *tables = list_make1_oid(target->oid);
	const char *refusal = NULL;
	bool		here = false;
	bool		any = false;

	if (target->plan->partitioned)
		tables = find_all_inheritors(target->oid, NoLock, NULL);
	foreach_oid(oid, tables)
	{
		char		relkind = get_rel_relkind(oid);
		Relation	leaf;

		CHECK_FOR_INTERRUPTS();
		if (relkind == RELKIND_PARTITIONED_TABLE)
			continue;
		here = here || relkind != RELKIND_FOREIGN_TABLE;
		if (relkind != RELKIND_FOREIGN_TABLE)
			continue;
		any = true;
		leaf = oid == target->oid ? target->rel : table_open(oid, AccessShareLock);
		if (refusal == NULL)
			refusal = fc_away_refusal(job, leaf);
		if (leaf != target->rel)
			table_close(leaf, AccessShareLock);
	}
	target->facts.refusal = target->plan->partitioned ? NULL : refusal;
	target->facts.foreign = target->facts.foreign || any;
	return any && !here && refusal == NULL;
}

void
fc_away_foresee(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->kept)
	{
		/* nothing but a pass that sends them gets rows there */
		const char *why = fc_elsewhere_get()->kept_refusal(target);

		if (why)
			fc_keeper_refuse(target->oid, why);
		return;
	}
	if (fc_caller_routes_as_core(target->options->caller) || target->planned->core_reason ||
		!(target->plan->partitioned || target->rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE))
		return;
	target->facts.all_foreign = fc_away_look(job);
}

void
fc_away_check_ledger(const FcJob *job)
{
	const FcTarget *target = &job->target;
	bool		foreign = target->kept || target->options->nodes != NIL;
	List	   *tables = list_make1_oid(target->oid);
	Oid			unlogged = InvalidOid;

	if (!OidIsValid(target->options->ledger))
		return;
	if (target->plan->partitioned)
		tables = find_all_inheritors(target->oid, NoLock, NULL);
	foreach_oid(table, tables)
	{
		foreign = foreign || get_rel_relkind(table) == RELKIND_FOREIGN_TABLE;
		if (get_rel_persistence(table) == RELPERSISTENCE_UNLOGGED)
			unlogged = table;
	}
	if (OidIsValid(unlogged))
		fc_unsupported(errmsg("a ledger cannot be used for unlogged table \"%s\"", get_rel_name(unlogged)),
					   errdetail("A crash empties it, and the ledger would have its files as loaded."),
					   errhint("ALTER TABLE ... SET LOGGED, or load without a ledger."));
	if (!foreign || pg_strcasecmp(target->options->remote_commit_word, "two_phase") == 0)
		return;
	fc_unsupported(errmsg("a ledger cannot be used for table \"%s\", which has rows on other servers",
						  target->relname),
				   errdetail("These may commit their rows when the row of the ledger is not."),
				   errhint("Add remote_commit%s 'two_phase', which needs the extension fast_copy_cluster.",
						   fc_caller_arrow(target->options->caller)));
}

bool
fc_away_confirm(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->kept)
	{
		target->kept = fc_keeper_check_still(target->oid);
		return true;
	}
	if (target->plan->partitioned)
		(void) find_all_inheritors(target->oid, RowExclusiveLock, NULL);
	AcceptInvalidationMessages();
	target->facts.attached = !fc_away_look(job);
	return !target->facts.attached;
}

void
fc_away_check_here(const FcTarget *target)
{
	if (target->kept)
		elog(ERROR, "the rows of table \"%s\" are kept elsewhere, and would be loaded here", target->relname);
}

void
fc_away_check_core(FcJob *job)
{
	const FcTarget *target = &job->target;

	fc_away_check_here(target);
	if (pg_strcasecmp(target->options->remote_commit_word, "auto") != 0)
		fc_elsewhere_get()->check_core(target);
}

/*
 * What was sent to other servers is seen there once it is committed.  ANALYZE
 * of the target asks for rows of all its partitions, and fails where one is not
 * seen at all.
 */
bool
fc_away_is_unseen(FcJob *job, Oid table)
{
	if (table == job->target.oid && job->target.plan->partitioned)
		return fc_elsewhere_get() && fc_elsewhere_get()->has_made();
	return job->target.facts.foreign && get_rel_relkind(table) == RELKIND_FOREIGN_TABLE;
}
