/*-------------------------------------------------------------------------
 *
 * remote/transaction.c
 *	  The sessions of this transaction with nodes, and their common end.
 *
 *	 fc_transaction_join ──► members ──► savepoints ──► COMMIT, or nothing
 *
 * Members outlive a load: core's callbacks end them with the transaction.  A
 * node rolls back when its session is closed, but must have left a COPY
 * before: busy in one it would keep its locks for a while.
 *
 * Another extension may load in its callback before the commit.  If ours has
 * run before, that is an error.  If ours is not called at all, because the
 * library was loaded within that callback, rows are committed when core says
 * that the transaction is (fc_commit_finish); if it is prepared, they are not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"

#include "compat/compat.h"
#include "remote/remote.h"

/* ms that all nodes together have to leave their COPYs */
#define FC_TRANSACTION_LEAVE_MS	1000

static dlist_head members = DLIST_STATIC_INIT(members);

/*
 * Ours of the callbacks before the commit has run: no member may join any more
 */
static bool ending = false;

/* How they commit: the strictest wish of the transaction's loads */
static FcRemoteCommit commit_by = FC_COMMIT_AUTO;

dlist_head *
fc_transaction_members(void)
{
	return &members;
}

static void
fc_transaction_drop(FcMember *member)
{
	dlist_delete(&member->link);
	fc_node_close(member->node);
}

/* Body of fc_node_quietly */
static void
fc_transaction_leave_copies(void *level)
{
	fc_member_cancel_all(&members, *(int *) level,
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_TRANSACTION_LEAVE_MS));
}

/*
 * Ends the COPYs of members that began in subtransactions from this level on,
 * before they are dropped.
 */
static void
fc_transaction_cancel(int level)
{
	(void) fc_node_quietly(fc_transaction_leave_copies, &level);
}

static void
fc_transaction_drop_all(void)
{
	while (!dlist_is_empty(&members))
		fc_transaction_drop(dlist_container(FcMember, link, dlist_head_node(&members)));
}

static void
fc_transaction_event(XactEvent event, void *arg)
{
	ending = event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE;
	if (dlist_is_empty(&members))
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			fc_commit_members(&members, commit_by);
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has sent rows to other servers"),
					 errhint("Use COMMIT.")));
			break;
		case XACT_EVENT_PREPARE:
			/* what was sent is not committed: ours was not called before */
			fc_members_each(member, &members)
				member->broken = true;
			pg_fallthrough;
		case XACT_EVENT_COMMIT:
			fc_commit_finish(&members, true);
			fc_transaction_drop_all();
			break;
		case XACT_EVENT_ABORT:
			fc_transaction_cancel(0);
			fc_commit_finish(&members, false);
			fc_transaction_drop_all();
			break;
		default:
			break;
	}
}

/*
 * All members release their savepoints before the first one is said to belong
 * to the subtransaction around.  If one fails, the current subtransaction is
 * rolled back, and must be on all of them.
 */
static void
fc_transaction_leave(int level)
{
	fc_members_each(member, &members)
		if (member->depth >= level)
			fc_member_release(member);
	fc_members_each(member, &members)
		if (member->depth >= level)
			fc_member_leave(member);
}

static void
fc_transaction_roll_back(int level)
{
	dlist_mutable_iter iter;

	fc_transaction_cancel(level);
	dlist_foreach_modify(iter, &members)
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->level >= level)
			fc_transaction_drop(member);
		else if (member->depth >= level)
			fc_member_roll_back(member);
	}
}

static void
fc_transaction_sub_event(SubXactEvent event, SubTransactionId subid,
						 SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (dlist_is_empty(&members))
		return;
	if (event == SUBXACT_EVENT_PRE_COMMIT_SUB)
		fc_transaction_leave(level);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		fc_transaction_roll_back(level);
}

/*
 * A member that can take a COPY; or NULL.  "makes": one that has made tables,
 * which no other session sees, takes the next ones, too.  Tables that were
 * there go to other members, so that rows in one session do not wait for those
 * in another.
 */
static FcMember *
fc_transaction_find(Oid server, Oid userid, bool makes)
{
	fc_members_each(member, &members)
		if (member->node->server == server && member->node->userid == userid &&
			(member->made != NIL) == makes &&
			member->copy == NULL && !member->failed && !member->broken)
			return member;
	return NULL;
}

FcMember *
fc_transaction_maker(Oid server, Oid userid, const char *table)
{
	fc_members_each(member, &members)
		if (member->node->server == server && member->node->userid == userid &&
			fc_member_table(member, table))
			return member;
	return NULL;
}

/*
 * Can the new session with the server commit as is wished?  The first one also
 * ends what crashes have left there.
 */
static void
fc_transaction_meet(FcNode *node)
{
	int			n = fc_member_count(&members, node->server, NULL) + 1;

	fc_commit_foresee(commit_by, node, n);
	if (n == 1)
		fc_resolve_before(node);
}

/* Connects, and begins a transaction there */
static FcMember *
fc_transaction_begin(Oid server, Oid userid)
{
	FcNode	   *node = fc_node_connect(server, userid, true, 0);
	FcMember   *member;

	PG_TRY();
	{
		fc_transaction_meet(node);
		member = fc_member_begin(node);
	}
	PG_CATCH();
	{
		fc_node_close(node);
		PG_RE_THROW();
	}
	PG_END_TRY();
	dlist_push_tail(&members, &member->link);
	return member;
}

void
fc_transaction_rejoin(FcMember *member)
{
	fc_member_enter(member);
	fc_node_set_up(member->node);
}

void
fc_transaction_watch(void)
{
	RegisterXactCallback(fc_transaction_event, NULL);
	RegisterSubXactCallback(fc_transaction_sub_event, NULL);
}

FcMember *
fc_transaction_join(Oid server, Oid userid, bool makes)
{
	FcMember   *member;

	if (ending)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot send rows to other servers while the transaction commits"),
				 errdetail("The servers have been told to commit what came before.")));
	member = fc_transaction_find(server, userid, makes);
	if (member == NULL)
		member = fc_transaction_begin(server, userid);
	fc_transaction_rejoin(member);
	return member;
}

void
fc_remote_commit_by(FcRemoteCommit commit)
{
	if (dlist_is_empty(&members))
		commit_by = commit;
	else if (commit > commit_by)
	{
		fc_members_each(member, &members)
			fc_commit_foresee(commit, member->node,
							  fc_member_count(&members, member->node->server, member));
		commit_by = commit;
	}
}
