/*-------------------------------------------------------------------------
 *
 * heap/turn.h
 *	  Whose turn it is to insert into a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TURN_H
#define FC_TURN_H

#include "heap/insert.h"

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
 * Defers the writer, which has all rows of its slice: ctx takes over both, and
 * ends the writer when its turn comes.  False, with nothing done, if the
 * writer must end now: its turn has come, it is not patient, or its rows need
 * more memory than the process may use.
 */
extern bool fc_turn_defer(FcContext *ctx, FcWriter *writer);

/* Ends a deferred writer whose turn has come; false if there is none */
extern bool fc_turn_take_deferred(FcContext *ctx);

/* Waits for the turns of all deferred writers */
extern void fc_turn_finish(FcContext *ctx);

#endif							/* FC_TURN_H */
