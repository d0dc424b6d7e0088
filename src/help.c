/*-------------------------------------------------------------------------
 *
 * help.c
 *	  fast_copy_help(): the options of a load, and what goes by a name.
 *
 *	 options/list.h ──► all options, a row each ──► sql/fast_copy.sql.in
 *
 * The functions in SQL make lines of these rows and of what sql/help.in says of
 * them, of pg_settings and of the catalogs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/array.h"

#include "fast_copy.h"

PG_FUNCTION_INFO_V1(fast_copy_help_list);
PG_FUNCTION_INFO_V1(fast_copy_help_none);

#define HELP_COLUMN(member) {TEXTOID, offsetof(FcOption, member)}
static const FcReportColumn help_columns[] = {
	HELP_COLUMN(name),
	HELP_COLUMN(type),
	HELP_COLUMN(preset),
	HELP_COLUMN(values),
	HELP_COLUMN(words)
};

/* Returns the options, a row each */
Datum
fast_copy_help_list(PG_FUNCTION_ARGS)
{
	List	   *list = NIL;

	for (int i = 0; i < FC_NOPTIONS; i++)
		list = lappend(list, unconstify(FcOption *, &fc_option_list[i]));
	return fast_copy_rows(fcinfo, list, help_columns, lengthof(help_columns));
}

/* ERROR 42704: nothing goes by the word, which may be like one of the names */
Datum
fast_copy_help_none(PG_FUNCTION_ARGS)
{
	char	   *word = text_to_cstring(PG_GETARG_TEXT_PP(0));
	List	   *list = NIL;
	const char *nearest;
	Datum	   *names;
	int			n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &names, NULL, &n);
	for (int i = 0; i < n; i++)
		list = lappend(list, TextDatumGetCString(names[i]));
	nearest = fc_option_nearest(word, list);
	/* not of the function in SQL */
	if (error_context_stack)
		error_context_stack = error_context_stack->previous;
	fc_throw(ERRCODE_UNDEFINED_OBJECT, errmsg("there is no option, setting or function \"%s\"", word),
			 nearest ? errhint("Perhaps you meant \"%s\".", nearest) :
			 errhint("SELECT * FROM fast_copy_help() lists the options."));
}
