/*-------------------------------------------------------------------------
 *
 * report/log.h
 *	  One load as a whole: its line in the server's log, and the last row of
 *	  its report.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOG_H
#define FC_LOG_H

#include "portability/instr_time.h"

#include "report/figures.h"

typedef struct FcLog
{
	MemoryContext mcxt;
	instr_time	start;
	uint64		wal;			/* this backend's, when the load began */
	char	   *target;			/* qualified and quoted; NULL: no line */
	const char *source;

	/* what the load did, and how: kept when it ends */
	char	   *figures;
	double		seconds;
} FcLog;

/* Before the load; looks the target's name up while that is possible */
extern void fc_log_begin(FcLog *log, const FcOptions *options);

/*
 * While the load is open: adds up what was done, for the line in the log, and
 * adds the last row of the report
 */
extern void fc_log_add_up(FcLog *log, FcProgress *progress);

/* Writes the line once nothing can go wrong any more */
extern void fc_log_loaded(FcLog *log);

/*
 * Writes the line of a load that fails, in a PG_CATCH block; progress is NULL
 * if the load has not begun.  Throws nothing.
 */
extern void fc_log_failed(FcLog *log, const FcProgress *progress);

#endif							/* FC_LOG_H */
