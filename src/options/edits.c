/*-------------------------------------------------------------------------
 *
 * options/edits.c
 *	  What the caller says of values that are written otherwise than PostgreSQL
 *	  reads them: trim_blanks, null_strings and number_format.
 *
 *	 '1.234,56' ──► "." and ","
 *	 '{"a": ["n/a", "-"]}' ──► column a: its words
 *
 * Everything is allocated in the load's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "parser/parse_relation.h"
#include "regex/regex.h"

#include "options/columns.h"
#include "row/edit.h"

/*
 * What may stand between thousands; the last three are those of UTF8: no-break
 * spaces and the apostrophe of typesetters
 */
static const char *const groups[] = {
	".", ",", " ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99"
};

/* The separator of thousands that the text begins with, or "" */
static const char *
fc_edits_group(const char *s)
{
	int			n = lengthof(groups) - (GetDatabaseEncoding() == PG_UTF8 ? 0 : 3);

	for (int i = 0; i < n; i++)
		if (strncmp(s, groups[i], strlen(groups[i])) == 0)
			return groups[i];
	return "";
}

static size_t
fc_edits_digits(const char *s)
{
	return strspn(s, "0123456789");
}

/*
 * Reads the example: thousands, if they are set apart, then the decimal
 * separator and a fraction.  False if it does not show which is which.
 */
static bool
fc_edits_number_read(const char *s, FcNumberFormat *number)
{
	size_t		n = fc_edits_digits(s);
	const char *group = fc_edits_group(s + n);
	const char *rest = s + n;
	bool		grouped = n > 0 && n <= 3 && group[0] != '\0' &&
		fc_edits_digits(rest + strlen(group)) == 3;

	if (n == 0)
		return false;
	while (grouped && strncmp(rest, group, strlen(group)) == 0)
	{
		if (fc_edits_digits(rest + strlen(group)) != 3)
			return false;
		rest += strlen(group) + 3;
	}
	number->group = grouped ? group : "";
	number->decimal = *rest == ',' ? "," : ".";
	return (*rest == '.' || *rest == ',') && fc_edits_digits(rest + 1) > 0 &&
		rest[1 + fc_edits_digits(rest + 1)] == '\0';
}

/* missing_columns */
enum
{
	FC_LACK_ERROR,
	FC_LACK_NULL,
	FC_LACK_DEFAULT
};
bool
fc_edits_footer(const FcOptions *options, char *line, int len)
{
	return RE_compile_and_execute(cstring_to_text(options->footer), line, len, REG_ADVANCED,
								  DEFAULT_COLLATION_OID, 0, NULL);
}

/* May a record begin with this byte, that is no comment? */
static bool
fc_edits_is_data(const FcOptions *options, char c)
{
	const CopyFormatOptions *format = &options->format;

	if (c == '\0' || IS_HIGHBIT_SET(c) || strchr("\r\n", c) || (options->delimiter && strchr(options->delimiter, c)) ||
		format->null_print[0] == c || (options->default_string && options->default_string[0] == c))
		return true;
	if (options->json)
		return strchr("{ \t", c) != NULL;
	return fc_format_is_csv(format) ? c == format->quote[0] || c == format->escape[0] : c == '\\';
}

/* Which lines of the file are no records, and how many records are loaded */
static void
fc_edits_part(FcOptions *options)
{
	const char *footer = options->skip_footer_word;

	if (options->given[FC_OPTION_max_records] && options->max_records <= 0)
		fc_option_error(errmsg("max_records must be greater than zero"));
	if (options->max_records > 0 && OidIsValid(options->ledger))
		fc_option_error(errmsg("max_records cannot be used with a ledger"),
						errhint("The ledger would have the files as loaded."));
	if (footer && strspn(footer, "-0123456789") < strlen(footer))
	{
		options->footer = unconstify(char *, footer);
		(void) fc_edits_footer(options, "", 0);
	}
	else if (footer && (footer[0] == '\0' || strlen(footer) > 6 || strchr(footer, '-')))
		fc_option_error(errmsg("skip_footer must be a number of lines below a million, or a regular expression"));
	else if (footer)
		options->footer_lines = atoi(footer);
	if (options->comment && (strlen(options->comment) != 1 || fc_edits_is_data(options, options->comment[0])))
		fc_option_error(errmsg("comment must be one byte of ASCII that no record begins with"),
						errdetail("It can be no line end, delimiter, quote or escape, nor the first byte of null_string or default_string."));
}

