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
 * does for each session there, so that not every table is taken
 * (rejects/own_table.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "report/report.h"

/* The columns, in the order of the INSERT, and where the totals have them */
#define FC_HISTORY(name, type, oid, member, comment) \
	{name, "pg_catalog." type " NOT NULL", oid, comment, offsetof(FcTotals, member)}

static const FcOwnColumn history_columns[] = {
	FC_HISTORY("began", "timestamptz", TIMESTAMPTZOID, start, "when the load began"),
	FC_HISTORY("seconds", "float8", FLOAT8OID, row.seconds, "how long it took"),
	FC_HISTORY("loaded_by", "text", TEXTOID, role, "role that loaded"),
	FC_HISTORY("table_name", "text", TEXTOID, row.table, "table, with its schema"),
	FC_HISTORY("sources", "text[]", TEXTARRAYOID, sources,
			   "paths, patterns or commands that the load was given; stdin for the client"),
	FC_HISTORY("rows", "int8", INT8OID, row.rows, "rows loaded"),
	FC_HISTORY("bytes", "int8", INT8OID, row.bytes, "bytes of the source, unpacked"),
	FC_HISTORY("filtered", "int8", INT8OID, row.filtered, "rows that where_clause left out, and lines that skip_empty_lines and comment did"),
	FC_HISTORY("rejected", "int8", INT8OID, row.rejected, "records that on_error skipped"),
	FC_HISTORY("nulled", "int8", INT8OID, row.nulled,
			   "records with values that on_error set to null"),
	FC_HISTORY("mended", "int8", INT8OID, row.mended, "records with values that on_error mended"),
	FC_HISTORY("new_partitions", "int4", INT4OID, row.created, "partitions that the load created"),
	FC_HISTORY("replaced", "int4", INT4OID, row.replaced, "tables whose rows were all replaced, or merged"),
	FC_HISTORY("duplicates", "int8", INT8OID, row.duplicates, "records left out because of an equal row"),
	FC_HISTORY("updated", "int8", INT8OID, row.updated, "existing rows updated by rows of the file"),
	FC_HISTORY("deleted", "int8", INT8OID, row.deleted, "existing rows deleted by delete marks of the file"),
	FC_HISTORY("unmatched", "int8", INT8OID, row.unmatched, "delete marks for which there was no row"),
	FC_HISTORY("way", "text", TEXTOID, row.way,
			   "how rows got into the table, as in fast_copy_report()"),
	FC_HISTORY("reason", "text", TEXTOID, row.reason, "why this way"),
	FC_HISTORY("workers", "int4", INT4OID, workers,
			   "processes beside that of the session, in the phase with the most"),
	FC_HISTORY("wal_bytes", "int8", INT8OID, row.wal_bytes, "WAL written"),
	FC_HISTORY("spill_bytes", "int8", INT8OID, row.spill_bytes, "bytes of temporary files"),
};

#define NCOLUMNS	lengthof(history_columns)

const FcOwnTable fc_history_kind = {
	"fast_copy.history", "fast_copy_create_history_table", "loads by fast_copy",
	history_columns, NCOLUMNS, 0, NULL, ", or SET fast_copy.history = '' to load without"
};

void
fc_history_check(FcTarget *target)
{
	Oid			table;

	if (fc_history[0] == '\0' || !fc_caller_is_told(target->options->caller))
		return;
	table = RangeVarGetRelid(makeRangeVarFromNameList(fc_string_to_names(fc_history)), NoLock, true);
	if (!OidIsValid(table))
		fc_throw(ERRCODE_UNDEFINED_TABLE, errmsg("table \"%s\" of fast_copy.history does not exist", fc_history),
				 errhint("fast_copy_create_history_table() creates it; SET fast_copy.history = '' to load without."));
	target->history = fc_own_table_open(&fc_history_kind, table);
	fc_own_table_check_closed(&fc_history_kind, target->history);
	if (table == target->oid)
		fc_own_table_refuse(&fc_history_kind, table, "It is the table that is loaded.");
}

void
fc_history_put(const FcTarget *target, const FcTotals *totals)
{
	Datum		values[NCOLUMNS];
	bool		null;

	if (target->history == NULL)
		return;
	fc_own_table_check_closed(&fc_history_kind, target->history);
	SPI_connect();
	for (int i = 0; i < NCOLUMNS; i++)
		values[i] = fc_report_value(totals, history_columns[i].typid, history_columns[i].at, &null);
	fc_own_table_insert(fc_own_table_prepare(&fc_history_kind, RelationGetRelid(target->history)), values, NULL);
	SPI_finish();
}
