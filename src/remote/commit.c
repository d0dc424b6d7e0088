/*-------------------------------------------------------------------------
 *
 * remote/commit.c
 *	  How nodes commit with this transaction: in one phase or in two.
 *
 *	 one phase    COMMIT on each node ──► commit here
 *	 two phases   rows of the log, flushed ──► PREPARE on all nodes ──►
 *	              commit here, which decides ──► COMMIT PREPARED on all nodes
 *	 new tables   rows of the log, flushed ──► COMMIT on their nodes, with a
 *	              mark on each table ──► commit here, which attaches the
 *	              foreign tables, and decides ──► the marks are taken off
 *
 * In two phases nothing is committed anywhere before the transaction here is,
 * and what can fail has been done by then: all nodes have promised to commit,
 * even if they crash.  What they are not told any more, because they or this
 * server crash or the connection breaks, fast_copy_resolve() tells them
 * (remote/resolve.c), by the rows of the log (remote/log.c).
 *
 * Nobody reads a new table before its foreign table is attached, which is one
 * commit here: so a new table need not wait for the other nodes, and its node
 * need not prepare transactions.  The mark is a comment on it, the name that a
 * prepared transaction would have.  A table with a mark of which the log has no
 * row is dropped; without a mark it is nobody's but the node's.
 *
 * The log reaches the disk before the first node prepares, and the commit here
 * does not return before it has (ForceSyncCommit), whatever synchronous_commit
 * says.
 *
 * What comes after the commit runs where core can bear no error: it waits for
 * a fixed time, swallows what is thrown, and tells by a WARNING what is left.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "remote/commit.h"
#include "remote/gid.h"
#include "remote/log.h"

/*
 * ms that all nodes together have to commit, or to roll back, what is
 * prepared
 */
#define FC_COMMIT_WAIT_MS	10000

void
fc_commit_foresee(FcRemoteCommit commit, const FcNode *node)
{
	bool		there = fc_log_is_there();

	if (commit == FC_COMMIT_ONE_PHASE || (node->can_prepare && there))
		return;
	ereport(commit == FC_COMMIT_TWO_PHASE ? ERROR : NOTICE,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg(commit == FC_COMMIT_TWO_PHASE ?
					"rows on server \"%s\" cannot be committed in two phases" :
					"rows on server \"%s\" are committed in one phase", node->name),
			 !there ? errdetail("Extension \"%s\" is not created in this database.", "fast_copy") :
			 errdetail("The server does not prepare transactions: its max_prepared_transactions is 0."),
			 commit == FC_COMMIT_TWO_PHASE ?
			 errhint("Change that, or use remote_commit => 'one_phase': a failure during commit can leave some servers loaded then.") :
			 errhint("A failure during commit can leave some servers loaded.")));
}

static bool
fc_commit_makes(dlist_head *members)
{
	dlist_iter	iter;

	dlist_foreach(iter, members)
		if (dlist_container(FcMember, link, iter.cur)->makes)
			return true;
	return false;
}

/*
 * Two phases, unless one server's commit does it all: there is no other one,
 * and the commit here has nothing to write and cannot fail any more.
 */
static bool
fc_commit_in_two(dlist_head *members, FcRemoteCommit commit)
{
	dlist_iter	iter;

	if (commit != FC_COMMIT_AUTO)
		return commit == FC_COMMIT_TWO_PHASE;
	if (dlist_head_node(members) == dlist_tail_node(members) && !fc_commit_makes(members) &&
		XactLastRecEnd == InvalidXLogRecPtr && !IsolationIsSerializable())
		return false;
	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (!member->makes && !member->node->can_prepare)
			return false;
	}
	return fc_log_is_there();
}

/*
 * Has the node refused, and so rolled back?  Not if it ended the session:
 * nobody knows what it did before.
 */
static bool
fc_commit_is_refused(FcWireResult *result)
{
	char	   *severity = fc_wire()->field(result, PG_DIAG_SEVERITY_NONLOCALIZED);

	return severity && strcmp(severity, "ERROR") == 0;
}

