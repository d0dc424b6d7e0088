/*-------------------------------------------------------------------------
 *
 * load/send.h
 *	  Records of leaves on other servers: the leader's conduct.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_SEND_H
#define FC_LOAD_SEND_H

#include "load/job.h"

/*
 * If job->sends.  The first, before the phase load, begins the COPYs, so that
 * the leader sends while workers load.  The second, after it, ends them, and
 * keeps an error about a record.  The third adds what was sent to the report.
 */
extern void fc_send_start(FcJob *job);
extern void fc_send_stop(FcJob *job);
extern void fc_send_end_job(FcJob *job);

/* Rows that were sent, as the servers have counted them */
extern uint64 fc_send_job_rows(const FcJob *job);

/*
 * FC_WAY_SEND: finds and sends all records of the files, and throws the first
 * error about one.  False, with nothing sent, if another way must be taken: a
 * partition is missing or on this server.
 */
extern bool fc_send_whole(FcJob *job);

#endif							/* FC_LOAD_SEND_H */
