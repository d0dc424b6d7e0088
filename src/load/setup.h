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
 * A job that has begun, and gets ready; both in the memory context of the load
 */
extern FcJob *fc_setup_begin(FcOptions *options);
extern void fc_setup_job(FcJob *job);

/* Closes what setup opened; the target's lock is kept */
extern void fc_setup_end(FcJob *job);

/* (Re)opens and closes the target: DDL wants it closed */
extern void fc_setup_open_target(FcJob *job);
extern void fc_setup_close_target(FcJob *job);

#endif							/* FC_SETUP_H */
