/*-------------------------------------------------------------------------
 *
 * copyfrom/hint.c
 *	  What may be wrong with the call if core refuses a record.
 *
 * Core knows that a value is bad, but not that the line is a header, that "NA"
 * stands for NULL, or that a moment has its day first.  Hints that are
 * guesses say "if".  A plain COPY gets none: it must look like core's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "convert/pattern.h"
#include "copyfrom/core.h"
#include "source/advice.h"

#define FC_HINT_HEAD	4		/* bytes of the file that tell its encoding */
#define FC_HINT_BYTES	512		/* bytes of a record that are looked at */

/* What people separate fields by */
static const char fc_hint_separators[] = ";\t|,^~";

/* How scripts of SQL begin, as pg_dump and others write them */
static const char *const fc_hint_commands[] = {"-- ", "INSERT INTO ", "COPY ", "CREATE TABLE ", "\\restrict "};

/* What core says of a record, by its messages */
static const struct
{
	const char *message;		/* its beginning */
	FcRefusedFor what;
}			fc_hint_messages[] = {
	{"missing data for column", FC_REFUSED_MISSING},
	{"extra data after last expected column", FC_REFUSED_EXTRA},
	{"unterminated CSV quoted field", FC_REFUSED_QUOTE},
	{"column name mismatch in header line", FC_REFUSED_HEADER},
	{"wrong number of fields in header line", FC_REFUSED_HEADER},
};

#define FC_HINT_DIGITS	"0123456789"
#define FC_HINT_BESIDE	8		/* bytes of a sign or a unit, at most */
#define FC_HINT_DAYS	5		/* digits of a day since 1899 */

#define FC_HINT_SCIENTIFIC \
	"Integer types do not read scientific notation: give the column type numeric or double precision, " \
	"or write the file anew with all digits; a spreadsheet that writes so has rounded them."

/*
 * What people write for NULL.  A value that its type refuses is told of only if
 * it can be nothing else.
 */
static const struct
{
	const char *word;
	bool		told;
}			fc_hint_nulls[FC_NULL_WORDS] = {
	[FC_NULL_EMPTY] = {"", false},
	[FC_NULL_ESCAPE] = {"\\N", true},
	[FC_NULL_NAN] = {"NaN", true},
	{"nan", true}, {"NA", true}, {"N/A", true}, {"#N/A", true}, {"n/a", false},
	{"na", false}, {"NULL", true}, {"null", false}, {"Null", false}, {"(null)", true},
	{"None", true}, {"none", false}, {"nil", true}, {"-", true}, {"--", true},
	{"?", true}, {".", true}, {"0000-00-00", true}, {"0000-00-00 00:00:00", true}
};

const char *
fc_hint_null_word(int n)
{
	Assert(n >= 0 && n < FC_NULL_WORDS);
	return fc_hint_nulls[n].word;
}

int
fc_hint_null_find(const char *s, size_t len)
{
	for (int i = 0; i < FC_NULL_WORDS; i++)
		if (strlen(fc_hint_nulls[i].word) == len && memcmp(s, fc_hint_nulls[i].word, len) == 0)
			return i;
	return -1;
}

/* May the value be meant for NULL, whatever the case of its letters? */
static bool
fc_hint_is_null(const char *value)
{
	for (int i = 0; i < FC_NULL_WORDS; i++)
		if (fc_hint_nulls[i].told && pg_strcasecmp(value, fc_hint_nulls[i].word) == 0)
			return true;
	return false;
}

static bool
fc_hint_is_blank(const char *value)
{
	return value[strspn(value, " ")] == '\0';
}

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

/* Returns the pattern that the column is read by, or NULL */
static const char *
fc_hint_pattern(const FcRefused *refused)
{
	const FcColumns *columns = &refused->target->planned->columns;
	int			field = fc_columns_field(columns->fields, get_attnum(refused->target->oid, refused->column));

	return field < 0 ? NULL : columns->patterns[field];
}

/* A date of three numbers, as a value begins with one */
typedef struct FcHintDate
{
	int			numbers[3];
	char		separators[2];
	bool		short_year;		/* the third has two digits */
	const char *rest;			/* what follows it */
} FcHintDate;

