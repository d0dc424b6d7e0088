/*-------------------------------------------------------------------------
 *
 * sort/parts.c
 *	  What the scan counts per range of keys.
 *
 * Each process counts the rows of its runs, and the leader adds the counts up,
 * to make partitions and tasks of the parts.  The table lives in the memory
 * context that it was made in.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/pg_list.h"

#include "sort/parts.h"

/* What tells parts apart */
typedef struct FcPartKey
{
	int64		lo;
	int64		hi;
	int64		null;
} FcPartKey;

typedef struct FcPartEntry
{
	FcPartKey	key;
	FcSpillPart part;
} FcPartEntry;

HTAB *
fc_parts_create(MemoryContext mcxt)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(FcPartKey);
	ctl.entrysize = sizeof(FcPartEntry);
	ctl.hcxt = mcxt;
	return hash_create("fast_copy ranges", 64, &ctl,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
fc_parts_add(HTAB *parts, const FcSpillPart *part)
{
	FcPartKey	key = {part->range.lo, part->range.hi, part->null};
	FcPartEntry *entry;
	bool		found;

	Assert(part->rows > 0 && part->min_key <= part->max_key);
	entry = hash_search(parts, &key, HASH_ENTER, &found);
	if (!found)
	{
		entry->part = *part;
		return;
	}
	entry->part.rows += part->rows;
	entry->part.bytes += part->bytes;
	entry->part.min_key = Min(entry->part.min_key, part->min_key);
	entry->part.max_key = Max(entry->part.max_key, part->max_key);
	if (part->min_offset < entry->part.min_offset)
	{
		entry->part.min_offset = part->min_offset;
		entry->part.min_length = part->min_length;
	}
}

List *
fc_parts_list(HTAB *parts)
{
	HASH_SEQ_STATUS seq;
	FcPartEntry *entry;
	List	   *list = NIL;

	hash_seq_init(&seq, parts);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		FcSpillPart *part = palloc(sizeof(FcSpillPart));

		*part = entry->part;
		list = lappend(list, part);
	}
	return list;
}
