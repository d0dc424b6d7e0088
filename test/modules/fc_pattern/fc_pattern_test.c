/*-------------------------------------------------------------------------
 *
 * fc_pattern_test.c
 *	  Lets SQL call src/convert/pattern.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "convert/pattern.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fc_pattern_test);
PG_FUNCTION_INFO_V1(fc_pattern_try);
PG_FUNCTION_INFO_V1(fc_pattern_kind);

/* The compiled pattern is kept from call to call, like a loader keeps it */
static FcPattern *
get_pattern(FunctionCallInfo fcinfo)
{
	char	   *format = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Oid			typid = PG_GETARG_OID(1);
	int32		typmod = PG_GETARG_INT32(3);
	FcPattern  *pattern = fcinfo->flinfo->fn_extra;
	MemoryContext old;

	if (pattern != NULL && strcmp(pattern->text, format) == 0 &&
		pattern->typid == typid && pattern->typmod == typmod)
		return pattern;
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	pattern = fc_pattern_compile(format, typid, typmod, "c");
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = pattern;
	return pattern;
}

static Datum
output_value(const FcPattern *pattern, Datum value)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(pattern->typid, &output, &varlena);
	return CStringGetTextDatum(OidOutputFunctionCall(output, value));
}

Datum
fc_pattern_test(PG_FUNCTION_ARGS)
{
	FcPattern  *pattern = get_pattern(fcinfo);
	char	   *s = text_to_cstring(PG_GETARG_TEXT_PP(2));
	Datum		value;

	if (!fc_pattern_parse(pattern, s, strlen(s), &value))
		fc_pattern_mismatch(pattern, s);
	return output_value(pattern, value);
}

Datum
fc_pattern_try(PG_FUNCTION_ARGS)
{
	FcPattern  *pattern = get_pattern(fcinfo);
	char	   *s = text_to_cstring(PG_GETARG_TEXT_PP(2));
	Datum		value;

	if (!fc_pattern_parse(pattern, s, strlen(s), &value))
		PG_RETURN_NULL();
	return output_value(pattern, value);
}

Datum
fc_pattern_kind(PG_FUNCTION_ARGS)
{
	char	   *format = text_to_cstring(PG_GETARG_TEXT_PP(0));
	FcPattern  *pattern = fc_pattern_compile(format, TIMESTAMPOID, -1, "c");

	return CStringGetTextDatum(pattern->epoch_units > 0 ? "epoch" : pattern->by_core ? "core" : "steps");
}
