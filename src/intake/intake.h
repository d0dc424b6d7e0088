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

#include "intake/chunks.h"
#include "intake/copies.h"

/*
 * Unpacks packed files of the source to temporary copies, and makes the source
 * read those; intake->packed becomes the source as it was.  Files that are not
 * packed are read where they are.
 *
 * If a scan can go on beside that, it unpacks no more than the heads of the
 * files, sets target->inflow, and target->source has the heads.
 */
extern void fc_intake_unpack(FcIntake *intake);

/*
 * Unpacks all files at once, if the plan or the way forbids to do it beside
 * the scan.
 */
extern void fc_intake_settle(FcIntake *intake);

/*
 * With target->inflow, for the first phase: the leader calls the first before
 * it and the third after it.  From then on target->source has the whole files.
 * The second is his FcContext.progress, with the FcIntake as arg.  The third
 * throws ERROR for a file that cannot be unpacked.
 */
extern void fc_intake_flow(FcIntake *intake);
extern void fc_intake_progress(void *arg);
extern void fc_intake_flowed(FcIntake *intake);

#endif							/* FC_INTAKE_H */
