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
 * From here on the session's COPY FROM commands with the option fast_copy are
 * loads by fast_copy.  All others are as they were.
 */
extern void fc_statement_define(void);

/*
 * A load as fast_copy() wants it, which others' hooks see as a COPY; its rows.
 * The options are not checked yet: what they say is an error of the load.
 */
extern uint64 fc_statement_call(FcOptions *options);

#endif							/* FC_COPY_STATEMENT_H */
