/*-------------------------------------------------------------------------
 *
 * convert/time.c
 *	  date, time, timestamp and timestamptz.
 *
 *	"2013-01-05"  "2013/01/05"  "20130105"
 *	"06:00"  "06:00:00"  "06:00:00.5"
 *	a date, or a date, a blank or "T", and a time; with "Z", "+02" or "+02:00"
 *
 * Years have four digits, so that no DateStyle can take them for a day; other
 * parts have two.  Leap seconds, 24:00:00, BC and names are declined.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "datatype/timestamp.h"
#include "utils/date.h"

#include "convert/digits.h"
#include "convert/types.h"

/* A moment as it is written */
typedef struct FcMoment
{
	int64		day;			/* since 2000-01-01 */
	int64		sec;			/* of the day */
	int64		usec;			/* of the second; up to a second */
} FcMoment;

/* The converter's unit of rounding, or false if the typmod is unusual */
static bool
fc_convert_time_typmod(FcConverter *converter, int32 typmod)
{
	converter->unit = 1;
	if (typmod < 0)
		return typmod == -1;
	for (int i = typmod; i < MAX_TIMESTAMP_PRECISION; i++)
		converter->unit *= 10;
	return typmod <= MAX_TIMESTAMP_PRECISION;
}

/* Likewise, of a type with dates, and remembers these */
static bool
fc_convert_date_typmod(FcConverter *converter, int32 typmod)
{
	converter->dates = palloc0(sizeof(FcDate) * FC_DATES);
	return fc_convert_time_typmod(converter, typmod);
}

/* Two digits at s; above 99 if one is none */
static inline int
fc_two_digits(const char *s)
{
	unsigned	tens = (unsigned char) s[0] - '0';
	unsigned	ones = (unsigned char) s[1] - '0';

	return tens <= 9 && ones <= 9 ? tens * 10 + ones : 100;
}

static bool
fc_parse_day(const char *year, const char *month, const char *mday, int64 *day)
{
	int			century = fc_two_digits(year);
	int			rest = fc_two_digits(year + 2);
	int			y = century * 100 + rest;
	int			m = fc_two_digits(month);
	int			d = fc_two_digits(mday);

	if (century > 99 || rest > 99 || y == 0 || m < 1 || m > MONTHS_PER_YEAR ||
		d < 1 || d > day_tab[isleap(y)][m - 1])
		return false;
	*day = date2j(y, m, d) - POSTGRES_EPOCH_JDATE;
	return true;
}

/*
 * The place for a date that is written as "2013-01-05".  The days of two months
 * that follow each other have different places.
 */
static inline FcDate *
fc_date_slot(const FcConverter *converter, uint64 first, uint16 last)
{
	unsigned	mday = (last & 0xF) * 10 + (last >> 8 & 0xF);
	unsigned	odd = first >> 48 & 1;

	return &converter->dates[(mday + odd * 32) % FC_DATES];
}

/* The date at s, if it has come up before; else NULL */
static inline const FcDate *
fc_date_known(const FcConverter *converter, const char *s)
{
	uint64		first = fc_digits_load_word(s);
	uint16		last = (unsigned char) s[8] | (unsigned char) s[9] << 8;
	const FcDate *date = fc_date_slot(converter, first, last);

	return date->first == first && date->last == last ? date : NULL;
}

/* "2013-01-05" at s */
static inline bool
fc_parse_separated_day(FcConverter *converter, const char *s, int64 *day)
{
	const FcDate *known = fc_date_known(converter, s);
	FcDate		date;

	if (known != NULL)
	{
		*day = known->day;
		return true;
	}
	if (!fc_parse_day(s, s + 5, s + 8, day))
		return false;
	date.first = fc_digits_load_word(s);
	date.last = (unsigned char) s[8] | (unsigned char) s[9] << 8;
	date.day = *day;
	*fc_date_slot(converter, date.first, date.last) = date;
	return true;
}

/* The date at s; returns how many bytes it took, 0 if there is none */
static inline size_t
fc_parse_date(FcConverter *converter, const char *s, size_t len, int64 *day)
{
	if (len >= 10 && (s[4] == '-' || s[4] == '/') && s[7] == s[4])
		return fc_parse_separated_day(converter, s, day) ? 10 : 0;
	if (len >= 8)
		return fc_parse_day(s, s + 4, s + 6, day) ? 8 : 0;
	return 0;
}

