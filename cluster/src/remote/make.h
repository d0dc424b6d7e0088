/*-------------------------------------------------------------------------
 *
 * remote/make.h
 *	  Tables that the load makes on nodes, and their indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MAKE_H
#define FC_MAKE_H

#include "remote/member.h"
#include "remote/remote.h"

/* Makes the table; ERROR if the node does not */
extern void fc_make_table(FcMember *member, const FcRemoteTable *table);

#endif							/* FC_MAKE_H */
