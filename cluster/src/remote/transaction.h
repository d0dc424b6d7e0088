/*-------------------------------------------------------------------------
 *
 * remote/transaction.h
 *	  The sessions of this transaction with nodes, and their common end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TRANSACTION_H
#define FC_TRANSACTION_H

#include "remote/member.h"

/* Of FcMember */
extern dlist_head *fc_transaction_members(void);

/* Has core tell of the end of transactions from now on */
extern void fc_transaction_watch(void);

/*
 * Returns a member that runs no COPY, at the subtransaction level of this
 * session.  It stays until the transaction ends, or the subtransaction in
 * which it began is rolled back.  "makes": one that has made tables, or a new
 * one.  ERROR if the server cannot be reached, or cannot commit as the
 * transaction wants to.
 */
extern FcMember *fc_transaction_join(Oid server, Oid userid, bool makes);

/* Does the same with a member that exists: only the node can fail */
extern void fc_transaction_rejoin(FcMember *member);

/* Finds the member that has made the table of this quoted name; or NULL */
extern FcMember *fc_transaction_maker(Oid server, Oid userid, const char *table);

#endif							/* FC_TRANSACTION_H */
