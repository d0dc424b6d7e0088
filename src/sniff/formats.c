/*-------------------------------------------------------------------------
 *
 * sniff/formats.c
 *	  The format of the numbers of a file, for number_format.
 *
 *	 columns that prove a format ──► the one that all of these have
 *		──► columns whose numbers it reads
 *
 * A load knows one format.  One that is not certain is not proposed: 1,234 may
 * be a thousand or a fraction, and a wrong guess would load wrong numbers.
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "utils/builtins.h"

#include "sniff/steps.h"

/* Digits from which on thousands alone, all as long, may be phone numbers */
#define FC_NUMBER_LONG		7

/* The formats that all values of the column fit, or 0 */
static uint32
fc_formats_of(const FcColumnSeen *column)
{
	return column->values > 0 && column->numbers.values == column->values ?
		column->numbers.formats : 0;
}

static bool
fc_formats_is_plain(const FcColumnSeen *column)
{
	return column->values > 0 && column->kinds[FC_VALUE_NUMBER] == column->values;
}

/* Has the column points that may be meant for thousands? */
static bool
fc_formats_has_points(const FcColumnSeen *column)
{
	return fc_formats_is_plain(column) && column->decimals[1] > 0;
}

/* Are all values numbers, of which PostgreSQL does not read one? */
static bool
fc_formats_is_other(const FcColumnSeen *column)
{
	return fc_formats_of(column) != 0 && !fc_formats_is_plain(column);
}

/* The formats with this decimal separator, as bits */
static uint32
fc_formats_with(int decimal)
{
	uint32		bits = 0;

	for (int i = 0; i < FC_NUMBER_WAYS; i++)
		if (fc_number_ways[i].decimal == decimal)
			bits |= FC_NUMBER_BIT(i);
	return bits;
}

/* May the numbers have fractions by one of these formats, or none? */
static bool
fc_formats_may_be(const FcColumnSeen *column, uint32 formats, bool fractions)
{
	for (int i = 0; i < FC_DECIMALS; i++)
		if ((formats & fc_formats_with(i)) && (column->numbers.decimals[i][1] > 0) == fractions)
			return true;
	return false;
}

/*
 * Does the column itself tell which separator is which?  Thousands alone do, if
 * the numbers have different lengths.
 */
static bool
fc_formats_proves(const FcColumnSeen *column)
{
	uint32		formats = fc_formats_of(column);
	bool		fractions = fc_formats_may_be(column, formats, true);

	return fc_formats_is_other(column) &&
		(fractions ? !fc_formats_may_be(column, formats, false) :
		 column->numbers.digits[0] < column->numbers.digits[1]);
}

/* The number that the column's notes show */
static char *
fc_formats_shown(const FcTable *table, const FcColumnSeen *column)
{
	const char *example = column->numbers.example ? column->numbers.example : column->example;

	return example ? fc_sniff_shown(table, example, strlen(example), 40) : "";
}

/* Says that there is no format that both columns have */
static void
fc_formats_disagree(FcTable *table, const FcColumnSeen *a, const FcColumnSeen *b)
{
	fc_sniff_note(table->notes, "Numbers are written like \"%s\" in column %s, and like \"%s\" in column %s, and number_format knows one way: those that PostgreSQL does not read are texts.",
				  fc_formats_shown(table, a), quote_identifier(a->name),
				  fc_formats_shown(table, b), quote_identifier(b->name));
}

/*
 * Narrows the formats to those of a column that must have one; false if there
 * is none, which is said
 */
static bool
fc_formats_narrow(FcTable *table, FcColumnSeen *column, uint32 *formats, FcColumnSeen **by)
{
	if ((*formats & column->numbers.formats) == 0)
	{
		fc_formats_disagree(table, *by ? *by : column, column);
		return false;
	}
	if ((*formats & column->numbers.formats) != *formats)
		*by = column;
	*formats &= column->numbers.formats;
	return true;
}

