/*-------------------------------------------------------------------------
 *
 * errors/reject_table.h
 *	  The table that rejected records are written to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECT_TABLE_H
#define FC_REJECT_TABLE_H

#include "errors/reject_file.h"
#include "load/job.h"

/*
 * Before the load: locks the table if one is wanted; errors if it has not the
 * columns, or the caller may not insert into it.
 */
extern void fc_reject_table_check(FcJob *job);

/* After the load: rows in the order in which they are put */
typedef struct FcRejectTable FcRejectTable;

extern FcRejectTable *fc_reject_table_begin(FcJob *job);
extern void fc_reject_table_put(FcRejectTable *table, const FcReject *reject,
								uint64 line);
/* What stands in the rows' column job */
extern char *fc_reject_table_job(const FcRejectTable *table);
extern void fc_reject_table_end(FcRejectTable *table);

/* Makes one, named as to_regclass reads names; returns its OID */
extern Oid	fc_reject_table_create(const char *name);

#endif							/* FC_REJECT_TABLE_H */
