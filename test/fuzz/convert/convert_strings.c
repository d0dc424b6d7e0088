/*
 * convert_strings.c
 *	  Strings that may or may not be values of a type.
 *
 * A type has patterns: text in which "%" and a letter stand for something
 * random (see expand_*).  A third of the strings is then mutated.  Most are
 * plain and valid, because that is what the conversions take; the others are
 * near misses.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

#include "convert_strings.h"

static const char *const int_patterns[] = {
	"%S%n", "%S%n", "%S%n", "-%n", "%S%N", "%I", "%I", "%I", "0%n", "%n.%n",
	"0x%x%x%x", "0b1011", "0o17", "%n_%n", "_%n", "%n_", "%w%n%w", "%n%e", "%l",
	NULL
};

static const char *const float_patterns[] = {
	"%S%n", "%S%n.%n", "%S%n.%n", "-%n.%n", "%S%N.%N", "%S%n.%n%e", "%S%n%e",
	"%S%N.%N%e", "%S.%n", "%S%n.", "%S%N", "%R", "%R", "%G", "%G", "%H", "%H",
	"0.%N", "0.0000%n", "%S%n.%N%N", "%H%N", "%H00000000%N", "0.00000000000%N%N",
	"0000000000000000%n.%N", "%w%S%n.%n%w", "0x%x%x.%xp%d", "%l", "%n_%n.%n", "-0",
	NULL
};

static const char *const numeric_patterns[] = {
	"%S%n", "%S%n.%n", "%S%n.%n", "-%n.%n", "%S%N.%N", "%S%N", "%S.%n", "%S%n.",
	"%S%n.%d%d", "-%n.%d%d", "%n0000.0000%n", "%n00000000", "0.0000%n", "0%n.%n0",
	"0.00", "-0.0", "%S%N%N%N%N.%N%N%N", "%N%N%N%N%N%N%N%N%N%N", "%S%n.%n%e",
	"9999.9%d", "99999999.99%d", "0.9999%d", "9.%N%N%N%N", "%w%n.%n%w", "%n_%n",
	"0x%x%x", "%l", "-%l",
	NULL
};

static const char *const date_patterns[] = {
	"%A", "%A", "%A", "%A", "%A", "%Y/%M/%D", "%Y%M%D", "%Y.%M.%D", "%Y-%M/%D",
	"%y-%M-%D", "%M/%D/%Y", "%D.%M.%Y", "%M-%D-%y", "%Y-%n-%n", "%D-Jan-%Y",
	"Feb %D, %Y", "%A BC", "J%n", "%Y.%d%d%d", "%A %T", "%w%A%w", "%l", "%Y",
	"y%Ym%Md%D", "%Y%M", "%y%M%D",
	NULL
};

static const char *const time_patterns[] = {
	"%T", "%T", "%T", "%T", "%T.%d", "%h:%m", "%h%m%s", "%h:%m.%f", "%T am",
	"%h:%m PM", "%Tz", "%T%z", "T%T", "24:00:00", "24:00:00.000001", "23:59:60",
	"23:59:59.9999999", "23:59:59.9999995", "%T,%f", "%h:%m:%n", "%n:%m:%s",
	"%w%T%w", "%A %T", "%h:%m:", "%l",
	NULL
};

static const char *const timestamp_patterns[] = {
	"%A %T", "%A %T", "%A %T", "%AT%T", "%A %T%z", "%AT%T%z", "%AT%TZ", "%A", "%A",
	"%A %T %z", "%A %h:%m", "%A %h:%m%z", "%A%z", "%A Z", "%At%Tz", "%A %T %Z",
	"%A %T%Z", "%A %T BC", "%A %T%z BC", "%Y/%M/%D %T", "%Y%M%D %T", "%Y%M%DT%h%m%s",
	"%Y%M%D%h%m%s", "%M/%D/%Y %T", "%D.%M.%Y %T", "%y-%M-%D %T", "%T %A", "%A  %T",
	"%A 24:00:00", "%A 23:59:60", "%A 23:59:59.9999999%z", "%A_%T", "%A-%T",
	"%w%A %T%w", "Sat %D Feb %T %Y", "%A %T PM", "%A,%T", "%l", "%L", "%L", "%L",
	"J%n", "%A allballs", "%A %h", "%A T%T", "%A Z %T",
	NULL
};

static const char *const bool_patterns[] = {
	"t", "f", "true", "false", "1", "0", "yes", "no", "on", "off", "TRUE", "False",
	"y", "n", "tr", "fal", "o", "of", "11", "", "%w%l", "%wtrue%w", "%l", "truee",
	NULL
};

static const char *const uuid_patterns[] = {
	"%u", "%u", "%u", "{%u}", "%b%b%b%b%b%b%b%b%b%b%b%b%b%b%b%b", "%u%x", "%w%u",
	"%b%b-%b%b-%b%b-%b%b-%b%b-%b%b-%b%b-%b%b", "%b%b%b%b%b-%b-%b%b-%b%b-%b%b%b%b%b%b",
	NULL
};

static const char *const bytea_patterns[] = {
	"\\x%b%b%b%b", "\\x", "\\x%b", "\\x%b %b", "\\x%b%x", "\\X%b", "%c%c%c%c",
	"abc", "", "%c\\\\%c", "\\%d%d%d", "\\0%d%d%c", "a\\%d", "\\\\x%b", "\\",
	"\\x%b%b%b%b%b%b%b%b%b%b%b%b%b%b%b%b", "\\000\\377\\400", "\\x\\x", "\\x%b\\000",
	NULL
};

static const char *const text_patterns[] = {
	"", "%c", "%c%c", "%c%c%c", "%c%c%c%c", "%c%c%c%c%c", "%c%c%c%c%c%c", "%c%c  ",
	"%c%c%c%c%c   ", "     ", "      ", " %c%c%c%c ", "abcde", "abcdef", "abcd ",
	"%n", "%l", "%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c",
	/* around the most bytes that a short header takes */
	"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
	"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij%n%c",
	NULL
};

