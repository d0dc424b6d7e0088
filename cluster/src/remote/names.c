/*-------------------------------------------------------------------------
 *
 * remote/names.c
 *	  What a foreign table, or a shard, and its columns are called on their
 *	  server.
 *
 * As postgres_fdw has it: the options schema_name, table_name and column_name,
 * else the names here.  A shard has the schema and the columns of its table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "remote/conninfo.h"
#include "remote/remote.h"

/* The name that an option gives, else the one here */
static char *
fc_remote_name(const List *options, const char *option, const char *here)
{
	DefElem    *given = fc_conninfo_option(options, option);

	return given ? defGetString(given) : pstrdup(here);
}

char *
fc_remote_relname(const FcRemotePlace *place)
{
	Oid			oid = RelationGetRelid(place->rel);

	if (place->shard)
		return fc_shard_relname(oid, place->shard);
	return fc_remote_name(GetForeignTable(oid)->options, "table_name",
						  RelationGetRelationName(place->rel));
}

char *
fc_remote_schema(Relation foreign)
{
	return fc_remote_name(GetForeignTable(RelationGetRelid(foreign))->options, "schema_name",
						  get_namespace_name(RelationGetNamespace(foreign)));
}

char *
fc_remote_table(const FcRemotePlace *place)
{
	char	   *schema = place->shard ? get_namespace_name(RelationGetNamespace(place->rel)) :
		fc_remote_schema(place->rel);

	return quote_qualified_identifier(schema, fc_remote_relname(place));
}

char *
fc_remote_column(const FcRemotePlace *place, AttrNumber attnum)
{
	List	   *options = place->shard ? NIL : GetForeignColumnOptions(RelationGetRelid(place->rel), attnum);

	return fc_remote_name(options, "column_name",
						  NameStr(TupleDescAttr(RelationGetDescr(place->rel), attnum - 1)->attname));
}
