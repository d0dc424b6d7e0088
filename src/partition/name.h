/*-------------------------------------------------------------------------
 *
 * partition/name.h
 *	  Where a new partition gets its name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_NAME_H
#define FC_NAME_H

#include "context/shared.h"

/* Would CREATE TABLE find the name in use, by a relation or by a type? */
extern bool fc_name_is_taken(const char *name, Oid nspid);

/* The name that a partition for this range would get */
extern char *fc_partition_name(Relation parent, const FcRoute *route,
							   const FcRange *range);

/*
 * The name for a partition that is to be made now.  "before" is that of the
 * one made before it, or NULL.  ERROR 42P07 if pg_partman would not pass over
 * a table of this name.
 */
extern char *fc_name_choose(Relation parent, const FcRoute *route,
							const FcRange *range, const char *before);

#endif							/* FC_NAME_H */
