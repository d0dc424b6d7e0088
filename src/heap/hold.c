/*-------------------------------------------------------------------------
 *
 * heap/hold.c
 *	  The tables of a load, kept as they are until it is done with them.
 *
 * Code that a load evaluates (a CHECK, a default, an index's expression) may
 * run any command in the leader.  So the leader keeps the tables open from
 * when it has decided what to do with them until it does that: core refuses
 * most commands that would empty or change an open table, and a comparison
 * finds what the others do.  The leader's locks keep other sessions away.
 *
 * The end of the transaction closes the tables on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"

#include "compat/compat.h"
#include "heap/hold.h"

/* A table as it was, and should be */
typedef struct FcHeldTable
{
	Oid			oid;			/* the key */
	FcHeldFor	what;
	Relation	rel;
	FcLocator	file;
	List	   *indexes;
	TupleDesc	desc;			/* with defaults and constraints */
	bool		partition;
} FcHeldTable;

struct FcHold
{
	HTAB	   *tables;
	MemoryContext mcxt;
};

FcHold *
fc_hold_create(void)
{
	FcHold	   *hold = palloc(sizeof(FcHold));
	HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(FcHeldTable)};

	Assert(!IsParallelWorker());
	hold->mcxt = ctl.hcxt = CurrentMemoryContext;
	hold->tables = hash_create("fast_copy tables held", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return hold;
}

void
fc_hold_begin(FcHold *hold, Oid table, FcHeldFor what)
{
	MemoryContext old = MemoryContextSwitchTo(hold->mcxt);
	bool		found;
	FcHeldTable *one = hash_search(hold->tables, &table, HASH_ENTER, &found);

	Assert(!IsParallelWorker() && CheckRelationOidLockedByMe(table, RowExclusiveLock, true));
	if (!found)
	{
		one->what = what;
		one->rel = table_open(table, NoLock);
		one->file = fc_relation_locator(one->rel);
		one->indexes = RelationGetIndexList(one->rel);
		one->desc = CreateTupleDescCopyConstr(RelationGetDescr(one->rel));
		one->partition = one->rel->rd_rel->relispartition;
	}
	MemoryContextSwitchTo(old);
}

bool
fc_hold_alone(Relation rel)
{
	return rel->rd_refcnt == 2;
}

/* A list of all tables */
static List *
fc_hold_all(const FcHold *hold)
{
	HASH_SEQ_STATUS all;
	FcHeldTable *one;
	List	   *list = NIL;

	hash_seq_init(&all, hold->tables);
	while ((one = hash_seq_search(&all)) != NULL)
		list = lappend(list, one);
	return list;
}

/*
 * Returns what was done to the table, as the error's detail; NULL: nothing.
 * Some commands do not ask whether the table is open: ALTER TABLE ALL IN
 * TABLESPACE copies its files, ATTACH PARTITION gives it indexes and reads its
 * rows, DROP TYPE takes its columns, DROP INDEX its indexes.
 */
static const char *
fc_hold_change(const FcHeldTable *one)
{
	List	   *indexes = RelationGetIndexList(one->rel);
	bool		more = list_difference_oid(indexes, one->indexes) != NIL;
	bool		less = list_difference_oid(one->indexes, indexes) != NIL;

	Assert(one->rel->rd_refcnt > 0 && RelationGetRelid(one->rel) == one->oid);
	Assert(CheckRelationLockedByMe(one->rel, RowExclusiveLock, true));
	list_free(indexes);
	if (!fc_locator_equals(one->file, fc_relation_locator(one->rel)))
		return "It was moved to another file.";
	if (one->rel->rd_rel->relispartition != one->partition)
		return one->partition ? "It was detached from its table." : "It was attached to another table.";
	if (!equalTupleDescs(RelationGetDescr(one->rel), one->desc))
		return "Its columns or constraints are others now.";
	return more ? "It got another index." : less ? "It lost an index." : NULL;
}

void
fc_hold_refuse(const char *relname, const char *detail)
{
	fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("table \"%s\" was changed while it was being loaded", relname),
			 detail ? errdetail_internal("%s", detail) : 0,
			 errhint("Look for such a command in the functions that are called for each row."));
}

void
fc_hold_check(FcHold *hold)
{
	foreach_ptr(const FcHeldTable, one, fc_hold_all(hold))
	{
		const char *change = fc_hold_change(one);

		CHECK_FOR_INTERRUPTS();
		if (change != NULL)
			fc_hold_refuse(RelationGetRelationName(one->rel), change);
	}
}

void
fc_hold_renew(FcHold *hold)
{
	MemoryContext old = MemoryContextSwitchTo(hold->mcxt);

	foreach_ptr(FcHeldTable, one, fc_hold_all(hold))
	{
		CHECK_FOR_INTERRUPTS();
		list_free(one->indexes);
		one->indexes = RelationGetIndexList(one->rel);
		one->file = fc_relation_locator(one->rel);
	}
	MemoryContextSwitchTo(old);
}

void
fc_hold_end(FcHold *hold, Oid table)
{
	FcHeldTable *one = hash_search(hold->tables, &table, HASH_FIND, NULL);

	if (one == NULL)
		return;
	Assert(RelationGetRelid(one->rel) == table && one->rel->rd_refcnt > 0);
	table_close(one->rel, NoLock);
	list_free(one->indexes);
	FreeTupleDesc(one->desc);
	(void) hash_search(hold->tables, &table, HASH_REMOVE, NULL);
}

void
fc_hold_end_all(FcHold *hold, FcHeldFor what)
{
	foreach_ptr(const FcHeldTable, one, fc_hold_all(hold))
	{
		CHECK_FOR_INTERRUPTS();
		if (one->what <= what)
			fc_hold_end(hold, one->oid);
	}
	Assert(what != FC_HELD_PLACE || hash_get_num_entries(hold->tables) == 0);
}
