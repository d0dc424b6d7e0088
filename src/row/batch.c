/*-------------------------------------------------------------------------
 *
 * row/batch.c
 *	  Rows of many records at once, a column at a time.
 *
 *	marks ──► places of all borders ──► for each column: NULLs, values
 *
 * Each step is taken for some hundred records before the next step.  A record
 * that needs anything else (an escape, but for doubled quotes in a text; bytes
 * that are wrong in the encoding; a value that its converter declines) is odd:
 * it is left as it is, for row/parse.c.  Nothing here writes to the stream's
 * buffer.  All is in the memory context of fc_batch_begin.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"

#include "row/batch.h"
#include "row/batch_maker.h"

/* Bytes for values that are passed by reference, and are no texts */
#define FC_BATCH_ROOM	65536

/*
 * Bytes that are cut at once, as many as stay in the processor's first cache;
 * more for records of more fields, as a column at a time pays with some rows
 */
#define FC_BATCH_BYTES	16384
#define FC_BATCH_FIELDS	16

/* Records taken alone where a batch was not worth its while */
#define FC_BATCH_ALONE	(16 * FC_BATCH_ROWS)

/* Most characters of a padded value: a batch has many values */
#define FC_BATCH_PADDED	1024

/* Sets up a field, and decides whether it is converted here */
static void
fc_batch_begin_field(FcBatchField *field, const FcQuick *quick, FcRoom *room)
{
	field->index = quick->index;
	field->edit = quick->edit;
	field->edits = quick->edit ? quick->edit->flags & FC_FIELD_EDITS : 0;
	field->convert = quick->convert;
	/* without room a value keeps its long header */
	if (quick->convert.room != NULL)
		field->convert.room = room;
	field->convert.in_place = false;
	field->max = fc_convert_max(&quick->convert);
	field->apart = quick->index >= 0 &&
		(quick->convert.function == NULL ||
		 (fc_convert_pads(&quick->convert) && field->max > FC_BATCH_PADDED));
	field->text = quick->index >= 0 && !field->apart && fc_convert_is_text(&field->convert);
	Assert(!field->text || (field->edits & FC_FIELD_NUMBER) == 0);
}

/* Gives a column room for the batch's rows */
static FcBatchColumn *
fc_batch_begin_column(FcBatchMaker *maker, int index, bool made)
{
	FcBatchColumn *column = &maker->batch.columns[index];

	column->absent = column->any_null = false;
	column->values = palloc0(sizeof(Datum) * maker->most);
	column->nulls = palloc0(sizeof(bool) * maker->most);
	column->made = made;
	return column;
}

/* Columns without a field, which have no default, share one array of NULLs */
static void
fc_batch_begin_columns(FcBatchMaker *maker, TupleDesc desc)
{
	FcBatch    *batch = &maker->batch;

	batch->none = (FcBatchColumn) {.any_null = true,.absent = true};
	batch->none.values = palloc0(sizeof(Datum) * maker->most);
	batch->none.nulls = palloc(sizeof(bool) * maker->most);
	memset(batch->none.nulls, true, sizeof(bool) * maker->most);
	batch->columns = palloc(sizeof(FcBatchColumn) * Max(batch->natts, 1));
	batch->odd = palloc(sizeof(bool) * maker->most);
	maker->records = palloc(sizeof(uint16) * maker->most);
	for (int i = 0; i < batch->natts; i++)
	{
		batch->columns[i] = batch->none;
		batch->columns[i].byval = TupleDescAttr(desc, i)->attbyval;
		batch->columns[i].len = TupleDescAttr(desc, i)->attlen;
	}
	for (int i = 0; i < maker->parser->ncolumns; i++)
	{
		const FcBatchField *field = &maker->fields[i];
		FcBatchColumn *column;

		if (field->index < 0)
			continue;
		column = fc_batch_begin_column(maker, field->index, field->apart);
		if (field->text)
			column->lengths = palloc(sizeof(uint32) * maker->most);
	}
	for (int i = 0; i < maker->parser->defaults.n; i++)
		(void) fc_batch_begin_column(maker, maker->parser->defaults.defaults[i].index, true);
}

