/*
 * convert_binary.c
 *	  The native conversions of binary fields against the receive functions.
 *
 *	 seed ──► string ──► input function ──► send function ──► bytes, mutated
 *		──► receive function ──► datum or error ──► the same?
 *		'──► converter ──► datum or declined ──'
 *
 * As in convert_fuzz.c: what the converter takes the function must take, to
 * the same datum, also with a room and where the byte before a text may become
 * its header.  The bytes after a field are another's, and must stay.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "convert_strings.h"
#include "convert/convert.h"

PG_FUNCTION_INFO_V1(fuzz_binary);

#define FUZZ_ROOM	64
#define FUZZ_BEHIND	"1234567"

typedef struct FuzzBinary
{
	Oid			typid;
	int32		typmod;
	int16		typlen;
	bool		typbyval;
	FmgrInfo	input;
	FmgrInfo	receive;
	FmgrInfo	send;
	Oid			typioparam;
	FcConverter converter;
	FcRoom		room;
	char	   *room_start;
	pg_prng_state prng;
	int64		taken;
	int64		valid;
} FuzzBinary;

static unsigned
fuzz_below(FuzzBinary *fuzz, unsigned n)
{
	return (unsigned) (pg_prng_uint64(&fuzz->prng) % n);
}

static void
fuzz_binary_init(FuzzBinary *fuzz, Oid typid, int32 typmod)
{
	Oid			function;
	bool		varlena;

	memset(fuzz, 0, sizeof(FuzzBinary));
	fuzz->typid = typid;
	fuzz->typmod = typmod;
	get_typlenbyval(typid, &fuzz->typlen, &fuzz->typbyval);
	getTypeInputInfo(typid, &function, &fuzz->typioparam);
	fmgr_info(function, &fuzz->input);
	getTypeBinaryInputInfo(typid, &function, &fuzz->typioparam);
	fmgr_info(function, &fuzz->receive);
	getTypeBinaryOutputInfo(typid, &function, &varlena);
	fmgr_info(function, &fuzz->send);
	fc_convert_init(&fuzz->converter, typid, typmod, true);
	fuzz->room_start = palloc(FUZZ_ROOM);
	fuzz->room.end = fuzz->room_start + FUZZ_ROOM;
}

/*
 * Reads a value by the input function, from text, or by the receive function;
 * false if that throws an error about the bytes
 */
static bool
fuzz_read(FuzzBinary *fuzz, volatile bool text, StringInfo bytes, Datum *value)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool accepted = false;

	PG_TRY();
	{
		bytes->cursor = 0;
		*value = text ? InputFunctionCall(&fuzz->input, bytes->data, fuzz->typioparam, -1) :
			ReceiveFunctionCall(&fuzz->receive, bytes, fuzz->typioparam, fuzz->typmod);
		accepted = text || bytes->cursor == bytes->len;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return accepted;
}

/* Makes the field: what is sent of a value, or any bytes */
static void
fuzz_field(FuzzBinary *fuzz, StringInfo field)
{
	StringInfo	string = makeStringInfo();
	Datum		value;

	convert_string(&fuzz->prng, fuzz->typid, string);
	if (fuzz_read(fuzz, true, string, &value))
	{
		bytea	   *sent = SendFunctionCall(&fuzz->send, value);

		appendBinaryStringInfo(field, VARDATA(sent), VARSIZE(sent) - VARHDRSZ);
	}
	else
		appendBinaryStringInfo(field, string->data, string->len);
	for (unsigned n = fuzz_below(fuzz, 4); n == 0; n = fuzz_below(fuzz, 3))
	{
		unsigned	at = fuzz_below(fuzz, field->len + 1);

		if (fuzz_below(fuzz, 4) == 0)
			appendStringInfoChar(field, (char) fuzz_below(fuzz, 256));
		else if (fuzz_below(fuzz, 4) == 0)
			field->len = at;
		else if (at < field->len)
			field->data[at] = fuzz_below(fuzz, 2) ? (char) fuzz_below(fuzz, 256) :
				(char) (field->data[at] ^ 1 << fuzz_below(fuzz, 8));
		field->data[field->len] = '\0';
	}
}

/* Is the datum that of the receive function, but for a short header? */
static bool
fuzz_equal(FuzzBinary *fuzz, Datum expected, Datum value)
{
	if (fuzz->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	return datumIsEqual(expected, value, fuzz->typbyval, fuzz->typlen);
}

/* Converts the field in a record, in one of eight ways; NULL or what is wrong */
static char *
fuzz_binary_case(FuzzBinary *fuzz, StringInfo field)
{
	Datum		expected = (Datum) 0;
	Datum		value = (Datum) 0;
	bool		accepted = fuzz_read(fuzz, false, field, &expected);
	unsigned	turn = fuzz_below(fuzz, 8);
	char	   *record = palloc(field->len + 4 + sizeof(FUZZ_BEHIND));
	bool		taken;

	memset(record, 0, 4);
	memcpy(record + 4, field->data, field->len);
	memcpy(record + 4 + field->len, FUZZ_BEHIND, sizeof(FUZZ_BEHIND));
	fuzz->room.next = fuzz->room_start;
	fuzz->room.readable = record + 4 + field->len;
	fuzz->room.compact = (turn & 1) != 0;
	fuzz->converter.room = turn & 2 ? &fuzz->room : NULL;
	fuzz->converter.in_place = (turn & 6) == 6;
	taken = fc_convert(&fuzz->converter, record + 4, field->len, &value);
	fuzz->valid += accepted;
	fuzz->taken += taken;
	if (memcmp(record + 4 + field->len, FUZZ_BEHIND, sizeof(FUZZ_BEHIND)) != 0)
		return "the bytes after it were changed";
	if (!taken && memcmp(record + 4, field->data, field->len) != 0)
		return "it was declined and changed";
	if (taken && !accepted)
		return "the receive function refuses it, and the converter does not";
	return taken && !fuzz_equal(fuzz, expected, value) ? "the values differ" : NULL;
}

/*
 * fuzz_binary(type oid, typmod int, seed bigint, cases bigint,
 *			   OUT taken bigint, OUT valid bigint, OUT differs text)
 */
Datum
fuzz_binary(PG_FUNCTION_ARGS)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext inner = AllocSetContextCreate(outer, "fuzz case", ALLOCSET_DEFAULT_SIZES);
	int64		cases = PG_GETARG_INT64(3);
	FuzzBinary	fuzz;
	StringInfoData field;
	TupleDesc	desc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};
	char	   *differs = NULL;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "fuzz_binary must return a row");
	fuzz_binary_init(&fuzz, PG_GETARG_OID(0), PG_GETARG_INT32(1));
	pg_prng_seed(&fuzz.prng, PG_GETARG_INT64(2));
	while (cases-- > 0 && differs == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(inner);
		MemoryContextSwitchTo(inner);
		initStringInfo(&field);
		fuzz_field(&fuzz, &field);
		differs = fuzz_binary_case(&fuzz, &field);
		MemoryContextSwitchTo(outer);
	}
	values[0] = Int64GetDatum(fuzz.taken);
	values[1] = Int64GetDatum(fuzz.valid);
	nulls[2] = (differs == NULL);
	if (differs)
	{
		char	   *hex = palloc(2 * field.len + 1);

		hex[hex_encode(field.data, field.len, hex)] = '\0';
		values[2] = CStringGetTextDatum(psprintf("\\x%s: %s", hex, differs));
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
