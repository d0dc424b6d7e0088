/*-------------------------------------------------------------------------
 *
 * partition/exchange.c
 *	  Gives a table the rows of another one, by an exchange of their files.
 *
 *	refusal		what could tell it from a DELETE and a COPY?
 *	make		a substitute: an empty table like it (fc_table_create_like)
 *	(rows and indexes, elsewhere)
 *	lock		all tables, or none (fc_lock_all)
 *	files		change hands in pg_class; a TOAST table does as a whole
 *	end			the substitute is dropped, with the old files
 *
 * The substitute has the names of the table and its indexes, because errors
 * about its rows show them: so it is in a schema of its own, which no other
 * session ever sees, and in which only superusers can name it.  The caller
 * holds table and substitute until the files change hands: code of users
 * cannot change one of them alone.  An abort takes back all of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupconvert.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_trigger.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "storage/predicate.h"

#include "heap/hold.h"
#include "index/index.h"
#include "options/plan.h"
#include "partition/partition.h"

/* Beginning of the name of a substitute's schema */
#define FC_EXCHANGE_SCHEMA	"fast_copy exchange "

const Trigger *
fc_exchange_fires(Relation rel, FcMove move)
{
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];
		int			of_key = RI_FKey_trigger_type(trigger->tgfoid);

		/*
		 * A row that moves refers to what it did, and is found as it was, but
		 * not by a key that looks for it in this partition alone
		 */
		if (move != FC_MOVE_NOTHING && (of_key == RI_TRIGGER_FK ||
										(of_key == RI_TRIGGER_PK && move == FC_MOVE_DRAIN && (trigger->tgisclone || rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE))))
			continue;
		if (trigger->tgenabled != TRIGGER_DISABLED &&
			(TRIGGER_FOR_INSERT(trigger->tgtype) || TRIGGER_FOR_DELETE(trigger->tgtype)))
			return trigger;
	}
	return NULL;
}

/* Says who may decode the table's WAL; NULL: no one */
static const char *
fc_exchange_decoder(Relation rel)
{
	bool		found = false;

	if (!RelationIsLogicallyLogged(rel))
		return NULL;
	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !found; i++)
	{
		const ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];

		found = slot->in_use && SlotIsLogical(slot) && slot->data.database == MyDatabaseId;
	}
	LWLockRelease(ReplicationSlotControlLock);
	return found ? "a logical replication slot reads its changes" :
		FC_CORE_STANDBYS_DECODE && fc_logical_standbys ?
		"logical replication slots of standbys may read its changes, unless fast_copy.logical_standbys is off" : NULL;
}

/* Does the expression see which table a row is in? */
static bool
fc_exchange_sees_table(Node *expr)
{
	Bitmapset  *used = NULL;

	pull_varattnos(expr, 1, &used);
	/* the least is a system column or the whole row; below 0, there is none */
	return (unsigned) bms_next_member(used, -1) <= -FirstLowInvalidHeapAttributeNumber;
}

bool
fc_exchange_constraints_see_table(Relation rel)
{
	return fc_code_any_constraint(rel, fc_exchange_sees_table, false);
}

