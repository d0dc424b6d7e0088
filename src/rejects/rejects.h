/*-------------------------------------------------------------------------
 *
 * rejects/rejects.h
 *	  Records that on_error leaves out: told of, and kept in a table; and tables
 *	  of the user's that loads write to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECTS_REJECTS_H
#define FC_REJECTS_REJECTS_H

#include "executor/spi.h"

#include "errors/reject_file.h"
#include "options/target.h"

/*
 * rejects/notices.c
 */

/*
 * After the load: gives COPY's NOTICEs, and writes the rows of reject_table.
 * Returns what stands in the column "job" of these rows, or NULL if there are
 * none.
 */
extern char *fc_notices_finish(FcTarget *target);

/*
 * Where core loads: tells of a record, which ends at this line, as soon as it
 * is left out, as COPY does.  It is not told of again.
 */
extern void fc_notices_show(FcTarget *target, const FcReject *reject, uint64 line);

/*
 * Before the first bad record's error is thrown: gives the NOTICEs of records
 * that stand before it.  ERROR 22P02 if they are more than reject_limit
 * allows.
 */
extern void fc_notices_throw(FcTarget *target);

/*
 * ERROR 22P02 if more of so many records of a file are rejected than
 * reject_limit allows, as a percentage; PG_UINT32_MAX: of all files.  Skipped
 * lines are among those given.  Called if there is such a limit.
 */
extern void fc_notices_judge(const FcTarget *target, uint32 file, uint64 records);

/*
 * rejects/own_table.c
 */

typedef struct FcOwnColumn
{
	const char *name;
	const char *type;			/* for CREATE TABLE */
	Oid			typid;
	const char *comment;
	size_t		at;				/* where its value is found, for its user */
} FcOwnColumn;

/* One of them, for a list of columns */
#define FC_OWN_COLUMN(number, name, type, typid, comment) {#name, "pg_catalog." type, typid, comment},

typedef struct FcOwnTable
{
	const char *role;			/* what names the table, for errors */
	const char *maker;			/* the function that makes one */
	const char *comment;
	const FcOwnColumn *columns;
	int			ncolumns;
	int			nkey;			/* columns of the primary key; 0: there is
								 * none */
	const int  *key;			/* their numbers in "columns" */
	const char *without;		/* closed: how to load without one, to follow
								 * what the maker makes; or "" */
} FcOwnTable;

/*
 * Makes a table, named as to_regclass reads names; returns its OID.  ERROR
 * 25000 in parallel mode.
 */
extern Oid	fc_own_table_create(const FcOwnTable *kind, const char *name);

/* ERROR 42703 if the table lacks a column */
extern void fc_own_table_check_columns(const FcOwnTable *kind, Oid table);

/*
 * Locks a table that the caller named by its OID, for rows to be inserted.
 * ERROR 42P01 if it is not there any more, 42501 if the caller may not insert;
 * then it was not locked.  As long as it is open core refuses to drop, empty or
 * alter it in code that the load calls, by 55006.  Close it without unlocking.
 */
extern Relation fc_own_table_open(const FcOwnTable *kind, Oid table);

/*
 * For a table that is locked, and that somebody else may have named: it must
 * not run code as the caller, nor show its owner what the caller loads.  It
 * belongs to the caller or to a superuser, and has nothing but our columns and
 * our key.  The lock keeps others from changing that.  Code that the load calls
 * can do what core does not refuse for an open table, such as CREATE TRIGGER:
 * so it is called again before rows are written that come after such code.
 * ERROR 42501 for another owner, 55000 for what might run code or refuse a row.
 */
extern void fc_own_table_check_closed(const FcOwnTable *kind, Relation rel);

/* Throws the last error, with a sentence that says why */
extern void fc_own_table_refuse(const FcOwnTable *kind, Oid table, const char *detail);

/*
 * Prepares an INSERT of one row with all columns, in their order.  The caller
 * has locked the table and is connected to SPI; the table's schema keeps its
 * name until the transaction ends.
 */
extern SPIPlanPtr fc_own_table_prepare(const FcOwnTable *kind, Oid table);

/* Inserts a row; nulls as SPI has them, or NULL */
extern void fc_own_table_insert(SPIPlanPtr plan, Datum *values, const char *nulls);

/*
 * rejects/table.c
 */

extern const FcOwnTable fc_reject_kind;

/*
 * Before the load: opens and locks the table, if one is wanted
 * (RowExclusiveLock), as target->rejects.  ERROR 42P01 if it does not exist,
 * 22023 if it is the target or a partition of it, 42703 if it lacks a column,
 * 42501 if the caller may not insert into it.
 */
extern void fc_reject_table_check(FcTarget *target);

/* After the load: writes rows in the order in which they are put */
typedef struct FcRejectTable FcRejectTable;

extern FcRejectTable *fc_reject_table_begin(FcTarget *target);
extern void fc_reject_table_put(FcRejectTable *table, const FcReject *reject,
								uint64 line);

/* Returns what stands in the column "job" of all rows */
extern char *fc_reject_table_end(FcRejectTable *table);

#endif							/* FC_REJECTS_REJECTS_H */
