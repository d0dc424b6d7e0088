/*-------------------------------------------------------------------------
 *
 * sniff/names.c
 *	  Whether the files have a header, and the names of the columns.
 *
 *	 first records, counts of columns ──► header or not ──► names
 *
 * A header is left out by the load, so that a first record is one only if
 * something says so.  A word above numbers or times is a name; a number above
 * numbers is a value, and then the record is none.  Where all columns are
 * texts, names look unlike all values, or are words that many headers have, and
 * a comment tells of it.  So it does of lines before the header.
 *
 * Names are those of the header, in lower case as SQL has them without quotes:
 * header => 'map' finds them, too.  All is allocated in the caller's memory
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "access/sysattr.h"
#include "catalog/heap.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "parser/scansup.h"

#include "sniff/names.h"

/* Bytes of a name that are looked at: what is longer is cut anyway */
#define FC_HEADER_SHOWN	(4 * NAMEDATALEN)

/* Bytes of a title that are shown */
#define FC_NAMES_TITLE	60

/* So few values of a column are faults: one in ten */
#define FC_NAMES_FEW	10

/* Values of a text that are looked at for those that come again */
#define FC_NAMES_VALUES	64
#define FC_NAMES_AGAIN	8

/* So many numbers one after the other are names, and so are two years */
#define FC_NAMES_RUN	5

/* How a first record looks beside the records after it */
typedef struct FcHeaderSigns
{
	int			names;			/* words above values of another type */
	int			odd;			/* dates, and such as "10-19", above numbers */
	int			foreign;		/* numbers and the like above what is none */
	int			values;			/* values of the type of their column */
	int			texts;			/* texts above texts */
	int			first_value;	/* where the values begin, */
	int			row;			/* how many follow it, each one more than the
								 * one before, */
	bool		years;			/* and are these years above what is none? */
	bool		plain;			/* all texts look like identifiers */
	bool		unique;			/* no two are the same */
	bool		same;			/* all are the same */
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
	uint32		values[FC_NAMES_VALUES];	/* their hashes */
} FcTextSigns;

/* Are nearly all values of this kind?  The others may be faults. */
static bool
fc_names_mostly(const FcColumnSeen *column, int kind)
{
	return column->kinds[kind] >= column->values - column->values / FC_NAMES_FEW;
}

/* Are the values of the column of one type that is no text?  "y" may be one. */
static bool
fc_names_is_typed(const FcColumnSeen *column)
{
	if (column->values == 0)
		return false;
	for (int i = 0; i < FC_VALUE_TYPES; i++)
		if (i != FC_VALUE_BOOLEAN && fc_names_mostly(column, i))
			return true;
	return (fc_columns_is_boolean(column) && column->kinds[FC_VALUE_LETTER] == 0) ||
		fc_names_mostly(column, FC_VALUE_COMMA) ||
		column->patterns != NIL;
}

/* Letters, digits and what people write into names, a letter among them */
static bool
fc_names_is_plain(const char *s)
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

/* May a word stand among the values of a column of this type? */
static bool
fc_names_belongs(FcTable *table, const FcColumnSeen *column, const char *s)
{
	size_t		len = strlen(s);
	char	   *copy = palloc0(len + 64);
	FcValueNumber number;
	int			kinds = fc_judge_value(table->judge, memcpy(copy, s, len), len, &number);

	for (int i = 0; i <= FC_VALUE_COMMA; i++)
		if (fc_names_mostly(column, i) && (kinds & FC_VALUE_BIT(i)))
			return true;
	return column->patterns != NIL &&
		fc_judge_patterns(table->judge, copy, len, column->patterns) != NIL;
}

/* Has a field before number i the same name? */
static bool
fc_names_is_repeated(const FcHeld *held, int i)
{
	for (int j = 0; j < i; j++)
		if (strcmp(held->fields[i], held->fields[j]) == 0)
			return true;
	return false;
}

/* Is it a word that people write for a value that is not there? */
static bool
fc_names_is_missing(const char *s)
{
	static const char *const words[] = {
		"unknown", "missing", "undefined", "error", "n.a.", "not available", "tbd", "#ref!", "#value!"
	};

	for (int i = 0; i < lengthof(words); i++)
		if (pg_strcasecmp(s, words[i]) == 0)
			return true;
	return fc_null_find(s, strlen(s)) >= 0;
}

static bool
fc_names_has_letter(const char *s)
{
	while (*s && !isalpha((unsigned char) *s) && !IS_HIGHBIT_SET(*s))
		s++;
	return *s != '\0';
}

