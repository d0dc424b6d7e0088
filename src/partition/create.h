/*-------------------------------------------------------------------------
 *
 * partition/create.h
 *	  Makes the missing partitions.
 *
 * Leader only, never in parallel mode.  All of it runs as the caller, in the
 * caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CREATE_H
#define FC_CREATE_H

#include "partition/attach.h"

/* ERROR 42501 if the caller may not act as the parent's owner */
extern void fc_partition_check_owner(Relation parent, const FcRoute *route,
									 const FcNewPartition *parts, int nparts);

/*
 * Checks what can be checked before any row is loaded: ownership of the
 * parent (42501), its owner's CREATE on its schema (42501), and that the
 * default partition, if any, has no row that belongs to one of the ranges
 * (23514).
 */
extern void fc_partition_precheck(Relation parent, const FcRoute *route,
								  FcNewPartition *parts, int nparts);

/*
 * Makes the new partitions of the target, and sets their OIDs and names:
 * stand-alone tables like those of CREATE TABLE ... PARTITION OF but for
 * indexes, or foreign tables (FcElsewhere.place).  They belong to the target's
 * owner.  Their schema keeps its name until the transaction ends.
 */
extern void fc_partition_create(FcContext *ctx, const FcRoute *route,
								FcNewPartition *parts, int nparts);

/*
 * Drops a created partition without rows, before any are attached.  The
 * caller has closed it.
 */
extern void fc_partition_drop(Oid partition);

/* partition/name.c */

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

#endif							/* FC_CREATE_H */
