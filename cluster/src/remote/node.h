/*-------------------------------------------------------------------------
 *
 * remote/node.h
 *	  A session with another server: a node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_NODE_H
#define FC_NODE_H

#include "datatype/timestamp.h"

#include "wire/wire.h"

typedef struct FcNode
{
	MemoryContext context;		/* of this, and of what goes with it */
	Oid			server;			/* its number */
	Oid			userid;			/* whose mapping it is, or who it is */
	char	   *name;			/* of the server */
	FcWire	   *wire;			/* NULL: not connected yet */
	FcWireResult *result;		/* the last one; ours to free */
	char	   *settings;		/* that the session has; NULL: not known */
	int64		system;			/* tells the database there from others */
	TimestampTz until;			/* when all waits for it end; 0: each as it
								 * says itself */
	int			prepares;		/* transactions that it can prepare at a time */
	bool		has_fast_copy;	/* the session there can load by fast_copy */
	bool		speaks_other;	/* its messages are in another language */
} FcNode;

/*
 * Connects as the user, by the user's mapping: for a load, or to resolve
 * (remote/conninfo.c).  ERROR if that is not done at the time "until", at
 * which all other waits for the session end, too; 0: never.  The caller closes
 * the session, also on error: it does not belong to the transaction.
 */
extern FcNode *fc_node_connect(Oid server, Oid userid, bool load, TimestampTz until);

/* Never throws, and does not wait; the node rolls back what is open */
extern void fc_node_close(FcNode *node);

/*
 * Sets the session up to read values as this session would; ERROR if it
 * cannot
 */
extern void fc_node_set_up(FcNode *node);

/*
 * Waits for the socket: WL_SOCKET_* in "events".  False if the time is over,
 * or, where interrupts are held, if the user or an administrator wants an
 * end.
 */
extern bool fc_node_wait(FcNode *node, int events, TimestampTz until);

/*
 * The same for the sockets of several nodes, n at most, and however long it
 * takes: the caller adds them in between, and does nothing there that throws.
 */
extern struct WaitEventSet *fc_node_wait_begin(int n);
extern void fc_node_wait_end(struct WaitEventSet *set);

/*
 * Asks the node to give up the command that it is at, which then fails, and
 * waits until it has been asked, or somebody wants an end.  Never throws.
 */
extern void fc_node_interrupt(FcNode *node, TimestampTz until);

/* Sends a command, as far as it goes; false on failure.  Never throws */
extern bool fc_node_send(FcNode *node, const char *sql);

/*
 * Waits for the result of what was sent: of several commands the first error,
 * or the last result.  It is the node's, until the next call.  NULL if the
 * time is over or the connection lost, or given up because the node has
 * answered something else, or too much: what the node has done is then
 * unknown.
 */
extern FcWireResult *fc_node_result(FcNode *node, TimestampTz until);

/* Sends a command and waits; false unless it was run.  Throws for interrupts */
extern bool fc_node_try(FcNode *node, const char *sql, TimestampTz until);

/* Sends a command and waits for its result; throws the node's error */
extern FcWireResult *fc_node_run(FcNode *node, const char *sql);

/* The same for a question; an error unless rows of so many columns come */
extern FcWireResult *fc_node_ask(FcNode *node, const char *sql, int columns);

/* Starts COPY ... FROM STDIN; throws the node's error */
extern void fc_node_copy(FcNode *node, const char *sql);

/*
 * The error that the node has met: its last result, or the connection's.  It is
 * in the current context, but for texts that last as long as the result.
 */
extern ErrorData *fc_node_error(FcNode *node);

/* Throws it */
extern void fc_node_throw(FcNode *node, const char *sql);

/* What the node said last, or why it said nothing; in the current context */
extern char *fc_node_complaint(FcNode *node);

/*
 * Calls the function where nothing may be thrown, but memory or descriptors
 * may run out; false if it has thrown.  Core holds interrupts there, and an
 * error would let them go: they stay held.
 */
extern bool fc_node_quietly(void (*body) (void *arg), void *arg);

/*
 * The text as it can be told after a commit, when no conversion to the client's
 * encoding may fail: palloc'd.  Never throws, but for memory.
 */
extern char *fc_node_tellable(const char *text);

#endif							/* FC_NODE_H */
