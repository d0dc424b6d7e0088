/*-------------------------------------------------------------------------
 *
 * copyfrom/refused.h
 *	  A record that core refuses, as hints look at it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REFUSED_H
#define FC_REFUSED_H

#include "options/target.h"

typedef enum FcRefusedFor
{
	FC_REFUSED_NOTHING,			/* nothing that a hint may be given about */
	FC_REFUSED_VALUE,			/* a value that its type refuses */
	FC_REFUSED_MISSING,			/* too few fields */
	FC_REFUSED_EXTRA,			/* too many */
	FC_REFUSED_HEADER,			/* a header that does not match */
	FC_REFUSED_BYTES			/* bytes that are no characters */
} FcRefusedFor;

/* A record that core refuses */
typedef struct FcRefused
{
	const FcTarget *target;
	FcRefusedFor what;
	uint32		file;
	bool		first;			/* it is the first record of the file */
	uint64		offset;			/* where it is */
	uint64		length;
	const char *column;			/* NULL: the error is not about a field */
	const char *value;			/* of the field as text, or NULL */
	const char *text;			/* of the record, at least its beginning; NULL:
								 * not known */
} FcRefused;

#endif							/* FC_REFUSED_H */
