/*-------------------------------------------------------------------------
 *
 * load/references.c
 *	  Foreign keys: of tables that were there before the load, and to rows that
 *	  it deletes.
 *
 *	rows of the load ──► their keys ──► a set ──► for each new one an event of
 *						core's trigger ──► core fires all of them
 *
 * What the trigger of a foreign key does for a row, it does for all rows with
 * the same bytes in the key's columns: it looks for the row that they refer to,
 * and locks it until the transaction ends.  So it fires for the first of them
 * only, in the order in which they were loaded.  One that may be deferred fires
 * for each row: the first may be gone until the transaction ends.  New
 * partitions are checked by core when they are attached.
 *
 * The set, and the events, end with the step; after an error the abort ends
 * them.
 *
 *	leaves that lose rows ──► their triggers for ON DELETE ──► the tables that
 *						reference them
 *
 * Core decides what happens to rows that reference those which a load deletes,
 * as for any DELETE.  This file says it to the caller: before the load, or in
 * the error that ends it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_constraint.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"

#include "load/steps.h"

/*
 * Pages that must be looked at to find the rows of the load, at most: so many,
 * or such a multiple of the files.  Core's trigger takes 2 us for a row or
 * more, and the look at a page 1 us.
 */
#define FC_REFERENCES_PAGES	16
#define FC_REFERENCES_RATIO	16

/*
 * The topmost constraint of a foreign key, and the values of its columns, one
 * after another
 */
typedef struct FcKeyBytes
{
	bytea	   *bytes;
	uint32		hash;
	char		status;			/* simplehash's */
} FcKeyBytes;

#define SH_PREFIX fc_keys
#define SH_ELEMENT_TYPE FcKeyBytes
#define SH_KEY_TYPE bytea *
#define SH_KEY bytes
#define SH_HASH_KEY(tb, key) hash_bytes((unsigned char *) VARDATA(key), VARSIZE(key) - VARHDRSZ)
#define SH_EQUAL(tb, a, b) (VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A foreign key of the table at hand */
typedef struct FcReference
{
	ResultRelInfo *rri;			/* of the table, with this trigger alone */
	Oid			topmost;		/* the constraint, of the topmost table that has
								 * it; 0: it fires for each row */
	int			nkeys;
	AttrNumber	attnums[INDEX_MAX_KEYS];
} FcReference;

/* The rows that are looked at */
typedef struct FcReferring
{
	EState	   *estate;
	MemoryContext mcxt;			/* of the keys */
	Size		memory;			/* that they may take, in bytes */
	fc_keys_hash *keys;			/* that foreign keys have fired for, in
								 * whichever partition */
	List	   *references;		/* FcReference, of the table at hand */
	StringInfoData key;			/* of the row at hand */
	uint64		fired;
} FcReferring;

const char *
fc_references_refusal(FcJob *job, Relation rel)
{
	BlockNumber nblocks;
	BlockNumber visible;

	if (rel->rd_rel->relkind != RELKIND_RELATION || fc_plan_triggers(rel) != FC_TRIGGERS_FOREIGN_KEYS)
		return NULL;
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		return "a table with foreign keys is not a heap";
	nblocks = RelationGetNumberOfBlocks(rel);
	if (nblocks > 0 && fc_caller_errors_as_core(job->target.options->caller))
		return "a table with foreign keys has rows: free space mixes the order of the file";
	visibilitymap_count(rel, &visible, NULL);
	job->referring += nblocks - Min(visible, nblocks);
	return job->referring > FC_REFERENCES_PAGES &&
		(double) job->referring * BLCKSZ > (double) job->target.source->size * FC_REFERENCES_RATIO ?
		"the foreign keys of few rows in a large table are checked one by one" : NULL;
}

void
fc_references_begin(FcJob *job)
{
	job->filled.lsn = GetXLogInsertRecPtr();
	job->filled.cid = GetCurrentCommandId(true);
}

/* Appends the bytes of one value, which tell where they end */
static void
fc_references_append(StringInfo key, TupleTableSlot *row, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(row->tts_tupleDescriptor, attnum - 1);
	bool		null;
	Datum		value = slot_getattr(row, attnum, &null);

	appendStringInfoCharMacro(key, null);
	if (null)
		return;
	if (att->attbyval)
		appendBinaryStringInfo(key, (char *) &value, sizeof(value));
	else if (att->attlen == -1)
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
		uint32		len = VARSIZE_ANY_EXHDR(packed);

		appendBinaryStringInfo(key, (char *) &len, sizeof(len));
		appendBinaryStringInfo(key, VARDATA_ANY(packed), len);
	}
	else
		appendBinaryStringInfo(key, DatumGetPointer(value),
							   att->attlen > 0 ? att->attlen : strlen(DatumGetCString(value)) + 1);
}

