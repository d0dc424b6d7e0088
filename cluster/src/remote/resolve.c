/*-------------------------------------------------------------------------
 *
 * remote/resolve.c
 *	  What crashes have left prepared on nodes: found, and brought to its end.
 *
 * 1. The resolver reads the rows of the log whose loads have ended.
 * 2. Only then it asks the node what that has prepared for this server.
 * 3. A row and a transaction: COMMIT PREPARED, and the row is removed.
 * 4. Only a row: a node prepares before the row can be seen, so that it has
 *    committed since.  The row is removed if the database that was asked is
 *    the one that prepared: the server may point elsewhere for a while.
 * 5. Only a transaction: its row may have been written since.  The resolver
 *    looks for it once the load has ended (fc_resolve_unlisted); none:
 *    ROLLBACK PREPARED.
 *
 * Nothing else that a node says is believed.  It may make up any number of
 * names: a call looks at a fixed number of them, one at a time, and then
 * releases the lock of a name that has no row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_user_mapping.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "compat/compat.h"
#include "remote/conninfo.h"
#include "remote/remote.h"

/* ms that a server has, for all that is asked and told */
#define FC_RESOLVE_WAIT_MS	10000

/* Rows of the log, and transactions of a node, that are looked at in a call */
#define FC_RESOLVE_MOST		200

/* The rows of loads that have ended */
static List *
fc_resolve_decisions(FcNode *node, const char *prefix, bool act)
{
	List	   *ended = NIL;

	foreach_ptr(FcDecision, decision, fc_log_list(node->server))
	{
		if (list_length(ended) == FC_RESOLVE_MOST)
			break;
		if (fc_log_has_ended(fc_gid_read(decision->gid, prefix), act))
			ended = lappend(ended, decision);
	}
	return ended;
}

/* What a node has prepared, first what our user there may end */
static const char fc_resolve_question[] =
"SELECT gid, prepared, CASE WHEN database <> pg_catalog.current_database() THEN 'It is of database \"' || database || '\".'"
" WHEN owner <> current_user AND NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)"
" THEN 'It is of role \"' || owner || '\".' END AS why"
" FROM pg_catalog.pg_prepared_xacts WHERE pg_catalog.starts_with(gid, %s) ORDER BY why NULLS FIRST, prepared, gid LIMIT %d";

static FcLeft *
fc_resolve_take(const FcNode *node, int row)
{
	FcLeft	   *left = palloc0(sizeof(FcLeft));
	char	   *prepared = fc_wire_value(node->result, row, 1);
	char	   *why = fc_wire_value(node->result, row, 2);

	left->server = pstrdup(node->name);
	left->gid = pstrdup(fc_wire_value(node->result, row, 0));
	left->prepared = DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in, CStringGetDatum(prepared),
															 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	left->ours = why[0] == '\0';
	left->detail = left->ours ? NULL : pstrdup(why);
	return left;
}

/*
 * Asks the node for all that it has of ours, also what our user there may not
 * end: rows of the log are kept for that.
 */
static List *
fc_resolve_ask(FcNode *node, const char *prefix)
{
	List	   *list = NIL;
	int			n;

	(void) fc_node_ask(node, psprintf(fc_resolve_question, quote_literal_cstr(prefix), FC_RESOLVE_MOST), 3);
	n = fc_wire_rows(node->result);
	for (int row = 0; row < n && row < FC_RESOLVE_MOST; row++)
		list = lappend(list, fc_resolve_take(node, row));
	return list;
}

static FcDecision *
fc_resolve_find(List *decisions, const char *gid)
{
	foreach_ptr(FcDecision, decision, decisions)
		if (strcmp(decision->gid, gid) == 0)
			return decision;
	return NULL;
}

static void
fc_resolve_end(FcNode *node, FcLeft *left, bool commit, bool act)
{
	char	   *sql = psprintf("%s PREPARED %s", commit ? "COMMIT" : "ROLLBACK",
							   quote_literal_cstr(left->gid));

	if (!act)
		left->outcome = commit ? "to be committed" : "to be rolled back";
	else if (fc_node_try(node, sql, 0))
		left->outcome = commit ? "committed" : "rolled back";
	else
	{
		left->outcome = "failed";
		left->detail = fc_node_complaint(node);
	}
}

