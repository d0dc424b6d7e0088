/*-------------------------------------------------------------------------
 *
 * citus/catalog.h
 *	  The tables in which Citus keeps what it knows, read as catalogs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CITUS_CATALOG_H
#define FC_CITUS_CATALOG_H

#include "storage/lockdefs.h"

/* A column that is wanted */
typedef struct FcCitusColumn
{
	const char *name;
	Oid			type;			/* InvalidOid: any type, read as text */
} FcCitusColumn;

/* The most columns that are wanted of a table */
#define FC_CITUS_COLUMNS	8

typedef struct FcCitusScan FcCitusScan;

/*
 * Is Citus created in this database, and loaded, in a version that lets others
 * write to shards?
 */
extern bool fc_citus_is_here(void);

/*
 * Begins to read the table of Citus' of this name, as it is now, whatever the
 * caller may read and however old the transaction's snapshot is.  ERROR 0A000
 * if it is not there or lacks one of n columns: a version that nobody knows.
 */
extern FcCitusScan *fc_citus_scan_begin(const char *name, const FcCitusColumn *columns, int n);

/*
 * Sets values and nulls to those of the columns of the next row; a column of
 * any type to a C string.  False: there is no more row.
 */
extern bool fc_citus_scan_next(FcCitusScan *scan, Datum *values, bool *nulls);
extern void fc_citus_scan_end(FcCitusScan *scan);

/* Locks the table of this name until the transaction ends */
extern void fc_citus_lock(const char *name, LOCKMODE lock);

#endif							/* FC_CITUS_CATALOG_H */
