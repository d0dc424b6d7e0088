/*-------------------------------------------------------------------------
 *
 * analyze.h
 *	  What a load would do, without doing it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ANALYZE_H
#define FC_ANALYZE_H

#include "options/options.h"

/* One row of fast_copy_analyze(); NULL and -1 are its nulls */
typedef struct FcFinding
{
	const char *item;			/* file, rows, key, cause, error, warning,
								 * choice, disk, partition */
	const char *name;
	int64		rows;
	int64		bytes;
	const char *low;
	const char *high;
	int64		line;
	const char *detail;
} FcFinding;

/*
 * Analyzes the load that the options describe, and returns a List of FcFinding
 * in the current memory context.
 */
extern List *fc_analyze_run(FcOptions *options);

#endif							/* FC_ANALYZE_H */
