/*-------------------------------------------------------------------------
 *
 * row/parse.c
 *	  From the bytes of a record to the values of a row, as COPY has them.
 *
 *	 record ──► encoding verified or converted ──► fields (in place)
 *			──► native conversion or input function ──► values
 *			──► defaults of the columns the file does not have
 *
 * A record goes this way as far as nothing is to be thrown or evaluated (the
 * quick way: fc_parse_quickly), and the rest of it, where COPY's options and
 * faults are looked after, only if need be.
 *
 * The order of checks is NextCopyFrom's, so that a record with several faults
 * gives the error COPY gives: encoding, quotes, too many fields, then column
 * by column a missing field or a bad value.  The text of an error thrown here
 * is provisional: the leader shows the record to NextCopyFrom and lets that
 * throw.  Faults that on_error tolerates are not thrown but kept until the
 * next record is parsed; they live in the memory context of the values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/string.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "pgtime.h"
#include "rewrite/rewriteHandler.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "compat/compat.h"
#include "errors/first_error.h"
#include "row/convert.h"
#include "row/parse.h"
#include "row/pattern.h"
#include "row/serial.h"

/* How a field of the file becomes a column */
typedef struct FcColumn
{
	int			index;			/* in the target's row, from 0; -1: skipped */
	const char *name;
	uint8		flags;			/* FC_FIELD_* */
	bool		ours;			/* core cannot read the field as it is */
	FcConverter convert;
	FcPattern  *pattern;		/* the file's own form of a timestamp, or NULL */
	FmgrInfo	input;
	Oid			typioparam;
	Oid			typid;
	int32		typmod;
	ExprState  *def;			/* where a field may stand for it, or NULL */
} FcColumn;

/* A field as the quick way knows it */
typedef struct FcQuick
{
	FcConverter convert;		/* function NULL: not without a look at FcColumn */
	int			index;			/* as in FcColumn */
	bool		known;			/* the value is given: no conversion */
	Datum		value;
} FcQuick;

/* Bytes for the values of a row that the quick way makes */
#define FC_PARSE_ROOM	8192

/* Bytes of a record that is looked at without being changed, at first */
#define FC_PARSE_COPY	4096

/* Bytes looked at together, and of eight: the lowest bits, the highest */
#define FC_BLOCK		16
#define FC_ONES			UINT64CONST(0x0101010101010101)
#define FC_HIGH_BITS	UINT64CONST(0x8080808080808080)

/* A column the file does not have, with a default */
typedef struct FcDefault
{
	int			index;
	ExprState  *expr;
} FcDefault;

struct FcParser
{
	FcContext  *ctx;
	FcShared   *shared;
	FcDialect	dialect;
	bool		null_ascii;		/* the same bytes in every encoding */
	pg_tz	   *zone;			/* NULL: the session's */
	pg_tz	   *session;		/* that one, while the other is set */
	int			natts;
	int			ncolumns;
	FcColumn   *columns;
	FcQuick    *quick;			/* NULL: no quick way */
	FcRoom		room;
	char	   *room_start;
	char	   *copy;			/* of a record that is only looked at */
	size_t		copy_size;
	bool		complete;		/* each column of the row has a field */
	FcField    *fields;
	int			found;			/* fields the record has; -1: an open quote */
	int			done;			/* columns that have their value */
	int			ndefaults;
	FcDefault  *defaults;
	ExprContext *econtext;
	FcNumbers  *numbers;		/* or NULL */
	ResourceOwner owner;		/* of what a value is tried with, or NULL */

	/* the record being parsed */
	char	   *rec;
	size_t		len;
	Datum	   *values;
	bool	   *nulls;
	bool		as_text;		/* wanted: text for core, not values */
	bool		ok;
	int			nnulled;
	FcNulled   *nulled;
	FcBad		bad;
	FcColumn   *column;			/* being converted for core, or NULL */
	FcField    *field;			/* ... from this */
	bool	   *made;			/* fields whose value core need not make */
	bool		cut;			/* the encoding is right, fields are known */
};

/* A value, in the hands of fc_error_catch */
typedef struct FcValue
{
	FcColumn   *column;
	const FcField *field;
	Datum		value;
} FcValue;

static void
fc_parse_init_column(FcColumn *column, TupleDesc desc, AttrNumber attnum)
{
	Form_pg_attribute att;
	Oid			input;

	column->index = attnum - 1;
	if (attnum == 0)
		return;
	att = TupleDescAttr(desc, attnum - 1);
	column->name = pstrdup(NameStr(att->attname));
	fc_convert_init(&column->convert, att->atttypid, att->atttypmod);
	column->typid = att->atttypid;
	column->typmod = att->atttypmod;
	getTypeInputInfo(att->atttypid, &input, &column->typioparam);
	fmgr_info(input, &column->input);
}

