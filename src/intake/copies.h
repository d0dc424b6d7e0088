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
 * May the scan, or a load without one, go on while the files are unpacked or
 * received?  Only with so many workers at least, and if nobody must read a row
 * before.  A plan that is not made yet may forbid it later.
 */
extern bool fc_intake_may_flow(const FcIntake *intake, int least);

/* Does the plan allow it? */
extern bool fc_intake_plan_flows(const FcPlanned *planned);

/*
 * Makes the segment, intake->unpacked, for so many processes that make
 * temporary copies of the files of a source; NULL: of what is to be received.
 * With "flows" these processes find chunks, too.
 */
extern FcUnpackArea *fc_area_share(FcIntake *intake, const FcSource *source,
								   uint32 npacked, int processes, bool flows);

/*
 * Begin and end the phase that unpacks or receives before all others; with it
 * begins the load's report.  "bytes" is the packed size, 0 if it is not known.
 */
extern void fc_intake_begin(FcIntake *intake, FcPhase phase, uint64 bytes);
extern void fc_intake_end(FcIntake *intake, int processes, char *choice);

/* Adds the row for the phase, which ended at "end", to the report */
extern void fc_intake_report(const FcIntake *intake, FcPhase phase, instr_time end,
							 int processes, char *choice);

/* The number of workers that unpack so many packed bytes */
extern int	fc_intake_workers(const FcIntake *intake, uint64 bytes);

#endif							/* FC_COPIES_H */
