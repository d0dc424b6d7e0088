/*-------------------------------------------------------------------------
 *
 * report/units.c
 *	  Figures for eyes: counts, sizes and times with their units, and the line
 *	  that a load ends with.
 *
 * All is written into the caller's buffers.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <string.h>

#include "report/units.h"

/* How much the line leaves out to be short enough; each one after the other */
typedef enum FcBrevity
{
	FC_BRIEF_NOTHING,
	FC_BRIEF_RATE,				/* which follows from bytes and time */
	FC_BRIEF_BYTES,
	FC_BRIEF_OLD,				/* of 1.2M rows */
	FC_BRIEF_NEW,				/* "new", not "new partitions" */
	FC_BRIEF_COUNTS,			/* 1.2M, not 1,234,567 */
	FC_BRIEF_MOST = FC_BRIEF_COUNTS
} FcBrevity;

char *
fc_units_count(char *buf, uint64_t n)
{
	char		digits[FC_UNITS_LEN];
	int			len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long) n);
	char	   *to = buf;

	for (int i = 0; i < len; i++)
	{
		if (i > 0 && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

char *
fc_units_short(char *buf, uint64_t n)
{
	static const char units[] = "kMGTPE";
	double		value = n / 1000.0;
	int			unit = 0;

	if (n < 1000)
	{
		snprintf(buf, FC_UNITS_LEN, "%d", (int) n);
		return buf;
	}
	/* what would be shown as 1000 has the next unit */
	while (value >= 999.5)
	{
		value /= 1000;
		unit++;
	}
	snprintf(buf, FC_UNITS_LEN, value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
	return buf;
}

char *
fc_units_of(char *buf, uint64_t n, const char *word)
{
	size_t		len = strlen(fc_units_count(buf, n));

	snprintf(buf + len, FC_UNITS_LEN - len, " %s%s", word, n == 1 ? "" : "s");
	return buf;
}

/* A unit is taken as by pg_size_pretty: from ten of it on */
char *
fc_units_bytes(char *buf, double bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	unsigned	unit = 0;

	while (bytes >= 10239.5 && unit + 1 < sizeof(units) / sizeof(units[0]))
	{
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, FC_UNITS_LEN, "%.0f %s", bytes, units[unit]);
	return buf;
}

char *
fc_units_time(char *buf, double seconds)
{
	double		minutes = seconds / 60;
	double		hours = minutes / 60;
	double		days = hours / 24;

	/* nothing takes no time */
	if (seconds < 0.0995)
		snprintf(buf, FC_UNITS_LEN, "%.0f ms", seconds < 0.001 ? 1 : seconds * 1000);
	else if (seconds < 0.995)
		snprintf(buf, FC_UNITS_LEN, "%.2f s", seconds);
	else if (seconds < 99.95)
		snprintf(buf, FC_UNITS_LEN, "%.1f s", seconds);
	else if (minutes < 99.5)
		snprintf(buf, FC_UNITS_LEN, minutes < 9.95 ? "%.1f min" : "%.0f min", minutes);
	else if (hours < 99.95)
		snprintf(buf, FC_UNITS_LEN, "%.1f h", hours);
	else
		snprintf(buf, FC_UNITS_LEN, "%.0f d", days < 9999 ? days : 9999);
	return buf;
}

/* Appends a separator, a count and a word */
static void
fc_units_loaded_count(char *line, const char *separator, uint64_t n, const char *word,
					  FcBrevity brevity)
{
	char		figure[FC_UNITS_LEN];
	size_t		len = strlen(line);

	if (brevity >= FC_BRIEF_COUNTS)
		fc_units_short(figure, n);
	else
		fc_units_count(figure, n);
	snprintf(line + len, FC_LINE_LEN - len, "%s%s %s", separator, figure, word);
}

/* Appends bytes, time and rate */
static void
fc_units_loaded_pace(char *line, const FcLoaded *loaded, FcBrevity brevity)
{
	char		bytes[FC_UNITS_LEN];
	char		seconds[FC_UNITS_LEN];
	char		rate[FC_UNITS_LEN];
	size_t		len = strlen(line);

	fc_units_bytes(bytes, (double) loaded->bytes);
	fc_units_time(seconds, loaded->seconds);
	fc_units_bytes(rate, loaded->bytes / (loaded->seconds < 1e-6 ? 1e-6 : loaded->seconds));
	if (brevity >= FC_BRIEF_BYTES || loaded->bytes < 0)
		snprintf(line + len, FC_LINE_LEN - len, " in %s", seconds);
	else if (brevity >= FC_BRIEF_RATE)
		snprintf(line + len, FC_LINE_LEN - len, ", %s in %s", bytes, seconds);
	else
		snprintf(line + len, FC_LINE_LEN - len, ", %s in %s (%s/s)", bytes, seconds, rate);
}

static void
fc_units_loaded_write(char *line, const FcLoaded *loaded, FcBrevity brevity)
{
	const char *new = brevity >= FC_BRIEF_NEW ? "new" :
		loaded->created == 1 ? "new partition" : "new partitions";
	const char *replaced = brevity >= FC_BRIEF_NEW ? "" : loaded->replaced == 1 ? "table " : "tables ";
	char		figure[FC_UNITS_LEN];
	char		old[FC_LINE_LEN] = "";
	bool		room = brevity < FC_BRIEF_COUNTS || (loaded->filtered == 0 && !loaded->tolerant);

	strcpy(line, "fast_copy");
	fc_units_loaded_count(line, ": ", loaded->rows, loaded->rows == 1 ? "row" : "rows", brevity);
	fc_units_loaded_pace(line, loaded, brevity);
	if (loaded->created > 0)
		fc_units_loaded_count(line, ", ", loaded->created, new, brevity);
	if (loaded->old_rows > 0 && brevity < FC_BRIEF_NEW)
		snprintf(old, sizeof(old), "%s%s%s %s ", loaded->replaced > 0 ? "of " : "", loaded->old_guessed ? "about " : "",
				 brevity >= FC_BRIEF_OLD ? fc_units_short(figure, loaded->old_rows) : fc_units_count(figure, loaded->old_rows),
				 loaded->old_rows == 1 ? "row" : "rows");
	snprintf(old + strlen(old), sizeof(old) - strlen(old), "%s", loaded->merged ? "merged" : "replaced");
	if (loaded->replaced > 0 && brevity < FC_BRIEF_COUNTS)
		snprintf(line + strlen(line), FC_LINE_LEN - strlen(line), ", %s %s%s", fc_units_count(figure, loaded->replaced), replaced, old);
	else if (loaded->old_rows > 0 && brevity < FC_BRIEF_NEW)
		snprintf(line + strlen(line), FC_LINE_LEN - strlen(line), ", %s", old);
	if (loaded->duplicates > 0 && brevity < FC_BRIEF_COUNTS)
		snprintf(line + strlen(line), FC_LINE_LEN - strlen(line), ", %s", fc_units_of(figure, loaded->duplicates, "duplicate"));
	if (loaded->deleted > 0 && room)
		fc_units_loaded_count(line, ", ", loaded->deleted, "deleted", brevity);
	if (loaded->unmatched > 0 && room)
		fc_units_loaded_count(line, ", ", loaded->unmatched, "unmatched", brevity);
	if (loaded->filtered > 0)
		fc_units_loaded_count(line, ", ", loaded->filtered, "filtered", brevity);
	if (loaded->tolerant)
		fc_units_loaded_count(line, ", ", loaded->rejected, "rejected", brevity);
}

char *
fc_units_loaded(char *buf, const FcLoaded *loaded)
{
	int			brevity = FC_BRIEF_NOTHING;

	do
		fc_units_loaded_write(buf, loaded, brevity);
	while (strlen(buf) > FC_LINE_COLUMNS && brevity++ < FC_BRIEF_MOST);
	return buf;
}
