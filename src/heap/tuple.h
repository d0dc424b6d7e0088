/*-------------------------------------------------------------------------
 *
 * heap/tuple.h
 *	  The bytes of a heap tuple from the values of a row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TUPLE_H
#define FC_TUPLE_H

#include "access/htup_details.h"
#include "access/tupdesc.h"

typedef struct FcForm FcForm;

/*
 * For tuples of this row type that have at most so many bytes.  Lives in the
 * current memory context.
 */
extern FcForm *fc_form_begin(TupleDesc desc, Size max);

/*
 * The tuple that heap_form_tuple would make, without what an insert puts into
 * its header, and its length.  It stays until the next one is formed.  NULL
 * for a row that is too long, or that has a value which is not all there
 * (external, expanded).
 */
extern HeapTupleHeader fc_form_row(FcForm *form, const Datum *values,
								   const bool *nulls, Size *len);

#endif							/* FC_TUPLE_H */