/*
 * Is the transaction still there, now that no other session can end it?  If
 * the node does not tell: true, with an outcome.
 */
static bool
fc_resolve_is_there(FcNode *node, FcLeft *left)
{
	char	   *sql = psprintf("SELECT FROM pg_catalog.pg_prepared_xacts WHERE gid = %s",
							   quote_literal_cstr(left->gid));

	if (fc_node_try(node, sql, 0))
		return fc_wire_rows(node->result) > 0;
	left->outcome = "failed";
	left->detail = fc_node_complaint(node);
	return true;
}

/*
 * Decides about a transaction without a row in the list.  If its load has
 * ended by now, no row will be added any more, and one that was added can be
 * seen.  False if another session has ended the transaction since the node was
 * asked, and removed the row: nothing is to be done.
 */
static bool
fc_resolve_unlisted(FcNode *node, FcLeft *left, uint64 nonce, bool act)
{
	bool		there;

	if (!fc_log_has_ended(nonce, true))
	{
		left->outcome = "in progress";
		return true;
	}
	there = fc_resolve_is_there(node, left);
	if (there && left->outcome == NULL)
		fc_resolve_end(node, left, fc_log_has(left->gid, false), act);
	fc_log_let_go(nonce);
	return there;
}

/* Decides about a transaction; false: it is not there any more */
static bool
fc_resolve_one(FcNode *node, FcLeft *left, uint64 nonce, List *decisions, bool act)
{
	if (!left->ours || nonce == 0)
		left->outcome = "left";
	else if (fc_resolve_find(decisions, left->gid))
		fc_resolve_end(node, left, true, act);
	else
		return fc_resolve_unlisted(node, left, nonce, act);
	return true;
}

/*
 * Removes the rows that are not needed any more.  "all": the list has all that
 * the node has.
 */
static void
fc_resolve_forget(FcNode *node, List *decisions, List *list, bool all)
{
	foreach_ptr(FcDecision, decision, decisions)
	{
		const FcLeft *found = NULL;

		CHECK_FOR_INTERRUPTS();
		foreach_ptr(FcLeft, left, list)
			if (strcmp(left->gid, decision->gid) == 0)
				found = left;
		if (found ? strcmp(found->outcome, "committed") == 0 :
			all && decision->system == node->system)
			(void) fc_log_has(decision->gid, true);
	}
}

static List *
fc_resolve_node(FcNode *node, bool act)
{
	char	   *prefix = fc_log_prefix(node->server);
	List	   *decisions = fc_resolve_decisions(node, prefix, act);
	List	   *list = fc_resolve_ask(node, prefix);
	bool		all = list_length(list) < FC_RESOLVE_MOST;
	ListCell   *lc;

	foreach(lc, list)
	{
		FcLeft	   *left = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (act && GetCurrentTimestamp() >= node->until)
		{
			left->outcome = "failed";
			left->detail = "There was no time left for it.";
		}
		else if (!fc_resolve_one(node, left, fc_gid_read(left->gid, prefix), decisions, act))
			list = foreach_delete_current(list, lc);
	}
	if (act)
		fc_resolve_forget(node, decisions, list, all);
	return list;
}

static TimestampTz
fc_resolve_until(void)
{
	return TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_RESOLVE_WAIT_MS);
}

void
fc_resolve_before(FcNode *node)
{
	if (!fc_log_is_there())
		return;
	node->until = fc_resolve_until();
	(void) fc_resolve_node(node, true);
	if (node->result == NULL)
		fc_node_throw(node, "COMMIT PREPARED");
	node->until = 0;
}

