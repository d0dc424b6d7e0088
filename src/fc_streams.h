/*-------------------------------------------------------------------------
 *
 * fc_streams.h
 *	  Sources that can only be read once, from front to back: packed files,
 *	  programs, the client.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STREAMS_H
#define FC_STREAMS_H

#include "fc_job.h"

/*
 * Takes copies of the files of job->source that are packed, unpacked, and makes
 * the source read those; what it was is job->packed then.  Files that are not
 * packed are read where they are.
 */
extern void fc_streams_unpack(FcJob *job);

/* Makes job->source of what programs, or the client, give now */
extern void fc_streams_receive(FcJob *job);

#endif							/* FC_STREAMS_H */
