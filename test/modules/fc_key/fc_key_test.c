/*-------------------------------------------------------------------------
 *
 * fc_key_test.c
 *	  Lets SQL call src/key/width.c, interval.c, range.c and fit.c: of ranges
 *	  and keys, where loads have tables and rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "key/range.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fc_key_width);
PG_FUNCTION_INFO_V1(fc_key_lines_up);
PG_FUNCTION_INFO_V1(fc_key_range);
PG_FUNCTION_INFO_V1(fc_key_others);
PG_FUNCTION_INFO_V1(fc_key_fit);

static int64
key_of(FcKeyType type, char *text)
{
	Oid			input;
	Oid			param;

	getTypeInputInfo(fc_key_kinds[type].typid, &input, &param);
	return fc_key_from_datum(type, OidInputFunctionCall(input, text, param, -1));
}

/* The text of an argument; NULL if it is NULL, or missing */
static char *
text_arg(FunctionCallInfo fcinfo, int n)
{
	return n >= PG_NARGS() || PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

static void
set_bound(FcKeyType type, char *text, int64 *key, bool *none)
{
	*none = text == NULL;
	if (text)
		*key = key_of(type, text);
}

static FcRange
make_range(FcKeyType type, char *lo, char *hi)
{
	FcRange		range = FC_RANGE_ALL;

	set_bound(type, lo, &range.lo, &range.lo_min);
	set_bound(type, hi, &range.hi, &range.hi_max);
	return range;
}

/* The ranges of the first arguments; each is a partition, by its number from 1 on */
static FcRoute *
get_route(FunctionCallInfo fcinfo)
{
	FcRoute    *route = palloc0(sizeof(FcRoute));
	Datum	   *bounds[2] = {NULL, NULL};
	bool	   *nulls[2] = {NULL, NULL};
	int			n = 0;

	route->type = fc_key_type(PG_GETARG_OID(0));
	route->create = true;
	for (int i = 0; i < 2 && !PG_ARGISNULL(1); i++)
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(i + 1), TEXTOID, -1, false, TYPALIGN_INT, &bounds[i], &nulls[i], &n);
	route->nranges = n;
	route->ranges = palloc0(sizeof(FcRange) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		route->ranges[i] = make_range(route->type, nulls[0][i] ? NULL : TextDatumGetCString(bounds[0][i]),
									  nulls[1][i] ? NULL : TextDatumGetCString(bounds[1][i]));
		route->ranges[i].partition = i + 1;
	}
	return route;
}

static void
set_interval(FunctionCallInfo fcinfo, FcRoute *route, int epoch)
{
	char	   *width = text_arg(fcinfo, 3);
	char	   *zone = text_arg(fcinfo, epoch + 1);

	if (PG_ARGISNULL(epoch) && zone == NULL)
		route->interval = fc_interval_choose(route, width);
	else
		route->interval = fc_interval_step(route, width, PG_ARGISNULL(epoch) ? 0 : PG_GETARG_INT64(epoch),
										   zone ? pg_tzset(zone) : session_timezone);
}

Datum
fc_key_width(PG_FUNCTION_ARGS)
{
	FcRoute    *route = get_route(fcinfo);
	const FcInterval *got = &route->interval;

	set_interval(fcinfo, route, 4);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s%s%s%s%s from %s",
											  got->months ? psprintf("%d months", got->months) : psprintf(INT64_FORMAT, got->width),
											  got->days ? ", whole days" : "", got->elapsed ? ", elapsed" : "",
											  got->zone ? psprintf(", in %s", pg_get_timezone_name(got->zone)) : "",
											  got->unsure ? psprintf(", unsure by %u", got->unsure) : "",
											  fc_key_text(got->epoch ? FC_KEY_TIMESTAMPTZ : route->type, got->origin))));
}

Datum
fc_key_lines_up(PG_FUNCTION_ARGS)
{
	FcRoute    *route = get_route(fcinfo);

	set_interval(fcinfo, route, 4);
	PG_RETURN_BOOL(fc_interval_lines_up(route, &route->interval));
}

Datum
fc_key_range(PG_FUNCTION_ARGS)
{
	FcRoute    *route = get_route(fcinfo);
	Datum		values[3] = {0};
	bool		nulls[3] = {false};
	TupleDesc	desc;
	FcRange		range;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "no row is asked for");
	set_interval(fcinfo, route, 5);
	range = fc_route_find(route, key_of(route->type, text_arg(fcinfo, 4)));
	nulls[0] = range.lo_min;
	nulls[1] = range.hi_max;
	if (!range.lo_min)
		values[0] = CStringGetTextDatum(fc_key_text(route->type, range.lo));
	/* what is just after -infinity is no value of the type */
	if (!range.hi_max)
		values[1] = CStringGetTextDatum(range.lo < 0 && fc_key_is_infinite(route->type, range.lo) && range.hi == range.lo + 1 ?
										"the first after -infinity" : fc_key_text(route->type, range.hi));
	values[2] = BoolGetDatum(OidIsValid(range.partition));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

Datum
fc_key_others(PG_FUNCTION_ARGS)
{
	FcRoute    *route = get_route(fcinfo);
	FcRange		bounds = make_range(route->type, text_arg(fcinfo, 3), text_arg(fcinfo, 4));
	StringInfoData all;

	initStringInfo(&all);
	fc_route_forget(route, &bounds);
	for (int i = 0; i < route->nranges; i++)
		appendStringInfo(&all, "%s%s", i > 0 ? "; " : "", fc_range_text(route->type, &route->ranges[i]));
	PG_RETURN_TEXT_P(cstring_to_text(all.data));
}

Datum
fc_key_fit(PG_FUNCTION_ARGS)
{
	FcKeyType	type = fc_key_type(PG_GETARG_OID(0));
	FcFit		fit = fc_fit_width(type, key_of(type, text_arg(fcinfo, 1)), key_of(type, text_arg(fcinfo, 2)), PG_GETARG_INT64(3));

	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s%s, %.0f partitions%s", fit.interval, fit.usual ? " (usual)" : "", fit.partitions,
											  fc_fit_is_small((int) Min(fit.partitions, PG_INT32_MAX), PG_GETARG_INT64(3)) ? ", too many" : "")));
}
