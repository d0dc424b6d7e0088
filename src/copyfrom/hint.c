/*-------------------------------------------------------------------------
 *
 * copyfrom/hint.c
 *	  What may be wrong with the call if core refuses a record.
 *
 * Core knows that a value is bad, and not that the line is a header, that "NA"
 * stands for NULL or that fields are separated by ";".  Message, detail and
 * SQLSTATE stay core's.  These are guesses, and the hints say so: "if".
 *
 * A plain COPY that is accelerated gets no hints, because it has to look as
 * core's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "copyfrom/hint.h"
#include "errors/context.h"

/* What people write for NULL */
static const char *const fc_hint_nulls[] = {
	"NA", "N/A", "#N/A", "NULL", "(null)", "None", "nil", "\\N", "-", "?"
};

/* What people separate fields by */
static const char fc_hint_separators[] = ";\t|,";

/*
 * Has the error no hint yet?  Of those about the format of the file, only those
 * about the number of fields may get one.
 */
static bool
fc_hint_is_wanted(int code)
{
	ErrorData  *edata = fc_error_so_far();
	bool		wanted = edata->hint == NULL &&
		(code != ERRCODE_BAD_COPY_FILE_FORMAT ||
		 strcmp(edata->message_id, "missing data for column \"%s\"") == 0 ||
		 strcmp(edata->message_id, "extra data after last expected column") == 0);

	FreeErrorData(edata);
	return wanted;
}

static int
fc_hint_count(const char *text, char byte)
{
	int			n = 0;

	for (; *text; text++)
		n += *text == byte;
	return n;
}

/* Returns what separates the fields if the call's delimiter does not, or 0 */
static char
fc_hint_separator(const FcRefused *refused)
{
	char		best = '\0';
	int			most = 0;

	if (refused->text == NULL || refused->ncolumns == 1 ||
		fc_hint_count(refused->text, refused->options->format.delim[0]) > 0)
		return '\0';
	for (const char *s = fc_hint_separators; *s; s++)
	{
		int			n = fc_hint_count(refused->text, *s);

		if (n > most)
		{
			best = *s;
			most = n;
		}
	}
	return best;
}

/* Is it the first record, and a list of words rather than values? */
static bool
fc_hint_is_header(const FcRefused *refused)
{
	const FcOptions *options = refused->options;

	if (!refused->first || options->header_lines > 0)
		return false;
	if (pg_strcasecmp(refused->value, refused->column) == 0)
		return true;
	return refused->text && isalpha((unsigned char) refused->value[0]) &&
		strpbrk(refused->text, "0123456789") == NULL;
}

static bool
fc_hint_is_null(const char *value)
{
	for (int i = 0; i < lengthof(fc_hint_nulls); i++)
		if (pg_strcasecmp(value, fc_hint_nulls[i]) == 0)
			return true;
	return false;
}

/* Gives a hint about a value that its type refuses */
static void
fc_hint_value(const FcRefused *refused)
{
	const FcOptions *options = refused->options;
	const char *arrow = fc_option_arrow(options->statement);

	if (fc_hint_is_header(refused))
		errhint("If the first line is a header, add header%s true.", arrow);
	else if (fc_hint_is_null(refused->value))
		errhint("If \"%s\" stands for NULL, add %s%s '%s'.", refused->value,
				options->statement ? "null" : "null_string", arrow, refused->value);
	else if (refused->value[0] == '\0' && options->format.csv_mode &&
			 options->force_null == NIL && options->force_not_null == NIL && options->words.null_string == NULL)
		errhint("If empty strings in quotes stand for NULL, add force_null%s %s.", arrow,
				options->statement ? "(column, ...)" : "'{*}'");
}

/* Gives a hint about a record with too few or too many fields */
static void
fc_hint_fields(const FcRefused *refused)
{
	const FcOptions *options = refused->options;

	if (refused->first && !options->header_map)
		errhint("If the file has other columns than the table, name them%s, or let a header line say which they are: header%s 'map'.",
				options->statement ? "" : " in columns", fc_option_arrow(options->statement));
}

bool
fc_hint_is_due(const FcOptions *options)
{
	int			code = geterrcode();

	return !options->accelerated && !options->format.binary &&
		(code == ERRCODE_INVALID_TEXT_REPRESENTATION ||
		 code == ERRCODE_INVALID_DATETIME_FORMAT ||
		 code == ERRCODE_BAD_COPY_FILE_FORMAT) && fc_hint_is_wanted(code);
}

void
fc_hint(const FcRefused *refused)
{
	const FcOptions *options = refused->options;
	bool		of_value = geterrcode() != ERRCODE_BAD_COPY_FILE_FORMAT;
	char		separator;

	/* then it is an error of code that the row has started */
	if (of_value && refused->value == NULL)
		return;
	separator = fc_hint_separator(refused);
	if (separator != '\0')
		errhint("If the fields are separated by %s, add delimiter%s %s.",
				separator == '\t' ? "tabs" : psprintf("\"%c\"", separator),
				fc_option_arrow(options->statement),
				separator == '\t' ? "E'\\t'" : psprintf("'%c'", separator));
	else if (of_value)
		fc_hint_value(refused);
	else
		fc_hint_fields(refused);
}
