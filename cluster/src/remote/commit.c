/*-------------------------------------------------------------------------
 *
 * remote/commit.c
 *	  How nodes commit with this transaction: in one phase or in two.
 *
 *	 one phase    COMMIT on each node ──► commit here
 *	 two phases   rows of the log, flushed ──► PREPARE on all nodes ──►
 *	              commit here, which decides ──► COMMIT PREPARED on all nodes
 *
 * In two phases:
 *
 * 1. The rows of the log (remote/log.c) reach the disk before a node prepares.
 * 2. All nodes prepare: they have promised to commit, even if they crash.
 * 3. The commit here decides.  It does not return before it is on disk,
 *    whatever synchronous_commit says (ForceSyncCommit).
 * 4. Nodes are told to commit.  If one is not, because it or this server
 *    crashes or the connection breaks, fast_copy_resolve() tells it later
 *    (remote/resolve.c).
 *
 * One phase is taken only where two cannot be had, or by the caller's wish:
 * after the nodes' COMMIT a lot can fail here.  Callbacks that were registered
 * before ours come after it, as postgres_fdw's may; so do ON COMMIT DELETE
 * ROWS, NOTIFY and the checks of serializable transactions; and a cancel may
 * end the wait for nodes.
 *
 * A table that a load makes on a node is in the node's transaction.  A session
 * that reads its foreign table waits for this transaction's lock, which is
 * released only after the nodes were told.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "utils/builtins.h"

#include "elsewhere/elsewhere.h"
#include "remote/remote.h"

/*
 * ms that all nodes together have to commit, or to roll back, what is
 * prepared
 */
#define FC_COMMIT_WAIT_MS	10000

/* The command, and its tag */
#define FC_COMMIT_PREPARE	"PREPARE TRANSACTION"

FcRemoteCommit
fc_commit_of(const FcOptions *options)
{
	const char *commit = options->remote_commit_word;

	if (pg_strcasecmp(commit, "auto") == 0)
		return FC_COMMIT_AUTO;
	if (pg_strcasecmp(commit, "two_phase") == 0)
		return FC_COMMIT_TWO_PHASE;
	if (pg_strcasecmp(commit, "one_phase") == 0)
		return FC_COMMIT_ONE_PHASE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("remote_commit \"%s\" not recognized", commit),
			 fc_option_hint(options, FC_OPTION_remote_commit)));
}

/* Why a server cannot prepare so many; NULL: it can */
static char *
fc_commit_refusal(const FcNode *node, int n)
{
	if (!fc_log_is_there())
		return psprintf("Extension \"%s\" is not created in this database.", FC_ELSEWHERE_EXTENSION);
	if (node->prepares == 0)
		return "The server does not prepare transactions: its max_prepared_transactions is 0.";
	if (n > node->prepares)
		return psprintf("The load needs more connections to it than the %d that its max_prepared_transactions permits to prepare.",
						node->prepares);
	return NULL;
}

void
fc_commit_foresee(FcRemoteCommit commit, const FcNode *node, int n)
{
	char	   *why = commit == FC_COMMIT_ONE_PHASE ? NULL : fc_commit_refusal(node, n);

	/* a NOTICE is enough for all of its connections */
	if (why == NULL || (commit == FC_COMMIT_AUTO && n > 1 && fc_commit_refusal(node, n - 1)))
		return;
	ereport(commit == FC_COMMIT_TWO_PHASE ? ERROR : NOTICE,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg(commit == FC_COMMIT_TWO_PHASE ?
					"rows on server \"%s\" cannot be committed in two phases" :
					"rows on server \"%s\" are committed in one phase", node->name),
			 errdetail_internal("%s", why),
			 commit == FC_COMMIT_TWO_PHASE ?
			 errhint("Change that, or use remote_commit => 'one_phase': a failure during commit can leave some servers loaded then.") :
			 errhint("A failure during commit can leave some servers loaded.")));
}

static bool
fc_commit_in_two(dlist_head *members, FcRemoteCommit commit)
{
	if (commit != FC_COMMIT_AUTO)
		return commit == FC_COMMIT_TWO_PHASE;
	fc_members_each(member, members)
		if (fc_commit_refusal(member->node, fc_member_count(members, member->node->server, NULL)))
			return false;
	return true;
}

/*
 * Has the node refused, and so rolled back?  Not if it ended the session: what
 * it did before is unknown.
 */
static bool
fc_commit_is_refused(FcWireResult *result)
{
	char	   *severity = fc_wire_field(result, PG_DIAG_SEVERITY_NONLOCALIZED);

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
	if (fc_commit_is_refused(result))
		member->state = FC_MEMBER_ENDED;
	if (fc_wire_kind(result) == FC_WIRE_ERROR)
		fc_node_throw(member->node, sql);
	if (strcmp(fc_wire_tag(result), tag) == 0)
		return;
	member->state = FC_MEMBER_ENDED;
	member->failed = true;
	fc_member_check(member);
}

