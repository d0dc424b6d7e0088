/*-------------------------------------------------------------------------
 *
 * sniff/nulls.c
 *	  What stands for NULL, and whether blanks are taken off.
 *
 *	 words, types ──► the word that most columns need: null_string, unless it
 *		would change a text
 *	 others that a column needs ──► null_strings
 *	 values with blanks that their type does not take ──► trim_blanks
 *
 * Words in columns of texts stay what they are.  All is allocated in the
 * caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "report/units.h"
#include "sniff/steps.h"

/* Is the word a value of the type? */
static bool
fc_nulls_takes(Oid typid, int word)
{
	return typid == TEXTOID ||
		((word == FC_NULL_NAN || word == FC_NULL_NAN + 1) &&
		 (typid == FLOAT8OID || typid == NUMERICOID));
}

/* The word that is NULL unless another one is chosen; FC_NULL_WORDS: none is */
static int
fc_nulls_default(const FcTable *table)
{
	return table->sample->keys != NIL ? FC_NULL_WORDS : table->guess->text ? FC_NULL_ESCAPE : FC_NULL_EMPTY;
}

/*
 * May the word be NULL in all columns?  "NA" may be Namibia in one of texts,
 * perhaps below the sample; "\N" means nothing else.
 */
static bool
fc_nulls_may_choose(const FcTable *table, int word)
{
	if (word == fc_nulls_default(table) || word == FC_NULL_ESCAPE)
		return true;
	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].typid == TEXTOID)
			return false;
	return true;
}

/*
 * The word for NULL that most columns need, -1 if the caller has said one.
 * "\N" counts in texts, too.
 */
static int
fc_nulls_choose(FcTable *table)
{
	int			usual = fc_nulls_default(table);
	int			best = usual;
	uint64		most = 0;

	if (table->options->given[FC_OPTION_null_string])
		return -1;
	if (usual == FC_NULL_WORDS)
		return usual;
	for (int word = 0; word < FC_NULL_WORDS; word++)
	{
		uint64		need = 0;

		for (int i = 0; i < table->ncolumns && fc_nulls_may_choose(table, word); i++)
		{
			const FcColumnSeen *column = &table->columns[i];

			if (column->words[word] + column->quoted[word] > 0 &&
				(!fc_nulls_takes(column->typid, word) || word == FC_NULL_ESCAPE))
				need++;
		}
		if (need > most || (need == most && word == usual))
		{
			most = need;
			best = word;
		}
	}
	/* in quotes it stands for itself: then the default is as good */
	return most == 0 ? usual : best;
}

/* Makes the column a text, which the note tells */
static void
fc_nulls_make_text(FcColumnSeen *column, char *note)
{
	column->notes = lappend(column->notes, note);
	column->typid = TEXTOID;
	column->pattern = NULL;
	column->format = column->amount = column->force_null = false;
	column->null_words = 0;
}

/*
 * Makes word number n, which comes up so many times, NULL in this column, or
 * the column a text if the caller has said what is NULL
 */
static void
fc_nulls_add(FcTable *table, FcColumnSeen *column, int n, uint64 times, bool quoted)
{
	bool		text = table->guess->text;

	if (table->options->null_strings == NULL && !(text && n == FC_NULL_ESCAPE))
	{
		column->null_words |= (uint32) 1 << n;
		column->force_null |= quoted;
		return;
	}
	fc_nulls_make_text(column, psprintf("a text, and not %s, because of \"%s\" (%s times), which null_string and null_strings do not have",
										format_type_be(column->typid), fc_hint_null_word(n), fc_units_count(times)));
}

/* Looks for words that the column's type does not take */
static void
fc_nulls_check(FcTable *table, FcColumnSeen *column, int null)
{
	for (int word = 0; word < FC_NULL_WORDS; word++)
	{
		/* what is NULL by null_string is told before blanks are taken off */
		uint64		n = column->padded_words[word] +
			(word == null ? 0 : column->quoted[word] + column->words[word]);

		/* a column for what is nested takes any string */
		if (fc_nulls_takes(column->typid, word) || (column->key && column->key->nested > 0))
			continue;
		if (word == null && column->quoted[word] > 0)
			column->force_null = true;
		if (n > 0)
			fc_nulls_add(table, column, word, n, column->quoted[word] > 0);
	}
}

/*
 * Makes the column a text if it has words that the caller has called NULL in
 * other columns alone
 */
static void
fc_nulls_check_said(const FcTable *table, FcColumnSeen *column)
{
	int			number = -1;

	if (bms_is_empty(column->said) || column->typid == TEXTOID)
		return;
	while ((number = bms_next_member(column->said, number)) >= 0)
	{
		const char *said = list_nth_node(DefElem, table->null_strings, number)->defname;

		if (said == NULL || strcmp(said, column->name) == 0)
			return;
	}
	fc_nulls_make_text(column, psprintf("a text, and not %s: it has words that null_strings has for other columns",
										format_type_be(column->typid)));
}

