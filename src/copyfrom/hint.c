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

#include "mb/pg_wchar.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "copyfrom/hint.h"
#include "copyfrom/hint_value.h"
#include "errors/context.h"
#include "source/advice.h"

#define FC_HINT_HEAD	4		/* bytes of the file that tell its encoding */
#define FC_HINT_BYTES	512		/* bytes of a record that are looked at */

/* What people write for NULL */
static const char *const fc_hint_nulls[] = {
	"NA", "N/A", "#N/A", "NULL", "(null)", "None", "nil", "\\N", "-", "?"
};

/* What people separate fields by */
static const char fc_hint_separators[] = ";\t|,";

/* What core says of a record, by its messages */
static const struct
{
	const char *message;		/* its beginning */
	FcRefusedFor what;
}			fc_hint_messages[] = {
	{"missing data for column", FC_REFUSED_MISSING},
	{"extra data after last expected column", FC_REFUSED_EXTRA},
	{"column name mismatch in header line", FC_REFUSED_HEADER},
	{"wrong number of fields in header line", FC_REFUSED_HEADER},
};

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

	if (refused->text == NULL || RelationGetNumberOfAttributes(refused->target->rel) == 1 ||
		fc_hint_count(refused->text, refused->target->options->format.delim[0]) > 0)
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
	const char *value = refused->value;

	if (!refused->first || refused->target->options->header_lines > 0)
		return false;
	if (fc_hint_has_mark(value))
		value += FC_HINT_MARK_LEN;
	if (pg_strcasecmp(value, refused->column) == 0)
		return true;
	return refused->text && isalpha((unsigned char) value[0]) &&
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

/* Says how a program's output is loaded in place of the file */
static char *
fc_hint_program(const FcRefused *refused, const char *command)
{
	const FcTarget *target = refused->target;
	bool		file = !target->options->client && !target->options->program &&
		(target->original ? target->original : target->source)->files[refused->file].nextents == 0;

	return psprintf("load what a program prints, by %s '%s %s'",
					fc_caller_wrote_copy(target->options->caller) ? "COPY ... FROM PROGRAM" : "program => true and the source",
					command, file ? fc_advice_path(fc_source_path(target->source, refused->file), "FILE") : "FILE");
}

/* Returns a hint about what the file is, by the value that it begins with */
static char *
fc_hint_file(const FcRefused *refused)
{
	const char *value = refused->value;

	if (!refused->first)
		return NULL;
	if (fc_hint_has_mark(value))
		return psprintf("If the file begins with a byte order mark, %s.",
						fc_hint_program(refused, "tail -c +4"));
	if (value[0] == '#' || strncmp(value, "//", 2) == 0)
		return psprintf("If lines at the beginning are no records, add header%s 1, or as many as there are.",
						fc_caller_arrow(refused->target->options->caller));
	if (refused->text && (strncmp(refused->text, "{\"", 2) == 0 ||
						  strncmp(refused->text, "[{", 2) == 0 || strcmp(refused->text, "[") == 0))
		return pstrdup("If the file is in JSON, make it CSV first, such as by a program that uses jq -r and @csv.");
	if (strncmp(value, "PAR1", 4) == 0)
		return pstrdup("If the file is in Parquet format, make it CSV first.");
	return NULL;
}

/* Returns a hint about a value that its type refuses */
static char *
fc_hint_of_value(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	const char *arrow = fc_caller_arrow(options->caller);
	char	   *hint;

	if (fc_hint_is_header(refused))
		return psprintf("If the first line is a header, add header%s true.", arrow);
	if (fc_hint_is_null(refused->value))
		return psprintf("If \"%s\" stands for NULL, add %s%s '%s'.", refused->value,
						fc_caller_wrote_copy(options->caller) ? "null" : "null_string", arrow, refused->value);
	if (refused->value[0] == '\0' && fc_format_is_csv(&options->format) &&
		options->force_null == NIL && options->force_not_null == NIL && options->words.null_string == NULL)
		return psprintf("If empty strings in quotes stand for NULL, add force_null%s %s.", arrow,
						fc_caller_wrote_copy(options->caller) ? "(column, ...)" : "'{*}'");
	hint = fc_hint_file(refused);
	return hint ? hint : fc_hint_of_type(refused);
}

/* The last byte of the record before its line end; 0 if it has none */
static char
fc_hint_last_byte(const FcRefused *refused)
{
	char		tail[3];
	int			n = Min(refused->length, sizeof(tail));

	fc_source_read(refused->target->source, refused->offset + refused->length - n, tail, n);
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
		n--;
	return n > 0 ? tail[n - 1] : '\0';
}

