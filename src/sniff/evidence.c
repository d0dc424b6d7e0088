/*-------------------------------------------------------------------------
 *
 * sniff/evidence.c
 *	  Whether the first record is a header, and what the lines before it are.
 *
 *	 each field of the first record, counts of its column ──► what it may be
 *	 how many of each ──► header or not, and notes of what is unsure
 *
 * The load leaves out a header: so a first record is taken for one only if
 * something says so.  A word above numbers or times is a name; a record with
 * values is no header.  Among texts, names look unlike all values, or are
 * words that many headers have.
 *
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "common/hashfn.h"

#include "compat/compat.h"
#include "sniff/steps.h"

/* Bytes of a title that are shown */
#define FC_TITLE_SHOWN	60

/* So few values of a column are faults: one in ten */
#define FC_EVIDENCE_FEW	10

/* Values of a text that are looked at for those that come again */
#define FC_EVIDENCE_VALUES	64
#define FC_EVIDENCE_AGAIN	8

/* So many numbers one after the other are names, and so are two years */
#define FC_EVIDENCE_RUN	5

/* What a field of a first record may be, by the values of its column */
typedef enum FcEvidence
{
	FC_EVIDENCE_NONE,			/* it is empty */
	FC_EVIDENCE_VALUE,			/* a value of the type that they have */
	FC_EVIDENCE_NAME,			/* a word above values of a type */
	FC_EVIDENCE_ODD,			/* a date, or such as "10-19", above numbers */
	FC_EVIDENCE_FAULT,			/* a number and the like above what is none */
	FC_EVIDENCE_TEXT,			/* a text above texts */
	FC_EVIDENCE_ODD_TEXT,		/* a number and the like above texts */
	FC_NEVIDENCE
} FcEvidence;

/* How a first record looks beside the records after it */
typedef struct FcHeaderSigns
{
	int			n[FC_NEVIDENCE];	/* fields, by FcEvidence */
	int			first_value;	/* the first of the values, */
	int			run;			/* how many follow it, each one more than the
								 * one before, */
	bool		years;			/* and are these years above what is none? */
	bool		odd;			/* a text does not look like an identifier */
	bool		repeated;		/* two fields are the same */
	bool		differ;			/* two fields that are no values are not */
} FcHeaderSigns;

/* Classes of characters, as bits */
#define FC_CLASS_LOWER	1
#define FC_CLASS_UPPER	2
#define FC_CLASS_DIGIT	4
#define FC_CLASS_JOINT	8		/* the underscore, which names have */
#define FC_CLASS_OTHER	16

/* What the values of a column of texts have beside the first record's */
typedef struct FcTextSigns
{
	int			all;			/* classes of characters that all values have */
	int			any;			/* and that one has */
	uint64		usual;			/* values that are words of headers */
	int			nvalues;
	int			again;			/* of these, that came before */
	uint32		values[FC_EVIDENCE_VALUES]; /* their hashes */
} FcTextSigns;

/* Are nearly all values of this kind?  The others may be faults. */
static bool
fc_evidence_mostly(const FcColumnSeen *column, int kind)
{
	return column->kinds[kind] >= column->values - column->values / FC_EVIDENCE_FEW;
}

/* Are the values of the column of one type that is no text?  "y" may be one. */
static bool
fc_evidence_is_typed(const FcColumnSeen *column)
{
	if (column->values == 0)
		return false;
	for (int i = 0; i < FC_VALUE_TYPES; i++)
		if (i != FC_VALUE_BOOLEAN && fc_evidence_mostly(column, i))
			return true;
	return (fc_columns_is_boolean(column) && column->kinds[FC_VALUE_LETTER] == 0) ||
		fc_evidence_mostly(column, FC_VALUE_COMMA) ||
		column->patterns != NIL;
}

