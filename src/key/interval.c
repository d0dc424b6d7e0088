/*-------------------------------------------------------------------------
 *
 * key/interval.c
 *	  The widths of partitions, and where such intervals start.
 *
 * Four ways to count, in the order they are tried:
 *
 *	months		calendar months, from year 0 (quarters and years are those of
 *				the calendar), or from an existing partition, whose first day
 *				may be any up to the 28th
 *	days		days of the session's time zone, from 2000-01-01; weeks from a
 *				Monday; or from an existing partition, in the time zone in
 *				which the existing ones are days.  A timestamptz day has 23 or
 *				25 hours where clocks change
 *	clock		a width that divides a day evenly: as wall clocks show it from
 *				the day's start, if it is more than an hour, so that a night
 *				has an hour more or less where clocks change; else
 *				microseconds from there
 *	plain		anything else, and integers: multiples of the width from an
 *				origin
 *
 * Intervals never leave the type's range.  The last one of a timestamp or date
 * ends at 'infinity' and that of an integer type past its maximum, written as
 * PG_INT64_MAX.  Nothing here allocates what must be cleaned up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "common/int.h"
#include "fmgr.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "compat/compat.h"
#include "key/range.h"

/* The calendar's ends, as days from 2000-01-01 */
#define FIRST_DAY		(DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE)
#define END_OF_DATES	(DATE_END_JULIAN - POSTGRES_EPOCH_JDATE)
#define END_OF_STAMPS	(TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)

/* 2000-01-03, a Monday */
#define FIRST_MONDAY	INT64CONST(2)

/* Days that each month has */
#define MONTH_DAYS		28

/* By so much clocks are put forward or back, at most; and a day without it */
#define CLOCK_CHANGE	(2 * USECS_PER_HOUR)
#define SHORT_DAY		(USECS_PER_DAY - CLOCK_CHANGE)

static const FcInterval one_day = {.width = USECS_PER_DAY,.days = true};

/* Seconds from 1970 to 2000, where timestamps begin */
#define EPOCH_SECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

static int64
floor_div(int64 a, int64 b)
{
	int64		q = a / b;

	return a % b < 0 ? q - 1 : q;
}

static int64
floor_mod(int64 a, int64 b)
{
	int64		r = a % b;

	return r < 0 ? r + b : r;
}

static bool
is_integer(FcKeyType type)
{
	return type >= FC_KEY_INT2;
}

static int64
local_day(FcKeyType type, int64 key, pg_tz *zone)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz = 0;

	if (type == FC_KEY_DATE)
		return key;
	if (type == FC_KEY_TIMESTAMPTZ &&
		timestamp2tm(key, &tz, &tm, &fsec, NULL, zone) != 0)
		tz = 0;
	return floor_div(key - tz * USECS_PER_SEC, USECS_PER_DAY);
}

/*
 * The instant that a time zone calls the start of a day, as '2021-03-28' means
 * it as a timestamptz.
 */
