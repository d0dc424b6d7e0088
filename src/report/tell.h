/*-------------------------------------------------------------------------
 *
 * report/tell.h
 *	  Lines for the person who waits for a load: progress => '5s'.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TELL_H
#define FC_TELL_H

#include "report/figures.h"

/* A NOTICE, if the last one is older than the interval asked for */
extern void fc_tell_progress(FcProgress *progress);

/*
 * The next phase has begun: a NOTICE, if the load is older than the interval
 */
extern void fc_tell_phase(FcProgress *progress);

/* A NOTICE that all is done, if lines were asked for */
extern void fc_tell_end(FcProgress *progress);

#endif							/* FC_TELL_H */
