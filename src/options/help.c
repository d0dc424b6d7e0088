/*-------------------------------------------------------------------------
 *
 * options/help.c
 *	  What there is to say about the options of a load.
 *
 *	 options/list.h ───────┐
 *	 options/help_list.h ──┴──► FcHelp
 *
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "options/help.h"
#include "options/help_list.h"
#include "options/options.h"

#define FC_HELP_OPTION(name, copy, values, sample, words, meaning, text, example) \
	[FC_OPTION_##name] = {#name, NULL, NULL, 0, copy, values, sample, words, meaning, text, example},
#define FC_HELP_OTHER(name, type, preset, from, copy, values, sample, words, meaning, text, example) \
	{#name, type, preset, FC_FROM_##from, copy, values, sample, words, meaning, text, example},
#define FC_HELP_COUNT(...) +1

static const FcHelp first_help[] = {FC_HELP_FIRST(FC_HELP_OTHER)};
static const FcHelp option_help[FC_NOPTIONS] = {FC_HELP(FC_HELP_OPTION)};
static const FcHelp last_help[] = {FC_HELP_LAST(FC_HELP_OTHER)};

/* An unknown name does not compile, and one that comes twice is a warning */
StaticAssertDecl((FC_HELP(FC_HELP_COUNT)) == FC_NOPTIONS,
				 "options/help_list.h lacks an option of options/list.h");

/* Adds a copy, with what follows from it; of an option of that list */
static List *
fc_help_add(List *list, const FcHelp *from, const FcOption *option)
{
	FcHelp	   *help = palloc(sizeof(FcHelp));

	*help = *from;
	if (option)
	{
		help->type = option->type;
		help->preset = option->preset;
		help->from = option->from;
	}
	help->kind = help->from & FC_FROM_CALL ? "argument" : "option of COPY";
	return lappend(list, help);
}

List *
fc_help_options(void)
{
	List	   *list = NIL;

	for (int i = 0; i < lengthof(first_help); i++)
		list = fc_help_add(list, &first_help[i], NULL);
	for (int i = 0; i < FC_NOPTIONS; i++)
		list = fc_help_add(list, &option_help[i], &fc_option_list[i]);
	for (int i = 0; i < lengthof(last_help); i++)
		list = fc_help_add(list, &last_help[i], NULL);
	return list;
}
