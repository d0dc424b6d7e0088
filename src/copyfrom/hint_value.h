/*-------------------------------------------------------------------------
 *
 * copyfrom/hint_value.h
 *	  How a value may be meant that its type refuses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HINT_VALUE_H
#define FC_HINT_VALUE_H

#include "copyfrom/refused.h"

/* Bytes of a byte order mark in UTF-8 */
#define FC_HINT_MARK_LEN	3

static inline bool
fc_hint_has_mark(const char *value)
{
	return strncmp(value, "\xef\xbb\xbf", FC_HINT_MARK_LEN) == 0;
}

/* Returns a hint by the type of the column, as fc_hint_text; or NULL */
extern char *fc_hint_of_type(const FcRefused *refused);

#endif							/* FC_HINT_VALUE_H */
