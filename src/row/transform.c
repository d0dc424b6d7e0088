/*-------------------------------------------------------------------------
 *
 * row/transform.c
 *	  Values that expressions make of the fields of a record.
 *
 *	 fields ──► a row of texts ──► expression of a column ──► its value, or a
 *			text ──► row/column.c, as a field
 *
 * Only fields that an expression names become texts.  The row is filled before
 * the first column gets its value, as that may change fields.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"

#include "row/transform.h"

struct FcTransforms
{
	const FcDialect *dialect;
	const FcColumn *columns;
	ExprContext *econtext;
	TupleTableSlot *slot;		/* the row of texts */
	int			nused;
	int		   *used;			/* fields that expressions name, from 0 */
};

struct FcTransform
{
	FcTransforms *all;
	ExprState  *expr;
	Datum		value;			/* of expr, evaluated last */
	bool		null;
	bool		text;			/* the column's type reads the result */
	pg_tz	   *zone;			/* NULL, or to be set for code of users */
	FcEdit		edit;			/* of that text */
};

/*
 * Up to the scan a constant NULL stands for a volatile expression: the load may
 * get another value, and the scan must not use one up.
 */
static FcTransform *
fc_transform_begin(FcTransforms *all, FcShared *shared, const FcColumn *column, Expr *expr)
{
	FcTransform *transform = palloc0(sizeof(FcTransform));

	transform->all = all;
	/* a text column has the text as it is */
	transform->text = exprType((Node *) expr) == TEXTOID && column->typid != TEXTOID;
	transform->zone = shared->plan.zone_set ? fc_column_zone(fc_shared_zone(shared)) : NULL;
	transform->edit = column->edit;
	transform->edit.flags &= FC_FIELD_NUMBER;
	if (shared->phase <= FC_PHASE_SCAN && contain_volatile_functions((Node *) expr))
	{
		transform->text = false;
		expr = (Expr *) makeNullConst(exprType((Node *) expr), -1, InvalidOid);
	}
	/* an analysis takes no numbers */
	if (shared->phase == FC_PHASE_CHECK)
		expr = (Expr *) fc_number_replace((Node *) expr, 0);
	transform->expr = ExecInitExpr(expr, NULL);
	return transform;
}

static TupleTableSlot *
fc_transforms_slot(int nfields)
{
	TupleDesc	desc = CreateTemplateTupleDesc(Max(nfields, 1));
	TupleTableSlot *slot;

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		TupleDescInitEntry(desc, attnum, NULL, TEXTOID, -1, 0);
	slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(slot->tts_isnull, true, sizeof(bool) * desc->natts);
	return ExecStoreVirtualTuple(slot);
}

FcTransforms *
fc_transforms_begin(FcShared *shared, FcColumn *columns, const FcDialect *dialect,
					ExprContext *econtext)
{
	const char *tree = fc_shared_transforms(shared);
	FcTransforms *all;
	List	   *exprs;
	Bitmapset  *used = NULL;
	int			field = -1;
	int			n = 0;

	if (tree[0] == '\0')
		return NULL;
	all = palloc0(sizeof(FcTransforms));
	exprs = castNode(List, stringToNode(tree));
	all->dialect = dialect;
	all->columns = columns;
	all->econtext = econtext;
	all->slot = fc_transforms_slot(shared->plan.nfields);
	pull_varattnos((Node *) exprs, INNER_VAR, &used);
	all->used = palloc(sizeof(int) * (bms_num_members(used) + 1));
	while ((field = bms_next_member(used, field)) >= 0)
		all->used[all->nused++] = field + FirstLowInvalidHeapAttributeNumber - 1;
	for (int i = 0; i < shared->plan.ncolumns; i++)
		if (columns[i].flags & FC_FIELD_TRANSFORM)
			columns[i].transform = fc_transform_begin(all, shared, &columns[i], list_nth(exprs, n++));
	Assert(n + shared->plan.dedup.marks == list_length(exprs));
	return all;
}

void
fc_transforms_take(FcTransforms *all, const FcField *fields)
{
	all->econtext->ecxt_innertuple = all->slot;
	for (int i = 0; i < all->nused; i++)
	{
		int			at = all->used[i];
		const FcColumn *column = &all->columns[at];
		FcEdit		edit = column->edit;
		FcField		field = fields[at];

		edit.flags &= ~FC_FIELD_NUMBER;
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
	FcTransform *transform = arg;

	transform->value = ExecEvalExpr(transform->expr, transform->all->econtext, &transform->null);
}

bool
fc_transform_value(FcTransform *transform, FcField *field, Datum *value)
{
	fc_column_in_setting(transform->zone, fc_transform_body, transform);
	*value = transform->value;
	field->null = transform->null;
	if (!transform->text)
		return true;
	if (field->null)
		return false;
	field->data = text_to_cstring(DatumGetTextPP(*value));
	field->len = strlen(field->data);
	field->quoted = false;
	fc_edit_field(&transform->edit, field);
	return false;
}
