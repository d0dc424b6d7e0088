/*-------------------------------------------------------------------------
 *
 * sort/item.c
 *	  Sorts entries in 16 bytes by key.
 *
 *	 items ──► digits of the keys that tell most of them apart (radix sort)
 *			──► what shares these: by the other bits
 *
 * The sort is stable and takes as much scratch as there are items.  Nothing is
 * allocated, so there is nothing to release on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "sort/spill.h"

#define FC_RADIX_BITS	11
#define FC_RADIX_SIZE	(1 << FC_RADIX_BITS)
#define FC_RADIX_SPARE	2		/* bits to sort by beside those of the number
								 * of items */
#define FC_RADIX_GROUP	32		/* items that are not worth a counting pass */

/* One counting pass of the sort, by the digit at "shift" */
static void
fc_radix_pass(const FcItem *from, FcItem *to, uint64 n, int64 min, int shift)
{
	uint64		place[FC_RADIX_SIZE] = {0};
	uint64		sum = 0;

	Assert(n > 0 && (from + n <= to || to + n <= from) && shift >= 0 && shift < 64);
	for (uint64 i = 0; i < n; i++)
		place[(((uint64) from[i].key - (uint64) min) >> shift) & (FC_RADIX_SIZE - 1)]++;
	for (int d = 0; d < FC_RADIX_SIZE; d++)
	{
		uint64		count = place[d];

		place[d] = sum;
		sum += count;
	}
	for (uint64 i = 0; i < n; i++)
		to[place[(((uint64) from[i].key - (uint64) min) >> shift) & (FC_RADIX_SIZE - 1)]++] = from[i];
}

/* Sorts by all bits from "shift" on, the least significant digit first */
static FcItem *
fc_radix_sort(FcItem *items, FcItem *scratch, uint64 n, int64 min,
			  uint64 spread, int shift)
{
	for (; shift < 64 && (spread >> shift) > 0; shift += FC_RADIX_BITS)
	{
		FcItem	   *swap = scratch;

		CHECK_FOR_INTERRUPTS();
		fc_radix_pass(items, swap, n, min, shift);
		scratch = items;
		items = swap;
	}
	return items;
}

static void
fc_insertion_sort(FcItem *items, uint64 n)
{
	for (uint64 i = 1; i < n; i++)
	{
		FcItem		item = items[i];
		uint64		j = i;

		for (; j > 0 && items[j - 1].key > item.key; j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

/* Finds the range of the keys; false if they are in order already */
static bool
fc_item_spread(const FcItem *items, uint64 n, int64 *least, uint64 *spread)
{
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	bool		sorted = true;

	for (uint64 i = 0; i < n; i++)
	{
		int64		key = items[i].key;

		sorted = sorted && key >= max;
		min = Min(min, key);
		max = Max(max, key);
	}
	*least = min;
	*spread = (uint64) max - (uint64) min;
	return !sorted;
}

/*
 * Sorts the groups of items that differ only in the bits below "shift"; all
 * are in order by the other bits
 */
static void
fc_item_sort_groups(FcItem *items, FcItem *scratch, uint64 n, int64 min,
					int shift)
{
	uint64		end;

	for (uint64 i = 0; i < n; i = end)
	{
		uint64		top = ((uint64) items[i].key - (uint64) min) >> shift;
		FcItem	   *group = items + i;
		int64		least;
		uint64		spread;

		for (end = i + 1; end < n; end++)
			if ((((uint64) items[end].key - (uint64) min) >> shift) != top)
				break;
		if (end - i <= FC_RADIX_GROUP)
			fc_insertion_sort(group, end - i);
		else if (fc_item_spread(group, end - i, &least, &spread) &&
				 fc_radix_sort(group, scratch, end - i, least, spread, 0) != group)
			memcpy(group, scratch, (end - i) * sizeof(FcItem));
	}
}

#ifdef USE_ASSERT_CHECKING
static bool
fc_item_is_sorted(const FcItem *items, uint64 n)
{
	for (uint64 i = 1; i < n; i++)
		if (items[i - 1].key > items[i].key)
			return false;
	return true;
}
#endif

/*
 * If the keys' spread has many more bits than tell n keys apart, the passes
 * sort by the upper ones.  Few keys share these, and it costs less to sort
 * such groups afterwards.
 */
FcItem *
fc_item_sort(FcItem *items, FcItem *scratch, uint64 n)
{
	int64		min;
	uint64		spread;
	int			passes;
	int			shift;
	FcItem	   *sorted;

	if (n < 2 || !fc_item_spread(items, n, &min, &spread))
		return items;
	passes = (pg_leftmost_one_pos64(n) + FC_RADIX_SPARE + FC_RADIX_BITS - 1) / FC_RADIX_BITS;
	/* the lowest bit of the first passes */
	shift = pg_leftmost_one_pos64(spread) + 1 - passes * FC_RADIX_BITS;
	shift = Max(shift, 0);
	sorted = fc_radix_sort(items, scratch, n, min, spread, shift);
	if (shift > 0)
		fc_item_sort_groups(sorted, sorted == items ? scratch : items, n, min,
							shift);
	Assert(sorted[0].key == min && sorted[n - 1].key - min == spread);
	Assert((sorted == items || sorted == scratch) && fc_item_is_sorted(sorted, n));
	return sorted;
}
