/*-------------------------------------------------------------------------
 *
 * key/width.c
 *	  How wide new partitions are.
 *
 *	existing partitions ──► time zone in which they are days ──► months, days,
 *		hours or time that passes, and where these begin ──► FcInterval
 *	text ──► width ──► the same, of those existing partitions that have it
 *
 * Later loads take over a wrong width.  So all partitions are looked at; the
 * caller decides what they leave open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "compat/compat.h"
#include "key/range.h"

/* By so much clocks are put forward or back, at most; and a day without it */
#define CLOCK_CHANGE	(2 * USECS_PER_HOUR)
#define SHORT_DAY		(USECS_PER_DAY - CLOCK_CHANGE)

/* 2000-01-03, a Monday */
#define FIRST_MONDAY	INT64CONST(2)

/* Do both ends exist, and are they finite? */
static bool
is_finite(const FcRoute *route, const FcRange *range)
{
	return !range->lo_min && !range->hi_max &&
		!fc_key_is_infinite(route->type, range->lo) &&
		!fc_key_is_infinite(route->type, range->hi);
}

bool
fc_key_starts_day(FcKeyType type, int64 key, pg_tz *zone)
{
	return fc_key_day_start(type, fc_key_day_of(type, key, zone), zone) == key;
}

static bool
starts_days(FcKeyType type, const FcRange *range, pg_tz *zone)
{
	return fc_key_starts_day(type, range->lo, zone) && fc_key_starts_day(type, range->hi, zone);
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

/* May this number of days be one or several months, or years? */
static bool
is_like_months(int64 days)
{
	double		month = 365.2425 / 12;
	int64		months = (int64) (days / month + 0.5);

	return days >= FC_MONTH_DAYS && days > months * month - 3 && days < months * month + 3;
}

/* Sets whole days or months, which "range" has in a zone */
static void
calendar_interval(const FcRoute *route, const FcRange *range, pg_tz *zone, FcInterval *interval)
{
	FcKeyType	type = route->type;
	int64		lo = fc_key_day_of(type, range->lo, zone);
	int64		hi = fc_key_day_of(type, range->hi, zone);
	int64		into = lo - fc_key_month_start(fc_key_month_of_day(lo));
	bool		months = into < FC_MONTH_DAYS && into == hi - fc_key_month_start(fc_key_month_of_day(hi));

	interval->zone = zone == session_timezone ? NULL : zone;
	/* others that are as wide, or as months may be, tell days from months */
	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *other = &route->ranges[i];
		int64		other_lo;
		int64		other_hi;

		if (!is_finite(route, other) || !starts_days(type, other, zone))
			continue;
		other_lo = fc_key_day_of(type, other->lo, zone);
		other_hi = fc_key_day_of(type, other->hi, zone);
		if (other_hi - other_lo == hi - lo)
			months &= into == 0 || (fc_key_day_in_month(other_lo) == into && fc_key_day_in_month(other_hi) == into);
		else if (!months && is_like_months(hi - lo) && is_like_months(other_hi - other_lo) &&
				 llabs((other_hi - other_lo) - (hi - lo)) <= 3)
			interval->unsure = range->partition;
	}
	if (months)
	{
		interval->months = (int32) (fc_key_month_of_day(hi) - fc_key_month_of_day(lo));
		interval->unsure = InvalidOid;
		return;
	}
	interval->days = true;
	interval->width = hi - lo;
	if (type != FC_KEY_DATE)
		interval->width *= USECS_PER_DAY;
}

/*
 * Sets the width of a range that is not days of any zone known here.  It is
 * time that passes.  It is unsure if it looks like months, or like days of
 * another zone, which have 24 hours where clocks do not change.
 */
static void
plain_interval(const FcRoute *route, const FcRange *range, FcInterval *interval)
{
	int64		width = range->hi - range->lo;
	int64		odd = (width + CLOCK_CHANGE) % USECS_PER_DAY - CLOCK_CHANGE;

	interval->width = width;
	if (width >= SHORT_DAY &&
		(is_like_months((width + USECS_PER_DAY / 2) / USECS_PER_DAY) ||
		 (route->type == FC_KEY_TIMESTAMPTZ && odd <= CLOCK_CHANGE)))
		interval->unsure = range->partition;
	if (route->type != FC_KEY_TIMESTAMPTZ || width >= SHORT_DAY)
		return;
	/* wall clocks must show the same of all that are as wide */
	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *other = &route->ranges[i];
		FcInterval	trial = {.width = width,.origin = other->lo};

		if (is_finite(route, other) && other->hi - other->lo == width)
			interval->elapsed |= !fc_interval_fits_day(route->type, &trial);
	}
}

