/*-------------------------------------------------------------------------
 *
 * sort/order_by.h
 *	  Rows that are built, in the order of columns of the caller's choice.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ORDER_BY_H
#define FC_ORDER_BY_H

#include "access/attmap.h"
#include "executor/tuptable.h"

#include "context/shared.h"

typedef struct FcSort FcSort;

/* What comes with a row's values */
typedef struct FcSortRow
{
	int32		leaf;			/* its number; the smallest comes first */
	uint64		offset;			/* of the record; it orders equal rows */
	uint32		length;
} FcSortRow;

/* By which columns, in shared memory */
typedef struct FcSortBy
{
	const struct FcSortKey *keys;
	int			nkeys;
	bool		leaves;			/* rows are of several leaves, and come leaf by
								 * leaf */
} FcSortBy;

/*
 * Sorts rows of the type "desc".  "map" leads from the target's row type, whose
 * columns the keys are, to it; NULL: they are the same.
 *
 * Holds about "memory" bytes; the rest goes to temporary files, which belong
 * to the current resource owner.
 */
extern FcSort *fc_sort_begin(FcShared *shared, TupleDesc desc,
							 const AttrMap *map, FcSortBy by, Size memory);

/* Where a column of the target is in rows that "map" leads to */
extern AttrNumber fc_sort_mapped(const AttrMap *map, AttrNumber attnum);

/* The values in the slot are copied */
extern void fc_sort_put(FcSort *sort, TupleTableSlot *slot,
						const FcSortRow *row);

/* Sorts the rows, after the last one was put */
extern void fc_sort_finish(FcSort *sort);

/*
 * The next row, into a virtual slot of the type it was put with; false if
 * there is none.  The values last until the next call.
 */
extern bool fc_sort_next(FcSort *sort, TupleTableSlot *slot, FcSortRow *row);

extern void fc_sort_end(FcSort *sort);

#endif							/* FC_ORDER_BY_H */
