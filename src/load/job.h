/*-------------------------------------------------------------------------
 *
 * load/job.h
 *	  One load, as its leader sees it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_JOB_H
#define FC_JOB_H

#include "datatype/timestamp.h"
#include "portability/instr_time.h"

#include "context/shared.h"
#include "options/options.h"
#include "options/plan.h"
#include "partition/create.h"
#include "partition/index_define.h"
#include "partition/partman.h"
#include "source/recode.h"

/* What a program or the client still has to give, see intake/receive.c */
typedef struct FcIncoming FcIncoming;

typedef struct FcJob
{
	FcOptions  *options;
	FcPlan	   *plan;
	MemoryContext mcxt;			/* everything of the load */
	Oid			target;
	char	   *relname;		/* for error contexts */
	Relation	rel;			/* open except while DDL runs; locked */
	FcRoute    *route;			/* if plan->key_routes, as of the scan */
	FcPartman  *partman;		/* NULL: partitions are not kept by it, or not to
								 * be made */
	FcSource   *source;			/* what is loaded: the files or ... */
	FcSource   *original;		/* NULL, or what source is converted from */
	dsm_segment *converted;		/* owns the converted file */
	FcSource   *packed;			/* NULL, or what the files were before they were
								 * unpacked */
	dsm_segment *unpacked;		/* owns the copies of what was packed, received */
	FcSource   *received;		/* NULL, or those as they came: good for another
								 * job, too */
	bool		inflow;			/* a later phase is to unpack the files: until then,
								 * source has the first bytes of each ... */
	uint64		expected;		/* ... and there will be about so many */
	FcIncoming *incoming;		/* then, NULL or what the leader receives */
	bool		cut;			/* its end was not wanted: the load must fail */
	uint64		packed_size;	/* bytes to be unpacked; 0: nobody knows */
	pg_atomic_uint64 *taken;	/* ... of which so many have been */
	bool		unconvertible;	/* a file cannot be converted */
	FcRecodeFault fault;		/* then, why */
	dsm_segment *segment;		/* of shared; owns the spill files */
	FcShared   *shared;
	FcContext	ctx;			/* the leader's own side */
	FcDialect	dialect;
	uint64		data_size;		/* bytes behind the headers */
	bool		unsettled;		/* that of a file is */
	char	   *header;			/* the first file's last header line */
	size_t		header_len;
	int			nworkers;		/* asked for */
	bool		attach_first;	/* before the rows come, see load/run.c */
	bool		gives_way;		/* to maintenance of pg_partman, and starts again */
	const char *core_reason;	/* as in the plan, or found out later */
	uint64		found;			/* records in the file ... */
	bool		counted;		/* ... known from the split */
	uint64		loaded;

	bool		spill_rows;		/* they are what a load spills */
	List	   *parts;			/* FcSpillPart, by key */
	int64	   *keys;			/* of fc_order_look, if the file is streamed */
	int			ncreated;
	FcNewPartition *created;	/* by key */
	int			ntasks;
	FcTask	   *tasks;
	int			ngroups;		/* leaves with rows */
	List	   *held;			/* tables that take rows, until they are indexed */
	List	   *files;			/* FcNewFile, until the load has ended */
	int			nindexes;
	FcIndexTask *indexes;

	FcPhase		phase;
	int			launched;		/* workers, in the phase with the most */
	int			attached;		/* partitions, in this phase */
	int			analyzed;		/* tables ... */
	int			nanalyzed;		/* ... of so many */
	double		index_cost;		/* of all indexes, see shared->built */
	bool		reporting;		/* the report is this load's */
	bool		shown;			/* the progress slot is ours, not core's */
	TimestampTz told;			/* when the last line of progress was sent */
	double		alone;			/* of the phase's workers, see FcWork */
	TimestampTz start;
	instr_time	phase_start;
	instr_time	stream_start;	/* of unpack or receive */
	uint64		phase_wal;		/* bytes of WAL until then, of this backend */
} FcJob;

#endif							/* FC_JOB_H */