static TimestampTz
local_midnight(int64 day, pg_tz *zone)
{
	struct pg_tm tm;
	int			tz;

	memset(&tm, 0, sizeof(tm));
	j2date((int) (day + POSTGRES_EPOCH_JDATE),
		   &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	tm.tm_isdst = -1;
	tz = DetermineTimeZoneOffset(&tm, zone);
	return day * USECS_PER_DAY + tz * USECS_PER_SEC;
}

static int64
day_start(FcKeyType type, int64 day, pg_tz *zone)
{
	/* near the type's ends a zone's offset may put a day's start outside */
	int64		margin = type == FC_KEY_TIMESTAMPTZ ? 1 : 0;

	if (type == FC_KEY_DATE)
		return day < FIRST_DAY ? FIRST_DAY :
			day >= END_OF_DATES ? PG_INT32_MAX : day;
	if (day <= FIRST_DAY + margin)
		return MIN_TIMESTAMP;
	if (day >= END_OF_STAMPS - margin)
		return DT_NOEND;
	if (type == FC_KEY_TIMESTAMPTZ)
		return local_midnight(day, zone);
	return day * USECS_PER_DAY;
}

pg_tz *
fc_interval_zone(const FcInterval *interval)
{
	return interval->zone ? interval->zone : session_timezone;
}

/* Months since the start of year 0, of the month that holds "day" */
static int64
month_of_day(int64 day)
{
	int			year;
	int			month;
	int			mday;

	j2date((int) (day + POSTGRES_EPOCH_JDATE), &year, &month, &mday);
	return (int64) year * 12 + month - 1;
}

/*
 * The first day of a month; if the month is outside the range of all types, a
 * day outside them, too
 */
static int64
first_day_of_month(int64 month)
{
	int64		year = floor_div(month, 12);

	if (year < JULIAN_MINYEAR)
		return PG_INT32_MIN;
	if (year >= JULIAN_MAXYEAR)
		return PG_INT32_MAX;
	return (int64) date2j((int) year, (int) floor_mod(month, 12) + 1, 1) -
		POSTGRES_EPOCH_JDATE;
}

/* Days in an interval of whole days */
static int64
days_of(FcKeyType type, const FcInterval *interval)
{
	return type == FC_KEY_DATE ? interval->width :
		interval->width / USECS_PER_DAY;
}

/* Days after the first one of its month; all months have the first 28 */
static int64
day_in_month(int64 day)
{
	int64		into = day - first_day_of_month(month_of_day(day));

	return into < MONTH_DAYS ? into : 0;
}

/* The start of interval number "i"; number 0 is the origin's */
static int64
calendar_start(FcKeyType type, const FcInterval *interval, int64 i)
{
	pg_tz	   *zone = fc_interval_zone(interval);
	int64		day = local_day(type, interval->origin, zone);

	if (interval->months > 0)
		day = first_day_of_month(month_of_day(day) + i * interval->months) + day_in_month(day);
	else
		day += i * days_of(type, interval);
	return day_start(type, day, zone);
}

static int64
calendar_index(FcKeyType type, const FcInterval *interval, int64 key)
{
	pg_tz	   *zone = fc_interval_zone(interval);
	int64		day = local_day(type, key, zone);
	int64		origin = local_day(type, interval->origin, zone);

	if (interval->months > 0)
		return floor_div(month_of_day(day) - month_of_day(origin),
						 interval->months);
	return floor_div(day - origin, days_of(type, interval));
}

/*
 * The local date is only a guess at the interval: where clocks are put back
 * over midnight, an instant can bear tomorrow's date before the instant that
 * tomorrow's midnight is taken to mean.
 */
static void
calendar_floor(FcKeyType type, const FcInterval *interval, int64 key,
			   int64 *lo, int64 *hi)
{
	int64		i = calendar_index(type, interval, key);

	while ((*lo = calendar_start(type, interval, i)) > key)
		i--;
	while ((*hi = calendar_start(type, interval, i + 1)) <= key)
	{
		*lo = *hi;
		i++;
	}
}

/* The instant at which wall clocks of the session show "time" on a day */
static int64
clock_time(FcKeyType type, int64 day, int64 time)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int64		stamp = day * USECS_PER_DAY + time;

	if (type != FC_KEY_TIMESTAMPTZ || timestamp2tm(stamp, NULL, &tm, &fsec, NULL, NULL) != 0)
		return stamp;
	return stamp + DetermineTimeZoneOffset(&tm, session_timezone) * USECS_PER_SEC;
}

static void
clock_floor(FcKeyType type, const FcInterval *interval, int64 key,
			int64 *lo, int64 *hi)
{
	int64		start;
	int64		next;
	int64		day;

	calendar_floor(type, &one_day, key, &start, &next);
	*lo = key - (key - start) % interval->width;
	*hi = Min(*lo + interval->width, next);
	if (type != FC_KEY_TIMESTAMPTZ || interval->width <= USECS_PER_HOUR)
		return;
	day = local_day(type, start, session_timezone);
	*lo = start;
	for (int64 time = interval->width; time < USECS_PER_DAY; time += interval->width)
	{
		*hi = clock_time(type, day, time);
		if (*hi > key)
			return;
		*lo = Max(*lo, *hi);
	}
	*hi = next;
}

/* Can intervals be counted from the start of each day? */
static bool
fits_in_day(FcKeyType type, const FcInterval *interval)
{
	int64		lo;
	int64		hi;

	if (type == FC_KEY_DATE || is_integer(type) || interval->elapsed ||
		interval->width >= USECS_PER_DAY ||
		USECS_PER_DAY % interval->width != 0)
		return false;
	clock_floor(type, interval, interval->origin, &lo, &hi);
	return interval->origin == lo;
}

/*
 * The range of a type.  *end is the first key after it; of integers, which may
 * have none, it is the last key.
 */
