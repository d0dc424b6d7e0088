/*-------------------------------------------------------------------------
 *
 * sniff/statement.c
 *	  The statements that make a table for the source, and load it.
 *
 * Nothing in a file can become a part of a statement: what comes from the
 * source is a quoted identifier, a literal, or a comment without control
 * bytes.
 *
 * Lines are kept short enough for psql's columns where that is possible.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "compat/compat.h"
#include "partition/partition.h"
#include "report/units.h"
#include "sniff/steps.h"

/* Columns of a line, and where the comments of columns begin */
#define FC_LINE		78
#define FC_COMMENT	40

/* Columns that a comment beside a column needs to say something */
#define FC_BESIDE	12

/* Columns of a line of JSON, within quotes and with what may follow */
#define FC_LINE_JSON	(FC_LINE - (int) strlen("    '');"))

/*
 * A text without what may not stand in a comment: control bytes, which become
 * blanks, and, if it is not valid, all that is not ASCII.
 */
static char *
fc_statement_clean(const char *text)
{
	char	   *clean = pstrdup(text);
	bool		valid = pg_verifymbstr(text, (int) strlen(text), true);

	for (char *c = clean; *c; c++)
	{
		if ((unsigned char) *c < ' ' || *c == 0x7f)
			*c = ' ';
		else if (!valid && IS_HIGHBIT_SET(*c))
			*c = '?';
	}
	return clean;
}

/*
 * Appends the words of a text, in lines of a width, each but the first after
 * "indent"
 */
static void
fc_statement_wrap(StringInfo out, const char *text, int width, const char *indent)
{
	int			used = 0;

	while (*text)
	{
		int			len = strcspn(text, " ");

		if (used > 0 && used + 1 + len > width)
		{
			appendStringInfo(out, "\n%s", indent);
			used = 0;
		}
		else if (used > 0)
		{
			appendStringInfoChar(out, ' ');
			used++;
		}
		appendBinaryStringInfo(out, text, len);
		used += len;
		text += len;
		text += strspn(text, " ");
	}
}

/* Appends a comment in lines of words */
static void
fc_statement_comment(StringInfo sql, const char *indent, const char *said)
{
	const char *text = fc_statement_clean(said);
	char	   *begin = psprintf("%s-- ", indent);

	text += strspn(text, " ");
	if (*text == '\0')
		return;
	appendStringInfoString(sql, begin);
	fc_statement_wrap(sql, text, FC_LINE - (int) strlen(begin), begin);
	appendStringInfoChar(sql, '\n');
}

static void
fc_statement_comments(StringInfo sql, const List *notes)
{
	foreach_ptr(const char, note, notes)
		fc_statement_comment(sql, "", note);
}

/* A string constant, with control bytes as escapes */
static char *
fc_statement_literal(const char *s)
{
	StringInfo	literal = makeStringInfo();
	bool		escapes = false;

	for (const char *c = s; *c; c++)
		escapes |= (unsigned char) *c < ' ' || *c == 0x7f || *c == '\\';
	appendStringInfoString(literal, escapes ? "E'" : "'");
	for (const char *c = s; *c; c++)
	{
		if (*c == '\'' || *c == '\\')
			appendStringInfo(literal, "%c%c", *c, *c);
		else if (*c == '\t')
			appendStringInfoString(literal, "\\t");
		else if ((unsigned char) *c < ' ' || *c == 0x7f)
			appendStringInfo(literal, "\\x%02x", (unsigned char) *c);
		else
			appendStringInfoChar(literal, *c);
	}
	appendStringInfoChar(literal, '\'');
	return literal->data;
}

static char *
fc_statement_byte(char c)
{
	char		s[2] = {c, '\0'};

	return fc_statement_literal(s);
}

static char *
fc_statement_json(const char *text)
{
	StringInfo	json = makeStringInfo();

	escape_json(json, text);
	return json->data;
}

/* Names or texts, each written by "write" */
static char *
fc_statement_list(const List *list, char *(*write) (const char *text))
{
	StringInfo	texts = makeStringInfo();

	foreach_node(String, text, list)
		appendStringInfo(texts, "%s%s", texts->len > 0 ? ", " : "", write(strVal(text)));
	return texts->data;
}

static char *
fc_statement_array(const List *list)
{
	return psprintf("ARRAY[%s]", fc_statement_list(list, fc_statement_literal));
}

static char *
fc_statement_json_array(const List *list)
{
	return psprintf("[%s]", fc_statement_list(list, fc_statement_json));
}

