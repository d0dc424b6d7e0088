/*-------------------------------------------------------------------------
 *
 * sniff/columns.c
 *	  What the columns of a sample have: counts of all that values may be.
 *
 *	 records ──► fields ──► words for NULL, kinds of values ──► FcColumnSeen
 *
 * The first record of each file is held back: it may be a header
 * (sniff/evidence.c).  If it is none, sniff/names.c has it counted.  All is in
 * the caller's context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"

#include "compat/compat.h"
#include "options/columns.h"
#include "row/edit.h"
#include "sniff/steps.h"

/* Bytes of a value that are kept as an example */
#define FC_EXAMPLE	200

/* Values that match no pattern, a few or few of many, do not end the search */
#define FC_UNLIKELY	10

/* Bytes of the names in a header that are kept */
#define FC_HELD		1024

char *
fc_sniff_shown(const FcTable *table, const char *s, size_t len, int width)
{
	size_t		most = Min(len, (size_t) width * MAX_MULTIBYTE_CHAR_LEN);
	char	   *shown = palloc(most * MAX_CONVERSION_GROWTH + 4);
	int			from = table->encoding;
	int			to = GetDatabaseEncoding();
	int			valid;

	if (from != to && from != PG_SQL_ASCII && to != PG_SQL_ASCII && !table->ascii)
	{
		Oid			proc = FindDefaultConversionProc(from, to);

		shown[0] = '\0';
		if (OidIsValid(proc))
			(void) pg_do_encoding_conversion_buf(proc, from, to, (unsigned char *) s, (int) most,
												 (unsigned char *) shown,
												 (int) (most * MAX_CONVERSION_GROWTH + 1), true);
	}
	else
	{
		memcpy(shown, s, most);
		shown[most] = '\0';
	}
	valid = pg_encoding_verifymbstr(to, shown, (int) strlen(shown));
	shown[valid] = '\0';
	if (valid > width)
	{
		valid = pg_mbcliplen(shown, valid, width - 3);
		strcpy(shown + valid, "...");
	}
	for (char *c = shown; *c; c++)
		if ((unsigned char) *c < ' ' || *c == 0x7f)
			*c = ' ';
	return shown;
}

FcSniffRecord *
fc_columns_next(const FcTable *table, FcCursor *cursor)
{
	FcSniffRecord *record;

	while ((record = fc_records_next(cursor)) != NULL)
		if (record->nfields == table->ncolumns &&
			!(record->place->start && record->number < table->header_lines))
			break;
	return record;
}

uint64
fc_columns_nulls(const FcColumnSeen *column)
{
	uint64		n = column->given;

	for (int word = 0; word < FC_NULL_WORDS; word++)
		n += column->words[word] + column->quoted[word] + column->padded_words[word];
	return n;
}

bool
fc_columns_is_boolean(const FcColumnSeen *column)
{
	uint64		trues = column->kinds[FC_VALUE_TRUE];

	return column->values > 0 && column->kinds[FC_VALUE_BOOLEAN] == column->values &&
		(column->kinds[FC_VALUE_LETTER] == 0 || (trues > 0 && trues < column->values));
}

/* Counts what a number tells beside its type */
static void
fc_columns_number(FcColumnSeen *column, const FcValueNumber *number)
{
	bool		first = column->kinds[FC_VALUE_NUMBER] == 1;

	column->low = first ? number->integer : Min(column->low, number->integer);
	column->high = first ? number->integer : Max(column->high, number->integer);
	column->ascending = first || (column->ascending && number->integer >= column->last);
	column->last = number->integer;
	column->decimals[0] = first ? number->decimals : Min(column->decimals[0], number->decimals);
	column->decimals[1] = first ? number->decimals : Max(column->decimals[1], number->decimals);
}

/* May blanks around a value be taken off? */
static bool
fc_columns_may_trim(const FcTable *table, bool quoted)
{
	return !table->options->given[FC_OPTION_trim_blanks] ||
		(table->options->trim & (quoted ? FC_FIELD_TRIM_QUOTED : FC_FIELD_TRIM)) != 0;
}

/*
 * Takes blanks off, as trim_blanks would, unless that left nothing in quotes;
 * true if there were some
 */
static bool
fc_columns_trim(const FcTable *table, char **s, size_t *len, bool quoted)
{
	FcValueText text = fc_value_trim(*s, *len);
	bool		padded = text.len < *len && fc_columns_may_trim(table, quoted) &&
		!(quoted && text.len == 0);

	if (padded)
	{
		*s += text.s - *s;
		*len = text.len;
	}
	return padded;
}