/*
 * ".5" at s, to microseconds.  Returns how many bytes it took; 0 if there is
 * none, or if core might round it in another way, as it may where its double is
 * not exact up to one division.
 */
static inline size_t
fc_parse_fraction(const FcConverter *converter, const char *s, size_t len,
				  int64 *usec)
{
	uint64		value = 0;
	size_t		n = fc_digits_take(s + 1, s + len,
								   fc_digits_readable(converter, s + len), &value) - (s + 1);

	if (n == 0 || n > 9)
		return 0;
	if (n <= 6)
	{
		*usec = (int64) value * fc_digits_power[6 - n];
		return n + 1;
	}
#if FLT_EVAL_METHOD == 0
	*usec = (int64) rint((double) value / fc_digits_power[n] * USECS_PER_SEC);
	return n + 1;
#else
	return 0;
#endif
}

/* "06:00:00" at s, to seconds; false if something else stands there */
static inline bool
fc_parse_clock(const char *s, int64 *sec)
{
	/* colons become zero, digits what they stand for */
	uint64		word = fc_digits_load_word(s) ^ UINT64CONST(0x30303A30303A3030);
	int			hour;
	int			min;
	int			rest;

	if (((word | (word + UINT64CONST(0x76767F76767F7676))) & FC_WORD(0x80)) != 0)
		return false;
	word = word * 10 + (word >> 8);
	hour = word & 0xFF;
	min = (word >> 24) & 0xFF;
	rest = (word >> 48) & 0xFF;
	*sec = (hour * MINS_PER_HOUR + min) * SECS_PER_MINUTE + rest;
	return hour < HOURS_PER_DAY && min < MINS_PER_HOUR && rest < SECS_PER_MINUTE;
}

/* The time at s; returns how many bytes it took, 0 if there is none */
static inline size_t
fc_parse_time(const FcConverter *converter, const char *s, size_t len,
			  FcMoment *moment)
{
	int			hour;
	int			min;
	size_t		fraction;

	if (len >= 8 && s[5] == ':')
	{
		if (!fc_parse_clock(s, &moment->sec))
			return 0;
		if (len == 8 || s[8] != '.')
			return 8;
		fraction = fc_parse_fraction(converter, s + 8, len - 8, &moment->usec);
		return fraction == 0 ? 0 : 8 + fraction;
	}
	if (len < 5 || s[2] != ':')
		return 0;
	hour = fc_two_digits(s);
	min = fc_two_digits(s + 3);
	moment->sec = (hour * MINS_PER_HOUR + min) * SECS_PER_MINUTE;
	return hour < HOURS_PER_DAY && min < MINS_PER_HOUR ? 5 : 0;
}

/*
 * Whether "T" and "Z" mean what they mean everywhere.  A file of abbreviations
 * that is not PostgreSQL's could define them, as could (in 18) the session's
 * zone if it is written out, like "<Z>5".
 */
static bool
fc_letters(FcConverter *converter)
{
	const char *file;

	if (converter->letters_zone == session_timezone)
		return converter->letters;
	file = GetConfigOption("timezone_abbreviations", true, false);
	converter->letters = file != NULL &&
		(strcmp(file, "Default") == 0 || strcmp(file, "Australia") == 0 ||
		 strcmp(file, "India") == 0) &&
		strpbrk(pg_get_timezone_name(session_timezone), "0123456789<") == NULL;
	converter->letters_zone = session_timezone;
	return converter->letters;
}

/*
 * "2013-01-05 06:00:00", perhaps with up to six digits of a fraction and
 * nothing after it, if the date has come up before: what files are full of.
 * Sets *time to what a timestamp is, without rounding.  safe: FC_READABLE bytes
 * can be read.
 */
static pg_attribute_always_inline bool
fc_parse_usual_time(const FcConverter *converter, const char *s, size_t len, bool safe,
					int64 *time)
{
	size_t		digits = len - 20;
	const FcDate *date;
	int64		sec;
	uint64		word;

	if (len < 19 || s[10] != ' ' || (date = fc_date_known(converter, s)) == NULL ||
		!fc_parse_clock(s + 11, &sec))
		return false;
	*time = (date->day * SECS_PER_DAY + sec) * USECS_PER_SEC;
	if (len == 19)
		return true;
	if (s[19] != '.' || digits - 1 >= 6 || (!safe && fc_digits_readable(converter, s + len) - s < 28))
		return false;
	word = (fc_digits_load_word(s + 20) ^ FC_WORD('0')) << (64 - 8 * digits);
	*time += (int64) fc_digits_read(word) * fc_digits_power[6 - digits];
	return fc_digits_is_word(word);
}

