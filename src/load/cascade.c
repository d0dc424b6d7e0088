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

#include "access/table.h"
#include "commands/trigger.h"
#include "nodes/value.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "errors/context.h"
#include "load/steps.h"
#include "partition/ddl.h"

/* What a DELETE does to the rows that the trigger's table has, or NULL */
static const char *
fc_cascade_action(const Trigger *trigger)
{
	if (trigger->tgenabled == TRIGGER_DISABLED ||
		(SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA && trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN))
		return NULL;
	switch (trigger->tgfoid)
	{
		case F_RI_FKEY_CASCADE_DEL:
			return "CASCADE";
		case F_RI_FKEY_SETNULL_DEL:
			return "SET NULL";
		case F_RI_FKEY_SETDEFAULT_DEL:
			return "SET DEFAULT";
		default:
			return NULL;
	}
}

/* Adds the tables in which a DELETE from this one deletes or changes rows */
static List *
fc_cascade_add(List *names, Oid table)
{
	Relation	rel = table_open(table, AccessShareLock);

	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];
		const char *action = fc_cascade_action(trigger);
		char	   *name;

		if (action == NULL)
			continue;
		name = fc_ddl_name(get_rel_namespace(trigger->tgconstrrelid), get_rel_name(trigger->tgconstrrelid));
		names = list_append_unique(names, makeString(psprintf("%s (ON DELETE %s)", name, action)));
	}
	table_close(rel, AccessShareLock);
	return names;
}

FcFault *
fc_cascade_find(const char *relname, const List *leaves)
{
	List	   *names = NIL;
	StringInfoData text;

	foreach_oid(leaf, leaves)
	{
		CHECK_FOR_INTERRUPTS();
		names = fc_cascade_add(names, leaf);
	}
	if (names == NIL)
		return NULL;
	initStringInfo(&text);
	foreach_ptr(String, name, names)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", strVal(name));
	return fc_fault("foreign keys", ERRCODE_SUCCESSFUL_COMPLETION,
					psprintf("rows that reference replaced rows of table \"%s\" are deleted or changed", relname),
					psprintf("Foreign keys reference them from %s.", text.data),
					pstrdup("If the file has the same keys again, on_conflict \"update\" leaves those rows as they are: it deletes none."));
}

void
fc_cascade_hint(void *arg)
{
	ErrorData  *edata = fc_error_so_far();

	if (edata->hint == NULL && fc_error_says(edata, "update or delete on table \"%s\" violates"))
		errhint("If the file has the same keys again, use on_conflict \"update\", which deletes no rows; "
				"or, unless the constraint is ON DELETE RESTRICT, make it DEFERRABLE INITIALLY DEFERRED, so that it is checked at commit.");
	FreeErrorData(edata);
}