static const char *
fc_statement_eol(const FcTable *table)
{
	const FcSniffPlace *place = table->sample->places;

	/* a file may be empty */
	while (place->len == 0)
		place++;
	for (size_t i = 0; i < place->len; i++)
	{
		if (place->data[i] == '\n')
			return "\\n";
		if (place->data[i] == '\r')
			return i + 1 < place->len && place->data[i + 1] == '\n' ? "\\r\\n" : "\\r";
	}
	return "nothing";
}

/* Says what the source is, and how much of it was looked at */
static void
fc_statement_source(StringInfo sql, const FcTable *table)
{
	const FcSniffSample *sample = table->sample;
	StringInfo	text = makeStringInfo();

	if (list_length(sample->names) == 1)
		appendStringInfo(text, "%s", strVal(linitial(sample->names)));
	else
		appendStringInfo(text, "%s %ss, from %s to %s", fc_units_count(list_length(sample->names)), sample->word,
						 strVal(linitial(sample->names)), strVal(llast(sample->names)));
	if (sample->size > 0)
		appendStringInfo(text, ": %s", fc_units_bytes(sample->size));
	if (sample->codec)
		appendStringInfo(text, "%s %s", sample->size > 0 ? ", packed by" : ": packed by", sample->codec);
	if (sample->codec && sample->size > 0 && !sample->whole)
		appendStringInfo(text, ", about %s unpacked", fc_units_bytes(sample->unpacked));
	appendStringInfoChar(text, '.');
	fc_statement_comment(sql, "", text->data);
	resetStringInfo(text);
	if (sample->whole)
		appendStringInfo(text, "Looked at all of it: %s.", fc_units_of(table->records, "record"));
	else
		appendStringInfo(text, "Looked at %s records in %s at %d place%s of %u %s%s: others may differ.",
						 fc_units_count(table->records), fc_units_bytes(sample->bytes), sample->nplaces,
						 sample->nplaces == 1 ? "" : "s", sample->nsampled, sample->word,
						 sample->nsampled == 1 ? "" : "s");
	fc_statement_comment(sql, "", text->data);
}

/*
 * Appends a value of the column beside it, after so many columns of the line,
 * and what the header calls it if that is not its name
 */
static void
fc_statement_example(StringInfo sql, const FcTable *table, const FcColumnSeen *column, int used)
{
	int			room = FC_LINE - 3 - Max(used + 2, FC_COMMENT);
	char	   *header = "";
	char	   *example = "";

	if (column->header)
		header = psprintf("\"%.*s\" ", pg_mbcliplen(column->header, (int) strlen(column->header),
													Max(room - FC_BESIDE, 1)), column->header);
	if (column->example)
		example = fc_sniff_shown(table, column->example, strlen(column->example),
								 Max(room - (int) strlen(header), FC_BESIDE));
	if (room >= FC_BESIDE && (header[0] || example[0]))
		appendStringInfo(sql, "%*s-- %s%s", Max(FC_COMMENT - used, 2), "", header, example);
}

static void
fc_statement_column(StringInfo sql, const FcTable *table, int i)
{
	const FcColumnSeen *column = &table->columns[i];
	char	   *line = psprintf("  %s %s%s", quote_identifier(column->name), fc_types_name(column->typid),
								i < table->ncolumns - 1 ? "," : "");
	int			used = pg_mbstrlen(line);

	foreach_ptr(const char, note, column->notes)
		fc_statement_comment(sql, "  ", psprintf("%s: %s", quote_identifier(column->name), note));
	appendStringInfoString(sql, line);
	fc_statement_example(sql, table, column, used);
	appendStringInfoChar(sql, '\n');
}

static void
fc_statement_create(StringInfo sql, const FcTable *table, const FcKeyGuess *key, const char *target)
{
	bool		has_bigint = false;

	for (int i = 0; i < table->ncolumns; i++)
		has_bigint |= table->columns[i].typid == INT8OID;
	if (has_bigint)
		fc_statement_comment(sql, "", "Integers are bigint: later ones may be larger than those seen.");
	if (key->column >= 0)
		fc_statement_comments(sql, key->notes);
	appendStringInfo(sql, "CREATE TABLE %s (\n", target);
	for (int i = 0; i < table->ncolumns; i++)
		fc_statement_column(sql, table, i);
	appendStringInfoChar(sql, ')');
	if (key->column >= 0)
		appendStringInfo(sql, " PARTITION BY RANGE (%s)",
						 quote_identifier(table->columns[key->column].name));
	appendStringInfoString(sql, ";\n");
}

