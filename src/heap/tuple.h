/*-------------------------------------------------------------------------
 *
 * heap/tuple.h
 *	  The bytes of a heap tuple from the values of a row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TUPLE_H
#define FC_TUPLE_H

#include "row/batch.h"

typedef struct FcForm FcForm;

/*
 * For tuples of this row type of at most "max" bytes; bare: fc_form_rows
 * leaves out the headers of rows without NULLs.  Lives in the current memory
 * context.
 */
extern FcForm *fc_form_begin(TupleDesc desc, Size max, bool bare);

/*
 * Returns the header of all tuples; the caller sets the fields that an insert
 * sets
 */
extern HeapTupleHeader fc_form_head(FcForm *form);

/* Is one of the n true?  Looks at eight at a time. */
static inline bool
fc_form_any_null(const bool *nulls, int n)
{
	uint64		any = 0;
	uint64		word;
	uint32		half;

	for (; n >= (int) sizeof(word); n -= sizeof(word), nulls += sizeof(word))
	{
		memcpy(&word, nulls, sizeof(word));
		any |= word;
	}
	if (n >= (int) sizeof(half))
	{
		memcpy(&half, nulls, sizeof(half));
		any |= half;
		n -= sizeof(half);
		nulls += sizeof(half);
	}
	while (n-- > 0)
		any |= *nulls++;
	return any != 0;
}

/*
 * Returns the tuple that heap_form_tuple would make, with that header, and
 * sets its length.  It lasts until the next one is formed.  NULL for a row
 * that is too long, or that has an external or expanded value.
 */
extern HeapTupleHeader fc_form_row(FcForm *form, const Datum *values,
								   const bool *nulls, Size *len);

/*
 * For the rows of a batch from "from" to before "to", none of which is odd, by
 * its columns in the order of the tuples': sets the lengths of their tuples,
 * and 0 if fc_form_row would return NULL.  Element 0 is of row "from".
 */
extern void fc_form_lengths(FcForm *form, const FcBatchColumn *columns, int from, int to,
							uint32 *lengths);

/* Which of the rows of the last fc_form_lengths have a NULL; NULL: none */
extern const bool *fc_form_has_null(const FcForm *form);

/*
 * Forms these rows at the addresses in "rows", in bytes that are zero; none
 * has the length 0
 */
extern void fc_form_rows(FcForm *form, const FcBatchColumn *columns, int from, int to,
						 char **rows);

#endif							/* FC_TUPLE_H */
