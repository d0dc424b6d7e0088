/*-------------------------------------------------------------------------
 *
 * row/batch_odd.c
 *	  Which records of a batch are odd, and which texts are not in their columns
 *	  as they are in the file.
 *
 *	marks ──► fields with quotes inside, or strange bytes ──► text? ──► mended
 *															   └─► odd record
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "row/batch.h"
#include "row/batch_maker.h"

/* Records that are wrong in the encoding are odd, and all after them */
static void
fc_batch_verify(FcBatchMaker *maker)
{
	const uint16 *at = maker->places.at;
	FcBatch    *batch = &maker->batch;
	size_t		end = at[batch->n * maker->width];
	size_t		pos = at[0];
	size_t		last;

	for (; (last = fc_marks_strange(maker->stretch.marks, &pos, end)) > 0; pos = last)
	{
		int			len = last - pos;
		int			valid = pg_encoding_verifymbstr(maker->parser->shared->plan.encoding,
													maker->stretch.buf + pos, len);

		if (valid == len)
			continue;
		for (int i = batch->n - 1; i >= 0 && at[(i + 1) * maker->width] > pos + valid; i--)
			batch->odd[i] = true;
		return;
	}
}

/*
 * Takes a field for what fc_batch_recode converts, if it has strange bytes; its
 * record is odd if these may be read before, or elsewhere
 */
static void
fc_batch_note_strange(FcBatchMaker *maker, int i)
{
	const FcBatchField *field = &maker->fields[i % maker->width];
	const uint16 *at = maker->places.at + i;

	if (i % maker->width >= maker->nfields ||
		fc_parse_is_ascii(maker->stretch.buf + at[0], at[1] - field->behind - at[0]))
		return;
	if (field->text && field->max < 0 && (field->edits & FC_FIELD_WORDS) == 0 && maker->nshown == 0 &&
		maker->parser->null_clear && maker->nstrange < FC_BATCH_ROWS)
		maker->strange[maker->nstrange++] = i;
	else
		maker->batch.odd[i / maker->width] = true;
}

/* Finds the fields that must be converted to the server's encoding */
static void
fc_batch_find_strange(FcBatchMaker *maker)
{
	const uint16 *at = maker->places.at;
	int			width = maker->width;
	int			n = maker->batch.n * width;
	size_t		pos = at[0];
	int			i = 0;

	for (size_t last; (last = fc_marks_strange(maker->stretch.marks, &pos, at[n])) > 0; pos = last)
	{
		while (i + width < n && at[i + width] <= pos)
			i += width;
		for (; i < n && at[i] < last; i++)
			if (at[i + 1] > pos)
				fc_batch_note_strange(maker, i);
	}
}

/* The first quote of a text that begins at s, or "end" */
static inline const char *
fc_batch_quote(const char *s, const char *end, char quote)
{
	const char *found = memchr(s, quote, end - s);

	return found ? found : end;
}

/*
 * Is field i, which has a quote inside, a text in quotes with doubled quotes
 * only?  Then adds their number to maker->inner.
 */
static bool
fc_batch_is_doubled(FcBatchMaker *maker, int i)
{
	const FcBatchField *field = &maker->fields[i % maker->width];
	const char *s = maker->stretch.buf + maker->places.at[i];
	const char *end = maker->stretch.buf + maker->places.at[i + 1] - field->behind - 1;
	char		quote = maker->parser->dialect.quote;
	int			n = 0;

	if (!field->text || s >= end || *s != quote || *end != quote)
		return false;
	while ((s = fc_batch_quote(s + 1, end, quote)) < end)
	{
		if (*++s != quote || s == end)
			return false;
		n += 2;
	}
	maker->inner += n;
	return true;
}

/*
 * In csv: a record is odd if it has other quotes than those around fields and
 * doubled ones in texts
 */
