/*-------------------------------------------------------------------------
 *
 * options/edits.h
 *	  What the caller says of values that are written otherwise than PostgreSQL
 *	  reads them: trim, null_strings and number_format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EDITS_H
#define FC_EDITS_H

#include "options/columns.h"

/*
 * Sets the flags of the fields that are edited, and their words.  ERROR 42703
 * or 42P10 for a column that the table or the file does not have, 22023 or
 * 22P02 for null_strings that are not as they should be.
 */
extern void fc_edits_make(Relation rel, const FcOptions *options, FcColumns *columns);

#endif							/* FC_EDITS_H */