bool
fc_evidence_is_plain(const char *s)
{
	bool		letter = false;

	if (strlen(s) >= NAMEDATALEN)
		return false;
	for (; *s; s++)
	{
		letter |= isalpha((unsigned char) *s) || IS_HIGHBIT_SET(*s);
		if (!isalnum((unsigned char) *s) && !IS_HIGHBIT_SET(*s) && !strchr("_ -.#()/%$&", *s))
			return false;
	}
	return letter;
}

/* May a word with these kinds stand among the values of the column? */
static bool
fc_evidence_belongs(const FcTable *table, const FcColumnSeen *column, int kinds,
					const char *s, size_t len)
{
	for (int i = 0; i <= FC_VALUE_COMMA; i++)
		if (fc_evidence_mostly(column, i) && (kinds & FC_VALUE_BIT(i)))
			return true;
	return column->patterns != NIL &&
		fc_value_patterns(table->judge, s, len, column->patterns) != NIL;
}

/* Has a field before number i the same name? */
static bool
fc_evidence_is_repeated(const FcSniffHeld *held, int i)
{
	for (int j = 0; j < i; j++)
		if (strcmp(held->fields[i], held->fields[j]) == 0)
			return true;
	return false;
}

/* Is it a word that people write for a value that is not there? */
static bool
fc_evidence_is_missing(const char *s)
{
	static const char *const words[] = {
		"unknown", "missing", "undefined", "error", "n.a.", "not available", "tbd", "#ref!", "#value!"
	};

	for (int i = 0; i < lengthof(words); i++)
		if (pg_strcasecmp(s, words[i]) == 0)
			return true;
	return fc_hint_null_find(s, strlen(s)) >= 0;
}

static bool
fc_evidence_has_letter(const char *s)
{
	while (*s && !isalpha((unsigned char) *s) && !IS_HIGHBIT_SET(*s))
		s++;
	return *s != '\0';
}

/* What is a field that stands above values of a type, and is none of them? */
static FcEvidence
fc_evidence_above(const FcTable *table, const FcColumnSeen *column, int kinds,
				  const char *s, size_t len)
{
	bool		date = (kinds & FC_VALUE_BIT(FC_VALUE_DATE)) != 0 ||
		fc_value_patterns(table->judge, s, len, NULL) != NIL;

	if (fc_evidence_is_missing(s) || (date && !fc_evidence_mostly(column, FC_VALUE_NUMBER)) ||
		(!date && (kinds & FC_VALUE_TYPED & ~FC_VALUE_BIT(FC_VALUE_BOOLEAN))))
		return FC_EVIDENCE_FAULT;
	if (!date && fc_evidence_has_letter(s) &&
		(!isdigit((unsigned char) *s) || fc_evidence_is_plain(s)))
		return FC_EVIDENCE_NAME;
	return strcspn(s, "0123456789") < len ? FC_EVIDENCE_ODD : FC_EVIDENCE_FAULT;
}

/* What is this field of a first record, by the values of its column? */
static FcEvidence
fc_evidence_of(const FcTable *table, const FcColumnSeen *column, const char *s)
{
	size_t		len = strlen(s);
	char	   *copy = memcpy(palloc0(len + FC_SNIFF_SLACK), s, len);
	bool		typed = fc_evidence_is_typed(column);
	FcValueNumber number;
	FcEvidence	above;
	int			kinds;

	if (len == 0)
		return FC_EVIDENCE_NONE;
	kinds = fc_value_judge(table->judge, copy, len, &number);
	if (typed && fc_evidence_belongs(table, column, kinds, copy, len))
		return FC_EVIDENCE_VALUE;
	above = fc_evidence_above(table, column, kinds, copy, len);
	if (typed)
		return above;
	return above == FC_EVIDENCE_FAULT ? FC_EVIDENCE_ODD_TEXT : FC_EVIDENCE_TEXT;
}

