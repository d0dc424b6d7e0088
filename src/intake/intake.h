/*-------------------------------------------------------------------------
 *
 * intake/intake.h
 *	  Sources that can only be read once, from front to back: packed files,
 *	  programs, the client.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INTAKE_H
#define FC_INTAKE_H

#include "intake/pieces.h"
#include "report/report.h"

/* What a program or the client still has to give, see intake/receive.c */
typedef struct FcIncoming FcIncoming;

/* What was received comes only once: it outlives a load that gives way */
typedef struct FcReceived
{
	FcSource   *source;			/* NULL: nothing was received */
	dsm_segment *copies;		/* owns its temporary copy */
	FcInput    *given_up;		/* its sender has failed; or NULL */
	bool		cut;			/* the rest was left out: the load must fail */
} FcReceived;

/* How the source of a load is read where it can be read only once */
typedef struct FcIntake
{
	FcTarget   *target;
	FcProgress *progress;
	FcSource   *packed;			/* NULL, or the files as they were named,
								 * before they were unpacked */
	FcReceived	received;
	dsm_segment *unpacked;		/* owns the temporary copies of what was
								 * packed or received */
	FcIncoming *incoming;		/* NULL, or what the leader receives while
								 * workers load */
	char	   *choice;			/* for the report: what it is */
} FcIntake;

/*
 * Must packed files of the source be unpacked ahead of all other phases?
 * ERROR for a kind that cannot be unpacked.  If a scan or a load can go on
 * beside it, this unpacks the heads of the files, makes them target->source,
 * which grows, and returns false.
 */
extern bool fc_intake_unpack_ahead(FcIntake *intake);

/*
 * After that, and the phase: makes target->source read the copies, and
 * intake->packed what it was; ERROR if a file cannot be unpacked.
 */
extern void fc_intake_end_unpack(FcIntake *intake);

/*
 * How many workers a phase takes that only unpacks: none if the leader alone
 * is as fast, with a single piece, nor for what he alone receives
 */
extern int	fc_intake_unpackers(const FcIntake *intake);

/*
 * With a source that grows.  The leader calls the first before the first
 * phase, the second in it, as FcContext.progress with the FcIntake, and the
 * third after it.  The third makes the whole files target->source; ERROR for a
 * file that cannot be unpacked.
 */
extern void fc_intake_flow(FcIntake *intake);
extern void fc_intake_progress(void *arg);
extern void fc_intake_flowed(FcIntake *intake);

/*
 * May the scan, or a load without one, go on while data come?  Only with at
 * least "least" workers, and if no row must be read before.  The plan, if it
 * is made later, may still forbid it.
 */
extern bool fc_intake_may_flow(const FcIntake *intake, int least);

/*
 * Do the heads have header and first record, and a little more?  "cut" says
 * which heads are not whole files; NULL: none is.
 */
extern bool fc_intake_suffices(const FcIntake *intake, const FcSource *source,
							   const bool *cut);

/*
 * Makes the segment, intake->unpacked, for so many processes that make
 * temporary copies of the files of a source; NULL: of what is to be received.
 * With "flows" these processes find chunks, too.
 */
extern FcUnpackArea *fc_intake_share(FcIntake *intake, const FcSource *source,
								   uint32 npacked, int processes, bool flows);

/*
 * Begin and end the phase that unpacks or receives before all others; with it
 * begins the load's report.  progress->packed_size is set, if it is known.
 */
extern void fc_intake_begin(FcIntake *intake, FcPhase phase);
extern void fc_intake_end(FcIntake *intake, int processes);

/*
 * Receives what programs print or the client sends, and makes it
 * target->source.  If the rest can be received while it is scanned or loaded,
 * this receives the first bytes only, and sets intake->incoming.
 */
extern void fc_receive(FcIntake *intake);

/* Receives all that the client sends, as if it were loaded, and drops it */
extern void fc_receive_pass_over(const FcOptions *options);

/* FcContext.lead: receives some of the rest; arg is the FcIntake */
extern bool fc_receive_lead(void *arg);

/*
 * After all rows that have come are loaded: ERROR 57014 if the client has given
 * up before its data were whole, or the error of a program that has failed
 */
extern void fc_receive_check_whole(const FcIntake *intake);

/* Is what is received packed? */
extern bool fc_receive_is_packed(const FcIncoming *incoming);

/* Returns the bytes of a ring for nworkers workers and chunks of this size */
extern Size fc_receive_ring_size(int nworkers, uint64 chunk_size);

#endif							/* FC_INTAKE_H */
