/*-------------------------------------------------------------------------
 *
 * fc_convert.h
 *	  From text to datums without the type's input function.
 *
 * A converter gives the datum the input function would give, or declines by
 * returning false; then the input function decides, errors included.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONVERT_H
#define FC_CONVERT_H

#include "fc_route.h"

/* s is NUL-terminated, len its length */
typedef bool (*FcConvert) (const char *s, size_t len, Datum *value);

/* The converter of a column's type, or NULL */
extern FcConvert fc_convert_for(Oid typid, int32 typmod);

#endif							/* FC_CONVERT_H */
