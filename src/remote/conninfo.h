/*-------------------------------------------------------------------------
 *
 * remote/conninfo.h
 *	  Who may connect to a server, and how.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONNINFO_H
#define FC_CONNINFO_H

#include "foreign/foreign.h"

#include "wire/wire.h"

/* Names and values for the connection, each list ended by NULL */
typedef struct FcConninfo
{
	const char **names;
	const char **values;
	int			timeout;		/* seconds to connect in; 0: however long it
								 * takes */
} FcConninfo;

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
 * What libpq gets, of the options of both.  ERROR 2F003 unless the user may
 * connect with what they say: who is no superuser must have a password there,
 * or a superuser's word that none is needed.
 */
extern FcConninfo fc_conninfo_make(const ForeignServer *server, const UserMapping *mapping);

/*
 * Once connected.  ERROR 2F003 if the server did not ask a user for the
 * password who had to have one: it would have let anybody in who reaches it as
 * this server does.
 */
extern void fc_conninfo_check(const FcWire *wire, const UserMapping *mapping);

#endif							/* FC_CONNINFO_H */
