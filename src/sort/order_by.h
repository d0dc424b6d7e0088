/*-------------------------------------------------------------------------
 *
 * sort/order_by.h
 *	  Built rows, in the order of columns of the caller's choice.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ORDER_BY_H
#define FC_ORDER_BY_H

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

/* One key of the order; lives in shared memory, too */
typedef struct FcSortKey
{
	AttrNumber	attnum;			/* of the target */
	Oid			operator;		/* < or > of the type's default class */
	Oid			family;			/* of that class */
	Oid			collation;		/* of the column */
	bool		descending;
	bool		nulls_first;
} FcSortKey;

/*
 * Sorts rows of the type "desc".  "map" leads to it from the target's row
 * type, whose columns the keys are; NULL: they are the same.  "leaves": rows
 * are of several leaves, and come leaf by leaf.
 *
 * Holds about "memory" bytes; the rest goes to temporary files, which belong
 * to the current resource owner.
 */
extern FcSort *fc_sort_begin(FcShared *shared, TupleDesc desc,
							 const AttrMap *map, const FcSortKey *keys, int nkeys,
							 bool leaves, Size memory);

/* The number of a column of the target in rows that "map" leads to */
extern AttrNumber fc_sort_mapped(const AttrMap *map, AttrNumber attnum);

/* Copies the row in the slot */
extern void fc_sort_put(FcSort *sort, TupleTableSlot *slot,
						const FcSortRow *row);

/* Sorts the rows, once the last one is put */
extern void fc_sort_finish(FcSort *sort);

/*
 * The next row, into a virtual slot of the type it was put with; false if
 * there is none.  The values last until the next call.
 */
extern bool fc_sort_next(FcSort *sort, TupleTableSlot *slot, FcSortRow *row);

extern void fc_sort_end(FcSort *sort);

/*
 * A list of FcSortKey from a list of String, each an item as ORDER BY takes
 * it, but only of a column's name.  Throws the grammar's errors; 42703 for a
 * column that is not there, 42883 for a type without an order, 0A000 for a
 * virtual column and for anything else that ORDER BY would take.
 */
extern List *fc_sort_keys_parse(Relation rel, List *items);

/* A list of one key: the column, ascending, with NULLs last */
extern List *fc_sort_key_of(Relation rel, AttrNumber attnum);

/* Their columns: a list of integers */
extern List *fc_sort_keys_columns(List *keys);

/* The keys as the text of an ORDER BY */
extern char *fc_sort_keys_text(Relation rel, List *keys);

/* Does the key ascend, with NULLs last? */
extern bool fc_sort_key_plain(const FcSortKey *key);

/*
 * Are values that the index takes for equal, or its exclusion constraint by
 * these operators, also equal by this key, whose column is "attnum" there?
 */
extern bool fc_sort_index_covers(Relation index, const Oid *operators, const FcSortKey *key,
								 AttrNumber attnum);

/*
 * The name of an index of "rel", the target or a partition of it, that may
 * take two rows for equal that the keys put in an order; NULL if there is
 * none.
 */
extern char *fc_sort_keys_conflict(Relation target, Relation rel, List *keys);

#endif							/* FC_ORDER_BY_H */
