/*-------------------------------------------------------------------------
 *
 * convert/convert.h
 *	  Makes datums of text without the type's input function, and of binary
 *	  fields without the receive function.
 *
 * A converter gives the function's datum, byte by byte, or declines by
 * returning false; then the function decides, errors included.  A converter
 * throws nothing itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONVERT_H
#define FC_CONVERT_H

#include "pgtime.h"

typedef struct FcConverter FcConverter;

/*
 * The text is s[0..len), and any byte may follow.  It is valid in the server's
 * encoding, unless it is of a binary field.  Values passed by reference are
 * palloc'ed if there is no room for them.  If the converter declines, s is as
 * it was.
 */
typedef bool (*FcConvert) (FcConverter *converter, char *s, size_t len,
						   Datum *value);

/*
 * Fields of many records: field i is
 * base[starts[i * stride]..ends[i * stride] - behind)
 */
typedef struct FcFields
{
	char	   *base;
	const uint16 *starts;
	const uint16 *ends;			/* in the same array as these */
	int			stride;
	int			n;				/* at least 1 */
	int			behind;			/* bytes of the border after each */
} FcFields;

/*
 * Converts those that are not NULL (nulls is NULL: all).  Where the converter
 * declines sets odd, and the value is undefined.
 */
typedef void (*FcConvertMany) (FcConverter *converter, const FcFields *fields,
							   const bool *nulls, Datum *values, bool *odd);

/*
 * Memory for the values of one row, which lasts until the owner sets "next"
 * back to its start.  Bytes after a text may be read up to "readable".  If
 * compact, a datum may have the short header that it gets in a tuple anyway,
 * and may be made where the text stands.
 */
typedef struct FcRoom
{
	char	   *next;			/* MAXALIGNed, as is the end */
	char	   *end;
	const char *readable;
	bool		compact;		/* headers may be short */
} FcRoom;

/*
 * A date that came up, as it is written with separators, and its day.  They
 * are kept because most columns have few.
 */
typedef struct FcDate
{
	uint64		first;			/* bytes 1 to 8 */
	uint16		last;			/* bytes 9 and 10 */
	int64		day;			/* since 2000-01-01 */
} FcDate;

#define FC_DATES	64

/* The offset of local times from "first" on, before "end", in Unix seconds */
typedef struct FcZone
{
	pg_tz	   *zone;
	int64		first;
	int64		end;
	int			offset;			/* seconds west of Greenwich */
} FcZone;

struct FcConverter
{
	const struct FcConvertType *type;
	FcConvert	function;		/* or NULL: the type's own is needed */
	FcConvertMany many;			/* for text: the same, for many fields */
	FcRoom	   *room;			/* or NULL: palloc, and no short headers */
	bool		in_place;		/* the byte before a text may be its header */
	int32		typmod;
	int64		unit;			/* times: microseconds they are rounded to */
	FcDate	   *dates;			/* dates that came up, FC_DATES of them */
	int			precision;		/* numeric: digits, -1 if not bounded */
	int			scale;
	FcZone		zone;			/* timestamptz: where the last value was */
	pg_tz	   *letters_zone;	/* "T" and "Z" were asked for in this zone */
	bool		letters;		/* there they mean what ISO 8601 says */
	struct FcConvertArray *array;	/* of an array: its elements */
};

/*
 * The converter of a column's type, without a room; its function may be NULL
 */
extern void fc_convert_init(FcConverter *converter, Oid typid, int32 typmod,
							bool binary);

/* Are texts of binary fields in the server's encoding, as they stand? */
extern bool fc_convert_receives(void);

/* Is the value the field's bytes, unless they are more than fc_convert_max? */
extern bool fc_convert_is_text(const FcConverter *converter);

/* Is the value padded, so that it may be much longer than its field? */
extern bool fc_convert_pads(const FcConverter *converter);

/* The most characters of a varchar(n) or char(n); -1: any number */
extern int	fc_convert_max(const FcConverter *converter);

static inline bool
fc_convert(FcConverter *converter, char *s, size_t len, Datum *value)
{
	return converter->function != NULL &&
		converter->function(converter, s, len, value);
}

#endif							/* FC_CONVERT_H */
