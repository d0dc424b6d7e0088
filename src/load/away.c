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

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "elsewhere/elsewhere.h"
#include "load/steps.h"

void
fc_away_check_options(const FcOptions *options)
{
	if (options->nodes != NIL)
		fc_elsewhere_need("nodes")->check_options(options);
	else if (pg_strcasecmp(options->words.remote_commit, "auto") != 0)
		fc_elsewhere_need("remote_commit")->check_options(options);
}

void
fc_away_take_places(FcJob *job)
{
	if (job->target.options->nodes != NIL)
		job->places = fc_elsewhere_get()->places(&job->target, job->partman != NULL);
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

/* What the leaves of the target are */
typedef struct FcAwayLeaves
{
	bool		any;			/* one is on another server */
	bool		all;			/* so are all */
	const char *refusal;		/* of one of them, or NULL */
} FcAwayLeaves;

/*
 * Looks at all leaves.  Releases its locks on them: see
 * fc_plan_partitions_fire in options/plan_way.c.
 */
static FcAwayLeaves
fc_away_leaves(FcJob *job)
{
	const FcTarget *target = &job->target;
	FcAwayLeaves leaves = {.all = true};
	List	   *tables = list_make1_oid(target->oid);

	if (target->plan->partitioned)
		tables = find_all_inheritors(target->oid, NoLock, NULL);
	foreach_oid(oid, tables)
	{
		char		relkind = get_rel_relkind(oid);
		Relation	leaf;

		CHECK_FOR_INTERRUPTS();
		if (relkind == RELKIND_PARTITIONED_TABLE)
			continue;
		leaves.all = leaves.all && relkind == RELKIND_FOREIGN_TABLE;
		if (relkind != RELKIND_FOREIGN_TABLE)
			continue;
		leaves.any = true;
		leaf = oid == target->oid ? target->rel : table_open(oid, AccessShareLock);
		if (leaves.refusal == NULL)
			leaves.refusal = fc_away_refusal(job, leaf);
		if (leaf != target->rel)
			table_close(leaf, AccessShareLock);
	}
	leaves.all = leaves.all && leaves.any;
	return leaves;
}

void
fc_away_foresee(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcFacts    *facts = &target->facts;
	FcAwayLeaves leaves;

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
	leaves = fc_away_leaves(job);
	facts->foreign = leaves.any;
	facts->all_foreign = leaves.all && leaves.refusal == NULL;
	facts->refusal = target->plan->partitioned ? NULL : leaves.refusal;
}

/* Tables that may get rows, but could lose them without the ledger's row */
typedef struct FcAwayLosses
{
	bool		foreign;		/* other servers commit them */
	Oid			unlogged;		/* a crash empties it; or InvalidOid */
} FcAwayLosses;

static FcAwayLosses
fc_away_losses(const FcTarget *target)
{
	FcAwayLosses losses = {target->kept || target->options->nodes != NIL};
	List	   *tables = target->plan->partitioned ?
		find_all_inheritors(target->oid, NoLock, NULL) : list_make1_oid(target->oid);

	foreach_oid(table, tables)
	{
		if (get_rel_relkind(table) == RELKIND_FOREIGN_TABLE)
			losses.foreign = true;
		if (get_rel_persistence(table) == RELPERSISTENCE_UNLOGGED)
			losses.unlogged = table;
	}
	return losses;
}

void
fc_away_check_ledger(const FcJob *job)
{
	const FcTarget *target = &job->target;
	FcAwayLosses losses;

	if (!OidIsValid(target->options->ledger))
		return;
	losses = fc_away_losses(target);
	if (OidIsValid(losses.unlogged))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a ledger cannot be used for unlogged table \"%s\"", get_rel_name(losses.unlogged)),
				 errdetail("A crash empties it, and the ledger would have its files as loaded."),
				 errhint("ALTER TABLE ... SET LOGGED, or load without a ledger.")));
	if (!losses.foreign || pg_strcasecmp(target->options->words.remote_commit, "two_phase") == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a ledger cannot be used for table \"%s\", which has rows on other servers",
					target->relname),
			 errdetail("These may commit their rows when the row of the ledger is not."),
			 errhint("Add remote_commit%s 'two_phase', which needs the extension fast_copy_cluster.",
					 fc_caller_arrow(target->options->caller))));
}

bool
fc_away_confirm(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcAwayLeaves leaves;

	if (target->kept)
	{
		target->kept = fc_keeper_check_still(target->oid);
		return true;
	}
	if (target->plan->partitioned)
		(void) find_all_inheritors(target->oid, RowExclusiveLock, NULL);
	AcceptInvalidationMessages();
	leaves = fc_away_leaves(job);
	target->facts.attached = !leaves.all || leaves.refusal;
	target->facts.refusal = target->plan->partitioned ? NULL : leaves.refusal;
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
	if (pg_strcasecmp(target->options->words.remote_commit, "auto") != 0)
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
