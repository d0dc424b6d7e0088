/*-------------------------------------------------------------------------
 *
 * copy_statement.h
 *	  COPY ... FROM ... WITH (fast_copy, ...), a COPY command that is ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COPY_STATEMENT_H
#define FC_COPY_STATEMENT_H

#include "options/options.h"

/*
 * From this call on the session's COPY FROM commands with the option
 * fast_copy are loads by fast_copy, and so may be plain ones while
 * fast_copy.accelerate_copy is on; all others stay core's.
 */
extern void fc_statement_define(void);

/*
 * Runs a load of fast_copy(), which hooks of other extensions see as a COPY.
 * Returns its number of rows.  The options are not checked yet: the load
 * throws the errors of their values.
 */
extern uint64 fc_statement_call(FcOptions *options);

#endif							/* FC_COPY_STATEMENT_H */
