/*-------------------------------------------------------------------------
 *
 * sniff/types.c
 *	  The types of the columns.
 *
 *	 counts ──► number_format (sniff/formats.c) ──► types
 *		──► what stands for NULL, trim_blanks (sniff/nulls.c)
 *	 types, records of the sample ──► bytes of the widest row ──► narrower
 *		integers, or a refusal
 *
 * A column gets a type only if all its values in the sample have it; else it
 * is a text, which takes all.  If only a few values lack a type, a comment says
 * which.
 *
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat/compat.h"
#include "report/units.h"
#include "sniff/steps.h"

/* Decimals that all values have, as those of money do: they stay exact */
#define FC_EXACT_DECIMALS	4

/* So many digits fit into a bigint, whichever they are */
#define FC_BIGINT_DIGITS	18

/*
 * If so few values are in the way of a type, one in twenty, a note says so, and
 * shows some of them
 */
#define FC_RARE				20
#define FC_ODD				3

/* So many values tell by themselves that numbers are dates */
#define FC_TELLING			3

/*
 * Bytes that a value of any length leaves in the row if it is stored
 * elsewhere, and bytes up to which it stays there
 */
#define FC_WIDTH_POINTER	18
#define FC_WIDTH_INLINE		MAXALIGN(FC_WIDTH_POINTER)

/* What the types of values, and numbers of any format, are called */
static const char *const fc_types_names[FC_VALUE_KINDS] = {
	"boolean", "bigint", "numeric", "uuid", "date", "time", "timestamp",
	"timestamptz", "jsonb", "inet", [FC_VALUE_COMMA] = "numbers"
};

/* The key of a caller who gave one pattern and no name; or NULL */
static const FcColumnSeen *
fc_types_given_key(const FcTable *table)
{
	const FcValuePattern *given = fc_value_given(table->judge);

	for (int i = 0; i < table->ncolumns && given; i++)
		if (list_member_ptr(table->columns[i].patterns, given))
			return &table->columns[i];
	return NULL;
}

/* What the caller has said about a column in timestamp_format, or NULL */
static const char *
fc_types_given_pattern(const FcTable *table, const FcColumnSeen *column)
{
	const FcOptions *options = table->options;

	if (options->timestamp_format == NULL)
		return NULL;
	if (column == fc_types_given_key(table))
		return options->timestamp_format;
	foreach_node(DefElem, option, fc_columns_given_patterns(options->timestamp_format,
														   options->key_column ? options->key_column : ""))
		if (strcmp(option->defname, column->name) == 0)
			return strVal(option->arg);
	return NULL;
}

/* Has the name one of the words as a part of its own? */
static bool
fc_types_is_named(const char *name, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
	{
		size_t		len = strlen(words[i]);

		for (const char *s = name; (s = strstr(s, words[i])) != NULL; s++)
			if ((len > 3 || s == name || !isalpha((unsigned char) s[-1])) &&
				(len > 3 || !isalpha((unsigned char) s[len])))
				return true;
	}
	return false;
}

static bool
fc_types_is_named_time(const char *name)
{
	static const char *const words[] = {
		"time", "date", "stamp", "epoch", "created", "updated", "modified", "when",
		"ts", "at", "day", "dt", "utc", "since"
	};
	static const char *const spans[] = {"duration", "timezone", "elapsed", "timeout", "days"};

	return fc_types_is_named(name, words, lengthof(words)) &&
		!fc_types_is_named(name, spans, lengthof(spans));
}

static bool
fc_types_is_named_address(const char *name)
{
	static const char *const words[] = {
		"ip", "addr", "inet", "host", "client", "ipv4", "server", "peer", "src", "dst"
	};

	return fc_types_is_named(name, words, lengthof(words));
}

/* Are integers the seconds, or smaller units, of moments from 1990 to 2050? */
static const char *
fc_types_epoch(const FcColumnSeen *column)
{
	for (int i = 0; i < FC_EPOCHS; i++)
		if (column->low >= INT64CONST(631152000) * fc_epochs[i].units &&
			column->high < INT64CONST(2524608000) * fc_epochs[i].units)
			return fc_epochs[i].pattern;
	return NULL;
}

