/*-------------------------------------------------------------------------
 *
 * report/history.h
 *	  The table that has a row of each load: fast_copy.history.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HISTORY_H
#define FC_HISTORY_H

#include "options/target.h"
#include "report/report.h"

/*
 * Before the load: finds and locks the table that fast_copy.history names, and
 * keeps its OID in the target; InvalidOid if there is none, for a plain COPY
 * and for an analysis.  ERROR 42P01 if it does not exist, 42501 if the caller
 * may not insert into it or may not trust its owner, 55000 if it has other
 * columns or anything that might run code or refuse the row.
 */
extern void fc_history_check(FcTarget *target);

/* After the load, in its transaction: inserts its row */
extern void fc_history_put(const FcTarget *target, const FcTotals *totals);

/* Makes such a table, named as to_regclass reads names; returns its OID */
extern Oid	fc_history_create(const char *name);

#endif							/* FC_HISTORY_H */
