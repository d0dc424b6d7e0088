/*
 * convert_shim.c
 *	  libFuzzer's entry, and as much of the server as the conversions call.
 *
 * Memory that palloc gives out is freed after each string.  Strings are in
 * UTF-8, as far as they are valid.  The zone changes its clock twice in 365
 * days, by an hour, at UTC times.
 */
#include "convert_shim.h"

#include <unistd.h>

#include "mb/pg_wchar.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc.h"

#define MAX_ALLOCATIONS 16

static void *allocations[MAX_ALLOCATIONS];
static int	nallocations;
static long strings;
static long taken;

int			LLVMFuzzerInitialize(int *argc, char ***argv);
int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

static void
at_end(void)
{
	fprintf(stderr, "# %ld strings, %ld taken\n", strings, taken);
	if (strings > 1000 && taken < strings / 1000)
		_exit(1);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	atexit(at_end);
	return 0;
}

/* The string is in memory of just its size, so that ASan sees its end */
int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	char	   *s;
	size_t		len;

	if (size < 2)
		return 0;
	len = size - 2;
	if (len > 0 && data[size - 1] == '\n')
		len--;
	s = malloc(len + 1);
	memcpy(s, data + 2, len);
	s[len] = '\0';
	len = strlen(s);
	strings++;
	taken += one_string(data[0], data[1] - '0', s, len);
	free(s);
	while (nallocations > 0)
		free(allocations[--nallocations]);
	return 0;
}

void *
palloc(Size size)
{
	EXPECT(nallocations < MAX_ALLOCATIONS);
	return allocations[nallocations++] = malloc(size);
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void
pfree(void *pointer)
{
	EXPECT(nallocations > 0 && allocations[nallocations - 1] == pointer);
	free(allocations[--nallocations]);
}

text *
cstring_to_text_with_len(const char *s, int len)
{
	text	   *result = palloc(len + VARHDRSZ);

	SET_VARSIZE(result, len + VARHDRSZ);
	memcpy(VARDATA(result), s, len);
	return result;
}

bool
parse_bool_with_len(const char *value, size_t len, bool *result)
{
	*result = (len == 1 && value[0] == '1');
	return len == 1 && (value[0] == '0' || value[0] == '1');
}

/* Characters are what does not go on one before */
int
pg_mbstrlen_with_len(const char *s, int limit)
{
	int			n = 0;

	for (int i = 0; i < limit; i++)
		n += i == 0 || (s[i] & 0xC0) != 0x80;
	return n;
}

int
pg_mbcharcliplen(const char *s, int len, int limit)
{
	int			i = 0;

	for (int n = 0; i < len; i++)
		if ((i == 0 || (s[i] & 0xC0) != 0x80) && ++n > limit)
			break;
	return i;
}

static bool
leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

const int	day_tab[2][13] = {
	{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0},
	{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0}
};

/* Counted year by year and month by month */
int64
days_of(int year, int month, int day)
{
	int64		days = day - 1;

	for (int y = 1970; y < year; y++)
		days += leap(y) ? 366 : 365;
	for (int y = 1969; y >= year; y--)
		days -= leap(y) ? 366 : 365;
	for (int m = 1; m < month; m++)
		days += day_tab[leap(year)][m - 1];
	return days;
}

int
date2j(int year, int month, int day)
{
	return days_of(year, month, day) + UNIX_EPOCH_JDATE;
}

/* The inverse: by years, then by months, from the calendar's beginning on */
void
j2date(int jd, int *year, int *month, int *day)
{
	int64		left = (int64) jd - UNIX_EPOCH_JDATE;

	for (*year = 1970; left < 0; left += leap(*year) ? 366 : 365)
		--*year;
	for (; left >= (leap(*year) ? 366 : 365); ++*year)
		left -= leap(*year) ? 366 : 365;
	for (*month = 1; left >= day_tab[leap(*year)][*month - 1]; ++*month)
		left -= day_tab[leap(*year)][*month - 1];
	*day = left + 1;
}

pg_tz	   *session_timezone = (pg_tz *) &days_of;

const char *
pg_get_timezone_name(pg_tz *tz)
{
	return "Europe/Nowhere";
}

const char *
GetConfigOption(const char *name, bool missing_ok, bool restrict_privileged)
{
	return "Default";
}

/* The half year of a time in UTC, and its offset east of Greenwich */
#define HALF_YEAR (INT64CONST(365) * SECS_PER_DAY / 2)

static int64
half_of(int64 utc)
{
	return utc >= 0 ? utc / HALF_YEAR : -((-utc + HALF_YEAR - 1) / HALF_YEAR);
}

static int64
offset_of(int64 half)
{
	return half % 2 == 0 ? 3600 : 7200;
}

int
pg_next_dst_boundary(const pg_time_t *timep, long int *before_gmtoff,
					 int *before_isdst, pg_time_t *boundary,
					 long int *after_gmtoff, int *after_isdst, const pg_tz *tz)
{
	int64		half = half_of(*timep);

	*before_gmtoff = offset_of(half);
	*after_gmtoff = offset_of(half + 1);
	*before_isdst = *after_isdst = 0;
	*boundary = (half + 1) * HALF_YEAR;
	return 1;
}

/*
 * Both offsets are tried.  Where both fit, in the hour that comes twice, core
 * prefers the later; where none does, in the hour left out, the one before.
 */
int64
shim_offset(int64 local)
{
	bool		standard = offset_of(half_of(local - 3600)) == 3600;
	bool		summer = offset_of(half_of(local - 7200)) == 7200;

	if (standard)
		return 3600;
	if (summer)
		return 7200;
	return 3600;
}

int
DetermineTimeZoneOffset(struct pg_tm *tm, pg_tz *tzp)
{
	return -shim_offset(days_of(tm->tm_year, tm->tm_mon, tm->tm_mday) *
						SECS_PER_DAY + (tm->tm_hour * 60 + tm->tm_min) * 60 +
						tm->tm_sec);
}

#ifdef USE_ASSERT_CHECKING
/* Of a server that checks assertions: before 16 it says a type, too */
void
#if PG_VERSION_NUM >= 160000
ExceptionalCondition(const char *condition, const char *file, int line)
#else
ExceptionalCondition(const char *condition, const char *type, const char *file, int line)
#endif
{
	fprintf(stderr, "TRAP: %s, %s:%d\n", condition, file, line);
	abort();
}
#endif
