/*-------------------------------------------------------------------------
 *
 * row/batch_row.c
 *	  Single values of the columns of a batch, and which rows are odd.
 *
 * Texts, and values with a short header, are palloc'ed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/datum.h"

#include "row/batch.h"

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
