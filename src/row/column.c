/*-------------------------------------------------------------------------
 *
 * row/column.c
 *	  How a column gets its value: from a field of the file, or by default.
 *
 *	field ──► edits (row/edit.c)
 *		──► pattern, native conversion (convert/convert.c) or the type's input
 *			or receive function ──► value
 *
 * The column's type decides once which of them it is.  Errors are thrown to
 * the caller, in whose memory context values are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/fmgroids.h"
#include "utils/json.h"

#include "row/column.h"

AttrNumber
fc_column_named(Relation rel, const char *name)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (attnum <= 0)
		fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("column \"%s\" of relation \"%s\" does not exist",
												  name, RelationGetRelationName(rel)));
	return attnum;
}

void
fc_column_init(FcColumn *column, TupleDesc desc, AttrNumber attnum,
			   const char *pattern, bool binary)
{
	Form_pg_attribute att;
	Oid			input;

	Assert(attnum >= 0 && attnum <= desc->natts);
	column->index = attnum - 1;
	Assert(attnum == 0 || !TupleDescAttr(desc, attnum - 1)->attisdropped);
	column->binary = binary;
	if (attnum != 0)
	{
		att = TupleDescAttr(desc, attnum - 1);
		column->name = pstrdup(NameStr(att->attname));
		fc_convert_init(&column->convert, att->atttypid, att->atttypmod, binary);
		column->typid = att->atttypid;
		column->typmod = att->atttypmod;
		if (binary)
			getTypeBinaryInputInfo(att->atttypid, &input, &column->typioparam);
		else
			getTypeInputInfo(att->atttypid, &input, &column->typioparam);
		fmgr_info(input, &column->input);
	}
	if (pattern[0] != '\0')
		column->pattern = fc_pattern_compile(pattern, column->typid, column->typmod,
											 column->name);
}

/* What makes an array or a row of JSON: core's function, for one column */
struct FcPopulate
{
	FmgrInfo	function;
	Datum		nothing;		/* such a row */
	char	   *object;			/* what stands before the value */
};

static FcPopulate *
fc_column_populate(const FcColumn *column)
{
	FcPopulate *populate = palloc0(sizeof(FcPopulate));
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	StringInfo	object = makeStringInfo();
	bool		null = true;
	Datum		none = (Datum) 0;
	Const	   *arg = makeNullConst(RECORDOID, -1, InvalidOid);

	TupleDescInitEntry(desc, 1, column->name, column->typid, column->typmod, 0);
	desc = BlessTupleDesc(fc_finish_desc(desc));
	populate->nothing = HeapTupleGetDatum(heap_form_tuple(desc, &none, &null));
	appendStringInfoChar(object, '{');
	escape_json(object, column->name);
	appendStringInfoChar(object, ':');
	populate->object = object->data;
	fmgr_info(F_JSON_POPULATE_RECORD, &populate->function);
	fmgr_info_set_expr((Node *) makeFuncExpr(F_JSON_POPULATE_RECORD, RECORDOID, list_make1(arg),
											 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL), &populate->function);
	return populate;
}

static Datum
fc_column_of_json(FcPopulate *populate, const FcField *field)
{
	char	   *object = psprintf("%s%s}", populate->object, field->data);
	Datum		row = FunctionCall3(&populate->function, populate->nothing,
									CStringGetTextDatum(object), BoolGetDatum(false));
	bool		null;

	return GetAttributeByNum(DatumGetHeapTupleHeader(row), 1, &null);
}

void
fc_column_take_json(FcColumn *column)
{
	Oid			base = getBaseType(column->typid);

	if (OidIsValid(get_element_type(base)) || get_typtype(base) == TYPTYPE_COMPOSITE)
		column->populate = fc_column_populate(column);
	column->json = column->populate || base == JSONOID || base == JSONBOID;
}

pg_tz *
fc_column_zone(const char *name)
{
	pg_tz	   *zone;

	if (name == NULL || name[0] == '\0')
		return NULL;
	zone = pg_tzset(name);
	if (zone == NULL || !pg_tz_acceptable(zone))
		fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("time zone \"%s\" not recognized", name),
				 errhint("The view pg_timezone_names has the names, such as 'Europe/Rome'."));
	return zone;
}

void
fc_column_in_zone(pg_tz *zone, void (*body) (void *arg), void *arg)
{
	pg_tz	   *session = session_timezone;

	if (zone == NULL)
	{
		body(arg);
		return;
	}
	PG_TRY();
	{
		session_timezone = zone;
		body(arg);
	}
	PG_FINALLY();
	{
		/* else code of users has set the session's */
		if (session_timezone == zone)
			session_timezone = session;
	}
	PG_END_TRY();
}

/* Sets TimeZone as far as "action" says */
static void
fc_column_set_zone(const char *name, GucAction action)
{
	(void) set_config_option("TimeZone", name, PGC_USERSET, PGC_S_SESSION, action, true, 0, false);
}