/* What a field is that stands above values of a type, and is none of them */
typedef enum FcAbove
{
	FC_ABOVE_NAME,
	FC_ABOVE_ODD,				/* a date or the like of "10-19" */
	FC_ABOVE_FAULT
} FcAbove;

static FcAbove
fc_names_above(FcTable *table, const FcColumnSeen *column, const char *s)
{
	size_t		len = strlen(s);
	char	   *copy = memcpy(palloc0(len + 64), s, len);
	FcValueNumber number;
	int			kinds = fc_judge_value(table->judge, copy, len, &number);
	bool		date = (kinds & FC_VALUE_BIT(FC_VALUE_DATE)) != 0 ||
		fc_judge_patterns(table->judge, copy, len, NULL) != NIL;

	if (fc_names_is_missing(s) || (date && !fc_names_mostly(column, FC_VALUE_NUMBER)) ||
		(!date && (kinds & FC_VALUE_TYPED & ~FC_VALUE_BIT(FC_VALUE_BOOLEAN))))
		return FC_ABOVE_FAULT;
	if (!date && fc_names_has_letter(s) && (!isdigit((unsigned char) *s) || fc_names_is_plain(s)))
		return FC_ABOVE_NAME;
	return strcspn(s, "0123456789") < len ? FC_ABOVE_ODD : FC_ABOVE_FAULT;
}

/* Counts field i, which is a value, and those that are consecutive */
static void
fc_names_look_value(const FcTable *table, const FcHeld *held, int i, FcHeaderSigns *signs)
{
	const FcColumnSeen *column = &table->columns[i];
	const char *s = held->fields[i];
	bool		digits = strlen(s) < 10 && strspn(s, "0123456789") == strlen(s);
	bool		integers = fc_names_mostly(column, FC_VALUE_INTEGER);

	if (signs->values++ == 0)
	{
		signs->first_value = i;
		signs->years = true;
	}
	if (digits && i == signs->first_value + signs->row &&
		(signs->row == 0 || atoi(s) == atoi(held->fields[i - 1]) + 1))
		signs->row++;
	signs->years = signs->years && atoi(s) >= 1800 && atoi(s) < 2200 &&
		!(integers && column->low >= 1800 && column->high < 2200);
}

static void
fc_names_look(FcTable *table, const FcHeld *held, FcHeaderSigns *signs)
{
	const char *first = NULL;

	signs->plain = signs->unique = signs->same = true;
	for (int i = 0; i < held->nfields; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		const char *s = held->fields[i];
		bool		typed = fc_names_is_typed(column);
		FcAbove		above;

		if (s[0] == '\0')
			continue;
		signs->unique = signs->unique && !fc_names_is_repeated(held, i);
		if (typed && fc_names_belongs(table, column, s))
		{
			fc_names_look_value(table, held, i, signs);
			continue;
		}
		signs->same = signs->same && (first == NULL || strcmp(s, first) == 0);
		first = s;
		above = fc_names_above(table, column, s);
		signs->names += typed && above == FC_ABOVE_NAME;
		signs->odd += typed && above == FC_ABOVE_ODD;
		signs->foreign += above == FC_ABOVE_FAULT;
		signs->texts += !typed;
		signs->plain = signs->plain && fc_names_is_plain(s);
	}
}

/* Are the values numbers that name columns: 1960, 1961, or 1 to 12? */
static bool
fc_names_is_row(const FcHeaderSigns *signs)
{
	return signs->row == signs->values &&
		(signs->row >= FC_NAMES_RUN || (signs->row > 1 && signs->years));
}

/* Have the first records of all files the same fields? */
static bool
fc_names_agree(const FcTable *table)
{
	const FcHeld *first = linitial(table->heads);
	ListCell   *lc;

	foreach(lc, table->heads)
	{
		const FcHeld *held = lfirst(lc);

		if (held->nfields != first->nfields)
			return false;
		for (int i = 0; i < Min(held->nfields, FC_SNIFF_FIELDS); i++)
			if (strcmp(held->fields[i], first->fields[i]) != 0)
				return false;
	}
	return true;
}

