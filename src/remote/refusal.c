/*-------------------------------------------------------------------------
 *
 * remote/refusal.c
 *	  Which foreign tables take raw records.
 *
 * A value that is sent as text is read by the node's type, where core would
 * read it by the one here.  Both are the same for types that PostgreSQL brings
 * itself, but for those whose input asks the server about more than settings:
 * names of objects, the locale of an amount of money.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "remote/conninfo.h"
#include "remote/remote.h"

/* Does the type's input mean the same on every server? */
static bool
fc_refusal_is_portable(Oid type)
{
	Oid			element = get_element_type(type);

	if (OidIsValid(element))
		type = element;
	switch (type)
	{
		case MONEYOID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGNAMESPACEOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGROLEOID:
		case REGTYPEOID:
		case ACLITEMOID:
			return false;
		default:
			return type < FirstUnpinnedObjectId;
	}
}

static const char *
fc_refusal_of_columns(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		if (att->attgenerated != '\0')
			return psprintf("column \"%s\" is generated", NameStr(att->attname));
		if (!fc_refusal_is_portable(att->atttypid))
			return psprintf("column \"%s\" has a type whose values may mean something else on another server",
							NameStr(att->attname));
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
	if (!fc_wire_is_there(&why))
		return why;
	if (fc_refusal_has_triggers(foreign->trigdesc))
		return "it has triggers";
	why = fc_refusal_of_columns(RelationGetDescr(foreign));
	if (why)
		return why;
	return fc_conninfo_refusal(server, GetUserId());
}