static void
fc_parse_init_pattern(FcColumn *column, const char *pattern)
{
	if (pattern[0] != '\0')
		column->pattern = fc_pattern_compile(pattern, column->typid, column->typmod,
											 column->name);
}

static bool
fc_parse_in_file(FcShared *shared, AttrNumber attnum)
{
	for (int i = 0; i < shared->ncolumns; i++)
		if (fc_shared_columns(shared)[i] == attnum)
			return true;
	return false;
}

static bool
fc_parse_is_complete(FcShared *shared, int natts)
{
	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
		if (!fc_parse_in_file(shared, attnum))
			return false;
	return true;
}

/*
 * The target's default, as for COPY, not the partition's; or NULL.  The scan
 * needs no value that may be another one in the load, and must not use one
 * up.
 */
static ExprState *
fc_parse_init_default(FcShared *shared, Relation target, AttrNumber attnum)
{
	Expr	   *expr = (Expr *) build_column_default(target, attnum);

	if (expr == NULL)
		return NULL;
	if (shared->phase <= FC_PHASE_SCAN &&
		contain_volatile_functions((Node *) expr))
		expr = (Expr *) makeNullConst(TupleDescAttr(RelationGetDescr(target),
													attnum - 1)->atttypid, -1, InvalidOid);
	expr = expression_planner(expr);
	/* a look at the file takes no numbers */
	if (shared->phase == FC_PHASE_CHECK)
		expr = (Expr *) fc_number_replace((Node *) expr, 0);
	for (int i = 0; i < shared->nnumbers && shared->phase != FC_PHASE_CHECK; i++)
		if (fc_shared_numbers(shared)[i].attnum == attnum)
			expr = (Expr *) fc_number_replace((Node *) expr, i + 1);
	return ExecInitExpr(expr, NULL);
}

static void
fc_parse_init_defaults(FcParser *parser, Relation target, EState *estate)
{
	TupleDesc	desc = RelationGetDescr(target);

	parser->defaults = palloc(sizeof(FcDefault) * Max(desc->natts, 1));
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		FcDefault  *def = &parser->defaults[parser->ndefaults];

		if (att->attisdropped || att->attgenerated ||
			fc_parse_in_file(parser->shared, attnum))
			continue;
		def->index = attnum - 1;
		def->expr = fc_parse_init_default(parser->shared, target, attnum);
		if (def->expr != NULL)
			parser->ndefaults++;
	}
	for (int i = 0; parser->shared->default_len >= 0 && i < parser->ncolumns; i++)
		if (parser->columns[i].index >= 0)
			parser->columns[i].def = fc_parse_init_default(parser->shared, target,
														   parser->columns[i].index + 1);
	parser->econtext = GetPerTupleExprContext(estate);
	/* up to the scan, for which a sample is taken, there are no numbers yet */
	if (parser->shared->nnumbers == 0 || parser->shared->phase <= FC_PHASE_SCAN ||
		parser->shared->phase == FC_PHASE_CHECK)
		return;
	parser->numbers = fc_numbers_open(parser->shared);
	parser->econtext->ecxt_param_list_info = fc_numbers_params(parser->numbers);
}

/* ERROR 22023 for a zone that SET TIME ZONE would refuse */
static pg_tz *
fc_parse_init_zone(const char *name)
{
	pg_tz	   *zone;

	if (name[0] == '\0')
		return NULL;
	zone = pg_tzset(name);
	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", name)));
	return zone;
}

/* Can the time zone change what a value of this type is? */
static bool
fc_parse_uses_zone(Oid typid)
{
	switch (typid)
	{
		case BOOLOID:
		case BYTEAOID:
		case CHAROID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TEXTOID:
		case BPCHAROID:
		case VARCHAROID:
		case UUIDOID:
		case JSONOID:
		case JSONBOID:
			return false;
		default:
			return true;
	}
}

/* Would core read the column's fields in another way? */
static bool
fc_parse_is_ours(const FcParser *parser, const FcColumn *column)
{
	return column->pattern != NULL ||
		(parser->zone != NULL && fc_parse_uses_zone(column->typid));
}

/* Is there nothing more to a column's field than its type and NULL? */
static bool
fc_parse_is_plain(const FcColumn *column)
{
	return column->index >= 0 && column->flags == 0 && column->pattern == NULL &&
		column->input.fn_strict;
}

/*
 * The quick way's converters make values in the room.  A text may also begin
 * in the byte before it, which ended the field before, where nobody will ask
 * for that field again, as set_null does.
 */
