/*-------------------------------------------------------------------------
 *
 * remote/log.c
 *	  The table that has decided: fast_copy_transactions.
 *
 *	 load        lock, rows ──► flush ──► PREPARE on all nodes ──► commit here
 *	 resolver    try the lock ──► look ──► row: COMMIT, none: ROLLBACK
 *
 * A row is committed with the load's transaction: then the node is to commit
 * what it has prepared.  While the load is under way it holds a lock, which
 * goes with its transaction.  So the resolver tries the lock before it looks
 * for the row as of now; the snapshot of its own transaction may be old.  No
 * XID is asked: one that a crash has lost is given out again.
 *
 * A role that could write a row could commit what another load has given up.
 * So the table belongs to the extension's owner, no other role has a privilege
 * for it, and rows are written here, without SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "elsewhere/elsewhere.h"
#include "remote/remote.h"

#define FC_LOG_TABLE	"fast_copy_transactions"
#define FC_LOG_INDEX	"fast_copy_transactions_pkey"

/* In the order of the SQL declaration */
enum
{
	COL_GID = 1,
	COL_SERVER,
	COL_SYSTEM,
	COL_LOADED_BY,
	COL_DECIDED,
	NCOLUMNS = COL_DECIDED
};

/* Advisory locks that users take have other numbers */
#define FC_LOG_LOCK		252

/* The schema of the extension; InvalidOid: it is not created here */
static Oid
fc_log_schema(void)
{
	Oid			schema = InvalidOid;
	Relation	catalog = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(FC_ELSEWHERE_EXTENSION));
	scan = systable_beginscan(catalog, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return schema;
}

/* Finds a table or index of the extension; InvalidOid: there is none */
static Oid
fc_log_find(const char *name)
{
	Oid			schema = fc_log_schema();

	return OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
}

static Oid
fc_log_table(void)
{
	Oid			table = fc_log_find(FC_LOG_TABLE);

	return getExtensionOfObject(RelationRelationId, table) ==
		get_extension_oid(FC_ELSEWHERE_EXTENSION, true) ? table : InvalidOid;
}

bool
fc_log_is_there(void)
{
	return OidIsValid(fc_log_table());
}

static Relation
fc_log_open(LOCKMODE lock)
{
	Oid			table = fc_log_table();

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the table \"%s\" of extension \"%s\" does not exist", FC_LOG_TABLE, FC_ELSEWHERE_EXTENSION),
				 errhint("CREATE EXTENSION fast_copy_cluster.")));
	return table_open(table, lock);
}

void
fc_log_lock(bool change)
{
	table_close(fc_log_open(change ? RowExclusiveLock : AccessShareLock), NoLock);
}

static LOCKTAG
fc_log_tag(uint64 nonce)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (nonce >> 32), (uint32) nonce,
						 FC_LOG_LOCK);
	return tag;
}

void
fc_log_hold(uint64 nonce)
{
	LOCKTAG		tag = fc_log_tag(nonce);

	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

void
fc_log_let_go(uint64 nonce)
{
	LOCKTAG		tag = fc_log_tag(nonce);

	(void) LockRelease(&tag, ExclusiveLock, false);
}

bool
fc_log_has_ended(uint64 nonce, bool keep)
{
	LOCKTAG		tag = fc_log_tag(nonce);

	if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	if (!keep)
		fc_log_let_go(nonce);
	return true;
}

void
fc_log_add(const char *gid, Oid server, int64 system, Oid userid)
{
	Relation	rel = fc_log_open(RowExclusiveLock);
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {0};

	values[COL_GID - 1] = CStringGetTextDatum(gid);
	values[COL_SERVER - 1] = ObjectIdGetDatum(server);
	values[COL_SYSTEM - 1] = Int64GetDatum(system);
	values[COL_LOADED_BY - 1] = ObjectIdGetDatum(userid);
	values[COL_DECIDED - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	CatalogTupleInsert(rel, heap_form_tuple(RelationGetDescr(rel), values, nulls));
	table_close(rel, NoLock);
}

static FcDecision *
fc_log_read(Relation rel, HeapTuple tuple)
{
	FcDecision *decision = palloc0(sizeof(FcDecision));
	bool		isnull;

	decision->gid = TextDatumGetCString(heap_getattr(tuple, COL_GID, RelationGetDescr(rel), &isnull));
	decision->system = DatumGetInt64(heap_getattr(tuple, COL_SYSTEM, RelationGetDescr(rel), &isnull));
	return decision;
}

List *
fc_log_list(Oid server)
{
	Relation	rel = fc_log_open(AccessShareLock);
	List	   *list = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, COL_SERVER, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(server));
	scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		list = lappend(list, fc_log_read(rel, tuple));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return list;
}

/*
 * The row about no server is written by CREATE EXTENSION.  It has the
 * identity, which tells this database from its copies.
 */
char *
fc_log_prefix(Oid server)
{
	List	   *identity = fc_log_list(InvalidOid);

	return fc_gid_prefix(identity == NIL ? "0" : ((FcDecision *) linitial(identity))->gid, server);
}

bool
fc_log_has(const char *gid, bool remove)
{
	Relation	rel = fc_log_open(remove ? RowExclusiveLock : AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	ScanKeyInit(&key, COL_GID, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(gid));
	scan = systable_beginscan(rel, fc_log_find(FC_LOG_INDEX), true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found && remove)
		CatalogTupleDelete(rel, &tuple->t_self);
	systable_endscan(scan);
	table_close(rel, remove ? NoLock : AccessShareLock);
	return found;
}
