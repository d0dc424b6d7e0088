/*-------------------------------------------------------------------------
 *
 * fc_write_multi.h
 *	  Rows into one table through heap_multi_insert, and into its indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITE_MULTI_H
#define FC_WRITE_MULTI_H

#include "nodes/execnodes.h"

#include "fc_shared.h"

typedef struct FcWriter FcWriter;

/* A slice's place among the slices of its partition; turn NULL: the only one */
typedef struct FcPlace
{
	FcTurn	   *turn;
	uint32		slice;
	Size		memory;			/* bytes to keep while it is not our turn */
} FcPlace;

/*
 * rri's relation is open and locked, its indexes are open.  "created": nobody
 * else can have put rows there.
 */
extern FcWriter *fc_write_begin(FcContext *ctx, EState *estate,
								ResultRelInfo *rri, bool created,
								const FcPlace *place);

/* The slot, in the table's row type, to build the next row in */
extern TupleTableSlot *fc_write_slot(FcWriter *writer);

/* Takes the row in that slot; offset and length are its record's */
extern void fc_write_put(FcWriter *writer, uint64 offset, uint32 length);
extern void fc_write_flush(FcWriter *writer);

/* Flushes, lets the next slice write, and returns the rows inserted */
extern uint64 fc_write_end(FcWriter *writer);

#endif							/* FC_WRITE_MULTI_H */
