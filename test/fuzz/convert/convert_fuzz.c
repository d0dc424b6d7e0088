/*
 * convert_fuzz.c
 *	  The native conversions against the input functions.
 *
 *	 seed ──► string ──► input function ──► datum or error ──► the same?
 *					'──► converter ──► datum or declined ──'
 *
 * If the converter took a string, the input function must take it too, and the
 * datums must be equal byte by byte.  Then the string is converted again as a
 * load does it, in a record and with a room for the values: the same strings
 * must be taken, to the same values, short headers apart.  What the input
 * function throws is caught without a subtransaction, which none of these
 * functions needs.
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

#include "convert_strings.h"
#include "convert/convert.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fuzz_convert);

typedef struct Fuzz
{
	Oid			typid;
	int32		typmod;
	int16		typlen;
	bool		typbyval;
	FmgrInfo	input;
	Oid			typioparam;
	FcConverter converter;
	FcConverter quick;			/* the same, with a room */
	FcRoom		room;
	unsigned	turn;			/* one of sixteen ways of using it */
	int64		taken;
	int64		valid;
} Fuzz;

/* Small, so that some values find it full */
#define FUZZ_ROOM	64

/* What stands behind a field and its end, and may be read together with it */
#define FUZZ_BEHIND	"1234567,"

static void
fuzz_init(Fuzz *fuzz, Oid typid, int32 typmod)
{
	Oid			input;

	memset(fuzz, 0, sizeof(Fuzz));
	fuzz->typid = typid;
	fuzz->typmod = typmod;
	get_typlenbyval(typid, &fuzz->typlen, &fuzz->typbyval);
	getTypeInputInfo(typid, &input, &fuzz->typioparam);
	fmgr_info(input, &fuzz->input);
	fc_convert_init(&fuzz->converter, typid, typmod, false);
	fuzz->quick = fuzz->converter;
	fuzz->quick.room = &fuzz->room;
	fuzz->room.next = palloc(FUZZ_ROOM);
	fuzz->room.end = fuzz->room.next + FUZZ_ROOM;
}

/* Calls the input function; false if it throws an error about the string */
static bool
fuzz_input(Fuzz *fuzz, char *string, Datum *value)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool accepted = false;

	PG_TRY();
	{
		*value = InputFunctionCall(&fuzz->input, string, fuzz->typioparam,
								   fuzz->typmod);
		accepted = true;
	}
	PG_CATCH();
	{
		if (ERRCODE_TO_CATEGORY(geterrcode()) != ERRCODE_DATA_EXCEPTION)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return accepted;
}

static char *
fuzz_show(Fuzz *fuzz, bool accepted, Datum value)
{
	Oid			output;
	bool		varlena;

	if (!accepted)
		return "an error";
	getTypeOutputInfo(fuzz->typid, &output, &varlena);
	return psprintf("\"%s\"", OidOutputFunctionCall(output, value));
}

/*
 * What is different if the string is a field behind a delimiter, or NULL: its
 * value is the expected one, or else the converter must decline and leave the
 * string alone.
 */
static char *
fuzz_quick(Fuzz *fuzz, const char *string, int len, bool taken, Datum expected)
{
	char	   *record = palloc(len + 2 + sizeof(FUZZ_BEHIND));
	char	   *room = fuzz->room.next;
	Datum		value = (Datum) 0;
	char		after = (fuzz->turn & 8) ? "05.:e- "[fuzz->turn / 16 % 7] : '\0';
	bool		equal;

	record[0] = ',';
	memcpy(record + 1, string, len);
	record[1 + len] = after;
	memcpy(record + 2 + len, FUZZ_BEHIND, sizeof(FUZZ_BEHIND));
	fuzz->room.readable = record + 2 + len + ((fuzz->turn & 4) ? sizeof(FUZZ_BEHIND) : 0);
	fuzz->turn++;
	fuzz->quick.in_place = (fuzz->turn & 1) != 0;
	fuzz->room.compact = (fuzz->turn & 2) != 0;
	if (fuzz->quick.function == NULL ||
		!fuzz->quick.function(&fuzz->quick, record + 1, len, &value))
	{
		equal = !taken && memcmp(record + 1, string, len) == 0 && record[1 + len] == after;
		return equal ? NULL : psprintf("\"%s\": in a record it is declined", string);
	}
	if (fuzz->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	equal = taken && datumIsEqual(expected, value, fuzz->typbyval, fuzz->typlen) &&
		record[1 + len] == after && fuzz->room.next <= fuzz->room.end;
	fuzz->room.next = room;
	return equal ? NULL : psprintf("\"%s\": in a record it is %s", string,
								   fuzz_show(fuzz, true, value));
}

/* What is different for the string, or NULL */
static char *
fuzz_case(Fuzz *fuzz, char *string, int len)
{
	Datum		expected = (Datum) 0;
	Datum		value = (Datum) 0;
	bool		accepted = fuzz_input(fuzz, string, &expected);

	fuzz->valid += accepted;
	if (!fc_convert(&fuzz->converter, string, len, &value))
		return fuzz_quick(fuzz, string, len, false, value);
	fuzz->taken++;
	if (accepted &&
		datumIsEqual(expected, value, fuzz->typbyval, fuzz->typlen))
		return fuzz_quick(fuzz, string, len, true, expected);
	return psprintf("\"%s\": the input function gives %s, the converter %s",
					string, fuzz_show(fuzz, accepted, expected),
					fuzz_show(fuzz, true, value));
}

static void
fuzz_context(void *string)
{
	errcontext("conversion of \"%s\"", ((StringInfo) string)->data);
}

/* Runs the cases; returns the first difference, or NULL */
static char *
fuzz_run(Fuzz *fuzz, pg_prng_state *prng, int64 cases)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext inner = AllocSetContextCreate(outer, "fuzz case",
												ALLOCSET_DEFAULT_SIZES);
	StringInfo	string = makeStringInfo();
	ErrorContextCallback callback = {error_context_stack, fuzz_context, string};
	char	   *differs = NULL;

	error_context_stack = &callback;
	while (cases-- > 0 && differs == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		convert_string(prng, fuzz->typid, string);
		MemoryContextSwitchTo(inner);
		differs = fuzz_case(fuzz, string->data, string->len);
		MemoryContextSwitchTo(outer);
		if (differs)
			differs = pstrdup(differs);
		MemoryContextReset(inner);
	}
	error_context_stack = callback.previous;
	return differs;
}

/*
 * fuzz_convert(type oid, typmod int, seed bigint, cases bigint,
 *				OUT taken bigint, OUT valid bigint, OUT differs text)
 */
Datum
fuzz_convert(PG_FUNCTION_ARGS)
{
	Fuzz		fuzz;
	pg_prng_state prng;
	TupleDesc	desc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};
	char	   *differs;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "fuzz_convert must return a row");
	fuzz_init(&fuzz, PG_GETARG_OID(0), PG_GETARG_INT32(1));
	pg_prng_seed(&prng, PG_GETARG_INT64(2));
	differs = fuzz_run(&fuzz, &prng, PG_GETARG_INT64(3));
	values[0] = Int64GetDatum(fuzz.taken);
	values[1] = Int64GetDatum(fuzz.valid);
	nulls[2] = (differs == NULL);
	values[2] = nulls[2] ? (Datum) 0 : CStringGetTextDatum(differs);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