static const char *const json_patterns[] = {
	"{\"a\": %n}", "[%n, %n]", "\"%c\"", "%l", "%n", "{", "null", "true",
	NULL
};

static const char *const literals[] = {
	"infinity", "-infinity", "Infinity", "inf", "+inf", "NaN", "nan", "epoch", "null",
	"true", "false", "", " ", "-", "+", ".", "e5", "1e", "1e+", "--1", "0x", "1e400",
	"1e-400", "1e39", "4e-46", "9007199254740993", "1.7976931348623159e308",
	"18446744073709551616", "0000-01-01", "10000-01-01", "5874897-12-31",
	"294276-12-31 23:59:59.999999", "4713-01-01 BC", "2000-02-30", "1900-02-29",
	"2000-02-29", "allballs", "Z", "T",
	NULL
};

static const char *const spaces[] = {" ", "  ", "\t", "\n", "", "\v", NULL};

static const char *const zone_names[] = {
	" UTC", "UTC", " Europe/Berlin", " america/new_york", " EST", " PDT", " CEST",
	" IST", " ACST", " Zulu", "Z", " z", " MSK", " +05:30:15", "+123", "+1", "-16",
	NULL
};

/*
 * Local times around a change of the clock, a day later (which is how far back
 * core begins to look for it), and at the ends of tables of changes.  The first
 * four come most often, so that they follow each other.
 */
static const char *const changes[] = {
	"2013-03-31 0", "2013-04-01 0", "2013-10-27 0", "2013-10-28 0", "2013-03-10 0",
	"2013-03-11 0", "2013-11-03 0", "2013-11-04 0", "2013-04-07 0", "2013-04-08 0",
	"2013-10-06 0", "1893-04-01 0", "1883-11-18 1", "1945-09-01 0", "1941-10-01 0",
	"2037-12-31 2", "2038-01-19 0", "2037-10-25 0", "2038-03-28 0", "2438-03-28 0",
	"1901-12-13 2", "1981-03-01 0", "2008-04-06 0",
	NULL
};

static const char mutation_bytes[] = "0123456789+-.:/eE_xTZ tzBC\t\\{},'\"INFnaf";

/* characters of 1 to 4 bytes */
static const char *const characters[] = {
	"a", "B", "7", " ", "\\", ",", "\"", "'", "\xc3\xa4", "\xe2\x82\xac",
	"\xf0\x9f\x98\x80", "\xce\xa9", "\xc2\xa0", NULL
};

static uint64
number_between(pg_prng_state *prng, uint64 low, uint64 high)
{
	return pg_prng_uint64_range(prng, low, high);
}

