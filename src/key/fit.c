/*-------------------------------------------------------------------------
 *
 * key/fit.c
 *	  Which width of partitions fits the keys and the size of a source.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "key/range.h"

/*
 * Partitions that a new table should have at most, and may have though they are
 * small, and though they are tiny
 */
#define FC_FIT_MOST		400
#define FC_FIT_FEW		31
#define FC_FIT_LEAST	3

/*
 * Bytes of the source that make a partition more than tiny, worth while, and
 * large
 */
#define FC_FIT_TINY		((uint64) 16 * 1024)
#define FC_FIT_SMALL	((uint64) 1024 * 1024)
#define FC_FIT_LARGE	((uint64) 8 * 1024 * 1024 * 1024)

/* The narrowest width of integers */
#define FC_FIT_INTEGERS	1000

/* The partitions of "days" days that keys from low to high have */
static double
fc_fit_count(FcKeyType type, int64 low, int64 high, double days)
{
	double		range = (double) high - low;

	if (type != FC_KEY_DATE)
		range /= USECS_PER_DAY;
	return range / days + 1;
}

static FcFit
fc_fit_moments(FcKeyType type, int64 low, int64 high, uint64 bytes)
{
	static const struct
	{
		const char *interval;
		double		days;
	}			widths[] = {
		{"1 hour", 1.0 / 24}, {"1 day", 1}, {"1 week", 7}, {"1 month", 30.4375}, {"1 year", 365.25}
	};
	double		few = Max((double) FC_FIT_LEAST, Min((double) FC_FIT_FEW, (double) bytes / FC_FIT_TINY));
	double		most = bytes == 0 ? FC_FIT_MOST :
		Max(few, Min((double) FC_FIT_MOST, (double) bytes / FC_FIT_SMALL));
	int			i = type != FC_KEY_DATE && bytes / fc_fit_count(type, low, high, 1) > FC_FIT_LARGE ? 0 : 1;

	while (i < lengthof(widths) - 1 &&
		   fc_fit_count(type, low, high, widths[i].days) > most + 1)
		i++;
	return (FcFit)
	{
		widths[i].interval, widths[i].days == 1, fc_fit_count(type, low, high, widths[i].days)
	};
}

FcFit
fc_fit_width(FcKeyType type, int64 low, int64 high, uint64 bytes)
{
	double		range = (double) high - low;
	int64		width = FC_FIT_INTEGERS;

	Assert(low <= high);
	if (!fc_key_is_integer(type))
		return fc_fit_moments(type, low, high, bytes);
	while (width < range / FC_FIT_FEW)
		width *= 10;
	return (FcFit)
	{
		psprintf(INT64_FORMAT, width), false, range / width + 1
	};
}

bool
fc_fit_is_small(int partitions, uint64 bytes)
{
	return partitions > FC_FIT_MOST && bytes / partitions < FC_FIT_SMALL;
}
