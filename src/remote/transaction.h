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

/*
 * Returns a member that runs no COPY, in a subtransaction as deep as that of
 * here; it stays until the transaction ends, or the subtransaction is rolled
 * back that it began in.  ERROR if the server cannot be reached, or cannot
 * commit as the transaction wants to.
 */
extern FcMember *fc_transaction_join(Oid server, Oid userid);

#endif							/* FC_TRANSACTION_H */