static void
type_range(FcKeyType type, int64 *first, int64 *end)
{
	switch (type)
	{
		case FC_KEY_DATE:
			*first = FIRST_DAY;
			*end = END_OF_DATES;
			break;
		case FC_KEY_INT2:
			*first = PG_INT16_MIN;
			*end = PG_INT16_MAX;
			break;
		case FC_KEY_INT4:
			*first = PG_INT32_MIN;
			*end = PG_INT32_MAX;
			break;
		case FC_KEY_INT8:
			*first = PG_INT64_MIN;
			*end = PG_INT64_MAX;
			break;
		default:
			*first = MIN_TIMESTAMP;
			*end = END_TIMESTAMP;
			break;
	}
}

/* What a bound past the end of the type is written as */
static int64
past_end(FcKeyType type)
{
	return type == FC_KEY_DATE ? (int64) PG_INT32_MAX : PG_INT64_MAX;
}

static void
plain_floor(FcKeyType type, const FcInterval *interval, int64 key,
			int64 *lo, int64 *hi)
{
	int64		width = interval->width;
	int64		into = floor_mod(key, width) - floor_mod(interval->origin, width);
	int64		first;
	int64		end;

	if (into < 0)
		into += width;

	/* PG_INT64_MAX is a bound, so it must not be a start as well */
	if (key == PG_INT64_MAX && into == 0)
		into = width;

	type_range(type, &first, &end);
	if (pg_sub_s64_overflow(key, into, lo) || *lo < first)
		*lo = first;
	if (pg_add_s64_overflow(key, width - into, hi) ||
		(is_integer(type) ? *hi > end : *hi >= end))
		*hi = past_end(type);
}

static void
any_floor(FcKeyType type, const FcInterval *interval, int64 key,
		  int64 *lo, int64 *hi)
{
	if (interval->months > 0 || interval->days)
		calendar_floor(type, interval, key, lo, hi);
	else if (fits_in_day(type, interval))
		clock_floor(type, interval, key, lo, hi);
	else
		plain_floor(type, interval, key, lo, hi);
}

bool
fc_epoch_to_time(int64 unit, int64 key, int64 *time)
{
	int64		epoch = EPOCH_SECONDS * USECS_PER_SEC;

	if (unit > USECS_PER_SEC)
		*time = floor_div(key, unit / USECS_PER_SEC);
	else if (pg_mul_s64_overflow(key, USECS_PER_SEC / unit, time))
		return false;
	return !pg_sub_s64_overflow(*time, epoch, time) &&
		*time >= MIN_TIMESTAMP && *time < END_TIMESTAMP;
}

int64
fc_epoch_from_time(int64 unit, int64 time)
{
	int64		key;

	if (pg_add_s64_overflow(time, EPOCH_SECONDS * USECS_PER_SEC, &key))
		return PG_INT64_MAX;
	if (unit <= USECS_PER_SEC)
		return floor_div(key, USECS_PER_SEC / unit);
	if (pg_mul_s64_overflow(key, unit / USECS_PER_SEC, &key))
		return time < 0 ? PG_INT64_MIN : PG_INT64_MAX;
	return key;
}

/*
 * fc_interval_floor for integer keys that count time.  Those that are no
 * timestamp share a range at either end.
 */
static void
epoch_floor(FcKeyType type, const FcInterval *interval, int64 key,
			int64 *lo, int64 *hi)
{
	int64		first;
	int64		end;
	int64		time;

	if (fc_epoch_to_time(interval->epoch, key, &time))
	{
		any_floor(FC_KEY_TIMESTAMPTZ, interval, time, lo, hi);
		*lo = fc_epoch_from_time(interval->epoch, *lo);
		*hi = *hi == PG_INT64_MAX ? PG_INT64_MAX :
			fc_epoch_from_time(interval->epoch, *hi);
	}
	else
	{
		*lo = key < 0 ? PG_INT64_MIN :
			fc_epoch_from_time(interval->epoch, END_TIMESTAMP);
		*hi = key < 0 ? fc_epoch_from_time(interval->epoch, MIN_TIMESTAMP) :
			PG_INT64_MAX;
	}
	type_range(type, &first, &end);
	*lo = Max(*lo, first);
	if (*hi > end)
		*hi = past_end(type);
}

void
fc_interval_floor(const FcRoute *route, int64 key, int64 *lo, int64 *hi)
{
	if (route->interval.epoch)
		epoch_floor(route->type, &route->interval, key, lo, hi);
	else
		any_floor(route->type, &route->interval, key, lo, hi);
}

/* Do both ends exist, and are they finite? */
static bool
is_finite(const FcRoute *route, const FcRange *range)
{
	return !range->lo_min && !range->hi_max &&
		!fc_key_is_infinite(route->type, range->lo) &&
		!fc_key_is_infinite(route->type, range->hi);
}