/*
 * Are the integers moments?  Digits alone do not tell: the name has to, or that
 * the first column of a file without names never goes back.
 */
static const char *
fc_types_moment(const FcTable *table, const FcColumnSeen *column)
{
	const char *pattern = fc_types_epoch(column);
	bool		named = table->header_lines > 0 || table->options->columns != NIL ?
		fc_types_is_named_time(column->name) :
		column == table->columns && column->ascending && column->values >= FC_TELLING &&
		column->low < column->high;

	return named ? pattern : NULL;
}

/* Are the integers dates like 20240131, or moments like 20240131235959? */
static const char *
fc_types_digits(FcColumnSeen *column, Oid *typid)
{
	bool		telling = fc_types_is_named_time(column->name) ||
		(column->values >= FC_TELLING && column->low < column->high);

	if (telling && column->kinds[FC_VALUE_DATE] == column->values &&
		column->low >= 19000101 && column->high <= 20991231)
	{
		*typid = DATEOID;
		return "";
	}
	foreach_ptr(const FcValuePattern, pattern, telling && column->low >= INT64CONST(190001010000) ? column->patterns : NIL)
	{
		*typid = pattern->typid;
		if (column->high < INT64CONST(20991231000000) || strlen(pattern->text) < 16)
			return pattern->text;
	}
	return NULL;
}

static bool
fc_types_all(const FcColumnSeen *column, FcValueType type)
{
	return column->values > 0 && column->kinds[type] == column->values;
}

/* The type that keeps the value of all numbers */
static Oid
fc_types_exact(const FcTable *table, const FcColumnSeen *column)
{
	const FcNumbersSeen *numbers = &column->numbers;
	const int  *decimals = column->format ? numbers->decimals[table->decimal] : column->decimals;
	bool		floats = column->kinds[FC_VALUE_EXPONENT] > 0 || (column->format && numbers->exponent) ||
		column->words[FC_NULL_NAN] > 0 || column->words[FC_NULL_NAN + 1] > 0;
	bool		money = decimals[0] == decimals[1] && decimals[1] <= FC_EXACT_DECIMALS && column->values > 1;

	if (!floats && (fc_types_all(column, FC_VALUE_INTEGER) ||
					(column->format && decimals[1] == 0 && numbers->digits[1] <= FC_BIGINT_DIGITS)))
		return INT8OID;
	if (column->changes[FC_CHANGE_DIGITS] > 0 || (!floats && (decimals[1] == 0 || money)))
		return NUMERICOID;
	return FLOAT8OID;
}

/* The first value that a type changes in this way, for a note */
static char *
fc_types_changed(const FcTable *table, const FcColumnSeen *column, FcChange change)
{
	return fc_sniff_shown(table, column->changed[change], strlen(column->changed[change]), 40);
}

/* May the numbers be versions, or the like, by their name? */
static bool
fc_types_is_named_version(const char *name)
{
	static const char *const words[] = {"version", "release", "chapter", "section"};

	return fc_types_is_named(name, words, lengthof(words));
}

/*
 * The type of numbers; a text, if they are rather phone numbers or codes.  A
 * note says what a type changes in print.
 */
static Oid
fc_types_number(const FcTable *table, FcColumnSeen *column)
{
	const int  *decimals = column->format ? column->numbers.decimals[table->decimal] : column->decimals;
	bool		differ = decimals[0] < decimals[1];
	bool		version = fc_types_is_named_version(column->name);
	Oid			typid = fc_types_exact(table, column);

	if (column->key)
		return typid;
	if (column->changes[FC_CHANGE_PLUS] > 0 && decimals[1] == 0 && !column->negative)
	{
		fc_sniff_note(column->notes, "\"%s\" has a plus, as phone numbers have, which no number keeps: a text",
					  fc_types_changed(table, column, FC_CHANGE_PLUS));
		return TEXTOID;
	}
	if (column->changes[FC_CHANGE_PLUS] > 0)
		fc_sniff_note(column->notes, "\"%s\" loses its plus", fc_types_changed(table, column, FC_CHANGE_PLUS));
	if (column->changes[FC_CHANGE_POWER] > 0 && decimals[1] == 0 &&
		column->changes[FC_CHANGE_POWER] == column->kinds[FC_VALUE_EXPONENT])
	{
		fc_sniff_note(column->notes, "\"%s\" may be a number with an exponent, or a code: a text",
					  fc_types_changed(table, column, FC_CHANGE_POWER));
		return TEXTOID;
	}
	if (column->changes[FC_CHANGE_ZERO] == 0 || !differ || typid == INT8OID)
		return typid;
	fc_sniff_note(column->notes, "\"%s\" is the same number without its last zero: %s",
				  fc_types_changed(table, column, FC_CHANGE_ZERO),
				  version ? "a text" : "if these are versions or codes, make this a text");
	return version ? TEXTOID : NUMERICOID;
}

