/*-------------------------------------------------------------------------
 *
 * heap/tuple.c
 *	  The bytes of a heap tuple from the values of a row.
 *
 *	values ──► one pass, by what each column is ──► tuple in a buffer
 *
 * fc_form_begin finds out once how wide and how aligned each column is, and
 * whether it may get a short header.  heap_form_tuple does so for each row,
 * and goes over the columns twice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "compat/compat.h"
#include "heap/tuple.h"

typedef enum FcFormKind
{
	FC_FORM_BYTE,				/* by value, in 1, 2, 4 or 8 bytes */
	FC_FORM_TWO,
	FC_FORM_FOUR,
	FC_FORM_EIGHT,
	FC_FORM_FIXED,				/* by reference, always the same size */
	FC_FORM_PACKED,				/* varlena, with a short header if short */
	FC_FORM_LONG				/* varlena as it comes, and cstring */
} FcFormKind;

typedef struct FcFormColumn
{
	uint8		kind;
	uint8		align;			/* mask */
	int16		len;			/* as attlen */
} FcFormColumn;

struct FcForm
{
	HeapTupleHeader head;		/* what each tuple begins with */
	int			natts;
	FcFormColumn *columns;
	Size		max;
	char	   *row;
	uint16		infomask;		/* of the row that is formed */
};

static uint8
fc_form_align_mask(char attalign)
{
	switch (attalign)
	{
		case TYPALIGN_CHAR:
			return 0;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT - 1;
		case TYPALIGN_INT:
			return ALIGNOF_INT - 1;
		default:
			return ALIGNOF_DOUBLE - 1;
	}
}

static FcFormKind
fc_form_kind(Form_pg_attribute att)
{
	if (att->attlen == -1)
		return att->attstorage == TYPSTORAGE_PLAIN ? FC_FORM_LONG : FC_FORM_PACKED;
	if (att->attlen < 0)
		return FC_FORM_LONG;
	if (!att->attbyval)
		return FC_FORM_FIXED;
	switch (att->attlen)
	{
		case 1:
			return FC_FORM_BYTE;
		case 2:
			return FC_FORM_TWO;
		case 4:
			return FC_FORM_FOUR;
		default:
			return FC_FORM_EIGHT;
	}
}

/*
 * The buffer is large enough for tuples up to "max"; for longer ones the
 * caller turns to core
 */
FcForm *
fc_form_begin(TupleDesc desc, Size max)
{
	FcForm	   *form = palloc0(sizeof(FcForm));

	form->natts = desc->natts;
	form->max = max;
	form->columns = palloc0(sizeof(FcFormColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		form->columns[i].kind = fc_form_kind(att);
		form->columns[i].align = fc_form_align_mask(att->attalign);
		form->columns[i].len = att->attlen;
	}
	form->head = palloc0(sizeof(HeapTupleHeaderData));
	HeapTupleHeaderSetNatts(form->head, desc->natts);
	/* values passed by value are put into it without a look at "max" */
	form->row = palloc0(MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(desc->natts)) + max +
						2 * sizeof(Datum) * desc->natts);
	return form;
}

HeapTupleHeader
fc_form_head(FcForm *form)
{
	return form->head;
}

/*
 * Copies len bytes to row[off], if they fit; returns the offset after them, or
 * 0
 */
static inline Size
fc_form_copy(FcForm *form, Size off, const void *data, Size len)
{
	Assert(off >= SizeofHeapTupleHeader);
	if (len > form->max || off > form->max - len)
		return 0;
	memcpy(form->row + off, data, len);
	return off + len;
}

/* Returns the next offset at which a value may stand; zeros what is skipped */
static inline Size
fc_form_align(FcForm *form, Size off, uint8 align)
{
	StaticAssertStmt(MAXIMUM_ALIGNOF <= sizeof(uint64), "one word is enough");
	memset(form->row + off, 0, sizeof(uint64));
	return (off + align) & ~(Size) align;
}

/*
 * Copies a value that is passed by reference and is no varlena with a short
 * header; returns what fc_form_copy does
 */
