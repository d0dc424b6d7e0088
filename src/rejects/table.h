/*-------------------------------------------------------------------------
 *
 * rejects/table.h
 *	  The table that rejected records are written to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECTS_TABLE_H
#define FC_REJECTS_TABLE_H

#include "errors/reject_file.h"
#include "options/target.h"

/*
 * Before the load: locks the table, if one is wanted (RowExclusiveLock).
 * ERROR 42P01 if it does not exist, 22023 if it is the target or a partition
 * of it, 42703 if it lacks a column, 42501 if the caller may not insert into
 * it.
 */
extern void fc_reject_table_check(FcTarget *target);

/* After the load: writes rows in the order in which they are put */
typedef struct FcRejectTable FcRejectTable;

extern FcRejectTable *fc_reject_table_begin(FcTarget *target);
extern void fc_reject_table_put(FcRejectTable *table, const FcReject *reject,
								uint64 line);

/* Returns what stands in the column "job" of all rows */
extern char *fc_reject_table_end(FcRejectTable *table);

/* Makes such a table, named as to_regclass reads names; returns its OID */
extern Oid	fc_reject_table_create(const char *name);

#endif							/* FC_REJECTS_TABLE_H */