void
fc_options_edits(FcOptions *options)
{
	const uint16 trims[] = {0, FC_FIELD_TRIM, FC_FIELD_TRIM | FC_FIELD_TRIM_QUOTED};
	FcNumberFormat *number = &options->number;
	const char *example = options->number_format_word;
	const char *given;
	int			missing;

	options->trim = trims[fc_option_word(options, FC_OPTION_trim_blanks)];
	number->group = number->decimal = "";
	if (example && !fc_edits_number_read(example, number))
		fc_option_error(errmsg("number_format \"%s\" does not show both separators", example),
						errhint("Give an example of a number as the file writes it, with thousands and decimals, such as '1.234,56', '1 234,56' or, if thousands are not set apart, '1234,56'."));
	/* PostgreSQL reads such numbers anyway */
	if (number->group[0] == '\0' && number->decimal[0] == '.')
		number->decimal = "";
	missing = fc_option_word(options, FC_OPTION_missing_columns);
	options->pads = missing != FC_LACK_ERROR || options->json;
	if (missing == FC_LACK_DEFAULT && !options->json)
		fc_option_error(errmsg("missing_columns \"default\" requires format \"json\""),
						errhint("Elsewhere default_string is what fields that stand for a default are written as."));
	if (missing == FC_LACK_DEFAULT)
		options->default_string = "\\D";
	fc_edits_part(options);
	given = options->null_strings ? "null_strings" : options->trim ? "trim_blanks" :
		options->number_format_word ? "number_format" :
		options->skip_empty_lines ? "skip_empty_lines" :
		options->max_records > 0 ? "max_records" :
		options->skip_footer_word ? "skip_footer" :
		options->comment ? "comment" :
		missing != FC_LACK_ERROR ? "missing_columns" : NULL;
	if (given && fc_format_is_binary(&options->format))
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot specify %s in BINARY mode", given),
				 errhint("The binary format has no lines, and its values are no texts: leave it out."));
}

/* A word of null_strings; ERROR 22023 if it is none */
static Node *
fc_edits_word(const JsonbValue *value)
{
	char	   *word = fc_json_text(value);

	if (word == NULL)
		fc_option_error(errmsg("null_strings must be words, an array of words, or an object of columns and their words"),
						errhint("Write it like '[\"n/a\", \"-\"]' or '{\"amount\": [\"n/a\", \"-\"]}'."));
	return (Node *) makeString(word);
}

/* The words of one column or of all: an array, or a single one */
static DefElem *
fc_edits_words(char *column, JsonbValue *value)
{
	JsonbContainer *array = value->type == jbvBinary ? value->val.binary.data : NULL;
	List	   *words = NIL;

	if (array == NULL || !JsonContainerIsArray(array))
		words = list_make1(fc_edits_word(value));
	else
		for (uint32 i = 0; i < JsonContainerSize(array); i++)
			words = lappend(words, fc_edits_word(getIthJsonbValueFromContainer(array, i)));
	return makeDefElem(column, (Node *) words, -1);
}

List *
fc_edits_null_strings(char *text)
{
	Jsonb	   *json = fc_json_read(text, "[{");
	JsonbIterator *it = json ? JsonbIteratorInit(&json->root) : NULL;
	JsonbValue	value = {.type = jbvString,.val.string = {strlen(text), text}};
	char	   *column = NULL;
	List	   *list = NIL;

	if (json && !JB_ROOT_IS_OBJECT(json))
		JsonbToJsonbValue(json, &value);
	else if (json)
	{
		while (fc_json_next(&it, &column, &value))
			list = lappend(list, fc_edits_words(column, &value));
		return list;
	}
	return list_make1(fc_edits_words(NULL, &value));
}

/* Sets the words of the fields that are this column, or have the name */
static void
fc_edits_set_words(Relation rel, const DefElem *null, FcColumns *columns)
{
	const char *column = null->defname;
	AttrNumber	attnum = column ? get_attnum(RelationGetRelid(rel), column) : 0;
	bool		found = column == NULL;

	for (int i = 0; i < list_length(columns->fields); i++)
	{
		const char *name = i < list_length(columns->names) ? strVal(list_nth(columns->names, i)) : "";

		/* 0 is also a field that is no column */
		if (column && strcmp(name, column) != 0 &&
			(attnum == 0 || list_nth_int(columns->fields, i) != attnum))
			continue;
		found = true;
		if (null->arg == NULL)
			continue;
		columns->words[i] = (List *) null->arg;
		columns->flags[i] |= FC_FIELD_WORDS;
	}
	if (!found)
		fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("null_strings column \"%s\" is not a column of the file", column));
}

void
fc_edits_make(Relation rel, const FcOptions *options, FcColumns *columns)
{
	int			n = list_length(columns->fields);

	columns->words = palloc0(sizeof(List *) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		AttrNumber	attnum = list_nth_int(columns->fields, i);

		columns->flags[i] |= options->trim;
		if (attnum != 0 && options->number.decimal[0] != '\0' &&
			fc_edit_is_number(attnumTypeId(rel, attnum)))
			columns->flags[i] |= FC_FIELD_NUMBER;
	}
	if (options->null_strings == NULL)
		return;
	foreach_node(DefElem, null, fc_edits_null_strings(options->null_strings))
		fc_edits_set_words(rel, null, columns);
}
