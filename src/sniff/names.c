/*-------------------------------------------------------------------------
 *
 * sniff/names.c
 *	  Whether the files have a header, and the names of the columns.
 *
 *	 first records, counts of columns ──► header or not ──► names
 *
 * A word above numbers or times is a name; a number above numbers is a value.
 * Where all columns are texts it can only be guessed, and a comment says so.
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
#include "mb/pg_wchar.h"
#include "parser/scansup.h"

#include "sniff/names.h"

/* Bytes of a name that are looked at: what is longer is cut anyway */
#define FC_HEADER_SHOWN	(4 * NAMEDATALEN)

/* So few values of a column are faults: one in ten */
#define FC_NAMES_FEW	10

/* How a first record looks beside the records after it */
typedef struct FcHeaderSigns
{
	int			names;			/* words above values of another type */
	int			values;			/* values of the type of their column */
	int			texts;			/* texts above texts */
	bool		plain;			/* all texts look like identifiers */
	bool		unique;			/* no two are the same */
	bool		years;			/* the values are numbers one after the other */
} FcHeaderSigns;

/* Are nearly all values of this kind?  The others may be faults. */
static bool
fc_names_mostly(const FcColumnSeen *column, int kind)
{
	return column->kinds[kind] >= column->values - column->values / FC_NAMES_FEW;
}

/* Are the values of the column of one type that is no text? */
static bool
fc_names_is_typed(const FcColumnSeen *column)
{
	if (column->values == 0)
		return false;
	for (int i = 0; i < FC_VALUE_TYPES; i++)
		if (i != FC_VALUE_BOOLEAN && fc_names_mostly(column, i))
			return true;
	return fc_columns_is_boolean(column) || fc_names_mostly(column, FC_VALUE_COMMA) ||
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

static void
fc_names_look(FcTable *table, const FcHeld *held, FcHeaderSigns *signs)
{
	bool		row = true;

	signs->plain = signs->unique = true;
	for (int i = 0; i < held->nfields; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		const char *s = held->fields[i];

		if (s[0] == '\0')
			continue;
		signs->unique = signs->unique && !fc_names_is_repeated(held, i);
		if (!fc_names_is_typed(column))
			signs->texts++;
		else if (fc_names_belongs(table, column, s))
		{
			signs->values++;
			row = row && strspn(s, "0123456789") == strlen(s) &&
				(signs->values == 1 || atoi(s) == atoi(held->fields[i - 1]) + 1);
			continue;
		}
		else if (fc_null_find(s, strlen(s)) < 0)
			signs->names++;
		signs->plain = signs->plain && fc_names_is_plain(s);
	}
	signs->years = row && signs->values > 1;
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

/* Is one of the names a word that many headers have? */
static bool
fc_names_is_usual(const FcHeld *held)
{
	static const char *const words[] = {
		"id", "name", "date", "time", "timestamp", "type", "value", "code", "key", "city",
		"state", "country", "title", "description", "url", "status", "address", "email",
		"year", "category", "label", "text", "first_name", "last_name", "gender", "source"
	};

	for (int i = 0; i < held->nfields; i++)
		for (int j = 0; j < lengthof(words); j++)
			if (pg_strcasecmp(held->fields[i], words[j]) == 0)
				return true;
	return false;
}

/* Does one of the words stand in its column again?  Then it is a value. */
static bool
fc_names_recurs(const FcTable *table, const FcHeld *held)
{
	FcCursor	cursor;
	FcSampled  *record;
	bool		found = false;

	fc_cursor_begin(&cursor, table->sample, &table->guess->dialect, held->nfields, SIZE_MAX);
	while (!found && (record = fc_cursor_next(&cursor)) != NULL)
	{
		if (record->nfields != held->nfields ||
			(record->place->start && record->number <= table->guess->skip))
			continue;
		for (int i = 0; i < held->nfields && !found; i++)
			found = held->fields[i][0] != '\0' && record->fields[i].len == strlen(held->fields[i]) &&
				memcmp(record->fields[i].data, held->fields[i], record->fields[i].len) == 0;
	}
	fc_cursor_end(&cursor);
	return found;
}

static void
fc_names_note(FcTable *table, const char *note)
{
	table->notes = lappend(table->notes, pstrdup(note));
}

/* Is the first record a header? */
static bool
fc_names_is_header(FcTable *table, const FcHeld *held)
{
	FcHeaderSigns signs = {0};

	if (held->nfields != table->guess->nfields)
		return false;
	fc_names_look(table, held, &signs);
	if (signs.names > 0 && (signs.names >= signs.values || signs.years))
		return true;
	if (signs.names > 0)
	{
		fc_names_note(table, "The first line has words above numbers or times, but not in most columns: it is taken for values.  Give header => true if it is a header.");
		return false;
	}
	if ((signs.values > 0 && !signs.years) || signs.texts == 0 || !signs.plain || !signs.unique)
		return false;
	if (list_length(table->heads) > 1 && fc_names_agree(table))
		return true;
	if (table->records == 0)
	{
		fc_names_note(table, "The only line is taken for a header: it has nothing but words.");
		return true;
	}
	if (fc_names_is_usual(held) || (held->nfields > 1 && !fc_names_recurs(table, held)))
	{
		fc_names_note(table, "No column but texts: the first line is taken for a header by its words alone.  Give header => 0 if it is none.");
		return true;
	}
	fc_names_note(table, "No column but texts: the first line may be a header, which nothing tells.  Then give header => true.");
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
		fc_names_note(table, psprintf("\"%s\" has another header than \"%s\".  Files with other columns, or in another order, need a call of their own.",
									  strVal(list_nth(table->sample->names, held->file)),
									  strVal(list_nth(table->sample->names, first->file))));
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
	else if (header && fc_names_is_header(table, header))
		table->header_lines = table->guess->skip + 1;
	else
		table->header_lines = table->guess->skip;
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
