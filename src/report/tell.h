/*-------------------------------------------------------------------------
 *
 * report/tell.h
 *	  Lines of progress for the client of a load: progress => '5s'.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TELL_H
#define FC_TELL_H

#include "report/figures.h"

/* Sends a NOTICE, if the last one is older than the interval asked for */
extern void fc_tell_progress(FcProgress *progress);

/* At a phase's begin: a NOTICE, if the load is older than the interval */
extern void fc_tell_phase(FcProgress *progress);

/* Sends a NOTICE that all is done, if lines were asked for */
extern void fc_tell_end(FcProgress *progress);

#endif							/* FC_TELL_H */
