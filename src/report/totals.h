/*-------------------------------------------------------------------------
 *
 * report/totals.h
 *	  One load as a whole, in figures.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TOTALS_H
#define FC_TOTALS_H

#include "report/figures.h"
#include "report/report.h"

/* Before the load: names what is loaded, while that is possible */
extern void fc_totals_begin(FcTotals *totals, const FcOptions *options);

/* At its end, while it is open: takes what it has done, but for WAL and time */
extern void fc_totals_take(FcTotals *totals, const FcProgress *progress);

/* Sets what a row of the report says of rows, of the way and its reason */
extern void fc_totals_counts(const FcTarget *target, FcReportRow *row);

#endif							/* FC_TOTALS_H */
