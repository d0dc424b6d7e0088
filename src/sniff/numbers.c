/*-------------------------------------------------------------------------
 *
 * sniff/numbers.c
 *	  How numbers are written that PostgreSQL does not read as they are.
 *
 *	 value ──► the formats that it fits ──► those that all of a column fit
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "sniff/steps.h"

/* Exponents that fit into a double precision */
#define FC_NUMBER_EXPONENT	300

const FcNumberWay fc_number_ways[FC_NUMBER_WAYS] = {
	{"", FC_DECIMAL_COMMA, "1234,56"},
	{".", FC_DECIMAL_COMMA, "1.234,56"},
	{" ", FC_DECIMAL_COMMA, "1 234,56"},
	{FC_BLANK_UNBROKEN, FC_DECIMAL_COMMA, "1" FC_BLANK_UNBROKEN "234,56"},
	{FC_BLANK_NARROW, FC_DECIMAL_COMMA, "1" FC_BLANK_NARROW "234,56"},
	{"'", FC_DECIMAL_COMMA, "1'234,56"},
	{"\xE2\x80\x99", FC_DECIMAL_COMMA, "1\xE2\x80\x99" "234,56"},
	{",", FC_DECIMAL_POINT, "1,234.56"},
	{" ", FC_DECIMAL_POINT, "1 234.56"},
	{FC_BLANK_UNBROKEN, FC_DECIMAL_POINT, "1" FC_BLANK_UNBROKEN "234.56"},
	{FC_BLANK_NARROW, FC_DECIMAL_POINT, "1" FC_BLANK_NARROW "234.56"},
	{"'", FC_DECIMAL_POINT, "1'234.56"},
	{"\xE2\x80\x99", FC_DECIMAL_POINT, "1\xE2\x80\x99" "234.56"}
};

bool
fc_numbers_exponent(const char *s, const char *end, bool *exponent)
{
	char	   *after;
	long		value;

	*exponent = (s < end);
	if (s == end)
		return true;
	if ((*s != 'e' && *s != 'E') || end - s < 2 || end - s > 6)
		return false;
	value = strtol(s + 1, &after, 10);
	return after == end && !isspace((unsigned char) s[1]) &&
		value >= -FC_NUMBER_EXPONENT && value <= FC_NUMBER_EXPONENT;
}

static size_t
fc_numbers_digits(const char *s)
{
	return strspn(s, "0123456789");
}

const char *
fc_numbers_blank(const char *s, size_t len, bool ends)
{
	static const char *const blanks[] = {FC_BLANK_UNBROKEN, FC_BLANK_NARROW, FC_BLANK_BYTE};

	for (int i = 0; i < lengthof(blanks) && GetDatabaseEncoding() == PG_UTF8; i++)
	{
		size_t		n = strlen(blanks[i]);

		if (len >= n && memcmp(ends ? s + len - n : s, blanks[i], n) == 0)
			return blanks[i];
	}
	return "";
}

/*
 * Bytes of the separator of thousands that stands at s, or 0.  A blank stands
 * for those that break no line, as in a load (row/edit.c).
 */
static size_t
fc_numbers_group(const char *s, const char *group)
{
	size_t		len = strlen(group);

	if (strncmp(s, group, len) == 0)
		return len;
	return *group == ' ' ? strlen(fc_numbers_blank(s, strlen(s), false)) : 0;
}

/*
 * Skips the digits before a fraction; returns how many, -1 if groups have a
 * wrong size.  Before 0.123 stands no thousand.
 */
static int
fc_numbers_whole(const char **s, const char *group)
{
	const char *start = *s;
	size_t		len;
	int			n = (int) fc_numbers_digits(start);

	*s += n;
	if (fc_numbers_group(*s, group) == 0)
		return n;
	if (n < 1 || n > 3 || *start == '0')
		return -1;
	while ((len = fc_numbers_group(*s, group)) > 0)
	{
		if (fc_numbers_digits(*s + len) != 3)
			return -1;
		*s += len + 3;
		n += 3;
	}
	return n;
}

/* Does the number fit format number n?  Then adds what it has. */
static void
fc_numbers_fit(const char *s, const char *end, int n, FcNumberShape *shape)
{
	int			decimal = fc_number_ways[n].decimal;
	int			whole = fc_numbers_whole(&s, fc_number_ways[n].group);
	int			fraction = 0;
	bool		exponent;

	if (whole < 0)
		return;
	if (*s == (decimal == FC_DECIMAL_COMMA ? ',' : '.'))
	{
		fraction = (int) fc_numbers_digits(++s);
		if (fraction == 0)
			return;
		s += fraction;
	}
	if (whole + fraction == 0 || !fc_numbers_exponent(s, end, &exponent))
		return;
	shape->formats |= FC_NUMBER_BIT(n);
	shape->digits = whole + fraction;
	shape->decimals[decimal] = fraction;
	shape->exponent = exponent;
}

bool
fc_numbers_shape(const char *s, const char *end, FcNumberShape *shape)
{
	size_t		digits = fc_numbers_digits(s);

	memset(shape, 0, sizeof(FcNumberShape));
	if (digits > 0 && s + digits == end)
	{
		shape->formats = FC_NUMBER_ALL;
		shape->digits = (int) digits;
		return true;
	}
	if (digits == 0 && *s != '.' && *s != ',')
		return false;
	for (int i = 0; i < FC_NUMBER_WAYS; i++)
		fc_numbers_fit(s, end, i, shape);
	return shape->formats != 0;
}

static void
fc_numbers_widen(int range[2], int n, bool first)
{
	range[0] = first ? n : Min(range[0], n);
	range[1] = first ? n : Max(range[1], n);
}

void
fc_numbers_add(FcNumbersSeen *seen, const FcNumberShape *shape, const char *s, size_t len)
{
	bool		first = seen->values++ == 0;

	seen->formats = first ? shape->formats : seen->formats & shape->formats;
	fc_numbers_widen(seen->digits, shape->digits, first);
	for (int i = 0; i < FC_DECIMALS; i++)
		fc_numbers_widen(seen->decimals[i], shape->decimals[i], first);
	seen->exponent |= shape->exponent;
	if (seen->example == NULL && shape->formats != FC_NUMBER_ALL)
		seen->example = pnstrdup(s, len);
}
