/*-------------------------------------------------------------------------
 *
 * options/nearest.h
 *	  Which name a word was probably meant to be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_NEAREST_H
#define FC_NEAREST_H

typedef struct FcNearest
{
	const char *word;
	const char *name;			/* the nearest one so far, or NULL */
	int			least;			/* letters that may differ, from now on */
} FcNearest;

/* Begins a search for a name like the word, which outlives the search */
extern void fc_nearest_begin(FcNearest *nearest, const char *word);

/*
 * Keeps the name if it differs from the word by few letters, and by fewer than
 * the names before.  It must outlive the search.
 */
extern void fc_nearest_try(FcNearest *nearest, const char *name);

#endif							/* FC_NEAREST_H */
