/*-------------------------------------------------------------------------
 *
 * partition/ddl.h
 *	  Runs commands and queries that are made as text.
 *
 * Leader only, never in parallel mode.  On error the end of the transaction
 * finishes SPI and restores search_path.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DDL_H
#define FC_DDL_H

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "utils/snapshot.h"

/*
 * Pins search_path, so that it cannot change what a command's text means.
 * Returns the level for AtEOXact_GUC().
 */
extern int	fc_ddl_pin(void);

/* Sets a setting until that level ends */
extern void fc_ddl_set(const char *name, const char *value);

/*
 * fc_ddl_begin pins search_path and connects SPI, fc_ddl_end undoes both.
 * With "keep" other settings stay as the commands have SET them.
 */
extern int	fc_ddl_begin(void);
extern void fc_ddl_end(int level, bool keep);

/* Runs a command that gives no rows; SPI is connected */
extern void fc_ddl_run(const char *sql);

/*
 * Runs a query, with search_path pinned, on what is committed or done by now;
 * returns its first row's only column as a text, or NULL: it is that, or there
 * is no row
 */
extern char *fc_ddl_value(const char *sql);

/*
 * The same, whatever the caller may read, as core's own code reads catalogs.
 * Only for queries of objects in pg_catalog, with nothing but numbers put in:
 * planning one of a user's table may run that user's code.
 */
extern char *fc_ddl_of_catalogs(const char *sql);

/*
 * Runs a command or a query with parameters, by its plan if there is one;
 * returns its number of rows, all of which are in SPI_tuptable.  nulls as SPI
 * has them, or NULL.  The context of an error does not show the text.
 */
extern uint64 fc_ddl_execute(SPIPlanPtr plan, const char *sql, int nargs, const Oid *types,
							 Datum *values, const char *nulls);

/*
 * Runs an INSERT, UPDATE or DELETE of rows of users as the caller's command
 * would run, without SPI, which shows the text in the context of errors and
 * notices.  Returns the number of rows.  Its text must not depend on
 * search_path: triggers run with the caller's.  With a snapshot it sees what
 * that sees of other transactions, else the latest.  If an error about a row
 * of an INSERT ends it, *row is set to the row as the SELECT returned it, in
 * the target's row type; "row" may be NULL.  *met is set to how many rows of an
 * INSERT met equal ones and were not refused by the action's condition, unless
 * it is NULL.
 */
extern uint64 fc_ddl_change(const char *sql, Snapshot snapshot, HeapTuple *row, uint64 *met);

/*
 * Return the name of a relation with its schema's, both quoted.  The second
 * looks up the name that a table has now; ERROR 42P01 if it was dropped.
 */
extern char *fc_ddl_name(Oid nspid, const char *relname);
extern char *fc_ddl_table(Oid table);

/* Would CREATE TABLE find the name in use, by a relation or by a type? */
extern bool fc_ddl_name_is_taken(const char *name, Oid nspid);

/* Returns a copy of a row of pg_class; ERROR XX000 if there is none */
extern HeapTuple fc_ddl_class_copy(Oid relid);

/* Sets columns of a row of pg_class */
extern void fc_ddl_class_change(Oid relid, int n, int *columns, Datum *values, bool *nulls);

/* Returns the fixed part of a row of pg_class; zeroes if there is none */
extern FormData_pg_class fc_ddl_class(Oid relid);

/*
 * Keeps the schema's name until the transaction ends: no session can rename
 * it, and commands that name the schema find the right tables.  Waits for a
 * session that is changing the schema.  Leader only.
 */
extern void fc_ddl_keep_schema(Oid nspid);

#endif							/* FC_DDL_H */
