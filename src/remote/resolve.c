/*-------------------------------------------------------------------------
 *
 * remote/resolve.c
 *	  What crashes have left prepared on nodes: found, and brought to its end.
 *
 *	 rows of the log whose loads have ended ──┐
 *	 what the node has prepared,              │
 *	 and its tables with a mark ──────────────┴──► a row: COMMIT PREPARED, or
 *	                                               the mark is taken off
 *	                                               none: ROLLBACK PREPARED, or
 *	                                               DROP TABLE
 *	                                               only a row: that is removed
 *
 * The order matters.  A row is read before the node is asked, so that one
 * whose transaction the node does not have is one that the node has
 * committed: it had prepared it before the row could be seen.  What the node
 * has and the list of rows has not may have got its row since, and is looked
 * for again, once it is known that its load has ended (remote/log.c).
 *
 * A table that a foreign table shows is never dropped.
 *
 * A row is removed only if the database that is asked is the one that prepared
 * the transaction: somebody may have the server point elsewhere for a while.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "citus/catalog.h"
#include "citus/nodes.h"
#include "remote/conninfo.h"
#include "remote/gid.h"
#include "remote/log.h"
#include "remote/names.h"
#include "remote/resolve.h"

/* ms that a node has to answer fast_copy_resolve() */
#define FC_RESOLVE_WAIT_MS	10000

/* The rows of loads that have ended */
static List *
fc_resolve_decisions(FcNode *node, bool act)
{
	List	   *ended = NIL;
	ListCell   *lc;

	foreach(lc, fc_log_list(node->server))
	{
		FcDecision *decision = lfirst(lc);

		if (fc_log_has_ended(decision->nonce, act))
			ended = lappend(ended, decision);
	}
	return ended;
}

/* What a node has prepared, and its tables with a mark: what FcLeft has */
static const char fc_resolve_question[] =
"SELECT gid, prepared::text, NULL AS name, NULL::text AS relname,"
" CASE WHEN database <> pg_catalog.current_database() THEN 'It is of database \"' || database || '\".'"
" WHEN owner <> current_user AND NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)"
" THEN 'It is of role \"' || owner || '\".' END AS why"
" FROM pg_catalog.pg_prepared_xacts WHERE pg_catalog.starts_with(gid, %s)"
" UNION ALL"
" SELECT description, NULL, pg_catalog.format('%%I.%%I', nspname, relname), relname::text,"
" CASE WHEN rolname <> current_user THEN 'Its owner is role \"' || rolname || '\".' END"
" FROM pg_catalog.pg_description JOIN pg_catalog.pg_class ON pg_class.oid = objoid"
" JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace"
" JOIN pg_catalog.pg_roles ON pg_roles.oid = relowner"
" WHERE classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND objsubid = 0 AND relkind = 'r'"
" AND pg_catalog.starts_with(description, %s) ORDER BY 2, 1, 3";

/* The value, or NULL */
static char *
fc_resolve_value(const FcNode *node, int row, int column)
{
	char	   *value = fc_wire()->value(node->result, row, column);

	return value[0] == '\0' ? NULL : pstrdup(value);
}

/*
 * Asks the node for all that it has of ours, also what our user there may not
 * end: rows of the log are kept for that.
 */
static List *
fc_resolve_ask(FcNode *node, const char *prefix)
{
	char	   *quoted = quote_literal_cstr(prefix);
	List	   *list = NIL;

	(void) fc_node_run(node, psprintf(fc_resolve_question, quoted, quoted));
	for (int row = 0; row < fc_wire()->rows(node->result); row++)
	{
		FcLeft	   *left = palloc0(sizeof(FcLeft));

		left->server = pstrdup(node->name);
		left->gid = pstrdup(fc_wire()->value(node->result, row, 0));
		left->prepared = fc_resolve_value(node, row, 1);
		left->table = fc_resolve_value(node, row, 2);
		left->relname = fc_resolve_value(node, row, 3);
		left->detail = fc_resolve_value(node, row, 4);
		left->ours = left->detail == NULL;
		if (left->table)
			left->detail = psprintf("It is table %s.%s%s", left->table,
									left->ours ? "" : " ", left->ours ? "" : left->detail);
		list = lappend(list, left);
	}
	return list;
}

static FcDecision *
fc_resolve_find(List *decisions, const char *gid)
{
	ListCell   *lc;

	foreach(lc, decisions)
		if (strcmp(((FcDecision *) lfirst(lc))->gid, gid) == 0)
			return lfirst(lc);
	return NULL;
}

static char *
fc_resolve_command(const FcLeft *left, bool commit)
{
	if (left->table == NULL)
		return psprintf("%s PREPARED %s", commit ? "COMMIT" : "ROLLBACK",
						quote_literal_cstr(left->gid));
	return psprintf(commit ? "COMMENT ON TABLE %s IS NULL" : "DROP TABLE IF EXISTS %s",
					left->table);
}

static void
fc_resolve_end(FcNode *node, FcLeft *left, bool commit, bool act)
{
	char	   *sql = fc_resolve_command(left, commit);

	if (!act)
		left->outcome = commit ? "to be committed" : "to be rolled back";
	else if (fc_node_try(node, sql, 0))
		left->outcome = commit ? "committed" : "rolled back";
	else
	{
		left->outcome = "failed";
		left->detail = fc_node_complaint(node);
	}
	pfree(sql);
}