/* An option as the caller has given it, a constant of SQL */
static char *
fc_statement_given(const FcOptions *options, const FcOption *option)
{
	const void *at = (const char *) options + option->at;
	const char *text;
	bool		on;

	switch (option->kind)
	{
		case FC_KIND_FLAG:
			return *(const bool *) at ? "true" : "false";
		case FC_KIND_LIST:
			return fc_statement_array(*(List *const *) at);
		case FC_KIND_TABLE:
			return fc_statement_literal(fc_ddl_table(*(const Oid *) at));
		case FC_KIND_INTEGER:
			return psprintf(INT64_FORMAT, *(const int64 *) at);
		case FC_KIND_TEXT:
		case FC_KIND_JSON:
			break;
	}
	text = *(char *const *) at;
	/* core has got another word, another byte, or none */
	if (option == &fc_option_list[FC_OPTION_format] && options->json)
		return "'json'";
	if (option == &fc_option_list[FC_OPTION_delimiter])
		text = options->delimiter;
	if (options->raw && (option == &fc_option_list[FC_OPTION_quote] || option == &fc_option_list[FC_OPTION_escape]))
		return "'none'";
	if ((option == &fc_option_list[FC_OPTION_header] || option == &fc_option_list[FC_OPTION_skip_footer]) &&
		(strspn(text, "0123456789") == strlen(text) || parse_bool(text, &on)))
		return pstrdup(text);
	return fc_statement_literal(text);
}

/*
 * A string constant that is made of parts, one in each line; SQL joins them.
 * Where one needs escapes there is one line.
 */
static char *
fc_statement_lines(const List *parts)
{
	StringInfo	whole = makeStringInfo();
	StringInfo	lines = makeStringInfo();

	foreach_ptr(const char, part, parts)
	{
		appendStringInfoString(whole, part);
		appendStringInfo(lines, "\n    %s", fc_statement_literal(part));
	}
	return fc_statement_literal(whole->data)[0] == 'E' || list_length(parts) == 1 ?
		fc_statement_literal(whole->data) : lines->data;
}

/* A column and its words for NULL, as null_strings has them */
static char *
fc_statement_words(const FcColumnSeen *column)
{
	List	   *words = NIL;

	for (int i = 0; i < FC_NULL_WORDS; i++)
		if (column->null_words & ((uint32) 1 << i))
			words = lappend(words, makeString(pstrdup(fc_hint_null_word(i))));
	return psprintf("%s: %s", fc_statement_json(column->name),
					list_length(words) > 1 ? fc_statement_json_array(words) :
					fc_statement_json(strVal(linitial(words))));
}

/*
 * An object of JSON with these members as a constant of SQL, in lines, and in
 * dollar quotes if it has quotes of its own; NULL if there are none
 */
static char *
fc_statement_object(const List *members)
{
	List	   *lines = NIL;
	StringInfo	whole = makeStringInfo();

	if (members == NIL)
		return NULL;
	foreach_ptr(const char, member, members)
	{
		if (lines != NIL && pg_mbstrlen(llast(lines)) + 2 + pg_mbstrlen(member) <= FC_LINE_JSON)
			llast(lines) = psprintf("%s, %s", (char *) llast(lines), member);
		else
		{
			if (lines != NIL)
				llast(lines) = psprintf("%s,", (char *) llast(lines));
			lines = lappend(lines, psprintf("%s%s", lines == NIL ? "{" : " ", member));
		}
	}
	llast(lines) = psprintf("%s}", (char *) llast(lines));
	foreach_ptr(const char, line, lines)
		appendStringInfo(whole, "%s%s", whole->len > 0 ? "\n    " : "", line);
	return strchr(whole->data, '\'') && !strstr(whole->data, "$$") ? psprintf("$$%s$$", whole->data) :
		fc_statement_lines(lines);
}

static char *
fc_statement_nulls(const FcTable *table)
{
	List	   *members = NIL;

	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].null_words != 0)
			members = lappend(members, fc_statement_words(&table->columns[i]));
	return fc_statement_object(members);
}

