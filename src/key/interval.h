/*-------------------------------------------------------------------------
 *
 * key/interval.h
 *	  Days and months of the calendar, for key/ alone.
 *
 * Days are counted from 2000-01-01, months from the start of year 0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INTERVAL_H
#define FC_INTERVAL_H

#include "key/range.h"

/* Days that each month has */
#define FC_MONTH_DAYS	28

static inline bool
fc_key_is_integer(FcKeyType type)
{
	return type >= FC_KEY_INT2;
}

/* The day that a key lies in, in a zone for timestamptz */
extern int64 fc_day_of(FcKeyType type, int64 key, pg_tz *zone);

/*
 * The first key of a day, cut to the type's range; past its end the type's
 * infinity
 */
extern int64 fc_day_start(FcKeyType type, int64 day, pg_tz *zone);

/* The month that holds a day */
extern int64 fc_month_of_day(int64 day);

/*
 * The first day of a month; if the month is outside the range of all types, a
 * day outside them, too
 */
extern int64 fc_month_start(int64 month);

/* Days after the first one of its month; 0 if not all months have such a day */
extern int64 fc_day_in_month(int64 day);

/* Can intervals be counted from the start of each day? */
extern bool fc_interval_fits_day(FcKeyType type, const FcInterval *interval);

#endif							/* FC_INTERVAL_H */