/* Counts field i, which is a value, and those that are consecutive */
static void
fc_evidence_add_value(const FcTable *table, const FcSniffHeld *held, int i, FcHeaderSigns *signs)
{
	const FcColumnSeen *column = &table->columns[i];
	const char *s = held->fields[i];
	bool		digits = strlen(s) < 10 && strspn(s, "0123456789") == strlen(s);
	bool		integers = fc_evidence_mostly(column, FC_VALUE_INTEGER);

	if (signs->n[FC_EVIDENCE_VALUE] == 1)
	{
		signs->first_value = i;
		signs->years = true;
	}
	if (digits && i == signs->first_value + signs->run &&
		(signs->run == 0 || atoi(s) == atoi(held->fields[i - 1]) + 1))
		signs->run++;
	signs->years = signs->years && atoi(s) >= 1800 && atoi(s) < 2200 &&
		!(integers && column->low >= 1800 && column->high < 2200);
}

static void
fc_evidence_look(const FcTable *table, const FcSniffHeld *held, FcHeaderSigns *signs)
{
	const char *word = NULL;

	Assert(held->nfields == table->ncolumns);
	for (int i = 0; i < held->nfields; i++)
	{
		const char *s = held->fields[i];
		FcEvidence	what = fc_evidence_of(table, &table->columns[i], s);

		signs->n[what]++;
		if (what == FC_EVIDENCE_NONE)
			continue;
		signs->repeated |= fc_evidence_is_repeated(held, i);
		if (what == FC_EVIDENCE_VALUE)
		{
			fc_evidence_add_value(table, held, i, signs);
			continue;
		}
		signs->differ |= word && strcmp(s, word) != 0;
		signs->odd |= !fc_evidence_is_plain(s);
		word = s;
	}
}

bool
fc_evidence_is_same(const FcSniffHeld *a, const FcSniffHeld *b)
{
	if (a->nfields != b->nfields)
		return false;
	for (int i = 0; i < Min(a->nfields, FC_SNIFF_FIELDS); i++)
		if (strcmp(a->fields[i], b->fields[i]) != 0)
			return false;
	return true;
}

/* Have the first records of all files the same fields? */
static bool
fc_evidence_agree(const FcTable *table)
{
	foreach_ptr(const FcSniffHeld, held, table->heads)
		if (!fc_evidence_is_same(held, linitial(table->heads)))
			return false;
	return true;
}

/* Is it a word that many headers have? */
static bool
fc_evidence_is_usual(const char *s, size_t len)
{
	static const char *const words[] = {
		"id", "name", "date", "time", "timestamp", "type", "value", "code", "key", "city",
		"state", "country", "title", "description", "url", "status", "address", "email",
		"year", "category", "label", "text", "first_name", "last_name", "gender", "source"
	};

	for (int i = 0; i < lengthof(words); i++)
		if (strlen(words[i]) == len && pg_strncasecmp(s, words[i], len) == 0)
			return true;
	return false;
}

/* Which classes of characters a text has, as bits */
static int
fc_evidence_classes(const char *s, size_t len)
{
	int			classes = 0;

	for (size_t i = 0; i < len; i++)
	{
		unsigned char c = s[i];

		classes |= c >= 'a' && c <= 'z' ? FC_CLASS_LOWER : c >= 'A' && c <= 'Z' ? FC_CLASS_UPPER :
			isdigit(c) ? FC_CLASS_DIGIT : c == '_' ? FC_CLASS_JOINT :
			c > ' ' && c < 0x7f ? FC_CLASS_OTHER : 0;
	}
	return classes;
}

/* Adds one value to what is known of a column of texts */
static void
fc_evidence_add_text(FcTextSigns *signs, const char *s, size_t len)
{
	int			classes = fc_evidence_classes(s, len);
	uint32		hash = hash_bytes((const unsigned char *) s, (int) len);

	signs->all = signs->nvalues == 0 ? classes : signs->all & classes;
	signs->any |= classes;
	signs->usual += fc_evidence_is_usual(s, len);
	if (signs->nvalues == FC_EVIDENCE_VALUES)
		return;
	for (int i = 0; i < signs->nvalues; i++)
		if (signs->values[i] == hash)
		{
			signs->again++;
			break;
		}
	signs->values[signs->nvalues++] = hash;
}

