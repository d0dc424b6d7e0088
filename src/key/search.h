/*-------------------------------------------------------------------------
 *
 * key/search.h
 *	  Finds an index in an ascending list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEARCH_H
#define FC_SEARCH_H

/*
 * Moves "at" to the first number, below "n", for which "before" is false, or
 * to n.  "before" is an expression in "mid", and true of all numbers before
 * that one.
 */
#define fc_search(type, at, n, mid, before) \
	do { \
		type		fc_search_end = (n); \
\
		while ((at) < fc_search_end) \
		{ \
			type		mid = (at) + (fc_search_end - (at)) / 2; \
\
			if (before) \
				(at) = mid + 1; \
			else \
				fc_search_end = mid; \
		} \
	} while (0)

#endif							/* FC_SEARCH_H */
