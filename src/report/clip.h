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
 * These append a text in at most so many columns, and return how many it
 * takes.  A text that takes more, or has a line break, which would make two
 * lines, gets ".." in place of its end, its beginning or its middle.
 */
extern int	fc_clip(StringInfo line, const char *text, int columns);
extern int	fc_clip_front(StringInfo line, const char *text, int columns);
extern int	fc_clip_middle(StringInfo line, const char *text, int columns);

/* Returns how many bytes of a text have room, and sets *columns to theirs */
extern int	fc_clip_fits(const char *text, int *columns);

#endif							/* FC_CLIP_H */
