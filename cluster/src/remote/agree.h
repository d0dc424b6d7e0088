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
 * ERROR 42804 if the table there has other types for these columns than the
 * foreign table, or rules, which COPY would pass by.  COPY itself throws for a
 * table or a column that is not there.  Returns whether the table is
 * partitioned there.
 */
extern bool fc_agree_check(FcNode *node, const FcRemotePlace *place, const List *attnums);

#endif							/* FC_AGREE_H */
