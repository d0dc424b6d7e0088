/*-------------------------------------------------------------------------
 *
 * errors/first_error.h
 *	  Which record of the file is the first bad one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIRST_ERROR_H
#define FC_FIRST_ERROR_H

#include "context/shared.h"

/* By the leader, before any other of these: the segment is the shared one */
extern void fc_error_begin(FcShared *shared, dsm_segment *segment);

/*
 * Does the server end with this error whatever the transaction does?  Those
 * are thrown at once.
 */
extern bool fc_error_is_of_transaction(const ErrorData *edata);

/* Could the server say so of itself, to judge by the SQLSTATE? */
extern bool fc_error_is_of_server(const ErrorData *edata);

/* Keeps the error if no bad record before this one is known */
extern void fc_error_keep(FcShared *shared, uint64 offset, uint64 length,
						  const ErrorData *edata);

/* Keeps that a record breaks the grammar, if it is the first bad one */
extern void fc_error_keep_grammar(FcShared *shared, uint64 offset,
								  uint64 length);

/* Keeps that no partition takes a record, if it is the first bad one */
extern void fc_error_keep_route(FcShared *shared, uint64 offset,
								uint64 length);

/* Keeps that an index cannot be built, because of a record not known which */
extern void fc_error_keep_index(FcShared *shared, const ErrorData *edata);

/*
 * The error kept, which has kind FC_ERROR_DATA or FC_ERROR_INDEX, whole and in
 * the current memory context.  In the leader, when no process is at work.
 */
extern ErrorData *fc_error_kept(FcShared *shared);

/* Is this offset that of the first bad record, or after it? */
static inline bool
fc_error_beyond(FcShared *shared, uint64 offset)
{
	return offset >= pg_atomic_read_u64(&shared->errors.offset);
}

/* More records up to this one are rejected than reject_limit allows */
extern void fc_error_keep_limit(FcShared *shared, uint64 offset);

/* The record at this offset is in hand: errors that pass will say so */
static inline void
fc_error_at(FcContext *ctx, uint64 offset, uint64 length)
{
	ctx->at_record = true;
	ctx->at_offset = offset;
	ctx->at_length = length;
}

/*
 * Runs body(arg) so that an error about data is caught: its ErrorData is
 * returned (in the current memory context) and ctx->failed is set.  NULL if
 * body came through.  Errors of any other kind pass.  While ctx->evaluating is
 * set, which body may do for a while, any error is about the record, unless it
 * is of the transaction.
 */
typedef void (*FcErrorBody) (void *arg);
extern ErrorData *fc_error_catch(FcContext *ctx, FcErrorBody body, void *arg);

/*
 * The same for the record at this offset.  fc_error_evaluate catches only what
 * evaluating the record throws.
 */
extern ErrorData *fc_error_catch_at(FcContext *ctx, uint64 offset, uint64 length,
									FcErrorBody body, void *arg);
extern ErrorData *fc_error_evaluate(FcContext *ctx, uint64 offset, uint64 length,
									FcErrorBody body, void *arg);

/*
 * What a caught error leaves behind (pins of buffers, open relations) belongs
 * to the resource owner that was current.  Between these two that is one of
 * its own, which the end releases as an abort would do it if ctx->failed, but
 * for locks: where the load goes on they are the transaction's.
 */
extern struct ResourceOwnerData *fc_error_owner_begin(void);
extern void fc_error_owner_end(FcContext *ctx, struct ResourceOwnerData *outer);

/*
 * fc_error_catch in a subtransaction, for code that leaves things behind which
 * only an abort undoes, where the load goes on.  Not in workers.
 */
extern ErrorData *fc_error_catch_undo(FcContext *ctx, FcErrorBody body, void *arg);

/*
 * Did this function of core find the fault itself, and not a user's code that
 * it called?  For errors that were caught by fc_error_catch.
 */
extern bool fc_error_is_from(const ErrorData *edata, const char *function);

/*
 * A process has read so many records in the chunk: ERROR if the split found
 * another number, unless some of them were not wanted any more.
 */
extern void fc_error_check_count(FcContext *ctx, uint32 chunk, uint64 found);

/* Line number, as COPY counts, at the end of the record at "offset" */
extern uint64 fc_error_line(FcContext *ctx, uint64 offset, uint64 length);

/*
 * The record as COPY's context shows it, or NULL if it is not right in its
 * encoding, which is the server's unless it is to be converted; in the current
 * memory context
 */
extern char *fc_error_record_text(const FcSource *source, uint64 offset,
								  uint64 length, int encoding, bool convert);

/* A text as COPY's messages show it: no more than 100 bytes and an ellipsis */
extern char *fc_error_clip(const char *s, int len);

#endif							/* FC_FIRST_ERROR_H */
