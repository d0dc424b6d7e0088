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

#include "remote/remote.h"

static char *
fc_remote_option(const List *options, const char *name)
{
	foreach_ptr(DefElem, option, options)
		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	return NULL;
}

char *
fc_remote_relname(const FcRemotePlace *place)
{
	Oid			oid = RelationGetRelid(place->rel);
	char	   *name;

	if (place->shard)
		return fc_shard_relname(oid, place->shard);
	name = fc_remote_option(GetForeignTable(oid)->options, "table_name");
	return name ? name : pstrdup(RelationGetRelationName(place->rel));
}

char *
fc_remote_schema(Relation foreign)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(foreign));
	char	   *schema = fc_remote_option(table->options, "schema_name");

	return schema ? schema : get_namespace_name(RelationGetNamespace(foreign));
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
	char	   *name = NULL;

	if (place->shard == NULL)
		name = fc_remote_option(GetForeignColumnOptions(RelationGetRelid(place->rel), attnum), "column_name");
	return name ? name : pstrdup(NameStr(TupleDescAttr(RelationGetDescr(place->rel), attnum - 1)->attname));
}