/*
 * Lists the columns that row/parse.c sets in each row, and the fields it needs
 */
static void
fc_batch_begin_left(FcBatchMaker *maker)
{
	FcParser   *parser = maker->parser;

	maker->left = palloc(sizeof(int) * parser->ncolumns);
	maker->shown = palloc(sizeof(int) * maker->nfields);
	maker->values = palloc(sizeof(Datum) * Max(parser->natts, 1));
	maker->nulls = palloc(sizeof(bool) * Max(parser->natts, 1));
	for (int i = 0; i < parser->ncolumns; i++)
	{
		if (maker->fields[i].apart)
			maker->left[maker->nleft++] = i;
		if (i < maker->nfields && (maker->fields[i].apart || fc_transforms_name(parser->transforms, i)))
			maker->shown[maker->nshown++] = i;
	}
	maker->batch.unfinished = maker->nleft > 0 || parser->defaults.n > 0 || parser->transforms;
}

/*
 * Can the parser's records be cut here?  Sets what converts texts.  Bytes of
 * ASCII may be parts of other characters, or a user's conversion may make
 * others of them: then a record is converted before it is cut.
 */
static bool
fc_batch_serves(FcBatchMaker *maker)
{
	const FcParser *parser = maker->parser;
	const FcPlan *plan = &parser->shared->plan;

	if (plan->need_transcoding)
		maker->recode = FindDefaultConversionProc(plan->encoding, GetDatabaseEncoding());
	return parser->nfields > 0 && parser->objects == NULL &&
		(parser->nfields > 1 || !plan->skips_empty) &&
		parser->dialect.default_string == NULL &&
		(parser->dialect.mode == FC_MODE_TEXT ||
		 (parser->dialect.mode == FC_MODE_CSV && parser->dialect.escape == parser->dialect.quote)) &&
		(!plan->need_transcoding ||
		 (OidIsValid(maker->recode) && maker->recode < FirstNormalObjectId &&
		  !PG_ENCODING_IS_CLIENT_ONLY(plan->encoding)));
}

FcBatch *
fc_batch_begin(FcParser *parser, TupleDesc desc)
{
	FcBatchMaker *maker = palloc0(sizeof(FcBatchMaker));

	maker->parser = parser;
	if (!fc_batch_serves(maker))
		return NULL;
	maker->nfields = parser->nfields;
	maker->fields = palloc0(sizeof(FcBatchField) * parser->ncolumns);
	for (int i = 0; i < parser->ncolumns; i++)
	{
		fc_batch_begin_field(&maker->fields[i], &parser->quick.columns[i], &maker->room);
		maker->fields[i].behind = i < maker->nfields - 1 ? 1 + parser->dialect.delim_more : 1;
	}
	fc_batch_begin_left(maker);
	if (maker->nshown * 2 > maker->nfields + 2)
		return NULL;
	maker->batch.natts = desc->natts;
	maker->bytes = Min(FC_BATCH_BYTES * Max(maker->nfields / FC_BATCH_FIELDS, 1), FC_MARKS_BYTES);
	/* a field has one border or more */
	maker->most = Min(FC_BATCH_ROWS, maker->bytes / maker->nfields + 1);
	fc_batch_begin_columns(maker, desc);
	maker->start = palloc(FC_BATCH_ROOM);
	maker->room.end = maker->start + FC_BATCH_ROOM;
	maker->room.compact = true;
	maker->mcxt = fc_context_memory(CurrentMemoryContext, "batch");
	maker->places.at = palloc(sizeof(uint16) * FC_PLACES_MOST);
	return &maker->batch;
}

/*
 * Finds the borders of the stretch's records; returns how many of these begin
 * before "end", and make the batch
 */
static int
fc_batch_cut(FcBatchMaker *maker, const FcDialect *dialect, uint64 end)
{
	int			n = fc_places_find(dialect, maker->stretch.marks, maker->stretch.buf,
								   maker->stretch.pos, maker->nfields, maker->most,
								   &maker->places);
	char		comment = maker->parser->shared->plan.comment;

	while (n > 0 && maker->stretch.offset + maker->places.at[(n - 1) * maker->width] >= end)
		n--;
	for (int i = 0; comment != '\0' && i < n; i++)
		if (maker->stretch.buf[maker->places.at[i * maker->width]] == comment)
			return i;
	return n;
}

