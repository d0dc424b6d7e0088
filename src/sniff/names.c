/*-------------------------------------------------------------------------
 *
 * sniff/names.c
 *	  The names of the columns and of the table.
 *
 *	 first records ──► header or not (sniff/evidence.c) ──► names
 *
 * Names are those of the header, in lower case as SQL has them without quotes:
 * header => 'map' finds them, too.  All is allocated in the caller's memory
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "parser/scansup.h"

#include "compat/compat.h"
#include "sniff/steps.h"

/* Bytes of a name that are looked at: what is longer is cut anyway */
#define FC_HEADER_SHOWN	(4 * NAMEDATALEN)

int
fc_names_find(const FcTable *table, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return i;
	return -1;
}

/* Makes the name one that a column may have, and that none before has */
static char *
fc_names_unique(const FcTable *table, int number, char *name)
{
	char	   *base = name;
	int			len = pg_mbcliplen(name, (int) strlen(name), NAMEDATALEN - 1);

	name[len] = '\0';
	for (int n = 2; fc_names_find(table, number, name) >= 0 || SystemAttributeByName(name); n++)
	{
		char	   *end = psprintf("_%d", n);

		len = pg_mbcliplen(base, (int) strlen(base), NAMEDATALEN - 1 - (int) strlen(end));
		name = psprintf("%.*s%s", len, base, end);
	}
	return name;
}

/* Names column i as the header or the caller does, or by its number */
static void
fc_names_column(FcTable *table, const FcSniffHeld *header, int i)
{
	const FcOptions *options = table->options;
	FcColumnSeen *column = &table->columns[i];
	int			folder = i - (table->ncolumns - list_length(table->sample->folders));
	char	   *name = NULL;

	if (folder >= 0)
	{
		/* as in a name the case does not count */
		name = ((FcFolder *) list_nth(table->sample->folders, folder))->name;
		name = downcase_identifier(name, (int) strlen(name), false, false);
		column->folder = pstrdup(name);
		column->name = fc_names_unique(table, i, name);
		return;
	}
	if (table->sample->keys != NIL)
	{
		column->key = list_nth(table->sample->keys, i);
		column->name = column->key->name;
		return;
	}
	if (i < list_length(options->columns))
	{
		column->name = pstrdup(strVal(list_nth(options->columns, i)));
		return;
	}
	if (header && i < header->nfields)
	{
		char	   *shown = fc_sniff_shown(table, header->fields[i], strlen(header->fields[i]), FC_HEADER_SHOWN);
		FcValueText text = fc_value_trim(shown, strlen(shown));

		name = pnstrdup(text.s, text.len);
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
	const FcSniffHeld *first = linitial(table->heads);

	foreach_ptr(const FcSniffHeld, held, table->heads)
	{
		if (fc_evidence_is_same(held, first))
			continue;
		table->map = table->header_lines == 1 && table->options->columns == NIL;
		fc_sniff_note(table->notes, "\"%s\" has another header than \"%s\".  %s",
					  strVal(list_nth(table->sample->names, held->file)),
					  strVal(list_nth(table->sample->names, first->file)),
					  table->map ? "The load takes each file's columns by its own header, and refuses names that the table does not have." :
					  "The first lines of all files are left out all the same: files with other columns, or without a header, need a call of their own.");
		return;
	}
}

void
fc_names_choose(FcTable *table)
{
	const FcOptions *options = table->options;
	const FcSniffHeld *header = table->heads == NIL ? NULL : linitial(table->heads);
	int			nfields = table->ncolumns - list_length(table->sample->folders);

	if (options->given[FC_OPTION_header])
		table->header_lines = options->header_lines;
	else
	{
		bool		found = fc_evidence_of_header(table, header);

		table->header_lines = table->guess->skip + found + (found && table->rules != NIL);
	}
	if (table->header_lines <= table->guess->skip)
		header = NULL;
	for (int i = 0; i < table->ncolumns; i++)
		fc_names_column(table, header, i);
	if (options->columns != NIL && list_length(options->columns) != nfields)
		fc_sniff_note(table->notes, "The records have %d fields, and columns names %d: the load will end at the first record.  Name them all.",
					  nfields, list_length(options->columns));
	table->map |= options->columns == NIL && header && (table->sample->joined || nfields < table->ncolumns);
	table->list |= options->columns == NIL && !header && nfields < table->ncolumns;
	if (header)
	{
		fc_names_compare(table);
		table->guess->records -= list_length(table->heads) + list_length(table->rules);
	}
	if (header && table->sample->joined)
		fc_sniff_note(table->notes, "The files have different headers: each one is mapped by its own, and columns that it lacks are NULL.");
	if (header && table->rules != NIL && !table->second)
		fc_sniff_note(table->notes, "The header has a line of dashes below it, which the load leaves out with it.");
	foreach_ptr(const FcSniffHeld, held, header ? NIL : list_concat_copy(table->rules, table->heads))
		fc_columns_count(table, held);
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
fc_names_table(const FcOptions *options)
{
	static const char *const packed[] = {".zip", ".gz", ".bgz", ".zst", ".lz4", ".bz2", ".xz"};
	char	   *part = options->program ? pstrdup("data") : fc_names_part(strVal(linitial(options->sources)));
	char	   *name;
	char	   *point;
	size_t		len = 0;

	for (int i = 0; i < lengthof(packed); i++)
		if ((point = strrchr(part, '.')) != NULL && point > part &&
			pg_strcasecmp(point, packed[i]) == 0)
			*point = '\0';
	if ((point = strrchr(part, '.')) != NULL && point > part && strlen(point) <= strlen(".ndjson"))
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
