/*-------------------------------------------------------------------------
 *
 * remote/agree.c
 *	  Is a foreign table what its server has?
 *
 * Nothing makes a foreign table's columns have the types that the server's
 * table has.  Core makes values of the types here, which the server casts.  A
 * field that is sent as it stands is read by the type there, which may take
 * what COPY refuses, or make another value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "remote/remote.h"

/* A type's name without the schema of all that PostgreSQL brings */
static const char *
fc_agree_bare(const char *type)
{
	return strncmp(type, "pg_catalog.", 11) == 0 ? type + 11 : type;
}

static void
fc_agree_refuse(FcNode *node, const FcRemotePlace *place, char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("%s \"%s\" is not what server \"%s\" has",
					place->shard ? "table" : "foreign table",
					RelationGetRelationName(place->rel), node->name),
			 errdetail_internal("%s", detail),
			 errhint("Change the %s, or use COPY without the option fast_copy.",
					 place->shard ? "table" : "foreign table")));
}

/* Finds the column's type there; NULL: there is no such column */
static const char *
fc_agree_type(FcWireResult *columns, const char *name)
{
	for (int row = 0; row < fc_wire_rows(columns); row++)
		if (strcmp(fc_wire_value(columns, row, 0), name) == 0)
			return fc_wire_value(columns, row, 1);
	return NULL;
}

bool
fc_agree_check(FcNode *node, const FcRemotePlace *place, const List *attnums)
{
	/* name, type, and whether the table has rules */
	FcWireResult *columns = fc_node_ask(node, psprintf("SELECT attname, pg_catalog.format_type(atttypid, atttypmod), relhasrules, relkind"
									  " FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON pg_class.oid = attrelid"
									  " WHERE attrelid = pg_catalog.to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
									  quote_literal_cstr(fc_remote_table(place))), 4);

	if (fc_wire_rows(columns) > 0 && fc_wire_value(columns, 0, 2)[0] == 't')
		fc_agree_refuse(node, place, "The table there has rules, which COPY would not follow.");
	foreach_int(attnum, attnums)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(place->rel), attnum - 1);
		char	   *name = fc_remote_column(place, attnum);
		const char *here = format_type_extended(att->atttypid, att->atttypmod,
												FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
		const char *there = fc_agree_type(columns, name);

		if (there && strcmp(fc_agree_bare(here), fc_agree_bare(there)) != 0)
			fc_agree_refuse(node, place, psprintf("Column \"%s\" is of type %s there, and %s here.",
													name, there, here));
	}
	return fc_wire_rows(columns) > 0 &&
		fc_wire_value(columns, 0, 3)[0] == RELKIND_PARTITIONED_TABLE;
}
