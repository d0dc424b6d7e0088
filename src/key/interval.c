/*-------------------------------------------------------------------------
 *
 * key/interval.c
 *	  Where the intervals of new partitions start.
 *
 * Four ways to count, in the order they are tried:
 *
 *	months		calendar months (calendar_floor)
 *	days		days of a time zone, of 23 or 25 hours where clocks change
 *	clock		a width that divides a day evenly (clock_floor)
 *	plain		anything else, and integers: multiples from an origin
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "key/interval.h"

/* The calendar's ends, as days from 2000-01-01 */
#define FIRST_DAY		(DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE)
#define END_OF_DATES	(DATE_END_JULIAN - POSTGRES_EPOCH_JDATE)
#define END_OF_STAMPS	(TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)

const FcKeyKind fc_key_kinds[] = {
	[FC_KEY_TIMESTAMP] = {TIMESTAMPOID, 8, MIN_TIMESTAMP, END_TIMESTAMP, DT_NOEND},
	[FC_KEY_TIMESTAMPTZ] = {TIMESTAMPTZOID, 8, MIN_TIMESTAMP, END_TIMESTAMP, DT_NOEND},
	[FC_KEY_DATE] = {DATEOID, 4, FIRST_DAY, END_OF_DATES, PG_INT32_MAX},
	[FC_KEY_INT2] = {INT2OID, 2, PG_INT16_MIN, PG_INT16_MAX, PG_INT64_MAX},
	[FC_KEY_INT4] = {INT4OID, 4, PG_INT32_MIN, PG_INT32_MAX, PG_INT64_MAX},
	[FC_KEY_INT8] = {INT8OID, 8, PG_INT64_MIN, PG_INT64_MAX, PG_INT64_MAX}
};

static const FcInterval one_day = {.width = USECS_PER_DAY,.days = true};

/* Seconds from 1970 to 2000, where timestamps begin */
#define EPOCH_SECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

static int64
floor_div(int64 a, int64 b)
{
	int64		q = a / b;

	Assert(b > 0);
	return a % b < 0 ? q - 1 : q;
}

static int64
floor_mod(int64 a, int64 b)
{
	int64		r = a % b;

	Assert(b > 0);
	return r < 0 ? r + b : r;
}

int64
fc_key_day_of(FcKeyType type, int64 key, pg_tz *zone)
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
 * The instant at which wall clocks of a zone show "local", as a timestamptz is
 * read that is written without a zone
 */
static int64
clock_time(int64 local, pg_tz *zone)
{
	struct pg_tm tm;
	fsec_t		fsec;

	if (timestamp2tm(local, NULL, &tm, &fsec, NULL, NULL) != 0)
		return local;
	return local + DetermineTimeZoneOffset(&tm, zone) * USECS_PER_SEC;
}

int64
fc_key_day_start(FcKeyType type, int64 day, pg_tz *zone)
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
	day *= USECS_PER_DAY;
	return type == FC_KEY_TIMESTAMPTZ ? clock_time(day, zone) : day;
}

pg_tz *
fc_interval_zone(const FcInterval *interval)
{
	return interval->zone ? interval->zone : session_timezone;
}

int64
fc_key_month_of_day(int64 day)
{
	int			year;
	int			month;
	int			mday;

	j2date((int) (day + POSTGRES_EPOCH_JDATE), &year, &month, &mday);
	return (int64) year * 12 + month - 1;
}

int64
fc_key_month_start(int64 month)
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

int64
fc_key_day_in_month(int64 day)
{
	int64		into = day - fc_key_month_start(fc_key_month_of_day(day));

	return into < FC_MONTH_DAYS ? into : 0;
}

/* The start of interval number "i"; number 0 is the origin's */
static int64
calendar_start(FcKeyType type, const FcInterval *interval, int64 i)
{
	pg_tz	   *zone = fc_interval_zone(interval);
	int64		day = fc_key_day_of(type, interval->origin, zone);

	if (interval->months > 0)
		day = fc_key_month_start(fc_key_month_of_day(day) + i * interval->months) + fc_key_day_in_month(day);
	else
		day += i * days_of(type, interval);
	return fc_key_day_start(type, day, zone);
}

static int64
calendar_index(FcKeyType type, const FcInterval *interval, int64 key)
{
	pg_tz	   *zone = fc_interval_zone(interval);
	int64		day = fc_key_day_of(type, key, zone);
	int64		origin = fc_key_day_of(type, interval->origin, zone);

	if (interval->months > 0)
		return floor_div(fc_key_month_of_day(day) - fc_key_month_of_day(origin),
						 interval->months);
	return floor_div(day - origin, days_of(type, interval));
}

/*
 * Months count from year 0, days from 2000-01-01, weeks from a Monday; or from
 * an existing partition: months from any day up to the 28th.
 *
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

/*
 * Up to an hour the width counts microseconds from the day's start.  A longer
 * one counts as wall clocks show it from there, so that a night has an hour
 * more or less where clocks change.
 */
