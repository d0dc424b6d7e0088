/*-------------------------------------------------------------------------
 *
 * row/transform.c
 *	  Values that expressions make of the fields of a record.
 *
 *	 fields ──► a row of texts ──► expression of a column ──► its value, or a
 *			text ──► row/column.c, as a field
 *
 * Behind the fields the row has where the record came from (FcRowOrigin).  Only
 * fields that an expression names become texts.  The row is filled before the
 * first column gets its value, as that may change fields.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "row/origin.h"
#include "row/transform.h"

struct FcTransforms
{
	FcContext  *ctx;
	const FcDialect *dialect;
	const FcColumn *columns;
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the row of texts */
	int			nused;
	int		   *used;			/* fields that expressions name, from 0 */
	uint32		file;			/* whose name and path the row has */
	List	   *paths;			/* as in FcColumns */
	MemoryContext mcxt;			/* of what a file's rows all have */
	pg_tz	   *zone;			/* NULL, or to be set for code of users */
	ExprState  *expr;			/* evaluated last */
	Datum		value;
	bool		null;
};

/*
 * Up to the scan a constant NULL stands for a volatile expression: the load may
 * get another value, and the scan must not use one up.
 */
static void
fc_transform_begin(FcShared *shared, FcColumn *column, Expr *expr)
{
	/* a text column has the text as it is */
	column->made_text = exprType((Node *) expr) == TEXTOID && column->typid != TEXTOID;
	if (shared->phase <= FC_PHASE_SCAN && contain_volatile_functions((Node *) expr))
	{
		column->made_text = false;
		expr = (Expr *) makeNullConst(exprType((Node *) expr), -1, InvalidOid);
	}
	/* an analysis takes no numbers */
	if (shared->phase == FC_PHASE_CHECK)
		expr = (Expr *) fc_number_replace((Node *) expr, 0);
	column->transform = ExecInitExpr(expr, NULL);
}

static TupleTableSlot *
fc_transforms_slot(int nfields, int npaths)
{
	TupleDesc	desc = CreateTemplateTupleDesc(nfields + FC_ORIGIN_PATH + npaths);
	TupleTableSlot *slot;

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		int			origin = attnum - 1 - nfields;

		TupleDescInitEntry(desc, attnum, NULL,
						   origin > FC_ORIGIN_FILE && origin < FC_ORIGIN_PATH ? INT8OID : TEXTOID, -1, 0);
	}
	fc_finish_desc(desc);
	slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(slot->tts_isnull, true, sizeof(bool) * desc->natts);
	return ExecStoreVirtualTuple(slot);
}

FcTransforms *
fc_transforms_begin(FcContext *ctx, FcColumn *columns, const FcDialect *dialect,
					ExprContext *econtext)
{
	FcShared   *shared = ctx->shared;
	const char *tree = fc_shared_transforms(shared);
	FcTransforms *all;
	List	   *exprs;
	Bitmapset  *used = NULL;
	int			field = -1;

	if (tree[0] == '\0')
		return NULL;
	all = palloc0(sizeof(FcTransforms));
	exprs = castNode(List, stringToNode(tree));
	all->dialect = dialect;
	all->columns = columns;
	all->econtext = econtext;
	all->ctx = ctx;
	all->file = PG_UINT32_MAX;
	all->zone = shared->plan.zone_set ? fc_column_zone(fc_shared_zone(shared)) : NULL;
	all->paths = linitial(exprs);
	all->mcxt = fc_context_memory(CurrentMemoryContext, "origin");
	all->slot = fc_transforms_slot(shared->plan.nfields, list_length(all->paths));
	pull_varattnos((Node *) exprs, INNER_VAR, &used);
	all->used = palloc(sizeof(int) * (bms_num_members(used) + 1));
	while ((field = bms_next_member(used, field)) >= 0 &&
		   field + FirstLowInvalidHeapAttributeNumber <= shared->plan.nfields)
		all->used[all->nused++] = field + FirstLowInvalidHeapAttributeNumber - 1;
	for (int i = 0; i < shared->plan.ncolumns; i++)
		if (columns[i].flags & FC_FIELD_TRANSFORM)
			fc_transform_begin(shared, &columns[i], list_nth(exprs, i + 1));
	return all;
}

