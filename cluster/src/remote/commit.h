/*-------------------------------------------------------------------------
 *
 * remote/commit.h
 *	  How nodes commit with this transaction: in one phase or in two.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COMMIT_H
#define FC_COMMIT_H

#include "options/options.h"
#include "remote/member.h"

/* What the option asks for; ERROR 22023 if it is none of its words */
extern FcRemoteCommit fc_commit_of(const FcOptions *options);

/*
 * May rows be sent to the node by so many members if the transaction is to be
 * committed so?  ERROR 55000 if it cannot; for FC_COMMIT_AUTO a NOTICE.
 */
extern void fc_commit_foresee(FcRemoteCommit commit, const FcNode *node, int n);

/*
 * Before the transaction commits: has all members prepare to commit, or in one
 * phase commit, one after the other.  ERROR if one of them does not.
 */
extern void fc_commit_members(dlist_head *members, FcRemoteCommit commit);

/*
 * It is committed: has those commit that are prepared, and those that nobody
 * has asked to.  Never throws.
 */
extern void fc_commit_finish(dlist_head *members);

/* It has failed: has those roll back that are prepared.  Never throws */
extern void fc_commit_give_up(dlist_head *members);

#endif							/* FC_COMMIT_H */
