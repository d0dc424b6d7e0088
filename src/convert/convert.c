/*-------------------------------------------------------------------------
 *
 * convert/convert.c
 *	  Which types have a native conversion.
 *
 *	 field ──► converter ──► datum
 *			'──► declined ──► the type's input function ──► datum or error
 *
 * The converters (the other files of this room) handle the plain forms that
 * files are full of and decline anything else.  Those forms mean the same
 * under every DateStyle and IntervalStyle.  Domains have types of their own
 * and therefore no converter; neither has json, whose text must be checked as
 * its input function does it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "convert/convert.h"
#include "convert/types.h"

static FcConvert
fc_convert_function(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
			return fc_convert_int2;
		case INT4OID:
			return fc_convert_int4;
		case INT8OID:
			return fc_convert_int8;
		case FLOAT4OID:
			return fc_convert_float4;
		case FLOAT8OID:
			return fc_convert_float8;
		case NUMERICOID:
			return fc_convert_numeric;
		case DATEOID:
			return fc_convert_date;
		case TIMEOID:
			return fc_convert_time;
		case TIMESTAMPOID:
			return fc_convert_timestamp;
		case TIMESTAMPTZOID:
			return fc_convert_timestamptz;
		case BOOLOID:
			return fc_convert_bool;
		case TEXTOID:
			return fc_convert_text;
		case VARCHAROID:
			return fc_convert_varchar;
		case BPCHAROID:
			return fc_convert_bpchar;
		case UUIDOID:
			return fc_convert_uuid;
		case BYTEAOID:
			return fc_convert_bytea;
		default:
			return NULL;
	}
}

void
fc_convert_init(FcConverter *converter, Oid typid, int32 typmod)
{
	bool		known = true;

	memset(converter, 0, sizeof(FcConverter));
	converter->typmod = typmod;
	if (typid == NUMERICOID)
		known = fc_convert_numeric_typmod(converter, typmod);
	else if (typid == TIMEOID || typid == TIMESTAMPOID ||
			 typid == TIMESTAMPTZOID)
		known = fc_convert_time_typmod(converter, typmod);
	if (known)
		converter->function = fc_convert_function(typid);
}
