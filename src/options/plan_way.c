/*-------------------------------------------------------------------------
 *
 * options/plan_way.c
 *	  Who loads: core's COPY, the leader alone, or workers.
 *
 *	 view, foreign table, triggers		──► core's CopyFrom in the leader
 *	 temporary table, parallel-unsafe	──► our phases in the leader
 *	 function, other access method
 *	 everything else					──► our phases in workers
 *
 * Nothing is changed here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "parser/parse_relation.h"
#include "utils/fmgroids.h"

#include "convert/convert.h"
#include "options/plan.h"
#include "sort/order_by.h"

const char *
fc_plan_leaf_reason(Relation leaf)
{
	if (leaf->rd_rel->relkind == RELKIND_RELATION &&
		leaf->rd_tableam != GetHeapamTableAmRoutine())
		return "the table is not a heap";
	if (fc_code_any_constraint(leaf, fc_code_unsafe, false))
		return "a constraint or generated column is not parallel safe";
	if (fc_code_any_index(leaf, fc_code_index_unsafe))
		return "an index expression is not parallel safe";
	return NULL;
}

bool
fc_plan_trigger_fires(const Trigger *trigger)
{
	if (!TRIGGER_FOR_INSERT(trigger->tgtype))
		return false;
	switch (trigger->tgenabled)
	{
		case TRIGGER_DISABLED:
			return false;
		case TRIGGER_FIRES_ON_ORIGIN:
			return SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA;
		case TRIGGER_FIRES_ON_REPLICA:
			return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
		default:
			return true;
	}
}

FcTriggers
fc_plan_triggers(Relation rel)
{
	FcTriggers	all = FC_TRIGGERS_NONE;

	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];
		FcTriggers	one = RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_FK ? FC_TRIGGERS_FOREIGN_KEYS :
			trigger->tgfoid == F_UNIQUE_KEY_RECHECK ? FC_TRIGGERS_DEFERRED : FC_TRIGGERS_ANY;

		if (fc_plan_trigger_fires(trigger))
			all = Max(all, one);
	}
	return all;
}

const char *
fc_plan_leaf_core_reason(Relation leaf, FcCaller caller)
{
	FcTriggers	triggers = fc_plan_triggers(leaf);
	static const char *const reasons[] = {
		[FC_TRIGGERS_NONE] = NULL,
		[FC_TRIGGERS_FOREIGN_KEYS] = "a partition has foreign keys",
		[FC_TRIGGERS_DEFERRED] = "a partition has a constraint that can be deferred",
		[FC_TRIGGERS_ANY] = "a partition has triggers"
	};

	if (leaf->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return "a partition is a foreign table";
	return triggers > fc_plan_triggers_taken(caller, leaf->rd_rel->relispartition) ? reasons[triggers] : NULL;
}

static bool
fc_plan_is_numbered(const FcPlanned *planned, AttrNumber attnum)
{
	foreach_ptr(FcNumber, number, planned->numbers)
		if (number->attnum == attnum)
			return true;
	return false;
}

/* Looks at the types of columns in the file and the defaults of all others */
static const char *
fc_plan_columns_reason(Relation rel, const FcOptions *options, const FcPlanned *planned)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		markers = options->default_string != NULL;

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		bool		in_file = list_member_int(planned->columns.attnums, attnum);

		if (att->attisdropped || att->attgenerated)
			continue;
		if ((markers || !in_file) && !fc_plan_is_numbered(planned, attnum) &&
			fc_code_unsafe(build_column_default(rel, attnum)))
			return "a column's default is not parallel safe";
		if (in_file && fc_code_type_any(att->atttypid, fc_code_is_unsafe,
										fc_format_is_binary(&options->format)))
			return "a column's type is not parallel safe";
		if (fc_code_unsafe(fc_columns_transform(&planned->columns, attnum)))
			return "a transform is not parallel safe";
	}
	return NULL;
}

/* Is a key not parallel safe, of the table or of a partition? */
static bool
fc_plan_keys_unsafe(Oid target)
{
	bool		unsafe = false;

	foreach_oid(oid, find_all_inheritors(target, NoLock, NULL))
	{
		HeapTuple	tuple = unsafe ? NULL : SearchSysCache1(PARTRELID, ObjectIdGetDatum(oid));
		bool		null;
		Datum		exprs;

		if (!HeapTupleIsValid(tuple))
			continue;
		exprs = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, &null);
		unsafe = !null && fc_code_unsafe(eval_const_expressions(NULL, stringToNode(TextDatumGetCString(exprs))));
		ReleaseSysCache(tuple);
	}
	return unsafe;
}

