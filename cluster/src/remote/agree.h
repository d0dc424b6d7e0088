/*-------------------------------------------------------------------------
 *
 * remote/agree.h
 *	  Is a foreign table what its server has?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_AGREE_H
#define FC_AGREE_H

#include "nodes/pg_list.h"

#include "remote/node.h"
#include "remote/remote.h"

/*
 * ERROR 42804 unless the table there has the types for these columns that the
 * foreign table has, and no rules, which COPY would pass by.  A table that is
 * not there, or a column, is left to COPY's error.  Returns whether the table
 * is partitioned there.
 */
extern bool fc_agree_check(FcNode *node, const FcRemotePlace *place, const List *attnums);

#endif							/* FC_AGREE_H */
