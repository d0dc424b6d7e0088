/*-------------------------------------------------------------------------
 *
 * options/existing.c
 *	  What the options say of rows that the table has already.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "options/options.h"

/* Reads min_replace_ratio */
static double
fc_options_ratio(const FcOptions *options)
{
	const char *word = options->min_replace_ratio_word;
	char	   *end;
	double		ratio = strtod(word, &end);

	if (end == word || *end != '\0' || !(ratio >= 0) || isinf(ratio))
		fc_option_error(errmsg("min_replace_ratio must be a number that is not negative: \"%s\"", word),
						errhint("With 0.5, a partition is only replaced by at least half as many rows; 0 replaces it in any case."));
	return ratio;
}

/* ERROR if rows that are in conflict must be an error, or cannot be found */
static void
fc_options_check_conflict(const FcOptions *options)
{
	const char *other = options->existing != FC_EXISTING_KEEP ? "existing_rows" : options->freeze ? "freeze" :
		options->order_by != NIL ? "order_by" :
		options->delete_where && options->conflict == FC_CONFLICT_NOTHING ? "delete_where" :
		options->tolerated & FC_CLASS_UNIQUE ? "on_error_classes \"unique\"" : NULL;

	if (other && options->conflict != FC_CONFLICT_ERROR)
		fc_option_error(errmsg("%s cannot be used with on_conflict \"%s\"", other, options->on_conflict_word),
						errhint("Leave one of them out."));
}

static void
fc_options_dedup(FcOptions *options)
{
	bool		keep = options->given[FC_OPTION_dedup_keep];
	const char *of_equal = options->delete_where ? "delete_where" :
		options->dedup_order != NIL ? "dedup_order" : keep ? "dedup_keep" : NULL;

	options->dedup_first = fc_option_word(options, FC_OPTION_dedup_keep) != 0 ||
		(options->conflict == FC_CONFLICT_NOTHING && !keep);
	if (options->existing == FC_EXISTING_MERGE && of_equal && options->dedup_keys == NIL)
		fc_option_error(errmsg("%s requires dedup_keys", of_equal),
						errhint("Name the columns in which no two rows may be equal."));
	if (options->existing != FC_EXISTING_MERGE && options->conflict == FC_CONFLICT_ERROR &&
		(options->dedup_keys != NIL || of_equal))
		fc_option_error(errmsg("%s requires existing_rows \"merge\", or on_conflict",
							   options->dedup_keys != NIL ? "dedup_keys" : of_equal),
						errhint("Add existing_rows%1$s 'merge', or on_conflict%1$s 'update'.", fc_caller_arrow(options->caller)));
}

void
fc_options_existing(FcOptions *options)
{
	const FcOptionNumber of_replaced[] = {
		FC_OPTION_replace_from, FC_OPTION_replace_to, FC_OPTION_min_replace_ratio,
		FC_OPTION_replace_method, FC_OPTION_other_files
	};

	options->existing = options->move != FC_MOVE_NOTHING ? FC_EXISTING_MOVE :
		fc_option_word(options, FC_OPTION_existing_rows);
	for (int i = 0; i < lengthof(of_replaced); i++)
		if (options->given[of_replaced[i]] && options->existing != FC_EXISTING_REPLACE && options->move == FC_MOVE_NOTHING)
			fc_option_error(errmsg("%s requires existing_rows \"replace\"",
								   fc_option_list[of_replaced[i]].name),
							errhint("Add existing_rows%s 'replace', or leave it out.", fc_caller_arrow(options->caller)));
	options->min_replace_ratio = fc_options_ratio(options);
	options->replace_others = fc_option_word(options, FC_OPTION_other_files) != 0;
	options->replace_deletes = fc_option_word(options, FC_OPTION_replace_method) != 0;
	if ((options->replace_from == NULL) != (options->replace_to == NULL))
		fc_option_error(errmsg("replace_from and replace_to can only be used together"),
						options->move != FC_MOVE_NOTHING ?
						errhint("They are the first key that is moved and the first one after it that is not; without both, rows of any key are.") :
						errhint("They are the first key that is replaced and the first one after it that is not; without both, each partition that gets rows is replaced."));
	if (options->freeze && options->existing != FC_EXISTING_KEEP)
		fc_option_error(errmsg("freeze cannot be used with existing_rows \"%s\"",
							   options->existing_rows_word),
						errhint("Leave it out."));
	options->conflict = fc_option_word(options, FC_OPTION_on_conflict);
	fc_options_check_conflict(options);
	fc_options_dedup(options);
	if (options->move == FC_MOVE_DRAIN && options->replace_from)
		options->move = FC_MOVE_SOME;
}