/*
 * Cuts quotes and blanks from around the fields with this number, which are not
 * texts; returns how many had quotes
 */
static int
fc_batch_unwrap_column(FcBatchMaker *maker, int number)
{
	const uint16 *at = maker->places.at;
	const char *buf = maker->stretch.buf;
	int			quote = maker->quoted ? (unsigned char) maker->parser->dialect.quote : -1;
	FcBatchField *field = &maker->fields[number];
	int			n = maker->batch.n * maker->width;
	int			sum = 0;

	if (maker->starts == NULL)
	{
		maker->starts = MemoryContextAlloc(GetMemoryChunkContext(maker),
										   sizeof(uint16) * 2 * FC_PLACES_MOST);
		maker->ends = maker->starts + FC_PLACES_MOST;
	}
	for (int i = number; i < n; i += maker->width)
	{
		bool		wrapped = (unsigned char) buf[at[i]] == quote;
		const char *end = buf + at[i + 1] - field->behind - wrapped;

		sum += wrapped;
		maker->starts[i] = fc_edit_trim(field->edits, wrapped, buf + at[i] + wrapped, &end) - buf;
		maker->ends[i] = end + 1 - buf;
	}
	field->wrapped = true;
	return sum;
}

/* Which rows have a NULL in the column that a field is for? */
static void
fc_batch_find_nulls(FcBatchMaker *maker, int number, FcBatchColumn *column)
{
	const FcDialect *dialect = &maker->parser->dialect;
	size_t		null_len = dialect->null_len;
	const uint16 *at = maker->places.at + number;
	int			stride = maker->width;
	int			behind = maker->fields[number].behind;
	int			n = maker->batch.n;
	bool		any = false;

	column->any_null = false;
	if (!maker->places.near)
		return;
	/*
	 * a quoted null string is no NULL, and longer: quotes are within the
	 * borders
	 */
	for (int i = 0; i < n; i++)
	{
		size_t		len = at[i * stride + 1] - behind - at[i * stride];

		column->nulls[i] = len == null_len;
		any |= len == null_len;
	}
	for (int i = 0; i < n && any && null_len > 0; i++)
		if (column->nulls[i])
			column->nulls[i] = memcmp(maker->stretch.buf + at[i * stride],
									  dialect->null_string, null_len) == 0;
	column->any_null = any;
}

/* Words without quotes around them stand for NULL, too */
static void
fc_batch_find_words(FcBatchMaker *maker, int number, FcBatchColumn *column)
{
	const FcBatchField *field = &maker->fields[number];
	const uint16 *at = maker->places.at + number;
	const char *buf = maker->stretch.buf;
	int			quote = maker->quoted ? (unsigned char) maker->parser->dialect.quote : -1;

	if ((field->edits & FC_FIELD_WORDS) == 0)
		return;
	if (!column->any_null)
		memset(column->nulls, false, sizeof(bool) * maker->batch.n);
	for (int i = 0; i < maker->batch.n; i++, at += maker->width)
	{
		const char *end = buf + at[1] - field->behind;
		const char *word;

		if ((unsigned char) buf[at[0]] == quote)
			continue;
		word = fc_edit_trim(field->edits, false, buf + at[0], &end);
		if (fc_edit_is_word(field->edit->words, word, end - word))
			column->nulls[i] = column->any_null = true;
	}
}

/* Converts numbers with the file's separators */
static void
fc_batch_take_numbers(FcBatchMaker *maker, FcBatchField *field, const FcFields *fields,
					  FcBatchColumn *column)
{
	bool	   *odd = maker->batch.odd;

	maker->room.readable = NULL;
	for (int i = 0; i < fields->n; i++)
	{
		size_t		start = fields->starts[i * fields->stride];
		FcField		number = {.data = fields->base + start,.len = fields->ends[i * fields->stride] - fields->behind - start};

		if (odd[i] || (column->any_null && column->nulls[i]))
			continue;
		fc_edit_number(field->edit, &number);
		odd[i] = number.bad ||
			!field->convert.function(&field->convert, number.data, number.len, &column->values[i]);
	}
	maker->room.readable = maker->stretch.readable;
}

