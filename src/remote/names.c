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

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
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

/* Does the row of pg_foreign_table stand for a table of this name? */
static bool
fc_remote_shows(Relation catalog, HeapTuple tuple, const char *name)
{
	Oid			foreign = ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftrelid;
	bool		isnull;
	Datum		options = heap_getattr(tuple, Anum_pg_foreign_table_ftoptions,
									   RelationGetDescr(catalog), &isnull);
	char	   *there = isnull ? NULL : fc_remote_option(untransformRelOptions(options), "table_name");

	if (there == NULL)
		there = get_rel_name(foreign);
	return there && strcmp(there, name) == 0;
}

bool
fc_remote_is_shown(Oid server, const char *name)
{
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	bool		shown = false;
	HeapTuple	tuple;

	while (!shown && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		shown = ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftserver == server &&
			fc_remote_shows(catalog, tuple, name);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return shown;
}

char *
fc_remote_column(const FcRemotePlace *place, AttrNumber attnum)
{
	char	   *name = NULL;

	if (place->shard == NULL)
		name = fc_remote_option(GetForeignColumnOptions(RelationGetRelid(place->rel), attnum), "column_name");
	return name ? name : pstrdup(NameStr(TupleDescAttr(RelationGetDescr(place->rel), attnum - 1)->attname));
}