/* Says which moment is rounded */
static void
fc_types_note_micro(const FcTable *table, FcColumnSeen *column)
{
	if (column->changes[FC_CHANGE_MICRO] > 0)
		fc_sniff_note(column->notes, "\"%s\" is rounded to microseconds: if all digits count, make this a text",
					  fc_types_changed(table, column, FC_CHANGE_MICRO));
}

/* Takes a pattern of the caller's, and says if a value does not match it */
static Oid
fc_types_of_given(const FcTable *table, FcColumnSeen *column, const char *pattern)
{
	Oid			typid = fc_value_pattern_type(pattern, column->name);
	FcPattern  *compiled = fc_pattern_compile(pattern, typid, -1, column->name);
	const char *example = column->example;
	Datum		value;

	column->pattern = pattern;
	/* core throws for a value that does not match */
	if (example && !compiled->by_core &&
		!fc_pattern_parse(compiled, example, strlen(example), &value))
		fc_sniff_note(column->notes, "\"%s\" does not match %s",
					  fc_sniff_shown(table, example, strlen(example), 40), pattern);
	return typid;
}

/* Takes the first of the patterns that all values match */
static Oid
fc_types_pattern(FcColumnSeen *column)
{
	const FcValuePattern *pattern = linitial(column->patterns);

	column->pattern = pattern->text;
	if (list_length(column->patterns) > 1)
		fc_sniff_note(column->notes, "the values may be %s or %s: look which is meant",
					  pattern->text, ((FcValuePattern *) lsecond(column->patterns))->text);
	return pattern->typid;
}

/* The type of a column of moments as ISO 8601 has them; 0 if it is none */
static Oid
fc_types_iso(const FcTable *table, FcColumnSeen *column)
{
	if (fc_types_all(column, FC_VALUE_DATE))
		return DATEOID;
	if (fc_types_all(column, FC_VALUE_TIME) || fc_types_all(column, FC_VALUE_TIMESTAMPTZ))
		fc_types_note_micro(table, column);
	if (fc_types_all(column, FC_VALUE_TIME))
		return TIMEOID;
	if (fc_types_all(column, FC_VALUE_TIMESTAMP))
		return TIMESTAMPOID;
	if (!fc_types_all(column, FC_VALUE_TIMESTAMPTZ))
		return InvalidOid;
	if (column->kinds[FC_VALUE_ZONED] < column->values)
		fc_sniff_note(column->notes, "%s of %s values have no time zone: they are read in the session's, or time_zone",
					  fc_units_count(column->values - column->kinds[FC_VALUE_ZONED]),
					  fc_units_count(column->values));
	return TIMESTAMPTZOID;
}

/* The type of a column of plain numbers, or moments written as such */
static Oid
fc_types_plain(const FcTable *table, FcColumnSeen *column)
{
	bool		integers = fc_types_all(column, FC_VALUE_INTEGER);
	Oid			moment;
	const char *pattern;

	if (table->options->timestamp_format || (column->folder && !fc_types_all(column, FC_VALUE_DATE)))
		return fc_types_number(table, column);
	pattern = fc_types_moment(table, column);
	/* seconds alone have fractions */
	if (pattern != NULL && (integers || pattern == fc_epochs[0].pattern))
	{
		column->pattern = pattern;
		fc_sniff_note(column->notes, "%s that would be moments as %s", integers ? "integers" : "numbers", pattern);
		if (!integers || strcmp(pattern, "epoch_ns") == 0)
			fc_types_note_micro(table, column);
		return TIMESTAMPTZOID;
	}
	if (!integers || (pattern = fc_types_digits(column, &moment)) == NULL)
		return fc_types_number(table, column);
	fc_sniff_note(column->notes, "integers that would be moments as %s", pattern[0] ? pattern : "YYYYMMDD");
	column->pattern = pattern[0] ? pattern : NULL;
	return moment;
}

