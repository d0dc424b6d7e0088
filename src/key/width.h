/*-------------------------------------------------------------------------
 *
 * key/width.h
 *	  How wide new partitions are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WIDTH_H
#define FC_WIDTH_H

#include "key/range.h"

/*
 * The width of the partitions to be made: "text" ('1 day', or an integer for
 * integer keys), else the existing partitions', else one day.  Existing ones
 * are counted in the time zone in which they are regular; "unsure" if in none.
 *
 * ERROR 22023 for what cannot be a width, and for integer keys with neither
 * text nor existing partitions.
 */
extern FcInterval fc_interval_choose(const FcRoute *route, const char *text);

/*
 * The width by which pg_partman steps, counted from the existing partitions.
 * With "epoch" 0, "text" is an integer for integer keys.  Else integer keys
 * are times, so many of them in a second, and "text" is an interval.
 *
 * Days and months are those of "zone" (NULL: the session's).  Errors as
 * fc_interval_choose.
 */
extern FcInterval fc_interval_step(const FcRoute *route, const char *text,
								   int64 epoch, struct pg_tz *zone);

/* Do existing partitions begin and end where such days or months do? */
extern bool fc_interval_lines_up(const FcRoute *route,
								 const FcInterval *interval);

/* Is it the first key of a day, in the zone for timestamptz? */
extern bool fc_key_starts_day(FcKeyType type, int64 key, struct pg_tz *zone);

/* What fits keys and size, key/fit.c */
typedef struct FcFit
{
	const char *interval;		/* as partition_interval */
	bool		usual;			/* it is what partitions get without that */
	double		partitions;		/* that there would be, about */
} FcFit;

/*
 * The width for keys from low to high, of a source of so many bytes (0: not
 * known).  Days, unless these are too many or too large; for integers a power
 * of ten.
 */
extern FcFit fc_fit_width(FcKeyType type, int64 low, int64 high, uint64 bytes);

/* Are so many partitions too many for the bytes that they get? */
extern bool fc_fit_is_small(int partitions, uint64 bytes);

#endif							/* FC_WIDTH_H */