static bool
one_in(pg_prng_state *prng, int n)
{
	return number_between(prng, 1, n) == 1;
}

static const char *
one_of(pg_prng_state *prng, const char *const *list)
{
	int			n = 0;

	while (list[n] != NULL)
		n++;
	return list[number_between(prng, 0, n - 1)];
}

static void
put_digits(pg_prng_state *prng, StringInfo buf, int least, int most)
{
	int			n = number_between(prng, least, most);

	while (n-- > 0)
		appendStringInfoChar(buf, '0' + number_between(prng, 0, 9));
}

/* Two digits from low to high, seldom a bit beyond */
static void
put_two(pg_prng_state *prng, StringInfo buf, int low, int high)
{
	if (one_in(prng, 60))
		low = high = number_between(prng, 0, 1) ? high + 1 : Max(low - 1, 0);
	appendStringInfo(buf, "%02d", (int) number_between(prng, low, high));
}

/* Numbers at the ends of the integers' ranges, and of their digits */
static void
put_edge(pg_prng_state *prng, StringInfo buf)
{
	static const uint64 edges[] = {
		0, 10, 32768, 65536, 2147483648, 4294967296, 1000000000000000000,
		UINT64CONST(9223372036854775808), UINT64CONST(10000000000000000000)
	};
	uint64		edge = edges[number_between(prng, 0, lengthof(edges) - 1)];

	if (one_in(prng, 2))
		appendStringInfoChar(buf, '-');
	appendStringInfo(buf, UINT64_FORMAT,
					 edge + number_between(prng, 0, 4) - (edge > 2 ? 2 : 0));
}

/* Any double, as short as it can be, or with too many or too few digits */
static void
put_double(pg_prng_state *prng, StringInfo buf, bool any)
{
	double		number;
	uint64		bits = pg_prng_uint64(prng);

	if (any)
		memcpy(&number, &bits, sizeof(double));
	else
		number = (double) (int64) bits / pow(10, number_between(prng, 0, 30));
	appendStringInfo(buf, "%.*g", (int) number_between(prng, 6, 19), number);
}

/* The middle between two floats or doubles, or a little off */
static void
put_middle(pg_prng_state *prng, StringInfo buf)
{
	bool		single = one_in(prng, 2);
	uint64		odd = number_between(prng, UINT64CONST(1) << (single ? 24 : 53),
									 UINT64CONST(1) << (single ? 25 : 54)) | 1;
	int			power = number_between(prng, 0, single ? 20 : 5);

	/* so many digits that the double is the middle, but the string is not */
	if (one_in(prng, 3))
	{
		appendStringInfo(buf, "%.*g", (int) number_between(prng, 14, 17),
						 ldexp((double) odd, -(int) number_between(prng, 0, 60)));
		return;
	}
	if (one_in(prng, 2))
		appendStringInfo(buf, UINT64_FORMAT, odd << power);
	else
		appendStringInfo(buf, "%.*f", power + (int) number_between(prng, 0, 1),
						 ldexp((double) odd, -power));
	if (one_in(prng, 4))
		appendStringInfoChar(buf, '1');
}

static bool
expand_number(pg_prng_state *prng, char c, StringInfo buf)
{
	static const char *const signs[] = {"", "", "", "-", "-", "+", NULL};

	switch (c)
	{
		case 'd':
			put_digits(prng, buf, 1, 1);
			return true;
		case 'n':
			put_digits(prng, buf, 1, 5);
			return true;
		case 'N':
			put_digits(prng, buf, 1, 22);
			return true;
		case 'S':
			appendStringInfoString(buf, one_of(prng, signs));
			return true;
		case 'I':
			put_edge(prng, buf);
			return true;
		case 'e':
			appendStringInfo(buf, "%c%s", one_in(prng, 2) ? 'e' : 'E',
							 one_of(prng, signs));
			put_digits(prng, buf, 1, one_in(prng, 8) ? 4 : 2);
			return true;
		case 'R':
		case 'G':
			put_double(prng, buf, c == 'G');
			return true;
		case 'H':
			put_middle(prng, buf);
			return true;
	}
	return false;
}

static void
put_fraction(pg_prng_state *prng, StringInfo buf)
{
	if (one_in(prng, 8))
		appendStringInfo(buf, ".%d5", (int) number_between(prng, 0, 999999));
	else if (one_in(prng, 8))
		appendStringInfoString(buf, ".9999995");
	else
	{
		appendStringInfoChar(buf, '.');
		put_digits(prng, buf, 1, one_in(prng, 4) ? 17 : 6);
	}
}

