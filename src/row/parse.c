/*-------------------------------------------------------------------------
 *
 * row/parse.c
 *	  From the bytes of a record to the values of a row, as COPY has them.
 *
 * 1. The record's encoding is verified, or converted to the server's.
 * 2. The record is cut into fields, in place: by its marks (grammar/marks.c),
 *    byte by byte (grammar/field.c), or as an object of JSON (row/object.c).
 * 3. Each field becomes the value of its column (row/column.c).
 * 4. Columns that the file does not have get their defaults.
 *
 * The parser lives in the caller's memory context; fc_parse_end closes the
 * files with numbers of sequences.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/string.h"

#include "errors/first_error.h"
#include "row/parse.h"
#include "row/parser.h"

/* Bytes for the values of a row that the quick way makes */
#define FC_PARSE_ROOM	8192

char *
fc_parse_encoding(FcParser *parser, char *rec, size_t *len)
{
	FcShared   *shared = parser->shared;
	char	   *converted;

	if (!shared->plan.need_transcoding)
	{
		(void) pg_verify_mbstr(shared->plan.encoding, rec, *len, false);
		return rec;
	}
	/* the conversion of an empty input returns the input itself */
	converted = (char *) pg_do_encoding_conversion((unsigned char *) rec, *len,
												   shared->plan.encoding,
												   GetDatabaseEncoding());
	if (converted != rec)
		*len = strlen(converted);
	return converted;
}

static bool
fc_parse_tolerates(FcParser *parser, uint32 class)
{
	return (parser->shared->plan.tolerated & class) != 0;
}

/*
 * Notes a fault that on_error tolerates, until the next record is parsed;
 * edata has COPY's words.  The fault lives in the memory context of the
 * values.
 */
static void
fc_parse_refuse(FcParser *parser, uint32 class, FcColumn *column,
				const char *value, ErrorData *edata)
{
	Assert(fc_parse_tolerates(parser, class));
	parser->record.ok = false;
	parser->faults.bad = (FcBad) {class, column ? column->name : NULL, value, edata};
}

void
fc_parse_malformed(FcParser *parser, FcColumn *column)
{
	uint32		class = column ? FC_CLASS_MISSING_COLUMNS : FC_CLASS_EXTRA_COLUMNS;
	char	   *message = column == NULL ? pstrdup("extra data after last expected column") :
		column->name ? psprintf("missing data for column \"%s\"", column->name) :
		psprintf("missing data for column %d of the header, which is ignored",
				 parser->record.lacks >= 0 ? parser->record.lacks + 1 : (int) (column - parser->columns) + 1);
	ErrorData  *edata = fc_error_made(ERRCODE_BAD_COPY_FILE_FORMAT, message);

	if (!fc_parse_tolerates(parser, class))
		ThrowErrorData(edata);
	fc_parse_refuse(parser, class, column, NULL, edata);
}

/*
 * Is the error about the value?  Not if every value would cause it: the user
 * may not call the function, a table or a resource is missing, or the function
 * does not end.
 */
static bool
fc_parse_is_of_value(const ErrorData *edata)
{
	if (edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE ||
		edata->sqlerrcode == ERRCODE_STATEMENT_TOO_COMPLEX ||
		fc_error_is_of_server(edata))
		return false;
	switch (ERRCODE_TO_CATEGORY(edata->sqlerrcode))
	{
		case ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
		case ERRCODE_INTERNAL_ERROR:
			/* a procedure has a context; an input function itself has none */
			return edata->context == NULL;
		default:
			return true;
	}
}

/* Body of fc_error_catch: brings the record into the server's encoding */
static void
fc_parse_encode(void *arg)
{
	FcParser   *parser = arg;
	FcRecord   *record = &parser->record.from;

	record->data = fc_parse_encoding(parser, record->data, &record->length);
	record->marks = NULL;
}