/*
 * Looks at the values below the fields of "held", of which some are texts;
 * *recurs: one of the fields stands in its column again, and is a value
 */
static FcTextSigns *
fc_evidence_look_below(const FcTable *table, const FcSniffHeld *held, bool *recurs)
{
	FcTextSigns *signs = MemoryContextAllocExtended(CurrentMemoryContext,
													sizeof(FcTextSigns) * held->nfields,
													MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE);
	FcCursor	cursor;
	FcSniffRecord *record;

	*recurs = false;
	fc_records_begin(&cursor, table->sample, &table->guess->dialect, held->nfields, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		if (record->nfields != held->nfields ||
			(record->place->start && record->number <= table->guess->skip))
			continue;
		for (int i = 0; i < held->nfields; i++)
		{
			const FcField *field = &record->fields[i];

			if (field->len == 0 || fc_hint_null_find(field->data, field->len) >= 0)
				continue;
			*recurs |= field->len == strlen(held->fields[i]) &&
				memcmp(field->data, held->fields[i], field->len) == 0;
			fc_evidence_add_text(&signs[i], field->data, field->len);
		}
	}
	return signs;
}

/*
 * Do words above texts look like names?  Yes if many headers have one, and its
 * column has no such word.  Else no word may be a value of its column, and a
 * column's values must come again and again; or, in half of the columns, the
 * word must lack characters that all values have, or have a "_" that none has.
 */
static bool
fc_evidence_stand_out(const FcTable *table, const FcSniffHeld *held, int texts)
{
	bool		recurs;
	FcTextSigns *below = fc_evidence_look_below(table, held, &recurs);
	int			unlike = 0;
	int			values = 0;
	bool		usual = false;
	bool		again = false;

	for (int i = 0; i < held->nfields; i++)
	{
		const char *s = held->fields[i];
		int			classes = fc_evidence_classes(s, strlen(s));

		if (s[0] == '\0' || fc_evidence_is_typed(&table->columns[i]))
			continue;
		usual |= fc_evidence_is_usual(s, strlen(s)) && below[i].usual == 0;
		if (below[i].nvalues > 0 &&
			((below[i].all & ~classes) != 0 || (classes & ~below[i].any & FC_CLASS_JOINT) != 0))
		{
			unlike++;
			values += below[i].nvalues;
		}
		again |= below[i].nvalues >= FC_EVIDENCE_AGAIN && below[i].again >= below[i].nvalues / 4 * 3;
	}
	return usual || (!recurs && (again || (unlike * 2 >= texts && values > 1)));
}

/*
 * Has the first column no name, and numbers its rows, as programs that compute
 * write it?
 */
static bool
fc_evidence_is_numbered(const FcTable *table, const FcSniffHeld *held)
{
	const FcColumnSeen *column = &table->columns[0];

	return held->fields[0][0] == '\0' && column->values > 1 &&
		column->kinds[FC_VALUE_INTEGER] == column->values && column->ascending &&
		(column->low == 0 || column->low == 1) &&
		column->high - column->low + 1 == (int64) column->values;
}

/* Is a first record of words above texts a header?  A note tells of it. */
static bool
fc_evidence_is_header_of_texts(FcTable *table, const FcSniffHeld *held, int texts)
{
	if (fc_evidence_is_numbered(table, held) ||
		(list_length(table->heads) > 1 && fc_evidence_agree(table)))
		return true;
	if (fc_evidence_stand_out(table, held, texts))
	{
		fc_sniff_note(table->notes, table->records == 0 ?
					  "The only line is taken for a header: it has nothing but words.  Give header => 0 if it is none." :
					  "No column but texts: the first line is taken for a header by its words alone.  Give header => 0 if it is none.");
		return true;
	}
	fc_sniff_note(table->notes, "No column but texts: the first line%s may be a header, which nothing tells.  Then give header => %s.",
				  table->guess->skip > 0 ? " after those" : "",
				  table->guess->skip > 0 ? psprintf("%d", table->guess->skip + 1) : "true");
	return false;
}