/* The columns of texts that have the word, -1: the caller's; *n: how often */
static char *
fc_nulls_texts(const FcTable *table, int word, uint64 *n)
{
	StringInfo	names = makeStringInfo();

	*n = 0;
	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		uint64		times = word < 0 ? column->given : column->words[word];

		if (column->typid != TEXTOID || times == 0)
			continue;
		appendStringInfo(names, "%s%s", names->len > 0 ? ", " : "", quote_identifier(column->name));
		*n += times;
	}
	return names->data;
}

/* May it be a word for NULL in texts, too: is it one elsewhere, or any time? */
static bool
fc_nulls_is_likely(const FcTable *table, int word)
{
	static const char *const words[] = {"NULL", "null", "NA", "None", "N/A"};

	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].null_words & ((uint32) 1 << word))
			return word != FC_NULL_EMPTY;
	for (int i = 0; i < lengthof(words); i++)
		if (strcmp(words[i], fc_hint_null_word(word)) == 0)
			return true;
	return false;
}

/* Says of words in texts that they stay texts, unless the caller says more */
static void
fc_nulls_in_texts(FcTable *table, int null)
{
	const char *given = table->options->null_string_word;
	char	   *names;
	uint64		n;

	for (int word = 0; word < FC_NULL_WORDS && null >= 0; word++)
	{
		names = word == null || !fc_nulls_is_likely(table, word) ? "" : fc_nulls_texts(table, word, &n);
		if (names[0] && table->sample->keys != NIL)
			fc_sniff_note(table->notes, "\"%s\" stands %s times in columns of texts, and stays: %s.  If it is NULL there, add it to null_strings.",
						  fc_hint_null_word(word), fc_units_count(n), names);
		else if (names[0])
			fc_sniff_note(table->notes, "\"%s\" stands %s times in columns of texts, and stays: %s.  If it is NULL there, give null_string => '%s'.",
						  fc_hint_null_word(word), fc_units_count(n), names, fc_hint_null_word(word));
	}
	if (null < 0 && given && given[0] && (names = fc_nulls_texts(table, -1, &n))[0])
		fc_sniff_note(table->notes, "\"%s\" becomes NULL %s times in columns of texts: %s.",
					  fc_sniff_shown(table, given, strlen(given), 40), fc_units_count(n), names);
}

/* Do the values have no type with blanks around them? */
static bool
fc_blanks_hurt(const FcColumnSeen *column)
{
	if (column->typid == TEXTOID)
		return false;
	for (int word = 0; word < FC_NULL_WORDS; word++)
		if (column->padded_words[word] > 0 && (column->null_words & ((uint32) 1 << word)))
			return true;
	return column->padded > 0 &&
		(column->pattern != NULL || column->typid == UUIDOID || column->typid == INETOID);
}

/* Says of a text what trim_blanks does to it */
static void
fc_blanks_note(const FcTable *table, FcColumnSeen *column)
{
	uint64		n = column->padded -
		(strcmp(table->trim, "all") == 0 ? 0 : column->padded_quoted);

	if (column->typid != TEXTOID || n == 0)
		return;
	if (n == column->values)
		fc_sniff_note(column->notes, "all values begin or end with blanks, which trim_blanks takes off");
	else
		fc_sniff_note(column->notes, "%s of %s values begin or end with blanks, which trim_blanks takes off, too",
					  fc_units_count(n), fc_units_count(column->values));
}

/* Decides on trim_blanks, after what stands for NULL */
static void
fc_blanks_decide(FcTable *table)
{
	bool		quoted = false;

	if (table->options->given[FC_OPTION_trim_blanks])
		return;
	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		bool		hurt = fc_blanks_hurt(column);

		quoted |= hurt && column->padded_quoted > 0;
		/* or have all values of several texts blanks, without quotes? */
		if (hurt || (table->ncolumns > 1 && column->typid == TEXTOID && !column->key && column->values > 1 &&
					 column->padded == column->values && column->padded_quoted == 0))
			table->trim = quoted ? "all" : "unquoted";
	}
	for (int i = 0; i < table->ncolumns && table->trim; i++)
		fc_blanks_note(table, &table->columns[i]);
}

void
fc_nulls_decide(FcTable *table)
{
	int			null = fc_nulls_choose(table);

	if (null >= 0 && null != fc_nulls_default(table))
		table->null_string = fc_hint_null_word(null);
	for (int i = 0; i < table->ncolumns; i++)
	{
		fc_nulls_check(table, &table->columns[i], null);
		fc_nulls_check_said(table, &table->columns[i]);
	}
	fc_nulls_in_texts(table, null);
	fc_blanks_decide(table);
}