/*
 * Amounts of one currency, and those that are negative by brackets, are
 * numbers, once a transform has cut off what stands around them
 */
static Oid
fc_types_amount(const FcTable *table, FcColumnSeen *column)
{
	if (column->signs_differ || (column->amounts > 0 && table->options->given[FC_OPTION_transform]))
	{
		fc_sniff_note(column->notes, "some values are amounts of a currency, and not all of the same one: a text");
		return TEXTOID;
	}
	/* a column of nothing else may have footnotes, or codes of areas */
	if (column->brackets == column->values || (column->brackets > 0 && table->options->given[FC_OPTION_transform]))
	{
		fc_sniff_note(column->notes, "numbers in parentheses, which may be negative: a text");
		return TEXTOID;
	}
	if (!column->format && (!fc_types_all(column, FC_VALUE_NUMBER) || (table->number_format && column->decimals[1] > 0)))
		return TEXTOID;
	if (column->brackets > 0)
		fc_sniff_note(column->notes, "numbers in parentheses are taken for negative ones");
	column->amount = true;
	return NUMERICOID;
}

/* The type that all values of the column have */
static Oid
fc_types_common(const FcTable *table, FcColumnSeen *column)
{
	const char *given = fc_types_given_pattern(table, column);
	Oid			typid;

	if (given)
		return fc_types_of_given(table, column, given);
	if (column->key && column->key->nested > 0)
		return JSONBOID;
	if (column->values == 0)
		return TEXTOID;
	if (column->amounts > 0 || column->brackets > 0)
		return fc_types_amount(table, column);
	if (fc_types_all(column, FC_VALUE_INTEGER))
		return fc_types_plain(table, column);
	if (column->format)
		return fc_types_number(table, column);
	if (fc_types_all(column, FC_VALUE_NUMBER))
		return table->number_format && column->decimals[1] > 0 ? TEXTOID :
			fc_types_plain(table, column);
	if ((typid = fc_types_iso(table, column)) != InvalidOid)
		return typid;
	if (fc_types_all(column, FC_VALUE_UUID))
		return UUIDOID;
	if (fc_types_all(column, FC_VALUE_JSON))
		return column->key ? TEXTOID : JSONBOID;
	if (fc_types_all(column, FC_VALUE_INET) && fc_types_is_named_address(column->name))
		return INETOID;
	if (fc_columns_is_boolean(column))
		return BOOLOID;
	return column->patterns != NIL && table->options->timestamp_format == NULL && !column->folder ?
		fc_types_pattern(column) : TEXTOID;
}

/*
 * Is the field a value, and none of this kind?  FC_VALUE_KINDS: it does not
 * match the pattern of the others
 */
static bool
fc_types_is_odd(const FcTable *table, const FcColumnSeen *column, FcField *field, FcValueType kind)
{
	const char *null = table->options->null_string_word;
	FcValueText text = fc_value_trim(field->data, field->len);
	FcValueNumber number;

	if (text.len == 0 || fc_hint_null_find(text.s, text.len) >= 0 ||
		(null && strlen(null) == field->len && memcmp(null, field->data, field->len) == 0))
		return false;
	if (kind == FC_VALUE_KINDS)
		return fc_value_patterns(table->judge, text.s, text.len, column->likely) == NIL;
	return !(fc_value_judge(table->judge, field->data, field->len, &number) & FC_VALUE_BIT(kind));
}