static bool
fc_hint_read_date(const char *value, FcHintDate *date)
{
	int			n = 0;
	int		   *numbers = date->numbers;

	if (sscanf(value, "%4d%1[/.-]%2d%1[/.-]%4d%n", &numbers[0], &date->separators[0],
			   &numbers[1], &date->separators[1], &numbers[2], &n) != 5)
		return false;
	date->rest = value + n;
	date->short_year = numbers[0] < 100 && value[n - 3] == date->separators[1];
	/* as core reads it */
	if (date->short_year)
		numbers[2] += numbers[2] < 70 ? 2000 : 1900;
	return true;
}

static int
fc_hint_month_days(int year, int month)
{
	return month >= 1 && month <= MONTHS_PER_YEAR ? day_tab[isleap(year)][month - 1] : 0;
}

/* Returns a hint if one number is a month, the other a day that it lacks */
static char *
fc_hint_no_day(const FcRefused *refused, int year, int one, int other)
{
	int			month = Min(one, other);
	int			days = fc_hint_month_days(year, month);
	const FcOptions *options = refused->target->options;

	if (days == 0 || Max(one, other) <= days || Max(one, other) > 31)
		return NULL;
	return psprintf("There is no such day: month %d of %d has %d days. %s",
					month, year, days, options->on_error != FC_ON_ERROR_STOP ? "Correct the value." :
					psprintf("Correct the value, or let on_error%s 'ignore' leave such records out.",
							 fc_caller_arrow(options->caller)));
}

/*
 * Returns the pattern of values like this one, with the year at the end if it
 * is not the first; NULL if the time is odd
 */
static char *
fc_hint_make_pattern(const FcHintDate *date, bool year_first, bool day_first)
{
	const char *year = date->short_year ? "YY" : "YYYY";
	const char *first = year_first ? year : day_first ? "DD" : "MM";
	static const char *const times[][2] = {
		{"", ""}, {" %*2d:%*2d%n", " HH24:MI"}, {" %*2d:%*2d:%*2d%n", " HH24:MI:SS"},
		{" %*2d:%*2d %*1[aApP]%*1[mM]%n", " HH12:MI AM"}, {" %*2d:%*2d:%*2d %*1[aApP]%*1[mM]%n", " HH12:MI:SS AM"},
	};

	for (int i = 0; i < lengthof(times); i++)
	{
		int			n = 0;

		(void) sscanf(date->rest, times[i][0], &n);
		if (date->rest[n] == '\0' && (n > 0 || i == 0))
			return psprintf("%s%c%s%c%s%s", first, date->separators[0],
							year_first || day_first ? "MM" : "DD", date->separators[1],
							year_first ? "DD" : year, times[i][1]);
	}
	return NULL;
}

/*
 * Returns a hint about a date in the order of the pattern, but in another form,
 * such as with years of two digits, or a time
 */
static char *
fc_hint_form(const FcRefused *refused, const FcHintDate *date)
{
	const char *pattern = fc_hint_pattern(refused);
	const char *year = pattern ? strstr(pattern, "YYYY") : NULL;
	bool		day_first = year && strstr(pattern, "DD") && strstr(pattern, "DD") < strstr(pattern, "MM");
	char	   *fits = year == NULL ? NULL : fc_hint_make_pattern(date, year == pattern, day_first);

	return fits == NULL || strcmp(fits, pattern) == 0 ? NULL :
		psprintf("If %s, use %s.", date->short_year ? "years have two digits" : "all values have this form",
				 fc_hint_format(refused, fits));
}

/* Returns a hint about a date of which only one number can be the month */
static char *
fc_hint_order(const FcRefused *refused, const FcHintDate *date, bool day_first)
{
	const char *pattern = fc_hint_pattern(refused);
	const char *word = day_first ? "day" : "month";
	char	   *fits = fc_hint_make_pattern(date, false, day_first);

	if (fits == NULL || (pattern && strcmp(fits, pattern) == 0))
		return NULL;
	return psprintf("If the %s comes first, %s %s.", word, pattern ? "use" : "add", fc_hint_format(refused, fits));
}

