/*-------------------------------------------------------------------------
 *
 * errors/stop.c
 *	  Stops a process at an error of users' code, and undoes what it did.
 *
 * The head of errors/first_error.c says why a process stops.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "errors/reject_file.h"
#include "errors/first_error.h"

void
fc_error_take(FcContext *ctx, FcErrorKind kind, ErrorData *edata, bool stops)
{
	fc_error_keep(ctx->shared, kind, ctx->at_offset, ctx->at_length, edata);
	FreeErrorData(edata);
	if (!stops)
		return;
	ctx->stopped = true;
	pg_atomic_write_u32(&ctx->shared->errors.stopped, 1);
	if (!ctx->apart || ctx->shared->phase != FC_PHASE_LOAD)
		return;
	/* no process waits for this one, and its tables may have been changed */
	fc_reject_end(ctx);
	ctx->ended = true;
	fc_throw(ERRCODE_INTERNAL_ERROR, errmsg_internal("load stopped at a record"));
}

/*
 * The leader looks at records again after this, and must find catalogs and
 * tables as before the phase.  Workers run no commands, but code of the
 * leader's that is not parallel safe may: a phase with such code is undone if
 * an error was kept.  So is the look, because core is shown the bad record
 * after it.
 */
void
fc_error_apart(FcContext *ctx, FcTryBody body, void *arg)
{
	ErrorData  *edata;

	ctx->ended = false;
	edata = fc_error_try(body, arg);
	/* the error of fc_error_take ends here: that about data is kept */
	if (edata && !ctx->ended)
		ReThrowError(edata);
}
