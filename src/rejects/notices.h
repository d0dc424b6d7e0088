/*-------------------------------------------------------------------------
 *
 * rejects/notices.h
 *	  What the leader tells of the records that on_error passed over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECTS_NOTICES_H
#define FC_REJECTS_NOTICES_H

#include "errors/reject_file.h"
#include "options/target.h"

/*
 * After the load: gives COPY's NOTICEs, and writes the rows of reject_table.
 * Returns what stands in the column "job" of these rows, or NULL if there are
 * none.
 */
extern char *fc_notices_finish(FcTarget *target);

/*
 * Where core loads: tells of a record, which ends at this line, as soon as it
 * is left out, as COPY does.  It is not told of again.
 */
extern void fc_notices_show(FcTarget *target, const FcReject *reject, uint64 line);

/*
 * Before the first bad record's error is thrown: gives the NOTICEs of records
 * that stand before it.  ERROR 22P02 if they are more than reject_limit
 * allows.
 */
extern void fc_notices_throw(FcTarget *target);

#endif							/* FC_REJECTS_NOTICES_H */
