/*-------------------------------------------------------------------------
 *
 * report/tell.h
 *	  Lines for the person who waits for a load: progress => '5s'.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TELL_H
#define FC_TELL_H

#include "load/job.h"

/* A NOTICE, if the last one is older than the interval asked for */
extern void fc_tell_progress(FcJob *job);

/* The next phase has begun: a NOTICE, if the load is older than the interval */
extern void fc_tell_phase(FcJob *job);

/* A NOTICE that all is done, if lines were asked for */
extern void fc_tell_end(FcJob *job);

#endif							/* FC_TELL_H */