static void
fc_commit_one_by_one(dlist_head *members)
{
	fc_members_each(member, members)
	{
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

	fc_log_hold(nonce);
	PushActiveSnapshot(GetLatestSnapshot());
	fc_members_each(member, members)
	{
		FcNode	   *node = member->node;
		char	   *gid = fc_gid_make(fc_log_prefix(node->server), nonce, ++n);

		member->gid = MemoryContextStrdup(node->context, gid);
		fc_log_add(gid, node->server, node->system, node->userid);
	}
	PopActiveSnapshot();
	XLogFlush(XactLastRecEnd);
	ForceSyncCommit();
}

/* Sends the command that takes the member's name */
static bool
fc_commit_send(FcMember *member, const char *command)
{
	return fc_node_send(member->node, psprintf("%s %s", command, quote_literal_cstr(member->gid)));
}

static void
fc_commit_prepare(dlist_head *members)
{
	fc_members_each(member, members)
	{
		member->state = FC_MEMBER_PREPARING;
		if (!fc_commit_send(member, FC_COMMIT_PREPARE))
			fc_node_throw(member->node, FC_COMMIT_PREPARE);
	}
	fc_members_each(member, members)
	{
		fc_commit_take(member, fc_node_result(member->node, 0), FC_COMMIT_PREPARE, FC_COMMIT_PREPARE);
		member->state = FC_MEMBER_PREPARED;
	}
}

void
fc_commit_members(dlist_head *members, FcRemoteCommit commit)
{
	fc_members_each(member, members)
	{
		Assert(member->state == FC_MEMBER_OPEN);
		fc_member_check(member);
	}
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

	if (fc_wire_kind(result) == FC_WIRE_DONE)
		member->state = FC_MEMBER_PREPARED;
	else if (fc_commit_is_refused(result))
		member->state = FC_MEMBER_ENDED;
}

static void
fc_commit_warn(FcMember *member, bool commit)
{
	/* made before the WARNING is begun, because this may throw */
	char	   *name = fc_node_tellable(member->node->name);
	char	   *detail = fc_node_tellable(fc_node_complaint(member->node));

	ereport(WARNING,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg(commit ? "could not commit the prepared transaction \"%s\" on server \"%s\"" :
					"could not roll back the prepared transaction \"%s\" on server \"%s\"",
					member->gid, name),
			 errdetail_internal("%s", detail),
			 errhint("fast_copy_resolve() does so, and the next load into this server.")));
}

/*
 * Commits what was not asked to prepare: the load began while this transaction
 * committed (remote/transaction.c)
 */
static void
fc_commit_late(FcMember *member, TimestampTz until)
{
	if (!member->broken && !member->failed && fc_node_try(member->node, "COMMIT", until) &&
		strcmp(fc_wire_tag(member->node->result), "COMMIT") == 0)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("could not commit what was sent to server \"%s\"",
					fc_node_tellable(member->node->name)),
			 errdetail("It was sent when the end of the transaction had begun.")));
}

/*
 * Tells all that are prepared.  Those that have not said yet whether they are
 * come last: no other waits behind a server that says nothing.
 */
static void
fc_commit_tell(dlist_head *members, const char *command, TimestampTz until)
{
	fc_members_each(member, members)
	{
		if (member->state == FC_MEMBER_PREPARING)
			fc_commit_settle(member, GetCurrentTimestamp());
		if (member->state == FC_MEMBER_PREPARED)
			(void) fc_commit_send(member, command);
	}
	fc_members_each(member, members)
	{
		if (member->state != FC_MEMBER_PREPARING)
			continue;
		fc_commit_settle(member, until);
		if (member->state == FC_MEMBER_PREPARED)
			(void) fc_commit_send(member, command);
	}
}

/* What fc_commit_end takes */
typedef struct FcCommitEnd
{
	dlist_head *members;
	bool		commit;
} FcCommitEnd;

/*
 * Body of fc_node_quietly: ends all that is prepared, where core can bear no
 * error.  So it waits for a fixed time, for the nodes side by side, and tells
 * by a WARNING what is left.
 */
static void
fc_commit_end(void *arg)
{
	const FcCommitEnd *end = arg;
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_COMMIT_WAIT_MS);

	fc_commit_tell(end->members, end->commit ? "COMMIT PREPARED" : "ROLLBACK PREPARED", until);
	fc_members_each(member, end->members)
	{
		if (member->state == FC_MEMBER_PREPARED &&
			fc_wire_kind(fc_node_result(member->node, until)) == FC_WIRE_DONE)
			member->state = FC_MEMBER_ENDED;
		else if (member->state == FC_MEMBER_PREPARED || member->state == FC_MEMBER_PREPARING)
			fc_commit_warn(member, end->commit);
		else if (member->state == FC_MEMBER_OPEN && end->commit)
			fc_commit_late(member, until);
	}
}

void
fc_commit_finish(dlist_head *members, bool commit)
{
	(void) fc_node_quietly(fc_commit_end, &(FcCommitEnd) {members, commit});

	/*
	 * a cancel has ended the wait, and must not end what comes after the
	 * commit
	 */
	if (commit)
		QueryCancelPending = false;
}
