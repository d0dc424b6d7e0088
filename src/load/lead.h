/*-------------------------------------------------------------------------
 *
 * load/lead.h
 *	  What the leader does for each phase: runs it in workers or alone, takes
 *	  back what code of users has left behind, and reports.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_LEAD_H
#define FC_LOAD_LEAD_H

#include "load/job.h"
#include "phase/phases.h"

/*
 * Begins a phase in report and progress, if the source is whole; else it begins
 * with fc_lead_run
 */
extern void fc_lead_begin(FcJob *job, FcPhase phase);

/*
 * Runs a phase over so many chunks or tasks, in workers or in the leader
 * alone.  Returns the number of processes that worked.  If the source is still
 * to be unpacked or received, that is done meanwhile, and the source is whole
 * afterwards.
 */
extern int	fc_lead_run(FcJob *job, FcPhase phase, uint32 units, FcWork *work);

/*
 * Unpacks the packed files of target->source ahead of all other phases, before
 * there is job->segment, and makes their copies the source
 */
extern void fc_lead_unpack(FcJob *job);

/*
 * Calls "phase", in which the leader may run code of users, in a
 * subtransaction that is rolled back.  When an error of such code was caught,
 * the transaction goes on, and what the code has left must go.
 */
extern void fc_lead_apart(FcJob *job, void (*phase) (FcJob *job));

/* Gives the leader the load's tasks again, after a phase with other tasks */
extern void fc_lead_take_up_tasks(FcJob *job);

/* Ends the phase in the report; rows and bytes are -1 if unknown */
extern void fc_lead_report(FcJob *job, int processes, int64 rows, int64 bytes,
						   char *choice);

/* Once the records are counted: a row of the report for each file of several */
extern void fc_lead_report_files(FcJob *job);

/* Says for the report how many chunks there are */
extern char *fc_lead_split_choice(const FcJob *job);

#endif							/* FC_LOAD_LEAD_H */
