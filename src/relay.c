/*-------------------------------------------------------------------------
 *
 * relay.c
 *	  Lets the hooks that were there before ours see a command that we run.
 *
 *	 our hook ──► hooks before ──► standard_ProcessUtility ──► copy of tree:
 *																 SHOW ──► run
 *
 * Hooks of ProcessUtility are a chain: each calls an older one, and the oldest
 * one calls core.  A hook that runs a command itself hides it from all older
 * hooks, which may audit, count or forbid it.  So our hook sends the command
 * down the chain, and runs it where core would.  Core has no hook there, but
 * it copies a tree that it may not change, and an extensible node says how it
 * is copied:
 *
 * 1. Our hook gives the chain a tree that may not be changed, with a node of
 *    ours in planTree, which no utility command uses, and with a receiver of
 *    the result.
 * 2. Core copies that node before it copies the command, and the node puts
 *    SHOW in the place of the COPY.  SHOW needs no privilege and no snapshot.
 * 3. Core runs SHOW, and tells the receiver to begin.  The receiver puts the
 *    COPY back into the tree that the hooks know, and runs the load, which sets
 *    qc, as core does not for SHOW.  No other call can reach it.
 *
 * Where core does not copy the tree the command fails, because core does not
 * know its option: it is never run twice, or by another extension.
 *
 * All is on the stack of the call, or in its memory context: there is nothing
 * to clean up on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "tcop/dest.h"

#include "fast_copy.h"

/* A setting that always exists, and that every user may see */
#define FC_RELAY_SETTING	"fast_copy.workers"
#define FC_RELAY_NODE		"FastCopyRelay"

/* Frames' alignment may differ by so many bytes; any other frame is larger */
#define FC_RELAY_SLACK		64

typedef struct FcRelay
{
	DestReceiver receiver;		/* of SHOW; must be the first field */
	PlannedStmt *pstmt;			/* what the hooks see */
	Node	   *command;		/* the command in pstmt */
	Node	   *show;			/* what core gets in its place */
	int			ncopies;		/* of pstmt, before the command is run */
	char	   *copied_at;		/* where on the stack the last copy was made */
	ptrdiff_t	distance;		/* bytes from there to the receiver */
	ptrdiff_t	wanted;			/* the distance if core makes the copy */
	bool		optional;		/* core can run the command as well */
	bool		over;			/* the command runs, or has run */
	bool		refused;		/* it was not run, and core is to run it */
	FcRelayRun	run;			/* NULL: only the distance is wanted */
	void	   *arg;
} FcRelay;

typedef struct FcRelayNode
{
	ExtensibleNode node;
	FcRelay    *relay;			/* NULL in copies */
} FcRelayNode;

static void
fc_relay_node_copy(ExtensibleNode *to, const ExtensibleNode *from)
{
	FcRelay    *relay = ((const FcRelayNode *) from)->relay;

	((FcRelayNode *) to)->relay = NULL;
	if (relay == NULL || relay->over)
		return;
	relay->ncopies++;
	relay->copied_at = __builtin_frame_address(0);
	relay->pstmt->utilityStmt = relay->show;
}

static bool
fc_relay_node_equal(const ExtensibleNode *a, const ExtensibleNode *b)
{
	return true;
}

static void
fc_relay_node_out(StringInfo str, const ExtensibleNode *node)
{
}

static void
fc_relay_node_read(ExtensibleNode *node)
{
	((FcRelayNode *) node)->relay = NULL;
}

static const ExtensibleNodeMethods node_methods = {
	.extnodename = FC_RELAY_NODE,
	.node_size = sizeof(FcRelayNode),
	.nodeCopy = fc_relay_node_copy,
	.nodeEqual = fc_relay_node_equal,
	.nodeOut = fc_relay_node_out,
	.nodeRead = fc_relay_node_read
};

/* rStartup: runs the load when core begins to send the result of SHOW */
static void
fc_relay_run(DestReceiver *receiver, int operation, TupleDesc desc)
{
	FcRelay    *relay = (FcRelay *) receiver;

	if (relay->over || relay->ncopies == 0)
		return;
	relay->over = true;
	relay->distance = relay->copied_at - (char *) __builtin_frame_address(0);
	relay->pstmt->utilityStmt = relay->command;
	if (relay->run == NULL)
		return;
	/*
	 * have all hooks seen the program?  A hook that has looked at a copy of
	 * its own has seen SHOW, and so have those after it.  Extensions that must
	 * be loaded first do that for commands of their own; another one may want
	 * to forbid programs.
	 */
	relay->refused = castNode(CopyStmt, relay->command)->is_program &&
		(relay->ncopies != 1 || relay->distance <= relay->wanted - FC_RELAY_SLACK ||
		 relay->distance >= relay->wanted + FC_RELAY_SLACK);
	if (relay->refused && relay->optional)
		return;
	if (relay->refused)
		fc_unsupported(errmsg("cannot run a program together with another extension that is loaded before fast_copy"),
					   errdetail("It looks at a copy of the command, in which it would not see the program."),
					   errhint("Name fast_copy before it in shared_preload_libraries, or load what the program prints by COPY FROM STDIN."));
	relay->run(relay->arg);
}

static void
fc_relay_begin(FcRelay *relay, const FcRelayCall *call)
{
	FcRelayNode *node = (FcRelayNode *) newNode(sizeof(FcRelayNode), T_ExtensibleNode);
	VariableShowStmt *show = makeNode(VariableShowStmt);

	memset(relay, 0, sizeof(FcRelay));
	show->name = FC_RELAY_SETTING;
	node->node.extnodename = FC_RELAY_NODE;
	node->relay = relay;
	relay->receiver = *None_Receiver;
	relay->receiver.rStartup = fc_relay_run;
	relay->receiver.mydest = call->dest->mydest;
	relay->show = (Node *) show;
	relay->command = call->pstmt->utilityStmt;
	relay->pstmt = makeNode(PlannedStmt);
	memcpy(relay->pstmt, call->pstmt, sizeof(PlannedStmt));
	relay->pstmt->planTree = (struct Plan *) node;
}

/*
 * Returns the distance of the copy from the receiver if core alone makes it.
 * A hook that copies the tree makes a second copy, or makes it at another
 * distance.
 */
static ptrdiff_t
fc_relay_distance(const FcRelayCall *call)
{
	static ptrdiff_t distance = 0;
	FcRelay		relay;

	if (distance != 0)
		return distance;
	fc_relay_begin(&relay, call);
	standard_ProcessUtility(relay.pstmt, call->query, true, PROCESS_UTILITY_QUERY,
							NULL, NULL, &relay.receiver, NULL);
	distance = relay.distance;
	return distance;
}

void
fc_relay_define(void)
{
	RegisterExtensibleNodeMethods(&node_methods);
}

bool
fc_relay(ProcessUtility_hook_type next, const FcRelayCall *call, FcRelayRun run,
		 void *arg, bool optional)
{
	ptrdiff_t	wanted = fc_relay_distance(call);
	FcRelay		relay;

	Assert(IsA(call->pstmt->utilityStmt, CopyStmt));
	fc_relay_begin(&relay, call);
	relay.wanted = wanted;
	relay.run = run;
	relay.arg = arg;
	relay.optional = optional;
	next(relay.pstmt, call->query, true, call->context, call->params,
		 call->environment, &relay.receiver, call->qc);
	if (optional)
		return !relay.refused && (relay.over || relay.ncopies == 0);
	if (relay.ncopies > 0 && !relay.over)
		fc_unsupported(errmsg("another extension has not passed the load on"),
					   errdetail("It looks at a copy of the command, in which it does not see the load."));
	return true;
}