/* Body of fc_error_catch: verifies bytes that escapes of text format made */
static void
fc_parse_verify(void *arg)
{
	FcParser   *parser = arg;
	const FcField *fields = parser->record.fields;

	for (int i = 0; i < Min(parser->record.found, parser->nfields); i++)
		if (fields[i].verify)
			pg_verifymbstr(fields[i].data, fields[i].len, false);
}

/* Body of fc_error_catch: cuts an object of JSON */
static void
fc_parse_object(void *arg)
{
	FcParser   *parser = arg;
	FcInHand   *record = &parser->record;

	record->cut = true;
	record->found = parser->nfields;
	/* texts are not in the record */
	parser->quick.room.readable = NULL;
	fc_object_cut(parser->objects, record->from.data, record->from.length, record->fields,
				  &parser->faults.bad.class);
}

/* Mends what fc_parse_encode found or, once fields are cut, fc_parse_verify */
static void
fc_parse_mend(FcParser *parser)
{
	FcInHand   *record = &parser->record;
	const FcPlan *plan = &parser->shared->plan;

	if (!record->cut)
	{
		record->from.data = fc_mend_characters(plan->encoding, plan->need_transcoding, record->from.data, &record->from.length);
		record->from.marks = NULL;
		return;
	}
	for (int i = 0; i < Min(record->found, parser->nfields); i++)
		if (record->fields[i].verify)
			record->fields[i].data = fc_mend_characters(GetDatabaseEncoding(), false,
														record->fields[i].data, &record->fields[i].len);
}

/*
 * Calls check, which throws if the record's encoding is wrong, or an object.
 * Where such records are tolerated, mends or refuses the record instead.
 */
static void
fc_parse_check(FcParser *parser, FcErrorBody check)
{
	uint32		class = FC_CLASS_ENCODING;
	bool		object = check == fc_parse_object;
	bool		mends = !object && fc_parse_tolerates(parser, FC_CLASS_REPLACE_INVALID);
	ErrorData  *edata;

	if (!mends && !fc_parse_tolerates(parser, object ? FC_CLASS_MISSING_COLUMNS | FC_CLASS_EXTRA_COLUMNS : class))
	{
		check(parser);
		return;
	}
	edata = fc_error_catch(parser->ctx, check, parser);
	if (object)
		class = parser->faults.bad.class;
	/* an object may have more levels than the stack */
	if (edata && ((!mends && !fc_parse_tolerates(parser, class)) || (!object && !fc_parse_is_of_value(edata)) || fc_error_is_of_server(edata)))
		ThrowErrorData(edata);
	else if (edata && mends)
	{
		fc_mend_note(&parser->faults, FC_CLASS_REPLACE_INVALID, NULL, NULL, edata);
		fc_parse_mend(parser);
	}
	else if (edata)
		fc_parse_refuse(parser, class, NULL, NULL, edata);
}

/*
 * Body of fc_error_catch: makes the value of the column at hand, and puts what
 * a transform makes into the field, too
 */
static void
fc_parse_make_value(void *arg)
{
	FcParser   *parser = arg;
	FcColumn   *column = parser->record.column;
	FcField    *field = &parser->record.fields[column - parser->columns];
	Datum	   *value = &parser->record.values[column->index];

	if (column->transform && fc_transform_value(parser->transforms, column, field, value))
		return;
	fc_mend_length(&parser->faults, column, field);
	*value = fc_column_value(column, field);
}

/*
 * Makes the value; returns the error if there is one.
 *
 * After an error it releases at once what core's input function has left open,
 * such as the row type of a composite value, as an abort would.  To release a
 * million of these at the end takes quadratic time.  Locks stay.
 */
static ErrorData *
fc_parse_catch(FcParser *parser)
{
	ResourceOwner outer = CurrentResourceOwner;
	ErrorData  *edata;

	if (parser->faults.owner == NULL)
		parser->faults.owner = ResourceOwnerCreate(outer, "fast_copy value");
	CurrentResourceOwner = parser->faults.owner;
	edata = fc_error_catch(parser->ctx, fc_parse_make_value, parser);
	CurrentResourceOwner = outer;
	if (edata == NULL)
		return NULL;
	fc_error_owner_release(parser->faults.owner, false);
	parser->faults.owner = NULL;
	return edata;
}