/* The first values of the column that are not of this kind, for a note */
static char *
fc_types_odd(const FcTable *table, const FcColumnSeen *column, FcValueType kind)
{
	int			i = (int) (column - table->columns);
	FcCursor	cursor;
	FcSniffRecord *record;
	StringInfo	shown = makeStringInfo();
	int			n = 0;

	fc_records_begin(&cursor, table->sample, &table->guess->dialect, table->ncolumns, SIZE_MAX);
	while (n < FC_ODD && (record = fc_columns_next(table, &cursor)) != NULL)
	{
		FcField    *field = &record->fields[i];
		char	   *value;

		if (!fc_types_is_odd(table, column, field, kind))
			continue;
		value = psprintf("\"%s\"", fc_sniff_shown(table, field->data, field->len, 40));
		if (strstr(shown->data, value))
			continue;
		appendStringInfo(shown, "%s%s", n++ > 0 ? ", " : "", value);
	}
	return shown->data;
}

static void
fc_types_note_odd(const FcTable *table, FcColumnSeen *column, uint64 n, const char *name,
				  FcValueType kind)
{
	fc_sniff_note(column->notes, "all but %s of %s values would be %s, not %s%s",
				  fc_units_count(n), fc_units_count(column->values), name, fc_types_odd(table, column, kind),
				  n > FC_ODD ? " and others" : "");
}

/* Says of a text which type nearly all of its values have, and which not */
static void
fc_types_rare(const FcTable *table, FcColumnSeen *column)
{
	/* values were counted without their marks */
	if (column->amounts > 0 || column->brackets > 0)
		return;
	for (int i = 0; i <= FC_VALUE_COMMA; i++)
	{
		uint64		other = column->values - column->kinds[i];

		if (fc_types_names[i] == NULL || other == 0 || other > column->values / FC_RARE)
			continue;
		fc_types_note_odd(table, column, other, fc_types_names[i], i);
		return;
	}
	if (column->likely != NIL && column->unlikely <= column->values / FC_RARE)
		fc_types_note_odd(table, column, column->unlikely,
						  ((FcValuePattern *) linitial(column->likely))->text, FC_VALUE_KINDS);
	if (table->trim == NULL && column->kinds[FC_VALUE_BLANK] > column->values / 2)
		fc_sniff_note(column->notes, "most values begin or end with blanks, which stay");
}

/* Says how a date and a time in two columns become one moment */
static void
fc_types_note_moment(FcTable *table)
{
	FcColumnSeen *date = NULL;
	FcColumnSeen *time = NULL;
	int			n = 0;

	for (int i = 0; i < table->ncolumns; i++)
	{
		FcColumnSeen *column = &table->columns[i];

		if (column->typid == DATEOID)
			date = column, n++;
		else if (column->typid == TIMEOID)
			time = column, n++;
	}
	if (n != 2 || !date || !time)
		return;
	fc_sniff_note(time->notes, "with %s one moment, if a column has the transform %s + %s::time",
				  quote_identifier(date->name),
				  date->pattern ? psprintf("to_date(%s, '%s')", quote_identifier(date->name), date->pattern) :
				  psprintf("%s::date", quote_identifier(date->name)),
				  quote_identifier(time->name));
}

const char *
fc_types_name(Oid typid)
{
	for (int i = 0; i < FC_VALUE_TYPES; i++)
		if (fc_value_typids[i] == typid)
			return fc_types_names[i];
	return format_type_be(typid);
}

void
fc_types_decide(FcTable *table)
{
	fc_formats_decide(table);
	for (int i = 0; i < table->ncolumns; i++)
	{
		Assert(table->columns[i].name);
		table->columns[i].typid = fc_types_common(table, &table->columns[i]);
		table->columns[i].format &= table->columns[i].typid != TEXTOID;
	}
	fc_types_note_moment(table);
	fc_nulls_decide(table);
	for (int i = 0; i < table->ncolumns; i++)
	{
		FcColumnSeen *column = &table->columns[i];
		uint64		nulls;

		if (column->typid == TEXTOID)
			fc_types_rare(table, column);
		nulls = fc_columns_nulls(column);
		if (column->values == 0 && nulls == 1)
			fc_sniff_note(column->notes, "the only value seen is empty or NULL");
		else if (column->values == 0 && nulls > 0)
			fc_sniff_note(column->notes, "all %s values seen are empty or NULL", fc_units_count(nulls));
	}
}

