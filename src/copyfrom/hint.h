/*-------------------------------------------------------------------------
 *
 * copyfrom/hint.h
 *	  What may be wrong with the call if core refuses a record.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HINT_H
#define FC_HINT_H

#include "options/options.h"

/* A record that core refuses */
typedef struct FcRefused
{
	const FcOptions *options;
	int			ncolumns;		/* of the target */
	bool		first;			/* the first one of a file */
	const char *column;			/* NULL: the error is not about a field */
	const char *value;			/* of the field as text, or NULL */
	const char *text;			/* of the record, at least its beginning; NULL:
								 * not known */
} FcRefused;

/*
 * Both are called in an error context callback, for a message about a record.
 * The first says whether it is an error that may get a hint and has none; the
 * second then gives it one, if another argument would probably avoid the error.
 */
extern bool fc_hint_is_due(const FcOptions *options);
extern void fc_hint(const FcRefused *refused);

#endif							/* FC_HINT_H */
