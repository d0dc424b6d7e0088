/*-------------------------------------------------------------------------
 *
 * rejects/own_table.c
 *	  Tables whose columns are ours: those for rejects, for the history and
 *	  for the ledger.
 *
 * All is done by SQL, as the caller.  Names in it are qualified and quoted, and
 * all belongs to the caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "utils/plancache.h"

#include "partition/partition.h"
#include "rejects/rejects.h"
#include "row/executor.h"
#include "source/advice.h"

/* ERROR 42501 without INSERT on the table or on each of the columns */
static void
fc_own_table_check_rights(const FcOwnTable *kind, Oid table)
{
	if (pg_class_aclcheck(table, GetUserId(), ACL_INSERT) == ACLCHECK_OK)
		return;
	for (int i = 0; i < kind->ncolumns; i++)
	{
		AttrNumber	attnum = get_attnum(table, kind->columns[i].name);

		if (attnum == InvalidAttrNumber ||
			pg_attribute_aclcheck(table, attnum, GetUserId(), ACL_INSERT) != ACLCHECK_OK)
			fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("permission denied for table %s", get_rel_name(table)),
					 errhint("Its owner may GRANT INSERT ON %s TO %s.",
							 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table)),
							 fc_advice_role()));
	}
}

void
fc_own_table_check_columns(const FcOwnTable *kind, Oid table)
{
	for (int i = 0; i < kind->ncolumns; i++)
		if (get_attnum(table, kind->columns[i].name) <= 0)
			fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("column \"%s\" of %s \"%s\" does not exist",
													  kind->columns[i].name, kind->role, get_rel_name(table)),
					 errhint("%s() makes a table with all columns that are needed.",
							 kind->maker));
}

/* ERROR if the table is not there any more, or the caller may not insert */
static void
fc_own_table_check_access(const FcOwnTable *kind, Oid table)
{
	(void) fc_ddl_table(table);
	fc_executor_check_schema(table);
	fc_own_table_check_rights(kind, table);
}

Relation
fc_own_table_open(const FcOwnTable *kind, Oid table)
{
	/* a role that may not insert must not hold up others by a lock */
	fc_own_table_check_access(kind, table);
	LockRelationOid(table, RowExclusiveLock);
	fc_own_table_check_access(kind, table);
	return table_open(table, NoLock);
}

void
fc_own_table_refuse(const FcOwnTable *kind, Oid table, const char *detail)
{
	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("table \"%s\" cannot be used as %s", get_rel_name(table), kind->role),
			 errdetail_internal("%s", detail),
			 errhint("Make a table by %s()%s.", kind->maker, kind->without));
}

/*
 * What may run code for a row, or refuse it, or is not ours; NULL: nothing; an
 * empty text: a column of ours is missing
 */
#define FC_OWN_TABLE_QUERY \
	"WITH ours (name, typid, key) AS (VALUES %s), " \
	"others AS (SELECT a.attnum, CASE WHEN o.name IS NULL OR a.attidentity <> '' THEN format('It has another column \"%%s\".', a.attname) " \
	"WHEN a.atttypid <> o.typid OR a.atttypmod >= 0 THEN format('Its column \"%%s\" has another type.', a.attname) " \
	"WHEN o.key AND a.attcollation NOT IN (0, %u) THEN format('Its column \"%%s\" has another collation.', a.attname) END AS why " \
	"FROM pg_attribute AS a LEFT JOIN ours AS o ON o.name = a.attname WHERE a.attrelid = %u AND a.attnum > 0 AND NOT a.attisdropped), " \
	"indexes AS (SELECT i.*, i.indisunique OR i.indisexclusion AS refuses, NOT i.indisexclusion AND i.indimmediate AND " \
	"(SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, n) " \
	"JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum WHERE k.n <= i.indnkeyatts) = '{%s}' AND " \
	"NOT EXISTS (SELECT FROM unnest(i.indcollation) AS c WHERE c NOT IN (0, %u)) AS keys FROM pg_index AS i WHERE i.indrelid = %u AND i.indislive) " \
	"SELECT CASE WHEN c.relkind <> 'r' OR c.relispartition THEN 'It is not an ordinary table.' " \
	"WHEN %s AND c.relpersistence = 'u' THEN 'It is unlogged: a crash would empty it.' " \
	"WHEN c.relpersistence = 't' AND c.relnamespace <> pg_my_temp_schema() THEN 'It is a temporary table of another session.' " \
	"WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid) THEN 'It has triggers or foreign keys.' " \
	"WHEN EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid) THEN 'It has rules.' " \
	"WHEN c.relrowsecurity THEN 'It has row-level security.' " \
	"WHEN EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'c') THEN 'It has check constraints.' " \
	"WHEN EXISTS (SELECT FROM pg_attrdef WHERE adrelid = c.oid) THEN 'It has columns with defaults.' " \
	"WHEN EXISTS (SELECT FROM ours WHERE name NOT IN (SELECT attname FROM pg_attribute WHERE attrelid = c.oid)) THEN '' " \
	"ELSE coalesce((SELECT why FROM others WHERE why IS NOT NULL ORDER BY attnum LIMIT 1), " \
	"(SELECT CASE WHEN indexprs IS NOT NULL OR indpred IS NOT NULL THEN 'It has an index with expressions.' ELSE 'It has an index that may refuse a row.' END " \
	"FROM indexes WHERE indexprs IS NOT NULL OR indpred IS NOT NULL OR refuses AND NOT coalesce(keys, false) ORDER BY indexrelid LIMIT 1), " \
	/* REINDEX CONCURRENTLY has another one, which is not valid */ \
	"CASE WHEN %s AND NOT EXISTS (SELECT FROM indexes WHERE keys AND refuses AND indisvalid) THEN 'It lacks its primary key.' END) END " \
	"FROM pg_class AS c WHERE c.oid = %u"

