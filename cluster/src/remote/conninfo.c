/*-------------------------------------------------------------------------
 *
 * remote/conninfo.c
 *	  Who may connect to a server, and how.
 *
 * A server may let in all that come from this machine, or from this operating
 * system's user.  Users of this server must not borrow that.  They need a
 * password of their own, given in the mapping and asked for by the server, or
 * a superuser's word in the mapping that none is needed.
 *
 * What postgres_fdw's validator has checked is trusted, so that the wrapper
 * must really be postgres_fdw.  Nodes of Citus have no mappings: only
 * superusers list nodes, and Citus lets each role in under its own name, with
 * what a superuser has given this server for it.
 *
 * No option reaches a message: one of them is the password.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "commands/dbcommands.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "compat/compat.h"
#include "remote/conninfo.h"

/* Is the function of C, and this one of postgres_fdw's library? */
static bool
fc_conninfo_is_function(Oid function, const char *name)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		is = false;
	bool		isnull;
	Datum		value;

	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
		is = !isnull && strcmp(TextDatumGetCString(value), name) == 0;
		value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
		if (is && !isnull)
		{
			char	   *library = TextDatumGetCString(value);
			char	   *slash = strrchr(library, '/');

			is = strcmp(slash ? slash + 1 : library, "postgres_fdw") == 0;
		}
	}
	ReleaseSysCache(tuple);
	return is;
}

bool
fc_conninfo_is_postgres(Oid server)
{
	ForeignDataWrapper *wrapper = GetForeignDataWrapper(GetForeignServer(server)->fdwid);

	return fc_conninfo_is_function(wrapper->fdwhandler, "postgres_fdw_handler") &&
		fc_conninfo_is_function(wrapper->fdwvalidator, "postgres_fdw_validator");
}

DefElem *
fc_conninfo_option(const List *options, const char *name)
{
	foreach_ptr(DefElem, option, options)
		if (strcmp(option->defname, name) == 0)
			return option;
	return NULL;
}

bool
fc_conninfo_is_mapped(Oid server, Oid userid)
{
	return SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(userid),
								 ObjectIdGetDatum(server)) ||
		SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(InvalidOid),
							  ObjectIdGetDatum(server));
}

const char *
fc_conninfo_refusal(Oid server, Oid userid)
{
	static const char *const names[] = {"use_scram_passthrough", "gssdelegation"};
	List	   *options = list_copy(GetForeignServer(server)->options);

	if (fc_conninfo_is_mapped(server, userid))
		options = list_concat(options, GetUserMapping(userid, server)->options);
	for (int i = 0; i < lengthof(names); i++)
		if (fc_conninfo_option(options, names[i]))
			return psprintf("its server has the option %s", names[i]);
	return NULL;
}

/*
 * Superusers need none for a load, as in postgres_fdw: they have named a
 * table.  To resolve they need none on servers of superusers, where only
 * superusers make mappings for everybody and for superusers.  Any other role
 * might have pointed a server at this machine or its file of passwords, with a
 * mapping for everybody.
 */
static bool
fc_conninfo_needs_password(const UserMapping *mapping, bool load)
{
	DefElem    *option = fc_conninfo_option(mapping->options, "password_required");

	/* userid is whom the mapping was asked for; it may be everybody's */
	if (superuser_arg(mapping->userid) &&
		(load || superuser_arg(GetForeignServer(mapping->serverid)->owner)))
		return false;
	return option == NULL || defGetBoolean(option);
}

static void
fc_conninfo_check_password(const UserMapping *mapping)
{
	DefElem    *password = fc_conninfo_option(mapping->options, "password");

	if (password && defGetString(password)[0] != '\0')
		return;
	ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
			 errmsg("password is required"),
			 errdetail("Non-superusers must provide a password in the user mapping.")));
}

static void
fc_conninfo_add(FcConninfo *info, int *n, const char *name, const char *value)
{
	info->names[*n] = name;
	info->values[(*n)++] = value;
}

/* The node that takes the writes of a group of Citus' */
static const FcCitusNode *
fc_conninfo_node(Oid server, bool missing_ok)
{
	const FcCitusNode *node = fc_citus_node_of(fc_citus_nodes(), FC_NODE_GROUP(server));

	if (node == NULL && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no primary node of group %d", FC_NODE_GROUP(server))));
	return node;
}

char *
fc_conninfo_name(Oid server, bool missing_ok)
{
	ForeignServer *foreign;

	if (FC_NODE_IS_CITUS(server))
	{
		const FcCitusNode *node = fc_conninfo_node(server, missing_ok);

		return node ? psprintf("%s:%d", node->host, node->port) : NULL;
	}
	foreign = GetForeignServerExtended(server, missing_ok ? FSV_MISSING_OK : 0);
	return foreign ? foreign->servername : NULL;
}

/* As Citus connects; what comes last counts */
static FcConninfo
fc_conninfo_of_citus(Oid server, Oid userid)
{
	const FcCitusNode *node = fc_conninfo_node(server, false);
	char	   *role = GetUserNameFromId(userid, false);
	FcConninfo	info = {.expand = true,.timeout = fc_citus_node_timeout()};
	int			n = 0;

	info.names = palloc0(8 * sizeof(char *));
	info.values = palloc0(8 * sizeof(char *));
	fc_conninfo_add(&info, &n, "dbname", fc_citus_node_conninfo(node, role));
	fc_conninfo_add(&info, &n, "host", node->host);
	fc_conninfo_add(&info, &n, "port", psprintf("%d", node->port));
	fc_conninfo_add(&info, &n, "user", role);
	fc_conninfo_add(&info, &n, "dbname", get_database_name(MyDatabaseId));
	fc_conninfo_add(&info, &n, "fallback_application_name", "fast_copy");
	fc_conninfo_add(&info, &n, "client_encoding", GetDatabaseEncodingName());
	return info;
}

static FcConninfo
fc_conninfo_of_mapping(Oid server, Oid userid, bool load)
{
	UserMapping *mapping = GetUserMapping(userid, server);
	List	   *options = list_concat_copy(GetForeignServer(server)->options, mapping->options);
	DefElem    *timeout = fc_conninfo_option(options, "connect_timeout");
	FcConninfo	info = {.needs_password = fc_conninfo_needs_password(mapping, load)};
	int			n = 0;

	if (info.needs_password)
		fc_conninfo_check_password(mapping);
	info.timeout = timeout ? atoi(defGetString(timeout)) : 0;
	info.names = palloc0((list_length(options) + 3) * sizeof(char *));
	info.values = palloc0((list_length(options) + 3) * sizeof(char *));
	foreach_ptr(DefElem, option, options)
		if (fc_wire_is_option(option->defname))
			fc_conninfo_add(&info, &n, option->defname, defGetString(option));
	fc_conninfo_add(&info, &n, "fallback_application_name", "fast_copy");
	fc_conninfo_add(&info, &n, "client_encoding", GetDatabaseEncodingName());
	return info;
}

FcConninfo
fc_conninfo_make(Oid server, Oid userid, bool load)
{
	return FC_NODE_IS_CITUS(server) ? fc_conninfo_of_citus(server, userid) :
		fc_conninfo_of_mapping(server, userid, load);
}

void
fc_conninfo_check(const FcWire *wire, const FcConninfo *info)
{
	if (!info->needs_password || fc_wire_used_password(wire))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
			 errmsg("password is required"),
			 errdetail("Non-superuser cannot connect if the server does not request a password."),
			 errhint("Target server's authentication method must be changed or password_required=false set in the user mapping attributes.")));
}