/* Is it a word of the caller's null_strings, for any column? */
static bool
fc_columns_is_said(FcTable *table, FcColumnSeen *column, const char *s, size_t len)
{
	bool		found = false;

	foreach_node(DefElem, said, table->null_strings)
		if (fc_edit_is_word((List *) said->arg, s, len))
		{
			column->said = bms_add_member(column->said, foreach_current_index(said));
			found = true;
		}
	return found;
}

/* Counts values that do not match what nearly all do */
static void
fc_columns_likely(FcTable *table, FcColumnSeen *column, const char *s, size_t len)
{
	List	   *matching;

	if (column->likely == NIL || column->unlikely > FC_UNLIKELY + column->values / FC_UNLIKELY)
		return;
	matching = fc_value_patterns(table->judge, s, len, column->likely);
	column->unlikely += matching == NIL;
	list_free(matching);
}

/*
 * Patterns are looked for only while all values match one of them, without the
 * blanks that trim_blanks takes off
 */
static void
fc_columns_patterns(FcTable *table, FcColumnSeen *column, const char *s, size_t len, int kinds,
					bool trimmed)
{
	const int	plain = FC_VALUE_BIT(FC_VALUE_UUID) | FC_VALUE_BIT(FC_VALUE_INET);
	List	   *before = column->patterns;

	if (column->patterned && before == NIL)
	{
		fc_columns_likely(table, column, s, len);
		return;
	}
	column->patterns = (kinds & plain) || !trimmed ? NIL :
		fc_value_patterns(table->judge, s, len, column->patterned ? before : NULL);
	column->patterned = true;
	if (column->patterns == NIL && before != NIL)
	{
		column->likely = before;
		column->unlikely = 1;
	}
	else
		list_free(before);
}

/* Counts what a type would change of the value, and keeps the first of each */
static void
fc_columns_changes(FcColumnSeen *column, const char *s, size_t len, int kinds)
{
	FcValueText text = fc_value_trim(s, len);
	int			changes = fc_changes_of(text.s, text.len, kinds);

	column->negative |= *text.s == '-';
	for (int i = 0; changes >> i; i++)
		if ((changes & (1 << i)) && column->changes[i]++ == 0)
			column->changed[i] = pnstrdup(text.s, Min(text.len, FC_EXAMPLE));
}

/* Counts a value that is no word for NULL */
static void
fc_columns_judge(FcTable *table, FcColumnSeen *column, char *s, size_t len, bool padded, bool string)
{
	FcValueNumber number = {0};
	FcValueText whole = {s, len};
	FcValueMarks marks = fc_value_marks(&s, &len);
	int			kinds = fc_value_judge(table->judge, s, len, &number);
	bool		trimmed = !(kinds & FC_VALUE_BIT(FC_VALUE_BLANK));

	column->amounts += marks.sign != NULL;
	column->brackets += marks.brackets;
	column->signs_differ |= column->values > 0 &&
		(column->marks.sign != marks.sign || column->marks.blank != marks.blank ||
		 (marks.blank && column->marks.before != marks.before));
	column->marks = marks;
	if (padded)
		kinds |= FC_VALUE_BIT(FC_VALUE_BLANK);
	/* who writes a number as a string of JSON wants a text */
	if (string)
		kinds &= ~(FC_VALUE_BIT(FC_VALUE_BOOLEAN) | FC_VALUE_BIT(FC_VALUE_INTEGER) | FC_VALUE_BIT(FC_VALUE_NUMBER) |
				   FC_VALUE_BIT(FC_VALUE_COMMA) | FC_VALUE_BIT(FC_VALUE_EXPONENT));
	column->values++;
	column->padded += padded;
	for (int i = 0; i < FC_VALUE_KINDS; i++)
		column->kinds[i] += (kinds & FC_VALUE_BIT(i)) != 0;
	if (kinds & FC_VALUE_BIT(FC_VALUE_NUMBER))
		fc_columns_number(column, &number);
	if (kinds & FC_VALUE_BIT(FC_VALUE_COMMA))
		fc_numbers_add(&column->numbers, &number.shape, s, len);
	fc_columns_changes(column, s, len, kinds);
	fc_columns_patterns(table, column, s, len, kinds, trimmed);
	if (column->example == NULL)
		column->example = pnstrdup(whole.s, Min(whole.len, FC_EXAMPLE));
}

