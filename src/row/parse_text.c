/*-------------------------------------------------------------------------
 *
 * row/parse_text.c
 *	  The fields of a record as text for core's own COPY.
 *
 *	record ──► fields, as in row/parse.c
 *			──► those that core would read otherwise: their values
 *			──► the others: text, which core converts
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "errors/first_error.h"
#include "row/parse.h"
#include "row/parser.h"

/*
 * Throws core's error if core would refuse a value before column i.  Called
 * before the error of column i is thrown: COPY converts column by column, and
 * its error is about the first fault.
 */
static void
fc_parse_before(FcParser *parser, int i)
{
	Assert(i >= 0 && i <= parser->ncolumns);
	for (int j = 0; j < i; j++)
	{
		FcColumn   *column = &parser->columns[j];
		FcField    *field = &parser->record.fields[j];

		if (column->index < 0 || column->ours || field->marker || parser->texts.made[j])
			continue;
		parser->texts.column = column;
		parser->texts.field = field;
		(void) fc_column_value(column, field);
	}
	parser->texts.column = NULL;
}

/* Body of fc_error_catch: sets the value of column record.done */
static void
fc_parse_try_text(void *arg)
{
	FcParser   *parser = arg;

	fc_parse_column(parser, parser->texts.column, &parser->record.fields[parser->record.done]);
}

/* Makes a value that core could not make; ERROR for the first fault up to it */
static void
fc_parse_ours(FcParser *parser, int i)
{
	ErrorData  *edata = fc_error_catch(parser->ctx, fc_parse_try_text, parser);
	FcColumn   *column = parser->texts.column;
	FcField    *field = parser->texts.field;

	if (edata == NULL)
		return;
	fc_parse_before(parser, i);
	parser->texts.column = column;
	parser->texts.field = field;
	ThrowErrorData(edata);
}

/*
 * Makes one field for core.  It stays text, unless core would read it
 * otherwise or its fault is tolerated: then it is converted here, and core
 * gets the value: code that a type runs must not run twice.
 */
static void
fc_parse_text(FcParser *parser, int i)
{
	FcColumn   *column = &parser->columns[i];
	FcField    *field = &parser->record.fields[i];
	FcField		unchanged = *field;

	if (field->marker && FC_CORE_HAS_DEFAULT)
		return;
	if (!column->ours && !field->marker &&
		(parser->shared->plan.tolerated & FC_CLASS_CONVERSION) == 0)
		return;
	Assert(column->index >= 0 && !parser->texts.made[i]);
	/* an error is about the field as it was before set_null */
	parser->texts.column = column;
	parser->texts.field = &unchanged;
	if (column->ours || field->marker)
		fc_parse_ours(parser, i);
	else
		fc_parse_try_text(parser);
	parser->texts.column = NULL;
	field->marker = false;
	field->null = parser->record.nulls[column->index];
	parser->texts.made[i] = true;
}

/* Body of fc_parse_in_zone */
static void
fc_parse_text_columns(void *arg)
{
	FcParser   *parser = arg;
	FcInHand   *record = &parser->record;

	if (!fc_parse_fields(parser))
		return;
	if (record->lacks >= 0)
		fc_parse_malformed(parser, fc_parse_lacking(parser));
	if (!record->ok || !fc_parse_transforms(parser))
		return;
	for (; record->done < parser->ncolumns && record->ok; record->done++)
	{
		int			i = record->done;
		FcColumn   *column = &parser->columns[i];

		if (i >= record->found && i < parser->nfields)
		{
			fc_parse_before(parser, i);
			fc_parse_malformed(parser, column);
		}
		else if (column->index >= 0)
		{
			fc_column_force(column, &parser->dialect, &record->fields[i]);
			fc_parse_text(parser, i);
		}
	}
	if (record->ok)
		return;

	/*
	 * COPY evaluates a default when it comes to the field that stands for it,
	 * even if it then leaves the record out.  Core does not get this record.
	 */
	for (int i = 0; i < record->done - 1; i++)
		if (record->fields[i].marker && parser->columns[i].index >= 0)
			fc_parse_column(parser, &parser->columns[i], &record->fields[i]);
}

bool
fc_parse_texts(FcParser *parser, const FcRecord *record)
{
	int			n = Max(parser->natts, 1);

	parser->texts.column = NULL;
	memset(parser->texts.made, false, sizeof(bool) * parser->ncolumns);
	fc_parse_take(parser, record, palloc(sizeof(Datum) * n), palloc(sizeof(bool) * n));
	fc_parse_in_zone(parser, fc_parse_text_columns, parser);
	return parser->record.ok;
}

const FcField *
fc_parse_next_text(const FcParser *parser, int *i)
{
	while (*i < parser->ncolumns)
	{
		int			this = (*i)++;

		if (parser->columns[this].index >= 0)
			return &parser->record.fields[this];
	}
	return NULL;
}

bool
fc_parse_text_value(const FcParser *parser, int i, Datum *value)
{
	Assert(i >= 0 && i < parser->ncolumns);
	if (parser->texts.made[i])
		*value = parser->record.values[parser->columns[i].index];
	return parser->texts.made[i];
}

bool
fc_parse_is_cut(const FcParser *parser)
{
	return parser->record.cut;
}

bool
fc_parse_at(const FcParser *parser, const char *record, const char **column,
			const char **value)
{
	const FcField *field = parser->texts.field;

	if (parser->texts.column == NULL)
		return false;
	*column = parser->texts.column->name;
	*value = field->null ? NULL : field->data;
	if (field->data == fc_column_nothing)
		*value = record;
	return true;
}
