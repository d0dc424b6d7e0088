/*-------------------------------------------------------------------------
 *
 * convert/convert.c
 *	  Which types have a native conversion.
 *
 *	field ──► converter ──► datum
 *			'──► declined ──► the type's input function, or, of a binary
 *								field, the receive function ──► datum or error
 *
 * Converters handle the plain forms that files are full of, which mean the
 * same under every DateStyle and IntervalStyle.  Domains have none, nor has
 * json, whose text must be checked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"

#include "convert/convert.h"
#include "convert/types.h"

/* A type's converters from text and from its binary form */
typedef struct FcConverters
{
	Oid			typid;
	FcConvert	text;
	FcConvert	binary;
	FcConvertMany many;			/* of text */
	bool		encoded;		/* the binary form is a text */
} FcConverters;

/* FcConvertMany for types that have none: one by one */
static void
fc_convert_each(FcConverter *converter, const FcFields *fields, const bool *nulls,
				Datum *values, bool *odd)
{
	for (int i = 0; i < fields->n; i++)
	{
		char	   *s = fields->base + fields->starts[i * fields->stride];
		size_t		len = fields->base + fields->ends[i * fields->stride] - 1 - s;

		/* it may allocate for its value */
		if ((nulls == NULL || !nulls[i]) && !odd[i] &&
			!converter->function(converter, s, len, &values[i]))
			odd[i] = true;
	}
}

#define FC_TYPE_MANY(typid, text, binary)	{typid, text, binary, text##_many},
#define FC_TYPE_SINGLE(typid, text, binary)	{typid, text, binary, fc_convert_each},
#define FC_TYPE_TEXT(typid, text, binary)	{typid, text, binary, fc_convert_each, true},

static const FcConverters fc_converters[] = {
	FC_CONVERT_TYPES(FC_TYPE_MANY, FC_TYPE_SINGLE, FC_TYPE_TEXT)
};

bool
fc_convert_is_text(const FcConverter *converter)
{
	return converter->function == fc_convert_text ||
		converter->function == fc_convert_varchar;
}

bool
fc_convert_pads(const FcConverter *converter)
{
	return converter->function == fc_convert_bpchar;
}

/* Receive functions take texts to be in the client's encoding */
bool
fc_convert_receives(void)
{
	int			client = pg_get_client_encoding();

	return client == GetDatabaseEncoding() || client == PG_SQL_ASCII;
}

void
fc_convert_init(FcConverter *converter, Oid typid, int32 typmod, bool binary)
{
	bool		known = true;

	memset(converter, 0, sizeof(FcConverter));
	converter->typmod = typmod;
	if (typid == NUMERICOID)
		known = fc_convert_numeric_typmod(converter, typmod);
	else if (typid == TIMEOID || typid == TIMESTAMPOID ||
			 typid == TIMESTAMPTZOID)
		known = fc_convert_time_typmod(converter, typmod);
	if (typid == DATEOID || typid == TIMESTAMPOID || typid == TIMESTAMPTZOID)
		converter->dates = palloc0(sizeof(FcDate) * FC_DATES);
	for (int i = 0; i < lengthof(fc_converters) && known; i++)
	{
		const FcConverters *type = &fc_converters[i];

		if (type->typid == typid &&
			!(binary && type->encoded && !fc_convert_receives()))
		{
			converter->function = binary ? type->binary : type->text;
			converter->many = type->many;
		}
	}
}
