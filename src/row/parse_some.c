/*-------------------------------------------------------------------------
 *
 * row/parse_some.c
 *	  The values of some fields of a record, which stays as it is.
 *
 *	 record ──► copy of each field (by grammar/marks.c where the record is
 *			marked) ──► conversion ──► values
 *
 * By the columns of a partition key the leaf of a record is found, whose bytes
 * then go to another server as they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "row/parse_some.h"
#include "row/parser.h"

static bool
fc_parse_is_ascii(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (IS_HIGHBIT_SET(bytes[i]))
			return false;
	return true;
}

/* Reads a field that has neither quotes nor backslashes, if it converts */
static inline bool
fc_parse_one_quickly(FcParser *parser, const FcRecord *record, int number,
					 Datum *value, bool *null)
{
	const FcDialect *dialect = &parser->dialect;
	FcBorders	at;
	const char *bytes;
	char	   *copy;
	size_t		len;

	if (!fc_marks_borders(record->marks, record->marks_pos, record->length, number, &at) ||
		at.quotes > 0)
		return false;
	bytes = record->data + at.start;
	len = at.end - at.start;
	*null = len == dialect->null_len &&
		memcmp(bytes, dialect->null_string, len) == 0;
	*value = (Datum) 0;
	if (*null)
		return true;
	if (record->marks->has_strange && !fc_parse_is_ascii(bytes, len))
		return false;
	copy = fc_parse_copy(parser, bytes, len);
	copy[len] = '\0';
	return fc_convert(&parser->columns[number].convert, copy, len, value);
}

bool
fc_parse_some_quickly(FcParser *parser, const FcRecord *record, const int *fields,
					  int n, Datum *values, bool *nulls)
{
	if (record->marks == NULL)
		return false;
	for (int i = 0; i < n; i++)
		if (!fc_parse_one_quickly(parser, record, fields[i], &values[i], &nulls[i]))
			return false;
	return true;
}

/* Brings the field's bytes into the server's encoding, or verifies them */
static void
fc_parse_one_encoding(FcParser *parser, FcField *field)
{
	if (!fc_parse_is_ascii(field->data, field->len))
		field->data = fc_parse_encoding(parser, field->data, &field->len);
	if (field->verify)
		pg_verifymbstr(field->data, field->len, false);
}

void
fc_parse_some(FcParser *parser, const FcRecord *record, const int *fields, int n,
			  Datum *values, bool *nulls)
{
	for (int i = 0; i < n; i++)
	{
		FcColumn   *column = &parser->columns[fields[i]];
		char	   *copy = fc_parse_copy(parser, record->data, record->length);
		FcField		field;

		if (!fc_record_field(&parser->dialect, copy, record->length, fields[i], &field))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("missing data for column \"%s\"", column->name)));
		nulls[i] = field.null;
		if (!field.null)
			fc_parse_one_encoding(parser, &field);
		values[i] = fc_column_value(column, &field);
	}
}