/* Is the first record a header? */
static bool
fc_evidence_is_header(FcTable *table, const FcSniffHeld *held)
{
	FcHeaderSigns signs = {0};
	const int  *n = signs.n;
	bool		recurs;
	bool		row;
	int			names;
	int			texts;

	if (held == NULL || held->nfields != table->guess->nfields)
		return false;
	fc_evidence_look(table, held, &signs);
	/* one of these may be a fault, and several that differ are names */
	names = n[FC_EVIDENCE_NAME] +
		(n[FC_EVIDENCE_ODD] > 1 && !signs.repeated ? n[FC_EVIDENCE_ODD] : 0);
	texts = n[FC_EVIDENCE_TEXT] + n[FC_EVIDENCE_ODD_TEXT];
	/* numbers that follow each other may be names: 1960, 1961; 1 to 12 */
	row = signs.run == n[FC_EVIDENCE_VALUE] &&
		(signs.run >= FC_EVIDENCE_RUN || (signs.run > 1 && signs.years));
	if (n[FC_EVIDENCE_VALUE] > 0 && !row)
	{
		if (names > 0)
			fc_sniff_note(table->notes, "The first line has words above numbers or times, but values as well: it is taken for values.  Give header => true if it is a header.");
		return false;
	}
	if (names == 1 && !fc_evidence_is_numbered(table, held))
	{
		/* a word that stands in its column again may be a value */
		pfree(fc_evidence_look_below(table, held, &recurs));
		if (recurs)
			return false;
	}
	if (names > 0)
		return names > n[FC_EVIDENCE_FAULT] + n[FC_EVIDENCE_ODD_TEXT] &&
			(names == 1 || signs.differ);
	if (texts == 0 || signs.odd || signs.repeated)
		return false;
	return n[FC_EVIDENCE_VALUE] > 0 || fc_evidence_is_header_of_texts(table, held, texts);
}

static bool
fc_evidence_is_comment(const FcSniffHeld *held)
{
	const char *s = held->nfields > 0 ? held->fields[0] : "";

	while (isspace((unsigned char) *s))
		s++;
	return (*s == '\0' && held->nfields < 2) || *s == '#' || *s == '%' ||
		strncmp(s, "//", 2) == 0 || pg_strncasecmp(s, "sep=", 4) == 0;
}

/*
 * May the lines before the first record be left out?  They are comments or
 * blank; or a header follows them, or their last one has names above numbers or
 * times.  None has a value of a column's type.
 */
static bool
fc_evidence_are_titles(FcTable *table, bool header)
{
	bool		comments = true;
	int			names = 0;

	foreach_ptr(const FcSniffHeld, held, table->titles)
	{
		comments = comments && fc_evidence_is_comment(held);
		names = 0;
		for (int i = 0; i < Min(held->nfields, table->ncolumns); i++)
		{
			FcEvidence	what = fc_evidence_of(table, &table->columns[i], held->fields[i]);

			if (what == FC_EVIDENCE_VALUE)
				return false;
			names += what == FC_EVIDENCE_NAME;
		}
	}
	return header || comments || names > 0;
}

/*
 * Decides on the lines before the first record, and says what becomes of them;
 * false if they are records, so that none of them is a header
 */
static bool
fc_evidence_choose_skip(FcTable *table, bool header)
{
	FcGuess    *guess = table->guess;
	int			n = guess->skip;
	int			ragged = 0;

	if (n == 0)
		return true;
	if (fc_evidence_are_titles(table, header))
	{
		fc_sniff_note(table->notes, "The load leaves out the first %s, which %s no record: %s",
					  n == 1 ? "line" : psprintf("%d lines", n), n == 1 ? "is" : "are",
					  fc_sniff_shown(table, table->title, strlen(table->title), FC_TITLE_SHOWN));
		return true;
	}
	guess->skip = 0;
	guess->records += list_length(table->titles);
	foreach_ptr(const FcSniffHeld, held, table->titles)
	{
		if (held->nfields == guess->nfields)
			fc_columns_count(table, held);
		else
			ragged++;
	}
	guess->others += ragged;
	fc_sniff_note(table->notes, "The first %s %s than the others.  If %s, give header => %d.",
				  n == 1 ? "line has" : psprintf("%d lines have", n),
				  ragged == 0 ? "fewer values" : n == 1 ? "another number of fields" : "other numbers of fields",
				  n == 1 ? "it is a title" : "they are titles", n);
	return false;
}

