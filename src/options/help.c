/*-------------------------------------------------------------------------
 *
 * options/help.c
 *	  What there is to say about the options of a load, as fields and as text.
 *
 *	 options/list.h ───────┐
 *	 options/help_list.h ──┴──► FcHelp ──► lines of text
 *
 * All is allocated in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "options/help.h"
#include "options/help_list.h"
#include "options/options.h"

/* Columns of a line, without the blank that psql puts on each side */
#define FC_HELP_WIDTH	78

/* Columns before what a label is about */
#define FC_HELP_INDENT	13

#define FC_HELP_OPTION(name, copy, values, meaning, text, example) \
	[FC_OPTION_##name] = {#name, NULL, NULL, 0, copy, values, meaning, text, example},
#define FC_HELP_OTHER(name, type, preset, from, copy, values, meaning, text, example) \
	{#name, type, preset, FC_FROM_##from, copy, values, meaning, text, example},
#define FC_HELP_COUNT(...) +1

static const FcHelp first_help[] = {FC_HELP_FIRST(FC_HELP_OTHER)};
static const FcHelp option_help[FC_NOPTIONS] = {FC_HELP(FC_HELP_OPTION)};
static const FcHelp last_help[] = {FC_HELP_LAST(FC_HELP_OTHER)};

/* An unknown name does not compile, and one that comes twice is a warning */
StaticAssertDecl((FC_HELP(FC_HELP_COUNT)) == FC_NOPTIONS,
				 "options/help_list.h lacks an option of options/list.h");

static FcHelp *
fc_help_of(int number)
{
	const FcOption *option = &fc_option_list[number];
	FcHelp	   *help = palloc(sizeof(FcHelp));

	*help = option_help[number];
	help->type = option->type;
	help->preset = option->preset;
	help->from = option->from;
	return help;
}

List *
fc_help_options(void)
{
	List	   *list = NIL;

	for (int i = 0; i < lengthof(first_help); i++)
		list = lappend(list, unconstify(FcHelp *, &first_help[i]));
	for (int i = 0; i < FC_NARGUMENTS; i++)
		list = lappend(list, fc_help_of(i));
	for (int i = 0; i < lengthof(last_help); i++)
		list = lappend(list, unconstify(FcHelp *, &last_help[i]));
	for (int i = FC_NARGUMENTS; i < FC_NOPTIONS; i++)
		list = lappend(list, fc_help_of(i));
	return list;
}

void
fc_help_wrap(StringInfo out, const char *text, int width, const char *indent)
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

void
fc_help_title(StringInfo out, const char *kind, const char *name)
{
	appendStringInfo(out, "%s%s %s\n", out->len > 0 ? "\n" : "", kind, name);
}

void
fc_help_line(StringInfo out, const char *label, const char *text)
{
	appendStringInfo(out, "  %s:", label);
	appendStringInfoSpaces(out, FC_HELP_INDENT - 3 - (int) strlen(label));
	fc_help_wrap(out, text, FC_HELP_WIDTH - FC_HELP_INDENT, psprintf("%*s", FC_HELP_INDENT, ""));
	appendStringInfoChar(out, '\n');
}

void
fc_help_paragraph(StringInfo out, const char *text)
{
	appendStringInfoString(out, "\n  ");
	fc_help_wrap(out, text, FC_HELP_WIDTH - 2, "  ");
	appendStringInfoChar(out, '\n');
}

void
fc_help_columns(StringInfo out, const char *columns)
{
	appendStringInfoChar(out, '\n');
	while (*columns)
	{
		int			len = strcspn(columns, "\n");

		appendStringInfoString(out, "  ");
		fc_help_wrap(out, pnstrdup(columns, len), FC_HELP_WIDTH - 6, "      ");
		appendStringInfoChar(out, '\n');
		columns += len;
		columns += strspn(columns, "\n");
	}
}

static void
fc_help_example(StringInfo out, const char *example)
{
	appendStringInfoChar(out, '\n');
	while (*example)
	{
		int			len = strcspn(example, "\n");

		appendStringInfo(out, "    %.*s\n", len, example);
		example += len;
		example += strspn(example, "\n");
	}
}

/* What COPY calls an option; or where COPY takes one that it does not have */
static const char *
fc_help_copy(const FcHelp *help)
{
	if (help->copy)
		return help->copy;
	if ((help->from & FC_FROM_COPY) == 0)
		return "none";
	return strstr(help->type, "[]") == NULL ? "only with the option fast_copy" :
		"only with the option fast_copy, as a list (a, b)";
}

void
fc_help_option(StringInfo out, const FcHelp *help)
{
	fc_help_title(out, help->from & FC_FROM_CALL ? "argument" : "option of COPY", help->name);
	fc_help_line(out, "Type", help->type);
	if (help->preset[0] != '\0')
		fc_help_line(out, "Default", help->preset);
	if (help->values)
		fc_help_line(out, "Values", help->values);
	fc_help_line(out, "In COPY", fc_help_copy(help));
	fc_help_paragraph(out, help->text);
	fc_help_example(out, help->example);
}
