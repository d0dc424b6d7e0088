/*-------------------------------------------------------------------------
 *
 * sniff/records.c
 *	  The records of a sample, as a dialect cuts them.
 *
 *	 place ──► state of its first byte ──► records ──► fields
 *
 * grammar/ cuts records and fields, as for a load.  The first record of each
 * file tells how its lines end, which binds the rest.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sniff/steps.h"

void
fc_records_begin(FcCursor *cursor, const FcSniffSample *sample, const FcDialect *dialect,
				 int wanted, size_t limit)
{
	memset(cursor, 0, sizeof(FcCursor));
	cursor->sample = sample;
	cursor->dialect = *dialect;
	cursor->wanted = wanted;
	cursor->limit = limit;
	cursor->record.fields = sample->fields;
	cursor->record.cut = sample->cut;
}

/*
 * How well the records after "first" fit: those with the number of fields that
 * is wanted, less the others
 */
static int64
fc_records_fit(const FcCursor *cursor, size_t first)
{
	FcDialect	dialect = cursor->dialect;
	const FcSniffPlace *place = cursor->place;
	int64		fit = 0;
	size_t		pos = first;

	while (pos < cursor->end)
	{
		FcScan		scan = {0};
		int			n;

		if (fc_record_end(&dialect, &scan, place->data + pos, cursor->end - pos,
						  cursor->whole) != FC_END_FOUND)
			break;
		n = fc_fields_cut(&dialect, place->data + pos, scan.content, NULL, 0);
		/* an empty line may stand anywhere */
		if (n == cursor->wanted || scan.content > 0)
			fit += n == cursor->wanted ? 1 : -1;
		pos += scan.total;
	}
	return fit;
}

/*
 * Finds the first record of a place that is not at its file's start; false if
 * there is none.  The place begins somewhere in a record, perhaps in quotes:
 * it is read in each state that it may begin in, and the one counts by which
 * most records have the number of fields of the file's first records.
 */
static bool
fc_records_settle(FcCursor *cursor)
{
	const FcSniffPlace *place = cursor->place;
	int64		best = PG_INT64_MIN;

	if (cursor->dialect.eol == FC_EOL_UNKNOWN)
		return false;
	for (FcQuote state = FC_OUTSIDE; state < FC_NQUOTES; state++)
	{
		FcQuoteRun	run;
		int64		fit;

		if (state == FC_INSIDE && cursor->dialect.mode == FC_MODE_TEXT)
			continue;
		if (state == FC_ESCAPED && cursor->dialect.mode == FC_MODE_CSV &&
			cursor->dialect.escape == cursor->dialect.quote)
			continue;
		fc_quote_run_init(&run, state);
		fc_quote_run_feed(&cursor->dialect, &run, place->data, cursor->end);
		if (run.first == FC_NOWHERE)
			continue;
		fit = fc_records_fit(cursor, run.first);
		if (fit > best)
		{
			best = fit;
			cursor->pos = run.first;
		}
	}
	return best > (cursor->wanted > 0 ? 0 : PG_INT64_MIN);
}

/* Begins the next place that has records; false if there is none */
static bool
fc_records_enter(FcCursor *cursor)
{
	while (cursor->next < cursor->sample->nplaces)
	{
		const FcSniffPlace *place = &cursor->sample->places[cursor->next++];

		CHECK_FOR_INTERRUPTS();
		cursor->place = place;
		cursor->record.number = -1;
		cursor->pos = 0;
		cursor->end = Min(place->len, cursor->limit);
		cursor->whole = place->end && cursor->end == place->len;
		if (place->start)
		{
			cursor->dialect.eol = FC_EOL_UNKNOWN;
			return true;
		}
		if (fc_records_settle(cursor))
			return true;
		cursor->faults.lost++;
	}
	cursor->place = NULL;
	return false;
}

/* Copies the record's bytes, and cuts its fields out of the copy */
static void
fc_records_cut(FcCursor *cursor, const FcScan *scan)
{
	FcSniffRecord *record = &cursor->record;

	record->place = cursor->place;
	record->raw = cursor->place->data + cursor->pos;
	record->len = scan->content;
	Assert(cursor->pos + scan->total <= cursor->end);
	memcpy(record->cut, record->raw, record->len);
	memset(record->cut + record->len, 0, FC_SNIFF_SLACK);
	record->nfields = fc_fields_cut(&cursor->dialect, record->cut, record->len,
									record->fields, FC_SNIFF_FIELDS);
	if (record->nfields < 0)
		cursor->faults.quotes++;
}

/* Notes why there is no record, unless the bytes are just at their end */
static void
fc_records_fault(FcCursor *cursor, FcEnd end, const FcScan *scan)
{
	switch (end)
	{
		case FC_END_BARE_CR:
		case FC_END_BARE_NL:
			cursor->faults.line_ends++;
			break;
		case FC_END_MARKER_CORRUPT:
		case FC_END_MARKER_STYLE:
			cursor->faults.markers++;
			break;
		case FC_END_MARKER:
			cursor->faults.ended += cursor->pos + scan->total < cursor->place->len ||
				!cursor->place->end;
			break;
		default:
			break;
	}
}

FcSniffRecord *
fc_records_next(FcCursor *cursor)
{
	for (;;)
	{
		FcScan		scan = {0};
		FcEnd		end;

		if (cursor->place == NULL && !fc_records_enter(cursor))
			return NULL;
		end = cursor->pos == cursor->end ? FC_END_NONE :
			fc_record_end(&cursor->dialect, &scan, cursor->place->data + cursor->pos,
						  cursor->end - cursor->pos, cursor->whole);
		if (end == FC_END_FOUND)
		{
			bool		comment = cursor->sample->comment && scan.content > 0 &&
				cursor->place->data[cursor->pos] == cursor->sample->comment;

			if (!comment)
				fc_records_cut(cursor, &scan);
			cursor->pos += scan.total;
			if (comment)
				continue;
			cursor->record.number++;
			return &cursor->record;
		}
		fc_records_fault(cursor, end, &scan);
		cursor->place = NULL;
	}
}

FcValueText
fc_records_raw(const FcSniffRecord *record, const FcDialect *dialect, int i)
{
	size_t		start = record->fields[i].data - record->cut;
	int			last = Min(record->nfields, FC_SNIFF_FIELDS) - 1;
	size_t		end = i == last ? record->len : (size_t) (record->fields[i + 1].data - record->cut) - 1 - dialect->delim_more;

	Assert(i >= 0 && i <= last);
	return (FcValueText) {record->raw + start, end - start};
}

bool
fc_records_quoted(const FcSniffRecord *record, const FcDialect *dialect, int i)
{
	FcValueText text = fc_records_raw(record, dialect, i);
	const char *raw = text.s;
	size_t		len = text.len;
	size_t		at = 1;

	if (dialect->mode != FC_MODE_CSV || len < 2 || raw[0] != dialect->quote)
		return false;
	while (at < len)
	{
		if (raw[at] == dialect->escape && at + 1 < len &&
			(raw[at + 1] == dialect->quote || raw[at + 1] == dialect->escape))
			at += 2;
		else if (raw[at] == dialect->quote)
			return at == len - 1;
		else
			at++;
	}
	return false;
}

bool
fc_records_messy(const FcSniffRecord *record, const FcDialect *dialect, int i)
{
	FcValueText text = fc_records_raw(record, dialect, i);

	return dialect->mode == FC_MODE_CSV && memchr(text.s, dialect->quote, text.len) != NULL &&
		!fc_records_quoted(record, dialect, i);
}
