/*-------------------------------------------------------------------------
 *
 * accelerate.h
 *	  COPY ... FROM as it is, faster: fast_copy.accelerate_copy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ACCELERATE_H
#define FC_ACCELERATE_H

#include "nodes/parsenodes.h"

/* Is the COPY worth a closer look?  If not, core runs it as ever. */
extern bool fc_accelerate_may(const CopyStmt *stmt);

/*
 * Runs a COPY FROM in place of core, whose checks come first, with core's
 * errors: by a load, if the data are many and a load does all that COPY does,
 * else by core's CopyFrom.  Returns the number of rows.  "query" is the text
 * that the command stands in.
 */
extern uint64 fc_accelerate_run(const CopyStmt *stmt, const char *query);

#endif							/* FC_ACCELERATE_H */
