/*-------------------------------------------------------------------------
 *
 * copyfrom/find_keys.h
 *	  Which ranges of keys core finds in a file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIND_KEYS_H
#define FC_FIND_KEYS_H

#include "load/job.h"

/*
 * Core reads the whole file, up to its first error, and what it finds becomes
 * job->parts and job->created as for a scan; returns the rows read.  Ends the
 * progress of a COPY.
 */
extern uint64 fc_core_keys(FcJob *job);

#endif							/* FC_FIND_KEYS_H */
