/*-------------------------------------------------------------------------
 *
 * heap/tuple.c
 *	  The bytes of heap tuples from the values of rows.
 *
 * fc_form_begin finds out once the width and alignment of each column, and
 * whether it may get a short header.  heap_form_tuple does so for each row.
 *
 *	batch ──► lengths of all rows ──► the caller gives each a place
 *		──► headers, then one column after the other ──► tuples in their places
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupmacs.h"

#include "heap/writer.h"

/* What a column's values are; below these, by value, in as many bytes */
typedef enum FcFormKind
{
	FC_FORM_FIXED = 9,			/* by reference, always the same size */
	FC_FORM_PACKED,				/* varlena, with a short header if short */
	FC_FORM_LONG				/* varlena as it comes */
} FcFormKind;

typedef struct FcFormColumn
{
	uint8		kind;			/* FcFormKind, or bytes */
	uint8		align;			/* mask */
	int16		len;			/* as attlen */
	uint16		at;				/* of the first columns of fixed length: offset
								 * after the header in a row without NULLs */
	int16		run;			/* columns of a fixed length from here on */
	uint32		take[MAXIMUM_ALIGNOF];	/* bytes that these take together, by
										 * the offset in a word where they
										 * begin */
} FcFormColumn;

struct FcForm
{
	int			natts;
	FcFormColumn *columns;
	Size		max;
	int			nfixed;			/* the first columns that have an "at" */
	Size		fixed;			/* where these end */
	bool		bare;			/* rows without NULLs get no header */
	bool		any_null;		/* of the rows whose lengths were asked for */
	bool		has_null[FC_BATCH_ROWS];	/* of each row, if any_null */
	uint32		offsets[FC_BATCH_ROWS]; /* in each row: where the next value
										 * comes */
#ifdef USE_ASSERT_CHECKING
	uint32		foretold[FC_BATCH_ROWS];	/* the lengths that rows were said
											 * to have */
#endif
	HeapTupleHeaderData head;	/* the header of each tuple */
};

static FcFormKind
fc_form_kind(Form_pg_attribute att)
{
	if (att->attbyval)
		return (FcFormKind) att->attlen;
	if (att->attlen == -1 && att->attstorage != TYPSTORAGE_PLAIN)
		return FC_FORM_PACKED;
	return att->attlen < 0 ? FC_FORM_LONG : FC_FORM_FIXED;
}

/* Finds runs of columns that a row without NULLs passes at once */
static void
fc_form_begin_runs(FcForm *form)
{
	const FcFormColumn none = {.run = 0};

	for (int i = form->natts - 1; i >= 0; i--)
	{
		FcFormColumn *column = &form->columns[i];
		const FcFormColumn *next = i + 1 < form->natts ? column + 1 : &none;

		if (column->len < 0)
			continue;
		column->run = next->run + 1;
		for (uint32 off = 0; off < MAXIMUM_ALIGNOF; off++)
		{
			uint32		after = ((off + column->align) & ~(uint32) column->align) + column->len;

			column->take[off] = after - off + next->take[after % MAXIMUM_ALIGNOF];
		}
	}
}

/* Sets the offsets of the first columns, as long as each has a fixed length */
static void
fc_form_begin_fixed(FcForm *form)
{
	int			i;

	for (i = 0; i < form->natts && form->columns[i].kind < FC_FORM_FIXED &&
		 form->fixed < form->max; i++)
	{
		FcFormColumn *column = &form->columns[i];

		form->fixed = (form->fixed + column->align) & ~(Size) column->align;
		column->at = form->fixed;
		form->fixed += column->len;
	}
	form->nfixed = i;
}

FcForm *
fc_form_begin(TupleDesc desc, Size max, bool bare)
{
	FcForm	   *form = palloc0(sizeof(FcForm));

	Assert(max > SizeofHeapTupleHeader && max <= MaxHeapTupleSize && desc->natts <= MaxHeapAttributeNumber);
	form->natts = desc->natts;
	form->max = max;
	form->bare = bare;
	form->columns = palloc0(sizeof(FcFormColumn) * desc->natts);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		form->columns[i].kind = fc_form_kind(att);
		form->columns[i].align = att_align_nominal(1, att->attalign) - 1;
		form->columns[i].len = att->attlen;
	}
	HeapTupleHeaderSetNatts(&form->head, desc->natts);
	fc_form_begin_runs(form);
	fc_form_begin_fixed(form);
	return form;
}

HeapTupleHeader
fc_form_head(FcForm *form)
{
	return &form->head;
}

const bool *
fc_form_has_null(const FcForm *form)
{
	return form->any_null ? form->has_null : NULL;
}

