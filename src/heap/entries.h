/*-------------------------------------------------------------------------
 *
 * heap/entries.h
 *	  Index entries of a batch of rows, a run of them at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ENTRIES_H
#define FC_ENTRIES_H

#include "nodes/execnodes.h"

#include "errors/first_error.h"

/* One row of a batch, and its record */
typedef struct FcMultiRow
{
	HeapTuple	tuple;
	TupleTableSlot *slot;		/* has the tuple while it is inserted */
	uint64		offset;
	uint32		length;
} FcMultiRow;

/* Rows that get their entries together, at most */
#define FC_ENTRIES_ROWS	1000

typedef struct FcEntries FcEntries;

/*
 * For a table whose indexes are open; in the parent of a memory context that is
 * reset after each batch
 */
extern FcEntries *fc_entries_begin(FcContext *ctx, EState *estate, ResultRelInfo *rri,
								   MemoryContext mcxt);

/*
 * Inserts the entries of rows that are in the table.  Errors are kept, each for
 * its row; a row after a known bad one gets none.
 */
extern void fc_entries_insert(FcEntries *entries, const FcMultiRow *rows, int n);

/*
 * What the index has of a row, as core forms it; false if the predicate leaves
 * the row out
 */
extern bool fc_entries_values(IndexInfo *info, TupleTableSlot *slot, EState *estate,
							  Datum *values, bool *isnull);

#endif							/* FC_ENTRIES_H */