/* How many fields are values of a type; *words: those that may be names */
static int
fc_evidence_typed(const FcTable *table, const FcSniffRecord *record, int *words)
{
	int			typed = 0;

	*words = 0;
	for (int i = 0; i < record->nfields; i++)
	{
		FcField    *field = &record->fields[i];
		FcValueNumber number;
		int			kinds = field->len == 0 ? 0 : fc_value_judge(table->judge, field->data, field->len, &number);

		typed += (kinds & FC_VALUE_TYPED & ~FC_VALUE_BIT(FC_VALUE_BOOLEAN)) != 0;
		*words += field->len > 0;
	}
	return typed;
}

/* Has the file's second record words alone, and the third values? */
static bool
fc_evidence_may_be_second(const FcTable *table)
{
	FcCursor	cursor;
	FcSniffRecord *record;
	int			words = 0;

	fc_records_begin(&cursor, table->sample, &table->guess->dialect, table->ncolumns, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL && record->number <= table->guess->skip + 2)
	{
		if (record->number <= table->guess->skip)
			continue;
		if (record->nfields != table->ncolumns)
			return false;
		if (record->number == table->guess->skip + 2)
			return fc_evidence_typed(table, record, &words) > 0;
		if (fc_evidence_typed(table, record, &words) > 0 || words == 0)
			return false;
	}
	return false;
}

/*
 * How many fields are names above values, in the one of the records that has
 * the fewest; 0 also if one has other fields there
 */
static int
fc_evidence_names(const FcTable *table, const List *records)
{
	int			names = records == NIL ? 0 : table->ncolumns;

	foreach_ptr(const FcSniffHeld, held, records)
	{
		FcHeaderSigns signs = {0};

		if (held->nfields != table->ncolumns)
			return 0;
		fc_evidence_look(table, held, &signs);
		if (signs.n[FC_EVIDENCE_VALUE] + signs.n[FC_EVIDENCE_FAULT] + signs.n[FC_EVIDENCE_ODD] > 0)
			return 0;
		names = Min(names, signs.n[FC_EVIDENCE_NAME]);
	}
	return names;
}

void
fc_evidence_of_second(FcTable *table)
{
	FcTable		again = {.sample = table->sample,.options = table->options,.judge = table->judge,.guess = table->guess,.second = true};
	FcGuess		guess = *table->guess;
	int			names;

	if (table->options->given[FC_OPTION_header] || table->sample->keys != NIL || table->rules != NIL ||
		!fc_evidence_may_be_second(table))
		return;
	fc_columns_look(&again);
	names = fc_evidence_names(&again, again.heads) == 0 ? 0 : fc_evidence_names(&again, again.rules);
	if (names > 1)
	{
		*table = again;
		fc_sniff_note(table->notes, "The second line has words above numbers or times: it is taken for a part of the header.  Give header => %s if it has values.",
					  table->guess->skip > 0 ? psprintf("%d", table->guess->skip + 1) : "true");
		return;
	}
	*table->guess = guess;
	if (names == 1)
		fc_sniff_note(table->notes, "The second line has a word above numbers or times, and is taken for values.  If it is a part of the header, give header => %d.",
					  table->guess->skip + 2);
}

bool
fc_evidence_of_header(FcTable *table, const FcSniffHeld *first)
{
	bool		found = table->sample->keys != NIL || table->rules != NIL || fc_evidence_is_header(table, first);

	return fc_evidence_choose_skip(table, found) && found;
}
