/*-------------------------------------------------------------------------
 *
 * report/clip.h
 *	  Text in so many columns of a terminal.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CLIP_H
#define FC_CLIP_H

#include "lib/stringinfo.h"

/*
 * These append a text in so many columns at most, with ".." for its end or for
 * its begin if it takes more, or has a line break, which would make two lines.
 * They return the columns that were taken.
 */
extern int	fc_clip(StringInfo line, const char *text, int columns);
extern int	fc_clip_front(StringInfo line, const char *text, int columns);

/* Returns how many bytes of a text have room, and sets *columns to theirs */
extern int	fc_clip_fits(const char *text, int *columns);

#endif							/* FC_CLIP_H */