static void
put_time(pg_prng_state *prng, StringInfo buf)
{
	put_two(prng, buf, 0, 23);
	appendStringInfoChar(buf, ':');
	put_two(prng, buf, 0, 59);
	if (one_in(prng, 10))
		return;
	appendStringInfoChar(buf, ':');
	put_two(prng, buf, 0, 59);
	if (one_in(prng, 2))
		put_fraction(prng, buf);
}

static void
put_year(pg_prng_state *prng, StringInfo buf)
{
	if (one_in(prng, 6))
		put_digits(prng, buf, 4, 4);
	else
		appendStringInfo(buf, "%d", (int) number_between(prng, 1880, 2050));
}

static void
put_date(pg_prng_state *prng, StringInfo buf)
{
	put_year(prng, buf);
	appendStringInfoChar(buf, '-');
	put_two(prng, buf, 1, 12);
	appendStringInfoChar(buf, '-');
	put_two(prng, buf, one_in(prng, 8) ? 28 : 1, one_in(prng, 4) ? 31 : 28);
}

static void
put_zone(pg_prng_state *prng, StringInfo buf)
{
	appendStringInfoChar(buf, one_in(prng, 2) ? '+' : '-');
	put_two(prng, buf, 0, one_in(prng, 4) ? 16 : 14);
	if (one_in(prng, 2))
		return;
	if (!one_in(prng, 4))
		appendStringInfoChar(buf, ':');
	put_two(prng, buf, 0, 59);
	if (one_in(prng, 8))
		appendStringInfo(buf, ":%02d", (int) number_between(prng, 0, 60));
}

/* A local time near a change of the clock, to the minute */
static void
put_change(pg_prng_state *prng, StringInfo buf)
{
	if (one_in(prng, 2))
		appendStringInfoString(buf, changes[number_between(prng, 0, 3)]);
	else
		appendStringInfoString(buf, one_of(prng, changes));
	appendStringInfo(buf, "%d:%02d:%02d", (int) number_between(prng, 0, 3),
					 (int) number_between(prng, 0, 59),
					 (int) number_between(prng, 0, 59));
}

static bool
expand_time(pg_prng_state *prng, char c, StringInfo buf)
{
	switch (c)
	{
		case 'A':
			put_date(prng, buf);
			return true;
		case 'T':
			put_time(prng, buf);
			return true;
		case 'L':
			put_change(prng, buf);
			return true;
		case 'Y':
			put_year(prng, buf);
			return true;
		case 'y':
			put_digits(prng, buf, 1, 6);
			return true;
		case 'M':
			put_two(prng, buf, 1, 12);
			return true;
		case 'D':
			put_two(prng, buf, 1, 31);
			return true;
		case 'h':
			put_two(prng, buf, 0, 23);
			return true;
		case 'm':
		case 's':
			put_two(prng, buf, 0, 59);
			return true;
		case 'f':
			put_digits(prng, buf, 1, 8);
			return true;
		case 'z':
			put_zone(prng, buf);
			return true;
		case 'Z':
			appendStringInfoString(buf, one_of(prng, zone_names));
			return true;
	}
	return false;
}

static void
put_hex(pg_prng_state *prng, StringInfo buf, int n)
{
	while (n-- > 0)
		appendStringInfoChar(buf, "0123456789abcdefABCDEF"[number_between(prng, 0, 21)]);
}

static void
put_uuid(pg_prng_state *prng, StringInfo buf)
{
	static const int groups[] = {8, 4, 4, 4, 12};

	for (int i = 0; i < lengthof(groups); i++)
	{
		if (i > 0)
			appendStringInfoChar(buf, '-');
		put_hex(prng, buf, groups[i]);
	}
}

static void
expand_text(pg_prng_state *prng, char c, StringInfo buf)
{
	switch (c)
	{
		case 'c':
			appendStringInfoString(buf, one_of(prng, characters));
			break;
		case 'x':
			put_hex(prng, buf, 1);
			break;
		case 'b':
			put_hex(prng, buf, 2);
			break;
		case 'u':
			put_uuid(prng, buf);
			break;
		case 'l':
			appendStringInfoString(buf, one_of(prng, literals));
			break;
		case 'w':
			appendStringInfoString(buf, one_of(prng, spaces));
			break;
		default:
			elog(ERROR, "unknown pattern: %%%c", c);
	}
}

