/*-------------------------------------------------------------------------
 *
 * copyfrom/hint_value.c
 *	  How a value may be meant that its type refuses.
 *
 * A moment may be a number, a week, or have its day first; a number may have a
 * comma, or decimal places that an integer has none of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "copyfrom/hint_value.h"

#define FC_HINT_DIGITS	"0123456789"

/* Units of moments that are numbers, by the number of digits of those now */
static const struct
{
	int			digits;
	const char *pattern;
	const char *unit;
}			fc_hint_epochs[] = {
	{10, "epoch_s", "seconds"},
	{13, "epoch_ms", "milliseconds"},
	{16, "epoch_us", "microseconds"},
	{19, "epoch_ns", "nanoseconds"},
};

/* Returns the option that gives the column a pattern */
static char *
fc_hint_format(const FcRefused *refused, const char *pattern)
{
	const FcTarget *target = refused->target;
	const char *arrow = fc_caller_arrow(target->options->caller);

	if (target->plan->key.attnum == get_attnum(target->oid, refused->column))
		return psprintf("timestamp_format%s '%s'", arrow, pattern);
	return psprintf("timestamp_format%s '{\"%s\": \"%s\"}'", arrow, refused->column, pattern);
}

/* Does the value begin with two numbers of one or two digits and a year? */
static char *
fc_hint_date(const char *value)
{
	int			first;
	int			second;
	int			year;
	int			n = 0;

	if (sscanf(value, "%2d%*1[/.-]%2d%*1[/.-]%4d%n", &first, &second, &year, &n) != 3 ||
		n == 0 || year < 1000)
		return NULL;
	if (first > 12 && first <= 31 && second >= 1 && second <= 12)
		return pstrdup("If the day comes first, SET datestyle = 'ISO, DMY' before.");
	if (second > 12 && second <= 31 && first >= 1 && first <= 12)
		return pstrdup("If the month comes first, SET datestyle = 'ISO, MDY' before.");
	return NULL;
}

static char *
fc_hint_moment(const FcRefused *refused)
{
	const char *value = refused->value;
	size_t		digits = strspn(value, FC_HINT_DIGITS);
	size_t		len = strlen(value);
	int			week;
	int			n = 0;

	for (int i = 0; i < lengthof(fc_hint_epochs); i++)
		if (digits == fc_hint_epochs[i].digits &&
			(digits == len || (i == 0 && value[digits] == '.' &&
							   digits + 1 + strspn(value + digits + 1, FC_HINT_DIGITS) == len)))
			return psprintf("If these are %s since 1970, add %s.", fc_hint_epochs[i].unit,
							fc_hint_format(refused, fc_hint_epochs[i].pattern));
	if (sscanf(value, "%*4d-W%2d-%*1d%n", &week, &n) == 1 && n == (int) len)
		return psprintf("If these are weeks of ISO 8601, add %s.",
						fc_hint_format(refused, "IYYY-\"W\"IW-ID"));
	return fc_hint_date(value);
}

static char *
fc_hint_number(const FcRefused *refused, bool integer)
{
	const char *value = refused->value;
	size_t		len = strlen(value);

	if (strpbrk(value, FC_HINT_DIGITS) == NULL || strspn(value, FC_HINT_DIGITS "+-.,") != len)
		return NULL;
	if (strchr(value, ','))
		return psprintf("If \"%s\" is a number, load it into a column of type text and convert it there, or change the file: PostgreSQL reads no commas in numbers.",
						value);
	if (integer && strchr(value, '.') && strchr(value, '.') == strrchr(value, '.'))
		return pstrdup("If the values may have decimal places, give the column type numeric or double precision.");
	return NULL;
}

char *
fc_hint_of_type(const FcRefused *refused)
{
	const FcTarget *target = refused->target;
	AttrNumber	attnum = get_attnum(target->oid, refused->column);
	size_t		len = strlen(refused->value);

	if (attnum <= 0)
		return NULL;
	if (len >= 2 && refused->value[0] == '\'' && refused->value[len - 1] == '\'' &&
		fc_format_is_csv(&target->options->format))
		return psprintf("If fields are quoted by \"'\", add quote%s ''''.",
						fc_caller_arrow(target->options->caller));
	switch (getBaseType(get_atttype(target->oid, attnum)))
	{
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case DATEOID:
			return fc_hint_moment(refused);
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return fc_hint_number(refused, true);
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return fc_hint_number(refused, false);
		default:
			return NULL;
	}
}
