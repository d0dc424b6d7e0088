/*-------------------------------------------------------------------------
 *
 * report/report.h
 *	  What programs, people and a table of the user's are told of a load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REPORT_H
#define FC_REPORT_H

#include "datatype/timestamp.h"

#include "context/activity.h"
#include "options/target.h"

/* One row of the report; strings may be NULL, and the OID InvalidOid */
typedef struct FcReportRow
{
	FcPhase		phase;
	bool		whole;			/* about the phase, not a part of it */
	Oid			partition;
	char	   *name;			/* of the partition */
	int64		key;			/* the lowest of the partition, to sort by */
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

	/* of the phases in which rows are written, and of the total */
	bool		counted;		/* the next three are said */
	uint64		filtered;
	uint64		rejected;
	uint64		nulled;			/* records with a value that became NULL */
	const char *way;			/* fc_report_way */
	char	   *reason;			/* why this way */
	char	   *failed;			/* total: SQLSTATE of a load that failed */
} FcReportRow;

/*
 * One load as a whole.  Strings may be NULL where a load fails before they are
 * known.
 */
typedef struct FcTotals
{
	TimestampTz start;
	double		seconds;
	char	   *table;			/* qualified and quoted */
	char	   *source;			/* a program's command is not in it */
	const List *sources;		/* all, as the caller named them */
	char	   *role;			/* that loads */
	uint64		rows;
	uint64		bytes;
	uint64		filtered;
	uint64		rejected;
	uint64		nulled;
	bool		tolerant;		/* bad records were to be left out */
	int			created;		/* partitions */
	int			replaced;		/* tables all of whose rows were replaced, or
								 * merged */
	bool		merged;			/* they were merged */
	uint64		duplicates;		/* records that equal rows were preferred to */
	uint64		updated;		/* rows that rows of the file took the place
								 * of */
	int			indexes;
	int			workers;		/* that came in the phase with the most */
	int			nworkers;		/* asked for */
	uint64		wal;
	uint64		spill;			/* bytes */
	const char *spilled;		/* rows, offsets or none */
	const char *writer;
	const char *order;
	const char *way;
	char	   *reason;
	FcPhase		phase;			/* failed: in which it was */
	char	   *failed;			/* SQLSTATE; NULL: the load has succeeded */
} FcTotals;

/* Begins a report of a load by the current user; forgets the one before */
extern void fc_report_start(void);

/* Forgets the report */
extern void fc_report_forget(void);

/* Adds a copy of the row and its strings */
extern void fc_report_add(const FcReportRow *row);

/* Ends the report: keeps a copy of the totals, and adds the last row */
extern void fc_report_end(const FcTotals *totals);

extern const char *fc_report_way(FcWay way);

/* List of FcReportRow */
extern List *fc_report_rows(void);

/* The rows if the current user may see them, or NIL */
extern List *fc_report_visible_rows(void);

/* Totals, if the current user may see them and the load has ended; or NULL */
extern const FcTotals *fc_report_visible_totals(void);

/* report/summary.c */

/*
 * The lines, as List of char *; NIL if there is no load, or the current user
 * may not see it.  None is wider than FC_SUMMARY_COLUMNS: psql's line under the
 * name of a column is two wider than the widest value.
 */
#define FC_SUMMARY_COLUMNS	78

extern List *fc_summary_lines(void);

/* report/history.c */

/*
 * Before the load: finds and locks the table of fast_copy.history; its OID
 * goes into the target, InvalidOid for none, for a plain COPY and for an
 * analysis.  ERROR 42P01 if it does not exist, 42501 if the caller may not
 * insert or may not trust its owner, 55000 if it has other columns or what
 * might run code or refuse the row.
 */
extern void fc_history_check(FcTarget *target);

/* After the load, in its transaction: inserts its row */
extern void fc_history_put(const FcTarget *target, const FcTotals *totals);

/* Makes such a table, named as to_regclass reads names; returns its OID */
extern Oid	fc_history_create(const char *name);

#endif							/* FC_REPORT_H */