/* What makes an amount a number: "field" without the marks around it */
static char *
fc_statement_amount(const FcColumnSeen *column, const char *field)
{
	const FcValueMarks *marks = &column->marks;
	char	   *sign = marks->sign ? psprintf("'%s'", marks->sign) : NULL;
	const char *blank = marks->blank == NULL ? NULL :
		strcmp(marks->blank, FC_BLANK_NARROW) == 0 ? "chr(8239)" : "chr(160)";

	if (blank)
		sign = marks->before ? psprintf("%s || %s", sign, blank) : psprintf("%s || %s", blank, sign);
	if (sign)
		field = psprintf("replace(%s, %s, '')", field, sign);
	return column->brackets == 0 ? pstrdup(field) : psprintf("translate(%s, '()', '-')", field);
}

/*
 * transform, which takes off what stands around the numbers of amounts, and
 * takes what folders say
 */
static char *
fc_statement_transform(const FcTable *table)
{
	List	   *members = NIL;

	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		const char *field = quote_identifier(table->map && column->header ? column->header : column->name);

		if (column->folder)
			members = lappend(members, psprintf("%s: %s", fc_statement_json(column->name),
												fc_statement_json(psprintf("$path.%s", quote_identifier(column->folder)))));
		if (!column->amount)
			continue;
		/* by a map the files may have other orders */
		if (!table->map && (strlen(field) > FC_BESIDE || field[0] == '"'))
			field = psprintf("$%d", i + 1);
		members = lappend(members, psprintf("%s: %s", fc_statement_json(column->name),
											fc_statement_json(fc_statement_amount(column, field))));
	}
	return fc_statement_object(members);
}

/* The patterns of all columns as timestamp_format has them, or NULL */
static char *
fc_statement_patterns(const FcTable *table, const FcKeyGuess *key)
{
	List	   *members = NIL;
	bool		of_key = false;

	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];

		if (column->pattern == NULL)
			continue;
		members = lappend(members, psprintf("%s: %s", fc_statement_json(column->name),
											fc_statement_json(column->pattern)));
		of_key |= (i == key->column);
	}
	return list_length(members) == 1 && of_key ?
		fc_statement_literal(table->columns[key->column].pattern) : fc_statement_object(members);
}

/* Fills in how a file is cut into records, and which lines are none */
static void
fc_statement_guessed_lines(const FcTable *table, char **values)
{
	const FcSniffSample *sample = table->sample;

	if (sample->keys != NIL)
		values[FC_OPTION_format] = "'json'";
	else if (table->guess->text)
		values[FC_OPTION_format] = "'text'";
	if (table->map && sample->keys == NIL)
		values[FC_OPTION_header] = "'map'";
	else if (table->header_lines > 0 && sample->keys == NIL)
		values[FC_OPTION_header] = table->header_lines == 1 ? "true" : psprintf("%d", table->header_lines);
	if (table->drops || sample->unnamed > 0)
		values[FC_OPTION_ignore_extra_columns] = "true";
	if (sample->utf16 && (sample->unmarked || pg_get_client_encoding() != PG_UTF8))
		values[FC_OPTION_encoding] = fc_statement_literal("UTF16");
	else if (table->encoding != pg_get_client_encoding() && !table->ascii)
		values[FC_OPTION_encoding] = fc_statement_literal(pg_encoding_to_char(table->encoding));
	if (sample->comment)
		values[FC_OPTION_comment] = fc_statement_byte(sample->comment);
	if (sample->footer > 0)
		values[FC_OPTION_skip_footer] = psprintf("%d", sample->footer);
	if (table->guess->empty > 0)
		values[FC_OPTION_skip_empty_lines] = "true";
}

/* Fills in what was guessed and is not the default, as constants of SQL */
static void
fc_statement_guessed(const FcTable *table, const FcKeyGuess *key, char **values)
{
	const FcDialect *dialect = &table->guess->dialect;
	bool		text = table->guess->text;
	List	   *quoted = NIL;	/* columns with words for NULL in quotes */
	List	   *names = NIL;

	fc_statement_guessed_lines(table, values);
	if (strcmp(table->guess->delim, text ? "\t" : ",") != 0)
		values[FC_OPTION_delimiter] = fc_statement_literal(table->guess->delim);
	if (table->null_string)
		values[FC_OPTION_null_string] = fc_statement_literal(table->null_string);
	if (text && dialect->raw)
		values[FC_OPTION_escape] = "'none'";
	if (!text && dialect->quote == FC_NO_QUOTE)
		values[FC_OPTION_quote] = "'none'";
	else if (!text && dialect->quote != '"')
		values[FC_OPTION_quote] = fc_statement_byte(dialect->quote);
	if (!text && dialect->escape != dialect->quote)
		values[FC_OPTION_escape] = fc_statement_byte(dialect->escape);
	for (int i = 0; i < table->ncolumns; i++)
	{
		if (table->columns[i].folder)
			continue;
		names = lappend(names, makeString(table->columns[i].name));
		if (table->columns[i].force_null)
			quoted = lappend(quoted, llast(names));
	}
	if (table->list)
		values[FC_OPTION_columns] = fc_statement_array(names);
	if (quoted != NIL)
		values[FC_OPTION_force_null] = fc_statement_array(quoted);
	if (key->column >= 0)
		values[FC_OPTION_timestamp_column] = fc_statement_literal(table->columns[key->column].name);
	values[FC_OPTION_timestamp_format] = fc_statement_patterns(table, key);
	values[FC_OPTION_transform] = fc_statement_transform(table);
	values[FC_OPTION_null_strings] = fc_statement_nulls(table);
	if (table->trim)
		values[FC_OPTION_trim_blanks] = fc_statement_literal(table->trim);
	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].format)
			values[FC_OPTION_number_format] = fc_statement_literal(table->number_format);
	if (key->interval)
		values[FC_OPTION_partition_interval] = fc_statement_literal(key->interval);
}

