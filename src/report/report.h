/*-------------------------------------------------------------------------
 *
 * report/report.h
 *	  What fast_copy_report() tells of this session's last load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REPORT_H
#define FC_REPORT_H

#include "context/shared.h"

/* One row of the report; strings may be NULL, and the OID InvalidOid */
typedef struct FcReportRow
{
	FcPhase		phase;
	bool		whole;			/* about the phase, not a part of it */
	Oid			partition;
	char	   *name;			/* of the partition */
	int			processes;		/* 0: not said */
	double		alone;			/* share of the phase in which only one of
								 * them was left; -1: not said */
	int64		rows;			/* -1: not said */
	int64		bytes;
	int64		reads;
	double		seconds;
	int64		wal_bytes;		/* -1: not said */
	int64		spill_bytes;	/* written to temporary files; -1: not said */
	char	   *io_method;
	char	   *choice;			/* what was decided, and why */
} FcReportRow;

/* Begins a report of a load by the current user; forgets the one before */
extern void fc_report_start(void);

/* Forgets the report */
extern void fc_report_forget(void);

/* Adds a copy of the row and its strings */
extern void fc_report_add(const FcReportRow *row);
extern const char *fc_phase_name(FcPhase phase);

/* List of FcReportRow */
extern List *fc_report_rows(void);

/* The rows if the current user may see them, or NIL */
extern List *fc_report_visible_rows(void);

#endif							/* FC_REPORT_H */
