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

/* Returns the name that a partition for this range would get */
extern char *fc_partition_name(Relation parent, const FcRoute *route,
							   const FcRange *range);

/*
 * Returns the name for a partition that is about to be made.  "before" is the
 * name of the one made before it, or NULL.  ERROR 42P07 if the name that
 * pg_partman gives is taken.
 */
extern char *fc_name_choose(Relation parent, const FcRoute *route,
							const FcRange *range, const char *before);

#endif							/* FC_NAME_H */
