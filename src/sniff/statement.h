/*-------------------------------------------------------------------------
 *
 * sniff/statement.h
 *	  The statements that make a table for the source, and load it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_STATEMENT_H
#define FC_SNIFF_STATEMENT_H

#include "sniff/key.h"

/*
 * The two statements, each with comments.  "target" is the table as the
 * statements name it, "function" is fast_copy likewise.
 */
extern char *fc_statement_create(const FcTable *table, const FcKeyGuess *key, const char *target);
extern char *fc_statement_load(const FcTable *table, const FcKeyGuess *key, const char *target,
							   const char *function);

#endif							/* FC_SNIFF_STATEMENT_H */
