/*-------------------------------------------------------------------------
 *
 * partition/create.h
 *	  Makes the missing partitions, and attaches them once filled.
 *
 * Leader only, never in parallel mode.  All of it runs as the caller, in the
 * caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CREATE_H
#define FC_CREATE_H

#include "context/shared.h"

/* ERROR 42501 if the caller may not make partitions: the parent is another's */
extern void fc_partition_check_owner(Relation parent);

/*
 * Checks what can be checked before any row is loaded: ownership of the
 * parent (42501), its owner's CREATE on its schema, and that the default
 * partition (if any) has no row that belongs to one of the ranges (23514).
 */
extern void fc_partition_precheck(Relation parent, const FcRoute *route,
								  FcNewPartition *parts, int nparts);

/* The name that a partition for this range would get */
extern char *fc_partition_name(Relation parent, const FcRoute *route,
							   const FcRange *range);

/*
 * Creates stand-alone tables equal to what CREATE TABLE ... PARTITION OF
 * makes (indexes aside), for the target, and sets their OIDs and names.  They
 * belong to the target's owner.  The schema keeps its name until the
 * transaction ends.
 */
extern void fc_partition_create(FcContext *ctx, const FcRoute *route,
								FcNewPartition *parts, int nparts);

/* Between attach_begin and attach_end */
typedef struct FcAttach
{
	Oid			parent;
	const FcRoute *route;
	const FcNewPartition *parts;
	Oid		   *guards;			/* a CHECK of each of them, or NULL */
	Oid			spared;			/* the default partition's CHECK, or InvalidOid */
	const char *reason;			/* why ATTACH is needed after the first */
	bool		vouched;		/* are all rows known to be where they belong? */
	bool		first;			/* is none attached yet? */
	bool		untold;			/* does the parent's cache entry lack some? */
	MemoryContext mcxt;			/* of one partition */
} FcAttach;

/*
 * Before and after the calls that attach "parts".  Begin spares the default
 * partition the scan that each of them would make.  It locks the parent (SHARE
 * UPDATE EXCLUSIVE) and the default partition (ACCESS EXCLUSIVE) until commit,
 * as the first ATTACH would.  ERROR 23514 if a row has come to the default
 * partition since the precheck.  Nobody may look at the parent's partitions
 * before end.  "vouched": nobody but the loader can have written to the new
 * partitions, and it has compared each row's key with the bounds.
 */
extern void fc_partition_attach_begin(FcAttach *attach, Oid parentid,
									  const FcRoute *route,
									  FcNewPartition *parts, int nparts,
									  bool vouched);
extern void fc_partition_attach_end(FcAttach *attach);

/*
 * Drops a created partition that has no rows, before any are attached.  The
 * caller has closed it.
 */
extern void fc_partition_drop(Oid partition);

/*
 * Attaches one created partition.  Its rows are not read if they are vouched
 * for; else a row in the wrong partition is core's ERROR 23514.
 *
 * The caller has closed both tables and kept its locks: ALTER TABLE refuses
 * (55006) a table that this session holds open.
 */
extern void fc_partition_attach(FcAttach *attach, const FcNewPartition *part);

#endif							/* FC_CREATE_H */
