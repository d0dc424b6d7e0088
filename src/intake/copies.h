/*-------------------------------------------------------------------------
 *
 * intake/copies.h
 *	  Temporary copies of what can be read only once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COPIES_H
#define FC_COPIES_H


#include "intake/chunks.h"
#include "report/figures.h"

/* What a program or the client still has to give, see intake/receive.c */
typedef struct FcIncoming FcIncoming;

/* How the source of a load is read where it can be read only once */
typedef struct FcIntake
{
	FcTarget   *target;
	FcProgress *progress;
	FcSource   *packed;			/* NULL, or the files as they were named,
								 * before they were unpacked */
	FcSource   *received;		/* NULL, or what was received: good for
								 * another load, too */
	dsm_segment *unpacked;		/* owns the temporary copies of what was
								 * packed or received */
	FcIncoming *incoming;		/* NULL, or what the leader receives while
								 * workers load */
	bool		cut;			/* the rest was left out: the load must fail */
} FcIntake;

/*
 * May a scan go on beside unpacking, with so many workers at least?  Nobody
 * but the scan may want to see a row before.  A plan that is not made yet may
 * say no later.
 */
extern bool fc_intake_may_flow(const FcIntake *intake, int least);

/* Does the plan let a scan go on beside unpacking? */
extern bool fc_intake_plan_flows(const FcPlan *plan);

/*
 * The segment, which is intake->unpacked then, for so many processes that make
 * copies; of a source, unless it is still to come.
 */
extern FcUnpackArea *fc_area_share(FcIntake *intake, const FcSource *source,
								   uint32 npacked, int processes);

/*
 * The report of the load begins here, as the first of its phases does; and
 * ends
 */
extern void fc_intake_begin(FcIntake *intake, FcPhase phase, uint64 bytes);
extern void fc_intake_end(FcIntake *intake, int processes, char *choice);

/* Adds the row for the phase, which ended at "end", to the report */
extern void fc_intake_report(const FcIntake *intake, FcPhase phase, instr_time end,
							 int processes, char *choice);

/* Opens a temporary copy that has all files, one after the other */
extern FcSource *fc_intake_open_copy(const char *path, FcFile *files,
									 uint32 nfiles, char *paths);

/* Workers for so many packed bytes */
extern int	fc_intake_workers(const FcIntake *intake, uint64 bytes);

#endif							/* FC_COPIES_H */
