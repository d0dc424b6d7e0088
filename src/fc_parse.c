/*-------------------------------------------------------------------------
 *
 * fc_parse.c
 *	  From the bytes of a record to the values of a row, as COPY has them.
 *
 *	 record ──► encoding verified or converted ──► fields (in place)
 *			──► native conversion or input function ──► values
 *			──► defaults of the columns the file does not have
 *
 * The order of checks is NextCopyFrom's, so that a record with several faults
 * gives the error COPY gives: encoding, quotes, too many fields, then column
 * by column a missing field or a bad value.  The text of an error thrown here
 * is provisional: the leader shows the record to NextCopyFrom and lets that
 * throw.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "fc_convert.h"
#include "fc_parse.h"

/* How a field of the file becomes a column */
typedef struct FcColumn
{
	int			index;			/* in the target's row, from 0 */
	const char *name;
	FcConvert	convert;		/* or NULL */
	FmgrInfo	input;
	Oid			typioparam;
	int32		typmod;
} FcColumn;

/* A column the file does not have, with a default */
typedef struct FcDefault
{
	int			index;
	ExprState  *expr;
} FcDefault;

struct FcParser
{
	FcShared   *shared;
	FcDialect	dialect;
	const char *null_string;
	int			null_len;
	int			natts;
	int			ncolumns;
	FcColumn   *columns;
	FcField    *fields;
	int			ndefaults;
	FcDefault  *defaults;
	ExprContext *econtext;
};

static void
fc_parse_init_column(FcColumn *column, TupleDesc desc, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	Oid			input;

	column->index = attnum - 1;
	column->name = pstrdup(NameStr(att->attname));
	column->convert = fc_convert_for(att->atttypid, att->atttypmod);
	column->typmod = att->atttypmod;
	getTypeInputInfo(att->atttypid, &input, &column->typioparam);
	fmgr_info(input, &column->input);
}

static bool
fc_parse_in_file(FcShared *shared, AttrNumber attnum)
{
	for (int i = 0; i < shared->ncolumns; i++)
		if (fc_shared_columns(shared)[i] == attnum)
			return true;
	return false;
}

/* Defaults are those of the target, as for COPY, not the partition's */
static void
fc_parse_init_defaults(FcParser *parser, Relation target, EState *estate)
{
	TupleDesc	desc = RelationGetDescr(target);

	parser->defaults = palloc(sizeof(FcDefault) * Max(desc->natts, 1));
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		Expr	   *expr;

		if (att->attisdropped || att->attgenerated ||
			fc_parse_in_file(parser->shared, attnum))
			continue;
		expr = (Expr *) build_column_default(target, attnum);
		if (expr == NULL)
			continue;
		parser->defaults[parser->ndefaults].index = attnum - 1;
		parser->defaults[parser->ndefaults].expr =
			ExecInitExpr(expression_planner(expr), NULL);
		parser->ndefaults++;
	}
	parser->econtext = GetPerTupleExprContext(estate);
}

FcParser *
fc_parse_begin(FcContext *ctx, EState *estate)
{
	FcParser   *parser = palloc0(sizeof(FcParser));
	TupleDesc	desc = RelationGetDescr(ctx->target);
	FcShared   *shared = ctx->shared;

	parser->shared = shared;
	parser->dialect = ctx->dialect;
	parser->null_string = fc_shared_null(shared);
	parser->null_len = shared->null_len;
	parser->natts = desc->natts;
	parser->ncolumns = shared->ncolumns;
	parser->columns = palloc0(sizeof(FcColumn) * Max(shared->ncolumns, 1));
	parser->fields = palloc(sizeof(FcField) * Max(shared->ncolumns, 1));
	for (int i = 0; i < shared->ncolumns; i++)
		fc_parse_init_column(&parser->columns[i], desc,
							 fc_shared_columns(shared)[i]);
	if (estate)
		fc_parse_init_defaults(parser, ctx->target, estate);
	return parser;
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

static void
fc_parse_unterminated(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("unterminated CSV quoted field")));
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
	if (column->convert && column->convert(field->data, field->len, &value))
		return value;
	return InputFunctionCall(&column->input, field->data, column->typioparam,
							 column->typmod);
}

static void
fc_parse_defaults(FcParser *parser, Datum *values, bool *nulls)
{
	for (int i = 0; i < parser->ndefaults; i++)
	{
		FcDefault  *def = &parser->defaults[i];

		values[def->index] = ExecEvalExpr(def->expr, parser->econtext,
										  &nulls[def->index]);
	}
}

void
fc_parse_record(FcParser *parser, char *rec, size_t len,
				Datum *values, bool *nulls)
{
	int			found;

	rec = fc_parse_encoding(parser, rec, &len);
	found = fc_record_fields(&parser->dialect, rec, len, parser->null_string,
							 parser->null_len, parser->fields, parser->ncolumns);
	if (found < 0)
		fc_parse_unterminated();
	if (found > parser->ncolumns && (parser->ncolumns > 0 || len > 0))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("extra data after last expected column")));

	memset(values, 0, parser->natts * sizeof(Datum));
	memset(nulls, true, parser->natts * sizeof(bool));
	for (int i = 0; i < parser->ncolumns; i++)
	{
		FcColumn   *column = &parser->columns[i];

		if (i >= found)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("missing data for column \"%s\"", column->name)));
		values[column->index] = fc_parse_value(column, &parser->fields[i]);
		nulls[column->index] = parser->fields[i].null;
	}
	fc_parse_defaults(parser, values, nulls);
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

void
fc_parse_key(FcParser *parser, char *rec, size_t len, int64 *key, bool *null)
{
	FcShared   *shared = parser->shared;
	FcColumn   *column = &parser->columns[shared->key_field];
	FcField		field;

	if (!fc_record_field(&parser->dialect, rec, len, parser->null_string,
						 parser->null_len, shared->key_field, &field))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("missing data for column \"%s\"", column->name)));
	*null = field.null;
	*key = 0;
	if (field.null)
		return;
	fc_parse_key_encoding(parser, &field);
	*key = fc_key_from_datum(shared->key_type, fc_parse_value(column, &field));
}
