/*-------------------------------------------------------------------------
 *
 * convert/types.h
 *	  The converters of the single types, for convert/convert.c, and where
 *	  they make their values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONVERT_TYPES_H
#define FC_CONVERT_TYPES_H

#include "compat/compat.h"

/* The most bytes of data after a short header */
#define FC_SHORT_DATA	(VARATT_SHORT_MAX - VARHDRSZ_SHORT)

static inline char *
fc_convert_alloc(FcConverter *converter, Size size)
{
	FcRoom	   *room = converter->room;
	char	   *result;

	if (room == NULL || size > (Size) (room->end - room->next))
		return palloc(size);
	result = room->next;
	room->next += MAXALIGN(size);
	return result;
}

/* A value with so many bytes of data, to be filled in at *data */
static inline Datum
fc_convert_varlena(FcConverter *converter, Size len, char **data)
{
	char	   *result;

	if (converter->room != NULL && converter->room->compact && len <= FC_SHORT_DATA)
	{
		result = fc_convert_alloc(converter, VARHDRSZ_SHORT + len);
		SET_VARSIZE_SHORT(result, VARHDRSZ_SHORT + len);
		*data = VARDATA_SHORT(result);
	}
	else
	{
		result = fc_convert_alloc(converter, VARHDRSZ + len);
		SET_VARSIZE(result, VARHDRSZ + len);
		*data = VARDATA(result);
	}
	return PointerGetDatum(result);
}

/* Half a unit rounds away from 2000-01-01, as in AdjustTimestampForTypmod */
static inline int64
fc_convert_round_time(const FcConverter *converter, int64 time)
{
	int64		unit = converter->unit;

	if (unit == 1)
		return time;
	if (time >= 0)
		return (time + unit / 2) / unit * unit;
	return -((-time + unit / 2) / unit * unit);
}

#define FC_CONVERTER(name) \
	extern bool name(FcConverter *converter, char *s, size_t len, Datum *value)

/* Bytes that a converter of many fields may read, if they are there */
#define FC_READABLE		32

/* The converter and its FcConvertMany */
#define FC_CONVERTER_MANY(name) \
	FC_CONVERTER(name); \
	extern void name##_many(FcConverter *converter, const FcFields *fields, \
							const bool *nulls, Datum *values, bool *odd)

/*
 * Defines it for a converter of a value without a length.  fast(converter, s,
 * len, &value) is inline, does most values, declines all others, and may read
 * FC_READABLE bytes from s on.  One loop is for fields none of which is NULL or
 * near the end of what can be read.
 */
#define FC_CONVERT_MANY(name, fast) \
static pg_attribute_always_inline void \
name##_loop(FcConverter *converter, const FcFields *fields, const bool *nulls, \
			const char *safe, Datum *values, bool *odd) \
{ \
	const uint16 *start = fields->starts; \
	const ptrdiff_t end = fields->ends - fields->starts; \
	char	   *base = fields->base; \
	const int	stride = fields->stride; \
	const int	n = fields->n; \
\
	for (int i = 0; i < n; i++, start += stride) \
	{ \
		char	   *s = base + *start; \
		size_t		len = (size_t) start[end] - 1 - *start; \
\
		if (nulls != NULL && nulls[i]) \
			continue; \
		if (unlikely((safe != NULL && s > safe) || !fast(converter, s, len, &values[i])) && \
			!converter->function(converter, s, len, &values[i])) \
			odd[i] = true; \
	} \
} \
\
void \
name##_many(FcConverter *converter, const FcFields *fields, const bool *nulls, \
			Datum *values, bool *odd) \
{ \
	const char *safe = converter->room->readable - FC_READABLE; \
\
	if (nulls == NULL && fields->base + fields->starts[(fields->n - 1) * fields->stride] <= safe) \
		name##_loop(converter, fields, NULL, NULL, values, odd); \
	else \
		name##_loop(converter, fields, nulls, safe, values, odd); \
}

/* convert/number.c */
FC_CONVERTER_MANY(fc_convert_int2);
FC_CONVERTER_MANY(fc_convert_int4);
FC_CONVERTER_MANY(fc_convert_int8);
FC_CONVERTER_MANY(fc_convert_float4);
FC_CONVERTER_MANY(fc_convert_float8);

/* convert/numeric.c */
FC_CONVERTER(fc_convert_numeric);
FC_CONVERTER(fc_numeric_binary);
extern bool fc_convert_numeric_typmod(FcConverter *converter, int32 typmod);

/* convert/time.c */
FC_CONVERTER_MANY(fc_convert_date);
FC_CONVERTER(fc_convert_time);
FC_CONVERTER_MANY(fc_convert_timestamp);
FC_CONVERTER_MANY(fc_convert_timestamptz);
extern bool fc_convert_time_typmod(FcConverter *converter, int32 typmod);

/* convert/text.c */
FC_CONVERTER(fc_convert_bool);
FC_CONVERTER(fc_convert_text);
FC_CONVERTER(fc_convert_varchar);
FC_CONVERTER(fc_convert_bpchar);
FC_CONVERTER(fc_convert_uuid);
FC_CONVERTER(fc_convert_bytea);

/* convert/binary.c */
FC_CONVERTER(fc_binary_bool);
FC_CONVERTER(fc_binary_int2);
FC_CONVERTER(fc_binary_int4);
FC_CONVERTER(fc_binary_int8);
FC_CONVERTER(fc_binary_float4);
FC_CONVERTER(fc_binary_float8);
FC_CONVERTER(fc_binary_date);
FC_CONVERTER(fc_binary_time);
FC_CONVERTER(fc_binary_timestamp);
FC_CONVERTER(fc_binary_uuid);
FC_CONVERTER(fc_binary_text);
FC_CONVERTER(fc_binary_varchar);
FC_CONVERTER(fc_binary_bpchar);

#endif							/* FC_CONVERT_TYPES_H */
