/*-------------------------------------------------------------------------
 *
 * report/log.h
 *	  One load as a whole: its totals, and its line in the server's log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOG_H
#define FC_LOG_H

#include "portability/instr_time.h"

#include "report/figures.h"
#include "report/report.h"

typedef struct FcLog
{
	MemoryContext mcxt;
	instr_time	start;
	uint64		wal;			/* this backend's, when the load began */
	FcTotals	totals;
} FcLog;

/* Before the load: begins its report */
extern void fc_log_begin(FcLog *log, const FcOptions *options);

/* While the load is open: adds up what was done, and ends the report */
extern void fc_log_add_up(FcLog *log, FcProgress *progress);

/* Writes the line once nothing can go wrong any more */
extern void fc_log_loaded(FcLog *log);

/*
 * Ends the report of a load that fails, and writes its line, in a PG_CATCH
 * block; progress is NULL if the load has not begun.  Throws nothing.
 */
extern void fc_log_failed(FcLog *log, const FcProgress *progress);

/* Sets what a row of the report says of rows, of the way and its reason */
extern void fc_log_count(const FcTarget *target, FcReportRow *row);

#endif							/* FC_LOG_H */