/* The type refuses the value: sets NULL instead, or refuses the record */
static void
fc_parse_refused_value(FcParser *parser, FcColumn *column, FcField *field, ErrorData *edata)
{
	const FcField *was = &parser->record.was;
	bool		in_file = was->data != fc_column_nothing;
	const char *given = in_file ? was->data : field->data;

	if (column->transform && in_file ? was->null : field->null)
		given = NULL;
	if (!parser->shared->plan.set_null)
	{
		fc_parse_refuse(parser, FC_CLASS_CONVERSION, column,
						column->binary ? NULL : given, edata);
		return;
	}
	field->null = true;
	/* throws if a domain refuses the NULL, too */
	parser->record.values[column->index] = fc_column_value(column, field);
	fc_mend_note(&parser->faults, 0, column->name, given, NULL);
	parser->record.nulls[column->index] = true;
}

/*
 * Sets the time zone: the file's for values of the file, the session's for
 * defaults.  Called for each value: a function with TimeZone among its own
 * settings restores the session's.
 */
static void
fc_parse_set_zone(FcParser *parser, bool of_file)
{
	if (parser->file_zone)
		session_timezone = of_file ? parser->file_zone : parser->session_zone;
}

/* Sets the value of one field; record.ok is false after a tolerated fault */
static void
fc_parse_column(FcParser *parser, FcColumn *column, FcField *field)
{
	Datum	   *value = &parser->record.values[column->index];
	bool	   *null = &parser->record.nulls[column->index];
	ErrorData  *edata = NULL;

	Assert(column->index >= 0 && column->index < parser->natts);
	Assert(!field->marker || column->def != NULL);
	fc_parse_set_zone(parser, !field->marker);
	if (field->marker)
	{
		*value = ExecEvalExpr(column->def, parser->defaults.econtext, null);
		return;
	}
	if (!field->null && !column->transform && (column->flags & FC_FIELD_EDITS))
		fc_edit_field(&column->edit, field);
	if (!fc_parse_tolerates(parser, FC_CLASS_CONVERSION))
		fc_parse_make_value(parser);
	else if (field->null || column->transform || column->pattern ||
			 fc_column_refuses(column, field) ||
			 !fc_convert(&column->convert, field->data, field->len, value))
		edata = (column->flags & FC_FIELD_SUBTRANSACTION) ?
			fc_error_catch_undo(parser->ctx, fc_parse_make_value, parser) :
			fc_parse_catch(parser);
	*null = field->null;
	if (edata && !fc_parse_is_of_value(edata))
		ThrowErrorData(edata);
	else if (edata)
		fc_parse_refused_value(parser, column, field, edata);
}

static void
fc_parse_defaults(FcParser *parser)
{
	FcInHand   *record = &parser->record;

	fc_parse_set_zone(parser, false);
	for (int i = 0; i < parser->defaults.n; i++)
	{
		FcDefault  *def = &parser->defaults.defaults[i];

		record->values[def->index] = ExecEvalExpr(def->expr, parser->defaults.econtext,
												  &record->nulls[def->index]);
	}
}

void
fc_parse_pass_over(FcParser *parser)
{
	if (FC_CORE_NUMBERS_ALL && parser->faults.bad.class == FC_CLASS_CONVERSION)
		fc_parse_defaults(parser);
}

/* ERROR 22P04 if a field stands for a default that its column does not have */
static void
fc_parse_check_markers(FcParser *parser)
{
	for (int i = 0; i < Min(parser->record.found, parser->nfields); i++)
	{
		FcColumn   *column = &parser->columns[i];

		if (!parser->record.fields[i].marker || column->index < 0 || column->def || column->transform)
			continue;
		fc_format_error(errmsg("unexpected default marker in COPY data"),
						errdetail("Column \"%s\" has no default value.", column->name));
	}
}

/*
 * Brings fields that were cut into the plan's order.  Columns that the file
 * lacks get their default, or NULL.
 */