/*
 * A date and perhaps a time; what follows begins at *used.  After a date alone
 * nothing may follow.
 */
static inline bool
fc_parse_moment(FcConverter *converter, const char *s, size_t len,
				FcMoment *moment, size_t *used)
{
	size_t		date;
	size_t		time;

	moment->sec = 0;
	moment->usec = 0;
	date = fc_parse_date(converter, s, len, &moment->day);
	if (date == 0)
		return false;
	*used = date;
	if (len == date)
		return true;
	if (s[date] != ' ' && (s[date] != 'T' || !fc_letters(converter)))
		return false;
	time = fc_parse_time(converter, s + date + 1, len - date - 1, moment);
	*used += 1 + time;
	return time > 0;
}

/*
 * "Z", "+hh", "+hhmm" or "+hh:mm", perhaps after a blank: seconds west of
 * Greenwich, as core has them
 */
static bool
fc_parse_zone(FcConverter *converter, const char *s, size_t len, int *tz)
{
	int			hours;
	int			minutes = 0;

	*tz = 0;
	if (len > 1 && s[0] == ' ')
		s++, len--;
	if (len == 1 && s[0] == 'Z')
		return fc_letters(converter);
	if (len < 3 || (s[0] != '+' && s[0] != '-'))
		return false;
	hours = fc_two_digits(s + 1);
	if (len == 5)
		minutes = fc_two_digits(s + 3);
	else if (len == 6 && s[3] == ':')
		minutes = fc_two_digits(s + 4);
	else if (len != 3)
		return false;
	if (hours > MAX_TZDISP_HOUR || minutes >= MINS_PER_HOUR)
		return false;
	*tz = (hours * MINS_PER_HOUR + minutes) * SECS_PER_MINUTE;
	if (s[0] == '+')
		*tz = -*tz;
	return true;
}

/*
 * Finds the offset of "local" as DetermineTimeZoneOffset does, and keeps it
 * with the times for which it holds, too.  That function looks for the first
 * change later than a day before the local time, read as if it were UTC; up to
 * that change, by both offsets, the one before it holds.
 */
static void
fc_learn_zone(FcZone *zone, int64 local)
{
	pg_time_t	from = local - SECS_PER_DAY;
	pg_time_t	change;
	long int	before;
	long int	after;
	int			isdst;
	int			changes = pg_next_dst_boundary(&from, &before, &isdst, &change, &after,
											   &isdst, session_timezone);

	zone->zone = NULL;
	if (changes < 0)
		return;
	zone->first = local;
	zone->end = changes > 0 ? change + Min(before, after) : PG_INT64_MAX;
	zone->offset = -(int) before;
	if (local < zone->end)
		zone->zone = session_timezone;
}

/* Where fc_learn_zone has found no offset to keep, core finds it */
static int
fc_zone_offset(FcZone *zone, const FcMoment *moment)
{
	int64		local = (moment->day + POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) *
		SECS_PER_DAY + moment->sec;
	struct pg_tm tm = {0};

	if (zone->zone != session_timezone || local < zone->first ||
		local >= zone->end)
		fc_learn_zone(zone, local);
	if (zone->zone != NULL)
		return zone->offset;
	j2date(moment->day + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon,
		   &tm.tm_mday);
	tm.tm_hour = moment->sec / SECS_PER_HOUR;
	tm.tm_min = moment->sec / SECS_PER_MINUTE % MINS_PER_HOUR;
	tm.tm_sec = moment->sec % SECS_PER_MINUTE;
	tm.tm_isdst = -1;
	return DetermineTimeZoneOffset(&tm, session_timezone);
}

/*
 * A zone that is written is read, and means nothing to a type that is not
 * zoned
 */
static pg_noinline bool
fc_convert_any_stamp(FcConverter *converter, const char *s, size_t len, bool zoned,
					 Datum *value)
{
	FcMoment	moment;
	size_t		used;
	int64		time;
	int			tz = 0;

	if (!fc_parse_moment(converter, s, len, &moment, &used) ||
		(used < len && !fc_parse_zone(converter, s + used, len - used, &tz)))
		return false;
	if (used == len && zoned)
		tz = fc_zone_offset(&converter->zone, &moment);
	time = (moment.day * SECS_PER_DAY + moment.sec) * USECS_PER_SEC + moment.usec;
	if (zoned)
		time += tz * USECS_PER_SEC;
	*value = TimestampGetDatum(fc_convert_round_time(converter, time));
	return true;
}

