/*-------------------------------------------------------------------------
 *
 * errors/reject_file.h
 *	  Records that on_error leaves out, from all processes, in file order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECT_FILE_H
#define FC_REJECT_FILE_H

#include "context/shared.h"

/* Why a record is rejected, or why a value of it became NULL or was mended */
typedef struct FcBad
{
	uint32		class;			/* FC_CLASS_* of the fault, a tolerated one; 0:
								 * a value that became NULL */
	const char *column;			/* or NULL */
	const char *value;			/* of its field, as text; or NULL */
	ErrorData  *edata;			/* SQLSTATE, message, detail, hint; or NULL */
} FcBad;

/* What is kept of a reject; a missing text is "" */
typedef struct FcReject
{
	uint64		offset;
	uint64		length;
	uint32		class;			/* as of FcBad */
	int			sqlerrcode;
	uint32		size;			/* of the texts, with their NULs */
	bool		null_input;		/* the value was NULL, or none is known */
	char	   *column;
	char	   *value;
	char	   *message;
	char	   *detail;
	char		shown[104];		/* by fc_reject_clip */
} FcReject;

/* Is the record not left out? */
static inline bool
fc_reject_is_kept(const FcReject *reject)
{
	return reject->class == 0 || (reject->class & FC_CLASSES_MENDED) != 0;
}

/* Cuts the value to what COPY's messages show of one, as fc_error_clip does */
static inline void
fc_reject_clip(FcReject *reject)
{
	size_t		len = strlen(reject->value);

	if (len <= 100)
		return;
	snprintf(reject->shown, sizeof(reject->shown), "%.*s...",
			 pg_mbcliplen(reject->value, len, 100), reject->value);
	reject->value = reject->shown;
}

/* Counts the record as rejected, and keeps what is wrong with it */
extern void fc_reject_put(FcContext *ctx, uint64 offset, uint64 length,
						  const FcBad *bad);

/*
 * Fills in what fc_reject_put keeps, or fc_reject_keep of a value, in the
 * current memory context
 */
extern void fc_reject_fill(FcReject *reject, uint64 offset, uint64 length,
						   const FcBad *bad);

/*
 * If n > 0 values of the record became NULL or were mended, counts the record,
 * and keeps the values if plan.verbose is set.  To be called once per record:
 * in the last phase in which a process parses it.
 */
extern void fc_reject_keep(FcContext *ctx, uint64 offset, uint64 length,
						   const FcBad *faults, int n);

/* At the end of the phase: lets the leader read what this process has put */
extern void fc_reject_end(FcContext *ctx);

/*
 * Between phases the leader reads what processes have put so far, in the order
 * of the file; what fc_verify_load put only for records that no process has.
 * nprocesses is the most that any phase had.  The texts of a reject last until
 * the next call.
 */
typedef struct FcRejects FcRejects;

extern FcRejects *fc_rejects_open(FcContext *ctx, int nprocesses);
extern bool fc_rejects_next(FcRejects *rejects, FcReject *reject);
extern void fc_rejects_close(FcRejects *rejects);

#endif							/* FC_REJECT_FILE_H */
