/*-------------------------------------------------------------------------
 *
 * convert/pattern_match.c
 *	  Reads a value as a compiled pattern says.
 *
 * 1. The value's bytes go through the pattern's steps, which collect numbers.
 * 2. The numbers are checked as a calendar and a clock would, and become a
 *    datum.
 *
 * A value that fits the steps but names no moment ("2013-02-30") is an error
 * of its own (out_of_range).  Nothing is allocated, except in parse_by_core.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_collation.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/formatting.h"

#include "compat/compat.h"
#include "convert/digits.h"
#include "convert/pattern.h"
#include "errors/context.h"

#define UNIX_EPOCH_USEC \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* Timestamps end with this year */
#define LAST_YEAR		294276

#define NANOSECONDS		INT64CONST(1000000000)

/* What the steps have collected */
typedef struct FcPatternFields
{
	int			number[FC_UNIT_NUMBERS];
	int64		nsec;
	bool		pm;
	int			zone_sign;
	int			zone_hour;
	bool		named_zone;		/* in the pattern's "zone" */
} FcPatternFields;

static const char *const month_names[] = {
	"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December", NULL
};

static inline bool
is_digit(char c)
{
	return (unsigned char) (c - '0') <= 9;
}

static inline bool
is_letter(char c)
{
	return (unsigned char) ((c | 0x20) - 'a') < 26;
}

/* Reads min to max digits at *s; returns how many, or 0 */
static inline int
read_digits(const char **s, const char *end, int min, int max, int *value)
{
	const char *p = *s;
	int			digits = 0;
	int			n = 0;

	while (digits < max && p < end && is_digit(*p))
	{
		n = n * 10 + (*p++ - '0');
		digits++;
	}
	if (digits < min)
		return 0;
	*s = p;
	*value = n;
	return digits;
}

static inline bool
read_number(const FcPatternStep *step, const char **s, const char *end,
			FcPatternFields *fields)
{
	int			value;
	int			digits = read_digits(s, end, step->min_digits,
									 step->max_digits, &value);

	if (digits == 0)
		return false;
	if (step->unit == FC_UNIT_FRACTION)
		fields->nsec += value * fc_digits_power[step->base - digits];
	else
		fields->number[step->unit] = value;
	return true;
}

/*
 * The one of the names that stands at *s, in any case, with its first letters
 * or all, if it has no more than "most"; 0 if none does
 */
static int
read_name(const char *const *names, size_t most, const char **s, const char *end)
{
	for (int i = 0; names[i] != NULL; i++)
	{
		size_t		len = strnlen(names[i], most);

		if (end - *s >= len && pg_strncasecmp(*s, names[i], len) == 0)
		{
			*s += len;
			return i + 1;
		}
	}
	return 0;
}

/* The same for units that follow each other: abbreviated, in full, or either */
static int
read_long_name(const char *const *names, int which, const char **s, const char *end)
{
	int			found = 0;

	if (which != 0)
		found = read_name(names, TOKMAXLEN, s, end);
	if (found == 0 && which != 1)
		found = read_name(names, 3, s, end);
	return found;
}

static bool
read_zone_hour(const char **s, const char *end, FcPatternFields *fields)
{
	if (*s == end || (**s != '+' && **s != '-'))
		return false;
	fields->zone_sign = **s == '-' ? -1 : 1;
	(*s)++;
	return read_digits(s, end, 2, 2, &fields->zone_hour) > 0;
}

/* "Z" or a sign, hours, and minutes if there are any */
static bool
read_offset(const char **s, const char *end, FcPatternFields *fields)
{
	const char *minutes;

	if (*s < end && **s == 'Z')
	{
		(*s)++;
		fields->zone_sign = 1;
		return true;
	}
	if (!read_zone_hour(s, end, fields))
		return false;
	minutes = *s + (*s < end && **s == ':');
	if (read_digits(&minutes, end, 2, 2, &fields->number[FC_UNIT_ZONE_MINUTE]))
		*s = minutes;
	return true;
}

/*
 * Is it a POSIX rule, which core takes for a zone, and not the name of one?
 * "ES1T" would be one hour west of Greenwich, and "UTC+2" two.
 */
