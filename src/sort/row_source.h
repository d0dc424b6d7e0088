/*-------------------------------------------------------------------------
 *
 * sort/row_source.h
 *	  The rows of tasks in key order, wherever they are brought from.
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

/* Goes to a task, whose rows come next; a process that was stopped gets none */
extern void fc_row_source_enter(FcRowSource *rows, FcTask *task);

/* Counts what was read since fc_row_source_enter, for its task and in all */
extern void fc_row_source_leave(FcRowSource *rows, FcTask *task);

/*
 * The task's next row, false after its last one: its offset and length are set
 * in *record.  So is its data, which has one byte more, both writable until the
 * next call; unless the row was spilled, which *row then is; else that is NULL.
 */
extern bool fc_row_source_next(FcRowSource *rows, FcEntry *entry, FcRecord *record,
							   FcSpilled **row);

/*
 * The task's next rows, at most "most", as fc_cells_rows hands them out; 0: the
 * next one is none of these, or there is none
 */
extern int	fc_row_source_rows(FcRowSource *rows, FcSpilledRow *next, int most);
extern void fc_row_source_end(FcRowSource *rows);

#endif							/* FC_ROW_SOURCE_H */
