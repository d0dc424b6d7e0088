/*-------------------------------------------------------------------------
 *
 * fc_convert_types.h
 *	  The converters of the single types, for fc_convert.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONVERT_TYPES_H
#define FC_CONVERT_TYPES_H

#include "fc_convert.h"

#define FC_CONVERTER(name) \
	extern bool name(FcConverter *converter, const char *s, size_t len, \
					 Datum *value)

/* fc_convert_number.c */
FC_CONVERTER(fc_convert_int2);
FC_CONVERTER(fc_convert_int4);
FC_CONVERTER(fc_convert_int8);
FC_CONVERTER(fc_convert_float4);
FC_CONVERTER(fc_convert_float8);

/* fc_convert_numeric.c */
FC_CONVERTER(fc_convert_numeric);
extern bool fc_convert_numeric_typmod(FcConverter *converter, int32 typmod);

/* fc_convert_time.c */
FC_CONVERTER(fc_convert_date);
FC_CONVERTER(fc_convert_time);
FC_CONVERTER(fc_convert_timestamp);
FC_CONVERTER(fc_convert_timestamptz);
extern bool fc_convert_time_typmod(FcConverter *converter, int32 typmod);

/* fc_convert_text.c */
FC_CONVERTER(fc_convert_bool);
FC_CONVERTER(fc_convert_text);
FC_CONVERTER(fc_convert_varchar);
FC_CONVERTER(fc_convert_bpchar);
FC_CONVERTER(fc_convert_uuid);
FC_CONVERTER(fc_convert_bytea);

#endif							/* FC_CONVERT_TYPES_H */