/* Counts one value; s[0..len) is followed by bytes that may be written */
static void
fc_columns_value(FcTable *table, FcColumnSeen *column, char *s, size_t len, bool quoted)
{
	const char *given = table->options->null_string_word;
	bool		string = quoted && table->sample->keys != NIL;
	bool		is_null = table->sample->keys != NIL && !quoted && len == 0;
	bool		is_given = given && !quoted && strlen(given) == len && memcmp(given, s, len) == 0;
	bool		padded;
	int			word;

	/* in JSON quotes say that it is a string, and nothing stands for null */
	quoted = quoted && !string;
	padded = fc_columns_trim(table, &s, &len, quoted);
	word = quoted && padded ? -1 : fc_hint_null_find(s, len);
	if (is_given || is_null || (!quoted && fc_columns_is_said(table, column, s, len)))
		column->given++;
	else if (word >= 0)
	{
		uint64	   *words = quoted ? column->quoted : padded ? column->padded_words : column->words;

		words[word]++;
	}
	else
	{
		column->padded_quoted += padded && quoted;
		fc_columns_judge(table, column, s, len, padded, string);
	}
}

void
fc_columns_count(FcTable *table, const FcSniffHeld *held)
{
	if (held->nfields != table->guess->nfields)
	{
		bool		empty = held->nfields == 1 && held->fields[0][0] == '\0' && !held->quoted[0] &&
			table->guess->skips_empty;

		table->guess->empty += empty;
		table->guess->others += !empty;
		return;
	}
	table->records++;
	Assert(held->nfields == table->ncolumns);
	for (int i = 0; i < held->nfields; i++)
	{
		FcColumnSeen *column = &table->columns[i];
		size_t		len = strlen(held->fields[i]);
		char	   *copy = palloc0(len + FC_SNIFF_SLACK);
		bool		ascending = column->ascending || column->values == 0;
		int64		low = column->low;

		/* it comes before those that have been counted */
		column->example = NULL;
		fc_columns_value(table, column, memcpy(copy, held->fields[i], len), len, held->quoted[i]);
		column->ascending = ascending && column->low <= low;
		pfree(copy);
	}
}

static void
fc_columns_record(FcTable *table, FcSniffRecord *record)
{
	table->records++;
	for (int i = 0; i < record->nfields; i++)
	{
		FcField    *field = &record->fields[i];

		fc_columns_value(table, &table->columns[i], field->data, field->len,
						 fc_records_quoted(record, &table->guess->dialect, i));
	}
}

