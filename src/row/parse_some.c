/*-------------------------------------------------------------------------
 *
 * row/parse_some.c
 *	  The values of some fields of a record, which stays as it is.
 *
 *	record ──► borders of each field (grammar/marks.c) ──► conversion ──► value
 *		'──► copy, where it is not marked or a field is no plain one ──'
 *
 * These are the partition key's: they tell the leaf of a record that goes to
 * another server as it is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "row/parse_some.h"
#include "row/parser.h"

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
		char	   *copy = fc_parse_copy(parser, record->data, record->length);
		FcField		field;

		if (!fc_field_at(&parser->dialect, copy, record->length, some->fields[i], &field))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("missing data for column \"%s\"", column->name)));
		nulls[i] = field.null;
		if (!field.null)
			fc_parse_field_encoding(parser, &field);
		values[i] = fc_column_value(column, &field);
	}
}
