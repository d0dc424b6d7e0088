/*-------------------------------------------------------------------------
 *
 * remote/place.c
 *	  New partitions on other servers.
 *
 *	 the table here ──► CREATE FOREIGN TABLE, for partition/create.c
 *					──► CREATE TABLE and its indexes, for remote/make.c
 *
 * Both have the columns and CHECK constraints of the partitioned table.
 * Defaults are evaluated here; indexes are the server's.  No other load gives
 * the name there: what a crash leaves does no harm.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaddress.h"
#include "catalog/pg_collation.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat/compat.h"
#include "remote/remote.h"

/* Digits that make a name one that no other load gives */
#define FC_PLACE_DIGITS 8

/* A server, and what it has of the table */
typedef struct FcPlace
{
	Oid			server;
	int			npartitions;
	char	   *schema;			/* of them there */
} FcPlace;

/* The name of something here, with its schema's, both quoted */
static char *
fc_place_quoted(Oid schema, const char *name)
{
	return quote_qualified_identifier(get_namespace_name(schema), name);
}

static void
fc_place_count(FcPlace *places, int n, Oid partition)
{
	Relation	rel;
	Oid			server;

	if (get_rel_relkind(partition) != RELKIND_FOREIGN_TABLE)
		return;
	server = GetForeignServerIdByRelId(partition);
	for (int i = 0; i < n; i++)
	{
		if (places[i].server != server)
			continue;
		rel = table_open(partition, AccessShareLock);
		places[i].npartitions++;
		places[i].schema = fc_remote_schema(rel);
		table_close(rel, NoLock);
	}
}

void
fc_place_choose(Relation parent, const FcRoute *route, const List *servers,
				FcNewPartition *parts, int nparts)
{
	int			n = list_length(servers);
	FcPlace    *places = palloc0(sizeof(FcPlace) * n);

	for (int i = 0; i < n; i++)
	{
		places[i].server = list_nth_oid(servers, i);
		places[i].schema = get_namespace_name(RelationGetNamespace(parent));
	}
	for (int i = 0; i < route->nranges; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_place_count(places, n, route->ranges[i].partition);
	}
	for (int i = 0; i < nparts; i++)
	{
		FcPlace    *least = places;

		for (int k = 1; k < n; k++)
			if (places[k].npartitions < least->npartitions)
				least = &places[k];
		least->npartitions++;
		parts[i].remote = palloc0(sizeof(FcRemoteTable));
		parts[i].remote->server = least->server;
		parts[i].remote->schema = least->schema;
	}
}

/* Appends the collation, if it is another one than the type's */
static void
fc_place_collation(StringInfo sql, Form_pg_attribute att)
{
	const ObjectAddress collation = {CollationRelationId, att->attcollation, 0};

	if (OidIsValid(att->attcollation) && att->attcollation != get_typcollation(att->atttypid))
		appendStringInfo(sql, " COLLATE %s", getObjectIdentity(&collation, false));
}

static char *
fc_place_expression(Relation parent, const char *expression)
{
	List	   *context = deparse_context_for(RelationGetRelationName(parent),
											  RelationGetRelid(parent));

	return deparse_expression(stringToNode(expression), context, false, false);
}

/* Appends the default; a generated column is refused later (send/raw.c) */
static void
fc_place_default(StringInfo sql, Relation parent, Form_pg_attribute att)
{
	TupleConstr *constr = RelationGetDescr(parent)->constr;

	for (int i = 0; constr && i < constr->num_defval && !att->attgenerated; i++)
		if (constr->defval[i].adnum == att->attnum)
			appendStringInfo(sql, " DEFAULT %s", fc_place_expression(parent, constr->defval[i].adbin));
}

static void
fc_place_columns(StringInfo sql, Relation parent, bool defaults)
{
	TupleDesc	desc = RelationGetDescr(parent);
	const char *separator = "(";

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		appendStringInfo(sql, "%s%s %s", separator, quote_identifier(NameStr(att->attname)),
						 format_type_with_typemod(att->atttypid, att->atttypmod));
		fc_place_collation(sql, att);
		if (defaults)
			fc_place_default(sql, parent, att);
		if (att->attnotnull)
			appendStringInfoString(sql, " NOT NULL");
		separator = ", ";
	}
	for (int i = 0; desc->constr && i < desc->constr->num_check; i++)
	{
		ConstrCheck *check = &desc->constr->check[i];

		if (!check->ccnoinherit && (defaults || fc_check_is_enforced(check)))
			appendStringInfo(sql, ", CONSTRAINT %s CHECK (%s)", quote_identifier(check->ccname),
							 fc_place_expression(parent, check->ccbin));
	}
	appendStringInfoChar(sql, ')');
}

/*
 * Appends the command for the index there: from USING on that of the one here.
 * ATTACH refuses unique ones of foreign tables.
 */
static void
fc_place_index(StringInfo sql, Relation parent, Oid indexid, const char *table)
{
	Datum		definition = DirectFunctionCall1(pg_get_indexdef, ObjectIdGetDatum(indexid));
	char	   *whole = TextDatumGetCString(definition);
	char	   *before = psprintf("CREATE INDEX %s ON ONLY %s USING ", quote_identifier(get_rel_name(indexid)),
								  fc_place_quoted(RelationGetNamespace(parent), RelationGetRelationName(parent)));
	Size		len = strlen(before);

	if (strncmp(whole, "CREATE UNIQUE ", strlen("CREATE UNIQUE ")) == 0)
		return;
	if (strncmp(whole, before, len) != 0)
		elog(ERROR, "unexpected definition of index %u: %s", indexid, whole);
	appendStringInfo(sql, "CREATE INDEX ON %s USING %s; ", table, whole + len);
}

static char *
fc_place_indexes(Relation parent, const char *table)
{
	StringInfo	sql = makeStringInfo();

	foreach_oid(oid, RelationGetIndexList(parent))
		if (get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX)
			fc_place_index(sql, parent, oid, table);
	return sql->data;
}

char *
fc_place_sql(Relation parent, const char *name, FcRemoteTable *table)
{
	int			len = pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1 - FC_PLACE_DIGITS - 1);
	StringInfoData sql;
	char	   *quoted;

	table->name = psprintf("%.*s_%0*x", len, name, FC_PLACE_DIGITS, (uint32) fc_gid_nonce());
	quoted = quote_qualified_identifier(table->schema, table->name);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TABLE %s ", quoted);
	fc_place_columns(&sql, parent, false);
	table->create = sql.data;
	table->indexes = fc_place_indexes(parent, quoted);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s ", fc_place_quoted(RelationGetNamespace(parent), name));
	fc_place_columns(&sql, parent, true);
	appendStringInfo(&sql, " SERVER %s OPTIONS (schema_name %s, table_name %s)",
					 quote_identifier(GetForeignServer(table->server)->servername),
					 quote_literal_cstr(table->schema), quote_literal_cstr(table->name));
	return sql.data;
}
