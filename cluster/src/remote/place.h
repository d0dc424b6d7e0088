/*-------------------------------------------------------------------------
 *
 * remote/place.h
 *	  New partitions on other servers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PLACE_H
#define FC_PLACE_H

#include "key/range.h"

/*
 * Chooses the server of each new partition among "servers" (OIDs): the one with
 * the fewest partitions of the table, of several the first one.
 */
extern void fc_place_choose(Relation parent, const FcRoute *route, const List *servers,
							FcNewPartition *parts, int nparts);

/*
 * Returns the command that makes the foreign table "name", and sets what is to
 * be made on its server.  All is in the current memory context.
 */
extern char *fc_place_sql(Relation parent, const char *name, struct FcRemoteTable *table);

#endif							/* FC_PLACE_H */
