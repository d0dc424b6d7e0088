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

#include "port/pg_bswap.h"

#include "compat/compat.h"

/* A type, with what makes its values; a file of this room has it */
typedef struct FcConvertType
{
	Oid			typid;
	FcConvert	text;			/* of a text; NULL: the type's own function */
	FcConvert	binary;			/* of the binary form; NULL: that is a text */
	FcConvertMany many;			/* of many texts; NULL: one by one */
	/* looks at the typmod, false: it is unusual; NULL: there is none to see */
	bool		(*begin) (FcConverter *converter, int32 typmod);
} FcConvertType;

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

/* A value with len bytes of data, to be filled in at *data */
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
 * Defines the converter "name" of a value without a length, and its
 * FcConvertMany, name_many, by parse(converter, s, len, usual, &value), which
 * is inline.  If "usual" is true it does most values, declines all others, and
 * may read FC_READABLE bytes from s on.  One loop is for fields none of which
 * is NULL or near the end of what can be read.
 */
#define FC_CONVERT_MANY(name, parse) \
static bool \
name(FcConverter *converter, char *s, size_t len, Datum *value) \
{ \
	return parse(converter, s, len, false, value); \
} \
\
static pg_attribute_always_inline void \
name##_loop(FcConverter *converter, const FcFields *fields, const bool *nulls, \
			const char *safe, Datum *values, bool *odd) \
{ \
	const uint16 *start = fields->starts; \
	const ptrdiff_t end = fields->ends - fields->starts; \
	char	   *base = fields->base; \
	const int	stride = fields->stride; \
	const int	behind = fields->behind; \
	const int	n = fields->n; \
\
	for (int i = 0; i < n; i++, start += stride) \
	{ \
		char	   *s = base + *start; \
		size_t		len = (size_t) start[end] - behind - *start; \
\
		if (nulls != NULL && nulls[i]) \
			continue; \
		if (unlikely((safe != NULL && s > safe) || !parse(converter, s, len, true, &values[i])) && \
			!converter->function(converter, s, len, &values[i])) \
			odd[i] = true; \
	} \
} \
\
static void \
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

/* An integer of a binary form */
static inline uint64
fc_convert_long(const char *s)
{
	uint64		word;

	memcpy(&word, s, sizeof(word));
	return pg_ntoh64(word);
}

/* All types that are known */
#define FC_CONVERT_TYPES(type) \
	type(int2) type(int4) type(int8) type(float4) type(float8) type(numeric) \
	type(date) type(time) type(timestamp) type(timestamptz) type(bool) \
	type(text) type(varchar) type(bpchar) type(uuid) type(bytea)

#define FC_CONVERT_DECLARE(name)	extern const FcConvertType fc_type_##name;
FC_CONVERT_TYPES(FC_CONVERT_DECLARE)

/* of an array of any of them */
extern bool fc_convert_array(FcConverter *converter, char *s, size_t len, Datum *value);

/* Items of an array, and bytes for those that are passed by reference */
#define FC_ARRAY_ITEMS	256
#define FC_ARRAY_ROOM	4096

typedef struct FcConvertArray
{
	FcConverter element;
	Oid			type;			/* of an element */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	FcRoom		room;
	Datum		values[FC_ARRAY_ITEMS];
	bool		nulls[FC_ARRAY_ITEMS];
	char		memory[FC_ARRAY_ROOM] pg_attribute_aligned(MAXIMUM_ALIGNOF);
} FcConvertArray;

#endif							/* FC_CONVERT_TYPES_H */