size_t
fc_columns_mark(const FcSniffRecord *record, const char *s, size_t len)
{
	return record->place->start && len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* Returns a copy of a first record */
static FcSniffHeld *
fc_columns_hold(FcTable *table, FcSniffRecord *record)
{
	FcSniffHeld *held = palloc(sizeof(FcSniffHeld));
	int			n = Min(Max(record->nfields, 0), FC_SNIFF_FIELDS);

	held->file = record->place->file;
	held->nfields = record->nfields;
	held->fields = palloc0(sizeof(char *) * Max(n, 1));
	held->quoted = palloc0(sizeof(bool) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		FcField    *field = &record->fields[i];
		size_t		mark = i == 0 ? fc_columns_mark(record, field->data, field->len) : 0;

		table->mark |= mark > 0;
		held->quoted[i] = fc_records_quoted(record, &table->guess->dialect, i);
		held->fields[i] = pnstrdup(field->data + mark, Min(field->len - mark, FC_HELD));
	}
	return held;
}

/*
 * Is the record a line below a header, as sqlcmd draws it: "--,----", or a
 * second header?  All of its fields are dashes; one alone may be a word for
 * NULL.
 */
static bool
fc_columns_is_rule(const FcTable *table, const FcSniffRecord *record)
{
	size_t		most = 0;

	if (!record->place->start || record->number != table->guess->skip + 1 ||
		record->nfields != table->ncolumns || record->nfields < 2 || table->options->given[FC_OPTION_header])
		return false;
	if (table->second)
		return true;
	for (int i = 0; i < record->nfields; i++)
	{
		FcValueText text = fc_value_trim(record->fields[i].data, record->fields[i].len);

		if (text.len == 0 || strspn(text.s, "-") < text.len)
			return false;
		most = Max(most, text.len);
	}
	return most > 1;
}

/* Records of dashes are values, unless all files have one */
static void
fc_columns_settle_rules(FcTable *table)
{
	if (list_length(table->rules) == list_length(table->heads))
		return;
	foreach_ptr(FcSniffHeld, held, table->rules)
		fc_columns_count(table, held);
	table->rules = NIL;
}

/* What is known of the characters of the records so far */
typedef struct FcCharacters
{
	bool		ascii;
	bool		utf8;
	bool		client;			/* valid in the client's encoding */
	bool		control;		/* bytes that are no characters in LATIN1 */
	bool		undefined;		/* bytes that are none in WIN1252 */
} FcCharacters;

static void
fc_columns_characters(FcCharacters *seen, const char *s, size_t len)
{
	bool		ascii = true;

	for (size_t i = 0; i < len; i++)
	{
		unsigned char c = s[i];

		if (!IS_HIGHBIT_SET(c))
			continue;
		ascii = false;
		if (c > 0x9f)
			continue;
		seen->control = true;
		seen->undefined |= c == 0x81 || c == 0x8d || c == 0x8f || c == 0x90 || c == 0x9d;
	}
	if (ascii)
		return;
	seen->ascii = false;
	seen->utf8 = seen->utf8 && pg_encoding_verifymbstr(PG_UTF8, s, len) == len;
	seen->client = seen->client && pg_encoding_verifymbstr(pg_get_client_encoding(), s, len) == len;
}

/* Chooses the encoding; one byte a character is what is left */
static void
fc_columns_encoding(FcTable *table, const FcCharacters *seen)
{
	int			client = pg_get_client_encoding();

	table->ascii = seen->ascii;
	if (table->options->given[FC_OPTION_encoding])
	{
		table->encoding = table->options->file_encoding;
		/* the sample was converted */
		if (PG_ENCODING_IS_CLIENT_ONLY(table->encoding) && GetDatabaseEncoding() != PG_SQL_ASCII)
			table->encoding = GetDatabaseEncoding();
	}
	else if (seen->ascii)
		table->encoding = client;
	else if (seen->utf8)
		table->encoding = PG_UTF8;
	else if (seen->client && client != PG_UTF8 && client != PG_SQL_ASCII)
		table->encoding = client;
	else
	{
		table->encoding = seen->control && !seen->undefined ? PG_WIN1252 : PG_LATIN1;
		fc_sniff_note(table->notes, "The file is not valid in UTF8.  %s is a guess: look at words with letters other than those of ASCII.",
					  pg_encoding_to_char(table->encoding));
	}
}

void
fc_columns_look(FcTable *table)
{
	FcGuess    *guess = table->guess;
	FcCursor	cursor;
	FcSniffRecord *record;
	FcCharacters seen = {true, true, true};

	table->ncolumns = guess->nfields;
	table->columns = MemoryContextAllocExtended(CurrentMemoryContext,
												sizeof(FcColumnSeen) * guess->nfields,
												MCXT_ALLOC_ZERO);
	guess->records = guess->others = guess->empty = 0;
	if (table->options->null_strings)
		table->null_strings = fc_edits_null_strings(table->options->null_strings);
	fc_records_begin(&cursor, table->sample, &guess->dialect, guess->nfields, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		bool		first = record->place->start;

		CHECK_FOR_INTERRUPTS();
		fc_columns_characters(&seen, record->raw, record->len);
		if (first && record->number < guess->skip)
		{
			size_t		mark = fc_columns_mark(record, record->raw, record->len);

			if (table->titles == NIL || table->title[0] == '\0')
				table->title = pnstrdup(record->raw + mark, Min(record->len - mark, FC_EXAMPLE));
			table->titles = lappend(table->titles, fc_columns_hold(table, record));
			continue;
		}
		/* an empty first line may be what the caller takes for a header */
		if (guess->skips_empty && record->len == 0 && !(first && record->number == guess->skip))
		{
			guess->empty++;
			continue;
		}
		guess->records++;
		if (fc_columns_is_rule(table, record))
			table->rules = lappend(table->rules, fc_columns_hold(table, record));
		else if (first && record->number == guess->skip)
			table->heads = lappend(table->heads, fc_columns_hold(table, record));
		else if (record->nfields == guess->nfields)
			fc_columns_record(table, record);
		else
			guess->others++;
	}
	guess->faults = cursor.faults;
	fc_columns_settle_rules(table);
	fc_columns_encoding(table, &seen);
}