/*
 * Takes the answer to a command that ends the node's transaction.  A node
 * that has met an error rolls back, whatever it was told, and only its tag
 * says so.
 */
static void
fc_commit_take(FcMember *member, FcWireResult *result, const char *sql, const char *tag)
{
	if (result && fc_commit_is_refused(result))
		member->state = FC_MEMBER_ENDED;
	if (result == NULL || fc_wire()->kind(result) == FC_WIRE_ERROR)
		fc_node_throw(member->node, sql);
	if (strcmp(fc_wire()->tag(result), tag) == 0)
		return;
	member->state = FC_MEMBER_ENDED;
	member->failed = true;
	fc_member_check(member);
}

static void
fc_commit_one_by_one(dlist_head *members)
{
	dlist_iter	iter;

	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->gid)
			continue;
		fc_commit_take(member, fc_node_run(member->node, "COMMIT"), "COMMIT", "COMMIT");
		member->state = FC_MEMBER_ENDED;
	}
}

/*
 * Writes what is decided if this transaction commits, and flushes it: of all
 * members, or of those that make tables
 */
static void
fc_commit_log(dlist_head *members, bool all)
{
	uint64		nonce = fc_gid_nonce();
	int			n = 0;
	dlist_iter	iter;

	fc_log_hold(nonce);
	PushActiveSnapshot(GetLatestSnapshot());
	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);
		FcNode	   *node = member->node;
		char	   *gid;

		if (!all && !member->makes)
			continue;
		gid = fc_gid_make(fc_log_prefix(node->server), nonce, ++n);
		member->gid = MemoryContextStrdup(node->context, gid);
		fc_log_add(gid, node->server, node->system, node->userid);
	}
	PopActiveSnapshot();
	XLogFlush(XactLastRecEnd);
	ForceSyncCommit();
}

/* The steps of a member whose end is decided here */
typedef enum FcCommitStep
{
	FC_STEP_PREPARE,
	FC_STEP_COMMIT,
	FC_STEP_GIVE_UP
} FcCommitStep;

/* Appends what a step does to the tables that the member has made */
static void
fc_commit_tables(StringInfo sql, const FcMember *member, FcCommitStep step)
{
	const char *mark = step == FC_STEP_PREPARE ? quote_literal_cstr(member->gid) : "NULL";
	ListCell   *lc;

	foreach(lc, member->made)
	{
		const FcMadeTable *table = lfirst(lc);

		if (step == FC_STEP_GIVE_UP)
			appendStringInfo(sql, "DROP TABLE IF EXISTS %s; ", table->name);
		else
			appendStringInfo(sql, "COMMENT ON TABLE %s IS %s; ", table->name, mark);
	}
	if (step == FC_STEP_PREPARE)
		appendStringInfoString(sql, "COMMIT");
}

static bool
fc_commit_send(FcMember *member, FcCommitStep step)
{
	static const char *const commands[] = {
		"PREPARE TRANSACTION", "COMMIT PREPARED", "ROLLBACK PREPARED"
	};
	StringInfoData sql;
	bool		sent;

	initStringInfo(&sql);
	if (member->makes)
		fc_commit_tables(&sql, member, step);
	else
		appendStringInfo(&sql, "%s %s", commands[step], quote_literal_cstr(member->gid));
	sent = fc_node_send(member->node, sql.data);
	pfree(sql.data);
	return sent;
}

static void
fc_commit_prepare(dlist_head *members)
{
	dlist_iter	iter;

	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->gid == NULL)
			continue;
		member->state = FC_MEMBER_PREPARING;
		if (!fc_commit_send(member, FC_STEP_PREPARE))
			fc_node_throw(member->node, "PREPARE TRANSACTION");
	}
	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);
		const char *tag = member->makes ? "COMMIT" : "PREPARE TRANSACTION";

		if (member->gid == NULL)
			continue;
		fc_commit_take(member, fc_node_result(member->node, 0), tag, tag);
		member->state = member->makes && member->made == NIL ? FC_MEMBER_ENDED : FC_MEMBER_PREPARED;
	}
}

