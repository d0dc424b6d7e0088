/*-------------------------------------------------------------------------
 *
 * heap/writer.h
 *	  Rows into one table, whichever writer puts them there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITER_H
#define FC_WRITER_H

#include "heap/insert.h"
#include "heap/page_new.h"

/*
 * What the table and fast_copy.writer allow, for about so many rows.  To be
 * asked by the leader before the load, with a table that is held and open once
 * more: all processes must go the same way.  A
 * new file for the table, if it gets one, is added to the list of FcNewFile;
 * after the load it is handed to fc_new_end.
 */
extern FcStorage fc_write_storage(Relation rel, uint64 rows, List **files);

/*
 * rri's relation is open and locked, its indexes are open
 */
extern FcWriter *fc_write_begin(FcContext *ctx, EState *estate,
								ResultRelInfo *rri, const FcPlace *place);

/* The slot, in the table's row type, to build the next row in */
extern TupleTableSlot *fc_write_slot(FcWriter *writer);

/*
 * Takes the row in that slot, whose values may go then; offset and length are
 * its record's
 */
extern void fc_write_put(FcWriter *writer, uint64 offset, uint32 length);

/* All rows put so far are in the table then, or on their way to its file */
extern void fc_write_flush(FcWriter *writer);

/* Flushes, lets the next slice write, and returns the rows inserted */
extern uint64 fc_write_end(FcWriter *writer);

/*
 * At the end of the phase, in each process: returns when what its writers have
 * left on its way is there
 */
extern void fc_write_finish(FcContext *ctx);

#endif							/* FC_WRITER_H */
