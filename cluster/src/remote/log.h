/*-------------------------------------------------------------------------
 *
 * remote/log.h
 *	  The table that has decided: fast_copy_transactions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REMOTE_LOG_H
#define FC_REMOTE_LOG_H

#include "nodes/pg_list.h"

/* A row of the table */
typedef struct FcDecision
{
	char	   *gid;
	uint64		nonce;
	int64		system;			/* the database that has prepared it */
} FcDecision;

/* Is the extension created in this database, and with it the table? */
extern bool fc_log_is_there(void);

/*
 * Takes the lock that says that this transaction is under way, until it ends
 * in any way; to be called before the first row is added
 */
extern void fc_log_hold(uint64 nonce);

/* Locks the table to be read or changed until this transaction ends */
extern void fc_log_lock(bool change);

/*
 * Has the transaction with this nonce ended?  With "keep" others who ask are
 * told no from then on, until this transaction ends or lets it go.
 */
extern bool fc_log_has_ended(uint64 nonce, bool keep);
extern void fc_log_let_go(uint64 nonce);

/* Adds a row: once this transaction is committed, the node's must be */
extern void fc_log_add(const char *gid, Oid server, int64 system, Oid userid);

/*
 * With this begin the names of all transactions that the server prepares for
 * this database (remote/gid.h)
 */
extern char *fc_log_prefix(Oid server);

/* All rows of the server that can be seen now */
extern List *fc_log_list(Oid server);

/* Is there a row, as far as can be seen now? */
extern bool fc_log_has(const char *gid);

/*
 * Removes the row, wherever it is by now: the table may have been rewritten,
 * and another session may have removed it.
 */
extern void fc_log_remove(const char *gid);

#endif							/* FC_REMOTE_LOG_H */
