/*-------------------------------------------------------------------------
 *
 * options/grammar.c
 *	  What of the file's grammar core does not know.
 *
 * Core gets a byte in its place that no value of these options has, so that the
 * other rules and error texts are COPY's.  Core does not read such files: it
 * is fed canonical records (copyfrom/feed.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/string.h"

#include "options/options.h"

/* Does the caller say that no byte has the meaning? */
static bool
fc_grammar_none(const char *word)
{
	return word != NULL && pg_strcasecmp(word, "none") == 0;
}

/* Returns a byte for core, or an empty string, which core refuses */
static char *
fc_grammar_stand_in(const FcOptions *options)
{
	const char *words[] = {"\r\n\"", options->delimiter_word, options->quote_word, options->escape_word,
	options->null_string_word, options->default_string};
	StringInfo	taken = makeStringInfo();
	char	   *byte = pstrdup("\001");

	for (int i = 0; i < lengthof(words); i++)
		appendStringInfoString(taken, words[i] ? words[i] : "");
	while (byte[0] != '\0' && strchr(taken->data, byte[0]) != NULL)
		byte[0]++;
	return byte;
}

/* ERROR if an option says how fields are quoted of which none is */
static void
fc_grammar_check_none(const FcOptions *options, bool quote, bool escape)
{
	const char *other = options->escape_word && !escape ? "escape" :
		options->force_null != NIL ? "force_null" :
		options->force_not_null != NIL ? "force_not_null" : NULL;

	if (quote && other)
		fc_option_error(errmsg("%s cannot be used with quote \"none\"", other),
						errhint("In such a file no field is quoted: leave it out."));
	if (escape && !quote && strcmp(options->format_word, "csv") == 0)
		fc_option_error(errmsg("escape \"none\" requires quote \"none\" in CSV mode"),
						errhint("If no field of the file is quoted, use quote%s 'none'; if only quotes are doubled, leave escape out.",
								fc_caller_arrow(options->caller)));
}

/*
 * ERROR if a string that stands for a value has the delimiter in it, or has it
 * sooner with the delimiter after it
 */
static void
fc_grammar_check_value(const char *delimiter, const char *string, const char *word)
{
	char	   *field = psprintf("%s%s", string, delimiter);

	if (strstr(field, delimiter) < field + strlen(string))
		fc_unsupported(errmsg("COPY delimiter character must not appear in the %s specification", word));
}

/*
 * ERROR if a delimiter of several bytes cannot be told from others.  No part of
 * a character may look like it.
 */
static void
fc_grammar_check_delimiter(const FcOptions *options, bool quote)
{
	const char *delimiter = options->delimiter;
	bool		text = strcmp(options->format_word, "text") == 0;
	const char *quotes = options->quote_word ? options->quote_word : "\"";

	if (strlen(delimiter) > FC_DELIM_BYTES)
		fc_option_error(errmsg("delimiter must not be longer than %d bytes", FC_DELIM_BYTES));
	if (strpbrk(delimiter, "\r\n") != NULL)
		fc_option_error(errmsg("COPY delimiter cannot be newline or carriage return"));
	if (strchr(delimiter, '\\') != NULL)
		fc_option_error(errmsg("a delimiter of several bytes must not have a backslash in it"),
						errhint("A tab is delimiter%s E'\\t'.", fc_caller_arrow(options->caller)));
	if (text && strchr(".abcdefghijklmnopqrstuvwxyz0123456789", delimiter[0]) != NULL)
		fc_option_error(errmsg("COPY delimiter cannot be \"%s\"", delimiter));
	if (!text && !quote && strpbrk(delimiter, quotes) != NULL)
		fc_option_error(errmsg("delimiter must not have the quote in it"));
	if (!pg_is_ascii(delimiter) && GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() > 1)
		fc_option_error(errmsg("a delimiter of several bytes must be ASCII in a database in %s", GetDatabaseEncodingName()));
	fc_grammar_check_value(delimiter, options->null_string_word ? options->null_string_word : text ? "\\N" : "", "NULL");
	if (options->default_string)
		fc_grammar_check_value(delimiter, options->default_string, "DEFAULT");
}

/* Lines of JSON are raw lines to the rest; ERROR for what they do not have */
static void
fc_grammar_json(FcOptions *options)
{
	static const FcOptionNumber others[] = {
		FC_OPTION_header, FC_OPTION_delimiter, FC_OPTION_null_string, FC_OPTION_quote, FC_OPTION_escape,
		FC_OPTION_force_not_null, FC_OPTION_force_null, FC_OPTION_default_string
	};

	for (int i = 0; i < lengthof(others); i++)
		if (options->given[others[i]])
			fc_option_error(errmsg("%s cannot be used with format \"json\"", fc_option_list[others[i]].name),
							errhint("Keys name the columns, null stands for NULL, and JSON has quotes and escapes of its own: leave it out."));
	options->json = options->raw = options->own_grammar = true;
	options->format_word = "text";
	options->skip_empty_lines |= !options->given[FC_OPTION_skip_empty_lines];
}

void
fc_options_grammar(FcOptions *options)
{
	bool		quote = fc_grammar_none(options->quote_word);
	bool		escape = fc_grammar_none(options->escape_word);

	if (strcmp(options->format_word, "json") == 0)
	{
		fc_grammar_json(options);
		return;
	}
	options->delimiter = options->delimiter_word;
	options->raw = options->own_grammar = quote || escape;
	if (options->raw)
		fc_grammar_check_none(options, quote, escape);
	if (options->delimiter && strlen(options->delimiter) > 1)
	{
		options->own_grammar = true;
		fc_grammar_check_delimiter(options, quote);
		options->delimiter_word = fc_grammar_stand_in(options);
	}
	if (quote)
		options->quote_word = fc_grammar_stand_in(options);
	/* binary format has no escape in any case, and core says so */
	if (escape)
		options->escape_word = strcmp(options->format_word, "binary") == 0 ? fc_grammar_stand_in(options) : NULL;
}
