/*-------------------------------------------------------------------------
 *
 * fc_binary.h
 *	  Which ranges of keys a file in binary format has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BINARY_H
#define FC_BINARY_H

#include "fc_job.h"

/*
 * Core reads the whole file, up to its first error, and what it finds becomes
 * job->parts and job->created as for a scan; returns the rows read.  Ends the
 * progress of a COPY.
 */
extern uint64 fc_binary_scan(FcJob *job);

#endif							/* FC_BINARY_H */