static void
fc_parse_permute(FcParser *parser, const FcField *cut)
{
	FcInHand   *record = &parser->record;
	const int32 *map = record->map;
	int			n = Min(record->found, map[0]);

	for (int i = 0; i < parser->nfields; i++)
	{
		int			at = map[i + 1];
		bool		marker = at < 0 && parser->columns[i].def != NULL;

		record->fields[i] = at >= 0 && at < n ? cut[at] :
			(FcField) {.data = fc_column_nothing,.null = !marker,.marker = marker};
	}
	if (n < map[0] && !parser->shared->plan.pads)
		record->lacks = n;
	record->found = parser->nfields + (record->found > map[0]);
}

/* The column whose field the record lacks; one without a name if none is */
static FcColumn *
fc_parse_lacking(const FcParser *parser)
{
	static FcColumn other;

	for (int i = 0; i < parser->nfields; i++)
		if (parser->record.map[i + 1] == parser->record.lacks)
			return &parser->columns[i];
	return &other;
}

/*
 * Cuts the current record into fields, by marks if it has or can get some.  It
 * stays without marks if its last quote is open, as when the file has changed
 * or ends there.
 */
static void
fc_parse_cut(FcParser *parser)
{
	FcInHand   *record = &parser->record;
	FcRecord   *from = &record->from;
	const FcDialect *dialect = &parser->dialect;
	int			max = record->map ? record->map[0] : parser->nfields;
	FcField    *fields = record->map ? palloc(sizeof(FcField) * max) : record->fields;

	Assert(!record->cut && record->left == NULL);
	record->cut = true;
	/* the byte after the record is there for the last field's NUL */
	parser->quick.room.readable = from->data + from->length + 1;
	if (from->marks == NULL && from->length > 0 && from->length <= FC_MARKS_BYTES &&
		fc_marks_serve(dialect))
	{
		fc_marks_fill(dialect, parser->marks, from->data, from->length);
		from->marks_pos = 0;
		if (dialect->mode == FC_MODE_TEXT || fc_marks_closed(parser->marks, from->length))
			from->marks = parser->marks;
	}
	if (from->marks != NULL)
		record->found = fc_fields_marked(dialect, from->marks, from->marks_pos,
										from->data, from->length, fields, max);
	else if (dialect->mode == FC_MODE_BINARY)
		record->found = fc_binary_fields(from->data, from->length, fields, max);
	else
		record->found = fc_fields_cut(dialect, from->data, from->length, fields, max);
	if (record->map && record->found >= 0)
		fc_parse_permute(parser, fields);
}

/*
 * Cuts the current record into fields, in the server's encoding, and checks
 * what COPY checks before it converts any.  Returns record.ok.
 */
static bool
fc_parse_fields(FcParser *parser)
{
	FcInHand   *record = &parser->record;
	const FcPlan *plan = &parser->shared->plan;

	if (!record->cut && parser->dialect.mode != FC_MODE_BINARY)
		fc_parse_check(parser, fc_parse_encode);
	if (!record->ok)
		return false;
	if (!record->cut && parser->objects)
		fc_parse_check(parser, fc_parse_object);
	else if (!record->cut)
		fc_parse_cut(parser);
	if (!record->ok)
		return false;
	if (record->found < 0)
		fc_format_error(errmsg(parser->dialect.mode == FC_MODE_BINARY ?
							   "unexpected EOF in COPY data" :
							   "unterminated CSV quoted field"));
	/* fields that may be missing are NULL */
	for (; (plan->pads || (plan->drops && record->found >= plan->nwanted)) && record->found < parser->nfields; record->found++)
		record->fields[record->found] = (FcField) {.data = fc_column_nothing,.null = true};
	if (parser->dialect.mode == FC_MODE_TEXT)
		fc_parse_check(parser, fc_parse_verify);
	if (record->ok && parser->dialect.default_string != NULL)
		fc_parse_check_markers(parser);
	if (record->ok && record->found > parser->nfields && !plan->drops && (parser->nfields > 0 || record->from.length > 0))
		fc_parse_malformed(parser, NULL);
	return record->ok;
}

