/*-------------------------------------------------------------------------
 *
 * row/parse_key.c
 *	  The key of a record, without its other fields.
 *
 *	 record ──► the key's field (grammar/marks.c where the record is marked)
 *			──► conversion ──► key, as a number
 *
 * The scan reads keys in this way.  If a fault of the record may be tolerated,
 * the scan must parse the whole record instead, from unchanged bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "grammar/binary.h"
#include "key/range.h"
#include "row/parse.h"
#include "row/parser.h"

/* The key that fc_parse_any_key reads */
typedef struct FcKeyWanted
{
	FcParser   *parser;
	const FcRecord *record;
	int64	   *key;
	bool	   *null;
	bool		found;
} FcKeyWanted;

void
fc_parse_field_encoding(FcParser *parser, FcField *field)
{
	if (parser->dialect.mode != FC_MODE_BINARY && !fc_parse_is_ascii(field->data, field->len))
		field->data = fc_parse_encoding(parser, field->data, &field->len);
	if (field->verify)
		pg_verifymbstr(field->data, field->len, false);
}

/*
 * May the key be read from its field alone?  Not if the field has FC_FIELD_*
 * or stands for a default, nor if only the server's encoding shows a NULL.
 */
static bool
fc_parse_key_alone(FcParser *parser, FcColumn *column, const FcField *field)
{
	return column->flags == 0 && !field->marker &&
		(parser->null_ascii || !parser->shared->plan.need_transcoding);
}

/* Cuts the key's field, by marks if there are any; false if it is missing */
static inline bool
fc_parse_key_field(FcParser *parser, const FcRecord *record, FcField *field)
{
	int			wanted = parser->shared->plan.key.field;
	FcBorders	borders;

	Assert(wanted >= 0 && wanted < parser->ncolumns);
	if (parser->dialect.mode == FC_MODE_BINARY)
		return fc_binary_field(record->data, record->length, wanted, field);
	if (record->marks == NULL)
		return fc_field_at(&parser->dialect, record->data, record->length,
						   wanted, field);
	if (!fc_marks_borders(record->marks, record->marks_pos, record->length,
						  wanted, &borders))
		return false;
	fc_field_cut(&parser->dialect, record->data, &borders, field);
	return true;
}

/* Body of fc_parse_in_zone: reads any key */
static void
fc_parse_any_key(void *arg)
{
	FcKeyWanted *wanted = arg;
	FcParser   *parser = wanted->parser;
	FcShared   *shared = parser->shared;
	FcColumn   *column = &parser->columns[shared->plan.key.field];
	FcField		field;
	Datum		value;

	if (column->transform)
		return;
	if (!fc_parse_key_field(parser, wanted->record, &field))
	{
		if (shared->plan.tolerated != 0 || shared->plan.pads)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("missing data for column \"%s\"", column->name)));
	}
	if (!fc_parse_key_alone(parser, column, &field) ||
		(field.verify && shared->plan.tolerated != 0))
		return;
	*wanted->null = field.null;
	*wanted->key = 0;
	wanted->found = field.null;
	if (field.null)
		return;
	if (shared->plan.tolerated != 0)
	{
		/* core, which reads such a pattern, might throw a tolerated error */
		if (column->pattern ?
			(column->pattern->kind == FC_PATTERN_CORE ||
			 !fc_pattern_parse(column->pattern, field.data, field.len, &value)) :
			!fc_convert(&column->convert, field.data, field.len, &value))
			return;
	}
	else if (column->pattern ||
			 !fc_convert(&column->convert, field.data, field.len, &value))
	{
		/* only bytes that fc_convert has accepted are known to be valid */
		fc_parse_field_encoding(parser, &field);
		value = fc_column_value(column, &field);
	}
	*wanted->key = fc_key_from_datum(shared->plan.key.type, value);
	wanted->found = true;
}

/*
 * Reads the key of a record that is marked and has no quotes, if nothing about
 * it is special; does not change the record
 */
static inline bool
fc_parse_usual_key(FcParser *parser, const FcRecord *record, int64 *key)
{
	const FcDialect *dialect = &parser->dialect;
	FcBorders	at;
	char	   *field;
	size_t		len;
	Datum		value;

	if (parser->quick.key == NULL || record->marks == NULL || record->marks->has_quotes ||
		!fc_marks_borders(record->marks, record->marks_pos, record->length,
						  parser->shared->plan.key.field, &at))
		return false;
	field = record->data + at.start;
	len = at.end - at.start;
	if (len == dialect->null_len && memcmp(field, dialect->null_string, len) == 0)
		return false;
	parser->quick.room.readable = record->data + record->length + 1;
	if (!parser->quick.key->function(parser->quick.key, field, len, &value))
		return false;
	*key = fc_key_from_datum(parser->shared->plan.key.type, value);
	return true;
}

bool
fc_parse_key(FcParser *parser, const FcRecord *record, int64 *key, bool *null)
{
	FcKeyWanted wanted = {parser, record, key, null};

	*null = false;
	if (fc_parse_usual_key(parser, record, key))
		return true;
	fc_parse_in_zone(parser, fc_parse_any_key, &wanted);
	return wanted.found;
}

char *
fc_parse_copy(FcParser *parser, const char *data, size_t len)
{
	if (len >= parser->look.size)
	{
		parser->look.size = Max(len + 1, parser->look.size * 2);
		parser->look.data = repalloc_huge(parser->look.data, parser->look.size);
	}
	Assert(len < parser->look.size);
	memcpy(parser->look.data, data, len);
	return parser->look.data;
}

/* As fc_parse_key_field, but cuts a copy of the record */
static bool
fc_parse_key_copy(FcParser *parser, const FcRecord *record, FcField *field)
{
	FcRecord	copy = *record;
	FcBorders	borders;

	if (record->marks == NULL)
	{
		copy.data = fc_parse_copy(parser, record->data, record->length);
		return fc_parse_key_field(parser, &copy, field);
	}
	if (!fc_marks_borders(record->marks, record->marks_pos, record->length,
						  parser->shared->plan.key.field, &borders))
		return false;
	copy.data = fc_parse_copy(parser, record->data + borders.start,
							  borders.end - borders.start);
	borders.end -= borders.start;
	borders.start = 0;
	fc_field_cut(&parser->dialect, copy.data, &borders, field);
	return true;
}

/* Is the field's value the key, and plain?  Then sets *key. */
static bool
fc_parse_plain_value(FcParser *parser, const FcField *field, int64 *key)
{
	FcColumn   *column = &parser->columns[parser->shared->plan.key.field];
	Datum		value;

	if (field->null || field->verify || !fc_parse_key_alone(parser, column, field) ||
		column->pattern != NULL ||
		!fc_convert(&column->convert, field->data, field->len, &value))
		return false;
	*key = fc_key_from_datum(parser->shared->plan.key.type, value);
	return true;
}

bool
fc_parse_plain_key(FcParser *parser, const FcRecord *record, int64 *key)
{
	FcField		field;

	return parser->zones.file == NULL &&
		fc_parse_key_copy(parser, record, &field) &&
		fc_parse_plain_value(parser, &field, key);
}

bool
fc_parse_key_is_default(const FcParser *parser)
{
	Assert(parser->shared->plan.key.field >= 0);
	return parser->record.fields[parser->shared->plan.key.field].marker;
}
