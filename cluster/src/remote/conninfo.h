/*-------------------------------------------------------------------------
 *
 * remote/conninfo.h
 *	  Who may connect to a server, and how.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONNINFO_H
#define FC_CONNINFO_H

#include "access/transam.h"

#include "citus/citus.h"
#include "wire/wire.h"

/*
 * The number of a server is the OID of a foreign server.  A group of nodes of
 * Citus has a number that is no OID of a user's object.
 */
#define FC_NODE_OF_GROUP(group)		((Oid) ((group) + 1))
#define FC_NODE_IS_CITUS(server)	((server) <= FC_CITUS_GROUPS)
#define FC_NODE_GROUP(server)		((int32) (server) - 1)

StaticAssertDecl(FC_NODE_OF_GROUP(FC_CITUS_GROUPS) == FirstNormalObjectId,
				 "groups of nodes have numbers below those of foreign servers");

/* Names and values for the connection, each list ended by NULL */
typedef struct FcConninfo
{
	const char **names;
	const char **values;
	bool		expand;			/* the first dbname is a connection string */
	int			timeout;		/* seconds to connect in; 0: however long it
								 * takes */
	bool		needs_password; /* the server must ask for it */
} FcConninfo;

/* The server's name, for messages.  If it is gone: NULL or an ERROR */
extern char *fc_conninfo_name(Oid server, bool missing_ok);

/* The option of this name in such a list; or NULL */
extern DefElem *fc_conninfo_option(const List *options, const char *name);

/*
 * Is the server's wrapper really postgres_fdw, whatever its name?  Its options
 * mean then what its validator has checked.
 */
extern bool fc_conninfo_is_postgres(Oid server);

/* Has the user a mapping for the server, own or everybody's? */
extern bool fc_conninfo_is_mapped(Oid server, Oid userid);

/*
 * Why the server or the user's mapping asks for a connection that only
 * postgres_fdw makes; NULL: we can make it, or there is no mapping
 */
extern const char *fc_conninfo_refusal(Oid server, Oid userid);

/*
 * Returns what libpq gets: for a foreign server the options of the server and
 * of the mapping, or ERROR 2F003 if the user may not connect with them.
 * "load" tells a load from a call that resolves.  For a node of Citus it is
 * what Citus would connect with, under the same name.
 */
extern FcConninfo fc_conninfo_make(Oid server, Oid userid, bool load);

/*
 * Called once connected.  ERROR 2F003 if the user had to have a password, and
 * the server did not ask for it: it would let in anybody who reaches it as
 * this server does.
 */
extern void fc_conninfo_check(const FcWire *wire, const FcConninfo *info);

#endif							/* FC_CONNINFO_H */
