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
 * same under every DateStyle and IntervalStyle.  Domains have none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgroids.h"

#include "convert/convert.h"
#include "convert/types.h"

#define FC_CONVERT_ADDRESS(name)	&fc_type_##name,

static const FcConvertType *const fc_convert_types[] = {
	FC_CONVERT_TYPES(FC_CONVERT_ADDRESS)
};

/* FcConvertMany for types that have none: one by one */
static void
fc_convert_each(FcConverter *converter, const FcFields *fields, const bool *nulls,
				Datum *values, bool *odd)
{
	for (int i = 0; i < fields->n; i++)
	{
		char	   *s = fields->base + fields->starts[i * fields->stride];
		size_t		len = fields->base + fields->ends[i * fields->stride] - fields->behind - s;

		/* it may allocate for its value */
		if ((nulls == NULL || !nulls[i]) && !odd[i] &&
			!converter->function(converter, s, len, &values[i]))
			odd[i] = true;
	}
}

/*
 * A binary form that is a text, verified as pq_getmsgtext does it where the
 * client's encoding is the server's
 */
static bool
fc_convert_encoded(FcConverter *converter, char *s, size_t len, Datum *value)
{
	return pg_encoding_verifymbstr(GetDatabaseEncoding(), s, len) == (int) len &&
		converter->type->text(converter, s, len, value);
}

bool
fc_convert_is_text(const FcConverter *converter)
{
	return converter->function == fc_type_text.text ||
		converter->function == fc_type_varchar.text;
}

bool
fc_convert_pads(const FcConverter *converter)
{
	return converter->function == fc_type_bpchar.text;
}

/* Receive functions take texts to be in the client's encoding */
bool
fc_convert_receives(void)
{
	int			client = pg_get_client_encoding();

	return client == GetDatabaseEncoding() || client == PG_SQL_ASCII;
}

static void
fc_convert_init_type(FcConverter *converter, Oid typid, int32 typmod, bool binary)
{
	const FcConvertType *type = NULL;

	for (int i = 0; i < lengthof(fc_convert_types); i++)
		if (fc_convert_types[i]->typid == typid)
			type = fc_convert_types[i];
	memset(converter, 0, sizeof(FcConverter));
	converter->typmod = typmod;
	converter->type = type;
	if (type == NULL || type->text == NULL || (type->begin && !type->begin(converter, typmod)) ||
		(binary && type->binary == NULL && !fc_convert_receives()))
		return;
	converter->function = !binary ? type->text : type->binary ? type->binary : fc_convert_encoded;
	converter->many = type->many ? type->many : fc_convert_each;
}

/* The converter of arrays, if typid is one and its elements have a converter */
static void
fc_convert_init_array(FcConverter *converter, Oid typid, int32 typmod)
{
	FcConvertArray *array;
	FcConverter element;
	Oid			input;
	Oid			type;

	getTypeInputInfo(typid, &input, &type);
	if (input != F_ARRAY_IN)
		return;
	fc_convert_init_type(&element, type, typmod, false);
	if (element.function == NULL)
		return;
	array = palloc(sizeof(FcConvertArray));
	array->element = element;
	array->element.room = &array->room;
	array->type = type;
	get_typlenbyvalalign(type, &array->typlen, &array->typbyval, &array->typalign);
	array->room.end = array->memory + FC_ARRAY_ROOM;
	array->room.compact = false;
	converter->array = array;
	converter->function = fc_convert_array;
	converter->many = fc_convert_each;
}

void
fc_convert_init(FcConverter *converter, Oid typid, int32 typmod, bool binary)
{
	fc_convert_init_type(converter, typid, typmod, binary);
	if (converter->type == NULL && !binary)
		fc_convert_init_array(converter, typid, typmod);
}