/*
 * Gives the record to the transforms, and makes empty fields for columns
 * without one; false if it lacks a field, which is refused
 */
static bool
fc_parse_transforms(FcParser *parser)
{
	FcInHand   *record = &parser->record;

	if (parser->transforms == NULL)
		return true;
	if (record->lacks >= 0 || record->found < parser->nfields)
	{
		fc_parse_malformed(parser, record->lacks >= 0 ? fc_parse_lacking(parser) : &parser->columns[record->found]);
		return false;
	}
	for (int i = parser->nfields; i < parser->ncolumns; i++)
		record->fields[i] = (FcField) {.data = fc_column_nothing,.null = true};
	fc_transforms_take(parser->transforms, record->fields, &record->from);
	/* an expression makes the value, not the default */
	for (int i = 0; i < parser->nfields; i++)
		record->fields[i].marker &= parser->columns[i].transform == NULL;
	return true;
}

/*
 * Sets the value of a field, if that can neither throw nor evaluate anything;
 * else returns false.  True also for a field that is skipped.
 */
static inline bool
fc_parse_quick_field(FcQuick *quick, const FcField *field, Datum *values,
					 bool *nulls)
{
	int			index = quick->index;

	if (unlikely(quick->convert.function == NULL || quick->edit || field->marker || field->verify))
		return index < 0 && !field->verify;
	nulls[index] = field->null;
	if (!field->null)
		return quick->convert.function(&quick->convert, field->data, field->len,
									   &values[index]);
	values[index] = (Datum) 0;
	return true;
}

/* Sets the value of a column that the quick way has not set */
static void
fc_parse_any_column(FcParser *parser, int i)
{
	FcColumn   *column = &parser->columns[i];
	FcInHand   *record = &parser->record;
	FcField    *field = &record->fields[i];

	if (i >= record->found && i < parser->nfields)
		fc_parse_malformed(parser, column);
	else if (record->lacks >= 0 && record->map[i + 1] >= record->lacks)
		;						/* fc_parse_columns tells of it */
	else if (column->index >= 0 &&
			 (parser->file_zone ||
			  !fc_parse_quick_field(&parser->quick.columns[i], field,
									record->values, record->nulls)))
	{
		fc_column_force(column, &parser->dialect, field);
		record->column = column;
		record->was = *field;
		fc_parse_column(parser, column, field);
		record->column = NULL;
	}
}

/*
 * Body of fc_parse_in_zone: sets the values of columns that have a field, and
 * that the quick way has not set.
 *
 * A record with several faults must give COPY's error.  So the checks come in
 * NextCopyFrom's order: encoding, quotes, too many fields, then column by
 * column a missing field or a bad value.  The error's text is provisional: the
 * leader lets NextCopyFrom throw its own.
 */
static void
fc_parse_columns(void *arg)
{
	FcParser   *parser = arg;
	FcInHand   *record = &parser->record;

	if ((record->left || fc_parse_fields(parser)) && fc_parse_transforms(parser))
		for (int n = record->left ? record->nleft : parser->ncolumns; record->done < n && record->ok; record->done++)
			fc_parse_any_column(parser, record->left ? record->left[record->done] : record->done);
	if (record->ok && record->lacks >= 0)
		fc_parse_malformed(parser, fc_parse_lacking(parser));
}

/* Body of fc_parse_in_zone: sets all values */
static void
fc_parse_row(void *arg)
{
	FcParser   *parser = arg;

	fc_parse_columns(parser);
	if (parser->record.ok)
		fc_parse_defaults(parser);
	else
		fc_parse_pass_over(parser);
}

void
fc_parse_in_zone(FcParser *parser, void (*body) (void *arg), void *arg)
{
	parser->session_zone = session_timezone;
	fc_column_in_zone(parser->file_zone, body, arg);
}

/*
 * Is the record valid in the server's encoding as it is?  False also if it
 * would have to be converted.
 */