static const char *const *
type_patterns(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return int_patterns;
		case FLOAT4OID:
		case FLOAT8OID:
			return float_patterns;
		case NUMERICOID:
			return numeric_patterns;
		case DATEOID:
			return date_patterns;
		case TIMEOID:
			return time_patterns;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return timestamp_patterns;
		case BOOLOID:
			return bool_patterns;
		case UUIDOID:
			return uuid_patterns;
		case BYTEAOID:
			return bytea_patterns;
		case JSONOID:
		case JSONBOID:
			return json_patterns;
		default:
			return text_patterns;
	}
}

/* Deletes, doubles, replaces, adds or swaps a byte, or cuts the string */
static void
mutate(pg_prng_state *prng, StringInfo buf)
{
	char		c = mutation_bytes[number_between(prng, 0, sizeof(mutation_bytes) - 2)];
	int			at = buf->len > 0 ? number_between(prng, 0, buf->len - 1) : 0;
	char	   *tail;

	if (buf->len == 0 || one_in(prng, 5))
	{
		appendStringInfoChar(buf, c);
		return;
	}
	tail = pstrdup(buf->data + at);
	switch (number_between(prng, 0, 4))
	{
		case 0:
			buf->len = at;
			appendStringInfoString(buf, tail + 1);
			break;
		case 1:
			buf->len = at;
			appendStringInfo(buf, "%c%s", tail[0], tail);
			break;
		case 2:
			buf->data[at] = c;
			break;
		case 3:
			buf->len = at;
			appendStringInfo(buf, "%c%s", c, tail);
			break;
		case 4:
			buf->len = at;
			buf->data[at] = '\0';
			break;
	}
}

static void
put_scalar(pg_prng_state *prng, Oid typid, StringInfo buf)
{
	const char *p = one_of(prng, type_patterns(typid));

	/* often one after another: what is kept of the zone must hold */
	if (typid == TIMESTAMPTZOID && one_in(prng, 4))
		p = "%L";
	for (; *p; p++)
	{
		if (*p != '%')
			appendStringInfoChar(buf, *p);
		else if (++p, !expand_number(prng, *p, buf) &&
				 !expand_time(prng, *p, buf))
			expand_text(prng, *p, buf);
	}
}

/* Items, some with quotes; seldom as core does not take them */
static void
put_array(pg_prng_state *prng, Oid element, StringInfo buf)
{
	static const char *const nulls[] = {"NULL", "null", "Null", "nul", "{}", "\"\"", NULL};
	int			n = number_between(prng, 0, one_in(prng, 40) ? 300 : 5);

	appendStringInfoString(buf, one_in(prng, 60) ? "[2:3]={" : "{");
	for (int i = 0; i < n; i++)
	{
		bool		quoted = one_in(prng, 3);

		if (i > 0)
			appendStringInfoString(buf, one_in(prng, 60) ? ", " : ",");
		if (one_in(prng, 12))
		{
			appendStringInfoString(buf, one_of(prng, nulls));
			continue;
		}
		if (quoted)
			appendStringInfoChar(buf, '"');
		/* most patterns are not of values */
		if ((element == INT4OID || element == FLOAT8OID) && !one_in(prng, 8))
			put_digits(prng, buf, 1, 9);
		else if (!one_in(prng, 8) && element == TEXTOID)
			put_hex(prng, buf, number_between(prng, 0, 9));
		else
			put_scalar(prng, element, buf);
		if (quoted)
			appendStringInfoChar(buf, '"');
	}
	appendStringInfoChar(buf, '}');
}

void
convert_string(pg_prng_state *prng, Oid typid, StringInfo buf)
{
	Oid			element = get_element_type(typid);

	resetStringInfo(buf);
	if (OidIsValid(element))
		put_array(prng, element, buf);
	else
		put_scalar(prng, typid, buf);
	if (one_in(prng, OidIsValid(element) ? 8 : 3))
		for (int n = number_between(prng, 1, 3); n > 0; n--)
			mutate(prng, buf);
	if (!pg_verifymbstr(buf->data, buf->len, true))
		for (int i = 0; i < buf->len; i++)
			if (IS_HIGHBIT_SET(buf->data[i]))
				buf->data[i] = '?';
}
