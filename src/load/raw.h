/*-------------------------------------------------------------------------
 *
 * load/raw.h
 *	  May the records of leaves on other servers be sent as they are?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_RAW_H
#define FC_LOAD_RAW_H

#include "load/job.h"

/*
 * Returns why core must load because of this foreign table, which is the target
 * or a leaf of it; NULL: its records can be sent as they are.
 */
extern const char *fc_raw_refusal(const FcTarget *target, Relation foreign);

/*
 * Before the way is final: takes FC_WAY_SEND if all leaves are on other servers
 * and their records can be sent, and FC_WAY_COPY if the target is a foreign
 * table for which they cannot.  Sets job->foreign.  ERROR 0A000 if the target
 * has shards, and records cannot be sent there.
 */
extern void fc_raw_foresee(FcJob *job);

/*
 * The same once all leaves, or shards, are locked: are still all leaves such
 * ones?  If not, takes the way of a load of leaves on this server.
 */
extern bool fc_raw_confirm(FcJob *job);

#endif							/* FC_LOAD_RAW_H */