static bool
is_zone_rule(const char *name)
{
	static const char *const names[] = {
		"est5edt", "cst6cdt", "mst7mdt", "pst8pdt", "gmt0", "gmt+0", "gmt-0"
	};

	if (strchr(name, '/') || strpbrk(name, "0123456789") == NULL)
		return false;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return false;
	return true;
}

/* Fills *zone for name: an abbreviation the server knows, or a full name */
static bool
look_up_zone(FcPatternZone *zone, const char *name, size_t len)
{
	char		lower[TZ_STRLEN_MAX + 1];
	int			type;

	memcpy(lower, name, len);
	lower[len] = '\0';
	for (char *c = lower; *c; c++)
		*c = pg_ascii_tolower(*c);
	zone->name[0] = '\0';
	zone->tz = NULL;
	type = len <= TOKMAXLEN ?
		fc_decode_timezone_abbrev(lower, &zone->offset, &zone->tz) : UNKNOWN_FIELD;
	zone->dynamic = (type == DYNTZ);
	zone->offset = -zone->offset;
	if (type == UNKNOWN_FIELD && !is_zone_rule(lower))
		zone->tz = pg_tzset(lower);
	if (type == UNKNOWN_FIELD && zone->tz == NULL)
		return false;
	memcpy(zone->name, name, len);
	zone->name[len] = '\0';
	return true;
}

static bool
read_zone(FcPatternZone *zone, const char **s, const char *end,
		  FcPatternFields *fields)
{
	const char *p = *s;
	size_t		len;

	if (p == end || !is_letter(*p))
		return read_offset(s, end, fields);
	while (p < end && (is_letter(*p) || is_digit(*p) || strchr("_/+-", *p)))
		p++;
	len = p - *s;
	if (len > TZ_STRLEN_MAX)
		return false;
	if ((strncmp(zone->name, *s, len) != 0 || zone->name[len] != '\0') &&
		!look_up_zone(zone, *s, len))
		return false;
	fields->named_zone = true;
	*s = p;
	return true;
}

static inline bool
read_step(FcPattern *pattern, const FcPatternStep *step, const char **s,
		  const char *end, FcPatternFields *fields)
{
	static const char *const meridiems[] = {"AM", "PM", NULL};
	const char *start = *s;
	int			which;

	switch ((FcPatternUnit) step->unit)
	{
		case FC_UNIT_LITERAL:
			return *s < end && *(*s)++ == step->literal;
		case FC_UNIT_BLANKS:
			while (*s < end && **s == ' ')
				(*s)++;
			return *s > start;
		case FC_UNIT_MONTH_ABBREV:
		case FC_UNIT_MONTH_FULL:
		case FC_UNIT_MONTH_NAME:
			which = read_long_name(month_names, step->unit - FC_UNIT_MONTH_ABBREV, s, end);
			fields->number[FC_UNIT_MONTH] = which;
			return which > 0;
		case FC_UNIT_WEEKDAY_ABBREV:
		case FC_UNIT_WEEKDAY_FULL:
		case FC_UNIT_WEEKDAY_NAME:
			return read_long_name((const char *const *) days,
								  step->unit - FC_UNIT_WEEKDAY_ABBREV, s, end) > 0;
		case FC_UNIT_MERIDIEM:
			which = read_name(meridiems, TOKMAXLEN, s, end);
			fields->pm = (which == 2);
			return which > 0;
		case FC_UNIT_ZONE_HOUR:
			return read_zone_hour(s, end, fields);
		case FC_UNIT_ZONE_OFFSET:
			return read_offset(s, end, fields);
		case FC_UNIT_ZONE:
			return read_zone(&pattern->zone, s, end, fields);
		default:
			return read_number(step, s, end, fields);
	}
}

static bool
read_steps(FcPattern *pattern, const char *s, const char *end,
		   FcPatternFields *fields)
{
	const FcPatternStep *step = pattern->steps;
	const FcPatternStep *last = step + pattern->nsteps;

	memset(fields, 0, sizeof(*fields));
	fields->number[FC_UNIT_MONTH] = 1;
	fields->number[FC_UNIT_DAY] = 1;
	fields->number[FC_UNIT_YDAY] = -1;
	fields->number[FC_UNIT_JULIAN] = -1;
	for (; step < last; step++)
	{
		if (!read_step(pattern, step, &s, end, fields))
			return false;
	}
	return s == end;
}

