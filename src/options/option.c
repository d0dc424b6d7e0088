/*-------------------------------------------------------------------------
 *
 * options/option.c
 *	  What there is to be known of each option: name, type, values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/formatting.h"
#include "utils/varlena.h"

#include "options/options.h"

/* Letters by which a name may differ from a word that it is like */
#define FC_NEAREST_TYPOS	3

#define FC_VALUE fast_copy_value
#define FC_STRING(word) #word
#define FC_OPTION_ROW(name, type, preset, kind, from, core, field, values, words) \
	{#name, FC_STRING(type), #preset, core, FC_KIND_##kind, FC_FROM_##from, \
	 offsetof(FcOptions, field), values, words},

const FcOption fc_option_list[FC_NOPTIONS] = {FC_OPTIONS(FC_OPTION_ROW)};

const FcOption *
fc_option_find(const char *name, int from)
{
	for (int i = 0; i < FC_NOPTIONS; i++)
	{
		const FcOption *option = &fc_option_list[i];

		if ((option->from & from) &&
			(strcmp(name, option->name) == 0 ||
			 (option->core && strcmp(name, option->core) == 0)))
			return option;
	}
	return NULL;
}

const char *
fc_option_nearest(const char *word, const List *names)
{
	const char *nearest = NULL;
	int			len = strlen(word);
	int			least = Min(FC_NEAREST_TYPOS, len / 2);

	foreach_ptr(char, name, len < NAMEDATALEN ? names : NIL)
	{
		int			typos = varstr_levenshtein_less_equal(word, len, name, strlen(name),
														  1, 1, 1, least, true);

		if (typos > least)
			continue;
		nearest = name;
		least = typos - 1;
	}
	return nearest;
}

/* Do other programs call the option so? */
static bool
fc_option_is_called(int option, const char *word)
{
	const char *words = fc_option_list[option].words;
	const char *found = words && word[0] != '\0' ? strstr(words, word) : NULL;

	return found && (found == words || found[-1] == ' ') && strchr(" ", found[strlen(word)]);
}

void
fc_option_refuse(const char *word, int from, ParseState *pstate, int location)
{
	StringInfo	names = makeStringInfo();
	List	   *list = NIL;
	const char *nearest = NULL;

	for (int i = 0; i < FC_NOPTIONS; i++)
	{
		if ((fc_option_list[i].from & from) == 0)
			continue;
		appendStringInfo(names, "%s%s", names->len > 0 ? ", " : "", fc_option_list[i].name);
		list = lappend(list, unconstify(char *, fc_option_list[i].name));
		if (nearest == NULL && fc_option_is_called(i, word))
			nearest = fc_option_list[i].name;
	}
	if (nearest == NULL)
		nearest = fc_option_nearest(word, list);
	fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("option \"%s\" not recognized", word),
			 from == FC_FROM_COPY && fc_option_find(word, FC_FROM_ANY) ?
			 errhint("COPY has a syntax of its own for it: COPY table (columns) FROM PROGRAM 'command'.") :
			 nearest ? errhint("Perhaps you meant the option \"%s\".", nearest) :
			 errhint("Options are %s.", names->data),
			 parser_errposition(pstate, location));
}

int
fc_option_hint(const FcOptions *options, FcOptionNumber option)
{
	const char *values = fc_option_list[option].values;

	return errhint("Use %s%s %s%s.", fc_option_list[option].name, fc_caller_arrow(options->caller), values,
				   fc_caller_wrote_copy(options->caller) && values[0] == '\'' ? ", in quotes" : "");
}

int
fc_option_word(const FcOptions *options, FcOptionNumber number)
{
	const FcOption *option = &fc_option_list[number];
	const char *word = *(char *const *) ((const char *) options + option->at);
	const char *values = option->values;
	bool		cores = number == FC_OPTION_on_error || number == FC_OPTION_log_verbosity;

	if (word == NULL)
		return 0;
	for (int n = 0; (values = strchr(values, '\'')) != NULL; n++)
	{
		size_t		len = strcspn(++values, "'");

		if (strlen(word) == len && pg_strncasecmp(word, values, len) == 0)
			return n;
		values += len + 1;
	}
	fc_option_error(cores ? errmsg("COPY %s \"%s\" not recognized", asc_toupper(option->name, strlen(option->name)), word) :
					errmsg("%s \"%s\" not recognized", option->name, word),
					fc_option_hint(options, number));
}

Oid
fc_option_table(const char *name, const FcOption *option)
{
	List	   *names;
	Oid			oid;

	/* as the type regclass reads it */
	if (name[0] != '\0' && strspn(name, "0123456789") == strlen(name))
		return DatumGetObjectId(DirectFunctionCall1(oidin, CStringGetDatum(name)));
	names = fc_string_to_names(name);
	oid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
	if (!OidIsValid(oid))
		fc_throw(ERRCODE_UNDEFINED_TABLE, errmsg("relation \"%s\" does not exist", NameListToString(names)),
				 option->kind != FC_KIND_TABLE ? 0 :
				 errhint("SELECT fast_copy_create_%s_table(%s) makes one.",
						 option == &fc_option_list[FC_OPTION_ledger] ? "ledger" : "reject",
						 quote_literal_cstr(name)));
	return oid;
}

char *
fc_option_default(const FcOption *option)
{
	if (option->preset[0] != '\'')
		return NULL;
	return pnstrdup(option->preset + 1, strlen(option->preset) - 2);
}
