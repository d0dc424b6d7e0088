/*-------------------------------------------------------------------------
 *
 * heap/old_rows.h
 *	  The rows that a table has before a load replaces them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OLD_ROWS_H
#define FC_OLD_ROWS_H

#include "access/xlogdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "key/range.h"

/*
 * Counts the rows that the transaction sees in the table, until they are more
 * than "most"; with "settles" also only until they cannot become more, however
 * full the other pages are.  Returns whether these are all.  The caller has
 * locked the table, which is of this server.
 */
extern bool fc_old_rows_count(Relation rel, double most, bool settles, double *rows);

/*
 * Sets the keys of some rows that the transaction sees in the heap, at most
 * "most", from pages all over it, and how many rows there are, about.  Returns
 * how many keys these are; 0 for a table that is no heap.
 */
extern uint32 fc_old_rows_keys(Relation rel, AttrNumber attnum, FcKeyType type, int64 *keys,
							   uint32 most, double *rows);

/* A moment, to tell what comes after it */
typedef struct FcSince
{
	Snapshot	snapshot;		/* registered; of other transactions */
	CommandId	cid;			/* the first command after it, of this one */
	XLogRecPtr	lsn;			/* pages whose last change is before it have
								 * nothing that comes after the moment */
} FcSince;

/* Sets *now to this moment; the caller unregisters the snapshot */
extern void fc_old_rows_now(FcSince *now);

/*
 * Finds what was done to the heap since then.  *changed: how many rows other
 * transactions have deleted or updated.  If there are none, copies the rows
 * that were inserted to another heap, frozen and with their index entries, and
 * returns their number.
 *
 * "until" is a later moment, of which the same can be asked afterwards: its lsn
 * is lowered where a transaction was still at work.  Or it is NULL, and the
 * caller has locked the table against everybody.  VACUUM was kept away since
 * before the first moment.
 */
extern uint64 fc_old_rows_carry(Relation rel, Relation to, const FcSince *since, FcSince *until,
								uint64 *changed);

/*
 * How many rows that other transactions have inserted, or given new values,
 * since then has this transaction deleted, in a heap that it has locked?
 */
extern uint64 fc_old_rows_taken(Relation rel, const FcSince *since);

#endif							/* FC_OLD_ROWS_H */