/* Is this the first key of a day in the zone? */
static bool
starts_day(FcKeyType type, int64 key, pg_tz *zone)
{
	return day_start(type, local_day(type, key, zone), zone) == key;
}

bool
fc_interval_starts_day(const FcRoute *route, int64 key)
{
	return starts_day(route->type, key, fc_interval_zone(&route->interval));
}

static bool
starts_month(FcKeyType type, int64 key, pg_tz *zone)
{
	int64		day = local_day(type, key, zone);

	return starts_day(type, key, zone) &&
		first_day_of_month(month_of_day(day)) == day;
}

static bool
starts_days(FcKeyType type, const FcRange *range, pg_tz *zone)
{
	return starts_day(type, range->lo, zone) && starts_day(type, range->hi, zone);
}

/* How many of the ranges are days of a zone?  0 if "range" is none. */
static int
days_in_zone(const FcRoute *route, const FcRange *range, pg_tz *zone)
{
	int			n = 0;

	if (zone == NULL || !starts_days(route->type, range, zone))
		return 0;
	for (int i = 0; i < route->nranges; i++)
		n += is_finite(route, &route->ranges[i]) &&
			starts_days(route->type, &route->ranges[i], zone);
	return n;
}

/*
 * The time zone in which "range" and most of the others are days: the
 * session's, UTC, that of the server's, the database's or the role's settings,
 * or that of the server's log; the first of equals.  NULL: in none.
 */
static pg_tz *
zone_of_ranges(const FcRoute *route, const FcRange *range)
{
	const char *set = GetConfigOptionResetString("TimeZone");
	pg_tz	   *zones[] = {session_timezone, pg_tzset("UTC"), set ? pg_tzset(set) : NULL, log_timezone};
	pg_tz	   *best = NULL;
	int			most = 0;

	for (int i = 0; i < (route->type == FC_KEY_TIMESTAMPTZ ? lengthof(zones) : 1); i++)
	{
		int			n = days_in_zone(route, range, zones[i]);

		if (n > most)
		{
			most = n;
			best = zones[i];
		}
	}
	return best;
}

/* May so many days be one or several months, or years? */
static bool
is_like_months(int64 days)
{
	double		month = 365.2425 / 12;
	int64		months = (int64) (days / month + 0.5);

	return days >= MONTH_DAYS && days > months * month - 3 && days < months * month + 3;
}

/* Sets whole days or months, which "range" has in a zone */
static void
calendar_interval(const FcRoute *route, const FcRange *range, pg_tz *zone, FcInterval *interval)
{
	FcKeyType	type = route->type;
	int64		lo = local_day(type, range->lo, zone);
	int64		hi = local_day(type, range->hi, zone);
	int64		into = lo - first_day_of_month(month_of_day(lo));
	bool		months = into < MONTH_DAYS && into == day_in_month(hi);

	interval->zone = zone == session_timezone ? NULL : zone;
	/* others that are as wide, or as months may be, tell days from months */
	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *other = &route->ranges[i];
		int64		other_lo;
		int64		other_hi;

		if (!is_finite(route, other) || !starts_days(type, other, zone))
			continue;
		other_lo = local_day(type, other->lo, zone);
		other_hi = local_day(type, other->hi, zone);
		if (other_hi - other_lo == hi - lo)
			months &= into == 0 || (day_in_month(other_lo) == into && day_in_month(other_hi) == into);
		else if (!months && is_like_months(hi - lo) && is_like_months(other_hi - other_lo) &&
				 llabs((other_hi - other_lo) - (hi - lo)) <= 3)
			interval->unsure = range->partition;
	}
	if (months)
	{
		interval->months = (int32) (month_of_day(hi) - month_of_day(lo));
		interval->unsure = InvalidOid;
		return;
	}
	interval->days = true;
	interval->width = hi - lo;
	if (type != FC_KEY_DATE)
		interval->width *= USECS_PER_DAY;
}

/*
 * Sets the width of a range that is no days in any zone known here.  It is time
 * that passes, unless it looks like months, or like days of another zone.
 */
