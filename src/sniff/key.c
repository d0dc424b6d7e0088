/*-------------------------------------------------------------------------
 *
 * sniff/key.c
 *	  The key by which a table for the sample is partitioned.
 *
 *	 columns of moments without NULLs ──► key ──► its range in the sample,
 *		and the size of the source ──► width of partitions
 *
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "key/range.h"
#include "sniff/steps.h"

/* Keys that are looked at */
#define FC_KEYS			100000

static bool
fc_key_is_moment(Oid typid)
{
	return typid == TIMESTAMPOID || typid == TIMESTAMPTZOID || typid == DATEOID;
}

static bool
fc_key_is_possible(const FcColumnSeen *column)
{
	return fc_key_is_moment(column->typid) && column->values > 0 && fc_columns_nulls(column) == 0;
}

/* The first moment, before the first date; -1 if there is neither */
static int
fc_key_first(const FcTable *table)
{
	int			date = -1;

	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];

		if (!fc_key_is_possible(column))
			continue;
		if (column->pattern && table->options->timestamp_format &&
			strcmp(column->pattern, table->options->timestamp_format) == 0)
			return i;
		if (date < 0 || (column->typid != DATEOID && table->columns[date].typid == DATEOID))
			date = i;
	}
	return date;
}

/* Says which other columns might be the key, or why there is none */
static void
fc_key_others(const FcTable *table, FcKeyGuess *key)
{
	StringInfo	others = makeStringInfo();

	for (int i = 0; i < table->ncolumns; i++)
		if (i != key->column && fc_key_is_possible(&table->columns[i]))
			appendStringInfo(others, "%s%s", others->len > 0 ? ", " : "",
							 quote_identifier(table->columns[i].name));
	if (others->len > 0)
		fc_sniff_note(key->notes, "The key could be another column, too: %s.", others->data);
	for (int i = 0; i < table->ncolumns && key->column < 0; i++)
		if (fc_key_is_moment(table->columns[i].typid))
		{
			fc_sniff_note(key->notes, "Column %s has times, but also NULLs, which no partition takes: so the table is not partitioned.",
						  quote_identifier(table->columns[i].name));
			return;
		}
}

static int
fc_key_compare(const void *a, const void *b)
{
	int64		ka = *(const int64 *) a;
	int64		kb = *(const int64 *) b;

	return ka < kb ? -1 : ka > kb;
}

/* Collects keys of the sample, sorted; returns how many */
static int
fc_key_collect(FcTable *table, int number, int64 *keys)
{
	const FcColumnSeen *column = &table->columns[number];
	FcPattern  *pattern = column->pattern ?
		fc_pattern_compile(column->pattern, column->typid, -1, column->name) : NULL;
	FcCursor	cursor;
	FcSniffRecord *record;
	int			n = 0;

	fc_records_begin(&cursor, table->sample, &table->guess->dialect, table->ncolumns, SIZE_MAX);
	while (n < FC_KEYS && (record = fc_columns_next(table, &cursor)) != NULL)
	{
		FcField    *field = &record->fields[number];

		if (field->len > 0 &&
			fc_value_moment(table->judge, column->typid, pattern, field->data, field->len, &keys[n]))
			n++;
	}
	qsort(keys, n, sizeof(int64), fc_key_compare);
	return n;
}

/* How many partitions of a new table these sorted keys lie in */
static int
fc_key_count(FcKeyType type, const char *interval, const int64 *keys, int nkeys)
{
	FcRoute		route = {.type = type};
	FcInterval	width = fc_interval_choose(&route, interval);
	int64		low;
	int64		next = PG_INT64_MIN;
	int			n = 0;

	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i] < next || fc_key_is_infinite(type, keys[i]))
			continue;
		fc_interval_floor(type, &width, keys[i], &low, &next);
		n++;
	}
	return n;
}

/*
 * Says how wide partitions are, and how many there will be: just as many as
 * that if all keys are known, and the zone of their days is the session's
 */
static void
fc_key_note_width(const FcTable *table, FcKeyGuess *key, const FcFit *fit, const int64 *keys, int nkeys)
{
	const FcOptions *options = table->options;
	FcKeyType	type = fc_key_type(table->columns[key->column].typid);
	const char *interval = options->interval ? options->interval : fit->interval;
	const char *count = "";

	if (table->sample->whole && nkeys < FC_KEYS && !options->given[FC_OPTION_time_zone])
		count = psprintf(": %d", fc_key_count(type, interval, keys, nkeys));
	else if (!options->interval)
		count = psprintf(": about %.0f", fit->partitions);
	fc_sniff_note(key->notes, "Partitions of %s%s.  Keys in the sample: %s to %s.",
				  interval, count, fc_key_text(type, keys[0]), fc_key_text(type, keys[nkeys - 1]));
}

/*
 * Chooses the width.  The lowest and the highest hundredth of the keys do not
 * count: a few that are far off (1970-01-01, 9999-12-31) get partitions of
 * their own.
 */
static void
fc_key_width(const FcTable *table, FcKeyGuess *key, const int64 *keys, int nkeys)
{
	int64		low = keys[nkeys / 100];
	int64		high = keys[nkeys - 1 - nkeys / 100];
	FcKeyType	type = fc_key_type(table->columns[key->column].typid);
	FcFit		fit = fc_fit_width(type, low, high, table->sample->unpacked);

	Assert(nkeys > 0 && keys[0] <= low && low <= high && high <= keys[nkeys - 1]);
	key->interval = fit.usual ? NULL : fit.interval;
	fc_key_note_width(table, key, &fit, keys, nkeys);
}

/* The width of partitions by an integer, which has no default */
static void
fc_key_width_integer(const FcTable *table, FcKeyGuess *key)
{
	const FcColumnSeen *column = &table->columns[key->column];

	key->interval = fc_fit_width(FC_KEY_INT8, column->low, column->high, 0).interval;
	fc_sniff_note(key->notes, "Partitions of %s numbers each, from " INT64_FORMAT " to " INT64_FORMAT " in the sample.",
				  key->interval, column->low, column->high);
}

void
fc_key_guess(FcTable *table, FcKeyGuess *key)
{
	const FcOptions *options = table->options;
	int64	   *keys;
	int			n;
	Oid			typid;

	memset(key, 0, sizeof(FcKeyGuess));
	if (options->key_column)
	{
		key->column = fc_names_find(table, table->ncolumns, options->key_column);
		if (key->column < 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("timestamp_column \"%s\" is not a column of the file", options->key_column),
					 errhint("Leave it out to see which columns there are.")));
	}
	else
	{
		key->column = fc_key_first(table);
		fc_key_others(table, key);
	}
	if (key->column < 0)
		return;
	typid = table->columns[key->column].typid;
	if (fc_key_type(typid) >= FC_KEY_INT2)
		fc_key_width_integer(table, key);
	if (!fc_key_is_moment(typid))
		return;
	keys = palloc(sizeof(int64) * FC_KEYS);
	n = fc_key_collect(table, key->column, keys);
	if (n > 0)
		fc_key_width(table, key, keys, n);
	pfree(keys);
}
