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
	bool		plain;			/* it may throw no error */
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
	bool		plain = wanted->plain || shared->plan.tolerated != 0;
	FcField		field;
	Datum		value;

	if (column->transform)
		return;
	if (!fc_parse_key_field(parser, wanted->record, &field))
	{
		if (plain || shared->plan.pads)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("missing data for column \"%s\"", column->name)));
	}
	if (!fc_parse_key_alone(parser, column, &field) ||
		(field.verify && plain))
		return;
	*wanted->null = field.null;
	*wanted->key = 0;
	wanted->found = field.null;
	if (field.null)
		return;
	if (plain)
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

bool
fc_parse_marked(const FcParser *parser, FcConverter *convert, const FcRecord *record, int i,
				Datum *value, bool *null)
{
	const FcDialect *dialect = &parser->dialect;
	FcBorders	at;
	char	   *bytes;
	size_t		len;

	if (!fc_marks_borders(record->marks, record->marks_pos, record->length, i, &at) ||
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
	return fc_convert(convert, bytes, len, value);
}

/* Reads a key about which there is nothing special */
static inline bool
fc_parse_usual_key(FcParser *parser, const FcRecord *record, int64 *key)
{
	Datum		value;
	bool		null;

	if (parser->quick.key == NULL || record->marks == NULL)
		return false;
	parser->quick.room.readable = record->data + record->length + 1;
	if (!fc_parse_marked(parser, parser->quick.key, record, parser->shared->plan.key.field, &value, &null) ||
		null)
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

bool
fc_parse_plain_key(FcParser *parser, const FcRecord *record, int64 *key)
{
	FcRecord	copy = *record;
	bool		null = false;
	FcKeyWanted wanted = {parser, &copy, key, &null, true};

	if (parser->zones.file || parser->columns[parser->shared->plan.key.field].pattern)
		return false;
	copy.data = fc_parse_copy(parser, record->data, record->length);
	fc_parse_any_key(&wanted);
	return wanted.found && !null;
}

bool
fc_parse_key_is_default(const FcParser *parser)
{
	Assert(parser->shared->plan.key.field >= 0);
	return parser->record.fields[parser->shared->plan.key.field].marker;
}