static void
fc_parse_init_quick(FcParser *parser, TupleDesc desc)
{
	parser->room_start = palloc(FC_PARSE_ROOM);
	parser->room.end = parser->room_start + FC_PARSE_ROOM;
	parser->quick = palloc0(sizeof(FcQuick) * Max(parser->ncolumns, 1));
	for (int i = 0; i < parser->ncolumns; i++)
	{
		FcColumn   *column = &parser->columns[i];
		FcQuick    *quick = &parser->quick[i];

		quick->index = column->index;
		if (!fc_parse_is_plain(column))
			continue;
		quick->convert = column->convert;
		/* such a text gets no short header in a tuple */
		if (TupleDescAttr(desc, column->index)->attlen == -1 &&
			TupleDescAttr(desc, column->index)->attstorage == TYPSTORAGE_PLAIN)
			continue;
		quick->convert.room = &parser->room;
		quick->convert.in_place = i > 0 && !parser->shared->set_null;
	}
}

FcParser *
fc_parse_begin(FcContext *ctx, EState *estate)
{
	FcParser   *parser = palloc0(sizeof(FcParser));
	TupleDesc	desc = RelationGetDescr(ctx->target);
	FcShared   *shared = ctx->shared;
	const char *pattern = fc_shared_patterns(shared);

	parser->ctx = ctx;
	parser->shared = shared;
	parser->dialect = ctx->dialect;
	parser->dialect.null_string = fc_shared_null(shared);
	parser->dialect.null_len = shared->null_len;
	parser->null_ascii = pg_is_ascii(parser->dialect.null_string);
	parser->natts = desc->natts;
	parser->ncolumns = shared->ncolumns;
	parser->columns = palloc0(sizeof(FcColumn) * Max(shared->ncolumns, 1));
	parser->fields = palloc(sizeof(FcField) * Max(shared->ncolumns, 1));
	parser->made = palloc0(sizeof(bool) * Max(shared->ncolumns, 1));
	parser->complete = fc_parse_is_complete(shared, desc->natts);
	parser->nulled = palloc(sizeof(FcNulled) * Max(shared->ncolumns, 1));
	parser->copy_size = FC_PARSE_COPY;
	parser->copy = palloc(FC_PARSE_COPY);
	for (int i = 0; i < shared->ncolumns; i++)
	{
		fc_parse_init_column(&parser->columns[i], desc,
							 fc_shared_columns(shared)[i]);
		parser->columns[i].flags = fc_shared_flags(shared)[i];
		fc_parse_init_pattern(&parser->columns[i], pattern);
		pattern += strlen(pattern) + 1;
	}
	parser->zone = fc_parse_init_zone(fc_shared_zone(shared));
	for (int i = 0; i < shared->ncolumns; i++)
		parser->columns[i].ours = fc_parse_is_ours(parser, &parser->columns[i]);
	fc_parse_init_defaults(parser, ctx->target, estate);
	if (parser->zone == NULL)
		fc_parse_init_quick(parser, desc);
	return parser;
}

void
fc_parse_end(FcParser *parser)
{
	if (parser->numbers)
		fc_numbers_close(parser->numbers);
}

void
fc_parse_compact(FcParser *parser, bool compact)
{
	parser->room.compact = compact;
}

void
fc_parse_number(FcParser *parser, uint64 number)
{
	if (parser->numbers)
		fc_numbers_set(parser->numbers, number);
}

void
fc_parse_known_key(FcParser *parser, int64 key, bool known)
{
	FcQuick    *quick;

	if (parser->quick == NULL)
		return;
	quick = &parser->quick[parser->shared->key_field];
	quick->known = known;
	quick->value = fc_key_datum(parser->shared->key_type, key);
}

/* The record in the server's encoding; verified even if nothing changes */
static char *
fc_parse_encoding(FcParser *parser, char *rec, size_t *len)
{
	FcShared   *shared = parser->shared;
	char	   *converted;
	int			valid;

	if (!shared->need_transcoding)
	{
		valid = pg_encoding_verifymbstr(shared->file_encoding, rec, *len);
		if (valid != *len)
			report_invalid_encoding(shared->file_encoding, rec + valid,
									*len - valid);
		return rec;
	}
	/* what the conversion returns is the input if that was empty */
	converted = (char *) pg_do_encoding_conversion((unsigned char *) rec, *len,
												   shared->file_encoding,
												   GetDatabaseEncoding());
	if (converted != rec)
		*len = strlen(converted);
	return converted;
}

static bool
fc_parse_tolerates(FcParser *parser, uint32 class)
{
	return (parser->shared->tolerated & class) != 0;
}

/* Keeps what is wrong with the record; edata NULL: what COPY says */
static void
fc_parse_refuse(FcParser *parser, uint32 class, FcColumn *column,
				const char *value, ErrorData *edata)
{
	parser->ok = false;
	parser->bad.class = class;
	parser->bad.column = column ? column->name : NULL;
	parser->bad.value = value;
	parser->bad.edata = edata;
}

