/*-------------------------------------------------------------------------
 *
 * fc_error.h
 *	  Which record of the file is the first bad one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ERROR_H
#define FC_ERROR_H

#include "fc_shared.h"

/*
 * May this error be kept while records that stand earlier in the file are
 * still being looked at?  Bad data may, everything else is thrown at once.
 */
extern bool fc_error_is_of_data(const ErrorData *edata);

/* Keeps the error if no bad record before this one is known */
extern void fc_error_keep(FcShared *shared, uint64 offset, uint64 length,
						  const ErrorData *edata);

/* The same for a record that breaks the grammar */
extern void fc_error_keep_grammar(FcShared *shared, uint64 offset,
								  uint64 length);

/* ... and for one that no partition takes */
extern void fc_error_keep_route(FcShared *shared, uint64 offset,
								uint64 length);

/* ... and for an index that some record keeps from being built */
extern void fc_error_keep_index(FcShared *shared, const ErrorData *edata);

/* Is a record at this offset, or behind it, beyond the first bad one? */
static inline bool
fc_error_beyond(FcShared *shared, uint64 offset)
{
	return offset >= pg_atomic_read_u64(&shared->error_offset);
}

/* More records up to this one are rejected than reject_limit allows */
extern void fc_error_keep_limit(FcShared *shared, uint64 offset);

/*
 * Runs body(arg) so that a data error is caught: its ErrorData is returned
 * (in the current memory context) and ctx->failed is set.  NULL if body came
 * through.  Errors of any other kind pass.
 */
typedef void (*FcErrorBody) (void *arg);
extern ErrorData *fc_error_catch(FcContext *ctx, FcErrorBody body, void *arg);

/*
 * What a caught error leaves behind (pins of buffers, open relations) belongs
 * to the resource owner that was current.  Between these two that is one of
 * its own, which the end releases as an abort would do it if ctx->failed, but
 * for locks: where the load goes on they are the transaction's.
 */
extern struct ResourceOwnerData *fc_error_owner_begin(void);
extern void fc_error_owner_end(FcContext *ctx, struct ResourceOwnerData *outer);

/*
 * fc_error_catch in a subtransaction, for code that leaves things behind which only
 * an abort undoes, where the load goes on.  Not in workers.
 */
extern ErrorData *fc_error_catch_undo(FcErrorBody body, void *arg);

/*
 * Did this function of core find the fault itself, and not a user's code that
 * it called?  For errors that were caught by fc_error_catch.
 */
extern bool fc_error_is_from(const ErrorData *edata, const char *function);

/*
 * The process must not run a user's code again: it skips all further records,
 * and the leader will look at them.
 */
extern void fc_error_stop(FcContext *ctx);

/* Line number, as COPY counts, at the end of the record at "offset" */
extern uint64 fc_error_line(FcContext *ctx, uint64 offset, uint64 length);

#endif							/* FC_ERROR_H */
