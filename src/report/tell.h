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
#include "report/report.h"

/* Sends a NOTICE, if the last one is older than the interval asked for */
extern void fc_tell_progress(FcProgress *progress);

/* At a phase's begin: a NOTICE, if the load is older than the interval */
extern void fc_tell_phase(FcProgress *progress);

/*
 * Sends the NOTICE that the load is done, once nothing can go wrong any more.
 * A plain COPY has none, which must look like core's; log_verbosity => 'silent'
 * asks for none.
 */
extern void fc_tell_end(const FcOptions *options, const FcTotals *totals);

#endif							/* FC_TELL_H */
