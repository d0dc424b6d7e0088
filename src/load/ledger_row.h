/*-------------------------------------------------------------------------
 *
 * load/ledger_row.h
 *	  Rows of a ledger, for load/ledger.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LEDGER_ROW_H
#define FC_LEDGER_ROW_H

#include "load/steps.h"

/*
 * The columns, in their order.  Those before EXPECTED_SIZE are parameters of
 * commands; FC_LEDGER_IDENTITY begins at TARGET_OID.
 *
 * X(number, name, type, typid, comment)
 */
#define FC_LEDGER_COLUMNS(X) \
	X(TARGET, target, "regclass NOT NULL", REGCLASSOID, "table that the file is loaded into") \
	X(PATH, path, "text COLLATE pg_catalog.\"C\" NOT NULL", TEXTOID, \
		"file, without symbolic links; or the label of what a program printed or the client sent") \
	X(SIZE, size, "int8", INT8OID, "its bytes, as they are packed; what has a label is unpacked before") \
	X(MODIFIED, modified, "timestamptz", TIMESTAMPTZOID, "when it was written to last") \
	X(CHECKSUM, checksum, "text", TEXTOID, "CRC-32C of its bytes, in hexadecimal digits") \
	X(STATE, state, "text NOT NULL", TEXTOID, "waiting, loaded or failed") \
	X(ROWS, rows, "int8", INT8OID, \
		"rows loaded from it; null where COPY itself loaded several files as one, or with on_conflict some of these had delete marks") \
	X(REJECTED, rejected, "int8", INT8OID, "records that on_error skipped") \
	X(FILTERED, filtered, "int8", INT8OID, "rows that where_clause left out, and lines that skip_empty_lines and comment did; null where COPY itself loaded several files as one") \
	X(JOB, job, "uuid", UUIDOID, "the same column of reject_table has it") \
	X(LOADED_AT, loaded_at, "timestamptz", TIMESTAMPTZOID, "when it was loaded, or failed to be") \
	X(LOADED_BY, loaded_by, "text", TEXTOID, "role that loaded") \
	X(SQLSTATE, sqlstate, "text", TEXTOID, "of the error that it failed with") \
	X(MESSAGE, message, "text", TEXTOID, "of that error") \
	X(LINE, line, "int8", INT8OID, "of the file, where it happened") \
	X(DONE_BYTES, done_bytes, "int8", INT8OID, "so many of its first bytes are loaded, and the rest is not; else null") \
	X(DONE_LINES, done_lines, "int8", INT8OID, "lines in these bytes") \
	X(FIRST_KEY, first_key, "text", TEXTOID, "no row of it has a lower partition key; null where keys were not looked at") \
	X(LAST_KEY, last_key, "text", TEXTOID, "no row of it has a higher one") \
	X(KEY_COLUMN, key_column, "text", TEXTOID, "column of the table that these are keys in") \
	X(EXPECTED_SIZE, expected_size, "int8", INT8OID, "what the manifest said of its size; null without one") \
	X(EXPECTED_HASH, expected_hash, "text", TEXTOID, "what it said of its checksum, such as sha256:...") \
	X(TARGET_OID, target_oid, "oid NOT NULL", OIDOID, "number of the table in the database of origin") \
	X(TARGET_NAME, target_name, "text NOT NULL", TEXTOID, "its name when the row was written") \
	X(ORIGIN, origin, "text COLLATE pg_catalog.\"C\" NOT NULL", TEXTOID, "cluster and database where the row was written") \
	X(XID, xid, "xid", XIDOID, "transaction that wrote the row")

typedef enum FcLedgerColumn
{
#define X(number, name, type, typid, comment) FC_LEDGER_##number,
	FC_LEDGER_COLUMNS(X)
#undef X
	FC_LEDGER_NCOLUMNS,
	FC_LEDGER_NPARAMS = FC_LEDGER_TARGET_OID
} FcLedgerColumn;

/* A row's values, NULL where "nulls" has an n */
typedef struct FcLedgerRow
{
	Datum		values[FC_LEDGER_NPARAMS];
	char		nulls[FC_LEDGER_NPARAMS];
} FcLedgerRow;

/* ERROR 42501 or 55000 if the table, which is locked, cannot be trusted */
extern void fc_ledger_check(Relation rel);

/* This cluster and database, as text that needs no quotes */
extern char *fc_ledger_origin(void);

/* Makes the row of a file or label for a target; all else is NULL */
extern void fc_ledger_row(FcLedgerRow *row, Oid target, const char *path);
extern void fc_ledger_set(FcLedgerRow *row, FcLedgerColumn column, Datum value);

/* The type that columns with keys are cast to, to compare them */
extern const char *fc_ledger_key_type(FcKeyType type);

/* Runs a command whose parameters are the columns of the row, in their order */
extern uint64 fc_ledger_run(const char *sql, FcLedgerRow *row);

/*
 * Update the row of this target and path, and make it one that was written
 * here.  The first sets the columns in "columns", and returns how many such
 * rows there are; the second sets all parameters, ERROR 55000 if the row is
 * gone.  Keys, of this type, come to those that the row has already, and so do
 * counts if it "adds".
 */
extern uint64 fc_ledger_set_columns(Oid table, FcLedgerRow *row, const char *columns);
extern void fc_ledger_update(Oid table, FcLedgerRow *row, FcKeyType type, bool adds);

/*
 * The paths of the job's files, as SQL lists them; none if a load has claimed
 * them
 */
extern char *fc_ledger_paths(const FcJob *job);

#endif							/* FC_LEDGER_ROW_H */
