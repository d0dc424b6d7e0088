/*-------------------------------------------------------------------------
 *
 * rejects/own_table.c
 *	  Tables whose columns are ours: those for rejects and for the history.
 *
 * All is done by SQL, as the caller.  Names in it are qualified and quoted, and
 * all belongs to the caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat/compat.h"
#include "partition/ddl.h"
#include "rejects/own_table.h"

void
fc_own_table_check_rights(const FcOwnTable *kind, Oid table)
{
	if (pg_class_aclcheck(table, GetUserId(), ACL_INSERT) == ACLCHECK_OK)
		return;
	for (int i = 0; i < kind->ncolumns; i++)
	{
		AttrNumber	attnum = get_attnum(table, kind->columns[i].name);

		if (attnum == InvalidAttrNumber ||
			pg_attribute_aclcheck(table, attnum, GetUserId(), ACL_INSERT) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV,
						   get_relkind_objtype(get_rel_relkind(table)),
						   get_rel_name(table));
	}
}

void
fc_own_table_check_columns(const FcOwnTable *kind, Oid table)
{
	for (int i = 0; i < kind->ncolumns; i++)
		if (get_attnum(table, kind->columns[i].name) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of %s \"%s\" does not exist",
							kind->columns[i].name, kind->role, get_rel_name(table)),
					 errhint("%s() makes a table with all columns that are needed.",
							 kind->maker)));
}

static char *
fc_own_table_sql(const FcOwnTable *kind, Oid table)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s (",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
												get_rel_name(table)));
	for (int i = 0; i < kind->ncolumns; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(kind->columns[i].name));
	appendStringInfoString(&sql, ") VALUES (");
	for (int i = 0; i < kind->ncolumns; i++)
		appendStringInfo(&sql, "%s$%d", i > 0 ? ", " : "", i + 1);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

SPIPlanPtr
fc_own_table_prepare(const FcOwnTable *kind, Oid table)
{
	Oid		   *types = palloc(sizeof(Oid) * kind->ncolumns);
	SPIPlanPtr	plan;

	Assert(!IsInParallelMode());
	for (int i = 0; i < kind->ncolumns; i++)
		types[i] = kind->columns[i].typid;
	fc_ddl_keep_schema(get_rel_namespace(table));
	plan = SPI_prepare(fc_own_table_sql(kind, table), kind->ncolumns, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

void
fc_own_table_insert(SPIPlanPtr plan, Datum *values, const char *nulls)
{
	int			rc = SPI_execute_plan(plan, values, nulls, false, 0);

	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
}

static void
fc_own_table_run(const char *sql)
{
	int			rc = SPI_execute(sql, false, 0);

	if (rc < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
}

Oid
fc_own_table_create(const FcOwnTable *kind, const char *name)
{
	RangeVar   *rv = makeRangeVarFromNameList(fc_string_to_names(name));
	Oid			schema = RangeVarGetCreationNamespace(rv);
	const char *table = quote_qualified_identifier(get_namespace_name(schema),
												   rv->relname);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TABLE %s (", table);
	for (int i = 0; i < kind->ncolumns; i++)
		appendStringInfo(&sql, "%s%s %s", i > 0 ? ", " : "",
						 quote_identifier(kind->columns[i].name), kind->columns[i].type);
	appendStringInfoChar(&sql, ')');
	SPI_connect();
	fc_own_table_run(sql.data);
	fc_own_table_run(psprintf("COMMENT ON TABLE %s IS %s", table,
							  quote_literal_cstr(kind->comment)));
	for (int i = 0; i < kind->ncolumns; i++)
		fc_own_table_run(psprintf("COMMENT ON COLUMN %s.%s IS %s", table,
								  quote_identifier(kind->columns[i].name),
								  quote_literal_cstr(kind->columns[i].comment)));
	SPI_finish();
	return get_relname_relid(rv->relname, schema);
}
