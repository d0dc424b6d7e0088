/*-------------------------------------------------------------------------
 *
 * remote/gid.h
 *	  Names of the transactions that nodes prepare for this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_GID_H
#define FC_GID_H

/*
 * Returns the beginning of the names of all transactions that the foreign
 * server prepares for this database; "identity" tells this from its copies
 */
extern char *fc_gid_prefix(const char *identity, Oid server);

/* Returns a number for this transaction that nobody guesses; never 0 */
extern uint64 fc_gid_nonce(void);

/*
 * Returns the name of the n-th member's transaction.  The transaction gets an
 * XID if it has none.
 */
extern char *fc_gid_make(const char *prefix, uint64 nonce, int n);

/* Reads the nonce of a name; 0: it does not begin so, or is none of ours */
extern uint64 fc_gid_read(const char *gid, const char *prefix);

#endif							/* FC_GID_H */
