/*-------------------------------------------------------------------------
 *
 * relay.h
 *	  Lets the hooks that were there before ours see a command that we run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RELAY_H
#define FC_RELAY_H

#include "tcop/utility.h"

/* Does what the command says, and returns its number of rows */
typedef uint64 (*FcRelayRun) (void *arg);

/* The arguments of a hook of ProcessUtility; the tree is not changed */
typedef struct FcRelayCall
{
	PlannedStmt *pstmt;
	const char *query;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *environment;
	DestReceiver *dest;
	QueryCompletion *qc;		/* or NULL */
} FcRelayCall;

/* To be called when the library is loaded */
extern void fc_relay_define(void);

/*
 * Gives the command, a COPY, to the hooks from "next"
 * on, each of which sees it once; in place of core, run(arg) is called.  It
 * is not called if a hook throws an error, or does not pass the command on.
 * qc has the rows when the hooks look at it, and after the call.
 *
 * A hook that looks at a copy of the tree in place of the tree sees another
 * command.  If there is such a hook and a program is to be run, or if the hook
 * does not pass the command on, the error is 0A000; or, with "optional", the
 * result is false and nothing was run, for the caller to give the command to
 * the hooks as it is.
 */
extern bool fc_relay(ProcessUtility_hook_type next, const FcRelayCall *call,
					 FcRelayRun run, void *arg, bool optional);

#endif							/* FC_RELAY_H */