static bool
fc_parse_is_valid(const FcParser *parser)
{
	const FcRecord *record = &parser->record.from;

	/* the texts among binary values are verified one by one */
	if (parser->dialect.mode == FC_MODE_BINARY)
		return true;
	if (parser->shared->plan.need_transcoding)
		return false;
	/* plain ASCII is valid in every server encoding */
	if (record->marks != NULL && !record->marks->has_strange)
		return true;
	return fc_parse_is_ascii(record->data, record->length) ||
		pg_encoding_verifymbstr(parser->shared->plan.encoding, record->data, record->length) == record->length;
}

bool
fc_parse_quickly(FcParser *parser, const FcRecord *record, Datum *values, bool *nulls)
{
	FcQuick    *quick = parser->quick.columns;
	const FcField *field = parser->record.fields;
	const FcField *end = field + parser->ncolumns;

	fc_parse_take(parser, record, values, nulls);
	/* core's parser may throw an error */
	if (parser->file_zone || parser->objects || parser->record.map || !fc_parse_is_valid(parser))
		return false;
	fc_parse_cut(parser);
	if (parser->record.found != parser->nfields)
		return false;
	while (field < end && fc_parse_quick_field(quick, field, values, nulls))
	{
		quick++;
		field++;
	}
	parser->record.done = field - parser->record.fields;
	return field == end && parser->defaults.n == 0 && parser->transforms == NULL;
}

bool
fc_parse_rest(FcParser *parser)
{
	Assert(parser->record.ok && parser->record.done <= parser->ncolumns);
	fc_parse_in_zone(parser, fc_parse_row, parser);
	return parser->record.ok;
}

bool
fc_parse_for_core(FcParser *parser, const FcRecord *record, Datum *values, bool *nulls)
{
	fc_parse_take(parser, record, values, nulls);
	parser->record.column = NULL;
	fc_parse_in_zone(parser, fc_parse_columns, parser);
	return parser->record.ok;
}

/*
 * Lets the quick way's converters make values in the room.  A text may also
 * stay in the record: its header then replaces the byte that ended the field
 * before.  Not with set_null, which needs that byte again.
 */
static void
fc_parse_init_quick(FcParser *parser, TupleDesc desc)
{
	parser->quick.start = palloc(FC_PARSE_ROOM);
	parser->quick.room.end = parser->quick.start + FC_PARSE_ROOM;
	parser->quick.columns = palloc0(sizeof(FcQuick) * Max(parser->ncolumns, 1));
	for (int i = 0; i < parser->ncolumns; i++)
	{
		FcColumn   *column = &parser->columns[i];
		FcQuick    *quick = &parser->quick.columns[i];

		quick->index = column->index;
		/* does the value depend on anything but the edited field? */
		if (column->index < 0 || (column->flags & ~FC_FIELD_EDITS) != 0 || column->pattern ||
			!column->input.fn_strict)
			continue;
		quick->edit = column->flags & FC_FIELD_EDITS ? &column->edit : NULL;
		quick->convert = column->convert;
		/* a text with storage PLAIN gets no short header in a tuple */
		if (TupleDescAttr(desc, column->index)->attlen == -1 &&
			TupleDescAttr(desc, column->index)->attstorage == TYPSTORAGE_PLAIN)
			continue;
		quick->convert.room = &parser->quick.room;
		quick->convert.in_place = i > 0 && !parser->shared->plan.set_null && !parser->dialect.json &&
			parser->shared->at[FC_TAIL_MAPS] == 0;
	}
}

/*
 * May keys be read from their fields alone?  Not if only the server's encoding
 * shows a NULL, nor if fields may stand for a default.
 */
static void
fc_parse_init_key(FcParser *parser)
{
	FcShared   *shared = parser->shared;
	FcQuick    *key;

	if (!fc_shared_keyed(shared) || shared->plan.key.field < 0 || parser->file_zone ||
		parser->dialect.default_string != NULL || !parser->null_clear)
		return;
	Assert(shared->plan.key.field < parser->ncolumns);
	key = &parser->quick.columns[shared->plan.key.field];
	parser->quick.key = key->convert.function != NULL && !key->edit ? &key->convert : NULL;
}

