/*-------------------------------------------------------------------------
 *
 * errors/reject_file.h
 *	  Records that on_error passed over, from all processes, in file order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECT_FILE_H
#define FC_REJECT_FILE_H

#include "context/shared.h"

/* Why a record was refused although the load goes on */
typedef struct FcBad
{
	uint32		class;			/* FC_CLASS_*, one that is tolerated */
	const char *column;			/* or NULL */
	const char *value;			/* of the column as text, or NULL */
	ErrorData  *edata;			/* SQLSTATE, message, detail, hint */
} FcBad;

/* A value that became NULL because its type refused it */
typedef struct FcNulled
{
	const char *column;
	const char *value;			/* NULL: none */
} FcNulled;

/* What is kept of one record; texts are clipped, and "" if there is none */
typedef struct FcReject
{
	uint64		offset;
	uint64		length;
	uint32		class;			/* 0: a value that became NULL */
	int			sqlerrcode;
	bool		null_input;		/* the value was NULL, or none is known */
	char	   *column;
	char	   *value;
	char	   *message;
} FcReject;

/* Counts the record and keeps what was wrong with it; by any process */
extern void fc_reject_put(FcContext *ctx, uint64 offset, uint64 length,
						  const FcBad *bad);

/* What fc_reject_put keeps of the record, in the current memory context */
extern void fc_reject_fill(FcReject *reject, uint64 offset, uint64 length,
						   const FcBad *bad);

/* Fills in what is told of a value that became NULL */
extern void fc_reject_fill_nulled(FcReject *reject, uint64 offset, uint64 length,
								  const FcNulled *nulled);

/*
 * Counts the record if n > 0 values of it became NULL, and keeps them where
 * each is to be told of.  Once per record: in the phase after which no process
 * will parse it again.
 */
extern void fc_reject_nulled(FcContext *ctx, uint64 offset, uint64 length,
							 const FcNulled *nulled, int n);

/* This process has put all it had to put in this phase */
extern void fc_reject_end(FcContext *ctx);

/*
 * Reading, by the leader between phases: everything put so far in file order,
 * each record once.
 */
typedef struct FcRejects FcRejects;

extern FcRejects *fc_rejects_open(FcContext *ctx, int nprocesses);
extern bool fc_rejects_next(FcRejects *rejects, FcReject *reject);
extern void fc_rejects_close(FcRejects *rejects);

#endif							/* FC_REJECT_FILE_H */
