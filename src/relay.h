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
 * Gives the command, a COPY, to the hooks from "next" on, each of which sees
 * it once, and calls run(arg) where core would run it, unless a hook throws an
 * error or does not pass it on.  The hooks see the number of rows in qc.
 *
 * A hook that looks at a copy of the tree sees another command.  ERROR 0A000
 * if it does not pass that on, or if the command runs a program, which it
 * might want to forbid.  With "optional" nothing is run then, and the result
 * is false: the caller may give the command to the hooks as it is.
 */
extern bool fc_relay(ProcessUtility_hook_type next, const FcRelayCall *call,
					 FcRelayRun run, void *arg, bool optional);

#endif							/* FC_RELAY_H */
