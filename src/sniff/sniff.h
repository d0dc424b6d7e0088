/*-------------------------------------------------------------------------
 *
 * sniff/sniff.h
 *	  Guesses from a sample of the source what it has, and how to load it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_H
#define FC_SNIFF_H

#include "options/options.h"

/*
 * Returns statements, as char *: one that makes a table, and a call of
 * "function" that loads the source into it.  Of the options, the sources are
 * set and all are checked; what the caller gave is taken as it is.  "target" is
 * the name of the table, or NULL.  Nothing is written.  Throws the errors of a
 * load for sources that cannot be opened, and ERROR 22P04 for what is no text.
 */
extern List *fc_sniff_run(const FcOptions *options, const char *target, const char *function);

#endif							/* FC_SNIFF_H */
