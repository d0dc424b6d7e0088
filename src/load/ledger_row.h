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

/* The columns, in their order */
typedef enum FcLedgerColumn
{
	FC_LEDGER_TARGET,
	FC_LEDGER_PATH,
	FC_LEDGER_SIZE,
	FC_LEDGER_MODIFIED,
	FC_LEDGER_CHECKSUM,
	FC_LEDGER_STATE,
	FC_LEDGER_ROWS,
	FC_LEDGER_REJECTED,
	FC_LEDGER_FILTERED,
	FC_LEDGER_JOB,
	FC_LEDGER_LOADED_AT,
	FC_LEDGER_LOADED_BY,
	FC_LEDGER_SQLSTATE,
	FC_LEDGER_MESSAGE,
	FC_LEDGER_LINE,
	FC_LEDGER_FIRST_KEY,
	FC_LEDGER_LAST_KEY,
	FC_LEDGER_KEY_COLUMN,
	FC_LEDGER_NPARAMS,			/* those before are parameters of commands */
	FC_LEDGER_EXPECTED_SIZE = FC_LEDGER_NPARAMS,
	FC_LEDGER_EXPECTED_HASH,
	FC_LEDGER_TARGET_OID,		/* from here on FC_LEDGER_IDENTITY */
	FC_LEDGER_TARGET_NAME,
	FC_LEDGER_ORIGIN,
	FC_LEDGER_XID,
	FC_LEDGER_NCOLUMNS
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
 * gone.  Keys, of this type, come to those that the row has already.
 */
extern uint64 fc_ledger_set_columns(Oid table, FcLedgerRow *row, const char *columns);
extern void fc_ledger_update(Oid table, FcLedgerRow *row, FcKeyType type);

/*
 * The paths of the job's files, as SQL lists them; none if a load has claimed
 * them
 */
extern char *fc_ledger_paths(const FcJob *job);

#endif							/* FC_LEDGER_ROW_H */
