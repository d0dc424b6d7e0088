/*-------------------------------------------------------------------------
 *
 * intake/receive.h
 *	  What programs print, or the client sends, as source of a load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECEIVE_H
#define FC_RECEIVE_H

#include "intake/intake.h"

/*
 * Receives what programs print or the client sends, and makes it
 * target->source.  If the rest can be received while it is scanned or loaded,
 * this receives the first bytes only, and sets intake->incoming.
 */
extern void fc_receive(FcIntake *intake);

/* Receives all that the client sends, as if it were loaded, and drops it */
extern void fc_receive_pass_over(const FcOptions *options);

/* Leader: receives the rest now, before any other phase */
extern void fc_receive_rest(FcIntake *intake);

/* FcContext.lead: receives some of the rest; arg is the FcIntake */
extern bool fc_receive_lead(void *arg);

/*
 * After all rows that have come are loaded: ERROR 57014 if the client has given
 * up before its data were whole, or the error of a program that has failed
 */
extern void fc_receive_check_whole(const FcIntake *intake);

/* Is what is received packed? */
extern bool fc_receive_is_packed(const FcIncoming *incoming);

/* Returns the bytes of a ring for so many workers and chunks of this size */
extern Size fc_receive_ring_size(int nworkers, uint64 chunk_size, Size memory);

/* Makes a ring of the memory, FcRing and size bytes after it */
extern void fc_receive_init_ring(FcRing *ring, Size size);

#endif							/* FC_RECEIVE_H */
