/*-------------------------------------------------------------------------
 *
 * report/units.h
 *	  Figures for eyes: counts, sizes and times with their units, and the line
 *	  that a load ends with.
 *
 * Knows nothing of the server but how a text is made: test/unit/units.c proves
 * the widths.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_UNITS_H
#define FC_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Columns that psql's "NOTICE:  " leaves of 80 */
#define FC_LINE_COLUMNS	71

/* The server's; all texts are made by it */
extern char *psprintf(const char *fmt,...) __attribute__((format(printf, 1, 2)));

/* Each of these returns a figure */

/* 1,234,567 */
extern char *fc_units_count(uint64_t n);

/* 1 table; 1,234 tables */
extern char *fc_units_of(uint64_t n, const char *word);

/* 999, 1.2k, 34M: four columns at most */
extern char *fc_units_short(uint64_t n);

/* 42 bytes, 9 kB, 30 MB: as pg_size_pretty, ten columns at most */
extern char *fc_units_bytes(double bytes);

/* 20 ms, 0.42 s, 12.3 s, 45 min, 3.1 h: seven columns at most */
extern char *fc_units_time(double seconds);

/*
 * What a row of the report says: the columns of fast_copy_report(), in their
 * order, and further ones of fast_copy_summary().  What is not said is below 0,
 * or NULL; fc_report_add sees to what follows from the rest.
 *
 * X(type, member): FLOAT8OID, TEXTOID and so on
 */
#define FC_REPORT_COLUMNS(X) \
	X(TEXT, phase_name)			/* follows */ \
	X(TEXT, name)				/* of the partition */ \
	X(INT8, processes)			/* 0: not said */ \
	X(INT8, rows) \
	X(INT8, bytes) \
	X(FLOAT8, seconds) \
	X(INT8, reads) \
	X(FLOAT8, rows_per_read)	/* follows */ \
	X(TEXT, io_method) \
	X(FLOAT8, alone)			/* share of its time with one process */ \
	X(INT8, wal_bytes)			/* of what is whole */ \
	X(INT8, spill_bytes)		/* the same; written to temporary files */ \
	X(FLOAT8, rows_per_second)	/* follows, as the next */ \
	X(FLOAT8, bytes_per_second) \
	X(TEXT, choice)				/* what was decided, and why */ \
	X(INT8, filtered)			/* as the next three, only if "counted" */ \
	X(INT8, rejected) \
	X(INT8, nulled)				/* records with a value that became NULL */ \
	X(INT8, mended)				/* ... with one that was mended */ \
	X(TEXT, way)				/* fc_report_way */ \
	X(TEXT, reason)				/* why this way */ \
	X(TEXT, failed)				/* SQLSTATE; of the total, as the rest */ \
	X(INT8, duplicates) \
	X(INT8, updated)			/* rows that those of the file replaced */ \
	X(INT8, deleted)			/* rows that delete marks took out */ \
	X(INT8, unmatched)			/* marks that took out none */ \
	X(BOOL, whole)				/* about the phase, not a part of it */ \
	X(TIMESTAMPTZ, key)			/* the lowest of the partition */ \
	X(TEXT, table)				/* qualified and quoted */ \
	X(TEXT, source)				/* a program's command is not in it */ \
	X(BOOL, tolerant)			/* bad records were to be left out */ \
	X(INT8, created)			/* new partitions */ \
	X(INT8, indexes) \
	X(BOOL, merged)				/* tables were, not replaced */ \
	X(INT8, replaced) \
	X(INT8, old_rows)			/* of these */ \
	X(BOOL, old_guessed) \
	X(TEXT, writer)

/* The types in C of what SQL has */
#define FC_REPORT_BOOL			bool
#define FC_REPORT_INT8			int64_t
#define FC_REPORT_TIMESTAMPTZ	int64_t
#define FC_REPORT_FLOAT8		double
#define FC_REPORT_TEXT			const char *

typedef struct FcReportRow
{
#define X(type, member) FC_REPORT_##type member;
	FC_REPORT_COLUMNS(X)
#undef X
	int			phase;			/* FcPhase */
	bool		counted;		/* rows were written, or this is the total */
} FcReportRow;

/*
 * Returns the line at the end of a load, by the row of its total, in
 * FC_LINE_COLUMNS columns.  What there is none of is not said, but for rejected
 * records, if bad ones were to be left out.  If there is no room for all,
 * the rate is left out first, then bytes,
 * then the number of old rows becomes short and is left out, with the word
 * "partitions"; at last counts become short, and what was replaced and
 * duplicates are left out, as are deleted rows and marks where rows were
 * filtered, or may have been rejected.
 */
extern char *fc_units_loaded(const FcReportRow *loaded);

#endif							/* FC_UNITS_H */