/* Adds the row's key to those that have fired; false if it was there */
static bool
fc_references_is_new(FcReferring *referring, const FcReference *reference, TupleTableSlot *row)
{
	StringInfo	key = &referring->key;
	FcKeyBytes *found;
	bool		there;

	/* after these bytes comes the key */
	key->len = VARHDRSZ;
	appendBinaryStringInfo(key, (const char *) &reference->topmost, sizeof(Oid));
	for (int i = 0; i < reference->nkeys; i++)
		fc_references_append(key, row, reference->attnums[i]);
	SET_VARSIZE(key->data, key->len);
	if (MemoryContextMemAllocated(referring->mcxt, true) > referring->memory)
	{
		/* a key that comes again fires again */
		MemoryContextReset(referring->mcxt);
		referring->keys = NULL;
	}
	if (referring->keys == NULL)
		referring->keys = fc_keys_create(referring->mcxt, 256, NULL);
	found = fc_keys_insert(referring->keys, (bytea *) key->data, &there);
	if (!there)
	{
		found->bytes = MemoryContextAlloc(referring->mcxt, key->len);
		memcpy(found->bytes, key->data, key->len);
	}
	return !there;
}

static void
fc_references_visit(void *arg, TupleTableSlot *row)
{
	FcReferring *referring = arg;
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(referring->estate));

	foreach_ptr(const FcReference, reference, referring->references)
	{
		if (OidIsValid(reference->topmost) && !fc_references_is_new(referring, reference, row))
			continue;
		ExecARInsertTriggers(referring->estate, reference->rri, row, NIL, NULL);
		referring->fired++;
	}
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(referring->estate);
}

/* The constraint that partitions have this one because of, or itself */
static Oid
fc_references_topmost(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	Oid			parent = HeapTupleIsValid(tuple) ? ((Form_pg_constraint) GETSTRUCT(tuple))->conparentid : InvalidOid;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return OidIsValid(parent) ? fc_references_topmost(parent) : constraint;
}

/*
 * Adds the foreign key that the table's i-th trigger checks.  Works on copies:
 * a look into the catalog may make the relcache's lists anew.
 */
static void
fc_references_add(FcReferring *referring, Relation rel, int i)
{
	FcReference *reference = palloc0(sizeof(FcReference));
	Trigger    *trigger;

	reference->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(reference->rri, rel, 0, NULL, 0);
	trigger = &reference->rri->ri_TrigDesc->triggers[0];
	*trigger = reference->rri->ri_TrigDesc->triggers[i];
	reference->rri->ri_TrigDesc->numtriggers = 1;
	if (!trigger->tgdeferrable)
		foreach_ptr(const ForeignKeyCacheInfo, key, copyObject(RelationGetFKeyList(rel)))
		{
			if (key->conoid != trigger->tgconstraint)
				continue;
			reference->topmost = fc_references_topmost(key->conoid);
			reference->nkeys = key->nkeys;
			memcpy(reference->attnums, key->conkey, sizeof(AttrNumber) * key->nkeys);
		}
	referring->references = lappend(referring->references, reference);
}

/* Makes the events of the table's rows; returns how many rows there are */
static uint64
fc_references_look(FcJob *job, FcReferring *referring, Oid table)
{
	Relation	rel = table_open(table, NoLock);
	uint64		rows;

	referring->references = NIL;
	for (int i = 0; i < rel->trigdesc->numtriggers; i++)
		if (fc_plan_trigger_fires(&rel->trigdesc->triggers[i]))
			fc_references_add(referring, rel, i);
	rows = fc_old_rows_made(rel, &job->filled, job->target.plan->freeze, fc_references_visit, referring);
	table_close(rel, NoLock);
	return rows;
}

/*
 * Those of the tables that have got rows and have foreign keys.  Others may
 * have locked those that got none: they are not opened.
 */