/* The record has too few or too many fields */
static void
fc_parse_malformed(FcParser *parser, uint32 class, FcColumn *column)
{
	char	   *message = column ?
		psprintf("missing data for column \"%s\"", column->name) :
		pstrdup("extra data after last expected column");
	ErrorData  *edata;

	if (!fc_parse_tolerates(parser, class))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg_internal("%s", message)));
	edata = palloc0(sizeof(ErrorData));
	edata->elevel = ERROR;
	edata->sqlerrcode = ERRCODE_BAD_COPY_FILE_FORMAT;
	edata->message = message;
	edata->assoc_context = CurrentMemoryContext;
	fc_parse_refuse(parser, class, column, NULL, edata);
}

/*
 * Is it the value that is wrong?  A function that cannot run, because it may
 * not be called, misses a table, a resource or does not end, would refuse all
 * values.
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
			/* an input function says so itself, a procedure has a context */
			return edata->context == NULL;
		default:
			return true;
	}
}

/* Body of fc_error_catch */
static void
fc_parse_encode(void *arg)
{
	FcParser   *parser = arg;

	parser->rec = fc_parse_encoding(parser, parser->rec, &parser->len);
}

/* Verifies or converts the record */
static void
fc_parse_check_encoding(FcParser *parser)
{
	ErrorData  *edata;

	if (!fc_parse_tolerates(parser, FC_CLASS_ENCODING))
	{
		fc_parse_encode(parser);
		return;
	}
	edata = fc_error_catch(parser->ctx, fc_parse_encode, parser);
	if (edata && !fc_parse_is_of_value(edata))
		ThrowErrorData(edata);
	else if (edata)
		fc_parse_refuse(parser, FC_CLASS_ENCODING, NULL, NULL, edata);
}

/* Body of fc_error_catch: verifies the bytes that escapes made */
static void
fc_parse_verify(void *arg)
{
	FcParser   *parser = arg;

	for (int i = 0; i < Min(parser->found, parser->ncolumns); i++)
		if (parser->fields[i].verify)
			pg_verifymbstr(parser->fields[i].data, parser->fields[i].len, false);
}

/* Verifies what the escapes of text format made; csv has none */
static void
fc_parse_check_escapes(FcParser *parser)
{
	ErrorData  *edata;

	if (!fc_parse_tolerates(parser, FC_CLASS_ENCODING))
	{
		fc_parse_verify(parser);
		return;
	}
	edata = fc_error_catch(parser->ctx, fc_parse_verify, parser);
	if (edata && !fc_parse_is_of_value(edata))
		ThrowErrorData(edata);
	else if (edata)
		fc_parse_refuse(parser, FC_CLASS_ENCODING, NULL, NULL, edata);
}

/* A value as the input function gives it; it is asked for NULLs too */
static Datum
fc_parse_value(FcColumn *column, const FcField *field)
{
	Datum		value;

	if (field->null)
	{
		if (column->input.fn_strict)
			return (Datum) 0;
		return InputFunctionCall(&column->input, NULL, column->typioparam,
								 column->typmod);
	}
	if (column->pattern)
	{
		if (!fc_pattern_parse(column->pattern, field->data, field->len, &value))
			fc_pattern_mismatch(column->pattern, field->data);
		return value;
	}
	if (fc_convert(&column->convert, field->data, field->len, &value))
		return value;
	return InputFunctionCall(&column->input, field->data, column->typioparam,
							 column->typmod);
}

static void
fc_parse_try_value(void *arg)
{
	FcValue    *value = arg;

	value->value = fc_parse_value(value->column, value->field);
}

/*
 * What an input function of core holds at an error, as it does the row type of
 * a composite one, is released at once, as an abort would do it: a million of
 * them would cost quadratic time.  Locks stay.
 */
