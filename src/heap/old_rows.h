/*-------------------------------------------------------------------------
 *
 * heap/old_rows.h
 *	  The rows that a table has before a load replaces them, or after it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OLD_ROWS_H
#define FC_OLD_ROWS_H

#include "access/xlogdefs.h"
#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "key/range.h"

/*
 * Counts the rows that the transaction sees in the table, until they are more
 * than "most"; with "settles" also until they cannot become more, however full
 * the other pages are.  Returns whether these are all.  The caller has locked
 * the table, which is of this server.
 */
extern bool fc_old_rows_count(Relation rel, double most, bool settles, double *rows);

/* Pages of a large table that are read; if it has not twice as many, all are */
#define FC_OLD_SAMPLE	64

/*
 * Sets the keys of some rows that the transaction sees in the heap, at most
 * "most", from pages all over it, and *rows to an estimate of all rows.
 * Returns how many keys it set; 0 for a table that is no heap.
 */
extern uint32 fc_old_rows_keys(Relation rel, AttrNumber attnum, FcKeyType type, int64 *keys,
							   uint32 most, double *rows);

/* A moment, to find out what was done after it */
typedef struct FcSince
{
	Snapshot	snapshot;		/* registered; of other transactions */
	CommandId	cid;			/* the first command after it, of this one */
	XLogRecPtr	lsn;			/* pages whose last change is before it have
								 * nothing from after the moment */
} FcSince;

/*
 * Returns the table that a row goes to, which the caller has locked, or
 * InvalidOid if it stays where it is; "row" is one of "rel"
 */
typedef Oid (*FcPick) (void *arg, Relation rel, HeapTuple row);

/* Sets *now to this moment; the caller unregisters the snapshot */
extern void fc_old_rows_now(FcSince *now);

/*
 * Finds what was done to the heap since then.  *changed: how many rows were
 * deleted or updated, by other transactions or later commands of this one.  If
 * none, copies the rows that were inserted to the heaps that "pick" tells, with
 * their index entries and with options of table_tuple_insert(), and returns how
 * many were copied.
 *
 * With "leaves" the rows that are copied are deleted, for the heap keeps its
 * file.  Then others may have changed those that stay, and *changed is how many
 * could not be deleted.
 *
 * "until" is a later moment, from which the next call can go on: its lsn is
 * lowered to pages of transactions that were still running.  Or it is NULL,
 * and the caller has locked the table against all others.  VACUUM must have
 * been locked out since before the first moment.
 */
extern uint64 fc_old_rows_carry(Relation rel, FcPick pick, void *arg, int options, bool leaves,
								const FcSince *since, FcSince *until, uint64 *changed);

/*
 * Deletes rows that the snapshot sees, and that "pick" has a table for; returns
 * their number.  *changed: how many others had changed since then.
 */
extern uint64 fc_old_rows_delete(Relation rel, Snapshot snapshot, FcPick pick, void *arg,
								 uint64 *changed);

/*
 * Returns how many rows that other transactions have inserted or updated since
 * then this transaction has deleted, in a heap that it has locked
 */
extern uint64 fc_old_rows_taken(Relation rel, const FcSince *since);

/* Is called with a row, which is there until it returns */
typedef void (*FcRowVisit) (void *arg, TupleTableSlot *row);

/*
 * Visits the rows that this transaction has inserted into the heap since then,
 * of which it needs no snapshot, and returns their number.  Counts, but does
 * not visit, those that it has deleted.  "frozen": they may be visible to all
 * already.
 */
extern uint64 fc_old_rows_made(Relation rel, const FcSince *since, bool frozen, FcRowVisit visit,
							   void *arg);

#endif							/* FC_OLD_ROWS_H */
