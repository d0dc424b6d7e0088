/*-------------------------------------------------------------------------
 *
 * heap/hold.c
 *	  The tables of a load, kept as they are while rows are put into them.
 *
 * What a load evaluates (a CHECK, a default, an index's expression) may run
 * any command in the leader.  Core refuses those that would empty or change a
 * table which this session has open, and so COPY has each partition open from
 * its first row to its end.  A load closes a partition when all its rows are
 * in it; so the leader keeps all that take rows open until their indexes are
 * built.
 *
 * Few commands do not ask who has a table open.  ALTER TABLE ALL IN TABLESPACE
 * copies its files and goes on with the copy, ATTACH PARTITION gives it
 * indexes and reads its rows, both without those that are still under
 * way.  COPY loses them; a load is an ERROR.
 *
 * No other session can do so, because of the leader's locks, nor a worker,
 * which runs no such commands.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/hold.h"

typedef struct FcHeld
{
	Relation	rel;
	FcLocator	file;
	List	   *indexes;
	bool		partition;
} FcHeld;

List *
fc_hold_begin(List *held, Oid table)
{
	FcHeld	   *one = palloc(sizeof(FcHeld));

	one->rel = table_open(table, NoLock);
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

/* What has become of the table; or NULL */
static const char *
fc_hold_change(const FcHeld *one)
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
	ListCell   *lc;

	foreach(lc, held)
	{
		const FcHeld *one = lfirst(lc);
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
	ListCell   *lc;

	foreach(lc, held)
	{
		FcHeld	   *one = lfirst(lc);

		table_close(one->rel, NoLock);
		list_free(one->indexes);
		pfree(one);
	}
	list_free(held);
}