static ErrorData *
fc_parse_catch(FcParser *parser, FcValue *value)
{
	ResourceOwner outer = CurrentResourceOwner;
	ErrorData  *edata;

	if (parser->owner == NULL)
		parser->owner = ResourceOwnerCreate(outer, "fast_copy value");
	CurrentResourceOwner = parser->owner;
	edata = fc_error_catch(parser->ctx, fc_parse_try_value, value);
	CurrentResourceOwner = outer;
	if (edata == NULL)
		return NULL;
	ResourceOwnerRelease(parser->owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(parser->owner, RESOURCE_RELEASE_LOCKS, true, false);
	ResourceOwnerRelease(parser->owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(parser->owner);
	parser->owner = NULL;
	return edata;
}

/* A value the type refuses: NULL instead, or the end of the record */
static void
fc_parse_refused_value(FcParser *parser, FcColumn *column, FcField *field,
					   ErrorData *edata)
{
	if (!parser->shared->set_null)
	{
		fc_parse_refuse(parser, FC_CLASS_CONVERSION, column,
						field->null ? NULL : field->data, edata);
		return;
	}
	parser->nulled[parser->nnulled].column = column->name;
	parser->nulled[parser->nnulled].value = field->null ? NULL : field->data;
	field->null = true;
	/* a domain may refuse the NULL, and then nothing helps */
	parser->values[column->index] = fc_parse_value(column, field);
	parser->nnulled++;
	parser->nulls[column->index] = true;
}

/* COPY's FORCE options: what is NULL, and what is not */
static void
fc_parse_force(FcParser *parser, FcColumn *column, FcField *field)
{
	if (field->null && (column->flags & FC_FIELD_FORCE_NOT_NULL))
	{
		field->null = false;
		field->data = pnstrdup(parser->dialect.null_string, parser->dialect.null_len);
		field->len = parser->dialect.null_len;
	}
	else if (!field->null && (column->flags & FC_FIELD_FORCE_NULL) &&
			 strcmp(field->data, parser->dialect.null_string) == 0)
		field->null = true;
}

/*
 * Values of the file are read in its zone, defaults are the session's.  It is
 * set for each value: a function that has TimeZone among its own settings,
 * called for the value before, has put back the session's.
 */
static void
fc_parse_set_zone(FcParser *parser, bool of_file)
{
	if (parser->zone)
		session_timezone = of_file ? parser->zone : parser->session;
}

static void
fc_parse_column(FcParser *parser, FcColumn *column, FcField *field)
{
	FcValue		value = {column, field};
	ErrorData  *edata;

	fc_parse_set_zone(parser, !field->marker);
	if (field->marker)
	{
		parser->values[column->index] = ExecEvalExpr(column->def, parser->econtext,
													 &parser->nulls[column->index]);
		return;
	}
	parser->nulls[column->index] = field->null;
	if (!fc_parse_tolerates(parser, FC_CLASS_CONVERSION))
	{
		parser->values[column->index] = fc_parse_value(column, field);
		return;
	}
	if (!field->null && !column->pattern &&
		fc_convert(&column->convert, field->data, field->len, &parser->values[column->index]))
		return;
	edata = (column->flags & FC_FIELD_SUBTRANSACTION) ?
		fc_error_catch_undo(parser->ctx, fc_parse_try_value, &value) :
		fc_parse_catch(parser, &value);
	if (edata && !fc_parse_is_of_value(edata))
		ThrowErrorData(edata);
	else if (edata)
		fc_parse_refused_value(parser, column, field, edata);
	else
		parser->values[column->index] = value.value;
}

static void
fc_parse_defaults(FcParser *parser)
{
	fc_parse_set_zone(parser, false);
	for (int i = 0; i < parser->ndefaults; i++)
	{
		FcDefault  *def = &parser->defaults[i];

		parser->values[def->index] = ExecEvalExpr(def->expr, parser->econtext,
												  &parser->nulls[def->index]);
	}
}

void
fc_parse_pass_over(FcParser *parser)
{
	if (FC_CORE_NUMBERS_ALL && parser->bad.class == FC_CLASS_CONVERSION)
		fc_parse_defaults(parser);
}

/* A field that stands for a default needs one */
static void
fc_parse_check_markers(FcParser *parser, int found)
{
	for (int i = 0; i < Min(found, parser->ncolumns); i++)
	{
		FcColumn   *column = &parser->columns[i];

		if (!parser->fields[i].marker || column->index < 0 || column->def)
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("unexpected default marker in COPY data"),
				 errdetail("Column \"%s\" has no default value.", column->name)));
	}
}

static void
fc_parse_cut(FcParser *parser)
{
	parser->cut = true;
	/* the byte behind the record is there for the last field's NUL */
	parser->room.readable = parser->rec + parser->len + 1;
	parser->found = fc_record_fields(&parser->dialect, parser->rec, parser->len,
									 parser->fields, parser->ncolumns);
}

/* What may be wrong with the fields before any has a value */
static void
fc_parse_check_fields(FcParser *parser)
{
	if (parser->found < 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("unterminated CSV quoted field")));
	if (parser->dialect.mode == FC_MODE_TEXT)
		fc_parse_check_escapes(parser);
	if (!parser->ok)
		return;
	if (parser->shared->default_len >= 0)
		fc_parse_check_markers(parser, parser->found);
	if (parser->found > parser->ncolumns && (parser->ncolumns > 0 || parser->len > 0))
		fc_parse_malformed(parser, FC_CLASS_EXTRA_COLUMNS, NULL);
}

/*
 * COPY converts column by column: a value before column i that core would
 * refuse is the first fault.  Error if there is one.
 */
