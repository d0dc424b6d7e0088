/*-------------------------------------------------------------------------
 *
 * options/nearest.c
 *	  Which name a word was probably meant to be.
 *
 * Core has ClosestMatchState for this from version 16 on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/varlena.h"

#include "options/nearest.h"

/* A name is like a word only if they differ by at most so many letters */
#define FC_NEAREST_TYPOS	3

void
fc_nearest_begin(FcNearest *nearest, const char *word)
{
	nearest->word = word;
	nearest->name = NULL;
	nearest->least = Min(FC_NEAREST_TYPOS, (int) strlen(word) / 2);
}

void
fc_nearest_try(FcNearest *nearest, const char *name)
{
	int			len = strlen(nearest->word);
	int			typos;

	if (len >= NAMEDATALEN)
		return;
	typos = varstr_levenshtein_less_equal(nearest->word, len, name, strlen(name),
										  1, 1, 1, nearest->least, true);
	if (typos > nearest->least)
		return;
	nearest->name = name;
	nearest->least = typos - 1;
}
