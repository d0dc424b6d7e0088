/*-------------------------------------------------------------------------
 *
 * intake/receive.h
 *	  What programs print, or the client sends, as source of a load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECEIVE_H
#define FC_RECEIVE_H

#include "load/job.h"

/*
 * Makes job->source of what programs, or the client, give now.  Or of its first
 * bytes only, if the rest can be received while it is scanned: job->incoming is
 * what is to come then.
 */
extern void fc_receive(FcJob *job);

/* The rest, before any other phase */
extern void fc_receive_rest(FcJob *job);

/* ... or beside the scan, as FcContext.lead with the job as argument */
extern void fc_receive_lead(void *arg);

/* What was received, for the report */
extern char *fc_receive_choice(const FcJob *job);

#endif							/* FC_RECEIVE_H */