/* Returns a hint about a record with too few or too many fields */
static char *
fc_hint_of_fields(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	const char *arrow = fc_caller_arrow(options->caller);
	char		delim = options->format.delim[0];

	if (refused->what == FC_REFUSED_MISSING && refused->text && refused->text[0] == '\0')
		return psprintf("If empty lines are to be left out, add on_error%s 'ignore' and on_error_classes%s %s; records with too few fields are left out, too.",
						arrow, arrow, fc_caller_wrote_copy(options->caller) ? "(missing_columns)" : "'{missing_columns}'");
	if (!refused->first || options->header_map)
		return NULL;
	if (refused->what == FC_REFUSED_EXTRA && delim != '\t' && fc_hint_last_byte(refused) == delim)
		return psprintf("If each line ends with \"%c\", %s.", delim,
						fc_hint_program(refused, psprintf("sed \"s/[%c]$//\"", delim)));
	return psprintf("If the file has other columns than the table, name them%s, or let a header line say which they are: header%s 'map'.",
					fc_caller_wrote_copy(options->caller) ? "" : " in columns", arrow);
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
	const FcSource *source = refused->target->source;
	uint64		at = source->files[refused->file].base;
	uint64		size = source->files[refused->file].identity.size;
	char		mark[2];

	/* what came from a client may be gone */
	if (source->ring || size < sizeof(mark))
		return false;
	fc_source_read(source, at, mark, sizeof(mark));
	return memcmp(mark, "\xff\xfe", 2) == 0 || memcmp(mark, "\xfe\xff", 2) == 0 ||
		fc_hint_has_zero(source, at, Min(size, FC_HINT_HEAD));
}

/* Returns a hint about bytes that are no characters of the file's encoding */
static char *
fc_hint_of_bytes(const FcRefused *refused)
{
	if (fc_hint_is_wide(refused))
		return psprintf("If the file is in UTF-16, %s.",
						fc_hint_program(refused, "iconv -f UTF-16 -t UTF-8"));
	/* no encoding has that */
	if (fc_hint_has_zero(refused->target->source, refused->offset, refused->length))
		return NULL;
	return psprintf("If the file is in another encoding than %s, say which, such as encoding%s 'LATIN1' or 'WIN1252'.",
					pg_encoding_to_char(refused->target->options->file_encoding),
					fc_caller_arrow(refused->target->options->caller));
}

char *
fc_hint_text(const FcRefused *refused)
{
	const FcOptions *options = refused->target->options;
	char		separator;

	/* a value that is not known: an error of code that the row has started */
	if (refused->what == FC_REFUSED_NOTHING ||
		(refused->what == FC_REFUSED_VALUE && refused->value == NULL))
		return NULL;
	if (refused->what == FC_REFUSED_BYTES)
		return fc_hint_of_bytes(refused);
	separator = fc_hint_separator(refused);
	if (separator != '\0')
		return psprintf("If the fields are separated by %s, add delimiter%s %s.",
						separator == '\t' ? "tabs" : psprintf("\"%c\"", separator),
						fc_caller_arrow(options->caller),
						separator == '\t' ? "E'\\t'" : psprintf("'%c'", separator));
	if (refused->what == FC_REFUSED_VALUE)
		return fc_hint_of_value(refused);
	if (refused->what == FC_REFUSED_HEADER)
		return psprintf("If the file has the columns in another order, or not all of them, use header%s 'map'.",
						fc_caller_arrow(options->caller));
	return fc_hint_of_fields(refused);
}

static FcRefusedFor
fc_hint_by_message(const ErrorData *edata)
{
	for (int i = 0; i < lengthof(fc_hint_messages); i++)
		if (fc_error_says(edata, fc_hint_messages[i].message))
			return fc_hint_messages[i].what;
	return FC_REFUSED_NOTHING;
}

FcRefusedFor
fc_hint_about(const FcOptions *options)
{
	FcRefusedFor what = FC_REFUSED_NOTHING;
	ErrorData  *edata;

	if (fc_caller_errors_as_core(options->caller) || fc_format_is_binary(&options->format))
		return FC_REFUSED_NOTHING;
	switch (geterrcode())
	{
		case ERRCODE_INVALID_TEXT_REPRESENTATION:
		case ERRCODE_INVALID_DATETIME_FORMAT:
		case ERRCODE_DATETIME_FIELD_OVERFLOW:
			what = FC_REFUSED_VALUE;
			break;
		case ERRCODE_CHARACTER_NOT_IN_REPERTOIRE:
			what = FC_REFUSED_BYTES;
			break;
		case ERRCODE_BAD_COPY_FILE_FORMAT:
			break;
		default:
			return FC_REFUSED_NOTHING;
	}
	edata = fc_error_so_far();
	/* core's hint about datestyle is not the last word */
	if (edata->hint && edata->sqlerrcode != ERRCODE_DATETIME_FIELD_OVERFLOW)
		what = FC_REFUSED_NOTHING;
	else if (what == FC_REFUSED_NOTHING)
		what = fc_hint_by_message(edata);
	FreeErrorData(edata);
	return what;
}

void
fc_hint(const FcRefused *refused)
{
	char	   *hint = fc_hint_text(refused);
	ErrorData  *edata;

	if (hint == NULL)
		return;
	edata = fc_error_so_far();
	if (edata->hint)
		errhint("%s %s", edata->hint, hint);
	else
		errhint("%s", hint);
	FreeErrorData(edata);
}
