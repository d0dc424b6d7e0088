/*-------------------------------------------------------------------------
 *
 * remote/make.c
 *	  Tables that the load makes on nodes, and their indexes.
 *
 *	 table, when its first row comes ──► COPY ──► indexes, once it is full
 *
 * All is in the node's transaction that makes the table, so that a load that
 * fails leaves nothing.  How that is committed stands in remote/commit.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "remote/remote.h"

void
fc_make_table(FcMember *member, const FcRemoteTable *table)
{
	/* until the subtransaction ends: what is done in vain must be undone */
	member->failed = true;
	(void) fc_node_run(member->node, table->create);
	member->failed = false;
	fc_member_add_table(member, quote_qualified_identifier(table->schema, table->name),
						table->indexes);
}

/* The commands for all indexes of the member's tables; empty: there are none */
static char *
fc_make_commands(FcMember *member)
{
	StringInfo	sql = makeStringInfo();

	foreach_ptr(FcMadeTable, table, member->made)
	{
		appendStringInfoString(sql, table->indexes);
		table->indexes = "";
	}
	return sql->data;
}

/* Sends the commands to all; returns those that have something to do */
static List *
fc_make_send(void)
{
	List	   *busy = NIL;

	fc_members_each(member, fc_transaction_members())
	{
		char	   *sql = fc_make_commands(member);

		if (sql[0] == '\0')
			continue;
		fc_transaction_rejoin(member);
		member->failed = true;
		if (!fc_node_send(member->node, sql))
			fc_node_throw(member->node, "CREATE INDEX");
		busy = lappend(busy, member);
	}
	return busy;
}

void
fc_remote_build_indexes(void)
{
	foreach_ptr(FcMember, member, fc_make_send())
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_wire_kind(fc_node_result(member->node, 0)) == FC_WIRE_ERROR)
			fc_node_throw(member->node, "CREATE INDEX");
		member->failed = false;
	}
}

bool
fc_remote_has_made(void)
{
	fc_members_each(member, fc_transaction_members())
		if (member->made != NIL)
			return true;
	return false;
}
