/*-------------------------------------------------------------------------
 *
 * sniff/sniff.c
 *	  Guesses from a sample of the source what it has, and how to load it.
 *
 *	 source ──► sample ──► objects, comments, footers, files joined
 *		──► dialect ──► columns ──► header, names
 *		──► types, NULL, width ──► key ──► CREATE TABLE, SELECT fast_copy(...)
 *
 * Each step takes what the caller has given, and guesses the rest.  All is in
 * the caller's memory context, and bounded by the size of the sample.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"

#include "compat/compat.h"
#include "sniff/sniff.h"
#include "sniff/steps.h"

/* The pattern that the caller has given for a key without its name, or NULL */
static const char *
fc_sniff_pattern(const FcOptions *options)
{
	const char *pattern = options->timestamp_format;

	if (pattern == NULL || options->key_column)
		return NULL;
	return pattern[strspn(pattern, " \t\r\n")] == '{' ? NULL : pattern;
}

/* Refuses what no table can have; ERROR 54011 */
static void
fc_sniff_check_width(const FcGuess *guess)
{
	if (guess->nfields > MaxHeapAttributeNumber)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("the records have %s%d fields", guess->nfields > FC_SNIFF_FIELDS ? "more than " : "",
						Min(guess->nfields, FC_SNIFF_FIELDS)),
				 errdetail("A table can have at most %d columns.", MaxHeapAttributeNumber),
				 errhint("Give the delimiter if they are separated by another one, or load some of them with header => 'map', ignore_extra_columns => true.")));
}

/* Says what a second file can be to a table that is there */
static void
fc_sniff_note_existing(FcTable *table, const char *name, bool named)
{
	if (!named)
		fc_sniff_note(table->notes, "There is a relation %s already, which ends this with an error: to load into it, or to make another table, give its name as the second argument of fast_copy_sniff.",
					  name);
	else
		fc_sniff_note(table->notes, "Rows that %s has will stay.  With existing_rows => 'replace' those of this file take their place, partition by partition; with 'merge' both are put in order, and dedup_keys says which are equal; on_conflict => 'update' goes by its primary key.", name);
}

/* Does each line end with a delimiter, with no name and nothing after it? */
static bool
fc_sniff_drops(const FcTable *table)
{
	const FcColumnSeen *last = &table->columns[table->ncolumns - 1];

	return table->guess->trailing && last->values == 0 && !table->options->given[FC_OPTION_columns] &&
		last->header == NULL && strcmp(last->name, psprintf("column_%d", table->ncolumns)) == 0;
}

char *
fc_sniff_run(const FcOptions *options, const char *target, const char *function)
{
	FcTable		table = {0};
	FcSniffSample *sample;
	bool		again;
	FcKeyGuess	key;
	List	   *names;
	char	   *name;
	Oid			relid;

	if (fc_format_is_binary(&options->format))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot guess the columns of a file in the binary format"),
				 errdetail("It does not say which types its columns have.")));
	table.options = options;
	table.sample = sample = fc_sample_take(options);
	table.judge = fc_value_begin(fc_sniff_pattern(options));
	fc_objects_look(sample, options);
	table.guess = fc_dialect_guess(sample, options, table.judge);
	again = sample->keys == NIL && fc_edges_find(sample, options, table.judge, table.guess);
	if (fc_join_files(sample, options, table.judge) || again)
		table.guess = fc_dialect_guess(sample, options, table.judge);
	fc_sniff_check_width(table.guess);
	fc_columns_look(&table);
	fc_evidence_of_second(&table);
	fc_names_choose(&table);
	fc_types_decide(&table);
	fc_types_fit(&table);
	fc_key_guess(&table, &key);
	table.drops = fc_sniff_drops(&table);
	table.ncolumns -= table.drops;
	names = target ? fc_string_to_names(target) :
		list_make1(makeString(fc_names_table(options)));
	name = NameListToQuotedString(names);
	relid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
	if (OidIsValid(relid))
		fc_sniff_note_existing(&table, name, target != NULL);
	if (OidIsValid(relid) && target)
		fc_sniff_fit_target(&table, &key, relid);
	return fc_statements(&table, &key, name, function, OidIsValid(relid) && target);
}