static void
plain_interval(const FcRoute *route, const FcRange *range, FcInterval *interval)
{
	int64		width = range->hi - range->lo;
	int64		odd = (width + CLOCK_CHANGE) % USECS_PER_DAY - CLOCK_CHANGE;

	interval->width = width;
	if (width >= SHORT_DAY &&
		(is_like_months((width + USECS_PER_DAY / 2) / USECS_PER_DAY) ||
		 (route->type == FC_KEY_TIMESTAMPTZ && odd != 0 && odd <= CLOCK_CHANGE)))
		interval->unsure = range->partition;
	if (route->type != FC_KEY_TIMESTAMPTZ || width >= SHORT_DAY)
		return;
	/* wall clocks must show the same of all that are as wide */
	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *other = &route->ranges[i];
		FcInterval	trial = {.width = width,.origin = other->lo};

		if (is_finite(route, other) && other->hi - other->lo == width)
			interval->elapsed |= !fits_in_day(route->type, &trial);
	}
}

/* The interval that is as wide as a finite range, and counts from its start */
static FcInterval
interval_of_range(const FcRoute *route, const FcRange *range)
{
	FcInterval	interval = {.origin = range->lo};
	pg_tz	   *zone;

	if (is_integer(route->type))
	{
		if (pg_sub_s64_overflow(range->hi, range->lo, &interval.width))
			interval.width = PG_INT64_MAX;
	}
	else if ((zone = zone_of_ranges(route, range)) != NULL)
		calendar_interval(route, range, zone, &interval);
	else
		plain_interval(route, range, &interval);
	return interval;
}

/* A bound of "route" in the unit that the interval counts in */
static int64
counted_bound(const FcRoute *route, const FcInterval *interval, int64 bound)
{
	int64		time;

	if (interval->epoch == 0)
		return bound;
	return fc_epoch_to_time(interval->epoch, bound, &time) ? time : DT_NOEND;
}

/* Is the range what "interval" gives for the range's first key? */
static bool
is_one_interval(const FcRoute *route, const FcInterval *interval,
				const FcRange *range)
{
	FcRoute		trial = *route;
	int64		lo;
	int64		hi;

	trial.interval = *interval;
	trial.interval.origin = counted_bound(route, interval, range->lo);
	fc_interval_floor(&trial, range->lo, &lo, &hi);
	return lo == range->lo && hi == range->hi;
}

/*
 * The interval of the highest existing partition with finite bounds; unless
 * "like" is NULL, of the highest that is as wide as "like".  Where clocks change
 * the highest may be a night of hours, which others explain.  False if there is
 * none.
 */
static bool
existing_interval(const FcRoute *route, const FcInterval *like,
				  FcInterval *result)
{
	const FcRange *highest = NULL;

	for (int i = route->nranges - 1; i >= 0; i--)
	{
		FcInterval	interval;

		if (!is_finite(route, &route->ranges[i]))
			continue;
		interval = interval_of_range(route, &route->ranges[i]);
		if (like && (like->months != interval.months ||
					 like->width != interval.width || like->days != interval.days))
			continue;
		if (highest == NULL)
			*result = interval;
		else if (fits_in_day(route->type, &interval) && is_one_interval(route, &interval, highest))
		{
			*result = interval;
			return true;
		}
		highest = highest ? highest : &route->ranges[i];
		if (like || result->months > 0 || result->days || route->type != FC_KEY_TIMESTAMPTZ ||
			fits_in_day(route->type, result))
			return true;
	}
	return highest != NULL;
}

static void
refuse_width(const char *text, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid partition interval: \"%s\"", text),
			 errdetail_internal("%s", detail),
			 errhint("Change partition_interval, or leave it out to get the width of the existing partitions.")));
}

/* Reads a width of integer keys */
static FcInterval
integer_width(const char *text)
{
	FcInterval	interval = {0};
	char	   *end;

	errno = 0;
	interval.width = strtoi64(text, &end, 10);
	while (*end == ' ')
		end++;
	if (errno != 0 || end == text || *end != '\0')
		refuse_width(text, _("The partition key is an integer, so the interval must be an integer of its range."));
	if (interval.width <= 0)
		refuse_width(text, _("The interval must be greater than zero."));
	return interval;
}

/* Months, days and microseconds must not be mixed, and must be positive */
static void
check_width(const char *text, FcKeyType type, const Interval *span)
{
	int			parts = (span->month != 0) + (span->day != 0) +
		(span->time != 0);

	if (fc_interval_is_infinite(span))
		refuse_width(text, _("The interval must be finite."));
	if (parts > 1)
		refuse_width(text, _("Months, days and hours cannot be combined."));
	if (span->month <= 0 && span->day <= 0 && span->time <= 0)
		refuse_width(text, _("The interval must be greater than zero."));
	if (type == FC_KEY_DATE && span->time % USECS_PER_DAY != 0)
		refuse_width(text, _("The partition key is a date, so the interval must be whole days or months."));
}

