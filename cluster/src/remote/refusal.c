/*-------------------------------------------------------------------------
 *
 * remote/refusal.c
 *	  Which foreign tables take raw records.
 *
 * Those that postgres_fdw keeps, and that do nothing for a row here.  What the
 * options and columns of the load say is looked at in send/raw.c, and what the
 * node has in remote/agree.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "foreign/fdwapi.h"

#include "remote/conninfo.h"
#include "remote/remote.h"

static const char *
fc_refusal_of_columns(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && att->attgenerated != '\0')
			return psprintf("column \"%s\" is generated", NameStr(att->attname));
	}
	return NULL;
}

static bool
fc_refusal_has_triggers(const TriggerDesc *triggers)
{
	return triggers && (triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
						triggers->trig_insert_instead_row || triggers->trig_insert_before_statement ||
						triggers->trig_insert_after_statement || triggers->trig_insert_new_table);
}

const char *
fc_remote_refusal(Relation foreign)
{
	Oid			server;
	const char *why;

	if (foreign->rd_rel->relkind != RELKIND_FOREIGN_TABLE)
		return "it is no foreign table";
	server = GetForeignServerIdByRelId(RelationGetRelid(foreign));
	if (!fc_conninfo_is_postgres(server))
		return "its rows are not kept by postgres_fdw";
	if (fc_refusal_has_triggers(foreign->trigdesc))
		return "it has triggers";
	why = fc_refusal_of_columns(RelationGetDescr(foreign));
	return why ? why : fc_conninfo_refusal(server, GetUserId());
}