/* The year nearest to 2020 that ends with these one to three digits */
static int
short_year(int year)
{
	if (year < 70)
		return year + 2000;
	if (year < 100)
		return year + 1900;
	return year < 520 ? year + 2000 : year + 1000;
}

/* False where the calendar has no such day */
static bool
check_date(const FcPattern *pattern, const FcPatternFields *fields,
		   struct pg_tm *tm)
{
	bool		leap;

	tm->tm_year = pattern->short_year ?
		short_year(fields->number[FC_UNIT_YEAR_SHORT]) :
		fields->number[FC_UNIT_YEAR];
	tm->tm_mon = fields->number[FC_UNIT_MONTH];
	tm->tm_mday = fields->number[FC_UNIT_DAY];
	if (fields->number[FC_UNIT_JULIAN] > 0)
		j2date(fields->number[FC_UNIT_JULIAN], &tm->tm_year, &tm->tm_mon,
			   &tm->tm_mday);
	else if (tm->tm_year <= 0)
		return false;
	leap = isleap(tm->tm_year);
	if (fields->number[FC_UNIT_YDAY] >= 0)
	{
		tm->tm_mday = fields->number[FC_UNIT_YDAY];
		while (tm->tm_mon <= MONTHS_PER_YEAR &&
			   tm->tm_mday > day_tab[leap][tm->tm_mon - 1])
			tm->tm_mday -= day_tab[leap][tm->tm_mon++ - 1];
	}
	return tm->tm_mon >= 1 && tm->tm_mon <= MONTHS_PER_YEAR &&
		tm->tm_mday >= 1 && tm->tm_mday <= day_tab[leap][tm->tm_mon - 1];
}

/* False where no clock shows this */
static bool
check_time(const FcPattern *pattern, const FcPatternFields *fields,
		   struct pg_tm *tm)
{
	int			rest = fields->number[FC_UNIT_SSSSS];

	tm->tm_hour = fields->number[FC_UNIT_HOUR] + rest / SECS_PER_HOUR;
	tm->tm_min = fields->number[FC_UNIT_MINUTE] + rest / SECS_PER_MINUTE % MINS_PER_HOUR;
	tm->tm_sec = fields->number[FC_UNIT_SECOND] + rest % SECS_PER_MINUTE;
	if (pattern->twelve_hours)
	{
		if (tm->tm_hour < 1 || tm->tm_hour > HOURS_PER_DAY / 2)
			return false;
		tm->tm_hour = tm->tm_hour % (HOURS_PER_DAY / 2) +
			(fields->pm ? HOURS_PER_DAY / 2 : 0);
	}
	return tm->tm_hour < HOURS_PER_DAY && tm->tm_min < MINS_PER_HOUR &&
		tm->tm_sec < SECS_PER_MINUTE && fields->nsec < NANOSECONDS;
}

/* Seconds west of Greenwich; false if no place is that far */
static bool
find_offset(const FcPattern *pattern, const FcPatternFields *fields,
			struct pg_tm *tm, int *tz)
{
	const FcPatternZone *zone = &pattern->zone;
	int			minute = fields->number[FC_UNIT_ZONE_MINUTE];

	tm->tm_isdst = -1;
	if (fields->named_zone && zone->dynamic)
		*tz = DetermineTimeZoneAbbrevOffset(tm, zone->name, zone->tz);
	else if (fields->named_zone && zone->tz != NULL)
		*tz = DetermineTimeZoneOffset(tm, zone->tz);
	else if (fields->named_zone)
		*tz = zone->offset;
	else if (!pattern->zoned)
		*tz = DetermineTimeZoneOffset(tm, session_timezone);
	else
		*tz = -fields->zone_sign * SECS_PER_MINUTE *
			(fields->zone_hour * MINS_PER_HOUR + minute);
	return fields->zone_hour <= MAX_TZDISP_HOUR && minute < MINS_PER_HOUR;
}

