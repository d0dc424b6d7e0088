/*-------------------------------------------------------------------------
 *
 * grammar/places.h
 *	  Where the fields of many records end, all at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PLACES_H
#define FC_PLACES_H

#include "grammar/marks.h"

/* Elements of FcPlaces.at */
#define FC_PLACES_MOST	(FC_MARKS_BYTES + FC_MASK_SPARE + 1)

/*
 * The borders of a record of nfields fields: one for each field, and the
 * second byte of a line end
 */
static inline int
fc_places_width(const FcDialect *dialect, int nfields)
{
	return nfields + (dialect->eol == FC_EOL_CRNL);
}

/*
 * Finds the borders of as many records of nfields fields as there are, at most
 * "most", from the one on that begins at buf[pos]; the bytes are marked.  Stops
 * before a record with more or fewer fields, one that may be a marker, and
 * where another line end comes up.  Returns the number of records.
 *
 * places->at[0] is pos, and the others are the places after the borders: those
 * of record i begin at number i * width.  places->near is false only if no
 * field of them is as long as the null string.
 */
extern int	fc_places_find(const FcDialect *dialect, const FcMarks *marks,
						   const char *buf, size_t pos, int nfields, int most,
						   FcPlaces *places);

#endif							/* FC_PLACES_H */
