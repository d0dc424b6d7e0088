/*-------------------------------------------------------------------------
 *
 * sort/row_source.h
 *	  The rows of tasks in key order, wherever they are brought from.
 *
 * One interface and two methods, unseen by the caller:
 *
 *	sort/spill.h		what was spilled with the keys
 *	sort/fetch_window.h	windows of reads
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
 * Takes another task of the load; NULL if there is none.  "ahead" says that a
 * task taken before still has rows, and that the caller may well leave this
 * one to other processes.
 */
typedef FcTask *(*FcTakeTask) (void *arg, bool ahead);

/*
 * To be called once all is spilled.  If an error skips
 * fc_row_source_end, the phase's resource owner and its memory context close
 * what is open.
 */
extern FcRowSource *fc_row_source_begin(FcContext *ctx, FcTakeTask take, void *arg);

/*
 * The task whose rows come next, NULL if all are done.  The caller has asked
 * for all rows of the task before; what was read for them is counted.
 */
extern FcTask *fc_row_source_task(FcRowSource *rows);

/*
 * The task's next row, false after its last one: its offset and length are set
 * in *record; its data, too (as fc_read_next gives them), unless it was spilled
 * as a row, which *row then is; else that is NULL.  A process that was stopped
 * gets only rows that were read already.
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
