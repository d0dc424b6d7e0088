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

/* Words for the column of this name, or for all: NULL */
typedef struct FcNullWords
{
	char	   *column;
	StringInfo	words;			/* each after a '+' and with a NUL */
} FcNullWords;

/*
 * What null_strings says, as a list of FcNullWords.  ERROR 22023 or 22P02 if it
 * is not as it should be.
 */
extern List *fc_edits_null_strings(char *text);

/* Is s[0..len) one of the words? */
extern bool fc_edits_has_word(const FcNullWords *null, const char *s, size_t len);

/*
 * Sets the flags of the fields that are edited, and their words.  ERROR 42703
 * or 42P10 for a column that the table or the file does not have, 22023 or
 * 22P02 for null_strings that are not as they should be.
 */
extern void fc_edits_make(Relation rel, const FcOptions *options, FcColumns *columns);

#endif							/* FC_EDITS_H */