/* COPY TO writes an offset after a zoned one, most often of hours alone */
static pg_attribute_always_inline bool
fc_parse_usual_stamp(FcConverter *converter, const char *s, size_t len, bool safe,
					 bool zoned, Datum *value)
{
	size_t		end = zoned ? len - 3 : len;
	int64		time;
	int			tz = 0;

	if ((zoned && len < 22) || !fc_parse_usual_time(converter, s, end, safe, &time) ||
		(zoned && !fc_parse_zone(converter, s + end, 3, &tz)))
		return false;
	time += tz * USECS_PER_SEC;
	*value = TimestampGetDatum(fc_convert_round_time(converter, time));
	return true;
}

/* timestamp and timestamptz, which have the same bytes and the same limits */
static bool
fc_binary_timestamp(FcConverter *converter, char *s, size_t len, Datum *value)
{
	Timestamp	stamp;

	if (len != sizeof(stamp))
		return false;
	stamp = (Timestamp) fc_convert_long(s);
	if (!TIMESTAMP_NOT_FINITE(stamp))
	{
		if (!IS_VALID_TIMESTAMP(stamp))
			return false;
		stamp = fc_convert_round_time(converter, stamp);
	}
	*value = TimestampGetDatum(stamp);
	return true;
}

/* Defines the converters of one of the two types */
#define FC_CONVERT_STAMP(name, oid, zoned) \
static pg_attribute_always_inline bool \
fc_read_##name(FcConverter *converter, const char *s, size_t len, bool usual, Datum *value) \
{ \
	return fc_parse_usual_stamp(converter, s, len, usual, zoned, value) || \
		(!usual && fc_convert_any_stamp(converter, s, len, zoned, value)); \
} \
\
FC_CONVERT_MANY(fc_convert_##name, fc_read_##name) \
\
const FcConvertType fc_type_##name = { \
	oid, fc_convert_##name, fc_binary_timestamp, fc_convert_##name##_many, fc_convert_date_typmod \
};

FC_CONVERT_STAMP(timestamp, TIMESTAMPOID, false)
FC_CONVERT_STAMP(timestamptz, TIMESTAMPTZOID, true)

static pg_attribute_always_inline bool
fc_read_date(FcConverter *converter, const char *s, size_t len, bool usual, Datum *value)
{
	const FcDate *known = usual && len == 10 ? fc_date_known(converter, s) : NULL;
	int64		day;

	if (known != NULL)
		day = known->day;
	else if (usual || len == 0 || fc_parse_date(converter, s, len, &day) != len)
		return false;
	*value = DateADTGetDatum((DateADT) day);
	return true;
}

FC_CONVERT_MANY(fc_convert_date, fc_read_date)

static bool
fc_binary_date(FcConverter *converter, char *s, size_t len, Datum *value)
{
	uint32		word;
	DateADT		date;

	if (len != sizeof(word))
		return false;
	memcpy(&word, s, sizeof(word));
	date = (DateADT) pg_ntoh32(word);
	*value = DateADTGetDatum(date);
	return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
}

const FcConvertType fc_type_date = {
	DATEOID, fc_convert_date, fc_binary_date, fc_convert_date_many, fc_convert_date_typmod
};

static bool
fc_convert_time(FcConverter *converter, char *s, size_t len, Datum *value)
{
	FcMoment	moment = {0};

	if (len == 0 || fc_parse_time(converter, s, len, &moment) != len)
		return false;
	*value = TimeADTGetDatum(fc_convert_round_time(converter,
												   moment.sec * USECS_PER_SEC +
												   moment.usec));
	return true;
}

static bool
fc_binary_time(FcConverter *converter, char *s, size_t len, Datum *value)
{
	TimeADT		time;

	if (len != sizeof(time))
		return false;
	time = (TimeADT) fc_convert_long(s);
	*value = TimeADTGetDatum(fc_convert_round_time(converter, time));
	return time >= 0 && time <= USECS_PER_DAY;
}

const FcConvertType fc_type_time = {TIMEOID, fc_convert_time, fc_binary_time, NULL, fc_convert_time_typmod};
