/*-------------------------------------------------------------------------
 *
 * heap/turn.h
 *	  Whose turn it is to insert into a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TURN_H
#define FC_TURN_H

#include "heap/writer.h"

/*
 * Sleeps until the turn of the slice before is over; ends deferred writers
 * meanwhile, as their turns come.
 */
extern void fc_turn_wait(FcContext *ctx, FcSlice *slice);

/* Has the slice's turn come?  Does not sleep. */
extern bool fc_turn_has_come(const FcSlice *slice);

/* Waits for the slice's own turn, and lets the next slice insert */
extern void fc_turn_pass(FcContext *ctx, FcSlice *slice);

/*
 * Ends the only writer of a slice, which has all its rows, and lets the next
 * slice insert; or leaves both to a later call of these functions, when the
 * slice's turn has come.  Returns how many rows the writer inserts.
 */
extern uint64 fc_turn_end_slice(FcWriter *writer);

/* Ends a deferred writer whose turn has come; false if there is none */
extern bool fc_turn_take_deferred(FcContext *ctx);

/* Waits for the turns of all deferred writers */
extern void fc_turn_finish(FcContext *ctx);

#endif							/* FC_TURN_H */
