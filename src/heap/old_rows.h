/*-------------------------------------------------------------------------
 *
 * heap/old_rows.h
 *	  The rows that a table has before a load replaces them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OLD_ROWS_H
#define FC_OLD_ROWS_H

#include "utils/relcache.h"
#include "utils/snapshot.h"

/*
 * Returns about how many rows the transaction sees in the heap: exactly, if it
 * has few pages.  The caller has locked the table.
 */
extern double fc_old_rows_estimate(Relation rel);

/* Returns how many rows the transaction sees in the heap */
extern double fc_old_rows_count(Relation rel);

/* Reads the pages that fc_old_rows_carry will read, and sets their hint bits */
extern void fc_old_rows_read(Relation rel, Snapshot snapshot);

/* A moment, to tell what comes after it */
typedef struct FcSince
{
	Snapshot	snapshot;		/* registered; of other transactions */
	CommandId	cid;			/* the first command after it, of this one */
} FcSince;

/*
 * Finds what was done to the heap since then.  Copies the rows that were
 * inserted to another heap, frozen and with their index entries, and returns
 * their number.  *changed: how many rows other transactions have deleted or
 * updated.
 *
 * The caller has locked the table against everybody, and against VACUUM since
 * before the snapshot.
 */
extern uint64 fc_old_rows_carry(Relation rel, Relation to, const FcSince *since, uint64 *changed);

#endif							/* FC_OLD_ROWS_H */
