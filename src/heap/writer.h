/*-------------------------------------------------------------------------
 *
 * heap/writer.h
 *	  Puts rows into one table, by one writer or the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITER_H
#define FC_WRITER_H

#include "heap/append.h"
#include "heap/insert.h"

/*
 * Decides how about "rows" rows get into the table, by what it and
 * fast_copy.writer allow: before the load and by the leader, because all
 * processes must do the same.  The table is held (heap/hold.c), and open once
 * more.  With "frozen" rows are frozen as they are written.  A new file is
 * added to the list, which fc_new_end takes after the load.
 */
extern FcStorage fc_write_storage(Relation rel, uint64 rows, bool frozen, List **files);

/*
 * The same for a leaf that core routes to, by the process that finds it first.
 * The leaf gets no new file.
 */
extern FcStorageKind fc_write_routed_kind(Relation rel, uint64 rows);

/*
 * The caller has opened and locked rri's relation, and opened its indexes;
 * they must stay open.  The writer lives in the current memory context.
 */
extern FcWriter *fc_write_begin(FcContext *ctx, EState *estate,
								ResultRelInfo *rri, const FcDestination *to);

/* Takes a copy of the row in its slot; offset and length are its record's */
extern void fc_write_put(FcWriter *writer, uint64 offset, uint32 length);

/*
 * Takes copies of the rows of a batch from "from" to before "to", none of
 * which is odd; the columns are those of the writer's table
 */
extern void fc_write_put_rows(FcWriter *writer, const FcBatch *batch, const FcBatchColumn *columns,
							  int from, int to);

/* Takes copies of spilled rows */
extern void fc_write_put_spilled(FcWriter *writer, const FcSpilledRow *rows, int n);

/* Inserts all rows put so far */
extern void fc_write_flush(FcWriter *writer);

/*
 * Ends the only writer of a slice, which has all its rows, and lets the next
 * slice insert.  If fc_turn_defer defers the writer, both happen when its turn
 * comes.  Returns how many rows the writer inserts.
 */
extern uint64 fc_write_end_slice(FcWriter *writer);

#endif							/* FC_WRITER_H */