static void
fc_parse_before(FcParser *parser, int i)
{
	for (int j = 0; j < i; j++)
	{
		FcColumn   *column = &parser->columns[j];
		FcField    *field = &parser->fields[j];

		if (column->index < 0 || column->ours || field->marker || parser->made[j])
			continue;
		parser->column = column;
		parser->field = field;
		(void) fc_parse_value(column, field);
	}
	parser->column = NULL;
}

/* Body of fc_error_catch: the column that is next */
static void
fc_parse_try_text(void *arg)
{
	FcParser   *parser = arg;

	fc_parse_column(parser, parser->column, &parser->fields[parser->done]);
}

/* A value that core could not make from the field */
static void
fc_parse_ours(FcParser *parser, int i)
{
	ErrorData  *edata = fc_error_catch(parser->ctx, fc_parse_try_text, parser);
	FcColumn   *column = parser->column;
	FcField    *field = parser->field;

	if (edata == NULL)
		return;
	fc_parse_before(parser, i);
	parser->column = column;
	parser->field = field;
	ThrowErrorData(edata);
}

/*
 * One field as text for core, converted only where core could not say what
 * comes of it; then core is given the value, for code that a type runs must not
 * run twice
 */
static void
fc_parse_text(FcParser *parser, int i)
{
	FcColumn   *column = &parser->columns[i];
	FcField    *field = &parser->fields[i];
	FcField		unchanged = *field;

	if (field->marker && FC_CORE_HAS_DEFAULT)
		return;
	if (!column->ours && !field->marker && !fc_parse_tolerates(parser, FC_CLASS_CONVERSION))
		return;
	/* what set_null makes of the field is not what an error is about */
	parser->column = column;
	parser->field = &unchanged;
	if (column->ours || field->marker)
		fc_parse_ours(parser, i);
	else
		fc_parse_try_text(parser);
	parser->column = NULL;
	field->marker = false;
	field->null = parser->nulls[column->index];
	parser->made[i] = true;
}

/*
 * The value of a field, if nothing is to be thrown or evaluated for it.  True
 * also for a field that is skipped.
 */
static inline bool
fc_parse_quick_field(FcQuick *quick, const FcField *field, Datum *values,
					 bool *nulls)
{
	int			index = quick->index;

	if (unlikely(quick->convert.function == NULL || field->marker || field->verify))
		return index < 0 && !field->verify;
	nulls[index] = field->null;
	if (quick->known)
		values[index] = quick->value;
	else if (!field->null)
		return quick->convert.function(&quick->convert, field->data, field->len,
									   &values[index]);
	else
		values[index] = (Datum) 0;
	return true;
}

/* How many columns, from the first, get their value so */
static int
fc_parse_quick_fields(FcParser *parser)
{
	FcQuick    *quick = parser->quick;
	const FcField *field = parser->fields;
	const FcField *end = field + parser->ncolumns;
	Datum	   *values = parser->values;
	bool	   *nulls = parser->nulls;

	while (field < end && fc_parse_quick_field(quick, field, values, nulls))
	{
		quick++;
		field++;
	}
	return field - parser->fields;
}

/* One column that is not done yet */
static void
fc_parse_any_column(FcParser *parser, int i)
{
	FcColumn   *column = &parser->columns[i];

	if (i >= parser->found)
	{
		if (parser->as_text)
			fc_parse_before(parser, i);
		fc_parse_malformed(parser, FC_CLASS_MISSING_COLUMNS, column);
	}
	else if (column->index < 0 ||
			 (!parser->as_text && parser->quick &&
			  fc_parse_quick_field(&parser->quick[i], &parser->fields[i],
								   parser->values, parser->nulls)))
		return;
	else
	{
		if (column->flags != 0)
			fc_parse_force(parser, column, &parser->fields[i]);
		if (parser->as_text)
			fc_parse_text(parser, i);
		else
			fc_parse_column(parser, column, &parser->fields[i]);
	}
}

/*
 * COPY evaluates a default when it comes to the field that stands for it, also
 * if it passes over the record then.  Core will not get this one.
 */
static void
fc_parse_skipped_markers(FcParser *parser)
{
	for (int i = 0; i < parser->done - 1; i++)
		if (parser->fields[i].marker && parser->columns[i].index >= 0)
			fc_parse_column(parser, &parser->columns[i], &parser->fields[i]);
}

static void
fc_parse_columns(FcParser *parser)
{
	if (!parser->cut)
	{
		fc_parse_check_encoding(parser);
		if (!parser->ok)
			return;
		fc_parse_cut(parser);
	}
	fc_parse_check_fields(parser);
	for (; parser->done < parser->ncolumns && parser->ok; parser->done++)
		fc_parse_any_column(parser, parser->done);
	if (!parser->as_text && parser->ok)
		fc_parse_defaults(parser);
	else if (!parser->as_text)
		fc_parse_pass_over(parser);
	else if (!parser->ok)
		fc_parse_skipped_markers(parser);
}

