/*-------------------------------------------------------------------------
 *
 * sort/item.h
 *	  Entries in 16 bytes, and their sort by key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ITEM_H
#define FC_ITEM_H

/*
 * An entry in 16 bytes.  The lowest bit of "row" says that the key is NULL;
 * above it stand length_bits of the record's length, and above these its
 * offset, counted from a base that many items share.
 */
typedef struct FcItem
{
	int64		key;
	uint64		row;
} FcItem;

static inline uint64
fc_item_offset(const FcItem *item, uint64 base, int length_bits)
{
	return base + (item->row >> 1 >> length_bits);
}

static inline uint32
fc_item_length(const FcItem *item, int length_bits)
{
	return (uint32) (item->row >> 1 & (((uint64) 1 << length_bits) - 1));
}

/* Sorts items by key, stable; returns the array that holds the result */
extern FcItem *fc_item_sort(FcItem *items, FcItem *scratch, uint64 n);

#endif							/* FC_ITEM_H */
