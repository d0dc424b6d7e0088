/*-------------------------------------------------------------------------
 *
 * row/mend.h
 *	  Values that on_error mends, so that their row is kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MEND_H
#define FC_MEND_H

#include "errors/reject_file.h"
#include "row/column.h"

/* Tolerated faults of the current record */
typedef struct FcFaults
{
	FcBad		bad;			/* for which it is left out */
	int			nkept;
	int			most;
	FcBad	   *kept;			/* of values that became NULL, or were mended */
	ResourceOwner owner;		/* holds what an input function opens */
} FcFaults;

/* Adds to faults->kept; what it is given must last as long as the values */
extern void fc_mend_note(FcFaults *faults, uint32 class, const char *column,
						 const char *value, ErrorData *edata);

/*
 * Returns the text s[0..*len) in the server's encoding, with another character
 * in place of each that is none there, and of each byte that is in none; sets
 * *len.  "convert": it is in another encoding.
 */
extern char *fc_mend_characters(int encoding, bool convert, const char *s, size_t *len);

/* Sets up a column whose values may be cut */
extern void fc_mend_begin(FcColumn *column);

/* Cuts the field to what such a column's type takes, and notes what it was */
extern void fc_mend_length(FcFaults *faults, const FcColumn *column, FcField *field);

#endif							/* FC_MEND_H */
