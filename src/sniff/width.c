/*-------------------------------------------------------------------------
 *
 * sniff/width.c
 *	  Whether rows of the proposed columns fit into a page.
 *
 *	 types, records of the sample ──► bytes of the widest row ──► narrower
 *		integers, or a refusal
 *
 * A table may have more columns than a row can have values: what is long is
 * stored elsewhere, but each value leaves some bytes in the row, and numbers
 * and times stay whole.  NULLs take none, so that the records tell, and not the
 * columns alone.
 *
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "sniff/width.h"

/*
 * Bytes that a value of any length leaves in the row if it is stored elsewhere,
 * and up to which it is not
 */
#define FC_WIDTH_POINTER	18
#define FC_WIDTH_INLINE		MAXALIGN(FC_WIDTH_POINTER)

/* Is the field NULL for the proposed call? */
static bool
fc_width_is_null(const FcTable *table, const FcSampled *record, int i)
{
	const char *given = table->options->given[FC_OPTION_null_string] ?
		table->options->words.null_string : table->null_string;
	const char *null = given ? given : table->guess->dialect.null_string;
	const FcField *field = &record->fields[i];

	return field->len == strlen(null) && memcmp(field->data, null, field->len) == 0 &&
		(table->columns[i].force_null ||
		 !fc_sampled_quoted(record, &table->guess->dialect, i));
}

/* Where a value of a type ends that begins at "at", or a bit after it */
static Size
fc_width_add(Oid typid, Size len, Size at)
{
	int16		fixed;
	bool		byval;
	char		align;
	Size		size = len + 1;

	get_typlenbyvalalign(typid, &fixed, &byval, &align);
	if (fixed > 0)
		return att_align_nominal(at, align) + fixed;
	/* four decimal digits take two bytes, and there are three before */
	if (typid == NUMERICOID)
		size = 3 + 2 * ((len + 3) / 4);
	return at + (size > FC_WIDTH_INLINE ? FC_WIDTH_POINTER : size);
}

/* Bytes of the widest row that the sample has */
static Size
fc_width_widest(const FcTable *table)
{
	FcCursor	cursor;
	FcSampled  *record;
	Size		widest = 0;

	fc_cursor_begin(&cursor, table->sample, &table->guess->dialect, table->ncolumns, SIZE_MAX);
	while ((record = fc_cursor_next(&cursor)) != NULL)
	{
		Size		at = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(table->ncolumns));

		if (record->nfields != table->ncolumns ||
			(record->place->start && record->number < table->header_lines))
			continue;
		for (int i = 0; i < table->ncolumns; i++)
			if (!fc_width_is_null(table, record, i))
				at = fc_width_add(table->columns[i].typid, record->fields[i].len, at);
		widest = Max(widest, at);
	}
	fc_cursor_end(&cursor);
	return widest;
}

/* Makes integers that fit narrower; the patterns of moments have none */
static void
fc_width_narrow(FcTable *table, Oid typid, int64 low, int64 high)
{
	for (int i = 0; i < table->ncolumns; i++)
	{
		FcColumnSeen *column = &table->columns[i];

		if ((column->typid != INT8OID && column->typid != INT4OID) ||
			column->low < low || column->high > high)
			continue;
		column->typid = typid;
		column->type = format_type_be(typid);
	}
}

void
fc_width_fit(FcTable *table)
{
	Size		before;
	Size		widest;

	if (table->ncolumns <= MaxHeapTupleSize / FC_WIDTH_INLINE - 2)
		return;
	widest = before = fc_width_widest(table);
	if (widest > MaxHeapTupleSize)
	{
		fc_width_narrow(table, INT4OID, PG_INT32_MIN, PG_INT32_MAX);
		widest = fc_width_widest(table);
	}
	if (widest > MaxHeapTupleSize)
	{
		fc_width_narrow(table, INT2OID, PG_INT16_MIN, PG_INT16_MAX);
		widest = fc_width_widest(table);
	}
	if (widest > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("rows of %d columns do not fit into a page", table->ncolumns),
				 errdetail("The widest one seen takes at least %zu bytes, and a page has room for %zu.",
						   widest, (Size) MaxHeapTupleSize),
				 errhint("Make a table of some of the columns, and load it with header => 'map', ignore_extra_columns => true; or let a program such as cut print these.")));
	if (widest < before)
		table->notes = lappend(table->notes,
							   psprintf("As bigint, a row would take %zu bytes, and a page has room for %zu: integers are as narrow as the values seen allow, and a later one that is larger ends the load.",
										before, (Size) MaxHeapTupleSize));
}
