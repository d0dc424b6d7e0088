/*-------------------------------------------------------------------------
 *
 * errors/stop.h
 *	  Stops a process at an error of users' code, and undoes what it did.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STOP_H
#define FC_STOP_H

#include "errors/first_error.h"

/*
 * Called by a process that has kept an error from what may be a user's code,
 * which must not run again after it was interrupted.  The process skips all
 * further records, and the leader looks at those before the bad one.
 *
 * In the load phase, a leader that is apart returns from fc_error_apart, not
 * from here.
 */
extern void fc_error_stop(FcContext *ctx);

/*
 * Runs body(arg) by fc_error_try, and throws its error on, unless it is that of
 * fc_error_stop
 */
extern void fc_error_apart(FcContext *ctx, FcTryBody body, void *arg);

#endif							/* FC_STOP_H */
