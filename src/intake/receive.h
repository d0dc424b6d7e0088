/*-------------------------------------------------------------------------
 *
 * intake/receive.h
 *	  What programs print, or the client sends, as source of a load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECEIVE_H
#define FC_RECEIVE_H

#include "intake/copies.h"

/*
 * Makes target->source of what programs, or the client, give now.  Or of its
 * first bytes only, if the rest can be received while it is scanned:
 * intake->incoming is what is to come then.
 */
extern void fc_receive(FcIntake *intake);

/* Leader: receives the rest before any other phase */
extern void fc_receive_rest(FcIntake *intake);

/* FcContext.lead: receives some of the rest; arg is the FcIntake */
extern bool fc_receive_lead(void *arg);

/* Says for the report what was received */
/*
 * After all rows that have come are loaded: ERROR 57014 if the client has
 * given up before its data were whole
 */
extern void fc_receive_check_whole(const FcIntake *intake);

/* Is what is received packed? */
extern bool fc_receive_is_packed(const FcIncoming *incoming);

extern char *fc_receive_choice(const FcIntake *intake);

#endif							/* FC_RECEIVE_H */
