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
 * Returns two statements as one text: one makes a table, named "target" if that
 * is not NULL; the other is a call of "function" that loads the source into it.
 * If there is a table "target", it is the call for that alone.
 * All options are checked, and hold; sources must be given.  Throws the errors
 * of a load for sources that cannot be opened, ERROR 22P04 for what is no
 * text.
 */
extern char *fc_sniff_run(const FcOptions *options, const char *target, const char *function);

#endif							/* FC_SNIFF_H */
