/*-------------------------------------------------------------------------
 *
 * remote/commit.c
 *	  How nodes commit with this transaction: in one phase or in two.
 *
 *	 one phase    COMMIT on each node ──► commit here
 *	 two phases   rows of the log, flushed ──► PREPARE on all nodes ──►
 *	              commit here, which decides ──► COMMIT PREPARED on all nodes
 *
 * In two phases nothing is committed anywhere before the transaction here is,
 * and what can fail has been done by then: all nodes have promised to commit,
 * even if they crash.  What they are not told any more, because they or this
 * server crash or the connection breaks, fast_copy_resolve() tells them
 * (remote/resolve.c), by the rows of the log (remote/log.c).
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
	if (dlist_head_node(members) == dlist_tail_node(members) &&
		XactLastRecEnd == InvalidXLogRecPtr && !IsolationIsSerializable())
		return false;
	dlist_foreach(iter, members)
		if (!dlist_container(FcMember, link, iter.cur)->node->can_prepare)
			return false;
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

		fc_commit_take(member, fc_node_run(member->node, "COMMIT"), "COMMIT", "COMMIT");
		member->state = FC_MEMBER_ENDED;
	}
}

/* Writes what is decided if this transaction commits, and flushes it */
static void
fc_commit_log(dlist_head *members)
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
		char	   *gid = fc_gid_make(fc_log_prefix(node->server), nonce, ++n);

		member->gid = MemoryContextStrdup(node->context, gid);
		fc_log_add(gid, node->server, node->system, node->userid);
	}
	PopActiveSnapshot();
	XLogFlush(XactLastRecEnd);
	ForceSyncCommit();
}

/* Sends a command with the name of the member's prepared transaction */
static bool
fc_commit_send(FcMember *member, const char *command)
{
	char	   *sql = psprintf("%s %s", command, quote_literal_cstr(member->gid));
	bool		sent = fc_node_send(member->node, sql);

	pfree(sql);
	return sent;
}

static void
fc_commit_prepare(dlist_head *members)
{
	static const char command[] = "PREPARE TRANSACTION";
	dlist_iter	iter;

	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		member->state = FC_MEMBER_PREPARING;
		if (!fc_commit_send(member, command))
			fc_node_throw(member->node, command);
	}
	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		fc_commit_take(member, fc_node_result(member->node, 0), command, command);
		member->state = FC_MEMBER_PREPARED;
	}
}

void
fc_commit_members(dlist_head *members, FcRemoteCommit commit)
{
	dlist_iter	iter;

	dlist_foreach(iter, members)
		fc_member_check(dlist_container(FcMember, link, iter.cur));
	if (fc_commit_in_two(members, commit))
	{
		fc_commit_log(members);
		fc_commit_prepare(members);
	}
	else
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

/* Tells of one that is left prepared */
static void
fc_commit_warn(FcMember *member, bool commit)
{
	ereport(WARNING,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg(commit ? "could not commit the prepared transaction \"%s\" on server \"%s\"" :
					"could not roll back the prepared transaction \"%s\" on server \"%s\"",
					member->gid, member->node->name),
			 errdetail_internal("%s", fc_node_complaint(member->node)),
			 errhint("fast_copy_resolve() does so, and the next load into this server.")));
}

/* Ends all that is prepared; waits for the nodes side by side */
static void
fc_commit_end(dlist_head *members, bool commit)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_COMMIT_WAIT_MS);
	dlist_iter	iter;

	dlist_foreach(iter, members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->state == FC_MEMBER_PREPARING)
			fc_commit_settle(member, until);
		if (member->state == FC_MEMBER_PREPARED)
			(void) fc_commit_send(member, commit ? "COMMIT PREPARED" : "ROLLBACK PREPARED");
	}
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

/* Nothing is thrown: memory may run out, for one */
static void
fc_commit_end_quietly(dlist_head *members, bool commit)
{
	MemoryContext old = CurrentMemoryContext;

	PG_TRY();
	{
		fc_commit_end(members, commit);
	}
	PG_CATCH();
	{
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
