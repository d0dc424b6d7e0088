/*-------------------------------------------------------------------------
 *
 * load/run.h
 *	  Runs a load, or an analysis, phase by phase.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_RUN_H
#define FC_LOAD_RUN_H

#include "load/job.h"

/*
 * Splits, scans and checks the files, and writes nothing.  The caller may look
 * at the job, and ends it by fc_setup_end.
 */
extern FcJob *fc_job_analyze(const FcOptions *options);

/*
 * Loads the file in the caller's transaction; returns the number of rows.
 * opened is what the caller has got for the load already; NULL: nothing.
 */
extern uint64 fc_job_run(const FcOptions *options, const FcOpened *opened);

#endif							/* FC_LOAD_RUN_H */
