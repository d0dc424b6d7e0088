/*-------------------------------------------------------------------------
 *
 * partition/partman_inherit.c
 *	  What pg_partman gives its partitions.
 *
 *		new table ──prepare──► (rows) ──► attach ──finish──► its partition
 *
 * pg_partman's own functions hand down what the template, the parent and its
 * privileges have.  Only the constraint of an epoch set, a table whose key
 * counts time, is written by fast_copy.
 *
 * Everything is done in the caller's transaction, which undoes it on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_constraint.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "compat/compat.h"
#include "index/progress_slot.h"
#include "partition/ddl.h"
#include "partition/partman.h"

void
fc_partman_prepare(const FcPartman *partman, Oid nspid, const char *name)
{
	Node	   *schema = fc_partman_argument(get_namespace_name(nspid));
	Node	   *child = fc_partman_argument(name);
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	if (OidIsValid(partman->functions[FC_PARTMAN_PARENT]))
		fc_partman_call(partman, FC_PARTMAN_PARENT,
						list_make3(schema, fc_partman_argument(partman->name), child));
	if (partman->template)
		fc_partman_call(partman, FC_PARTMAN_TEMPLATE,
						list_make3(fc_partman_argument(partman->table), schema, child));
	fc_progress_slot_restore(&slot);
}

/* Marks a constraint in the catalog as one that all rows fulfil */
static void
fc_partman_vouch(Oid partition, const char *name)
{
	Relation	rel = table_open(ConstraintRelationId, RowExclusiveLock);
	Oid			constraint = get_relation_constraint_oid(partition, name, false);
	HeapTuple	tuple = SearchSysCacheCopy1(CONSTROID, ObjectIdGetDatum(constraint));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", constraint);
	((Form_pg_constraint) GETSTRUCT(tuple))->convalidated = true;
	CatalogTupleUpdate(rel, &tuple->t_self, tuple);
	heap_freetuple(tuple);
	table_close(rel, RowExclusiveLock);
	CacheInvalidateRelcacheByRelid(partition);
	CommandCounterIncrement();
}

/*
 * Gives a partition of an epoch set the constraint that says its bounds in
 * times.  It says no more than the bounds do, but before 1970 divisions round
 * up, and rows near a bound may have to be refused.  The time is written as
 * pg_partman writes it.
 */
static void
fc_partman_add_check(const FcPartman *partman, const FcNewPartition *part,
					 const char *table)
{
	char	   *name = psprintf("%s_partition_check", fc_partition_name_now(part));
	bool		implied = partman->epoch == 1 || part->range.lo >= 0;
	const char *control = quote_identifier(partman->control);
	char	   *time = partman->epoch == 1 ? psprintf("to_timestamp(%s)", control) :
		psprintf("to_timestamp((%s/" INT64_FORMAT ")::float)", control, partman->epoch);
	int64		lo;
	int64		hi;
	int			level;

	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	if (part->range.hi_max ||
		!fc_epoch_to_time(partman->epoch, part->range.lo, &lo) ||
		!fc_epoch_to_time(partman->epoch, part->range.hi, &hi))
		return;
	level = fc_ddl_begin();
	fc_ddl_run(psprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s >= %s AND %s < %s)%s",
						table, quote_identifier(name),
						time, quote_literal_cstr(fc_key_text(FC_KEY_TIMESTAMPTZ, lo)),
						time, quote_literal_cstr(fc_key_text(FC_KEY_TIMESTAMPTZ, hi)),
						implied ? " NOT VALID" : ""));
	fc_ddl_end(level, false);
	if (implied)
		fc_partman_vouch(part->range.partition, name);
}

static void
fc_partman_finish_one(const FcPartman *partman, const char *nspname,
					  const FcNewPartition *part)
{
	Node	   *schema = fc_partman_argument(nspname);
	Node	   *parent = fc_partman_argument(partman->name);
	char	   *name = fc_partition_name_now(part);
	Node	   *child = fc_partman_argument(name);

	if (partman->epoch)
		fc_partman_add_check(partman, part,
							 quote_qualified_identifier(nspname, name));
	if (partman->privileges)
		fc_partman_call(partman, FC_PARTMAN_PRIVILEGES,
						list_make4(schema, parent, schema, child));
	if (OidIsValid(partman->functions[FC_PARTMAN_REPLICA_IDENTITY]))
		fc_partman_call(partman, FC_PARTMAN_REPLICA_IDENTITY,
						list_make3(schema, parent, child));
	if (partman->publications)
		fc_partman_call(partman, FC_PARTMAN_PUBLICATIONS,
						list_make3(fc_partman_argument(partman->table), schema, child));
}

void
fc_partman_finish(const FcRoute *route, Oid nspid,
				  const FcNewPartition *parts, int nparts)
{
	const FcPartman *partman = route->partman;
	char	   *nspname = get_namespace_name(nspid);
	MemoryContext each;
	MemoryContext old;

	if (partman == NULL)
		return;
	each = AllocSetContextCreate(CurrentMemoryContext, "fast_copy pg_partman",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(each);
	for (int i = 0; i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_partman_finish_one(partman, nspname, &parts[i]);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	CommandCounterIncrement();
}