/* Sets a column of texts; returns how many had quotes around them */
static int
fc_batch_take_texts(FcBatchMaker *maker, int number, FcBatchColumn *column)
{
	const uint16 *at = maker->places.at + number;
	const char *buf = maker->stretch.buf;
	int			quote = maker->quoted ? (unsigned char) maker->parser->dialect.quote : -1;
	const FcBatchField *field = &maker->fields[number];
	bool	   *odd = maker->batch.odd;
	int			n = maker->batch.n;
	int			sum = 0;

	fc_batch_find_nulls(maker, number, column);
	fc_batch_find_words(maker, number, column);
	for (int i = 0; i < n; i++, at += maker->width)
	{
		bool		wrapped = (unsigned char) buf[at[0]] == quote;
		const char *end = buf + at[1] - field->behind - wrapped;
		const char *text = fc_edit_trim(field->edits, wrapped, buf + at[0] + wrapped, &end);
		int			len = end - text;

		sum += wrapped;
		column->values[i] = PointerGetDatum(text);
		column->lengths[i] = len;
		/* a text has no more characters than bytes */
		if (unlikely(field->max >= 0 && len > field->max) && !odd[i] &&
			pg_mbcharcliplen(text, len, field->max) != len)
			odd[i] = true;
	}
	return sum;
}

/*
 * Sets all columns of texts, and cuts what is around other fields, of columns
 * that are trimmed, or in which the first field has quotes, and of all others
 * if there are more than these quotes
 */
static void
fc_batch_take_all_texts(FcBatchMaker *maker)
{
	const uint16 *at = maker->places.at;
	char		quote = maker->parser->dialect.quote;
	int			quotes = maker->quoted ?
		fc_marks_count(maker->stretch.marks->quotes, at[0], at[maker->batch.n * maker->width]) : 0;

	for (int i = 0; i < maker->nfields; i++)
	{
		FcBatchField *field = &maker->fields[i];

		field->wrapped = false;
		if (field->text)
			quotes -= 2 * fc_batch_take_texts(maker, i, &maker->batch.columns[field->index]);
	}
	fc_batch_mend_texts(maker);
	quotes -= maker->inner;
	for (int i = 0; i < maker->nfields; i++)
		if (!maker->fields[i].text && !maker->fields[i].apart &&
			((maker->fields[i].edits & FC_FIELD_TRIMS) || (maker->quoted && maker->stretch.buf[at[i]] == quote)))
			quotes -= 2 * fc_batch_unwrap_column(maker, i);
	for (int i = 0; i < maker->nfields && quotes > 0; i++)
		if (!maker->fields[i].text && !maker->fields[i].apart && !maker->fields[i].wrapped)
			(void) fc_batch_unwrap_column(maker, i);
}

/* Sets one column, not of texts, from the fields with this number */
static void
fc_batch_take_column(FcBatchMaker *maker, int number)
{
	FcBatch    *batch = &maker->batch;
	FcBatchField *field = &maker->fields[number];
	FcBatchColumn *column = &batch->columns[field->index];
	const uint16 *at = maker->places.at + number;
	FcFields	fields = {maker->stretch.buf, at, at + 1, maker->width, batch->n, field->behind};

	if (field->wrapped)
	{
		fields.starts = maker->starts + number;
		fields.ends = maker->ends + number;
		fields.behind = 1;
	}
	fc_batch_find_nulls(maker, number, column);
	fc_batch_find_words(maker, number, column);
	if (field->edits & FC_FIELD_NUMBER)
		fc_batch_take_numbers(maker, field, &fields, column);
	else
		field->convert.many(&field->convert, &fields, column->any_null ? column->nulls : NULL,
							column->values, batch->odd);
}

