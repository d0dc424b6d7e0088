/*-------------------------------------------------------------------------
 *
 * heap/hold.c
 *	  The tables of a load, kept as they are while rows are put into them.
 *
 * Code that a load evaluates (a CHECK, a default, an index's expression) may
 * run any command in the leader.  So the leader keeps the tables open until
 * their indexes are built: core refuses commands that would empty or change an
 * open table.  The leader's locks keep other sessions away.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/writer.h"

typedef struct FcHeldTable
{
	Relation	rel;
	FcLocator	file;
	List	   *indexes;
	bool		partition;
} FcHeldTable;

List *
fc_hold_begin(List *held, Oid table)
{
	FcHeldTable	   *one = palloc(sizeof(FcHeldTable));

	one->rel = table_open(table, NoLock);
	Assert(!IsParallelWorker() && CheckRelationLockedByMe(one->rel, RowExclusiveLock, true));
	one->file = fc_relation_locator(one->rel);
	one->indexes = RelationGetIndexList(one->rel);
	one->partition = one->rel->rd_rel->relispartition;
	return lappend(held, one);
}

bool
fc_hold_alone(Relation rel)
{
	return rel->rd_refcnt == 2;
}

/*
 * What was done to the table, as a detail of the error; NULL: nothing.  Two
 * commands do not ask whether the table is open: ALTER TABLE ALL IN TABLESPACE
 * copies its files, ATTACH PARTITION gives it indexes and reads its rows.
 * Both miss the rows still under way, which COPY loses.
 */
static const char *
fc_hold_change(const FcHeldTable *one)
{
	List	   *indexes = RelationGetIndexList(one->rel);
	bool		more = list_difference_oid(indexes, one->indexes) != NIL;

	list_free(indexes);
	if (!fc_locator_equals(one->file, fc_relation_locator(one->rel)))
		return "It was moved to another file.";
	if (one->rel->rd_rel->relispartition && !one->partition)
		return "It was attached to another table.";
	return more ? "It got another index." : NULL;
}

void
fc_hold_check(List *held)
{
	foreach_ptr(const FcHeldTable, one, held)
	{
		const char *change = fc_hold_change(one);

		CHECK_FOR_INTERRUPTS();
		if (change != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("table \"%s\" was changed while it was being loaded",
							RelationGetRelationName(one->rel)),
					 errdetail_internal("%s", change),
					 errhint("Look for such a command in the functions that are called for each row.")));
	}
}

void
fc_hold_end(List *held)
{
	foreach_ptr(FcHeldTable, one, held)
	{
		table_close(one->rel, NoLock);
		list_free(one->indexes);
		pfree(one);
	}
	list_free(held);
}