static char *
fc_hint_date(const FcRefused *refused)
{
	FcHintDate	date;
	const int  *n = date.numbers;
	bool		day_first;
	bool		month_first;

	if (!fc_hint_read_date(refused->value, &date))
		return NULL;
	if (n[0] >= 1000)
		return n[1] <= MONTHS_PER_YEAR && n[2] >= 1 && n[2] <= fc_hint_month_days(n[0], n[1]) ?
			fc_hint_form(refused, &date) : fc_hint_no_day(refused, n[0], n[1], n[2]);
	day_first = n[0] >= 1 && n[0] <= fc_hint_month_days(n[2], n[1]);
	month_first = n[1] >= 1 && n[1] <= fc_hint_month_days(n[2], n[0]);
	if (n[2] < 1000)
		return NULL;
	if (day_first && month_first)
		return fc_hint_form(refused, &date);
	return day_first || month_first ? fc_hint_order(refused, &date, day_first) :
		fc_hint_no_day(refused, n[2], n[0], n[1]);
}

static char *
fc_hint_moment(const FcRefused *refused)
{
	const FcTarget *target = refused->target;
	const char *name = quote_identifier(refused->column);
	const char *value = refused->value;
	size_t		digits = strspn(value, FC_HINT_DIGITS);
	size_t		len = strlen(value);
	int			week;
	int			n = 0;

	for (int i = 0; i < FC_EPOCHS; i++)
		if (digits == fc_epochs[i].digits &&
			(digits == len || (i == 0 && value[digits] == '.' &&
							   digits + 1 + strspn(value + digits + 1, FC_HINT_DIGITS) == len)))
			return psprintf("If these are %s since 1970, %s %s.", fc_epochs[i].word,
							fc_hint_pattern(refused) ? "use" : "add",
							fc_hint_format(refused, fc_epochs[i].pattern));
	if (digits == strlen("YYYYMMDDHHMISS") && digits == len)
		return psprintf("If these are moments without separators, add %s.", fc_hint_format(refused, "YYYYMMDDHH24MISS"));
	if (digits == FC_HINT_DAYS && digits + strspn(value + digits, FC_HINT_DIGITS ".") == len && target->options->transform == NULL)
		return psprintf("If these are days as spreadsheets count them, add transform%s $$%s = timestamp '1899-12-30' + %s::float8 * interval '1 day'$$.",
						fc_caller_arrow(target->options->caller), name, name);
	if (sscanf(value, "%*4d-W%2d-%*1d%n", &week, &n) == 1 && n == (int) len)
		return psprintf("If these are weeks of ISO 8601, add %s.",
						fc_hint_format(refused, "IYYY-\"W\"IW-ID"));
	return fc_hint_date(refused);
}

/*
 * Returns the expression that writes a minus sign, or no-break spaces, of
 * typesetters as PostgreSQL reads numbers; NULL if there are none
 */
static char *
fc_hint_marks(const FcRefused *refused)
{
	static const char *const marks[][3] = {
		{"\xE2\x88\x92", "2212", "-"}, {"\xC2\xA0", "00A0", ""}, {"\xE2\x80\xAF", "202F", ""},
	};
	const char *name = quote_identifier(refused->column);
	const char *expression = name;

	for (int i = 0; i < lengthof(marks) && GetDatabaseEncoding() == PG_UTF8; i++)
		if (strstr(refused->value, marks[i][0]))
			expression = psprintf("replace(%s, E'\\u%s', '%s')", expression, marks[i][1], marks[i][2]);
	return expression == name || strpbrk(refused->value, FC_HINT_DIGITS) == NULL ? NULL :
		psprintf("%s = %s", name, expression);
}

/*
 * Returns the expression that takes off what stands beside a number, such as
 * the sign of a currency or a unit; NULL if the value is no such number
 */
static char *
fc_hint_beside(const FcRefused *refused)
{
	const char *value = refused->value + strspn(refused->value, " ");
	size_t		before = strcspn(value, FC_HINT_DIGITS "+-.");
	size_t		number = strspn(value + before, FC_HINT_DIGITS "+-.,");
	const char *beside = before > 0 ? value : value + number + strspn(value + number, " ");
	size_t		len = before > 0 ? before : strlen(beside);

	while (len > 0 && beside[len - 1] == ' ')
		len--;
	/* x1 is rather the name of a thing */
	if (len == 0 || len > FC_HINT_BESIDE ||
		(before > 0 && (value[before + number] != '\0' || isalpha((unsigned char) value[before - 1]))) ||
		strpbrk(value, FC_HINT_DIGITS) == NULL || strcspn(beside, FC_HINT_DIGITS "'\"\\") < len)
		return NULL;
	return psprintf("%s = replace(%s, '%s', '')", quote_identifier(refused->column),
					quote_identifier(refused->column), pnstrdup(beside, len));
}