/* With times read in another zone than the session's */
static void
fc_parse_in_zone(FcParser *parser)
{
	parser->session = session_timezone;
	PG_TRY();
	{
		session_timezone = parser->zone;
		fc_parse_columns(parser);
	}
	PG_FINALLY();
	{
		session_timezone = parser->session;
	}
	PG_END_TRY();
}

static void
fc_parse_begin_record(FcParser *parser, char *rec, size_t len,
					  Datum *values, bool *nulls)
{
	parser->rec = rec;
	parser->len = len;
	parser->values = values;
	parser->nulls = nulls;
	parser->ok = true;
	parser->cut = false;
	parser->done = 0;
	parser->nnulled = 0;
	parser->room.next = parser->room_start;
	if (parser->complete)
		return;
	memset(values, 0, parser->natts * sizeof(Datum));
	memset(nulls, true, parser->natts * sizeof(bool));
}

/* Are the FC_BLOCK bytes at p all ASCII, and none 0? */
static inline bool
fc_parse_is_ascii(const char *p)
{
	uint64		words[FC_BLOCK / sizeof(uint64)];

	memcpy(words, p, FC_BLOCK);
	return ((words[0] | words[1] | (words[0] - FC_ONES) | (words[1] - FC_ONES)) &
			FC_HIGH_BITS) == 0;
}

/* Is the record right in the server's encoding?  False also if that is unknown. */
static bool
fc_parse_is_valid(const FcParser *parser)
{
	const char *p = parser->rec;
	const char *end = p + parser->len;

	if (parser->shared->need_transcoding)
		return false;
	/* plain ASCII is right in all of them */
	if (parser->len >= FC_BLOCK)
	{
		while (end - p >= FC_BLOCK && fc_parse_is_ascii(p))
			p += FC_BLOCK;
		if (end - p < FC_BLOCK && fc_parse_is_ascii(end - FC_BLOCK))
			return true;
	}
	return pg_encoding_verifymbstr(parser->shared->file_encoding, p, end - p) == end - p;
}

bool
fc_parse_quickly(FcParser *parser, char *rec, size_t len,
				 Datum *values, bool *nulls)
{
	fc_parse_begin_record(parser, rec, len, values, nulls);
	if (parser->quick == NULL || !fc_parse_is_valid(parser))
		return false;
	fc_parse_cut(parser);
	if (parser->found != parser->ncolumns)
		return false;
	parser->done = fc_parse_quick_fields(parser);
	return parser->done == parser->ncolumns && parser->ndefaults == 0;
}

bool
fc_parse_rest(FcParser *parser)
{
	if (parser->zone)
		fc_parse_in_zone(parser);
	else
		fc_parse_columns(parser);
	return parser->ok;
}

bool
fc_parse_record(FcParser *parser, char *rec, size_t len,
				Datum *values, bool *nulls)
{
	return fc_parse_quickly(parser, rec, len, values, nulls) ||
		fc_parse_rest(parser);
}

bool
fc_parse_texts(FcParser *parser, char *rec, size_t len)
{
	int			n = Max(parser->natts, 1);
	bool		ok;

	parser->as_text = true;
	parser->column = NULL;
	memset(parser->made, false, sizeof(bool) * parser->ncolumns);
	fc_parse_begin_record(parser, rec, len, palloc(sizeof(Datum) * n),
						  palloc(sizeof(bool) * n));
	ok = fc_parse_rest(parser);
	parser->as_text = false;
	return ok;
}

const FcField *
fc_parse_next_text(const FcParser *parser, int *i)
{
	while (*i < parser->ncolumns)
	{
		int			this = (*i)++;

		if (parser->columns[this].index >= 0)
			return &parser->fields[this];
	}
	return NULL;
}

bool
fc_parse_text_value(const FcParser *parser, int i, Datum *value)
{
	if (parser->made[i])
		*value = parser->values[parser->columns[i].index];
	return parser->made[i];
}

bool
fc_parse_is_cut(const FcParser *parser)
{
	return parser->cut;
}

bool
fc_parse_at(const FcParser *parser, const char **column, const char **value)
{
	if (parser->column == NULL)
		return false;
	*column = parser->column->name;
	*value = parser->field->null ? NULL : parser->field->data;
	return true;
}

bool
fc_parse_key_is_default(const FcParser *parser)
{
	return parser->fields[parser->shared->key_field].marker;
}

const FcBad *
fc_parse_bad(const FcParser *parser)
{
	return &parser->bad;
}

int
fc_parse_nulled(const FcParser *parser, const FcNulled **nulled)
{
	*nulled = parser->nulled;
	return parser->nnulled;
}

