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

/* What may run code for a row, or refuse it; NULL: nothing does */
static const char *
fc_own_table_code(const FcOwnTable *kind, Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	if (rel->rd_rel->relkind != RELKIND_RELATION || rel->rd_rel->relispartition)
		return "It is not an ordinary table.";
	if (kind->nkey > 0 && rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		return "It is unlogged: a crash would empty it.";
	if (RELATION_IS_OTHER_TEMP(rel))
		return "It is a temporary table of another session.";
	if (rel->trigdesc)
		return "It has triggers or foreign keys.";
	if (rel->rd_rules)
		return "It has rules.";
	if (rel->rd_rel->relrowsecurity)
		return "It has row-level security.";
	if (constr && constr->num_check > 0)
		return "It has check constraints.";
	if (constr && constr->num_defval > 0)
		return "It has columns with defaults.";
	return NULL;
}

/* Is a unique index on our key, which compares texts byte by byte? */
static bool
fc_own_table_is_key(const FcOwnTable *kind, Relation index)
{
	Form_pg_index form = index->rd_index;

	if (form->indisexclusion || !form->indimmediate || form->indnkeyatts != kind->nkey)
		return false;
	for (int i = 0; i < kind->nkey; i++)
		if (form->indkey.values[i] != get_attnum(form->indrelid, kind->columns[kind->key[i]].name) ||
			(OidIsValid(index->rd_indcollation[i]) && index->rd_indcollation[i] != C_COLLATION_OID))
			return false;
	return true;
}

static const char *
fc_own_table_indexes(const FcOwnTable *kind, Relation rel)
{
	const char *why = kind->nkey > 0 ? "It lacks its primary key." : NULL;

	foreach_oid(oid, RelationGetIndexList(rel))
	{
		Relation	index = index_open(oid, AccessShareLock);
		HeapTuple	tuple = index->rd_indextuple;
		bool		refuses = index->rd_index->indisunique || index->rd_index->indisexclusion;

		if (!heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) ||
			!heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
			return "It has an index with expressions.";
		if (refuses && !(kind->nkey > 0 && fc_own_table_is_key(kind, index)))
			return "It has an index that may refuse a row.";
		/* REINDEX CONCURRENTLY has another one, which is not valid */
		if (refuses && index->rd_index->indisvalid)
			why = NULL;
		index_close(index, AccessShareLock);
	}
	return why;
}

static bool
fc_own_table_keys(const FcOwnTable *kind, int column)
{
	for (int i = 0; i < kind->nkey; i++)
		if (kind->key[i] == column)
			return true;
	return false;
}

/* All columns must be ours, and of our types; and all of ours must be there */
static const char *
fc_own_table_others(const FcOwnTable *kind, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	fc_own_table_check_columns(kind, RelationGetRelid(rel));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			column = 0;

		if (att->attisdropped)
			continue;
		while (column < kind->ncolumns && strcmp(NameStr(att->attname), kind->columns[column].name) != 0)
			column++;
		if (column == kind->ncolumns || att->attidentity != '\0')
			return psprintf("It has another column \"%s\".", NameStr(att->attname));
		if (att->atttypid != kind->columns[column].typid || att->atttypmod >= 0)
			return psprintf("Its column \"%s\" has another type.", NameStr(att->attname));
		if (OidIsValid(att->attcollation) && att->attcollation != C_COLLATION_OID && fc_own_table_keys(kind, column))
			return psprintf("Its column \"%s\" has another collation.", NameStr(att->attname));
	}
	return NULL;
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
	if ((why = fc_own_table_code(kind, rel)) || (why = fc_own_table_others(kind, rel)) ||
		(why = fc_own_table_indexes(kind, rel)))
		fc_own_table_refuse(kind, RelationGetRelid(rel), why);
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
