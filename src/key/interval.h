/*-------------------------------------------------------------------------
 *
 * key/interval.h
 *	  Where intervals of keys start, and the days and months they count in.
 *
 * Days are counted from 2000-01-01, months from the start of year 0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INTERVAL_H
#define FC_INTERVAL_H

#include "pgtime.h"

/* Types of keys.  All keys are int64; the comments tell their units */
typedef enum FcKeyType
{
	FC_KEY_NONE = 0,			/* no key of a type known here */
	FC_KEY_TIMESTAMP,			/* microseconds, as Timestamp */
	FC_KEY_TIMESTAMPTZ,			/* microseconds, as TimestampTz */
	FC_KEY_DATE,				/* days, as DateADT, infinities included */
	FC_KEY_INT2,
	FC_KEY_INT4,
	FC_KEY_INT8
} FcKeyType;

/* What a type's keys are */
typedef struct FcKeyKind
{
	Oid			typid;
	int			size;			/* bytes of a value */
	int64		first;			/* the lowest that is finite */
	int64		end;			/* the first after all that are finite; of
								 * integers, which may have none, the last */
	int64		past;			/* what a bound past the end is written as; of
								 * timestamps and dates that is infinity */
} FcKeyKind;

extern const FcKeyKind fc_key_kinds[];	/* by FcKeyType */

/* A width of partitions: either months, or units of the key */
typedef struct FcInterval
{
	int32		months;			/* > 0: whole months, and width is 0 */
	int64		width;			/* microseconds, days for dates, or integers */
	bool		days;			/* width is whole calendar days of a time
								 * zone (timestamptz), in microseconds of
								 * 24-hour days */
	int64		origin;			/* a key where an interval starts */
	bool		elapsed;		/* a width below a day is time that passes,
								 * whatever clocks and days do meanwhile */
	int64		epoch;			/* > 0: integer keys count time from 1970, so
								 * many in a second; all fields above are of
								 * timestamptz */
	Oid			unsure;			/* the existing partition whose width does not
								 * tell that of new ones, or InvalidOid */
	struct pg_tz *zone;			/* of days and months, in this process's
								 * memory; NULL: the session's */
} FcInterval;

/* Days that each month has */
#define FC_MONTH_DAYS	28

static inline bool
fc_key_is_integer(FcKeyType type)
{
	return type >= FC_KEY_INT2;
}

/* The day that a key lies in, in a zone for timestamptz */
extern int64 fc_key_day_of(FcKeyType type, int64 key, pg_tz *zone);

/*
 * The first key of a day, cut to the type's range; past its end the type's
 * infinity
 */
extern int64 fc_key_day_start(FcKeyType type, int64 day, pg_tz *zone);

/* The month that holds a day */
extern int64 fc_key_month_of_day(int64 day);

/*
 * The first day of a month; if the month is outside the range of all types, a
 * day outside them, too
 */
extern int64 fc_key_month_start(int64 month);

/* Days after the first one of its month; 0 if not all months have such a day */
extern int64 fc_key_day_in_month(int64 day);

/* Can intervals be counted from the start of each day? */
extern bool fc_interval_fits_day(FcKeyType type, const FcInterval *interval);

/*
 * Turn integer keys that count time from 1970, "unit" of them in a second,
 * into a timestamptz and back.  False for a key beyond all timestamps; a time
 * beyond all bigints gives the nearest key.
 */
extern bool fc_key_epoch_to_time(int64 unit, int64 key, int64 *time);
extern int64 fc_key_epoch_from_time(int64 unit, int64 time);

/*
 * The start of the interval that holds the finite "key", and the start of the
 * next.  At the type's end *hi is 'infinity' (timestamps and dates, so that no
 * infinite row gets in), or PG_INT64_MAX for no bound (integers).
 */
extern void fc_interval_floor(FcKeyType type, const FcInterval *interval, int64 key,
							  int64 *lo, int64 *hi);

/* The time zone that days, months and names of new partitions are of */
extern struct pg_tz *fc_interval_zone(const FcInterval *interval);

#endif							/* FC_INTERVAL_H */