/* Bytes of the header of a row */
static inline Size
fc_form_header(const FcForm *form, bool has_null)
{
	return MAXALIGN(SizeofHeapTupleHeader + (has_null ? BITMAPLEN(form->natts) : 0));
}

static void
fc_form_find_nulls(FcForm *form, const FcBatchColumn *columns, int from, int to)
{
	form->any_null = false;
	for (int j = 0; j < form->natts; j++)
	{
		const FcBatchColumn *column = &columns[j];

		if (!column->any_null)
			continue;
		if (!form->any_null)
			memset(form->has_null + from, false, to - from);
		form->any_null = true;
		for (int i = from; i < to; i++)
			form->has_null[i] |= column->nulls[i];
	}
}

/*
 * Sets the offset in each row of the first column without an "at"; of the
 * first column at all, if a row has a NULL.  Returns the number of this
 * column.
 */
static int
fc_form_begin_rows(FcForm *form, int from, int to)
{
	if (!form->any_null)
	{
		uint32		after = fc_form_header(form, false) + form->fixed;

		for (int i = from; i < to; i++)
			form->offsets[i] = after;
		return form->nfixed;
	}
	for (int i = from; i < to; i++)
		form->offsets[i] = fc_form_header(form, form->has_null[i]);
	return 0;
}

/* May this number of bytes get a short header? */
#define fc_form_is_short(packed, data)	((packed) && (data) + VARHDRSZ_SHORT <= VARATT_SHORT_MAX)

/* The end of a varlena with "data" bytes of data that is put after row[off] */
static inline Size
fc_form_after(Size off, bool packed, Size align, Size data)
{
	if (fc_form_is_short(packed, data))
		return off + VARHDRSZ_SHORT + data;
	return ((off + align) & ~align) + VARHDRSZ + data;
}

/* Moves the offsets of rows past a column of a fixed length */
static inline void
fc_form_pass_fixed(const FcFormColumn *column, const bool *nulls, int from, int to,
				   uint32 *offsets)
{
	uint32		align = column->align;
	uint32		len = column->len;

	for (int i = from; i < to; i++)
	{
		uint32		after = ((offsets[i] + align) & ~align) + len;

		/* which rows have a NULL is hard to predict */
		offsets[i] = nulls != NULL && nulls[i] ? offsets[i] : after;
	}
}

/* ... past texts, which are far too short for the sum to overflow */
static inline void
fc_form_pass_texts(const FcFormColumn *column, const uint32 *lengths, const bool *nulls,
				   int from, int to, uint32 *offsets)
{
	bool		packed = column->kind == FC_FORM_PACKED;
	Size		align = column->align;

	for (int i = from; i < to; i++)
		if (nulls == NULL || !nulls[i])
			offsets[i] = fc_form_after(offsets[i], packed, align, lengths[i]);
}

static inline void
fc_form_pass_varlena(const FcFormColumn *column, const FcBatchColumn *values,
					 const bool *nulls, int from, int to, uint32 *offsets)
{
	bool		packed = column->kind == FC_FORM_PACKED;
	Size		align = column->align;

	for (int i = from; i < to; i++)
	{
		char	   *p = DatumGetPointer(values->values[i]);
		Size		after;

		if (nulls != NULL && nulls[i])
			continue;
		if (VARATT_IS_SHORT(p))
			after = offsets[i] + VARSIZE_SHORT(p);
		else
			after = fc_form_after(offsets[i], packed, align, VARSIZE(p) - VARHDRSZ);
		/*
		 * a row that is too long stays too long: each value has less than 1 GB
		 */
		offsets[i] = Min(after, PG_INT32_MAX);
	}
}

void
fc_form_lengths(FcForm *form, const FcBatchColumn *columns, int from, int to, uint32 *lengths)
{
	uint32	   *offsets = form->offsets;
	int			first;

	Assert(from >= 0 && from < to && to <= FC_BATCH_ROWS);
	fc_form_find_nulls(form, columns, from, to);
	first = fc_form_begin_rows(form, from, to);
	for (int j = first; j < form->natts; j++)
	{
		const FcFormColumn *column = &form->columns[j];
		const FcBatchColumn *values = &columns[j];
		const bool *nulls = values->any_null ? values->nulls : NULL;

		if (values->lengths != NULL)
			fc_form_pass_texts(column, values->lengths, nulls, from, to, offsets);
		else if (column->len < 0)
			fc_form_pass_varlena(column, values, nulls, from, to, offsets);
		else if (form->any_null)
			fc_form_pass_fixed(column, nulls, from, to, offsets);
		else
		{
			/* a run of columns at once */
			for (int i = from; i < to; i++)
				offsets[i] += column->take[offsets[i] % MAXIMUM_ALIGNOF];
			j += column->run - 1;
		}
	}
	for (int i = from; i < to; i++)
		lengths[i - from] = offsets[i] > form->max ? 0 : offsets[i];
#ifdef USE_ASSERT_CHECKING
	memcpy(form->foretold + from, lengths, sizeof(uint32) * (to - from));
#endif
}