/* Is it a word that many headers have? */
static bool
fc_names_is_usual(const char *s, size_t len)
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
fc_names_classes(const char *s, size_t len)
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
fc_names_add_text(FcTextSigns *signs, const char *s, size_t len)
{
	int			classes = fc_names_classes(s, len);
	uint32		hash = hash_bytes((const unsigned char *) s, (int) len);

	signs->all = signs->nvalues == 0 ? classes : signs->all & classes;
	signs->any |= classes;
	signs->usual += fc_names_is_usual(s, len);
	if (signs->nvalues == FC_NAMES_VALUES)
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
fc_names_look_below(const FcTable *table, const FcHeld *held, bool *recurs)
{
	FcTextSigns *signs = MemoryContextAllocExtended(CurrentMemoryContext,
													sizeof(FcTextSigns) * held->nfields,
													MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE);
	FcCursor	cursor;
	FcSampled  *record;

	*recurs = false;
	fc_cursor_begin(&cursor, table->sample, &table->guess->dialect, held->nfields, SIZE_MAX);
	while ((record = fc_cursor_next(&cursor)) != NULL)
	{
		if (record->nfields != held->nfields ||
			(record->place->start && record->number <= table->guess->skip))
			continue;
		for (int i = 0; i < held->nfields; i++)
		{
			const FcField *field = &record->fields[i];

			if (field->len == 0 || fc_null_find(field->data, field->len) >= 0)
				continue;
			*recurs |= field->len == strlen(held->fields[i]) &&
				memcmp(field->data, held->fields[i], field->len) == 0;
			fc_names_add_text(&signs[i], field->data, field->len);
		}
	}
	fc_cursor_end(&cursor);
	return signs;
}

/*
 * Do words above texts look like names?  One has what no value has, or lacks
 * what all have, in at least half of the columns; or many headers have it, and
 * its column has no such word; or the column's values come again and again,
 * and it does not.
 */
static bool
fc_names_stand_out(const FcTable *table, const FcHeld *held, int texts)
{
	bool		recurs;
	FcTextSigns *below = fc_names_look_below(table, held, &recurs);
	int			unlike = 0;
	int			values = 0;
	bool		usual = false;
	bool		again = false;

	for (int i = 0; i < held->nfields; i++)
	{
		const char *s = held->fields[i];
		int			classes = fc_names_classes(s, strlen(s));

		if (s[0] == '\0' || fc_names_is_typed(&table->columns[i]))
			continue;
		usual |= fc_names_is_usual(s, strlen(s)) && below[i].usual == 0;
		if (below[i].nvalues > 0 &&
			((below[i].all & ~classes) != 0 || (classes & ~below[i].any & FC_CLASS_JOINT) != 0))
		{
			unlike++;
			values += below[i].nvalues;
		}
		again |= below[i].nvalues >= FC_NAMES_AGAIN && below[i].again >= below[i].nvalues / 4 * 3;
	}
	return usual || (!recurs && (again || (unlike * 2 >= texts && values > 1)));
}

static void
fc_names_note(FcTable *table, const char *note)
{
	table->notes = lappend(table->notes, pstrdup(note));
}

/*
 * Has the first column no name, and numbers its rows, as programs that compute
 * write it?
 */
static bool
fc_names_is_numbered(const FcTable *table, const FcHeld *held)
{
	const FcColumnSeen *column = &table->columns[0];

	return held->fields[0][0] == '\0' && column->values > 1 &&
		column->kinds[FC_VALUE_INTEGER] == column->values && column->ascending &&
		(column->low == 0 || column->low == 1) &&
		column->high - column->low + 1 == (int64) column->values;
}

/* Is a first record of words above texts a header?  A note tells of it. */
static bool
fc_names_is_header_of_texts(FcTable *table, const FcHeld *held, int texts)
{
	if (fc_names_is_numbered(table, held) ||
		(list_length(table->heads) > 1 && fc_names_agree(table)))
		return true;
	if (fc_names_stand_out(table, held, texts))
	{
		fc_names_note(table, table->records == 0 ?
					  "The only line is taken for a header: it has nothing but words.  Give header => 0 if it is none." :
					  "No column but texts: the first line is taken for a header by its words alone.  Give header => 0 if it is none.");
		return true;
	}
	fc_names_note(table, psprintf("No column but texts: the first line%s may be a header, which nothing tells.  Then give header => %s.",
								  table->guess->skip > 0 ? " after those" : "",
								  table->guess->skip > 0 ? psprintf("%d", table->guess->skip + 1) : "true"));
	return false;
}

/* Does a word above texts stand in its column again?  It may be a value. */
static bool
fc_names_recur(const FcTable *table, const FcHeld *held)
{
	bool		recurs;

	pfree(fc_names_look_below(table, held, &recurs));
	return recurs && !fc_names_is_numbered(table, held);
}

/* Is the first record a header? */
static bool
fc_names_is_header(FcTable *table, const FcHeld *held)
{
	FcHeaderSigns signs = {0};

	if (held->nfields != table->guess->nfields)
		return false;
	fc_names_look(table, held, &signs);
	if (signs.odd > 1 && signs.unique)
		signs.names += signs.odd;
	if (signs.values > 0 && !fc_names_is_row(&signs))
	{
		if (signs.names > 0)
			fc_names_note(table, "The first line has words above numbers or times, but values as well: it is taken for values.  Give header => true if it is a header.");
		return false;
	}
	if (signs.names > 0)
		return signs.names > signs.foreign && (signs.names == 1 || !signs.same) &&
			(signs.names > 1 || !fc_names_recur(table, held));
	if (signs.texts == 0 || !signs.plain || !signs.unique)
		return false;
	return signs.values > 0 || fc_names_is_header_of_texts(table, held, signs.texts);
}

static bool
fc_names_is_comment(const FcHeld *held)
{
	const char *s = held->nfields > 0 ? held->fields[0] : "";

	while (isspace((unsigned char) *s))
		s++;
	return (*s == '\0' && held->nfields < 2) || *s == '#' || *s == '%' ||
		strncmp(s, "//", 2) == 0;
}

/*
 * May the lines before the first record be left out?  They are comments or
 * blank; or a header follows them, or their last one has names above numbers or
 * times.  None has a value of a column's type.
 */
static bool
fc_names_are_titles(FcTable *table, bool header)
{
	bool		comments = true;
	int			names = 0;
	ListCell   *lc;

	foreach(lc, table->titles)
	{
		const FcHeld *held = lfirst(lc);

		comments = comments && fc_names_is_comment(held);
		names = 0;
		for (int i = 0; i < Min(held->nfields, table->ncolumns); i++)
		{
			const FcColumnSeen *column = &table->columns[i];
			const char *s = held->fields[i];

			if (s[0] == '\0' || !fc_names_is_typed(column))
				continue;
			if (fc_names_belongs(table, column, s))
				return false;
			names += fc_names_above(table, column, s) == FC_ABOVE_NAME;
		}
	}
	return header || comments || names > 0;
}

/*
 * Decides on the lines before the first record, and says what becomes of them;
 * false if they are records, so that none of them is a header
 */
static bool
fc_names_choose_skip(FcTable *table, bool header)
{
	FcGuess    *guess = table->guess;
	int			n = guess->skip;

	if (n == 0)
		return true;
	if (fc_names_are_titles(table, header))
	{
		fc_names_note(table, psprintf("The load leaves out the first %s, which %s no record: %s",
									  n == 1 ? "line" : psprintf("%d lines", n), n == 1 ? "is" : "are",
									  fc_sniff_shown(table, table->title, strlen(table->title), FC_NAMES_TITLE)));
		return true;
	}
	guess->skip = 0;
	guess->records += list_length(table->titles);
	guess->others += list_length(table->titles);
	fc_names_note(table, psprintf("The first %s fields than the others.  If %s, give header => %d.",
								  n == 1 ? "line has another number of" : psprintf("%d lines have other numbers of", n),
								  n == 1 ? "it is a title" : "they are titles", n));
	return false;
}

static bool
fc_names_is_taken(const FcTable *table, int before, const char *name)
{
	for (int i = 0; i < before; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return true;
	return false;
}

/* Makes the name one that a column may have, and that none before has */
static char *
fc_names_unique(const FcTable *table, int number, char *name)
{
	char	   *base = name;
	int			len = pg_mbcliplen(name, (int) strlen(name), NAMEDATALEN - 1);

	name[len] = '\0';
	for (int n = 2; fc_names_is_taken(table, number, name) || SystemAttributeByName(name); n++)
	{
		char	   *end = psprintf("_%d", n);

		len = pg_mbcliplen(base, (int) strlen(base), NAMEDATALEN - 1 - (int) strlen(end));
		name = psprintf("%.*s%s", len, base, end);
	}
	return name;
}

/* Takes blanks off both ends */
static char *
fc_names_trim(char *s)
{
	size_t		len;

	while (isspace((unsigned char) *s))
		s++;
	len = strlen(s);
	while (len > 0 && isspace((unsigned char) s[len - 1]))
		len--;
	s[len] = '\0';
	return s;
}

/* Names column i as the header or the caller does, or by its number */
static void
fc_names_column(FcTable *table, const FcHeld *header, int i)
{
	const FcOptions *options = table->options;
	FcColumnSeen *column = &table->columns[i];
	char	   *name = NULL;

	if (i < list_length(options->columns))
	{
		column->name = pstrdup(strVal(list_nth(options->columns, i)));
		return;
	}
	if (header && i < header->nfields)
	{
		name = fc_names_trim(fc_sniff_shown(table, header->fields[i], strlen(header->fields[i]),
											FC_HEADER_SHOWN));
		column->header = pstrdup(name);
	}
	if (name == NULL || name[0] == '\0')
		name = psprintf("column_%d", i + 1);
	else if (!options->header_match)
		name = downcase_identifier(name, (int) strlen(name), false, false);
	column->name = fc_names_unique(table, i, name);
	if (column->header && (column->header[0] == '\0' || pg_strcasecmp(column->header, column->name) == 0))
		column->header = NULL;
}

/* Says what of the files' headers would make the load fail */
static void
fc_names_compare(FcTable *table)
{
	const FcHeld *first = linitial(table->heads);
	ListCell   *lc;

	foreach(lc, table->heads)
	{
		const FcHeld *held = lfirst(lc);
		bool		same = held->nfields == first->nfields;

		for (int i = 0; i < Min(held->nfields, FC_SNIFF_FIELDS) && same; i++)
			same = strcmp(held->fields[i], first->fields[i]) == 0;
		if (same)
			continue;
		table->map = table->header_lines == 1 && table->options->columns == NIL;
		fc_names_note(table, psprintf("\"%s\" has another header than \"%s\".  %s",
									  strVal(list_nth(table->sample->names, held->file)),
									  strVal(list_nth(table->sample->names, first->file)),
									  table->map ? "So the load refuses it: files with other columns, or in another order, need a call of their own." :
									  "The first lines of all files are left out all the same: files with other columns, or without a header, need a call of their own."));
		return;
	}
}

void
fc_names_choose(FcTable *table)
{
	const FcOptions *options = table->options;
	const FcHeld *header = table->heads == NIL ? NULL : linitial(table->heads);
	ListCell   *lc;

	if (options->given[FC_OPTION_header])
		table->header_lines = options->header_lines;
	else
	{
		bool		found = header && fc_names_is_header(table, header);

		found &= fc_names_choose_skip(table, found);
		table->header_lines = table->guess->skip + found;
	}
	if (table->header_lines <= table->guess->skip)
		header = NULL;
	for (int i = 0; i < table->ncolumns; i++)
		fc_names_column(table, header, i);
	if (header)
	{
		fc_names_compare(table);
		table->guess->records -= list_length(table->heads);
	}
	foreach(lc, header ? NIL : table->heads)
		fc_columns_count(table, lfirst(lc));
}

/* The last part of a path that has letters and no signs of a pattern */
static char *
fc_names_part(const char *path)
{
	char	   *copy = pstrdup(path);
	char	   *slash = strrchr(copy, '/');
	char	   *part = slash ? slash + 1 : copy;
	char	   *pattern;

	if ((pattern = strpbrk(part, "*?[")) != NULL)
		*pattern = '\0';
	if (strpbrk(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") || slash == NULL ||
		slash == copy || pattern == NULL)
		return part;
	*slash = '\0';
	return fc_names_part(copy);
}

char *
fc_names_table(const FcSample *sample, const FcOptions *options)
{
	static const char *const packed[] = {".gz", ".bgz", ".zst", ".lz4", ".bz2", ".xz"};
	char	   *part = options->program ? pstrdup("data") : fc_names_part(strVal(linitial(options->sources)));
	char	   *name;
	char	   *point;
	size_t		len = 0;

	for (int i = 0; i < lengthof(packed); i++)
		if ((point = strrchr(part, '.')) != NULL && point > part &&
			pg_strcasecmp(point, packed[i]) == 0)
			*point = '\0';
	if ((point = strrchr(part, '.')) != NULL && point > part && strlen(point) <= 6)
		*point = '\0';
	name = palloc(strlen(part) + 1);
	for (const char *s = part; *s && len < NAMEDATALEN - 1; s++)
	{
		if (isalnum((unsigned char) *s) && !IS_HIGHBIT_SET(*s))
			name[len++] = pg_tolower((unsigned char) *s);
		else if (len > 0 && name[len - 1] != '_')
			name[len++] = '_';
	}
	while (len > 0 && name[len - 1] == '_')
		len--;
	name[len] = '\0';
	return len > 0 ? name : pstrdup("data");
}
