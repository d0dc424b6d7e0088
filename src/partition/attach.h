/*-------------------------------------------------------------------------
 *
 * partition/attach.h
 *	  Attaches the new partitions of a load, once they are filled.
 *
 * Leader only, never in parallel mode.  All of it runs as the caller, in the
 * caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ATTACH_H
#define FC_ATTACH_H

#include "tcop/utility.h"

#include "context/shared.h"

/* Do event triggers or other extensions see commands, or what they do? */
extern bool fc_attach_is_watched(void);

/*
 * Tells which hook of ProcessUtility is ours, and which one it calls next.
 * Ours looks at COPY alone, and does not count as one that sees commands.
 */
extern void fc_attach_pass_over(ProcessUtility_hook_type ours,
								ProcessUtility_hook_type before);

/* State from fc_partition_attach_begin to fc_partition_attach_end */
typedef struct FcAttach
{
	Oid			parent;
	const FcRoute *route;
	const FcNewPartition *parts;
	Oid		   *guards;			/* a CHECK for each of "parts", or NULL */
	Oid			spared;			/* the default partition's CHECK, or
								 * InvalidOid */
	const char *reason;			/* why ATTACH is needed after the first */
	bool		vouched;		/* are all rows known to be in their place? */
	bool		first;			/* is none attached yet? */
	bool		untold;			/* are some attached of which sessions have
								 * not been told yet? */
	MemoryContext mcxt;			/* for the work on one partition */
} FcAttach;

/*
 * Returns the first of the new partitions whose range overlaps that of an
 * existing one, which *other is set to; NULL if there is none.  A partition
 * that is pending DETACH exists, though no row goes to it.
 */
extern const FcNewPartition *fc_partition_overlap(Relation parent,
												  const FcNewPartition *parts,
												  int nparts, Oid *other);

/*
 * The caller attaches "parts" between these two, and does not look at the
 * parent's partitions meanwhile.  "vouched": only the load can have written to
 * them, and it has compared all keys.
 *
 * As ATTACH would, the first locks the parent (SHARE UPDATE EXCLUSIVE) and the
 * default (ACCESS EXCLUSIVE) until commit.  It reads the latter once: ERROR
 * 23514 for a row of "parts".
 */
extern void fc_partition_attach_begin(FcAttach *attach, Oid parentid,
									  const FcRoute *route,
									  FcNewPartition *parts, int nparts,
									  bool vouched);
extern void fc_partition_attach_end(FcAttach *attach);

/*
 * Attaches one created partition.  Its rows are not read if the load vouches
 * for them; else a row in the wrong partition is core's ERROR 23514.
 *
 * The caller has closed both tables and kept its locks: ALTER TABLE refuses
 * (55006) a table that this session holds open.
 */
extern void fc_partition_attach(FcAttach *attach, const FcNewPartition *part);

#endif							/* FC_ATTACH_H */