/* The interval that is as wide as a finite range, and counts from its start */
static FcInterval
interval_of_range(const FcRoute *route, const FcRange *range)
{
	FcInterval	interval = {.origin = range->lo};
	pg_tz	   *zone;

	if (fc_key_is_integer(route->type))
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

/* A bound in the unit that the interval counts in */
static int64
counted_bound(const FcInterval *interval, int64 bound)
{
	int64		time;

	if (interval->epoch == 0)
		return bound;
	return fc_key_epoch_to_time(interval->epoch, bound, &time) ? time : DT_NOEND;
}

/* Is the range what "interval" gives for the range's first key? */
static bool
is_one_interval(const FcRoute *route, const FcInterval *interval,
				const FcRange *range)
{
	FcInterval	trial = *interval;
	int64		lo;
	int64		hi;

	trial.origin = counted_bound(interval, range->lo);
	fc_interval_floor(route->type, &trial, range->lo, &lo, &hi);
	return lo == range->lo && hi == range->hi;
}

/* The highest of the first n existing partitions with finite bounds, or -1 */
static int
finite_below(const FcRoute *route, int n)
{
	while (--n >= 0 && !is_finite(route, &route->ranges[n]))
		;
	return n;
}

/*
 * The interval of the highest existing partition with finite bounds, and with
 * the width of "like" unless that is NULL.  False if there is none.
 *
 * Hours of a timestamptz that no day divides into may be a night in which
 * clocks change.  Then a lower partition tells the width: its hours fit a day,
 * and the highest is one interval.
 */
static bool
existing_interval(const FcRoute *route, const FcInterval *like,
				  FcInterval *result)
{
	int			highest = route->nranges;

	while ((highest = finite_below(route, highest)) >= 0)
	{
		*result = interval_of_range(route, &route->ranges[highest]);
		if (like == NULL ||
			(like->months == result->months &&
			 like->width == result->width && like->days == result->days))
			break;
	}
	if (highest < 0 || like != NULL || route->type != FC_KEY_TIMESTAMPTZ ||
		result->months > 0 || result->days || fc_interval_fits_day(route->type, result))
		return highest >= 0;
	for (int i = highest; (i = finite_below(route, i)) >= 0;)
	{
		FcInterval	lower = interval_of_range(route, &route->ranges[i]);

		if (!fc_interval_fits_day(route->type, &lower) ||
			!is_one_interval(route, &lower, &route->ranges[highest]))
			continue;
		*result = lower;
		break;
	}
	return true;
}

static void
refuse_width(const char *text, const char *detail)
{
	fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("invalid partition interval: \"%s\"", text),
			 errdetail_internal("%s", detail),
			 errhint("Change partition_interval, or leave it out to get the width of the existing partitions."));
}

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
 * Reads a width of timestamp and date keys, counted in a zone.  Hours that make
 * whole days are days.
 */
static FcInterval
time_width(FcKeyType type, const char *text, pg_tz *zone)
{
	FcInterval	interval = {0};
	Interval   *span = read_width(text);
	int64		first_day;

	check_width(text, type, span);
	if (span->month > 0)
	{
		interval.months = span->month;
		interval.origin = fc_key_day_start(type, fc_key_month_start(0), zone);
		return interval;
	}

	if (pg_mul_s64_overflow(span->day, USECS_PER_DAY, &interval.width))
		refuse_width(text, _("The interval is too large."));
	interval.width += span->time;
	interval.days = span->time % USECS_PER_DAY == 0;
	first_day = interval.width % (7 * USECS_PER_DAY) == 0 ? FIRST_MONDAY : 0;
	if (interval.days || USECS_PER_DAY % interval.width == 0)
		interval.origin = fc_key_day_start(type, first_day, zone);
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
		interval = fc_key_is_integer(route->type) ? integer_width(text) :
			time_width(route->type, text, session_timezone);
		return existing_interval(route, &interval, &existing) ? existing : interval;
	}
	if (existing_interval(route, NULL, &existing))
		return existing;
	if (fc_key_is_integer(route->type))
		fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("could not tell how wide new partitions should be"),
				 errdetail("The partition key is an integer, and no existing partition has two finite bounds."),
				 errhint("Give a width as partition_interval, such as '1000000'."));
	return time_width(route->type, "1 day", session_timezone);
}

FcInterval
fc_interval_step(const FcRoute *route, const char *text, int64 epoch,
				 pg_tz *zone)
{
	FcKeyType	type = epoch ? FC_KEY_TIMESTAMPTZ : route->type;
	FcInterval	interval = fc_key_is_integer(type) ? integer_width(text) :
		time_width(type, text, zone);
	int			highest = finite_below(route, route->nranges);
	int			i = highest;

	Assert(epoch >= 0 && (epoch == 0 || fc_key_is_integer(route->type)));
	interval.elapsed = interval.months == 0 && !interval.days &&
		!fc_key_is_integer(type);
	interval.epoch = epoch;
	interval.zone = zone;
	if (epoch && (interval.width % USECS_PER_SEC) != 0)
		refuse_width(text, _("The partition key counts from 1970, so the interval must be whole seconds."));
	/* from the highest that is one interval wide, or else with finite bounds */
	while (i >= 0 && !is_one_interval(route, &interval, &route->ranges[i]))
		i = finite_below(route, i);
	if (highest >= 0)
		interval.origin = counted_bound(&interval, route->ranges[i >= 0 ? i : highest].lo);
	return interval;
}

bool
fc_interval_lines_up(const FcRoute *route, const FcInterval *interval)
{
	FcKeyType	type = interval->epoch ? FC_KEY_TIMESTAMPTZ : route->type;
	pg_tz	   *zone = fc_interval_zone(interval);
	int64		day;

	if (interval->months == 0 && !interval->days)
		return true;
	for (int i = 0; i < route->nranges; i++)
	{
		const FcRange *range = &route->ranges[i];

		if (is_finite(route, range) &&
			(!fc_key_starts_day(type, counted_bound(interval, range->lo), zone) ||
			 !fc_key_starts_day(type, counted_bound(interval, range->hi), zone)))
			return false;
	}
	day = fc_key_day_of(type, interval->origin, zone);
	return interval->months == 0 || fc_key_month_start(fc_key_month_of_day(day)) == day;
}