/* Body of fc_parse_in_zone */
static void
fc_batch_make(void *arg)
{
	FcBatchMaker *maker = arg;
	FcBatch    *batch = &maker->batch;
	MemoryContext old;

	Assert(batch->n > 0 && batch->n <= maker->most && maker->width >= maker->nfields);
	memset(batch->odd, false, sizeof(bool) * batch->n);
	for (int i = 0; i < batch->n; i++)
		maker->records[i] = i;
	for (int i = 0; i < batch->natts; i++)
		if (batch->columns[i].made)
		{
			batch->columns[i].any_null = false;
			memset(batch->columns[i].nulls, false, sizeof(bool) * batch->n);
		}
	fc_batch_find_odd(maker);
	maker->room.next = maker->start;
	maker->room.readable = maker->stretch.readable;
	if (!maker->mcxt->isReset)
		MemoryContextReset(maker->mcxt);
	old = MemoryContextSwitchTo(maker->mcxt);
	fc_batch_take_all_texts(maker);
	for (int i = 0; i < maker->nfields; i++)
		if (maker->fields[i].index >= 0 && !maker->fields[i].text && !maker->fields[i].apart)
			fc_batch_take_column(maker, i);
	MemoryContextSwitchTo(old);
}

static uint64
fc_batch_embedded(const FcBatchMaker *maker, size_t start, size_t end)
{
	return maker->stretch.marks->has_embedded ?
		fc_marks_count(maker->stretch.marks->embedded, start, end) : 0;
}

bool
fc_batch_fill(FcBatch *batch, FcStream *stream, const FcDialect *dialect, uint64 end)
{
	FcBatchMaker *maker = (FcBatchMaker *) batch;
	int			odd = 0;

	for (int i = 0; i < batch->n; i++)
		odd += batch->odd[i];
	/* if most records of a batch were odd, the next ones are taken alone */
	if (odd * 2 > batch->n)
		maker->alone = FC_BATCH_ALONE;
	batch->n = 0;
	maker->width = fc_places_width(dialect, maker->nfields);
	/* a file has its fields in the order of another */
	if (fc_parse_map(maker->parser, end - 1))
		return false;
	if (maker->alone > 0)
	{
		maker->alone--;
		return false;
	}
	if (fc_stream_stretch(stream, dialect, end, 0, &maker->stretch))
		batch->n = fc_batch_cut(maker, dialect, end);
	if (batch->n == 0 && fc_stream_stretch(stream, dialect, end, maker->bytes, &maker->stretch))
		batch->n = fc_batch_cut(maker, dialect, end);
	if (batch->n == 0)
		return false;
	batch->offset = maker->stretch.offset + maker->stretch.pos;
	batch->bytes = maker->places.at[batch->n * maker->width] - maker->stretch.pos;
	batch->embedded = fc_batch_embedded(maker, maker->stretch.pos, maker->stretch.pos + batch->bytes);
	fc_parse_in_zone(maker->parser, fc_batch_make, maker);
	fc_stream_pass(stream, batch->bytes);
	return true;
}

uint64
fc_batch_bytes(const FcBatch *batch, int from, int to)
{
	const FcBatchMaker *maker = (const FcBatchMaker *) batch;
	int			width = maker->width;

	Assert(from >= 0 && from <= to && to <= batch->n);
	return maker->places.at[to * width] - maker->places.at[from * width] -
		(to - from) * (width - maker->nfields + 1);
}

void
fc_batch_places(const FcBatch *batch, int from, int to, uint64 *offsets, uint32 *lengths)
{
	const FcBatchMaker *maker = (const FcBatchMaker *) batch;
	const uint16 *at = maker->places.at + from * maker->width;

	Assert(from >= 0 && from <= to && to <= batch->n);
	for (int i = 0; i < to - from; i++, at += maker->width)
	{
		offsets[i] = maker->stretch.offset + at[0];
		lengths[i] = at[maker->nfields] - 1 - at[0];
	}
}

