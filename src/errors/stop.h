/*-------------------------------------------------------------------------
 *
 * errors/stop.h
 *	  Code of users that must not go on, and what it has left behind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STOP_H
#define FC_STOP_H

#include "errors/first_error.h"

/*
 * The process must not run a user's code again: it skips all further records,
 * and the leader will look at them.  The load phase of a leader that is apart
 * ends here.
 */
extern void fc_error_stop(FcContext *ctx);

/*
 * Runs body(arg) in a subtransaction of its own, which stays if it returns
 * true, and else is undone, as it is if an error passes.  Of fc_error_stop it
 * returns.  Not in parallel mode.
 */
typedef bool (*FcApartBody) (void *arg);
extern void fc_error_apart(FcContext *ctx, FcApartBody body, void *arg);

#endif							/* FC_STOP_H */
