/*-------------------------------------------------------------------------
 *
 * load/cascade.c
 *	  Rows of other tables that reference those which a load deletes.
 *
 *	 leaves ──► their triggers for ON DELETE ──► the tables that reference them
 *
 * Core decides what happens to such rows, as for any DELETE.  This file says
 * it to the caller: before the load, or in the error that ends it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgroids.h"

#include "load/steps.h"
#include "partition/ddl.h"

/* Tables in which triggers of the leaves, an array, delete or change rows */
#define FC_CASCADE_QUERY \
	"WITH said AS (SELECT format('%%I.%%I (ON DELETE %%s)', s.nspname, c.relname, a.does) AS name, row_number() OVER (ORDER BY l.n, t.tgname) AS n " \
	"FROM unnest('{%s}'::oid[]) WITH ORDINALITY AS l (leaf, n) JOIN pg_trigger AS t ON t.tgrelid = l.leaf " \
	"JOIN (VALUES (%u, 'CASCADE'), (%u, 'SET NULL'), (%u, 'SET DEFAULT')) AS a (function, does) ON a.function = t.tgfoid " \
	"JOIN pg_class AS c ON c.oid = t.tgconstrrelid JOIN pg_namespace AS s ON s.oid = c.relnamespace " \
	"WHERE t.tgenabled <> 'D' AND NOT (t.tgenabled = 'O' AND current_setting('session_replication_role') = 'replica')) " \
	"SELECT string_agg(name, ', ' ORDER BY n) FROM (SELECT name, min(n) AS n FROM said GROUP BY 1) AS named"

FcFault *
fc_cascade_find(const char *relname, const List *leaves)
{
	StringInfoData oids;
	char	   *names;

	initStringInfo(&oids);
	foreach_oid(leaf, leaves)
		appendStringInfo(&oids, "%s%u", oids.len > 0 ? "," : "", leaf);
	names = leaves == NIL ? NULL :
		fc_ddl_of_catalogs(psprintf(FC_CASCADE_QUERY, oids.data, F_RI_FKEY_CASCADE_DEL, F_RI_FKEY_SETNULL_DEL, F_RI_FKEY_SETDEFAULT_DEL));
	if (names == NULL)
		return NULL;
	return fc_fault("foreign keys", ERRCODE_SUCCESSFUL_COMPLETION,
					psprintf("rows that reference replaced rows of table \"%s\" are deleted or changed", relname),
					psprintf("Foreign keys reference them from %s.", names),
					pstrdup("If the file has the same keys again, on_conflict \"update\" leaves those rows as they are: it deletes none."));
}

void
fc_cascade_hint(void *arg)
{
	if (fc_error_wants_hint("update or delete on table \"%s\" violates"))
		errhint("If the file has the same keys again, use on_conflict \"update\", which deletes no rows; "
				"or, unless the constraint is ON DELETE RESTRICT, make it DEFERRABLE INITIALLY DEFERRED, so that it is checked at commit.");
}
