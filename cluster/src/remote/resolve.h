/*-------------------------------------------------------------------------
 *
 * remote/resolve.h
 *	  What crashes have left prepared on nodes: found, and brought to its end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RESOLVE_H
#define FC_RESOLVE_H

#include "nodes/pg_list.h"

#include "remote/node.h"

/* A transaction that a node has prepared, or a node that cannot be asked */
typedef struct FcLeft
{
	char	   *server;
	char	   *gid;			/* NULL: of a node that cannot be asked */
	TimestampTz prepared;		/* when; of a gid */
	bool		ours;			/* our user there may end it */
	const char *outcome;
	char	   *detail;			/* or NULL */
} FcLeft;

/*
 * Before a load, on a session outside of a transaction: ends the transactions
 * that are left on the node, as far as its user may, and removes the rows of
 * the log that nobody needs any more.  ERROR if the node does not answer in
 * ten seconds.
 */
extern void fc_resolve_before(FcNode *node);

/*
 * Finds a server; ERROR if there is none, or if it is not one of postgres_fdw
 */
extern Oid	fc_resolve_server_named(const char *name);

/*
 * Does the same for the foreign server; or for all (InvalidOid) that are the
 * caller's or a superuser's, and nodes of Citus.  A superuser does it with the
 * mappings of all users, others with their own.  Without "act" tells what
 * would be done.  Returns FcLeft.  Each server has ten seconds.
 */
extern List *fc_resolve_servers(Oid server, bool act);

#endif							/* FC_RESOLVE_H */