/* Sets what all rows of a file have */
static void
fc_transforms_enter(FcTransforms *all, uint32 file)
{
	int			at = all->ctx->shared->plan.nfields;
	const FcSource *source = all->ctx->source;
	MemoryContext old;

	MemoryContextReset(all->mcxt);
	old = MemoryContextSwitchTo(all->mcxt);
	all->file = file;
	all->slot->tts_values[at] = CStringGetTextDatum(fc_source_path(source, file));
	all->slot->tts_isnull[at] = false;
	at += FC_ORIGIN_PATH;
	foreach_node(Const, path, all->paths)
	{
		char	   *value = NULL;

		(void) fc_origin_path(source, file, TextDatumGetCString(path->constvalue), &value);
		all->slot->tts_isnull[at] = value == NULL;
		all->slot->tts_values[at++] = value ? CStringGetTextDatum(value) : (Datum) 0;
	}
	MemoryContextSwitchTo(old);
}

/* Sets where the record came from, as far as an expression may ask for it */
static void
fc_transforms_take_origin(FcTransforms *all, const FcRecord *from)
{
	const FcPlan *plan = &all->ctx->shared->plan;
	uint32		file = fc_source_number(all->ctx->source, from->offset);
	const uint64 numbers[FC_ORIGIN_PATH] = {
		[FC_ORIGIN_LINE] = from->line,
		[FC_ORIGIN_BYTE_OFFSET] = from->offset - all->ctx->source->files[file].base,
		[FC_ORIGIN_ROW] = from->row
	};

	if (file != all->file)
		fc_transforms_enter(all, file);
	for (int i = FC_ORIGIN_LINE; i < FC_ORIGIN_PATH; i++)
	{
		all->slot->tts_values[plan->nfields + i] = Int64GetDatum((int64) numbers[i]);
		all->slot->tts_isnull[plan->nfields + i] = (plan->origins & fc_origin_bit(i)) == 0 ||
			(i == FC_ORIGIN_BYTE_OFFSET && all->ctx->source->files[file].utf16);
	}
}

void
fc_transforms_take(FcTransforms *all, const FcField *fields, const FcRecord *from)
{
	all->econtext->ecxt_innertuple = all->slot;
	if (all->ctx->shared->plan.origins)
		fc_transforms_take_origin(all, from);
	for (int i = 0; i < all->nused; i++)
	{
		int			at = all->used[i];
		const FcColumn *column = &all->columns[at];
		FcEdit		edit = column->edit;
		FcField		field = fields[at];

		edit.flags &= ~FC_FIELD_NUMBER;
		/* a file that has no such field has no text for a default, either */
		field.null |= field.data == fc_column_nothing;
		fc_column_force(column, all->dialect, &field);
		if (!field.null && !field.marker)
			fc_edit_field(&edit, &field);
		all->slot->tts_isnull[at] = field.null;
		all->slot->tts_values[at] = field.null ? (Datum) 0 :
			PointerGetDatum(cstring_to_text_with_len(field.data, field.len));
	}
}

bool
fc_transforms_name(const FcTransforms *all, int field)
{
	for (int i = 0; all != NULL && i < all->nused; i++)
		if (all->used[i] == field)
			return true;
	return false;
}

/* Body of fc_column_in_setting */
static void
fc_transform_body(void *arg)
{
	FcTransforms *all = arg;

	all->value = ExecEvalExpr(all->expr, all->econtext, &all->null);
}

bool
fc_transform_value(FcTransforms *all, const FcColumn *column, FcField *field, Datum *value)
{
	FcEdit		edit = column->edit;

	all->expr = column->transform;
	fc_column_in_setting(all->zone, fc_transform_body, all);
	*value = all->value;
	field->null = all->null;
	if (!column->made_text)
		return true;
	if (field->null)
		return false;
	field->data = text_to_cstring(DatumGetTextPP(*value));
	field->len = strlen(field->data);
	field->quoted = false;
	edit.flags &= FC_FIELD_NUMBER;
	fc_edit_field(&edit, field);
	return false;
}