/* Is it still there, now that nobody else can end it? */
static bool
fc_resolve_is_there(FcNode *node, const FcLeft *left)
{
	ListCell   *lc;

	foreach(lc, fc_resolve_ask(node, left->gid))
	{
		const FcLeft *now = lfirst(lc);

		if (strcmp(now->gid, left->gid) == 0 && (now->table == NULL) == (left->table == NULL) &&
			(left->table == NULL || strcmp(now->table, left->table) == 0))
			return true;
	}
	return false;
}

/*
 * Is a table that no row has decided about to stay nevertheless?  One that a
 * foreign table shows has readers, whatever has become of its row: a node that
 * came back with less than it had may have a mark that was taken off.
 */
static bool
fc_resolve_is_shown(const FcNode *node, const FcLeft *left)
{
	return left->relname && fc_remote_is_shown(node->server, left->relname);
}

/*
 * Decides about one.  If it has ended by now, nobody will add a row any more,
 * and one that was added can be seen.  But another session may have ended it
 * since the node was asked, and removed the row: then it is nobody's business
 * any more, and false is returned.  A table without its mark has readers.
 */
static bool
fc_resolve_one(FcNode *node, FcLeft *left, uint64 nonce, List *decisions, bool act)
{
	if (!left->ours || nonce == 0)
		left->outcome = "left";
	else if (fc_resolve_find(decisions, left->gid))
		fc_resolve_end(node, left, true, act);
	else if (!fc_log_has_ended(nonce, act))
		left->outcome = "in progress";
	else if (!fc_resolve_is_there(node, left))
		return false;
	else
		fc_resolve_end(node, left, fc_log_has(left->gid) || fc_resolve_is_shown(node, left), act);
	return true;
}

/* Removes the rows that are not needed any more */
static void
fc_resolve_forget(FcNode *node, List *decisions, List *list)
{
	ListCell   *lc;

	foreach(lc, decisions)
	{
		FcDecision *decision = lfirst(lc);
		bool		found = false;
		bool		done = true;
		ListCell   *lc2;

		/* a row may stand for several tables */
		foreach(lc2, list)
		{
			FcLeft	   *left = lfirst(lc2);

			if (strcmp(left->gid, decision->gid) != 0)
				continue;
			found = true;
			done = done && strcmp(left->outcome, "committed") == 0;
		}
		if (found ? done : decision->system == node->system)
			fc_log_remove(decision);
	}
}

List *
fc_resolve_node(FcNode *node, bool act)
{
	List	   *decisions;
	List	   *list;
	char	   *prefix;
	ListCell   *lc;

	if (!fc_log_is_there())
		return NIL;
	prefix = fc_log_prefix(node->server);
	decisions = fc_resolve_decisions(node, act);
	list = fc_resolve_ask(node, prefix);
	foreach(lc, list)
	{
		FcLeft	   *left = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (!fc_resolve_one(node, left, fc_gid_read(left->gid, prefix), decisions, act))
			list = foreach_delete_current(list, lc);
	}
	if (act)
		fc_resolve_forget(node, decisions, list);
	return list;
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

		/* everybody's is the caller's, unless there is an own one */
		if (form->umserver == server)
			users = list_append_unique_oid(users, OidIsValid(form->umuser) ? form->umuser : GetUserId());
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return users;
}

/* Adds the nodes of Citus, if it is here */
static List *
fc_resolve_citus(List *servers)
{
	ListCell   *lc;

	if (!fc_citus_is_here())
		return servers;
	foreach(lc, fc_citus_nodes())
	{
		const FcCitusNode *node = lfirst(lc);

		if (node->group >= 0 && node->group < FC_CITUS_GROUPS)
			servers = lappend_oid(servers, FC_NODE_OF_GROUP(node->group));
	}
	return servers;
}

/* All servers of postgres_fdw and nodes of Citus, or the one */
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
		Oid			oid = ((Form_pg_foreign_server) GETSTRUCT(tuple))->oid;

		if (fc_conninfo_is_postgres(oid))
			servers = lappend_oid(servers, oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return fc_resolve_citus(servers);
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
fc_resolve_as(Oid server, Oid userid, bool act)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_RESOLVE_WAIT_MS);
	FcNode	   *node = fc_node_connect(server, userid, until);
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

/* An error of one server is its outcome, and the others get their turn */
static List *
fc_resolve_apart(Oid server, Oid userid, bool act)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	List	   *volatile list = NIL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		list = fc_resolve_as(server, userid, act);
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
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		left->server = fc_conninfo_name(server);
		left->outcome = "unreachable";
		left->detail = error->detail ? psprintf("%s: %s", error->message, error->detail) : error->message;
		list = list_make1(left);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return list;
}

List *
fc_resolve_servers(Oid server, bool act)
{
	List	   *list = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, fc_resolve_which(server))
		foreach(lc2, fc_resolve_users(lfirst_oid(lc)))
		list = list_concat(list, fc_resolve_apart(lfirst_oid(lc), lfirst_oid(lc2), act));
	return list;
}
