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
#include "load/job.h"

/*
 * Takes copies of the files of job->source that are packed, unpacked, and makes
 * the source read those; what it was is job->packed then.  Files that are not
 * packed are read where they are.
 */
extern void fc_streams_unpack(FcJob *job);

/*
 * Or leaves that to the scan, and reads no more than the heads of the files:
 * job->inflow is set then, and job->source has the heads.  fc_streams_settle changes its
 * mind if what has been learned of the load since speaks against it.
 */
extern void fc_streams_settle(FcJob *job);

/*
 * Before that scan, and while it goes on, as FcContext.progress; and behind it, by
 * so many processes: job->source has the files then.  ERROR as for unpacking.
 */
extern void fc_streams_flow(FcJob *job);
extern void fc_streams_progress(void *arg);
extern void fc_streams_flowed(FcJob *job, int processes);

#endif							/* FC_INTAKE_H */