/* Returns a hint about a number that an expression makes readable; or NULL */
static char *
fc_hint_transform(const FcRefused *refused)
{
	char	   *marks = fc_hint_marks(refused);
	char	   *expression = marks ? marks : fc_hint_beside(refused);

	if (expression == NULL || refused->target->options->transform)
		return NULL;
	return psprintf("If \"%s\" is a number, %s, as by transform%s $$%s$$.", refused->value,
					marks ? "replace its minus sign or no-break spaces" : "take off what stands beside it",
					fc_caller_arrow(refused->target->options->caller), expression);
}

static char *
fc_hint_number(const FcRefused *refused, bool integer)
{
	const char *value = refused->value;
	const char *point = strrchr(value, '.');
	const char *comma = strrchr(value, ',');
	size_t		len = strlen(value);
	bool		grouped = comma && strspn(comma + 1, FC_HINT_DIGITS) == 3 && comma[4] == '\0' && point == NULL;
	char	   *end;

	if (strpbrk(value, FC_HINT_DIGITS) == NULL || strspn(value, FC_HINT_DIGITS "+-.,eE") != len)
		return fc_hint_transform(refused);
	if (strpbrk(value, "eE"))
	{
		(void) strtod(value, &end);
		return integer && *end == '\0' ? pstrdup(FC_HINT_SCIENTIFIC) : NULL;
	}
	if (comma)
		return refused->target->options->number_format_word ? NULL :
			psprintf("If \"%s\" is a number, show how the file writes numbers, as by number_format%s '%s'%s.",
					 value, fc_caller_arrow(refused->target->options->caller),
					 point > comma || grouped ? "1,234.56" : "1.234,56",
					 grouped && !integer && strchr(value, ',') == comma ? "; or by '1.234,56', if the comma stands before decimals" : "");
	if (integer && len > 4 && strspn(value + 1, FC_HINT_DIGITS) == len - 1)
		return pstrdup("If values may be as large as that, give the column type bigint or numeric.");
	if (integer && point && strchr(value, '.') == point)
		return pstrdup("If the values may have decimal places, give the column type numeric or double precision.");
	return NULL;
}