/* Why an index cannot be built for the substitute as for the table; or NULL */
static const char *
fc_exchange_index_refusal(Relation rel)
{
	const char *reason = NULL;

	foreach_oid(oid, RelationGetIndexList(rel))
	{
		Relation	index = index_open(oid, AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (!form->indisvalid || !form->indisready)
			reason = "an index is not valid";
		else if (index->rd_rel->relam >= FirstNormalObjectId)
			reason = "an index is of an extension's access method";
		else if (form->indisexclusion || !form->indimmediate)
			reason = "a constraint is an exclusion constraint, or can be deferred";
		else if (fc_exchange_sees_table((Node *) RelationGetIndexExpressions(index)) ||
				 fc_exchange_sees_table((Node *) RelationGetIndexPredicate(index)))
			reason = "an index sees of which table a row is";
		index_close(index, AccessShareLock);
	}
	return reason;
}

const char *
fc_exchange_refusal(Relation rel, FcMove move)
{
	Assert(rel->rd_rel->relkind == RELKIND_RELATION);
	if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return "it is temporary, or not logged";
	if (IsCatalogRelation(rel) || RelationIsUsedAsCatalogTable(rel))
		return "it is a catalog";
	if (OldSnapshotThresholdActive())
		return "old_snapshot_threshold is set";
	if (!fc_owns_relation(RelationGetRelid(rel), GetUserId()))
		return "the caller does not own it";
	if (fc_exchange_fires(rel, move))
		return "it has triggers or foreign keys";
	if (fc_exchange_decoder(rel))
		return fc_exchange_decoder(rel);
	if (fc_exchange_constraints_see_table(rel))
		return "a constraint or generated column sees of which table a row is";
	return fc_exchange_index_refusal(rel);
}

bool
fc_exchange_is_empty(Oid table)
{
	Relation	rel = table_open(table, NoLock);
	bool		empty = rel->rd_rel->relhasindex && RelationGetNumberOfBlocks(rel) == 0;

	table_close(rel, NoLock);
	return empty;
}

Oid
fc_exchange_begin(Oid owner)
{
	char		name[NAMEDATALEN];
	int			n = 0;
	Oid			nspid;

	Assert(!IsInParallelMode());
	/* a load within this one needs its own */
	do
		snprintf(name, sizeof(name), FC_EXCHANGE_SCHEMA "%u %d", GetTopTransactionId(), n++);
	while (OidIsValid(get_namespace_oid(name, true)));
	/* as a temporary one, it has no privileges that its owner gives away */
	nspid = NamespaceCreate(name, owner, true);
	CommandCounterIncrement();
	return nspid;
}

bool
fc_exchange_is_schema(const char *name)
{
	return strncmp(name, FC_EXCHANGE_SCHEMA, strlen(FC_EXCHANGE_SCHEMA)) == 0;
}

/* Tells the relcache, which knows whether WAL of a file may be skipped */
static void
fc_exchange_assume(Oid table, Oid substitute)
{
	Relation	rel = relation_open(table, NoLock);
	Relation	other = relation_open(substitute, NoLock);

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, false) && CheckRelationLockedByMe(other, AccessExclusiveLock, false));
	other->rd_createSubid = rel->rd_createSubid;
	fc_new_storage_subid(other) = fc_new_storage_subid(rel);
	fc_first_storage_subid(other) = fc_first_storage_subid(rel);
	fc_assume_new_files(rel);
	relation_close(rel, NoLock);
	relation_close(other, NoLock);
}

#define fc_exchange_field(a, b, field) \
	do { \
		typeof((a)->field) kept_ = (a)->field; \
		(a)->field = (b)->field; \
		(b)->field = kept_; \
	} while (0)

/*
 * ERROR 42804 or 55006 unless the first table can read the other's rows as its
 * own: a row does not show its type
 */
static void
fc_exchange_check_alike(Relation rel, Relation other)
{
	if (convert_tuples_by_position(RelationGetDescr(other), RelationGetDescr(rel), gettext_noop("could not convert row type")) != NULL)
		fc_hold_refuse(RelationGetRelationName(rel), NULL);
}

#ifdef USE_ASSERT_CHECKING
/*
 * Asserts that all rows of a file that changes hands are frozen or this
 * transaction's, and that relfrozenxid is not newer
 */
static void
fc_exchange_check_rows(Oid table)
{
	Relation	rel = table_open(table, NoLock);
	TableScanDesc scan = fc_begin_scan(rel, SnapshotAny);
	TransactionId oldest = rel->rd_rel->relfrozenxid;
	HeapTuple	tuple;

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, false));
	Assert(TransactionIdIsNormal(oldest) && MultiXactIdIsValid(rel->rd_rel->relminmxid));
	Assert(TransactionIdPrecedesOrEquals(oldest, GetTopTransactionId()));
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		HeapTupleHeader row = tuple->t_data;

		Assert(HeapTupleHeaderXminFrozen(row) ||
			   TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(row)));
		Assert((row->t_infomask & HEAP_XMAX_INVALID) != 0);
		Assert(HeapTupleHeaderGetNatts(row) == RelationGetNumberOfAttributes(rel));
	}
	table_endscan(scan);
	table_close(rel, NoLock);
}
#else
#define fc_exchange_check_rows(table)	((void) 0)
#endif