static List *
fc_references_tables(const List *existing)
{
	List	   *tables = NIL;

	foreach_oid(table, existing)
	{
		LOCKTAG		tag;
		Relation	rel;

		CHECK_FOR_INTERRUPTS();
		SET_LOCKTAG_RELATION(tag, MyDatabaseId, table);
		if (get_rel_relkind(table) != RELKIND_RELATION || !fc_lock_is_held(&tag, RowExclusiveLock))
			continue;
		rel = table_open(table, NoLock);
		if (fc_plan_triggers(rel) == FC_TRIGGERS_FOREIGN_KEYS)
			tables = lappend_oid(tables, table);
		table_close(rel, NoLock);
	}
	return tables;
}

void
fc_references_check(FcJob *job, const List *existing)
{
	FcTarget   *target = &job->target;
	FcReferring referring = {.memory = target->shared->memory};
	List	   *tables = fc_references_tables(existing);
	uint64		rows = 0;

	Assert(!IsInParallelMode());
	if (tables == NIL)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_REFERENCES);
	referring.mcxt = fc_context_memory(CurrentMemoryContext, "foreign keys");
	referring.estate = CreateExecutorState();
	initStringInfo(&referring.key);
	AfterTriggerBeginQuery();
	foreach_oid(table, tables)
		rows += fc_references_look(job, &referring, table);
	if (!target->plan->partitioned && rows < target->loaded)
		elog(ERROR, "only " UINT64_FORMAT " of " UINT64_FORMAT " rows were found again, of which foreign keys are to be checked",
			 rows, target->loaded);
	MemoryContextDelete(referring.mcxt);
	AfterTriggerEndQuery(referring.estate);
	ExecResetTupleTable(referring.estate->es_tupleTable, false);
	ExecCloseResultRelations(referring.estate);
	FreeExecutorState(referring.estate);
	fc_lead_report(job, 1, rows, -1, psprintf(UINT64_FORMAT " keys looked up", referring.fired));
}

/* Tables in which triggers of the leaves, an array, delete or change rows */
#define FC_REFERENCES_QUERY \
	"WITH said AS (SELECT format('%%I.%%I (ON DELETE %%s)', s.nspname, c.relname, a.does) AS name, row_number() OVER (ORDER BY l.n, t.tgname) AS n " \
	"FROM unnest('{%s}'::oid[]) WITH ORDINALITY AS l (leaf, n) JOIN pg_trigger AS t ON t.tgrelid = l.leaf " \
	"JOIN (VALUES (%u, 'CASCADE'), (%u, 'SET NULL'), (%u, 'SET DEFAULT')) AS a (function, does) ON a.function = t.tgfoid " \
	"JOIN pg_class AS c ON c.oid = t.tgconstrrelid JOIN pg_namespace AS s ON s.oid = c.relnamespace " \
	"WHERE t.tgenabled <> 'D' AND NOT (t.tgenabled = 'O' AND current_setting('session_replication_role') = 'replica')) " \
	"SELECT string_agg(name, ', ' ORDER BY n) FROM (SELECT name, min(n) AS n FROM said GROUP BY 1) AS named"

FcFault *
fc_references_cascades(const char *relname, const List *leaves)
{
	StringInfoData oids;
	char	   *names;

	initStringInfo(&oids);
	foreach_oid(leaf, leaves)
		appendStringInfo(&oids, "%s%u", oids.len > 0 ? "," : "", leaf);
	names = leaves == NIL ? NULL :
		fc_ddl_of_catalogs(psprintf(FC_REFERENCES_QUERY, oids.data, F_RI_FKEY_CASCADE_DEL, F_RI_FKEY_SETNULL_DEL, F_RI_FKEY_SETDEFAULT_DEL));
	if (names == NULL)
		return NULL;
	return fc_fault("foreign keys", ERRCODE_SUCCESSFUL_COMPLETION,
					psprintf("rows that reference replaced rows of table \"%s\" are deleted or changed", relname),
					psprintf("Foreign keys reference them from %s.", names),
					pstrdup("If the file has the same keys again, on_conflict \"update\" leaves those rows as they are: it deletes none."));
}

void
fc_references_hint(void *arg)
{
	if (fc_error_wants_hint("update or delete on table \"%s\" violates"))
		errhint("If the file has the same keys again, use on_conflict \"update\", which deletes no rows; "
				"or, unless the constraint is ON DELETE RESTRICT, make it DEFERRABLE INITIALLY DEFERRED, so that it is checked at commit.");
}
