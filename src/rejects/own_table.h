/*-------------------------------------------------------------------------
 *
 * rejects/own_table.h
 *	  Tables whose columns are ours: those for rejects and for the history.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OWN_TABLE_H
#define FC_OWN_TABLE_H

#include "executor/spi.h"

typedef struct FcOwnColumn
{
	const char *name;
	const char *type;			/* for CREATE TABLE */
	Oid			typid;
	const char *comment;
	size_t		at;				/* where its value is found, for its user */
} FcOwnColumn;

typedef struct FcOwnTable
{
	const char *role;			/* what names the table, for errors */
	const char *maker;			/* the function that makes one */
	const char *comment;
	const FcOwnColumn *columns;
	int			ncolumns;
} FcOwnTable;

/* Makes a table, named as to_regclass reads names; returns its OID */
extern Oid	fc_own_table_create(const FcOwnTable *kind, const char *name);

/* ERROR 42703 if the table lacks a column */
extern void fc_own_table_check_columns(const FcOwnTable *kind, Oid table);

/* ERROR 42501 without INSERT on the table or on each of the columns */
extern void fc_own_table_check_rights(const FcOwnTable *kind, Oid table);

/*
 * Prepares an INSERT of one row with all columns, in their order.  The caller
 * has locked the table and is connected to SPI; the table's schema keeps its
 * name until the transaction ends.
 */
extern SPIPlanPtr fc_own_table_prepare(const FcOwnTable *kind, Oid table);

/* Inserts a row; nulls as SPI has them */
extern void fc_own_table_insert(SPIPlanPtr plan, Datum *values, const char *nulls);

#endif							/* FC_OWN_TABLE_H */
