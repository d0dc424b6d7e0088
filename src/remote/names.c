/*-------------------------------------------------------------------------
 *
 * remote/names.c
 *	  What a foreign table and its columns are called on their server.
 *
 * As postgres_fdw has it: the options schema_name, table_name and column_name,
 * else the names here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "remote/names.h"

/* The option's value, or NULL */
static char *
fc_remote_option(const List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	}
	return NULL;
}

char *
fc_remote_relname(Relation foreign)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(foreign));
	char	   *name = fc_remote_option(table->options, "table_name");

	return name ? name : pstrdup(RelationGetRelationName(foreign));
}

char *
fc_remote_schema(Relation foreign)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(foreign));
	char	   *schema = fc_remote_option(table->options, "schema_name");

	return schema ? schema : get_namespace_name(RelationGetNamespace(foreign));
}

char *
fc_remote_table(Relation foreign)
{
	return quote_qualified_identifier(fc_remote_schema(foreign), fc_remote_relname(foreign));
}

char *
fc_remote_column(Relation foreign, AttrNumber attnum)
{
	List	   *options = GetForeignColumnOptions(RelationGetRelid(foreign), attnum);
	char	   *name = fc_remote_option(options, "column_name");

	return name ? name : pstrdup(NameStr(TupleDescAttr(RelationGetDescr(foreign), attnum - 1)->attname));
}
