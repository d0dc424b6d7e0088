/*-------------------------------------------------------------------------
 *
 * remote/member.c
 *	  A node's part of this transaction: a session, and what is done in it.
 *
 *	 subtransaction here ──► savepoint there, made when something is done in it
 *
 * If a subtransaction is rolled back, members that began in it are closed
 * (remote/transaction.c).  So a block of PL/pgSQL that catches errors around a
 * load needs no savepoint.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "remote/member.h"

/* ms that a node has to roll a savepoint back */
#define FC_MEMBER_WAIT_MS	10000

/* ms that a node has to end a COPY by itself, before it is asked to give up */
#define FC_MEMBER_END_MS	100

int
fc_member_count(dlist_head *members, Oid server, const FcMember *last)
{
	int			n = 0;

	fc_members_each(member, members)
	{
		n += member->node->server == server;
		if (member == last)
			break;
	}
	return n;
}

FcMember *
fc_member_begin(FcNode *node)
{
	FcMember   *member = MemoryContextAllocZero(node->context, sizeof(FcMember));

	member->node = node;
	member->level = member->depth = GetCurrentTransactionNestLevel();
	(void) fc_node_run(node, IsolationIsSerializable() ?
					   "START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ WRITE" :
					   "START TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE");
	return member;
}

void
fc_member_enter(FcMember *member)
{
	int			level = GetCurrentTransactionNestLevel();

	while (member->depth < level)
	{
		(void) fc_node_run(member->node, psprintf("SAVEPOINT s%d", member->depth + 1));
		member->depth++;
	}
}

void
fc_member_release(FcMember *member)
{
	if (member->level == member->depth || member->broken || member->failed)
		return;
	(void) fc_node_run(member->node, psprintf("RELEASE SAVEPOINT s%d", member->depth));
}

void
fc_member_leave(FcMember *member)
{
	foreach_ptr(FcMadeTable, table, member->made)
		table->level = Min(table->level, member->depth - 1);
	if (member->level == member->depth)
		member->level--;
	member->depth--;
}

void
fc_member_add_table(FcMember *member, const char *name, const char *indexes)
{
	MemoryContext old = MemoryContextSwitchTo(member->node->context);
	FcMadeTable *table = palloc(sizeof(FcMadeTable));

	table->name = pstrdup(name);
	table->indexes = pstrdup(indexes);
	table->level = member->depth;
	member->made = lappend(member->made, table);
	MemoryContextSwitchTo(old);
}

FcMadeTable *
fc_member_table(const FcMember *member, const char *name)
{
	foreach_ptr(FcMadeTable, table, member->made)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

void
fc_member_end_copy(FcMember *member)
{
	MemoryContextDelete(GetMemoryChunkContext(member->copy));
	member->copy = NULL;
}

/* Tells the node to end a COPY that runs there, and does not wait */
static void
fc_member_fail(FcMember *member)
{
	FcNode	   *node = member->node;

	if (member->copy == NULL)
		return;
	fc_member_end_copy(member);
	member->failed = member->ending = true;
	/* if this fails, the node has been told already that the stream ends */
	if (fc_wire_put_end(node->wire, "canceled by the sender") == 1)
		(void) fc_wire_flush(node->wire);
}

/*
 * Waits until the COPY has ended.  A node that waits for a lock or runs code of
 * users reads nothing meanwhile, and is asked to give up.
 */
static void
fc_member_settle(FcMember *member, TimestampTz until)
{
	TimestampTz soon = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_MEMBER_END_MS);
	FcNode	   *node = member->node;

	if (!member->ending)
		return;
	member->ending = false;
	(void) fc_node_result(node, Min(soon, until));
	if (!fc_wire_is_busy(node->wire))
		return;
	fc_node_interrupt(node, until);
	(void) fc_node_result(node, until);
}

void
fc_member_cancel(FcMember *member, TimestampTz until)
{
	fc_member_fail(member);
	fc_member_settle(member, until);
}

void
fc_member_cancel_all(dlist_head *members, int level, TimestampTz until)
{
	fc_members_each(member, members)
		if (member->level >= level)
			fc_member_fail(member);
	fc_members_each(member, members)
		fc_member_settle(member, until);
}

/* Body of fc_node_quietly: has the node go back to the last savepoint */
static void
fc_member_undo(void *arg)
{
	FcMember   *member = arg;
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_MEMBER_WAIT_MS);
	char	   *sql = psprintf("ROLLBACK TO SAVEPOINT s%d; RELEASE SAVEPOINT s%d",
							   member->depth, member->depth);

	fc_member_cancel(member, until);
	/* once more, in case the request to give up has met this command */
	if (!member->broken && !fc_node_try(member->node, sql, until) &&
		!fc_node_try(member->node, sql, until))
		member->broken = true;
}

void
fc_member_roll_back(FcMember *member)
{
	ListCell   *lc;

	if (!fc_node_quietly(fc_member_undo, member))
		member->broken = true;
	member->failed = false;
	foreach(lc, member->made)
		if (((FcMadeTable *) lfirst(lc))->level >= member->depth)
			member->made = foreach_delete_current(member->made, lc);
	/* what was set in the savepoint is set back */
	member->node->settings = NULL;
	member->depth--;
}

void
fc_member_check(FcMember *member)
{
	if (!member->broken && !member->failed && member->copy == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("cannot commit what was sent to server \"%s\"", member->node->name),
			 errdetail("A load into it has failed, or the connection was lost.")));
}