void
fc_batch_record(const FcBatch *batch, int i, FcRecord *record)
{
	const FcBatchMaker *maker = (const FcBatchMaker *) batch;
	const uint16 *at = maker->places.at + maker->records[i] * maker->width;
	size_t		start = at[0];
	size_t		end = at[maker->nfields] - 1;

	memset(record, 0, sizeof(FcRecord));
	record->offset = maker->stretch.offset + start;
	record->data = maker->stretch.buf + start;
	record->length = end - start;
	record->total = at[maker->width] - start;
	record->embedded = fc_batch_embedded(maker, start, end);
	record->row = batch->row + maker->records[i] + 1;
	record->line = batch->line + maker->records[i] + 1 + fc_batch_embedded(maker, maker->stretch.pos, end);
	record->marks = maker->stretch.marks;
	record->marks_pos = start;
}

/* Gives row/parse.c a copy of a field of row i, cut by the dialect */
static void
fc_batch_show_field(const FcBatchMaker *maker, int i, int number)
{
	const uint16 *at = maker->places.at + maker->records[i] * maker->width + number;
	size_t		len = at[1] - maker->fields[number].behind - at[0];
	const FcDialect *dialect = &maker->parser->dialect;
	char		special = dialect->mode == FC_MODE_TEXT ? '\\' : dialect->quote;
	FcBorders	borders = {1, len + 1};
	char	   *copy = palloc(len + 2);

	/* a value may be made in the field's bytes, with a header before it */
	memcpy(copy + 1, maker->stretch.buf + at[0], len);
	if (maker->stretch.marks->has_quotes && memchr(copy + 1, special, len) != NULL)
		borders.quotes = 3;
	fc_field_cut(dialect, copy, &borders, &maker->parser->record.fields[number]);
}

/* Gives row i to row/parse.c, as if its other columns were parsed there */
static void
fc_batch_hand_over(const FcBatchMaker *maker, int i, Datum *values, bool *nulls)
{
	FcParser   *parser = maker->parser;
	FcRecord	record;

	fc_batch_record(&maker->batch, i, &record);
	fc_parse_take(parser, &record, values, nulls);
	parser->record.cut = true;
	parser->record.found = maker->nfields;
	parser->record.left = maker->left;
	parser->record.nleft = maker->nleft;
	parser->quick.room.readable = NULL;
	for (int k = 0; k < maker->nshown; k++)
		fc_batch_show_field(maker, i, maker->shown[k]);
}

void
fc_batch_add_column(FcBatch *batch, int column)
{
	FcBatchMaker *maker = (FcBatchMaker *) batch;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(maker));

	if (batch->columns[column].absent)
		(void) fc_batch_begin_column(maker, column, true);
	MemoryContextSwitchTo(old);
}

/* Sets the column of row i to the value that row/parse.c has made */
static void
fc_batch_keep(FcBatchMaker *maker, int column, int i)
{
	fc_batch_set(&maker->batch, column, i, maker->values[column], maker->nulls[column]);
}

/*
 * Gives all rows, of later batches too, the values that row i has for the
 * defaults
 */
static void
fc_batch_fix_defaults(FcBatchMaker *maker, int i)
{
	FcBatch    *batch = &maker->batch;
	FcDefaults *defaults = &maker->parser->defaults;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(maker));

	for (int k = 0; k < defaults->n; k++)
	{
		int			j = defaults->defaults[k].index;
		FcBatchColumn *column = &batch->columns[j];

		fc_batch_keep(maker, j, i);
		column->made = false;
		column->any_null = maker->nulls[j];
		for (int row = 0; row < maker->most; row++)
		{
			column->values[row] = column->values[i];
			column->nulls[row] = maker->nulls[j];
		}
	}
	batch->unfinished = false;
	MemoryContextSwitchTo(old);
}

bool
fc_batch_finish(FcBatch *batch, int i)
{
	FcBatchMaker *maker = (FcBatchMaker *) batch;
	FcParser   *parser = maker->parser;

	Assert(batch->unfinished && i < batch->n && !batch->odd[i]);
	fc_batch_hand_over(maker, i, maker->values, maker->nulls);
	if (!fc_parse_rest(parser) || parser->faults.nkept > 0)
		return false;
	if (maker->nleft == 0 && parser->shared->plan.steady && parser->transforms == NULL)
	{
		fc_batch_fix_defaults(maker, i);
		return true;
	}
	for (int k = 0; k < maker->nleft; k++)
		fc_batch_keep(maker, parser->columns[maker->left[k]].index, i);
	for (int k = 0; k < parser->defaults.n; k++)
		fc_batch_keep(maker, parser->defaults.defaults[k].index, i);
	return true;
}

