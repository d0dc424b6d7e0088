/*-------------------------------------------------------------------------
 *
 * options/target.h
 *	  What is loaded, where to and how, as the leader knows it.
 *
 * The leader alone has it, for as long as the load lasts; what workers need of
 * it is in FcShared.  load/ fills it in, and gives it to the rooms below.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TARGET_H
#define FC_TARGET_H

#include "options/options.h"
#include "options/plan.h"

typedef struct FcTarget
{
	FcOptions  *options;
	FcPlan	   *plan;			/* NULL until it is made */
	FcWay		way;			/* load/way.c decides */
	const char *core_reason;	/* FC_WAY_COPY: why core loads */
	int			nworkers;		/* asked for */

	/* where to */
	Oid			oid;
	char	   *relname;		/* for error contexts */
	Relation	rel;			/* open except while DDL runs; locked */
	FcRoute    *route;			/* if plan->key_routes, as of the scan */
	int			ncreated;		/* partitions that the load makes */
	FcNewPartition *created;	/* by key */
	int			ngroups;		/* leaves with rows */
	int			nindexes;		/* that the load builds */

	/* what */
	FcSource   *source;			/* the files, or copies of them */
	FcSource   *original;		/* NULL, or what source is converted from */
	bool		inflow;			/* a later phase is to unpack the files: until
								 * then, source has the first bytes of each */
	uint64		expected;		/* then, about so many bytes there will be */
	FcDialect	dialect;
	bool		unsettled;		/* only core can tell how the lines of a file
								 * end */
	bool		unconvertible;	/* a file cannot be converted */
	uint64		data_size;		/* bytes after the headers */
	uint64		found;			/* records in the files; 0: not counted yet */
	bool		counted;		/* the split has counted them */
	uint64		loaded;			/* rows */

	/* how far it has come */
	FcShared   *shared;			/* NULL until it is made */
	FcContext	ctx;			/* the leader's own side */
} FcTarget;

#endif							/* FC_TARGET_H */