/* Casts what core made of a value to the pattern's type, in its precision */
static Datum
cast_value(const FcPattern *pattern, Datum datum, Oid from)
{
	Timestamp	stamp;

	if (pattern->typid == DATEOID)
		return from == DATEOID ? datum :
			DirectFunctionCall1(from == TIMESTAMPOID ? timestamp_date :
								timestamptz_date, datum);
	if (from == DATEOID)
		datum = DirectFunctionCall1(pattern->typid == TIMESTAMPOID ?
									date_timestamp : date_timestamptz, datum);
	else if (from != pattern->typid)
		datum = DirectFunctionCall1(from == TIMESTAMPOID ?
									timestamp_timestamptz : timestamptz_timestamp,
									datum);
	stamp = DatumGetTimestamp(datum);
	fc_adjust_timestamp(&stamp, pattern->typmod);
	return TimestampGetDatum(stamp);
}

/*
 * An instant as a value of the pattern's type; false if the type ends before.
 * A timestamp or date gets what a clock in session_timezone shows then, as a
 * cast of to_timestamp's result does.
 */
static bool
instant_value(const FcPattern *pattern, TimestampTz instant, Datum *value)
{
	if (!IS_VALID_TIMESTAMP(instant))
		return false;
	*value = cast_value(pattern, TimestampTzGetDatum(instant), TIMESTAMPTZOID);
	return true;
}

/*
 * A value with a distance from UTC is an instant.  Any other is what a clock
 * shows, and a timestamp gets just that, even where clocks were changed.
 * False if it names no moment.
 */
static bool
fields_value(const FcPattern *pattern, const FcPatternFields *fields,
			 Datum *value)
{
	struct pg_tm tm = {0};
	int64		days;
	Timestamp	local;
	int			tz;

	if (!check_date(pattern, fields, &tm) || !check_time(pattern, fields, &tm))
		return false;
	days = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
	if (pattern->typid == DATEOID && !pattern->zoned)
	{
		*value = DateADTGetDatum(days);
		return true;
	}
	if (tm.tm_year > LAST_YEAR)
		return false;
	local = ((days * HOURS_PER_DAY + tm.tm_hour) * MINS_PER_HOUR + tm.tm_min) *
		USECS_PER_MINUTE + tm.tm_sec * USECS_PER_SEC + (fields->nsec + 500) / 1000;
	if (pattern->typid == TIMESTAMPOID && !pattern->zoned)
	{
		fc_adjust_timestamp(&local, pattern->typmod);
		*value = TimestampGetDatum(local);
		return IS_VALID_TIMESTAMP(local);
	}
	return find_offset(pattern, fields, &tm, &tz) &&
		instant_value(pattern, local + tz * USECS_PER_SEC, value);
}

/* The digits after a point, as millionths, the seventh rounded; -1 if none */
static int64
read_millionths(const char *s, const char *end)
{
	int64		value = 0;

	if (s == end)
		return -1;
	for (int i = 0; i < 6; i++)
		value = value * 10 + (s + i < end ? s[i] - '0' : 0);
	if (end - s > 6 && s[6] >= '5')
		value++;
	return value;
}

/* "-12.5"; out of range where only the number is too large */
static bool
parse_epoch(FcPattern *pattern, const char *s, const char *end, Datum *value)
{
	bool		negative = (s < end && *s == '-');
	const char *first = s + (s < end && (*s == '-' || *s == '+'));
	const char *p = first;
	int64		n = 0;
	int64		fraction = 0;
	bool		large = false;

	for (; p < end && is_digit(*p); p++)
		large = large || pg_mul_s64_overflow(n, 10, &n) ||
			pg_add_s64_overflow(n, *p - '0', &n);
	if (p == first)
		return false;
	if (p < end && *p == '.' && pattern->epoch_units == 1)
	{
		const char *point = p++;

		while (p < end && is_digit(*p))
			p++;
		fraction = read_millionths(point + 1, p);
	}
	if (p < end || fraction < 0)
		return false;
	if (pattern->epoch_units > USECS_PER_SEC)
		n = n / 1000 + (n % 1000 >= 500);
	else
		large = large || pg_mul_s64_overflow(n, USECS_PER_SEC / pattern->epoch_units, &n);
	pattern->out_of_range = large || pg_add_s64_overflow(n, fraction, &n) ||
		pg_sub_s64_overflow(negative ? -n : n, UNIX_EPOCH_USEC, &n) ||
		!instant_value(pattern, n, value);
	return !pattern->out_of_range;
}

