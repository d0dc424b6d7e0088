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

/* Bytes that a converter of many fields may read, if they are there */
#define FC_READABLE		32

/*
 * Defines the FcConvertMany for a converter of a value without a length.
 * fast(converter, s, len, &value) is inline, does most values, declines all
 * others, and may read FC_READABLE bytes from s on.  One loop is for fields
 * none of which is NULL or near the end of what can be read.
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

/*
 * The types with their converters, of texts and of binary fields: "many" for
 * one that has an FcConvertMany, "text" for one whose binary form is a text.
 * The bits of a float are those of its datum, as an integer's are.
 */
#define FC_CONVERT_TYPES(many, single, text) \
	many(INT2OID, fc_convert_int2, fc_binary_int2) \
	many(INT4OID, fc_convert_int4, fc_binary_int4) \
	many(INT8OID, fc_convert_int8, fc_binary_int8) \
	many(FLOAT4OID, fc_convert_float4, fc_binary_int4) \
	many(FLOAT8OID, fc_convert_float8, fc_binary_int8) \
	single(NUMERICOID, fc_convert_numeric, fc_numeric_binary) \
	many(DATEOID, fc_convert_date, fc_binary_date) \
	single(TIMEOID, fc_convert_time, fc_binary_time) \
	many(TIMESTAMPOID, fc_convert_timestamp, fc_binary_timestamp) \
	many(TIMESTAMPTZOID, fc_convert_timestamptz, fc_binary_timestamp) \
	single(BOOLOID, fc_convert_bool, fc_binary_bool) \
	text(TEXTOID, fc_convert_text, fc_binary_text) \
	text(VARCHAROID, fc_convert_varchar, fc_binary_varchar) \
	text(BPCHAROID, fc_convert_bpchar, fc_binary_bpchar) \
	single(UUIDOID, fc_convert_uuid, fc_binary_uuid) \
	single(BYTEAOID, fc_convert_bytea, fc_convert_text)

#define FC_CONVERTER(name) \
	extern bool name(FcConverter *converter, char *s, size_t len, Datum *value);
#define FC_CONVERTER_SINGLE(typid, name, binary)	FC_CONVERTER(name) FC_CONVERTER(binary)
#define FC_CONVERTER_MANY(typid, name, binary) \
	FC_CONVERTER_SINGLE(typid, name, binary) \
	extern void name##_many(FcConverter *converter, const FcFields *fields, \
							const bool *nulls, Datum *values, bool *odd);

FC_CONVERT_TYPES(FC_CONVERTER_MANY, FC_CONVERTER_SINGLE, FC_CONVERTER_SINGLE)

extern bool fc_convert_numeric_typmod(FcConverter *converter, int32 typmod);
extern bool fc_convert_time_typmod(FcConverter *converter, int32 typmod);

#endif							/* FC_CONVERT_TYPES_H */