static void
fc_parse_init_columns(FcParser *parser, Relation target)
{
	FcShared   *shared = parser->shared;
	List	   *said = stringToNode(fc_shared_fields(shared));
	List	   *number = lfourth(said);

	parser->columns = palloc0(sizeof(FcColumn) * Max(shared->plan.ncolumns, 1));
	for (int i = 0; i < shared->plan.ncolumns; i++)
	{
		FcColumn   *column = &parser->columns[i];

		column->flags = fc_shared_flags(shared)[i];
		fc_column_init(column, RelationGetDescr(target), fc_shared_columns(shared)[i],
					   strVal(list_nth(lsecond(said), i)), parser->dialect.mode == FC_MODE_BINARY);
		if (parser->dialect.json && column->index >= 0)
			fc_column_take_json(column);
		if (parser->dialect.default_string != NULL && column->index >= 0)
			column->def = fc_column_default(shared, target, column->index + 1, true);
		if (shared->plan.tolerated & FC_CLASS_CUT_LONG)
			fc_mend_begin(column);
		column->edit = (FcEdit) {column->flags, list_nth(lthird(said), i), strVal(linitial(number)), strVal(lsecond(number))[0]};
		if (column->flags & FC_FIELD_NUMBER)
			column->edit.typid = getBaseType(column->typid);
	}
	if (parser->dialect.json)
		parser->objects = fc_objects_begin(&parser->dialect, linitial(said), parser->columns, parser->nfields);
}

FcParser *
fc_parse_begin(FcContext *ctx, EState *estate, bool numbered)
{
	FcParser   *parser = palloc0(sizeof(FcParser));
	TupleDesc	desc = RelationGetDescr(ctx->target);
	FcShared   *shared = ctx->shared;
	int			n = Max(shared->plan.ncolumns, 1);

	parser->ctx = ctx;
	parser->shared = shared;
	/* rows that are moved come from no file */
	parser->dialect = ctx->source->nfiles == 0 ? shared->dialects[0] : *fc_context_dialect(ctx, 0);
	parser->dialect.null_string = fc_shared_null(shared);
	if (parser->dialect.default_string != NULL)
		parser->dialect.default_string = fc_shared_default(shared);
	parser->null_clear = !shared->plan.need_transcoding || pg_is_ascii(parser->dialect.null_string);
	parser->natts = desc->natts;
	parser->nfields = shared->plan.nfields;
	parser->ncolumns = shared->plan.ncolumns;
	Assert(parser->nfields <= parser->ncolumns);
	parser->complete = true;
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		parser->complete &= fc_column_in_file(shared, attnum);
	parser->record.fields = palloc(sizeof(FcField) * n);
	parser->marks = palloc(sizeof(FcMarks));
	/* each value may be cut and refused, and characters are looked at twice */
	parser->faults.most = 2 * n + 2;
	parser->faults.kept = palloc(sizeof(FcBad) * parser->faults.most);
	initStringInfo(&parser->copy);
	parser->file_zone = fc_column_zone(fc_shared_zone(shared));
	fc_parse_init_columns(parser, ctx->target);
	fc_column_begin_defaults(&parser->defaults, shared, ctx->target, estate, numbered);
	parser->transforms = fc_transforms_begin(ctx, parser->columns, &parser->dialect,
											 parser->defaults.econtext);
	fc_parse_init_quick(parser, desc);
	fc_parse_init_key(parser);
	return parser;
}

void
fc_parse_end(FcParser *parser)
{
	if (parser->defaults.numbers)
		fc_numbers_close(parser->defaults.numbers);
}

void
fc_parse_compact(FcParser *parser, bool compact)
{
	parser->quick.room.compact = compact;
}

void
fc_parse_number(FcParser *parser, uint64 number)
{
	if (parser->defaults.numbers)
		fc_numbers_set(parser->defaults.numbers, number);
}