/* Names the pattern under an error of core */
static void
core_context(void *arg)
{
	const FcPattern *pattern = arg;

	errcontext("pattern \"%s\" of column \"%s\"", pattern->shown, pattern->column);
}

/* Has the value the signs and the ordinals of the pattern, and no others? */
static bool
has_marks(const FcPattern *pattern, const char *s, const char *end)
{
	static const char *const endings[] = {"st", "nd", "rd", "th", NULL};
	int			signs = 0;
	int			ordinals = 0;

	for (; s < end; s++)
	{
		const char *ending = s + 1;

		signs += (*s == '+' || *s == '-');
		ordinals += is_digit(*s) && read_name(endings, TOKMAXLEN, &ending, end) > 0;
	}
	return signs >= pattern->signs &&
		signs <= pattern->signs + pattern->zone_signs &&
		ordinals >= pattern->ordinals;
}

/* The value as core reads it, as the pattern's type */
static Datum
read_by_core(const FcPattern *pattern, text * s, bool strict)
{
	Oid			typid;
	int32		typmod;
	int			tz = 0;
	Datum		datum = parse_datetime(s, pattern->core_format, DEFAULT_COLLATION_OID, strict,
									   &typid, &typmod, &tz, NULL);

	if (typid != DATEOID && typid != TIMESTAMPOID && typid != TIMESTAMPTZOID)
		fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("pattern \"%s\" has no date", pattern->shown));
	return cast_value(pattern, datum, typid);
}

/*
 * Core reads the value twice, allocates, and throws errors of its own.  The
 * strict reading sees that nothing is missing or left over; to_timestamp's
 * tells what the value means.  Where they differ the value does not match.
 */
static bool
parse_by_core(FcPattern *pattern, const char *s, const char *end, Datum *value)
{
	ErrorContextCallback callback;
	text	   *copy = cstring_to_text_with_len(s, end - s);
	Datum		strict;

	fc_error_context_push(&callback, core_context, pattern);
	strict = read_by_core(pattern, copy, true);
	*value = read_by_core(pattern, copy, false);
	fc_error_context_pop();
	return has_marks(pattern, s, end) &&
		(pattern->typid == DATEOID ?
		 DatumGetDateADT(*value) == DatumGetDateADT(strict) :
		 DatumGetTimestamp(*value) == DatumGetTimestamp(strict));
}

bool
fc_pattern_parse(FcPattern *pattern, const char *s, size_t len, Datum *value)
{
	const char *end = s + len;
	FcPatternFields fields;

	pattern->out_of_range = false;
	while (s < end && isspace((unsigned char) *s))
		s++;
	while (s < end && isspace((unsigned char) end[-1]))
		end--;
	if (pattern->epoch_units > 0)
		return parse_epoch(pattern, s, end, value);
	if (pattern->by_core)
		return parse_by_core(pattern, s, end, value);
	if (!read_steps(pattern, s, end, &fields))
		return false;
	pattern->out_of_range = !fields_value(pattern, &fields, value);
	return !pattern->out_of_range;
}

void
fc_pattern_mismatch(const FcPattern *pattern, const char *s)
{
	char	   *type = format_type_with_typemod(pattern->typid, pattern->typmod);

	if (pattern->out_of_range)
		fc_throw(ERRCODE_DATETIME_FIELD_OVERFLOW, errmsg("date/time field value out of range: \"%s\"", s),
				 errdetail("Column \"%s\" of type %s is read with the pattern \"%s\".",
						   pattern->column, type, pattern->shown));
	fc_throw(ERRCODE_INVALID_DATETIME_FORMAT, errmsg("value \"%s\" does not match the pattern \"%s\"", s, pattern->shown),
			 errdetail("Column \"%s\" of type %s is read with this pattern.",
					   pattern->column, type),
			 pattern->epoch_units > 0 ?
			 errhint("The value must be a number of units since 1970-01-01 00:00:00 UTC.") :
			 errhint("Every part of the pattern must be in the value as the pattern has it, and nothing else."));
}