/* Says which records do not have the form of the others */
static void
fc_statement_faults(StringInfo sql, const FcTable *table)
{
	const FcGuess *guess = table->guess;
	const FcCursorFaults *faults = &guess->faults;
	const FcSniffPlace *place = &table->sample->places[0];

	if (place->start && place->len > 1 && place->data[0] == '<' &&
		(isalpha((unsigned char) place->data[1]) || place->data[1] == '!' || place->data[1] == '?'))
		fc_statement_comment(sql, "", "This looks like HTML or XML: it may be a page of an error in place of the data.");
	if (place->start && place->len > 1 && place->data[0] == '[' && strchr("\r\n{", place->data[1]))
		fc_statement_comment(sql, "", "This looks like an array of JSON: a program such as jq -c '.[]' makes lines of it, which can be loaded.");
	if (table->sample->unnamed > 0)
		fc_statement_comment(sql, "", "No column can have the name of some keys, which are left out: it is too long, or one of the system's.");
	if (table->sample->odd_lines > 0)
		fc_statement_comment(sql, "", psprintf("%s of %s lines %s no object of JSON: the load will end at the first of these.  on_error => 'ignore', on_error_classes => '{missing_columns,conversion}' leaves them out, and records with invalid values.",
											   fc_units_count(table->sample->odd_lines), fc_units_count(table->sample->odd_lines + table->records),
											   table->sample->odd_lines == 1 ? "is" : "are"));
	if (table->sample->comment && !table->options->given[FC_OPTION_comment])
		fc_statement_comment(sql, "", psprintf("Lines that begin with %s are taken for comments.", fc_statement_byte(table->sample->comment)));
	if (table->sample->footer > 0 && !table->options->given[FC_OPTION_skip_footer])
		fc_statement_comment(sql, "", psprintf("The load leaves out the last %s%s, unless you give skip_footer => 0: %s",
											   table->sample->footer == 1 ? "line" : psprintf("%d lines", table->sample->footer),
											   list_length(table->sample->names) > 1 ? " of each file" : "",
											   fc_sniff_shown(table, table->sample->footer_line, strcspn(table->sample->footer_line, "\r\n"), FC_LINE - 20)));
	if (table->drops)
		fc_statement_comment(sql, "", "Each line ends with a delimiter, and nothing is after it: that is no column.");
	if (guess->others > 0 && table->drops)
		fc_statement_comment(sql, "", psprintf("%s of %s records %s another number of fields than the others: more are left out; with fewer the load will end.",
											   fc_units_count(guess->others), fc_units_count(guess->records), guess->others == 1 ? "has" : "have"));
	else if (guess->others > 0)
		fc_statement_comment(sql, "", psprintf("%s of %s records %s another number of fields than %d: the load will end at the first of these.  on_error => 'ignore', on_error_classes => '{missing_columns,extra_columns,conversion}' leaves them out, and records with invalid values; reject_table keeps what is left out.",
											   fc_units_count(guess->others), fc_units_count(guess->records),
											   guess->others == 1 ? "has" : "have", guess->nfields));
	if (faults->line_ends > 0)
		fc_statement_comment(sql, "", "Lines do not all end in the same way, which COPY refuses: only those before the first other line end were looked at.  A program such as tr -d '\\r' makes them equal.");
	if (faults->quotes > 0)
		fc_statement_comment(sql, "", "A quote never closes: the quote may be another one, or none.");
	if (guess->text && guess->dialect.raw)
		fc_statement_comment(sql, "", "Backslashes are taken for a part of the values.");
	else if (guess->text)
		fc_statement_comment(sql, "", "Backslashes are taken for escapes, as COPY TO writes them.");
	else if (guess->dialect.quote == FC_NO_QUOTE && !table->options->given[FC_OPTION_quote])
		fc_statement_comment(sql, "", "Quotes are taken for a part of the values.");
	if (faults->markers > 0)
		fc_statement_comment(sql, "", "There are backslashes that the text format does not have.");
	if (faults->ended > 0)
		fc_statement_comment(sql, "", "A line \\. ends the data: the load leaves out what stands after it.");
	if (faults->lost > 0)
		fc_statement_comment(sql, "", psprintf("At %s of the places no whole record of that form was found.",
											   fc_units_count(faults->lost)));
	if (guess->next_delim && guess->next_score > 0.9 * guess->score)
		fc_statement_comment(sql, "", psprintf("The fields could be separated by %s as well.",
											   fc_statement_literal(guess->next_delim)));
	if (table->mark && table->header_lines == 0)
		fc_statement_comment(sql, "", "The file begins with a byte order mark, which will be taken for a part of the first value.");
}

