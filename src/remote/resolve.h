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

/*
 * A transaction that a node has prepared, a table there with a mark
 * (remote/commit.c), or a node that cannot be asked
 */
typedef struct FcLeft
{
	char	   *server;
	char	   *gid;			/* NULL: of a node that cannot be asked */
	char	   *prepared;		/* when, as a timestamptz's text; or NULL */
	char	   *table;			/* with its schema, quoted; NULL: it is a
								 * transaction */
	char	   *relname;		/* its name alone, not quoted; or NULL */
	bool		ours;			/* our user there may end it */
	const char *outcome;
	char	   *detail;			/* or NULL */
} FcLeft;

/*
 * Finds what is left on a node with which a session stands, outside of a
 * transaction there, and which its user may end.  With "act" commits it or
 * rolls it back, as the log has it, and removes the rows of the log that
 * nobody needs any more; else tells what would be done.  Returns FcLeft.
 */
extern List *fc_resolve_node(FcNode *node, bool act);

/*
 * Finds a server; ERROR if there is none, or if it is not one of postgres_fdw
 */
extern Oid	fc_resolve_server_named(const char *name);

/*
 * The same for the foreign server, or for all of them (InvalidOid): with the
 * caller's mapping, for a superuser with those of all users.
 */
extern List *fc_resolve_servers(Oid server, bool act);

#endif							/* FC_RESOLVE_H */
