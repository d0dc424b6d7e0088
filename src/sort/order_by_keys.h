/*-------------------------------------------------------------------------
 *
 * sort/order_by_keys.h
 *	  What order_by says: columns of the target, and how they are compared.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ORDER_BY_KEYS_H
#define FC_ORDER_BY_KEYS_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

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
 * A list of FcSortKey from a list of String, each an item as ORDER BY takes
 * it, but only of a column's name.  Throws the grammar's errors; 42703 for a
 * column that is not there, 42883 for a type without an order, 0A000 for a
 * virtual column and for whatever else ORDER BY would take.
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
 * The name of an index of "rel", the target or a partition of it, that may
 * take two rows for equal although one comes before the other; NULL if there
 * is none.
 */
extern char *fc_sort_keys_conflict(Relation target, Relation rel, List *keys);

#endif							/* FC_ORDER_BY_KEYS_H */
