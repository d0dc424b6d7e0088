/*-------------------------------------------------------------------------
 *
 * citus/nodes.h
 *	  The servers of a Citus cluster, and how Citus connects to them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CITUS_NODES_H
#define FC_CITUS_NODES_H

#include "nodes/pg_list.h"

/* The primary of a group, which takes the group's writes */
typedef struct FcCitusNode
{
	int32		id;
	int32		group;
	char	   *host;
	int32		port;
	bool		active;
} FcCitusNode;

/* Returns the primaries of all groups, active or not: FcCitusNode */
extern List *fc_citus_nodes(void);

/* Finds the primary of a group in such a list; or NULL */
extern const FcCitusNode *fc_citus_node_of(const List *nodes, int32 group);

/* Is the node to be reached by a pooler instead? */
extern bool fc_citus_node_is_pooled(const FcCitusNode *node);

/*
 * Returns the connection string that Citus would connect with, but for host,
 * port, user and database.  It may have a password.
 */
extern char *fc_citus_node_conninfo(const FcCitusNode *node, const char *role);

/* Seconds that Citus gives a connection to be made */
extern int	fc_citus_node_timeout(void);

#endif							/* FC_CITUS_NODES_H */
