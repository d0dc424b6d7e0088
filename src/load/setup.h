/*-------------------------------------------------------------------------
 *
 * load/setup.h
 *	  From options to a job that can start: privileges, file, header, shared
 *	  memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SETUP_H
#define FC_SETUP_H

#include "load/job.h"

/*
 * The first makes a job, and the second makes it ready to run, both in the
 * memory context of the load.  "opened" and "ledger" may be NULL.  The second
 * throws COPY's errors for privileges, target, files and header.
 */
extern FcJob *fc_setup_begin(const FcOptions *options, const FcOpened *opened,
							 struct FcLedger *ledger);
extern void fc_setup_job(FcJob *job);

/*
 * Makes the segment of a load of one source of so many bytes, PG_UINT64_MAX if
 * nobody knows how many.  Only creating it tells whether there is enough
 * shared memory, of which a container may have little.  If not, returns NULL,
 * with nothing changed: core can do this load without any.
 */
extern dsm_segment *fc_setup_segment(const FcOptions *options, uint64 size);

/* Closes what setup opened, and checks that no file changed; keeps the lock */
extern void fc_setup_end(FcJob *job);

/* Open and close the target, which the leader closes while it does DDL */
extern void fc_setup_open_target(FcJob *job);
extern void fc_setup_close_target(FcJob *job);

/* The number of workers for so many bytes of rows */
extern int	fc_setup_workers(const FcTarget *target, uint64 bytes);

#endif							/* FC_SETUP_H */
