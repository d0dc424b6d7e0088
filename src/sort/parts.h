/*-------------------------------------------------------------------------
 *
 * sort/parts.h
 *	  What the scan counts per range of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTS_H
#define FC_PARTS_H

#include "utils/hsearch.h"

#include "key/range.h"

/* What one process, or all, found for one range of keys */
typedef struct FcSpillPart
{
	FcRange		range;
	bool		null;			/* the rows whose key is NULL */
	uint64		rows;
	uint64		bytes;			/* of records, line ends not included */
	uint64		min_offset;		/* of the first of its records in the file */
	uint64		min_length;		/* of that record */
	int64		min_key;		/* 0 where the key is NULL */
	int64		max_key;
} FcSpillPart;

/* A table of parts.  Adding one that it has already adds up the counts. */
extern HTAB *fc_parts_create(MemoryContext mcxt);
extern void fc_parts_add(HTAB *parts, const FcSpillPart *part);

/* The table's parts, in no order: FcSpillPart in the current context */
extern List *fc_parts_list(HTAB *parts);

#endif							/* FC_PARTS_H */