/* Error context callback for what is no interval at all */
static void
advise_width(void *arg)
{
	if (geterrcode() == ERRCODE_INVALID_DATETIME_FORMAT)
		errhint("Give a width such as '1 day', '1 week' or '1 month'.");
}

static Interval *
read_width(const char *text)
{
	ErrorContextCallback callback = {error_context_stack, advise_width, NULL};
	Interval   *span;

	error_context_stack = &callback;
	span = DatumGetIntervalP(DirectFunctionCall3(interval_in,
												 CStringGetDatum(text),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
	error_context_stack = callback.previous;
	return span;
}

/*
 * Reads a width of timestamp and date keys.  Hours that make whole days are
 * days.
 */
static FcInterval
time_width(FcKeyType type, const char *text)
{
	FcInterval	interval = {0};
	Interval   *span = read_width(text);
	int64		first_day;
	bool		days;

	check_width(text, type, span);
	if (span->month > 0)
	{
		interval.months = span->month;
		interval.origin = day_start(type, first_day_of_month(0), session_timezone);
		return interval;
	}

	days = span->time % USECS_PER_DAY == 0;
	if (pg_mul_s64_overflow(span->day, USECS_PER_DAY, &interval.width))
		refuse_width(text, _("The interval is too large."));
	interval.width += span->time;
	interval.days = days;
	first_day = interval.width % (7 * USECS_PER_DAY) == 0 ? FIRST_MONDAY : 0;
	if (days || USECS_PER_DAY % interval.width == 0)
		interval.origin = day_start(type, first_day, session_timezone);
	if (type == FC_KEY_DATE)
		interval.width /= USECS_PER_DAY;
	return interval;
}

FcInterval
fc_interval_choose(const FcRoute *route, const char *text)
{
	FcInterval	interval;
	FcInterval	existing;

	if (text != NULL)
	{
		interval = is_integer(route->type) ? integer_width(text) :
			time_width(route->type, text);
		if (existing_interval(route, &interval, &existing))
			interval = existing;
		return interval;
	}
	if (existing_interval(route, NULL, &existing))
		return existing;
	if (is_integer(route->type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("could not tell how wide new partitions should be"),
				 errdetail("The partition key is an integer, and no existing partition has two finite bounds."),
				 errhint("Give a width as partition_interval, such as '1000000'.")));
	return time_width(route->type, "1 day");
}

/*
 * Makes the interval count from the highest partition that is one interval
 * wide, or else from the highest that has two finite bounds; without either
 * its origin stays as it is.
 */
static void
count_from_existing(const FcRoute *route, FcInterval *interval)
{
	const FcRange *origin = NULL;

	for (int i = route->nranges - 1; i >= 0; i--)
	{
		const FcRange *range = &route->ranges[i];
		bool		fits;

		if (!is_finite(route, range))
			continue;
		fits = is_one_interval(route, interval, range);
		if (fits || origin == NULL)
			origin = range;
		if (fits)
			break;
	}
	if (origin != NULL)
		interval->origin = counted_bound(route, interval, origin->lo);
}

FcInterval
fc_interval_step(const FcRoute *route, const char *text, int64 epoch,
				 pg_tz *zone)
{
	FcKeyType	type = epoch ? FC_KEY_TIMESTAMPTZ : route->type;
	FcInterval	interval = is_integer(type) ? integer_width(text) :
		time_width(type, text);

	interval.elapsed = interval.months == 0 && !interval.days &&
		!is_integer(type);
	interval.epoch = epoch;
	interval.zone = zone;
	if (epoch && (interval.width % USECS_PER_SEC) != 0)
		refuse_width(text, _("The partition key counts from 1970, so the interval must be whole seconds."));
	count_from_existing(route, &interval);
	return interval;
}

bool
fc_interval_lines_up(const FcRoute *route, const FcInterval *interval)
{
	FcKeyType	type = interval->epoch ? FC_KEY_TIMESTAMPTZ : route->type;
	pg_tz	   *zone = fc_interval_zone(interval);

	if (interval->months == 0 && !interval->days)
		return true;
	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *range = &route->ranges[i];

		if (is_finite(route, range) &&
			(!starts_day(type, counted_bound(route, interval, range->lo), zone) ||
			 !starts_day(type, counted_bound(route, interval, range->hi), zone)))
			return false;
	}
	return interval->months == 0 || starts_month(type, interval->origin, zone);
}
