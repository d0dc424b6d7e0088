/*-------------------------------------------------------------------------
 *
 * report/report.h
 *	  What programs, people and a table of the user's are told of a load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REPORT_H
#define FC_REPORT_H

#include "portability/instr_time.h"

#include "context/process.h"
#include "rejects/rejects.h"
#include "report/estimate.h"
#include "report/units.h"

/*
 * One load as a whole.  Strings may be NULL where a load fails before they are
 * known.
 */
typedef struct FcTotals
{
	FcReportRow row;			/* of the phase total */
	TimestampTz start;
	const List *sources;		/* all, as the caller named them */
	char	   *role;			/* that loads */
	int64		workers;		/* that came in the phase with the most */
	int			nworkers;		/* asked for */
	const char *spilled;		/* rows, offsets or none */
	const char *order;
} FcTotals;

/* Begins a report of a load by the current user; forgets the one before */
extern void fc_report_start(void);

/* Forgets the report */
extern void fc_report_forget(void);

/* Adds a copy of the row and its strings */
extern void fc_report_add(const FcReportRow *row);

extern const char *fc_report_way(FcWay way);

/* List of FcReportRow */
extern List *fc_report_rows(void);

/* The rows if the current user may see them, or NIL */
extern List *fc_report_visible_rows(void);

/* A column of what SQL is told, and where a struct has it */
typedef struct FcReportColumn
{
	Oid			typid;
	size_t		at;
} FcReportColumn;

/* Those of a FcReportRow, FC_REPORT_COLUMNS */
extern const FcReportColumn fc_report_columns[];
extern const int fc_report_ncolumns;

/*
 * The value of a column, in the current memory context.  All integers are
 * int64.  *null is set for one below 0, and for a string that is NULL.
 */
extern Datum fc_report_value(const void *row, Oid typid, size_t at, bool *null);

/* report/history.c */

extern const FcOwnTable fc_history_kind;

/*
 * Before the load: finds, opens and locks the table of fast_copy.history,
 * as target->history; NULL for none, for a plain COPY and for an analysis.
 * ERROR 42P01 if it does not exist, 42501 if the caller may not insert or may
 * not trust its owner, 55000 if it has other columns or what might run code or
 * refuse the row.
 */
extern void fc_history_check(FcTarget *target);

/* After the load, in its transaction: inserts its row */
extern void fc_history_put(const FcTarget *target, const FcTotals *totals);

/*
 * report/figures.c
 */

/* How far a load has come: for its report, other sessions and the client */
typedef struct FcProgress
{
	FcTarget   *target;
	FcPhase		phase;
	instr_time	phase_start;
	instr_time	stream_start;	/* of unpacking or receiving */
	uint64		phase_wal;		/* this backend's bytes of WAL before it */
	int			launched;		/* workers of the phase with the most */
	double		alone;			/* of the phase's workers, see FcWork */

	/* phases that go from one thing to the next */
	int			steps;			/* tables to analyze */
	int			steps_done;		/* partitions attached, tables analyzed */
	double		index_cost;		/* of all indexes, see shared->counts.built */

	/* unpacking and receiving */
	uint64		packed_size;	/* bytes to be unpacked; 0: not known */
	pg_atomic_uint64 *taken;	/* bytes unpacked or received so far */

	int			nindexes;		/* that each new partition gets */
	int			foreseen;		/* partitions to be made, as a sample tells;
								 * 0 once the rows have been looked at */
	bool		early;			/* new partitions have their indexes before
								 * the load, and are attached or elsewhere */
	FcEstimate	estimate;
	bool		shown;			/* the progress slot is ours, not core's */
	TimestampTz told;			/* when the last line of progress was sent */
} FcProgress;

/* Is it a phase that unpacks or receives? */
extern bool fc_figures_is_stream(const FcProgress *progress);

/* The share of the phase that is done, from 0 to 1; -1 if it is not known */
extern double fc_figures_of_phase(const FcProgress *progress);

/* Seconds since then, more than 0 */
extern double fc_figures_since(instr_time start);

/* Seconds of the phase; one that unpacks as well began when unpacking did */
extern double fc_figures_phase_seconds(const FcProgress *progress);

/*
 * The share of the whole load that is done, in all phases: never less than the
 * last time, and less than 1 until it has ended; -1 if it is not known.  *left
 * is how many seconds the rest will take, -1 if that cannot be told.
 */
extern double fc_figures_whole(FcProgress *progress, double *left);

/*
 * For a phase that goes from one thing to the next: what those are, how many
 * there are and how many are done.  NULL for one that goes through bytes.
 */
extern const char *fc_figures_steps(const FcProgress *progress, int *done, int *total);

/* Does the leader still define the indexes that are to be built? */
extern bool fc_figures_defines(const FcProgress *progress);

/* The bytes of the phase's source: packed ones, if the phase unpacks them */
extern double fc_figures_bytes(const FcProgress *progress);

/*
 * report/progress.c
 */

/* Begins to show the load in the progress slot, as a COPY */
extern void fc_progress_start(FcProgress *progress);

/* Begins a phase that unpacks or receives, before there is shared memory */
extern void fc_progress_begin_stream(FcProgress *progress, FcPhase phase);

/* Begins a phase, and shows it; the report must have ended the one before */
extern void fc_progress_phase(FcProgress *progress, FcPhase phase);

/* Begins a phase that core shows, or that is not shown */
extern void fc_progress_begin_phase(FcProgress *progress, FcPhase phase);

/* FcContext.progress: arg is the FcProgress; cheap if called often */
extern void fc_progress_update(void *arg);

/* Gives the progress slot up, to core or because the load has ended */
extern void fc_progress_end(FcProgress *progress);

/* report/tell.c */

/*
 * Sends a NOTICE, if the last one is older than the interval asked for; where a
 * phase begins, if the load is
 */
extern void fc_tell_progress(FcProgress *progress, bool begins);

/*
 * Sends the NOTICE that the load is done, once nothing can go wrong any more.
 * A plain COPY has none, which must look like core's; log_verbosity => 'silent'
 * asks for none.
 */
extern void fc_tell_end(const FcOptions *options, const FcTotals *totals);

/*
 * report/log.c
 */

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

/* Says which writers wrote so many rows */
extern const char *fc_log_writers(const FcTarget *target, uint64 rows);

/* Sets what a row of the report says of rows, of the way and its reason */
extern void fc_log_count(const FcTarget *target, FcReportRow *row);

/*
 * report/causes.c
 */

/* One thing that is wrong with records; its texts are in FcCauses' context */
typedef struct FcCause
{
	uint64		count;			/* records, or values that became NULL */
	uint64		offset;			/* of the first of them in the file */
	int64		line;			/* on which that one ends; the caller sets it */
	const char *column;			/* "": it is about no column */
	char	   *detail;			/* SQLSTATE, message, values, and a hint;
								 * fc_causes_list sets it */
} FcCause;

typedef struct FcCauses FcCauses;

/* In the current memory context; for rejects in the order of the file */
extern FcCauses *fc_causes_begin(const FcTarget *target);

/*
 * Counts a reject.  Returns its cause if it is the first one to have it, so
 * that the caller sets the line; else NULL.
 */
extern FcCause *fc_causes_add(FcCauses *causes, const FcReject *reject);

/*
 * Returns a List of FcCause, the most frequent ones first, and the number of
 * rejects that had other causes than those, when there were too many
 */
extern List *fc_causes_list(FcCauses *causes, uint64 *others);

#endif							/* FC_REPORT_H */
