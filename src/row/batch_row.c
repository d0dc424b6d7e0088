/*-------------------------------------------------------------------------
 *
 * row/batch_row.c
 *	  Single rows out of the columns of a batch, and which are odd.
 *
 * Texts, and values with a short header, are palloc'ed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "row/batch.h"

void
fc_batch_row(const FcBatchColumn *columns, int n, int i, Datum *values, bool *nulls)
{
	for (int j = 0; j < n; j++)
	{
		const FcBatchColumn *column = &columns[j];

		nulls[j] = column->any_null && column->nulls[i];
		values[j] = column->values[i];
		if (column->lengths != NULL && !nulls[j])
			values[j] = PointerGetDatum(cstring_to_text_with_len(DatumGetPointer(values[j]),
																 column->lengths[i]));
	}
}

Datum
fc_batch_value(const FcBatchColumn *column, int i, bool *null)
{
	Datum		value = column->values[i];

	*null = column->any_null && column->nulls[i];
	if (*null)
		return (Datum) 0;
	if (column->lengths != NULL)
		return PointerGetDatum(cstring_to_text_with_len(DatumGetPointer(value), column->lengths[i]));
	if (column->len == -1 && VARATT_IS_SHORT(DatumGetPointer(value)))
		return PointerGetDatum(PG_DETOAST_DATUM(value));
	return value;
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
