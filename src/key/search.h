/*-------------------------------------------------------------------------
 *
 * key/search.h
 *	  Finds a place in an ascending list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEARCH_H
#define FC_SEARCH_H

/*
 * Of the numbers from "at" to before "n", moves "at" to the first for which
 * "before" is false, or to n.  "before" is an expression in "mid", and true of
 * all numbers before that one.
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
