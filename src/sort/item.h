/*-------------------------------------------------------------------------
 *
 * sort/item.h
 *	  Entries in 16 bytes, and their sort by key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ITEM_H
#define FC_ITEM_H

/* A key, and a number that stands for its row */
typedef struct FcItem
{
	int64		key;
	uint64		row;
} FcItem;

/* Sorts items by key, stable; returns the array that holds the result */
extern FcItem *fc_item_sort(FcItem *items, FcItem *scratch, uint64 n);

#endif							/* FC_ITEM_H */
