/*-------------------------------------------------------------------------
 *
 * row/parse_key.c
 *	  The key of a record, or some fields, without its other fields.
 *
 *	 record ──► the field (grammar/marks.c where the record is marked)
 *			──► conversion ──► value; of a key as a number
 *
 * The scan reads keys in this way.  If a fault of the record may be tolerated,
 * the scan must parse the whole record instead, from unchanged bytes.  The
 * fields of a partition key tell the leaf of a record that goes to another
 * server as it is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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

/* Bytes for values that are passed by reference */
#define FC_SOME_ROOM	1024

struct FcSome
{
	FcParser   *parser;
	int			n;
	int		   *fields;
	FcConverter *converts;		/* of each field, with the room */
	FcRoom		room;
	char	   *start;			/* its beginning */
};

/* Converts the field's bytes to the server's encoding, or verifies them */
static void
fc_parse_field_encoding(FcParser *parser, FcField *field)
{
	if (parser->dialect.mode != FC_MODE_BINARY && !fc_parse_is_ascii(field->data, field->len))
		field->data = fc_parse_encoding(parser, field->data, &field->len);
	if (field->verify)
		pg_verifymbstr(field->data, field->len, false);
}

/* The number of the key's field in the record; -1: its file lacks the column */
static inline int
fc_parse_key_number(const FcParser *parser, const FcRecord *record)
{
	const int32 *map = fc_parse_map(parser, record->offset);
	int			field = parser->shared->plan.key.field;

	Assert(field < parser->nfields);
	return map ? map[field + 1] : field;
}

/* Cuts the key's field, by marks if there are any; false if it is missing */
static inline bool
fc_parse_key_field(FcParser *parser, const FcRecord *record, FcField *field)
{
	int			wanted = fc_parse_key_number(parser, record);
	FcBorders	borders;

	Assert(wanted >= 0);
	if (parser->dialect.mode == FC_MODE_BINARY)
		return fc_binary_field(record->data, record->length, wanted, field);
	if (parser->objects)
		return fc_object_field(parser->objects, record->data, record->length, wanted, field);
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

	/* an object's keys are compared in the server's encoding */
	if (column->transform || fc_parse_key_number(parser, wanted->record) < 0 || (parser->objects && shared->plan.need_transcoding))
		return;
	if (!fc_parse_key_field(parser, wanted->record, &field))
	{
		if (!plain && !shared->plan.pads)
			fc_parse_malformed(parser, column);
		return;
	}
	/* a field with FC_FIELD_*, or for a default, needs the whole record */
	if (column->flags != 0 || field.marker || !parser->null_clear || (field.verify && plain))
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
			(column->pattern->by_core ||
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
 * Makes the value of a field of a record that is marked, and stays as it is;
 * false if the field has quotes or backslashes, or is not converted
 */
static bool
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

bool
fc_parse_key(FcParser *parser, const FcRecord *record, int64 *key, bool *null)
{
	FcKeyWanted wanted = {parser, record, key, null};
	Datum		value;

	parser->quick.room.readable = record->data + record->length + 1;
	if (parser->quick.key != NULL && record->marks != NULL &&
		fc_parse_key_number(parser, record) >= 0 &&
		fc_parse_marked(parser, parser->quick.key, record, fc_parse_key_number(parser, record), &value, null) &&
		!*null)
	{
		*key = fc_key_from_datum(parser->shared->plan.key.type, value);
		return true;
	}
	*null = false;
	fc_parse_in_zone(parser, fc_parse_any_key, &wanted);
	return wanted.found;
}

/* Copies a record to be looked at; the copy lasts until the next call */
static char *
fc_parse_copy(FcParser *parser, const FcRecord *record)
{
	resetStringInfo(&parser->copy);
	appendBinaryStringInfo(&parser->copy, record->data, record->length);
	return parser->copy.data;
}

bool
fc_parse_plain_key(FcParser *parser, const FcRecord *record, int64 *key)
{
	FcRecord	copy = *record;
	bool		null = false;
	FcKeyWanted wanted = {parser, &copy, key, &null, true};

	if (parser->file_zone || parser->columns[parser->shared->plan.key.field].pattern)
		return false;
	copy.data = fc_parse_copy(parser, record);
	fc_parse_any_key(&wanted);
	return wanted.found && !null;
}

bool
fc_parse_key_is_default(const FcParser *parser)
{
	Assert(parser->shared->plan.key.field >= 0);
	return parser->record.fields[parser->shared->plan.key.field].marker;
}

FcSome *
fc_parse_some_begin(FcParser *parser, const int *fields, int n)
{
	FcSome	   *some = palloc0(sizeof(FcSome));

	some->parser = parser;
	some->n = n;
	some->fields = palloc(sizeof(int) * Max(n, 1));
	some->converts = palloc(sizeof(FcConverter) * Max(n, 1));
	some->start = palloc(FC_SOME_ROOM);
	some->room.end = some->start + FC_SOME_ROOM;
	for (int i = 0; i < n; i++)
	{
		Assert(fields[i] >= 0 && fields[i] < parser->ncolumns);
		some->fields[i] = fields[i];
		some->converts[i] = parser->columns[fields[i]].convert;
		some->converts[i].room = &some->room;
	}
	return some;
}

bool
fc_parse_some_quickly(FcSome *some, const FcRecord *record, Datum *values, bool *nulls)
{
	if (record->marks == NULL)
		return false;
	some->room.next = some->start;
	some->room.readable = record->data - record->marks_pos + record->marks->len;
	for (int i = 0; i < some->n; i++)
		if (!fc_parse_marked(some->parser, &some->converts[i], record, some->fields[i], &values[i], &nulls[i]))
			return false;
	return true;
}

void
fc_parse_some(FcSome *some, const FcRecord *record, Datum *values, bool *nulls)
{
	FcParser   *parser = some->parser;

	for (int i = 0; i < some->n; i++)
	{
		FcColumn   *column = &parser->columns[some->fields[i]];
		char	   *copy = fc_parse_copy(parser, record);
		FcField		field;

		if (!fc_field_at(&parser->dialect, copy, record->length, some->fields[i], &field))
			fc_format_error(errmsg("missing data for column \"%s\"", column->name));
		nulls[i] = field.null;
		if (!field.null)
			fc_parse_field_encoding(parser, &field);
		values[i] = fc_column_value(column, &field);
	}
}
