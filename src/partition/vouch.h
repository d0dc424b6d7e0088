/*-------------------------------------------------------------------------
 *
 * partition/vouch.h
 *	  CHECK constraints that spare ATTACH the reading of rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_VOUCH_H
#define FC_VOUCH_H

#include "nodes/parsenodes.h"

#include "context/shared.h"

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