/* Copies len bytes, as two words of "size" bytes that may overlap */
static pg_attribute_always_inline void
fc_form_words(char *to, const char *from, Size len, Size size)
{
	uint64		head;
	uint64		tail;

	memcpy(&head, from, size);
	memcpy(&tail, from + len - size, size);
	memcpy(to, &head, size);
	memcpy(to + len - size, &tail, size);
}

/* Copies exactly len bytes: the byte after them may be another row's */
static inline void
fc_form_bytes(char *to, const char *from, Size len)
{
	if (len > 2 * sizeof(uint64))
		memcpy(to, from, len);
	else if (len >= sizeof(uint64))
		fc_form_words(to, from, len, sizeof(uint64));
	else if (len >= sizeof(uint32))
		fc_form_words(to, from, len, sizeof(uint32));
	else if (len > 0)
	{
		/* these are all of one to three bytes */
		to[0] = from[0];
		to[len / 2] = from[len / 2];
		to[len - 1] = from[len - 1];
	}
}

/* Puts a varlena with this data at row[off]; returns the offset after it */
static inline Size
fc_form_varlena(char *row, Size off, bool packed, Size align, const char *data, Size len)
{
	if (fc_form_is_short(packed, len))
	{
		SET_VARSIZE_SHORT(row + off, len + VARHDRSZ_SHORT);
		off += VARHDRSZ_SHORT;
	}
	else
	{
		off = (off + align) & ~align;
		SET_VARSIZE(row + off, len + VARHDRSZ);
		off += VARHDRSZ;
	}
	fc_form_bytes(row + off, data, len);
	return off + len;
}

/* The same for one that has its header already */
static inline Size
fc_form_headed(char *row, Size off, bool packed, Size align, char *p)
{
	if (!VARATT_IS_SHORT(p))
		return fc_form_varlena(row, off, packed, align, VARDATA(p), VARSIZE(p) - VARHDRSZ);
	fc_form_bytes(row + off, p, VARSIZE_SHORT(p));
	return off + VARSIZE_SHORT(p);
}

/*
 * Puts a column at each row's next offset, and advances that.  Writes a NULL's
 * value to a dummy instead of branching: which rows have one is hard to
 * predict.
 */
static pg_attribute_always_inline void
fc_form_next_place(const FcFormColumn *column, int kind, const Datum *values, const bool *nulls,
				   int n, char **rows, uint32 *offsets)
{
	uint32		align = column->align;
	uint64		nowhere;

	for (int i = 0; i < n; i++)
	{
		bool		null = nulls != NULL && nulls[i];
		uint32		off = (offsets[i] + align) & ~align;

		store_att_byval(null ? (char *) &nowhere : rows[i] + off, values[i], kind);
		offsets[i] = null ? offsets[i] : off + kind;
	}
}

/* Puts a column of fixed length: at "at" in all rows, unless that is 0 */
static pg_attribute_always_inline void
fc_form_fixed_kind(const FcFormColumn *column, int kind, Size at, const Datum *values,
				   const bool *nulls, int n, char **rows, uint32 *offsets)
{
	if (at > 0)
		for (int i = 0; i < n; i++)
			store_att_byval(rows[i] + at, values[i], kind);
	else if (nulls == NULL)
		fc_form_next_place(column, kind, values, NULL, n, rows, offsets);
	else
		fc_form_next_place(column, kind, values, nulls, n, rows, offsets);
}

static void
fc_form_fixed_column(const FcFormColumn *column, Size at, const Datum *values,
					 const bool *nulls, int n, char **rows, uint32 *offsets)
{
	switch (column->kind)
	{
		case 1:
			fc_form_fixed_kind(column, 1, at, values, nulls, n, rows, offsets);
			break;
		case 2:
			fc_form_fixed_kind(column, 2, at, values, nulls, n, rows, offsets);
			break;
		case 4:
			fc_form_fixed_kind(column, 4, at, values, nulls, n, rows, offsets);
			break;
		default:
			fc_form_fixed_kind(column, sizeof(Datum), at, values, nulls, n, rows, offsets);
	}
}