/*
 * Appends an argument after others, in the same line if that is short enough;
 * one of several lines has its own
 */
static void
fc_statement_argument(StringInfo sql, int *column, const char *argument)
{
	int			width = strchr(argument, '\n') ? FC_LINE : pg_mbstrlen(argument);

	if (*column + 2 + width + 2 > FC_LINE)
	{
		appendStringInfoString(sql, ",\n  ");
		*column = 2 + width;
	}
	else
	{
		appendStringInfoString(sql, ", ");
		*column += 2 + width;
	}
	appendStringInfoString(sql, argument);
}

/* Appends the call; "values" are arguments, NULL for those that are left out */
static void
fc_statement_append_call(StringInfo sql, const FcTable *table, const char *begin, char **values)
{
	const List *sources = table->options->sources;
	int			column = pg_mbstrlen(begin);

	appendStringInfoString(sql, begin);
	fc_statement_argument(sql, &column, list_length(sources) == 1 ?
						  fc_statement_literal(strVal(linitial(sources))) :
						  fc_statement_array(sources));
	/* what has a name begins a line of its own, and takes two if it is long */
	column = FC_LINE;
	for (int i = 0; i < FC_NOPTIONS; i++)
	{
		const char *name = fc_option_list[i].name;

		if (values[i])
			fc_statement_argument(sql, &column,
								  psprintf("%s =>%s%s", name,
										   values[i][0] == '\n' ? "" :
										   strchr(values[i], '\n') || strlen(name) + pg_mbstrlen(values[i]) <= FC_LINE_JSON ? " " : "\n    ",
										   values[i]));
	}
	appendStringInfoString(sql, ");");
}

static void
fc_statement_select(StringInfo sql, const FcTable *table, const FcKeyGuess *key, const char *target,
					const char *function)
{
	const FcOptions *options = table->options;
	char	  **values = palloc0(sizeof(char *) * FC_NOPTIONS);

	if (table->sample->keys != NIL)
		fc_statement_comment(sql, "", "Lines of JSON.");
	else
		fc_statement_comment(sql, "", psprintf("%s, %s, lines end with %s, encoding %s.",
											table->guess->text ? "Text format" : "CSV",
											table->ncolumns == 1 ? "1 column" :
											psprintf("%d columns separated by %s", table->ncolumns,
													 fc_statement_literal(table->guess->delim)),
											fc_statement_eol(table),
											pg_encoding_to_char(table->encoding)));
	fc_statement_comments(sql, table->notes);
	if (key->column < 0)
		fc_statement_comments(sql, key->notes);
	fc_statement_faults(sql, table);
	fc_statement_guessed(table, key, values);
	for (int i = 0; i < FC_NOPTIONS; i++)
		if (options->given[i])
			values[i] = fc_statement_given(options, &fc_option_list[i]);
	fc_statement_append_call(sql, table, psprintf("SELECT %s(%s", function, fc_statement_literal(target)), values);
}

char *
fc_statements(const FcTable *table, const FcKeyGuess *key, const char *target, const char *function,
			  bool there)
{
	StringInfo	sql = makeStringInfo();

	fc_statement_source(sql, table);
	if (!there)
		fc_statement_create(sql, table, key, target);
	fc_statement_select(sql, table, key, target, function);
	return sql->data;
}
