/*-------------------------------------------------------------------------
 *
 * generate.c
 *	  Writes a workload's file to standard output: generate WORKLOAD ROWS ORDER
 *
 * The same arguments give the same bytes on every machine: all randomness is
 * splitmix64 from a fixed seed, and no number passes through printf or
 * floating point.  bench/schema names the columns of each workload.
 *
 *-------------------------------------------------------------------------
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USECS_PER_SEC	INT64_C(1000000)
#define USECS_PER_DAY	(86400 * USECS_PER_SEC)
/* Days since 1970 of the first day of each workload */
#define DAY_2024_01_01	19723
#define DAY_2013_07_01	15887
#define DAY_1992_01_01	8035

static char buffer[1 << 20];
static char *at = buffer;
static uint64_t state;

/* splitmix64 */
static uint64_t
rnd(void)
{
	uint64_t	z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* From 0 to n - 1; the bias of a modulo does not matter here */
static int64_t
below(int64_t n)
{
	return (int64_t) (rnd() % (uint64_t) n);
}

static void
flush(void)
{
	size_t		n = at - buffer;

	if (fwrite(buffer, 1, n, stdout) != n)
	{
		perror("generate");
		exit(1);
	}
	at = buffer;
}

static void
put_char(char c)
{
	*at++ = c;
}

static void
put_text(const char *s)
{
	size_t		n = strlen(s);

	memcpy(at, s, n);
	at += n;
}

/* At least "width" digits */
static void
put_digits(uint64_t v, int width)
{
	char		digits[24];
	int			n = 0;

	while (v > 0 || n < width)
	{
		digits[n++] = '0' + v % 10;
		v /= 10;
	}
	while (n > 0)
		*at++ = digits[--n];
}

static void
put_int(int64_t v)
{
	if (v < 0)
		put_char('-');
	put_digits(v < 0 ? -(uint64_t) v : (uint64_t) v, 1);
}

/* Years 1970 to 2099: every fourth year is a leap year */
static void
put_date(int days)
{
	static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int			year = 1970,
				month = 0;

	for (;;)
	{
		int			n = 365 + (year % 4 == 0);

		if (days < n)
			break;
		days -= n;
		year++;
	}
	for (;;)
	{
		int			n = length[month] + (month == 1 && year % 4 == 0);

		if (days < n)
			break;
		days -= n;
		month++;
	}
	put_digits(year, 4);
	put_char('-');
	put_digits(month + 1, 2);
	put_char('-');
	put_digits(days + 1, 2);
}

/* "digits" of the fraction of a second: 0, 3 or 6 */
static void
put_timestamp(int64_t usecs, int digits)
{
	int			seconds = (int) (usecs % USECS_PER_DAY / USECS_PER_SEC);
	int			fraction = (int) (usecs % USECS_PER_SEC);

	put_date((int) (usecs / USECS_PER_DAY));
	put_char(' ');
	put_digits(seconds / 3600, 2);
	put_char(':');
	put_digits(seconds / 60 % 60, 2);
	put_char(':');
	put_digits(seconds % 60, 2);
	if (digits > 0)
	{
		put_char('.');
		put_digits(digits == 3 ? fraction / 1000 : fraction, digits);
	}
}

/* v / 10^digits */
static void
put_decimal(uint64_t v, int digits)
{
	uint64_t	scale = 1;

	for (int i = 0; i < digits; i++)
		scale *= 10;
	put_digits(v / scale, 1);
	put_char('.');
	put_digits(v % scale, digits);
}

static void
end_row(void)
{
	put_char('\n');
	if (at - buffer > (int) sizeof(buffer) - 65536)
		flush();
}

/* One row each microsecond, numbers from a linear congruential generator */
static void
metrics(int64_t rows)
{
	uint64_t	lcg = 2024;

	for (int64_t i = 0; i < rows; i++)
	{
		lcg = lcg * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		put_timestamp(DAY_2024_01_01 * USECS_PER_DAY + i, 6);
		put_char(',');
		put_decimal(lcg >> 44, 3);
		put_char(',');
		put_int((int64_t) (lcg >> 24 & 0xfffff));
		end_row();
	}
}

/*
 * Thirty days to the millisecond, of so many kinds.  "nearly": as it arrives,
 * each row up to a second late and each hundredth up to ten minutes.
 */
static void
events(int64_t rows, const char *order, int64_t kinds)
{
	const int64_t span = 30 * USECS_PER_DAY / 1000;
	bool		random = strcmp(order, "random") == 0,
				nearly = strcmp(order, "nearly") == 0;

	for (int64_t i = 0; i < rows; i++)
	{
		int64_t		ms = (int64_t) ((__int128) i * span / rows);

		if (random)
			ms = below(span);
		else if (nearly)
			ms -= below(i % 100 == 0 ? 600000 : 1000);
		if (ms < 0)
			ms = 0;
		put_timestamp(DAY_2024_01_01 * USECS_PER_DAY + ms * 1000, 3);
		put_char(',');
		put_int(below(INT64_C(1000000000000)));
		put_char(',');
		put_decimal(below(INT64_C(10000000000000000)), 13);
		put_char(',');
		put_int(below(kinds));
		put_text(",row ");
		put_int(i + 1);
		end_row();
	}
}

static const char *const words[] = {
	"search", "price", "новости", "погода", "video", "карта", "forum", "купить",
	"download", "форум", "music", "онлайн", "photo", "работа", "index", "каталог"
};

static const char *
word(void)
{
	return words[below(16)];
}

/* A quoted field; now and then with what makes quoting necessary */
static void
put_title(int n)
{
	put_char('"');
	for (int i = 0; i < n; i++)
	{
		if (i > 0)
			put_text(below(12) == 0 ? ", " : " ");
		if (below(60) == 0)
		{
			put_text("\"\"");
			put_text(word());
			put_text("\"\"");
		}
		else
			put_text(word());
	}
	put_char('"');
}

static void
put_url(int length)
{
	static const char ascii[] = "abcdefghijklmnopqrstuvwxyz0123456789/=&?_-.%";
	char	   *end;

	put_char('"');
	end = at + length;
	put_text("http://example.com/");
	while (at < end)
	{
		uint64_t	r = rnd();

		for (int i = 0; i < 8 && at < end; i++, r >>= 8)
			put_char(ascii[r % 44]);
	}
	put_char('"');
}

/* The kinds of columns that ClickBench's table "hits" has, in their order */
typedef struct HitsColumn
{
	char		kind;			/* see hits_column() */
	int			repeat;
	int64_t		limit;
} HitsColumn;

static const HitsColumn hits_columns[] = {
	{'b', 1, 0},				/* WatchID */
	{'i', 1, 2},				/* JavaEnable */
	{'t', 1, 9},				/* Title */
	{'i', 1, 2},				/* GoodEvent */
	{'e', 1, 0},				/* EventTime, EventDate, CounterID */
	{'n', 1, 0},				/* ClientIP */
	{'i', 1, 60000},			/* RegionID */
	{'u', 1, 0},				/* UserID */
	{'i', 1, 3}, {'i', 2, 90},	/* CounterClass, OS, UserAgent */
	{'l', 1, 115}, {'l', 1, 85},	/* URL, Referer */
	{'i', 1, 2},				/* IsRefresh */
	{'i', 1, 15000}, {'i', 1, 2000}, {'i', 1, 15000}, {'i', 1, 2000},
	{'i', 2, 2000}, {'i', 1, 33},	/* Resolution... */
	{'i', 2, 12},				/* FlashMajor, FlashMinor */
	{'w', 1, 4},				/* FlashMinor2 */
	{'i', 2, 2}, {'i', 1, 40},	/* NetMajor, NetMinor, UserAgentMajor */
	{'w', 1, 2},				/* UserAgentMinor */
	{'i', 3, 2}, {'i', 1, 100},	/* CookieEnable to MobilePhone */
	{'s', 2, 9},				/* MobilePhoneModel, Params */
	{'i', 1, 4000000}, {'i', 1, 9}, {'i', 1, 70},
	{'p', 1, 6},				/* SearchPhrase */
	{'i', 2, 2}, {'i', 2, 2000}, {'i', 1, 900},
	{'c', 1, 0},				/* ClientEventTime */
	{'i', 2, 6}, {'i', 1, 60000}, {'i', 1, 2},	/* Silverlight... */
	{'w', 1, 7},				/* PageCharset */
	{'i', 1, 2000}, {'i', 3, 2},	/* CodeVersion to IsNotBounce */
	{'u', 1, 0},				/* FUniqID */
	{'l', 1, 60},				/* OriginalURL */
	{'n', 1, 0},				/* HID */
	{'i', 5, 2},				/* IsOldCounter to WithHash */
	{'h', 1, 0},				/* HitColor */
	{'c', 1, 0},				/* LocalEventTime */
	{'i', 1, 55}, {'i', 1, 3}, {'i', 1, 4}, {'i', 1, 9000}, {'i', 1, 10},
	{'n', 3, 0},				/* RemoteIP, WindowName, OpenerName */
	{'i', 1, 60},				/* HistoryLength */
	{'w', 2, 2},				/* BrowserLanguage, BrowserCountry */
	{'s', 2, 6},				/* SocialNetwork, SocialAction */
	{'i', 1, 2}, {'i', 6, 3000},	/* HTTPError, timings */
	{'i', 1, 2},				/* SocialSourceNetworkID */
	{'s', 1, 12},				/* SocialSourcePage */
	{'z', 1, 0},				/* ParamPrice */
	{'s', 1, 8}, {'w', 1, 3},	/* ParamOrderID, ParamCurrency */
	{'i', 1, 2},				/* ParamCurrencyID */
	{'s', 10, 5},				/* OpenstatServiceName to FromTag */
	{'i', 1, 2},				/* HasGCLID */
	{'b', 2, 0},				/* RefererHash, URLHash */
	{'i', 1, 3},				/* CLID */
};

static void
hits_column(const HitsColumn *column, int64_t usecs, int counter)
{
	switch (column->kind)
	{
		case 'b':				/* any bigint */
			put_int((int64_t) rnd());
			break;
		case 'u':				/* a user, often the same */
			put_int((int64_t) (UINT64_C(0x1234567890ab) * (1 + below(4096))));
			break;
		case 'n':				/* any integer */
			put_int((int32_t) rnd());
			break;
		case 'z':
			put_int(below(20) == 0 ? below(100000) : 0);
			break;
		case 'i':				/* a small integer, often 0 */
			put_int(below(3) == 0 ? 0 : below(column->limit));
			break;
		case 'e':
			put_timestamp(usecs, 0);
			put_char(',');
			put_date((int) (usecs / USECS_PER_DAY));
			put_char(',');
			put_int(counter);
			break;
		case 'c':
			put_timestamp(usecs + below(7200) * USECS_PER_SEC, 0);
			break;
		case 't':
			put_title(2 + (int) below(column->limit));
			break;
		case 'p':				/* rarely there */
			put_title(below(8) == 0 ? (int) below(column->limit) : 0);
			break;
		case 'l':
			put_url(25 + (int) below(2 * column->limit - 50));
			break;
		case 'h':
			put_char('"');
			put_char('0' + below(6));
			put_char('"');
			break;
		default:				/* 'w' always, 's' rarely has a value */
			put_char('"');
			if (column->kind == 'w' || below(10) == 0)
				for (int i = 0; i < (int) column->limit; i++)
					put_char('a' + below(26));
			put_char('"');
	}
}

/*
 * By counter, in a counter by day, in a day in no order, as ClickBench's file.
 * Counters differ in size: their ends are squares.
 */
static void
hits(int64_t rows)
{
	const int	counters = rows < 10000 ? 3 : (int) (rows / 2500);
	int64_t		first = 0;
	int			counter = 0;

	for (int64_t i = 0; i < rows; i++)
	{
		int64_t		end = (int64_t) ((__int128) rows * (counter + 1) * (counter + 1) / counters / counters);
		int64_t		day,
					usecs;

		while (i >= end)
		{
			first = end;
			counter++;
			end = (int64_t) ((__int128) rows * (counter + 1) * (counter + 1) / counters / counters);
		}
		day = DAY_2013_07_01 + 31 * (i - first) / (end - first);
		usecs = day * USECS_PER_DAY + below(86400) * USECS_PER_SEC;
		for (size_t c = 0; c < sizeof(hits_columns) / sizeof(hits_columns[0]); c++)
			for (int n = 0; n < hits_columns[c].repeat; n++)
			{
				if (c > 0 || n > 0)
					put_char(',');
				hits_column(&hits_columns[c], usecs, 100 + 37 * counter);
			}
		end_row();
	}
}

/* TPC-H's ranges: by order, each of up to seven lines shipped days later */
static void
lineitem(int64_t rows)
{
	static const char *const instruct[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"};
	static const char *const mode[] = {"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"};
	static const char *const comment[] = {"carefully", "quickly", "furiously", "deposits", "requests",
	"accounts", "packages", "sleep", "haggle", "among the", "final", "regular"};
	const int	current = DAY_1992_01_01 + 1263;	/* 1995-06-17 */
	int64_t		order = 0;
	int			line = 0,
				lines = 0,
				ordered = 0;

	for (int64_t i = 0; i < rows; i++)
	{
		int64_t		quantity = 1 + below(50),
					part = 1 + below(200000);
		int			shipped,
					received;

		if (++line > lines)
		{
			order++;
			line = 1;
			lines = 1 + (int) below(7);
			ordered = DAY_1992_01_01 + (int) below(2406);
		}
		shipped = ordered + 1 + (int) below(121);
		received = shipped + 1 + (int) below(30);
		put_int((order - 1) / 8 * 32 + (order - 1) % 8 + 1);
		put_char(',');
		put_int(part);
		put_char(',');
		put_int(1 + below(10000));
		put_char(',');
		put_int(line);
		put_char(',');
		put_decimal(quantity * 100, 2);
		put_char(',');
		put_decimal(quantity * (90000 + part / 10 % 20001 + 100 * (part % 1000)), 2);
		put_char(',');
		put_decimal(below(11), 2);
		put_char(',');
		put_decimal(below(9), 2);
		put_char(',');
		put_char(received > current ? 'N' : "RA"[below(2)]);
		put_char(',');
		put_char(shipped > current ? 'O' : 'F');
		put_char(',');
		put_date(shipped);
		put_char(',');
		put_date(ordered + 30 + (int) below(61));
		put_char(',');
		put_date(received);
		put_char(',');
		put_text(instruct[below(4)]);
		put_char(',');
		put_text(mode[below(7)]);
		put_char(',');
		for (int n = 1 + (int) below(4); n > 0; n--)
		{
			put_text(comment[below(12)]);
			if (n > 1)
				put_char(' ');
		}
		end_row();
	}
}

/* A permutation of 0 .. rows - 1: a Feistel network, walked until in range */
static int64_t
scatter(int64_t i, int64_t rows)
{
	int			half = 1;

	while ((INT64_C(1) << (2 * half)) < rows)
		half++;
	do
	{
		uint64_t	mask = (UINT64_C(1) << half) - 1,
					left = (uint64_t) i >> half,
					right = (uint64_t) i & mask;

		for (int round = 0; round < 4; round++)
		{
			uint64_t	f = (right + round + 1) * UINT64_C(0x9e3779b97f4a7c15),
						next = left ^ (f >> 40 & mask);

			left = right;
			right = next;
		}
		i = (int64_t) (left << half | right);
	} while (i >= rows);
	return i;
}

/* Unique keys with gaps, tabs between the fields */
static void
objects(int64_t rows, const char *order)
{
	bool		random = strcmp(order, "random") == 0;

	for (int64_t i = 0; i < rows; i++)
	{
		put_int(1000 * (random ? scatter(i, rows) : i) + below(1000));
		put_char('\t');
		put_int(below(2000000));
		put_char('\t');
		put_int(below(2000000000));
		end_row();
	}
}

int
main(int argc, char **argv)
{
	const char *workload = argc == 4 ? argv[1] : "";
	int64_t		rows = argc == 4 ? atoll(argv[2]) : 0;

	state = 20130701;
	if (strcmp(workload, "metrics") == 0)
		metrics(rows);
	else if (strcmp(workload, "events") == 0)
		events(rows, argv[3], 1000000);
	else if (strcmp(workload, "readings") == 0)
		events(rows, argv[3], 1000);
	else if (strcmp(workload, "hits") == 0)
		hits(rows);
	else if (strcmp(workload, "lineitem") == 0)
		lineitem(rows);
	else if (strcmp(workload, "objects") == 0)
		objects(rows, argv[3]);
	else
	{
		fputs("usage: generate metrics|events|hits|lineitem|objects ROWS random|nearly|sorted\n", stderr);
		return 2;
	}
	flush();
	return fflush(stdout) == 0 ? 0 : 1;
}
