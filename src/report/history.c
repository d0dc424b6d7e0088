/*-------------------------------------------------------------------------
 *
 * report/history.c
 *	  The table that has a row of each load: fast_copy.history.
 *
 *	 setting ──► table, checked and locked ──► load ──► totals ──► INSERT
 *
 * The row is inserted as the caller, in the load's transaction: a load that
 * fails leaves none.  All that can refuse the row is found before the load,
 * because an error at its end would lose a long load.
 *
 * Somebody else may have set fast_copy.history, as the owner of a database
 * does for each session there.  Such a table must not run code as the caller,
 * nor show its owner what the caller loads: it belongs to the caller or to a
 * superuser, and has nothing but our columns.  It stays so, because the lock
 * keeps others from changing it until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "compat/compat.h"
#include "compat/settings.h"
#include "rejects/own_table.h"
#include "report/report.h"

/* The columns, in the order of the INSERT, and where the totals have them */
#define FC_HISTORY(name, type, oid, member, comment) \
	{name, "pg_catalog." type " NOT NULL", oid, comment, offsetof(FcTotals, member)}

static const FcOwnColumn history_columns[] = {
	FC_HISTORY("began", "timestamptz", TIMESTAMPTZOID, start, "when the load began"),
	FC_HISTORY("seconds", "float8", FLOAT8OID, seconds, "how long it took"),
	FC_HISTORY("loaded_by", "text", TEXTOID, role, "role that loaded"),
	FC_HISTORY("table_name", "text", TEXTOID, table, "table, with its schema"),
	FC_HISTORY("sources", "text[]", TEXTARRAYOID, sources,
			   "paths, patterns or commands that the load was given; stdin for the client"),
	FC_HISTORY("rows", "int8", INT8OID, rows, "rows loaded"),
	FC_HISTORY("bytes", "int8", INT8OID, bytes, "bytes of the source, unpacked"),
	FC_HISTORY("filtered", "int8", INT8OID, filtered, "rows that where_clause left out"),
	FC_HISTORY("rejected", "int8", INT8OID, rejected, "records that on_error left out"),
	FC_HISTORY("nulled", "int8", INT8OID, nulled,
			   "records with values that on_error set to null"),
	FC_HISTORY("new_partitions", "int4", INT4OID, created, "partitions that the load made"),
	FC_HISTORY("way", "text", TEXTOID, way,
			   "how rows got into the table, as in fast_copy_report()"),
	FC_HISTORY("reason", "text", TEXTOID, reason, "why this way"),
	FC_HISTORY("workers", "int4", INT4OID, workers,
			   "processes beside that of the session, in the phase with the most"),
	FC_HISTORY("wal_bytes", "int8", INT8OID, wal, "WAL written"),
	FC_HISTORY("spill_bytes", "int8", INT8OID, spill, "bytes of temporary files"),
};

#define NCOLUMNS	lengthof(history_columns)

static const FcOwnTable history_kind = {
	"fast_copy.history", "fast_copy_create_history_table", "loads by fast_copy",
	history_columns, NCOLUMNS
};

static void
fc_history_refuse(Relation rel, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" cannot be used as fast_copy.history",
					RelationGetRelationName(rel)),
			 errdetail_internal("%s", detail),
			 errhint("Make a table by fast_copy_create_history_table(), or SET fast_copy.history = '' to load without.")));
}

/* A foreign owner could read what the caller loads, and add code later */
static void
fc_history_check_owner(Relation rel)
{
	Oid			owner = rel->rd_rel->relowner;

	if (owner == GetUserId() || superuser_arg(owner))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("table \"%s\" cannot be used as fast_copy.history",
					RelationGetRelationName(rel)),
			 errdetail("It belongs to role \"%s\".", GetUserNameFromId(owner, false)),
			 errhint("Use a table of your own or of a superuser, or SET fast_copy.history = '' to load without.")));
}

/* Nothing may run code for the row, or refuse it */
static void
fc_history_check_code(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	if (rel->rd_rel->relkind != RELKIND_RELATION || rel->rd_rel->relispartition)
		fc_history_refuse(rel, "It is not an ordinary table.");
	if (RELATION_IS_OTHER_TEMP(rel))
		fc_history_refuse(rel, "It is a temporary table of another session.");
	if (rel->trigdesc)
		fc_history_refuse(rel, "It has triggers or foreign keys.");
	if (rel->rd_rules)
		fc_history_refuse(rel, "It has rules.");
	if (rel->rd_rel->relrowsecurity)
		fc_history_refuse(rel, "It has row-level security.");
	if (constr && constr->num_check > 0)
		fc_history_refuse(rel, "It has check constraints.");
	if (constr && constr->num_defval > 0)
		fc_history_refuse(rel, "It has columns with defaults.");
}

