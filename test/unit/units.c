/*-------------------------------------------------------------------------
 *
 * units.c
 *	  Tests of report/units.c: figures for eyes, and the line at a load's end.
 *
 *-------------------------------------------------------------------------
 */
#include "report/units.h"
#include "tap.h"

/* The server's: here a text lasts until many others have been made */
char *
psprintf(const char *fmt,...)
{
	static char texts[65536];
	static size_t at = 0;
	char	   *text;
	va_list		args;

	at = at > sizeof(texts) - 1024 ? 0 : at;
	text = texts + at;
	va_start(args, fmt);
	at += vsnprintf(text, 1024, fmt, args) + 1;
	va_end(args);
	return text;
}

static void
test_figures(void)
{
	is(fc_units_count(0), "0", "no count");
	is(fc_units_count(999), "999", "three digits");
	is(fc_units_count(336776), "336,776", "six digits");
	is(fc_units_count(1234567), "1,234,567", "seven digits");
	is(fc_units_count(UINT64_MAX), "18,446,744,073,709,551,615", "the largest count");

	is(fc_units_short(999), "999", "a short count as it is");
	is(fc_units_short(1000), "1.0k", "thousands");
	is(fc_units_short(9949), "9.9k", "two digits of them");
	is(fc_units_short(9950), "10k", "rounded up to three columns");
	is(fc_units_short(999499), "999k", "the most thousands");
	is(fc_units_short(999500), "1.0M", "rounded up to the next unit");
	is(fc_units_short(UINT64_MAX), "18E", "the largest count, short");

	is(fc_units_bytes(0), "0 bytes", "no bytes");
	is(fc_units_bytes(10239), "10239 bytes", "the most bytes");
	is(fc_units_bytes(10240), "10 kB", "kB");
	is(fc_units_bytes(31457280), "30 MB", "MB");
	is(fc_units_bytes(1099511627776.0), "1024 GB", "GB");
	is(fc_units_bytes(5e15), "4547 TB", "TB");

	is(fc_units_time(0), "1 ms", "no time");
	is(fc_units_time(0.0994), "99 ms", "milliseconds");
	is(fc_units_time(0.0995), "0.10 s", "the first that are none");
	is(fc_units_time(0.4219), "0.42 s", "less than a second");
	is(fc_units_time(0.996), "1.0 s", "rounded up to a second");
	is(fc_units_time(12.34), "12.3 s", "seconds");
	is(fc_units_time(99.96), "1.7 min", "minutes");
	is(fc_units_time(2700), "45 min", "many minutes");
	is(fc_units_time(11160), "3.1 h", "hours");
	is(fc_units_time(864000), "10 d", "days");
	is(fc_units_time(1e300), "9999 d", "too many days");
}

typedef struct LineCase
{
	FcReportRow loaded;
	const char *line;
} LineCase;

