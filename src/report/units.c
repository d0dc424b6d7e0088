/*-------------------------------------------------------------------------
 *
 * report/units.c
 *	  Figures for eyes: counts, sizes and times with their units, and the line
 *	  that a load ends with.
 *
 * All texts are in the current memory context.
 *
 *-------------------------------------------------------------------------
 */
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
fc_units_count(uint64_t n)
{
	return n < 1000 ? psprintf("%d", (int) n) :
		psprintf("%s,%03d", fc_units_count(n / 1000), (int) (n % 1000));
}

char *
fc_units_short(uint64_t n)
{
	static const char units[] = "kMGTPE";
	double		value = n / 1000.0;
	int			unit = 0;

	if (n < 1000)
		return psprintf("%d", (int) n);
	/* what would be shown as 1000 has the next unit */
	while (value >= 999.5)
	{
		value /= 1000;
		unit++;
	}
	return psprintf(value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

char *
fc_units_of(uint64_t n, const char *word)
{
	return psprintf("%s %s%s", fc_units_count(n), word, n == 1 ? "" : "s");
}

/* A unit is taken as by pg_size_pretty: from ten of it on */
char *
fc_units_bytes(double bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	unsigned	unit = 0;

	while (bytes >= 10239.5 && unit + 1 < sizeof(units) / sizeof(units[0]))
	{
		bytes /= 1024;
		unit++;
	}
	return psprintf("%.0f %s", bytes, units[unit]);
}

char *
fc_units_time(double seconds)
{
	double		minutes = seconds / 60;
	double		hours = minutes / 60;
	double		days = hours / 24;

	/* nothing takes no time */
	if (seconds < 0.0995)
		return psprintf("%.0f ms", seconds < 0.001 ? 1 : seconds * 1000);
	if (seconds < 0.995)
		return psprintf("%.2f s", seconds);
	if (seconds < 99.95)
		return psprintf("%.1f s", seconds);
	if (minutes < 99.5)
		return psprintf(minutes < 9.95 ? "%.1f min" : "%.0f min", minutes);
	if (hours < 99.95)
		return psprintf("%.1f h", hours);
	return psprintf("%.0f d", days < 9999 ? days : 9999);
}

/* The bytes, the time and the rate */
static char *
fc_units_loaded_pace(const FcReportRow *loaded, FcBrevity brevity)
{
	char	   *bytes = fc_units_bytes((double) loaded->bytes);
	char	   *seconds = fc_units_time(loaded->seconds);

	if (brevity >= FC_BRIEF_BYTES || loaded->bytes < 0)
		return psprintf(" in %s", seconds);
	if (brevity >= FC_BRIEF_RATE)
		return psprintf(", %s in %s", bytes, seconds);
	return psprintf(", %s in %s (%s/s)", bytes, seconds,
					fc_units_bytes(loaded->bytes / (loaded->seconds < 1e-6 ? 1e-6 : loaded->seconds)));
}

static char *
fc_units_brief(uint64_t n, bool brief)
{
	return brief ? fc_units_short(n) : fc_units_count(n);
}

/* A separator, a count and a word; or nothing */
static const char *
fc_units_loaded_count(bool said, uint64_t n, const char *word, FcBrevity brevity)
{
	return said ? psprintf(", %s %s", fc_units_brief(n, brevity >= FC_BRIEF_COUNTS), word) : "";
}

/* What was replaced, or merged; or nothing */
static const char *
fc_units_loaded_old(const FcReportRow *loaded, FcBrevity brevity)
{
	const char *verb = loaded->merged ? "merged" : "replaced";
	const char *tables = brevity >= FC_BRIEF_NEW ? "" : loaded->replaced == 1 ? " table" : " tables";
	const char *old = "";

	if (loaded->old_rows > 0 && brevity < FC_BRIEF_NEW)
		old = psprintf("%s%s %s ", loaded->old_guessed ? "about " : "",
					   fc_units_brief(loaded->old_rows, brevity >= FC_BRIEF_OLD), loaded->old_rows == 1 ? "row" : "rows");
	if (loaded->replaced > 0 && brevity < FC_BRIEF_COUNTS)
		return psprintf(", %s%s %s%s%s", fc_units_count(loaded->replaced), tables, old[0] ? "of " : "", old, verb);
	return old[0] ? psprintf(", %s%s", old, verb) : "";
}

static char *
fc_units_loaded_line(const FcReportRow *loaded, FcBrevity brevity)
{
	const char *new = brevity >= FC_BRIEF_NEW ? "new" :
		loaded->created == 1 ? "new partition" : "new partitions";
	bool		brief = brevity >= FC_BRIEF_COUNTS;
	bool		room = !brief || (loaded->filtered == 0 && !loaded->tolerant);

	return psprintf("fast_copy: %s %s%s%s%s%s%s%s%s%s", fc_units_brief(loaded->rows, brief),
					loaded->rows == 1 ? "row" : "rows", fc_units_loaded_pace(loaded, brevity),
					fc_units_loaded_count(loaded->created > 0, loaded->created, new, brevity),
					fc_units_loaded_old(loaded, brevity),
					fc_units_loaded_count(loaded->duplicates > 0 && !brief, loaded->duplicates,
										  loaded->duplicates == 1 ? "duplicate" : "duplicates", brevity),
					fc_units_loaded_count(loaded->deleted > 0 && room, loaded->deleted, "deleted", brevity),
					fc_units_loaded_count(loaded->unmatched > 0 && room, loaded->unmatched, "unmatched", brevity),
					fc_units_loaded_count(loaded->filtered > 0, loaded->filtered, "filtered", brevity),
					fc_units_loaded_count(loaded->tolerant, loaded->rejected, "rejected", brevity));
}

char *
fc_units_loaded(const FcReportRow *loaded)
{
	int			brevity = FC_BRIEF_NOTHING;
	char	   *line;

	do
		line = fc_units_loaded_line(loaded, brevity);
	while (strlen(line) > FC_LINE_COLUMNS && brevity++ < FC_BRIEF_MOST);
	return line;
}
