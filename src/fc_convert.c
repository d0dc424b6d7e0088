/*-------------------------------------------------------------------------
 *
 * fc_convert.c
 *	  Native conversions of the common shapes of the common types.
 *
 * Each handles the plain form that files are full of and declines anything
 * else: signs and digits, "2013-01-01 06:00:00.5", "12.5e3".  Those forms mean
 * the same under every DateStyle and IntervalStyle.  Nothing is allocated for
 * types passed by value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "fc_convert.h"

/* An optional minus and 1 to 18 digits, which cannot overflow */
static bool
fc_parse_int(const char *s, size_t len, int64 *result)
{
	bool		negative = (len > 0 && s[0] == '-');
	size_t		i = negative ? 1 : 0;
	int64		value = 0;

	if (len == i || len - i > 18)
		return false;
	for (; i < len; i++)
	{
		unsigned	digit = (unsigned char) s[i] - '0';

		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	*result = negative ? -value : value;
	return true;
}

static bool
fc_convert_int2(const char *s, size_t len, Datum *value)
{
	int64		n;

	if (!fc_parse_int(s, len, &n) || n < PG_INT16_MIN || n > PG_INT16_MAX)
		return false;
	*value = Int16GetDatum((int16) n);
	return true;
}

static bool
fc_convert_int4(const char *s, size_t len, Datum *value)
{
	int64		n;

	if (!fc_parse_int(s, len, &n) || n < PG_INT32_MIN || n > PG_INT32_MAX)
		return false;
	*value = Int32GetDatum((int32) n);
	return true;
}

static bool
fc_convert_int8(const char *s, size_t len, Datum *value)
{
	int64		n;

	if (!fc_parse_int(s, len, &n))
		return false;
	*value = Int64GetDatum(n);
	return true;
}

/* Digits with at most one point; counts the digits behind it */
static bool
fc_parse_decimal(const char *s, size_t len, uint64 *mantissa, int *scale)
{
	uint64		m = 0;
	int			digits = 0;
	bool		point = false;

	*scale = 0;
	for (size_t i = 0; i < len; i++)
	{
		unsigned	digit = (unsigned char) s[i] - '0';

		if (digit <= 9)
		{
			if (++digits > 18)
				return false;
			m = m * 10 + digit;
			*scale += point;
		}
		else if (s[i] == '.' && !point)
			point = true;
		else
			return false;
	}
	*mantissa = m;
	return digits > 0;
}

/*
 * Clinger's fast path: an integer up to 2^53 and a power of ten up to 10^22
 * are both exact doubles, so that one division rounds correctly.  Sound only
 * where doubles are not computed with excess precision.
 */
static bool
fc_convert_float8(const char *s, size_t len, Datum *value)
{
#if FLT_EVAL_METHOD == 0
	static const double power[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18
	};
	bool		negative = (len > 0 && s[0] == '-');
	uint64		mantissa;
	int			scale;
	double		d;

	if (!fc_parse_decimal(s + negative, len - negative, &mantissa, &scale) ||
		mantissa > (UINT64CONST(1) << 53))
		return false;
	d = (double) mantissa / power[scale];
	*value = Float8GetDatum(negative ? -d : d);
	return true;
#else
	return false;
#endif
}

/* n digits at s; -1 if one is none */
static inline int
fc_digits(const char *s, int n)
{
	int			value = 0;

	for (int i = 0; i < n; i++)
	{
		unsigned	digit = (unsigned char) s[i] - '0';

		if (digit > 9)
			return -1;
		value = value * 10 + digit;
	}
	return value;
}

/* YYYY-MM-DD with a year from 1 and a day that exists */
static bool
fc_parse_date(const char *s, struct pg_tm *tm)
{
	tm->tm_year = fc_digits(s, 4);
	tm->tm_mon = fc_digits(s + 5, 2);
	tm->tm_mday = fc_digits(s + 8, 2);
	return tm->tm_year > 0 && s[4] == '-' && s[7] == '-' &&
		tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 &&
		tm->tm_mday <= day_tab[isleap(tm->tm_year)][tm->tm_mon - 1];
}

/* HH:MM:SS below 24:00:00, without a leap second */
static bool
fc_parse_time(const char *s, struct pg_tm *tm)
{
	tm->tm_hour = fc_digits(s, 2);
	tm->tm_min = fc_digits(s + 3, 2);
	tm->tm_sec = fc_digits(s + 6, 2);
	return tm->tm_hour >= 0 && tm->tm_hour < HOURS_PER_DAY &&
		tm->tm_min >= 0 && tm->tm_min < MINS_PER_HOUR &&
		tm->tm_sec >= 0 && tm->tm_sec < SECS_PER_MINUTE &&
		s[2] == ':' && s[5] == ':';
}

/* ".d" to ".dddddd" at s: microseconds, and how many bytes it took */
static bool
fc_parse_fraction(const char *s, size_t len, fsec_t *fsec, size_t *used)
{
	int			value = 0;
	int			digits = 0;

	*fsec = 0;
	*used = 0;
	if (len == 0 || s[0] != '.')
		return true;
	while (digits + 1 < (int) len && (unsigned char) (s[digits + 1] - '0') <= 9)
	{
		if (++digits > 6)
			return false;
		value = value * 10 + (s[digits] - '0');
	}
	if (digits == 0)
		return false;
	for (int i = digits; i < 6; i++)
		value *= 10;
	*fsec = value;
	*used = digits + 1;
	return true;
}

/* "2013-01-01 06:00:00.5" or with 'T'; what follows begins at *used */
static bool
fc_parse_timestamp(const char *s, size_t len, struct pg_tm *tm, fsec_t *fsec,
				   size_t *used)
{
	size_t		fraction;

	if (len < 19 || (s[10] != ' ' && s[10] != 'T') ||
		!fc_parse_date(s, tm) || !fc_parse_time(s + 11, tm) ||
		!fc_parse_fraction(s + 19, len - 19, fsec, &fraction))
		return false;
	*used = 19 + fraction;
	return true;
}

static inline int64
fc_tm_usec(const struct pg_tm *tm, fsec_t fsec)
{
	int64		day = date2j(tm->tm_year, tm->tm_mon, tm->tm_mday) - POSTGRES_EPOCH_JDATE;

	return ((day * SECS_PER_DAY + tm->tm_hour * SECS_PER_HOUR +
			 tm->tm_min * SECS_PER_MINUTE + tm->tm_sec) * USECS_PER_SEC) + fsec;
}

static bool
fc_convert_timestamp(const char *s, size_t len, Datum *value)
{
	struct pg_tm tm;
	fsec_t		fsec;
	size_t		used;

	if (!fc_parse_timestamp(s, len, &tm, &fsec, &used) || used != len)
		return false;
	*value = TimestampGetDatum(fc_tm_usec(&tm, fsec));
	return true;
}

/* "Z", "+hh" or "+hh:mm": seconds west of Greenwich, as core has them */
static bool
fc_parse_zone(const char *s, size_t len, int *tz)
{
	int			hours;
	int			minutes = 0;

	if (len == 1 && s[0] == 'Z')
	{
		*tz = 0;
		return true;
	}
	if ((len != 3 && len != 6) || (s[0] != '+' && s[0] != '-'))
		return false;
	hours = fc_digits(s + 1, 2);
	if (len == 6)
		minutes = s[3] == ':' ? fc_digits(s + 4, 2) : -1;
	if (hours < 0 || hours > MAX_TZDISP_HOUR || minutes < 0 ||
		minutes >= MINS_PER_HOUR)
		return false;
	*tz = (hours * MINS_PER_HOUR + minutes) * SECS_PER_MINUTE;
	if (s[0] == '+')
		*tz = -*tz;
	return true;
}

static bool
fc_convert_timestamptz(const char *s, size_t len, Datum *value)
{
	struct pg_tm tm;
	fsec_t		fsec;
	size_t		used;
	int			tz;

	if (!fc_parse_timestamp(s, len, &tm, &fsec, &used))
		return false;
	if (used == len)
	{
		tm.tm_isdst = -1;
		tz = DetermineTimeZoneOffset(&tm, session_timezone);
	}
	else if (!fc_parse_zone(s + used, len - used, &tz))
		return false;
	*value = TimestampTzGetDatum(fc_tm_usec(&tm, fsec) + tz * USECS_PER_SEC);
	return true;
}

static bool
fc_convert_date(const char *s, size_t len, Datum *value)
{
	struct pg_tm tm;

	if (len != 10 || !fc_parse_date(s, &tm))
		return false;
	*value = DateADTGetDatum(date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) -
							 POSTGRES_EPOCH_JDATE);
	return true;
}

/* text and varchar without a length: any bytes the encoding allows */
static bool
fc_convert_text(const char *s, size_t len, Datum *value)
{
	*value = PointerGetDatum(cstring_to_text_with_len(s, len));
	return true;
}

FcConvert
fc_convert_for(Oid typid, int32 typmod)
{
	if (typmod >= 0)
		return NULL;
	switch (typid)
	{
		case INT2OID:
			return fc_convert_int2;
		case INT4OID:
			return fc_convert_int4;
		case INT8OID:
			return fc_convert_int8;
		case FLOAT8OID:
			return fc_convert_float8;
		case TIMESTAMPOID:
			return fc_convert_timestamp;
		case TIMESTAMPTZOID:
			return fc_convert_timestamptz;
		case DATEOID:
			return fc_convert_date;
		case TEXTOID:
		case VARCHAROID:
			return fc_convert_text;
		default:
			return NULL;
	}
}