static void
fc_batch_find_doubled(FcBatchMaker *maker)
{
	const uint16 *at = maker->places.at;
	int			width = maker->width;
	int			n = maker->batch.n * width;
	size_t		end = at[n];
	int			i = 0;

	for (size_t inner = fc_marks_inner(maker->stretch.marks, at[0], end); inner < end;
		 inner = fc_marks_inner(maker->stretch.marks, at[i + 1], end))
	{
		while (i + width < n && at[i + width] <= inner)
			i += width;
		while (at[i + 1] <= inner)
			i++;
		if (maker->fields[i % width].apart)
			continue;
		if (maker->ndoubled < FC_BATCH_ROWS && fc_batch_is_doubled(maker, i))
			maker->doubled[maker->ndoubled++] = i;
		else
			maker->batch.odd[i / width] = true;
	}
}

/*
 * In text: a record with a backslash is odd, unless that is of the null string
 */
static void
fc_batch_find_escapes(FcBatchMaker *maker)
{
	const FcDialect *dialect = &maker->parser->dialect;
	const FcMarks *marks = maker->stretch.marks;
	const uint16 *at = maker->places.at;
	size_t		end = at[maker->batch.n * maker->width];
	int			i = 0;

	for (size_t backslash = fc_marks_next(marks->quotes, at[0], end); backslash < end;
		 backslash = fc_marks_next(marks->quotes, at[i + 1], end))
	{
		while (at[i + 1] <= backslash)
			i++;
		if (at[i + 1] - maker->fields[i % maker->width].behind - at[i] != dialect->null_len ||
			memcmp(maker->stretch.buf + at[i], dialect->null_string, dialect->null_len) != 0)
			maker->batch.odd[i / maker->width] = true;
	}
}

void
fc_batch_find_odd(FcBatchMaker *maker)
{
	const FcMarks *marks = maker->stretch.marks;

	maker->ndoubled = maker->inner = maker->nstrange = 0;
	maker->quoted = marks->has_quotes && maker->parser->dialect.mode == FC_MODE_CSV;
	if (maker->quoted)
		fc_batch_find_doubled(maker);
	else if (marks->has_quotes)
		fc_batch_find_escapes(maker);
	if (!marks->has_strange)
		return;
	if (OidIsValid(maker->recode))
		fc_batch_find_strange(maker);
	else
		fc_batch_verify(maker);
}

/* Undoubles the quotes of a text that its column has as the file has it */
static void
fc_batch_take_doubled(FcBatchMaker *maker, int i)
{
	FcBatchColumn *column = &maker->batch.columns[maker->fields[i % maker->width].index];
	int			row = i / maker->width;
	char		quote = maker->parser->dialect.quote;
	const char *s = DatumGetPointer(column->values[row]);
	const char *end = s + column->lengths[row];
	char	   *text = palloc(column->lengths[row]);
	char	   *to = text;

	while (s < end)
	{
		const char *found = fc_batch_quote(s, end, quote);
		size_t		len = found - s + (found < end);

		memcpy(to, s, len);
		to += len;
		s = found + 2;
	}
	column->values[row] = PointerGetDatum(text);
	column->lengths[row] = to - text;
}

/* Converts a text to the server's encoding, or lets row/parse.c refuse it */
static void
fc_batch_recode(FcBatchMaker *maker, int i)
{
	FcBatchColumn *column = &maker->batch.columns[maker->fields[i % maker->width].index];
	int			row = i / maker->width;
	int			len = column->lengths[row];
	int			size = len * MAX_CONVERSION_GROWTH + 1;
	char	   *text = palloc(size);

	if (pg_do_encoding_conversion_buf(maker->recode, maker->parser->shared->plan.encoding, GetDatabaseEncoding(),
									  (unsigned char *) DatumGetPointer(column->values[row]), len,
									  (unsigned char *) text, size, true) != len)
		maker->batch.odd[row] = true;
	column->values[row] = PointerGetDatum(text);
	column->lengths[row] = strlen(text);
}

void
fc_batch_mend_texts(FcBatchMaker *maker)
{
	for (int i = 0; i < maker->ndoubled; i++)
		fc_batch_take_doubled(maker, maker->doubled[i]);
	for (int i = 0; i < maker->nstrange; i++)
		fc_batch_recode(maker, maker->strange[i]);
}
