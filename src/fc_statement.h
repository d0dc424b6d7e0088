/*-------------------------------------------------------------------------
 *
 * fc_statement.h
 *	  COPY ... FROM ... WITH (fast_copy, ...), a COPY command that is ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STATEMENT_H
#define FC_STATEMENT_H

/*
 * From here on the session's COPY FROM commands with the option fast_copy are
 * loads by fast_copy.  All others are as they were.
 */
extern void fc_statement_define(void);

#endif							/* FC_STATEMENT_H */
