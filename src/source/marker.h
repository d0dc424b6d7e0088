/*-------------------------------------------------------------------------
 *
 * source/marker.h
 *	  Finds where text ends that a client sends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MARKER_H
#define FC_MARKER_H

#include "grammar/dialect.h"

/* Zeros but for the encoding, before the first byte */
typedef struct FcMarkerScan
{
	int			encoding;		/* of the bytes */
	FcEol		eol;			/* how the first line ends */
	size_t		skip;			/* so many of the bytes to come are of a
								 * character that has begun before */
	bool		bad;			/* what follows "\." is no line end: an error */
} FcMarkerScan;

/*
 * The position of the marker that ends the data in buf[0..len), or len.  The
 * last *held bytes may be the beginning of one, or of the first line's end: the
 * next call must have them first.
 */
extern size_t fc_marker_find(FcMarkerScan *scan, const char *buf, size_t len,
							 size_t *held);

#endif							/* FC_MARKER_H */