static const char *
fc_own_table_fault(const FcOwnTable *kind, Oid table)
{
	StringInfo	ours = makeStringInfo();
	StringInfo	keys = makeStringInfo();
	const char *keyed = kind->nkey > 0 ? "true" : "false";

	for (int i = 0; i < kind->nkey; i++)
		appendStringInfo(keys, "%s%s", i > 0 ? "," : "", kind->columns[kind->key[i]].name);
	for (int i = 0; i < kind->ncolumns; i++)
		appendStringInfo(ours, "%s('%s', %u::oid, '%s' = ANY ('{%s}'))", i > 0 ? ", " : "", kind->columns[i].name,
						 kind->columns[i].typid, kind->columns[i].name, keys->data);
	return fc_ddl_of_catalogs(psprintf(FC_OWN_TABLE_QUERY, ours->data, C_COLLATION_OID, table, keys->data, C_COLLATION_OID, table,
									   keyed, keyed, table));
}

void
fc_own_table_check_closed(const FcOwnTable *kind, Relation rel)
{
	Oid			owner = rel->rd_rel->relowner;
	const char *why;

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	/* a foreign owner could read what the caller loads, and add code later */
	if (owner != GetUserId() && !superuser_arg(owner))
		fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("table \"%s\" cannot be used as %s", RelationGetRelationName(rel), kind->role),
				 errdetail("It belongs to role \"%s\".", GetUserNameFromId(owner, false)),
				 errhint("Use a table of your own or of a superuser%s.", kind->without));
	why = fc_own_table_fault(kind, RelationGetRelid(rel));
	if (why && why[0] != '\0')
		fc_own_table_refuse(kind, RelationGetRelid(rel), why);
	fc_own_table_check_columns(kind, RelationGetRelid(rel));
}

SPIPlanPtr
fc_own_table_prepare(const FcOwnTable *kind, Oid table)
{
	Oid		   *types = palloc(sizeof(Oid) * kind->ncolumns);
	StringInfo	columns = makeStringInfo();
	StringInfo	values = makeStringInfo();
	SPIPlanPtr	plan;

	Assert(!IsInParallelMode());
	for (int i = 0; i < kind->ncolumns; i++)
	{
		types[i] = kind->columns[i].typid;
		appendStringInfo(columns, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(kind->columns[i].name));
		appendStringInfo(values, "%s$%d", i > 0 ? ", " : "", i + 1);
	}
	fc_ddl_keep_schema(get_rel_namespace(table));
	plan = SPI_prepare(psprintf("INSERT INTO %s (%s) VALUES (%s)", fc_ddl_table(table),
								columns->data, values->data),
					   kind->ncolumns, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

void
fc_own_table_insert(SPIPlanPtr plan, Datum *values, const char *nulls)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));

	(void) fc_ddl_execute(plan, source->query_string, 0, NULL, values, nulls);
}

Oid
fc_own_table_create(const FcOwnTable *kind, const char *name)
{
	RangeVar   *rv = makeRangeVarFromNameList(fc_string_to_names(name));
	Oid			schema = RangeVarGetCreationNamespace(rv);
	const char *table = fc_ddl_name(schema, rv->relname);
	StringInfo	sql = makeStringInfo();

	PreventCommandIfParallelMode(psprintf("%s()", kind->maker));
	appendStringInfo(sql, "CREATE TABLE %s (", table);
	for (int i = 0; i < kind->ncolumns; i++)
		appendStringInfo(sql, "%s%s %s", i > 0 ? ", " : "",
						 quote_identifier(kind->columns[i].name), kind->columns[i].type);
	for (int i = 0; i < kind->nkey; i++)
		appendStringInfo(sql, "%s%s", i > 0 ? ", " : ", PRIMARY KEY (",
						 quote_identifier(kind->columns[kind->key[i]].name));
	appendStringInfoString(sql, kind->nkey > 0 ? "))" : ")");
	SPI_connect();
	fc_ddl_run(sql->data);
	fc_ddl_run(psprintf("COMMENT ON TABLE %s IS %s", table,
						quote_literal_cstr(kind->comment)));
	for (int i = 0; i < kind->ncolumns; i++)
		fc_ddl_run(psprintf("COMMENT ON COLUMN %s.%s IS %s", table,
							quote_identifier(kind->columns[i].name),
							quote_literal_cstr(kind->columns[i].comment)));
	SPI_finish();
	return get_relname_relid(rv->relname, schema);
}
