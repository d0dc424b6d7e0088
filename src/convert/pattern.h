/*-------------------------------------------------------------------------
 *
 * convert/pattern.h
 *	  Timestamps and dates that are written in a form the caller describes.
 *
 * convert/pattern.c makes a program of a pattern, convert/pattern_match.c runs
 * it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PATTERN_H
#define FC_PATTERN_H

#include "nodes/pg_list.h"
#include "pgtime.h"

/* A unit of moments that are numbers, counted from 1970 */
typedef struct FcEpoch
{
	const char *pattern;
	int64		units;			/* in a second */
	const char *word;
	int			digits;			/* of the numbers of our time */
} FcEpoch;

#define FC_EPOCHS	4
extern const FcEpoch fc_epochs[FC_EPOCHS];

/*
 * What a step reads.  Up to FC_UNIT_NUMBERS these are digits, and the number
 * is kept under the unit.
 */
typedef enum FcPatternUnit
{
	FC_UNIT_YEAR,
	FC_UNIT_YEAR_SHORT,			/* up to three digits, near 2020 */
	FC_UNIT_MONTH,
	FC_UNIT_DAY,
	FC_UNIT_YDAY,
	FC_UNIT_JULIAN,
	FC_UNIT_HOUR,
	FC_UNIT_MINUTE,
	FC_UNIT_SECOND,
	FC_UNIT_SSSSS,				/* seconds of the day */
	FC_UNIT_FRACTION,			/* nanoseconds, summed up */
	FC_UNIT_ZONE_MINUTE,
	FC_UNIT_NUMBERS,			/* how many units are digits */

	FC_UNIT_MONTH_ABBREV = FC_UNIT_NUMBERS,
	FC_UNIT_MONTH_FULL,
	FC_UNIT_MONTH_NAME,			/* either */
	FC_UNIT_WEEKDAY_ABBREV,		/* read and ignored */
	FC_UNIT_WEEKDAY_FULL,
	FC_UNIT_WEEKDAY_NAME,
	FC_UNIT_MERIDIEM,
	FC_UNIT_ZONE_HOUR,			/* with its sign */
	FC_UNIT_ZONE_OFFSET,		/* "Z", "+01", "+0100", "+01:00" */
	FC_UNIT_ZONE,				/* or an abbreviation or a name */
	FC_UNIT_LITERAL,			/* one byte */
	FC_UNIT_BLANKS,				/* one or more */
	FC_UNIT_CORE				/* only in the tables of the compiler */
} FcPatternUnit;

typedef struct FcPatternStep
{
	uint8		unit;
	uint8		min_digits;
	uint8		max_digits;
	uint8		base;			/* of a fraction: 9 where its first digit
								 * counts tenths of a second, 6 where of a
								 * millisecond, 3 where of a microsecond; of
								 * another number: how many digits it has
								 * where a digit follows, 0 for max_digits */
	char		literal;
	bool		fill;			/* written with FM */
} FcPatternStep;

/* The last zone that was looked up by name */
typedef struct FcPatternZone
{
	char		name[TZ_STRLEN_MAX + 1];
	bool		dynamic;		/* an abbreviation whose meaning changed */
	int			offset;			/* seconds west, where tz is NULL */
	pg_tz	   *tz;
} FcPatternZone;

typedef struct FcPattern
{
	char	   *text;
	char	   *shown;			/* in errors: the beginning of a long one */
	char	   *column;			/* for messages */
	Oid			typid;
	int32		typmod;
	int64		epoch_units;	/* per second, of a number counted from 1970;
								 * 0: the value is none, and the steps read
								 * it, */
	bool		by_core;		/* or core's to_timestamp, which has features
								 * that steps have not */
	bool		short_year;
	bool		twelve_hours;
	bool		zoned;			/* the values say how far from UTC they are */
	int			nsteps;
	FcPatternStep *steps;
	text	   *core_format;
	int			signs;			/* "+" and "-" that a value for core has */
	int			zone_signs;		/* how many more it may have, for its zone */
	int			ordinals;		/* numbers in it that end like "1st" */
	bool		out_of_range;	/* why the last value was refused */
	FcPatternZone zone;
} FcPattern;

/*
 * The pattern for a column, in the current memory context.  ERROR 22023 for a
 * type that is not timestamp, timestamptz or date, and, with a hint, for a
 * pattern that names no moment, too few of its parts, or a part twice.
 */
extern FcPattern *fc_pattern_compile(const char *text, Oid typid, int32 typmod,
									 const char *column);

/*
 * The value of s[0..len), rounded to the type's precision.  False if it does
 * not match.  Times without a zone are in session_timezone.  Where core reads
 * the value, memory is left in the current context and its errors are thrown.
 */
extern bool fc_pattern_parse(FcPattern *pattern, const char *s, size_t len,
							 Datum *value);

/* Throws ERROR 22007 or 22008: s is what fc_pattern_parse has just refused */
extern void fc_pattern_mismatch(const FcPattern *pattern, const char *s);

#endif							/* FC_PATTERN_H */