void
fc_parse_count_nulled(const FcParser *parser, uint64 offset, uint64 length)
{
	fc_reject_nulled(parser->ctx, offset, length, parser->nulled, parser->nnulled);
}

/* Text in a key can only be a zone or month name, but must be valid */
static void
fc_parse_key_encoding(FcParser *parser, FcField *field)
{
	for (size_t i = 0; i < field->len; i++)
	{
		if (!IS_HIGHBIT_SET(field->data[i]))
			continue;
		field->data = fc_parse_encoding(parser, field->data, &field->len);
		return;
	}
}

/*
 * May the key be read from its field alone?  Not where a fault of another
 * field, or of the key itself, does not end the load, nor where NULL can be
 * told in the server's encoding only.
 */
static bool
fc_parse_key_alone(FcParser *parser, FcColumn *column, const FcField *field)
{
	return column->flags == 0 && !field->marker &&
		(parser->null_ascii || !parser->shared->need_transcoding);
}

/* The key's field, from the marks where the record has them */
static inline bool
fc_parse_key_field(FcParser *parser, const FcRecord *record, FcField *field)
{
	int			wanted = parser->shared->key_field;

	FcBorders	borders;

	if (record->marks == NULL)
		return fc_record_field(&parser->dialect, record->data, record->length,
							   wanted, field);
	if (!fc_marks_borders(record->marks, record->marks_pos, record->length,
						  wanted, &borders))
		return false;
	fc_record_cut(&parser->dialect, record->data, &borders, field);
	return true;
}

static bool
fc_parse_any_key(FcParser *parser, const FcRecord *record, int64 *key, bool *null)
{
	FcShared   *shared = parser->shared;
	FcColumn   *column = &parser->columns[shared->key_field];
	FcField		field;
	Datum		value;

	if (!fc_parse_key_field(parser, record, &field))
	{
		if (shared->tolerated != 0)
			return false;
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("missing data for column \"%s\"", column->name)));
	}
	if (!fc_parse_key_alone(parser, column, &field) ||
		(field.verify && shared->tolerated != 0))
		return false;
	*null = field.null;
	*key = 0;
	if (field.null)
		return true;
	if (shared->tolerated != 0)
	{
		/* core, reading a pattern, might throw what is tolerated */
		if (column->pattern ?
			(column->pattern->kind == FC_PATTERN_CORE ||
			 !fc_pattern_parse(column->pattern, field.data, field.len, &value)) :
			!fc_convert(&column->convert, field.data, field.len, &value))
			return false;
	}
	else if (column->pattern ||
			 !fc_convert(&column->convert, field.data, field.len, &value))
	{
		/* what is converted above has no byte that could be wrong */
		fc_parse_key_encoding(parser, &field);
		if (field.verify)
			pg_verifymbstr(field.data, field.len, false);
		value = fc_parse_value(column, &field);
	}
	*key = fc_key_from_datum(shared->key_type, value);
	return true;
}

bool
fc_parse_key(FcParser *parser, const FcRecord *record, int64 *key, bool *null)
{
	bool		found = false;

	if (parser->zone == NULL)
		return fc_parse_any_key(parser, record, key, null);
	parser->session = session_timezone;
	PG_TRY();
	{
		session_timezone = parser->zone;
		found = fc_parse_any_key(parser, record, key, null);
	}
	PG_FINALLY();
	{
		session_timezone = parser->session;
	}
	PG_END_TRY();
	return found;
}

/* Room for a copy of bytes that are only looked at; it stays until the next */
static char *
fc_parse_copy(FcParser *parser, const char *data, size_t len)
{
	if (len >= parser->copy_size)
	{
		parser->copy_size = Max(len + 1, parser->copy_size * 2);
		parser->copy = repalloc_huge(parser->copy, parser->copy_size);
	}
	memcpy(parser->copy, data, len);
	return parser->copy;
}

/* As fc_parse_key_field, from a copy */
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
						  parser->shared->key_field, &borders))
		return false;
	copy.data = fc_parse_copy(parser, record->data + borders.start,
							  borders.end - borders.start);
	borders.end -= borders.start;
	borders.start = 0;
	fc_record_cut(&parser->dialect, copy.data, &borders, field);
	return true;
}

bool
fc_parse_plain_key(FcParser *parser, const FcRecord *record, int64 *key)
{
	FcColumn   *column = &parser->columns[parser->shared->key_field];
	FcField		field;
	Datum		value;

	if (parser->zone != NULL ||
		!fc_parse_key_copy(parser, record, &field) || field.null ||
		field.verify || !fc_parse_key_alone(parser, column, &field) ||
		column->pattern != NULL ||
		!fc_convert(&column->convert, field.data, field.len, &value))
		return false;
	*key = fc_key_from_datum(parser->shared->key_type, value);
	return true;
}