void
fc_column_in_setting(pg_tz *zone, void (*body) (void *arg), void *arg)
{
	pg_tz	   *before = session_timezone;
	pg_tz	   *after;
	int			level;

	if (zone == NULL)
	{
		body(arg);
		return;
	}
	/* where an error is caught the level is ended (fc_error_catch) */
	level = NewGUCNestLevel();
	fc_column_set_zone(pg_get_timezone_name(zone), GUC_ACTION_SAVE);
	body(arg);
	after = session_timezone;
	AtEOXact_GUC(true, level);
	/* what code of users has set for the transaction stays */
	if (after != zone && after != session_timezone)
		fc_column_set_zone(pg_get_timezone_name(after), GUC_ACTION_LOCAL);
	/* the caller had set this zone itself */
	if (after == zone && before == zone)
		session_timezone = zone;
}

/* Calls the receive function for the field, or for a NULL */
static Datum
fc_column_receive(FcColumn *column, const FcField *field)
{
	StringInfoData buf;
	Datum		value;

	/* the function may read a NUL after the field, as core gives it */
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, field->data, (int) field->len);
	value = ReceiveFunctionCall(&column->input, field->null ? NULL : &buf,
								column->typioparam, column->typmod);
	if (!field->null && buf.cursor != buf.len)
		fc_throw(ERRCODE_INVALID_BINARY_REPRESENTATION, errmsg("incorrect binary data format"));
	return value;
}

Datum
fc_column_value(FcColumn *column, const FcField *field)
{
	Datum		value;

	Assert(column->index >= 0 && OidIsValid(column->typid));
	if (field->null && column->input.fn_strict)
		return (Datum) 0;
	if (!field->null && fc_column_refuses(column, field))
		fc_throw(ERRCODE_INVALID_TEXT_REPRESENTATION, errmsg("invalid input syntax for type %s: \"%s\"",
															 format_type_be(column->edit.typid), field->data));
	if (!field->null && column->pattern)
	{
		if (!fc_pattern_parse(column->pattern, field->data, field->len, &value))
			fc_pattern_mismatch(column->pattern, field->data);
		return value;
	}
	if (!field->null && fc_convert(&column->convert, field->data, field->len, &value))
		return value;
	if (column->binary)
		return fc_column_receive(column, field);
	/* what an expression makes is a text */
	if (!field->null && column->populate && !column->transform)
		return fc_column_of_json(column->populate, field);
	return InputFunctionCall(&column->input, field->null ? NULL : field->data,
							 column->typioparam, column->typmod);
}

char		fc_column_nothing[] = "";

void
fc_column_force(const FcColumn *column, const FcDialect *dialect, FcField *field)
{
	if (field->null && (column->flags & FC_FIELD_FORCE_NOT_NULL) &&
		field->data != fc_column_nothing)
	{
		field->null = false;
		field->data = pnstrdup(dialect->null_string, dialect->null_len);
		field->len = dialect->null_len;
	}
	else if (!field->null && (column->flags & FC_FIELD_FORCE_NULL) &&
			 strcmp(field->data, dialect->null_string) == 0)
		field->null = true;
}

bool
fc_column_in_file(FcShared *shared, AttrNumber attnum)
{
	for (int i = 0; i < shared->plan.ncolumns; i++)
		if (fc_shared_columns(shared)[i] == attnum)
			return true;
	return false;
}

ExprState *
fc_column_default(FcShared *shared, Relation target, AttrNumber attnum, bool numbered)
{
	Expr	   *expr = (Expr *) build_column_default(target, attnum);

	if (expr == NULL)
		return NULL;
	/* what is left of it decides */
	expr = expression_planner(expr);
	if (shared->phase <= FC_PHASE_SCAN &&
		contain_volatile_functions((Node *) expr))
		expr = (Expr *) makeNullConst(TupleDescAttr(RelationGetDescr(target),
													attnum - 1)->atttypid, -1, InvalidOid);
	/* an analysis takes no numbers */
	if (shared->phase == FC_PHASE_CHECK)
		expr = (Expr *) fc_number_replace((Node *) expr, 0);
	for (int i = 0; i < shared->plan.nnumbers && numbered && shared->phase != FC_PHASE_CHECK; i++)
		if (fc_shared_numbers(shared)[i].attnum == attnum)
			expr = (Expr *) fc_number_replace((Node *) expr, i + 1);
	return ExecInitExpr(expr, NULL);
}

/*
 * Compiles the defaults, which are evaluated for each row.  If a sequence
 * numbers a column, the leader has taken the numbers ahead, and a parameter
 * replaces nextval() (row/serial.c).
 */
void
fc_column_begin_defaults(FcDefaults *defaults, FcShared *shared, Relation target,
						 EState *estate, bool numbered)
{
	TupleDesc	desc = RelationGetDescr(target);

	defaults->defaults = palloc(sizeof(FcDefault) * Max(desc->natts, 1));
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		FcDefault  *def = &defaults->defaults[defaults->n];

		if (att->attisdropped || att->attgenerated ||
			fc_column_in_file(shared, attnum))
			continue;
		def->index = attnum - 1;
		def->expr = fc_column_default(shared, target, attnum, numbered);
		if (def->expr != NULL)
			defaults->n++;
	}
	defaults->econtext = GetPerTupleExprContext(estate);
	/* up to the scan, which uses NULL instead, no default needs a number */
	if (shared->plan.nnumbers > 0 && numbered && shared->phase > FC_PHASE_SCAN &&
		shared->phase != FC_PHASE_CHECK)
		defaults->numbers = fc_numbers_open(shared, &defaults->econtext->ecxt_param_list_info);
}