static const LineCase lines[] = {
	{{.rows = 0}, "fast_copy: 0 rows, 0 bytes in 1 ms (0 bytes/s)"},
	{{.rows = 1, .bytes = 9, .seconds = 0.02, .created = 1}, "fast_copy: 1 row, 9 bytes in 20 ms (450 bytes/s), 1 new partition"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .created = 366},
	"fast_copy: 336,776 rows, 30 MB in 1.2 s (25 MB/s), 366 new partitions"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .created = 366, .tolerant = true},
	"fast_copy: 336,776 rows, 30 MB in 1.2 s, 366 new partitions, 0 rejected"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .filtered = 1234, .rejected = 12, .tolerant = true},
	"fast_copy: 336,776 rows, 30 MB in 1.2 s, 1,234 filtered, 12 rejected"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .created = 1095, .tolerant = true},
	"fast_copy: 336,776 rows in 1.2 s, 1,095 new partitions, 0 rejected"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .created = 366, .filtered = 1234, .tolerant = true},
	"fast_copy: 336,776 rows in 1.2 s, 366 new, 1,234 filtered, 0 rejected"},
	{{.rows = 1000000000000, .bytes = 109951162777600, .seconds = 86400, .created = 3660},
	"fast_copy: 1,000,000,000,000 rows in 24.0 h, 3,660 new partitions"},
	{{.rows = 1000000000000, .bytes = 109951162777600, .seconds = 86400, .created = 3660, .filtered = 12345678, .rejected = 1000000, .tolerant = true},
	"fast_copy: 1.0T rows in 24.0 h, 3.7k new, 12M filtered, 1.0M rejected"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .replaced = 1},
	"fast_copy: 336,776 rows, 30 MB in 1.2 s (25 MB/s), 1 table replaced"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .replaced = 1, .merged = true, .duplicates = 1234},
	"fast_copy: 336,776 rows in 1.2 s, 1 table merged, 1,234 duplicates"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .replaced = 12, .merged = true, .duplicates = 1},
	"fast_copy: 336,776 rows, 30 MB in 1.2 s, 12 tables merged, 1 duplicate"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .merged = true, .duplicates = 1, .deleted = 34, .unmatched = 1},
	"fast_copy: 336,776 rows in 1.2 s, 1 duplicate, 34 deleted, 1 unmatched"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .replaced = 1, .merged = true, .duplicates = 12, .deleted = 34, .unmatched = 1},
	"fast_copy: 337k rows in 1.2 s, 34 deleted, 1 unmatched"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .replaced = 1, .tolerant = true, .merged = true, .duplicates = 12, .deleted = 34, .unmatched = 1},
	"fast_copy: 337k rows in 1.2 s, 0 rejected"},
	{{.rows = 990, .bytes = 40960, .seconds = 0.02, .replaced = 1, .old_rows = 1000},
	"fast_copy: 990 rows, 40 kB in 20 ms, 1 table of 1,000 rows replaced"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .replaced = 2, .old_rows = 336777, .old_guessed = true},
	"fast_copy: 336,776 rows in 1.2 s, 2 tables of about 337k rows replaced"},
	{{.seconds = 0.02, .old_rows = 1},
	"fast_copy: 0 rows, 0 bytes in 20 ms (0 bytes/s), 1 row replaced"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .created = 3, .replaced = 2, .rejected = 12, .tolerant = true, .old_rows = 1000},
	"fast_copy: 336,776 rows in 1.2 s, 3 new, 2 replaced, 12 rejected"},
	{{.rows = 336776, .bytes = 31457280, .seconds = 1.2, .created = 3, .replaced = 2, .rejected = 12, .tolerant = true},
	"fast_copy: 336,776 rows in 1.2 s, 3 new, 2 replaced, 12 rejected"},
	{{.rows = 1000000000000, .bytes = 109951162777600, .seconds = 86400, .created = 3660, .replaced = 3660, .filtered = 12345678, .rejected = 1000000, .tolerant = true},
	"fast_copy: 1.0T rows in 24.0 h, 3.7k new, 12M filtered, 1.0M rejected"},
	{{.rows = 1000000000000, .bytes = 109951162777600, .seconds = 86400},
	"fast_copy: 1,000,000,000,000 rows, 100 TB in 24.0 h (1214 MB/s)"},
};

/* No line is too long, whatever the figures: each is one of some magnitude */
static bool
all_fit(void)
{
	static const int64_t counts[] = {0, 1, 999, 999499, 1234567890, 999499999999999, INT64_MAX};
	static const double times[] = {0, 0.994, 99.94, 596, 5969, 359819, 1e12};
	const int	n = lengthof(counts);
	size_t		longest = 0;

	for (int i = 0; i < n * n * n * n * (int) lengthof(times); i++)
	{
		int64_t		created = counts[i / n / n % n];
		FcReportRow loaded = {
			.rows = counts[i % n], .bytes = counts[i / n % n], .seconds = times[i / n / n / n / n],
			.created = created > INT32_MAX ? INT32_MAX : created,
			.replaced = created > INT32_MAX ? INT32_MAX : created,
			.filtered = counts[i / n / n / n % n], .rejected = counts[(i / n / n / n + 3) % n], .tolerant = i % 3 > 0,
			.old_rows = counts[(i / n + 2) % n], .old_guessed = true,
			.deleted = counts[(i / n + 4) % n], .unmatched = counts[(i + 5) % n]
		};
		const char *line = fc_units_loaded(&loaded);
		size_t		len = strlen(line);

		longest = len > longest ? len : longest;
		if (len > FC_LINE_COLUMNS)
		{
			printf("# %s\n", line);
			return false;
		}
	}
	/* else the cases above are not odd enough */
	return longest == FC_LINE_COLUMNS;
}

int
main(void)
{
	test_figures();
	for (size_t i = 0; i < lengthof(lines); i++)
		is(fc_units_loaded(&lines[i].loaded), lines[i].line, "line");
	ok(all_fit(), "no line is wider than a terminal of 80 columns leaves");
	return done_testing();
}