static void
fc_history_check_indexes(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		HeapTuple	tuple = index->rd_indextuple;

		if (index->rd_index->indisunique || index->rd_index->indisexclusion)
			fc_history_refuse(rel, "It has an index that may refuse a row.");
		if (!heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) ||
			!heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
			fc_history_refuse(rel, "It has an index with expressions.");
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
}

/* All columns must be ours, and of our types; and all of ours must be there */
static void
fc_history_check_columns(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			found PG_USED_FOR_ASSERTS_ONLY = 0;

	fc_own_table_check_columns(&history_kind, RelationGetRelid(rel));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			column = 0;

		if (att->attisdropped)
			continue;
		while (column < NCOLUMNS && strcmp(NameStr(att->attname), history_columns[column].name) != 0)
			column++;
		if (column == NCOLUMNS || att->attidentity != '\0')
			fc_history_refuse(rel, psprintf("It has another column \"%s\".", NameStr(att->attname)));
		if (att->atttypid != history_columns[column].typid || att->atttypmod >= 0)
			fc_history_refuse(rel, psprintf("Its column \"%s\" has another type.", NameStr(att->attname)));
		found++;
	}
	Assert(found == NCOLUMNS);
}

/* RangeVarGetRelidExtended's callback: looks before the table is locked */
static void
fc_history_may_lock(const RangeVar *rv, Oid table, Oid before, void *arg)
{
	if (OidIsValid(table))
		fc_own_table_check_rights(&history_kind, table);
}

void
fc_history_check(FcTarget *target)
{
	RangeVar   *rv;
	Relation	rel;

	target->history = InvalidOid;
	if (fc_history[0] == '\0' || !fc_caller_is_told(target->options->caller))
		return;
	rv = makeRangeVarFromNameList(fc_string_to_names(fc_history));
	target->history = RangeVarGetRelidExtended(rv, RowExclusiveLock, RVR_MISSING_OK,
											   fc_history_may_lock, NULL);
	if (!OidIsValid(target->history))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" of fast_copy.history does not exist", fc_history),
				 errhint("fast_copy_create_history_table() makes it; SET fast_copy.history = '' to load without.")));
	rel = table_open(target->history, NoLock);
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	if (target->history == target->oid)
		fc_history_refuse(rel, "It is the table that is loaded.");
	fc_history_check_owner(rel);
	fc_history_check_code(rel);
	fc_history_check_columns(rel);
	fc_history_check_indexes(rel);
	table_close(rel, NoLock);
}

static Datum
fc_history_sources(const List *sources)
{
	int			n = list_length(sources);
	Datum	   *paths = palloc(sizeof(Datum) * n);

	for (int i = 0; i < n; i++)
		paths[i] = CStringGetTextDatum(strVal(list_nth(sources, i)));
	return PointerGetDatum(construct_array(paths, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Returns the value that the totals have for a column */
static Datum
fc_history_value(const FcTotals *totals, const FcOwnColumn *column)
{
	const void *at = (const char *) totals + column->at;

	switch (column->typid)
	{
		case INT4OID:
			return Int32GetDatum(*(const int *) at);
		case FLOAT8OID:
			return Float8GetDatum(*(const double *) at);
		case TEXTOID:
			return CStringGetTextDatum(*(char *const *) at);
		case TEXTARRAYOID:
			return fc_history_sources(*(const List *const *) at);
		default:
			Assert(column->typid == INT8OID || column->typid == TIMESTAMPTZOID);
			return Int64GetDatum(*(const int64 *) at);
	}
}

void
fc_history_put(const FcTarget *target, const FcTotals *totals)
{
	Datum		values[NCOLUMNS];
	char		nulls[NCOLUMNS];

	if (!OidIsValid(target->history))
		return;
	Assert(!IsInParallelMode());
	memset(nulls, ' ', NCOLUMNS);
	SPI_connect();
	for (int i = 0; i < NCOLUMNS; i++)
		values[i] = fc_history_value(totals, &history_columns[i]);
	fc_own_table_insert(fc_own_table_prepare(&history_kind, target->history), values, nulls);
	SPI_finish();
}

Oid
fc_history_create(const char *name)
{
	return fc_own_table_create(&history_kind, name);
}
