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

#include "heap/hold.h"
#include "heap/old_rows.h"
#include "index/index.h"
#include "intake/intake.h"
#include "partition/partition.h"

typedef struct FcJob
{
	FcTarget	target;
	FcProgress	progress;
	FcIntake	intake;
	MemoryContext mcxt;			/* for all that lives as long as the load */
	dsm_segment *converted;		/* owns the converted file */
	StringInfo	header;			/* the first file's last header line */

	FcPartman  *partman;		/* NULL: pg_partman does not manage the table,
								 * or no partitions are to be made */
	List	   *places;			/* OIDs of servers that get missing partitions;
								 * NIL: they are made here */
	bool		warned;			/* about small new partitions */

	struct FcLedger *ledger;	/* of the files, load/ledger.c; NULL: none */
	struct FcManifest *manifest;	/* load/manifest.c; NULL: there is none */
	char	   *rejects_job;	/* the load's name in reject_table; NULL: it
								 * has no rows there */
	List	   *parts;			/* FcSpillPart, by key */
	FcTree	   *tree;			/* where core routes: of what is missing */
	List	   *replaced;		/* leaves all of whose rows are replaced, by
								 * key */
	List	   *moved;			/* OIDs of leaves whose rows are moved; the
								 * default partition comes first */
	FcPick		pick;			/* where a row of these goes */
	uint64		moved_late;		/* rows that came while others were moved, and
								 * were moved, too */
	uint64		stayed;			/* ... or stayed in the default partition, as
								 * did those of which the move had read keys */
	const char *stays;			/* what more there is about their keys */
	bool		awaited;		/* another session waits for its lock on the
								 * target */
	FcSince		since;			/* when the source had been read, or rows to be
								 * merged or moved were chosen; its snapshot
								 * may be NULL */
	FcSince		filled;			/* when rows began to come; no snapshot */
	BlockNumber referring;		/* pages of tables with foreign keys that are
								 * to be looked at */
	List	   *exchange_schemas;	/* OIDs, of the substitutes */
	char	   *stage_schema;	/* the target's, for errors about rows of the
								 * stage; NULL: there is no stage */
	int64	   *keys;			/* of fc_presorted_look, if it is presorted */
	int			ntasks;
	uint32		nunits;			/* what processes take of these, one by one */
	FcTask	   *tasks;
	FcHold	   *hold;			/* tables that must stay as they are */
	TupleDesc	closed;			/* the target's, when it was closed */
	const char *lacks_elsewhere;	/* why core must load into foreign tables
									 * if the extension that sends is
									 * missing */
	struct FcSender *sender;	/* NULL: no records are sent to other
								 * servers */
	bool		sent;			/* all records were, and stay there */
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
 * Of an FcJob whose records are all checked: ERROR 22P02 if reject_limit allows
 * a smaller part of them, or of those of a file
 */
extern void fc_job_judge(void *arg);

/*
 * Loads the files in the caller's transaction; returns the number of rows.
 * "opened" has what the caller has opened already; NULL: nothing.
 */
extern uint64 fc_job_run(const FcOptions *options, const FcOpened *opened);

#endif							/* FC_JOB_H */
