/*-------------------------------------------------------------------------
 *
 * load/job.h
 *	  One load, as its leader sees it.
 *
 * Each room gets its part of the job: the target (options/target.h), progress
 * for report/, the intake for intake/.  The rest is load/'s alone.  Rooms
 * below load/ must not know the job itself, and within load/ a function takes
 * the target if it needs no more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_JOB_H
#define FC_JOB_H

#include "context/shared.h"
#include "heap/hold.h"
#include "heap/old_rows.h"
#include "index/index.h"
#include "intake/intake.h"
#include "options/target.h"
#include "partition/partition.h"
#include "partition/partman.h"
#include "report/report.h"
#include "source/recode.h"

typedef struct FcJob
{
	FcTarget	target;
	FcProgress	progress;
	FcIntake	intake;
	MemoryContext mcxt;			/* everything of the load */
	dsm_segment *segment;		/* of target.shared; owns the spill files */
	dsm_segment *converted;		/* owns the converted file */
	FcRecodeFault fault;		/* why target.facts.unconvertible is set */
	char	   *header;			/* the first file's last header line */
	size_t		header_len;

	FcPartman  *partman;		/* NULL: pg_partman does not keep the table,
								 * or no partitions are to be made */
	List	   *places;			/* OIDs of the servers that get the missing
								 * partitions; NIL: they are made here */
	bool		warned;			/* that new partitions are small */

	struct FcLedger *ledger;	/* of the files, load/ledger.c; NULL: none */
	char	   *rejects_job;	/* what reject_table calls the load; NULL:
								 * nothing */
	List	   *parts;			/* FcSpillPart, by key */
	List	   *replaced;		/* leaves all of whose rows are replaced, by
								 * key */
	FcSince		since;			/* when the source had been read, or the rows
								 * to be merged; its snapshot may be NULL */
	List	   *exchange_schemas;	/* OIDs, of the substitutes */
	char	   *stage_schema;	/* that of the target, which errors about rows
								 * of the stage tell; NULL: there is none */
	int64	   *keys;			/* of fc_presorted_look, if it is presorted */
	int			ntasks;
	FcTask	   *tasks;
	FcHold	   *hold;			/* tables that are kept as they are */
	TupleDesc	closed;			/* the target's, when it was closed */
	const char *lacks_elsewhere;	/* why core would have to load into foreign
									 * tables: the extension that sends is not
									 * there */
	struct FcSender *sender;	/* of records to other servers; NULL: none are
								 * sent */
	List	   *files;			/* FcNewFile, until the load has ended */
	FcIndexTask *indexes;		/* target.nindexes */
} FcJob;

/*
 * load/run.c
 */

/*
 * Splits, scans and checks the files, and writes nothing.  The caller may look
 * at the job, and ends it by fc_setup_end.
 */
extern FcJob *fc_job_analyze(const FcOptions *options);

/*
 * Loads the file in the caller's transaction; returns the number of rows.
 * opened is what the caller has got for the load already; NULL: nothing.
 */
extern uint64 fc_job_run(const FcOptions *options, const FcOpened *opened);

#endif							/* FC_JOB_H */