static void
clock_floor(FcKeyType type, const FcInterval *interval, int64 key,
			int64 *lo, int64 *hi)
{
	int64		start;
	int64		next;
	int64		day;

	Assert(interval->width > 0 && interval->width < USECS_PER_DAY);
	calendar_floor(type, &one_day, key, &start, &next);
	*lo = key - (key - start) % interval->width;
	*hi = Min(*lo + interval->width, next);
	if (*hi >= END_TIMESTAMP)
		*hi = next;
	if (type != FC_KEY_TIMESTAMPTZ || interval->width <= USECS_PER_HOUR)
		return;
	day = fc_key_day_of(type, start, session_timezone);
	*lo = start;
	for (int64 time = interval->width; time < USECS_PER_DAY; time += interval->width)
	{
		*hi = clock_time(day * USECS_PER_DAY + time, session_timezone);
		if (*hi > key)
			return;
		*lo = Max(*lo, *hi);
	}
	*hi = next;
}

bool
fc_interval_fits_day(FcKeyType type, const FcInterval *interval)
{
	int64		lo;
	int64		hi;

	if (type == FC_KEY_DATE || fc_key_is_integer(type) || interval->elapsed ||
		interval->months > 0 || interval->width >= USECS_PER_DAY ||
		USECS_PER_DAY % interval->width != 0)
		return false;
	clock_floor(type, interval, interval->origin, &lo, &hi);
	return interval->origin == lo;
}

/*
 * Never leaves the type's range.  The last interval of a timestamp or date
 * ends at 'infinity', that of an integer type past its maximum, written as
 * PG_INT64_MAX.
 */
static void
plain_floor(FcKeyType type, const FcInterval *interval, int64 key,
			int64 *lo, int64 *hi)
{
	const FcKeyKind *kind = &fc_key_kinds[type];
	int64		width = interval->width;
	int64		into = floor_mod(key, width) - floor_mod(interval->origin, width);

	if (into < 0)
		into += width;

	/* PG_INT64_MAX is a bound, so it must not be a start as well */
	if (key == PG_INT64_MAX && into == 0)
		into = width;

	if (pg_sub_s64_overflow(key, into, lo) || *lo < kind->first)
		*lo = kind->first;
	if (pg_add_s64_overflow(key, width - into, hi) ||
		(fc_key_is_integer(type) ? *hi > kind->end : *hi >= kind->end))
		*hi = kind->past;
}

static void
any_floor(FcKeyType type, const FcInterval *interval, int64 key,
		  int64 *lo, int64 *hi)
{
	if (interval->months > 0 || interval->days)
		calendar_floor(type, interval, key, lo, hi);
	else if (fc_interval_fits_day(type, interval))
		clock_floor(type, interval, key, lo, hi);
	else
		plain_floor(type, interval, key, lo, hi);
}

bool
fc_key_epoch_to_time(int64 unit, int64 key, int64 *time)
{
	Assert(unit > 0);
	if (unit > USECS_PER_SEC)
		*time = floor_div(key, unit / USECS_PER_SEC);
	else if (pg_mul_s64_overflow(key, USECS_PER_SEC / unit, time))
		return false;
	return !pg_sub_s64_overflow(*time, EPOCH_SECONDS * USECS_PER_SEC, time) &&
		*time >= MIN_TIMESTAMP && *time < END_TIMESTAMP;
}

int64
fc_key_epoch_from_time(int64 unit, int64 time)
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
	const FcKeyKind *kind = &fc_key_kinds[type];
	int64		end = interval->epoch < USECS_PER_SEC ? PG_INT64_MAX / (USECS_PER_SEC / interval->epoch) + 1 : PG_INT64_MAX;
	int64		time;

	if (fc_key_epoch_to_time(interval->epoch, key, &time))
	{
		any_floor(FC_KEY_TIMESTAMPTZ, interval, time, lo, hi);
		*lo = fc_key_epoch_from_time(interval->epoch, *lo);
		*hi = fc_key_epoch_from_time(interval->epoch, *hi);
		*hi = Min(*hi, end);
	}
	else
	{
		*lo = key < 0 ? PG_INT64_MIN : end;
		*hi = key < 0 ? fc_key_epoch_from_time(interval->epoch, MIN_TIMESTAMP) :
			PG_INT64_MAX;
	}
	*lo = Max(*lo, kind->first);
	if (*hi > kind->end)
		*hi = kind->past;
}

void
fc_interval_floor(FcKeyType type, const FcInterval *interval, int64 key,
				  int64 *lo, int64 *hi)
{
	Assert(interval->months > 0 || interval->width > 0);
	if (interval->epoch)
		epoch_floor(type, interval, key, lo, hi);
	else
		any_floor(type, interval, key, lo, hi);
	Assert(*lo <= key && (key < *hi || *hi == PG_INT64_MAX));
}