/* Puts a column of varlenas at each row's next offset */
static void
fc_form_varlena_column(FcForm *form, const FcBatchColumn *values, int j, int from, int to,
					   char **rows)
{
	bool		packed = form->columns[j].kind == FC_FORM_PACKED;
	Size		align = form->columns[j].align;
	const bool *nulls = values->any_null ? values->nulls : NULL;
	const uint32 *lengths = values->lengths;
	uint32	   *offsets = form->offsets;

	for (int i = from; i < to; i++)
	{
		char	   *row = rows[i - from];
		char	   *p = DatumGetPointer(values->values[i]);

		if (nulls != NULL)
		{
			if (nulls[i])
				continue;
			((HeapTupleHeader) row)->t_infomask |= HEAP_HASVARWIDTH;
		}
		offsets[i] = lengths != NULL ?
			fc_form_varlena(row, offsets[i], packed, align, p, lengths[i]) :
			fc_form_headed(row, offsets[i], packed, align, p);
	}
}

/* ... of pass-by-reference values of a fixed length */
static void
fc_form_reference_column(FcForm *form, const FcBatchColumn *values, int j, int from, int to,
						 char **rows)
{
	Size		align = form->columns[j].align;
	Size		len = form->columns[j].len;

	for (int i = from; i < to; i++)
	{
		Size		off = (form->offsets[i] + align) & ~align;

		if (values->any_null && values->nulls[i])
			continue;
		memcpy(rows[i - from] + off, DatumGetPointer(values->values[i]), len);
		form->offsets[i] = off + len;
	}
}

/* Sets the bitmaps of rows with a NULL */
static void
fc_form_bitmaps(const FcForm *form, const FcBatchColumn *columns, int from, int to, char **rows)
{
	for (int j = 0; j < form->natts; j++)
	{
		const FcBatchColumn *column = &columns[j];

		for (int i = from; i < to; i++)
			if (form->has_null[i])
				((HeapTupleHeader) rows[i - from])->t_bits[j / 8] |=
					!(column->any_null && column->nulls[i]) << (j % 8);
	}
}

static void
fc_form_headers(FcForm *form, const FcBatchColumn *columns, int from, int to, char **rows)
{
	HeapTupleHeaderData head = form->head;

	/* a column with NULLs sets the bit for each row */
	for (int j = 0; j < form->natts; j++)
		if (form->columns[j].len < 0 && !columns[j].any_null)
			head.t_infomask |= HEAP_HASVARWIDTH;
	head.t_hoff = fc_form_header(form, false);
	for (int i = from; i < to; i++)
		if (!form->bare || form->has_null[i])
			memcpy(rows[i - from], &head, SizeofHeapTupleHeader);
	if (!form->any_null)
		return;
	for (int i = from; i < to; i++)
		if (form->has_null[i])
		{
			HeapTupleHeader row = (HeapTupleHeader) rows[i - from];

			row->t_hoff = fc_form_header(form, true);
			row->t_infomask |= HEAP_HASNULL;
		}
	fc_form_bitmaps(form, columns, from, to, rows);
}

/* Asserts that a row ends where fc_form_lengths has said */
static inline void
fc_form_check(const FcForm *form, int i, const char *place)
{
	const HeapTupleHeaderData *row PG_USED_FOR_ASSERTS_ONLY = (const HeapTupleHeaderData *) place;
	bool		null PG_USED_FOR_ASSERTS_ONLY = form->any_null && form->has_null[i];

	Assert(form->offsets[i] == form->foretold[i] && form->foretold[i] > 0);
	Assert((form->bare && !null) || row->t_hoff == fc_form_header(form, null));
	Assert((form->bare && !null) || ((row->t_infomask & HEAP_HASNULL) != 0) == null);
}

void
fc_form_rows(FcForm *form, const FcBatchColumn *columns, int from, int to, char **rows)
{
	int			first = fc_form_begin_rows(form, from, to);
	Size		hoff = fc_form_header(form, false);

	Assert(from >= 0 && from < to && to <= FC_BATCH_ROWS);
	if (form->any_null || !form->bare)
		fc_form_headers(form, columns, from, to, rows);
	for (int j = 0; j < form->natts; j++)
	{
		const FcFormColumn *column = &form->columns[j];
		const FcBatchColumn *values = &columns[j];

		if (column->kind < FC_FORM_FIXED)
			fc_form_fixed_column(column, j < first ? hoff + column->at : 0, values->values + from,
								 values->any_null ? values->nulls + from : NULL, to - from, rows,
								 form->offsets + from);
		else if (column->len < 0)
			fc_form_varlena_column(form, values, j, from, to, rows);
		else
			fc_form_reference_column(form, values, j, from, to, rows);
	}
	for (int i = from; i < to; i++)
		fc_form_check(form, i, rows[i - from]);
}