const char *
fc_plan_leader_reason(Relation rel, const FcOptions *options,
					  const FcPlanned *planned)
{
	const char *reason;

	if (RelationUsesLocalBuffers(rel))
		return "the table is temporary";
	if (IsCatalogRelation(rel))
		return "the table is a system catalog";
	if (IsolationIsSerializable())
		return "the transaction is serializable";
	if (planned->plan.routed && fc_plan_keys_unsafe(RelationGetRelid(rel)))
		return "the partition key is not parallel safe";
	if (fc_code_unsafe((Node *) planned->where))
		return "the condition is not parallel safe";
	if (fc_code_unsafe((Node *) planned->mark))
		return "delete_where is not parallel safe";
	foreach_ptr(FcSortKey, key, list_concat_copy(planned->order, planned->dedup))
		if (fc_code_type_any(attnumTypeId(rel, key->attnum), fc_code_is_unordered, false))
			return "the order of a column is not parallel safe";
	/* for a worker the client's encoding is the server's */
	if (fc_format_is_binary(&options->format) && !fc_convert_receives())
		return "binary texts are in the client's encoding, which is not the server's";
	reason = fc_plan_columns_reason(rel, options, planned);
	return reason ? reason : fc_plan_leaf_reason(rel);
}

/*
 * Does ATTACH, which checks foreign keys for the whole partition, do what COPY
 * does at the end of its statement?  Not if the session has one switched off,
 * if one may wait for commit, or if it may refer to rows of partitions that are
 * not attached yet.
 */
static bool
fc_plan_foreign_keys_plain(Relation rel)
{
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];

		if (TRIGGER_FOR_INSERT(trigger->tgtype) &&
			RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_FK &&
			(!fc_plan_trigger_fires(trigger) || trigger->tgdeferrable ||
			 trigger->tgconstrrelid == RelationGetRelid(rel)))
			return false;
	}
	return true;
}

/*
 * Has a partition triggers, or is one a foreign table, so that core may have
 * to load?  The locks on partitions are not kept: they would not keep triggers
 * away, but where there is a default partition they would keep other sessions
 * from attaching new ones.
 */
static bool
fc_plan_partitions_fire(Relation rel, FcCaller caller)
{
	bool		fires = false;

	foreach_oid(oid, find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL))
	{
		Relation	child = table_open(oid, NoLock);

		CHECK_FOR_INTERRUPTS();
		fires = fires || fc_plan_leaf_core_reason(child, caller) != NULL;
		/* the target's own lock is the caller's */
		table_close(child, RelationGetRelid(child) == RelationGetRelid(rel) ?
					NoLock : AccessShareLock);
	}
	return fires;
}

static bool
fc_plan_is_unique(Relation index)
{
	return index->rd_index->indisunique || index->rd_index->indisexclusion;
}

bool
fc_plan_has_unique(Relation rel)
{
	return fc_code_any_index(rel, fc_plan_is_unique);
}

bool
fc_plan_has_default(Oid target)
{
	foreach_oid(oid, find_all_inheritors(target, NoLock, NULL))
		if (get_rel_relkind(oid) == RELKIND_PARTITIONED_TABLE &&
			OidIsValid(get_default_partition_oid(oid)))
			return true;
	return false;
}

const char *
fc_plan_core_reason(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	FcTriggers	triggers = fc_plan_triggers(rel);

	/* load/send.c looks whether its rows can be sent as they are */
	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE && fc_caller_routes_as_core(options->caller))
		return "the target is a foreign table";
	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE && !planned->plan.partitioned)
		return "the target is a view";
	if (planned->plan.key.routes && !fc_plan_foreign_keys_plain(rel))
		return "the target has foreign keys that are deferrable, switched off or refer to itself";
	planned->plan.foreign_keys = triggers == FC_TRIGGERS_FOREIGN_KEYS;
	if (triggers > fc_plan_triggers_taken(options->caller, planned->plan.partitioned))
		return triggers == FC_TRIGGERS_FOREIGN_KEYS ? "the target has foreign keys" :
			triggers == FC_TRIGGERS_DEFERRED ? "the target has a constraint that can be deferred" : "the target has triggers";
	/* a volatile condition must run to tell which partitions get rows */
	if (planned->plan.partitioned && contain_volatile_functions((Node *) planned->where) &&
		fc_plan_partitions_fire(rel, options->caller))
		return "a partition has triggers, and the condition is volatile";
	return NULL;
}

/* Makes the refusals that COPY makes in CopyFrom */
void
fc_plan_check_relkind(Relation rel)
{
	char		relkind = rel->rd_rel->relkind;
	const char *name = RelationGetRelationName(rel);

	if (relkind == RELKIND_RELATION || relkind == RELKIND_FOREIGN_TABLE ||
		relkind == RELKIND_PARTITIONED_TABLE ||
		(rel->trigdesc && rel->trigdesc->trig_insert_instead_row))
		return;
	fc_throw(ERRCODE_WRONG_OBJECT_TYPE, relkind == RELKIND_VIEW ?
			 errmsg("cannot copy to view \"%s\"", name) :
			 relkind == RELKIND_MATVIEW ?
			 errmsg("cannot copy to materialized view \"%s\"", name) :
			 relkind == RELKIND_SEQUENCE ?
			 errmsg("cannot copy to sequence \"%s\"", name) :
			 errmsg("cannot copy to non-table relation \"%s\"", name),
			 relkind == RELKIND_VIEW ?
			 errhint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.") : 0);
}
