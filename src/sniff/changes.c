/*-------------------------------------------------------------------------
 *
 * sniff/changes.c
 *	  What a type changes of a value in print.
 *
 * Types are chosen so that a value comes out as it came in, but for usual
 * forms; where that cannot be, a comment shows a value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "common/shortest_dec.h"

#include "sniff/steps.h"

/* Any number of so many digits is a double precision, and none with more */
#define FC_DIGITS_SAFE	15
#define FC_DIGITS_MOST	17

/* Digits of a fraction of a second that a moment keeps */
#define FC_DIGITS_MICRO	6

/* Digits after the point of a version, at most */
#define FC_DIGITS_VERSION	3

/* From so many digits on integers can only be nanoseconds */
#define FC_DIGITS_NANO	18

/*
 * Copies the digits of a number between its first and its last that is not
 * zero, but no more than room for these is; returns how many
 */
static int
fc_changes_digits(const char *s, size_t len, char *digits, int room)
{
	int			n = 0;
	int			last = 0;

	for (size_t i = 0; i < len && s[i] != 'e' && s[i] != 'E' && n < room; i++)
	{
		if (!isdigit((unsigned char) s[i]) || (n == 0 && s[i] == '0'))
			continue;
		digits[n++] = s[i];
		if (s[i] != '0')
			last = n;
	}
	return last;
}

/* Does a double precision print another number? */
static bool
fc_changes_double(const char *s, size_t len, int kinds)
{
	char		digits[FC_DIGITS_MOST + 1];
	char		printed[DOUBLE_SHORTEST_DECIMAL_LEN];
	char		kept[DOUBLE_SHORTEST_DECIMAL_LEN];
	int			n = fc_changes_digits(s, len, digits, sizeof(digits));
	char	   *copy;
	int			length;

	if (n <= FC_DIGITS_SAFE)
		return false;
	if (n > FC_DIGITS_MOST || (kinds & FC_VALUE_BIT(FC_VALUE_NUMBER)) == 0)
		return true;
	copy = pnstrdup(s, len);
	length = double_to_shortest_decimal_buf(strtod(copy, NULL), printed);
	pfree(copy);
	return fc_changes_digits(printed, length, kept, sizeof(kept)) != n || memcmp(digits, kept, n) != 0;
}

/* Is it an integer and an exponent, with no sign between, as programs write? */
static bool
fc_changes_power(const char *s, size_t len)
{
	size_t		before = strspn(s, "0123456789");

	return before > 0 && before + 1 < len && (s[before] == 'e' || s[before] == 'E') &&
		before + 1 + strspn(s + before + 1, "0123456789") >= len;
}

/* Where the digits after the last point or comma begin, or the end */
static size_t
fc_changes_fraction(const char *s, size_t len)
{
	size_t		at = len;

	while (at > 0 && s[at - 1] != '.' && s[at - 1] != ',')
		at--;
	return at > 0 ? at : len;
}

/* Has a moment other digits than zero after its microseconds? */
static bool
fc_changes_micro(const char *s, size_t len, int kinds)
{
	size_t		at = fc_changes_fraction(s, len) + FC_DIGITS_MICRO;

	if (kinds & FC_VALUE_BIT(FC_VALUE_INTEGER))
		return len >= FC_DIGITS_NANO && memcmp(s + len - 3, "000", 3) != 0;
	while (at < len && s[at] == '0')
		at++;
	return at < len && isdigit((unsigned char) s[at]);
}

/*
 * Is it a fraction that may be the rest of a version: "10", but not "00", and
 * not many digits?
 */
static bool
fc_changes_zero(const char *fraction, size_t len)
{
	return len > 1 && len <= FC_DIGITS_VERSION && fraction[len - 1] == '0' && fraction[len - 2] != '0' &&
		strspn(fraction, "0123456789") >= len;
}

int
fc_changes_of(const char *s, size_t len, int kinds)
{
	const int	moments = FC_VALUE_BIT(FC_VALUE_TIME) | FC_VALUE_BIT(FC_VALUE_TIMESTAMPTZ);
	bool		number = (kinds & (FC_VALUE_BIT(FC_VALUE_NUMBER) | FC_VALUE_BIT(FC_VALUE_COMMA))) != 0;
	size_t		fraction = fc_changes_fraction(s, len);
	int			changes = 0;

	if ((number || (kinds & moments)) && fc_changes_micro(s, len, kinds))
		changes |= 1 << FC_CHANGE_MICRO;
	if (!number)
		return changes;
	if (*s == '+')
		changes |= 1 << FC_CHANGE_PLUS;
	if (fc_changes_power(s, len))
		changes |= 1 << FC_CHANGE_POWER;
	if (fc_changes_double(s, len, kinds))
		changes |= 1 << FC_CHANGE_DIGITS;
	if (fc_changes_zero(s + fraction, len - fraction))
		changes |= 1 << FC_CHANGE_ZERO;
	return changes;
}
