/*-------------------------------------------------------------------------
 *
 * sort/row_source.h
 *	  The rows of tasks in key order, from cells or from the file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ROW_SOURCE_H
#define FC_ROW_SOURCE_H

#include "context/shared.h"
#include "sort/spill.h"
#include "source/stream.h"

typedef struct FcRowSource FcRowSource;

/*
 * To be called once all is spilled.  If an error skips
 * fc_row_source_end, the phase's resource owner and its memory context close
 * what is open.
 */
extern FcRowSource *fc_row_source_begin(FcContext *ctx);

/* Begins a task: its rows come next.  A process that was stopped gets none. */
extern void fc_row_source_enter(FcRowSource *rows, FcTask *task);

/* Counts what was read since fc_row_source_enter, for its task and in all */
extern void fc_row_source_leave(FcRowSource *rows, FcTask *task);

/*
 * Gets the task's next row; false after its last one.  Sets *row to the row if
 * it was spilled; if a record was, or its place, *row is NULL and record->data
 * has the record and one byte more, all writable until the next call.  Sets
 * the record's offset and length in both cases.
 */
extern bool fc_row_source_next(FcRowSource *rows, FcEntry *entry, FcRecord *record,
							   FcSpilled **row);

/*
 * Gets the task's next rows, at most "most", from fc_cells_rows; 0: there are
 * none, or fc_row_source_next must get the next one
 */
extern int	fc_row_source_rows(FcRowSource *rows, FcSpilledRow *next, int most);

/* The last n rows of the last call come again, also from fc_row_source_next */
extern void fc_row_source_give_back(FcRowSource *rows, int n);
extern void fc_row_source_end(FcRowSource *rows);

#endif							/* FC_ROW_SOURCE_H */
