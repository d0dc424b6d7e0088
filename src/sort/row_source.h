/*-------------------------------------------------------------------------
 *
 * sort/row_source.h
 *	  The rows of tasks in key order, wherever they are brought from.
 *
 * One interface and three methods, chosen task by task and unseen by the
 * caller:
 *
 *	sort/fetch_window.h	windows of reads
 *	sort/fetch_map.h	a mapping of the file
 *	sort/run_merge.h	rows that were spilled with their entries
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ROW_SOURCE_H
#define FC_ROW_SOURCE_H

#include "context/shared.h"
#include "sort/fetch_window.h"
#include "source/stream.h"

typedef struct FcRowSource FcRowSource;

/*
 * Takes another task of the load; NULL if there is none.  "ahead" says that a
 * task taken before still has rows, and that the caller may well leave this
 * one to other processes.
 */
typedef FcTask *(*FcTakeTask) (void *arg, bool ahead);

/*
 * To be called once all runs are written.  If an error skips
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
 * The task's next row, false after its last one: its offset, data (as
 * fc_read_next gives them), length and marks are set in *record.  A process
 * that was stopped gets only rows that were read already.
 */
extern bool fc_row_source_next(FcRowSource *rows, FcEntry *entry, FcRecord *record);
extern void fc_row_source_end(FcRowSource *rows);

#endif							/* FC_ROW_SOURCE_H */