static Size
fc_form_reference(FcForm *form, const FcFormColumn *column, Size off, char *p)
{
	Size		len;

	if (column->len >= 0)
		return fc_form_copy(form, fc_form_align(form, off, column->align), p, column->len);
	form->infomask |= HEAP_HASVARWIDTH;
	if (column->len == -2)
		return fc_form_copy(form, fc_form_align(form, off, column->align), p, strlen(p) + 1);
	if (VARATT_IS_EXTERNAL(p))
		return 0;
	if (column->kind == FC_FORM_LONG || !VARATT_CAN_MAKE_SHORT(p))
		return fc_form_copy(form, fc_form_align(form, off, column->align), p, VARSIZE(p));
	len = VARATT_CONVERTED_SHORT_SIZE(p);
	SET_VARSIZE_SHORT(form->row + off, len);
	return fc_form_copy(form, off + VARHDRSZ_SHORT, VARDATA(p), len - VARHDRSZ_SHORT);
}

/* Puts a value, not NULL, at row[off]; returns the offset after it, or 0 */
static pg_attribute_always_inline Size
fc_form_value(FcForm *form, const FcFormColumn *column, Size off, Datum value)
{
	char	   *p = DatumGetPointer(value);

	switch (column->kind)
	{
		case FC_FORM_BYTE:
			form->row[off] = DatumGetChar(value);
			return off + 1;
		case FC_FORM_TWO:
			off = fc_form_align(form, off, ALIGNOF_SHORT - 1);
			*(int16 *) (form->row + off) = DatumGetInt16(value);
			return off + sizeof(int16);
		case FC_FORM_FOUR:
			off = fc_form_align(form, off, ALIGNOF_INT - 1);
			*(int32 *) (form->row + off) = DatumGetInt32(value);
			return off + sizeof(int32);
		case FC_FORM_EIGHT:
			off = fc_form_align(form, off, ALIGNOF_DOUBLE - 1);
			*(Datum *) (form->row + off) = value;
			return off + sizeof(Datum);
		case FC_FORM_PACKED:
		case FC_FORM_LONG:
			if (column->len == -1 && VARATT_IS_SHORT(p) && !VARATT_IS_EXTERNAL(p))
			{
				form->infomask |= HEAP_HASVARWIDTH;
				return fc_form_copy(form, off, p, VARSIZE_SHORT(p));
			}
			pg_fallthrough;
		default:
			return fc_form_reference(form, column, off, p);
	}
}

/* Puts all values, of a row with NULLs; returns the offset after, or 0 */
static Size
fc_form_some(FcForm *form, const Datum *values, const bool *nulls, Size off)
{
	uint8	   *bits = ((HeapTupleHeader) form->row)->t_bits;

	form->infomask |= HEAP_HASNULL;
	memset(bits, 0, off - SizeofHeapTupleHeader);
	for (int i = 0; i < form->natts && off > 0; i++)
	{
		if (nulls[i])
			continue;
		bits[i / 8] |= 1 << (i % 8);
		off = fc_form_value(form, &form->columns[i], off, values[i]);
	}
	return off;
}

HeapTupleHeader
fc_form_row(FcForm *form, const Datum *values, const bool *nulls, Size *len)
{
	HeapTupleHeader row = (HeapTupleHeader) form->row;
	bool		has_nulls = fc_form_any_null(nulls, form->natts);
	Size		hoff = MAXALIGN(SizeofHeapTupleHeader +
								(has_nulls ? BITMAPLEN(form->natts) : 0));
	const FcFormColumn *columns = form->columns;
	int			natts = form->natts;
	Size		off = hoff;

	memcpy(row, form->head, sizeof(HeapTupleHeaderData));
	form->infomask = form->head->t_infomask;
	if (has_nulls)
		off = fc_form_some(form, values, nulls, off);
	else
		for (int i = 0; i < natts && off > 0; i++)
			off = fc_form_value(form, &columns[i], off, values[i]);
	*len = off;
	if (*len == 0 || *len > form->max)
		return NULL;
	Assert(hoff <= *len && HeapTupleHeaderGetNatts(row) == form->natts);
	row->t_infomask = form->infomask;
	row->t_hoff = hoff;
	return row;
}
