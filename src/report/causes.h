/*-------------------------------------------------------------------------
 *
 * report/causes.h
 *	  What rejected records have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CAUSES_H
#define FC_CAUSES_H

#include "errors/reject_file.h"
#include "options/target.h"

/* One thing that is wrong with records; its texts are in FcCauses' context */
typedef struct FcCause
{
	uint64		count;			/* records, or values that became NULL */
	uint64		offset;			/* of the first of them in the file */
	int64		line;			/* on which that one ends; the caller sets it */
	const char *column;			/* "": it is about no column */
	char	   *detail;			/* SQLSTATE, message, values, and a hint;
								 * fc_causes_list sets it */
} FcCause;

typedef struct FcCauses FcCauses;

/* In the current memory context; for rejects in the order of the file */
extern FcCauses *fc_causes_begin(const FcTarget *target);

/*
 * Counts a reject.  Returns its cause if it is the first one to have it, so
 * that the caller sets the line; else NULL.
 */
extern FcCause *fc_causes_add(FcCauses *causes, const FcReject *reject);

/*
 * Returns a List of FcCause, the most frequent ones first, and the number of
 * rejects that had other causes than those, when there were too many
 */
extern List *fc_causes_list(FcCauses *causes, uint64 *others);

#endif							/* FC_CAUSES_H */
