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
	FcConvertMany many;			/* of text; NULL: one by one */
	bool		encoded;		/* the binary form is a text */
} FcConverters;

static const FcConverters fc_converters[] = {
	{INT2OID, fc_convert_int2, fc_binary_int2, fc_convert_int2_many},
	{INT4OID, fc_convert_int4, fc_binary_int4, fc_convert_int4_many},
	{INT8OID, fc_convert_int8, fc_binary_int8, fc_convert_int8_many},
	{FLOAT4OID, fc_convert_float4, fc_binary_float4, fc_convert_float4_many},
	{FLOAT8OID, fc_convert_float8, fc_binary_float8, fc_convert_float8_many},
	{NUMERICOID, fc_convert_numeric, fc_numeric_binary},
	{DATEOID, fc_convert_date, fc_binary_date, fc_convert_date_many},
	{TIMEOID, fc_convert_time, fc_binary_time},
	{TIMESTAMPOID, fc_convert_timestamp, fc_binary_timestamp, fc_convert_timestamp_many},
	{TIMESTAMPTZOID, fc_convert_timestamptz, fc_binary_timestamp, fc_convert_timestamptz_many},
	{BOOLOID, fc_convert_bool, fc_binary_bool},
	{TEXTOID, fc_convert_text, fc_binary_text, NULL, true},
	{VARCHAROID, fc_convert_varchar, fc_binary_varchar, NULL, true},
	{BPCHAROID, fc_convert_bpchar, fc_binary_bpchar, NULL, true},
	{UUIDOID, fc_convert_uuid, fc_binary_uuid},
	{BYTEAOID, fc_convert_bytea, fc_convert_text}
};

/* FcConvertMany for the others */
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
			converter->many = type->many != NULL ? type->many : fc_convert_each;
		}
	}
}
