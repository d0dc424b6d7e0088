/*
 * convert_time.c
 *	  date, time, timestamp and timestamptz, computed in a slow way.
 *
 * d, t, s, z in this order; the modifier is the p of timestamp(p).  The
 * timestamptz converter is the same for all strings, as in a load, so that what
 * it remembers of the zone is tested.
 */
#include "convert_shim.h"

#include <math.h>

#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/timestamp.h"

/* Reads digits of which there must be so many */
static int
number(const char **s, int digits)
{
	int			value = 0;

	while (digits-- > 0)
	{
		EXPECT(**s >= '0' && **s <= '9');
		value = value * 10 + *(*s)++ - '0';
	}
	return value;
}

static int64
read_date(const char **s)
{
	bool		compact = (*s)[4] >= '0' && (*s)[4] <= '9';
	int			year = number(s, 4);
	int			month;
	int			day;

	*s += !compact;
	month = number(s, 2);
	*s += !compact;
	day = number(s, 2);
	EXPECT(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= 31);
	EXPECT(days_of(year, month, day) < days_of(year + month / 12, month % 12 + 1, 1));
	return days_of(year, month, day);
}

/* Seconds of the day, and microseconds of the second: a million at most */
static void
read_time(const char **s, int64 *sec, int64 *usec)
{
	int			hour = number(s, 2);
	int			minute;
	int			second = 0;
	char	   *end;

	EXPECT(*(*s)++ == ':');
	minute = number(s, 2);
	if (**s == ':')
	{
		(*s)++;
		second = number(s, 2);
		if (**s == '.')
		{
			*usec = (int64) rint(strtod(*s, &end) * 1000000);
			EXPECT(end > *s + 1);
			*s = end;
		}
	}
	EXPECT(hour < 24 && minute < 60 && second < 60);
	*sec = (hour * 60 + minute) * 60 + second;
}

/* Seconds east of Greenwich, if there is a zone */
static bool
read_zone(const char **s, int64 *offset)
{
	int			sign;

	if (**s == ' ')
		(*s)++;
	*offset = 0;
	if (**s == '\0')
		return false;
	if (**s == 'Z')
	{
		(*s)++;
		return true;
	}
	EXPECT(**s == '+' || **s == '-');
	sign = *(*s)++ == '-' ? -1 : 1;
	*offset = number(s, 2) * 3600;
	EXPECT(*offset <= 15 * 3600);
	if (**s == ':')
		(*s)++;
	if (**s)
	{
		int			minutes = number(s, 2);

		EXPECT(minutes < 60);
		*offset += minutes * 60;
	}
	*offset *= sign;
	return true;
}

static int64
rounded(int64 time, int64 unit)
{
	int64		rest = llabs(time) % unit;
	int64		size = llabs(time) - rest + (rest * 2 >= unit && unit > 1 ? unit : 0);

	return time < 0 ? -size : size;
}

static int64
expected(char type, const char *s, int64 unit)
{
	const char *p = s;
	int64		days = 0;
	int64		sec = 0;
	int64		usec = 0;
	int64		offset = 0;

	if (type != 't')
		days = read_date(&p);
	if (type == 's' || type == 'z')
	{
		if (*p)
		{
			EXPECT(*p == ' ' || *p == 'T');
			p++;
			read_time(&p, &sec, &usec);
		}
		if (!read_zone(&p, &offset) && type == 'z')
			offset = shim_offset(days * SECS_PER_DAY + sec);
	}
	else if (type == 't')
		read_time(&p, &sec, &usec);
	EXPECT(*p == '\0');
	days -= days_of(2000, 1, 1);
	if (type == 'd')
		return days;
	if (type == 't')
		return rounded(sec * USECS_PER_SEC + usec, unit);
	return rounded((days * SECS_PER_DAY + sec - (type == 'z' ? offset : 0)) *
				   USECS_PER_SEC + usec, unit);
}

bool
one_string(char type, int modifier, char *s, size_t len)
{
	static FcConverter zoned;
	static FcDate dates[FC_DATES];
	FcConverter fresh;
	FcConverter *converter = &fresh;
	FcConvert	function = type == 'd' ? fc_type_date.text :
		type == 't' ? fc_type_time.text :
		type == 's' ? fc_type_timestamp.text : fc_type_timestamptz.text;
	Datum		value;

	if (strchr("dts", type) == NULL || type == '\0')
	{
		type = 'z';
		converter = &zoned;
	}
	else
		memset(&fresh, 0, sizeof(fresh));
	if (modifier < 0 || modifier > 6)
		modifier = -1;
	converter->dates = dates;
	EXPECT(fc_type_time.begin(converter, modifier));
	if (!function(converter, s, len, &value))
		return false;
	/* once more, now that its date is known */
	EXPECT(function(converter, s, len, &value));
	EXPECT((type == 'd' ? DatumGetDateADT(value) : DatumGetInt64(value)) ==
		   expected(type, s, converter->unit));
	return true;
}