/* Reorders an array as fc_batch_permute says */
#define FC_BATCH_REORDER(array, type, from, order, n) \
	do { \
		type		reordered[FC_BATCH_ROWS]; \
\
		for (int k = 0; k < (n); k++) \
			reordered[k] = (array)[(order)[k]]; \
		memcpy((array) + (from), reordered, sizeof(type) * (n)); \
	} while (0)

void
fc_batch_permute(FcBatch *batch, int from, const uint16 *order, int n)
{
	FcBatchMaker *maker = (FcBatchMaker *) batch;

	Assert(from >= 0 && n >= 0 && from + n <= batch->n);
	for (int j = 0; j < batch->natts; j++)
	{
		FcBatchColumn *column = &batch->columns[j];

		if (column->absent)
			continue;
		FC_BATCH_REORDER(column->values, Datum, from, order, n);
		if (column->lengths)
			FC_BATCH_REORDER(column->lengths, uint32, from, order, n);
		if (column->any_null)
			FC_BATCH_REORDER(column->nulls, bool, from, order, n);
	}
	FC_BATCH_REORDER(maker->records, uint16, from, order, n);
}

bool
fc_batch_take(const FcBatch *batch, int i, Datum *values, bool *nulls)
{
	fc_batch_hand_over((const FcBatchMaker *) batch, i, values, nulls);
	for (int j = 0; j < batch->natts; j++)
	{
		nulls[j] = true;
		values[j] = (Datum) 0;
		if (!batch->columns[j].made)
			values[j] = fc_batch_value(&batch->columns[j], i, false, &nulls[j]);
	}
	return !batch->unfinished;
}

Datum
fc_batch_value(const FcBatchColumn *column, int i, bool compact, bool *null)
{
	Datum		value = column->values[i];

	*null = column->any_null && column->nulls[i];
	if (*null)
		return (Datum) 0;
	if (column->lengths != NULL)
		return PointerGetDatum(cstring_to_text_with_len(DatumGetPointer(value), column->lengths[i]));
	if (!compact && column->len == -1 && VARATT_IS_SHORT(DatumGetPointer(value)))
		return PointerGetDatum(PG_DETOAST_DATUM(value));
	return value;
}

void
fc_batch_set(FcBatch *batch, int column, int i, Datum value, bool null)
{
	FcBatchColumn *to = &batch->columns[column];

	Assert(to->made && i < batch->n);
	to->nulls[i] = null;
	to->any_null |= null;
	/* a row is formed of plain values */
	if (null)
		to->values[i] = (Datum) 0;
	else if (to->byval)
		to->values[i] = value;
	else if (to->len == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)) &&
			 !(VARATT_IS_SHORT(DatumGetPointer(value)) && !VARATT_IS_EXTERNAL(DatumGetPointer(value))))
		to->values[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	else
		to->values[i] = datumCopy(value, false, to->len);
}

void
fc_batch_refuse_nulls(FcBatch *batch, TupleDesc desc)
{
	for (int j = 0; desc->constr && desc->constr->has_not_null && j < desc->natts; j++)
	{
		const FcBatchColumn *column = &batch->columns[j];

		/* a generated column has no value yet */
		if (!TupleDescAttr(desc, j)->attnotnull || TupleDescAttr(desc, j)->attgenerated ||
			!column->any_null)
			continue;
		for (int i = 0; i < batch->n; i++)
			batch->odd[i] |= column->nulls[i];
	}
}

int
fc_batch_next_odd(const FcBatch *batch, int i)
{
	const bool *odd = memchr(batch->odd + i, true, batch->n - i);

	Assert(i >= 0 && i <= batch->n);
	return odd == NULL ? batch->n : odd - batch->odd;
}