void
fc_commit_members(dlist_head *members, FcRemoteCommit commit)
{
	bool		in_two = fc_commit_in_two(members, commit);
	dlist_iter	iter;

	dlist_foreach(iter, members)
		fc_member_check(dlist_container(FcMember, link, iter.cur));
	if (in_two || fc_commit_makes(members))
	{
		fc_commit_log(members, in_two);
		fc_commit_prepare(members);
	}
	fc_commit_one_by_one(members);
}

/* Did the node prepare?  It may be at it still */
static void
fc_commit_settle(FcMember *member, TimestampTz until)
{
	FcWireResult *result = fc_node_result(member->node, until);

	if (result == NULL)
		return;
	if (fc_wire()->kind(result) == FC_WIRE_DONE)
		member->state = FC_MEMBER_PREPARED;
	else if (fc_commit_is_refused(result))
		member->state = FC_MEMBER_ENDED;
}

/*
 * Tells of one that is left as it was prepared.  A table that keeps its mark
 * for a while is none the worse for it.
 */
static void
fc_commit_warn(FcMember *member, bool commit)
{
	/* what is thrown there must not meet the WARNING */
	char	   *name = fc_node_tellable(member->node->name);
	char	   *detail = fc_node_tellable(fc_node_complaint(member->node));

	if (commit && member->makes)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg(commit ? "could not commit the prepared transaction \"%s\" on server \"%s\"" :
					member->makes ? "could not drop the tables marked \"%s\" on server \"%s\"" :
					"could not roll back the prepared transaction \"%s\" on server \"%s\"",
					member->gid, name),
			 errdetail_internal("%s", detail),
			 errhint("fast_copy_resolve() does so, and the next load into this server.")));
}

/*
 * Tells all that are prepared.  Those that have not said yet whether they are
 * come last, so that nobody waits behind a server that says nothing.
 */
static void
fc_commit_tell(dlist_head *members, FcCommitStep step, TimestampTz until)
{
	dlist_iter	iter;

	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->state == FC_MEMBER_PREPARING)
			fc_commit_settle(member, GetCurrentTimestamp());
		if (member->state == FC_MEMBER_PREPARED)
			(void) fc_commit_send(member, step);
	}
	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->state != FC_MEMBER_PREPARING)
			continue;
		fc_commit_settle(member, until);
		if (member->state == FC_MEMBER_PREPARED)
			(void) fc_commit_send(member, step);
	}
}

/* Ends all that is prepared; waits for the nodes side by side */
static void
fc_commit_end(dlist_head *members, bool commit)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_COMMIT_WAIT_MS);
	dlist_iter	iter;

	fc_commit_tell(members, commit ? FC_STEP_COMMIT : FC_STEP_GIVE_UP, until);
	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);
		FcWireResult *result = member->state == FC_MEMBER_PREPARED ?
			fc_node_result(member->node, until) : NULL;

		if (result && fc_wire()->kind(result) == FC_WIRE_DONE)
			member->state = FC_MEMBER_ENDED;
		else if (member->state == FC_MEMBER_PREPARED || member->state == FC_MEMBER_PREPARING)
			fc_commit_warn(member, commit);
	}
}

/*
 * Nothing is thrown: memory may run out, for one.  An error ends that
 * interrupts are held, and core holds them here: it goes on as it was.
 */
static void
fc_commit_end_quietly(dlist_head *members, bool commit)
{
	MemoryContext old = CurrentMemoryContext;
	uint32		held = InterruptHoldoffCount;

	PG_TRY();
	{
		fc_commit_end(members, commit);
	}
	PG_CATCH();
	{
		InterruptHoldoffCount = held;
		MemoryContextSwitchTo(old);
		FlushErrorState();
	}
	PG_END_TRY();
}

void
fc_commit_finish(dlist_head *members)
{
	fc_commit_end_quietly(members, true);
	/* who cancels has ended the wait, and not what comes after the commit */
	QueryCancelPending = false;
}

void
fc_commit_give_up(dlist_head *members)
{
	fc_commit_end_quietly(members, false);
}
