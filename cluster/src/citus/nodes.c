/*-------------------------------------------------------------------------
 *
 * citus/nodes.c
 *	  The servers of a Citus cluster, and how Citus connects to them.
 *
 *	 pg_dist_node ──► host and port of a group's primary
 *	 citus.node_conninfo, pg_dist_authinfo ──► the rest of the connection
 *
 * Only superusers write these.  Citus connects as the role that runs the
 * command, which has one name on all nodes; so do we.  Nothing of
 * pg_dist_authinfo reaches a message.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "postmaster/postmaster.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "citus/citus.h"
#include "compat/compat.h"

/* Rows of pg_dist_authinfo about all nodes, and about this server itself */
#define FC_CITUS_ANY_NODE	0
#define FC_CITUS_LOOPBACK	(-1)

List *
fc_citus_nodes(void)
{
	static const FcCitusColumn columns[] = {
		{"nodeid", INT4OID}, {"groupid", INT4OID}, {"nodename", TEXTOID},
		{"nodeport", INT4OID}, {"isactive", BOOLOID}, {"noderole", InvalidOid},
		{"nodecluster", NAMEOID}
	};
	const char *cluster = GetConfigOption("citus.cluster_name", true, false);
	FcCitusScan scan = fc_citus_scan("pg_dist_node", columns, lengthof(columns));
	const Datum *values = scan.values;
	const bool *nulls = scan.nulls;
	List	   *nodes = NIL;

	while (fc_citus_next(&scan))
	{
		FcCitusNode *node;

		if (nulls[1] || nulls[2] || nulls[3] || nulls[5] || nulls[6] ||
			strcmp(DatumGetCString(values[5]), "primary") != 0 ||
			strcmp(NameStr(*DatumGetName(values[6])), cluster ? cluster : "default") != 0)
			continue;
		node = palloc0(sizeof(FcCitusNode));
		node->id = DatumGetInt32(values[0]);
		node->group = DatumGetInt32(values[1]);
		node->host = TextDatumGetCString(values[2]);
		node->port = DatumGetInt32(values[3]);
		node->active = !nulls[4] && DatumGetBool(values[4]);
		nodes = lappend(nodes, node);
	}
	return nodes;
}

const FcCitusNode *
fc_citus_node_of(const List *nodes, int32 group)
{
	foreach_ptr(FcCitusNode, node, nodes)
		if (node->group == group)
			return node;
	return NULL;
}

bool
fc_citus_node_is_pooled(const FcCitusNode *node)
{
	static const FcCitusColumn columns[] = {{"nodeid", INT4OID}};
	FcCitusScan scan = fc_citus_scan("pg_dist_poolinfo", columns, lengthof(columns));
	bool		found = false;

	while (fc_citus_next(&scan))
		found |= !scan.nulls[0] && DatumGetInt32(scan.values[0]) == node->id;
	return found;
}

/* Is the node this server, as Citus names it? */
static bool
fc_citus_node_is_here(const FcCitusNode *node)
{
	const char *here = GetConfigOption("citus.local_hostname", true, false);

	return here && strcmp(node->host, here) == 0 && node->port == PostPortNumber;
}

/* What pg_dist_authinfo says; a row about all nodes counts last.  Or NULL */
static char *
fc_citus_node_authinfo(const FcCitusNode *node, const char *role)
{
	static const FcCitusColumn columns[] = {
		{"nodeid", INT4OID}, {"rolename", NAMEOID}, {"authinfo", TEXTOID}
	};
	int32		wanted = fc_citus_node_is_here(node) ? FC_CITUS_LOOPBACK : node->id;
	FcCitusScan scan = fc_citus_scan("pg_dist_authinfo", columns, lengthof(columns));
	const Datum *values = scan.values;
	const bool *nulls = scan.nulls;
	char	   *authinfo = NULL;
	bool		own = false;

	while (fc_citus_next(&scan))
	{
		int32		id = DatumGetInt32(values[0]);

		if (own || nulls[0] || nulls[1] || nulls[2] || (id != wanted && id != FC_CITUS_ANY_NODE) ||
			strcmp(NameStr(*DatumGetName(values[1])), role) != 0)
			continue;
		authinfo = TextDatumGetCString(values[2]);
		own = id == wanted;
	}
	return authinfo;
}

char *
fc_citus_node_conninfo(const FcCitusNode *node, const char *role)
{
	const char *all = GetConfigOption("citus.node_conninfo", true, false);
	char	   *own = fc_citus_node_authinfo(node, role);

	return psprintf("%s %s", all ? all : "", own ? own : "");
}

int
fc_citus_node_timeout(void)
{
	const char *ms = GetConfigOption("citus.node_connection_timeout", true, false);

	return ms ? (atoi(ms) + 999) / 1000 : 0;
}
