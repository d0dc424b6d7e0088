/*
 * convert_bench.c
 *	  How long the conversions take, beside the input functions.
 *
 * The values are converted in both ways, in turns, so that what else the
 * machine does meets both; the median of the rounds' ratios is told.  What the
 * converter declines goes to the input function, as in a load.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "catalog/pg_type.h"
#include "convert/convert.h"

PG_FUNCTION_INFO_V1(bench_convert);

#define BENCH_ROOM	8192

typedef struct Bench
{
	FmgrInfo	input;
	Oid			typioparam;
	int32		typmod;
	FcConverter converter;
	FcRoom		room;			/* the converter's, emptied for each value */
	char	   *room_start;
	int			nvalues;
	char	  **values;
	size_t	   *lengths;
	int64		taken;
} Bench;

/* Nanoseconds a value, with or without the converter */
static double
bench_pass(Bench *bench, bool native)
{
	instr_time	start;
	instr_time	end;

	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < bench->nvalues; i++)
	{
		Datum		value;

		bench->room.next = bench->room_start;
		if (native && fc_convert(&bench->converter, bench->values[i],
								 bench->lengths[i], &value))
			bench->taken++;
		else
			(void) InputFunctionCall(&bench->input, bench->values[i],
									 bench->typioparam, bench->typmod);
	}
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	return INSTR_TIME_GET_DOUBLE(end) * 1e9 / bench->nvalues;
}

/* The fields of a record whose values have no comma */
static void
bench_cut(Bench *bench, char *record)
{
	for (int i = 0; i < bench->nvalues; i++)
	{
		bench->values[i] = record + 1;
		bench->lengths[i] = strcspn(record + 1, ",");
		record += 2 + bench->lengths[i];
	}
	for (int i = 0; i < bench->nvalues; i++)
		bench->values[i][bench->lengths[i]] = '\0';
}

static void
bench_init(Bench *bench, Oid typid, int32 typmod, ArrayType *values)
{
	StringInfoData record;
	Oid			input;
	Datum	   *texts;

	initStringInfo(&record);
	memset(bench, 0, sizeof(Bench));
	bench->typmod = typmod;
	getTypeInputInfo(typid, &input, &bench->typioparam);
	fmgr_info(input, &bench->input);
	fc_convert_init(&bench->converter, typid, typmod, false);
	deconstruct_array(values, TEXTOID, -1, false, TYPALIGN_INT, &texts, NULL,
					  &bench->nvalues);
	bench->values = palloc(sizeof(char *) * Max(bench->nvalues, 1));
	bench->lengths = palloc(sizeof(size_t) * Max(bench->nvalues, 1));
	for (int i = 0; i < bench->nvalues; i++)
	{
		/* a comma before each value, to be overwritten, and one behind it */
		appendStringInfo(&record, ",%s,", TextDatumGetCString(texts[i]));
	}
	bench_cut(bench, record.data);
	bench->room_start = palloc(BENCH_ROOM);
	bench->room.end = bench->room_start + BENCH_ROOM;
	bench->room.readable = record.data + record.len + 1;
	bench->room.compact = true;
	bench->converter.room = &bench->room;
	bench->converter.in_place = true;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median(double *numbers, int n)
{
	qsort(numbers, n, sizeof(double), compare_doubles);
	return numbers[n / 2];
}

/*
 * bench_convert(type oid, typmod int, strings text[], rounds int,
 *				 OUT input float8, OUT native float8, OUT ratio float8,
 *				 OUT taken float8): nanoseconds a value, the first by the second,
 *				 and the share of the values the converter took
 */
Datum
bench_convert(PG_FUNCTION_ARGS)
{
	int			rounds = Max(PG_GETARG_INT32(3), 1);
	double	   *figures[3];
	Bench		bench;
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false, false, false, false};
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext inner;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "bench_convert must return a row");
	bench_init(&bench, PG_GETARG_OID(0), PG_GETARG_INT32(1),
			   PG_GETARG_ARRAYTYPE_P(2));
	inner = AllocSetContextCreate(outer, "bench round", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < lengthof(figures); i++)
		figures[i] = palloc(sizeof(double) * rounds);
	MemoryContextSwitchTo(inner);
	for (int round = 0; round < rounds; round++)
	{
		for (int pass = 0; pass < 2; pass++)
		{
			bool		native = (round + pass) % 2;

			CHECK_FOR_INTERRUPTS();
			figures[native][round] = bench_pass(&bench, native);
			MemoryContextReset(inner);
		}
		figures[2][round] = figures[0][round] / figures[1][round];
	}
	MemoryContextSwitchTo(outer);
	for (int i = 0; i < lengthof(figures); i++)
		values[i] = Float8GetDatum(median(figures[i], rounds));
	values[3] = Float8GetDatum((double) bench.taken / rounds / bench.nvalues);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