/* Exchanges the files of two heaps, or of two indexes, in pg_class */
static void
fc_exchange_one(Oid table, Oid substitute)
{
	Relation	classes = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = fc_ddl_class_copy(table);
	HeapTuple	other = fc_ddl_class_copy(substitute);
	Form_pg_class a = (Form_pg_class) GETSTRUCT(tuple);
	Form_pg_class b = (Form_pg_class) GETSTRUCT(other);

	/* an index can be moved though its table is held */
	if (a->reltablespace != b->reltablespace)
		fc_hold_refuse(NameStr(a->relname), NULL);
	Assert(a->relfilenode != InvalidOid && b->relfilenode != InvalidOid && a->relpersistence == b->relpersistence);
	Assert(a->relkind == b->relkind && a->relam == b->relam && a->relowner == b->relowner);
	Assert(OidIsValid(a->reltoastrelid) <= OidIsValid(b->reltoastrelid) || a->relkind != RELKIND_RELATION);
	fc_exchange_field(a, b, relfilenode);
	fc_exchange_field(a, b, relpages);
	fc_exchange_field(a, b, reltuples);
	fc_exchange_field(a, b, relallvisible);
	fc_exchange_all_frozen(a, b);
	fc_exchange_field(a, b, reltoastrelid);
	fc_exchange_field(a, b, relfrozenxid);
	fc_exchange_field(a, b, relminmxid);
	Assert(a->relfilenode != b->relfilenode && (a->relkind == RELKIND_INDEX) == !TransactionIdIsValid(a->relfrozenxid));
	CatalogTupleUpdate(classes, &tuple->t_self, tuple);
	CatalogTupleUpdate(classes, &other->t_self, other);
	table_close(classes, RowExclusiveLock);
	InvokeObjectPostAlterHookArg(RelationRelationId, table, 0, InvalidOid, true);
	fc_exchange_assume(table, substitute);
}

/* Makes the TOAST table, if there is one, depend on its new table */
static void
fc_exchange_toast_owner(Oid toast, Oid before, Oid table)
{
	if (OidIsValid(toast) &&
		changeDependencyFor(RelationRelationId, toast, RelationRelationId, before, table) != 1)
		elog(ERROR, "TOAST table %u does not depend on one table", toast);
}

void
fc_exchange_files(Oid table, Oid substitute, const List *indexes)
{
	Oid			toast = fc_ddl_class(table).reltoastrelid;
	Oid			other = fc_ddl_class(substitute).reltoastrelid;
	Relation	rel = table_open(table, NoLock);
	Relation	with = table_open(substitute, NoLock);

	Assert(!IsInParallelMode() && table != substitute);
	Assert(fc_exchange_is_schema(get_namespace_name(RelationGetNamespace(with))));
	CheckTableNotInUse(rel, "replace");
	CheckTableNotInUse(with, "replace");
	fc_exchange_check_alike(rel, with);
	fc_exchange_check_rows(substitute);
	TransferPredicateLocksToHeapRelation(rel);
	table_close(with, NoLock);
	table_close(rel, NoLock);
	fc_exchange_one(table, substitute);
	fc_exchange_toast_owner(toast, table, substitute);
	fc_exchange_toast_owner(other, substitute, table);
	foreach_ptr(const FcIndexTask, one, indexes)
		fc_exchange_one(one->like, one->index);
	RelationCloseSmgrByOid(table);
	RelationCloseSmgrByOid(substitute);
}

/* Renames the TOAST table after its table's OID */
static void
fc_exchange_name_toast(Oid table)
{
	Oid			toast = fc_ddl_class(table).reltoastrelid;
	Relation	rel;
	Oid			index;

	if (!OidIsValid(toast))
		return;
	rel = table_open(toast, AccessExclusiveLock);
	index = linitial_oid(RelationGetIndexList(rel));
	Assert(list_length(RelationGetIndexList(rel)) == 1 && rel->rd_rel->relkind == RELKIND_TOASTVALUE);
	table_close(rel, NoLock);
	RenameRelationInternal(toast, psprintf("pg_toast_%u", table), true, false);
	RenameRelationInternal(index, psprintf("pg_toast_%u_index", table), true, true);
}

void
fc_exchange_drop(Oid table, Oid substitute)
{
	Assert(fc_exchange_is_schema(get_namespace_name(get_rel_namespace(substitute))));
	CommandCounterIncrement();
	fc_exchange_check_rows(table);
	fc_partition_drop(substitute);
	CommandCounterIncrement();
	fc_exchange_name_toast(table);
	CommandCounterIncrement();
}

void
fc_exchange_end(const List *schemas)
{
	foreach_oid(oid, schemas)
	{
		ObjectAddress schema;

		ObjectAddressSet(schema, NamespaceRelationId, oid);
		performDeletion(&schema, DROP_CASCADE, PERFORM_DELETION_INTERNAL | PERFORM_DELETION_QUIETLY);
	}
	CommandCounterIncrement();
}
