/*-------------------------------------------------------------------------
 *
 * partition/vouch.h
 *	  What spares ATTACH the reading of rows: one look at the default partition,
 *	  and CHECK constraints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_VOUCH_H
#define FC_VOUCH_H

#include "nodes/parsenodes.h"

#include "context/shared.h"

/*
 * ERROR 23514 if the default partition has a row that belongs to one of
 * "parts".  True if it has rows, but none of these; false if it has none, or
 * is foreign or partitioned, which ATTACH deals with itself.
 */
extern bool fc_vouch_check_default(Relation defrel, Relation parent, const FcRoute *route,
								   const FcNewPartition *parts, int nparts);

/* Returns FOR VALUES as the parser makes it */
extern PartitionBoundSpec *fc_vouch_bound(Relation parent, FcKeyType type,
										  const FcRange *range);

/* Vouches for the rows of a new partition; returns the OID of its CHECK */
extern Oid	fc_vouch_for_part(Oid parentid, const FcRoute *route,
							  const FcNewPartition *part);

/* Vouches for the rows of all of "parts"; returns the OIDs of their CHECKs */
extern Oid *fc_vouch_for_parts(Oid parentid, const FcRoute *route,
							   const FcNewPartition *parts, int nparts);

/*
 * Vouches that no row of the default partition belongs to "parts"; returns the
 * OID of its CHECK
 */
extern Oid	fc_vouch_for_default(Relation defrel, Relation parent, FcKeyType type,
								 const FcNewPartition *parts, int nparts);

#endif							/* FC_VOUCH_H */
