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

#include "options/options.h"

/* Does the caller say that no byte has the meaning? */
static bool
fc_grammar_none(const char *word)
{
	return word != NULL && pg_strcasecmp(word, "none") == 0;
}

/* Is the byte one that core refuses beside the other options? */
static bool
fc_grammar_taken(const FcOptions *options, char byte)
{
	const char *words[] = {"\r\n", options->words.delimiter, options->words.null_string, options->default_string};

	for (int i = 0; i < lengthof(words); i++)
		if (words[i] && strchr(words[i], byte) != NULL)
			return true;
	return false;
}

/* Returns a byte for core, or an empty string, which core refuses */
static char *
fc_grammar_stand_in(const FcOptions *options)
{
	char	   *byte = pstrdup("\001");

	while (byte[0] != '\0' && fc_grammar_taken(options, byte[0]))
		byte[0]++;
	return byte;
}

/* ERROR if an option says how fields are quoted of which none is */
static void
fc_grammar_check_none(const FcOptions *options, bool quote, bool escape)
{
	const char *other = options->words.escape && !escape ? "escape" :
		options->force_null != NIL ? "force_null" :
		options->force_not_null != NIL ? "force_not_null" : NULL;

	if (quote && other)
		fc_option_error(errmsg("%s cannot be used with quote \"none\"", other),
						errhint("In such a file no field is quoted: leave it out."));
	if (escape && !quote && strcmp(options->words.format, "csv") == 0)
		fc_option_error(errmsg("escape \"none\" requires quote \"none\" in CSV mode"),
						errhint("If no field of the file is quoted, use quote%s 'none'; if only quotes are doubled, leave escape out.",
								fc_caller_arrow(options->caller)));
}

void
fc_options_grammar(FcOptions *options)
{
	bool		quote = fc_grammar_none(options->words.quote);
	bool		escape = fc_grammar_none(options->words.escape);

	options->raw = quote || escape;
	if (!options->raw)
		return;
	fc_grammar_check_none(options, quote, escape);
	if (quote)
		options->words.quote = fc_grammar_stand_in(options);
	/* binary format has no escape in any case, and core says so */
	if (escape)
		options->words.escape = strcmp(options->words.format, "binary") == 0 ? fc_grammar_stand_in(options) : NULL;
}
