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
 * Takes copies of the source's files that are packed, unpacked, and makes the
 * source read those; what it was is intake->packed then.  Files that are not
 * packed are read where they are.
 *
 * Where a scan can go on beside that, it reads no more than the heads of the
 * files: target->inflow is set then, and target->source has the heads.
 */
extern void fc_intake_unpack(FcIntake *intake);

/*
 * Unpacks all after all, if what has been learned of the load since speaks
 * against doing it beside the scan.
 */
extern void fc_intake_settle(FcIntake *intake);

/*
 * Before the scan that unpacks; while it goes on, as FcContext.progress, whose
 * arg is the FcIntake; and after it, by so many processes: target->source has
 * the files then.  ERROR as for unpacking.
 */
extern void fc_intake_flow(FcIntake *intake);
extern void fc_intake_progress(void *arg);
extern void fc_intake_flowed(FcIntake *intake, int processes);

#endif							/* FC_INTAKE_H */
