/*-------------------------------------------------------------------------
 *
 * fc_partition.h
 *	  Makes the missing partitions, and attaches them once filled.
 *
 * Leader only, never in parallel mode.  All of it runs as the caller, in the
 * caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTITION_H
#define FC_PARTITION_H

#include "fc_route.h"

/* A partition this load makes */
typedef struct FcNewPartition
{
	FcRange		range;			/* range.partition is its OID once created */
	char	   *name;			/* relation name, chosen by create */
} FcNewPartition;

/*
 * Checks what can be checked before any row is loaded: ownership of the
 * parent (42501), CREATE on its schema, and that the default partition (if
 * any) has no row that belongs to one of the ranges (23514).
 */
extern void fc_partition_precheck(Relation parent, const FcRoute *route,
								  FcNewPartition *parts, int nparts);

/* The name that a partition for this range would get */
extern char *fc_partition_name(Relation parent, const FcRoute *route,
							   const FcRange *range);

/* A key as text that means the same in every session */
extern char *fc_partition_key_text(FcKeyType type, int64 key);

/*
 * Creates stand-alone tables equal to what CREATE TABLE ... PARTITION OF
 * makes (indexes aside) and sets their OIDs and names.
 */
extern void fc_partition_create(Relation parent, const FcRoute *route,
								FcNewPartition *parts, int nparts);

/*
 * Before and after the calls that attach "parts": spares the default partition
 * the scan that each of them would make.  Locks the parent (SHARE UPDATE
 * EXCLUSIVE) and the default partition (ACCESS EXCLUSIVE) until commit, as the
 * first ATTACH would.  ERROR 23514 if a row has come to the default partition
 * since the precheck.  Pass what begin returned to end.
 */
extern Oid	fc_partition_attach_begin(Oid parentid, const FcRoute *route,
									  FcNewPartition *parts, int nparts);
extern void fc_partition_attach_end(Oid spared);

/*
 * Drops a created partition that has no rows, before any are attached.  The
 * caller has closed it.
 */
extern void fc_partition_drop(Oid partition);

/*
 * Attaches one created partition; the scan that would validate its rows is
 * spared by a constraint the loader vouches for, dropped afterwards.
 *
 * The caller has closed both tables and kept its locks: ALTER TABLE refuses
 * (55006) a table that this session holds open.
 */
extern void fc_partition_attach(Oid parentid, const FcRoute *route,
								FcNewPartition *part);

#endif							/* FC_PARTITION_H */
