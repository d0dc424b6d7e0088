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
 * Called by a process that has kept an error which may come from a user's code,
 * and must not run such code again.  It skips all further records, and the
 * leader will look at those before the bad one.  In the load phase, a leader
 * that is apart does not return from here, but from fc_error_apart.
 */
extern void fc_error_stop(FcContext *ctx);

/*
 * Runs body(arg) in a subtransaction, which stays if body returns true.  It is
 * rolled back if body returns false or throws, and then the error is thrown
 * on, unless it is that of fc_error_stop.  Not in parallel mode.
 */
typedef bool (*FcApartBody) (void *arg);
extern void fc_error_apart(FcContext *ctx, FcApartBody body, void *arg);

#endif							/* FC_STOP_H */