/* The formats that the file may have, by the columns that prove one; or 0 */
static uint32
fc_formats_proven(FcTable *table)
{
	uint32		formats = FC_NUMBER_ALL;
	FcColumnSeen *by = NULL;

	if (GetDatabaseEncoding() != PG_UTF8 || table->encoding != PG_UTF8)
		for (int i = 0; i < FC_NUMBER_WAYS; i++)
			if (IS_HIGHBIT_SET(fc_number_ways[i].group[0]))
				formats &= ~FC_NUMBER_BIT(i);
	for (int i = 0; i < table->ncolumns; i++)
		if (fc_formats_proves(&table->columns[i]) &&
			!fc_formats_narrow(table, &table->columns[i], &formats, &by))
			return 0;
	if (by == NULL)
		return 0;
	/* points of others must not become thousands where they cannot be */
	for (int i = 0; i < table->ncolumns; i++)
		if (fc_formats_has_points(&table->columns[i]) && table->columns[i].numbers.values > 0 &&
			!fc_formats_narrow(table, &table->columns[i], &formats, &by))
			return 0;
	return formats;
}

/* The format that the caller has given, as a bit, or 0 */
static uint32
fc_formats_given(const FcNumberFormat *given)
{
	for (int i = 0; i < FC_NUMBER_WAYS; i++)
		if (strcmp(given->group, fc_number_ways[i].group) == 0 &&
			(given->decimal[0] == ',') == (fc_number_ways[i].decimal == FC_DECIMAL_COMMA) &&
			given->decimal[0] != '\0')
			return FC_NUMBER_BIT(i);
	return 0;
}

/* Says why numbers that may have another format are not taken for such */
static void
fc_formats_unsure(const FcTable *table, FcColumnSeen *column)
{
	uint32		formats = fc_formats_of(column);
	char	   *shown = fc_formats_shown(table, column);
	bool		fractions = fc_formats_may_be(column, formats, true);

	if (fc_formats_is_plain(column))
	{
		/* 1.234 may be a thousand only where all values may */
		if (column->decimals[0] > 0 && (formats & fc_formats_with(FC_DECIMAL_COMMA)))
			fc_sniff_note(column->notes, "\"%s\" is read as a fraction.  If it is a thousand and more, give number_format => '1.234,56'",
						  shown);
		return;
	}
	if (fc_formats_proves(column))
		fc_sniff_note(column->notes, "numbers such as \"%s\", which no type takes as they are: a text",
					  shown);
	else if (fractions)
		fc_sniff_note(column->notes, "\"%s\" may be a thousand or a fraction, and no value tells: a text.  Give number_format => '1,234.56' or '1234,56'",
					  shown);
	else
		fc_sniff_note(column->notes, "\"%s\" may be a number with thousands set apart, or no number at all: a text",
					  shown);
}

/* Gives the column format number n, if its values are numbers by it */
static void
fc_formats_apply(const FcTable *table, FcColumnSeen *column, int n)
{
	bool		other = fc_formats_is_other(column);
	uint32		formats = other ? fc_formats_of(column) : column->numbers.formats;
	bool		fits = (formats & FC_NUMBER_BIT(n)) != 0;
	bool		fractions = column->numbers.decimals[fc_number_ways[n].decimal][1] > 0;

	if (!other && !fc_formats_has_points(column))
		return;
	column->format = fits && (!other || fractions || fc_formats_proves(column) ||
							  table->options->given[FC_OPTION_number_format] ||
							  column->numbers.digits[1] < FC_NUMBER_LONG);
	if (other && !column->format)
		fc_formats_unsure(table, column);
	else if (!column->format)
		fc_sniff_note(column->notes, "\"%s\" is not written as number_format has it: a text",
					  fc_formats_shown(table, column));
	else if (other ? !fc_formats_proves(column) : !fractions)
		fc_sniff_note(column->notes, "\"%s\" is taken for a number %s fraction, as number_format %s has it",
					  fc_formats_shown(table, column),
					  fractions ? "with a" : "without", fc_number_ways[n].example);
}

void
fc_formats_decide(FcTable *table)
{
	bool		given = table->options->given[FC_OPTION_number_format];
	uint32		formats = given ? fc_formats_given(&table->options->number) :
		fc_formats_proven(table);
	int			n = formats == 0 ? -1 : pg_rightmost_one_pos32(formats);

	if (n >= 0)
	{
		table->decimal = fc_number_ways[n].decimal;
		table->number_format = fc_number_ways[n].example;
	}
	for (int i = 0; i < table->ncolumns; i++)
	{
		FcColumnSeen *column = &table->columns[i];

		if (n >= 0)
			fc_formats_apply(table, column, n);
		else if (fc_formats_of(column) != 0)
			fc_formats_unsure(table, column);
	}
}