/* Users whose mappings of the server the caller may resolve with */
static List *
fc_resolve_users(Oid server)
{
	Relation	catalog;
	List	   *users = NIL;
	SysScanDesc scan;
	HeapTuple	tuple;

	/* a node of Citus knows each role by its own name */
	if (FC_NODE_IS_CITUS(server))
		return list_make1_oid(GetUserId());
	if (!superuser())
		return fc_conninfo_is_mapped(server, GetUserId()) ? list_make1_oid(GetUserId()) : NIL;
	catalog = table_open(UserMappingRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_user_mapping form = (Form_pg_user_mapping) GETSTRUCT(tuple);

		/*
		 * everybody's mapping is the caller's, unless there is one of his own
		 */
		if (form->umserver == server)
			users = list_append_unique_oid(users, OidIsValid(form->umuser) ? form->umuser : GetUserId());
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return users;
}

/*
 * The one server; or all that need not be named, those of superusers and the
 * user's own, and nodes of Citus
 */
static List *
fc_resolve_which(Oid server)
{
	Relation	catalog;
	List	   *servers = NIL;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (OidIsValid(server))
		return list_make1_oid(server);
	catalog = table_open(ForeignServerRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_server form = (Form_pg_foreign_server) GETSTRUCT(tuple);

		/* a stranger's server may be gone by now */
		if ((superuser_arg(form->srvowner) || form->srvowner == GetUserId()) &&
			fc_conninfo_is_postgres(form->oid))
			servers = lappend_oid(servers, form->oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	foreach_ptr(const FcCitusNode, node, fc_citus_is_here() ? fc_citus_nodes() : NIL)
		if (node->group >= 0 && node->group < FC_CITUS_GROUPS)
			servers = lappend_oid(servers, FC_NODE_OF_GROUP(node->group));
	return servers;
}

Oid
fc_resolve_server_named(const char *name)
{
	Oid			server = GetForeignServerByName(name, false)->serverid;

	if (!fc_conninfo_is_postgres(server))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not one of postgres_fdw", name)));
	return server;
}

/* Connects, resolves and disconnects */
static List *
fc_resolve_as(Oid server, Oid userid, bool act, TimestampTz until)
{
	FcNode	   *node = fc_node_connect(server, userid, false, until);
	List	   *volatile list = NIL;

	PG_TRY();
	{
		list = fc_resolve_node(node, act);
	}
	PG_FINALLY();
	{
		fc_node_close(node);
	}
	PG_END_TRY();
	return list;
}

/*
 * An error of one server, whatever its SQLSTATE, is its outcome, unless it was
 * dropped meanwhile; the others get their turn.  Cancels are not taken while
 * it is caught: they end the wait, and are thrown once the subtransaction has
 * ended.  The log is locked by then, so that only nodes are waited for.
 */
static List *
fc_resolve_apart(Oid server, Oid userid, bool act, TimestampTz until)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	List	   *volatile list = NIL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		HOLD_CANCEL_INTERRUPTS();
		list = fc_resolve_as(server, userid, act, until);
		RESUME_CANCEL_INTERRUPTS();
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		FcLeft	   *left = MemoryContextAllocZero(context, sizeof(FcLeft));
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		left->server = fc_conninfo_name(server, true);
		left->outcome = "unreachable";
		left->detail = error->detail ? psprintf("%s: %s", error->message, error->detail) : error->message;
		list = left->server ? list_make1(left) : NIL;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	CHECK_FOR_INTERRUPTS();
	return list;
}

/* With all mappings of the server, as long as there is time */
static List *
fc_resolve_server(Oid server, bool act)
{
	TimestampTz until = fc_resolve_until();
	List	   *list = NIL;

	foreach_oid(userid, fc_resolve_users(server))
	{
		list = list_concat(list, fc_resolve_apart(server, userid, act, until));
		if (GetCurrentTimestamp() >= until)
			break;
	}
	return list;
}

List *
fc_resolve_servers(Oid server, bool act)
{
	List	   *list = NIL;

	fc_log_lock(act);
	foreach_oid(one, fc_resolve_which(server))
		list = list_concat(list, fc_resolve_server(one, act));
	return list;
}