/* Returns a hint by the type of the column, as fc_hint_text; or NULL */
static char *
fc_hint_of_type(const FcRefused *refused)
{
	const FcTarget *target = refused->target;
	AttrNumber	attnum = get_attnum(target->oid, refused->column);
	size_t		len = strlen(refused->value);

	if (attnum <= 0)
		return NULL;
	if (len >= 2 && refused->value[0] == '\'' && refused->value[len - 1] == '\'' &&
		fc_format_is_csv(&target->options->format) && !target->options->raw)
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

static int
fc_hint_count(const char *text, char byte)
{
	int			n = 0;

	for (; *text; text++)
		n += *text == byte;
	return n;
}

/*
 * Returns what separates the fields if the call's delimiter does not, or 0.
 * Where that stands here and there, as decimal commas do, and another byte
 * between all fields, it is the other one.
 */
static char
fc_hint_separator(const FcRefused *refused)
{
	const FcTarget *target = refused->target;
	int			wanted = list_length(target->planned->columns.fields) - 1;
	char		best = '\0';
	int			most = 0;
	int			given;

	if (refused->text == NULL || target->options->json || RelationGetNumberOfAttributes(target->rel) == 1)
		return '\0';
	given = fc_hint_count(refused->text, target->options->delimiter[0]);
	for (const char *s = fc_hint_separators; *s; s++)
	{
		int			n = fc_hint_count(refused->text, *s);

		if (n > most)
		{
			best = *s;
			most = n;
		}
	}
	return given == 0 || (given < wanted && most >= wanted) ? best : '\0';
}

/* Is it the first record, which may be meant for a header, or a title? */
static bool
fc_hint_is_first(const FcRefused *refused)
{
	return refused->first && !refused->target->options->json;
}

/* Returns a hint if it is the first record, and words rather than values */
static char *
fc_hint_words(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	const char *arrow = fc_caller_arrow(options->caller);
	const char *value = refused->value;

	if (!fc_hint_is_first(refused))
		return NULL;
	/* a title may stand before the names */
	if (options->header_lines > 0)
		return options->header_match || options->header_map || pg_strcasecmp(value, refused->column) != 0 ? NULL :
			psprintf("If this line is the header, use header%s %d.", arrow, options->header_lines + 1);
	if (strncmp(value, FC_MARK, strlen(FC_MARK)) == 0)
		value += strlen(FC_MARK);
	if (pg_strcasecmp(value, refused->column) != 0 &&
		(refused->text == NULL || !isalpha((unsigned char) value[0]) ||
		 strpbrk(refused->text, "0123456789") != NULL))
		return NULL;
	return psprintf("If the first line is a header, add header%s true.", arrow);
}

/* Says how a program's output is loaded in place of the file */
static char *
fc_hint_program(const FcRefused *refused, const char *command)
{
	const FcTarget *target = refused->target;
	bool		file = !target->options->client && !target->options->program &&
		fc_target_unconverted(target)->files[refused->file].nextents == 0;

	return psprintf("load what a program prints, by %s '%s %s'",
					fc_caller_wrote_copy(target->options->caller) ? "COPY ... FROM PROGRAM" : "program => true and the source",
					command, file ? fc_advice_path(fc_source_path(target->source, refused->file), "FILE") : "FILE");
}

/* Returns a hint about what the file is, by the value that it begins with */
static char *
fc_hint_file(const FcRefused *refused)
{
	const char *value = refused->value;

	if (!fc_hint_is_first(refused))
		return NULL;
	if (strncmp(value, FC_MARK, strlen(FC_MARK)) == 0)
		return psprintf("If the file begins with a byte order mark, %s.",
						fc_hint_program(refused, "tail -c +4"));
	if (value[0] == '#' || strncmp(value, "//", 2) == 0)
		return psprintf("If lines at the beginning are no records, add header%s 1, or as many as there are.",
						fc_caller_arrow(refused->target->options->caller));
	return NULL;
}

/* Returns a hint about a file that is no table, by the record it begins with */
static char *
fc_hint_markup(const FcRefused *refused)
{
	const char *text = refused->text;
	const char *end;

	if (!fc_hint_is_first(refused) || text == NULL)
		return NULL;
	text += strspn(text, " \t");
	if (text[0] == '<' && (isalpha((unsigned char) text[1]) || (text[1] && strchr("!/?", text[1]))))
		return pstrdup("If the file is in HTML or XML, it may be a page of an error in place of the data: look at what its source has sent, or make it CSV first.");
	/* with a header, its second line */
	end = text[0] == '"' ? strchr(text + 1, '"') : NULL;
	if (strncmp(text, "{\"", 2) == 0 || strncmp(text, "[{", 2) == 0 || strcmp(text, "[") == 0 || strcmp(text, "{") == 0 ||
		(end && strncmp(end, "\": ", 3) == 0))
		return psprintf("If the file is in JSON, use format%s 'json'. An object must be a line: jq -c . FILE makes such lines, and jq -c '.[]' FILE those of an array.",
						fc_caller_arrow(refused->target->options->caller));
	for (int i = 0; i < lengthof(fc_hint_commands); i++)
		if (strncmp(text, fc_hint_commands[i], strlen(fc_hint_commands[i])) == 0 || strcmp(text, "--") == 0)
			return pstrdup("If the file is a script of SQL commands, run it by psql -f.");
	return NULL;
}

/* Returns a hint about what may stand for NULL, beside what does already */
static char *
fc_hint_null(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	/* the empty string goes on to stand for it beside these */
	const char *option = options->null_string_word || options->json || fc_hint_is_blank(refused->value) ? "null_strings" :
		fc_caller_wrote_copy(options->caller) ? "null" : "null_string";

	return psprintf("If \"%s\" stands for NULL, add %s%s '%s'.", refused->value, option,
					fc_caller_arrow(options->caller), refused->value);
}

/* Returns a hint about a value that its type refuses */
static char *
fc_hint_of_value(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	const char *arrow = fc_caller_arrow(options->caller);
	char	   *hint = fc_hint_words(refused);

	if (hint)
		return hint;
	if (fc_hint_is_null(refused->value) ||
		(fc_hint_is_blank(refused->value) && (refused->value[0] != '\0' || options->null_string_word)))
		return fc_hint_null(refused);
	if (refused->value[0] == '\0' && fc_format_is_csv(&options->format) &&
		options->force_null == NIL && options->force_not_null == NIL && options->null_string_word == NULL)
		return psprintf("If empty strings in quotes stand for NULL, add force_null%s %s.", arrow,
						fc_caller_wrote_copy(options->caller) ? "(column, ...)" : "'{*}'");
	hint = fc_hint_file(refused);
	return hint ? hint : fc_hint_of_type(refused);
}

/* Does the record end with the delimiter, before its line end? */
static bool
fc_hint_ends_open(const FcRefused *refused, const char *delimiter)
{
	char		tail[FC_DELIM_BYTES + 2];
	int			n = Min(refused->length, sizeof(tail));
	int			len = strlen(delimiter);

	fc_source_read(refused->target->source, refused->offset + refused->length - n, tail, n);
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
		n--;
	return n >= len && memcmp(tail + n - len, delimiter, len) == 0;
}

/* Returns a hint about a record with too few or too many fields */
static char *
fc_hint_of_fields(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	const char *arrow = fc_caller_arrow(options->caller);
	const char *delim = options->delimiter;

	if (refused->what == FC_REFUSED_MISSING && refused->text && refused->text[0] == '\0')
		return psprintf("If empty lines are to be left out, add %s.",
						fc_caller_wrote_copy(options->caller) ? "skip_empty_lines" : "skip_empty_lines => true");
	if (!fc_hint_is_first(refused) || options->header_map)
		return NULL;
	if (refused->what == FC_REFUSED_EXTRA && delim[0] != '\t' && fc_hint_ends_open(refused, delim))
		return psprintf("If each line ends with \"%s\", add ignore_extra_columns%s.", delim,
						fc_caller_wrote_copy(options->caller) ? "" : " => true");
	if (options->columns != NIL)
		return psprintf("If the file has other columns than the list, name those, or leave the list out and let a header line say which they are: header%s 'map'.", arrow);
	return psprintf("If the file has other columns than the table, name them%s, or let a header line say which they are: header%s 'map'.",
					fc_caller_wrote_copy(options->caller) ? "" : " in columns", arrow);
}

/*
 * Returns a hint about a header that does not match.  The option that it names
 * must not be refused in turn.
 */
static char *
fc_hint_of_header(const FcRefused *refused)
{
	const FcTarget *target = refused->target;
	const FcOptions *options = target->options;
	const char *arrow = fc_caller_arrow(options->caller);
	char	   *map = psprintf("header%s 'map'%s", arrow,
							   options->columns == NIL ? "" : " without the list of columns");
	int			n = 0;
	int			known = refused->text == NULL ? 0 :
		fc_columns_known(target->rel, options, &target->dialect, refused->text, &n);

	if (n > 0 && known == 0)
		return psprintf("No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header%s true; if the first line is a record, leave header out.", arrow);
	if (known < n)
		return psprintf("If the file has other columns than these, use %s, and ignore_extra_columns%s to skip what is no column of the table.",
						map, fc_caller_wrote_copy(options->caller) ? "" : " => true");
	return psprintf("If the file has the columns in another order, or not all of them, use %s.", map);
}

/* Is there such a byte in these? */
static bool
fc_hint_has_zero(const FcSource *source, uint64 offset, uint64 length)
{
	char		bytes[FC_HINT_BYTES];
	size_t		n = Min(length, sizeof(bytes));

	fc_source_read(source, offset, bytes, n);
	return memchr(bytes, '\0', n) != NULL;
}

/* Is the file in UTF-16?  It then begins with a mark, or has zero bytes. */
static bool
fc_hint_is_wide(const FcRefused *refused)
{
	const FcSource *source = fc_target_unconverted(refused->target);
	uint64		at = source->files[refused->file].base;
	uint64		size = source->files[refused->file].identity.size;
	char		mark[2];

	/* what came from a client may be gone */
	if (source->ring || size < sizeof(mark) || refused->target->options->utf16 > FC_UTF16_MARKED)
		return false;
	fc_source_read(source, at, mark, sizeof(mark));
	return memcmp(mark, "\xff\xfe", 2) == 0 || memcmp(mark, "\xfe\xff", 2) == 0 ||
		fc_hint_has_zero(source, at, Min(size, FC_HINT_HEAD));
}

/* Returns a hint about bytes that are no characters of the file's encoding */
static char *
fc_hint_of_bytes(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	FcCaller	caller = options->caller;

	if (fc_hint_is_wide(refused))
		return fc_caller_reads_as_core(caller) ?
			psprintf("If the file is in UTF-16, %s.", fc_hint_program(refused, "iconv -f UTF-16 -t UTF-8")) :
			psprintf("If the file is in UTF-16, add encoding%s 'UTF16'.", fc_caller_arrow(caller));
	/* no encoding has that; a conversion has made it of others */
	if (refused->target->original == NULL && fc_hint_has_zero(refused->target->source, refused->offset, refused->length))
		return NULL;
	return psprintf("If the file is in another encoding than %s, say which, such as encoding%s 'LATIN1' or 'WIN1252'.",
					pg_encoding_to_char(options->file_encoding),
					fc_caller_arrow(caller));
}

char *
fc_hint_text(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	char		separator;
	char	   *hint;

	/* a value that is not known: an error of code that the row has started */
	if (refused->what == FC_REFUSED_NOTHING ||
		(refused->what == FC_REFUSED_VALUE && refused->value == NULL))
		return NULL;
	if (refused->what == FC_REFUSED_BYTES)
		return fc_hint_of_bytes(refused);
	hint = fc_hint_markup(refused);
	if (hint)
		return hint;
	if (refused->what == FC_REFUSED_COMMAND)
		return psprintf("If a function of the table is marked PARALLEL SAFE, and does what a worker may not, mark it PARALLEL UNSAFE; or use workers%s 0.",
						fc_caller_arrow(options->caller));
	/* it may swallow the rest of the file */
	if (refused->what == FC_REFUSED_QUOTE && refused->text && strstr(refused->text, "\\\""))
		return psprintf("If a backslash stands before quotes within values, add escape%s '\\'.", fc_caller_arrow(options->caller));
	if (refused->what == FC_REFUSED_QUOTE)
		return refused->line == 0 ? NULL :
			psprintf("The record begins in line " UINT64_FORMAT ": look there for a quote without its pair. If quotes are text, as where they stand for inches, add quote%s 'none'.",
					 refused->line, fc_caller_arrow(options->caller));
	separator = fc_hint_separator(refused);
	if (separator != '\0')
		return psprintf("If the fields are separated by %s, %s delimiter%s %s.",
						separator == '\t' ? "tabs" : psprintf("\"%c\"", separator),
						options->delimiter_word ? "use" : "add",
						fc_caller_arrow(options->caller),
						separator == '\t' ? "E'\\t'" : psprintf("'%c'", separator));
	if (refused->what == FC_REFUSED_VALUE)
		return fc_hint_of_value(refused);
	return refused->what == FC_REFUSED_HEADER ? fc_hint_of_header(refused) : fc_hint_of_fields(refused);
}

FcRefusedFor
fc_hint_about(const FcOptions *options)
{
	int			code = geterrcode();
	bool		moment = (code == ERRCODE_INVALID_DATETIME_FORMAT || code == ERRCODE_DATETIME_FIELD_OVERFLOW);
	FcRefusedFor what = moment || code == ERRCODE_INVALID_TEXT_REPRESENTATION || code == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE ? FC_REFUSED_VALUE :
		code == ERRCODE_CHARACTER_NOT_IN_REPERTOIRE ? FC_REFUSED_BYTES :
		code == ERRCODE_INVALID_TRANSACTION_STATE ? FC_REFUSED_COMMAND : FC_REFUSED_NOTHING;

	if (fc_caller_errors_as_core(options->caller) || fc_format_is_binary(&options->format) ||
		(what == FC_REFUSED_NOTHING && code != ERRCODE_BAD_COPY_FILE_FORMAT))
		return FC_REFUSED_NOTHING;
	/* what is known of the value says more than the hint about all moments */
	if (!moment && !fc_error_wants_hint(""))
		return FC_REFUSED_NOTHING;
	for (int i = 0; i < lengthof(fc_hint_messages) && what == FC_REFUSED_NOTHING; i++)
		if (fc_error_wants_hint(fc_hint_messages[i].message))
			what = fc_hint_messages[i].what;
	return what;
}

void
fc_hint(const FcRefused *refused)
{
	char	   *hint = fc_hint_text(refused);

	if (hint)
		errhint("%s", hint);
}
