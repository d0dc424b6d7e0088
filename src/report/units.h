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

/* What the line says at the end of a load */
typedef struct FcLoaded
{
	uint64_t	rows;
	int64_t		bytes;			/* negative: rows came from no file */
	double		seconds;
	int			created;		/* new partitions */
	int			replaced;		/* tables all of whose rows were replaced, or
								 * merged */
	uint64_t	filtered;		/* not said if there are none */
	uint64_t	rejected;
	bool		tolerant;		/* bad records were to be left out: say how
								 * many there were, if it is none, too */
	bool		merged;			/* tables were, not replaced */
	uint64_t	duplicates;		/* records that equal rows were preferred to;
								 * not said if there are none */
	uint64_t	old_rows;		/* that were replaced; 0: not known */
	bool		old_guessed;
	uint64_t	deleted;		/* rows, by delete marks; not said if 0, as */
	uint64_t	unmatched;		/* ... delete marks without a row */
} FcLoaded;

/*
 * Returns the line, in FC_LINE_COLUMNS columns.  If there is no room for all,
 * the rate is left out first, then bytes,
 * then the number of old rows becomes short and is left out, with the word
 * "partitions"; at last counts become short, and what was replaced and
 * duplicates are left out, as are deleted rows and marks where rows were
 * filtered, or may have been rejected.
 */
extern char *fc_units_loaded(const FcLoaded *loaded);

#endif							/* FC_UNITS_H */