/* Is the field NULL for the proposed call? */
static bool
fc_types_is_null(const FcTable *table, const FcSniffRecord *record, int i)
{
	const char *given = table->options->given[FC_OPTION_null_string] ?
		table->options->null_string_word : table->null_string;
	const char *null = given ? given : table->guess->dialect.null_string;
	const FcField *field = &record->fields[i];
	int			word = fc_hint_null_find(field->data, field->len);

	if (word >= 0 && (table->columns[i].null_words & ((uint32) 1 << word)))
		return true;
	return field->len == strlen(null) && memcmp(field->data, null, field->len) == 0 &&
		(table->columns[i].force_null ||
		 !fc_records_quoted(record, &table->guess->dialect, i));
}

/* Where a value ends that begins at "at", or where its type lets it begin */
static Size
fc_types_add_width(Oid typid, Size len, Size at)
{
	int16		fixed;
	bool		byval;
	char		align;
	Size		size = len + 1;

	get_typlenbyvalalign(typid, &fixed, &byval, &align);
	if (fixed > 0)
		return att_align_nominal(at, align) + fixed;
	/* four decimal digits take two bytes, and there are three before */
	if (typid == NUMERICOID)
		size = 3 + 2 * ((len + 3) / 4);
	return at + (size > FC_WIDTH_INLINE ? FC_WIDTH_POINTER : size);
}

/*
 * Bytes of the widest row that the sample has.  What is long is stored
 * elsewhere, but leaves some bytes in the row, and NULLs take none: so records
 * tell, and not the columns alone.
 */
static Size
fc_types_widest_row(const FcTable *table)
{
	FcCursor	cursor;
	FcSniffRecord *record;
	Size		widest = 0;

	fc_records_begin(&cursor, table->sample, &table->guess->dialect, table->ncolumns, SIZE_MAX);
	while ((record = fc_columns_next(table, &cursor)) != NULL)
	{
		Size		at = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(table->ncolumns));

		for (int i = 0; i < table->ncolumns; i++)
			if (!fc_types_is_null(table, record, i))
				at = fc_types_add_width(table->columns[i].typid, record->fields[i].len, at);
		widest = Max(widest, at);
	}
	return widest;
}

/* Makes integers that fit narrower; the patterns of moments have none */
static void
fc_types_narrow(FcTable *table, Oid typid, int64 low, int64 high)
{
	for (int i = 0; i < table->ncolumns; i++)
	{
		FcColumnSeen *column = &table->columns[i];

		if ((column->typid == INT8OID || column->typid == INT4OID) &&
			fc_types_all(column, FC_VALUE_INTEGER) && column->low >= low && column->high <= high)
			column->typid = typid;
	}
}

void
fc_types_fit(FcTable *table)
{
	Size		before;
	Size		widest;

	if (table->ncolumns <= MaxHeapTupleSize / FC_WIDTH_INLINE - 2)
		return;
	widest = before = fc_types_widest_row(table);
	if (widest > MaxHeapTupleSize)
	{
		fc_types_narrow(table, INT4OID, PG_INT32_MIN, PG_INT32_MAX);
		widest = fc_types_widest_row(table);
	}
	if (widest > MaxHeapTupleSize)
	{
		fc_types_narrow(table, INT2OID, PG_INT16_MIN, PG_INT16_MAX);
		widest = fc_types_widest_row(table);
	}
	if (widest > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("rows of %d columns do not fit into a page", table->ncolumns),
				 errdetail("The widest one seen takes at least %zu bytes, and a page has room for %zu.",
						   widest, (Size) MaxHeapTupleSize),
				 errhint("Make a table of some of the columns, and load it with header => 'map', ignore_extra_columns => true; or let a program such as cut print these.")));
	if (widest < before)
		fc_sniff_note(table->notes, "As bigint, a row would take %zu bytes, and a page has room for %zu: integers are as narrow as the values seen allow, and a later one that is larger ends the load.",
					  before, (Size) MaxHeapTupleSize);
}
