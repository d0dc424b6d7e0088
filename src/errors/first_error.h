/*-------------------------------------------------------------------------
 *
 * errors/first_error.h
 *	  Errors about records are caught, and the first one in the file is kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIRST_ERROR_H
#define FC_FIRST_ERROR_H

#include "context/shared.h"

/* Makes room for texts; the leader calls it first.  shared is in the segment */
extern void fc_error_begin(FcShared *shared, dsm_segment *segment);

/*
 * Does the server end the transaction by this error in any case, as by a cancel
 * or a deadlock?  Such an error is thrown on, never kept.
 */
extern bool fc_error_is_of_transaction(const ErrorData *edata);

/* Is its SQLSTATE one of the server's own troubles, such as a full disk? */
extern bool fc_error_is_of_server(const ErrorData *edata);

/*
 * Keeps the error of a record, if no bad record before it is known; edata is
 * NULL if the kind says all
 */
extern void fc_error_keep(FcShared *shared, FcErrorKind kind, uint64 offset,
						  uint64 length, const ErrorData *edata);

/* Makes an error of COPY's, in the current memory context; keeps the message */
extern ErrorData *fc_error_made(int sqlerrcode, char *message);

/*
 * Returns the kept error with all its texts, in the current memory context.
 * Its kind must be one whose text is kept, or FC_ERROR_INDEX.  Only the
 * leader calls this, while no process works at a phase.
 */
extern ErrorData *fc_error_kept(FcShared *shared);

/* Does the first bad record known stand at this offset, or before it? */
static inline bool
fc_error_beyond(FcShared *shared, uint64 offset)
{
	return offset >= pg_atomic_read_u64(&shared->errors.offset);
}

/* Errors that are thrown on tell of this record, until at_record is false */
static inline void
fc_error_at(FcContext *ctx, uint64 offset, uint64 length)
{
	ctx->at_record = true;
	ctx->at_offset = offset;
	ctx->at_length = length;
}

/*
 * Runs body(arg).  Returns NULL if it throws nothing.  If it throws an error
 * about data, sets ctx->failed and returns the ErrorData, in the current
 * memory context.  Other errors are thrown on.
 *
 * While ctx->evaluating is set, which body may do for a part of its work,
 * every error is about data but those of fc_error_is_of_transaction.
 */
typedef void (*FcErrorBody) (void *arg);
extern ErrorData *fc_error_catch(FcContext *ctx, FcErrorBody body, void *arg);

/*
 * fc_error_catch for a body that works at the record at this offset.  The body
 * of fc_error_evaluate does nothing but evaluate the record: ctx->evaluating
 * is set for all of it.
 */
extern ErrorData *fc_error_catch_at(FcContext *ctx, uint64 offset, uint64 length,
									FcErrorBody body, void *arg);
extern ErrorData *fc_error_evaluate(FcContext *ctx, uint64 offset, uint64 length,
									FcErrorBody body, void *arg);

/*
 * A caught error leaves pins of buffers and open relations to the current
 * resource owner.  The first call makes a new one current, and returns the
 * outer one.  The second takes that, and releases what the new owner holds, as
 * an abort does if ctx->failed is set; locks pass to the outer owner, because
 * the load may go on.
 */
extern struct ResourceOwnerData *fc_error_owner_begin(void);
extern void fc_error_owner_end(FcContext *ctx, struct ResourceOwnerData *outer);

/* Releases what an owner holds but locks, which pass on; deletes the owner */
extern void fc_error_owner_release(struct ResourceOwnerData *owner, bool commit);

/*
 * Runs body(arg) in a subtransaction, which stays if body returns true.  If
 * body returns false or throws it is rolled back.  Returns the error, in the
 * current memory context, or NULL.  Not in parallel mode.
 */
typedef bool (*FcTryBody) (void *arg);
extern ErrorData *fc_error_try(FcTryBody body, void *arg);

/*
 * fc_error_catch in a subtransaction: for code whose effects only an abort
 * undoes, where the load goes on after the error.  Workers must not call it;
 * ctx->failed stays as it is.
 */
extern ErrorData *fc_error_catch_undo(FcContext *ctx, FcErrorBody body, void *arg);

/*
 * Did this function of core throw the error, and not a user's code that it
 * called?  To be asked of errors that fc_error_catch has returned, because
 * these lack the context of its callers.
 */
extern bool fc_error_is_from(const ErrorData *edata, const char *function);

/*
 * ERROR if a process has found another number of records in the chunk than the
 * split, unless it may have left some out: because it has stopped, or because
 * a bad record is known that stands before the chunk's end.
 */
extern void fc_error_check_count(FcContext *ctx, uint32 chunk, uint64 found);

/* The number of the line on which the record ends, as COPY counts lines */
extern uint64 fc_error_line(FcContext *ctx, uint64 offset, uint64 length);

/*
 * The record as COPY shows it in a context, in the server's encoding and the
 * current memory context; NULL if its bytes are not valid in the plan's
 */
extern char *fc_error_record_text(const FcSource *source, const FcPlan *plan,
								  uint64 offset, uint64 length);

/* The text as COPY's messages show it: palloc'd, cut after 100 bytes */
static inline char *
fc_error_clip(const char *s, int len)
{
	const int	max = 100;

	if (len <= max)
		return pnstrdup(s, len);
	return psprintf("%.*s...", pg_mbcliplen(s, len, max), s);
}

/*
 * errors/stop.c
 */

/*
 * Keeps the error that was caught at the record at_offset, and frees it.
 *
 * "stops": it is from what may be a user's code, which must not run again after
 * it was interrupted.  The process skips all further records, and the leader
 * looks at those before the bad one.  In the load phase, a leader that is apart
 * returns from fc_error_apart then, not from here.
 */
extern void fc_error_take(FcContext *ctx, FcErrorKind kind, ErrorData *edata, bool stops);

/*
 * Runs body(arg) by fc_error_try, and throws its error on, unless it is that of
 * fc_error_take
 */
extern void fc_error_apart(FcContext *ctx, FcTryBody body, void *arg);

/*
 * errors/lines.c: line numbers of records, as COPY counts them
 */

typedef struct FcLines FcLines;

/*
 * In the current memory context, of which it takes 64 kB: free it by pfree.
 * For chunks that the leader has resolved.
 */
extern FcLines *fc_lines_begin(FcContext *ctx);

/*
 * The number of the line on which the record ends.  To ask for records in the
 * order of the file costs one pass over their chunks; to go back costs a pass
 * over the chunk up to the record.
 */
extern uint64 fc_lines_at(FcLines *lines, uint64 offset, uint64 length);

/* The number of the record at "offset" in its file, from 1 */
extern uint64 fc_lines_row(FcLines *lines, uint64 offset);

/* The records of the files before that of "offset" */
extern uint64 fc_lines_records(FcContext *ctx, uint64 offset);

/* The number of the chunk that holds "offset" */
extern uint32 fc_lines_chunk(FcShared *shared, uint64 offset);

#endif							/* FC_FIRST_ERROR_H */
